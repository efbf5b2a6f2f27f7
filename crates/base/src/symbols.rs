//! Interned strings: field names that occur in many layers are stored and compared once.

use hashbrown::HashTable;
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

/// An interned string. Equal symbols of one table are equal strings; their order is the order of
/// first appearance, not of the alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

#[derive(Debug, Default)]
pub struct Symbols {
    text: String,
    ends: Vec<u32>,
    table: HashTable<Symbol>,
}

impl Symbols {
    pub fn new() -> Symbols {
        Symbols::default()
    }

    pub fn intern(&mut self, name: &str) -> Symbol {
        let hash = FxBuildHasher.hash_one(name);
        if let Some(&found) = self
            .table
            .find(hash, |&s| get(&self.text, &self.ends, s) == name)
        {
            return found;
        }
        let symbol = Symbol(u32::try_from(self.ends.len()).expect("fewer than 2^32 names"));
        self.text.push_str(name);
        self.ends
            .push(u32::try_from(self.text.len()).expect("less than 4 GiB of names"));
        let (text, ends) = (&self.text, &self.ends);
        self.table.insert_unique(hash, symbol, |&s| {
            FxBuildHasher.hash_one(get(text, ends, s))
        });
        symbol
    }

    /// The symbol of a name that was interned before.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        let hash = FxBuildHasher.hash_one(name);
        self.table
            .find(hash, |&s| get(&self.text, &self.ends, s) == name)
            .copied()
    }

    #[inline]
    pub fn name(&self, symbol: Symbol) -> &str {
        get(&self.text, &self.ends, symbol)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

#[inline]
fn get<'a>(text: &'a str, ends: &[u32], symbol: Symbol) -> &'a str {
    let index = symbol.0 as usize;
    let start = index
        .checked_sub(1)
        .and_then(|before| ends.get(before))
        .copied()
        .unwrap_or(0);
    let end = ends.get(index).copied().unwrap_or(start);
    text.get(start as usize..end as usize).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_one_symbol() {
        let mut symbols = Symbols::new();
        let names: Vec<Symbol> = (0..1000)
            .map(|i| symbols.intern(&format!("n{}", i % 100)))
            .collect();
        assert_eq!(symbols.len(), 100);
        assert_eq!(names[5], names[105]);
        assert_eq!(symbols.name(names[742]), "n42");
        assert_eq!(symbols.find("n99"), Some(names[99]));
        assert_eq!(symbols.find("nope"), None);
        let empty = symbols.intern("");
        assert_eq!(symbols.name(empty), "");
    }
}
