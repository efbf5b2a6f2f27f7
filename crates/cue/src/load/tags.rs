//! Build tags: `@if(…)` and `@ignore()` leave files out, `@tag(name)` takes values from outside.

use std::sync::Arc;

use base::{Diagnostic, Span};

use super::{Failed, Instance, LOAD, Loader, NOWHERE, Variable, plain};
use crate::syntax::ast::{
    AttributeId, BinaryOp, Decl, DeclId, Expr, ExprId, File, Label, List, LiteralKind, NodeRef,
    UnaryOp,
};
use crate::syntax::literal::{self, Number};
use crate::syntax::parse_expr;

/// A field that takes its value from outside.
struct Tag {
    instance: usize,
    file: usize,
    field: DeclId,
    name: String,
    kind: Kind,
    shorthands: Vec<String>,
    variable: String,
    injected: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Int,
    Number,
    Bool,
}

impl Loader<'_> {
    /// Why a file is left out, if its attributes say so.
    pub(super) fn exclusion(&mut self, file: &File) -> Result<Option<String>, Failed> {
        let mut condition: Option<(AttributeId, String)> = None;
        for id in file.list(file.decls) {
            let Decl::Attribute(attribute) = file.decl(id) else {
                break;
            };
            match file.attribute_parts(attribute) {
                ("ignore", _) => return Ok(Some("@ignore() attribute found".to_owned())),
                ("if", _) if condition.is_some() => {
                    let at = |id| file.span_of(NodeRef::Attribute(id));
                    let first = condition.map(|(id, _)| id).unwrap_or(attribute);
                    let error = |message: &str, span: Span| {
                        Diagnostic::error(LOAD, message).primary(span, "")
                    };
                    return Err(vec![
                        error("multiple @if attributes", at(attribute)),
                        error("previous declaration here", at(first)),
                    ]);
                }
                ("if", body) => condition = Some((attribute, body.to_owned())),
                _ => {}
            }
        }
        let Some((_, body)) = condition else {
            return Ok(None);
        };
        let parsed = parse_expr(NOWHERE, &Arc::from(body.as_str()), self.symbols);
        if let Some(error) = parsed.errors.first() {
            return Err(plain(error.message.clone()));
        }
        let included = self.holds(&parsed.file, parsed.expr)?;
        Ok((!included).then(|| format!("@if({body}) did not match")))
    }

    fn holds(&mut self, file: &File, expr: ExprId) -> Result<bool, Failed> {
        match file.expr(expr) {
            Expr::Ident(symbol) => {
                let name = self.symbols.name(symbol).to_owned();
                let set = self.request.tags.contains(&name);
                if !self.used_tags.contains(&name) {
                    self.used_tags.push(name);
                }
                Ok(set)
            }
            Expr::Paren { expr } => self.holds(file, expr),
            Expr::Unary {
                op: UnaryOp::Not,
                expr,
            } => Ok(!self.holds(file, expr)?),
            Expr::Binary {
                op: op @ (BinaryOp::BoolAnd | BinaryOp::BoolOr),
                left,
                right,
                ..
            } => {
                let left = self.holds(file, left)?;
                let right = self.holds(file, right)?;
                Ok(match op {
                    BinaryOp::BoolAnd => left && right,
                    _ => left || right,
                })
            }
            _ => Err(plain("invalid expression in build attribute")),
        }
    }

    /// Gives the fields marked with `@tag` their values.
    pub(super) fn inject(&mut self, instances: &mut [Instance]) -> Result<(), Failed> {
        let mut search = Search {
            tags: Vec::new(),
            errors: Vec::new(),
        };
        for (i, instance) in instances.iter().enumerate() {
            for (f, file) in instance.files.iter().enumerate() {
                if file.has_attributes() {
                    search.decls(file, file.decls, (i, f), None);
                }
            }
        }
        if !search.errors.is_empty() {
            return Err(search.errors);
        }
        let mut tags = search.tags;
        for given in &self.request.tags {
            let mut used = self.used_tags.contains(given);
            match given.split_once('=') {
                Some((name, value)) => {
                    for tag in tags.iter_mut().filter(|tag| tag.name == name) {
                        used = true;
                        tag.set(instances, value)?;
                    }
                    if !used {
                        return Err(plain(format!("no tag for {name:?}")));
                    }
                }
                None => {
                    for tag in tags.iter_mut().filter(|tag| tag.shorthands.contains(given)) {
                        used = true;
                        tag.set(instances, given)?;
                    }
                    if !used {
                        return Err(plain(format!("tag {given:?} not used in any file")));
                    }
                }
            }
        }
        if self.request.variables.is_empty() {
            return Ok(());
        }
        for tag in tags
            .iter_mut()
            .filter(|tag| !tag.injected && !tag.variable.is_empty())
        {
            match self.request.variables.get(&tag.variable) {
                Some(Variable::Text(text)) => {
                    tag.put(instances, LiteralKind::String, &literal::quote_string(text));
                }
                Some(Variable::Number(text)) => tag.put(instances, LiteralKind::Int, text),
                None => {
                    let message = format!("tag variable '{}' not found", tag.variable);
                    return Err(plain(message));
                }
            }
        }
        Ok(())
    }
}

impl Tag {
    fn set(&mut self, instances: &mut [Instance], value: &str) -> Result<(), Failed> {
        let name = &self.name;
        let (kind, text) = match self.kind {
            Kind::Text => (LiteralKind::String, literal::quote_string(value)),
            Kind::Bool => match value.trim() {
                "1" | "t" | "T" | "true" | "True" | "TRUE" => (LiteralKind::True, "true".into()),
                "0" | "f" | "F" | "false" | "False" | "FALSE" => {
                    (LiteralKind::False, "false".into())
                }
                other => {
                    return Err(plain(format!(
                        "invalid boolean {other:?} for injection tag {name:?}"
                    )));
                }
            },
            Kind::Int | Kind::Number => {
                let unsigned = value.strip_prefix(['-', '+']).unwrap_or(value);
                match literal::parse_number(unsigned) {
                    Err(why) => {
                        return Err(plain(format!(
                            "invalid number for injection tag {name:?}: {why}"
                        )));
                    }
                    Ok(Number::Decimal { float: true, .. }) if self.kind == Kind::Int => {
                        return Err(plain(format!(
                            "invalid int {value:?} for injection tag {name:?}"
                        )));
                    }
                    Ok(Number::Decimal { float: true, .. }) => {
                        (LiteralKind::Float, value.to_owned())
                    }
                    Ok(_) => (LiteralKind::Int, value.to_owned()),
                }
            }
        };
        self.put(instances, kind, &text);
        Ok(())
    }

    fn put(&mut self, instances: &mut [Instance], kind: LiteralKind, text: &str) {
        self.injected = true;
        let file = instances
            .get_mut(self.instance)
            .and_then(|instance| instance.files.get_mut(self.file));
        if let Some(file) = file {
            Arc::make_mut(file).unify_field(self.field, kind, text);
        }
    }
}

struct Search {
    tags: Vec<Tag>,
    errors: Failed,
}

impl Search {
    /// Looks for tags in fields; `forbidden` says why there may be none.
    fn decls(
        &mut self,
        file: &File,
        decls: List<DeclId>,
        at: (usize, usize),
        forbidden: Option<&str>,
    ) {
        for id in file.list(decls) {
            match file.decl(id) {
                Decl::Field(field) => {
                    let named = matches!(
                        file.label(field.label).0,
                        Label::Name { .. } | Label::String { .. }
                    );
                    let mut forbidden = forbidden;
                    if forbidden.is_none() && (!named || field.constraint.is_some()) {
                        forbidden = Some("field constraint");
                    }
                    for attribute in file.list(field.attributes) {
                        if file.attribute_parts(attribute).0 == "tag" {
                            self.tag(file, id, attribute, at, forbidden);
                        }
                    }
                    self.expr(file, field.value, at, forbidden);
                }
                Decl::Embed(expr) => self.expr(file, expr, at, forbidden),
                Decl::Let { value, .. } => self.expr(file, value, at, forbidden),
                _ => {}
            }
        }
    }

    fn expr(&mut self, file: &File, expr: ExprId, at: (usize, usize), forbidden: Option<&str>) {
        let mut expr = expr;
        loop {
            match file.expr(expr) {
                Expr::Struct { decls, .. } => return self.decls(file, decls, at, forbidden),
                Expr::List { elements } => {
                    let forbidden = forbidden.or(Some("lists"));
                    for element in file.list(elements) {
                        self.expr(file, element, at, forbidden);
                    }
                    return;
                }
                Expr::Comprehension { value, .. } => {
                    let forbidden = forbidden.or(Some("comprehension"));
                    return self.expr(file, value, at, forbidden);
                }
                Expr::Binary { left, right, .. } => {
                    self.expr(file, right, at, forbidden);
                    expr = left;
                }
                Expr::Paren { expr: inner }
                | Expr::Unary { expr: inner, .. }
                | Expr::Alias { expr: inner, .. } => expr = inner,
                _ => return,
            }
        }
    }

    fn tag(
        &mut self,
        file: &File,
        field: DeclId,
        attribute: AttributeId,
        (instance, index): (usize, usize),
        forbidden: Option<&str>,
    ) {
        let span = file.span_of(NodeRef::Attribute(attribute));
        let mut fail = |message: String| {
            let error = Diagnostic::error(LOAD, message).primary(span, "");
            self.errors.push(error);
        };
        if let Some(within) = forbidden {
            return fail(format!("@tag not allowed within {within}"));
        }
        let (_, body) = file.attribute_parts(attribute);
        let mut parts = body.split(',').map(str::trim);
        let name = parts.next().unwrap_or("").to_owned();
        if !literal::is_identifier(&name) {
            return fail(format!("invalid identifier {name:?}"));
        }
        let mut tag = Tag {
            instance,
            file: index,
            field,
            name,
            kind: Kind::Text,
            shorthands: Vec::new(),
            variable: String::new(),
            injected: false,
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = literal::unquote_string(value).unwrap_or_else(|_| value.to_owned());
            match key.trim() {
                "type" => {
                    tag.kind = match value.as_str() {
                        "string" => Kind::Text,
                        "int" => Kind::Int,
                        "number" => Kind::Number,
                        "bool" => Kind::Bool,
                        _ => return fail(format!("invalid type {value:?}")),
                    }
                }
                "short" => tag.shorthands = value.split('|').map(str::to_owned).collect(),
                "var" => tag.variable = value,
                _ => {}
            }
        }
        self.tags.push(tag);
    }
}
