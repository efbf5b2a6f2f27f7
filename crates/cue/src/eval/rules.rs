//! The requirements of closedness that the fields of one vertex are held to: which evidence satisfies which.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::node::DefId;
use super::work::{Evidence, ReqSet};

/// From this many requirements on there is a table.
const TABLED: usize = 16;

/// The requirements that the fields of a vertex are held to.
pub struct Rules {
    pub reqs: Vec<ReqSet>,
    /// The first of each id; empty where there are few.
    index: HashMap<DefId, usize, FxBuildHasher>,
}

impl Rules {
    pub fn new(reqs: Vec<ReqSet>) -> Rules {
        let mut index = HashMap::default();
        if reqs.len() > TABLED {
            for (at, req) in reqs.iter().enumerate() {
                index.entry(req.id).or_insert(at);
            }
        }
        Rules { reqs, index }
    }

    fn find(&self, id: DefId) -> Option<&ReqSet> {
        if id == 0 {
            return None;
        }
        if self.index.is_empty() {
            return self.reqs.iter().find(|r| r.id == id);
        }
        self.index.get(&id).and_then(|&at| self.reqs.get(at))
    }

    /// Whether a requirement allows a field with that evidence.
    pub fn allow(
        &self,
        req: &ReqSet,
        evidence: &[Evidence],
        contains: &mut impl FnMut(DefId, DefId) -> bool,
    ) -> bool {
        if evidence.iter().any(|e| contains(req.id, e.id)) {
            return true;
        }
        let Some(embed) = self.find(req.embed) else {
            return false;
        };
        let outer = self.find(req.parent);
        for e in evidence {
            if contains(embed.id, e.embed) {
                continue;
            }
            if req.parent == 0 {
                if embed.parent != 0 && self.find(embed.parent).is_none() {
                    continue;
                }
                return true;
            }
            match outer {
                None => return true,
                Some(outer) => {
                    if outer.removed || contains(outer.id, e.id) {
                        return true;
                    }
                }
            }
        }
        false
    }
}
