//! What is different between two results: between one tier and the next, or between two stacks.

use base::{LayerId, Path, Segment, Symbols};
use data::{NodeId, Tree};
use layers::{EntryId, Stack};

use crate::merge::Merged;
use crate::provenance::{self, Leaf};
use crate::tier::Tier;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    Added,
    Removed,
    Changed,
    /// The same value, which an end user may now not change.
    Locked,
    /// The same value, which an end user may now change.
    Unlocked,
}

impl Change {
    pub fn word(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Removed => "removed",
            Change::Changed => "changed",
            Change::Locked => "locked",
            Change::Unlocked => "unlocked",
        }
    }

    pub fn sign(self) -> char {
        match self {
            Change::Added => '+',
            Change::Removed => '-',
            Change::Changed => '~',
            Change::Locked | Change::Unlocked => '=',
        }
    }
}

/// One leaf that differs.
#[derive(Clone, Debug)]
pub struct Difference<'a> {
    pub path: Path,
    pub change: Change,
    pub before: Option<(&'a Tree, NodeId)>,
    pub after: Option<(&'a Tree, NodeId)>,
    /// Who made it so: the layer of the second result, or of the first where something went.
    pub layer: LayerId,
    /// Whether it is locked afterwards.
    pub locks: bool,
}

/// The result as it is after a tier, without those above it.
pub fn up_to<'a>(merged: &Merged<'a>, tier: Tier) -> Merged<'a> {
    let stage = merged.evaluated.and_then(|all| all.stage(tier));
    match stage {
        Some(stage) => Merged::of(stage),
        None => Merged {
            stack: Stack::new(Vec::new()),
            parts: Vec::new(),
            resolution: layers::resolve(&Stack::new(Vec::new())),
            tiers: Vec::new(),
            evaluated: None,
        },
    }
}

/// What differs from `old` to `new`, by path. Both must have been read with one table of symbols.
pub fn between<'a>(old: &Merged<'a>, new: &Merged<'a>, symbols: &Symbols) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    let mut work = vec![(Some(old.resolution.root()), Some(new.resolution.root()))];
    while let Some((a, b)) = work.pop() {
        let (x, y) = (
            a.and_then(|entry| provenance::leaf(old, entry)),
            b.and_then(|entry| provenance::leaf(new, entry)),
        );
        found.extend(difference(old, new, x, y, symbols));
        work.extend(pairs(old, a, new, b));
    }
    found.sort_by(|a, b| (&a.path, a.change).cmp(&(&b.path, b.change)));
    found
}

type Pair = (Option<EntryId>, Option<EntryId>);

/// The fields of two entries, matched by name.
fn pairs(old: &Merged<'_>, a: Option<EntryId>, new: &Merged<'_>, b: Option<EntryId>) -> Vec<Pair> {
    let fields = |merged: &Merged<'_>, entry: Option<EntryId>| {
        let Some(entry) = entry else {
            return Vec::new();
        };
        let resolution = &merged.resolution;
        let mut named: Vec<_> = resolution
            .children(entry)
            .map(|child| (resolution.name(child), child))
            .collect();
        named.sort_unstable();
        named
    };
    let (a, b) = (fields(old, a), fields(new, b));
    let mut found = Vec::with_capacity(a.len().max(b.len()));
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    loop {
        match (a.peek().copied(), b.peek().copied()) {
            (None, None) => return found,
            (Some((x, left)), Some((y, right))) if x == y => {
                found.push((Some(left), Some(right)));
                a.next();
                b.next();
            }
            (Some((x, left)), other) if other.is_none_or(|(y, _)| x < y) => {
                found.push((Some(left), None));
                a.next();
            }
            (_, Some((_, right))) => {
                found.push((None, Some(right)));
                b.next();
            }
            (Some((_, left)), None) => {
                found.push((Some(left), None));
                a.next();
            }
        }
    }
}

fn difference<'a>(
    old: &Merged<'a>,
    new: &Merged<'a>,
    before: Option<Leaf<'a>>,
    after: Option<Leaf<'a>>,
    symbols: &Symbols,
) -> Option<Difference<'a>> {
    let value = |leaf: Leaf<'a>| (leaf.tree, leaf.node);
    let locked = |merged: &Merged<'_>, leaf: Leaf<'a>| merged.is_locked(leaf.entry);
    let (at, layer, change) = match (before, after) {
        (None, None) => return None,
        (None, Some(leaf)) => (path(new, leaf, symbols), leaf.link.layer, Change::Added),
        (Some(leaf), None) => (path(old, leaf, symbols), leaf.link.layer, Change::Removed),
        (Some(x), Some(y)) => {
            let (a, b) = (
                layers::Value {
                    tree: x.tree,
                    node: x.node,
                },
                layers::Value {
                    tree: y.tree,
                    node: y.node,
                },
            );
            let change = match (a.same(b), locked(old, x), locked(new, y)) {
                (false, _, _) => Change::Changed,
                (true, false, true) => Change::Locked,
                (true, true, false) => Change::Unlocked,
                _ => return None,
            };
            (path(new, y, symbols), y.link.layer, change)
        }
    };
    Some(Difference {
        path: at,
        change,
        before: before.map(value),
        after: after.map(value),
        layer,
        locks: after.is_some_and(|leaf| locked(new, leaf)),
    })
}

fn path(merged: &Merged<'_>, leaf: Leaf<'_>, symbols: &Symbols) -> Path {
    let names = merged.resolution.names(leaf.entry);
    Path(
        names
            .iter()
            .map(|&name| Segment::Key(symbols.name(name).to_owned()))
            .collect(),
    )
}
