//! Findings as one JSON object: `{"findings": [...], "errors": 1, "warnings": 0}`.
//!
//! Lines and columns count from one, columns in characters; an end is the place just after.

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Label, Note, Severity};
use crate::source::{Sources, Span};

#[derive(Serialize)]
struct Report<'a> {
    findings: Vec<Finding<'a>>,
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct Finding<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    #[serde(flatten)]
    place: Option<At<'a>>,
    labels: Vec<Labelled<'a>>,
    notes: Vec<Said<'a>>,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    facts: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct At<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    #[serde(rename = "endLine")]
    end_line: u32,
    #[serde(rename = "endColumn")]
    end_column: u32,
}

#[derive(Serialize)]
struct Labelled<'a> {
    #[serde(flatten)]
    at: At<'a>,
    primary: bool,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
}

#[derive(Serialize)]
struct Said<'a> {
    tag: &'a str,
    text: &'a str,
    #[serde(flatten)]
    at: Option<At<'a>>,
}

pub fn render(findings: &[Diagnostic], sources: &Sources) -> String {
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let report = Report {
        findings: findings
            .iter()
            .map(|finding| of(finding, sources))
            .collect(),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
    };
    let mut out = serde_json::to_string_pretty(&report).expect("strings and numbers serialise");
    out.push('\n');
    out
}

fn of<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> Finding<'a> {
    let label = |l: &'a Label| Labelled {
        at: at(l.span, sources),
        primary: l.primary,
        text: &l.text,
        role: l.role.as_deref(),
    };
    let note = |n: &'a Note| Said {
        tag: &n.tag,
        text: &n.text,
        at: n.span.map(|span| at(span, sources)),
    };
    let facts = finding
        .facts
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.as_str().into()));
    Finding {
        code: finding.code.0,
        severity: finding.severity.word(),
        message: &finding.message,
        place: finding.place().map(|span| at(span, sources)),
        labels: finding.labels.iter().map(label).collect(),
        notes: finding.notes.iter().map(note).collect(),
        facts: facts.collect(),
    }
}

fn at(span: Span, sources: &Sources) -> At<'_> {
    let source = sources.get(span.source);
    let (start, end) = (source.place(span.start), source.place(span.end));
    At {
        file: source.name(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}
