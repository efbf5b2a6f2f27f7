//! Answers about one context: resolved values, what-if, explanations, readiness, diagnostics.

use apps::conflict::Conflict;
use apps::decide::{Command, Verdict, Write, decide};
use apps::layer::Scope;
use apps::resolve::{Context, Resolved, resolve};
use apps::value::{Value, write_string};
use apps::{assemble, bundle, readiness, write};
use hyper::header::{self, HeaderValue};

use super::overlays::{self, installed};
use crate::audit;
use crate::http::{Call, Problem, Reply};
use crate::state::bodies::Body;
use crate::state::rows;
use crate::state::tenant::Inner;

/// `GET …/resolve`: one key or all, with everything about them.
pub fn resolve_keys(call: &Call<'_>) -> Result<Reply, Problem> {
    let place = call.place()?;
    if !call.identity.reaches(place) {
        return Err(Problem::forbidden());
    }
    let (app, key) = (call.part("app"), call.query("key"));
    let tenant = call.state.tenant(place.tenant)?;
    let inner = tenant.read();
    let mut question = String::with_capacity(96);
    let (workspace, user) = (place.workspace.unwrap_or(""), place.user.unwrap_or(""));
    for part in [app, workspace, user, key.unwrap_or("\u{1}")] {
        question.push_str(part);
        question.push('\0');
    }
    let known = {
        let bodies = tenant.bodies.lock().expect("nothing panics under the lock");
        bodies
            .get(&question, inner.host_revision, call.now)
            .cloned()
    };
    let body = match known {
        Some(body) => body,
        None => {
            let body = answer(call, &inner, app, &place.scope(), key)?;
            let mut bodies = tenant.bodies.lock().expect("nothing panics under the lock");
            bodies.put(&question, inner.host_revision, body.clone());
            body
        }
    };
    let same = call.headers.get(header::IF_NONE_MATCH) == Some(&body.etag);
    let reply = match same {
        true => Reply::empty(304),
        false => Reply::json(body.bytes),
    };
    Ok(Reply {
        etag: Some(body.etag),
        ..reply
    })
}

fn answer(
    call: &Call<'_>,
    inner: &Inner,
    app: &str,
    scope: &Scope,
    key: Option<&str>,
) -> Result<Body, Problem> {
    let installed = installed(inner, app)?;
    let context = Context::of(scope, call.now);
    let view = resolve(&installed.snapshot, &context);
    let mut out = head(inner, &installed.version);
    values(&mut out, &view, key)?;
    out.push('}');
    // Overlay, host, time and package all show in the answer; its hash would cost more than saying so.
    let stamp = context.now.0.min(view.next_change().map_or(0, |t| t.0));
    let (t, h) = (inner.revision, inner.host_revision);
    Ok(Body {
        etag: HeaderValue::from_str(&format!("\"t{t}.h{h}.{stamp:x}\""))
            .expect("digits and letters"),
        bytes: out.into(),
        until: view.next_change(),
    })
}

fn head(inner: &Inner, version: &str) -> String {
    let (revision, host) = (inner.revision, inner.host_revision);
    let mut out = format!("{{\"revision\":{revision},\"hostRevision\":{host},\"version\":");
    write_string(&mut out, version);
    out
}

fn values(out: &mut String, view: &Resolved<'_>, key: Option<&str>) -> Result<(), Problem> {
    out.push_str(",\"values\":[");
    match key {
        Some(name) => {
            let answer = view.find(name).ok_or_else(|| no_key(view))?;
            write::resolved_value(out, view, &answer, None);
        }
        None => {
            for (at, answer) in view.all().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write::resolved_value(out, view, &answer, None);
            }
        }
    }
    out.push(']');
    if key.is_none() {
        out.push_str(",\"conflicts\":");
        write::all_conflicts(out, &assemble::stray_conflicts(view), None);
    }
    Ok(())
}

fn no_key(_: &Resolved<'_>) -> Problem {
    Problem::missing("the app has no such key")
}

/// `POST …/resolve`: what would be, were these changes made and this runtime input given. Nothing is kept.
pub fn what_if(call: &Call<'_>) -> Result<Reply, Problem> {
    let scope = call.scope()?;
    if !call.identity.uses(&scope) {
        return Err(Problem::forbidden());
    }
    let body = call.object()?;
    let empty = Value::Map(Box::new([]));
    let changes = rows::changes(body.get("changes").unwrap_or(&empty));
    let runtime: Vec<(String, Value)> = match body.get("runtime") {
        Some(Value::Map(fields)) => fields
            .iter()
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect(),
        _ => Vec::new(),
    };
    let tenant = call.state.tenant(&scope.tenant)?;
    let inner = tenant.read();
    let installed = installed(&inner, call.part("app"))?;
    let snapshot = &installed.snapshot;
    let write = Write {
        scope: scope.clone(),
        changes,
        author: Some(call.identity.name.as_str().into()),
        time: Some(call.now),
        revision: u64::try_from(inner.revision + 1).ok(),
        base: None,
    };
    let decision = decide(snapshot, call.now, Command::Overlay(&write));
    let mut context = Context::of(&scope, call.now);
    let given = decide(
        snapshot,
        call.now,
        Command::Runtime {
            context: &context,
            values: &runtime,
        },
    );
    context.runtime = given.overlay.unwrap_or_default();
    let mut view = resolve(snapshot, &context);
    if let Some(overlay) = &decision.overlay {
        view = view.with(scope.layer(), overlay);
    }
    let verdict = match (decision.verdict, given.verdict) {
        (Verdict::Refused, _) | (_, Verdict::Refused) => Verdict::Refused,
        (Verdict::Pending, _) | (_, Verdict::Pending) => Verdict::Pending,
        _ => Verdict::Accepted,
    };
    let mut out = head(&inner, &installed.version);
    out.push_str(&format!(",\"verdict\":\"{}\"", audit::outcome(verdict)));
    out.push_str(",\"refusals\":");
    let refusals: Vec<Conflict> = decision
        .conflicts
        .into_iter()
        .chain(given.conflicts)
        .collect();
    write::all_conflicts(&mut out, &refusals, None);
    values(&mut out, &view, call.query("key"))?;
    out.push('}');
    Ok(Reply::json(out))
}

/// A context that may be inspected, and what to do with it.
fn inspect(
    call: &Call<'_>,
    private: bool,
    answer: impl FnOnce(&Resolved<'_>) -> Result<String, Problem>,
) -> Result<Reply, Problem> {
    let scope = call.scope()?;
    let may = match private {
        true => call.identity.uses(&scope),
        false => call.identity.inspects(&scope),
    };
    if !may {
        return Err(Problem::forbidden());
    }
    let tenant = call.state.tenant(&scope.tenant)?;
    let inner = tenant.read();
    let installed = installed(&inner, call.part("app"))?;
    let context = Context::of(&scope, call.now);
    answer(&resolve(&installed.snapshot, &context)).map(Reply::json)
}

/// `GET …/explain`: one key, and every conflict about it.
pub fn explain(call: &Call<'_>) -> Result<Reply, Problem> {
    let key = call
        .query("key")
        .ok_or_else(|| Problem::bad("`key` is missing"))?;
    inspect(call, true, |view| {
        let answer = view.find(key).ok_or_else(|| no_key(view))?;
        let mut out = String::new();
        write::resolved_value(&mut out, view, &answer, None);
        Ok(out)
    })
}

/// `GET …/readiness`
pub fn ready(call: &Call<'_>) -> Result<Reply, Problem> {
    inspect(call, false, |view| {
        let mut out = String::new();
        readiness(view).write_json(&mut out);
        Ok(out)
    })
}

/// `GET …/diagnostics`: the bundle for support, private values masked.
pub fn diagnostics(call: &Call<'_>) -> Result<Reply, Problem> {
    let reply = inspect(call, false, |view| {
        let version = env!("CARGO_PKG_VERSION");
        Ok(bundle::bundle(view, &call.state.fingerprints, version))
    })?;
    let name = format!("attachment; filename=\"{}-bundle.json\"", call.part("app"));
    Ok(reply.header("content-disposition", name))
}

/// `GET …/orphans`: stored values whose keys this version does not have.
pub fn orphans(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = call.tenant()?;
    if !call.identity.administers_tenant(name) {
        return Err(Problem::forbidden());
    }
    let tenant = call.state.tenant(name)?;
    let inner = tenant.read();
    let installed = installed(&inner, call.part("app"))?;
    let mut out = String::from("{\"orphans\":[");
    let mut first = true;
    for scope in installed.snapshot.scopes() {
        let overlay = installed.snapshot.overlay(&scope);
        for stray in overlay.into_iter().flat_map(|overlay| overlay.strays()) {
            out.push_str(if first { "{\"key\":" } else { ",{\"key\":" });
            first = false;
            write_string(&mut out, &stray.name);
            let (workspace, user) = overlays::parts(&scope);
            for (name, text) in [
                ("scope", scope.to_string().as_str()),
                ("tenant", &scope.tenant),
                ("workspace", workspace),
                ("user", user),
                ("actor", stray.meta.actor.as_deref().unwrap_or("")),
                ("version", stray.meta.version.as_deref().unwrap_or("")),
            ] {
                out.push_str(&format!(",\"{name}\":"));
                write_string(&mut out, text);
            }
            out.push_str(&format!(",\"value\":{}}}", stray.value.json));
        }
    }
    out.push_str("]}");
    Ok(Reply::json(out))
}

/// Every scope that is set somewhere, for choosing one.
pub fn contexts(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = call.tenant()?;
    let who = &call.identity;
    let may = who.role == crate::identity::Role::Host || who.tenant == name;
    if !may || who.role == crate::identity::Role::Support {
        return Err(Problem::forbidden());
    }
    let tenant = call.state.tenant(name)?;
    let inner = tenant.read();
    let mut out = String::from("{\"apps\":[");
    for (at, (app, installed)) in inner.apps.iter().enumerate() {
        out.push_str(if at > 0 { ",{\"app\":" } else { "{\"app\":" });
        write_string(&mut out, app);
        out.push_str(",\"version\":");
        write_string(&mut out, &installed.version);
        out.push_str(",\"scopes\":[");
        let mut scopes = installed.snapshot.scopes();
        scopes.push(Scope::tenant(name));
        if !who.workspace.is_empty() {
            scopes.push(Scope::workspace(name, who.workspace.as_str()));
        }
        if !who.user.is_empty() {
            let (workspace, user) = (who.workspace.as_str(), who.user.as_str());
            scopes.push(Scope::user(name, workspace, user));
        }
        scopes.sort();
        scopes.dedup();
        let mut first = true;
        for scope in scopes.iter().filter(|scope| who.uses(scope)) {
            let (workspace, user) = overlays::parts(scope);
            out.push_str(if first { "" } else { "," });
            first = false;
            out.push_str("{\"workspace\":");
            write_string(&mut out, workspace);
            out.push_str(",\"user\":");
            write_string(&mut out, user);
            out.push('}');
        }
        out.push_str("]}");
    }
    out.push_str("]}");
    Ok(Reply::json(out))
}
