//! One tenant in memory: for each installed app a compiled snapshot, and the answers made from it.
//!
//! Rebuilt from rows when another node changed them; an overlay write of this node is put in its place. What the
//! host says is brought up to date when the tenant is next asked for.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, RwLock};

use apps::layer::{Authority, Layer, Scope};
use apps::secrets::Scanner;
use apps::{Package, Snapshot};
use hashbrown::HashMap;
use tokio::sync::watch;

use super::bodies::Bodies;
use super::host::Host;
use super::rows::{self, Head, Policy, Review, Span, Stored};
use crate::audit;
use crate::documents;
use crate::store::{Failure, Store};

pub struct Installed {
    pub version: String,
    pub snapshot: Snapshot,
    /// Who wrote each overlay last.
    pub heads: HashMap<Scope, Head>,
}

pub struct Inner {
    pub name: String,
    pub revision: i64,
    pub audit: audit::Head,
    pub host_revision: i64,
    pub apps: BTreeMap<String, Installed>,
    pub policies: Vec<Policy>,
    pub reviews: Vec<Review>,
}

pub struct Tenant {
    pub name: String,
    /// One writer at a time on this node; others would only find that it moved.
    pub turn: tokio::sync::Mutex<()>,
    pub inner: RwLock<Inner>,
    pub bodies: Mutex<Bodies>,
    /// The revision, for those who wait for the next.
    pub changed: watch::Sender<i64>,
}

impl Tenant {
    /// `kept` counts the bytes of answers that all tenants keep.
    pub fn new(inner: Inner, kept: &Arc<AtomicUsize>) -> Tenant {
        Tenant {
            name: inner.name.clone(),
            turn: tokio::sync::Mutex::new(()),
            changed: watch::Sender::new(inner.revision),
            inner: RwLock::new(inner),
            bodies: Mutex::new(Bodies::new(kept)),
        }
    }

    /// Changes what is in memory, and forgets the answers made from it.
    pub fn change(&self, change: impl FnOnce(&mut Inner)) {
        let revision = {
            let mut inner = self.inner.write().expect("nothing panics under the lock");
            change(&mut inner);
            let mut bodies = self.bodies.lock().expect("nothing panics under the lock");
            bodies.clear();
            inner.revision
        };
        self.changed.send_if_modified(|known| {
            let newer = *known != revision;
            *known = revision;
            newer
        });
    }

    pub fn read(&self) -> std::sync::RwLockReadGuard<'_, Inner> {
        self.inner.read().expect("nothing panics under the lock")
    }
}

/// Which version of an app to compile instead of the installed one.
pub type Instead<'i> = Option<(&'i str, &'i str)>;

impl Inner {
    /// Reads a tenant; none if there is none.
    pub async fn load(
        store: &Store,
        name: &str,
        host: &Host,
        scanner: &Arc<Scanner>,
        instead: Instead<'_>,
    ) -> Result<Option<Inner>, Failure> {
        let stored = rows::read(store, Span::one(name)).await?;
        let one = stored.into_iter().next();
        Ok(one.map(|stored| Inner::new(stored, host, scanner, instead)))
    }

    /// A tenant from its rows.
    pub fn new(stored: Stored, host: &Host, scanner: &Arc<Scanner>, instead: Instead<'_>) -> Inner {
        let mut inner = Inner {
            name: stored.tenant,
            revision: stored.revision,
            audit: stored.audit,
            host_revision: host.revision,
            apps: BTreeMap::new(),
            policies: stored.policies,
            reviews: stored.reviews,
        };
        let mut installs = stored.installs;
        if let Some((app, version)) = instead {
            installs.retain(|(installed, _)| installed != app);
            installs.push((app.to_owned(), version.to_owned()));
        }
        for (app, version) in installs {
            let Some(package) = host.package(&app, &version) else {
                continue;
            };
            let snapshot = inner.compile(&app, package, &stored.entries, host, scanner);
            let heads = stored.heads.iter().filter(|(of, _, _)| *of == app);
            let heads = heads.map(|(_, scope, head)| (scope.clone(), head.clone()));
            let installed = Installed {
                version,
                snapshot,
                heads: heads.collect(),
            };
            inner.apps.insert(app, installed);
        }
        inner
    }

    fn compile(
        &self,
        app: &str,
        package: &Arc<Package>,
        entries: &[rows::Entry],
        host: &Host,
        scanner: &Arc<Scanner>,
    ) -> Snapshot {
        let mut snapshot = Snapshot::new(Arc::clone(package), Arc::clone(scanner));
        let ours = entries.iter().filter(|entry| entry.app == app);
        let ours: Vec<&rows::Entry> = ours.collect();
        for part in ours.chunk_by(|a, b| a.scope == b.scope) {
            let Some(first) = part.first() else { continue };
            let values = part.iter().map(|entry| entry.assignment());
            let overlay = snapshot.compile(first.scope.layer(), values.collect::<Vec<_>>());
            snapshot.set_overlay(&first.scope, overlay);
        }
        set_rules(&mut snapshot, app, &self.name, &self.policies);
        let reviews = self.reviews.iter().filter(|review| review.app == app);
        snapshot.reviews = reviews.map(Review::as_write).collect();
        furnish(&mut snapshot, app, host);
        snapshot
    }

    /// Whether the host has changed since.
    pub fn is_behind(&self, host: &Host) -> bool {
        self.host_revision != host.revision
    }

    /// Brings what the host says up to date. Nobody's installed version changes by that.
    pub fn follow(&mut self, host: &Host) {
        self.host_revision = host.revision;
        for (app, installed) in &mut self.apps {
            furnish(&mut installed.snapshot, app, host);
        }
    }
}

/// The host's part of a snapshot.
fn furnish(snapshot: &mut Snapshot, app: &str, host: &Host) {
    let package = Arc::clone(&snapshot.package);
    let values = documents::host_defaults(&host.defaults_of(app), &package.keys);
    let overlay = snapshot.compile(Layer::Host, values);
    snapshot.set_host(overlay);
    snapshot.set_rules(&Authority::Host, Vec::new());
    set_rules(snapshot, app, "", &host.policies);
    snapshot.environment.clone_from(&host.environment);
}

/// The rules of a tenant and its workspaces, or of the host.
fn set_rules(snapshot: &mut Snapshot, app: &str, tenant: &str, policies: &[Policy]) {
    let ours = policies.iter();
    let ours: Vec<&Policy> = ours.filter(|p| p.app.is_empty() || p.app == app).collect();
    for part in ours.chunk_by(|a, b| a.workspace == b.workspace) {
        let Some(first) = part.first() else { continue };
        let rules = part.iter().flat_map(|policy| policy.rules.iter().cloned());
        let authority = rows::authority(tenant, &first.workspace);
        snapshot.set_rules(&authority, rules.collect());
    }
}
