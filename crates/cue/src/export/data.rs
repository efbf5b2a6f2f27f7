//! Concrete values as events of a data writer.

use data::Number;
use data::write::Writer;

use crate::eval::Ctx;
use crate::eval::ids::NodeId;
use crate::eval::node::{ArcType, Base, X};
use crate::eval::value::{Val, Value};

use super::order::ordered_arcs;

/// Writes a value that was found concrete. Definitions, hidden and optional fields are left out.
pub fn write(ctx: &mut Ctx, node: NodeId, out: &mut impl Writer) {
    let node = ctx.settled_node(node);
    match ctx.nodes[node].base {
        Base::List { .. } => {
            out.begin_list();
            let arcs = ctx.nodes[node].arcs.list.clone();
            for arc in arcs {
                if ctx.nodes[arc].label.is_int() {
                    write(ctx, arc, out);
                }
            }
            out.end_list();
        }
        Base::Val(id) => lit(ctx, Val::Lit(id), out),
        _ => {
            out.begin_map();
            for arc in ordered_arcs(ctx, node) {
                let a = &ctx.nodes[arc];
                if !a.label.is_string() || a.arc_type != ArcType::Member {
                    continue;
                }
                out.key(a.label.name(&ctx.symbols));
                if let Some(tag) = yaml_tag(ctx, arc) {
                    out.tag(&tag);
                }
                write(ctx, arc, out);
            }
            out.end_map();
        }
    }
}

/// The path of a value that no data format has: a function.
pub fn first_function(ctx: &mut Ctx, node: NodeId) -> Option<String> {
    if ctx.without_functions == Some(node) {
        return None;
    }
    let node = ctx.settled_node(node);
    if let Some(Value::Builtin(id)) = ctx.scalar(Val::Node(node)) {
        let path = ctx.path(node);
        let name = ctx.builtin_name(*id);
        let path = ctx.path_text(&path);
        return Some(format!("{path}: cannot convert function {name} to data"));
    }
    let arcs = ctx.nodes[node].arcs.list.clone();
    for arc in arcs {
        let a = &ctx.nodes[arc];
        if a.label.is_regular() && a.arc_type == ArcType::Member {
            let found = first_function(ctx, arc);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// The tag that a field asks for with `@yaml(,tag="!Name")`.
fn yaml_tag(ctx: &Ctx, arc: NodeId) -> Option<String> {
    if ctx.attributes.is_empty() {
        return None;
    }
    let decls = ctx.nodes[arc].conjuncts.iter().filter_map(|c| match c.x {
        X::Decl(decl) => ctx.attributes.get(&decl),
        _ => None,
    });
    let body = decls
        .flatten()
        .find_map(|text| text.strip_prefix("@yaml(")?.strip_suffix(')'))?;
    let value = body.split_once("tag=")?.1;
    let quoted = value.strip_prefix('"').and_then(|v| v.split_once('"'));
    let tag = match quoted {
        Some((tag, _)) => tag.to_owned(),
        None => value.split(',').next().unwrap_or(value).trim().to_owned(),
    };
    tag.starts_with('!').then_some(tag)
}

fn lit(ctx: &mut Ctx, val: Val, out: &mut impl Writer) {
    let Some(Val::Lit(id)) = ctx.unwrap_val(val) else {
        out.null();
        return;
    };
    match ctx.value(id) {
        Value::Bool(b) => out.bool(*b),
        Value::Num(n) => {
            let text = n.to_string();
            out.number(Number {
                text: &text,
                is_int: n.is_int(),
            });
        }
        Value::String(s) => out.string(s),
        Value::Bytes(b) => out.bytes(&base64(b)),
        _ => out.null(),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            if i <= chunk.len() {
                let six = (bits >> (18 - 6 * i)) & 63;
                out.push(char::from(
                    DIGITS.get(six as usize).copied().unwrap_or(b'='),
                ));
            } else {
                out.push('=');
            }
        }
    }
    out
}
