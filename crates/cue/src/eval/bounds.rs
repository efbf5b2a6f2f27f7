//! Bounds: `>=1`, `!=null`, `=~"^a"`, alone and together.

use std::cmp::Ordering;

use super::context::{Ctx, R};
use super::ids::{ExprId, ValId};
use super::ir::{Expr, Op};
use super::kind::Kind;
use super::node::{Conjunct, X};
use super::value::{Arg, Code, Val, Value};
use crate::number::{Decimal, Num};

/// Lower bounds are 1, upper bounds -1; the others are classes of their own.
fn class(op: Op) -> i32 {
    match op {
        Op::Gt | Op::Ge => 1,
        Op::Lt | Op::Le => -1,
        Op::Eq => 4,
        Op::Ne => 0,
        Op::Match => 2,
        _ => 3,
    }
}

/// The comparison that says the first of two bounds of a class is the tighter.
fn tighter(op: Op) -> Op {
    match op {
        Op::Gt => Op::Ge,
        Op::Ge => Op::Gt,
        Op::Lt => Op::Le,
        Op::Le => Op::Lt,
        other => other,
    }
}

/// The next integer at or below (or above) a number.
fn whole(n: &Num, up: bool) -> Num {
    let text = n.value.to_string();
    if n.value.exponent() >= 0 {
        return n.clone();
    }
    let digits: String = match text.split_once('.') {
        Some((whole, _)) if !text.contains('E') => whole.to_owned(),
        _ => "0".to_owned(),
    };
    let cut = Decimal::parse(&digits).map(|value| Num {
        value,
        kind: n.kind,
    });
    let Ok(cut) = cut else { return n.clone() };
    let one = Num::int(1);
    match (cut.compare(n), up) {
        (Ordering::Less, true) => cut.add(&one).unwrap_or(cut),
        (Ordering::Greater, false) => cut.sub(&one).unwrap_or(cut),
        _ => cut,
    }
}

impl Ctx {
    fn bound_parts(&self, id: ValId) -> Option<(Op, Val)> {
        match self.value(id) {
            Value::Bound { op, value } => Some((*op, *value)),
            _ => None,
        }
    }

    /// A comparison of two scalars that is simply false where they cannot be compared.
    fn compare_quietly(&mut self, op: Op, a: Val, b: Val) -> bool {
        let (Some(a), Some(b)) = (self.scalar(a), self.scalar(b)) else {
            return false;
        };
        let order = match (a, b) {
            (Value::Num(x), Value::Num(y)) => x.compare(y),
            (Value::String(x), Value::String(y)) => match op {
                Op::Match | Op::NotMatch => {
                    let (text, pattern) = (x.to_string(), y.to_string());
                    let found = self.regex_matches(&pattern, text.as_bytes());
                    return found == (op == Op::Match);
                }
                _ => x.as_bytes().cmp(y.as_bytes()),
            },
            (Value::Bytes(x), Value::Bytes(y)) => x.cmp(y),
            (Value::Bool(x), Value::Bool(y)) if matches!(op, Op::Eq | Op::Ne) => x.cmp(y),
            (Value::Null, Value::Null) if matches!(op, Op::Eq | Op::Ne) => Ordering::Equal,
            _ => return op == Op::Ne,
        };
        super::binop::holds(op, order)
    }

    /// One bound in the place of two: the tighter, or an error when nothing can satisfy both.
    pub fn simplify_bounds(&mut self, kind: Kind, x: ValId, y: ValId) -> Option<ValId> {
        let ((xop, xv), (yop, yv)) = (self.bound_parts(x)?, self.bound_parts(y)?);
        let (xc, yc) = (class(xop), class(yop));
        if xc == yc {
            if matches!(xop, Op::Eq | Op::Ne | Op::Match | Op::NotMatch) {
                let same = match (self.unwrap_val(xv), self.unwrap_val(yv)) {
                    (Some(Val::Lit(a)), Some(Val::Lit(b))) => self.scalars_equal(a, b),
                    (Some(Val::Node(a)), Some(Val::Node(b))) => {
                        self.equal(Val::Node(a), Val::Node(b), 0).unwrap_or(false)
                    }
                    _ => false,
                };
                return same.then_some(x);
            }
            return Some(if self.compare_quietly(tighter(xop), xv, yv) {
                x
            } else {
                y
            });
        }
        if xc == -yc && xc != 0 {
            let (lo, hi) = if xc == 1 { (x, y) } else { (y, x) };
            return self.opposite_bounds(kind, lo, hi);
        }
        if xop == Op::Eq {
            return self.compare_quietly(yop, xv, yv).then_some(x);
        }
        if yop == Op::Eq {
            return self.compare_quietly(xop, yv, xv).then_some(y);
        }
        if xop == Op::Ne {
            return (!self.compare_quietly(yop, xv, yv)).then_some(y);
        }
        if yop == Op::Ne {
            return (!self.compare_quietly(xop, yv, xv)).then_some(x);
        }
        None
    }

    fn opposite_bounds(&mut self, kind: Kind, lo: ValId, hi: ValId) -> Option<ValId> {
        let ((lop, lv), (hop, hv)) = (self.bound_parts(lo)?, self.bound_parts(hi)?);
        let inclusive = lop == Op::Ge && hop == Op::Le;
        let text = match (self.scalar(lv)?, self.scalar(hv)?) {
            (Value::String(a), Value::String(b)) if kind == Kind::STRING => Some((
                a.as_bytes().cmp(b.as_bytes()),
                "incompatible string bounds % and %",
            )),
            (Value::Bytes(a), Value::Bytes(b)) if kind == Kind::BYTES => {
                Some((a.cmp(b), "incompatible bytes bounds % and %"))
            }
            _ => None,
        };
        if let Some((order, format)) = text {
            if order == Ordering::Less || order == Ordering::Equal && inclusive {
                return None;
            }
            let args = [Arg::Val(Val::Lit(hi)), Arg::Val(Val::Lit(lo))];
            return Some(self.fail(format, &args));
        }
        let (Value::Num(a), Value::Num(b)) = (self.scalar(lv)?, self.scalar(hv)?) else {
            return None;
        };
        let integer = !kind.meets(Kind::FLOAT);
        let (mut low, mut high) = (a.clone(), b.clone());
        if integer {
            low = whole(&low, lop == Op::Ge);
            high = whole(&high, hop != Op::Le);
        }
        let difference = high.sub(&low).ok()?;
        let empty = if difference.is_negative() {
            true
        } else if difference.is_zero() {
            !inclusive
        } else if integer && difference.to_i64() == Some(1) && lop == Op::Gt && hop == Op::Lt {
            let args = [Arg::Val(Val::Lit(lo)), Arg::Val(Val::Lit(hi))];
            return Some(self.fail("incompatible integer bounds % and %", &args));
        } else {
            false
        };
        if !empty {
            return None;
        }
        let format = if kind == Kind::INT {
            "incompatible integer bounds % and %"
        } else {
            "incompatible number bounds % and %"
        };
        let args = [Arg::Val(Val::Lit(hi)), Arg::Val(Val::Lit(lo))];
        Some(self.fail(format, &args))
    }

    /// Evaluates `>x` and the like.
    pub fn bound(&mut self, expr: ExprId, op: Op, x: ExprId) -> R<Option<Val>> {
        let value = self.operand(x)?;
        if self.is_error(value) {
            return Ok(value);
        }
        let Some(value) = value else { return Ok(None) };
        let kind = self.kind(value);
        let equality = matches!(op, Op::Eq | Op::Ne);
        let ordered = Kind::NUMBER | Kind::STRING | Kind::BYTES;
        let others = Kind::NULL | Kind::COMPOSITE | Kind::BOOL;
        let pos = self.ir.span(x);
        let single = kind.0.count_ones() == 1 || kind == Kind::NUMBER;
        if single && ordered.has(kind) {
        } else if single && others.meets(kind) {
            if !equality {
                let bottom = self.fail_at(
                    pos,
                    "cannot use % for bound %",
                    &[Arg::Kind(kind), Arg::Str(op.text())],
                );
                return Ok(Some(Val::Lit(bottom)));
            }
        } else {
            let mask = if equality { ordered | others } else { ordered };
            if kind.meets(mask) {
                self.add_error(
                    Code::Incomplete,
                    None,
                    "non-concrete value % for bound %",
                    &[Arg::Expr(x), Arg::Str(op.text())],
                );
                return Ok(None);
            }
            let bottom = self.fail_at(
                pos,
                "invalid value % (type %) for bound %",
                &[Arg::Val(value), Arg::Kind(kind), Arg::Str(op.text())],
            );
            return Ok(Some(Val::Lit(bottom)));
        }
        if !self.is_concrete(value) {
            if matches!(self.ir.exprs[x], Expr::Value(_)) {
                let bottom = self.fail("bound has fixed non-concrete value", &[]);
                return Ok(Some(Val::Lit(bottom)));
            }
            self.add_error(
                Code::Incomplete,
                None,
                "non-concrete value % for bound %",
                &[Arg::Expr(x), Arg::Str(op.text())],
            );
            return Ok(None);
        }
        let span = self.ir.span(expr);
        let id = self.new_value_at(Value::Bound { op, value }, span);
        Ok(Some(Val::Lit(id)))
    }

    /// Checks a bound or validator against a value.
    pub fn validate_check(&mut self, check: Conjunct, value: Val) -> R<Option<ValId>> {
        let X::Val(id) = check.x else { return Ok(None) };
        let (src, ci, env) = (self.src, self.ci, self.env);
        self.src = self.vals[id].span;
        self.ci = check.ci;
        self.env = check.env.unwrap_or(self.no_env);
        let result = match self.value(id) {
            Value::Bound { op, value: limit } => {
                let (op, limit) = (*op, *limit);
                self.validate_bound(id, op, limit, value)
            }
            Value::Validator(v) => {
                let v = v.clone();
                self.validate_builtin(&v, value)
            }
            _ => Ok(None),
        };
        self.src = src;
        self.ci = ci;
        self.env = env;
        result
    }

    fn validate_bound(&mut self, bound: ValId, op: Op, limit: Val, value: Val) -> R<Option<ValId>> {
        if let Some(errs) = self.take_errs() {
            return Ok(Some(errs));
        }
        // The common case needs no value and no error.
        let quick = match (self.scalar(value), self.scalar(limit)) {
            (Some(Value::Num(a)), Some(Value::Num(b))) => Some(a.compare(b)),
            (Some(Value::String(a)), Some(Value::String(b)))
                if !matches!(op, Op::Match | Op::NotMatch) =>
            {
                Some(a.as_bytes().cmp(b.as_bytes()))
            }
            _ => None,
        };
        let ok = match quick {
            Some(order) => super::binop::holds(op, order),
            None => match self.binop(op, value, limit)? {
                Val::Lit(id) => match self.value(id) {
                    Value::Bool(b) => *b,
                    _ => return Ok(Some(id)),
                },
                Val::Node(_) => false,
            },
        };
        if ok {
            return Ok(None);
        }
        let shown = match value {
            Val::Node(_) => self.unwrap_val(value).unwrap_or(value),
            lit => lit,
        };
        let err = self.error(
            "invalid value % (out of bound %)",
            &[Arg::Val(shown), Arg::Val(Val::Lit(bound))],
        );
        let span = self.val_span(value);
        self.add_span(err, span);
        Ok(Some(self.new_bottom(Code::Eval, err)))
    }
}
