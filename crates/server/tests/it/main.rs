//! The service from outside: HTTP against a node in this process, on SQLite and on a PostgreSQL that the tests start.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test program: a failure is a failed test"
)]

mod abuse;
mod access;
mod client;
mod desired;
mod nodes;
mod oidc;
mod record;
mod suite;
mod world;
mod writers;
