//! Declarations: fields with their labels, embeddings, `let`, attributes, `...`.

use super::{MAX_DEPTH, Parser};
use crate::syntax::ast::{
    AttributeId, Constraint, Decl, DeclId, Expr, ExprId, Field, FieldAlias, FieldAliasId, List,
    LiteralKind, Node, NodeRef, Pos,
};
use crate::syntax::errors::{EXPERIMENT, SYNTAX};
use crate::syntax::token::Token;

/// What stands where a label may stand.
enum Head {
    /// Something that is no field: a comprehension or a `let`.
    Decl(DeclId),
    /// An expression that can be a label.
    Label(ExprId),
    /// An expression that cannot.
    Expr(ExprId),
    /// Neither; an expression must follow.
    Nothing,
}

/// A label and what stands between it and the value.
struct Opened {
    label: ExprId,
    alias: Option<FieldAliasId>,
    constraint: Option<Constraint>,
    colon: Pos,
}

impl Parser<'_> {
    pub(super) fn push_decl(&mut self, what: Decl, start: Pos, end: Pos) -> DeclId {
        let index = u32::try_from(self.file.declarations.len()).expect("fewer nodes than bytes");
        self.file.declarations.push(Node { what, start, end });
        DeclId(index)
    }

    fn decl_to_here(&mut self, what: Decl, start: usize) -> DeclId {
        let end = Pos::at(self.last_end.max(start));
        self.push_decl(what, Pos::at(start), end)
    }

    pub(super) fn struct_lit(&mut self) -> ExprId {
        let start = Pos::at(self.pos);
        let before = self.comments_so_far();
        self.expect(Token::LBrace);
        let inside = self.inside(before, Token::RBrace);
        let mut decls = List::EMPTY;
        if self.tok != Token::RBrace {
            let found = self.field_list();
            decls = self.list(&found);
        }
        self.expect_closing(Token::RBrace, "struct literal");
        let braces = true;
        let expr = self.push_to_here(Expr::Struct { decls, braces }, start);
        self.keep_inside(NodeRef::Expr(expr), inside);
        expr
    }

    fn decl_comma(&mut self) {
        if self.at_comma("struct literal", &[Token::RBrace, Token::Eof]) {
            self.next();
        }
    }

    /// Declarations up to a closing brace or the end of the file.
    pub(super) fn field_list(&mut self) -> Vec<DeclId> {
        self.open_list();
        let mut decls = Vec::new();
        while !matches!(self.tok, Token::RBrace | Token::Eof) {
            match self.tok {
                Token::Attribute => decls.push(self.attribute_decl()),
                Token::Ellipsis => {
                    let start = self.pos;
                    self.open();
                    self.next();
                    let decl = self.decl_to_here(Decl::Ellipsis, start);
                    self.close(NodeRef::Decl(decl));
                    decls.push(decl);
                    self.decl_comma();
                }
                _ => decls.push(self.field()),
            }
        }
        self.close_list();
        decls
    }

    pub(super) fn attribute_decl(&mut self) -> DeclId {
        let start = self.pos;
        let attribute = self.attribute();
        let decl = self.decl_to_here(Decl::Attribute(attribute), start);
        self.decl_comma();
        decl
    }

    fn attribute(&mut self) -> AttributeId {
        self.open();
        let index = u32::try_from(self.file.attributes.len()).expect("fewer nodes than bytes");
        self.file.attributes.push(Node {
            what: self.text_here(),
            start: Pos::at(self.pos),
            end: Pos::at(self.end),
        });
        self.next();
        self.close(NodeRef::Attribute(AttributeId(index)));
        AttributeId(index)
    }

    /// A field, an embedding, a comprehension or a `let`.
    fn field(&mut self) -> DeclId {
        self.open();
        let sibling = std::mem::take(&mut self.height);
        let decl = self.field_body();
        self.height = self.height.max(sibling);
        self.close(NodeRef::Decl(decl));
        decl
    }

    fn field_body(&mut self) -> DeclId {
        let (start, first) = (self.pos, self.tok);
        let label = match self.head(false) {
            Head::Decl(decl) => return decl,
            Head::Label(label) => label,
            Head::Expr(expr) => return self.embedding(start, expr),
            Head::Nothing => {
                let expr = self.expr();
                return self.embedding(start, expr);
            }
        };
        let depth = self.depth;
        let mut opened = Vec::new();
        let (alias, constraint) = self.after_label(label);
        match self.tok {
            Token::Colon => self.check_label(label),
            Token::Comma | Token::RBrace | Token::Eof => {
                let end = self.last_end;
                if self.tok == Token::Comma {
                    self.expect_comma();
                }
                let alias = matches!(self.file.expr(label), Expr::Alias { .. });
                if !alias && can_stand_alone(first) {
                    return self.push_decl(Decl::Embed(label), Pos::at(start), Pos::at(end));
                }
                return self.no_label(start);
            }
            _ => return self.no_label(start),
        }
        let colon = self.expect(Token::Colon);
        opened.push(Opened {
            label,
            alias,
            constraint,
            colon,
        });
        let mut last = label;
        let value = loop {
            if let Expr::List { elements } = self.file.expr(last)
                && elements.len() != 1
            {
                self.bad_label(last);
            }
            let expr = match self.head(true) {
                Head::Label(label) => {
                    let more = matches!(
                        self.tok,
                        Token::Colon | Token::Option | Token::Not | Token::Tilde
                    );
                    if more {
                        if self.depth >= MAX_DEPTH {
                            self.too_deep(MAX_DEPTH);
                            break label;
                        }
                        self.depth += 1;
                        let (alias, constraint) = self.after_label(label);
                        self.check_label(label);
                        let colon = self.expect(Token::Colon);
                        opened.push(Opened {
                            label,
                            alias,
                            constraint,
                            colon,
                        });
                        last = label;
                        continue;
                    }
                    label
                }
                Head::Expr(expr) => expr,
                Head::Decl(decl) => {
                    let span = self.file.span_of(NodeRef::Decl(decl));
                    let message = "`let` cannot stand where a value is expected";
                    self.report(SYNTAX, span.start as usize..span.end as usize, message);
                    self.expr()
                }
                Head::Nothing => self.expr(),
            };
            break expr;
        };
        self.depth = depth;
        let attributes = self.attributes();
        self.height += opened.len();
        let decl = self.nest(opened, value, attributes);
        self.decl_comma();
        decl
    }

    /// Reports a label whose name is reserved.
    fn check_label(&mut self, label: ExprId) {
        if let Expr::Ident(symbol) = self.file.expr(label) {
            let expr = label;
            self.check_declared(crate::syntax::ast::Name { symbol, expr });
        }
    }

    /// Makes fields of labels and a value, from the innermost outwards.
    fn nest(
        &mut self,
        opened: Vec<Opened>,
        value: ExprId,
        attributes: List<AttributeId>,
    ) -> DeclId {
        let end = Pos::at(self.last_end);
        let mut value = value;
        let mut attributes = attributes;
        let mut made = None;
        for one in opened.into_iter().rev() {
            if let Some(decl) = made {
                let decls = self.list(&[decl]);
                let start = self.file.start(NodeRef::Decl(decl));
                let braces = false;
                value = self.push(Expr::Struct { decls, braces }, start, end);
            }
            let field = Field {
                label: one.label,
                alias: one.alias,
                constraint: one.constraint,
                colon: one.colon,
                value,
                attributes,
            };
            attributes = List::EMPTY;
            let start = self.start_of(one.label);
            made = Some(self.push_decl(Decl::Field(field), start, end));
        }
        made.expect("a field has a label")
    }

    fn no_label(&mut self, start: usize) -> DeclId {
        self.expected("label or ':'");
        self.decl_to_here(Decl::Bad, start)
    }

    fn embedding(&mut self, start: usize, expr: ExprId) -> DeclId {
        if let Expr::Alias { .. } = self.file.expr(expr) {
            self.expected("label or ':'");
            self.decl_comma();
            return self.decl_to_here(Decl::Bad, start);
        }
        let end = self.file.end(NodeRef::Expr(expr));
        self.decl_comma();
        self.push_decl(Decl::Embed(expr), Pos::at(start), end)
    }

    /// What stands at the place of a label; `value` if a value may stand there as well.
    fn head(&mut self, value: bool) -> Head {
        let expr = match self.tok {
            Token::For | Token::If | Token::Try => {
                if value {
                    self.expr()
                } else {
                    match self.comprehension_decl() {
                        Ok(decl) => return Head::Decl(decl),
                        Err(ident) => ident,
                    }
                }
            }
            Token::Let => match self.let_decl() {
                Ok(decl) => return Head::Decl(decl),
                Err(ident) => ident,
            },
            Token::Else
            | Token::Fallback
            | Token::Otherwise
            | Token::Ident
            | Token::String
            | Token::Interpolation
            | Token::LParen
            | Token::LBrack
            | Token::Null
            | Token::True
            | Token::False
            | Token::In
            | Token::Func => self.expr(),
            _ => return Head::Nothing,
        };
        match self.file.expr(expr) {
            Expr::Literal {
                kind:
                    LiteralKind::String | LiteralKind::Null | LiteralKind::True | LiteralKind::False,
                ..
            }
            | Expr::Interpolation { .. }
            | Expr::Paren { .. }
            | Expr::List { .. } => Head::Label(expr),
            Expr::Ident(_) => {
                let seen = self.seen();
                let expr = self.alias(expr);
                // A label with an alias counts as one.
                self.set_seen(seen);
                let Expr::Alias { expr: of, .. } = self.file.expr(expr) else {
                    return Head::Label(expr);
                };
                match self.file.expr(of) {
                    Expr::Ident(_)
                    | Expr::Literal { .. }
                    | Expr::Interpolation { .. }
                    | Expr::Paren { .. }
                    | Expr::List { .. } => Head::Label(expr),
                    _ => Head::Expr(expr),
                }
            }
            _ => Head::Expr(expr),
        }
    }

    /// A postfix alias and `?` or `!`.
    fn after_label(&mut self, label: ExprId) -> (Option<FieldAliasId>, Option<Constraint>) {
        let alias = self.field_alias().map(|alias| {
            let index = self.file.field_aliases.len();
            self.file.field_aliases.push(alias);
            FieldAliasId(u32::try_from(index).expect("fewer nodes than bytes"))
        });
        let (constraint, name) = match self.tok {
            Token::Option => (Constraint::Optional, "optional"),
            Token::Not => (Constraint::Required, "required"),
            _ => return (alias, None),
        };
        if let Expr::List { .. } = self.file.expr(label) {
            let message = format!("pattern constraint cannot be marked {name}");
            self.report_here(SYNTAX, message);
        }
        self.next();
        (alias, Some(constraint))
    }

    /// `~X`, `~(X)` or `~(K, V)`.
    fn field_alias(&mut self) -> Option<FieldAlias> {
        if self.tok != Token::Tilde {
            return None;
        }
        let tilde = self.pos;
        if !self.file.experiments.alias_v2 {
            let message = "postfix alias syntax requires @experiment(aliasv2)";
            self.report_here(EXPERIMENT, message);
        }
        self.next();
        match self.tok {
            Token::Ident => {
                let name = self.ident();
                if self.symbols.name(name.symbol) == "_" {
                    let message = "single postfix alias \"_\" field cannot be the blank identifier";
                    self.report(SYNTAX, tilde..tilde + 1, message);
                }
                Some(FieldAlias {
                    label: None,
                    field: Some(name),
                    parens: false,
                })
            }
            Token::LParen => {
                self.next();
                if self.tok != Token::Ident {
                    self.expected("identifier for label alias");
                    return None;
                }
                let first = self.ident();
                if self.tok == Token::RParen {
                    self.next();
                    return Some(FieldAlias {
                        label: None,
                        field: Some(first),
                        parens: true,
                    });
                }
                let comma = self.expect(Token::Comma);
                if !comma.is_parsed() {
                    return Some(FieldAlias {
                        label: None,
                        field: Some(first),
                        parens: false,
                    });
                }
                if self.tok != Token::Ident {
                    self.expected("identifier for field alias");
                    return Some(FieldAlias {
                        label: Some(first),
                        field: None,
                        parens: true,
                    });
                }
                let second = self.ident();
                self.expect(Token::RParen);
                Some(FieldAlias {
                    label: Some(first),
                    field: Some(second),
                    parens: true,
                })
            }
            _ => {
                self.expected("identifier or '('");
                None
            }
        }
    }

    fn attributes(&mut self) -> List<AttributeId> {
        self.open_list();
        let mut found = Vec::new();
        while self.tok == Token::Attribute {
            found.push(self.attribute());
        }
        self.close_list();
        self.list(&found)
    }

    /// `let X = …`, or `let` as a label.
    fn let_decl(&mut self) -> Result<DeclId, ExprId> {
        let start = self.pos;
        let symbol = self.symbols.intern("let");
        self.open();
        self.next();
        if self.tok != Token::Ident {
            let (start, end) = (Pos::at(start), Pos::at(start + "let".len()));
            let ident = self.push(Expr::Ident(symbol), start, end);
            self.close(NodeRef::Expr(ident));
            return Err(ident);
        }
        let name = self.declared_ident();
        let equal = self.expect(Token::Bind);
        let value = self.expr();
        let end = self.file.end(NodeRef::Expr(value));
        self.decl_comma();
        let what = Decl::Let { name, value, equal };
        let decl = self.push_decl(what, Pos::at(start), end);
        self.close(NodeRef::Decl(decl));
        Ok(decl)
    }
}

/// Whether an expression that looks like a label may be embedded, by its first token.
fn can_stand_alone(first: Token) -> bool {
    matches!(
        first,
        Token::Ident
            | Token::LBrack
            | Token::LParen
            | Token::String
            | Token::Interpolation
            | Token::Null
            | Token::True
            | Token::False
            | Token::For
            | Token::If
            | Token::Let
            | Token::In
            | Token::Try
            | Token::Else
            | Token::Fallback
            | Token::Otherwise
    )
}
