//! Units in dependency order: what must be up first comes first, equals by name.
//!
//! A cycle, which systemd itself would break, is broken at the smallest name.

use std::collections::{BTreeMap, BTreeSet};

use super::target::Unit;

/// The given names, each behind those of them that it comes after.
pub fn ordered<'a>(names: &BTreeSet<&'a str>, units: &BTreeMap<String, Unit>) -> Vec<&'a str> {
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    let mut followers: BTreeMap<&str, Vec<&'a str>> = BTreeMap::new();
    for &name in names {
        let before = reach(name, names, units);
        waiting.insert(name, before.len());
        for earlier in before {
            followers.entry(earlier).or_default().push(name);
        }
    }
    let mut ready: BTreeSet<&'a str> = names
        .iter()
        .copied()
        .filter(|name| waiting.get(name) == Some(&0))
        .collect();
    let mut left: BTreeSet<&'a str> = names.clone();
    let mut order = Vec::with_capacity(names.len());
    while let Some(next) = ready.pop_first().or_else(|| left.first().copied()) {
        if !left.remove(next) {
            continue;
        }
        order.push(next);
        for &follower in followers.get(next).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(follower) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    ready.insert(follower);
                }
            }
        }
    }
    order
}

/// Which of `names` come before `name`, directly or by way of units that are not among them.
fn reach<'a>(
    name: &str,
    names: &BTreeSet<&'a str>,
    units: &BTreeMap<String, Unit>,
) -> BTreeSet<&'a str> {
    let after = |name: &str| {
        units
            .get(name)
            .map_or(&[][..], |unit| unit.after.as_slice())
    };
    let mut found = BTreeSet::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = after(name).iter().map(String::as_str).collect();
    while let Some(earlier) = open.pop() {
        if earlier == name || !seen.insert(earlier) {
            continue;
        }
        match names.get(earlier) {
            Some(&earlier) => {
                found.insert(earlier);
            }
            None => open.extend(after(earlier).iter().map(String::as_str)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::target::{Nature, Start};

    fn unit(after: &[&str]) -> Unit {
        Unit {
            artifact: String::new(),
            nature: Nature::Process,
            start: Start::Always,
            inputs: BTreeMap::new(),
            after: after.iter().map(|&name| name.to_owned()).collect(),
            bound: Vec::new(),
            triggers: Vec::new(),
            volume: None,
        }
    }

    #[test]
    fn what_must_be_up_comes_first_and_cycles_end() {
        let units = BTreeMap::from([
            ("a".to_owned(), unit(&["between"])),
            ("between".to_owned(), unit(&["z"])),
            ("z".to_owned(), unit(&[])),
            ("m".to_owned(), unit(&[])),
            ("x".to_owned(), unit(&["y"])),
            ("y".to_owned(), unit(&["x"])),
        ]);
        let names = BTreeSet::from(["a", "z", "m", "x", "y"]);
        assert_eq!(ordered(&names, &units), ["m", "z", "a", "x", "y"]);
    }
}
