//! Inserting conjuncts.
//!
//! Literals go into the vertex at once; whatever must be computed becomes a task. A struct literal is the
//! crucial place: its fields get a frame whose vertex is the one being filled, and this together
//! with the resolved references decides what a name means after unification.

use super::context::{Ctx, R};
use super::ids::{EnvId, ExprId, NodeId};
use super::ir::{DeclKind, Expr, Op};
use super::kind::Kind;
use super::node::{ArcType, CloseInfo, Conjunct, Cyclic, X};
use super::sched::{ANCESTORS, FIELD_CONJUNCTS};
use super::value::Val;
use super::work::{
    CyclicConjunct, EnvDisjunct, EnvDisjunction, HAS_ELLIPSIS, HAS_STRUCT, Mode, Receiver, ReqKind,
    TaskKind,
};

pub(super) fn mode(has_defaults: bool, marked: bool) -> Mode {
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
                if self.insert_settled(node, env, expr, ci)? {
                    return Ok(());
                }
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
            Expr::Bound { .. } if self.is_constant(expr, 0) => {
                self.unshare(node)?;
                match self.constant(expr)? {
                    Some(id) => self.insert_lit(node, env, id, ci),
                    None => {
                        self.schedule_task(node, TaskKind::Expr, Some(env), Some(X::Expr(expr)), ci)
                    }
                }
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
                    _ => Box::default(),
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
                if self.insert_settled(node, env, expr, ci)? {
                    return Ok(());
                }
                self.schedule_task(node, TaskKind::Expr, Some(env), Some(X::Expr(expr)), ci)
            }
        }
    }

    /// Inserts the value of an expression that can be computed at once; false if it cannot.
    fn insert_settled(&mut self, node: NodeId, env: EnvId, expr: ExprId, ci: CloseInfo) -> R<bool> {
        if ci.cyclic == Cyclic::Yes {
            return Ok(false);
        }
        let Some(value) = self.settled_value(env, expr) else {
            return Ok(false);
        };
        let (value, span) = (value.into_owned(), self.ir.span(expr));
        let id = self.new_value_at(value, span);
        self.insert_lit(node, env, id, ci)?;
        Ok(true)
    }

    /// Whether an expression refers to anything.
    pub(super) fn has_reference(&self, expr: ExprId) -> bool {
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

    pub(super) fn schedule_node_conjunct(
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

    pub(super) fn schedule_struct(
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
        self.use_struct(node, expr, comp);
        let Expr::Struct(lit) = &self.ir.exprs[expr] else {
            return Ok(());
        };
        let (file, has_embed, explicit_open) = (lit.file, lit.has_embed, lit.explicit_open);
        let (decls, count) = (lit.decls, lit.decls.len());
        if has_embed && ci.outer == 0 && !ci.from_embed && !file && !explicit_open {
            ci = self.new_scope(node, X::Expr(expr), ci, ReqKind::Struct);
        }
        let mut has_ellipsis = false;
        for i in 0..count {
            let Some(&decl) = self.ir.members(decls).get(i) else {
                break;
            };
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

    pub(super) fn add_notify(&mut self, arc: NodeId, node: NodeId, ci: CloseInfo) {
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
}

/// Marks a conjunct as one whose recurrence is not at once a cycle.
pub fn set_optional(ci: &mut CloseInfo) {
    if ci.cyclic == Cyclic::No {
        ci.cyclic = Cyclic::Optional;
    }
}
