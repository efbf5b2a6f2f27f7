//! Expressions over finished scalars, computed at once: without a task, a frame, or a place in the value table.
//!
//! Where every reference leads through finished vertices to a concrete scalar, the usual way would come to the same
//! value, only later. Bodies and conditions of comprehensions are full of such expressions. Whatever is not plain
//! here (something unfinished, an error, a kind that does not fit) is none of this file's business: the answer is
//! `None`, and the usual way goes on and says what is wrong.

use std::borrow::Cow;
use std::fmt;

use super::binop::holds;
use super::builtin::{Body, Core};
use super::context::Ctx;
use super::ids::{EnvId, ExprId, NodeId, ValId};
use super::ir::{Expr, Op};
use super::kind::Kind;
use super::label::Label;
use super::node::{ArcType, Base, Status};
use super::value::{Val, Value};

/// Deeper expressions are left to the usual way, which counts its depth.
const DEPTH: u32 = 32;

impl Ctx {
    /// The scalar that a literal is or a reference leads to.
    pub(super) fn settled_scalar(&self, env: EnvId, expr: ExprId) -> Option<ValId> {
        if self.late.is_some() {
            return None;
        }
        self.scalar_at(env, expr, DEPTH)
    }

    /// The value of an expression.
    pub(super) fn settled_value(&self, env: EnvId, expr: ExprId) -> Option<Cow<'_, Value>> {
        if self.late.is_some() {
            return None;
        }
        self.value_at(env, expr, DEPTH)
    }

    /// Whether a condition holds.
    pub(super) fn settled_truth(&self, env: EnvId, expr: ExprId) -> Option<bool> {
        match *self.settled_value(env, expr)? {
            Value::Bool(holds) => Some(holds),
            _ => None,
        }
    }

    /// The finished vertex that a reference leads to, by its links but without taking a default.
    pub(super) fn settled_target(&self, env: EnvId, expr: ExprId) -> Option<NodeId> {
        if self.late.is_some() {
            return None;
        }
        let found = match self.ir.exprs[expr] {
            Expr::Field { up, label, .. } => {
                let node = self.deref_value(self.env_node(self.env_up(env, up))?);
                if self.work(node).is_some_and(|w| w.errs.is_some()) {
                    return None;
                }
                self.find_arc(node, label)?
            }
            Expr::Select { x, label, .. } => {
                let node = self.vertex_at(env, x, DEPTH)?;
                match self.nodes[node].base {
                    Base::Struct => self.find_arc(node, label)?,
                    _ => return None,
                }
            }
            _ => return None,
        };
        let n = &self.nodes[found];
        let plain = n.arc_type == ArcType::Member && n.status == Status::Finalized;
        let faultless = n.work.as_ref().is_none_or(|w| w.errs.is_none());
        (plain && faultless && matches!(n.base, Base::Val(_))).then_some(found)
    }

    fn scalar_at(&self, env: EnvId, expr: ExprId, depth: u32) -> Option<ValId> {
        let id = match self.ir.exprs[expr] {
            Expr::Value(id) => id,
            Expr::Field { .. } | Expr::Select { .. } => {
                let node = self.vertex_at(env, expr, depth)?;
                match self.nodes[node].base {
                    Base::Val(id) => id,
                    _ => return None,
                }
            }
            _ => return None,
        };
        self.is_scalar(id).then_some(id)
    }

    fn vertex_at(&self, env: EnvId, expr: ExprId, depth: u32) -> Option<NodeId> {
        let depth = depth.checked_sub(1)?;
        match self.ir.exprs[expr] {
            Expr::Field { up, label, .. } => {
                let node = self.env_node(self.env_up(env, up))?;
                let node = self.deref_value(node);
                if self.work(node).is_some_and(|w| w.errs.is_some()) {
                    return None;
                }
                self.settled_field(node, label)
            }
            Expr::Select { x, label, .. } => {
                let node = self.vertex_at(env, x, depth)?;
                match self.nodes[node].base {
                    Base::Struct | Base::List { .. } => self.settled_field(node, label),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn settled_field(&self, node: NodeId, label: Label) -> Option<NodeId> {
        let found = self.find_arc(node, label)?;
        let arc = self.deref_non_rooted(found);
        if self.nodes[arc].arc_type != ArcType::Member {
            return None;
        }
        self.finished(found)
    }

    /// The finished vertex behind links and the only default.
    fn finished(&self, mut node: NodeId) -> Option<NodeId> {
        loop {
            let n = &self.nodes[node];
            // The variable of a comprehension is a bare link.
            let link = n.status == Status::Unprocessed && n.conjuncts.is_empty();
            match &n.work {
                Some(work) if link || work.errs.is_some() => return None,
                _ => {}
            }
            if n.status != Status::Finalized && !link {
                return None;
            }
            match n.base {
                Base::Node(next) => node = next,
                Base::None => return None,
                Base::Val(id) => match self.disjunction(id) {
                    Some(d) => match d.values.first() {
                        Some(&Val::Node(only)) if d.defaults == 1 => node = only,
                        _ => return None,
                    },
                    None => return (n.arc_type == ArcType::Member && !link).then_some(node),
                },
                _ => return (n.arc_type == ArcType::Member && !link).then_some(node),
            }
        }
    }

    fn value_at(&self, env: EnvId, expr: ExprId, depth: u32) -> Option<Cow<'_, Value>> {
        let depth = depth.checked_sub(1)?;
        let computed = match &self.ir.exprs[expr] {
            Expr::Value(_) | Expr::Field { .. } | Expr::Select { .. } => {
                let id = self.scalar_at(env, expr, depth)?;
                return Some(Cow::Borrowed(self.value(id)));
            }
            Expr::Interpolation { kind, parts } if *kind == Kind::STRING => {
                let mut text = String::new();
                self.write_parts(env, parts, depth, &mut text)?;
                Value::String(text.into())
            }
            &Expr::Unary { op, x } => match (op, &*self.value_at(env, x, depth)?) {
                (Op::Not, Value::Bool(b)) => Value::Bool(!b),
                (Op::Sub, Value::Num(n)) => Value::Num(n.negate()),
                _ => return None,
            },
            &Expr::Binary { op, x, y } => {
                let left = self.value_at(env, x, depth)?;
                if let (Op::Eq | Op::Ne, Value::String(text)) = (op, &*left)
                    && let Expr::Interpolation { kind, parts } = &self.ir.exprs[y]
                    && *kind == Kind::STRING
                {
                    let mut rest = Rest(Some(text));
                    self.write_parts(env, parts, depth, &mut rest)?;
                    let equal = rest.0 == Some("");
                    return Some(Cow::Owned(Value::Bool(equal == (op == Op::Eq))));
                }
                let right = self.value_at(env, y, depth)?;
                operate(op, &left, &right)?
            }
            Expr::Call { fun, args } => {
                let Expr::Value(fun) = self.ir.exprs[*fun] else {
                    return None;
                };
                let &Value::Builtin(builtin) = self.value(fun) else {
                    return None;
                };
                let Body::Core(core) = self.builtin(builtin).body else {
                    return None;
                };
                let [x, y] = **args else { return None };
                let left = self.value_at(env, x, depth)?;
                let right = self.value_at(env, y, depth)?;
                divide(core, &left, &right)?
            }
            _ => return None,
        };
        Some(Cow::Owned(computed))
    }

    /// Writes the parts of an interpolated text.
    fn write_parts(
        &self,
        env: EnvId,
        parts: &[ExprId],
        depth: u32,
        out: &mut impl fmt::Write,
    ) -> Option<()> {
        for &part in parts {
            match &*self.value_at(env, part, depth)? {
                Value::String(s) => out.write_str(s).ok()?,
                Value::Num(n) => write!(out, "{n}").ok()?,
                Value::Bool(b) => write!(out, "{b}").ok()?,
                _ => return None,
            }
        }
        Some(())
    }
}

/// What is left of a text behind what was written here; nothing if something else was written. A comparison needs no text of
/// its own to compare with.
struct Rest<'t>(Option<&'t str>);

impl fmt::Write for Rest<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.0 = self.0.and_then(|rest| rest.strip_prefix(part));
        Ok(())
    }
}

fn operate(op: Op, left: &Value, right: &Value) -> Option<Value> {
    let order = match (left, right) {
        (Value::Num(a), Value::Num(b)) => {
            let number = match op {
                Op::Add => a.add(b),
                Op::Sub => a.sub(b),
                Op::Mul => a.mul(b),
                _ => return Some(Value::Bool(compared(op, a.compare(b))?)),
            };
            return number.ok().map(Value::Num);
        }
        (Value::String(a), Value::String(b)) if op == Op::Add => {
            return Some(Value::String([&**a, &**b].concat().into()));
        }
        (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Bool(a), Value::Bool(b)) => match op {
            Op::BoolAnd => return Some(Value::Bool(*a && *b)),
            Op::BoolOr => return Some(Value::Bool(*a || *b)),
            Op::Eq | Op::Ne => a.cmp(b),
            _ => return None,
        },
        _ => return None,
    };
    Some(Value::Bool(compared(op, order)?))
}

fn compared(op: Op, order: std::cmp::Ordering) -> Option<bool> {
    let comparison = matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge);
    comparison.then(|| holds(op, order))
}

fn divide(core: Core, left: &Value, right: &Value) -> Option<Value> {
    let (Value::Num(a), Value::Num(b)) = (left, right) else {
        return None;
    };
    if !a.is_int() || !b.is_int() {
        return None;
    }
    let number = match core {
        Core::Div => a.int_div(b),
        Core::Mod => a.int_mod(b),
        Core::Quo => a.int_quo(b),
        Core::Rem => a.int_rem(b),
        _ => return None,
    };
    number.ok().map(Value::Num)
}
