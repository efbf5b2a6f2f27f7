//! Whether the fields of a schema can be checked one by one: nothing in it refers to anything else in it.

use base::Symbols;
use cue::syntax::ast::{Decl, Expr, ExprId, File, Label};

/// Names that mean the same everywhere.
const TYPES: [&str; 9] = [
    "_", "string", "bytes", "bool", "int", "float", "number", "uint", "null",
];

/// Whether the schema of that name in a file is plain. A file without it is.
pub(super) fn is_plain(file: &File, name: &str, symbols: &Symbols) -> bool {
    file.list(file.decls).all(|decl| match file.decl(decl) {
        Decl::Field(field) => match file.label(field.label).0 {
            Label::Name { symbol, .. } if symbols.name(symbol) == name => {
                expr(file, field.value, symbols)
            }
            _ => true,
        },
        Decl::Embed(_) | Decl::Bad => false,
        _ => true,
    })
}

/// Depth is bounded by the parser, but for chains of operators, which are walked in a loop.
fn expr(file: &File, id: ExprId, symbols: &Symbols) -> bool {
    let mut at = id;
    loop {
        return match file.expr(at) {
            Expr::Literal { .. } => true,
            Expr::Ident(symbol) => TYPES.contains(&symbols.name(symbol)),
            Expr::Struct { decls, .. } => file.list(decls).all(|decl| match file.decl(decl) {
                Decl::Field(field) => {
                    let plain = matches!(
                        file.label(field.label),
                        (Label::Name { .. } | Label::String { .. }, None)
                    );
                    plain && field.alias.is_none() && expr(file, field.value, symbols)
                }
                Decl::Ellipsis => true,
                _ => false,
            }),
            Expr::List { elements } => file
                .list(elements)
                .all(|element| expr(file, element, symbols)),
            Expr::Ellipsis { of } => of.is_none_or(|of| expr(file, of, symbols)),
            Expr::Paren { expr } | Expr::Unary { expr, .. } => {
                at = expr;
                continue;
            }
            Expr::Binary { left, right, .. } => {
                if !expr(file, right, symbols) {
                    return false;
                }
                at = left;
                continue;
            }
            _ => false,
        };
    }
}
