//! Expressions.

use std::borrow::Cow;

use base::Symbol;

use super::{Formatter, Last, Space};
use crate::syntax::ast::{
    DeclId, Expr, ExprId, Gap, List, LiteralKind, NodeRef, PostfixOp, Text, UnaryOp,
};
use crate::syntax::literal::{self, Quotes};

/// How tightly a unary operator binds.
const UNARY: u8 = 8;
/// How tightly selectors, indices and calls bind.
pub(super) const HIGHEST: u8 = 9;

pub(super) fn unary_text(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Plus => "+",
        UnaryOp::Minus => "-",
        UnaryOp::Not => "!",
        UnaryOp::Default => "*",
        UnaryOp::Less => "<",
        UnaryOp::LessEqual => "<=",
        UnaryOp::Greater => ">",
        UnaryOp::GreaterEqual => ">=",
        UnaryOp::NotEqual => "!=",
        UnaryOp::Match => "=~",
        UnaryOp::NotMatch => "!~",
        UnaryOp::Equal => "==",
    }
}

/// Parentheses undo one level of depth.
pub(super) fn shallower(depth: usize) -> usize {
    depth.saturating_sub(1).max(1)
}

impl Formatter<'_> {
    pub(super) fn expr(&mut self, expr: ExprId) {
        self.expr_in(expr, 0, 1);
    }

    /// An expression inside one that binds with `outer`. From depth 2 on, operators are printed
    /// without blanks where that helps to see what belongs together.
    pub(super) fn expr_in(&mut self, expr: ExprId, outer: u8, depth: usize) {
        self.before(Some(NodeRef::Expr(expr)));
        self.raw(expr, outer, depth);
        self.after();
    }

    pub(super) fn ident(&mut self, symbol: Symbol) {
        let name = self.symbols.name(symbol);
        self.stream.literal(name, Last::Other);
    }

    /// An expression without its comments.
    pub(super) fn raw(&mut self, id: ExprId, outer: u8, depth: usize) {
        let node = NodeRef::Expr(id);
        let start = self.start(id);
        match self.file.expr(id) {
            Expr::Bad => {
                self.at_node(start);
                self.word("_|_");
            }
            Expr::Bottom => {
                self.at_node(start);
                self.token("_|_");
            }
            Expr::Alias { name, expr, equal } => {
                let outer = self.tie();
                self.label(name.expr);
                self.at(equal);
                self.token("=");
                self.end(outer);
                self.expr(expr);
            }
            Expr::Ident(symbol) => {
                self.at_node(start);
                self.ident(symbol);
            }
            Expr::Literal { kind, text } => {
                self.at_node(start);
                self.literal(kind, text);
            }
            Expr::Binary { .. } => self.binary(id, outer, depth),
            Expr::Unary { op, expr } => {
                if UNARY < outer {
                    self.token("(");
                    self.wish(Space::FIRM);
                    let before = self.tie();
                    self.expr(id);
                    self.token(")");
                    self.end(before);
                } else {
                    self.at_node(start);
                    self.token(unary_text(op));
                    self.wish(Space::FIRM);
                    self.expr_in(expr, UNARY, depth);
                }
            }
            Expr::Postfix { op, expr } => {
                let before = self.tie();
                self.expr_in(expr, HIGHEST, depth);
                self.token(match op {
                    PostfixOp::Optional => "?",
                    PostfixOp::Open => "...",
                });
                self.end(before);
            }
            Expr::Interpolation { parts } => self.interpolation(parts, depth),
            Expr::Paren { expr } => {
                if let Expr::Paren { .. } = self.file.expr(expr) {
                    self.expr_in(expr, 0, depth);
                } else {
                    self.at_node(start);
                    self.token("(");
                    let before = self.tie();
                    self.expr_in(expr, 0, shallower(depth));
                    self.at(self.closing(node));
                    self.token(")");
                    self.end(before);
                }
            }
            Expr::Selector { of, label } => {
                self.selector(of, label, depth);
            }
            Expr::Index { of, index, open } => {
                let before = self.tie();
                self.expr_in(of, HIGHEST, 1);
                self.at(open);
                self.token("[");
                if let Some(index) = index {
                    self.expr_in(index, 0, depth + 1);
                }
                self.at(self.closing(node));
                self.token("]");
                self.end(before);
            }
            Expr::Slice {
                of,
                low,
                high,
                open,
            } => {
                let before = self.tie();
                self.expr_in(of, HIGHEST, 1);
                self.at(open);
                self.token("[");
                self.slice(low, high, depth);
                self.at(self.closing(node));
                self.token("]");
                self.end(before);
            }
            Expr::Call {
                function,
                arguments,
                open,
            } => {
                let depth = depth + usize::from(arguments.len() > 1);
                let before = self.tie();
                let indented = match self.file.expr(function) {
                    Expr::Selector { of, label } => {
                        self.before(Some(NodeRef::Expr(function)));
                        let indented = self.selector(of, label, depth);
                        self.after();
                        indented
                    }
                    _ => {
                        self.expr_in(function, HIGHEST, depth);
                        false
                    }
                };
                self.at(open);
                self.token("(");
                let tied = self.untie();
                self.arguments(arguments, depth);
                self.wish(Space::LAST_COMMA | Space::TIGHT);
                self.at(self.closing(node));
                self.token(")");
                self.end(tied);
                self.end(before);
                if indented {
                    self.wish(Space::UNINDENT);
                }
            }
            Expr::Struct { decls, .. } => self.braces(id, decls),
            Expr::List { elements } => self.brackets(id, elements),
            Expr::Ellipsis { of } => {
                self.at_node(start);
                self.token("...");
                if let Some(of) = of
                    && !self.is_top(of)
                {
                    self.expr(of);
                }
            }
            Expr::Comprehension { .. } => self.comprehension(id),
        }
    }

    fn literal(&mut self, kind: LiteralKind, text: Text) {
        let text = self.file.str(text);
        let last = match kind {
            LiteralKind::Int => Last::Integer,
            _ => Last::Other,
        };
        match kind {
            LiteralKind::String if self.stream.indent < 6 && text.contains('\n') => {
                let text = without_lone_returns(text);
                let text = literal::reindent(&text, self.stream.indent + 1);
                self.stream.literal(&text, last);
            }
            LiteralKind::Int | LiteralKind::Float => {
                let text = tidy_number(text);
                self.stream.literal(&text, last);
            }
            _ => self.stream.literal(text, last),
        }
    }

    /// `of.label`; whether the label went to a line of its own.
    fn selector(&mut self, of: ExprId, label: ExprId, depth: usize) -> bool {
        let outer = self.tie();
        self.expr_in(of, HIGHEST, depth);
        self.token(".");
        self.tied = outer.is_tied();
        let indented = self.selected(label);
        self.held_here();
        indented
    }

    fn selected(&mut self, label: ExprId) -> bool {
        let below = matches!(
            self.node_gap(self.start(label)),
            Gap::Newline | Gap::Section
        );
        if below {
            self.wish(Space::INDENT | Space::BREAK);
            self.expr(label);
            self.wish(Space::UNINDENT);
        } else {
            self.wish(Space::TIGHT);
            self.expr(label);
        }
        below
    }

    fn slice(&mut self, low: Option<ExprId>, high: Option<ExprId>, depth: usize) {
        let wide = |side: Option<ExprId>| {
            side.is_some_and(|id| matches!(self.file.expr(id), Expr::Binary { .. }))
        };
        let blanks = depth <= 1 && low.is_some() && high.is_some() && (wide(low) || wide(high));
        if let Some(low) = low {
            self.expr_in(low, 0, depth + 1);
        }
        if blanks {
            self.wish(Space::BLANK);
        }
        self.token(":");
        if blanks {
            self.wish(Space::BLANK);
        }
        if let Some(high) = high {
            self.expr_in(high, 0, depth + 1);
        }
    }

    fn braces(&mut self, id: ExprId, decls: List<DeclId>) {
        let node = NodeRef::Expr(id);
        let braces = matches!(self.file.expr(id), Expr::Struct { braces: true, .. });
        let (open, close) = if braces {
            (self.start(id), self.closing(node))
        } else {
            (crate::syntax::ast::Pos::NONE, crate::syntax::ast::Pos::NONE)
        };
        let mut inner = Space::TIGHT;
        let mut line_break = self.line_break();
        let text = &self.file.text;
        match self.file.list(decls).next() {
            None => {
                if !self.has_inner_comment(node) {
                    line_break = Space::BLANK | Space::FIRM;
                }
            }
            Some(first) => {
                let first = self.decl_start(first);
                if close.gap_in(text) == Gap::Unknown || first.gap_in(text) == Gap::Unknown {
                    inner |= Space::NEWLINE | Space::FIRM;
                }
            }
        }
        self.at_node(open);
        self.token("{");
        self.stream.settle();
        let line = self.stream.line;
        self.wish(inner | line_break | Space::INDENT);
        let outer = self.untie();
        self.stream.brace_on_line = true;
        self.decls(decls);
        self.wish(Space::UNINDENT);
        let mut before = Space::TIGHT;
        if self.stream.line != line {
            before |= Space::NEWLINE;
            if self.stream.last != Last::Closing {
                before |= Space::FIRM;
            }
        }
        self.wish(before);
        self.at(close);
        self.token("}");
        self.end(outer);
    }

    /// Whether there is a comment right behind the opening bracket.
    fn has_inner_comment(&self, node: NodeRef) -> bool {
        let groups = self.file.comments.of(node);
        groups.iter().any(|group| group.position == 1)
    }

    fn brackets(&mut self, id: ExprId, elements: List<ExprId>) {
        let node = NodeRef::Expr(id);
        let mut inner = Space::TIGHT | Space::INDENT;
        if elements.is_empty() && !self.has_inner_comment(node) {
            inner |= Space::BLANK | Space::FIRM;
        }
        self.at_node(self.start(id));
        self.token("[");
        self.wish(inner);
        let outer = self.untie();
        self.elements(id, elements);
        self.wish(Space::LAST_COMMA | Space::TIGHT);
        self.comments_here();
        self.wish(Space::UNINDENT);
        self.wish(Space::TIGHT);
        self.at(self.closing(node));
        self.token("]");
        self.end(outer);
    }

    /// A string with expressions in it. In a multiline string an expression has a line break on
    /// both sides or on none; in others there are no line breaks at all.
    fn interpolation(&mut self, parts: List<ExprId>, depth: usize) {
        let parts: Vec<ExprId> = self.file.list(parts).collect();
        let text = |part: Option<&ExprId>| match part.map(|&id| self.file.expr(id)) {
            Some(Expr::Literal { text, .. }) => self.file.str(text),
            _ => "",
        };
        let quotes = Quotes::parse(text(parts.first()), text(parts.last()));
        let multiline = quotes.is_ok_and(|(quotes, _)| quotes.multiline);
        self.before(None);
        let outer = self.tie();
        for (at, &part) in parts.iter().enumerate() {
            if multiline && self.needs_break(&parts, at) {
                self.wish(Space::NEWLINE | Space::FIRM);
            }
            let flat = usize::from(!multiline && at > 0);
            self.flat += flat;
            self.expr_in(part, 0, depth + 1);
            self.flat -= flat;
        }
        self.end(outer);
        self.after();
    }

    /// Whether a part of a multiline string lacks the line break that the other side of its
    /// expression has.
    fn needs_break(&self, parts: &[ExprId], at: usize) -> bool {
        let span = |at: Option<usize>| {
            let id = at.and_then(|at| parts.get(at))?;
            self.file.ends(NodeRef::Expr(*id))
        };
        let broken = |left: Option<usize>, right: Option<usize>| {
            let (left, right) = (span(left)?, span(right)?);
            (left.1.is_parsed() && right.0.is_parsed())
                .then(|| self.breaks_between(left.1, right.0))
        };
        let before = at.checked_sub(1);
        if at % 2 == 1 {
            broken(before, Some(at)) == Some(false) && broken(Some(at), Some(at + 1)) == Some(true)
        } else {
            let expr = before;
            broken(expr, Some(at)) == Some(false) && broken(at.checked_sub(2), expr) == Some(true)
        }
    }
}

/// Canonical spelling of a number: digits on both sides of a dot, small `e`.
fn tidy_number(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(dot) = text.find('.') {
        let next = text.as_bytes().get(dot + 1).copied();
        if next.is_none_or(|b| b > b'9') {
            text.insert(dot + 1, '0');
        }
        if dot == 0 {
            text.insert(0, '0');
        }
    }
    let based = text.starts_with("0x") || text.starts_with("0X");
    if text.contains('E') && !based && !text.ends_with('E') {
        text.make_ascii_lowercase();
    }
    text
}

/// Carriage returns mean nothing in a string; before the text of a line they would be taken for its indentation.
fn without_lone_returns(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\r' || rest.peek() == Some(&'\n') {
            kept.push(c);
        }
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_value() {
        for (text, want) in [
            (".5", "0.5"),
            ("1.", "1.0"),
            ("1.K", "1.0K"),
            ("1E3", "1e3"),
            ("0XAE", "0XAE"),
            ("01.5G", "01.5G"),
        ] {
            assert_eq!(tidy_number(text), want);
        }
    }
}
