//! `lath host`: reads a repository, evaluates it for a host and prints or writes the result.
//!
//! Exit status: 0 fine (warnings too), 1 an error among the findings, 2 usage or a file that cannot
//! be opened.

mod identity;
mod json;
mod print;
mod read;
mod reconcile;
mod table;
mod write;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base::Diagnostic;
use clap::{Args, Subcommand, ValueEnum};
use hosts::{Evaluated, HostName, Options, Repository};
use units::Version;

use crate::report;

#[derive(Subcommand)]
pub enum Command {
    /// Check every service and every host, selected or not
    ///
    /// Example: lath host check --repo . --report sarif
    Check(CheckArgs),
    /// Print or write the desired state of one host
    ///
    /// Example: lath host evaluate --host kadath --into out
    Evaluate(EvaluateArgs),
    /// Say why a directive or a file is what it is
    ///
    /// Example: lath host explain traefik.container PublishPort --host kadath
    Explain(ExplainArgs),
    /// What differs between two hosts
    ///
    /// Example: lath host diff kadath rlyeh
    Diff(DiffArgs),
    /// Write down where this host's desired state comes from
    ///
    /// Example: lath host init --repo https://git.example.org/hosts.git --rev main
    Init(reconcile::InitArgs),
    /// Show what `apply` would do, and change nothing
    ///
    /// Exit status: 0 nothing to do, 3 changes pending, 1 findings or failure.
    ///
    /// Example: lath host plan --repo . --host kadath
    Plan(reconcile::PlanVerb),
    /// Bring this host to its desired state
    ///
    /// Example: lath host apply --repo https://git.example.org/hosts.git --rev main
    Apply(reconcile::ApplyVerb),
    /// The same, unattended: for a timer
    ///
    /// Example: systemctl enable --now lath-host.timer
    Agent(reconcile::ApplyVerb),
    /// How the last run went and what is installed
    Status(reconcile::StatusArgs),
    /// What was installed before and can be gone back to
    History(reconcile::HistoryArgs),
    /// Go back to an earlier generation
    ///
    /// The commit that is left behind is held back until it changes or `apply --retry`.
    ///
    /// Example: lath host rollback 3
    Rollback(reconcile::RollbackVerb),
}

#[derive(Args)]
struct RepositoryArgs {
    /// The repository: a directory with `services/` and `hosts/`
    #[arg(long, value_name = "PATH", default_value = ".")]
    repo: PathBuf,
    /// Take two different values of one layer as errors
    #[arg(long)]
    strict: bool,
    /// Allow only the keys that this release of podman knows
    #[arg(long, value_name = "VERSION", value_parser = Version::parse)]
    podman: Option<Version>,
    /// How findings are printed
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    report: report::Format,
}

#[derive(Args)]
struct HostArgs {
    /// The host; without it `LATH_HOST`, then this machine's name
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Take the machine's name from the system below this directory
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

#[derive(Args)]
struct OutArgs {
    /// How the result is printed
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    out: Out,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Out {
    /// For people
    Text,
    /// One JSON object, with provenance
    Json,
}

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    repository: RepositoryArgs,
}

#[derive(Args)]
pub struct EvaluateArgs {
    #[command(flatten)]
    repository: RepositoryArgs,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    out: OutArgs,
    /// The calling user's own units: `~/.config` in place of `/etc`
    #[arg(long)]
    user: bool,
    /// Write the files below this directory, which must be empty or absent
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

#[derive(Args)]
pub struct ExplainArgs {
    /// A unit (`traefik.container`) or a path on the host (`/etc/traefik/traefik.toml`)
    subject: String,
    /// A key of the unit: `PublishPort` or `Container.PublishPort`; without it, all keys
    key: Option<String>,
    #[command(flatten)]
    repository: RepositoryArgs,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    out: OutArgs,
}

#[derive(Args)]
pub struct DiffArgs {
    /// The host on the left
    left: String,
    /// The host on the right
    right: String,
    #[command(flatten)]
    repository: RepositoryArgs,
    #[command(flatten)]
    out: OutArgs,
}

pub fn run(command: &Command) -> ExitCode {
    let done = match command {
        Command::Check(args) => check(args),
        Command::Evaluate(args) => evaluate(args),
        Command::Explain(args) => explain(args),
        Command::Diff(args) => diff(args),
        Command::Init(args) => return reconcile::init(args),
        Command::Plan(args) => return reconcile::plan(args),
        Command::Apply(args) => return reconcile::apply(args),
        Command::Agent(args) => return reconcile::agent(args),
        Command::Status(args) => return reconcile::status(args),
        Command::History(args) => return reconcile::history(args),
        Command::Rollback(args) => return reconcile::rollback(args),
    };
    done.unwrap_or_else(|message| report::failed(&message))
}

impl RepositoryArgs {
    fn read(&self) -> Result<Repository, String> {
        read::repository(&self.repo)
    }

    fn options(&self) -> Options {
        Options {
            podman: self.podman.unwrap_or(Version::NEWEST),
            strict: self.strict,
        }
    }

    /// Prints the findings; the status says whether there was an error among them.
    fn report(
        &self,
        repository: &Repository,
        mut findings: Vec<Diagnostic>,
        ending: &str,
    ) -> ExitCode {
        let failed = findings.iter().any(Diagnostic::is_error);
        let ending = if failed { ending } else { "" };
        report::print(&mut findings, &repository.sources, self.report, ending);
        ExitCode::from(u8::from(failed))
    }
}

fn check(args: &CheckArgs) -> Result<ExitCode, String> {
    let repository = args.repository.read()?;
    let findings = hosts::check(&repository, &args.repository.options());
    Ok(args.repository.report(&repository, findings, ""))
}

fn evaluate(args: &EvaluateArgs) -> Result<ExitCode, String> {
    let repository = args.repository.read()?;
    let host = match identity::host(&args.host)? {
        Ok(host) => host,
        Err(finding) => {
            let ending = "Nothing was written.";
            return Ok(args.repository.report(&repository, vec![*finding], ending));
        }
    };
    let mut evaluated = hosts::evaluate(&repository, &host, &args.repository.options());
    let findings = std::mem::take(&mut evaluated.findings);
    let failed = findings.iter().any(Diagnostic::is_error);
    let status = args
        .repository
        .report(&repository, findings, "Nothing was written.");
    if failed {
        return Ok(status);
    }
    if args.user {
        evaluated.for_user();
    }
    if let Some(directory) = &args.into {
        write::into(&repository, &args.repository.repo, &evaluated, directory)?;
    }
    let text = match args.out.out {
        Out::Json => {
            let digest = |entry: &str| read::digest(&args.repository.repo, entry);
            json::evaluated(&repository, &evaluated, args.user, digest)?
        }
        Out::Text => print::evaluated(&repository, &evaluated),
    };
    Ok(output(&text, status))
}

fn explain(args: &ExplainArgs) -> Result<ExitCode, String> {
    let repository = args.repository.read()?;
    let host = match identity::host(&args.host)? {
        Ok(host) => host,
        Err(finding) => return Ok(args.repository.report(&repository, vec![*finding], "")),
    };
    let mut evaluated = hosts::evaluate(&repository, &host, &args.repository.options());
    let findings = std::mem::take(&mut evaluated.findings);
    let status = args.repository.report(&repository, findings, "");
    let subject = args.subject.as_str();
    let chains = match &args.key {
        _ if subject.starts_with('/') => {
            hosts::explain::file(&repository, &evaluated, subject).map(|chain| vec![chain])
        }
        Some(key) => hosts::explain::key(&repository, &evaluated, subject, key),
        None => hosts::explain::all_keys(&repository, &evaluated, subject),
    }?;
    let text = match args.out.out {
        Out::Json => json::chains(&chains),
        Out::Text => print::chains(&chains),
    };
    Ok(output(&text, status))
}

fn diff(args: &DiffArgs) -> Result<ExitCode, String> {
    let repository = args.repository.read()?;
    let options = args.repository.options();
    let [left, right] = [&args.left, &args.right].map(|name| HostName::new(name));
    let (left, right) = (left?, right?);
    let mut left = hosts::evaluate(&repository, &left, &options);
    let mut right = hosts::evaluate(&repository, &right, &options);
    let mut findings = std::mem::take(&mut left.findings);
    findings.append(&mut right.findings);
    let failed = findings.iter().any(Diagnostic::is_error);
    let status = args.repository.report(&repository, findings, "");
    if failed {
        return Ok(status);
    }
    let differences = compare(&repository, &args.repository.repo, &left, &right)?;
    let text = match args.out.out {
        Out::Json => json::differences(&left, &right, &differences),
        Out::Text => print::differences(&left, &right, &differences),
    };
    Ok(output(&text, status))
}

fn compare(
    repository: &Repository,
    root: &Path,
    left: &Evaluated,
    right: &Evaluated,
) -> Result<Vec<hosts::diff::Difference>, String> {
    let mut failure = None;
    let mut same = |a, b| {
        let (a, b) = (repository.entry(a), repository.entry(b));
        a.size == b.size
            && read::same_content(root, &a.path, &b.path).unwrap_or_else(|e| {
                failure = Some(e);
                false
            })
    };
    let differences = hosts::diff::diff(left, right, &mut same);
    match failure {
        Some(message) => Err(message),
        None => Ok(differences),
    }
}

fn output(text: &str, status: ExitCode) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => status,
        Err(error) => report::output_failed(&error),
    }
}
