//! Computing expressions: operators, slices, interpolation, literals used as operands.

use super::context::{Ctx, R};
use super::ids::{EnvId, ExprId, NodeId};
use super::ir::{Expr, Op};
use super::kind::Kind;
use super::label::Label;
use super::node::{ArcType, Base, CloseInfo, Conjunct, Node, Role, Status, X};
use super::sched::{Cond, FIELD_SET, SCALAR};
use super::value::{Arg, Bottom, Code, Val, Value};
use super::work::Run;

impl Ctx {
    pub(super) fn compute(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<Val>> {
        match &self.ir.exprs[expr] {
            Expr::LabelRef { up, .. } => {
                let env = self.env_up(self.env, *up);
                let label = self.envs[env].label;
                let id = if label == Label::NONE {
                    self.new_value(Value::Type(Kind::STRING))
                } else {
                    self.label_value(label)
                };
                Ok(Some(Val::Lit(id)))
            }
            Expr::Slice { x, lo, hi } => {
                let (x, lo, hi) = (*x, *lo, *hi);
                self.slice(x, lo, hi)
            }
            Expr::Interpolation { kind, .. } => {
                let kind = *kind;
                self.interpolate(expr, kind)
            }
            Expr::Unary { op, x } => {
                let (op, x) = (*op, *x);
                self.unary(expr, op, x)
            }
            Expr::Binary { op, x, y } => {
                let (op, x, y) = (*op, *x, *y);
                self.binary(expr, op, x, y, run)
            }
            Expr::Bound { op, x } => {
                let (op, x) = (*op, *x);
                self.bound(expr, op, x)
            }
            Expr::Call { .. } => self.call(expr, needs, run),
            Expr::Disjunction { .. } => {
                let c = Conjunct {
                    env: Some(self.env),
                    x: X::Expr(expr),
                    ci: self.ci,
                };
                let node = self.inline_node(Base::None, &[c]);
                self.finalize(node)?;
                Ok(Some(Val::Node(node)))
            }
            Expr::Struct(_) | Expr::List(_) => {
                let c = Conjunct {
                    env: Some(self.env),
                    x: X::Expr(expr),
                    ci: self.ci,
                };
                let node = self.inline_node(Base::None, &[c]);
                self.complete_shallow(node)?;
                Ok(Some(Val::Node(node)))
            }
            _ => Ok(None),
        }
    }

    /// A literal used as an operand.
    pub(super) fn inline_complete(&mut self, node: NodeId) -> R<()> {
        let in_dynamic = self
            .env_node(self.env)
            .is_some_and(|n| self.nodes[n].is_dynamic);
        if self.in_detached == 0 && in_dynamic || self.in_validator > 0 {
            self.finalize(node)
        } else {
            self.complete_shallow(node)
        }
    }

    pub(super) fn slice(
        &mut self,
        x: ExprId,
        lo: Option<ExprId>,
        hi: Option<ExprId>,
    ) -> R<Option<Val>> {
        let value = self.eval_concrete(x, FIELD_SET, Run::Yield)?;
        let Some(value) = value else {
            self.add_error(
                Code::Incomplete,
                self.src,
                "non-concrete slice subject %",
                &[Arg::Expr(x)],
            );
            return Ok(None);
        };
        let bytes = match value {
            Val::Lit(id) => match self.value(id) {
                Value::Bytes(b) => Some(b.clone()),
                _ => None,
            },
            Val::Node(_) => None,
        };
        let list = match value {
            Val::Node(node) if matches!(self.nodes[node].base, Base::List { .. }) => Some(node),
            _ => None,
        };
        if bytes.is_none() && list.is_none() {
            if self.is_error(Some(value)) {
                return Ok(Some(value));
            }
            let kind = self.kind(value);
            let bottom = self.fail(
                "cannot slice % (type %)",
                &[Arg::Val(value), Arg::Kind(kind)],
            );
            return Ok(Some(Val::Lit(bottom)));
        }
        let len = match (&bytes, list) {
            (Some(bytes), _) => bytes.len() as u64,
            (None, Some(node)) => self.nodes[node].arcs.len() as u64,
            (None, None) => 0,
        };
        let mut from = 0;
        let mut to = len;
        if let Some(lo) = lo {
            let v = self.operand(lo)?;
            from = self.to_u64(v, "slice index");
        }
        if let Some(hi) = hi {
            let v = self.operand(hi)?;
            to = self.to_u64(v, "slice index");
            if to > len {
                let n = i64::try_from(to).unwrap_or(i64::MAX);
                let bottom = self.fail("index % out of range", &[Arg::Int(n)]);
                return Ok(Some(Val::Lit(bottom)));
            }
        }
        if from > to {
            let arg = |n: u64| Arg::Int(i64::try_from(n).unwrap_or(i64::MAX));
            let bottom = self.fail("invalid slice index: % > %", &[arg(from), arg(to)]);
            return Ok(Some(Val::Lit(bottom)));
        }
        let (from, to) = (
            usize::try_from(from).unwrap_or(0),
            usize::try_from(to).unwrap_or(0),
        );
        if let Some(bytes) = bytes {
            let part = bytes.get(from..to).unwrap_or(&[]).into();
            return Ok(Some(Val::Lit(self.new_value(Value::Bytes(part)))));
        }
        let Some(list) = list else { return Ok(None) };
        let arcs = self.nodes[list].arcs.list.clone();
        let out = self.inline_node(Base::List { open: false }, &[]);
        self.nodes[out].parent = self.nodes[list].parent;
        for (i, &arc) in arcs.get(from..to).unwrap_or(&[]).iter().enumerate() {
            let label = Label::int(i);
            let copy = self.copy_node(arc, Some(out), label);
            self.push_arc(out, label, copy);
        }
        self.nodes[out].status = Status::Finalized;
        Ok(Some(Val::Node(out)))
    }

    /// A vertex with the same content in another place.
    pub fn copy_node(&mut self, node: NodeId, parent: Option<NodeId>, label: Label) -> NodeId {
        let n = &self.nodes[node];
        let mut copy = Node::new(parent, label, n.arc_type);
        copy.status = n.status;
        copy.base = n.base;
        copy.conjuncts = n.conjuncts.clone();
        copy.arcs = n.arcs.clone();
        copy.child_errors = n.child_errors;
        if n.role == Role::Data {
            copy.role = Role::Data;
        }
        copy.closed_recursive = n.closed_recursive;
        copy.closed_once = n.closed_once;
        copy.has_ellipsis = n.has_ellipsis;
        copy.is_dynamic = n.is_dynamic;
        copy.non_rooted = n.non_rooted;
        copy.anonymous = n.anonymous;
        copy.is_shared = n.is_shared;
        if copy.status != Status::Finalized {
            copy.status = Status::Unprocessed;
            if copy.base == Base::Val(self.cycle) {
                copy.base = Base::None;
            }
            copy.arcs.clear();
            copy.arcs.clear_structs();
        }
        self.nodes.push(copy)
    }

    pub(super) fn interpolate(&mut self, expr: ExprId, kind: Kind) -> R<Option<Val>> {
        let mut text: Vec<u8> = Vec::new();
        let mut i = 0;
        while let Expr::Interpolation { parts, .. } = &self.ir.exprs[expr]
            && let Some(&part) = parts.get(i)
        {
            i += 1;
            let value = self.operand(part)?;
            self.append_text(&mut text, value, kind);
        }
        if let Some(errs) = self.take_errs() {
            let outer = self.error_at(self.ir.span(expr), "invalid interpolation", &[]);
            // The wrapper has a place but no path of its own.
            self.errors[outer].node = None;
            self.errors[outer].alt_path = None;
            return Ok(Some(Val::Lit(self.wrap_bottom(outer, errs))));
        }
        let span = self.ir.span(expr);
        let value = if kind == Kind::BYTES {
            Value::Bytes(text.into())
        } else {
            Value::String(String::from_utf8_lossy(&text).into())
        };
        Ok(Some(Val::Lit(self.new_value_at(value, span))))
    }

    pub(super) fn append_text(&mut self, out: &mut Vec<u8>, value: Option<Val>, kind: Kind) {
        if kind == Kind::BYTES
            && let Some(Val::Lit(id)) = value
            && let Value::Bytes(bytes) = self.value(id)
        {
            out.extend_from_slice(bytes);
            return;
        }
        let text = self.to_text(value);
        out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn unary(&mut self, expr: ExprId, op: Op, x: ExprId) -> R<Option<Val>> {
        if !self.concrete_possible(op, x) {
            return Ok(None);
        }
        let value = self.operand(x)?;
        if self.is_error(value) {
            return Ok(value);
        }
        let Some(value) = value else { return Ok(None) };
        let span = self.ir.span(expr);
        let computed = match (op, value) {
            (Op::Sub, Val::Lit(id)) => match self.value(id) {
                Value::Num(n) => Some(Value::Num(n.negate())),
                _ => None,
            },
            (Op::Add, Val::Lit(id)) => match self.value(id) {
                Value::Num(_) => return Ok(Some(value)),
                _ => None,
            },
            (Op::Not, Val::Lit(id)) => match self.value(id) {
                Value::Bool(b) => Some(Value::Bool(!b)),
                _ => None,
            },
            _ => None,
        };
        if let Some(computed) = computed {
            return Ok(Some(Val::Lit(self.new_value_at(computed, span))));
        }
        let kind = self.kind(value);
        let wanted = if op == Op::Not {
            Kind::BOOL
        } else {
            Kind::NUMBER
        };
        if kind.meets(wanted) {
            let pos = self.ir.span(x);
            self.add_error(
                Code::Incomplete,
                pos,
                "operand % of '%' not concrete (was %)",
                &[Arg::Expr(x), Arg::Str(op.text()), Arg::Kind(kind)],
            );
            return Ok(None);
        }
        let bottom = self.fail(
            "invalid operation % (% %)",
            &[Arg::Expr(expr), Arg::Str(op.text()), Arg::Kind(kind)],
        );
        Ok(Some(Val::Lit(bottom)))
    }

    pub(super) fn concrete_possible(&mut self, op: Op, x: ExprId) -> bool {
        let possible = match &self.ir.exprs[x] {
            Expr::Bound { .. } => false,
            Expr::Value(id) => self.lit_is_concrete(*id),
            _ => true,
        };
        if !possible {
            let err = self.error_at(
                None,
                "invalid operand % ('%' requires concrete value)",
                &[Arg::Expr(x), Arg::Str(op.text())],
            );
            let bottom = self.new_bottom(Code::Eval, err);
            self.add_bottom(bottom);
        }
        possible
    }

    pub(super) fn is_literal_bottom(&self, x: ExprId) -> bool {
        matches!(self.ir.exprs[x], Expr::Value(id)
            if self.bottom(id).is_some_and(|b: &Bottom| b.code == Code::Literal))
    }

    pub(super) fn binary(
        &mut self,
        expr: ExprId,
        op: Op,
        x: ExprId,
        y: ExprId,
        _run: Run,
    ) -> R<Option<Val>> {
        let env = self.env;
        if op == Op::And {
            let c = Conjunct {
                env: Some(env),
                x: X::Expr(expr),
                ci: CloseInfo {
                    refs: self.ci.refs,
                    ..CloseInfo::default()
                },
            };
            let node = self.inline_node(Base::None, &[c]);
            self.inline_complete(node)?;
            return Ok(Some(Val::Node(node)));
        }
        if !self.concrete_possible(op, x) || !self.concrete_possible(op, y) {
            return Ok(None);
        }
        if matches!(op, Op::Eq | Op::Ne) {
            if self.is_literal_bottom(x) {
                return self.compare_bottom(env, y, op);
            }
            if self.is_literal_bottom(y) {
                return self.compare_bottom(env, x, op);
            }
        }
        let left = self.concrete_operand(env, x, op)?;
        let right = self.concrete_operand(env, y, op)?;
        if let Some(err) = self.combine_vals(left, right) {
            return Ok(Some(Val::Lit(err)));
        }
        if let Some(err) = self.take_errs() {
            return Ok(Some(Val::Lit(err)));
        }
        match (left, right) {
            (Some(left), Some(right)) => {
                let mut result = self.binop(op, left, right)?;
                for (x, operand) in [(y, right), (x, left)] {
                    result = self.forget_operand(x, operand, result);
                }
                Ok(Some(result))
            }
            _ => Ok(None),
        }
    }

    /// Takes back the text that an interpolation made only to be compared. Conditions of comprehensions make many.
    fn forget_operand(&mut self, x: ExprId, operand: Val, result: Val) -> Val {
        let (Val::Lit(text), Val::Lit(found)) = (operand, result) else {
            return result;
        };
        let made = matches!(self.ir.exprs[x], Expr::Interpolation { .. })
            && matches!(self.value(text), Value::String(_))
            && matches!(self.value(found), Value::Bool(_));
        if !made || !self.vals.is_last(found) {
            return result;
        }
        let Some(slot) = self.vals.pop() else {
            return result;
        };
        if self.vals.is_last(text) {
            self.vals.pop();
        }
        Val::Lit(self.vals.push(slot))
    }

    /// Takes back the truth value that an operator computed and that was looked at.
    pub(super) fn drop_computed(&mut self, expr: ExprId, value: Option<Val>) {
        if let Some(Val::Lit(id)) = value
            && matches!(
                self.ir.exprs[expr],
                Expr::Binary { .. } | Expr::Unary { op: Op::Not, .. }
            )
            && matches!(self.value(id), Value::Bool(_))
            && self.vals.is_last(id)
        {
            self.vals.pop();
        }
    }

    pub(super) fn concrete_operand(&mut self, env: EnvId, x: ExprId, op: Op) -> R<Option<Val>> {
        if let Some(id) = self.settled_scalar(env, x) {
            return Ok(Some(Val::Lit(id)));
        }
        let span = self.ir.span(x);
        let saved = self.push_state(env, span);
        let value = self.eval(x, SCALAR, Run::Yield);
        let _ = self.pop_state(saved);
        let value = value?;
        let with_default = self.get_default(value);
        if value.is_some() && with_default.is_none() {
            return Ok(None);
        }
        let unwrapped = self.unwrap(with_default);
        if !self.opt_is_concrete(unwrapped) {
            let shown = with_default.unwrap_or(Val::Lit(self.top));
            let err = self.error(
                "non-concrete value % in operand to %",
                &[Arg::Val(shown), Arg::Str(op.text())],
            );
            let bottom = self.new_bottom(Code::Incomplete, err);
            return Ok(Some(Val::Lit(bottom)));
        }
        Ok(unwrapped)
    }

    /// `&`-unification of values into a fresh vertex, as `all` of them together.
    pub fn unify_values(&mut self, vals: &[Val]) -> R<NodeId> {
        let mut node = Node::new(None, Label::NONE, ArcType::Member);
        if let Some(here) = self.node {
            node.parent = self.nodes[here].parent;
            node.label = self.nodes[here].label;
        }
        let node = self.nodes.push(node);
        self.bare_state(node);
        for &val in vals {
            let mut ci = self.ci;
            ci.from_def = false;
            if let Val::Node(v) = val {
                ci = self.new_scope(node, X::Node(v), ci, super::work::ReqKind::Struct);
                let mut at = Some(v);
                while let Some(n) = at {
                    if self.nodes[n].label.is_def() {
                        ci.top_def = true;
                        break;
                    }
                    at = self.nodes[n].parent;
                }
            }
            self.nodes[node].conjuncts.push(Conjunct {
                env: None,
                x: X::from(val),
                ci,
            });
        }
        self.state(node)?;
        let non_cyclic = self
            .node
            .and_then(|n| self.work(n))
            .is_some_and(|w| w.has_non_cyclic);
        let here = self.node;
        let w = self.w(node);
        w.drop_parent_reqs = true;
        if here.is_some() {
            w.has_non_cyclic |= non_cyclic;
        }
        self.finalize(node)?;
        Ok(node)
    }
}
