//! Values that come from outside.

use std::sync::Arc;

use super::{BinaryOp, Decl, DeclId, Expr, ExprId, File, LiteralKind, Node, NodeRef, Pos, Text};

impl File {
    /// Makes the value of a field `value & literal`. The literal's text is put behind the file's
    /// own, so that it has a place, past the end, and all other places stay as they are.
    pub fn unify_field(&mut self, id: DeclId, kind: LiteralKind, literal: &str) {
        let Some(Decl::Field(field)) = self.declarations.get(id.index()).map(|n| n.what) else {
            return;
        };
        let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let start = self.text.len() + "& ".len();
        let end = start + literal.len();
        self.text = Arc::from(format!("{}& {literal}", self.text));
        let text = Text {
            start: at(start),
            end: at(end),
        };
        let place = |what, start, end| Node { what, start, end };
        self.exprs.push(place(
            Expr::Literal { kind, text },
            Pos::at(start),
            Pos::at(end),
        ));
        let right = ExprId(at(self.exprs.len() - 1));
        let left = field.value;
        let (from, to) = (
            self.start(NodeRef::Expr(left)),
            self.end(NodeRef::Expr(left)),
        );
        let op = BinaryOp::And;
        self.exprs.push(place(
            Expr::Binary {
                op,
                left,
                right,
                at: from,
            },
            from,
            to,
        ));
        let value = ExprId(at(self.exprs.len() - 1));
        if let Some(node) = self.declarations.get_mut(id.index()) {
            node.what = Decl::Field(super::Field { value, ..field });
        }
    }
}
