//! `lath cue fmt`: canonical text, in place.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use base::{Sources, Symbols};
use cue::load::{Encoding, ImportPath, Inputs};
use cue::syntax::{self, Options};
use similar::{ChangeTag, TextDiff};

use super::{Failure, plain};

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

pub fn run(arguments: &Arguments) -> ExitCode {
    match format_all(arguments) {
        Ok(changed) if changed && arguments.check => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
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
    if arguments.files {
        return files(&arguments.inputs);
    }
    let mut inputs = Inputs::parse(&arguments.inputs)?;
    if inputs == Inputs::default() {
        inputs.packages.push(".".to_owned());
    }
    let mut found = Vec::new();
    for package in &inputs.packages {
        let path = ImportPath::parse(package).path;
        let (directory, deep) = match path.strip_suffix("...") {
            Some(directory) => (directory.trim_end_matches('/'), true),
            None => (path.as_str(), false),
        };
        let directory = if directory.is_empty() { "." } else { directory };
        if !Path::new(directory).is_dir() {
            let message = format!("cannot find package {package:?}");
            return Err(Failure::World(message));
        }
        let before = found.len();
        below(Path::new(directory), deep, &mut found)?;
        if found.len() == before && !deep {
            return Err(Failure::World(format!("no CUE files in {directory}")));
        }
    }
    // Data is left as it is.
    let cue = inputs
        .files
        .iter()
        .filter(|file| file.encoding == Encoding::Cue);
    found.extend(cue.map(|file| PathBuf::from(&file.path)));
    Ok(found)
}

/// With `--files`: files, and all CUE files below directories.
fn files(given: &[String]) -> Result<Vec<PathBuf>, Failure> {
    if given.iter().any(|input| input.contains("...")) {
        let message = "cannot use \"...\" in --files mode";
        return Err(Failure::World(message.to_owned()));
    }
    let here = [".".to_owned()];
    let given: &[String] = if given.is_empty() { &here } else { given };
    let mut found = Vec::new();
    for input in given {
        let path = PathBuf::from(input);
        if path.is_dir() {
            below(&path, true, &mut found)?;
        } else if input == "-" || input.ends_with(".cue") {
            found.push(path);
        } else if !path.exists() {
            let message = format!("lstat {input}: no such file or directory");
            return Err(Failure::World(message));
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
    // A byte order mark is not part of the text.
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => bytes,
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
    let formatted = syntax::format_text(&parsed.file, &mut symbols, options);
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

/// A unified diff, with line counts in every hunk's header.
fn diff(name: &str, old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut out = format!("diff {name}.orig {name}\n--- {name}.orig\n+++ {name}\n");
    for group in diff.grouped_ops(3) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let side = |from: std::ops::Range<usize>, to: std::ops::Range<usize>| {
            let count = to.end - from.start;
            let start = from.start + usize::from(count > 0);
            format!("{start},{count}")
        };
        let old = side(first.old_range(), last.old_range());
        let new = side(first.new_range(), last.new_range());
        out.push_str(&format!("@@ -{old} +{new} @@\n"));
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            out.push_str(match change.tag() {
                ChangeTag::Delete => "-",
                ChangeTag::Insert => "+",
                ChangeTag::Equal => " ",
            });
            out.push_str(change.value());
            if !change.value().ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out.push('\n');
    out
}
