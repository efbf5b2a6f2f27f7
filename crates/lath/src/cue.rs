//! `lath cue`: the commands of the CUE tool, with its arguments and its plain way to report.
//!
//! Exit status is 0 or 1, as the reference implementation has it. Results go to standard output,
//! all findings to standard error.

use std::process::ExitCode;

use clap::Subcommand;

mod fmt;
mod plain;

#[derive(Subcommand)]
pub enum Command {
    /// Format CUE files
    ///
    /// Files are rewritten in place; `-` formats standard input.
    Fmt(fmt::Arguments),
}

/// Deeply nested input needs a deep stack; pages that are not used cost nothing.
const STACK: usize = 512 << 20;

pub fn run(command: Command) -> ExitCode {
    let worker = std::thread::Builder::new()
        .name("cue".to_owned())
        .stack_size(STACK)
        .spawn(move || dispatch(command));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => crate::report::failed(&format!("cannot start a thread: {error}")),
    }
}

fn dispatch(command: Command) -> ExitCode {
    match command {
        Command::Fmt(arguments) => fmt::run(&arguments),
    }
}
