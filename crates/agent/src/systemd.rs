//! systemd over D-Bus: asks for units, starts and stops them, waits for the jobs, reloads.
//!
//! Calls are synchronous and bounded in time. Waiting is asking again until the job is gone: no
//! signal can be missed, and a bus that goes away is an error and no hang.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use hosts::plan::{Active, State};
use serde::Serialize;
use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;
use zbus::zvariant::{DynamicType, OwnedObjectPath, OwnedValue};

use crate::failure::{Class, Failure, Outcome};
use crate::fault;

const SERVICE: &str = "org.freedesktop.systemd1";
const MANAGER_PATH: &str = "/org/freedesktop/systemd1";
const MANAGER: &str = "org.freedesktop.systemd1.Manager";
const UNIT: &str = "org.freedesktop.systemd1.Unit";

/// A reload runs all generators; nothing else takes nearly as long.
const ANSWER: Duration = Duration::from_secs(120);

/// How many questions are under way at a time.
const AT_A_TIME: usize = 8;

pub struct Systemd {
    connection: Connection,
}

/// One line of systemd's list of units.
type Listed = (
    String,
    String,
    String,
    String,
    String,
    String,
    OwnedObjectPath,
    u32,
    String,
    OwnedObjectPath,
);

/// A unit in systemd's list, with where to ask for more.
#[derive(Clone, Debug)]
pub struct Listing {
    pub name: String,
    pub loaded: bool,
    pub active: Active,
    /// `running`, `auto-restart`, `dead`.
    pub sub: String,
    /// A job for it is under way.
    pub busy: bool,
    path: OwnedObjectPath,
}

impl Systemd {
    /// Connects to the system's manager, or to the calling user's.
    pub fn connect(user: bool) -> Outcome<Systemd> {
        let builder = if user {
            Builder::session()
        } else {
            Builder::system()
        };
        let connected = builder.and_then(|builder| builder.method_timeout(ANSWER).build());
        let connection = connected.map_err(|error| {
            let bus = if user { "session" } else { "system" };
            Failure::new(
                Class::Systemd,
                format!("cannot reach systemd on the {bus} bus: {error}"),
            )
            .help("is dbus running? with --root DIR no systemd is needed")
        })?;
        Ok(Systemd { connection })
    }

    fn call<B>(&self, method: &str, body: &B) -> Outcome<zbus::Message>
    where
        B: Serialize + DynamicType,
    {
        let called =
            self.connection
                .call_method(Some(SERVICE), MANAGER_PATH, Some(MANAGER), method, body);
        called.map_err(|error| {
            Failure::new(
                Class::Systemd,
                format!("systemd: {method}: {}", said(&error)),
            )
        })
    }

    fn listed(message: &zbus::Message) -> Outcome<Vec<Listing>> {
        let all: Vec<Listed> = message
            .body()
            .deserialize()
            .map_err(|error| garbled(&error))?;
        Ok(all
            .into_iter()
            .map(|(name, _, load, active, sub, _, path, job, _, _)| Listing {
                name,
                loaded: load == "loaded",
                active: state(&active),
                sub,
                busy: job != 0,
                path,
            })
            .collect())
    }

    /// The named units, loaded if they were not.
    pub fn units(&self, names: &[&str]) -> Outcome<Vec<Listing>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        Self::listed(&self.call("ListUnitsByNames", &(names,))?)
    }

    /// Units in memory whose names match one of the patterns.
    pub fn matching(&self, patterns: &[String]) -> Outcome<Vec<Listing>> {
        if patterns.is_empty() {
            return Ok(Vec::new());
        }
        let none: &[&str] = &[];
        Self::listed(&self.call("ListUnitsByPatterns", &(none, patterns))?)
    }

    fn property(&self, unit: &Listing, name: &str) -> Outcome<OwnedValue> {
        let failed = |error: &zbus::Error| {
            Failure::new(
                Class::Systemd,
                format!("systemd: {} of {}: {}", name, unit.name, said(error)),
            )
        };
        let message = self
            .connection
            .call_method(
                Some(SERVICE),
                &unit.path,
                Some("org.freedesktop.DBus.Properties"),
                "Get",
                &(UNIT, name),
            )
            .map_err(|error| failed(&error))?;
        message
            .body()
            .deserialize()
            .map_err(|error| garbled(&error))
    }

    /// Which start of the unit runs; empty when none does.
    pub fn invocation(&self, unit: &Listing) -> Outcome<String> {
        let value: Vec<u8> = self
            .property(unit, "InvocationID")?
            .try_into()
            .map_err(|error| garbled(&error))?;
        Ok(value.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn is_stale(&self, unit: &Listing) -> Outcome<bool> {
        self.property(unit, "NeedDaemonReload")?
            .try_into()
            .map_err(|error| garbled(&error))
    }

    /// The names of all units in memory.
    fn in_memory(&self) -> Outcome<BTreeSet<String>> {
        let listed = Self::listed(&self.call("ListUnits", &())?)?;
        Ok(listed.into_iter().map(|unit| unit.name).collect())
    }

    /// The states of the named units. Invocations are asked for only where they are needed.
    pub fn states(&self, names: &[&str], invocations: bool) -> Outcome<BTreeMap<String, State>> {
        // What is read only now, because somebody asks for it, is not stale.
        let known = self.in_memory()?;
        let units = self.units(names)?;
        let asked = &|unit: &Listing| -> Outcome<State> {
            let invocation = match invocations && unit.loaded {
                true => self.invocation(unit)?,
                false => String::new(),
            };
            Ok(State {
                loaded: unit.loaded,
                active: unit.active,
                invocation,
                stale: unit.loaded && known.contains(&unit.name) && self.is_stale(unit)?,
            })
        };
        // Each question waits for its answer; several at a time wait together.
        let share = units.len().div_ceil(AT_A_TIME).max(1);
        thread::scope(|scope| {
            let asking: Vec<_> = units
                .chunks(share)
                .map(|units| {
                    scope.spawn(move || {
                        let named = |unit: &Listing| Ok((unit.name.clone(), asked(unit)?));
                        units.iter().map(named).collect::<Outcome<Vec<_>>>()
                    })
                })
                .collect();
            let mut states = BTreeMap::new();
            for answers in asking {
                let answers = answers.join().unwrap_or_else(|_| {
                    Err(Failure::new(Class::Systemd, "a question was not finished"))
                });
                states.extend(answers?);
            }
            Ok(states)
        })
    }

    pub fn start(&self, unit: &str) -> Outcome<()> {
        self.job("StartUnit", unit)
    }

    pub fn restart(&self, unit: &str) -> Outcome<()> {
        self.job("RestartUnit", unit)
    }

    pub fn stop(&self, unit: &str) -> Outcome<()> {
        self.job("StopUnit", unit)
    }

    fn job(&self, method: &str, unit: &str) -> Outcome<()> {
        fault::point(&format!("{method} {unit}"));
        self.call(method, &(unit, "replace"))?;
        fault::point(&format!("wait for {method} {unit}"));
        Ok(())
    }

    pub fn reload(&self) -> Outcome<()> {
        fault::point("Reload");
        self.call("Reload", &())?;
        fault::point("after Reload");
        Ok(())
    }

    pub fn reset_failed(&self, unit: &str) -> Outcome<()> {
        fault::point(&format!("ResetFailedUnit {unit}"));
        match self.call("ResetFailedUnit", &(unit,)) {
            // Not in memory: there is nothing to forget.
            Err(failure) if failure.message.contains("not loaded") => Ok(()),
            other => other.map(drop),
        }
    }

    /// Waits until no job is left for the unit, at most until the deadline; what it is then.
    pub fn settle(&self, unit: &str, deadline: Instant) -> Outcome<Option<Listing>> {
        let mut pause = Duration::from_millis(2);
        loop {
            let found = self.units(&[unit])?.into_iter().next();
            let busy = found.as_ref().is_some_and(|unit| unit.busy);
            if !busy || Instant::now() >= deadline {
                return Ok(found);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

fn state(word: &str) -> Active {
    match word {
        "active" => Active::Active,
        "failed" => Active::Failed,
        "inactive" => Active::Inactive,
        _ => Active::Changing,
    }
}

/// What the other side said, without the name of its error.
fn said(error: &zbus::Error) -> String {
    match error {
        zbus::Error::MethodError(_, Some(text), _) => text.clone(),
        other => other.to_string(),
    }
}

fn garbled(error: &dyn std::error::Error) -> Failure {
    Failure::new(
        Class::Systemd,
        format!("systemd answered in an unknown form: {error}"),
    )
}
