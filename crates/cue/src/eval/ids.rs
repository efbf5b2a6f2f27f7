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
/// It grows by chunks and never moves what it holds, so that it has no copy of itself in memory while it grows.
#[derive(Clone, Debug)]
pub struct Arena<I, T> {
    chunks: Vec<Vec<T>>,
    len: usize,
    id: PhantomData<I>,
}

const CHUNK_BITS: u32 = 12;
const CHUNK: usize = 1 << CHUNK_BITS;

impl<I: Id, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena {
            chunks: Vec::new(),
            len: 0,
            id: PhantomData,
        }
    }
}

impl<I: Id, T> Arena<I, T> {
    pub fn push(&mut self, item: T) -> I {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => last.push(item),
            // The first chunk grows from nothing: most runs are small.
            None => self.chunks.push(vec![item]),
            Some(_) => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(item);
                self.chunks.push(chunk);
            }
        }
        self.len += 1;
        let n = u32::try_from(self.len).expect("fewer than 2^32 things in one run");
        I::new(NonZeroU32::new(n).expect("the table is not empty after a push"))
    }

    /// Takes the last thing back. Only for who knows that nothing refers to it.
    pub fn pop(&mut self) -> Option<T> {
        let last = self.chunks.last_mut()?;
        let item = last.pop()?;
        self.len -= 1;
        if last.is_empty() {
            self.chunks.pop();
        }
        Some(item)
    }

    /// Whether a thing is the last one.
    pub fn is_last(&self, id: I) -> bool {
        id.get() as usize == self.len
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

fn place(id: impl Id) -> (usize, usize) {
    let at = id.get() as usize - 1;
    (at >> CHUNK_BITS, at & (CHUNK - 1))
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        let (chunk, at) = place(id);
        self.chunks
            .get(chunk)
            .and_then(|chunk| chunk.get(at))
            .expect("an id comes from the arena that gave it out")
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        let (chunk, at) = place(id);
        self.chunks
            .get_mut(chunk)
            .and_then(|chunk| chunk.get_mut(at))
            .expect("an id comes from the arena that gave it out")
    }
}
