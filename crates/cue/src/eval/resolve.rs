//! Resolving references: from an expression to the vertex it leads to.

use super::context::{Ctx, R};
use super::ids::{ExprId, NodeId};
use super::ir::Expr;
use super::kind::Kind;
use super::label::Label;
use super::node::{ArcType, Conjunct, Cyclic, LetEntry, Node, Status, X};
use super::sched::{ARC_TYPE, Cond, FIELD_SET, NEED_FIELD_SET};
use super::value::{Arg, Code, Val};
use super::work::Run;

impl Ctx {
    /// The vertex a reference leads to. `empty` stands for one that could not be found.
    pub fn resolve(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<NodeId>> {
        let pos = self.ir.span(expr);
        match self.ir.exprs[expr] {
            Expr::Field {
                up,
                label,
                optional,
            } => {
                let Some(node) = self.env_node(self.env_up(self.env, up)) else {
                    return Ok(None);
                };
                let saved = self.errs.take();
                let arc = self.lookup_late(node, pos, label, needs, run)?;
                let arc = self.check_skip(optional, arc);
                self.errs = self.combine(self.errs, saved);
                Ok(arc)
            }
            Expr::ValueRef { up, .. } => {
                if up == 0 {
                    return Ok(self.node);
                }
                Ok(self.env_node(self.env_up(self.env, up - 1)))
            }
            Expr::Dynamic { up, label } => {
                let env = self.env_up(self.env, up);
                let saved = self.push_state(env, pos);
                let value = self.operand(label);
                let errs = self.pop_state(saved);
                if let Some(errs) = errs {
                    self.add_bottom(errs);
                }
                let Some(value) = value? else {
                    return Ok(None);
                };
                let label = self.label_of_value(Some(label), value);
                let Some(node) = self.env_node(env) else {
                    return Ok(None);
                };
                self.lookup_late(node, pos, label, needs, run)
            }
            Expr::Import { path, .. } => {
                let found = self.packages.get(&path).copied();
                if found.is_none() {
                    self.add_error(
                        Code::Eval,
                        pos,
                        "cannot find package %",
                        &[Arg::Label(path)],
                    );
                }
                Ok(found)
            }
            Expr::Let { up, label, x } => self.resolve_let(expr, up, label, x, needs, run),
            Expr::Select {
                x,
                label,
                at,
                optional,
            } => {
                let node = self.container(expr, x, label.is_regular())?;
                if node == self.empty {
                    return Ok(Some(node));
                }
                let saved = self.errs.take();
                let arc = self.lookup_late(node, Some(at), label, needs, run)?;
                let arc = self.check_skip(optional, arc);
                self.errs = self.combine(self.errs, saved);
                Ok(arc)
            }
            Expr::Index { x, index, optional } => {
                let node = self.container(expr, x, true)?;
                let value = self.operand(index)?;
                if node == self.empty {
                    return Ok(Some(node));
                }
                let Some(value) = value else { return Ok(None) };
                let label = self.label_of_value(Some(index), value);
                if self.errs.is_some() {
                    return Ok(None);
                }
                let pos = self.ir.span(index);
                let arc = self.lookup_late(node, pos, label, needs, run)?;
                Ok(self.check_skip(optional, arc))
            }
            _ => Ok(None),
        }
    }

    /// An optional reference that fails makes the enclosing `try` skip.
    pub(super) fn check_skip(&mut self, optional: bool, arc: Option<NodeId>) -> Option<NodeId> {
        if arc.is_none() && optional && self.errs.is_some_and(|e| self.is_incomplete(e)) {
            let mut at = self.node;
            while let Some(node) = at {
                if self.work(node).is_some_and(|w| w.try_skip.is_some()) {
                    self.w(node).try_skip = Some(true);
                    break;
                }
                at = self.nodes[node].parent;
            }
        }
        arc
    }

    pub(super) fn resolve_let(
        &mut self,
        expr: ExprId,
        up: u32,
        label: Label,
        x: Option<ExprId>,
        needs: Cond,
        run: Run,
    ) -> R<Option<NodeId>> {
        let env = self.env_up(self.env, up);
        if let Some(x) = x
            && let Expr::ValueRef { up, .. } = self.ir.exprs[x]
            && up > 0
        {
            return Ok(self.env_node(self.env_up(env, up - 1)));
        }
        let Some(node) = self.env_node(env) else {
            return Ok(None);
        };
        let pos = self.ir.span(expr);
        let Some(arc) = self.lookup_late(node, pos, label, needs, run)? else {
            return Ok(None);
        };
        let bottom = self.node_bottom(arc);
        let in_progress = self.state(arc)?;
        if !self.nodes[arc].multi_let
            && (bottom.is_none() && !in_progress || bottom == Some(self.cycle))
        {
            return Ok(Some(arc));
        }
        let Some(&c) = self.nodes[arc].conjuncts.first() else {
            return Ok(Some(arc));
        };
        let value = match self.elem(c.x) {
            X::Expr(e) => Some(e),
            _ => None,
        };
        let known = self.envs[env]
            .lets
            .iter()
            .find(|e| e.expr == value && e.arc == arc)
            .copied();
        if let Some(known) = known {
            let stale = self.is_cycle_base(self.nodes[known.node].base)
                && self.nodes[arc].status != Status::Finalized
                && !known.again;
            if !stale {
                return Ok(Some(known.node));
            }
        }
        let mut node = Node::new(self.nodes[arc].parent, label, ArcType::Member);
        node.is_dynamic = bottom.is_some_and(|b| self.code(b) == Code::StructuralCycle);
        node.conjuncts.push(Conjunct {
            env: Some(env),
            x: value.map_or(c.x, X::Expr),
            ci: c.ci,
        });
        let node = self.nodes.push(node);
        let lets = &mut self.envs[env].lets;
        lets.retain(|e| !(e.expr == value && e.arc == arc));
        lets.push(LetEntry {
            expr: value,
            arc,
            node,
            again: known.is_some(),
        });
        Ok(Some(node))
    }

    /// The struct or list that is selected from.
    pub(super) fn container(&mut self, orig: ExprId, x: ExprId, scalar: bool) -> R<NodeId> {
        let saved = self.ci.from_def;
        let resolver = self.ir.is_resolver(x);
        if !resolver {
            self.ci.from_def = false;
        }
        let value = self.unify_operand(x, NEED_FIELD_SET, Run::Yield)?;
        let result = self.judge_container(orig, x, scalar, value);
        if !resolver {
            self.ci.from_def = saved;
        }
        result
    }

    pub(super) fn judge_container(
        &mut self,
        orig: ExprId,
        x: ExprId,
        scalar: bool,
        value: Option<Val>,
    ) -> R<NodeId> {
        let before = value;
        let mut v = self.get_default(value);
        if before.is_some() && v.is_none() {
            return Ok(self.empty);
        }
        if scalar {
            let w = self.unwrap(v);
            if w != Some(Val::Lit(self.cycle)) {
                v = w;
            }
        }
        let pos = self.ir.span(x);
        let node = match v {
            Some(Val::Node(node)) => Some(node),
            _ => None,
        };
        if let Some(node) = node
            && !self.is_cycle_base(self.nodes[node].base)
        {
            v = self.node_value(node);
        }
        match v {
            None => {
                let args = [Arg::Expr(orig), Arg::Expr(x)];
                self.add_error(
                    Code::Incomplete,
                    pos,
                    "% undefined (% is incomplete)",
                    &args,
                );
                Ok(self.empty)
            }
            Some(Val::Lit(id)) if self.bottom(id).is_some() => {
                self.add_bottom(id);
                Ok(self.empty)
            }
            Some(Val::Node(inner)) => {
                if self.nodes[inner].non_rooted {
                    self.complete_shallow(inner)?;
                }
                Ok(node.unwrap_or(inner))
            }
            Some(value) => {
                let kind = self.kind(value);
                if kind.meets(Kind::STRUCT) {
                    let args = [Arg::Expr(orig), Arg::Expr(x), Arg::Kind(kind)];
                    self.add_error(
                        Code::Incomplete,
                        pos,
                        "% undefined as % is incomplete (type %)",
                        &args,
                    );
                    return Ok(self.empty);
                }
                match node {
                    Some(node) => Ok(node),
                    None => {
                        self.add_error(
                            Code::Eval,
                            pos,
                            "invalid operand % (found %, want list or struct)",
                            &[Arg::Source(x), Arg::Kind(kind)],
                        );
                        Ok(self.empty)
                    }
                }
            }
        }
    }

    /// Evaluates an expression of which the fields matter, not the value.
    pub fn unify_operand(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<Val>> {
        let saved_src = self.src;
        self.src = self.ir.span(expr);
        let saved_errs = self.errs.take();
        let mut value = self.unify_operand_inner(expr, needs, run)?;
        self.errs = self.combine(self.errs, saved_errs);
        if let Some(Val::Node(node)) = value
            && let Some(bottom) = self.node_bottom(node)
            && !self.is_incomplete(bottom)
        {
            value = Some(Val::Lit(bottom));
        }
        if let Some(Val::Lit(id)) = value
            && self.bottom(id).is_some()
        {
            let placed = self.place_cycle(id);
            self.errs = self.combine(self.errs, Some(placed));
        }
        if let Some(errs) = self.errs {
            value = Some(Val::Lit(errs));
        }
        self.src = saved_src;
        Ok(value)
    }

    pub(super) fn unify_operand_inner(
        &mut self,
        expr: ExprId,
        needs: Cond,
        run: Run,
    ) -> R<Option<Val>> {
        if !self.ir.is_resolver(expr) {
            return match self.ir.exprs[expr] {
                Expr::Value(id) => Ok(Some(Val::Lit(id))),
                _ => self.compute(expr, needs, run),
            };
        }
        let arc = self.resolve(expr, needs, run)?;
        if self.errs.is_some() {
            return Ok(None);
        }
        let Some(arc) = arc else { return Ok(None) };
        let v = self.deref_value(arc);
        if self.state(v)? {
            self.w(v).retain += 1;
            if self.ci.cyclic != Cyclic::Yes {
                self.w(v).has_non_cycle = true;
            }
            let mut result = self.process(v, ARC_TYPE | FIELD_SET, Run::Yield);
            if result.is_ok()
                && self
                    .work(v)
                    .is_some_and(|w| !w.disjuncts.is_empty() || w.literals.is_some())
            {
                result = self.unify(v, ARC_TYPE | FIELD_SET, Run::Yield, false);
            }
            if self.nodes[v].work.is_some() {
                self.w(v).retain -= 1;
            }
            result?;
        }
        Ok(Some(Val::Node(v)))
    }
}
