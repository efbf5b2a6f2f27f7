//! One suite on both stores.

use serde_json::json;

use crate::client::Client;
use crate::world::{APP, Database, Server, furnish};
use crate::{desired, record, writers};

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
        record::the_audit_has_every_write_and_refusal_and_shows_tampering,
    ),
    (
        "refusals",
        record::every_refusal_is_recorded_and_none_fills_the_disk,
    ),
    ("events", record::the_change_stream_resumes),
    ("history", record::a_page_of_history_ends_with_a_whole_write),
    ("documents", desired::what_is_exported_can_be_imported),
    ("desired", desired::desired_state_is_written_once),
    ("tokens", a_revoked_or_expired_token_is_no_token),
    ("writers", writers::a_hundred_writers_keep_every_revision),
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

pub const ADA: &str = "tenant=t1&workspace=w1&user=ada";

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
