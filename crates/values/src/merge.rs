//! The documents of all tiers, merged: values, chains, and all findings.

use base::{Diagnostic, LayerId, Path, Sources, Span, Symbols};
use data::{NodeId, Tree, Value};
use layers::{Authority, EntryId, Layer, Link, Resolution, Stack};

use crate::codes;
use crate::document::{self, Document, Found};
use crate::schema::Schema;
use crate::tier::Tier;
use crate::{locked, marks};

/// The names and texts of one run, to look things up for messages.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub symbols: &'a Symbols,
    pub sources: &'a Sources,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the values lie in files that have this path.
    pub at: Option<Path>,
    /// Whether an end user's `null` removes an overridable value.
    pub null_deletes: bool,
    /// Look for conflicts with locks only: the schema is quoted but not checked.
    pub locks_only: bool,
}

/// One layer of the stack, with what the engine does not know of it.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub document: &'a Document,
    /// Which of its tier's documents it is, from one, and how many there are.
    pub ordinal: (usize, usize),
}

impl Part<'_> {
    /// `platform operator (tier 2, overlay 2 of 2)`.
    pub fn role(&self) -> String {
        let tier = self.document.tier;
        let (person, number) = (tier.person(), tier.number());
        let word = match tier {
            Tier::Platform => "overlay",
            _ => "file",
        };
        match self.ordinal {
            (_, 0 | 1) => tier.role(),
            (at, of) => format!("{person} (tier {number}, {word} {at} of {of})"),
        }
    }
}

/// What all tiers come to.
#[derive(Debug)]
pub struct Merged<'a> {
    pub stack: Stack<'a>,
    /// One part a layer of the stack.
    pub parts: Vec<Part<'a>>,
    pub resolution: Resolution,
    /// The tiers that have at least one document, in order.
    pub tiers: Vec<Tier>,
}

impl<'a> Merged<'a> {
    pub fn part(&self, layer: LayerId) -> &Part<'a> {
        self.parts
            .get(usize::from(layer.0))
            .expect("there is a part for every layer of the stack")
    }

    pub fn tree(&self, layer: LayerId) -> &'a Tree {
        self.stack.layer(layer).tree
    }

    pub fn tier(&self, link: Link) -> Tier {
        self.part(link.layer).document.tier
    }

    /// The dotted path of an entry.
    pub fn path(&self, entry: EntryId, symbols: &Symbols) -> Path {
        let names = self.resolution.names(entry);
        Path(
            names
                .iter()
                .map(|&name| base::Segment::Key(symbols.name(name).to_owned()))
                .collect(),
        )
    }

    /// The scalar or list that stands at an entry.
    pub fn leaf(&self, entry: EntryId) -> Option<(&'a Tree, NodeId)> {
        match self.resolution.state(entry) {
            layers::State::Leaf { .. } => {
                let link = self.resolution.standing(entry)?;
                Some((self.tree(link.layer), link.node))
            }
            _ => None,
        }
    }

    /// Where the name of a contribution to an entry is written.
    pub fn key(&self, entry: EntryId, link: Link) -> Option<Span> {
        let parent = self.resolution.parent(entry)?;
        let mut chain = self.resolution.chain(parent).iter();
        let above = chain.find(|above| above.layer == link.layer)?;
        let tree = self.tree(link.layer);
        let Value::Map(fields) = tree.value(above.node) else {
            return None;
        };
        // Values are numbered in the order of their fields, unless aliases are at work.
        let field = match fields.binary_search_by_key(&link.node, |field| field.value) {
            Ok(at) => fields.get(at),
            Err(_) => fields.iter().find(|field| field.value == link.node),
        };
        Some(tree.key_span(field?))
    }

    /// Whether an end user may not change what stands at an entry.
    pub fn is_locked(&self, entry: EntryId) -> bool {
        let standing = self.resolution.standing(entry);
        standing.is_some_and(|link| link.fixed && self.tier(link) == Tier::Platform)
    }
}

/// Merges documents, given low to high. Every finding is returned; where one of them is an error,
/// the merged values are what remains without the offenders.
pub fn merge<'a>(
    documents: &'a [Document],
    schema: Option<&Schema>,
    options: &Options,
    context: Context<'_>,
) -> (Merged<'a>, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let mut layers = Vec::new();
    let mut parts = Vec::new();
    let mut by_path = options.at.is_none() || documents.is_empty();
    for document in documents {
        let found = document::values(
            document,
            options.at.as_ref(),
            context.symbols,
            &mut findings,
        );
        by_path |= matches!(found, Found::Map(_, true) | Found::Nothing(true));
        let Found::Map(root, _) = found else {
            continue;
        };
        marks::check(document, root, context.symbols, &mut findings);
        layers.push(Layer {
            tree: &document.tree,
            root,
            authority: match document.tier {
                Tier::Platform if !document.defaults => Authority::Fixed,
                _ => Authority::Default,
            },
            level: document.tier.number(),
            null_deletes: options.null_deletes && document.tier == Tier::User,
        });
        parts.push(Part {
            document,
            ordinal: ordinal(documents, document),
        });
    }
    if let (false, Some(at)) = (by_path, &options.at) {
        let message = format!("no file has the path `{at}` that `--at` names");
        findings.push(
            Diagnostic::error(codes::UNKNOWN_PATH, message)
                .help("give the path at which a file holds its values, as in `--at spec.values`"),
        );
    }
    let tiers = Tier::ALL.into_iter();
    let stack = Stack::new(layers);
    let resolution = layers::resolve(&stack);
    let merged = Merged {
        stack,
        parts,
        resolution,
        tiers: tiers
            .filter(|&tier| documents.iter().any(|d| d.tier == tier))
            .collect(),
    };
    locked::report(&merged, schema, context, &mut findings);
    if let Some(schema) = schema.filter(|_| !options.locks_only) {
        schema.check(&merged, context, &mut findings);
    }
    (merged, findings)
}

/// Which of its tier's files a document is; `--set` does not count.
fn ordinal(documents: &[Document], document: &Document) -> (usize, usize) {
    if document.kind == document::Kind::CommandLine {
        return (1, 1);
    }
    let mut of = 0;
    let mut at = 0;
    for other in documents {
        if other.tier == document.tier && other.kind != document::Kind::CommandLine {
            of += 1;
            if std::ptr::eq(other, document) {
                at = of;
            }
        }
    }
    (at, of)
}
