//! Manifests, schemas, documents and constraints in CUE.

use std::sync::Arc;

use apps::assemble::assemble;
use apps::constraint::Constraint;
use apps::documents::Documents;
use apps::instant::Instant;
use apps::key::Merge;
use apps::layer::Scope;
use apps::package::{File, Package, Reading};
use apps::resolve::{Context, resolve};
use apps::secrets::Scanner;
use apps::value::Value;
use base::{Diagnostic, Sources, Symbols};

const MANIFEST: &str = r#"
name:    "app"
version: "1.\(minor).0"
minor:   2
overlayTemplates: [{key: "rules", scope: "tenant", schema: "rules.cue"}]
"#;

const SCHEMA: &str = r#"
#Size: int & >=1 & <=_most
_most: 100

size: *10 | #Size
tone: *"neutral" | "warm" | "cool" @overlay(public)
tags: *["a"] | [...string] @overlay(merge="union", review)
limits: {
	cpu:    int | *2
	memory: string | *"\(cpu)Gi"
}
where: {kind: string | *"drive", folder?: string} @overlay(merge="deep")
token: _ @overlay(secret)
old: string @overlay(deprecated, renamedFrom="older")
"#;

const DOCUMENTS: &str = r#"
_big: 40
documents: [
	{kind: "Overlay", app: "app", scope: tenant: "acme", values: {size: _big, "limits.cpu": 4, where: folder: "x"}},
	{kind: "Overlay", app: "app", scope: {tenant: "acme", workspace: "ops"}, values: {size: 500, tone: "loud", "limits.cpu": 9}},
	{kind: "Policy", authority: tenant: "acme", rules: [
		{id: "even", keys: "limits.cpu", effect: "range", constraint: ">=(1*2) & <=(2*4)", reason: "quota"},
	]},
]
"#;

struct World {
    sources: Sources,
    symbols: Symbols,
    scanner: Arc<Scanner>,
}

fn world() -> World {
    World {
        sources: Sources::new(),
        symbols: Symbols::new(),
        scanner: Arc::new(Scanner::new()),
    }
}

fn package(world: &mut World, schema: &str) -> (Option<Arc<Package>>, Vec<Diagnostic>) {
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let files = [file("app.cue", MANIFEST), file("rules.cue", schema)];
    let mut reading = Reading {
        sources: &mut world.sources,
        symbols: &mut world.symbols,
        scanner: &world.scanner,
    };
    Package::read("app", &files, &mut reading)
}

#[test]
fn a_schema_in_cue_declares_keys_with_defaults_types_and_marks() {
    let (package, findings) = package(&mut world(), SCHEMA);
    let package = package.unwrap_or_else(|| panic!("{findings:?}"));
    assert_eq!(package.title(), "app 1.2.0");
    let names: Vec<&str> = package.keys.iter().map(|(_, key)| &*key.name).collect();
    let wanted = [
        "limits.cpu",
        "limits.memory",
        "old",
        "size",
        "tags",
        "token",
        "tone",
        "where",
    ];
    assert_eq!(names, wanted);
    let key = |name: &str| package.keys.get(package.keys.find(name).unwrap());
    let default = |name: &str| {
        key(name)
            .default
            .as_ref()
            .map(|stored| stored.json.to_string())
    };
    assert_eq!(default("size").as_deref(), Some("10"));
    assert_eq!(default("limits.memory").as_deref(), Some("\"2Gi\""));
    assert_eq!(default("where").as_deref(), Some("{\"kind\":\"drive\"}"));
    assert_eq!(default("old"), None);
    assert_eq!(key("tone").check.type_text(), "string");
    assert!(
        key("tone").public && key("tags").review && key("token").secret && key("old").deprecated
    );
    assert_eq!(key("tags").merge, Merge::Union);
    assert_eq!(key("old").renamed_from.as_deref(), Some("older"));
    let admits = |name: &str, json: &str| key(name).check.admits(&Value::parse_json(json).unwrap());
    assert!(admits("size", "100") && !admits("size", "101") && !admits("size", "\"x\""));
    assert!(admits("tone", "\"warm\"") && !admits("tone", "\"loud\""));
    assert!(admits("where", "{\"folder\": \"x\"}") && !admits("where", "{\"folder\": 1}"));
}

#[test]
fn a_schema_that_contradicts_itself_is_told() {
    let (package, findings) = package(&mut world(), "size: 1 & 2\n");
    assert!(package.is_none());
    assert!(
        findings
            .iter()
            .any(|f| f.code == apps::codes::SCHEMA_UNUSABLE),
        "{findings:?}"
    );
}

#[test]
fn documents_and_constraints_in_cue_are_evaluated() {
    let mut world = world();
    let package = package(&mut world, SCHEMA).0.unwrap();
    let (mut documents, mut findings) = (Documents::default(), Vec::new());
    let mut reading = Reading {
        sources: &mut world.sources,
        symbols: &mut world.symbols,
        scanner: &world.scanner,
    };
    documents.read("docs.cue", DOCUMENTS.into(), &mut reading, &mut findings);
    let scanner = Arc::clone(&world.scanner);
    let snapshot = assemble(package, &documents, &world.symbols, scanner, &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    let context = Context::of(&Scope::workspace("acme", "ops"), Instant(0));
    let resolved = resolve(&snapshot, &context);
    let shown = |name: &str| {
        let answer = resolved.find(name).unwrap();
        answer.value.map(|held| held.json().to_owned())
    };
    assert_eq!(
        shown("size").as_deref(),
        Some("40"),
        "500 is more than the schema's most"
    );
    assert_eq!(shown("tone").as_deref(), Some("\"neutral\""));
    assert_eq!(
        shown("limits.cpu").as_deref(),
        Some("4"),
        "9 is out of the rule's range"
    );
    assert_eq!(
        shown("where").as_deref(),
        Some("{\"kind\":\"drive\",\"folder\":\"x\"}")
    );
}

#[test]
fn a_file_that_is_not_concrete_or_needs_too_much_is_refused() {
    for text in ["kind: string\n", "kind: \"Overlay\"\nx: y\n", "a: {b: a}\n"] {
        let mut world = world();
        let (mut documents, mut findings) = (Documents::default(), Vec::new());
        let mut reading = Reading {
            sources: &mut world.sources,
            symbols: &mut world.symbols,
            scanner: &world.scanner,
        };
        documents.read("docs.cue", text.into(), &mut reading, &mut findings);
        assert!(findings.iter().any(Diagnostic::is_error), "{text}");
        assert!(documents.overlays.is_empty());
    }
}

#[test]
fn a_constraint_may_be_any_expression() {
    let read = |text: &str| Constraint::read(&Value::string(text));
    let number = |text: &str| Value::parse_json(text).unwrap();
    let computed = read(">=(1*2) & <=(2*4)").unwrap();
    assert!(computed.admits(&number("8")) && !computed.admits(&number("9")));
    let shaped = read("{kind: \"s3\" | \"disk\", size?: <10}").unwrap();
    assert!(shaped.admits(&number("{\"kind\": \"s3\", \"size\": 3}")));
    assert!(!shaped.admits(&number("{\"kind\": \"tape\"}")));
    assert!(read(">=-5 & <0").unwrap().admits(&number("-1")));
    assert!(read("nobody").is_err());
}
