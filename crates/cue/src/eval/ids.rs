//! Numbers that stand for things in the arenas of one run.
//!
//! Zero is never given out, so an `Option` of an id costs nothing.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// What can be the index of an [`Arena`].
pub trait Id: Copy {
    fn new(n: NonZeroU32) -> Self;
    fn get(self) -> u32;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(NonZeroU32);
        impl Id for $name {
            fn new(n: NonZeroU32) -> Self { $name(n) }
            fn get(self) -> u32 { self.0.get() }
        }
    )*};
}

ids! {
    /// A vertex of a result tree.
    NodeId;
    /// A lexical frame: which vertex the braces of a literal stand for.
    EnvId;
    /// A compiled expression.
    ExprId;
    /// A declaration of a struct literal.
    DeclId;
    /// A value that is no vertex: scalar, type, bound, validator, disjunction, bottom.
    ValId;
    /// One message with its places.
    ErrId;
    /// A step in a conjunct's chain of references.
    RefId;
    /// Work that is still to be done on a vertex.
    TaskId;
}

/// A growing table of things that are referred to by number. Nothing is removed before the whole
/// table is dropped.
///
/// It is one piece, so that a thing is found in one step. A table that is no longer small takes [`RESERVE`] bytes of
/// addresses at once: what is not touched costs no memory, and a piece of that size grows without being copied.
#[derive(Clone, Debug)]
pub struct Arena<I, T> {
    items: Vec<T>,
    id: PhantomData<I>,
}

/// Up to so many things a table is small.
const SMALL: usize = 4096;
const RESERVE: usize = 32 << 20;

impl<I: Id, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena {
            items: Vec::new(),
            id: PhantomData,
        }
    }
}

impl<I: Id, T> Arena<I, T> {
    #[inline]
    pub fn push(&mut self, item: T) -> I {
        if self.items.len() == self.items.capacity() {
            self.grow();
        }
        self.items.push(item);
        let n = u32::try_from(self.items.len()).expect("fewer than 2^32 things in one run");
        I::new(NonZeroU32::new(n).expect("the table is not empty after a push"))
    }

    #[cold]
    fn grow(&mut self) {
        let len = self.items.len();
        let more = match len {
            0 => 16,
            1..SMALL => len,
            _ => len.max(RESERVE / size_of::<T>().max(1)),
        };
        self.items.reserve_exact(more);
    }

    /// Takes the last thing back. Only for who knows that nothing refers to it.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    /// Whether a thing is the last one.
    pub fn is_last(&self, id: I) -> bool {
        id.get() as usize == self.items.len()
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }
}

#[inline(always)]
fn place(id: impl Id) -> usize {
    id.get() as usize - 1
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        let item = self.items.get(place(id));
        item.expect("an id comes from the arena that gave it out")
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        let item = self.items.get_mut(place(id));
        item.expect("an id comes from the arena that gave it out")
    }
}
