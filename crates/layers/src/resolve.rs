//! The engine. Entries are settled from a work list, so depth costs no call stack; each map's
//! fields are grouped by name through one table indexed by symbol, so width costs no hashing.

use base::{LayerId, Outcome, Symbol};
use data::NodeId;

use crate::resolution::{Conflict, ConflictKind, Entry, EntryId, Link, Resolution, State};
use crate::stack::{Authority, Stack, Value};

/// Lays the layers over one another. Never fails: what cannot be settled is in
/// [`Resolution::conflicts`], with the refused value left out.
pub fn resolve(stack: &Stack<'_>) -> Resolution {
    let roots = (0..).map(LayerId).zip(&stack.layers).map(|(id, layer)| {
        let fixed = layer.authority != Authority::Default && !layer.tree.is_default(layer.root);
        (id, layer.root, fixed)
    });
    resolve_from(stack, roots)
}

/// Resolves from the given contributions, low to high.
fn resolve_from(
    stack: &Stack<'_>,
    roots: impl Iterator<Item = (LayerId, NodeId, bool)>,
) -> Resolution {
    let links: Vec<Link> = roots.map(|(l, n, f)| link(l, n, f)).collect();
    let root = Entry {
        name: Symbol(0),
        parent: 0,
        first_link: 0,
        links: count(links.len()),
        state: State::Absent,
    };
    let mut resolver = Resolver {
        stack,
        is_constrained: stack.is_constrained(),
        out: Resolution {
            entries: vec![root],
            links,
            conflicts: Vec::new(),
        },
        slots: Vec::new(),
        epoch: 0,
        active: Vec::new(),
    };
    let mut work = vec![EntryId(0)];
    while let Some(entry) = work.pop() {
        if let Some(start) = resolver.settle(entry) {
            let children = resolver.group(entry, start);
            work.extend(children.rev().map(EntryId));
        }
    }
    resolver.out
}

fn link(layer: LayerId, node: NodeId, fixed: bool) -> Link {
    Link {
        node,
        layer,
        outcome: Outcome::Stands,
        fixed,
    }
}

/// What the contributions so far amount to. Positions are in the entry's chain.
#[derive(Clone, Copy)]
enum Now {
    Nothing,
    /// A map, from this contribution on.
    Map(usize),
    Leaf(usize),
    Removed(usize),
}

struct Resolver<'s, 'a> {
    stack: &'s Stack<'a>,
    /// Whether constraints have to be looked for at all.
    is_constrained: bool,
    out: Resolution,
    /// For every symbol, in which group it was last seen (`epoch`) and as which child.
    slots: Vec<(u32, u32)>,
    epoch: u32,
    /// The maps that take part in the current group.
    active: Vec<Link>,
}

impl<'a> Resolver<'_, 'a> {
    /// Decides what an entry is. If it is a map, returns the position of the first contribution
    /// that takes part in it.
    fn settle(&mut self, id: EntryId) -> Option<usize> {
        let entry = *self.out.entry(id);
        let first = entry.first_link as usize;
        let end = first + entry.links as usize;
        let mut now = Now::Nothing;
        let mut dropped = None;
        let mut is_refused = false;
        for position in 0..entry.links as usize {
            let link = self.link(first + position);
            let layer = self.stack.layer(link.layer);
            if self.binding(link) == Binding::Always {
                self.set_outcome(first + position, Outcome::Constrains);
                continue;
            }
            let value = self.value(link);
            let is_map = value.is_map();
            if let Some((outcome, by)) = self.unadmitted(first..end, link, is_map) {
                self.set_outcome(first + position, outcome);
                match outcome {
                    Outcome::Refused => {
                        is_refused = true;
                        self.conflict(ConflictKind::Unmet, id, position, by);
                    }
                    _ => dropped = Some((position, by)),
                }
                continue;
            }
            let removes = layer.null_deletes && layer.tree.is_null(link.node);
            now = match now {
                Now::Map(start) if is_map => Now::Map(start),
                _ => match self.lock(now, first, position) {
                    Some(lock) if !is_map && self.agrees(&lock, value) => now,
                    Some(lock) => {
                        self.set_outcome(first + position, Outcome::Refused);
                        self.out.conflicts.push(Conflict {
                            kind: ConflictKind::Locked,
                            entry: id,
                            offender: count(position),
                            layer: lock.layer,
                            node: lock.node,
                            below: lock.below,
                        });
                        now
                    }
                    None => {
                        self.override_all(first, position);
                        match (is_map, removes) {
                            (true, _) => Now::Map(position),
                            (_, true) => Now::Removed(position),
                            _ => Now::Leaf(position),
                        }
                    }
                },
            };
        }
        if let (Now::Nothing, Some((position, by)), false) = (now, dropped, is_refused) {
            self.conflict(ConflictKind::Unsupplied, id, position, by);
        }
        let state = match now {
            Now::Map(_) => State::Map { first: 0, len: 0 },
            Now::Leaf(at) => State::Leaf { link: count(at) },
            Now::Removed(at) => State::Removed { link: count(at) },
            Now::Nothing => State::Absent,
        };
        self.set_state(id, state);
        match now {
            Now::Map(start) => Some(start),
            _ => None,
        }
    }

    /// What a contribution binds others to, beside what it sets.
    fn binding(&self, link: Link) -> Binding {
        if !self.is_constrained {
            return Binding::Never;
        }
        let layer = self.stack.layer(link.layer);
        if layer.authority == Authority::Constraint {
            return Binding::Always;
        }
        match (
            layer.tree.is_constraint(link.node),
            layer.tree.is_default(link.node),
        ) {
            (false, _) => Binding::Never,
            (true, false) => Binding::Always,
            (true, true) => Binding::Above,
        }
    }

    /// The constraint that does not admit a contribution, and what that makes of it. Constraints
    /// inside a map wait for the map's fields.
    fn unadmitted(
        &self,
        chain: std::ops::Range<usize>,
        link: Link,
        is_map: bool,
    ) -> Option<(Outcome, Link)> {
        if !self.is_constrained {
            return None;
        }
        let level = self.stack.layer(link.layer).level;
        for at in chain.clone() {
            let by = self.link(at);
            let layer = self.stack.layer(by.layer);
            let binds = match self.binding(by) {
                Binding::Never => false,
                Binding::Always => true,
                Binding::Above => layer.level < level && !self.decided_anew(at, chain.end),
            };
            if !binds || by.layer == link.layer && by.node == link.node {
                continue;
            }
            let constraint = self.value(by);
            if is_map && constraint.is_map() {
                continue;
            }
            let admits = match layer.authority {
                Authority::Constraint => constraint.same(self.value(link)),
                _ => {
                    let pair = ((by.layer, by.node), (link.layer, link.node));
                    !self.stack.unadmitted.contains(&pair)
                }
            };
            if !admits {
                let outcome = match layer.level <= level {
                    true => Outcome::Refused,
                    false => Outcome::Dropped,
                };
                return Some((outcome, by));
            }
        }
        None
    }

    /// Whether a later contribution of the same level replaces the one at `at`.
    fn decided_anew(&self, at: usize, end: usize) -> bool {
        let level = self.stack.layer(self.link(at).layer).level;
        (at + 1..end).map(|later| self.link(later)).any(|later| {
            self.stack.layer(later.layer).level == level && self.binding(later) != Binding::Always
        })
    }

    /// What forbids the contribution at `position` to replace what stands now.
    fn lock(&self, now: Now, first: usize, position: usize) -> Option<Lock> {
        let level = self.stack.layer(self.link(first + position).layer).level;
        let binds = |link: &Link| link.fixed && self.stack.layer(link.layer).level < level;
        match now {
            Now::Nothing | Now::Removed(_) => None,
            Now::Leaf(at) => {
                let link = self.link(first + at);
                binds(&link).then(|| Lock {
                    layer: link.layer,
                    node: link.node,
                    below: Vec::new(),
                })
            }
            Now::Map(start) => {
                let maps: Vec<Link> = (start..position)
                    .map(|at| self.link(first + at))
                    .filter(|link| link.outcome == Outcome::Stands)
                    .collect();
                if !maps.iter().any(binds) {
                    return None;
                }
                let inner =
                    resolve_from(self.stack, maps.iter().map(|l| (l.layer, l.node, l.fixed)));
                let ids = (0..count(inner.len())).map(EntryId);
                let mut leaves = ids.filter_map(|id| {
                    let link = inner.standing(id).filter(|link| binds(link))?;
                    Some((id, link))
                });
                leaves.next().map(|(id, link)| Lock {
                    layer: link.layer,
                    node: link.node,
                    below: inner.names(id),
                })
            }
        }
    }

    /// Whether a contribution says just what the lock says.
    fn agrees(&self, lock: &Lock, value: Value<'_>) -> bool {
        let locked = Value {
            tree: self.stack.layer(lock.layer).tree,
            node: lock.node,
        };
        lock.below.is_empty() && locked.same(value)
    }

    /// What stood below `position` does so no longer.
    fn override_all(&mut self, first: usize, position: usize) {
        let before = self.out.links.get_mut(first..first + position);
        for link in before.unwrap_or_default() {
            if link.outcome == Outcome::Stands {
                link.outcome = Outcome::Overridden;
            }
        }
    }

    fn conflict(&mut self, kind: ConflictKind, entry: EntryId, offender: usize, by: Link) {
        self.out.conflicts.push(Conflict {
            kind,
            entry,
            offender: count(offender),
            layer: by.layer,
            node: by.node,
            below: Vec::new(),
        });
    }

    /// Makes the children of a map: one entry a name, with its links in the order of the layers.
    fn group(&mut self, id: EntryId, start: usize) -> std::ops::Range<u32> {
        let mut active = std::mem::take(&mut self.active);
        active.clear();
        for (position, link) in self.out.chain(id).iter().enumerate() {
            let part = match link.outcome {
                Outcome::Stands => position >= start,
                Outcome::Constrains => true,
                _ => false,
            };
            if part && self.value(*link).is_map() {
                active.push(*link);
            }
        }
        let first = count(self.out.entries.len());
        self.count_names(&active, id, first);
        self.fill_links(&active, first);
        let len = count(self.out.entries.len()) - first;
        self.set_state(id, State::Map { first, len });
        self.active = active;
        first..first + len
    }

    /// First pass: an entry a name, and how many links each will have.
    fn count_names(&mut self, active: &[Link], parent: EntryId, first: u32) {
        self.epoch += 1;
        for link in active {
            for field in self.fields(*link) {
                let slot = field.name.0 as usize;
                if slot >= self.slots.len() {
                    self.slots.resize(slot + 1, (0, 0));
                }
                let Some(seen) = self.slots.get_mut(slot) else {
                    continue;
                };
                if seen.0 == self.epoch {
                    let entry = (first + seen.1) as usize;
                    if let Some(entry) = self.out.entries.get_mut(entry) {
                        entry.links += 1;
                    }
                    continue;
                }
                *seen = (self.epoch, count(self.out.entries.len()) - first);
                self.out.entries.push(Entry {
                    name: field.name,
                    parent: parent.0,
                    first_link: 0,
                    links: 1,
                    state: State::Absent,
                });
            }
        }
    }

    /// Second pass: every child's links side by side.
    fn fill_links(&mut self, active: &[Link], first: u32) {
        let mut next = self.out.links.len();
        let children = self.out.entries.get_mut(first as usize..);
        for entry in children.unwrap_or_default() {
            entry.first_link = count(next);
            next += entry.links as usize;
            entry.links = 0;
        }
        self.out
            .links
            .resize(next, link(LayerId(0), NodeId(0), false));
        for above in active {
            let tree = self.stack.layer(above.layer).tree;
            for field in self.fields(*above) {
                let child = self.slots.get(field.name.0 as usize).map_or(0, |s| s.1);
                let Some(entry) = self.out.entries.get_mut((first + child) as usize) else {
                    continue;
                };
                let at = (entry.first_link + entry.links) as usize;
                entry.links += 1;
                if let Some(place) = self.out.links.get_mut(at) {
                    let fixed = above.fixed && !tree.is_default(field.value);
                    *place = link(above.layer, field.value, fixed);
                }
            }
        }
    }

    fn fields(&self, link: Link) -> &'a [data::Field] {
        match self.value(link).get() {
            data::Value::Map(fields) => fields,
            _ => &[],
        }
    }

    fn value(&self, link: Link) -> Value<'a> {
        Value {
            tree: self.stack.layer(link.layer).tree,
            node: link.node,
        }
    }

    fn link(&self, at: usize) -> Link {
        let link = self.out.links.get(at);
        *link.expect("positions come from the entry's own range")
    }

    fn set_outcome(&mut self, at: usize, outcome: Outcome) {
        if let Some(link) = self.out.links.get_mut(at) {
            link.outcome = outcome;
        }
    }

    fn set_state(&mut self, id: EntryId, state: State) {
        if let Some(entry) = self.out.entries.get_mut(id.0 as usize) {
            entry.state = state;
        }
    }
}

/// Whom a contribution binds to what it admits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binding {
    Never,
    /// A constraint: everybody.
    Always,
    /// A default with alternatives: the levels above.
    Above,
}

/// A fixed leaf that stands in the way.
struct Lock {
    layer: LayerId,
    node: NodeId,
    below: Vec<Symbol>,
}

fn count(n: usize) -> u32 {
    u32::try_from(n).expect("trees have under 2^32 parts, and a stack is a few of them")
}
