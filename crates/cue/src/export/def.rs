//! Definitions as CUE: the source of a value, merged but not evaluated.
//!
//! The conjuncts of a vertex are put together again: plain fields of all literals are merged by name, values
//! without references are unified, references and other expressions stay as they were written.

use crate::eval::Ctx;
use crate::eval::ids::{EnvId, ExprId, NodeId};
use crate::eval::ir::{DeclKind, Expr, Op};
use crate::eval::label::Label;
use crate::eval::node::{ArcType, Base, CloseInfo, Conjunct, X};
use crate::eval::value::Value;

use super::cue::{Exporter, Frame, Profile, finish, merge_texts};
use super::syntax::{Item, Syn};
use super::values::join;

struct Merged {
    values: Vec<Conjunct>,
    embeds: Vec<Syn>,
    conjuncts: Vec<Syn>,
    fields: Vec<(Label, ArcType, Vec<Conjunct>)>,
    structs: usize,
    has_ellipsis: bool,
    /// Attributes of the literals.
    attributes: Vec<String>,
}

/// The definition of a value as a CUE file.
pub fn write(ctx: &mut Ctx, node: NodeId, package: Option<&str>) -> String {
    let profile = Profile {
        take_defaults: false,
        definitions: true,
        hidden: true,
        optional: true,
        tabs: true,
        collapse: true,
        errors: false,
        attributes: true,
        docs: true,
    };
    let mut exporter = Exporter::new(ctx, profile);
    let conjuncts = exporter.ctx.nodes[node].conjuncts.to_vec();
    let mut syn = exporter.merge(Some(node), &conjuncts);
    let closed = exporter.ctx.nodes[node].closed_recursive;
    if closed && let Syn::Struct(items) = &syn {
        let by_definition = items.iter().any(|item| match item {
            Item::Embed(x) => names_definition(x),
            _ => false,
        });
        if !by_definition {
            let name = "_#def".to_owned();
            syn = Syn::Struct(vec![
                Item::Embed(Syn::Atom(name.clone())),
                Item::Field {
                    label: name,
                    value: syn,
                    attributes: Vec::new(),
                },
            ]);
        }
    }
    let head = package.map_or(String::new(), |name| format!("package {name}\n\n"));
    finish(exporter, &syn, &head)
}

fn names_definition(syn: &Syn) -> bool {
    match syn {
        Syn::Atom(text) => text.starts_with('#') || text.starts_with("_#"),
        Syn::Select(x, label) => {
            label.starts_with('#') || label.starts_with("_#") || names_definition(x)
        }
        Syn::Index(x, _) => names_definition(x),
        _ => false,
    }
}

impl Exporter<'_> {
    fn merge(&mut self, src: Option<NodeId>, conjuncts: &[Conjunct]) -> Syn {
        if self.depth > 400 {
            return Syn::Atom("_".to_owned());
        }
        self.depth += 1;
        let frame = src.unwrap_or(self.ctx.empty);
        self.frames.push(Frame {
            node: frame,
            lets: Vec::new(),
        });
        let syn = self.merge_inner(src, conjuncts);
        let lets = self.frames.pop().map_or(Vec::new(), |f| f.lets);
        self.depth -= 1;
        if lets.is_empty() {
            return syn;
        }
        let mut items: Vec<Item> = lets
            .into_iter()
            .map(|(_, name, value)| Item::Let { name, value })
            .collect();
        match syn {
            Syn::Struct(rest) => items.extend(rest),
            other => items.push(Item::Embed(other)),
        }
        Syn::Struct(items)
    }

    fn merge_inner(&mut self, src: Option<NodeId>, conjuncts: &[Conjunct]) -> Syn {
        let mut merged = Merged {
            values: Vec::new(),
            embeds: Vec::new(),
            conjuncts: Vec::new(),
            fields: Vec::new(),
            structs: 0,
            has_ellipsis: false,
            attributes: Vec::new(),
        };
        let mut seen: Vec<X> = Vec::new();
        for c in conjuncts {
            let x = self.ctx.elem(c.x);
            if !seen.contains(&x) {
                seen.push(x);
                self.add(&mut merged, src, c.env, x, false);
            }
        }
        if !merged.values.is_empty() {
            let node = self.ctx.inline_node(Base::None, &merged.values);
            if self.ctx.finalize(node).is_ok() {
                let node = self.ctx.deref_value(node);
                let one = merged.values.len() == 1;
                let outer = std::mem::replace(&mut self.as_written, one);
                let syn = self.vertex(node);
                self.as_written = outer;
                merged.embeds.push(syn);
            }
        }
        if merged.fields.is_empty() && !merged.has_ellipsis && merged.attributes.is_empty() {
            match merged.embeds.len() + merged.conjuncts.len() {
                0 if merged.structs > 0 => return Syn::Struct(Vec::new()),
                0 => return Syn::Atom("_".to_owned()),
                1 => {
                    let only = merged.conjuncts.pop().or_else(|| merged.embeds.pop());
                    return only.unwrap_or(Syn::Atom("_".to_owned()));
                }
                _ => {}
            }
        }
        // The order that these conjuncts alone give. What has errors stays as it was written: alone it may be a
        // cycle that is not found before the bound.
        let is_whole = src.is_none_or(|n| {
            self.ctx.node_bottom(n).is_none() && self.ctx.nodes[n].child_errors.is_none()
        });
        if merged.fields.len() > 1
            && is_whole
            && let alone = self.ctx.inline_node(Base::None, conjuncts)
            && self.ctx.finalize(alone).is_ok()
        {
            let alone = self.ctx.deref_value(alone);
            let order: Vec<Label> = super::order::ordered_arcs(self.ctx, alone)
                .into_iter()
                .map(|arc| self.ctx.nodes[arc].label)
                .collect();
            let last = order.len();
            let place = |label: Label| order.iter().position(|l| *l == label).unwrap_or(last);
            if merged.fields.iter().all(|f| place(f.0) < last) {
                merged.fields.sort_by_key(|f| place(f.0));
            }
        }
        let mut items: Vec<Item> = merged.attributes.into_iter().map(Item::Line).collect();
        items.extend(merged.embeds.into_iter().map(Item::Embed));
        for (label, mut arc_type, conjuncts) in merged.fields {
            let arc = src.and_then(|n| {
                let n = self.ctx.deref_value(n);
                self.ctx.find_arc(n, label)
            });
            if let Some(arc) = arc {
                arc_type = arc_type.min(self.ctx.nodes[arc].arc_type);
            }
            let value = self.merge(arc, &conjuncts);
            let mut attributes = Vec::new();
            let mut alias = None;
            for c in &conjuncts {
                if let X::Decl(decl) = c.x {
                    if let Some(docs) = self.ctx.docs.get(&decl) {
                        items.extend(docs.iter().cloned().map(Item::Line));
                    }
                    merge_texts(&mut attributes, self.ctx.attributes.get(&decl));
                    alias = alias.or(self.ctx.aliases.get(&decl).copied());
                }
            }
            let prefix = match alias {
                Some(alias) => format!("{}=", self.name(alias)),
                None => String::new(),
            };
            items.push(Item::Field {
                label: prefix + &self.label(label) + arc_type.suffix(),
                value,
                attributes,
            });
        }
        if merged.has_ellipsis {
            items.push(Item::Ellipsis(None));
        }
        let closed = src.is_some_and(|n| self.ctx.nodes[n].closed_once) && !merged.has_ellipsis;
        let has_items = !items.is_empty();
        let mut body = Syn::Struct(items);
        if closed {
            body = Syn::Call(Box::new(Syn::Atom("close".to_owned())), vec![body]);
        }
        if merged.conjuncts.is_empty() {
            return body;
        }
        if merged.structs > 0 || has_items {
            merged.conjuncts.push(body);
        }
        join("&", 2, merged.conjuncts)
    }

    fn add(
        &mut self,
        merged: &mut Merged,
        src: Option<NodeId>,
        env: Option<EnvId>,
        x: X,
        embed: bool,
    ) {
        let expr = match x {
            X::Expr(expr) => expr,
            X::Val(_) => {
                self.add_value(merged, src, env, x);
                return;
            }
            X::Node(node) => {
                let conjuncts = self.ctx.nodes[node].conjuncts.to_vec();
                for c in conjuncts {
                    let x = self.ctx.elem(c.x);
                    self.add(merged, src, c.env, x, false);
                }
                return;
            }
            X::Decl(_) => return,
        };
        match self.ctx.ir.exprs[expr].clone() {
            Expr::Struct(lit) => {
                let node = src.unwrap_or(self.ctx.empty);
                let inner = self.ctx.new_env(env.unwrap_or(self.ctx.no_env), node);
                if self.is_complex(expr) {
                    let syn = self.expr(env, expr);
                    merged.embeds.push(syn);
                    return;
                }
                merged.structs += 1;
                merge_texts(
                    &mut merged.attributes,
                    self.ctx.struct_attributes.get(&expr),
                );
                for decl in self.ctx.ir.members(lit.decls).to_vec() {
                    match self.ctx.ir.decls[decl].kind.clone() {
                        DeclKind::Field { label, arc, .. } => {
                            let c = Conjunct {
                                env: Some(inner),
                                x: X::Decl(decl),
                                ci: CloseInfo::default(),
                            };
                            match merged.fields.iter_mut().find(|f| f.0 == label) {
                                Some(known) => {
                                    known.1 = known.1.min(arc);
                                    known.2.push(c);
                                }
                                None => merged.fields.push((label, arc, vec![c])),
                            }
                        }
                        DeclKind::Ellipsis(_) | DeclKind::Pattern { .. } => {
                            merged.has_ellipsis = true;
                        }
                        DeclKind::Embed(x) => {
                            let x = self.ctx.elem(X::Expr(x));
                            self.add(merged, None, Some(inner), x, true);
                        }
                        _ => {}
                    }
                }
            }
            Expr::Binary { op: Op::And, x, y } if !embed => {
                for side in [x, y] {
                    let side = self.ctx.elem(X::Expr(side));
                    self.add(merged, src, env, side, false);
                }
            }
            _ if self.is_self_contained(expr) => {
                self.add_value(merged, src, env, X::Expr(expr));
            }
            _ => {
                let syn = self.expr(env, expr);
                if embed {
                    merged.embeds.push(syn);
                } else if syn != Syn::Atom("_".to_owned()) {
                    merged.conjuncts.push(syn);
                }
            }
        }
    }

    fn add_value(&mut self, merged: &mut Merged, src: Option<NodeId>, env: Option<EnvId>, x: X) {
        let is_top = matches!(x, X::Val(id) if matches!(self.ctx.value(id), Value::Top));
        if is_top && let Some(src) = src {
            let plain = matches!(self.ctx.nodes[src].base, Base::Val(id)
                if matches!(self.ctx.value(id), Value::Top | Value::Type(crate::eval::kind::Kind::TOP)));
            if !plain && self.ctx.nodes[src].base != Base::None {
                return;
            }
        }
        merged.values.push(Conjunct {
            env,
            x,
            ci: CloseInfo::default(),
        });
    }

    /// Has declarations that cannot be merged by name.
    fn is_complex(&self, expr: ExprId) -> bool {
        let Expr::Struct(lit) = &self.ctx.ir.exprs[expr] else {
            return false;
        };
        let decls = self.ctx.ir.members(lit.decls);
        decls.iter().any(|&d| match self.ctx.ir.decls[d].kind {
            // `[string]: _` says what an ellipsis says.
            DeclKind::Pattern { filter, value, .. } => {
                let is = |x: ExprId, top: bool| match self.ctx.ir.exprs[x] {
                    Expr::Value(id) => match self.ctx.value(id) {
                        Value::Top => top,
                        Value::Type(kind) => !top && *kind == crate::eval::kind::Kind::STRING,
                        _ => false,
                    },
                    _ => false,
                };
                !(is(filter, false) && is(value, true))
            }
            DeclKind::Dynamic { .. } | DeclKind::Ellipsis(Some(_)) => true,
            DeclKind::Embed(x) => matches!(self.ctx.ir.exprs[x], Expr::Comprehension(_)),
            _ => false,
        })
    }

    fn is_self_contained(&self, expr: ExprId) -> bool {
        match &self.ctx.ir.exprs[expr] {
            Expr::Value(_) => true,
            Expr::Binary { x, y, .. } => self.is_self_contained(*x) && self.is_self_contained(*y),
            Expr::Unary { x, .. } | Expr::Bound { x, .. } => self.is_self_contained(*x),
            _ => false,
        }
    }
}
