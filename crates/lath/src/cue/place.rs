//! `-l`: where data is placed.
//!
//! A flag is an expression, evaluated inside the data (`-l kind`, `-l 'strings.ToLower(kind)'`),
//! or a path of labels that end in colons (`-l 'services: "\(name)":'`).

use std::sync::Arc;

use base::{SourceId, Symbols};
use cue::Value;
use cue::syntax::ast::{DeclId, Expr, ExprId, Gap, Label, LiteralKind, NodeRef};
use cue::syntax::build::Builder;
use cue::syntax::{literal, parse_expr, parse_file};

use super::Failure;
use super::documents::{Content, Document};
use super::flags::Flags;
use super::session::Session;

/// A label that data is placed at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed {
    /// Written as an identifier, so that it may be hidden or a definition.
    Name(String),
    Text(String),
}

impl Placed {
    /// The label's text, if it is a regular field.
    pub fn regular(&self) -> Option<&str> {
        match self {
            Placed::Name(name) if name.starts_with(['_', '#']) => None,
            Placed::Name(text) | Placed::Text(text) => Some(text),
        }
    }

    fn build(&self, builder: &mut Builder, symbols: &mut Symbols) -> ExprId {
        match self {
            Placed::Name(name) => {
                let symbol = symbols.intern(name);
                builder.ident(symbol)
            }
            Placed::Text(text) => builder.label(text, symbols),
        }
    }
}

/// The labels of one document.
pub type Labels = Vec<Placed>;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Label(Placed),
    /// An expression, as text.
    Expr(String),
}

const NOWHERE: SourceId = SourceId(u32::MAX);

impl Step {
    pub fn parse_all(flags: &[String]) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        for flag in flags {
            let mut symbols = Symbols::new();
            let text: Arc<str> = Arc::from(flag.as_str());
            let parsed = parse_expr(NOWHERE, &text, &mut symbols);
            if parsed.errors.is_empty() {
                steps.push(match parsed.file.expr(parsed.expr) {
                    Expr::Literal {
                        kind: LiteralKind::String,
                        text,
                    } => match literal::unquote_string(parsed.file.str(text)) {
                        Ok(label) => Step::Label(Placed::Text(label)),
                        Err(_) => Step::Expr(flag.clone()),
                    },
                    _ => Step::Expr(flag.clone()),
                });
            } else {
                steps.extend(full_path(flag)?);
            }
        }
        Ok(steps)
    }
}

/// `a: "b": "\(c)":`
fn full_path(flag: &str) -> Result<Vec<Step>, Failure> {
    let wrong = || {
        Failure::World(format!(
            "labels must be expressions (-l foo -l 'strings.ToLower(bar)') or full paths \
             (-l '\"foo\": \"\\(strings.ToLower(bar))\":) : {flag}"
        ))
    };
    let mut symbols = Symbols::new();
    let text: Arc<str> = Arc::from(format!("{flag} _"));
    let parsed = parse_file(NOWHERE, &text, &mut symbols);
    if !parsed.errors.is_empty() {
        return Err(wrong());
    }
    let file = parsed.file;
    let mut steps = Vec::new();
    let mut decls = file.decls;
    loop {
        let Some(cue::syntax::ast::Decl::Field(field)) =
            file.list(decls).next().map(|id| file.decl(id))
        else {
            return Err(wrong());
        };
        let source = |expr| {
            let span = file.expr_span(expr);
            text.get(span.range()).unwrap_or("").to_owned()
        };
        steps.push(match file.label(field.label).0 {
            Label::Name { symbol, .. } => {
                Step::Label(Placed::Name(symbols.name(symbol).to_owned()))
            }
            Label::String { expr } => match file.expr(expr) {
                Expr::Literal { text, .. } => {
                    let text = file.str(text);
                    let text = literal::unquote_string(text).unwrap_or_else(|_| text.to_owned());
                    Step::Label(Placed::Text(text))
                }
                _ => return Err(wrong()),
            },
            Label::Interpolated { expr } | Label::Dynamic { expr } => Step::Expr(source(expr)),
            Label::Pattern { .. } | Label::Bad => return Err(wrong()),
        });
        match file.expr(field.value) {
            Expr::Struct {
                decls: inner,
                braces: false,
            } => decls = inner,
            _ => return Ok(steps),
        }
    }
}

/// What labels may refer to besides the data, with `--with-context`.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub filename: &'a str,
    pub index: usize,
    pub count: usize,
}

/// The labels of a document; none if it is null and has nothing to tell its labels by.
pub fn labels(
    steps: &[Step],
    document: &Document,
    session: &mut Session,
    context: Option<Context<'_>>,
) -> Result<Option<Labels>, Failure> {
    let mut labels = Vec::new();
    let mut scope = None;
    for step in steps {
        let expr = match step {
            Step::Label(label) => {
                labels.push(label.clone());
                continue;
            }
            Step::Expr(expr) => expr,
        };
        let value = match scope {
            Some(value) => value,
            None => *scope.insert(scope_of(document, session, context)?),
        };
        match label(expr, value, session) {
            Ok(label) => labels.push(Placed::Text(label)),
            Err(_) if document.is_null() => return Ok(None),
            Err(why) => {
                let message = format!("error evaluating label {expr}: {why}");
                return Err(Failure::World(message));
            }
        }
    }
    Ok(Some(labels))
}

/// The value in which the expressions of labels are evaluated.
fn scope_of(
    document: &Document,
    session: &mut Session,
    context: Option<Context<'_>>,
) -> Result<Value, Failure> {
    let Some(context) = context else {
        let value = session.runtime.empty();
        session.add(value, document);
        return Ok(value);
    };
    let text = format!(
        "filename: {}\nindex: {}\nrecordCount: {}\n",
        literal::quote_string(context.filename),
        context.index,
        context.count
    );
    let id = session.sources.add("--with-context", text.as_str());
    let text: Arc<str> = Arc::from(text);
    let parsed = parse_file(id, &text, session.runtime.symbols());
    session.runtime.know_sources(&session.sources);
    let built = session.runtime.build("_", &[&parsed.file]);
    let value = built.map_err(|e| session.failed(&e))?;
    if let Content::Tree(tree, _) = &document.content {
        let path = ["data".to_owned()];
        session.runtime.add_data_at(value, &path, tree);
    }
    Ok(value)
}

fn label(expr: &str, scope: Value, session: &mut Session) -> Result<String, String> {
    let id = session.sources.add("--path", expr);
    let text: Arc<str> = Arc::from(expr);
    let parsed = parse_expr(id, &text, session.runtime.symbols());
    session.runtime.know_sources(&session.sources);
    let told = |errors: Vec<cue::eval::report::Reported>| {
        errors.first().map_or_else(String::new, |e| e.text())
    };
    let runtime = &mut session.runtime;
    let value = runtime
        .evaluate_in("_", &parsed.file, parsed.expr, scope)
        .map_err(told)?;
    if let Some(errors) = runtime.error(value) {
        return Err(told(errors));
    }
    let text = runtime.text(value).map(String::from_utf8);
    match text {
        Some(Ok(text)) => Ok(text),
        _ => Err("the label is no string".to_owned()),
    }
}

/// Documents under their labels, as declarations of a file that is being built.
pub fn declarations(
    flags: &Flags,
    steps: &[Step],
    filename: &str,
    documents: &[Document],
    session: &mut Session,
    builder: &mut Builder,
) -> Result<Vec<DeclId>, Failure> {
    let mut decls = Vec::new();
    let mut lists: Vec<(Labels, Vec<ExprId>)> = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let context = flags.with_context.then_some(Context {
            filename,
            index,
            count: documents.len(),
        });
        let Some(labels) = labels(steps, document, session, context)? else {
            continue;
        };
        let value = document.build(builder, &session.sources, session.runtime.symbols());
        if !flags.list {
            put(
                builder,
                &labels,
                value,
                session.runtime.symbols(),
                &mut decls,
            );
            continue;
        }
        match lists.iter_mut().find(|(known, _)| *known == labels) {
            Some((_, elements)) => elements.push(value),
            None => lists.push((labels, vec![value])),
        }
    }
    for (labels, elements) in lists {
        let list = builder.list_lit(&elements);
        builder.gap(NodeRef::Expr(list), Gap::None, Gap::None);
        put(
            builder,
            &labels,
            list,
            session.runtime.symbols(),
            &mut decls,
        );
    }
    Ok(decls)
}

/// A value under its labels, as a declaration; without labels, its fields or itself.
fn put(
    builder: &mut Builder,
    labels: &[Placed],
    value: ExprId,
    symbols: &mut Symbols,
    decls: &mut Vec<DeclId>,
) {
    let Some((first, rest)) = labels.split_first() else {
        match builder.fields_of(value) {
            Some(fields) => decls.extend(fields),
            None => {
                let embedded = builder.embed(value);
                builder.gap(NodeRef::Decl(embedded), Gap::None, Gap::None);
                decls.push(embedded);
            }
        }
        return;
    };
    let mut value = value;
    for label in rest.iter().rev() {
        let label = label.build(builder, symbols);
        let field = builder.field(label, value);
        value = builder.struct_lit(&[field]);
    }
    let label = first.build(builder, symbols);
    decls.push(builder.field(label, value));
}
