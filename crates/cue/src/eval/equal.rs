//! Structural equality of values, and defaults of finished ones.

use super::context::{Ctx, R};
use super::ids::{NodeId, ValId};
use super::node::{ArcType, Base};
use super::value::{Disjunction, Val, Value};

pub type Flags = u8;
/// Optional fields do not count.
pub const IGNORE_OPTIONAL: Flags = 1;
/// Closedness and optional fields count; defaults are not taken.
pub const STRUCTURAL: Flags = 2;
/// Only regular fields count.
pub const REGULAR_ONLY: Flags = 4;

impl Ctx {
    pub fn equal(&mut self, a: Val, b: Val, flags: Flags) -> R<bool> {
        let (mut a, mut b) = (a, b);
        if flags & STRUCTURAL == 0 {
            a = self.default_of(a);
            b = self.default_of(b);
        }
        match (a, b) {
            (Val::Node(x), Val::Node(y)) => self.equal_nodes(x, y, flags),
            (Val::Lit(x), Val::Lit(y)) => self.equal_lits(x, y, flags),
            _ => Ok(false),
        }
    }

    fn equal_nodes(&mut self, x: NodeId, y: NodeId, flags: Flags) -> R<bool> {
        if self.nodes[x].arc_type != self.nodes[y].arc_type {
            return Ok(false);
        }
        let (x, y) = (self.deref_value(x), self.deref_value(y));
        if x == y {
            return Ok(true);
        }
        if self.node_kind(x) != self.node_kind(y) {
            return Ok(false);
        }
        let structural = flags & STRUCTURAL != 0;
        if structural {
            let closed_list =
                |ctx: &Ctx, n: NodeId| matches!(ctx.nodes[n].base, Base::List { open: false });
            if self.is_closed_struct(x) != self.is_closed_struct(y)
                || closed_list(self, x) != closed_list(self, y)
            {
                return Ok(false);
            }
        }
        let max = if structural {
            ArcType::Optional
        } else {
            ArcType::Required
        };
        let regular = flags & REGULAR_ONLY != 0;
        let counts = |ctx: &Ctx, arc: NodeId| {
            let a = &ctx.nodes[arc];
            (!regular || a.label.is_regular()) && a.arc_type <= max
        };
        let mut i = 0;
        while let Some(arc) = self.nodes[x].arcs.get(i) {
            i += 1;
            if !counts(self, arc) {
                continue;
            }
            let Some(other) = self.find_arc(y, self.nodes[arc].label) else {
                return Ok(false);
            };
            if self.nodes[arc].arc_type != self.nodes[other].arc_type
                || !self.equal(Val::Node(arc), Val::Node(other), flags)?
            {
                return Ok(false);
            }
        }
        i = 0;
        while let Some(arc) = self.nodes[y].arcs.get(i) {
            i += 1;
            if !counts(self, arc) {
                continue;
            }
            match self.find_arc(x, self.nodes[arc].label) {
                Some(other) if self.nodes[other].arc_type <= max => {}
                _ => return Ok(false),
            }
        }
        match (self.nodes[x].base, self.nodes[y].base) {
            (Base::Val(a), Base::Val(b)) => self.equal_lits(a, b, flags),
            (Base::Val(_), _) | (_, Base::Val(_)) => Ok(false),
            _ => Ok(true),
        }
    }

    fn equal_lits(&mut self, a: ValId, b: ValId, flags: Flags) -> R<bool> {
        if a == b {
            return Ok(true);
        }
        let pairs: Vec<(Val, Val)> = match (self.value(a), self.value(b)) {
            (Value::Bottom(_), Value::Bottom(_)) | (Value::Top, Value::Top) => return Ok(true),
            (Value::Type(x), Value::Type(y)) => return Ok(x == y),
            (Value::Num(x), Value::Num(y)) => {
                return Ok(x.is_int() == y.is_int() && x.compare(y) == std::cmp::Ordering::Equal);
            }
            (Value::Null | Value::Bool(_) | Value::String(_) | Value::Bytes(_), _) => {
                return Ok(self.scalars_equal(a, b));
            }
            (Value::Builtin(x), Value::Builtin(y)) => return Ok(x == y),
            (Value::Bound { op: p, value: x }, Value::Bound { op: q, value: y }) if p == q => {
                vec![(*x, *y)]
            }
            (Value::Conjunction(x), Value::Conjunction(y)) if x.len() == y.len() => {
                x.iter().copied().zip(y.iter().copied()).collect()
            }
            (Value::Disjunction(x), Value::Disjunction(y)) if x.values.len() == y.values.len() => x
                .values
                .iter()
                .copied()
                .zip(y.values.iter().copied())
                .collect(),
            (Value::Validator(x), Value::Validator(y))
                if x.builtin == y.builtin && x.args.len() == y.args.len() =>
            {
                x.args.iter().copied().zip(y.args.iter().copied()).collect()
            }
            _ => return Ok(false),
        };
        for (x, y) in pairs {
            if !self.equal(x, y, flags)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether two validators check the same.
    pub fn same_validator(&mut self, a: ValId, b: ValId) -> R<bool> {
        let (Value::Validator(x), Value::Validator(y)) = (self.value(a), self.value(b)) else {
            return Ok(false);
        };
        if a == b {
            return Ok(true);
        }
        if x.builtin != y.builtin || x.args.len() != y.args.len() {
            return Ok(false);
        }
        let pairs: Vec<(Val, Val)> = x.args.iter().copied().zip(y.args.iter().copied()).collect();
        for (x, y) in pairs {
            for side in [x, y] {
                if let Val::Node(node) = side {
                    self.finalize(node)?;
                }
            }
            if !self.equal(x, y, STRUCTURAL)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The default of a finished value; the value itself if it has none.
    pub fn default_of(&mut self, val: Val) -> Val {
        match val {
            Val::Lit(id) => match self.disjunction(id) {
                Some(d) => self.default_of_disjunction(id, d.defaults),
                None => val,
            },
            Val::Node(node) => Val::Node(self.default_node(node)),
        }
    }

    fn default_of_disjunction(&mut self, id: ValId, defaults: usize) -> Val {
        let Some(d) = self.disjunction(id) else {
            return Val::Lit(id);
        };
        match defaults {
            0 => Val::Lit(id),
            1 => d.values.first().copied().unwrap_or(Val::Lit(id)),
            n => {
                let values = d.values.get(..n).unwrap_or(&[]).to_vec();
                let span = self.vals[id].span;
                Val::Lit(self.new_value_at(
                    Value::Disjunction(Box::new(Disjunction {
                        values,
                        defaults: 0,
                        has_defaults: false,
                    })),
                    span,
                ))
            }
        }
    }

    pub fn default_node(&mut self, node: NodeId) -> NodeId {
        let node = self.settled_node(node);
        match self.nodes[node].base {
            Base::List { open: true } => {
                let (parent, label) = (self.nodes[node].parent, self.nodes[node].label);
                let copy = self.copy_node(node, parent, label);
                self.nodes[copy].base = Base::List { open: false };
                copy
            }
            _ => node,
        }
    }

    /// As [`Ctx::default_node`], for those who do not mind whether a list is open.
    pub fn settled_node(&mut self, node: NodeId) -> NodeId {
        let node = self.deref_value(node);
        let Base::Val(id) = self.nodes[node].base else {
            return node;
        };
        let Some(d) = self.disjunction(id) else {
            return node;
        };
        let (defaults, first) = (d.defaults, d.values.first().copied());
        match (defaults, first) {
            (0, _) | (_, None) => node,
            (1, Some(Val::Node(first))) => self.settled_node(first),
            _ => {
                let (parent, label) = (self.nodes[node].parent, self.nodes[node].label);
                let base = match self.default_of_disjunction(id, defaults) {
                    Val::Lit(id) => Base::Val(id),
                    Val::Node(n) => Base::Node(n),
                };
                let copy = self.copy_node(node, parent, label);
                self.nodes[copy].base = base;
                copy
            }
        }
    }
}
