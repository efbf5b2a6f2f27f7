//! Evaluated values as CUE.

use crate::eval::Ctx;
use crate::eval::ids::{NodeId, ValId};
use crate::eval::ir::{Expr, Op};
use crate::eval::kind::Kind;
use crate::eval::label::{Label, LabelKind};
use crate::eval::node::{ArcType, Base, Conjunct, X};
use crate::eval::quote;
use crate::eval::value::{Val, Value};
use crate::number::Num;
use crate::syntax::literal::label_needs_quotes;

use super::order::ordered_arcs;
use super::syntax::{Item, Layout, Syn, print_expr, print_file};

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

    fn shown(&mut self, node: NodeId) -> NodeId {
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

    fn bottom(&mut self, id: ValId) -> Syn {
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
        for pair in &self.ctx.nodes[node].patterns.clone() {
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

    pub(super) fn value(&mut self, val: Val) -> Syn {
        let val = if self.profile.take_defaults {
            self.ctx.default_of(val)
        } else {
            val
        };
        let id = match val {
            Val::Node(node) => {
                let node = self.shown(node);
                return self.vertex(node);
            }
            Val::Lit(id) => id,
        };
        match self.ctx.value(id) {
            Value::Null => Syn::Atom("null".to_owned()),
            Value::Bool(b) => Syn::Atom(b.to_string()),
            Value::Num(_) | Value::String(_) | Value::Bytes(_)
                if self.as_written && self.ctx.literals.contains_key(&id) =>
            {
                let written = self.ctx.literals.get(&id);
                Syn::Atom(written.map_or(String::new(), |text| text.to_string()))
            }
            Value::Num(n) => Syn::Atom(n.to_cue()),
            Value::String(s) => text(s),
            Value::Bytes(b) => bytes(b),
            Value::Top => Syn::Atom("_".to_owned()),
            Value::Type(kind) => Syn::Atom(kind.to_string()),
            Value::Bound { op, value } => {
                let (op, value) = (*op, *value);
                let x = self.value(value);
                Syn::Unary(op.text(), Box::new(x))
            }
            Value::Builtin(b) => {
                let b = *b;
                let name = self.builtin(b);
                let entry = self.ctx.builtin(b);
                // A function of one argument that says yes or no is a constraint.
                let constrains = entry.params.len() == 1
                    && entry.package.is_some()
                    && (entry.result == Kind::BOOL || entry.result == Kind::BOTTOM);
                match constrains {
                    true => Syn::Call(Box::new(name), Vec::new()),
                    false => name,
                }
            }
            Value::Validator(v) => {
                let v = v.clone();
                let fun = self.builtin(v.builtin);
                let args = v.args.iter().map(|&a| self.value(a)).collect();
                Syn::Call(Box::new(fun), args)
            }
            Value::Conjunction(values) => {
                let values = values.to_vec();
                self.conjunction(&values)
            }
            Value::Disjunction(d) => {
                let d = d.clone();
                let mut parts = Vec::new();
                for (i, &v) in d.values.iter().enumerate() {
                    let syn = self.bare(v);
                    parts.push(if i < d.defaults {
                        Syn::Unary("*", Box::new(syn))
                    } else {
                        syn
                    });
                }
                join("|", 1, parts)
            }
            Value::Bottom(_) => self.bottom(id),
        }
    }

    fn bare(&mut self, val: Val) -> Syn {
        match val {
            Val::Node(node) => {
                let node = self.ctx.deref_value(node);
                self.vertex(node)
            }
            lit => self.value(lit),
        }
    }

    pub(super) fn builtin(&mut self, id: crate::eval::value::BuiltinId) -> Syn {
        let b = self.ctx.builtin(id);
        match b.package {
            None => Syn::Atom(b.name.to_owned()),
            Some(path) => {
                let name = path.rsplit('/').next().unwrap_or(path).to_owned();
                let member = b.name.to_owned();
                self.imports.push((path.to_owned(), None));
                Syn::Select(Box::new(Syn::Atom(name)), member)
            }
        }
    }

    /// Types and bounds together, with the names that ranges of integers have.
    fn conjunction(&mut self, values: &[Val]) -> Syn {
        if let Some(name) = self.range_name(values) {
            return Syn::Atom(name.to_owned());
        }
        let mut is_int = false;
        let mut min: Option<(ValId, Op, Num)> = None;
        let mut max: Option<(ValId, Op, Num)> = None;
        let mut rest = Vec::new();
        for &v in values {
            let Val::Lit(id) = v else {
                rest.push(v);
                continue;
            };
            match self.ctx.value(id) {
                Value::Type(kind) if *kind == Kind::INT => is_int = true,
                Value::Bound { op, value } => {
                    let number = match self.ctx.scalar(*value) {
                        Some(Value::Num(n)) => Some(n.clone()),
                        _ => None,
                    };
                    match (op, number) {
                        (Op::Gt | Op::Ge, Some(n)) => min = Some((id, *op, n)),
                        (Op::Lt | Op::Le, Some(n)) => max = Some((id, *op, n)),
                        _ => rest.push(v),
                    }
                }
                _ => rest.push(v),
            }
        }
        let mut parts = Vec::new();
        match (min, max) {
            (Some((min, op, n)), Some((max, _, _))) => {
                let mut with_min = true;
                if is_int {
                    if n.is_negative() {
                        parts.push(Syn::Atom("int".to_owned()));
                    } else {
                        parts.push(Syn::Atom("uint".to_owned()));
                        with_min = !(n.is_zero() && op == Op::Ge);
                    }
                }
                if with_min {
                    parts.push(self.value(Val::Lit(min)));
                }
                parts.push(self.value(Val::Lit(max)));
            }
            _ => rest = values.to_vec(),
        }
        let place = |ctx: &Ctx, v: Val| match ctx.val_span(v) {
            Some(span) => (false, span.source.0, span.start),
            None => (true, 0, 0),
        };
        rest.sort_by_key(|&v| (weight(self.ctx, X::from(v)), place(self.ctx, v)));
        for v in rest {
            parts.push(self.bare(v));
        }
        join("&", 2, parts)
    }

    fn range_name(&self, values: &[Val]) -> Option<&'static str> {
        let mut is_int = false;
        let (mut low, mut high) = (None, None);
        for &v in values {
            let Val::Lit(id) = v else { return None };
            match self.ctx.value(id) {
                Value::Type(kind) if *kind == Kind::INT => is_int = true,
                Value::Bound { op, value } => {
                    let Some(Value::Num(n)) = self.ctx.scalar(*value) else {
                        return None;
                    };
                    match op {
                        Op::Ge => low = Some(n.to_string()),
                        Op::Le => high = Some(n.to_string()),
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        let high = high.as_deref();
        match (is_int, low.as_deref()?) {
            (true, "0") => Some(match high {
                None => "uint",
                Some("255") => "uint8",
                Some("65535") => "uint16",
                Some("4294967295") => "uint32",
                Some("18446744073709551615") => "uint64",
                Some("340282366920938463463374607431768211455") => "uint128",
                _ => return None,
            }),
            (true, "-128") if high == Some("127") => Some("int8"),
            (true, "-32768") if high == Some("32767") => Some("int16"),
            (true, "-2147483648") if high == Some("2147483647") => Some("int32"),
            (true, "-9223372036854775808") if high == Some("9223372036854775807") => Some("int64"),
            (true, "-170141183460469231731687303715884105728")
                if high == Some("170141183460469231731687303715884105727") =>
            {
                Some("int128")
            }
            (false, "-340282346638528859811704183484516925440") => Some("float32"),
            (false, "-1.797693134862315708145274237317043567981E+308") => Some("float64"),
            _ => None,
        }
    }
}

/// Types before scalars before bounds before other expressions before literals of structs and lists.
pub(super) fn weight(ctx: &Ctx, x: X) -> u32 {
    match x {
        X::Val(id) => match ctx.value(id) {
            Value::Top => 0,
            Value::Type(_) => 1,
            Value::Null | Value::Bool(_) | Value::Num(_) | Value::String(_) | Value::Bytes(_) => 10,
            Value::Bound { .. } => 20,
            _ => 25,
        },
        X::Expr(e) => match ctx.ir.exprs[e] {
            Expr::Value(id) => weight(ctx, X::Val(id)),
            Expr::Field { .. } => 2,
            Expr::Struct(_) | Expr::List(_) => 500,
            _ => 25,
        },
        _ => 25,
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

/// Operands with an operator between them; one operand stays alone.
pub(super) fn join(op: &'static str, precedence: u8, mut parts: Vec<Syn>) -> Syn {
    match parts.len() {
        0 => Syn::Atom("_".to_owned()),
        1 => parts.pop().unwrap_or(Syn::Atom("_".to_owned())),
        _ => Syn::Binary(op, precedence, parts),
    }
}

/// Bytes, on several lines if they are text of several.
fn bytes(b: &[u8]) -> Syn {
    match std::str::from_utf8(b) {
        Ok(text) if text.contains('\n') => lines(text, '\''),
        _ => Syn::Atom(quote::bytes(b)),
    }
}

/// A string, on several lines if it has several.
pub(super) fn text(s: &str) -> Syn {
    if !s.contains('\n') {
        return Syn::Atom(quote::string(s));
    }
    lines(s, '"')
}

fn lines(s: &str, mark: char) -> Syn {
    let fence = mark.to_string().repeat(3);
    let mut lines = vec![fence.clone()];
    for line in s.split('\n') {
        let mut out = String::new();
        let mut quotes = 0;
        for c in line.chars() {
            if c == mark {
                quotes += 1;
                if quotes == 3 {
                    out.push('\\');
                    quotes = 0;
                }
                out.push(mark);
                continue;
            }
            quotes = 0;
            if c == '\t' {
                out.push_str("\\t");
            } else {
                quote::escape(&mut out, c, '\0');
            }
        }
        lines.push(out);
    }
    lines.push(fence);
    Syn::Lines(lines)
}
