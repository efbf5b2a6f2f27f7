//! Equal disjuncts are one: comparing vertices that may not be finished.
//!
//! A product of disjunctions has many results, so that comparing each with each would take longer than making them.
//! Finished results are told apart by a print of their scalars and fields; only those with the same are compared.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::context::{Ctx, R};
use super::equal::STRUCTURAL;
use super::ids::{NodeId, ValId};
use super::node::{ArcType, Base, Status, X};
use super::value::{Val, Value};
use super::work::{Mode, TaskState};

/// Results that differ from each other.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    pub nodes: Vec<NodeId>,
    /// The finished ones by their print, once there are many.
    finished: Prints,
    /// All by what is known of them, finished or not.
    known: Prints,
}

type Prints = HashMap<u64, SmallVec<[NodeId; 1]>, FxBuildHasher>;

/// Up to this many results are compared one by one.
const FEW: usize = 8;

/// How far down a print looks.
const DEPTH: u32 = 4;

impl Ctx {
    /// Adds a result, unless an equal one is there.
    pub(super) fn append_disjunct(&mut self, out: &mut Distinct, x: NodeId) -> R<()> {
        if out.nodes.len() < FEW {
            if !self.join_equal(&out.nodes, x)? {
                out.nodes.push(x);
            }
            return Ok(());
        }
        if out.known.is_empty() {
            for at in 0..out.nodes.len() {
                if let Some(&node) = out.nodes.get(at) {
                    self.note_prints(out, node);
                }
            }
        }
        let print = self.print(x);
        let mut alike: SmallVec<[NodeId; 2]> = SmallVec::new();
        if let Some(print) = print {
            alike.extend(out.finished.get(&print).into_iter().flatten().copied());
        }
        // Two of which one is not finished are compared by what is known of them.
        let known = out.known.get(&self.partial_print(x, DEPTH));
        let known = known.into_iter().flatten().copied();
        alike.extend(known.filter(|&other| print.is_none() || self.print(other).is_none()));
        if !self.join_equal(&alike, x)? {
            out.nodes.push(x);
            self.note_prints(out, x);
        }
        Ok(())
    }

    fn note_prints(&self, out: &mut Distinct, node: NodeId) {
        if let Some(print) = self.print(node) {
            out.finished.entry(print).or_default().push(node);
        }
        let partial = self.partial_print(node, DEPTH);
        out.known.entry(partial).or_default().push(node);
    }

    /// Joins a result with an equal one, if there is one.
    fn join_equal(&mut self, known: &[NodeId], x: NodeId) -> R<bool> {
        if known.contains(&x) {
            return Ok(true);
        }
        let nv = self.deref_value(x);
        for &other in known {
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
            return Ok(true);
        }
        Ok(false)
    }

    /// A number that is the same for equal results; none for one that is not finished.
    fn print(&self, node: NodeId) -> Option<u64> {
        let node = self.deref_value(node);
        let done = self.nodes[node].status == Status::Finalized;
        done.then(|| self.print_below(node, DEPTH))
    }

    fn print_below(&self, node: NodeId, depth: u32) -> u64 {
        let n = &self.nodes[self.deref_value(node)];
        let own = match n.base {
            Base::Val(id) => self.literal_print(id),
            _ => 10,
        };
        let Some(depth) = depth.checked_sub(1) else {
            return own;
        };
        // The order of the fields does not matter.
        let fields = n.arcs.list.iter().filter_map(|&arc| {
            let a = &self.nodes[arc];
            let counts = a.arc_type <= ArcType::Optional;
            counts.then(|| hash(&(a.label, self.print_below(arc, depth))))
        });
        fields.fold(own, u64::wrapping_add)
    }

    /// A number that is the same for results of which [`Ctx::equal_partial`] holds.
    fn partial_print(&self, node: NodeId, depth: u32) -> u64 {
        let n = &self.nodes[node];
        let Some(work) = &n.work else {
            return self.print_below(node, depth);
        };
        let scalar = work.scalar.map(|id| self.literal_print(id));
        let own = hash(&(work.kind, scalar, n.arcs.len()));
        let Some(depth) = depth.checked_sub(1) else {
            return own;
        };
        let arcs = n.arcs.list.iter();
        let fields = arcs.map(|&arc| {
            let label = self.nodes[arc].label;
            hash(&(label, self.partial_print(arc, depth)))
        });
        fields.fold(own, u64::wrapping_add)
    }

    pub(super) fn literal_print(&self, id: ValId) -> u64 {
        match self.value(id) {
            Value::Bool(b) => hash(&(1, b)),
            Value::String(s) => hash(&(2, s)),
            Value::Bytes(b) => hash(&(3, b)),
            Value::Num(num) if num.is_int() => hash(&(4, num.to_i64())),
            Value::Num(_) => 5,
            Value::Type(kind) => hash(&(6, kind)),
            Value::Null => 7,
            Value::Bottom(_) => 8,
            _ => 9,
        }
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
            self.nodes[x].arcs.patterns.clone(),
            self.nodes[y].arcs.patterns.clone(),
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

fn hash(of: &impl Hash) -> u64 {
    FxBuildHasher.hash_one(of)
}
