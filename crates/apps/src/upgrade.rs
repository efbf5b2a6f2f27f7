//! What an upgrade would do to stored overlays, told before anything is switched.
//!
//! The same overlays and rules are compiled against both versions and compared, key by key and scope
//! by scope. Overlays are never rewritten: values of removed keys become orphans, values of renamed
//! keys serve under the new name, and everything comes back when the old version does.

use std::collections::BTreeSet;

use crate::instant::Instant;
use crate::key::Key;
use crate::layer::Scope;
use crate::manifest;
use crate::overlay::{Fault, Meta};
use crate::policy::{Effect, Rule};
use crate::resolve::{Context, resolve};
use crate::snapshot::Snapshot;
use crate::value::{Value, write_string};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Safe,
    NeedsReview,
    Blocked,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::NeedsReview => "needs-review",
            Verdict::Blocked => "blocked",
        }
    }
}

/// A kind of difference, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Added,
    Removed,
    Renamed,
    ChangedDefault,
    NowNeedsReview,
    NoLongerMatches,
    LockConflict,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Added => "new",
            Kind::Removed => "removed",
            Kind::Renamed => "renamed",
            Kind::ChangedDefault => "changed-default",
            Kind::NowNeedsReview => "now-needs-review",
            Kind::NoLongerMatches => "no-longer-matches",
            Kind::LockConflict => "lock-conflict",
        }
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub kind: Kind,
    pub key: String,
    pub message: String,
    /// The scopes that it touches.
    pub scopes: Vec<String>,
    pub verdict: Verdict,
}

/// A stored value of a removed key: kept, not resolved, revived if the key comes back.
#[derive(Clone, Debug)]
pub struct Orphan {
    pub key: String,
    pub scope: Scope,
    pub value: Value,
    /// The schema that the key had, as JSON.
    pub schema: String,
    pub secret: bool,
    pub version: String,
    pub meta: Meta,
}

#[derive(Clone, Debug)]
pub struct Report {
    pub app: String,
    pub from: String,
    pub to: String,
    pub verdict: Verdict,
    pub lines: Vec<Line>,
    pub orphans: Vec<Orphan>,
}

/// Compares two snapshots of the same overlays and rules, compiled against two packages.
pub fn upgrade_report(old: &Snapshot, new: &Snapshot, now: Instant) -> Report {
    let mut run = Run {
        old,
        new,
        now,
        scopes: old.scopes(),
        lines: Vec::new(),
        orphans: Vec::new(),
    };
    run.added();
    run.removed();
    run.renamed();
    run.defaults();
    run.reviews();
    run.mismatches();
    run.locks();
    run.templates();
    let mut lines = run.lines;
    lines.sort_by(|a, b| (a.kind, &a.key).cmp(&(b.kind, &b.key)));
    let verdict = lines.iter().map(|line| line.verdict).max();
    Report {
        app: new.package.manifest.name.clone(),
        from: old.package.manifest.version.clone(),
        to: new.package.manifest.version.clone(),
        verdict: verdict.unwrap_or(Verdict::Safe),
        lines,
        orphans: run.orphans,
    }
}

struct Run<'s> {
    old: &'s Snapshot,
    new: &'s Snapshot,
    now: Instant,
    scopes: Vec<Scope>,
    lines: Vec<Line>,
    orphans: Vec<Orphan>,
}

impl<'s> Run<'s> {
    fn line(
        &mut self,
        kind: Kind,
        key: &str,
        message: String,
        scopes: Vec<String>,
        verdict: Verdict,
    ) {
        self.lines.push(Line {
            kind,
            key: key.to_owned(),
            message,
            scopes,
            verdict,
        });
    }

    /// The old key that a new one was, under its own or its old name.
    fn before(&self, key: &Key) -> Option<&'s Key> {
        let keys = &self.old.package.keys;
        let renamed = || key.renamed_from.as_deref().and_then(|name| keys.find(name));
        keys.find(&key.name).or_else(renamed).map(|id| keys.get(id))
    }

    fn added(&mut self) {
        for (_, key) in self.new.package.keys.iter() {
            if self.before(key).is_none() {
                let message = format!("new key of type {}", key.check.type_text());
                self.line(Kind::Added, &key.name, message, Vec::new(), Verdict::Safe);
            }
        }
    }

    fn removed(&mut self) {
        let old: &'s Snapshot = self.old;
        for (id, key) in old.package.keys.iter() {
            let keys = &self.new.package.keys;
            if keys
                .find(&key.name)
                .or_else(|| keys.find_renamed(&key.name))
                .is_some()
            {
                continue;
            }
            let mut holders = Vec::new();
            for scope in &self.scopes {
                let entry = old.overlay(scope).and_then(|overlay| overlay.get(id));
                let Some(entry) = entry else { continue };
                holders.push(scope.to_string());
                self.orphans.push(Orphan {
                    key: key.name.to_string(),
                    scope: scope.clone(),
                    value: entry.value.value.clone(),
                    schema: key.check.text.to_string(),
                    secret: key.secret,
                    version: old.package.manifest.version.clone(),
                    meta: (*entry.meta).clone(),
                });
            }
            let (message, verdict) = match holders.is_empty() {
                true => ("removed; nobody sets it".to_owned(), Verdict::Safe),
                false => (
                    "removed; its values are kept as orphans until an admin reviews them"
                        .to_owned(),
                    Verdict::NeedsReview,
                ),
            };
            self.line(Kind::Removed, &key.name, message, holders, verdict);
        }
    }

    fn renamed(&mut self) {
        let new: &'s Snapshot = self.new;
        for (_, key) in new.package.keys.iter() {
            let Some(name) = key.renamed_from.as_deref() else {
                continue;
            };
            let keys = &self.old.package.keys;
            let Some(id) = keys.find(name).filter(|_| keys.find(&key.name).is_none()) else {
                continue;
            };
            let holders = self.scopes.iter().filter(|scope| {
                let overlay = self.old.overlay(scope);
                overlay.is_some_and(|overlay| overlay.get(id).is_some())
            });
            let holders = holders.map(ToString::to_string).collect();
            let message = format!("renamed from {name}; stored values serve under the new name");
            self.line(Kind::Renamed, &key.name, message, holders, Verdict::Safe);
        }
    }

    fn defaults(&mut self) {
        let new: &'s Snapshot = self.new;
        for (id, key) in new.package.keys.iter() {
            let Some(before) = self.before(key) else {
                continue;
            };
            let value = |key: &'s Key| key.default.as_ref().map(|stored| &stored.value);
            if value(before) == value(key) {
                continue;
            }
            let Some(old_id) = self.old.package.keys.find(&before.name) else {
                continue;
            };
            let touched: Vec<String> = self
                .contexts()
                .into_iter()
                .filter(|(_, context)| {
                    let now = resolve(self.old, context).value(old_id);
                    let then = resolve(self.new, context).value(id);
                    let now = now.as_ref().map(|(held, _)| held.value());
                    now != then.as_ref().map(|(held, _)| held.value())
                })
                .map(|(name, _)| name)
                .collect();
            let show = |value: Option<&Value>| value.map_or("none".to_owned(), Value::json);
            let (from, to) = (show(value(before)), show(value(key)));
            let (message, verdict) = match touched.is_empty() {
                true => (
                    format!("default {from} → {to}; no effective value changes"),
                    Verdict::Safe,
                ),
                false => (
                    format!("default {from} → {to}; effective values change"),
                    Verdict::NeedsReview,
                ),
            };
            self.line(Kind::ChangedDefault, &key.name, message, touched, verdict);
        }
    }

    /// Everyone who is known to have an overlay; without any, someone who has none.
    fn contexts(&self) -> Vec<(String, Context)> {
        if self.scopes.is_empty() {
            let nobody = Context {
                now: self.now,
                ..Context::default()
            };
            return vec![("everyone".to_owned(), nobody)];
        }
        let scopes = self.scopes.iter();
        scopes
            .map(|scope| (scope.to_string(), Context::of(scope, self.now)))
            .collect()
    }

    fn reviews(&mut self) {
        let new: &'s Snapshot = self.new;
        for (id, key) in new.package.keys.iter() {
            let before = self.before(key);
            if !key.review || before.is_none_or(|before| before.review) {
                continue;
            }
            let holders = self.scopes.iter().filter(|scope| {
                let entry = new.overlay(scope).and_then(|overlay| overlay.get(id));
                entry.is_some_and(|entry| !entry.meta.is_approved())
            });
            let holders: Vec<String> = holders.map(ToString::to_string).collect();
            let message = match holders.is_empty() {
                true => "changes now need an admin's review".to_owned(),
                false => {
                    "changes now need an admin's review; stored values wait for one".to_owned()
                }
            };
            self.line(
                Kind::NowNeedsReview,
                &key.name,
                message,
                holders,
                Verdict::NeedsReview,
            );
        }
    }

    /// Stored values that the old schema admits and the new one does not.
    fn mismatches(&mut self) {
        let new: &'s Snapshot = self.new;
        for (id, key) in new.package.keys.iter() {
            let mut holders = Vec::new();
            let mut why = BTreeSet::new();
            for scope in &self.scopes {
                let entry = new.overlay(scope).and_then(|overlay| overlay.get(id));
                let Some(entry) = entry else { continue };
                let was_good = self.before(key).is_some_and(|before| {
                    let keys = &self.old.package.keys;
                    let entry = keys
                        .find(&before.name)
                        .and_then(|id| self.old.overlay(scope)?.get(id));
                    entry.is_some_and(|entry| entry.fault.is_none())
                });
                match entry.fault {
                    Some(fault) if was_good => {
                        holders.push(scope.to_string());
                        why.insert(match fault {
                            Fault::SchemaInvalid if !key.check.admits_type(&entry.value.value) => {
                                format!("the type is now {}", key.check.type_text())
                            }
                            Fault::ScopeNotAllowed => {
                                format!("it may now be set from {} on", key.floor.word())
                            }
                            Fault::Plaintext => "it now takes secret handles only".to_owned(),
                            _ => key
                                .check
                                .complaint(&entry.value.value)
                                .unwrap_or_else(|| "it no longer matches".to_owned()),
                        });
                    }
                    _ => {}
                }
            }
            if !holders.is_empty() {
                let why: Vec<String> = why.into_iter().collect();
                let message = format!("stored values no longer match: {}", why.join("; "));
                self.line(
                    Kind::NoLongerMatches,
                    &key.name,
                    message,
                    holders,
                    Verdict::NeedsReview,
                );
            }
        }
    }

    /// Rules that the new version's schema contradicts, and keys that get blocked.
    fn locks(&mut self) {
        let new: &'s Snapshot = self.new;
        let authorities = new.authorities();
        for (id, key) in new.package.keys.iter() {
            let rules = authorities
                .iter()
                .filter_map(|authority| new.rules(authority))
                .flat_map(|set| set.of(id))
                .filter(|rule| rule.binds(self.now));
            let stuck: Vec<&Rule> = rules
                .filter(|rule| match &rule.effect {
                    Effect::Mandatory(value) => !key.secret && !key.check.admits(&value.value),
                    _ => false,
                })
                .collect();
            for rule in stuck {
                let message = format!(
                    "its locked value does not match the new schema: {}",
                    rule.said()
                );
                let scope = rule.authority.to_string();
                self.line(
                    Kind::LockConflict,
                    &key.name,
                    message,
                    vec![scope],
                    Verdict::Blocked,
                );
            }
            let blocked: Vec<String> = self
                .contexts()
                .into_iter()
                .filter(|(_, context)| {
                    let before = self
                        .before(key)
                        .and_then(|k| self.old.package.keys.find(&k.name));
                    let was = before.is_some_and(|id| resolve(self.old, context).key(id).blocked);
                    let is = resolve(self.new, context).key(id);
                    is.blocked
                        && !was
                        && !is
                            .rules
                            .iter()
                            .any(|r| matches!(r.effect, Effect::Mandatory(_)))
                })
                .map(|(name, _)| name)
                .collect();
            if !blocked.is_empty() {
                let message = "policy leaves no permitted value in the new version".to_owned();
                self.line(
                    Kind::LockConflict,
                    &key.name,
                    message,
                    blocked,
                    Verdict::Blocked,
                );
            }
        }
    }

    /// Templates that become required and that a known tenant has not filled.
    fn templates(&mut self) {
        let was_required = |name: &str| {
            let old = &self.old.package.manifest.templates;
            old.iter()
                .any(|template| template.key == name && template.required)
        };
        let fresh: Vec<_> = self
            .new
            .package
            .manifest
            .templates
            .iter()
            .filter(|template| template.required && !was_required(&template.key))
            .map(|template| {
                (
                    template.key.clone(),
                    manifest::floor(template.scope.as_deref()),
                )
            })
            .collect();
        for (name, floor) in fresh {
            let message = format!("template {name} is now required, from {} on", floor.word());
            self.line(
                Kind::NowNeedsReview,
                &name,
                message,
                Vec::new(),
                Verdict::NeedsReview,
            );
        }
    }
}

impl Report {
    pub fn write_json(&self, out: &mut String) {
        out.push_str("{\"app\":");
        write_string(out, &self.app);
        out.push_str(",\"from\":");
        write_string(out, &self.from);
        out.push_str(",\"to\":");
        write_string(out, &self.to);
        out.push_str(&format!(
            ",\"verdict\":\"{}\",\"changes\":[",
            self.verdict.word()
        ));
        for (at, line) in self.lines.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(&format!("{{\"kind\":\"{}\",\"key\":", line.kind.word()));
            write_string(out, &line.key);
            out.push_str(",\"message\":");
            write_string(out, &line.message);
            out.push_str(",\"scopes\":[");
            for (at, scope) in line.scopes.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(out, scope);
            }
            out.push_str(&format!("],\"verdict\":\"{}\"}}", line.verdict.word()));
        }
        out.push_str("],\"orphans\":[");
        for (at, orphan) in self.orphans.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            orphan.write_json(out);
        }
        out.push_str("]}");
    }
}

impl Orphan {
    fn write_json(&self, out: &mut String) {
        out.push_str("{\"key\":");
        write_string(out, &self.key);
        out.push_str(",\"scope\":");
        write_string(out, &self.scope.to_string());
        out.push_str(",\"value\":");
        self.value.write_json(out);
        out.push_str(&format!(",\"schema\":{},\"version\":", self.schema));
        write_string(out, self.meta.version.as_deref().unwrap_or(&self.version));
        out.push_str(",\"actor\":");
        match &self.meta.actor {
            Some(actor) => write_string(out, actor),
            None => out.push_str("null"),
        }
        out.push('}');
    }
}
