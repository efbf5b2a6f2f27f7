//! Where the units of a host lie, and what is written there.
//!
//! A Quadlet becomes one merged file. A systemd unit keeps its own file and native drop-ins, named so
//! that the native order (by name) puts base before host. An instance inherits what is installed for
//! its template; what must not reach it is masked by an empty file of the same name.

use std::collections::BTreeMap;

use units::Flavour;

use crate::artifact::{Layer, Unit, UnitPart};
use crate::evaluate::{Content, DesiredFile};
use crate::repository::{EntryId, Repository};

/// Where Quadlet looks for an administrator's units.
pub const QUADLET_DIRECTORY: &str = "/etc/containers/systemd";
/// Where systemd looks for an administrator's units.
pub const SYSTEMD_DIRECTORY: &str = "/etc/systemd/system";

const HEAD: &str = "Evaluated by lath from the files named below.\n\
                    Edits here are lost: change the repository instead.";

/// Where a file of the system lies for a user: below the home directory, which is written `~`.
pub fn for_user(target: &str) -> String {
    let below = |directory: &str| target.strip_prefix(directory)?.strip_prefix('/');
    if let Some(rest) = below(SYSTEMD_DIRECTORY) {
        return format!("~/.config/systemd/user/{rest}");
    }
    format!("~/.config{}", target.strip_prefix("/etc").unwrap_or(target))
}

/// The files of all units.
pub(crate) fn files(repository: &Repository, units: &[Unit]) -> Vec<DesiredFile> {
    let installed: BTreeMap<String, BTreeMap<String, EntryId>> = units
        .iter()
        .filter(|unit| unit.name.is_template() && unit.name.kind.flavour() == Flavour::Systemd)
        .map(|unit| (unit.name.to_string(), own(unit)))
        .collect();
    let mut files = Vec::new();
    for unit in units {
        match unit.name.kind.flavour() {
            Flavour::Quadlet => files.push(quadlet(repository, unit)),
            Flavour::Systemd => {
                let template = unit.name.template().map(|name| name.to_string());
                let inherited = template.and_then(|name| installed.get(&name));
                systemd(unit, inherited, &mut files);
            }
        }
    }
    files
}

fn quadlet(repository: &Repository, unit: &Unit) -> DesiredFile {
    let comment = |part: usize| {
        let entry = unit
            .parts
            .get(part)
            .map(|part| repository.entry(part.entry));
        // Whatever the path holds, it must not leave the comment.
        entry.map_or_else(String::new, |entry| {
            match entry.path.contains(char::is_control) {
                true => entry.path.escape_debug().to_string(),
                false => entry.path.clone(),
            }
        })
    };
    DesiredFile {
        target: format!("{QUADLET_DIRECTORY}/{}", unit.name),
        executable: false,
        content: Content::Text(unit.merged.render(HEAD, comment)),
        service: unit.service.clone(),
        origin: unit.fragment,
        replaces: None,
        owner: None,
    }
}

fn systemd(
    unit: &Unit,
    inherited: Option<&BTreeMap<String, EntryId>>,
    files: &mut Vec<DesiredFile>,
) {
    let file = |target: String, content: Content, origin: Option<EntryId>| DesiredFile {
        target,
        executable: false,
        content,
        service: unit.service.clone(),
        origin,
        replaces: None,
        owner: None,
    };
    if let Some(fragment) = unit.fragment {
        let target = format!("{SYSTEMD_DIRECTORY}/{}", unit.name);
        files.push(file(target, Content::Copy(fragment), Some(fragment)));
    }
    let own = own(unit);
    for (name, &entry) in &own {
        if inherited.and_then(|all| all.get(name)) != Some(&entry) {
            let target = format!("{SYSTEMD_DIRECTORY}/{}.d/{name}", unit.name);
            files.push(file(target, Content::Copy(entry), Some(entry)));
        }
    }
    for name in inherited.into_iter().flat_map(BTreeMap::keys) {
        if !own.contains_key(name) {
            let target = format!("{SYSTEMD_DIRECTORY}/{}.d/{name}", unit.name);
            files.push(file(target, Content::Text(String::new()), None));
        }
    }
}

/// The drop-ins that apply to a unit, by the name they are installed under.
fn own(unit: &Unit) -> BTreeMap<String, EntryId> {
    let parts = unit.parts.iter().filter(|part| !part.is_mask);
    parts
        .filter_map(|part| Some((installed_name(part)?, part.entry)))
        .collect()
}

fn installed_name(part: &UnitPart) -> Option<String> {
    match part.layer {
        Layer::Base => None,
        Layer::BaseDropIn => Some(format!("10-base-{}", part.file)),
        Layer::HostDropIn => Some(format!("50-host-{}", part.file)),
    }
}
