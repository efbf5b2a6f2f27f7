//! Fuzzing: laws that hold for any text ([`target`]), and mutated texts to try them on ([`corpus`], [`mutation`]).
//!
//! A fuzzing engine gives the targets texts too (`fuzz/` at the root); the binary of this crate needs neither an engine
//! nor a nightly compiler.

pub mod corpus;
pub mod mutation;
pub mod target;
