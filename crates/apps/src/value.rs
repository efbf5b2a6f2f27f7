//! Values as overlays hold them: owned, compact, with exact numbers, and their JSON at hand.
//!
//! A value outlives the text that it was read from (a snapshot holds a million overlays), so it is
//! no part of a tree. [`Stored`] pairs a value with its JSON text, made once: an answer copies bytes
//! instead of walking values. Stored values are shared; overlays of many scopes mostly say the same.

use std::cmp::Ordering;
use std::fmt::Write;
use std::sync::Arc;

use base::{SourceId, Symbols};
use data::{NodeId, Number, Tree, number};

#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    /// The exact decimal text, and whether it is written as an integer.
    Number(Box<str>, bool),
    String(Box<str>),
    List(Box<[Value]>),
    /// In the order in which the fields were written.
    Map(Box<[(Box<str>, Value)]>),
}

/// Maps are equal in any order of their fields; numbers by value, `3` and `3.0` alike, as JSON has it.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a, _), Value::Number(b, _)) => number::compare(a, b) == Ordering::Equal,
            (Value::String(a), Value::String(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(name, value)| other.get(name).is_some_and(|b| b == value))
            }
            _ => false,
        }
    }
}

impl Value {
    pub fn string(text: impl Into<Box<str>>) -> Value {
        Value::String(text.into())
    }

    /// A node of a tree, copied.
    pub fn from_tree(tree: &Tree, node: NodeId, symbols: &Symbols) -> Value {
        match tree.value(node) {
            data::Value::Null => Value::Null,
            data::Value::Bool(value) => Value::Bool(value),
            data::Value::Number(Number { text, is_int }) => Value::Number(text.into(), is_int),
            data::Value::String(text) | data::Value::Bytes(text) => Value::String(text.into()),
            data::Value::List(items) => {
                let items = items.iter();
                Value::List(items.map(|&n| Value::from_tree(tree, n, symbols)).collect())
            }
            data::Value::Map(fields) => {
                let fields = fields.iter().map(|field| {
                    let value = Value::from_tree(tree, field.value, symbols);
                    (symbols.name(field.name).into(), value)
                });
                Value::Map(fields.collect())
            }
        }
    }

    /// A JSON text; none if it is not one.
    pub fn parse_json(text: &str) -> Option<Value> {
        let mut symbols = Symbols::new();
        let options = data::Options::default();
        let format = data::Format::Json;
        let parsed = data::parse(format, SourceId(0), text.into(), &mut symbols, &options);
        let tree = parsed.documents.first().filter(|_| !parsed.has_errors())?;
        Some(Value::from_tree(tree, tree.root(), &symbols))
    }

    /// The value of a map's field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Map(fields) => fields.iter().find(|(n, _)| **n == *name).map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The word for its type, as JSON Schema has it.
    pub fn type_word(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_, true) => "integer",
            Value::Number(_, false) => "number",
            Value::String(_) => "string",
            Value::List(_) => "array",
            Value::Map(_) => "object",
        }
    }

    /// Compares numbers; nothing else has an order here.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Number(a, _), Value::Number(b, _)) => Some(number::compare(a, b)),
            _ => None,
        }
    }

    pub fn json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    pub fn write_json(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(text, _) => out.push_str(text),
            Value::String(text) => write_string(out, text),
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Value::Map(fields) => {
                out.push('{');
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write_string(out, name);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }

    /// For the JSON Schema validator, which counts in binary floats.
    pub fn to_serde(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(text, _) => serde_json::from_str(text).unwrap_or(serde_json::Value::Null),
            Value::String(text) => text.as_ref().into(),
            Value::List(items) => items.iter().map(Value::to_serde).collect(),
            Value::Map(fields) => {
                let fields = fields.iter();
                serde_json::Value::Object(
                    fields.map(|(n, v)| (n.to_string(), v.to_serde())).collect(),
                )
            }
        }
    }

    /// Every string in the value, with its path below `path`: names of fields too.
    pub fn strings<'v>(&'v self, path: &str, visit: &mut dyn FnMut(&str, &'v str)) {
        match self {
            Value::String(text) => visit(path, text),
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    item.strings(&format!("{path}[{at}]"), visit);
                }
            }
            Value::Map(fields) => {
                for (name, value) in fields {
                    visit(path, name);
                    value.strings(&format!("{path}.{name}"), visit);
                }
            }
            _ => {}
        }
    }
}

/// A JSON string, escaped as serde_json does it.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            8 => "\\b",
            12 => "\\f",
            0..=31 => "",
            _ => continue,
        };
        out.push_str(text.get(from..at).unwrap_or(""));
        match escape {
            "" => {
                let _ = write!(out, "\\u{byte:04x}");
            }
            _ => out.push_str(escape),
        }
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or(""));
    out.push('"');
}

/// What is shown in the place of a credential.
const WITHHELD: &str = "(withheld)";

/// A value with its JSON text.
#[derive(Debug)]
pub struct Stored {
    pub value: Value,
    pub json: Box<str>,
}

impl Stored {
    pub fn new(value: Value) -> Arc<Stored> {
        let json = value.json().into();
        Arc::new(Stored { value, json })
    }

    /// What stands for a value that was refused because it holds a credential.
    pub fn withheld() -> Arc<Stored> {
        Stored::new(Value::string(WITHHELD))
    }

    pub fn is_withheld(&self) -> bool {
        self.value.as_str() == Some(WITHHELD)
    }
}

/// Shares equal values while many overlays are loaded.
#[derive(Debug, Default)]
pub struct Pool {
    known: hashbrown::HashTable<Arc<Stored>>,
}

impl Pool {
    pub fn share(&mut self, value: Value) -> Arc<Stored> {
        use std::hash::BuildHasher;
        let hash = |json: &str| rustc_hash::FxBuildHasher.hash_one(json);
        let json = value.json();
        let at = hash(&json);
        if let Some(known) = self.known.find(at, |known| *known.json == *json) {
            return Arc::clone(known);
        }
        let stored = Arc::new(Stored {
            value,
            json: json.into(),
        });
        self.known
            .insert_unique(at, Arc::clone(&stored), |known| hash(&known.json));
        stored
    }

    /// Forgets values that no overlay holds any more.
    pub fn trim(&mut self) {
        self.known.retain(|known| Arc::strong_count(known) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_serde_json_does() {
        let text = "a\"b\\c\n\t\u{1}\u{8}é\u{7f}";
        let mut out = String::new();
        write_string(&mut out, text);
        assert_eq!(out, serde_json::to_string(text).unwrap());
    }

    #[test]
    fn maps_are_equal_in_any_order_and_numbers_by_value() {
        let map = |fields: &[(&str, &str)]| {
            let field = |&(n, v): &(&str, &str)| (n.into(), Value::Number(v.into(), true));
            Value::Map(fields.iter().map(field).collect())
        };
        assert_eq!(
            map(&[("a", "1"), ("b", "2")]),
            map(&[("b", "2.0"), ("a", "1")])
        );
        assert_ne!(map(&[("a", "1")]), map(&[("a", "2")]));
    }

    #[test]
    fn equal_values_are_stored_once() {
        let mut pool = Pool::default();
        let a = pool.share(Value::Bool(true));
        let b = pool.share(Value::Bool(true));
        assert!(Arc::ptr_eq(&a, &b));
        drop((a, b));
        pool.trim();
        assert!(pool.known.is_empty());
    }
}
