//! Counters for Prometheus. They name no tenant, user or key.

use std::sync::atomic::{AtomicU64, Ordering};

/// Upper bounds of the buckets of durations, in microseconds.
const BOUNDS: [u64; 8] = [100, 500, 1_000, 5_000, 20_000, 100_000, 500_000, 2_000_000];

#[derive(Default)]
pub struct Metrics {
    /// By hundreds: 2xx, 3xx, 4xx, 5xx.
    replies: [AtomicU64; 4],
    buckets: [AtomicU64; 9],
    microseconds: AtomicU64,
    accepted: AtomicU64,
    refused: AtomicU64,
    unauthorized: AtomicU64,
    limited: AtomicU64,
}

impl Metrics {
    pub fn replied(&self, status: u16, microseconds: u64) {
        let class = usize::from(status / 100).saturating_sub(2);
        if let Some(counter) = self.replies.get(class) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        match status {
            401 => drop(self.unauthorized.fetch_add(1, Ordering::Relaxed)),
            429 => drop(self.limited.fetch_add(1, Ordering::Relaxed)),
            _ => {}
        }
        let bucket = BOUNDS.partition_point(|bound| *bound < microseconds);
        if let Some(counter) = self.buckets.get(bucket) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }

    pub fn wrote(&self, accepted: bool) {
        let counter = if accepted {
            &self.accepted
        } else {
            &self.refused
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub fn text(&self, stale: bool, tenants: usize) -> String {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut out = String::from(
            "# HELP lath_replies_total Replies by class of status.\n# TYPE lath_replies_total counter\n",
        );
        for (class, counter) in (2..).zip(&self.replies) {
            out.push_str(&format!(
                "lath_replies_total{{class=\"{class}xx\"}} {}\n",
                read(counter)
            ));
        }
        out.push_str(
            "# HELP lath_reply_seconds Time from request to reply.\n# TYPE lath_reply_seconds histogram\n",
        );
        let mut sum = 0;
        for (at, counter) in self.buckets.iter().enumerate() {
            sum += read(counter);
            let bound = BOUNDS.get(at).map(|bound| *bound as f64 / 1e6);
            let bound = bound.map_or("+Inf".to_owned(), |bound| bound.to_string());
            out.push_str(&format!(
                "lath_reply_seconds_bucket{{le=\"{bound}\"}} {sum}\n"
            ));
        }
        let seconds = read(&self.microseconds) as f64 / 1e6;
        out.push_str(&format!(
            "lath_reply_seconds_sum {seconds}\nlath_reply_seconds_count {sum}\n"
        ));
        for (name, help, value) in [
            (
                "lath_writes_accepted_total",
                "Writes that were accepted or wait for a review.",
                read(&self.accepted),
            ),
            (
                "lath_writes_refused_total",
                "Writes that were refused.",
                read(&self.refused),
            ),
            (
                "lath_unauthorized_total",
                "Requests without a valid token.",
                read(&self.unauthorized),
            ),
            (
                "lath_limited_total",
                "Requests of those who asked too often.",
                read(&self.limited),
            ),
        ] {
            out.push_str(&format!(
                "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n"
            ));
        }
        for (name, help, value) in [
            (
                "lath_stale",
                "1 while the database is lost.",
                usize::from(stale),
            ),
            ("lath_tenants", "Tenants in memory.", tenants),
        ] {
            out.push_str(&format!(
                "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n"
            ));
        }
        out
    }
}
