//! Expressions.

use base::Span;

use crate::eval::ids::ExprId;
use crate::eval::ir::{Disjunct, Expr, Op};
use crate::eval::kind::Kind;
use crate::eval::label::Label;
use crate::eval::value::{Bottom, Code, ErrorData, Value};
use crate::number::Num;
use crate::syntax::ast::{self, BinaryOp, LiteralKind, PostfixOp, UnaryOp};
use crate::syntax::literal::{self, Quotes};

use super::Compiler;
use super::scope::Scope;

fn binary_op(op: BinaryOp) -> Op {
    match op {
        BinaryOp::Or => Op::Or,
        BinaryOp::And => Op::And,
        BinaryOp::BoolOr => Op::BoolOr,
        BinaryOp::BoolAnd => Op::BoolAnd,
        BinaryOp::Equal => Op::Eq,
        BinaryOp::NotEqual => Op::Ne,
        BinaryOp::Less => Op::Lt,
        BinaryOp::LessEqual => Op::Le,
        BinaryOp::Greater => Op::Gt,
        BinaryOp::GreaterEqual => Op::Ge,
        BinaryOp::Match => Op::Match,
        BinaryOp::NotMatch => Op::NotMatch,
        BinaryOp::Add => Op::Add,
        BinaryOp::Subtract => Op::Sub,
        BinaryOp::Multiply => Op::Mul,
        BinaryOp::Divide => Op::Quo,
    }
}

impl Compiler<'_> {
    pub(super) fn expr(&mut self, id: ast::ExprId) -> ExprId {
        let file = self.ast();
        let span = file.expr_span(id);
        match file.expr(id) {
            ast::Expr::Bad => self.error(span, "invalid expression"),
            ast::Expr::Bottom => self.literal_bottom(span),
            ast::Expr::Ident(symbol) => self.ident(symbol, span),
            ast::Expr::Literal { kind, text } => self.literal(kind, file.str(text), span),
            ast::Expr::Interpolation { parts } => {
                let parts: Vec<ast::ExprId> = file.list(parts).collect();
                self.interpolation(&parts, span)
            }
            ast::Expr::Struct { decls, .. } => {
                self.stack.push(Scope::frame(1));
                let (lit, _) = self.decls(decls);
                self.pop_scope();
                let expr = self.push(Expr::Struct(lit), span);
                self.keep_struct_attributes(file.list(decls), expr);
                expr
            }
            ast::Expr::List { elements } => {
                self.stack.push(Scope::frame(1));
                let elems = file.list(elements).map(|e| self.element(e, true)).collect();
                self.pop_scope();
                self.push(Expr::List(elems), span)
            }
            ast::Expr::Ellipsis { of } => {
                let of = of.map(|of| self.expr(of));
                self.push(Expr::Ellipsis(of), span)
            }
            ast::Expr::Paren { expr } => self.expr(expr),
            ast::Expr::Selector { of, label } => {
                let x = self.expr(of);
                let at = file.expr_span(label);
                let label = self.selector_label(label);
                self.push(
                    Expr::Select {
                        x,
                        label,
                        at,
                        optional: false,
                    },
                    span,
                )
            }
            ast::Expr::Index { of, index, .. } => {
                let x = self.expr(of);
                let Some(index) = index else {
                    return self.error(span, "invalid expression");
                };
                let index = self.expr(index);
                self.push(
                    Expr::Index {
                        x,
                        index,
                        optional: false,
                    },
                    span,
                )
            }
            ast::Expr::Slice { of, low, high, .. } => {
                let x = self.expr(of);
                let lo = low.map(|e| self.expr(e));
                let hi = high.map(|e| self.expr(e));
                self.push(Expr::Slice { x, lo, hi }, span)
            }
            ast::Expr::Call {
                function,
                arguments,
                ..
            } => {
                let fun = self.expr(function);
                let args = file.list(arguments).map(|a| self.expr(a)).collect();
                self.push(Expr::Call { fun, args }, span)
            }
            ast::Expr::Unary { op, expr } => self.unary(op, expr, span),
            ast::Expr::Binary {
                op, left, right, ..
            } => self.binary(id, op, left, right, span),
            ast::Expr::Postfix { op, expr } => self.postfix(op, expr, span),
            ast::Expr::Alias { .. } => {
                self.error(span, "alias values not allowed in this position")
            }
            ast::Expr::Comprehension { .. } => {
                self.error(span, "comprehension values not allowed in this position")
            }
        }
    }

    /// An element of a list or an embedding, which may be a comprehension.
    pub(super) fn element(&mut self, id: ast::ExprId, in_list: bool) -> ExprId {
        let file = self.ast();
        match file.expr(id) {
            ast::Expr::Comprehension {
                clauses,
                value,
                fallback,
            } => {
                let clauses: Vec<ast::ClauseId> = file.list(clauses).collect();
                self.comprehension(id, &clauses, value, fallback, in_list)
            }
            _ => self.expr(id),
        }
    }

    fn literal_bottom(&mut self, span: Span) -> ExprId {
        let err = self.ctx.errors.push(ErrorData {
            node: None,
            alt_path: None,
            text_path: None,
            pos: Some(span),
            others: Vec::new(),
            format: "explicit error (_|_ literal) in source",
            args: Default::default(),
            wraps: None,
        });
        self.push_value(
            Value::Bottom(Box::new(Bottom {
                code: Code::Literal,
                errors: smallvec::smallvec![err],
                has_recursive: false,
                child_error: false,
                close_check: false,
                node: None,
            })),
            span,
        )
    }

    fn literal(&mut self, kind: LiteralKind, text: &str, span: Span) -> ExprId {
        match kind {
            LiteralKind::Null => self.push_value(Value::Null, span),
            LiteralKind::True => self.push_value(Value::Bool(true), span),
            LiteralKind::False => self.push_value(Value::Bool(false), span),
            LiteralKind::Int | LiteralKind::Float => {
                if let Some(n) = Num::parse_short(text) {
                    return self.push_value(Value::Num(n), span);
                }
                self.odd_number(text, span)
            }
            LiteralKind::String => {
                if let Some(plain) = literal::plain_string(text) {
                    return self.push_value(Value::String(plain.into()), span);
                }
                self.odd_string(text, span)
            }
        }
    }

    /// A number that may be printed otherwise.
    fn odd_number(&mut self, text: &str, span: Span) -> ExprId {
        match Num::parse_literal(text) {
            Ok(n) => {
                let plain = n.to_cue() == text;
                let id = self.ctx.new_value_at(Value::Num(n), Some(span));
                if !plain {
                    self.ctx.literals.insert(id, text.into());
                }
                self.push_value_id(id, span)
            }
            Err(e) => self.error(span, format!("parse error: {e}")),
        }
    }

    /// A literal in which something is to be decoded.
    fn odd_string(&mut self, text: &str, span: Span) -> ExprId {
        match literal::unquote(text) {
            Ok((quotes, value)) => {
                let expr = self.text_value(&quotes, value, span);
                self.keep_literal(expr, text);
                expr
            }
            Err(e) => self.error(span, e.to_string()),
        }
    }

    /// Keeps a text on one line that would be printed otherwise.
    fn keep_literal(&mut self, expr: ExprId, text: &str) {
        let odd = text.starts_with('#') || text.contains('\\');
        if odd
            && !text.contains('\n')
            && let Expr::Value(id) = self.ctx.ir.exprs[expr]
        {
            self.ctx.literals.insert(id, text.into());
        }
    }

    fn text_value(&mut self, quotes: &Quotes, value: Vec<u8>, span: Span) -> ExprId {
        if quotes.mark == '\'' {
            return self.push_value(Value::Bytes(value.into()), span);
        }
        let text = String::from_utf8_lossy(&value);
        self.push_value(Value::String(text.into()), span)
    }

    fn interpolation(&mut self, parts: &[ast::ExprId], span: Span) -> ExprId {
        let file = self.ast();
        let piece = |id: ast::ExprId| match file.expr(id) {
            ast::Expr::Literal { text, .. } => file.str(text),
            _ => "",
        };
        let (Some(&first), Some(&last)) = (parts.first(), parts.last()) else {
            return self.error(span, "invalid interpolation");
        };
        let (quotes, mut start) = match Quotes::parse(piece(first), piece(last)) {
            Ok(found) => found,
            Err(e) => return self.error(span, format!("invalid interpolation: {e}")),
        };
        let kind = if quotes.mark == '\'' {
            Kind::BYTES
        } else {
            Kind::STRING
        };
        let mut out = Vec::new();
        for (i, &part) in parts.iter().enumerate() {
            let at = file.expr_span(part);
            if i % 2 == 1 {
                out.push(self.expr(part));
                continue;
            }
            let text = piece(part).get(start..).unwrap_or("");
            start = 1;
            match quotes.decode(text) {
                Ok(value) => out.push(self.text_value(&quotes, value, at)),
                Err(e) => return self.error(at, format!("invalid string: {e}")),
            }
        }
        self.push(
            Expr::Interpolation {
                kind,
                parts: out.into(),
            },
            span,
        )
    }

    fn selector_label(&mut self, id: ast::ExprId) -> Label {
        let file = self.ast();
        match file.expr(id) {
            ast::Expr::Ident(symbol) => self.label(symbol),
            ast::Expr::Literal {
                kind: LiteralKind::String,
                text,
            } => {
                let name = literal::unquote_string(file.str(text)).unwrap_or_default();
                Label::string(&mut self.ctx.symbols, &name)
            }
            ast::Expr::Literal { text, .. } => Label::string(&mut self.ctx.symbols, file.str(text)),
            _ => Label::NONE,
        }
    }

    fn unary(&mut self, op: UnaryOp, x: ast::ExprId, span: Span) -> ExprId {
        let bound = match op {
            UnaryOp::Plus | UnaryOp::Minus | UnaryOp::Not => {
                let x = self.expr(x);
                let op = match op {
                    UnaryOp::Plus => Op::Add,
                    UnaryOp::Minus => Op::Sub,
                    _ => Op::Not,
                };
                return self.push(Expr::Unary { op, x }, span);
            }
            UnaryOp::Default => {
                return self.error(span, "preference mark not allowed at this position");
            }
            UnaryOp::Less => Op::Lt,
            UnaryOp::LessEqual => Op::Le,
            UnaryOp::Greater => Op::Gt,
            UnaryOp::GreaterEqual => Op::Ge,
            UnaryOp::NotEqual => Op::Ne,
            UnaryOp::Match => Op::Match,
            UnaryOp::NotMatch => Op::NotMatch,
            UnaryOp::Equal => Op::Eq,
        };
        let x = self.expr(x);
        self.push(Expr::Bound { op: bound, x }, span)
    }

    fn binary(
        &mut self,
        id: ast::ExprId,
        op: BinaryOp,
        left: ast::ExprId,
        right: ast::ExprId,
        span: Span,
    ) -> ExprId {
        if op == BinaryOp::Or {
            let mut values = Vec::new();
            let mut has_defaults = false;
            self.disjuncts(id, false, &mut values, &mut has_defaults);
            return self.push(
                Expr::Disjunction {
                    values: values.into(),
                    has_defaults,
                },
                span,
            );
        }
        let x = self.expr(left);
        let y = self.expr(right);
        let op = binary_op(op);
        if op != Op::And {
            self.require_concrete(left, op, x);
            self.require_concrete(right, op, y);
        }
        self.push(Expr::Binary { op, x, y }, span)
    }

    fn disjuncts(
        &mut self,
        id: ast::ExprId,
        mark: bool,
        out: &mut Vec<Disjunct>,
        has_defaults: &mut bool,
    ) {
        let file = self.ast();
        match file.expr(id) {
            ast::Expr::Binary {
                op: BinaryOp::Or, ..
            } => {
                for operand in file.operands(id, BinaryOp::Or) {
                    self.disjuncts(operand, mark, out, has_defaults);
                }
            }
            ast::Expr::Unary {
                op: UnaryOp::Default,
                expr,
            } => {
                *has_defaults = true;
                self.disjuncts(expr, true, out, has_defaults);
            }
            _ => {
                let expr = self.expr(id);
                out.push(Disjunct {
                    expr,
                    default: mark,
                });
            }
        }
    }

    /// An operand that can never be concrete is an error at once.
    fn require_concrete(&mut self, at: ast::ExprId, op: Op, x: ExprId) {
        let possible = match &self.ctx.ir.exprs[x] {
            Expr::Bound { .. } => false,
            Expr::Value(id) => self.ctx.lit_is_concrete(*id),
            _ => true,
        };
        if !possible {
            let file = self.ast();
            let span = file.expr_span(at);
            let text = file
                .text
                .get(span.start as usize..span.end as usize)
                .unwrap_or("")
                .to_owned();
            self.error(
                span,
                format!(
                    "invalid operand {text} ('{}' requires concrete value)",
                    op.text()
                ),
            );
        }
    }

    fn postfix(&mut self, op: PostfixOp, x: ast::ExprId, span: Span) -> ExprId {
        let experiments = self.ast().experiments;
        match op {
            PostfixOp::Open => {
                if !experiments.explicit_open {
                    return self.error(
                        span,
                        "postfix ... operator requires @experiment(explicitopen)",
                    );
                }
                let x = self.expr(x);
                self.push(Expr::Open(x), span)
            }
            PostfixOp::Optional => {
                if !experiments.try_clause {
                    self.error(
                        span,
                        "optional marker (?) requires the try experiment (language version v0.16.0 or later)",
                    );
                } else if self.in_try == 0 {
                    self.error(
                        span,
                        "optional marker (?) is only valid within a try clause",
                    );
                }
                let x = self.expr(x);
                match self.ctx.ir.exprs[x].clone() {
                    Expr::Field { up, label, .. } => self.push(
                        Expr::Field {
                            up,
                            label,
                            optional: true,
                        },
                        span,
                    ),
                    Expr::Select { x, label, at, .. } => self.push(
                        Expr::Select {
                            x,
                            label,
                            at,
                            optional: true,
                        },
                        span,
                    ),
                    Expr::Index { x, index, .. } => self.push(
                        Expr::Index {
                            x,
                            index,
                            optional: true,
                        },
                        span,
                    ),
                    Expr::Value(_) => x,
                    _ => self.error(span, "optional marker (?) can only be used on references"),
                }
            }
        }
    }
}
