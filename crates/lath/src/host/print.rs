//! Evaluated states, chains and differences for people: the subject first, layers low to high.

use std::fmt::Write;

use hosts::diff::{Change, Difference};
use hosts::explain::{Chain, Row};
use hosts::{Content, DesiredFile, Evaluated, Repository, Unit};

use super::table::{columns, short};

/// How much of a value a table shows.
const WIDEST: usize = 60;

pub(super) fn evaluated(repository: &Repository, evaluated: &Evaluated) -> String {
    let services = match evaluated.services.is_empty() {
        true => "no services selected".to_owned(),
        false => evaluated.services.join(", "),
    };
    let mut out = format!("{}: {services}\n", evaluated.host);
    let rows = evaluated.files.iter().map(|file| {
        let unit = unit_of(evaluated, file);
        let what = match (&file.content, unit) {
            (Content::Text(text), _) if text.is_empty() => "masks".to_owned(),
            (Content::Text(_), Some(unit)) => unit.generates.clone().unwrap_or_default(),
            (Content::Link(to), _) => format!("link to {to}"),
            _ => String::new(),
        };
        vec![file.target.clone(), what, from(repository, file, unit)]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        out.push('\n');
        out.push_str(&columns(&rows, ""));
    }
    out
}

fn unit_of<'a>(evaluated: &'a Evaluated, file: &DesiredFile) -> Option<&'a Unit> {
    let (directory, name) = file.target.rsplit_once('/')?;
    let holds_quadlets = matches!(
        directory,
        "/etc/containers/systemd" | "~/.config/containers/systemd"
    );
    evaluated.unit(name).filter(|_| holds_quadlets)
}

/// Where a file comes from: its service, its drop-ins, what it replaces.
fn from(repository: &Repository, file: &DesiredFile, unit: Option<&Unit>) -> String {
    let path = |entry| repository.entry(entry).path.as_str();
    if let Some(unit) = unit {
        let mut parts = unit.parts.iter();
        let mut out = parts.next().map_or("", |part| path(part.entry)).to_owned();
        for part in parts {
            let _ = write!(out, " + {} {}", part.layer.word(), part.file);
        }
        return out;
    }
    let mut out = file.origin.map_or("", path).to_owned();
    if file.replaces.is_some() {
        out.push_str(" (replaces the base's)");
    }
    out
}

pub(super) fn chains(chains: &[Chain]) -> String {
    let mut out = String::new();
    for (index, chain) in chains.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let _ = writeln!(
            out,
            "{} = {}",
            chain.subject,
            short(&chain.value, 2 * WIDEST)
        );
        // A file has no value of its own to show.
        let is_file = chain.subject.starts_with('/');
        let rows: Vec<Vec<String>> = chain.rows.iter().map(|r| row(r, is_file)).collect();
        out.push_str(&columns(&rows, "  "));
    }
    out
}

fn row(row: &Row, is_file: bool) -> Vec<String> {
    let mut cells = vec![row.layer.to_owned(), row.place.clone()];
    if !is_file {
        cells.push(match row.value.as_deref() {
            None => "–".to_owned(),
            Some("") => "(empty)".to_owned(),
            Some(value) => short(value, WIDEST),
        });
    }
    cells.push(row.outcome.clone());
    cells
}

pub(super) fn differences(left: &Evaluated, right: &Evaluated, all: &[Difference]) -> String {
    let (left, right) = (left.host.as_str(), right.host.as_str());
    if all.is_empty() {
        return format!("{left} and {right} are the same\n");
    }
    let mut out = format!("{left} → {right}\n\n");
    for difference in all {
        let subject = &difference.subject;
        match &difference.change {
            Change::OnlyLeft => {
                let _ = writeln!(out, "- {subject}  only on {left}");
            }
            Change::OnlyRight => {
                let _ = writeln!(out, "+ {subject}  only on {right}");
            }
            Change::Different(keys) => {
                let _ = writeln!(out, "~ {subject}");
                let rows = keys.iter().map(|key| {
                    vec![
                        format!("[{}]", key.section),
                        key.key.clone(),
                        short(&key.left, WIDEST),
                        "→".to_owned(),
                        short(&key.right, WIDEST),
                    ]
                });
                out.push_str(&columns(&rows.collect::<Vec<_>>(), "    "));
            }
        }
    }
    out
}
