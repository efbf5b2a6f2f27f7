//! What is wrong with the layers and with what they come to.

use std::collections::BTreeSet;

use base::{Diagnostic, Symbol, Symbols};

use super::{Engine, Stage};
use crate::config::Breach;
use crate::document::{self, Found, Kind};
use crate::extract::Unknown;
use crate::merge::{Context, Merged};
use crate::schema::MOST_FINDINGS;
use crate::tier::Tier;
use crate::{circles, codes, marks};

impl Engine<'_> {
    /// Says what breaks the schema, each once, of the tier that broke it.
    pub(super) fn report_breaches(&mut self, stage: &Stage, breaches: &[Breach], is_last: bool) {
        if self.options.locks_only || breaches.is_empty() {
            return;
        }
        let merged = Merged::of(stage);
        let context = Context {
            symbols: &self.runtime.ctx.symbols,
            sources: self.sources,
        };
        for breach in breaches {
            if breach.waits() && !is_last {
                continue;
            }
            let (finding, key) = breach.finding(&merged, stage.tier, context);
            if !self.breached.insert(key) {
                continue;
            }
            if self.breached.len() > MOST_FINDINGS {
                let message = format!(
                    "more than {MOST_FINDINGS} findings of the schema; the rest is not shown"
                );
                let more = Diagnostic::error(data::codes::MORE_FINDINGS, message);
                self.findings.push(more);
                return;
            }
            self.findings.push(finding);
        }
    }

    /// What is wrong with the layers of the whole stack.
    pub(super) fn report(&mut self, stage: &Stage, is_settled: bool) {
        for document in &stage.documents {
            let at = self.options.at.as_ref();
            let symbols = &*self.runtime.symbols();
            let found = document::values(document, at, symbols, &mut self.findings);
            let by_path = matches!(found, Found::Map(_, true) | Found::Nothing(true));
            self.at_was_found |= by_path && document.kind != Kind::Cue;
            if let Found::Map(root, _) = found {
                marks::check(document, root, symbols, &mut self.findings);
            }
        }
        for sheet in &mut self.sheets {
            if let Some(cue) = &mut sheet.cue {
                self.findings.append(&mut cue.findings);
            }
        }
        let merged = Merged::of(stage);
        let symbols = &*self.runtime.symbols();
        let mut steps = circles::steps(&merged);
        let counts_all = !is_settled && circles::find(&steps).is_empty();
        for sheet in &self.sheets {
            let Some(cue) = &sheet.cue else {
                continue;
            };
            // What stands changes from turn to turn, or cannot be computed: then all that layers refer to counts.
            let unknown: BTreeSet<&Vec<Symbol>> = cue.unknown.iter().map(|u| &u.path).collect();
            let references = cue.direct.iter();
            let references = references.filter(|r| counts_all || unknown.contains(&r.from));
            circles::add(&mut steps, references, &sheet.document.tier.role());
        }
        let in_circle = circles::report(&steps, symbols, &mut self.findings);
        for (number, sheet) in self.sheets.iter().enumerate() {
            let Some(cue) = &sheet.cue else {
                continue;
            };
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            for unknown in &cue.unknown {
                if !in_circle.contains(&unknown.path) && !merged.is_above(&unknown.path, number) {
                    let tier = sheet.document.tier;
                    self.findings.push(unresolved(unknown, tier, symbols));
                }
            }
        }
        if !is_settled && in_circle.is_empty() {
            let message = "the values never settle: they change each other again and again";
            let finding = Diagnostic::error(codes::VALUE_CYCLE, message);
            self.findings
                .push(finding.help("look for values that refer to each other through conditions"));
        }
    }

    pub(super) fn report_missing_path(&mut self) {
        if let (false, Some(at)) = (self.at_was_found, &self.options.at) {
            let message = format!("no file has the path `{at}` that `--at` names");
            self.findings.push(
                Diagnostic::error(codes::UNKNOWN_PATH, message).help(
                    "give the path at which a file holds its values, as in `--at spec.values`",
                ),
            );
        }
    }
}

/// A value that nothing settles.
fn unresolved(unknown: &Unknown, tier: Tier, symbols: &Symbols) -> Diagnostic {
    let path = crate::merge::dotted(&unknown.path, symbols);
    let why = unknown.why.first();
    let message = match why {
        Some(why) => format!("`{path}` cannot be computed: {}", why.message),
        None => format!("`{path}` cannot be computed: what it refers to has no value"),
    };
    Diagnostic::error(codes::UNRESOLVED_VALUE, message)
        .primary(unknown.span, "")
        .role(tier.role())
        .help(format!("give `{path}` a value, or what it refers to"))
        .fact("field", path.to_string())
}
