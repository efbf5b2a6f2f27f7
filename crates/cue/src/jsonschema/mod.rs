//! JSON Schema and OpenAPI documents as CUE.
//!
//! A schema becomes the constraint it describes: `type`, bounds, lengths, patterns, `enum`, `const`, `properties`, `items`, the
//! combinations `allOf`, `anyOf`, `oneOf` and `not`, conditions (`if`, `contains`, dependencies), and references inside of the document. Objects are open unless
//! `additionalProperties` is `false`. Titles and descriptions become comments. Definitions (`$defs`, `definitions`, `components.schemas`)
//! become CUE definitions of the same name at the top.
//!
//! Annotations that constrain nothing (`default`, `example`, `format` and their like) are dropped. Keywords that would
//! constrain and are not converted (`prefixItems`, `propertyNames`, `unevaluatedProperties`, remote references, …) are an error when
//! strict, and else leave the value wider than the schema.

mod conditions;
mod document;
mod keywords;
mod schema;

use base::{Diagnostic, Span, Symbols};
use data::{Field, NodeId, Tree, Value};

use crate::syntax::ast::{ExprId, File};
use crate::syntax::build::Builder;

pub use document::{Interpretation, convert, interpretation};

use crate::load::LOAD as CODE;

/// How strictly keywords are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strict {
    /// Keywords that nobody knows are errors.
    pub keywords: bool,
    /// Keywords that are known and not converted are errors.
    pub features: bool,
}

/// A converted document.
#[derive(Debug)]
pub struct Converted {
    pub builder: Builder,
    /// The imports it needs.
    pub imports: Vec<&'static str>,
    /// What the document says about itself.
    pub docs: Vec<String>,
    pub decls: Vec<crate::syntax::ast::DeclId>,
}

impl Converted {
    /// The file, with a package clause perhaps, under labels perhaps.
    pub fn finish(
        mut self,
        package: Option<&str>,
        labels: &[(String, bool)],
        symbols: &mut Symbols,
    ) -> File {
        use crate::syntax::ast::NodeRef;
        let b = &mut self.builder;
        let mut top = Vec::new();
        if let Some(package) = package {
            let package = symbols.intern(package);
            top.push(b.package(package));
        }
        if !self.imports.is_empty() {
            self.imports.sort_unstable();
            self.imports.dedup();
            let imports: Vec<_> = self
                .imports
                .iter()
                .map(|path| b.import(None, path))
                .collect();
            top.push(b.import_decl(&imports));
        }
        let mut decls = std::mem::take(&mut self.decls);
        for (name, written) in labels.iter().rev() {
            let value = b.struct_lit(&decls);
            let label = if *written {
                let symbol = symbols.intern(name);
                b.ident(symbol)
            } else {
                b.label(name, symbols)
            };
            decls = vec![b.field(label, value)];
        }
        top.extend(decls);
        let lines: Vec<&str> = self.docs.iter().map(String::as_str).collect();
        if !lines.is_empty()
            && let Some(&first) = top.first()
        {
            b.doc(NodeRef::Decl(first), &lines);
        }
        self.builder.finish(&top)
    }
}

/// The state of one conversion.
struct Converter<'a> {
    tree: &'a Tree,
    symbols: &'a mut Symbols,
    builder: Builder,
    imports: Vec<&'static str>,
    strict: Strict,
    findings: Vec<Diagnostic>,
    /// Expressions get the places of their keywords.
    places: bool,
    depth: usize,
}

/// How deep schemas nest.
const MAX_DEPTH: usize = 200;

impl Converter<'_> {
    fn fields(&self, id: NodeId) -> &[Field] {
        match self.tree.value(id) {
            Value::Map(fields) => fields,
            _ => &[],
        }
    }

    fn get(&self, id: NodeId, name: &str) -> Option<NodeId> {
        let found = self.fields(id).iter();
        let mut found = found.filter(|f| self.symbols.name(f.name) == name);
        found.next().map(|f| f.value)
    }

    fn text(&self, id: Option<NodeId>) -> Option<&str> {
        match self.tree.value(id?) {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    fn error(&mut self, span: Span, message: String) {
        self.findings
            .push(Diagnostic::error(CODE, message).primary(span, ""));
    }

    fn name(&mut self, name: &str) -> ExprId {
        let symbol = self.symbols.intern(name);
        self.builder.ident(symbol)
    }

    /// A call of a member of a standard package.
    fn call(&mut self, package: &'static str, member: &str, args: &[ExprId]) -> ExprId {
        self.imports.push(package);
        let of = self.name(package);
        let member = self.name(member);
        let function = self.builder.selector(of, member);
        self.builder.call(function, args)
    }

    /// A value of the document as CUE.
    fn data(&mut self, id: NodeId) -> ExprId {
        crate::load::data_to_cue(&mut self.builder, self.tree, id, "", self.symbols)
    }
}

/// A text as lines of a comment, wrapped.
fn comment(text: &str) -> Vec<String> {
    const WIDTH: usize = 77;
    let mut lines = Vec::new();
    for line in text.trim().lines() {
        let mut out = String::new();
        for word in line.split_whitespace() {
            if !out.is_empty() && out.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push(std::mem::take(&mut out));
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
        lines.push(out);
    }
    lines
}
