//! Comprehensions: `for`, `if`, `let` and `try` clauses, and the comparison with bottom.

use super::context::{Ctx, R, Stop};
use super::ids::{EnvId, ExprId, NodeId, TaskId, ValId};
use super::ir::{Clause, Expr, Op};
use super::kind::Kind;
use super::label::Label;
use super::node::{ArcType, Base, CloseInfo, Conjunct, Env, Node, Status, X};
use super::sched::{ALL, ARC_TYPE, FIELD_SET, NEED_FIELD_SET, NEED_TASKS, VALUE};
use super::value::{Arg, Code, Val};
use super::work::{PostCheck, Run, SchedState, Task};

impl Ctx {
    /// Collects the frames of a comprehension, then inserts its body once for each.
    pub fn task_comprehension(&mut self, task: TaskId, t: &Task) -> R<Option<ValId>> {
        let Some(X::Expr(expr)) = t.x else {
            return Ok(None);
        };
        let env = t.env.unwrap_or(self.no_env);
        let mut envs = Vec::new();
        if let Some(err) = self.yield_envs(Some(t.node), env, expr, &mut envs)? {
            if self.is_incomplete(err) {
                return Ok(Some(err));
            }
            self.node_add_bottom(t.node, Some(err));
            return Ok(None);
        }
        let Expr::Comprehension(comp) = &self.ir.exprs[expr] else {
            return Ok(None);
        };
        let (value, fallback) = (comp.value, comp.fallback);
        self.tasks[task].inserting = true;
        let insert = |ctx: &mut Ctx, env: EnvId, x: ExprId| {
            let c = Conjunct {
                env: Some(env),
                x: X::Expr(x),
                ci: t.ci,
            };
            ctx.schedule_conjunct(t.node, c, t.ci)
        };
        if envs.is_empty() {
            if let Some(fallback) = fallback {
                insert(self, env, fallback)?;
            }
            return Ok(None);
        }
        for env in envs {
            insert(self, env, value)?;
        }
        Ok(None)
    }

    /// The frames a comprehension's clauses yield; an error if they cannot be told.
    pub fn yield_envs(
        &mut self,
        node: Option<NodeId>,
        env: EnvId,
        expr: ExprId,
        out: &mut Vec<EnvId>,
    ) -> R<Option<ValId>> {
        self.next_comp += 1;
        let comp = self.next_comp;
        let saved_node = self.node;
        if let Some(node) = node {
            self.node = Some(node);
        }
        let saved = self.push_state(env, None);
        let result = self.clause(expr, 0, comp, out);
        let errs = self.pop_state(saved);
        self.node = saved_node;
        result?;
        Ok(errs)
    }

    fn clause_span(&self, expr: ExprId, at: usize) -> Option<base::Span> {
        let Expr::Comprehension(comp) = &self.ir.exprs[expr] else {
            return None;
        };
        comp.clauses.get(at).map(|c| match c {
            Clause::For { span, .. }
            | Clause::If { span, .. }
            | Clause::Let { span, .. }
            | Clause::Try { span, .. } => *span,
        })
    }

    /// Goes on with the next clause in a frame; false to stop.
    fn next_clause(
        &mut self,
        env: EnvId,
        expr: ExprId,
        at: usize,
        comp: u32,
        out: &mut Vec<EnvId>,
    ) -> R<bool> {
        let Some(span) = self.clause_span(expr, at) else {
            out.push(env);
            return Ok(true);
        };
        let saved = self.push_state(env, Some(span));
        let result = self.clause(expr, at, comp, out);
        let errs = self.pop_state(saved);
        result?;
        if let Some(errs) = errs {
            self.add_bottom(errs);
            return Ok(false);
        }
        Ok(self.errs.is_none())
    }

    fn clause(&mut self, expr: ExprId, at: usize, comp: u32, out: &mut Vec<EnvId>) -> R<()> {
        let Expr::Comprehension(c) = &self.ir.exprs[expr] else {
            return Ok(());
        };
        let Some(clause) = c.clauses.get(at).cloned() else {
            return Ok(());
        };
        let body = c.value;
        self.src = self.clause_span(expr, at);
        match clause {
            Clause::For {
                key, value, source, ..
            } => self.for_clause(expr, at, comp, out, (key, value, source)),
            Clause::If { condition, .. } => {
                let settled = match self.errs {
                    None => self.settled_truth(self.env, condition),
                    Some(_) => None,
                };
                let holds = match settled {
                    Some(holds) => holds,
                    None => {
                        let value = self.operand(condition)?;
                        let holds = self.to_bool(value, None);
                        self.drop_computed(condition, value);
                        holds
                    }
                };
                if holds {
                    let env = self.env;
                    self.next_clause(env, expr, at + 1, comp, out)?;
                }
                Ok(())
            }
            Clause::Let { label, expr: x, .. } => {
                let env = self.bind(label, x, comp);
                self.next_clause(env, expr, at + 1, comp, out)?;
                Ok(())
            }
            Clause::Try { label, expr: x, .. } => {
                let tried = x.unwrap_or(body);
                let c = Conjunct {
                    env: Some(self.env),
                    x: X::Expr(tried),
                    ci: self.ci,
                };
                let node = self.inline_node(Base::None, &[c]);
                self.state(node)?;
                self.w(node).try_skip = Some(false);
                self.w(node).retain += 1;
                let result = self.finalize(node);
                let skip = self.work(node).and_then(|w| w.try_skip) == Some(true);
                result?;
                if skip {
                    return Ok(());
                }
                let env = match x {
                    Some(x) => self.bind(label, x, comp),
                    None => self.env,
                };
                self.next_clause(env, expr, at + 1, comp, out)?;
                Ok(())
            }
        }
    }

    /// A frame with one name in it.
    fn bind(&mut self, label: Label, x: ExprId, comp: u32) -> EnvId {
        let frame = self
            .nodes
            .push(Node::new(None, Label::NONE, ArcType::Member));
        let mut arc = Node::new(None, label, ArcType::Member);
        arc.is_dynamic = true;
        arc.anonymous = true;
        arc.conjuncts.push(Conjunct {
            env: Some(self.env),
            x: X::Expr(x),
            ci: self.ci,
        });
        let arc = self.nodes.push(arc);
        self.push_arc(frame, label, arc);
        self.envs.push(Env {
            up: Some(self.env),
            node: Some(frame),
            comp,
            ..Env::default()
        })
    }

    fn for_clause(
        &mut self,
        expr: ExprId,
        at: usize,
        comp: u32,
        out: &mut Vec<EnvId>,
        (key, value, source): (Label, Label, ExprId),
    ) -> R<()> {
        let env = self.env;
        let node = self.for_source(source)?;
        if self.state(node)? {
            self.freeze(node, FIELD_SET);
        }
        // A frame that yielded nothing is known to nobody, so the next turn can have it.
        let mut spare = None;
        let mut i = 0;
        while let Some(arc) = self.nodes[node].arcs.get(i) {
            i += 1;
            let label = self.nodes[arc].label;
            if !label.is_regular() {
                continue;
            }
            if self.state(arc)? {
                self.process(arc, ARC_TYPE, Run::Attempt)?;
            }
            match self.nodes[arc].arc_type {
                ArcType::Member => {}
                ArcType::Required => {
                    let err = self.error(
                        "missing required field in for comprehension: %",
                        &[Arg::Label(label)],
                    );
                    let span = self.ir.span(source);
                    self.add_span(err, span);
                    let conjuncts = self.nodes[arc].conjuncts.clone();
                    self.add_conjunct_spans(err, &conjuncts);
                    let bottom = self.new_bottom_on(Code::Incomplete, err, None);
                    self.add_bottom(bottom);
                    continue;
                }
                _ => continue,
            }
            let frame = match spare.take() {
                Some(frame) => frame,
                None => self.for_frame(env, comp, key, value),
            };
            self.bind_frame(&frame, env, label, arc);
            let before = out.len();
            if !self.next_clause(frame.env, expr, at + 1, comp, out)? {
                break;
            }
            if out.len() == before {
                spare = Some(frame);
            }
        }
        Ok(())
    }

    /// A frame with the variables of a `for` clause, not bound to anything.
    fn for_frame(&mut self, env: EnvId, comp: u32, key: Label, value: Label) -> Frame {
        let mut node = Node::new(self.env_node(env), Label::NONE, ArcType::Member);
        node.status = Status::Finalized;
        node.is_dynamic = true;
        node.anonymous = true;
        let node = self.nodes.push(node);
        let mut variable = |label: Label, arc_type: ArcType| {
            (label != Label::NONE).then(|| {
                let mut variable = Node::new(None, label, arc_type);
                variable.is_dynamic = true;
                variable.anonymous = true;
                let variable = self.nodes.push(variable);
                self.push_arc(node, label, variable);
                variable
            })
        };
        let value = variable(value, ArcType::Pending);
        let key = variable(key, ArcType::Member);
        let env = self.envs.push(Env {
            up: Some(env),
            node: Some(node),
            comp,
            ..Env::default()
        });
        Frame { env, key, value }
    }

    /// Binds the variables of a frame to a field and its label.
    fn bind_frame(&mut self, frame: &Frame, env: EnvId, label: Label, arc: NodeId) {
        self.envs[frame.env].lets.clear();
        if let Some(value) = frame.value {
            self.free_work(value);
            let mut fresh = Node::new(None, self.nodes[value].label, ArcType::Pending);
            fresh.is_dynamic = true;
            fresh.anonymous = true;
            fresh.base = Base::Node(arc);
            self.nodes[value] = fresh;
        }
        if let Some(key) = frame.key {
            let name = self.label_value(label);
            let node = &mut self.nodes[key];
            node.status = Status::Finalized;
            node.base = Base::Val(name);
            node.conjuncts.clear();
            node.conjuncts.push(Conjunct {
                env: Some(env),
                x: X::Val(name),
                ci: CloseInfo::default(),
            });
        }
    }

    /// The struct or list to range over.
    fn for_source(&mut self, source: ExprId) -> R<NodeId> {
        self.in_detached += 1;
        let found = self.unify_operand(source, NEED_FIELD_SET, Run::Attempt);
        self.in_detached -= 1;
        let found = found?;
        if let Some(Val::Node(node)) = found {
            self.unify(node, NEED_FIELD_SET, Run::Finalize, true)?;
        }
        let mut v = self.get_default(found);
        if found.is_some() && v.is_none() {
            return Ok(self.empty);
        }
        let unwrapped = self.unwrap(v);
        if unwrapped != Some(Val::Lit(self.cycle)) {
            v = unwrapped;
        }
        let node = match v {
            Some(Val::Node(node)) => Some(node),
            _ => None,
        };
        if let Some(node) = node
            && !self.is_cycle_base(self.nodes[node].base)
        {
            v = self.node_value(node);
        }
        let pos = self.ir.span(source);
        let Some(v) = v else {
            self.add_error(
                Code::Incomplete,
                pos,
                "cannot range over % (incomplete)",
                &[Arg::Expr(source)],
            );
            return Ok(self.empty);
        };
        let kind = self.kind(v);
        if let Val::Lit(id) = v {
            if self.bottom(id).is_some() {
                self.add_bottom(id);
                return Ok(self.empty);
            }
            if kind.meets(Kind::COMPOSITE) {
                self.add_error(
                    Code::Incomplete,
                    pos,
                    "cannot range over % (incomplete type %)",
                    &[Arg::Expr(source), Arg::Kind(kind)],
                );
                return Ok(self.empty);
            }
            if node.is_none() {
                self.add_error(
                    Code::Eval,
                    pos,
                    "cannot range over % (found %, want list or struct)",
                    &[Arg::Source(source), Arg::Kind(kind)],
                );
                return Ok(self.empty);
            }
        }
        if kind.meets(Kind::COMPOSITE) && kind != Kind::STRUCT && kind != Kind::LIST {
            self.add_error(
                Code::Incomplete,
                pos,
                "cannot range over % (incomplete type %)",
                &[Arg::Expr(source), Arg::Kind(kind)],
            );
            return Ok(self.empty);
        }
        Ok(node.unwrap_or(self.empty))
    }

    /// `x == _|_` and `x != _|_`: whether x is an error or not concrete.
    pub fn compare_bottom(&mut self, env: EnvId, x: ExprId, op: Op) -> R<Option<Val>> {
        let saved = self.push_state(env, self.src);
        self.in_validator += 1;
        let result = self.judge_bottom(env, x, op);
        self.in_validator -= 1;
        self.pop_state(saved);
        match result? {
            Judged::Match(found) => Ok(Some(self.new_bool(found))),
            Judged::Error(err) => {
                self.add_bottom(err);
                Ok(None)
            }
            Judged::Wait(node) => {
                if let Some(&task) = self.task_stack.last() {
                    self.wait_for(task, node, VALUE);
                }
                Err(Stop::Yield)
            }
        }
    }

    fn judge_bottom(&mut self, env: EnvId, x: ExprId, op: Op) -> R<Judged> {
        let is_bottom = op == Op::Eq;
        let v = self.eval(x, NEED_TASKS, Run::Finalize)?;
        let default = self.get_default(v);
        let mut u = self.unwrap(default);
        if let Some(inner) = u
            && self.kind(inner).meets(Kind::COMPOSITE)
        {
            u = v;
        }
        match u {
            None => Ok(Judged::Match(!is_bottom)),
            Some(Val::Lit(id)) if self.bottom(id).is_some() => {
                match self.code(id) {
                    Code::Cycle => return Ok(Judged::Error(id)),
                    Code::Incomplete => {
                        if let Some(node) = self.bottom(id).and_then(|b| b.node)
                            && !self.task_stack.is_empty()
                            && self.work(node).is_some_and(|w| {
                                w.sched.state == SchedState::Running
                                    && w.sched.provided & VALUE != 0
                            })
                            && !self.meets(node, VALUE)
                        {
                            return Ok(Judged::Wait(node));
                        }
                        self.eval(x, ALL, Run::Ignore)?;
                        self.verify_later(env, x, true);
                    }
                    _ => {}
                }
                Ok(Judged::Match(is_bottom))
            }
            Some(Val::Node(node)) => {
                if self.has_depth_cycle(node) {
                    self.verify_later(env, x, true);
                    return Ok(Judged::Match(is_bottom));
                }
                self.finalize(node)?;
                let node = self.deref_value(node);
                let fatal = match self.unwrap(Some(Val::Node(node))) {
                    Some(Val::Lit(id)) => {
                        self.bottom(id).is_some_and(|b| b.code < Code::Incomplete)
                    }
                    _ => false,
                };
                Ok(Judged::Match(fatal == is_bottom))
            }
            Some(v) => {
                let concrete = self.is_concrete(v);
                if self.kind(v).meets(Kind::COMPOSITE) && !concrete {
                    let cycle = self.cycle;
                    return Ok(Judged::Error(cycle));
                }
                self.verify_later(env, x, false);
                let found = if concrete { !is_bottom } else { is_bottom };
                self.eval(x, NEED_TASKS, Run::Yield)?;
                Ok(Judged::Match(found))
            }
        }
    }

    /// A decision on what was known so far: it is checked again at the end.
    fn verify_later(&mut self, env: EnvId, expr: ExprId, expect_error: bool) {
        if let Some(node) = self.env_node(env)
            && self.work(node).is_some()
        {
            self.w(node).post_checks.push(PostCheck {
                env: Some(env),
                expr,
                expect_error,
            });
        }
    }
}

/// One turn of a `for` clause.
struct Frame {
    env: EnvId,
    key: Option<NodeId>,
    value: Option<NodeId>,
}

enum Judged {
    Match(bool),
    Error(ValId),
    Wait(NodeId),
}
