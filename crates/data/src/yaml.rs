//! YAML, read as the CUE reference reads it.
//!
//! Two readers turn the text into events: [`lines`] reads the plain block style that most files are
//! written in, and gives up on anything else; then granit-parser reads all of YAML, and says what is
//! wrong with it. This module makes trees of their events. What a scalar is decides
//! [`scalar`], what a tag does [`tags`], what `<<` means [`merge`]. Aliases become copies of what
//! they stand for, so that a tree is a tree; how much they may add is bounded. A syntax error ends
//! its document, and reading goes on with the next one. Comments are not kept.

mod lines;
mod merge;
mod scalar;
mod syntax;
mod tags;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use base::{Diagnostic, SourceId, Span, Symbol, Symbols};
use granit_parser::{Event, Parser, ScalarStyle, StrInput, StructureStyle, Tag};

use crate::duplicates::Duplicates;
use crate::findings::{Findings, shorten};
use crate::tree::{Field, NodeId, Tree, TreeBuilder};
use crate::{MAX_ALIAS_NODES, MAX_DEPTH, Options, Reading, codes};

pub(crate) use scalar::{looks_like_number, reads_as, reads_as_string};

pub(crate) fn parse(
    source: SourceId,
    text: &Arc<str>,
    symbols: &mut Symbols,
    options: &Options,
    findings: &mut Findings,
) -> Vec<Tree> {
    let mut found = Findings::default();
    let quick = lines::read(&mut Loader::new(source, text, symbols, options, &mut found));
    let documents = match quick {
        Some(documents) => documents,
        None => {
            found = Findings::default();
            everything(&mut Loader::new(source, text, symbols, options, &mut found))
        }
    };
    *findings = found;
    documents
}

/// Reads any YAML.
fn everything(loader: &mut Loader<'_>) -> Vec<Tree> {
    let limits = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let source = loader.source;
    let mut events: Parser<'_, StrInput<'_>> =
        Parser::new_from_str_with_options(loader.text, limits);
    let mut documents = Vec::new();
    while let Some(next) = events.next_event() {
        match next {
            Ok((event, span)) => {
                let range = span.byte_range().unwrap_or(0..0);
                let tag = span.tag_span().and_then(|tag| tag.byte_range());
                let places = Places {
                    node: Span::new(source, range),
                    tag: tag.map(|tag| Span::new(source, tag)),
                };
                if let Err(TooDeep) = loader.event(event, places, &mut documents) {
                    break;
                }
            }
            Err(error) => {
                loader.syntax_error(&error);
                loader.reset();
                // Past the depth limit a file is not worth more time.
                let too_deep = matches!(
                    error.kind(),
                    granit_parser::ErrorKind::RecursionLimitExceeded
                );
                if too_deep || !matches!(events.proceed_next_document(), Ok(true)) {
                    break;
                }
            }
        }
    }
    documents
}

/// Reading stops: collections are nested too deeply.
struct TooDeep;

/// Where a node and its tag are written.
#[derive(Clone, Copy)]
struct Places {
    node: Span,
    tag: Option<Span>,
}

/// What a map's next value is for.
#[derive(Clone, Copy)]
enum Key {
    /// No value: a key comes next.
    Wanted,
    Name(Symbol, Span),
    /// The key `<<`, at this place.
    Merge(Span),
    /// The key was refused; its value goes nowhere.
    Refused,
}

/// A list or map that is still open.
struct Frame {
    start: u32,
    /// Flow collections end at their bracket, block collections at the end of their last child.
    flow: bool,
    /// Where its children begin in `items` or `fields`.
    first: usize,
    /// `None` in a list.
    key: Option<Key>,
    anchor: usize,
    default: bool,
    /// The maps that `<<` brings in, strongest last, with the number of fields written before.
    merges: Vec<merge::Merge>,
}

struct Loader<'a> {
    source: SourceId,
    text: &'a str,
    builder: TreeBuilder,
    symbols: &'a mut Symbols,
    findings: &'a mut Findings,
    strict: bool,
    duplicates: Duplicates,
    frames: Vec<Frame>,
    items: Vec<NodeId>,
    fields: Vec<Field>,
    /// What each anchor stands for, by its number; `None` while it is still open.
    anchors: Vec<Option<NodeId>>,
    /// How many nodes aliases may still add to this document.
    budget: usize,
    root: Option<NodeId>,
    /// Where the last scalar or flow collection ended.
    end: u32,
}

impl<'a> Loader<'a> {
    fn new(
        source: SourceId,
        text: &'a Arc<str>,
        symbols: &'a mut Symbols,
        options: &Options,
        findings: &'a mut Findings,
    ) -> Loader<'a> {
        Loader {
            source,
            text,
            builder: TreeBuilder::new(source, Arc::clone(text)),
            symbols,
            findings,
            strict: options.reading == Reading::Strict,
            duplicates: Duplicates::default(),
            frames: Vec::new(),
            items: Vec::new(),
            fields: Vec::new(),
            anchors: Vec::new(),
            budget: MAX_ALIAS_NODES,
            root: None,
            end: 0,
        }
    }

    fn event(
        &mut self,
        event: Event<'_>,
        places: Places,
        documents: &mut Vec<Tree>,
    ) -> Result<(), TooDeep> {
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                self.scalar(&value, style, anchor, tag.as_deref(), places);
            }
            Event::Alias(id) => self.alias(id, places.node),
            Event::UnresolvedAlias(name) => {
                let span = places.node;
                let name = shorten(&name);
                self.findings.add(span, || {
                    Diagnostic::error(
                        codes::UNKNOWN_ANCHOR,
                        format!("the alias `*{name}` stands for nothing"),
                    )
                    .primary(
                        span,
                        format!("no `&{name}` stands before it in this document"),
                    )
                    .help(format!(
                        "anchor a value with `&{name}`, or quote the text if it is no alias"
                    ))
                });
                self.end = span.end;
                self.nothing(span);
            }
            Event::MappingStart(style, anchor, tag) => {
                self.open(style, anchor, tag.as_deref(), places, Some(Key::Wanted))?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(style, anchor, tag.as_deref(), places, None)?;
            }
            Event::MappingEnd | Event::SequenceEnd => self.close(places.node),
            Event::DocumentEnd => documents.push(self.document(places.node)),
            _ => {}
        }
        Ok(())
    }

    /// The document that ends here.
    fn document(&mut self, at: Span) -> Tree {
        let root = match self.root.take() {
            Some(root) => root,
            None => self.builder.null(at),
        };
        let next = TreeBuilder::new(self.source, self.builder.text());
        let tree = std::mem::replace(&mut self.builder, next).finish(root);
        self.reset();
        tree
    }

    /// Forgets the document that was begun.
    fn reset(&mut self) {
        self.builder = TreeBuilder::new(self.source, self.builder.text());
        self.frames.clear();
        self.items.clear();
        self.fields.clear();
        self.anchors.clear();
        self.budget = MAX_ALIAS_NODES;
        self.root = None;
    }

    fn open(
        &mut self,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        places: Places,
        key: Option<Key>,
    ) -> Result<(), TooDeep> {
        if self.frames.len() >= MAX_DEPTH {
            self.findings.too_deep(places.node);
            return Err(TooDeep);
        }
        let default = self.collection_tag(tag, places, key.is_some());
        let default = default && !self.key_is_wanted();
        self.anchor(anchor, None);
        self.end = places.node.end;
        self.frames.push(Frame {
            start: places.node.start,
            flow: style == StructureStyle::Flow,
            first: if key.is_some() {
                self.fields.len()
            } else {
                self.items.len()
            },
            key,
            anchor,
            default,
            merges: Vec::new(),
        });
        Ok(())
    }

    fn close(&mut self, at: Span) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        if frame.flow {
            self.end = at.end;
        }
        let span = Span {
            source: self.source,
            start: frame.start,
            end: self.end.max(frame.start),
        };
        let node = if frame.key.is_some() {
            if self.strict {
                self.duplicates.refuse(
                    &mut self.fields,
                    frame.first,
                    &self.builder,
                    self.symbols,
                    self.findings,
                );
            }
            let merges = std::mem::take(&mut frame.merges);
            if !merges.is_empty() {
                self.apply_merges(frame.first, &merges);
            }
            let fields = self.fields.get(frame.first..).unwrap_or(&[]);
            let node = self.builder.map(span, fields);
            self.fields.truncate(frame.first);
            node
        } else {
            let items = self.items.get(frame.first..).unwrap_or(&[]);
            let node = self.builder.list(span, items);
            self.items.truncate(frame.first);
            node
        };
        if frame.default {
            self.builder.mark_default(node);
        }
        self.anchor(frame.anchor, Some(node));
        self.place_node(node, span);
    }

    fn scalar(
        &mut self,
        value: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        places: Places,
    ) {
        self.end = places.node.end;
        // An empty scalar is announced as `~` at an empty place.
        let value = if places.node.is_empty() { "" } else { value };
        let plain = style == ScalarStyle::Plain;
        if self.key_is_wanted() {
            if anchor != 0 {
                let node = self.scalar_node(value, plain, tag, places);
                self.anchor(anchor, Some(node));
            }
            let key = self.scalar_key(value, plain, tag, places);
            self.set_key(key);
            return;
        }
        let node = self.scalar_node(value, plain, tag, places);
        self.anchor(anchor, Some(node));
        self.place_node(node, places.node);
    }

    /// A string, copied only where it does not stand in the source as it is.
    fn string_node(&mut self, value: &str, span: Span) -> NodeId {
        let range = span.range();
        let inner = range.start + 1..range.end.saturating_sub(1);
        for content in [range, inner] {
            if self.text.get(content.clone()) == Some(value) {
                let content = Span::new(self.source, content);
                return self.builder.string_verbatim(span, content);
            }
        }
        self.builder.string(span, value)
    }

    fn alias(&mut self, id: usize, span: Span) {
        self.end = span.end;
        let Some(&Some(target)) = self.anchors.get(id) else {
            self.findings.add(span, || {
                Diagnostic::error(codes::ALIAS_CYCLE, "an alias stands inside its own anchor")
                    .primary(span, "this value would contain itself")
                    .help("write the value out")
            });
            self.nothing(span);
            return;
        };
        if self.key_is_wanted() {
            let key = self.alias_key(target, span);
            self.set_key(key);
            return;
        }
        let copy = self.copy(target, span);
        let leaf = self.builder.tree().is_leaf(copy);
        if !leaf {
            // A leaf keeps the place where its value is written.
            self.builder.set_span(copy, span);
        }
        self.place_node(copy, span);
    }

    /// A copy of what an alias stands for; null, with a finding, when that is too much.
    fn copy(&mut self, target: NodeId, span: Span) -> NodeId {
        let exhausted = self.budget == 0;
        let depth = MAX_DEPTH.saturating_sub(self.frames.len());
        if let Some(copy) = self.builder.copy(target, depth, &mut self.budget) {
            return copy;
        }
        if self.budget > 0 {
            self.findings.too_deep(span);
        } else if !exhausted {
            self.findings.add(span, || {
                Diagnostic::error(
                    codes::ALIAS_BOMB,
                    format!(
                        "the aliases of this document expand to more than {MAX_ALIAS_NODES} nodes"
                    ),
                )
                .primary(span, "this one is too much")
                .help("write fewer aliases of aliases")
            });
        }
        self.builder.null(span)
    }

    fn anchor(&mut self, id: usize, node: Option<NodeId>) {
        if id == 0 {
            return;
        }
        if self.anchors.len() <= id {
            self.anchors.resize(id + 1, None);
        }
        if let Some(slot) = self.anchors.get_mut(id) {
            *slot = node;
        }
    }

    /// Whether what comes next is a map's key.
    fn key_is_wanted(&self) -> bool {
        matches!(self.frames.last(), Some(frame) if matches!(frame.key, Some(Key::Wanted)))
    }

    fn set_key(&mut self, key: Key) {
        if let Some(slot) = self.frames.last_mut().and_then(|frame| frame.key.as_mut()) {
            *slot = key;
        }
    }

    /// Stands in for an alias that could not be followed.
    fn nothing(&mut self, span: Span) {
        if self.key_is_wanted() {
            self.set_key(Key::Refused);
        } else {
            let node = self.builder.null(span);
            self.place_node(node, span);
        }
    }

    /// Puts a finished node where it belongs.
    fn place_node(&mut self, node: NodeId, span: Span) {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return;
        };
        let Some(key) = &mut frame.key else {
            self.items.push(node);
            return;
        };
        match std::mem::replace(key, Key::Wanted) {
            Key::Wanted => {
                *key = Key::Refused;
                self.complex_key(span);
            }
            Key::Name(name, key) => {
                let field = self.builder.field(key, name, node);
                self.fields.push(field);
            }
            Key::Merge(key) => self.merge(node, key, span),
            Key::Refused => {}
        }
    }
}
