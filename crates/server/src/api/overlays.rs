//! Overlays: what one scope says itself, and changes to it.
//!
//! Every change goes through [`apps::decide`] on the tenant's snapshot: accepted, pending until another person
//! approves, or refused with the resolver's own conflicts. All three are in the audit chain.

use apps::conflict::Conflict;
use apps::decide::{Change, Command, Decision, Review, Verdict, Write, decide};
use apps::layer::Scope;
use apps::overlay::Overlay;
use apps::value::{Value, write_string};
use apps::write::all_conflicts;

use crate::audit::{self, Event, Touched};
use crate::http::{Call, MOST_CHANGES, Problem, Reply};
use crate::state::rows::{self, Head};
use crate::state::tenant::{Inner, Installed};
use crate::state::{Apply, Plan};
use crate::store::{Cell, Statement};

/// `GET …/overlay`: the values that a scope sets itself.
pub fn show(call: &Call<'_>) -> Result<Reply, Problem> {
    let scope = call.scope()?;
    if !call.identity.uses(&scope) {
        return Err(Problem::forbidden());
    }
    let tenant = call.state.tenant(&scope.tenant)?;
    let inner = tenant.read();
    let installed = installed(&inner, call.part("app"))?;
    let revision = revision(installed, &scope);
    let etag = format!("\"r{revision}\"");
    let mut out = format!("{{\"revision\":{revision},\"scope\":");
    write_string(&mut out, &scope.to_string());
    out.push_str(",\"values\":{");
    let empty = Overlay::default();
    let overlay = installed.snapshot.overlay(&scope).unwrap_or(&empty);
    let keys = &installed.snapshot.package.keys;
    for (at, entry) in overlay.entries().iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(&mut out, &keys.get(entry.key).name);
        out.push_str(&format!(":{{\"value\":{}", entry.value.json));
        out.push_str(&format!(
            ",\"revision\":{}}}",
            entry.meta.revision.unwrap_or(0)
        ));
    }
    out.push_str("}}");
    Ok(Reply::json(out).etag(etag))
}

/// `PATCH …/overlay`: several changes at once; `If-Match` compares the overlay's revision.
pub async fn patch(call: &Call<'_>) -> Result<Reply, Problem> {
    let scope = call.scope()?;
    let changes = changes(call)?;
    let base = call.base()?.map(Base::Overlay);
    write(call, &scope, &changes, base, "overlay.write").await
}

/// `PUT …/keys/{key}`: one value; `If-Match` compares the revision of that value.
pub async fn put_key(call: &Call<'_>) -> Result<Reply, Problem> {
    let scope = call.scope()?;
    let body = call.object()?;
    let value = body
        .get("value")
        .ok_or_else(|| Problem::bad("the body must be {\"value\": …}"))?;
    let changes = rows::changes(&Value::Map(Box::new([(
        call.part("key").into(),
        value.clone(),
    )])));
    let base = call.base()?.map(Base::Key);
    write(call, &scope, &changes, base, "overlay.write").await
}

/// `DELETE …/keys/{key}`: withdraws the scope's own value.
pub async fn unset_key(call: &Call<'_>) -> Result<Reply, Problem> {
    let scope = call.scope()?;
    let changes = vec![(call.part("key").to_owned(), Change::Unset)];
    let base = call.base()?.map(Base::Key);
    write(call, &scope, &changes, base, "overlay.write").await
}

/// The changes of a body `{"changes": {key: value or {"$unset": true}}}`.
pub fn changes(call: &Call<'_>) -> Result<Vec<(String, Change)>, Problem> {
    let body = call.object()?;
    let map = body
        .get("changes")
        .filter(|map| matches!(map, Value::Map(_)))
        .ok_or_else(|| Problem::bad("the body must be {\"changes\": {key: value}}"))?;
    let changes = rows::changes(map);
    if changes.len() > MOST_CHANGES {
        let detail = format!("one write holds at most {MOST_CHANGES} changes");
        return Err(Problem::new(413, "too-many-keys", detail));
    }
    Ok(changes)
}

/// What a write was based on.
#[derive(Clone, Copy)]
pub enum Base {
    Overlay(i64),
    /// The revision of the one value that is changed.
    Key(i64),
}

pub async fn write(
    call: &Call<'_>,
    scope: &Scope,
    changes: &[(String, Change)],
    base: Option<Base>,
    action: &'static str,
) -> Result<Reply, Problem> {
    if !call.identity.uses(scope) {
        return Err(Problem::forbidden());
    }
    let app = call.part("app");
    call.state
        .transact(call, &scope.tenant, |inner, _| {
            plan_write(call, inner, app, scope, changes, base, action)
        })
        .await
}

pub fn plan_write(
    call: &Call<'_>,
    inner: &Inner,
    app: &str,
    scope: &Scope,
    changes: &[(String, Change)],
    base: Option<Base>,
    action: &'static str,
) -> Result<Plan, Problem> {
    let installed = installed(inner, app)?;
    let mut event = event(call, inner, app, scope, changes, action);
    if let Some(problem) = moved(installed, scope, changes, base) {
        event.outcome = "refused";
        event.codes = vec!["version-conflict".to_owned()];
        return Ok(Plan::refusal(event, problem));
    }
    let next = inner.revision + 1;
    let write = Write {
        scope: scope.clone(),
        changes: changes.to_vec(),
        author: Some(call.identity.name.as_str().into()),
        time: Some(call.now),
        revision: u64::try_from(next).ok(),
        base: None,
    };
    let decision = decide(&installed.snapshot, call.now, Command::Overlay(&write));
    match decision.verdict {
        Verdict::Accepted => Ok(accepted(
            call, inner, installed, app, &write, decision, event, None,
        )),
        Verdict::Refused => {
            let codes = decision.conflicts.iter();
            event.codes = codes.map(|c| c.code.0.to_owned()).collect();
            event.outcome = "refused";
            Ok(Plan::refusal(event, Problem::refused(decision.conflicts)))
        }
        Verdict::Pending => {
            event.revision = Some(next);
            event.outcome = "pending";
            Ok(pending(
                inner,
                installed,
                app,
                &write,
                &decision.conflicts,
                event,
            ))
        }
    }
}

/// A write of desired state: none where nothing differs, or where the same waits for a review already.
pub fn plan_desired(
    call: &Call<'_>,
    inner: &Inner,
    app: &str,
    scope: &Scope,
    changes: &[(String, Change)],
) -> Result<Plan, Problem> {
    let action = "overlay.import";
    let installed = installed(inner, app)?;
    if changes.is_empty() {
        let told = reply(revision(installed, scope), "unchanged", &[], None);
        return Ok(Plan::nothing(super::event(call, action), told));
    }
    let wanted = rows::changes_json(changes);
    let waiting = inner.reviews.iter().find(|review| {
        let same = review.app == app && review.scope == *scope && !review.moved;
        let same = same && review.author == call.identity.name;
        same && rows::changes_json(&review.changes) == wanted
    });
    if let Some(review) = waiting {
        let told = reply(review.id, "pending", &[], Some(review.id));
        return Ok(Plan::nothing(super::event(call, action), told));
    }
    plan_write(call, inner, app, scope, changes, None, action)
}

/// The plan of an accepted write, approved or not.
#[expect(clippy::too_many_arguments, reason = "one decision, all of its inputs")]
pub fn accepted(
    call: &Call<'_>,
    inner: &Inner,
    installed: &Installed,
    app: &str,
    write: &Write,
    decision: Decision,
    mut event: Event,
    approver: Option<&str>,
) -> Plan {
    let next = inner.revision + 1;
    // A review of the same scope may be void by this.
    let waiting = inner.reviews.iter();
    let mut waiting = waiting.filter(|review| review.app == app && review.scope == write.scope);
    let alone = approver.is_none() && waiting.next().is_none();
    let author = write.author.as_deref().unwrap_or(&call.identity.name);
    event.revision = Some(next);
    event.outcome = "accepted";
    let stored = Stored {
        app,
        scope: &write.scope,
        revision: next,
        actor: author,
        time: &call.now.to_string(),
        approver,
        version: &installed.version,
    };
    let reply = reply(next, "accepted", &decision.conflicts, None);
    let mut statements = stored.statements("value", &write.changes);
    // What stands under a key's old name is replaced too, or it would come back at the next start.
    let keys = &installed.snapshot.package.keys;
    let renamed = write.changes.iter().filter_map(|(name, _)| {
        let key = keys.get(keys.find(name)?);
        key.renamed_from.as_deref()
    });
    statements.extend(renamed.map(|old| stored.forget(old)));
    Plan {
        statements,
        event,
        moves: true,
        apply: match decision.overlay {
            Some(overlay) if alone => Apply::Overlay {
                app: app.to_owned(),
                scope: write.scope.clone(),
                overlay: Box::new(overlay),
                head: Head {
                    revision: next,
                    actor: author.to_owned(),
                    time: call.now.to_string(),
                },
            },
            _ => Apply::Reload,
        },
        reply: Ok(reply.etag(format!("\"r{next}\""))),
    }
}

fn pending(
    inner: &Inner,
    installed: &Installed,
    app: &str,
    write: &Write,
    conflicts: &[Conflict],
    event: Event,
) -> Plan {
    let id = inner.revision + 1;
    let (workspace, member) = parts(&write.scope);
    let statement = Statement::new(
        "INSERT INTO reviews (tenant, id, app, workspace, member, changes, base, author, time, state) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending')",
        vec![
            inner.name.as_str().into(),
            id.into(),
            app.into(),
            workspace.into(),
            member.into(),
            rows::changes_json(&write.changes).into(),
            revision(installed, &write.scope).into(),
            event.actor.as_str().into(),
            event.time.to_string().into(),
        ],
    );
    let mut reply = reply(id, "pending", conflicts, Some(id));
    reply.status = 202;
    Plan {
        statements: vec![statement],
        event,
        moves: true,
        apply: Apply::Reload,
        reply: Ok(reply),
    }
}

fn reply(revision: i64, verdict: &str, conflicts: &[Conflict], review: Option<i64>) -> Reply {
    let mut out = format!("{{\"revision\":{revision},\"verdict\":\"{verdict}\"");
    if let Some(id) = review {
        out.push_str(&format!(",\"review\":{id}"));
    }
    out.push_str(",\"conflicts\":");
    all_conflicts(&mut out, conflicts, None);
    out.push('}');
    Reply::json(out)
}

pub fn parts(scope: &Scope) -> (&str, &str) {
    (
        scope.workspace.as_deref().unwrap_or(""),
        scope.user.as_deref().unwrap_or(""),
    )
}

pub fn installed<'i>(inner: &'i Inner, app: &str) -> Result<&'i Installed, Problem> {
    inner
        .apps
        .get(app)
        .ok_or_else(|| Problem::missing("the app is not installed for this tenant"))
}

/// The revision at which an overlay was written last; 0 for one that never was.
pub fn revision(installed: &Installed, scope: &Scope) -> i64 {
    installed.heads.get(scope).map_or(0, |head| head.revision)
}

/// What a write whose base has moved is told: who, when, and what there is now.
fn moved(
    installed: &Installed,
    scope: &Scope,
    changes: &[(String, Change)],
    base: Option<Base>,
) -> Option<Problem> {
    let (base, now, who, when) = match base? {
        Base::Overlay(base) => {
            let head = installed.heads.get(scope);
            let now = head.map_or(0, |head| head.revision);
            let who = head.map_or("nobody", |head| head.actor.as_str());
            let when = head.map_or(String::new(), |head| head.time.clone());
            (base, now, who, when)
        }
        Base::Key(base) => {
            let (name, _) = changes.first()?;
            let id = installed.snapshot.package.keys.find(name)?;
            let entry = installed.snapshot.overlay(scope).and_then(|o| o.get(id));
            let meta = entry.map(|entry| &*entry.meta);
            let now = meta.and_then(|meta| meta.revision).unwrap_or(0);
            // A value that was withdrawn is gone: the overlay's head says by whom.
            let head = installed.heads.get(scope);
            let who = meta.and_then(|meta| meta.actor.as_deref());
            let who = who.or(head.map(|head| head.actor.as_str()));
            let when = meta.and_then(|meta| meta.time).map(|time| time.to_string());
            let when = when.or(head.map(|head| head.time.clone()));
            (
                base,
                i64::try_from(now).unwrap_or(0),
                who.unwrap_or("nobody"),
                when.unwrap_or_default(),
            )
        }
    };
    if base == now {
        return None;
    }
    let detail = format!(
        "{scope} was changed by {who} at {when}: it is at r{now}, the write is based on r{base}"
    );
    let mut by = String::new();
    write_string(&mut by, who);
    let mut at = String::new();
    write_string(&mut at, &when);
    Some(
        Problem::new(412, "version-conflict", detail)
            .more("currentRevision", now.to_string())
            .more("changedBy", by)
            .more("changedAt", at),
    )
}

/// The audit event of a write, with values before and after, private ones covered.
pub fn event(
    call: &Call<'_>,
    inner: &Inner,
    app: &str,
    scope: &Scope,
    changes: &[(String, Change)],
    action: &'static str,
) -> Event {
    let installed = inner.apps.get(app);
    let touched = changes.iter().map(|(name, change)| {
        let keys = installed.map(|installed| &installed.snapshot.package.keys);
        let id = keys.and_then(|keys| keys.find(name));
        let secret = keys.zip(id).is_some_and(|(keys, id)| keys.get(id).secret);
        let before = installed.and_then(|installed| {
            let overlay = installed.snapshot.overlay(scope)?;
            Some(overlay.get(id?)?.value.json.to_string())
        });
        let after = match change {
            Change::Set(value) => Some(covered(call, value, secret)),
            Change::Unset => None,
        };
        Touched {
            // A name may hold a credential as well as a value.
            key: call.state.scanner.mask(name).0,
            before: before.map(|json| if secret { MASKED.to_owned() } else { json }),
            after,
        }
    });
    Event {
        app: Some(app.to_owned()),
        scope: Some(scope.clone()),
        touched: touched.collect(),
        ..super::event(call, action)
    }
}

const MASKED: &str = "\"(secret)\"";

fn covered(call: &Call<'_>, value: &Value, secret: bool) -> String {
    let plain = call.state.scanner.scan_value("", value).is_some();
    match secret || plain {
        true => MASKED.to_owned(),
        false => value.json(),
    }
}

/// Who writes what where.
pub struct Stored<'s> {
    pub app: &'s str,
    pub scope: &'s Scope,
    pub revision: i64,
    pub actor: &'s str,
    pub time: &'s str,
    pub approver: Option<&'s str>,
    pub version: &'s str,
}

impl Stored<'_> {
    fn place(&self, more: Vec<Cell>) -> Vec<Cell> {
        let (workspace, member) = parts(self.scope);
        let place = [self.scope.tenant.as_str(), self.app, workspace, member];
        place.into_iter().map(Cell::from).chain(more).collect()
    }

    fn forget(&self, name: &str) -> Statement {
        Statement::new(
            "DELETE FROM entries WHERE tenant = $1 AND app = $2 AND workspace = $3 AND member = $4 AND key = $5",
            self.place(vec![name.into()]),
        )
    }

    /// The rows of changed values: as they are now, and in the history.
    pub fn statements(&self, kind: &'static str, changes: &[(String, Change)]) -> Vec<Statement> {
        let place = |more: Vec<Cell>| self.place(more);
        let mut all = vec![Statement::new(
            "INSERT INTO overlays (tenant, app, workspace, member, revision, actor, time) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant, app, workspace, member) \
             DO UPDATE SET revision = excluded.revision, actor = excluded.actor, time = excluded.time",
            place(vec![
                self.revision.into(),
                self.actor.into(),
                self.time.into(),
            ]),
        )];
        for (position, (name, change)) in (0..).zip(changes) {
            let value = match change {
                Change::Set(value) => {
                    all.push(Statement::new(
                        "INSERT INTO entries (tenant, app, workspace, member, key, value, revision, actor, time, \
                         approved_by, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
                         ON CONFLICT (tenant, app, workspace, member, key) DO UPDATE SET value = excluded.value, \
                         revision = excluded.revision, actor = excluded.actor, time = excluded.time, \
                         approved_by = excluded.approved_by, version = excluded.version",
                        place(vec![
                            name.as_str().into(),
                            value.json().into(),
                            self.revision.into(),
                            self.actor.into(),
                            self.time.into(),
                            Cell::opt(self.approver),
                            self.version.into(),
                        ]),
                    ));
                    Cell::Text(value.json())
                }
                Change::Unset => {
                    all.push(self.forget(name));
                    Cell::Null
                }
            };
            all.push(Statement::new(
                "INSERT INTO history (tenant, app, workspace, member, revision, position, kind, key, value, actor, \
                 time, approved_by, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
                place(vec![
                    self.revision.into(),
                    Cell::Int(position),
                    kind.into(),
                    name.as_str().into(),
                    value,
                    self.actor.into(),
                    self.time.into(),
                    Cell::opt(self.approver),
                    self.version.into(),
                ]),
            ));
        }
        all
    }
}

/// A pending write approved: the plan, or none if the review is void because its base has moved.
pub fn plan_approval(
    call: &Call<'_>,
    inner: &Inner,
    review: &rows::Review,
) -> Result<Option<Plan>, Problem> {
    let installed = installed(inner, &review.app)?;
    if review.moved {
        return Ok(None);
    }
    let mut write = review.as_write().write;
    write.revision = u64::try_from(inner.revision + 1).ok();
    let held = Review {
        write: write.clone(),
    };
    let command = Command::Approve {
        review: &held,
        approver: &call.identity.name,
    };
    let decision = decide(&installed.snapshot, call.now, command);
    let mut event = event(
        call,
        inner,
        &review.app,
        &review.scope,
        &review.changes,
        "review.approve",
    );
    event.outcome = audit::outcome(decision.verdict);
    event.detail = Some(format!("review {} of {}", review.id, review.author));
    if decision.verdict != Verdict::Accepted {
        let codes = decision.conflicts.iter();
        event.codes = codes.map(|c| c.code.0.to_owned()).collect();
        return Ok(Some(Plan::refusal(
            event,
            Problem::refused(decision.conflicts),
        )));
    }
    let approver = Some(call.identity.name.as_str());
    Ok(Some(accepted(
        call,
        inner,
        installed,
        &review.app,
        &write,
        decision,
        event,
        approver,
    )))
}
