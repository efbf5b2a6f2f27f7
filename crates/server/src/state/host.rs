//! What belongs to the host: packages, defaults, rules, environment, tokens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use apps::Package;
use apps::instant::Instant;
use apps::snapshot::Environment;
use apps::value::Value;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::rows::{self, Policy, Span};
use crate::audit;
use crate::documents;
use crate::identity::{Identity, Role, TokenHash};
use crate::store::{Failure, Store, View};

#[derive(Clone, Debug)]
pub struct Token {
    pub id: String,
    pub identity: Arc<Identity>,
    pub expires: Option<Instant>,
    pub created: String,
    pub created_by: String,
}

#[derive(Clone, Debug)]
pub struct Uploaded {
    pub package: Arc<Package>,
    pub actor: String,
    pub time: String,
}

#[derive(Debug, Default)]
pub struct Host {
    pub revision: i64,
    /// The end of the audit chain. It alone moves by a record without a write.
    audit: Mutex<Option<audit::Head>>,
    /// By app and version.
    pub packages: BTreeMap<(String, String), Uploaded>,
    /// App (empty: all), name, JSON.
    pub defaults: Vec<(String, String, String)>,
    pub policies: Vec<Policy>,
    pub environment: Option<Environment>,
    pub environment_text: String,
    /// By the token's hash.
    pub tokens: HashMap<TokenHash, Token, FxBuildHasher>,
}

impl Host {
    pub fn chain(&self) -> Option<audit::Head> {
        let audit = self.audit.lock().expect("nothing panics under the lock");
        audit.clone()
    }

    pub fn set_chain(&self, head: audit::Head) {
        let mut audit = self.audit.lock().expect("nothing panics under the lock");
        *audit = Some(head);
    }

    pub fn package(&self, app: &str, version: &str) -> Option<&Arc<Package>> {
        let key = (app.to_owned(), version.to_owned());
        self.packages.get(&key).map(|uploaded| &uploaded.package)
    }

    pub fn versions(&self, app: &str) -> impl Iterator<Item = &str> {
        let of_app = self.packages.keys().filter(move |(name, _)| name == app);
        of_app.map(|(_, version)| version.as_str())
    }

    /// Host defaults for an app: those for all apps, then its own.
    pub fn defaults_of(&self, app: &str) -> Vec<(String, String)> {
        let ours = self.defaults.iter();
        let ours = ours.filter(|(of, _, _)| of.is_empty() || of == app);
        ours.map(|(_, name, json)| (name.clone(), json.clone()))
            .collect()
    }

    /// Reads everything; packages that are known are not read again.
    pub async fn load(store: &Store, known: &Host) -> Result<Host, Failure> {
        let sql = "SELECT revision, audit_seq, audit_hash FROM tenants WHERE tenant = $1";
        let rows = store.query(View::Tenant(""), sql, vec!["".into()]).await?;
        let mut host = Host::default();
        if let Some(mut row) = rows.into_iter().next() {
            host.revision = row.int();
            let (seq, hash) = (row.int(), row.text());
            host.set_chain(audit::Head { seq, hash });
        }
        host.packages = packages(store, known).await?;
        let own = Span::one("");
        let entries = rows::entries(store, own).await?.into_iter();
        host.defaults = entries.map(|(_, e)| (e.app, e.key, e.value)).collect();
        let policies = rows::policies(store, own).await?.into_iter();
        host.policies = policies.map(|(_, policy)| policy).collect();
        let sql = "SELECT document FROM environments WHERE tenant = $1";
        let rows = store.query(View::Tenant(""), sql, vec!["".into()]).await?;
        if let Some(mut row) = rows.into_iter().next() {
            host.environment_text = row.text();
            let fields = Value::parse_json(&host.environment_text).unwrap_or(Value::Null);
            host.environment = documents::environment(&fields).ok();
        }
        host.tokens = tokens(store).await?;
        Ok(host)
    }
}

async fn packages(
    store: &Store,
    known: &Host,
) -> Result<BTreeMap<(String, String), Uploaded>, Failure> {
    let sql = "SELECT app, version, hash, actor, time FROM packages ORDER BY app, version";
    let mut all = BTreeMap::new();
    for mut row in store.query(View::Tenant(""), sql, Vec::new()).await? {
        let (app, version, hash) = (row.text(), row.text(), row.text());
        let (actor, time) = (row.text(), row.text());
        let same = known.package(&app, &version).filter(|p| p.hash == hash);
        let package = match same {
            Some(package) => Some(Arc::clone(package)),
            None => {
                let sql = "SELECT files FROM packages WHERE app = $1 AND version = $2";
                let cells = vec![app.as_str().into(), version.as_str().into()];
                let rows = store.query(View::Tenant(""), sql, cells).await?;
                let text = rows.into_iter().next().map(|mut row| row.text());
                let files = text.and_then(|text| documents::files(&text));
                files.and_then(|files| documents::package(&files).ok().map(|(p, _)| p))
            }
        };
        if let Some(package) = package {
            let uploaded = Uploaded {
                package,
                actor,
                time,
            };
            all.insert((app, version), uploaded);
        }
    }
    Ok(all)
}

async fn tokens(store: &Store) -> Result<HashMap<TokenHash, Token, FxBuildHasher>, Failure> {
    let sql = "SELECT hash, id, tenant, workspace, member, role, name, expires, created, created_by FROM tokens";
    let mut all = HashMap::default();
    for mut row in store.query(View::All, sql, Vec::new()).await? {
        let (hash, id) = (row.text(), row.text());
        let (tenant, workspace, user) = (row.text(), row.text(), row.text());
        let (role, hash) = (Role::parse(&row.text()), unhex(&hash));
        let (Some(role), Some(hash)) = (role, hash) else {
            continue;
        };
        let name = row.text();
        let expires = row.maybe();
        // A time that does not read is in the past.
        let expires = expires.map(|text| Instant::parse(&text).unwrap_or(Instant(0)));
        let token = Token {
            id,
            identity: Arc::new(Identity {
                name,
                role,
                tenant,
                workspace,
                user,
            }),
            expires,
            created: row.text(),
            created_by: row.text(),
        };
        all.insert(hash, token);
    }
    Ok(all)
}

fn unhex(text: &str) -> Option<TokenHash> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut hash = TokenHash::default();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != hash.len() || !rest.is_empty() {
        return None;
    }
    for (byte, &[high, low]) in hash.iter_mut().zip(pairs) {
        *byte = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
    }
    Some(hash)
}
