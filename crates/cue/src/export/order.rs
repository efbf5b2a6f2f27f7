//! The order in which the fields of a vertex are written.
//!
//! Every struct literal that was inserted gives an order of its own fields. Literals that stand in one
//! place after the other follow each other; those that were unified with `&`, or came through one
//! reference, are not ordered among each other. The orders make a graph: its strongly connected parts are written in
//! topological order, the smallest name first where there is a choice, and by name within a part.
//!
//! A literal's place is where its last inserted field is declared or, if the field came through references,
//! where the first of them stands.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use base::Span;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::eval::Ctx;
use crate::eval::ids::{DeclId, ExprId, NodeId};
use crate::eval::ir::{DeclKind, Expr, Op};
use crate::eval::label::Label;
use crate::eval::node::X;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Expr(ExprId),
    Decl(DeclId),
}

type Map<K, V> = HashMap<K, V, FxBuildHasher>;
type Indices = SmallVec<[usize; 2]>;
/// The labels that a declaration with a computed label gave, in order of insertion.
type Dynamic = Map<DeclId, VecDeque<Label>>;

struct Use {
    expr: ExprId,
    repeats: u32,
    comp: u32,
    place: Option<Span>,
    explicit: bool,
    dynamic: bool,
}

/// The fields of a vertex in output order.
pub fn ordered_arcs(ctx: &Ctx, node: NodeId) -> Vec<NodeId> {
    let n = &ctx.nodes[node];
    if n.arcs.len() <= 1 {
        return n.arcs.list.clone();
    }
    if ctx.sort_fields {
        let mut arcs = n.arcs.list.clone();
        let key = |arc: NodeId| {
            let label = ctx.nodes[arc].label;
            (
                label.is_int().then(|| label.index()),
                label.name(&ctx.symbols),
            )
        };
        arcs.sort_by(|&a, &b| key(a).cmp(&key(b)));
        return arcs;
    }
    if let Some(simple) = one_literal(ctx, node) {
        return simple;
    }
    if in_source_order(ctx, node) {
        return n.arcs.list.clone();
    }
    let order = ordered_labels(ctx, node);
    order
        .into_iter()
        .filter_map(|label| ctx.find_arc(node, label))
        .collect()
}

/// The usual case: one literal of plain fields whose arcs were inserted in its order, and a list.
fn one_literal(ctx: &Ctx, node: NodeId) -> Option<Vec<NodeId>> {
    let n = &ctx.nodes[node];
    let all_ints = n.arcs.list.iter().all(|&a| ctx.nodes[a].label.is_int());
    if all_ints {
        return Some(n.arcs.list.clone());
    }
    if n.structs.is_empty() {
        // Made by a builtin: there is no literal, the fields came in their order.
        return Some(n.arcs.list.clone());
    }
    let [only] = *n.structs else {
        return None;
    };
    if only.repeats > 0 {
        return None;
    }
    let Expr::Struct(lit) = &ctx.ir.exprs[only.expr] else {
        return None;
    };
    if lit.has_embed || lit.decls.len() < n.arcs.len() {
        return None;
    }
    let mut labels = Vec::with_capacity(n.arcs.len());
    for &decl in ctx.ir.members(lit.decls) {
        match ctx.ir.decls[decl].kind {
            DeclKind::Field { label, .. } | DeclKind::Let { label, .. } => labels.push(label),
            _ => return None,
        }
    }
    let mut arcs = n.arcs.list.iter().peekable();
    for label in labels {
        if arcs.peek().is_some_and(|&&a| ctx.nodes[a].label == label) {
            arcs.next();
        }
    }
    match arcs.next() {
        None => Some(n.arcs.list.clone()),
        Some(_) => None,
    }
}

/// Literals of plain fields that stand in one file one after the other, and fields that were inserted in that order: the
/// first declaration of each decides. There may be thousands, and then the graph would be a long chain.
fn in_source_order(ctx: &Ctx, node: NodeId) -> bool {
    let n = &ctx.nodes[node];
    let literal = |c: &crate::eval::node::Conjunct| match ctx.elem(c.x) {
        X::Expr(expr) => matches!(ctx.ir.exprs[expr], Expr::Struct(_)),
        _ => false,
    };
    if !n.conjuncts.iter().all(literal) {
        return false;
    }
    let mut last: Option<Span> = None;
    let mut arcs = n.arcs.list.iter().peekable();
    for s in &n.structs {
        let Expr::Struct(lit) = &ctx.ir.exprs[s.expr] else {
            return false;
        };
        if s.repeats > 0 || s.comp != 0 || lit.has_embed || lit.decls.is_empty() {
            return false;
        }
        for &decl in ctx.ir.members(lit.decls) {
            let DeclKind::Field { label, .. } = ctx.ir.decls[decl].kind else {
                return false;
            };
            let here = ctx.ir.decls[decl].span;
            if last.is_some_and(|last| last.source != here.source || last.start >= here.start) {
                return false;
            }
            last = Some(here);
            match arcs.peek() {
                Some(&&next) if ctx.nodes[next].label == label => {
                    arcs.next();
                }
                // It must be one that was there before; ids are given in order.
                Some(&&next) if ctx.find_arc(node, label).is_none_or(|arc| arc > next) => {
                    return false;
                }
                _ => {}
            }
        }
    }
    let ascending = n.arcs.list.is_sorted();
    let referred = |&arc: &NodeId| {
        let mut conjuncts = ctx.nodes[arc].conjuncts.iter();
        conjuncts.any(|c| c.ci.refs.is_some() || !matches!(c.x, X::Decl(_)))
    };
    arcs.next().is_none() && ascending && !n.arcs.list.iter().any(referred)
}

fn struct_decls(ctx: &Ctx, expr: ExprId) -> &[DeclId] {
    match &ctx.ir.exprs[expr] {
        Expr::Struct(lit) => ctx.ir.members(lit.decls),
        _ => &[],
    }
}

fn decl_key(ctx: &Ctx, decl: DeclId) -> Key {
    // The declaration of an embedding is its expression.
    match ctx.ir.decls[decl].kind {
        DeclKind::Embed(x) => Key::Expr(x),
        _ => Key::Decl(decl),
    }
}

fn ordered_labels(ctx: &Ctx, node: NodeId) -> Vec<Label> {
    let n = &ctx.nodes[node];
    let mut dynamic = Dynamic::default();
    for &arc in &n.arcs.list {
        for c in &ctx.nodes[arc].conjuncts {
            if let X::Decl(decl) = c.x
                && matches!(ctx.ir.decls[decl].kind, DeclKind::Dynamic { .. })
            {
                let labels = dynamic.entry(decl).or_default();
                labels.push_back(ctx.nodes[arc].label);
            }
        }
    }
    let mut uses = analyse(ctx, node, &dynamic);
    let file = |span: Option<Span>| span.and_then(|s| ctx.source_names.get(s.source.0 as usize));
    uses.sort_by(|a, b| {
        let place = match (a.place, b.place) {
            (Some(a), Some(b)) if a.source == b.source => a.start.cmp(&b.start),
            (Some(a), Some(b)) => file(Some(a))
                .cmp(&file(Some(b)))
                .then(a.start.cmp(&b.start)),
            (None, None) => std::cmp::Ordering::Equal,
            (None, _) => std::cmp::Ordering::Greater,
            (_, None) => std::cmp::Ordering::Less,
        };
        place.then(a.dynamic.cmp(&b.dynamic))
    });
    let (sequence, batches) = batches(&uses, &file);
    let mut graph = Graph::new(n.arcs.list.iter().map(|&a| ctx.nodes[a].label));
    let mut previous = Indices::new();
    let mut next = Indices::new();
    let mut last_file = None;
    for (k, batch) in batches.into_iter().enumerate() {
        let batch = sequence.get(batch).unwrap_or(&[]);
        let first = batch.first().and_then(|&u| uses.get(u));
        let explicit = batch.len() > 1 || first.is_some_and(|u| u.explicit);
        let here = file(first.and_then(|u| u.place));
        if k > 0 && last_file != here {
            previous.clear();
        }
        last_file = here;
        next.clear();
        for &u in batch {
            if let Some(used) = uses.get_mut(u) {
                used.explicit = explicit;
            }
            let last = chain(ctx, &uses, u, &previous, &mut dynamic, &mut graph, &file);
            next.extend(last);
        }
        std::mem::swap(&mut previous, &mut next);
    }
    graph.sorted(ctx)
}

fn analyse(ctx: &Ctx, node: NodeId, dynamic: &Dynamic) -> Vec<Use> {
    let n = &ctx.nodes[node];
    let mut uses = Vec::with_capacity(n.structs.len());
    let mut members: Map<Key, Indices> = Map::default();
    for (i, s) in n.structs.iter().enumerate() {
        let decls = struct_decls(ctx, s.expr);
        uses.push(Use {
            expr: s.expr,
            repeats: s.repeats,
            comp: s.comp,
            place: ctx.ir.span(s.expr),
            explicit: false,
            dynamic: decls.iter().any(|d| dynamic.contains_key(d)),
        });
        members.entry(Key::Expr(s.expr)).or_default().push(i);
        for &decl in decls {
            members.entry(decl_key(ctx, decl)).or_default().push(i);
        }
    }
    for &arc in &n.arcs.list {
        for c in &ctx.nodes[arc].conjuncts {
            let key = match c.x {
                X::Decl(decl) => Key::Decl(decl),
                X::Expr(expr) => Key::Expr(expr),
                _ => continue,
            };
            let Some(found) = members.get(&key).cloned() else {
                continue;
            };
            let place = ctx.x_span(c.x);
            if place.is_some() {
                for &u in &found {
                    if let Some(used) = uses.get_mut(u) {
                        used.place = place;
                    }
                }
            }
            let Some(mut at) = c.ci.refs else { continue };
            while let Some(next) = ctx.refs[at].next {
                at = next;
            }
            let oldest = ctx.refs[at].expr;
            let set = members.entry(Key::Expr(oldest)).or_default();
            for u in found {
                if !set.contains(&u) {
                    set.push(u);
                }
            }
            if let Some(place) = ctx.ir.span(oldest) {
                for &u in set.iter() {
                    if let Some(used) = uses.get_mut(u) {
                        used.place = Some(place);
                    }
                }
            }
        }
    }
    let mut work: Vec<ExprId> = Vec::new();
    for c in &n.conjuncts {
        if let X::Expr(expr) = ctx.elem(c.x) {
            work.push(expr);
        }
    }
    for s in &n.structs {
        for &decl in struct_decls(ctx, s.expr) {
            if let DeclKind::Embed(x) = ctx.ir.decls[decl].kind {
                work.push(x);
            }
        }
    }
    while let Some(expr) = work.pop() {
        if let Expr::Binary { op: Op::And, x, y } = ctx.ir.exprs[expr] {
            for side in [x, y] {
                for &u in members.get(&Key::Expr(side)).into_iter().flatten() {
                    if let Some(used) = uses.get_mut(u) {
                        used.explicit = true;
                    }
                }
                work.push(side);
            }
        }
    }
    uses
}

/// Literals that are not ordered among each other, together: the uses in order, and runs of them.
fn batches<'n>(
    uses: &[Use],
    file: &impl Fn(Option<Span>) -> Option<&'n String>,
) -> (Vec<usize>, Vec<Range<usize>>) {
    let mut sequence = Vec::with_capacity(uses.len());
    let mut i = 0;
    while let Some(first) = uses.get(i) {
        let mut end = i + 1;
        if first.comp != 0 {
            while uses.get(end).is_some_and(|u| u.comp == first.comp) {
                end += 1;
            }
        }
        for _ in 0..=first.repeats {
            sequence.extend(i..end);
        }
        i = end;
    }
    let used = |at: usize| sequence.get(at).and_then(|&u| uses.get(u));
    let start = |at: usize| {
        let place = used(at).and_then(|u| u.place);
        place.map(|s| (s.source, s.start))
    };
    let mut single: Vec<Range<usize>> = Vec::with_capacity(sequence.len());
    for at in 0..sequence.len() {
        let dynamic = used(at).is_some_and(|u| u.dynamic);
        match single.last_mut() {
            Some(batch) if !dynamic && start(batch.start) == start(at) => batch.end = at + 1,
            _ => single.push(at..at + 1),
        }
    }
    let explicit =
        |batch: &Range<usize>| batch.len() > 1 || used(batch.start).is_some_and(|u| u.explicit);
    let place = |batch: &Range<usize>| file(used(batch.start).and_then(|u| u.place));
    let mut out: Vec<Range<usize>> = Vec::with_capacity(single.len());
    for batch in single {
        match out.last_mut() {
            Some(before)
                if explicit(&batch) && explicit(before) && place(&batch) == place(before) =>
            {
                before.end = batch.end;
            }
            _ => out.push(batch),
        }
    }
    (sequence, out)
}

fn chain<'n>(
    ctx: &Ctx,
    uses: &[Use],
    u: usize,
    previous: &[usize],
    dynamic: &mut Dynamic,
    graph: &mut Graph,
    file: &impl Fn(Option<Span>) -> Option<&'n String>,
) -> Indices {
    let mut previous = Indices::from_slice(previous);
    let Some(used) = uses.get(u) else {
        return previous;
    };
    for &decl in struct_decls(ctx, used.expr) {
        let label = match ctx.ir.decls[decl].kind {
            DeclKind::Field { label, .. } => label,
            DeclKind::Dynamic { .. } => {
                match dynamic.get_mut(&decl).and_then(VecDeque::pop_front) {
                    Some(label) => label,
                    None => continue,
                }
            }
            _ => continue,
        };
        let i = graph.ensure(label);
        let owner = graph.owners.get(i).copied().flatten();
        if owner == Some(u) {
            continue;
        }
        if let Some(owner) = owner
            && !used.explicit
            && used.place.is_some()
            && uses
                .get(owner)
                .is_some_and(|o| file(o.place) == file(used.place))
        {
            continue;
        }
        if let Some(owner) = graph.owners.get_mut(i) {
            *owner = Some(u);
        }
        for &p in &previous {
            graph.edge(p, i);
        }
        previous.clear();
        previous.push(i);
    }
    previous
}

struct Graph {
    labels: Vec<Label>,
    index: Map<Label, usize>,
    owners: Vec<Option<usize>>,
    out: Vec<Indices>,
}

impl Graph {
    fn new(labels: impl Iterator<Item = Label>) -> Graph {
        let mut graph = Graph {
            labels: Vec::new(),
            index: Map::default(),
            owners: Vec::new(),
            out: Vec::new(),
        };
        for label in labels {
            graph.ensure(label);
        }
        graph
    }

    fn ensure(&mut self, label: Label) -> usize {
        if let Some(&i) = self.index.get(&label) {
            return i;
        }
        let i = self.labels.len();
        self.labels.push(label);
        self.owners.push(None);
        self.out.push(Indices::new());
        self.index.insert(label, i);
        i
    }

    fn edge(&mut self, from: usize, to: usize) {
        if let Some(out) = self.out.get_mut(from)
            && !out.contains(&to)
        {
            out.push(to);
        }
    }

    /// The components in topological order, smallest first, each by name.
    fn sorted(&self, ctx: &Ctx) -> Vec<Label> {
        let name = |i: usize| {
            let label = self.labels.get(i).copied().unwrap_or_default();
            let int = label.is_int();
            let raw = if int {
                ""
            } else {
                ctx.symbols.name(base::Symbol(label.index()))
            };
            (!int, if int { label.index() } else { 0 }, raw)
        };
        let component = self.components();
        let count = component.iter().copied().max().map_or(0, |m| m + 1);
        let mut members: Vec<Indices> = vec![Indices::new(); count];
        for (i, &c) in component.iter().enumerate() {
            if let Some(list) = members.get_mut(c) {
                list.push(i);
            }
        }
        for list in members.iter_mut().filter(|list| list.len() > 1) {
            list.sort_by(|&a, &b| name(a).cmp(&name(b)));
        }
        let mut next: Vec<Indices> = vec![Indices::new(); count];
        let mut waits = vec![0usize; count];
        for (i, out) in self.out.iter().enumerate() {
            let from = component.get(i).copied().unwrap_or(0);
            for &to in out {
                let to = component.get(to).copied().unwrap_or(0);
                if let Some(list) = next.get_mut(from)
                    && from != to
                    && !list.contains(&to)
                {
                    list.push(to);
                    if let Some(w) = waits.get_mut(to) {
                        *w += 1;
                    }
                }
            }
        }
        let all = |c: usize| members.get(c).map_or(&[][..], SmallVec::as_slice);
        // No two components have the same first name, but for labels of different sorts.
        let key = |c: usize| (all(c).first().map(|&i| name(i)), c);
        let free = waits.iter().enumerate().filter(|&(_, &w)| w == 0);
        let mut ready: BTreeSet<_> = free.map(|(c, _)| key(c)).collect();
        let mut out = Vec::with_capacity(self.labels.len());
        while let Some((_, c)) = ready.pop_first() {
            out.extend(all(c).iter().filter_map(|&i| self.labels.get(i)));
            for &to in next.get(c).map_or(&[][..], SmallVec::as_slice) {
                if let Some(w) = waits.get_mut(to) {
                    *w -= 1;
                    if *w == 0 {
                        ready.insert(key(to));
                    }
                }
            }
        }
        out
    }

    /// Strongly connected components, by an iterative depth-first search.
    fn components(&self) -> Vec<usize> {
        let n = self.labels.len();
        let mut component = vec![usize::MAX; n];
        let mut order = vec![usize::MAX; n];
        let mut low = vec![0usize; n];
        let mut stack = Vec::new();
        let mut on_stack = vec![false; n];
        let (mut clock, mut count) = (0, 0);
        let get = |v: &[usize], i: usize| v.get(i).copied().unwrap_or(usize::MAX);
        fn set<T>(v: &mut [T], i: usize, x: T) {
            if let Some(slot) = v.get_mut(i) {
                *slot = x;
            }
        }
        let mut work: Vec<(usize, usize)> = Vec::new();
        for root in 0..n {
            if get(&order, root) != usize::MAX {
                continue;
            }
            work.push((root, 0));
            while let Some((v, edge)) = work.pop() {
                if edge == 0 {
                    set(&mut order, v, clock);
                    set(&mut low, v, clock);
                    clock += 1;
                    stack.push(v);
                    set(&mut on_stack, v, true);
                }
                let out = self.out.get(v).map_or(&[][..], SmallVec::as_slice);
                if let Some(&to) = out.get(edge) {
                    work.push((v, edge + 1));
                    if get(&order, to) == usize::MAX {
                        work.push((to, 0));
                    } else if on_stack.get(to).copied().unwrap_or(false) {
                        let l = get(&low, v).min(get(&order, to));
                        set(&mut low, v, l);
                    }
                    continue;
                }
                if get(&low, v) == get(&order, v) {
                    while let Some(w) = stack.pop() {
                        set(&mut on_stack, w, false);
                        set(&mut component, w, count);
                        if w == v {
                            break;
                        }
                    }
                    count += 1;
                }
                if let Some(&(parent, _)) = work.last() {
                    let l = get(&low, parent).min(get(&low, v));
                    set(&mut low, parent, l);
                }
            }
        }
        component
    }
}
