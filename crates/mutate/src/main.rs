//! Fuzzing without an engine: texts of a corpus are mutated and given to a target for a given time.
//!
//! ```text
//! mutate TARGET SECONDS FOLDER…      TARGET: parse, format, literal, evaluate, unit
//! ```
//!
//! The corpus is every CUE file below the folders, and every CUE section of the txtar cases there. A panic, a text that takes
//! more than five seconds of processor time (it is ended after sixty seconds), or more than a gigabyte of memory ends the run with status 1 and the text in `finding.cue`.
//! The mutations follow a fixed seed, so that a run can be repeated.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mutate::corpus::collect;
use mutate::mutation::Mutator;
use mutate::target::{self, Target};

/// What one text may take. A program that uses up its steps takes two seconds where every check is on and the machine is busy.
const SLOW: Duration = Duration::from_secs(5);
const MEMORY: u64 = 1 << 30;
/// How long is waited for one text at all.
const HUNG: Duration = Duration::from_secs(60);
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
    let current = Arc::new(Mutex::new((Instant::now(), String::new())));
    let watched = Arc::clone(&current);
    std::thread::spawn(move || watch(&watched));
    let worker = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || run(target, Duration::from_secs(seconds), corpus, &current));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        _ => ExitCode::FAILURE,
    }
}

/// The text that is being tried, and since when.
type Current = Mutex<(Instant, String)>;

/// Ends the process when one text takes for ever.
fn watch(current: &Current) {
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let Ok(now) = current.lock() else { return };
        if now.0.elapsed() > HUNG {
            let _ = fs::write("finding.cue", &now.1);
            println!("it hangs\n--- on\n{}", now.1);
            std::process::exit(1);
        }
    }
}

/// What a target makes of a text, and the processor time that it took.
fn timed(target: Target, text: &str) -> (std::thread::Result<bool>, Duration) {
    let before = worked();
    let result = catch_unwind(AssertUnwindSafe(|| target(text)));
    (result, worked().saturating_sub(before))
}

fn run(target: Target, time: Duration, corpus: Vec<String>, current: &Current) -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let mut mutator = Mutator::new(corpus, 0x9e37_79b9_7f4a_7c15);
    let start = Instant::now();
    let mut executions = 0u64;
    let mut valid = 0u64;
    let mut slowest = Duration::ZERO;
    while start.elapsed() < time {
        let text = mutator.mutated();
        if let Ok(mut current) = current.lock() {
            *current = (Instant::now(), text.clone());
        }
        let (result, mut taken) = timed(target, &text);
        if taken > SLOW {
            // A machine that stood still is not the text's fault: it must be slow twice.
            taken = taken.min(timed(target, &text).1);
        }
        slowest = slowest.max(taken);
        executions += 1;
        let wrong = match result {
            Err(panic) => Some(format!("panic: {}", message(panic.as_ref()))),
            Ok(_) if taken > SLOW => Some(format!("it took {taken:?}")),
            Ok(_) if executions.is_multiple_of(4096) && memory() > MEMORY => {
                Some(format!("{} bytes of memory", memory()))
            }
            Ok(kept) => {
                if kept {
                    mutator.keep(&text);
                    valid += 1;
                }
                None
            }
        };
        if let Some(wrong) = wrong {
            // Nothing to do if it cannot be written; the text is printed below.
            let _ = fs::write("finding.cue", &text);
            println!("{wrong}\n--- after {executions} executions, of\n{text}");
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{executions} executions, {valid} of them valid, in {:?}, slowest {slowest:?}, memory {} MiB, nothing found",
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

/// How long this thread has been running on a processor, whatever else the machine does; zero where it is not told.
fn worked() -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|n| n.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Resident memory in bytes; zero where it is not told.
fn memory() -> u64 {
    let told = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = told.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}
