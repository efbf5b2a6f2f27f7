//! `hosts/<host>/host.yaml`: the host's name and the services it selects.
//!
//! Two keys and no more: an explicit list, no groups, no roles (FR-005). What the services are is
//! not known here.

use std::fmt;
use std::sync::Arc;

use base::distance::nearest;
use base::{Diagnostic, Span, Symbols};
use data::{Format, NodeId, Tree, Value};

use crate::codes;
use crate::repository::Entry;

/// The name of a host: the name of its directory below `hosts/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName(String);

impl HostName {
    /// Takes a name that can be one directory's name. The error says what is wrong, for the user.
    pub fn new(name: &str) -> Result<HostName, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match name {
            "" | "." | ".." => Err(format!("`{name}` is no host name")),
            _ if !name.chars().all(fits) => Err(format!(
                "`{}` is no host name: only letters, digits, `-`, `_` and `.` may be in it",
                name.escape_debug()
            )),
            _ => Ok(HostName(name.to_owned())),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a host file says.
#[derive(Debug, Default)]
pub(crate) struct Declaration {
    /// The selected services in the order of the file, without repeats.
    pub services: Vec<(String, Span)>,
    pub findings: Vec<Diagnostic>,
}

const FIELDS: [&str; 2] = ["host", "services"];

/// Reads the host file in the directory `host`.
pub(crate) fn read(entry: &Entry, text: &Arc<str>, host: &str) -> Declaration {
    let mut declared = Declaration::default();
    let mut symbols = Symbols::new();
    let parsed = data::parse(
        Format::Yaml,
        entry.source,
        Arc::clone(text),
        &mut symbols,
        &data::Options::default(),
    );
    let broken = parsed.has_errors();
    declared.findings = parsed.findings;
    let [tree] = parsed.documents.as_slice() else {
        if !broken {
            let what = match parsed.documents.len() {
                0 => "the host file is empty",
                _ => "the host file holds several documents",
            };
            declared.findings.push(invalid(entry.span(), what, ""));
        }
        return declared;
    };
    let Value::Map(fields) = tree.value(tree.root()) else {
        let span = tree.span(tree.root());
        declared
            .findings
            .push(invalid(span, "the host file is not a map", ""));
        return declared;
    };
    let (mut named, mut listed) = (false, false);
    for field in fields {
        match symbols.name(field.name) {
            "host" => {
                named = true;
                declared.host(tree, field.value, host);
            }
            "services" => {
                listed = true;
                declared.list(tree, field.value);
            }
            other => {
                let finding = Diagnostic::error(
                    codes::UNKNOWN_FIELD,
                    format!("a host file has no field `{other}`"),
                )
                .primary(tree.key_span(field), "unknown");
                declared.findings.push(match nearest(other, FIELDS) {
                    Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                    None => finding.help("the fields are `host` and `services`"),
                });
            }
        }
    }
    let start = tree.span(tree.root()).at_start();
    for (found, field) in [(named, "host"), (listed, "services")] {
        if !found && !broken {
            let what = format!("the field `{field}` is missing");
            declared.findings.push(invalid(start, &what, ""));
        }
    }
    declared
}

impl Declaration {
    fn host(&mut self, tree: &Tree, node: NodeId, host: &str) {
        let span = tree.span(node);
        match tree.value(node) {
            Value::String(name) if name == host => {}
            Value::String(name) => self.findings.push(
                Diagnostic::error(
                    codes::HOST_MISMATCH,
                    format!("the file says `{name}`, its directory is `{host}`"),
                )
                .primary(span, "not the directory's name")
                .help(format!(
                    "write `host: {host}`, or rename the directory to `hosts/{name}`"
                )),
            ),
            _ => self
                .findings
                .push(invalid(span, "`host` is not a string", "put it in quotes")),
        }
    }

    fn list(&mut self, tree: &Tree, node: NodeId) {
        let items = match tree.value(node) {
            Value::List(items) => items,
            // `services:` with nothing behind it selects nothing.
            Value::Null => return,
            _ => {
                let help = "write one service a line: `- traefik`";
                let span = tree.span(node);
                self.findings
                    .push(invalid(span, "`services` is not a list", help));
                return;
            }
        };
        for &item in items {
            let span = tree.span(item);
            let Value::String(name) = tree.value(item) else {
                let help = "name the service as a string; groups and roles are not supported";
                self.findings
                    .push(invalid(span, "a service is not a string", help));
                continue;
            };
            match self.services.iter().find(|(known, _)| known == name) {
                Some(&(_, first)) => self.findings.push(
                    Diagnostic::warning(
                        codes::REPEATED_SERVICE,
                        format!("`{name}` is selected twice"),
                    )
                    .primary(span, "again")
                    .secondary(first, "first here")
                    .help("remove one of them"),
                ),
                None => self.services.push((name.to_owned(), span)),
            }
        }
    }
}

fn invalid(span: Span, what: &str, help: &str) -> Diagnostic {
    let help = match help {
        "" => "write `host: NAME` and `services:` with one `- SERVICE` a line",
        other => other,
    };
    Diagnostic::error(codes::INVALID_HOST_FILE, what)
        .primary(span, "")
        .help(help)
}
