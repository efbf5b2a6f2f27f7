//! Isolation, for every route of the OpenAPI document and every role: with a foreign tenant's ids nothing is read,
//! written or learnt; within a tenant nobody reaches above their scope.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::Answer;
use crate::world::{APP, Database, Node, furnish};

/// Stands in every private value of tenant `t1`.
const MARK: &str = "quokka";

/// Ids that exist in `t1`.
struct Ids {
    review: String,
    token: String,
}

fn plant(node: &Node, tokens: &BTreeMap<String, String>) -> Ids {
    let mut boss = node.client(&tokens["boss"]);
    for scope in [
        "tenant=t1",
        "tenant=t1&workspace=w1",
        "tenant=t1&workspace=w1&user=ada",
    ] {
        boss.put(&format!("{APP}/keys/tone?{scope}"), &json!({"value": MARK}))
            .ok(200);
        boss.put(&format!("{APP}/keys/old?{scope}"), &json!({"value": MARK}))
            .ok(200);
    }
    let rules = json!({"rules": [{"id": "cap", "keys": "size", "effect": "range", "constraint": "<=15", "reason": MARK}]});
    boss.put("/v1/policies?tenant=t1", &rules).ok(200);
    boss.put("/v1/policies?tenant=t1&workspace=w1", &rules)
        .ok(200);
    let pending = boss
        .put(
            &format!("{APP}/keys/phrases?tenant=t1&workspace=w1"),
            &json!({"value": [MARK]}),
        )
        .ok(202);
    let list = boss.get("/v1/tokens").ok(200);
    let token = list["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .find(|t| t["name"] == "ada")
        .unwrap();
    Ids {
        review: pending["review"].to_string(),
        token: token["id"].as_str().unwrap().to_owned(),
    }
}

/// One request for an operation, about `t1`, in a scope of it.
fn request(
    node: &Node,
    token: &str,
    ids: &Ids,
    path: &str,
    method: &str,
    operation: &Value,
    scope: &[(&str, &str)],
) -> Answer {
    let mut path = path.to_owned();
    let id = if path.contains("reviews") {
        &ids.review
    } else {
        &ids.token
    };
    for (name, value) in [
        ("app", "app"),
        ("key", "old"),
        ("id", id),
        ("tenant", "t1"),
        ("version", "1"),
        ("file", "none"),
    ] {
        path = path.replace(&format!("{{{name}}}"), value);
    }
    let mut query = Vec::new();
    for parameter in operation["parameters"].as_array().unwrap() {
        if parameter["in"] != "query" {
            continue;
        }
        let name = parameter["name"].as_str().unwrap();
        let scoped = scope.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
        let value = match name {
            "tenant" | "workspace" | "user" => scoped,
            "key" => Some("tone"),
            "to" => Some("2"),
            _ => None,
        };
        query.extend(value.map(|value| format!("{name}={value}")));
    }
    let schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        .as_str()
        .unwrap_or("");
    let body = match schema.rsplit('/').next().unwrap() {
        "Changes" | "WhatIf" => json!({"changes": {"size": 3}}).to_string(),
        "OneValue" => json!({"value": "x"}).to_string(),
        "Rollback" => json!({"to": 1}).to_string(),
        "Switch" => json!({"to": "2", "reviewed": true}).to_string(),
        "Rules" => json!({"rules": []}).to_string(),
        "NewToken" => json!({"name": "n", "role": "tenant-admin", "tenant": "t1"}).to_string(),
        "Upload" => crate::world::files("3", &crate::world::schema(1)).to_string(),
        "Values" => json!({"values": {}}).to_string(),
        "Environment" => "{}".to_owned(),
        "" if operation.get("requestBody").is_some() => {
            "kind: Overlay\napp: app\nscope: {tenant: t1}\nvalues: {size: 4}\n".to_owned()
        }
        "" => String::new(),
        other => panic!("no sample for {other}"),
    };
    if operation["operationId"] == "Events" {
        // A stream that is granted does not end: its first line tells.
        let mut stream = crate::client::events(
            node.address,
            token,
            &format!("{path}?{}", query.join("&")),
            None,
        );
        let mut line = String::new();
        std::io::BufRead::read_line(&mut stream, &mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        return Answer {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        };
    }
    let path = match query.is_empty() {
        true => path,
        false => format!("{path}?{}", query.join("&")),
    };
    node.client(token)
        .send(&method.to_uppercase(), &path, &[], body.as_bytes())
}

pub fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            all.push((path.clone(), method.clone(), operation.clone()));
        }
    }
    assert!(all.len() > 40, "{}", all.len());
    all
}

fn is_open(operation: &Value) -> bool {
    operation.get("security").is_some()
}

fn names_tenant(path: &str, operation: &Value) -> bool {
    let parameters = operation["parameters"].as_array().unwrap();
    path.contains("{tenant}") || parameters.iter().any(|p| p["name"] == "tenant")
}

/// What everybody may read: it is the host's, and the same for all.
const SHARED: [&str; 7] = [
    "Me",
    "Tenants",
    "Packages",
    "Package",
    "Environment",
    "Defaults",
    "Policies",
];

#[test]
fn a_foreign_tenants_ids_open_nothing() {
    let database = Database::sqlite();
    let node = database.node();
    let mut tokens = furnish(&node);
    let ids = plant(&node, &tokens);
    let mut admin = node.admin();
    for (name, role, workspace) in [("lead2", "workspace-admin", "w1"), ("sam2", "support", "")] {
        let body = json!({"name": name, "role": role, "tenant": "t2", "workspace": workspace});
        let made = admin.post("/v1/tokens", &body).ok(201);
        tokens.insert(name.to_owned(), made["token"].as_str().unwrap().to_owned());
    }
    let document = admin.get("/openapi.json").ok(200);
    let before = admin.get("/v1/export?tenant=t1").text();
    assert!(before.contains(MARK));
    let scopes: [&[(&str, &str)]; 3] = [
        &[("tenant", "t1")],
        &[("tenant", "t1"), ("workspace", "w1")],
        &[("tenant", "t1"), ("workspace", "w1"), ("user", "ada")],
    ];
    for (path, method, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap();
        for who in ["other", "eve", "lead2", "sam2"] {
            for scope in scopes {
                let answer = request(&node, &tokens[who], &ids, &path, &method, &operation, scope);
                let told = format!(
                    "{method} {path} as {who}: {} {}",
                    answer.status,
                    String::from_utf8_lossy(&answer.body)
                );
                assert!(!told.contains(MARK), "{told}");
                let refused = answer.status == 403 || answer.status == 404;
                if !is_open(&operation) && names_tenant(&path, &operation) {
                    assert!(refused, "{told}");
                }
                if !is_open(&operation) && method != "get" {
                    assert!(refused, "{told}");
                }
                if name == "Tenants" {
                    assert_eq!(answer.json(), json!({"tenants": ["t2"]}));
                }
                if name == "Tokens" {
                    assert!(
                        !told.contains("ada\",\"role\":\"user\",\"tenant\":\"t1"),
                        "{told}"
                    );
                }
            }
        }
        // Without a token, and with one that nobody has.
        for token in ["", "lath_0000", "x.y.z"] {
            let answer = request(&node, token, &ids, &path, &method, &operation, scopes[0]);
            if is_open(&operation) {
                assert_ne!(answer.status, 401);
            } else {
                assert_eq!(answer.status, 401, "{method} {path}");
            }
        }
    }
    // Nothing of the tenant has changed by all that, and what does not exist looks the same as what may not be seen.
    assert_eq!(admin.get("/v1/export?tenant=t1").text(), before);
    let mut other = node.client(&tokens["other"]);
    let real = other.get(&format!("{APP}/resolve?tenant=t1"));
    let none = other.get(&format!("{APP}/resolve?tenant=nobody"));
    let bare = |answer: &Answer| {
        let mut json = answer.json();
        json["request"] = json!("");
        (answer.status, json)
    };
    assert_eq!(bare(&real), bare(&none));
}

/// Who, about which scope, may use which operations.
type Case<'c> = (&'c str, &'c [(&'c str, &'c str)], &'c [&'c str]);

#[test]
fn within_a_tenant_nobody_reaches_above_their_scope() {
    let database = Database::sqlite();
    let node = database.node();
    let tokens = furnish(&node);
    let ids = plant(&node, &tokens);
    let document = node.admin().get("/openapi.json").ok(200);
    let tenant: &[(&str, &str)] = &[("tenant", "t1")];
    let foreign: &[(&str, &str)] = &[("tenant", "t1"), ("workspace", "w2")];
    let someone: &[(&str, &str)] = &[("tenant", "t1"), ("workspace", "w1"), ("user", "bob")];
    let listing = ["Contexts", "Reviews", "Events"];
    let support = ["Readiness", "Diagnostics", "Audit", "VerifyAudit"];
    let cases: [Case<'_>; 5] = [
        ("ada", tenant, &listing),
        ("ada", someone, &listing),
        ("lead", tenant, &listing),
        ("lead", foreign, &listing),
        ("sam", tenant, &support),
    ];
    for (path, method, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap();
        if is_open(&operation) || SHARED.contains(&name) {
            continue;
        }
        for (who, scope, allowed) in cases {
            // A review is found by its id, whatever the scope; the lead may decide it.
            let decides = who == "lead" && (name == "Approve" || name == "Reject");
            if decides {
                continue;
            }
            let answer = request(&node, &tokens[who], &ids, &path, &method, &operation, scope);
            let told = format!(
                "{method} {path} as {who}: {} {}",
                answer.status,
                String::from_utf8_lossy(&answer.body)
            );
            let refused = answer.status == 403 || answer.status == 404;
            assert_eq!(!refused, allowed.contains(&name), "{told}");
            if who == "sam" && name != "Audit" {
                assert!(!told.contains(MARK), "{told}");
            }
        }
    }
}

#[test]
fn the_document_is_the_table_of_routes_and_the_reference_is_made_from_it() {
    let document = server::http::openapi();
    assert_eq!(document["openapi"], "3.1.0");
    let count: usize = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .map(|m| m.as_object().unwrap().len())
        .sum();
    assert_eq!(count, server::http::routes::ROUTES.len());
    // Every schema that is named is there.
    let text = document.to_string();
    for part in text.split("#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(
            document["components"]["schemas"].get(name).is_some(),
            "{name}"
        );
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md");
    let wanted = server::http::reference();
    if std::env::var_os("LATH_BLESS").is_some() {
        std::fs::write(file, &wanted).unwrap();
    }
    let there = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        there == wanted,
        "docs/api.md is out of date: run LATH_BLESS=1 cargo test -p server"
    );
}
