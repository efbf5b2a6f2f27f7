//! Duplicate keys, found in one pass over a finished map.
//!
//! A table indexed by symbol remembers in which map a name was seen last and where. Small maps are
//! compared pairwise instead, which touches less memory.

use base::{Span, Symbols};

use crate::findings::Findings;
use crate::tree::{Field, TreeBuilder};

#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    /// For each symbol: the number of the last map that held it, and its index there.
    seen: Vec<(u32, u32)>,
    map: u32,
}

const SMALL: usize = 8;

impl Duplicates {
    /// Reports every name that `fields` holds again and removes all but the first.
    pub(crate) fn refuse(
        &mut self,
        fields: &mut Vec<Field>,
        from: usize,
        builder: &TreeBuilder,
        symbols: &Symbols,
        findings: &mut Findings,
    ) {
        let own = fields.get(from..).unwrap_or(&[]);
        if own.len() <= SMALL {
            let twice = own
                .iter()
                .enumerate()
                .any(|(i, a)| own.iter().take(i).any(|b| a.name == b.name));
            if !twice {
                return;
            }
        }
        self.map += 1;
        if self.seen.len() < symbols.len() {
            self.seen.resize(symbols.len(), (0, 0));
        }
        let mut repeated: Vec<u32> = Vec::new();
        for (index, field) in own.iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let Some(seen) = self.seen.get_mut(field.name.0 as usize) else {
                continue;
            };
            if seen.0 == self.map {
                let first = own.get(seen.1 as usize).unwrap_or(field);
                let span = |field: &Field| -> Span { builder.tree().key_span(field) };
                findings.duplicate_key(symbols.name(field.name), span(first), span(field));
                repeated.push(index);
            } else {
                *seen = (self.map, index);
            }
        }
        // `fields` holds the enclosing maps' fields too: walking it for nothing would be quadratic.
        if repeated.is_empty() {
            return;
        }
        let mut repeated = repeated.into_iter().peekable();
        let mut index = 0usize;
        fields.retain(|_| {
            let at = index;
            index += 1;
            let again = repeated
                .peek()
                .is_some_and(|&next| next as usize + from == at);
            if again {
                repeated.next();
            }
            !again
        });
    }
}
