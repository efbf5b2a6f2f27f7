//! Small worlds for tests: a package from a schema, values from JSON, overlays from pairs.

use std::sync::Arc;

use apps::Snapshot;
use apps::layer::{Layer, Scope};
use apps::overlay::{Assignment, Meta};
use apps::package::{File, Package, Reading};
use apps::secrets::Scanner;
use apps::value::Value;
use base::{Sources, Symbols};

pub fn value(json: &str) -> Value {
    let mut sources = Sources::new();
    let mut symbols = Symbols::new();
    let id = sources.add("value", json);
    let text = Arc::clone(sources.get(id).text());
    let options = data::Options::default();
    let parsed = data::parse(data::Format::Json, id, text, &mut symbols, &options);
    assert!(!parsed.has_errors(), "{json}: {:?}", parsed.findings);
    let tree = &parsed.documents[0];
    Value::from_tree(tree, tree.root(), &symbols)
}

/// A package with one template of tenant scope whose schema has these properties.
pub fn package(version: &str, properties: &str) -> Arc<Package> {
    let manifest = format!(
        "name: app\nversion: \"{version}\"\noverlayTemplates:\n- {{key: t, scope: tenant, schema: s.json}}\n\
         knowledgeTemplates:\n- {{key: pack, required: true}}\ntoolRefs:\n- {{key: search, required: false}}\n"
    );
    let schema = format!("{{\"properties\": {properties}}}");
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let files = [file("app.yaml", &manifest), file("s.json", &schema)];
    let (mut sources, mut symbols) = (Sources::new(), Symbols::new());
    let mut reading = Reading {
        sources: &mut sources,
        symbols: &mut symbols,
        scanner: &Scanner::new(),
    };
    let (package, findings) = Package::read("app", &files, &mut reading);
    package.unwrap_or_else(|| panic!("{findings:?}"))
}

pub fn snapshot(package: &Arc<Package>) -> Snapshot {
    Snapshot::new(Arc::clone(package), Arc::new(Scanner::new()))
}

pub fn assignments(values: &[(&str, &str)], meta: Meta) -> Vec<(Assignment, Arc<Meta>)> {
    let meta = Arc::new(meta);
    let assignment = |&(name, json): &(&str, &str)| {
        let assignment = Assignment {
            name: name.to_owned(),
            value: value(json),
            span: None,
            withheld: None,
        };
        (assignment, Arc::clone(&meta))
    };
    values.iter().map(assignment).collect()
}

pub fn put(snapshot: &mut Snapshot, scope: &Scope, values: &[(&str, &str)]) {
    let overlay = snapshot.compile(scope.layer(), assignments(values, Meta::default()));
    snapshot.set_overlay(scope, overlay);
}

pub fn put_host(snapshot: &mut Snapshot, values: &[(&str, &str)]) {
    let overlay = snapshot.compile(Layer::Host, assignments(values, Meta::default()));
    snapshot.set_host(overlay);
}
