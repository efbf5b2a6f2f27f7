//! The binary: arguments, files, printing, exit codes.
//!
//! One folder a surface; each reads the world, calls a pure crate and prints what came back.
//! Exit status: 0 fine, 1 findings, 2 usage or a file that cannot be opened.

mod app;
mod columns;
mod cue;
mod deferred;
mod demo;
mod host;
mod number;
mod report;
mod serve;
mod values;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::deferred::Deferred;

/// Lays thin layers of configuration over one another and explains every value of the result.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Merge, check and explain module, platform and user values
    Values(Deferred<values::Values>),
    /// Evaluate, check and format CUE
    #[command(subcommand)]
    Cue(Deferred<cue::Command>),
    /// Shared Quadlet and systemd definitions, layered per host
    #[command(subcommand)]
    Host(Deferred<host::Command>),
    /// Resolve, explain and check the overlays of installed apps
    App(Deferred<app::App>),
    /// Run the service: overlays of many tenants, with a page
    Serve(Deferred<serve::Serve>),
    /// The audit chains of the service
    #[command(subcommand)]
    Audit(Deferred<serve::Audit>),
    /// Show the main jobs on the examples that are built in
    Demo(Deferred<demo::Demo>),
    /// Print a completion script for a shell
    ///
    /// Example: lath completions bash > /etc/bash_completion.d/lath
    Completions { shell: clap_complete::Shell },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Values(Deferred(values)) => values::run(&values),
        Command::Cue(Deferred(command)) => cue::run(command),
        Command::Host(Deferred(command)) => host::run(&command),
        Command::App(Deferred(app)) => app::run(&app),
        Command::Serve(Deferred(serve)) => serve::run(&serve),
        Command::Audit(Deferred(command)) => serve::audit(&command),
        Command::Demo(Deferred(demo)) => demo::run(&demo),
        Command::Completions { shell } => completions(shell),
    }
}

fn completions(shell: clap_complete::Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "lath", &mut script);
    match io::stdout().write_all(&script) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::output_failed(&error),
    }
}
