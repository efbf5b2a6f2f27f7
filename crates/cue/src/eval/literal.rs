//! Disjunctions of literals on a vertex of which nothing else is known: `*"v" | string`, the usual way to give a default.
//!
//! Every disjunct is a result as it stands, so no copy of the vertex is made and evaluated for each. The result is the
//! same as that of `disjunct`, which does the rest: disjuncts that are not literals, and vertices that know more.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::context::{Ctx, R};
use super::equal::STRUCTURAL;
use super::ids::{EnvId, ExprId, NodeId, ValId};
use super::ir::{Expr, Op};
use super::kind::Kind;
use super::label::Label;
use super::node::{Base, Conjunct, Node, Status, X};
use super::sched::{ANCESTORS, ARC_TYPE, SCALAR, SUBFIELDS};
use super::value::{Disjunction, Val, Value};
use super::work::{EnvDisjunct, EnvDisjunction, Mode};

/// Up to this many disjuncts are compared one by one.
const FEW: usize = 8;

/// Values, their modes, and whether they are the same wherever the disjunction stands.
type Literals = SmallVec<[(ValId, Mode, bool); 4]>;

impl Ctx {
    /// Settles a vertex whose only conjunct is a disjunction of literals; false if it is not such a vertex.
    pub(super) fn literal_disjunction(&mut self, node: NodeId, d: &EnvDisjunction) -> R<bool> {
        if !self.knows_nothing(node) {
            return Ok(false);
        }
        let env = d.env.unwrap_or(self.no_env);
        let Some((id, default)) = self.literal_results(node, env, &d.disjuncts)? else {
            return Ok(false);
        };
        self.w(node).literals = Some(id);
        if let Some(default) = default {
            let mut known = ANCESTORS | ARC_TYPE | SUBFIELDS;
            if self.is_scalar(default) {
                known |= SCALAR;
            }
            self.signal(node, known)?;
        }
        Ok(true)
    }

    /// The disjunction of literals that a vertex is, and its only default; `None` if the disjuncts are not such.
    pub(super) fn literal_results(
        &mut self,
        node: NodeId,
        env: EnvId,
        disjuncts: &[EnvDisjunct],
    ) -> R<Option<(ValId, Option<ValId>)>> {
        let many = disjuncts.len() > FEW;
        let mut prints: HashMap<u64, SmallVec<[usize; 4]>, FxBuildHasher> = HashMap::default();
        let mut found = Literals::new();
        let mut decided = false;
        for disjunct in disjuncts {
            let literal = match self.referred(
                env,
                (disjunct.x, disjunct.mode),
                found.is_empty(),
                &mut decided,
            ) {
                Some(parts) => parts,
                None => match self.literal_disjunct(env, disjunct.x)? {
                    Some((id, shared)) => smallvec::smallvec![(id, disjunct.mode, shared)],
                    None => return Ok(None),
                },
            };
            for (id, mode, shared) in literal {
                let print = many.then(|| self.literal_print(id));
                let alike: SmallVec<[usize; 4]> = match print {
                    Some(print) => prints.get(&print).cloned().unwrap_or_default(),
                    None => (0..found.len()).collect(),
                };
                let mut known = false;
                for at in alike {
                    let Some((other, before, _)) = found.get_mut(at) else {
                        continue;
                    };
                    if self.equal(Val::Lit(*other), Val::Lit(id), STRUCTURAL)? {
                        if mode == Mode::Default {
                            *before = Mode::Default;
                        }
                        known = true;
                        break;
                    }
                }
                if !known {
                    if let Some(print) = print {
                        prints.entry(print).or_default().push(found.len());
                    }
                    found.push((id, mode, shared));
                }
            }
        }
        for (_, mode, _) in &mut found {
            if decided && *mode == Mode::Maybe {
                *mode = Mode::Not;
            }
        }
        if found.len() < 2 {
            return Ok(None);
        }
        let mut values: Vec<Val> = Vec::with_capacity(found.len());
        let (mut defaults, mut has_defaults) = (0, false);
        let mut only = None;
        for &(id, mode, shared) in &found {
            let at = values.len();
            values.push(Val::Node(self.literal_node(node, id, shared)));
            has_defaults |= mode != Mode::Maybe;
            if mode == Mode::Default {
                values.swap(at, defaults);
                defaults += 1;
                only = Some(id);
            }
        }
        let disjunction = Value::Disjunction(Box::new(Disjunction {
            values,
            defaults,
            has_defaults,
        }));
        let id = self.new_value_at(disjunction, None);
        Ok(Some((id, only.filter(|_| defaults == 1))))
    }

    /// The literals that a disjunct refers to, where it is a reference to a finished vertex: a disjunction of them
    /// becomes part of this one, with its own defaults.
    fn referred(
        &self,
        env: EnvId,
        (x, mode): (X, Mode),
        first: bool,
        decided: &mut bool,
    ) -> Option<Literals> {
        let X::Expr(expr) = self.elem(x) else {
            return None;
        };
        let node = self.settled_target(env, expr)?;
        let Base::Val(id) = self.nodes[node].base else {
            return None;
        };
        let Some(d) = self.disjunction(id) else {
            let scalar = self.is_scalar(id);
            return scalar.then(|| smallvec::smallvec![(id, mode, false)]);
        };
        // Its defaults come first: in the midst of others that would not be its order.
        if d.defaults > 0 && !first {
            return None;
        }
        let mut parts = Literals::new();
        for (i, &value) in d.values.iter().enumerate() {
            let Val::Node(part) = value else { return None };
            let Base::Val(id) = self.nodes[part].base else {
                return None;
            };
            if !self.is_literal(id) {
                return None;
            }
            let own = super::conjunct::mode(d.has_defaults, i < d.defaults);
            parts.push((id, mode.max(own), false));
        }
        *decided |= parts.iter().any(|&(_, mode, _)| mode != Mode::Maybe);
        Some(parts)
    }

    /// A literal as a result for a vertex. Where many vertices have the same disjunction, they have its results together.
    fn literal_node(&mut self, node: NodeId, id: ValId, shared: bool) -> NodeId {
        let n = &self.nodes[node];
        let mut value = Node::new(None, Label::NONE, n.arc_type);
        value.status = Status::Finalized;
        value.base = Base::Val(id);
        value.role = n.role;
        value.closed_recursive = n.closed_recursive;
        value.closed_once = n.closed_once;
        value.has_ellipsis = n.has_ellipsis;
        value.multi_let = n.multi_let;
        value.is_dynamic = n.is_dynamic;
        value.non_rooted = n.non_rooted;
        value.anonymous = n.anonymous;
        value.is_disjunct = true;
        let flags = [
            n.closed_recursive,
            n.closed_once,
            n.has_ellipsis,
            n.multi_let,
            n.is_dynamic,
            n.non_rooted,
            n.anonymous,
        ];
        let mut key = n.arc_type as u16 | (n.role as u16) << 4;
        for (flag, bit) in flags.into_iter().zip(8..) {
            key |= u16::from(flag) << bit;
        }
        // Who lays layers over one another asks where each value stands.
        if self.late.is_some() || !shared {
            value.parent = n.parent;
            value.label = n.label;
            return self.nodes.push(value);
        }
        if let Some(&known) = self.literal_nodes.get(&(id, key)) {
            return known;
        }
        let made = self.nodes.push(value);
        self.literal_nodes.insert((id, key), made);
        made
    }

    /// Nothing but one disjunction is there, and the vertex is not part of a disjunct itself.
    fn knows_nothing(&self, node: NodeId) -> bool {
        let n = &self.nodes[node];
        let Some(w) = &n.work else { return false };
        n.arcs.is_empty()
            && n.arcs.structs.is_empty()
            && n.arcs.patterns.is_empty()
            && w.kind == Kind::TOP
            && !w.has_top
            && !w.is_shared
            && w.mode == Mode::Maybe
            && w.scalar.is_none()
            && w.lower.is_none()
            && w.upper.is_none()
            && w.errs.is_none()
            && w.checks.is_empty()
            && w.cyclic.is_empty()
            && w.disjuncts.is_empty()
            && w.literals.is_none()
            && w.default_in_cycle.is_none()
            && w.try_skip.is_none()
            && w.sched.tasks.len() == 1
            && w.sched.blocking.is_empty()
            && w.sched.parent_tasks.is_empty()
    }

    /// The value a disjunct is, if that can be told without regard to the vertex, and whether it is the same everywhere.
    fn literal_disjunct(&mut self, env: EnvId, x: X) -> R<Option<(ValId, bool)>> {
        let expr = match self.elem(x) {
            X::Val(id) => return Ok(self.is_literal(id).then_some((id, true))),
            X::Expr(expr) => expr,
            _ => return Ok(None),
        };
        if self.is_constant(expr, 16) {
            return Ok(self.constant(expr)?.map(|id| (id, true)));
        }
        match self.ir.exprs[expr] {
            Expr::Interpolation { .. } | Expr::Unary { .. } | Expr::Binary { .. } => {}
            _ => return Ok(None),
        }
        let Some(value) = self.settled_value(env, expr) else {
            return Ok(None);
        };
        let (value, span) = (value.into_owned(), self.ir.span(expr));
        Ok(Some((self.new_value_at(value, span), false)))
    }

    fn is_literal(&self, id: ValId) -> bool {
        self.is_scalar(id) || matches!(self.value(id), Value::Type(_))
    }

    /// Whether an expression consists of literals, bounds and `&` alone: `int & >=0 & <=100`.
    pub(super) fn is_constant(&self, expr: ExprId, depth: u32) -> bool {
        match self.ir.exprs[expr] {
            Expr::Value(id) => self.is_literal(id),
            Expr::Bound { x, .. } => match self.ir.exprs[x] {
                Expr::Value(id) => self.is_scalar(id),
                _ => false,
            },
            Expr::Binary { op: Op::And, x, y } => {
                depth > 0 && self.is_constant(x, depth - 1) && self.is_constant(y, depth - 1)
            }
            _ => false,
        }
    }

    /// The value of a constant expression. It is computed once.
    pub(super) fn constant(&mut self, expr: ExprId) -> R<Option<ValId>> {
        if let Some(&known) = self.constants.get(&expr) {
            return Ok(known);
        }
        // Whoever asks while it is being computed computes it himself.
        self.constants.insert(expr, None);
        let c = Conjunct {
            env: Some(self.no_env),
            x: X::Expr(expr),
            ci: Default::default(),
        };
        let node = self.inline_node(Base::None, &[c]);
        self.finalize(node)?;
        let value = match self.nodes[node].base {
            Base::Val(id) if self.bottom(id).is_none() => Some(id),
            _ => None,
        };
        self.constants.insert(expr, value);
        Ok(value)
    }
}
