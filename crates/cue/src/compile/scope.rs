//! Scopes while compiling.

use base::{Span, Symbol};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::eval::ids::ExprId;
use crate::eval::label::Label;
use crate::syntax::ast;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Name {
    Field(Label),
    /// `X=a: …`; for a computed label, the expression of it once it is compiled.
    FieldAlias {
        label: Option<Label>,
        key: Option<ExprId>,
        pattern: bool,
        span: Span,
        used: bool,
    },
    Let {
        label: Label,
        value: ast::ExprId,
        state: LetState,
        span: Span,
        used: bool,
    },
    Import {
        path: Label,
        span: Span,
        used: bool,
        text: String,
    },
    /// `[X=string]: …`
    PatternLabel {
        name: Label,
    },
    /// `a: X={…}`
    ValueAlias {
        span: Span,
        used: bool,
    },
    /// A variable of a `for`, `let` or `try` clause.
    Variable(Label),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum LetState {
    New,
    Compiling,
    Done { expr: ExprId, multi: bool },
}

/// One frame of the stack.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub names: HashMap<Symbol, Name, FxBuildHasher>,
    /// How many frames of the evaluator this is: one for braces, lists and clauses.
    pub up: u32,
    /// The label of the field whose value is being compiled, for messages.
    pub path: Option<String>,
    /// References to it make a `let` differ by iteration.
    pub variable: bool,
}

impl Scope {
    pub fn frame(up: u32) -> Scope {
        Scope {
            up,
            ..Scope::default()
        }
    }
}
