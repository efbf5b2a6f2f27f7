//! What a vertex already has, as tables: a vertex that thousands of declarations contribute to must not search
//! all of them for each.
//!
//! A table covers a beginning of its list and catches up when it is asked; short lists are searched instead.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::context::Ctx;
use super::ids::{ExprId, NodeId};
use super::node::{Conjunct, StructUse, X};

/// From this many elements on there is a table.
const TABLED: usize = 16;

#[derive(Clone, Debug, Default)]
pub struct Known {
    structs: HashMap<ExprId, usize, FxBuildHasher>,
    structs_covered: usize,
    conjuncts: HashSet<X, FxBuildHasher>,
    conjuncts_covered: usize,
}

impl Ctx {
    /// Notes that a struct literal was inserted into a vertex.
    pub(super) fn use_struct(&mut self, node: NodeId, expr: ExprId, comp: u32) {
        let n = &mut self.nodes[node];
        let structs = n.arcs.structs_mut();
        let again = match &mut n.work {
            Some(work) if structs.len() >= TABLED => {
                let known = work.known.get_or_insert_default();
                let new = structs.iter().enumerate().skip(known.structs_covered);
                for (at, used) in new {
                    known.structs.entry(used.expr).or_insert(at);
                }
                known.structs_covered = structs.len();
                let at = known.structs.get(&expr);
                at.and_then(|&at| structs.get_mut(at))
            }
            _ => structs.iter_mut().find(|s| s.expr == expr),
        };
        match again {
            Some(again) => again.repeats += 1,
            None => structs.push(StructUse {
                expr,
                repeats: 0,
                comp,
            }),
        }
    }

    /// The conjunct of a vertex that says the same in the same frame.
    pub(super) fn known_conjunct(&mut self, node: NodeId, c: Conjunct) -> Option<Conjunct> {
        let n = &mut self.nodes[node];
        let conjuncts = &n.conjuncts;
        if let Some(work) = &mut n.work
            && conjuncts.len() >= TABLED
        {
            let known = work.known.get_or_insert_default();
            let new = conjuncts.iter().skip(known.conjuncts_covered);
            known.conjuncts.extend(new.map(|c| c.x));
            known.conjuncts_covered = conjuncts.len();
            if !known.conjuncts.contains(&c.x) {
                return None;
            }
        }
        let mut all = self.nodes[node].conjuncts.iter();
        all.find(|x| x.x == c.x && self.same_env(x.env, c.env))
            .copied()
    }
}
