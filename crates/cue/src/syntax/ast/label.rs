//! What kind of label an expression before `:` is.

use base::Symbol;

use super::{Expr, ExprId, File, LiteralKind, Name};

/// The label of a field, without its alias (`X=a:`), which [`File::label`] returns beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// An identifier or a keyword. It can be referred to by name, and its first characters tell
    /// whether it is hidden (`_`) or a definition (`#`, `_#`).
    Name { symbol: Symbol, expr: ExprId },
    /// A quoted label, which is a regular field and cannot be referred to by name. `null`,
    /// `true` and `false` are labels of this kind too, with their own literal kind.
    String { expr: ExprId },
    /// `"\(x)"`
    Interpolated { expr: ExprId },
    /// `(expr)`
    Dynamic { expr: ExprId },
    /// `[expr]` or `[X=expr]`; the expression is without brackets and alias.
    Pattern { alias: Option<Name>, expr: ExprId },
    /// Not a label; an error was reported.
    Bad,
}

impl File {
    /// What a field's label is, and the name that `X=` gives to the field.
    pub fn label(&self, label: ExprId) -> (Label, Option<Name>) {
        match self.expr(label) {
            Expr::Alias { name, expr, .. } => (self.plain_label(expr), Some(name)),
            _ => (self.plain_label(label), None),
        }
    }

    fn plain_label(&self, expr: ExprId) -> Label {
        match self.expr(expr) {
            Expr::Ident(symbol) => Label::Name { symbol, expr },
            Expr::Literal {
                kind:
                    LiteralKind::String | LiteralKind::Null | LiteralKind::True | LiteralKind::False,
                ..
            } => Label::String { expr },
            Expr::Interpolation { .. } => Label::Interpolated { expr },
            Expr::Paren { expr } => Label::Dynamic { expr },
            Expr::List { elements } if elements.len() == 1 => {
                let Some(only) = self.list(elements).next() else {
                    return Label::Bad;
                };
                match self.expr(only) {
                    Expr::Alias { name, expr, .. } => Label::Pattern {
                        alias: Some(name),
                        expr,
                    },
                    _ => Label::Pattern {
                        alias: None,
                        expr: only,
                    },
                }
            }
            _ => Label::Bad,
        }
    }
}
