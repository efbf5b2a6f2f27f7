//! One request, taken apart: who, which route, which scope, which body.

use std::sync::Arc;

use apps::instant::Instant;
use apps::layer::Scope;
use apps::value::Value;
use hyper::HeaderMap;
use hyper::body::Bytes;

use super::problem::Problem;
use super::query::{Parts, Query};
use crate::identity::Identity;
use crate::state::State;

/// How many changes one write may hold.
pub const MOST_CHANGES: usize = 1_000;
/// How long a name of a tenant, workspace or user may be.
const LONGEST_NAME: usize = 128;

pub struct Call<'c> {
    pub state: &'c Arc<State>,
    pub identity: Arc<Identity>,
    pub parts: Parts<'c>,
    pub query: Query<'c>,
    pub headers: &'c HeaderMap,
    pub body: Bytes,
    pub now: Instant,
    /// The request's id.
    pub id: &'c str,
    /// Method, and path with query: what an idempotency key is bound to.
    pub line: (&'c str, &'c str),
    /// Whether everything is decided and nothing is written.
    pub dry: bool,
}

/// The scope that a query names, checked, as it stands there.
#[derive(Clone, Copy)]
pub struct Place<'p> {
    pub tenant: &'p str,
    pub workspace: Option<&'p str>,
    pub user: Option<&'p str>,
}

impl Place<'_> {
    pub fn scope(self) -> Scope {
        Scope {
            tenant: self.tenant.to_owned(),
            workspace: self.workspace.map(str::to_owned),
            user: self.user.map(str::to_owned),
        }
    }
}

impl<'c> Call<'c> {
    /// The same call, tried or meant.
    pub fn with(&self, dry: bool) -> Call<'c> {
        Call {
            state: self.state,
            identity: Arc::clone(&self.identity),
            parts: self.parts.clone(),
            query: self.query.clone(),
            headers: self.headers,
            body: self.body.clone(),
            now: self.now,
            id: self.id,
            line: self.line,
            dry,
        }
    }

    /// A part of the path.
    pub fn part(&self, name: &str) -> &str {
        let part = self.parts.iter().find(|(part, _)| *part == name);
        part.map_or("", |(_, value)| value)
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| &**value)
    }

    pub fn number(&self, name: &str) -> Result<Option<i64>, Problem> {
        let number = |text: &str| text.parse().ok().filter(|&n| n >= 0);
        match self.query(name) {
            None => Ok(None),
            Some(text) => number(text)
                .map(Some)
                .ok_or_else(|| Problem::bad(format!("`{name}` must be a number"))),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A name in the query, checked.
    pub fn name(&self, name: &str) -> Result<Option<&str>, Problem> {
        match self.query(name) {
            None => Ok(None),
            Some(text) if is_name(text) => Ok(Some(text)),
            Some(_) => Err(Problem::bad(format!(
                "`{name}` must be 1 to {LONGEST_NAME} letters, digits, `.`, `_`, `@`, `+` or `-`, and begin with a letter or digit"
            ))),
        }
    }

    pub fn tenant(&self) -> Result<&str, Problem> {
        self.name("tenant")?
            .ok_or_else(|| Problem::bad("`tenant` is missing"))
    }

    /// The scope that the query names.
    pub fn scope(&self) -> Result<Scope, Problem> {
        self.place().map(Place::scope)
    }

    pub fn place(&self) -> Result<Place<'_>, Problem> {
        let place = Place {
            tenant: self.tenant()?,
            workspace: self.name("workspace")?,
            user: self.name("user")?,
        };
        if place.user.is_some() && place.workspace.is_none() {
            return Err(Problem::bad("`user` needs `workspace`"));
        }
        Ok(place)
    }

    /// The body as a JSON object.
    pub fn object(&self) -> Result<Value, Problem> {
        let text =
            std::str::from_utf8(&self.body).map_err(|_| Problem::bad("the body must be UTF-8"))?;
        let value = Value::parse_json(text);
        value
            .filter(|value| matches!(value, Value::Map(_)))
            .ok_or_else(|| Problem::bad("the body must be one JSON object"))
    }

    /// The revision that the author saw, from `If-Match`.
    pub fn base(&self) -> Result<Option<i64>, Problem> {
        let Some(text) = self.header("if-match") else {
            return Ok(None);
        };
        if text.trim() == "*" {
            return Ok(None);
        }
        let number = text.trim().trim_start_matches("W/").trim_matches('"');
        let number = number.strip_prefix('r').unwrap_or(number);
        number.parse().map(Some).map_err(|_| {
            Problem::bad("`If-Match` must be an ETag that this resource gave, such as \"r41\"")
        })
    }
}

/// Whether a text may name a tenant, workspace, user or app.
pub fn is_name(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"._@+-".contains(&b);
    text.len() <= LONGEST_NAME
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(inner)
}
