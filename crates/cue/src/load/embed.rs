//! `@embed(file=…)` and `@embed(glob=…)`: data files as values of fields.
//!
//! A file asks for it with `@extern(embed)`. Files are named relative to its directory and lie in or
//! below it. A pattern yields a struct with one field for each matching file.

use std::sync::Arc;

use base::{Diagnostic, Span};
use data::{Format, Options, Reading};

use super::{Encoding, Failed, LOAD, Loader, data_to_cue, join, parent};
use crate::packages;
use crate::syntax::ast::{AttributeId, ExprId, File, NodeRef};
use crate::syntax::build::Builder;
use crate::syntax::literal;

/// What an attribute asks for.
#[derive(Default)]
struct Wanted {
    file: Option<String>,
    glob: Option<String>,
    kind: Option<String>,
}

impl Loader<'_> {
    /// The file with its embedded data in place.
    pub(super) fn with_embedded(
        &mut self,
        file: Arc<File>,
        path: &str,
    ) -> Result<Arc<File>, Failed> {
        let asked = |file: &File| {
            file.list(file.decls).any(|id| match file.decl(id) {
                crate::syntax::ast::Decl::Attribute(id) => {
                    file.attribute_parts(id) == ("extern", "embed")
                }
                _ => false,
            })
        };
        if path == "-" || !asked(&file) {
            return Ok(file);
        }
        let places = file.attribute_places("embed");
        let mut errors = Vec::new();
        let mut builder = Builder::on(Arc::unwrap_or_clone(file));
        for (place, attribute) in places {
            let span = builder.file().span_of(NodeRef::Attribute(attribute));
            let before = builder.mark();
            match self.embedded(&mut builder, attribute, parent(path)) {
                Ok(value) => {
                    builder.place_at(before, span);
                    builder.unify_at(place, value);
                }
                Err(message) => errors.push(failed(&message, span)),
            }
        }
        if errors.is_empty() {
            Ok(Arc::new(builder.into_file()))
        } else {
            Err(errors)
        }
    }

    fn embedded(
        &mut self,
        builder: &mut Builder,
        attribute: AttributeId,
        directory: &str,
    ) -> Result<ExprId, String> {
        let body = builder.file().attribute_parts(attribute).1.to_owned();
        let wanted = parse(&body);
        match (wanted.file, wanted.glob) {
            (None, None) => Err("attribute must have file or glob field".to_owned()),
            (Some(_), Some(_)) => Err("attribute cannot have both file and glob field".to_owned()),
            (Some(name), None) => {
                check(&name)?;
                self.embedded_file(builder, directory, &name, wanted.kind.as_deref())
            }
            (None, Some(glob)) => {
                check(&glob)?;
                if glob.contains("**") {
                    return Err(format!(
                        "invalid glob pattern {glob:?}: '**' is not supported in patterns as of yet"
                    ));
                }
                let names = self.matches(directory, &glob);
                if names.is_empty() {
                    return Err(format!("no matches for glob pattern {glob:?}"));
                }
                let mut fields = Vec::new();
                for name in names {
                    let kind = wanted.kind.as_deref();
                    let value = self.embedded_file(builder, directory, &name, kind)?;
                    let label = builder.string_in_line(&name);
                    fields.push(builder.field(label, value));
                }
                Ok(builder.struct_lit(&fields))
            }
        }
    }

    fn embedded_file(
        &mut self,
        builder: &mut Builder,
        directory: &str,
        name: &str,
        kind: Option<&str>,
    ) -> Result<ExprId, String> {
        let encoding = match kind {
            Some(word) => Encoding::of_word(word).ok_or(format!("unknown filetype {word}"))?,
            None => Encoding::of_name(name).ok_or(format!("unknown filetype for {name:?}"))?,
        };
        let Some(bytes) = self.files.read(&join(directory, name)) else {
            return Err(format!("open {name}: no such file or directory"));
        };
        let format = match encoding {
            Encoding::Json => Format::Json,
            Encoding::Yaml => Format::Yaml,
            Encoding::Toml => Format::Toml,
            Encoding::Text => return Ok(builder.string(&String::from_utf8_lossy(&bytes))),
            Encoding::Binary => return Ok(builder.bytes(&bytes)),
            Encoding::JsonLines => {
                return Err(format!(
                    "{name} is a stream of JSON values, and one value can be embedded"
                ));
            }
            Encoding::Cue => {
                return Err(format!("{name} is CUE: import its package instead"));
            }
        };
        let text: Arc<str> = Arc::from(String::from_utf8_lossy(&bytes));
        let source = self.sources.add(name, Arc::clone(&text));
        let options = Options {
            reading: Reading::Reference,
        };
        let parsed = data::parse(format, source, Arc::clone(&text), self.symbols, &options);
        if let Some(error) = parsed.findings.iter().find(|f| f.is_error()) {
            return Err(error.message.clone());
        }
        match parsed.documents.as_slice() {
            [] => Ok(builder.null()),
            [tree] => Ok(data_to_cue(builder, tree, tree.root(), &text, self.symbols)),
            many => Err(format!(
                "{name} has {} documents, and one can be embedded",
                many.len()
            )),
        }
    }

    /// The files below a directory whose paths match a pattern, sorted.
    fn matches(&self, directory: &str, glob: &str) -> Vec<String> {
        let mut found = vec![String::new()];
        let elements: Vec<&str> = glob.split('/').collect();
        for (at, element) in elements.iter().enumerate() {
            let last = at + 1 == elements.len();
            let mut next = Vec::new();
            for base in found {
                let here = join(directory, &format!("./{base}"));
                let names = match last {
                    true => self.files.files(&here).unwrap_or_default(),
                    false => self.files.directories(&here),
                };
                // What begins with a dot must be asked for.
                let hidden = element.starts_with('.');
                let wanted = names
                    .into_iter()
                    .filter(|name| hidden || !name.starts_with('.'))
                    .filter(|name| packages::glob_matches(element, name, '/', true) == Ok(true));
                next.extend(wanted.map(|name| match base.is_empty() {
                    true => name,
                    false => format!("{base}/{name}"),
                }));
            }
            found = next;
        }
        found.sort();
        found
    }
}

fn failed(message: &str, span: Span) -> Diagnostic {
    Diagnostic::error(LOAD, format!("@embed: {message}")).primary(span, "")
}

/// Paths stay below the directory and are written one way only.
fn check(path: &str) -> Result<(), String> {
    if path.starts_with('/') {
        return Err("only relative files are allowed".to_owned());
    }
    if path == ".." || path.starts_with("../") {
        return Err("cannot refer to parent directory".to_owned());
    }
    let clean = join("", path);
    let clean = clean.strip_prefix('/').unwrap_or(&clean);
    if clean != path {
        return Err(format!("path not normalized, use {clean:?} instead"));
    }
    Ok(())
}

fn parse(body: &str) -> Wanted {
    let mut wanted = Wanted::default();
    for part in body.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        let value = literal::unquote_string(value).unwrap_or_else(|_| value.to_owned());
        match key.trim() {
            "file" => wanted.file = Some(value),
            "glob" => wanted.glob = Some(value),
            "type" => wanted.kind = Some(value),
            _ => {}
        }
    }
    wanted
}
