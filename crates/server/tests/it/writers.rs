//! Many writers at once: every revision is kept, and of those who saw the same base exactly one wins.

use serde_json::{Value, json};

use crate::world::{APP, Database, files, furnish};

/// An app named `many` with this schema.
pub fn many(schema: &Value) -> Value {
    let mut files = files("1", schema);
    let manifest = files["files"]["app.yaml"].as_str().unwrap();
    files["files"]["app.yaml"] = json!(manifest.replace("name: app", "name: many"));
    files
}

/// A hundred writers on the same hundred keys of one overlay, and one key that all of them saw unset.
pub fn a_hundred_writers_keep_every_revision(database: &Database) {
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
