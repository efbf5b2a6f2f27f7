//! `lath values`: module, platform and user values, merged with locks and explained.
//!
//! Reads the files ([`load`], [`read`]), calls the pure crate `values`, and prints. Standard output is data and
//! stays empty where there are findings; findings go to standard error.

mod args;
mod cue_files;
mod diff;
mod document;
mod inspect;
mod load;
mod output;
mod progress;
mod read;
mod schema;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use base::Diagnostic;
use clap::{Args, Subcommand};
use values::{Context, Merged, Options, codes};

use crate::report;
use args::{Common, Format, Report};
use load::{Loaded, Stack};
use progress::Progress;

#[derive(Args)]
pub struct Values {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Merge all tiers and print the effective values
    ///
    /// Maps merge field by field; lists and scalars are replaced. A concrete platform value is
    /// locked: a user's different value is an error.
    #[command(after_help = "Examples:
  lath values merge webapp.yaml --platform prod.yaml --user my.yaml
  lath values merge webapp.yaml --platform-defaults house.yaml --set replicas=3 --out json
  lath values merge webapp.yaml --overlay prod.yaml --overlay my.yaml
  generate | lath values merge webapp.yaml --user - --format yaml")]
    Merge {
        /// The module's values: a file, a directory, or `-`
        module: String,
        #[command(flatten)]
        common: Common,
        /// The format to print [default: the module's]
        #[arg(long, value_name = "FORMAT")]
        out: Option<Format>,
    },
    /// Check all tiers: syntax, marks, locks and the schema
    #[command(after_help = "Examples:
  lath values validate webapp.yaml my.yaml
  lath values validate webapp.yaml --platform prod.yaml --user my.yaml --schema values.schema.json
  lath values validate webapp.yaml --platform prod.yaml my.yaml --report sarif 2> findings.sarif")]
    Validate {
        /// The module's values: a file, a directory, or `-`
        module: String,
        #[command(flatten)]
        common: Common,
    },
    /// Show where every value comes from, and what may be changed
    #[command(after_help = "Examples:
  lath values inspect webapp.yaml --platform prod.yaml --user my.yaml
  lath values inspect webapp.yaml --platform prod.yaml --only overridable
  lath values inspect webapp.yaml --platform prod.yaml --path resources.limits.cpu
  lath values inspect webapp.yaml --platform prod.yaml --out yaml > annotated.yaml")]
    Inspect {
        /// The module's values: a file, a directory, or `-`
        module: String,
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        view: inspect::View,
    },
    /// Show what each tier changes, or how two stacks differ
    #[command(after_help = "Examples:
  lath values diff --base webapp.yaml --platform prod.yaml --user my.yaml
  lath values diff --base webapp.yaml --platform prod.yaml --against webapp.yaml --platform test.yaml
  lath values diff --base webapp-1.yaml --user my.yaml --against webapp-2.yaml --user my.yaml")]
    Diff(diff::DiffArgs),
    /// Check only whether users' values conflict with locks, before a pull request
    #[command(after_help = "Example:
  lath values check webapp.yaml --platform prod.yaml --user my.yaml")]
    Check {
        /// The module's values: a file, a directory, or `-`
        module: String,
        #[command(flatten)]
        common: Common,
    },
    /// Print the module's schema as JSON Schema, for editors and for Helm
    #[command(after_help = "Examples:
  lath values schema webapp > values.schema.json
  lath values schema webapp.cue")]
    Schema {
        /// The module: a file, a directory, or `-`
        module: String,
        #[command(flatten)]
        common: Common,
    },
}

pub fn run(values: &Values) -> ExitCode {
    match &values.command {
        Command::Merge {
            module,
            common,
            out,
        } => watched(common, |loaded| {
            let stack = loaded.stack(module, common);
            single(
                loaded,
                &stack,
                &options(common),
                &mut |merged, context, found| {
                    let format = out.unwrap_or(stack.format);
                    output::values(merged, context, format, common.bare)
                        .map_err(|finding| found.push(*finding))
                        .ok()
                },
            )
        }),
        Command::Validate { module, common } => watched(common, |loaded| {
            let stack = loaded.stack(module, common);
            single(loaded, &stack, &options(common), &mut |merged, _, _| {
                let leaves = output::leaf_count(merged);
                let files = output::plural(merged.parts.len(), "layer");
                Some(format!(
                    "valid: {} from {files}\n",
                    output::plural(leaves, "value")
                ))
            })
        }),
        Command::Check { module, common } => watched(common, |loaded| {
            let stack = loaded.stack(module, common);
            let options = Options {
                locks_only: true,
                ..options(common)
            };
            single(loaded, &stack, &options, &mut |merged, _, found| {
                let of_locks = [codes::LOCKED_VALUE, data::codes::MORE_FINDINGS];
                found.retain(|finding| of_locks.contains(&finding.code));
                let locks = output::plural(output::lock_count(merged), "locked value");
                Some(format!("no conflicts: {locks}, all respected\n"))
            })
        }),
        Command::Inspect {
            module,
            common,
            view,
        } => watched(common, |loaded| {
            let stack = loaded.stack(module, common);
            single(
                loaded,
                &stack,
                &options(common),
                &mut |merged, context, found| {
                    inspect::listing(merged, &stack, view, common.bare, context, found)
                },
            )
        }),
        Command::Schema { module, common } => {
            watched(common, |loaded| schema::run(loaded, module, common))
        }
        Command::Diff(args) => watched(&args.common, |loaded| diff::run(loaded, args)),
    }
}

/// What a run came to: text for standard output, and whether there were errors.
struct Outcome {
    text: Option<String>,
    findings: Vec<Diagnostic>,
}

/// Makes the text of a command from what was merged; may add findings or take some away.
type Make<'a> = dyn FnMut(&Merged<'_>, Context<'_>, &mut Vec<Diagnostic>) -> Option<String> + 'a;

/// Merges one stack and makes a command's text of it.
fn single(loaded: &mut Loaded, stack: &Stack, options: &Options, make: &mut Make<'_>) -> Outcome {
    let mut findings = std::mem::take(&mut loaded.findings);
    let unread = findings.iter().any(Diagnostic::is_error);
    if unread || !loaded.failures.is_empty() {
        return Outcome {
            text: None,
            findings,
        };
    }
    let context = Context {
        symbols: &loaded.symbols,
        sources: &loaded.sources,
    };
    let (merged, mut found) =
        values::merge(&stack.evaluated, stack.schema.as_ref(), options, context);
    let text = make(&merged, context, &mut found);
    findings.extend(found);
    Outcome { text, findings }
}

fn options(common: &Common) -> Options {
    Options {
        at: common.at.clone(),
        null_deletes: common.null_deletes,
        locks_only: false,
        evaluate_all: false,
    }
}

/// Runs once, or again and again when `--watch` is given.
fn watched(common: &Common, mut run: impl FnMut(&mut Loaded) -> Outcome) -> ExitCode {
    loop {
        let mut loaded = Loaded::default();
        let progress = Progress::start("reading and merging");
        let outcome = run(&mut loaded);
        drop(progress);
        if common.watch && loaded.stdin {
            return report::failed("standard input `-` cannot be watched");
        }
        let (code, heard) = finish(&loaded, outcome, common.report);
        if !common.watch || !heard {
            return code;
        }
        while !loaded.is_stale() {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Prints findings and output, and says how it went and whether standard output is still open.
fn finish(loaded: &Loaded, outcome: Outcome, form: Report) -> (ExitCode, bool) {
    let Outcome { text, mut findings } = outcome;
    let failed = findings.iter().any(Diagnostic::is_error);
    let ending = match failed || !loaded.failures.is_empty() {
        true => "Nothing was written.",
        false => "",
    };
    if form == Report::Document {
        document::print(&mut findings, &loaded.sources);
    }
    if form != Report::Document || !findings.is_empty() {
        report::print(&mut findings, &loaded.sources, form.format(), ending);
    }
    let mut code = ExitCode::SUCCESS;
    for failure in &loaded.failures {
        code = report::failed(&failure.0);
    }
    if !loaded.failures.is_empty() {
        return (code, true);
    }
    if failed {
        return (ExitCode::from(1), true);
    }
    let text = text.unwrap_or_default();
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => (ExitCode::SUCCESS, true),
        Err(error) => (report::output_failed(&error), false),
    }
}
