//! Why a directive or a payload is what it is: the chain of contributions, low to high.
//!
//! A chain has a row for every file that takes part, also for those that say nothing about the key
//! and for those that are masked, so that one sees where to look. Printing is the edge's business.

use base::Outcome;
use base::distance::nearest;
use units::Line;
use units::keys::{self, Arity, Known};

use crate::artifact::{Layer, Unit, UnitPart};
use crate::evaluate::{Content, Evaluated, Options};
use crate::repository::{EntryId, Repository};

/// One contribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// `base` or `host`.
    pub layer: &'static str,
    /// `file:line`, or the file where it says nothing.
    pub place: String,
    /// What it says; none where it says nothing about the subject.
    pub value: Option<String>,
    pub outcome: String,
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// `traefik.container [Container] PublishPort`, or the path of a payload.
    pub subject: String,
    /// The effective value; several are listed with commas.
    pub value: String,
    pub rows: Vec<Row>,
}

/// The chains of one key of a unit, one for each section that has it. `key` may name its section:
/// `Container.PublishPort`. The error says what is wrong, for the user.
pub fn key(
    repository: &Repository,
    evaluated: &Evaluated,
    unit: &str,
    key: &str,
) -> Result<Vec<Chain>, String> {
    let unit = find(evaluated, unit)?;
    let (wanted, key) = match key.split_once('.') {
        Some((section, key)) => (Some(section), key),
        None => (None, key),
    };
    let set = unit.merged.sections.iter();
    let mut sections: Vec<&str> = set
        .filter(|section| section.lines.iter().any(|line| line.key == key))
        .map(|section| section.name.as_str())
        .collect();
    if sections.is_empty() {
        let newest = Options::default().podman;
        let knows = |section: &&&str| {
            matches!(
                keys::lookup(unit.name.kind, section, key, newest),
                Known::Yes(_)
            )
        };
        let known = keys::sections(unit.name.kind);
        sections.extend(known.iter().find(knows).copied());
    }
    sections.retain(|section| wanted.is_none_or(|wanted| wanted == *section));
    if sections.is_empty() {
        let all = unit.merged.sections.iter().flat_map(|s| &s.lines);
        let meant = nearest(key, all.map(|line| line.key.as_str()));
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        return Err(format!("`{}` has no key `{key}`{meant}", unit.name));
    }
    let chain = |section| chain(repository, unit, section, key);
    Ok(sections.into_iter().map(chain).collect())
}

/// The chains of every key that a unit or its drop-ins set, in the order of the merged unit.
pub fn all_keys(
    repository: &Repository,
    evaluated: &Evaluated,
    unit: &str,
) -> Result<Vec<Chain>, String> {
    let unit = find(evaluated, unit)?;
    let mut chains = Vec::new();
    for section in &unit.merged.sections {
        let mut seen: Vec<&str> = Vec::new();
        for line in &section.lines {
            if !seen.contains(&line.key.as_str()) {
                seen.push(&line.key);
                chains.push(chain(repository, unit, &section.name, &line.key));
            }
        }
    }
    Ok(chains)
}

/// Which layer gave the file at a path of the host, and what it replaced.
pub fn file(repository: &Repository, evaluated: &Evaluated, target: &str) -> Result<Chain, String> {
    let found = evaluated.files.iter().find(|file| file.target == target);
    let Some(file) = found else {
        let targets = evaluated.files.iter().map(|file| file.target.as_str());
        let meant = nearest(target, targets);
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        return Err(format!("{} gets no file `{target}`{meant}", evaluated.host));
    };
    let mut rows = Vec::new();
    let row = |entry: EntryId, outcome: &str| {
        let path = repository.entry(entry).path.clone();
        let layer = if path.starts_with("hosts/") {
            "host"
        } else {
            "base"
        };
        Row {
            layer,
            place: path,
            value: None,
            outcome: outcome.to_owned(),
        }
    };
    rows.extend(file.replaces.map(|entry| row(entry, "replaced")));
    let unit = evaluated
        .units
        .iter()
        .find(|unit| matches!(file.content, Content::Text(_)) && unit.fragment == file.origin);
    match unit {
        Some(unit) => rows.extend(unit.parts.iter().map(|part| row(part.entry, "takes part"))),
        None => rows.extend(file.origin.map(|entry| row(entry, "stands"))),
    }
    Ok(Chain {
        subject: target.to_owned(),
        value: match &file.content {
            Content::Text(text) if text.is_empty() => "an empty file, to mask".to_owned(),
            Content::Text(_) => "the merged unit".to_owned(),
            Content::Link(to) => format!("a link to {to}"),
            Content::Copy(entry) => format!("{} bytes", repository.entry(*entry).size),
        },
        rows,
    })
}

fn find<'a>(evaluated: &'a Evaluated, name: &str) -> Result<&'a Unit, String> {
    evaluated.unit(name).ok_or_else(|| {
        let names: Vec<String> = evaluated.units.iter().map(|u| u.name.to_string()).collect();
        let meant = nearest(name, names.iter().map(String::as_str));
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        format!("{} has no unit `{name}`{meant}", evaluated.host)
    })
}

fn chain(repository: &Repository, unit: &Unit, section: &str, key: &str) -> Chain {
    let arity = keys::arity(unit.name.kind, section, key);
    let lines: Vec<&Line> = unit.merged.lines(section, key).collect();
    let mut rows = Vec::new();
    for (index, part) in unit.parts.iter().enumerate() {
        let mut said = lines.iter().filter(|line| line.part == index).peekable();
        if said.peek().is_none() {
            let outcome = if part.is_mask { "masks" } else { "" };
            rows.push(silent(repository, part, outcome.to_owned()));
        }
        rows.extend(said.map(|line| Row {
            layer: part.layer.word(),
            place: place(repository, line),
            value: Some(line.value.clone()),
            outcome: outcome(line, arity).to_owned(),
        }));
    }
    for (part, by) in &unit.masked {
        let by = format!("masked by {}", repository.entry(*by).path);
        let at = rows
            .iter()
            .position(|row| part.layer < Layer::HostDropIn && row.layer == "host");
        rows.insert(at.unwrap_or(rows.len()), silent(repository, part, by));
    }
    Chain {
        subject: format!("{} [{section}] {key}", unit.name),
        value: effective(&lines, arity),
        rows,
    }
}

/// The value that the native tool computes from the lines.
pub(crate) fn effective(lines: &[&Line], arity: Arity) -> String {
    let standing = lines.iter().filter(|line| line.outcome == Outcome::Stands);
    let values: Vec<&str> = standing.map(|line| line.value.as_str()).collect();
    match (arity, values.as_slice()) {
        (Arity::Bool, [.., ""]) => "false".to_owned(),
        (_, []) if lines.is_empty() => "(not set)".to_owned(),
        (Arity::List | Arity::Map | Arity::Dependency, []) => "(empty list)".to_owned(),
        (_, []) => "(default)".to_owned(),
        (_, values) => values.join(", "),
    }
}

fn outcome(line: &Line, arity: Arity) -> &'static str {
    let is_list = matches!(arity, Arity::List | Arity::Map);
    match line.outcome {
        Outcome::Overridden if arity == Arity::List => "reset",
        Outcome::Resets if is_list => "resets the list",
        Outcome::Resets => "resets to the default",
        Outcome::Dropped => "ignored: dependencies cannot be reset",
        other => other.word(),
    }
}

fn silent(repository: &Repository, part: &UnitPart, outcome: String) -> Row {
    Row {
        layer: part.layer.word(),
        place: repository.entry(part.entry).path.clone(),
        value: None,
        outcome,
    }
}

fn place(repository: &Repository, line: &Line) -> String {
    let span = line.origin.span;
    let source = repository.sources.get(span.source);
    format!("{}:{}", source.name(), source.place(span.start).line)
}
