//! What an overlay was, and back to it. A rollback is a write like any other: it goes through the decision, gets a
//! new revision, and the history keeps both.

use apps::decide::Change;
use apps::layer::Scope;
use apps::value::{Value, write_string};

use super::overlays::{self, Base, parts};
use crate::http::{Call, Problem, Reply};
use crate::store::{Cell, View};

/// How many lines one answer holds at most: more than one write can change, for a page ends with a whole write.
const PAGE: i64 = 2 * crate::http::MOST_CHANGES as i64;

/// `GET …/history`: the changes of one overlay, newest first.
pub async fn list(call: &Call<'_>) -> Result<Reply, Problem> {
    let scope = call.scope()?;
    if !call.identity.uses(&scope) {
        return Err(Problem::forbidden());
    }
    let before = call.number("before")?.unwrap_or(i64::MAX);
    let (workspace, member) = parts(&scope);
    let sql = "SELECT revision, kind, key, value, actor, time, approved_by, version FROM history \
               WHERE tenant = $1 AND app = $2 AND workspace = $3 AND member = $4 AND revision < $5 \
               AND ($6 = '' OR key = $6) ORDER BY revision DESC, position LIMIT $7";
    let place = [scope.tenant.as_str(), call.part("app"), workspace, member];
    let mut cells: Vec<Cell> = place.into_iter().map(Into::into).collect();
    let only = call.query("key").unwrap_or_default();
    cells.extend([before.into(), only.into(), PAGE.into()]);
    let rows = call
        .state
        .query(View::Tenant(&scope.tenant), sql, cells)
        .await?;
    let full = rows.len() as i64 == PAGE;
    let mut rows: Vec<_> = rows.into_iter().map(|mut row| (row.int(), row)).collect();
    if let Some(&(cut, _)) = rows.last().filter(|_| full) {
        // The last write may go on behind the end of the page: it comes whole with the next one.
        rows.retain(|(revision, _)| *revision != cut);
    }
    let mut out = String::from("{\"history\":[");
    let mut first = true;
    for (revision, mut row) in rows {
        let (kind, key) = (row.text(), row.text());
        out.push_str(if first { "" } else { "," });
        first = false;
        out.push_str(&format!(
            "{{\"revision\":{revision},\"kind\":\"{kind}\",\"key\":"
        ));
        write_string(&mut out, &key);
        out.push_str(",\"value\":");
        let value = row.maybe();
        out.push_str(match (&value, kind.as_str()) {
            (Some(json), _) => json,
            (None, "value") => "{\"$unset\":true}",
            (None, _) => "null",
        });
        for name in ["actor", "time", "approvedBy", "version"] {
            if let Some(text) = row.maybe() {
                out.push_str(&format!(",\"{name}\":"));
                write_string(&mut out, &text);
            }
        }
        out.push('}');
    }
    out.push_str("]}");
    Ok(Reply::json(out))
}

/// `POST …/rollback` with `{"to": revision}`: the overlay as it was then.
pub async fn rollback(call: &Call<'_>) -> Result<Reply, Problem> {
    let scope = call.scope()?;
    if !call.identity.uses(&scope) {
        return Err(Problem::forbidden());
    }
    let body = call.object()?;
    let to = match body.get("to") {
        Some(Value::Number(text, true)) => text.parse::<i64>().ok(),
        _ => None,
    };
    let to = to.ok_or_else(|| Problem::bad("the body must be {\"to\": revision}"))?;
    // What is rolled back was read from the store: a write in between must not be lost.
    let (changes, seen) = changes_to(call, &scope, to).await?;
    let base = call.base()?.unwrap_or(seen);
    overlays::write(
        call,
        &scope,
        &changes,
        Some(Base::Overlay(base)),
        "overlay.rollback",
    )
    .await
}

/// What must change for an overlay to be as it was at a revision, and the revision that this was read at.
async fn changes_to(
    call: &Call<'_>,
    scope: &Scope,
    to: i64,
) -> Result<(Vec<(String, Change)>, i64), Problem> {
    let (workspace, member) = parts(scope);
    let sql = "SELECT revision, key, value FROM history WHERE tenant = $1 AND app = $2 AND workspace = $3 \
               AND member = $4 AND kind <> 'switch' AND kind <> 'policy' ORDER BY revision, position";
    let place = [scope.tenant.as_str(), call.part("app"), workspace, member];
    let cells = place.into_iter().map(Into::into).collect();
    let rows = call
        .state
        .query(View::Tenant(&scope.tenant), sql, cells)
        .await?;
    let mut then = std::collections::BTreeMap::new();
    let mut now = std::collections::BTreeMap::new();
    let mut last = 0;
    for mut row in rows {
        let (revision, key, value) = (row.int(), row.text(), row.maybe());
        if revision <= to {
            then.insert(key.clone(), value.clone());
        }
        now.insert(key, value);
        last = revision;
    }
    let changed = now.iter().filter_map(|(key, value)| {
        let before = then.get(key).cloned().flatten();
        if before == *value {
            return None;
        }
        let change = match before.as_deref().and_then(Value::parse_json) {
            Some(value) => Change::Set(value),
            None => Change::Unset,
        };
        Some((key.clone(), change))
    });
    Ok((changed.collect(), last))
}
