//! Tokens and wishes about white space to text.
//!
//! A wish stays pending until the next token is printed. Before a token that has a place in the
//! source, its [`Gap`] there is added to the wishes, so that line breaks of the source survive,
//! unless the wish is firm.

use super::cells::{Cells, Indent};
use super::space::Space;
use crate::syntax::ast::Gap;

/// What was printed last, as far as it decides whether a blank must follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Start,
    Integer,
    /// `}` or `]`
    Closing,
    Operator(char),
    /// `<`, `>` or `!` alone, which an equals sign would change.
    Sign(char),
    Other,
}

pub(super) struct Stream {
    cells: Cells,
    pending: Space,
    levels: Vec<Space>,
    pub indent: usize,
    pub last: Last,
    space_before: bool,
    /// A comment is the last thing printed: a line break must follow.
    after_comment: bool,
    /// How many lines have been begun.
    pub line: usize,
    /// Whether anything stands on the current line, indentation included.
    pub in_line: bool,
    pub brace_on_line: bool,
}

impl Stream {
    pub fn new(indent: Indent) -> Stream {
        Stream {
            cells: Cells::new(indent),
            // White space at the start is dropped.
            pending: Space::FIRM,
            levels: Vec::new(),
            indent: 0,
            last: Last::Start,
            space_before: false,
            after_comment: false,
            line: 0,
            in_line: false,
            brace_on_line: false,
        }
    }

    /// Whether a line break behind what was printed last would end a declaration.
    pub fn ends_line(&self) -> bool {
        match self.last {
            Last::Start | Last::Sign(_) => false,
            Last::Operator(c) => matches!(c, ')' | '?' | '_' | 'a'..='z'),
            Last::Integer | Last::Closing | Last::Other => true,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    pub fn finish(mut self) -> String {
        self.pending = Space::NEWLINE;
        self.write_pending();
        self.cells.finish()
    }

    /// The text without the line break at its end.
    pub fn finish_bare(self) -> String {
        self.cells.finish()
    }

    pub fn wish(&mut self, space: Space) {
        self.pending |= space;
    }

    pub fn unwish(&mut self, space: Space) {
        self.pending = self.pending.without(space);
    }

    /// The white space that the source has before the next token.
    pub fn gap(&mut self, gap: Gap) {
        if gap == Gap::Unknown || self.pending.has(Space::FIRM) {
            return;
        }
        let mut space = self.pending;
        match gap {
            Gap::Unknown => {}
            Gap::None => space = space.without(Space::ANY_LINE),
            Gap::Blank => space = (space | Space::BLANK).without(Space::ANY_LINE),
            Gap::Newline => space |= Space::NEWLINE,
            Gap::Section => space |= Space::SECTION,
        }
        if self.after_comment {
            space |= Space::NEWLINE;
        }
        self.write_space(space);
        self.pending = Space::NOTHING;
    }

    fn write_pending(&mut self) {
        self.write_space(self.pending);
        self.pending = Space::NOTHING;
        self.after_comment = false;
    }

    /// Writes what is pending now, without a token.
    pub fn settle(&mut self) {
        self.write_pending();
    }

    /// An operator or a keyword.
    pub fn token(&mut self, text: &str) {
        let first = text.chars().next().unwrap_or(' ');
        let word = first.is_ascii_lowercase();
        let glued = match self.last {
            Last::Start => false,
            _ if word => true,
            Last::Integer => text == ".",
            Last::Operator('/') => first == '*',
            Last::Operator(before @ ('+' | '-')) => before == first,
            // `< =~"x"` is no `<=`, and `< -1` no arrow.
            Last::Sign('<') => matches!(first, '=' | '-'),
            Last::Sign(_) => first == '=',
            _ => false,
        };
        if glued && !self.space_before {
            self.pending |= Space::BLANK;
        }
        self.last = match first {
            '}' | ']' => Last::Closing,
            '<' | '>' | '!' if text.len() == 1 => Last::Sign(first),
            '.' if text == "..." => Last::Other,
            _ => Last::Operator(first),
        };
        self.write_pending();
        self.put(text);
        if word {
            self.pending = Space::BLANK;
        }
    }

    /// A name, a literal or an attribute.
    pub fn literal(&mut self, text: &str, last: Last) {
        self.last = last;
        self.write_pending();
        self.put(text);
    }

    pub fn comment(&mut self, text: &str) {
        self.literal(text, Last::Other);
        self.after_comment = true;
    }

    fn put(&mut self, text: &str) {
        if !text.is_empty() {
            self.space_before = false;
            self.in_line = true;
            self.cells.text(text);
        }
    }

    fn write_space(&mut self, space: Space) {
        if space.has(Space::COMMA) && (space.has(Space::ANY_LINE) || !space.has(Space::LAST_COMMA))
        {
            self.cells.text(",");
            self.in_line = true;
        }
        if space.has(Space::INDENT) {
            self.levels.push(space);
        }
        if space.has(Space::UNINDENT) {
            self.end_level();
        }
        if space.has(Space::SECTION) {
            self.begin_level(space);
            self.break_line(2, true);
        } else if space.has(Space::BREAK) {
            self.begin_level(space);
            self.break_line(1, true);
        } else if space.has(Space::NEWLINE) {
            self.begin_level(space);
            self.break_line(1, false);
        } else if space.has(Space::SEPARATOR) {
            self.cells.text(", ");
            self.space_before = true;
            self.in_line = true;
        } else if space.has(Space::TIGHT) {
        } else if space.has(Space::TAB) {
            self.cells.tab(false);
            self.space_before = true;
            self.in_line = true;
        } else if space.has(Space::BLANK) {
            self.cells.text(" ");
            self.space_before = true;
            self.in_line = true;
        }
    }

    fn break_line(&mut self, lines: usize, flush: bool) {
        for _ in 0..lines {
            self.cells.newline(flush);
        }
        for _ in 0..self.indent {
            self.cells.tab(true);
        }
        self.in_line = self.indent > 0;
        self.brace_on_line = false;
        self.line += lines;
        self.space_before = true;
    }

    /// A level takes effect with the first line break after it was opened.
    fn begin_level(&mut self, space: Space) {
        if space.has(Space::UNINDENT) {
            return;
        }
        if let Some(level) = self.levels.last_mut()
            && !level.has(Space::INDENTED)
            && level.has(Space::INDENT)
        {
            *level |= Space::INDENTED;
            self.indent += 1;
        }
    }

    /// Ends the last level, without waiting for the next token.
    pub fn end_level(&mut self) {
        if let Some(level) = self.levels.pop()
            && level.has(Space::INDENTED)
        {
            self.indent = self.indent.saturating_sub(1);
        }
    }
}
