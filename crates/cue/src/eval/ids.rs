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
#[derive(Clone, Debug)]
pub struct Arena<I, T> {
    items: Vec<T>,
    id: PhantomData<I>,
}

impl<I: Id, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena {
            items: Vec::new(),
            id: PhantomData,
        }
    }
}

impl<I: Id, T> Arena<I, T> {
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        let n = u32::try_from(self.items.len()).expect("fewer than 2^32 things in one run");
        I::new(NonZeroU32::new(n).expect("the table is not empty after a push"))
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

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        self.items
            .get(id.get() as usize - 1)
            .expect("an id comes from the arena that gave it out")
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        self.items
            .get_mut(id.get() as usize - 1)
            .expect("an id comes from the arena that gave it out")
    }
}
