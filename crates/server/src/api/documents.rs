//! Documents in and out: what `lath app -f` reads from files, a service takes and gives.
//!
//! An import is desired state: an Overlay document replaces its scope's values, a Policy document its authority's
//! rules. Each document is one write of its own, decided like every other, and none where it changes nothing; the answer
//! says what became of each. A dry run decides the same and writes nothing.

use apps::decide::Change;
use apps::documents::{OverlayDocument, PolicyDocument};
use apps::layer::{Authority, Scope};
use apps::value::{Value, write_string};

use super::{hosts, overlays, policies, quoted};
use crate::documents::{self, Read};
use crate::http::{Call, Problem, Reply};
use crate::identity::Role;
use crate::state::rows;
use crate::state::tenant::Inner;

/// `POST /v1/documents?format=yaml|json|cue|files[&dryRun=true]`
pub async fn import(call: &Call<'_>) -> Result<Reply, Problem> {
    if call.header("idempotency-key").is_some() || call.header("if-match").is_some() {
        let detail = "an import is several writes: it takes no Idempotency-Key and no If-Match";
        return Err(Problem::bad(detail));
    }
    let dry = match call.query("dryRun") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Problem::bad("`dryRun` must be true or false")),
    };
    let mut read = match call.query("format").unwrap_or("yaml") {
        format @ ("yaml" | "json" | "cue") => {
            documents::read(&format!("import.{format}"), &call.body)
        }
        "files" => files(call)?,
        _ => return Err(Problem::bad("`format` must be yaml, json, cue or files")),
    };
    if read.has_errors() {
        let place = |span| Some(read.sources.locate(span));
        return Err(Problem::unreadable_at(&read.findings, place));
    }
    // Who may not write one of them writes none.
    if !may(call, &read) {
        return Err(Problem::forbidden());
    }
    let call = &call.with(dry);
    let mut done = Done::default();
    for document in read.documents.host.clone() {
        let app = document.app.clone().unwrap_or_default();
        let values = Value::Map(raw(&read, &document).into());
        let outcome = hosts::write_defaults(call, &app, &values, true).await;
        let of = rows::opt(&app).unwrap_or_else(|| "all apps".to_owned());
        let place = place(&read, document.text);
        done.add(call, "HostDefaults", &of, place, outcome).await;
    }
    if read.documents.environment.is_some() {
        let outcome = match environment(&read) {
            Some(fields) => hosts::write_environment(call, &fields, true).await,
            None => Err(Problem::bad("the environment cannot be read")),
        };
        done.add(call, "Environment", "host", None, outcome).await;
    }
    let written: Vec<PolicyDocument> = read.documents.policies.clone();
    for policy in &written {
        let app = policy.app.clone().unwrap_or_default();
        let outcome = match rules(&read, policy) {
            Some(text) => policies::write(call, &policy.authority, &app, &text, true).await,
            None => Err(Problem::bad("the rules cannot be read")),
        };
        let of = policy.authority.to_string();
        let place = Some(read.sources.locate(policy.span));
        done.add(call, "Policy", &of, place, outcome).await;
    }
    for document in read.documents.overlays.clone() {
        let Some(scope) = document.scope.clone() else {
            continue;
        };
        let outcome = overlay(call, &mut read, &document, &scope).await;
        let app = document.app.as_deref().unwrap_or_default();
        let place = place(&read, document.text);
        done.add(call, "Overlay", &format!("{app} {scope}"), place, outcome)
            .await;
    }
    let documents = done.0.join(",");
    Ok(Reply::json(format!(
        "{{\"dryRun\":{dry},\"documents\":[{documents}]}}"
    )))
}

/// Files by name, as `{"files": {name: text}}`.
fn files(call: &Call<'_>) -> Result<Read, Problem> {
    let wanted = || Problem::bad("the body must be {\"files\": {name: text}}");
    let body = call.object()?;
    let Some(Value::Map(files)) = body.get("files") else {
        return Err(wanted());
    };
    let mut texts = Vec::with_capacity(files.len());
    for (name, text) in files {
        texts.push((&**name, text.as_str().ok_or_else(wanted)?.as_bytes()));
    }
    Ok(documents::read_all(texts))
}

/// Where a document begins.
fn place(read: &Read, text: usize) -> Option<String> {
    let tree = &read.documents.texts.get(text)?.tree;
    Some(read.sources.locate(tree.span(tree.root())))
}

/// What became of each document, as JSON.
#[derive(Default)]
struct Done(Vec<String>);

impl Done {
    async fn add(
        &mut self,
        call: &Call<'_>,
        kind: &str,
        of: &str,
        place: Option<String>,
        outcome: Result<Reply, Problem>,
    ) {
        let mut out = format!("{{\"kind\":\"{kind}\",\"of\":{}", quoted(of));
        if let Some(place) = place {
            out.push_str(&format!(",\"place\":{}", quoted(&place)));
        }
        match outcome {
            Ok(reply) => {
                let body = String::from_utf8_lossy(reply.body()).into_owned();
                out.push_str(&format!(",\"result\":{body}}}"));
            }
            Err(problem) => {
                let state = call.state;
                let problem = state
                    .record_refusal(call, "documents.import", problem)
                    .await;
                out.push_str(&format!(",\"problem\":{}}}", problem.json(call.id)));
            }
        }
        self.0.push(out);
    }
}

fn may(call: &Call<'_>, read: &Read) -> bool {
    let who = &call.identity;
    let host = !read.documents.host.is_empty() || read.documents.environment.is_some();
    (!host || who.role == Role::Host)
        && read
            .documents
            .policies
            .iter()
            .all(|policy| who.writes_policy(&policy.authority))
        && read
            .documents
            .overlays
            .iter()
            .filter_map(|overlay| overlay.scope.as_ref())
            .all(|scope| who.uses(scope))
}

/// The tree of a document, as a value.
fn document_value(read: &Read, span: base::Span) -> Option<Value> {
    let text = read.documents.texts.iter().find(|text| {
        let root = text.tree.span(text.tree.root());
        root.source == span.source && root.start <= span.start && span.end <= root.end
    })?;
    let root = text.tree.root();
    Some(Value::from_tree(&text.tree, root, &read.symbols))
}

fn rules(read: &Read, policy: &PolicyDocument) -> Option<String> {
    let document = document_value(read, policy.span)?;
    Some(document.get("rules").map_or("[]".to_owned(), Value::json))
}

fn environment(read: &Read) -> Option<Value> {
    let is_environment = |value: &Value| {
        value
            .get("kind")?
            .as_str()
            .filter(|k| *k == "Environment")
            .map(|_| ())
    };
    let texts = read.documents.texts.iter();
    let mut values =
        texts.map(|text| Value::from_tree(&text.tree, text.tree.root(), &read.symbols));
    values.find(|value| is_environment(value).is_some())
}

/// The top fields of a document's values, as they are written.
fn raw(read: &Read, document: &OverlayDocument) -> Vec<(Box<str>, Value)> {
    let text = read.documents.texts.get(document.text);
    let value = text
        .zip(document.values)
        .map(|(text, node)| Value::from_tree(&text.tree, node, &read.symbols));
    match value {
        Some(Value::Map(fields)) => fields.into_vec(),
        _ => Vec::new(),
    }
}

async fn overlay(
    call: &Call<'_>,
    read: &mut Read,
    document: &OverlayDocument,
    scope: &Scope,
) -> Result<Reply, Problem> {
    let Some(app) = document.app.clone() else {
        return Err(Problem::bad("an Overlay document needs `app` here"));
    };
    let package = {
        let tenant = call.state.tenant(&scope.tenant)?;
        let inner = tenant.read();
        let installed = overlays::installed(&inner, &app)?;
        std::sync::Arc::clone(&installed.snapshot.package)
    };
    let wanted = read.values(document, &package.keys);
    let plan = |inner: &Inner| {
        let installed = overlays::installed(inner, &app)?;
        let known = installed.snapshot.overlay(scope);
        let keys = &installed.snapshot.package.keys;
        let known = known.map_or_else(Vec::new, |overlay| overlay.assignments(keys));
        // Only what differs is written: who set what stays set by them.
        let mut changes: Vec<(String, Change)> = wanted
            .iter()
            .filter(|(new, _)| {
                let same = known
                    .iter()
                    .any(|(old, _)| old.name == new.name && old.value == new.value);
                !same
            })
            .map(|(new, _)| (new.name.clone(), Change::Set(new.value.clone())))
            .collect();
        let gone = known.iter().filter(|(old, _)| {
            let orphan = keys.find(&old.name).is_none() && keys.find_renamed(&old.name).is_none();
            !orphan && !wanted.iter().any(|(new, _)| new.name == old.name)
        });
        changes.extend(gone.map(|(old, _)| (old.name.clone(), Change::Unset)));
        overlays::plan_desired(call, inner, &app, scope, &changes)
    };
    if call.dry {
        let inner = with_rules(call, read, &scope.tenant).await?;
        return plan(&inner)?.reply;
    }
    let done = call
        .state
        .transact(call, &scope.tenant, |inner, _| plan(inner));
    done.await
}

/// A tenant as it would be with the rules that the same import brings.
async fn with_rules(call: &Call<'_>, read: &Read, tenant: &str) -> Result<Inner, Problem> {
    let stored = rows::read(&call.state.store, rows::Span::one(tenant)).await;
    let stored = call.state.note(stored)?.into_iter().next();
    let mut stored = stored.ok_or_else(|| Problem::missing("there is no such tenant"))?;
    for policy in &read.documents.policies {
        let (of, workspace) = policies::names(&policy.authority);
        if of != tenant {
            continue;
        }
        let app = policy.app.clone().unwrap_or_default();
        let same = |known: &rows::Policy| known.workspace == workspace && known.app == app;
        stored.policies.retain(|known| !same(known));
        stored.policies.push(rows::Policy {
            workspace: workspace.to_owned(),
            app: app.clone(),
            text: String::new(),
            rules: policy.rules.clone(),
            head: rows::Head {
                revision: stored.revision,
                actor: call.identity.name.clone(),
                time: call.now.to_string(),
            },
        });
        stored
            .policies
            .sort_by(|a, b| (&a.workspace, &a.app).cmp(&(&b.workspace, &b.app)));
    }
    let (host, scanner) = (call.state.host(), &call.state.scanner);
    Ok(Inner::new(stored, &host, scanner, None))
}

/// `GET /v1/export?tenant=`: everything that a tenant has set, as documents that an import takes.
pub fn export(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = call.tenant()?;
    if !call.identity.administers_tenant(name) {
        return Err(Problem::forbidden());
    }
    let tenant = call.state.tenant(name)?;
    let inner = tenant.read();
    let mut out = String::new();
    for policy in &inner.policies {
        out.push_str("---\n{\"kind\":\"Policy\",\"authority\":");
        authority(&mut out, &rows::authority(name, &policy.workspace));
        if !policy.app.is_empty() {
            out.push_str(&format!(",\"app\":{}", quoted(&policy.app)));
        }
        out.push_str(&format!(",\"rules\":{}}}\n", policy.text));
    }
    for (app, installed) in &inner.apps {
        for scope in installed.snapshot.scopes() {
            let Some(overlay) = installed.snapshot.overlay(&scope) else {
                continue;
            };
            out.push_str(&format!(
                "---\n{{\"kind\":\"Overlay\",\"app\":{},\"scope\":",
                quoted(app)
            ));
            scope_json(&mut out, &scope);
            out.push_str(&format!(
                ",\"version\":{},\"values\":{{",
                quoted(&installed.version)
            ));
            let values = overlay.assignments(&installed.snapshot.package.keys);
            for (at, (assignment, _)) in values.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(&mut out, &assignment.name);
                out.push(':');
                assignment.value.write_json(&mut out);
            }
            out.push_str("}}\n");
        }
    }
    let reply = Reply::new(200, "application/yaml", out);
    let file = format!("attachment; filename=\"{name}.yaml\"");
    Ok(reply.header("content-disposition", file))
}

fn scope_json(out: &mut String, scope: &Scope) {
    out.push_str(&format!("{{\"tenant\":{}", quoted(&scope.tenant)));
    for (name, part) in [("workspace", &scope.workspace), ("user", &scope.user)] {
        if let Some(part) = part {
            out.push_str(&format!(",\"{name}\":{}", quoted(part)));
        }
    }
    out.push('}');
}

fn authority(out: &mut String, authority: &Authority) {
    match authority {
        Authority::Host => out.push_str("{\"host\":true}"),
        Authority::Tenant { tenant } => scope_json(out, &Scope::tenant(tenant)),
        Authority::Workspace { tenant, workspace } => {
            scope_json(out, &Scope::workspace(tenant, workspace));
        }
    }
}
