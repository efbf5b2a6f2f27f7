//! Bounds on what one evaluation may cost, so that no input can run for ever or fill the memory.
//!
//! Recursion follows the nesting of the program and of its references. `depth` is chosen for a
//! stack of [`STACK_BYTES`]; whoever calls the evaluator runs it on a thread with that much.

use base::Span;

use super::context::{Ctx, Stop};
use super::ids::NodeId;

/// The stack the evaluator may need at the depth limit.
pub const STACK_BYTES: usize = 2 << 30;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Tasks and unifications.
    pub steps: u64,
    /// Nested evaluations.
    pub depth: u32,
    /// Vertices.
    pub nodes: usize,
    /// Fields of all results together that the disjunctions of one vertex multiply to.
    pub product: usize,
    pub steps_used: u64,
    pub depth_used: u32,
    /// The bound that was reached, and where.
    pub exceeded: Option<Exceeded>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps: 100_000_000,
            depth: 10_000,
            nodes: 30_000_000,
            product: 100_000,
            steps_used: 0,
            depth_used: 0,
            exceeded: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Steps,
    Depth,
    Nodes,
    Product,
}

impl Bound {
    pub fn message(self) -> &'static str {
        match self {
            Bound::Steps => "the program takes too many steps to be evaluated",
            Bound::Depth => "the program nests or refers too deeply to be evaluated",
            Bound::Nodes => "the program needs too much memory to be evaluated",
            Bound::Product => "the disjunctions of one value have too many results together",
        }
    }

    /// What to do about it.
    pub fn help(self) -> &'static str {
        match self {
            Bound::Steps => {
                "look for a `for` over every combination of several lists, or for definitions that refer to each other many times; \
                 where so much work is meant, `--max-steps` (in a program, `Limits::steps`) allows more"
            }
            Bound::Depth => {
                "look for a chain of references or a definition that goes on into itself, and break it into parts"
            }
            Bound::Nodes => {
                "look for a `for` that makes fields for every combination of several lists; where so many are meant, `--max-fields` \
                 (in a program, `Limits::nodes`) allows more"
            }
            Bound::Product => {
                "give the alternatives a field that tells them apart, such as `kind: \"a\"`, so that few of them fit together"
            }
        }
    }
}

/// A bound that was reached, and what was being evaluated then.
#[derive(Clone, Copy, Debug)]
pub struct Exceeded {
    pub bound: Bound,
    pub node: Option<NodeId>,
    pub span: Option<Span>,
}

impl Ctx {
    /// Ends the evaluation. Where it was is kept from the first time.
    #[cold]
    pub(super) fn exceed(&mut self, bound: Bound) -> Stop {
        if self.limits.exceeded.is_none() {
            let (node, span) = (self.node, self.src.or_else(|| self.place_of(self.node)));
            self.limits.exceeded = Some(Exceeded { bound, node, span });
        }
        Stop::Limit
    }

    /// Where a vertex is declared, or the nearest one above it that has a place.
    fn place_of(&self, node: Option<NodeId>) -> Option<Span> {
        let mut at = node;
        while let Some(node) = at {
            let mut conjuncts = self.nodes[node].conjuncts.iter();
            if let Some(span) = conjuncts.find_map(|c| self.x_span(c.x)) {
                return Some(span);
            }
            at = self.nodes[node].parent;
        }
        None
    }
}
