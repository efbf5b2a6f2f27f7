//! The syntax tree of one file: nodes in arenas, indices between them.
//!
//! A [`File`] owns everything: expressions ([`Expr`]), declarations ([`Decl`]), clauses of
//! comprehensions ([`Clause`]), attributes and comments. Nodes are small `Copy` enums that refer
//! to each other by index; `file.expr(id)`, `file.decl(id)`, `file.list(elements)` follow them.
//! Names are interned ([`Symbol`]); literals keep their source text, which
//! [`super::literal`] decodes. Every node has a [`Span`].
//!
//! ```text
//! File ─ decls ─ Field { label, constraint, value, attributes, … }
//!              ├ Embed(expr)          an expression, or a Comprehension
//!              ├ Let { name, value }
//!              ├ Ellipsis             `...`
//!              ├ Attribute            `@name(…)` as a declaration
//!              ├ Package, Import      only at the top of a file, in source order
//!              └ Bad                  what could not be read; an error was reported
//! ```
//!
//! `a: b: c: 1` is three fields: the value of `a` is an [`Expr::Struct`] with `braces: false`.
//! A label is an expression too; [`File::label`] tells what kind of label it is.
//!
//! **Depth.** Brackets, unary operators and `a: b:` chains nest at most
//! [`super::MAX_DEPTH`] deep, and with selectors, indices and calls twice that, so recursion over
//! the tree is bounded. Chains of binary operators lean to the left and may be longer, up to
//! [`super::MAX_CHAIN`]: walk the left side with a loop, or use [`File::operands`].
//!
//! A tree may also be made by a program ([`super::build`]); its nodes have no place in a text
//! but a [`Pos`] that says how much white space goes before them.

use std::sync::Arc;

use base::{SourceId, Span, Symbol};

use super::comments::Comments;

mod inject;
mod label;
mod list;
mod pos;

pub use label::Label;
pub use list::{List, Member};
pub use pos::{Gap, Pos};

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(super) u32);

        impl $name {
            /// The index in its arena: dense, in order of creation.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// An expression of a [`File`].
    ExprId;
    /// A declaration of a [`File`].
    DeclId;
    /// A clause of a comprehension.
    ClauseId;
    /// An attribute, `@name(body)`.
    AttributeId;
    /// One imported package.
    ImportId;
    /// An alias behind a label.
    FieldAliasId;
}

/// A range of the text of a [`File`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text {
    pub start: u32,
    pub end: u32,
}

/// An identifier in a place where only an identifier may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    pub symbol: Symbol,
    /// The identifier as a node, for its span and comments.
    pub expr: ExprId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    Null,
    True,
    False,
    Int,
    Float,
    /// A quoted string or quoted bytes: the text tells which.
    String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    /// `*x`, a default.
    Default,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    NotEqual,
    Match,
    NotMatch,
    Equal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Or,
    And,
    BoolOr,
    BoolAnd,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Match,
    NotMatch,
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PostfixOp {
    /// `x?` within `try`.
    Optional,
    /// `x...`
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expr {
    /// What could not be read; an error was reported.
    Bad,
    /// `_|_`
    Bottom,
    Ident(Symbol),
    Literal {
        kind: LiteralKind,
        text: Text,
    },
    /// Literal pieces and expressions by turns: piece, expression, piece, …, piece. The pieces
    /// are [`LiteralKind::String`] and keep their quotes and parentheses: `"a\(`, `)b\(`, `)"`.
    Interpolation {
        parts: List<ExprId>,
    },
    Struct {
        decls: List<DeclId>,
        /// False for the struct that `a: b: 1` implies.
        braces: bool,
    },
    /// Elements are expressions, [`Expr::Comprehension`]s, and at the end perhaps an
    /// [`Expr::Ellipsis`].
    List {
        elements: List<ExprId>,
    },
    /// `...` or `...T`, in lists only.
    Ellipsis {
        of: Option<ExprId>,
    },
    Paren {
        expr: ExprId,
    },
    /// `of.label`; the label is an identifier or a simple string.
    Selector {
        of: ExprId,
        label: ExprId,
    },
    Index {
        of: ExprId,
        index: Option<ExprId>,
        open: Pos,
    },
    Slice {
        of: ExprId,
        low: Option<ExprId>,
        high: Option<ExprId>,
        open: Pos,
    },
    Call {
        function: ExprId,
        arguments: List<ExprId>,
        open: Pos,
    },
    Unary {
        op: UnaryOp,
        expr: ExprId,
    },
    Binary {
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        at: Pos,
    },
    Postfix {
        op: PostfixOp,
        expr: ExprId,
    },
    /// `X=expr`: as a label, as a value, or in `[X=…]`.
    Alias {
        name: Name,
        expr: ExprId,
        equal: Pos,
    },
    Comprehension {
        clauses: List<ClauseId>,
        value: ExprId,
        /// An [`Clause::Else`].
        fallback: Option<ClauseId>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    For {
        key: Option<Name>,
        value: Name,
        source: ExprId,
        comma: Pos,
        in_at: Pos,
    },
    If {
        condition: ExprId,
    },
    Let {
        name: Name,
        value: ExprId,
        equal: Pos,
    },
    /// `try` or `try x = value`.
    Try {
        binding: Option<(Name, ExprId)>,
        equal: Pos,
    },
    /// `else {…}`, `otherwise {…}`.
    Else {
        body: ExprId,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// `a?:`
    Optional,
    /// `a!:`
    Required,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub label: ExprId,
    /// See [`File::field_alias`].
    pub alias: Option<FieldAliasId>,
    pub constraint: Option<Constraint>,
    pub colon: Pos,
    pub value: ExprId,
    pub attributes: List<AttributeId>,
}

/// `~X` or `~(K, V)` behind a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldAlias {
    /// `K`, the name of the label.
    pub label: Option<Name>,
    /// `X` or `V`, the name of the field.
    pub field: Option<Name>,
    pub parens: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decl {
    Bad,
    Field(Field),
    Embed(ExprId),
    Let {
        name: Name,
        value: ExprId,
        equal: Pos,
    },
    Ellipsis,
    Attribute(AttributeId),
    Package {
        name: Name,
    },
    Import {
        imports: List<ImportId>,
        /// Whether the clause has parentheses, and where the first is.
        open: Option<Pos>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    pub name: Option<Name>,
    /// A string literal.
    pub path: ExprId,
}

/// A node together with where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<T> {
    pub what: T,
    pub start: Pos,
    pub end: Pos,
}

/// Anything that can have comments or be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeRef {
    File,
    Decl(DeclId),
    Expr(ExprId),
    Clause(ClauseId),
    Attribute(AttributeId),
    Import(ImportId),
}

/// Language features a file asks for with `@experiment(…)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Experiments {
    pub alias_v2: bool,
    pub explicit_open: bool,
    pub try_clause: bool,
    pub short_circuit: bool,
}

/// A parsed or built file.
#[derive(Clone, Debug)]
pub struct File {
    pub source: SourceId,
    /// What the [`Text`]s of literals are ranges of; for a parsed file, the whole file.
    pub text: Arc<str>,
    pub decls: List<DeclId>,
    pub experiments: Experiments,
    pub comments: Comments,
    pub(super) exprs: Vec<Node<Expr>>,
    pub(super) declarations: Vec<Node<Decl>>,
    pub(super) clauses: Vec<Node<Clause>>,
    pub(super) attributes: Vec<Node<Text>>,
    pub(super) imports: Vec<Node<Import>>,
    pub(super) field_aliases: Vec<FieldAlias>,
    pub(super) lists: Vec<u32>,
}

impl File {
    pub fn new(source: SourceId, text: Arc<str>) -> File {
        File {
            source,
            text,
            decls: List::EMPTY,
            experiments: Experiments::default(),
            comments: Comments::default(),
            exprs: Vec::new(),
            declarations: Vec::new(),
            clauses: Vec::new(),
            attributes: Vec::new(),
            imports: Vec::new(),
            field_aliases: Vec::new(),
            lists: Vec::new(),
        }
    }

    pub fn expr(&self, id: ExprId) -> Expr {
        self.exprs.get(id.index()).map_or(Expr::Bad, |n| n.what)
    }

    pub fn decl(&self, id: DeclId) -> Decl {
        let node = self.declarations.get(id.index());
        node.map_or(Decl::Bad, |n| n.what)
    }

    pub fn clause(&self, id: ClauseId) -> Clause {
        let node = self.clauses.get(id.index());
        node.expect("a ClauseId comes from its file").what
    }

    pub fn import(&self, id: ImportId) -> Import {
        let node = self.imports.get(id.index());
        node.expect("an ImportId comes from its file").what
    }

    pub fn field_alias(&self, id: FieldAliasId) -> FieldAlias {
        let alias = self.field_aliases.get(id.index());
        *alias.expect("a FieldAliasId comes from its file")
    }

    /// The members of a list, in source order.
    pub fn list<T: Member>(
        &self,
        list: List<T>,
    ) -> impl DoubleEndedIterator<Item = T> + ExactSizeIterator + Clone + use<'_, T> {
        let members = self.lists.get(list.range()).unwrap_or(&[]);
        members.iter().map(|&index| T::at(index))
    }

    /// A range of the text, such as a literal's.
    pub fn str(&self, text: Text) -> &str {
        let range = text.start as usize..text.end as usize;
        self.text.get(range).unwrap_or("")
    }

    /// The text of an attribute, from `@` to `)`.
    pub fn attribute(&self, id: AttributeId) -> &str {
        let node = self.attributes.get(id.index());
        node.map_or("", |n| self.str(n.what))
    }

    /// Whether there is an attribute anywhere in the file.
    pub fn has_attributes(&self) -> bool {
        !self.attributes.is_empty()
    }

    /// Name and body of an attribute: `@tag(a,b)` is `tag` and `a,b`.
    pub fn attribute_parts(&self, id: AttributeId) -> (&str, &str) {
        let text = self.attribute(id);
        let (name, body) = text.split_once('(').unwrap_or((text, ""));
        (
            name.strip_prefix('@').unwrap_or(name),
            body.strip_suffix(')').unwrap_or(body),
        )
    }

    /// The package clause's name.
    pub fn package(&self) -> Option<Name> {
        self.list(self.decls).find_map(|id| match self.decl(id) {
            Decl::Package { name } => Some(name),
            _ => None,
        })
    }

    /// Every imported package, in source order.
    pub fn imports(&self) -> impl Iterator<Item = ImportId> + use<'_> {
        (0..u32::try_from(self.imports.len()).unwrap_or(u32::MAX)).map(ImportId)
    }

    /// The operands of a chain such as `a & b & c`, left to right. Only the left side is
    /// unfolded, as `a & (b & c)` keeps its parentheses. An expression that is no such chain is
    /// its own only operand.
    pub fn operands(&self, expr: ExprId, op: BinaryOp) -> Vec<ExprId> {
        let mut found = Vec::new();
        let mut rest = expr;
        while let Expr::Binary {
            op: here,
            left,
            right,
            ..
        } = self.expr(rest)
        {
            if here != op {
                break;
            }
            found.push(right);
            rest = left;
        }
        found.push(rest);
        found.reverse();
        found
    }

    fn span(&self, ends: Option<(Pos, Pos)>) -> Span {
        let (start, end) = ends.unwrap_or((Pos::NONE, Pos::NONE));
        let start = start.offset().unwrap_or(0);
        Span {
            source: self.source,
            start,
            end: end.offset().unwrap_or(start).max(start),
        }
    }

    /// Where a node stands. A node that was built, not parsed, is at the start of the file.
    pub fn span_of(&self, node: NodeRef) -> Span {
        self.span(self.ends(node))
    }

    pub fn expr_span(&self, id: ExprId) -> Span {
        self.span_of(NodeRef::Expr(id))
    }

    pub fn decl_span(&self, id: DeclId) -> Span {
        self.span_of(NodeRef::Decl(id))
    }

    /// The span of a token of which only the position is kept, such as an operator.
    pub fn token_span(&self, at: Pos, len: u32) -> Span {
        let start = at.offset().unwrap_or(0);
        Span {
            source: self.source,
            start,
            end: start + len,
        }
    }

    pub(super) fn ends(&self, node: NodeRef) -> Option<(Pos, Pos)> {
        fn of<T>(nodes: &[Node<T>], index: usize) -> Option<(Pos, Pos)> {
            nodes.get(index).map(|n| (n.start, n.end))
        }
        match node {
            NodeRef::File => Some((Pos::at(0), Pos::at(self.text.len()))),
            NodeRef::Decl(id) => of(&self.declarations, id.index()),
            NodeRef::Expr(id) => of(&self.exprs, id.index()),
            NodeRef::Clause(id) => of(&self.clauses, id.index()),
            NodeRef::Attribute(id) => of(&self.attributes, id.index()),
            NodeRef::Import(id) => of(&self.imports, id.index()),
        }
    }

    pub(super) fn start(&self, node: NodeRef) -> Pos {
        self.ends(node).map_or(Pos::NONE, |(start, _)| start)
    }

    pub(super) fn end(&self, node: NodeRef) -> Pos {
        self.ends(node).map_or(Pos::NONE, |(_, end)| end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_small() {
        assert!(size_of::<Node<Expr>>() <= 32, "{}", size_of::<Node<Expr>>());
        assert!(size_of::<Node<Decl>>() <= 48, "{}", size_of::<Node<Decl>>());
    }
}
