//! What can be wrong inside one unit: its text, its keys, what it lacks, and values on which two
//! files of one layer disagree.
//!
//! Each file is judged by the rules of its own flavour; what Quadlet refuses is an error, what
//! systemd ignores a warning.

use std::collections::BTreeMap;

use base::distance::nearest;
use base::{Diagnostic, Severity};
use units::keys::{self, Arity, Known};
use units::syntax::Assigned;
use units::{Flavour, Kind, Line};

use crate::artifact::{Layer, Unit};
use crate::codes;
use crate::evaluate::Options;
use crate::repository::{Entry, Repository};

/// All findings about one unit.
pub(crate) fn check(repository: &Repository, unit: &Unit, options: &Options) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for part in &unit.parts {
        let entry = repository.entry(part.entry);
        findings.extend_from_slice(entry.unit_findings());
        file(&mut findings, entry, unit.name.kind, options);
    }
    if unit.fragment.is_some() {
        release(&mut findings, repository, unit, options);
        incomplete(&mut findings, repository, unit);
    }
    conflicts(&mut findings, unit, options);
    findings
}

fn file(findings: &mut Vec<Diagnostic>, entry: &Entry, kind: Kind, options: &Options) {
    let Some(file) = entry.unit() else {
        return;
    };
    let known = keys::sections(kind);
    for (section, span) in file.headers() {
        if known.contains(&section) || section.starts_with("X-") {
            continue;
        }
        let finding = Diagnostic::warning(
            codes::UNKNOWN_SECTION,
            format!(
                "`[{}]` means nothing in a `.{}`",
                section.escape_debug(),
                kind.extension()
            ),
        )
        .primary(span, "ignored");
        findings.push(match nearest(section, known.iter().copied()) {
            Some(meant) => finding.help(format!("did you mean `[{meant}]`?")),
            None => finding.help(format!("the sections are `[{}]`", known.join("]`, `["))),
        });
    }
    for assigned in file.assignments() {
        let known = keys::lookup(kind, assigned.section, assigned.key, options.podman);
        match known {
            Known::Yes(_) | Known::Anything => {}
            Known::Later(_, since) => findings.push(
                Diagnostic::error(
                    codes::UNKNOWN_KEY,
                    format!(
                        "`{}` in `[{}]` needs podman {since}",
                        assigned.key, assigned.section
                    ),
                )
                .primary(
                    assigned.assignment.key,
                    format!("podman {} refuses the unit for it", options.podman),
                )
                .help(format!("remove it, or run podman {since} or later")),
            ),
            Known::No => findings.push(unknown_key(kind, &assigned)),
        }
    }
}

fn unknown_key(kind: Kind, assigned: &Assigned<'_>) -> Diagnostic {
    let (section, key) = (assigned.section, assigned.key);
    let own = kind.section() == Some(section) || section == "Quadlet";
    let refused = kind.flavour() == Flavour::Quadlet && own;
    let (severity, consequence) = match refused {
        true => (Severity::Error, "Quadlet refuses the unit for it"),
        false => (Severity::Warning, "systemd ignores it"),
    };
    let message = format!("`[{section}]` has no key `{}`", key.escape_debug());
    let finding = Diagnostic::new(codes::UNKNOWN_KEY, severity, message)
        .primary(assigned.assignment.key, consequence);
    if let Some(elsewhere) = keys::elsewhere(kind, section, key) {
        return finding.help(format!("`{key}` belongs in `[{elsewhere}]`"));
    }
    match keys::meant(kind, section, key) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => finding.help("remove it; arguments of podman itself go into `PodmanArgs=`"),
    }
}

/// A kind of unit that the asked release does not know at all.
fn release(findings: &mut Vec<Diagnostic>, repo: &Repository, unit: &Unit, options: &Options) {
    let since = keys::kind_since(unit.name.kind);
    if since <= options.podman || unit.name.kind.flavour() == Flavour::Systemd {
        return;
    }
    if let Some(entry) = unit.fragment {
        let extension = unit.name.kind.extension();
        findings.push(
            Diagnostic::error(
                codes::UNSUPPORTED_EXTENSION,
                format!("`.{extension}` needs podman {since}"),
            )
            .primary(
                repo.entry(entry).span(),
                format!("podman {} skips it", options.podman),
            )
            .help(format!("run podman {since} or later")),
        );
    }
}

/// Keys without which Quadlet generates nothing: one of each group must be set.
fn required(kind: Kind) -> &'static [&'static [&'static str]] {
    match kind {
        Kind::Container => &[&["Image", "Rootfs"]],
        Kind::Kube => &[&["Yaml"]],
        Kind::Image => &[&["Image"]],
        Kind::Build => &[&["ImageTag"], &["File", "SetWorkingDirectory"]],
        Kind::Artifact => &[&["Artifact"]],
        _ => &[],
    }
}

fn incomplete(findings: &mut Vec<Diagnostic>, repository: &Repository, unit: &Unit) {
    let (Some(section), Some(entry)) = (unit.name.kind.section(), unit.fragment) else {
        return;
    };
    for keys in required(unit.name.kind) {
        let set = |key: &&str| {
            let single = unit.merged.value(section, key).is_some();
            single || unit.merged.standing(section, key).next().is_some()
        };
        if keys.iter().any(set) {
            continue;
        }
        let mut lost = keys.iter().filter_map(|key| unit.merged.last(section, key));
        let place = match lost.next_back() {
            Some(line) => line.origin.span,
            None => repository.entry(entry).span(),
        };
        let names = keys.join("=` or `");
        findings.push(
            Diagnostic::error(
                codes::INCOMPLETE_UNIT,
                format!("`{}` sets no `{names}=` in `[{section}]`", unit.name),
            )
            .primary(place, "Quadlet generates no service without it")
            .help(format!("set `{names}=` in the unit or in a drop-in")),
        );
    }
}

/// Two files of one layer that set a single value differently.
fn conflicts(findings: &mut Vec<Diagnostic>, unit: &Unit, options: &Options) {
    for section in &unit.merged.sections {
        let mut seen: BTreeMap<(&str, u16), &Line> = BTreeMap::new();
        for line in &section.lines {
            let layer = line.origin.layer;
            if layer == Layer::Base.id() || line.value.is_empty() {
                continue;
            }
            let arity = keys::arity(unit.name.kind, &section.name, &line.key);
            if !matches!(arity, Arity::Scalar | Arity::Bool) {
                continue;
            }
            let before = seen.insert((&line.key, layer.0), line);
            let Some(before) = before.filter(|b| b.part != line.part && b.value != line.value)
            else {
                continue;
            };
            let severity = match options.strict {
                true => Severity::Error,
                false => Severity::Warning,
            };
            let whose = match layer == Layer::HostDropIn.id() {
                true => "two drop-ins of the host",
                false => "two base drop-ins",
            };
            findings.push(
                Diagnostic::new(
                    codes::CONFLICTING_VALUES,
                    severity,
                    format!("{whose} set `{}` differently", line.key),
                )
                .primary(line.origin.span, "this one wins")
                .secondary(before.origin.span, "this one is lost")
                .help("set it in one of them"),
            );
        }
    }
}
