//! What lies where: services with their artifacts, drop-in directories and payloads, and hosts with
//! their overrides.
//!
//! One pass over the listing, by the shape of the paths alone. What is wrong with an entry's place
//! or kind is kept with its service or host, so that only what a host selects can block it.

use std::collections::{BTreeMap, HashMap};

use base::distance::nearest;
use base::{Diagnostic, Span};
use units::dropin;
use units::{Flavour, Kind, UnitName};

use crate::codes;
use crate::repository::{DEEPEST_PATH, Entry, EntryId, EntryKind, LARGEST_TEXT, Repository};

/// A unit file of a service.
#[derive(Clone, Debug)]
pub(crate) struct Artifact {
    pub name: UnitName,
    /// Where its text is: the file itself, or the template that a link names.
    pub text: EntryId,
    /// The file or the link.
    pub entry: EntryId,
}

/// A directory of drop-ins, by the name of the directory.
#[derive(Clone, Debug)]
pub(crate) struct DropInDirectory {
    pub kind: Kind,
    pub entry: EntryId,
    pub files: Vec<DropIn>,
}

#[derive(Clone, Debug)]
pub(crate) struct DropIn {
    pub file: String,
    pub entry: EntryId,
    /// Holds nothing, and only hides another of its name.
    pub is_mask: bool,
}

/// A file or link that is to lie at `target`.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    /// `/etc/traefik/traefik.toml`
    pub target: String,
    pub entry: EntryId,
}

/// What a service defines, or what a host overrides; a host has no artifacts.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    /// By file name.
    pub artifacts: BTreeMap<String, Artifact>,
    pub directories: BTreeMap<String, DropInDirectory>,
    pub payloads: Vec<Payload>,
    /// To whom payloads belong that are not root's.
    pub owners: Option<EntryId>,
    pub findings: Vec<Diagnostic>,
}

#[derive(Debug, Default)]
pub(crate) struct Host {
    pub file: Option<EntryId>,
    pub overrides: Definitions,
}

#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub services: BTreeMap<String, Definitions>,
    pub hosts: BTreeMap<String, Host>,
    /// What concerns the repository as a whole.
    pub findings: Vec<Diagnostic>,
    /// What lies beside the services and hosts; no host can select it.
    pub strays: Vec<Diagnostic>,
}

/// Sorts the entries of a repository by what they are for.
pub(crate) fn read(repository: &Repository) -> Catalog {
    let mut catalog = Catalog::default();
    let mut twins = Twins::default();
    for (id, entry) in repository.iter() {
        let parts: Vec<&str> = entry.path.split('/').collect();
        let finding = twins.check(repository, id, entry);
        let (into, rest, place) = match parts.as_slice() {
            ["services", service, rest @ ..] => {
                if rest.is_empty() && !is_directory(entry) {
                    catalog.strays.extend(stray(entry, "a service"));
                    continue;
                }
                let definitions = catalog.services.entry((*service).to_owned()).or_default();
                (definitions, rest, Place::Service)
            }
            ["hosts", host, rest @ ..] => {
                if rest.is_empty() && !is_directory(entry) {
                    catalog.strays.extend(stray(entry, "a host"));
                    continue;
                }
                let host = catalog.hosts.entry((*host).to_owned()).or_default();
                match rest {
                    ["host.yaml"] => {
                        host.file = Some(id);
                        host.overrides.findings.extend(unreadable(entry));
                        continue;
                    }
                    ["overrides", rest @ ..] => (&mut host.overrides, rest, Place::Host),
                    // Notes beside the host file are nobody's business.
                    [_] if !is_directory(entry) => continue,
                    [] => continue,
                    [name] => {
                        let known = ["overrides"];
                        let finding = unknown_directory(entry, name, &known);
                        host.overrides.findings.push(finding);
                        continue;
                    }
                    _ => continue,
                }
            }
            _ => continue,
        };
        into.findings.extend(finding);
        into.place(repository, id, entry, rest, place);
    }
    for (name, directory) in [("services", "a service"), ("hosts", "a host")] {
        let there = repository
            .find(name)
            .is_some_and(|id| is_directory(repository.entry(id)));
        if !there {
            catalog.findings.push(
                Diagnostic::error(
                    codes::MISSING_DIRECTORY,
                    format!("the repository has no directory `{name}`"),
                )
                .help(format!(
                    "make `{name}/` with a directory for {directory} in it, or point `--repo` at the repository"
                )),
            );
        }
    }
    catalog
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Service,
    Host,
}

impl Definitions {
    /// Sorts one entry below a service's or an overrides directory.
    fn place(&mut self, repo: &Repository, id: EntryId, entry: &Entry, rest: &[&str], at: Place) {
        let areas: &[&str] = match at {
            Place::Service => &["quadlet", "quadlet-overrides", "systemd", "config"],
            Place::Host => &["quadlet", "systemd", "config"],
        };
        match rest {
            [] => {}
            [area] if areas.contains(area) && is_directory(entry) => {}
            [area] if areas.contains(area) => {
                let wrong = || unsafe_link(entry, "it must be a directory", "make it a directory");
                self.findings.push(refusal(entry).unwrap_or_else(wrong));
            }
            ["owners.yaml"] if at == Place::Service => {
                self.findings
                    .extend(refusal(entry).or_else(|| unreadable(entry)));
                self.owners = entry.has_text.then_some(id);
            }
            [name] => {
                if is_directory(entry) {
                    self.findings.push(unknown_directory(entry, name, areas));
                } else if !matches!(entry.kind, EntryKind::File) {
                    self.findings.extend(refusal(entry));
                }
            }
            ["config", rest @ ..] => self.payload(id, entry, rest),
            [area, rest @ ..] if areas.contains(area) => {
                self.unit_entry(repo, id, entry, area, rest, at);
            }
            // Below an unknown directory: said once, at the directory.
            _ => {}
        }
    }

    fn unit_entry(
        &mut self,
        repo: &Repository,
        id: EntryId,
        entry: &Entry,
        area: &str,
        rest: &[&str],
        at: Place,
    ) {
        match rest {
            [name] if is_directory(entry) => self.directory(id, entry, area, name),
            [name] => self.artifact(repo, id, entry, area, name, at),
            [directory, file] if self.directories.contains_key(*directory) => {
                self.drop_in(repo, id, entry, directory, file);
            }
            _ => {}
        }
    }

    fn directory(&mut self, id: EntryId, entry: &Entry, area: &str, name: &str) {
        let unit = name.strip_suffix(".d");
        let kind = unit.and_then(|unit| {
            let named = UnitName::parse(unit).map(|name| name.kind);
            named.or_else(|| Kind::from_extension(unit))
        });
        let Some(kind) = kind else {
            if !name.starts_with('.') {
                self.findings.push(unsupported(
                    entry,
                    "no drop-in directory of a supported unit",
                    "name it after the unit: `traefik.container.d`",
                ));
            }
            return;
        };
        if area == "systemd" && kind.flavour() == Flavour::Quadlet {
            let help = "move it to `quadlet-overrides/` (or the host's `overrides/quadlet/`)";
            self.findings.push(misplaced(entry, kind, help));
        }
        // The same directory name in two areas (`quadlet/` and `quadlet-overrides/`) is one set.
        let known = self.directories.entry(name.to_owned());
        known.or_insert(DropInDirectory {
            kind,
            entry: id,
            files: Vec::new(),
        });
    }

    fn artifact(
        &mut self,
        repo: &Repository,
        id: EntryId,
        entry: &Entry,
        area: &str,
        file: &str,
        at: Place,
    ) {
        if let Some(finding) = refusal(entry) {
            self.findings.push(finding);
            return;
        }
        let Some(name) = UnitName::parse(file) else {
            if !file.starts_with('.') {
                let help = match file.rsplit_once('.') {
                    Some((_, "conf")) => {
                        "put a drop-in into a directory named after its unit: `traefik.container.d/`"
                    }
                    _ => {
                        "units have one of the extensions in the guide; other files belong under `config/etc/`"
                    }
                };
                let what = "no unit that can be managed";
                self.findings.push(unsupported(entry, what, help));
            }
            return;
        };
        let in_overrides = at == Place::Host || area == "quadlet-overrides";
        if in_overrides || (area == "systemd" && name.kind.flavour() == Flavour::Quadlet) {
            let help = match (in_overrides, at) {
                (true, Place::Host) => {
                    "a host adds drop-ins only: define the unit in a service that this host selects"
                }
                (true, Place::Service) => "move it to `quadlet/`",
                _ => "move it to `quadlet/`; `systemd/` is for systemd's own units",
            };
            self.findings.push(misplaced(entry, name.kind, help));
            return;
        }
        if file.starts_with('.') {
            let hidden = hidden(entry, name.kind.flavour());
            self.findings.push(hidden);
            if name.kind.flavour() == Flavour::Systemd {
                return;
            }
        }
        if !name.is_valid() {
            self.findings.push(
                Diagnostic::error(
                    codes::INVALID_NAME,
                    format!(
                        "systemd takes no unit of the name `{}`",
                        file.escape_debug()
                    ),
                )
                .primary(entry.span(), "")
                .help("use letters, digits and `:-_.\\`, at most 255 characters"),
            );
            return;
        }
        let Some(text) = self.text_of(repo, id, entry, &name) else {
            return;
        };
        if let Some(known) = self.artifacts.get(file) {
            let other = repo.entry(known.entry).span();
            self.findings.push(
                Diagnostic::error(
                    codes::DUPLICATE_ARTIFACT,
                    format!("the service defines `{name}` twice"),
                )
                .primary(entry.span(), "again")
                .secondary(other, "first here")
                .help("keep one of them"),
            );
            return;
        }
        let artifact = Artifact {
            name,
            text,
            entry: id,
        };
        self.artifacts.insert(file.to_owned(), artifact);
    }

    /// The entry that holds the text of a unit: itself, or the template beside it that a link names.
    fn text_of(
        &mut self,
        repo: &Repository,
        id: EntryId,
        entry: &Entry,
        name: &UnitName,
    ) -> Option<EntryId> {
        let EntryKind::Link(target) = &entry.kind else {
            self.findings.extend(unreadable(entry));
            return entry.has_text.then_some(id);
        };
        let beside = target.strip_prefix("./").unwrap_or(target);
        let template = name.template().map(|template| template.to_string());
        let parent = entry.path.rsplit_once('/').map_or("", |(parent, _)| parent);
        if template.as_deref() == Some(beside)
            && let Some(found) = repo.find(&format!("{parent}/{beside}"))
            && repo.entry(found).has_text
        {
            return Some(found);
        }
        let help = match template {
            Some(template) => {
                format!("an instance may link to its template beside it: `{template}`")
            }
            None => {
                "put the unit itself here; only an instance may link to its template".to_owned()
            }
        };
        let why = format!("a unit may not be a link to `{}`", target.escape_debug());
        self.findings.push(unsafe_link(entry, &why, &help));
        None
    }

    fn drop_in(&mut self, repo: &Repository, id: EntryId, entry: &Entry, into: &str, file: &str) {
        let Some(directory) = self.directories.get_mut(into) else {
            return;
        };
        let flavour = directory.kind.flavour();
        if is_directory(entry) {
            let what = "a directory where drop-ins are expected";
            let help = "put drop-ins directly into the drop-in directory";
            self.findings.push(unsupported(entry, what, help));
            return;
        }
        if let Some(finding) = refusal(entry) {
            self.findings.push(finding);
            return;
        }
        if !file.ends_with(".conf") {
            if !file.starts_with('.') {
                let help = "a drop-in's name ends in `.conf`";
                self.findings.push(unsupported(entry, "no drop-in", help));
            }
            return;
        }
        if file.starts_with('.') {
            self.findings.push(hidden(entry, flavour));
        }
        if !dropin::is_read(flavour, file) {
            return;
        }
        let is_mask = match &entry.kind {
            EntryKind::Link(target) if target == "/dev/null" => true,
            EntryKind::Link(target) => {
                let why = format!("a drop-in may not be a link to `{}`", target.escape_debug());
                let help = "put the drop-in itself here; only `/dev/null` may be linked, to mask";
                self.findings.push(unsafe_link(entry, &why, help));
                return;
            }
            _ => {
                self.findings.extend(unreadable(entry));
                if !entry.has_text {
                    return;
                }
                entry.unit().is_some_and(|unit| unit.is_empty())
            }
        };
        let known = directory.files.iter().find(|known| known.file == file);
        if let Some(known) = known {
            let finding = Diagnostic::error(
                codes::DUPLICATE_ARTIFACT,
                format!("the drop-in `{into}/{file}` is there twice"),
            );
            self.findings.push(
                finding
                    .primary(entry.span(), "again")
                    .secondary(repo.entry(known.entry).span(), "first here")
                    .help("keep one of them"),
            );
            return;
        }
        directory.files.push(DropIn {
            file: file.to_owned(),
            entry: id,
            is_mask,
        });
    }

    fn payload(&mut self, id: EntryId, entry: &Entry, rest: &[&str]) {
        if let Some(finding) = refusal(entry) {
            self.findings.push(finding);
            return;
        }
        match rest {
            ["etc"] | ["etc", _] if is_directory(entry) => {}
            ["etc", _, ..] if is_directory(entry) => {}
            [name] if name.starts_with('.') && !is_directory(entry) => {}
            ["etc", rest @ ..] if !rest.is_empty() => {
                self.payloads.push(Payload {
                    target: format!("/etc/{}", rest.join("/")),
                    entry: id,
                });
            }
            [_] => self.findings.push(
                Diagnostic::error(
                    codes::OUTSIDE_ETC,
                    format!("`{}` would lie outside `/etc`", rest.join("/")),
                )
                .primary(entry.span(), "")
                .help("payloads lie under `config/etc/<root>/`"),
            ),
            // Below a directory that was already reported.
            _ => {}
        }
    }
}

/// Names in one directory that differ only in case.
#[derive(Default)]
struct Twins {
    /// Only ever asked for a path, never walked.
    seen: HashMap<String, EntryId>,
}

impl Twins {
    fn check(&mut self, repo: &Repository, id: EntryId, entry: &Entry) -> Option<Diagnostic> {
        let other = self.seen.insert(entry.path.to_lowercase(), id)?;
        let other = repo.entry(other);
        // Differences further up are said there.
        let (parent, name) = entry.path.rsplit_once('/')?;
        let (other_parent, other_name) = other.path.rsplit_once('/')?;
        (parent == other_parent && name != other_name).then(|| {
            Diagnostic::error(
                codes::CASE_TWINS,
                format!("`{name}` and `{other_name}` differ only in case"),
            )
            .primary(entry.span(), "")
            .secondary(other.span(), "")
            .help("rename one: not every checkout can hold both")
        })
    }
}

fn is_directory(entry: &Entry) -> bool {
    entry.kind == EntryKind::Directory
}

/// What an entry may be nowhere.
fn refusal(entry: &Entry) -> Option<Diagnostic> {
    match &entry.kind {
        EntryKind::Special(what) => Some(
            Diagnostic::error(
                codes::SPECIAL_FILE,
                format!("`{}` is {what}", entry.name().escape_debug()),
            )
            .primary(entry.span(), "")
            .help("a repository holds files, directories and links only"),
        ),
        EntryKind::Refused(reason) => Some(
            Diagnostic::error(codes::UNREADABLE_ENTRY, reason.clone())
                .primary(entry.span(), "")
                .help(format!(
                    "rename or remove it; names are UTF-8 and at most {DEEPEST_PATH} directories deep"
                )),
        ),
        _ => None,
    }
}

/// Why a text is not here.
fn unreadable(entry: &Entry) -> Option<Diagnostic> {
    if entry.has_text || !matches!(entry.kind, EntryKind::File) {
        return refusal(entry).or_else(|| match entry.kind {
            EntryKind::Link(_) => Some(unsafe_link(
                entry,
                "a host file may not be a link",
                "put the file itself here",
            )),
            _ => None,
        });
    }
    Some(
        Diagnostic::error(
            codes::UNIT_TOO_LARGE,
            format!("the file has {} bytes", entry.size),
        )
        .primary(entry.span(), "")
        .help(format!(
            "units and host files have at most {LARGEST_TEXT} bytes; larger files belong under `config/etc/`"
        )),
    )
}

fn unsupported(entry: &Entry, what: &str, help: &str) -> Diagnostic {
    Diagnostic::error(
        codes::UNSUPPORTED_EXTENSION,
        format!("`{}` is {what}", entry.name().escape_debug()),
    )
    .primary(entry.span(), "")
    .help(help)
}

fn misplaced(entry: &Entry, kind: Kind, help: &str) -> Diagnostic {
    let (name, flavour) = (entry.name().escape_debug(), kind.flavour().word());
    Diagnostic::error(
        codes::MISPLACED_UNIT,
        format!("`{name}` is {flavour}'s and has no place here"),
    )
    .primary(entry.span(), "")
    .help(help)
}

fn unsafe_link(entry: &Entry, why: &str, help: &str) -> Diagnostic {
    Diagnostic::error(codes::UNSAFE_LINK, why)
        .primary(entry.span(), "")
        .help(help)
}

fn hidden(entry: &Entry, flavour: Flavour) -> Diagnostic {
    let what = match flavour {
        Flavour::Quadlet => "Quadlet reads hidden files as well",
        Flavour::Systemd => "systemd ignores hidden files",
    };
    Diagnostic::warning(codes::HIDDEN_FILE, what)
        .primary(entry.span(), "")
        .help("rename it without the leading dot, or remove it")
}

fn unknown_directory(entry: &Entry, name: &str, known: &[&str]) -> Diagnostic {
    let finding = Diagnostic::error(
        codes::UNKNOWN_DIRECTORY,
        format!("nothing is read from a directory `{}`", name.escape_debug()),
    )
    .primary(entry.span(), "");
    match nearest(name, known.iter().copied()) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => finding.help(format!("the directories are `{}`", known.join("`, `"))),
    }
}

fn stray(entry: &Entry, what: &str) -> Option<Diagnostic> {
    match &entry.kind {
        EntryKind::File => None,
        EntryKind::Link(_) => Some(unsafe_link(
            entry,
            &format!("{what} may not be a link"),
            "make it a directory",
        )),
        _ => refusal(entry),
    }
}

/// A place that stands for an entry.
pub(crate) fn span(repository: &Repository, id: EntryId) -> Span {
    repository.entry(id).span()
}
