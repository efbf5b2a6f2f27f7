//! Runs of child nodes, stored one after another in the file's list table.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::{AttributeId, ClauseId, DeclId, ExprId, ImportId};

/// A run of children of one kind. [`super::File::list`] yields them.
pub struct List<T> {
    start: u32,
    len: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T> List<T> {
    pub const EMPTY: List<T> = List {
        start: 0,
        len: 0,
        kind: PhantomData,
    };

    pub(in crate::syntax) fn new(start: usize, len: usize) -> List<T> {
        let fits = |n: usize| u32::try_from(n).expect("fewer nodes than 2^32");
        List {
            start: fits(start),
            len: fits(len),
            kind: PhantomData,
        }
    }

    pub fn len(self) -> usize {
        self.len as usize
    }

    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    pub(in crate::syntax) fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.start, self.len) == (other.start, other.len)
    }
}

impl<T> Eq for List<T> {}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.range())
    }
}

/// What a [`List`] can hold.
pub trait Member: Copy {
    #[doc(hidden)]
    fn at(index: u32) -> Self;
    #[doc(hidden)]
    fn raw(self) -> u32;
}

macro_rules! member {
    ($($name:ident)*) => {$(
        impl Member for $name {
            fn at(index: u32) -> Self {
                $name(index)
            }

            fn raw(self) -> u32 {
                self.0
            }
        }
    )*};
}

member! { ExprId DeclId ClauseId AttributeId ImportId }
