//! Strings and bytes: simple, multiline, raw (`#"…"#`), and the pieces between interpolations.

use super::{Scanner, unicode_name};
use crate::syntax::errors::INVALID_STRING;
use crate::syntax::token::Token;

/// The quotes of a string that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    /// `"` or `'`.
    mark: u8,
    /// Three quotes: the string spans lines and ends on a line of its own.
    multiline: bool,
    hashes: usize,
    /// Where the opening quotes stand.
    start: usize,
    /// The white space that every non-empty line so far begins with, as a range of the text.
    indent: Option<(usize, usize)>,
}

impl Scanner<'_> {
    /// A string; `start` is where its hashes begin, the cursor is at the first quote.
    pub(super) fn string(&mut self, start: usize, hashes: usize) -> Token {
        let Some(mark) = self.peek() else {
            return Token::Illegal;
        };
        self.at += 1;
        let quote = Quote {
            mark,
            multiline: false,
            hashes,
            start,
            indent: None,
        };
        if !self.eat(mark) {
            return self.string_body(start, quote, false);
        }
        if !self.eat(mark) {
            // Two quotes: empty, unless hashes are missing that would close it.
            if self.eat_hashes(hashes) {
                return Token::String;
            }
            return self.string_body(start, quote, false);
        }
        // Three quotes between hashes may be one quote as content: `#"""#`.
        if hashes > 0 && self.eat_hashes(hashes) {
            return Token::String;
        }
        let opening = self.at;
        self.eat(b'\r');
        if self.eat(b'\n') {
            let quote = Quote {
                multiline: true,
                ..quote
            };
            return self.string_body(start, quote, false);
        }
        let shown = self.slice(start, opening.max(self.at));
        let message = format!("expected newline after multiline quote {shown}");
        self.errors.push(INVALID_STRING, start..self.at, message);
        Token::String
    }

    /// Takes up to `hashes` hashes; whether all were there.
    fn eat_hashes(&mut self, hashes: usize) -> bool {
        (0..hashes).all(|_| self.eat(b'#'))
    }

    /// The next piece of an interpolated string. The cursor is behind the `)`, with which the
    /// piece begins.
    pub fn resume(&mut self) -> super::Scanned {
        let start = self.at.saturating_sub(1);
        let token = match self.quotes.pop() {
            Some(quote) => self.string_body(start, quote, true),
            None => Token::String,
        };
        self.ends_line = token == Token::String;
        super::Scanned {
            token,
            start,
            end: self.at + usize::from(token == Token::Interpolation),
            elided: false,
        }
    }

    fn string_body(&mut self, start: usize, mut quote: Quote, resumed: bool) -> Token {
        // Closing quotes of a multiline string stand first on their line.
        let mut line_start = quote.multiline && !resumed;
        let mut line = self.at;
        loop {
            let at = self.at;
            let Some(byte) = self.peek() else {
                let message = "string literal not terminated".to_owned();
                self.errors.push(INVALID_STRING, start..at, message);
                return Token::String;
            };
            if byte == b'\n' && !quote.multiline {
                let message = "string literal not terminated".to_owned();
                self.errors.push(INVALID_STRING, start..at, message);
                return Token::String;
            }
            if byte == quote.mark && (!quote.multiline || line_start) && self.closing(quote) {
                if let Some((from, to)) = quote.indent {
                    self.check_indent(quote, line, at, from, to);
                }
                return Token::String;
            }
            if (1..=127).contains(&byte) {
                self.at += 1;
            } else {
                self.bump();
            }
            if byte == b'\r' && quote.multiline {
                continue;
            }
            let space = matches!(byte, b' ' | b'\t');
            if line_start && !space && (byte != b'\n' || at > line) {
                quote.indent = Some(match quote.indent {
                    None => (line, at),
                    Some((from, to)) => {
                        let common = self.common_prefix(from..to, line..at);
                        (from, from + common)
                    }
                });
            }
            if byte == b'\n' {
                line_start = true;
                line = self.at;
            } else {
                line_start = line_start && space;
            }
            if byte == b'\\' && self.escape(quote) {
                self.quotes.push(quote);
                return Token::Interpolation;
            }
        }
    }

    fn common_prefix(&self, a: std::ops::Range<usize>, b: std::ops::Range<usize>) -> usize {
        let (a, b) = (self.bytes.get(a), self.bytes.get(b));
        let pairs = a.unwrap_or(&[]).iter().zip(b.unwrap_or(&[]));
        pairs.take_while(|(x, y)| x == y).count()
    }

    /// Whether the lines begin with the white space of the closing line, `line..at`.
    fn check_indent(&mut self, quote: Quote, line: usize, at: usize, from: usize, to: usize) {
        let strip = |s: &str| s.replace('\r', "");
        let (closing, lines) = (strip(self.slice(line, at)), strip(self.slice(from, to)));
        if !lines.starts_with(&closing) {
            let message = "non-matching whitespace for multiline strings".to_owned();
            self.errors
                .push(INVALID_STRING, quote.start..self.at, message);
        }
    }

    /// Takes the closing quotes, if they are all there.
    fn closing(&mut self, quote: Quote) -> bool {
        let marks = if quote.multiline { 3 } else { 1 };
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let found = rest
            .iter()
            .take(marks)
            .filter(|&&b| b == quote.mark)
            .count()
            == marks
            && rest
                .iter()
                .skip(marks)
                .take(quote.hashes)
                .filter(|&&b| b == b'#')
                .count()
                == quote.hashes;
        if found {
            self.at += marks + quote.hashes;
        }
        found
    }

    /// Checks what follows a backslash. True if it starts an interpolation; the cursor is then
    /// at the `(`. A wrong escape is reported and left for the string to go on with.
    fn escape(&mut self, quote: Quote) -> bool {
        if !self.eat_hashes(quote.hashes) {
            return false;
        }
        let at = self.at;
        let (count, base) = match self.peek() {
            Some(b'(') => return true,
            Some(b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'\\' | b'/') => {
                self.at += 1;
                return false;
            }
            Some(byte) if byte == quote.mark => {
                self.at += 1;
                return false;
            }
            Some(b'0'..=b'7') if quote.mark == b'\'' => (3, 8),
            Some(b'0'..=b'7') => {
                let message = "octal escape not allowed in string literal";
                self.error(INVALID_STRING, at, message);
                return false;
            }
            Some(b'x') if quote.mark == b'\'' => {
                self.at += 1;
                (2, 16)
            }
            Some(b'x') => {
                let message = "hexadecimal escape not allowed in string literal";
                self.error(INVALID_STRING, at, message);
                return false;
            }
            Some(b'u') => {
                self.at += 1;
                (4, 16)
            }
            Some(b'U') => {
                self.at += 1;
                (8, 16)
            }
            other => {
                let message = match other {
                    Some(_) => "unknown escape sequence",
                    None => "escape sequence not terminated",
                };
                self.error(INVALID_STRING, at, message);
                return false;
            }
        };
        self.code_point(at, count, base);
        false
    }

    fn code_point(&mut self, at: usize, count: usize, base: u32) {
        let mut value: u32 = 0;
        for _ in 0..count {
            let Some(c) = self.peek_char() else {
                let message = "escape sequence not terminated";
                self.error(INVALID_STRING, self.at, message);
                return;
            };
            let Some(digit) = c.to_digit(base) else {
                let message = format!("illegal character {} in escape sequence", unicode_name(c));
                self.error(INVALID_STRING, self.at, message);
                return;
            };
            value = value.wrapping_mul(base).wrapping_add(digit);
            self.at += 1;
        }
        let max = if base == 8 || count == 2 {
            255
        } else {
            u32::from(char::MAX)
        };
        if value > max {
            let message = "escape sequence is invalid Unicode code point";
            self.error(INVALID_STRING, at, message);
        }
    }
}
