//! Answers kept as bytes, until the tenant, the host or the time makes them wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use apps::instant::Instant;
use hashbrown::HashMap;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use rustc_hash::FxBuildHasher;

/// How many bytes of answers one tenant keeps.
const MOST: usize = 4 << 20;
/// How many bytes of answers all tenants keep.
const MOST_OF_ALL: usize = 256 << 20;

#[derive(Clone, Debug)]
pub struct Body {
    pub etag: HeaderValue,
    pub bytes: Bytes,
    /// When a rule begins or ends.
    pub until: Option<Instant>,
}

#[derive(Debug, Default)]
pub struct Bodies {
    known: HashMap<Box<str>, Body, FxBuildHasher>,
    size: usize,
    host_revision: i64,
    /// The bytes of all tenants.
    total: Arc<AtomicUsize>,
}

impl Bodies {
    pub fn new(total: &Arc<AtomicUsize>) -> Bodies {
        Bodies {
            total: Arc::clone(total),
            ..Bodies::default()
        }
    }

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
        let size = body.bytes.len();
        if self.total.load(Ordering::Relaxed) + size > MOST_OF_ALL {
            // Ours go first; if those of others fill the memory, this one is made anew each time.
            self.clear();
            if self.total.load(Ordering::Relaxed) + size > MOST_OF_ALL {
                return;
            }
        }
        self.total.fetch_add(size, Ordering::Relaxed);
        self.size += size;
        if let Some(old) = self.known.insert(question.into(), body) {
            self.size -= old.bytes.len();
            self.total.fetch_sub(old.bytes.len(), Ordering::Relaxed);
        }
    }

    pub fn clear(&mut self) {
        self.known.clear();
        self.total.fetch_sub(self.size, Ordering::Relaxed);
        self.size = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(size: usize, until: Option<i64>) -> Body {
        Body {
            etag: HeaderValue::from_static("e"),
            bytes: vec![0; size].into(),
            until: until.map(Instant),
        }
    }

    #[test]
    fn an_answer_ends_with_its_host_revision_and_its_time() {
        let mut bodies = Bodies::default();
        bodies.put("q", 1, body(3, Some(10)));
        assert!(bodies.get("q", 1, Instant(9)).is_some());
        assert!(bodies.get("q", 1, Instant(10)).is_none());
        assert!(bodies.get("q", 2, Instant(9)).is_none());
    }

    #[test]
    fn what_all_tenants_keep_is_bounded() {
        let total = Arc::new(AtomicUsize::new(0));
        let mut tenants: Vec<Bodies> = (0..80).map(|_| Bodies::new(&total)).collect();
        for bodies in &mut tenants {
            bodies.put("a", 1, body(MOST, None));
            bodies.put("a", 1, body(MOST - 1, None));
        }
        assert!(total.load(Ordering::Relaxed) <= MOST_OF_ALL);
        assert!(tenants[0].get("a", 1, Instant(0)).is_some());
        assert!(tenants[79].get("a", 1, Instant(0)).is_none());
        tenants.iter_mut().for_each(Bodies::clear);
        assert_eq!(total.load(Ordering::Relaxed), 0);
    }
}
