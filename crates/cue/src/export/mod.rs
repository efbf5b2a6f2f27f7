//! Export: evaluated values as JSON, YAML, TOML and CUE.
//!
//! `order` decides in which order fields are written, `data` writes concrete values, `cue` makes CUE of any
//! value: what is not known is written as the expression it came from.

pub mod cue;
pub mod data;
pub mod def;
mod expr;
pub mod json_schema;
pub mod order;
pub mod syntax;
pub mod text;
mod values;
