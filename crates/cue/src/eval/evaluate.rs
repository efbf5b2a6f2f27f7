//! Evaluating expressions and resolving references.
//!
//! `eval` gives a value, `resolve` a vertex. Neither takes a default; callers that need a concrete
//! value use `eval_concrete`. Nothing (`None`) means that an error of the frame says why.

use super::context::{Ctx, R, Stop};
use super::ids::{EnvId, ExprId, NodeId, ValId};
use super::ir::{Expr, Op};
use super::kind::Kind;
use super::label::Label;
use super::node::{ArcType, Base, CloseInfo, Conjunct, Cyclic, LetEntry, Node, Status, X};
use super::sched::{ALL, ARC_TYPE, Cond, FIELD_SET, NEED_FIELD_SET, SCALAR};
use super::value::{Arg, Bottom, Code, Val, Value};
use super::work::Run;

impl Ctx {
    pub fn eval(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<Val>> {
        Ok(self.eval_ci(expr, needs, run, false)?.0)
    }

    /// Evaluates and takes the default; a scalar vertex becomes its scalar.
    pub fn eval_concrete(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<Val>> {
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

    fn eval_inner(
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

    fn eval_resolver(
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

    fn eval_yielding(
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
    fn evaluate_vertex(
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

    // --- references ---

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
                let arc = self.lookup(node, pos, label, needs, run)?;
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
                self.lookup(node, pos, label, needs, run)
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
                let arc = self.lookup(node, Some(at), label, needs, run)?;
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
                let arc = self.lookup(node, pos, label, needs, run)?;
                Ok(self.check_skip(optional, arc))
            }
            _ => Ok(None),
        }
    }

    /// An optional reference that fails makes the enclosing `try` skip.
    fn check_skip(&mut self, optional: bool, arc: Option<NodeId>) -> Option<NodeId> {
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

    fn resolve_let(
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
        let Some(arc) = self.lookup(node, pos, label, needs, run)? else {
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
    fn container(&mut self, orig: ExprId, x: ExprId, scalar: bool) -> R<NodeId> {
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

    fn judge_container(
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

    fn unify_operand_inner(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<Val>> {
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
            if result.is_ok() && self.work(v).is_some_and(|w| !w.disjuncts.is_empty()) {
                result = self.unify(v, ARC_TYPE | FIELD_SET, Run::Yield, false);
            }
            if self.nodes[v].work.is_some() {
                self.w(v).retain -= 1;
            }
            result?;
        }
        Ok(Some(Val::Node(v)))
    }

    // --- computed expressions ---

    fn compute(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<Val>> {
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
    fn inline_complete(&mut self, node: NodeId) -> R<()> {
        let in_dynamic = self
            .env_node(self.env)
            .is_some_and(|n| self.nodes[n].is_dynamic);
        if self.in_detached == 0 && in_dynamic || self.in_validator > 0 {
            self.finalize(node)
        } else {
            self.complete_shallow(node)
        }
    }

    fn slice(&mut self, x: ExprId, lo: Option<ExprId>, hi: Option<ExprId>) -> R<Option<Val>> {
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
        copy.structs = n.structs.clone();
        copy.patterns = n.patterns.clone();
        copy.child_errors = n.child_errors;
        copy.is_data = n.is_data;
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
            copy.arcs = Default::default();
            copy.structs = Vec::new();
        }
        self.nodes.push(copy)
    }

    fn interpolate(&mut self, expr: ExprId, kind: Kind) -> R<Option<Val>> {
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

    fn append_text(&mut self, out: &mut Vec<u8>, value: Option<Val>, kind: Kind) {
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

    fn unary(&mut self, expr: ExprId, op: Op, x: ExprId) -> R<Option<Val>> {
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

    fn concrete_possible(&mut self, op: Op, x: ExprId) -> bool {
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

    fn is_literal_bottom(&self, x: ExprId) -> bool {
        matches!(self.ir.exprs[x], Expr::Value(id)
            if self.bottom(id).is_some_and(|b: &Bottom| b.code == Code::Literal))
    }

    fn binary(&mut self, expr: ExprId, op: Op, x: ExprId, y: ExprId, _run: Run) -> R<Option<Val>> {
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
            (Some(left), Some(right)) => self.binop(op, left, right).map(Some),
            _ => Ok(None),
        }
    }

    fn concrete_operand(&mut self, env: EnvId, x: ExprId, op: Op) -> R<Option<Val>> {
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

    pub fn all_known() -> Cond {
        ALL
    }

    pub fn val_of(&self, id: ValId) -> Val {
        Val::Lit(id)
    }
}
