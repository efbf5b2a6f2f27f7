//! Several nodes on one PostgreSQL; a database that goes away and comes back; rows that SQL itself cannot reach.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::{APP, Server, furnish};

/// Asks until the answer is as wanted, for as long as it may take.
#[track_caller]
fn soon(limit: Duration, what: &str, mut ask: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !ask() {
        assert!(start.elapsed() < limit, "{what} took longer than {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    start.elapsed()
}

/// Twice what is promised: other programs run on the machine of a test.
const PROMISED: Duration = Duration::from_secs(2);

#[test]
fn three_nodes_see_each_others_writes() {
    let server = Server::start();
    let database = server.database();
    let nodes = [database.node(), database.node(), database.node()];
    let tokens = furnish(&nodes[0]);
    let read = format!("{APP}/resolve?tenant=t1&key=size");
    let mut readers: Vec<_> = nodes
        .iter()
        .map(|node| node.client(&tokens["boss"]))
        .collect();
    for reader in &mut readers {
        soon(PROMISED, "a token", || reader.get("/v1/me").status == 200);
        soon(PROMISED, "an install", || reader.get(&read).status == 200);
    }
    let mut slowest = Duration::ZERO;
    for round in 0..20 {
        let writer = &mut readers[round % 3];
        writer
            .put(
                &format!("{APP}/keys/size?tenant=t1"),
                &json!({"value": round}),
            )
            .ok(200);
        for reader in &mut readers {
            let seen = soon(PROMISED, "a write", || {
                reader.get(&read).ok(200)["values"][0]["value"] == round
            });
            slowest = slowest.max(seen);
        }
    }
    println!("20 writes, each seen by three nodes; the slowest took {slowest:?}");
    // Writers on different nodes at the same time: each write is there once.
    std::thread::scope(|scope| {
        for (at, node) in nodes.iter().enumerate() {
            let mut client = node.client(&tokens["boss"]);
            scope.spawn(move || {
                for n in 0..30 {
                    let path = format!("{APP}/keys/size?tenant=t1&workspace=w{at}");
                    // Others move the tenant all the time; a busy answer is asked again.
                    while client.put(&path, &json!({"value": n})).status != 200 {}
                }
            });
        }
    });
    for at in 0..3 {
        let history = readers[0]
            .get(&format!("{APP}/history?tenant=t1&workspace=w{at}"))
            .ok(200);
        assert_eq!(history["history"].as_array().unwrap().len(), 30);
    }
    assert_eq!(
        readers[1].get("/v1/audit/verify?tenant=t1").ok(200)["intact"],
        true
    );
}

#[test]
fn a_lost_database_leaves_stale_reads_and_is_found_again() {
    let server = Server::start();
    let database = server.database();
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    let write = format!("{APP}/keys/size?tenant=t1");
    let read = format!("{APP}/resolve?tenant=t1&key=size");
    boss.put(&write, &json!({"value": 5})).ok(200);
    server.down();
    soon(Duration::from_secs(10), "to notice", || {
        boss.get(&read).header("lath-stale").is_some()
    });
    let stale = boss.get(&read);
    assert_eq!(stale.ok(200)["values"][0]["value"], 5);
    assert_eq!(
        boss.put(&write, &json!({"value": 6})).ok(503)["code"],
        "database-lost"
    );
    assert_eq!(boss.get("/healthz").ok(200)["status"], "stale");
    assert!(boss.get("/metrics").text().contains("lath_stale 1"));
    server.up();
    soon(Duration::from_secs(10), "to come back", || {
        boss.get(&read).header("lath-stale").is_none()
    });
    boss.put(&write, &json!({"value": 7})).ok(200);
    assert_eq!(boss.get(&read).ok(200)["values"][0]["value"], 7);
    assert_eq!(
        boss.get("/v1/audit/verify?tenant=t1").ok(200)["intact"],
        true
    );
}

#[test]
fn row_level_security_hides_other_tenants_whatever_the_sql_says() {
    let server = Server::start();
    let database = server.database();
    let node = database.node();
    furnish(&node);
    let mut admin = node.admin();
    admin
        .put(&format!("{APP}/keys/size?tenant=t1"), &json!({"value": 5}))
        .ok(200);
    let as_service = |setting: &str, sql: &str| {
        let sql = format!(
            "BEGIN; SET LOCAL ROLE lath_service; SET LOCAL lath.tenant = '{setting}'; {sql}; COMMIT"
        );
        let out = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.sql("d0", &sql)));
        out.map(|text| {
            text.lines()
                .filter(|line| !line.chars().all(char::is_uppercase))
                .collect::<Vec<_>>()
                .join("\n")
        })
    };
    assert_eq!(
        as_service("t1", "SELECT count(*) FROM entries").unwrap(),
        "1"
    );
    for foreign in ["t2", "", "nobody"] {
        assert_eq!(
            as_service(foreign, "SELECT count(*) FROM entries").unwrap(),
            "0",
            "{foreign}"
        );
    }
    assert!(
        as_service(
            "t2",
            "INSERT INTO installs VALUES ('t1', 'app', '2', 1, 'x', 'x')"
        )
        .is_err()
    );
    assert!(as_service("t1", "UPDATE audit SET record = ''").is_err());
    assert!(as_service("t1", "DELETE FROM history").is_err());
    assert!(as_service("t1", "DROP TABLE audit").is_err());
}
