//! Which drop-in directories belong to a unit, and which of their files apply in which order.
//!
//! For both flavours: files apply in the byte order of their names, and of files with one name only
//! one applies. Which one depends on two ranks, the search directory (`/etc` before `/usr`) and how
//! specific the drop-in directory is (`a-b@i.service.d` before `a-b@.service.d` … before
//! `service.d`), and the flavours compare them in different orders.
//!
//! Nothing here reads a directory; candidates are given.

use std::collections::BTreeMap;

use crate::name::{Flavour, UnitName};
use crate::version::Version;

/// The first release of Podman that reads `container.d` and `a-.container.d`.
const BROAD_SINCE: Version = Version::new(5, 2);
/// The first release of Podman that asks for specificity before the search directory.
const SPECIFIC_FIRST_SINCE: Version = Version::new(5, 6);

/// The drop-in directories of a unit, the most specific first.
pub fn directories(name: &UnitName, podman: Version) -> Vec<String> {
    let extension = name.kind.extension();
    let mut all = vec![format!("{name}.d")];
    if let Some(template) = name.template() {
        all.push(format!("{template}.d"));
    }
    if name.kind.flavour() == Flavour::Quadlet && podman < BROAD_SINCE {
        return all;
    }
    let mut prefixes = Vec::new();
    let mut rest = name.prefix.as_str();
    while let Some((before, _)) = rest.rsplit_once('-') {
        prefixes.push(before);
        rest = before;
    }
    match name.kind.flavour() {
        Flavour::Quadlet => {
            for prefix in prefixes {
                if name.instance.is_some() {
                    all.push(format!("{prefix}-@.{extension}.d"));
                }
                all.push(format!("{prefix}-.{extension}.d"));
            }
        }
        // systemd takes all plain prefixes before those with an instance.
        Flavour::Systemd => {
            let plain = prefixes.iter();
            all.extend(plain.map(|prefix| format!("{prefix}-.{extension}.d")));
            for prefix in prefixes {
                match name.instance.as_deref() {
                    Some("") => all.push(format!("{prefix}-@.{extension}.d")),
                    Some(instance) => {
                        all.push(format!("{prefix}-@{instance}.{extension}.d"));
                        all.push(format!("{prefix}-@.{extension}.d"));
                    }
                    None => {}
                }
            }
        }
    }
    all.push(format!("{extension}.d"));
    all
}

/// Whether the flavour reads a file of this name in a drop-in directory.
pub fn is_read(flavour: Flavour, file: &str) -> bool {
    match flavour {
        Flavour::Quadlet => file.ends_with(".conf"),
        Flavour::Systemd => file.ends_with(".conf") && !file.starts_with('.'),
    }
}

/// Which rank decides first between files of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    Directory,
    Specificity,
}

/// What the flavour itself does.
pub fn native(flavour: Flavour, podman: Version) -> Precedence {
    match flavour {
        Flavour::Quadlet if podman >= SPECIFIC_FIRST_SINCE => Precedence::Specificity,
        _ => Precedence::Directory,
    }
}

/// A file in one of the drop-in directories of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    pub file: &'a str,
    /// Rank of the search directory, the strongest zero.
    pub directory: usize,
    /// Rank of the drop-in directory, the most specific zero.
    pub specificity: usize,
}

/// What becomes of each candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Indices of those that apply, in order.
    pub applied: Vec<usize>,
    /// Index of one that does not apply, and of the one that hides it.
    pub masked: Vec<(usize, usize)>,
}

/// Chooses one candidate per name and orders them by name.
pub fn order(precedence: Precedence, candidates: &[Candidate<'_>]) -> Order {
    let rank = |c: &Candidate<'_>| match precedence {
        Precedence::Directory => (c.directory, c.specificity),
        Precedence::Specificity => (c.specificity, c.directory),
    };
    let mut by_name: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let same = by_name.entry(candidate.file.as_bytes()).or_default();
        same.push(index);
    }
    let mut order = Order::default();
    for mut same in by_name.into_values() {
        same.sort_by_key(|&index| candidates.get(index).map(rank));
        let mut all = same.into_iter();
        if let Some(winner) = all.next() {
            order.applied.push(winner);
            order.masked.extend(all.map(|loser| (loser, winner)));
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: &str, minor: u16) -> Vec<String> {
        directories(&UnitName::parse(file).unwrap(), Version::new(5, minor))
    }

    #[test]
    fn directories_go_from_specific_to_broad() {
        assert_eq!(
            of("a-b@i.container", 4),
            [
                "a-b@i.container.d",
                "a-b@.container.d",
                "a-@.container.d",
                "a-.container.d",
                "container.d"
            ]
        );
        assert_eq!(
            of("a-b-c.socket", 0),
            ["a-b-c.socket.d", "a-b-.socket.d", "a-.socket.d", "socket.d"]
        );
        assert_eq!(
            of("a-b@i.service", 0),
            [
                "a-b@i.service.d",
                "a-b@.service.d",
                "a-.service.d",
                "a-@i.service.d",
                "a-@.service.d",
                "service.d"
            ]
        );
        assert_eq!(of("a-b.container", 1), ["a-b.container.d"]);
        assert_eq!(
            of("a@i.container", 1),
            ["a@i.container.d", "a@.container.d"]
        );
    }

    #[test]
    fn one_name_applies_once() {
        let c = |file, directory, specificity| Candidate {
            file,
            directory,
            specificity,
        };
        let all = [
            c("20-a.conf", 0, 0),
            c("10-b.conf", 1, 0),
            c("10-b.conf", 0, 1),
            c("5-z.conf", 1, 1),
        ];
        let by_directory = order(Precedence::Directory, &all);
        assert_eq!(by_directory.applied, [2, 0, 3]);
        assert_eq!(by_directory.masked, [(1, 2)]);
        let by_specificity = order(Precedence::Specificity, &all);
        assert_eq!(by_specificity.applied, [1, 0, 3]);
        assert_eq!(by_specificity.masked, [(2, 1)]);
    }
}
