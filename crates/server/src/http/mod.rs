//! HTTP: connections, limits, who is asking, and from there to a route.

mod call;
mod openapi;
mod problem;
mod reply;
pub mod routes;
mod serve;

pub use call::{Call, MOST_CHANGES, is_name};
pub use openapi::{document as openapi, reference};
pub use problem::Problem;
pub use reply::{JSON, Payload, Reply};
pub use serve::{Serving, serve};
