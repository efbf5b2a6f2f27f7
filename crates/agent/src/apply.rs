//! Executes a plan: stops, files, reload, starts, each announced before and recorded after.
//!
//! The plan leaves nothing to decide. What is decided here is only whether a step has been done
//! already: a restart that systemd did by itself, because something the unit is bound to was
//! restarted, is not done twice.

use std::time::{Duration, Instant};

use hosts::plan::{
    Active, Applied, FileAction, FileVerb, Intent, Phase, Plan, Start, Target, UnitAction, UnitVerb,
};

use crate::failure::{Class, Failure, Outcome};
use crate::journal::{Journal, Priority};
use crate::layout::Layout;
use crate::notify::notify;
use crate::observe::Seen;
use crate::root::{Attributes, Root};
use crate::store::Store;
use crate::systemd::Systemd;

/// The world that a run works on.
pub struct World<'a> {
    pub layout: &'a Layout,
    pub root: &'a Root,
    pub store: &'a Store,
    pub systemd: Option<&'a Systemd>,
    pub journal: &'a Journal,
    /// How long a unit may take to come up or to go.
    pub timeout: Duration,
    /// How long a unit must stay up to count as up.
    pub settle: Duration,
    /// Told before each step.
    pub progress: &'a dyn Fn(&str),
}

/// One run's names.
#[derive(Clone, Debug)]
pub struct Run {
    pub id: String,
    pub commit: String,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Done {
    pub actions: usize,
    /// Units that did not come up, with why.
    pub broken: Vec<(String, String)>,
}

pub fn execute(
    world: &World<'_>,
    run: &Run,
    target: &Target,
    applied: &Applied,
    plan: &Plan,
    seen: &Seen,
) -> Outcome<Done> {
    let mut done = Done::default();
    world.store.keep_contents(target)?;
    let mut intent = Intent::announce(&run.id, &run.commit, target, applied, plan);
    for action in plan
        .files
        .iter()
        .filter(|action| action.verb != FileVerb::Remove)
    {
        intent
            .directories
            .extend(world.root.missing_directories(&action.path));
    }
    note_invocations(world, &mut intent)?;
    world.store.set_intent(&intent)?;
    for action in &plan.before {
        step(world, &mut done, action, || stop(world, &action.unit))?;
    }
    for path in intent.files.keys().chain(applied.files.keys()) {
        let cleaned = world.root.remove_temporary(path);
        cleaned.map_err(|error| Failure::file("remove what was left beside", path, &error))?;
    }
    for action in &plan.files {
        file(world, run, target, seen, action, &mut done)?;
    }
    remove_directories(world, target, &intent)?;
    let reload = plan
        .after
        .iter()
        .filter(|action| action.verb == UnitVerb::Reload);
    for action in reload {
        step(world, &mut done, action, || {
            world.systemd().and_then(Systemd::reload)
        })?;
    }
    if world.systemd.is_none() {
        return Ok(done);
    }
    all_loaded(world, target)?;
    note_invocations(world, &mut intent)?;
    intent.phase = Phase::Units;
    world.store.set_intent(&intent)?;
    for action in &plan.after {
        match action.verb {
            UnitVerb::Reload | UnitVerb::Stop => {}
            UnitVerb::Reset => step(world, &mut done, action, || reset(world, &action.unit))?,
            UnitVerb::PurgeVolume => step(world, &mut done, action, || purge(&action.unit))?,
            UnitVerb::Start | UnitVerb::Restart => {
                let result = step(world, &mut done, action, || start(world, &intent, action));
                match result {
                    Err(failure) if failure.class == Class::Unit => {
                        done.broken.push((action.unit.clone(), failure.message));
                        return Ok(done);
                    }
                    other => other?,
                }
            }
        }
    }
    verify(world, target, plan, &mut done)?;
    Ok(done)
}

impl World<'_> {
    fn systemd(&self) -> Outcome<&Systemd> {
        self.systemd
            .ok_or_else(|| Failure::new(Class::Systemd, "there is no systemd to ask"))
    }
}

/// Does one unit action and records it.
fn step(
    world: &World<'_>,
    done: &mut Done,
    action: &UnitAction,
    act: impl FnOnce() -> Outcome<()>,
) -> Outcome<()> {
    let word = action.verb.word();
    (world.progress)(&format!("{word} {}", action.unit));
    notify(&format!("STATUS={word} {}", action.unit));
    let result = act();
    let causes: Vec<String> = action
        .causes
        .iter()
        .map(|cause| format!("{}: {}", cause.reason.word(), cause.detail))
        .collect();
    let causes = causes.join("; ");
    record(
        world.journal,
        &format!("{word} {}", action.unit),
        word,
        &[
            ("LATH_UNIT", &action.unit),
            ("UNIT", &action.unit),
            ("LATH_CAUSE", &causes),
        ],
        &result,
    );
    done.actions += 1;
    result
}

fn record(
    journal: &Journal,
    what: &str,
    action: &str,
    fields: &[(&str, &str)],
    result: &Outcome<()>,
) {
    let (priority, word, text) = match result {
        Ok(()) => (Priority::Info, "done", what.to_owned()),
        Err(failure) => (Priority::Error, "failed", format!("{what}: {failure}")),
    };
    let mut all = vec![("LATH_ACTION", action), ("LATH_RESULT", word)];
    all.extend_from_slice(fields);
    if let Err(failure) = result {
        all.push(("LATH_CLASS", failure.class.word()));
    }
    journal.record(priority, &text, &all);
}

fn stop(world: &World<'_>, unit: &str) -> Outcome<()> {
    let systemd = world.systemd()?;
    systemd.stop(unit)?;
    let left = systemd.settle(unit, Instant::now() + world.timeout)?;
    match left {
        Some(unit) if matches!(unit.active, Active::Active | Active::Changing) => {
            Err(Failure::new(
                Class::Systemd,
                format!("{} does not stop: it is {}", unit.name, unit.sub),
            ))
        }
        _ => Ok(()),
    }
}

fn file(
    world: &World<'_>,
    run: &Run,
    target: &Target,
    seen: &Seen,
    action: &FileAction,
    done: &mut Done,
) -> Outcome<()> {
    let path = action.path.as_str();
    let verb = match action.verb {
        FileVerb::Create => "create",
        FileVerb::Replace => "replace",
        FileVerb::Remove => "remove",
        FileVerb::Adopt => "adopt",
    };
    (world.progress)(&format!("{verb} {path}"));
    let result = change(world, run, target, seen, action);
    let cause = format!("{}: {}", action.cause.reason.word(), action.cause.detail);
    let layers: Vec<String> = action
        .file
        .iter()
        .flat_map(|file| &file.layers)
        .map(|layer| format!("{} {} {}", layer.layer, layer.source, layer.outcome))
        .collect();
    let mut fields = vec![
        ("LATH_PATH", path),
        ("LATH_CAUSE", cause.trim_end_matches(": ")),
    ];
    fields.extend(layers.iter().map(|layer| ("LATH_LAYER", layer.as_str())));
    if let Some(file) = &action.file {
        fields.push(("LATH_SERVICE", &file.service));
        fields.push(("LATH_SHA256", &file.sha256.0));
    }
    record(
        world.journal,
        &format!("{verb} {path}"),
        verb,
        &fields,
        &result,
    );
    done.actions += 1;
    result
}

fn change(
    world: &World<'_>,
    run: &Run,
    target: &Target,
    seen: &Seen,
    action: &FileAction,
) -> Outcome<()> {
    let path = action.path.as_str();
    if !world.layout.allows(path) {
        return Err(Failure::new(
            Class::Confined,
            format!("`{path}` is not below an allowed directory"),
        ));
    }
    if action.keep
        && let Some(content) = seen.contents.get(path)
    {
        world.store.keep_replaced(&run.id, path, content)?;
    }
    match (&action.file, action.verb) {
        (_, FileVerb::Adopt) => Ok(()),
        (None, _) => {
            let removed = world.root.remove(path);
            removed.map_err(|error| Failure::file("remove", path, &error))
        }
        (Some(file), _) => {
            let content = target.contents.get(&file.sha256).ok_or_else(|| {
                Failure::new(
                    Class::State,
                    format!("the content of `{path}` is not at hand"),
                )
            })?;
            let made = world.root.make_directories(path, 0o755);
            made.map_err(|error| Failure::file("make directories for", path, &error))?;
            let written = match file.link {
                true => world.root.link(path, &String::from_utf8_lossy(content)),
                false => {
                    let attributes = Attributes {
                        mode: file.mode,
                        uid: file.uid,
                        gid: file.gid,
                    };
                    world.root.write(path, content, attributes)
                }
            };
            written.map_err(|error| Failure::file("write", path, &error))
        }
    }
}

/// Directories that were made for files and hold nothing any more, innermost first.
fn remove_directories(world: &World<'_>, target: &Target, intent: &Intent) -> Outcome<()> {
    for directory in intent.directories.iter().rev() {
        let prefix = format!("{directory}/");
        let used = target.files.range(prefix.clone()..).next();
        if used.is_some_and(|(path, _)| path.starts_with(&prefix)) {
            continue;
        }
        let removed = world.root.remove_empty_directory(directory);
        removed.map_err(|error| Failure::file("remove", directory, &error))?;
    }
    Ok(())
}

/// Every unit of the target must be known to systemd now: none may vanish in a generator.
fn all_loaded(world: &World<'_>, target: &Target) -> Outcome<()> {
    let named = target
        .units
        .iter()
        .filter(|(_, unit)| unit.start != Start::Template);
    let names: Vec<&str> = named.map(|(name, _)| name.as_str()).collect();
    let units = world.systemd()?.units(&names)?;
    let missing: Vec<String> = units
        .into_iter()
        .filter(|unit| !unit.loaded)
        .map(|unit| unit.name)
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(
            Class::Preflight,
            format!(
                "systemd does not know {} after its reload",
                missing.join(", ")
            ),
        )
        .help("`journalctl -b -t quadlet-generator` says why a Quadlet was dropped")),
    }
}

/// Notes which start of each unit runs now: with another one it has been restarted since.
fn note_invocations(world: &World<'_>, intent: &mut Intent) -> Outcome<()> {
    let Some(systemd) = world.systemd else {
        return Ok(());
    };
    let names: Vec<&str> = intent.due.keys().map(String::as_str).collect();
    let mut invocations = Vec::new();
    for unit in systemd.units(&names)? {
        let invocation = match unit.loaded {
            true => systemd.invocation(&unit)?,
            false => String::new(),
        };
        invocations.push((unit.name, invocation));
    }
    for (name, invocation) in invocations {
        if let Some(due) = intent.due.get_mut(&name) {
            due.invocation = invocation;
        }
    }
    Ok(())
}

fn reset(world: &World<'_>, unit: &str) -> Outcome<()> {
    let systemd = world.systemd()?;
    systemd.reset_failed(unit)?;
    match systemd.units(&[unit])?.into_iter().next() {
        Some(unit) if unit.active == Active::Active => Err(Failure::new(
            Class::Systemd,
            format!("{} still runs although its file is gone", unit.name),
        )),
        _ => Ok(()),
    }
}

fn purge(volume: &str) -> Outcome<()> {
    crate::fault::point(&format!("purge volume {volume}"));
    let output = std::process::Command::new("podman")
        .args(["volume", "rm", "--", volume])
        .output()
        .map_err(|error| Failure::new(Class::Systemd, format!("cannot run podman: {error}")))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || said.contains("no such volume") {
        return Ok(());
    }
    Err(Failure::new(
        Class::Systemd,
        format!("cannot remove volume {volume}: {}", said.trim()),
    ))
}

fn start(world: &World<'_>, intent: &Intent, action: &UnitAction) -> Outcome<()> {
    let systemd = world.systemd()?;
    let before = systemd.units(&[&action.unit])?.into_iter().next();
    if action.verb == UnitVerb::Restart
        && let (Some(unit), Some(due)) = (&before, intent.due.get(&action.unit))
        && unit.active == Active::Active
        && systemd.invocation(unit)? != due.invocation
    {
        // systemd restarted it together with what it is bound to.
        return Ok(());
    }
    // Earlier failures, and the starts that came before them, must not count against this one.
    systemd.reset_failed(&action.unit)?;
    let asked = match action.verb {
        UnitVerb::Restart => systemd.restart(&action.unit),
        _ => systemd.start(&action.unit),
    };
    // systemd knows the unit and refuses: that is the unit's failure, not the bus's.
    asked.map_err(|failure| match failure.message.contains("Connection") {
        true => failure,
        false => Failure::new(Class::Unit, failure.message),
    })?;
    let unit = systemd.settle(&action.unit, Instant::now() + world.timeout)?;
    match unit {
        Some(unit) if unit.busy => Err(Failure::new(
            Class::Unit,
            format!(
                "{} is still {} after {:?}",
                unit.name, unit.sub, world.timeout
            ),
        )),
        Some(unit) if unit.active == Active::Failed || unit.sub == "auto-restart" => Err(
            Failure::new(Class::Unit, format!("{} failed to start", unit.name)),
        ),
        _ => Ok(()),
    }
}

/// Whether what was started stays up. A service that ends by design, and one that waits for its
/// socket, are well.
fn verify(world: &World<'_>, target: &Target, plan: &Plan, done: &mut Done) -> Outcome<()> {
    let systemd = world.systemd()?;
    let started: Vec<&str> = plan
        .after
        .iter()
        .filter(|action| matches!(action.verb, UnitVerb::Start | UnitVerb::Restart))
        .map(|action| action.unit.as_str())
        .collect();
    if started.is_empty() {
        return Ok(());
    }
    notify("STATUS=verifying");
    (world.progress)("verify");
    let deadline = Instant::now() + world.settle;
    loop {
        for unit in systemd.units(&started)? {
            let may_end = target
                .units
                .get(&unit.name)
                .is_some_and(|unit| unit.start != Start::Always);
            let well = match unit.active {
                Active::Active => true,
                Active::Changing => unit.sub != "auto-restart",
                Active::Inactive => may_end,
                Active::Failed => false,
            };
            if !well {
                let why = format!("{} did not stay up: it is {}", unit.name, unit.sub);
                done.broken.push((unit.name, why));
            }
        }
        if !done.broken.is_empty() || Instant::now() >= deadline {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50).min(world.settle));
    }
}
