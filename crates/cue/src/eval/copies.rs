//! Which vertices were copied to which for a disjunct. Most disjuncts are scalars: one vertex is copied.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::ids::NodeId;

/// Beyond this many there is a table.
const LISTED: usize = 8;

#[derive(Clone, Debug, Default)]
pub struct Copies {
    listed: SmallVec<[(NodeId, NodeId); 2]>,
    table: Option<Box<HashMap<NodeId, NodeId, FxBuildHasher>>>,
}

impl Copies {
    pub fn get(&self, node: NodeId) -> Option<NodeId> {
        match &self.table {
            Some(table) => table.get(&node).copied(),
            None => {
                let found = self.listed.iter().find(|(of, _)| *of == node);
                found.map(|&(_, copy)| copy)
            }
        }
    }

    pub fn insert(&mut self, node: NodeId, copy: NodeId) {
        if let Some(table) = &mut self.table {
            table.insert(node, copy);
        } else if let Some((_, known)) = self.listed.iter_mut().find(|(of, _)| *of == node) {
            *known = copy;
        } else if self.listed.len() < LISTED {
            self.listed.push((node, copy));
        } else {
            let mut table: HashMap<_, _, _> = self.listed.drain(..).collect();
            table.insert(node, copy);
            self.table = Some(Box::new(table));
        }
    }

    /// The copy of the copy and so on; the vertex itself if it was not copied.
    pub fn last(&self, mut node: NodeId) -> NodeId {
        let count = self.table.as_ref().map_or(self.listed.len(), |t| t.len());
        for _ in 0..=count {
            match self.get(node) {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::ids::{Arena, Id};

    #[test]
    fn copies_are_found_before_and_after_there_is_a_table() {
        let mut arena: Arena<NodeId, ()> = Arena::default();
        let ids: Vec<NodeId> = (0..40).map(|_| arena.push(())).collect();
        let mut copies = Copies::default();
        for pair in ids.windows(2).take(20) {
            if let [of, copy] = *pair {
                copies.insert(of, copy);
                assert_eq!(copies.get(of), Some(copy));
                assert_eq!(copies.last(ids[0]), copy);
            }
        }
        assert_eq!(copies.get(ids[30]), None);
        assert_eq!(copies.last(ids[30]).get(), ids[30].get());
        copies.insert(ids[0], ids[39]);
        assert_eq!(copies.last(ids[0]), ids[39]);
    }
}
