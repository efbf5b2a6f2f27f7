//! `init`, `status` and `history`: the configuration file and what earlier runs recorded.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

use agent::store::{Generation, State, Store};
use agent::{Class, Failure};
use clap::Args;

use super::args::{Config, PlaceArgs, SourceArgs};
use super::{failed, show};

#[derive(Args)]
pub struct InitArgs {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    place: PlaceArgs,
    /// Replace an existing configuration
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
pub struct StatusArgs {
    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(Args)]
pub struct HistoryArgs {
    #[command(flatten)]
    place: PlaceArgs,
}

fn print(text: Result<String, Failure>, json: bool) -> ExitCode {
    match text {
        Ok(text) => match io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => crate::report::output_failed(&error),
        },
        Err(failure) => failed(&failure, json),
    }
}

/// Writes the configuration that the other verbs fall back on.
pub fn init(args: &InitArgs) -> ExitCode {
    print(initialised(args), args.place.json)
}

fn initialised(args: &InitArgs) -> Result<String, Failure> {
    let layout = args.place.layout()?;
    let path = layout.config.display().to_string();
    let Some(repo) = args.source.repo.clone() else {
        return Err(Failure::new(Class::Usage, "which repository?").help("say so with --repo URL"));
    };
    if layout.config.exists() && !args.force {
        let message = format!("`{path}` is there already");
        return Err(Failure::new(Class::Usage, message).help("edit it, or replace it with --force"));
    }
    let config = Config {
        repo: Some(repo),
        rev: args.source.rev.clone(),
        host: args.source.host.clone(),
        token_file: args.source.token_file.clone(),
        ssh_key: args.source.ssh_key.clone(),
        known_hosts: args.source.known_hosts.clone(),
        require_signed_by: args.source.require_signed_by.clone(),
    };
    let text = toml::to_string(&config).expect("texts and paths become TOML");
    let written = layout
        .config
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&layout.config, text));
    written.map_err(|error| Failure::file("write", &path, &error))?;
    let scope = if layout.user { " --user" } else { "" };
    Ok(format!(
        "wrote {path}\n\
         look first:   lath host plan{scope}\n\
         then:         lath host apply{scope}\n\
         unattended:   systemctl{scope} enable --now lath-host.timer\n"
    ))
}

fn state(place: &PlaceArgs) -> Result<(Option<Store>, State), Failure> {
    let layout = place.layout()?;
    let store = Store::look(&layout.state)?;
    let state = match &store {
        Some(store) => store.state()?.0,
        None => State::default(),
    };
    Ok((store, state))
}

/// How the last run went and what is installed.
pub fn status(args: &StatusArgs) -> ExitCode {
    print(told(args), args.place.json)
}

fn told(args: &StatusArgs) -> Result<String, Failure> {
    let (store, state) = state(&args.place)?;
    let last = match &store {
        Some(store) => store.status()?,
        None => None,
    };
    let cut_short = match &store {
        Some(store) => store.intent()?.map(|intent| intent.run),
        None => None,
    };
    let generation = &state.generation;
    if args.place.json {
        let value = serde_json::json!({
            "host": state.host,
            "commit": state.commit,
            "generation": {
                "number": generation.number,
                "commit": generation.commit,
                "time": generation.time,
                "good": generation.good,
                "files": generation.target.files.len(),
                "units": generation.target.units.len(),
            },
            "failed": state.failed,
            "last_run": last,
            "cut_short": cut_short,
        });
        return Ok(format!("{value:#}\n"));
    }
    let mut out = String::new();
    if generation.number == 0 {
        out.push_str("nothing is installed\n");
    } else {
        let _ = writeln!(
            out,
            "{}: generation {} from {}, {} files, {} units, since {}",
            state.host,
            generation.number,
            origin(generation),
            generation.target.files.len(),
            generation.target.units.len(),
            generation.time
        );
    }
    if let Some(failed) = &state.failed {
        let _ = writeln!(
            out,
            "held back: {}: {}",
            show::short(&failed.commit),
            failed.reason
        );
    }
    if let Some(last) = last {
        let why = match (&last.class, &last.message) {
            (Some(class), Some(message)) => format!(" ({class}): {message}"),
            _ => String::new(),
        };
        let _ = writeln!(
            out,
            "last run {} ended {}: {}{why}",
            last.run, last.ended, last.result
        );
    }
    if let Some(run) = cut_short {
        let _ = writeln!(out, "run {run} was cut short; the next run finishes it");
    }
    Ok(out)
}

/// Where a generation came from: its commit, or the directory that was read.
fn origin(generation: &Generation) -> String {
    match generation.commit.is_empty() {
        true => generation.source.clone(),
        false => format!(
            "{} \"{}\"",
            show::short(&generation.commit),
            generation.subject
        ),
    }
}

/// The generations that can be gone back to.
pub fn history(args: &HistoryArgs) -> ExitCode {
    print(listed(args), args.place.json)
}

fn listed(args: &HistoryArgs) -> Result<String, Failure> {
    let (store, state) = state(&args.place)?;
    let all: Vec<Generation> = match &store {
        Some(store) => store.generations()?,
        None => Vec::new(),
    };
    if args.place.json {
        let all: Vec<_> = all
            .iter()
            .map(|generation| {
                serde_json::json!({
                    "number": generation.number,
                    "time": generation.time,
                    "commit": generation.commit,
                    "subject": generation.subject,
                    "origin": generation.origin,
                    "run": generation.run,
                    "good": generation.good,
                    "installed": generation.number == state.generation.number,
                    "files": generation.target.files.len(),
                })
            })
            .collect();
        return Ok(format!("{:#}\n", serde_json::Value::from(all)));
    }
    let mut out = String::new();
    for generation in all.iter().rev() {
        let mark = match (
            generation.number == state.generation.number,
            generation.good,
        ) {
            (true, _) => '*',
            (false, true) => ' ',
            (false, false) => '!',
        };
        let _ = writeln!(
            out,
            "{mark} {:>4}  {}  {:14}  {}",
            generation.number,
            generation.time,
            generation.origin,
            origin(generation)
        );
    }
    if out.is_empty() {
        out.push_str("nothing was ever installed\n");
    }
    Ok(out)
}
