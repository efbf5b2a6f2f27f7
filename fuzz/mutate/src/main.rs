//! Fuzzing without an engine: texts of a corpus are mutated and given to a target for a given time.
//!
//! ```text
//! mutate TARGET SECONDS FOLDER…      TARGET: parse, format, literal
//! ```
//!
//! The corpus is every CUE file below the folders, and every CUE section of the txtar cases there. A panic, a text that takes
//! longer than two seconds, or more than a gigabyte of memory ends the run with status 1 and the text in `finding.cue`.
//! The mutations follow a fixed seed, so that a run can be repeated.

mod mutation;
mod target;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mutation::Mutator;

/// What one text may take.
const SLOW: Duration = Duration::from_secs(2);
const MEMORY: u64 = 1 << 30;
/// Deep texts need a deep stack, as the binary gives it.
const STACK: usize = 512 << 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds, folders @ ..] = arguments.as_slice() else {
        eprintln!("usage: mutate TARGET SECONDS FOLDER…");
        return ExitCode::FAILURE;
    };
    let Some(target) = target::by_name(name) else {
        eprintln!("no target {name}");
        return ExitCode::FAILURE;
    };
    let Ok(seconds) = seconds.parse() else {
        eprintln!("{seconds} is no number of seconds");
        return ExitCode::FAILURE;
    };
    let mut corpus = Vec::new();
    for folder in folders {
        collect(Path::new(folder), &mut corpus);
    }
    corpus.sort();
    println!("{name}: {} texts in the corpus", corpus.len());
    let worker = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || run(target, Duration::from_secs(seconds), corpus));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        _ => ExitCode::FAILURE,
    }
}

fn run(target: fn(&str), time: Duration, corpus: Vec<String>) -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let mut mutator = Mutator::new(corpus, 0x9e37_79b9_7f4a_7c15);
    let start = Instant::now();
    let mut executions = 0u64;
    let mut slowest = Duration::ZERO;
    while start.elapsed() < time {
        let text = mutator.next();
        let before = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| target(&text)));
        let taken = before.elapsed();
        slowest = slowest.max(taken);
        executions += 1;
        let wrong = match result {
            Err(panic) => Some(format!("panic: {}", message(panic.as_ref()))),
            Ok(()) if taken > SLOW => Some(format!("it took {taken:?}")),
            Ok(()) if executions % 4096 == 0 && memory() > MEMORY => {
                Some(format!("{} bytes of memory", memory()))
            }
            Ok(()) => None,
        };
        if let Some(wrong) = wrong {
            // Nothing to do if it cannot be written; the text is printed below.
            let _ = fs::write("finding.cue", &text);
            println!("{wrong}\n--- after {executions} executions, of\n{text}");
            return ExitCode::FAILURE;
        }
        mutator.keep(&text);
    }
    println!(
        "{executions} executions in {:?}, slowest {slowest:?}, memory {} MiB, nothing found",
        start.elapsed(),
        memory() >> 20
    );
    ExitCode::SUCCESS
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
    text.unwrap_or_default()
}

/// Resident memory in bytes; zero where it is not told.
fn memory() -> u64 {
    let told = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = told.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// The CUE texts below a folder.
fn collect(folder: &Path, out: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, out);
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        match path.extension().and_then(|e| e.to_str()) {
            Some("cue") => out.push(text),
            Some("txtar") => {
                for section in text.split("\n-- ").skip(1) {
                    if let Some((name, body)) = section.split_once(" --\n")
                        && name.ends_with(".cue")
                    {
                        out.push(body.to_owned());
                    }
                }
            }
            _ => {}
        }
    }
}
