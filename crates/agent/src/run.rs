//! One run: from a target to a host that shows it, or to a host as it was, with records of both.
//!
//! ```text
//! lock → state, intent → observe → plan → pre-flight → execute → verify → generation, state
//!                                                         └ failed → restore the last good generation
//! ```

use std::time::Duration;

use hosts::plan::{self, Applied, Intent, Options, Plan, Target};

use crate::apply::{self, Run, World};
use crate::failure::{Class, Failure, Outcome};
use crate::foreign;
use crate::journal::{Journal, Priority};
use crate::layout::Layout;
use crate::notify::notify;
use crate::observe::{self, Interest, Seen};
use crate::preflight::{self, Report};
use crate::root::Root;
use crate::store::{Failed, Generation, State, Status, Store};
use crate::systemd::Systemd;

/// What a run is to bring about, and where it comes from.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub host: String,
    pub source: String,
    pub commit: String,
    pub subject: String,
    /// `apply`, or `rollback to 3`.
    pub origin: String,
    pub target: Target,
}

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub options: Options,
    /// Try a commit again that failed before.
    pub retry: bool,
    /// Leave a host as it is when a unit does not come up.
    pub no_rollback: bool,
    pub timeout: Duration,
    pub settle: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            options: Options::default(),
            retry: false,
            no_rollback: false,
            timeout: Duration::from_secs(120),
            settle: Duration::from_secs(2),
        }
    }
}

/// A plan with what it was made from.
#[derive(Debug)]
pub struct Prepared {
    pub plan: Plan,
    pub seen: Seen,
    pub applied: Applied,
    pub report: Report,
    /// What it leads to: what was wanted, or the installed generation when that is held back.
    pub target: Target,
    pub held: Option<Failed>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub actions: usize,
    pub generation: u64,
    /// The commit is held back; the installed generation was kept as it should be.
    pub held: Option<Failed>,
}

/// A host that is looked at and worked on.
pub struct Host {
    pub layout: Layout,
    pub root: Root,
    pub systemd: Option<Systemd>,
    pub settings: Settings,
}

impl Host {
    pub fn open(layout: Layout, settings: Settings) -> Outcome<Host> {
        let root = Root::open(&layout.root)
            .map_err(|error| Failure::file("open", &layout.root.display().to_string(), &error))?;
        let systemd = match layout.live {
            true => Some(Systemd::connect(layout.user)?),
            false => None,
        };
        Ok(Host {
            layout,
            root,
            systemd,
            settings,
        })
    }

    fn observe(
        &self,
        target: &Target,
        state: &State,
        intent: Option<&Intent>,
    ) -> Outcome<(Seen, Applied)> {
        let interest = Interest::new(target, state, intent);
        let seen = observe::observe(&self.root, self.systemd.as_ref(), &interest, target)?;
        let applied = match intent {
            Some(intent) => intent.resume(&state.applied(), &seen.observed),
            None => state.applied(),
        };
        Ok((seen, applied))
    }

    /// Plans, and lets the host's generators judge the result. Changes nothing but scratch files.
    pub fn prepare(
        &self,
        wanted: &Wanted,
        state: &State,
        intent: Option<&Intent>,
        store: Option<&Store>,
    ) -> Outcome<Prepared> {
        for path in wanted.target.files.keys() {
            if !self.layout.allows(path) {
                let message = format!("`{path}` is not below a directory that may be written to");
                return Err(Failure::new(Class::Confined, message));
            }
        }
        let digest = wanted.target.digest();
        let held = state
            .failed
            .clone()
            .filter(|failed| failed.digest == digest.0 && !self.settings.retry);
        let mut target = wanted.target.clone();
        if let (Some(_), Some(store)) = (&held, store) {
            target = state.generation.target.clone();
            store.load_contents(&mut target)?;
        }
        let (seen, applied) = self.observe(&target, state, intent)?;
        let mut plan = plan::plan(&target, &applied, &seen.observed, self.settings.options);
        plan.notes
            .extend(foreign::foreign(&self.layout, &target, &applied));
        let mut report = Report::default();
        if plan.conflicts.is_empty() {
            report = preflight::preflight(&self.layout, &target, &applied, &plan)?;
        }
        Ok(Prepared {
            plan,
            seen,
            applied,
            report,
            target,
            held,
        })
    }

    /// Brings the host to what is wanted. The caller holds the lock.
    pub fn apply(
        &self,
        wanted: &Wanted,
        store: &Store,
        run: &str,
        journal: &Journal,
        progress: &dyn Fn(&str),
    ) -> Outcome<Ended> {
        let (mut state, damage) = store.state()?;
        if let Some(damage) = &damage {
            journal.record(
                Priority::Warning,
                &format!("{damage}; the newest generation stands in"),
                &[("LATH_CLASS", "state")],
            );
        }
        state.host.clone_from(&wanted.host);
        let intent = store.intent()?;
        notify("STATUS=planning");
        let prepared = self.prepare(wanted, &state, intent.as_ref(), Some(store))?;
        if let Some(conflict) = prepared.plan.conflicts.first() {
            let details = prepared
                .plan
                .conflicts
                .iter()
                .map(|conflict| conflict.message.clone());
            let failure = Failure::new(Class::Conflict, conflict.message.clone()).details(details);
            return Err(match conflict.adoptable {
                true => failure.help("remove it, or take it over with --adopt"),
                false => failure.help("move it away"),
            });
        }
        let world = World {
            layout: &self.layout,
            root: &self.root,
            store,
            systemd: self.systemd.as_ref(),
            journal,
            timeout: self.settings.timeout,
            settle: self.settings.settle,
            progress,
        };
        let run = Run {
            id: run.to_owned(),
            commit: wanted.commit.clone(),
        };
        // What failed and could not be undone is left alone until somebody decides.
        let stuck = prepared.held.is_some() && !state.generation.good;
        let nothing = prepared.plan.is_empty() || stuck;
        let known = state.generation.target.files == prepared.target.files
            && state.generation.target.units == prepared.target.units;
        if nothing && known && intent.is_none() && damage.is_none() {
            if prepared.held.is_none() && state.commit != wanted.commit {
                state.commit.clone_from(&wanted.commit);
                store.set_state(&state)?;
            }
            return Ok(Ended {
                actions: 0,
                generation: state.generation.number,
                held: prepared.held,
            });
        }
        let executed = apply::execute(
            &world,
            &run,
            &prepared.target,
            &prepared.applied,
            &prepared.plan,
            &prepared.seen,
        );
        let failure = match executed {
            Ok(done) => match done.broken.first() {
                None => {
                    return self.succeeded(wanted, state, prepared, store, &run, done.actions);
                }
                Some((unit, why)) => Failure::new(Class::Unit, why.clone())
                    .details(done.broken.iter().map(|(_, why)| why.clone()))
                    .help(format!("`journalctl -u {unit}` tells more")),
            },
            Err(failure) => failure,
        };
        Err(self.failed(wanted, state, &prepared, &world, &run, failure))
    }

    fn succeeded(
        &self,
        wanted: &Wanted,
        mut state: State,
        prepared: Prepared,
        store: &Store,
        run: &Run,
        actions: usize,
    ) -> Outcome<Ended> {
        let held = prepared.held;
        if held.is_none() {
            let same = state.generation.good
                && state.generation.target.digest() == prepared.target.digest();
            let number = match same {
                true => state.generation.number,
                false => next_number(store, &state)?,
            };
            let generation = self.generation(wanted, number, run, prepared.target, store, true)?;
            store.add_generation(&generation)?;
            state.generation = generation;
            state.commit.clone_from(&wanted.commit);
            state.failed = None;
        }
        store.set_state(&state)?;
        store.clear_intent()?;
        store.tidy()?;
        Ok(Ended {
            actions,
            generation: state.generation.number,
            held,
        })
    }

    fn generation(
        &self,
        wanted: &Wanted,
        number: u64,
        run: &Run,
        target: Target,
        store: &Store,
        good: bool,
    ) -> Outcome<Generation> {
        let made = store
            .intent()?
            .map(|intent| intent.directories)
            .unwrap_or_default();
        let used = |directory: &String| {
            let prefix = format!("{directory}/");
            let next = target.files.range(prefix.clone()..).next();
            next.is_some_and(|(path, _)| path.starts_with(&prefix))
        };
        Ok(Generation {
            number,
            run: run.id.clone(),
            time: now(),
            source: wanted.source.clone(),
            commit: wanted.commit.clone(),
            subject: wanted.subject.clone(),
            origin: wanted.origin.clone(),
            good,
            directories: made.into_iter().filter(used).collect(),
            target,
        })
    }

    /// Puts back what was there, or keeps what is there and remembers that it is not good.
    fn failed(
        &self,
        wanted: &Wanted,
        mut state: State,
        prepared: &Prepared,
        world: &World<'_>,
        run: &Run,
        failure: Failure,
    ) -> Failure {
        let store = world.store;
        let unit_failed = matches!(failure.class, Class::Unit | Class::Preflight);
        world.journal.record(
            Priority::Error,
            &format!("failed: {failure}"),
            &[
                ("LATH_ACTION", "failure"),
                ("LATH_CLASS", failure.class.word()),
                ("LATH_RESULT", "failed"),
            ],
        );
        if unit_failed && prepared.held.is_none() {
            state.failed = Some(Failed {
                commit: wanted.commit.clone(),
                digest: prepared.target.digest().0,
                time: now(),
                reason: failure.message.clone(),
            });
            // Before anything is put back: killed now, the next run must not try again.
            if let Err(second) = store.set_state(&state) {
                return second;
            }
        }
        // When the world failed, the way back leads to what was there, good or not.
        let good = match unit_failed {
            true => last_good(store, &state),
            false => Ok(Some(state.generation.clone())),
        };
        let good = match good {
            Ok(good) => good,
            Err(second) => return failure.details([second.message]),
        };
        let same = good
            .as_ref()
            .is_some_and(|good| good.target.digest() == prepared.target.digest());
        let keep = unit_failed && (self.settings.no_rollback || good.is_none() || same);
        let result = match keep {
            true => self.keep(wanted, state, prepared, store, run, same),
            false => self.restore(state, good.unwrap_or_default(), world, run),
        };
        match result {
            Ok(text) => failure.details([text]),
            Err(second) => failure.details([format!("and putting things back failed: {second}")]),
        }
    }

    fn keep(
        &self,
        wanted: &Wanted,
        mut state: State,
        prepared: &Prepared,
        store: &Store,
        run: &Run,
        same: bool,
    ) -> Outcome<String> {
        if !same {
            let number = next_number(store, &state)?;
            let generation =
                self.generation(wanted, number, run, prepared.target.clone(), store, false)?;
            store.add_generation(&generation)?;
            state.generation = generation;
            store.set_state(&state)?;
        }
        store.clear_intent()?;
        Ok(match (self.settings.no_rollback, same) {
            (_, true) => "the files are as they should be".to_owned(),
            (true, _) => "the host was left as it is, as asked".to_owned(),
            (false, _) => "there is no earlier generation to go back to".to_owned(),
        })
    }

    fn restore(
        &self,
        mut state: State,
        mut good: Generation,
        world: &World<'_>,
        run: &Run,
    ) -> Outcome<String> {
        let store = world.store;
        notify("STATUS=rolling back");
        (world.progress)("roll back");
        store.load_contents(&mut good.target)?;
        let intent = store.intent()?;
        let (seen, applied) = self.observe(&good.target, &state, intent.as_ref())?;
        let plan = plan::plan(&good.target, &applied, &seen.observed, Options::default());
        let done = apply::execute(world, run, &good.target, &applied, &plan, &seen)?;
        if let Some((_, why)) = done.broken.first() {
            return Err(Failure::new(Class::Unit, why.clone()));
        }
        let number = good.number;
        state.generation = good;
        store.set_state(&state)?;
        store.clear_intent()?;
        let text = match number {
            0 => "what had been begun was undone".to_owned(),
            number => format!("generation {number} was restored"),
        };
        world.journal.record(
            Priority::Warning,
            &text,
            &[
                ("LATH_ACTION", "rollback"),
                ("LATH_RESULT", "done"),
                ("LATH_GENERATION", &number.to_string()),
            ],
        );
        Ok(text)
    }
}

fn next_number(store: &Store, state: &State) -> Outcome<u64> {
    let newest = store
        .generations()?
        .last()
        .map_or(0, |generation| generation.number);
    Ok(newest.max(state.generation.number) + 1)
}

fn last_good(store: &Store, state: &State) -> Outcome<Option<Generation>> {
    if state.generation.good {
        return Ok(Some(state.generation.clone()));
    }
    Ok(store
        .generations()?
        .into_iter()
        .rev()
        .find(|generation| generation.good))
}

/// The time, RFC 3339, to the second.
pub fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// Names a run: sortable by time, and unlike any other.
pub fn run_id() -> String {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S");
    format!("{time}-{:06}", std::process::id())
}

/// Records how a run ended, in the journal and in the status file.
pub fn conclude(
    store: &Store,
    journal: &Journal,
    wanted: &Wanted,
    run: &str,
    started: String,
    result: &Outcome<Ended>,
) -> Outcome<()> {
    let mut status = Status {
        run: run.to_owned(),
        host: wanted.host.clone(),
        started,
        ended: now(),
        source: wanted.source.clone(),
        commit: wanted.commit.clone(),
        ..Status::default()
    };
    match result {
        Ok(ended) => {
            status.result = if ended.held.is_some() {
                "held"
            } else {
                "converged"
            }
            .to_owned();
            status.class = ended.held.as_ref().map(|_| "held".to_owned());
            status.message = ended.held.as_ref().map(|failed| failed.reason.clone());
            status.generation = ended.generation;
            status.actions = ended.actions;
        }
        Err(failure) => {
            status.result = "failed".to_owned();
            status.class = Some(failure.class.word().to_owned());
            status.message = Some(failure.message.clone());
        }
    }
    let priority = if result.is_ok() {
        Priority::Notice
    } else {
        Priority::Error
    };
    let message = match &status.message {
        Some(message) => format!("run {}: {message}", status.result),
        None => format!("run {}, {} actions", status.result, status.actions),
    };
    let class = status.class.clone().unwrap_or_default();
    journal.record(
        priority,
        &message,
        &[
            ("LATH_ACTION", "end"),
            ("LATH_RESULT", &status.result),
            ("LATH_CLASS", &class),
            ("LATH_GENERATION", &status.generation.to_string()),
        ],
    );
    store.set_status(&status)
}
