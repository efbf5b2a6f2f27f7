//! The change stream: server-sent events of one tenant, each with its revision as id.
//!
//! `Last-Event-ID` resumes where a client was: what it missed is read from the history. Events name keys and scopes that
//! the reader may use, and no values.

use apps::value::write_string;
use hyper::body::Bytes;
use tokio::sync::mpsc;
use tokio::time::{Duration, timeout};

use crate::http::{Call, Content, Problem, Reply};
use crate::identity::{Identity, Role};
use crate::state::rows;
use crate::store::{Row, View};

/// More than one write can change.
const PAGE: i64 = 4 * crate::http::MOST_CHANGES as i64;
/// How long a stream is silent before it says that it is still there.
const PULSE: Duration = Duration::from_secs(15);

/// `GET /v1/events?tenant=`
pub fn stream(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = call.tenant()?.to_owned();
    let who = std::sync::Arc::clone(&call.identity);
    let inside = who.role == Role::Host || who.tenant == name;
    if !inside || who.role == Role::Support {
        return Err(Problem::forbidden());
    }
    let tenant = call.state.tenant(&name)?;
    let mut changed = tenant.changed.subscribe();
    let mut ended = call.state.ending.subscribe();
    let now = tenant.read().revision;
    let last = call.header("last-event-id").and_then(|id| id.parse().ok());
    let mut at: i64 = last.unwrap_or(now);
    let (send, events) = mpsc::channel::<Bytes>(16);
    let state = std::sync::Arc::clone(call.state);
    let sql = "SELECT revision, kind, app, workspace, member, key, actor, time FROM history \
               WHERE tenant = $1 AND revision > $2 ORDER BY revision, position LIMIT $3";
    tokio::spawn(async move {
        if send
            .send(Bytes::from_static(b"retry: 1000\n\n"))
            .await
            .is_err()
        {
            return;
        }
        loop {
            let cells = vec![name.as_str().into(), at.into(), PAGE.into()];
            let rows = state.query(View::Tenant(&name), sql, cells).await;
            let rows: Vec<_> = rows.unwrap_or_default();
            let full = rows.len() as i64 == PAGE;
            let rows: Vec<_> = rows
                .into_iter()
                .map(|row| event(row, &name, &who))
                .collect();
            let cut = rows.last().map_or(0, |(revision, _)| *revision);
            for (revision, text) in rows {
                // A page may end within a revision: the rest of it comes with the next.
                if full && revision == cut {
                    break;
                }
                at = at.max(revision);
                let Some(text) = text else { continue };
                if send.send(text.into()).await.is_err() {
                    return;
                }
            }
            if full {
                continue;
            }
            // A client that went away is noticed at the next pulse at the latest.
            let next = async {
                tokio::select! {
                    changed = changed.changed() => changed.is_ok(),
                    _ = ended.wait_for(|ended| *ended) => false,
                }
            };
            match timeout(PULSE, next).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(_) => {
                    if send
                        .send(Bytes::from_static(b": still here\n\n"))
                        .await
                        .is_err()
                    {
                        return;
                    }
                }
            }
        }
    });
    let mut reply = Reply::new(200, "text/event-stream", Bytes::new());
    reply.content = Content::Events(events);
    Ok(reply.header("cache-control", "no-store"))
}

/// One event as text, if the reader may know of it.
fn event(mut row: Row, tenant: &str, who: &Identity) -> (i64, Option<String>) {
    let (revision, kind, app) = (row.int(), row.text(), row.text());
    let (workspace, member) = (row.text(), row.text());
    let scope = rows::scope(tenant, &workspace, &member);
    // Rules and versions concern everyone in the tenant.
    let concerns = kind == "policy" || kind == "switch" || who.uses(&scope);
    if !concerns {
        return (revision, None);
    }
    let mut out =
        format!("id: {revision}\nevent: {kind}\ndata: {{\"revision\":{revision},\"app\":");
    write_string(&mut out, &app);
    for (name, text) in [
        ("workspace", workspace),
        ("user", member),
        ("key", row.text()),
        ("actor", row.text()),
        ("time", row.text()),
    ] {
        out.push_str(&format!(",\"{name}\":"));
        write_string(&mut out, &text);
    }
    out.push_str("}\n\n");
    (revision, Some(out))
}
