//! HTTP: connections, limits, who is asking, and from there to a route.

mod answer;
mod call;
mod listen;
mod openapi;
mod problem;
mod query;
mod reply;
pub mod routes;

pub use call::{Call, MOST_CHANGES, Place, is_name};
pub use listen::{Serving, serve};
pub use openapi::{document as openapi, reference};
pub use problem::Problem;
pub use query::{Parts, Query};
pub use reply::{Content, JSON, Reply};
