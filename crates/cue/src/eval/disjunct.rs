//! Disjunctions.
//!
//! All disjunctions of a vertex are multiplied out, one after the other, each result being a copy of the
//! vertex with one disjunct added. A copy that has an error is dropped, equal copies are merged. While
//! a copy is evaluated, frames that name the original vertex or one below it are looked up through
//! an overlay that maps originals to copies, so no frame has to be rewritten.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::context::{Ctx, OverlayFrame, R};
use super::equal::STRUCTURAL;
use super::ids::{NodeId, TaskId, ValId};
use super::node::{ArcType, Base, Conjunct, Node, PatternPair, Status, X};
use super::sched::ALL;
use super::value::{Bottom, Code, Disjunction, Val, Value};
use super::work::{EnvDisjunction, Mode, Run, TaskKind, TaskState};

type Map = HashMap<NodeId, NodeId, FxBuildHasher>;

fn combine(a: Mode, b: Mode, drop_a: bool, drop_b: bool) -> Mode {
    let a = if drop_a { Mode::Maybe } else { a };
    let b = if drop_b { Mode::Maybe } else { b };
    a.max(b)
}

impl Ctx {
    fn init_arcs(&mut self, node: NodeId) -> R<bool> {
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
    fn has_deferred_comprehension(&self, node: NodeId) -> bool {
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
        let count = all.len();
        let mut cross = vec![node];
        for (i, d) in all.iter_mut().enumerate() {
            let last = i + 1 == count;
            let run = match outer {
                Some(outer) if !last => {
                    let _ = outer;
                    Run::Attempt
                }
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
            _ => self.w(node).disjuncts.extend_from_slice(&cross),
        }
        let disjuncts = self.w(node).disjuncts.clone();
        let mut completed = 0;
        let mut defaults = 0;
        if let [one] = disjuncts.as_slice() {
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

    fn cross_product(
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
        for &p in cross {
            self.init_arcs(p)?;
            for i in 0..d.disjuncts.len() {
                let Some(&disjunct) = d.disjuncts.get(i) else {
                    break;
                };
                let c = Conjunct {
                    env: d.env,
                    x: disjunct.x,
                    ci: d.ci,
                };
                match self.do_disjunct(p, c, disjunct.mode, run, node)? {
                    Err(err) => {
                        if self.code(err) == Code::User {
                            self.w(node).user_errs.push(err);
                        }
                        if let Some(slot) = d.disjuncts.get_mut(i) {
                            slot.err = Some(err);
                        }
                    }
                    Ok(r) => {
                        tmp.push(r);
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
        }
        let mut out: Vec<NodeId> = Vec::new();
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
            }
        }
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

    fn collect_errors(&mut self, node: NodeId, d: &EnvDisjunction) -> ValId {
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
    fn do_disjunct(
        &mut self,
        base: NodeId,
        c: Conjunct,
        mode: Mode,
        run: Run,
        orig: NodeId,
    ) -> R<Result<NodeId, ValId>> {
        if let Some(err) = self.quick_reject(base, c)? {
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
            return Ok(Err(err));
        }
        let found = self.deref_disjunct(copy);
        self.w(found).orig_mode = mode;
        Ok(Ok(found))
    }

    /// A cheap look whether the disjunct can fit at all: a scalar against a known scalar or kind.
    fn quick_reject(&mut self, _base: NodeId, _c: Conjunct) -> R<Option<ValId>> {
        Ok(None)
    }

    pub fn finalize_disjunctions(&mut self, node: NodeId) -> R<()> {
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
        let asker = self.w(node).default_in_cycle;
        let base = match asker {
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
            _ => Base::Val(self.new_value_at(
                Value::Disjunction(Box::new(Disjunction {
                    values,
                    defaults,
                    has_defaults,
                })),
                None,
            )),
        };
        self.nodes[node].base = base;
        self.nodes[node].arcs.clear();
        self.nodes[node].child_errors = None;
        Ok(())
    }

    /// The error of a vertex or of a field that is present.
    fn error_below(&mut self, node: NodeId) -> R<Option<ValId>> {
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

    fn error_of(&mut self, node: NodeId) -> Option<ValId> {
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

    fn append_disjunct(&mut self, out: &mut Vec<NodeId>, x: NodeId) -> R<()> {
        if out.contains(&x) {
            return Ok(());
        }
        let nv = self.deref_value(x);
        for i in 0..out.len() {
            let Some(&other) = out.get(i) else { break };
            let ov = self.deref_value(other);
            let final_both = self.nodes[nv].status == Status::Finalized
                && self.nodes[ov].status == Status::Finalized;
            let same = if final_both {
                self.equal(Val::Node(ov), Val::Node(nv), STRUCTURAL)?
            } else {
                self.equal_partial(x, other)? && self.equal_bases(x, nv, other, ov)?
            };
            if !same {
                continue;
            }
            if self.w(x).mode == Mode::Default {
                self.w(other).mode = Mode::Default;
            }
            self.merge_evidence(other, x);
            return Ok(());
        }
        out.push(x);
        Ok(())
    }

    fn equal_bases(&mut self, x: NodeId, nv: NodeId, y: NodeId, ov: NodeId) -> R<bool> {
        let value = |ctx: &mut Ctx, node: NodeId, v: NodeId| {
            let base = ctx.nodes[v].base;
            let base = if base == Base::None || ctx.is_cycle_base(base) {
                ctx.constraints_value(node)
            } else {
                base
            };
            match base {
                Base::Val(id) => Some(id),
                _ => None,
            }
        };
        let (a, b) = (value(self, x, nv), value(self, y, ov));
        match (a, b) {
            (Some(a), Some(b)) => self.equal(Val::Lit(a), Val::Lit(b), STRUCTURAL),
            _ => Ok(true),
        }
    }

    /// Equality of vertices that are not finished: what is known and what is still to do.
    fn equal_partial(&mut self, x: NodeId, y: NodeId) -> R<bool> {
        match (self.work(x).is_some(), self.work(y).is_some()) {
            (false, false) => return self.equal(Val::Node(x), Val::Node(y), STRUCTURAL),
            (true, true) => {}
            _ => return Ok(false),
        }
        if !self.equal_work(x, y)? {
            return Ok(false);
        }
        let (px, py) = (
            self.nodes[x].patterns.clone(),
            self.nodes[y].patterns.clone(),
        );
        if px.len() != py.len() {
            return Ok(false);
        }
        for (a, b) in px.iter().zip(&py) {
            self.finalize(a.constraint)?;
            self.finalize(b.constraint)?;
            if !self.equal(Val::Node(a.constraint), Val::Node(b.constraint), STRUCTURAL)? {
                return Ok(false);
            }
        }
        if self.nodes[x].arcs.len() != self.nodes[y].arcs.len() {
            return Ok(false);
        }
        let arcs = self.nodes[x].arcs.list.clone();
        for a in arcs {
            let Some(b) = self.find_arc(y, self.nodes[a].label) else {
                return Ok(false);
            };
            if !self.equal_partial(a, b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn equal_work(&mut self, x: NodeId, y: NodeId) -> R<bool> {
        let tasks = |ctx: &mut Ctx, node: NodeId| {
            let tasks = ctx.w(node).sched.tasks.clone();
            let all: Vec<Option<X>> = tasks.iter().map(|&t| ctx.tasks[t].x).collect();
            let ready: Vec<Option<X>> = tasks
                .iter()
                .filter(|&&t| ctx.tasks[t].state == TaskState::Ready)
                .map(|&t| ctx.tasks[t].x)
                .collect();
            (all, ready)
        };
        let ((ax, rx), (ay, ry)) = (tasks(self, x), tasks(self, y));
        if !rx.iter().all(|t| ay.contains(t)) || !ry.iter().all(|t| ax.contains(t)) {
            return Ok(false);
        }
        let (a, b) = (self.w(x).clone_facts(), self.w(y).clone_facts());
        if a.kind != b.kind || a.has_top != b.has_top || a.checks.len() != b.checks.len() {
            return Ok(false);
        }
        for (p, q) in [(a.scalar, b.scalar), (a.lower, b.lower), (a.upper, b.upper)] {
            let same = match (p, q) {
                (None, None) => true,
                (Some(p), Some(q)) => self.equal(Val::Lit(p), Val::Lit(q), STRUCTURAL)?,
                _ => false,
            };
            if !same {
                return Ok(false);
            }
        }
        for (p, q) in a.checks.iter().zip(&b.checks) {
            if let (X::Val(p), X::Val(q)) = (p.x, q.x)
                && !self.equal(Val::Lit(p), Val::Lit(q), STRUCTURAL)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    // --- copies ---

    fn clone_root(&mut self, root: NodeId) -> NodeId {
        let mut map: Map = match &self.w(root).overlay {
            Some(map) => (**map).clone(),
            None => Map::default(),
        };
        let mut fresh = Vec::new();
        let copy = self.clone_vertex(root, &mut map, &mut fresh);
        self.nodes[copy].is_disjunct = true;
        let follow = |map: &Map, mut node: NodeId| {
            for _ in 0..=map.len() {
                match map.get(&node) {
                    Some(&next) => node = next,
                    None => break,
                }
            }
            node
        };
        for &node in &fresh {
            let Some(work) = self.work(node) else {
                continue;
            };
            for task in work.sched.tasks.clone() {
                let at = follow(&map, self.tasks[task].node);
                self.tasks[task].node = at;
                if let Some(on) = self.tasks[task].blocked_on {
                    let after = follow(&map, on);
                    if after != on {
                        self.tasks[task].blocked_on = Some(after);
                        let cond = self.tasks[task].block_cond;
                        let sched = &mut self.w(after).sched;
                        sched.blocking.push(task);
                        sched.needs |= cond;
                        self.blocking.push(task);
                    }
                }
            }
        }
        self.w(copy).overlay = Some(Arc::new(map));
        copy
    }

    fn clone_vertex(&mut self, node: NodeId, map: &mut Map, fresh: &mut Vec<NodeId>) -> NodeId {
        let n = &self.nodes[node];
        let mut copy = Node::new(n.parent, n.label, n.arc_type);
        copy.status = n.status;
        copy.base = n.base;
        copy.conjuncts = n.conjuncts.clone();
        copy.structs = n.structs.clone();
        copy.child_errors = n.child_errors;
        copy.is_data = n.is_data;
        copy.closed_recursive = n.closed_recursive;
        copy.closed_once = n.closed_once;
        copy.has_ellipsis = n.has_ellipsis;
        copy.multi_let = n.multi_let;
        copy.is_dynamic = n.is_dynamic;
        copy.non_rooted = n.non_rooted;
        copy.anonymous = n.anonymous;
        copy.is_disjunct = n.is_disjunct;
        copy.is_shared = n.is_shared;
        copy.is_pattern = n.is_pattern;
        let (arcs, patterns) = (n.arcs.list.clone(), n.patterns.clone());
        let copy = self.nodes.push(copy);
        map.insert(node, copy);
        fresh.push(copy);
        if let Some(tails) = self.list_tails.get(&node).cloned() {
            self.list_tails.insert(copy, tails);
        }
        if !arcs.is_empty() {
            let mut list = Vec::with_capacity(arcs.len());
            for arc in arcs {
                let arc = self.clone_vertex(arc, map, fresh);
                self.nodes[arc].parent = Some(copy);
                list.push(arc);
            }
            let mut table = std::mem::take(&mut self.nodes[copy].arcs);
            table.replace(list, |arc| self.nodes[arc].label);
            self.nodes[copy].arcs = table;
        }
        for pair in patterns {
            let constraint = self.clone_vertex(pair.constraint, map, fresh);
            self.nodes[copy].patterns.push(PatternPair {
                pattern: pair.pattern,
                constraint,
            });
        }
        self.clone_work(node, copy);
        copy
    }

    fn clone_work(&mut self, node: NodeId, copy: NodeId) {
        let Some(work) = self.nodes[node].work.as_deref() else {
            return;
        };
        let mut work = work.clone();
        work.is_disjunct = true;
        work.retain = 0;
        work.notify.clear();
        work.cyclic.clear();
        work.disjuncts.clear();
        work.disjunct_errs.clear();
        work.user_errs.clear();
        work.post_checks.clear();
        work.overlay = None;
        work.sched.blocking.clear();
        work.sched.deferred.clear();
        work.sched.parent_tasks.clear();
        work.reqs_computed = false;
        work.all_links = None;
        let tasks = std::mem::take(&mut work.sched.tasks);
        self.w(node).sched.blocking.clear();
        let mut copies: SmallVec<[TaskId; 2]> = SmallVec::new();
        for task in tasks {
            let t = &self.tasks[task];
            let keep = match t.state {
                TaskState::Waiting | TaskState::Ready => true,
                TaskState::Running => t.kind != TaskKind::Disjunctions,
                _ => false,
            };
            if !keep {
                continue;
            }
            let mut t = t.clone();
            self.tasks[task].defunct = true;
            t.defunct = false;
            t.inserting = false;
            t.retry = false;
            if t.state == TaskState::Running {
                t.state = TaskState::Ready;
            }
            t.node = copy;
            copies.push(self.tasks.push(t));
        }
        work.sched.tasks = copies;
        self.nodes[copy].work = Some(Box::new(work));
    }
}
