//! Plain values, as functions take and return them.

use std::fmt;

use super::Kinds;
use crate::number::Num;

/// A concrete value; or, inside of lists and structs, something of the evaluator that a function only moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Num(Num),
    String(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    /// Regular fields in order.
    Struct(Vec<(String, Value)>),
    Opaque(Opaque),
}

/// The evaluator's own number of a value, and what it may turn out to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opaque {
    pub id: u32,
    pub kinds: Kinds,
}

impl Value {
    pub fn int(value: impl Into<dashu_int::IBig>) -> Value {
        Value::Num(Num::int(value))
    }

    pub fn string(value: impl Into<String>) -> Value {
        Value::String(value.into())
    }

    pub fn strings<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Value {
        Value::List(values.into_iter().map(Value::string).collect())
    }

    pub fn kinds(&self) -> Kinds {
        match self {
            Value::Null => Kinds::NULL,
            Value::Bool(_) => Kinds::BOOL,
            Value::Num(num) if num.is_int() => Kinds::INT,
            Value::Num(_) => Kinds::FLOAT,
            Value::String(_) => Kinds::STRING,
            Value::Bytes(_) => Kinds::BYTES,
            Value::List(_) => Kinds::LIST,
            Value::Struct(_) => Kinds::STRUCT,
            Value::Opaque(opaque) => opaque.kinds,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::String(value)
    }
}

/// The compact form that messages use: `{a:1,b:[2,"x"]}`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Num(num) => write!(f, "{num}"),
            Value::String(text) => quote(f, text, '"'),
            Value::Bytes(bytes) => {
                f.write_str("'")?;
                for chunk in bytes.utf8_chunks() {
                    escape(f, chunk.valid(), '\'')?;
                    for byte in chunk.invalid() {
                        write!(f, "\\x{byte:02x}")?;
                    }
                }
                f.write_str("'")
            }
            Value::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Value::Struct(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    if !crate::syntax::literal::label_needs_quotes(name) {
                        f.write_str(name)?;
                    } else {
                        quote(f, name, '"')?;
                    }
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
            Value::Opaque(opaque) => opaque.kinds.fmt(f),
        }
    }
}

fn quote(f: &mut fmt::Formatter<'_>, text: &str, mark: char) -> fmt::Result {
    write!(f, "{mark}")?;
    escape(f, text, mark)?;
    write!(f, "{mark}")
}

fn escape(f: &mut fmt::Formatter<'_>, text: &str, mark: char) -> fmt::Result {
    for c in text.chars() {
        match c {
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c == mark => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    Ok(())
}
