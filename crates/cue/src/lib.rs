//! The CUE configuration language: `syntax` → `compile` → `eval` → `export`, and the standard
//! packages.
//!
//! The crate reads no file, clock or environment: files come in as texts, results go out as
//! values. It knows layers whose references see one another's values, but no tiers, tenants or policies.

pub mod checked;
pub mod compile;
pub mod eval;
pub mod export;
pub mod jsonschema;
pub mod layered;
pub mod load;
pub mod number;
pub mod openapi;
pub mod packages;
pub mod regex;
pub mod runtime;
pub mod syntax;

pub use runtime::{Runtime, Value};
