//! Which values `inspect` shows.

use std::collections::BTreeSet;

use data::write::Writer;
use layers::EntryId;
use values::provenance::{Leaf, Status};
use values::{Context, Merged, Tier};

use crate::values::output;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// What a user may not change
    Locked,
    /// What a user may change
    Overridable,
    /// What is not the module's
    Changed,
    /// What one tier gave
    Tier(Tier),
}

pub fn parse(word: &str) -> Result<Only, String> {
    match word {
        "locked" => Ok(Only::Locked),
        "overridable" => Ok(Only::Overridable),
        "changed" => Ok(Only::Changed),
        _ => {
            let tier = word.strip_prefix("tier=").and_then(Tier::parse);
            tier.map(Only::Tier).ok_or_else(|| {
                "say locked, overridable, changed, tier=module, tier=platform or tier=user"
                    .to_owned()
            })
        }
    }
}

pub fn keeps(only: Only, leaf: &Leaf<'_>) -> bool {
    match only {
        Only::Locked => leaf.status == Status::Locked,
        Only::Overridable => leaf.status != Status::Locked,
        Only::Changed => leaf.tier != Tier::Module,
        Only::Tier(tier) => leaf.tier == tier,
    }
}

/// The leaves and every map on the way to them.
pub fn with_parents(merged: &Merged<'_>, below: EntryId, leaves: &[Leaf<'_>]) -> BTreeSet<EntryId> {
    let mut wanted = BTreeSet::new();
    for start in leaves.iter().map(|leaf| leaf.entry).chain([below]) {
        let mut at = Some(start);
        while let Some(entry) = at {
            if !wanted.insert(entry) {
                break;
            }
            at = merged.resolution.parent(entry);
        }
    }
    wanted
}

/// Writes the wanted entries. Depth is bounded by `data::MAX_DEPTH`.
pub fn write(
    writer: &mut impl Writer,
    merged: &Merged<'_>,
    at: EntryId,
    context: Context<'_>,
    wanted: &BTreeSet<EntryId>,
    remark: &dyn Fn(EntryId) -> Option<String>,
) {
    if merged.leaf(at).is_some() {
        output::entry(writer, merged, at, context, remark);
        return;
    }
    if let Some(text) = remark(at) {
        writer.comment(&text);
    }
    writer.begin_map();
    for child in merged.resolution.children(at) {
        if merged.resolution.is_present(child) && wanted.contains(&child) {
            writer.key(context.symbols.name(merged.resolution.name(child)));
            write(writer, merged, child, context, wanted, remark);
        }
    }
    writer.end_map();
}
