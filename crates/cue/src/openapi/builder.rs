//! One schema: what has been said about a value so far, and the object it becomes.
//!
//! Keywords that may be given once are kept apart from those that can repeat: a repeated keyword starts a new
//! member of `allOf`.

use std::rc::Rc;

use crate::eval::kind::Kind;
use crate::eval::node::Base;
use crate::eval::value::Val;
use crate::packages::Value;

use super::part::{Part, Top};
use super::{Generator, Made};

/// An object with its keys in order.
pub(super) type Map = Vec<(String, Value)>;

/// Sets a key, in its place if it is there.
pub(super) fn set(map: &mut Map, key: &str, value: Value) {
    match map.iter_mut().find(|(known, _)| known == key) {
        Some((_, old)) => *old = value,
        None => map.push((key.to_owned(), value)),
    }
}

pub(super) fn has(map: &Map, key: &str) -> bool {
    map.iter().any(|(known, _)| known == key)
}

pub(super) fn object(key: &str, value: Value) -> Value {
    Value::Struct(vec![(key.to_owned(), value)])
}

/// What a member of `oneOf` and its like knows of the schema around it.
#[derive(Clone, Debug, Default)]
pub(super) struct Core {
    pub kind: &'static str,
    pub format: String,
    pub values: usize,
    pub properties: Vec<(String, Rc<Core>)>,
    pub items: Option<Rc<Core>>,
}

#[derive(Debug, Default)]
pub(super) struct Builder {
    /// The `type`, empty while it is not known.
    pub kind: &'static str,
    pub format: String,
    single: Map,
    all_of: Vec<Map>,
    /// The member of `all_of` that takes the next keyword.
    current: Option<usize>,
    pub core: Option<Rc<Core>>,

    // What the structural form collects.
    pub kinds: Option<Kind>,
    filled: Option<Map>,
    pub values: Vec<Part>,
    pub properties: Vec<(String, Builder)>,
    pub items: Option<Box<Builder>>,
}

/// Keywords in their order; what is not listed comes after, by name.
const ORDER: [&str; 18] = [
    "description",
    "type",
    "format",
    "required",
    "properties",
    "minProperties",
    "maxProperties",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "items",
    "enum",
    "default",
];

fn sort(map: &mut Map) {
    let rank = |key: &str| ORDER.iter().position(|k| *k == key).unwrap_or(ORDER.len());
    map.sort_by(|a, b| rank(&a.0).cmp(&rank(&b.0)).then_with(|| a.0.cmp(&b.0)));
}

impl Core {
    fn of(builder: &Builder) -> Core {
        Core {
            kind: builder.kind,
            format: builder.format.clone(),
            values: builder.values.len(),
            properties: builder
                .properties
                .iter()
                .map(|(name, b)| (name.clone(), Rc::new(Core::of(b))))
                .collect(),
            items: builder.items.as_deref().map(|b| Rc::new(Core::of(b))),
        }
    }
}

impl Builder {
    /// A member of a combination inside this schema.
    fn member(&self) -> Builder {
        let core = match &self.core {
            Some(core) => Rc::clone(core),
            None => Rc::new(Core::of(self)),
        };
        Builder {
            core: Some(core),
            kind: self.kind,
            format: self.format.clone(),
            ..Builder::default()
        }
    }

    /// The schema of a value.
    pub fn fill(&mut self, g: &mut Generator<'_>, part: Part) -> Made<Map> {
        if let Some(filled) = &self.filled {
            return Ok(filled.clone());
        }
        if self.core.is_none() {
            self.set_value_kind(g.kind(part));
        }
        if let Some(format) = g.format(part)? {
            self.format = format.to_owned();
        }
        if self.core.as_ref().is_none_or(|core| core.values > 1) {
            let is_ref = self.value(g, part, false)?;
            if is_ref {
                self.kind = "";
            } else if !g.expand {
                self.describe(g, part);
            }
        }
        let mut schema = self.finish();
        if self.kind == "integer" || self.kind == "number" {
            super::constraint::drop_implied_bounds(&mut schema, &self.format);
        }
        sort(&mut schema);
        self.filled = Some(schema.clone());
        Ok(schema)
    }

    pub fn describe(&mut self, g: &Generator<'_>, part: Part) {
        if let Some(text) = g.docs(part) {
            self.set_single("description", Value::String(text));
        }
    }

    fn set_value_kind(&mut self, kind: Kind) {
        let kind = kind.without(Kind::NULL);
        let name = if kind == Kind::BOOL {
            "boolean"
        } else if kind == Kind::FLOAT || kind == Kind::NUMBER {
            "number"
        } else if kind == Kind::INT {
            "integer"
        } else if kind == Kind::BYTES || kind == Kind::STRING {
            "string"
        } else if kind == Kind::STRUCT {
            "object"
        } else if kind == Kind::LIST {
            "array"
        } else {
            return;
        };
        self.kind = name;
    }

    pub fn set_kind(&mut self, kind: &'static str) {
        if self.kind.is_empty() {
            self.kind = kind;
        }
    }

    pub fn set_single(&mut self, key: &str, value: Value) {
        set(&mut self.single, key, value);
    }

    pub fn single(&self, key: &str) -> Option<&Value> {
        self.single.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// A keyword that may come again.
    pub fn set(&mut self, key: &str, value: Value) {
        let at = match self.current {
            Some(at) if self.all_of.get(at).is_some_and(|map| !has(map, key)) => at,
            _ => {
                self.all_of.push(Vec::new());
                self.all_of.len() - 1
            }
        };
        self.current = Some(at);
        if let Some(map) = self.all_of.get_mut(at) {
            set(map, key, value);
        }
    }

    pub fn set_not(&mut self, key: &str, value: Value) {
        self.all_of
            .push(vec![("not".to_owned(), object(key, value))]);
    }

    /// The object of what was said.
    pub fn finish(&mut self) -> Map {
        if let Some(filled) = &self.filled {
            return filled.clone();
        }
        let mut map: Map = match self.all_of.as_slice() {
            [] => Vec::new(),
            [one] if !has(one, "$ref") || self.single.is_empty() => one.clone(),
            many => {
                let members = many.iter().cloned().map(Value::Struct).collect();
                vec![("allOf".to_owned(), Value::List(members))]
            }
        };
        if !self.single.is_empty() {
            let rest = std::mem::replace(&mut map, self.single.clone());
            map.extend(rest);
        }
        let core = self.core.as_deref();
        if !self.kind.is_empty()
            && core.is_none_or(|core| core.kind != self.kind)
            && !has(&map, "type")
        {
            set(&mut map, "type", Value::string(self.kind));
        }
        if !self.format.is_empty() && core.is_none_or(|core| core.format != self.format) {
            set(&mut map, "format", Value::string(self.format.clone()));
        }
        sort(&mut map);
        map
    }

    /// Says what a value is. With `length`, it is the length of a list. True if it is just a reference.
    pub fn value(&mut self, g: &mut Generator<'_>, part: Part, length: bool) -> Made<bool> {
        g.active.push(g.ctx.deref_value(part.node));
        let result = self.value_inner(g, part, length);
        g.active.pop();
        result
    }

    fn value_inner(&mut self, g: &mut Generator<'_>, part: Part, length: bool) -> Made<bool> {
        let mut rest: Option<Part> = None;
        let mut is_ref = false;
        let mut refs: Vec<String> = Vec::new();
        if g.expand || !self.format.is_empty() {
            rest = Some(g.dereference(part));
        } else {
            let mut conjuncts = Vec::new();
            g.split_all(&Top::And, part, &mut conjuncts)?;
            for one in conjuncts {
                if let Some((root, path)) = g.reference(one)
                    && !path.is_empty()
                {
                    let name = g.name_of(&path);
                    if !refs.contains(&name) {
                        self.refer(g, one, root, &name);
                        refs.push(name);
                    }
                    continue;
                }
                rest = Some(match rest {
                    None => one,
                    Some(known) => g.unified(known, one)?,
                });
            }
            is_ref = rest.is_none() && refs.len() == 1;
        }
        if let Some(rest) = rest {
            self.constrain(g, rest, is_ref, length)?;
        }
        if refs.is_empty() && self.core.is_none() {
            self.add_default(g, part)?;
        }
        Ok(is_ref)
    }

    fn constrain(
        &mut self,
        g: &mut Generator<'_>,
        rest: Part,
        is_ref: bool,
        length: bool,
    ) -> Made<()> {
        let rest = if !g.kind(rest).has(Kind::STRUCT) && !is_ref {
            rest.evaluated()
        } else {
            rest
        };
        let mut conjuncts = Vec::new();
        g.split_all(&Top::And, rest, &mut conjuncts)?;
        for one in conjuncts {
            if g.is_scalar(one) {
                self.dispatch(g, one, length)?;
                if self.core.is_none() {
                    let value = g.plain(one)?;
                    self.set("enum", Value::List(vec![value]));
                }
                continue;
            }
            let mut disjuncts = Vec::new();
            g.split_all(&Top::Or, one, &mut disjuncts)?;
            for d in &mut disjuncts {
                if g.reference(*d).is_none() {
                    *d = d.evaluated();
                }
            }
            match disjuncts.as_slice() {
                [] => {}
                [only] => {
                    g.check(*only)?;
                    self.dispatch(g, *only, length)?;
                }
                _ => self.disjunction(g, &disjuncts, length)?,
            }
        }
        Ok(())
    }

    fn add_default(&mut self, g: &mut Generator<'_>, part: Part) -> Made<()> {
        let node = g.ctx.deref_value(part.node);
        let is_open_list = matches!(g.ctx.nodes[node].base, Base::List { open: true });
        let value = g.ctx.default_node(node);
        if value == node || is_open_list && g.ctx.nodes[value].arcs.is_empty() {
            return Ok(());
        }
        if !g.ctx.node_is_concrete(value) {
            return Ok(());
        }
        let mut opaque = Vec::new();
        let plain = g.ctx.plain(Val::Node(value), true, &mut opaque);
        if let Ok(Ok(plain)) = plain {
            self.set("default", plain);
        }
        Ok(())
    }

    fn refer(
        &mut self,
        g: &mut Generator<'_>,
        part: Part,
        root: crate::eval::ids::NodeId,
        name: &str,
    ) {
        let target = format!("#/components/schemas/{name}");
        self.all_of
            .push(vec![("$ref".to_owned(), Value::String(target))]);
        if g.ctx.same_vertex(root, g.root) || g.external.iter().any(|e| e.name == name) {
            return;
        }
        let node = g.dereference(part).node;
        g.external.push(super::External {
            name: name.to_owned(),
            node,
            built: false,
        });
    }

    /// Scalars become an `enum`; anything else one of several schemas that exclude one another.
    fn disjunction(&mut self, g: &mut Generator<'_>, all: &[Part], length: bool) -> Made<()> {
        let mut enums = Vec::new();
        let mut others = Vec::new();
        let mut nullable = false;
        for &one in all {
            if g.is_null(one) {
                nullable = true;
            } else if g.is_scalar(one) {
                enums.push(g.plain(one)?);
            } else {
                others.push(one);
            }
        }
        let set_nullable = |b: &mut Builder| {
            if nullable {
                b.set_single("nullable", Value::Bool(true));
            }
        };
        if others.is_empty() || others.len() == 1 && enums.is_empty() {
            if let Some(&only) = others.first() {
                self.value(g, only, length)?;
            }
            if !enums.is_empty() && self.core.is_none() {
                self.set("enum", Value::List(enums));
            }
            set_nullable(self);
            return Ok(());
        }
        let mut any_of = Vec::new();
        if !enums.is_empty() {
            any_of.push(object("enum", Value::List(enums)));
        }
        set_nullable(self);
        let mut schemas = Vec::new();
        for &one in &others {
            let mut member = self.member();
            member.value(g, one, length)?;
            let schema = member.finish();
            if schema.is_empty() && member.kind.is_empty() {
                return Ok(());
            }
            schemas.push(schema);
        }
        for (i, &one) in others.iter().enumerate() {
            let mut subsumed = Vec::new();
            for (k, &other) in others.iter().enumerate() {
                if i != k
                    && g.subsumes(one, other)?
                    && let Some(schema) = schemas.get(k)
                {
                    subsumed.push(Value::Struct(schema.clone()));
                }
            }
            let schema = schemas.get(i).cloned().unwrap_or_default();
            if subsumed.is_empty() {
                any_of.push(Value::Struct(schema));
                continue;
            }
            let exclude = object("not", object("anyOf", Value::List(subsumed)));
            any_of.push(if schema.is_empty() {
                exclude
            } else {
                object("allOf", Value::List(vec![Value::Struct(schema), exclude]))
            });
        }
        self.set("oneOf", Value::List(any_of));
        Ok(())
    }
}
