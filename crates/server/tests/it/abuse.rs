//! What a hostile client sends: the node answers with a problem and stays up; nothing is a server error.

use serde_json::{Value, json};

use crate::client::Client;
use crate::world::{APP, Database, furnish};

#[test]
fn paths_headers_and_bodies_that_are_not_meant_well() {
    let database = Database::sqlite();
    let node = database.node();
    let tokens = furnish(&node);
    let mut ada = node.client(&tokens["ada"]);
    let mine = "tenant=t1&workspace=w1&user=ada";
    for (method, path, status) in [
        ("GET", "/v1/apps/app/resolve".to_owned(), 400),
        ("GET", format!("{APP}/resolve?tenant=t1&tenant=t2"), 400),
        ("GET", format!("{APP}/resolve?tenant=%00"), 400),
        ("GET", format!("{APP}/resolve?tenant=%ff"), 400),
        ("GET", format!("{APP}/resolve?tenant=t1%27%20OR%201=1"), 400),
        ("GET", format!("{APP}/resolve?tenant=*"), 400),
        (
            "GET",
            format!("{APP}/resolve?tenant={}", "a".repeat(200)),
            400,
        ),
        ("GET", format!("{APP}/resolve?tenant=t1&user=ada"), 400),
        ("GET", format!("/v1/apps/..%2f..%2fetc/resolve?{mine}"), 404),
        ("GET", "/assets/..%2fmod.rs".to_owned(), 404),
        ("GET", "/assets/../../Cargo.toml".to_owned(), 404),
        ("GET", "/v1/nothing".to_owned(), 404),
        ("BREW", format!("{APP}/resolve?{mine}"), 405),
        ("DELETE", format!("{APP}/resolve?{mine}"), 405),
        ("GET", format!("{APP}/history?{mine}&before=-1"), 400),
        ("GET", format!("{APP}/explain?{mine}"), 400),
        ("GET", format!("{APP}/explain?{mine}&key=nothing"), 404),
    ] {
        let answer = ada.send(method, &path, &[], b"");
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json"),
            "{path}"
        );
        assert!(answer.json()["code"].is_string());
    }
    let key = format!("{APP}/keys/size?{mine}");
    let deep = format!("{{\"value\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    for (body, status) in [
        (b"".to_vec(), 400),
        (b"{".to_vec(), 400),
        (b"[]".to_vec(), 400),
        (b"{\"value\": 1} trailing".to_vec(), 400),
        (b"\xff\xfe".to_vec(), 400),
        (deep.into_bytes(), 400),
        (vec![b' '; 2 << 20], 413),
        (br#"{"value": 1e999999999}"#.to_vec(), 422),
    ] {
        let start = body.iter().take(40).map(|&b| b as char).collect::<String>();
        let answer = ada.send("PUT", &key, &[], &body);
        assert_eq!(answer.status, status, "{start}: {}", answer.text());
    }
    let many: serde_json::Map<String, Value> =
        (0..1_001).map(|n| (format!("k{n}"), json!(1))).collect();
    let answer = ada.patch(&format!("{APP}/overlay?{mine}"), &json!({"changes": many}));
    assert_eq!(answer.ok(413)["code"], "too-many-keys");
    for headers in [
        [("Authorization", "Basic YTpi")],
        [("If-Match", "\"x\"")],
        [("Idempotency-Key", "")],
        [("X-Request-Id", "a b c")],
    ] {
        let answer = Client::new(node.address, &tokens["ada"]).send(
            "PUT",
            &key,
            &headers,
            b"{\"value\": 1}",
        );
        assert!(answer.status < 500, "{headers:?}");
    }
    let answer = ada.send("GET", "/v1/me", &[("X-Request-Id", "mine-17")], b"");
    assert_eq!(answer.header("x-request-id"), Some("mine-17"));
    // Bytes that are no HTTP end the connection, not the node.
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 6\r\n\r\n",
    ] {
        let _ = Client::new(node.address, "").exchange(bytes);
    }
    let huge = format!(
        "GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n",
        "a".repeat(200_000)
    );
    let _ = Client::new(node.address, "").exchange(huge.as_bytes());
    assert_eq!(node.client("").get("/healthz").ok(200)["status"], "ok");
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'p, T>(&mut self, from: &'p [T]) -> &'p T {
        let at = self.roll(from.len());
        &from[at]
    }
}

const WORDS: [&str; 18] = [
    "t1",
    "t2",
    "w1",
    "ada",
    "app",
    "size",
    "tone",
    "phrases",
    "token",
    "old",
    "1",
    "2",
    "0",
    "-1",
    "yaml",
    "%27%3B--",
    "%F0%9F%A6%98",
    "x.y.z",
];

/// A value for a schema, mostly of its shape.
fn value(dice: &mut Dice, schema: &Value, document: &Value, depth: usize) -> Value {
    if dice.roll(12) == 0 || depth > 5 {
        let odd = [
            json!(null),
            json!([]),
            json!({}),
            json!(-1),
            json!(1.5),
            json!("x"),
            json!({"$unset": true}),
            json!({"$secret": "a/b#c"}),
        ];
        return dice.pick(&odd).clone();
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|r| r.rsplit('/').next()) {
        return value(
            dice,
            &document["components"]["schemas"][name],
            document,
            depth + 1,
        );
    }
    if let Some(words) = schema["enum"].as_array() {
        return dice.pick(words).clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let mut map = serde_json::Map::new();
            for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
                if dice.roll(5) > 0 {
                    map.insert(name.clone(), value(dice, inner, document, depth + 1));
                }
            }
            if schema.get("properties").is_none() {
                for _ in 0..dice.roll(3) {
                    let inner = value(dice, &schema["additionalProperties"], document, depth + 1);
                    map.insert((*dice.pick(&WORDS)).to_owned(), inner);
                }
            }
            Value::Object(map)
        }
        Some("array") => (0..dice.roll(3))
            .map(|_| value(dice, &schema["items"], document, depth + 1))
            .collect(),
        Some("string") => json!(dice.pick(&WORDS)),
        Some("integer" | "number") => json!(dice.roll(40)),
        Some("boolean") => json!(dice.roll(2) == 0),
        _ => dice
            .pick(&[
                json!(3),
                json!("warm"),
                json!(["a"]),
                json!(null),
                json!({"$unset": true}),
            ])
            .clone(),
    }
}

#[test]
fn requests_made_from_the_document_never_break_the_node() {
    let database = Database::sqlite();
    let node = database.node();
    let tokens = furnish(&node);
    let document = node.admin().get("/openapi.json").ok(200);
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            // A granted stream does not end.
            if operation["operationId"] != "Events" {
                operations.push((path.clone(), method.to_uppercase(), operation.clone()));
            }
        }
    }
    let seed = std::env::var("LATH_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let rounds = std::env::var("LATH_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3_000);
    let mut dice = Dice(seed.unwrap_or(20_261_116));
    let mut clients: Vec<Client> = tokens.values().map(|token| node.client(token)).collect();
    clients.push(node.admin());
    let mut seen = std::collections::BTreeMap::<u16, usize>::new();
    for _ in 0..rounds {
        let (path, method, operation) = dice.pick(&operations).clone();
        let mut path = path;
        let mut query = Vec::new();
        for parameter in operation["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap();
            let usual = match name {
                "tenant" => "t1",
                "workspace" => "w1",
                "user" => "ada",
                "app" => "app",
                "key" => "size",
                "version" | "to" => "2",
                _ => "1",
            };
            let word = if dice.roll(4) > 0 {
                usual
            } else {
                dice.pick(&WORDS)
            };
            match parameter["in"].as_str() {
                Some("path") => path = path.replace(&format!("{{{name}}}"), word),
                Some("query") if dice.roll(4) > 0 || parameter["required"] == true => {
                    query.push(format!("{name}={word}"))
                }
                _ => {}
            }
        }
        let content = &operation["requestBody"]["content"];
        let body = match content.get("application/json") {
            Some(json) => value(&mut dice, &json["schema"], &document, 0).to_string(),
            None if content.is_object() => {
                "kind: Overlay\napp: app\nscope: {tenant: t1}\nvalues: {size: 4}\n".to_owned()
            }
            None => String::new(),
        };
        let line = format!("{path}?{}", query.join("&"));
        let client = &mut clients[dice.roll(8)];
        let answer = client.send(&method, &line, &[], body.as_bytes());
        *seen.entry(answer.status).or_default() += 1;
        assert!(
            answer.status < 500,
            "{method} {line} {body}: {}",
            answer.text()
        );
        if answer.status >= 400 {
            assert_eq!(
                answer.header("content-type"),
                Some("application/problem+json"),
                "{method} {line}"
            );
        } else if answer.header("content-type") == Some("application/json") {
            let told = answer.json();
            let good = &operation["responses"][answer.status.to_string()]["content"]["application/json"]
                ["schema"]["$ref"];
            let schema = good.as_str().and_then(|r| r.rsplit('/').next());
            let schema = schema
                .unwrap_or_else(|| panic!("{method} {line}: {} is not documented", answer.status));
            for field in document["components"]["schemas"][schema]["required"]
                .as_array()
                .into_iter()
                .flatten()
            {
                assert!(
                    told.get(field.as_str().unwrap()).is_some(),
                    "{method} {line}: no {field} in {told}"
                );
            }
        }
    }
    println!("{rounds} requests, by status: {seen:?}");
    let mut admin = node.admin();
    for tenant in ["?tenant=t1", "?tenant=t2", ""] {
        assert_eq!(
            admin.get(&format!("/v1/audit/verify{tenant}")).ok(200)["intact"],
            true
        );
    }
}
