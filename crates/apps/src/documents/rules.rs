//! Policy documents: the authority and its rules. A rule that cannot be used is an error, never ignored:
//! a lock that silently does nothing is worse than none.

use base::Diagnostic;

use super::{PolicyDocument, Reader};
use crate::codes;
use crate::constraint::Constraint;
use crate::cursor::Cursor;
use crate::glob::Glob;
use crate::instant::Instant;
use crate::layer::Authority;
use crate::policy::{Effect, Mode, Rule};
use crate::value::Stored;

const EFFECTS: [&str; 5] = [
    "mandatory",
    "recommended",
    "range",
    "deny",
    "require-review",
];
const FIELDS: [&str; 11] = [
    "id",
    "keys",
    "effect",
    "value",
    "constraint",
    "values",
    "reason",
    "contact",
    "mode",
    "notBefore",
    "expires",
];

impl<'a> Reader<'a, '_> {
    pub(super) fn policy(&mut self) -> Option<PolicyDocument> {
        let authority = self.authority()?;
        let mut rules: Vec<Rule> = Vec::new();
        if let Some(list) = self.root.get("rules").filter(|list| !list.is_null()) {
            match list.items() {
                Some(items) => {
                    for item in items {
                        rules.extend(self.rule(item, &authority));
                    }
                }
                None => self.error(
                    codes::DOCUMENT_INVALID,
                    list.span(),
                    "`rules` must be a list",
                ),
            }
        }
        Some(PolicyDocument {
            app: self.text("app"),
            authority,
            rules,
            span: self.root.span(),
        })
    }

    fn authority(&mut self) -> Option<Authority> {
        let place = self.root.get("authority");
        let read = place.and_then(|authority| {
            let part = |name: &str| authority.get(name).and_then(Cursor::text);
            let host = authority.get("host").and_then(Cursor::bool) == Some(true);
            let user = authority.get("user").is_some();
            match (host, part("tenant"), part("workspace")) {
                (true, None, None) if !user => Some(Authority::Host),
                (false, Some(tenant), None) if !user => Some(Authority::Tenant { tenant }),
                (false, Some(tenant), Some(workspace)) if !user => {
                    Some(Authority::Workspace { tenant, workspace })
                }
                _ => None,
            }
        });
        if read.is_none() {
            let span = place.map_or(self.root.span().at_start(), Cursor::span);
            let message = "the policy has no usable `authority`";
            self.findings.push(
                Diagnostic::error(codes::DOCUMENT_INVALID, message)
                    .primary(span, "")
                    .help("write {host: true}, {tenant: T} or {tenant: T, workspace: W}; users write no policy"),
            );
        }
        read
    }

    fn rule(&mut self, item: Cursor<'a>, authority: &Authority) -> Option<Rule> {
        let text = |name: &str| {
            item.get(name)
                .and_then(Cursor::text)
                .filter(|t| !t.is_empty())
        };
        let Some(id) = text("id") else {
            self.error(codes::RULE_INVALID, item.span(), "a rule has no `id`");
            return None;
        };
        let before = self.findings.len();
        for (name, span, _) in item.fields() {
            if !FIELDS.contains(&name) {
                self.error(
                    codes::RULE_INVALID,
                    span,
                    format!("rule `{id}`: no such field `{name}`"),
                );
            }
        }
        let keys = self.globs(item, &id);
        let effect = self.effect(item, &id);
        let reason = text("reason").unwrap_or_default();
        if reason.is_empty() {
            let message = format!("rule `{id}` gives no `reason`");
            self.findings.push(
                Diagnostic::error(codes::RULE_INVALID, message)
                    .primary(item.span(), "")
                    .help("whoever is refused is told the reason"),
            );
        }
        let mode = match item.get("mode") {
            None => Some(Mode::Enforce),
            Some(mode) => {
                let read = mode.str().and_then(Mode::parse);
                if read.is_none() {
                    let words = Mode::WORDS.join(", ");
                    let message = format!("rule `{id}`: the modes are {words}");
                    self.error(codes::RULE_INVALID, mode.span(), message);
                }
                read
            }
        };
        let not_before = self.instant(item, "notBefore", &id);
        let expires = self.instant(item, "expires", &id);
        if self.findings.len() > before {
            return None;
        }
        Some(Rule {
            id,
            authority: authority.clone(),
            keys,
            effect: effect?,
            reason,
            contact: text("contact"),
            mode: mode?,
            not_before,
            expires,
            span: Some(item.span()),
        })
    }

    fn globs(&mut self, item: Cursor<'a>, id: &str) -> Vec<Glob> {
        let Some(keys) = item.get("keys") else {
            self.error(
                codes::RULE_INVALID,
                item.span(),
                format!("rule `{id}` has no `keys`"),
            );
            return Vec::new();
        };
        let texts: Vec<Cursor<'_>> = match keys.items() {
            Some(items) => items.collect(),
            None => vec![keys],
        };
        let mut globs = Vec::new();
        for text in texts {
            let glob = text
                .str()
                .ok_or_else(|| "`keys` is a glob or a list of globs".to_owned());
            match glob.and_then(Glob::parse) {
                Ok(glob) => globs.push(glob),
                Err(error) => {
                    self.error(
                        codes::RULE_INVALID,
                        text.span(),
                        format!("rule `{id}`: {error}"),
                    );
                }
            }
        }
        globs
    }

    fn instant(&mut self, item: Cursor<'a>, name: &str, id: &str) -> Option<Instant> {
        let value = item.get(name)?;
        let instant = value.str().and_then(Instant::parse);
        if instant.is_none() {
            let message = format!("rule `{id}`: `{name}` is no date or time");
            self.error(codes::RULE_INVALID, value.span(), message);
        }
        instant
    }

    fn effect(&mut self, item: Cursor<'a>, id: &str) -> Option<Effect> {
        let needs = |reader: &mut Self, field: &str, word: &str| {
            let value = item.get(field);
            if value.is_none() {
                let message = format!("rule `{id}`: `{word}` needs `{field}`");
                reader.error(codes::RULE_INVALID, item.span(), message);
            }
            value
        };
        let word = item.get("effect").and_then(Cursor::str).unwrap_or_default();
        match word {
            "mandatory" => {
                let value = needs(self, "value", word)?;
                Some(Effect::Mandatory(Stored::new(value.value())))
            }
            "recommended" => {
                let value = needs(self, "value", word)?;
                Some(Effect::Recommended(Stored::new(value.value())))
            }
            "range" => {
                let value = needs(self, "constraint", word)?;
                match Constraint::read(&value.value()) {
                    Ok(constraint) if !Constraint::satisfiable(&[&constraint]) => {
                        let message = format!("rule `{id}`: no value satisfies its constraint");
                        self.error(codes::POLICY_CONTRADICTION, value.span(), message);
                        None
                    }
                    Ok(constraint) => Some(Effect::Range(constraint)),
                    Err(error) => {
                        let message = format!("rule `{id}`: {error}");
                        self.error(codes::RULE_INVALID, value.span(), message);
                        None
                    }
                }
            }
            "deny" => {
                let values = item.get("values").map(|values| match values.items() {
                    Some(items) => items.map(Cursor::value).collect(),
                    None => vec![values.value()],
                });
                Some(Effect::Deny(values.unwrap_or_default()))
            }
            "require-review" => Some(Effect::RequireReview),
            _ => {
                let span = item.get("effect").map_or(item.span(), Cursor::span);
                let finding = Diagnostic::error(
                    codes::RULE_INVALID,
                    format!("rule `{id}` has no known `effect`"),
                );
                let help = format!("the effects are {}", EFFECTS.join(", "));
                self.findings.push(finding.primary(span, "").help(help));
                None
            }
        }
    }

    /// Two rules of one authority with one id: nobody could name either.
    pub(super) fn repeated(&mut self, known: &[PolicyDocument], policy: &PolicyDocument) {
        let earlier = known
            .iter()
            .filter(|other| other.authority == policy.authority && other.app == policy.app)
            .flat_map(|other| &other.rules);
        let mut seen: Vec<&Rule> = earlier.collect();
        for rule in &policy.rules {
            if let Some(first) = seen.iter().find(|other| other.id == rule.id) {
                let message = format!("{} has two rules `{}`", policy.authority, rule.id);
                let mut finding = Diagnostic::error(codes::DUPLICATE_DOCUMENT, message);
                if let (Some(again), Some(first)) = (rule.span, first.span) {
                    finding = finding
                        .primary(again, "again here")
                        .secondary(first, "first here");
                }
                self.findings
                    .push(finding.help("give every rule of an authority its own id"));
            }
            seen.push(rule);
        }
    }
}
