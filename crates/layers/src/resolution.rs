//! What came out: one arena of entries, their children as ranges, and all contributions in one
//! vector. An entry exists for every path that some layer sets and no higher layer replaced from above.

use base::{LayerId, Outcome, Symbol};
use data::NodeId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u32);

/// One contribution to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub node: NodeId,
    pub layer: LayerId,
    pub outcome: Outcome,
    /// Whether it was said with the intent to bind higher levels.
    pub fixed: bool,
}

/// What an entry came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A map; its fields are entries of their own.
    Map { first: u32, len: u32 },
    /// A scalar or a list: the link with this position in the chain.
    Leaf { link: u32 },
    /// Removed by the link with this position in the chain.
    Removed { link: u32 },
    /// Only constraints, refused or dropped values.
    Absent,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub name: Symbol,
    pub parent: u32,
    pub first_link: u32,
    pub links: u32,
    pub state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// A higher level said something else than a fixed value.
    Locked,
    /// A value that a constraint of a lower level does not admit.
    Unmet,
    /// A constraint dropped what lower layers had said, and nothing replaces it.
    Unsupplied,
}

/// What plain precedence does not settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub kind: ConflictKind,
    pub entry: EntryId,
    /// The refused (or dropped) contribution: a position in the entry's chain.
    pub offender: u32,
    /// Who forbids it, and where.
    pub layer: LayerId,
    pub node: NodeId,
    /// Where the lock lies below the entry, if the offender would replace a map that holds it.
    pub below: Vec<Symbol>,
}

/// Values, chains and conflicts of one stack.
#[derive(Clone, Debug)]
pub struct Resolution {
    pub(crate) entries: Vec<Entry>,
    pub(crate) links: Vec<Link>,
    /// In the order in which they were met: a parent's before its children's, low before high.
    pub conflicts: Vec<Conflict>,
}

impl Resolution {
    /// The entry of the stack's roots. Its name means nothing.
    pub fn root(&self) -> EntryId {
        EntryId(0)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries, parents before their children.
    pub fn entries(&self) -> impl Iterator<Item = EntryId> + use<> {
        (0..u32::try_from(self.entries.len()).unwrap_or(u32::MAX)).map(EntryId)
    }

    pub fn name(&self, id: EntryId) -> Symbol {
        self.entry(id).name
    }

    pub fn state(&self, id: EntryId) -> State {
        self.entry(id).state
    }

    /// The fields of an entry that is a map, in order of first appearance, low to high; no
    /// fields where it is not a map.
    pub fn children(&self, id: EntryId) -> impl DoubleEndedIterator<Item = EntryId> + use<> {
        match self.entry(id).state {
            State::Map { first, len } => (first..first + len).map(EntryId),
            _ => (0..0).map(EntryId),
        }
    }

    pub fn child(&self, id: EntryId, name: Symbol) -> Option<EntryId> {
        self.children(id).find(|&child| self.name(child) == name)
    }

    /// Whether a value (a map, a list or a scalar) is there.
    pub fn is_present(&self, id: EntryId) -> bool {
        matches!(self.state(id), State::Map { .. } | State::Leaf { .. })
    }

    pub fn parent(&self, id: EntryId) -> Option<EntryId> {
        (id.0 != 0).then(|| EntryId(self.entry(id).parent))
    }

    /// The names from the root to this entry.
    pub fn names(&self, id: EntryId) -> Vec<Symbol> {
        let mut names = Vec::new();
        let mut at = id;
        while let Some(parent) = self.parent(at) {
            names.push(self.name(at));
            at = parent;
        }
        names.reverse();
        names
    }

    /// Every contribution to this entry, low to high.
    pub fn chain(&self, id: EntryId) -> &[Link] {
        let entry = self.entry(id);
        let first = entry.first_link as usize;
        self.links
            .get(first..first + entry.links as usize)
            .unwrap_or(&[])
    }

    /// The contribution that made a leaf what it is, or removed it.
    pub fn standing(&self, id: EntryId) -> Option<Link> {
        match self.entry(id).state {
            State::Leaf { link } | State::Removed { link } => {
                self.chain(id).get(link as usize).copied()
            }
            _ => None,
        }
    }

    pub(crate) fn entry(&self, id: EntryId) -> &Entry {
        self.entries
            .get(id.0 as usize)
            .expect("an EntryId comes from the resolution that made it")
    }
}
