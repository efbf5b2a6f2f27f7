//! Labels that can do without quotes.
//!
//! Unquoting a label makes it a name that can be referred to. It is only done where no reference
//! inside the same struct would be caught by it.

use base::Symbols;
use rustc_hash::FxHashMap;

use crate::syntax::ast::{Clause, Decl, DeclId, Expr, ExprId, File, List, LiteralKind};
use crate::syntax::literal;

/// Which labels are printed as which names.
#[derive(Default)]
pub(super) struct Simpler {
    names: FxHashMap<ExprId, String>,
}

impl Simpler {
    pub fn of(file: &File, symbols: &Symbols) -> Simpler {
        let mut walk = Walk {
            file,
            symbols,
            scopes: Vec::new(),
            found: Simpler::default(),
        };
        walk.decls(file.decls);
        walk.found
    }

    pub fn name(&self, label: ExprId) -> Option<&str> {
        self.names.get(&label).map(String::as_str)
    }
}

struct Walk<'a> {
    file: &'a File,
    symbols: &'a Symbols,
    /// For each open struct, its labels and whether they can be names still.
    scopes: Vec<FxHashMap<String, bool>>,
    found: Simpler,
}

impl Walk<'_> {
    fn label_text(&self, label: ExprId) -> Option<String> {
        match self.file.expr(label) {
            Expr::Literal {
                kind: LiteralKind::String,
                text,
            } => literal::unquote_string(self.file.str(text)).ok(),
            _ => None,
        }
    }

    fn decls(&mut self, list: List<DeclId>) {
        let decls: Vec<Decl> = self.file.list(list).map(|id| self.file.decl(id)).collect();
        let mut scope = FxHashMap::default();
        for decl in &decls {
            let Decl::Field(field) = decl else {
                continue;
            };
            let label = match self.file.expr(field.label) {
                Expr::Alias { expr, .. } => expr,
                _ => field.label,
            };
            if let Expr::Ident(symbol) = self.file.expr(label) {
                scope.insert(self.symbols.name(symbol).to_owned(), true);
            } else if let Some(text) = self.label_text(label)
                && !literal::label_needs_quotes(&text)
            {
                scope.insert(text, true);
            }
        }
        self.scopes.push(scope);
        for decl in &decls {
            self.decl(decl);
        }
        let scope = self.scopes.pop().unwrap_or_default();
        for decl in &decls {
            if let Decl::Field(field) = decl
                && let Some(text) = self.label_text(field.label)
                && scope.get(&text) == Some(&true)
            {
                self.found.names.insert(field.label, text);
            }
        }
    }

    fn decl(&mut self, decl: &Decl) {
        match *decl {
            Decl::Field(field) => self.expr(field.value),
            Decl::Embed(expr) => self.expr(expr),
            Decl::Let { name, value, .. } => {
                self.expr(name.expr);
                self.expr(value);
            }
            Decl::Bad
            | Decl::Ellipsis
            | Decl::Attribute(_)
            | Decl::Package { .. }
            | Decl::Import { .. } => {}
        }
    }

    fn expr(&mut self, id: ExprId) {
        let mut id = id;
        loop {
            match self.file.expr(id) {
                Expr::Ident(symbol) => {
                    let name = self.symbols.name(symbol);
                    let mut scopes = self.scopes.iter_mut().rev();
                    if let Some(free) = scopes.find_map(|scope| scope.get_mut(name)) {
                        *free = false;
                    }
                    return;
                }
                Expr::Struct { decls, .. } => return self.decls(decls),
                Expr::Interpolation { parts: list } | Expr::List { elements: list } => {
                    return self.exprs(list);
                }
                Expr::Call {
                    function,
                    arguments,
                    ..
                } => {
                    self.exprs(arguments);
                    id = function;
                }
                Expr::Binary { left, right, .. } => {
                    self.expr(right);
                    id = left;
                }
                Expr::Index { of, index, .. } => {
                    index.into_iter().for_each(|index| self.expr(index));
                    id = of;
                }
                Expr::Slice { of, low, high, .. } => {
                    low.into_iter().chain(high).for_each(|side| self.expr(side));
                    id = of;
                }
                Expr::Selector { of: inner, .. }
                | Expr::Paren { expr: inner }
                | Expr::Unary { expr: inner, .. }
                | Expr::Postfix { expr: inner, .. }
                | Expr::Alias { expr: inner, .. }
                | Expr::Ellipsis { of: Some(inner) } => id = inner,
                Expr::Comprehension {
                    clauses,
                    value,
                    fallback,
                } => {
                    for clause in self.file.list(clauses).chain(fallback) {
                        self.clause(self.file.clause(clause));
                    }
                    id = value;
                }
                Expr::Bad | Expr::Bottom | Expr::Literal { .. } | Expr::Ellipsis { of: None } => {
                    return;
                }
            }
        }
    }

    fn exprs(&mut self, list: List<ExprId>) {
        for id in self.file.list(list) {
            self.expr(id);
        }
    }

    fn clause(&mut self, clause: Clause) {
        match clause {
            Clause::For {
                key, value, source, ..
            } => {
                key.into_iter().for_each(|key| self.expr(key.expr));
                self.expr(value.expr);
                self.expr(source);
            }
            Clause::If { condition } => self.expr(condition),
            Clause::Let { name, value, .. } => {
                self.expr(name.expr);
                self.expr(value);
            }
            Clause::Try { binding, .. } => {
                if let Some((name, value)) = binding {
                    self.expr(name.expr);
                    self.expr(value);
                }
            }
            Clause::Else { body } => self.expr(body),
        }
    }
}
