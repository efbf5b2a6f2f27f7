//! Values to and from the texts and trees of plain data.

use std::sync::Arc;

use base::{SourceId, Symbols};
use data::tree::{NodeId, Number, Tree, Value as Node};
use data::write::Writer;
use data::{Format, Options, Reading};

use super::super::call::fatal;
use super::super::{Error, Kinds, Value};
use super::base64;
use crate::number::Num;

/// Reads a text as the reference reads data, and returns its documents; or what is wrong first.
pub(super) fn parse(format: Format, text: &str) -> Result<Vec<Value>, base::Diagnostic> {
    let documents = parse_placed(format, text)?;
    Ok(documents.into_iter().map(|(value, _)| value).collect())
}

/// As [`parse`], with the offset at which each document starts.
pub(super) fn parse_placed(
    format: Format,
    text: &str,
) -> Result<Vec<(Value, usize)>, base::Diagnostic> {
    let mut symbols = Symbols::new();
    let options = Options {
        reading: Reading::Reference,
    };
    let parsed = data::parse(format, SourceId(0), Arc::from(text), &mut symbols, &options);
    let error = parsed.findings.iter().find(|finding| finding.is_error());
    if let Some(error) = error {
        return Err(error.clone());
    }
    Ok(parsed
        .documents
        .iter()
        .map(|tree| {
            let start = tree.span(tree.root()).range().start;
            (from_node(tree, tree.root(), &symbols), start)
        })
        .collect())
}

fn from_node(tree: &Tree, id: NodeId, symbols: &Symbols) -> Value {
    match tree.value(id) {
        Node::Null => Value::Null,
        Node::Bool(value) => Value::Bool(value),
        Node::Number(number) => match Num::parse_data(number.text, number.is_int) {
            Ok(num) => Value::Num(num),
            // Numbers whose exponent is out of range stay readable as text.
            Err(_) => Value::string(number.text),
        },
        Node::String(text) => Value::string(text),
        Node::Bytes(text) => Value::Bytes(base64::decode(text).unwrap_or_default()),
        Node::List(items) => Value::List(
            items
                .iter()
                .map(|&item| from_node(tree, item, symbols))
                .collect(),
        ),
        Node::Map(fields) => Value::Struct(
            fields
                .iter()
                .map(|field| {
                    let name = symbols.name(field.name).to_owned();
                    (name, from_node(tree, field.value, symbols))
                })
                .collect(),
        ),
    }
}

/// Writes a concrete value.
pub(super) fn write(writer: &mut impl Writer, value: &Value) -> Result<(), Error> {
    match value {
        Value::Null => writer.null(),
        Value::Bool(value) => writer.bool(*value),
        Value::Num(num) => writer.number(Number {
            text: &num.to_string(),
            is_int: num.is_int(),
        }),
        Value::String(text) => writer.string(text),
        Value::Bytes(bytes) => writer.bytes(&base64::encode(bytes)),
        Value::List(items) => {
            writer.begin_list();
            for item in items {
                write(writer, item)?;
            }
            writer.end_list();
        }
        Value::Struct(fields) => {
            writer.begin_map();
            for (name, value) in fields {
                writer.key(name);
                write(writer, value)?;
            }
            writer.end_map();
        }
        Value::Opaque(opaque) if opaque.kinds == Kinds::BOTTOM => {
            return Err(fatal("value has an error"));
        }
        Value::Opaque(_) => {
            return Err(Error::Incomplete(format!("incomplete value {value}")));
        }
    }
    Ok(())
}
