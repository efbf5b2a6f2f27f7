//! Short lists, as small as what they usually hold.
//!
//! A run has many more vertices than any of them has conjuncts: nearly all have one. [`Few`] keeps none or one
//! in place, [`Rare`] is a single pointer that is null when the list is empty, and to one element when it has one. Both
//! read as slices. [`FewMap`] is a table that is searched from end to end until it has more than a few entries.

use std::hash::Hash;
use std::ops::{Deref, DerefMut};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// A list that mostly has one element.
#[derive(Clone, Debug, Default)]
pub enum Few<T> {
    #[default]
    None,
    One(T),
    Many(Vec<T>),
}

impl<T> Few<T> {
    pub const fn new() -> Few<T> {
        Few::None
    }

    pub fn push(&mut self, item: T) {
        match self {
            Few::Many(all) => all.push(item),
            Few::None => *self = Few::One(item),
            Few::One(_) => {
                if let Few::One(first) = std::mem::take(self) {
                    *self = Few::Many(vec![first, item]);
                }
            }
        }
    }

    pub fn clear(&mut self) {
        *self = Few::None;
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Few::None => &[],
            Few::One(item) => std::slice::from_ref(item),
            Few::Many(all) => all,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Few::None => &mut [],
            Few::One(item) => std::slice::from_mut(item),
            Few::Many(all) => all,
        }
    }
}

impl<T> Extend<T> for Few<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Few<T> {
        let mut few = Few::new();
        few.extend(items);
        few
    }
}

/// What a short list held, one after the other.
pub enum FewIter<T> {
    One(std::option::IntoIter<T>),
    Many(std::vec::IntoIter<T>),
}

impl<T> Iterator for FewIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            FewIter::One(item) => item.next(),
            FewIter::Many(all) => all.next(),
        }
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = FewIter<T>;

    fn into_iter(self) -> FewIter<T> {
        match self {
            Few::None => FewIter::One(None.into_iter()),
            Few::One(item) => FewIter::One(Some(item).into_iter()),
            Few::Many(all) => FewIter::Many(all.into_iter()),
        }
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A list that is mostly empty.
#[derive(Clone, Debug)]
pub struct Rare<T>(Option<Box<Few<T>>>);

impl<T> Rare<T> {
    pub const fn new() -> Rare<T> {
        Rare(None)
    }

    pub fn push(&mut self, item: T) {
        match &mut self.0 {
            Some(all) => all.push(item),
            None => self.0 = Some(Box::new(Few::One(item))),
        }
    }

    pub fn clear(&mut self) {
        self.0 = None;
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        match self.0.as_deref_mut() {
            Some(Few::Many(all)) => all.retain(keep),
            Some(Few::One(item)) if !keep(item) => self.0 = None,
            _ => {}
        }
    }
}

impl<T> Default for Rare<T> {
    fn default() -> Rare<T> {
        Rare::new()
    }
}

impl<T> Deref for Rare<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            None => &[],
            Some(all) => all,
        }
    }
}

impl<T> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            None => &mut [],
            Some(all) => all,
        }
    }
}

impl<T> Extend<T> for Rare<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

impl<T> From<Vec<T>> for Rare<T> {
    fn from(mut all: Vec<T>) -> Rare<T> {
        Rare(match all.len() {
            0 => None,
            1 => all.pop().map(|item| Box::new(Few::One(item))),
            _ => Some(Box::new(Few::Many(all))),
        })
    }
}

impl<T> IntoIterator for Rare<T> {
    type Item = T;
    type IntoIter = FewIter<T>;

    fn into_iter(self) -> FewIter<T> {
        self.0.map_or(Few::None, |all| *all).into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Rare<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A table that mostly has a few entries. It keeps them in the order in which they came.
#[derive(Clone, Debug)]
pub struct FewMap<K, V> {
    entries: Vec<(K, V)>,
    /// Where each key is among the entries, once there are more than a few.
    index: Option<Box<HashMap<K, usize, FxBuildHasher>>>,
}

/// How many entries are searched one by one.
const FEW: usize = 16;

impl<K, V> Default for FewMap<K, V> {
    fn default() -> Self {
        FewMap {
            entries: Vec::new(),
            index: None,
        }
    }
}

impl<K: Copy + Eq + Hash, V> FewMap<K, V> {
    pub fn with_capacity(capacity: usize) -> Self {
        FewMap {
            entries: Vec::with_capacity(capacity),
            index: None,
        }
    }

    #[inline]
    fn at(&self, key: K) -> Option<usize> {
        match &self.index {
            None => self.entries.iter().position(|&(k, _)| k == key),
            Some(index) => index.get(&key).copied(),
        }
    }

    pub fn get(&self, key: K) -> Option<&V> {
        let (_, value) = self.entries.get(self.at(key)?)?;
        Some(value)
    }

    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let at = self.at(key)?;
        let (_, value) = self.entries.get_mut(at)?;
        Some(value)
    }

    /// The value of a key, which `make` gives if there is none yet.
    pub fn get_or_insert(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let at = self.place(key, make);
        let entry = self.entries.get_mut(at);
        &mut entry.expect("it was found or pushed just now").1
    }

    /// The same, and which entry it is, counted from the first.
    pub fn place(&mut self, key: K, make: impl FnOnce() -> V) -> usize {
        self.at(key).unwrap_or_else(|| self.push(key, make()))
    }

    /// Sets the value of a key, and returns the one it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.get_mut(key) {
            Some(known) => Some(std::mem::replace(known, value)),
            None => {
                self.push(key, value);
                None
            }
        }
    }

    fn push(&mut self, key: K, value: V) -> usize {
        let at = self.entries.len();
        self.entries.push((key, value));
        match &mut self.index {
            Some(index) => {
                index.insert(key, at);
            }
            None if at >= FEW => {
                let keys = self.entries.iter().map(|&(key, _)| key);
                self.index = Some(Box::new(keys.zip(0..).collect()));
            }
            None => {}
        }
        at
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// An entry by its place.
    pub fn entry(&self, place: usize) -> Option<&(K, V)> {
        self.entries.get(place)
    }

    pub fn entry_mut(&mut self, place: usize) -> Option<&mut (K, V)> {
        self.entries.get_mut(place)
    }

    /// The entries in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.entries.iter().map(|(key, value)| (*key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_grow_in_order() {
        let mut few = Few::new();
        assert!(few.is_empty());
        for n in 0..5 {
            few.push(n);
            assert_eq!(*few, (0..=n).collect::<Vec<_>>());
        }
        if let Some(last) = few.last_mut() {
            *last = 9;
        }
        assert_eq!(few.iter().sum::<i32>(), 15);
        few.clear();
        assert!(few.is_empty());
    }

    #[test]
    fn the_rare_grow_in_order() {
        let mut rare = Rare::new();
        assert!(rare.is_empty());
        rare.push('a');
        rare.push('b');
        assert_eq!(*rare, ['a', 'b']);
        assert_eq!(size_of::<Rare<[u8; 100]>>(), size_of::<usize>());
    }

    #[test]
    fn a_vertex_is_small() {
        use crate::eval::{ir, node, value, work};
        assert!(size_of::<node::Node>() <= 88);
        assert!(size_of::<node::Env>() <= 24);
        assert!(size_of::<ir::Expr>() <= 24);
        assert!(size_of::<value::Slot>() <= 56);
        assert!(size_of::<work::Work>() <= 416);
    }

    #[test]
    fn a_table_finds_what_was_put_in_at_any_size() {
        let mut table = FewMap::default();
        for n in 0..100 {
            assert_eq!(table.insert(n * 7 % 101, n), None);
            assert_eq!(table.insert(n * 7 % 101, n + 1), Some(n));
            *table.get_or_insert(n * 7 % 101, || 0) += 1;
        }
        let entries: Vec<_> = table.iter().map(|(key, &value)| (key, value)).collect();
        let want: Vec<_> = (0..100).map(|n| (n * 7 % 101, n + 2)).collect();
        assert_eq!(entries, want);
        assert_eq!(table.get(7), Some(&3));
        assert_eq!(table.get(1000), None);
    }
}
