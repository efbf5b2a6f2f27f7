//! One request, taken apart: who, which route, which scope, which body.

use std::sync::Arc;

use apps::instant::Instant;
use apps::layer::Scope;
use apps::value::Value;
use hyper::HeaderMap;
use hyper::body::Bytes;

use super::problem::Problem;
use crate::identity::Identity;
use crate::state::State;

/// How many changes one write may hold.
pub const MOST_CHANGES: usize = 1_000;
/// How long a name of a tenant, workspace or user may be.
const LONGEST_NAME: usize = 128;

pub struct Call {
    pub state: Arc<State>,
    pub identity: Identity,
    pub parts: Vec<(&'static str, String)>,
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub now: Instant,
    /// The request's id.
    pub id: String,
    /// Method and path with query: what an idempotency key is bound to.
    pub line: String,
}

impl Call {
    /// A part of the path.
    pub fn part(&self, name: &str) -> &str {
        let part = self.parts.iter().find(|(part, _)| *part == name);
        part.map_or("", |(_, value)| value)
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
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
    pub fn name(&self, name: &str) -> Result<Option<String>, Problem> {
        match self.query(name) {
            None => Ok(None),
            Some(text) if is_name(text) => Ok(Some(text.to_owned())),
            Some(_) => Err(Problem::bad(format!(
                "`{name}` must be 1 to {LONGEST_NAME} letters, digits, `.`, `_`, `@`, `+` or `-`, and begin with a letter or digit"
            ))),
        }
    }

    pub fn tenant(&self) -> Result<String, Problem> {
        self.name("tenant")?
            .ok_or_else(|| Problem::bad("`tenant` is missing"))
    }

    /// The scope that the query names.
    pub fn scope(&self) -> Result<Scope, Problem> {
        let scope = Scope {
            tenant: self.tenant()?,
            workspace: self.name("workspace")?,
            user: self.name("user")?,
        };
        if scope.user.is_some() && scope.workspace.is_none() {
            return Err(Problem::bad("`user` needs `workspace`"));
        }
        Ok(scope)
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
    let inner = |c: char| c.is_ascii_alphanumeric() || "._@+-".contains(c);
    text.len() <= LONGEST_NAME
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(inner)
}
