//! Looks at a host: every file of the target and of the last applied state once, and the units.

use std::collections::{BTreeMap, BTreeSet};

use hosts::plan::{Found, Hash, Observed, Start, Target};

use crate::failure::{Failure, Outcome};
use crate::root::{Entry, Root};
use crate::store::State;
use crate::systemd::Systemd;

/// What was seen, with the contents of the files that do not show what is wanted.
#[derive(Debug, Default)]
pub struct Seen {
    pub observed: Observed,
    pub contents: BTreeMap<String, Vec<u8>>,
}

/// Units and files that a run must look at.
#[derive(Debug, Default)]
pub struct Interest<'a> {
    pub paths: BTreeSet<&'a str>,
    pub units: BTreeSet<&'a str>,
    pub templates: BTreeSet<&'a str>,
    /// A run was cut short: which invocation runs matters.
    pub invocations: bool,
}

impl<'a> Interest<'a> {
    pub fn new(
        target: &'a Target,
        state: &'a State,
        intent: Option<&'a hosts::plan::Intent>,
    ) -> Interest<'a> {
        let mut interest = Interest::default();
        let known = &state.generation.target;
        let targets = [(&target.files, &target.units), (&known.files, &known.units)];
        let announced = intent.map(|intent| (&intent.files, &intent.units));
        for (files, units) in targets.into_iter().chain(announced) {
            interest.paths.extend(files.keys().map(String::as_str));
            for (name, unit) in units {
                match unit.start {
                    Start::Template => interest.templates.insert(name),
                    _ => interest.units.insert(name),
                };
                interest
                    .units
                    .extend(unit.triggers.iter().map(String::as_str));
            }
        }
        if let Some(intent) = intent {
            interest.units.extend(intent.due.keys().map(String::as_str));
            interest.invocations = true;
        }
        interest
    }
}

pub fn observe(
    root: &Root,
    systemd: Option<&Systemd>,
    interest: &Interest<'_>,
    target: &Target,
) -> Outcome<Seen> {
    let mut seen = Seen::default();
    for &path in &interest.paths {
        let read = root
            .read(path)
            .map_err(|error| Failure::file("read", path, &error))?;
        let (found, content) = found(read);
        let wanted = target.files.get(path).map(|file| &file.sha256);
        let differs = match &found {
            Found::Regular { sha256, .. } | Found::Link { sha256 } => Some(sha256) != wanted,
            Found::Absent | Found::Other(_) => false,
        };
        if differs {
            seen.contents.insert(path.to_owned(), content);
        }
        seen.observed.files.insert(path.to_owned(), found);
    }
    let Some(systemd) = systemd else {
        return Ok(seen);
    };
    let mut names = interest.units.clone();
    let mut instances = Vec::new();
    for &template in &interest.templates {
        let pattern = template.replacen('@', "@*", 1);
        for unit in systemd.matching(&[pattern])? {
            instances.push((template, unit.name));
        }
    }
    for (template, name) in &instances {
        names.insert(name);
        let known = seen.observed.instances.entry((*template).to_owned());
        known.or_default().push(name.clone());
    }
    let names: Vec<&str> = names.into_iter().collect();
    let states = systemd.states(&names, interest.invocations)?;
    for running in seen.observed.instances.values_mut() {
        running.retain(|name| states.get(name).is_some_and(hosts::plan::State::is_running));
        running.sort();
    }
    seen.observed.units = Some(states);
    Ok(seen)
}

fn found(entry: Entry) -> (Found, Vec<u8>) {
    match entry {
        Entry::Absent => (Found::Absent, Vec::new()),
        Entry::Directory => (Found::Other("a directory"), Vec::new()),
        Entry::Other => (Found::Other("something that is no file"), Vec::new()),
        Entry::Link(target) => {
            let sha256 = Hash::of(&target);
            (Found::Link { sha256 }, target)
        }
        Entry::Regular {
            content,
            mode,
            uid,
            gid,
            modified,
        } => {
            let found = Found::Regular {
                sha256: Hash::of(&content),
                mode,
                uid,
                gid,
                modified: minute(modified),
            };
            (found, content)
        }
    }
}

/// A time as people write it: `2026-11-14 09:12`, in UTC.
fn minute(seconds: i64) -> String {
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => "long ago".to_owned(),
    }
}
