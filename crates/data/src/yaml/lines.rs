//! The YAML that most files are written in, read in one pass over its lines.
//!
//! That is: block maps and lists, indented with spaces, of scalars that end on their line (plain, or in
//! quotes without rare escapes), literal blocks (`|`, `|-`), flow lists and maps that end on their line,
//! comments, and documents between `---`. Whatever else there is, and whatever is wrong, makes this
//! reader give up: [`read`] returns `None`, and the full parser reads the text from its beginning.
//! So it need not know all of YAML, only be sure of what it takes; the tests in
//! `tests.rs` hold the two readers against each other.

mod scalars;

use base::Span;
use granit_parser::{ScalarStyle, StructureStyle};

use super::{Key, Loader, Places};
use crate::MAX_DEPTH;
use crate::tree::Tree;

/// Well below the limit, so that the full parser is the one that finds what is too deep.
const DEPTH: usize = MAX_DEPTH / 2;

/// YAML bounds the length of a key that is not marked as one.
const LONGEST_KEY: usize = 512;

/// Reads all documents, or gives up.
pub(super) fn read(loader: &mut Loader<'_>) -> Option<Vec<Tree>> {
    if !is_ordinary(loader.text) {
        return None;
    }
    let mut lines = Lines {
        text: loader.text,
        at: 0,
        line: 0,
        open: Vec::new(),
        decoded: String::new(),
        loader,
    };
    let mut documents = Vec::new();
    while let Some(indent) = lines.next_line() {
        if indent == 0 && lines.is_marker() {
            lines.at += "---".len();
            lines.end_of_line()?;
            // An empty document is left to the full parser, but for the one before the first marker.
            if lines.is_begun() {
                documents.push(lines.end_document()?);
            } else if !documents.is_empty() {
                return None;
            }
            match lines.next_line() {
                Some(indent) if indent > 0 || !lines.is_marker() => lines.entry(indent)?,
                _ => return None,
            }
        } else {
            lines.entry(indent)?;
        }
    }
    documents.push(lines.end_document()?);
    Some(documents)
}

/// Whether a text has no control characters (a tab is one) and nothing that looks like a line break
/// to some and not to others.
fn is_ordinary(text: &str) -> bool {
    let control = |byte: u8| (byte < b' ') & (byte != b'\n') | (byte == 0x7f);
    let controls = text.bytes().fold(false, |any, byte| any | control(byte));
    let odd = |c: char| matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}'..='\u{ffff}');
    !controls && (text.is_ascii() || !text.contains(odd))
}

/// A block map or list that is still open.
#[derive(Clone, Copy)]
struct Open {
    indent: usize,
    is_list: bool,
    /// The place of the value that has not come yet: null, if none comes.
    waiting: Option<usize>,
}

/// A scalar or a key as it stands in the text.
struct Scalar {
    start: usize,
    end: usize,
    style: ScalarStyle,
    /// It had escapes, and is in `decoded`.
    is_decoded: bool,
}

struct Lines<'l, 'a> {
    text: &'a str,
    at: usize,
    /// Where the line begins.
    line: usize,
    open: Vec<Open>,
    /// The last scalar that had escapes.
    decoded: String,
    loader: &'l mut Loader<'a>,
}

impl Lines<'_, '_> {
    fn peek(&self) -> Option<u8> {
        self.byte(self.at)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.at..).unwrap_or(&[])
    }

    /// Whether a line ends or a space stands there.
    fn is_blank(&self, at: usize) -> bool {
        matches!(self.byte(at), None | Some(b' ' | b'\n'))
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        self.at += self.rest().iter().take_while(|&&b| b != b'\n').count();
    }

    /// Goes to the first character of the next line that says something, and returns its column.
    fn next_line(&mut self) -> Option<usize> {
        loop {
            self.line = self.at;
            self.skip_spaces();
            match self.peek()? {
                b'\n' => self.at += 1,
                b'#' => {
                    self.skip_line();
                    self.at += 1;
                }
                _ => return Some(self.at - self.line),
            }
        }
    }

    /// Goes to the next line, if nothing but a comment stands between.
    fn end_of_line(&mut self) -> Option<()> {
        let before = self.at;
        self.skip_spaces();
        match self.peek() {
            None => {}
            Some(b'\n') => self.at += 1,
            Some(b'#') if self.at > before => {
                self.skip_line();
                self.at += 1;
            }
            Some(_) => return None,
        }
        Some(())
    }

    /// Whether a marker of documents, or what might be one, begins a line here.
    fn is_marker(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or("");
        rest.starts_with("---") || rest.starts_with("...")
    }

    fn is_dash(&self) -> bool {
        self.peek() == Some(b'-') && self.is_blank(self.at + 1)
    }

    fn is_begun(&self) -> bool {
        !self.open.is_empty()
    }

    fn end_document(&mut self) -> Option<Tree> {
        if !self.is_begun() {
            return None;
        }
        while self.is_begun() {
            self.close()?;
        }
        Some(self.loader.document(self.span(self.at, self.at)))
    }

    /// A line of a block map or list that begins at this column.
    fn entry(&mut self, indent: usize) -> Option<()> {
        if indent == 0 && self.is_marker() {
            return None;
        }
        while self.open.last().is_some_and(|open| open.indent > indent) {
            self.close()?;
        }
        let is_dash = self.is_dash();
        if let Some(top) = self.open.last()
            && (top.indent, top.is_list, is_dash) == (indent, true, false)
        {
            // Behind a list that stands at the column of its key.
            self.close()?;
        }
        match self.open.last() {
            None if self.loader.root.is_some() => return None,
            None => self.start(indent, is_dash, self.at)?,
            Some(top) if top.indent == indent && top.is_list == is_dash => self.fill()?,
            Some(top) if top.waiting.is_none() => return None,
            Some(top) if top.indent < indent => self.start(indent, is_dash, self.at)?,
            Some(top) if is_dash && !top.is_list => {
                // The full parser lets a list at the column of its key begin behind the first dash.
                self.start(indent, true, self.behind_dash())?;
            }
            Some(_) => return None,
        }
        self.rest_of_entry()
    }

    /// Reads from the dash or key of an open list or map to the end of the line.
    fn rest_of_entry(&mut self) -> Option<()> {
        while self.is_dash() {
            self.open.last_mut()?.waiting = Some(self.behind_dash());
            self.at += 1;
            if !self.says_more() {
                return self.end_of_line();
            }
            self.skip_spaces();
            if self.is_dash() {
                self.start(self.at - self.line, true, self.at)?;
                continue;
            }
            let indent = self.at - self.line;
            if matches!(self.peek(), Some(b'[' | b'{' | b'|')) {
                return self.value();
            }
            let scalar = self.scalar(false)?;
            if !self.is_colon() {
                self.open.last_mut()?.waiting = None;
                self.put(&scalar);
                return self.end_of_line();
            }
            self.start(indent, false, scalar.start)?;
            return self.rest_of_field(&scalar);
        }
        let scalar = self.scalar(false)?;
        if !self.is_colon() {
            return None;
        }
        self.rest_of_field(&scalar)
    }

    /// The place behind a dash, the spaces and the comment there.
    fn behind_dash(&self) -> usize {
        let mut at = self.at + 1;
        while self.byte(at) == Some(b' ') {
            at += 1;
        }
        if self.byte(at) == Some(b'#') {
            let comment = self.text.as_bytes().get(at..).unwrap_or(&[]);
            at += comment.iter().take_while(|&&b| b != b'\n').count();
        }
        at
    }

    /// Whether something but a comment stands on the rest of the line.
    fn says_more(&self) -> bool {
        let mut rest = self.rest().iter().skip_while(|&&b| b == b' ');
        !matches!(rest.next(), None | Some(b'\n' | b'#'))
    }

    fn is_colon(&self) -> bool {
        self.peek() == Some(b':') && self.is_blank(self.at + 1)
    }

    /// A key was read: what stands behind its colon.
    fn rest_of_field(&mut self, key: &Scalar) -> Option<()> {
        if key.end - key.start > LONGEST_KEY {
            return None;
        }
        self.put(key);
        self.open.last_mut()?.waiting = Some(self.at);
        self.at += 1;
        if !self.says_more() {
            return self.end_of_line();
        }
        self.skip_spaces();
        self.value()
    }

    /// A value that begins on the line of its key or dash.
    fn value(&mut self) -> Option<()> {
        match self.peek()? {
            b'[' | b'{' => {
                self.open.last_mut()?.waiting = None;
                self.flow(0)?;
                self.end_of_line()
            }
            b'|' => self.literal(),
            _ => {
                let scalar = self.scalar(false)?;
                self.open.last_mut()?.waiting = None;
                self.put(&scalar);
                self.end_of_line()
            }
        }
    }

    /// Opens a block list or map.
    fn start(&mut self, indent: usize, is_list: bool, at: usize) -> Option<()> {
        if self.open.len() >= DEPTH {
            return None;
        }
        if let Some(above) = self.open.last_mut() {
            above.waiting = None;
        }
        self.open.push(Open {
            indent,
            is_list,
            waiting: None,
        });
        self.begin(StructureStyle::Block, is_list, at)
    }

    fn begin(&mut self, style: StructureStyle, is_list: bool, at: usize) -> Option<()> {
        let places = self.places(at, at);
        let key = (!is_list).then_some(Key::Wanted);
        self.loader.open(style, 0, None, places, key).ok()
    }

    /// Closes the innermost block list or map.
    fn close(&mut self) -> Option<()> {
        self.fill()?;
        self.open.pop()?;
        self.loader.close(self.span(self.at, self.at));
        Some(())
    }

    /// A key or dash without a value has the value null.
    fn fill(&mut self) -> Option<()> {
        if let Some(at) = self.open.last_mut()?.waiting.take() {
            let places = self.places(at, at);
            self.loader.scalar("~", ScalarStyle::Plain, 0, None, places);
        }
        Some(())
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.loader.source, start..end)
    }

    fn places(&self, start: usize, end: usize) -> Places {
        Places {
            node: self.span(start, end),
            tag: None,
        }
    }

    fn put(&mut self, scalar: &Scalar) {
        let places = self.places(scalar.start, scalar.end);
        let value = match scalar.style {
            _ if scalar.is_decoded => self.decoded.as_str(),
            ScalarStyle::Plain => self.text.get(scalar.start..scalar.end).unwrap_or(""),
            _ => {
                let inner = scalar.start + 1..scalar.end - 1;
                self.text.get(inner).unwrap_or("")
            }
        };
        self.loader.scalar(value, scalar.style, 0, None, places);
    }
}
