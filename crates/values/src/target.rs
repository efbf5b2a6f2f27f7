//! What stands at a path of the merged values, and where it is written: what a finding points at.

use base::{Diagnostic, Outcome, Path, Segment, Span, Symbols};
use data::{NodeId, Tree, Value};
use layers::{EntryId, Link};

use crate::merge::Merged;

/// A place of the values.
pub(crate) struct Target<'a> {
    pub tree: &'a Tree,
    pub node: NodeId,
    pub link: Link,
    /// Where its name is written, if it is a field.
    pub key: Option<Span>,
    pub is_map: bool,
}

impl Target<'_> {
    /// Adds the place to a finding: the field's name for unknown fields and maps, else the value.
    pub fn place(
        &self,
        merged: &Merged<'_>,
        finding: Diagnostic,
        label: &str,
        at_key: bool,
    ) -> Diagnostic {
        let value = self.tree.span(self.node);
        let span = match (at_key || self.is_map, self.key) {
            (true, Some(key)) => key,
            (true, None) if self.is_map => value.at_start(),
            _ => value,
        };
        let part = merged.part(self.link.layer);
        finding.primary(span, label).role(part.role())
    }
}

/// Finds what stands at a path, and who put it there.
pub(crate) fn locate<'m>(
    merged: &Merged<'m>,
    path: &Path,
    symbols: &Symbols,
) -> Option<Target<'m>> {
    let resolution = &merged.resolution;
    let mut entry = resolution.root();
    for (depth, segment) in path.0.iter().enumerate() {
        if let Some((tree, node)) = merged.leaf(entry) {
            let link = resolution.standing(entry)?;
            let rest = path.0.get(depth..).unwrap_or_default();
            let (node, key) = descend(tree, node, rest, symbols)?;
            return Some(Target {
                tree,
                node,
                link,
                key,
                is_map: matches!(tree.value(node), Value::Map(_)),
            });
        }
        let Segment::Key(name) = segment else {
            return None;
        };
        entry = resolution.child(entry, symbols.find(name)?)?;
    }
    let link = match resolution.standing(entry) {
        Some(link) => link,
        None => highest(merged, entry)?,
    };
    let tree = merged.tree(link.layer);
    Some(Target {
        tree,
        node: link.node,
        link,
        key: merged.key(entry, link),
        is_map: matches!(tree.value(link.node), Value::Map(_)),
    })
}

/// The highest contribution to a map.
fn highest(merged: &Merged<'_>, entry: EntryId) -> Option<Link> {
    let chain = merged.resolution.chain(entry).iter();
    chain
        .rev()
        .find(|link| link.outcome == Outcome::Stands)
        .copied()
}

/// Follows a path inside one tree; also says where the last name is written.
fn descend(
    tree: &Tree,
    from: NodeId,
    path: &[Segment],
    symbols: &Symbols,
) -> Option<(NodeId, Option<Span>)> {
    let mut at = from;
    let mut key = None;
    for segment in path {
        match (segment, tree.value(at)) {
            (Segment::Index(index), Value::List(items)) => {
                at = *items.get(*index)?;
                key = None;
            }
            (Segment::Key(name), Value::Map(fields)) => {
                let name = symbols.find(name)?;
                let field = fields.iter().find(|field| field.name == name)?;
                at = field.value;
                key = Some(tree.key_span(field));
            }
            _ => return None,
        }
    }
    Some((at, key))
}

/// A path in a message.
pub(crate) fn name(path: &Path) -> String {
    match path.is_root() {
        true => "the top of the values".to_owned(),
        false => format!("`{path}`"),
    }
}
