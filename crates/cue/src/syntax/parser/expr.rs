//! Expressions: operands, what follows them, operators by precedence, interpolation.

use super::{MAX_CHAIN, MAX_DEPTH, Parser};
use crate::syntax::ast::Member;
use crate::syntax::ast::{
    BinaryOp, Expr, ExprId, List, LiteralKind, NodeRef, Pos, PostfixOp, UnaryOp,
};
use crate::syntax::errors::{EXPERIMENT, SYNTAX};
use crate::syntax::token::Token;

/// The operator a token is between two operands, and how tightly it binds.
fn binary(token: Token) -> Option<(BinaryOp, u8)> {
    Some(match token {
        Token::Or => (BinaryOp::Or, 1),
        Token::And => (BinaryOp::And, 2),
        Token::Lor => (BinaryOp::BoolOr, 3),
        Token::Land => (BinaryOp::BoolAnd, 4),
        Token::Eql => (BinaryOp::Equal, 5),
        Token::Neq => (BinaryOp::NotEqual, 5),
        Token::Lss => (BinaryOp::Less, 5),
        Token::Leq => (BinaryOp::LessEqual, 5),
        Token::Gtr => (BinaryOp::Greater, 5),
        Token::Geq => (BinaryOp::GreaterEqual, 5),
        Token::Mat => (BinaryOp::Match, 5),
        Token::Nmat => (BinaryOp::NotMatch, 5),
        Token::Add => (BinaryOp::Add, 6),
        Token::Sub => (BinaryOp::Subtract, 6),
        Token::Mul => (BinaryOp::Multiply, 7),
        Token::Quo => (BinaryOp::Divide, 7),
        _ => return None,
    })
}

fn unary(token: Token) -> Option<UnaryOp> {
    Some(match token {
        Token::Add => UnaryOp::Plus,
        Token::Sub => UnaryOp::Minus,
        Token::Not => UnaryOp::Not,
        Token::Mul => UnaryOp::Default,
        Token::Lss => UnaryOp::Less,
        Token::Leq => UnaryOp::LessEqual,
        Token::Gtr => UnaryOp::Greater,
        Token::Geq => UnaryOp::GreaterEqual,
        Token::Neq => UnaryOp::NotEqual,
        Token::Mat => UnaryOp::Match,
        Token::Nmat => UnaryOp::NotMatch,
        Token::Eql => UnaryOp::Equal,
        _ => return None,
    })
}

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expr(&mut self) -> ExprId {
        self.open();
        let expr = self.binary_expr(1);
        self.close(NodeRef::Expr(expr));
        expr
    }

    fn binary_expr(&mut self, weakest: u8) -> ExprId {
        self.open_list();
        let left = self.unary_expr();
        let expr = self.binary_tail(weakest, left);
        self.close_list();
        expr
    }

    /// Operators that bind at least as tightly as `weakest`, behind a first operand.
    pub(super) fn binary_tail(&mut self, weakest: u8, mut left: ExprId) -> ExprId {
        let mut chain = 0;
        while let Some((op, strength)) = binary(self.tok) {
            if strength < weakest {
                break;
            }
            chain += 1;
            if chain > MAX_CHAIN {
                self.too_deep(MAX_CHAIN);
                break;
            }
            self.open();
            self.set_seen(1);
            let at = Pos::at(self.pos);
            self.next();
            let right = self.binary_expr(strength + 1);
            let what = Expr::Binary {
                op,
                left,
                right,
                at,
            };
            left = self.push_to_here(what, self.start_of(left));
            self.close(NodeRef::Expr(left));
        }
        left
    }

    pub(super) fn unary_expr(&mut self) -> ExprId {
        self.deeper(
            |p| {
                let Some(op) = unary(p.tok) else {
                    let operand = p.operand();
                    return p.postfix(operand);
                };
                let start = Pos::at(p.pos);
                p.open();
                p.next();
                let expr = p.unary_expr();
                let expr = p.push_to_here(Expr::Unary { op, expr }, start);
                p.close(NodeRef::Expr(expr));
                expr
            },
            |p| p.push(Expr::Bad, Pos::at(p.pos), Pos::at(p.pos)),
        )
    }

    fn operand(&mut self) -> ExprId {
        let start = Pos::at(self.pos);
        match self.tok {
            Token::Ident => {
                let ident = self.ident().expr;
                // `a?:` is a field, `a?` a reference that may fail.
                if self.tok == Token::Option && self.look_ahead() != Token::Colon {
                    return self.optional(ident);
                }
                ident
            }
            Token::LBrace => self.struct_lit(),
            Token::LBrack => self.list_lit(),
            Token::Bottom => {
                self.open();
                self.next();
                let expr = self.push_to_here(Expr::Bottom, start);
                self.close(NodeRef::Expr(expr));
                expr
            }
            Token::Null
            | Token::True
            | Token::False
            | Token::Int
            | Token::Float
            | Token::String => self.literal(),
            Token::Interpolation => self.interpolation(),
            Token::LParen => {
                self.open();
                self.next();
                self.open_list();
                let expr = self.expr();
                self.close_list();
                self.expect(Token::RParen);
                let expr = self.push_to_here(Expr::Paren { expr }, start);
                self.close(NodeRef::Expr(expr));
                expr
            }
            token if token.is_keyword() => self.keyword_ident(),
            _ => {
                self.open();
                self.expected("operand");
                self.synchronise();
                let expr = self.push(Expr::Bad, start, Pos::at(self.pos));
                self.close(NodeRef::Expr(expr));
                expr
            }
        }
    }

    fn literal(&mut self) -> ExprId {
        self.open();
        let expr = self.bare_literal();
        self.close(NodeRef::Expr(expr));
        expr
    }

    fn bare_literal(&mut self) -> ExprId {
        let kind = match self.tok {
            Token::Null => LiteralKind::Null,
            Token::True => LiteralKind::True,
            Token::False => LiteralKind::False,
            Token::Int => LiteralKind::Int,
            Token::Float => LiteralKind::Float,
            _ => LiteralKind::String,
        };
        let text = self.text_here();
        let (start, end) = (Pos::at(self.pos), Pos::at(self.end));
        self.next();
        self.push(Expr::Literal { kind, text }, start, end)
    }

    fn optional(&mut self, expr: ExprId) -> ExprId {
        if self.tok != Token::Option {
            return expr;
        }
        self.next();
        let what = Expr::Postfix {
            op: PostfixOp::Optional,
            expr,
        };
        self.push_to_here(what, self.start_of(expr))
    }

    /// Selectors, indices, slices, calls and `...` behind an operand.
    fn postfix(&mut self, operand: ExprId) -> ExprId {
        let mut expr = operand;
        loop {
            expr = match self.tok {
                Token::Period => self.selector(expr),
                Token::LBrack => self.index_or_slice(expr),
                Token::LParen => self.call(expr),
                Token::Ellipsis => self.opened(expr),
                _ => return expr,
            };
            self.height += 1;
            if self.height > MAX_DEPTH {
                self.too_deep(MAX_DEPTH);
                return expr;
            }
        }
    }

    fn selector(&mut self, of: ExprId) -> ExprId {
        let start = self.start_of(of);
        self.open();
        self.set_seen(1);
        self.next();
        let simple = self.lit().starts_with('"') && !self.lit().starts_with("\"\"");
        let label = match self.tok {
            Token::Ident => Some(self.ident().expr),
            Token::String if simple => Some(self.bare_literal()),
            token if token.is_keyword() => Some(self.keyword_ident()),
            _ => None,
        };
        let expr = match label {
            Some(label) => {
                let expr = self.push_to_here(Expr::Selector { of, label }, start);
                self.optional(expr)
            }
            None => {
                self.expected("selector");
                let at = Pos::at(self.pos);
                self.next();
                let label = self.push(Expr::Bad, at, at);
                self.push_to_here(Expr::Selector { of, label }, start)
            }
        };
        self.close(NodeRef::Expr(expr));
        expr
    }

    fn index_or_slice(&mut self, of: ExprId) -> ExprId {
        let start = self.start_of(of);
        self.open();
        self.set_seen(1);
        let open = self.expect(Token::LBrack);
        let mut low = None;
        let mut high = None;
        if self.tok != Token::Colon {
            low = Some(self.expr());
        }
        let slice = self.tok == Token::Colon;
        if slice {
            self.next();
            if !matches!(self.tok, Token::Colon | Token::RBrack | Token::Eof) {
                high = Some(self.expr());
            }
        } else if self.tok == Token::Comma {
            self.next();
        }
        self.expect(Token::RBrack);
        let expr = if slice {
            let what = Expr::Slice {
                of,
                low,
                high,
                open,
            };
            self.push_to_here(what, start)
        } else {
            let what = Expr::Index {
                of,
                index: low,
                open,
            };
            let expr = self.push_to_here(what, start);
            self.optional(expr)
        };
        self.close(NodeRef::Expr(expr));
        expr
    }

    fn call(&mut self, function: ExprId) -> ExprId {
        let start = self.start_of(function);
        self.open();
        self.open_list();
        let open = self.expect(Token::LParen);
        let mut arguments = Vec::new();
        while !matches!(self.tok, Token::RParen | Token::Eof) {
            arguments.push(self.expr());
            if !self.at_comma("argument list", &[Token::RParen]) {
                break;
            }
            self.next();
        }
        self.expect_closing(Token::RParen, "argument list");
        let arguments = self.list(&arguments);
        let what = Expr::Call {
            function,
            arguments,
            open,
        };
        let expr = self.push_to_here(what, start);
        self.close_list();
        self.close(NodeRef::Expr(expr));
        expr
    }

    fn opened(&mut self, expr: ExprId) -> ExprId {
        let (start, at) = (self.start_of(expr), self.pos);
        if !self.file.experiments.explicit_open {
            self.next();
            let message = "postfix ... operator requires @experiment(explicitopen)".to_owned();
            self.scanner.errors.push(EXPERIMENT, at..at + 3, message);
            return self.push(Expr::Bad, Pos::at(at), Pos::at(self.pos));
        }
        self.open();
        self.next();
        let what = Expr::Postfix {
            op: PostfixOp::Open,
            expr,
        };
        let expr = self.push_to_here(what, start);
        self.close(NodeRef::Expr(expr));
        expr
    }

    fn interpolation(&mut self) -> ExprId {
        let start = Pos::at(self.pos);
        self.open();
        self.open_list();
        self.open();
        let mut parts = Vec::new();
        let mut more = true;
        let piece = self.piece();
        self.next();
        let mut last = piece;
        parts.push(last);
        while more {
            self.expect(Token::LParen);
            self.close(NodeRef::Expr(last));
            parts.push(self.expr());
            self.open();
            // A newline before the closing parenthesis stands for a comma.
            if self.newline_comma() {
                self.next();
            }
            if self.tok != Token::RParen {
                self.expected("')' for string interpolation");
            }
            let at = Pos::at(self.pos);
            let resumed = self.scanner.resume();
            more = resumed.token == Token::Interpolation;
            self.pos = resumed.start;
            self.end = resumed.end;
            let text = self.text_here();
            let what = Expr::Literal {
                kind: LiteralKind::String,
                text,
            };
            last = self.push(what, at, Pos::at(resumed.end));
            self.next();
            parts.push(last);
        }
        self.close(NodeRef::Expr(last));
        let parts = self.list(&parts);
        let expr = self.push_to_here(Expr::Interpolation { parts }, start);
        self.close_list();
        self.close(NodeRef::Expr(expr));
        expr
    }

    /// The current token as a piece of an interpolation.
    fn piece(&mut self) -> ExprId {
        let text = self.text_here();
        let what = Expr::Literal {
            kind: LiteralKind::String,
            text,
        };
        self.push(what, Pos::at(self.pos), Pos::at(self.end))
    }

    pub(super) fn list_lit(&mut self) -> ExprId {
        let start = Pos::at(self.pos);
        let before = self.comments_so_far();
        self.expect(Token::LBrack);
        let inside = self.inside(before, Token::RBrack);
        self.open_list();
        let mut elements = Vec::new();
        while !matches!(self.tok, Token::RBrack | Token::Ellipsis | Token::Eof) {
            let (element, more) = self.list_element();
            elements.push(element);
            if !more {
                break;
            }
        }
        self.close_list();
        if self.tok == Token::Ellipsis {
            let at = Pos::at(self.pos);
            self.next();
            let of = match self.tok {
                Token::Comma | Token::RBrack => None,
                _ => Some(self.expr()),
            };
            elements.push(self.push_to_here(Expr::Ellipsis { of }, at));
            if self.at_comma("list literal", &[Token::RBrack]) {
                self.next();
            }
        }
        self.expect_closing(Token::RBrack, "list literal");
        let elements = self.list(&elements);
        let expr = self.push_to_here(Expr::List { elements }, start);
        self.keep_inside(NodeRef::Expr(expr), inside);
        expr
    }

    /// One element, and whether more may follow.
    fn list_element(&mut self) -> (ExprId, bool) {
        self.open();
        let mut expr = match self.tok {
            Token::For | Token::If | Token::Try => match self.comprehension("list literal") {
                Ok(expr) => {
                    self.close(NodeRef::Expr(expr));
                    return (expr, true);
                }
                Err(ident) => ident,
            },
            _ => self.unary_expr(),
        };
        expr = self.binary_tail(1, expr);
        expr = self.alias(expr);
        let follow = [Token::RBrack, Token::For, Token::If];
        let more = self.at_comma("list literal", &follow);
        if more {
            self.next();
        }
        self.close(NodeRef::Expr(expr));
        (expr, more)
    }

    /// Makes `X=expr` of an identifier that `=` follows.
    pub(super) fn alias(&mut self, left: ExprId) -> ExprId {
        if self.tok != Token::Bind {
            return left;
        }
        let at = self.pos;
        if self.file.experiments.alias_v2 {
            let message = "old-style alias syntax (=) is not allowed with @experiment(aliasv2); \
                           use postfix syntax (~X or ~(K,V))";
            self.report_here(EXPERIMENT, message);
            self.next();
            return self.expr();
        }
        self.next();
        let expr = self.expr();
        let Expr::Ident(symbol) = self.file.expr(left) else {
            self.expected("identifier for alias");
            return expr;
        };
        let name = crate::syntax::ast::Name { symbol, expr: left };
        self.check_declared(name);
        let what = Expr::Alias {
            name,
            expr,
            equal: Pos::at(at),
        };
        self.push_to_here(what, self.start_of(left))
    }

    /// An expression that is the whole text.
    pub(super) fn lone_expr(&mut self) -> ExprId {
        self.open_list();
        let expr = self.expr();
        if self.newline_comma() {
            self.next();
        }
        self.close_list();
        if self.tok != Token::Eof {
            self.expected("'EOF'");
        }
        self.close_file();
        expr
    }

    /// Stores children one after another.
    pub(super) fn list<T: Member>(&mut self, members: &[T]) -> List<T> {
        let start = self.file.lists.len();
        let raw = members.iter().map(|member| member.raw());
        self.file.lists.extend(raw);
        List::new(start, members.len())
    }

    pub(super) fn bad_label(&mut self, at: ExprId) {
        let at = self.file.expr_span(at).range();
        self.report(SYNTAX, at, "square bracket must have exactly one element");
    }
}
