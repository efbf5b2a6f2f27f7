//! Tokens to a tree, by recursive descent with one token of look-ahead.
//!
//! The parser reads on after an error: it skips to the next comma and continues, so that one run
//! reports several findings. It gives up after too many, or when the input nests too deep.
//!
//! `decl` reads files, fields and clauses of comprehensions, `expr` expressions, `attach` decides
//! which node a comment belongs to.

use std::sync::Arc;

use base::{Code, Diagnostic, SourceId, Symbols};

use super::ast::{Expr, ExprId, File, Name, Node, NodeRef, Pos, Text};
use super::errors::{Errors, SYNTAX, TOO_DEEP};
use super::scanner::{Scanned, Scanner};
use super::token::Token;

mod attach;
mod comprehension;
mod decl;
mod expr;
mod file;

use attach::Attach;

/// How deep brackets, unary operators and `a: b:` chains may nest. Chains of selectors, indices
/// and calls may make an expression twice as tall.
pub const MAX_DEPTH: usize = 1_000;

/// How long a chain of binary operators may be.
pub const MAX_CHAIN: usize = 10_000;

/// A file as far as it could be read, with everything that is wrong with it.
#[derive(Debug)]
pub struct Parsed {
    pub file: File,
    pub errors: Vec<Diagnostic>,
}

/// An expression on its own, in a file of its own that has no declarations.
#[derive(Debug)]
pub struct ParsedExpr {
    pub file: File,
    pub expr: ExprId,
    pub errors: Vec<Diagnostic>,
}

/// Reads a file.
pub fn parse_file(source: SourceId, text: &Arc<str>, symbols: &mut Symbols) -> Parsed {
    let mut parser = Parser::new(source, text, symbols);
    parser.file();
    let (file, errors) = parser.finish();
    Parsed { file, errors }
}

/// Reads one expression, which may be an alias (`X=…`) or several lines.
pub fn parse_expr(source: SourceId, text: &Arc<str>, symbols: &mut Symbols) -> ParsedExpr {
    let mut parser = Parser::new(source, text, symbols);
    let expr = parser.lone_expr();
    let (file, errors) = parser.finish();
    ParsedExpr { file, expr, errors }
}

struct Parser<'s> {
    scanner: Scanner<'s>,
    symbols: &'s mut Symbols,
    file: File,
    /// A token has been read.
    started: bool,
    /// The current token.
    tok: Token,
    pos: usize,
    end: usize,
    /// The current token is a comma that a newline stands for.
    elided: bool,
    /// The token after the current one, if it has been looked at.
    ahead: Option<Scanned>,
    /// The end of the last token that was taken.
    last_end: usize,
    attach: Attach,
    /// Where error recovery stopped last, and how often it stopped there.
    sync: (usize, u32),
    depth: usize,
    /// The height of the tallest expression read since it was last cleared.
    height: usize,
}

impl<'s> Parser<'s> {
    fn new(source: SourceId, text: &'s Arc<str>, symbols: &'s mut Symbols) -> Parser<'s> {
        let mut parser = Parser {
            scanner: Scanner::new(text, Errors::new(source, text)),
            symbols,
            file: File::new(source, Arc::clone(text)),
            started: false,
            tok: Token::Illegal,
            pos: 0,
            end: 0,
            elided: false,
            ahead: None,
            last_end: 0,
            attach: Attach::new(),
            sync: (0, 0),
            depth: 0,
            height: 0,
        };
        parser.next();
        parser
    }

    fn finish(mut self) -> (File, Vec<Diagnostic>) {
        self.file.exprs.shrink_to_fit();
        self.file.declarations.shrink_to_fit();
        self.file.lists.shrink_to_fit();
        (self.file, self.scanner.errors.into_found())
    }

    // Tokens.

    /// Takes the next token from the scanner, comments included.
    fn advance(&mut self) {
        if self.scanner.errors.gave_up {
            self.tok = Token::Eof;
            return;
        }
        let next = match self.ahead.take() {
            Some(next) => next,
            None => self.scanner.scan(),
        };
        self.tok = next.token;
        self.pos = next.start;
        self.end = next.end;
        self.elided = next.elided;
    }

    /// Looks at the token after the current one.
    fn look_ahead(&mut self) -> Token {
        if self.scanner.errors.gave_up {
            return Token::Eof;
        }
        if self.ahead.is_none() {
            self.ahead = Some(self.scanner.scan());
        }
        self.ahead.map_or(Token::Eof, |next| next.token)
    }

    /// The text of the current token.
    fn lit(&self) -> &'s str {
        self.scanner.slice(self.pos, self.end)
    }

    fn newline_comma(&self) -> bool {
        self.tok == Token::Comma && self.elided
    }

    // Errors.

    fn report(&mut self, code: Code, at: std::ops::Range<usize>, message: impl Into<String>) {
        self.scanner.errors.report(code, at, message.into());
    }

    /// An error at the current token.
    fn report_here(&mut self, code: Code, message: impl Into<String>) {
        let end = self.end.max(self.pos);
        self.report(code, self.pos..end, message);
    }

    fn expected(&mut self, what: &str) {
        let message = if self.newline_comma() {
            format!("expected {what}, found newline")
        } else if self.tok.is_literal() {
            format!(
                "expected {what}, found '{}' {}",
                self.tok.text(),
                self.lit()
            )
        } else {
            format!("expected {what}, found '{}'", self.tok.text())
        };
        self.report_here(SYNTAX, message);
    }

    /// Takes a token that must be there. Its position, or none if something else was there,
    /// which is taken instead.
    fn expect(&mut self, token: Token) -> Pos {
        let pos = if self.tok == token {
            Pos::at(self.pos)
        } else {
            self.expected(&format!("'{}'", token.text()));
            Pos::NONE
        };
        self.next();
        pos
    }

    fn expect_closing(&mut self, token: Token, context: &str) -> Pos {
        if self.newline_comma() {
            let message = format!("missing ',' before newline in {context}");
            self.report_here(SYNTAX, message);
            self.next();
        }
        self.expect(token)
    }

    fn expect_comma(&mut self) {
        match self.tok {
            Token::Comma => self.next(),
            Token::RParen | Token::RBrace | Token::Eof => {}
            _ => {
                self.expected("','");
                self.synchronise();
            }
        }
    }

    /// Whether there is a comma to take; a missing one is reported and counts, so that the
    /// token in its place is skipped.
    fn at_comma(&mut self, context: &str, follow: &[Token]) -> bool {
        if self.tok == Token::Comma {
            return true;
        }
        if follow.contains(&self.tok) {
            return false;
        }
        self.report_here(SYNTAX, format!("missing ',' in {context}"));
        true
    }

    /// Skips to the next comma. To be sure of progress it stops at the same comma only so often.
    fn synchronise(&mut self) {
        loop {
            match self.tok {
                Token::Comma => {
                    let (at, times) = self.sync;
                    if self.pos == at && times < 10 {
                        self.sync.1 += 1;
                        return;
                    }
                    if self.pos > at {
                        self.sync = (self.pos, 0);
                        return;
                    }
                }
                Token::Eof => return,
                _ => {}
            }
            self.next();
        }
    }

    /// Runs a production one level deeper, unless that is too deep.
    fn deeper<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> T,
        bad: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.depth >= MAX_DEPTH {
            self.too_deep(MAX_DEPTH);
            return bad(self);
        }
        self.depth += 1;
        let sibling = std::mem::take(&mut self.height);
        let result = run(self);
        self.height = sibling.max(self.height + 1);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self, limit: usize) {
        let message = format!("expression exceeds maximum nesting depth of {limit}");
        self.report_here(TOO_DEEP, message);
        self.scanner.errors.gave_up = true;
        self.tok = Token::Eof;
    }

    // Nodes.

    fn push(&mut self, what: Expr, start: Pos, end: Pos) -> ExprId {
        let id = ExprId(u32::try_from(self.file.exprs.len()).expect("fewer nodes than bytes"));
        self.file.exprs.push(Node { what, start, end });
        id
    }

    /// Adds an expression that ends where the last token ended.
    fn push_to_here(&mut self, what: Expr, start: Pos) -> ExprId {
        let end = Pos::at(self.last_end);
        self.push(what, start, end)
    }

    fn start_of(&self, expr: ExprId) -> Pos {
        self.file.start(NodeRef::Expr(expr))
    }

    fn text_here(&self) -> Text {
        let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Text {
            start: at(self.pos),
            end: at(self.end),
        }
    }

    /// An identifier, or `_` in place of one that is missing.
    fn ident(&mut self) -> Name {
        self.open();
        let present = self.tok == Token::Ident;
        let text = if present { self.lit() } else { "_" };
        let symbol = self.symbols.intern(text);
        let (start, end) = if present {
            (Pos::at(self.pos), Pos::at(self.end))
        } else {
            (Pos::at(self.pos), Pos::at(self.pos))
        };
        self.expect(Token::Ident);
        let expr = self.push(Expr::Ident(symbol), start, end);
        self.close(NodeRef::Expr(expr));
        Name { symbol, expr }
    }

    /// A keyword used as an identifier.
    fn keyword_ident(&mut self) -> ExprId {
        self.open();
        let symbol = self.symbols.intern(self.lit());
        let (start, end) = (Pos::at(self.pos), Pos::at(self.end));
        self.next();
        let expr = self.push(Expr::Ident(symbol), start, end);
        self.close(NodeRef::Expr(expr));
        expr
    }

    /// Reports a declared name that is reserved.
    fn check_declared(&mut self, name: Name) {
        if self.symbols.name(name.symbol).starts_with("__") {
            let at = self.file.expr_span(name.expr).range();
            self.report(
                super::errors::RESERVED_NAME,
                at,
                "identifiers starting with '__' are reserved",
            );
        }
    }

    fn declared_ident(&mut self) -> Name {
        let name = self.ident();
        self.check_declared(name);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ast::{BinaryOp, Decl, Label};
    use base::Sources;

    /// What is wrong with a text, as `line:column message`.
    fn errors(text: &str) -> Vec<String> {
        let mut sources = Sources::new();
        let id = sources.add("in.cue", text);
        let text = Arc::clone(sources.get(id).text());
        let parsed = parse_file(id, &text, &mut Symbols::new());
        let found = parsed.errors.iter();
        found
            .map(|e| {
                let place = sources.place(e.labels[0].span);
                format!("{place} {}", e.message)
            })
            .collect()
    }

    fn parse(text: &str) -> (File, Symbols) {
        let mut symbols = Symbols::new();
        let parsed = parse_file(SourceId(0), &Arc::from(text), &mut symbols);
        assert!(parsed.errors.is_empty(), "{text}: {:?}", parsed.errors);
        (parsed.file, symbols)
    }

    #[test]
    fn everything_the_grammar_has() {
        for text in [
            "package p\nimport \"strings\"\nimport (\n\ta \"b/c\"\n\t\"d:e\"\n)\n",
            "a?: 1\nb!: 2\n_c: 3\n#D: 4\n_#e: 5\n\"f g\": 6\n\"\\(a)\": 7\n(a): 8\n[string]: _\n",
            "X=a: 1\nb: Y={c: Y}\n[Z=string]: Z\nlet L = 1\n...",
            "if a {b: 1}\nfor k, v in x if v let y = k {\"\\(k)\": y}\nlet: 1\nfor: 2\nif: 3\nin: 4",
            "a: [1, 2, ...int]\nb: [for x in a {x}, ...]\nc: [\n1\n2\n]",
            "a: 1Ki + 0xFF - 0b1 * 0o7 / 1_000.5e3\nb: >=1 & <2 | *3\nc: !d && e || f == _|_",
            "a: b.c[0][1:2].\"d\".if(1, 2,)\n",
            "a: \"\"\"\n\tx \\(y) z\n\t\"\"\"\nb: #\"\\(no) \\#(yes)\"#\nc: 'bytes'",
            "a: {\"x\": 1,\n\"y\"\n: 2\n, \"z\": 3}",
            "@attr(x)\na: 1 @b(c, d=\"e\") @f()",
            "true: 1\nnull: 2\na: b: c?: d: 1",
            "@experiment(aliasv2,try,explicitopen)\na~X: 1\nb~(K,V): 2\nc: #D...\nif x? {y: 1} else {z: 2}",
        ] {
            parse(text);
        }
    }

    #[test]
    fn several_errors_with_their_places() {
        assert_eq!(
            errors("a: ;\nb: )\nc: 1 2\nd: 1\n}"),
            [
                "1:4 expected operand, found ';'",
                "2:4 expected operand, found ')'",
                "3:6 missing ',' in struct literal",
                "5:1 expected 'EOF', found '}'",
            ]
        );
        assert_eq!(
            errors("__a: 1"),
            ["1:1 identifiers starting with '__' are reserved"]
        );
        assert_eq!(
            errors("a: __b: 1"),
            ["1:4 identifiers starting with '__' are reserved"]
        );
        assert_eq!(errors("a: \"b"), ["1:4 string literal not terminated"]);
        assert_eq!(errors("[a, b]: 1").len(), 1);
        assert_eq!(errors("package #x"), ["1:11 invalid package name #x"]);
    }

    #[test]
    fn labels_and_chains() {
        let (file, symbols) = parse("X=a: b: 1 & 2 & 3\n[N=string]: 2\n");
        let fields: Vec<_> = file.list(file.decls).map(|d| file.decl(d)).collect();
        let Decl::Field(a) = fields[0] else {
            panic!("{fields:?}")
        };
        let (Label::Name { symbol, .. }, Some(x)) = file.label(a.label) else {
            panic!("{:?}", file.label(a.label))
        };
        assert_eq!((symbols.name(symbol), symbols.name(x.symbol)), ("a", "X"));
        let Expr::Struct { decls, braces } = file.expr(a.value) else {
            panic!("{:?}", file.expr(a.value))
        };
        assert!(!braces);
        let Some(Decl::Field(b)) = file.list(decls).map(|d| file.decl(d)).next() else {
            panic!("no field")
        };
        assert_eq!(file.operands(b.value, BinaryOp::And).len(), 3);
        let Decl::Field(pattern) = fields[1] else {
            panic!("{fields:?}")
        };
        let (Label::Pattern { alias, .. }, None) = file.label(pattern.label) else {
            panic!("{:?}", file.label(pattern.label))
        };
        assert_eq!(alias.map(|n| symbols.name(n.symbol)), Some("N"));
    }

    #[test]
    fn nesting_is_bounded() {
        for part in [
            "[",
            "{a:",
            "(",
            "-",
            "a:",
            "f(",
            "\"\\(",
            "{",
            "if a {",
            "[for x in ",
        ] {
            let text = part.repeat(100_000);
            let found = errors(&text);
            let last = found.last().map_or("", String::as_str);
            assert!(last.contains("maximum nesting depth"), "{part}: {found:?}");
        }
        for part in ["a.", "a+", "a&"] {
            let found = errors(&format!("x: {}a", part.repeat(100_000)));
            assert!(
                found[0].contains("maximum nesting depth"),
                "{part}: {found:?}"
            );
        }
        parse(&format!("x: {}1", "1 | ".repeat(5_000)));
        parse(&format!("x: {}1{}", "[".repeat(900), "]".repeat(900)));
    }
}
