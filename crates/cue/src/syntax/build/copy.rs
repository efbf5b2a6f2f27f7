//! Taking over parts of another file. Places are dropped, and comments with them.

use super::Builder;
use crate::syntax::ast::{
    AttributeId, Clause, ClauseId, Decl, DeclId, Expr, ExprId, Field, FieldAlias, FieldAliasId,
    File, List, Name, Pos,
};

impl Builder {
    /// Copies an expression of another file that shares the symbol table.
    pub fn copy(&mut self, from: &File, id: ExprId) -> ExprId {
        let what = match from.expr(id) {
            what @ (Expr::Bad | Expr::Bottom | Expr::Ident(_)) => what,
            Expr::Literal { kind, text } => Expr::Literal {
                kind,
                text: self.text(from.str(text)),
            },
            Expr::Interpolation { parts } => Expr::Interpolation {
                parts: self.copy_list(from, parts),
            },
            Expr::Struct { decls, braces } => Expr::Struct {
                decls: self.copy_decls(from, decls),
                braces,
            },
            Expr::List { elements } => Expr::List {
                elements: self.copy_list(from, elements),
            },
            Expr::Ellipsis { of } => Expr::Ellipsis {
                of: of.map(|of| self.copy(from, of)),
            },
            Expr::Paren { expr } => Expr::Paren {
                expr: self.copy(from, expr),
            },
            Expr::Selector { of, label } => Expr::Selector {
                of: self.copy(from, of),
                label: self.copy(from, label),
            },
            Expr::Index { of, index, .. } => Expr::Index {
                of: self.copy(from, of),
                index: index.map(|index| self.copy(from, index)),
                open: Pos::NONE,
            },
            Expr::Slice { of, low, high, .. } => Expr::Slice {
                of: self.copy(from, of),
                low: low.map(|low| self.copy(from, low)),
                high: high.map(|high| self.copy(from, high)),
                open: Pos::NONE,
            },
            Expr::Call {
                function,
                arguments,
                ..
            } => Expr::Call {
                function: self.copy(from, function),
                arguments: self.copy_list(from, arguments),
                open: Pos::NONE,
            },
            Expr::Unary { op, expr } => Expr::Unary {
                op,
                expr: self.copy(from, expr),
            },
            Expr::Binary { .. } => return self.copy_chain(from, id),
            Expr::Postfix { op, expr } => Expr::Postfix {
                op,
                expr: self.copy(from, expr),
            },
            Expr::Alias { name, expr, .. } => Expr::Alias {
                name: self.copy_name(name),
                expr: self.copy(from, expr),
                equal: Pos::NONE,
            },
            Expr::Comprehension {
                clauses,
                value,
                fallback,
            } => {
                let found: Vec<ClauseId> = from
                    .list(clauses)
                    .map(|clause| self.copy_clause(from, clause))
                    .collect();
                Expr::Comprehension {
                    clauses: self.list(&found),
                    value: self.copy(from, value),
                    fallback: fallback.map(|clause| self.copy_clause(from, clause)),
                }
            }
        };
        self.push(what)
    }

    /// A chain of operators leans to the left and may be long.
    fn copy_chain(&mut self, from: &File, id: ExprId) -> ExprId {
        let mut links = Vec::new();
        let mut rest = id;
        while let Expr::Binary {
            op, left, right, ..
        } = from.expr(rest)
        {
            links.push((op, right));
            rest = left;
        }
        let mut left = self.copy(from, rest);
        for (op, right) in links.into_iter().rev() {
            let right = self.copy(from, right);
            left = self.binary(op, left, right);
        }
        left
    }

    fn copy_name(&mut self, name: Name) -> Name {
        self.name(name.symbol)
    }

    fn copy_list(&mut self, from: &File, list: List<ExprId>) -> List<ExprId> {
        let copies: Vec<ExprId> = from.list(list).map(|id| self.copy(from, id)).collect();
        self.list(&copies)
    }

    fn copy_clause(&mut self, from: &File, id: ClauseId) -> ClauseId {
        let what = match from.clause(id) {
            Clause::For {
                key, value, source, ..
            } => Clause::For {
                key: key.map(|key| self.copy_name(key)),
                value: self.copy_name(value),
                source: self.copy(from, source),
                comma: Pos::NONE,
                in_at: Pos::NONE,
            },
            Clause::If { condition } => Clause::If {
                condition: self.copy(from, condition),
            },
            Clause::Let { name, value, .. } => Clause::Let {
                name: self.copy_name(name),
                value: self.copy(from, value),
                equal: Pos::NONE,
            },
            Clause::Try { binding, .. } => Clause::Try {
                binding: binding.map(|(name, value)| {
                    let name = self.copy_name(name);
                    (name, self.copy(from, value))
                }),
                equal: Pos::NONE,
            },
            Clause::Else { body } => Clause::Else {
                body: self.copy(from, body),
            },
        };
        self.clause(what)
    }

    fn copy_decls(&mut self, from: &File, list: List<DeclId>) -> List<DeclId> {
        let decls = from.list(list);
        let copies: Vec<DeclId> = decls.map(|id| self.copy_decl(from, id)).collect();
        self.list(&copies)
    }

    /// Copies a declaration of another file that shares the symbol table.
    pub fn copy_decl(&mut self, from: &File, id: DeclId) -> DeclId {
        let what = match from.decl(id) {
            what @ (Decl::Bad | Decl::Ellipsis) => what,
            Decl::Field(field) => {
                let attributes: Vec<AttributeId> = from
                    .list(field.attributes)
                    .map(|id| self.attribute(from.attribute(id)))
                    .collect();
                Decl::Field(Field {
                    label: self.copy(from, field.label),
                    alias: field.alias.map(|id| self.copy_alias(from.field_alias(id))),
                    constraint: field.constraint,
                    colon: Pos::NONE,
                    value: self.copy(from, field.value),
                    attributes: self.list(&attributes),
                })
            }
            Decl::Embed(expr) => Decl::Embed(self.copy(from, expr)),
            Decl::Let { name, value, .. } => Decl::Let {
                name: self.copy_name(name),
                value: self.copy(from, value),
                equal: Pos::NONE,
            },
            Decl::Attribute(id) => Decl::Attribute(self.attribute(from.attribute(id))),
            Decl::Package { name } => Decl::Package {
                name: self.copy_name(name),
            },
            Decl::Import { imports, open } => {
                let mut copies = Vec::new();
                for id in from.list(imports) {
                    let import = from.import(id);
                    let name = import.name.map(|name| self.copy_name(name));
                    let path = self.copy(from, import.path);
                    let node = Self::node(crate::syntax::ast::Import { name, path });
                    self.file.imports.push(node);
                    let index = Self::index(self.file.imports.len() - 1);
                    copies.push(crate::syntax::ast::ImportId(index));
                }
                Decl::Import {
                    imports: self.list(&copies),
                    open: open.map(|_| Pos::NONE),
                }
            }
        };
        self.push_decl(what)
    }

    fn copy_alias(&mut self, alias: FieldAlias) -> FieldAliasId {
        let alias = FieldAlias {
            label: alias.label.map(|name| self.copy_name(name)),
            field: alias.field.map(|name| self.copy_name(name)),
            parens: alias.parens,
        };
        self.file.field_aliases.push(alias);
        FieldAliasId(Self::index(self.file.field_aliases.len() - 1))
    }
}
