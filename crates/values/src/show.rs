//! Values in one line, for listings and messages: `3`, `"nginx:1.25.0"`, `["a", "b"]`,
//! `{key: "node-role"}`.

use std::fmt::Write;

use base::Symbols;
use base::path::write_key;
use data::{NodeId, Tree, Value};

/// How many characters a value may take in a message before the rest becomes `…`.
pub const SHORT: usize = 60;

/// What a value is, with its article.
pub fn kind(value: Value<'_>) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_int => "an integer",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Bytes(_) => "binary",
        Value::List(_) => "a list",
        Value::Map(_) => "a map",
    }
}

/// The value in one line, whole.
pub fn whole(tree: &Tree, node: NodeId, symbols: &Symbols) -> String {
    let mut out = String::new();
    write(&mut out, tree, node, symbols, usize::MAX);
    out
}

/// The value in one line of at most [`SHORT`] characters.
pub fn short(tree: &Tree, node: NodeId, symbols: &Symbols) -> String {
    let mut out = String::new();
    write(&mut out, tree, node, symbols, SHORT * 4);
    shorten(out, SHORT)
}

/// Cuts a text that is longer than `most` characters.
pub fn shorten(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text,
        Some(_) => {
            text.chars()
                .take(most.saturating_sub(1))
                .collect::<String>()
                + "…"
        }
    }
}

/// Stops soon after `limit` bytes.
fn write(out: &mut String, tree: &Tree, node: NodeId, symbols: &Symbols, limit: usize) {
    match tree.value(node) {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number.text),
        Value::String(text) => quote(out, text),
        Value::Bytes(base64) => {
            out.push_str("!!binary ");
            quote(out, base64);
        }
        Value::List(items) => {
            out.push('[');
            for (index, &item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                if out.len() > limit {
                    break;
                }
                write(out, tree, item, symbols, limit);
            }
            out.push(']');
        }
        Value::Map(fields) => {
            out.push('{');
            for (index, field) in fields.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                if out.len() > limit {
                    break;
                }
                // Writing to a string cannot fail.
                let _ = write_key(out, symbols.name(field.name));
                out.push_str(": ");
                write(out, tree, field.value, symbols, limit);
            }
            out.push('}');
        }
    }
}

/// A string in double quotes, with everything escaped that would break a line.
pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
