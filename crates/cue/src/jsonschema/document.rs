//! Whole documents: which kind one is, what it says about itself, its definitions.

use base::{Diagnostic, Symbols};
use data::{NodeId, Tree, Value};

use super::schema::Schema;
use super::{Converted, Converter, Strict, comment};
use crate::syntax::ast::{BinaryOp, ExprId, NodeRef, UnaryOp};
use crate::syntax::build::Builder;

/// What a data file describes besides data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpretation {
    JsonSchema,
    OpenApi,
}

/// The kind that a document says it is of.
pub fn interpretation(tree: &Tree, symbols: &Symbols) -> Option<Interpretation> {
    let Value::Map(fields) = tree.value(tree.root()) else {
        return None;
    };
    let get = |name: &str| {
        let found = fields.iter().find(|f| symbols.name(f.name) == name);
        found.map(|f| tree.value(f.value))
    };
    if let Some(Value::String(schema)) = get("$schema")
        && canonical(schema).is_some()
    {
        return Some(Interpretation::JsonSchema);
    }
    match (get("openapi"), get("info")) {
        (Some(Value::String(version)), Some(Value::Map(_))) if version.starts_with("3.") => {
            Some(Interpretation::OpenApi)
        }
        _ => None,
    }
}

/// The name of a version of JSON Schema as it is written in full.
fn canonical(schema: &str) -> Option<&'static str> {
    let schema = schema.trim_end_matches('#');
    let path = schema.split_once("://")?.1;
    Some(match path {
        "json-schema.org/draft-04/schema" => "http://json-schema.org/draft-04/schema#",
        "json-schema.org/draft-06/schema" => "http://json-schema.org/draft-06/schema#",
        "json-schema.org/draft-07/schema" => "http://json-schema.org/draft-07/schema#",
        "json-schema.org/draft/2019-09/schema" => "https://json-schema.org/draft/2019-09/schema",
        "json-schema.org/draft/2020-12/schema" => "https://json-schema.org/draft/2020-12/schema",
        _ => return None,
    })
}

/// Converts a document. With `places` the expressions keep the places of what they come from.
pub fn convert(
    tree: &Tree,
    kind: Interpretation,
    strict: Strict,
    places: bool,
    symbols: &mut Symbols,
) -> Result<Converted, Vec<Diagnostic>> {
    let mut converter = Converter {
        tree,
        symbols,
        builder: Builder::in_source(tree.source()),
        imports: Vec::new(),
        strict,
        findings: Vec::new(),
        places,
        depth: 0,
    };
    let mut converted = match kind {
        Interpretation::JsonSchema => converter.json_schema(),
        Interpretation::OpenApi => converter.open_api(),
    };
    if !converter.findings.is_empty() {
        return Err(converter.findings);
    }
    converted.imports = converter.imports;
    converted.builder = converter.builder;
    Ok(converted)
}

impl Converter<'_> {
    fn json_schema(&mut self) -> Converted {
        let root = self.tree.root();
        let mut decls = Vec::new();
        let schema = self.text(self.get(root, "$schema"));
        let schema = schema.and_then(canonical);
        let mut attributes = Vec::new();
        if let Some(schema) = schema {
            attributes.push(format!("@jsonschema(schema={schema:?})"));
        }
        let id = self.text(self.get(root, "$id").or_else(|| self.get(root, "id")));
        if let Some(id) = id {
            attributes.push(format!("@jsonschema(id={id:?})"));
        }
        for text in attributes {
            let attribute = self.builder.attribute(&text);
            decls.push(self.builder.attribute_decl(attribute));
        }
        let made = self.schema(root);
        match self.builder.fields_of(made.expr) {
            Some(fields) => decls.extend(fields),
            None => decls.push(self.builder.embed(made.expr)),
        }
        for section in ["definitions", "$defs"] {
            if let Some(section) = self.get(root, section) {
                self.definitions(section, &mut decls, false);
            }
        }
        self.converted(made.docs, decls)
    }

    fn converted(
        &mut self,
        docs: Vec<String>,
        decls: Vec<crate::syntax::ast::DeclId>,
    ) -> Converted {
        Converted {
            builder: Builder::new(),
            imports: Vec::new(),
            docs,
            decls,
        }
    }

    fn open_api(&mut self) -> Converted {
        let root = self.tree.root();
        let version = self.text(self.get(root, "openapi")).unwrap_or("");
        // Version 3.0 forbids keywords that it does not know.
        if version.starts_with("3.0") {
            self.strict.keywords = true;
        }
        let mut decls = Vec::new();
        let mut docs = Vec::new();
        if let Some(info) = self.get(root, "info") {
            let mut fields = Vec::new();
            for name in ["title", "version"] {
                let Some(value) = self.get(info, name) else {
                    continue;
                };
                if name == "title"
                    && let Value::String(text) = self.tree.value(value)
                {
                    docs = comment(text);
                }
                let value = self.defaulted(value);
                let label = self.builder.label(name, self.symbols);
                fields.push(self.builder.field(label, value));
            }
            let value = self.builder.struct_lit(&fields);
            let label = self.builder.label("info", self.symbols);
            decls.push(self.builder.field(label, value));
        }
        let components = self.get(root, "components");
        if let Some(schemas) = components.and_then(|c| self.get(c, "schemas")) {
            self.definitions(schemas, &mut decls, true);
        }
        self.converted(docs, decls)
    }

    /// `*value | string`
    fn defaulted(&mut self, value: NodeId) -> ExprId {
        let value = self.data(value);
        let value = self.builder.unary(UnaryOp::Default, value);
        let string = self.name("string");
        self.builder.binary(BinaryOp::Or, value, string)
    }

    fn definitions(
        &mut self,
        section: NodeId,
        decls: &mut Vec<crate::syntax::ast::DeclId>,
        sorted: bool,
    ) {
        let mut fields: Vec<(String, NodeId)> = self
            .fields(section)
            .iter()
            .map(|f| (self.symbols.name(f.name).to_owned(), f.value))
            .collect();
        if sorted {
            fields.sort();
        }
        for (name, value) in fields {
            let Schema { expr, docs, .. } = self.schema(value);
            let label = match self.definition_name(&name) {
                Some(label) => label,
                None => {
                    let span = self.tree.span(value);
                    self.error(span, format!("the name {name:?} cannot be a definition"));
                    continue;
                }
            };
            let decl = self.builder.field(label, expr);
            let lines: Vec<&str> = docs.iter().map(String::as_str).collect();
            if !lines.is_empty() {
                self.builder.doc(NodeRef::Decl(decl), &lines);
            }
            decls.push(decl);
        }
    }

    /// `#Name`, if the name is an identifier.
    pub fn definition_name(&mut self, name: &str) -> Option<ExprId> {
        let name = format!("#{name}");
        crate::syntax::literal::is_identifier(&name).then(|| self.name(&name))
    }
}
