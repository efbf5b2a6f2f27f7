//! Constraints as a value: what a vertex is that is neither a struct nor a list nor one scalar.

use super::context::Ctx;
use super::ids::{NodeId, ValId};
use super::kind::Kind;
use super::node::{Base, X};
use super::value::{Val, Value};

impl Ctx {
    /// The conjunction of type, bounds and validators that is known of a vertex.
    pub fn constraints_value(&mut self, node: NodeId) -> Base {
        let w = self.w(node);
        let (lower, upper, checks, kind) = (w.lower, w.upper, w.checks.clone(), w.kind);
        let kind_x = w.kind_x;
        let mut parts: Vec<Val> = Vec::new();
        let mut covered = Kind::TOP;
        for bound in [lower, upper].into_iter().flatten() {
            parts.push(Val::Lit(bound));
            covered &= self.lit_kind(bound);
        }
        for check in checks {
            let X::Val(id) = check.x else { continue };
            if let Value::Bound {
                op: super::ir::Op::Ne,
                ..
            } = self.value(id)
            {
                let implied = [upper, lower]
                    .into_iter()
                    .flatten()
                    .any(|b| self.simplify_bounds(kind, b, id).is_some());
                if implied {
                    continue;
                }
            }
            parts.push(Val::Lit(id));
            covered &= self.lit_kind(id);
        }
        if !covered.without(kind).is_bottom() {
            parts.push(Val::Lit(self.kind_value(kind, kind_x)));
        }
        match parts.as_slice() {
            [] => {
                if let Some(&id) = self.kinds.get(&kind) {
                    return Base::Val(id);
                }
                let id = self.new_value_at(Value::Type(kind), None);
                self.kinds.insert(kind, id);
                Base::Val(id)
            }
            [Val::Lit(one)] => Base::Val(*one),
            _ => {
                let value = Value::Conjunction(parts.into());
                Base::Val(self.new_value_at(value, None))
            }
        }
    }

    /// A kind as a value: the one that was written, if it says the same.
    fn kind_value(&mut self, kind: Kind, written: Option<X>) -> ValId {
        match (written, kind) {
            (None, Kind::TOP) => return self.top,
            (Some(X::Val(id)), _) if matches!(self.value(id), Value::Type(k) if *k == kind) => {
                return id;
            }
            _ => {}
        }
        let span = written.and_then(|x| self.x_span(x));
        let value = if kind == Kind::TOP {
            Value::Top
        } else {
            Value::Type(kind)
        };
        self.new_value_at(value, span)
    }
}
