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

use crate::codes;
use crate::findings::{Findings, shorten};
use crate::number::{self, Number};
use crate::tree::{NodeId, Tree, TreeBuilder};

/// Keys of more parts than this are refused before they are read: each part is a table in a table.
const LONGEST_KEY: usize = crate::MAX_DEPTH;

pub(crate) fn parse(
    source: SourceId,
    text: &Arc<str>,
    symbols: &mut Symbols,
    findings: &mut Findings,
) -> Vec<Tree> {
    // The crate skips a byte-order mark but counts its bytes.
    if let Some(at) = deep_key(text) {
        findings.too_deep(Span::new(source, at..at + 1));
        return Vec::new();
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut places: Vec<usize> = Vec::new();
    for error in &errors {
        let range = error.span().unwrap_or(0..0);
        // One slip makes several errors at one place; the first says it best.
        if places.contains(&range.start) {
            continue;
        }
        places.push(range.start);
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
    let mut before = Vec::new();
    keys_named(table, name, again.start, &mut before);
    before.sort_by_key(|range| range.start);
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

/// The places of all keys of a name before some place. Tables are nested as deep as the parser and
/// [`deep_key`] let them.
fn keys_named(table: &DeTable<'_>, name: &str, limit: usize, places: &mut Vec<Range<usize>>) {
    for (key, value) in table {
        if key.get_ref() == name && key.span().start < limit {
            places.push(key.span());
        }
        match value.get_ref() {
            DeValue::Table(table) => keys_named(table, name, limit, places),
            DeValue::Array(array) => {
                for item in array {
                    if let DeValue::Table(table) = item.get_ref() {
                        keys_named(table, name, limit, places);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Where a dotted key has more parts than tables may be nested. Dots inside strings count too:
/// no line of honest data has a thousand of them before its `=`.
fn deep_key(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let key = line.split(['=', '#']).next().unwrap_or("");
        if key.len() > LONGEST_KEY && key.bytes().filter(|&b| b == b'.').count() > LONGEST_KEY {
            return Some(start);
        }
        start += line.len();
    }
    None
}

struct Loader<'a> {
    source: SourceId,
    text: &'a str,
    builder: TreeBuilder,
    symbols: &'a mut Symbols,
    findings: &'a mut Findings,
}

impl Loader<'_> {
    fn table(&mut self, table: &DeTable<'_>, span: Span) -> NodeId {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut fields = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let place = Span::new(self.source, key.span());
            let name = self.symbols.intern(key.get_ref());
            let value = self.value(value);
            fields.push(self.builder.field(place, name, value));
        }
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
            DeValue::Array(array) => {
                let items: Vec<NodeId> = array.iter().map(|item| self.value(item)).collect();
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
