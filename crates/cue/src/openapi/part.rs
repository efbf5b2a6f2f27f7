//! Values taken apart: the operator at the top of a value's source, and its operands.

use crate::eval::ids::{EnvId, ExprId, NodeId, ValId};
use crate::eval::ir::{DeclKind, Expr, Op};
use crate::eval::kind::Kind;
use crate::eval::label::Label;
use crate::eval::node::{Base, CloseInfo, Conjunct, X};
use crate::eval::sched;
use crate::eval::value::{Val, Value};
use crate::eval::work::Run;

use super::{Failure, Generator, Made};

/// A value as it was written, or as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub node: NodeId,
    /// Its source is forgotten: only the result counts.
    pub data: bool,
}

impl Part {
    pub fn of(node: NodeId) -> Part {
        Part { node, data: false }
    }

    pub fn evaluated(self) -> Part {
        Part { data: true, ..self }
    }
}

/// The operator of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Top {
    /// None: the value stands for itself.
    Plain,
    And,
    Or,
    /// A bound; its operand is the only part.
    Bound(Op),
    /// A builtin by its name, and its arguments.
    Call(String),
    Select,
    /// Anything else, as text.
    Other(&'static str),
}

impl Generator<'_> {
    pub fn kind(&self, part: Part) -> Kind {
        self.ctx.node_kind(self.ctx.deref_value(part.node))
    }

    fn make(&mut self, env: Option<EnvId>, x: X) -> Made<Part> {
        if let X::Node(node) = x {
            return Ok(Part::of(node));
        }
        let conjunct = Conjunct {
            env,
            x,
            ci: CloseInfo::default(),
        };
        let node = self.ctx.inline_node(Base::None, &[conjunct]);
        self.ctx.finalize(node).map_err(|_| Failure::bound())?;
        Ok(Part::of(node))
    }

    /// The only conjunct of a value, if there is just one.
    fn single(&self, part: Part) -> Option<(Option<EnvId>, X)> {
        match &*self.ctx.nodes[part.node].conjuncts {
            [one] => Some((one.env, self.ctx.elem(one.x))),
            _ => None,
        }
    }

    /// The operator of a value and its operands.
    pub fn split(&mut self, part: Part) -> Made<(Top, Vec<Part>)> {
        if part.data || self.ctx.nodes[part.node].conjuncts.is_empty() {
            let node = self.ctx.deref_value(part.node);
            return match self.ctx.nodes[node].base {
                Base::Val(id) => self.split_value(part, None, id),
                _ => Ok((Top::Plain, vec![part])),
            };
        }
        match self.single(part) {
            Some((_, X::Node(node))) => self.split(Part::of(node)),
            Some((env, X::Val(id))) => self.split_value(part, env, id),
            Some((env, X::Expr(expr))) => self.split_expr(part, env, expr),
            Some((_, X::Decl(_))) => Ok((Top::Plain, vec![part])),
            None => {
                let conjuncts = self.ctx.nodes[part.node].conjuncts.to_vec();
                let mut parts = Vec::new();
                for c in conjuncts {
                    parts.push(self.make(c.env, self.ctx.elem(c.x))?);
                }
                Ok((Top::And, parts))
            }
        }
    }

    fn split_value(&mut self, part: Part, env: Option<EnvId>, id: ValId) -> Made<(Top, Vec<Part>)> {
        match self.ctx.value(id).clone() {
            Value::Bound { op, value } => Ok((Top::Bound(op), vec![self.make(env, value.into())?])),
            Value::Conjunction(values) => {
                let mut parts = Vec::new();
                for &value in &values {
                    parts.push(self.make(env, value.into())?);
                }
                Ok((Top::And, parts))
            }
            Value::Disjunction(d) => {
                let mut parts = Vec::new();
                let mut all = Vec::new();
                for &value in &d.values {
                    all.push(self.make(env, value.into())?);
                }
                for (i, &one) in all.iter().enumerate() {
                    let is_default = i < d.defaults;
                    let others = all.get(d.defaults..).unwrap_or(&[]);
                    if !(is_default && self.any_subsumes(others, one)?) {
                        parts.push(one);
                    }
                }
                let top = if parts.len() > 1 { Top::Or } else { Top::Plain };
                Ok((top, parts))
            }
            Value::Validator(v) => {
                let name = self.ctx.builtin_name(v.builtin);
                let mut parts = Vec::new();
                for &arg in &v.args {
                    parts.push(self.make(env, arg.into())?);
                }
                Ok((Top::Call(name), parts))
            }
            _ => Ok((Top::Plain, vec![part])),
        }
    }

    fn split_expr(
        &mut self,
        part: Part,
        env: Option<EnvId>,
        expr: ExprId,
    ) -> Made<(Top, Vec<Part>)> {
        match self.ctx.ir.exprs[expr].clone() {
            Expr::Binary { op, x, y } => {
                let parts = vec![self.make(env, X::Expr(x))?, self.make(env, X::Expr(y))?];
                let top = match op {
                    Op::And => Top::And,
                    Op::Or => Top::Or,
                    other => Top::Other(other.text()),
                };
                Ok((top, parts))
            }
            Expr::Unary { op, .. } => Ok((Top::Other(op.text()), Vec::new())),
            Expr::Bound { op, x } => Ok((Top::Bound(op), vec![self.make(env, X::Expr(x))?])),
            Expr::Value(id) => self.split_value(part, env, id),
            Expr::Disjunction { values, .. } => {
                let mut all = Vec::new();
                for d in &values {
                    all.push((self.make(env, X::Expr(d.expr))?, d.default));
                }
                let others: Vec<Part> = all.iter().filter(|d| !d.1).map(|d| d.0).collect();
                let mut parts = Vec::new();
                for (one, is_default) in all {
                    if !(is_default && self.any_subsumes(&others, one)?) {
                        parts.push(one);
                    }
                }
                let top = if parts.len() > 1 { Top::Or } else { Top::Plain };
                Ok((top, parts))
            }
            Expr::Field { .. } | Expr::Select { .. } => Ok((Top::Select, Vec::new())),
            Expr::Index { .. } => Ok((Top::Other("[]"), Vec::new())),
            Expr::Slice { .. } => Ok((Top::Other("[:]"), Vec::new())),
            Expr::Interpolation { .. } => Ok((Top::Other("\\()"), Vec::new())),
            Expr::Call { fun, args } => {
                let mut parts = Vec::new();
                for arg in args {
                    parts.push(self.make(env, X::Expr(arg))?);
                }
                let fun = self.make(env, X::Expr(fun))?;
                let name = match self.ctx.scalar(Val::Node(fun.node)) {
                    Some(&Value::Builtin(id)) => self.ctx.builtin_name(id),
                    Some(Value::Validator(v)) => self.ctx.builtin_name(v.builtin),
                    _ => String::new(),
                };
                match (name.as_str(), parts.as_slice()) {
                    ("and" | "or", [list]) => {
                        let list = self.ctx.deref_value(list.node);
                        let arcs = self.ctx.nodes[list].arcs.list.clone();
                        let parts: Vec<Part> = arcs.into_iter().map(Part::of).collect();
                        let top = if name == "and" { Top::And } else { Top::Or };
                        Ok((top, parts))
                    }
                    _ => Ok((Top::Call(name), parts)),
                }
            }
            Expr::Struct(lit) if lit.has_embed => {
                let decls = self.ctx.ir.members(lit.decls).to_vec();
                self.split_embeddings(part, env, &decls)
            }
            _ => Ok((Top::Plain, vec![part])),
        }
    }

    /// A struct with embeddings is the conjunction of them and of its own fields.
    fn split_embeddings(
        &mut self,
        part: Part,
        env: Option<EnvId>,
        decls: &[crate::eval::ids::DeclId],
    ) -> Made<(Top, Vec<Part>)> {
        let up = env.unwrap_or(self.ctx.no_env);
        let inner = self.ctx.new_env(up, part.node);
        let mut parts = Vec::new();
        let mut fields = Vec::new();
        for &decl in decls {
            match self.ctx.ir.decls[decl].kind {
                DeclKind::Embed(x) if !matches!(self.ctx.ir.exprs[x], Expr::Value(_)) => {
                    parts.push(self.make(Some(inner), X::Expr(x))?);
                }
                _ => fields.push(decl),
            }
        }
        if !fields.is_empty() {
            let lit = crate::eval::ir::StructLit {
                decls: self.ctx.ir.literal(&fields),
                file: false,
                has_embed: false,
                explicit_open: false,
            };
            let expr = self.ctx.ir.push(Expr::Struct(lit), None);
            parts.push(self.make(env, X::Expr(expr))?);
        }
        match parts.as_slice() {
            [one] if *one != part => self.split(*one),
            _ => Ok((Top::And, parts)),
        }
    }

    /// Splits by one operator all the way down; equal operands are kept once.
    pub fn split_all(&mut self, by: &Top, part: Part, out: &mut Vec<Part>) -> Made<()> {
        self.made += 1;
        if self.made > super::MAX_SCHEMAS {
            return Err(Failure::bound());
        }
        let (top, parts) = self.split(part)?;
        let mut kept: Vec<Part> = Vec::new();
        for one in parts {
            let mut known = false;
            for &other in &kept {
                known = known || self.same(one, other)?;
            }
            if !known {
                kept.push(one);
            }
        }
        match (&top, kept.as_slice()) {
            (Top::Plain, [one]) => out.push(*one),
            (top, _) if top != by => out.push(part),
            _ => {
                for one in kept {
                    self.split_all(by, one, out)?;
                }
            }
        }
        Ok(())
    }

    fn same(&mut self, a: Part, b: Part) -> Made<bool> {
        let (a, b) = (Val::Node(a.node), Val::Node(b.node));
        self.ctx.equal(a, b, 0).map_err(|_| Failure::bound())
    }

    /// Whether every instance of `narrow` is one of `wide`: unifying them changes nothing.
    pub fn subsumes(&mut self, wide: Part, narrow: Part) -> Made<bool> {
        let conjuncts = [wide, narrow].map(|part| Conjunct {
            env: None,
            x: X::Node(part.node),
            ci: CloseInfo::default(),
        });
        let both = self.ctx.inline_node(Base::None, &conjuncts);
        self.ctx.finalize(both).map_err(|_| Failure::bound())?;
        if self.ctx.node_bottom(both).is_some() {
            return Ok(false);
        }
        self.same(Part::of(both), narrow)
    }

    fn any_subsumes(&mut self, wide: &[Part], narrow: Part) -> Made<bool> {
        for &one in wide {
            if self.subsumes(one, narrow)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a reference refers to: the root of its package, and the path from there.
    pub fn reference(&mut self, part: Part) -> Option<(NodeId, Vec<Label>)> {
        if part.data {
            return None;
        }
        match self.single(part)? {
            (env, X::Expr(expr)) => self.path_of(env?, expr),
            _ => None,
        }
    }

    fn path_of(&mut self, env: EnvId, expr: ExprId) -> Option<(NodeId, Vec<Label>)> {
        match self.ctx.ir.exprs[expr] {
            Expr::Field { up, label, .. } => {
                let home = self.ctx.env_up(env, up);
                let mut root = self.ctx.env_node(home)?;
                let mut path = vec![label];
                while let Some(parent) = self.ctx.nodes[root].parent {
                    path.push(self.ctx.nodes[root].label);
                    root = parent;
                }
                path.reverse();
                Some((root, path))
            }
            Expr::Import { .. } => Some((self.resolve(env, expr)?, Vec::new())),
            Expr::Select { x, label, .. } => {
                let (root, mut path) = self.path_of(env, x)?;
                path.push(label);
                Some((root, path))
            }
            _ => None,
        }
    }

    fn resolve(&mut self, env: EnvId, expr: ExprId) -> Option<NodeId> {
        let saved = self.ctx.push_state(env, None);
        let found = self.ctx.resolve(expr, sched::ALL, Run::Finalize);
        let errors = self.ctx.pop_state(saved);
        match (found, errors) {
            (Ok(Some(node)), None) => Some(node),
            _ => None,
        }
    }

    /// The value that a reference refers to; other values stay.
    pub fn dereference(&mut self, part: Part) -> Part {
        if let Some((Some(env), X::Expr(expr))) = self.single(part)
            && self.ctx.ir.is_resolver(expr)
            && let Some(node) = self.resolve(env, expr)
        {
            return Part::of(node);
        }
        part
    }

    /// Unifies two values.
    pub fn unified(&mut self, a: Part, b: Part) -> Made<Part> {
        let conjuncts = [a, b].map(|part| Conjunct {
            env: None,
            x: X::Node(part.node),
            ci: CloseInfo::default(),
        });
        let node = self.ctx.inline_node(Base::None, &conjuncts);
        self.ctx.finalize(node).map_err(|_| Failure::bound())?;
        Ok(Part::of(node))
    }

    /// A scalar that is known.
    pub fn is_scalar(&self, part: Part) -> bool {
        match self.ctx.scalar(Val::Node(self.ctx.deref_value(part.node))) {
            Some(value) => matches!(
                value,
                Value::Null | Value::Bool(_) | Value::Num(_) | Value::String(_) | Value::Bytes(_)
            ),
            None => false,
        }
    }

    /// The schema of fields or elements that have none of their own.
    pub fn rest(&mut self, part: Part) -> Made<Option<Part>> {
        let node = self.ctx.deref_value(part.node);
        let is_list = matches!(self.ctx.nodes[node].base, Base::List { .. });
        let mut conjuncts: Vec<Conjunct> = Vec::new();
        for pair in self.ctx.nodes[node].arcs.patterns.clone() {
            let any = match self.ctx.scalar(pair.pattern) {
                Some(Value::Top) => true,
                Some(Value::Type(kind)) => kind.has(Kind::STRING),
                _ => is_list,
            };
            if any {
                conjuncts.extend(self.ctx.nodes[pair.constraint].conjuncts.iter().copied());
            }
        }
        if conjuncts.is_empty() {
            return Ok(None);
        }
        let node = self.ctx.inline_node(Base::None, &conjuncts);
        self.ctx.finalize(node).map_err(|_| Failure::bound())?;
        Ok(Some(Part::of(node)))
    }
}
