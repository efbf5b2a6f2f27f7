//! Equal disjuncts are one: comparing vertices that may not be finished.

use super::context::{Ctx, R};
use super::equal::STRUCTURAL;
use super::ids::NodeId;
use super::node::{Base, Status, X};
use super::value::Val;
use super::work::{Mode, TaskState};

impl Ctx {
    pub(super) fn append_disjunct(&mut self, out: &mut Vec<NodeId>, x: NodeId) -> R<()> {
        if out.contains(&x) {
            return Ok(());
        }
        let nv = self.deref_value(x);
        for i in 0..out.len() {
            let Some(&other) = out.get(i) else { break };
            let ov = self.deref_value(other);
            let final_both = self.nodes[nv].status == Status::Finalized
                && self.nodes[ov].status == Status::Finalized;
            let same = if final_both {
                self.equal(Val::Node(ov), Val::Node(nv), STRUCTURAL)?
            } else {
                self.equal_partial(x, other)? && self.equal_bases(x, nv, other, ov)?
            };
            if !same {
                continue;
            }
            if self.w(x).mode == Mode::Default {
                self.w(other).mode = Mode::Default;
            }
            self.merge_evidence(other, x);
            return Ok(());
        }
        out.push(x);
        Ok(())
    }

    pub(super) fn equal_bases(&mut self, x: NodeId, nv: NodeId, y: NodeId, ov: NodeId) -> R<bool> {
        let value = |ctx: &mut Ctx, node: NodeId, v: NodeId| {
            let base = ctx.nodes[v].base;
            let base = if base == Base::None || ctx.is_cycle_base(base) {
                ctx.constraints_value(node)
            } else {
                base
            };
            match base {
                Base::Val(id) => Some(id),
                _ => None,
            }
        };
        let (a, b) = (value(self, x, nv), value(self, y, ov));
        match (a, b) {
            (Some(a), Some(b)) => self.equal(Val::Lit(a), Val::Lit(b), STRUCTURAL),
            _ => Ok(true),
        }
    }

    /// Equality of vertices that are not finished: what is known and what is still to do.
    pub(super) fn equal_partial(&mut self, x: NodeId, y: NodeId) -> R<bool> {
        match (self.work(x).is_some(), self.work(y).is_some()) {
            (false, false) => return self.equal(Val::Node(x), Val::Node(y), STRUCTURAL),
            (true, true) => {}
            _ => return Ok(false),
        }
        if !self.equal_work(x, y)? {
            return Ok(false);
        }
        let (px, py) = (
            self.nodes[x].patterns.clone(),
            self.nodes[y].patterns.clone(),
        );
        if px.len() != py.len() {
            return Ok(false);
        }
        for (a, b) in px.iter().zip(&py) {
            self.finalize(a.constraint)?;
            self.finalize(b.constraint)?;
            if !self.equal(Val::Node(a.constraint), Val::Node(b.constraint), STRUCTURAL)? {
                return Ok(false);
            }
        }
        if self.nodes[x].arcs.len() != self.nodes[y].arcs.len() {
            return Ok(false);
        }
        let arcs = self.nodes[x].arcs.list.clone();
        for a in arcs {
            let Some(b) = self.find_arc(y, self.nodes[a].label) else {
                return Ok(false);
            };
            if !self.equal_partial(a, b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn equal_work(&mut self, x: NodeId, y: NodeId) -> R<bool> {
        let tasks = |ctx: &mut Ctx, node: NodeId| {
            let tasks = ctx.w(node).sched.tasks.clone();
            let all: Vec<Option<X>> = tasks.iter().map(|&t| ctx.tasks[t].x).collect();
            let ready: Vec<Option<X>> = tasks
                .iter()
                .filter(|&&t| ctx.tasks[t].state == TaskState::Ready)
                .map(|&t| ctx.tasks[t].x)
                .collect();
            (all, ready)
        };
        let ((ax, rx), (ay, ry)) = (tasks(self, x), tasks(self, y));
        if !rx.iter().all(|t| ay.contains(t)) || !ry.iter().all(|t| ax.contains(t)) {
            return Ok(false);
        }
        let (a, b) = (self.w(x).clone_facts(), self.w(y).clone_facts());
        if a.kind != b.kind || a.has_top != b.has_top || a.checks.len() != b.checks.len() {
            return Ok(false);
        }
        for (p, q) in [(a.scalar, b.scalar), (a.lower, b.lower), (a.upper, b.upper)] {
            let same = match (p, q) {
                (None, None) => true,
                (Some(p), Some(q)) => self.equal(Val::Lit(p), Val::Lit(q), STRUCTURAL)?,
                _ => false,
            };
            if !same {
                return Ok(false);
            }
        }
        for (p, q) in a.checks.iter().zip(&b.checks) {
            if let (X::Val(p), X::Val(q)) = (p.x, q.x)
                && !self.equal(Val::Lit(p), Val::Lit(q), STRUCTURAL)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
