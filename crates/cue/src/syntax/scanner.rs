//! Text to tokens.
//!
//! Besides cutting tokens the scanner inserts the commas that newlines stand for: after a token
//! that can end a declaration, a newline, a comment or the end of the file is a comma, unless an
//! explicit `,` or a `:` follows.
//!
//! Strings with interpolation are scanned in pieces. The scanner stops before the `(` of `\(` and
//! remembers the quotes; when the parser has found the matching `)` it asks for the next piece
//! with [`Scanner::resume`].

use base::Code;

use super::errors::{Errors, ILLEGAL_CHARACTER, SYNTAX};
use super::token::Token;

mod attribute;
mod number;
mod string;

use string::Quote;

/// One token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanned {
    pub token: Token,
    pub start: usize,
    pub end: usize,
    /// A comma that a newline stands for.
    pub elided: bool,
}

pub(super) struct Scanner<'s> {
    text: &'s str,
    bytes: &'s [u8],
    /// The offset of the next byte.
    at: usize,
    /// The last token can end a line.
    ends_line: bool,
    quotes: Vec<Quote>,
    pub errors: Errors<'s>,
}

const BOM: char = '\u{feff}';

impl<'s> Scanner<'s> {
    pub fn new(text: &'s str, errors: Errors<'s>) -> Scanner<'s> {
        let at = if text.starts_with(BOM) {
            BOM.len_utf8()
        } else {
            0
        };
        Scanner {
            text,
            bytes: text.as_bytes(),
            at,
            ends_line: false,
            quotes: Vec::new(),
            errors,
        }
    }

    pub fn text(&self) -> &'s str {
        self.text
    }

    pub fn slice(&self, start: usize, end: usize) -> &'s str {
        self.text.get(start..end).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn peek_char(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn error(&mut self, code: Code, at: usize, message: impl Into<String>) {
        let end = at + self.char_len(at);
        self.errors.push(code, at..end, message.into());
    }

    fn char_len(&self, at: usize) -> usize {
        let next = self.text.get(at..).and_then(|rest| rest.chars().next());
        next.map_or(0, char::len_utf8)
    }

    /// Takes one character, whatever it is, and reports the ones no text may contain.
    fn bump(&mut self) -> Option<char> {
        let byte = self.peek()?;
        if byte.is_ascii() {
            if byte == 0 {
                self.error(ILLEGAL_CHARACTER, self.at, "illegal character NUL");
            }
            self.at += 1;
            return Some(char::from(byte));
        }
        let c = self.peek_char()?;
        if c == BOM {
            self.error(ILLEGAL_CHARACTER, self.at, "illegal byte order mark");
        }
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Skips white space, but stops at a newline that stands for a comma.
    fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => {}
                b'\n' if !self.ends_line => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    /// The next token. At the end of the text, [`Token::Eof`] for ever.
    pub fn scan(&mut self) -> Scanned {
        loop {
            self.skip_space();
            let start = self.at;
            let Some(byte) = self.peek() else {
                return self.end_of_text(start);
            };
            if byte == b'\n' {
                self.ends_line = false;
                self.skip_space();
                // JSON has commas and colons at the start of lines.
                if matches!(self.peek(), Some(b',' | b':')) {
                    continue;
                }
                return elided(start);
            }
            if byte == b'/' && self.peek_at(1) == Some(b'/') {
                if self.ends_line {
                    self.ends_line = false;
                    return elided(start);
                }
                return self.comment(start);
            }
            let token = self.token(byte, start);
            // What cannot be read does not change what came before it.
            if token != Token::Illegal {
                self.ends_line = token.ends_line();
            }
            return Scanned {
                token,
                start,
                end: self.at + usize::from(token == Token::Interpolation),
                elided: false,
            };
        }
    }

    fn end_of_text(&mut self, start: usize) -> Scanned {
        if self.ends_line {
            self.ends_line = false;
            return elided(start);
        }
        Scanned {
            token: Token::Eof,
            start,
            end: start,
            elided: false,
        }
    }

    fn comment(&mut self, start: usize) -> Scanned {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => break,
                1..=127 => self.at += 1,
                _ => {
                    self.bump();
                }
            }
        }
        Scanned {
            token: Token::Comment,
            start,
            end: self.at,
            elided: false,
        }
    }

    fn token(&mut self, byte: u8, start: usize) -> Token {
        match byte {
            b'0'..=b'9' => return self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'$' => return self.identifier(start),
            b'#' => return self.hash(start),
            b'_' => return self.underscore(start),
            b'"' | b'\'' => return self.string(start, 0),
            128.. => return self.beyond_ascii(start),
            _ => {}
        }
        self.bump();
        match byte {
            b'@' => self.attribute(),
            b':' => Token::Colon,
            b';' => Token::Semicolon,
            b'?' => Token::Option,
            b'~' => Token::Tilde,
            b'.' => match self.peek() {
                Some(b'0'..=b'9') => self.fraction(),
                Some(b'.') => {
                    self.at += 1;
                    if self.eat(b'.') {
                        Token::Ellipsis
                    } else {
                        let message = "illegal token '..'; expected '.'";
                        self.error(SYNTAX, start, message);
                        Token::Illegal
                    }
                }
                _ => Token::Period,
            },
            b',' => Token::Comma,
            b'(' => Token::LParen,
            b')' => Token::RParen,
            b'[' => Token::LBrack,
            b']' => Token::RBrack,
            b'{' => Token::LBrace,
            b'}' => Token::RBrace,
            b'+' => Token::Add,
            b'-' => Token::Sub,
            b'*' => Token::Mul,
            b'/' => Token::Quo,
            b'<' if self.eat(b'-') => Token::Arrow,
            b'<' if self.eat(b'=') => Token::Leq,
            b'<' => Token::Lss,
            b'>' if self.eat(b'=') => Token::Geq,
            b'>' => Token::Gtr,
            b'=' if self.eat(b'~') => Token::Mat,
            b'=' if self.eat(b'=') => Token::Eql,
            b'=' => Token::Bind,
            b'!' if self.eat(b'~') => Token::Nmat,
            b'!' if self.eat(b'=') => Token::Neq,
            b'!' => Token::Not,
            b'&' if self.eat(b'&') => Token::Land,
            b'&' => Token::And,
            b'|' if self.eat(b'|') => Token::Lor,
            b'|' => Token::Or,
            _ => self.illegal(start, char::from(byte)),
        }
    }

    fn illegal(&mut self, start: usize, c: char) -> Token {
        if c != BOM {
            let message = format!("illegal character {}", unicode_name(c));
            self.error(ILLEGAL_CHARACTER, start, message);
        }
        Token::Illegal
    }

    fn beyond_ascii(&mut self, start: usize) -> Token {
        let c = self.peek_char().unwrap_or(char::REPLACEMENT_CHARACTER);
        if c.is_alphabetic() {
            return self.identifier(start);
        }
        self.bump();
        self.illegal(start, c)
    }

    /// Takes the letters, digits, `_` and `$` of a name.
    fn name(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => self.at += 1,
                128.. => match self.peek_char() {
                    Some(c) if is_letter_or_digit(c) => self.at += c.len_utf8(),
                    _ => return,
                },
                _ => return,
            }
        }
    }

    fn identifier(&mut self, start: usize) -> Token {
        self.name();
        let text = self.slice(start, self.at);
        Token::keyword(text).unwrap_or(Token::Ident)
    }

    /// `#`: a definition's name, or the start of a raw string.
    fn hash(&mut self, start: usize) -> Token {
        self.at += 1;
        match self.peek() {
            Some(b'#' | b'"' | b'\'') => {
                let mut hashes = 1;
                while self.eat(b'#') {
                    hashes += 1;
                }
                if matches!(self.peek(), Some(b'"' | b'\'')) {
                    return self.string(start, hashes);
                }
                // Hashes without quotes are nothing; like the reference, say so elsewhere.
                Token::Illegal
            }
            // A digit may not follow; the number becomes a token of its own.
            Some(b'0'..=b'9') => Token::Ident,
            _ => {
                self.name();
                Token::Ident
            }
        }
    }

    /// `_`, `_|_`, `_hidden` or `_#hidden`.
    fn underscore(&mut self, start: usize) -> Token {
        self.at += 1;
        if self.peek() == Some(b'|') && self.peek_at(1) == Some(b'_') {
            self.at += 2;
            return Token::Bottom;
        }
        if self.peek() == Some(b'#') {
            self.at += 1;
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                self.name();
            }
            return Token::Ident;
        }
        self.name();
        if self.slice(start, self.at) == "__" && self.eat(b'#') {
            self.name();
            let message = format!("illegal token \"{}\"", self.slice(start, self.at));
            self.error(SYNTAX, start, message);
            return Token::Illegal;
        }
        Token::Ident
    }
}

fn elided(at: usize) -> Scanned {
    Scanned {
        token: Token::Comma,
        start: at,
        end: at,
        elided: true,
    }
}

/// What names are made of, beside `_`, `$` and the digits of ASCII.
pub(super) fn is_letter_or_digit(c: char) -> bool {
    c.is_alphabetic() || (c.is_numeric() && c.to_digit(36).is_none() && is_decimal(c))
}

/// Decimal digits of other scripts: the ones whose class is "Nd".
fn is_decimal(c: char) -> bool {
    // Numerals that are not decimal digits (fractions, Roman numerals, circled numbers) lie in
    // these blocks; everything else numeric beyond ASCII counts.
    !matches!(c, '\u{b2}'..='\u{be}' | '\u{2070}'..='\u{218b}' | '\u{2460}'..='\u{24ff}'
        | '\u{2776}'..='\u{2793}' | '\u{3007}'..='\u{33ff}')
}

/// `U+0041 'A'`, without the character when it cannot be shown.
pub(super) fn unicode_name(c: char) -> String {
    let code = u32::from(c);
    if c.is_control() {
        format!("U+{code:04X}")
    } else {
        format!("U+{code:04X} '{c}'")
    }
}
