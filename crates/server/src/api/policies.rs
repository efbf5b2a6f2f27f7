//! Policies of the host, a tenant or a workspace: read, and replaced as a whole.

use apps::decide::{Command, Verdict, decide};
use apps::layer::Authority;
use apps::value::write_string;

use super::event;
use crate::documents;
use crate::http::{Call, Problem, Reply};
use crate::state::host::Host;
use crate::state::rows::{self, Policy};
use crate::state::tenant::Inner;
use crate::state::{Apply, Plan};
use crate::store::Statement;

/// Whose policy the query names: the host's without a tenant.
fn authority(call: &Call<'_>) -> Result<Authority, Problem> {
    let (tenant, workspace) = (call.name("tenant")?, call.name("workspace")?);
    if tenant.is_none() && workspace.is_some() {
        return Err(Problem::bad("`workspace` needs `tenant`"));
    }
    Ok(rows::authority(
        tenant.unwrap_or_default(),
        workspace.unwrap_or_default(),
    ))
}

pub fn names(authority: &Authority) -> (&str, &str) {
    match authority {
        Authority::Host => ("", ""),
        Authority::Tenant { tenant } => (tenant, ""),
        Authority::Workspace { tenant, workspace } => (tenant, workspace),
    }
}

fn find<'p>(policies: &'p [Policy], workspace: &str, app: &str) -> Option<&'p Policy> {
    policies
        .iter()
        .find(|policy| policy.workspace == workspace && policy.app == app)
}

/// `GET /v1/policies`
pub fn show(call: &Call<'_>) -> Result<Reply, Problem> {
    let authority = authority(call)?;
    if !call.identity.reads_policy(&authority) {
        return Err(Problem::forbidden());
    }
    let app = call.name("app")?.unwrap_or_default();
    let (tenant, workspace) = names(&authority);
    match tenant {
        "" => Ok(shown(find(&call.state.host().policies, "", app))),
        tenant => {
            let tenant = call.state.tenant(tenant)?;
            let inner = tenant.read();
            Ok(shown(find(&inner.policies, workspace, app)))
        }
    }
}

fn shown(policy: Option<&Policy>) -> Reply {
    let revision = policy.map_or(0, |policy| policy.head.revision);
    let mut out = format!("{{\"revision\":{revision}");
    if let Some(policy) = policy {
        for (name, text) in [("actor", &policy.head.actor), ("time", &policy.head.time)] {
            out.push_str(&format!(",\"{name}\":"));
            write_string(&mut out, text);
        }
    }
    out.push_str(",\"rules\":");
    out.push_str(policy.map_or("[]", |policy| &policy.text));
    out.push('}');
    Reply::json(out).etag(format!("\"r{revision}\""))
}

/// `PUT /v1/policies`: all rules of one authority; `If-Match` compares their revision.
pub async fn replace(call: &Call<'_>) -> Result<Reply, Problem> {
    let authority = authority(call)?;
    if !call.identity.writes_policy(&authority) {
        return Err(Problem::forbidden());
    }
    let app = call.name("app")?.unwrap_or_default();
    let body = call.object()?;
    let rules = body
        .get("rules")
        .filter(|rules| matches!(rules, apps::value::Value::List(_)))
        .ok_or_else(|| Problem::bad("the body must be {\"rules\": […]}"))?;
    write(call, &authority, app, &rules.json(), false).await
}

/// Replaces an authority's rules, if they can be satisfied; what is `desired` and there already is not written again.
pub async fn write(
    call: &Call<'_>,
    authority: &Authority,
    app: &str,
    text: &str,
    desired: bool,
) -> Result<Reply, Problem> {
    let base = call.base()?;
    let (tenant, workspace) = names(authority);
    match tenant {
        "" => {
            call.state
                .transact_host(call, |host| {
                    match same(&host.policies, "", app, text).filter(|_| desired) {
                        Some(known) => Ok(unchanged(call, known)),
                        None => plan_host(call, host, app, text, base),
                    }
                })
                .await
        }
        tenant => {
            call.state
                .transact(call, tenant, |inner, _| {
                    match same(&inner.policies, workspace, app, text).filter(|_| desired) {
                        Some(known) => Ok(unchanged(call, known)),
                        None => plan(call, inner, authority, workspace, app, text, base),
                    }
                })
                .await
        }
    }
}

/// The rules that are there, if they are these.
fn same<'p>(policies: &'p [Policy], workspace: &str, app: &str, text: &str) -> Option<&'p Policy> {
    find(policies, workspace, app).filter(|known| known.text == text)
}

fn unchanged(call: &Call<'_>, known: &Policy) -> Plan {
    let revision = known.head.revision;
    let told = format!("{{\"revision\":{revision},\"verdict\":\"unchanged\"}}");
    Plan::nothing(event(call, "policy.write"), Reply::json(told))
}

fn plan_host(
    call: &Call<'_>,
    host: &Host,
    app: &str,
    text: &str,
    base: Option<i64>,
) -> Result<Plan, Problem> {
    let authority = Authority::Host;
    documents::rules(&authority, text).map_err(Problem::unreadable)?;
    let known = find(&host.policies, "", app);
    let event = policy_event(call, app, known, text);
    if let Some(problem) = moved(known, base) {
        return Ok(refusal(event, problem));
    }
    // Rules of the host alone are decided against every package that they may meet.
    let rules = documents::rules(&authority, text).map_err(Problem::unreadable)?;
    for uploaded in host.packages.values() {
        let scanner = std::sync::Arc::clone(&call.state.scanner);
        let package = std::sync::Arc::clone(&uploaded.package);
        let snapshot = apps::Snapshot::new(package, scanner);
        let command = Command::Policy {
            authority: &authority,
            rules: &rules,
            now: call.now,
        };
        let decision = decide(&snapshot, call.now, command);
        if decision.verdict == Verdict::Refused {
            return Ok(refusal(event, Problem::refused(decision.conflicts)));
        }
    }
    Ok(accepted(call, "", "", app, text, host.revision + 1, event))
}

fn plan(
    call: &Call<'_>,
    inner: &Inner,
    authority: &Authority,
    workspace: &str,
    app: &str,
    text: &str,
    base: Option<i64>,
) -> Result<Plan, Problem> {
    let rules = documents::rules(authority, text).map_err(Problem::unreadable)?;
    let known = find(&inner.policies, workspace, app);
    let event = policy_event(call, app, known, text);
    if let Some(problem) = moved(known, base) {
        return Ok(refusal(event, problem));
    }
    let apps = inner.apps.iter();
    for (_, installed) in apps.filter(|(name, _)| app.is_empty() || *name == app) {
        let command = Command::Policy {
            authority,
            rules: &rules,
            now: call.now,
        };
        let decision = decide(&installed.snapshot, call.now, command);
        if decision.verdict == Verdict::Refused {
            return Ok(refusal(event, Problem::refused(decision.conflicts)));
        }
    }
    let next = inner.revision + 1;
    Ok(accepted(
        call,
        &inner.name,
        workspace,
        app,
        text,
        next,
        event,
    ))
}

fn policy_event(
    call: &Call<'_>,
    app: &str,
    known: Option<&Policy>,
    text: &str,
) -> crate::audit::Event {
    let mut event = event(call, "policy.write");
    event.app = rows::opt(app);
    event.touched.push(crate::audit::Touched {
        key: "rules".to_owned(),
        before: known.map(|policy| policy.text.clone()),
        // What could be read holds no credential.
        after: Some(text.to_owned()),
    });
    event
}

fn refusal(mut event: crate::audit::Event, problem: Problem) -> Plan {
    event.outcome = "refused";
    event.codes = vec![problem.code.to_owned()];
    Plan::refusal(event, problem)
}

fn moved(known: Option<&Policy>, base: Option<i64>) -> Option<Problem> {
    let now = known.map_or(0, |policy| policy.head.revision);
    let base = base.filter(|&base| base != now)?;
    let who = known.map_or("nobody", |policy| &policy.head.actor);
    let when = known.map_or("", |policy| &policy.head.time);
    let detail = format!(
        "the rules were changed by {who} at {when}: they are at r{now}, the write is based on r{base}"
    );
    Some(
        Problem::new(412, "version-conflict", detail)
            .more("currentRevision", now.to_string())
            .more("changedBy", super::quoted(who))
            .more("changedAt", super::quoted(when)),
    )
}

fn accepted(
    call: &Call<'_>,
    tenant: &str,
    workspace: &str,
    app: &str,
    text: &str,
    next: i64,
    mut event: crate::audit::Event,
) -> Plan {
    event.revision = Some(next);
    let time = call.now.to_string();
    let actor = call.identity.name.as_str();
    let statements = vec![
        Statement::new(
            "INSERT INTO policies (tenant, workspace, app, rules, revision, actor, time) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant, workspace, app) DO UPDATE SET \
             rules = excluded.rules, revision = excluded.revision, actor = excluded.actor, time = excluded.time",
            vec![
                tenant.into(),
                workspace.into(),
                app.into(),
                text.into(),
                next.into(),
                actor.into(),
                time.as_str().into(),
            ],
        ),
        Statement::new(
            "INSERT INTO history (tenant, revision, position, kind, app, workspace, member, key, value, actor, time, \
             version) VALUES ($1, $2, 0, 'policy', $3, $4, '', 'rules', $5, $6, $7, '')",
            vec![
                tenant.into(),
                next.into(),
                app.into(),
                workspace.into(),
                text.into(),
                actor.into(),
                time.as_str().into(),
            ],
        ),
    ];
    let reply = Reply::json(format!("{{\"revision\":{next},\"verdict\":\"accepted\"}}"));
    Plan {
        statements,
        event,
        moves: true,
        apply: Apply::Reload,
        reply: Ok(reply.etag(format!("\"r{next}\""))),
    }
}
