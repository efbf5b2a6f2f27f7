//! Readiness: whether an app, and each of its entries, can be used by someone now, and what to do
//! if not. Derived from everything a snapshot holds, never stored; no app code runs.
//!
//! | situation | state |
//! |---|---|
//! | manifest or package invalid | failed |
//! | required tool unavailable; eval below its threshold; no permitted value; past `endOfLifeAt` | blocked |
//! | optional tool enabled but unavailable; required knowledge, secret or template missing; review pending | needs-setup |
//! | optional secret or knowledge missing; required eval without a score; orphans | degraded |
//!
//! An entry is judged by what it says it needs, and by what is required and no entry claims.

use std::cmp::Ordering;

use base::Diagnostic;

use crate::assemble::stray_conflicts;
use crate::codes;
use crate::conflicts;
use crate::layer::Layer;
use crate::manifest::{self, Item};
use crate::resolve::{Resolved, Why};
use crate::secrets;
use crate::snapshot::Environment;
use crate::value::{Value, write_string};

/// From best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Ready,
    Degraded,
    NeedsSetup,
    Blocked,
    Failed,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Status::Ready => "ready",
            Status::Degraded => "degraded",
            Status::NeedsSetup => "needs-setup",
            Status::Blocked => "blocked",
            Status::Failed => "failed",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub severity: Status,
    /// `tool`, `knowledge`, `secret`, `eval`, `template`, `policy`, `review`, `orphan`, `lifecycle`, `package`.
    pub kind: &'static str,
    pub key: String,
    pub required: bool,
    pub message: String,
    pub remediation: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryReadiness {
    pub key: String,
    pub status: Status,
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    pub status: Status,
    pub checks: Vec<Check>,
    pub entries: Vec<EntryReadiness>,
}

/// The readiness of a package that could not be read.
pub fn failed(findings: &[Diagnostic]) -> Readiness {
    let errors = findings.iter().filter(|finding| finding.is_error());
    let checks = errors.map(|finding| Check {
        severity: Status::Failed,
        kind: "package",
        key: finding.code.0.to_owned(),
        required: true,
        message: finding.message.clone(),
        remediation: "install a package that `lath app validate` accepts".to_owned(),
    });
    Readiness {
        status: Status::Failed,
        checks: checks.collect(),
        entries: Vec::new(),
    }
}

/// The readiness of an app for a context.
pub fn readiness(resolved: &Resolved<'_>) -> Readiness {
    let nothing = Environment::default();
    let environment = resolved.snapshot.environment.as_ref().unwrap_or(&nothing);
    let mut run = Run {
        resolved,
        environment,
        checks: Vec::new(),
    };
    run.lifecycle();
    run.tools();
    run.knowledge();
    run.secrets();
    run.evals();
    run.templates();
    run.keys();
    run.orphans();
    let checks = run.checks;
    let manifest = &resolved.snapshot.package.manifest;
    let entries = manifest.entries.iter().map(|entry| {
        let concerns = |check: &&Check| match claims(entry, check) {
            true => true,
            false => check.required && !manifest.entries.iter().any(|other| claims(other, check)),
        };
        let checks: Vec<Check> = checks.iter().filter(concerns).cloned().collect();
        EntryReadiness {
            key: entry.key.clone(),
            status: worst(&checks),
            checks,
        }
    });
    Readiness {
        status: worst(&checks),
        entries: entries.collect(),
        checks,
    }
}

fn worst(checks: &[Check]) -> Status {
    let all = checks.iter().map(|check| check.severity);
    all.max().unwrap_or(Status::Ready)
}

/// Whether an entry says that it needs what a check is about.
fn claims(entry: &Item, check: &Check) -> bool {
    let needs = match check.kind {
        "tool" => &entry.needs.tools,
        "knowledge" => &entry.needs.knowledge,
        "secret" => &entry.needs.secrets,
        "eval" => &entry.needs.evals,
        _ => return false,
    };
    needs.contains(&check.key)
}

struct Run<'r, 's> {
    resolved: &'r Resolved<'s>,
    environment: &'r Environment,
    checks: Vec<Check>,
}

impl Run<'_, '_> {
    fn add(
        &mut self,
        severity: Status,
        kind: &'static str,
        item: (&str, bool),
        message: String,
        remediation: String,
    ) {
        self.checks.push(Check {
            severity,
            kind,
            key: item.0.to_owned(),
            required: item.1,
            message,
            remediation,
        });
    }

    fn value(&self, name: &str) -> Option<Value> {
        let keys = &self.resolved.snapshot.package.keys;
        let (held, _) = self.resolved.value(keys.find(name)?)?;
        Some(held.value().clone())
    }

    fn lifecycle(&mut self) {
        let manifest = &self.resolved.snapshot.package.manifest;
        let Some(end) = manifest
            .end_of_life
            .filter(|&end| end <= self.resolved.context.now)
        else {
            return;
        };
        let next = match &manifest.superseded_by {
            Some(next) => format!("upgrade to {next}"),
            None => "choose a supported release".to_owned(),
        };
        let message = format!(
            "{} {} reached its end of life on {end}",
            manifest.name, manifest.version
        );
        self.add(
            Status::Blocked,
            "lifecycle",
            ("endOfLifeAt", true),
            message,
            next,
        );
    }

    fn tools(&mut self) {
        for tool in &self.resolved.snapshot.package.manifest.tools {
            if self.environment.tools.contains(&tool.key) {
                continue;
            }
            let key = &tool.key;
            if tool.required {
                let message = format!("required tool {key} is not available on this host");
                let remedy = format!("a host admin can make the tool {key} available");
                self.add(Status::Blocked, "tool", (key, true), message, remedy);
            } else if self.value(&format!("tools.{key}.enabled")) == Some(Value::Bool(true)) {
                let message = format!("tool {key} is enabled but not available on this host");
                let remedy =
                    format!("make the tool available, or set tools.{key}.enabled to false");
                self.add(Status::NeedsSetup, "tool", (key, false), message, remedy);
            }
        }
    }

    fn knowledge(&mut self) {
        for slot in &self.resolved.snapshot.package.manifest.knowledge {
            let key = &slot.key;
            let bound = self.value(&format!("knowledge.{key}"));
            let (message, remedy) = match bound.as_ref().and_then(Value::as_str) {
                Some(pack) if self.environment.knowledge.iter().any(|k| k == pack) => continue,
                Some(_) => (
                    format!("knowledge {key} is bound to a pack that this host does not have"),
                    format!("install the pack, or bind knowledge.{key} to another"),
                ),
                None => (
                    format!("knowledge {key} is not bound"),
                    format!("bind a knowledge pack: set knowledge.{key} in an overlay"),
                ),
            };
            let severity = setup(slot.required);
            self.add(severity, "knowledge", (key, slot.required), message, remedy);
        }
    }

    fn secrets(&mut self) {
        for slot in &self.resolved.snapshot.package.manifest.secrets {
            let key = &slot.key;
            if self.environment.secrets.contains(key) {
                continue;
            }
            let keeper = match slot.scope.as_deref() {
                Some("tenant") => "tenant admin",
                Some("user") => "user",
                Some("app") => "host admin",
                _ => "workspace admin",
            };
            let message = format!("secret {key} is missing");
            let remedy = format!("a {keeper} can add the handle");
            self.add(
                setup(slot.required),
                "secret",
                (key, slot.required),
                message,
                remedy,
            );
        }
        for answer in self.resolved.all() {
            let handle = answer
                .value
                .as_ref()
                .and_then(|held| secrets::handle(held.value()));
            if handle.is_some_and(|handle| !self.environment.secrets.iter().any(|s| s == handle)) {
                let name = &answer.key.name;
                let message = format!("the secret that {name} names is not in this host's store");
                let remedy = "add the secret to the store, or correct the handle".to_owned();
                self.add(Status::Degraded, "secret", (name, false), message, remedy);
            }
        }
    }

    fn evals(&mut self) {
        for eval in &self.resolved.snapshot.package.manifest.evals {
            let key = &eval.key;
            let threshold = self.value(&format!("evals.{key}.threshold"));
            match (self.environment.evals.get(key), threshold) {
                (Some(score), Some(threshold))
                    if score.compare(&threshold) == Some(Ordering::Less) =>
                {
                    let (score, wanted) = (score.json(), threshold.json());
                    let message =
                        format!("eval {key} scored {score}, below its threshold {wanted}");
                    let remedy = "improve the app's results and run the eval again".to_owned();
                    self.add(
                        Status::Blocked,
                        "eval",
                        (key, eval.required),
                        message,
                        remedy,
                    );
                }
                (None, _) if eval.required => {
                    let message = format!("eval {key} has no score yet");
                    let remedy = "run the eval".to_owned();
                    self.add(Status::Degraded, "eval", (key, true), message, remedy);
                }
                _ => {}
            }
        }
    }

    /// A required template needs an overlay of its scope, or of a more specific one.
    fn templates(&mut self) {
        let package = &self.resolved.snapshot.package;
        for template in package.manifest.templates.iter().filter(|t| t.required) {
            let floor = manifest::floor(template.scope.as_deref());
            let mut layers = Layer::SET.into_iter().filter(|&layer| layer >= floor);
            let owns = |name: Option<&str>| name == Some(template.key.as_str());
            let has_keys = package
                .keys
                .iter()
                .any(|(_, key)| owns(key.template.as_deref()));
            let filled = layers.any(|layer| {
                let overlay = self
                    .resolved
                    .overlays
                    .get(layer as usize)
                    .copied()
                    .flatten();
                overlay.is_some_and(|overlay| match has_keys {
                    true => overlay
                        .entries()
                        .iter()
                        .any(|entry| owns(package.keys.get(entry.key).template.as_deref())),
                    false => layer != Layer::Runtime && !overlay.is_empty(),
                })
            });
            if !filled {
                let key = &template.key;
                let message = format!("template {key} is required and nothing of it is set");
                let remedy = format!("a {} can set its keys", floor.keeper());
                self.add(Status::NeedsSetup, "template", (key, true), message, remedy);
            }
        }
    }

    /// Keys that rules leave no value, and values that wait for a review.
    fn keys(&mut self) {
        for answer in self.resolved.all() {
            if answer.blocked {
                let told = conflicts::of(self.resolved, &answer);
                let blocked = told
                    .into_iter()
                    .find(|conflict| conflict.outcome == "blocked");
                if let Some(conflict) = blocked {
                    let item = (conflict.key.as_str(), true);
                    self.add(
                        Status::Blocked,
                        "policy",
                        item,
                        conflict.message.clone(),
                        conflict.remedy.clone(),
                    );
                }
            }
            for link in answer.chain.iter().filter(|link| link.why == Why::Review) {
                let name = &answer.key.name;
                let message = format!("{name} set by {} waits for a review", link.layer.word());
                let remedy = "another person can approve it".to_owned();
                self.add(Status::NeedsSetup, "review", (name, true), message, remedy);
            }
        }
        for review in &self.resolved.snapshot.reviews {
            let scope = &review.write.scope;
            if self.resolved.scope_of(scope.layer()).as_ref() == Some(scope) {
                for (name, _) in &review.write.changes {
                    let message = format!("a change of {name} by {scope} waits for a review");
                    let remedy = "another person can approve it".to_owned();
                    self.add(Status::NeedsSetup, "review", (name, true), message, remedy);
                }
            }
        }
    }

    fn orphans(&mut self) {
        for conflict in stray_conflicts(self.resolved) {
            if conflict.code == codes::ORPHANED {
                let item = (conflict.key.as_str(), false);
                self.add(
                    Status::Degraded,
                    "orphan",
                    item,
                    conflict.message.clone(),
                    conflict.remedy.clone(),
                );
            }
        }
    }
}

fn setup(required: bool) -> Status {
    match required {
        true => Status::NeedsSetup,
        false => Status::Degraded,
    }
}

impl Readiness {
    pub fn write_json(&self, out: &mut String) {
        out.push_str("{\"status\":\"");
        out.push_str(self.status.word());
        out.push_str("\",\"checks\":");
        write_checks(out, &self.checks);
        out.push_str(",\"entries\":[");
        for (at, entry) in self.entries.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str("{\"key\":");
            write_string(out, &entry.key);
            out.push_str(",\"status\":\"");
            out.push_str(entry.status.word());
            out.push_str("\",\"checks\":");
            write_checks(out, &entry.checks);
            out.push('}');
        }
        out.push_str("]}");
    }
}

fn write_checks(out: &mut String, checks: &[Check]) {
    out.push('[');
    for (at, check) in checks.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str("{\"severity\":\"");
        out.push_str(check.severity.word());
        out.push_str("\",\"kind\":\"");
        out.push_str(check.kind);
        out.push_str("\",\"key\":");
        write_string(out, &check.key);
        out.push_str(if check.required {
            ",\"required\":true"
        } else {
            ",\"required\":false"
        });
        out.push_str(",\"message\":");
        write_string(out, &check.message);
        out.push_str(",\"remediation\":");
        write_string(out, &check.remediation);
        out.push('}');
    }
    out.push(']');
}
