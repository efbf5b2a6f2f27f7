//! The structural form: every property that any alternative has is told at the top, combinations only constrain.

use crate::eval::kind::Kind;
use crate::eval::node::ArcType;
use crate::packages::Value;

use super::builder::{Builder, Map, set};
use super::part::{Part, Top};
use super::{Failure, Generator, MAX_DEPTH, MAX_SCHEMAS, Made};

impl Builder {
    /// Collects the fields of all conjuncts and disjuncts of a value.
    pub fn collect(&mut self, g: &mut Generator<'_>, part: Part) -> Made<()> {
        g.made += 1;
        if g.made > MAX_SCHEMAS || g.active.len() > MAX_DEPTH {
            return Err(Failure::bound());
        }
        g.active.push(g.ctx.deref_value(part.node));
        let result = self.collect_inner(g, part);
        g.active.pop();
        result
    }

    fn collect_inner(&mut self, g: &mut Generator<'_>, part: Part) -> Made<()> {
        self.describe(g, part);
        let mut part = part;
        match g.format(part)? {
            Some(format) => self.format = format.to_owned(),
            None => {
                part = part.evaluated();
                let kind = g.kind(part);
                self.kinds = Some(kind);
                if (kind == Kind::STRUCT || kind == Kind::LIST)
                    && let Some(rest) = g.rest(part)?
                    && g.ctx.node_kind(g.ctx.deref_value(rest.node)) != Kind::TOP
                {
                    g.check_cycle(rest)?;
                    self.items.get_or_insert_default().collect(g, rest)?;
                }
                if kind == Kind::STRUCT {
                    self.collect_struct(g, part)?;
                }
            }
        }
        for &known in &self.values {
            if g.subsumes(known, part)? && g.subsumes(part, known)? {
                return Ok(());
            }
        }
        self.values.push(part);
        Ok(())
    }

    fn collect_struct(&mut self, g: &mut Generator<'_>, part: Part) -> Made<()> {
        let (top, parts) = g.split(part)?;
        if matches!(top, Top::And | Top::Or) {
            for one in parts {
                self.collect(g, one)?;
            }
        }
        let node = g.ctx.deref_value(part.node);
        for arc in crate::export::order::ordered_arcs(g.ctx, node) {
            let a = &g.ctx.nodes[arc];
            if !a.label.is_string() || a.arc_type > ArcType::Optional {
                continue;
            }
            let name = a.label.name(&g.ctx.symbols).to_owned();
            let at = match self.properties.iter().position(|(known, _)| *known == name) {
                Some(at) => at,
                None => {
                    self.properties.push((name, Builder::default()));
                    self.properties.len() - 1
                }
            };
            if let Some((_, sub)) = self.properties.get_mut(at) {
                sub.collect(g, Part::of(arc))?;
            }
        }
        Ok(())
    }

    /// The schema of what was collected.
    pub fn core_schema(&mut self, g: &mut Generator<'_>) -> Made<Map> {
        if self.kinds == Some(Kind::LIST) {
            if let Some(items) = &mut self.items {
                let schema = items.core_schema(g)?;
                self.set_kind("array");
                self.set_single("items", Value::Struct(schema));
            }
        } else if self.kinds == Some(Kind::STRUCT) {
            let mut properties: Map = Vec::new();
            for (name, sub) in &mut self.properties {
                let schema = sub.core_schema(g)?;
                set(&mut properties, name, Value::Struct(schema));
            }
            if !properties.is_empty() {
                self.set_kind("object");
                self.set_single("properties", Value::Struct(properties));
            }
            if let Some(items) = &mut self.items {
                let schema = items.core_schema(g)?;
                self.set_kind("object");
                self.set_single("additionalProperties", Value::Struct(schema));
            }
        }
        match self.values.as_slice() {
            [only] => {
                let only = *only;
                self.fill(g, only)
            }
            _ => Ok(self.finish()),
        }
    }
}
