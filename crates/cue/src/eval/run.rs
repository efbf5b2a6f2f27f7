//! Running one task: its frame, its outcome, and the limits that every step counts against.

use super::context::{Ctx, R, Stop};
use super::ids::{EnvId, NodeId, TaskId};
use super::limits::Bound;
use super::node::{CloseInfo, Conjunct};
use super::sched::{COUNTED, Cond, NEVER};
use super::work::{Run, Task, TaskKind, TaskState};

impl Ctx {
    pub fn run_task(&mut self, task: TaskId, run: Run) -> R<()> {
        let node = self.tasks[task].node;
        let kind = self.tasks[task].kind;
        if self.tasks[task].defunct {
            self.tasks[task].state = TaskState::Cancelled;
            return Ok(());
        }
        let Some(work) = self.work(node) else {
            self.tasks[task].state = TaskState::Cancelled;
            return Ok(());
        };
        if work.ancestor_cycle {
            let drop = match kind {
                TaskKind::Comprehension => work.only_cyclic(),
                TaskKind::Disjunctions => true,
                _ => false,
            };
            if drop {
                self.tasks[task].state = TaskState::Success;
                return Ok(());
            }
        }
        if matches!(
            self.tasks[task].state,
            TaskState::Success | TaskState::Failed
        ) {
            return Ok(());
        }
        self.enter()?;
        let saved = self.save();
        self.node = Some(node);
        self.task_stack.push(task);
        let t = self.tasks[task].clone();
        if let (Some(env), Some(x)) = (t.env, t.x) {
            let _ = self.push_conjunct(Conjunct {
                env: Some(env),
                x,
                ci: t.ci,
            });
        }
        self.tasks[task].state = TaskState::Running;
        self.tasks[task].err = None;
        self.tasks[task].inserting = false;
        let mut result = self.perform(task, &t, run);
        self.tasks[task].inserting = false;
        if result.is_ok() {
            result = self.finish_task(task);
        }
        self.restore(saved);
        if self.work(node).is_some_and(|w| w.to_complete) {
            self.w(node).to_complete = false;
            self.complete_node_tasks(node, Run::Attempt)?;
        }
        self.leave();
        match result {
            Err(Stop::Yield) => {
                if self.tasks[task].state == TaskState::Running {
                    self.tasks[task].state = match self.tasks[task].err {
                        Some(_) => TaskState::Failed,
                        None => TaskState::Success,
                    };
                }
                Ok(())
            }
            other => other,
        }
    }

    pub(super) fn perform(&mut self, task: TaskId, t: &Task, run: Run) -> R<()> {
        match t.kind {
            TaskKind::Expr => self.task_expr(t, run),
            TaskKind::Resolver => self.task_resolver(task, t, run),
            TaskKind::Dynamic => self.task_dynamic(t, run),
            TaskKind::Pattern => self.task_pattern(t),
            TaskKind::Comprehension => {
                let err = self.task_comprehension(task, t)?;
                self.tasks[task].err = err;
                Ok(())
            }
            TaskKind::ListLit => self.task_list(t, run),
            TaskKind::ListData => self.task_list_data(t),
            TaskKind::Disjunctions => {
                let err = self.task_disjunctions(t.node)?;
                self.tasks[task].err = err;
                Ok(())
            }
        }
    }

    pub(super) fn finish_task(&mut self, task: TaskId) -> R<()> {
        let errs = self.take_errs();
        let node = self.tasks[task].node;
        let deferred = std::mem::take(&mut self.w(node).sched.deferred);
        for other in deferred {
            self.complete_shallow(other)?;
            if let Some(bottom) = self.node_bottom(other) {
                self.node_add_bottom(node, Some(bottom));
            }
        }
        if self.tasks[task].retry {
            self.tasks[task].retry = false;
            self.tasks[task].state = TaskState::Ready;
            return Ok(());
        }
        if self.tasks[task].state == TaskState::Waiting {
            return Ok(());
        }
        let before = self.tasks[task].err;
        let err = self.combine(before, errs);
        let t = &mut self.tasks[task];
        t.blocked_on = None;
        t.block_cond = NEVER;
        t.err = err;
        t.state = match err {
            None => TaskState::Success,
            Some(_) => TaskState::Failed,
        };
        let completes = std::mem::take(&mut t.completes);
        if self.work(node).is_none() {
            return Ok(());
        }
        self.node_add_bottom(node, err);
        self.count_down(node, completes)
    }

    pub(super) fn count_down(&mut self, node: NodeId, completes: Cond) -> R<()> {
        let mut done = 0;
        let sched = &mut self.w(node).sched;
        for (bit, counter) in sched.counters.iter_mut().enumerate() {
            let cond = 1 << bit;
            if completes & COUNTED & cond != 0 {
                *counter -= 1;
                if *counter == 0 {
                    done |= cond;
                }
            }
        }
        self.signal(node, done)
    }

    /// The state of a task's frame, put back whatever way the task ends.
    fn save(&self) -> Saved {
        Saved {
            env: self.env,
            ci: self.ci,
            src: self.src,
            errs: self.errs,
            node: self.node,
            eval_depth: self.eval_depth,
            depth: self.limits.depth_used,
            in_detached: self.in_detached,
            in_validator: self.in_validator,
            is_validator: self.is_validator,
            tasks: self.task_stack.len(),
            overlays: self.overlays.len(),
            alt_path: self.alt_path.len(),
        }
    }

    fn restore(&mut self, saved: Saved) {
        self.env = saved.env;
        self.ci = saved.ci;
        self.src = saved.src;
        self.errs = saved.errs;
        self.node = saved.node;
        self.eval_depth = saved.eval_depth;
        self.limits.depth_used = saved.depth;
        self.in_detached = saved.in_detached;
        self.in_validator = saved.in_validator;
        self.is_validator = saved.is_validator;
        self.task_stack.truncate(saved.tasks);
        self.overlays.truncate(saved.overlays);
        self.alt_path.truncate(saved.alt_path);
    }

    /// Counts a search through a list that grows with the program: so many elements make a step.
    pub fn search(&mut self, elements: usize) -> R<()> {
        const ELEMENTS_OF_A_STEP: usize = 4;
        self.limits.steps_used += 1 + (elements / ELEMENTS_OF_A_STEP) as u64;
        if self.limits.steps_used > self.limits.steps {
            return Err(self.exceed(Bound::Steps));
        }
        Ok(())
    }

    /// Counts a step and a level of nesting; every `enter` that succeeds is followed by a `leave`.
    pub fn enter(&mut self) -> R<()> {
        let limits = &mut self.limits;
        limits.steps_used += 1;
        limits.depth_used += 1;
        let bound = if limits.steps_used > limits.steps {
            Bound::Steps
        } else if limits.depth_used > limits.depth {
            Bound::Depth
        } else if self.nodes.len() > limits.nodes {
            Bound::Nodes
        } else {
            match limits.exceeded {
                Some(exceeded) => exceeded.bound,
                None => return Ok(()),
            }
        };
        Err(self.exceed(bound))
    }

    pub fn leave(&mut self) {
        self.limits.depth_used = self.limits.depth_used.saturating_sub(1);
    }
}

struct Saved {
    env: EnvId,
    ci: CloseInfo,
    src: Option<base::Span>,
    errs: Option<super::ids::ValId>,
    node: Option<NodeId>,
    eval_depth: u32,
    depth: u32,
    in_detached: u32,
    in_validator: u32,
    is_validator: bool,
    tasks: usize,
    overlays: usize,
    alt_path: usize,
}
