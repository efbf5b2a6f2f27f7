//! A constraint in CUE: `>=0.8`, `>=1 & <=3`, `"a" | "b"`, `=~"^eu-"`, `int & !=0`.
//!
//! Bounds, literals, types, patterns, `&`, `|` and parentheses are taken from CUE's syntax tree as they are: they
//! are asked on every look-up and must cost nothing. Any other expression is left to the evaluator.

use std::sync::Arc;

use base::{SourceId, Symbols};
use cue::regex::Regex;
use cue::syntax::ast::{self, BinaryOp, ExprId, LiteralKind, UnaryOp};
use cue::syntax::{literal, parse_expr};

use super::{Atom, Bound, Expr, Type};
use crate::evaluate;
use crate::value::Value;

/// The field that a constraint is evaluated as.
pub(super) const FIELD: &str = "value";

/// Longer than anyone needs, shorter than what would cost much.
const LONGEST: usize = 10_000;

pub(super) fn parse(text: &str) -> Result<Expr, String> {
    if text.len() > LONGEST {
        return Err("the constraint is too long".to_owned());
    }
    let mut symbols = Symbols::new();
    let parsed = parse_expr(SourceId(0), &text.into(), &mut symbols);
    if let Some(error) = parsed.errors.first() {
        return Err(format!(
            "the constraint `{text}` is not CUE: {}",
            error.message
        ));
    }
    let lowering = Lowering {
        file: &parsed.file,
        symbols: &symbols,
    };
    if let Some(expr) = lowering.expr(parsed.expr)? {
        return Ok(expr);
    }
    let file: Arc<str> = format!("{FIELD}: {text}").into();
    match evaluate::check(SourceId(0), &file) {
        Ok(()) => Ok(Expr::Atom(Atom::Cue(file))),
        Err(complaints) => {
            let (message, _) = complaints.into_iter().next().unwrap_or_default();
            Err(format!("the constraint `{text}` cannot be used: {message}"))
        }
    }
}

struct Lowering<'f> {
    file: &'f ast::File,
    symbols: &'f Symbols,
}

impl Lowering<'_> {
    /// The expression as bounds; none where it is more than that.
    fn expr(&self, id: ExprId) -> Result<Option<Expr>, String> {
        Ok(Some(match self.file.expr(id) {
            ast::Expr::Paren { expr } => return self.expr(expr),
            ast::Expr::Binary { op, .. } => {
                let many: fn(Vec<Expr>) -> Expr = match op {
                    BinaryOp::And => Expr::All,
                    BinaryOp::Or => Expr::Either,
                    _ => return Ok(None),
                };
                let mut parts = Vec::new();
                for operand in self.file.operands(id, op) {
                    match self.expr(operand)? {
                        Some(part) => parts.push(part),
                        None => return Ok(None),
                    }
                }
                many(parts)
            }
            ast::Expr::Unary { op, expr } => return self.unary(op, expr),
            ast::Expr::Ident(symbol) => match self.symbols.name(symbol) {
                "bool" => Expr::Atom(Atom::Type(Type::Bool)),
                "int" => Expr::Atom(Atom::Type(Type::Int)),
                "number" | "float" => Expr::Atom(Atom::Type(Type::Number)),
                "string" => Expr::Atom(Atom::Type(Type::String)),
                "_" => Expr::Any,
                _ => return Ok(None),
            },
            ast::Expr::List { elements } => {
                let mut elements = self.file.list(elements);
                match (elements.next().map(|e| self.file.expr(e)), elements.next()) {
                    (Some(ast::Expr::Ellipsis { of: None }), None) => {
                        Expr::Atom(Atom::Type(Type::List))
                    }
                    _ => return Ok(None),
                }
            }
            ast::Expr::Struct { decls, .. } => {
                let mut decls = self.file.list(decls);
                match (decls.next().map(|d| self.file.decl(d)), decls.next()) {
                    (Some(ast::Decl::Ellipsis), None) => Expr::Atom(Atom::Type(Type::Map)),
                    _ => return Ok(None),
                }
            }
            _ => match self.literal(id) {
                Some(value) => Expr::Atom(Atom::Is(value)),
                None => return Ok(None),
            },
        }))
    }

    fn unary(&self, op: UnaryOp, operand: ExprId) -> Result<Option<Expr>, String> {
        let bound = match op {
            UnaryOp::Less => Bound::Below,
            UnaryOp::LessEqual => Bound::AtMost,
            UnaryOp::Greater => Bound::Above,
            UnaryOp::GreaterEqual => Bound::AtLeast,
            // A default binds nobody: the value is there already.
            UnaryOp::Default => return self.expr(operand),
            UnaryOp::NotEqual => {
                let value = self.literal(operand);
                return Ok(value.map(|value| Expr::Atom(Atom::Not(value))));
            }
            UnaryOp::Match | UnaryOp::NotMatch => {
                let Some(Value::String(pattern)) = self.literal(operand) else {
                    return Ok(None);
                };
                let pattern = Regex::new(&pattern).map_err(|error| error.to_string())?;
                return Ok(Some(Expr::Atom(Atom::Match(pattern, op == UnaryOp::Match))));
            }
            UnaryOp::Plus | UnaryOp::Minus => {
                let negative = op == UnaryOp::Minus;
                let value = self.literal(operand).and_then(|value| match value {
                    Value::Number(text, is_int) if negative => {
                        Some(Value::Number(format!("-{text}").into(), is_int))
                    }
                    number @ Value::Number(..) => Some(number),
                    _ => None,
                });
                return Ok(value.map(|value| Expr::Atom(Atom::Is(value))));
            }
            _ => return Ok(None),
        };
        let limit = match self.unary_number(operand).or_else(|| self.literal(operand)) {
            Some(limit @ (Value::Number(..) | Value::String(_))) => limit,
            _ => return Ok(None),
        };
        Ok(Some(Expr::Atom(Atom::Bound(bound, limit))))
    }

    /// A number with a sign before it.
    fn unary_number(&self, id: ExprId) -> Option<Value> {
        match self.file.expr(id) {
            ast::Expr::Unary {
                op: op @ (UnaryOp::Minus | UnaryOp::Plus),
                expr,
            } => match self.unary(op, expr) {
                Ok(Some(Expr::Atom(Atom::Is(value)))) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    fn literal(&self, id: ExprId) -> Option<Value> {
        let ast::Expr::Literal { kind, text } = self.file.expr(id) else {
            return None;
        };
        let text = self.file.str(text);
        Some(match kind {
            LiteralKind::Null => Value::Null,
            LiteralKind::True => Value::Bool(true),
            LiteralKind::False => Value::Bool(false),
            LiteralKind::Int | LiteralKind::Float => match literal::parse_number(text).ok()? {
                literal::Number::Decimal { text, float } => Value::Number(text.into(), !float),
                _ => return None,
            },
            LiteralKind::String if text.starts_with('\'') => return None,
            LiteralKind::String => Value::string(literal::unquote_string(text).ok()?),
        })
    }
}
