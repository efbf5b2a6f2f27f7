//! The first start: the host's row and an admin's token; and, if asked for, an example with life in it.

use std::sync::Arc;

use apps::package::File;
use hyper::HeaderMap;
use hyper::body::Bytes;

use crate::api;
use crate::audit::hex;
use crate::http::{Call, Problem, Reply};
use crate::identity::{Identity, Role, new_token, token_hash};
use crate::state::{State, now};
use crate::store::{Batch, Failure, Store, View};

/// An example: packages, documents that go into a tenant's store, and people.
pub struct Demo {
    pub packages: Vec<Vec<File>>,
    /// YAML documents (host defaults, policies, an environment, overlays), each with who wrote it.
    pub documents: Vec<(String, String)>,
    /// Which version of which app each tenant gets.
    pub installs: Vec<(&'static str, String, String)>,
    pub people: Vec<Person>,
    /// Writes of some of them, made at last.
    pub writes: Vec<Write>,
}

pub struct Write {
    /// Whose.
    pub token: &'static str,
    pub app: &'static str,
    pub workspace: &'static str,
    pub user: &'static str,
    pub key: &'static str,
    /// JSON.
    pub value: &'static str,
}

/// Someone with a token that everybody may know: the demo is for looking.
pub struct Person {
    pub token: &'static str,
    pub name: &'static str,
    pub role: &'static str,
    pub tenant: &'static str,
    pub workspace: &'static str,
    pub user: &'static str,
}

fn told(failure: Failure) -> String {
    match failure {
        Failure::Lost(why) => format!("cannot write the database: {why}"),
        Failure::Moved => "the database changes too fast".to_owned(),
    }
}

fn admin() -> Arc<Identity> {
    Arc::new(Identity {
        name: "admin".to_owned(),
        role: Role::Host,
        tenant: String::new(),
        workspace: String::new(),
        user: String::new(),
    })
}

/// Makes the host's row, and sees to it that somebody can come in. Answers with a token that was made.
pub async fn first_start(
    store: &Store,
    given: Option<&str>,
) -> Result<Option<(String, String)>, String> {
    let sql = "SELECT hash FROM tokens WHERE role = 'host-admin'";
    let known = store.query(View::All, sql, Vec::new()).await;
    let mut known = known.map_err(told)?;
    let (token, made) = match given {
        Some(token) => (token.to_owned(), false),
        None if !known.is_empty() => return Ok(None),
        None => {
            let token = new_token().map_err(|e| format!("no random numbers: {e}"))?;
            (token, true)
        }
    };
    let hash = hex(&token_hash(&token));
    if known.iter_mut().any(|row| row.text() == hash) {
        return Ok(None);
    }
    let time = now().to_string();
    let (row, _) = api::tokens::statement(&admin(), &token, None, &time, "first start");
    let batch = Batch {
        tenant: String::new(),
        statements: vec![api::hosts::new_tenant("", &time), row],
    };
    store.commit(batch).await.map_err(told)?;
    Ok(made.then(|| ("host admin".to_owned(), token)))
}

/// Fills a store that has no tenant yet, through the same functions that HTTP calls. Answers with everybody's token.
pub async fn demo(state: &Arc<State>, demo: Demo) -> Result<Vec<(String, String)>, String> {
    let tokens: Vec<(String, String)> = demo
        .people
        .iter()
        .map(|person| {
            (
                format!("{} {}", person.role, person.name),
                person.token.to_owned(),
            )
        })
        .collect();
    if !state.tenant_names().is_empty() {
        return Ok(tokens);
    }
    let done = |what: &str, reply: Result<Reply, Problem>| match reply {
        Ok(_) => Ok(()),
        Err(problem) => Err(format!("the demo's {what}: {}", problem.detail)),
    };
    let none = HeaderMap::new();
    for files in &demo.packages {
        let mut body = String::from("{\"files\":{");
        for (at, file) in files.iter().enumerate() {
            body.push_str(if at > 0 { "," } else { "" });
            body.push_str(&api::quoted(&file.path));
            body.push(':');
            body.push_str(&api::quoted(&String::from_utf8_lossy(&file.bytes)));
        }
        body.push_str("}}");
        let call = call(state, &none, admin(), &[], &[], body);
        done("package", api::packages::upload(&call).await)?;
    }
    for (tenant, app, version) in &demo.installs {
        let make = call(
            state,
            &none,
            admin(),
            &[("tenant", tenant)],
            &[],
            String::new(),
        );
        done("tenant", api::hosts::make_tenant(&make).await)?;
        let body = format!("{{\"to\":{}}}", api::quoted(version));
        let install = call(
            state,
            &none,
            admin(),
            &[("app", app)],
            &[("tenant", tenant)],
            body,
        );
        done("install", api::upgrades::switch(&install).await)?;
    }
    for person in &demo.people {
        let Some(role) = Role::parse(person.role) else {
            continue;
        };
        let identity = Identity {
            name: person.name.to_owned(),
            role,
            tenant: person.tenant.to_owned(),
            workspace: person.workspace.to_owned(),
            user: person.user.to_owned(),
        };
        let time = now().to_string();
        let (row, _) = api::tokens::statement(&identity, person.token, None, &time, "demo");
        let batch = Batch {
            tenant: identity.tenant.clone(),
            statements: vec![row],
        };
        state.store.commit(batch).await.map_err(told)?;
    }
    state.reload_host().await.map_err(told)?;
    for (actor, text) in &demo.documents {
        let name = actor.clone();
        let author = Arc::new(Identity {
            name,
            ..(*admin()).clone()
        });
        let call = call(
            state,
            &none,
            author,
            &[],
            &[("format", "yaml")],
            text.clone(),
        );
        done("documents", api::documents::import(&call).await)?;
    }
    for write in &demo.writes {
        let host = state.host();
        let Some(token) = host.tokens.get(&token_hash(write.token)) else {
            continue;
        };
        let who = Arc::clone(&token.identity);
        let tenant = who.tenant.clone();
        let scope = [
            ("tenant", tenant.as_str()),
            ("workspace", write.workspace),
            ("user", write.user),
        ];
        let scope: Vec<_> = scope.into_iter().filter(|(_, v)| !v.is_empty()).collect();
        let parts = [("app", write.app), ("key", write.key)];
        let body = format!("{{\"value\":{}}}", write.value);
        let call = call(state, &none, who, &parts, &scope, body);
        done("write", api::overlays::put_key(&call).await)?;
    }
    Ok(tokens)
}

fn call<'c>(
    state: &'c Arc<State>,
    headers: &'c HeaderMap,
    identity: Arc<Identity>,
    parts: &[(&'static str, &'c str)],
    query: &[(&'c str, &'c str)],
    body: String,
) -> Call<'c> {
    Call {
        state,
        identity,
        parts: parts.iter().map(|(n, v)| (*n, (*v).into())).collect(),
        query: query
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect(),
        headers,
        body: Bytes::from(body),
        now: now(),
        id: "seed",
        line: ("", ""),
        dry: false,
    }
}
