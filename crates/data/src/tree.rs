//! The spanned tree: nodes in one arena, children as ranges, strings as ranges of text.
//!
//! A tree belongs to one source. A node costs 20 bytes, a field 16. Strings are ranges either of
//! the source's own text or of a second buffer that holds what had to be decoded (escapes, folded
//! lines, normalised numbers). Field names are interned in a [`Symbols`] table that the trees of one run
//! share, so that layers compare names as numbers.
//!
//! The tree is built bottom up: children before their parent. It is immutable afterwards.

use std::sync::Arc;

use base::{SourceId, Span, Symbol};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A range of the source's text, or of the decoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Text {
    start: u32,
    /// The top bit says: decoded text.
    len: u32,
}

const DECODED: u32 = 1 << 31;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Null,
    Bool(bool),
    Int(Text),
    Float(Text),
    String(Text),
    Bytes(Text),
    List { first: u32, len: u32 },
    Map { first: u32, len: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Node {
    start: u32,
    end: u32,
    kind: Kind,
}

/// One entry of a map.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: Symbol,
    pub value: NodeId,
    start: u32,
    end: u32,
}

/// A number's exact decimal text: `-?digits(.digits)?(e[+-]?digits)?`, no underscores, no other
/// base, no leading `+`. Its kind is syntactic, as in CUE: `1` is an integer, `1.0` and `1e3` are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number<'a> {
    pub text: &'a str,
    pub is_int: bool,
}

/// A node's value, borrowed from its tree.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Number(Number<'a>),
    String(&'a str),
    /// YAML's `!!binary`, as the base64 text of the bytes (without white space).
    Bytes(&'a str),
    List(&'a [NodeId]),
    Map(&'a [Field]),
}

/// One document of plain data.
#[derive(Clone, Debug)]
pub struct Tree {
    source: SourceId,
    text: Arc<str>,
    decoded: String,
    nodes: Vec<Node>,
    items: Vec<NodeId>,
    fields: Vec<Field>,
    /// Nodes marked `!default`, sorted.
    defaults: Vec<NodeId>,
    /// Nodes that bound what may be said at their place, sorted.
    constraints: Vec<NodeId>,
    /// Nodes that were written in another source, sorted.
    elsewhere: Vec<(NodeId, SourceId)>,
    root: NodeId,
}

impl Tree {
    pub fn source(&self) -> SourceId {
        self.source
    }

    pub fn root(&self) -> NodeId {
        self.root
    }

    /// How many nodes there are. Ids run from zero; children have smaller ids than their parent.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn span(&self, id: NodeId) -> Span {
        let node = self.node(id);
        Span {
            source: self.source_of(id),
            start: node.start,
            end: node.end,
        }
    }

    /// The source that a node was written in.
    fn source_of(&self, id: NodeId) -> SourceId {
        if self.elsewhere.is_empty() {
            return self.source;
        }
        let at = self.elsewhere.binary_search_by_key(&id, |&(node, _)| node);
        match at.ok().and_then(|at| self.elsewhere.get(at)) {
            Some(&(_, source)) => source,
            None => self.source,
        }
    }

    /// Where a field's name is written.
    pub fn key_span(&self, field: &Field) -> Span {
        Span {
            source: self.source_of(field.value),
            start: field.start,
            end: field.end,
        }
    }

    pub fn value(&self, id: NodeId) -> Value<'_> {
        match self.node(id).kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(value),
            Kind::Int(text) => Value::Number(Number {
                text: self.str(text),
                is_int: true,
            }),
            Kind::Float(text) => Value::Number(Number {
                text: self.str(text),
                is_int: false,
            }),
            Kind::String(text) => Value::String(self.str(text)),
            Kind::Bytes(text) => Value::Bytes(self.str(text)),
            Kind::List { first, len } => Value::List(range(&self.items, first, len)),
            Kind::Map { first, len } => Value::Map(range(&self.fields, first, len)),
        }
    }

    /// Whether the node carries the mark `!default`.
    pub fn is_default(&self, id: NodeId) -> bool {
        !self.defaults.is_empty() && self.defaults.binary_search(&id).is_ok()
    }

    /// Whether the node bounds what may be said at its place. Alone it sets nothing: it is a string
    /// that shows the bound. With the mark `!default` too, it is a value with alternatives.
    pub fn is_constraint(&self, id: NodeId) -> bool {
        !self.constraints.is_empty() && self.constraints.binary_search(&id).is_ok()
    }

    /// Whether any node bounds what may be said.
    pub fn has_constraints(&self) -> bool {
        !self.constraints.is_empty()
    }

    /// Whether the node is neither a list nor a map.
    pub fn is_leaf(&self, id: NodeId) -> bool {
        !matches!(self.node(id).kind, Kind::List { .. } | Kind::Map { .. })
    }

    /// Whether the node is a map. Unlike [`Tree::value`] it does not look at any text.
    pub fn is_map(&self, id: NodeId) -> bool {
        matches!(self.node(id).kind, Kind::Map { .. })
    }

    pub fn is_null(&self, id: NodeId) -> bool {
        matches!(self.node(id).kind, Kind::Null)
    }

    /// Whether any node carries the mark `!default`.
    pub fn has_defaults(&self) -> bool {
        !self.defaults.is_empty()
    }

    /// The value of a map's field.
    pub fn get(&self, map: NodeId, name: Symbol) -> Option<NodeId> {
        match self.value(map) {
            Value::Map(fields) => fields.iter().find(|f| f.name == name).map(|f| f.value),
            _ => None,
        }
    }

    fn node(&self, id: NodeId) -> &Node {
        self.nodes
            .get(id.0 as usize)
            .expect("a NodeId comes from the tree that made it")
    }

    fn str(&self, text: Text) -> &str {
        let (buffer, len) = match text.len & DECODED {
            0 => (&*self.text, text.len),
            _ => (self.decoded.as_str(), text.len & !DECODED),
        };
        let start = text.start as usize;
        buffer.get(start..start + len as usize).unwrap_or("")
    }
}

fn range<T>(all: &[T], first: u32, len: u32) -> &[T] {
    let first = first as usize;
    all.get(first..first + len as usize).unwrap_or(&[])
}

/// Builds one tree, children first.
#[derive(Debug)]
pub struct TreeBuilder {
    tree: Tree,
}

impl TreeBuilder {
    pub fn new(source: SourceId, text: Arc<str>) -> TreeBuilder {
        TreeBuilder {
            tree: Tree {
                source,
                text,
                decoded: String::new(),
                nodes: Vec::new(),
                items: Vec::new(),
                fields: Vec::new(),
                defaults: Vec::new(),
                constraints: Vec::new(),
                elsewhere: Vec::new(),
                root: NodeId(0),
            },
        }
    }

    pub fn source(&self) -> SourceId {
        self.tree.source
    }

    pub fn null(&mut self, span: Span) -> NodeId {
        self.push(span, Kind::Null)
    }

    pub fn bool(&mut self, span: Span, value: bool) -> NodeId {
        self.push(span, Kind::Bool(value))
    }

    /// A number whose text stands in the source exactly as [`Number`] wants it.
    pub fn number_verbatim(&mut self, span: Span, is_int: bool) -> NodeId {
        let text = Text {
            start: span.start,
            len: span.end - span.start,
        };
        self.push(
            span,
            if is_int {
                Kind::Int(text)
            } else {
                Kind::Float(text)
            },
        )
    }

    /// A number that had to be normalised.
    pub fn number(&mut self, span: Span, number: Number<'_>) -> NodeId {
        let text = self.decode(number.text);
        self.push(
            span,
            if number.is_int {
                Kind::Int(text)
            } else {
                Kind::Float(text)
            },
        )
    }

    /// A string whose characters stand in the source at `content` as they are.
    pub fn string_verbatim(&mut self, span: Span, content: Span) -> NodeId {
        let text = Text {
            start: content.start,
            len: content.end - content.start,
        };
        self.push(span, Kind::String(text))
    }

    pub fn string(&mut self, span: Span, value: &str) -> NodeId {
        let text = self.decode(value);
        self.push(span, Kind::String(text))
    }

    pub fn bytes(&mut self, span: Span, base64: &str) -> NodeId {
        let text = self.decode(base64);
        self.push(span, Kind::Bytes(text))
    }

    pub fn list(&mut self, span: Span, items: &[NodeId]) -> NodeId {
        let (first, len) = (count(self.tree.items.len()), count(items.len()));
        self.tree.items.extend_from_slice(items);
        self.push(span, Kind::List { first, len })
    }

    pub fn map(&mut self, span: Span, fields: &[Field]) -> NodeId {
        let (first, len) = (count(self.tree.fields.len()), count(fields.len()));
        self.tree.fields.extend_from_slice(fields);
        self.push(span, Kind::Map { first, len })
    }

    pub fn field(&self, key: Span, name: Symbol, value: NodeId) -> Field {
        Field {
            name,
            value,
            start: key.start,
            end: key.end,
        }
    }

    /// Marks a node `!default`.
    pub fn mark_default(&mut self, id: NodeId) {
        // Sorted as it grows; in practice a node is marked when it is made, at the end.
        if let Err(at) = self.tree.defaults.binary_search(&id) {
            self.tree.defaults.insert(at, id);
        }
    }

    /// Marks a node as one that bounds what may be said at its place.
    pub fn mark_constraint(&mut self, id: NodeId) {
        if let Err(at) = self.tree.constraints.binary_search(&id) {
            self.tree.constraints.insert(at, id);
        }
    }

    /// Says that a node was written in another source than the tree's.
    pub fn written_in(&mut self, id: NodeId, source: SourceId) {
        let found = self
            .tree
            .elsewhere
            .binary_search_by_key(&id, |&(node, _)| node);
        match found {
            _ if source == self.tree.source => {}
            Ok(at) => {
                if let Some(known) = self.tree.elsewhere.get_mut(at) {
                    known.1 = source;
                }
            }
            Err(at) => self.tree.elsewhere.insert(at, (id, source)),
        }
    }

    /// The text of the source.
    pub fn text(&self) -> Arc<str> {
        Arc::clone(&self.tree.text)
    }

    /// Copies a node with everything in it. Leaves keep their spans: they say where a value is
    /// written. Each node takes one from `budget`; `None` when it runs out or when the copy would be
    /// deeper than `depth`. A node that ran out leaves unused nodes behind.
    pub fn copy(&mut self, id: NodeId, depth: usize, budget: &mut usize) -> Option<NodeId> {
        *budget = budget.checked_sub(1)?;
        let node = *self.tree.node(id);
        let kind = match node.kind {
            Kind::List { first, len } => {
                let below = depth.checked_sub(1)?;
                let mut items = range(&self.tree.items, first, len).to_vec();
                for item in &mut items {
                    *item = self.copy(*item, below, budget)?;
                }
                let (first, len) = (count(self.tree.items.len()), count(items.len()));
                self.tree.items.extend_from_slice(&items);
                Kind::List { first, len }
            }
            Kind::Map { first, len } => {
                let below = depth.checked_sub(1)?;
                let mut fields = range(&self.tree.fields, first, len).to_vec();
                for field in &mut fields {
                    field.value = self.copy(field.value, below, budget)?;
                }
                let (first, len) = (count(self.tree.fields.len()), count(fields.len()));
                self.tree.fields.extend_from_slice(&fields);
                Kind::Map { first, len }
            }
            leaf => leaf,
        };
        let copy = NodeId(count(self.tree.nodes.len()));
        self.tree.nodes.push(Node { kind, ..node });
        if self.tree.is_default(id) {
            self.mark_default(copy);
        }
        Some(copy)
    }

    /// Gives a node another span.
    pub fn set_span(&mut self, id: NodeId, span: Span) {
        if let Some(node) = self.tree.nodes.get_mut(id.0 as usize) {
            (node.start, node.end) = (span.start, span.end);
        }
    }

    /// The tree so far, to look at what was built.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub fn finish(mut self, root: NodeId) -> Tree {
        self.tree.root = root;
        self.tree
    }

    fn decode(&mut self, value: &str) -> Text {
        let start = count(self.tree.decoded.len());
        self.tree.decoded.push_str(value);
        Text {
            start,
            len: count(value.len()) | DECODED,
        }
    }

    fn push(&mut self, span: Span, kind: Kind) -> NodeId {
        let id = NodeId(count(self.tree.nodes.len()));
        self.tree.nodes.push(Node {
            start: span.start,
            end: span.end,
            kind,
        });
        id
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).expect("a source is under 2 GiB, so its tree has under 2^32 parts")
}
