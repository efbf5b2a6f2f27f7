//! `matchN` and `matchIf`: schemas as arguments.

use super::call::Call;
use super::context::{Ctx, R};
use super::ids::{NodeId, ValId};
use super::ir::Expr;
use super::label::Label;
use super::node::{ArcType, Conjunct, Cyclic, Node, X};
use super::validate::Config;
use super::value::{Arg, Code, Val, Value};

impl Ctx {
    /// The value that is matched, or the answer that does not depend on the schemas.
    fn subject(&mut self, call: &Call, misuse: &'static str) -> R<Result<Val, Val>> {
        if !self.is_validator {
            return Ok(Err(Val::Lit(self.fail(misuse, &[]))));
        }
        let arg = call.arg(0, self);
        let this = self.as_data(arg)?;
        if self.as_bottom(Some(this)).is_some() {
            return Ok(Err(self.new_bool(false)));
        }
        if self.ci.cyclic == Cyclic::Yes {
            let err = self.error_at(call.span, "structural cycle", &[]);
            let bottom = self.new_bottom_on(Code::StructuralCycle, err, None);
            return Ok(Err(Val::Lit(bottom)));
        }
        Ok(Ok(this))
    }

    pub(super) fn match_n(&mut self, call: &Call) -> R<Option<Val>> {
        let misuse = "matchN is a validator and should not be used as a function";
        let this = match self.subject(call, misuse)? {
            Ok(this) => this,
            Err(answer) => return Ok(Some(answer)),
        };
        let schemas = call.arg(2, self);
        let Some(list) = self.list_arg(schemas) else {
            return Ok(None);
        };
        self.finalize(list)?;
        let arcs = self.nodes[list].arcs.list.clone();
        let mut errs = Vec::new();
        let (mut count, mut possible) = (0, 0);
        for schema in arcs {
            if !self.nodes[schema].label.is_int() {
                continue;
            }
            match self.match_one(this, Val::Node(schema))? {
                None => count += 1,
                Some(err) => {
                    errs.push(err);
                    if self.is_incomplete(err) {
                        possible += 1;
                    }
                }
            }
        }
        let bound = call.arg(1, self);
        if let Some(b) = self.check_count_bound(bound, count, count + possible)? {
            let incomplete = self.is_incomplete(b);
            for err in errs {
                if !incomplete || self.is_incomplete(err) {
                    self.add_bottom(err);
                }
            }
            return Ok(Some(Val::Lit(b)));
        }
        Ok(Some(self.new_bool(true)))
    }

    /// Unifies the value with a schema; the error if that is not final and right.
    pub fn match_one(&mut self, this: Val, schema: Val) -> R<Option<ValId>> {
        let node = self.unify_values(&[this, schema])?;
        self.validate(
            node,
            Config {
                report_incomplete: true,
                is_final: true,
                ..Config::default()
            },
        )
    }

    pub(super) fn match_if(&mut self, call: &Call) -> R<Option<Val>> {
        let misuse = "matchIf is a validator and should not be used as a function";
        let this = match self.subject(call, misuse)? {
            Ok(this) => this,
            Err(answer) => return Ok(Some(answer)),
        };
        let mut schemas = Vec::new();
        for i in 1..4 {
            schemas.push(self.schema_arg(call, i));
        }
        let [condition, then, otherwise] = schemas.as_slice() else {
            return Ok(None);
        };
        let chosen = match self.match_one(this, *condition)? {
            None => *then,
            Some(_) => *otherwise,
        };
        match self.match_one(this, chosen)? {
            None => Ok(Some(self.new_bool(true))),
            Some(err) => Ok(Some(Val::Lit(err))),
        }
    }

    /// An argument as a schema of its own, evaluated afresh.
    pub(super) fn schema_arg(&mut self, call: &Call, i: usize) -> Val {
        let expr = call.expr.and_then(|e| match &self.ir.exprs[e] {
            Expr::Call { args, .. } => args.get(i - 1).copied(),
            _ => None,
        });
        let Some(expr) = expr else {
            return call.arg(i, self);
        };
        let mut node = Node::new(None, Label::NONE, ArcType::Member);
        node.conjuncts.push(Conjunct {
            env: Some(self.env),
            x: X::Expr(expr),
            ci: self.ci,
        });
        Val::Node(self.nodes.push(node))
    }

    /// A count against the number or bound that is wanted of it.
    pub fn check_count_bound(&mut self, bound: Val, count: i64, max: i64) -> R<Option<ValId>> {
        let number = self.new_int(count);
        let ci = self.ci;
        let pair = [X::from(bound), X::Val(number)].map(|x| Conjunct { env: None, x, ci });
        let node = self.scratch(&pair)?;
        if self.node_bottom(node).is_none() {
            return Ok(None);
        }
        let err = self.error("% matched, expected %", &[Arg::Int(count), Arg::Val(bound)]);
        let code =
            match self.scalar(bound) {
                Some(Value::Num(n)) => match n.to_i64() {
                    Some(n) if n > count && n <= max => Code::Incomplete,
                    _ => Code::Eval,
                },
                Some(Value::Bound { .. }) => {
                    let hi = self.new_int(max);
                    let limit = |op, id| Value::Bound {
                        op,
                        value: Val::Lit(id),
                    };
                    let at_least = self.new_value(limit(super::ir::Op::Ge, number));
                    let at_most = self.new_value(limit(super::ir::Op::Le, hi));
                    let all = [X::from(bound), X::Val(at_least), X::Val(at_most)]
                        .map(|x| Conjunct { env: None, x, ci });
                    let node = self.scratch(&all)?;
                    match self.node_bottom(node) {
                        None => Code::Incomplete,
                        Some(_) => Code::Eval,
                    }
                }
                _ => Code::Incomplete,
            };
        Ok(Some(self.new_bottom(code, err)))
    }

    pub(super) fn scratch(&mut self, conjuncts: &[Conjunct]) -> R<NodeId> {
        let mut node = Node::new(None, Label::NONE, ArcType::Member);
        node.conjuncts.extend(conjuncts.iter().copied());
        let node = self.nodes.push(node);
        self.finalize(node)?;
        Ok(node)
    }
}
