//! The override engine for plain values: [`resolve`] lays a [`Stack`] of trees over one another
//! and returns a [`Resolution`] that knows every contribution to every value.
//!
//! # Rules
//! - Layers are listed low to high. **Maps merge** by field; **lists and scalars are replaced
//!   whole** by the next layer that says something.
//! - A value that is no map, laid over a map, replaces all of it; a map laid over something else
//!   starts empty. (This is the left fold of "deep merge", so a map below a replaced scalar does
//!   not shine through.)
//! - Layers belong to **levels**. Within a level a later layer always wins. A **fixed** value locks
//!   its path against higher levels: a different value there is refused, the same value is not. A map
//!   locks nothing by itself; its leaves do.
//! - A **constraint** sets nothing and binds all levels; constraints accumulate. A value of a lower level that it
//!   does not admit is dropped (a conflict only if nothing else supplies a value); a value of the same or a higher
//!   level is refused.
//! - A default may be **bounded**: a constraint too, for the levels above it, until its own level says
//!   something else.
//! - Where a layer says so, `null` removes what may be overridden.
//!
//! The engine copies no tree: a resolution refers to (layer, node) pairs. It does not know tiers,
//! tenants, files or schemas, and it does not say anything to the user: conflicts are data.

mod resolution;
mod resolve;
mod stack;

pub use resolution::{Conflict, ConflictKind, EntryId, Link, Resolution, State};
pub use resolve::resolve;
pub use stack::{Authority, Layer, Place, Stack, Value};
