//! Files and declarations.

use std::borrow::Cow;

use super::{Formatter, Space};
use crate::syntax::ast::{
    Clause, ClauseId, Constraint, Decl, DeclId, Expr, ExprId, Field, FieldAlias, Gap, ImportId,
    List, LiteralKind, NodeRef, Pos,
};
use crate::syntax::literal;

impl Formatter<'_> {
    pub(super) fn file(&mut self) {
        self.before(Some(NodeRef::File));
        self.decls(self.file.decls);
        self.after();
    }

    pub(super) fn decls(&mut self, list: List<DeclId>) {
        self.before(None);
        let decls: Vec<DeclId> = self.file.list(list).collect();
        let mut depth = 0;
        let mut ellipsis = None;
        let mut previous: Option<DeclId> = None;
        for (at, &decl) in decls.iter().enumerate() {
            if let Some(previous) = previous {
                self.between(previous, decl, depth);
            }
            previous = Some(decl);
            if self.options.simplify && self.is_ellipsis(decl) {
                ellipsis = Some(decl);
                continue;
            }
            self.decl(decl);
            depth = self.depth(decl);
            let next = decls.get(at + 1);
            if next.is_some_and(|&next| self.opens_block(next)) {
                self.wish(self.line_break());
            } else {
                let one_line = self.current.parent_one_line;
                self.wish(Self::separator(one_line));
            }
        }
        if let Some(decl) = ellipsis {
            self.before(Some(NodeRef::Decl(decl)));
            self.token("...");
            self.after();
            let one_line = self.current.parent_one_line;
            self.wish(Self::separator(one_line));
        }
        self.after();
    }

    /// The white space between two declarations.
    fn between(&mut self, previous: DeclId, decl: DeclId, depth: usize) {
        self.wish(Space::SEPARATOR);
        let next = self.depth(decl);
        if !self.current.parent_one_line && (depth == 0 || next != depth) {
            self.wish(self.line_break());
        }
        if self.is_documented(decl) {
            let apart = match self.file.decl(previous) {
                Decl::Field(field) => self.is_definition(field.label),
                _ => true,
            };
            if apart {
                self.wish(Space::SECTION);
            }
        }
    }

    /// How many labels a chain `a: b: c:` has; 0 for what is no field or ends in a block.
    fn depth(&self, decl: DeclId) -> usize {
        let mut depth = 0;
        let mut decl = decl;
        loop {
            let Decl::Field(field) = self.file.decl(decl) else {
                return depth;
            };
            depth += 1;
            let Expr::Struct { decls, .. } = self.file.expr(field.value) else {
                return depth;
            };
            match (decls.len(), self.file.list(decls).next()) {
                (1, Some(only)) => decl = only,
                _ => return depth - 1,
            }
        }
    }

    fn opens_block(&self, decl: DeclId) -> bool {
        let Decl::Field(field) = self.file.decl(decl) else {
            return false;
        };
        match self.file.expr(field.value) {
            Expr::Struct { decls, braces } => {
                decls.len() != 1 || (braces && self.start(field.value) != Pos::NONE)
            }
            Expr::List { .. } => true,
            _ => false,
        }
    }

    fn is_documented(&self, decl: DeclId) -> bool {
        self.has_comments(NodeRef::Decl(decl))
            || match self.file.decl(decl) {
                Decl::Field(field) => self.has_comments(NodeRef::Expr(field.label)),
                Decl::Let { name, .. } => self.has_comments(NodeRef::Expr(name.expr)),
                Decl::Attribute(id) => self.has_comments(NodeRef::Attribute(id)),
                _ => false,
            }
    }

    fn is_definition(&self, label: ExprId) -> bool {
        let label = match self.file.expr(label) {
            Expr::Alias { expr, .. } => expr,
            _ => label,
        };
        match self.file.expr(label) {
            Expr::Ident(symbol) => {
                let name = self.symbols.name(symbol);
                name.starts_with('#') || name.starts_with("_#")
            }
            _ => false,
        }
    }

    /// Whether a declaration says no more than `...`.
    fn is_ellipsis(&self, decl: DeclId) -> bool {
        let is_ident = |expr, names: &[&str]| match self.file.expr(expr) {
            Expr::Ident(symbol) => names.contains(&self.symbols.name(symbol)),
            _ => false,
        };
        match self.file.decl(decl) {
            Decl::Ellipsis => true,
            Decl::Field(field) if is_ident(field.value, &["_"]) => {
                let Expr::List { elements } = self.file.expr(field.label) else {
                    return false;
                };
                let mut elements = self.file.list(elements);
                match (elements.next(), elements.next()) {
                    (Some(only), None) => is_ident(only, &["string", "_"]),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Where a declaration begins; nowhere if its label is not printed as it was written.
    pub(super) fn decl_start(&self, decl: DeclId) -> Pos {
        match self.file.decl(decl) {
            Decl::Field(field) if self.simpler.name(field.label).is_some() => Pos::NONE,
            _ => self.file.start(NodeRef::Decl(decl)),
        }
    }

    /// Breaks the table before a declaration that begins a line.
    fn break_before(&mut self, pos: Pos) {
        if matches!(
            pos.gap_in(&self.file.text),
            Gap::Unknown | Gap::Newline | Gap::Section
        ) {
            self.wish(Space::BREAK);
        }
    }

    pub(super) fn decl(&mut self, id: DeclId) {
        let node = NodeRef::Decl(id);
        let decl = self.file.decl(id);
        self.before(match decl {
            Decl::Attribute(id) => Some(NodeRef::Attribute(id)),
            _ => Some(node),
        });
        let start = self.file.start(node);
        match decl {
            Decl::Bad => {
                self.at(start);
                self.word("*bad decl*");
                self.wish(Space::SEPARATOR);
            }
            Decl::Field(field) => self.field(&field),
            Decl::Package { name } => {
                self.at(start);
                self.word("package");
                self.wish(Space::BLANK);
                self.ident(name.symbol);
                self.wish(Space::SECTION | Space::FIRM);
            }
            Decl::Import { imports, open } => self.imports(id, imports, open),
            Decl::Let { name, value, equal } => {
                self.break_before(start);
                self.at(start);
                self.token("let");
                self.wish(Space::BLANK | Space::FIRM);
                let outer = self.tie();
                self.expr(name.expr);
                self.wish(Space::BLANK | Space::FIRM);
                self.at(equal);
                self.token("=");
                self.wish(Space::BLANK);
                self.end(outer);
                self.expr(value);
                self.wish(Space::SEPARATOR);
            }
            Decl::Embed(expr) => self.embedding(expr, start),
            Decl::Ellipsis => {
                self.at(start);
                self.token("...");
            }
            Decl::Attribute(id) => {
                self.at(start);
                let text = self.file.attribute(id);
                self.stream.literal(text, super::Last::Other);
            }
        }
        self.held_here();
        self.after();
    }

    fn embedding(&mut self, expr: ExprId, start: Pos) {
        self.break_before(start);
        if let Expr::Comprehension { .. } = self.file.expr(expr) {
            self.comprehension(expr);
        } else {
            self.expr(expr);
            self.wish(Space::NEWLINE);
        }
    }

    pub(super) fn comprehension(&mut self, expr: ExprId) {
        let Expr::Comprehension {
            clauses,
            value,
            fallback,
        } = self.file.expr(expr)
        else {
            return;
        };
        let outer = self.tie();
        self.before(None);
        for (at, clause) in self.file.list(clauses).enumerate() {
            self.before(Some(NodeRef::Clause(clause)));
            if at > 0 {
                self.wish(Space::BLANK);
            }
            self.clause(clause);
            // A line may end before a further clause.
            self.tied = at + 1 == clauses.len();
            self.after();
            self.tied = true;
        }
        self.after();
        self.wish(Space::BLANK | Space::FIRM);
        self.expr(value);
        self.tied = outer.is_tied() || fallback.is_some();
        if let Some(fallback) = fallback
            && let Clause::Else { body } = self.file.clause(fallback)
        {
            let first = self.file.list(clauses).next();
            let guard = clauses.len() == 1
                && first.is_some_and(|c| !matches!(self.file.clause(c), Clause::For { .. }));
            self.before(Some(NodeRef::Clause(fallback)));
            self.wish(Space::BLANK);
            self.at(self.file.start(NodeRef::Clause(fallback)));
            self.token(if guard { "else" } else { "otherwise" });
            self.wish(Space::BLANK);
            self.expr(body);
            self.after();
        }
        self.end(outer);
    }

    fn clause(&mut self, id: ClauseId) {
        self.at(self.file.start(NodeRef::Clause(id)));
        match self.file.clause(id) {
            Clause::For {
                key,
                value,
                source,
                comma,
                in_at,
            } => {
                self.word("for");
                self.wish(Space::BLANK | Space::INDENT);
                match key {
                    Some(key) => {
                        self.label(key.expr);
                        self.at(comma);
                        self.token(",");
                        self.wish(Space::BLANK);
                    }
                    None => self.seen_one(),
                }
                self.label(value.expr);
                self.wish(Space::BLANK);
                self.at(in_at);
                self.word("in");
                self.wish(Space::BLANK);
                self.expr(source);
                self.stream.end_level();
            }
            Clause::If { condition } => {
                self.word("if");
                self.wish(Space::BLANK | Space::INDENT);
                self.expr(condition);
                self.stream.end_level();
            }
            Clause::Let { name, value, equal } => {
                self.token("let");
                self.wish(Space::BLANK | Space::FIRM | Space::INDENT);
                self.binding(name.expr, equal, value);
            }
            Clause::Try { binding, equal } => {
                self.token("try");
                if let Some((name, value)) = binding {
                    self.wish(Space::BLANK | Space::FIRM | Space::INDENT);
                    self.binding(name.expr, equal, value);
                }
            }
            Clause::Else { body } => self.expr(body),
        }
    }

    fn binding(&mut self, name: ExprId, equal: Pos, value: ExprId) {
        let outer = self.tie();
        self.expr(name);
        self.wish(Space::BLANK | Space::FIRM);
        self.at(equal);
        self.token("=");
        self.wish(Space::BLANK);
        self.end(outer);
        self.expr(value);
        self.stream.end_level();
    }

    fn imports(&mut self, id: DeclId, imports: List<ImportId>, open: Option<Pos>) {
        let node = NodeRef::Decl(id);
        let closing = self.closing(node);
        self.at(self.file.start(node));
        self.word("import");
        self.wish(Space::BLANK);
        if imports.is_empty() {
            self.at(open.unwrap_or(Pos::NONE));
            self.token("(");
            self.at(closing);
            self.token(")");
            self.wish(Space::NEWLINE);
            return;
        }
        let commented = self.file.list(imports).any(|import| {
            let groups = self.file.comments.of(NodeRef::Import(import));
            groups.iter().any(|group| group.position <= 1)
        });
        if imports.len() == 1 && open.is_none() && !commented {
            self.import_list(imports, Space::NEWLINE);
        } else {
            // Without commas, each has a line of its own.
            let joined = self.file.list(imports).skip(1).any(|import| {
                let start = self.file.start(NodeRef::Import(import));
                !matches!(start.gap_in(&self.file.text), Gap::Newline | Gap::Section)
            });
            let line = match joined {
                true => Space::NEWLINE | Space::FIRM,
                false => Space::NEWLINE,
            };
            self.at(open.unwrap_or(Pos::NONE));
            self.token("(");
            self.wish(line | Space::INDENT);
            self.import_list(imports, line);
            self.wish(line | Space::UNINDENT);
            self.at(closing);
            self.token(")");
            self.wish(Space::NEWLINE);
        }
        self.wish(Space::SECTION | Space::FIRM);
    }

    fn import_list(&mut self, imports: List<ImportId>, line: Space) {
        self.before(None);
        for id in self.file.list(imports) {
            self.before(Some(NodeRef::Import(id)));
            let import = self.file.import(id);
            match import.name {
                Some(name) => {
                    self.label(name.expr);
                    self.wish(Space::BLANK);
                }
                None => self.seen_one(),
            }
            self.expr(import.path);
            self.wish(line);
            self.after();
        }
        self.after();
    }

    fn field(&mut self, field: &Field) {
        let outer = self.tie();
        self.label(field.label);
        if let Some(alias) = field.alias {
            self.field_alias(self.file.field_alias(alias));
        }
        match field.constraint {
            Some(Constraint::Optional) => self.token("?"),
            Some(Constraint::Required) => self.token("!"),
            None => {}
        }
        self.wish(Space::TIGHT | Space::FIRM);
        self.at(field.colon);
        self.token(":");
        self.end(outer);
        self.comments_here();
        if let Some(member) = self.inlined(field) {
            let start = self.file.start(NodeRef::Decl(member));
            let below = matches!(start.gap_in(&self.file.text), Gap::Newline | Gap::Section);
            if below && !self.options.simplify {
                self.wish(Space::INDENT | Space::BREAK);
                self.decl(member);
                self.stream.indent = self.stream.indent.saturating_sub(1);
            } else {
                self.wish(Space::BLANK | Space::FIRM);
                self.decl(member);
            }
            return;
        }
        let block = self.holds_block(field.value);
        let column = if block || self.stream.brace_on_line {
            Space::BLANK
        } else {
            Space::TAB
        };
        self.wish(column);
        let outer = (!field.attributes.is_empty()).then(|| self.tie());
        match self.file.expr(field.value) {
            Expr::List { .. } | Expr::Struct { .. } => self.expr(field.value),
            _ => {
                self.wish(Space::INDENT);
                self.expr(field.value);
                self.stream.end_level();
            }
        }
        let mut column = column;
        for id in self.file.list(field.attributes) {
            let node = NodeRef::Attribute(id);
            self.before(Some(node));
            self.wish(column);
            self.at(self.file.start(node));
            let text = self.file.attribute(id);
            self.stream.literal(text, super::Last::Other);
            self.after();
            column = Space::BLANK;
        }
        if let Some(outer) = outer {
            self.end(outer);
        }
        if block {
            self.wish(Space::BREAK);
        }
    }

    fn field_alias(&mut self, alias: FieldAlias) {
        self.token("~");
        self.wish(Space::TIGHT);
        self.token("(");
        self.wish(Space::TIGHT);
        if let Some(label) = alias.label {
            self.expr(label.expr);
            self.token(",");
            self.wish(Space::TIGHT);
        }
        if let Some(field) = alias.field {
            self.expr(field.expr);
        }
        self.token(")");
        self.wish(Space::TIGHT);
    }

    /// The only field of the field's value, if the two are printed as `a: b: …`.
    fn inlined(&self, field: &Field) -> Option<DeclId> {
        let regular = !self.is_special(field);
        let known = self.start(field.label) != Pos::NONE;
        if !(known || self.options.simplify && regular) {
            return None;
        }
        let Expr::Struct { decls, braces } = self.file.expr(field.value) else {
            return None;
        };
        let braces = braces && self.start(field.value) != Pos::NONE;
        if decls.len() != 1 || !field.attributes.is_empty() || (braces && !self.options.simplify) {
            return None;
        }
        let member = self.file.list(decls).next()?;
        let Decl::Field(inner) = self.file.decl(member) else {
            return None;
        };
        let commented = |label: ExprId| self.has_comments(NodeRef::Expr(label));
        if braces && (self.in_commented_field() || commented(field.label)) {
            return None;
        }
        if !inner.attributes.is_empty() || self.is_documented(member) {
            return None;
        }
        Some(member)
    }

    /// Whether the field being printed has comments of its own.
    fn in_commented_field(&self) -> bool {
        !self.current.groups.is_empty()
    }

    /// Whether a field is hidden or a definition.
    fn is_special(&self, field: &Field) -> bool {
        match self.file.expr(field.label) {
            Expr::Ident(symbol) => {
                let name = self.symbols.name(symbol);
                name.starts_with('#') || name.starts_with('_')
            }
            _ => false,
        }
    }

    /// Whether the value has a struct, a list or a multiline string at its surface, which ends
    /// the table.
    fn holds_block(&self, expr: ExprId) -> bool {
        let mut expr = expr;
        loop {
            match self.file.expr(expr) {
                Expr::Struct { .. } | Expr::List { .. } => return true,
                Expr::Literal { text, .. } => return self.file.str(text).contains('\n'),
                Expr::Paren { expr: inner }
                | Expr::Unary { expr: inner, .. }
                | Expr::Postfix { expr: inner, .. }
                | Expr::Index { of: inner, .. }
                | Expr::Selector { of: inner, .. } => expr = inner,
                Expr::Binary { left, right, .. } => {
                    if self.holds_block(right) {
                        return true;
                    }
                    expr = left;
                }
                Expr::Call { arguments, .. } => {
                    return self.file.list(arguments).any(|a| self.holds_block(a));
                }
                _ => return false,
            }
        }
    }

    pub(super) fn label(&mut self, expr: ExprId) {
        let what = self.file.expr(expr);
        if !matches!(what, Expr::Ident(_) | Expr::Literal { .. }) {
            self.expr(expr);
            return;
        }
        self.before(Some(NodeRef::Expr(expr)));
        let text = match self.simpler.name(expr) {
            Some(name) => Cow::Owned(name.to_owned()),
            None => {
                self.at_node(self.start(expr));
                self.label_text(what)
            }
        };
        self.word(&text);
        self.after();
    }
}

impl<'a> Formatter<'a> {
    /// How a name or a literal is written as a label.
    fn label_text(&self, label: Expr) -> Cow<'a, str> {
        match label {
            Expr::Ident(symbol) => {
                let name = self.symbols.name(symbol);
                match literal::is_identifier(name) {
                    true => Cow::Borrowed(name),
                    false => Cow::Owned(literal::quote_label(name)),
                }
            }
            Expr::Literal { kind, text } => {
                let text = self.file.str(text);
                if kind == LiteralKind::String
                    && (text.starts_with("\"\"\"") || text.starts_with('#'))
                    && let Ok(value) = literal::unquote_string(text)
                {
                    return Cow::Owned(literal::quote_label(&value));
                }
                Cow::Borrowed(text)
            }
            _ => Cow::Borrowed(""),
        }
    }
}
