//! Who contributed a value, and what became of the contribution.
//!
//! One shape for all surfaces: a value has a *chain* of [`Contribution`]s, low to high, each with
//! its [`Origin`] and its [`Outcome`]. What a layer is called (a tier, a scope, base and host) is
//! the surface's word; here a layer is a number in the order of the stack.

use crate::source::Span;

/// A layer's index in its stack, counted from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerId(pub u16);

/// One assignment: which layer made it, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    pub layer: LayerId,
    pub span: Span,
}

/// What became of one contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It is the effective value, or part of it.
    Stands,
    /// A higher layer said something else.
    Overridden,
    /// A lock forbids it.
    Refused,
    /// A constraint rules it out, and the next one serves.
    Dropped,
    /// It sets nothing but bounds what may be set.
    Constrains,
    /// It empties a list for those above it.
    Resets,
    /// It is kept but may not take effect: a policy has decided.
    Suppressed,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Stands => "stands",
            Outcome::Overridden => "overridden",
            Outcome::Refused => "refused",
            Outcome::Dropped => "dropped",
            Outcome::Constrains => "constrains",
            Outcome::Resets => "resets",
            Outcome::Suppressed => "suppressed",
        }
    }
}

/// One link of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contribution {
    pub origin: Origin,
    pub outcome: Outcome,
}
