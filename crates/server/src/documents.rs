//! Documents and parts of them, read with the rules of `lath app`: one reader for files and for the service.

use std::sync::{Arc, LazyLock};

use apps::documents::{Documents, flatten};
use apps::key::Keys;
use apps::layer::Authority;
use apps::overlay::{Assignment, Meta};
use apps::package::{File, Package, Reading};
use apps::policy::Rule;
use apps::secrets::Scanner;
use apps::snapshot::Environment;
use apps::value::{Value, write_string};
use base::{Diagnostic, Sources, Symbols};

/// Made once: it is asked for each tenant that is read, and costs more than all else.
static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

/// Documents with the texts they stand in.
pub struct Read {
    pub documents: Documents,
    pub sources: Sources,
    pub symbols: Symbols,
    pub findings: Vec<Diagnostic>,
}

impl Read {
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(Diagnostic::is_error)
    }

    /// The values of an overlay or host-defaults document, by key.
    pub fn values(
        &mut self,
        at: &apps::documents::OverlayDocument,
        keys: &Keys,
    ) -> Vec<(Assignment, Arc<Meta>)> {
        flatten(
            at,
            &self.documents.texts,
            &self.symbols,
            keys,
            &mut self.findings,
        )
    }
}

/// Reads one file of documents; its name says the format.
pub fn read(name: &str, bytes: &[u8]) -> Read {
    read_all([(name, bytes)])
}

/// Reads files as one set.
pub fn read_all<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Read {
    let (mut sources, mut symbols) = (Sources::new(), Symbols::new());
    let (mut documents, mut findings) = (Documents::default(), Vec::new());
    let mut reading = Reading {
        sources: &mut sources,
        symbols: &mut symbols,
        scanner: &SCANNER,
    };
    for (name, bytes) in files {
        documents.read(name, bytes.to_vec(), &mut reading, &mut findings);
    }
    Read {
        documents,
        sources,
        symbols,
        findings,
    }
}

/// The rules of an authority from a JSON list of rules.
pub fn rules(authority: &Authority, list: &str) -> Result<Vec<Rule>, Vec<Diagnostic>> {
    let mut text = String::from("{\"kind\":\"Policy\",\"authority\":");
    match authority {
        Authority::Host => text.push_str("{\"host\":true}"),
        Authority::Tenant { tenant } => {
            text.push_str("{\"tenant\":");
            write_string(&mut text, tenant);
            text.push('}');
        }
        Authority::Workspace { tenant, workspace } => {
            text.push_str("{\"tenant\":");
            write_string(&mut text, tenant);
            text.push_str(",\"workspace\":");
            write_string(&mut text, workspace);
            text.push('}');
        }
    }
    text.push_str(",\"rules\":");
    text.push_str(list);
    text.push('}');
    let read = read("policy.json", text.as_bytes());
    match read.has_errors() {
        true => Err(read.findings),
        false => {
            let policies = read.documents.policies.into_iter();
            Ok(policies.flat_map(|policy| policy.rules).collect())
        }
    }
}

/// An environment from its fields as a JSON object.
pub fn environment(fields: &Value) -> Result<Environment, Vec<Diagnostic>> {
    let mut text = String::from("{\"kind\":\"Environment\"");
    if let Value::Map(fields) = fields {
        for (name, value) in fields.iter().filter(|(name, _)| **name != *"kind") {
            text.push(',');
            write_string(&mut text, name);
            text.push(':');
            value.write_json(&mut text);
        }
    }
    text.push('}');
    let read = read("environment.json", text.as_bytes());
    match read.has_errors() {
        true => Err(read.findings),
        false => Ok(read.documents.environment.unwrap_or_default()),
    }
}

/// Host defaults, written dotted or nested, as values of an app's keys. Names that the app does not
/// have are left out: defaults for all apps name keys that one need not have.
pub fn host_defaults(values: &[(String, String)], keys: &Keys) -> Vec<(Assignment, Arc<Meta>)> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut text = String::from("{\"kind\":\"HostDefaults\",\"values\":{");
    for (at, (name, json)) in values.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        write_string(&mut text, name);
        text.push(':');
        text.push_str(json);
    }
    text.push_str("}}");
    let mut read = read("defaults.json", text.as_bytes());
    let Some(document) = read.documents.host.first().cloned() else {
        return Vec::new();
    };
    let mut values = read.values(&document, keys);
    values.retain(|(assignment, _)| keys.find(&assignment.name).is_some());
    values
}

/// A package from its files.
pub fn package(files: &[File]) -> Result<(Arc<Package>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (mut sources, mut symbols) = (Sources::new(), Symbols::new());
    let mut reading = Reading {
        sources: &mut sources,
        symbols: &mut symbols,
        scanner: &SCANNER,
    };
    let (package, findings) = Package::read("package", files, &mut reading);
    match package {
        Some(package) => Ok((package, findings)),
        None => Err(findings),
    }
}

/// Files of a package as they are stored: a JSON object from path to text.
pub fn files(text: &str) -> Option<Vec<File>> {
    let Value::Map(fields) = Value::parse_json(text)? else {
        return None;
    };
    let file = |(path, text): &(Box<str>, Value)| {
        Some(File {
            path: path.to_string(),
            bytes: text.as_str()?.as_bytes().to_vec(),
        })
    };
    fields.iter().map(file).collect()
}
