//! One unit with the drop-ins that apply to it, base before host.
//!
//! Base drop-ins apply in the byte order of their names, then the host's in theirs. A host's
//! drop-in replaces the base's of the same name; within one layer the more specific directory wins.
//! Drop-ins of a service reach only that service's units, those of a host all units it selects.

use base::LayerId;
use units::dropin::{self, Candidate, Precedence};
use units::{Merged, Part, UnitName, Version, merge};

use crate::catalog::{Definitions, DropIn};
use crate::repository::{EntryId, Repository};

/// Whose contribution a file is, low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    Base,
    BaseDropIn,
    HostDropIn,
}

impl Layer {
    pub fn id(self) -> LayerId {
        LayerId(self as u16)
    }

    /// The word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Layer::Base | Layer::BaseDropIn => "base",
            Layer::HostDropIn => "host",
        }
    }
}

/// A file that takes part in a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitPart {
    pub entry: EntryId,
    pub layer: Layer,
    /// The name of the drop-in, or of the unit.
    pub file: String,
    /// Holds nothing: it is there to hide another.
    pub is_mask: bool,
}

/// An evaluated unit.
#[derive(Clone, Debug)]
pub struct Unit {
    pub name: UnitName,
    /// The service of the repository that defines it.
    pub service: String,
    /// The unit's own file; none for a service that a Quadlet generates or a template's instance.
    pub fragment: Option<EntryId>,
    /// What applies, in order.
    pub parts: Vec<UnitPart>,
    /// What does not apply, each with the entry that hides it.
    pub masked: Vec<(UnitPart, EntryId)>,
    pub merged: Merged,
    /// The service that stands for it at run time.
    pub generates: Option<String>,
    /// Units of the same host that it names, sorted.
    pub needs: Vec<String>,
    /// Payloads of the same host that it mounts or reads, sorted.
    pub reads: Vec<String>,
}

/// Puts a unit together.
pub(crate) fn assemble(
    repository: &Repository,
    name: &UnitName,
    service: &str,
    fragment: Option<EntryId>,
    base: Option<&Definitions>,
    host: Option<&Definitions>,
) -> Unit {
    let mut found: Vec<(Candidate<'_>, &DropIn, Layer)> = Vec::new();
    for (specificity, directory) in dropin::directories(name, Version::NEWEST)
        .iter()
        .enumerate()
    {
        let layers = [(host, Layer::HostDropIn), (base, Layer::BaseDropIn)];
        for (rank, (definitions, layer)) in layers.into_iter().enumerate() {
            let known = definitions.and_then(|d| d.directories.get(directory));
            for drop_in in known.iter().flat_map(|d| &d.files) {
                let candidate = Candidate {
                    file: &drop_in.file,
                    directory: rank,
                    specificity,
                };
                found.push((candidate, drop_in, layer));
            }
        }
    }
    let candidates: Vec<Candidate<'_>> = found.iter().map(|(candidate, ..)| *candidate).collect();
    let order = dropin::order(Precedence::Directory, &candidates);
    let part = |index: usize| {
        found.get(index).map(|(_, drop_in, layer)| UnitPart {
            entry: drop_in.entry,
            layer: *layer,
            file: drop_in.file.clone(),
            is_mask: drop_in.is_mask,
        })
    };
    let mut parts: Vec<UnitPart> = Vec::with_capacity(order.applied.len() + 1);
    parts.extend(fragment.map(|entry| UnitPart {
        entry,
        layer: Layer::Base,
        file: name.to_string(),
        is_mask: false,
    }));
    parts.extend(order.applied.iter().filter_map(|&index| part(index)));
    // By name already; host after base.
    parts.sort_by_key(|part| part.layer);
    let masked = order
        .masked
        .iter()
        .filter_map(|&(loser, winner)| Some((part(loser)?, part(winner)?.entry)))
        .collect();
    let merged = merged(repository, name, &parts);
    Unit {
        name: name.clone(),
        service: service.to_owned(),
        fragment,
        parts,
        masked,
        merged,
        generates: None,
        needs: Vec::new(),
        reads: Vec::new(),
    }
}

fn merged(repository: &Repository, name: &UnitName, parts: &[UnitPart]) -> Merged {
    let files = parts.iter().filter_map(|part| {
        let file = repository.entry(part.entry).unit();
        Some((part.layer, file?))
    });
    let files: Vec<Part<'_>> = files
        .map(|(layer, file)| Part {
            layer: layer.id(),
            file,
        })
        .collect();
    merge(name.kind, &files)
}
