//! What differs between two hosts: units by their effective values, payloads by their content.
//!
//! Two units are equal when every key has the same effective value in the same order; comments,
//! and which file said it, do not count.

use std::collections::BTreeSet;

use units::keys;

use crate::artifact::Unit;
use crate::evaluate::{Content, DesiredFile, Evaluated};
use crate::explain::effective;
use crate::repository::EntryId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    OnlyLeft,
    OnlyRight,
    /// The keys whose effective values differ; none for a payload.
    Different(Vec<KeyChange>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChange {
    pub section: String,
    pub key: String,
    pub left: String,
    pub right: String,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of a unit or the path of a payload.
    pub subject: String,
    pub change: Change,
}

/// Compares two hosts of one repository. `same` says whether two entries have the same content.
pub fn diff(
    left: &Evaluated,
    right: &Evaluated,
    same: &mut dyn FnMut(EntryId, EntryId) -> bool,
) -> Vec<Difference> {
    let mut all = Vec::new();
    pairs(
        left.units.iter().map(|unit| (unit.name.to_string(), unit)),
        right.units.iter().map(|unit| (unit.name.to_string(), unit)),
        |subject, pair| match pair {
            (Some(left), Some(right)) => {
                let keys = changed_keys(left, right);
                if !keys.is_empty() {
                    let change = Change::Different(keys);
                    all.push(Difference { subject, change });
                }
            }
            (left, _) => all.push(Difference {
                subject,
                change: only(left.is_some()),
            }),
        },
    );
    pairs(
        payloads(left),
        payloads(right),
        |subject, pair| match pair {
            (Some(left), Some(right)) => {
                let equal = left.executable == right.executable
                    && match (&left.content, &right.content) {
                        (Content::Copy(a), Content::Copy(b)) => a == b || same(*a, *b),
                        (a, b) => a == b,
                    };
                if !equal {
                    let change = Change::Different(Vec::new());
                    all.push(Difference { subject, change });
                }
            }
            (left, _) => all.push(Difference {
                subject,
                change: only(left.is_some()),
            }),
        },
    );
    all
}

fn only(left: bool) -> Change {
    if left {
        Change::OnlyLeft
    } else {
        Change::OnlyRight
    }
}

fn payloads(host: &Evaluated) -> impl Iterator<Item = (String, &DesiredFile)> {
    let is_payload = |file: &&DesiredFile| {
        let unit = ["/etc/containers/systemd/", "/etc/systemd/system/"];
        !unit.iter().any(|start| file.target.starts_with(start))
    };
    let files = host.files.iter().filter(is_payload);
    files.map(|file| (file.target.clone(), file))
}

/// Walks two sorted lists together.
fn pairs<T>(
    left: impl Iterator<Item = (String, T)>,
    right: impl Iterator<Item = (String, T)>,
    mut each: impl FnMut(String, (Option<T>, Option<T>)),
) {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return,
        };
        let a = (order.is_le()).then(|| left.next()).flatten();
        let b = (order.is_ge()).then(|| right.next()).flatten();
        let name = a.as_ref().or(b.as_ref()).map(|(name, _)| name.clone());
        each(
            name.unwrap_or_default(),
            (a.map(|(_, value)| value), b.map(|(_, value)| value)),
        );
    }
}

fn changed_keys(left: &Unit, right: &Unit) -> Vec<KeyChange> {
    let keys_of = |unit: &Unit| {
        let sections = unit.merged.sections.iter();
        sections
            .flat_map(|s| {
                s.lines
                    .iter()
                    .map(|line| (s.name.clone(), line.key.clone()))
            })
            .collect::<BTreeSet<(String, String)>>()
    };
    let mut all = keys_of(left);
    all.extend(keys_of(right));
    let mut changes = Vec::new();
    for (section, key) in all {
        let arity = keys::arity(left.name.kind, &section, &key);
        let value = |unit: &Unit| {
            let lines: Vec<_> = unit.merged.lines(&section, &key).collect();
            effective(&lines, arity)
        };
        let (left, right) = (value(left), value(right));
        if left != right {
            changes.push(KeyChange {
                section,
                key,
                left,
                right,
            });
        }
    }
    changes
}
