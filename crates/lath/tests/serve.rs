//! `lath serve` as a process: killed while it writes, ended in order, and its audit checked by `lath audit verify`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test program: a failure is a failed test"
)]

#[path = "../../server/tests/it/client.rs"]
#[allow(dead_code, reason = "shared with the service's own tests")]
mod client;
mod process;
#[path = "../../server/tests/it/world.rs"]
#[allow(dead_code, reason = "shared with the service's own tests")]
mod world;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use client::Client;
use process::Running;
use serde_json::{Value, json};
use world::{ADMIN, APP};

fn node(place: &[&str]) -> Running {
    let arguments = [&["serve", "--listen", "127.0.0.1:0"], place].concat();
    Running::lath(&arguments, &[("LATH_ADMIN_TOKEN", ADMIN)], "listening on ")
}

fn furnish(node: &Running) {
    let mut admin = Client::new(node.address(), ADMIN);
    admin
        .post("/v1/packages", &world::files("1", &world::schema(1)))
        .ok(201);
    admin.put("/v1/tenants/t1", &json!({})).ok(201);
    admin
        .post(&format!("{APP}/upgrade?tenant=t1"), &json!({"to": "1"}))
        .ok(200);
}

/// A writer that counts: each number is written once, and asked for again with the same key until it is acknowledged.
struct Writer {
    name: String,
    next: i64,
}

impl Writer {
    fn path(&self) -> String {
        format!("{APP}/keys/size?tenant=t1&workspace=w1&user={}", self.name)
    }

    /// Writes until the node is gone.
    fn run(&mut self, client: &mut Client) {
        loop {
            let key = format!("{}-{}", self.name, self.next);
            let body = json!({"value": self.next}).to_string();
            let sent = client.try_send(
                "PUT",
                &self.path(),
                &[("Idempotency-Key", &key)],
                body.as_bytes(),
            );
            match sent {
                Ok(answer) if answer.status == 200 => self.next += 1,
                // A node that waits for its database, or others that were faster: the same again.
                Ok(answer) => assert!(
                    answer.status == 503 || answer.status == 409,
                    "{}",
                    answer.text()
                ),
                Err(_) => return,
            }
        }
    }

    /// Every number is in the history once and in order; one more may be, whose acknowledgement was lost.
    fn check(&self, client: &mut Client) {
        let mut numbers = Vec::new();
        let mut before = i64::MAX;
        loop {
            let path = self.path().replace("keys/size", "history");
            let page = client.get(&format!("{path}&before={before}")).ok(200);
            let lines = page["history"].as_array().unwrap().clone();
            let Some(last) = lines.last() else { break };
            before = last["revision"].as_i64().unwrap();
            numbers.extend(lines.iter().map(|line| line["value"].as_i64().unwrap()));
        }
        numbers.reverse();
        let there = i64::try_from(numbers.len()).unwrap();
        assert!(
            there == self.next || there == self.next + 1,
            "{}: {} acknowledged, {there} there",
            self.name,
            self.next
        );
        assert_eq!(numbers, (0..there).collect::<Vec<i64>>(), "{}", self.name);
    }
}

fn verify(place: &[&str]) -> (i32, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_lath"))
        .args(["audit", "verify"])
        .args(place)
        .output()
        .unwrap();
    (
        out.status.code().unwrap(),
        String::from_utf8(out.stdout).unwrap(),
    )
}

/// How often: `LATH_KILLS=500` for the whole proof.
fn kills(usual: u64) -> u64 {
    std::env::var("LATH_KILLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(usual)
}

#[test]
fn killed_while_it_writes_it_loses_nothing_and_repeats_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = ["--data", folder.path().to_str().unwrap()];
    furnish(&node(&place));
    let mut writers: Vec<Writer> = (0..3)
        .map(|n| Writer {
            name: format!("w{n}"),
            next: 0,
        })
        .collect();
    for round in 0..kills(25) {
        let mut running = node(&place);
        let address = running.address();
        std::thread::scope(|scope| {
            for writer in &mut writers {
                scope.spawn(move || writer.run(&mut Client::new(address, ADMIN)));
            }
            std::thread::sleep(Duration::from_millis(5 + round * 7 % 60));
            running.child.kill().unwrap();
        });
        running.child.wait().unwrap();
    }
    let running = node(&place);
    let mut admin = Client::new(running.address(), ADMIN);
    for writer in &writers {
        writer.check(&mut admin);
    }
    let written: i64 = writers.iter().map(|writer| writer.next).sum();
    println!("{written} acknowledged writes, every one there once");
    assert!(written > 0);
    drop(running);
    let (code, told) = verify(&place);
    assert_eq!(code, 0, "{told}");
    assert!(
        told.contains("tenant t1") && told.contains("intact"),
        "{told}"
    );
    tampered(folder.path(), &place);
}

/// What somebody changes in the file is found.
fn tampered(folder: &Path, place: &[&str]) {
    let connection = rusqlite::Connection::open(folder.join("lath.db")).unwrap();
    let sql = "UPDATE audit SET record = replace(record, '\"actor\":\"admin\"', '\"actor\":\"nobody\"') WHERE tenant = 't1' AND seq = 2";
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
    let (code, told) = verify(place);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("tenant t1: BROKEN at record 2"), "{told}");
    let (code, _) = verify(&["--data", folder.join("nothing").to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(!folder.join("nothing").exists());
}

#[test]
fn one_of_three_nodes_killed_under_load() {
    let server = world::Server::start();
    let world::Database::Postgres(url) = server.database() else {
        panic!("a PostgreSQL database");
    };
    let place = ["--database", url.as_str()];
    let mut nodes = [node(&place), node(&place), node(&place)];
    furnish(&nodes[0]);
    let addresses = [nodes[0].address(), nodes[1].address(), nodes[2].address()];
    let mut writers: Vec<Writer> = (0..3)
        .map(|n| Writer {
            name: format!("w{n}"),
            next: 0,
        })
        .collect();
    for round in 0..6 {
        std::thread::scope(|scope| {
            for (at, writer) in writers.iter_mut().enumerate() {
                // Each goes on with another node when its own is gone: the same write, the same key.
                scope.spawn(move || {
                    let goal = writer.next + 15;
                    let mut at = at;
                    while writer.next < goal {
                        let mut client = Client::new(addresses[at % 3], ADMIN);
                        let key = format!("{}-{}", writer.name, writer.next);
                        let body = json!({"value": writer.next}).to_string();
                        let sent = client.try_send(
                            "PUT",
                            &writer.path(),
                            &[("Idempotency-Key", &key)],
                            body.as_bytes(),
                        );
                        match sent {
                            Ok(answer) if answer.status == 200 => writer.next += 1,
                            Ok(answer) if answer.status == 404 || answer.status >= 409 => {}
                            Ok(answer) => panic!("{}", answer.text()),
                            Err(_) => at += 1,
                        }
                    }
                });
            }
            if round == 2 {
                std::thread::sleep(Duration::from_millis(40));
                nodes[1].child.kill().unwrap();
                nodes[1].child.wait().unwrap();
            }
        });
    }
    let mut admin = Client::new(addresses[2], ADMIN);
    for writer in &writers {
        assert_eq!(writer.next, 90);
        writer.check(&mut admin);
    }
    let (code, told) = verify(&place);
    assert_eq!(code, 0, "{told}");
}

#[test]
fn a_first_start_says_a_token_once_and_an_end_is_orderly() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", place];
    let running = Running::lath(
        &arguments,
        &[("LATH_ADMIN_TOKEN", "")],
        "token of host admin: ",
    );
    let token = running.told.clone();
    assert!(token.starts_with("lath_") && token.len() == 69);
    let pid = running.child.id().to_string();
    let mut running = running;
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert!(running.child.wait().unwrap().success());
    let again = Running::lath(&arguments, &[("LATH_ADMIN_TOKEN", "")], "listening on ");
    let me: Value = Client::new(again.address(), &token).get("/v1/me").ok(200);
    assert_eq!(me["role"], "host-admin");
    let page = Client::new(again.address(), "").get("/");
    assert!(page.status == 200 && page.text().contains("<title>Lath</title>"));
    assert_eq!(Client::new(again.address(), "").get("/v1/me").status, 401);
}

#[test]
fn wrong_usage_is_said() {
    for (arguments, said) in [
        (
            &["serve", "--listen", "nowhere"][..],
            "invalid value 'nowhere'",
        ),
        (
            &[
                "serve",
                "--database",
                "mysql://x",
                "--listen",
                "127.0.0.1:0",
            ],
            "is no PostgreSQL URL",
        ),
        (
            &["serve", "--data", "/dev/null/x", "--listen", "127.0.0.1:0"],
            "cannot use /dev/null/x",
        ),
        (&["serve", "--oidc-issuer", "https://x"], "--oidc-audience"),
    ] {
        let out = Command::new(env!("CARGO_BIN_EXE_lath"))
            .args(arguments)
            .output()
            .unwrap();
        let told = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{told}");
        assert!(told.contains(said), "{told}");
    }
}
