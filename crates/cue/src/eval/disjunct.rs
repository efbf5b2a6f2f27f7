//! Disjunctions.
//!
//! All disjunctions of a vertex are multiplied out, one after the other, each result being a copy of the
//! vertex with one disjunct added. A copy that has an error is dropped, equal copies are merged. While
//! a copy is evaluated, frames that name the original vertex or one below it are looked up through
//! an overlay that maps originals to copies, so no frame has to be rewritten.

use smallvec::SmallVec;

use super::context::{Ctx, OverlayFrame, R};
use super::dedup::Distinct;
use super::ids::{NodeId, ValId};
use super::node::{ArcType, Base, Conjunct, Status, X};
use super::sched::ALL;
use super::value::{Bottom, Code, Disjunction, Val, Value};
use super::work::{EnvDisjunction, Mode, Run};

/// Fewer results than this are never too many.
const MANY_RESULTS: usize = 1024;

fn combine(a: Mode, b: Mode, drop_a: bool, drop_b: bool) -> Mode {
    let a = if drop_a { Mode::Maybe } else { a };
    let b = if drop_b { Mode::Maybe } else { b };
    a.max(b)
}

impl Ctx {
    pub(super) fn init_arcs(&mut self, node: NodeId) -> R<bool> {
        let mut i = 0;
        while let Some(arc) = self.nodes[node].arcs.get(i) {
            i += 1;
            if self.state(arc)? && self.w(arc).errs.is_some() {
                if self.nodes[arc].arc_type == ArcType::Member {
                    return Ok(false);
                }
            } else if !self.init_arcs(arc)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A comprehension was put off until the enclosing disjunct is decided.
    pub(super) fn has_deferred_comprehension(&self, node: NodeId) -> bool {
        let mut at = Some(node);
        while let Some(n) = at {
            if self.nodes[n].is_disjunct {
                return self.work(n).is_some_and(|w| {
                    w.sched
                        .tasks
                        .iter()
                        .any(|&t| self.tasks[t].is_pushed_down())
                });
            }
            at = self.nodes[n].parent;
        }
        false
    }

    pub fn task_disjunctions(&mut self, node: NodeId) -> R<Option<ValId>> {
        let mut all = std::mem::take(&mut self.w(node).disjunctions);
        if !self.init_arcs(node)? {
            return Ok(self.error_of(node));
        }
        let mut outer = None;
        let mut at = Some(node);
        while let Some(n) = at {
            if self.nodes[n].is_disjunct {
                outer = match self.work(n) {
                    Some(w) => w.run_mode,
                    None => Some(Run::Finalize),
                };
                break;
            }
            at = self.nodes[n].parent;
        }
        if let [only] = &*all
            && (self.only_scalar(node, only)?
                || outer.is_none() && self.literal_disjunction(node, only)?)
        {
            return Ok(None);
        }
        let count = all.len();
        let mut cross = vec![node];
        for (i, d) in all.iter_mut().enumerate() {
            let last = i + 1 == count;
            let run = match outer {
                Some(_) if !last => Run::Attempt,
                Some(Run::Attempt) if self.has_deferred_comprehension(node) => Run::Finalize,
                Some(outer) => outer,
                None if last => Run::Finalize,
                None => Run::Attempt,
            };
            let results = self.cross_product(node, &cross, d, run)?;
            if results.is_empty() {
                return Ok(Some(self.collect_errors(node, d)));
            }
            cross = results;
        }
        match cross.as_slice() {
            [one] => {
                let one = *one;
                self.nodes[node].base = Base::Node(one);
                let mode = self.w(one).mode;
                let w = self.w(node);
                if w.mode == Mode::Maybe {
                    w.mode = mode;
                }
                if let Some(asker) = w.default_in_cycle
                    && w.mode != Mode::Default
                {
                    let path = self.path_text(&self.path(asker));
                    let err = self.error(
                        "ambiguous default elimination by referencing %",
                        &[super::value::Arg::Text(path)],
                    );
                    let mut spans = Vec::new();
                    self.collect_spans(X::Node(asker), &mut spans, 0);
                    for span in spans {
                        self.add_span(err, Some(span));
                    }
                    let bottom = self.new_bottom_on(Code::Cycle, err, None);
                    self.nodes[node].base = Base::Val(bottom);
                    return Ok(Some(bottom));
                }
            }
            _ => self.w(node).disjuncts.extend(cross.iter().copied()),
        }
        let disjuncts = self.w(node).disjuncts.clone();
        let mut completed = 0;
        let mut defaults = 0;
        if let [one] = &*disjuncts {
            completed = self.w(*one).sched.completed;
        }
        for &d in &disjuncts {
            if self.w(d).mode == Mode::Default {
                defaults += 1;
                completed = self.w(d).sched.completed;
            }
        }
        if defaults == 1 || disjuncts.len() == 1 {
            self.signal(node, completed)?;
        }
        Ok(None)
    }

    /// A known scalar against a disjunction of literals that leaves one of them: it is unified with that one, and no
    /// copy is made.
    fn only_scalar(&mut self, node: NodeId, d: &EnvDisjunction) -> R<bool> {
        let n = &self.nodes[node];
        let Some(w) = &n.work else { return Ok(false) };
        let plain = n.arcs.is_empty()
            && n.arcs.structs.is_empty()
            && n.arcs.patterns.is_empty()
            && w.scalar.is_some()
            && w.errs.is_none()
            && w.default_in_cycle.is_none()
            && self.overlays.is_empty();
        if !plain {
            return Ok(false);
        }
        let mut left = None;
        for &disjunct in &d.disjuncts {
            let c = Conjunct {
                env: d.env,
                x: disjunct.x,
                ci: d.ci,
            };
            let X::Val(id) = self.elem(c.x) else {
                return Ok(false);
            };
            if self.cannot_fit(node, c) {
                continue;
            }
            let is_type = matches!(self.value(id), Value::Type(_));
            if left.is_some() || !is_type && !self.is_scalar(id) {
                return Ok(false);
            }
            left = Some((c, disjunct.mode));
        }
        let Some((c, mode)) = left else {
            return Ok(false);
        };
        let w = self.w(node);
        if w.mode == Mode::Maybe {
            w.mode = combine(
                w.mode,
                mode,
                w.orig_mode != Mode::Default,
                mode != Mode::Default,
            );
        }
        self.schedule_conjunct(node, c, c.ci)?;
        Ok(true)
    }

    pub(super) fn cross_product(
        &mut self,
        node: NodeId,
        cross: &[NodeId],
        d: &mut EnvDisjunction,
        run: Run,
    ) -> R<Vec<NodeId>> {
        let depth = self.eval_depth;
        let saved = std::mem::replace(&mut self.w(node).eval_depth, depth);
        let mut tmp: Vec<NodeId> = Vec::new();
        let (mut left_drops, mut right_drops) = (true, true);
        let all = (0..cross.len()).flat_map(|at| (0..d.disjuncts.len()).map(move |i| (at, i)));
        let mut turns: Vec<(usize, usize)> = all.collect();
        // Those that cannot fit are passed over: what is wrong with them matters only if none is left.
        let mut passed: Vec<(usize, usize)> = Vec::new();
        let mut explain = false;
        let mut told: SmallVec<[usize; 4]> = smallvec::smallvec![0; d.disjuncts.len()];
        loop {
            let mut ready = None;
            for &(at, i) in &turns {
                let (Some(&p), Some(&disjunct)) = (cross.get(at), d.disjuncts.get(i)) else {
                    break;
                };
                if !explain && ready != Some(p) {
                    self.init_arcs(p)?;
                    ready = Some(p);
                }
                let c = Conjunct {
                    env: d.env,
                    x: disjunct.x,
                    ci: d.ci,
                };
                if !explain && self.cannot_fit(p, c) {
                    passed.push((at, i));
                    continue;
                }
                match self.do_disjunct(p, c, disjunct.mode, run, node)? {
                    Err(err) => {
                        if self.code(err) == Code::User {
                            self.w(node).user_errs.push(err);
                        }
                        if let (Some(slot), Some(told)) = (d.disjuncts.get_mut(i), told.get_mut(i))
                            && *told <= at
                        {
                            slot.err = Some(err);
                            *told = at;
                        }
                    }
                    Ok(r) => {
                        tmp.push(r);
                        self.bound_product(tmp.len(), cross.len(), r)?;
                        let w = self.w(p);
                        if w.mode == Mode::Default || w.orig_mode == Mode::Default {
                            left_drops = false;
                        }
                        if disjunct.mode == Mode::Default {
                            right_drops = false;
                        }
                    }
                }
            }
            if explain || !tmp.is_empty() || passed.is_empty() {
                break;
            }
            explain = true;
            turns = std::mem::take(&mut passed);
        }
        let mut out = Distinct::default();
        let mut decided = false;
        for r in tmp {
            let (mode, orig, subs) = {
                let w = self.w(r);
                (w.mode, w.orig_mode, w.disjuncts.clone())
            };
            if subs.is_empty() {
                self.w(r).mode = combine(mode, orig, left_drops, right_drops);
                self.append_disjunct(&mut out, r)?;
            } else {
                for x in subs {
                    let inner = orig.max(self.w(x).mode);
                    let both = combine(mode, inner, left_drops, false);
                    self.w(x).mode = both;
                    decided |= both != Mode::Maybe;
                    self.append_disjunct(&mut out, x)?;
                }
                // What it was multiplied to stands in its place.
                if run == Run::Finalize {
                    self.free_work(r);
                }
            }
        }
        let out = out.nodes;
        if decided {
            for &r in &out {
                let w = self.w(r);
                if w.mode == Mode::Maybe {
                    w.mode = Mode::Not;
                }
            }
        }
        if self.nodes[node].work.is_some() {
            self.w(node).eval_depth = saved;
        }
        Ok(out)
    }

    /// A product of disjunctions grows with every factor: it ends at a bound, by the number and the size of its results.
    fn bound_product(&mut self, results: usize, factor: usize, result: NodeId) -> R<()> {
        let size = results * (1 + self.nodes[result].arcs.len());
        if factor > 1 && results > MANY_RESULTS && size > self.limits.product {
            return Err(self.exceed(super::limits::Bound::Product));
        }
        Ok(())
    }

    pub(super) fn collect_errors(&mut self, node: NodeId, d: &EnvDisjunction) -> ValId {
        let mut code = Code::Eval;
        for err in d.disjuncts.iter().filter_map(|d| d.err) {
            if self.code(err) == Code::User {
                continue;
            }
            code = code.max(self.code(err));
            self.w(node).disjunct_errs.push(err);
        }
        let errors = self.disjunct_errors(node);
        self.new_value(Value::Bottom(Box::new(Bottom {
            code,
            errors,
            has_recursive: false,
            child_error: false,
            close_check: false,
            node: Some(node),
        })))
    }

    /// Evaluates a copy of `base` with one disjunct added.
    pub(super) fn do_disjunct(
        &mut self,
        base: NodeId,
        c: Conjunct,
        mode: Mode,
        run: Run,
        orig: NodeId,
    ) -> R<Result<NodeId, ValId>> {
        if let Some(err) = self.quick_reject(base, c) {
            return Ok(Err(err));
        }
        self.enter()?;
        self.w(base).sched.blocking.clear();
        let saved_blocking = std::mem::take(&mut self.blocking);
        let orig_base = self.nodes[orig].base;
        let outermost = !self.nodes[orig].is_disjunct;
        let copy = self.clone_root(base);
        if outermost {
            self.nodes[orig].base = Base::Node(copy);
        }
        let map = self.w(copy).overlay.clone().unwrap_or_default();
        self.overlays.push(OverlayFrame { map });
        self.w(copy).run_mode = Some(run);
        let base_value = std::mem::replace(&mut self.nodes[base].base, Base::Node(copy));
        self.nodes[copy].status = Status::Unprocessed;
        let before = self.w(base).mode;
        let result = (|| {
            self.schedule_conjunct(copy, c, c.ci)?;
            let w = self.w(copy);
            w.mode = before;
            w.orig_mode = mode;
            self.unify(copy, ALL, run, true)
        })();
        self.nodes[base].base = base_value;
        self.overlays.pop();
        if outermost {
            self.nodes[orig].base = orig_base;
        }
        self.blocking = saved_blocking;
        self.leave();
        result?;
        if let Some(err) = self.error_below(copy)?
            && err != self.cycle
        {
            self.discard(copy);
            return Ok(Err(err));
        }
        let found = self.deref_disjunct(copy);
        self.w(found).orig_mode = mode;
        Ok(Ok(found))
    }

    pub fn finalize_disjunctions(&mut self, node: NodeId) -> R<()> {
        if let Some(id) = self.w(node).literals {
            let defaults = self.disjunction(id).map_or(0, |d| d.defaults);
            self.set_disjunction(node, id, defaults);
            return Ok(());
        }
        let disjuncts = self.w(node).disjuncts.clone();
        if disjuncts.is_empty() {
            return Ok(());
        }
        let mut failed = 0;
        for &x in &disjuncts {
            self.nodes[x].conjuncts.clear();
            if let Some(err) = self.w(x).errs {
                if self.code(err) == Code::User {
                    self.w(node).user_errs.push(err);
                } else {
                    self.w(node).disjunct_errs.push(err);
                }
                failed += 1;
            }
        }
        if failed == disjuncts.len() {
            let code = self
                .w(node)
                .disjunct_errs
                .clone()
                .iter()
                .map(|&e| self.code(e))
                .max()
                .unwrap_or(Code::Incomplete);
            let errors = self.disjunct_errors(node);
            let bottom = self.new_value(Value::Bottom(Box::new(Bottom {
                code,
                errors,
                has_recursive: false,
                child_error: false,
                close_check: false,
                node: Some(node),
            })));
            self.set_bottom(node, bottom);
            return Ok(());
        }
        let mut has_defaults = false;
        let mut values: Vec<Val> = disjuncts.iter().map(|&x| Val::Node(x)).collect();
        let mut defaults = 0;
        for (i, &x) in disjuncts.iter().enumerate() {
            match self.w(x).mode {
                Mode::Default => {
                    has_defaults = true;
                    values.swap(i, defaults);
                    defaults += 1;
                }
                Mode::Not => has_defaults = true,
                Mode::Maybe => {}
            }
        }
        let disjunction = Value::Disjunction(Box::new(Disjunction {
            values,
            defaults,
            has_defaults,
        }));
        let id = self.new_value_at(disjunction, None);
        self.set_disjunction(node, id, defaults);
        Ok(())
    }

    /// Makes a disjunction the value of a vertex.
    fn set_disjunction(&mut self, node: NodeId, id: ValId, defaults: usize) {
        let base = match self.w(node).default_in_cycle {
            Some(asker) if defaults != 1 => {
                let path = self.path_text(&self.path(asker));
                let err = self.error(
                    "cycle across unresolved disjunction referenced by %",
                    &[super::value::Arg::Text(path)],
                );
                let mut spans = Vec::new();
                self.collect_spans(X::Node(asker), &mut spans, 0);
                for span in spans {
                    self.add_span(err, Some(span));
                }
                Base::Val(self.new_bottom_on(Code::Cycle, err, None))
            }
            _ => Base::Val(id),
        };
        self.nodes[node].base = base;
        self.nodes[node].arcs.clear();
        self.nodes[node].child_errors = None;
    }

    /// The error of a vertex or of a field that is present.
    pub(super) fn error_below(&mut self, node: NodeId) -> R<Option<ValId>> {
        if let Some(err) = self.error_of(node) {
            return Ok(Some(err));
        }
        let mut i = 0;
        while let Some(arc) = self.nodes[node].arcs.get(i) {
            i += 1;
            let a = &self.nodes[arc];
            if a.arc_type > ArcType::Required || a.label.is_let() {
                return Ok(None);
            }
            if self.state(arc)?
                && let Some(err) = self.error_below(arc)?
            {
                return Ok(Some(err));
            }
        }
        Ok(None)
    }

    pub(super) fn error_of(&mut self, node: NodeId) -> Option<ValId> {
        if let Some(bottom) = self.node_bottom(node)
            && bottom != self.cycle
        {
            return Some(bottom);
        }
        self.nodes[node]
            .child_errors
            .or_else(|| self.work(node).and_then(|w| w.errs))
            .or(self.errs)
    }
}
