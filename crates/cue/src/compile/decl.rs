//! Declarations: fields, lets, aliases, embeddings; and whole files.

use base::{Span, Symbol};
use smallvec::SmallVec;

use crate::eval::ids::{DeclId, ExprId};
use crate::eval::ir::{DeclKind, Expr, StructLit};
use crate::eval::label::Label;
use crate::eval::node::ArcType;
use crate::syntax::ast::{self, Constraint, Decl, List};
use crate::syntax::literal;
use crate::syntax::literal::label_needs_quotes;

use super::Compiler;
use super::resolve::short;
use super::scope::{LetState, Name, Scope, Step};

impl<'c> Compiler<'c> {
    pub(super) fn declare_package_fields(&mut self, file: &ast::File) {
        for id in file.list(file.decls) {
            if let Decl::Field(field) = file.decl(id)
                && let (ast::Label::Name { symbol, .. }, _) = file.label(field.label)
            {
                let label = self.label(symbol);
                self.package_fields.insert(label);
            }
        }
    }

    pub(super) fn compile_file(&mut self, file: &'c ast::File) -> ExprId {
        self.file = Some(file);
        let mut scope = Scope::frame(0);
        for id in file.imports() {
            let import = file.import(id);
            let span = file.expr_span(import.path);
            let text = match file.expr(import.path) {
                ast::Expr::Literal { text, .. } => {
                    literal::unquote_string(file.str(text)).unwrap_or_default()
                }
                _ => String::new(),
            };
            let name = match import.name {
                Some(name) => name.symbol,
                None => {
                    let short = short(&text).to_owned();
                    self.ctx.symbols.intern(&short)
                }
            };
            let path = Label::string(&mut self.ctx.symbols, &text);
            let first = text.split('/').next().unwrap_or("");
            if !first.contains('.')
                && !text.starts_with("tool/")
                && !self.ctx.packages.contains_key(&path)
                && crate::packages::package(&text).is_none()
            {
                self.error(span, format!("builtin package \"{text}\" undefined"));
                continue;
            }
            let span = match import.name {
                Some(name) => file.expr_span(name.expr),
                None => span,
            };
            let renamed = import
                .name
                .map(|n| self.name(n.symbol))
                .filter(|n| n != short(&text));
            let entry = Name::Import {
                path,
                span,
                used: false,
                text: match renamed {
                    Some(name) => format!("\"{text}\" as {name}"),
                    None => format!("\"{text}\""),
                },
            };
            if scope.names.insert(name, entry).is_some() {
                let name = self.name(name);
                self.error(span, format!("{name} redeclared as imported package name"));
            }
        }
        self.stack.push(scope);
        let (lit, span) = self.decls(file.decls);
        let span = span.unwrap_or(Span::new(file.source, 0..0));
        self.pop_scope();
        let lit = StructLit { file: true, ..lit };
        let expr = self.push(Expr::Struct(lit), span);
        // Attributes above the package clause are about the file as text.
        let mut decls = file.list(file.decls);
        let package = decls.position(|d| matches!(file.decl(d), Decl::Package { .. }));
        let own = file.list(file.decls).skip(package.unwrap_or(0));
        self.keep_struct_attributes(own, expr);
        expr
    }

    /// Keeps the attributes that stand between the declarations of a literal.
    pub(super) fn keep_struct_attributes(
        &mut self,
        decls: impl Iterator<Item = ast::DeclId>,
        expr: ExprId,
    ) {
        let file = self.ast();
        let texts: Vec<String> = decls
            .filter_map(|d| match file.decl(d) {
                Decl::Attribute(id) => Some(file.attribute(id).to_owned()),
                _ => None,
            })
            .filter(|text| !text.starts_with("@experiment(") && !text.starts_with("@extern("))
            .collect();
        if !texts.is_empty() {
            self.ctx.struct_attributes.insert(expr, texts);
        }
    }

    pub(super) fn pop_scope(&mut self) {
        let Some(scope) = self.stack.pop() else {
            return;
        };
        let mut unused: Vec<(Span, String)> = Vec::new();
        for (symbol, name) in scope.names.iter() {
            match name {
                Name::FieldAlias {
                    span, used: false, ..
                }
                | Name::Let {
                    span, used: false, ..
                }
                | Name::ValueAlias {
                    span, used: false, ..
                } => unused.push((
                    *span,
                    format!("unreferenced alias or let clause {}", self.name(symbol)),
                )),
                Name::Import {
                    span,
                    used: false,
                    text,
                    ..
                } => unused.push((*span, format!("imported and not used: {text}"))),
                _ => {}
            }
        }
        unused.sort_by_key(|(span, _)| span.start);
        for (span, message) in unused {
            self.error(span, message);
        }
    }

    /// Compiles declarations in the scope on top of the stack.
    pub(super) fn decls(&mut self, decls: List<ast::DeclId>) -> (StructLit, Option<Span>) {
        let file = self.ast();
        let mut has_alias = false;
        for id in file.list(decls) {
            has_alias |= self.declare(id);
        }
        if has_alias {
            self.compile_alias_keys(decls);
        }
        let mut out: SmallVec<[DeclId; 8]> = SmallVec::new();
        let mut has_embed = false;
        let mut first = None;
        for id in file.list(decls) {
            let span = file.decl_span(id);
            if let Some(kind) = self.decl(id) {
                first = first.or(Some(span));
                has_embed |= matches!(kind, DeclKind::Embed(_));
                let span = match kind {
                    DeclKind::Embed(x) => self.ctx.ir.span(x).unwrap_or(span),
                    _ => span,
                };
                let decl = self.ctx.ir.decl(kind, span);
                self.keep_docs(id, decl);
                self.keep_field_notes(id, decl);
                out.push(decl);
            }
        }
        let lit = StructLit {
            decls: self.ctx.ir.literal(&out),
            file: false,
            has_embed,
            explicit_open: file.experiments.explicit_open,
        };
        (lit, first)
    }

    /// Keeps the attributes and the alias of a field.
    fn keep_field_notes(&mut self, id: ast::DeclId, decl: DeclId) {
        let file = self.ast();
        let Decl::Field(field) = file.decl(id) else {
            return;
        };
        let texts: Vec<String> = file
            .list(field.attributes)
            .map(|a| file.attribute(a).to_owned())
            .collect();
        if !texts.is_empty() {
            self.ctx.attributes.insert(decl, texts);
        }
        let alias = match file.label(field.label).1 {
            Some(name) => Some(name),
            None => field.alias.and_then(|a| file.field_alias(a).field),
        };
        if let Some(name) = alias {
            let label = self.label(name.symbol);
            self.ctx.aliases.insert(decl, label);
        }
    }

    fn keep_docs(&mut self, id: ast::DeclId, decl: DeclId) {
        let file = self.ast();
        if file.comments.is_empty() {
            return;
        }
        let groups = file.comments.of(ast::NodeRef::Decl(id));
        let lines: Vec<String> = groups
            .iter()
            .filter(|g| g.doc)
            .flat_map(|g| g.comments.iter())
            .map(|&text| file.str(text).trim_end().to_owned())
            .collect();
        if !lines.is_empty() {
            self.ctx.docs.insert(decl, lines);
        }
    }

    /// Declares the names of a declaration; whether there is an alias of a field.
    fn declare(&mut self, id: ast::DeclId) -> bool {
        let file = self.ast();
        match file.decl(id) {
            Decl::Field(field) => {
                let (label, alias) = file.label(field.label);
                let static_label = self.static_label(label);
                if let ast::Label::Name { symbol, .. } = label
                    && let Some(label) = static_label
                {
                    self.insert(symbol, Name::Field(label), None);
                }
                let alias_name = alias.map(|a| (a, file.expr_span(field.label))).or_else(|| {
                    let name = file.field_alias(field.alias?).field?;
                    Some((name, file.expr_span(name.expr)))
                });
                if let Some((name, span)) = alias_name {
                    if self.is_blank(name.symbol) {
                        return false;
                    }
                    let entry = Name::FieldAlias {
                        label: static_label,
                        key: None,
                        pattern: matches!(label, ast::Label::Pattern { .. }),
                        span,
                        used: false,
                    };
                    self.insert(name.symbol, entry, Some(span));
                    return true;
                }
            }
            Decl::Let { name, value, .. } => {
                let text = self.name(name.symbol);
                self.ctx.let_serial += 1;
                let label = Label::let_clause(&mut self.ctx.symbols, &text, self.ctx.let_serial);
                let span = file.decl_span(id);
                if text == "_" {
                    let at = file.expr_span(name.expr);
                    self.error(at, "cannot use _ as alias or let clause");
                    return false;
                }
                let entry = Name::Let {
                    label,
                    value,
                    state: LetState::New,
                    span,
                    used: false,
                };
                self.insert(name.symbol, entry, Some(span));
            }
            _ => {}
        }
        false
    }

    fn insert(&mut self, symbol: Symbol, entry: Name, alias_at: Option<Span>) {
        let Some(scope) = self.stack.last_mut() else {
            return;
        };
        let known = scope.names.get(symbol);
        if let (Some(known), Some(span)) = (known, alias_at) {
            let before = match known {
                Name::FieldAlias { span, .. } | Name::Let { span, .. } => Some(*span),
                _ => None,
            };
            if before.is_some() {
                let name = self.name(symbol);
                self.error(span, format!("alias \"{name}\" already declared"));
                return;
            }
        }
        // A field does not hide an alias of the same name in the same braces.
        if matches!(entry, Name::Field(_))
            && matches!(known, Some(Name::FieldAlias { .. } | Name::Let { .. }))
        {
            return;
        }
        scope.names.insert(symbol, entry);
    }

    /// Labels that are expressions: their aliases refer to the expression.
    fn compile_alias_keys(&mut self, decls: List<ast::DeclId>) {
        let file = self.ast();
        for id in file.list(decls) {
            let Decl::Field(field) = file.decl(id) else {
                continue;
            };
            let (label, alias) = file.label(field.label);
            let Some(name) = alias.or_else(|| field.alias.and_then(|a| file.field_alias(a).field))
            else {
                continue;
            };
            let expr = match label {
                ast::Label::Interpolated { expr } | ast::Label::Dynamic { expr } => expr,
                _ => continue,
            };
            let compiled = self.expr(expr);
            if let Some(scope) = self.stack.last_mut()
                && let Some(Name::FieldAlias { key, .. }) = scope.names.get_mut(name.symbol)
            {
                *key = Some(compiled);
            }
        }
    }

    /// The label of a field that is not computed.
    fn static_label(&mut self, label: ast::Label) -> Option<Label> {
        let file = self.ast();
        match label {
            ast::Label::Name { symbol, .. } => {
                if self.is_blank(symbol) {
                    return None;
                }
                Some(self.label(symbol))
            }
            ast::Label::String { expr } => match file.expr(expr) {
                ast::Expr::Literal {
                    kind: ast::LiteralKind::String,
                    text,
                } if let Some(name) = literal::plain_string(file.str(text)) => {
                    Some(Label::string(&mut self.ctx.symbols, name))
                }
                ast::Expr::Literal {
                    kind: ast::LiteralKind::String,
                    text,
                } => match literal::unquote_string(file.str(text)) {
                    Ok(name) => Some(Label::string(&mut self.ctx.symbols, &name)),
                    Err(e) => {
                        self.error(file.expr_span(expr), format!("invalid string label: {e}"));
                        None
                    }
                },
                ast::Expr::Literal { text, .. } => {
                    Some(Label::string(&mut self.ctx.symbols, file.str(text)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A field or clause as paths of messages show it.
    pub(super) fn step_text(&self, step: Step) -> String {
        let label = match step {
            Step::Field(label) => label,
            Step::Clause(text) => return text.to_owned(),
        };
        let file = self.ast();
        match label {
            ast::Label::Name { symbol, .. } => self.name(symbol),
            ast::Label::String { expr } => match file.expr(expr) {
                ast::Expr::Literal { text, .. } => {
                    let raw = file.str(text);
                    match literal::unquote_string(raw) {
                        Ok(name) if !label_needs_quotes(&name) => name,
                        _ => raw.to_owned(),
                    }
                }
                _ => "<unknown>".to_owned(),
            },
            ast::Label::Pattern { .. } => "[]".to_owned(),
            ast::Label::Interpolated { .. } => "?".to_owned(),
            _ => "<unknown>".to_owned(),
        }
    }

    fn decl(&mut self, id: ast::DeclId) -> Option<DeclKind> {
        let file = self.ast();
        let span = file.decl_span(id);
        match file.decl(id) {
            Decl::Field(field) => self.field(&field, span),
            Decl::Embed(expr) => Some(DeclKind::Embed(self.embedding(expr))),
            Decl::Let { name, .. } => {
                let k = self.stack.len().checked_sub(1)?;
                let entry = self.stack.get(k)?.names.get(name.symbol)?.clone();
                let Name::Let {
                    label,
                    value,
                    state,
                    ..
                } = entry
                else {
                    return None;
                };
                let value = match state {
                    LetState::Done { expr, .. } => expr,
                    _ => self.compile_let_decl(k, name.symbol, value),
                };
                let multi = match self.stack.get(k)?.names.get(name.symbol) {
                    Some(Name::Let {
                        state: LetState::Done { multi, .. },
                        ..
                    }) => *multi,
                    _ => false,
                };
                Some(DeclKind::Let {
                    label,
                    multi,
                    value,
                })
            }
            Decl::Ellipsis => Some(DeclKind::Ellipsis(None)),
            Decl::Bad => {
                self.error(span, "invalid declaration");
                None
            }
            Decl::Attribute(_) | Decl::Package { .. } | Decl::Import { .. } => None,
        }
    }

    fn embedding(&mut self, expr: ast::ExprId) -> ExprId {
        self.element(expr, false)
    }

    fn field(&mut self, field: &ast::Field, span: Span) -> Option<DeclKind> {
        let file = self.ast();
        let (label, alias) = file.label(field.label);
        let arc = match field.constraint {
            None => ArcType::Member,
            Some(Constraint::Optional) => ArcType::Optional,
            Some(Constraint::Required) => ArcType::Required,
        };
        // Names that only the field's own value can see.
        let mut inner = Scope::default();
        let mut pattern_name = Label::NONE;
        if let ast::Label::Pattern {
            alias: Some(name), ..
        } = label
        {
            pattern_name = self.label(name.symbol);
            inner
                .names
                .insert(name.symbol, Name::PatternLabel { name: pattern_name });
        }
        if let Some(name) = field.alias.and_then(|a| file.field_alias(a).label)
            && !self.is_blank(name.symbol)
        {
            let entry = self.label(name.symbol);
            inner
                .names
                .insert(name.symbol, Name::PatternLabel { name: entry });
            if pattern_name == Label::NONE {
                pattern_name = entry;
            }
        }
        let mut value = field.value;
        if let ast::Expr::Alias { name, expr, .. } = file.expr(value) {
            inner.names.insert(
                name.symbol,
                Name::ValueAlias {
                    span: file.expr_span(value),
                    used: false,
                },
            );
            value = expr;
        }
        let step = Step::Field(label);
        let saved = self.stack.last_mut().map(|s| s.path.replace(step));
        let has_names = !inner.names.is_empty();
        if has_names {
            self.stack.push(inner);
        }
        let compiled = self.expr(value);
        if has_names {
            self.pop_scope();
        }
        if let (Some(scope), Some(saved)) = (self.stack.last_mut(), saved) {
            scope.path = saved;
        }
        let aliased = alias.is_some() || field.alias.is_some();
        match label {
            ast::Label::Name { .. } | ast::Label::String { .. } => {
                let Some(label) = self.static_label(label) else {
                    self.error(span, "cannot use _ as label");
                    return None;
                };
                Some(DeclKind::Field {
                    label,
                    arc,
                    value: compiled,
                })
            }
            ast::Label::Pattern { expr, .. } => {
                let filter = self.expr(expr);
                Some(DeclKind::Pattern {
                    filter,
                    label: pattern_name,
                    value: compiled,
                })
            }
            ast::Label::Interpolated { expr } | ast::Label::Dynamic { expr } => {
                let key = self.expr(expr);
                Some(DeclKind::Dynamic {
                    key,
                    arc,
                    value: compiled,
                    aliased,
                })
            }
            ast::Label::Bad => {
                self.error(span, "invalid label");
                None
            }
        }
    }
}
