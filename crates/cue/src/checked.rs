//! Data joined with a schema, looked at field by field: what the schema adds, what it does not know, what does not fit.
//!
//! The data has no places of its own ([`NOWHERE`]), so that every place found here is the schema's.

use base::Symbol;
use data::Tree;

use crate::eval::ids::NodeId;
use crate::eval::kind::Kind;
use crate::eval::label::Label;
use crate::eval::node::{ArcType, Base};
use crate::eval::value::Val;
use crate::layered::NOWHERE;
use crate::runtime::{Failed, Runtime, Value};

/// How a field is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Regular,
    Required,
    Optional,
}

/// A field of a struct or an element of a list.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The field's name; of an element, its index.
    pub name: Symbol,
    pub is_element: bool,
    pub presence: Presence,
    pub value: Value,
}

/// What is wrong with one vertex itself, not with what is below it.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The schema has no such field.
    NotAllowed,
    /// Data and schema do not fit.
    Conflict(Failed),
    /// It cannot be computed.
    Incomplete(Failed),
}

impl Runtime {
    /// Joins plain data with a schema.
    pub fn join(&mut self, schema: Value, data: &Tree) -> Result<Value, Failed> {
        let plain = self.empty();
        self.add_data(plain, data);
        self.unify(schema, plain)
    }

    /// All fields and elements, optional ones too, in the order in which they were declared.
    pub fn all_members(&self, value: Value) -> Vec<Member> {
        let node = self.ctx.deref_value(value.0);
        let arcs = self.ctx.nodes[node].arcs.list.iter();
        let members = arcs.filter_map(|&arc| {
            let a = &self.ctx.nodes[arc];
            let presence = match a.arc_type {
                ArcType::Member => Presence::Regular,
                ArcType::Required => Presence::Required,
                ArcType::Optional => Presence::Optional,
                _ => return None,
            };
            a.label.is_regular().then_some(Member {
                name: Symbol(a.label.index()),
                is_element: a.label.is_int(),
                presence,
                value: Value(arc),
            })
        });
        members.collect()
    }

    /// The field of that name, of a vertex that was computed.
    pub fn member(&self, value: Value, name: Symbol) -> Option<Value> {
        let node = self.ctx.deref_value(value.0);
        self.ctx.find_arc(node, Label::of_symbol(name)).map(Value)
    }

    /// What is wrong with a vertex of joined data.
    pub fn fault(&self, value: Value) -> Option<Fault> {
        let bottom = self.ctx.node_bottom(value.0)?;
        let b = self.ctx.bottom(bottom)?;
        if b.close_check && !b.child_error {
            return Some(Fault::NotAllowed);
        }
        if b.child_error
            && !self.ctx.nodes[self.ctx.deref_value(value.0)]
                .arcs
                .is_empty()
        {
            return None;
        }
        let report = self.ctx.report(bottom);
        Some(match b.is_incomplete() {
            true => Fault::Incomplete(report),
            false => Fault::Conflict(report),
        })
    }

    /// What the schema alone says where data was joined with it.
    pub fn schema_of(&mut self, value: Value) -> Option<Value> {
        let conjuncts = self.ctx.nodes[value.0].conjuncts.clone();
        let mut kept = Vec::new();
        for c in conjuncts {
            let span = self.ctx.elem_span(c.x);
            if span.is_some_and(|span| span.source != NOWHERE) {
                kept.push(c);
            }
        }
        if kept.is_empty() {
            return None;
        }
        let node: NodeId = self.ctx.inline_node(Base::None, &kept);
        self.evaluate(Value(node)).ok()?;
        Some(Value(node))
    }

    /// The vertex of a definition of a file, without evaluating it.
    pub fn definition(&mut self, file: Value, name: &str) -> Result<Option<Value>, Failed> {
        let label = Label::ident(&mut self.ctx.symbols, name, "");
        if self.ctx.state(file.0).is_err() {
            return Err(Vec::new());
        }
        Ok(self.ctx.find_arc(file.0, label).map(Value))
    }

    /// Whether a value is a list that may be empty: `[...T]`.
    pub fn is_open_list(&self, value: Value) -> bool {
        let node = self.ctx.deref_value(value.0);
        self.ctx.nodes[node].base == Base::List { open: true } && self.ctx.element_count(node) == 0
    }

    /// The kinds that a value may have, in words: `an integer or a string`. Empty where anything goes.
    pub fn kinds(&self, value: Value) -> Vec<&'static str> {
        let kind = match self.ctx.node_value(value.0) {
            Some(Val::Lit(id)) => self.ctx.lit_kind(id),
            _ => self.ctx.node_kind(value.0),
        };
        const NAMES: [(Kind, &str); 7] = [
            (Kind::INT, "an integer"),
            (Kind::FLOAT, "a number"),
            (Kind::STRING, "a string"),
            (Kind::BOOL, "a boolean"),
            (Kind::LIST, "a list"),
            (Kind::STRUCT, "a map"),
            (Kind::NULL, "null"),
        ];
        if kind.is_bottom() {
            return Vec::new();
        }
        let mut found: Vec<&'static str> = NAMES
            .iter()
            .filter(|(one, _)| kind.has(*one))
            .map(|(_, name)| *name)
            .collect();
        if found.len() == NAMES.len() {
            return Vec::new();
        }
        if found.contains(&"a number") {
            found.retain(|name| *name != "an integer");
        }
        found
    }
}
