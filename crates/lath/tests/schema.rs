//! What `lath values schema` prints, held to a validator: a module's own values are valid, wrong ones are not.

#![allow(
    clippy::unwrap_used,
    reason = "a test program: a failure is a failed test"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

/// The printed schema of a CUE module, as a validator that also checks formats.
fn validator(name: &str, module: &str) -> jsonschema::Validator {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("lath-schema-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("module.cue"), module).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_lath"))
        .args(["values", "schema", "module.cue"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{said}");
    let schema: Value = serde_json::from_slice(&done.stdout).unwrap();
    let _ = fs::remove_dir_all(&folder);
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap()
}

/// Checks values that are right, and values of which each is wrong in one way.
fn check(name: &str, module: &str, right: &[Value], wrong: &[Value]) {
    let validator = validator(name, module);
    for value in right {
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|e| e.to_string())
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}: {value}");
    }
    for value in wrong {
        assert!(!validator.is_valid(value), "{name}: {value} is admitted");
    }
}

#[test]
fn types_bounds_and_patterns() {
    check(
        "bounds",
        r#"
import ("strings", "math")
config: {
	image:    string & =~"^[a-z]+(:.+)?$"
	replicas: int & >0 & <=10
	ratio:    number & >=0 & <1
	name:     strings.MinRunes(1) & strings.MaxRunes(3)
	step:     int & math.MultipleOf(5)
	small:    uint8
	odd:      int & !=4
	maybe:    null | int
}
"#,
        &[
            json!({"image": "nginx:1", "replicas": 10, "ratio": 0.5, "name": "abc", "step": 15, "small": 255, "odd": 5, "maybe": null}),
            json!({"image": "nginx", "replicas": 1, "ratio": 0, "name": "a", "step": 0, "small": 0, "odd": 3, "maybe": 7}),
        ],
        &[
            json!({"image": "1", "replicas": 10, "ratio": 0.5, "name": "abc", "step": 15, "small": 255, "odd": 5, "maybe": null}),
            json!({"image": "a", "replicas": 0, "ratio": 0.5, "name": "abc", "step": 15, "small": 255, "odd": 5, "maybe": null}),
            json!({"image": "a", "replicas": "1", "ratio": 0.5, "name": "abc", "step": 15, "small": 255, "odd": 5, "maybe": null}),
            json!({"image": "a", "replicas": 1, "ratio": 1, "name": "abc", "step": 15, "small": 255, "odd": 5, "maybe": null}),
            json!({"image": "a", "replicas": 1, "ratio": 0.5, "name": "", "step": 15, "small": 255, "odd": 5, "maybe": null}),
            json!({"image": "a", "replicas": 1, "ratio": 0.5, "name": "abc", "step": 7, "small": 255, "odd": 5, "maybe": null}),
            json!({"image": "a", "replicas": 1, "ratio": 0.5, "name": "abc", "step": 5, "small": 256, "odd": 5, "maybe": null}),
            json!({"image": "a", "replicas": 1, "ratio": 0.5, "name": "abc", "step": 5, "small": 1, "odd": 4, "maybe": null}),
            json!({"image": "a", "replicas": 1, "ratio": 0.5, "name": "abc", "step": 5, "small": 1, "odd": 3, "maybe": "x"}),
        ],
    );
}

#[test]
fn alternatives_and_defaults() {
    check(
        "alternatives",
        r#"
config: {
	mode:     "dev" | *"prod" | "test"
	port:     int | *8080
	strategy: {type: "rolling", surge: int} | *{type: "recreate"}
	many:     string | [...string]
}
"#,
        &[
            json!({"many": "a"}),
            json!({"many": ["a"], "mode": "dev", "port": 1, "strategy": {"type": "rolling", "surge": 1}}),
            json!({"many": [], "strategy": {"type": "recreate"}}),
        ],
        &[
            json!({}),
            json!({"many": "a", "mode": "live"}),
            json!({"many": "a", "port": "1"}),
            json!({"many": [1]}),
            json!({"many": "a", "strategy": {"type": "rolling"}}),
            json!({"many": "a", "strategy": {"type": "recreate", "surge": 1}}),
        ],
    );
}

#[test]
fn fields_that_are_closed_open_required_and_optional() {
    check(
        "fields",
        r#"
config: {
	name!: string
	note?: string
	resources: limits: memory: string
	sized: limits: memory: string | *"1Gi"
	labels: [string]: string
	ports: [=~"^p-"]: int
	free: {known?: int, ...}
	fixed: "App"
}
"#,
        &[
            json!({"name": "a", "resources": {"limits": {"memory": "1"}}}),
            json!({"name": "a", "resources": {"limits": {"memory": "1"}}, "labels": {"x": "y"}, "ports": {"p-1": 1}, "free": {"z": [1]}, "note": "", "fixed": "App"}),
        ],
        &[
            json!({"resources": {"limits": {"memory": "1"}}}),
            json!({"name": "a"}),
            json!({"name": "a", "resources": {"limits": {}}}),
            json!({"name": "a", "resources": {"limits": {"memory": "1"}}, "other": 1}),
            json!({"name": "a", "resources": {"limits": {"memory": "1", "cpu": 1}}}),
            json!({"name": "a", "resources": {"limits": {"memory": "1"}}, "labels": {"x": 1}}),
            json!({"name": "a", "resources": {"limits": {"memory": "1"}}, "ports": {"q": 1}}),
            json!({"name": "a", "resources": {"limits": {"memory": "1"}}, "ports": {"p-": "1"}}),
            json!({"name": "a", "resources": {"limits": {"memory": "1"}}, "free": {"known": "1"}}),
            json!({"name": "a", "resources": {"limits": {"memory": "1"}}, "fixed": "Pod"}),
        ],
    );
}

#[test]
fn lists_definitions_and_recursion() {
    check(
        "definitions",
        r#"
import ("list", "net")
#Port: int & >0 & <=65535
#Tree: {name: string, children?: [...#Tree]}
#config: {
	ports: [...#Port] & list.MaxItems(2) & list.UniqueItems
	pair: [int, string]
	tree?: #Tree
	host?: net.FQDN
}
"#,
        &[
            json!({"pair": [1, "a"], "ports": [1, 2], "host": "a.example.com"}),
            json!({"pair": [1, "a"], "ports": [], "tree": {"name": "a", "children": [{"name": "b", "children": []}]}}),
        ],
        &[
            json!({"pair": [1, "a"], "ports": [0]}),
            json!({"pair": [1, "a"], "ports": [1, 2, 3]}),
            json!({"pair": [1, "a"], "ports": [1, 1]}),
            json!({"pair": [1]}),
            json!({"pair": [1, "a", 2]}),
            json!({"pair": [1, "a"], "tree": {"name": "a", "children": [{"nam": "b"}]}}),
            json!({"pair": [1, "a"], "host": "a b"}),
        ],
    );
}
