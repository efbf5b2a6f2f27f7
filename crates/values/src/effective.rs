//! What a stack comes to, as one tree: what references are bound to while the layers are evaluated.

use std::sync::Arc;

use base::{Span, Symbol};
use cue::layered::NOWHERE;
use data::{NodeId, Tree, TreeBuilder};
use layers::EntryId;

use crate::merge::Merged;
use crate::set::copy;

/// The effective values, and which layer alone gave each part of them.
#[derive(Debug)]
pub(crate) struct Effective {
    pub tree: Tree,
    /// By node: the only layer below it, if its values are not mere defaults.
    pub owners: Vec<Option<u16>>,
}

impl Effective {
    pub fn of(merged: &Merged<'_>) -> Effective {
        let mut maker = Maker {
            merged,
            builder: TreeBuilder::new(NOWHERE, Arc::from("")),
            owners: Vec::new(),
        };
        let (root, _) = maker.entry(merged.resolution.root());
        Effective {
            tree: maker.builder.finish(root),
            owners: maker.owners,
        }
    }

    pub fn same(&self, other: &Effective) -> bool {
        self.owners == other.owners
            && (self.tree).equal(self.tree.root(), &other.tree, other.tree.root())
    }

    /// Whether two are the same at a path.
    pub fn same_at(&self, other: &Effective, path: &[Symbol]) -> bool {
        let (a, b) = (self.find(path), other.find(path));
        match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                self.owner(a) == other.owner(b) && self.tree.equal(a, &other.tree, b)
            }
            _ => false,
        }
    }

    /// The node at a path.
    pub fn find(&self, path: &[Symbol]) -> Option<NodeId> {
        let mut names = path.iter();
        names.try_fold(self.tree.root(), |at, &name| self.tree.get(at, name))
    }

    pub fn owner(&self, node: NodeId) -> Option<u16> {
        self.owners.get(node.0 as usize).copied().flatten()
    }
}

struct Maker<'a, 'm> {
    merged: &'a Merged<'m>,
    builder: TreeBuilder,
    owners: Vec<Option<u16>>,
}

const NO_PLACE: Span = Span {
    source: NOWHERE,
    start: 0,
    end: 0,
};

impl Maker<'_, '_> {
    /// Depth is bounded by `data::MAX_DEPTH`.
    fn entry(&mut self, entry: EntryId) -> (NodeId, Option<u16>) {
        let resolution = &self.merged.resolution;
        if let Some((tree, node)) = self.merged.leaf(entry) {
            let made = copy(tree, node, &mut self.builder);
            let owner = resolution.standing(entry).and_then(|link| {
                // A default may still give way, so that references to it must not copy the choice.
                let part = self.merged.part(link.layer);
                (!tree.is_default(node)).then_some(part.index)
            });
            return self.made(made, owner);
        }
        let mut fields = Vec::new();
        let mut owner: Option<Option<u16>> = None;
        for child in resolution.children(entry) {
            if !resolution.is_present(child) {
                continue;
            }
            let (node, of) = self.entry(child);
            let field = self.builder.field(NO_PLACE, resolution.name(child), node);
            fields.push(field);
            owner = match owner {
                None => Some(of),
                Some(before) if before == of => owner,
                Some(_) => Some(None),
            };
        }
        let map = self.builder.map(NO_PLACE, &fields);
        self.made(map, owner.flatten())
    }

    fn made(&mut self, node: NodeId, owner: Option<u16>) -> (NodeId, Option<u16>) {
        let at = node.0 as usize;
        if self.owners.len() <= at {
            self.owners.resize(at + 1, None);
        }
        if let Some(slot) = self.owners.get_mut(at) {
            *slot = owner;
        }
        (node, owner)
    }
}
