//! Calls of the standard packages: arguments as plain values, results as vertices.

use super::call::Call;
use super::context::{Ctx, R};
use super::ids::{NodeId, ValId};
use super::label::Label;
use super::node::{ArcType, Base, CloseInfo, Conjunct, Node, Status, X};
use super::validate::Config;
use super::value::{Arg, Code, Val, Value};
use crate::packages::{self, Args, Body, Error, Function, Kinds, Member, Opaque};

impl Ctx {
    pub fn call_member(&mut self, member: &'static Member, call: &mut Call) -> R<Option<Val>> {
        match &member.body {
            Body::Constant(_) => Ok(None),
            Body::Evaluator(_, special) => self.call_special(*special, call),
            Body::Pure(function, run) => self.call_pure(function, *run, call),
        }
    }

    fn call_pure(
        &mut self,
        function: &Function,
        run: fn(Args<'_>) -> Result<packages::Value, Error>,
        call: &mut Call,
    ) -> R<Option<Val>> {
        let mut opaque: Vec<Val> = Vec::new();
        let mut args = Vec::with_capacity(function.params.len());
        for (i, param) in function.params.iter().enumerate() {
            let Some(&arg) = call.args.get(i) else {
                let default = param.default.unwrap_or("");
                args.push(packages::Value::String(default.to_owned()));
                continue;
            };
            if !param.one_of.is_empty()
                && let Some(Value::String(s)) = self.scalar(arg)
                && !param.one_of.contains(&&**s)
            {
                let name = self.builtin_name(call.builtin);
                let pos = self.val_span(arg);
                let allowed: Vec<String> = param
                    .one_of
                    .iter()
                    .map(|s| {
                        let mark = if param.default == Some(s) { "*" } else { "" };
                        format!("{mark}{}", super::quote::string(s))
                    })
                    .collect();
                self.add_error(
                    Code::Eval,
                    pos,
                    "cannot use % as % in argument % to %",
                    &[
                        Arg::Val(arg),
                        Arg::Text(allowed.join(" | ")),
                        Arg::Int(i64::try_from(i + 1).unwrap_or(0)),
                        Arg::Text(name),
                    ],
                );
                return Ok(None);
            }
            match self.plain(arg, param.deep, &mut opaque)? {
                Ok(packages::Value::Opaque(_)) if !self.is_struct(arg) => {
                    return Ok(Some(Val::Lit(self.non_concrete_arg(i, param.kind))));
                }
                Ok(value) => args.push(value),
                Err(bottom) => return Ok(Some(Val::Lit(bottom))),
            }
        }
        match run(Args(&args)) {
            Ok(value) => self.from_plain(&value, &opaque).map(Some),
            Err(error) => {
                let waiting = opaque.iter().find_map(|&v| {
                    let bottom = self.as_bottom(Some(v))?;
                    self.is_incomplete(bottom).then_some(bottom)
                });
                if let (Some(bottom), Error::Fatal(_)) = (waiting, &error) {
                    return Ok(Some(Val::Lit(bottom)));
                }
                let code = match &error {
                    Error::Fatal(_) => Code::Eval,
                    Error::Incomplete(_) => Code::Incomplete,
                    Error::Invalid(_) if self.is_validator => Code::Eval,
                    Error::Invalid(_) => return Ok(Some(self.new_bool(false))),
                };
                Ok(Some(Val::Lit(self.detail(code, error.message()))))
            }
        }
    }

    /// An error without path or place, to stand behind the message about the call.
    pub fn detail(&mut self, code: Code, message: &str) -> ValId {
        let err = self.error_at(None, "%", &[Arg::Text(message.to_owned())]);
        self.errors[err].node = None;
        self.errors[err].alt_path = None;
        self.new_bottom_on(code, err, None)
    }

    fn non_concrete_arg(&mut self, i: usize, kind: Kinds) -> ValId {
        let n = i64::try_from(i).unwrap_or(0);
        let err = if kind == Kinds::LIST {
            self.error("non-concrete list for argument %", &[Arg::Int(n)])
        } else {
            self.error("non-concrete argument %", &[Arg::Int(n)])
        };
        self.new_bottom(Code::Incomplete, err)
    }

    /// A value as the packages see it.
    pub fn plain(
        &mut self,
        val: Val,
        deep: bool,
        opaque: &mut Vec<Val>,
    ) -> R<Result<packages::Value, ValId>> {
        self.enter()?;
        let result = self.plain_inner(val, deep, opaque);
        self.leave();
        result
    }

    fn plain_inner(
        &mut self,
        val: Val,
        deep: bool,
        opaque: &mut Vec<Val>,
    ) -> R<Result<packages::Value, ValId>> {
        let val = self.default_of(val);
        if let Some(Val::Lit(id)) = self.unwrap_val(val) {
            let found = match self.value(id) {
                Value::Null => Some(packages::Value::Null),
                Value::Bool(b) => Some(packages::Value::Bool(*b)),
                Value::Num(n) => Some(packages::Value::Num(n.clone())),
                Value::String(s) => Some(packages::Value::String(s.to_string())),
                Value::Bytes(b) => Some(packages::Value::Bytes(b.to_vec())),
                Value::Bottom(_) => return Ok(Err(id)),
                _ => None,
            };
            if let Some(found) = found {
                return Ok(Ok(found));
            }
        }
        if let Val::Node(node) = val {
            let node = self.deref_value(node);
            match self.nodes[node].base {
                Base::List { .. } => {
                    self.finalize(node)?;
                    if let Some(bottom) = self.node_bottom(node) {
                        return Ok(Err(bottom));
                    }
                    let mut items = Vec::new();
                    let arcs = self.nodes[node].arcs.list.clone();
                    for arc in arcs {
                        if !self.nodes[arc].label.is_int() {
                            continue;
                        }
                        self.finalize(arc)?;
                        match self.plain(Val::Node(arc), deep, opaque)? {
                            Ok(item) => items.push(item),
                            Err(bottom) if deep || !self.is_incomplete(bottom) => {
                                return Ok(Err(bottom));
                            }
                            Err(_) => items.push(self.opaque(Val::Node(arc), opaque)),
                        }
                    }
                    return Ok(Ok(packages::Value::List(items)));
                }
                Base::Struct if deep => return self.plain_struct(node, opaque),
                _ => {}
            }
        }
        if deep {
            let err = self.error(
                "cannot convert incomplete value % to JSON",
                &[Arg::Text(super::quote::string(&self.show(val)))],
            );
            return Ok(Err(self.new_bottom(Code::Incomplete, err)));
        }
        let value = self.opaque(val, opaque);
        Ok(Ok(value))
    }

    fn opaque(&self, val: Val, opaque: &mut Vec<Val>) -> packages::Value {
        let id = u32::try_from(opaque.len()).unwrap_or(u32::MAX);
        opaque.push(val);
        packages::Value::Opaque(Opaque {
            id,
            kinds: self.kind(val),
        })
    }

    fn plain_struct(
        &mut self,
        node: NodeId,
        opaque: &mut Vec<Val>,
    ) -> R<Result<packages::Value, ValId>> {
        self.finalize(node)?;
        let found = self.validate(
            node,
            Config {
                is_final: true,
                ..Config::default()
            },
        )?;
        if let Some(bottom) = found.or_else(|| self.node_bottom(node)) {
            return Ok(Err(bottom));
        }
        let mut fields = Vec::new();
        for arc in crate::export::order::ordered_arcs(self, node) {
            let a = &self.nodes[arc];
            if !a.label.is_regular() || a.arc_type != ArcType::Member {
                continue;
            }
            let name = a.label.name(&self.symbols).to_owned();
            match self.plain(Val::Node(arc), true, opaque)? {
                Ok(value) => fields.push((name, value)),
                Err(bottom) => return Ok(Err(bottom)),
            }
        }
        Ok(Ok(packages::Value::Struct(fields)))
    }

    /// A result as a value of the evaluator.
    pub fn from_plain(&mut self, value: &packages::Value, opaque: &[Val]) -> R<Val> {
        use packages::Value as P;
        let lit = match value {
            P::Null => Value::Null,
            P::Bool(b) => Value::Bool(*b),
            P::Num(n) => Value::Num(n.clone()),
            P::String(s) => Value::String(s.as_str().into()),
            P::Bytes(b) => Value::Bytes(b.as_slice().into()),
            P::Opaque(o) => {
                let val = opaque.get(o.id as usize).copied();
                return Ok(val.unwrap_or(Val::Lit(self.top)));
            }
            P::List(items) => {
                let node = self.inline_node(Base::List { open: false }, &[]);
                for (i, item) in items.iter().enumerate() {
                    self.add_plain(node, Label::int(i), item, opaque)?;
                }
                self.nodes[node].status = Status::Finalized;
                return Ok(Val::Node(node));
            }
            P::Struct(fields) => {
                let node = self.inline_node(Base::Struct, &[]);
                for (name, item) in fields {
                    let label = Label::string(&mut self.symbols, name);
                    self.add_plain(node, label, item, opaque)?;
                }
                self.nodes[node].status = Status::Finalized;
                return Ok(Val::Node(node));
            }
        };
        Ok(Val::Lit(self.new_value(lit)))
    }

    fn add_plain(
        &mut self,
        parent: NodeId,
        label: Label,
        item: &packages::Value,
        opaque: &[Val],
    ) -> R<()> {
        let value = self.from_plain(item, opaque)?;
        let conjunct = Conjunct {
            env: None,
            x: X::from(value),
            ci: CloseInfo::default(),
        };
        if let Some(arc) = self.find_arc(parent, label) {
            // The same name twice: the two are unified.
            if self.nodes[arc].conjuncts.is_empty() {
                let before = match self.nodes[arc].base {
                    Base::Val(id) => X::Val(id),
                    Base::Node(n) => X::Node(n),
                    _ => X::Node(arc),
                };
                self.nodes[arc].conjuncts.push(Conjunct {
                    x: before,
                    ..conjunct
                });
            }
            self.nodes[arc].conjuncts.push(conjunct);
            self.nodes[arc].status = Status::Unprocessed;
            self.nodes[arc].base = Base::None;
            return self.finalize(arc);
        }
        let mut arc = Node::new(Some(parent), label, ArcType::Member);
        arc.is_dynamic = true;
        match value {
            Val::Lit(id) => {
                arc.base = Base::Val(id);
                arc.status = Status::Finalized;
            }
            Val::Node(inner) if matches!(item, packages::Value::Opaque(_)) => {
                arc.conjuncts.push(Conjunct {
                    x: X::Node(inner),
                    ..conjunct
                });
            }
            Val::Node(inner) => {
                arc.base = Base::Node(inner);
                arc.status = Status::Finalized;
                // Plain data has no conjuncts: it is inserted by value.
                let arc = self.adopt(inner, parent, label);
                self.push_arc(parent, label, arc);
                return Ok(());
            }
        }
        let open = arc.status != Status::Finalized;
        let arc = self.nodes.push(arc);
        self.push_arc(parent, label, arc);
        if open {
            self.finalize(arc)?;
        }
        Ok(())
    }

    fn adopt(&mut self, node: NodeId, parent: NodeId, label: Label) -> NodeId {
        let n = &mut self.nodes[node];
        n.parent = Some(parent);
        n.label = label;
        node
    }

    fn is_struct(&self, val: Val) -> bool {
        match val {
            Val::Node(node) => self.nodes[self.deref_value(node)].base == Base::Struct,
            Val::Lit(_) => false,
        }
    }
}
