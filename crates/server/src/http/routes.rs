//! Every route, once: what is dispatched, documented, and tested comes from this table.

use std::sync::Arc;

use smallvec::SmallVec;

use super::call::Call;
use super::problem::Problem;
use super::reply::Reply;
use crate::api::{
    audits, context, documents, events, history, hosts, overlays, packages, policies, reviews,
    tokens, upgrades,
};
use crate::page;
use crate::state::State;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Page,
    Asset,
    Health,
    Metrics,
    OpenApi,
    Me,
    Tenants,
    MakeTenant,
    Contexts,
    Tokens,
    MakeToken,
    RevokeToken,
    Packages,
    Package,
    Upload,
    Environment,
    SetEnvironment,
    Defaults,
    SetDefaults,
    Resolve,
    WhatIf,
    Explain,
    Readiness,
    Diagnostics,
    Overlay,
    PatchOverlay,
    PutKey,
    UnsetKey,
    History,
    Rollback,
    Orphans,
    RemoveOrphan,
    UpgradeReport,
    Switch,
    Policies,
    SetPolicies,
    Reviews,
    Approve,
    Reject,
    Audit,
    VerifyAudit,
    Export,
    Import,
    Events,
}

/// A name in the query: whether it is needed, and what it means.
pub type Arg = (&'static str, bool, &'static str);

pub struct Route {
    pub op: Op,
    pub method: &'static str,
    pub path: &'static str,
    pub summary: &'static str,
    pub query: &'static [Arg],
    /// What the body is, by the name of its schema.
    pub body: Option<&'static str>,
    /// What a good answer is, by status and the name of its schema.
    pub answer: (u16, &'static str),
    /// Whether writes may carry `If-Match` and `Idempotency-Key`.
    pub guarded: (bool, bool),
}

impl Route {
    /// Whether it is there to change something.
    pub fn is_write(&self) -> bool {
        self.method != "GET" && self.op != Op::WhatIf
    }

    /// What an attempt is called in the audit.
    pub fn action(&self) -> &'static str {
        match self.op {
            Op::PatchOverlay | Op::PutKey | Op::UnsetKey => "overlay.write",
            Op::Rollback => "overlay.rollback",
            Op::RemoveOrphan => "orphan.remove",
            Op::Switch => "app.switch",
            Op::SetPolicies => "policy.write",
            Op::Approve => "review.approve",
            Op::Reject => "review.reject",
            Op::Import => "documents.import",
            Op::MakeTenant => "tenant.create",
            Op::MakeToken => "token.create",
            Op::RevokeToken => "token.revoke",
            Op::Upload => "package.upload",
            Op::SetEnvironment => "environment.write",
            Op::SetDefaults => "defaults.write",
            _ => "read",
        }
    }
}

const TENANT: &[Arg] = &[("tenant", true, "the tenant")];
const SCOPE: &[Arg] = &[
    ("tenant", true, "the tenant"),
    ("workspace", false, "a workspace of the tenant"),
    ("user", false, "a user of the workspace"),
];
const KEYED: &[Arg] = &[
    ("tenant", true, "the tenant"),
    ("workspace", false, "a workspace of the tenant"),
    ("user", false, "a user of the workspace"),
    ("key", false, "only this key"),
];
const ONE_KEY: &[Arg] = &[
    ("tenant", true, "the tenant"),
    ("workspace", false, "a workspace of the tenant"),
    ("user", false, "a user of the workspace"),
    ("key", true, "the key"),
];
const HISTORY: &[Arg] = &[
    ("tenant", true, "the tenant"),
    ("workspace", false, "a workspace of the tenant"),
    ("user", false, "a user of the workspace"),
    ("key", false, "only this key"),
    ("before", false, "only revisions before this one"),
];
const UPGRADE: &[Arg] = &[
    ("tenant", true, "the tenant"),
    ("to", true, "the version to compare with"),
];
const POLICY: &[Arg] = &[
    (
        "tenant",
        false,
        "the tenant; the host's own rules without one",
    ),
    ("workspace", false, "a workspace of the tenant"),
    ("app", false, "rules for this app only"),
];
const APP: &[Arg] = &[("app", false, "for this app only")];
const AUDIT: &[Arg] = &[
    (
        "tenant",
        false,
        "the tenant; the host's own chain without one",
    ),
    ("after", false, "only records after this number"),
];
const CHAIN: &[Arg] = &[(
    "tenant",
    false,
    "the tenant; the host's own chain without one",
)];
const IMPORT: &[Arg] = &[
    (
        "format",
        false,
        "yaml (as default), json, cue, or files: {\"files\": {name: text}}",
    ),
    ("dryRun", false, "true: decide everything, write nothing"),
];
const NONE: &[Arg] = &[];

const fn get(
    op: Op,
    path: &'static str,
    summary: &'static str,
    query: &'static [Arg],
    answer: &'static str,
) -> Route {
    Route {
        op,
        method: "GET",
        path,
        summary,
        query,
        body: None,
        answer: (200, answer),
        guarded: (false, false),
    }
}

#[expect(clippy::too_many_arguments, reason = "a line of a table")]
const fn write(
    op: Op,
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    query: &'static [Arg],
    body: Option<&'static str>,
    answer: (u16, &'static str),
    guarded: (bool, bool),
) -> Route {
    Route {
        op,
        method,
        path,
        summary,
        query,
        body,
        answer,
        guarded,
    }
}

const BOTH: (bool, bool) = (true, true);
const ONCE: (bool, bool) = (false, true);
const PLAIN: (bool, bool) = (false, false);

/// In the order in which they are tried and documented.
#[rustfmt::skip]
pub const ROUTES: &[Route] = &[
    get(Op::Resolve, "/v1/apps/{app}/resolve", "Effective values of a context, with everything behind them", KEYED, "Resolved"),
    write(Op::WhatIf, "POST", "/v1/apps/{app}/resolve", "What would be with these changes and this runtime input; nothing is kept", KEYED, Some("WhatIf"), (200, "WhatIfResult"), PLAIN),
    get(Op::Explain, "/v1/apps/{app}/explain", "One key: all layers, rules, conflicts, who may change it", ONE_KEY, "ResolvedValue"),
    get(Op::Readiness, "/v1/apps/{app}/readiness", "Whether the app and its entries can be used, and what to do if not", SCOPE, "Readiness"),
    get(Op::Diagnostics, "/v1/apps/{app}/diagnostics", "A bundle for support; private values are masked", SCOPE, "Object"),
    get(Op::Overlay, "/v1/apps/{app}/overlay", "What a scope sets itself", SCOPE, "Overlay"),
    write(Op::PatchOverlay, "PATCH", "/v1/apps/{app}/overlay", "Changes several values of a scope at once", SCOPE, Some("Changes"), (200, "Written"), BOTH),
    write(Op::PutKey, "PUT", "/v1/apps/{app}/keys/{key}", "Sets one value of a scope", SCOPE, Some("OneValue"), (200, "Written"), BOTH),
    write(Op::UnsetKey, "DELETE", "/v1/apps/{app}/keys/{key}", "Withdraws a scope's own value; what is below serves again", SCOPE, None, (200, "Written"), BOTH),
    get(Op::History, "/v1/apps/{app}/history", "The changes of a scope, newest first", HISTORY, "History"),
    write(Op::Rollback, "POST", "/v1/apps/{app}/rollback", "Brings a scope back to what it was at a revision, as a new write", SCOPE, Some("Rollback"), (200, "Written"), BOTH),
    get(Op::Orphans, "/v1/apps/{app}/orphans", "Stored values whose keys the installed version does not have", TENANT, "Orphans"),
    write(Op::RemoveOrphan, "DELETE", "/v1/apps/{app}/orphans/{key}", "Removes an orphan after an admin's review", SCOPE, None, (200, "Revision"), ONCE),
    get(Op::UpgradeReport, "/v1/apps/{app}/upgrade", "What another version would do to the overlays", UPGRADE, "UpgradeReport"),
    write(Op::Switch, "POST", "/v1/apps/{app}/upgrade", "Installs the app for a tenant, or switches its version", TENANT, Some("Switch"), (200, "Switched"), ONCE),
    get(Op::Contexts, "/v1/contexts", "The apps of a tenant, and the scopes that the caller may use", TENANT, "Contexts"),
    get(Op::Policies, "/v1/policies", "The rules of the host, a tenant or a workspace", POLICY, "Policy"),
    write(Op::SetPolicies, "PUT", "/v1/policies", "Replaces the rules of one authority", POLICY, Some("Rules"), (200, "Written"), BOTH),
    get(Op::Reviews, "/v1/reviews", "Writes that wait for another person", TENANT, "Reviews"),
    write(Op::Approve, "POST", "/v1/reviews/{id}/approve", "Approves a pending write of another person", TENANT, None, (200, "Written"), ONCE),
    write(Op::Reject, "POST", "/v1/reviews/{id}/reject", "Rejects a pending write, or takes one's own back", TENANT, None, (200, "Written"), ONCE),
    get(Op::Audit, "/v1/audit", "Records of what was done and tried, in order", AUDIT, "Audit"),
    get(Op::VerifyAudit, "/v1/audit/verify", "Recomputes an audit chain", CHAIN, "Verified"),
    get(Op::Events, "/v1/events", "Changes of a tenant as server-sent events; resumes after Last-Event-ID", TENANT, "EventStream"),
    get(Op::Export, "/v1/export", "Everything a tenant has set, as documents that an import takes", TENANT, "Documents"),
    write(Op::Import, "POST", "/v1/documents", "Takes documents as desired state, each as a write of its own", IMPORT, Some("Documents"), (200, "Imported"), PLAIN),
    get(Op::Me, "/v1/me", "Who the token belongs to", NONE, "Identity"),
    get(Op::Tenants, "/v1/tenants", "The tenants that the caller may know of", NONE, "Tenants"),
    write(Op::MakeTenant, "PUT", "/v1/tenants/{tenant}", "Makes a tenant", NONE, None, (201, "Object"), ONCE),
    get(Op::Tokens, "/v1/tokens", "Tokens within the caller's scope, without their texts", NONE, "Tokens"),
    write(Op::MakeToken, "POST", "/v1/tokens", "Makes a token; its text is shown once", NONE, Some("NewToken"), (201, "Token"), PLAIN),
    write(Op::RevokeToken, "DELETE", "/v1/tokens/{id}", "Revokes a token", NONE, None, (204, ""), ONCE),
    get(Op::Packages, "/v1/packages", "All versions of all apps", NONE, "Packages"),
    get(Op::Package, "/v1/packages/{app}/{version}", "The keys that a version declares", NONE, "Package"),
    write(Op::Upload, "POST", "/v1/packages", "Adds a version of an app", NONE, Some("Upload"), (201, "Uploaded"), ONCE),
    get(Op::Environment, "/v1/environment", "What the host offers: tools, knowledge, secrets, models, scores", NONE, "Object"),
    write(Op::SetEnvironment, "PUT", "/v1/environment", "Replaces what the host offers", NONE, Some("Environment"), (200, "Revision"), ONCE),
    get(Op::Defaults, "/v1/host-defaults", "The host's defaults, for one app or for all", APP, "Object"),
    write(Op::SetDefaults, "PUT", "/v1/host-defaults", "Replaces the host's defaults, for one app or for all", APP, Some("Values"), (200, "Revision"), ONCE),
    get(Op::Health, "/healthz", "Whether the node serves, and whether its database is there", NONE, "Health"),
    get(Op::Metrics, "/metrics", "Counters for Prometheus", NONE, "Text"),
    get(Op::OpenApi, "/openapi.json", "This document", NONE, "Object"),
    get(Op::Page, "/", "The page", NONE, "Html"),
    get(Op::Asset, "/assets/{file}", "A file of the page", NONE, "Text"),
];

/// Routes that need no token.
pub fn is_open(op: Op) -> bool {
    matches!(
        op,
        Op::Page | Op::Asset | Op::Health | Op::Metrics | Op::OpenApi
    )
}

/// Parts of a path as they stand there, by name.
type Given<'p> = SmallVec<[(&'static str, &'p str); 2]>;

pub enum Found<'p> {
    Route(&'static Route, Given<'p>),
    /// The path is there, with these methods.
    OtherMethod(String),
    Nothing,
}

pub fn find<'p>(method: &str, path: &'p str) -> Found<'p> {
    let mut others = Vec::new();
    for route in ROUTES {
        if let Some(parts) = matched(route.path, path) {
            if route.method == method {
                return Found::Route(route, parts);
            }
            others.push(route.method);
        }
    }
    match others.is_empty() {
        true => Found::Nothing,
        false => Found::OtherMethod(others.join(", ")),
    }
}

fn matched<'p>(pattern: &'static str, path: &'p str) -> Option<Given<'p>> {
    let mut parts = Given::new();
    let mut given = path.split('/');
    for wanted in pattern.split('/') {
        let part = given.next()?;
        match wanted.strip_prefix('{').and_then(|w| w.strip_suffix('}')) {
            Some(name) => parts.push((name, part)),
            None if wanted == part => {}
            None => return None,
        }
    }
    given.next().is_none().then_some(parts)
}

/// What needs no token.
pub fn open(
    op: Op,
    state: &Arc<State>,
    parts: &[(&'static str, &str)],
) -> Option<Result<Reply, Problem>> {
    Some(match op {
        Op::Page => page::asset("index.html"),
        Op::Asset => page::asset(parts.first().map_or("", |(_, file)| *file)),
        Op::OpenApi => Ok(Reply::json(super::openapi().to_string())),
        Op::Health => Ok(match state.stale_since() {
            None => Reply::json("{\"status\":\"ok\",\"database\":\"there\"}"),
            Some(since) => Reply::json(format!(
                "{{\"status\":\"stale\",\"database\":\"lost\",\"since\":\"{since}\"}}"
            )),
        }),
        Op::Metrics => {
            let stale = state.stale_since().is_some();
            let text = state.metrics.text(stale, state.tenant_names().len());
            Ok(Reply::new(200, "text/plain; version=0.0.4", text))
        }
        _ => return None,
    })
}

pub async fn run(op: Op, call: &Call<'_>) -> Result<Reply, Problem> {
    match op {
        Op::Resolve => context::resolve_keys(call),
        Op::WhatIf => context::what_if(call),
        Op::Explain => context::explain(call),
        Op::Readiness => context::ready(call),
        Op::Diagnostics => context::diagnostics(call),
        Op::Orphans => context::orphans(call),
        Op::Contexts => context::contexts(call),
        Op::Overlay => overlays::show(call),
        Op::PatchOverlay => overlays::patch(call).await,
        Op::PutKey => overlays::put_key(call).await,
        Op::UnsetKey => overlays::unset_key(call).await,
        Op::History => history::list(call).await,
        Op::Rollback => history::rollback(call).await,
        Op::RemoveOrphan => upgrades::remove_orphan(call).await,
        Op::UpgradeReport => upgrades::report(call).await,
        Op::Switch => upgrades::switch(call).await,
        Op::Policies => policies::show(call),
        Op::SetPolicies => policies::replace(call).await,
        Op::Reviews => reviews::list(call),
        Op::Approve => reviews::approve(call).await,
        Op::Reject => reviews::reject(call).await,
        Op::Audit => audits::list(call).await,
        Op::VerifyAudit => audits::verify(call).await,
        Op::Events => events::stream(call),
        Op::Export => documents::export(call),
        Op::Import => documents::import(call).await,
        Op::Me => hosts::me(call),
        Op::Tenants => hosts::tenants(call),
        Op::MakeTenant => hosts::make_tenant(call).await,
        Op::Tokens => tokens::list(call),
        Op::MakeToken => tokens::make(call).await,
        Op::RevokeToken => tokens::revoke(call).await,
        Op::Packages => packages::list(call),
        Op::Package => packages::show(call),
        Op::Upload => packages::upload(call).await,
        Op::Environment => hosts::environment(call),
        Op::SetEnvironment => hosts::set_environment(call).await,
        Op::Defaults => hosts::defaults(call),
        Op::SetDefaults => hosts::set_defaults(call).await,
        Op::Page | Op::Asset | Op::Health | Op::Metrics | Op::OpenApi => {
            Err(Problem::missing("there is no such route"))
        }
    }
}
