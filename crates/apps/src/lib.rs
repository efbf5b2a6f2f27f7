//! Apps that stay upgradeable while tenants, workspaces and users adjust them.
//!
//! A [`package::Package`] declares [`key`]s; overlays set them in six [`layer`]s; [`policy`] says what may be set. A
//! [`snapshot::Snapshot`] holds all of it compiled, and four functions answer from it:
//!
//! - [`resolve`]: what is a key for someone, where does it come from, what became of the rest
//! - [`decide`]: may this be written; every way into the system asks it
//! - [`readiness`]: can the app be used, and what to do if not
//! - [`upgrade_report`]: what would another version change
//!
//! Everything is pure: no files, no clock (time is passed in), no app code is ever run. Credentials are
//! refused and covered by [`secrets`] before anything can show them.

pub mod assemble;
pub mod bundle;
pub mod codes;
pub mod conflict;
pub mod conflicts;
pub mod constraint;
mod cursor;
pub mod decide;
pub mod documents;
mod evaluate;
pub mod glob;
pub mod instant;
pub mod key;
pub mod layer;
pub mod manifest;
pub mod merge;
pub mod overlay;
pub mod package;
pub mod policy;
pub mod readiness;
pub mod resolve;
pub mod schema;
pub mod secrets;
pub mod snapshot;
pub mod table;
pub mod upgrade;
pub mod value;
pub mod words;
pub mod write;

pub use decide::{Command, Decision, decide};
pub use package::Package;
pub use readiness::readiness;
pub use resolve::{Context, Resolved, ResolvedValue, resolve};
pub use snapshot::Snapshot;
pub use table::Table;
pub use upgrade::upgrade_report;
