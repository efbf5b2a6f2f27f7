//! Late binding: references of one layer see the effective values of the whole stack.
//!
//! A layer is evaluated by itself, as plain CUE. Wherever one of its references leads to a field of its values, the
//! field is looked up in the effective values first: what stands there may come from another layer. Where the
//! layer's own value stands, or nothing does yet, the reference leads where it always did, so that
//! a layer alone is plain CUE. Hidden fields, definitions, `let` and what is inside a list stay the
//! layer's own.
//!
//! Every such reference is noted with who asked: this is what a value was derived from. How layers are laid over
//! one another, and when the effective values are settled, is not known here.

use base::Span;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::context::{Ctx, R};
use super::ids::NodeId;
use super::label::Label;
use super::sched::Cond;
use super::work::Run;

/// Who referred to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asker {
    /// A field of the layer's values.
    Field(Vec<Label>),
    /// Something else of the layer's file: a hidden field, a `let`.
    Other(NodeId),
}

/// One reference to a value.
#[derive(Clone, Debug)]
pub struct Read {
    pub from: Asker,
    pub to: Vec<Label>,
    pub pos: Option<Span>,
}

/// What a layer's references are bound to.
#[derive(Debug)]
pub struct Late {
    /// The vertex of the layer's file.
    pub file: NodeId,
    /// The path of the values in it.
    pub at: Vec<Label>,
    pub layer: u16,
    /// The effective values, computed.
    pub effective: Option<NodeId>,
    /// Vertices of the effective values that are one layer's alone.
    pub owners: HashMap<NodeId, u16, FxBuildHasher>,
    pub reads: Vec<Read>,
    /// References between vertices that are no fields of the values.
    pub uses: Vec<(Asker, NodeId)>,
}

/// Where a vertex lies.
enum Place {
    Own(Vec<Label>),
    Effective(Vec<Label>),
}

impl Ctx {
    /// As [`Ctx::lookup`], with the fields of values bound late.
    pub(super) fn lookup_late(
        &mut self,
        node: NodeId,
        pos: Option<Span>,
        label: Label,
        needs: Cond,
        run: Run,
    ) -> R<Option<NodeId>> {
        if self.late.is_none() {
            return self.lookup(node, pos, label, needs, run);
        }
        let (mut path, own) = match self.place_in_stack(node) {
            None => {
                let found = self.lookup(node, pos, label, needs, run)?;
                return Ok(self.note_use(found));
            }
            Some(Place::Own(path)) => (path, true),
            Some(Place::Effective(path)) => (path, false),
        };
        if !label.is_string() {
            let from = match own || label.is_int() {
                true => node,
                false => self.own_vertex(&path).unwrap_or(node),
            };
            let found = self.lookup(from, pos, label, needs, run)?;
            return Ok(self.note_use(found));
        }
        path.push(label);
        self.note_read(&path, pos);
        let late = self.late.as_ref();
        let layer = late.map(|late| late.layer);
        if let Some(target) = self.effective_vertex(&path) {
            let owner = late.and_then(|late| late.owners.get(&target).copied());
            if owner.is_none() || owner != layer {
                return Ok(Some(target));
            }
        }
        path.pop();
        let from = match own {
            true => node,
            false => self.own_vertex(&path).unwrap_or(node),
        };
        self.lookup(from, pos, label, needs, run)
    }

    /// Where a vertex lies in the values; nothing where it is elsewhere, or below a list.
    fn place_in_stack(&self, node: NodeId) -> Option<Place> {
        let late = self.late.as_ref()?;
        let mut labels = Vec::new();
        let mut at = node;
        loop {
            if Some(at) == late.effective {
                labels.reverse();
                return Some(Place::Effective(labels));
            }
            if at == late.file {
                labels.reverse();
                let path = labels.strip_prefix(late.at.as_slice())?;
                return Some(Place::Own(path.to_vec()));
            }
            let n = &self.nodes[at];
            if !n.label.is_string() {
                return None;
            }
            labels.push(n.label);
            at = n.parent?;
        }
    }

    /// The path of a field of the layer's values.
    pub fn values_path(&self, node: NodeId) -> Option<Vec<Label>> {
        match self.place_in_stack(node)? {
            Place::Own(path) => Some(path),
            Place::Effective(_) => None,
        }
    }

    fn effective_vertex(&self, path: &[Label]) -> Option<NodeId> {
        self.walk(self.late.as_ref()?.effective?, path)
    }

    fn own_vertex(&self, path: &[Label]) -> Option<NodeId> {
        let late = self.late.as_ref()?;
        let root = self.walk(late.file, &late.at)?;
        self.walk(root, path)
    }

    fn walk(&self, from: NodeId, path: &[Label]) -> Option<NodeId> {
        path.iter().try_fold(from, |at, &label| {
            self.find_arc(self.deref_value(at), label)
        })
    }

    fn asker(&self) -> Option<Asker> {
        let node = self.node?;
        Some(match self.values_path(node) {
            Some(path) => Asker::Field(path),
            None => Asker::Other(node),
        })
    }

    /// A reference that led outside the values, or to their root, which means the effective ones.
    fn note_use(&mut self, found: Option<NodeId>) -> Option<NodeId> {
        let arc = found?;
        if self.values_path(arc).is_some_and(|path| path.is_empty()) {
            let effective = self.late.as_ref().and_then(|late| late.effective);
            return effective.or(found);
        }
        if let (Some(asker), Some(late)) = (self.asker(), &mut self.late) {
            late.uses.push((asker, arc));
        }
        found
    }

    /// Notes a reference. One that goes on from the last takes its place: `a.b` is not a reference to `a`.
    fn note_read(&mut self, path: &[Label], pos: Option<Span>) {
        let Some(from) = self.asker() else {
            return;
        };
        let Some(late) = &mut self.late else {
            return;
        };
        let above = path.split_last().map_or(&[][..], |(_, above)| above);
        let mut recent = late.reads.iter_mut().rev().take(RECENT);
        let last = recent.find(|read| read.from == from);
        let to = path.to_vec();
        match last {
            Some(last) if last.to == above && !above.is_empty() && follows(last.pos, pos) => {
                last.to = to;
                if let (Some(whole), Some(pos)) = (&mut last.pos, pos) {
                    whole.end = pos.end;
                }
            }
            Some(last) if last.to == to && last.pos == pos => {}
            _ => late.reads.push(Read { from, to, pos }),
        }
    }
}

/// How far back a reference looks for the one that it goes on from.
const RECENT: usize = 64;

/// Whether a selector stands behind what it selects from.
fn follows(before: Option<Span>, after: Option<Span>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            before.source == after.source
                && after.start >= before.end
                && after.start - before.end <= 2
        }
        _ => true,
    }
}
