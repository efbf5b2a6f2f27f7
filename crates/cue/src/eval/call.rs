//! Calls: arguments, kinds, the predeclared functions, and builtins as constraints.

use base::Span;

use super::builtin::{Body, Core};
use super::context::{Ctx, R};
use super::ids::{ExprId, NodeId, ValId};
use super::ir::Expr;
use super::kind::Kind;
use super::node::{ArcType, Base, Conjunct, Role, X};
use super::sched::{Cond, DISJUNCTION, FIELD_SET, SCALAR};
use super::value::{Arg, BuiltinId, Code, Disjunction, Val, Validator, Value};
use super::work::Run;

/// One call of a builtin.
pub struct Call {
    pub builtin: BuiltinId,
    pub args: Vec<Val>,
    pub expr: Option<ExprId>,
    pub span: Option<Span>,
    pub is_validator: bool,
}

impl Call {
    pub fn arg(&self, i: usize, ctx: &Ctx) -> Val {
        self.args.get(i).copied().unwrap_or(Val::Lit(ctx.top))
    }
}

impl Ctx {
    pub fn call(&mut self, expr: ExprId, needs: Cond, run: Run) -> R<Option<Val>> {
        let Expr::Call { fun, args } = &self.ir.exprs[expr] else {
            return Ok(None);
        };
        let (fun, count) = (*fun, args.len());
        let callee = self.operand(fun)?;
        let id = match callee {
            Some(Val::Lit(id)) => id,
            _ => {
                let kind = callee.map_or(Kind::BOTTOM, |v| self.kind(v));
                self.add_failure(
                    "cannot call non-function % (type %)",
                    &[Arg::Expr(fun), Arg::Kind(kind)],
                );
                return Ok(None);
            }
        };
        let builtin = match self.value(id) {
            Value::Builtin(b) => *b,
            Value::Validator(v) => {
                if v.call.is_some() {
                    self.add_failure(
                        "cannot call previously called validator %",
                        &[Arg::Expr(fun)],
                    );
                    return Ok(None);
                }
                let v = (**v).clone();
                if self.builtin(v.builtin).is_validator(count) {
                    let called = Validator {
                        call: Some(expr),
                        ..v
                    };
                    let span = self.ir.span(expr);
                    let id = self.new_value_at(Value::Validator(Box::new(called)), span);
                    return Ok(Some(Val::Lit(id)));
                }
                v.builtin
            }
            _ => {
                let kind = self.lit_kind(id);
                let pos = self.ir.span(fun);
                if self.bottom(id).is_none() && !self.lit_is_concrete(id) && kind.meets(Kind::FUNC)
                {
                    self.add_error(
                        Code::Incomplete,
                        pos,
                        "cannot call non-concrete value % (type %)",
                        &[Arg::Expr(fun), Arg::Kind(kind)],
                    );
                } else {
                    self.add_failure(
                        "cannot call non-function % (type %)",
                        &[Arg::Expr(fun), Arg::Kind(kind)],
                    );
                }
                return Ok(None);
            }
        };
        self.raw_call(builtin, expr, needs, run)
    }

    pub(super) fn raw_call(
        &mut self,
        builtin: BuiltinId,
        expr: ExprId,
        needs: Cond,
        run: Run,
    ) -> R<Option<Val>> {
        let Expr::Call { args, .. } = &self.ir.exprs[expr] else {
            return Ok(None);
        };
        let exprs = args.clone();
        let span = self.ir.span(expr);
        if matches!(self.builtin(builtin).body, Body::Core(Core::Error)) {
            if !self.check_count(builtin, span, exprs.len()) {
                return Ok(None);
            }
            return self.user_error(exprs.first().copied());
        }
        let (from_def, from_embed) = (self.ci.from_def, self.ci.from_embed);
        self.ci.from_def = false;
        self.ci.from_embed = false;
        let result = self.call_evaluated(builtin, expr, &exprs, needs, run);
        self.ci.from_def = from_def;
        self.ci.from_embed = from_embed;
        result
    }

    pub(super) fn call_evaluated(
        &mut self,
        builtin: BuiltinId,
        expr: ExprId,
        exprs: &[ExprId],
        needs: Cond,
        run: Run,
    ) -> R<Option<Val>> {
        let span = self.ir.span(expr);
        let non_concrete = self.builtin(builtin).non_concrete;
        let mut args = Vec::with_capacity(exprs.len());
        for &arg in exprs {
            let saved = self.errs.take();
            let value = if non_concrete {
                self.eval(arg, needs, run)?
            } else {
                self.eval_concrete(arg, needs | FIELD_SET | SCALAR | DISJUNCTION, run)?
            };
            match value {
                None => {
                    if self.errs.is_none() {
                        let err = self.error("non-concrete argument", &[]);
                        let bottom = self.new_bottom(Code::Incomplete, err);
                        self.add_bottom(bottom);
                    }
                }
                Some(Val::Lit(id)) if self.bottom(id).is_some() => {
                    self.errs = self.combine(self.errs, Some(id));
                }
                Some(value) => args.push(value),
            }
            self.errs = self.combine(saved, self.errs);
        }
        if self.errs.is_some() {
            return Ok(None);
        }
        if self.builtin(builtin).is_validator(args.len()) {
            let validator = Validator {
                builtin,
                args,
                call: Some(expr),
                env: Some(self.env),
            };
            let id = self.new_value_at(Value::Validator(Box::new(validator)), span);
            return Ok(Some(Val::Lit(id)));
        }
        let call = Call {
            builtin,
            args,
            expr: Some(expr),
            span,
            is_validator: false,
        };
        let result = self.call_builtin(call)?;
        let Some(Val::Lit(id)) = result else {
            return Ok(result);
        };
        if self.bottom(id).is_some() {
            let name = self.qualified_name(builtin);
            let outer = self.error_at(span, "error in call to %", &[Arg::Text(name)]);
            return Ok(Some(Val::Lit(self.wrap_bottom(outer, id))));
        }
        Ok(result)
    }

    pub(super) fn check_count(
        &mut self,
        builtin: BuiltinId,
        pos: Option<Span>,
        have: usize,
    ) -> bool {
        let b = self.builtin(builtin);
        let want = b.params.len();
        let format = if have > want {
            "too many arguments in call to % (have %, want %)"
        } else if have < want && b.params.get(have).is_none_or(|p| !p.has_default) {
            "not enough arguments in call to % (have %, want %)"
        } else {
            return true;
        };
        let name = self.builtin_name(builtin);
        let int = |n: usize| Arg::Int(i64::try_from(n).unwrap_or(i64::MAX));
        self.add_error(
            Code::Eval,
            pos,
            format,
            &[Arg::Text(name), int(have), int(want)],
        );
        false
    }

    /// Checks the arguments and runs the builtin. Nothing means an error of the frame.
    pub fn call_builtin(&mut self, mut call: Call) -> R<Option<Val>> {
        if !self.check_count(call.builtin, call.span, call.args.len()) {
            return Ok(None);
        }
        for i in 0..call.args.len() {
            let arg = call.arg(i, self);
            if let Some(bottom) = self.arg_bottom(arg) {
                return Ok(Some(Val::Lit(bottom)));
            }
            let kind = self.kind(arg);
            let wanted = self.builtin_param_kind(call.builtin, i);
            if !wanted.meets(kind) {
                let name = self.builtin_name(call.builtin);
                let pos = self.val_span(arg);
                let number = i64::try_from(i + 1).unwrap_or(i64::MAX);
                self.add_error(
                    Code::Eval,
                    pos,
                    "cannot use % (type %) as % in argument % to %",
                    &[
                        Arg::Val(arg),
                        Arg::Kind(kind),
                        Arg::Kind(wanted),
                        Arg::Int(number),
                        Arg::Text(name),
                    ],
                );
                return Ok(None);
            }
        }
        let saved = self.is_validator;
        let ci = self.ci;
        self.is_validator = call.is_validator;
        self.ci.from_embed = false;
        self.ci.from_def = false;
        let body = self.builtin(call.builtin).body;
        let result = match body {
            Body::Core(core) => self.call_core(core, &call),
            Body::Member(member) => self.call_member(member, &mut call),
        };
        self.is_validator = saved;
        self.ci.from_def = ci.from_def;
        self.ci.from_embed = ci.from_embed;
        result
    }

    pub(super) fn arg_bottom(&self, arg: Val) -> Option<ValId> {
        match arg {
            Val::Lit(id) => self.bottom(id).map(|_| id),
            Val::Node(node) => match self.nodes[node].base {
                Base::Val(id) => self.bottom(id).map(|_| id),
                _ => None,
            },
        }
    }

    /// `error("…")`: the message may contain values that are not concrete.
    pub(super) fn user_error(&mut self, arg: Option<ExprId>) -> R<Option<Val>> {
        let Some(arg) = arg else { return Ok(None) };
        let mut text = String::new();
        if let Expr::Interpolation { parts, .. } = &self.ir.exprs[arg] {
            for (i, part) in parts.clone().into_iter().enumerate() {
                if i % 2 == 0 {
                    let value = self.eval(part, SCALAR, Run::Finalize)?;
                    text.push_str(&self.to_text(value));
                    continue;
                }
                let value = self.eval(part, SCALAR, Run::Finalize)?;
                if self.take_errs().is_some() {
                    text.push_str(&self.show_expr(part));
                    continue;
                }
                let scalar = Kind::NUMBER | Kind::STRING | Kind::BYTES | Kind::BOOL;
                match self.unwrap(value) {
                    Some(v) if self.is_concrete(v) && self.kind(v).meets(scalar) => {
                        text.push_str(&self.to_text(Some(v)));
                    }
                    Some(v) => text.push_str(&self.show(v)),
                    None => text.push_str(&self.show_expr(part)),
                }
            }
        } else {
            let value = self.eval(arg, SCALAR, Run::Finalize)?;
            text = self.to_text(value);
        }
        let err = self.error("%", &[Arg::Text(text)]);
        Ok(Some(Val::Lit(self.new_bottom(Code::User, err))))
    }

    pub(super) fn call_core(&mut self, core: Core, call: &Call) -> R<Option<Val>> {
        let arg = call.arg(0, self);
        match core {
            Core::Error => Ok(None),
            Core::Len => self.builtin_len(arg).map(Some),
            Core::Close => {
                let Val::Node(node) = arg else {
                    return Ok(Some(Val::Lit(
                        self.fail("struct argument must be concrete", &[]),
                    )));
                };
                let conjuncts = self.nodes[node].conjuncts.clone();
                let wrapper = self.inline_node(Base::None, &conjuncts);
                self.state(wrapper)?;
                let c = Conjunct {
                    env: None,
                    x: X::Node(node),
                    ci: Default::default(),
                };
                let ci = self.ci;
                self.share(wrapper, c, node, ci)?;
                self.nodes[wrapper].closed_once = true;
                Ok(Some(Val::Node(wrapper)))
            }
            Core::And | Core::Or => {
                let Some(list) = self.list_arg(arg) else {
                    return Ok(None);
                };
                let arcs = self.nodes[list].arcs.list.clone();
                let elems: Vec<Val> = arcs
                    .into_iter()
                    .filter(|&a| self.nodes[a].label.is_int())
                    .map(Val::Node)
                    .collect();
                Ok(Some(self.and_or(core, elems)))
            }
            Core::Div | Core::Mod | Core::Quo | Core::Rem => {
                let what = match core {
                    Core::Div => "argument to div builtin",
                    Core::Mod => "argument to mod builtin",
                    Core::Quo => "argument to quo builtin",
                    _ => "argument to rem builtin",
                };
                let a = self.to_num(Some(arg), what);
                let second = call.arg(1, self);
                let b = self.to_num(Some(second), what);
                if self.errs.is_some() {
                    return Ok(None);
                }
                let result = match core {
                    Core::Div => a.int_div(&b),
                    Core::Mod => a.int_mod(&b),
                    Core::Quo => a.int_quo(&b),
                    _ => a.int_rem(&b),
                };
                let id = match result {
                    Ok(n) => self.new_value(Value::Num(n)),
                    Err(e) => self.fail("%", &[Arg::Text(e.to_string())]),
                };
                Ok(Some(Val::Lit(id)))
            }
            Core::MatchN => self.match_n(call),
            Core::MatchIf => self.match_if(call),
        }
    }

    pub(super) fn and_or(&mut self, core: Core, elems: Vec<Val>) -> Val {
        if core == Core::And {
            if elems.is_empty() {
                return Val::Lit(self.top);
            }
            return Val::Lit(self.new_value_at(Value::Conjunction(elems.into()), None));
        }
        match elems.as_slice() {
            [] => {
                let err = self.error("empty list in call to or", &[]);
                self.errors[err].node = None;
                self.errors[err].alt_path = None;
                Val::Lit(self.new_bottom_on(Code::Incomplete, err, None))
            }
            [one] => *one,
            _ => Val::Lit(self.new_value_at(
                Value::Disjunction(Box::new(Disjunction {
                    values: elems,
                    defaults: 0,
                    has_defaults: false,
                })),
                None,
            )),
        }
    }

    pub(super) fn list_arg(&mut self, arg: Val) -> Option<NodeId> {
        let value = self.get_default(Some(arg)).unwrap_or(arg);
        if let Val::Node(node) = value {
            let node = self.deref_value(node);
            if matches!(self.nodes[node].base, Base::List { .. }) {
                return Some(node);
            }
        }
        self.type_error(value, Kind::LIST, None);
        None
    }

    pub(super) fn builtin_len(&mut self, arg: Val) -> R<Val> {
        let mut value = arg;
        if let Val::Node(node) = arg {
            let node = self.deref_value(node);
            match self.nodes[node].base {
                Base::List { .. } => {
                    let n = i64::try_from(self.element_count(node)).unwrap_or(i64::MAX);
                    return Ok(Val::Lit(self.new_int(n)));
                }
                Base::Struct => {
                    let mut n = 0;
                    let mut i = 0;
                    while let Some(arc) = self.nodes[node].arcs.get(i) {
                        i += 1;
                        if self.nodes[arc].label.is_regular() && self.is_defined(arc)? {
                            n += 1;
                        }
                    }
                    return Ok(Val::Lit(self.new_int(n)));
                }
                _ => value = self.node_value(node).unwrap_or(arg),
            }
        }
        let n = match self.scalar(value) {
            Some(Value::String(s)) => Some(s.len()),
            Some(Value::Bytes(b)) => Some(b.len()),
            _ => None,
        };
        if let Some(n) = n {
            return Ok(Val::Lit(self.new_int(i64::try_from(n).unwrap_or(i64::MAX))));
        }
        let kind = self.kind(value);
        let sized = Kind::STRUCT | Kind::BYTES | Kind::STRING | Kind::LIST;
        if !kind.meets(sized) {
            return Ok(Val::Lit(
                self.fail("invalid argument type %", &[Arg::Kind(kind)]),
            ));
        }
        let err = self.error(
            "incomplete argument % (type %)",
            &[Arg::Val(value), Arg::Kind(kind)],
        );
        Ok(Val::Lit(self.new_bottom(Code::Incomplete, err)))
    }

    pub fn is_defined(&mut self, arc: NodeId) -> R<bool> {
        if self.nodes[arc].arc_type == ArcType::Member {
            return Ok(true);
        }
        if let Some(parent) = self.nodes[arc].parent
            && self.nodes[parent].status == super::node::Status::Finalized
        {
            return Ok(false);
        }
        self.finalize(arc)?;
        Ok(self.nodes[arc].arc_type == ArcType::Member)
    }

    // --- builtins as constraints ---

    pub fn validate_builtin(&mut self, v: &Validator, value: Val) -> R<Option<ValId>> {
        let mut args = vec![value];
        args.extend_from_slice(&v.args);
        let span = v.call.and_then(|e| self.ir.span(e)).or(self.src);
        let call = Call {
            builtin: v.builtin,
            args: args.clone(),
            expr: v.call,
            span,
            is_validator: true,
        };
        let result = self.call_builtin(call)?;
        let inner = match result {
            None => return Ok(None),
            Some(Val::Lit(id)) => match self.value(id) {
                Value::Bool(true) => return Ok(None),
                Value::Bool(false) => None,
                Value::Bottom(_) => Some(id),
                _ => {
                    let name = self.qualified_name(v.builtin);
                    return Ok(Some(self.fail("invalid validator %", &[Arg::Text(name)])));
                }
            },
            Some(Val::Node(_)) => None,
        };
        if let Some(bottom) = self.as_bottom(Some(value)) {
            return Ok(Some(bottom));
        }
        let mut text = self.qualified_name(v.builtin);
        if !self.builtin(v.builtin).non_concrete && args.len() > 1 {
            let shown: Vec<String> = args.iter().skip(1).map(|&a| self.show(a)).collect();
            text = format!("{text}({})", shown.join(", "));
        }
        let err = self.error_at(
            span,
            "invalid value % (does not satisfy %)",
            &[Arg::Val(value), Arg::Text(text)],
        );
        for &arg in &args {
            let span = self.val_span(arg);
            self.add_span(err, span);
        }
        Ok(Some(match inner {
            Some(inner) => self.wrap_bottom(err, inner),
            None => self.new_bottom(Code::Eval, err),
        }))
    }

    /// A copy of a value that is only data: defaults taken, closedness forgotten.
    pub fn as_data(&mut self, val: Val) -> R<Val> {
        let Val::Node(node) = val else {
            return Ok(val);
        };
        self.finalize(node)?;
        self.data_copy(node, None).map(Val::Node)
    }

    pub(super) fn data_copy(&mut self, node: NodeId, parent: Option<NodeId>) -> R<NodeId> {
        self.enter()?;
        let label = self.nodes[node].label;
        let arc_type = self.nodes[node].arc_type;
        let from = self.default_node(node);
        let copy = self.copy_node(from, parent, label);
        let n = &mut self.nodes[copy];
        n.arc_type = arc_type;
        n.role = Role::Data;
        n.closed_recursive = false;
        n.closed_once = false;
        n.arcs.clear();
        n.arcs.clear_patterns();
        n.status = super::node::Status::Finalized;
        let arcs = self.nodes[from].arcs.list.clone();
        for arc in arcs {
            let label = self.nodes[arc].label;
            if label.is_regular() && self.is_defined(arc)? {
                let arc = self.data_copy(arc, Some(copy))?;
                self.push_arc(copy, label, arc);
            }
        }
        self.leave();
        Ok(copy)
    }
}
