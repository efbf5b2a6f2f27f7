//! What each kind of task does.

use super::conjunct::set_optional;
use super::context::{Ctx, R};
use super::few::Rare;
use super::ids::{ExprId, NodeId, TaskId, ValId};
use super::ir::{DeclKind, Expr, Op};
use super::kind::Kind;
use super::label::{Label, MAX_INDEX};
use super::node::{ArcType, Base, CloseInfo, Conjunct, Cyclic, Env, Role, Status, X};
use super::sched::{FIELD_SET, SCALAR, SCALAR_VALUE};
use super::value::{Arg, Code, Val, Value};
use super::work::{Run, Task};
use crate::number::Num;

impl Ctx {
    pub fn task_expr(&mut self, t: &Task, run: Run) -> R<()> {
        let Some(X::Expr(expr)) = t.x else {
            return Ok(());
        };
        let (value, ci) = self.eval_ci(expr, SCALAR, run, false)?;
        if ci.cyclic == Cyclic::Yes && self.nodes[t.node].role == Role::Pattern {
            return Ok(());
        }
        if self.nodes[t.node].work.is_none() {
            return Ok(());
        }
        if let Some(value) = value {
            self.insert_value(t.node, t.env.unwrap_or(self.no_env), value, ci)?;
        }
        Ok(())
    }

    pub fn task_resolver(&mut self, task: TaskId, t: &Task, run: Run) -> R<()> {
        let Some(X::Expr(expr)) = t.x else {
            return Ok(());
        };
        let saved = std::mem::replace(&mut self.pending_parent, false);
        let arc = self.resolve(expr, FIELD_SET, run);
        let pending = std::mem::replace(&mut self.pending_parent, saved);
        let arc = match arc? {
            Some(arc) if arc != self.empty => arc,
            none => {
                if none.is_none() && run == Run::Attempt && self.errs.is_none() && pending {
                    self.tasks[task].retry = true;
                }
                return Ok(());
            }
        };
        let mut ci = self.ci;
        ci.opened |= t.ci.opened;
        let arc = self.deref_non_disjunct(arc);
        let d = self.deref_disjunct(arc);
        if self.nodes[t.node].work.is_none() {
            return Ok(());
        }
        let (ci, skip) = self.detect_cycle(t.node, d, t.env, expr, ci);
        if skip {
            return self.unshare(t.node);
        }
        if self.tasks[task].defunct {
            return Ok(());
        }
        if let Base::Val(id) = self.nodes[d].base
            && self.bottom(id).is_some()
            && self.code(id) == Code::StructuralCycle
        {
            self.add_bottom(id);
            return Ok(());
        }
        let c = Conjunct {
            env: t.env,
            x: X::Expr(expr),
            ci,
        };
        self.schedule_vertex_conjuncts(t.node, c, arc, ci)
    }

    pub fn task_dynamic(&mut self, t: &Task, run: Run) -> R<()> {
        let Some(X::Decl(decl)) = t.x else {
            return Ok(());
        };
        let DeclKind::Dynamic {
            key, arc, aliased, ..
        } = self.ir.decls[decl].kind
        else {
            return Ok(());
        };
        let Some(value) = self.eval_concrete(key, SCALAR_VALUE, run)? else {
            return Ok(());
        };
        let pos = self.ir.span(key);
        if let Val::Node(node) = value
            && self.status(node) == Status::Evaluating
        {
            let err = self.error_at(pos, "key value of dynamic field not yet known", &[]);
            let bottom = self.new_bottom_on(Code::Incomplete, err, Some(t.node));
            self.node_add_bottom(t.node, Some(bottom));
            return Ok(());
        }
        let is_bottom = matches!(value, Val::Lit(id) if self.bottom(id).is_some());
        if is_bottom || !self.is_concrete(value) {
            let err = self.error_at(
                pos,
                "key value of dynamic field must be concrete, found %",
                &[Arg::Val(value)],
            );
            let bottom = self.new_bottom_on(Code::Incomplete, err, Some(t.node));
            self.node_add_bottom(t.node, Some(bottom));
            return Ok(());
        }
        let label = self.label_of_value(Some(key), value);
        if label == Label::NONE {
            return Ok(());
        }
        if label.is_int() {
            let err = self.error_at(pos, "integer fields not supported", &[]);
            self.node_add_error(t.node, err);
            return Ok(());
        }
        let mut env = t.env.unwrap_or(self.no_env);
        if aliased {
            let frame = Env {
                label,
                lets: Rare::new(),
                ..self.envs[env].clone()
            };
            env = self.envs.push(frame);
        }
        let c = Conjunct {
            env: Some(env),
            x: X::Decl(decl),
            ci: t.ci,
        };
        self.insert_arc(t.node, label, arc, c, t.ci, true)?;
        Ok(())
    }

    pub fn task_pattern(&mut self, t: &Task) -> R<()> {
        let Some(X::Decl(decl)) = t.x else {
            return Ok(());
        };
        let DeclKind::Pattern { filter, .. } = self.ir.decls[decl].kind else {
            return Ok(());
        };
        let Some(value) = self.eval(filter, SCALAR_VALUE, Run::Yield)? else {
            return Ok(());
        };
        let c = Conjunct {
            env: t.env,
            x: X::Decl(decl),
            ci: t.ci,
        };
        self.insert_pattern(t.node, value, c)
    }

    pub fn task_list(&mut self, t: &Task, _run: Run) -> R<()> {
        let Some(X::Expr(list)) = t.x else {
            return Ok(());
        };
        let node = t.node;
        self.update_cyclic(node, t.ci)?;
        let ci = CloseInfo {
            from_embed: false,
            ..t.ci
        };
        let mut index = 0usize;
        let mut has_comprehension = false;
        let mut ellipsis = None;
        let mut i = 0;
        while let Expr::List(elems) = &self.ir.exprs[list]
            && let Some(&elem) = elems.get(i)
        {
            let last = i + 1 == elems.len();
            i += 1;
            match &self.ir.exprs[elem] {
                Expr::Comprehension(comp) => {
                    let (value, fallback) = (comp.value, comp.fallback);
                    let before = index;
                    let mut envs = Vec::new();
                    let env = t.env.unwrap_or(self.no_env);
                    let err = self.yield_envs(None, env, elem, &mut envs)?;
                    for env in envs {
                        let c = Conjunct {
                            env: Some(env),
                            x: X::Expr(value),
                            ci,
                        };
                        self.insert_element(node, index, c, ci)?;
                        index += 1;
                    }
                    has_comprehension = true;
                    if err.is_some() {
                        self.node_add_bottom(node, err);
                        return Ok(());
                    }
                    if index == before
                        && let Some(fallback) = fallback
                    {
                        let c = Conjunct {
                            env: t.env,
                            x: X::Expr(fallback),
                            ci,
                        };
                        self.insert_element(node, index, c, ci)?;
                        index += 1;
                    }
                }
                Expr::Ellipsis(_) => {
                    if !last {
                        let err = self.error("ellipsis must be last element in list", &[]);
                        self.node_add_error(node, err);
                        return Ok(());
                    }
                    let mut ci = ci;
                    set_optional(&mut ci);
                    let c = Conjunct {
                        env: t.env,
                        x: X::Expr(elem),
                        ci,
                    };
                    let span = self.ir.span(elem);
                    let from = i64::try_from(index).unwrap_or(i64::MAX);
                    let from = self.new_value_at(Value::Num(Num::int(from)), span);
                    let pattern = self.new_value_at(
                        Value::Bound {
                            op: Op::Ge,
                            value: Val::Lit(from),
                        },
                        None,
                    );
                    self.insert_pattern(node, Val::Lit(pattern), c)?;
                    ellipsis = Some(elem);
                }
                _ => {
                    let c = Conjunct {
                        env: t.env,
                        x: X::Expr(elem),
                        ci,
                    };
                    self.insert_element(node, index, c, ci)?;
                    index += 1;
                }
            }
        }
        let closed = ellipsis.is_none();
        let w = self.w(node);
        let max = w.list_len;
        if index < max {
            if closed {
                self.list_length_error(node, index, max);
                return Ok(());
            }
        } else if index > max {
            if w.list_closed {
                self.list_length_error(node, max, index);
                return Ok(());
            }
            w.list_len = index;
            w.list_x = t.x;
            w.list_closed = closed;
        } else if closed && !w.list_closed || closed == w.list_closed && !has_comprehension {
            w.list_len = index;
            w.list_x = t.x;
            w.list_closed = closed;
        }
        self.update_list(node, X::Expr(list), ci, closed, ellipsis);
        Ok(())
    }

    fn insert_element(&mut self, node: NodeId, index: usize, c: Conjunct, ci: CloseInfo) -> R<()> {
        if index >= MAX_INDEX as usize {
            let err = self.error("the list is too long", &[]);
            self.node_add_error(node, err);
            return Ok(());
        }
        self.insert_arc(node, Label::int(index), ArcType::Member, c, ci, true)?;
        Ok(())
    }

    fn list_length_error(&mut self, node: NodeId, a: usize, b: usize) {
        let int = |n: usize| Arg::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let err = self.error("incompatible list lengths (% and %)", &[int(a), int(b)]);
        self.node_add_error(node, err);
    }

    pub fn task_list_data(&mut self, t: &Task) -> R<()> {
        let Some(X::Node(list)) = t.x else {
            return Ok(());
        };
        let node = t.node;
        let arcs = self.nodes[list].arcs.list.clone();
        let elems: Vec<NodeId> = arcs
            .into_iter()
            .filter(|&a| self.nodes[a].label.is_int())
            .collect();
        let closed = matches!(self.nodes[list].base, Base::List { open: false });
        let w = self.w(node);
        let max = w.list_len;
        if elems.len() < max {
            if closed {
                self.list_length_error(node, elems.len(), max);
                return Ok(());
            }
        } else if elems.len() > max {
            if w.list_closed {
                self.list_length_error(node, max, elems.len());
                return Ok(());
            }
            w.list_closed = closed;
            w.list_len = elems.len();
            w.list_x = t.x;
        } else if closed {
            w.list_closed = true;
            w.list_x = t.x;
        }
        for elem in elems {
            let label = self.nodes[elem].label;
            if self.nodes[elem].conjuncts.is_empty() {
                let c = Conjunct {
                    env: None,
                    x: X::Node(elem),
                    ci: t.ci,
                };
                self.insert_arc(node, label, ArcType::Member, c, t.ci, true)?;
                continue;
            }
            for &c in &self.nodes[elem].conjuncts.clone() {
                self.insert_arc(node, label, ArcType::Member, c, t.ci, true)?;
            }
        }
        self.update_list(node, X::Node(list), t.ci, closed, None);
        Ok(())
    }

    fn update_list(
        &mut self,
        node: NodeId,
        x: X,
        ci: CloseInfo,
        closed: bool,
        ellipsis: Option<ExprId>,
    ) {
        if self.w(node).kind.is_bottom() {
            return;
        }
        let open = match self.nodes[node].base {
            Base::List { open } => open,
            _ => true,
        };
        self.nodes[node].base = Base::List {
            open: open && !closed,
        };
        if let Some(tail) = ellipsis {
            self.list_tails.entry(node).or_default().push(tail);
        }
        if self.w(node).kind != Kind::LIST {
            self.update_kind(node, Kind::LIST, x, ci);
        }
    }

    /// The label a value stands for when it is used as an index or a computed name.
    pub fn label_of_value(&mut self, src: Option<ExprId>, value: Val) -> Label {
        let Some(value) = self.get_default(Some(value)) else {
            return Label::NONE;
        };
        if self.is_error(Some(value)) {
            return Label::NONE;
        }
        let kind = self.kind(value);
        let unwrapped = match self.unwrap_val(value) {
            Some(Val::Lit(id)) => Some(id),
            _ => None,
        };
        if kind == Kind::INT || kind == Kind::NUMBER {
            return self.int_label(src, value, unwrapped);
        }
        if kind == Kind::STRING {
            if let Some(Value::String(s)) = unwrapped.map(|id| self.value(id)) {
                let name = s.to_string();
                return Label::string(&mut self.symbols, &name);
            }
            let pos = self.val_span(value);
            self.add_error(
                Code::Incomplete,
                pos,
                "invalid non-ground value % (must be concrete %)",
                &[Arg::Val(value), Arg::Str("string")],
            );
            return Label::NONE;
        }
        match src {
            Some(src) => self.add_failure(
                "invalid index % (invalid type %)",
                &[Arg::Expr(src), Arg::Kind(kind)],
            ),
            None => self.add_failure("invalid index type %", &[Arg::Kind(kind)]),
        }
        Label::NONE
    }

    fn int_label(&mut self, src: Option<ExprId>, value: Val, id: Option<ValId>) -> Label {
        let Some(Value::Num(n)) = id.map(|id| self.value(id)) else {
            let pos = self.val_span(value);
            self.add_error(
                Code::Incomplete,
                pos,
                "invalid non-ground value % (must be concrete %)",
                &[Arg::Val(value), Arg::Str("int")],
            );
            return Label::NONE;
        };
        let index = if n.is_int() { n.to_i64() } else { None };
        match index {
            Some(i) if i >= 0 => match usize::try_from(i) {
                Ok(i) if i < MAX_INDEX as usize => return Label::int(i),
                _ => self.add_failure(
                    "int label out of range (% not >=0 and <= %)",
                    &[Arg::Int(i), Arg::Int(i64::from(MAX_INDEX))],
                ),
            },
            Some(_) => {
                let literal = match src.map(|src| &self.ir.exprs[src]) {
                    None => true,
                    Some(e) => matches!(e, Expr::Value(_) | Expr::Unary { .. }),
                };
                let shown = id.map_or(value, Val::Lit);
                match src {
                    Some(src) if !literal => self.add_failure(
                        "index % out of range [%]",
                        &[Arg::Expr(src), Arg::Val(shown)],
                    ),
                    _ => self.add_failure(
                        "invalid index % (index must be non-negative)",
                        &[Arg::Val(shown)],
                    ),
                }
            }
            None => {
                let shown = src.map_or(Arg::Val(value), Arg::Expr);
                self.add_failure("invalid index %: %", &[shown, Arg::Str("not an integer")]);
            }
        }
        Label::NONE
    }
}
