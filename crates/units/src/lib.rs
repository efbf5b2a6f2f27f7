//! Unit files of systemd and of Podman's Quadlet.
//!
//! The two share a look and differ in almost every rule behind it, so the crate keeps them side by
//! side and never mixed: a [`Flavour`] is passed wherever they part.
//!
//! | rule | systemd | Quadlet |
//! |---|---|---|
//! | `a\⏎b` | `a b` | `ab` |
//! | trailing white space after the backslash | no continuation | a continuation |
//! | `\\` at the end of a line | no continuation | a continuation |
//! | blank line inside a continuation | ends it | skipped |
//! | bad line | skipped | the file is refused |
//! | assignment before a section | ignored | the file is refused |
//! | unknown key in the own section | ignored | the unit is refused |
//! | hidden `.x.conf` | ignored | loaded |
//! | empty assignment, list | resets (not dependencies) | resets |
//! | empty assignment, scalar | the default | strings: the default, booleans: false |
//! | same drop-in name in two directories | directory, then specificity | 5.6 and later: specificity first |
//!
//! Nothing here knows repositories, hosts or services: it knows files, names and lines.

pub mod dropin;
pub mod keys;
pub mod merge;
pub mod name;
pub mod references;
pub mod syntax;
pub mod version;
pub mod words;

pub use merge::{Line, Merged, Part, Section, merge};
pub use name::{Flavour, Kind, UnitName};
pub use syntax::{Assignment, Item, ItemKind, UnitFile, parse};
pub use version::Version;
