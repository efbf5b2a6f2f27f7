//! Trees made by a program, for printing: results of evaluation, imported data.
//!
//! A [`Builder`] fills a [`File`] with nodes that have no place in a source. Literals are given
//! as text, names as symbols. The formatter breaks lines by itself: one field a line, lists of
//! scalars on one line. [`Builder::copy`] takes over an expression of another file.

use std::sync::Arc;

use base::{SourceId, Symbol, Symbols};

use super::ast::{
    AttributeId, BinaryOp, Clause, ClauseId, Constraint, Decl, DeclId, Expr, ExprId, Field, File,
    Gap, Import, ImportId, List, LiteralKind, Member, Name, Node, NodeRef, Pos, PostfixOp, Text,
    UnaryOp,
};
use super::comments::Group;
use super::literal;

mod copy;
mod graft;

/// Makes a [`File`], children before parents.
#[derive(Debug)]
pub struct Builder {
    file: File,
    text: String,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl Builder {
    pub fn new() -> Builder {
        Builder::in_source(SourceId(0))
    }

    /// A file whose nodes may be given places in a source.
    pub fn in_source(source: SourceId) -> Builder {
        Builder {
            file: File::new(source, Arc::from("")),
            text: String::new(),
        }
    }

    /// The file with these declarations at its top.
    pub fn finish(mut self, decls: &[DeclId]) -> File {
        self.file.decls = self.list(decls);
        self.file.text = Arc::from(self.text);
        self.file
    }

    // Parts.

    fn text(&mut self, text: &str) -> Text {
        let at = |n: usize| u32::try_from(n).expect("less than 4 GiB of text");
        let start = at(self.text.len());
        self.text.push_str(text);
        Text {
            start,
            end: at(self.text.len()),
        }
    }

    fn list<T: Member>(&mut self, members: &[T]) -> List<T> {
        let start = self.file.lists.len();
        self.file.lists.extend(members.iter().map(|m| m.raw()));
        List::new(start, members.len())
    }

    fn index(len: usize) -> u32 {
        u32::try_from(len).expect("fewer nodes than 2^32")
    }

    fn node<T>(what: T) -> Node<T> {
        Node {
            what,
            start: Pos::NONE,
            end: Pos::NONE,
        }
    }

    fn push(&mut self, what: Expr) -> ExprId {
        self.file.exprs.push(Self::node(what));
        ExprId(Self::index(self.file.exprs.len() - 1))
    }

    fn push_decl(&mut self, what: Decl) -> DeclId {
        self.file.declarations.push(Self::node(what));
        DeclId(Self::index(self.file.declarations.len() - 1))
    }

    pub fn clause(&mut self, what: Clause) -> ClauseId {
        self.file.clauses.push(Self::node(what));
        ClauseId(Self::index(self.file.clauses.len() - 1))
    }

    /// Asks for white space before a node, and for structs and lists before the closing bracket.
    pub fn gap(&mut self, node: NodeRef, before: Gap, closing: Gap) {
        let (start, end) = match node {
            NodeRef::Expr(id) => match self.file.exprs.get_mut(id.index()) {
                Some(node) => (&mut node.start, &mut node.end),
                None => return,
            },
            NodeRef::Decl(id) => match self.file.declarations.get_mut(id.index()) {
                Some(node) => (&mut node.start, &mut node.end),
                None => return,
            },
            _ => return,
        };
        *start = Pos::gap(before);
        *end = Pos::gap(closing);
    }

    /// A comment above a node; each line gets its `//`.
    pub fn doc(&mut self, node: NodeRef, lines: &[&str]) {
        self.comment(node, lines, 0, Gap::Newline);
    }

    /// A comment behind so many tokens of a node, on the same line.
    pub fn line_comment(&mut self, node: NodeRef, line: &str, position: i32) {
        self.comment(node, &[line], position, Gap::Blank);
    }

    /// A comment on lines of its own below a node.
    pub fn comment_below(&mut self, node: NodeRef, lines: &[&str]) {
        self.comment(node, lines, 100, Gap::Newline);
    }

    fn comment(&mut self, node: NodeRef, lines: &[&str], position: i32, gap: Gap) {
        let mut comments = Vec::new();
        for line in lines {
            let line = match line.is_empty() {
                true => "//".to_owned(),
                false => format!("// {line}"),
            };
            comments.push(self.text(&line));
        }
        let group = Group {
            comments,
            doc: position == 0,
            line: gap == Gap::Blank,
            position,
            gap,
        };
        self.file.comments.add(node, group);
    }

    // Expressions.

    pub fn name(&mut self, symbol: Symbol) -> Name {
        let expr = self.ident(symbol);
        Name { symbol, expr }
    }

    pub fn ident(&mut self, symbol: Symbol) -> ExprId {
        self.push(Expr::Ident(symbol))
    }

    pub fn bottom(&mut self) -> ExprId {
        self.push(Expr::Bottom)
    }

    pub fn null(&mut self) -> ExprId {
        self.literal(LiteralKind::Null, "null")
    }

    pub fn bool(&mut self, value: bool) -> ExprId {
        match value {
            true => self.literal(LiteralKind::True, "true"),
            false => self.literal(LiteralKind::False, "false"),
        }
    }

    /// A number as CUE writes it, without a sign.
    pub fn number(&mut self, text: &str) -> ExprId {
        let float = text.contains(['.', 'e', 'E']) && !text.starts_with("0x");
        let kind = match float {
            true => LiteralKind::Float,
            false => LiteralKind::Int,
        };
        self.literal(kind, text)
    }

    /// A string; one with line breaks is written on several lines.
    pub fn string(&mut self, value: &str) -> ExprId {
        if value.contains('\n') {
            let text = literal::quote_lines(value, 1);
            return self.literal(LiteralKind::String, &text);
        }
        self.string_in_line(value)
    }

    /// A string on one line, whatever it contains.
    pub fn string_in_line(&mut self, value: &str) -> ExprId {
        let text = literal::quote_string(value);
        self.literal(LiteralKind::String, &text)
    }

    pub fn bytes(&mut self, value: &[u8]) -> ExprId {
        let text = match std::str::from_utf8(value) {
            Ok(text) if text.contains('\n') => literal::quote_bytes_lines(text, 1),
            _ => literal::quote_bytes(value),
        };
        self.literal(LiteralKind::String, &text)
    }

    /// A literal as it is to be written.
    pub fn literal(&mut self, kind: LiteralKind, text: &str) -> ExprId {
        let text = self.text(text);
        self.push(Expr::Literal { kind, text })
    }

    /// Pieces and expressions by turns; the pieces are literals with their quotes.
    pub fn interpolation(&mut self, parts: &[ExprId]) -> ExprId {
        let parts = self.list(parts);
        self.push(Expr::Interpolation { parts })
    }

    pub fn struct_lit(&mut self, decls: &[DeclId]) -> ExprId {
        let decls = self.list(decls);
        let braces = true;
        self.push(Expr::Struct { decls, braces })
    }

    /// The declarations of a struct that was built here; none if it is no struct.
    pub fn fields_of(&self, expr: ExprId) -> Option<Vec<DeclId>> {
        match self.file.expr(expr) {
            Expr::Struct { decls, .. } => Some(self.file.list(decls).collect()),
            _ => None,
        }
    }

    pub fn list_lit(&mut self, elements: &[ExprId]) -> ExprId {
        let elements = self.list(elements);
        self.push(Expr::List { elements })
    }

    /// `...` or `...T` at the end of a list.
    pub fn ellipsis(&mut self, of: Option<ExprId>) -> ExprId {
        self.push(Expr::Ellipsis { of })
    }

    pub fn paren(&mut self, expr: ExprId) -> ExprId {
        self.push(Expr::Paren { expr })
    }

    pub fn unary(&mut self, op: UnaryOp, expr: ExprId) -> ExprId {
        self.push(Expr::Unary { op, expr })
    }

    /// Parentheses are printed where precedence asks for them.
    pub fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> ExprId {
        let at = Pos::NONE;
        self.push(Expr::Binary {
            op,
            left,
            right,
            at,
        })
    }

    /// `a op b op c`; nothing for no operands.
    pub fn chain(&mut self, op: BinaryOp, operands: &[ExprId]) -> Option<ExprId> {
        let (&first, rest) = operands.split_first()?;
        let mut left = first;
        for &right in rest {
            left = self.binary(op, left, right);
        }
        Some(left)
    }

    pub fn postfix(&mut self, op: PostfixOp, expr: ExprId) -> ExprId {
        self.push(Expr::Postfix { op, expr })
    }

    /// `of.label`; the label is a name or a string.
    pub fn selector(&mut self, of: ExprId, label: ExprId) -> ExprId {
        self.push(Expr::Selector { of, label })
    }

    pub fn index_expr(&mut self, of: ExprId, index: ExprId) -> ExprId {
        let (index, open) = (Some(index), Pos::NONE);
        self.push(Expr::Index { of, index, open })
    }

    pub fn slice(&mut self, of: ExprId, low: Option<ExprId>, high: Option<ExprId>) -> ExprId {
        let open = Pos::NONE;
        self.push(Expr::Slice {
            of,
            low,
            high,
            open,
        })
    }

    pub fn call(&mut self, function: ExprId, arguments: &[ExprId]) -> ExprId {
        let arguments = self.list(arguments);
        let open = Pos::NONE;
        self.push(Expr::Call {
            function,
            arguments,
            open,
        })
    }

    pub fn alias(&mut self, name: Name, expr: ExprId) -> ExprId {
        let equal = Pos::NONE;
        self.push(Expr::Alias { name, expr, equal })
    }

    pub fn comprehension(
        &mut self,
        clauses: &[ClauseId],
        value: ExprId,
        fallback: Option<ClauseId>,
    ) -> ExprId {
        let clauses = self.list(clauses);
        self.push(Expr::Comprehension {
            clauses,
            value,
            fallback,
        })
    }

    // Labels and declarations.

    /// A regular field's label, in quotes only if it needs them.
    pub fn label(&mut self, name: &str, symbols: &mut Symbols) -> ExprId {
        if literal::label_needs_quotes(name) {
            self.string_in_line(name)
        } else {
            let symbol = symbols.intern(name);
            self.ident(symbol)
        }
    }

    /// `[expr]`, with an alias perhaps.
    pub fn pattern(&mut self, expr: ExprId) -> ExprId {
        self.list_lit(&[expr])
    }

    pub fn field(&mut self, label: ExprId, value: ExprId) -> DeclId {
        self.field_with(label, None, value, &[])
    }

    pub fn field_with(
        &mut self,
        label: ExprId,
        constraint: Option<Constraint>,
        value: ExprId,
        attributes: &[AttributeId],
    ) -> DeclId {
        let attributes = self.list(attributes);
        self.push_decl(Decl::Field(Field {
            label,
            alias: None,
            constraint,
            colon: Pos::NONE,
            value,
            attributes,
        }))
    }

    /// An attribute as it is written: `@name(body)`.
    pub fn attribute(&mut self, text: &str) -> AttributeId {
        let text = self.text(text);
        self.file.attributes.push(Self::node(text));
        AttributeId(Self::index(self.file.attributes.len() - 1))
    }

    pub fn attribute_decl(&mut self, attribute: AttributeId) -> DeclId {
        self.push_decl(Decl::Attribute(attribute))
    }

    pub fn embed(&mut self, expr: ExprId) -> DeclId {
        self.push_decl(Decl::Embed(expr))
    }

    pub fn let_decl(&mut self, name: Name, value: ExprId) -> DeclId {
        let equal = Pos::NONE;
        self.push_decl(Decl::Let { name, value, equal })
    }

    /// `...` at the end of a struct.
    pub fn open_struct(&mut self) -> DeclId {
        self.push_decl(Decl::Ellipsis)
    }

    pub fn package(&mut self, name: Symbol) -> DeclId {
        let name = self.name(name);
        self.push_decl(Decl::Package { name })
    }

    pub fn import(&mut self, name: Option<Symbol>, path: &str) -> ImportId {
        let name = name.map(|name| self.name(name));
        let path = self.string_in_line(path);
        self.file.imports.push(Self::node(Import { name, path }));
        ImportId(Self::index(self.file.imports.len() - 1))
    }

    /// An import clause, with parentheses for more than one.
    pub fn import_decl(&mut self, imports: &[ImportId]) -> DeclId {
        let open = (imports.len() > 1).then_some(Pos::NONE);
        let imports = self.list(imports);
        self.push_decl(Decl::Import { imports, open })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Indent, Options, format_file};

    #[test]
    fn built_trees_print_well() {
        let mut symbols = Symbols::new();
        let mut b = Builder::new();
        let package = symbols.intern("p");
        let package = b.package(package);
        let one = b.number("1");
        let text = b.string("x\ny");
        let label = b.label("a", &mut symbols);
        let a = b.field(label, one);
        let label = b.label("b-c", &mut symbols);
        let b_c = b.field(label, text);
        let inner = b.struct_lit(&[a, b_c]);
        let label = b.label("s", &mut symbols);
        let s = b.field(label, inner);
        b.doc(NodeRef::Decl(s), &["About s."]);
        let int = symbols.intern("int");
        let (x, y, z) = (b.ident(int), b.number("2"), b.number("3"));
        let or = b.binary(BinaryOp::Or, x, y);
        let and = b.binary(BinaryOp::And, or, z);
        let list = b.list_lit(&[and]);
        let label = b.label("long", &mut symbols);
        let long = b.field(label, list);
        let empty = b.struct_lit(&[]);
        let label = b.label("e", &mut symbols);
        let e = b.field(label, empty);
        let file = b.finish(&[package, s, long, e]);
        let print = |indent| {
            let options = Options {
                indent,
                simplify: false,
            };
            format_file(&file, &symbols, options)
        };
        let want = "package p\n\n// About s.\ns: {\n\ta: 1\n\t\"b-c\": \"\"\"\n\t\tx\n\t\ty\n\t\t\"\"\"\n}\nlong: [(int | 2) & 3]\ne: {}\n";
        assert_eq!(print(Indent::Tab), want);
        assert_eq!(print(Indent::Spaces(4)), want.replace('\t', "    "));
    }
}
