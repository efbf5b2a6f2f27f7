//! Versions of an app in a tenant: installed, compared before a switch, switched.

use apps::decide::{Command, decide};
use apps::upgrade::{Verdict, upgrade_report};

use super::overlays::{installed, parts};
use super::{event, quoted};
use crate::http::{Call, Problem, Reply};
use crate::state::tenant::Inner;
use crate::state::{Apply, Plan};
use crate::store::Statement;

/// The version that a call asks for, and whether it is there.
fn wanted(call: &Call<'_>, version: &str) -> Result<(), Problem> {
    match call.state.host().package(call.part("app"), version) {
        Some(_) => Ok(()),
        None => Err(Problem::missing("there is no such version of the app")),
    }
}

/// The tenant as it would be with another version.
async fn other(call: &Call<'_>, tenant: &str, version: &str) -> Result<Inner, Problem> {
    let host = call.state.host();
    let (store, scanner) = (&call.state.store, &call.state.scanner);
    let instead = Some((call.part("app"), version));
    let loaded = Inner::load(store, tenant, &host, scanner, instead).await;
    call.state
        .note(loaded)?
        .ok_or_else(|| Problem::missing("there is no such tenant"))
}

/// `GET …/upgrade?tenant=&to=`: what another version would do to the overlays.
pub async fn report(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = call.tenant()?;
    if !call.identity.administers_tenant(name) {
        return Err(Problem::forbidden());
    }
    let to = call
        .query("to")
        .ok_or_else(|| Problem::bad("`to` is missing: the version to compare with"))?;
    let tenant = call.state.tenant(name)?;
    installed(&tenant.read(), call.part("app"))?;
    wanted(call, to)?;
    let other = other(call, name, to).await?;
    let inner = tenant.read();
    let mut out = String::new();
    reported(call, &inner, &other)?.write_json(&mut out);
    Ok(Reply::json(out))
}

fn reported(
    call: &Call<'_>,
    inner: &Inner,
    other: &Inner,
) -> Result<apps::upgrade::Report, Problem> {
    let app = call.part("app");
    let (old, new) = (installed(inner, app)?, installed(other, app)?);
    Ok(upgrade_report(&old.snapshot, &new.snapshot, call.now))
}

/// `POST …/upgrade?tenant=` with `{"to": version, "reviewed": true}`: installs the app, or switches its version. A
/// switch that the report calls blocked, or that needs a review nobody says was made, is refused.
pub async fn switch(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = call.tenant()?;
    if !call.identity.administers_tenant(name) {
        return Err(Problem::forbidden());
    }
    let body = call.object()?;
    let to = body
        .get("to")
        .and_then(|to| to.as_str())
        .ok_or_else(|| Problem::bad("the body must be {\"to\": version}"))?;
    let reviewed = body.get("reviewed").and_then(|r| r.as_bool()) == Some(true);
    call.state.tenant(name)?;
    wanted(call, to)?;
    let app = call.part("app");
    // Decided on what is stored; should that move until it is committed, it is decided again.
    for _ in 0..4 {
        let other = other(call, name, to).await?;
        let tried = call.state.transact(call, name, |inner, _| {
            if inner.revision != other.revision {
                return Err(Problem::new(
                    409,
                    "busy",
                    "others write at the same time; try again",
                ));
            }
            plan_switch(call, inner, &other, app, to, reviewed)
        });
        match tried.await {
            Err(problem) if problem.code == "busy" => {
                call.state.reload(name).await?;
            }
            done => return done,
        }
    }
    Err(Problem::new(
        409,
        "busy",
        "others write at the same time; try again",
    ))
}

fn plan_switch(
    call: &Call<'_>,
    inner: &Inner,
    other: &Inner,
    app: &str,
    to: &str,
    reviewed: bool,
) -> Result<Plan, Problem> {
    let from = inner
        .apps
        .get(app)
        .map(|installed| installed.version.clone());
    let mut event = event(call, "app.switch");
    event.app = Some(app.to_owned());
    event.detail = Some(match &from {
        Some(from) => format!("{from} to {to}"),
        None => format!("installed {to}"),
    });
    if from.is_some() {
        let report = reported(call, inner, other)?;
        let refused = match report.verdict {
            Verdict::Blocked => Some("the report says that the upgrade is blocked"),
            Verdict::NeedsReview if !reviewed => {
                Some("the report needs a review: read it, then send `reviewed: true`")
            }
            _ => None,
        };
        if let Some(detail) = refused {
            event.outcome = "refused";
            event.codes = vec![format!("upgrade-{}", report.verdict.word())];
            let mut json = String::new();
            report.write_json(&mut json);
            let problem = Problem::new(409, "upgrade-not-safe", detail).more("report", json);
            return Ok(Plan::refusal(event, problem));
        }
    }
    let next = inner.revision + 1;
    event.revision = Some(next);
    let time = call.now.to_string();
    let actor = call.identity.name.as_str();
    let statements = vec![
        Statement::new(
            "INSERT INTO installs (tenant, app, version, revision, actor, time) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (tenant, app) DO UPDATE SET version = excluded.version, revision = excluded.revision, \
             actor = excluded.actor, time = excluded.time",
            vec![
                inner.name.as_str().into(),
                app.into(),
                to.into(),
                next.into(),
                actor.into(),
                time.as_str().into(),
            ],
        ),
        Statement::new(
            "INSERT INTO history (tenant, revision, position, kind, app, workspace, member, key, value, actor, time, \
             version) VALUES ($1, $2, 0, 'switch', $3, '', '', '', NULL, $4, $5, $6)",
            vec![
                inner.name.as_str().into(),
                next.into(),
                app.into(),
                actor.into(),
                time.as_str().into(),
                to.into(),
            ],
        ),
    ];
    let before = from.map_or("null".to_owned(), |from| quoted(&from));
    let told = format!(
        "{{\"revision\":{next},\"from\":{before},\"to\":{}}}",
        quoted(to)
    );
    Ok(Plan {
        statements,
        event,
        moves: true,
        apply: Apply::Reload,
        reply: Ok(Reply::json(told)),
    })
}

/// `DELETE …/orphans/{key}`: an admin's review of a stored value whose key is gone.
pub async fn remove_orphan(call: &Call<'_>) -> Result<Reply, Problem> {
    let scope = call.scope()?;
    if !call.identity.administers(&scope) {
        return Err(Problem::forbidden());
    }
    let (app, key) = (call.part("app"), call.part("key"));
    call.state
        .transact(call, &scope.tenant, |inner, _| {
            let installed = installed(inner, app)?;
            let command = Command::RemoveOrphan {
                scope: &scope,
                key,
                by_admin: true,
            };
            let decision = decide(&installed.snapshot, call.now, command);
            let mut event = event(call, "orphan.remove");
            event.app = Some(app.to_owned());
            event.scope = Some(scope.clone());
            event.detail = Some(call.state.scanner.mask(key).0);
            if decision.overlay.is_none() {
                event.outcome = "refused";
                let codes = decision.conflicts.iter();
                event.codes = codes.map(|c| c.code.0.to_owned()).collect();
                return Ok(Plan::refusal(event, Problem::refused(decision.conflicts)));
            }
            let next = inner.revision + 1;
            event.revision = Some(next);
            let (workspace, member) = parts(&scope);
            let place = [scope.tenant.as_str(), app, workspace, member, key];
            let place: Vec<_> = place.into_iter().map(Into::into).collect();
            let mut told = place.clone();
            told.extend([
                next.into(),
                call.identity.name.as_str().into(),
                call.now.to_string().into(),
                installed.version.as_str().into(),
            ]);
            let statements = vec![
                Statement::new(
                    "DELETE FROM entries WHERE tenant = $1 AND app = $2 AND workspace = $3 AND member = $4 \
                     AND key = $5",
                    place,
                ),
                Statement::new(
                    "INSERT INTO history (tenant, app, workspace, member, key, revision, position, kind, actor, time, \
                     version) VALUES ($1, $2, $3, $4, $5, $6, 0, 'orphan-removed', $7, $8, $9)",
                    told,
                ),
            ];
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
