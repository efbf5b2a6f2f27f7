//! `lath host` on real hosts: booted systemd, real podman, real git.
//!
//! Needs root and the test host that `tests/setup/testhost` makes; without them the tests fail.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may end by a panic, and says what it measured"
)]

mod faults;
mod kills;
mod sources;
mod stories;
mod testhost;
mod unattended;
