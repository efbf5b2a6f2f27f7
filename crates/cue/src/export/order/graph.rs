//! The order of labels that some graph of "goes before" gives.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use smallvec::{SmallVec, smallvec};

use super::Indices;
use crate::eval::Ctx;
use crate::eval::few::FewMap;
use crate::eval::label::Label;

/// Labels and which of them go before which.
pub(super) struct Graph(FewMap<Label, Vertex>);

#[derive(Default)]
struct Vertex {
    /// The literal that decided last where the label goes.
    owner: Option<usize>,
    out: Indices,
}

impl Graph {
    pub fn new(labels: impl ExactSizeIterator<Item = Label>) -> Graph {
        let mut graph = Graph(FewMap::with_capacity(labels.len() + 4));
        for label in labels {
            graph.ensure(label);
        }
        graph
    }

    /// The number of a label.
    pub fn ensure(&mut self, label: Label) -> usize {
        self.0.place(label, Vertex::default)
    }

    pub fn owner(&self, i: usize) -> Option<usize> {
        self.0.entry(i).and_then(|(_, vertex)| vertex.owner)
    }

    pub fn set_owner(&mut self, i: usize, owner: usize) {
        if let Some((_, vertex)) = self.0.entry_mut(i) {
            vertex.owner = Some(owner);
        }
    }

    /// One label goes before another.
    pub fn edge(&mut self, from: usize, to: usize) {
        if let Some((_, vertex)) = self.0.entry_mut(from)
            && !vertex.out.contains(&to)
        {
            vertex.out.push(to);
        }
    }

    fn out(&self, i: usize) -> &[usize] {
        self.0.entry(i).map_or(&[], |(_, vertex)| &vertex.out)
    }

    /// What labels are compared by: list indices first, then names.
    fn name<'c>(&self, ctx: &'c Ctx, i: usize) -> (bool, u32, &'c str) {
        let label = self.0.entry(i).map_or(Label::NONE, |&(label, _)| label);
        match label.is_int() {
            true => (false, label.index(), ""),
            false => (true, 0, ctx.symbols.name(base::Symbol(label.index()))),
        }
    }

    /// The labels' numbers in topological order, the smallest first where there is a choice.
    pub fn sorted(&self, ctx: &Ctx) -> SmallVec<[usize; 16]> {
        let n = self.0.len();
        let mut waits: SmallVec<[usize; 16]> = smallvec![0; n];
        for &to in self.0.iter().flat_map(|(_, vertex)| &vertex.out) {
            if let Some(w) = waits.get_mut(to) {
                *w += 1;
            }
        }
        let key = |i: usize| Reverse((self.name(ctx, i), i));
        let free = waits.iter().enumerate().filter(|&(_, &w)| w == 0);
        let mut ready: BinaryHeap<_> = free.map(|(i, _)| key(i)).collect();
        let mut order = SmallVec::with_capacity(n);
        while let Some(Reverse((_, i))) = ready.pop() {
            order.push(i);
            for &to in self.out(i) {
                if let Some(w) = waits.get_mut(to) {
                    *w -= 1;
                    if *w == 0 {
                        ready.push(key(to));
                    }
                }
            }
        }
        if order.len() < n {
            return self.sorted_components(ctx);
        }
        order
    }

    /// The same for a graph with cycles: its components in topological order, smallest first, each by name.
    fn sorted_components(&self, ctx: &Ctx) -> SmallVec<[usize; 16]> {
        let name = |i: usize| self.name(ctx, i);
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
        for (i, &from) in component.iter().enumerate() {
            for &to in self.out(i) {
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
        let mut out = SmallVec::with_capacity(self.0.len());
        while let Some((_, c)) = ready.pop_first() {
            out.extend_from_slice(all(c));
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
        let n = self.0.len();
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
                if let Some(&to) = self.out(v).get(edge) {
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
