//! `lath cue fmt`: canonical text, in place.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use base::{Sources, Symbols};
use cue::syntax::{self, Options};

use super::plain;

#[derive(clap::Args)]
pub struct Arguments {
    /// Files, directories or packages; `-` is standard input
    inputs: Vec<String>,
    /// List files that are not formatted, and fail if there are any
    #[arg(long)]
    check: bool,
    /// Print diffs instead of rewriting files
    #[arg(short, long)]
    diff: bool,
    /// Simplify what is written
    #[arg(short, long)]
    simplify: bool,
    /// Read inputs as files and directories, and format all CUE files below directories
    #[arg(long)]
    files: bool,
}

/// Why nothing, or not everything, was formatted.
enum Failure {
    /// It has been reported.
    Reported,
    World(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::World(error.to_string())
    }
}

pub fn run(arguments: &Arguments) -> ExitCode {
    match format_all(arguments) {
        Ok(changed) if changed && arguments.check => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(Failure::Reported) => ExitCode::FAILURE,
        Err(Failure::World(message)) => {
            plain::say(&message);
            ExitCode::FAILURE
        }
    }
}

/// Formats every input; whether any was not formatted before.
fn format_all(arguments: &Arguments) -> Result<bool, Failure> {
    let mut changed = false;
    for file in inputs(arguments)? {
        changed |= format_one(&file, arguments)?;
    }
    Ok(changed)
}

fn inputs(arguments: &Arguments) -> Result<Vec<PathBuf>, Failure> {
    let given = &arguments.inputs;
    if arguments.files && given.iter().any(|input| input.contains("...")) {
        let message = "cannot use \"...\" in --files mode";
        return Err(Failure::World(message.to_owned()));
    }
    let here = [".".to_owned()];
    let given: &[String] = if given.is_empty() { &here } else { given };
    let mut found = Vec::new();
    for input in given {
        if input == "-" {
            found.push(PathBuf::from(input));
            continue;
        }
        let (path, deep) = match input.strip_suffix("...") {
            Some(path) => (path.trim_end_matches('/'), true),
            None => (input.as_str(), arguments.files),
        };
        let path = if path.is_empty() { "." } else { path };
        let path = match path.rsplit_once(':') {
            Some((path, _)) if !Path::new(input).exists() => path,
            _ => path,
        };
        let path = PathBuf::from(path);
        if path.is_dir() {
            let before = found.len();
            below(&path, deep, &mut found)?;
            if found.len() == before && !deep {
                return Err(Failure::World(format!("no CUE files in {input}")));
            }
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// The CUE files of a directory, and with `deep` of those below it.
fn below(directory: &Path, deep: bool, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let skipped = name == "cue.mod" || name.starts_with(['.', '_']);
            if deep && !skipped {
                below(&path, deep, found)?;
            }
        } else if name.ends_with(".cue") {
            let path = path.strip_prefix(".").unwrap_or(&path);
            found.push(path.to_path_buf());
        }
    }
    Ok(())
}

fn format_one(path: &Path, arguments: &Arguments) -> Result<bool, Failure> {
    let name = path.to_string_lossy().into_owned();
    let standard = name == "-";
    let bytes = if standard {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        bytes
    } else {
        fs::read(path).map_err(|error| Failure::World(format!("{name}: {error}")))?
    };
    let mut sources = Sources::new();
    let (id, finding) = sources.add_bytes(name.clone(), bytes);
    if let Some(mut finding) = finding {
        finding.message = "illegal UTF-8 encoding".to_owned();
        plain::print(&[finding], &sources);
        return Err(Failure::Reported);
    }
    let text = Arc::clone(sources.get(id).text());
    let mut symbols = Symbols::new();
    let parsed = syntax::parse_file(id, &text, &mut symbols);
    if !parsed.errors.is_empty() {
        plain::print(&parsed.errors, &sources);
        return Err(Failure::Reported);
    }
    let options = Options {
        simplify: arguments.simplify,
        ..Options::default()
    };
    let formatted = syntax::format_file(&parsed.file, &symbols, options);
    let mut out = io::stdout().lock();
    if standard && !arguments.diff && !arguments.check {
        out.write_all(formatted.as_bytes())?;
    }
    if *formatted == *text {
        return Ok(false);
    }
    if arguments.diff {
        out.write_all(diff(&name, &text, &formatted).as_bytes())?;
    } else if arguments.check {
        writeln!(out, "{name}")?;
    } else if !standard {
        fs::write(path, formatted)?;
    }
    Ok(true)
}

fn diff(name: &str, old: &str, new: &str) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    let mut unified = diff.unified_diff();
    let body = unified
        .context_radius(3)
        .header(&format!("{name}.orig"), name)
        .to_string();
    format!("diff {name}.orig {name}\n{body}\n")
}
