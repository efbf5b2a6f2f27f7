//! What a run announces before its first effect, and what a later run makes of it when the first
//! was cut short.
//!
//! Nothing is undone: the next run plans anew, for whatever is wanted then. For that it must know
//! what is ours although no finished run recorded it, and which units still have to be restarted
//! although the files already show what is wanted. The first is in `files` and `units`; the second
//! follows from the invocation that each unit had when its restart came up.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use units::UnitName;

use super::observed::{Active, Applied, Cause, Observed, Reason};
use super::target::{File, Hash, Target, Unit};
use super::{Plan, UnitVerb};

/// How far a run had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Units are stopped, files are written, systemd reloads: how far it came is unknown.
    #[default]
    Files,
    /// All files lie in their places and systemd has read them; units are started.
    Units,
}

/// A unit that the run is about to start or restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    /// Which start of it ran when the phase began; empty when it never ran.
    pub invocation: String,
    pub cause: Cause,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    pub run: String,
    pub commit: String,
    pub phase: Phase,
    /// Everything that may lie on the host because of this run or of one that it finishes.
    pub files: BTreeMap<String, File>,
    /// What earlier runs that this one finishes may have put at a path of `files` instead.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub earlier: BTreeMap<String, BTreeSet<Hash>>,
    pub units: BTreeMap<String, Unit>,
    pub due: BTreeMap<String, Due>,
    pub reload: bool,
    pub directories: BTreeSet<String>,
}

impl Intent {
    /// What executing `plan` towards `target` may do, on top of what is known.
    pub fn announce(
        run: &str,
        commit: &str,
        target: &Target,
        applied: &Applied,
        plan: &Plan,
    ) -> Intent {
        let mut files = applied.announced.clone();
        files.extend(target.files.clone());
        let mut earlier = applied.earlier.clone();
        for (path, file) in &applied.announced {
            if files.get(path).is_some_and(|now| now.sha256 != file.sha256) {
                let known = earlier.entry(path.clone()).or_default();
                known.insert(file.sha256.clone());
            }
        }
        let mut units = applied.units.clone();
        units.extend(target.units.clone());
        let mut due = BTreeMap::new();
        for action in &plan.after {
            if matches!(action.verb, UnitVerb::Start | UnitVerb::Restart) {
                let cause = action.causes.first().cloned();
                let entry = Due {
                    invocation: String::new(),
                    cause: cause.unwrap_or_else(|| Cause::new(Reason::Recovery, "")),
                };
                due.insert(action.unit.clone(), entry);
            }
        }
        Intent {
            run: run.to_owned(),
            commit: commit.to_owned(),
            phase: Phase::Files,
            files,
            earlier,
            units,
            due,
            reload: plan
                .after
                .iter()
                .any(|action| action.verb == UnitVerb::Reload),
            directories: applied.directories.clone(),
        }
    }

    /// What was last applied, given the state before the run that was cut short.
    pub fn resume(&self, before: &Applied, observed: &Observed) -> Applied {
        let mut applied = before.clone();
        applied.announced = self.files.clone();
        applied.earlier = self.earlier.clone();
        applied.directories.extend(self.directories.iter().cloned());
        applied.reload_due = self.reload && self.phase == Phase::Files;
        for (name, unit) in &self.units {
            let Some(due) = self.due.get(name) else {
                // Not to be started by that run: its inputs, if they differ, were of no account.
                applied
                    .units
                    .entry(name.clone())
                    .or_insert_with(|| unit.clone());
                continue;
            };
            let invocation = observed
                .unit(name)
                .map_or("", |state| state.invocation.as_str());
            let same = invocation == due.invocation;
            // A start that failed, or is not over, was never found to be good: it is made again.
            let settled = observed
                .unit(name)
                .is_none_or(|state| matches!(state.active, Active::Active | Active::Inactive));
            if self.phase == Phase::Units && !same && settled {
                applied.units.insert(name.clone(), unit.clone());
                continue;
            }
            applied.units.entry(name.clone()).or_insert_with(|| Unit {
                // It was to be started for the first time: no inputs, so it counts as changed.
                inputs: BTreeMap::new(),
                ..unit.clone()
            });
            // A unit that came up by itself while files were written may have read any of them.
            if !same || due.cause.reason == Reason::Drift {
                let detail = match due.cause.detail.as_str() {
                    "" => "a run was cut short".to_owned(),
                    detail => format!("a run was cut short ({detail})"),
                };
                applied
                    .due
                    .insert(name.clone(), Cause::new(Reason::Recovery, detail));
            }
        }
        for (name, due) in &self.due {
            if !self.units.contains_key(name) {
                self.resume_instance(name, due, observed, &mut applied);
            }
        }
        applied
    }
    /// An instance stands in no list of units: what it was started from is its template's.
    fn resume_instance(&self, name: &str, due: &Due, observed: &Observed, applied: &mut Applied) {
        let state = observed.unit(name);
        let invocation = state.map_or("", |state| state.invocation.as_str());
        let started = !invocation.is_empty() && invocation != due.invocation;
        let settled =
            state.is_some_and(|state| matches!(state.active, Active::Active | Active::Inactive));
        if self.phase == Phase::Units && started && settled {
            let template = UnitName::parse(name).and_then(|name| name.template());
            let unit = template.and_then(|template| self.units.get(&template.to_string()));
            applied
                .instances
                .extend(unit.map(|unit| (name.to_owned(), unit.clone())));
        } else if started || !observed.is_running(name) {
            // It ran when the run began; the run stopped it, or its start was never found good.
            let cause = Cause::new(Reason::Recovery, "a run was cut short");
            applied.due.insert(name.to_owned(), cause);
        }
    }
}
