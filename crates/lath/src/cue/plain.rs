//! Findings in the plain form of the reference implementation: the message, then one indented
//! line for each place.
//!
//! ```text
//! a: conflicting values 2 and 1:
//!     ./a.cue:1:4
//!     ./a.cue:2:4
//! ```

use std::fmt::Write as _;
use std::io::{self, Write as _};

use cue::eval::report::Reported;

use base::{Diagnostic, Source, Sources, Span};

/// Prints findings on standard error, sorted, each only once.
pub fn print(findings: &[Diagnostic], sources: &Sources) {
    let text = render(findings, sources);
    // Standard error may be closed; there is nobody left to tell.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A plain message without a place.
pub fn say(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// Prints the errors of an evaluation.
pub fn print_reported(errors: &[Reported], sources: &Sources) {
    let mut out = String::new();
    for error in errors {
        out.push_str(&error.text());
        // What stands in a standard package has no place that could be shown.
        let places: Vec<String> = error
            .spans
            .iter()
            .filter(|span| sources.find(span.source).is_some())
            .map(|&span| place(span, sources))
            .collect();
        if !places.is_empty() {
            out.push(':');
        }
        out.push('\n');
        for place in places {
            writeln!(out, "    {place}").expect("a string takes everything");
        }
        if let Some(help) = error.help {
            writeln!(out, "  help: {help}").expect("a string takes everything");
        }
    }
    let _ = io::stderr().lock().write_all(out.as_bytes());
}

fn render(findings: &[Diagnostic], sources: &Sources) -> String {
    let mut out = String::new();
    let mut printed: Vec<String> = Vec::new();
    for finding in findings {
        let text = one(finding, sources);
        if !printed.contains(&text) {
            out.push_str(&text);
            printed.push(text);
        }
    }
    out
}

fn one(finding: &Diagnostic, sources: &Sources) -> String {
    let mut out = finding.message.clone();
    let mut places: Vec<String> = Vec::new();
    for label in &finding.labels {
        let place = place(label.span, sources);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    if !places.is_empty() {
        out.push(':');
    }
    out.push('\n');
    for place in places {
        writeln!(out, "    {place}").expect("a string takes everything");
    }
    out
}

fn place(span: Span, sources: &Sources) -> String {
    let source = sources.get(span.source);
    let (line, column) = line_and_byte_column(source, span.start);
    format!("{}:{line}:{column}", shown(source.name()))
}

/// Columns count bytes here, as the reference does.
fn line_and_byte_column(source: &Source, offset: u32) -> (u32, u32) {
    let text = source.text();
    // The end of the text is on the last line that has any, even behind its line break.
    let at_end = offset as usize >= text.len() && text.ends_with('\n');
    let line = source.place(offset.saturating_sub(u32::from(at_end))).line;
    (line, offset.saturating_sub(source.line_start(line)) + 1)
}

/// Relative paths are shown with `./` in front.
fn shown(name: &str) -> String {
    let as_is = name == "-" || name.starts_with(['/', '.']) || name.starts_with("--");
    if as_is {
        name.to_owned()
    } else {
        format!("./{name}")
    }
}
