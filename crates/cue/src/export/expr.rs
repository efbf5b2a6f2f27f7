//! Source expressions as CUE.

use crate::eval::ids::{EnvId, ExprId};
use crate::eval::ir::{Clause, DeclKind, Expr, Op};
use crate::eval::kind::Kind;
use crate::eval::label::{Label, LabelKind};
use crate::eval::quote;
use crate::eval::value::{Val, Value};

use super::cue::{Exporter, join};
use super::syntax::{Item, Syn};

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
    fn name(&self, label: Label) -> String {
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

    fn expr_inner(&mut self, env: Option<EnvId>, expr: ExprId) -> Syn {
        match self.ctx.ir.exprs[expr].clone() {
            Expr::Value(id) => self.source_value(id),
            Expr::Struct(lit) => {
                let mut items = Vec::new();
                for decl in lit.decls {
                    let kind = self.ctx.ir.decls[decl].kind.clone();
                    items.push(self.decl(kind));
                }
                Syn::Struct(items)
            }
            Expr::List(elems) => Syn::List(elems.into_iter().map(|e| self.expr(None, e)).collect()),
            Expr::Ellipsis(of) => Syn::Ellipsis(of.map(|of| self.sub(None, of))),
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
                self.imports.push(text);
                Syn::Atom(self.name(name))
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
                Syn::Call(fun, args.into_iter().map(|a| self.expr(env, a)).collect())
            }
            Expr::Disjunction { values, .. } => {
                let mut parts = Vec::new();
                for d in values {
                    let syn = self.expr(env, d.expr);
                    parts.push(if d.default {
                        Syn::Unary("*", Box::new(syn))
                    } else {
                        syn
                    });
                }
                join("|", 1, parts)
            }
            Expr::Comprehension(c) => {
                let clauses = c.clauses.iter().map(|c| self.clause(c)).collect();
                let value = self.sub(None, c.value);
                let fallback = c.fallback.map(|e| self.sub(None, e));
                Syn::Comprehension(clauses, value, fallback)
            }
            Expr::Open(x) => Syn::Open(self.sub(env, x)),
        }
    }

    fn source_value(&mut self, id: crate::eval::ids::ValId) -> Syn {
        if self.ctx.bottom(id).is_some() {
            return Syn::Atom("_|_ // explicit error (_|_ literal) in source\n".to_owned());
        }
        let taken = std::mem::replace(&mut self.profile.take_defaults, false);
        let syn = self.value(Val::Lit(id));
        self.profile.take_defaults = taken;
        syn
    }

    fn words(&self, text: &str) -> Syn {
        Syn::Atom(text.to_owned())
    }

    fn clause(&mut self, clause: &Clause) -> Syn {
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
                let source = self.expr(None, *source);
                Syn::Words(vec![Syn::Atom(head), source])
            }
            Clause::If { condition, .. } => {
                let condition = self.expr(None, *condition);
                Syn::Words(vec![self.words("if "), condition])
            }
            Clause::Let { label, expr, .. } => {
                let head = format!("let {} = ", self.name(*label));
                let value = self.expr(None, *expr);
                Syn::Words(vec![Syn::Atom(head), value])
            }
            Clause::Try { label, expr, .. } => match expr {
                None => self.words("try"),
                Some(expr) => {
                    let head = format!("try {} = ", self.name(*label));
                    let value = self.expr(None, *expr);
                    Syn::Words(vec![Syn::Atom(head), value])
                }
            },
        }
    }

    fn decl(&mut self, kind: DeclKind) -> Item {
        match kind {
            DeclKind::Field { label, arc, value } => Item::Field {
                label: self.label(label) + arc.suffix(),
                value: self.expr(None, value),
            },
            DeclKind::Let { label, value, .. } => Item::Let {
                name: self.name(label),
                value: self.expr(None, value),
            },
            DeclKind::Dynamic {
                key, arc, value, ..
            } => {
                let key = self.expr(None, key);
                let text = one_line(&key);
                let label = match key {
                    Syn::Interpolation(_) => text,
                    _ => format!("({text})"),
                };
                Item::Field {
                    label: label + arc.suffix(),
                    value: self.expr(None, value),
                }
            }
            DeclKind::Pattern {
                filter,
                label,
                value,
            } => {
                let filter = one_line(&self.expr(None, filter));
                let label = if label == Label::NONE {
                    format!("[{filter}]")
                } else {
                    format!("[{}={filter}]", self.name(label))
                };
                Item::Field {
                    label,
                    value: self.expr(None, value),
                }
            }
            DeclKind::Ellipsis(of) => Item::Ellipsis(of.map(|of| self.expr(None, of))),
            DeclKind::Embed(x) => Item::Embed(self.expr(None, x)),
        }
    }

    fn interpolation(&mut self, env: Option<EnvId>, kind: Kind, parts: &[ExprId]) -> Syn {
        let mark = if kind == Kind::BYTES { '\'' } else { '"' };
        let mut out = Vec::new();
        let last = parts.len().saturating_sub(1);
        for (i, &part) in parts.iter().enumerate() {
            if i % 2 == 1 {
                out.push(self.expr(env, part));
                continue;
            }
            let mut text = String::new();
            if i == 0 {
                text.push(mark);
            }
            if let Expr::Value(id) = self.ctx.ir.exprs[part] {
                match self.ctx.value(id) {
                    Value::String(s) => {
                        for c in s.chars() {
                            quote::escape(&mut text, c, mark);
                        }
                    }
                    Value::Bytes(b) => {
                        for c in String::from_utf8_lossy(b).chars() {
                            quote::escape(&mut text, c, mark);
                        }
                    }
                    _ => {}
                }
            }
            if i == last {
                text.push(mark);
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
