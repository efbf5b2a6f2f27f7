//! The service: many tenants, a store, access control, HTTP, a page. The only async crate.
//!
//! [`store`] holds rows, [`state`] what they mean in memory, [`api`] what can be asked, [`http`] how. Every write goes
//! through [`apps::decide`] and is stored together with its [`audit`] record, refusals too. Reads are answered from
//! memory, so that a node that loses its database keeps serving, marked stale.

mod api;
pub mod audit;
mod documents;
pub mod fetch;
pub mod http;
pub mod identity;
pub mod limits;
mod metrics;
pub mod oidc;
mod page;
mod seed;
mod state;
pub mod store;
mod tls;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;

pub use seed::{Demo, Person, Write as DemoWrite};

/// What a node is told when it starts.
pub struct Settings {
    pub listen: SocketAddr,
    pub store: store::Store,
    pub oidc: Option<oidc::Oidc>,
    /// How often somebody may ask.
    pub rates: limits::Rates,
    /// The host admin's token; one is made at the first start without it.
    pub admin_token: Option<String>,
    /// What to fill an empty store with.
    pub demo: Option<Demo>,
}

/// A started node, and what its operator must be told once.
pub struct Started {
    pub serving: http::Serving,
    /// Tokens made at this start, each with whose it is.
    pub tokens: Vec<(String, String)>,
}

pub async fn start(settings: Settings) -> Result<Started, String> {
    let tokens = seed::first_start(&settings.store, settings.admin_token.as_deref()).await?;
    let state = state::State::load(settings.store, settings.oidc, settings.rates).await?;
    let mut tokens: Vec<(String, String)> = tokens.into_iter().collect();
    if let Some(demo) = settings.demo {
        tokens.extend(seed::demo(&state, demo).await?);
    }
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|e| format!("cannot listen on {}: {e}", settings.listen))?;
    let serving = http::serve(Arc::clone(&state), listener)
        .await
        .map_err(|e| format!("cannot listen on {}: {e}", settings.listen))?;
    Ok(Started { serving, tokens })
}
