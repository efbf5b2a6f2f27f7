//! OIDC bearer tokens: signature, issuer, audience and times checked; role and scope from claims.
//!
//! Keys come from the issuer itself (its discovery document names them) or from a JWKS file that an operator keeps
//! current. They are read again when a token names a key that is not known, and from time to time, so that
//! keys come and go without a restart; if that fails, the last known ones serve. Only asymmetric algorithms are taken:
//! a public key never becomes a shared secret. Claims: `sub` is the name, `lath_role`, `lath_tenant`,
//! `lath_workspace`, `lath_user` the rest.

use std::path::PathBuf;
use std::sync::RwLock;

use apps::instant::Instant;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;

use crate::fetch::Fetch;
use crate::http::is_name;
use crate::identity::{Identity, Role};
use crate::state::now;

const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::ES256,
    Algorithm::EdDSA,
];

/// How many seconds lie between two reads at least: a flood of unknown keys must not become a flood of reads.
const PAUSE: i64 = 10;
/// After how many seconds keys are read again anyhow: one that its issuer withdrew is not taken for longer.
const AGE: i64 = 300;

pub struct Oidc {
    issuer: String,
    audience: String,
    source: Source,
    keys: RwLock<Keys>,
    /// Reads, one at a time.
    turn: tokio::sync::Mutex<()>,
}

enum Source {
    File(PathBuf),
    Issuer,
}

struct Keys {
    set: JwkSet,
    tried: Instant,
    read: Instant,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    lath_role: String,
    #[serde(default)]
    lath_tenant: String,
    #[serde(default)]
    lath_workspace: String,
    #[serde(default)]
    lath_user: String,
}

#[derive(Deserialize)]
struct Discovered {
    issuer: String,
    jwks_uri: String,
}

impl Oidc {
    fn new(issuer: String, audience: String, source: Source) -> Oidc {
        let keys = RwLock::new(Keys {
            set: JwkSet { keys: Vec::new() },
            tried: Instant(0),
            read: Instant(0),
        });
        Oidc {
            issuer,
            audience,
            source,
            keys,
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// With keys from a file, which must be there.
    pub async fn with_file(
        issuer: String,
        audience: String,
        file: PathBuf,
    ) -> Result<Oidc, String> {
        let oidc = Oidc::new(issuer, audience, Source::File(file));
        oidc.read(now()).await?;
        Ok(oidc)
    }

    /// With keys that the issuer tells. One that cannot be reached now is asked again when a token comes; the second part
    /// says so.
    pub async fn discover(issuer: String, audience: String) -> (Oidc, Result<(), String>) {
        let oidc = Oidc::new(issuer, audience, Source::Issuer);
        let read = oidc.read(Instant(0)).await;
        (oidc, read)
    }

    /// Whose token it is, if it is good.
    pub async fn identify(&self, token: &str, now: Instant) -> Option<Identity> {
        let header = decode_header(token).ok()?;
        let kid = header.kid?;
        if !ALGORITHMS.contains(&header.alg) {
            return None;
        }
        let key = self.key(&kid, now).await?;
        let mut validation = Validation::new(header.alg);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.validate_nbf = true;
        validation.leeway = 30;
        let claims = decode::<Claims>(token, &key, &validation).ok()?.claims;
        let names = [
            &claims.lath_tenant,
            &claims.lath_workspace,
            &claims.lath_user,
        ];
        let sound = names.iter().all(|name| name.is_empty() || is_name(name));
        let identity = Identity {
            name: claims.sub,
            role: Role::parse(&claims.lath_role)?,
            tenant: claims.lath_tenant,
            workspace: claims.lath_workspace,
            user: claims.lath_user,
        };
        (sound && !identity.name.is_empty() && identity.is_sound()).then_some(identity)
    }

    async fn key(&self, kid: &str, now: Instant) -> Option<DecodingKey> {
        let known = |keys: &Keys| {
            let jwk = keys.set.find(kid)?;
            DecodingKey::from_jwk(jwk).ok()
        };
        // Whether it is time to read: for an unknown key soon, for a known one some day.
        let due = |keys: &Keys| {
            let age = if known(keys).is_some() { AGE } else { PAUSE };
            now.0 >= keys.read.0 + age && now.0 >= keys.tried.0 + PAUSE
        };
        let (is_due, is_known) = {
            let keys = self.keys.read().ok()?;
            (due(&keys), known(&keys).is_some())
        };
        let turn = match is_known {
            // Who can go on does not wait for an issuer that takes its time.
            true => self.turn.try_lock().ok(),
            false => Some(self.turn.lock().await),
        };
        if is_due && turn.is_some() {
            // Somebody else may have read while we waited.
            let is_due = due(&*self.keys.read().ok()?);
            if is_due {
                let _ = self.read(now).await;
            }
        }
        known(&*self.keys.read().ok()?)
    }

    async fn read(&self, now: Instant) -> Result<(), String> {
        if let Ok(mut keys) = self.keys.write() {
            keys.tried = now;
        }
        let set = match &self.source {
            Source::File(file) => {
                let told = |why: String| format!("cannot use {}: {why}", file.display());
                let text = std::fs::read(file).map_err(|e| told(e.to_string()))?;
                serde_json::from_slice(&text).map_err(|e| told(e.to_string()))?
            }
            Source::Issuer => self.fetch().await?,
        };
        if let Ok(mut keys) = self.keys.write() {
            keys.set = set;
            keys.read = now;
        }
        Ok(())
    }

    async fn fetch(&self) -> Result<JwkSet, String> {
        let base = self.issuer.trim_end_matches('/');
        let url = format!("{base}/.well-known/openid-configuration");
        let found: Discovered = document(&url).await?;
        if found.issuer != self.issuer {
            let other = found.issuer;
            return Err(format!("{url} is of another issuer, `{other}`"));
        }
        document(&found.jwks_uri).await
    }
}

async fn document<T: serde::de::DeserializeOwned>(url: &str) -> Result<T, String> {
    match Fetch::get(url).send().await? {
        (200, body) => serde_json::from_slice(&body).map_err(|e| format!("cannot use {url}: {e}")),
        (status, _) => Err(format!("{url} answers {status}")),
    }
}
