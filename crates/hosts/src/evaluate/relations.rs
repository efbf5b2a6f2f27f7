//! What concerns several units of one host: who has which name, what activates and needs what.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};
use units::references::{self, Reference};
use units::{Flavour, Kind, UnitName, Version};

use crate::artifact::Unit;
use crate::catalog::span;
use crate::codes;
use crate::evaluate::DesiredFile;
use crate::graph::Graph;
use crate::repository::Repository;

/// The service a Quadlet generates unless it says otherwise.
pub(crate) fn default_service(name: &UnitName, podman: Version) -> Option<UnitName> {
    match name.kind.flavour() {
        Flavour::Quadlet => UnitName::parse(&name.service(podman)?),
        Flavour::Systemd => None,
    }
}

struct Owner {
    /// The unit file.
    unit: String,
    service: String,
    place: Span,
}

/// Units by the name that systemd knows them under, and Quadlets by their file's name as well.
#[derive(Default)]
pub(super) struct Names {
    at_run_time: BTreeMap<String, Owner>,
    /// File name to name at run time.
    files: BTreeMap<String, String>,
}

impl Names {
    /// Finds the unit's name at run time and says when another unit has it already.
    pub(super) fn add(
        &mut self,
        repository: &Repository,
        unit: &mut Unit,
        podman: Version,
        findings: &mut Vec<Diagnostic>,
    ) {
        let file = unit.name.to_string();
        let mut place = match unit.fragment {
            Some(fragment) => span(repository, fragment),
            None => return,
        };
        let at_run_time = match unit.name.kind.flavour() {
            Flavour::Systemd => file.clone(),
            Flavour::Quadlet => {
                let section = unit.name.kind.section().unwrap_or("");
                let line = unit.merged.last(section, "ServiceName");
                let said = unit.merged.value(section, "ServiceName");
                let name = match (line, said) {
                    (Some(line), said) => {
                        place = line.origin.span;
                        said.map_or("", |(value, _)| value).to_owned() + ".service"
                    }
                    (None, _) => unit.name.service(podman).unwrap_or_default(),
                };
                // Specifiers are systemd's to resolve.
                let valid = UnitName::parse(&name).is_some_and(|name| name.is_valid());
                if !valid && !name.contains('%') {
                    findings.push(
                        Diagnostic::error(
                            codes::INVALID_NAME,
                            format!("Quadlet would generate a service `{}`", name.escape_debug()),
                        )
                        .primary(place, "no name for a service")
                        .help("set `ServiceName=` to a name without its extension, or remove it"),
                    );
                }
                name
            }
        };
        unit.generates = match unit.name.kind.flavour() {
            Flavour::Quadlet => Some(at_run_time.clone()),
            Flavour::Systemd => None,
        };
        self.files.insert(file.clone(), at_run_time.clone());
        if let Some(first) = self.at_run_time.get(&at_run_time) {
            findings.push(
                Diagnostic::error(
                    codes::SERVICE_COLLISION,
                    format!("`{file}` and `{}` are both `{at_run_time}`", first.unit),
                )
                .primary(place, format!("`{at_run_time}` again"))
                .secondary(first.place, format!("`{at_run_time}` first"))
                .help("rename one of the units, or set another `ServiceName=`"),
            );
            return;
        }
        let owner = Owner {
            unit: file,
            service: unit.service.clone(),
            place,
        };
        self.at_run_time.insert(at_run_time, owner);
    }

    /// The service of the repository that defines a unit of this name at run time.
    pub(super) fn owner(&self, name: &str) -> Option<&str> {
        self.at_run_time
            .get(name)
            .map(|owner| owner.service.as_str())
    }

    /// Whether there is a file of this name.
    pub(super) fn defines(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// The name at run time of a unit named by its file, or by that name itself. An instance is its
    /// template's.
    fn node(&self, name: &str) -> Option<String> {
        if let Some(found) = self.files.get(name) {
            return Some(found.clone());
        }
        if self.at_run_time.contains_key(name) {
            return Some(name.to_owned());
        }
        let template = UnitName::parse(name)?.template()?.to_string();
        self.at_run_time.contains_key(&template).then_some(template)
    }
}

/// Sockets whose service is nowhere.
pub(super) fn sockets(
    repository: &Repository,
    units: &[Unit],
    names: &Names,
    findings: &mut Vec<Diagnostic>,
) {
    for unit in units.iter().filter(|unit| unit.name.kind == Kind::Socket) {
        let Some(fragment) = unit.fragment else {
            continue;
        };
        let said = unit.merged.value("Socket", "Service");
        let (service, place) = match said {
            Some((service, line)) => (service.to_owned(), line.origin.span),
            None => (activated(unit), span(repository, fragment)),
        };
        if names.node(&service).is_some() || service.contains('%') {
            continue;
        }
        let stem = service.strip_suffix(".service").unwrap_or(&service);
        findings.push(
            Diagnostic::error(
                codes::SOCKET_WITHOUT_SERVICE,
                format!("`{}` activates `{service}`, which nothing defines", unit.name),
            )
            .primary(place, "")
            .help(format!(
                "select a service with `{stem}.container` or `{service}`, or set `Service=` in `[Socket]`"
            )),
        );
    }
}

/// What a socket activates by default: with `Accept=yes` a template's instance per connection.
fn activated(unit: &Unit) -> String {
    let default = unit.name.activates().unwrap_or_default();
    let accept = unit.merged.value("Socket", "Accept");
    let accepts = accept.is_some_and(|(value, _)| {
        let yes = ["1", "yes", "y", "true", "t", "on"];
        yes.iter().any(|word| value.eq_ignore_ascii_case(word))
    });
    match accepts && unit.name.instance.is_none() {
        true => format!("{}@.service", unit.name.prefix),
        false => default,
    }
}

/// Quadlets that a unit names and no selected service defines.
pub(super) fn references(units: &[Unit], names: &Names, findings: &mut Vec<Diagnostic>) {
    for unit in units {
        if unit.name.kind.flavour() == Flavour::Systemd {
            continue;
        }
        let needed = references::needed(unit.name.kind, &unit.merged);
        for reference in needed
            .into_iter()
            .chain(references::dependencies(&unit.merged))
        {
            let quadlet = UnitName::parse(&reference.name)
                .is_some_and(|name| name.kind.flavour() == Flavour::Quadlet);
            if !quadlet || names.defines(&reference.name) {
                continue;
            }
            findings.push(unknown_reference(unit, &reference));
        }
    }
}

fn unknown_reference(unit: &Unit, reference: &Reference) -> Diagnostic {
    Diagnostic::error(
        codes::UNKNOWN_REFERENCE,
        format!(
            "`{}` needs `{}`, which no selected service defines",
            unit.name, reference.name
        ),
    )
    .primary(reference.span, "Quadlet refuses the unit for it")
    .help("select the service that defines it, or define it")
}

/// Notes which payloads each unit mounts or reads.
pub(super) fn reads(units: &mut [Unit], payloads: &[DesiredFile]) {
    for unit in units {
        for path in references::paths(unit.name.kind, &unit.merged) {
            let path = path.name.trim_end_matches('/');
            let below = format!("{path}/");
            // Sorted by target: everything below a path is one run.
            let start = payloads.partition_point(|file| file.target.as_str() < path);
            let run = payloads.iter().skip(start);
            let is_in =
                |file: &&DesiredFile| file.target == path || file.target.starts_with(&below);
            // `a-b` sorts between `a` and `a/`.
            let run = run.take_while(|file| is_in(file) || *file.target < *below);
            let targets = run.filter(is_in).map(|file| file.target.clone());
            unit.reads.extend(targets);
        }
        unit.reads.sort();
        unit.reads.dedup();
    }
}

/// Keys of `[Unit]` that order: whether the named unit comes first.
fn comes_first(key: &str) -> Option<bool> {
    match key {
        "After" => Some(true),
        "Before" => Some(false),
        _ => None,
    }
}

/// Fills in what each unit needs and orders the units by it.
pub(super) fn order(
    units: &mut [Unit],
    names: &Names,
    findings: &mut Vec<Diagnostic>,
) -> Vec<String> {
    let mut graph = Graph::default();
    for unit in units.iter_mut() {
        let Some(node) = names.node(&unit.name.to_string()) else {
            continue;
        };
        graph.add(&node);
        let mut needs = Vec::new();
        for reference in references::needed(unit.name.kind, &unit.merged) {
            let Some(other) = names.node(&reference.name) else {
                continue;
            };
            match unit.name.kind {
                // A socket comes before the service it activates.
                Kind::Socket => graph.after(&other, &node),
                Kind::Timer | Kind::Path => {}
                _ => graph.after(&node, &other),
            }
            needs.push(other);
        }
        if unit.name.kind == Kind::Socket
            && let Some(service) = names.node(&activated(unit))
            && unit.merged.value("Socket", "Service").is_none()
        {
            graph.after(&service, &node);
            needs.push(service);
        }
        for reference in references::dependencies(&unit.merged) {
            let Some(other) = names.node(&reference.name) else {
                continue;
            };
            match comes_first(reference.key) {
                Some(true) => graph.after(&node, &other),
                Some(false) => graph.after(&other, &node),
                None => {}
            }
            needs.push(other);
        }
        needs.retain(|other| *other != node);
        needs.sort();
        needs.dedup();
        unit.needs = needs;
    }
    let ordered = graph.order();
    if let Some(first) = ordered.cyclic.first() {
        let owner = names.at_run_time.get(first);
        let finding = Diagnostic::warning(
            codes::DEPENDENCY_CYCLE,
            format!("`{}` wait for one another", ordered.cyclic.join("`, `")),
        );
        let finding = match owner {
            Some(owner) => finding.primary(owner.place, ""),
            None => finding,
        };
        findings
            .push(finding.help("remove one of the `After=` or `Before=` that close the circle"));
    }
    let mut order = ordered.order;
    order.extend(ordered.cyclic);
    order
}
