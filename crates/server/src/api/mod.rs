//! What the service can be asked: one file a subject, one function a route.

pub mod audits;
pub mod context;
pub mod documents;
pub mod events;
pub mod history;
pub mod hosts;
pub mod overlays;
pub mod packages;
pub mod policies;
pub mod reviews;
pub mod tokens;
pub mod upgrades;

use crate::audit::Event;
use crate::http::{Call, Problem};
use crate::identity::Role;
use crate::state::Plan;

/// An event of whoever calls, accepted until something else is known.
pub fn event(call: &Call, action: &'static str) -> Event {
    Event {
        time: call.now,
        actor: call.identity.name.clone(),
        role: call.identity.role.word(),
        action,
        outcome: "accepted",
        app: None,
        scope: None,
        revision: None,
        touched: Vec::new(),
        codes: Vec::new(),
        detail: None,
        request: call.id.clone(),
    }
}

/// Records an attempt that a role does not allow, in the chain of whoever tried: nobody can fill a foreign
/// tenant's chain, and nothing is told about what exists.
pub async fn denied(call: &Call, action: &'static str) -> Problem {
    let refusal = || {
        let mut event = event(call, action);
        event.outcome = "refused";
        event.codes = vec!["forbidden".to_owned()];
        event.detail = Some(call.state.scanner.mask(&call.line).0);
        Plan::refusal(event, Problem::forbidden())
    };
    let home = call.identity.tenant.as_str();
    let at_home = call.identity.role != Role::Host && !home.is_empty();
    let recorded = match at_home {
        true => call.state.transact(call, home, |_, _| Ok(refusal())).await,
        false => call.state.transact_host(call, |_| Ok(refusal())).await,
    };
    // Refused either way; a chain that cannot be written must not make it succeed.
    match recorded {
        Err(problem) if problem.status == 503 => problem,
        _ => Problem::forbidden(),
    }
}

/// `text` as JSON.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    apps::value::write_string(&mut out, text);
    out
}
