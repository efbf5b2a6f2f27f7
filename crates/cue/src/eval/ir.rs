//! Compiled programs: expressions in which every name is resolved.
//!
//! A reference is a number of frames to go up and a label to look up in the *vertex* of that frame,
//! not in the literal it was found in. Expressions are immutable and shared; their identity (the id)
//! matters to cycle detection, to the duplicate check of conjuncts and to the order of fields.

use base::{SourceId, Span};

use super::ids::{Arena, DeclId, ExprId, ValId};
use super::kind::Kind;
use super::label::Label;
use super::node::ArcType;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    And,
    Or,
    Not,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Match,
    NotMatch,
    BoolAnd,
    BoolOr,
    Add,
    Sub,
    Mul,
    Quo,
}

impl Op {
    pub fn text(self) -> &'static str {
        match self {
            Op::And => "&",
            Op::Or => "|",
            Op::Not => "!",
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
            Op::Match => "=~",
            Op::NotMatch => "!~",
            Op::BoolAnd => "&&",
            Op::BoolOr => "||",
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Quo => "/",
        }
    }
}

/// A disjunct and whether it carries the default mark.
#[derive(Clone, Copy, Debug)]
pub struct Disjunct {
    pub expr: ExprId,
    pub default: bool,
}

#[derive(Clone, Debug)]
pub enum Clause {
    For {
        key: Label,
        value: Label,
        /// The key is written, but as `_`.
        blank: bool,
        source: ExprId,
        span: Span,
    },
    If {
        condition: ExprId,
        span: Span,
    },
    Let {
        label: Label,
        expr: ExprId,
        span: Span,
    },
    Try {
        label: Label,
        expr: Option<ExprId>,
        span: Span,
    },
}

#[derive(Clone, Debug)]
pub struct Comprehension {
    pub clauses: Vec<Clause>,
    /// Always a struct literal.
    pub value: ExprId,
    /// The `else` of a comprehension that yields nothing.
    pub fallback: Option<ExprId>,
}

/// The declarations of a literal, in the table of all of them: [`Ir::members`].
#[derive(Clone, Copy, Debug)]
pub struct Decls {
    start: u32,
    count: u32,
}

impl Decls {
    pub fn len(self) -> usize {
        self.count as usize
    }

    pub fn is_empty(self) -> bool {
        self.count == 0
    }
}

#[derive(Clone, Copy, Debug)]
pub struct StructLit {
    pub decls: Decls,
    /// The literal is a whole file.
    pub file: bool,
    pub has_embed: bool,
    /// Written under `@experiment(explicitopen)`.
    pub explicit_open: bool,
}

#[derive(Clone, Debug)]
pub enum Expr {
    Value(ValId),
    Struct(StructLit),
    /// Elements may be comprehensions; the last may be an ellipsis.
    List(Box<[ExprId]>),
    /// `...T` at the end of a list.
    Ellipsis(Option<ExprId>),
    Field {
        up: u32,
        label: Label,
        optional: bool,
    },
    /// The vertex of a frame itself (`a: X={…}`).
    ValueRef {
        up: u32,
        label: Label,
    },
    /// The label a pattern constraint matched (`[X=string]: …`).
    LabelRef {
        up: u32,
        name: Label,
    },
    /// A field whose label is computed, reached through its alias.
    Dynamic {
        up: u32,
        label: ExprId,
    },
    Import {
        path: Label,
        name: Label,
    },
    Let {
        up: u32,
        label: Label,
        x: Option<ExprId>,
    },
    Select {
        x: ExprId,
        label: Label,
        at: Span,
        optional: bool,
    },
    Index {
        x: ExprId,
        index: ExprId,
        optional: bool,
    },
    Slice {
        x: ExprId,
        lo: Option<ExprId>,
        hi: Option<ExprId>,
    },
    /// Strings at even places, sources at odd ones.
    Interpolation {
        kind: Kind,
        parts: Box<[ExprId]>,
    },
    Unary {
        op: Op,
        x: ExprId,
    },
    Binary {
        op: Op,
        x: ExprId,
        y: ExprId,
    },
    Bound {
        op: Op,
        x: ExprId,
    },
    Call {
        fun: ExprId,
        args: Box<[ExprId]>,
    },
    Disjunction {
        values: Box<[Disjunct]>,
        has_defaults: bool,
    },
    Comprehension(Box<Comprehension>),
    /// `X...` under `@experiment(explicitopen)`.
    Open(ExprId),
}

#[derive(Clone, Debug)]
pub enum DeclKind {
    Field {
        label: Label,
        arc: ArcType,
        value: ExprId,
    },
    Let {
        label: Label,
        multi: bool,
        value: ExprId,
    },
    Dynamic {
        key: ExprId,
        arc: ArcType,
        value: ExprId,
        /// The label has an alias, so the frame must know it.
        aliased: bool,
    },
    Pattern {
        filter: ExprId,
        label: Label,
        value: ExprId,
    },
    Ellipsis(Option<ExprId>),
    Embed(ExprId),
}

#[derive(Clone, Debug)]
pub struct Decl {
    pub kind: DeclKind,
    pub span: Span,
}

/// A span, or none, in the size of a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(Span);

const NO_SOURCE: SourceId = SourceId(u32::MAX);

impl From<Option<Span>> for Place {
    fn from(span: Option<Span>) -> Place {
        Place(span.unwrap_or(Span {
            source: NO_SOURCE,
            start: 0,
            end: 0,
        }))
    }
}

impl Place {
    pub fn span(self) -> Option<Span> {
        (self.0.source != NO_SOURCE).then_some(self.0)
    }
}

/// The expressions of all packages of one run.
#[derive(Debug, Default)]
pub struct Ir {
    pub exprs: Arena<ExprId, Expr>,
    spans: Arena<ExprId, Place>,
    pub decls: Arena<DeclId, Decl>,
    members: Vec<DeclId>,
}

impl Ir {
    pub fn push(&mut self, expr: Expr, span: Option<Span>) -> ExprId {
        self.spans.push(Place::from(span));
        self.exprs.push(expr)
    }

    pub fn decl(&mut self, kind: DeclKind, span: Span) -> DeclId {
        self.decls.push(Decl { kind, span })
    }

    /// Makes some declarations those of one literal.
    pub fn literal(&mut self, decls: &[DeclId]) -> Decls {
        let index = |n: usize| u32::try_from(n).expect("fewer than 2^32 declarations in one run");
        let start = index(self.members.len());
        self.members.extend_from_slice(decls);
        Decls {
            start,
            count: index(decls.len()),
        }
    }

    /// The declarations of a literal.
    pub fn members(&self, decls: Decls) -> &[DeclId] {
        let start = decls.start as usize;
        self.members.get(start..start + decls.len()).unwrap_or(&[])
    }

    pub fn span(&self, id: ExprId) -> Option<Span> {
        self.spans[id].span()
    }

    /// The expression a declaration gives its field.
    pub fn decl_value(&self, id: DeclId) -> Option<ExprId> {
        match self.decls[id].kind {
            DeclKind::Field { value, .. }
            | DeclKind::Let { value, .. }
            | DeclKind::Dynamic { value, .. }
            | DeclKind::Pattern { value, .. }
            | DeclKind::Embed(value) => Some(value),
            DeclKind::Ellipsis(value) => value,
        }
    }

    /// Whether the expression is resolved to a vertex rather than computed.
    pub fn is_resolver(&self, id: ExprId) -> bool {
        matches!(
            self.exprs[id],
            Expr::Field { .. }
                | Expr::ValueRef { .. }
                | Expr::Dynamic { .. }
                | Expr::Import { .. }
                | Expr::Let { .. }
                | Expr::Select { .. }
                | Expr::Index { .. }
        )
    }
}
