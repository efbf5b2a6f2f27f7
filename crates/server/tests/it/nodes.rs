//! Several nodes on one PostgreSQL; a database that goes away and comes back; rows that SQL itself cannot reach.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use server::store::Store;

use crate::world::{APP, Database, Node, Server, furnish, wait};

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

/// Against hanging only: how long it really takes is printed. What is promised is a second.
const GUARD: Duration = Duration::from_secs(60);

#[test]
fn three_nodes_see_each_others_writes() {
    let server = Server::start();
    see_each_other("told", &server.database(), None);
    let poll = Some(Duration::from_millis(100));
    see_each_other("by looking", &server.database(), poll);
}

fn see_each_other(how: &str, database: &Database, poll: Option<Duration>) {
    let Database::Postgres(url) = database else {
        panic!("a PostgreSQL database");
    };
    let nodes = [0; 3].map(|_| Node::start(Store::postgres(url, poll), None));
    let tokens = furnish(&nodes[0]);
    let read = format!("{APP}/resolve?tenant=t1&key=size");
    let mut readers: Vec<_> = nodes
        .iter()
        .map(|node| node.client(&tokens["boss"]))
        .collect();
    for reader in &mut readers {
        soon(GUARD, "a token", || reader.get("/v1/me").status == 200);
        soon(GUARD, "an install", || reader.get(&read).status == 200);
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
            let seen = soon(GUARD, "a write", || {
                reader.get(&read).ok(200)["values"][0]["value"] == round
            });
            slowest = slowest.max(seen);
        }
    }
    println!("20 writes, each seen by three nodes, {how}; the slowest after {slowest:?}");
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
    soon(GUARD, "to notice", || {
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
    soon(GUARD, "to come back", || {
        boss.get(&read).header("lath-stale").is_none()
    });
    boss.put(&write, &json!({"value": 7})).ok(200);
    assert_eq!(boss.get(&read).ok(200)["values"][0]["value"], 7);
    assert_eq!(
        boss.get("/v1/audit/verify?tenant=t1").ok(200)["intact"],
        true
    );
}

/// SQLite's file is in somebody else's hands: the node waits a while, says so, and goes on when it is free again.
#[test]
fn a_file_that_cannot_be_written_is_said_and_found_again() {
    let database = Database::sqlite();
    let Database::Sqlite(folder) = &database else {
        panic!("a file");
    };
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    let write = format!("{APP}/keys/size?tenant=t1");
    let read = format!("{APP}/resolve?tenant=t1&key=size");
    boss.put(&write, &json!({"value": 5})).ok(200);
    let other = rusqlite::Connection::open(folder.path().join("lath.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = boss.put(&write, &json!({"value": 6}));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.ok(503)["code"], "database-lost");
    assert_eq!(boss.get(&read).ok(200)["values"][0]["value"], 5);
    other.execute_batch("ROLLBACK").unwrap();
    soon(GUARD, "to be written again", || {
        boss.put(&write, &json!({"value": 7})).status == 200
    });
    assert_eq!(boss.get(&read).ok(200)["values"][0]["value"], 7);
    let verified = boss.get("/v1/audit/verify?tenant=t1").ok(200);
    assert_eq!(verified["intact"], true);
}

/// A line on which nothing comes is not taken for one on which nothing happens.
#[test]
fn a_node_that_hears_nothing_any_more_says_that_it_is_stale() {
    let server = Server::start();
    let database = server.database();
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    let read = format!("{APP}/resolve?tenant=t1&key=size");
    let listener = "SELECT pid FROM pg_stat_activity WHERE query IN ('LISTEN lath', '') AND datname = 'd0' \
                    AND backend_type = 'client backend'";
    let signal = |name: &str, pid: &str| {
        let sent = Command::new("kill").args([name, pid]).status().unwrap();
        assert!(sent.success());
    };
    let pids = server.sql("postgres", listener);
    let pid = pids.lines().next().unwrap();
    signal("-STOP", pid);
    soon(GUARD, "to notice", || {
        boss.get(&read).header("lath-stale").is_some()
    });
    boss.get(&read).ok(200);
    soon(GUARD, "to listen again", || {
        boss.get(&read).header("lath-stale").is_none()
    });
    signal("-CONT", pid);
    boss.put(&format!("{APP}/keys/size?tenant=t1"), &json!({"value": 7}))
        .ok(200);
}

#[test]
fn tls_to_the_database_is_used_and_checked() {
    let server = Server::secure();
    let (Database::Postgres(_), Some(port)) = (server.database(), server.port) else {
        panic!("a PostgreSQL database with a port");
    };
    let url = |host: &str, query: &str| format!("postgres://lath@{host}:{port}/d0?{query}");
    let root = server.root();
    let root = root.to_str().unwrap();
    let checked = format!("sslmode=verify-full&sslrootcert={root}");
    let node = Node::start(Store::postgres(&url("localhost", &checked), None), None);
    furnish(&node);
    let sessions = "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'lath'";
    assert_eq!(server.sql("postgres", sessions).trim(), "t");
    drop(node);
    let open = |url: String| wait(Store::postgres(&url, None)).err().unwrap_or_default();
    assert_eq!(open(url("localhost", "sslmode=require")), "");
    assert_eq!(open(url("127.0.0.1", "sslmode=require")), "");
    for (host, query, why) in [
        // A name that the certificate is not for, a root that nobody trusts, a file that is none.
        ("127.0.0.1", checked.as_str(), "certificate"),
        ("localhost", "sslmode=verify-full", "certificate"),
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=/dev/null",
            "holds no certificate",
        ),
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=/nowhere",
            "cannot use the roots in /nowhere",
        ),
    ] {
        let told = open(url(host, query));
        assert!(told.contains(why), "{host} {query}: {told}");
    }
    // Where the server has no TLS, nothing is sent in the clear.
    let plain = Server::start();
    let Database::Postgres(url) = plain.database() else {
        panic!("a PostgreSQL database");
    };
    let told = open(format!("{url}?sslmode=require"));
    assert!(told.contains("does not support TLS"), "{told}");
}

/// As docs/serve.md says it.
#[test]
fn a_backup_is_restored_whole() {
    let server = Server::start();
    let (database, restored) = (server.database(), server.database());
    let node = database.node();
    let tokens = furnish(&node);
    let mut boss = node.client(&tokens["boss"]);
    boss.put(&format!("{APP}/keys/size?tenant=t1"), &json!({"value": 5}))
        .ok(200);
    let (Database::Postgres(from), Database::Postgres(to)) = (&database, &restored) else {
        panic!("PostgreSQL databases");
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lath.sql");
    let run = |program: &str, arguments: &[&str], url: &str| {
        let mut run = Command::new(program);
        run.env("PGOPTIONS", "-c lath.tenant=*").args(arguments);
        let out = run.arg("--file").arg(&file).arg(url).output().unwrap();
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{program}: {told}");
    };
    run("pg_dump", &["--enable-row-security"], from);
    run("psql", &["--quiet", "--set", "ON_ERROR_STOP=1"], to);
    let again = restored.node();
    let mut boss = again.client(&tokens["boss"]);
    let read = format!("{APP}/resolve?tenant=t1&key=size");
    assert_eq!(boss.get(&read).ok(200)["values"][0]["value"], 5);
    for chain in ["?tenant=t1", "?tenant=t2", ""] {
        let path = format!("/v1/audit/verify{chain}");
        let (old, new) = (node.admin().get(&path), again.admin().get(&path));
        assert_eq!(old.ok(200), new.ok(200));
    }
    // What was restored is as closed as what was saved.
    boss.put(&format!("{APP}/keys/size?tenant=t1"), &json!({"value": 6}))
        .ok(200);
    let hidden = "SET ROLE lath_service; SELECT count(*) FROM entries";
    assert!(server.sql("d1", hidden).ends_with("0\n"));
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
