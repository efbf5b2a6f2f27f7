//! TOML, read through the `toml` crate, which keeps spans and finds several errors in one file.
//!
//! Dates and times become strings, as written. Integers are exact in any base; floats keep their
//! digits. Tables keep the order in which their first key stands in the file. Infinity and not-a-number
//! are findings. A duplicate key is an error of TOML itself.

use std::ops::Range;
use std::sync::Arc;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use base::{Diagnostic, SourceId, Span, Symbols};
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::findings::{Findings, shorten};
use crate::number::{self, Number};
use crate::tree::{NodeId, Tree, TreeBuilder};
use crate::{MAX_DEPTH, codes};

/// In a text larger than this only the first syntax error is looked for: the parser keeps every
/// error it finds, and a large text that is no TOML at all has millions.
const LARGE: usize = 4 << 20;

pub(crate) fn parse(
    source: SourceId,
    text: &Arc<str>,
    symbols: &mut Symbols,
    findings: &mut Findings,
) -> Vec<Tree> {
    let (table, errors) = if text.len() <= LARGE {
        DeTable::parse_recoverable(text)
    } else {
        match DeTable::parse(text) {
            Ok(table) => (table, Vec::new()),
            Err(error) => (Spanned::new(0..0, DeTable::new()), vec![error]),
        }
    };
    let mut places: HashSet<usize, FxBuildHasher> = HashSet::default();
    for error in &errors {
        let range = error.span().unwrap_or(0..0);
        // One slip makes several errors at one place; the first says it best.
        if !places.insert(range.start) {
            continue;
        }
        if error.message().to_lowercase().contains("duplicate key") {
            duplicate_key(source, text, table.get_ref(), range, findings);
        } else {
            report(findings, error.message(), Span::new(source, range));
        }
    }
    let mut loader = Loader {
        source,
        text,
        builder: TreeBuilder::new(source, Arc::clone(text)),
        symbols,
        findings,
        depth: 0,
    };
    let whole = Span::new(source, table.span());
    let root = loader.table(table.get_ref(), whole);
    vec![loader.builder.finish(root)]
}

fn report(findings: &mut Findings, message: &str, span: Span) {
    let lower = message.to_lowercase();
    findings.add(span, || {
        if lower.contains("recursion") || lower.contains("nested") {
            return Diagnostic::error(codes::TOO_DEEP, "lists and maps are nested too deeply")
                .primary(span, "this one is too deep")
                .help("flatten the data; a file like this is most likely generated wrongly");
        }
        if span.is_empty() && lower.starts_with("string values must be quoted") {
            return Diagnostic::error(codes::TOML_SYNTAX, "a value is missing")
                .primary(span, "expected here")
                .help("an empty string is `\"\"`; remove the key if it has no value");
        }
        Diagnostic::error(codes::TOML_SYNTAX, lower.replace('\n', ", ")).primary(span, "")
    });
}

/// The parser says where a key is set again, not where it was first. That is looked up, and shown
/// where it is certain: when only one key has the name, or when the one before stands in the same
/// table.
fn duplicate_key(
    source: SourceId,
    text: &str,
    table: &DeTable<'_>,
    again: Range<usize>,
    findings: &mut Findings,
) {
    let written = text.get(again.clone()).unwrap_or("");
    let name = written.trim_matches(['"', '\'']);
    // Looking it up costs a walk, which is only worth it for findings that are shown.
    let before = if findings.has_room() {
        keys_named(table, name, again.start)
    } else {
        Vec::new()
    };
    let first = before.last().filter(|first| {
        let between = text.get(first.end..again.start).unwrap_or("");
        let same_table = !between
            .lines()
            .any(|line| line.trim_start().starts_with('['));
        let dotted = text
            .get(..again.start)
            .is_some_and(|t| t.trim_end().ends_with('.'));
        before.len() == 1 || (same_table && !dotted)
    });
    let second = Span::new(source, again);
    match first {
        Some(first) => findings.duplicate_key(name, Span::new(source, first.clone()), second),
        None => findings.add(second, || {
            Diagnostic::error(
                codes::DUPLICATE_KEY,
                format!("the key `{}` is set twice", shorten(name)),
            )
            .primary(second, "set again here")
            .help("remove one of the two")
        }),
    }
}

/// The places of all keys of a name before some place, without recursion.
fn keys_named(table: &DeTable<'_>, name: &str, limit: usize) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut tables = vec![table];
    while let Some(table) = tables.pop() {
        for (key, value) in table {
            if key.get_ref() == name && key.span().start < limit {
                places.push(key.span());
            }
            match value.get_ref() {
                DeValue::Table(table) => tables.push(table),
                DeValue::Array(array) => {
                    tables.extend(array.iter().filter_map(|item| item.get_ref().as_table()));
                }
                _ => {}
            }
        }
    }
    places.sort_by_key(|range| range.start);
    places
}

struct Loader<'a> {
    source: SourceId,
    text: &'a str,
    builder: TreeBuilder,
    symbols: &'a mut Symbols,
    findings: &'a mut Findings,
    /// How many lists and maps are open. The parser bounds keys and brackets, not both together.
    depth: usize,
}

impl Loader<'_> {
    fn table(&mut self, table: &DeTable<'_>, span: Span) -> NodeId {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut fields = Vec::with_capacity(entries.len());
        self.depth += 1;
        for (key, value) in entries {
            let place = Span::new(self.source, key.span());
            let name = self.symbols.intern(key.get_ref());
            let value = self.value(value);
            fields.push(self.builder.field(place, name, value));
        }
        self.depth -= 1;
        self.builder.map(span, &fields)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>) -> NodeId {
        let span = Span::new(self.source, value.span());
        match value.get_ref() {
            DeValue::String(text) => self.string(text, span),
            DeValue::Boolean(value) => self.builder.bool(span, *value),
            DeValue::Integer(integer) => {
                let digits = integer.as_str();
                match number::from_radix(digits, integer.radix()) {
                    Some(text) => self.number(&text, true, span),
                    None => {
                        let written = self.text.get(value.span()).unwrap_or(digits);
                        self.findings.number_range(span, written);
                        self.builder.null(span)
                    }
                }
            }
            DeValue::Float(float) => {
                let text = float.as_str();
                if text.contains(['i', 'n']) {
                    self.findings.not_finite(span, text);
                    return self.builder.null(span);
                }
                let text = text.trim_start_matches('+').replace('E', "e");
                if !number::exponent_in_range(&text) {
                    self.findings.number_range(span, &text);
                }
                self.number(&text, false, span)
            }
            DeValue::Datetime(date) => match self.text.get(value.span()) {
                Some(written) if !written.is_empty() => self.builder.string_verbatim(span, span),
                _ => self.builder.string(span, &date.to_string()),
            },
            DeValue::Array(_) | DeValue::Table(_) if self.depth >= MAX_DEPTH => {
                self.findings.too_deep(span);
                self.builder.null(span)
            }
            DeValue::Array(array) => {
                self.depth += 1;
                let items: Vec<NodeId> = array.iter().map(|item| self.value(item)).collect();
                self.depth -= 1;
                self.builder.list(span, &items)
            }
            DeValue::Table(table) => self.table(table, span),
        }
    }

    fn number(&mut self, text: &str, is_int: bool, span: Span) -> NodeId {
        if self.text.get(span.range()) == Some(text) {
            self.builder.number_verbatim(span, is_int)
        } else {
            self.builder.number(span, Number { text, is_int })
        }
    }

    fn string(&mut self, value: &str, span: Span) -> NodeId {
        let range = span.range();
        let inner = range.start + 1..range.end.saturating_sub(1);
        if self.text.get(inner.clone()) == Some(value) {
            let content = Span::new(self.source, inner);
            return self.builder.string_verbatim(span, content);
        }
        self.builder.string(span, value)
    }
}
