//! The diagnostics bundle for support: everything that explains a state, nothing that is private.
//!
//! Every value is masked to its type and a keyed fingerprint, unless its key is declared public: support can
//! see *that* two layers say the same without seeing what. People are fingerprinted too. Constraints, values
//! and reasons of rules stay out; their ids and effects are in.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::assemble::stray_conflicts;
use crate::conflict::Conflict;
use crate::conflicts;
use crate::package::hex;
use crate::policy::Rule;
use crate::readiness::readiness;
use crate::resolve::{Resolved, ResolvedValue};
use crate::value::{Value, write_string};

/// How many hex digits of a fingerprint are shown: enough to compare, too few to search for.
const DIGITS: usize = 12;

/// A secret of whoever makes bundles; the same key makes fingerprints of two bundles comparable.
pub struct FingerprintKey(Vec<u8>);

impl FingerprintKey {
    pub fn new(bytes: impl Into<Vec<u8>>) -> FingerprintKey {
        FingerprintKey(bytes.into())
    }

    fn of(&self, text: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length will do");
        mac.update(text.as_bytes());
        let mut digits = hex(&mac.finalize().into_bytes());
        digits.truncate(DIGITS);
        digits
    }
}

/// The bundle of one context as JSON.
pub fn bundle(resolved: &Resolved<'_>, key: &FingerprintKey, tool_version: &str) -> String {
    let mut out = String::new();
    let package = &resolved.snapshot.package;
    out.push_str("{\"lath\":");
    write_string(&mut out, tool_version);
    out.push_str(",\"app\":");
    write_string(&mut out, &package.manifest.name);
    out.push_str(",\"version\":");
    write_string(&mut out, &package.manifest.version);
    out.push_str(",\"packageHash\":");
    write_string(&mut out, &package.hash);
    let context = resolved.context;
    out.push_str(&format!(",\"time\":\"{}\",\"context\":{{", context.now));
    out.push_str("\"tenant\":");
    optional(&mut out, context.tenant.as_deref());
    out.push_str(",\"workspace\":");
    optional(&mut out, context.workspace.as_deref());
    out.push_str(",\"user\":");
    let user = context.user.as_deref().map(|user| key.of(user));
    optional(&mut out, user.as_deref());
    out.push_str("},\"keys\":");
    list(&mut out, resolved.all(), |out, answer| {
        answer_json(out, &answer, key)
    });
    out.push_str(",\"policies\":");
    let snapshot = resolved.snapshot;
    let authorities = snapshot.authorities().into_iter().filter(|authority| {
        let layer = authority.layer();
        layer == crate::layer::Layer::Host || concerns(resolved, authority)
    });
    let rules: Vec<&Rule> = authorities
        .filter_map(|authority| snapshot.rules(&authority))
        .flat_map(|set| set.rules())
        .collect();
    list(&mut out, rules.into_iter(), |out, rule| {
        rule_json(out, rule, resolved)
    });
    out.push_str(",\"readiness\":");
    let mut readiness = readiness(resolved);
    let entries = readiness
        .entries
        .iter_mut()
        .flat_map(|entry| &mut entry.checks);
    for check in readiness.checks.iter_mut().chain(entries) {
        if check.kind == "policy" {
            "no permitted value".clone_into(&mut check.message);
        }
    }
    readiness.write_json(&mut out);
    let strays = stray_conflicts(resolved);
    out.push_str(",\"orphans\":");
    list(&mut out, strays.iter(), conflict_json);
    out.push_str(",\"conflicts\":");
    let told: Vec<Conflict> = resolved
        .all()
        .flat_map(|a| conflicts::of(resolved, &a))
        .collect();
    list(&mut out, told.iter(), conflict_json);
    out.push('}');
    out
}

fn concerns(resolved: &Resolved<'_>, authority: &crate::layer::Authority) -> bool {
    use crate::layer::Authority;
    let context = resolved.context;
    match authority {
        Authority::Host => true,
        Authority::Tenant { tenant } => context.tenant.as_ref() == Some(tenant),
        Authority::Workspace { tenant, workspace } => {
            context.tenant.as_ref() == Some(tenant) && context.workspace.as_ref() == Some(workspace)
        }
    }
}

fn list<T>(out: &mut String, items: impl Iterator<Item = T>, mut one: impl FnMut(&mut String, T)) {
    out.push('[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        one(out, item);
    }
    out.push(']');
}

fn optional(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => write_string(out, text),
        None => out.push_str("null"),
    }
}

fn answer_json(out: &mut String, answer: &ResolvedValue<'_>, key: &FingerprintKey) {
    let public = answer.key.public && !answer.key.secret;
    out.push_str("{\"key\":");
    write_string(out, &answer.key.name);
    out.push_str(",\"value\":");
    match &answer.value {
        Some(held) => masked(out, held.value(), public, key),
        None => out.push_str("null"),
    }
    out.push_str(",\"source\":");
    optional(out, answer.source.map(|layer| layer.word()));
    out.push_str(&format!(
        ",\"lockedByPolicy\":{},\"blocked\":{},\"merge\":",
        answer.locked, answer.blocked
    ));
    write_string(out, &answer.key.merge.text());
    out.push_str(",\"chain\":");
    let set = answer.chain.iter().filter(|link| link.value.is_some());
    list(out, set, |out, link| {
        out.push_str(&format!(
            "{{\"layer\":\"{}\",\"outcome\":\"{}\"",
            link.layer.word(),
            link.outcome.word()
        ));
        if let Some(stored) = link.value {
            out.push_str(",\"value\":");
            masked(out, &stored.value, public, key);
        }
        if let Some(rule) = link.supplier.or(link.judge) {
            out.push_str(",\"policy\":");
            write_string(out, &rule.id);
        }
        if let Some(meta) = link.entry.map(|entry| &entry.meta) {
            if let Some(revision) = meta.revision {
                out.push_str(&format!(",\"revision\":{revision}"));
            }
            if let Some(actor) = &meta.actor {
                out.push_str(&format!(",\"actor\":\"{}\"", key.of(actor)));
            }
            if let Some(time) = meta.time {
                out.push_str(&format!(",\"time\":\"{time}\""));
            }
        }
        out.push('}');
    });
    out.push('}');
}

/// A value, or its type and fingerprint.
fn masked(out: &mut String, value: &Value, public: bool, key: &FingerprintKey) {
    match public {
        true => value.write_json(out),
        false => out.push_str(&format!(
            "{{\"type\":\"{}\",\"fingerprint\":\"{}\"}}",
            value.type_word(),
            key.of(&value.json())
        )),
    }
}

fn rule_json(out: &mut String, rule: &Rule, resolved: &Resolved<'_>) {
    out.push_str("{\"id\":");
    write_string(out, &rule.id);
    let keys: Vec<&str> = rule.keys.iter().map(|glob| glob.text()).collect();
    out.push_str(",\"keys\":");
    list(out, keys.into_iter(), write_string);
    out.push_str(&format!(
        ",\"authority\":\"{}\",\"effect\":\"{}\",\"mode\":\"{}\",\"active\":{}}}",
        rule.authority.layer().word(),
        rule.effect.word(),
        rule.mode.word(),
        rule.is_active(resolved.context.now)
    ));
}

/// A conflict without its message: messages quote reasons.
fn conflict_json(out: &mut String, conflict: &Conflict) {
    out.push_str(&format!(
        "{{\"code\":\"{}\",\"severity\":\"{}\",\"key\":",
        conflict.code,
        conflict.severity.word()
    ));
    write_string(out, &conflict.key);
    out.push_str(",\"layer\":");
    optional(out, conflict.layer.map(|layer| layer.word()));
    out.push_str(&format!(
        ",\"outcome\":\"{}\",\"policy\":",
        conflict.outcome
    ));
    optional(out, conflict.policy.as_deref());
    out.push('}');
}
