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
use crate::http::Call;

/// An event of whoever calls, accepted until something else is known.
pub fn event(call: &Call<'_>, action: &'static str) -> Event {
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
        request: call.id.to_owned(),
    }
}

/// `text` as JSON.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    apps::value::write_string(&mut out, text);
    out
}
