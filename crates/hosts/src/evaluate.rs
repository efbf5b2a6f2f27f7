//! From a repository and a host's name to the host's desired state.
//!
//! Selected services are put together with the host's overrides, unit by unit; then what concerns
//! several units is looked at: names, sockets, references. All findings come at once. The result
//! depends on the repository and the options alone, and is the same bytes every time (FR-007).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::distance::nearest;
use base::{Diagnostic, render};
use units::dropin;
use units::{Flavour, UnitName, Version};

use crate::artifact::{Unit, assemble};
use crate::catalog::{Definitions, DropInDirectory, span};
use crate::declaration::{self, Declaration, HostName};
use crate::owners::Owner;
use crate::repository::{EntryId, Repository};
use crate::{codes, install, payload, unit_rules};

mod relations;

pub(crate) use relations::default_service;

/// What evaluation may be told besides the repository and the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The release whose keys are allowed.
    pub podman: Version,
    /// Values on which two files of one layer disagree are errors.
    pub strict: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            podman: Version::NEWEST,
            strict: false,
        }
    }
}

/// What is to lie at a path of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// The content of an entry, byte for byte.
    Copy(EntryId),
    /// A relative link.
    Link(String),
}

/// A file of the desired state. Its mode is 0755 if executable, else 0644.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredFile {
    pub target: String,
    pub executable: bool,
    pub content: Content,
    /// The service it belongs to.
    pub service: String,
    /// The entry it comes from; none for a mask.
    pub origin: Option<EntryId>,
    /// For a payload: the base entry that the host's replaces.
    pub replaces: Option<EntryId>,
    /// Root, unless declared.
    pub owner: Option<Owner>,
}

impl DesiredFile {
    pub fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }
}

/// The desired state of one host, with where it came from and what is wrong.
#[derive(Debug)]
pub struct Evaluated {
    pub host: HostName,
    /// The selected services that exist, sorted.
    pub services: Vec<String>,
    /// Sorted by name.
    pub units: Vec<Unit>,
    /// Sorted by target.
    pub files: Vec<DesiredFile>,
    /// The generated and native services and other units in the order in which to start them.
    pub start_order: Vec<String>,
    /// Sorted, without repeats.
    pub findings: Vec<Diagnostic>,
}

impl Evaluated {
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(Diagnostic::is_error)
    }

    /// Moves the targets to where a user's own manager looks: `~/.config` in place of `/etc`.
    pub fn for_user(&mut self) {
        for file in &mut self.files {
            file.target = install::for_user(&file.target);
        }
        self.files.sort_by(|a, b| a.target.cmp(&b.target));
    }

    pub fn unit(&self, name: &str) -> Option<&Unit> {
        let found = self
            .units
            .binary_search_by(|unit| unit.name.to_string().as_str().cmp(name));
        found.ok().and_then(|at| self.units.get(at))
    }
}

/// Evaluates one host.
pub fn evaluate(repository: &Repository, host: &HostName, options: &Options) -> Evaluated {
    let catalog = repository.catalog();
    let mut findings = catalog.findings.clone();
    let known = catalog.hosts.get(host.as_str());
    let declared = known.and_then(|known| {
        let entry = repository.entry(known.file?);
        let text = Arc::clone(repository.sources.get(entry.source).text());
        entry
            .has_text
            .then(|| declaration::read(entry, &text, host.as_str()))
    });
    let readable = known.is_some_and(|known| known.file.is_some());
    if !readable {
        findings.push(missing_host(repository, host));
    }
    let Declaration {
        services,
        findings: wrong,
    } = declared.unwrap_or_default();
    findings.extend(wrong);
    let mut selected: BTreeMap<&str, &Definitions> = BTreeMap::new();
    for (name, place) in services {
        match catalog.services.get_key_value(name.as_str()) {
            Some((name, definitions)) => {
                selected.insert(name, definitions);
            }
            None => {
                let finding = Diagnostic::error(
                    codes::UNDEFINED_SERVICE,
                    format!("no service `{}` is defined", name.escape_debug()),
                )
                .primary(place, "selected here");
                let names = catalog.services.keys().map(String::as_str);
                findings.push(match nearest(&name, names) {
                    Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                    None => finding.help(format!("define it in `services/{name}/`")),
                });
            }
        }
    }
    let selection = Selection {
        repository,
        selected,
        host: known.map(|known| &known.overrides),
        options,
        alone: false,
    };
    let state = selection.evaluate(&mut findings);
    render::sort(&mut findings, &repository.sources);
    Evaluated {
        host: host.clone(),
        services: selection
            .selected
            .keys()
            .map(|&name| name.to_owned())
            .collect(),
        units: state.units,
        files: state.files,
        start_order: state.start_order,
        findings,
    }
}

/// All findings of all hosts and of all services, selected or not.
pub fn check(repository: &Repository, options: &Options) -> Vec<Diagnostic> {
    let catalog = repository.catalog();
    let mut findings = catalog.findings.clone();
    findings.extend_from_slice(&catalog.strays);
    for name in catalog.hosts.keys() {
        match HostName::new(name) {
            Ok(host) => findings.extend(evaluate(repository, &host, options).findings),
            Err(why) => {
                let finding = Diagnostic::error(codes::INVALID_NAME, why);
                let entry = repository.find(&format!("hosts/{name}"));
                findings.push(match entry {
                    Some(entry) => finding.primary(span(repository, entry), ""),
                    None => finding,
                });
            }
        }
    }
    for (name, definitions) in &catalog.services {
        let selection = Selection {
            repository,
            selected: BTreeMap::from([(name.as_str(), definitions)]),
            host: None,
            options,
            alone: true,
        };
        selection.evaluate(&mut findings);
    }
    render::sort(&mut findings, &repository.sources);
    findings
}

/// What is evaluated together.
struct Selection<'a> {
    repository: &'a Repository,
    selected: BTreeMap<&'a str, &'a Definitions>,
    host: Option<&'a Definitions>,
    options: &'a Options,
    /// One service by itself: what it may find in others is not missed.
    alone: bool,
}

struct State {
    units: Vec<Unit>,
    files: Vec<DesiredFile>,
    start_order: Vec<String>,
}

impl Selection<'_> {
    fn evaluate(&self, findings: &mut Vec<Diagnostic>) -> State {
        for definitions in self.selected.values().copied().chain(self.host) {
            findings.extend_from_slice(&definitions.findings);
        }
        let mut units = self.artifacts(findings);
        let mut names = relations::Names::default();
        for unit in &mut units {
            names.add(self.repository, unit, self.options.podman, findings);
        }
        units.extend(self.without_file(&units, &names));
        self.unmatched(&units, findings);
        for unit in &units {
            findings.extend(unit_rules::check(self.repository, unit, self.options));
        }
        if !self.alone {
            relations::sockets(self.repository, &units, &names, findings);
            relations::references(&units, &names, findings);
        }
        let catalog = self.repository.catalog();
        let payloads = payload::layer(
            self.repository,
            catalog,
            &self.selected,
            self.host,
            findings,
        );
        relations::reads(&mut units, &payloads);
        let start_order = relations::order(&mut units, &names, findings);
        let mut files = install::files(self.repository, &units);
        files.extend(payloads);
        files.sort_by(|a, b| a.target.cmp(&b.target));
        units.sort_by_cached_key(|unit| unit.name.to_string());
        State {
            units,
            files,
            start_order,
        }
    }

    /// The units that the selected services define.
    fn artifacts(&self, findings: &mut Vec<Diagnostic>) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut owners: BTreeMap<&str, EntryId> = BTreeMap::new();
        for (&service, &definitions) in &self.selected {
            for (file, artifact) in &definitions.artifacts {
                if let Some(first) = owners.insert(file, artifact.entry) {
                    owners.insert(file, first);
                    findings.push(
                        Diagnostic::error(
                            codes::DUPLICATE_ARTIFACT,
                            format!("two selected services define `{file}`"),
                        )
                        .primary(span(self.repository, artifact.entry), "again")
                        .secondary(span(self.repository, first), "first here")
                        .help("rename one of them, or do not select both services"),
                    );
                    continue;
                }
                units.push(assemble(
                    self.repository,
                    &artifact.name,
                    service,
                    Some(artifact.text),
                    Some(definitions),
                    self.host,
                ));
            }
        }
        units
    }

    /// Units that have drop-ins but no file of their own: services that Quadlets generate, and
    /// instances of systemd templates.
    fn without_file(&self, units: &[Unit], names: &relations::Names) -> Vec<Unit> {
        let mut wanted: BTreeMap<UnitName, &str> = BTreeMap::new();
        for unit in units
            .iter()
            .filter(|u| u.name.kind.flavour() == Flavour::Quadlet)
        {
            let generated = unit.generates.as_deref().and_then(UnitName::parse);
            if let Some(name) = generated
                && self.has_directory(&name, &unit.service)
                && !units.iter().any(|other| other.name == name)
            {
                wanted.insert(name, &unit.service);
            }
        }
        let all = self.selected.values().copied().chain(self.host);
        for (directory, known) in all.flat_map(|definitions| &definitions.directories) {
            let instance = exact(directory, known).filter(|name| name.template().is_some());
            let Some(name) = instance else {
                continue;
            };
            let template = name.template().map(|template| template.to_string());
            let owner = template.and_then(|template| names.owner(&template));
            if name.kind.flavour() == Flavour::Systemd
                && let Some(service) = owner
                && !names.defines(&name.to_string())
            {
                let service = self.selected.keys().find(|known| **known == service);
                wanted.extend(service.map(|&service| (name, service)));
            }
        }
        let assembled = wanted.iter().map(|(name, service)| {
            let base = self.selected.get(service).copied();
            assemble(self.repository, name, service, None, base, self.host)
        });
        assembled.collect()
    }

    fn has_directory(&self, name: &UnitName, service: &str) -> bool {
        let base = self.selected.get(service).copied();
        let directories = dropin::directories(name, Version::NEWEST);
        let known = |d: &Definitions| directories.iter().any(|n| d.directories.contains_key(n));
        base.is_some_and(known) || self.host.is_some_and(known)
    }

    /// Drop-in directories that belong to no unit, or hold nothing.
    fn unmatched(&self, units: &[Unit], findings: &mut Vec<Diagnostic>) {
        let mut used: BTreeSet<(&str, String)> = BTreeSet::new();
        let mut used_by_host: BTreeSet<String> = BTreeSet::new();
        for unit in units {
            for directory in dropin::directories(&unit.name, Version::NEWEST) {
                let has = |d: &Definitions| d.directories.contains_key(&directory);
                if self.host.is_some_and(has) {
                    used_by_host.insert(directory.clone());
                }
                if self
                    .selected
                    .get(unit.service.as_str())
                    .is_some_and(|d| has(d))
                {
                    used.insert((&unit.service, directory));
                }
            }
        }
        for (&service, definitions) in &self.selected {
            for (name, directory) in &definitions.directories {
                if used.contains(&(service, name.clone())) {
                    findings.extend(self.empty(name, directory));
                } else {
                    findings.push(self.missing(name, directory, Some(service)));
                }
            }
        }
        for (name, directory) in self.host.iter().flat_map(|host| &host.directories) {
            if used_by_host.contains(name) {
                findings.extend(self.empty(name, directory));
            } else {
                findings.push(self.missing(name, directory, None));
            }
        }
    }

    fn empty(&self, name: &str, directory: &DropInDirectory) -> Option<Diagnostic> {
        directory.files.is_empty().then(|| {
            Diagnostic::error(
                codes::EMPTY_DROP_IN_DIRECTORY,
                format!("`{name}` holds no drop-in"),
            )
            .primary(span(self.repository, directory.entry), "")
            .help("put a file into it whose name ends in `.conf`, or remove the directory")
        })
    }

    /// A drop-in directory for which the selection has no unit. `service` is whose it is, if not
    /// the host's.
    fn missing(&self, name: &str, known: &DropInDirectory, service: Option<&str>) -> Diagnostic {
        let first = known.files.first().map_or(known.entry, |file| file.entry);
        let place = span(self.repository, first);
        let unit = name.strip_suffix(".d").unwrap_or(name);
        let catalog = self.repository.catalog();
        let owner = catalog.services.iter().find(|(other, definitions)| {
            Some(other.as_str()) != service && defines(definitions, name)
        });
        if let (Some((owner, _)), None) = (owner, service) {
            return Diagnostic::warning(
                codes::UNSELECTED_ARTIFACT,
                format!("`{unit}` belongs to `{owner}`, which the host does not select"),
            )
            .primary(place, "ignored")
            .help(format!(
                "select `{owner}` in the host file, or remove the drop-in"
            ));
        }
        let finding = Diagnostic::error(
            codes::MISSING_ARTIFACT,
            match service {
                Some(service) => format!("the service `{service}` defines no `{unit}`"),
                None => format!("no service defines `{unit}`"),
            },
        )
        .primary(place, "a drop-in for nothing");
        let template = exact(name, known).and_then(|name| name.template());
        let names = catalog.services.values().flat_map(|d| d.artifacts.keys());
        match (owner, template) {
            (Some((owner, _)), _) => finding.help(format!(
                "`{owner}` defines it: move the drop-in there, or to the host's overrides"
            )),
            (None, Some(template)) if names.clone().any(|n| *n == template.to_string()) => finding
                .help(format!(
                    "add the instance beside its template, as a link `{unit}` to `{template}`"
                )),
            _ => match nearest(unit, names.map(String::as_str)) {
                Some(meant) => finding.help(format!("did you mean `{meant}.d`?")),
                None => finding.help("name the directory after the unit it is for"),
            },
        }
    }
}

/// Whether a drop-in directory of this name would reach a unit of the service.
fn defines(definitions: &Definitions, directory: &str) -> bool {
    definitions.artifacts.values().any(|artifact| {
        let reaches = |name: &UnitName| {
            let all = dropin::directories(name, Version::NEWEST);
            all.iter().any(|known| known == directory)
        };
        let generated = default_service(&artifact.name, Version::NEWEST);
        reaches(&artifact.name) || generated.as_ref().is_some_and(reaches)
    })
}

/// The one unit that a drop-in directory is for, if it is for one.
fn exact(name: &str, directory: &DropInDirectory) -> Option<UnitName> {
    let unit = UnitName::parse(name.strip_suffix(".d")?)?;
    (unit.kind == directory.kind && !unit.prefix.ends_with('-')).then_some(unit)
}

fn missing_host(repository: &Repository, host: &HostName) -> Diagnostic {
    let finding = Diagnostic::error(
        codes::MISSING_HOST,
        format!("there is no file `hosts/{host}/host.yaml`"),
    );
    let hosts = repository.catalog().hosts.keys().map(String::as_str);
    let entry = repository.find(&format!("hosts/{host}"));
    let finding = match entry {
        Some(entry) => finding.primary(span(repository, entry), ""),
        None => finding,
    };
    match nearest(host.as_str(), hosts.clone()) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => {
            let known: Vec<&str> = hosts.take(8).collect();
            match known.is_empty() {
                true => finding.help("write one with `host` and `services`"),
                false => finding.help(format!(
                    "the repository knows `{}`; choose with `--host` or `LATH_HOST`, or write the file",
                    known.join("`, `")
                )),
            }
        }
    }
}
