//! Values without fields as CUE: scalars, types, bounds, and what stands between operators.

use crate::eval::Ctx;
use crate::eval::ids::ValId;
use crate::eval::ir::{Expr, Op};
use crate::eval::kind::Kind;
use crate::eval::node::X;
use crate::eval::quote;
use crate::eval::value::{Val, Value};
use crate::number::Num;

use super::cue::Exporter;
use super::syntax::Syn;

impl Exporter<'_> {
    pub(super) fn value(&mut self, val: Val) -> Syn {
        let val = if self.profile.take_defaults {
            self.ctx.default_of(val)
        } else {
            val
        };
        let id = match val {
            Val::Node(node) => {
                let node = self.shown(node);
                return self.vertex(node);
            }
            Val::Lit(id) => id,
        };
        match self.ctx.value(id) {
            Value::Null => Syn::Atom("null".to_owned()),
            Value::Bool(b) => Syn::Atom(b.to_string()),
            Value::Num(_) | Value::String(_) | Value::Bytes(_)
                if self.as_written && self.ctx.literals.contains_key(&id) =>
            {
                let written = self.ctx.literals.get(&id);
                Syn::Atom(written.map_or(String::new(), |text| text.to_string()))
            }
            Value::Num(n) => Syn::Atom(n.to_cue()),
            Value::String(s) => text(s),
            Value::Bytes(b) => bytes(b),
            Value::Top => Syn::Atom("_".to_owned()),
            Value::Type(kind) => Syn::Atom(kind.to_string()),
            Value::Bound { op, value } => {
                let (op, value) = (*op, *value);
                let x = self.value(value);
                Syn::Unary(op.text(), Box::new(x))
            }
            Value::Builtin(b) => {
                let b = *b;
                let name = self.builtin(b);
                let entry = self.ctx.builtin(b);
                // A function of one argument that says yes or no is a constraint.
                let constrains = entry.params.len() == 1
                    && entry.package.is_some()
                    && (entry.result == Kind::BOOL || entry.result == Kind::BOTTOM);
                match constrains {
                    true => Syn::Call(Box::new(name), Vec::new()),
                    false => name,
                }
            }
            Value::Validator(v) => {
                let v = v.clone();
                let fun = self.builtin(v.builtin);
                let args = v.args.iter().map(|&a| self.value(a)).collect();
                Syn::Call(Box::new(fun), args)
            }
            Value::Conjunction(values) => {
                let values = values.to_vec();
                self.conjunction(&values)
            }
            Value::Disjunction(d) => {
                let d = d.clone();
                let mut parts = Vec::new();
                for (i, &v) in d.values.iter().enumerate() {
                    let syn = self.bare(v);
                    parts.push(if i < d.defaults {
                        Syn::Unary("*", Box::new(syn))
                    } else {
                        syn
                    });
                }
                join("|", 1, parts)
            }
            Value::Bottom(_) => self.bottom(id),
        }
    }

    fn bare(&mut self, val: Val) -> Syn {
        match val {
            Val::Node(node) => {
                let node = self.ctx.deref_value(node);
                self.vertex(node)
            }
            lit => self.value(lit),
        }
    }

    pub(super) fn builtin(&mut self, id: crate::eval::value::BuiltinId) -> Syn {
        let b = self.ctx.builtin(id);
        match b.package {
            None => Syn::Atom(b.name.to_owned()),
            Some(path) => {
                let name = path.rsplit('/').next().unwrap_or(path).to_owned();
                let member = b.name.to_owned();
                self.imports.push((path.to_owned(), None));
                Syn::Select(Box::new(Syn::Atom(name)), member)
            }
        }
    }

    /// Types and bounds together, with the names that ranges of integers have.
    fn conjunction(&mut self, values: &[Val]) -> Syn {
        if let Some(name) = self.ctx.range_name(values) {
            return Syn::Atom(name.to_owned());
        }
        let mut is_int = false;
        let mut min: Option<(ValId, Op, Num)> = None;
        let mut max: Option<(ValId, Op, Num)> = None;
        let mut rest = Vec::new();
        for &v in values {
            let Val::Lit(id) = v else {
                rest.push(v);
                continue;
            };
            match self.ctx.value(id) {
                Value::Type(kind) if *kind == Kind::INT => is_int = true,
                Value::Bound { op, value } => {
                    let number = match self.ctx.scalar(*value) {
                        Some(Value::Num(n)) => Some(n.clone()),
                        _ => None,
                    };
                    match (op, number) {
                        (Op::Gt | Op::Ge, Some(n)) => min = Some((id, *op, n)),
                        (Op::Lt | Op::Le, Some(n)) => max = Some((id, *op, n)),
                        _ => rest.push(v),
                    }
                }
                _ => rest.push(v),
            }
        }
        let mut parts = Vec::new();
        match (min, max) {
            (Some((min, op, n)), Some((max, _, _))) => {
                let mut with_min = true;
                if is_int {
                    if n.is_negative() {
                        parts.push(Syn::Atom("int".to_owned()));
                    } else {
                        parts.push(Syn::Atom("uint".to_owned()));
                        with_min = !(n.is_zero() && op == Op::Ge);
                    }
                }
                if with_min {
                    parts.push(self.value(Val::Lit(min)));
                }
                parts.push(self.value(Val::Lit(max)));
            }
            _ => rest = values.to_vec(),
        }
        let place = |ctx: &Ctx, v: Val| match ctx.val_span(v) {
            Some(span) => (false, span.source.0, span.start),
            None => (true, 0, 0),
        };
        rest.sort_by_key(|&v| (weight(self.ctx, X::from(v)), place(self.ctx, v)));
        for v in rest {
            parts.push(self.bare(v));
        }
        join("&", 2, parts)
    }
}

/// Types before scalars before bounds before other expressions before literals of structs and lists.
pub(super) fn weight(ctx: &Ctx, x: X) -> u32 {
    match x {
        X::Val(id) => match ctx.value(id) {
            Value::Top => 0,
            Value::Type(_) => 1,
            Value::Null | Value::Bool(_) | Value::Num(_) | Value::String(_) | Value::Bytes(_) => 10,
            Value::Bound { .. } => 20,
            _ => 25,
        },
        X::Expr(e) => match ctx.ir.exprs[e] {
            Expr::Value(id) => weight(ctx, X::Val(id)),
            Expr::Field { .. } => 2,
            Expr::Struct(_) | Expr::List(_) => 500,
            _ => 25,
        },
        _ => 25,
    }
}

/// Operands with an operator between them; one operand stays alone.
pub(super) fn join(op: &'static str, precedence: u8, mut parts: Vec<Syn>) -> Syn {
    match parts.len() {
        0 => Syn::Atom("_".to_owned()),
        1 => parts.pop().unwrap_or(Syn::Atom("_".to_owned())),
        _ => Syn::Binary(op, precedence, parts),
    }
}

/// Bytes, on several lines if they are text of several.
fn bytes(b: &[u8]) -> Syn {
    match std::str::from_utf8(b) {
        Ok(text) if text.contains('\n') => lines(text, '\''),
        _ => Syn::Atom(quote::bytes(b)),
    }
}

/// A string, on several lines if it has several.
pub(super) fn text(s: &str) -> Syn {
    if !s.contains('\n') {
        return Syn::Atom(quote::string(s));
    }
    lines(s, '"')
}

fn lines(s: &str, mark: char) -> Syn {
    let fence = mark.to_string().repeat(3);
    let mut lines = vec![fence.clone()];
    for line in s.split('\n') {
        let mut out = String::new();
        let mut quotes = 0;
        for c in line.chars() {
            if c == mark {
                quotes += 1;
                if quotes == 3 {
                    out.push('\\');
                    quotes = 0;
                }
                out.push(mark);
                continue;
            }
            quotes = 0;
            if c == '\t' {
                out.push_str("\\t");
            } else {
                quote::escape(&mut out, c, '\0');
            }
        }
        lines.push(out);
    }
    lines.push(fence);
    Syn::Lines(lines)
}
