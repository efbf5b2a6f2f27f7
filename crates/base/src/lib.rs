//! What every surface of Lath shares: named texts and places in them, who contributed a value,
//! and how to tell the user about it.
//!
//! Nothing here reads a file, a clock or the environment. The crate does not know CUE, tiers,
//! tenants or units: it knows *where* something was written and *what to say* about it.

pub mod diagnostic;
pub mod distance;
pub mod path;
pub mod provenance;
pub mod render;
pub mod source;
pub mod symbols;

pub use diagnostic::{Code, Diagnostic, Label, Note, Severity};
pub use path::{Path, Segment};
pub use provenance::{Contribution, LayerId, Origin, Outcome};
pub use source::{Place, Source, SourceId, Sources, Span};
pub use symbols::{Symbol, Symbols};
