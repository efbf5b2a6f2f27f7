//! Checking a finished value: is anything wrong, and is everything concrete.

use base::Span;
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::context::{Ctx, R};
use super::ids::{ErrId, NodeId, ValId};
use super::node::{ArcType, Base};
use super::value::{Arg, Code, Val, Value};

/// What to ask of a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Regular fields must be concrete.
    pub concrete: bool,
    /// Required fields must be present.
    pub is_final: bool,
    pub disallow_cycles: bool,
    pub report_incomplete: bool,
    pub all_errors: bool,
}

struct Run {
    config: Config,
    err: Option<ValId>,
    in_definition: u32,
    /// A function was met.
    function: bool,
    shared: Vec<Span>,
    visited: HashSet<NodeId, FxBuildHasher>,
}

impl Ctx {
    /// The errors of a value under a configuration.
    pub fn validate(&mut self, node: NodeId, config: Config) -> R<Option<ValId>> {
        let mut run = Run {
            config,
            err: None,
            in_definition: 0,
            function: false,
            shared: Vec::new(),
            visited: HashSet::default(),
        };
        self.validate_node(&mut run, node)?;
        if config.concrete && run.err.is_none() && !run.function {
            self.without_functions = Some(node);
        }
        Ok(run.err)
    }

    /// As [`Ctx::validate`], stopping at the first error.
    pub fn validate_first(
        &mut self,
        node: NodeId,
        concrete: bool,
        is_final: bool,
        report_incomplete: bool,
    ) -> R<Option<ValId>> {
        self.validate(
            node,
            Config {
                concrete,
                is_final,
                report_incomplete,
                ..Config::default()
            },
        )
    }

    fn add_found(&mut self, run: &mut Run, bottom: ValId) {
        let child = self.bottom(bottom).is_some_and(|b| b.child_error);
        if !run.config.all_errors || !child {
            run.err = self.combine(run.err, Some(bottom));
        }
    }

    fn validate_node(&mut self, run: &mut Run, x: NodeId) -> R<()> {
        self.enter()?;
        let saved = self.push_node(x);
        self.alt_path.push(x);
        let shared = run.shared.len();
        let result = self.validate_inner(run, x);
        run.shared.truncate(shared);
        self.alt_path.pop();
        self.node = saved;
        self.leave();
        result
    }

    fn validate_inner(&mut self, run: &mut Run, orig: NodeId) -> R<()> {
        if self.nodes[orig].is_shared {
            let span = self.nodes[orig].conjuncts.first().map(|c| c.x);
            run.shared.extend(span.and_then(|x| self.elem_span(x)));
        }
        let mut x = self.deref_value(orig);
        if x != orig && (run.in_definition > 0 || !run.visited.insert(x)) {
            return Ok(());
        }
        let config = run.config;
        let concrete = config.concrete && run.in_definition == 0;
        let is_final = (config.concrete || config.is_final) && run.in_definition == 0;
        if let Some(bottom) = self.node_bottom(x) {
            let report = match self.code(bottom) {
                Code::Cycle => is_final || config.disallow_cycles,
                Code::Incomplete => config.report_incomplete || concrete,
                _ => true,
            };
            if report {
                self.add_found(run, bottom);
            }
            if !self.bottom(bottom).is_some_and(|b| b.has_recursive) {
                return Ok(());
            }
        } else if concrete {
            x = self.settled_node(x);
            if let Base::Val(id) = self.nodes[x].base
                && matches!(self.value(id), Value::Builtin(_))
            {
                run.function = true;
            }
            if !self.node_is_concrete(x) {
                let value = self.node_value(x).unwrap_or(Val::Lit(self.top));
                let err = self.error("incomplete value %", &[Arg::Val(value)]);
                self.errors[err].pos = None;
                for c in &self.nodes[x].conjuncts.clone() {
                    let span = self.elem_span(c.x);
                    self.add_span(err, span);
                }
                for &span in &run.shared {
                    self.add_span(err, Some(span));
                }
                let bottom = self.new_bottom_on(Code::Incomplete, err, None);
                self.add_found(run, bottom);
            }
        }
        let mut i = 0;
        while let Some(arc) = self.nodes[x].arcs.get(i) {
            i += 1;
            let a = &self.nodes[arc];
            let (label, arc_type) = (a.label, a.arc_type);
            if arc_type == ArcType::Required && config.is_final && run.in_definition == 0 {
                self.alt_path.push(arc);
                let shared = run.shared.clone();
                let bottom = self.missing_required(arc, &shared);
                self.add_found(run, bottom);
                self.alt_path.pop();
                continue;
            }
            if label.is_let() || arc_type != ArcType::Member {
                continue;
            }
            if !config.all_errors && run.err.is_some() {
                break;
            }
            if label.is_regular() {
                self.validate_node(run, arc)?;
            } else {
                run.in_definition += 1;
                let result = self.validate_node(run, arc);
                run.in_definition -= 1;
                result?;
            }
        }
        Ok(())
    }

    /// The messages of a disjunction none of whose disjuncts is left.
    pub fn disjunct_errors(&mut self, node: NodeId) -> SmallVec<[ErrId; 1]> {
        let disjunct_errs = self.w(node).disjunct_errs.clone();
        let user_errs = self.w(node).user_errs.clone();
        let mut chosen = self.select_errors(&disjunct_errs);
        let mut elsewhere = None;
        if !user_errs.is_empty() {
            elsewhere = chosen.first().copied();
            chosen = self.select_errors(&user_errs);
        }
        if chosen.is_empty() {
            return smallvec::smallvec![self.error("empty disjunction", &[])];
        }
        let chosen = self.sorted_errors(&chosen);
        let others = elsewhere.map_or(Vec::new(), |e| self.errors[e].others.clone());
        if let [one] = chosen.as_slice() {
            for span in others {
                self.add_span(*one, Some(span));
            }
            return chosen.into();
        }
        let count = i64::try_from(chosen.len()).unwrap_or(i64::MAX);
        let head = self.error("% errors in empty disjunction:", &[Arg::Int(count)]);
        for span in others {
            self.add_span(head, Some(span));
        }
        let mut all: SmallVec<[ErrId; 1]> = smallvec::smallvec![head];
        all.extend(chosen);
        all
    }

    /// Errors that say something new: one for each place.
    fn select_errors(&self, bottoms: &[ValId]) -> Vec<ErrId> {
        let mut out: Vec<ErrId> = Vec::new();
        let mut add = |errors: &[ErrId]| {
            for &e in errors {
                if !out.contains(&e) {
                    out.push(e);
                }
            }
        };
        let errors = |b: ValId| self.bottom(b).map_or(&[][..], |b| &b.errors);
        if bottoms.len() <= 2 {
            for &b in bottoms {
                add(errors(b));
            }
            return out;
        }
        let first_incomplete = bottoms.iter().position(|&b| self.is_incomplete(b));
        let rest = bottoms.get(first_incomplete.unwrap_or(0)..).unwrap_or(&[]);
        let mut seen: Vec<Option<Span>> = Vec::new();
        for &b in rest {
            let list = errors(b);
            let Some(&first) = list.first() else { continue };
            let e = &self.errors[first];
            let pos = self.error_position(first);
            let mut new = !seen.contains(&pos);
            if new {
                seen.push(pos);
            } else {
                for &span in &e.others {
                    if !seen.contains(&Some(span)) {
                        seen.push(Some(span));
                        new = true;
                        break;
                    }
                }
            }
            if new {
                add(list);
            }
        }
        out
    }

    /// Where an error is: its own place or that of what it wraps.
    pub fn error_position(&self, err: ErrId) -> Option<Span> {
        let e = &self.errors[err];
        e.pos
            .or_else(|| e.wraps.and_then(|inner| self.error_position(inner)))
    }
}
