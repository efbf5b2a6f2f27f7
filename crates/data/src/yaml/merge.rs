//! Merge keys: `<<: *base` and `<<: [*a, *b]`.
//!
//! The fields of the maps named are added to the map that names them. In a list the earlier map
//! wins, so the list is applied backwards. What stands explicitly in the map wins over everything
//! merged, before or behind the `<<`. The CUE reference lets a `<<` override what stands before it and
//! lets fields behind it replace instead of unify; [`crate::Reading::Reference`] does the same.

use base::{Diagnostic, Span, Symbol};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Loader;
use crate::codes;
use crate::tree::{Field, NodeId, Value};

/// One map that a `<<` brings in.
pub(super) struct Merge {
    map: NodeId,
    /// How many fields of its own the map had when the `<<` came.
    before: usize,
}

impl Loader<'_> {
    /// Remembers the value of a `<<` for when the map is complete.
    pub(super) fn merge(&mut self, node: NodeId, key: Span, span: Span) {
        let mut maps = Vec::new();
        if !self.mergeable(node, &mut maps) {
            self.findings.add(span, || {
                Diagnostic::error(
                    codes::BAD_MERGE,
                    "the merge key `<<` takes a map or a list of maps",
                )
                .primary(span, "this is neither")
                .secondary(key, "merged here")
                .help("quote the key as \"<<\" if it is not meant to merge")
            });
            return;
        }
        let own = self.fields.len();
        if let Some(frame) = self.frames.last_mut() {
            let before = own.saturating_sub(frame.first);
            frame
                .merges
                .extend(maps.into_iter().map(|map| Merge { map, before }));
        }
    }

    /// Collects the maps to merge, weakest first. The depth of a tree is bounded, so is this.
    fn mergeable(&self, node: NodeId, maps: &mut Vec<NodeId>) -> bool {
        match self.builder.tree().value(node) {
            Value::Map(_) => {
                maps.push(node);
                true
            }
            Value::List(items) => items.iter().rev().all(|&item| self.mergeable(item, maps)),
            _ => false,
        }
    }

    /// Rewrites the fields of a finished map, which begin at `first`.
    pub(super) fn apply_merges(&mut self, first: usize, merges: &[Merge]) {
        let own: Vec<Field> = self.fields.drain(first..).collect();
        let mut merged = Merged {
            fields: Vec::with_capacity(own.len()),
            index: HashMap::with_hasher(FxBuildHasher),
        };
        let mut written = 0;
        for merge in merges {
            for field in own.iter().take(merge.before).skip(written) {
                merged.put(*field, written > 0, true);
            }
            written = written.max(merge.before);
            let tree = self.builder.tree();
            let Value::Map(fields) = tree.value(merge.map) else {
                continue;
            };
            let mut defaults = Vec::new();
            for field in fields {
                if !self.strict || !merged.is_explicit(field.name) {
                    merged.put(*field, true, false);
                    // The map itself is gone: its mark goes over to what it brings.
                    if tree.is_default(merge.map) {
                        defaults.push(field.value);
                    }
                }
            }
            for node in defaults {
                self.builder.mark_default(node);
            }
        }
        for field in own.iter().skip(written) {
            merged.put(*field, true, true);
        }
        self.fields.append(&mut merged.fields);
    }
}

/// The fields of a map while its merges are applied, in the order of their first appearance.
struct Merged {
    fields: Vec<Field>,
    /// Where each name is, and whether it stands in the map itself.
    index: HashMap<Symbol, (usize, bool), FxBuildHasher>,
}

impl Merged {
    /// Adds a field; with `replace` it takes the place of one of the same name.
    fn put(&mut self, field: Field, replace: bool, explicit: bool) {
        if replace
            && let Some((at, known)) = self.index.get_mut(&field.name)
            && let Some(slot) = self.fields.get_mut(*at)
        {
            *slot = field;
            *known = explicit;
            return;
        }
        self.index
            .entry(field.name)
            .or_insert((self.fields.len(), explicit));
        self.fields.push(field);
    }

    fn is_explicit(&self, name: Symbol) -> bool {
        self.index.get(&name).is_some_and(|&(_, explicit)| explicit)
    }
}
