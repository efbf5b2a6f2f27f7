//! The one decision that every way into the system asks for: command line, service, page, import.
//!
//! A write to an overlay is decided by resolving as if it had been made: the overlay with its changes
//! is compiled, put in its place, and every changed key is resolved. What the resolver would skip or
//! suppress is refused, with the resolver's own conflict; so no write path can differ from what
//! serving does. A policy is refused when no value could satisfy it together with the rules of the
//! same and of higher authorities. Nothing is stored here.

use std::sync::Arc;

use base::{Code, Severity};

use crate::codes;
use crate::conflict::Conflict;
use crate::conflicts;
use crate::instant::Instant;
use crate::key::KeyId;
use crate::layer::{Authority, Layer, Scope};
use crate::overlay::{Assignment, Meta, Overlay};
use crate::policy::{self, Mode, Rule, RuleSet};
use crate::resolve::{Context, Outcome, Resolved, Why, resolve};
use crate::snapshot::Snapshot;
use crate::value::Value;

#[derive(Clone, Debug)]
pub enum Change {
    Set(Value),
    /// Withdraws the layer's own value; what is below serves again.
    Unset,
}

/// Changes to one overlay.
#[derive(Clone, Debug)]
pub struct Write {
    pub scope: Scope,
    pub changes: Vec<(String, Change)>,
    pub author: Option<Box<str>>,
    pub time: Option<Instant>,
    /// The revision that the overlay gets.
    pub revision: Option<u64>,
    /// The revision that the author saw; `None` does not compare.
    pub base: Option<u64>,
}

/// A write that waits for another person. It is void when its base has moved.
#[derive(Clone, Debug)]
pub struct Review {
    pub write: Write,
}

pub enum Command<'c> {
    Overlay(&'c Write),
    /// Runtime input of a context: nothing is kept, the same rules apply.
    Runtime {
        context: &'c Context,
        values: &'c [(String, Value)],
    },
    Approve {
        review: &'c Review,
        approver: &'c str,
    },
    Policy {
        authority: &'c Authority,
        rules: &'c [Rule],
        now: Instant,
    },
    RemoveOrphan {
        scope: &'c Scope,
        key: &'c str,
        by_admin: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// Waits for a review; nothing changes until then.
    Pending,
    Refused,
}

#[derive(Clone, Debug)]
pub struct Decision {
    pub verdict: Verdict,
    pub conflicts: Vec<Conflict>,
    /// The overlay as it is to be stored, for an accepted write; the runtime layer, for runtime
    /// input, with refused values in it: the resolver shows what became of them.
    pub overlay: Option<Overlay>,
}

pub fn decide(snapshot: &Snapshot, now: Instant, command: Command<'_>) -> Decision {
    match command {
        Command::Overlay(write) => overlay(snapshot, now, write, None),
        Command::Runtime { context, values } => runtime(snapshot, context, values),
        Command::Approve { review, approver } => {
            if review
                .write
                .author
                .as_deref()
                .is_none_or(|author| author == approver)
            {
                let message = "a write is approved by another person than its author";
                return refused(conflict(codes::REVIEW_PENDING, "", message, "reviewer"));
            }
            overlay(snapshot, now, &review.write, Some(approver))
        }
        Command::Policy {
            authority,
            rules,
            now,
        } => rules_decided(snapshot, authority, rules, now),
        Command::RemoveOrphan {
            scope,
            key,
            by_admin,
        } => remove_orphan(snapshot, scope, key, by_admin),
    }
}

fn overlay(snapshot: &Snapshot, now: Instant, write: &Write, approver: Option<&str>) -> Decision {
    let keys = &snapshot.package.keys;
    let current = snapshot.overlay(&write.scope);
    if let Some(moved) = moved(current, write) {
        return refused(moved);
    }
    let meta = Arc::new(Meta {
        revision: write.revision,
        actor: write.author.clone(),
        time: write.time,
        approved_by: approver.map(Into::into),
        version: Some(snapshot.package.manifest.version.as_str().into()),
    });
    let mut values = current.map_or_else(Vec::new, |overlay| overlay.assignments(keys));
    values.retain(|(known, _)| !write.changes.iter().any(|(name, _)| *name == known.name));
    for (name, change) in &write.changes {
        if let Change::Set(value) = change {
            values.push((assignment(name, value), Arc::clone(&meta)));
        }
    }
    let layer = write.scope.layer();
    let candidate = snapshot.try_compile(layer, values);
    let context = Context::of(&write.scope, now);
    let names: Vec<&str> = write
        .changes
        .iter()
        .filter(|(_, change)| matches!(change, Change::Set(_)))
        .map(|(name, _)| name.as_str())
        .collect();
    let view = resolve(snapshot, &context)
        .up_to(layer)
        .with(layer, &candidate);
    let (verdict, conflicts) = tried(&view, layer, &names);
    Decision {
        verdict,
        conflicts,
        overlay: (verdict == Verdict::Accepted).then_some(candidate),
    }
}

fn assignment(name: &str, value: &Value) -> Assignment {
    Assignment {
        name: name.to_owned(),
        value: value.clone(),
        span: None,
        withheld: None,
    }
}

fn runtime(snapshot: &Snapshot, context: &Context, values: &[(String, Value)]) -> Decision {
    let meta = Arc::new(Meta::default());
    let assignments = values
        .iter()
        .map(|(name, value)| (assignment(name, value), Arc::clone(&meta)));
    let overlay = snapshot.try_compile(Layer::Runtime, assignments);
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    let view = resolve(snapshot, context).with(Layer::Runtime, &overlay);
    let (verdict, conflicts) = tried(&view, Layer::Runtime, &names);
    Decision {
        verdict,
        conflicts,
        overlay: Some(overlay),
    }
}

/// Resolves the changed keys as if the change had been made.
fn tried(view: &Resolved<'_>, layer: Layer, names: &[&str]) -> (Verdict, Vec<Conflict>) {
    let keys = &view.snapshot.package.keys;
    let mut conflicts = Vec::new();
    let mut pending = false;
    for name in names {
        let Some(id) = keys.find(name).or_else(|| keys.find_renamed(name)) else {
            let strays = crate::assemble::stray_conflicts(view);
            conflicts.extend(
                strays
                    .into_iter()
                    .filter(|c| c.key == **name)
                    .map(|c| Conflict {
                        code: codes::UNKNOWN_KEY,
                        severity: Severity::Error,
                        ..c
                    }),
            );
            continue;
        };
        pending |= refused_here(view, layer, id, &mut conflicts);
    }
    let verdict = match (conflicts.iter().any(Conflict::is_error), pending) {
        (true, _) => Verdict::Refused,
        (false, true) => Verdict::Pending,
        (false, false) => Verdict::Accepted,
    };
    (verdict, conflicts)
}

/// Adds what is wrong with one key's value in the layer; `true` if all that is missing is a review.
fn refused_here(
    view: &Resolved<'_>,
    layer: Layer,
    id: KeyId,
    conflicts: &mut Vec<Conflict>,
) -> bool {
    let answer = view.key(id);
    let link = answer
        .chain
        .iter()
        .find(|link| link.layer == layer && link.supplier.is_none());
    let Some(link) = link else { return false };
    let review = link.outcome == Outcome::Suppressed && link.why == Why::Review;
    let told = conflicts::of(view, &answer).into_iter();
    conflicts.extend(told.filter(|c| c.layer == Some(layer)).map(|c| Conflict {
        severity: if review { Severity::Note } else { c.severity },
        ..c
    }));
    review
}

/// The conflict of a write whose base has moved: it names who and when.
fn moved(current: Option<&Overlay>, write: &Write) -> Option<Conflict> {
    let latest = current
        .into_iter()
        .flat_map(|overlay| overlay.entries())
        .max_by_key(|entry| entry.meta.revision);
    let now = latest.and_then(|entry| entry.meta.revision);
    let base = write.base?;
    if now.unwrap_or(0) == base {
        return None;
    }
    let meta = latest.map(|entry| &*entry.meta);
    let who = meta
        .and_then(|meta| meta.actor.as_deref())
        .unwrap_or("someone");
    let when = meta
        .and_then(|meta| meta.time)
        .map_or_else(String::new, |time| format!(" on {time}"));
    let message = format!(
        "{} was changed by {who}{when}: it is at r{}, the write is based on r{base}",
        write.scope,
        now.unwrap_or(0)
    );
    Some(conflict(codes::VERSION_CONFLICT, "", &message, "author"))
}

fn rules_decided(
    snapshot: &Snapshot,
    authority: &Authority,
    rules: &[Rule],
    now: Instant,
) -> Decision {
    let candidate = RuleSet::new(rules.to_vec(), &snapshot.package.keys);
    let above: Vec<&RuleSet> = match authority {
        Authority::Host => Vec::new(),
        Authority::Tenant { .. } => vec![&snapshot.host_rules],
        Authority::Workspace { tenant, .. } => {
            let tenant = Authority::Tenant {
                tenant: tenant.clone(),
            };
            let tenant = snapshot.rules(&tenant);
            std::iter::once(&snapshot.host_rules)
                .chain(tenant)
                .collect()
        }
    };
    let speaks =
        |rule: &&Rule| rule.mode == Mode::Enforce && rule.expires.is_none_or(|end| now < end);
    let mut conflicts = Vec::new();
    for (id, key) in snapshot.package.keys.iter() {
        if candidate.of(id).next().is_none() {
            continue;
        }
        let sets = above.iter().copied().chain([&candidate]);
        let all: Vec<&Rule> = sets.flat_map(|set| set.of(id)).filter(speaks).collect();
        let check = |value: &Value| key.secret || key.check.admits(value);
        if let Some((rules, why)) = policy::contradiction(&all, check) {
            let said: Vec<String> = rules.iter().map(|rule| rule.said()).collect();
            let message = format!(
                "no value of `{}` would be permitted: {why}: {}",
                key.name,
                said.join("; ")
            );
            let fixer = authority.layer().keeper();
            conflicts.push(conflict(
                codes::POLICY_CONTRADICTION,
                &key.name,
                &message,
                fixer,
            ));
        }
    }
    Decision {
        verdict: match conflicts.is_empty() {
            true => Verdict::Accepted,
            false => Verdict::Refused,
        },
        conflicts,
        overlay: None,
    }
}

fn remove_orphan(snapshot: &Snapshot, scope: &Scope, key: &str, by_admin: bool) -> Decision {
    if !by_admin {
        let message = "an orphan is removed by an admin's review only";
        return refused(conflict(codes::ORPHANED, key, message, "workspace admin"));
    }
    let keys = &snapshot.package.keys;
    let overlay = snapshot.overlay(scope);
    let is_orphan = overlay.is_some_and(|o| o.strays().iter().any(|stray| *stray.name == *key));
    let Some(overlay) = overlay.filter(|_| is_orphan) else {
        let message = format!("{scope} has no orphan `{key}`");
        return refused(conflict(codes::UNKNOWN_KEY, key, &message, "author"));
    };
    let mut values = overlay.assignments(keys);
    values.retain(|(assignment, _)| assignment.name != key);
    Decision {
        verdict: Verdict::Accepted,
        conflicts: Vec::new(),
        overlay: Some(snapshot.try_compile(scope.layer(), values)),
    }
}

fn refused(conflict: Conflict) -> Decision {
    Decision {
        verdict: Verdict::Refused,
        conflicts: vec![conflict],
        overlay: None,
    }
}

fn conflict(code: Code, key: &str, message: &str, fixer: &str) -> Conflict {
    Conflict {
        code,
        severity: Severity::Error,
        key: key.to_owned(),
        layer: None,
        outcome: "refused",
        policy: None,
        message: message.to_owned(),
        remedy: String::new(),
        fixer: fixer.to_owned(),
        span: None,
    }
}
