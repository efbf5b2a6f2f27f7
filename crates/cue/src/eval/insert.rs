//! Unifying a vertex with a value: scalars, types, bounds, validators, plain data.
//!
//! The settle point of scalars is here: two values must be equal.

use super::conjunct::{mode, set_optional};
use super::context::{Ctx, R};
use super::ids::{EnvId, NodeId, ValId};
use super::ir::Op;
use super::kind::Kind;
use super::node::{ArcType, Base, CloseInfo, Conjunct, X};
use super::sched::SCALAR;
use super::value::{Val, Value};
use super::work::{EnvDisjunct, EnvDisjunction, HAS_OPEN_VALIDATOR, HAS_TOP, TaskKind};

impl Ctx {
    /// Unifies a vertex with a value.
    pub fn insert_value(&mut self, node: NodeId, env: EnvId, val: Val, ci: CloseInfo) -> R<()> {
        match val {
            Val::Node(other) => self.insert_node_value(node, env, other, ci),
            Val::Lit(id) => self.insert_lit(node, env, id, ci),
        }
    }

    pub(super) fn insert_node_value(
        &mut self,
        node: NodeId,
        env: EnvId,
        other: NodeId,
        mut ci: CloseInfo,
    ) -> R<()> {
        if self.nodes[other].closed_once {
            self.nodes[node].closed_once = true;
            if !self.is_from_disjunction(other) {
                ci = self.add_resolver(node, X::Node(other), other, ci, false);
            }
        } else if self.nodes[other].closed_recursive {
            self.nodes[node].closed_recursive = true;
            if !self.is_from_disjunction(other) {
                ci = self.add_resolver(node, X::Node(other), other, ci, false);
            }
        }
        if self.nodes[other].base == Base::Struct {
            self.w(node).a_struct = true;
            self.update_kind(node, Kind::STRUCT, X::Node(other), ci);
        }
        if !self.nodes[other].is_data() {
            self.update_cyclic(node, ci)?;
            let c = Conjunct {
                env: Some(env),
                x: X::Node(other),
                ci,
            };
            return self.schedule_vertex_conjuncts(node, c, other, ci);
        }
        match self.nodes[other].base {
            Base::List { .. } => {
                self.update_cyclic(node, ci)?;
                self.schedule_task(
                    node,
                    TaskKind::ListData,
                    Some(env),
                    Some(X::Node(other)),
                    ci,
                )
            }
            Base::Struct => {
                let mut i = 0;
                while let Some(arc) = self.nodes[other].arcs.get(i) {
                    i += 1;
                    if self.nodes[arc].arc_type != ArcType::Member {
                        continue;
                    }
                    let c = Conjunct {
                        env: None,
                        x: X::Node(arc),
                        ci,
                    };
                    let label = self.nodes[arc].label;
                    self.insert_arc(node, label, ArcType::Member, c, ci, true)?;
                }
                let structs = self.nodes[other].arcs.structs.clone();
                if !structs.is_empty() {
                    self.nodes[node].arcs.structs_mut().extend(structs);
                }
                Ok(())
            }
            Base::Val(id) => self.insert_lit(node, env, id, ci),
            Base::Node(next) => self.insert_node_value(node, env, next, ci),
            Base::None => Ok(()),
        }
    }

    pub(super) fn is_from_disjunction(&self, node: NodeId) -> bool {
        if let Base::Val(id) = self.nodes[node].base
            && self.disjunction(id).is_some()
        {
            return true;
        }
        let mut at = node;
        loop {
            if self.nodes[at].is_disjunct {
                return true;
            }
            match self.nodes[at].base {
                Base::Node(next) => at = next,
                _ => return false,
            }
        }
    }

    pub(super) fn insert_lit(
        &mut self,
        node: NodeId,
        env: EnvId,
        id: ValId,
        mut ci: CloseInfo,
    ) -> R<()> {
        match self.value(id) {
            Value::Bottom(_) => {
                self.unshare(node)?;
                if id == self.no_sharing {
                    return Ok(());
                }
                self.node_add_bottom(node, Some(id));
                return Ok(());
            }
            Value::Builtin(builtin) => {
                let builtin = *builtin;
                self.unshare(node)?;
                if let Some(validator) = self.bare_validator(builtin, id) {
                    return self.insert_lit(node, env, validator, ci);
                }
            }
            _ => {}
        }
        let kind = self.lit_kind(id);
        if !self.update_kind(node, kind, X::Val(id), ci) {
            return Ok(());
        }
        match self.value(id) {
            Value::Disjunction(d) => {
                let disjuncts = d
                    .values
                    .iter()
                    .enumerate()
                    .map(|(i, &v)| EnvDisjunct {
                        x: X::from(v),
                        mode: mode(d.has_defaults, i < d.defaults),
                        err: None,
                    })
                    .collect();
                self.update_cyclic(node, ci)?;
                self.unshare(node)?;
                set_optional(&mut ci);
                let env = Some(env);
                self.schedule_disjunction(node, EnvDisjunction { env, ci, disjuncts })?;
            }
            Value::Conjunction(values) => {
                for val in values.clone() {
                    self.insert_value(node, env, val, ci)?;
                }
            }
            Value::Top => {
                self.update_cyclic(node, ci)?;
                self.w(node).has_top = true;
                self.add_evidence(node, Kind::TOP, ci, HAS_TOP);
            }
            Value::Type(kind) => {
                let kind = *kind;
                self.unshare(node)?;
                self.update_cyclic(node, ci)?;
                if kind != Kind::TOP {
                    self.add_evidence(node, Kind::TOP, ci, HAS_TOP);
                }
            }
            Value::Bound { op, .. } => {
                let op = *op;
                self.unshare(node)?;
                self.update_cyclic(node, ci)?;
                if self.insert_bound(node, env, id, op, ci)? {
                    return Ok(());
                }
            }
            Value::Validator(_) => {
                self.insert_validator(node, env, id, ci)?;
            }
            _ => self.insert_scalar(node, id, ci)?,
        }
        let w = self.w(node);
        if let (Some(lower), Some(upper)) = (w.lower, w.upper) {
            let kind = w.kind;
            if let Some(both) = self.simplify_bounds(kind, lower, upper) {
                let w = self.w(node);
                w.lower = None;
                w.upper = None;
                self.insert_lit(node, env, both, ci)?;
            }
        }
        Ok(())
    }

    /// True if nothing more is to be done.
    pub(super) fn insert_bound(
        &mut self,
        node: NodeId,
        env: EnvId,
        id: ValId,
        op: Op,
        ci: CloseInfo,
    ) -> R<bool> {
        let kind = self.w(node).kind;
        match op {
            Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let is_lower = matches!(op, Op::Gt | Op::Ge);
                let w = self.w(node);
                let before = if is_lower { w.lower } else { w.upper };
                if let Some(before) = before
                    && let Some(tighter) = self.simplify_bounds(kind, id, before)
                {
                    let w = self.w(node);
                    if is_lower {
                        w.lower = None;
                    } else {
                        w.upper = None;
                    }
                    self.insert_lit(node, env, tighter, ci)?;
                    return Ok(true);
                }
                let w = self.w(node);
                if is_lower {
                    w.lower = Some(id);
                } else {
                    w.upper = Some(id);
                }
                Ok(false)
            }
            _ => {
                if matches!(op, Op::Eq | Op::Ne) {
                    self.add_evidence(node, Kind::TOP, ci, HAS_OPEN_VALIDATOR | HAS_TOP);
                    if self.lit_kind(id).meets(Kind::COMPOSITE) {
                        self.w(node).has_top = true;
                    }
                }
                let checks = std::mem::take(&mut self.w(node).checks);
                let mut kept = Vec::with_capacity(checks.len() + 1);
                let mut known = false;
                for check in checks {
                    let mut keep = true;
                    if let X::Val(other) = check.x
                        && matches!(self.value(other), Value::Bound { .. })
                    {
                        match self.simplify_bounds(kind, id, other) {
                            Some(v) if v == other => known = true,
                            Some(v) if v == id => keep = false,
                            _ => {}
                        }
                    }
                    if keep {
                        kept.push(check);
                    }
                }
                if !known {
                    kept.push(Conjunct {
                        env: Some(env),
                        x: X::Val(id),
                        ci,
                    });
                }
                self.w(node).checks = kept.into();
                Ok(true)
            }
        }
    }

    pub(super) fn insert_validator(
        &mut self,
        node: NodeId,
        env: EnvId,
        id: ValId,
        ci: CloseInfo,
    ) -> R<()> {
        self.unshare(node)?;
        let kind = self.lit_kind(id);
        if kind.meets(Kind::COMPOSITE) {
            let open = self.validator_is_open(id);
            let flags = if open {
                HAS_OPEN_VALIDATOR | HAS_TOP
            } else {
                HAS_TOP
            };
            self.add_evidence(node, Kind::TOP, ci, flags);
        }
        let check = Conjunct {
            env: Some(env),
            x: X::Val(id),
            ci,
        };
        let checks = self.w(node).checks.clone();
        for (i, other) in checks.iter().enumerate() {
            if let X::Val(other) = other.x
                && self.same_validator(id, other)?
            {
                if let Some(slot) = self.w(node).checks.get_mut(i) {
                    *slot = check;
                }
                return Ok(());
            }
        }
        let w = self.w(node);
        w.checks.push(check);
        if kind == Kind::TOP {
            w.has_top = true;
        }
        self.update_kind(node, kind, X::Val(id), ci);
        Ok(())
    }

    /// The settle point of scalars: two values must be equal.
    pub(super) fn insert_scalar(&mut self, node: NodeId, id: ValId, ci: CloseInfo) -> R<()> {
        self.unshare(node)?;
        self.update_cyclic(node, ci)?;
        let w = self.w(node);
        if let Some(before) = w.scalar {
            let scalar_id = w.scalar_id;
            if !self.scalars_equal(id, before) {
                let (a, b) = (self.lit_kind(id), self.lit_kind(before));
                self.conflict(
                    node,
                    (X::Val(id), a, ci.def),
                    (X::Val(before), b, scalar_id),
                );
            }
            return Ok(());
        }
        let w = self.w(node);
        w.scalar = Some(id);
        w.scalar_id = ci.def;
        self.signal(node, SCALAR)
    }
}
