//! Answers as JSON, written straight into a buffer: `key, value, source, overrides, lockedByPolicy`, then
//! the chain, the rules that spoke, who may edit, the merge strategy, leaves and conflicts.
//!
//! The same input gives the same bytes. Values are copied from their stored JSON.

use std::fmt::Write;

use base::Sources;

use crate::conflict::Conflict;
use crate::conflicts;
use crate::layer::Layer;
use crate::overlay::Meta;
use crate::policy::{Effect, Rule};
use crate::resolve::{Link, Resolved, ResolvedValue};
use crate::value::write_string;

/// One resolved value. With sources, values that come from files say where.
pub fn resolved_value(
    out: &mut String,
    resolved: &Resolved<'_>,
    answer: &ResolvedValue<'_>,
    sources: Option<&Sources>,
) {
    out.push_str("{\"key\":");
    write_string(out, &answer.key.name);
    out.push_str(",\"value\":");
    out.push_str(answer.value.as_ref().map_or("null", |held| held.json()));
    out.push_str(",\"source\":");
    match answer.source {
        Some(layer) => word(out, layer.word()),
        None => out.push_str("null"),
    }
    out.push_str(",\"overrides\":[");
    for (at, layer) in answer.overrides().enumerate() {
        comma(out, at);
        word(out, layer.word());
    }
    out.push_str("],\"lockedByPolicy\":");
    flag(out, answer.locked);
    out.push_str(",\"chain\":[");
    for (at, item) in answer.chain.iter().enumerate() {
        comma(out, at);
        link(out, item, sources);
    }
    out.push_str("],\"policies\":[");
    for (at, item) in answer.rules.iter().enumerate() {
        comma(out, at);
        rule(out, item);
    }
    out.push_str("],\"editable\":{");
    for (at, layer) in Layer::SET.into_iter().enumerate() {
        comma(out, at);
        word(out, layer.word());
        out.push(':');
        flag(out, answer.editable(layer, resolved.context.now));
    }
    out.push_str("},\"merge\":");
    match &answer.key.merge {
        crate::key::Merge::Keyed(_) => write_string(out, &answer.key.merge.text()),
        merge => word(out, merge.word()),
    }
    if !answer.leaves.is_empty() {
        out.push_str(",\"leaves\":{");
        for (at, (path, layer)) in answer.leaves.iter().enumerate() {
            comma(out, at);
            write_string(out, path);
            out.push(':');
            word(out, layer.word());
        }
        out.push('}');
    }
    out.push_str(",\"conflicts\":");
    all_conflicts(out, &conflicts::of(resolved, answer), sources);
    out.push('}');
}

fn link(out: &mut String, link: &Link<'_>, sources: Option<&Sources>) {
    out.push_str("{\"layer\":");
    word(out, link.layer.word());
    out.push_str(",\"outcome\":");
    word(out, link.outcome.word());
    if let Some(stored) = link.value {
        out.push_str(",\"value\":");
        out.push_str(&stored.json);
    }
    if let Some(rule) = link.supplier {
        out.push_str(",\"policy\":");
        write_string(out, &rule.id);
    }
    if let Some(rule) = link.judge {
        out.push_str(",\"refusedBy\":");
        write_string(out, &rule.id);
    }
    if let Some(entry) = link.entry {
        meta(out, &entry.meta);
        if let (Some(sources), Some(span)) = (sources, entry.span) {
            at(out, sources, span);
        }
    }
    out.push('}');
}

fn meta(out: &mut String, meta: &Meta) {
    if let Some(revision) = meta.revision {
        let _ = write!(out, ",\"revision\":{revision}");
    }
    if let Some(actor) = &meta.actor {
        out.push_str(",\"actor\":");
        write_string(out, actor);
    }
    if let Some(time) = meta.time {
        let _ = write!(out, ",\"time\":\"{time}\"");
    }
}

fn at(out: &mut String, sources: &Sources, span: base::Span) {
    let place = sources.place(span);
    out.push_str(",\"at\":");
    write_string(
        out,
        &format!("{}:{}", sources.get(span.source).name(), place.line),
    );
}

fn rule(out: &mut String, rule: &Rule) {
    out.push_str("{\"id\":");
    write_string(out, &rule.id);
    out.push_str(",\"authority\":");
    word(out, rule.authority.layer().word());
    out.push_str(",\"effect\":");
    word(out, rule.effect.word());
    out.push_str(",\"mode\":");
    word(out, rule.mode.word());
    if let Effect::Range(constraint) = &rule.effect {
        out.push_str(",\"constraint\":");
        write_string(out, &constraint.text);
    }
    out.push_str(",\"reason\":");
    write_string(out, &rule.reason);
    out.push_str(",\"contact\":");
    match &rule.contact {
        Some(contact) => write_string(out, contact),
        None => out.push_str("null"),
    }
    for (name, time) in [("notBefore", rule.not_before), ("expires", rule.expires)] {
        if let Some(time) = time {
            let _ = write!(out, ",\"{name}\":\"{time}\"");
        }
    }
    out.push('}');
}

/// A list of conflicts.
pub fn all_conflicts(out: &mut String, conflicts: &[Conflict], sources: Option<&Sources>) {
    out.push('[');
    for (number, conflict) in conflicts.iter().enumerate() {
        comma(out, number);
        out.push_str("{\"code\":");
        word(out, conflict.code.0);
        out.push_str(",\"severity\":");
        word(out, conflict.severity.word());
        out.push_str(",\"key\":");
        write_string(out, &conflict.key);
        out.push_str(",\"layer\":");
        match conflict.layer {
            Some(layer) => word(out, layer.word()),
            None => out.push_str("null"),
        }
        out.push_str(",\"outcome\":");
        word(out, conflict.outcome);
        out.push_str(",\"policy\":");
        match &conflict.policy {
            Some(policy) => write_string(out, policy),
            None => out.push_str("null"),
        }
        out.push_str(",\"message\":");
        write_string(out, &conflict.message);
        out.push_str(",\"remedy\":");
        write_string(out, &conflict.remedy);
        out.push_str(",\"fixer\":");
        write_string(out, &conflict.fixer);
        if let (Some(sources), Some(span)) = (sources, conflict.span) {
            at(out, sources, span);
        }
        out.push('}');
    }
    out.push(']');
}

fn comma(out: &mut String, position: usize) {
    if position > 0 {
        out.push(',');
    }
}

/// A word of ours: nothing in it needs escaping.
fn word(out: &mut String, word: &str) {
    out.push('"');
    out.push_str(word);
    out.push('"');
}

fn flag(out: &mut String, value: bool) {
    out.push_str(if value { "true" } else { "false" });
}
