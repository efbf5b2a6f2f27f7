//! Values written as text, one event after the other.
//!
//! A [`Writer`] takes the events of a walk over some value and makes text of them, so that trees,
//! resolutions and CUE values are written without being turned into one another first. Each format has
//! its own writer: [`Json`], [`Yaml`], [`Toml`]. Events must be well nested: in a map each value
//! comes after its key.

mod json;
mod toml;
mod yaml;

use base::Symbols;

use crate::tree::{NodeId, Number, Tree, Value};

pub use json::Json;
pub use toml::{Toml, Unwritable};
pub use yaml::Yaml;

/// Takes one value as events.
pub trait Writer {
    fn null(&mut self);
    fn bool(&mut self, value: bool);
    fn number(&mut self, number: Number<'_>);
    fn string(&mut self, value: &str);
    /// Bytes, as their base64 text.
    fn bytes(&mut self, base64: &str);
    fn begin_list(&mut self);
    fn end_list(&mut self);
    fn begin_map(&mut self);
    /// The key of the value that comes next.
    fn key(&mut self, name: &str);
    fn end_map(&mut self);
    /// A tag of the value that comes next, with its `!`. Formats without tags drop it.
    fn tag(&mut self, _tag: &str) {}

    /// A remark on the value that comes next. Formats without comments drop it.
    fn comment(&mut self, _text: &str) {}
}

/// Writes a node of a tree with everything in it.
pub fn node<W: Writer + ?Sized>(writer: &mut W, tree: &Tree, id: NodeId, symbols: &Symbols) {
    match tree.value(id) {
        Value::Null => writer.null(),
        Value::Bool(value) => writer.bool(value),
        Value::Number(number) => writer.number(number),
        Value::String(value) => writer.string(value),
        Value::Bytes(base64) => writer.bytes(base64),
        Value::List(items) => {
            writer.begin_list();
            for &item in items {
                node(writer, tree, item, symbols);
            }
            writer.end_list();
        }
        Value::Map(fields) => {
            writer.begin_map();
            for field in fields {
                writer.key(symbols.name(field.name));
                node(writer, tree, field.value, symbols);
            }
            writer.end_map();
        }
    }
}
