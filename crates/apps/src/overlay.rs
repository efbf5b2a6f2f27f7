//! One overlay, compiled: its values by key, checked once, each with who set it, when and where.
//!
//! What a package does not declare is no value: it is kept beside the entries as a [`Stray`], untouched,
//! and becomes an entry again when the key comes back. Every way in (documents, the service,
//! runtime input) makes [`Assignment`]s, and [`Overlay::compile`] alone turns them into entries.

use std::sync::Arc;

use base::Span;

use crate::instant::Instant;
use crate::key::{KeyId, KeySet, Keys};
use crate::layer::Layer;
use crate::secrets::{self, Scanner};
use crate::value::{Pool, Stored, Value};

/// Who set something, when, and in which revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    pub revision: Option<u64>,
    pub actor: Option<Box<str>>,
    pub time: Option<Instant>,
    /// Who approved it, where a review is required.
    pub approved_by: Option<Box<str>>,
    /// The version of the package that it was written against.
    pub version: Option<Box<str>>,
}

impl Meta {
    /// Whether another person than the author approved it.
    pub fn is_approved(&self) -> bool {
        self.approved_by.is_some() && self.approved_by != self.actor
    }
}

/// One value on its way into an overlay.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The key's dotted name.
    pub name: String,
    pub value: Value,
    pub span: Option<Span>,
    /// The rule by which it was found to hold a credential; the value is gone by then.
    pub withheld: Option<&'static str>,
}

/// Why a stored value cannot serve, whatever policy says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    SchemaInvalid,
    /// It matched the schema of another version.
    TypeChanged,
    ScopeNotAllowed,
    /// A credential, or anything but a handle in a secret's place.
    Plaintext,
}

/// A value of one key.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: KeyId,
    pub fault: Option<Fault>,
    /// Written under the key's old name.
    pub renamed: bool,
    pub value: Arc<Stored>,
    pub meta: Arc<Meta>,
    pub span: Option<Span>,
}

/// A stored value whose key the package does not declare.
#[derive(Clone, Debug)]
pub struct Stray {
    pub name: Box<str>,
    pub value: Arc<Stored>,
    pub meta: Arc<Meta>,
    pub span: Option<Span>,
}

#[derive(Clone, Debug, Default)]
pub struct Overlay {
    /// Sorted by key.
    entries: Box<[Entry]>,
    /// Which keys there are, so that a look-up guesses at nothing.
    present: KeySet,
    strays: Box<[Stray]>,
}

/// What [`Overlay::compile`] needs to know of the world.
pub struct Against<'a> {
    pub keys: &'a Keys,
    pub version: &'a str,
    pub scanner: &'a Scanner,
    pub pool: &'a mut Pool,
}

impl Overlay {
    /// Checks and sorts the assignments of one layer. Of two for one key the later stays.
    pub fn compile(
        layer: Layer,
        assignments: impl IntoIterator<Item = (Assignment, Arc<Meta>)>,
        against: &mut Against<'_>,
    ) -> Overlay {
        let mut entries: Vec<Entry> = Vec::new();
        let mut strays = Vec::new();
        for (assignment, meta) in assignments {
            let declared = against.keys.find(&assignment.name);
            let renamed = declared.is_none();
            let Some(key) = declared.or_else(|| against.keys.find_renamed(&assignment.name)) else {
                strays.push(stray(assignment, meta, against));
                continue;
            };
            let (fault, value) = check(layer, key, &assignment, &meta, against);
            entries.push(Entry {
                key,
                fault,
                renamed,
                value,
                meta,
                span: assignment.span,
            });
        }
        // A value under the new name stands over one under the old name.
        entries.sort_by_key(|entry| (entry.key, !entry.renamed));
        let mut kept: Vec<Entry> = Vec::with_capacity(entries.len());
        for entry in entries {
            match kept.last_mut() {
                Some(last) if last.key == entry.key => *last = entry,
                _ => kept.push(entry),
            }
        }
        strays.sort_by(|a, b| a.name.cmp(&b.name));
        Overlay {
            present: KeySet::new(kept.iter().map(|entry| entry.key)),
            entries: kept.into(),
            strays: strays.into(),
        }
    }

    pub fn get(&self, key: KeyId) -> Option<&Entry> {
        self.entries.get(self.present.position(key)?)
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn strays(&self) -> &[Stray] {
        &self.strays
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.strays.is_empty()
    }

    /// Where credentials were found: whoever shows texts covers them.
    pub fn plaintext_spans(&self) -> impl Iterator<Item = Span> + '_ {
        let entries = self.entries.iter();
        let entries = entries.filter(|entry| entry.fault == Some(Fault::Plaintext));
        let strays = self.strays.iter().filter(|stray| stray.value.is_withheld());
        let entries = entries.filter_map(|entry| entry.span);
        entries.chain(strays.filter_map(|stray| stray.span))
    }

    /// Its values as assignments again, to be changed and compiled anew.
    pub fn assignments(&self, keys: &Keys) -> Vec<(Assignment, Arc<Meta>)> {
        let entries = self.entries.iter().map(|entry| {
            let name = keys.get(entry.key).name.to_string();
            (name, &entry.value, &entry.meta, entry.span)
        });
        let strays = self.strays.iter().map(|stray| {
            let name = stray.name.to_string();
            (name, &stray.value, &stray.meta, stray.span)
        });
        let assignment = |(name, value, meta, span): (String, &Arc<Stored>, &Arc<Meta>, _)| {
            let assignment = Assignment {
                name,
                value: value.value.clone(),
                span,
                withheld: None,
            };
            (assignment, Arc::clone(meta))
        };
        entries.chain(strays).map(assignment).collect()
    }
}

fn stray(assignment: Assignment, meta: Arc<Meta>, against: &mut Against<'_>) -> Stray {
    let hit = assignment.withheld.is_some().then_some(()).or_else(|| {
        let found = against.scanner.scan_value("", &assignment.value);
        found.map(|_| ())
    });
    let value = match hit {
        Some(()) => Stored::withheld(),
        None => against.pool.share(assignment.value),
    };
    Stray {
        name: assignment.name.into(),
        value,
        meta,
        span: assignment.span,
    }
}

/// What is wrong with a value, and the value that is kept: a credential never is.
fn check(
    layer: Layer,
    id: KeyId,
    assignment: &Assignment,
    meta: &Meta,
    against: &mut Against<'_>,
) -> (Option<Fault>, Arc<Stored>) {
    let key = against.keys.get(id);
    let value = &assignment.value;
    let handle = secrets::handle(value);
    let plain = match key.secret {
        true => !handle.is_some_and(secrets::handle_is_well_formed),
        false => against.scanner.scan_value("", value).is_some(),
    };
    if assignment.withheld.is_some() || plain {
        return (Some(Fault::Plaintext), Stored::withheld());
    }
    let fault = if layer.is_set() && layer < key.floor {
        Some(Fault::ScopeNotAllowed)
    } else if key.secret {
        None
    } else if handle.is_some() {
        Some(Fault::SchemaInvalid)
    } else if key.check.admits(value) {
        None
    } else if other_version(meta, against.version) && !key.check.admits_type(value) {
        Some(Fault::TypeChanged)
    } else {
        Some(Fault::SchemaInvalid)
    };
    (fault, against.pool.share(value.clone()))
}

/// Whether a value is known to have been written against another version of the package.
pub fn other_version(meta: &Meta, version: &str) -> bool {
    meta.version.as_deref().is_some_and(|v| v != version)
}
