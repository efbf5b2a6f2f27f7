//! A plan for people: what changes in files, as differences, and what happens to units, in order
//! and with causes. And the same for machines.

use std::fmt::Write;

use agent::run::{Prepared, Wanted};
use agent::store::State;
use hosts::plan::{Cause, FileAction, FileVerb, Plan, Role, UnitAction};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// Lines of one difference that are shown before the rest is only counted.
const LONGEST_DIFF: usize = 60;

pub fn text(wanted: &Wanted, prepared: &Prepared, state: &State) -> String {
    let mut out = String::new();
    let plan = &prepared.plan;
    let count = plan.files.len();
    let changes = match (plan.is_empty(), count) {
        (true, _) => "nothing to do".to_owned(),
        (_, 0) => "no file changes".to_owned(),
        (_, 1) => "1 file changes".to_owned(),
        (_, count) => format!("{count} files change"),
    };
    let _ = write!(out, "{}: {changes}", wanted.host);
    if !wanted.commit.is_empty() {
        let _ = write!(
            out,
            ", from {} \"{}\"",
            short(&wanted.commit),
            wanted.subject
        );
    }
    if !state.commit.is_empty() {
        let _ = write!(out, " (applied: {})", short(&state.commit));
    }
    out.push('\n');
    if let Some(failed) = &prepared.held {
        let _ = writeln!(
            out,
            "held back: {} failed on {}: {}; the installed generation {} is kept (--retry to try again)",
            short(&failed.commit),
            failed.time,
            failed.reason,
            state.generation.number
        );
    }
    if !plan.files.is_empty() {
        out.push('\n');
    }
    let width = plan
        .files
        .iter()
        .map(|action| action.path.len())
        .max()
        .unwrap_or(0);
    for action in &plan.files {
        file(&mut out, action, prepared, width);
    }
    units(&mut out, plan);
    for note in &plan.notes {
        let _ = writeln!(out, "\nnote: {}", note.message);
    }
    for conflict in &plan.conflicts {
        let _ = writeln!(out, "\nconflict: {}", conflict.message);
    }
    if !prepared.report.summary.is_empty() {
        let _ = writeln!(out, "\npre-flight: {}", prepared.report.summary);
    }
    for warning in &prepared.report.warnings {
        let _ = writeln!(out, "  {warning}");
    }
    out
}

fn file(out: &mut String, action: &FileAction, prepared: &Prepared, width: usize) {
    let sign = match action.verb {
        FileVerb::Create => '+',
        FileVerb::Replace => '~',
        FileVerb::Remove => '-',
        FileVerb::Adopt => '=',
    };
    let _ = writeln!(
        out,
        "{sign} {:width$}  {}",
        action.path,
        cause(&action.cause)
    );
    if action.verb != FileVerb::Replace || action.role == Role::Enablement {
        return;
    }
    let old = prepared.seen.contents.get(&action.path);
    let new = prepared.target.content(&action.path);
    let (Some(old), Some(new)) = (old, new) else {
        return;
    };
    match (std::str::from_utf8(old), std::str::from_utf8(new)) {
        (Ok(old), Ok(new)) => difference(out, old, new, action.role == Role::Quadlet),
        _ => {
            let _ = writeln!(out, "    {} bytes become {}", old.len(), new.len());
        }
    }
}

/// Unified, with the file that a new line of a merged unit comes from beside it.
fn difference(out: &mut String, old: &str, new: &str, merged: bool) {
    let lines = TextDiff::from_lines(old, new);
    let new_lines: Vec<&str> = new.lines().collect();
    let mut shown = 0;
    for group in lines.grouped_ops(1) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let (old, new) = (
            first.old_range().start..last.old_range().end,
            first.new_range().start..last.new_range().end,
        );
        let _ = writeln!(
            out,
            "    @@ -{},{} +{},{} @@",
            old.start + 1,
            old.len(),
            new.start + 1,
            new.len()
        );
        for change in group.iter().flat_map(|op| lines.iter_changes(op)) {
            shown += 1;
            if shown > LONGEST_DIFF {
                continue;
            }
            let line = change.value().trim_end_matches('\n');
            match change.tag() {
                ChangeTag::Equal => {
                    let _ = writeln!(out, "     {line}");
                }
                ChangeTag::Delete => {
                    let _ = writeln!(out, "    -{line}");
                }
                ChangeTag::Insert => {
                    let index = change.new_index().unwrap_or(0);
                    let above = new_lines.iter().take(index).rev();
                    let from = above.copied().find_map(|line| line.strip_prefix("# "));
                    match from.filter(|_| merged && !line.starts_with('#') && !line.is_empty()) {
                        Some(from) => {
                            let _ = writeln!(out, "    +{line:44}  {from}");
                        }
                        None => {
                            let _ = writeln!(out, "    +{line}");
                        }
                    }
                }
            }
        }
    }
    if shown > LONGEST_DIFF {
        let _ = writeln!(out, "    … {} more lines", shown - LONGEST_DIFF);
    }
}

fn units(out: &mut String, plan: &Plan) {
    let all: Vec<&UnitAction> = plan.unit_actions().collect();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nunits, in order");
    let width = all
        .iter()
        .map(|action| action.unit.len())
        .max()
        .unwrap_or(0);
    for (number, action) in all.iter().enumerate() {
        let causes: Vec<String> = action.causes.iter().map(cause).collect();
        let _ = writeln!(
            out,
            "  {:>2} {:8} {:width$}  {}",
            number + 1,
            action.verb.word(),
            action.unit,
            causes.join("; ")
        );
    }
}

pub fn cause(cause: &Cause) -> String {
    match cause.detail.as_str() {
        "" => cause.reason.word().to_owned(),
        detail => format!("{}: {detail}", cause.reason.word()),
    }
}

pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// The plan as data, with the layers of every artifact, changed or not.
pub fn data(wanted: &Wanted, prepared: &Prepared, state: &State) -> Value {
    let artifacts: Vec<Value> = prepared
        .target
        .files
        .iter()
        .map(|(path, file)| json!({"path": path, "role": file.role, "service": file.service, "sha256": file.sha256, "layers": file.layers}))
        .collect();
    let plan = &prepared.plan;
    let units: Vec<&UnitAction> = plan.unit_actions().collect();
    json!({
        "host": wanted.host,
        "source": wanted.source,
        "commit": wanted.commit,
        "subject": wanted.subject,
        "applied": {"commit": state.commit, "generation": state.generation.number},
        "pending": !plan.is_empty(),
        "held": prepared.held,
        "files": plan.files,
        "units": units,
        "conflicts": plan.conflicts,
        "notes": plan.notes,
        "preflight": {"summary": prepared.report.summary, "warnings": prepared.report.warnings},
        "artifacts": artifacts,
    })
}
