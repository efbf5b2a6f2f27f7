//! Foreign files that take part in our units: drop-ins that nobody wrote into the repository, and
//! files of the same name in directories that systemd and Quadlet also search.
//!
//! They are left alone and told: a unit that behaves unlike its repository has a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use hosts::plan::{Applied, Note, Role, Target};

use crate::layout::Layout;

/// Where else units are looked for, strongest first; `true` where it wins over ours.
const SYSTEM_UNITS: [(&str, bool); 5] = [
    ("/etc/systemd/system.control", true),
    ("/run/systemd/system.control", true),
    ("/run/systemd/system", false),
    ("/usr/local/lib/systemd/system", false),
    ("/usr/lib/systemd/system", false),
];
const SYSTEM_QUADLETS: [(&str, bool); 2] = [
    ("/run/containers/systemd", true),
    ("/usr/share/containers/systemd", false),
];

/// What to tell about foreign files beside the target's units. A directory that cannot be listed
/// has nothing to tell.
pub fn foreign(layout: &Layout, target: &Target, applied: &Applied) -> Vec<Note> {
    let mut notes = Vec::new();
    if !layout.live {
        return notes;
    }
    let mut quadlets: BTreeSet<&str> = BTreeSet::new();
    let mut units: BTreeSet<&str> = BTreeSet::new();
    for (name, unit) in &target.units {
        let file = target.files.get(&unit.artifact);
        if file.is_some_and(|file| file.role == Role::Quadlet) {
            quadlets.extend(unit.artifact.rsplit('/').next());
        }
        // A generated service has drop-ins of its own.
        units.insert(name);
    }
    let none: &[(&str, bool)] = &[];
    let others = if layout.user {
        [none, none]
    } else {
        [&SYSTEM_QUADLETS[..], &SYSTEM_UNITS[..]]
    };
    for (own, others, names) in [
        (&layout.quadlets, others[0], &quadlets),
        (&layout.units, others[1], &units),
    ] {
        for (directory, wins) in [(own.as_str(), false)]
            .into_iter()
            .chain(others.iter().copied())
        {
            look(
                directory,
                wins,
                directory == own,
                names,
                target,
                applied,
                &mut notes,
            );
        }
    }
    notes
}

fn look(
    directory: &str,
    wins: bool,
    own: bool,
    names: &BTreeSet<&str>,
    target: &Target,
    applied: &Applied,
    notes: &mut Vec<Note>,
) {
    let mut found: BTreeMap<String, bool> = BTreeMap::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        found.insert(
            entry.file_name().to_string_lossy().into_owned(),
            is_directory,
        );
    }
    for (name, is_directory) in found {
        if let Some(unit) = name.strip_suffix(".d").filter(|_| is_directory) {
            if names.contains(unit) {
                drop_ins(&format!("{directory}/{name}"), unit, target, applied, notes);
            }
        } else if !own && names.contains(name.as_str()) {
            let message = match wins {
                true => format!("`{directory}/{name}` hides ours: systemd takes that one"),
                false => format!("`{directory}/{name}` is hidden by ours"),
            };
            notes.push(Note {
                code: "same-name",
                message,
            });
        }
    }
}

fn drop_ins(
    directory: &str,
    unit: &str,
    target: &Target,
    applied: &Applied,
    notes: &mut Vec<Note>,
) {
    let mut names: Vec<String> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".conf"))
        .collect();
    names.sort();
    for name in names {
        let path = format!("{directory}/{name}");
        if !target.files.contains_key(&path) && !applied.owns(&path) {
            notes.push(Note {
                code: "foreign-drop-in",
                message: format!("`{path}` changes {unit} and is not from the repository"),
            });
        }
    }
}
