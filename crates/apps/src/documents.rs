//! Documents: host defaults, overlays, policies and the environment, several in a file.
//!
//! Reading covers credentials before anything else sees the text, so no excerpt, message or answer can
//! show one. A document does not depend on a package: [`flatten`] names its values once the keys
//! are known, because `tools.x.enabled: true` and the nested form are the same key.

mod overlay;
mod rules;

use std::sync::Arc;

use base::{Diagnostic, SourceId, Span};
use data::{Format, Tree};

use crate::codes;
use crate::cursor::Cursor;
use crate::layer::{Authority, Scope};
use crate::overlay::Meta;
use crate::package::{self, Reading};
use crate::policy::Rule;
use crate::snapshot::Environment;
use crate::value::Value;

pub use overlay::flatten;

/// A tree that holds documents, with the places that were covered in it.
#[derive(Debug)]
pub struct Text {
    pub tree: Tree,
    pub covered: Vec<(Span, &'static str)>,
}

/// `kind: Overlay`, or `kind: HostDefaults` where there is no scope.
#[derive(Clone, Debug)]
pub struct OverlayDocument {
    pub app: Option<String>,
    pub scope: Option<Scope>,
    pub meta: Meta,
    /// Which of the texts it stands in, and where its `values` are.
    pub text: usize,
    pub values: Option<data::NodeId>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct PolicyDocument {
    pub app: Option<String>,
    pub authority: Authority,
    pub rules: Vec<Rule>,
    pub span: Span,
}

/// Everything that was read.
#[derive(Debug, Default)]
pub struct Documents {
    pub texts: Vec<Text>,
    pub host: Vec<OverlayDocument>,
    pub overlays: Vec<OverlayDocument>,
    pub policies: Vec<PolicyDocument>,
    pub environment: Option<Environment>,
}

impl Documents {
    /// Reads one file into the set.
    pub fn read(
        &mut self,
        name: &str,
        bytes: Vec<u8>,
        reading: &mut Reading<'_>,
        findings: &mut Vec<Diagnostic>,
    ) {
        let cue = name.ends_with(".cue");
        let format = match Format::from_name(name) {
            Some(format) => format,
            None if cue => Format::JsonLines,
            None => {
                let message = format!("`{name}` is neither YAML, JSON nor CUE by its name");
                findings.push(
                    Diagnostic::error(codes::DOCUMENT_INVALID, message)
                        .help("documents end in .yaml, .yml, .json or .cue"),
                );
                return;
            }
        };
        let before = findings.len();
        let Some((source, text)) = package::load(name.to_owned(), bytes, reading, findings) else {
            return;
        };
        let hits = covered(findings.get(before..).unwrap_or(&[]), source);
        if cue && !hits.is_empty() {
            // A covered place cannot be followed through an evaluation: the file as a whole is refused.
            return;
        }
        let (source, text) = match cue {
            true => match package::exported(source, &text, reading, findings) {
                Some((source, text)) => several(source, text, reading),
                None => return,
            },
            false => (source, text),
        };
        let options = data::Options::default();
        let parsed = data::parse(format, source, text, reading.symbols, &options);
        findings.extend(parsed.findings);
        for tree in parsed.documents {
            let covered = hits.clone();
            self.texts.push(Text { tree, covered });
            self.document(self.texts.len() - 1, reading, findings);
        }
    }

    fn document(&mut self, at: usize, reading: &Reading<'_>, findings: &mut Vec<Diagnostic>) {
        let Some(text) = self.texts.get(at) else {
            return;
        };
        let root = Cursor::root(&text.tree, reading.symbols);
        if root.is_null() {
            return;
        }
        let mut reader = Reader { root, findings };
        match root.get("kind").and_then(Cursor::str) {
            Some("HostDefaults") => {
                reader.known(&["kind", "app", "values", "revision", "actor", "time"]);
                let document = reader.overlay(at, None);
                self.host.push(document);
            }
            Some("Overlay") => {
                reader.known(&[
                    "kind",
                    "app",
                    "scope",
                    "values",
                    "version",
                    "revision",
                    "actor",
                    "time",
                    "approvedBy",
                ]);
                if let Some(scope) = reader.scope() {
                    let document = reader.overlay(at, Some(scope));
                    reader.twice(&self.overlays, &document);
                    self.overlays.push(document);
                }
            }
            Some("Policy") => {
                reader.known(&["kind", "app", "authority", "rules"]);
                if let Some(policy) = reader.policy() {
                    reader.repeated(&self.policies, &policy);
                    self.policies.push(policy);
                }
            }
            Some("Environment") => {
                reader.known(&["kind", "tools", "knowledge", "secrets", "models", "evals"]);
                if self.environment.is_some() {
                    let message = "there are two Environment documents";
                    reader.error(codes::DUPLICATE_DOCUMENT, root.span(), message);
                }
                self.environment = Some(reader.environment());
            }
            _ => {
                let place = root
                    .get("kind")
                    .map_or(root.span().at_start(), Cursor::span);
                let finding =
                    Diagnostic::error(codes::DOCUMENT_INVALID, "the document has no known `kind`");
                findings.push(
                    finding
                        .primary(place, "")
                        .help("the kinds are HostDefaults, Overlay, Policy and Environment"),
                );
            }
        }
    }
}

/// A CUE file is one document, or a list `documents` of several; each gets a line of its own.
fn several(source: SourceId, text: Arc<str>, reading: &mut Reading<'_>) -> (SourceId, Arc<str>) {
    let value = Value::parse_json(&text);
    let Some(list) = value.as_ref().and_then(|value| value.get("documents")) else {
        return (source, text);
    };
    let lines: Vec<String> = list.items().iter().map(Value::json).collect();
    let name = reading.sources.get(source).name().to_owned();
    let source = reading.sources.add(name, lines.join("\n"));
    (source, Arc::clone(reading.sources.get(source).text()))
}

/// The places that the findings of loading a text say are covered.
fn covered(findings: &[Diagnostic], source: SourceId) -> Vec<(Span, &'static str)> {
    let hits = findings
        .iter()
        .filter(|f| f.code == codes::PLAINTEXT_SECRET);
    hits.filter_map(|finding| finding.place())
        .filter(|span| span.source == source)
        .map(|span| (span, "credential"))
        .collect()
}

/// Reads the fields of one document.
struct Reader<'a, 'f> {
    root: Cursor<'a>,
    findings: &'f mut Vec<Diagnostic>,
}

impl<'a> Reader<'a, '_> {
    fn error(&mut self, code: base::Code, span: Span, message: impl Into<String>) {
        self.findings
            .push(Diagnostic::error(code, message).primary(span, ""));
    }

    fn known(&mut self, names: &[&str]) {
        for (name, span, _) in self.root.fields() {
            if !names.contains(&name) {
                let message = format!("the document's kind has no field `{name}`");
                let finding = Diagnostic::warning(codes::UNKNOWN_FIELD, message).primary(span, "");
                let near = base::distance::nearest(name, names.iter().copied());
                self.findings.push(match near {
                    Some(near) => finding.help(format!("did you mean `{near}`?")),
                    None => finding,
                });
            }
        }
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let value = self.root.get(name)?;
        let text = value.text();
        if text.is_none() {
            let message = format!("`{name}` must be a string");
            self.error(codes::DOCUMENT_INVALID, value.span(), message);
        }
        text
    }

    /// A list of names; what is no string is told.
    fn names(&mut self, name: &str) -> Vec<String> {
        let Some(list) = self.root.get(name) else {
            return Vec::new();
        };
        let Some(items) = list.items() else {
            if !list.is_null() {
                let message = format!("`{name}` must be a list");
                self.error(codes::DOCUMENT_INVALID, list.span(), message);
            }
            return Vec::new();
        };
        items.filter_map(Cursor::text).collect()
    }

    fn environment(&mut self) -> Environment {
        let scores = self.root.get("evals");
        let scores = scores.into_iter().flat_map(Cursor::fields);
        let mut evals = std::collections::BTreeMap::new();
        for (name, _, score) in scores {
            let value = score.value();
            match value.compare(&value) {
                Some(_) => drop(evals.insert(name.to_owned(), value)),
                None => {
                    let message = format!("the score of `{name}` must be a number");
                    self.error(codes::DOCUMENT_INVALID, score.span(), message);
                }
            }
        }
        Environment {
            tools: self.names("tools"),
            knowledge: self.names("knowledge"),
            secrets: self.names("secrets"),
            models: self.names("models"),
            evals,
        }
    }
}
