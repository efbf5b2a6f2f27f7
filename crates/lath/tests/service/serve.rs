//! `lath serve` as a process: killed while it writes, ended in order, and its audit checked by `lath audit verify`.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::process::Running;
use crate::world::{self, ADMIN, APP};

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

    /// Writes until the node is gone, and tells of each write that was acknowledged.
    fn run(&mut self, client: &mut Client, tell: &mpsc::Sender<()>) {
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
                Ok(answer) if answer.status == 200 => {
                    self.next += 1;
                    let _ = tell.send(());
                }
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

/// How often a node is killed.
const KILLS: usize = 500;

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
    for round in 0..KILLS {
        let mut running = node(&place);
        let address = running.address();
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            for writer in &mut writers {
                let tell = tell.clone();
                scope.spawn(move || writer.run(&mut Client::new(address, ADMIN), &tell));
            }
            // After some acknowledged writes, and while others are under way: at another point of them each time.
            told.iter().take(round % 6).for_each(drop);
            let clock = Instant::now();
            let delay = Duration::from_micros(u64::try_from(round * 37 % 1_500).unwrap());
            while clock.elapsed() < delay {
                std::hint::spin_loop();
            }
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
    println!("killed {KILLS} times: {written} acknowledged writes, every one there once");
    assert!(written >= 1_000);
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

/// `lath app import` as a pipeline would run it.
fn import(node: &Running, token: &str, arguments: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_lath"))
        .args(["app", "import", "--to", &node.told])
        .args(arguments)
        .env("LATH_TOKEN", token)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        out.status.code().unwrap(),
        text(out.stdout),
        text(out.stderr),
    )
}

#[test]
fn a_folder_of_documents_is_imported_once() {
    let data = tempfile::tempdir().unwrap();
    folder_imported(&["--data", data.path().to_str().unwrap()]);
    let server = world::Server::start();
    let world::Database::Postgres(url) = server.database() else {
        panic!("a PostgreSQL database");
    };
    folder_imported(&["--database", &url]);
}

fn folder_imported(place: &[&str]) {
    let node = node(place);
    furnish(&node);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "overlays.yaml",
        "kind: Overlay\napp: app\nscope: {tenant: t1}\nvalues: {size: 4}\n---\n\
         kind: Overlay\napp: app\nscope: {tenant: t1, workspace: w1}\nvalues: {tone: warm}\n",
    );
    write(
        "policies.json",
        "{\"kind\": \"Policy\", \"authority\": {\"tenant\": \"t1\"}, \"rules\": [{\"id\": \"cap\", \"keys\": \"size\", \"effect\": \"range\", \"constraint\": \"<=15\", \"reason\": \"r\"}]}",
    );
    write("README.md", "no document");
    let path = folder.path().to_str().unwrap();
    let ending = |text: &str| text.lines().last().unwrap_or_default().to_owned();
    let (code, out, _) = import(&node, ADMIN, &["--dry-run", path]);
    assert_eq!(code, 0, "{out}");
    assert_eq!(
        ending(&out),
        "3 documents: 3 changed, 0 unchanged, 0 refused. Nothing was written."
    );
    let (code, out, _) = import(&node, ADMIN, &[path]);
    assert_eq!(
        (code, &*ending(&out)),
        (0, "3 documents: 3 changed, 0 unchanged, 0 refused.")
    );
    let (code, out, _) = import(&node, ADMIN, &[path]);
    assert_eq!(
        (code, &*ending(&out)),
        (0, "3 documents: 0 changed, 3 unchanged, 0 refused.")
    );
    let mut admin = Client::new(node.address(), ADMIN);
    let read = admin.get(&format!("{APP}/resolve?tenant=t1&workspace=w1&key=size"));
    assert_eq!(read.ok(200)["values"][0]["value"], 4);
    // A refused document is said with its place and why; the others are taken.
    write(
        "more.yaml",
        "kind: Overlay\napp: app\nscope: {tenant: t1, workspace: w2}\nvalues: {size: 40}\n",
    );
    let (code, out, _) = import(&node, ADMIN, &["--out", "json", path]);
    let told: Value = serde_json::from_str(&out).unwrap();
    let refused = told["documents"].as_array().unwrap();
    let refused: Vec<_> = refused
        .iter()
        .filter_map(|d| Some((d["place"].as_str()?, d["problem"]["code"].as_str()?)))
        .collect();
    assert_eq!(code, 1);
    assert!(
        refused[0].0.ends_with("more.yaml:1:1") && refused[0].1 == "policy-out-of-range",
        "{refused:?}"
    );
    // Wrong input: all findings at once and nothing sent; no token, a wrong one, no node, no document.
    write("more.yaml", "kind: Overlay\nvalues: [\n");
    write("most.yaml", "kind: Nonsense\n");
    let (code, out, told) = import(&node, ADMIN, &[path]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(
        told.contains("more.yaml") && told.contains("most.yaml"),
        "{told}"
    );
    let good = folder.path().join("overlays.yaml");
    let good = good.to_str().unwrap();
    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().to_str().unwrap();
    for (token, arguments, said) in [
        ("", &[good][..], "LATH_TOKEN must hold a token"),
        ("wrong", &[good], "a valid bearer token is needed"),
        (ADMIN, &["/nowhere"], "cannot open /nowhere"),
        (ADMIN, &[empty], "there is no document"),
    ] {
        let (code, _, told) = import(&node, token, arguments);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains(said), "{told}");
    }
    let elsewhere = Command::new(env!("CARGO_BIN_EXE_lath"))
        .args(["app", "import", good, "--to", "http://127.0.0.1:1"])
        .env("LATH_TOKEN", ADMIN)
        .output()
        .unwrap();
    assert_eq!(elsewhere.status.code(), Some(2));
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
        (&["serve", "--identity-rate", "0"], "invalid value '0'"),
        (
            &["serve", "--poll-changes", "often"],
            "invalid value 'often'",
        ),
        (&["serve", "--poll-changes", "100"], "--database <URL>"),
        (
            &[
                "serve",
                "--database",
                "postgres://x@127.0.0.1:1/x?sslmode=never",
                "--listen",
                "127.0.0.1:0",
            ],
            "`sslmode` is `never`",
        ),
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
