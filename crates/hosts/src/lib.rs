//! A repository of shared Quadlet and systemd definitions, evaluated for one host.
//!
//! ```text
//! services/<service>/{quadlet,quadlet-overrides,systemd,config,owners.yaml}
//! hosts/<host>/host.yaml
//! hosts/<host>/overrides/{quadlet,systemd,config}
//! ```
//!
//! [`evaluate`] takes the repository as data and gives the *desired state* (every file below `/etc`,
//! with its content or with the entry to copy), where each line and file came from, and all
//! findings. [`check`] does so for every host and looks at the services that no host selects as
//! well. The combine rules are append/reset for units and replace for payloads; nothing here reads
//! the meaning of a payload, fills in a placeholder or asks the file system, a clock or the
//! environment.

mod artifact;
mod catalog;
pub mod codes;
mod declaration;
pub mod diff;
mod evaluate;
pub mod explain;
pub mod graph;
mod install;
mod owners;
mod payload;
pub mod plan;
pub mod repository;
mod unit_rules;

pub use artifact::{Layer, Unit, UnitPart};
pub use declaration::HostName;
pub use evaluate::{Content, DesiredFile, Evaluated, Options, check, evaluate};
pub use owners::Owner;
pub use payload::RESERVED_ROOTS;
pub use repository::{Entry, EntryId, EntryKind, Repository, RepositoryBuilder};
