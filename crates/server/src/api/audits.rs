//! The audit chain, read and checked.

use apps::value::write_string;

use crate::audit;
use crate::http::{Call, Problem, Reply};
use crate::store::View;

const PAGE: i64 = 500;

/// Whose chain: a tenant's, or the host's without one.
fn chain<'c>(call: &'c Call<'_>) -> Result<&'c str, Problem> {
    let name = call.name("tenant")?.unwrap_or_default();
    match call.identity.audits(name) {
        true => Ok(name),
        false => Err(Problem::forbidden()),
    }
}

/// `GET /v1/audit?tenant=&after=`: records in order.
pub async fn list(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = chain(call)?;
    let after = call.number("after")?.unwrap_or(0);
    let sql = "SELECT record, hash FROM audit WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    let cells = vec![name.into(), after.into(), PAGE.into()];
    let rows = call.state.query(View::Tenant(name), sql, cells).await?;
    let mut out = String::from("{\"records\":[");
    for (at, mut row) in rows.into_iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str(&format!("{{\"record\":{}", row.text()));
        out.push_str(&format!(",\"hash\":\"{}\"}}", row.text()));
    }
    out.push_str("]}");
    Ok(Reply::json(out))
}

/// `GET /v1/audit/verify`
pub async fn verify(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = chain(call)?;
    let verified = audit::verify(&call.state.store, name).await;
    let verified = call.state.note(verified)?;
    let mut out = format!(
        "{{\"records\":{},\"head\":\"{}\"",
        verified.records, verified.head
    );
    match verified.broken {
        None => out.push_str(",\"intact\":true"),
        Some((seq, why)) => {
            out.push_str(&format!(",\"intact\":false,\"brokenAt\":{seq},\"why\":"));
            write_string(&mut out, &why);
        }
    }
    out.push('}');
    Ok(Reply::json(out))
}
