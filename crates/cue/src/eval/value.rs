//! Values that are no vertices.

use base::Span;
use smallvec::SmallVec;

use super::ids::{EnvId, ErrId, ExprId, NodeId, ValId};
use super::ir::Op;
use super::kind::Kind;
use super::label::Label;
use crate::number::Num;

/// Any value: a vertex or an entry of the value table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Val {
    Node(NodeId),
    Lit(ValId),
}

/// What an error means to the evaluation. The order matters: combining keeps the smaller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Code {
    Eval,
    User,
    /// `_|_` written in the source.
    Literal,
    StructuralCycle,
    Incomplete,
    Cycle,
}

#[derive(Clone, Debug)]
pub struct Bottom {
    pub code: Code,
    pub errors: SmallVec<[ErrId; 1]>,
    /// Some field below has an error too.
    pub has_recursive: bool,
    /// The error is that of a child.
    pub child_error: bool,
    /// A closedness violation.
    pub close_check: bool,
    pub node: Option<NodeId>,
}

impl Bottom {
    pub fn is_incomplete(&self) -> bool {
        self.code >= Code::Incomplete
    }
}

#[derive(Clone, Debug)]
pub struct Disjunction {
    /// The defaults come first.
    pub values: Vec<Val>,
    pub defaults: usize,
    pub has_defaults: bool,
}

/// A builtin used as a constraint, with all arguments but the first.
#[derive(Clone, Debug)]
pub struct Validator {
    pub builtin: BuiltinId,
    pub args: Vec<Val>,
    pub call: Option<ExprId>,
    pub env: Option<EnvId>,
}

/// A builtin function: predeclared, or a member of a standard package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuiltinId(pub u32);

#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Num(Num),
    String(Box<str>),
    Bytes(Box<[u8]>),
    Top,
    Type(Kind),
    Bound { op: Op, value: Val },
    Validator(Box<Validator>),
    Conjunction(Box<[Val]>),
    Disjunction(Box<Disjunction>),
    Bottom(Box<Bottom>),
    Builtin(BuiltinId),
}

/// An entry of the value table.
#[derive(Clone, Debug)]
pub struct Slot {
    pub value: Value,
    pub span: Option<Span>,
}

/// A part of a message that is written only when the message is printed.
#[derive(Clone, Debug)]
pub enum Arg {
    Val(Val),
    Expr(ExprId),
    /// The source text of an expression, as formatted.
    Source(ExprId),
    Kind(Kind),
    Label(Label),
    Text(String),
    Int(i64),
    Str(&'static str),
    /// Another error, without its path.
    Error(ErrId),
}

/// One message with its path and places.
#[derive(Clone, Debug)]
pub struct ErrorData {
    /// The vertex whose path is shown.
    pub node: Option<NodeId>,
    /// A path that was taken through shared vertices.
    pub alt_path: Option<Box<[Label]>>,
    /// A path that is already text.
    pub text_path: Option<Box<str>>,
    pub pos: Option<Span>,
    pub others: Vec<Span>,
    /// With `%` where an argument goes.
    pub format: &'static str,
    pub args: SmallVec<[Arg; 2]>,
    /// What the message wraps: its own message follows after a colon.
    pub wraps: Option<ErrId>,
}
