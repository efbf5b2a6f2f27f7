//! Tokens of an OIDC issuer: good ones, and every way in which one can be bad.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use apps::instant::Instant;
use ed25519_compact::{KeyPair, Seed};
use serde_json::{Value, json};
use server::oidc::Oidc;
use server::store::Store;

use crate::world::{self, APP, Node, furnish};

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for part in bytes.chunks(3) {
        let number =
            part.iter().fold(0_u32, |n, &b| n << 8 | u32::from(b)) << (8 * (3 - part.len()));
        for at in 0..=part.len() {
            out.push(DIGITS[(number >> (18 - 6 * at)) as usize & 63] as char);
        }
    }
    out
}

fn key(seed: u8) -> KeyPair {
    KeyPair::from_seed(Seed::new([seed; 32]))
}

fn jwk(seed: u8) -> Value {
    json!({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": format!("k{seed}"), "x": base64(&*key(seed).pk)})
}

fn token(header: &Value, claims: &Value, seed: u8) -> String {
    let text = format!(
        "{}.{}",
        base64(header.to_string().as_bytes()),
        base64(claims.to_string().as_bytes())
    );
    format!(
        "{text}.{}",
        base64(&*key(seed).sk.sign(text.as_bytes(), None))
    )
}

/// An issuer on this machine: its discovery document, and whichever keys it has now.
struct Issuer {
    url: String,
    keys: Arc<Mutex<Value>>,
    asked: Arc<AtomicU32>,
}

impl Issuer {
    /// `named` is the issuer that its document names, if it is not itself.
    fn start(named: Option<&str>) -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(json!({"keys": []})));
        let asked = Arc::new(AtomicU32::new(0));
        let document = json!({"issuer": named.unwrap_or(&url), "jwks_uri": format!("{url}/keys")});
        let (known, count) = (Arc::clone(&keys), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap() > 0 {}
                let body = match head.contains("/.well-known/openid-configuration ") {
                    true => document.to_string(),
                    false => {
                        count.fetch_add(1, Ordering::Relaxed);
                        known.lock().unwrap().to_string()
                    }
                };
                let length = body.len();
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        Issuer { url, keys, asked }
    }

    fn has(&self, seeds: &[u8]) {
        let keys: Vec<Value> = seeds.iter().map(|&seed| jwk(seed)).collect();
        *self.keys.lock().unwrap() = json!({"keys": keys});
    }

    fn token(&self, seed: u8) -> String {
        let header = json!({"alg": "EdDSA", "kid": format!("k{seed}")});
        let claims = json!({"iss": self.url, "aud": "lath", "exp": now().0 + 6_000, "sub": "grace",
            "lath_role": "user", "lath_tenant": "t1", "lath_workspace": "w1", "lath_user": "grace"});
        token(&header, &claims, seed)
    }
}

fn now() -> Instant {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Instant(now.as_secs().try_into().unwrap())
}

/// The clock is told, so that nothing waits.
#[test]
fn an_issuers_keys_are_found_and_come_and_go() {
    let issuer = Issuer::start(None);
    issuer.has(&[1]);
    let (oidc, found) = world::wait(Oidc::discover(issuer.url.clone(), "lath".into()));
    assert_eq!(found, Ok(()));
    let start = now().0;
    let takes = |seed: u8, after: i64| {
        let token = issuer.token(seed);
        world::wait(oidc.identify(&token, Instant(start + after))).is_some()
    };
    assert!(takes(1, 0));
    // A new key is found when a token names it; the old one is taken until the issuer withdraws it.
    issuer.has(&[1, 2]);
    assert!(takes(2, 20) && takes(1, 20));
    issuer.has(&[2]);
    assert!(takes(2, 40));
    assert!(!takes(1, 20 + 300), "withdrawn keys are forgotten in time");
    assert!(takes(2, 321));
    // Nobody makes the node ask all the time.
    let before = issuer.asked.load(Ordering::Relaxed);
    for _ in 0..20 {
        assert!(!takes(9, 400));
    }
    assert_eq!(issuer.asked.load(Ordering::Relaxed), before + 1);
    // An issuer that answers nonsense takes nothing away.
    *issuer.keys.lock().unwrap() = json!("nonsense");
    assert!(takes(2, 5_000));
    // A node serves with it.
    issuer.has(&[3]);
    let (oidc, _) = world::wait(Oidc::discover(issuer.url.clone(), "lath".into()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lath.db");
    let node = Node::start(async move { Store::sqlite(&path) }, Some(oidc));
    furnish(&node);
    let me = node.client(&issuer.token(3)).get("/v1/me").ok(200);
    assert_eq!(me["name"], "grace");
    node.client(&issuer.token(4)).get("/v1/me").ok(401);
}

#[test]
fn an_issuer_that_is_none_is_said() {
    let told = |issuer: &str| {
        let found = world::wait(Oidc::discover(issuer.to_owned(), "lath".into()));
        found.1.unwrap_err()
    };
    let other = Issuer::start(Some("https://id.example"));
    assert!(told(&other.url).contains("is of another issuer, `https://id.example`"));
    assert!(told("http://id.example").contains("plain http is for this machine only"));
    assert!(told("nonsense").contains("cannot reach"));
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    assert!(told(&format!("http://{gone}")).contains("cannot reach"));
}

#[test]
fn only_tokens_of_the_issuer_for_us_and_in_time_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("jwks.json");
    std::fs::write(&keys, json!({"keys": [jwk(1)]}).to_string()).unwrap();
    let oidc = Oidc::with_file("https://id.example".into(), "lath".into(), keys.clone());
    let oidc = world::wait(oidc).unwrap();
    let path = folder.path().join("lath.db");
    let node = Node::start(async move { Store::sqlite(&path) }, Some(oidc));
    furnish(&node);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let header = json!({"alg": "EdDSA", "typ": "JWT", "kid": "k1"});
    let good = json!({"iss": "https://id.example", "aud": "lath", "exp": now + 600, "sub": "grace",
        "lath_role": "user", "lath_tenant": "t1", "lath_workspace": "w1", "lath_user": "grace"});
    let status = |token: &str| node.client(token).get("/v1/me").status;
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        token(&header, &claims, 1)
    };
    let mut grace = node.client(&token(&header, &good, 1));
    assert_eq!(grace.get("/v1/me").ok(200)["name"], "grace");
    let mine = "tenant=t1&workspace=w1&user=grace";
    grace
        .put(&format!("{APP}/keys/size?{mine}"), &json!({"value": 3}))
        .ok(200);
    grace.get(&format!("{APP}/resolve?tenant=t1")).ok(403);
    grace
        .get(&format!("{APP}/resolve?tenant=t2&workspace=w1&user=grace"))
        .ok(403);
    for (what, bad) in [
        ("expired", with("exp", json!(now - 600))),
        ("not yet", with("nbf", json!(now + 600))),
        ("another audience", with("aud", json!("elsewhere"))),
        ("another issuer", with("iss", json!("https://evil.example"))),
        ("an unknown role", with("lath_role", json!("root"))),
        ("a role without its scope", with("lath_user", json!(""))),
        (
            "a name that is none",
            with("lath_tenant", json!("t1' OR 1=1")),
        ),
        ("no subject", with("sub", json!(""))),
        ("signed by another key", token(&header, &good, 9)),
        (
            "an unknown key",
            token(&json!({"alg": "EdDSA", "kid": "k9"}), &good, 9),
        ),
        (
            "no algorithm",
            token(&json!({"alg": "none", "kid": "k1"}), &good, 1),
        ),
        (
            "a shared secret",
            token(&json!({"alg": "HS256", "kid": "k1"}), &good, 1),
        ),
        ("no key named", token(&json!({"alg": "EdDSA"}), &good, 1)),
        (
            "cut",
            token(&header, &good, 1)
                .trim_end_matches(|c| c != '.')
                .to_owned(),
        ),
        ("nonsense", "a.b.c".to_owned()),
    ] {
        assert_eq!(status(&bad), 401, "{what}");
    }
    let mut changed = token(&header, &good, 1)
        .split('.')
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let mut admin = good.clone();
    admin["lath_role"] = json!("host-admin");
    changed[1] = base64(admin.to_string().as_bytes());
    assert_eq!(
        status(&changed.join(".")),
        401,
        "claims changed after signing"
    );
}
