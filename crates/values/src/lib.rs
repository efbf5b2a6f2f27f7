//! Values in three tiers: what a module author ships, a platform operator governs and an end
//! user deploys.
//!
//! [`evaluate()`] takes the layers of all tiers, evaluates those in CUE, and says where the values lie in a
//! file ([`document`]) and who may say what ([`marks`]). [`merge()`] lays them over one another and returns one
//! [`Merged`] with every finding: what stands ([`layers`]), what was refused ([`locked`]), and what the
//! schema says after each tier ([`schema`]). [`provenance`] explains every value of the result, [`diff`]
//! what each tier changed.
//!
//! The crate reads no files and prints nothing.

mod circles;
pub mod codes;
mod config;
pub mod diff;
pub mod document;
mod effective;
mod evaluate;
mod extract;
mod input;
mod literal;
mod locked;
mod marks;
mod merge;
pub mod provenance;
pub mod schema;
pub mod set;
pub mod show;
mod target;
mod tier;

pub use config::Words;
pub use document::{Document, Kind};
pub use evaluate::{Evaluated, Stage, evaluate};
pub use extract::{STACK_BYTES, reported_finding};
pub use input::{Content, Input};
pub use merge::{Context, Merged, Options, Part, merge};
pub use schema::Schema;
pub use tier::Tier;
