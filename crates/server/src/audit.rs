//! The audit chain: what was done or tried, by whom, in which order, so that tampering shows.
//!
//! Each tenant has a chain of its own, the host one too. A record is a JSON text that names its tenant and
//! number; its hash covers the hash before it and the text. The chain's head is kept with the tenant's revision and
//! moves in the same transaction as the write: a record can be neither changed, removed, inserted nor cut off
//! at the end without a hash that does not fit. Private values are covered before they come here.

use apps::decide::Verdict;
use apps::instant::Instant;
use apps::layer::Scope;
use apps::value::write_string;
use sha2::{Digest, Sha256};

use crate::store::{Failure, Store, View};

/// The hash before the first record.
pub const ORIGIN: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The end of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub seq: i64,
    pub hash: String,
}

/// One changed value, already covered where it is private.
#[derive(Clone, Debug)]
pub struct Touched {
    pub key: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// What happened, before it has a place in a chain.
#[derive(Clone, Debug)]
pub struct Event {
    pub time: Instant,
    pub actor: String,
    pub role: &'static str,
    /// `overlay.write`, `policy.write`, `review.approve`, `access`…
    pub action: &'static str,
    pub outcome: &'static str,
    pub app: Option<String>,
    pub scope: Option<Scope>,
    pub revision: Option<i64>,
    pub touched: Vec<Touched>,
    /// Codes of conflicts, for a refusal.
    pub codes: Vec<String>,
    pub detail: Option<String>,
    pub request: String,
}

impl Event {
    /// A refusal of something that never became a write.
    pub fn refusal(
        time: Instant,
        (actor, role): (&str, &'static str),
        codes: &[&str],
        detail: String,
        request: &str,
    ) -> Event {
        Event {
            time,
            actor: actor.to_owned(),
            role,
            action: "access",
            outcome: "refused",
            app: None,
            scope: None,
            revision: None,
            touched: Vec::new(),
            codes: codes.iter().map(|code| (*code).to_owned()).collect(),
            detail: Some(detail),
            request: request.to_owned(),
        }
    }
}

pub fn outcome(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "accepted",
        Verdict::Pending => "pending",
        Verdict::Refused => "refused",
    }
}

/// A record in its place: its text and its hash.
#[derive(Clone, Debug)]
pub struct Link {
    pub seq: i64,
    pub record: String,
    pub hash: String,
}

pub fn link(head: &Head, tenant: &str, event: &Event) -> Link {
    let seq = head.seq + 1;
    let record = text(seq, tenant, event);
    let hash = hash(&head.hash, &record);
    Link { seq, record, hash }
}

fn hash(before: &str, record: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(before);
    digest.update("\n");
    digest.update(record);
    hex(&digest.finalize())
}

pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}

fn text(seq: i64, tenant: &str, event: &Event) -> String {
    let mut out = format!("{{\"seq\":{seq},\"tenant\":");
    write_string(&mut out, tenant);
    out.push_str(&format!(",\"time\":\"{}\"", event.time));
    for (name, value) in [
        ("actor", event.actor.as_str()),
        ("role", event.role),
        ("action", event.action),
        ("outcome", event.outcome),
        ("request", &event.request),
    ] {
        field(&mut out, name, value);
    }
    if let Some(app) = &event.app {
        field(&mut out, "app", app);
    }
    if let Some(scope) = &event.scope {
        field(&mut out, "scope", &scope.to_string());
    }
    if let Some(revision) = event.revision {
        out.push_str(&format!(",\"revision\":{revision}"));
    }
    if let Some(detail) = &event.detail {
        field(&mut out, "detail", detail);
    }
    out.push_str(",\"changes\":[");
    for (at, touched) in event.touched.iter().enumerate() {
        out.push_str(if at > 0 { ",{\"key\":" } else { "{\"key\":" });
        write_string(&mut out, &touched.key);
        for (name, value) in [("before", &touched.before), ("after", &touched.after)] {
            if let Some(json) = value {
                out.push_str(&format!(",\"{name}\":{json}"));
            }
        }
        out.push('}');
    }
    out.push_str("],\"codes\":[");
    for (at, code) in event.codes.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(&mut out, code);
    }
    out.push_str("]}");
    out
}

fn field(out: &mut String, name: &str, value: &str) {
    out.push_str(&format!(",\"{name}\":"));
    write_string(out, value);
}

/// What checking a chain came to.
#[derive(Clone, Debug)]
pub struct Verified {
    pub tenant: String,
    pub records: i64,
    pub head: String,
    /// The first record that does not fit, and why.
    pub broken: Option<(i64, String)>,
}

/// How many records are held in memory at a time.
const PAGE: i64 = 1_000;

/// Recomputes one chain from its first record.
pub async fn verify(store: &Store, tenant: &str) -> Result<Verified, Failure> {
    let head = "SELECT audit_seq, audit_hash FROM tenants WHERE tenant = $1";
    let view = View::Tenant(tenant);
    let rows = store.query(view, head, vec![tenant.into()]).await?;
    let head = rows.into_iter().next().map(|mut row| Head {
        seq: row.int(),
        hash: row.text(),
    });
    let page =
        "SELECT seq, record, hash FROM audit WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    let mut at = Head {
        seq: 0,
        hash: ORIGIN.to_owned(),
    };
    let mut broken = None;
    'chain: loop {
        let cells = vec![tenant.into(), at.seq.into(), PAGE.into()];
        let rows = store.query(view, page, cells).await?;
        if rows.is_empty() {
            break;
        }
        for mut row in rows {
            let (seq, record, stored) = (row.int(), row.text(), row.text());
            if let Some(why) = misfit(&at, tenant, seq, &record, &stored) {
                broken = Some((at.seq + 1, why.to_owned()));
                break 'chain;
            }
            at = Head { seq, hash: stored };
        }
    }
    // Records may have been added while we read: the head is then not ours, but not before us either.
    if broken.is_none()
        && head.is_none_or(|h| h.seq > at.seq || (h.seq == at.seq && h.hash != at.hash))
    {
        let why = "the chain ends before its head: records are missing at the end";
        broken = Some((at.seq + 1, why.to_owned()));
    }
    Ok(Verified {
        tenant: tenant.to_owned(),
        records: at.seq,
        head: at.hash,
        broken,
    })
}

fn misfit(
    before: &Head,
    tenant: &str,
    seq: i64,
    record: &str,
    stored: &str,
) -> Option<&'static str> {
    if seq != before.seq + 1 {
        return Some("a record is missing");
    }
    if hash(&before.hash, record) != stored {
        return Some("the record or the one before it was changed");
    }
    let mut wanted = format!("{{\"seq\":{seq},\"tenant\":");
    write_string(&mut wanted, tenant);
    (!record.starts_with(&wanted)).then_some("the record belongs elsewhere")
}

/// Every chain there is, the host's first.
pub async fn verify_all(store: &Store) -> Result<Vec<Verified>, Failure> {
    let names = "SELECT tenant FROM tenants ORDER BY tenant";
    let mut all = Vec::new();
    for mut row in store.query(View::All, names, Vec::new()).await? {
        all.push(verify(store, &row.text()).await?);
    }
    Ok(all)
}
