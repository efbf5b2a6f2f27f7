//! Copies of unfinished vertices, one for each disjunct that is tried.
//!
//! The copy of a vertex and all below it is recorded as an overlay, through which frames find their copies.

use std::sync::Arc;

use smallvec::SmallVec;

use super::context::Ctx;
use super::copies::Copies;
use super::ids::{NodeId, TaskId};
use super::node::{Node, PatternPair, Role};
use super::work::{TaskKind, TaskState};

impl Ctx {
    pub(super) fn clone_root(&mut self, root: NodeId) -> NodeId {
        let mut map = match &self.w(root).overlay {
            Some(map) => (**map).clone(),
            None => Copies::default(),
        };
        let mut fresh = Vec::new();
        let copy = self.clone_vertex(root, &mut map, &mut fresh);
        self.nodes[copy].is_disjunct = true;
        for &node in &fresh {
            let Some(work) = self.work(node) else {
                continue;
            };
            for task in work.sched.tasks.clone() {
                let at = map.last(self.tasks[task].node);
                self.tasks[task].node = at;
                if let Some(on) = self.tasks[task].blocked_on {
                    let after = map.last(on);
                    if after != on {
                        self.tasks[task].blocked_on = Some(after);
                        let cond = self.tasks[task].block_cond;
                        let sched = &mut self.w(after).sched;
                        sched.blocking.push(task);
                        sched.needs |= cond;
                        self.blocking.push(task);
                    }
                }
            }
        }
        self.w(copy).overlay = Some(Arc::new(map));
        copy
    }

    pub(super) fn clone_vertex(
        &mut self,
        node: NodeId,
        map: &mut Copies,
        fresh: &mut Vec<NodeId>,
    ) -> NodeId {
        let n = &self.nodes[node];
        let mut copy = Node::new(n.parent, n.label, n.arc_type);
        copy.status = n.status;
        copy.base = n.base;
        copy.conjuncts = n.conjuncts.clone();
        if !n.arcs.structs.is_empty() {
            *copy.arcs.structs_mut() = n.arcs.structs.clone();
        }
        copy.child_errors = n.child_errors;
        copy.role = match n.role {
            Role::Plain => Role::Vertex,
            role => role,
        };
        copy.closed_recursive = n.closed_recursive;
        copy.closed_once = n.closed_once;
        copy.has_ellipsis = n.has_ellipsis;
        copy.multi_let = n.multi_let;
        copy.is_dynamic = n.is_dynamic;
        copy.non_rooted = n.non_rooted;
        copy.anonymous = n.anonymous;
        copy.is_disjunct = n.is_disjunct;
        copy.is_shared = n.is_shared;
        let (arcs, patterns) = (n.arcs.list.clone(), n.arcs.patterns.clone());
        let copy = self.nodes.push(copy);
        map.insert(node, copy);
        fresh.push(copy);
        if let Some(tails) = self.list_tails.get(&node).cloned() {
            self.list_tails.insert(copy, tails);
        }
        if !arcs.is_empty() {
            let mut list = Vec::with_capacity(arcs.len());
            for arc in arcs {
                let arc = self.clone_vertex(arc, map, fresh);
                self.nodes[arc].parent = Some(copy);
                list.push(arc);
            }
            let mut table = std::mem::take(&mut self.nodes[copy].arcs);
            table.replace(list, |arc| self.nodes[arc].label);
            self.nodes[copy].arcs = table;
        }
        for pair in &patterns {
            let constraint = self.clone_vertex(pair.constraint, map, fresh);
            self.nodes[copy].arcs.push_pattern(PatternPair {
                pattern: pair.pattern,
                constraint,
            });
        }
        self.clone_work(node, copy);
        copy
    }

    pub(super) fn clone_work(&mut self, node: NodeId, copy: NodeId) {
        let Some(work) = self.nodes[node].work.as_deref() else {
            return;
        };
        let cloned = work.clone();
        let mut work = self.new_work(copy);
        *work = cloned;
        work.is_disjunct = true;
        work.retain = 0;
        work.notify.clear();
        work.cyclic.clear();
        work.disjuncts.clear();
        work.literals = None;
        work.disjunct_errs.clear();
        work.user_errs.clear();
        work.post_checks.clear();
        work.overlay = None;
        work.sched.blocking.clear();
        work.sched.deferred.clear();
        work.sched.parent_tasks.clear();
        work.reqs_computed = false;
        work.all_links = None;
        let tasks = std::mem::take(&mut work.sched.tasks);
        self.w(node).sched.blocking.clear();
        let mut copies: SmallVec<[TaskId; 2]> = SmallVec::new();
        for task in tasks {
            let t = &self.tasks[task];
            let keep = match t.state {
                TaskState::Waiting | TaskState::Ready => true,
                TaskState::Running => t.kind != TaskKind::Disjunctions,
                _ => false,
            };
            if !keep {
                continue;
            }
            let mut t = t.clone();
            self.tasks[task].defunct = true;
            t.defunct = false;
            t.inserting = false;
            t.retry = false;
            if t.state == TaskState::Running {
                t.state = TaskState::Ready;
            }
            t.node = copy;
            copies.push(self.new_task(t));
        }
        work.sched.tasks = copies;
        self.nodes[copy].work = Some(work);
    }
}
