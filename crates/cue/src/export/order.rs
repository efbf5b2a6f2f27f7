//! The order in which the fields of a vertex are written.
//!
//! Every struct literal that was inserted gives an order of its own fields. Literals that stand in one
//! place after the other follow each other; those that were unified with `&`, or came through one
//! reference, are not ordered among each other. The orders make a graph: its strongly connected parts are written in
//! topological order, the smallest name first where there is a choice, and by name within a part.
//!
//! A literal's place is where its last inserted field is declared or, if the field came through references,
//! where the first of them stands.

mod graph;

use std::collections::VecDeque;
use std::ops::Range;

use base::{SourceId, Span};
use smallvec::SmallVec;

use crate::eval::Ctx;
use crate::eval::few::FewMap;
use crate::eval::ids::{DeclId, ExprId, NodeId};
use crate::eval::ir::{DeclKind, Expr, Op};
use crate::eval::label::Label;
use crate::eval::node::X;

use graph::Graph;

type Indices = SmallVec<[usize; 2]>;
type Uses = SmallVec<[Use; 4]>;
type Batches = SmallVec<[Range<usize>; 4]>;
/// The labels that a declaration with a computed label gave, in order of insertion.
type Dynamic = FewMap<DeclId, VecDeque<Label>>;

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
    by_graph(ctx, node)
}

/// The usual case: one literal of plain fields whose arcs were inserted in its order, and a list.
fn one_literal(ctx: &Ctx, node: NodeId) -> Option<Vec<NodeId>> {
    let n = &ctx.nodes[node];
    let all_ints = n.arcs.list.iter().all(|&a| ctx.nodes[a].label.is_int());
    if all_ints {
        return Some(n.arcs.list.clone());
    }
    if n.arcs.structs.is_empty() {
        // Made by a builtin: there is no literal, the fields came in their order.
        return Some(n.arcs.list.clone());
    }
    let [only] = *n.arcs.structs else {
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

/// Literals of plain fields, file by file and one after the other, the first file with all fields, which were inserted in its
/// order, and the others with some of them in that order. The first declaration in a file decides. There may be thousands, and
/// then the graph would be long chains, one a file, that agree.
fn in_source_order(ctx: &Ctx, node: NodeId) -> bool {
    let n = &ctx.nodes[node];
    let literal = |c: &crate::eval::node::Conjunct| match ctx.elem(c.x) {
        X::Expr(expr) => matches!(ctx.ir.exprs[expr], Expr::Struct(_)),
        _ => false,
    };
    let referred = |&arc: &NodeId| {
        let mut conjuncts = ctx.nodes[arc].conjuncts.iter();
        conjuncts.any(|c| c.ci.refs.is_some() || !matches!(c.x, X::Decl(_)))
    };
    if !n.conjuncts.iter().all(literal)
        || !n.arcs.list.is_sorted()
        || n.arcs.list.iter().any(referred)
    {
        return false;
    }
    let mut files: SmallVec<[SourceId; 4]> = SmallVec::new();
    let mut last: Option<Span> = None;
    let mut arcs = n.arcs.list.iter().peekable();
    // In the files behind the first: the fields it declared, and the last of them in their order.
    let mut seen: SmallVec<[NodeId; 8]> = SmallVec::new();
    for s in &n.arcs.structs {
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
            match last {
                Some(last) if last.source == here.source => {
                    if last.start >= here.start {
                        return false;
                    }
                }
                _ if files.contains(&here.source) => return false,
                _ => {
                    if files.len() == 1 && arcs.peek().is_some() {
                        return false;
                    }
                    files.push(here.source);
                    seen.clear();
                }
            }
            last = Some(here);
            if files.len() > 1 {
                let Some(arc) = ctx.find_arc(node, label) else {
                    return false;
                };
                if seen.last().is_none_or(|&before| before < arc) {
                    seen.push(arc);
                } else if seen.binary_search(&arc).is_err() {
                    return false;
                }
                continue;
            }
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
    arcs.next().is_none()
}

fn struct_decls(ctx: &Ctx, expr: ExprId) -> &[DeclId] {
    match &ctx.ir.exprs[expr] {
        Expr::Struct(lit) => ctx.ir.members(lit.decls),
        _ => &[],
    }
}

/// Which literals a declaration or expression is part of.
#[derive(Default)]
struct Members {
    /// In order of the declarations.
    decls: SmallVec<[(DeclId, usize); 16]>,
    /// The literals themselves, embeddings in them, and references that they came through.
    exprs: FewMap<ExprId, Indices>,
}

impl Members {
    fn add(&mut self, expr: ExprId, literal: usize) {
        let literals = self.exprs.get_or_insert(expr, Indices::new);
        if !literals.contains(&literal) {
            literals.push(literal);
        }
    }

    fn of(&self, x: X) -> Indices {
        match x {
            X::Decl(decl) => {
                let start = self.decls.partition_point(|&(d, _)| d < decl);
                let from = self.decls.get(start..).unwrap_or(&[]);
                let own = from.iter().take_while(|&&(d, _)| d == decl);
                own.map(|&(_, literal)| literal).collect()
            }
            X::Expr(expr) => self.exprs.get(expr).cloned().unwrap_or_default(),
            _ => Indices::new(),
        }
    }
}

/// The general case.
fn by_graph(ctx: &Ctx, node: NodeId) -> Vec<NodeId> {
    let n = &ctx.nodes[node];
    let mut dynamic = Dynamic::default();
    for &arc in &n.arcs.list {
        for c in &ctx.nodes[arc].conjuncts {
            if let X::Decl(decl) = c.x
                && matches!(ctx.ir.decls[decl].kind, DeclKind::Dynamic { .. })
            {
                let labels = dynamic.get_or_insert(decl, VecDeque::new);
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
    // Labels without a vertex are those of fields that are not there.
    let arcs = &n.arcs.list;
    let order = graph.sorted(ctx).into_iter();
    order.filter_map(|i| arcs.get(i).copied()).collect()
}

fn analyse(ctx: &Ctx, node: NodeId, dynamic: &Dynamic) -> Uses {
    let n = &ctx.nodes[node];
    let mut uses = Uses::with_capacity(n.arcs.structs.len());
    let mut members = Members::default();
    for (i, s) in n.arcs.structs.iter().enumerate() {
        let decls = struct_decls(ctx, s.expr);
        uses.push(Use {
            expr: s.expr,
            repeats: s.repeats,
            comp: s.comp,
            place: ctx.ir.span(s.expr),
            explicit: false,
            dynamic: !dynamic.is_empty() && decls.iter().any(|&d| dynamic.get(d).is_some()),
        });
        members.add(s.expr, i);
        for &decl in decls {
            match ctx.ir.decls[decl].kind {
                // The declaration of an embedding is its expression.
                DeclKind::Embed(x) => members.add(x, i),
                _ => members.decls.push((decl, i)),
            }
        }
    }
    members.decls.sort_unstable();
    for &arc in &n.arcs.list {
        for c in &ctx.nodes[arc].conjuncts {
            let found = members.of(c.x);
            if found.is_empty() {
                continue;
            }
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
            for u in found {
                members.add(oldest, u);
            }
            if let Some(place) = ctx.ir.span(oldest) {
                for u in members.of(X::Expr(oldest)) {
                    if let Some(used) = uses.get_mut(u) {
                        used.place = Some(place);
                    }
                }
            }
        }
    }
    let mut work: SmallVec<[ExprId; 8]> = SmallVec::new();
    for c in &n.conjuncts {
        if let X::Expr(expr) = ctx.elem(c.x) {
            work.push(expr);
        }
    }
    for s in &n.arcs.structs {
        for &decl in struct_decls(ctx, s.expr) {
            if let DeclKind::Embed(x) = ctx.ir.decls[decl].kind {
                work.push(x);
            }
        }
    }
    while let Some(expr) = work.pop() {
        if let Expr::Binary { op: Op::And, x, y } = ctx.ir.exprs[expr] {
            for side in [x, y] {
                for u in members.of(X::Expr(side)) {
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
) -> (SmallVec<[usize; 8]>, Batches) {
    let mut sequence = SmallVec::<[usize; 8]>::with_capacity(uses.len());
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
    let mut single = Batches::with_capacity(sequence.len());
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
    let mut out = Batches::with_capacity(single.len());
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
            DeclKind::Dynamic { .. } => match dynamic.get_mut(decl).and_then(VecDeque::pop_front) {
                Some(label) => label,
                None => continue,
            },
            _ => continue,
        };
        let i = graph.ensure(label);
        let owner = graph.owner(i);
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
        graph.set_owner(i, u);
        for &p in &previous {
            graph.edge(p, i);
        }
        previous.clear();
        previous.push(i);
    }
    previous
}
