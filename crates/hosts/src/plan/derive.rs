//! From an evaluated host to a [`Target`]: paths as they are on this host, contents by hash, and
//! the units that systemd will know, with what restarts them and when they start.
//!
//! Which units run: a container, pod or kube unit, a socket, timer or path that is selected runs,
//! because that is what selecting it means; any other unit runs when its `[Install]` section says
//! so. A service that a socket, timer or path of the target starts is left to it. Volumes,
//! networks, images and builds come up with whoever needs them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use units::references;
use units::words::words;
use units::{Flavour, Kind, Merged, UnitName};

use super::target::{File, Hash, Layer, Nature, Role, Start, Target, Unit};
use crate::artifact;
use crate::evaluate::{Content, DesiredFile, Evaluated};
use crate::install::{QUADLET_DIRECTORY, SYSTEMD_DIRECTORY};
use crate::repository::{EntryId, Repository};

/// Where files go on this host, and whose they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub quadlets: String,
    pub units: String,
    /// In place of `/etc` for payloads.
    pub payloads: String,
    pub uid: u32,
    pub gid: u32,
    /// Files may be given to others, as declared: not by a user who is not root.
    pub gives_away: bool,
}

impl Placement {
    fn place(&self, target: &str) -> (Role, String) {
        let below = |directory: &str| target.strip_prefix(directory)?.strip_prefix('/');
        if let Some(rest) = below(QUADLET_DIRECTORY) {
            return (Role::Quadlet, format!("{}/{rest}", self.quadlets));
        }
        if let Some(rest) = below(SYSTEMD_DIRECTORY) {
            let role = if rest.contains('/') {
                Role::DropIn
            } else {
                Role::Unit
            };
            return (role, format!("{}/{rest}", self.units));
        }
        let rest = target.strip_prefix("/etc").unwrap_or(target);
        (Role::Payload, format!("{}{rest}", self.payloads))
    }
}

/// `contents` holds the entries whose content is copied.
pub fn derive(
    repository: &Repository,
    evaluated: &Evaluated,
    contents: &BTreeMap<EntryId, Arc<[u8]>>,
    placement: &Placement,
) -> Target {
    let mut target = Target::default();
    for desired in &evaluated.files {
        let (role, path) = placement.place(&desired.target);
        let (content, link): (Arc<[u8]>, bool) = match &desired.content {
            Content::Text(text) => (text.as_bytes().into(), false),
            Content::Link(link) => (link.as_bytes().into(), true),
            Content::Copy(entry) => (contents.get(entry).cloned().unwrap_or_default(), false),
        };
        let declared = desired.owner.filter(|_| placement.gives_away);
        let (uid, gid) = declared.map_or((placement.uid, placement.gid), |owner| {
            (owner.uid, owner.gid)
        });
        let file = File {
            role,
            sha256: Hash::of(&content),
            link,
            mode: if link { 0o777 } else { desired.mode() },
            uid,
            gid,
            service: desired.service.clone(),
            layers: layers(repository, evaluated, desired, role),
        };
        target.insert(path, file, content);
    }
    let names = Names::new(evaluated);
    for unit in &evaluated.units {
        add_unit(unit, &names, placement, &mut target);
    }
    let at_boot = evaluated
        .units
        .iter()
        .filter(|unit| is_installed(&unit.merged));
    leave_to_triggers(&mut target, &at_boot.map(run_time_name).collect());
    target
}

/// Which files of the repository took part in a file of the host.
fn layers(
    repository: &Repository,
    evaluated: &Evaluated,
    desired: &DesiredFile,
    role: Role,
) -> Vec<Layer> {
    let layer = |entry: EntryId, outcome: &str| {
        let source = repository.entry(entry).path.clone();
        Layer {
            layer: if source.starts_with("hosts/") {
                "host"
            } else {
                "base"
            }
            .to_owned(),
            source,
            outcome: outcome.to_owned(),
        }
    };
    if role == Role::Quadlet
        && let Some(unit) = desired
            .target
            .rsplit('/')
            .next()
            .and_then(|name| evaluated.unit(name))
    {
        let applied = unit.parts.iter().map(|part| layer(part.entry, "applied"));
        let masked = unit
            .masked
            .iter()
            .map(|(part, _)| layer(part.entry, "masked"));
        return applied.chain(masked).collect();
    }
    let replaced = desired.replaces.map(|entry| layer(entry, "replaced"));
    let applied = desired.origin.map(|entry| layer(entry, "applied"));
    replaced.into_iter().chain(applied).collect()
}

/// Names of units: as files, and as systemd knows them.
struct Names {
    at_run_time: BTreeMap<String, String>,
}

impl Names {
    fn new(evaluated: &Evaluated) -> Names {
        let mut at_run_time = BTreeMap::new();
        for unit in evaluated
            .units
            .iter()
            .filter(|unit| unit.fragment.is_some())
        {
            let name = run_time_name(unit);
            at_run_time.insert(name.clone(), name.clone());
            at_run_time.insert(unit.name.to_string(), name);
        }
        Names { at_run_time }
    }

    fn find(&self, name: &str) -> Option<String> {
        if let Some(found) = self.at_run_time.get(name) {
            return Some(found.clone());
        }
        let template = UnitName::parse(name)?.template()?.to_string();
        self.at_run_time.get(&template).cloned()
    }
}

fn run_time_name(unit: &artifact::Unit) -> String {
    unit.generates
        .clone()
        .unwrap_or_else(|| unit.name.to_string())
}

fn add_unit(unit: &artifact::Unit, names: &Names, placement: &Placement, target: &mut Target) {
    let name = run_time_name(unit);
    let kind = unit.name.kind;
    let directory = match kind.flavour() {
        Flavour::Quadlet => &placement.quadlets,
        Flavour::Systemd => &placement.units,
    };
    let artifact = format!("{directory}/{}", unit.name);
    let mut inputs = BTreeMap::from([(artifact.clone(), relevant(&unit.merged))]);
    for path in reads(unit, placement, target) {
        if let Some(file) = target.files.get(&path) {
            inputs.insert(path, file.sha256.clone());
        }
    }
    // Drop-ins for a unit that has no file here: a generated service, or a template's instance.
    if unit.fragment.is_none() {
        if let Some(known) = target.units.get_mut(&name) {
            known.inputs.extend(inputs);
        } else if let Some(template) = names.find(&name).filter(|found| *found != name)
            && let Some(known) = target.units.get(&template).cloned()
        {
            inputs.extend(known.inputs);
            let instance = Unit {
                inputs,
                artifact,
                start: Start::Others,
                ..known
            };
            target.units.insert(name, instance);
        }
        return;
    }
    let (after, bound) = relations(unit, names);
    let start = match unit.name.is_template() {
        true => Start::Template,
        false => starts(unit),
    };
    let made = Unit {
        nature: nature(kind),
        start,
        inputs,
        after,
        bound,
        triggers: triggers(unit),
        volume: (kind == Kind::Volume).then(|| volume(unit)),
        artifact: artifact.clone(),
    };
    // A template that installs itself with a default instance starts that instance.
    let default = unit.merged.value("Install", "DefaultInstance");
    if let (Start::Template, Some((instance, _)), true) =
        (start, default, is_installed(&unit.merged))
    {
        let named = name.replacen('@', &format!("@{instance}"), 1);
        let once = Unit {
            start: Start::Always,
            ..made.clone()
        };
        target.units.insert(named, once);
    }
    target.units.insert(name, made);
    if kind.flavour() == Flavour::Systemd {
        enable(unit, &artifact, placement, target);
    }
}

/// A hash over the assignments alone: comments, order of sections and `[Install]` restart nothing.
fn relevant(merged: &Merged) -> Hash {
    let mut text = String::new();
    let mut sections: Vec<_> = merged
        .sections
        .iter()
        .filter(|section| section.name != "Install")
        .collect();
    sections.sort_by(|a, b| a.name.cmp(&b.name));
    for section in sections {
        text.push_str(&format!("[{}]\n", section.name));
        for line in &section.lines {
            text.push_str(&format!("{}={}\n", line.key, line.value));
        }
    }
    Hash::of(text.as_bytes())
}

/// The payloads that a unit mounts or names, as they lie on this host.
fn reads(unit: &artifact::Unit, placement: &Placement, target: &Target) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = unit
        .reads
        .iter()
        .map(|path| placement.place(path).1)
        .collect();
    // Beyond mounts: a path in a native service's command line or settings.
    let mut named = BTreeSet::new();
    for section in &unit.merged.sections {
        let is_command = section.name == "Service" || placement.payloads != "/etc";
        for line in section
            .lines
            .iter()
            .filter(|line| is_command && line.outcome == base::Outcome::Stands)
        {
            let parts = line.value.split(|c: char| {
                c.is_ascii_whitespace() || matches!(c, ':' | ',' | '=' | '"' | '\'')
            });
            for part in parts {
                let part = match part
                    .strip_prefix("%h/.config")
                    .or_else(|| part.strip_prefix("%E"))
                {
                    Some(rest) => format!("{}{rest}", placement.payloads),
                    None => part.to_owned(),
                };
                let part = part.trim_end_matches('/');
                let deep = part.strip_prefix(placement.payloads.as_str());
                if deep.is_some_and(|rest| rest.len() > 1 && rest.starts_with('/')) {
                    named.insert(part.to_owned());
                }
            }
        }
    }
    for path in named {
        let below = format!("{path}/");
        let run = target.files.range(path.clone()..);
        let run = run.take_while(|(file, _)| file.starts_with(&path));
        let hit = run.filter(|(file, known)| {
            known.role == Role::Payload && (**file == path || file.starts_with(&below))
        });
        all.extend(hit.map(|(file, _)| file.clone()));
    }
    all
}

fn nature(kind: Kind) -> Nature {
    match kind {
        Kind::Socket => Nature::Socket,
        Kind::Volume => Nature::Volume,
        Kind::Network => Nature::Network,
        _ => Nature::Process,
    }
}

fn is_installed(merged: &Merged) -> bool {
    let keys = ["WantedBy", "RequiredBy", "UpheldBy"];
    keys.iter()
        .any(|key| merged.standing("Install", key).next().is_some())
}

fn starts(unit: &artifact::Unit) -> Start {
    let kind = unit.name.kind;
    let ends = unit
        .merged
        .value("Service", "Type")
        .is_some_and(|(kind, _)| kind == "oneshot");
    let remains = unit.merged.value("Service", "RemainAfterExit");
    let remains = remains.is_some_and(|(value, _)| is_true(value));
    let runs = match kind {
        Kind::Container | Kind::Pod | Kind::Kube | Kind::Socket | Kind::Timer | Kind::Path => true,
        _ => is_installed(&unit.merged),
    };
    match runs {
        false => Start::Others,
        true if ends && !remains => Start::Once,
        true => Start::Always,
    }
}

fn is_true(value: &str) -> bool {
    let yes = ["1", "yes", "y", "true", "t", "on"];
    yes.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// What must be up first, and whose restart restarts this unit.
fn relations(unit: &artifact::Unit, names: &Names) -> (Vec<String>, Vec<String>) {
    let own = run_time_name(unit);
    let mut after = BTreeSet::new();
    let mut bound = BTreeSet::new();
    let trigger = matches!(unit.name.kind, Kind::Socket | Kind::Timer | Kind::Path);
    for reference in references::needed(unit.name.kind, &unit.merged) {
        let Some(other) = names.find(&reference.name).filter(|_| !trigger) else {
            continue;
        };
        // Quadlet gives `Requires=` and `After=` for each of them; of a volume or network nothing
        // is restarted.
        if matches!(reference.key, "Image" | "Pod") {
            bound.insert(other.clone());
        }
        after.insert(other);
    }
    for reference in references::dependencies(&unit.merged) {
        let Some(other) = names.find(&reference.name) else {
            continue;
        };
        match reference.key {
            "After" => {
                after.insert(other);
            }
            "Requires" | "BindsTo" | "PartOf" => {
                bound.insert(other);
            }
            _ => {}
        }
    }
    after.remove(&own);
    bound.remove(&own);
    (after.into_iter().collect(), bound.into_iter().collect())
}

fn triggers(unit: &artifact::Unit) -> Vec<String> {
    let said = match unit.name.kind {
        Kind::Socket => unit.merged.value("Socket", "Service"),
        Kind::Timer => unit.merged.value("Timer", "Unit"),
        Kind::Path => unit.merged.value("Path", "Unit"),
        _ => return Vec::new(),
    };
    match said {
        Some((name, _)) => vec![name.to_owned()],
        None => unit.name.activates().into_iter().collect(),
    }
}

fn volume(unit: &artifact::Unit) -> String {
    let said = unit
        .merged
        .value("Volume", "VolumeName")
        .map(|(name, _)| name.to_owned());
    said.unwrap_or_else(|| format!("systemd-{}", unit.name.prefix))
}

/// What a socket, timer or path of the target starts is left to it, unless it is to run at boot
/// besides; a socket comes before its service.
fn leave_to_triggers(target: &mut Target, at_boot: &BTreeSet<String>) {
    let mut triggered: Vec<(String, String, Nature)> = Vec::new();
    for (name, unit) in &target.units {
        for other in &unit.triggers {
            triggered.push((name.clone(), other.clone(), unit.nature));
        }
    }
    for (trigger, name, nature) in triggered {
        if let Some(unit) = target.units.get_mut(&name) {
            if unit.start != Start::Template && !at_boot.contains(&name) {
                unit.start = Start::Others;
            }
            if nature == Nature::Socket {
                unit.after.push(trigger);
            }
        }
    }
}

/// The links that `systemctl enable` would make.
fn enable(unit: &artifact::Unit, artifact: &str, placement: &Placement, target: &mut Target) {
    let mut links = Vec::new();
    let mut named = unit.name.to_string();
    if unit.name.is_template() {
        let Some((instance, _)) = unit.merged.value("Install", "DefaultInstance") else {
            return;
        };
        named = named.replacen('@', &format!("@{instance}"), 1);
    }
    for (key, suffix) in [
        ("WantedBy", "wants"),
        ("RequiredBy", "requires"),
        ("UpheldBy", "upholds"),
    ] {
        for line in unit.merged.standing("Install", key) {
            links.extend(
                words(&line.value)
                    .into_iter()
                    .map(|by| format!("{by}.{suffix}/{named}")),
            );
        }
    }
    for line in unit.merged.standing("Install", "Alias") {
        links.extend(words(&line.value));
    }
    let owner = target.files.get(artifact).cloned();
    for link in links.into_iter().filter(|link| is_plain(link)) {
        let content: Arc<[u8]> = artifact.as_bytes().into();
        let file = File {
            role: Role::Enablement,
            sha256: Hash::of(&content),
            link: true,
            mode: 0o777,
            uid: placement.uid,
            gid: placement.gid,
            service: unit.service.clone(),
            layers: owner
                .as_ref()
                .map(|file| file.layers.clone())
                .unwrap_or_default(),
        };
        target.insert(format!("{}/{link}", placement.units), file, content);
    }
}

/// One or two plain names: no specifier, nothing that leads elsewhere.
fn is_plain(link: &str) -> bool {
    let fits = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_' | '.' | '\\' | '@' | '/')
    };
    link.chars().all(fits)
        && link.split('/').all(|name| !matches!(name, "" | "." | ".."))
        && link.matches('/').count() < 2
}
