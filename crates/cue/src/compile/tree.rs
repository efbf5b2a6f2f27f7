//! Plain data as expressions, without a syntax tree in between.

use base::Span;
use data::{Tree, Value as Data};

use crate::eval::Ctx;
use crate::eval::ids::ExprId;
use crate::eval::ir::{DeclKind, Expr, StructLit};
use crate::eval::label::Label;
use crate::eval::node::ArcType;
use crate::eval::value::Value;
use crate::number::Num;

/// Compiles a document. The tree's field names are symbols of the context's table.
pub fn compile_tree(ctx: &mut Ctx, tree: &Tree) -> ExprId {
    node(ctx, tree, tree.root(), true)
}

/// Compiles a part of a document.
pub fn compile_node(ctx: &mut Ctx, tree: &Tree, id: data::NodeId) -> ExprId {
    node(ctx, tree, id, false)
}

fn node(ctx: &mut Ctx, tree: &Tree, id: data::NodeId, root: bool) -> ExprId {
    let span: Span = tree.span(id);
    let value = match tree.value(id) {
        Data::Null => Value::Null,
        Data::Bool(b) => Value::Bool(b),
        Data::Number(n) => match Num::parse_data(n.text, n.is_int) {
            Ok(n) => Value::Num(n),
            Err(_) => Value::Null,
        },
        Data::String(s) => Value::String(s.into()),
        Data::Bytes(text) => Value::Bytes(decode_base64(text).into()),
        Data::List(items) => {
            let elems = items.iter().map(|&i| node(ctx, tree, i, false)).collect();
            return ctx.ir.push(Expr::List(elems), Some(span));
        }
        Data::Map(fields) => {
            let mut decls = Vec::with_capacity(fields.len());
            for field in fields {
                let value = node(ctx, tree, field.value, false);
                let label = Label::of_symbol(field.name);
                let kind = DeclKind::Field {
                    label,
                    arc: ArcType::Member,
                    value,
                };
                decls.push(ctx.ir.decl(kind, tree.key_span(field)));
            }
            let lit = StructLit {
                decls: ctx.ir.literal(&decls),
                file: root,
                has_embed: false,
                explicit_open: false,
            };
            return ctx.ir.push(Expr::Struct(lit), Some(span));
        }
    };
    let id = ctx.new_value_at(value, Some(span));
    ctx.ir.push(Expr::Value(id), Some(span))
}

fn decode_base64(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(six);
        count += 1;
        if count == 4 {
            out.extend_from_slice(&[(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
            (bits, count) = (0, 0);
        }
    }
    match count {
        2 => out.push((bits >> 4) as u8),
        3 => out.extend_from_slice(&[(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => {}
    }
    out
}
