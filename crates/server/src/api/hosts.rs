//! What belongs to the host: who is asking, tenants, the environment, host defaults.

use std::collections::{BTreeMap, BTreeSet};

use apps::value::{Value, write_string};

use super::{event, quoted};
use crate::audit;
use crate::documents;
use crate::http::{Call, Problem, Reply, is_name};
use crate::identity::Role;
use crate::state::rows;
use crate::state::{Apply, Plan};
use crate::store::{Cell, Statement};

/// `GET /v1/me`
pub fn me(call: &Call<'_>) -> Result<Reply, Problem> {
    let who = &call.identity;
    let mut out = String::from("{\"name\":");
    write_string(&mut out, &who.name);
    for (name, text) in [
        ("role", who.role.word()),
        ("tenant", &who.tenant),
        ("workspace", &who.workspace),
        ("user", &who.user),
    ] {
        out.push_str(&format!(",\"{name}\":"));
        write_string(&mut out, text);
    }
    out.push('}');
    Ok(Reply::json(out))
}

/// `GET /v1/tenants`: all for the host, one's own for everyone else.
pub fn tenants(call: &Call<'_>) -> Result<Reply, Problem> {
    let who = &call.identity;
    let all = who.role == Role::Host || (who.role == Role::Support && who.tenant.is_empty());
    let mut names = call.state.tenant_names();
    names.retain(|name| all || *name == who.tenant);
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    Ok(Reply::json(format!(
        "{{\"tenants\":[{}]}}",
        names.join(",")
    )))
}

/// `PUT /v1/tenants/{tenant}`: makes a tenant; one that is there stays as it is.
pub async fn make_tenant(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = call.part("tenant").to_owned();
    if call.identity.role != Role::Host {
        return Err(Problem::forbidden());
    }
    if !is_name(&name) {
        return Err(Problem::bad("that is no name for a tenant"));
    }
    if call.state.tenant(&name).is_ok() {
        return Ok(Reply::json(format!(
            "{{\"tenant\":{},\"created\":false}}",
            quoted(&name)
        )));
    }
    // The row is of another tenant than the host's: it is made apart, which is safe to repeat.
    let row = crate::store::Batch {
        tenant: name.clone(),
        statements: vec![new_tenant(&name, &call.now.to_string())],
    };
    call.state.note(call.state.store.commit(row).await)?;
    call.state.reload(&name).await?;
    call.state
        .transact_host(call, |host| {
            let mut event = event(call, "tenant.create");
            event.detail = Some(name.clone());
            event.revision = Some(host.revision + 1);
            let body = format!("{{\"tenant\":{},\"created\":true}}", quoted(&name));
            Ok(Plan {
                statements: Vec::new(),
                event,
                moves: true,
                apply: Apply::Reload,
                reply: Ok(Reply::new(201, crate::http::JSON, body)),
            })
        })
        .await
}

fn unchanged(revision: i64) -> Reply {
    Reply::json(format!(
        "{{\"revision\":{revision},\"verdict\":\"unchanged\"}}"
    ))
}

/// The row of a tenant without history.
pub fn new_tenant(name: &str, time: &str) -> Statement {
    Statement::new(
        "INSERT INTO tenants (tenant, revision, audit_seq, audit_hash, created) VALUES ($1, 0, 0, $2, $3) \
         ON CONFLICT (tenant) DO NOTHING",
        vec![name.into(), audit::ORIGIN.into(), time.into()],
    )
}

/// `GET /v1/environment`: what the host offers.
pub fn environment(call: &Call<'_>) -> Result<Reply, Problem> {
    let host = call.state.host();
    let text = host.environment_text.as_str();
    Ok(Reply::json(match text {
        "" => "{}".to_owned(),
        text => text.to_owned(),
    }))
}

/// `PUT /v1/environment`
pub async fn set_environment(call: &Call<'_>) -> Result<Reply, Problem> {
    if call.identity.role != Role::Host {
        return Err(Problem::forbidden());
    }
    write_environment(call, &call.object()?, false).await
}

/// Replaces what the host offers; what is `desired` and there already is not written again.
pub async fn write_environment(
    call: &Call<'_>,
    fields: &Value,
    desired: bool,
) -> Result<Reply, Problem> {
    documents::environment(fields).map_err(Problem::unreadable)?;
    let text = fields.json();
    call.state
        .transact_host(call, |host| {
            let next = host.revision + 1;
            let mut event = event(call, "environment.write");
            if desired && host.environment_text == text {
                return Ok(Plan::nothing(event, unchanged(host.revision)));
            }
            event.revision = Some(next);
            event.touched.push(audit::Touched {
                key: "environment".to_owned(),
                before: rows::opt(&host.environment_text),
                after: Some(text.clone()),
            });
            let statement = Statement::new(
                "INSERT INTO environments (tenant, document, revision, actor, time) VALUES ('', $1, $2, $3, $4) \
                 ON CONFLICT (tenant) DO UPDATE SET document = excluded.document, revision = excluded.revision, \
                 actor = excluded.actor, time = excluded.time",
                vec![
                    text.as_str().into(),
                    next.into(),
                    call.identity.name.as_str().into(),
                    call.now.to_string().into(),
                ],
            );
            Ok(Plan {
                statements: vec![statement],
                event,
                moves: true,
                apply: Apply::Reload,
                reply: Ok(Reply::json(format!("{{\"revision\":{next}}}"))),
            })
        })
        .await
}

/// `GET /v1/host-defaults`
pub fn defaults(call: &Call<'_>) -> Result<Reply, Problem> {
    let app = call.name("app")?.unwrap_or_default();
    let host = call.state.host();
    let mut out = String::from("{\"values\":{");
    let ours = host.defaults.iter().filter(|(of, _, _)| *of == app);
    for (at, (_, name, json)) in ours.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(&mut out, name);
        out.push_str(&format!(":{json}"));
    }
    out.push_str("}}");
    Ok(Reply::json(out))
}

/// `PUT /v1/host-defaults`: all defaults for one app, or for all.
pub async fn set_defaults(call: &Call<'_>) -> Result<Reply, Problem> {
    if call.identity.role != Role::Host {
        return Err(Problem::forbidden());
    }
    let app = call.name("app")?.unwrap_or_default();
    let body = call.object()?;
    let values = body
        .get("values")
        .filter(|values| matches!(values, Value::Map(_)))
        .ok_or_else(|| Problem::bad("the body must be {\"values\": {…}}"))?;
    write_defaults(call, app, values, false).await
}

/// Replaces the host's defaults; what is `desired` and there already is not written again.
pub async fn write_defaults(
    call: &Call<'_>,
    app: &str,
    values: &Value,
    desired: bool,
) -> Result<Reply, Problem> {
    if call.state.scanner.scan_value("", values).is_some() {
        let detail = "a default holds a credential; use a secret handle in a key declared secret";
        return Err(Problem::new(422, "plaintext-secret", detail));
    }
    let Value::Map(fields) = values else {
        return Err(Problem::bad("`values` must be a map"));
    };
    let time = call.now.to_string();
    call.state
        .transact_host(call, |host| {
            let next = host.revision + 1;
            let mut statements = vec![Statement::new(
                "DELETE FROM entries WHERE tenant = '' AND app = $1",
                vec![app.into()],
            )];
            statements.extend(fields.iter().map(|(name, value)| {
                Statement::new(
                    "INSERT INTO entries (tenant, app, workspace, member, key, value, revision, actor, time, version) \
                     VALUES ('', $1, '', '', $2, $3, $4, $5, $6, '')",
                    vec![
                        app.into(),
                        (**name).into(),
                        value.json().into(),
                        next.into(),
                        call.identity.name.as_str().into(),
                        Cell::Text(time.clone()),
                    ],
                )
            }));
            let mut event = event(call, "defaults.write");
            let known = host.defaults.iter().filter(|(of, _, _)| of == app);
            let known: BTreeMap<&str, &str> =
                known.map(|(_, name, json)| (name.as_str(), json.as_str())).collect();
            let wanted: BTreeMap<&str, String> =
                fields.iter().map(|(name, value)| (&**name, value.json())).collect();
            let names = known.keys().chain(wanted.keys()).copied();
            let differs = |name: &&str| known.get(name).copied() != wanted.get(name).map(|w| &**w);
            let differing: BTreeSet<&str> = names.filter(differs).collect();
            if desired && differing.is_empty() {
                return Ok(Plan::nothing(event, unchanged(host.revision)));
            }
            event.revision = Some(next);
            event.touched = differing
                .into_iter()
                .map(|name| audit::Touched {
                    key: name.to_owned(),
                    before: known.get(name).map(|json| (*json).to_owned()),
                    after: wanted.get(name).cloned(),
                })
                .collect();
            Ok(Plan {
                statements,
                event,
                moves: true,
                apply: Apply::Reload,
                reply: Ok(Reply::json(format!("{{\"revision\":{next}}}"))),
            })
        })
        .await
}
