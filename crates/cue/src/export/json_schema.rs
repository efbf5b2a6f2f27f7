//! An evaluated schema as JSON Schema, draft 2020-12.
//!
//! Structs become objects: closed ones admit no further properties, patterns become `patternProperties`, and what has
//! neither a value nor a default is required. Disjunctions become `enum`, `type` or `anyOf`, their mark a
//! `default`; bounds and validators become the keywords that mean the same. A field that is nothing but a reference to a definition
//! becomes a `$ref`, so that recursive definitions end. Comments become descriptions.
//!
//! The schema never refuses what CUE admits, with one exception that CUE shares with nobody: `float` admits integers here. What
//! JSON Schema cannot say (references to other fields, the order of strings, most validators) is left out.

mod json;
mod scalar;

use data::write::Writer;

use crate::eval::Ctx;
use crate::eval::ids::{NodeId, ValId};
use crate::eval::ir::{Expr, Op};
use crate::eval::node::{ArcType, Base, CloseInfo, Conjunct, X};
use crate::eval::sched;
use crate::eval::validate::Config;
use crate::eval::value::{Val, Value};
use crate::eval::work::Run;

use super::order::ordered_arcs;
use json::{Builder, Json, Object};
use scalar::types;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Deeper values are admitted unseen.
const MOST_DEPTH: usize = 100;

/// Writes the schema that an evaluated value is. `title` says what it is a schema of.
pub fn write(ctx: &mut Ctx, node: NodeId, title: Option<&str>, out: &mut impl Writer) {
    let mut encoder = Encoder {
        ctx,
        depth: 0,
        names: Vec::new(),
        definitions: Vec::new(),
        pending: 0,
    };
    let mut root = Object::of("$schema", Json::text(DRAFT));
    if let Some(title) = title {
        root.set("title", Json::text(title));
    }
    for (key, value) in encoder.vertex(node).0 {
        root.set(&key, value);
    }
    let definitions = encoder.definitions();
    if !definitions.is_empty() {
        root.set("$defs", Json::Map(definitions));
    }
    Json::Map(root).write(out);
}

struct Encoder<'c> {
    ctx: &'c mut Ctx,
    depth: usize,
    /// Definitions that are referred to, with their names.
    names: Vec<(NodeId, String)>,
    definitions: Vec<(String, Object)>,
    /// How many of the names have their definition.
    pending: usize,
}

impl Encoder<'_> {
    /// The definitions that were referred to, and those that they refer to.
    fn definitions(&mut self) -> Object {
        while let Some((node, name)) = self.names.get(self.pending).cloned() {
            self.pending += 1;
            self.depth = 0;
            let mut schema = self.vertex(node);
            self.describe(node, &mut schema);
            self.definitions.push((name, schema));
        }
        let mut all = std::mem::take(&mut self.definitions);
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Object(
            all.into_iter()
                .map(|(name, schema)| (name, Json::Map(schema)))
                .collect(),
        )
    }

    /// The schema of a field: a reference where it is nothing else.
    fn schema(&mut self, node: NodeId) -> Object {
        let mut out = match self.definition(node) {
            Some(name) => {
                let pointer = name.replace('~', "~0").replace('/', "~1");
                Object::of("$ref", Json::Text(format!("#/$defs/{pointer}")))
            }
            None => self.vertex(node),
        };
        self.describe(node, &mut out);
        out
    }

    /// The name of the definition that a field refers to, if that is all it says.
    fn definition(&mut self, node: NodeId) -> Option<String> {
        let conjuncts = self.ctx.nodes[node].conjuncts.clone();
        let (first, rest) = conjuncts.split_first()?;
        let X::Expr(expr) = self.ctx.elem(first.x) else {
            return None;
        };
        let same = |c: &Conjunct| self.ctx.elem(c.x) == X::Expr(expr) && c.env == first.env;
        if !rest.iter().all(same) || !self.ctx.ir.is_resolver(expr) {
            return None;
        }
        let saved = self.ctx.push_conjunct(*first);
        let found = self.ctx.resolve(expr, sched::ALL, Run::Ignore);
        let errors = self.ctx.pop_state(saved);
        let target = found.ok().flatten()?;
        if errors.is_some() || !self.ctx.nodes[target].label.is_def() {
            return None;
        }
        if let Some((_, name)) = self.names.iter().find(|(known, _)| *known == target) {
            return Some(name.clone());
        }
        let path = self.ctx.path(target);
        let words: Vec<&str> = path
            .iter()
            .map(|label| label.name(&self.ctx.symbols).trim_start_matches(['_', '#']))
            .collect();
        let base = words.join(".");
        let mut name = base.clone();
        let mut serial = 1;
        while self.names.iter().any(|(_, known)| *known == name) {
            serial += 1;
            name = format!("{base}-{serial}");
        }
        self.names.push((target, name.clone()));
        Some(name)
    }

    /// Adds the comments above a field.
    fn describe(&mut self, node: NodeId, out: &mut Object) {
        let mut lines: Vec<&str> = Vec::new();
        for conjunct in &self.ctx.nodes[node].conjuncts {
            let X::Decl(decl) = conjunct.x else { continue };
            for line in self.ctx.docs.get(&decl).into_iter().flatten() {
                let line = line.trim_start_matches('/').trim();
                if !lines.contains(&line) || line.is_empty() {
                    lines.push(line);
                }
            }
        }
        let text = lines.join("\n").trim().to_owned();
        if !text.is_empty() && out.get("description").is_none() {
            out.0
                .insert(0, ("description".to_owned(), Json::Text(text)));
        }
    }

    /// The schema of a vertex, written out.
    fn vertex(&mut self, node: NodeId) -> Object {
        if self.depth >= MOST_DEPTH || self.ctx.finalize(node).is_err() {
            return Object::default();
        }
        self.depth += 1;
        let node = self.ctx.deref_value(node);
        let out = match self.ctx.nodes[node].base {
            Base::Struct => self.object(node),
            Base::List { open } => self.list(node, open),
            Base::Val(id) if self.ctx.bottom(id).is_some() => self.unfinished(node),
            Base::Val(id) => self.literal(id),
            Base::None | Base::Node(_) => self.unfinished(node),
        };
        self.depth -= 1;
        out
    }

    fn object(&mut self, node: NodeId) -> Object {
        let mut out = types(crate::eval::kind::Kind::STRUCT);
        let mut properties = Object::default();
        let mut required = Vec::new();
        for arc in ordered_arcs(self.ctx, node) {
            let n = &self.ctx.nodes[arc];
            let (label, arc_type) = (n.label, n.arc_type);
            if !label.is_string() || arc_type > ArcType::Optional {
                continue;
            }
            let name = label.name(&self.ctx.symbols).to_owned();
            let is_required = match arc_type {
                ArcType::Member => self.is_open(arc, 0),
                other => other == ArcType::Required,
            };
            let schema = self.schema(arc);
            properties.0.push((name.clone(), Json::Map(schema)));
            if is_required {
                required.push(Json::Text(name));
            }
        }
        if !properties.is_empty() {
            out.set("properties", Json::Map(properties));
        }
        if !required.is_empty() {
            out.set("required", Json::List(required));
        }
        let mut open = self.ctx.is_open_struct(node);
        let mut patterns = Object::default();
        let mut further = Object::default();
        let mut any = false;
        for pair in self.ctx.nodes[node].arcs.patterns.clone() {
            let schema = self.schema(pair.constraint);
            match self.key_pattern(pair.pattern) {
                Some(pattern) if pattern.is_empty() => {
                    further.merge(schema);
                    any = true;
                }
                Some(pattern) => patterns.set(&pattern, Json::Map(schema)),
                None => open = true,
            }
        }
        if !patterns.is_empty() {
            out.set("patternProperties", Json::Map(patterns));
        }
        match (any, open) {
            (true, _) => out.set("additionalProperties", Json::Map(further)),
            (false, false) => out.set("additionalProperties", Json::Bool(false)),
            (false, true) => {}
        }
        self.validators(node, &mut out);
        out
    }

    /// The regular expression of the names that a pattern stands for: empty for all of them, nothing where it has none.
    fn key_pattern(&mut self, pattern: Val) -> Option<String> {
        let id = match self.ctx.unwrap_val(pattern)? {
            Val::Lit(id) => id,
            Val::Node(_) => return None,
        };
        match self.ctx.value(id) {
            Value::Top | Value::Type(_) => Some(String::new()),
            Value::String(name) => Some(format!("^{}$", escape(name))),
            Value::Bound {
                op: Op::Match,
                value,
            } => match self.data(*value) {
                Some(Json::Text(text)) => Some(text),
                _ => None,
            },
            Value::Conjunction(values) => {
                let mut found = String::new();
                for value in values.clone() {
                    let next = self.key_pattern(value)?;
                    if !next.is_empty() && !found.is_empty() {
                        return None;
                    }
                    found.push_str(&next);
                }
                Some(found)
            }
            Value::Disjunction(d) => {
                let parts: Option<Vec<String>> = d
                    .values
                    .clone()
                    .into_iter()
                    .map(|value| self.key_pattern(value).filter(|text| !text.is_empty()))
                    .collect();
                Some(format!("(?:{})", parts?.join("|")))
            }
            _ => None,
        }
    }

    fn list(&mut self, node: NodeId, open: bool) -> Object {
        let mut out = types(crate::eval::kind::Kind::LIST);
        let mut first = Vec::new();
        for arc in self.ctx.nodes[node].arcs.list.clone() {
            if self.ctx.nodes[arc].label.is_int() {
                first.push(Json::Map(self.schema(arc)));
            }
        }
        let count = first.len();
        if count > 0 {
            out.set("prefixItems", Json::List(first));
            out.set("minItems", Json::count(count));
        }
        if !open {
            out.set("maxItems", Json::count(count));
        }
        for pair in self.ctx.nodes[node].arcs.patterns.clone() {
            let items = self.schema(pair.constraint);
            if open && !items.is_empty() {
                out.set("items", Json::Map(items));
            }
        }
        self.validators(node, &mut out);
        out
    }

    /// Adds the validators among the conjuncts of a struct or list, which its value does not show.
    fn validators(&mut self, node: NodeId, out: &mut Object) {
        for conjunct in self.ctx.nodes[node].conjuncts.clone() {
            let mut work = vec![self.ctx.elem(conjunct.x)];
            while let Some(x) = work.pop() {
                let expr = match x {
                    X::Expr(expr) => expr,
                    X::Val(id) => {
                        self.lone_validator(id, out);
                        continue;
                    }
                    _ => continue,
                };
                match self.ctx.ir.exprs[expr] {
                    Expr::Value(id) => self.lone_validator(id, out),
                    Expr::Binary { op: Op::And, x, y } => {
                        work.extend([X::Expr(y), X::Expr(x)]);
                    }
                    Expr::Call { .. } | Expr::Select { .. } => {
                        let alone = Conjunct {
                            x: X::Expr(expr),
                            ..conjunct
                        };
                        let node = self.ctx.inline_node(Base::None, &[alone]);
                        if self.ctx.finalize(node).is_ok()
                            && let Base::Val(id) = self.ctx.nodes[self.ctx.deref_value(node)].base
                        {
                            self.lone_validator(id, out);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Adds a validator that stands alone, with its arguments or by its bare name.
    fn lone_validator(&mut self, id: ValId, out: &mut Object) {
        let id = match *self.ctx.value(id) {
            Value::Builtin(builtin) => self.ctx.bare_validator(builtin, id),
            _ => Some(id),
        };
        if let Some(id) = id
            && let Value::Validator(validator) = self.ctx.value(id)
        {
            let validator = validator.clone();
            self.validator(&validator, out);
        }
    }

    /// What can be said of a value that depends on others: what its conjuncts say alone.
    fn unfinished(&mut self, node: NodeId) -> Object {
        let mut out = Object::default();
        let conjuncts = self.ctx.nodes[node].conjuncts.clone();
        if conjuncts.len() < 2 {
            if let Some(conjunct) = conjuncts.first()
                && let X::Expr(expr) = self.ctx.elem(conjunct.x)
                && let Expr::Interpolation { kind, .. } = self.ctx.ir.exprs[expr]
            {
                return types(kind);
            }
            return out;
        }
        for conjunct in conjuncts {
            let alone = self.ctx.inline_node(Base::None, &[conjunct]);
            let schema = self.vertex(alone);
            out.merge(schema);
        }
        out
    }

    /// Whether a regular field has something without a value in it.
    fn is_open(&mut self, node: NodeId, depth: usize) -> bool {
        if depth >= MOST_DEPTH || self.ctx.finalize(node).is_err() {
            return false;
        }
        let node = self.ctx.default_node(node);
        match self.ctx.nodes[node].base {
            Base::Struct | Base::List { .. } => {
                for arc in self.ctx.nodes[node].arcs.list.clone() {
                    let n = &self.ctx.nodes[arc];
                    let needed = match n.arc_type {
                        ArcType::Member if n.label.is_regular() => self.is_open(arc, depth + 1),
                        other => other == ArcType::Required,
                    };
                    if needed {
                        return true;
                    }
                }
                false
            }
            // What depends on other fields has its value from them.
            Base::Val(id) => self.ctx.bottom(id).is_none() && !self.ctx.lit_is_concrete(id),
            Base::None | Base::Node(_) => true,
        }
    }

    /// A concrete value as JSON.
    fn data(&mut self, val: Val) -> Option<Json> {
        let node = match val {
            Val::Node(node) => node,
            Val::Lit(id) if self.ctx.lit_is_concrete(id) => {
                self.ctx.inline_node(Base::None, &[conjunct(val)])
            }
            Val::Lit(_) => return None,
        };
        let config = Config {
            concrete: true,
            is_final: true,
            ..Config::default()
        };
        let done = self.ctx.finalize(node).is_ok();
        if !done || !matches!(self.ctx.validate(node, config), Ok(None)) {
            return None;
        }
        let mut builder = Builder::default();
        super::data::write(self.ctx, node, &mut builder);
        builder.finish()
    }

    /// Whether two values have something in common.
    fn meets(&mut self, a: Val, b: Val) -> bool {
        let node = self
            .ctx
            .inline_node(Base::None, &[conjunct(a), conjunct(b)]);
        let done = self.ctx.finalize(node).is_ok();
        done && self.ctx.node_bottom(node).is_none()
    }
}

fn conjunct(val: Val) -> Conjunct {
    Conjunct {
        env: None,
        x: X::from(val),
        ci: CloseInfo::default(),
    }
}

/// A name as a regular expression that matches just it.
fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if "\\^$.|?*+()[]{}/".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
