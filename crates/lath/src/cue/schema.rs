//! Data files that are schemas: JSON Schema and OpenAPI documents, read as CUE.

use cue::jsonschema::{self, Converted, Interpretation, Strict};
use cue::load::{Encoding, FileArgument, Meaning};
use data::Tree;
use data::write::Json;

use super::Failure;
use super::documents::{Content, Document};
use super::flags::Flags;
use super::place::{self, Context, Placed, Step};
use super::session::Session;

/// The schema that a document is, if it is one.
pub fn meaning(
    file: &FileArgument,
    document: &Document,
    session: &mut Session,
) -> Option<Interpretation> {
    let Content::Tree(tree, _) = &document.content else {
        return None;
    };
    match file.meaning {
        Meaning::Data => None,
        Meaning::Schema(kind) => Some(kind),
        Meaning::Auto => match file.encoding {
            Encoding::Json | Encoding::Yaml => {
                jsonschema::interpretation(tree, session.runtime.symbols())
            }
            _ => None,
        },
    }
}

/// Converts a document. With `places`, errors point into it.
pub fn convert(
    file: &FileArgument,
    kind: Interpretation,
    document: &Document,
    places: bool,
    flags: &Flags,
    session: &mut Session,
) -> Result<Converted, Failure> {
    let Content::Tree(tree, _) = &document.content else {
        return Err(Failure::World("a schema must be data".to_owned()));
    };
    let strict = Strict {
        keywords: file.strict.keywords || flags.strict,
        features: file.strict.features || flags.strict,
    };
    let symbols = session.runtime.symbols();
    let converted = jsonschema::convert(tree, kind, strict, places, symbols);
    converted.map_err(|findings| session.findings(&findings))
}

/// Where a schema is placed: labels, and whether each is written as it is.
pub fn labels(
    flags: &Flags,
    steps: &[Step],
    file: &FileArgument,
    document: &Document,
    session: &mut Session,
) -> Result<Vec<(String, bool)>, Failure> {
    let context = flags.with_context.then_some(Context {
        filename: &file.path,
        index: 0,
        count: 1,
    });
    // The keywords of a schema are no fields that labels could refer to.
    let nothing = Document {
        source: document.source,
        content: Content::Text(String::new()),
    };
    let document = if flags.with_context {
        document
    } else {
        &nothing
    };
    let labels = place::labels(steps, document, session, context)?;
    let labels = labels.unwrap_or_default().into_iter();
    Ok(labels
        .map(|label| match label {
            Placed::Name(name) => (name, true),
            Placed::Text(name) => (name, false),
        })
        .collect())
}

/// A CUE file whose value is a schema: it is evaluated, and its data is the document.
pub fn of_cue(file: &FileArgument, session: &mut Session) -> Result<Document, Failure> {
    let bytes = super::documents::read_bytes(&file.path)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let id = session.sources.add(file.path.clone(), text.as_str());
    let text: std::sync::Arc<str> = text.into();
    let parsed = cue::syntax::parse_file(id, &text, session.runtime.symbols());
    if !parsed.errors.is_empty() {
        return Err(session.findings(&parsed.errors));
    }
    session.runtime.know_sources(&session.sources);
    let built = session.runtime.build("_", &[&parsed.file]);
    let value = built.map_err(|e| session.failed(&e))?;
    let evaluated = session.runtime.evaluate(value);
    evaluated.map_err(|e| session.failed(&e))?;
    let config = cue::eval::validate::Config {
        concrete: true,
        is_final: true,
        all_errors: true,
        ..Default::default()
    };
    let checked = session.runtime.validate(value, config);
    checked.map_err(|e| session.failed(&e))?;
    let mut writer = Json::compact();
    session.runtime.write(value, &mut writer);
    let source = session.sources.add(file.path.clone(), writer.finish());
    let text = std::sync::Arc::clone(session.sources.get(source).text());
    let options = data::Options {
        reading: data::Reading::Reference,
    };
    let symbols = session.runtime.symbols();
    let parsed = data::parse(data::Format::Json, source, text, symbols, &options);
    let tree: Option<Tree> = parsed.documents.into_iter().next();
    match tree {
        Some(tree) => Ok(Document {
            source,
            content: Content::Tree(tree, data::Format::Json),
        }),
        None => Err(Failure::World("a schema must be data".to_owned())),
    }
}
