//! `lath demo`: the main jobs of every surface, run for real on the examples that are built in.
//!
//! The examples are unpacked into a fresh directory, and each step runs this very program there,
//! so that what is shown is what a user gets. Nothing outside that directory is touched.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use rust_embed::RustEmbed;

use crate::{report, serve};

#[derive(RustEmbed)]
#[folder = "../../examples"]
pub struct Examples;

#[derive(Args)]
pub struct Demo {
    /// Keep the directory with the unpacked examples, and say where it is
    #[arg(long)]
    keep: bool,
    /// Afterwards run the service with its example, as `lath serve --demo` does
    #[arg(long)]
    serve: bool,
}

/// One thing to show: what it is about, and the command.
struct Step {
    about: &'static str,
    /// Arguments of `lath`, split at white space.
    command: &'static str,
    /// The exit status that belongs to it: findings are part of the show.
    exit: i32,
}

struct Chapter {
    title: &'static str,
    steps: &'static [Step],
}

const CHAPTERS: &[Chapter] = &[VALUES, APPS, HOSTS];

const VALUES: Chapter = Chapter {
    title: "lath values: a module's defaults, a platform's rules, a user's wishes",
    steps: &[
        Step {
            about: "The author ships defaults, the platform lays two overlays over them, a user adds a TOML file. The result:",
            command: "values merge values/webapp --platform values/platform --user values/user.toml",
            exit: 0,
        },
        Step {
            about: "Where does each value come from?",
            command: "values inspect values/webapp --platform values/platform --user values/user.toml",
            exit: 0,
        },
        Step {
            about: "Why is `replicas` 3?",
            command: "values inspect values/webapp --platform values/platform --path replicas",
            exit: 0,
        },
        Step {
            about: "Another user asks for what the platform has locked:",
            command: "values check values/webapp --platform values/platform --user values/user-locked.yaml",
            exit: 1,
        },
        Step {
            about: "What may a user change at all?",
            command: "values inspect values/webapp --platform values/platform --only overridable",
            exit: 0,
        },
    ],
};

const APPS: Chapter = Chapter {
    title: "lath app: tenants customise an installed app",
    steps: &[
        Step {
            about: "The app's default, a tenant's overlay, a workspace's overlay, and a run that asks for less than legal allows:",
            command: "app explain apps/content-factory-1 -f apps/overlays.yaml -f apps/policies.yaml --tenant acme --workspace marketing --set fact_grounding_threshold=0.5 --key fact_grounding_threshold",
            exit: 1,
        },
        Step {
            about: "Is the app ready to be used there?",
            command: "app readiness apps/content-factory-1 -f apps/overlays.yaml -f apps/policies.yaml -f apps/environment.yaml --tenant acme --workspace marketing",
            exit: 1,
        },
        Step {
            about: "Version 2 is out. What would it do to what tenants have stored?",
            command: "app upgrade apps/content-factory-1 apps/content-factory-2 -f apps/overlays.yaml -f apps/policies.yaml",
            exit: 1,
        },
    ],
};

const HOSTS: Chapter = Chapter {
    title: "lath host: shared units, drop-ins of one host",
    steps: &[
        Step {
            about: "Four shared services, three hosts. What does kadath get?",
            command: "host evaluate --repo hosts --host kadath",
            exit: 0,
        },
        Step {
            about: "Why does traefik listen on 8080 there?",
            command: "host explain traefik.container PublishPort --repo hosts --host kadath",
            exit: 0,
        },
        Step {
            about: "How do two hosts differ?",
            command: "host diff rlyeh ulthar --repo hosts",
            exit: 0,
        },
    ],
};

pub fn run(demo: &Demo) -> ExitCode {
    let folder = std::env::temp_dir().join(format!("lath-demo-{}", std::process::id()));
    let result = unpack(&folder).and_then(|()| show(&folder));
    if demo.keep {
        let _ = writeln!(io::stdout(), "\nThe examples are in {}.", folder.display());
    } else {
        let _ = fs::remove_dir_all(&folder);
    }
    match result {
        Ok(()) if demo.serve => serve::run(&serve::Serve::demo()),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::failed(&format!("the demo stopped: {error}")),
    }
}

fn unpack(folder: &Path) -> io::Result<()> {
    for name in Examples::iter() {
        let path: PathBuf = folder.join(name.as_ref());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        if let Some(file) = Examples::get(&name) {
            fs::write(path, file.data)?;
        }
    }
    Ok(())
}

fn show(folder: &Path) -> io::Result<()> {
    let program = std::env::current_exe()?;
    let mut out = io::stdout();
    for chapter in CHAPTERS {
        writeln!(out, "\n━━ {} ━━", chapter.title)?;
        for step in chapter.steps {
            writeln!(out, "\n{}\n\n  $ lath {}\n", step.about, step.command)?;
            let done = Command::new(&program)
                .args(step.command.split_whitespace())
                .current_dir(folder)
                .stdin(Stdio::null())
                .output()?;
            for stream in [&done.stdout, &done.stderr] {
                for line in String::from_utf8_lossy(stream).lines() {
                    writeln!(out, "{}", format!("    {line}").trim_end())?;
                }
            }
            if done.status.code() != Some(step.exit) {
                let message = format!("`lath {}` ended with {}", step.command, done.status);
                return Err(io::Error::other(message));
            }
        }
    }
    writeln!(
        out,
        "\nNext: README.md, `lath --help`, and docs/ for each surface."
    )
}
