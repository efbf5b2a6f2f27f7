//! Data files, read.

use std::io::Read;
use std::sync::Arc;

use base::{SourceId, Sources, Symbols};
use cue::load::{Encoding, FileArgument, document_to_cue};
use cue::syntax::ast::ExprId;
use cue::syntax::build::Builder;
use data::{Format, Options, Reading, Tree};

use super::Failure;

/// One document of a data file.
pub struct Document {
    pub source: SourceId,
    pub content: Content,
}

pub enum Content {
    Tree(Tree, Format),
    /// A whole file as one string.
    Text(String),
    /// A whole file as bytes.
    Bytes(Vec<u8>),
}

impl Document {
    pub fn is_null(&self) -> bool {
        match &self.content {
            Content::Tree(tree, _) => matches!(tree.value(tree.root()), data::Value::Null),
            _ => false,
        }
    }

    /// The document as CUE.
    pub fn build(&self, builder: &mut Builder, sources: &Sources, symbols: &mut Symbols) -> ExprId {
        match &self.content {
            Content::Tree(tree, format) => {
                let text = Arc::clone(sources.get(self.source).text());
                document_to_cue(builder, tree, *format, &text, symbols)
            }
            Content::Text(text) => builder.string(text),
            Content::Bytes(bytes) => builder.bytes(bytes),
        }
    }
}

/// The bytes of a file or of standard input.
pub fn read_bytes(path: &str) -> Result<Vec<u8>, Failure> {
    if path == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(|error| {
        Failure::World(match error.kind() {
            std::io::ErrorKind::NotFound => format!("open {path}: no such file or directory"),
            _ => format!("open {path}: {error}"),
        })
    })
}

/// Reads all documents of a file. The trees' names are symbols of the table.
pub fn read_documents(
    file: &FileArgument,
    sources: &mut Sources,
    symbols: &mut Symbols,
) -> Result<Vec<Document>, Failure> {
    let bytes = read_bytes(&file.path)?;
    let format = match file.encoding {
        Encoding::Json => Format::Json,
        Encoding::JsonLines => Format::JsonLines,
        Encoding::Yaml => Format::Yaml,
        Encoding::Toml => Format::Toml,
        Encoding::Text | Encoding::Cue => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let source = sources.add(file.path.clone(), text.clone());
            let content = Content::Text(text);
            return Ok(vec![Document { source, content }]);
        }
        Encoding::Binary => {
            let source = sources.add(file.path.clone(), "");
            let content = Content::Bytes(bytes);
            return Ok(vec![Document { source, content }]);
        }
    };
    let (source, finding) = sources.add_bytes(file.path.clone(), bytes);
    if let Some(finding) = finding {
        super::plain::print(&[finding], sources);
        return Err(Failure::Reported);
    }
    let text = Arc::clone(sources.get(source).text());
    let options = Options {
        reading: Reading::Reference,
    };
    let mut parsed = data::parse(format, source, text, symbols, &options);
    if format == Format::Yaml && parsed.documents.is_empty() && !parsed.has_errors() {
        // Nothing is null.
        let null: Arc<str> = Arc::from("null");
        parsed = data::parse(format, source, null, symbols, &options);
    }
    if parsed.has_errors() {
        super::plain::print(&parsed.findings, sources);
        return Err(Failure::Reported);
    }
    let documents = parsed.documents.into_iter();
    Ok(documents
        .map(|tree| Document {
            source,
            content: Content::Tree(tree, format),
        })
        .collect())
}
