//! Source expressions as CUE.

use crate::eval::ids::{EnvId, ExprId};
use crate::eval::ir::{Clause, DeclKind, Expr, Op};
use crate::eval::kind::Kind;
use crate::eval::label::{Label, LabelKind};
use crate::eval::node::X;
use crate::eval::quote;
use crate::eval::value::{Val, Value};

use super::cue::{Exporter, merge_texts};
use super::syntax::{Item, Syn};
use super::values::{join, weight};

fn precedence(op: Op) -> u8 {
    match op {
        Op::Or => 1,
        Op::And => 2,
        Op::BoolOr => 3,
        Op::BoolAnd => 4,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Match | Op::NotMatch => 5,
        Op::Add | Op::Sub => 6,
        Op::Mul | Op::Quo => 7,
        Op::Not => 8,
    }
}

impl Exporter<'_> {
    pub(super) fn name(&self, label: Label) -> String {
        if label == Label::NONE {
            "_".to_owned()
        } else {
            label.name(&self.ctx.symbols).to_owned()
        }
    }

    fn sub(&mut self, env: Option<EnvId>, expr: ExprId) -> Box<Syn> {
        Box::new(self.expr(env, expr))
    }

    pub(super) fn expr(&mut self, env: Option<EnvId>, expr: ExprId) -> Syn {
        if self.depth > 500 {
            return Syn::Atom("_".to_owned());
        }
        self.depth += 1;
        let syn = self.expr_inner(env, expr);
        self.depth -= 1;
        syn
    }

    /// A reference out of the part that is written: the value is written beside it under a name.
    fn hoist(&mut self, env: Option<EnvId>, expr: ExprId) -> Option<Syn> {
        let root = self.root?;
        let env = env?;
        let hoisting = self.hoisting.clone();
        let saved = self.ctx.push_state(env, None);
        let found = self.ctx.resolve(
            expr,
            crate::eval::sched::ALL,
            crate::eval::work::Run::Ignore,
        );
        let errs = self.ctx.pop_state(saved);
        let target = found.ok().flatten()?;
        if errs.is_some() || target == self.ctx.empty {
            return None;
        }
        let n = &self.ctx.nodes[target];
        if n.arc_type != crate::eval::node::ArcType::Member
            || n.is_dynamic
            || n.non_rooted
            || n.label.is_let()
        {
            return None;
        }
        let mut at = Some(target);
        let mut top = target;
        while let Some(node) = at {
            if self.ctx.same_vertex(node, root) || hoisting.contains(&node) {
                return None;
            }
            top = node;
            at = self.ctx.nodes[node].parent;
        }
        let mut home = root;
        while let Some(parent) = self.ctx.nodes[home].parent {
            home = parent;
        }
        if !self.ctx.same_vertex(top, home) {
            return None;
        }
        let value = self.ctx.default_node(target);
        let scalar = matches!(self.ctx.nodes[value].base, crate::eval::node::Base::Val(id)
            if self.ctx.lit_is_concrete(id) && self.ctx.bottom(id).is_none());
        let empty = self.ctx.nodes[value].base == crate::eval::node::Base::Struct
            && self.ctx.nodes[value].arcs.is_empty();
        if scalar || empty {
            let conjuncts = self.ctx.nodes[target].conjuncts.clone();
            if let [one] = &*conjuncts
                && let X::Expr(x) = self.ctx.elem(one.x)
                && matches!(
                    self.ctx.ir.exprs[x],
                    Expr::Binary { .. } | Expr::Unary { .. }
                )
            {
                return Some(self.expr(one.env, x));
            }
            return Some(self.vertex(value));
        }
        if let Some((_, name)) = self.names.iter().find(|(n, _)| *n == target) {
            return Some(Syn::Atom(name.clone()));
        }
        let labels = self.ctx.path(target);
        let last = labels.last().map_or(String::new(), |l| self.name(*l));
        let prefix = if last.starts_with('#') { "#" } else { "" };
        let base = format!(
            "{prefix}{}",
            last.trim_start_matches(['_', '#']).to_uppercase()
        );
        let mut name = base.clone();
        let mut serial = 0;
        while self.names.iter().any(|(_, n)| *n == name) {
            serial += 1;
            name = format!("{base}_{serial:X}");
        }
        self.names.push((target, name.clone()));
        let path = self.ctx.path_text(&labels);
        let at = self.hoisted.len();
        self.hoisted
            .push((name.clone(), path, Syn::Atom("_".to_owned())));
        let saved = self.profile;
        self.profile.take_defaults = false;
        self.profile.optional = true;
        self.profile.hidden = true;
        self.profile.definitions = true;
        let frames = std::mem::take(&mut self.frames);
        let target = self.ctx.deref_value(target);
        self.hoisting.push(target);
        let syn = self.vertex(target);
        self.hoisting.pop();
        self.frames = frames;
        self.profile = saved;
        if let Some(slot) = self.hoisted.get_mut(at) {
            slot.2 = syn;
        }
        Some(Syn::Atom(name))
    }

    fn expr_inner(&mut self, env: Option<EnvId>, expr: ExprId) -> Syn {
        if matches!(
            self.ctx.ir.exprs[expr],
            Expr::Field { .. } | Expr::Select { .. }
        ) && let Some(syn) = self.hoist(env, expr)
        {
            return syn;
        }
        match self.ctx.ir.exprs[expr].clone() {
            Expr::Value(id) => self.source_value(id),
            Expr::Struct(lit) => {
                let env = self.blank_frame(env);
                let mut items = Vec::new();
                if self.profile.attributes
                    && let Some(texts) = self.ctx.struct_attributes.get(&expr)
                {
                    items.extend(texts.iter().cloned().map(Item::Line));
                }
                for decl in self.ctx.ir.members(lit.decls).to_vec() {
                    if self.profile.docs
                        && let Some(docs) = self.ctx.docs.get(&decl)
                    {
                        items.extend(docs.iter().cloned().map(Item::Line));
                    }
                    let kind = self.ctx.ir.decls[decl].kind.clone();
                    let mut item = self.decl(env, kind);
                    if let Item::Field {
                        label, attributes, ..
                    } = &mut item
                    {
                        if self.profile.attributes {
                            merge_texts(attributes, self.ctx.attributes.get(&decl));
                        }
                        if let Some(&alias) = self.ctx.aliases.get(&decl) {
                            // A label that was an expression keeps the form of one.
                            let computed =
                                matches!(self.ctx.ir.decls[decl].kind, DeclKind::Dynamic { .. });
                            if computed && !label.starts_with(['"', '(']) {
                                *label = quote::string(label);
                            }
                            label.insert_str(0, &format!("{}=", self.name(alias)));
                        }
                    }
                    items.push(item);
                }
                Syn::Struct(items)
            }
            Expr::List(elems) => {
                let env = self.blank_frame(env);
                Syn::List(elems.into_iter().map(|e| self.expr(env, e)).collect())
            }
            Expr::Ellipsis(of) => Syn::Ellipsis(of.map(|of| self.sub(env, of))),
            Expr::Field { .. } | Expr::Dynamic { .. }
                if self.ctx.alias_uses.contains_key(&expr) =>
            {
                let alias = self.ctx.alias_uses.get(&expr).copied();
                Syn::Atom(alias.map_or(String::new(), |alias| self.name(alias)))
            }
            Expr::Field { label, .. } => Syn::Atom(match label.kind() {
                LabelKind::String => label.name(&self.ctx.symbols).to_owned(),
                _ => self.name(label),
            }),
            Expr::ValueRef { label, .. } | Expr::LabelRef { name: label, .. } => {
                Syn::Atom(self.name(label))
            }
            Expr::Dynamic { label, .. } => self.expr(env, label),
            Expr::Import { path, name } => {
                let text = path.name(&self.ctx.symbols).to_owned();
                let name = self.name(name);
                let own = (crate::compile::short(&text) != name).then(|| name.clone());
                self.imports.push((text, own));
                Syn::Atom(name)
            }
            Expr::Let { up, label, x } => self.let_ref(env, up, label, x),
            Expr::Select { x, label, .. } => {
                let x = self.sub(env, x);
                Syn::Select(x, self.label(label))
            }
            Expr::Index { x, index, .. } => {
                let x = self.sub(env, x);
                Syn::Index(x, self.sub(env, index))
            }
            Expr::Slice { x, lo, hi } => {
                let x = self.sub(env, x);
                let lo = lo.map(|e| self.sub(env, e));
                Syn::Slice(x, lo, hi.map(|e| self.sub(env, e)))
            }
            Expr::Interpolation { kind, parts } => self.interpolation(env, kind, &parts),
            Expr::Unary { op, x } | Expr::Bound { op, x } => {
                Syn::Unary(op.text(), self.sub(env, x))
            }
            Expr::Binary {
                op: op @ (Op::And | Op::Or),
                ..
            } => {
                let mut leaves = Vec::new();
                self.leaves(op, expr, &mut leaves);
                leaves.sort_by_key(|&leaf| weight(self.ctx, X::Expr(leaf)));
                let top = |e: &Self, leaf: ExprId| match e.ctx.ir.exprs[leaf] {
                    Expr::Value(id) => matches!(e.ctx.value(id), Value::Top),
                    _ => false,
                };
                leaves.retain(|&leaf| !top(self, leaf));
                let parts = leaves.into_iter().map(|leaf| self.operand(env, leaf));
                join(op.text(), precedence(op), parts.collect())
            }
            Expr::Binary { op, x, y } => {
                let own = precedence(op);
                let mut parts = Vec::new();
                // A chain of one operator leans to the left.
                match self.expr(env, x) {
                    Syn::Binary(o, p, inner) if o == op.text() && p == own => parts.extend(inner),
                    other => parts.push(other),
                }
                parts.push(self.expr(env, y));
                Syn::Binary(op.text(), own, parts)
            }
            Expr::Call { fun, args } => {
                let fun = self.sub(env, fun);
                Syn::Call(
                    fun,
                    args.into_iter().map(|a| self.operand(env, a)).collect(),
                )
            }
            Expr::Disjunction { values, .. } => {
                let mut parts = Vec::new();
                for d in values {
                    let syn = self.operand(env, d.expr);
                    parts.push(if d.default {
                        Syn::Unary("*", Box::new(syn))
                    } else {
                        syn
                    });
                }
                join("|", 1, parts)
            }
            Expr::Comprehension(c) => {
                let outer = env;
                let mut env = env;
                let mut clauses = Vec::new();
                for clause in &c.clauses {
                    clauses.push(self.clause(env, clause));
                    let binds = match clause {
                        Clause::For { .. } | Clause::Let { .. } => true,
                        Clause::Try { expr, .. } => expr.is_some(),
                        Clause::If { .. } => false,
                    };
                    if binds {
                        env = self.blank_frame(env);
                    }
                }
                let value = self.sub(env, c.value);
                let fallback = c.fallback.map(|e| self.sub(outer, e));
                Syn::Comprehension(clauses, value, fallback)
            }
            Expr::Open(x) => Syn::Open(self.sub(env, x)),
        }
    }

    /// An expression with more text behind it: an error is written without the comment that says which.
    fn operand(&mut self, env: Option<EnvId>, expr: ExprId) -> Syn {
        match self.ctx.ir.exprs[expr] {
            Expr::Value(id) if self.ctx.bottom(id).is_some() => Syn::Atom("_|_".to_owned()),
            _ => self.expr(env, expr),
        }
    }

    /// The operands of a chain of one operator.
    fn leaves(&self, op: Op, expr: ExprId, out: &mut Vec<ExprId>) {
        match self.ctx.ir.exprs[expr] {
            Expr::Binary { op: o, x, y } if o == op => {
                self.leaves(op, x, out);
                self.leaves(op, y, out);
            }
            _ => out.push(expr),
        }
    }

    fn source_value(&mut self, id: crate::eval::ids::ValId) -> Syn {
        if self.ctx.bottom(id).is_some() {
            return Syn::Atom("_|_ // explicit error (_|_ literal) in source\n".to_owned());
        }
        let taken = std::mem::replace(&mut self.profile.take_defaults, false);
        let outer = std::mem::replace(&mut self.as_written, true);
        let syn = self.value(Val::Lit(id));
        self.profile.take_defaults = taken;
        self.as_written = outer;
        syn
    }

    /// A frame below the given one for braces that are only written, not evaluated.
    fn blank_frame(&mut self, env: Option<EnvId>) -> Option<EnvId> {
        let env = env?;
        let node = self.ctx.inline_node(crate::eval::node::Base::None, &[]);
        self.ctx.nodes[node].status = crate::eval::node::Status::Finalized;
        self.blanks.push(node);
        Some(self.ctx.new_env(env, node))
    }

    fn words(&self, text: &str) -> Syn {
        Syn::Atom(text.to_owned())
    }

    fn clause(&mut self, env: Option<EnvId>, clause: &Clause) -> Syn {
        match clause {
            Clause::For {
                key,
                value,
                source,
                blank,
                ..
            } => {
                let mut head = "for ".to_owned();
                if *key != Label::NONE || *blank {
                    head.push_str(&self.name(*key));
                    head.push_str(", ");
                }
                head.push_str(&self.name(*value));
                head.push_str(" in ");
                let source = self.expr(env, *source);
                Syn::Words(vec![Syn::Atom(head), source])
            }
            Clause::If { condition, .. } => {
                let condition = self.expr(env, *condition);
                Syn::Words(vec![self.words("if "), condition])
            }
            Clause::Let { label, expr, .. } => {
                let head = format!("let {} = ", self.name(*label));
                let value = self.expr(env, *expr);
                Syn::Words(vec![Syn::Atom(head), value])
            }
            Clause::Try { label, expr, .. } => match expr {
                None => self.words("try"),
                Some(expr) => {
                    let head = format!("try {} = ", self.name(*label));
                    let value = self.expr(env, *expr);
                    Syn::Words(vec![Syn::Atom(head), value])
                }
            },
        }
    }

    fn decl(&mut self, env: Option<EnvId>, kind: DeclKind) -> Item {
        match kind {
            DeclKind::Field { label, arc, value } => Item::Field {
                label: self.label(label) + arc.suffix(),
                value: self.expr(env, value),
                attributes: Vec::new(),
            },
            DeclKind::Let { label, value, .. } => Item::Let {
                name: self.name(label),
                value: self.expr(env, value),
            },
            DeclKind::Dynamic {
                key, arc, value, ..
            } => {
                let key = self.expr(env, key);
                let text = one_line(&key);
                let label = match key {
                    Syn::Interpolation(_) => text,
                    Syn::Atom(_) if text.starts_with('"') => {
                        match crate::syntax::literal::unquote_string(&text) {
                            Ok(name) if !crate::syntax::literal::label_needs_quotes(&name) => name,
                            _ => text,
                        }
                    }
                    _ => format!("({text})"),
                };
                Item::Field {
                    label: label + arc.suffix(),
                    value: self.expr(env, value),
                    attributes: Vec::new(),
                }
            }
            DeclKind::Pattern {
                filter,
                label,
                value,
            } => {
                let filter = one_line(&self.expr(env, filter));
                let label = if label == Label::NONE {
                    format!("[{filter}]")
                } else {
                    format!("[{}={filter}]", self.name(label))
                };
                Item::Field {
                    label,
                    value: self.expr(env, value),
                    attributes: Vec::new(),
                }
            }
            DeclKind::Ellipsis(of) => Item::Ellipsis(of.map(|of| self.expr(env, of))),
            DeclKind::Embed(x) => Item::Embed(self.expr(env, x)),
        }
    }

    fn interpolation(&mut self, env: Option<EnvId>, kind: Kind, parts: &[ExprId]) -> Syn {
        let mark = if kind == Kind::BYTES { '\'' } else { '"' };
        let several = parts.iter().step_by(2).any(|&part| {
            matches!(self.ctx.ir.exprs[part], Expr::Value(id)
            if match self.ctx.value(id) {
                Value::String(s) => s.contains('\n'),
                Value::Bytes(b) => b.contains(&b'\n'),
                _ => false,
            })
        });
        let fence = if several {
            mark.to_string().repeat(3)
        } else {
            mark.to_string()
        };
        let mut out = Vec::new();
        let last = parts.len().saturating_sub(1);
        for (i, &part) in parts.iter().enumerate() {
            if i % 2 == 1 {
                out.push(self.expr(env, part));
                continue;
            }
            let mut text = String::new();
            if i == 0 {
                text.push_str(&fence);
                if several {
                    text.push('\n');
                }
            }
            if let Expr::Value(id) = self.ctx.ir.exprs[part] {
                match self.ctx.value(id) {
                    Value::String(s) => {
                        for c in s.chars() {
                            match c {
                                '\n' if several => text.push('\n'),
                                c if several => quote::escape(&mut text, c, '\0'),
                                c => quote::escape(&mut text, c, mark),
                            }
                        }
                    }
                    Value::Bytes(b) => {
                        for c in String::from_utf8_lossy(b).chars() {
                            match c {
                                '\n' if several => text.push('\n'),
                                c if several => quote::escape(&mut text, c, '\0'),
                                c => quote::escape(&mut text, c, mark),
                            }
                        }
                    }
                    _ => {}
                }
            }
            if i == last {
                if several {
                    text.push('\n');
                }
                text.push_str(&fence);
            }
            out.push(Syn::Atom(text));
        }
        Syn::Interpolation(out)
    }

    /// A `let` is kept where it was declared if that vertex is being written; else its value stands here.
    fn let_ref(&mut self, env: Option<EnvId>, up: u32, label: Label, x: Option<ExprId>) -> Syn {
        let name = self.name(label);
        let Some(env) = env else {
            return Syn::Atom(name);
        };
        let home = self.ctx.env_up(env, up);
        let node = self.ctx.env_node(home).map(|n| self.ctx.deref_value(n));
        let frame = self
            .frames
            .iter()
            .position(|f| Some(self.ctx.deref_value(f.node)) == node);
        let Some(x) = x else {
            return Syn::Atom(name);
        };
        // The braces are written as they are, and the clause with them.
        if node.is_some_and(|node| self.blanks.contains(&node)) {
            return Syn::Atom(name);
        }
        match frame {
            None => self.expr(Some(home), x),
            Some(k) => {
                let known = self
                    .frames
                    .get(k)
                    .is_some_and(|f| f.lets.iter().any(|l| l.0 == label));
                if !known {
                    let value = self.expr(Some(home), x);
                    if let Some(frame) = self.frames.get_mut(k) {
                        frame.lets.push((label, name.clone(), value));
                    }
                }
                Syn::Atom(name)
            }
        }
    }
}

/// An expression that stands in a label.
fn one_line(syn: &Syn) -> String {
    let layout = super::syntax::Layout {
        tab: true,
        collapse: false,
    };
    let text = super::syntax::print_expr(syn, layout);
    text.trim_end().to_owned()
}
