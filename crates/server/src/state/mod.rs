//! What a node holds: the store, the host and every tenant in memory, and whether the database is there.
//!
//! Reads are answered from memory. A write is decided on memory and committed only if the tenant has not moved since;
//! if it has, memory is brought up to date and the write decided again. So memory may be behind without
//! ever being wrong about what is stored.

pub mod bodies;
pub mod host;
mod refusals;
pub mod rows;
pub mod tenant;
mod transact;

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use apps::bundle::FingerprintKey;
use apps::instant::Instant;
use apps::secrets::Scanner;
use hashbrown::HashMap;
use hyper::header::HeaderValue;
use rustc_hash::FxBuildHasher;
use tokio::sync::watch;

use crate::http::Problem;
use crate::limits::{Limits, Rates};
use crate::metrics::Metrics;
use crate::oidc::Oidc;
use crate::store::{ALL, Failure, Row, SOME, Store, View};
use host::Host;
use refusals::Refusals;
use rows::Span;
use tenant::{Inner, Tenant};

pub use transact::{Apply, Plan};

type Tenants = HashMap<String, Arc<Tenant>, FxBuildHasher>;

pub struct State {
    pub store: Store,
    pub scanner: Arc<Scanner>,
    pub metrics: Metrics,
    pub fingerprints: FingerprintKey,
    pub oidc: Option<Oidc>,
    pub limits: Limits,
    refusals: Refusals,
    host: RwLock<Arc<Host>>,
    tenants: RwLock<Tenants>,
    /// Writes about the host itself, one at a time.
    host_turn: tokio::sync::Mutex<()>,
    /// Reads of the host, one at a time: a slow one must not undo what was read after it.
    host_read: tokio::sync::Mutex<()>,
    /// Since when the database is lost, in seconds; 0 while it is there.
    lost: AtomicI64,
    /// Whether changes of other nodes are heard of.
    listening: AtomicBool,
    /// Told when the node ends, for answers that would not.
    pub ending: watch::Sender<bool>,
    requests: AtomicU64,
    node: String,
    /// Bytes of answers kept.
    kept: Arc<AtomicUsize>,
}

pub fn now() -> Instant {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.unwrap_or_default().as_secs();
    Instant(i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// How often a lost database is tried again.
const RETRY: Duration = Duration::from_millis(250);

/// How many tenants are read at once.
const TOGETHER: usize = 200;
/// How often counted refusals are looked at.
const ROUND: Duration = Duration::from_secs(5);

/// Waits for tenants that are compiled.
async fn settled(compiling: Option<tokio::task::JoinHandle<()>>) -> Result<(), Failure> {
    match compiling {
        Some(task) => task.await.map_err(|e| Failure::Lost(e.to_string())),
        None => Ok(()),
    }
}

impl State {
    /// Reads everything there is.
    pub async fn load(
        store: Store,
        oidc: Option<Oidc>,
        rates: Rates,
    ) -> Result<Arc<State>, String> {
        let told = |failure: Failure| match failure {
            Failure::Lost(why) => format!("cannot read the database: {why}"),
            Failure::Moved => "the database changes too fast to be read".to_owned(),
        };
        let random = |e: std::io::Error| format!("no random numbers: {e}");
        let node = crate::audit::hex(&crate::identity::random::<4>().map_err(random)?);
        let key = crate::identity::random::<32>().map_err(random)?;
        let host = Host::load(&store, &Host::default()).await.map_err(told)?;
        let state = Arc::new(State {
            store,
            scanner: Arc::new(Scanner::new()),
            metrics: Metrics::default(),
            fingerprints: FingerprintKey::new(key),
            oidc,
            limits: Limits::new(rates),
            refusals: Refusals::default(),
            ending: watch::Sender::new(false),
            host: RwLock::new(Arc::new(host)),
            tenants: RwLock::default(),
            host_turn: tokio::sync::Mutex::new(()),
            host_read: tokio::sync::Mutex::new(()),
            lost: AtomicI64::new(0),
            listening: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            node,
            kept: Arc::default(),
        });
        state.reload_all().await.map_err(told)?;
        Ok(state)
    }

    pub fn host(&self) -> Arc<Host> {
        Arc::clone(&self.host.read().expect("nothing panics under the lock"))
    }

    /// Reads the host without holding on to it.
    pub fn with_host<T>(&self, read: impl FnOnce(&Host) -> T) -> T {
        read(&self.host.read().expect("nothing panics under the lock"))
    }

    /// A request's id: the node's, and a number.
    pub fn next_request(&self) -> HeaderValue {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let mut id = [0; 32];
        let mut rest = id.as_mut_slice();
        let _ = write!(rest, "{}-{number:x}", self.node);
        let left = rest.len();
        let id = id.get(..id.len() - left).unwrap_or_default();
        HeaderValue::from_bytes(id).unwrap_or(HeaderValue::from_static("-"))
    }

    /// Ends what would go on: streams, and refusals that wait to be recorded.
    pub async fn end(&self) {
        self.record_held(true).await;
    }

    /// Since when the database is lost.
    pub fn stale_since(&self) -> Option<Instant> {
        let since = self.lost.load(Ordering::Relaxed);
        (since != 0).then_some(Instant(since))
    }

    /// Notes what a failure says about the database.
    pub fn note<T>(&self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        match &outcome {
            Err(Failure::Lost(_)) => {
                let now = now().0.max(1);
                let _ = self
                    .lost
                    .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
            }
            Ok(_) | Err(Failure::Moved) => {}
        }
        outcome
    }

    pub async fn query(
        &self,
        view: View<'_>,
        sql: &'static str,
        cells: Vec<crate::store::Cell>,
    ) -> Result<Vec<Row>, Problem> {
        let rows = self.store.query(view, sql, cells).await;
        Ok(self.note(rows)?)
    }

    /// A tenant, with what the host says up to date.
    pub fn tenant(&self, name: &str) -> Result<Arc<Tenant>, Problem> {
        let tenant = {
            let tenants = self.tenants.read().expect("nothing panics under the lock");
            tenants.get(name).map(Arc::clone)
        };
        let tenant = tenant.ok_or_else(|| Problem::missing("there is no such tenant"))?;
        let host = self.host.read().expect("nothing panics under the lock");
        if tenant.read().is_behind(&host) {
            tenant.change(|inner| inner.follow(&host));
        }
        drop(host);
        Ok(tenant)
    }

    pub fn tenant_names(&self) -> Vec<String> {
        let tenants = self.tenants.read().expect("nothing panics under the lock");
        let mut names: Vec<String> = tenants.keys().cloned().collect();
        names.sort();
        names
    }

    pub async fn reload_host(&self) -> Result<(), Failure> {
        let _reading = self.host_read.lock().await;
        let known = self.host();
        let host = self.note(Host::load(&self.store, &known).await)?;
        *self.host.write().expect("nothing panics under the lock") = Arc::new(host);
        Ok(())
    }

    /// Reads a tenant anew, or for the first time.
    pub async fn reload(&self, name: &str) -> Result<(), Failure> {
        let host = self.host();
        let inner = Inner::load(&self.store, name, &host, &self.scanner, None).await;
        if let Some(inner) = self.note(inner)? {
            self.place(inner);
        }
        Ok(())
    }

    /// Puts a tenant that was read where it belongs.
    fn place(&self, inner: Inner) {
        let name = inner.name.as_str();
        let known = {
            let tenants = self.tenants.read().expect("nothing panics under the lock");
            tenants.get(name).map(Arc::clone)
        };
        match known {
            Some(tenant) => tenant.change(|known| {
                // A slow read must not undo what was read after it.
                if (inner.revision, inner.audit.seq) >= (known.revision, known.audit.seq) {
                    *known = inner;
                }
            }),
            None => {
                let name = name.to_owned();
                let tenant = Arc::new(Tenant::new(inner, &self.kept));
                let mut tenants = self.tenants.write().expect("nothing panics under the lock");
                tenants.entry(name).or_insert(tenant);
            }
        }
    }

    /// Everything that is not as it is stored.
    pub async fn reload_all(self: &Arc<State>) -> Result<(), Failure> {
        self.reload_host().await?;
        let sql =
            "SELECT tenant, revision, audit_seq FROM tenants WHERE tenant <> '' ORDER BY tenant";
        let rows = self.store.query(View::All, sql, Vec::new()).await;
        let all = self
            .note(rows)?
            .into_iter()
            .map(|mut row| (row.text(), (row.int(), row.int())));
        let all: Vec<(String, (i64, i64))> = all.collect();
        let host = self.host();
        // While some are compiled, the next are read.
        let mut compiling = None;
        for part in all.chunks(TOGETHER) {
            let behind = part
                .iter()
                .filter(|(name, stored)| !self.knows(name, *stored));
            let behind: Vec<&str> = behind.map(|(name, _)| name.as_str()).collect();
            let (Some(first), Some(last)) = (behind.first(), behind.last()) else {
                continue;
            };
            let stored = self.note(rows::read(&self.store, Span::of(first, last)).await)?;
            settled(compiling.take()).await?;
            let (state, host) = (Arc::clone(self), Arc::clone(&host));
            compiling = Some(tokio::task::spawn_blocking(move || {
                for stored in stored {
                    state.place(Inner::new(stored, &host, &state.scanner, None));
                }
            }));
        }
        settled(compiling).await
    }

    /// What another node, or this one, has changed.
    async fn heard(self: &Arc<State>, name: &str) -> Result<(), Failure> {
        match name {
            ALL => self.reload_all().await,
            SOME => match self.is_behind().await? {
                true => self.reload_all().await,
                false => Ok(()),
            },
            "" => self.reload_host().await,
            name => {
                let sql = "SELECT revision, audit_seq FROM tenants WHERE tenant = $1";
                let rows = self.store.query(View::Tenant(name), sql, vec![name.into()]);
                let rows = self.note(rows.await)?;
                let stored = rows.into_iter().next();
                let stored = stored.map(|mut row| (row.int(), row.int()));
                // Our own commits are told to us as well.
                match stored.is_some_and(|stored| self.knows(name, stored)) {
                    true => Ok(()),
                    false => self.reload(name).await,
                }
            }
        }
    }

    /// Whether the host or any tenant has moved.
    async fn is_behind(&self) -> Result<bool, Failure> {
        let sql = "SELECT tenant, revision, audit_seq FROM tenants";
        let rows = self.store.query(View::All, sql, Vec::new()).await;
        let mut rows = self.note(rows)?.into_iter();
        let host = self.host();
        let known = (host.revision, host.chain().map_or(0, |head| head.seq));
        Ok(rows.any(|mut row| {
            let (name, stored) = (row.text(), (row.int(), row.int()));
            match name.as_str() {
                "" => stored > known,
                name => !self.knows(name, stored),
            }
        }))
    }

    /// Whether memory holds a tenant as of this revision and audit record, or later.
    fn knows(&self, name: &str, stored: (i64, i64)) -> bool {
        let tenants = self.tenants.read().expect("nothing panics under the lock");
        tenants.get(name).is_some_and(|tenant| {
            let inner = tenant.read();
            (inner.revision, inner.audit.seq) >= stored
        })
    }

    /// Follows other nodes and finds a lost database again. Runs as long as the node does.
    pub async fn follow(self: Arc<State>) {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel::<String>();
        let listener = Arc::clone(&self);
        let listening = async move {
            loop {
                let heard = |name| {
                    listener.listening.store(true, Ordering::Relaxed);
                    drop(tell.send(name));
                };
                let ended = listener.store.listen(heard).await;
                listener.listening.store(false, Ordering::Relaxed);
                // A connection that ends is a loss too: until it is back, changes are not heard of.
                let lost = ended.and(Err::<(), _>(Failure::Lost("not listening".to_owned())));
                let _ = listener.note(lost);
                tokio::time::sleep(RETRY).await;
            }
        };
        let reloading = async {
            while let Some(first) = told.recv().await {
                let mut names = vec![first];
                while let Ok(name) = told.try_recv() {
                    names.push(name);
                }
                names.sort();
                names.dedup();
                for name in names {
                    let _ = self.heard(&name).await;
                }
            }
        };
        let probing = async {
            loop {
                tokio::time::sleep(RETRY).await;
                let stale = self.stale_since().is_some() && self.listening.load(Ordering::Relaxed);
                if stale && self.reload_all().await.is_ok() {
                    self.lost.store(0, Ordering::Relaxed);
                }
            }
        };
        let recording = async {
            loop {
                tokio::time::sleep(ROUND).await;
                self.record_held(false).await;
            }
        };
        tokio::join!(listening, reloading, probing, recording);
    }
}
