//! Which keys a section knows, what they hold, and since when.
//!
//! Quadlet refuses a unit with an unknown key in its own section; systemd ignores such a key. The
//! tables say which it is before either of them does. Sections that begin with `X-` are anybody's.

mod execution;
mod quadlet;
mod systemd;

use base::distance::nearest;

use crate::name::{Flavour, Kind};
use crate::version::Version;

/// How assignments of one key add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arity {
    /// The last one counts; empty is the default.
    Scalar,
    /// The last one counts; empty is an explicit false for Quadlet.
    Bool,
    /// All count, from the last empty one on.
    List,
    /// As a list, but of `name=value` words, and the last of a name counts.
    Map,
    /// All count; an empty one is ignored.
    Dependency,
}

/// A key of one of Quadlet's sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub name: &'static str,
    pub arity: Arity,
    /// The first release of Podman that takes it.
    pub since: Version,
}

const fn key(name: &'static str, arity: Arity, major: u16, minor: u16) -> Key {
    Key {
        name,
        arity,
        since: Version::new(major, minor),
    }
}

/// What is known of a key in a section of a kind of unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    Yes(Arity),
    /// Known, but only to later releases than the one asked for.
    Later(Arity, Version),
    No,
    /// The section is not one whose keys are known; anything goes.
    Anything,
}

/// Looks a key up. `podman` decides for Quadlet's own sections only.
pub fn lookup(kind: Kind, section: &str, name: &str, podman: Version) -> Known {
    match table_of(kind, section) {
        Whose::Quadlet(keys) => match find(keys, name) {
            Some(key) if key.since <= podman => Known::Yes(key.arity),
            Some(key) => Known::Later(key.arity, key.since),
            None => Known::No,
        },
        Whose::Systemd(tables) => {
            // systemd leaves names with `X-` to others.
            if name.starts_with("X-") {
                return Known::Anything;
            }
            let found = tables.iter().find_map(|table| table.arity(name));
            found.map_or(Known::No, Known::Yes)
        }
        Whose::Nobody => Known::Anything,
    }
}

/// How a key adds up, whatever the release; unknown keys are taken for lists.
pub fn arity(kind: Kind, section: &str, name: &str) -> Arity {
    match lookup(kind, section, name, Version::NEWEST) {
        Known::Yes(arity) | Known::Later(arity, _) => arity,
        Known::No | Known::Anything => Arity::List,
    }
}

/// The known key that a name was probably meant to be.
pub fn meant(kind: Kind, section: &str, name: &str) -> Option<&'static str> {
    match table_of(kind, section) {
        Whose::Quadlet(keys) => nearest(name, keys.iter().map(|key| key.name)),
        Whose::Systemd(tables) => nearest(name, tables.iter().flat_map(|table| table.names())),
        Whose::Nobody => None,
    }
}

/// Another section of the same kind of unit that has the key.
pub fn elsewhere(kind: Kind, section: &str, name: &str) -> Option<&'static str> {
    let sections = sections(kind);
    let has = |other: &&'static str| {
        *other != section
            && matches!(
                lookup(kind, other, name, Version::NEWEST),
                Known::Yes(_) | Known::Later(..)
            )
    };
    sections.into_iter().find(has)
}

/// The sections a kind of unit may have.
pub fn sections(kind: Kind) -> Vec<&'static str> {
    let mut all = vec!["Unit"];
    all.extend(kind.section());
    if kind.flavour() == Flavour::Quadlet {
        all.extend(["Service", "Quadlet"]);
    }
    all.push("Install");
    all
}

/// All keys of one of Quadlet's sections, sorted by name.
pub fn quadlet_section(name: &str) -> &'static [Key] {
    quadlet::section(name)
}

/// The release that first knew a kind of unit.
pub fn kind_since(kind: Kind) -> Version {
    match kind {
        Kind::Image => Version::new(4, 8),
        Kind::Pod => Version::new(5, 0),
        Kind::Build => Version::new(5, 2),
        Kind::Artifact => Version::new(5, 7),
        _ => Version::OLDEST,
    }
}

enum Whose {
    Quadlet(&'static [Key]),
    Systemd(&'static [systemd::Table]),
    Nobody,
}

fn table_of(kind: Kind, section: &str) -> Whose {
    let own = kind.section() == Some(section);
    let shared = matches!(section, "Unit" | "Install");
    let passed_on = kind.flavour() == Flavour::Quadlet && matches!(section, "Service" | "Quadlet");
    if !own && !shared && !passed_on {
        return Whose::Nobody;
    }
    match section {
        "Unit" | "Service" | "Install" => Whose::Systemd(systemd::section(section)),
        _ => match kind.flavour() {
            Flavour::Quadlet => Whose::Quadlet(quadlet::section(section)),
            Flavour::Systemd => Whose::Systemd(systemd::section(section)),
        },
    }
}

fn find<'a>(keys: &'a [Key], name: &str) -> Option<&'a Key> {
    let at = keys.binary_search_by_key(&name, |key| key.name).ok()?;
    keys.get(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_without_repeats() {
        for section in [
            "Container",
            "Volume",
            "Network",
            "Pod",
            "Kube",
            "Image",
            "Build",
            "Artifact",
            "Quadlet",
        ] {
            let keys = quadlet::section(section);
            assert!(!keys.is_empty());
            assert!(keys.is_sorted_by(|a, b| a.name < b.name), "{section}");
        }
        for section in [
            "Unit", "Install", "Service", "Socket", "Mount", "Timer", "Path",
        ] {
            for table in systemd::section(section) {
                for names in [table.lists, table.scalars, table.dependencies] {
                    assert!(names.is_sorted_by(|a, b| a < b), "{section}");
                }
            }
        }
    }

    #[test]
    fn a_key_is_known_by_section_and_release() {
        let look =
            |section, name, minor| lookup(Kind::Container, section, name, Version::new(5, minor));
        assert_eq!(look("Container", "PublishPort", 4), Known::Yes(Arity::List));
        assert_eq!(
            look("Container", "AppArmor", 4),
            Known::Later(Arity::Scalar, Version::new(5, 8))
        );
        assert_eq!(look("Container", "PublishPrt", 4), Known::No);
        assert_eq!(look("Service", "Restart", 4), Known::Yes(Arity::Scalar));
        assert_eq!(look("Unit", "After", 4), Known::Yes(Arity::Dependency));
        assert_eq!(look("Service", "Environment", 4), Known::Yes(Arity::Map));
        assert_eq!(look("X-Mine", "Anything", 4), Known::Anything);
        assert_eq!(
            meant(Kind::Container, "Container", "PublishPorts"),
            Some("PublishPort")
        );
        assert_eq!(
            elsewhere(Kind::Container, "Container", "Restart"),
            Some("Service")
        );
    }
}
