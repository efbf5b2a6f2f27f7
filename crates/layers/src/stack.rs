//! What is resolved: trees in order, each with its authority.

use std::collections::BTreeSet;

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
    /// Nodes marked as constraints, each with a value that it does not admit. A layer that is a constraint as a
    /// whole admits just the very value it says.
    pub unadmitted: BTreeSet<(Place, Place)>,
}

/// A node of a layer.
pub type Place = (LayerId, NodeId);

impl<'a> Stack<'a> {
    pub fn new(layers: Vec<Layer<'a>>) -> Stack<'a> {
        Stack {
            layers,
            unadmitted: BTreeSet::new(),
        }
    }

    /// Whether anything in the layers bounds what may be said.
    pub fn is_constrained(&self) -> bool {
        let bounds = |layer: &Layer<'_>| {
            layer.authority == Authority::Constraint || layer.tree.has_constraints()
        };
        self.layers.iter().any(bounds)
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

    pub fn is_map(self) -> bool {
        self.tree.is_map(self.node)
    }

    /// Whether two values are the same, wherever they were written.
    pub fn same(self, other: Value<'_>) -> bool {
        self.tree.equal(self.node, other.tree, other.node)
    }

    pub fn span(self) -> Span {
        self.tree.span(self.node)
    }
}
