//! `lath host init|plan|apply|agent|status|history|rollback`: the verbs that know this machine.
//!
//! Exit status: 0 done or nothing to do, 3 changes pending (`plan`), 1 findings or a failure, 2 usage.

pub mod args;
mod records;
mod show;
mod source;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use agent::journal::{Journal, Priority};
use agent::layout::Layout;
use agent::notify::notify;
use agent::preflight::Stage;
use agent::run::{self, Ended, Host, Wanted};
use agent::store::{State, Store};
use agent::{Class, Failure};
use clap::Args;

use args::{ApplyArgs, Config, PlaceArgs, PlanArgs, SourceArgs};
pub use records::{HistoryArgs, InitArgs, StatusArgs, history, init, status};

#[derive(Args)]
pub struct PlanVerb {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    plan: PlanArgs,
}

#[derive(Args)]
pub struct ApplyVerb {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    apply: ApplyArgs,
}

#[derive(Args)]
pub struct RollbackVerb {
    /// The generation to go back to [default: the last good one before the installed]
    generation: Option<u64>,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    apply: ApplyArgs,
}

/// Plans and prints; changes nothing.
pub fn plan(verb: &PlanVerb) -> ExitCode {
    let result = planned(verb);
    match result {
        Ok(code) => code,
        Err(failure) => failed(&failure, verb.place.json),
    }
}

fn planned(verb: &PlanVerb) -> Result<ExitCode, Failure> {
    let layout = verb.place.layout()?;
    let source = verb.source.clone().or(Config::read(&layout.config)?);
    let store = Store::look(&layout.state)?;
    let (state, intent) = match &store {
        Some(store) => (store.state()?.0, store.intent()?),
        None => (State::default(), None),
    };
    // A cache of its own: planning neither waits for a run nor disturbs one.
    let scratch = Stage::new(&std::env::temp_dir(), "plan")
        .map_err(|error| Failure::file("make", "a temporary directory", &error))?;
    let wanted = source::wanted(&source, &layout, &state.commit, &scratch.0)?;
    let host = Host::open(layout, verb.plan.settings())?;
    let prepared = host.prepare(&wanted, &state, intent.as_ref(), store.as_ref())?;
    let text = match verb.place.json {
        true => format!("{:#}\n", show::data(&wanted, &prepared, &state)),
        false => show::text(&wanted, &prepared, &state),
    };
    if let Err(error) = io::stdout().write_all(text.as_bytes()) {
        return Ok(crate::report::output_failed(&error));
    }
    if !prepared.plan.conflicts.is_empty() {
        return Err(
            Failure::new(Class::Conflict, "foreign files are in the way")
                .help("remove them, or take them over with --adopt"),
        );
    }
    Ok(ExitCode::from(if prepared.plan.is_empty() { 0 } else { 3 }))
}

/// Brings the host to its desired state, for a person.
pub fn apply(verb: &ApplyVerb) -> ExitCode {
    match changed(verb, "apply") {
        Ok((ended, _)) => said(&ended, verb.place.json),
        Err(failure) => failed(&failure, verb.place.json),
    }
}

/// The same for a timer: another run under way is no failure, progress goes to the manager.
pub fn agent(verb: &ApplyVerb) -> ExitCode {
    notify("READY=1\nSTATUS=starting");
    match changed(verb, "agent") {
        Ok((ended, wanted)) => {
            let commit = show::short(&wanted.commit);
            notify(&format!(
                "STATUS=generation {} at {commit}, {} actions",
                ended.generation, ended.actions
            ));
            said(&ended, verb.place.json)
        }
        Err(failure) if failure.class == Class::Busy => {
            notify("STATUS=another run is under way");
            let _ = writeln!(io::stderr(), "lath: {failure}; leaving");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            notify(&format!(
                "STATUS=failed ({}): {failure}",
                failure.class.word()
            ));
            failed(&failure, verb.place.json)
        }
    }
}

fn changed(verb: &ApplyVerb, origin: &str) -> Result<(Ended, Wanted), Failure> {
    let layout = verb.place.layout()?;
    let config = Config::read(&layout.config)?;
    let source = verb.source.clone().or(config);
    let store = Store::open(&layout.state)?;
    let _lock = store.lock(verb.apply.wait)?;
    let (journal, run, started) = begin(&layout, origin);
    let state = store.state();
    let applied = state
        .as_ref()
        .map_or("", |(state, _)| state.commit.as_str());
    let wanted = source::wanted(&source, &layout, applied, &store.path().join("git"));
    let mut wanted = match wanted {
        Ok(wanted) => wanted,
        Err(failure) => {
            let nothing = Wanted {
                host: source.host.clone().unwrap_or_default(),
                source: source.repo.clone().unwrap_or_default(),
                ..Wanted::default()
            };
            let result = Err(failure.clone());
            run::conclude(&store, &journal.0, &nothing, &run, started, &result)?;
            return Err(failure);
        }
    };
    wanted.origin = origin.to_owned();
    let settings = verb.apply.settings(&verb.plan);
    let ended = reconcile(layout, settings, &store, journal, &run, started, &wanted)?;
    Ok((ended, wanted))
}

/// The journal of this run, with the fields that all its records have.
struct Audit(Journal);

fn begin(layout: &Layout, origin: &str) -> (Audit, String, String) {
    let run = run::run_id();
    let mut journal = if layout.live {
        Journal::open()
    } else {
        Journal::silent()
    };
    journal.set("LATH_RUN_ID", run.clone());
    journal.set("LATH_VERB", origin);
    (Audit(journal), run, run::now())
}

fn reconcile(
    layout: Layout,
    settings: run::Settings,
    store: &Store,
    mut journal: Audit,
    run: &str,
    started: String,
    wanted: &Wanted,
) -> Result<Ended, Failure> {
    journal.0.set("LATH_HOST", wanted.host.clone());
    journal.0.set("LATH_COMMIT", wanted.commit.clone());
    journal.0.set("LATH_SOURCE", wanted.source.clone());
    let message = format!(
        "run begins for {} at {}",
        wanted.host,
        show::short(&wanted.commit)
    );
    journal.0.record(
        Priority::Notice,
        &message,
        &[("LATH_ACTION", "begin"), ("LATH_RESULT", "done")],
    );
    let watched = io::stderr().is_terminal();
    let progress = |step: &str| {
        if watched {
            let _ = writeln!(io::stderr(), "  {step}");
        }
    };
    let host = Host::open(layout, settings);
    let result = host.and_then(|host| host.apply(wanted, store, run, &journal.0, &progress));
    let concluded = run::conclude(store, &journal.0, wanted, run, started, &result);
    let ended = result?;
    concluded?;
    Ok(ended)
}

/// Goes back to an earlier generation and holds the installed one back.
pub fn rollback(verb: &RollbackVerb) -> ExitCode {
    match rolled_back(verb) {
        Ok(ended) => said(&ended, verb.place.json),
        Err(failure) => failed(&failure, verb.place.json),
    }
}

fn rolled_back(verb: &RollbackVerb) -> Result<Ended, Failure> {
    let layout = verb.place.layout()?;
    let store = Store::open(&layout.state)?;
    let _lock = store.lock(verb.apply.wait)?;
    let (journal, run, started) = begin(&layout, "rollback");
    let (mut state, _) = store.state()?;
    let installed = state.generation.number;
    let all = store.generations()?;
    let chosen = match verb.generation {
        Some(number) => all
            .into_iter()
            .find(|generation| generation.number == number),
        None => all
            .into_iter()
            .rev()
            .find(|generation| generation.good && generation.number < installed),
    };
    let mut chosen = chosen.ok_or_else(|| {
        Failure::new(Class::Usage, "there is no such generation")
            .help("`lath host history` lists them")
    })?;
    store.load_contents(&mut chosen.target)?;
    // What is left behind is not to come back with the next run of the agent.
    state.failed = Some(agent::store::Failed {
        commit: state.generation.commit.clone(),
        digest: state.generation.target.digest().0,
        time: run::now(),
        reason: "rolled back by hand".to_owned(),
    });
    let held = state.failed.clone();
    store.set_state(&state)?;
    let wanted = Wanted {
        host: state.host.clone(),
        source: chosen.source.clone(),
        commit: chosen.commit.clone(),
        subject: chosen.subject.clone(),
        origin: format!("rollback to {}", chosen.number),
        target: chosen.target,
    };
    let settings = verb.apply.settings(&PlanArgs {
        retry: true,
        ..PlanArgs::default()
    });
    let ended = reconcile(layout, settings, &store, journal, &run, started, &wanted)?;
    // The run recorded its own success; the commit left behind stays held back.
    let (mut state, _) = store.state()?;
    state.commit = held
        .as_ref()
        .map_or_else(String::new, |failed| failed.commit.clone());
    state.failed = held;
    store.set_state(&state)?;
    Ok(ended)
}

fn said(ended: &Ended, json: bool) -> ExitCode {
    let text = match (json, &ended.held) {
        (true, _) => format!(
            "{}\n",
            serde_json::json!({"actions": ended.actions, "generation": ended.generation, "held": ended.held})
        ),
        (false, Some(failed)) => format!(
            "held back: {} failed on {}: {}; generation {} is kept (--retry to try again)\n",
            show::short(&failed.commit),
            failed.time,
            failed.reason,
            ended.generation
        ),
        (false, None) if ended.actions == 0 => {
            format!("nothing to do, generation {}\n", ended.generation)
        }
        (false, None) => format!(
            "generation {} is installed, {} actions\n",
            ended.generation, ended.actions
        ),
    };
    if let Err(error) = io::stdout().write_all(text.as_bytes()) {
        return crate::report::output_failed(&error);
    }
    ExitCode::from(u8::from(ended.held.is_some()))
}

/// A failure: its class, what happened, what was said, what to do.
pub fn failed(failure: &Failure, json: bool) -> ExitCode {
    let mut out = String::new();
    if json {
        let value = serde_json::json!({
            "class": failure.class.word(),
            "message": failure.message,
            "details": failure.details,
            "help": failure.help,
        });
        let _ = writeln!(io::stdout(), "{value}");
    }
    out.push_str(&format!(
        "lath: {}: {}\n",
        failure.class.word(),
        failure.message
    ));
    for line in failure
        .details
        .iter()
        .filter(|line| **line != failure.message)
    {
        out.push_str(&format!("  {line}\n"));
    }
    if let Some(help) = &failure.help {
        out.push_str(&format!("  help: {help}\n"));
    }
    let _ = io::stderr().write_all(out.as_bytes());
    ExitCode::from(if failure.class == Class::Usage { 2 } else { 1 })
}
