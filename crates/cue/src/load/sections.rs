//! TOML documents as CUE with their tables where they were: a table is a declaration of its own.
//!
//! The tree has tables merged. Their layout is read from the text again, which the parser has found well-formed; values come
//! from the tree, by their place.

use rustc_hash::FxHashMap;

use base::Symbols;
use data::{NodeId, Tree, Value};

use crate::syntax::ast::{DeclId, ExprId};
use crate::syntax::build::Builder;
use crate::syntax::literal;

type Key = Vec<String>;

enum Content {
    Value(NodeId),
    Table(usize),
    Array(usize),
}

#[derive(Default)]
struct Layout {
    /// The first is the document.
    tables: Vec<Vec<(Key, Content)>>,
    arrays: Vec<Vec<usize>>,
    /// Arrays that a header can still add to.
    open: Vec<(Key, usize)>,
}

impl Layout {
    fn table(&mut self) -> usize {
        self.tables.push(Vec::new());
        self.tables.len() - 1
    }

    fn put(&mut self, table: usize, key: Key, content: Content) {
        if let Some(table) = self.tables.get_mut(table) {
            table.push((key, content));
        }
    }

    /// The table that a header's key starts from, and the rest of the key.
    fn home(&self, key: &Key) -> (usize, Key) {
        let mut best: (usize, usize) = (0, 0);
        for (known, array) in &self.open {
            if known.len() > best.1 && known.len() < key.len() && key.starts_with(known) {
                let last = self.arrays.get(*array).and_then(|a| a.last());
                best = (last.copied().unwrap_or(0), known.len());
            }
        }
        (best.0, key.get(best.1..).unwrap_or(&[]).to_vec())
    }

    fn header(&mut self, key: Key, many: bool) -> usize {
        let table = self.table();
        if !many {
            let (home, rest) = self.home(&key);
            self.put(home, rest, Content::Table(table));
            return table;
        }
        if let Some(&(_, array)) = self.open.iter().find(|(known, _)| *known == key) {
            // A new element: what was open below the last one is closed.
            self.open
                .retain(|(known, _)| known.len() <= key.len() || !known.starts_with(&key));
            if let Some(elements) = self.arrays.get_mut(array) {
                elements.push(table);
            }
            return table;
        }
        let (home, rest) = self.home(&key);
        self.arrays.push(vec![table]);
        let array = self.arrays.len() - 1;
        self.put(home, rest, Content::Array(array));
        self.open.push((key, array));
        table
    }
}

/// The declarations of a document; none if its text is not as expected.
pub(super) fn sections(
    builder: &mut Builder,
    tree: &Tree,
    text: &str,
    symbols: &mut Symbols,
) -> Option<Vec<DeclId>> {
    let layout = read(tree, text)?;
    let mut writer = Writer {
        builder,
        tree,
        text,
        symbols,
        layout: &layout,
    };
    Some(writer.table(0))
}

fn read(tree: &Tree, text: &str) -> Option<Layout> {
    let mut places: FxHashMap<usize, NodeId> = FxHashMap::default();
    let root = tree.root();
    values(tree, root, &mut places);
    let mut layout = Layout::default();
    let mut current = layout.table();
    let mut scanner = Scanner { text, at: 0 };
    loop {
        scanner.skip();
        if scanner.rest().is_empty() {
            return Some(layout);
        }
        if scanner.take('[') {
            let many = scanner.take('[');
            let key = scanner.key()?;
            if !scanner.take(']') || many && !scanner.take(']') {
                return None;
            }
            current = layout.header(key, many);
            continue;
        }
        let key = scanner.key()?;
        if !scanner.take('=') {
            return None;
        }
        scanner.blanks();
        let value = *places.get(&scanner.at)?;
        scanner.at = tree.span(value).range().end;
        layout.put(current, key, Content::Value(value));
    }
}

/// Where every value is written; of several at one place the outermost.
fn values(tree: &Tree, id: NodeId, out: &mut FxHashMap<usize, NodeId>) {
    match tree.value(id) {
        Value::List(items) => {
            for &item in items {
                values(tree, item, out);
            }
        }
        Value::Map(fields) => {
            for field in fields {
                values(tree, field.value, out);
            }
        }
        _ => {}
    }
    out.insert(tree.span(id).range().start, id);
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// White space, line breaks and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if !self.rest().starts_with('#') {
                return;
            }
            let rest = self.rest();
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn take(&mut self, c: char) -> bool {
        self.blanks();
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// A key, with dots perhaps.
    fn key(&mut self) -> Option<Key> {
        let mut parts = Vec::new();
        loop {
            self.blanks();
            let rest = self.rest();
            let quote = rest.chars().next()?;
            if quote == '"' || quote == '\'' {
                let mut escaped = false;
                let end = rest.char_indices().skip(1).find(|&(_, c)| {
                    let ends = c == quote && !escaped;
                    escaped = quote == '"' && c == '\\' && !escaped;
                    ends
                })?;
                let written = rest.get(..=end.0)?;
                let inner = written.get(1..end.0)?.to_owned();
                parts.push(match quote {
                    '"' => literal::unquote_string(written).unwrap_or(inner),
                    _ => inner,
                });
                self.at += end.0 + 1;
            } else {
                let end = rest
                    .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
                    .unwrap_or(rest.len());
                if end == 0 {
                    return None;
                }
                parts.push(rest.get(..end)?.to_owned());
                self.at += end;
            }
            if !self.take('.') {
                return Some(parts);
            }
        }
    }
}

struct Writer<'a> {
    builder: &'a mut Builder,
    tree: &'a Tree,
    text: &'a str,
    symbols: &'a mut Symbols,
    layout: &'a Layout,
}

impl Writer<'_> {
    fn table(&mut self, table: usize) -> Vec<DeclId> {
        let layout = self.layout;
        let mut decls = Vec::new();
        for (key, content) in layout.tables.get(table).map_or(&[][..], Vec::as_slice) {
            let mut value = match *content {
                Content::Value(id) => {
                    super::data::data_to_cue(self.builder, self.tree, id, self.text, self.symbols)
                }
                Content::Table(inner) => self.literal(inner),
                Content::Array(array) => {
                    let elements: Vec<ExprId> = layout
                        .arrays
                        .get(array)
                        .map_or(&[][..], Vec::as_slice)
                        .iter()
                        .map(|&element| self.literal(element))
                        .collect();
                    self.builder.list_lit(&elements)
                }
            };
            let Some((first, rest)) = key.split_first() else {
                continue;
            };
            for name in rest.iter().rev() {
                let label = self.builder.label(name, self.symbols);
                let field = self.builder.field(label, value);
                value = self.builder.struct_lit(&[field]);
            }
            let label = self.builder.label(first, self.symbols);
            decls.push(self.builder.field(label, value));
        }
        decls
    }

    fn literal(&mut self, table: usize) -> ExprId {
        let decls = self.table(table);
        self.builder.struct_lit(&decls)
    }
}
