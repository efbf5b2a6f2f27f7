//! Evaluation.
//!
//! A program is a set of conjuncts on a root vertex. Evaluating a vertex means turning its conjuncts into a
//! value and fields; every expression that must be computed is a task of its vertex, and tasks wait for
//! conditions of other vertices. See `sched` for the order of work, `conjunct` for what happens to a
//! conjunct, `closed` for closedness, `cycle` for cycles, `disjunct` for disjunctions.
//!
//! Everything lives in arenas of one [`Ctx`] and is dropped with it. There is no global state.
//! Evaluation recurses natively; [`limits`] bounds it, and callers give it a large stack.

mod ancestors;
pub mod binop;
mod bounds;
pub mod builtin;
mod call;
mod closed;
mod comprehension;
mod compute;
mod conjunct;
mod constraints;
pub mod context;
mod copies;
mod cycle;
mod dedup;
mod disjunct;
pub mod equal;
mod error;
mod evaluate;
pub(crate) mod few;
mod field;
pub mod format;
pub mod ids;
mod insert;
pub mod ir;
pub mod kind;
mod known;
pub mod label;
pub mod late;
pub mod limits;
mod links;
mod literal;
mod lookup;
mod matching;
mod member;
pub mod node;
mod overlay;
mod plain;
pub mod quote;
mod ranges;
mod regex_cache;
mod reject;
pub mod report;
mod resolve;
mod rules;
mod run;
pub mod sched;
mod settled;
mod share;
mod special;
mod tasks;
mod unify;
pub mod validate;
pub mod value;
pub mod work;

pub use context::{Ctx, R, Stop};
