//! Tokens: made and revoked by those above the scope they are for. A token's text is shown once.

use apps::instant::Instant;
use apps::value::write_string;

use super::{event, quoted};
use crate::audit::hex;
use crate::http::{Call, Problem, Reply, is_name};
use crate::identity::{Identity, Role, new_token, token_hash};
use crate::state::{Apply, Plan};
use crate::store::{Batch, Cell, Statement};

/// `GET /v1/tokens`
pub fn list(call: &Call<'_>) -> Result<Reply, Problem> {
    if !matches!(call.identity.role, Role::Host | Role::Tenant) {
        return Err(Problem::forbidden());
    }
    let host = call.state.host();
    let mut known: Vec<_> = host.tokens.values().collect();
    known.retain(|token| call.identity.may_name(&token.identity));
    known.sort_by(|a, b| (&a.identity.name, &a.id).cmp(&(&b.identity.name, &b.id)));
    let mut out = String::from("{\"tokens\":[");
    for (at, token) in known.into_iter().enumerate() {
        out.push_str(if at > 0 { ",{\"id\":" } else { "{\"id\":" });
        write_string(&mut out, &token.id);
        let who = &token.identity;
        for (name, text) in [
            ("name", who.name.as_str()),
            ("role", who.role.word()),
            ("tenant", &who.tenant),
            ("workspace", &who.workspace),
            ("user", &who.user),
            ("created", &token.created),
            ("createdBy", &token.created_by),
        ] {
            out.push_str(&format!(",\"{name}\":"));
            write_string(&mut out, text);
        }
        if let Some(expires) = token.expires {
            out.push_str(&format!(",\"expires\":\"{expires}\""));
        }
        out.push('}');
    }
    out.push_str("]}");
    Ok(Reply::json(out))
}

/// `POST /v1/tokens` with `{name, role, tenant, workspace, user, expires}`
pub async fn make(call: &Call<'_>) -> Result<Reply, Problem> {
    if call.header("idempotency-key").is_some() {
        // An answer that is kept would keep the token's text with it.
        return Err(Problem::bad("tokens are made without an idempotency key"));
    }
    let body = call.object()?;
    let text = |name: &str| -> Result<String, Problem> {
        let value = body.get(name).map_or(Some(""), |value| value.as_str());
        let value = value.ok_or_else(|| Problem::bad(format!("`{name}` must be a text")))?;
        match value.is_empty() || is_name(value) {
            true => Ok(value.to_owned()),
            false => Err(Problem::bad(format!("`{name}` is no name"))),
        }
    };
    let role = body.get("role").and_then(|role| role.as_str());
    let role = role.and_then(Role::parse);
    let words = Role::ALL.map(Role::word).join(", ");
    let identity = Identity {
        name: text("name")?,
        role: role.ok_or_else(|| Problem::bad(format!("`role` must be one of {words}")))?,
        tenant: text("tenant")?,
        workspace: text("workspace")?,
        user: text("user")?,
    };
    if identity.name.is_empty() || !identity.is_sound() {
        let detail = "`name` is needed, and the scope that the role has: no more, no less";
        return Err(Problem::bad(detail));
    }
    let expires = match body.get("expires").and_then(|value| value.as_str()) {
        Some(text) => {
            Some(Instant::parse(text).ok_or_else(|| Problem::bad("`expires` is no time"))?)
        }
        None => None,
    };
    if !call.identity.may_name(&identity) {
        return Err(Problem::forbidden());
    }
    if !identity.tenant.is_empty() {
        call.state.tenant(&identity.tenant)?;
    }
    let token = new_token().map_err(|_| Problem::new(503, "no-random", "no random numbers"))?;
    let (statement, id) = row(&identity, &token, expires, call)?;
    let told = format!("{{\"id\":{},\"token\":{}}}", quoted(&id), quoted(&token));
    let detail = format!("{} {} {id}", identity.role.word(), identity.name);
    let reply = || Ok(Reply::new(201, crate::http::JSON, told.clone()));
    record(
        call,
        &identity.tenant,
        statement,
        "token.create",
        &detail,
        reply,
    )
    .await
}

fn row(
    identity: &Identity,
    token: &str,
    expires: Option<Instant>,
    call: &Call<'_>,
) -> Result<(Statement, String), Problem> {
    let (time, by) = (call.now.to_string(), call.identity.name.as_str());
    Ok(statement(identity, token, expires, &time, by))
}

/// The row of a token, and its id.
pub fn statement(
    identity: &Identity,
    token: &str,
    expires: Option<Instant>,
    time: &str,
    by: &str,
) -> (Statement, String) {
    let hash = hex(&token_hash(token));
    let id: String = hash.chars().take(12).collect();
    let statement = Statement::new(
        "INSERT INTO tokens (hash, id, tenant, workspace, member, role, name, expires, created, created_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (hash) DO NOTHING",
        vec![
            hash.into(),
            id.as_str().into(),
            identity.tenant.as_str().into(),
            identity.workspace.as_str().into(),
            identity.user.as_str().into(),
            identity.role.word().into(),
            identity.name.as_str().into(),
            Cell::opt(expires.map(|time| time.to_string())),
            time.into(),
            by.into(),
        ],
    );
    (statement, id)
}

/// Stores a change to tokens with its record in the chain of the tenant that it is about, and has every node
/// read the host anew, which holds the tokens.
async fn record(
    call: &Call<'_>,
    tenant: &str,
    statement: Statement,
    action: &'static str,
    detail: &str,
    reply: impl Fn() -> Result<Reply, Problem>,
) -> Result<Reply, Problem> {
    let plan = |revision: i64| {
        let mut event = event(call, action);
        event.revision = Some(revision);
        event.detail = Some(detail.to_owned());
        Plan {
            statements: vec![statement.clone()],
            event,
            moves: true,
            apply: Apply::Reload,
            reply: reply(),
        }
    };
    if tenant.is_empty() {
        return call
            .state
            .transact_host(call, |host| Ok(plan(host.revision + 1)))
            .await;
    }
    let done = call
        .state
        .transact(call, tenant, |inner, _| Ok(plan(inner.revision + 1)))
        .await?;
    let tell = Batch {
        tenant: String::new(),
        statements: Vec::new(),
    };
    call.state.note(call.state.store.commit(tell).await)?;
    call.state.reload_host().await?;
    Ok(done)
}

/// `DELETE /v1/tokens/{id}`
pub async fn revoke(call: &Call<'_>) -> Result<Reply, Problem> {
    if !matches!(call.identity.role, Role::Host | Role::Tenant) {
        return Err(Problem::forbidden());
    }
    let host = call.state.host();
    let id = call.part("id");
    let token = host.tokens.values().find(|token| token.id == id);
    let token = token.filter(|token| call.identity.may_name(&token.identity));
    let Some(token) = token else {
        return Err(Problem::missing("there is no such token"));
    };
    let statement = Statement::new(
        "DELETE FROM tokens WHERE tenant = $1 AND id = $2",
        vec![token.identity.tenant.as_str().into(), id.into()],
    );
    let detail = format!("{} {id}", token.identity.name);
    let tenant = &token.identity.tenant;
    record(call, tenant, statement, "token.revoke", &detail, || {
        Ok(Reply::empty(204))
    })
    .await
}
