//! Answers kept as bytes, until the tenant, the host or the time makes them wrong.

use apps::instant::Instant;
use hashbrown::HashMap;
use hyper::body::Bytes;
use rustc_hash::FxBuildHasher;

/// How many bytes of answers one tenant keeps.
const MOST: usize = 4 << 20;

#[derive(Clone, Debug)]
pub struct Body {
    pub etag: Box<str>,
    pub bytes: Bytes,
    /// When a rule begins or ends.
    pub until: Option<Instant>,
}

#[derive(Debug, Default)]
pub struct Bodies {
    known: HashMap<Box<str>, Body, FxBuildHasher>,
    size: usize,
    host_revision: i64,
}

impl Bodies {
    pub fn get(&self, question: &str, host_revision: i64, now: Instant) -> Option<&Body> {
        let body = self.known.get(question)?;
        let fresh = host_revision == self.host_revision;
        (fresh && body.until.is_none_or(|until| now < until)).then_some(body)
    }

    pub fn put(&mut self, question: &str, host_revision: i64, body: Body) {
        if self.host_revision != host_revision || self.size + body.bytes.len() > MOST {
            self.clear();
        }
        self.host_revision = host_revision;
        self.size += body.bytes.len();
        self.known.insert(question.into(), body);
    }

    pub fn clear(&mut self) {
        self.known.clear();
        self.size = 0;
    }
}
