//! Plain data as CUE.

use std::ops::Range;

use base::Symbols;
use data::{Format, NodeId, Tree, Value};

use super::remarks::Remarks;
use crate::syntax::ast::{ExprId, NodeRef, UnaryOp};
use crate::syntax::build::Builder;
use crate::syntax::literal;

/// A whole document as CUE for people: comments of YAML are kept, and tables of TOML stay apart.
pub fn document_to_cue(
    builder: &mut Builder,
    tree: &Tree,
    format: Format,
    text: &str,
    symbols: &mut Symbols,
) -> ExprId {
    match format {
        Format::Yaml => {
            let mut remarks = Remarks::of(tree, text);
            let expr = convert(builder, tree, tree.root(), text, symbols, &mut remarks);
            let rest = remarks.rest();
            let lines: Vec<&str> = rest.iter().map(String::as_str).collect();
            if !lines.is_empty() {
                let last = builder.fields_of(expr).and_then(|f| f.last().copied());
                let node = last.map_or(NodeRef::Expr(expr), NodeRef::Decl);
                builder.comment_below(node, &lines);
            }
            expr
        }
        Format::Toml => match super::sections::sections(builder, tree, text, symbols) {
            Some(decls) => builder.struct_lit(&decls),
            None => data_to_cue(builder, tree, tree.root(), text, symbols),
        },
        _ => data_to_cue(builder, tree, tree.root(), text, symbols),
    }
}

/// A node of a document as CUE. `text` is the text the document was read from: numbers are
/// written as they stand there.
pub fn data_to_cue(
    builder: &mut Builder,
    tree: &Tree,
    id: NodeId,
    text: &str,
    symbols: &mut Symbols,
) -> ExprId {
    convert(builder, tree, id, text, symbols, &mut Remarks::none(text))
}

fn convert(
    builder: &mut Builder,
    tree: &Tree,
    id: NodeId,
    text: &str,
    symbols: &mut Symbols,
    remarks: &mut Remarks<'_>,
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
            let mut elements = Vec::with_capacity(items.len());
            for &item in items {
                let span = tree.span(item).range();
                let mut above = remarks.above(span.start);
                let value = convert(builder, tree, item, text, symbols, remarks);
                let node = NodeRef::Expr(value);
                let beside = remarks.beside(line_end(text, &span));
                above.extend(remarks.below(span.end));
                explain(builder, node, &above);
                if let Some(line) = beside {
                    builder.line_comment(node, &line, 1);
                }
                elements.push(value);
            }
            builder.list_lit(&elements)
        }
        Value::Map(fields) => {
            let mut decls = Vec::with_capacity(fields.len());
            for field in fields {
                let mut above = remarks.above(tree.key_span(field).range().start);
                let nested = matches!(tree.value(field.value), Value::Map(_) | Value::List(_));
                let head = match nested {
                    true => remarks.beside(tree.key_span(field).range().end),
                    false => None,
                };
                let value = convert(builder, tree, field.value, text, symbols, remarks);
                let name = symbols.name(field.name).to_owned();
                let label = builder.label(&name, symbols);
                let decl = builder.field(label, value);
                if let Some(line) = head {
                    builder.line_comment(NodeRef::Decl(decl), &line, 2);
                }
                let written = tree.span(field.value).range();
                if let Some(line) = remarks.beside(line_end(text, &written)) {
                    builder.line_comment(NodeRef::Expr(value), &line, 1);
                }
                if !nested {
                    above.extend(remarks.below(written.end));
                }
                explain(builder, NodeRef::Decl(decl), &above);
                decls.push(decl);
            }
            builder.struct_lit(&decls)
        }
    }
}

/// The place on whose line a comment belongs to a value: its end, or the head of a block of text.
fn line_end(text: &str, span: &Range<usize>) -> usize {
    let written = text.get(span.clone()).unwrap_or("");
    if written.starts_with(['|', '>']) || written.ends_with('\n') {
        return span.start;
    }
    span.end
}

/// Comments above a node.
fn explain(builder: &mut Builder, node: NodeRef, lines: &[String]) {
    if !lines.is_empty() {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        builder.doc(node, &lines);
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
