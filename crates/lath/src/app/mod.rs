//! `lath app`: packages, overlays and policy from files, resolved and explained.
//!
//! Reads a package's folder and documents ([`load`]), calls the pure crate `apps`, and prints
//! ([`table`], or JSON). Standard output is data; findings go to standard error. Exit status: 0 fine,
//! 1 findings (a refused or suppressed value, not ready, an upgrade that needs review), 2 usage
//! or a file that cannot be opened. `diagnose` is 0 whatever it finds.

mod import;
mod load;
mod table;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use apps::conflict::Conflict;
use apps::readiness::{self, Status};
use apps::resolve::{Context, Resolved, ResolvedValue, resolve};
use apps::{assemble, bundle, conflicts, upgrade, write};
use clap::{Args, Subcommand, ValueEnum};

use crate::report;
use load::{Failure, Loaded};

#[derive(Args)]
pub struct App {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check a package, and overlays and policies against it
    #[command(after_help = "Examples:
  lath app validate content-factory-app
  lath app validate content-factory-app -f overlays.yaml -f policies.yaml --out json")]
    Validate {
        /// The package's folder
        package: PathBuf,
        #[command(flatten)]
        documents: DocumentArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print every key's effective value and where it comes from
    #[command(after_help = "Examples:
  lath app resolve content-factory-app -f overlays.yaml --tenant acme --workspace marketing
  lath app resolve content-factory-app -f overlays.yaml --tenant acme --set batch_size=5 --out json")]
    Resolve {
        #[command(flatten)]
        question: Question,
        /// Only this key
        #[arg(long, value_name = "K")]
        key: Option<String>,
    },
    /// Print all layers behind one key, and who may change it
    #[command(after_help = "Example:
  lath app explain content-factory-app -f overlays.yaml --tenant acme --key fact_grounding_threshold")]
    Explain {
        #[command(flatten)]
        question: Question,
        /// The key
        #[arg(long, value_name = "K")]
        key: String,
    },
    /// Tell whether the app and its entries can be used, and what to do if not
    #[command(after_help = "Example:
  lath app readiness content-factory-app -f overlays.yaml -f environment.yaml --tenant acme")]
    Readiness {
        #[command(flatten)]
        question: Question,
    },
    /// Tell what an upgrade would do to overlays, before anything is switched
    #[command(after_help = "Example:
  lath app upgrade content-factory-1 content-factory-2 -f overlays.yaml")]
    Upgrade {
        /// The folder of the package in use
        old: PathBuf,
        /// The folder of the package to come
        new: PathBuf,
        #[command(flatten)]
        documents: DocumentArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Send documents to a node of the service, as desired state
    #[command(
        after_help = "LATH_TOKEN holds the token. What is there already is not written again.

Examples:
  LATH_TOKEN=… lath app import config/ --to https://lath.internal
  lath app import overlays.yaml policies.yaml --dry-run"
    )]
    Import {
        /// Files of documents, or folders of such files
        #[arg(required = true, value_name = "FILE")]
        paths: Vec<PathBuf>,
        /// The node
        #[arg(
            long,
            value_name = "URL",
            default_value = "http://127.0.0.1:8420",
            env = "LATH_SERVER"
        )]
        to: String,
        /// Decide everything and write nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print a bundle for support, with private values masked
    #[command(after_help = "Example:
  lath app diagnose content-factory-app -f overlays.yaml --tenant acme --out json > bundle.json")]
    Diagnose {
        #[command(flatten)]
        question: Question,
        /// A file whose bytes key the fingerprints, to compare bundles [default: a key made up for this bundle]
        #[arg(long, value_name = "FILE")]
        fingerprint_key: Option<PathBuf>,
    },
}

#[derive(Args)]
struct DocumentArgs {
    /// A file of documents (overlays, policies, host defaults, an environment), or a folder of such files
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The time to answer for: a date, or RFC 3339 [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

#[derive(Args)]
struct OutputArgs {
    /// A table for people, or JSON for machines
    #[arg(long, value_enum, default_value = "table", value_name = "FORM")]
    out: Out,
    /// How findings are printed
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    report: report::Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Out {
    Table,
    Json,
}

/// For whom something is asked.
#[derive(Args)]
struct Question {
    /// The package's folder
    package: PathBuf,
    #[command(flatten)]
    documents: DocumentArgs,
    #[arg(long, value_name = "T")]
    tenant: String,
    #[arg(long, value_name = "W")]
    workspace: Option<String>,
    #[arg(long, value_name = "U", requires = "workspace")]
    user: Option<String>,
    /// Runtime input: a value for a key, as JSON or else as text
    #[arg(long, value_name = "K=V")]
    set: Vec<String>,
    #[command(flatten)]
    output: OutputArgs,
}

/// What a command came to.
struct Done {
    text: String,
    code: u8,
}

pub fn run(app: &App) -> ExitCode {
    let mut loaded = Loaded::default();
    let output = match &app.command {
        Command::Validate { output, .. }
        | Command::Upgrade { output, .. }
        | Command::Import { output, .. } => output,
        Command::Resolve { question, .. }
        | Command::Explain { question, .. }
        | Command::Readiness { question }
        | Command::Diagnose { question, .. } => &question.output,
    };
    let outcome = match &app.command {
        Command::Validate {
            package, documents, ..
        } => validate(&mut loaded, package, documents, output.out),
        Command::Resolve { question, key } => resolve_all(&mut loaded, question, key.as_deref()),
        Command::Explain { question, key } => explain(&mut loaded, question, key),
        Command::Readiness { question } => ready(&mut loaded, question),
        Command::Upgrade {
            old,
            new,
            documents,
            ..
        } => upgrade(&mut loaded, old, new, documents, output.out),
        Command::Import {
            paths, to, dry_run, ..
        } => import::import(&mut loaded, paths, to, *dry_run, output.out),
        Command::Diagnose {
            question,
            fingerprint_key,
        } => diagnose(&mut loaded, question, fingerprint_key.as_deref()),
    };
    finish(loaded, outcome, output)
}

fn finish(mut loaded: Loaded, outcome: Result<Done, Failure>, output: &OutputArgs) -> ExitCode {
    let (text, code) = match outcome {
        Ok(done) => (done.text, done.code),
        Err(Failure::Findings) => (String::new(), 1),
        Err(Failure::World(message)) => {
            report::print(&mut loaded.findings, &loaded.sources, output.report, "");
            return report::failed(&message);
        }
    };
    let written = io::stdout().write_all(text.as_bytes());
    if let Err(error) = written.and_then(|()| io::stdout().flush()) {
        return report::output_failed(&error);
    }
    report::print(&mut loaded.findings, &loaded.sources, output.report, "");
    ExitCode::from(code)
}

/// 1 where an error was found, else 0.
fn code(loaded: &Loaded) -> u8 {
    u8::from(loaded.findings.iter().any(base::Diagnostic::is_error))
}

/// Keeps conflicts as findings, each once.
fn tell(loaded: &mut Loaded, conflicts: impl IntoIterator<Item = Conflict>) {
    for conflict in conflicts {
        let finding = conflict.diagnostic();
        if !loaded.findings.contains(&finding) {
            loaded.findings.push(finding);
        }
    }
}

fn validate(
    loaded: &mut Loaded,
    package: &std::path::Path,
    documents: &DocumentArgs,
    out: Out,
) -> Result<Done, Failure> {
    loaded.documents(&documents.files)?;
    let package = loaded.package(package)?;
    let now = load::time(documents.at.as_deref())?;
    let snapshot = loaded.snapshot(&package)?;
    let mut told = Vec::new();
    for scope in snapshot.scopes() {
        let context = Context::of(&scope, now);
        let view = resolve(&snapshot, &context);
        let answers = view.all().flat_map(|answer| conflicts::of(&view, &answer));
        told.extend(answers.filter(|c| c.layer.is_none_or(|layer| layer == scope.layer())));
        told.extend(assemble::stray_conflicts(&view));
    }
    tell(loaded, told);
    let text = match out {
        Out::Json => table::package_json(&package),
        Out::Table => table::package(&package, snapshot.scopes().len()),
    };
    Ok(Done {
        text,
        code: code(loaded),
    })
}

/// Everything a question needs, and what to do with it.
fn ask(
    loaded: &mut Loaded,
    question: &Question,
    answer: impl FnOnce(&mut Loaded, &Resolved<'_>) -> Result<Done, Failure>,
) -> Result<Done, Failure> {
    loaded.documents(&question.documents.files)?;
    let package = loaded.package(&question.package)?;
    let snapshot = loaded.snapshot(&package)?;
    let context = loaded.context(&snapshot, question)?;
    answer(loaded, &resolve(&snapshot, &context))
}

fn key<'s>(resolved: &Resolved<'s>, name: &str) -> Result<ResolvedValue<'s>, Failure> {
    resolved.find(name).ok_or_else(|| {
        let keys = &resolved.snapshot.package.keys;
        let near = base::distance::nearest(name, keys.iter().map(|(_, key)| &*key.name));
        Failure::World(match near {
            Some(near) => format!("the app has no key `{name}`; did you mean `{near}`?"),
            None => format!("the app has no key `{name}`"),
        })
    })
}

fn resolve_all(
    loaded: &mut Loaded,
    question: &Question,
    only: Option<&str>,
) -> Result<Done, Failure> {
    ask(loaded, question, |loaded, resolved| {
        let answers = match only {
            Some(name) => vec![key(resolved, name)?],
            None => resolved.all().collect(),
        };
        let strays = match only {
            Some(_) => Vec::new(),
            None => assemble::stray_conflicts(resolved),
        };
        let text = match question.output.out {
            Out::Table => table::resolved(resolved, &answers, &loaded.sources),
            Out::Json => {
                let mut out = table::head_json(resolved);
                out.push_str(",\"values\":[");
                for (at, answer) in answers.iter().enumerate() {
                    out.push_str(if at > 0 { ",\n" } else { "\n" });
                    write::resolved_value(&mut out, resolved, answer, Some(&loaded.sources));
                }
                out.push_str("\n],\"conflicts\":");
                write::all_conflicts(&mut out, &strays, Some(&loaded.sources));
                out.push_str("}\n");
                out
            }
        };
        let told: Vec<Conflict> = answers
            .iter()
            .flat_map(|answer| conflicts::of(resolved, answer))
            .collect();
        tell(loaded, told.into_iter().chain(strays));
        Ok(Done {
            text,
            code: code(loaded),
        })
    })
}

fn explain(loaded: &mut Loaded, question: &Question, name: &str) -> Result<Done, Failure> {
    ask(loaded, question, |loaded, resolved| {
        let answer = key(resolved, name)?;
        let text = match question.output.out {
            Out::Table => table::explained(resolved, &answer, &loaded.sources),
            Out::Json => {
                let mut out = String::new();
                write::resolved_value(&mut out, resolved, &answer, Some(&loaded.sources));
                out.push('\n');
                out
            }
        };
        tell(loaded, conflicts::of(resolved, &answer));
        Ok(Done {
            text,
            code: code(loaded),
        })
    })
}

fn ready(loaded: &mut Loaded, question: &Question) -> Result<Done, Failure> {
    loaded.documents(&question.documents.files)?;
    let shown =
        |title: &str, context: &str, readiness: &readiness::Readiness| match question.output.out {
            Out::Table => table::readiness(title, context, readiness),
            Out::Json => {
                let mut out = String::new();
                readiness.write_json(&mut out);
                out.push('\n');
                out
            }
        };
    let package = match loaded.package(&question.package) {
        Ok(package) => package,
        Err(Failure::Findings) => {
            let failed = readiness::failed(&loaded.findings);
            let text = shown(
                &question.package.display().to_string(),
                &question.tenant,
                &failed,
            );
            return Ok(Done { text, code: 1 });
        }
        Err(failure) => return Err(failure),
    };
    let snapshot = loaded.snapshot(&package)?;
    let context = loaded.context(&snapshot, question)?;
    let resolved = resolve(&snapshot, &context);
    let readiness = readiness::readiness(&resolved);
    let text = shown(&package.title(), &table::context(&context), &readiness);
    let unready = readiness.status != Status::Ready;
    Ok(Done {
        text,
        code: code(loaded).max(u8::from(unready)),
    })
}

fn upgrade(
    loaded: &mut Loaded,
    old: &std::path::Path,
    new: &std::path::Path,
    documents: &DocumentArgs,
    out: Out,
) -> Result<Done, Failure> {
    loaded.documents(&documents.files)?;
    let now = load::time(documents.at.as_deref())?;
    let old = loaded.package(old)?;
    let new = loaded.package(new)?;
    if old.manifest.name != new.manifest.name {
        let (old, new) = (&old.manifest.name, &new.manifest.name);
        let message = format!("`{old}` and `{new}` are two apps, not two versions of one");
        return Err(Failure::World(message));
    }
    let (before, after) = (loaded.snapshot(&old)?, loaded.snapshot(&new)?);
    // What one version does not know is what the report is about.
    loaded
        .findings
        .retain(|finding| finding.code != apps::codes::RULE_WITHOUT_KEY);
    let report = upgrade::upgrade_report(&before, &after, now);
    let text = match out {
        Out::Table => table::upgrade(&report),
        Out::Json => {
            let mut text = String::new();
            report.write_json(&mut text);
            text.push('\n');
            text
        }
    };
    let review = report.verdict != upgrade::Verdict::Safe;
    Ok(Done {
        text,
        code: code(loaded).max(u8::from(review)),
    })
}

fn diagnose(
    loaded: &mut Loaded,
    question: &Question,
    key_file: Option<&std::path::Path>,
) -> Result<Done, Failure> {
    let key = load::fingerprint_key(key_file)?;
    let done = ask(loaded, question, |loaded, resolved| {
        // The bundle tells of conflicts in its own, masked way.
        loaded.findings.clear();
        let json = bundle::bundle(resolved, &key, env!("CARGO_PKG_VERSION"));
        let text = match question.output.out {
            Out::Json => json + "\n",
            Out::Table => table::bundle(resolved),
        };
        Ok(Done { text, code: 0 })
    });
    match done {
        // A package or document that cannot be read is what support wants to know.
        Err(Failure::Findings) => Ok(Done {
            text: table::unreadable(&loaded.findings, question.output.out == Out::Json),
            code: 0,
        }),
        done => done,
    }
}
