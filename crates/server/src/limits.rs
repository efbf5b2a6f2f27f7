//! How often somebody may ask: so many requests a second for each identity and each tenant, with bursts of as many.
//!
//! Each node counts for itself. A counter is one number, the time at which all that was taken is paid for (GCRA).

use std::sync::Mutex;
use std::time::Instant;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::http::{Call, Problem};

/// How many counters are kept; when there are more, those that are paid for go.
const MOST: usize = 100_000;
const SECOND: u64 = 1_000_000_000;

/// Requests a second, where there is a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    pub identity: Option<u32>,
    pub tenant: Option<u32>,
}

pub struct Limits {
    rates: Rates,
    began: Instant,
    identities: Counters,
    tenants: Counters,
}

type Counters = Mutex<HashMap<Box<str>, u64, FxBuildHasher>>;

impl Limits {
    pub fn new(rates: Rates) -> Limits {
        Limits {
            rates,
            began: Instant::now(),
            identities: Counters::default(),
            tenants: Counters::default(),
        }
    }

    /// Counts a request, or refuses it and says when to come again.
    pub fn take(&self, call: &Call<'_>) -> Result<(), Problem> {
        if self.rates == Rates::default() {
            return Ok(());
        }
        let now = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let who = &call.identity;
        let name = format!("{}\0{}\0{}", who.tenant, who.role.word(), who.name);
        let paid = self
            .rates
            .identity
            .map_or(Ok(()), |rate| take(&self.identities, &name, rate, now));
        let paid = paid.and_then(|()| match self.rates.tenant {
            Some(rate) if !who.tenant.is_empty() => take(&self.tenants, &who.tenant, rate, now),
            _ => Ok(()),
        });
        paid.map_err(|wait| {
            let seconds = u32::try_from(wait.div_ceil(SECOND)).unwrap_or(u32::MAX);
            let seconds = seconds.max(1);
            let detail = format!("that is too often; come again in {seconds} s");
            Problem::new(429, "too-many-requests", detail).after(seconds)
        })
    }
}

/// One more request of `name`; otherwise how long to wait, in nanoseconds.
fn take(counters: &Counters, name: &str, rate: u32, now: u64) -> Result<(), u64> {
    let mut counters = counters.lock().expect("nothing panics under the lock");
    if counters.len() >= MOST && !counters.contains_key(name) {
        counters.retain(|_, paid| *paid > now);
    }
    let cost = SECOND / u64::from(rate.max(1));
    let paid = counters.get(name).copied().unwrap_or(0).max(now) + cost;
    if paid > now + SECOND {
        return Err(paid - now - SECOND);
    }
    match counters.get_mut(name) {
        Some(known) => *known = paid,
        None => drop(counters.insert(name.into(), paid)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_and_then_the_rate_holds() {
        let counters = Counters::default();
        let taken = |now: u64| take(&counters, "a", 10, now).is_ok();
        assert_eq!((0..20).filter(|_| taken(0)).count(), 10);
        assert!(!taken(SECOND / 20) && taken(SECOND / 10) && !taken(SECOND / 10));
        assert_eq!((0..20).filter(|_| taken(5 * SECOND)).count(), 10);
        assert!(take(&counters, "b", 10, 0).is_ok());
    }

    #[test]
    fn a_wait_is_as_long_as_it_says() {
        let counters = Counters::default();
        assert!(take(&counters, "a", 1, 0).is_ok());
        let wait = take(&counters, "a", 1, 0).unwrap_err();
        assert!(take(&counters, "a", 1, wait - 1).is_err());
        assert!(take(&counters, "a", 1, wait).is_ok());
    }
}
