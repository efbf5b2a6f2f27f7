//! Disjuncts that cannot fit are told apart before anything is copied, and copies give back what they hold.

use smallvec::{SmallVec, smallvec};

use super::context::Ctx;
use super::ids::{NodeId, ValId};
use super::ir::{DeclKind, Expr};
use super::node::{ArcType, Base, CloseInfo, Conjunct, Status, X};
use super::value::{Code, Val, Value};

impl Ctx {
    /// Whether it is plain that a disjunct cannot fit, of a literal or of the literals in its fields. What
    /// [`Ctx::quick_reject`] finds wrong cannot fit, and more.
    pub(super) fn cannot_fit(&self, base: NodeId, c: Conjunct) -> bool {
        let expr = match self.elem(c.x) {
            X::Val(id) => return self.excludes(base, id),
            X::Expr(expr) => expr,
            _ => return false,
        };
        let Expr::Struct(lit) = &self.ir.exprs[expr] else {
            return false;
        };
        self.ir.members(lit.decls).iter().any(|&decl| {
            if let DeclKind::Field { label, value, .. } = self.ir.decls[decl].kind
                && let Expr::Value(id) = self.ir.exprs[value]
                && self.is_scalar(id)
                && let Some(arc) = self.find_arc(base, label)
            {
                self.nodes[arc].arc_type == ArcType::Member
                    && self.work(arc).is_some_and(|w| w.initialized)
                    && self.excludes(arc, id)
            } else {
                false
            }
        })
    }

    /// Whether the scalar that a vertex is known to be excludes a literal.
    fn excludes(&self, node: NodeId, id: ValId) -> bool {
        let Some(work) = self.work(node) else {
            return false;
        };
        let Some(before) = work.scalar else {
            return false;
        };
        let (kind, known) = (self.lit_kind(id), self.lit_kind(before));
        if matches!(self.value(id), Value::Type(_)) {
            return !kind.meets(known);
        }
        self.is_scalar(id) && (kind != known || !self.scalars_equal(id, before))
    }

    /// Whether a value is a concrete scalar.
    pub(super) fn is_scalar(&self, id: ValId) -> bool {
        matches!(
            self.value(id),
            Value::Null | Value::Bool(_) | Value::Num(_) | Value::String(_) | Value::Bytes(_)
        )
    }

    /// A cheap look whether the disjunct can fit at all: a scalar against what is known of the
    /// vertex, or the scalar fields of a literal against those of the vertex.
    pub(super) fn quick_reject(&mut self, base: NodeId, c: Conjunct) -> Option<ValId> {
        let expr = match self.elem(c.x) {
            X::Val(id) => return self.reject_scalar(base, id, c.ci),
            X::Expr(expr) => expr,
            _ => return None,
        };
        let Expr::Struct(lit) = &self.ir.exprs[expr] else {
            return None;
        };
        let decls = lit.decls;
        for i in 0..decls.len() {
            let decl = *self.ir.members(decls).get(i)?;
            let DeclKind::Field { label, value, .. } = self.ir.decls[decl].kind else {
                continue;
            };
            let Expr::Value(id) = self.ir.exprs[value] else {
                continue;
            };
            let Some(arc) = self.find_arc(base, label) else {
                continue;
            };
            if self.nodes[arc].arc_type == ArcType::Member
                && self.work(arc).is_some_and(|w| w.initialized)
                && let Some(err) = self.reject_scalar(arc, id, c.ci)
            {
                return Some(err);
            }
        }
        None
    }

    /// The conflict of a literal with the scalar that a vertex is known to be.
    pub(super) fn reject_scalar(
        &mut self,
        node: NodeId,
        id: ValId,
        ci: CloseInfo,
    ) -> Option<ValId> {
        if !self.is_scalar(id) {
            return None;
        }
        let work = self.work(node)?;
        let before = work.scalar?;
        let before_id = work.scalar_id;
        let (kind, before_kind) = (self.lit_kind(id), self.lit_kind(before));
        if kind != before_kind || self.scalars_equal(id, before) {
            return None;
        }
        let saved = self.push_node(node);
        let err = self.conflict_error(
            (X::Val(id), kind, ci.def),
            (X::Val(before), before_kind, before_id),
        );
        self.node = saved;
        Some(self.new_bottom_on(Code::Eval, err, Some(node)))
    }

    /// Gives back what a copy holds that is not needed any more.
    pub(super) fn discard(&mut self, copy: NodeId) {
        let mut stack = vec![copy];
        while let Some(node) = stack.pop() {
            let n = &mut self.nodes[node];
            stack.append(&mut n.arcs.take());
            n.conjuncts.clear();
            self.free_work(node);
        }
    }

    /// Drops the work of finished disjuncts.
    pub fn free_disjuncts(&mut self, node: NodeId) {
        let mut stack: SmallVec<[NodeId; 8]> = match self.nodes[node].base {
            Base::Node(d) if self.nodes[d].is_disjunct => smallvec![d],
            Base::Val(id) => match self.disjunction(id) {
                Some(d) => d
                    .values
                    .iter()
                    .filter_map(|v| match v {
                        Val::Node(n) => Some(*n),
                        Val::Lit(_) => None,
                    })
                    .filter(|&n| self.nodes[n].is_disjunct)
                    .collect(),
                None => return,
            },
            _ => return,
        };
        while let Some(n) = stack.pop() {
            // A link is as final as what it leads to, which may have been finished after it.
            if matches!(self.nodes[n].base, Base::Node(_)) && self.status(n) == Status::Finalized {
                self.nodes[n].status = Status::Finalized;
            }
            let free = self.nodes[n].status == Status::Finalized
                && self.work(n).is_some_and(|w| w.retain == 0);
            if free {
                self.free_work(n);
                stack.extend(self.nodes[n].arcs.list.iter().copied());
                if let Base::Node(d) = self.nodes[n].base
                    && self.nodes[d].is_disjunct
                {
                    stack.push(d);
                }
            }
        }
    }
}
