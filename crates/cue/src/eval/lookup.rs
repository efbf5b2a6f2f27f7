//! Looking up a field of a vertex, which may not be computed yet.

use base::Span;

use super::context::{Ctx, R};
use super::ids::NodeId;
use super::kind::Kind;
use super::label::Label;
use super::node::{ArcType, Node};
use super::sched::{
    ANCESTORS, ARC_TYPE, Cond, FIELD_CONJUNCTS, FIELD_SET, NEED_TASKS, TASKS, VALUE,
};
use super::value::{Arg, Code};
use super::work::{Run, TaskState};

impl Ctx {
    /// The field's conjuncts cannot change by comprehensions that have not run yet.
    fn arc_settled(&self, node: NodeId, label: Label) -> bool {
        if self.has_active_parent_task(node) {
            return false;
        }
        match self.find_arc(node, label) {
            Some(arc) => {
                self.nodes[arc].arc_type == ArcType::Member && !self.has_active_parent_task(arc)
            }
            None => false,
        }
    }

    fn root_of(&self, mut node: NodeId) -> NodeId {
        while let Some(parent) = self.nodes[node].parent {
            node = parent;
        }
        node
    }

    pub fn lookup(
        &mut self,
        node: NodeId,
        pos: Option<Span>,
        label: Label,
        needs: Cond,
        run: Run,
    ) -> R<Option<NodeId>> {
        let mut v = self.deref_value(node);
        let mut has_state = self.state(v)?;
        if has_state {
            if self.node_has_errs(v)
                && let Some(err) = self.node_take_errs(v)
                && let Some(other) = self.bottom(err).and_then(|b| b.node)
                && self.root_of(other) != self.root_of(v)
            {
                self.add_bottom(err);
            }
            let parent = self.nodes[v].parent;
            let n = &self.nodes[v];
            if n.is_dynamic || n.label.is_let() || self.child_conjuncts_known(parent)? {
                self.signal(v, ANCESTORS)?;
            }
            if !self.all_tasks_started(v) {
                let mut needs = VALUE | FIELD_CONJUNCTS | TASKS;
                if self.arc_settled(v, label) {
                    needs = VALUE | FIELD_CONJUNCTS;
                }
                self.process(v, needs, Run::Attempt)?;
                self.update_scalar(v)?;
            }
        }
        let again = self.deref_value(v);
        if again != v {
            v = again;
            has_state = self.state(v)?;
        }
        let found = self.find_arc(v, label);
        let (arc, arc_return, arc_state) = match found {
            Some(found) => {
                let arc = self.deref_non_rooted(found);
                if self.nodes[arc].arc_type == ArcType::Member {
                    return Ok(Some(found));
                }
                (arc, Some(found), self.state(arc)?)
            }
            None => {
                if !has_state || self.meets(v, NEED_TASKS) {
                    self.field_index_error(v, pos, label)?;
                    return Ok(None);
                }
                if !self.is_open_struct(v) && !self.accepts(v, label)? {
                    self.field_index_error(v, pos, label)?;
                    return Ok(None);
                }
                let arc = self.nodes.push(Node::new(Some(v), label, ArcType::Pending));
                if !matches!(run, Run::Finalize | Run::Ignore) {
                    self.push_arc(v, label, arc);
                }
                (arc, None, self.state(arc)?)
            }
        };
        if arc_state && (!self.meets(arc, NEED_TASKS) || !self.meets(arc, ARC_TYPE)) {
            let needs = needs | ARC_TYPE;
            match run {
                Run::Ignore | Run::Attempt => {
                    if self.nodes[arc].arc_type == ArcType::Pending {
                        if run == Run::Ignore {
                            return Ok(arc_return);
                        }
                        if has_state {
                            if self.has_active_parent_task(v) {
                                self.pending_parent = true;
                                return Ok(arc_return);
                            }
                            if self.outstanding_tasks(v) {
                                return Ok(arc_return);
                            }
                        }
                        if self.has_active_parent_task(arc) {
                            self.pending_parent = true;
                            return Ok(arc_return);
                        }
                        self.nodes[arc].arc_type = ArcType::NotPresent;
                    }
                }
                Run::Yield => {
                    self.process(arc, needs, Run::Yield)?;
                }
                Run::Finalize => self.finalize_lookup(arc, needs)?,
            }
        }
        self.judge_lookup(v, arc, arc_return, pos, label)
    }

    fn finalize_lookup(&mut self, arc: NodeId, needs: Cond) -> R<()> {
        let arc_type = self.nodes[arc].arc_type;
        if matches!(arc_type, ArcType::Pending | ArcType::Optional) {
            let current = self.task_stack.last().copied();
            let parents = &self.w(arc).sched.parent_tasks.clone();
            let running = parents
                .iter()
                .any(|&t| self.tasks[t].state == TaskState::Running && Some(t) != current);
            if running {
                self.process(arc, ARC_TYPE, Run::Yield)?;
                return Ok(());
            }
        }
        if needs == ARC_TYPE | FIELD_SET {
            self.unify(arc, needs, Run::Finalize, false)?;
        } else if !self.unify(arc, needs, Run::Attempt, false)? {
            self.process(arc, needs, Run::Attempt)?;
        }
        if self.nodes[arc].arc_type == ArcType::Pending && !self.has_active_parent_task(arc) {
            self.nodes[arc].arc_type = ArcType::NotPresent;
        }
        Ok(())
    }

    fn judge_lookup(
        &mut self,
        v: NodeId,
        arc: NodeId,
        arc_return: Option<NodeId>,
        pos: Option<Span>,
        label: Label,
    ) -> R<Option<NodeId>> {
        match self.nodes[arc].arc_type {
            ArcType::Member => return Ok(arc_return),
            ArcType::Required => {
                let err = self.error_at(pos, "required field missing: %", &[Arg::Label(label)]);
                let bottom = self.new_bottom_on(Code::Incomplete, err, Some(v));
                self.add_bottom(bottom);
                return Ok(arc_return);
            }
            ArcType::Optional => {
                let err = self.error_at(
                    pos,
                    "cannot reference optional field: %",
                    &[Arg::Label(label)],
                );
                let bottom = self.new_bottom_on(Code::Incomplete, err, Some(v));
                self.add_bottom(bottom);
                return Ok(None);
            }
            ArcType::NotPresent => {}
            ArcType::Pending => {
                let parents = self
                    .work(arc)
                    .map(|w| w.sched.parent_tasks.clone())
                    .unwrap_or_default();
                let open = parents.iter().any(|&t| {
                    matches!(
                        self.tasks[t].state,
                        TaskState::Running | TaskState::Waiting | TaskState::Failed
                    )
                });
                if open {
                    let err =
                        self.error_at(pos, "cyclic reference to field %", &[Arg::Label(label)]);
                    let bottom = self.new_bottom_on(Code::Cycle, err, Some(v));
                    self.add_bottom(bottom);
                    return Ok(None);
                }
            }
        }
        self.field_index_error(v, pos, label)?;
        Ok(None)
    }

    pub fn field_index_error(&mut self, v: NodeId, pos: Option<Span>, label: Label) -> R<()> {
        let kind = self.node_kind(v);
        if label.is_int() && !kind.is_bottom() && !kind.meets(Kind::LIST) {
            let err = self.error_at(
                pos,
                "invalid index % (found %, want list)",
                &[Arg::Int(i64::from(label.index())), Arg::Kind(kind)],
            );
            let bottom = self.new_bottom_on(Code::Eval, err, Some(v));
            self.add_bottom(bottom);
            return Ok(());
        }
        self.field_error(
            v,
            pos,
            label,
            "index out of range [%] with length %",
            "undefined field: %",
        )
    }

    pub fn field_error(
        &mut self,
        v: NodeId,
        pos: Option<Span>,
        label: Label,
        int_format: &'static str,
        format: &'static str,
    ) -> R<()> {
        let bottom = self.node_bottom(v).filter(|&b| b != self.cycle);
        let own = self.work(v).and_then(|w| w.errs);
        let code = match (bottom, own) {
            (Some(bottom), _) => self.code(bottom),
            (None, Some(own)) if self.code(own) == Code::Cycle => Code::Cycle,
            _ if !self.accepts(v, label)? => Code::Eval,
            _ => Code::Incomplete,
        };
        let err = if label.is_int() {
            let len = i64::try_from(self.element_count(v)).unwrap_or(i64::MAX);
            let args = [Arg::Int(i64::from(label.index())), Arg::Int(len)];
            self.error_at(pos, int_format, &args)
        } else {
            self.error_at(pos, format, &[Arg::Label(label)])
        };
        let bottom = self.new_bottom_on(code, err, Some(v));
        self.add_bottom(bottom);
        Ok(())
    }
}
