//! Tokens of an OIDC issuer: good ones, and every way in which one can be bad.

use std::time::{SystemTime, UNIX_EPOCH};

use ed25519_compact::{KeyPair, Seed};
use serde_json::{Value, json};
use server::oidc::Oidc;
use server::store::Store;

use crate::world::{APP, Node, furnish};

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

#[test]
fn only_tokens_of_the_issuer_for_us_and_in_time_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("jwks.json");
    std::fs::write(&keys, json!({"keys": [jwk(1)]}).to_string()).unwrap();
    let oidc = Oidc::open("https://id.example".into(), "lath".into(), keys.clone()).unwrap();
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
