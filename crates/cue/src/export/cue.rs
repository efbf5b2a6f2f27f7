//! Evaluated values as CUE.

use crate::eval::Ctx;
use crate::eval::ids::{NodeId, ValId};
use crate::eval::kind::Kind;
use crate::eval::label::{Label, LabelKind};
use crate::eval::node::{ArcType, Base, Conjunct, X};
use crate::eval::quote;
use crate::eval::value::Val;
use crate::syntax::literal::label_needs_quotes;

use super::order::ordered_arcs;
use super::syntax::{Item, Layout, Syn, print_expr, print_file};
use super::values::{join, weight};

/// What to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profile {
    pub take_defaults: bool,
    pub definitions: bool,
    pub hidden: bool,
    pub optional: bool,
    pub tabs: bool,
    pub collapse: bool,
    /// Show errors in the places where they are.
    pub errors: bool,
    pub attributes: bool,
    /// Show comments inside of expressions that are written as they are in the source.
    pub docs: bool,
}

pub(super) struct Exporter<'c> {
    pub(super) ctx: &'c mut Ctx,
    pub(super) profile: Profile,
    pub(super) frames: Vec<Frame>,
    /// Imports that the output mentions, in the order in which it does: path, and the name if it is another.
    pub(super) imports: Vec<(String, Option<String>)>,
    /// Literals are written as they are in the source.
    pub(super) as_written: bool,
    /// Frames of braces that are written as they are in the source.
    pub(super) blanks: Vec<NodeId>,
    /// Values outside of the part that are being written.
    pub(super) hoisting: Vec<NodeId>,
    pub(super) depth: usize,
    /// The value that is written, if it is only a part of a tree.
    pub(super) root: Option<NodeId>,
    /// Values outside of it that it refers to: name, path, value.
    pub(super) hoisted: Vec<(String, String, Syn)>,
    /// Which vertex got which name.
    pub(super) names: Vec<(NodeId, String)>,
}

/// A vertex that is being written.
pub(super) struct Frame {
    pub node: NodeId,
    pub lets: Vec<(Label, String, Syn)>,
}

/// A value as a CUE file, or as an expression when it is no struct.
pub fn write(ctx: &mut Ctx, node: NodeId, profile: Profile) -> String {
    let mut exporter = Exporter::new(ctx, profile);
    let node = exporter.shown(node);
    exporter.root = exporter.ctx.nodes[node].parent.map(|_| node);
    let syn = exporter.vertex(node);
    finish(exporter, &syn, "")
}

/// The text of a value with the imports and the lets that it needs.
pub(super) fn finish(mut exporter: Exporter<'_>, syn: &Syn, head: &str) -> String {
    let profile = exporter.profile;
    let mut lets = String::new();
    for (name, path, value) in std::mem::take(&mut exporter.hoisted) {
        let text = print_expr(
            &value,
            Layout {
                tab: profile.tabs,
                collapse: profile.collapse,
            },
        );
        lets.push_str(&format!("\n//cue:path: {path}\nlet {name} = {text}"));
    }
    let mut imports: Vec<String> = Vec::new();
    for (path, name) in std::mem::take(&mut exporter.imports) {
        let path = quote::string(&path);
        let import = match name {
            Some(name) => format!("{name} {path}"),
            None => path,
        };
        if !imports.contains(&import) {
            imports.push(import);
        }
    }
    let layout = Layout {
        tab: profile.tabs,
        collapse: profile.collapse,
    };
    let mut head = head.to_owned();
    match imports.as_slice() {
        [] => {}
        [one] => head.push_str(&format!("import {one}\n\n")),
        many => {
            head.push_str("import (\n");
            for path in many {
                head.push_str(if profile.tabs { "\t" } else { "    " });
                head.push_str(path);
                head.push('\n');
            }
            head.push_str(")\n\n");
        }
    }
    let mut body = match syn {
        Syn::Struct(items) => print_file(items, layout),
        other => print_expr(other, layout),
    };
    // At the top of a file these words begin a clause.
    let lines = body.split_inclusive('\n');
    let above = lines.take_while(|line| line.starts_with(['/', '@']) || line.trim().is_empty());
    let first = above.map(str::len).sum::<usize>();
    for word in ["package", "import"] {
        let rest = body.get(first..).and_then(|body| body.strip_prefix(word));
        if rest.is_some_and(|rest| rest.starts_with([':', '?', '!'])) {
            body.replace_range(first..first + word.len(), &quote::string(word));
        }
    }
    if !lets.is_empty() && !matches!(syn, Syn::Struct(_)) {
        body.insert(0, '\n');
    }
    head + &body + &lets
}

impl<'c> Exporter<'c> {
    pub(super) fn new(ctx: &'c mut Ctx, profile: Profile) -> Exporter<'c> {
        Exporter {
            ctx,
            profile,
            frames: Vec::new(),
            imports: Vec::new(),
            as_written: false,
            blanks: Vec::new(),
            hoisting: Vec::new(),
            depth: 0,
            root: None,
            hoisted: Vec::new(),
            names: Vec::new(),
        }
    }

    pub(super) fn shown(&mut self, node: NodeId) -> NodeId {
        if self.profile.take_defaults {
            self.ctx.default_node(node)
        } else {
            self.ctx.deref_value(node)
        }
    }

    fn shows_arcs(&self, node: NodeId) -> bool {
        self.ctx.nodes[node].arcs.list.iter().any(|&a| {
            let label = self.ctx.nodes[a].label;
            match label.kind() {
                LabelKind::Def => self.profile.definitions,
                LabelKind::HiddenDef => self.profile.definitions || self.profile.hidden,
                LabelKind::Hidden => self.profile.hidden,
                _ => false,
            }
        })
    }

    pub(super) fn vertex(&mut self, node: NodeId) -> Syn {
        if self.frames.iter().any(|f| f.node == node) || self.depth > 500 {
            return Syn::Atom("_".to_owned());
        }
        self.depth += 1;
        self.frames.push(Frame {
            node,
            lets: Vec::new(),
        });
        let mut result = match self.ctx.nodes[node].base {
            Base::None => None,
            Base::Struct => Some(self.composite(node)),
            Base::List { .. } => Some(if self.shows_arcs(node) {
                self.composite(node)
            } else {
                self.list(node)
            }),
            Base::Node(other) => {
                let other = self.shown(other);
                Some(self.vertex(other))
            }
            Base::Val(id) => match self.ctx.bottom(id) {
                Some(b) => {
                    let incomplete = b.is_incomplete();
                    let has_conjuncts = !self.ctx.nodes[node].conjuncts.is_empty();
                    let optional = self.ctx.nodes[node].arc_type == ArcType::Optional;
                    let below = self.profile.errors && b.child_error;
                    let first = self.ctx.nodes[node].arcs.get(0);
                    let is_list = first.is_some_and(|a| self.ctx.nodes[a].label.is_int());
                    if below && !optional {
                        Some(if is_list && !self.shows_arcs(node) {
                            self.list(node)
                        } else {
                            self.composite(node)
                        })
                    } else if optional || incomplete && has_conjuncts {
                        None
                    } else {
                        Some(self.bottom(id))
                    }
                }
                None => Some(if self.shows_arcs(node) {
                    self.composite(node)
                } else {
                    self.value(Val::Lit(id))
                }),
            },
        };
        if result.is_none() {
            result = Some(self.conjuncts(node));
        }
        self.depth -= 1;
        let frame = self.frames.pop();
        let syn = result.unwrap_or(Syn::Atom("_".to_owned()));
        let lets = frame.map_or(Vec::new(), |f| f.lets);
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

    /// The source of a vertex that could not be computed.
    fn conjuncts(&mut self, node: NodeId) -> Syn {
        let mut all: Vec<Conjunct> = self.ctx.nodes[node].conjuncts.to_vec();
        all.sort_by_key(|c| {
            let span = self.ctx.elem_span(c.x);
            let weight = weight(self.ctx, self.ctx.elem(c.x));
            (weight, span.map(|s| (s.source, s.start)))
        });
        let mut seen: Vec<X> = Vec::new();
        let mut parts: Vec<Syn> = Vec::new();
        for c in all {
            let x = self.ctx.elem(c.x);
            if seen.contains(&x) {
                continue;
            }
            seen.push(x);
            let syn = match x {
                X::Expr(e) => self.expr(c.env, e),
                X::Node(n) => {
                    let n = self.shown(n);
                    self.vertex(n)
                }
                X::Val(id) => self.value(Val::Lit(id)),
                X::Decl(_) => continue,
            };
            parts.push(syn);
        }
        join("&", 2, parts)
    }

    pub(super) fn bottom(&mut self, id: ValId) -> Syn {
        let mut text = "_|_".to_owned();
        if let Some(&err) = self.ctx.bottom(id).and_then(|b| b.errors.first()) {
            let path = self.ctx.error_path(err);
            let message = self.ctx.message(err);
            text.push_str(" // ");
            if !path.is_empty() {
                text.push_str(&path.join("."));
                text.push_str(": ");
            }
            text.push_str(&message);
            let more = self.ctx.bottom(id).map_or(0, |b| b.errors.len()) - 1;
            if more > 0 {
                text.push_str(&format!(" (and {more} more errors)"));
            }
        }
        Syn::Atom(text)
    }

    fn list(&mut self, node: NodeId) -> Syn {
        let mut items = Vec::new();
        let arcs = self.ctx.nodes[node].arcs.list.clone();
        for arc in arcs {
            if self.ctx.nodes[arc].label.is_int() {
                let arc = self.shown(arc);
                let scalar = matches!(self.ctx.nodes[arc].base, Base::Val(_));
                let outer = std::mem::replace(&mut self.as_written, scalar);
                items.push(self.vertex(arc));
                self.as_written = outer;
            }
        }
        if let Base::List { open: true } = self.ctx.nodes[node].base
            && !self.profile.take_defaults
        {
            let of = self.tail(node);
            items.push(Syn::Ellipsis(of.map(Box::new)));
        }
        Syn::List(items)
    }

    /// The type of further elements of an open list.
    fn tail(&mut self, node: NodeId) -> Option<Syn> {
        let mut conjuncts: Vec<Conjunct> = Vec::new();
        for pair in &self.ctx.nodes[node].arcs.patterns.clone() {
            conjuncts.extend(self.ctx.nodes[pair.constraint].conjuncts.iter().copied());
        }
        let kept: Vec<Conjunct> = conjuncts
            .into_iter()
            .filter(|c| self.ctx.elem(c.x) != X::Val(self.ctx.top))
            .collect();
        if kept.is_empty() {
            return None;
        }
        let node = self.ctx.inline_node(Base::None, &kept);
        if self.ctx.finalize(node).is_err() {
            return None;
        }
        let node = self.shown(node);
        if self.ctx.node_kind(node) == Kind::TOP {
            return None;
        }
        if self.ctx.node_bottom(node).is_some() {
            // A comment would swallow the bracket.
            return Some(Syn::Atom("_|_".to_owned()));
        }
        Some(self.vertex(node))
    }

    fn composite(&mut self, node: NodeId) -> Syn {
        let mut items = Vec::new();
        let mut last = None;
        let mut regular = false;
        match self.ctx.nodes[node].base {
            Base::Struct => regular = true,
            Base::List { .. } => last = Some(Item::Embed(self.list(node))),
            Base::Val(id) if self.ctx.bottom(id).is_some_and(|b| b.child_error) => {
                regular = true;
                let arcs = &self.ctx.nodes[node].arcs.list;
                if arcs.iter().any(|&a| self.ctx.nodes[a].label.is_int()) {
                    last = Some(Item::Embed(self.list(node)));
                }
            }
            Base::Val(id) => {
                let value = self.value(Val::Lit(id));
                items.push(Item::Embed(value));
            }
            _ => {}
        }
        for arc in ordered_arcs(self.ctx, node) {
            let a = &self.ctx.nodes[arc];
            let (label, arc_type) = (a.label, a.arc_type);
            let show = match label.kind() {
                LabelKind::String => regular,
                LabelKind::Def => self.profile.definitions,
                LabelKind::Hidden | LabelKind::HiddenDef => self.profile.hidden,
                _ => false,
            };
            if !show
                || arc_type == ArcType::Optional && !self.profile.optional
                || arc_type > ArcType::Optional
            {
                continue;
            }
            let target = self.shown(arc);
            let value = self.vertex(target);
            let attributes = if self.profile.attributes {
                self.field_attributes(arc)
            } else {
                Vec::new()
            };
            items.push(Item::Field {
                label: self.label(label) + arc_type.suffix(),
                value,
                attributes,
            });
        }
        items.extend(last);
        Syn::Struct(items)
    }

    /// The attributes of all declarations of a field, each once.
    fn field_attributes(&self, arc: NodeId) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for c in &self.ctx.nodes[arc].conjuncts {
            if let X::Decl(decl) = c.x {
                merge_texts(&mut all, self.ctx.attributes.get(&decl));
            }
        }
        all
    }

    pub(super) fn label(&self, label: Label) -> String {
        match label.kind() {
            LabelKind::String => {
                let name = label.name(&self.ctx.symbols);
                if label_needs_quotes(name) {
                    quote::string(name)
                } else {
                    name.to_owned()
                }
            }
            LabelKind::Int => label.index().to_string(),
            _ => label.name(&self.ctx.symbols).to_owned(),
        }
    }
}

/// Adds texts that are not there yet.
pub(super) fn merge_texts(all: &mut Vec<String>, more: Option<&Vec<String>>) {
    for text in more.into_iter().flatten() {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
}
