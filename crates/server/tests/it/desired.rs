//! Documents in and out: a tenant exported and imported, and desired state written once.

use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::record::records;
use crate::suite::ADA;
use crate::world::{APP, Database, furnish};

pub fn what_is_exported_can_be_imported(database: &Database) {
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

pub fn desired_state_is_written_once(database: &Database) {
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
