//! Findings as SARIF 2.1.0, for code-scanning services.
//!
//! A finding's first primary label is its location; the other labels are related locations.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::{Sources, Span};

/// One log with one run. `version` is the tool's.
pub fn render(findings: &[Diagnostic], sources: &Sources, version: &str) -> String {
    let codes: BTreeSet<&str> = findings.iter().map(|finding| finding.code.0).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let rules: Vec<Value> = codes.iter().map(|code| json!({ "id": code })).collect();
    let results: Vec<Value> = findings
        .iter()
        .map(|f| result(f, &codes, sources))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "lath", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn result(finding: &Diagnostic, codes: &[&str], sources: &Sources) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut text = finding.message.clone();
    for note in &finding.notes {
        let _ = write!(text, "\n{}: {}", note.tag, note.text);
        if let Some(span) = note.span {
            let _ = write!(text, " ({})", sources.locate(span));
        }
    }
    let mut object = Map::new();
    object.insert("ruleId".into(), finding.code.0.into());
    if let Ok(index) = codes.binary_search(&finding.code.0) {
        object.insert("ruleIndex".into(), index.into());
    }
    object.insert("level".into(), level.into());
    object.insert("message".into(), json!({ "text": text }));
    let place = finding
        .labels
        .iter()
        .position(|label| label.primary)
        .unwrap_or(0);
    let mut related = Vec::new();
    for (at, label) in finding.labels.iter().enumerate() {
        if at == place {
            let location = json!({ "physicalLocation": physical(label.span, sources) });
            object.insert("locations".into(), json!([location]));
        } else {
            related.push(json!({
                "id": related.len() + 1,
                "message": { "text": said(label) },
                "physicalLocation": physical(label.span, sources),
            }));
        }
    }
    if !related.is_empty() {
        object.insert("relatedLocations".into(), Value::Array(related));
    }
    if !finding.facts.is_empty() {
        let facts = finding
            .facts
            .iter()
            .map(|(name, value)| ((*name).into(), value.as_str().into()));
        object.insert("properties".into(), Value::Object(facts.collect()));
    }
    Value::Object(object)
}

/// A related location must say something.
fn said(label: &Label) -> String {
    match (&label.role, label.text.as_str()) {
        (Some(role), "") => role.clone(),
        (Some(role), text) => format!("{role}: {text}"),
        (None, "") => "see also".to_owned(),
        (None, text) => text.to_owned(),
    }
}

fn physical(span: Span, sources: &Sources) -> Value {
    let source = sources.get(span.source);
    let (start, end) = (source.place(span.start), source.place(span.end));
    json!({
        "artifactLocation": { "uri": uri(source.name()) },
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    })
}

/// A file name as a relative or absolute URI reference.
fn uri(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        if plain {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
