//! Comments, kept beside the tree.
//!
//! The evaluator can ignore them. A group belongs to one node and has a position in it: how many
//! tokens and children of the node come before the comment. The parser decides both, the
//! formatter prints a group when it gets to that position of the node.

use rustc_hash::FxHashMap;

use super::ast::{Decl, File, Gap, NodeRef, Text};

/// Comments on adjacent lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The comments with their `//`, as ranges of the file's text.
    pub comments: Vec<Text>,
    /// It stands directly above what it belongs to.
    pub doc: bool,
    /// It stands behind something on the same line.
    pub line: bool,
    /// How many tokens and children of its node come before it.
    pub position: i32,
    /// The white space before it.
    pub gap: Gap,
}

/// Which groups belong to which node.
#[derive(Clone, Debug, Default)]
pub struct Comments {
    groups: FxHashMap<NodeRef, Vec<Group>>,
}

impl Comments {
    /// The groups of a node, in the order in which they are printed.
    pub fn of(&self, node: NodeRef) -> &[Group] {
        self.groups.get(&node).map_or(&[], Vec::as_slice)
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub fn add(&mut self, node: NodeRef, group: Group) {
        self.groups.entry(node).or_default().push(group);
    }

    /// All groups, in no order.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values().flatten()
    }

    pub(super) fn take(&mut self, node: NodeRef) -> Vec<Group> {
        self.groups.remove(&node).unwrap_or_default()
    }
}

impl File {
    /// The comments about the whole file, line by line without their marks: those above the package clause, or apart
    /// from what follows at the top.
    pub fn docs(&self) -> Vec<String> {
        let mut groups: Vec<&Group> = self.comments.of(NodeRef::File).iter().collect();
        if let Some(first) = self.list(self.decls).next() {
            let is_package = matches!(self.decl(first), Decl::Package { .. });
            let own = self.comments.of(NodeRef::Decl(first)).iter();
            groups.extend(own.filter(|g| g.position == 0 && (is_package || !g.doc)));
        }
        groups
            .iter()
            .flat_map(|g| g.comments.iter())
            .map(|&text| {
                let line = self.str(text).trim_start_matches('/').trim_end();
                line.strip_prefix(' ').unwrap_or(line).to_owned()
            })
            .collect()
    }
}
