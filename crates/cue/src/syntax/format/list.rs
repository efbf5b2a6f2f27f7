//! Elements of lists and arguments of calls.

use super::{Formatter, Space};
use crate::syntax::ast::{Expr, ExprId, List, NodeRef, Pos};
use crate::syntax::comments::Group;

impl<'a> Formatter<'a> {
    pub(super) fn arguments(&mut self, arguments: List<ExprId>, depth: usize) {
        self.before(None);
        for argument in self.file.list(arguments) {
            self.before(Some(NodeRef::Expr(argument)));
            // Comments behind an argument are printed behind its comma, not at an operator inside.
            let is_chain = matches!(self.file.expr(argument), Expr::Binary { .. });
            let end = self.file.end(NodeRef::Expr(argument));
            let groups = std::mem::take(&mut self.current.groups);
            let (behind, inside): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| {
                let first = group.comments.first();
                let is_behind = first.is_some_and(|text| Some(text.start) >= end.offset());
                is_chain && end.is_parsed() && is_behind
            });
            self.current.groups = inside;
            let outer = self.tie();
            self.raw(argument, 0, depth);
            self.wish(Space::COMMA | Space::BLANK);
            self.end(outer);
            self.current.groups.extend(behind);
            self.after();
        }
        self.after();
    }

    /// The elements of a list. Where the source leaves out a comma between two of them, line
    /// breaks separate all of them.
    pub(super) fn elements(&mut self, list: ExprId, elements: List<ExprId>) {
        let bare = self.omits_commas(list, elements);
        self.before(None);
        for (at, element) in self.file.list(elements).enumerate() {
            if at > 0 && bare {
                self.wish(Space::SEPARATOR);
            }
            self.before(Some(NodeRef::Expr(element)));
            // Comments behind the element are printed behind its comma, those between its brackets there.
            let start = self.start(element);
            let mut behind = Vec::new();
            if start.is_parsed() {
                let closing = self.closing(NodeRef::Expr(element)).offset();
                let is_inside = |group: &&Group| {
                    let first = group.comments.first();
                    first.is_some_and(|text| Some(text.start) < closing)
                };
                (self.current.groups, behind) = match self.is_empty_bracket(element) {
                    true => self
                        .comments_after(element, start)
                        .into_iter()
                        .partition(is_inside),
                    false => (Vec::new(), self.comments_after(element, start)),
                };
                self.current.next = 0;
            }
            let outer = (!bare).then(|| self.tie());
            match self.file.expr(element) {
                Expr::Comprehension { .. } => self.comprehension(element),
                Expr::Ellipsis { of } => {
                    self.at_node(start);
                    self.token("...");
                    if let Some(of) = of
                        && !self.is_top(of)
                    {
                        let at = self.start(of);
                        if at.is_parsed() {
                            behind.extend(self.comments_after(of, at));
                        }
                        self.raw(of, 0, 1);
                    }
                }
                Expr::Alias { name, expr, equal } => {
                    let outer = self.tie();
                    self.expr(name.expr);
                    self.at(equal);
                    self.token("=");
                    self.end(outer);
                    self.expr(expr);
                }
                _ => self.raw(element, 0, 1),
            }
            if !bare {
                self.wish(Space::COMMA | Space::BLANK);
            }
            if let Some(outer) = outer {
                self.end(outer);
            }
            if start.is_parsed() {
                self.current.groups = behind;
                self.current.next = 0;
            }
            self.after();
        }
        self.after();
    }

    fn is_empty_bracket(&self, expr: ExprId) -> bool {
        match self.file.expr(expr) {
            Expr::Struct { decls, .. } => decls.is_empty(),
            Expr::List { elements } => elements.is_empty(),
            _ => false,
        }
    }

    fn comments_after(&self, expr: ExprId, start: Pos) -> Vec<&'a Group> {
        let groups = self.file.comments.of(NodeRef::Expr(expr)).iter();
        let behind = |group: &&Group| {
            let first = group.comments.first();
            first.is_some_and(|text| Some(text.start) > start.offset())
        };
        groups.filter(behind).collect()
    }

    fn omits_commas(&self, list: ExprId, elements: List<ExprId>) -> bool {
        if elements.is_empty() || !self.start(list).is_parsed() {
            return false;
        }
        let node = |id| NodeRef::Expr(id);
        let mut previous: Option<ExprId> = None;
        for element in self.file.list(elements) {
            if let Some(previous) = previous {
                let gap = (self.file.end(node(previous)), self.start(element));
                if !self.has_comma(gap.0, gap.1) {
                    return true;
                }
            }
            previous = Some(element);
        }
        match previous {
            Some(only) if elements.len() == 1 => {
                let gap = (self.file.end(node(only)), self.closing(node(list)));
                !self.has_comma(gap.0, gap.1)
            }
            _ => false,
        }
    }

    /// Whether there is a comma in the text between two nodes, comments aside.
    fn has_comma(&self, from: Pos, to: Pos) -> bool {
        let (Some(from), Some(to)) = (from.offset(), to.offset()) else {
            return true;
        };
        let between = self.file.text.get(from as usize..to as usize);
        let mut lines = between.unwrap_or("").lines();
        lines.any(|line| {
            let code = line.split("//").next().unwrap_or("");
            code.contains(',')
        })
    }

    pub(super) fn is_top(&self, expr: ExprId) -> bool {
        match self.file.expr(expr) {
            Expr::Ident(symbol) => self.symbols.name(symbol) == "_",
            _ => false,
        }
    }
}
