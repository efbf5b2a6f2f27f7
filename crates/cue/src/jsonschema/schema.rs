//! One schema as an expression.

use data::{NodeId, Value};

use super::keywords::{MISSING, SILENT};
use super::{Converter, MAX_DEPTH, comment};
use crate::syntax::ast::{BinaryOp, Constraint, DeclId, ExprId, NodeRef, UnaryOp};

/// A converted schema.
pub(super) struct Schema {
    pub expr: ExprId,
    pub docs: Vec<String>,
    pub deprecated: bool,
}

/// The types of JSON Schema; integers are numbers with a constraint.
const TYPES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];
const NULL: usize = 0;
const NUMBER: usize = 2;
const STRING: usize = 3;
const ARRAY: usize = 4;
const OBJECT: usize = 5;

/// What has been said about a value.
#[derive(Default)]
struct Parts {
    /// Which types are allowed; none for all.
    allowed: Option<[bool; 6]>,
    is_int: bool,
    /// Constraints that only speak about values of one type.
    of: [Vec<ExprId>; 6],
    /// Constraints on whatever the value is.
    all: Vec<ExprId>,
}

impl Converter<'_> {
    pub fn schema(&mut self, id: NodeId) -> Schema {
        let plain = |expr| Schema {
            expr,
            docs: Vec::new(),
            deprecated: false,
        };
        self.depth += 1;
        let result = if self.depth > MAX_DEPTH {
            let span = self.tree.span(id);
            self.error(span, "schemas are nested too deeply".to_owned());
            plain(self.name("_"))
        } else {
            match self.tree.value(id) {
                Value::Bool(true) => plain(self.name("_")),
                Value::Bool(false) => plain(self.builder.bottom()),
                Value::Map(_) => self.object_schema(id),
                _ => {
                    let span = self.tree.span(id);
                    self.error(span, "a schema must be an object or a boolean".to_owned());
                    plain(self.name("_"))
                }
            }
        };
        self.depth -= 1;
        result
    }

    fn object_schema(&mut self, id: NodeId) -> Schema {
        let mut parts = Parts::default();
        self.types(id, &mut parts);
        let keywords: Vec<(String, NodeId)> = self
            .fields(id)
            .iter()
            .map(|f| (self.symbols.name(f.name).to_owned(), f.value))
            .collect();
        // Exclusive bounds decide about the others, so they come first.
        for early in [true, false] {
            for (key, value) in &keywords {
                if key.starts_with("exclusive") != early {
                    continue;
                }
                let mark = self.builder.mark();
                self.keyword(id, key, *value, &mut parts);
                if self.places {
                    let span = self.tree.span(*value);
                    self.builder.place_at(mark, span);
                }
            }
        }
        self.structure(id, &mut parts);
        let mark = self.builder.mark();
        let expr = self.combine(id, parts);
        if self.places {
            let span = match self.get(id, "type") {
                Some(value) => self.tree.span(value),
                None => self.tree.span(id),
            };
            self.builder.place_at(mark, span);
        }
        let mut docs = Vec::new();
        for key in ["title", "description"] {
            if let Some(text) = self.text(self.get(id, key)) {
                if !docs.is_empty() {
                    docs.push(String::new());
                }
                docs.extend(comment(text));
            }
        }
        let deprecated = self.get(id, "deprecated");
        Schema {
            expr,
            docs,
            deprecated: deprecated.is_some_and(|d| matches!(self.tree.value(d), Value::Bool(true))),
        }
    }

    fn types(&mut self, id: NodeId, parts: &mut Parts) {
        let Some(value) = self.get(id, "type") else {
            return;
        };
        let names: Vec<NodeId> = match self.tree.value(value) {
            Value::List(items) => items.to_vec(),
            _ => vec![value],
        };
        let mut allowed = [false; 6];
        for name in names {
            let Some(text) = self.text(Some(name)) else {
                continue;
            };
            if text == "integer" {
                parts.is_int = true;
            }
            let text = if text == "integer" { "number" } else { text };
            match TYPES.iter().position(|known| *known == text) {
                Some(at) => {
                    if let Some(slot) = allowed.get_mut(at) {
                        *slot = true;
                    }
                }
                None => {
                    let message = format!("unknown type {text:?}");
                    let span = self.tree.span(name);
                    self.error(span, message);
                }
            }
        }
        let nullable = self.get(id, "nullable");
        if nullable.is_some_and(|n| matches!(self.tree.value(n), Value::Bool(true))) {
            allowed[NULL] = true;
        }
        parts.allowed = Some(allowed);
    }

    fn is_true(&self, id: NodeId, key: &str) -> bool {
        let found = self.get(id, key);
        found.is_some_and(|v| matches!(self.tree.value(v), Value::Bool(true)))
    }

    fn keyword(&mut self, id: NodeId, key: &str, value: NodeId, parts: &mut Parts) {
        if let Some(wanted) = self.misfit(key, value) {
            let span = self.tree.span(value);
            self.error(span, format!("keyword {key:?} must be {wanted}"));
            return;
        }
        let bound = |c: &mut Self, op: UnaryOp, parts: &mut Parts| {
            if !matches!(c.tree.value(value), Value::Bool(_)) {
                let n = c.data(value);
                let expr = c.builder.unary(op, n);
                parts.of[NUMBER].push(expr);
            }
        };
        match key {
            "type" | "properties" | "required" | "additionalProperties" | "patternProperties" => {}
            "exclusiveMinimum" => bound(self, UnaryOp::Greater, parts),
            "exclusiveMaximum" => bound(self, UnaryOp::Less, parts),
            "minimum" if self.is_true(id, "exclusiveMinimum") => {
                bound(self, UnaryOp::Greater, parts);
            }
            "minimum" => bound(self, UnaryOp::GreaterEqual, parts),
            "maximum" if self.is_true(id, "exclusiveMaximum") => bound(self, UnaryOp::Less, parts),
            "maximum" => bound(self, UnaryOp::LessEqual, parts),
            "multipleOf" => self.validator("math", "MultipleOf", value, NUMBER, parts),
            "minLength" => self.validator("strings", "MinRunes", value, STRING, parts),
            "maxLength" => self.validator("strings", "MaxRunes", value, STRING, parts),
            "pattern" => {
                let pattern = self.data(value);
                let expr = self.builder.unary(UnaryOp::Match, pattern);
                parts.of[STRING].push(expr);
            }
            "minItems" => self.validator("list", "MinItems", value, ARRAY, parts),
            "maxItems" => self.validator("list", "MaxItems", value, ARRAY, parts),
            "uniqueItems" => {
                if matches!(self.tree.value(value), Value::Bool(true)) {
                    let expr = self.call("list", "UniqueItems", &[]);
                    parts.of[ARRAY].push(expr);
                }
            }
            "minProperties" => self.validator("struct", "MinFields", value, OBJECT, parts),
            "maxProperties" => self.validator("struct", "MaxFields", value, OBJECT, parts),
            "items" => self.items(value, parts),
            "enum" => {
                let Value::List(items) = self.tree.value(value) else {
                    return;
                };
                let items = items.to_vec();
                let values: Vec<ExprId> = items.into_iter().map(|item| self.data(item)).collect();
                parts.all.extend(self.builder.chain(BinaryOp::Or, &values));
            }
            "const" => {
                let value = self.data(value);
                parts.all.push(value);
            }
            "$ref" => self.reference(value, parts),
            "allOf" => {
                let Value::List(items) = self.tree.value(value) else {
                    return;
                };
                for &item in items {
                    let schema = self.schema(item);
                    parts.all.push(schema.expr);
                }
            }
            "anyOf" => self.match_n(">=1", value, parts),
            "oneOf" => self.match_n("1", value, parts),
            "not" => {
                let schema = self.schema(value);
                let list = self.builder.list_lit(&[schema.expr]);
                let zero = self.builder.number("0");
                let function = self.name("matchN");
                let call = self.builder.call(function, &[zero, list]);
                parts.all.push(call);
            }
            "if" => {
                let condition = self.condition(id, value);
                parts.all.extend(condition);
            }
            "contains" => {
                let counted = self.contains(id, value);
                parts.of[ARRAY].push(counted);
            }
            "dependencies" | "dependentRequired" | "dependentSchemas" => {
                let dependencies = self.dependencies(value);
                parts.of[OBJECT].extend(dependencies);
            }
            _ => self.other(key, value),
        }
    }

    /// What the value of a keyword should be, if it is something else.
    fn misfit(&self, key: &str, value: NodeId) -> Option<&'static str> {
        let value = self.tree.value(value);
        let (fits, wanted) = match key {
            "minimum" | "maximum" | "multipleOf" | "minLength" | "maxLength" | "minItems"
            | "maxItems" | "minProperties" | "maxProperties" => {
                (matches!(value, Value::Number(_)), "a number")
            }
            "exclusiveMinimum" | "exclusiveMaximum" => (
                matches!(value, Value::Number(_) | Value::Bool(_)),
                "a number or a boolean",
            ),
            "pattern" => (matches!(value, Value::String(_)), "a string"),
            "type" => (
                matches!(value, Value::String(_) | Value::List(_)),
                "a string or a list of strings",
            ),
            "enum" | "required" | "allOf" | "anyOf" | "oneOf" => {
                (matches!(value, Value::List(_)), "a list")
            }
            "minContains" | "maxContains" => (matches!(value, Value::Number(_)), "a number"),
            "properties" | "patternProperties" | "dependencies" | "dependentRequired"
            | "dependentSchemas" => (matches!(value, Value::Map(_)), "an object"),
            _ => (true, ""),
        };
        (!fits).then_some(wanted)
    }

    fn other(&mut self, key: &str, value: NodeId) {
        if SILENT.contains(&key) || key.starts_with("x-") {
            return;
        }
        let span = self.tree.span(value);
        if MISSING.contains(&key) {
            if self.strict.features {
                self.error(span, format!("keyword {key:?} cannot be converted"));
            }
        } else if self.strict.keywords {
            self.error(span, format!("unknown keyword {key:?}"));
        }
    }

    fn validator(
        &mut self,
        package: &'static str,
        member: &str,
        value: NodeId,
        of: usize,
        parts: &mut Parts,
    ) {
        let n = self.data(value);
        let expr = self.call(package, member, &[n]);
        if let Some(list) = parts.of.get_mut(of) {
            list.push(expr);
        }
    }

    fn items(&mut self, value: NodeId, parts: &mut Parts) {
        let list = match self.tree.value(value) {
            Value::List(items) => {
                let items = items.to_vec();
                let mut elements: Vec<ExprId> = items
                    .into_iter()
                    .map(|item| self.schema(item).expr)
                    .collect();
                elements.push(self.builder.ellipsis(None));
                self.builder.list_lit(&elements)
            }
            _ => {
                let schema = self.schema(value);
                let rest = self.builder.ellipsis(Some(schema.expr));
                self.builder.list_lit(&[rest])
            }
        };
        parts.of[ARRAY].push(list);
    }

    fn match_n(&mut self, count: &str, value: NodeId, parts: &mut Parts) {
        let Value::List(items) = self.tree.value(value) else {
            return;
        };
        let items = items.to_vec();
        let schemas: Vec<ExprId> = items
            .into_iter()
            .map(|item| self.schema(item).expr)
            .collect();
        if let [only] = schemas.as_slice() {
            parts.all.push(*only);
            return;
        }
        let one = self.builder.number("1");
        let count = match count {
            ">=1" => self.builder.unary(UnaryOp::GreaterEqual, one),
            _ => one,
        };
        let list = self.builder.list_lit(&schemas);
        let function = self.name("matchN");
        let call = self.builder.call(function, &[count, list]);
        parts.all.push(call);
    }

    /// `#/$defs/Name` and its like.
    fn reference(&mut self, value: NodeId, parts: &mut Parts) {
        let span = self.tree.span(value);
        let Some(text) = self.text(Some(value)).map(str::to_owned) else {
            self.error(span, "a reference must be a string".to_owned());
            return;
        };
        let name = ["#/components/schemas/", "#/definitions/", "#/$defs/"]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))
            .filter(|name| !name.contains('/'));
        match name.and_then(|name| self.definition_name(name)) {
            Some(expr) => parts.all.push(expr),
            None => self.error(span, format!("unsupported reference {text:?}")),
        }
    }

    /// `properties` and what belongs to it.
    fn structure(&mut self, id: NodeId, parts: &mut Parts) {
        let properties = self.get(id, "properties");
        let required = self.get(id, "required");
        let additional = self.get(id, "additionalProperties");
        let patterns = self.get(id, "patternProperties");
        let is_object = parts.allowed.is_some_and(|allowed| allowed[OBJECT]);
        if [properties, required, additional, patterns] == [None; 4] && !is_object {
            return;
        }
        let mut names: Vec<String> = match required.map(|r| self.tree.value(r)) {
            Some(Value::List(items)) => items
                .iter()
                .filter_map(|&item| self.text(Some(item)).map(str::to_owned))
                .collect(),
            _ => Vec::new(),
        };
        let mut decls: Vec<DeclId> = Vec::new();
        let fields: Vec<(String, NodeId)> = properties.map_or(Vec::new(), |p| {
            let fields = self.fields(p).iter();
            fields
                .map(|f| (self.symbols.name(f.name).to_owned(), f.value))
                .collect()
        });
        for (name, value) in fields {
            let schema = self.schema(value);
            let is_required = names.iter().position(|known| *known == name);
            if let Some(at) = is_required {
                names.remove(at);
            }
            let constraint = match is_required {
                Some(_) => Constraint::Required,
                None => Constraint::Optional,
            };
            decls.push(self.property(&name, constraint, &schema));
        }
        for name in names {
            let any = Schema {
                expr: self.name("_"),
                docs: Vec::new(),
                deprecated: false,
            };
            decls.push(self.property(&name, Constraint::Required, &any));
        }
        if let Some(patterns) = patterns {
            let fields: Vec<(String, NodeId)> = self
                .fields(patterns)
                .iter()
                .map(|f| (self.symbols.name(f.name).to_owned(), f.value))
                .collect();
            for (pattern, value) in fields {
                let text = self.builder.string_in_line(&pattern);
                let pattern = self.builder.unary(UnaryOp::Match, text);
                let label = self.builder.pattern(pattern);
                let schema = self.schema(value);
                decls.push(self.builder.field(label, schema.expr));
            }
        }
        let mut closed = false;
        match additional.map(|a| (a, self.tree.value(a))) {
            Some((_, Value::Bool(false))) => closed = true,
            Some((value, Value::Map(_))) => {
                let string = self.name("string");
                let label = self.builder.pattern(string);
                let schema = self.schema(value);
                decls.push(self.builder.field(label, schema.expr));
            }
            _ => decls.push(self.builder.open_struct()),
        }
        let mut expr = self.builder.struct_lit(&decls);
        if closed {
            let close = self.name("close");
            expr = self.builder.call(close, &[expr]);
        }
        parts.of[OBJECT].push(expr);
    }

    fn property(&mut self, name: &str, constraint: Constraint, schema: &Schema) -> DeclId {
        let label = self.builder.label(name, self.symbols);
        let mut attributes = Vec::new();
        if schema.deprecated {
            attributes.push(self.builder.attribute("@deprecated()"));
        }
        let decl = self
            .builder
            .field_with(label, Some(constraint), schema.expr, &attributes);
        let lines: Vec<&str> = schema.docs.iter().map(String::as_str).collect();
        if !lines.is_empty() {
            self.builder.doc(NodeRef::Decl(decl), &lines);
        }
        decl
    }

    /// All that was said, as one expression.
    fn combine(&mut self, id: NodeId, mut parts: Parts) -> ExprId {
        let constrained = parts.of.iter().any(|list| !list.is_empty());
        let values_given = self.get(id, "enum").is_some() || self.get(id, "const").is_some();
        // Values and references say their types themselves.
        let typed = parts.allowed.is_some() && !values_given;
        let mut conjuncts = std::mem::take(&mut parts.all);
        if typed || constrained {
            let allowed = parts.allowed.unwrap_or([true; 6]);
            let mut types = Vec::new();
            for (at, list) in parts.of.iter().enumerate() {
                if allowed.get(at) != Some(&true) {
                    continue;
                }
                let mut all = list.clone();
                if at == NUMBER && parts.is_int {
                    let int = self.name("int");
                    all.insert(0, int);
                } else if all.is_empty() {
                    all.push(self.any_of_type(at));
                }
                types.extend(self.builder.chain(BinaryOp::And, &all));
            }
            conjuncts.extend(self.builder.chain(BinaryOp::Or, &types));
        }
        match self.builder.chain(BinaryOp::And, &conjuncts) {
            Some(expr) => expr,
            None => self.name("_"),
        }
    }

    fn any_of_type(&mut self, of: usize) -> ExprId {
        match of {
            NULL => self.builder.null(),
            NUMBER => self.name("number"),
            STRING => self.name("string"),
            ARRAY => {
                let rest = self.builder.ellipsis(None);
                self.builder.list_lit(&[rest])
            }
            OBJECT => {
                let open = self.builder.open_struct();
                self.builder.struct_lit(&[open])
            }
            _ => self.name("bool"),
        }
    }
}
