//! Prints findings on standard error, in the form that was asked for, the same on all surfaces.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use base::render::{self, json, sarif, short, text};
use base::{Diagnostic, Sources};
use clap::ValueEnum;

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Excerpts of every file that takes part, with carets
    Text,
    /// One line a finding
    Short,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// Sorts the findings and prints them. The text form ends with a summary, to which `ending`
/// ("Nothing was written.") is added.
pub fn print(findings: &mut Vec<Diagnostic>, sources: &Sources, format: Format, ending: &str) {
    if findings.is_empty() && matches!(format, Format::Text | Format::Short) {
        return;
    }
    render::sort(findings, sources);
    let mut out = match format {
        Format::Text => text::render(findings, sources, options()),
        Format::Short => short::render(findings, sources),
        Format::Json => json::render(findings, sources),
        Format::Sarif => sarif::render(findings, sources, env!("CARGO_PKG_VERSION")),
    };
    if format == Format::Text {
        let summary = format!("{} {ending}", render::summary(findings));
        out.push_str(summary.trim_end());
        out.push('\n');
    }
    // Standard error may be closed; there is nobody left to tell.
    let _ = io::stderr().lock().write_all(out.as_bytes());
}

/// Colours and width of standard error.
fn options() -> text::Options {
    let terminal = io::stderr().is_terminal();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = terminal
        .then(|| terminal_size::terminal_size_of(io::stderr()))
        .flatten();
    text::Options {
        colour: terminal && !plain,
        width: width.map_or(160, |(terminal_size::Width(columns), _)| columns.into()),
    }
}

/// A plain failure of the world: said in one line, exit status 2.
pub fn failed(message: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "lath: {message}");
    ExitCode::from(2)
}

/// Something to know that keeps nothing from working.
pub fn warn(message: &str) {
    let _ = writeln!(io::stderr(), "lath: warning: {message}");
}

/// Standard output could not be written. A reader that went away is no failure of ours.
pub fn output_failed(error: &io::Error) -> ExitCode {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return ExitCode::SUCCESS;
    }
    failed(&format!("cannot write to standard output: {error}"))
}
