//! Brings a host to its desired state and keeps it there: the shell around `hosts`.
//!
//! ```text
//! source (git) → evaluate → observe → plan → pre-flight → apply → verify → record
//!                 hosts                hosts
//! ```
//!
//! Everything here reads or changes the world: the file system below allowed directories
//! ([`root`]), systemd over D-Bus ([`systemd`]), git ([`git`]), the journal ([`journal`]). What is
//! to be done is decided in `hosts::plan`; this crate does it, in that order, so that being killed
//! at any point loses nothing ([`store`] says how).
//!
//! Synchronous throughout: one run, one thread, one lock.

pub mod apply;
pub mod failure;
pub mod fault;
pub mod foreign;
pub mod git;
pub mod journal;
pub mod layout;
pub mod notify;
pub mod observe;
pub mod preflight;
pub mod program;
pub mod root;
pub mod run;
pub mod store;
pub mod systemd;

pub use failure::{Class, Failure};
