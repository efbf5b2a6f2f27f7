//! YAML, JSON and TOML, read into one spanned tree and written back.
//!
//! [`tree::Tree`] is the one shape of plain data in Lath. Every node and every key knows its span;
//! numbers keep their exact text; strings that stand verbatim in the source are not copied.

pub mod tree;

pub use tree::{Field, NodeId, Number, Tree, TreeBuilder, Value};
