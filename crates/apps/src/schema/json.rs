//! JSON Schema as a source of keys.
//!
//! Every property is a key named after itself. An object with `properties` and without `x-overlay` is a
//! group: its properties are keys `group.name`. With `x-overlay` it is one key that holds a map.
//! `x-overlay` has the words `secret public merge review deprecated renamedFrom`.

use base::{Diagnostic, Span};
use serde_json::Value as Json;

use crate::codes;
use crate::cursor::Cursor;
use crate::key::{Key, Merge};
use crate::schema::Check;
use crate::value::Stored;

/// How deep groups may be nested.
const DEEPEST: usize = 16;

/// Reads all keys of a schema file.
pub fn keys(root: Cursor<'_>, findings: &mut Vec<Diagnostic>) -> Vec<Key> {
    let mut reader = Reader {
        definitions: ["$defs", "definitions"]
            .into_iter()
            .filter_map(|name| Some((name, root.get(name)?.value().to_serde())))
            .collect(),
        keys: Vec::new(),
        findings,
    };
    match root.get("properties") {
        Some(properties) if properties.is_map() => reader.group("", properties, 0),
        _ => reader.unusable(root.span(), "the schema has no `properties`"),
    }
    reader.keys
}

struct Reader<'f> {
    /// What `$ref` may point at, copied into every key's schema.
    definitions: Vec<(&'static str, Json)>,
    keys: Vec<Key>,
    findings: &'f mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn unusable(&mut self, span: Span, message: impl Into<String>) {
        self.findings
            .push(Diagnostic::error(codes::SCHEMA_UNUSABLE, message).primary(span, ""));
    }

    fn group(&mut self, prefix: &str, properties: Cursor<'_>, depth: usize) {
        for (name, span, schema) in properties.fields() {
            let name = match prefix {
                "" => name.to_owned(),
                _ => format!("{prefix}.{name}"),
            };
            let inner = schema.get("properties").filter(|inner| inner.is_map());
            match inner {
                Some(inner) if schema.get("x-overlay").is_none() && depth < DEEPEST => {
                    self.group(&name, inner, depth + 1);
                }
                _ => self.key(name, span, schema),
            }
        }
    }

    fn key(&mut self, name: String, span: Span, schema: Cursor<'_>) {
        let mut json = schema.value().to_serde();
        if let Json::Object(fields) = &mut json {
            for (word, definitions) in &self.definitions {
                fields.insert((*word).to_owned(), definitions.clone());
            }
            // Words about layers are no part of what a value must look like.
            fields.remove("x-overlay");
            fields.remove("default");
            fields.remove("description");
        }
        let check = match Check::from_schema(&json) {
            Ok(check) => check,
            Err(error) => {
                let message = format!("the schema of `{name}` cannot be used: {error}");
                return self.unusable(schema.span(), message);
            }
        };
        let mut key = Key::new(name, check);
        key.span = Some(span);
        key.description = schema.get("description").and_then(Cursor::text);
        key.deprecated = schema.get("deprecated").and_then(Cursor::bool) == Some(true);
        if let Some(marks) = schema.get("x-overlay") {
            self.marks(&mut key, marks);
        }
        if let Some(default) = schema.get("default") {
            let value = default.value();
            if !key.secret && !key.check.admits(&value) {
                let message = format!(
                    "the default of `{}` does not match its own schema",
                    key.name
                );
                self.findings.push(
                    Diagnostic::error(codes::DEFAULT_INVALID, message).primary(default.span(), ""),
                );
            } else {
                key.default = Some(Stored::new(value));
            }
        }
        self.keys.push(key);
    }

    fn marks(&mut self, key: &mut Key, marks: Cursor<'_>) {
        for (word, span, value) in marks.fields() {
            match word {
                "secret" => key.secret = value.bool() == Some(true),
                "public" => key.public = value.bool() == Some(true),
                "review" | "requiresReview" => key.review = value.bool() == Some(true),
                "deprecated" => key.deprecated = value.bool() == Some(true),
                "renamedFrom" => key.renamed_from = value.str().map(Into::into),
                "merge" => match value.str().and_then(Merge::parse) {
                    Some(merge) => key.merge = merge,
                    None => {
                        let message = format!("the merge strategy of `{}` is unknown", key.name);
                        self.unusable(value.span(), message);
                    }
                },
                _ => self.findings.push(
                    Diagnostic::warning(codes::UNKNOWN_WORD, format!("unknown mark `{word}`"))
                        .primary(span, "")
                        .help(
                            "the marks are secret, public, merge, review, deprecated, renamedFrom",
                        ),
                ),
            }
        }
    }
}
