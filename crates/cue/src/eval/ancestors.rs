//! What contains an id of the closedness graph, asked many times.
//!
//! Following the parents takes as many steps as definitions are nested, for every question. Where there are many
//! questions about one id, all that contain it are found once and kept as a set of bits.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::node::DefId;

/// The ids that contain one, and the id itself.
#[derive(Debug)]
pub struct Ancestors {
    first: DefId,
    bits: Vec<u64>,
}

impl Ancestors {
    /// `parent` gives the parent of an id or zero; `links` lead from more containers to what they contain, the
    /// greatest contents first.
    pub fn new(id: DefId, parent: impl Fn(DefId) -> DefId, links: &[(DefId, DefId)]) -> Ancestors {
        let mut all = Vec::new();
        if links.is_empty() {
            let mut at = id;
            while at != 0 {
                all.push(at);
                at = parent(at);
            }
        } else {
            let mut seen: HashSet<DefId, FxBuildHasher> = HashSet::default();
            let mut stack = vec![id];
            while let Some(at) = stack.pop() {
                if at == 0 || !seen.insert(at) {
                    continue;
                }
                all.push(at);
                stack.push(parent(at));
                let start = links.partition_point(|&(_, to)| to > at);
                let here = links.iter().skip(start).take_while(|&&(_, to)| to == at);
                stack.extend(here.map(|&(from, _)| from));
            }
        }
        let first = all.iter().copied().min().unwrap_or(0);
        let last = all.iter().copied().max().unwrap_or(0);
        let mut bits = vec![0u64; (last - first) as usize / 64 + 1];
        for at in all {
            let at = at - first;
            if let Some(word) = bits.get_mut(at as usize / 64) {
                *word |= 1 << (at % 64);
            }
        }
        Ancestors { first, bits }
    }

    pub fn contains(&self, outer: DefId) -> bool {
        if outer == 0 || outer < self.first {
            return false;
        }
        let at = outer - self.first;
        let word = self.bits.get(at as usize / 64).copied().unwrap_or(0);
        word >> (at % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_and_links_are_followed() {
        // 1 contains 2 and 3, 3 contains 70 and 200; a link makes 2 contain 70 too.
        let parent = |id: DefId| match id {
            2 | 3 => 1,
            70 | 200 => 3,
            _ => 0,
        };
        let tree = Ancestors::new(70, parent, &[]);
        let found: Vec<DefId> = (0..300).filter(|&id| tree.contains(id)).collect();
        assert_eq!(found, [1, 3, 70]);
        let graph = Ancestors::new(70, parent, &[(9, 200), (2, 70), (5, 3)]);
        let found: Vec<DefId> = (0..300).filter(|&id| graph.contains(id)).collect();
        assert_eq!(found, [1, 2, 3, 5, 70]);
        assert!((0..300).all(|id| !Ancestors::new(0, parent, &[]).contains(id)));
    }
}
