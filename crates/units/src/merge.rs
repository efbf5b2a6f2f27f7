//! The assignments of a unit and its drop-ins, put together section by section, each with the place
//! it came from and what became of it.
//!
//! Assignments are *appended* in order and never changed; an empty assignment *resets* what the
//! flavour lets it reset. All lines stay, also those that were reset or overridden: what the native
//! tool computes from the merged file is then what it computes from the unit and its drop-ins.
//!
//! The merge is of assignments, never of text: a file that ends in a backslash or lacks a header
//! cannot leak into the next.

use std::collections::BTreeMap;

use base::{LayerId, Origin, Outcome};

use crate::keys::{self, Arity};
use crate::name::{Flavour, Kind};
use crate::syntax::UnitFile;
use crate::words::{unquoted, words};

/// One file that takes part, low to high.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub layer: LayerId,
    pub file: &'a UnitFile,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub key: String,
    pub value: String,
    /// The layer, and the key with its value.
    pub origin: Origin,
    /// Which of the parts it comes from.
    pub part: usize,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    pub lines: Vec<Line>,
}

/// A unit with its drop-ins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// In the order of first appearance.
    pub sections: Vec<Section>,
}

/// Puts a unit and its drop-ins together.
pub fn merge(kind: Kind, parts: &[Part<'_>]) -> Merged {
    let mut merged = Merged::default();
    for (index, part) in parts.iter().enumerate() {
        for (name, _) in part.file.headers() {
            merged.section_mut(name);
        }
        for assigned in part.file.assignments() {
            let span = assigned.assignment.key.to(assigned.assignment.value);
            let line = Line {
                key: assigned.key.to_owned(),
                value: assigned.value.to_owned(),
                origin: Origin {
                    layer: part.layer,
                    span,
                },
                part: index,
                outcome: Outcome::Stands,
            };
            merged.section_mut(assigned.section).lines.push(line);
        }
    }
    for section in &mut merged.sections {
        settle(kind, section);
    }
    merged
}

impl Merged {
    fn section_mut(&mut self, name: &str) -> &mut Section {
        let found = self.sections.iter().position(|s| s.name == name);
        let at = found.unwrap_or_else(|| {
            self.sections.push(Section {
                name: name.to_owned(),
                lines: Vec::new(),
            });
            self.sections.len() - 1
        });
        self.sections
            .get_mut(at)
            .expect("the position was just found or made")
    }

    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// All lines of one key, in order.
    pub fn lines<'a>(&'a self, section: &str, key: &str) -> impl Iterator<Item = &'a Line> {
        let lines = self.section(section).map(|s| s.lines.as_slice());
        let key = key.to_owned();
        lines
            .unwrap_or_default()
            .iter()
            .filter(move |line| line.key == key)
    }

    /// The last line of one key: what a single value is read from.
    pub fn last(&self, section: &str, key: &str) -> Option<&Line> {
        self.lines(section, key).last()
    }

    /// A single value as Quadlet reads it, without quotes; empty counts as not set.
    pub fn value(&self, section: &str, key: &str) -> Option<(&str, &Line)> {
        let line = self.last(section, key)?;
        let value = unquoted(line.value.trim_end());
        (!value.is_empty()).then_some((value, line))
    }

    /// The lines of one key that count.
    pub fn standing<'a>(&'a self, section: &str, key: &str) -> impl Iterator<Item = &'a Line> {
        self.lines(section, key)
            .filter(|line| line.outcome == Outcome::Stands && !line.value.is_empty())
    }

    /// The merged file. `comment` names the part that a run of lines came from.
    pub fn render(&self, head: &str, comment: impl Fn(usize) -> String) -> String {
        let mut out = String::new();
        for line in head.lines() {
            out.push_str("# ");
            out.push_str(line);
            out.push('\n');
        }
        for section in &self.sections {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push('[');
            out.push_str(&section.name);
            out.push_str("]\n");
            let mut part = None;
            for line in &section.lines {
                if part != Some(line.part) {
                    part = Some(line.part);
                    out.push_str("# ");
                    out.push_str(&comment(line.part));
                    out.push('\n');
                }
                out.push_str(&line.key);
                out.push('=');
                out.push_str(&line.value);
                out.push('\n');
            }
        }
        out
    }
}

/// Decides what became of every line of a section.
fn settle(kind: Kind, section: &mut Section) {
    let mut by_key: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, line) in section.lines.iter().enumerate() {
        by_key.entry(&line.key).or_default().push(index);
    }
    let mut outcomes = vec![Outcome::Stands; section.lines.len()];
    for (key, indices) in by_key {
        let arity = keys::arity(kind, &section.name, key);
        let quadlets = is_quadlets(kind, &section.name);
        let values = indices.iter().filter_map(|&index| section.lines.get(index));
        let values: Vec<&str> = values.map(|line| line.value.as_str()).collect();
        let settled = match arity {
            Arity::Scalar => single(&values, Outcome::Resets),
            // For Quadlet an empty boolean is an explicit false.
            Arity::Bool if quadlets => single(&values, Outcome::Stands),
            Arity::Bool => single(&values, Outcome::Resets),
            Arity::List => list(&values),
            Arity::Map => map(&values),
            Arity::Dependency => dependency(&values),
        };
        for (&index, outcome) in indices.iter().zip(settled) {
            if let Some(slot) = outcomes.get_mut(index) {
                *slot = outcome;
            }
        }
    }
    for (line, outcome) in section.lines.iter_mut().zip(outcomes) {
        line.outcome = outcome;
    }
}

/// Whether Quadlet itself reads the section; the others it passes on to systemd.
fn is_quadlets(kind: Kind, section: &str) -> bool {
    kind.flavour() == Flavour::Quadlet && !matches!(section, "Unit" | "Service" | "Install")
}

fn single(values: &[&str], empty: Outcome) -> Vec<Outcome> {
    let last = values.len().saturating_sub(1);
    let outcome = |(index, value): (usize, &&str)| match (index == last, value.is_empty()) {
        (false, _) => Outcome::Overridden,
        (true, true) => empty,
        (true, false) => Outcome::Stands,
    };
    values.iter().enumerate().map(outcome).collect()
}

fn list(values: &[&str]) -> Vec<Outcome> {
    let reset = values.iter().rposition(|value| value.is_empty());
    let outcome = |(index, value): (usize, &&str)| match reset {
        _ if value.is_empty() => Outcome::Resets,
        Some(reset) if index < reset => Outcome::Overridden,
        _ => Outcome::Stands,
    };
    values.iter().enumerate().map(outcome).collect()
}

/// As a list, but a line whose every name is set again later no longer counts.
fn map(values: &[&str]) -> Vec<Outcome> {
    let mut outcomes = list(values);
    let mut later: BTreeMap<String, ()> = BTreeMap::new();
    for (value, outcome) in values.iter().zip(&mut outcomes).rev() {
        if *outcome != Outcome::Stands {
            continue;
        }
        let names = words(value).into_iter();
        let names: Vec<String> = names
            .map(|word| word.split('=').next().unwrap_or("").to_owned())
            .collect();
        if !names.is_empty() && names.iter().all(|name| later.contains_key(name)) {
            *outcome = Outcome::Overridden;
        }
        later.extend(names.into_iter().map(|name| (name, ())));
    }
    outcomes
}

/// An empty dependency is ignored.
fn dependency(values: &[&str]) -> Vec<Outcome> {
    let outcome = |value: &&str| match value.is_empty() {
        true => Outcome::Dropped,
        false => Outcome::Stands,
    };
    values.iter().map(outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;
    use base::SourceId;
    use proptest::prelude::*;

    fn merged(kind: Kind, texts: &[&str]) -> Merged {
        let files: Vec<UnitFile> = texts
            .iter()
            .zip(0..)
            .map(|(text, id)| parse(SourceId(id), (*text).into(), kind.flavour()).0)
            .collect();
        let parts: Vec<Part<'_>> = files
            .iter()
            .zip(0..)
            .map(|(file, layer)| Part {
                layer: LayerId(layer),
                file,
            })
            .collect();
        merge(kind, &parts)
    }

    fn words_of(merged: &Merged, section: &str, key: &str) -> Vec<&'static str> {
        let lines = merged.lines(section, key);
        lines.map(|line| line.outcome.word()).collect()
    }

    #[test]
    fn lists_append_and_reset() {
        let m = merged(
            Kind::Container,
            &[
                "[Container]\nPublishPort=80:80\nNotify=true\n",
                "[Container]\nPublishPort=\nPublishPort=8080:80\nNotify=\n",
                "[Container]\nPublishPort=443:443\n",
            ],
        );
        assert_eq!(
            words_of(&m, "Container", "PublishPort"),
            ["overridden", "resets", "stands", "stands"]
        );
        // An empty boolean is false, not the default.
        assert_eq!(
            words_of(&m, "Container", "Notify"),
            ["overridden", "stands"]
        );
    }

    #[test]
    fn scalars_maps_and_dependencies() {
        let m = merged(
            Kind::Container,
            &[
                "[Container]\nImage=a\nEnvironment=A=1 B=2\nEnvironment=C=3\n[Unit]\nAfter=x\n",
                "[Unit]\nAfter=\n[Container]\nImage=\nEnvironment=A=4 \"B=5 6\"\n",
            ],
        );
        assert_eq!(words_of(&m, "Container", "Image"), ["overridden", "resets"]);
        assert_eq!(m.value("Container", "Image"), None);
        assert_eq!(
            words_of(&m, "Container", "Environment"),
            ["overridden", "stands", "stands"]
        );
        assert_eq!(words_of(&m, "Unit", "After"), ["stands", "dropped"]);
    }

    #[test]
    fn nothing_leaks_from_one_file_into_the_next() {
        let m = merged(
            Kind::Container,
            &["[Container]\nExec=a \\", "Image=leak\n[Unit]\nAfter=y\n"],
        );
        let text = m.render("head\nmore", |part| format!("file {part}"));
        assert_eq!(
            text,
            "# head\n# more\n\n[Container]\n# file 0\nExec=a\n\n[Unit]\n# file 1\nAfter=y\n"
        );
    }

    proptest! {
        /// What is written is read back: no value, however odd, changes its meaning on the way.
        #[test]
        fn the_merged_file_reads_back(
            texts in prop::collection::vec(
                "\\[Container\\]\n((K|Exec|A\\[) ?=[AB=\\[\\]\\\\#; \t\r\"%é]{0,9}\n|[#;].{0,5}\n|\n|\\[B\\] \n| \\\\\n){0,8}",
                1..4,
            )
        ) {
            let parsed: Vec<_> = texts
                .iter()
                .zip(0..)
                .map(|(text, id)| parse(SourceId(id), text.as_str().into(), Flavour::Quadlet))
                .collect();
            if parsed.iter().any(|(_, findings)| findings.iter().any(|f| f.is_error())) {
                return Ok(());
            }
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let before = merged(Kind::Container, &texts);
            let written = before.render("head", |_| "comment".to_owned());
            let after = merged(Kind::Container, &[&written]);
            let lines = |merged: &Merged| {
                let sections = merged.sections.iter();
                sections
                    .map(|s| {
                        let lines = s.lines.iter().map(|l| (l.key.clone(), l.value.clone(), l.outcome));
                        (s.name.clone(), lines.collect::<Vec<_>>())
                    })
                    .collect::<Vec<_>>()
            };
            prop_assert_eq!(lines(&after), lines(&before), "{}", written);
        }
    }
}
