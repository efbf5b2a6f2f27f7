//! Values and expressions as messages show them: compact, on one line.

use std::fmt::Write as _;

use super::context::Ctx;
use super::ids::{DeclId, ErrId, ExprId, NodeId, ValId};
use super::ir::{Clause, DeclKind, Expr};
use super::kind::Kind;
use super::label::{Label, LabelKind};
use super::node::{Base, X};
use super::quote;
use super::value::{Arg, Val, Value};

/// Nesting beyond this is cut short in messages.
const MAX_DEPTH: usize = 60;
/// Messages that quote errors that quote errors are cut short too.
const MAX_NESTING: usize = 3;

struct Printer<'c> {
    ctx: &'c Ctx,
    out: String,
    stack: Vec<NodeId>,
    depth: usize,
    /// How many messages this text is part of.
    nesting: usize,
}

impl Ctx {
    pub fn show(&self, val: Val) -> String {
        self.show_x(X::from(val))
    }

    pub fn show_x(&self, x: X) -> String {
        self.show_nested(x, 0)
    }

    fn show_nested(&self, x: X, nesting: usize) -> String {
        let mut p = Printer {
            ctx: self,
            out: String::new(),
            stack: Vec::new(),
            depth: 0,
            nesting,
        };
        p.x(x);
        p.out
    }

    pub fn show_expr(&self, expr: ExprId) -> String {
        self.show_x(X::Expr(expr))
    }

    /// The text of a message, what it wraps included, without its path.
    pub fn message(&self, err: ErrId) -> String {
        self.message_nested(err, 0)
    }

    fn message_nested(&self, err: ErrId, nesting: usize) -> String {
        if nesting > MAX_NESTING {
            return "…".to_owned();
        }
        let mut out = String::new();
        let mut at = Some(err);
        while let Some(id) = at {
            let e = &self.errors[id];
            let mut args = e.args.iter();
            let before = out.len();
            for (i, piece) in e.format.split('%').enumerate() {
                if i > 0 {
                    match args.next() {
                        Some(arg) => out.push_str(&self.arg_text(arg, nesting)),
                        None => out.push('%'),
                    }
                }
                out.push_str(piece);
            }
            at = e.wraps;
            if at.is_some() && out.len() > before {
                out.push_str(": ");
            }
        }
        out
    }

    fn arg_text(&self, arg: &Arg, nesting: usize) -> String {
        match arg {
            Arg::Val(val) => self.show_nested(X::from(*val), nesting),
            Arg::Expr(expr) | Arg::Source(expr) => self.show_expr(*expr),
            Arg::Kind(kind) => kind.to_string(),
            Arg::Label(label) => label.selector(&self.symbols),
            Arg::Text(text) => text.clone(),
            Arg::Int(n) => n.to_string(),
            Arg::Str(text) => (*text).to_owned(),
            Arg::Error(err) => {
                let path = self.error_path(*err);
                let message = self.message_nested(*err, nesting + 1);
                if path.is_empty() {
                    message
                } else {
                    format!("{}: {message}", path.join("."))
                }
            }
        }
    }

    /// The path of an error, or of what it wraps.
    pub fn error_path(&self, err: ErrId) -> Vec<String> {
        let e = &self.errors[err];
        if let Some(text) = &e.text_path {
            return text.split('.').map(str::to_owned).collect();
        }
        let labels = match (&e.alt_path, e.node) {
            (Some(path), _) => path.to_vec(),
            (None, Some(node)) => self.path(node),
            (None, None) => {
                return e.wraps.map_or(Vec::new(), |inner| self.error_path(inner));
            }
        };
        labels.iter().map(|l| l.selector(&self.symbols)).collect()
    }
}

impl Printer<'_> {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn x(&mut self, x: X) {
        if self.depth > MAX_DEPTH || self.out.len() > 100_000 {
            self.push("…");
            return;
        }
        self.depth += 1;
        match x {
            X::Expr(e) => self.expr(e),
            X::Decl(d) => self.decl(d),
            X::Node(n) => self.node(n),
            X::Val(v) => self.lit(v),
        }
        self.depth -= 1;
    }

    fn val(&mut self, val: Val) {
        self.x(X::from(val));
    }

    fn label(&mut self, label: Label) {
        let symbols = &self.ctx.symbols;
        match label.kind() {
            LabelKind::Hidden | LabelKind::HiddenDef => {
                let package = label.package(symbols);
                self.push(label.name(symbols));
                if package != "_" {
                    let _ = write!(self.out, "({package})");
                }
            }
            LabelKind::Let => {
                let full = symbols.name(base::Symbol(label.index()));
                self.out.push_str(&full.replacen('\0', "#", 1));
            }
            _ => self.push(&label.selector(symbols)),
        }
    }

    fn name(&mut self, label: Label) {
        if label == Label::NONE {
            self.push("_");
        } else {
            self.push(label.name(&self.ctx.symbols));
        }
    }

    fn path(&mut self, node: NodeId) {
        let labels = self.ctx.path(node);
        for (i, &label) in labels.iter().enumerate() {
            if i > 0 {
                self.push(".");
            }
            self.label(label);
        }
    }

    fn enter_node(&mut self, node: NodeId) -> bool {
        if self.stack.contains(&node) {
            self.push("value at path '");
            self.path(node);
            self.push("'");
            return false;
        }
        self.stack.push(node);
        true
    }

    fn node(&mut self, node: NodeId) {
        let n = &self.ctx.nodes[node];
        match n.base {
            Base::None => {
                for (i, c) in n.conjuncts.iter().enumerate() {
                    if i > 0 {
                        self.push(" & ");
                    }
                    let x = self.ctx.elem(c.x);
                    self.x(x);
                }
            }
            Base::Struct => {
                if !self.enter_node(node) {
                    return;
                }
                self.push("{");
                for (i, &arc) in n.arcs.list.iter().enumerate() {
                    if i > 0 {
                        self.push(",");
                    }
                    let a = &self.ctx.nodes[arc];
                    if a.label.is_let() {
                        self.push("let ");
                        self.label(a.label);
                        if a.multi_let {
                            self.push("m=");
                            if let Some(c) = a.conjuncts.first() {
                                let x = self.ctx.elem(c.x);
                                self.x(x);
                            }
                            continue;
                        }
                        self.push("=");
                    } else {
                        self.label(a.label);
                        self.push(a.arc_type.suffix());
                        self.push(":");
                    }
                    self.x(X::Node(arc));
                }
                self.push("}");
                self.stack.pop();
            }
            Base::List { .. } => {
                if !self.enter_node(node) {
                    return;
                }
                self.push("[");
                let mut first = true;
                for &arc in &n.arcs.list {
                    if !self.ctx.nodes[arc].label.is_int() {
                        continue;
                    }
                    if !first {
                        self.push(",");
                    }
                    first = false;
                    self.x(X::Node(arc));
                }
                self.push("]");
                self.stack.pop();
            }
            Base::Node(_) => self.link(node),
            Base::Val(id) => self.x(X::Val(id)),
        }
    }

    fn link(&mut self, node: NodeId) {
        let from = self.ctx.deref_disjunct(node);
        let to = self.ctx.deref_value(from);
        let n = &self.ctx.nodes[from];
        let t = &self.ctx.nodes[to];
        let internal = t.non_rooted || t.anonymous || t.is_dynamic;
        let shared = n.is_shared && !internal && !t.arcs.is_empty();
        if shared || self.stack.contains(&to) {
            self.push("~(");
            self.path(to);
            self.push(")");
            return;
        }
        self.x(X::Node(to));
    }

    fn lit(&mut self, id: ValId) {
        let ctx = self.ctx;
        match ctx.value(id) {
            Value::Null => self.push("null"),
            Value::Bool(b) => self.push(if *b { "true" } else { "false" }),
            Value::Num(n) => {
                let _ = write!(self.out, "{n}");
            }
            Value::String(s) => self.push(&quote::string(s)),
            Value::Bytes(b) => self.push(&quote::bytes(b)),
            Value::Top => self.push("_"),
            Value::Type(kind) => {
                let _ = write!(self.out, "{kind}");
            }
            Value::Bound { op, value } => {
                self.push(op.text());
                self.val(*value);
            }
            Value::Validator(v) => {
                self.push(&ctx.builtin_name(v.builtin));
                self.push("(");
                for (i, &arg) in v.args.iter().enumerate() {
                    if i > 0 {
                        self.push(", ");
                    }
                    self.arg(arg);
                }
                self.push(")");
            }
            Value::Conjunction(values) => {
                if let Some(name) = ctx.range_name(values) {
                    self.push(name);
                    return;
                }
                for (i, &v) in values.iter().enumerate() {
                    if i > 0 {
                        self.push(" & ");
                    }
                    self.val(v);
                }
            }
            Value::Disjunction(d) => {
                for (i, &v) in d.values.iter().enumerate() {
                    if i > 0 {
                        self.push(" | ");
                    }
                    if i < d.defaults {
                        self.push("*");
                    }
                    self.val(v);
                }
            }
            Value::Bottom(b) => {
                self.push("_|_");
                if let Some(&first) = b.errors.first() {
                    let path = ctx.error_path(first);
                    let mut text = ctx.message_nested(first, self.nesting + 1);
                    if !path.is_empty() {
                        text = format!("{}: {text}", path.join("."));
                    }
                    if b.errors.len() > 1 {
                        let _ = write!(text, " (and {} more errors)", b.errors.len() - 1);
                    }
                    let _ = write!(self.out, "({text})");
                }
            }
            Value::Builtin(b) => self.push(&ctx.builtin_name(*b)),
        }
    }

    fn arg(&mut self, val: Val) {
        if let Val::Node(node) = val
            && self.ctx.nodes[node].label != Label::NONE
        {
            self.path(node);
            return;
        }
        self.val(val);
    }

    fn exprs(&mut self, exprs: &[ExprId], separator: &str) {
        for (i, &e) in exprs.iter().enumerate() {
            if i > 0 {
                self.push(separator);
            }
            self.x(X::Expr(e));
        }
    }

    fn decl(&mut self, decl: DeclId) {
        let ctx = self.ctx;
        match &ctx.ir.decls[decl].kind {
            DeclKind::Field { label, arc, value } => {
                self.label(*label);
                self.push(arc.suffix());
                self.push(":");
                self.x(X::Expr(*value));
            }
            DeclKind::Let {
                label,
                multi,
                value,
            } => {
                self.push("let ");
                self.label(*label);
                self.push(if *multi { "m=" } else { "=" });
                self.x(X::Expr(*value));
            }
            DeclKind::Dynamic {
                key, arc, value, ..
            } => {
                self.x(X::Expr(*key));
                self.push(arc.suffix());
                self.push(":");
                self.x(X::Expr(*value));
            }
            DeclKind::Pattern { filter, value, .. } => {
                self.push("[");
                self.x(X::Expr(*filter));
                self.push("]:");
                self.x(X::Expr(*value));
            }
            DeclKind::Ellipsis(value) => {
                self.push("...");
                if let Some(value) = value {
                    self.x(X::Expr(*value));
                }
            }
            DeclKind::Embed(x) => self.x(X::Expr(*x)),
        }
    }

    fn expr(&mut self, expr: ExprId) {
        let ctx = self.ctx;
        match &ctx.ir.exprs[expr] {
            Expr::Value(id) => self.lit(*id),
            Expr::Struct(lit) => {
                self.push("{");
                for (i, &d) in ctx.ir.members(lit.decls).iter().enumerate() {
                    if i > 0 {
                        self.push(",");
                    }
                    self.x(X::Decl(d));
                }
                self.push("}");
            }
            Expr::List(elems) => {
                self.push("[");
                self.exprs(elems, ",");
                self.push("]");
            }
            Expr::Ellipsis(of) => {
                self.push("...");
                if let Some(of) = of {
                    self.x(X::Expr(*of));
                }
            }
            Expr::Field {
                label, optional, ..
            } => {
                self.label(*label);
                if *optional {
                    self.push("?");
                }
            }
            Expr::ValueRef { label, .. } => self.label(*label),
            Expr::LabelRef { name, .. } => self.name(*name),
            Expr::Dynamic { label, .. } => self.x(X::Expr(*label)),
            Expr::Import { path, .. } => self.label(*path),
            Expr::Let { label, .. } => self.name(*label),
            Expr::Select {
                x, label, optional, ..
            } => {
                self.x(X::Expr(*x));
                self.push(".");
                self.label(*label);
                if *optional {
                    self.push("?");
                }
            }
            Expr::Index { x, index, optional } => {
                self.x(X::Expr(*x));
                self.push("[");
                self.x(X::Expr(*index));
                self.push("]");
                if *optional {
                    self.push("?");
                }
            }
            Expr::Slice { x, lo, hi } => {
                self.x(X::Expr(*x));
                self.push("[");
                if let Some(lo) = lo {
                    self.x(X::Expr(*lo));
                }
                self.push(":");
                if let Some(hi) = hi {
                    self.x(X::Expr(*hi));
                }
                self.push("]");
            }
            Expr::Interpolation { kind, parts } => self.interpolation(*kind, parts),
            Expr::Unary { op, x } | Expr::Bound { op, x } => {
                self.push(op.text());
                self.x(X::Expr(*x));
            }
            Expr::Binary { op, x, y } => {
                self.push("(");
                self.x(X::Expr(*x));
                let _ = write!(self.out, " {} ", op.text());
                self.x(X::Expr(*y));
                self.push(")");
            }
            Expr::Call { fun, args } => {
                self.x(X::Expr(*fun));
                self.push("(");
                self.exprs(args, ", ");
                self.push(")");
            }
            Expr::Disjunction { values, .. } => {
                self.push("(");
                for (i, d) in values.iter().enumerate() {
                    if i > 0 {
                        self.push("|");
                    }
                    if d.default {
                        self.push("*");
                    }
                    self.x(X::Expr(d.expr));
                }
                self.push(")");
            }
            Expr::Comprehension(comp) => {
                for clause in &comp.clauses {
                    self.clause(clause);
                }
                self.x(X::Expr(comp.value));
                if let Some(fallback) = comp.fallback {
                    self.push(" else ");
                    self.x(X::Expr(fallback));
                }
            }
            Expr::Open(x) => {
                self.x(X::Expr(*x));
                self.push("...");
            }
        }
    }

    fn interpolation(&mut self, kind: Kind, parts: &[ExprId]) {
        let mark = if kind == Kind::BYTES { "'" } else { "\"" };
        self.push(mark);
        for (i, &part) in parts.iter().enumerate() {
            if i % 2 == 1 {
                self.push("\\(");
                self.x(X::Expr(part));
                self.push(")");
            } else if let Expr::Value(id) = self.ctx.ir.exprs[part] {
                match self.ctx.value(id) {
                    Value::String(s) => self.out.push_str(s),
                    Value::Bytes(b) => self.out.push_str(&String::from_utf8_lossy(b)),
                    _ => {}
                }
            }
        }
        self.push(mark);
    }

    fn clause(&mut self, clause: &Clause) {
        match clause {
            Clause::For {
                key, value, source, ..
            } => {
                self.push("for ");
                self.name(*key);
                self.push(", ");
                self.name(*value);
                self.push(" in ");
                self.x(X::Expr(*source));
                self.push(" ");
            }
            Clause::If { condition, .. } => {
                self.push("if ");
                self.x(X::Expr(*condition));
                self.push(" ");
            }
            Clause::Let { label, expr, .. } => {
                self.push("let ");
                self.name(*label);
                self.push(" = ");
                self.x(X::Expr(*expr));
                self.push(" ");
            }
            Clause::Try { label, expr, .. } => {
                self.push("try ");
                if let Some(expr) = expr {
                    self.name(*label);
                    self.push(" = ");
                    self.x(X::Expr(*expr));
                    self.push(" ");
                }
            }
        }
    }
}
