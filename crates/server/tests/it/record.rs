//! What is kept of what happened: the audit chain, the history, the change stream.

use serde_json::{Value, json};

use crate::client::{Client, events, next_event};
use crate::suite::ADA;
use crate::world::{APP, Database, furnish};
use crate::writers::many;

pub fn the_audit_has_every_write_and_refusal_and_shows_tampering(database: &Database) {
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

/// The records of a chain, from the first.
pub fn records(client: &mut Client, chain: &str) -> Vec<Value> {
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

pub fn every_refusal_is_recorded_and_none_fills_the_disk(database: &Database) {
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

pub fn the_change_stream_resumes(database: &Database) {
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

pub fn a_page_of_history_ends_with_a_whole_write(database: &Database) {
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
