//! Adding built values to a file that was parsed.

use std::sync::Arc;

use base::{Span, Symbols};

use super::Builder;
use crate::syntax::ast::{
    AttributeId, BinaryOp, Decl, DeclId, Expr, ExprId, Field, File, NodeRef, Pos,
};

impl File {
    /// The fields and declarations that have an attribute of this name, in order.
    pub fn attribute_places(&self, name: &str) -> Vec<(DeclId, AttributeId)> {
        let mut places = Vec::new();
        for index in 0..self.declarations.len() {
            let id = DeclId(u32::try_from(index).unwrap_or(u32::MAX));
            let attributes: Vec<AttributeId> = match self.decl(id) {
                Decl::Field(field) => self.list(field.attributes).collect(),
                Decl::Attribute(attribute) => vec![attribute],
                _ => Vec::new(),
            };
            let named = attributes
                .into_iter()
                .filter(|&attribute| self.attribute_parts(attribute).0 == name);
            places.extend(named.map(|attribute| (id, attribute)));
        }
        places.sort_by_key(|&(_, attribute)| self.span_of(NodeRef::Attribute(attribute)).start);
        places
    }
}

impl File {
    /// Where something other than a value stands first: a name that is no constant, a call, an operation.
    pub fn first_reference(&self, symbols: &Symbols) -> Option<Span> {
        let labels: Vec<ExprId> = self
            .declarations
            .iter()
            .filter_map(|node| match node.what {
                Decl::Field(field) => Some(field.label),
                Decl::Package { name } => Some(name.expr),
                _ => None,
            })
            .collect();
        let ids = (0..self.exprs.len()).map(|i| ExprId(u32::try_from(i).unwrap_or(u32::MAX)));
        let mut found: Vec<Span> = ids
            .filter(|id| !labels.contains(id))
            .filter(|&id| match self.expr(id) {
                Expr::Ident(symbol) => symbols.name(symbol) != "_",
                Expr::Selector { .. } | Expr::Call { .. } | Expr::Comprehension { .. } => true,
                _ => false,
            })
            .map(|id| self.expr_span(id))
            .collect();
        found.sort_by_key(|span| span.start);
        found.first().copied()
    }
}

impl Builder {
    /// Goes on with a file. What is built is put behind what it has.
    pub fn on(file: File) -> Builder {
        let text = file.text.to_string();
        Builder { file, text }
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// How many expressions there are.
    pub fn mark(&self) -> usize {
        self.file.exprs.len()
    }

    /// Gives the expressions built since a mark a place in the source.
    pub fn place_at(&mut self, mark: usize, span: Span) {
        for node in self.file.exprs.iter_mut().skip(mark) {
            node.start = Pos::at(span.start as usize);
            node.end = Pos::at(span.end as usize);
        }
    }

    /// Unifies a field with a value; a declaration that is no field becomes the value.
    pub fn unify_at(&mut self, id: DeclId, value: ExprId) {
        let what = match self.file.decl(id) {
            Decl::Field(field) => {
                let left = field.value;
                let (start, end) = (
                    self.file.start(NodeRef::Expr(left)),
                    self.file.end(NodeRef::Expr(left)),
                );
                let both = self.push(Expr::Binary {
                    op: BinaryOp::And,
                    left,
                    right: value,
                    at: start,
                });
                if let Some(node) = self.file.exprs.get_mut(both.index()) {
                    (node.start, node.end) = (start, end);
                }
                Decl::Field(Field {
                    value: both,
                    ..field
                })
            }
            _ => Decl::Embed(value),
        };
        if let Some(node) = self.file.declarations.get_mut(id.index()) {
            node.what = what;
        }
    }

    /// The file with its own declarations.
    pub fn into_file(mut self) -> File {
        self.file.text = Arc::from(self.text);
        self.file
    }
}
