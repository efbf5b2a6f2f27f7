//! A snapshot from documents: what a command line has in files, a service has in rows.

use std::sync::Arc;

use base::{Diagnostic, Symbols};

use crate::codes;
use crate::conflict::Conflict;
use crate::conflicts;
use crate::documents::{Documents, OverlayDocument, flatten};
use crate::layer::{Authority, Layer, Scope};
use crate::package::Package;
use crate::policy::Rule;
use crate::resolve::Resolved;
use crate::secrets::Scanner;
use crate::snapshot::Snapshot;

/// Compiles the documents that are meant for this package's app, or for every app.
pub fn assemble(
    package: Arc<Package>,
    documents: &Documents,
    symbols: &Symbols,
    scanner: Arc<Scanner>,
    findings: &mut Vec<Diagnostic>,
) -> Snapshot {
    let mut snapshot = Snapshot::new(Arc::clone(&package), scanner);
    let ours = |app: &Option<String>| app.as_ref().is_none_or(|app| *app == package.manifest.name);
    let mut read = |document: &OverlayDocument| {
        flatten(document, &documents.texts, symbols, &package.keys, findings)
    };
    let host: Vec<_> = documents
        .host
        .iter()
        .filter(|document| ours(&document.app))
        .flat_map(|document| {
            let mut values = read(document);
            // Defaults for all apps name keys that this one need not have.
            values.retain(|(assignment, _)| {
                document.app.is_some() || package.keys.find(&assignment.name).is_some()
            });
            values
        })
        .collect();
    let overlays: Vec<(&Scope, Vec<_>)> = documents
        .overlays
        .iter()
        .filter(|document| ours(&document.app))
        .filter_map(|document| Some((document.scope.as_ref()?, read(document))))
        .collect();
    let host = snapshot.compile(Layer::Host, host);
    snapshot.set_host(host);
    for (scope, values) in overlays {
        let overlay = snapshot.compile(scope.layer(), values);
        snapshot.set_overlay(scope, overlay);
    }
    for (authority, rules) in by_authority(documents, &package) {
        snapshot.set_rules(&authority, rules);
        let silent = snapshot
            .rules(&authority)
            .into_iter()
            .flat_map(|set| set.silent());
        findings.extend(silent.map(without_key));
    }
    snapshot.environment.clone_from(&documents.environment);
    snapshot
}

/// All rules of each authority, in the order in which they were read.
fn by_authority(documents: &Documents, package: &Package) -> Vec<(Authority, Vec<Rule>)> {
    let mut all: Vec<(Authority, Vec<Rule>)> = Vec::new();
    for policy in &documents.policies {
        if policy
            .app
            .as_ref()
            .is_some_and(|app| *app != package.manifest.name)
        {
            continue;
        }
        let rules = policy.rules.iter().cloned();
        match all
            .iter_mut()
            .find(|(authority, _)| *authority == policy.authority)
        {
            Some((_, known)) => known.extend(rules),
            None => all.push((policy.authority.clone(), rules.collect())),
        }
    }
    all
}

fn without_key(rule: &Rule) -> Diagnostic {
    let message = format!(
        "rule `{}` of {} matches no key of the app",
        rule.id, rule.authority
    );
    let finding = Diagnostic::warning(codes::RULE_WITHOUT_KEY, message);
    match rule.span {
        Some(span) => finding.primary(span, ""),
        None => finding,
    }
}

/// The values in a context's layers whose keys the package does not declare.
pub fn stray_conflicts(resolved: &Resolved<'_>) -> Vec<Conflict> {
    let package = &resolved.snapshot.package;
    let mut out = Vec::new();
    for layer in Layer::ALL {
        let overlay = resolved.overlays.get(layer as usize).copied().flatten();
        for stray in overlay.into_iter().flat_map(|overlay| overlay.strays()) {
            let names = package.keys.iter().map(|(_, key)| &*key.name);
            let near = base::distance::nearest(&stray.name, names);
            let scope = resolved.scope_of(layer);
            let version = &package.manifest.version;
            out.push(conflicts::of_stray(
                stray,
                layer,
                scope.as_ref(),
                version,
                near,
            ));
        }
    }
    out
}
