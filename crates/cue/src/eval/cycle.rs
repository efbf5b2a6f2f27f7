//! Cycles.
//!
//! A conjunct remembers the references through which it came. A reference that leads back to an
//! ancestor, or to a vertex already in its own chain, repeats its structure: such conjuncts are put
//! aside until the vertex gets content that does not repeat itself. If none comes, the vertex is a
//! structural cycle. A reference that leads to the very same vertex adds nothing and is skipped.

use super::context::{Ctx, R, RefStep};
use super::ids::{EnvId, ExprId, NodeId};
use super::ir::Expr;
use super::node::{Base, CloseInfo, Conjunct, Cyclic, Status, X};
use super::sched::FIELD_SET;
use super::value::{Code, Value};
use super::work::{CyclicConjunct, Run, TaskKind, TaskState};

/// How many links of a chain of references make one step.
const LINKS_OF_A_STEP: u64 = 4;

impl Ctx {
    /// Notes that `expr` in `node` leads to `arc`; true if its conjuncts must not be inserted now.
    pub fn detect_cycle(
        &mut self,
        node: NodeId,
        arc: NodeId,
        env: Option<EnvId>,
        expr: ExprId,
        mut ci: CloseInfo,
    ) -> (CloseInfo, bool) {
        if self.has_ancestor(node, arc) {
            return self.mark_cyclic(node, arc, env, expr, ci, true);
        }
        let (has_non_cyclic, has_non_cycle, depth) = {
            let w = self.w(node);
            (w.has_non_cyclic, w.has_non_cycle, w.depth)
        };
        if has_non_cyclic && ci.cyclic == Cyclic::Maybe {
            return (ci, false);
        }
        let mut chain_step = false;
        let mut at = ci.refs;
        let mut looked_at = 0u64;
        let target = self.original(arc);
        while let Some(id) = at {
            // Long chains are work too: they count towards the bound on steps.
            looked_at += 1;
            if looked_at.is_multiple_of(LINKS_OF_A_STEP) {
                self.limits.steps_used += 1;
            }
            let step = self.refs[id];
            at = step.next;
            if self.original(step.arc) == target {
                if self.same_vertex(step.node, node) {
                    return (ci, true);
                }
                if ci.cyclic == Cyclic::Optional && has_non_cyclic {
                    ci.cyclic = Cyclic::Maybe;
                    if step.depth == depth {
                        return (ci, true);
                    }
                    ci.refs = None;
                    return (ci, false);
                }
                let self_feeding = self.nodes[node].is_dynamic
                    && self.status(arc) != Status::Finalized
                    && self.has_disjunction_conjunct(arc);
                if step.expr != expr && has_non_cycle && has_non_cyclic && !self_feeding {
                    continue;
                }
                return self.mark_cyclic(node, arc, env, expr, ci, false);
            }
            if step.expr == expr && self.nodes[arc].non_rooted {
                if self.same_vertex(step.node, node) {
                    if chain_step {
                        continue;
                    }
                    let here = env.and_then(|env| self.env_node(env));
                    let is_step = here.is_some_and(|here| {
                        self.same_vertex(here, node)
                            || self.nodes[step.arc]
                                .parent
                                .is_some_and(|parent| self.same_vertex(here, parent))
                    });
                    if is_step {
                        chain_step = true;
                        continue;
                    }
                    return self.mark_cyclic(node, arc, env, expr, ci, false);
                }
                if self.nodes[step.arc].non_rooted
                    && let Some(parent) = self.nodes[arc].parent
                {
                    let p = &self.nodes[parent];
                    if p.is_dynamic
                        && p.parent.is_none()
                        && p.work.as_ref().is_some_and(|w| w.ancestor_cycle)
                    {
                        return self.mark_cyclic(node, arc, env, expr, ci, true);
                    }
                }
            }
        }
        ci.refs = Some(self.refs.push(RefStep {
            expr,
            arc: self.original(arc),
            node: self.original(node),
            next: ci.refs,
            depth,
        }));
        (ci, false)
    }

    fn has_disjunction_conjunct(&self, node: NodeId) -> bool {
        self.nodes[node]
            .conjuncts
            .iter()
            .any(|c| match self.elem(c.x) {
                X::Expr(e) => matches!(self.ir.exprs[e], Expr::Disjunction { .. }),
                X::Val(v) => matches!(self.value(v), Value::Disjunction(_)),
                _ => false,
            })
    }

    pub fn mark_non_cyclic(&mut self, node: NodeId, ci: CloseInfo) {
        if ci.cyclic <= Cyclic::Optional {
            self.w(node).has_non_cyclic = true;
        }
    }

    /// Marks a conjunct as cyclic, and holds it back while nothing else has been said about the vertex. A cycle
    /// through an ancestor also stops for conjuncts that are cyclic only perhaps.
    fn mark_cyclic(
        &mut self,
        node: NodeId,
        arc: NodeId,
        env: Option<EnvId>,
        expr: ExprId,
        mut ci: CloseInfo,
        through_ancestor: bool,
    ) -> (CloseInfo, bool) {
        ci.cyclic = Cyclic::Yes;
        let w = self.w(node);
        w.any_cyclic = true;
        w.ancestor_cycle |= through_ancestor;
        let other = w.has_non_cycle || !through_ancestor && w.has_non_cyclic;
        let park = !other && env.is_some();
        if park {
            park_conjunct(w, arc, env, expr, ci);
        }
        (ci, park)
    }

    /// The vertex is being evaluated further up, at a smaller depth of the tree.
    pub fn has_depth_cycle(&self, node: NodeId) -> bool {
        self.nodes[node].status != Status::Finalized
            && self
                .work(node)
                .is_some_and(|w| w.eval_depth > 0 && w.eval_depth < self.eval_depth)
    }

    /// Whether a vertex is inside another. To look far up is work too: it counts towards the bound on steps.
    pub fn has_ancestor(&mut self, node: NodeId, arc: NodeId) -> bool {
        if self.has_depth_cycle(arc) {
            return true;
        }
        let arc = self.original(arc);
        let mut at = self.nodes[node].parent;
        let mut looked_at = 0u64;
        while let Some(parent) = at {
            if self.original(parent) == arc {
                return true;
            }
            looked_at += 1;
            at = self.nodes[parent].parent;
        }
        self.limits.steps_used += looked_at / LINKS_OF_A_STEP;
        false
    }

    /// A shared vertex that waits for one that is being evaluated above.
    pub fn shared_in_cycle(&mut self, node: NodeId) -> R<bool> {
        let Some(work) = self.work(node) else {
            return Ok(false);
        };
        for task in work.sched.tasks.clone() {
            let t = self.tasks[task].clone();
            if t.state != TaskState::Ready || t.kind != TaskKind::Resolver {
                continue;
            }
            let Some(X::Expr(expr)) = t.x else { continue };
            let saved = self.push_conjunct(Conjunct {
                env: t.env,
                x: X::Expr(expr),
                ci: t.ci,
            });
            let arc = self.resolve(expr, FIELD_SET, Run::Ignore)?;
            self.pop_state(saved);
            if let Some(arc) = arc
                && arc != self.empty
                && self.has_depth_cycle(self.deref_non_disjunct(arc))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Real content has arrived: if it does not repeat itself, what was put aside may go in.
    pub fn update_cyclic(&mut self, node: NodeId, ci: CloseInfo) -> R<()> {
        let w = self.w(node);
        w.has_field_value = true;
        if ci.cyclic == Cyclic::Yes {
            return Ok(());
        }
        w.has_non_cycle = true;
        for parked in std::mem::take(&mut w.cyclic) {
            let ci = parked.c.ci;
            match parked.arc {
                Some(arc) => self.schedule_vertex_conjuncts(node, parked.c, arc, ci)?,
                None => self.schedule_conjunct(node, parked.c, ci)?,
            }
        }
        Ok(())
    }

    /// True, and an error, if the vertex only repeats itself.
    pub fn assert_structural(&mut self, node: NodeId) -> bool {
        self.w(node).cyclic.clear();
        if self.w(node).only_cyclic() {
            self.report_structural_cycle(node);
            return true;
        }
        false
    }

    pub fn report_structural_cycle(&mut self, node: NodeId) {
        let err = self.error("structural cycle", &[]);
        let bottom = self.new_bottom_on(Code::StructuralCycle, err, Some(node));
        let before = match self.node_value(node) {
            Some(v) => self.as_bottom(Some(v)),
            None => None,
        };
        let before = before.filter(|&b| b != self.cycle);
        let bottom = self.combine(before, Some(bottom)).unwrap_or(bottom);
        self.nodes[node].base = Base::Val(bottom);
        self.nodes[node].arcs.clear();
    }

    /// Conjuncts put aside that cannot recur are inserted when nothing else is there to do.
    pub fn flush_cyclic(&mut self, node: NodeId) -> R<()> {
        let w = self.w(node);
        if w.cyclic.is_empty() || !w.sched.tasks.is_empty() {
            return Ok(());
        }
        w.has_non_cyclic = true;
        let parked = std::mem::take(&mut w.cyclic);
        let mut kept = Vec::new();
        for p in parked {
            let safe = match self.elem(p.c.x) {
                X::Expr(e) => self.safe_to_flush(e),
                X::Val(_) | X::Node(_) => true,
                X::Decl(_) => false,
            };
            if !safe {
                kept.push(p);
                continue;
            }
            let mut c = p.c;
            c.ci.cyclic = Cyclic::No;
            match p.arc {
                Some(arc) => self.schedule_vertex_conjuncts(node, c, arc, c.ci)?,
                None => self.schedule_conjunct(node, c, c.ci)?,
            }
        }
        self.w(node).cyclic.extend(kept);
        Ok(())
    }

    fn safe_to_flush(&self, expr: ExprId) -> bool {
        match &self.ir.exprs[expr] {
            Expr::LabelRef { .. } | Expr::Value(_) => true,
            Expr::Binary { x, y, .. } => self.safe_to_flush(*x) && self.safe_to_flush(*y),
            Expr::Unary { x, .. } => self.safe_to_flush(*x),
            Expr::Call { args, .. } => args.iter().all(|&a| self.safe_to_flush(a)),
            Expr::List(elems) => elems.iter().all(|&e| self.safe_to_flush(e)),
            Expr::Interpolation { parts, .. } => parts.iter().all(|&p| self.safe_to_flush(p)),
            _ => false,
        }
    }
}

fn park_conjunct(
    work: &mut super::work::Work,
    arc: NodeId,
    env: Option<EnvId>,
    expr: ExprId,
    ci: CloseInfo,
) {
    work.cyclic.push(CyclicConjunct {
        c: Conjunct {
            env,
            x: X::Expr(expr),
            ci,
        },
        arc: Some(arc),
    });
}
