//! Scopes while compiling.

use base::{Span, Symbol};

use crate::eval::few::FewMap;
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

/// What the path of a message shows for a part that is being compiled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Field(ast::Label),
    /// `let[]`, `for[]`, `try[]`
    Clause(&'static str),
}

/// One frame of the stack.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub names: FewMap<Symbol, Name>,
    /// How many frames of the evaluator this is: one for braces, lists and clauses.
    pub up: u32,
    /// The field or clause whose value is being compiled, for messages.
    pub path: Option<Step>,
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
