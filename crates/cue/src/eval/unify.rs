//! Computing a vertex: run its tasks, settle its value, then its fields, then check it.

use super::context::{Ctx, R};
use super::ids::{NodeId, ValId};
use super::kind::Kind;
use super::node::{ArcType, Base, Conjunct, Cyclic, Role, Status, X};
use super::sched::{
    ALL, ANCESTORS, ARC_TYPE, Cond, FIELD_CONJUNCTS, FIELD_SET, SCALAR, SUBFIELDS, VALUE,
};
use super::value::{Arg, Code, Val, Value};
use super::work::Run;

impl Ctx {
    /// Makes sure there is a place for the work on a vertex; false if the vertex is final.
    pub fn bare_state(&mut self, node: NodeId) -> bool {
        if self.nodes[node].status == Status::Finalized {
            return false;
        }
        if self.nodes[node].work.is_some() {
            return true;
        }
        let mut work = self.new_work(node);
        if let Some(parent) = self.nodes[node].parent {
            if let Some(above) = self.work(parent) {
                work.depth = above.depth + 1;
                work.is_disjunct = above.is_disjunct;
                work.sched.provided |= ANCESTORS;
            }
            if self.nodes[parent].closed_recursive {
                self.nodes[node].closed_recursive = true;
            }
        }
        work.sched.provided |= SCALAR | ARC_TYPE;
        if self.nodes[node].label.is_def() {
            self.nodes[node].closed_recursive = true;
        }
        self.nodes[node].work = Some(work);
        true
    }

    /// As [`Ctx::bare_state`], with the conjuncts scheduled.
    pub fn state(&mut self, node: NodeId) -> R<bool> {
        let n = &self.nodes[node];
        let collected = n.work.is_none() && n.parent.is_some() && !n.label.is_let();
        if !self.bare_state(node) {
            return Ok(false);
        }
        if !self.w(node).initialized {
            self.w(node).initialized = true;
            self.nodes[node].base = Base::Val(self.cycle);
            let saved = self.push_node(node);
            let mut i = 0;
            while let Some(&c) = self.nodes[node].conjuncts.get(i)
                && collected
            {
                i += 1;
                self.mark_non_cyclic(node, c.ci);
            }
            i = 0;
            while let Some(&c) = self.nodes[node].conjuncts.get(i) {
                i += 1;
                let mut ci = c.ci;
                if self.ci.cyclic == Cyclic::Yes {
                    ci.cyclic = self.ci.cyclic;
                    ci.refs = self.ci.refs;
                }
                self.schedule_conjunct(node, c, ci)?;
            }
            self.node = saved;
        }
        Ok(true)
    }

    /// Computes the vertex completely.
    pub fn finalize(&mut self, node: NodeId) -> R<()> {
        let errs = self.errs.take();
        self.unify(node, ALL, Run::Finalize, true)?;
        self.errs = errs;
        Ok(())
    }

    /// Computes the vertex without its fields' values.
    pub fn complete_shallow(&mut self, node: NodeId) -> R<()> {
        self.unify(node, ALL & !SUBFIELDS, Run::Finalize, false)?;
        if self.nodes[node].arc_type == ArcType::Pending {
            let label = self.nodes[node].label;
            self.add_error(
                Code::Incomplete,
                self.src,
                "undefined field: %",
                &[Arg::Label(label)],
            );
        }
        Ok(())
    }

    /// Computes a vertex as far as the conditions ask for.
    pub fn unify(&mut self, node: NodeId, needs: Cond, run: Run, typos: bool) -> R<bool> {
        if run == Run::Ignore || !self.state(node)? {
            return Ok(run != Run::Ignore);
        }
        self.enter()?;
        self.w(node).retain += 1;
        let result = self.unify_state(node, needs, run, typos);
        if self.nodes[node].work.is_some() {
            self.w(node).retain -= 1;
            if self.nodes[node].status == Status::Finalized {
                self.release(node);
            }
        }
        self.leave();
        result
    }

    fn unify_state(&mut self, node: NodeId, needs: Cond, run: Run, typos: bool) -> R<bool> {
        let parent = self.nodes[node].parent;
        if !self.nodes[node].rooted()
            || run == Run::Finalize
            || self.child_conjuncts_known(parent)?
        {
            self.signal(node, ANCESTORS)?;
        }
        let own_needs = needs & !SUBFIELDS;
        if self.nodes[node].base == Base::None {
            self.nodes[node].base = Base::Val(self.cycle);
        }
        self.update_scalar(node)?;
        if own_needs == SCALAR | ARC_TYPE && self.meets(node, own_needs) {
            return Ok(true);
        }
        if self.nodes[node].status == Status::Evaluating
            && self.w(node).eval_depth == self.eval_depth
            && run < Run::Yield
            && needs & FIELD_SET == 0
        {
            return Ok(false);
        }
        self.nodes[node].status = Status::Evaluating;
        let depth = self.eval_depth;
        let saved_depth = std::mem::replace(&mut self.w(node).eval_depth, depth);
        let result = self.unify_marked(node, needs, own_needs, run, typos);
        if self.nodes[node].work.is_some() {
            self.w(node).eval_depth = saved_depth;
        }
        result
    }

    fn unify_marked(
        &mut self,
        node: NodeId,
        needs: Cond,
        own_needs: Cond,
        run: Run,
        typos: bool,
    ) -> R<bool> {
        self.flush_cyclic(node)?;
        self.process(node, own_needs, run)?;
        if self.nodes[node].work.is_none() {
            return Ok(true);
        }
        if self.nodes[node].arc_type != ArcType::Pending
            && self.meets(node, ANCESTORS)
            && self.all_tasks_finished(node)
        {
            self.signal(node, ARC_TYPE)?;
        }
        let saved = self.push_node(node);
        let result = self.unify_value(node, needs, own_needs, run, typos);
        self.node = saved;
        result
    }

    fn unify_value(
        &mut self,
        node: NodeId,
        needs: Cond,
        own_needs: Cond,
        run: Run,
        typos: bool,
    ) -> R<bool> {
        let disjunct = self.deref_disjunct(node);
        if disjunct != node {
            self.nodes[node].closed_recursive = self.nodes[disjunct].closed_recursive;
            self.nodes[node].status = self.nodes[disjunct].status;
            let (mine, theirs) = (
                self.nodes[node].child_errors,
                self.nodes[disjunct].child_errors,
            );
            self.nodes[node].child_errors = self.combine(mine, theirs);
            self.nodes[node].arcs.clear();
            return Ok(
                self.nodes[disjunct].status == Status::Finalized || self.meets(disjunct, needs)
            );
        }
        self.update_scalar(node)?;
        if !self.meets(node, own_needs) && run != Run::Finalize {
            return Ok(false);
        }
        if self.w(node).is_shared {
            let cycle = self.cycle;
            if self.w(node).orig_base == Base::Val(cycle) {
                self.w(node).orig_base = Base::None;
            }
        } else {
            if self.nodes[node].base == Base::Val(self.cycle) {
                self.nodes[node].base = Base::None;
            }
            self.settle_value(node)?;
        }
        if let Base::Node(target) = self.nodes[node].base
            && self.w(node).share_cyclic == Cyclic::No
        {
            if self.has_depth_cycle(target) {
                self.report_structural_cycle(node);
                return Ok(true);
            }
            self.unify(target, needs, run, typos)?;
        }
        if self.w(node).sched.completed & SUBFIELDS == 0 {
            if needs & SUBFIELDS != 0 {
                if !self.assert_structural(node)
                    && self.nodes[node].status != Status::Finalized
                    && !self.w(node).kind.is_bottom()
                {
                    self.complete_arcs(node, needs, run, typos)?;
                }
                if run == Run::Finalize {
                    self.signal(node, SUBFIELDS)?;
                }
                self.run_checks(node)?;
            } else if needs & FIELD_SET != 0 {
                self.settle_arc_types(node, run)?;
            }
        }
        if let Some(mut err) = self.node_take_errs(node) {
            self.w(node).errs = None;
            if let Some(before) = self.node_bottom(node)
                && before != self.cycle
            {
                err = self.combine(Some(before), Some(err)).unwrap_or(err);
            }
            // The error of a child of another vertex is an error of this one.
            if self
                .bottom(err)
                .is_some_and(|b| b.child_error && b.node != Some(node))
                && let Some(mut own) = self.bottom(err).cloned()
            {
                own.child_error = false;
                own.has_recursive = false;
                let span = self.vals[err].span;
                err = self.new_value_at(Value::Bottom(Box::new(own)), span);
            }
            self.nodes[node].base = Base::Val(err);
        }
        self.finalize_disjunctions(node)?;
        if run == Run::Attempt {
            return Ok(self.meets(node, needs));
        }
        let known = self.w(node).sched.completed & needs;
        if known != 0 {
            self.signal(node, known)?;
        }
        let target = self.deref_value(node);
        if target != node {
            return self.unify_link(node, target, needs, run, typos);
        }
        if self.w(node).sched.completed & SUBFIELDS == 0 {
            return Ok(self.meets(node, needs));
        }
        self.eval_depth += 1;
        let w = self.w(node);
        let block = w.has_top && !w.has_struct;
        if w.is_def && !block {
            self.nodes[node].closed_recursive = true;
        }
        if typos {
            self.check_typos(node)?;
        }
        self.nodes[node].status = Status::Finalized;
        let met = self.meets(node, needs);
        self.eval_depth -= 1;
        Ok(met)
    }

    fn unify_link(
        &mut self,
        node: NodeId,
        target: NodeId,
        needs: Cond,
        run: Run,
        typos: bool,
    ) -> R<bool> {
        self.nodes[node].arcs.clear();
        self.nodes[node].child_errors = None;
        if self.w(node).sched.completed & SUBFIELDS == 0 {
            if self.nodes[target].status == Status::Unprocessed {
                self.unify(target, needs, run, false)?;
            }
            return Ok(self.meets(node, needs));
        }
        if self.nodes[target].closed_recursive {
            self.nodes[node].closed_recursive = true;
        }
        if self.nodes[target].has_ellipsis {
            self.nodes[node].has_ellipsis = true;
        }
        self.nodes[node].status = self.nodes[target].status;
        self.finalize_sharing(node)?;
        if self.has_ancestor(node, target) || self.shared_in_cycle(target)? {
            self.report_structural_cycle(node);
            return Ok(true);
        }
        self.unify(target, needs, run, typos)?;
        Ok(true)
    }

    /// Validators see the value once it is concrete and its fields are known.
    fn run_checks(&mut self, node: NodeId) -> R<()> {
        let value = self.node_value(node);
        if !self.opt_is_concrete(value) {
            return Ok(());
        }
        let checks = std::mem::take(&mut self.w(node).checks);
        for check in checks {
            if let Some(bottom) = self.validate_check(check, Val::Node(node))? {
                self.node_add_bottom(node, Some(bottom));
            }
        }
        Ok(())
    }

    pub fn complete_node_tasks(&mut self, node: NodeId, run: Run) -> R<()> {
        let Some(work) = self.work(node) else {
            return Ok(());
        };
        if !work.initialized || work.completing {
            return Ok(());
        }
        self.w(node).completing = true;
        let parent = self.nodes[node].parent;
        let n = &self.nodes[node];
        if n.is_dynamic || n.label.is_let() || self.child_conjuncts_known(parent)? {
            self.signal(node, ANCESTORS)?;
        }
        let mut result = Ok(true);
        if !self.all_tasks_started(node) {
            result = self.process(node, VALUE | FIELD_CONJUNCTS, run);
            if result.is_ok() {
                self.update_scalar(node)?;
            }
        }
        if self.nodes[node].work.is_some() {
            self.w(node).completing = false;
        }
        result.map(|_| ())
    }

    pub fn update_scalar(&mut self, node: NodeId) -> R<()> {
        let Some(work) = self.work(node) else {
            return Ok(());
        };
        let Some(scalar) = work.scalar else {
            return Ok(());
        };
        let base = self.nodes[node].base;
        let is_error = self.node_bottom(node).is_some();
        if is_error && !self.is_cycle_base(base) {
            return Ok(());
        }
        let is_disjunct = match base {
            Base::Node(other) => self.nodes[other].is_disjunct,
            _ => false,
        };
        if !is_disjunct {
            self.nodes[node].base = Base::Val(scalar);
        }
        self.signal(node, SCALAR)
    }

    fn complete_arcs(&mut self, node: NodeId, needs: Cond, run: Run, mut typos: bool) -> R<()> {
        self.complete_node_tasks(node, Run::Finalize)?;
        self.eval_depth += 1;
        if self.w(node).has_disjunction {
            typos = false;
        }
        let unchecked = run == Run::Finalize && self.is_unchecked(node);
        let mut i = 0;
        while let Some(arc) = self.nodes[node].arcs.get(i) {
            i += 1;
            if run != Run::Finalize || !self.settle_plain(arc)? {
                self.unify(arc, needs, run, typos)?;
            }
            if unchecked && self.nodes[arc].rooted() {
                self.release_arc(arc);
            }
            let a = &self.nodes[arc];
            if a.arc_type == ArcType::Pending {
                self.nodes[arc].arc_type = ArcType::NotPresent;
                continue;
            }
            if a.arc_type <= ArcType::Required
                && a.label.is_string()
                && self.work(node).is_some_and(|w| !w.kind.meets(Kind::STRUCT))
                && self.node_bottom(node).is_none()
                && self.node_bottom(arc).is_none()
            {
                let label = self.nodes[arc].label;
                let pos = self.node_value(arc).and_then(|v| self.val_span(v));
                let value = self.node_value(node).unwrap_or(Val::Lit(self.top));
                let err = self.error_at(
                    pos,
                    "cannot combine regular field % with %",
                    &[Arg::Label(label), Arg::Val(value)],
                );
                self.node_add_error(node, err);
            }
        }
        let mut arcs = std::mem::take(&mut self.nodes[node].arcs);
        let present = |a: NodeId| self.nodes[a].arc_type != ArcType::NotPresent;
        arcs.retain(present, |a| self.nodes[a].label);
        self.nodes[node].arcs = arcs;
        i = 0;
        while let Some(arc) = self.nodes[node].arcs.get(i) {
            i += 1;
            let a = &self.nodes[arc];
            if !a.label.is_let()
                && a.arc_type <= ArcType::Required
                && let Some(bottom) = self.node_bottom(arc)
            {
                self.add_child_error(node, bottom);
            }
        }
        let checks = std::mem::take(&mut self.w(node).post_checks);
        for check in checks {
            self.run_post_check(node, check)?;
        }
        self.finalize_sharing(node)?;
        self.eval_depth -= 1;
        Ok(())
    }

    /// A condition that was decided on incomplete grounds must still hold.
    fn run_post_check(&mut self, node: NodeId, check: super::work::PostCheck) -> R<()> {
        let span = self.ir.span(check.expr);
        let saved = self.push_state(check.env.unwrap_or(self.no_env), span);
        let value = self.eval(check.expr, ALL, Run::Ignore)?;
        let value = self.get_default(value);
        let value = self.unwrap(value);
        let is_error = matches!(value, Some(Val::Lit(id)) if self.bottom(id).is_some());
        if is_error != check.expect_error {
            let err = self.error_at(
                span,
                "circular dependency in evaluation of conditionals: % changed after evaluation",
                &[Arg::Expr(check.expr)],
            );
            let bottom = self.new_bottom_on(Code::Cycle, err, Some(node));
            let before = self.node_bottom(node);
            let bottom = self.combine(before, Some(bottom)).unwrap_or(bottom);
            self.nodes[node].base = Base::Val(bottom);
            self.nodes[node].status = Status::Finalized;
        }
        self.pop_state(saved);
        Ok(())
    }

    fn settle_arc_types(&mut self, node: NodeId, run: Run) -> R<()> {
        let mut i = 0;
        while let Some(arc) = self.nodes[node].arcs.get(i) {
            i += 1;
            if self.nodes[arc].arc_type != ArcType::Pending {
                continue;
            }
            self.unify(arc, ARC_TYPE, run, false)?;
            if self.nodes[arc].arc_type == ArcType::Pending {
                // A pending field cannot regress: this marks nothing that may still come.
                self.update_arc_type(arc, ArcType::NotPresent)?;
            }
        }
        Ok(())
    }

    /// Decides whether the vertex is a struct, checks bounds on a scalar, or leaves the constraints as the value.
    fn settle_value(&mut self, node: NodeId) -> R<()> {
        let n = &self.nodes[node];
        let Some(w) = &n.work else { return Ok(()) };
        let mut is_struct = w.a_struct;
        if !is_struct && !n.arcs.structs.is_empty() {
            is_struct = w.kind.meets(Kind::STRUCT) && !w.has_top
                || n.arcs.list.iter().any(|&a| {
                    let a = &self.nodes[a];
                    a.label.is_regular() && a.arc_type != ArcType::Optional
                });
        }
        let target = self.deref_value(node);
        let mut value = self.node_value(target);
        if self.nodes[node].base == Base::None && is_struct {
            self.nodes[node].base = Base::Struct;
            value = Some(Val::Node(node));
        }
        if let Some(value) = value
            && self.is_concrete(value)
        {
            let w = self.w(node);
            for bound in [w.lower, w.upper].into_iter().flatten() {
                let check = Conjunct {
                    env: None,
                    x: X::Val(bound),
                    ci: Default::default(),
                };
                if let Some(bottom) = self.validate_check(check, value)? {
                    if let Some(&err) = self.bottom(bottom).and_then(|b| b.errors.first()) {
                        let span = self.vals[bound].span;
                        self.add_span(err, span);
                        let span = self.val_span(value);
                        self.add_span(err, span);
                    }
                    self.node_add_bottom(node, Some(bottom));
                }
            }
        } else if value.is_none() || !matches!(self.nodes[node].base, Base::Node(_)) {
            self.nodes[node].base = self.constraints_value(node);
        }
        Ok(())
    }

    /// Drops the work of the fields of a final vertex, and its own if nobody above needs it.
    fn release(&mut self, node: NodeId) {
        let w = self.w(node);
        if w.retain > 0 || w.is_disjunct {
            return;
        }
        if matches!(self.nodes[node].base, Base::Val(_)) {
            self.free_disjuncts(node);
        }
        let mut i = 0;
        while let Some(arc) = self.nodes[node].arcs.get(i) {
            i += 1;
            self.release_arc(arc);
        }
        let n = &self.nodes[node];
        if n.parent.is_none() || n.label.is_let() {
            self.free_work(node);
        }
    }

    /// Drops the work of a field that is final.
    fn release_arc(&mut self, arc: NodeId) {
        if self.nodes[arc].status != Status::Finalized {
            return;
        }
        if self.nodes[arc].role == Role::Plain {
            self.nodes[arc].role = Role::Vertex;
            return;
        }
        self.free_disjuncts(arc);
        let done = |w: &super::work::Work| w.retain == 0 && !w.is_disjunct;
        if self.work(arc).is_some_and(done) {
            self.free_work(arc);
        }
    }

    /// Nothing closes the vertex, so nobody will ask for the closedness evidence of its fields.
    fn is_unchecked(&self, node: NodeId) -> bool {
        let mut at = Some(node);
        while let Some(n) = at {
            let Some(work) = self.work(n) else {
                return true;
            };
            if !work.reqs.is_empty() || work.is_disjunct {
                return false;
            }
            at = self.nodes[n].parent;
        }
        true
    }

    /// Puts an error on a vertex that is done.
    pub fn set_bottom(&mut self, node: NodeId, bottom: ValId) {
        self.nodes[node].base = Base::Val(bottom);
        self.nodes[node].status = Status::Finalized;
    }
}
