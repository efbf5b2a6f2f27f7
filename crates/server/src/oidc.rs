//! OIDC bearer tokens: signature, issuer, audience and times checked; role and scope from claims.
//!
//! Keys come from a JWKS file that an operator keeps current (a sidecar or a timer fetches it); it is read again when a
//! token names a key that is not known. Only asymmetric algorithms are taken: a public key never becomes a
//! shared secret. Claims: `sub` is the name, `lath_role`, `lath_tenant`, `lath_workspace`, `lath_user` the rest.

use std::path::{Path, PathBuf};
use std::sync::RwLock;

use apps::instant::Instant;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;

use crate::http::is_name;
use crate::identity::{Identity, Role};

const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::ES256,
    Algorithm::EdDSA,
];

pub struct Oidc {
    issuer: String,
    audience: String,
    file: PathBuf,
    keys: RwLock<JwkSet>,
    /// When the file was read last: a flood of unknown keys must not become a flood of reads.
    read: RwLock<Instant>,
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

fn read(file: &Path) -> Result<JwkSet, String> {
    let told = |why: String| format!("cannot use {}: {why}", file.display());
    let text = std::fs::read_to_string(file).map_err(|e| told(e.to_string()))?;
    serde_json::from_str(&text).map_err(|e| told(e.to_string()))
}

impl Oidc {
    pub fn open(issuer: String, audience: String, file: PathBuf) -> Result<Oidc, String> {
        let keys = RwLock::new(read(&file)?);
        let read = RwLock::new(Instant(0));
        Ok(Oidc {
            issuer,
            audience,
            file,
            keys,
            read,
        })
    }

    /// Whose token it is, if it is good.
    pub fn identify(&self, token: &str, now: Instant) -> Option<Identity> {
        let header = decode_header(token).ok()?;
        let kid = header.kid?;
        if !ALGORITHMS.contains(&header.alg) {
            return None;
        }
        let key = self.key(&kid, now)?;
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

    fn key(&self, kid: &str, now: Instant) -> Option<DecodingKey> {
        let known = |keys: &JwkSet| {
            let jwk = keys.find(kid)?;
            DecodingKey::from_jwk(jwk).ok()
        };
        {
            let keys = self.keys.read().ok()?;
            if let Some(key) = known(&keys) {
                return Some(key);
            }
        }
        {
            let mut last = self.read.write().ok()?;
            if now.0 < last.0 + 10 {
                return None;
            }
            *last = now;
        }
        let fresh = read(&self.file).ok()?;
        let key = known(&fresh);
        *self.keys.write().ok()? = fresh;
        key
    }
}
