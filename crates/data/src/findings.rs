//! The findings of one file while it is read.
//!
//! A wrong file can be wrong a million times. What is kept is bounded; the rest is counted.

use base::{Diagnostic, Span};

use crate::codes;

/// How many findings of one file are kept.
const LIMIT: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: Vec<Diagnostic>,
    /// How many were left out, and the place of the first of them.
    more: usize,
    first_left_out: Option<Span>,
}

impl Findings {
    /// The closure is called only when the finding is kept.
    pub(crate) fn add(&mut self, at: Span, make: impl FnOnce() -> Diagnostic) {
        if self.has_room() {
            self.kept.push(make());
        } else {
            self.more += 1;
            self.first_left_out.get_or_insert(at);
        }
    }

    /// Whether a further finding would be kept.
    pub(crate) fn has_room(&self) -> bool {
        self.kept.len() < LIMIT
    }

    /// A key that one map holds twice.
    pub(crate) fn duplicate_key(&mut self, name: &str, first: Span, second: Span) {
        self.add(second, || {
            Diagnostic::error(
                codes::DUPLICATE_KEY,
                format!("the key `{}` is set twice", shorten(name)),
            )
            .primary(second, "set again here")
            .secondary(first, "first set here")
            .help("remove one of the two")
        });
    }

    pub(crate) fn too_deep(&mut self, at: Span) {
        self.add(at, || {
            Diagnostic::error(
                codes::TOO_DEEP,
                format!(
                    "lists and maps are nested more than {} deep",
                    crate::MAX_DEPTH
                ),
            )
            .primary(at, "this one is too deep")
            .help("flatten the data; a file like this is most likely generated wrongly")
        });
    }

    pub(crate) fn not_finite(&mut self, at: Span, text: &str) {
        self.add(at, || {
            Diagnostic::error(
                codes::NOT_FINITE,
                format!("`{}` is not a number that data can hold", shorten(text)),
            )
            .primary(at, "infinity and not-a-number are refused")
            .help("write a finite number, or quote it to make it a string")
        });
    }

    pub(crate) fn number_range(&mut self, at: Span, text: &str) {
        self.add(at, || {
            Diagnostic::error(
                codes::NUMBER_RANGE,
                format!("the number `{}` is out of range", shorten(text)),
            )
            .primary(at, "out of range")
            .help(
                "exponents have at most nine digits, other bases than ten at most 128 bits; quote \
                 the number to make it a string",
            )
        });
    }

    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        if let Some(span) = self.first_left_out {
            self.kept.push(
                Diagnostic::error(
                    codes::MORE_FINDINGS,
                    format!("{} further findings in this file are not shown", self.more),
                )
                .primary(span, "the next one is here"),
            );
        }
        self.kept
    }
}

/// What the user wrote, short enough for one line.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    let mut short: String = text
        .chars()
        .take(MOST)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}
