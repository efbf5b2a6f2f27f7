//! Evaluating expressions and resolving references.
//!
//! `eval` gives a value, `resolve` a vertex. Neither takes a default; callers that need a concrete
//! value use `eval_concrete`. Nothing (`None`) means that an error of the frame says why.

use super::context::{Ctx, R, Stop};
use super::ids::{ExprId, NodeId};
use super::ir::Expr;
use super::node::{ArcType, Base, CloseInfo, Status};
use super::sched::{ARC_TYPE, Cond, SCALAR};
use super::value::{Arg, Code, Val};
use super::work::Run;

impl Ctx {
    pub fn eval(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<Val>> {
        Ok(self.eval_ci(expr, needs, run, false)?.0)
    }

    /// Evaluates and takes the default; a scalar vertex becomes its scalar.
    pub fn eval_concrete(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<Val>> {
        if self.errs.is_none()
            && let Some(id) = self.settled_scalar(self.env, expr)
        {
            return Ok(Some(Val::Lit(id)));
        }
        let value = self.eval_ci(expr, needs, run, true)?.0;
        let value = self.get_default(value);
        Ok(self.unwrap(value))
    }

    /// The usual way to evaluate an operand.
    pub fn operand(&mut self, expr: ExprId) -> R<Option<Val>> {
        self.eval_concrete(expr, SCALAR, Run::Yield)
    }

    pub fn eval_ci(
        &mut self,
        expr: ExprId,
        needs: Cond,
        run: Run,
        concrete: bool,
    ) -> R<(Option<Val>, CloseInfo)> {
        let saved_src = self.src;
        self.src = self.ir.span(expr);
        let saved_errs = self.errs.take();
        let saved_ci = self.ci;
        let result = self.eval_inner(expr, needs, run, concrete);
        let ci = self.ci;
        let mut value = match result {
            Ok(value) => value,
            Err(stop) => {
                self.src = saved_src;
                self.ci = saved_ci;
                self.errs = saved_errs;
                return Err(stop);
            }
        };
        self.errs = self.combine(self.errs, saved_errs);
        if let Some(Val::Node(node)) = value
            && let Some(bottom) = self.node_bottom(node)
            && self.code(bottom) < Code::Incomplete
        {
            value = Some(Val::Lit(bottom));
        }
        if let Some(Val::Lit(id)) = value
            && self.bottom(id).is_some()
        {
            let placed = self.place_cycle(id);
            value = Some(Val::Lit(placed));
            if self.errs != Some(placed) {
                self.errs = self.combine(self.errs, Some(placed));
            }
        }
        if let Some(errs) = self.errs {
            value = Some(Val::Lit(errs));
        }
        self.src = saved_src;
        self.ci = saved_ci;
        Ok((value, ci))
    }

    pub(super) fn eval_inner(
        &mut self,
        expr: ExprId,
        needs: Cond,
        run: Run,
        concrete: bool,
    ) -> R<Option<Val>> {
        if self.ir.is_resolver(expr) {
            return self.eval_resolver(expr, needs, run, concrete);
        }
        match &self.ir.exprs[expr] {
            Expr::Value(id) => Ok(Some(Val::Lit(*id))),
            Expr::Open(x) => {
                let x = *x;
                let (value, mut ci) = self.eval_ci(x, needs, run, false)?;
                ci.opened = true;
                self.ci = ci;
                Ok(value)
            }
            _ => self.compute(expr, needs, run),
        }
    }

    pub(super) fn eval_resolver(
        &mut self,
        expr: ExprId,
        needs: Cond,
        run: Run,
        concrete: bool,
    ) -> R<Option<Val>> {
        let arc = self.resolve(expr, needs, run)?;
        if self.errs.is_some() {
            return Ok(None);
        }
        let Some(orig) = arc else { return Ok(None) };
        let arc = self.deref_non_shared(orig);
        if self.state(arc)? {
            let ci = self.ci;
            self.ci = self.detect_cycle(arc, arc, None, expr, ci).0;
            let all = needs | ARC_TYPE;
            match run {
                Run::Finalize => {
                    self.unify(arc, all, Run::Attempt, true)?;
                    self.freeze(arc, all);
                }
                Run::Attempt => {
                    self.unify(arc, all, Run::Attempt, true)?;
                }
                Run::Yield => {
                    return self.eval_yielding(expr, orig, arc, needs, concrete);
                }
                Run::Ignore => {}
            }
        }
        let arc = self.deref_value(arc);
        self.evaluate_vertex(arc, expr, needs, run)
    }

    pub(super) fn eval_yielding(
        &mut self,
        expr: ExprId,
        orig: NodeId,
        arc: NodeId,
        needs: Cond,
        concrete: bool,
    ) -> R<Option<Val>> {
        let all = needs | ARC_TYPE;
        self.unify(arc, all, Run::Yield, true)?;
        let mut evaluating = self.nodes[arc].status == Status::Evaluating;
        if concrete
            && orig != arc
            && self.work(orig).is_some()
            && self.meets(orig, SCALAR)
            && self.is_recursively_concrete(arc)
        {
            evaluating = false;
        }
        if evaluating && orig != arc && self.nodes[arc].is_disjunct {
            let task = self.task_stack.last().copied();
            if let Some(task) = task
                && needs == SCALAR
                && self.work(orig).is_some()
                && !self.meets(orig, SCALAR)
            {
                let asker = self.tasks[task].node;
                self.w(orig).default_in_cycle = Some(asker);
                self.wait_for(task, orig, all);
                return Err(Stop::Yield);
            }
            let err = self.error("unresolved disjunction: %", &[Arg::Expr(expr)]);
            return Ok(Some(Val::Lit(self.new_bottom_on(Code::Cycle, err, None))));
        }
        let placeholder = self.is_cycle_base(self.nodes[arc].base);
        let mut breaks = !placeholder || self.work(arc).is_some_and(|w| w.has_field_value);
        if evaluating
            && !breaks
            && self.work(arc).is_some_and(|w| w.sched.frozen & SCALAR != 0)
            && self.all_tasks_finished(arc)
        {
            self.finalize(arc)?;
            breaks = !self.is_cycle_base(self.nodes[arc].base);
        }
        if evaluating && !breaks {
            let err = self.error("cycle with field: %", &[Arg::Expr(expr)]);
            let bottom = self.new_bottom_on(Code::Cycle, err, None);
            self.add_bottom(bottom);
            let arc = self.deref_value(arc);
            return self.evaluate_vertex(arc, expr, needs, Run::Yield);
        }
        let value = self.evaluate_vertex(arc, expr, needs, Run::Yield)?;
        if self.nodes[arc].non_rooted
            && !self.all_tasks_finished(arc)
            && let Some(&task) = self.task_stack.last()
        {
            let node = self.tasks[task].node;
            self.w(node).sched.deferred.push(arc);
        }
        Ok(value)
    }

    pub fn is_recursively_concrete(&self, node: NodeId) -> bool {
        for &arc in &self.nodes[node].arcs.list {
            if !self.nodes[arc].label.is_regular() {
                continue;
            }
            if self.nodes[arc].arc_type == ArcType::Required || !self.is_recursively_concrete(arc) {
                return false;
            }
        }
        self.node_is_concrete(node)
    }

    /// The value of a vertex that was resolved, computed as far as needed.
    pub(super) fn evaluate_vertex(
        &mut self,
        mut v: NodeId,
        expr: ExprId,
        needs: Cond,
        run: Run,
    ) -> R<Option<Val>> {
        let undefined = |ctx: &Ctx, v: NodeId| {
            let n = &ctx.nodes[v];
            n.arc_type != ArcType::Member || n.base == Base::None || n.base == Base::Val(ctx.cycle)
        };
        if undefined(self, v) {
            self.unify(v, needs, run, false)?;
            if self.nodes[v].arc_type == ArcType::Pending {
                if self.nodes[v].status == Status::Evaluating {
                    while self.nodes[v].arc_type == ArcType::Pending
                        && let Some(parent) = self.nodes[v].parent
                    {
                        v = parent;
                    }
                    let err = self.error("cycle with field %", &[Arg::Expr(expr)]);
                    let bottom = self.new_bottom_on(Code::Cycle, err, Some(v));
                    self.nodes[v].base = Base::Val(bottom);
                    return Ok(Some(Val::Lit(bottom)));
                }
                let label = self.nodes[v].label;
                self.add_error(
                    Code::Incomplete,
                    self.src,
                    "undefined field: %",
                    &[Arg::Label(label)],
                );
                return Ok(None);
            }
        }
        if let Some(work) = self.work(v) {
            if let Some(errs) = work.errs
                && !self.is_incomplete(errs)
            {
                return Ok(Some(Val::Lit(errs)));
            }
            if let Some(scalar) = work.scalar
                && self.is_cycle_base(self.nodes[v].base)
            {
                return Ok(Some(Val::Lit(scalar)));
            }
        }
        match self.nodes[v].base {
            Base::Val(id) if self.bottom(id).is_some() => {
                if self.is_incomplete(id) {
                    self.add_bottom(id);
                    return Ok(None);
                }
                Ok(Some(Val::Lit(id)))
            }
            Base::None => {
                if self.work(v).is_none() {
                    return Ok(None);
                }
                match self.constraints_value(v) {
                    Base::Val(id) => Ok(Some(Val::Lit(id))),
                    _ => Ok(None),
                }
            }
            _ => Ok(Some(Val::Node(v))),
        }
    }

    /// The only default of a disjunction; an error of the frame if there is none or more than one.
    pub fn get_default(&mut self, value: Option<Val>) -> Option<Val> {
        let mut value = value?;
        loop {
            let id = match value {
                Val::Lit(id) => id,
                Val::Node(node) => match self.nodes[node].base {
                    Base::Val(id) if self.disjunction(id).is_some() => id,
                    Base::Node(next) => {
                        value = Val::Node(next);
                        continue;
                    }
                    _ => return Some(value),
                },
            };
            let Some(d) = self.disjunction(id) else {
                return Some(value);
            };
            if d.defaults != 1 {
                let kind = self.lit_kind(id);
                self.add_error(
                    Code::Incomplete,
                    self.src,
                    "unresolved disjunction % (type %)",
                    &[Arg::Val(Val::Lit(id)), Arg::Kind(kind)],
                );
                return None;
            }
            value = *d.values.first()?;
        }
    }
}
