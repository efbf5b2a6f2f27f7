//! Plain data as CUE.

use base::Symbols;
use data::{NodeId, Tree, Value};

use crate::syntax::ast::{ExprId, UnaryOp};
use crate::syntax::build::Builder;
use crate::syntax::literal;

/// A node of a document as CUE. `text` is the text the document was read from: numbers are
/// written as they stand there.
pub fn data_to_cue(
    builder: &mut Builder,
    tree: &Tree,
    id: NodeId,
    text: &str,
    symbols: &mut Symbols,
) -> ExprId {
    match tree.value(id) {
        Value::Null => builder.null(),
        Value::Bool(value) => builder.bool(value),
        Value::Number(number) => {
            let written = text.get(tree.span(id).range()).unwrap_or("").trim();
            let unsigned = written.strip_prefix(['-', '+']).unwrap_or(written);
            let legal = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
                && (literal::parse_number(unsigned).is_ok() || is_old_octal(unsigned));
            let text = if legal { written } else { number.text };
            signed(builder, text)
        }
        Value::String(value) => builder.string(value),
        Value::Bytes(encoded) => {
            let bytes = crate::packages::decode_base64(encoded).unwrap_or_default();
            builder.bytes(&bytes)
        }
        Value::List(items) => {
            let items: Vec<ExprId> = items
                .iter()
                .map(|&item| data_to_cue(builder, tree, item, text, symbols))
                .collect();
            builder.list_lit(&items)
        }
        Value::Map(fields) => {
            let mut decls = Vec::with_capacity(fields.len());
            for field in fields {
                let value = data_to_cue(builder, tree, field.value, text, symbols);
                let name = symbols.name(field.name).to_owned();
                let label = builder.label(&name, symbols);
                decls.push(builder.field(label, value));
            }
            builder.struct_lit(&decls)
        }
    }
}

/// A number with its sign.
fn signed(builder: &mut Builder, text: &str) -> ExprId {
    let (op, rest) = match text.split_at_checked(1) {
        Some(("-", rest)) => (Some(UnaryOp::Minus), rest),
        Some(("+", rest)) => (Some(UnaryOp::Plus), rest),
        _ => (None, text),
    };
    let number = builder.number(rest);
    match op {
        Some(op) => builder.unary(op, number),
        None => number,
    }
}

/// `0777`, which YAML still reads and the formatter writes as `0o777`.
fn is_old_octal(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| matches!(b, b'0'..=b'7'))
}
