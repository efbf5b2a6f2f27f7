//! The top of a file: attributes, the package clause, imports; then declarations.

use super::Parser;
use crate::syntax::ast::{Decl, DeclId, Import, ImportId, Node, NodeRef, Pos};
use crate::syntax::errors::{EXPERIMENT, SYNTAX};
use crate::syntax::literal;
use crate::syntax::token::Token;

impl Parser<'_> {
    pub(super) fn file(&mut self) {
        // Where the very first token cannot be read, this is likely no CUE at all.
        if !self.scanner.errors.is_empty() {
            return;
        }
        self.open_list();
        let mut decls = Vec::new();
        while self.tok == Token::Attribute {
            let text = self.lit();
            if let Some(names) = text.strip_prefix("@experiment(") {
                self.experiments(names.strip_suffix(')').unwrap_or(names));
            }
            decls.push(self.attribute_decl());
        }
        if self.tok == Token::Ident && self.lit() == "package" {
            decls.push(self.package());
        }
        while self.tok == Token::Attribute {
            decls.push(self.attribute_decl());
        }
        while self.tok == Token::Ident && self.lit() == "import" {
            decls.push(self.import_decl());
        }
        decls.extend(self.field_list());
        self.expect(Token::Eof);
        self.file.decls = self.list(&decls);
        self.close_list();
        self.close_file();
    }

    fn experiments(&mut self, names: &str) {
        for name in names.split(',').map(str::trim) {
            let known = &mut self.file.experiments;
            match name {
                "aliasv2" => known.alias_v2 = true,
                "explicitopen" => known.explicit_open = true,
                "try" => known.try_clause = true,
                "shortcircuit" => known.short_circuit = true,
                "" | "structcmp" | "testing" | "accepted_" => {}
                _ => {
                    let message = format!("unknown experiment \"{name}\"");
                    self.report_here(EXPERIMENT, message);
                }
            }
        }
    }

    fn package(&mut self) -> DeclId {
        self.open();
        let start = Pos::at(self.pos);
        self.next();
        let name = self.ident();
        let end = self.file.end(NodeRef::Expr(name.expr));
        let text = self.symbols.name(name.symbol);
        if is_definition(text) {
            let message = format!("invalid package name {text}");
            self.report_here(SYNTAX, message);
        }
        let decl = self.push_decl(Decl::Package { name }, start, end);
        self.expect_comma();
        self.close(NodeRef::Decl(decl));
        decl
    }

    fn import_decl(&mut self) -> DeclId {
        self.open();
        let start = Pos::at(self.pos);
        self.ident();
        let mut found = Vec::new();
        let mut open = None;
        let end;
        if self.tok == Token::LParen {
            open = Some(Pos::at(self.pos));
            self.next();
            self.open_list();
            while !matches!(self.tok, Token::RParen | Token::Eof) {
                found.push(self.import());
            }
            self.close_list();
            self.expect(Token::RParen);
            end = Pos::at(self.last_end);
            self.expect_comma();
        } else {
            let import = self.import();
            end = self.file.end(NodeRef::Import(import));
            found.push(import);
        }
        let imports = self.list(&found);
        let decl = self.push_decl(Decl::Import { imports, open }, start, end);
        self.close(NodeRef::Decl(decl));
        decl
    }

    fn import(&mut self) -> ImportId {
        self.open();
        let start = Pos::at(self.pos);
        let mut name = None;
        if self.tok == Token::Ident {
            let ident = self.declared_ident();
            if is_definition(self.symbols.name(ident.symbol)) {
                let message = "cannot import package as definition identifier";
                self.report_here(SYNTAX, message);
            }
            name = Some(ident);
        }
        let (at, end, text) = (self.pos, self.end, self.lit());
        let string = self.tok == Token::String;
        let piece = self.text_here();
        self.expect(Token::String);
        let path = self.push(
            crate::syntax::ast::Expr::Literal {
                kind: crate::syntax::ast::LiteralKind::String,
                text: piece,
            },
            Pos::at(at),
            Pos::at(end),
        );
        if string && !is_import_path(text) {
            self.report(SYNTAX, at..end, format!("invalid import path: {text}"));
        }
        self.expect_comma();
        let index = u32::try_from(self.file.imports.len()).expect("fewer nodes than bytes");
        self.file.imports.push(Node {
            what: Import { name, path },
            start,
            end: Pos::at(end),
        });
        self.close(NodeRef::Import(ImportId(index)));
        ImportId(index)
    }
}

fn is_definition(name: &str) -> bool {
    name.starts_with('#') || name.starts_with("_#")
}

/// Whether a string literal can be an import path: printable, without blanks and marks that mean
/// something elsewhere. `path:name` names the package.
fn is_import_path(text: &str) -> bool {
    let Ok(path) = literal::unquote_string(text) else {
        return false;
    };
    let path = path
        .rsplit_once(':')
        .map_or(path.as_str(), |(path, _)| path);
    let fits = |c: char| {
        !c.is_control() && !c.is_whitespace() && !"!\"#$%&'()*,:;<=>?[\\]^{|}`\u{fffd}".contains(c)
    };
    !path.is_empty() && path.chars().all(fits)
}
