//! Writes that wait for another person: listed, approved, rejected. One whose base has moved is void.

use apps::value::write_string;

use super::{event, overlays};
use crate::http::{Call, Problem, Reply};
use crate::state::rows;
use crate::state::tenant::Inner;
use crate::state::{Apply, Plan};
use crate::store::Statement;

/// `GET /v1/reviews`
pub fn list(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = call.tenant()?;
    let who = &call.identity;
    let foreign = who.role != crate::identity::Role::Host && who.tenant != name;
    if foreign || who.role == crate::identity::Role::Support {
        return Err(Problem::forbidden());
    }
    let tenant = call.state.tenant(name)?;
    let inner = tenant.read();
    let mut out = String::from("{\"reviews\":[");
    let mut first = true;
    for review in inner
        .reviews
        .iter()
        .filter(|review| who.uses(&review.scope))
    {
        out.push_str(if first { "" } else { "," });
        first = false;
        out.push_str(&format!("{{\"id\":{}", review.id));
        let (workspace, user) = overlays::parts(&review.scope);
        for (name, text) in [
            ("app", review.app.as_str()),
            ("scope", &review.scope.to_string()),
            ("workspace", workspace),
            ("user", user),
            ("author", &review.author),
            ("time", &review.time),
        ] {
            out.push_str(&format!(",\"{name}\":"));
            write_string(&mut out, text);
        }
        let approves = who.administers(&review.scope) && who.name != review.author;
        out.push_str(&format!(",\"mayApprove\":{approves},\"changes\":"));
        out.push_str(&rows::changes_json(&review.changes));
        out.push('}');
    }
    out.push_str("]}");
    Ok(Reply::json(out))
}

fn find<'i>(call: &Call<'_>, inner: &'i Inner) -> Result<&'i rows::Review, Problem> {
    let id: i64 = call.part("id").parse().unwrap_or(-1);
    let found = inner.reviews.iter().find(|review| review.id == id);
    found
        // One that may not be seen is not there.
        .filter(|review| call.identity.uses(&review.scope))
        .ok_or_else(|| Problem::missing("there is no such pending review"))
}

fn settled(
    call: &Call<'_>,
    inner: &Inner,
    review: &rows::Review,
    state: &'static str,
) -> Statement {
    Statement::new(
        "UPDATE reviews SET state = $1, decided_by = $2, decided_at = $3 \
         WHERE tenant = $4 AND id = $5 AND state = 'pending'",
        vec![
            state.into(),
            call.identity.name.as_str().into(),
            call.now.to_string().into(),
            inner.name.as_str().into(),
            review.id.into(),
        ],
    )
    .must(1)
}

/// `POST /v1/reviews/{id}/approve`
pub async fn approve(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = tenant_of(call)?;
    let tried = call.state.transact(call, name, |inner, _| {
        let review = find(call, inner)?;
        if !call.identity.administers(&review.scope) {
            return Err(Problem::forbidden());
        }
        match overlays::plan_approval(call, inner, review)? {
            Some(mut plan) => {
                if plan.reply.is_ok() {
                    plan.statements
                        .push(settled(call, inner, review, "approved"));
                    plan.apply = Apply::Reload;
                }
                Ok(plan)
            }
            None => {
                let mut event = event(call, "review.approve");
                event.outcome = "void";
                event.app = Some(review.app.clone());
                event.scope = Some(review.scope.clone());
                event.detail = Some(format!("review {} of {}", review.id, review.author));
                let detail =
                    "the values that the review is based on have changed since: it is void";
                Ok(Plan {
                    statements: vec![settled(call, inner, review, "void")],
                    event,
                    moves: true,
                    apply: Apply::Reload,
                    reply: Err(Problem::new(409, "version-conflict", detail)),
                })
            }
        }
    });
    tried.await
}

/// `POST /v1/reviews/{id}/reject`
pub async fn reject(call: &Call<'_>) -> Result<Reply, Problem> {
    let name = tenant_of(call)?;
    let tried = call.state.transact(call, name, |inner, _| {
        let review = find(call, inner)?;
        // Whoever wrote it may take it back.
        let own = review.author == call.identity.name;
        if !own && !call.identity.administers(&review.scope) {
            return Err(Problem::forbidden());
        }
        let mut event = event(call, "review.reject");
        event.app = Some(review.app.clone());
        event.scope = Some(review.scope.clone());
        event.revision = Some(inner.revision + 1);
        event.detail = Some(format!("review {} of {}", review.id, review.author));
        Ok(Plan {
            statements: vec![settled(call, inner, review, "rejected")],
            event,
            moves: true,
            apply: Apply::Reload,
            reply: Ok(Reply::json(format!(
                "{{\"revision\":{},\"verdict\":\"rejected\"}}",
                inner.revision + 1
            ))),
        })
    });
    tried.await
}

/// The tenant that is meant, if the caller has anything to do with it.
fn tenant_of<'c>(call: &'c Call<'_>) -> Result<&'c str, Problem> {
    let name = call.tenant()?;
    let who = &call.identity;
    let inside = who.role == crate::identity::Role::Host || who.tenant == name;
    match inside && who.role != crate::identity::Role::Support {
        true => Ok(name),
        false => Err(Problem::forbidden()),
    }
}
