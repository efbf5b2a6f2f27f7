//! A node with an app in two versions, two tenants and people; a PostgreSQL of our own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use server::http::Serving;
use server::limits::Rates;
use server::store::Store;
use server::{Settings, start};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::client::Client;

pub const ADMIN: &str = "test-admin-token";
pub const APP: &str = "/v1/apps/app";

/// A node that serves until it is dropped.
pub struct Node {
    pub address: SocketAddr,
    serving: Option<Serving>,
    runtime: Runtime,
}

impl Node {
    pub fn start(
        store: impl Future<Output = Result<Store, String>>,
        oidc: Option<server::oidc::Oidc>,
    ) -> Node {
        Node::limited(store, oidc, Rates::default())
    }

    pub fn limited(
        store: impl Future<Output = Result<Store, String>>,
        oidc: Option<server::oidc::Oidc>,
        rates: Rates,
    ) -> Node {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let started = runtime.block_on(async {
            start(Settings {
                listen: "127.0.0.1:0".parse().unwrap(),
                store: store.await?,
                oidc,
                rates,
                admin_token: Some(ADMIN.to_owned()),
                demo: None,
            })
            .await
        });
        let started = started.unwrap_or_else(|e| panic!("{e}"));
        Node {
            address: started.serving.address,
            serving: Some(started.serving),
            runtime,
        }
    }

    pub fn sqlite(folder: &Path) -> Node {
        let path = folder.join("lath.db");
        Node::start(async move { Store::sqlite(&path) }, None)
    }

    pub fn postgres(url: &str) -> Node {
        Node::start(Store::postgres(url, None), None)
    }

    pub fn client(&self, token: &str) -> Client {
        Client::new(self.address, token)
    }

    pub fn admin(&self) -> Client {
        self.client(ADMIN)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(serving) = self.serving.take() {
            self.runtime.block_on(serving.end());
        }
    }
}

/// What a future comes to.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

/// A database of its own for one test; SQLite in a folder, or a database in the PostgreSQL we started.
pub enum Database {
    Sqlite(TempDir),
    Postgres(String),
}

impl Database {
    pub fn node(&self) -> Node {
        match self {
            Database::Sqlite(folder) => Node::sqlite(folder.path()),
            Database::Postgres(url) => Node::postgres(url),
        }
    }

    pub fn sqlite() -> Database {
        Database::Sqlite(tempfile::tempdir().unwrap())
    }
}

/// A PostgreSQL server in a folder of its own, on a unix socket only. It dies with the test.
pub struct Server {
    folder: TempDir,
    bin: PathBuf,
    /// Whether it runs as the package's user: PostgreSQL refuses to run as root.
    as_user: bool,
    count: AtomicU32,
    /// A port with TLS, where one was asked for.
    pub port: Option<u16>,
}

fn bin() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").map(|versions| {
        let mut all: Vec<PathBuf> = versions.map(|v| v.unwrap().path().join("bin")).collect();
        all.sort();
        all
    });
    versions
        .ok()
        .and_then(|mut all| all.pop())
        .expect("PostgreSQL is installed by tests/setup/service")
}

impl Server {
    pub fn start() -> Server {
        Server::make(None)
    }

    /// One that is also reached over TCP, with TLS only, by a certificate for `localhost` that [`Server::root`] vouches for.
    pub fn secure() -> Server {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        Server::make(Some(port))
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("root.pem")
    }

    /// A root, and a certificate of it for `localhost`.
    fn certify(&self) {
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        let name =
            "-addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE";
        for line in [
            format!("req -x509 -days 2 {key} -subj /CN=root -keyout root.key -out root.pem"),
            format!(
                "req -x509 -days 2 {key} -subj /CN=localhost {name} -CA root.pem -CAkey root.key -keyout server.key -out server.pem"
            ),
        ] {
            let mut run = Command::new("openssl");
            run.args(line.split(' ')).current_dir(self.folder.path());
            let out = run.output().unwrap();
            let told = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(out.status.success(), "{line}: {told}");
        }
        let mut own = Command::new("chown");
        own.arg("postgres")
            .arg(self.folder.path().join("server.key"));
        let _ = own.stderr(Stdio::null()).status();
    }

    fn make(port: Option<u16>) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let owned = Command::new("chown")
            .arg("postgres")
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        let server = Server {
            folder,
            bin: bin(),
            as_user: owned.is_ok_and(|status| status.success()),
            count: AtomicU32::new(0),
            port,
        };
        if port.is_some() {
            server.certify();
        }
        let data = server.data();
        let data = data.to_str().unwrap();
        let init = [
            "initdb",
            "-D",
            data,
            "-A",
            "trust",
            "-U",
            "owner",
            "--no-sync",
            "-E",
            "UTF8",
        ];
        server.run(&init);
        server.up();
        server
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let program = self.bin.join(program);
        match self.as_user {
            true => {
                let mut run = Command::new("setpriv");
                run.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
                run.arg(program);
                run
            }
            false => Command::new(program),
        }
    }

    fn run(&self, command: &[&str]) {
        let mut run = self.command(command[0]);
        run.args(&command[1..])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let status = run.status().unwrap();
        assert!(status.success(), "{command:?}: {status}");
    }

    pub fn up(&self) {
        let folder = self.folder.path().display();
        let reached = match self.port {
            None => "-c listen_addresses=".to_owned(),
            Some(port) => format!(
                "-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on -c ssl_cert_file={folder}/server.pem \
                 -c ssl_key_file={folder}/server.key"
            ),
        };
        let socket = format!("-k {folder} {reached} -c fsync=off -c max_connections=200");
        let data = self.data();
        let log = self.folder.path().join("log");
        let (data, log) = (data.to_str().unwrap(), log.to_str().unwrap());
        self.run(&[
            "pg_ctl", "start", "-w", "-D", data, "-l", log, "-o", &socket,
        ]);
    }

    pub fn down(&self) {
        let data = self.data();
        self.run(&[
            "pg_ctl",
            "stop",
            "-w",
            "-m",
            "immediate",
            "-D",
            data.to_str().unwrap(),
        ]);
    }

    fn psql(&self) -> Command {
        let mut run = Command::new(self.bin.join("psql"));
        run.arg("-h").arg(self.folder.path());
        if let Some(port) = self.port {
            run.args(["-p", &port.to_string()]);
        }
        run
    }

    /// A fresh database, owned by someone who is no superuser: row-level security would not bind one.
    pub fn database(&self) -> Database {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let socket = self.folder.path().to_str().unwrap();
        if number == 0 {
            self.sql("postgres", "CREATE ROLE lath LOGIN CREATEROLE");
        }
        self.sql("postgres", &format!("CREATE DATABASE d{number} OWNER lath"));
        Database::Postgres(format!(
            "postgres://lath@{}/d{number}",
            socket.replace('/', "%2F")
        ))
    }

    /// Runs SQL as the server's own superuser; the answer as text.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let out = self
            .psql()
            .args([
                "-U",
                "owner",
                "-d",
                database,
                "-v",
                "ON_ERROR_STOP=1",
                "-Atc",
                sql,
            ])
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{sql}: {error}");
        String::from_utf8(out.stdout).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.data();
        let mut stop = self.command("pg_ctl");
        stop.args(["stop", "-m", "immediate", "-D"]).arg(data);
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

pub fn files(version: &str, schema: &Value) -> Value {
    let manifest = format!(
        "name: app\nversion: \"{version}\"\noverlayTemplates:\n- {{key: t, scope: tenant, schema: s.json}}\n\
         toolRefs:\n- {{key: search, required: false}}\nentries:\n- {{key: home, kind: page}}\n"
    );
    json!({"files": {"app.yaml": manifest, "s.json": schema.to_string()}})
}

/// Two versions: the second has no `old`, and `phrases` want a review.
pub fn schema(version: u32) -> Value {
    let mut properties = json!({
        "size": {"type": "integer", "default": 10},
        "tone": {"type": "string", "default": "plain"},
        "token": {"x-overlay": {"secret": true}},
        "phrases": {"type": "array", "default": [], "x-overlay": {"merge": "union", "review": true}},
    });
    if version == 1 {
        properties["old"] = json!({"type": "string", "default": "o"});
    }
    json!({"properties": properties})
}

pub const PEOPLE: [(&str, &str, &str, &str, &str); 7] = [
    ("boss", "tenant-admin", "t1", "", ""),
    ("lead", "workspace-admin", "t1", "w1", ""),
    ("mate", "workspace-admin", "t1", "w1", ""),
    ("ada", "user", "t1", "w1", "ada"),
    ("other", "tenant-admin", "t2", "", ""),
    ("eve", "user", "t2", "w1", "ada"),
    ("sam", "support", "t1", "", ""),
];

/// Tenants `t1` and `t2` with version 1 installed; everybody's token by name.
pub fn furnish(node: &Node) -> std::collections::BTreeMap<String, String> {
    let mut admin = node.admin();
    for version in [1, 2] {
        let files = files(&version.to_string(), &schema(version));
        admin.post("/v1/packages", &files).ok(201);
    }
    for tenant in ["t1", "t2"] {
        admin
            .put(&format!("/v1/tenants/{tenant}"), &json!({}))
            .ok(201);
        let path = format!("{APP}/upgrade?tenant={tenant}");
        admin.post(&path, &json!({"to": "1"})).ok(200);
    }
    PEOPLE
        .iter()
        .map(|(name, role, tenant, workspace, user)| {
            let body = json!({"name": name, "role": role, "tenant": tenant, "workspace": workspace, "user": user});
            let made = admin.post("/v1/tokens", &body).ok(201);
            ((*name).to_owned(), made["token"].as_str().unwrap().to_owned())
        })
        .collect()
}
