//! The conflicts of one resolved key, and of values whose keys are not declared.
//!
//! A conflict is an error when a value that somebody set does not take effect or when the key is
//! blocked; a warning when something must be looked after; a note when precedence settled it and
//! people should know. Defaults that rules rule out are notes: nobody wrote them here.

use base::Severity;

use crate::codes;
use crate::conflict::Conflict;
use crate::layer::{Layer, Scope};
use crate::overlay::{Fault, Stray, other_version};
use crate::policy::{self, Effect, Mode, Rule};
use crate::resolve::{Link, Outcome, Resolved, ResolvedValue, Why};
use crate::secrets;
use crate::value::Value;

/// All conflicts of a key: its layers low to high, then rules that only watch, then the value itself.
pub fn of(resolved: &Resolved<'_>, answer: &ResolvedValue<'_>) -> Vec<Conflict> {
    let mut out = Vec::new();
    for link in &answer.chain {
        out.extend(of_link(answer, link));
    }
    blocked(resolved, answer, &mut out);
    watching(resolved, answer, &mut out);
    duplicate_binding(resolved, answer, &mut out);
    unavailable(resolved, answer, &mut out);
    out
}

fn conflict(answer: &ResolvedValue<'_>, link: Option<&Link<'_>>) -> Conflict {
    Conflict {
        code: codes::SCHEMA_INVALID,
        severity: Severity::Error,
        key: answer.key.name.to_string(),
        layer: link.map(|link| link.layer),
        outcome: link.map_or("unset", |link| link.outcome.word()),
        policy: link.and_then(|link| link.judge).map(|rule| rule.id.clone()),
        message: String::new(),
        remedy: String::new(),
        fixer: link
            .map_or("host admin", |link| link.layer.keeper())
            .to_owned(),
        span: link
            .and_then(|link| link.entry)
            .and_then(|entry| entry.span),
    }
}

fn of_link(answer: &ResolvedValue<'_>, link: &Link<'_>) -> Option<Conflict> {
    let (name, layer) = (&answer.key.name, link.layer.word());
    let base = conflict(answer, Some(link));
    let said = |rule: &Rule| rule.said();
    let severity = match link.layer.is_set() || link.supplier.is_some() {
        true => Severity::Error,
        false => Severity::Note,
    };
    Some(match (link.outcome, link.why) {
        (_, Why::Fault(fault)) => of_fault(answer, link, fault, base),
        (Outcome::Suppressed, Why::Locked) => {
            let rule = link.judge?;
            let locked = match &rule.effect {
                Effect::Mandatory(value) => Some(&value.value),
                _ => None,
            };
            let agrees = locked == link.value.map(|stored| &stored.value);
            if link.supplier.is_some() || (agrees && !answer.blocked) {
                return None;
            }
            Conflict {
                code: codes::POLICY_LOCKED,
                severity,
                message: format!(
                    "`{name}` set by {layer} has no effect: locked by {}",
                    said(rule)
                ),
                remedy: remedy(rule, "remove the value"),
                ..base
            }
        }
        (Outcome::Suppressed, Why::Review) => Conflict {
            code: codes::REVIEW_PENDING,
            message: match link.judge {
                Some(rule) => format!("`{name}` set by {layer} waits for a review: {}", said(rule)),
                None => format!("`{name}` set by {layer} waits for a review: the app requires one"),
            },
            remedy: "have another person approve it".to_owned(),
            fixer: "reviewer".to_owned(),
            ..base
        },
        (Outcome::Suppressed, Why::Denied) => {
            let rule = link.judge?;
            Conflict {
                code: codes::POLICY_DENIED,
                severity,
                message: format!("`{name}` may not be set so by {layer}: {}", said(rule)),
                remedy: remedy(rule, "remove the value"),
                ..base
            }
        }
        (Outcome::Skipped, Why::OutOfRange) => {
            let rule = link.judge?;
            Conflict {
                code: codes::POLICY_OUT_OF_RANGE,
                severity,
                message: format!("`{name}` set by {layer} is out of range: {}", said(rule)),
                remedy: remedy(rule, "choose a value within the range"),
                ..base
            }
        }
        _ => return None,
    })
}

fn remedy(rule: &Rule, first: &str) -> String {
    match &rule.contact {
        Some(contact) => format!("{first}, or ask {contact}"),
        None => format!("{first}, or ask the {}", rule.authority.layer().keeper()),
    }
}

fn of_fault(answer: &ResolvedValue<'_>, link: &Link<'_>, fault: Fault, base: Conflict) -> Conflict {
    let (key, name, layer) = (answer.key, &answer.key.name, link.layer.word());
    match fault {
        Fault::SchemaInvalid => Conflict {
            message: match link
                .value
                .and_then(|stored| key.check.complaint(&stored.value))
            {
                Some(complaint) => format!("`{name}` set by {layer} is invalid: {complaint}"),
                None => format!("`{name}` set by {layer} is invalid: it takes no secret handle"),
            },
            remedy: format!("set a value of type {}", key.check.type_text()),
            ..base
        },
        Fault::TypeChanged => Conflict {
            code: codes::TYPE_CHANGED,
            message: format!(
                "`{name}` set by {layer} fits an older version: it is now of type {}",
                key.check.type_text()
            ),
            remedy: "set it anew for this version".to_owned(),
            ..base
        },
        Fault::ScopeNotAllowed => Conflict {
            code: codes::SCOPE_NOT_ALLOWED,
            message: format!(
                "`{name}` may be set from {} on, not by {layer}",
                key.floor.word()
            ),
            remedy: format!("move it to a {} overlay", key.floor.word()),
            ..base
        },
        Fault::Plaintext => Conflict {
            code: codes::PLAINTEXT_SECRET,
            message: match key.secret {
                true => format!("`{name}` set by {layer} is no secret handle; it is not shown"),
                false => format!("`{name}` set by {layer} holds a credential; it is not shown"),
            },
            remedy: "revoke it and write a handle: {\"$secret\": \"provider/path#field\"}"
                .to_owned(),
            ..base
        },
    }
}

/// A key that rules leave no value.
fn blocked(resolved: &Resolved<'_>, answer: &ResolvedValue<'_>, out: &mut Vec<Conflict>) {
    if !answer.blocked {
        return;
    }
    let binding: Vec<&Rule> = answer
        .rules
        .iter()
        .copied()
        .filter(|rule| rule.binds(resolved.context.now))
        .collect();
    let name = &answer.key.name;
    let check = |value: &Value| answer.key.secret || answer.key.check.admits(value);
    let base = Conflict {
        outcome: "blocked",
        ..conflict(answer, None)
    };
    out.push(match policy::contradiction(&binding, check) {
        Some((rules, why)) => {
            let said: Vec<String> = rules.iter().map(|rule| rule.said()).collect();
            let first = rules.first();
            Conflict {
                code: codes::POLICY_CONTRADICTION,
                policy: first.map(|rule| rule.id.clone()),
                message: format!(
                    "no value of `{name}` is permitted: {why}: {}",
                    said.join("; ")
                ),
                remedy: "change or withdraw one of the rules".to_owned(),
                fixer: rules
                    .last()
                    .map_or("host admin", |rule| rule.authority.layer().keeper())
                    .to_owned(),
                ..base
            }
        }
        None => {
            let judge = answer.chain.iter().rev().find_map(|link| link.judge);
            Conflict {
                code: codes::POLICY_OUT_OF_RANGE,
                policy: judge.map(|rule| rule.id.clone()),
                message: match judge {
                    Some(rule) => format!("`{name}` has no permitted value: {}", rule.said()),
                    None => format!("`{name}` has no permitted value"),
                },
                remedy: "set a value within the range".to_owned(),
                fixer: answer.key.floor.keeper().to_owned(),
                ..base
            }
        }
    });
}

/// Rules in the modes `warn` and `dry-run`: what they would have done.
fn watching(resolved: &Resolved<'_>, answer: &ResolvedValue<'_>, out: &mut Vec<Conflict>) {
    for rule in answer
        .rules
        .iter()
        .filter(|rule| rule.mode != Mode::Enforce)
    {
        debug_assert!(rule.is_active(resolved.context.now));
        for link in &answer.chain {
            let Some(stored) = link
                .value
                .filter(|_| link.entry.is_none_or(|e| e.fault.is_none()))
            else {
                continue;
            };
            let below = rule.authority.layer() < link.layer;
            let (code, outcome) = match &rule.effect {
                Effect::Mandatory(value)
                    if rule.authority.layer() <= link.layer && value.value != stored.value =>
                {
                    (codes::POLICY_LOCKED, "would be suppressed")
                }
                Effect::Range(range) if !range.admits(&stored.value) => {
                    (codes::POLICY_OUT_OF_RANGE, "would be skipped")
                }
                Effect::Deny(values)
                    if below
                        && rule.denies(&stored.value)
                        && (link.layer.is_set() || !values.is_empty()) =>
                {
                    (codes::POLICY_DENIED, "would be suppressed")
                }
                Effect::RequireReview if below && link.layer.is_set() => {
                    (codes::REVIEW_PENDING, "would wait for a review")
                }
                _ => continue,
            };
            out.push(Conflict {
                code,
                severity: match rule.mode {
                    Mode::Warn => Severity::Warning,
                    _ => Severity::Note,
                },
                outcome,
                policy: Some(rule.id.clone()),
                message: format!(
                    "`{}` set by {} {outcome} ({}): {}",
                    answer.key.name,
                    link.layer.word(),
                    rule.mode.word(),
                    rule.said()
                ),
                remedy: remedy(rule, "choose a value that the rule allows"),
                ..conflict(answer, Some(link))
            });
        }
    }
}

/// Two overlays that bind one required knowledge slot: precedence stands, and it is told.
fn duplicate_binding(resolved: &Resolved<'_>, answer: &ResolvedValue<'_>, out: &mut Vec<Conflict>) {
    let Some(slot) = answer.key.name.strip_prefix("knowledge.") else {
        return;
    };
    let manifest = &resolved.snapshot.package.manifest;
    let required = manifest
        .knowledge
        .iter()
        .any(|k| k.key == slot && k.required);
    let set: Vec<&Link<'_>> = answer
        .chain
        .iter()
        .filter(|link| link.layer.is_set() && link.value.is_some() && link.supplier.is_none())
        .collect();
    let winner = set.iter().find(|link| link.outcome == Outcome::Won);
    let (true, true, Some(winner)) = (required, set.len() > 1, winner) else {
        return;
    };
    let layers: Vec<&str> = set.iter().map(|link| link.layer.word()).collect();
    out.push(Conflict {
        code: codes::DUPLICATE_BINDING,
        severity: Severity::Note,
        message: format!(
            "`{}` is bound by {}; {} stands",
            answer.key.name,
            layers.join(" and "),
            winner.layer.word()
        ),
        remedy: "withdraw the binding that is not meant".to_owned(),
        ..conflict(answer, Some(winner))
    });
}

/// An effective value that names what the host does not have.
fn unavailable(resolved: &Resolved<'_>, answer: &ResolvedValue<'_>, out: &mut Vec<Conflict>) {
    let (Some(environment), Some(held)) = (&resolved.snapshot.environment, &answer.value) else {
        return;
    };
    let winner = answer
        .chain
        .iter()
        .rfind(|link| link.outcome == Outcome::Won);
    let base = Conflict {
        severity: Severity::Warning,
        ..conflict(answer, winner)
    };
    let name = &answer.key.name;
    let tool = name
        .strip_prefix("tools.")
        .and_then(|rest| rest.strip_suffix(".enabled"));
    if let Some(tool) = tool
        && held.value().as_bool() == Some(true)
        && !environment.tools.iter().any(|t| t == tool)
    {
        out.push(Conflict {
            code: codes::TOOL_UNAVAILABLE,
            message: format!("`{tool}` is enabled, but this host does not offer it"),
            remedy: format!("make the tool available, or set `{name}` to false"),
            ..base
        });
    } else if let Some(handle) = secrets::handle(held.value())
        && !environment.secrets.iter().any(|known| known == handle)
    {
        out.push(Conflict {
            code: codes::SECRET_UNRESOLVED,
            message: format!("the handle of `{name}` names a secret that this host does not have"),
            remedy: "add the secret to the host's store, or correct the handle".to_owned(),
            ..base
        });
    }
}

/// A stored value whose key is not declared: an orphan if it was written against another version,
/// else a key that nobody knows.
pub fn of_stray(
    stray: &Stray,
    layer: Layer,
    scope: Option<&Scope>,
    version: &str,
    nearest: Option<&str>,
) -> Conflict {
    let name = &stray.name;
    let whose = scope.map_or_else(
        || layer.word().to_owned(),
        |scope| format!("{} {scope}", layer.word()),
    );
    let base = Conflict {
        code: codes::UNKNOWN_KEY,
        severity: Severity::Error,
        key: name.to_string(),
        layer: Some(layer),
        outcome: "skipped",
        policy: None,
        message: format!("`{name}` set by {whose} is no key of this app"),
        remedy: match nearest {
            Some(near) => format!("did you mean `{near}`?"),
            None => "remove it".to_owned(),
        },
        fixer: layer.keeper().to_owned(),
        span: stray.span,
    };
    match other_version(&stray.meta, version) {
        false => base,
        true => Conflict {
            code: codes::ORPHANED,
            severity: Severity::Warning,
            outcome: "kept",
            message: format!(
                "`{name}` set by {whose} for version {} is no key of version {version}; it is kept, not used",
                stray.meta.version.as_deref().unwrap_or("?")
            ),
            remedy: "review it: remove it, or keep it for a version that has the key".to_owned(),
            fixer: format!(
                "{} admin",
                if layer == Layer::User {
                    "workspace"
                } else {
                    layer.word()
                }
            ),
            ..base
        },
    }
}
