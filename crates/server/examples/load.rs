//! What an HTTP answer costs: the rate of resolves as a ratio to a bare reply of the same size, taken in turns in one run,
//! with the generator on the same machine, one request at a time on each connection. `bench/serve` runs it.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a program for the developer's terminal"
)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use server::store::{Batch, Statement, Store};
use server::{Settings, start};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[path = "../../apps/examples/keys/mod.rs"]
mod keys;

const CONNECTIONS: usize = 32;
const ROUND: Duration = Duration::from_millis(700);
const ROUNDS: usize = 7;
const TOKEN: &str = "bench-token";

fn main() {
    let arguments: Vec<usize> = std::env::args()
        .skip(1)
        .map(|a| a.parse().unwrap())
        .collect();
    let tenants = arguments.first().copied().unwrap_or(10_000);
    let users = arguments.get(1).copied().unwrap_or(100);
    let folder = std::env::temp_dir().join(format!("lath-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(bench(&folder, tenants, users));
    drop(runtime);
    std::fs::remove_dir_all(&folder).unwrap();
}

fn package() -> String {
    let files: serde_json::Map<_, _> = keys::files()
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.into()))
        .collect();
    serde_json::json!({"files": files}).to_string()
}

async fn load(store: &Store, tenants: usize, users: usize) {
    for tenant in 0..tenants {
        let name = format!("t{tenant}");
        let mut statements = vec![
            Statement::new(
                "INSERT INTO tenants (tenant, revision, audit_seq, audit_hash, created) VALUES ($1, 1, 0, $2, '2026-11-16')",
                vec![name.as_str().into(), server::audit::ORIGIN.into()],
            ),
            Statement::new(
                "INSERT INTO installs (tenant, app, version, revision, actor, time) VALUES ($1, 'bench', '1.0.0', 1, 'b', '2026-11-16')",
                vec![name.as_str().into()],
            ),
        ];
        for user in 0..users {
            let member = format!("u{user}");
            // An integer.
            let key = keys::name((tenant + user) % 50 * 4 + 3);
            statements.push(Statement::new(
                "INSERT INTO entries (tenant, app, workspace, member, key, value, revision, actor, time, version) \
                 VALUES ($1, 'bench', 'w', $2, $3, '7', 1, 'b', '2026-11-16', '1.0.0')",
                vec![name.as_str().into(), member.as_str().into(), key.into()],
            ));
        }
        store
            .commit(Batch {
                tenant: name,
                statements,
            })
            .await
            .unwrap_or_else(|e| panic!("{e:?}"));
    }
}

async fn bench(folder: &std::path::Path, tenants: usize, users: usize) {
    let file = folder.join("lath.db");
    let settings = |store| Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        store,
        oidc: None,
        rates: server::limits::Rates::default(),
        admin_token: Some(TOKEN.to_owned()),
        demo: None,
    };
    let started = start(settings(Store::sqlite(&file).unwrap()))
        .await
        .unwrap();
    let (status, _) = send(started.serving.address, "POST", "/v1/packages", &package()).await;
    assert_eq!(status, 201);
    started.serving.end().await;
    let store = Store::sqlite(&file).unwrap();
    let clock = Instant::now();
    load(&store, tenants, users).await;
    println!(
        "{tenants} tenants of {users} users written in {:.1} s",
        clock.elapsed().as_secs_f64()
    );
    let (before, clock) = (resident(), Instant::now());
    let started = start(settings(store)).await.unwrap();
    let address = started.serving.address;
    println!(
        "loaded in {:.1} s, {} MB",
        clock.elapsed().as_secs_f64(),
        (resident() - before) / 1024
    );
    let scope = "tenant=t7&workspace=w&user=u7";
    let one = format!("/v1/apps/bench/resolve?{scope}&key=area3.setting_059");
    let all = format!("/v1/apps/bench/resolve?{scope}");
    for (what, path, goal) in [("one key", one, 0.6), ("200 keys", all, 0.4)] {
        let (status, body) = send(address, "GET", &path, "").await;
        assert_eq!(status, 200, "{body}");
        let bare = bare(body.len()).await;
        let (mut ours, mut theirs, mut slow) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            theirs.push(rate(bare, "/", &mut Vec::new()).await);
            ours.push(rate(address, &path, &mut slow).await);
        }
        let middle = |all: &mut Vec<f64>| {
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let mut ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a / b).collect();
        let ratio = middle(&mut ratios);
        slow.sort_unstable();
        let p99 = slow[slow.len() * 99 / 100];
        let verdict = if ratio >= goal { "holds" } else { "MISSED" };
        println!(
            "{what}, {} bytes: {:.0}/s, a bare reply {:.0}/s, ratio {ratio:.2}, goal {goal}: {verdict}; p99 {:.2} ms",
            body.len(),
            middle(&mut ours),
            middle(&mut theirs),
            p99.as_secs_f64() * 1e3
        );
    }
    seen(address, scope).await;
    started.serving.end().await;
}

/// How long a write takes to be seen by a read on another connection.
async fn seen(address: SocketAddr, scope: &str) {
    let mut slowest = Duration::ZERO;
    for n in 0..50 {
        let clock = Instant::now();
        let path = format!("/v1/apps/bench/keys/area3.setting_059?{scope}");
        let (status, body) = send(address, "PUT", &path, &format!("{{\"value\":{n}}}")).await;
        assert_eq!(status, 200, "{body}");
        let path = format!("/v1/apps/bench/resolve?{scope}&key=area3.setting_059");
        let (_, body) = send(address, "GET", &path, "").await;
        assert!(body.contains(&format!("\"value\":{n},")), "{body}");
        slowest = slowest.max(clock.elapsed());
    }
    let milliseconds = slowest.as_secs_f64() * 1e3;
    let verdict = if milliseconds < 50.0 {
        "holds"
    } else {
        "MISSED"
    };
    println!(
        "a write and the read that sees it, slowest of 50: {milliseconds:.1} ms, goal 50: {verdict}"
    );
}

/// A server that answers everything with so many bytes.
async fn bare(size: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let body = Bytes::from(vec![b'x'; size]);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let body = body.clone();
            stream.set_nodelay(true).unwrap();
            tokio::spawn(async move {
                let service = service_fn(move |_: Request<hyper::body::Incoming>| {
                    let body = body.clone();
                    async move { Ok::<_, Infallible>(Response::new(Full::new(body))) }
                });
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    address
}

fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Reads one answer; its status and where its body is in the buffer.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> (u16, std::ops::Range<usize>) {
    buffer.clear();
    loop {
        let read = stream.read_buf(buffer).await.unwrap();
        assert!(read > 0, "the connection ended");
        let Some(end) = buffer.windows(4).position(|w| w == b"\r\n\r\n") else {
            continue;
        };
        let head = std::str::from_utf8(&buffer[..end])
            .unwrap()
            .to_ascii_lowercase();
        let length: usize = head
            .split("content-length: ")
            .nth(1)
            .map_or(0, |t| t.split('\r').next().unwrap().parse().unwrap());
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = end + 4..end + 4 + length;
        while buffer.len() < body.end {
            assert!(stream.read_buf(buffer).await.unwrap() > 0);
        }
        return (status, body);
    }
}

async fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream
        .write_all(&request(method, path, body))
        .await
        .unwrap();
    let mut buffer = Vec::new();
    let (status, body) = answer(&mut stream, &mut buffer).await;
    (status, String::from_utf8(buffer[body].to_vec()).unwrap())
}

/// Answers a second.
async fn rate(address: SocketAddr, path: &str, times: &mut Vec<Duration>) -> f64 {
    let stop = Arc::new(AtomicBool::new(false));
    let text = Arc::new(request("GET", path, ""));
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (stop, text) = (Arc::clone(&stop), Arc::clone(&text));
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let mut buffer = Vec::with_capacity(1 << 17);
                let mut times = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let clock = Instant::now();
                    stream.write_all(&text).await.unwrap();
                    let (status, _) = answer(&mut stream, &mut buffer).await;
                    assert_eq!(status, 200);
                    times.push(clock.elapsed());
                }
                times
            })
        })
        .collect();
    let clock = Instant::now();
    tokio::time::sleep(ROUND).await;
    stop.store(true, Ordering::Relaxed);
    let mut count = 0;
    for task in tasks {
        let part = task.await.unwrap();
        count += part.len();
        times.extend(part);
    }
    count as f64 / clock.elapsed().as_secs_f64()
}

/// Kilobytes of memory in use.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}
