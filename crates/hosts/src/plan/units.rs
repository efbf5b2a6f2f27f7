//! Which units are stopped, started and restarted, in which order, and why.
//!
//! Before any file changes: units whose definition goes away are stopped, and services that hold
//! the sockets of a socket about to change, dependents first. After the files and the reload:
//! starts and restarts, dependencies first, each unit once.
//!
//! What decides about a restart is [`Unit::inputs`], never the file's bytes: a comment restarts
//! nothing. A unit that podman would not change by a restart (a volume, a network) is reported.

use std::collections::{BTreeMap, BTreeSet};

use units::UnitName;

use super::files::Files;
use super::observed::{Active, Applied, Cause, Observed, Reason};
use super::order::ordered;
use super::target::{Nature, Start, Target, Unit};
use super::{Note, UnitAction, UnitVerb};

#[derive(Debug, Default)]
pub(super) struct Units {
    pub before: Vec<UnitAction>,
    pub after: Vec<UnitAction>,
    pub notes: Vec<Note>,
}

/// What is to happen, by unit, before it is put in order.
#[derive(Default)]
struct Wanted {
    stop: BTreeMap<String, Vec<Cause>>,
    reset: BTreeSet<String>,
    start: BTreeMap<String, Vec<Cause>>,
    restart: BTreeMap<String, Vec<Cause>>,
    notes: Vec<Note>,
}

pub(super) fn compare(
    target: &Target,
    applied: &Applied,
    observed: &Observed,
    files: &Files,
    purge_volumes: bool,
) -> Units {
    if observed.units.is_none() {
        return Units::default();
    }
    let mut wanted = Wanted::default();
    let mut purge = Vec::new();
    for (name, unit) in &applied.units {
        if !target.units.contains_key(name) {
            gone(name, unit, target, observed, &mut wanted);
            if let Some(volume) = unit
                .volume
                .as_deref()
                .filter(|_| !target.makes_volume(unit))
            {
                if purge_volumes {
                    purge.push(volume.to_owned());
                } else {
                    wanted.notes.push(Note::volume_kept(volume, &unit.artifact));
                }
            }
        }
    }
    for (name, unit) in &target.units {
        kept(name, unit, applied, observed, files, &mut wanted);
    }
    propagate(target, observed, &mut wanted);
    arrange(target, applied, observed, files, wanted, purge)
}

/// A unit that was applied and is no longer wanted.
fn gone(name: &str, unit: &Unit, target: &Target, observed: &Observed, wanted: &mut Wanted) {
    let successor = target
        .units
        .iter()
        .find(|(_, other)| other.artifact == unit.artifact);
    let cause = match successor {
        Some((successor, _)) => {
            Cause::new(Reason::Desired, format!("its name becomes {successor}"))
        }
        None => Cause::new(Reason::Removed, "its file goes away"),
    };
    let mut all = vec![name.to_owned()];
    if unit.start == Start::Template {
        all = observed.instances(name).to_vec();
    }
    for name in all {
        match observed.unit(&name).map(|state| state.active) {
            Some(Active::Active | Active::Changing) => {
                wanted
                    .stop
                    .entry(name.clone())
                    .or_default()
                    .push(cause.clone());
                wanted.reset.insert(name);
            }
            Some(Active::Failed) => {
                wanted.reset.insert(name);
            }
            Some(Active::Inactive) | None => {}
        }
    }
}

/// A unit that is wanted: what changed for it, and what follows.
fn kept(
    name: &str,
    unit: &Unit,
    applied: &Applied,
    observed: &Observed,
    files: &Files,
    wanted: &mut Wanted,
) {
    let before = applied.units.get(name);
    let causes = changes(name, unit, before, applied, files);
    let running = observed.is_running(name);
    let new = before.is_none();
    match unit.nature {
        Nature::Volume | Nature::Network if !new && !causes.is_empty() => {
            wanted.notes.push(Note::recreate(unit, name));
            return;
        }
        _ => {}
    }
    if unit.start == Start::Template {
        instances(name, unit, applied, observed, files, wanted);
        return;
    }
    if unit.nature == Nature::Socket && !causes.is_empty() && !new {
        for service in &unit.triggers {
            if observed.is_running(service) {
                let cause = Cause::new(Reason::Dependency, format!("{name} changes"));
                wanted.stop.entry(service.clone()).or_default().push(cause);
            }
        }
    }
    match (unit.start, running) {
        (_, true) if !causes.is_empty() => {
            // A new unit of that name which already runs was started by somebody else, from
            // something else.
            wanted.restart.insert(name.to_owned(), causes);
        }
        (Start::Always, false) => {
            let causes = match causes.is_empty() {
                true => vec![idle(name, observed)],
                false => causes,
            };
            wanted.start.insert(name.to_owned(), causes);
        }
        (Start::Once, false) if !causes.is_empty() => {
            wanted.start.insert(name.to_owned(), causes);
        }
        _ => {}
    }
}

/// The running instances of a template that changed, and those that a run which was cut short
/// has left behind.
fn instances(
    template: &str,
    unit: &Unit,
    applied: &Applied,
    observed: &Observed,
    files: &Files,
    wanted: &mut Wanted,
) {
    let is_instance = |name: &&String| {
        let parsed = UnitName::parse(name).and_then(|name| name.template());
        parsed.is_some_and(|found| found.to_string() == template)
    };
    let due = applied.due.keys().filter(is_instance);
    let names: BTreeSet<&String> = observed.instances(template).iter().chain(due).collect();
    for name in names {
        let before = applied.instances.get(name);
        let before = before.or_else(|| applied.units.get(template));
        let causes = changes(name, unit, before, applied, files);
        let change = match observed.is_running(name) {
            true => &mut wanted.restart,
            false => &mut wanted.start,
        };
        if !causes.is_empty() {
            change.insert(name.clone(), causes);
        }
    }
}

fn changes(
    name: &str,
    unit: &Unit,
    before: Option<&Unit>,
    applied: &Applied,
    files: &Files,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    let Some(before) = before else {
        return vec![Cause::new(Reason::Desired, "new")];
    };
    for path in unit.inputs.keys().chain(
        before
            .inputs
            .keys()
            .filter(|path| !unit.inputs.contains_key(*path)),
    ) {
        let own = *path == unit.artifact || path.starts_with(&format!("{}.d/", unit.artifact));
        let reason = if own {
            Reason::Desired
        } else {
            Reason::Dependency
        };
        let verb = match (before.inputs.get(path), unit.inputs.get(path)) {
            (old, new) if old == new && files.drifted.contains(path) => {
                causes.push(Cause::new(
                    Reason::Drift,
                    format!("{path} was edited by hand"),
                ));
                continue;
            }
            (old, new) if old == new => continue,
            (None, _) => "is new",
            (_, None) => "goes away",
            _ => "changed",
        };
        causes.push(Cause::new(reason, format!("{path} {verb}")));
    }
    if causes.is_empty() {
        causes.extend(applied.due.get(name).cloned());
    }
    causes
}

/// Why a unit that should run does not.
fn idle(name: &str, observed: &Observed) -> Cause {
    let detail = match observed.unit(name).map(|state| state.active) {
        Some(Active::Failed) => "it has failed",
        _ => "it is not running",
    };
    Cause::new(Reason::Drift, detail)
}

/// systemd restarts what is bound to a restarted unit; the plan says so, and says why.
fn propagate(target: &Target, observed: &Observed, wanted: &mut Wanted) {
    loop {
        let mut more = Vec::new();
        for (name, unit) in &target.units {
            let due = wanted.restart.contains_key(name) || wanted.start.contains_key(name);
            if due || wanted.stop.contains_key(name) || !observed.is_running(name) {
                continue;
            }
            let cause = unit
                .bound
                .iter()
                .find(|other| wanted.restart.contains_key(*other));
            if let Some(other) = cause {
                let cause = Cause::new(Reason::Dependency, format!("{other} restarts"));
                more.push((name.clone(), vec![cause]));
            }
        }
        if more.is_empty() {
            return;
        }
        wanted.restart.extend(more);
    }
}

fn arrange(
    target: &Target,
    applied: &Applied,
    observed: &Observed,
    files: &Files,
    mut wanted: Wanted,
    purge: Vec<String>,
) -> Units {
    let mut units = Units::default();
    // What is stopped ahead of its socket is not restarted: it is started again if it must run.
    let stopped: Vec<String> = wanted.stop.keys().cloned().collect();
    for name in &stopped {
        let Some(unit) = target.units.get(name) else {
            continue;
        };
        let causes = wanted.restart.remove(name);
        if unit.start == Start::Always {
            let causes = causes.or_else(|| wanted.stop.get(name).cloned());
            wanted
                .start
                .insert(name.clone(), causes.unwrap_or_default());
        }
    }
    let names: BTreeSet<&str> = wanted.stop.keys().map(String::as_str).collect();
    for name in ordered(&names, &applied.units).into_iter().rev() {
        units.before.push(UnitAction {
            verb: UnitVerb::Stop,
            unit: name.to_owned(),
            causes: wanted.stop.get(name).cloned().unwrap_or_default(),
        });
    }
    if let Some(cause) = reload(target, applied, observed, files) {
        units.after.push(UnitAction {
            verb: UnitVerb::Reload,
            unit: "systemd".to_owned(),
            causes: vec![cause],
        });
    }
    for name in wanted.reset {
        units.after.push(UnitAction {
            verb: UnitVerb::Reset,
            unit: name,
            causes: vec![Cause::new(Reason::Removed, "it is gone")],
        });
    }
    for volume in purge {
        units.after.push(UnitAction {
            verb: UnitVerb::PurgeVolume,
            unit: volume,
            causes: vec![Cause::new(Reason::Removed, "volumes are to be purged")],
        });
    }
    let names: BTreeSet<&str> = (wanted.start.keys())
        .chain(wanted.restart.keys())
        .map(String::as_str)
        .collect();
    for name in ordered(&names, &target.units) {
        let (verb, causes) = match wanted.restart.get(name) {
            Some(causes) => (UnitVerb::Restart, causes),
            None => (UnitVerb::Start, wanted.start.get(name).unwrap_or(&EMPTY)),
        };
        units.after.push(UnitAction {
            verb,
            unit: name.to_owned(),
            causes: causes.clone(),
        });
    }
    units.notes = wanted.notes;
    units
}

static EMPTY: Vec<Cause> = Vec::new();

/// Whether systemd must read its units again.
fn reload(target: &Target, applied: &Applied, observed: &Observed, files: &Files) -> Option<Cause> {
    let changed = |action: &&super::FileAction| {
        action.role.is_loaded() && action.verb != super::FileVerb::Adopt
    };
    if files.actions.iter().any(|action| changed(&action)) {
        return Some(Cause::new(Reason::Desired, "unit files change"));
    }
    if applied.reload_due {
        let detail = "a run was cut short before it";
        return Some(Cause::new(Reason::Recovery, detail));
    }
    let state = |name: &String| observed.unit(name);
    let mut named = target
        .units
        .iter()
        .filter(|(_, unit)| unit.start != Start::Template);
    if named.any(|(name, _)| state(name).is_some_and(|state| !state.loaded || state.stale)) {
        let detail = "systemd has not read the installed files";
        return Some(Cause::new(Reason::Drift, detail));
    }
    None
}
