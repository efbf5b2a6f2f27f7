//! Which files change: a three-way comparison of target, last applied and observed.
//!
//! A file that is not ours is never touched: in the way of a target file it is a conflict, unless
//! adoption was asked for. An owned file that was edited by hand is put back, and what it held is
//! kept aside.

use std::collections::BTreeSet;

use super::observed::{Applied, Cause, Found, Observed, Reason};
use super::target::{File, Hash, Role, Target};
use super::{Conflict, FileAction, FileVerb};

/// What the comparison of files gave.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub actions: Vec<FileAction>,
    pub conflicts: Vec<Conflict>,
    /// Paths whose content was not what had been applied: their units must be restarted.
    pub drifted: BTreeSet<String>,
}

pub(super) fn compare(
    target: &Target,
    applied: &Applied,
    observed: &Observed,
    adopt: bool,
) -> Files {
    let mut files = Files::default();
    for (path, file) in &target.files {
        wanted(path, file, applied, observed, adopt, &mut files);
    }
    let announced = applied.announced.iter();
    let only_announced = announced.filter(|(path, _)| !applied.files.contains_key(*path));
    for (path, file) in applied.files.iter().chain(only_announced) {
        if !target.files.contains_key(path) {
            leftover(path, file, applied, observed, &mut files);
        }
    }
    // Links last to come and first to go, so that none ever points to nothing.
    files.actions.sort_by(|a, b| order(a).cmp(&order(b)));
    files
}

fn order(action: &FileAction) -> (u8, &str) {
    let link = action.role == Role::Enablement;
    let stage = match (action.verb, link) {
        (FileVerb::Remove, true) => 0,
        (FileVerb::Create | FileVerb::Replace | FileVerb::Adopt, false) => 1,
        (FileVerb::Create | FileVerb::Replace | FileVerb::Adopt, true) => 2,
        (FileVerb::Remove, false) => 3,
    };
    (stage, &action.path)
}

fn wanted(
    path: &str,
    file: &File,
    applied: &Applied,
    observed: &Observed,
    adopt: bool,
    files: &mut Files,
) {
    let before = applied.files.get(path);
    let announced = applied.announced.get(path);
    let found = observed.file(path);
    let add = |files: &mut Files, verb, keep, cause| {
        files.actions.push(FileAction {
            path: path.to_owned(),
            verb,
            role: file.role,
            file: Some(file.clone()),
            keep,
            cause,
        });
    };
    if let Found::Other(what) = found {
        files.conflicts.push(Conflict::in_the_way(path, what));
        return;
    }
    if matches!(found, Found::Absent) {
        let gone = before.is_some() && announced.is_none();
        if gone {
            files.drifted.insert(path.to_owned());
        }
        let cause = match gone {
            true => Cause::new(Reason::Drift, "removed by hand"),
            false => Cause::new(Reason::Desired, "new"),
        };
        add(files, FileVerb::Create, false, cause);
        return;
    }
    if !applied.owns(path) {
        if adopt {
            let cause = Cause::new(Reason::Adopted, "a foreign file is taken over");
            let same = shows(found, file);
            let verb = if same {
                FileVerb::Adopt
            } else {
                FileVerb::Replace
            };
            add(files, verb, !same, cause);
        } else {
            files
                .conflicts
                .push(Conflict::foreign(path, shows(found, file)));
        }
        return;
    }
    if shows(found, file) {
        return;
    }
    let expected = |file: &File| shows(found, file);
    let ours = hash(found).is_some_and(|content| applied.may_have_written(path, content));
    if before.is_some_and(expected) || ours {
        add(
            files,
            FileVerb::Replace,
            false,
            Cause::new(Reason::Desired, ""),
        );
        return;
    }
    // Neither what was applied nor what was about to be: somebody else wrote it.
    let content = hash(found) != Some(&before.unwrap_or(file).sha256);
    let cause = Cause::new(Reason::Drift, drift(found, before.unwrap_or(file)));
    if content {
        files.drifted.insert(path.to_owned());
    }
    add(files, FileVerb::Replace, content, cause);
}

fn leftover(path: &str, file: &File, applied: &Applied, observed: &Observed, files: &mut Files) {
    let found = observed.file(path);
    let ours = |file: &File| hash(found) == Some(&file.sha256);
    let written = hash(found).is_some_and(|content| applied.may_have_written(path, content));
    let known = applied.files.get(path).is_some_and(ours) || written;
    match found {
        Found::Absent => {}
        // Something else took its place, and that is not ours.
        Found::Other(_) => {}
        Found::Regular { .. } | Found::Link { .. } => files.actions.push(FileAction {
            path: path.to_owned(),
            verb: FileVerb::Remove,
            role: file.role,
            file: None,
            keep: !known,
            cause: Cause::new(
                Reason::Removed,
                match known {
                    true => "no longer selected",
                    false => "no longer selected (edited by hand; a copy is kept)",
                },
            ),
        }),
    }
}

/// Whether a path shows exactly this file.
fn shows(found: &Found, file: &File) -> bool {
    match found {
        Found::Regular {
            sha256,
            mode,
            uid,
            gid,
            ..
        } => {
            !file.link
                && *sha256 == file.sha256
                && *mode == file.mode
                && (*uid, *gid) == (file.uid, file.gid)
        }
        Found::Link { sha256 } => file.link && *sha256 == file.sha256,
        Found::Absent | Found::Other(_) => false,
    }
}

fn hash(found: &Found) -> Option<&Hash> {
    match found {
        Found::Regular { sha256, .. } | Found::Link { sha256 } => Some(sha256),
        Found::Absent | Found::Other(_) => None,
    }
}

fn drift(found: &Found, file: &File) -> String {
    match found {
        Found::Regular {
            sha256,
            mode,
            uid,
            gid,
            modified,
        } => {
            if *sha256 != file.sha256 {
                format!("edited by hand since {modified}")
            } else if *mode != file.mode {
                format!("mode is {mode:04o}, not {:04o}", file.mode)
            } else if (*uid, *gid) != (file.uid, file.gid) {
                format!("owner is {uid}:{gid}, not {}:{}", file.uid, file.gid)
            } else {
                "a file where a link was".to_owned()
            }
        }
        Found::Link { .. } => "replaced by a link".to_owned(),
        Found::Absent | Found::Other(_) => String::new(),
    }
}
