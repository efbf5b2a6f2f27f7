//! JSON Schema as the values' schema, checked after each tier (FR-VO-011).
//!
//! The values as they are after the module, after the platform and after the user are each
//! checked; what a tier breaks is said once, with that tier's file. Missing fields are looked for
//! only at the end, because a higher tier may supply them. Numbers are checked as 64-bit ones.

mod blame;
mod words;

use std::collections::BTreeSet;

use base::{Diagnostic, Path, Segment, Span, Symbols};
use data::{NodeId, Tree, Value};
use jsonschema::paths::LocationSegment;
use layers::{EntryId, State};

use crate::codes;
use crate::diff::up_to;
use crate::merge::{Context, Merged};

/// How many findings are listed before the rest is only mentioned.
pub const MOST_FINDINGS: usize = 1_000;

/// How many pairs of names are compared to find out what was meant.
const MOST_COMPARED: usize = 300_000;

/// A schema, ready to check values, with the places of its parts.
#[derive(Debug)]
pub struct Schema {
    tree: Tree,
    validator: jsonschema::Validator,
}

impl Schema {
    /// Reads a schema from a document (JSON, or the same as YAML).
    pub fn new(tree: Tree, symbols: &Symbols) -> Result<Schema, Box<Diagnostic>> {
        let schema = plain(&tree, tree.root(), symbols);
        let bad = |message: String, span: Span| {
            let finding = Diagnostic::error(codes::BAD_SCHEMA, message)
                .primary(span, "")
                .help("a schema is a JSON Schema without references to other files");
            Box::new(finding)
        };
        match jsonschema::validator_for(&schema) {
            Ok(validator) => Ok(Schema { tree, validator }),
            Err(error) => {
                let pointer: Vec<Segment> = error.instance_path().iter().map(segment).collect();
                let node = crate::document::walk(&tree, &Path(pointer), symbols);
                let span = tree.span(node.unwrap_or(tree.root()));
                let span = match node {
                    Some(_) => span,
                    None => span.at_start(),
                };
                Err(bad(words::unusable(&error), span))
            }
        }
    }

    /// Checks the values after each tier. Every breach is reported once, at the tier that made it.
    pub fn check(&self, merged: &Merged<'_>, context: Context<'_>, findings: &mut Vec<Diagnostic>) {
        let mut known = BTreeSet::new();
        let mut room = MOST_FINDINGS;
        // What a lower tier broke is met again after each higher one.
        let most = (MOST_FINDINGS + 1) * merged.tiers.len();
        let compared = std::cell::Cell::new(MOST_COMPARED);
        let at_once = blame::Room {
            most,
            compared: &compared,
        };
        let last = merged.tiers.last().copied();
        for &tier in &merged.tiers {
            let is_last = Some(tier) == last;
            let now = match is_last {
                true => None,
                false => Some(up_to(merged, tier)),
            };
            let now = now.as_ref().unwrap_or(merged);
            let instance = values(now, now.resolution.root(), context.symbols);
            for error in self.validator.iter_errors(&instance) {
                if !is_last && blame::waits(&error) {
                    continue;
                }
                for breach in blame::breaches(self, now, tier, &error, context, at_once) {
                    if known.insert(breach.key) {
                        if room == 0 {
                            findings.push(self.more());
                            return;
                        }
                        room -= 1;
                        findings.push(breach.finding);
                    }
                }
            }
        }
    }

    fn more(&self) -> Diagnostic {
        let message =
            format!("more than {MOST_FINDINGS} findings of the schema; the rest is not shown");
        Diagnostic::error(data::codes::MORE_FINDINGS, message)
            .primary(self.tree.span(self.tree.root()).at_start(), "")
    }

    /// What the schema says of a path, in CUE's words, and where.
    pub fn word(&self, path: &Path, symbols: &Symbols) -> Option<(String, Span)> {
        let mut at = self.tree.root();
        for segment in &path.0 {
            at = self.deref(at, symbols);
            at = match segment {
                Segment::Key(name) => self
                    .field(at, "properties", symbols)
                    .and_then(|all| self.field(all, name, symbols))
                    .or_else(|| self.field(at, "additionalProperties", symbols))?,
                Segment::Index(_) => self.field(at, "items", symbols)?,
            };
        }
        at = self.deref(at, symbols);
        let word = words::of(&self.tree, at, symbols)?;
        Some((word, self.tree.span(at).at_start()))
    }

    /// The part of the schema that a pointer names, through local references.
    fn at_pointer(&self, pointer: &[Segment], symbols: &Symbols) -> Option<NodeId> {
        let mut at = self.tree.root();
        for segment in pointer {
            at = match (segment, self.tree.value(at)) {
                (Segment::Key(name), Value::Map(_)) if name == "$ref" => self.deref(at, symbols),
                (Segment::Key(name), Value::Map(_)) => self.field(at, name, symbols)?,
                (Segment::Key(name), Value::List(items)) => {
                    *items.get(name.parse::<usize>().ok()?)?
                }
                (Segment::Index(index), Value::List(items)) => *items.get(*index)?,
                _ => return None,
            };
        }
        Some(at)
    }

    /// Follows `"$ref": "#/..."`, a bounded number of times.
    fn deref(&self, from: NodeId, symbols: &Symbols) -> NodeId {
        let mut at = from;
        for _ in 0..32 {
            let target = self.field(at, "$ref", symbols).and_then(|reference| {
                let Value::String(text) = self.tree.value(reference) else {
                    return None;
                };
                let mut to = self.tree.root();
                for step in text.strip_prefix("#/")?.split('/') {
                    let name = step.replace("~1", "/").replace("~0", "~");
                    to = self.field(to, &name, symbols)?;
                }
                Some(to)
            });
            match target {
                Some(to) => at = to,
                None => return at,
            }
        }
        at
    }

    fn field(&self, map: NodeId, name: &str, symbols: &Symbols) -> Option<NodeId> {
        self.tree.get(map, symbols.find(name)?)
    }
}

fn segment(segment: LocationSegment<'_>) -> Segment {
    match segment {
        LocationSegment::Property(name) => Segment::Key(name.into_owned()),
        LocationSegment::Index(index) => Segment::Index(index),
    }
}

/// The effective values as `serde_json` has them. Depth is bounded by `data::MAX_DEPTH`.
fn values(merged: &Merged<'_>, entry: EntryId, symbols: &Symbols) -> serde_json::Value {
    let resolution = &merged.resolution;
    if let Some((tree, node)) = merged.leaf(entry) {
        return plain(tree, node, symbols);
    }
    let mut map = serde_json::Map::new();
    if let State::Map { .. } = resolution.state(entry) {
        for child in resolution.children(entry) {
            if resolution.is_present(child) {
                let name = symbols.name(resolution.name(child)).to_owned();
                map.insert(name, values(merged, child, symbols));
            }
        }
    }
    serde_json::Value::Object(map)
}

/// One tree as `serde_json` has it. Depth is bounded by `data::MAX_DEPTH`.
fn plain(tree: &Tree, node: NodeId, symbols: &Symbols) -> serde_json::Value {
    use serde_json::Value as Json;
    match tree.value(node) {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(value),
        Value::Number(number) => {
            let exact = number.is_int.then(|| number.text.parse::<i64>().ok());
            match exact.flatten() {
                Some(n) => n.into(),
                None => match number.text.parse::<u64>() {
                    Ok(n) if number.is_int => n.into(),
                    _ => number.text.parse::<f64>().unwrap_or(f64::MAX).into(),
                },
            }
        }
        Value::String(text) | Value::Bytes(text) => Json::String(text.to_owned()),
        Value::List(items) => items.iter().map(|&i| plain(tree, i, symbols)).collect(),
        Value::Map(fields) => {
            let fields = fields.iter().map(|field| {
                let name = symbols.name(field.name).to_owned();
                (name, plain(tree, field.value, symbols))
            });
            Json::Object(fields.collect())
        }
    }
}
