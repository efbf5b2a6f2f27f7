//! Findings of the scanner and the parser.
//!
//! Texts and places are those of the reference implementation, so that reports can be compared.
//! The first finding of a line is the one that matters: what the parser says about the same line
//! afterwards is likely a consequence and is dropped. After too many the parser gives up.

use std::ops::Range;

use base::{Code, Diagnostic, SourceId, Span};

pub const SYNTAX: Code = Code("cue-syntax");
pub const ILLEGAL_CHARACTER: Code = Code("cue-illegal-character");
pub const INVALID_NUMBER: Code = Code("cue-invalid-number");
pub const INVALID_STRING: Code = Code("cue-invalid-string");
pub const INVALID_ATTRIBUTE: Code = Code("cue-invalid-attribute");
pub const RESERVED_NAME: Code = Code("cue-reserved-name");
pub const EXPERIMENT: Code = Code("cue-experiment");
pub const TOO_DEEP: Code = Code("cue-too-deep");

/// After how many findings the parser gives up.
const MANY: usize = 10;

/// How many findings are kept, those of the scanner included.
const MOST: usize = 1_000;

#[derive(Debug)]
pub(super) struct Errors<'s> {
    text: &'s str,
    source: SourceId,
    found: Vec<Diagnostic>,
    last: usize,
    /// The parser has given up; nothing more is reported.
    pub gave_up: bool,
}

impl<'s> Errors<'s> {
    pub fn new(source: SourceId, text: &'s str) -> Errors<'s> {
        Errors {
            text,
            source,
            found: Vec::new(),
            last: 0,
            gave_up: false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub fn into_found(self) -> Vec<Diagnostic> {
        self.found
    }

    /// A finding of the scanner, or one that must not be dropped.
    pub fn push(&mut self, code: Code, at: Range<usize>, message: String) {
        if self.gave_up || self.found.len() >= MOST {
            return;
        }
        self.last = at.start;
        let span = Span::new(self.source, at);
        self.found
            .push(Diagnostic::error(code, message).primary(span, ""));
    }

    /// A finding of the parser.
    pub fn report(&mut self, code: Code, at: Range<usize>, message: String) {
        if !self.found.is_empty() {
            if self.same_line(self.last, at.start) {
                return;
            }
            if self.found.len() > MANY {
                self.gave_up = true;
            }
        }
        self.push(code, at, message);
    }

    fn same_line(&self, a: usize, b: usize) -> bool {
        // The end of the text belongs to the last line that has any.
        let last = self
            .text
            .strip_suffix('\n')
            .map_or(self.text.len(), str::len);
        let (a, b) = (a.min(last), b.min(last));
        let between = self.text.as_bytes().get(a.min(b)..a.max(b));
        between.is_some_and(|bytes| !bytes.contains(&b'\n'))
    }
}
