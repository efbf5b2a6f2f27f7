//! Refusals in the audit: each is in a chain, and nobody can fill a disk with them.
//!
//! What a decision refuses is recorded with it. Here is the rest: requests that no role allows, that cannot be read, or
//! that come without a valid token. Within a minute the first of an actor have a record each; the further ones
//! are counted, and one record says how many there were. They stand in the chain of whoever tried: nobody can
//! fill a foreign tenant's chain, and nothing is told about what exists.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Mutex;

use apps::instant::Instant;

use super::{State, now, transact};
use crate::audit::Event;
use crate::http::routes::Route;
use crate::http::{Call, Problem};
use crate::identity::Role;
use crate::store::Failure;

/// How many of an actor have a record of their own in a minute; of those without a token, all together.
const MOST: u32 = 30;
const MOST_UNKNOWN: u32 = 5;
/// How many actors are told apart at once.
const MOST_ACTORS: usize = 10_000;
/// Of a request's line: it may hold anything.
const LONGEST_LINE: usize = 300;
const WINDOW: i64 = 60;

/// Whose refusals are counted together: the chain, the actor, the role.
type Who = (String, String, &'static str);

#[derive(Default)]
pub struct Refusals {
    windows: Mutex<BTreeMap<Who, Window>>,
}

struct Window {
    began: Instant,
    recorded: u32,
    held: u32,
    codes: BTreeSet<&'static str>,
}

/// Refusals that were only counted.
struct Held {
    who: Who,
    began: Instant,
    count: u32,
    codes: BTreeSet<&'static str>,
}

impl Refusals {
    /// Whether a refusal gets a record of its own; if not, it is counted.
    fn admit(&self, who: Who, most: u32, code: &'static str, now: Instant) -> bool {
        let mut windows = self.windows.lock().expect("nothing panics under the lock");
        let who = match windows.len() < MOST_ACTORS || windows.contains_key(&who) {
            true => who,
            false => (String::new(), "others".to_owned(), "none"),
        };
        let window = windows.entry(who).or_insert(Window {
            began: now,
            recorded: 0,
            held: 0,
            codes: BTreeSet::new(),
        });
        if window.held == 0 && now.0 >= window.began.0 + WINDOW {
            (window.began, window.recorded) = (now, 0);
        }
        let admitted = window.recorded < most;
        match admitted {
            true => window.recorded += 1,
            false => {
                window.held += 1;
                window.codes.insert(code);
            }
        }
        admitted
    }

    /// What was counted in windows that are over; in all of them at the end.
    fn due(&self, now: Instant, all: bool) -> Vec<Held> {
        let mut windows = self.windows.lock().expect("nothing panics under the lock");
        let mut due = Vec::new();
        windows.retain(|who, window| {
            let over = all || now.0 >= window.began.0 + WINDOW;
            if over && window.held > 0 {
                due.push(Held {
                    who: who.clone(),
                    began: window.began,
                    count: window.held,
                    codes: std::mem::take(&mut window.codes),
                });
            }
            !over
        });
        due
    }
}

impl State {
    /// Sees to it that a refusal is in the audit: of a write always, of a read where a role does not allow it.
    pub async fn refused(&self, call: &Call<'_>, route: &Route, problem: Problem) -> Problem {
        let wanted = route.is_write() || problem.status == 403;
        match wanted {
            true => self.record_refusal(call, route.action(), problem).await,
            false => problem,
        }
    }

    pub async fn record_refusal(
        &self,
        call: &Call<'_>,
        action: &'static str,
        mut problem: Problem,
    ) -> Problem {
        // Whoever is asked to come again is not refused.
        if problem.recorded || problem.status >= 500 || problem.code == "busy" || call.dry {
            return problem;
        }
        problem.recorded = true;
        let who = &call.identity;
        let home = match who.role == Role::Host || self.tenant(&who.tenant).is_err() {
            true => "",
            false => who.tenant.as_str(),
        };
        let key = (home.to_owned(), who.name.clone(), who.role.word());
        if self.refusals.admit(key, MOST, problem.code, call.now) {
            let mut event = crate::api::event(call, action);
            event.outcome = "refused";
            event.codes = vec![problem.code.to_owned()];
            event.detail = Some(self.line(call.line));
            // Refused either way; a chain that cannot be written must not make it succeed.
            let _ = self.record(home, event).await;
        }
        problem
    }

    /// A request without a valid token.
    pub async fn turned_away(
        &self,
        line: (&str, &str),
        peer: SocketAddr,
        now: Instant,
        request: &str,
    ) {
        let who = (String::new(), "unknown".to_owned(), "none");
        let code = "unauthorized";
        if self.refusals.admit(who, MOST_UNKNOWN, code, now) {
            let detail = format!("{} from {}", self.line(line), peer.ip());
            let event = Event::refusal(now, ("unknown", "none"), &[code], detail, request);
            let _ = self.record("", event).await;
        }
    }

    /// Records what was only counted.
    pub async fn record_held(&self, all: bool) {
        for held in self.refusals.due(now(), all) {
            let (home, actor, role) = &held.who;
            let detail = format!("{} more refusals since {}", held.count, held.began);
            let codes: Vec<&str> = held.codes.into_iter().collect();
            let event = Event::refusal(now(), (actor, role), &codes, detail, "");
            let _ = self.record(home, event).await;
        }
    }

    /// A request's line with nothing private in it.
    fn line(&self, (method, target): (&str, &str)) -> String {
        let line = self.scanner.mask(&format!("{method} {target}")).0;
        match line.chars().count() > LONGEST_LINE {
            true => line.chars().take(LONGEST_LINE).chain(['…']).collect(),
            false => line,
        }
    }

    /// Adds a record to a chain, and nothing else.
    async fn record(&self, name: &str, event: Event) -> Result<(), Failure> {
        if self.stale_since().is_some() {
            return Err(Failure::Lost(String::new()));
        }
        match name {
            "" => {
                let _turn = self.host_turn.lock().await;
                for _ in 0..transact::ATTEMPTS {
                    let host = self.host();
                    let Some(chain) = host.chain() else {
                        return Err(Failure::Lost("no host row".to_owned()));
                    };
                    let (batch, head) = transact::record("", (host.revision, &chain), &event);
                    match self.note(self.store.commit(batch).await) {
                        Ok(()) => {
                            host.set_chain(head);
                            return Ok(());
                        }
                        Err(Failure::Moved) => self.reload_host().await?,
                        lost => return lost,
                    }
                }
            }
            name => {
                let Ok(tenant) = self.tenant(name) else {
                    return Ok(());
                };
                let _turn = tenant.turn.lock().await;
                for _ in 0..transact::ATTEMPTS {
                    let (batch, head) = {
                        let inner = tenant.read();
                        transact::record(name, (inner.revision, &inner.audit), &event)
                    };
                    match self.note(self.store.commit(batch).await) {
                        Ok(()) => {
                            let inner = tenant.inner.write();
                            inner.expect("nothing panics under the lock").audit = head;
                            return Ok(());
                        }
                        Err(Failure::Moved) => self.reload(name).await?,
                        lost => return lost,
                    }
                }
            }
        }
        Err(Failure::Moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(name: &str) -> Who {
        ("t".to_owned(), name.to_owned(), "user")
    }

    #[test]
    fn the_first_of_a_minute_are_recorded_and_the_others_counted() {
        let refusals = Refusals::default();
        let admitted = |at: i64| refusals.admit(who("a"), 3, "forbidden", Instant(at));
        let told: Vec<bool> = (0..6).map(admitted).collect();
        assert_eq!(told, [true, true, true, false, false, false]);
        assert!(refusals.admit(who("b"), 3, "forbidden", Instant(6)));
        assert!(refusals.due(Instant(30), false).is_empty());
        let due = refusals.due(Instant(61), false);
        assert_eq!((due.len(), due[0].count), (1, 3));
        assert!(due[0].codes.contains("forbidden"));
        // The next minute begins anew, and an end tells what is left.
        assert!(admitted(62));
        assert_eq!((63..68).filter(|&at| admitted(at)).count(), 2);
        assert_eq!(refusals.due(Instant(68), true)[0].count, 3);
        assert!(refusals.due(Instant(68), true).is_empty());
    }

    #[test]
    fn however_many_actors_there_are_memory_is_bounded() {
        let refusals = Refusals::default();
        for n in 0..MOST_ACTORS + 100 {
            refusals.admit(who(&n.to_string()), 3, "forbidden", Instant(0));
        }
        let windows = refusals.windows.lock().unwrap();
        assert_eq!(windows.len(), MOST_ACTORS + 1);
    }
}
