//! Where every value came from: the leaves of the result, each with its tier, place, status and
//! whole chain. One shape for all surfaces; the words are this one's.

use base::{Outcome, Path, Span, Symbols};
use data::{NodeId, Tree};
use layers::{EntryId, Link, State};

use crate::merge::{Merged, dotted};
use crate::tier::Tier;

/// What may become of a value, or what has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Fixed by the platform operator.
    Locked,
    /// As shipped, and open to the end user.
    Default,
    /// Given by the end user, over a lower tier's value.
    Overridden,
    /// Given by the end user where nothing lies below.
    Set,
    /// As shipped, and open to the end user within bounds.
    Constrained,
    /// Computed from other values.
    Derived,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Status::Locked => "locked",
            Status::Default => "default",
            Status::Overridden => "overridden",
            Status::Set => "set",
            Status::Constrained => "constrained",
            Status::Derived => "derived",
        }
    }
}

/// One leaf of the effective values.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'a> {
    pub entry: EntryId,
    pub tree: &'a Tree,
    pub node: NodeId,
    pub link: Link,
    pub tier: Tier,
    pub status: Status,
}

impl Leaf<'_> {
    pub fn span(&self) -> Span {
        self.tree.span(self.node)
    }
}

/// One contribution to a value.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    pub tier: Tier,
    pub tree: &'a Tree,
    pub node: NodeId,
    pub outcome: Outcome,
    /// An overridable default of the platform: shown with `*`.
    pub is_default: bool,
    /// It binds the end user.
    pub locks: bool,
}

impl Said<'_> {
    pub fn span(&self) -> Span {
        self.tree.span(self.node)
    }

    /// The value in one short line, `*` before a platform's default.
    pub fn short(&self, symbols: &Symbols) -> String {
        if let (Outcome::Constrains, data::Value::String(text)) =
            (self.outcome, self.tree.value(self.node))
        {
            return crate::show::shorten(text.to_owned(), crate::show::SHORT);
        }
        let value = crate::show::short(self.tree, self.node, symbols);
        match self.is_default {
            true => format!("*{value}"),
            false => value,
        }
    }
}

/// What one leaf is; nothing where there is no leaf. A map without fields counts as one.
pub fn leaf<'a>(merged: &Merged<'a>, entry: EntryId) -> Option<Leaf<'a>> {
    let resolution = &merged.resolution;
    let link = match resolution.state(entry) {
        State::Leaf { .. } => resolution.standing(entry)?,
        State::Map { .. } => {
            if resolution.parent(entry).is_none() || has_fields(merged, entry) {
                return None;
            }
            let chain = resolution.chain(entry).iter();
            *chain.rev().find(|link| link.outcome == Outcome::Stands)?
        }
        State::Removed { .. } | State::Absent => return None,
    };
    let tier = merged.tier(link);
    let lower = |other: &Link| other.outcome == Outcome::Overridden && merged.tier(*other) < tier;
    let bounds = |other: &Link| other.outcome == Outcome::Constrains;
    let is_derived = merged
        .part(link.layer)
        .document
        .derived
        .contains_key(&link.node);
    let status = match tier {
        _ if merged.is_locked(entry) => Status::Locked,
        _ if is_derived => Status::Derived,
        Tier::User if resolution.chain(entry).iter().any(lower) => Status::Overridden,
        Tier::User => Status::Set,
        _ if resolution.chain(entry).iter().any(bounds) => Status::Constrained,
        _ => Status::Default,
    };
    Some(Leaf {
        entry,
        tree: merged.tree(link.layer),
        node: link.node,
        link,
        tier,
        status,
    })
}

/// The values that a leaf was computed from; none where it was simply said.
pub fn derived_from(merged: &Merged<'_>, leaf: &Leaf<'_>, symbols: &Symbols) -> Vec<Path> {
    let derived = &merged.part(leaf.link.layer).document.derived;
    let paths = derived.get(&leaf.link.node).into_iter().flatten();
    paths.map(|path| dotted(path, symbols)).collect()
}

fn has_fields(merged: &Merged<'_>, entry: EntryId) -> bool {
    let resolution = &merged.resolution;
    resolution
        .children(entry)
        .any(|child| resolution.is_present(child))
}

/// All leaves at or below an entry, in the order of the result.
pub fn leaves<'a>(merged: &Merged<'a>, below: EntryId) -> Vec<Leaf<'a>> {
    let mut found = Vec::new();
    let mut work = vec![below];
    while let Some(entry) = work.pop() {
        found.extend(leaf(merged, entry));
        work.extend(merged.resolution.children(entry).rev());
    }
    found
}

/// Every contribution to an entry, low to high.
pub fn chain<'a>(merged: &Merged<'a>, entry: EntryId) -> Vec<Said<'a>> {
    let links = merged.resolution.chain(entry).iter();
    links
        .map(|link| {
            let tier = merged.tier(*link);
            Said {
                tier,
                tree: merged.tree(link.layer),
                node: link.node,
                outcome: link.outcome,
                is_default: tier == Tier::Platform
                    && !link.fixed
                    && link.outcome != Outcome::Constrains,
                locks: tier == Tier::Platform && link.fixed && link.outcome == Outcome::Stands,
            }
        })
        .collect()
}

/// The contribution that a leaf was laid over: the highest that it overrides.
pub fn below<'a>(merged: &Merged<'a>, leaf: &Leaf<'_>) -> Option<Said<'a>> {
    let chain = chain(merged, leaf.entry);
    chain
        .into_iter()
        .rev()
        .find(|said| said.outcome == Outcome::Overridden)
}
