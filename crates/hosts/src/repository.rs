//! The repository as data: a listing of entries, the texts of its unit files and host files, and a
//! handle for everything else.
//!
//! Entries are sorted by path, so that nothing depends on the order in which a directory was read.
//! The content of a payload is never here; whoever copies it asks for the entry's path. Units are
//! parsed once, by the flavour their name asks for.

use std::sync::Arc;

use base::{Diagnostic, SourceId, Sources, Span};
use units::{Flavour, UnitFile, UnitName};

use crate::catalog::{self, Catalog};

/// Which entry, in the repository it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Directory,
    File,
    /// A symbolic link, with its target as written.
    Link(String),
    /// Neither file, directory nor link: `a character device`.
    Special(&'static str),
    /// Listed, but not to be looked into, with the reason: `its name is not UTF-8`.
    Refused(String),
}

#[derive(Debug)]
pub struct Entry {
    /// From the root of the repository, with `/` between names and none at the ends.
    pub path: String,
    pub kind: EntryKind,
    pub executable: bool,
    pub size: u64,
    /// The text, or an empty text that stands for the path in findings.
    pub source: SourceId,
    /// Whether the text is here.
    pub has_text: bool,
    unit: Option<Parsed>,
}

#[derive(Debug)]
struct Parsed {
    file: UnitFile,
    findings: Vec<Diagnostic>,
}

impl Entry {
    /// The last name of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or("")
    }

    /// A place that stands for the entry as a whole.
    pub fn span(&self) -> Span {
        Span::new(self.source, 0..0)
    }

    pub fn unit(&self) -> Option<&UnitFile> {
        self.unit.as_ref().map(|parsed| &parsed.file)
    }

    /// What is wrong with the text as such.
    pub fn unit_findings(&self) -> &[Diagnostic] {
        self.unit.as_ref().map_or(&[], |parsed| &parsed.findings)
    }
}

/// The largest unit or host file that is read.
pub const LARGEST_TEXT: u64 = 1 << 20;

/// The deepest path that is looked at, in names.
pub const DEEPEST_PATH: usize = 64;

/// Whether an entry at this path is a text that evaluation reads: a unit, a drop-in or a host file.
pub fn wants_text(path: &str) -> bool {
    text_kind(path).is_some()
}

enum TextKind {
    Host,
    Unit(Flavour),
}

fn text_kind(path: &str) -> Option<TextKind> {
    let parts: Vec<&str> = path.split('/').collect();
    let inside = match parts.as_slice() {
        ["hosts", _, "host.yaml"] | ["services", _, "owners.yaml"] => return Some(TextKind::Host),
        [
            "services",
            _,
            "quadlet" | "quadlet-overrides" | "systemd",
            rest @ ..,
        ] => rest,
        ["hosts", _, "overrides", "quadlet" | "systemd", rest @ ..] => rest,
        _ => return None,
    };
    let flavour = match inside {
        [file] => UnitName::parse(file)?.kind.flavour(),
        [directory, file] if file.ends_with(".conf") => {
            let unit = directory.strip_suffix(".d")?;
            let named = UnitName::parse(unit).map(|name| name.kind);
            named
                .or_else(|| units::Kind::from_extension(unit))?
                .flavour()
        }
        _ => return None,
    };
    Some(TextKind::Unit(flavour))
}

/// Collects entries in any order.
#[derive(Debug, Default)]
pub struct RepositoryBuilder {
    found: Vec<Found>,
}

#[derive(Debug)]
struct Found {
    path: String,
    kind: EntryKind,
    executable: bool,
    size: u64,
    text: Option<Vec<u8>>,
}

impl RepositoryBuilder {
    pub fn new() -> RepositoryBuilder {
        RepositoryBuilder::default()
    }

    fn add(&mut self, path: &str, kind: EntryKind) -> &mut Found {
        // No directory lists such names; a listing from elsewhere might.
        let climbs = |name: &str| matches!(name, "" | "." | "..");
        let kind = match path.split('/').any(climbs) {
            true => EntryKind::Refused("its path leads elsewhere".to_owned()),
            false => kind,
        };
        self.found.push(Found {
            path: path.to_owned(),
            kind,
            executable: false,
            size: 0,
            text: None,
        });
        self.found.last_mut().expect("one was just pushed")
    }

    pub fn directory(&mut self, path: &str) {
        self.add(path, EntryKind::Directory);
    }

    /// A file whose text is read: [`wants_text`] says which.
    pub fn text(&mut self, path: &str, bytes: Vec<u8>, executable: bool) {
        let found = self.add(path, EntryKind::File);
        found.size = bytes.len() as u64;
        found.executable = executable;
        found.text = Some(bytes);
    }

    /// A file that is only ever copied, or too large to be read.
    pub fn file(&mut self, path: &str, size: u64, executable: bool) {
        let found = self.add(path, EntryKind::File);
        found.size = size;
        found.executable = executable;
    }

    pub fn link(&mut self, path: &str, target: &str) {
        self.add(path, EntryKind::Link(target.to_owned()));
    }

    pub fn special(&mut self, path: &str, what: &'static str) {
        self.add(path, EntryKind::Special(what));
    }

    pub fn refused(&mut self, path: &str, reason: impl Into<String>) {
        self.add(path, EntryKind::Refused(reason.into()));
    }

    pub fn finish(mut self) -> Repository {
        self.found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut sources = Sources::new();
        let mut entries = Vec::with_capacity(self.found.len());
        for found in self.found {
            let is_file = found.kind == EntryKind::File;
            let text = found.text.filter(|_| is_file);
            let has_text = text.is_some();
            let bytes = text.unwrap_or_default();
            let (source, bad) = sources.add_bytes(found.path.as_str(), bytes);
            let unit = match text_kind(&found.path) {
                Some(TextKind::Unit(flavour)) if has_text => {
                    let text = Arc::clone(sources.get(source).text());
                    let (file, mut findings) = units::parse(source, text, flavour);
                    findings.extend(bad);
                    Some(Parsed { file, findings })
                }
                _ => None,
            };
            entries.push(Entry {
                path: found.path,
                kind: found.kind,
                executable: found.executable,
                size: found.size,
                source,
                has_text,
                unit,
            });
        }
        let mut repository = Repository {
            sources,
            entries,
            catalog: Catalog::default(),
        };
        repository.catalog = catalog::read(&repository);
        repository
    }
}

/// All entries below the root, sorted by path, with the texts that evaluation reads.
#[derive(Debug)]
pub struct Repository {
    pub sources: Sources,
    entries: Vec<Entry>,
    catalog: Catalog,
}

impl Repository {
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub fn entry(&self, id: EntryId) -> &Entry {
        self.entries
            .get(id.0 as usize)
            .expect("an EntryId comes from the repository that made it")
    }

    pub fn iter(&self) -> impl Iterator<Item = (EntryId, &Entry)> {
        (0..).map(EntryId).zip(&self.entries)
    }

    pub fn find(&self, path: &str) -> Option<EntryId> {
        let found = self
            .entries
            .binary_search_by(|entry| entry.path.as_str().cmp(path));
        found
            .ok()
            .and_then(|at| u32::try_from(at).ok())
            .map(EntryId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_listing_does_not_show() {
        let build = |paths: &[&str]| {
            let mut builder = RepositoryBuilder::new();
            for path in paths {
                builder.text(path, b"[Unit]\n".to_vec(), false);
            }
            let repository = builder.finish();
            let paths: Vec<String> = repository.iter().map(|(_, e)| e.path.clone()).collect();
            paths
        };
        let (a, b) = (
            "services/a/quadlet/a.container",
            "services/a/quadlet/b.volume",
        );
        assert_eq!(build(&[a, b]), build(&[b, a]));
    }

    #[test]
    fn only_units_drop_ins_and_host_files_are_read() {
        for path in [
            "hosts/a/host.yaml",
            "services/a/quadlet/a.container",
            "services/a/quadlet/a.socket",
            "services/a/quadlet-overrides/container.d/x.conf",
            "hosts/a/overrides/systemd/a.socket.d/x.conf",
        ] {
            assert!(wants_text(path), "{path}");
        }
        for path in [
            "README.md",
            "services/a/config/etc/a/host.yaml",
            "services/a/config/etc/a/a.container",
            "services/a/quadlet/a.yaml",
            "services/a/quadlet/a.container.d/x.txt",
            "services/a/quadlet/deep/a.container.d/x.conf",
        ] {
            assert!(!wants_text(path), "{path}");
        }
    }
}
