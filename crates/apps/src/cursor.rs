//! A place in a tree, for reading documents of a known shape field by field.

use base::{Span, Symbols};
use data::{NodeId, Tree};

use crate::value::Value;

#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    pub tree: &'a Tree,
    pub node: NodeId,
    pub symbols: &'a Symbols,
}

impl<'a> Cursor<'a> {
    pub fn root(tree: &'a Tree, symbols: &'a Symbols) -> Cursor<'a> {
        Cursor {
            tree,
            node: tree.root(),
            symbols,
        }
    }

    fn at(self, node: NodeId) -> Cursor<'a> {
        Cursor { node, ..self }
    }

    pub fn span(self) -> Span {
        self.tree.span(self.node)
    }

    pub fn get(self, name: &str) -> Option<Cursor<'a>> {
        let name = self.symbols.find(name)?;
        self.tree.get(self.node, name).map(|node| self.at(node))
    }

    pub fn str(self) -> Option<&'a str> {
        match self.tree.value(self.node) {
            data::Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// A string, or a scalar as it is written: `version: 1.4` means the text.
    pub fn text(self) -> Option<String> {
        match self.tree.value(self.node) {
            data::Value::String(text) => Some(text.to_owned()),
            data::Value::Number(number) => Some(number.text.to_owned()),
            data::Value::Bool(value) => Some(value.to_string()),
            _ => None,
        }
    }

    pub fn bool(self) -> Option<bool> {
        match self.tree.value(self.node) {
            data::Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn is_map(self) -> bool {
        matches!(self.tree.value(self.node), data::Value::Map(_))
    }

    pub fn is_null(self) -> bool {
        matches!(self.tree.value(self.node), data::Value::Null)
    }

    /// The items of a list; none where it is no list.
    pub fn items(self) -> Option<impl Iterator<Item = Cursor<'a>>> {
        match self.tree.value(self.node) {
            data::Value::List(items) => Some(items.iter().map(move |&node| self.at(node))),
            _ => None,
        }
    }

    /// Names, where each stands, and values of a map's fields; none where it is no map.
    pub fn fields(self) -> impl Iterator<Item = (&'a str, Span, Cursor<'a>)> {
        let fields = match self.tree.value(self.node) {
            data::Value::Map(fields) => fields,
            _ => &[],
        };
        fields.iter().map(move |field| {
            let name = self.symbols.name(field.name);
            (name, self.tree.key_span(field), self.at(field.value))
        })
    }

    pub fn value(self) -> Value {
        Value::from_tree(self.tree, self.node, self.symbols)
    }
}
