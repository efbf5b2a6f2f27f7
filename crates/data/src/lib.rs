//! YAML, JSON and TOML, read into one spanned tree and written back.
//!
//! [`tree::Tree`] is the one shape of plain data in Lath. Every node and every key knows its span;
//! numbers keep their exact text; strings that stand verbatim in the source are not copied.
//!
//! [`parse`] reads a text and returns its documents together with all findings. It never panics,
//! never recurses deeper than [`MAX_DEPTH`] and never builds much more than the text is long: aliases
//! expand to at most [`MAX_ALIAS_NODES`] nodes. [`write`] turns values into text again.
//!
//! The crate does not know layers, tiers or schemas, and it reads no files.

pub mod codes;
mod duplicates;
mod equal;
mod findings;
mod json;
pub mod number;
mod toml;
pub mod tree;
pub mod write;
mod yaml;

use std::sync::Arc;

use base::{Diagnostic, SourceId, Span, Symbols};

use findings::Findings;

pub use tree::{Field, NodeId, Number, Tree, TreeBuilder, Value};

/// How deep lists and maps may be nested. Whoever walks a tree may recurse: this bounds the stack.
pub const MAX_DEPTH: usize = 1_000;

/// How many nodes the aliases of one YAML document may add to it.
pub const MAX_ALIAS_NODES: usize = 1_000_000;

/// A format of plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    Yaml,
    Json,
    /// JSON values one after the other.
    JsonLines,
    Toml,
}

impl Format {
    /// The format that a file's extension names, without its dot.
    pub fn from_extension(extension: &str) -> Option<Format> {
        match extension.to_ascii_lowercase().as_str() {
            "yaml" | "yml" => Some(Format::Yaml),
            "json" => Some(Format::Json),
            "jsonl" | "ndjson" | "ldjson" => Some(Format::JsonLines),
            "toml" => Some(Format::Toml),
            _ => None,
        }
    }

    /// The format of a file by its name or path.
    pub fn from_name(name: &str) -> Option<Format> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let (_, extension) = file.rsplit_once('.')?;
        Format::from_extension(extension)
    }

    /// The word for it on a command line and in messages.
    pub fn word(self) -> &'static str {
        match self {
            Format::Yaml => "yaml",
            Format::Json => "json",
            Format::JsonLines => "jsonl",
            Format::Toml => "toml",
        }
    }
}

/// How strictly a text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// A duplicate key is an error, an unknown tag is an error on any node, an explicit key wins
    /// over a merged one wherever it stands. The keys of every map are unique.
    #[default]
    Strict,
    /// As the CUE reference reads data: duplicate keys stay side by side in their map (CUE unifies
    /// them), unknown tags of lists and maps are ignored, a YAML merge key overrides what stands
    /// before it.
    Reference,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub reading: Reading,
}

/// What [`parse`] returns: the documents that could be read, and everything that is wrong.
#[derive(Debug, Default)]
pub struct Parsed {
    /// None for an empty text; one for JSON and TOML; any number for YAML and JSON lines. Where a
    /// finding is an error, the documents are what could be understood.
    pub documents: Vec<Tree>,
    pub findings: Vec<Diagnostic>,
}

impl Parsed {
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(Diagnostic::is_error)
    }
}

/// Reads a text. `text` is the text of `source`; a byte-order mark at its start is skipped.
pub fn parse(
    format: Format,
    source: SourceId,
    text: Arc<str>,
    symbols: &mut Symbols,
    options: &Options,
) -> Parsed {
    const MOST: usize = i32::MAX as usize;
    let mut findings = Findings::default();
    if text.len() > MOST {
        let start = Span::new(source, 0..0);
        findings.add(start, || {
            Diagnostic::error(codes::TOO_LARGE, "the file is larger than two gigabytes")
                .primary(start, "")
                .help("split it")
        });
        return Parsed {
            documents: Vec::new(),
            findings: findings.finish(),
        };
    }
    let documents = match format {
        Format::Yaml => yaml::parse(source, &text, symbols, options, &mut findings),
        Format::Json => json::parse(source, &text, false, symbols, options, &mut findings),
        Format::JsonLines => json::parse(source, &text, true, symbols, options, &mut findings),
        Format::Toml => toml::parse(source, &text, symbols, &mut findings),
    };
    Parsed {
        documents,
        findings: findings.finish(),
    }
}
