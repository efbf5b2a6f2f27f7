//! Vertices, conjuncts and frames.
//!
//! A vertex is the unification of its conjuncts. What is needed only while it is being computed lives in
//! a [`Work`] that is dropped when the vertex is final.

use std::ops::Deref;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::few::{Few, Rare};
use super::ids::{DeclId, EnvId, ExprId, NodeId, RefId, ValId};
use super::label::Label;
use super::value::Val;
use super::work::Work;

/// How a field is declared; merging two declarations takes the smaller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ArcType {
    Member,
    Required,
    Optional,
    /// Somebody looked the field up, or a comprehension may still produce it.
    Pending,
    NotPresent,
}

impl ArcType {
    pub fn suffix(self) -> &'static str {
        match self {
            ArcType::Member => "",
            ArcType::Required => "!",
            ArcType::Optional => "?",
            ArcType::Pending => "*",
            ArcType::NotPresent => "-",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    Unprocessed,
    Evaluating,
    Finalized,
}

/// What a vertex is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Vertex,
    /// It is inserted by value, whatever conjuncts it has.
    Data,
    /// It holds what a pattern asks of the fields it matches.
    Pattern,
    /// A vertex that was settled without work: its conjuncts are its evidence until it is released.
    Plain,
}

/// What a vertex is, apart from its fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Nothing is known yet.
    None,
    Struct,
    List {
        open: bool,
    },
    Val(ValId),
    /// The vertex is another one: shared structure, or the only disjunct that is left.
    Node(NodeId),
}

/// Whether a conjunct repeats a structure it is part of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Cyclic {
    #[default]
    No,
    /// From an optional field, pattern, list tail or disjunct.
    Optional,
    Maybe,
    Yes,
}

/// A number for one place in the closedness graph; zero means none.
pub type DefId = u32;

/// Where a conjunct came from: its place in the closedness graph, its chain of references.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CloseInfo {
    pub def: DefId,
    /// The embedding it is written in.
    pub embed: DefId,
    /// The braces that are to be closed together.
    pub outer: DefId,
    pub refs: Option<RefId>,
    pub cyclic: Cyclic,
    pub from_embed: bool,
    pub from_def: bool,
    pub top_def: bool,
    pub opened: bool,
}

/// The syntax or value of a conjunct.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum X {
    Expr(ExprId),
    Decl(DeclId),
    Node(NodeId),
    Val(ValId),
}

impl From<Val> for X {
    fn from(val: Val) -> X {
        match val {
            Val::Node(node) => X::Node(node),
            Val::Lit(val) => X::Val(val),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conjunct {
    pub env: Option<EnvId>,
    pub x: X,
    pub ci: CloseInfo,
}

#[derive(Clone, Debug, Default)]
pub struct Env {
    pub up: Option<EnvId>,
    pub node: Option<NodeId>,
    /// The label a pattern matched or a dynamic field got.
    pub label: Label,
    /// The firing of a comprehension this frame belongs to.
    pub comp: u32,
    /// Vertices made for `let` clauses that differ by frame.
    pub lets: Rare<LetEntry>,
}

#[derive(Clone, Copy, Debug)]
pub struct LetEntry {
    pub expr: Option<ExprId>,
    pub arc: NodeId,
    pub node: NodeId,
    pub again: bool,
}

/// A struct literal that was inserted into a vertex: output order depends on it.
#[derive(Clone, Copy, Debug)]
pub struct StructUse {
    pub expr: ExprId,
    pub repeats: u32,
    pub comp: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct PatternPair {
    pub pattern: Val,
    pub constraint: NodeId,
}

/// What a vertex with fields has: the fields in the order of insertion, the literals they came from, and patterns. Most
/// vertices have none: this is one pointer.
#[derive(Clone, Debug, Default)]
pub struct Arcs(Option<Box<ArcTable>>);

#[derive(Clone, Debug)]
pub struct ArcTable {
    pub list: Vec<NodeId>,
    /// The labels of the first fields: to look at the vertices themselves would be far.
    heads: [Label; HEADS],
    /// Where each label is, for many fields that are not dense.
    index: Option<Box<Index>>,
    /// Each label is the field's own place: a list.
    dense: bool,
    /// The struct literals that were inserted.
    pub structs: Few<StructUse>,
    pub patterns: Rare<PatternPair>,
}

type Index = HashMap<Label, NodeId, FxBuildHasher>;

const HEADS: usize = 4;

/// From this many fields on, a table is kept beside the list.
const INDEXED: usize = 24;

static NO_ARCS: ArcTable = ArcTable {
    list: Vec::new(),
    heads: [Label::NONE; HEADS],
    index: None,
    dense: true,
    structs: Few::new(),
    patterns: Rare::new(),
};

impl Deref for Arcs {
    type Target = ArcTable;

    fn deref(&self) -> &ArcTable {
        self.0.as_deref().unwrap_or(&NO_ARCS)
    }
}

impl Arcs {
    /// Takes the fields out, and forgets the rest.
    pub fn take(&mut self) -> Vec<NodeId> {
        self.0.take().map_or(Vec::new(), |table| table.list)
    }

    /// Forgets the fields, but not literals and patterns.
    pub fn clear(&mut self) {
        let Some(table) = &mut self.0 else { return };
        let structs = std::mem::take(&mut table.structs);
        let patterns = std::mem::take(&mut table.patterns);
        self.0 = None;
        if !structs.is_empty() || !patterns.is_empty() {
            let table = self.table();
            table.structs = structs;
            table.patterns = patterns;
        }
    }

    pub fn structs_mut(&mut self) -> &mut Few<StructUse> {
        &mut self.table().structs
    }

    pub fn push_pattern(&mut self, pair: PatternPair) {
        self.table().patterns.push(pair);
    }

    pub fn clear_structs(&mut self) {
        if let Some(table) = &mut self.0 {
            table.structs.clear();
        }
    }

    pub fn clear_patterns(&mut self) {
        if let Some(table) = &mut self.0 {
            table.patterns.clear();
        }
    }

    fn table(&mut self) -> &mut ArcTable {
        self.0.get_or_insert_with(|| Box::new(NO_ARCS.clone()))
    }

    pub fn push(&mut self, label: Label, id: NodeId, label_of: impl Fn(NodeId) -> Label) {
        let table = self.table();
        let at = table.list.len();
        table.list.push(id);
        if let Some(head) = table.heads.get_mut(at) {
            *head = label;
        }
        table.dense &= label == Label::int(at);
        if let Some(index) = &mut table.index {
            index.entry(label).or_insert(id);
        } else if at >= INDEXED && !table.dense {
            let mut index = Index::default();
            for &arc in &table.list {
                let label = if arc == id { label } else { label_of(arc) };
                index.entry(label).or_insert(arc);
            }
            table.index = Some(Box::new(index));
        }
    }

    /// Keeps the arcs for which `keep` holds.
    pub fn retain(
        &mut self,
        mut keep: impl FnMut(NodeId) -> bool,
        label_of: impl Fn(NodeId) -> Label,
    ) {
        let Some(table) = &mut self.0 else { return };
        let before = table.list.len();
        table.list.retain(|&arc| keep(arc));
        if table.list.len() != before {
            let list = std::mem::take(&mut table.list);
            self.replace(list, label_of);
        }
    }

    /// Replaces the arcs by others.
    pub fn replace(&mut self, list: Vec<NodeId>, label_of: impl Fn(NodeId) -> Label) {
        self.clear();
        if list.is_empty() {
            return;
        }
        let table = self.table();
        table.list = list;
        for (head, &arc) in table.heads.iter_mut().zip(&table.list) {
            *head = label_of(arc);
        }
        let mut places = table.list.iter().zip(0..);
        table.dense = places.all(|(&arc, at)| label_of(arc) == Label::int(at));
        if table.list.len() >= INDEXED && !table.dense {
            let pairs = table.list.iter().rev().map(|&arc| (label_of(arc), arc));
            table.index = Some(Box::new(pairs.collect()));
        }
    }
}

impl ArcTable {
    pub fn get(&self, i: usize) -> Option<NodeId> {
        self.list.get(i).copied()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn find(&self, label: Label, label_of: impl Fn(NodeId) -> Label) -> Option<NodeId> {
        if let Some(index) = &self.index {
            return index.get(&label).copied();
        }
        if self.dense {
            let at = label.is_int().then(|| label.index() as usize)?;
            return self.get(at);
        }
        let known = self.heads.iter().zip(&self.list);
        if let Some((_, &arc)) = known.into_iter().find(|&(&head, _)| head == label) {
            return Some(arc);
        }
        let rest = self.list.get(HEADS..).unwrap_or(&[]);
        rest.iter().copied().find(|&arc| label_of(arc) == label)
    }
}

/// A vertex.
#[derive(Debug)]
pub struct Node {
    pub parent: Option<NodeId>,
    pub label: Label,
    pub arc_type: ArcType,
    pub status: Status,
    pub base: Base,
    pub conjuncts: Few<Conjunct>,
    pub arcs: Arcs,
    pub child_errors: Option<ValId>,
    pub work: Option<Box<Work>>,
    pub role: Role,
    pub closed_recursive: bool,
    pub closed_once: bool,
    pub has_ellipsis: bool,
    pub multi_let: bool,
    /// Made on the fly, not reachable by a path.
    pub is_dynamic: bool,
    pub non_rooted: bool,
    pub anonymous: bool,
    pub is_disjunct: bool,
    pub is_shared: bool,
}

impl Node {
    pub fn new(parent: Option<NodeId>, label: Label, arc_type: ArcType) -> Node {
        Node {
            parent,
            label,
            arc_type,
            status: Status::Unprocessed,
            base: Base::None,
            conjuncts: Few::new(),
            arcs: Arcs::default(),
            child_errors: None,
            work: None,
            role: Role::Vertex,
            closed_recursive: false,
            closed_once: false,
            has_ellipsis: false,
            multi_let: false,
            is_dynamic: false,
            non_rooted: false,
            anonymous: false,
            is_disjunct: false,
            is_shared: false,
        }
    }

    /// Whether there is a path to it from the root.
    pub fn rooted(&self) -> bool {
        !self.non_rooted && !self.label.is_let() && !self.is_dynamic
    }

    /// Plain data: it has no conjuncts that could be inserted elsewhere.
    pub fn is_data(&self) -> bool {
        self.role == Role::Data || self.conjuncts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::Id;
    use super::*;
    use std::num::NonZeroU32;

    fn id(n: u32) -> NodeId {
        NodeId::new(NonZeroU32::new(n + 1).expect("more than zero"))
    }

    /// Fields with these labels, each vertex numbered by its place.
    fn arcs(labels: &[Label]) -> Arcs {
        let mut arcs = Arcs::default();
        for (&label, n) in labels.iter().zip(0..) {
            arcs.push(label, id(n), |arc| labels[arc.get() as usize - 1]);
        }
        arcs
    }

    #[test]
    fn fields_are_found_however_many_there_are() {
        let mut symbols = base::Symbols::new();
        let mut named = |n: u32| Label::string(&mut symbols, &format!("f{n}"));
        for count in [0, 1, 4, 5, 23, 24, 25, 100] {
            let names: Vec<Label> = (0..count).map(&mut named).collect();
            let indices: Vec<Label> = (0..count as usize).map(Label::int).collect();
            let mut mixed = indices.clone();
            mixed.extend(names.first());
            for labels in [&names, &indices, &mixed] {
                let of = |arc: NodeId| labels[arc.get() as usize - 1];
                let mut arcs = arcs(labels);
                for (&label, n) in labels.iter().zip(0..) {
                    assert_eq!(arcs.find(label, of), Some(id(n)), "{count}");
                }
                assert_eq!(arcs.find(Label::int(1000), of), None);
                arcs.structs_mut();
                arcs.retain(|arc| arc.get() % 2 == 0, of);
                for (&label, n) in labels.iter().zip(0..) {
                    let kept = (n % 2 == 1).then_some(id(n));
                    assert_eq!(arcs.find(label, of), kept, "{count}");
                }
                arcs.clear();
                assert!(arcs.is_empty());
            }
        }
    }
}
