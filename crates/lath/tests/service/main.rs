//! The service as its users meet it: `lath serve` as a process, and its page in a browser.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test program: a failure is a failed test"
)]

#[path = "../../../server/tests/it/client.rs"]
#[allow(dead_code, reason = "shared with the service's own tests")]
mod client;
mod page;
mod process;
mod serve;
#[path = "../../../server/tests/it/world.rs"]
#[allow(dead_code, reason = "shared with the service's own tests")]
mod world;
