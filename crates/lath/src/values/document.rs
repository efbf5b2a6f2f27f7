//! `--report document`: locked values in the block form of the values document.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use base::{Diagnostic, Sources, render};
use values::codes;

/// Prints the locked values and takes them out of the findings; the rest is for the caller.
pub fn print(findings: &mut Vec<Diagnostic>, sources: &Sources) {
    render::sort(findings, sources);
    let (locked, rest) = std::mem::take(findings)
        .into_iter()
        .partition(|finding| finding.code == codes::LOCKED_VALUE);
    *findings = rest;
    let locked: Vec<Diagnostic> = locked;
    let blocks: Vec<String> = locked
        .iter()
        .map(|finding| block(finding, sources))
        .collect();
    // Standard error may be closed; there is nobody left to tell.
    let mut text = blocks.join("\n");
    if !findings.is_empty() && !text.is_empty() {
        text.push('\n');
    }
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn block(finding: &Diagnostic, sources: &Sources) -> String {
    let fact = |name: &str| {
        let fact = finding.facts.iter().find(|(known, _)| *known == name);
        fact.map_or("", |(_, value)| value.as_str())
    };
    let owner = fact("lockedBy");
    let mut out = String::from("Error: Cannot override locked value\n\n");
    let lines = [
        ("Field:   ", fact("field").to_owned()),
        ("Locked:  ", format!("{} (set by {owner})", fact("locked"))),
        (
            "Provided:",
            format!("{} ({})", fact("provided"), fact("providedBy")),
        ),
    ];
    for (name, value) in lines {
        let _ = writeln!(out, "  {name} {value}");
    }
    let _ = write!(
        out,
        "\n  The {owner} has set this value as concrete and it cannot be\n  overridden. Contact your platform team if you need a different value.\n"
    );
    if let Some(lock) = finding.labels.iter().find(|label| !label.primary) {
        let file = sources.get(lock.span.source).name();
        let line = sources.place(lock.span).line;
        let _ = write!(out, "\n  Locked in: {file}:{line}\n");
    }
    out
}
