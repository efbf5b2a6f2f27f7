//! Fields that need no work: a literal, and types, bounds and disjunctions of literals that it satisfies; or a disjunction
//! of literals alone, `*"v" | string`.
//!
//! Most fields of data and of settings are such fields. They are final as soon as their struct is complete, and
//! nothing of the scheduler is needed for them. Whatever is not plain here (a reference, a value that does not fit) is
//! none of this file's business: the usual way computes it and says what is wrong.

use smallvec::SmallVec;

use super::binop::holds;
use super::conjunct::mode;
use super::context::{Ctx, R};
use super::ids::{ExprId, NodeId, ValId};
use super::ir::{Expr, Op};
use super::kind::Kind;
use super::node::{Base, Conjunct, Cyclic, Role, Status, X};
use super::value::{Val, Value};
use super::work::{EnvDisjunct, Evidence};

/// Vertices with more conjuncts are left to the usual way, which has tables for them.
const FEW: usize = 8;

impl Ctx {
    /// Finishes a field that nobody has looked at, if it is plain; false if it is not.
    pub(super) fn settle_plain(&mut self, arc: NodeId) -> R<bool> {
        let n = &self.nodes[arc];
        let untouched = n.work.is_none()
            && n.status == Status::Unprocessed
            && n.base == Base::None
            && n.role == Role::Vertex
            && n.arcs.is_empty()
            && n.conjuncts.len() <= FEW;
        if !untouched
            || !n.label.is_regular()
            || !n.rooted()
            || self.late.is_some()
            || self.ci.cyclic == Cyclic::Yes
        {
            return Ok(false);
        }
        // Within a disjunct, equal results are joined, and for that they need their work.
        let above = n.parent.and_then(|parent| self.work(parent));
        if !above.is_some_and(|w| !w.is_disjunct && !w.has_disjunction) {
            return Ok(false);
        }
        let value = match self.plain_scalar(arc)? {
            Some(scalar) => scalar,
            None => match self.plain_disjunction(arc)? {
                Some(disjunction) => disjunction,
                None => return Ok(false),
            },
        };
        let n = &mut self.nodes[arc];
        n.closed_recursive |= n.conjuncts.iter().any(|c| c.ci.from_def);
        n.base = Base::Val(value);
        n.status = Status::Finalized;
        n.role = Role::Plain;
        Ok(true)
    }

    /// The disjunction of literals that the only conjunct is.
    fn plain_disjunction(&mut self, arc: NodeId) -> R<Option<ValId>> {
        let n = &self.nodes[arc];
        let [c] = &*n.conjuncts else {
            return Ok(None);
        };
        let c = *c;
        if c.ci.cyclic > Cyclic::Optional || c.ci.from_def && !n.closed_recursive {
            return Ok(None);
        }
        let X::Expr(expr) = self.elem(c.x) else {
            return Ok(None);
        };
        let Expr::Disjunction {
            values,
            has_defaults,
        } = &self.ir.exprs[expr]
        else {
            return Ok(None);
        };
        let disjuncts: SmallVec<[EnvDisjunct; 4]> = values
            .iter()
            .map(|d| EnvDisjunct {
                x: X::Expr(d.expr),
                mode: mode(*has_defaults, d.default),
                err: None,
            })
            .collect();
        let env = c.env.unwrap_or(self.no_env);
        let results = self.literal_results(arc, env, &disjuncts)?;
        Ok(results.map(|(id, _)| id))
    }

    /// The scalar among the conjuncts, if there is one and the others admit it.
    fn plain_scalar(&mut self, arc: NodeId) -> R<Option<ValId>> {
        let mut scalar = None;
        for c in &self.nodes[arc].conjuncts {
            if c.ci.cyclic > Cyclic::Optional {
                return Ok(None);
            }
            if scalar.is_none()
                && let X::Val(id) = self.literal_of(c.x)
                && self.is_scalar(id)
            {
                scalar = Some(id);
            }
        }
        let Some(scalar) = scalar else {
            return Ok(None);
        };
        let mut i = 0;
        while let Some(&Conjunct { x, .. }) = self.nodes[arc].conjuncts.get(i) {
            i += 1;
            let fits = match self.literal_of(x) {
                X::Val(id) => id == scalar || self.fits(scalar, id),
                X::Expr(expr) => self.fits_expr(scalar, expr)?,
                _ => false,
            };
            if !fits {
                return Ok(None);
            }
        }
        Ok(Some(scalar))
    }

    /// What a conjunct says, as a value where it is one.
    fn literal_of(&self, x: X) -> X {
        match self.elem(x) {
            X::Expr(expr) => match self.ir.exprs[expr] {
                Expr::Value(id) => X::Val(id),
                _ => X::Expr(expr),
            },
            x => x,
        }
    }

    /// Whether a constant expression, or some disjunct of a disjunction of them, admits the scalar.
    fn fits_expr(&mut self, scalar: ValId, expr: ExprId) -> R<bool> {
        let mut any = false;
        let mut i = 0;
        while let Expr::Disjunction { values, .. } = &self.ir.exprs[expr] {
            let Some(disjunct) = values.get(i) else {
                return Ok(any);
            };
            i += 1;
            match self.plain_constant(disjunct.expr)? {
                Some(id) => any = any || self.fits(scalar, id),
                None => return Ok(false),
            }
        }
        let constant = self.plain_constant(expr)?;
        Ok(constant.is_some_and(|id| self.fits(scalar, id)))
    }

    fn plain_constant(&mut self, expr: ExprId) -> R<Option<ValId>> {
        match self.ir.exprs[expr] {
            Expr::Value(id) => Ok(Some(id)),
            _ if self.is_constant(expr, 16) => self.constant(expr),
            _ => Ok(None),
        }
    }

    /// Whether a scalar certainly satisfies a value.
    fn fits(&self, scalar: ValId, id: ValId) -> bool {
        let kind = self.lit_kind(scalar);
        match self.value(id) {
            Value::Top => true,
            Value::Type(wanted) => wanted.has(kind),
            Value::Bound { op, value } => self.fits_bound(scalar, *op, *value),
            Value::Conjunction(parts) => parts.iter().all(|&part| match part {
                Val::Lit(part) => self.fits(scalar, part),
                Val::Node(_) => false,
            }),
            _ => self.lit_kind(id) == kind && self.scalars_equal(scalar, id),
        }
    }

    fn fits_bound(&self, scalar: ValId, op: Op, limit: Val) -> bool {
        let Val::Lit(limit) = limit else { return false };
        match (self.value(scalar), self.value(limit)) {
            (Value::Num(a), Value::Num(b)) => holds(op, a.compare(b)),
            (Value::String(text), Value::String(limit)) => match op {
                Op::Match | Op::NotMatch => {
                    let found = self.regex_matched(limit, text.as_bytes());
                    found == Some(op == Op::Match)
                }
                _ => holds(op, text.as_bytes().cmp(limit.as_bytes())),
            },
            _ => false,
        }
    }

    /// The closedness evidence of a plain field.
    pub(super) fn plain_evidence(&self, arc: NodeId) -> SmallVec<[Evidence; 4]> {
        let conjuncts = self.nodes[arc].conjuncts.iter();
        conjuncts
            .map(|c| Evidence {
                id: c.ci.def,
                embed: c.ci.embed,
                kind: Kind::TOP,
                flags: 0,
            })
            .collect()
    }
}
