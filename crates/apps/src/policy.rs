//! Policy: a second stack beside the layers, not a higher layer.
//!
//! Rules come from the authorities host, tenant and workspace, and bind every more specific layer,
//! runtime input included. What an effect means is decided in [`crate::resolve`]; here rules are read,
//! compiled against the keys of an app, and asked whether any value can satisfy them together.
//!
//! - `mandatory`: this value, whatever the layers say.
//! - `recommended`: a default just above its authority's layer.
//! - `range`: bounds the effective value; the rules of all authorities apply at once.
//! - `deny`: the key, or some values of it, may not be set above the authority.
//! - `require-review`: a write waits for another person.

use std::sync::Arc;

use base::Span;

use crate::constraint::Constraint;
use crate::glob::Glob;
use crate::instant::Instant;
use crate::key::{KeyId, KeySet, Keys};
use crate::layer::Authority;
use crate::value::{Stored, Value};

#[derive(Clone, Debug)]
pub enum Effect {
    Mandatory(Arc<Stored>),
    Recommended(Arc<Stored>),
    Range(Constraint),
    /// No values: the whole key.
    Deny(Vec<Value>),
    RequireReview,
}

impl Effect {
    pub fn word(&self) -> &'static str {
        match self {
            Effect::Mandatory(_) => "mandatory",
            Effect::Recommended(_) => "recommended",
            Effect::Range(_) => "range",
            Effect::Deny(_) => "deny",
            Effect::RequireReview => "require-review",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Enforce,
    /// Decides nothing, tells as a warning.
    Warn,
    /// Decides nothing, tells as a note.
    DryRun,
}

impl Mode {
    pub const WORDS: [&'static str; 3] = ["enforce", "warn", "dry-run"];

    pub fn parse(word: &str) -> Option<Mode> {
        match word {
            "enforce" => Some(Mode::Enforce),
            "warn" => Some(Mode::Warn),
            "dry-run" => Some(Mode::DryRun),
            _ => None,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Mode::Enforce => "enforce",
            Mode::Warn => "warn",
            Mode::DryRun => "dry-run",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub id: String,
    pub authority: Authority,
    pub keys: Vec<Glob>,
    pub effect: Effect,
    pub reason: String,
    pub contact: Option<String>,
    pub mode: Mode,
    pub not_before: Option<Instant>,
    pub expires: Option<Instant>,
    pub span: Option<Span>,
}

impl Rule {
    /// Whether the rule speaks at this time: from `notBefore` on, until just before `expires`.
    pub fn is_active(&self, now: Instant) -> bool {
        self.not_before.is_none_or(|from| from <= now) && self.expires.is_none_or(|end| now < end)
    }

    /// Whether the rule decides something at this time.
    pub fn binds(&self, now: Instant) -> bool {
        self.mode == Mode::Enforce && self.is_active(now)
    }

    /// A rule on a key's old name still holds for the key: renaming is no way out of a lock.
    pub fn speaks_of(&self, name: &str, renamed_from: Option<&str>) -> bool {
        let hit = |name: &str| self.keys.iter().any(|glob| glob.matches(name));
        hit(name) || renamed_from.is_some_and(hit)
    }

    /// `policy grounding-floor of tenant acme: >=0.8 "legal review 2026-04" (ask legal@acme)`
    pub fn said(&self) -> String {
        let mut text = format!("policy {} of {}", self.id, self.authority);
        if let Effect::Range(constraint) = &self.effect {
            text.push_str(&format!(": {}", constraint.text));
        }
        text.push_str(&format!(" \"{}\"", self.reason));
        if let Some(contact) = &self.contact {
            text.push_str(&format!(" (ask {contact})"));
        }
        text
    }

    /// Whether a `deny` rule forbids a value, or an item of it: a list cannot smuggle one in.
    pub fn denies(&self, value: &Value) -> bool {
        match &self.effect {
            Effect::Deny(values) if values.is_empty() => true,
            Effect::Deny(values) => values
                .iter()
                .any(|denied| denied == value || value.items().contains(denied)),
            _ => false,
        }
    }
}

/// The rules of one authority, compiled against the keys of an app.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    /// For every key that a rule speaks of, the rule's position; sorted.
    index: Vec<(KeyId, u32)>,
    spoken_of: KeySet,
}

impl RuleSet {
    pub fn new(rules: Vec<Rule>, keys: &Keys) -> RuleSet {
        let mut index = Vec::new();
        for (at, rule) in (0..).zip(&rules) {
            let spoken_of = keys
                .iter()
                .filter(|(_, key)| rule.speaks_of(&key.name, key.renamed_from.as_deref()));
            index.extend(spoken_of.map(|(id, _)| (id, at)));
        }
        index.sort_unstable();
        RuleSet {
            rules,
            spoken_of: KeySet::new(index.iter().map(|&(id, _)| id)),
            index,
        }
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rules that speak of a key, in the order in which they were written.
    pub fn of(&self, key: KeyId) -> impl Iterator<Item = &Rule> {
        let from = match self.spoken_of.contains(key) {
            true => self.index.partition_point(|&(id, _)| id < key),
            false => self.index.len(),
        };
        let rest = self.index.get(from..).unwrap_or(&[]);
        rest.iter()
            .take_while(move |&&(id, _)| id == key)
            .filter_map(|&(_, at)| self.rules.get(at as usize))
    }

    /// The rules that speak of no key of the app.
    pub fn silent(&self) -> impl Iterator<Item = &Rule> {
        (0..).zip(&self.rules).filter_map(|(at, rule)| {
            let speaks = self.index.iter().any(|&(_, index)| index == at);
            (!speaks).then_some(rule)
        })
    }
}

/// Why no value can satisfy some rules on one key, if that is certain. `admits` is the key's own
/// check, which a mandatory value must pass too.
pub fn contradiction<'r>(
    rules: &[&'r Rule],
    admits: impl Fn(&Value) -> bool,
) -> Option<(Vec<&'r Rule>, &'static str)> {
    let ranges: Vec<(&Rule, &Constraint)> = rules
        .iter()
        .filter_map(|rule| match &rule.effect {
            Effect::Range(constraint) => Some((*rule, constraint)),
            _ => None,
        })
        .collect();
    let mut fixed: Option<(&'r Rule, &Value)> = None;
    for &rule in rules {
        let Effect::Mandatory(stored) = &rule.effect else {
            continue;
        };
        let value = &stored.value;
        if !admits(value) {
            return Some((
                vec![rule],
                "the mandatory value does not match the key's schema",
            ));
        }
        if let Some((other, wanted)) = fixed
            && wanted != value
        {
            return Some((vec![other, rule], "two mandatory values differ"));
        }
        fixed = Some((rule, value));
        if let Some((range, _)) = ranges.iter().find(|(_, range)| !range.admits(value)) {
            return Some((vec![range, rule], "a mandatory value lies outside a range"));
        }
        let denies = |other: &&&Rule| {
            other.authority.layer() < rule.authority.layer()
                && matches!(&other.effect, Effect::Deny(values) if !values.is_empty())
                && other.denies(value)
        };
        if let Some(deny) = rules.iter().find(denies) {
            return Some((vec![deny, rule], "a mandatory value is denied"));
        }
    }
    let constraints: Vec<&Constraint> = ranges.iter().map(|(_, range)| *range).collect();
    if !constraints.is_empty() && !Constraint::satisfiable(&constraints) {
        let rules = ranges.iter().map(|(rule, _)| *rule).collect();
        return Some((rules, "no value lies in all ranges"));
    }
    None
}
