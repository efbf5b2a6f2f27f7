//! `lath cue`: the commands of the CUE tool, with its arguments and its plain way to report.
//!
//! Exit status is 0 or 1, as the reference implementation has it. Results go to standard output,
//! all findings to standard error.

use std::io;
use std::process::ExitCode;

use clap::Subcommand;

pub mod disk;
mod documents;
mod evaluate;
mod flags;
mod fmt;
mod import;
mod output;
mod place;
mod plain;
mod schema;
mod session;

#[derive(Subcommand)]
pub enum Command {
    /// Format CUE files
    ///
    /// Files are rewritten in place; `-` formats standard input.
    Fmt(fmt::Arguments),
    /// Evaluate and print data
    Export(evaluate::Arguments),
    /// Evaluate and print CUE
    Eval(evaluate::Arguments),
    /// Check packages, or data against a schema
    Vet(evaluate::Arguments),
    /// Print definitions
    Def(evaluate::Arguments),
    /// Convert data files to CUE files
    Import(import::Arguments),
}

/// Why a command did not do what was asked.
enum Failure {
    /// It has been reported.
    Reported,
    /// Something to say in one line.
    World(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::World(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::World(message)
    }
}

impl Failure {
    fn report(self) -> ExitCode {
        if let Failure::World(message) = self {
            plain::say(&message);
        }
        ExitCode::FAILURE
    }
}

/// Deeply nested input needs a deep stack; pages that are not used cost nothing.
const STACK: usize = cue::runtime::STACK_BYTES;

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

/// Experiments of the language that `CUE_EXPERIMENT` may name, and whether they can still be switched off.
const EXPERIMENTS: [(&str, bool); 11] = [
    ("cmdreferencepkg", false),
    ("decodeint64", false),
    ("embed", false),
    ("evalv3", false),
    ("formatv2", true),
    ("keepvalidators", false),
    ("modules", false),
    ("openapiv2", true),
    ("toposort", false),
    ("yamlgoccy", true),
    ("yamlv3decoder", false),
];

/// Checks the experiments that the environment asks for. Stable ones are always on, the others are not there.
fn check_experiments() -> Result<(), Failure> {
    let wanted = std::env::var("CUE_EXPERIMENT").unwrap_or_default();
    for part in wanted.split(',').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, "1"));
        let known = EXPERIMENTS.iter().find(|(known, _)| *known == name);
        let message = match known {
            None => format!("error in CUE_EXPERIMENT: unknown experiment {name:?}"),
            Some((_, false)) if matches!(value, "0" | "false") => {
                format!("error in CUE_EXPERIMENT: cannot disable stable experiment {name:?}")
            }
            Some((_, true)) if !matches!(value, "0" | "false") => {
                format!("error in CUE_EXPERIMENT: experiment {name:?} is not supported")
            }
            Some(_) => continue,
        };
        return Err(Failure::World(message));
    }
    Ok(())
}

fn dispatch(command: Command) -> ExitCode {
    if let Err(failure) = check_experiments() {
        return failure.report();
    }
    match command {
        Command::Fmt(arguments) => fmt::run(&arguments),
        Command::Export(arguments) => evaluate::run(evaluate::Verb::Export, &arguments),
        Command::Eval(arguments) => evaluate::run(evaluate::Verb::Eval, &arguments),
        Command::Vet(arguments) => evaluate::run(evaluate::Verb::Vet, &arguments),
        Command::Def(arguments) => evaluate::run(evaluate::Verb::Def, &arguments),
        Command::Import(arguments) => import::run(&arguments),
    }
}
