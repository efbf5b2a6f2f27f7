//! Arguments of the verbs that plan and change a host, and the configuration file they fall back on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent::git::Source;
use agent::layout::Layout;
use agent::run::Settings;
use agent::{Class, Failure};
use clap::Args;
use serde::{Deserialize, Serialize};
use units::Version;

use crate::{number, report};

/// Where the desired state comes from, and which host this is.
#[derive(Args, Clone)]
pub struct SourceArgs {
    /// The repository: a directory, or what git takes as a URL
    #[arg(long, value_name = "PATH|URL")]
    pub repo: Option<String>,
    /// A branch, tag or commit [default: the directory as it is, or the remote's default branch]
    #[arg(long, value_name = "REV")]
    pub rev: Option<String>,
    /// The host; without it `LATH_HOST`, then this machine's name
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// A file with `token` or `user:token` for https
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The private key for ssh
    #[arg(long, value_name = "FILE")]
    pub ssh_key: Option<PathBuf>,
    /// The keys of known ssh servers, in place of the usual files
    #[arg(long, value_name = "FILE")]
    pub known_hosts: Option<PathBuf>,
    /// Refuse a commit that none of these signers has signed (ssh's `allowed_signers`)
    #[arg(long, value_name = "ALLOWED_SIGNERS")]
    pub require_signed_by: Option<PathBuf>,
    /// Take a commit that does not descend from the applied one
    #[arg(long)]
    pub allow_rewind: bool,
    /// Take two different values of one layer as errors
    #[arg(long)]
    pub strict: bool,
    /// Allow only the keys that this release of podman knows
    #[arg(long, value_name = "VERSION", value_parser = Version::parse)]
    pub podman: Option<Version>,
    /// How findings are printed
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub report: report::Format,
}

/// Which directories are meant.
#[derive(Args, Clone)]
pub struct PlaceArgs {
    /// Work on the system below this directory, without its systemd
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    pub root: Option<PathBuf>,
    /// Work on the calling user's units
    #[arg(long)]
    pub user: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl PlaceArgs {
    pub fn layout(&self) -> Result<Layout, Failure> {
        match &self.root {
            Some(root) => Ok(Layout::below(root)),
            None if self.user => Layout::user(|name| std::env::var_os(name).map(PathBuf::from)),
            None => Ok(Layout::system()),
        }
    }
}

/// What a plan may do.
#[derive(Args, Clone, Default)]
pub struct PlanArgs {
    /// Take over foreign files that are in the way; copies are kept
    #[arg(long)]
    pub adopt: bool,
    /// Try a commit again that failed before
    #[arg(long)]
    pub retry: bool,
    /// Delete the podman volumes of `.volume` files that go away
    #[arg(long)]
    pub purge_volumes: bool,
}

/// How a plan is executed.
#[derive(Args, Clone)]
pub struct ApplyArgs {
    /// Leave the host as it is when a unit does not come up
    #[arg(long)]
    pub no_rollback: bool,
    /// Wait for another run to end
    #[arg(long)]
    pub wait: bool,
    /// How many seconds a unit may take to start or stop
    #[arg(long, value_name = "SECONDS", default_value_t = 120, allow_negative_numbers = true, value_parser = number::positive::<u32>)]
    pub timeout: u32,
    /// How many seconds a unit must stay up
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, allow_negative_numbers = true, value_parser = number::seconds)]
    pub settle: f32,
}

impl PlanArgs {
    pub fn settings(&self) -> Settings {
        Settings {
            options: hosts::plan::Options {
                adopt: self.adopt,
                purge_volumes: self.purge_volumes,
            },
            retry: self.retry,
            ..Settings::default()
        }
    }
}

impl ApplyArgs {
    pub fn settings(&self, plan: &PlanArgs) -> Settings {
        Settings {
            no_rollback: self.no_rollback,
            timeout: Duration::from_secs(self.timeout.into()),
            settle: Duration::try_from_secs_f32(self.settle).unwrap_or_default(),
            ..plan.settings()
        }
    }
}

/// What `lath host init` writes and the other verbs fall back on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh_key: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_hosts: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_signed_by: Option<PathBuf>,
}

impl Config {
    pub fn read(path: &Path) -> Result<Config, Failure> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Config::default()),
            Err(error) => return Err(Failure::file("read", &path.display().to_string(), &error)),
        };
        toml::from_str(&text).map_err(|error| {
            let message = format!("`{}` is not as it should be", path.display());
            Failure::new(Class::Usage, message)
                .details(error.to_string().lines().map(str::to_owned))
        })
    }
}

impl SourceArgs {
    /// Fills in what the configuration file says and the command line does not.
    pub fn or(mut self, config: Config) -> SourceArgs {
        // A revision belongs to its repository.
        if self.repo.is_none() {
            self.rev = self.rev.or(config.rev);
        }
        self.repo = self.repo.or(config.repo);
        self.host = self.host.or(config.host);
        self.token_file = self.token_file.or(config.token_file);
        self.ssh_key = self.ssh_key.or(config.ssh_key);
        self.known_hosts = self.known_hosts.or(config.known_hosts);
        self.require_signed_by = self.require_signed_by.or(config.require_signed_by);
        self
    }

    /// The repository as git sees it; none when it is a directory that is read as it is.
    pub fn git(&self) -> Option<Source> {
        let repo = self.repo.as_deref().unwrap_or(".");
        let remote = repo.contains("://") || is_scp_like(repo);
        let bare =
            Path::new(repo).join("HEAD").is_file() && Path::new(repo).join("objects").is_dir();
        if !remote && !bare && self.rev.is_none() && self.require_signed_by.is_none() {
            return None;
        }
        let url = match remote {
            true => repo.to_owned(),
            // git runs elsewhere, so the path must not depend on where.
            false => Path::new(repo)
                .canonicalize()
                .map_or_else(|_| repo.to_owned(), |path| path.display().to_string()),
        };
        Some(Source {
            url,
            rev: self.rev.clone(),
            token_file: self.token_file.clone(),
            ssh_key: self.ssh_key.clone(),
            known_hosts: self.known_hosts.clone(),
            signers: self.require_signed_by.clone(),
        })
    }
}

/// `git@host:path`, and no directory of that name.
fn is_scp_like(repo: &str) -> bool {
    let Some((host, _)) = repo.split_once(':') else {
        return false;
    };
    !host.is_empty() && !host.contains('/') && !Path::new(repo).exists()
}
