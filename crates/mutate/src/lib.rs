//! Fuzzing: laws that hold for any text ([`target`], [`formatting`]), and mutated texts to try them on ([`corpus`], [`mutation`]).
//!
//! No fuzzing engine and no nightly compiler is needed: mutations of texts that people wrote reach the same places, and a run can be repeated.

pub mod corpus;
pub mod formatting;
pub mod mutation;
pub mod target;
