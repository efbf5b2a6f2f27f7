//! Making and combining errors.
//!
//! A bottom has a code, which alone steers the evaluation, and messages for the report. Messages are
//! kept as a format and its arguments and written only when somebody reads them: most errors are
//! made in disjuncts that are thrown away.

use base::Span;
use smallvec::{SmallVec, smallvec};

use super::context::Ctx;
use super::ids::{ErrId, NodeId, ValId};
use super::label::Label;
use super::node::{ArcType, Base, Conjunct, DefId, Status, X};
use super::value::{Arg, Bottom, Code, ErrorData, Val, Value};

impl Ctx {
    /// A message at the place that is being evaluated.
    pub fn error(&mut self, format: &'static str, args: &[Arg]) -> ErrId {
        self.error_at(self.src, format, args)
    }

    /// A message at a given place. The places of values in the message take part.
    pub fn error_at(&mut self, pos: Option<Span>, format: &'static str, args: &[Arg]) -> ErrId {
        let mut others = Vec::new();
        let mut kept: SmallVec<[Arg; 2]> = SmallVec::new();
        for arg in args {
            match arg {
                Arg::Val(val) => self.collect_spans(X::from(*val), &mut others, 0),
                Arg::Expr(expr) | Arg::Source(expr) => others.extend(self.ir.span(*expr)),
                _ => {}
            }
            kept.push(match arg {
                Arg::Val(Val::Node(node)) => Arg::Val(Val::Node(self.snapshot(*node))),
                other => other.clone(),
            });
        }
        let alt_path = self.alternative_path();
        self.errors.push(ErrorData {
            node: self.node,
            alt_path,
            text_path: None,
            pos,
            others,
            format,
            args: kept,
            wraps: None,
        })
    }

    /// A vertex as it is now, for a message that is written later.
    fn snapshot(&mut self, node: NodeId) -> NodeId {
        let n = &self.nodes[node];
        let mut copy = super::node::Node::new(n.parent, n.label, n.arc_type);
        copy.base = n.base;
        copy.conjuncts = n.conjuncts.clone();
        copy.arcs = n.arcs.clone();
        copy.is_shared = n.is_shared;
        copy.is_disjunct = n.is_disjunct;
        copy.status = Status::Finalized;
        if self.is_cycle_base(copy.base)
            && let Some(scalar) = n.work.as_ref().and_then(|w| w.scalar)
        {
            copy.base = Base::Val(scalar);
        }
        self.nodes.push(copy)
    }

    fn alternative_path(&self) -> Option<Box<[Label]>> {
        let (first, rest) = self.alt_path.split_first()?;
        let mut path = self.path(*first);
        let below = rest.iter().map(|&node| self.nodes[node].label);
        path.extend(below.filter(|&label| label != Label::NONE));
        Some(path.into())
    }

    /// The labels from the root to a vertex.
    pub fn path(&self, node: NodeId) -> Vec<Label> {
        let mut path = Vec::new();
        let mut at = node;
        while let Some(parent) = self.nodes[at].parent {
            let label = self.nodes[at].label;
            if label != Label::NONE && self.nodes[parent].base != Base::Node(at) {
                path.push(label);
            }
            at = parent;
        }
        path.reverse();
        path
    }

    pub fn path_text(&self, labels: &[Label]) -> String {
        let words: Vec<String> = labels.iter().map(|l| l.selector(&self.symbols)).collect();
        words.join(".")
    }

    /// The place of a value and, for a vertex, of all its conjuncts.
    pub fn collect_spans(&self, x: X, out: &mut Vec<Span>, depth: u32) {
        out.extend(self.elem_span(x));
        if let X::Node(node) = x
            && depth < 8
        {
            for c in &self.nodes[node].conjuncts {
                self.collect_spans(c.x, out, depth + 1);
            }
        }
    }

    pub fn add_span(&mut self, err: ErrId, span: Option<Span>) {
        if let Some(span) = span {
            let others = &mut self.errors[err].others;
            if !others.contains(&span) {
                others.push(span);
            }
        }
    }

    /// The places of the references and embeddings through which a conjunct came.
    pub fn add_origin(&mut self, err: ErrId, mut def: DefId) {
        while def != 0 {
            let Some(&(parent, span)) = self.containment.get(def as usize) else {
                break;
            };
            self.add_span(err, span);
            def = parent;
        }
    }

    pub fn origin_span(&self, def: DefId) -> Option<Span> {
        self.containment
            .get(def as usize)
            .and_then(|(_, span)| *span)
    }

    /// A bottom about the vertex that is being evaluated.
    pub fn new_bottom(&mut self, code: Code, err: ErrId) -> ValId {
        let node = self.node;
        self.new_bottom_on(code, err, node)
    }

    pub fn new_bottom_on(&mut self, code: Code, err: ErrId, node: Option<NodeId>) -> ValId {
        self.new_value(Value::Bottom(Box::new(Bottom {
            code,
            errors: smallvec![err],
            has_recursive: false,
            child_error: false,
            close_check: false,
            node,
        })))
    }

    /// A fatal error as a value.
    pub fn fail(&mut self, format: &'static str, args: &[Arg]) -> ValId {
        let err = self.error(format, args);
        self.new_bottom(Code::Eval, err)
    }

    pub fn fail_at(&mut self, pos: Option<Span>, format: &'static str, args: &[Arg]) -> ValId {
        let err = self.error_at(pos, format, args);
        self.new_bottom(Code::Eval, err)
    }

    /// Records an error of the current frame.
    pub fn add_error(&mut self, code: Code, pos: Option<Span>, format: &'static str, args: &[Arg]) {
        let err = self.error_at(pos, format, args);
        let bottom = self.new_bottom(code, err);
        self.add_bottom(bottom);
    }

    pub fn add_failure(&mut self, format: &'static str, args: &[Arg]) {
        self.add_error(Code::Eval, self.src, format, args);
    }

    pub fn add_bottom(&mut self, bottom: ValId) {
        self.errs = self.combine(self.errs, Some(bottom));
    }

    pub fn take_errs(&mut self) -> Option<ValId> {
        self.errs.take()
    }

    /// Both errors in one: a fatal one hides incomplete ones.
    pub fn combine(&mut self, a: Option<ValId>, b: Option<ValId>) -> Option<ValId> {
        let (mut a, mut b) = match (a, b) {
            (None, b) => return b,
            (a, None) => return a,
            (Some(a), Some(b)) => (a, b),
        };
        if a == b {
            return Some(a);
        }
        let (code_a, code_b) = (self.code(a), self.code(b));
        if code_a != code_b {
            if code_a > code_b {
                std::mem::swap(&mut a, &mut b);
            }
            if self.code(b) >= Code::Incomplete {
                return Some(a);
            }
        }
        let (Some(x), Some(y)) = (self.bottom(a), self.bottom(b)) else {
            return Some(a);
        };
        let mut errors = x.errors.clone();
        for err in &y.errors {
            if !errors.contains(err) {
                errors.push(*err);
            }
        }
        let joined = Bottom {
            code: x.code,
            errors,
            has_recursive: false,
            child_error: false,
            close_check: x.close_check || y.close_check,
            node: None,
        };
        let span = self.src;
        Some(self.new_value_at(Value::Bottom(Box::new(joined)), span))
    }

    pub fn combine_vals(&mut self, a: Option<Val>, b: Option<Val>) -> Option<ValId> {
        let (a, b) = (self.as_bottom(a), self.as_bottom(b));
        self.combine(a, b)
    }

    /// Each message of `bottom` behind a common one.
    pub fn wrap_errors(&mut self, outer: ErrId, inner: &[ErrId]) -> SmallVec<[ErrId; 1]> {
        inner
            .iter()
            .map(|&err| {
                let mut wrapped = self.errors[outer].clone();
                wrapped.wraps = Some(err);
                self.errors.push(wrapped)
            })
            .collect()
    }

    /// A bottom with the messages of another behind a common one.
    pub fn wrap_bottom(&mut self, outer: ErrId, inner: ValId) -> ValId {
        let (code, errors) = match self.bottom(inner) {
            Some(b) => (b.code, b.errors.clone()),
            None => return inner,
        };
        let errors = self.wrap_errors(outer, &errors);
        let node = self.node;
        self.new_value(Value::Bottom(Box::new(Bottom {
            code,
            errors,
            has_recursive: false,
            child_error: false,
            close_check: false,
            node,
        })))
    }

    /// Gives a cycle error that has no place the place that is being evaluated.
    pub fn place_cycle(&mut self, bottom: ValId) -> ValId {
        let Some(b) = self.bottom(bottom) else {
            return bottom;
        };
        let Some(src) = self.src else { return bottom };
        let placed = b.errors.iter().any(|&e| {
            let e = &self.errors[e];
            e.pos.is_some() || !e.others.is_empty()
        });
        if b.code != Code::Cycle || placed {
            return bottom;
        }
        let mut copy = b.clone();
        for err in &mut copy.errors {
            let mut data = self.errors[*err].clone();
            data.pos = Some(src);
            *err = self.errors.push(data);
        }
        self.new_value(Value::Bottom(Box::new(copy)))
    }

    // --- errors of vertices ---

    pub fn node_add_bottom(&mut self, node: NodeId, bottom: Option<ValId>) {
        if bottom.is_some() {
            let errs = self.w(node).errs;
            let errs = self.combine(errs, bottom);
            self.w(node).errs = errs;
        }
    }

    pub fn node_add_error(&mut self, node: NodeId, err: ErrId) {
        let bottom = self.new_bottom_on(Code::Eval, err, Some(node));
        self.node_add_bottom(node, Some(bottom));
    }

    /// The errors of the vertex and of the current frame, which is emptied.
    pub fn node_take_errs(&mut self, node: NodeId) -> Option<ValId> {
        let mine = self.w(node).errs;
        let frame = self.take_errs();
        let errs = self.combine(mine, frame);
        self.w(node).errs = errs;
        errs
    }

    pub fn node_has_errs(&self, node: NodeId) -> bool {
        let n = &self.nodes[node];
        n.child_errors.is_some()
            || (self.status(node) > Status::Evaluating && self.node_bottom(node).is_some())
            || self.errs.is_some()
            || n.work.as_ref().is_some_and(|w| w.errs.is_some())
    }

    /// A field has an error: the vertex has one too, unless it is only incomplete.
    pub fn add_child_error(&mut self, node: NodeId, child: ValId) {
        let before = self.nodes[node].child_errors;
        let errors = self.combine(before, Some(child));
        self.nodes[node].child_errors = errors;
        let Some(recursive) = self.bottom(child).cloned() else {
            return;
        };
        if recursive.is_incomplete() {
            return;
        }
        let own = match self.nodes[node].base {
            Base::Val(id) => self.bottom(id).map(|b| (id, b.clone())),
            _ => None,
        };
        let bottom = match own {
            Some((id, mut own)) if !own.close_check => {
                own.has_recursive = true;
                own.code = own.code.min(recursive.code);
                let span = self.vals[id].span;
                self.new_value_at(Value::Bottom(Box::new(own)), span)
            }
            _ => self.new_value_at(
                Value::Bottom(Box::new(Bottom {
                    code: recursive.code,
                    errors: recursive.errors.clone(),
                    has_recursive: true,
                    child_error: true,
                    close_check: recursive.close_check,
                    node: Some(node),
                })),
                None,
            ),
        };
        self.nodes[node].base = Base::Val(bottom);
    }

    /// Two values that cannot be unified.
    pub fn conflict(
        &mut self,
        node: NodeId,
        a: (X, super::kind::Kind, DefId),
        b: (X, super::kind::Kind, DefId),
    ) {
        // A bound comes behind what it is about, whichever was found first.
        let (a, b) = match (self.is_bound(a.0), self.is_bound(b.0)) {
            (true, false) => (b, a),
            _ => (a, b),
        };
        let err = self.conflict_error(a, b);
        self.node_add_error(node, err);
    }

    fn is_bound(&self, x: X) -> bool {
        let value = match x {
            X::Val(value) => value,
            X::Expr(expr) => match self.ir.exprs[expr] {
                super::ir::Expr::Bound { .. } => return true,
                super::ir::Expr::Value(value) => value,
                _ => return false,
            },
            X::Decl(decl) => match self.ir.decl_value(decl) {
                Some(expr) => return self.is_bound(X::Expr(expr)),
                None => return false,
            },
            X::Node(_) => return false,
        };
        matches!(self.value(value), Value::Bound { .. })
    }

    pub fn conflict_error(
        &mut self,
        a: (X, super::kind::Kind, DefId),
        b: (X, super::kind::Kind, DefId),
    ) -> ErrId {
        let mut others = Vec::new();
        self.collect_spans(a.0, &mut others, 0);
        self.collect_spans(b.0, &mut others, 0);
        let freeze = |ctx: &mut Ctx, x: X| match x {
            X::Node(n) => X::Node(ctx.snapshot(n)),
            other => other,
        };
        let (a, b) = ((freeze(self, a.0), a.1, a.2), (freeze(self, b.0), b.1, b.2));
        let arg = |x: X| match x {
            X::Expr(e) => Arg::Expr(e),
            X::Decl(d) => match self.ir.decl_value(d) {
                Some(e) => Arg::Expr(e),
                None => Arg::Str("_"),
            },
            X::Node(n) => Arg::Val(Val::Node(n)),
            X::Val(v) => Arg::Val(Val::Lit(v)),
        };
        let (x, y) = (arg(a.0), arg(b.0));
        let (format, args): (_, SmallVec<[Arg; 2]>) = if a.1 == b.1 {
            ("conflicting values % and %", smallvec![x, y])
        } else {
            (
                "conflicting values % and % (mismatched types % and %)",
                smallvec![x, y, Arg::Kind(a.1), Arg::Kind(b.1)],
            )
        };
        let alt_path = self.alternative_path();
        let err = self.errors.push(ErrorData {
            node: self.node,
            alt_path,
            text_path: None,
            pos: None,
            others: Vec::new(),
            format,
            args,
            wraps: None,
        });
        for span in others {
            self.add_span(err, Some(span));
        }
        self.add_origin(err, a.2);
        self.add_origin(err, b.2);
        err
    }

    /// The places of a field's declarations, and how its conjuncts got there.
    pub fn add_conjunct_spans(&mut self, err: ErrId, conjuncts: &[Conjunct]) {
        for c in conjuncts {
            if let X::Decl(decl) = c.x
                && matches!(self.ir.decls[decl].kind, super::ir::DeclKind::Field { .. })
            {
                let span = self.ir.decls[decl].span;
                self.add_span(err, Some(span));
            }
            let span = self.origin_span(c.ci.def);
            self.add_span(err, span);
        }
    }

    /// A required field that nobody gave.
    pub fn missing_required(&mut self, node: NodeId, shared: &[Span]) -> ValId {
        let saved = self.push_node(node);
        let err = self.error("field is required but not present", &[]);
        for &span in shared {
            self.add_span(err, Some(span));
        }
        let conjuncts = self.nodes[node].conjuncts.clone();
        for c in &conjuncts {
            if let X::Decl(decl) = c.x
                && matches!(
                    self.ir.decls[decl].kind,
                    super::ir::DeclKind::Field {
                        arc: ArcType::Required,
                        ..
                    }
                )
            {
                let span = self.ir.decls[decl].span;
                self.add_span(err, Some(span));
            }
            let span = self.origin_span(c.ci.def);
            self.add_span(err, span);
        }
        self.node = saved;
        self.new_bottom_on(Code::Incomplete, err, Some(node))
    }
}
