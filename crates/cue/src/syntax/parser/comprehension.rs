//! Comprehensions: `for`, `if`, `let` and `try` clauses, and what to do when none yields.

use super::Parser;
use crate::syntax::ast::{Clause, ClauseId, Decl, DeclId, Expr, ExprId, Node, NodeRef, Pos};
use crate::syntax::errors::{EXPERIMENT, SYNTAX};
use crate::syntax::token::Token;

impl Parser<'_> {
    fn push_clause(&mut self, what: Clause, start: Pos, end: Pos) -> ClauseId {
        let index = u32::try_from(self.file.clauses.len()).expect("fewer nodes than bytes");
        self.file.clauses.push(Node { what, start, end });
        ClauseId(index)
    }

    /// A comprehension as a declaration, or the keyword it begins with as a label.
    pub(super) fn comprehension_decl(&mut self) -> Result<DeclId, ExprId> {
        self.open();
        let start = Pos::at(self.pos);
        match self.comprehension("struct literal") {
            Ok(expr) => {
                let end = self.file.end(NodeRef::Expr(expr));
                let decl = self.push_decl(Decl::Embed(expr), start, end);
                self.close(NodeRef::Decl(decl));
                Ok(decl)
            }
            Err(ident) => {
                self.close(NodeRef::Expr(ident));
                Err(ident)
            }
        }
    }

    /// A comprehension with the comma after it, or the keyword it begins with.
    pub(super) fn comprehension(&mut self, context: &str) -> Result<ExprId, ExprId> {
        let start = Pos::at(self.pos);
        let clauses = self.clauses()?;
        self.open();
        let value = self.body();
        self.close(NodeRef::Expr(value));
        let mut fallback = None;
        if matches!(self.tok, Token::Else | Token::Fallback | Token::Otherwise) {
            fallback = Some(self.fallback(&clauses));
        }
        let end = Pos::at(self.last_end);
        let close = match context {
            "list literal" => Token::RBrack,
            _ => Token::RBrace,
        };
        if self.at_comma(context, &[close]) {
            self.next();
        }
        let clauses = self.list(&clauses);
        let what = Expr::Comprehension {
            clauses,
            value,
            fallback,
        };
        Ok(self.push(what, start, end))
    }

    /// The struct that is yielded. Comprehensions nest through it without any other expression.
    fn body(&mut self) -> ExprId {
        self.deeper(Self::struct_lit, |p| {
            p.push(Expr::Bad, Pos::at(p.pos), Pos::at(p.pos))
        })
    }

    /// Whether the token after a first keyword shows that the keyword is a label.
    fn keyword_is_label(&mut self, keyword: Token) -> bool {
        match self.tok {
            Token::Colon | Token::Bind | Token::Option | Token::Comma | Token::Eof => true,
            // `if !x` is a condition, `if!: x` a required field.
            Token::Not => keyword != Token::If || self.look_ahead() == Token::Colon,
            _ => false,
        }
    }

    fn clauses(&mut self) -> Result<Vec<ClauseId>, ExprId> {
        let mut clauses = Vec::new();
        loop {
            let keyword = self.tok;
            if !matches!(keyword, Token::For | Token::If | Token::Let | Token::Try) {
                return Ok(clauses);
            }
            let (at, end) = (self.pos, self.end);
            self.open();
            self.next();
            if clauses.is_empty() && keyword != Token::Let && self.keyword_is_label(keyword) {
                let symbol = self.symbols.intern(keyword.text());
                let ident = self.push(Expr::Ident(symbol), Pos::at(at), Pos::at(end));
                self.close(NodeRef::Expr(ident));
                return Err(ident);
            }
            let what = match keyword {
                Token::For => self.for_clause(),
                Token::If => Clause::If {
                    condition: self.expr(),
                },
                Token::Let => {
                    let name = self.declared_ident();
                    let equal = self.expect(Token::Bind);
                    let value = self.expr();
                    Clause::Let { name, value, equal }
                }
                _ => self.try_clause(),
            };
            let end = Pos::at(self.last_end);
            let clause = self.push_clause(what, Pos::at(at), end);
            self.close(NodeRef::Clause(clause));
            clauses.push(clause);
            if self.tok == Token::Comma {
                self.next();
            }
        }
    }

    fn for_clause(&mut self) -> Clause {
        let mut key = None;
        let mut value = self.declared_ident();
        let mut comma = Pos::NONE;
        if self.tok == Token::Comma {
            comma = self.expect(Token::Comma);
            key = Some(value);
            value = self.declared_ident();
        }
        self.set_seen(4);
        let in_at = self.expect(Token::In);
        let source = self.expr();
        Clause::For {
            key,
            value,
            source,
            comma,
            in_at,
        }
    }

    fn try_clause(&mut self) -> Clause {
        let mut binding = None;
        let mut equal = Pos::NONE;
        if self.tok == Token::Ident {
            let name = self.ident();
            equal = self.expect(Token::Bind);
            binding = Some((name, self.expr()));
        }
        Clause::Try { binding, equal }
    }

    /// `else` after a lone `if` or `try`, `otherwise` after anything else.
    fn fallback(&mut self, clauses: &[ClauseId]) -> ClauseId {
        let start = Pos::at(self.pos);
        self.open();
        if !self.file.experiments.try_clause {
            let message = format!("{} requires @experiment(try)", self.tok.text());
            self.report_here(EXPERIMENT, message);
        }
        let guard = match clauses {
            [only] => matches!(
                self.file.clause(*only),
                Clause::If { .. } | Clause::Try { .. }
            ),
            _ => false,
        };
        if guard && self.tok != Token::Else {
            let message = "use 'else' with single 'if' or 'try' clause";
            self.report_here(SYNTAX, message);
        } else if !guard && self.tok == Token::Else {
            let message =
                "use 'otherwise' for comprehensions with multiple clauses or 'for' clauses";
            self.report_here(SYNTAX, message);
        }
        self.next();
        let body = self.body();
        let end = Pos::at(self.last_end);
        let clause = self.push_clause(Clause::Else { body }, start, end);
        self.close(NodeRef::Clause(clause));
        clause
    }
}
