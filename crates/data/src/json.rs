//! JSON, read in one pass without recursion.
//!
//! The grammar is RFC 8259, nothing looser: no comments, no trailing commas, no bare words. A
//! syntax error ends the reading, because what follows it cannot be trusted; duplicate keys are all
//! found. Numbers keep their text (`1.50` stays `1.50`), except that `-0` is `0` and exponents are
//! written with a small `e`. A stream (`.jsonl`) is any number of values with white space between.

mod string;

use std::sync::Arc;

use base::{Diagnostic, SourceId, Span, Symbol, Symbols};

use crate::codes;
use crate::duplicates::Duplicates;
use crate::findings::{Findings, shorten};
use crate::number;
use crate::tree::{Field, NodeId, Tree, TreeBuilder};
use crate::{MAX_DEPTH, Options, Reading};

/// Why reading stops: where, what is wrong, what to do. An empty message: it was said already.
struct Stop {
    start: usize,
    end: usize,
    message: String,
    help: Option<&'static str>,
    /// Where the list or map began that should have ended.
    inside: Option<usize>,
}

type Step<T> = Result<T, Stop>;

pub(crate) fn parse(
    source: SourceId,
    text: &Arc<str>,
    stream: bool,
    symbols: &mut Symbols,
    options: &Options,
    findings: &mut Findings,
) -> Vec<Tree> {
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        at: if text.starts_with('\u{feff}') { 3 } else { 0 },
        source,
        builder: TreeBuilder::new(source, Arc::clone(text)),
        symbols,
        findings,
        refuse_duplicates: options.reading == Reading::Strict,
        duplicates: Duplicates::default(),
        frames: Vec::new(),
        items: Vec::new(),
        fields: Vec::new(),
        scratch: String::new(),
    };
    let mut documents = Vec::new();
    loop {
        if stream {
            parser.skip_space();
            if parser.at == parser.bytes.len() {
                break;
            }
        }
        match parser.document(stream) {
            Ok(tree) => documents.push(tree),
            Err(stop) if stop.message.is_empty() => break,
            Err(stop) => {
                let span = Span::new(source, stop.start..stop.end);
                parser.findings.add(span, || {
                    let mut found =
                        Diagnostic::error(codes::JSON_SYNTAX, stop.message).primary(span, "");
                    if let Some(open) = stop.inside {
                        let open = Span::new(source, open..open + 1);
                        found = found.secondary(open, "inside what began here");
                    }
                    match stop.help {
                        Some(help) => found.help(help),
                        None => found,
                    }
                });
                break;
            }
        }
        if !stream {
            break;
        }
    }
    documents
}

/// A list or map that is still open.
#[derive(Clone, Copy)]
struct Frame {
    start: usize,
    /// Where its children begin in `items` or `fields`.
    first: usize,
    /// The key under which the next value goes; `None` in a list.
    key: Option<(Symbol, Span)>,
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    source: SourceId,
    builder: TreeBuilder,
    symbols: &'a mut Symbols,
    findings: &'a mut Findings,
    refuse_duplicates: bool,
    duplicates: Duplicates,
    frames: Vec<Frame>,
    items: Vec<NodeId>,
    fields: Vec<Field>,
    scratch: String,
}

impl Parser<'_> {
    fn document(&mut self, stream: bool) -> Step<Tree> {
        let root = self.value()?;
        self.skip_space();
        if !stream && self.at < self.bytes.len() {
            return Err(self.unexpected("the end of the file"));
        }
        let next = TreeBuilder::new(self.source, self.builder.text());
        Ok(std::mem::replace(&mut self.builder, next).finish(root))
    }

    /// One value with everything in it.
    fn value(&mut self) -> Step<NodeId> {
        loop {
            // Here a value must begin.
            self.skip_space();
            let start = self.at;
            let node = match self.peek() {
                Some(b'"') => self.string()?,
                Some(b'{') => {
                    self.open(start, true)?;
                    self.skip_space();
                    if self.peek() != Some(b'}') {
                        self.key()?;
                        continue;
                    }
                    self.at += 1;
                    self.close_map()
                }
                Some(b'[') => {
                    self.open(start, false)?;
                    self.skip_space();
                    if self.peek() != Some(b']') {
                        continue;
                    }
                    self.at += 1;
                    self.close_list()
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true", |b, span| b.bool(span, true))?,
                Some(b'f') => self.word("false", |b, span| b.bool(span, false))?,
                Some(b'n') => self.word("null", |b, span| b.null(span))?,
                _ => return Err(self.unexpected("a value")),
            };
            // A value ended: so may the collections around it.
            match self.after(node)? {
                None => {}
                Some(root) => return Ok(root),
            }
        }
    }

    /// Puts a finished value where it belongs and reads on to where the next one begins. The
    /// value itself is returned when nothing is open any more.
    fn after(&mut self, mut node: NodeId) -> Step<Option<NodeId>> {
        loop {
            let Some(frame) = self.frames.last().copied() else {
                return Ok(Some(node));
            };
            match frame.key {
                Some((name, key)) => {
                    let field = self.builder.field(key, name, node);
                    self.fields.push(field);
                    self.skip_space();
                    match self.peek() {
                        Some(b',') => {
                            self.at += 1;
                            self.skip_space();
                            if self.peek() == Some(b'}') {
                                return Err(self.trailing_comma());
                            }
                            self.key()?;
                            return Ok(None);
                        }
                        Some(b'}') => {
                            self.at += 1;
                            node = self.close_map();
                        }
                        _ => return Err(self.unexpected("`,` or `}`")),
                    }
                }
                None => {
                    self.items.push(node);
                    self.skip_space();
                    match self.peek() {
                        Some(b',') => {
                            self.at += 1;
                            self.skip_space();
                            if self.peek() == Some(b']') {
                                return Err(self.trailing_comma());
                            }
                            return Ok(None);
                        }
                        Some(b']') => {
                            self.at += 1;
                            node = self.close_list();
                        }
                        _ => return Err(self.unexpected("`,` or `]`")),
                    }
                }
            }
        }
    }

    fn open(&mut self, start: usize, map: bool) -> Step<()> {
        if self.frames.len() >= MAX_DEPTH {
            self.findings
                .too_deep(Span::new(self.source, start..start + 1));
            return Err(Stop {
                start,
                end: start,
                message: String::new(),
                help: None,
                inside: None,
            });
        }
        self.at += 1;
        self.frames.push(Frame {
            start,
            first: if map {
                self.fields.len()
            } else {
                self.items.len()
            },
            key: None,
        });
        Ok(())
    }

    fn close_map(&mut self) -> NodeId {
        let Some(frame) = self.frames.pop() else {
            return self.builder.null(Span::new(self.source, self.at..self.at));
        };
        if self.refuse_duplicates {
            self.duplicates.refuse(
                &mut self.fields,
                frame.first,
                &self.builder,
                self.symbols,
                self.findings,
            );
        }
        let span = Span::new(self.source, frame.start..self.at);
        let fields = self.fields.get(frame.first..).unwrap_or(&[]);
        let node = self.builder.map(span, fields);
        self.fields.truncate(frame.first);
        node
    }

    fn close_list(&mut self) -> NodeId {
        let Some(frame) = self.frames.pop() else {
            return self.builder.null(Span::new(self.source, self.at..self.at));
        };
        let span = Span::new(self.source, frame.start..self.at);
        let items = self.items.get(frame.first..).unwrap_or(&[]);
        let node = self.builder.list(span, items);
        self.items.truncate(frame.first);
        node
    }

    /// A key and its colon.
    fn key(&mut self) -> Step<()> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let content = self.scan_string()?;
        let name = match content {
            Some(range) => self.symbols.intern(self.text.get(range).unwrap_or("")),
            None => self.symbols.intern(&self.scratch),
        };
        let span = Span::new(self.source, start..self.at);
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        if let Some(frame) = self.frames.last_mut() {
            frame.key = Some((name, span));
        }
        Ok(())
    }

    fn string(&mut self) -> Step<NodeId> {
        let start = self.at;
        let content = self.scan_string()?;
        let span = Span::new(self.source, start..self.at);
        Ok(match content {
            Some(range) => {
                let content = Span::new(self.source, range);
                self.builder.string_verbatim(span, content)
            }
            None => self.builder.string(span, &self.scratch),
        })
    }

    fn number(&mut self) -> Step<NodeId> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => {
                self.at += 1;
                if self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    return Err(Stop {
                        start,
                        end: self.at + 1,
                        message: "a number may not begin with a zero".to_owned(),
                        help: Some("remove the leading zero, or quote it to make it a string"),
                        inside: None,
                    });
                }
            }
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected("a digit")),
        }
        let (mut is_int, mut capital) = (true, false);
        if self.peek() == Some(b'.') {
            self.at += 1;
            is_int = false;
            if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.unexpected("a digit"));
            }
            self.digits();
        }
        if let Some(e @ (b'e' | b'E')) = self.peek() {
            self.at += 1;
            (is_int, capital) = (false, e == b'E');
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.unexpected("a digit"));
            }
            self.digits();
        }
        let span = Span::new(self.source, start..self.at);
        let raw = self.text.get(start..self.at).unwrap_or("0");
        if !is_int && !number::exponent_in_range(raw) {
            self.findings.number_range(span, raw);
        }
        Ok(if raw == "-0" {
            self.builder
                .number(span, number::Number { text: "0", is_int })
        } else if capital {
            let text = raw.replace('E', "e");
            self.builder.number(
                span,
                number::Number {
                    text: &text,
                    is_int,
                },
            )
        } else {
            self.builder.number_verbatim(span, is_int)
        })
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn word(
        &mut self,
        word: &'static str,
        make: impl FnOnce(&mut TreeBuilder, Span) -> NodeId,
    ) -> Step<NodeId> {
        let end = self.at + word.len();
        let more = self
            .bytes
            .get(end)
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        if self.bytes.get(self.at..end) != Some(word.as_bytes()) || more {
            return Err(self.unexpected("a value"));
        }
        let span = Span::new(self.source, self.at..end);
        self.at = end;
        Ok(make(&mut self.builder, span))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn trailing_comma(&self) -> Stop {
        Stop {
            start: self.at,
            end: self.at + 1,
            message: "a comma stands before the closing bracket".to_owned(),
            help: Some("remove the comma: JSON has no trailing commas"),
            inside: None,
        }
    }

    /// What stands here is not what must stand here.
    fn unexpected(&self, wanted: &str) -> Stop {
        let rest = self.text.get(self.at..).unwrap_or("");
        let Some(first) = rest.chars().next() else {
            let open = self.frames.last().map_or(0, |frame| frame.start);
            let what = match self.bytes.get(open) {
                _ if self.frames.is_empty() => String::new(),
                Some(b'{') => " inside a map".to_owned(),
                _ => " inside a list".to_owned(),
            };
            return Stop {
                start: self.at,
                end: self.at,
                message: format!("the file ends{what} where {wanted} is expected"),
                help: Some("the file may be cut off"),
                inside: self.frames.last().map(|frame| frame.start),
            };
        };
        let word: &str = rest
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next()
            .filter(|word| !word.is_empty())
            .unwrap_or_else(|| rest.get(..first.len_utf8()).unwrap_or(""));
        let help = match (first, word) {
            ('/' | '#', _) => Some("JSON has no comments"),
            ('\'', _) => Some("JSON strings stand in double quotes"),
            (_, "NaN" | "Infinity") => Some("JSON has no infinity and no not-a-number"),
            (_, "True" | "False" | "None") => Some("write `true`, `false` or `null`"),
            ('"' | '{' | '[' | '-' | '0'..='9', _) if wanted.starts_with("`,`") => {
                Some("add the comma that is missing before it")
            }
            ('\0', _) => Some("this is not a text file, or it is not in UTF-8"),
            _ if first.is_alphabetic() => Some("strings and keys stand in double quotes"),
            _ => None,
        };
        let shown = if first.is_control() {
            format!("U+{:04X}", u32::from(first))
        } else {
            shorten(word)
        };
        Stop {
            start: self.at,
            end: self.at + word.len().max(1),
            message: format!("expected {wanted}, found `{shown}`"),
            help,
            inside: None,
        }
    }
}
