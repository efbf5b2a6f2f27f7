//! Named texts and spans in them.
//!
//! A [`Span`] is twelve bytes: a source and two byte offsets. Lines and columns are computed only
//! when something is shown. Columns count characters from one, as editors do; offsets count bytes.
//! A source may be text that never was a file (standard input, `--set` on the command line).

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::diagnostic::{Code, Diagnostic};

/// Which source, in the [`Sources`] it was added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// A half-open range of bytes in one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub source: SourceId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(source: SourceId, range: Range<usize>) -> Span {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span {
            source,
            start: clamp(range.start),
            end: clamp(range.end),
        }
    }

    /// The smallest span that covers both. The two must lie in one source.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.source, other.source);
        Span {
            source: self.source,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// An empty span at the start of this one.
    pub fn at_start(self) -> Span {
        Span {
            end: self.start,
            ..self
        }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A place as people write it: line and column from one, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One named text.
#[derive(Debug)]
pub struct Source {
    name: String,
    text: Arc<str>,
    lines: OnceLock<Vec<u32>>,
    /// How many characters begin before every [`STRIDE`]th byte, so that a place in one long line
    /// costs no walk from its start.
    characters: OnceLock<Vec<u32>>,
}

const STRIDE: usize = 1024;

impl Source {
    /// The name as it is shown: a path as the user wrote it, or `<stdin>`, `<command line>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let mut starts = vec![0];
            let newlines = self.text.bytes().enumerate().filter(|&(_, b)| b == b'\n');
            starts.extend(newlines.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX)));
            starts
        })
    }

    /// How many lines the text has; an empty text has one.
    pub fn line_count(&self) -> u32 {
        u32::try_from(self.lines().len()).unwrap_or(u32::MAX)
    }

    /// Line and column of a byte offset. An offset past the end is the end.
    pub fn place(&self, offset: u32) -> Place {
        let lines = self.lines();
        let index = lines
            .partition_point(|&start| start <= offset)
            .saturating_sub(1);
        let start = lines.get(index).copied().unwrap_or(0);
        let mark = u32::from(index == 0 && offset > 0 && self.text.starts_with('\u{feff}'));
        let before = self.characters_before(offset) - self.characters_before(start);
        Place {
            line: u32::try_from(index + 1).unwrap_or(u32::MAX),
            column: before.saturating_sub(mark) + 1,
        }
    }

    /// How many characters begin before a byte offset.
    fn characters_before(&self, offset: u32) -> u32 {
        let starts = |bytes: &[u8]| {
            let starts = bytes.iter().filter(|&&b| b & 0xc0 != 0x80).count();
            u32::try_from(starts).unwrap_or(u32::MAX)
        };
        let counts = self.characters.get_or_init(|| {
            let mut sum = 0;
            let mut counts = vec![0];
            for stride in self.text.as_bytes().chunks(STRIDE) {
                sum += starts(stride);
                counts.push(sum);
            }
            counts
        });
        let offset = (offset as usize).min(self.text.len());
        let stride = offset / STRIDE;
        let rest = self.text.as_bytes().get(stride * STRIDE..offset);
        counts.get(stride).copied().unwrap_or(0) + starts(rest.unwrap_or_default())
    }

    /// The text of a line, counted from one, without its line end.
    pub fn line(&self, number: u32) -> &str {
        let lines = self.lines();
        let index = number.saturating_sub(1) as usize;
        let Some(&start) = lines.get(index) else {
            return "";
        };
        let end = lines
            .get(index + 1)
            .map_or(self.text.len(), |&next| next as usize - 1);
        self.slice(start as usize..end).trim_end_matches('\r')
    }

    /// The offset at which a line, counted from one, begins.
    pub fn line_start(&self, number: u32) -> u32 {
        let index = number.saturating_sub(1) as usize;
        self.lines()
            .get(index)
            .copied()
            .unwrap_or(u32::try_from(self.text.len()).unwrap_or(u32::MAX))
    }

    /// A range of the text, moved inwards to whole characters that exist.
    pub fn slice(&self, range: Range<usize>) -> &str {
        let floor = |n: usize| {
            let mut n = n.min(self.text.len());
            while !self.text.is_char_boundary(n) {
                n -= 1;
            }
            n
        };
        let (start, end) = (floor(range.start), floor(range.end));
        self.text.get(start..end.max(start)).unwrap_or("")
    }
}

/// All sources of one run. Grows, never shrinks: a [`SourceId`] stays good.
#[derive(Debug, Default)]
pub struct Sources {
    all: Vec<Source>,
}

/// A text that is not UTF-8.
pub const INVALID_UTF8: Code = Code("invalid-utf8");

impl Sources {
    pub fn new() -> Sources {
        Sources::default()
    }

    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> SourceId {
        let id = SourceId(u32::try_from(self.all.len()).expect("fewer than 2^32 sources"));
        self.all.push(Source {
            name: name.into(),
            text: text.into(),
            lines: OnceLock::new(),
            characters: OnceLock::new(),
        });
        id
    }

    /// Adds bytes that should be UTF-8. Where they are not, the finding points at the first bad
    /// byte, and the text is kept with replacement characters, so that it can be shown.
    pub fn add_bytes(
        &mut self,
        name: impl Into<String>,
        bytes: Vec<u8>,
    ) -> (SourceId, Option<Diagnostic>) {
        match String::from_utf8(bytes) {
            Ok(text) => (self.add(name, text), None),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let bad = error.as_bytes().get(at).copied().unwrap_or_default();
                let id = self.add(name, String::from_utf8_lossy(error.as_bytes()).into_owned());
                let span = Span::new(id, at..at + '\u{fffd}'.len_utf8());
                let finding = Diagnostic::error(INVALID_UTF8, "the file is not valid UTF-8")
                    .primary(span, format!("byte 0x{bad:02x} is not part of a character"))
                    .help("save the file as UTF-8");
                (id, Some(finding))
            }
        }
    }

    /// Covers the text under a span with letters, byte by byte, so that no excerpt can show it.
    /// White space stays, and with it every line and column.
    pub fn cover(&mut self, span: Span) {
        let Some(source) = self.all.get_mut(span.source.0 as usize) else {
            return;
        };
        let mut bytes = source.text.as_bytes().to_vec();
        for byte in bytes.get_mut(span.range()).unwrap_or_default() {
            if !byte.is_ascii_whitespace() {
                *byte = b'x';
            }
        }
        // A span that cuts a character in two would leave no text; then nothing stays readable.
        source.text = String::from_utf8(bytes)
            .unwrap_or_else(|error| "x".repeat(error.as_bytes().len()))
            .into();
    }

    pub fn get(&self, id: SourceId) -> &Source {
        self.all
            .get(id.0 as usize)
            .expect("a SourceId comes from the Sources that made it")
    }

    /// The source of an id that may come from elsewhere.
    pub fn find(&self, id: SourceId) -> Option<&Source> {
        self.all.get(id.0 as usize)
    }

    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        (0..).map(SourceId).zip(&self.all)
    }

    /// Where a span begins.
    pub fn place(&self, span: Span) -> Place {
        self.get(span.source).place(span.start)
    }

    /// `file:line:column` of where a span begins.
    pub fn locate(&self, span: Span) -> String {
        format!("{}:{}", self.get(span.source).name(), self.place(span))
    }

    /// The text under a span.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.source).slice(span.range())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_lines_from_one() {
        let mut sources = Sources::new();
        let id = sources.add("a.yaml", "é: 1\r\nb: 2\n");
        let place = |start| sources.place(Span::new(id, start..start + 1));
        assert_eq!(place(0), Place { line: 1, column: 1 });
        assert_eq!(place(2), Place { line: 1, column: 2 });
        assert_eq!(place(7), Place { line: 2, column: 1 });
        assert_eq!(place(9999), Place { line: 3, column: 1 });
        assert_eq!(sources.get(id).line(1), "é: 1");
        assert_eq!(sources.get(id).line(2), "b: 2");
        assert_eq!(sources.get(id).line(3), "");
        assert_eq!(sources.get(id).line(4), "");
    }

    #[test]
    fn places_in_a_long_line_count_characters_too() {
        let mut sources = Sources::new();
        let id = sources.add("a.json", "é".repeat(5_000) + "\n" + &"aé€".repeat(3_000));
        let text = sources.get(id).text().clone();
        for (at, _) in text.char_indices().step_by(97) {
            let start = text
                .get(..at)
                .and_then(|t| t.rfind('\n'))
                .map_or(0, |n| n + 1);
            let column = text.get(start..at).map_or(0, |t| t.chars().count()) + 1;
            let place = sources.place(Span::new(id, at..at));
            assert_eq!(place.column as usize, column, "at {at}");
        }
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let mut sources = Sources::new();
        let id = sources.add("a.json", "\u{feff}{}");
        assert_eq!(
            sources.place(Span::new(id, 3..4)),
            Place { line: 1, column: 1 }
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_and_reported_at_the_first_bad_one() {
        let mut sources = Sources::new();
        let (id, finding) = sources.add_bytes("x", b"ab\xff\xfe".to_vec());
        let finding = finding.expect("not UTF-8");
        assert_eq!(finding.code, INVALID_UTF8);
        assert_eq!(sources.locate(finding.labels[0].span), "x:1:3");
        assert!(sources.get(id).text().starts_with("ab"));
    }

    #[test]
    fn what_is_covered_cannot_be_read_and_nothing_moves() {
        let mut sources = Sources::new();
        let id = sources.add("a", "k: é secret\nb: 1\n");
        sources.cover(Span::new(id, 3..12));
        assert_eq!(&**sources.get(id).text(), "k: xx xxxxxx\nb: 1\n");
    }

    #[test]
    fn a_span_is_twelve_bytes() {
        assert_eq!(size_of::<Span>(), 12);
    }
}
