//! Rows as the service knows them, and how they are read.

use std::sync::Arc;

use apps::decide::Change;
use apps::instant::Instant;
use apps::layer::{Authority, Scope};
use apps::overlay::{Assignment, Meta};
use apps::policy::Rule;
use apps::value::Value;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::audit;
use crate::store::{Failure, Row, Store, View};

/// A stored value of an overlay.
pub struct Entry {
    pub app: String,
    pub scope: Scope,
    pub key: String,
    pub value: String,
    pub meta: Meta,
}

impl Entry {
    pub fn assignment(&self) -> (Assignment, Arc<Meta>) {
        let assignment = Assignment {
            name: self.key.clone(),
            value: Value::parse_json(&self.value).unwrap_or(Value::Null),
            span: None,
            withheld: None,
        };
        (assignment, Arc::new(self.meta.clone()))
    }
}

/// Who wrote an overlay last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub revision: i64,
    pub actor: String,
    pub time: String,
}

/// One authority's rules, for one app or for all.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Empty for a tenant's or the host's.
    pub workspace: String,
    /// Empty for all apps.
    pub app: String,
    /// The rules as JSON, as they were written.
    pub text: String,
    pub rules: Vec<Rule>,
    pub head: Head,
}

#[derive(Clone, Debug)]
pub struct Review {
    pub id: i64,
    pub app: String,
    pub scope: Scope,
    pub changes: Vec<(String, Change)>,
    /// The overlay's revision that it was written against.
    pub base: i64,
    pub author: String,
    pub time: String,
    /// Whether a value that it changes has been changed since, in the same scope: it is void then.
    pub moved: bool,
}

impl Review {
    /// The write that waits.
    pub fn as_write(&self) -> apps::decide::Review {
        let write = apps::decide::Write {
            scope: self.scope.clone(),
            changes: self.changes.clone(),
            author: Some(self.author.as_str().into()),
            time: Instant::parse(&self.time),
            revision: None,
            base: None,
        };
        apps::decide::Review { write }
    }
}

pub fn opt(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

pub fn scope(tenant: &str, workspace: &str, member: &str) -> Scope {
    Scope {
        tenant: tenant.to_owned(),
        workspace: opt(workspace),
        user: opt(member),
    }
}

pub fn authority(tenant: &str, workspace: &str) -> Authority {
    match (tenant, workspace) {
        ("", _) => Authority::Host,
        (tenant, "") => Authority::Tenant {
            tenant: tenant.to_owned(),
        },
        (tenant, workspace) => Authority::Workspace {
            tenant: tenant.to_owned(),
            workspace: workspace.to_owned(),
        },
    }
}

fn head(row: &mut Row) -> Head {
    Head {
        revision: row.int(),
        actor: row.text(),
        time: row.text(),
    }
}

/// Which tenants are read: from one name to another, in the database's order.
#[derive(Clone, Copy)]
pub struct Span<'s> {
    view: View<'s>,
    first: &'s str,
    last: &'s str,
}

impl<'s> Span<'s> {
    pub fn one(tenant: &'s str) -> Span<'s> {
        Span {
            view: View::Tenant(tenant),
            first: tenant,
            last: tenant,
        }
    }

    /// Several at once, for the service itself.
    pub fn of(first: &'s str, last: &'s str) -> Span<'s> {
        let view = View::All;
        Span { view, first, last }
    }

    /// The rows of a query about `$1` to `$2`, each with the tenant that its first cell names.
    async fn query(self, store: &Store, sql: &'static str) -> Result<Vec<(String, Row)>, Failure> {
        let cells = vec![self.first.into(), self.last.into()];
        let rows = store.query(self.view, sql, cells).await?;
        let named = |mut row: Row| (row.text(), row);
        Ok(rows.into_iter().map(named).collect())
    }
}

/// All that is stored about one tenant.
pub struct Stored {
    pub tenant: String,
    pub revision: i64,
    pub audit: audit::Head,
    pub entries: Vec<Entry>,
    /// App, scope, and who wrote there last.
    pub heads: Vec<(String, Scope, Head)>,
    pub policies: Vec<Policy>,
    pub reviews: Vec<Review>,
    /// App and version.
    pub installs: Vec<(String, String)>,
}

/// Tenants as they are read, table by table.
#[derive(Default)]
struct All {
    tenants: Vec<Stored>,
    places: HashMap<String, usize, FxBuildHasher>,
}

impl All {
    fn of(&mut self, tenant: &str) -> Option<&mut Stored> {
        let at = self.places.get(tenant)?;
        self.tenants.get_mut(*at)
    }
}

/// Everything about some tenants, in one query a table however many they are.
pub async fn read(store: &Store, span: Span<'_>) -> Result<Vec<Stored>, Failure> {
    // Revisions first: what is read after them may be newer, and is then told of and read again.
    let sql = "SELECT tenant, revision, audit_seq, audit_hash FROM tenants \
               WHERE tenant >= $1 AND tenant <= $2 ORDER BY tenant";
    let mut all = All::default();
    for (tenant, mut row) in span.query(store, sql).await? {
        all.places.insert(tenant.clone(), all.tenants.len());
        all.tenants.push(Stored {
            tenant,
            revision: row.int(),
            audit: audit::Head {
                seq: row.int(),
                hash: row.text(),
            },
            entries: Vec::new(),
            heads: Vec::new(),
            policies: Vec::new(),
            reviews: Vec::new(),
            installs: Vec::new(),
        });
    }
    for (tenant, policy) in policies(store, span).await? {
        if let Some(stored) = all.of(&tenant) {
            stored.policies.push(policy);
        }
    }
    for (tenant, review) in reviews(store, span).await? {
        if let Some(stored) = all.of(&tenant) {
            stored.reviews.push(review);
        }
    }
    for (tenant, entry) in entries(store, span).await? {
        if let Some(stored) = all.of(&tenant) {
            stored.entries.push(entry);
        }
    }
    let sql = "SELECT tenant, app, workspace, member, revision, actor, time FROM overlays \
               WHERE tenant >= $1 AND tenant <= $2";
    for (tenant, mut row) in span.query(store, sql).await? {
        let (app, workspace, member) = (row.text(), row.text(), row.text());
        let scope = scope(&tenant, &workspace, &member);
        let head = head(&mut row);
        if let Some(stored) = all.of(&tenant) {
            stored.heads.push((app, scope, head));
        }
    }
    let sql = "SELECT tenant, app, version FROM installs \
               WHERE tenant >= $1 AND tenant <= $2 ORDER BY tenant, app";
    for (tenant, mut row) in span.query(store, sql).await? {
        let install = (row.text(), row.text());
        if let Some(stored) = all.of(&tenant) {
            stored.installs.push(install);
        }
    }
    if all.tenants.iter().any(|stored| !stored.reviews.is_empty()) {
        bases(store, span, &mut all).await?;
    }
    Ok(all.tenants)
}

/// Notes which pending reviews are based on values that have changed since.
async fn bases(store: &Store, span: Span<'_>, all: &mut All) -> Result<(), Failure> {
    let sql = "SELECT r.tenant, r.id, h.key FROM reviews r JOIN history h ON h.tenant = r.tenant AND h.app = r.app \
               AND h.workspace = r.workspace AND h.member = r.member AND h.revision > r.base \
               WHERE r.tenant >= $1 AND r.tenant <= $2 AND r.state = 'pending'";
    for (tenant, mut row) in span.query(store, sql).await? {
        let (id, key) = (row.int(), row.text());
        let reviews = all.of(&tenant).map(|stored| &mut stored.reviews);
        let review = reviews.and_then(|all| all.iter_mut().find(|review| review.id == id));
        if let Some(review) = review {
            review.moved |= review.changes.iter().any(|(name, _)| *name == key);
        }
    }
    Ok(())
}

/// Stored values by tenant, those of one overlay together.
pub async fn entries(store: &Store, span: Span<'_>) -> Result<Vec<(String, Entry)>, Failure> {
    let sql = "SELECT tenant, app, workspace, member, key, value, revision, actor, time, approved_by, version \
               FROM entries WHERE tenant >= $1 AND tenant <= $2 ORDER BY tenant, app, workspace, member, key";
    let one = |(tenant, mut row): (String, Row)| {
        let entry = Entry {
            app: row.text(),
            scope: {
                let (workspace, member) = (row.text(), row.text());
                scope(&tenant, &workspace, &member)
            },
            key: row.text(),
            value: row.text(),
            meta: Meta {
                revision: u64::try_from(row.int()).ok(),
                actor: row.maybe().map(Into::into),
                time: row.maybe().and_then(|text| Instant::parse(&text)),
                approved_by: row.maybe().map(Into::into),
                version: row.maybe().map(Into::into),
            },
        };
        (tenant, entry)
    };
    let rows = span.query(store, sql).await?;
    Ok(rows.into_iter().map(one).collect())
}

pub async fn policies(store: &Store, span: Span<'_>) -> Result<Vec<(String, Policy)>, Failure> {
    let sql = "SELECT tenant, workspace, app, rules, revision, actor, time FROM policies \
               WHERE tenant >= $1 AND tenant <= $2 ORDER BY tenant, workspace, app";
    let one = |(tenant, mut row): (String, Row)| {
        let (workspace, app, text) = (row.text(), row.text(), row.text());
        let rules = crate::documents::rules(&authority(&tenant, &workspace), &text);
        let policy = Policy {
            // What is stored was accepted once; what no longer reads binds nothing and is told when written.
            rules: rules.unwrap_or_default(),
            workspace,
            app,
            text,
            head: head(&mut row),
        };
        (tenant, policy)
    };
    let rows = span.query(store, sql).await?;
    Ok(rows.into_iter().map(one).collect())
}

async fn reviews(store: &Store, span: Span<'_>) -> Result<Vec<(String, Review)>, Failure> {
    let sql = "SELECT tenant, id, app, workspace, member, changes, base, author, time FROM reviews \
               WHERE tenant >= $1 AND tenant <= $2 AND state = 'pending' ORDER BY tenant, id";
    let one = |(tenant, mut row): (String, Row)| {
        let review = Review {
            id: row.int(),
            app: row.text(),
            scope: {
                let (workspace, member) = (row.text(), row.text());
                scope(&tenant, &workspace, &member)
            },
            changes: Value::parse_json(&row.text()).map_or_else(Vec::new, |v| changes(&v)),
            base: row.int(),
            author: row.text(),
            time: row.text(),
            moved: false,
        };
        (tenant, review)
    };
    let rows = span.query(store, sql).await?;
    Ok(rows.into_iter().map(one).collect())
}

/// Changes as a map: a value sets, `{"$unset": true}` withdraws.
pub fn changes(map: &Value) -> Vec<(String, Change)> {
    let Value::Map(fields) = map else {
        return Vec::new();
    };
    let change = |value: &Value| match is_unset(value) {
        true => Change::Unset,
        false => Change::Set(value.clone()),
    };
    fields
        .iter()
        .map(|(name, value)| (name.to_string(), change(value)))
        .collect()
}

fn is_unset(value: &Value) -> bool {
    value.get("$unset").and_then(Value::as_bool) == Some(true)
}

/// The same map as text.
pub fn changes_json(changes: &[(String, Change)]) -> String {
    let mut out = String::from("{");
    for (at, (name, change)) in changes.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        apps::value::write_string(&mut out, name);
        out.push(':');
        match change {
            Change::Set(value) => value.write_json(&mut out),
            Change::Unset => out.push_str("{\"$unset\":true}"),
        }
    }
    out.push('}');
    out
}
