//! Binary operators on concrete values, and conversions of operands.

use std::cmp::Ordering;

use super::context::{Ctx, R};
use super::equal::{IGNORE_OPTIONAL, REGULAR_ONLY};
use super::ids::ValId;
use super::ir::Op;
use super::kind::Kind;
use super::node::Base;
use super::value::{Arg, Code, Val, Value};
use crate::number::Num;

/// The largest count in `"x" * n`.
const MAX_REPEAT: u64 = 1_000_000;

/// Whether a comparison operator holds for an order.
pub fn holds(op: Op, order: Ordering) -> bool {
    match op {
        Op::Lt => order == Ordering::Less,
        Op::Le => order != Ordering::Greater,
        Op::Eq => order == Ordering::Equal,
        Op::Ne => order != Ordering::Equal,
        Op::Ge => order != Ordering::Less,
        Op::Gt => order == Ordering::Greater,
        _ => false,
    }
}

impl Ctx {
    /// Equality of scalars without any error.
    pub fn scalars_equal(&self, a: ValId, b: ValId) -> bool {
        match (self.value(a), self.value(b)) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(x), Value::Bool(y)) => x == y,
            (Value::Num(x), Value::Num(y)) => x.compare(y) == Ordering::Equal,
            (Value::String(x), Value::String(y)) => x == y,
            (Value::Bytes(x), Value::Bytes(y)) => x == y,
            (Value::Builtin(x), Value::Builtin(y)) => x == y,
            _ => false,
        }
    }

    pub fn new_bool(&mut self, b: bool) -> Val {
        match self.take_errs() {
            Some(errs) => Val::Lit(errs),
            None => Val::Lit(self.new_value(Value::Bool(b))),
        }
    }

    fn result(&mut self, value: Value) -> Val {
        match self.take_errs() {
            Some(errs) => Val::Lit(errs),
            None => Val::Lit(self.new_value(value)),
        }
    }

    /// The scalar of a value, if it is one.
    pub fn scalar(&self, val: Val) -> Option<&Value> {
        match self.unwrap_val(val)? {
            Val::Lit(id) => Some(self.value(id)),
            Val::Node(_) => None,
        }
    }

    pub fn binop(&mut self, op: Op, left: Val, right: Val) -> R<Val> {
        let (lk, rk) = (self.kind(left), self.kind(right));
        for (side, val) in [("left", left), ("right", right)] {
            if let Some(err) = self.validate_operand(val)? {
                let format = if side == "left" {
                    "invalid left-hand value to '%' (type %): %"
                } else {
                    "invalid right-hand value to '%' (type %): %"
                };
                let code = self.code(err);
                let inner = self.bottom(err).and_then(|b| b.errors.first().copied());
                let shown = inner.map_or(Arg::Str(""), Arg::Error);
                let err = self.error(format, &[Arg::Str(op.text()), Arg::Kind(lk), shown]);
                return Ok(Val::Lit(self.new_bottom(code, err)));
            }
        }
        if let Some(err) = self.combine_vals(Some(left), Some(right)) {
            return Ok(Val::Lit(err));
        }
        let numbers = lk.meets(Kind::NUMBER) && rk.meets(Kind::NUMBER);
        match op {
            Op::Eq | Op::Ne => {
                let same = if lk.meets(Kind::COMPOSITE) && lk == rk {
                    self.equal(left, right, REGULAR_ONLY | IGNORE_OPTIONAL)?
                } else if numbers || lk == rk {
                    match (self.unwrap_val(left), self.unwrap_val(right)) {
                        (Some(Val::Lit(a)), Some(Val::Lit(b))) => self.scalars_equal(a, b),
                        _ => false,
                    }
                } else {
                    false
                };
                return Ok(self.new_bool(same == (op == Op::Eq)));
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let order = match (self.scalar(left), self.scalar(right)) {
                    (Some(Value::String(a)), Some(Value::String(b))) => {
                        Some(a.as_bytes().cmp(b.as_bytes()))
                    }
                    (Some(Value::Bytes(a)), Some(Value::Bytes(b))) => Some(a.cmp(b)),
                    (Some(Value::Num(a)), Some(Value::Num(b))) => Some(a.compare(b)),
                    _ => None,
                };
                if let Some(order) = order {
                    return Ok(self.new_bool(holds(op, order)));
                }
            }
            Op::BoolAnd | Op::BoolOr => {
                let a = self.to_bool(Some(left), Some(op.text()));
                let b = self.to_bool(Some(right), Some(op.text()));
                let both = if op == Op::BoolAnd { a && b } else { a || b };
                return Ok(self.new_bool(both));
            }
            Op::Match | Op::NotMatch => {
                let pattern = match self.scalar(right) {
                    Some(Value::String(s)) => s.to_string(),
                    Some(Value::Bytes(b)) => String::from_utf8_lossy(b).into_owned(),
                    _ => {
                        self.type_error(right, Kind::STRING | Kind::BYTES, None);
                        String::new()
                    }
                };
                let text = self.to_str(Some(left), Kind::STRING, Some(op.text()));
                let found = self.errs.is_none() && self.regex_matches(&pattern, text.as_bytes());
                return Ok(self.new_bool(found == (op == Op::Match)));
            }
            _ => {
                if let Some(v) = self.arithmetic(op, left, right, (lk, rk)) {
                    return Ok(v);
                }
            }
        }
        let bottom = self.fail(
            "invalid operands % and % to '%' (type % and %)",
            &[
                Arg::Val(left),
                Arg::Val(right),
                Arg::Str(op.text()),
                Arg::Kind(lk),
                Arg::Kind(rk),
            ],
        );
        Ok(Val::Lit(bottom))
    }

    fn arithmetic(&mut self, op: Op, left: Val, right: Val, kinds: (Kind, Kind)) -> Option<Val> {
        let (lk, rk) = kinds;
        if lk.meets(Kind::NUMBER) && rk.meets(Kind::NUMBER) || op == Op::Sub {
            let a = self.to_num(Some(left), op.text());
            let b = self.to_num(Some(right), op.text());
            let result = match op {
                Op::Add => a.add(&b),
                Op::Sub => a.sub(&b),
                Op::Mul => a.mul(&b),
                Op::Quo => a.div(&b),
                _ => return None,
            };
            return Some(match result {
                Ok(n) => self.result(Value::Num(n)),
                Err(e) => {
                    let text = e.to_string();
                    Val::Lit(self.fail("failed arithmetic: %", &[Arg::Text(text)]))
                }
            });
        }
        match op {
            Op::Add => {
                let joined = match (self.scalar(left), self.scalar(right)) {
                    (Some(Value::String(a)), Some(Value::String(b))) => {
                        Value::String(format!("{a}{b}").into())
                    }
                    (Some(Value::Bytes(a)), Some(Value::Bytes(b))) => {
                        Value::Bytes([&**a, &**b].concat().into())
                    }
                    _ if lk == Kind::LIST && rk == Kind::LIST => {
                        return Some(Val::Lit(self.fail(
                            "Addition of lists is superseded by list.Concat; see https://cuelang.org/e/v0.11-list-arithmetic",
                            &[],
                        )));
                    }
                    _ => return None,
                };
                Some(self.result(joined))
            }
            Op::Mul => {
                if lk == Kind::LIST && rk == Kind::INT || lk == Kind::INT && rk == Kind::LIST {
                    return Some(Val::Lit(self.fail(
                        "Multiplication of lists is superseded by list.Repeat; see https://cuelang.org/e/v0.11-list-arithmetic",
                        &[],
                    )));
                }
                let (text, count) = if rk == Kind::INT {
                    (left, right)
                } else if lk == Kind::INT {
                    (right, left)
                } else {
                    return None;
                };
                match self.scalar(text) {
                    Some(Value::String(s)) => {
                        let s = s.to_string();
                        let n = self.repeat_count(count, "string multiplication");
                        Some(self.result(Value::String(s.repeat(n).into())))
                    }
                    Some(Value::Bytes(b)) => {
                        let b = b.to_vec();
                        let n = self.repeat_count(count, "bytes multiplication");
                        Some(self.result(Value::Bytes(b.repeat(n).into())))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn repeat_count(&mut self, val: Val, what: &'static str) -> usize {
        let n = self.to_u64(Some(val), what);
        if n > MAX_REPEAT {
            let shown = i64::try_from(n).unwrap_or(i64::MAX);
            self.add_failure(
                "% count % exceeds limit of %",
                &[Arg::Str(what), Arg::Int(shown), Arg::Int(1_000_000)],
            );
            return 0;
        }
        usize::try_from(n).unwrap_or(0)
    }

    // --- conversions; a failure is an error of the frame ---

    pub fn type_error(&mut self, val: Val, wanted: Kind, what: Option<&'static str>) {
        if self.is_error(Some(val)) {
            return;
        }
        let kind = self.kind(val);
        let cyclic = matches!(val, Val::Node(n) if self.work(n).is_some_and(|w| w.only_cyclic()));
        let incomplete = !self.is_concrete(val) && kind.meets(wanted) || cyclic;
        let pos = self.val_span(val);
        match (incomplete, what) {
            (true, None) => self.add_error(
                Code::Incomplete,
                pos,
                "incomplete %: %",
                &[Arg::Kind(wanted), Arg::Val(val)],
            ),
            (true, Some(what)) => self.add_error(
                Code::Incomplete,
                pos,
                "incomplete % in %: %",
                &[Arg::Kind(wanted), Arg::Str(what), Arg::Val(val)],
            ),
            (false, None) => self.add_failure(
                "cannot use % (type %) as type %",
                &[Arg::Val(val), Arg::Kind(kind), Arg::Kind(wanted)],
            ),
            (false, Some(what)) => self.add_failure(
                "cannot use % (type %) as type % in %",
                &[
                    Arg::Val(val),
                    Arg::Kind(kind),
                    Arg::Kind(wanted),
                    Arg::Str(what),
                ],
            ),
        }
    }

    pub fn to_bool(&mut self, val: Option<Val>, what: Option<&'static str>) -> bool {
        let val = self.unwrap(val);
        if self.is_error(val) {
            return false;
        }
        let Some(val) = val else { return false };
        match self.scalar(val) {
            Some(Value::Bool(b)) => *b,
            _ => {
                self.type_error(val, Kind::BOOL, what);
                false
            }
        }
    }

    pub fn to_num(&mut self, val: Option<Val>, what: &'static str) -> Num {
        let val = self.unwrap(val);
        let Some(val) = val.filter(|&v| !self.is_error(Some(v))) else {
            return Num::int(0);
        };
        match self.scalar(val) {
            Some(Value::Num(n)) => n.clone(),
            _ => {
                self.type_error(val, Kind::NUMBER, Some(what));
                Num::int(0)
            }
        }
    }

    pub fn to_u64(&mut self, val: Option<Val>, what: &'static str) -> u64 {
        let val = self.unwrap(val);
        let Some(val) = val.filter(|&v| !self.is_error(Some(v))) else {
            return 0;
        };
        let n = match self.scalar(val) {
            Some(Value::Num(n)) => n.clone(),
            _ => {
                self.type_error(val, Kind::INT, Some(what));
                return 0;
            }
        };
        if n.is_negative() {
            self.add_failure("cannot convert negative number to uint64", &[]);
            return 0;
        }
        match n.to_u64() {
            Some(n) => n,
            None => {
                self.add_failure("cannot convert number % to uint64", &[Arg::Val(val)]);
                0
            }
        }
    }

    /// The text of a string, number, bytes or bool, as interpolation writes it.
    pub fn to_text(&mut self, val: Option<Val>) -> String {
        let kinds = Kind::STRING | Kind::NUMBER | Kind::BYTES | Kind::BOOL;
        self.to_str(val, kinds, None)
    }

    pub fn to_str(&mut self, val: Option<Val>, kinds: Kind, what: Option<&'static str>) -> String {
        let val = self.unwrap(val);
        let Some(val) = val.filter(|&v| !self.is_error(Some(v))) else {
            return String::new();
        };
        let kind = self.kind(val);
        if !kind.meets(kinds) {
            self.type_error(val, kinds, what);
            return String::new();
        }
        let text = match self.scalar(val) {
            Some(Value::String(s)) => Some(s.to_string()),
            Some(Value::Bytes(b)) => Some(String::from_utf8_lossy(b).into_owned()),
            Some(Value::Num(n)) => Some(n.to_string()),
            Some(Value::Bool(b)) => Some(b.to_string()),
            _ => None,
        };
        text.unwrap_or_else(|| {
            self.add_error(
                Code::Incomplete,
                self.src,
                "non-concrete value % (type %)",
                &[Arg::Val(val), Arg::Kind(kind)],
            );
            String::new()
        })
    }

    /// Operands must be concrete all the way down.
    fn validate_operand(&mut self, val: Val) -> R<Option<ValId>> {
        if !self.is_concrete(val) {
            let err = self.error("non-concrete value '%'", &[Arg::Val(val)]);
            return Ok(Some(self.new_bottom(Code::Incomplete, err)));
        }
        if let Val::Node(node) = val {
            if self.kind(val).meets(Kind::COMPOSITE) {
                self.finalize(node)?;
            }
            if matches!(self.nodes[node].base, Base::Struct | Base::List { .. }) {
                return self.validate_first(node, true, true, false);
            }
        }
        Ok(None)
    }
}
