//! The text of a unit file as a list of items that covers every byte.
//!
//! Both flavours are read by the same loop; they differ in what continues a line and in what a bad
//! line costs (the table in the crate's documentation). The text itself is never changed: an item
//! is a range of it, and the ranges follow one another without a gap, so that writing them out in
//! order gives the text back.
//!
//! Parsing never fails. What systemd skips and what makes Quadlet refuse a file is reported as a
//! finding; the rest of the file is still read, so that all findings come at once.

use std::sync::Arc;

use base::{Code, Diagnostic, SourceId, Span};

use crate::name::Flavour;

/// Quadlet would refuse the file, or systemd what follows in it.
pub const UNPARSABLE_UNIT: Code = Code("unparsable-unit");
/// systemd would skip the line and go on.
pub const IGNORED_LINE: Code = Code("ignored-line");
/// A backslash at the end of the file, or one whose next lines are only comments.
pub const DANGLING_BACKSLASH: Code = Code("dangling-backslash");

#[derive(Clone, Debug)]
pub struct UnitFile {
    pub source: SourceId,
    pub text: Arc<str>,
    pub items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub struct Item {
    /// From the first byte of the first line to the end of the last, line end included.
    pub span: Span,
    pub kind: ItemKind,
}

#[derive(Clone, Debug)]
pub enum ItemKind {
    Blank,
    Comment,
    /// `[Name]`, with the place of the name.
    Header(Span),
    Assignment(Assignment),
    /// A line that means nothing to this flavour; there is a finding for it.
    Ignored,
}

#[derive(Clone, Debug)]
pub struct Assignment {
    pub key: Span,
    /// The value as it is written, over all its lines.
    pub value: Span,
    /// Key and value where a continuation joins them, by the flavour's rules.
    joined_key: Option<Box<str>>,
    joined_value: Option<Box<str>>,
}

/// A header's section and the assignments below it, in the order of the file.
pub struct Assigned<'a> {
    pub section: &'a str,
    pub key: &'a str,
    pub value: &'a str,
    pub assignment: &'a Assignment,
}

impl UnitFile {
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    pub fn key<'a>(&'a self, assignment: &'a Assignment) -> &'a str {
        match &assignment.joined_key {
            Some(joined) => joined,
            None => self.slice(assignment.key),
        }
    }

    pub fn value<'a>(&'a self, assignment: &'a Assignment) -> &'a str {
        match &assignment.joined_value {
            Some(joined) => joined,
            None => self.slice(assignment.value),
        }
    }

    /// All assignments with their sections. Sections that occur twice are not joined here.
    pub fn assignments(&self) -> impl Iterator<Item = Assigned<'_>> {
        let mut section = None;
        self.items.iter().filter_map(move |item| match &item.kind {
            ItemKind::Header(name) => {
                section = Some(self.slice(*name));
                None
            }
            ItemKind::Assignment(assignment) => Some(Assigned {
                section: section?,
                key: self.key(assignment),
                value: self.value(assignment),
                assignment,
            }),
            _ => None,
        })
    }

    /// Section names with the place of each header, in the order of the file.
    pub fn headers(&self) -> impl Iterator<Item = (&str, Span)> {
        self.items.iter().filter_map(|item| match item.kind {
            ItemKind::Header(name) => Some((self.slice(name), name)),
            _ => None,
        })
    }

    /// Whether nothing but comments and blank lines is in it.
    pub fn is_empty(&self) -> bool {
        let idle = |item: &Item| matches!(item.kind, ItemKind::Blank | ItemKind::Comment);
        self.items.iter().all(idle)
    }
}

/// Reads a unit file by the rules of one flavour.
pub fn parse(source: SourceId, text: Arc<str>, flavour: Flavour) -> (UnitFile, Vec<Diagnostic>) {
    let mut parser = Parser {
        source,
        text: &text,
        flavour,
        items: Vec::new(),
        findings: Vec::new(),
        in_section: false,
        open: None,
    };
    let mut start = 0;
    while start < text.len() {
        let rest = text.get(start..).unwrap_or("");
        let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let line = RawLine {
            start,
            end: start + length,
            text: rest.get(..length).unwrap_or(""),
            is_last: start + length >= text.len(),
        };
        parser.line(line);
        start += length;
    }
    parser.finish();
    let Parser {
        items, findings, ..
    } = parser;
    let file = UnitFile {
        source,
        text: Arc::clone(&text),
        items,
    };
    (file, findings)
}

struct RawLine<'a> {
    start: usize,
    end: usize,
    text: &'a str,
    is_last: bool,
}

/// Lines that are still waiting for the end of their continuation.
struct Open {
    start: usize,
    end: usize,
    /// Where the first line's text begins and ends in the source: joined text maps to it.
    first: (usize, usize),
    joined: String,
}

struct Parser<'a> {
    source: SourceId,
    text: &'a str,
    flavour: Flavour,
    items: Vec<Item>,
    findings: Vec<Diagnostic>,
    in_section: bool,
    open: Option<Open>,
}

/// One line as the flavour means it, continuations joined.
struct Logical<'a> {
    whole: Span,
    text: &'a str,
    /// Offset in the source of the text's first byte.
    at: usize,
    /// How much of the text stands in the source at `at` as it is.
    verbatim: usize,
    /// Whether the last character before the end of the file was a backslash.
    dangling: bool,
}

impl Parser<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start..end)
    }

    fn push(&mut self, start: usize, end: usize, kind: ItemKind) {
        let span = self.span(start, end);
        self.items.push(Item { span, kind });
    }

    fn line(&mut self, line: RawLine<'_>) {
        let opening = self.items.is_empty() && self.open.is_none();
        let unspaced = match self.flavour {
            Flavour::Quadlet => line.text.trim_start(),
            Flavour::Systemd if opening => {
                let text = line.text.trim_start_matches('\u{feff}');
                text.trim_start_matches(SYSTEMD_SPACE)
            }
            Flavour::Systemd => line.text.trim_start_matches(SYSTEMD_SPACE),
        };
        let trimmed = match self.flavour {
            Flavour::Quadlet => unspaced.trim_end(),
            Flavour::Systemd => unspaced.trim_end_matches(SYSTEMD_SPACE),
        };
        let at = line.start + line.text.len() - unspaced.len();
        let is_comment = trimmed.starts_with(['#', ';']);
        let is_skipped = is_comment || (trimmed.is_empty() && self.skips_blanks());
        if is_skipped && let Some(open) = &mut self.open {
            open.end = line.end;
            return;
        }
        if self.open.is_none() && (is_comment || trimmed.is_empty()) {
            let kind = if is_comment {
                ItemKind::Comment
            } else {
                ItemKind::Blank
            };
            return self.push(line.start, line.end, kind);
        }
        match self.flavour {
            Flavour::Quadlet => self.quadlet_line(&line, at, trimmed),
            Flavour::Systemd => self.systemd_line(&line, at),
        }
    }

    fn skips_blanks(&self) -> bool {
        self.flavour == Flavour::Quadlet
    }

    /// Quadlet strips the line, then looks for a backslash; the pieces are joined with nothing.
    fn quadlet_line(&mut self, line: &RawLine<'_>, at: usize, trimmed: &str) {
        match trimmed.strip_suffix('\\') {
            // A lone backslash opens nothing.
            Some("") if self.open.is_none() => self.push(line.start, line.end, ItemKind::Blank),
            Some(piece) if !line.is_last => self.extend(line, at, piece),
            Some(piece) => self.close(line, at, piece, true),
            None => self.close(line, at, trimmed, false),
        }
    }

    /// systemd looks for a backslash that is the very last character and not itself escaped; it
    /// becomes a space, and the next line keeps its indentation.
    fn systemd_line(&mut self, line: &RawLine<'_>, at: usize) {
        let raw = line.text.trim_end_matches(['\n', '\r']);
        let backslashes = raw.len() - raw.trim_end_matches('\\').len();
        let continues = backslashes % 2 == 1;
        let (at, piece) = match self.open {
            Some(_) => (line.start, raw),
            None => (at, raw.get(at - line.start..).unwrap_or("")),
        };
        if !continues {
            return self.close(line, at, piece, false);
        }
        let piece = format!("{} ", piece.strip_suffix('\\').unwrap_or(piece));
        match line.is_last {
            false => self.extend(line, at, &piece),
            true => self.close(line, at, &piece, true),
        }
    }

    fn extend(&mut self, line: &RawLine<'_>, at: usize, piece: &str) {
        let open = self.open.get_or_insert_with(|| Open {
            start: line.start,
            end: line.end,
            first: (at, piece.len()),
            joined: String::new(),
        });
        open.end = line.end;
        open.joined.push_str(piece);
    }

    fn close(&mut self, line: &RawLine<'_>, at: usize, piece: &str, dangling: bool) {
        match self.open.take() {
            None => {
                let whole = self.span(line.start, line.end);
                self.logical(&Logical {
                    whole,
                    text: piece,
                    at,
                    verbatim: piece.len(),
                    dangling,
                });
            }
            Some(open) => {
                let whole = self.span(open.start, line.end);
                let joined = open.joined + piece;
                let (at, verbatim) = open.first;
                self.logical(&Logical {
                    whole,
                    text: &joined,
                    at,
                    verbatim,
                    dangling,
                });
            }
        }
    }

    /// The file ended inside a continuation: only comments or blank lines followed the backslash.
    fn finish(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let whole = self.span(open.start, open.end);
        let (at, verbatim) = open.first;
        match self.flavour {
            Flavour::Systemd => self.logical(&Logical {
                whole,
                text: &open.joined,
                at,
                verbatim,
                dangling: true,
            }),
            Flavour::Quadlet => {
                let shown = self.span(at, at + verbatim);
                self.findings.push(
                    Diagnostic::error(
                        DANGLING_BACKSLASH,
                        "Quadlet drops this line: only comments follow its backslash",
                    )
                    .primary(shown, "never read")
                    .help("remove the backslash at the end of the line"),
                );
                self.push(open.start, open.end, ItemKind::Ignored);
            }
        }
    }

    fn logical(&mut self, line: &Logical<'_>) {
        let kind = match self.flavour {
            Flavour::Quadlet => self.quadlet(line),
            Flavour::Systemd => self.systemd(line),
        };
        self.items.push(Item {
            span: line.whole,
            kind,
        });
    }

    fn quadlet(&mut self, line: &Logical<'_>) -> ItemKind {
        let text = line.text;
        if let Some((name, after)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && after.trim_matches([' ', '\t']).is_empty()
        {
            self.in_section = true;
            let place = self.place(line, 1, name.len());
            if name.is_empty() || name.contains('[') || name.chars().any(char::is_control) {
                self.unparsable(place, format!("`[{name}]` is no section name"))
                    .push_help("write a section as `[Container]`");
                return ItemKind::Ignored;
            }
            if !stands(line, 1 + name.len()) {
                self.unparsable(place, "a section header cannot span lines".to_owned())
                    .push_help("write the header on one line");
                return ItemKind::Ignored;
            }
            return ItemKind::Header(place);
        }
        match text.find('=') {
            Some(equals) if equals > 0 => {
                if !self.in_section {
                    let place = self.place(line, 0, equals);
                    self.unparsable(place, "an assignment stands before any section".to_owned())
                        .push_help("put it below a header such as `[Container]`");
                    return ItemKind::Ignored;
                }
                self.assignment(line, equals, char::is_whitespace)
            }
            found => {
                let place = self.place(line, 0, text.len());
                let (what, help) = match text.starts_with('[') {
                    true => (
                        format!("`{text}` is no section header"),
                        "write a section as `[Container]`, with nothing behind it",
                    ),
                    false => not_a_line(found.is_some()),
                };
                self.unparsable(place, what).push_help(help);
                ItemKind::Ignored
            }
        }
    }

    fn systemd(&mut self, line: &Logical<'_>) -> ItemKind {
        let text = line.text.trim_matches(SYSTEMD_SPACE);
        if text.is_empty() {
            return ItemKind::Blank;
        }
        let front = line.text.len() - line.text.trim_start_matches(SYSTEMD_SPACE).len();
        let line = &Logical {
            whole: line.whole,
            text,
            at: line.at + front.min(line.verbatim),
            verbatim: line.verbatim.saturating_sub(front),
            dangling: line.dangling,
        };
        if let Some(rest) = text.strip_prefix('[') {
            self.in_section = true;
            let place = self.place(line, 0, text.len());
            let Some(name) = rest.strip_suffix(']') else {
                self.unparsable(place, format!("`{text}` is no section header"))
                    .push_help("write a section as `[Socket]`, with nothing behind it");
                return ItemKind::Ignored;
            };
            if !stands(line, 1 + name.len()) {
                self.unparsable(place, "a section header cannot span lines".to_owned())
                    .push_help("write the header on one line");
                return ItemKind::Ignored;
            }
            return ItemKind::Header(self.place(line, 1, name.len()));
        }
        match text.find('=') {
            Some(equals) if equals > 0 => {
                if !self.in_section {
                    let place = self.place(line, 0, equals);
                    self.ignored(place, "an assignment stands before any section")
                        .push_help("put it below a header such as `[Socket]`");
                    return ItemKind::Ignored;
                }
                self.assignment(line, equals, |c| SYSTEMD_SPACE.contains(&c))
            }
            found => {
                let place = self.place(line, 0, text.len());
                let (what, help) = not_a_line(found.is_some());
                self.ignored(place, &what).push_help(help);
                ItemKind::Ignored
            }
        }
    }

    fn assignment(
        &mut self,
        line: &Logical<'_>,
        equals: usize,
        space: impl Fn(char) -> bool,
    ) -> ItemKind {
        let (key, rest) = line.text.split_at_checked(equals).unwrap_or(("", ""));
        let key = key.trim_end_matches(&space);
        let written = rest.strip_prefix('=').unwrap_or("");
        let value = written.trim_matches(&space);
        let skipped = written.len() - written.trim_start_matches(&space).len();
        let start = equals + 1 + skipped;
        if line.dangling {
            self.dangling(line, value);
        }
        // A place is only exact while all of the text stands in the first line.
        let single = stands(line, start + value.len());
        let end = match single {
            true => line.at + start + value.len(),
            // The last line's text without its line end.
            false => {
                let text = self.text.get(line.whole.range()).unwrap_or("");
                line.whole.start as usize + text.trim_end().len()
            }
        };
        let first = match stands(line, start) {
            true => (line.at + start).min(end),
            false => line.at,
        };
        ItemKind::Assignment(Assignment {
            key: self.place(line, 0, key.len()),
            value: self.span(first, end),
            joined_key: (!stands(line, key.len())).then(|| key.into()),
            joined_value: (!single).then(|| value.into()),
        })
    }

    fn dangling(&mut self, line: &Logical<'_>, value: &str) {
        let end = line.whole.start as usize
            + self
                .text
                .get(line.whole.range())
                .unwrap_or("")
                .trim_end()
                .len();
        let place = self.span(end.saturating_sub(1), end);
        // A value that itself ends in a backslash can only be written as the last line of a file.
        let lost = self.flavour == Flavour::Quadlet && value.ends_with('\\');
        let message = "the file ends in a backslash, which continues nothing";
        let finding = match lost {
            true => Diagnostic::error(DANGLING_BACKSLASH, message),
            false => Diagnostic::warning(DANGLING_BACKSLASH, message),
        };
        self.findings.push(
            finding
                .primary(place, "")
                .help("remove the backslash at the end of the file"),
        );
    }

    /// The place of `length` bytes at `start` of the joined text: exact while they stand in the
    /// first line, else the whole line.
    fn place(&self, line: &Logical<'_>, start: usize, length: usize) -> Span {
        match stands(line, start + length) {
            true => self.span(line.at + start, line.at + start + length),
            false => self.span(line.at, line.at + line.verbatim),
        }
    }

    fn unparsable(&mut self, place: Span, what: String) -> Helped<'_> {
        let consequence = match self.flavour {
            Flavour::Quadlet => "Quadlet refuses the whole file for it",
            Flavour::Systemd => "systemd reads nothing behind it",
        };
        let finding = Diagnostic::error(UNPARSABLE_UNIT, what).primary(place, consequence);
        self.findings.push(finding);
        Helped(&mut self.findings)
    }

    fn ignored(&mut self, place: Span, what: &str) -> Helped<'_> {
        let finding =
            Diagnostic::warning(IGNORED_LINE, what).primary(place, "systemd skips this line");
        self.findings.push(finding);
        Helped(&mut self.findings)
    }
}

/// The finding just pushed, waiting for its help.
struct Helped<'a>(&'a mut Vec<Diagnostic>);

impl Helped<'_> {
    fn push_help(self, help: &str) {
        if let Some(finding) = self.0.pop() {
            self.0.push(finding.help(help));
        }
    }
}

/// What systemd calls white space.
const SYSTEMD_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

fn stands(line: &Logical<'_>, end: usize) -> bool {
    end <= line.verbatim
}

fn not_a_line(starts_with_equals: bool) -> (String, &'static str) {
    match starts_with_equals {
        true => (
            "a key is missing before `=`".to_owned(),
            "write it as `Key=value`",
        ),
        false => (
            "this is neither an assignment, a section nor a comment".to_owned(),
            "write it as `Key=value`, or put `#` in front of it",
        ),
    }
}

#[cfg(test)]
mod tests;
