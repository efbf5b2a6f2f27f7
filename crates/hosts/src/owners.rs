//! `services/<service>/owners.yaml`: to whom payloads belong that are not root's.
//!
//! A map from a path below `/etc/<root>` to `UID:GID`; the longest path that holds a payload decides.
//! Numbers and no names: what a name means differs from host to host, and evaluation knows none.

use std::sync::Arc;

use base::{Diagnostic, Span, Symbols};
use data::{Format, Value};

use crate::codes;
use crate::evaluate::DesiredFile;
use crate::repository::Entry;

/// User and group of a file, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub uid: u32,
    pub gid: u32,
}

#[derive(Debug)]
struct Rule {
    path: String,
    span: Span,
    owner: Owner,
}

#[derive(Debug, Default)]
pub(crate) struct Owners {
    rules: Vec<Rule>,
    pub findings: Vec<Diagnostic>,
}

pub(crate) fn read(entry: &Entry, text: &Arc<str>) -> Owners {
    let mut owners = Owners::default();
    let mut symbols = Symbols::new();
    let options = data::Options::default();
    let text = Arc::clone(text);
    let parsed = data::parse(Format::Yaml, entry.source, text, &mut symbols, &options);
    let broken = parsed.has_errors();
    owners.findings = parsed.findings;
    let map = match parsed.documents.as_slice() {
        [tree] => match tree.value(tree.root()) {
            Value::Map(fields) => Some((tree, fields)),
            _ => None,
        },
        _ => None,
    };
    let Some((tree, fields)) = map else {
        if !broken {
            owners.refuse(entry.span(), "the file of owners is not one map");
        }
        return owners;
    };
    for field in fields {
        let path = symbols.name(field.name);
        let place = tree.key_span(field);
        let plain = |name: &str| !matches!(name, "" | "." | "..");
        let below = path.strip_prefix("/etc/");
        if !below.is_some_and(|rest| rest.split('/').all(plain)) {
            owners.refuse(place, &format!("`{path}` is no path below `/etc/<root>`"));
            continue;
        }
        let value = match tree.value(field.value) {
            Value::String(text) => owner(text),
            _ => None,
        };
        match value {
            Some(owner) => owners.rules.push(Rule {
                path: path.to_owned(),
                span: place,
                owner,
            }),
            None => owners.refuse(tree.span(field.value), "an owner is not `UID:GID`"),
        }
    }
    owners
}

fn owner(text: &str) -> Option<Owner> {
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // The largest number stands for no user at all.
        let number = text.parse().ok().filter(|&number| number < u32::MAX);
        number.filter(|_| digits)
    };
    let (uid, gid) = text.split_once(':')?;
    Some(Owner {
        uid: number(uid)?,
        gid: number(gid)?,
    })
}

impl Owners {
    fn refuse(&mut self, place: Span, what: &str) {
        self.findings.push(
            Diagnostic::error(codes::INVALID_OWNER, what)
                .primary(place, "")
                .help("write a line for each path: `/etc/traefik/acme: \"1000:1000\"`"),
        );
    }

    /// Gives the files of a service to their owners. A rule that reaches none is a mistake.
    pub(crate) fn apply<'a>(
        &self,
        files: impl Iterator<Item = &'a mut DesiredFile>,
        findings: &mut Vec<Diagnostic>,
    ) {
        let mut used = vec![false; self.rules.len()];
        for file in files {
            let holds = |rule: &Rule| {
                let rest = file.target.strip_prefix(&rule.path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let held = self.rules.iter().zip(&mut used);
            let mut held: Vec<_> = held.filter(|(rule, _)| holds(rule)).collect();
            held.sort_by_key(|(rule, _)| rule.path.len());
            for (rule, used) in held {
                file.owner = Some(rule.owner);
                *used = true;
            }
        }
        for (rule, _) in self.rules.iter().zip(used).filter(|(_, used)| !used) {
            findings.push(
                Diagnostic::error(
                    codes::INVALID_OWNER,
                    format!("no payload lies at or below `{}`", rule.path),
                )
                .primary(rule.span, "")
                .help("name a payload of this service, or a directory that holds one"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_two_numbers() {
        let both = |uid, gid| Some(Owner { uid, gid });
        assert_eq!(owner("0:0"), both(0, 0));
        assert_eq!(owner("1000:100"), both(1000, 100));
        for text in [
            "",
            "1000",
            "1000:",
            ":1",
            "root:root",
            "+1:1",
            "4294967295:0",
            "1:2:3",
        ] {
            assert_eq!(owner(text), None, "{text}");
        }
    }
}
