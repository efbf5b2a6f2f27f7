//! What is resolved: trees in order, each with its authority.

use base::{LayerId, Span};
use data::{NodeId, Tree};

/// What a layer's values mean for the levels above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// May be changed above.
    Default,
    /// May not be changed by a higher level, except where the node carries the mark `!default`.
    Fixed,
    /// Sets nothing but bounds what may be set.
    Constraint,
}

/// One authority's contribution: a tree, from one of its nodes downwards.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    pub tree: &'a Tree,
    pub root: NodeId,
    pub authority: Authority,
    /// Layers of one level may replace each other's values, whatever their authority.
    pub level: u16,
    /// Whether `null` in this layer removes an overridable value instead of being one.
    pub null_deletes: bool,
}

/// Layers, low to high.
#[derive(Clone, Debug)]
pub struct Stack<'a> {
    pub layers: Vec<Layer<'a>>,
    /// Whether a constraint admits a value. Plain data can only say "this very value".
    pub admits: fn(constraint: Value<'_>, value: Value<'_>) -> bool,
}

impl<'a> Stack<'a> {
    pub fn new(layers: Vec<Layer<'a>>) -> Stack<'a> {
        Stack {
            layers,
            admits: |constraint, value| constraint.same(value),
        }
    }

    /// The layer of an id that came from this stack.
    pub fn layer(&self, id: LayerId) -> &Layer<'a> {
        self.layers
            .get(usize::from(id.0))
            .expect("a LayerId comes from the stack that made it")
    }
}

/// A value where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    pub tree: &'a Tree,
    pub node: NodeId,
}

impl<'a> Value<'a> {
    pub fn get(self) -> data::Value<'a> {
        self.tree.value(self.node)
    }

    /// Whether two values are the same, wherever they were written.
    pub fn same(self, other: Value<'_>) -> bool {
        self.tree.equal(self.node, other.tree, other.node)
    }

    pub fn span(self) -> Span {
        self.tree.span(self.node)
    }
}
