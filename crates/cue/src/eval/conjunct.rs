//! Inserting conjuncts.
//!
//! Literals go into the vertex at once; whatever must be computed becomes a task. A struct literal is the
//! crucial place: its fields get a frame whose vertex is the one being filled, and this together
//! with the resolved references decides what a name means after unification.

use super::context::{Ctx, R};
use super::ids::{EnvId, ExprId, NodeId, ValId};
use super::ir::{DeclKind, Expr, Op};
use super::kind::Kind;
use super::node::{ArcType, Base, CloseInfo, Conjunct, Cyclic, StructUse, X};
use super::sched::{ANCESTORS, FIELD_CONJUNCTS, SCALAR};
use super::value::{Val, Value};
use super::work::{
    CyclicConjunct, EnvDisjunct, EnvDisjunction, HAS_ELLIPSIS, HAS_OPEN_VALIDATOR, HAS_STRUCT,
    HAS_TOP, Mode, Receiver, ReqKind, TaskKind,
};

fn mode(has_defaults: bool, marked: bool) -> Mode {
    match (has_defaults, marked) {
        (false, _) => Mode::Maybe,
        (true, true) => Mode::Default,
        (true, false) => Mode::Not,
    }
}

impl Ctx {
    /// The expression of a conjunct, or the value it is.
    pub fn elem(&self, x: X) -> X {
        match x {
            X::Decl(decl) => match self.ir.decl_value(decl) {
                Some(expr) => X::Expr(expr),
                None => X::Val(self.top),
            },
            X::Expr(expr) => match self.ir.exprs[expr] {
                Expr::Ellipsis(Some(of)) => X::Expr(of),
                Expr::Ellipsis(None) => X::Val(self.top),
                Expr::Value(id) => X::Val(id),
                _ => x,
            },
            _ => x,
        }
    }

    pub fn schedule_conjunct(&mut self, node: NodeId, c: Conjunct, mut ci: CloseInfo) -> R<()> {
        if c.ci.from_def {
            self.nodes[node].closed_recursive = true;
        }
        let env = c.env.unwrap_or(self.no_env);
        self.mark_non_cyclic(node, ci);
        let expr = match self.elem(c.x) {
            X::Node(other) => return self.schedule_node_conjunct(node, c, other, ci),
            X::Val(id) => return self.insert_value(node, env, Val::Lit(id), ci),
            X::Decl(_) => return Ok(()),
            X::Expr(expr) => expr,
        };
        match &self.ir.exprs[expr] {
            Expr::Value(id) => {
                let id = *id;
                self.insert_value(node, env, Val::Lit(id), ci)
            }
            Expr::Open(x) => {
                let x = *x;
                ci.opened = true;
                let c = Conjunct {
                    env: Some(env),
                    x: X::Expr(x),
                    ci: CloseInfo {
                        opened: true,
                        ..c.ci
                    },
                };
                self.schedule_conjunct(node, c, ci)
            }
            &Expr::Binary { op: Op::And, x, y } => {
                for side in [x, y] {
                    let c = Conjunct {
                        env: Some(env),
                        x: X::Expr(side),
                        ci,
                    };
                    self.schedule_conjunct(node, c, ci)?;
                }
                Ok(())
            }
            Expr::Binary { .. } => {
                self.unshare(node)?;
                self.schedule_task(node, TaskKind::Expr, Some(env), Some(X::Expr(expr)), ci)
            }
            Expr::Struct(_) => {
                self.unshare(node)?;
                self.schedule_struct(node, env, expr, ci)
            }
            Expr::List(_) => {
                self.unshare(node)?;
                self.update_cyclic(node, ci)?;
                let env = self.new_env(env, node);
                self.update_kind(node, Kind::LIST, X::Expr(expr), ci);
                self.schedule_task(node, TaskKind::ListLit, Some(env), Some(X::Expr(expr)), ci)
            }
            Expr::Disjunction {
                values,
                has_defaults,
            } => {
                let disjuncts = values
                    .iter()
                    .map(|d| EnvDisjunct {
                        x: X::Expr(d.expr),
                        mode: mode(*has_defaults, d.default),
                        err: None,
                    })
                    .collect();
                self.unshare(node)?;
                set_optional(&mut ci);
                self.schedule_disjunction(
                    node,
                    EnvDisjunction {
                        env: Some(env),
                        ci,
                        disjuncts,
                    },
                )?;
                self.add_evidence(node, Kind::TOP, ci, 0);
                Ok(())
            }
            Expr::Comprehension(_) => self.schedule_task(
                node,
                TaskKind::Comprehension,
                Some(env),
                Some(X::Expr(expr)),
                ci,
            ),
            _ if self.ir.is_resolver(expr) => {
                self.schedule_task(node, TaskKind::Resolver, Some(env), Some(X::Expr(expr)), ci)
            }
            other => {
                // A call in a cycle must wait for content that does not repeat itself.
                let call = match other {
                    Expr::Call { args, .. } => args.clone(),
                    _ => Vec::new(),
                };
                self.unshare(node)?;
                let w = self.w(node);
                if !call.is_empty()
                    && ci.cyclic == Cyclic::Yes
                    && !w.has_non_cycle
                    && !w.has_non_cyclic
                    && call.iter().any(|&arg| self.has_reference(arg))
                {
                    let w = self.w(node);
                    w.ancestor_cycle = true;
                    w.cyclic.push(CyclicConjunct { c, arc: None });
                    return Ok(());
                }
                self.schedule_task(node, TaskKind::Expr, Some(env), Some(X::Expr(expr)), ci)
            }
        }
    }

    /// Whether an expression refers to anything.
    fn has_reference(&self, expr: ExprId) -> bool {
        if self.ir.is_resolver(expr) {
            return true;
        }
        match &self.ir.exprs[expr] {
            Expr::Value(_) => false,
            Expr::Binary { x, y, .. } => self.has_reference(*x) || self.has_reference(*y),
            Expr::Unary { x, .. } => self.has_reference(*x),
            Expr::Call { args, .. } => args.iter().any(|&arg| self.has_reference(arg)),
            Expr::List(elems) => elems.iter().any(|&e| self.has_reference(e)),
            _ => true,
        }
    }

    fn schedule_node_conjunct(
        &mut self,
        node: NodeId,
        c: Conjunct,
        other: NodeId,
        mut ci: CloseInfo,
    ) -> R<()> {
        if self.nodes[other].is_data() {
            self.unshare(node)?;
            let env = c.env.unwrap_or(self.no_env);
            return self.insert_value(node, env, Val::Node(other), ci);
        }
        if self.nodes[other].closed_once {
            self.nodes[node].closed_once = true;
            ci = self.add_resolver(node, c.x, other, ci, false);
        }
        self.schedule_vertex_conjuncts(node, c, other, ci)
    }

    fn schedule_struct(
        &mut self,
        node: NodeId,
        env: EnvId,
        expr: ExprId,
        mut ci: CloseInfo,
    ) -> R<()> {
        self.update_cyclic(node, ci)?;
        self.add_evidence(node, Kind::STRUCT, ci, HAS_STRUCT);
        let child_env = self.new_env(env, node);
        self.w(node).has_struct = true;
        let mut comp = 0;
        let mut at = Some(env);
        while let Some(e) = at {
            if self.envs[e].comp != 0 {
                comp = self.envs[e].comp;
                break;
            }
            at = self.envs[e].up;
        }
        let structs = &mut self.nodes[node].structs;
        match structs.iter_mut().find(|s| s.expr == expr) {
            Some(again) => again.repeats += 1,
            None => structs.push(StructUse {
                expr,
                repeats: 0,
                comp,
            }),
        }
        let Expr::Struct(lit) = &self.ir.exprs[expr] else {
            return Ok(());
        };
        let (file, has_embed, explicit_open) = (lit.file, lit.has_embed, lit.explicit_open);
        let count = lit.decls.len();
        if has_embed && ci.outer == 0 && !ci.from_embed && !file && !explicit_open {
            ci = self.new_scope(node, X::Expr(expr), ci, ReqKind::Struct);
        }
        let mut has_ellipsis = false;
        for i in 0..count {
            let Expr::Struct(lit) = &self.ir.exprs[expr] else {
                break;
            };
            let Some(&decl) = lit.decls.get(i) else { break };
            let field_ci = CloseInfo {
                from_embed: false,
                ..ci
            };
            match self.ir.decls[decl].kind {
                DeclKind::Field { label, arc, .. } => {
                    let mut ci = field_ci;
                    if label.is_string() && arc == ArcType::Member {
                        self.w(node).a_struct = true;
                        self.update_kind(node, Kind::STRUCT, X::Expr(expr), ci);
                    }
                    if arc == ArcType::Optional {
                        set_optional(&mut ci);
                    }
                    let c = Conjunct {
                        env: Some(child_env),
                        x: X::Decl(decl),
                        ci,
                    };
                    self.insert_arc(node, label, arc, c, ci, true)?;
                }
                DeclKind::Let { label, .. } => {
                    let c = Conjunct {
                        env: Some(child_env),
                        x: X::Decl(decl),
                        ci: field_ci,
                    };
                    self.insert_arc(node, label, ArcType::Member, c, field_ci, true)?;
                }
                DeclKind::Dynamic { arc, .. } => {
                    if arc == ArcType::Member {
                        self.w(node).a_struct = true;
                        self.update_kind(node, Kind::STRUCT, X::Expr(expr), field_ci);
                    }
                    self.schedule_task(
                        node,
                        TaskKind::Dynamic,
                        Some(child_env),
                        Some(X::Decl(decl)),
                        field_ci,
                    )?;
                }
                DeclKind::Pattern { .. } => {
                    let mut ci = field_ci;
                    set_optional(&mut ci);
                    self.schedule_task(
                        node,
                        TaskKind::Pattern,
                        Some(child_env),
                        Some(X::Decl(decl)),
                        ci,
                    )?;
                }
                DeclKind::Ellipsis(_) => has_ellipsis = true,
                DeclKind::Embed(x) => {
                    let ci = self.embed_scope(node, x, ci, explicit_open);
                    let c = Conjunct {
                        env: Some(child_env),
                        x: X::Expr(x),
                        ci,
                    };
                    self.schedule_conjunct(node, c, ci)?;
                }
            }
        }
        if has_ellipsis {
            self.nodes[node].has_ellipsis = true;
            self.add_evidence(node, Kind::TOP, ci, HAS_ELLIPSIS);
        }
        if !has_embed {
            self.w(node).a_struct = true;
            self.update_kind(node, Kind::STRUCT, X::Expr(expr), ci);
        }
        Ok(())
    }

    /// Inserts the conjuncts of another vertex, or shares it.
    pub fn schedule_vertex_conjuncts(
        &mut self,
        node: NodeId,
        c: Conjunct,
        arc: NodeId,
        mut ci: CloseInfo,
    ) -> R<()> {
        let a = &self.nodes[arc];
        if !a.closed_recursive && !a.closed_once && ci.embed != 0 {
            ci.from_def = false;
        }
        if self.same_vertex(node, arc) {
            if self.w(node).is_shared {
                self.add_shared(node, ci);
            }
            return Ok(());
        }
        if self.share_if_possible(node, c, arc, ci)? {
            self.state(arc)?;
            return Ok(());
        }
        let is_def = match self.elem(c.x) {
            X::Expr(expr) => self.is_def_reference(expr),
            _ => false,
        };
        if is_def || self.nodes[arc].label.is_def() || ci.top_def {
            self.w(node).is_def = true;
            ci.from_def = true;
            ci.top_def = false;
            ci = self.add_resolver(node, c.x, arc, ci, false);
        } else {
            ci = self.add_resolver(node, c.x, arc, ci, true);
        }
        // A vertex is unified once, however often it is referred to.
        if self.w(node).seen.contains(&arc) {
            return Ok(());
        }
        self.w(node).seen.push(arc);
        if let Some(parent) = self.nodes[arc].parent {
            let n = &self.nodes[node];
            if (!n.non_rooted || n.is_dynamic)
                && self.state(parent)?
                && self.bare_state(arc)
                && !self.meets(parent, ANCESTORS | FIELD_CONJUNCTS)
            {
                self.add_notify(arc, node, ci);
            }
        }
        let a = &self.nodes[arc];
        if a.conjuncts.is_empty() && a.status == super::node::Status::Finalized {
            // Plain data has no conjuncts: its value is inserted.
            let env = c.env.unwrap_or(self.no_env);
            return self.insert_value(node, env, Val::Node(arc), ci);
        }
        let mut i = 0;
        while let Some(&c) = self.nodes[arc].conjuncts.get(i) {
            i += 1;
            self.schedule_conjunct(node, c, ci)?;
        }
        if self.bare_state(arc) && self.work(node).is_some() {
            self.w(node).to_complete = true;
        }
        Ok(())
    }

    /// Whether a reference goes through a definition.
    pub fn is_def_reference(&self, expr: ExprId) -> bool {
        match self.ir.exprs[expr] {
            Expr::Field { label, .. } => label.is_def(),
            Expr::Select { x, label, .. } => label.is_def() || self.is_def_reference(x),
            Expr::Index { x, .. } => self.is_def_reference(x),
            _ => false,
        }
    }

    fn add_notify(&mut self, arc: NodeId, node: NodeId, ci: CloseInfo) {
        if self.status(arc) == super::node::Status::Finalized {
            return;
        }
        if self.w(arc).initialized && self.meets(arc, ANCESTORS) {
            return;
        }
        let notify = &mut self.w(arc).notify;
        if notify.iter().all(|r| r.node != node) {
            notify.push(Receiver { node, ci });
        }
    }

    /// Narrows the kind of a vertex; false if nothing is left.
    pub fn update_kind(&mut self, node: NodeId, kind: Kind, x: X, ci: CloseInfo) -> bool {
        self.add_evidence(node, kind, ci, 0);
        let w = self.w(node);
        let both = w.kind & kind;
        if w.kind.is_bottom() || kind.is_bottom() {
            return false;
        }
        let (before, before_x, before_id) = (w.kind, w.kind_x, w.kind_id);
        if both.is_bottom() {
            match before_x {
                Some(old) => self.conflict(node, (old, before, before_id), (x, kind, ci.def)),
                None => {
                    let err = self.error(
                        "conflicting value (mismatched types % and %)",
                        &[
                            super::value::Arg::Kind(before),
                            super::value::Arg::Kind(kind),
                        ],
                    );
                    self.node_add_error(node, err);
                }
            }
        }
        let w = self.w(node);
        if w.kind != both || w.kind_x.is_none() {
            w.kind_x = Some(x);
        }
        w.kind = both;
        w.kind_id = ci.def;
        !both.is_bottom()
    }

    pub fn schedule_disjunction(&mut self, node: NodeId, d: EnvDisjunction) -> R<()> {
        if self.w(node).disjunctions.is_empty() {
            self.schedule_task(
                node,
                TaskKind::Disjunctions,
                None,
                None,
                CloseInfo::default(),
            )?;
        }
        let w = self.w(node);
        w.disjunctions.push(d);
        w.has_disjunction = true;
        Ok(())
    }

    /// Unifies a vertex with a value.
    pub fn insert_value(&mut self, node: NodeId, env: EnvId, val: Val, ci: CloseInfo) -> R<()> {
        match val {
            Val::Node(other) => self.insert_node_value(node, env, other, ci),
            Val::Lit(id) => self.insert_lit(node, env, id, ci),
        }
    }

    fn insert_node_value(
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
                let structs = self.nodes[other].structs.clone();
                self.nodes[node].structs.extend(structs);
                Ok(())
            }
            Base::Val(id) => self.insert_lit(node, env, id, ci),
            Base::Node(next) => self.insert_node_value(node, env, next, ci),
            Base::None => Ok(()),
        }
    }

    fn is_from_disjunction(&self, node: NodeId) -> bool {
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

    fn insert_lit(&mut self, node: NodeId, env: EnvId, id: ValId, mut ci: CloseInfo) -> R<()> {
        match self.value(id) {
            Value::Bottom(_) => {
                self.unshare(node)?;
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
    fn insert_bound(
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
                self.w(node).checks = kept;
                Ok(true)
            }
        }
    }

    fn insert_validator(&mut self, node: NodeId, env: EnvId, id: ValId, ci: CloseInfo) -> R<()> {
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

    /// The settle point of scalars: with one rank two values must be equal; of several ranks the
    /// highest stands and the others are recorded.
    fn insert_scalar(&mut self, node: NodeId, id: ValId, ci: CloseInfo) -> R<()> {
        self.unshare(node)?;
        self.update_cyclic(node, ci)?;
        let w = self.w(node);
        if let Some(before) = w.scalar {
            let (rank, scalar_id) = (w.scalar_rank, w.scalar_id);
            if rank > ci.rank {
                w.overridden.push((Val::Lit(id), ci.rank));
                return Ok(());
            }
            if rank == ci.rank {
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
            w.overridden.push((Val::Lit(before), rank));
        }
        let w = self.w(node);
        w.scalar = Some(id);
        w.scalar_id = ci.def;
        w.scalar_rank = ci.rank;
        self.signal(node, SCALAR)
    }
}

/// Marks a conjunct as one whose recurrence is not at once a cycle.
pub fn set_optional(ci: &mut CloseInfo) {
    if ci.cyclic == Cyclic::No {
        ci.cyclic = Cyclic::Optional;
    }
}
