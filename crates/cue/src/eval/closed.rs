//! Closedness: which fields the definitions a vertex was unified with allow.
//!
//! Every reference, embedding and pair of braces that may close something gets a number; the numbers
//! form a graph of containment. A field carries evidence: the numbers under which it was declared. A
//! requirement is a number that must contain some evidence of every field, or else the field is
//! not allowed. Fields written in the same braces as an embedded definition are exempt from it, but
//! the braces together are closed towards the outside.

use smallvec::{SmallVec, smallvec};

use super::ancestors::Ancestors;
use super::context::{Ctx, R};
use super::ids::{ExprId, NodeId};
use super::ir::{Expr, Op};
use super::kind::Kind;
use super::node::{ArcType, Base, CloseInfo, DefId, Role, Status, X};
use super::rules::Rules;
use super::value::Code;
use super::work::{
    Evidence, HAS_ELLIPSIS, HAS_OPEN_VALIDATOR, HAS_STRUCT, HAS_TOP, ReqKind, ReqSet, Requirement,
};

/// Beyond this many questions about a vertex, all that contains an id is found once.
const MANY: usize = 512;

impl Ctx {
    fn new_def(&mut self, x: X) -> DefId {
        let span = self.x_span(x);
        let id = u32::try_from(self.containment.len()).unwrap_or(u32::MAX);
        self.containment.push((0, span));
        id
    }

    /// Makes `from` contain `to`.
    pub fn attach(&mut self, node: NodeId, from: DefId, to: DefId) {
        if from == 0 || from == to {
            return;
        }
        if from < to
            && let Some(entry) = self.containment.get_mut(to as usize)
            && entry.0 == 0
        {
            entry.0 = from;
            return;
        }
        let w = self.w(node);
        w.reqs_computed = false;
        w.all_links = None;
        w.req_sets.clear();
        w.links.push((from, to));
    }

    pub fn add_evidence(&mut self, node: NodeId, kind: Kind, ci: CloseInfo, flags: u8) {
        let evidence = &mut self.w(node).evidence;
        if let Some(e) = evidence.iter_mut().find(|e| e.id == ci.def) {
            e.kind &= kind;
            e.flags |= flags;
            return;
        }
        evidence.push(Evidence {
            id: ci.def,
            embed: ci.embed,
            kind,
            flags,
        });
    }

    /// A reference to a vertex that may close: its fields are governed by a requirement of its own.
    pub fn add_resolver(
        &mut self,
        node: NodeId,
        x: X,
        target: NodeId,
        mut ci: CloseInfo,
        force_ignore: bool,
    ) -> CloseInfo {
        let t = &self.nodes[target];
        let (recursive, once) = (t.closed_recursive, t.closed_once);
        if ci.from_def && ci.from_embed && !ci.opened && !force_ignore {
            let mut outer = ci.outer;
            for req in self.w(node).reqs.iter_mut().rev() {
                if outer != 0 && req.id == outer {
                    req.ignore = false;
                    req.recursive |= recursive;
                    outer = req.parent;
                }
            }
        }
        let ignore = if force_ignore || ci.opened {
            true
        } else if ci.embed != 0 || ci.outer == 0 {
            !(ci.from_def || once || recursive)
        } else {
            ci.from_embed
        };
        let mut dst = 0;
        if let Some(req) = self
            .w(node)
            .reqs
            .iter_mut()
            .find(|req| req.node == Some(target))
        {
            dst = req.id;
            if req.ignore && !ignore {
                req.ignore = false;
                req.parent = ci.outer;
                req.embed = ci.embed;
            }
        }
        if dst == 0 || ci.embed != 0 {
            let id = self.new_def(x);
            if dst != 0 {
                self.attach(node, id, dst);
            }
            dst = id;
            self.w(node).reqs.push(Requirement {
                node: Some(target),
                id,
                parent: ci.outer,
                embed: ci.embed,
                ignore,
                kind: ReqKind::Ref,
                recursive,
            });
        }
        let src = ci.def;
        ci.def = dst;
        self.attach(node, src, dst);
        ci
    }

    /// A new scope for braces or an embedding.
    pub fn new_scope(&mut self, node: NodeId, x: X, mut ci: CloseInfo, kind: ReqKind) -> CloseInfo {
        let id = self.new_def(x);
        self.attach(node, ci.def, id);
        let parent = ci.def;
        ci.def = id;
        match kind {
            ReqKind::Embed => ci.embed = id,
            _ => ci.outer = id,
        }
        self.w(node).reqs.push(Requirement {
            node: None,
            id,
            parent,
            embed: ci.embed,
            ignore: true,
            kind,
            recursive: ci.from_def,
        });
        ci
    }

    pub fn embed_scope(
        &mut self,
        node: NodeId,
        expr: ExprId,
        mut ci: CloseInfo,
        explicit_open: bool,
    ) -> CloseInfo {
        if explicit_open {
            return ci;
        }
        ci.from_embed = true;
        if let Expr::Binary { op, .. } = self.ir.exprs[expr]
            && op != Op::And
        {
            return ci;
        }
        self.new_scope(node, X::Expr(expr), ci, ReqKind::Embed)
    }

    /// Reports every field that some requirement does not allow.
    pub fn check_typos(&mut self, node: NodeId) -> R<()> {
        let v = self.deref_value(node);
        if self.nodes[v].arcs.is_empty() {
            return Ok(());
        }
        if let Base::Val(id) = self.nodes[v].base
            && self.bottom(id).is_some_and(|b| !b.close_check)
        {
            return Ok(());
        }
        let base = self.requirement_sets(node);
        if base.is_empty() {
            return Ok(());
        }
        let many = base.len() * self.nodes[v].arcs.len() > MANY;
        let mut required = base;
        self.with_evidence(node, |ctx, evidence| {
            for req in &mut required {
                req.removed |= ctx.parent_ellipsis(node, req.id, evidence) != 0;
            }
        });
        let rules = Rules::new(required);
        let mut error = None;
        let mut i = 0;
        while let Some(arc) = self.nodes[v].arcs.get(i) {
            i += 1;
            let label = self.nodes[arc].label;
            let arc = self.deref_disjunct(arc);
            if self.work(arc).is_none() && self.nodes[arc].role != Role::Plain {
                continue;
            }
            if let Base::Val(id) = self.nodes[arc].base
                && self.bottom(id).is_some_and(|b| !b.close_check)
            {
                continue;
            }
            if label.always_allowed() || self.all_allow(arc, &rules, many) {
                continue;
            }
            if let Some(bottom) = self.not_allowed(arc)
                && self.nodes[arc].arc_type <= ArcType::Required
            {
                error = self.combine(error, Some(bottom));
            }
        }
        if let Some(error) = error {
            self.add_child_error(node, error);
        }
        Ok(())
    }

    /// All that contains each of some ids, seen from a vertex.
    fn ancestors(&mut self, node: NodeId, ids: impl Iterator<Item = DefId>) -> Vec<Ancestors> {
        let links = self.take_links(node);
        let parent = |id: DefId| self.containment.get(id as usize).map_or(0, |c| c.0);
        let found = ids.map(|id| Ancestors::new(id, parent, &links)).collect();
        self.w(node).all_links = Some(links);
        found
    }

    fn all_allow(&mut self, arc: NodeId, rules: &Rules, many: bool) -> bool {
        if let Some(parent) = self.nodes[arc].parent
            && self.nodes[arc].role == Role::Plain
        {
            // It has no links of its own.
            let evidence = self.plain_evidence(arc);
            return self.allowed(parent, &evidence, rules, many);
        }
        self.with_evidence(arc, |ctx, evidence| ctx.allowed(arc, evidence, rules, many))
    }

    /// Whether all rules allow a field with that evidence, by the links of a vertex.
    fn allowed(&mut self, node: NodeId, evidence: &[Evidence], rules: &Rules, many: bool) -> bool {
        let mut checked = rules.reqs.iter().filter(|r| !r.ignored && !r.removed);
        if !many {
            let mut contains = |outer, inner| self.contains(node, outer, inner);
            return checked.all(|r| rules.allow(r, evidence, &mut contains));
        }
        let ids = || evidence.iter().flat_map(|e| [e.id, e.embed]);
        let above = self.ancestors(node, ids());
        let mut contains = |outer, inner| {
            let mut pairs = ids().zip(&above);
            pairs.any(|(id, above)| id == inner && above.contains(outer))
        };
        checked.all(|r| rules.allow(r, evidence, &mut contains))
    }

    /// Lends the evidence of a vertex to a question that adds none.
    fn with_evidence<T>(
        &mut self,
        node: NodeId,
        ask: impl FnOnce(&mut Ctx, &[Evidence]) -> T,
    ) -> T {
        let evidence = std::mem::take(&mut self.w(node).evidence);
        let answer = ask(self, &evidence);
        self.w(node).evidence = evidence;
        answer
    }

    /// Whether `outer` contains `inner` in the graph, with the links of the vertex and its ancestors.
    fn contains(&mut self, node: NodeId, outer: DefId, inner: DefId) -> bool {
        // Mostly it does without any link.
        if self.reaches(&[], outer, inner) {
            return true;
        }
        let links = self.take_links(node);
        let found = self.reaches(&links, outer, inner);
        self.w(node).all_links = Some(links);
        found
    }

    /// The links of a vertex and its ancestors; to be put back.
    #[expect(
        clippy::box_collection,
        reason = "the place it is taken from is one word"
    )]
    fn take_links(&mut self, node: NodeId) -> Box<Vec<(DefId, DefId)>> {
        if let Some(links) = self.w(node).all_links.take() {
            return links;
        }
        let mut links = Vec::new();
        let mut at = Some(node);
        while let Some(n) = at {
            let Some(work) = self.work(n) else { break };
            links.extend_from_slice(&work.links);
            at = self.nodes[n].parent;
        }
        links.sort_unstable_by_key(|link| std::cmp::Reverse(link.1));
        links.dedup();
        Box::new(links)
    }

    fn reaches(&self, links: &[(DefId, DefId)], outer: DefId, inner: DefId) -> bool {
        let parent = |id: DefId| self.containment.get(id as usize).map_or(0, |c| c.0);
        if links.is_empty() {
            let mut at = inner;
            while at != 0 {
                if at == outer {
                    return true;
                }
                at = parent(at);
            }
            return false;
        }
        let mut seen: SmallVec<[DefId; 16]> = SmallVec::new();
        let mut stack: SmallVec<[DefId; 16]> = smallvec![inner];
        while let Some(at) = stack.pop() {
            if at == outer && at != 0 {
                return true;
            }
            if at == 0 || seen.contains(&at) {
                continue;
            }
            seen.push(at);
            stack.push(parent(at));
            let start = links.partition_point(|&(_, to)| to > at);
            for &(from, to) in links.get(start..).unwrap_or(&[]) {
                if to != at {
                    break;
                }
                stack.push(from);
            }
        }
        false
    }

    /// The requirements of a vertex: those of its parent and its own.
    pub fn requirement_sets(&mut self, node: NodeId) -> Vec<ReqSet> {
        let Some(work) = self.work(node) else {
            return Vec::new();
        };
        if work.reqs_computed {
            return work.req_sets.to_vec();
        }
        let mut sets = match self.nodes[node].parent {
            Some(parent) if !work.drop_parent_reqs && self.work(parent).is_some() => {
                self.requirement_sets(parent)
            }
            _ => Vec::new(),
        };
        for set in &mut sets {
            if set.once {
                set.ignored = true;
            }
        }
        let inherited = sets.len();
        for req in self.w(node).reqs.clone() {
            if req.ignore && req.kind == ReqKind::Ref {
                continue;
            }
            if sets.iter().any(|s| s.id == req.id) {
                continue;
            }
            let mut once = false;
            if req.kind != ReqKind::Embed {
                once = req.node.is_some_and(|n| self.nodes[n].closed_once);
                if !req.ignore && !req.recursive {
                    once = true;
                }
            }
            sets.push(ReqSet {
                id: req.id,
                parent: req.parent,
                embed: req.embed,
                kind: req.kind,
                once,
                ignored: req.ignore,
                removed: false,
            });
            if req.parent != 0 && !req.ignore {
                let mut outer = req.parent;
                for set in sets.iter_mut().take(inherited).rev() {
                    if outer != 0 && set.id == outer {
                        set.once = if set.ignored {
                            !req.recursive
                        } else {
                            set.once && !req.recursive
                        };
                        set.ignored = false;
                        outer = set.parent;
                    }
                }
            }
        }
        if !sets.is_empty() {
            let evidence = std::mem::take(&mut self.w(node).evidence);
            let mut each = Vec::new();
            if sets.len() * evidence.len() > MANY {
                each = self.ancestors(node, evidence.iter().map(|e| e.id));
            }
            if self.nodes[node].label.always_allowed() {
                sets.retain(|s| match each.is_empty() {
                    true => evidence.iter().any(|e| self.contains(node, s.id, e.id)),
                    false => each.iter().any(|above| above.contains(s.id)),
                });
            }
            let parent = self.nodes[node].parent;
            match parent.filter(|&parent| self.work(parent).is_some()) {
                Some(parent) => self.with_evidence(parent, |ctx, above| {
                    ctx.drop_opened(node, &mut sets, (&evidence, &each), above);
                }),
                None => self.drop_opened(node, &mut sets, (&evidence, &each), &[]),
            }
            self.w(node).evidence = evidence;
        }
        let w = self.w(node);
        w.reqs_computed = true;
        w.req_sets = sets.clone().into();
        sets
    }

    /// Drops requirements that allow anything here, and marks those opened by `...` above. What contains each piece of
    /// evidence is given where there is much.
    fn drop_opened(
        &mut self,
        node: NodeId,
        sets: &mut Vec<ReqSet>,
        (evidence, each): (&[Evidence], &[Ancestors]),
        above: &[Evidence],
    ) {
        sets.retain_mut(|set| {
            let mut flags = 0;
            let mut any = false;
            for (i, e) in evidence.iter().enumerate() {
                let within = match each.get(i) {
                    Some(above) => above.contains(set.id),
                    None => self.contains(node, set.id, e.id),
                };
                if within {
                    any = true;
                    flags |= if e.id < set.id {
                        e.flags & !HAS_STRUCT
                    } else {
                        e.flags
                    };
                }
            }
            let top = flags & HAS_TOP != 0 && flags & HAS_STRUCT == 0;
            if top || flags & HAS_OPEN_VALIDATOR != 0 {
                return false;
            }
            if any && set.kind != ReqKind::Struct {
                return true;
            }
            let id = self.parent_ellipsis(node, set.id, above);
            if id != 0
                && (!any
                    || set.kind == ReqKind::Struct
                        && !evidence.iter().any(|e| self.contains(node, id, e.id)))
            {
                set.removed = true;
            }
            true
        });
    }

    fn parent_ellipsis(&mut self, node: NodeId, req: DefId, evidence: &[Evidence]) -> DefId {
        evidence
            .iter()
            .filter(|e| e.flags & HAS_ELLIPSIS != 0)
            .find(|e| self.contains(node, req, e.id))
            .map_or(0, |e| e.id)
    }

    fn not_allowed(&mut self, arc: NodeId) -> Option<super::ids::ValId> {
        if self.nodes[arc].arc_type == ArcType::Pending || self.errs.is_some() {
            return None;
        }
        let saved = self.push_node(arc);
        let err = self.error("field not allowed", &[]);
        let mut spans = Vec::new();
        for c in &self.nodes[arc].conjuncts {
            if let X::Node(_) = c.x {
                self.collect_spans(c.x, &mut spans, 0);
            } else {
                spans.extend(self.x_span(c.x));
            }
        }
        for span in spans {
            self.add_span(err, Some(span));
        }
        self.node = saved;
        let bottom = self.new_bottom_on(Code::Eval, err, Some(arc));
        if let super::value::Value::Bottom(b) = &mut self.vals[bottom].value {
            b.close_check = true;
        }
        self.nodes[arc].base = Base::Val(bottom);
        self.nodes[arc].status = Status::Finalized;
        if self.work(arc).is_some() {
            self.w(arc).kind = Kind::BOTTOM;
        }
        Some(bottom)
    }

    /// Joins the closedness information of two equal disjuncts.
    pub fn merge_evidence(&mut self, keep: NodeId, drop: NodeId) {
        let (Some(_), Some(from)) = (self.work(keep), self.work(drop)) else {
            return;
        };
        let (evidence, links) = (from.evidence.clone(), from.links.clone());
        let to = self.w(keep);
        for e in evidence {
            if to.evidence.iter().all(|x| x.id != e.id) {
                to.evidence.push(e);
            }
        }
        for link in links {
            if !to.links.contains(&link) {
                to.links.push(link);
            }
        }
        to.all_links = None;
        to.reqs_computed = false;
        let arcs = self.nodes[drop].arcs.list.clone();
        for arc in arcs {
            if let Some(same) = self.find_arc(keep, self.nodes[arc].label) {
                self.merge_evidence(same, arc);
            }
        }
    }
}
