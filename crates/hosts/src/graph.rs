//! Which unit needs which: what to start first and what to restart when something changes.
//!
//! An edge goes from a unit to one that comes before it. Only units of the same host count; names
//! that Quadlet translates (`After=a.container`) and the services it generates are the same node.

use std::collections::{BTreeMap, BTreeSet};

/// Nodes with what each of them waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub edges: BTreeMap<String, BTreeSet<String>>,
}

/// An order that respects the edges, and what could not be ordered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ordered {
    pub order: Vec<String>,
    /// Nodes on a cycle, or behind one; they come last, by name.
    pub cyclic: Vec<String>,
}

impl Graph {
    pub fn add(&mut self, node: &str) {
        self.edges.entry(node.to_owned()).or_default();
    }

    /// `node` comes after `before`.
    pub fn after(&mut self, node: &str, before: &str) {
        self.add(before);
        if node != before {
            let known = self.edges.entry(node.to_owned()).or_default();
            known.insert(before.to_owned());
        }
    }

    /// All nodes, each behind what it waits for; by name where that leaves a choice.
    pub fn order(&self) -> Ordered {
        let mut waits: BTreeMap<&str, usize> = BTreeMap::new();
        let mut waiting: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (node, befores) in &self.edges {
            waits.insert(node, befores.len());
            for before in befores {
                waiting.entry(before).or_default().push(node);
            }
        }
        let free = waits.iter().filter(|&(_, &count)| count == 0);
        let mut free: BTreeSet<&str> = free.map(|(&node, _)| node).collect();
        let mut order = Vec::with_capacity(self.edges.len());
        while let Some(node) = free.pop_first() {
            order.push(node.to_owned());
            waits.remove(node);
            for &next in waiting.get(node).into_iter().flatten() {
                if let Some(count) = waits.get_mut(next) {
                    *count -= 1;
                    if *count == 0 {
                        free.insert(next);
                    }
                }
            }
        }
        let cyclic = waits.into_keys().map(str::to_owned).collect();
        Ordered { order, cyclic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first() {
        let mut graph = Graph::default();
        graph.after("a", "c");
        graph.after("b", "a");
        graph.add("d");
        assert_eq!(graph.order().order, ["c", "a", "b", "d"]);
        graph.after("c", "b");
        let ordered = graph.order();
        assert_eq!(ordered.order, ["d"]);
        assert_eq!(ordered.cyclic, ["a", "b", "c"]);
    }
}
