//! CUE as a source of keys.
//!
//! Every regular field of the file is a key named after itself; a field whose value is a plain struct without
//! `@overlay` is a group, and its fields are keys `group.name`. Marks stand in an attribute: `@overlay(secret, public,
//! merge="union", review, deprecated, renamedFrom="old")`. A value is checked by unifying it with the whole file, so
//! fields may refer to each other; a key's default is what the file makes of the field by itself.

use std::sync::Arc;

use base::{Diagnostic, SourceId, Span, Symbols};
use cue::syntax::ast::{self, Decl, DeclId, Label, List};
use cue::syntax::{literal, parse_file};

use super::Check;
use crate::codes;
use crate::evaluate;
use crate::key::{Key, Merge};
use crate::value::{Stored, Value};

/// How deep groups may be nested.
const DEEPEST: usize = 16;

/// Reads all keys of a schema file.
pub fn keys(source: SourceId, text: &Arc<str>, findings: &mut Vec<Diagnostic>) -> Vec<Key> {
    let mut symbols = Symbols::new();
    let parsed = parse_file(source, text, &mut symbols);
    if !parsed.errors.is_empty() {
        findings.extend(parsed.errors);
        return Vec::new();
    }
    if let Err(complaints) = evaluate::check(source, text) {
        findings.extend(complaints.into_iter().map(|(message, span)| {
            let finding = Diagnostic::error(codes::SCHEMA_UNUSABLE, message);
            match span {
                Some(span) => finding.primary(span, ""),
                None => finding,
            }
        }));
        return Vec::new();
    }
    let mut reader = Reader {
        file: &parsed.file,
        symbols: &symbols,
        text,
        keys: Vec::new(),
        findings,
    };
    reader.group("", parsed.file.decls, 0);
    reader.keys
}

struct Reader<'a> {
    file: &'a ast::File,
    symbols: &'a Symbols,
    text: &'a Arc<str>,
    keys: Vec<Key>,
    findings: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn group(&mut self, prefix: &str, decls: List<DeclId>, depth: usize) {
        for id in self.file.list(decls) {
            let Decl::Field(field) = self.file.decl(id) else {
                continue;
            };
            let Some(name) = self.name(field.label) else {
                continue;
            };
            let name = match prefix {
                "" => name,
                _ => format!("{prefix}.{name}"),
            };
            let marks = self.file.list(field.attributes).find_map(|attribute| {
                let (word, body) = self.file.attribute_parts(attribute);
                (word == "overlay").then(|| body.to_owned())
            });
            match self.file.expr(field.value) {
                ast::Expr::Struct { decls, .. } if marks.is_none() && depth < DEEPEST => {
                    self.group(&name, decls, depth + 1);
                }
                _ => {
                    let span = self.file.expr_span(field.label);
                    let expr = self.file.expr_span(field.value).range();
                    let expr = self.text.get(expr).unwrap_or_default();
                    self.key(name, span, expr, marks.as_deref().unwrap_or_default());
                }
            }
        }
    }

    /// The name of a regular field. Definitions, hidden fields and patterns are no keys.
    fn name(&self, label: ast::ExprId) -> Option<String> {
        match self.file.label(label).0 {
            Label::Name { symbol, .. } => {
                let name = self.symbols.name(symbol);
                (!name.starts_with(['#', '_'])).then(|| name.to_owned())
            }
            Label::String { expr } => match self.file.expr(expr) {
                ast::Expr::Literal { text, .. } => {
                    literal::unquote_string(self.file.str(text)).ok()
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn key(&mut self, name: String, span: Span, expr: &str, marks: &str) {
        let check = Check::from_cue(Arc::clone(self.text), &name, expr);
        let default = evaluate::default_at(self.text, &name);
        let mut key = Key::new(name, check);
        key.span = Some(span);
        key.default = default
            .and_then(|json| Value::parse_json(&json))
            .map(Stored::new);
        for mark in parts(marks) {
            self.mark(&mut key, mark, span);
        }
        self.keys.push(key);
    }

    fn mark(&mut self, key: &mut Key, mark: &str, span: Span) {
        let (word, value) = match mark.split_once('=') {
            Some((word, value)) => (word.trim(), value.trim().trim_matches('"')),
            None => (mark.trim(), ""),
        };
        match word {
            "" => {}
            "secret" => key.secret = true,
            "public" => key.public = true,
            "review" | "requiresReview" => key.review = true,
            "deprecated" => key.deprecated = true,
            "renamedFrom" => key.renamed_from = Some(value.into()),
            "merge" => match Merge::parse(value) {
                Some(merge) => key.merge = merge,
                None => {
                    let message = format!("the merge strategy of `{}` is unknown", key.name);
                    let finding = Diagnostic::error(codes::SCHEMA_UNUSABLE, message);
                    self.findings.push(finding.primary(span, ""));
                }
            },
            _ => {
                let message = format!("unknown mark `{word}`");
                let finding = Diagnostic::warning(codes::UNKNOWN_WORD, message);
                let help = "the marks are secret, public, merge, review, deprecated, renamedFrom";
                self.findings.push(finding.primary(span, "").help(help));
            }
        }
    }
}

/// The comma-separated parts of an attribute; commas in quotes and parentheses do not separate.
fn parts(body: &str) -> Vec<&str> {
    let (mut out, mut from, mut quoted, mut depth) = (Vec::new(), 0, false, 0usize);
    for (at, c) in body.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                out.push(body.get(from..at).unwrap_or(""));
                from = at + 1;
            }
            _ => {}
        }
    }
    out.push(body.get(from..).unwrap_or(""));
    out
}
