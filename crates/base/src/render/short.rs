//! One line a finding: `file:line:column: error[code]: message`.

use std::fmt::Write;

use crate::diagnostic::Diagnostic;
use crate::source::Sources;

pub fn render(findings: &[Diagnostic], sources: &Sources) -> String {
    let mut out = String::new();
    for finding in findings {
        if let Some(span) = finding.place() {
            let _ = write!(out, "{}: ", sources.locate(span));
        }
        let _ = writeln!(
            out,
            "{}[{}]: {}",
            finding.severity.word(),
            finding.code,
            finding.message
        );
    }
    out
}
