//! Overlay documents: whose they are, who wrote them, and their values by key.

use std::sync::Arc;

use base::{Diagnostic, Symbols};

use super::{OverlayDocument, Reader, Text};
use crate::codes;
use crate::cursor::Cursor;
use crate::instant::Instant;
use crate::key::Keys;
use crate::layer::Scope;
use crate::overlay::{Assignment, Meta};
use crate::value::Value;

impl Reader<'_, '_> {
    pub(super) fn scope(&mut self) -> Option<Scope> {
        let Some(scope) = self.root.get("scope") else {
            let span = self.root.span().at_start();
            self.error(codes::DOCUMENT_INVALID, span, "the overlay has no `scope`");
            return None;
        };
        for (name, span, _) in scope.fields() {
            if !["tenant", "workspace", "user"].contains(&name) {
                let message = format!("a scope has no `{name}`");
                self.error(codes::DOCUMENT_INVALID, span, message);
            }
        }
        let part = |name: &str| {
            scope
                .get(name)
                .and_then(Cursor::text)
                .filter(|t| !t.is_empty())
        };
        let (tenant, workspace, user) = (part("tenant"), part("workspace"), part("user"));
        match (tenant, user.is_some() && workspace.is_none()) {
            (Some(tenant), false) => Some(Scope {
                tenant,
                workspace,
                user,
            }),
            (Some(_), true) => {
                let message = "a user's scope needs a workspace";
                self.error(codes::DOCUMENT_INVALID, scope.span(), message);
                None
            }
            (None, _) => {
                let message = "the scope has no `tenant`";
                self.error(codes::DOCUMENT_INVALID, scope.span(), message);
                None
            }
        }
    }

    pub(super) fn overlay(&mut self, text: usize, scope: Option<Scope>) -> OverlayDocument {
        let app = self.text("app");
        if scope.is_some() && app.is_none() {
            let span = self.root.span().at_start();
            self.error(codes::DOCUMENT_INVALID, span, "the overlay has no `app`");
        }
        let values = self.root.get("values").filter(|values| !values.is_null());
        if let Some(values) = values.filter(|values| !values.is_map()) {
            self.error(
                codes::DOCUMENT_INVALID,
                values.span(),
                "`values` must be a map",
            );
        }
        OverlayDocument {
            app,
            scope,
            meta: self.meta(),
            text,
            values: values
                .filter(|values| values.is_map())
                .map(|values| values.node),
            span: self.root.span(),
        }
    }

    fn meta(&mut self) -> Meta {
        let revision = self.text("revision").and_then(|text| {
            let text = text.trim_start_matches('r');
            text.parse().ok()
        });
        let time = self.text("time").and_then(|text| {
            let time = Instant::parse(&text);
            if time.is_none() {
                let span = self.root.get("time").map_or(self.root.span(), Cursor::span);
                self.error(codes::DOCUMENT_INVALID, span, "`time` is no date or time");
            }
            time
        });
        Meta {
            revision,
            actor: self.text("actor").map(Into::into),
            time,
            approved_by: self.text("approvedBy").map(Into::into),
            version: self.text("version").map(Into::into),
        }
    }

    /// Two overlays for one app and scope: nobody could say which one stands.
    pub(super) fn twice(&mut self, known: &[OverlayDocument], document: &OverlayDocument) {
        let same =
            |other: &&OverlayDocument| other.app == document.app && other.scope == document.scope;
        if let (Some(first), Some(scope)) = (known.iter().find(same), &document.scope) {
            let message = format!("there are two overlays of {scope} for one app");
            self.findings.push(
                Diagnostic::error(codes::DUPLICATE_DOCUMENT, message)
                    .primary(document.span, "again here")
                    .secondary(first.span, "first here")
                    .help("put the values of both into one document"),
            );
        }
    }
}

/// The values of a document by key. A key may be written dotted, nested, or both ways mixed.
/// `{"$unset": true}` sets nothing; it withdraws what the layer said before.
pub fn flatten(
    document: &OverlayDocument,
    texts: &[Text],
    symbols: &Symbols,
    keys: &Keys,
    findings: &mut Vec<Diagnostic>,
) -> Vec<(Assignment, Arc<Meta>)> {
    let (Some(text), Some(values)) = (texts.get(document.text), document.values) else {
        return Vec::new();
    };
    let cursor = Cursor {
        tree: &text.tree,
        node: values,
        symbols,
    };
    let mut out: Vec<Assignment> = Vec::new();
    walk(cursor, "", text, keys, &mut out, findings);
    let meta = Arc::new(document.meta.clone());
    let assignments = out.into_iter();
    assignments
        .map(|assignment| (assignment, Arc::clone(&meta)))
        .collect()
}

fn walk(
    map: Cursor<'_>,
    prefix: &str,
    text: &Text,
    keys: &Keys,
    out: &mut Vec<Assignment>,
    findings: &mut Vec<Diagnostic>,
) {
    for (name, key_span, value) in map.fields() {
        let path = match prefix {
            "" => name.to_owned(),
            _ => format!("{prefix}.{name}"),
        };
        let is_key = keys
            .find(&path)
            .or_else(|| keys.find_renamed(&path))
            .is_some();
        if !is_key && value.is_map() && keys.has_below(&path) && !is_unset(value) {
            walk(value, &path, text, keys, out, findings);
            continue;
        }
        if is_unset(value) {
            continue;
        }
        let span = value.span();
        let inside = |hit: &base::Span| {
            let (start, end) = (key_span.start.min(span.start), key_span.end.max(span.end));
            hit.source == span.source && hit.start < end && start < hit.end
        };
        let withheld = text
            .covered
            .iter()
            .find(|(hit, _)| inside(hit))
            .map(|(_, rule)| *rule);
        let (name, inner) = match is_key {
            true => (path.as_str(), ""),
            false => map_key(&path, keys).unwrap_or((&path, "")),
        };
        let assignment = Assignment {
            name: name.to_owned(),
            value: match withheld {
                Some(_) => Value::Null,
                None => nest(inner, value.value()),
            },
            span: Some(span),
            withheld,
        };
        add(assignment, !inner.is_empty(), key_span, out, findings);
    }
}

/// The key that holds a map and has this path in it: `export.destination` and `folder`.
fn map_key<'p>(path: &'p str, keys: &Keys) -> Option<(&'p str, &'p str)> {
    let mut at = path.len();
    while let Some(dot) = path.get(..at)?.rfind('.') {
        let (name, inner) = (path.get(..dot)?, path.get(dot + 1..)?);
        if let Some(id) = keys.find(name) {
            let map = Value::Map([].into());
            return keys
                .get(id)
                .check
                .admits_type(&map)
                .then_some((name, inner));
        }
        at = dot;
    }
    None
}

/// `a.b` and a value as `{a: {b: value}}`.
fn nest(path: &str, value: Value) -> Value {
    match path {
        "" => value,
        _ => path.rsplit('.').fold(value, |value, name| {
            Value::Map([(name.into(), value)].into())
        }),
    }
}

/// Adds an assignment. Parts of one map may come one by one; anything else twice is an error.
fn add(
    assignment: Assignment,
    part: bool,
    key_span: base::Span,
    out: &mut Vec<Assignment>,
    findings: &mut Vec<Diagnostic>,
) {
    let Some(known) = out.iter_mut().find(|known| known.name == assignment.name) else {
        out.push(assignment);
        return;
    };
    if part
        && known.withheld.is_none()
        && assignment.withheld.is_none()
        && join(&mut known.value, &assignment.value)
    {
        return;
    }
    let message = format!("`{}` is set twice in one overlay", assignment.name);
    let mut finding =
        Diagnostic::error(codes::DUPLICATE_KEY, message).primary(key_span, "again here");
    if let Some(span) = known.span {
        finding = finding.secondary(span, "first here");
    }
    findings.push(finding.help("a dotted key and the nested form are the same key"));
}

/// Joins two maps that set different fields; `false` if they set the same one.
fn join(into: &mut Value, from: &Value) -> bool {
    let (Value::Map(fields), Value::Map(more)) = (into, from) else {
        return false;
    };
    let mut all = std::mem::take(fields).into_vec();
    let mut fine = true;
    for (name, value) in more {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => fine &= join(known, value),
            None => all.push((name.clone(), value.clone())),
        }
    }
    *fields = all.into();
    fine
}

/// `{"$unset": true}`
fn is_unset(value: Cursor<'_>) -> bool {
    value.get("$unset").and_then(Cursor::bool) == Some(true) && value.fields().count() == 1
}
