//! One suite on both stores.

use serde_json::{Value, json};

use crate::client::{Answer, Client, events, next_event};
use crate::world::{APP, Database, Server, files, furnish};

type Step = (&'static str, fn(&Database));

const STEPS: [Step; 15] = [
    ("reads", a_value_is_resolved_with_its_provenance),
    ("writes", a_write_is_served_kept_and_in_the_history),
    ("policy", a_refused_write_says_the_rule_and_whom_to_ask),
    ("compare", a_stale_write_learns_who_and_when),
    ("once", an_idempotency_key_writes_once),
    ("reviews", a_review_needs_another_person),
    (
        "upgrade",
        an_upgrade_makes_orphans_and_a_downgrade_revives_them,
    ),
    (
        "audit",
        the_audit_has_every_write_and_refusal_and_shows_tampering,
    ),
    (
        "refusals",
        every_refusal_is_recorded_and_none_fills_the_disk,
    ),
    ("events", the_change_stream_resumes),
    ("history", a_page_of_history_ends_with_a_whole_write),
    ("documents", what_is_exported_can_be_imported),
    ("desired", desired_state_is_written_once),
    ("tokens", a_revoked_or_expired_token_is_no_token),
    ("writers", a_hundred_writers_keep_every_revision),
];

#[test]
fn on_sqlite() {
    for (name, step) in STEPS {
        println!("{name}");
        step(&Database::sqlite());
    }
}

#[test]
fn on_postgresql() {
    let server = Server::start();
    for (name, step) in STEPS {
        println!("{name}");
        step(&server.database());
    }
}

const ADA: &str = "tenant=t1&workspace=w1&user=ada";

fn a_value_is_resolved_with_its_provenance(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    boss.put(&format!("{APP}/keys/size?tenant=t1"), &json!({"value": 12}))
        .ok(200);
    let mut lead = node.client(&tokens["lead"]);
    lead.put(
        &format!("{APP}/keys/size?tenant=t1&workspace=w1"),
        &json!({"value": 14}),
    )
    .ok(200);
    let mut ada = node.client(&tokens["ada"]);
    let path = format!("{APP}/resolve?{ADA}&key=size");
    let answer = ada.get(&path);
    let etag = answer.header("etag").unwrap().to_owned();
    let body = answer.ok(200);
    let value = &body["values"][0];
    for (field, wanted) in [
        ("key", json!("size")),
        ("value", json!(14)),
        ("source", json!("workspace")),
        ("overrides", json!(["app", "tenant"])),
        ("lockedByPolicy", json!(false)),
    ] {
        assert_eq!(value[field], wanted, "{field}");
    }
    assert_eq!(value["chain"][2]["actor"], "boss");
    let same = ada.send("GET", &path, &[("If-None-Match", &etag)], b"");
    assert_eq!((same.status, same.body.len()), (304, 0));
    assert_eq!(
        ada.get(&format!("{APP}/explain?{ADA}&key=size")).ok(200),
        *value
    );
    assert_eq!(
        ada.get(&format!("{APP}/resolve?{ADA}")).ok(200)["values"]
            .as_array()
            .unwrap()
            .len(),
        7
    );
    let ready = ada.get(&format!("{APP}/readiness?{ADA}")).ok(200);
    assert_eq!(ready["entries"][0]["key"], "home");
    // What-if changes nothing.
    let path = format!("{APP}/resolve?{ADA}&key=size");
    let what = ada
        .post(
            &path,
            &json!({"changes": {"size": 99}, "runtime": {"size": 5}}),
        )
        .ok(200);
    assert_eq!(
        (&what["verdict"], &what["values"][0]["value"]),
        (&json!("accepted"), &json!(5))
    );
    assert_eq!(ada.get(&path).header("etag").unwrap(), etag);
}

fn a_write_is_served_kept_and_in_the_history(database: &Database) {
    let tokens = {
        let node = database.node();
        let tokens = furnish(&node);
        let mut ada = node.client(&tokens["ada"]);
        for size in [1, 2, 3] {
            let written = ada
                .put(&format!("{APP}/keys/size?{ADA}"), &json!({"value": size}))
                .ok(200);
            assert_eq!(written["verdict"], "accepted");
            let read = ada.get(&format!("{APP}/resolve?{ADA}&key=size")).ok(200);
            assert_eq!(read["values"][0]["value"], size);
        }
        ada.patch(
            &format!("{APP}/overlay?{ADA}"),
            &json!({"changes": {"tone": "warm", "size": {"$unset": true}}}),
        )
        .ok(200);
        tokens
    };
    // Another start reads the same.
    let node = database.node();
    let mut ada = node.client(&tokens["ada"]);
    let overlay = ada.get(&format!("{APP}/overlay?{ADA}")).ok(200);
    assert_eq!(
        overlay["values"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["tone"]
    );
    let history = ada.get(&format!("{APP}/history?{ADA}&key=size")).ok(200);
    let values: Vec<_> = history["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["value"].clone())
        .collect();
    assert_eq!(
        values,
        [json!({"$unset": true}), json!(3), json!(2), json!(1)]
    );
    let second = history["history"][2]["revision"].clone();
    ada.post(&format!("{APP}/rollback?{ADA}"), &json!({"to": second}))
        .ok(200);
    let overlay = ada.get(&format!("{APP}/overlay?{ADA}")).ok(200);
    assert_eq!(overlay["values"]["size"]["value"], 2);
    assert_eq!(overlay["values"].as_object().unwrap().len(), 1);
    ada.delete(&format!("{APP}/keys/size?{ADA}")).ok(200);
    let read = ada.get(&format!("{APP}/resolve?{ADA}&key=size")).ok(200);
    assert_eq!(read["values"][0]["source"], "app");
}

fn a_refused_write_says_the_rule_and_whom_to_ask(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    let rules = json!({"rules": [{"id": "cap", "keys": "size", "effect": "range", "constraint": "<=15",
        "reason": "the contract of 2026", "contact": "legal@t1"}]});
    boss.put("/v1/policies?tenant=t1", &rules).ok(200);
    let mut ada = node.client(&tokens["ada"]);
    let refused = ada.put(&format!("{APP}/keys/size?{ADA}"), &json!({"value": 20}));
    assert_eq!(
        refused.header("content-type"),
        Some("application/problem+json")
    );
    let problem = refused.ok(422);
    assert_eq!(problem["code"], "policy-out-of-range");
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains("the contract of 2026") && detail.contains("legal@t1"),
        "{detail}"
    );
    // Runtime input is bound alike, and told before anything is saved.
    let what = ada
        .post(
            &format!("{APP}/resolve?{ADA}&key=size"),
            &json!({"runtime": {"size": 20}}),
        )
        .ok(200);
    assert_eq!(what["verdict"], "refused");
    assert_eq!(what["values"][0]["value"], 10);
    for (key, value, code) in [
        ("size", json!("many"), "schema-invalid"),
        ("sise", json!(1), "unknown-key"),
        ("token", json!("hunter2"), "plaintext-secret"),
        ("tone", json!("AKIAIOSFODNN7EXAMPLQ"), "plaintext-secret"),
    ] {
        let answer = ada.put(&format!("{APP}/keys/{key}?{ADA}"), &json!({"value": value}));
        assert!(!answer.text().contains("AKIA") && !answer.text().contains("hunter2"));
        assert_eq!(answer.ok(422)["code"], code);
    }
    // Rules that no value satisfies are refused themselves.
    let bad = json!({"rules": [{"id": "floor", "keys": "size", "effect": "range", "constraint": ">=20", "reason": "r"},
        {"id": "cap", "keys": "size", "effect": "range", "constraint": "<=15", "reason": "r"}]});
    assert_eq!(
        boss.put("/v1/policies?tenant=t1", &bad).ok(422)["code"],
        "policy-contradiction"
    );
    let unread = json!({"rules": [{"id": "x", "keys": "size", "effect": "forbid", "reason": "r"}]});
    assert_eq!(
        boss.put("/v1/policies?tenant=t1", &unread).ok(422)["code"],
        "unreadable"
    );
    assert_eq!(
        boss.get("/v1/policies?tenant=t1").ok(200)["rules"],
        rules["rules"]
    );
}

fn a_stale_write_learns_who_and_when(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let (mut lead, mut mate) = (node.client(&tokens["lead"]), node.client(&tokens["mate"]));
    let path = format!("{APP}/overlay?tenant=t1&workspace=w1");
    let etag = lead.get(&path).header("etag").unwrap().to_owned();
    let write = |client: &mut Client, size: u32| {
        let body = json!({"changes": {"size": size}}).to_string();
        client.send("PATCH", &path, &[("If-Match", &etag)], body.as_bytes())
    };
    write(&mut lead, 1).ok(200);
    let late = write(&mut mate, 2).ok(412);
    assert_eq!(
        (&late["code"], &late["changedBy"]),
        (&json!("version-conflict"), &json!("lead"))
    );
    assert!(late["changedAt"].as_str().unwrap().starts_with("20"));
    let key = format!("{APP}/keys/size?tenant=t1&workspace=w1");
    let base = format!("\"r{}\"", late["currentRevision"]);
    let body = json!({"value": 3}).to_string();
    mate.send("PUT", &key, &[("If-Match", &base)], body.as_bytes())
        .ok(200);
    assert_eq!(
        lead.send("PUT", &key, &[("If-Match", &base)], body.as_bytes())
            .ok(412)["changedBy"],
        "mate"
    );
    assert_eq!(
        lead.send("PUT", &key, &[("If-Match", "nonsense")], body.as_bytes())
            .status,
        400
    );
}

fn an_idempotency_key_writes_once(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let mut ada = node.client(&tokens["ada"]);
    let path = format!("{APP}/keys/size?{ADA}");
    let body = json!({"value": 7}).to_string();
    let once = [("Idempotency-Key", "k1")];
    let first = ada.send("PUT", &path, &once, body.as_bytes());
    let again = ada.send("PUT", &path, &once, body.as_bytes());
    assert_eq!(again.header("idempotent-replay"), Some("true"));
    assert_eq!(first.ok(200), again.ok(200));
    let history = ada.get(&format!("{APP}/history?{ADA}")).ok(200);
    assert_eq!(history["history"].as_array().unwrap().len(), 1);
    let other = json!({"value": 8}).to_string();
    assert_eq!(
        ada.send("PUT", &path, &once, other.as_bytes()).ok(422)["code"],
        "idempotency-key-reused"
    );
    let bad = json!({"value": "x"}).to_string();
    let refused = ada.send("PUT", &path, &[("Idempotency-Key", "k2")], bad.as_bytes());
    let again = ada.send("PUT", &path, &[("Idempotency-Key", "k2")], bad.as_bytes());
    assert_eq!(refused.ok(422), again.ok(422));
}

fn a_review_needs_another_person(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let (mut lead, mut mate) = (node.client(&tokens["lead"]), node.client(&tokens["mate"]));
    let key = format!("{APP}/keys/phrases?tenant=t1&workspace=w1");
    let read = format!("{APP}/resolve?tenant=t1&workspace=w1&key=phrases");
    let pending = lead.put(&key, &json!({"value": ["a"]})).ok(202);
    let id = pending["review"].as_i64().unwrap();
    assert_eq!(mate.get(&read).ok(200)["values"][0]["value"], json!([]));
    assert_eq!(
        lead.post(&format!("/v1/reviews/{id}/approve?tenant=t1"), &json!({}))
            .ok(422)["code"],
        "review-pending"
    );
    let reviews = mate.get("/v1/reviews?tenant=t1").ok(200);
    assert_eq!(
        (
            &reviews["reviews"][0]["author"],
            &reviews["reviews"][0]["mayApprove"]
        ),
        (&json!("lead"), &json!(true))
    );
    mate.post(&format!("/v1/reviews/{id}/approve?tenant=t1"), &json!({}))
        .ok(200);
    let value = &mate.get(&read).ok(200)["values"][0];
    assert_eq!(
        (&value["value"], &value["chain"][3]["actor"]),
        (&json!(["a"]), &json!("lead"))
    );
    mate.post(&format!("/v1/reviews/{id}/approve?tenant=t1"), &json!({}))
        .ok(404);
    // A review is void when a value that it changes was changed since, and by nothing else.
    let mut ask = |value: &str| {
        let asked = lead.put(&key, &json!({"value": [value]})).ok(202);
        asked["review"].as_i64().unwrap()
    };
    let (first, second) = (ask("b"), ask("c"));
    mate.put(
        &format!("{APP}/keys/size?tenant=t1&workspace=w1"),
        &json!({"value": 1}),
    )
    .ok(200);
    mate.post(
        &format!("/v1/reviews/{first}/approve?tenant=t1"),
        &json!({}),
    )
    .ok(200);
    let void = format!("/v1/reviews/{second}/approve?tenant=t1");
    assert_eq!(
        mate.post(&void, &json!({})).ok(409)["code"],
        "version-conflict"
    );
    mate.post(&void, &json!({})).ok(404);
    let id = lead.put(&key, &json!({"value": ["c"]})).ok(202)["review"]
        .as_i64()
        .unwrap();
    mate.post(&format!("/v1/reviews/{id}/reject?tenant=t1"), &json!({}))
        .ok(200);
    assert_eq!(
        mate.get("/v1/reviews?tenant=t1").ok(200)["reviews"],
        json!([])
    );
    assert_eq!(mate.get(&read).ok(200)["values"][0]["value"], json!(["b"]));
}

fn an_upgrade_makes_orphans_and_a_downgrade_revives_them(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    boss.put(
        &format!("{APP}/keys/old?tenant=t1"),
        &json!({"value": "kept"}),
    )
    .ok(200);
    let report = boss.get(&format!("{APP}/upgrade?tenant=t1&to=2")).ok(200);
    assert_eq!(report["verdict"], "needs-review");
    assert_eq!(report["orphans"][0]["key"], "old");
    let refused = boss
        .post(&format!("{APP}/upgrade?tenant=t1"), &json!({"to": "2"}))
        .ok(409);
    assert_eq!(refused["report"]["verdict"], "needs-review");
    boss.post(
        &format!("{APP}/upgrade?tenant=t1"),
        &json!({"to": "2", "reviewed": true}),
    )
    .ok(200);
    let orphans = boss.get(&format!("{APP}/orphans?tenant=t1")).ok(200);
    assert_eq!(
        (
            &orphans["orphans"][0]["key"],
            &orphans["orphans"][0]["value"]
        ),
        (&json!("old"), &json!("kept"))
    );
    boss.get(&format!("{APP}/resolve?tenant=t1&key=old"))
        .ok(404);
    // The other tenant is where it was.
    let mut other = node.client(&tokens["other"]);
    assert_eq!(
        other.get(&format!("{APP}/resolve?tenant=t2")).ok(200)["version"],
        "1"
    );
    boss.post(
        &format!("{APP}/upgrade?tenant=t1"),
        &json!({"to": "1", "reviewed": true}),
    )
    .ok(200);
    assert_eq!(
        boss.get(&format!("{APP}/resolve?tenant=t1&key=old"))
            .ok(200)["values"][0]["value"],
        "kept"
    );
    boss.post(
        &format!("{APP}/upgrade?tenant=t1"),
        &json!({"to": "2", "reviewed": true}),
    )
    .ok(200);
    let mut ada = node.client(&tokens["ada"]);
    ada.delete(&format!("{APP}/orphans/old?tenant=t1")).ok(403);
    boss.delete(&format!("{APP}/orphans/old?tenant=t1")).ok(200);
    assert_eq!(
        boss.get(&format!("{APP}/orphans?tenant=t1")).ok(200)["orphans"],
        json!([])
    );
    boss.post(&format!("{APP}/upgrade?tenant=t1"), &json!({"to": "9"}))
        .ok(404);
}

fn the_audit_has_every_write_and_refusal_and_shows_tampering(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let mut ada = node.client(&tokens["ada"]);
    ada.put(&format!("{APP}/keys/size?{ADA}"), &json!({"value": 7}))
        .ok(200);
    ada.put(&format!("{APP}/keys/size?{ADA}"), &json!({"value": 8}))
        .ok(200);
    ada.put(
        &format!("{APP}/keys/token?{ADA}"),
        &json!({"value": {"$secret": "vault/ada#t"}}),
    )
    .ok(200);
    ada.put(
        &format!("{APP}/keys/tone?{ADA}"),
        &json!({"value": "AKIAIOSFODNN7EXAMPLQ"}),
    )
    .ok(422);
    ada.put(&format!("{APP}/keys/size?tenant=t1"), &json!({"value": 9}))
        .ok(403);
    let mut boss = node.client(&tokens["boss"]);
    let text = boss.get("/v1/audit?tenant=t1").text();
    assert!(
        !text.contains("AKIA") && !text.contains("vault/ada"),
        "{text}"
    );
    let audit: Value = serde_json::from_str(&text).unwrap();
    let last: Vec<_> = audit["records"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .take(5)
        .rev()
        .map(|r| r["record"].clone())
        .collect();
    let facts: Vec<_> = last
        .iter()
        .map(|r| (r["actor"].as_str().unwrap(), r["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(
        facts,
        [
            ("ada", "accepted"),
            ("ada", "accepted"),
            ("ada", "accepted"),
            ("ada", "refused"),
            ("ada", "refused")
        ]
    );
    assert_eq!(
        last[1]["changes"][0],
        json!({"key": "size", "before": 7, "after": 8})
    );
    assert_eq!(last[2]["changes"][0]["after"], "(secret)");
    assert_eq!(
        (&last[3]["codes"], &last[4]["codes"]),
        (&json!(["plaintext-secret"]), &json!(["forbidden"]))
    );
    let verified = boss.get("/v1/audit/verify?tenant=t1").ok(200);
    assert_eq!(verified["intact"], true);
    // A changed value, and an end that was cut off.
    tamper(
        database,
        "UPDATE audit SET record = replace(record, '\"after\":8', '\"after\":9') WHERE tenant = 't1'",
    );
    let broken = boss.get("/v1/audit/verify?tenant=t1").ok(200);
    assert_eq!(
        (&broken["intact"], &broken["brokenAt"]),
        (&json!(false), &last[1]["seq"])
    );
    tamper(
        database,
        "UPDATE audit SET record = replace(record, '\"after\":9', '\"after\":8') WHERE tenant = 't1'",
    );
    assert_eq!(
        boss.get("/v1/audit/verify?tenant=t1").ok(200)["intact"],
        true
    );
    tamper(
        database,
        "DELETE FROM audit WHERE tenant = 't1' AND seq = (SELECT MAX(seq) FROM audit WHERE tenant = 't1')",
    );
    assert_eq!(
        boss.get("/v1/audit/verify?tenant=t1").ok(200)["intact"],
        false
    );
}

fn tamper(database: &Database, sql: &str) {
    match database {
        Database::Sqlite(folder) => {
            let connection = rusqlite::Connection::open(folder.path().join("lath.db")).unwrap();
            assert!(connection.execute(sql, []).unwrap() > 0);
        }
        Database::Postgres(url) => {
            let (socket, name) = url
                .strip_prefix("postgres://lath@")
                .unwrap()
                .split_once('/')
                .unwrap();
            let done = std::process::Command::new("psql")
                .args([
                    "-h",
                    &socket.replace("%2F", "/"),
                    "-U",
                    "owner",
                    "-d",
                    name,
                    "-Atc",
                    sql,
                ])
                .status();
            assert!(done.unwrap().success());
        }
    }
}

fn the_change_stream_resumes(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    let mut stream = events(node.address, &tokens["boss"], "/v1/events?tenant=t1", None);
    let mut adas = events(node.address, &tokens["ada"], "/v1/events?tenant=t1", None);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut adas, &mut line).unwrap();
    std::io::BufRead::read_line(&mut stream, &mut line).unwrap();
    let first = boss
        .put(&format!("{APP}/keys/size?tenant=t1"), &json!({"value": 1}))
        .ok(200);
    let (id, event) = next_event(&mut stream);
    assert_eq!(
        (json!(id), &event["key"]),
        (first["revision"].clone(), &json!("size"))
    );
    assert_eq!(event.get("value"), None);
    drop(stream);
    let second = boss
        .put(&format!("{APP}/keys/size?tenant=t1"), &json!({"value": 2}))
        .ok(200);
    let mut stream = events(
        node.address,
        &tokens["boss"],
        "/v1/events?tenant=t1",
        Some(id),
    );
    assert_eq!(json!(next_event(&mut stream).0), second["revision"]);
    // A user hears of their own scope only.
    let own = boss
        .put(&format!("{APP}/keys/size?{ADA}"), &json!({"value": 3}))
        .ok(200);
    assert_eq!(json!(next_event(&mut adas).0), own["revision"]);
}

fn what_is_exported_can_be_imported(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    boss.put(
        &format!("{APP}/keys/size?tenant=t1"),
        &json!({"value": 1.50}),
    )
    .ok(422);
    boss.patch(
        &format!("{APP}/overlay?tenant=t1"),
        &json!({"changes": {"size": 5, "tone": "warm"}}),
    )
    .ok(200);
    boss.put(&format!("{APP}/keys/size?{ADA}"), &json!({"value": 6}))
        .ok(200);
    let rules = json!({"rules": [{"id": "cap", "keys": "size", "effect": "range", "constraint": "<=15", "reason": "r"}]});
    boss.put("/v1/policies?tenant=t1", &rules).ok(200);
    let text = boss.get("/v1/export?tenant=t1").text();
    let done = boss
        .send("POST", "/v1/documents", &[], text.as_bytes())
        .ok(200);
    assert!(
        done["documents"]
            .as_array()
            .unwrap()
            .iter()
            .all(|d| d.get("problem").is_none()),
        "{done}"
    );
    assert_eq!(boss.get("/v1/export?tenant=t1").text(), text);
    // Desired state: what is not in the document goes.
    let wanted = "kind: Overlay\napp: app\nscope: {tenant: t1}\nvalues: {size: 4}\n";
    boss.send("POST", "/v1/documents?format=yaml", &[], wanted.as_bytes())
        .ok(200);
    let overlay = boss.get(&format!("{APP}/overlay?tenant=t1")).ok(200);
    assert_eq!(overlay["values"].as_object().unwrap().len(), 1);
    let refused = wanted.replace('4', "40");
    let done = boss
        .send("POST", "/v1/documents?format=yaml", &[], refused.as_bytes())
        .ok(200);
    assert_eq!(
        done["documents"][0]["problem"]["code"],
        "policy-out-of-range"
    );
    let foreign = wanted.replace("t1", "t2");
    boss.send("POST", "/v1/documents?format=yaml", &[], foreign.as_bytes())
        .ok(403);
    boss.send(
        "POST",
        "/v1/documents?format=yaml",
        &[],
        b"kind: HostDefaults\nvalues: {size: 3}\n",
    )
    .ok(403);
    let mut admin = node.admin();
    admin
        .send(
            "POST",
            "/v1/documents?format=yaml",
            &[],
            b"kind: HostDefaults\nvalues: {size: 3}\n",
        )
        .ok(200);
    let chain = boss
        .get(&format!("{APP}/explain?tenant=t1&key=size"))
        .ok(200);
    assert_eq!(chain["chain"][0]["value"], 3);
}

fn a_revoked_or_expired_token_is_no_token(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    let new =
        json!({"name": "temp", "role": "user", "tenant": "t1", "workspace": "w1", "user": "temp"});
    let made = boss.post("/v1/tokens", &new).ok(201);
    let mut temp = node.client(made["token"].as_str().unwrap());
    assert_eq!(temp.get("/v1/me").ok(200)["name"], "temp");
    let id = made["id"].as_str().unwrap();
    assert_eq!(boss.delete(&format!("/v1/tokens/{id}")).status, 204);
    assert_eq!(temp.get("/v1/me").status, 401);
    let mut old = new.clone();
    old["expires"] = json!("2020-01-01");
    let made = boss.post("/v1/tokens", &old).ok(201);
    assert_eq!(
        node.client(made["token"].as_str().unwrap())
            .get("/v1/me")
            .status,
        401
    );
    let mut above = new.clone();
    above["role"] = json!("host-admin");
    assert_eq!(boss.post("/v1/tokens", &above).status, 400);
    let host = json!({"name": "h", "role": "host-admin"});
    assert_eq!(boss.post("/v1/tokens", &host).status, 403);
    let mut foreign = new;
    foreign["tenant"] = json!("t2");
    assert_eq!(boss.post("/v1/tokens", &foreign).status, 403);
    assert!(!boss.get("/v1/tokens").text().contains("lath_"));
}

/// The records of a chain, from the first.
fn records(client: &mut Client, chain: &str) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let after = all.last().map_or(json!(0), |r: &Value| r["seq"].clone());
        let page = client.get(&format!("/v1/audit?after={after}{chain}"));
        let page = page.ok(200)["records"].as_array().unwrap().clone();
        if page.is_empty() {
            return all;
        }
        all.extend(page.iter().map(|line| line["record"].clone()));
    }
}

fn every_refusal_is_recorded_and_none_fills_the_disk(database: &Database) {
    let tokens = {
        let node = database.node();
        let tokens = furnish(&node);
        let (mut ada, mut admin) = (node.client(&tokens["ada"]), node.admin());
        let key = format!("{APP}/keys/size?{ADA}");
        // What cannot be read, what is too much, what is not there, what may not be read.
        ada.send("PUT", &key, &[], b"{").ok(400);
        ada.send("PUT", &key, &[("If-Match", "x")], b"{\"value\": 1}")
            .ok(400);
        ada.send("PUT", &key, &[], &vec![b' '; 2 << 20]).ok(413);
        ada.put(&format!("/v1/apps/none/keys/x?{ADA}"), &json!({"value": 1}))
            .ok(404);
        ada.get(&format!("{APP}/resolve?tenant=t1&workspace=w1"))
            .ok(403);
        ada.get(&format!("{APP}/resolve?tenant=t2")).ok(403);
        // A read that finds nothing, or asks for nothing, is none.
        ada.get(&format!("{APP}/explain?{ADA}&key=nothing")).ok(404);
        ada.get(&format!("{APP}/resolve")).ok(400);
        let told: Vec<_> = records(&mut admin, "&tenant=t1")
            .iter()
            .filter(|r| r["actor"] == "ada")
            .map(|r| format!("{} {} {}", r["action"], r["outcome"], r["codes"][0]).replace('"', ""))
            .collect();
        assert_eq!(
            told,
            [
                "overlay.write refused bad-request",
                "overlay.write refused bad-request",
                "overlay.write refused too-large",
                "overlay.write refused not-found",
                "read refused forbidden",
                "read refused forbidden",
            ]
        );
        // Without a token there is no actor; the host's chain says where it came from, and holds no credential.
        let mut nobody = node.client("AKIAIOSFODNN7EXAMPLQ");
        nobody.get("/v1/me?key=AKIAIOSFODNN7EXAMPLQ").ok(401);
        let last = records(&mut admin, "").pop().unwrap();
        assert_eq!(
            (&last["actor"], &last["codes"][0]),
            (&json!("unknown"), &json!("unauthorized"))
        );
        let detail = last["detail"].as_str().unwrap();
        assert!(
            detail.starts_with("GET /v1/me") && detail.ends_with("from 127.0.0.1"),
            "{detail}"
        );
        assert!(!detail.contains("AKIA"), "{detail}");
        // Many more: the first have a record each, the others are one when the minute, or the node, ends.
        for _ in 0..60 {
            ada.send("PUT", &key, &[], b"{").ok(400);
        }
        for _ in 0..40 {
            nobody.get("/v1/me").ok(401);
        }
        tokens
    };
    let node = database.node();
    let mut boss = node.client(&tokens["boss"]);
    let mine = records(&mut boss, "&tenant=t1");
    let counted = mine.last().unwrap();
    assert_eq!(
        (&counted["actor"], &counted["action"]),
        (&json!("ada"), &json!("access"))
    );
    let count = |record: &Value| {
        let detail = record["detail"].as_str().unwrap_or_default();
        let (count, _) = detail
            .split_once(" more refusals since ")
            .unwrap_or(("1", ""));
        count.parse::<usize>().unwrap_or(1)
    };
    let of = |records: &[Value], actor: &str| -> usize {
        let refused = records.iter().filter(|r| r["outcome"] == "refused");
        refused.filter(|r| r["actor"] == actor).map(count).sum()
    };
    assert_eq!(of(&mine, "ada"), 66, "all are counted");
    let mut admin = node.admin();
    let hosts = records(&mut admin, "");
    assert_eq!(of(&hosts, "unknown"), 41);
    let lines =
        |records: &[Value], actor: &str| records.iter().filter(|r| r["actor"] == actor).count();
    assert!(lines(&hosts, "unknown") < 20 && lines(&mine, "ada") < 66);
    for chain in ["?tenant=t1", ""] {
        let verified = admin.get(&format!("/v1/audit/verify{chain}")).ok(200);
        assert_eq!(verified["intact"], true);
    }
}

fn a_page_of_history_ends_with_a_whole_write(database: &Database) {
    let node = database.node();
    furnish(&node);
    let mut admin = node.admin();
    let properties: serde_json::Map<_, _> = (0..900)
        .map(|key| (format!("k{key}"), json!({"type": "integer"})))
        .collect();
    let files = many(&json!({"properties": properties}));
    admin.post("/v1/packages", &files).ok(201);
    admin
        .post("/v1/apps/many/upgrade?tenant=t1", &json!({"to": "1"}))
        .ok(200);
    for round in 0..3 {
        let changes: serde_json::Map<_, _> = (0..900)
            .map(|key| (format!("k{key}"), json!(round)))
            .collect();
        admin
            .patch(
                "/v1/apps/many/overlay?tenant=t1",
                &json!({"changes": changes}),
            )
            .ok(200);
    }
    let mut page = |more: &str| -> Vec<Value> {
        let path = format!("/v1/apps/many/history?tenant=t1{more}");
        let page = admin.get(&path).ok(200);
        page["history"].as_array().unwrap().clone()
    };
    let first = page("");
    assert_eq!(first.len(), 1_800);
    let before = &first.last().unwrap()["revision"];
    let second = page(&format!("&before={before}"));
    let values = |page: &[Value], value: i64| page.iter().filter(|l| l["value"] == value).count();
    assert_eq!((values(&second, 0), values(&first, 1)), (900, 900));
    assert_eq!(page("&key=k899").len(), 3);
}

fn desired_state_is_written_once(database: &Database) {
    let node = database.node();
    let tokens = furnish(&node);
    let (mut boss, mut admin) = (node.client(&tokens["boss"]), node.admin());
    let send = |client: &mut Client, dry: bool, files: &Value| {
        let path = format!("/v1/documents?format=files&dryRun={dry}");
        client.post(&path, &json!({"files": files}))
    };
    let verdicts = |answer: Answer| -> Vec<String> {
        let told = answer.ok(200);
        let verdict = |document: &Value| {
            let verdict = match document.get("problem") {
                Some(problem) => &problem["code"],
                None => &document["result"]["verdict"],
            };
            verdict.as_str().unwrap_or("written").to_owned()
        };
        let documents = told["documents"].as_array().unwrap();
        documents.iter().map(verdict).collect()
    };
    let revision = |client: &mut Client| {
        let read = client.get(&format!("{APP}/resolve?tenant=t1")).ok(200);
        (read["revision"].clone(), read["hostRevision"].clone())
    };
    // A rule and a value that it refuses: a dry run knows the one when it decides the other.
    let policy = "kind: Policy\nauthority: {tenant: t1}\nrules:\n- {id: cap, keys: size, effect: range, constraint: \"<=15\", reason: r}\n";
    let overlay = "kind: Overlay\napp: app\nscope: {tenant: t1}\nvalues: {size: 4, tone: warm}\n";
    let wrong = overlay.replace("size: 4", "size: 40");
    let before = revision(&mut boss);
    let files = json!({"a.yaml": wrong, "b.yaml": policy});
    assert_eq!(
        verdicts(send(&mut boss, true, &files)),
        ["accepted", "policy-out-of-range"]
    );
    assert_eq!(revision(&mut boss), before, "a dry run writes nothing");
    let files = json!({"a.yaml": overlay, "b.yaml": policy});
    assert_eq!(
        verdicts(send(&mut boss, true, &files)),
        ["accepted", "accepted"]
    );
    assert_eq!(
        verdicts(send(&mut boss, false, &files)),
        ["accepted", "accepted"]
    );
    // The same again is nothing, in the store and in the audit.
    let (before, chain) = (revision(&mut boss), records(&mut boss, "&tenant=t1").len());
    for _ in 0..2 {
        assert_eq!(
            verdicts(send(&mut boss, false, &files)),
            ["unchanged", "unchanged"]
        );
    }
    assert_eq!(revision(&mut boss), before);
    assert_eq!(records(&mut boss, "&tenant=t1").len(), chain);
    // So for what is the host's, and for what waits for a review.
    let host = "kind: HostDefaults\nvalues: {size: 3}\n---\nkind: Environment\ntools: [search]\n";
    let host = json!({"h.yaml": host});
    assert_eq!(
        verdicts(send(&mut admin, false, &host)),
        ["written", "written"]
    );
    assert_eq!(
        verdicts(send(&mut admin, false, &host)),
        ["unchanged", "unchanged"]
    );
    let phrases = overlay.replace("tone: warm", "tone: warm, phrases: [a]");
    let phrases = json!({"a.yaml": phrases});
    for _ in 0..2 {
        assert_eq!(verdicts(send(&mut boss, false, &phrases)), ["pending"]);
    }
    let reviews = boss.get("/v1/reviews?tenant=t1").ok(200);
    assert_eq!(reviews["reviews"].as_array().unwrap().len(), 1);
    // All findings at once, each with its place; nothing is written then.
    let files = json!({"a.yaml": "kind: Overlay\napp: app\nvalues: {size: 1}\n", "b.yaml": "kind: Nonsense\n",
        "c.yaml": overlay, "d.yaml": overlay});
    let before = revision(&mut boss);
    let problem = send(&mut boss, false, &files).ok(422);
    let places: Vec<&str> = problem["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|finding| finding["place"].as_str())
        .collect();
    for file in ["a.yaml:", "b.yaml:", "d.yaml:"] {
        assert!(places.iter().any(|p| p.starts_with(file)), "{problem}");
    }
    assert_eq!(revision(&mut boss), before);
    for bad in [
        json!({"files": []}),
        json!({"files": {"a.yaml": 1}}),
        json!({}),
    ] {
        boss.post("/v1/documents?format=files", &bad).ok(400);
    }
    boss.post("/v1/documents?dryRun=perhaps", &json!({}))
        .ok(400);
    let foreign = json!({"a.yaml": overlay.replace("t1", "t2")});
    send(&mut boss, true, &foreign).ok(403);
}

/// An app named `many` with this schema.
fn many(schema: &Value) -> Value {
    let mut files = files("1", schema);
    let manifest = files["files"]["app.yaml"].as_str().unwrap();
    files["files"]["app.yaml"] = json!(manifest.replace("name: app", "name: many"));
    files
}

/// A hundred writers on the same hundred keys of one overlay, and one key that all of them saw unset.
fn a_hundred_writers_keep_every_revision(database: &Database) {
    let node = database.node();
    furnish(&node);
    let (writers, keys): (i64, i64) = (100, 100);
    let clock = std::time::Instant::now();
    let mut admin = node.admin();
    let properties: serde_json::Map<_, _> = (0..keys)
        .map(|key| (format!("k{key}"), json!({"type": "integer"})))
        .collect();
    let files = many(&json!({"properties": properties}));
    admin.post("/v1/packages", &files).ok(201);
    let path = "/v1/apps/many/upgrade?tenant=t1";
    let start = admin.post(path, &json!({"to": "1"})).ok(200)["revision"]
        .as_i64()
        .unwrap();
    let wins: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|writer| {
                let mut client = node.admin();
                scope.spawn(move || {
                    for key in 0..keys {
                        let path = format!("/v1/apps/many/keys/k{key}?tenant=t1&workspace=w1");
                        client.put(&path, &json!({"value": writer})).ok(200);
                    }
                    let body = json!({"value": writer}).to_string();
                    let path = format!("{APP}/keys/size?tenant=t1");
                    let unset = [("If-Match", "\"r0\"")];
                    let answer = client.send("PUT", &path, &unset, body.as_bytes());
                    assert!(answer.status == 200 || answer.json()["changedBy"] == "admin");
                    usize::from(answer.status == 200)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    println!("{writers} writers of {keys} keys: {:?}", clock.elapsed());
    assert_eq!(wins, 1, "exactly one of those who saw the same base wins");
    // Every write of every writer is in the history once.
    let mut admin = node.admin();
    let mut seen = std::collections::BTreeSet::new();
    let mut before = i64::MAX;
    loop {
        let path = format!("/v1/apps/many/history?tenant=t1&workspace=w1&before={before}");
        let page = admin.get(&path).ok(200);
        let lines = page["history"].as_array().unwrap();
        let Some(last) = lines.last() else { break };
        before = last["revision"].as_i64().unwrap();
        for line in lines {
            let fact = (line["key"].to_string(), line["value"].as_i64().unwrap());
            assert!(seen.insert(fact), "{line} is there twice");
        }
    }
    assert_eq!(i64::try_from(seen.len()).unwrap(), writers * keys);
    let now = admin.get(&format!("{APP}/resolve?tenant=t1")).ok(200);
    assert_eq!(
        now["revision"].as_i64().unwrap(),
        start + writers * keys + 1
    );
    let verified = admin.get("/v1/audit/verify?tenant=t1").ok(200);
    assert_eq!(verified["intact"], true);
}
