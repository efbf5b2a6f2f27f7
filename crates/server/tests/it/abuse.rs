//! What a hostile client sends: the node answers with a problem and stays up; nothing is a server error.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read};
use std::net::TcpStream;

use serde_json::{Value, json};
use server::limits::Rates;
use server::store::Store;

use crate::access;
use crate::client::{Answer, Client, events};
use crate::world::{APP, Database, Node, furnish};

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

/// What each operation answers, by status, as the document has it.
struct Promises {
    document: Value,
    schemas: BTreeMap<String, jsonschema::Validator>,
}

impl Promises {
    fn new(document: Value) -> Promises {
        let named = document["components"]["schemas"].as_object().unwrap();
        let validator = |name: &String| {
            let schema = json!({"$ref": format!("#/components/schemas/{name}"), "components": document["components"]});
            (name.clone(), jsonschema::validator_for(&schema).unwrap())
        };
        let schemas = named.keys().map(validator).collect();
        Promises { document, schemas }
    }

    /// Whether an answer is one that the document tells of.
    fn check(&self, told: &str, operation: &Value, answer: &Answer) {
        let media = answer.header("content-type").unwrap_or_default();
        let media = media.split(';').next().unwrap();
        if answer.status >= 400 {
            assert_eq!(media, "application/problem+json", "{told}");
            return self.fits(told, "Problem", answer);
        }
        let promised = &operation["responses"][answer.status.to_string()];
        assert!(
            promised.is_object(),
            "{told}: {} is not told of",
            answer.status
        );
        let Some(content) = promised.get("content") else {
            return assert!(answer.body.is_empty(), "{told}");
        };
        let open = operation.get("security").is_some();
        if let Some(schema) = content["application/json"]["schema"]["$ref"].as_str() {
            assert_eq!(media, "application/json", "{told}");
            self.fits(told, schema.rsplit('/').next().unwrap(), answer);
        } else {
            assert!(open || content.get(media).is_some(), "{told}: {media}");
        }
    }

    fn fits(&self, told: &str, schema: &str, answer: &Answer) {
        let body = answer.json();
        let wrong = self.schemas[schema].iter_errors(&body).next();
        let wrong = wrong.map(|error| format!("{error} at {}", error.instance_path()));
        assert_eq!(wrong, None, "{told}: {body}");
    }
}

/// A number from the environment, for more than the usual.
fn given(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// `LATH_ROUNDS` and `LATH_SEED` for more and for others.
#[test]
fn requests_made_from_the_document_never_break_the_node() {
    let database = Database::sqlite();
    let node = database.node();
    let tokens = furnish(&node);
    let promises = Promises::new(node.admin().get("/openapi.json").ok(200));
    let document = &promises.document;
    // A granted stream does not end; access.rs asks for it.
    let mut operations = access::operations(document);
    operations.retain(|(_, _, operation)| operation["operationId"] != "Events");
    let rounds = given("LATH_ROUNDS", 4_000);
    let mut dice = Dice(given("LATH_SEED", 20_261_116));
    let mut clients: Vec<Client> = tokens.values().map(|token| node.client(token)).collect();
    clients.push(node.admin());
    let mut seen = BTreeMap::<u16, usize>::new();
    let mut granted = BTreeSet::new();
    for round in 0..rounds {
        // Each in turn, so that none is left out.
        let at = usize::try_from(round).unwrap() % operations.len();
        let (path, method, operation) = operations[at].clone();
        let mut path = path;
        let (mut query, mut headers) = (Vec::new(), Vec::new());
        for parameter in operation["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap();
            let usual = match name {
                "tenant" => "t1",
                "workspace" => "w1",
                "user" => "ada",
                "app" => "app",
                "key" => "size",
                "version" | "to" => "2",
                "file" => "app.js",
                "format" => "yaml",
                "dryRun" => "true",
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
                Some("header") if dice.roll(4) == 0 => headers.push((name, word)),
                _ => {}
            }
        }
        let content = &operation["requestBody"]["content"];
        let body = match content.get("application/json") {
            Some(json) => value(&mut dice, &json["schema"], document, 0).to_string(),
            None if content.is_object() => (*dice.pick(&DOCUMENTS)).to_owned(),
            None => String::new(),
        };
        let line = format!("{path}?{}", query.join("&"));
        let client = &mut clients[dice.roll(8)];
        let method = method.to_uppercase();
        let answer = client.send(&method, &line, &headers, body.as_bytes());
        *seen.entry(answer.status).or_default() += 1;
        let told = format!("{method} {line} {headers:?} {body}: {}", answer.status);
        assert!(answer.status < 500, "{told} {}", answer.text());
        promises.check(&told, &operation, &answer);
        if answer.status < 400 {
            granted.insert(operation["operationId"].as_str().unwrap().to_owned());
        }
    }
    println!("{rounds} requests, by status: {seen:?}");
    // Most routes were not only asked but also answered; the rest need more luck than dice have.
    let lucky = [
        "Approve",
        "MakeToken",
        "Reject",
        "RemoveOrphan",
        "RevokeToken",
        "Rollback",
        "Switch",
        "Upload",
    ];
    let all = operations
        .iter()
        .map(|(_, _, o)| o["operationId"].as_str().unwrap());
    let never: Vec<&str> = all
        .filter(|id| !granted.contains(*id) && !lucky.contains(id))
        .collect();
    assert!(never.is_empty(), "never granted: {never:?}");
    let mut admin = node.admin();
    for tenant in ["?tenant=t1", "?tenant=t2", ""] {
        assert_eq!(
            admin.get(&format!("/v1/audit/verify{tenant}")).ok(200)["intact"],
            true
        );
    }
}

/// Bodies for an import: good ones, and others.
const DOCUMENTS: [&str; 6] = [
    "kind: Overlay\napp: app\nscope: {tenant: t1}\nvalues: {size: 4}\n",
    "kind: Policy\nauthority: {tenant: t1}\nrules: []\n",
    "kind: HostDefaults\nvalues: {size: 3}\n---\nkind: Environment\ntools: [search]\n",
    "kind: Overlay\nvalues: [\n",
    "{\"files\": {\"a.yaml\": \"kind: Nothing\"}}",
    "",
];

#[test]
fn whoever_asks_too_often_is_told_when_to_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lath.db");
    let tokens = furnish(&Node::sqlite(folder.path()));
    let rates = Rates {
        identity: Some(1),
        tenant: Some(2),
    };
    let node = Node::limited(async move { Store::sqlite(&path) }, None, rates);
    let ask = |name: &str| node.client(&tokens[name]).get("/v1/me");
    // A second burst would need a second of time to be paid for: ask until it is refused.
    let refused = std::iter::repeat_with(|| ask("ada")).find(|answer| answer.status != 200);
    let refused = refused.unwrap();
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.ok(429)["code"], "too-many-requests");
    // The tenant's people together have a limit too; who is in no tenant has only their own.
    let people = ["boss", "lead", "mate", "ada"];
    let asked = people.iter().cycle().map(|name| ask(name).status);
    assert_eq!(asked.take(1_000).find(|status| *status != 200), Some(429));
    node.admin().get("/v1/me").ok(200);
    // A write that is refused for that is in the audit.
    let mut ada = node.client(&tokens["ada"]);
    let write = format!("{APP}/keys/size?tenant=t1&workspace=w1&user=ada");
    let mut write = || ada.put(&write, &json!({"value": 1})).status;
    assert_eq!(
        std::iter::repeat_with(&mut write).find(|s| *s != 200),
        Some(429)
    );
    drop(node);
    let node = Node::sqlite(folder.path());
    let audit = node.admin().get("/v1/audit?tenant=t1").text();
    assert!(audit.contains("too-many-requests"), "{audit}");
}

/// A node that ends lets answers end, closes what is idle and what would never end, and does not wait for more.
#[test]
fn an_end_does_not_wait_for_streams() {
    let database = Database::sqlite();
    let node = database.node();
    let tokens = furnish(&node);
    let mut stream = events(node.address, &tokens["boss"], "/v1/events?tenant=t1", None);
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");
    let idle = TcpStream::connect(node.address).unwrap();
    let start = std::time::Instant::now();
    drop(node);
    println!(
        "a node with an open stream and an idle connection ends in {:?}",
        start.elapsed()
    );
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!((&idle).read(&mut [0; 1]).unwrap_or(0), 0);
}
