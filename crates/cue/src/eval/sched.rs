//! Scheduling: conditions, tasks, and the loop that runs them.
//!
//! A vertex collects tasks for whatever cannot be inserted at once. A condition of a vertex is met when no
//! outstanding task could still contribute to it, or when it was signalled. A task that needs a
//! condition of another vertex runs that vertex first; if the condition is still not met, the task is
//! suspended ([`Stop::Yield`]) and queued on it. When a vertex is finalized, all suspended tasks are
//! released together: first what can be known because nothing more will come, then the conditions are
//! frozen, then each task runs once more. Doing each step for all before the next makes the result
//! independent of order.

use super::context::{Ctx, R, Stop};
use super::ids::{EnvId, NodeId, TaskId};
use super::ir::{DeclKind, Expr};
use super::node::{ArcType, CloseInfo, X};
use super::work::{Run, SchedState, Task, TaskKind, TaskState};

/// A set of conditions.
pub type Cond = u16;

/// No ancestor can still push conjuncts here.
pub const ANCESTORS: Cond = 1;
/// Present, optional or absent is settled.
pub const ARC_TYPE: Cond = 1 << 1;
pub const VALUE: Cond = 1 << 2;
/// A scalar was found, or it will never be one.
pub const SCALAR: Cond = 1 << 3;
/// All conjuncts of all fields are known.
pub const FIELD_CONJUNCTS: Cond = 1 << 4;
pub const FIELD_SET: Cond = 1 << 5;
pub const TASKS: Cond = 1 << 6;
pub const SUBFIELDS: Cond = 1 << 7;
pub const DISJUNCTION: Cond = 1 << 8;
const CHILD_CONJUNCTS: Cond = 1 << 9;
pub const ALL: Cond = 0x7fff;
pub const NEVER: Cond = 0x8000;

const FIELD_CONJUNCTS_INDEX: usize = 4;
const TASKS_INDEX: usize = 6;

pub(super) const COUNTED: Cond = ARC_TYPE | VALUE | FIELD_CONJUNCTS | TASKS | DISJUNCTION;
pub const SCALAR_VALUE: Cond = SCALAR | DISJUNCTION;
pub const NEED_FIELD_SET: Cond = FIELD_SET | ANCESTORS;
pub const NEED_TASKS: Cond = ANCESTORS | TASKS;
const AUTO_UNBLOCK: Cond = SCALAR | ARC_TYPE;

impl TaskKind {
    pub(super) fn completes(self) -> Cond {
        match self {
            TaskKind::Expr | TaskKind::Resolver => TASKS | SCALAR | VALUE | FIELD_CONJUNCTS,
            TaskKind::Disjunctions => TASKS | SCALAR | VALUE | FIELD_CONJUNCTS | DISJUNCTION,
            _ => TASKS | FIELD_CONJUNCTS | VALUE,
        }
    }
}

impl Task {
    /// A comprehension whose fields are all known beforehand.
    pub fn is_pushed_down(&self) -> bool {
        self.kind == TaskKind::Comprehension && self.completes == TASKS
    }
}

impl Ctx {
    pub fn schedule_task(
        &mut self,
        node: NodeId,
        kind: TaskKind,
        env: Option<EnvId>,
        x: Option<X>,
        ci: CloseInfo,
    ) -> R<()> {
        let task = self.new_task(Task {
            kind,
            state: TaskState::Ready,
            completes: 0,
            defunct: false,
            inserting: false,
            retry: false,
            waited: false,
            blocked_on: None,
            block_cond: NEVER,
            err: None,
            node,
            env,
            x,
            ci,
        });
        let completes = match (kind, x) {
            (TaskKind::Comprehension, Some(X::Expr(expr))) => self.push_down(node, task, expr)?,
            _ => kind.completes(),
        };
        self.tasks[task].completes = completes;
        let sched = &mut self.w(node).sched;
        sched.provided |= completes;
        for bit in 0..sched.counters.len() {
            if completes & COUNTED & (1 << bit) != 0
                && let Some(counter) = sched.counters.get_mut(bit)
            {
                *counter += 1;
            }
        }
        // Disjunctions run after everything else.
        let mut at = sched.tasks.len();
        if kind != TaskKind::Disjunctions {
            let before = self.work(node).map_or(&[][..], |w| &w.sched.tasks);
            let is_last = |&&t: &&TaskId| self.tasks[t].kind == TaskKind::Disjunctions;
            at -= before.iter().rev().take_while(is_last).count();
        }
        self.w(node).sched.tasks.insert(at, task);
        Ok(())
    }

    /// Prepares the fields a comprehension may produce, so that readers wait for it. Returns what it
    /// completes.
    pub(super) fn push_down(
        &mut self,
        node: NodeId,
        task: TaskId,
        expr: super::ids::ExprId,
    ) -> R<Cond> {
        let mut completes = 0;
        match &self.ir.exprs[expr] {
            Expr::Comprehension(c) => {
                let value = c.value;
                completes = self.push_down(node, task, value)?;
            }
            Expr::Struct(lit) => {
                let decls = lit.decls;
                let mut i = 0;
                while let Some(&decl) = self.ir.members(decls).get(i) {
                    i += 1;
                    match self.ir.decls[decl].kind {
                        DeclKind::Field { label, value, .. } => {
                            let (arc, _) = self.get_arc(node, label, ArcType::Pending)?;
                            if self.bare_state(arc) {
                                self.w(arc).sched.parent_tasks.push(task);
                                self.push_down(arc, task, value)?;
                            }
                        }
                        DeclKind::Let { .. } => {
                            completes |= FIELD_CONJUNCTS;
                            self.nodes[node].multi_let = true;
                        }
                        DeclKind::Pattern { .. }
                        | DeclKind::Ellipsis(_)
                        | DeclKind::Dynamic { .. } => completes |= FIELD_CONJUNCTS,
                        DeclKind::Embed(x) => {
                            if let Expr::Value(_) = self.ir.exprs[x] {
                                completes |= VALUE;
                            } else {
                                completes |= self.push_down(node, task, x)?;
                            }
                        }
                    }
                }
            }
            _ => completes |= VALUE | FIELD_CONJUNCTS,
        }
        Ok(completes | TASKS)
    }

    pub fn meets(&self, node: NodeId, needs: Cond) -> bool {
        let Some(work) = self.work(node) else {
            return true;
        };
        let needs = match work.sched.state {
            SchedState::Ready => needs,
            _ => needs & work.sched.provided,
        };
        work.sched.completed & needs == needs
    }

    pub fn block_on(&mut self, node: NodeId, cond: Cond) {
        self.w(node).sched.provided |= cond;
    }

    pub fn has_active_parent_task(&self, node: NodeId) -> bool {
        self.work(node).is_some_and(|w| {
            w.sched
                .parent_tasks
                .iter()
                .any(|&t| !self.tasks[t].state.done())
        })
    }

    /// Marks conditions as met and runs the tasks that waited for them.
    pub fn signal(&mut self, node: NodeId, completed: Cond) -> R<()> {
        if self.nodes[node].work.is_none() {
            return Ok(());
        }
        let was = self.w(node).sched.completed;
        self.w(node).sched.completed |= completed;
        let to_freeze = self.defer_field_set(node, completed);
        if was == self.w(node).sched.completed {
            self.w(node).sched.frozen |= to_freeze;
            return Ok(());
        }
        let more = self.completions(node);
        let sched = &mut self.w(node).sched;
        sched.completed |= more;
        sched.frozen |= to_freeze;
        let mut i = 0;
        while let Some(&task) = self.work(node).and_then(|w| w.sched.blocking.get(i)) {
            i += 1;
            let done = self.w(node).sched.completed;
            let cond = self.tasks[task].block_cond;
            if cond & done == cond && cond != NEVER {
                self.tasks[task].block_cond = NEVER;
                self.tasks[task].blocked_on = None;
                self.run_task(task, Run::Attempt)?;
            }
        }
        Ok(())
    }

    pub fn freeze(&mut self, node: NodeId, cond: Cond) {
        if self.nodes[node].work.is_none() {
            return;
        }
        let frozen = self.defer_field_set(node, cond);
        let sched = &mut self.w(node).sched;
        sched.frozen |= frozen;
        sched.completed |= cond;
        self.completions(node);
    }

    /// The set of fields must not be frozen while somebody is about to add to it.
    pub(super) fn defer_field_set(&self, node: NodeId, cond: Cond) -> Cond {
        if cond & FIELD_SET == 0 {
            return cond;
        }
        let Some(work) = self.work(node) else {
            return cond;
        };
        let current = self.task_stack.last().copied();
        for &task in &work.sched.parent_tasks {
            if !self.tasks[task].state.done() && Some(task) != current {
                return cond & !FIELD_SET;
            }
        }
        for &task in &work.sched.tasks {
            let t = &self.tasks[task];
            if t.kind.completes() & FIELD_CONJUNCTS == 0 {
                continue;
            }
            match t.state {
                TaskState::Ready => return cond & !FIELD_SET,
                TaskState::Running if t.kind != TaskKind::Comprehension => {
                    return cond & !FIELD_SET;
                }
                _ => {}
            }
        }
        cond
    }

    /// What follows from what is known.
    pub(super) fn completions(&mut self, node: NodeId) -> Cond {
        let active_parent = self.has_active_parent_task(node);
        let Some(work) = self.work(node) else {
            return 0;
        };
        let sched = &work.sched;
        let counter = |i: usize| sched.counters.get(i).copied().unwrap_or(0);
        let mut x = sched.completed;
        let arc_type = self.nodes[node].arc_type;
        let mut absent = false;
        if x & ANCESTORS != 0 {
            x |= COUNTED & !sched.provided;
            if counter(2) == 0 && x & SUBFIELDS != 0 {
                x |= ARC_TYPE;
            }
        }
        match arc_type {
            ArcType::Member | ArcType::NotPresent => x |= ARC_TYPE,
            ArcType::Pending if x & ARC_TYPE != 0 && !active_parent => absent = true,
            _ => {}
        }
        if x & VALUE != 0 && (absent || matches!(arc_type, ArcType::Member | ArcType::NotPresent)) {
            x |= SCALAR;
        }
        let needed = FIELD_CONJUNCTS | ANCESTORS | NEED_TASKS;
        let counted = counter(TASKS_INDEX) > 0 || counter(FIELD_CONJUNCTS_INDEX) > 0;
        if x & FIELD_SET == 0 && x & needed == needed && !counted {
            let pending = || {
                let arcs = &self.nodes[node].arcs.list;
                arcs.iter()
                    .any(|&a| self.nodes[a].arc_type == ArcType::Pending)
            };
            if x & SUBFIELDS != 0 || !pending() {
                x |= FIELD_SET;
            }
        }
        if absent {
            self.nodes[node].arc_type = ArcType::NotPresent;
        }
        x
    }

    pub fn child_conjuncts_known(&mut self, node: Option<NodeId>) -> R<bool> {
        let Some(node) = node else { return Ok(true) };
        if !self.state(node)? {
            return Ok(true);
        }
        Ok(self.meets(node, FIELD_CONJUNCTS | ANCESTORS))
    }

    pub(super) fn process_ancestors(&mut self, node: NodeId, run: Run) -> R<bool> {
        if self.meets(node, ANCESTORS) {
            return Ok(true);
        }
        self.enter()?;
        let mut parents_done = true;
        let parent = self.nodes[node].parent;
        if let Some(p) = parent
            && self.work(p).is_some()
            && !self.meets(p, CHILD_CONJUNCTS)
        {
            parents_done = self.process_ancestors(p, run)?;
            let outstanding = |ctx: &Ctx| {
                ctx.work(p)
                    .and_then(|w| w.sched.counters.get(FIELD_CONJUNCTS_INDEX).copied())
                    .unwrap_or(0)
            };
            if outstanding(self) > 0 {
                self.process(p, FIELD_CONJUNCTS, run)?;
            }
            if parents_done && outstanding(self) == 0 && self.work(p).is_some() {
                self.w(p).sched.completed |= CHILD_CONJUNCTS;
            }
        }
        let n = &self.nodes[node];
        if n.is_dynamic || n.label.is_let() || self.child_conjuncts_known(parent)? {
            self.signal(node, ANCESTORS)?;
        }
        self.leave();
        Ok(parents_done)
    }

    pub(super) fn handle_parents(&mut self, node: NodeId, needs: Cond, run: Run) -> R<()> {
        if !self.meets(node, needs) {
            self.process_ancestors(node, run)?;
        }
        Ok(())
    }

    /// Runs the tasks of a vertex that matter to the given conditions.
    pub fn process(&mut self, node: NodeId, needs: Cond, run: Run) -> R<bool> {
        if self.nodes[node].work.is_none() {
            return Ok(true);
        }
        self.enter()?;
        let done = self.process_tasks(node, needs, run);
        self.leave();
        done
    }

    pub(super) fn process_tasks(&mut self, node: NodeId, needs: Cond, run: Run) -> R<bool> {
        let known = self.completions(node);
        self.signal(node, known)?;
        self.handle_parents(node, needs, run)?;
        let parents = self.w(node).sched.parent_tasks.clone();
        let mut ran_parent = false;
        for task in parents {
            if self.tasks[task].state == TaskState::Ready {
                self.run_task(task, run)?;
                ran_parent = true;
            }
        }
        if ran_parent {
            self.handle_parents(node, needs, run)?;
        }
        if self.nodes[node].work.is_none() {
            return Ok(true);
        }
        if self.nodes[node].arc_type == ArcType::Pending && run == Run::Finalize {
            self.w(node).sched.tasks.clear();
        }
        self.w(node).sched.state = SchedState::Running;
        let mut select = needs;
        if needs & SCALAR != 0 {
            select |= VALUE;
        }
        if needs & FIELD_SET != 0 {
            select |= FIELD_CONJUNCTS;
        }
        let mut running_comp = false;
        let mut inserting_comp = false;
        let mut pending_disjunction = false;
        for &task in &self.w(node).sched.tasks.clone() {
            let t = &self.tasks[task];
            if t.kind == TaskKind::Comprehension && t.state == TaskState::Running {
                running_comp = true;
                inserting_comp |= t.inserting;
            }
            pending_disjunction |= t.kind == TaskKind::Disjunctions && t.state == TaskState::Ready;
        }
        let mut at = 0;
        loop {
            while let Some(&task) = self.work(node).and_then(|w| w.sched.tasks.get(at)) {
                at += 1;
                let t = &self.tasks[task];
                let skip = t.state != TaskState::Ready
                    || t.completes & select == 0
                    || running_comp && t.kind == TaskKind::Comprehension
                    || inserting_comp && t.kind == TaskKind::Resolver
                    || pending_disjunction && t.is_pushed_down();
                if !skip {
                    self.run_task(task, run)?;
                }
            }
            match run {
                Run::Finalize => {}
                Run::Yield => {
                    if self.meets(node, needs) {
                        return Ok(true);
                    }
                    if let Some(&task) = self.task_stack.last() {
                        self.wait_for(task, node, needs);
                        return Err(Stop::Yield);
                    }
                }
                _ => return Ok(self.meets(node, needs)),
            }
            loop {
                let blocked = self.blocking.len();
                self.unblock()?;
                let more = self.work(node).is_some_and(|w| at < w.sched.tasks.len());
                if more || self.blocking.len() <= blocked {
                    break;
                }
            }
            let more = self.work(node).is_some_and(|w| at < w.sched.tasks.len());
            if !more {
                self.blocking.clear();
                return Ok(true);
            }
        }
    }

    /// Releases all suspended tasks: nothing more will come for what they wait on.
    pub(super) fn unblock(&mut self) -> R<()> {
        let mut i = 0;
        while let Some(&task) = self.blocking.get(i) {
            i += 1;
            if let Some(on) = self.tasks[task].blocked_on {
                self.signal(on, AUTO_UNBLOCK)?;
            }
        }
        i = 0;
        while let Some(&task) = self.blocking.get(i) {
            i += 1;
            if let Some(on) = self.tasks[task].blocked_on {
                let cond = self.tasks[task].block_cond;
                self.freeze(on, cond);
            }
        }
        i = 0;
        while let Some(&task) = self.blocking.get(i) {
            i += 1;
            if let Some(on) = self.tasks[task].blocked_on
                && !self.tasks[task].defunct
            {
                let cond = self.tasks[task].block_cond;
                self.tasks[task].blocked_on = None;
                self.tasks[task].block_cond = NEVER;
                self.signal(on, cond)?;
                self.run_task(task, Run::Attempt)?;
            }
        }
        Ok(())
    }

    pub fn wait_for(&mut self, task: TaskId, node: NodeId, needs: Cond) {
        let t = &mut self.tasks[task];
        t.state = TaskState::Waiting;
        t.waited = true;
        t.block_cond = needs;
        t.blocked_on = Some(node);
        let sched = &mut self.w(node).sched;
        sched.needs |= needs;
        sched.blocking.push(task);
        self.blocking.push(task);
    }

    pub fn all_tasks_started(&self, node: NodeId) -> bool {
        self.work(node).is_none_or(|w| {
            w.sched
                .tasks
                .iter()
                .all(|&t| self.tasks[t].state != TaskState::Ready)
        })
    }

    pub fn all_tasks_finished(&self, node: NodeId) -> bool {
        self.work(node)
            .is_none_or(|w| w.sched.tasks.iter().all(|&t| self.tasks[t].state.done()))
    }

    pub fn outstanding_tasks(&self, node: NodeId) -> bool {
        self.work(node).is_some_and(|w| {
            w.sched.provided & TASKS != 0
                && w.sched.counters.get(TASKS_INDEX).copied().unwrap_or(0) > 0
        })
    }
}
