//! Values in three tiers: what a module author ships, a platform operator governs and an end
//! user deploys.
//!
//! [`merge`] takes the documents of all tiers and returns one [`Merged`] with every finding: where
//! the values lie in a file ([`document`]), who may say what ([`marks`]), what stands ([`layers`]),
//! what was refused ([`locked`]), and what the schema says after each tier ([`schema`]).
//! [`provenance`] explains every value of the result, [`diff`] what each tier changed.
//!
//! The crate reads no files and prints nothing. Layers in CUE are not read yet.

pub mod codes;
pub mod diff;
pub mod document;
mod locked;
mod marks;
mod merge;
pub mod provenance;
pub mod schema;
pub mod set;
pub mod show;
mod tier;

pub use document::{Document, Kind};
pub use merge::{Context, Merged, Options, Part, merge};
pub use schema::Schema;
pub use tier::Tier;
