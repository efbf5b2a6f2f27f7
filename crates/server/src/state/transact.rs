//! Writes: decided on memory, committed with their audit records if nothing has moved, then put into memory.

use apps::layer::Scope;
use apps::overlay::Overlay;
use sha2::{Digest, Sha256};

use super::host::Host;
use super::rows::Head;
use super::tenant::Inner;
use super::{State, now};
use crate::audit::{self, Event};
use crate::http::{Call, Problem, Reply};
use crate::store::{Batch, Cell, Failure, Statement, View};

/// How often a write is decided anew before its author is asked to try again.
pub const ATTEMPTS: usize = 16;
/// How long an idempotency key is remembered, in seconds.
const REMEMBERED: i64 = 86_400;

/// What memory looks like after a commit.
pub enum Apply {
    /// As before, but for the audit chain.
    Nothing,
    Overlay {
        app: String,
        scope: Scope,
        overlay: Box<Overlay>,
        head: Head,
    },
    /// Read anew.
    Reload,
}

/// What a decision wants to be stored and answered.
pub struct Plan {
    pub statements: Vec<Statement>,
    pub event: Event,
    /// Whether the tenant gets a new revision: refusals do not make one.
    pub moves: bool,
    pub apply: Apply,
    pub reply: Result<Reply, Problem>,
}

impl Plan {
    /// What is there already: nothing is stored and nothing recorded.
    pub fn nothing(event: Event, reply: Reply) -> Plan {
        Plan {
            statements: Vec::new(),
            event,
            moves: false,
            apply: Apply::Nothing,
            reply: Ok(reply),
        }
    }

    fn is_nothing(&self) -> bool {
        !self.moves && self.reply.is_ok()
    }

    /// A refusal: nothing changes but the audit chain.
    pub fn refusal(event: Event, problem: Problem) -> Plan {
        Plan {
            statements: Vec::new(),
            event,
            moves: false,
            apply: Apply::Nothing,
            reply: Err(problem),
        }
    }
}

/// A refusal that stands in the audit.
fn recorded(problem: Problem) -> Problem {
    let recorded = true;
    Problem {
        recorded,
        ..problem
    }
}

/// An idempotency key and what it stands for.
struct Once {
    key: String,
    request: String,
}

impl State {
    /// A write about a tenant.
    pub async fn transact(
        &self,
        call: &Call<'_>,
        name: &str,
        plan: impl Fn(&Inner, &Host) -> Result<Plan, Problem>,
    ) -> Result<Reply, Problem> {
        self.writable()?;
        let tenant = self.tenant(name)?;
        let _turn = tenant.turn.lock().await;
        let once = once(call)?;
        for _ in 0..ATTEMPTS {
            if let Some(reply) = self.replay(call, name, once.as_ref()).await? {
                return Ok(reply);
            }
            // The host may have moved while we waited.
            let tenant = self.tenant(name)?;
            let host = self.host();
            let (plan, batch, head, revision) = {
                let inner = tenant.read();
                let plan = plan(&inner, &host)?;
                if call.dry || plan.is_nothing() {
                    return plan.reply;
                }
                let moved = inner.revision + i64::from(plan.moves);
                let known = (inner.revision, &inner.audit);
                let (batch, head) = batch(call, name, known, &plan, once.as_ref());
                (plan, batch, head, moved)
            };
            let committed = self.store.commit(batch).await;
            match self.note(committed) {
                Ok(()) => {
                    self.metrics.wrote(plan.reply.is_ok());
                    self.put(name, plan.apply, head, revision).await;
                    return plan.reply.map_err(recorded);
                }
                Err(Failure::Moved) => self.reload(name).await?,
                Err(lost) => return Err(lost.into()),
            }
        }
        Err(Failure::Moved.into())
    }

    /// A write about the host itself.
    pub async fn transact_host(
        &self,
        call: &Call<'_>,
        plan: impl Fn(&Host) -> Result<Plan, Problem>,
    ) -> Result<Reply, Problem> {
        self.writable()?;
        let _turn = self.host_turn.lock().await;
        let once = once(call)?;
        for _ in 0..ATTEMPTS {
            if let Some(reply) = self.replay(call, "", once.as_ref()).await? {
                return Ok(reply);
            }
            let host = self.host();
            let Some(chain) = host.chain() else {
                return Err(Failure::Lost("no host row".to_owned()).into());
            };
            let plan = plan(&host)?;
            if call.dry || plan.is_nothing() {
                return plan.reply;
            }
            let known = (host.revision, &chain);
            let (batch, head) = batch(call, "", known, &plan, once.as_ref());
            let committed = self.store.commit(batch).await;
            match self.note(committed) {
                Ok(()) => {
                    self.metrics.wrote(plan.reply.is_ok());
                    match plan.moves {
                        // Committed is committed: if memory cannot follow now, it will when the database is back.
                        true => drop(self.reload_host().await),
                        false => host.set_chain(head),
                    }
                    return plan.reply.map_err(recorded);
                }
                Err(Failure::Moved) => self.reload_host().await?,
                Err(lost) => return Err(lost.into()),
            }
        }
        Err(Failure::Moved.into())
    }

    /// While the database is lost, writes are refused at once.
    fn writable(&self) -> Result<(), Problem> {
        match self.stale_since() {
            Some(_) => Err(Failure::Lost(String::new()).into()),
            None => Ok(()),
        }
    }

    /// Puts what was committed into memory.
    async fn put(&self, name: &str, apply: Apply, head: audit::Head, revision: i64) {
        let Ok(tenant) = self.tenant(name) else {
            return;
        };
        match apply {
            Apply::Reload => {
                let _ = self.reload(name).await;
            }
            Apply::Nothing => {
                let mut inner = tenant.inner.write().expect("nothing panics under the lock");
                inner.audit = head;
            }
            Apply::Overlay {
                app,
                scope,
                overlay,
                head: last,
            } => tenant.change(|inner| {
                inner.audit = head;
                inner.revision = revision;
                if let Some(installed) = inner.apps.get_mut(&app) {
                    installed.snapshot.set_overlay(&scope, *overlay);
                    installed.heads.insert(scope, last);
                }
            }),
        }
    }

    /// The answer that was given to the same request before.
    async fn replay(
        &self,
        call: &Call<'_>,
        tenant: &str,
        once: Option<&Once>,
    ) -> Result<Option<Reply>, Problem> {
        let Some(once) = once else { return Ok(None) };
        let sql =
            "SELECT request, reply FROM idempotency WHERE tenant = $1 AND actor = $2 AND key = $3";
        let cells = vec![
            tenant.into(),
            call.identity.name.as_str().into(),
            once.key.as_str().into(),
        ];
        let rows = self.query(View::Tenant(tenant), sql, cells).await?;
        let Some(mut row) = rows.into_iter().next() else {
            return Ok(None);
        };
        if row.text() != once.request {
            let detail = "the idempotency key was used for another request";
            return Err(Problem::new(422, "idempotency-key-reused", detail));
        }
        let stored: serde_json::Value = serde_json::from_str(&row.text()).unwrap_or_default();
        let text = |name: &str| stored.get(name).and_then(|v| v.as_str()).unwrap_or("");
        let status = stored.get("status").and_then(|v| v.as_u64());
        let status = status.and_then(|s| u16::try_from(s).ok()).unwrap_or(200);
        let content = match status {
            0..400 => crate::http::JSON,
            _ => "application/problem+json",
        };
        let reply = Reply::new(status, content, text("body").to_owned());
        let reply = reply.header("idempotent-replay", "true");
        Ok(Some(match text("etag") {
            "" => reply,
            etag => reply.etag(etag),
        }))
    }
}

fn once(call: &Call<'_>) -> Result<Option<Once>, Problem> {
    let Some(key) = call.header("idempotency-key") else {
        return Ok(None);
    };
    if key.is_empty() || key.len() > 255 {
        return Err(Problem::bad(
            "`Idempotency-Key` must be 1 to 255 characters",
        ));
    }
    let mut digest = Sha256::new();
    let (method, target) = call.line;
    digest.update(format!("{method} {target}"));
    digest.update("\n");
    digest.update(&call.body);
    Ok(Some(Once {
        key: key.to_owned(),
        request: audit::hex(&digest.finalize()),
    }))
}

/// The statements of a plan with the tenant's next head, which only one of several writers gets.
fn batch(
    call: &Call<'_>,
    name: &str,
    (revision, chain): (i64, &audit::Head),
    plan: &Plan,
    once: Option<&Once>,
) -> (Batch, audit::Head) {
    let next = revision + i64::from(plan.moves);
    let (mut statements, head) = moved(name, (revision, chain), next, &plan.event);
    statements.extend(plan.statements.iter().cloned());
    if let Some(once) = once {
        statements.extend(remember(call, name, plan, once));
    }
    let batch = Batch {
        tenant: name.to_owned(),
        statements,
    };
    (batch, head)
}

/// A record alone, about something that changed nothing.
pub fn record(name: &str, known: (i64, &audit::Head), event: &Event) -> (Batch, audit::Head) {
    let (statements, head) = moved(name, known, known.0, event);
    let batch = Batch {
        tenant: name.to_owned(),
        statements,
    };
    (batch, head)
}

/// The tenant's next revision and record, and the head of its chain then.
fn moved(
    name: &str,
    (revision, chain): (i64, &audit::Head),
    next: i64,
    event: &Event,
) -> (Vec<Statement>, audit::Head) {
    let link = audit::link(chain, name, event);
    let statements = vec![
        Statement::new(
            "UPDATE tenants SET revision = $1, audit_seq = $2, audit_hash = $3 \
             WHERE tenant = $4 AND revision = $5 AND audit_seq = $6",
            vec![
                next.into(),
                link.seq.into(),
                link.hash.as_str().into(),
                name.into(),
                revision.into(),
                chain.seq.into(),
            ],
        )
        .must(1),
        Statement::new(
            "INSERT INTO audit (tenant, seq, record, hash) VALUES ($1, $2, $3, $4)",
            vec![
                name.into(),
                link.seq.into(),
                link.record.into(),
                link.hash.as_str().into(),
            ],
        ),
    ];
    let head = audit::Head {
        seq: link.seq,
        hash: link.hash,
    };
    (statements, head)
}

fn remember(call: &Call<'_>, name: &str, plan: &Plan, once: &Once) -> [Statement; 2] {
    let (status, body, etag) = match &plan.reply {
        Ok(reply) => {
            let body = String::from_utf8_lossy(reply.body()).into_owned();
            let etag = reply.etag.as_ref().and_then(|etag| etag.to_str().ok());
            (reply.status, body, etag.unwrap_or_default())
        }
        Err(problem) => (problem.status, problem.json(call.id), ""),
    };
    let reply = serde_json::json!({"status": status, "body": body, "etag": etag});
    let now = now();
    let old = apps::instant::Instant(now.0 - REMEMBERED);
    [
        Statement::new(
            "DELETE FROM idempotency WHERE tenant = $1 AND time < $2",
            vec![name.into(), old.to_string().into()],
        ),
        Statement::new(
            "INSERT INTO idempotency (tenant, actor, key, request, reply, time) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant, actor, key) DO NOTHING",
            vec![
                name.into(),
                call.identity.name.as_str().into(),
                once.key.as_str().into(),
                once.request.as_str().into(),
                Cell::Text(reply.to_string()),
                now.to_string().into(),
            ],
        )
        .must(1),
    ]
}
