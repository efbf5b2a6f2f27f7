//! The documents of all tiers, merged: values, chains, and all findings.

use base::{Diagnostic, LayerId, Path, Sources, Span, Symbol, Symbols};
use data::{NodeId, Tree, Value};
use layers::{Authority, EntryId, Layer, Link, Resolution, Stack};

use crate::document::{self, Document};
use crate::evaluate::{Evaluated, Stage, layer_id};
use crate::locked;
use crate::schema::Schema;
use crate::tier::Tier;

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
    /// Evaluate also what is plain data in CUE: slower, and the same.
    pub evaluate_all: bool,
}

/// One layer of the stack, with what the engine does not know of it.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub document: &'a Document,
    /// Its number among all documents, those that set nothing too.
    pub index: u16,
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
    /// The stack after each tier, where it is known.
    pub(crate) evaluated: Option<&'a Evaluated>,
}

impl<'a> Merged<'a> {
    /// Lays the documents of a stage over one another.
    pub(crate) fn of(stage: &'a Stage) -> Merged<'a> {
        let documents = &stage.documents;
        let mut layers = Vec::with_capacity(stage.roots.len());
        let mut parts = Vec::with_capacity(stage.roots.len());
        for &(number, root) in &stage.roots {
            let Some(document) = documents.get(number) else {
                continue;
            };
            layers.push(Layer {
                tree: &document.tree,
                root,
                authority: match document.tier {
                    Tier::Platform if !document.defaults => Authority::Fixed,
                    _ => Authority::Default,
                },
                level: document.tier.number(),
                null_deletes: stage.null_deletes && document.tier == Tier::User,
            });
            parts.push(Part {
                document,
                index: layer_id(number).0,
                ordinal: ordinal(documents, document),
            });
        }
        let mut stack = Stack::new(layers);
        stack.unadmitted.clone_from(&stage.unadmitted);
        let resolution = layers::resolve(&stack);
        let tiers = Tier::ALL.into_iter();
        Merged {
            stack,
            parts,
            resolution,
            tiers: tiers
                .filter(|&tier| documents.iter().any(|d| d.tier == tier))
                .collect(),
            evaluated: None,
        }
    }

    /// Whether a document above a number says what stands at a path.
    pub(crate) fn is_above(&self, path: &[Symbol], number: u16) -> bool {
        let mut names = path.iter();
        let root = self.resolution.root();
        let entry = names.try_fold(root, |at, &name| self.resolution.child(at, name));
        let standing = entry.and_then(|entry| self.resolution.standing(entry));
        standing.is_some_and(|link| self.part(link.layer).index > number)
    }

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
        dotted(&self.resolution.names(entry), symbols)
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

    /// What the schema says of a path, in CUE's words, and where.
    pub fn word(
        &self,
        path: &Path,
        schema: Option<&Schema>,
        symbols: &Symbols,
    ) -> Option<(String, Span)> {
        let words = self.evaluated.and_then(|all| all.words.as_ref());
        let json = schema.and_then(|schema| schema.word(path, symbols));
        json.or_else(|| words?.word(path, symbols))
    }

    /// Whether an end user may not change what stands at an entry.
    pub fn is_locked(&self, entry: EntryId) -> bool {
        let standing = self.resolution.standing(entry);
        standing.is_some_and(|link| link.fixed && self.tier(link) == Tier::Platform)
    }
}

/// Lays the evaluated layers over one another. Every finding is returned; where one of them is an error,
/// the merged values are what remains without the offenders.
pub fn merge<'a>(
    evaluated: &'a Evaluated,
    schema: Option<&Schema>,
    options: &Options,
    context: Context<'_>,
) -> (Merged<'a>, Vec<Diagnostic>) {
    let mut findings = evaluated.findings.clone();
    let merged = match evaluated.stages.last() {
        Some(stage) => Merged {
            evaluated: Some(evaluated),
            ..Merged::of(stage)
        },
        None => Merged {
            stack: Stack::new(Vec::new()),
            parts: Vec::new(),
            resolution: layers::resolve(&Stack::new(Vec::new())),
            tiers: Vec::new(),
            evaluated: Some(evaluated),
        },
    };
    locked::report(&merged, schema, context, &mut findings);
    if let Some(schema) = schema.filter(|_| !options.locks_only) {
        schema.check(&merged, context, &mut findings);
    }
    (merged, findings)
}

/// Names as a path.
pub(crate) fn dotted(names: &[Symbol], symbols: &Symbols) -> Path {
    let names = names.iter();
    Path(
        names
            .map(|&name| base::Segment::Key(symbols.name(name).to_owned()))
            .collect(),
    )
}

/// Which of its tier's files a document is; `--set` and schemas do not count.
fn ordinal(documents: &[Document], document: &Document) -> (usize, usize) {
    let counts = |kind| !matches!(kind, document::Kind::CommandLine | document::Kind::Schema);
    if !counts(document.kind) {
        return (1, 1);
    }
    let mut of = 0;
    let mut at = 0;
    for other in documents {
        if other.tier == document.tier && counts(other.kind) {
            of += 1;
            if std::ptr::eq(other, document) {
                at = of;
            }
        }
    }
    (at, of)
}
