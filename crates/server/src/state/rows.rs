//! Rows as the service knows them, and how they are read.

use std::sync::Arc;

use apps::decide::Change;
use apps::instant::Instant;
use apps::layer::{Authority, Scope};
use apps::overlay::{Assignment, Meta};
use apps::policy::Rule;
use apps::value::Value;

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
}

impl Review {
    /// The write that waits. Whether its base has moved is seen from the overlay's head.
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

pub async fn entries(store: &Store, tenant: &str) -> Result<Vec<Entry>, Failure> {
    let sql = "SELECT app, workspace, member, key, value, revision, actor, time, approved_by, version \
               FROM entries WHERE tenant = $1 ORDER BY app, workspace, member, key";
    let rows = store
        .query(View::Tenant(tenant), sql, vec![tenant.into()])
        .await?;
    let entry = |mut row: Row| Entry {
        app: row.text(),
        scope: {
            let (workspace, member) = (row.text(), row.text());
            scope(tenant, &workspace, &member)
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
    Ok(rows.into_iter().map(entry).collect())
}

pub async fn heads(store: &Store, tenant: &str) -> Result<Vec<(String, Scope, Head)>, Failure> {
    let sql =
        "SELECT app, workspace, member, revision, actor, time FROM overlays WHERE tenant = $1";
    let rows = store
        .query(View::Tenant(tenant), sql, vec![tenant.into()])
        .await?;
    let one = |mut row: Row| {
        let (app, workspace, member) = (row.text(), row.text(), row.text());
        (app, scope(tenant, &workspace, &member), head(&mut row))
    };
    Ok(rows.into_iter().map(one).collect())
}

pub async fn policies(store: &Store, tenant: &str) -> Result<Vec<Policy>, Failure> {
    let sql = "SELECT workspace, app, rules, revision, actor, time FROM policies WHERE tenant = $1 \
               ORDER BY workspace, app";
    let rows = store
        .query(View::Tenant(tenant), sql, vec![tenant.into()])
        .await?;
    let one = |mut row: Row| {
        let (workspace, app, text) = (row.text(), row.text(), row.text());
        let rules = crate::documents::rules(&authority(tenant, &workspace), &text);
        Policy {
            // What is stored was accepted once; what no longer reads binds nothing and is told when written.
            rules: rules.unwrap_or_default(),
            workspace,
            app,
            text,
            head: head(&mut row),
        }
    };
    Ok(rows.into_iter().map(one).collect())
}

pub async fn installs(store: &Store, tenant: &str) -> Result<Vec<(String, String)>, Failure> {
    let sql = "SELECT app, version FROM installs WHERE tenant = $1 ORDER BY app";
    let rows = store
        .query(View::Tenant(tenant), sql, vec![tenant.into()])
        .await?;
    Ok(rows
        .into_iter()
        .map(|mut row| (row.text(), row.text()))
        .collect())
}

pub async fn reviews(store: &Store, tenant: &str) -> Result<Vec<Review>, Failure> {
    let sql = "SELECT id, app, workspace, member, changes, base, author, time FROM reviews \
               WHERE tenant = $1 AND state = 'pending' ORDER BY id";
    let rows = store
        .query(View::Tenant(tenant), sql, vec![tenant.into()])
        .await?;
    let one = |mut row: Row| Review {
        id: row.int(),
        app: row.text(),
        scope: {
            let (workspace, member) = (row.text(), row.text());
            scope(tenant, &workspace, &member)
        },
        changes: Value::parse_json(&row.text()).map_or_else(Vec::new, |v| changes(&v)),
        base: row.int(),
        author: row.text(),
        time: row.text(),
    };
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
