//! Vertices: their work, their fields, and what their links lead to.

use super::context::Ctx;
use super::ids::{NodeId, TaskId};
use super::label::Label;
use super::node::{ArcType, Base, Conjunct, Node, Status};
use super::work::{Spare, Task, Work};

impl Ctx {
    #[inline]
    pub fn work(&self, node: NodeId) -> Option<&Work> {
        self.nodes[node].work.as_deref()
    }

    /// The work of a vertex that is known to be in progress.
    #[inline]
    pub fn w(&mut self, node: NodeId) -> &mut Work {
        let work = &mut self.nodes[node].work;
        if work.is_none() {
            *work = Some(fresh(&mut self.spare, node));
        }
        work.as_deref_mut()
            .expect("it was made just now if there was none")
    }

    /// A place for the work on a vertex.
    pub(super) fn new_work(&mut self, node: NodeId) -> Box<Work> {
        fresh(&mut self.spare, node)
    }

    /// A task, in the place of one that is forgotten if there is one.
    pub(super) fn new_task(&mut self, task: Task) -> TaskId {
        match self.spare_tasks.pop() {
            Some(id) => {
                self.tasks[id] = task;
                id
            }
            None => self.tasks.push(task),
        }
    }

    /// Ends the work on a vertex. The places of the work and of its tasks are used again.
    pub(super) fn free_work(&mut self, node: NodeId) {
        if let Some(mut work) = self.nodes[node].work.take() {
            for &task in &work.sched.tasks {
                let t = &self.tasks[task];
                if t.node == node && t.is_forgotten() {
                    self.spare_tasks.push(task);
                }
            }
            *work = Work::new(node);
            self.spare.0.push(work);
        }
    }

    #[inline]
    pub fn find_arc(&self, node: NodeId, label: Label) -> Option<NodeId> {
        self.nodes[node]
            .arcs
            .find(label, |arc| self.nodes[arc].label)
    }

    pub fn push_arc(&mut self, node: NodeId, label: Label, arc: NodeId) {
        let mut arcs = std::mem::take(&mut self.nodes[node].arcs);
        arcs.push(label, arc, |arc| self.nodes[arc].label);
        self.nodes[node].arcs = arcs;
    }

    #[inline]
    pub fn deref_value(&self, mut node: NodeId) -> NodeId {
        while let Base::Node(other) = self.nodes[node].base {
            node = other;
        }
        node
    }

    /// Follows links to a disjunct only.
    pub fn deref_disjunct(&self, mut node: NodeId) -> NodeId {
        while let Base::Node(other) = self.nodes[node].base {
            if !self.nodes[other].is_disjunct {
                break;
            }
            node = other;
        }
        node
    }

    pub fn deref_non_disjunct(&self, mut node: NodeId) -> NodeId {
        while let Base::Node(other) = self.nodes[node].base {
            if self.nodes[other].is_disjunct {
                break;
            }
            node = other;
        }
        node
    }

    pub fn deref_non_rooted(&self, mut node: NodeId) -> NodeId {
        while let Base::Node(other) = self.nodes[node].base {
            let shared = self.nodes[node].is_shared && !self.nodes[other].label.is_let();
            if self.nodes[other].is_disjunct || shared {
                break;
            }
            node = other;
        }
        node
    }

    pub fn deref_non_shared(&self, node: NodeId) -> NodeId {
        if self.work(node).is_some_and(|w| w.is_shared) {
            return node;
        }
        self.deref_value(node)
    }

    /// The original vertex behind links and copies.
    #[inline]
    pub fn original(&self, node: NodeId) -> NodeId {
        let node = self.deref_value(node);
        self.work(node).map_or(node, |w| w.underlying)
    }

    pub fn same_vertex(&self, a: NodeId, b: NodeId) -> bool {
        self.original(a) == self.original(b)
    }

    pub fn status(&self, node: NodeId) -> Status {
        self.nodes[self.deref_value(node)].status
    }

    /// A vertex made on the fly from conjuncts.
    pub fn inline_node(&mut self, base: Base, conjuncts: &[Conjunct]) -> NodeId {
        let mut node = Node::new(None, Label::NONE, ArcType::Member);
        node.base = base;
        node.is_dynamic = true;
        node.conjuncts.extend(conjuncts.iter().copied());
        node.anonymous = self.in_detached > 0;
        self.nodes.push(node)
    }
}

/// Work that is as new, from those that were given back.
#[cold]
fn fresh(spare: &mut Spare, node: NodeId) -> Box<Work> {
    match spare.0.pop() {
        Some(mut work) => {
            work.underlying = node;
            work
        }
        None => Box::new(Work::new(node)),
    }
}
