//! Quoted strings and bytes: what they say.
//!
//! A multiline string begins with a newline after its quotes and ends on a line of its own; the
//! white space before the closing quotes is taken from every line, and the newline before them is
//! not part of the string. With hashes, `#"…"#`, an escape is `\#` and needs as many.

use std::fmt;

/// Why a literal has no value. The texts are those of the reference implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invalid {
    Syntax,
    MissingOpeningNewline,
    MissingClosingNewline,
    UnmatchedQuote,
    UnmatchedSurrogate,
    Indentation { expected: String, found: String },
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Syntax => f.write_str("invalid syntax"),
            Invalid::MissingOpeningNewline => f.write_str(
                "invalid string: opening quote of multiline string must be followed by newline",
            ),
            Invalid::MissingClosingNewline => f.write_str(
                "invalid string: closing quote of multiline string must follow a newline",
            ),
            Invalid::UnmatchedQuote => f.write_str("invalid string: unmatched quote"),
            Invalid::UnmatchedSurrogate => f.write_str("invalid string: unmatched surrogate pair"),
            Invalid::Indentation { expected, found } => write!(
                f,
                "invalid string: non-matching whitespace for multiline string \
                 (expected {expected:?}, got {found:?})"
            ),
        }
    }
}

/// The kind of quotes a literal, or all pieces of an interpolation, stand in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotes {
    /// `"` for strings, `'` for bytes.
    pub mark: char,
    pub hashes: usize,
    pub multiline: bool,
    /// The white space before the closing quotes of a multiline string.
    pub indent: String,
}

impl Quotes {
    /// Reads the quotes of a literal from its first and its last piece, which are the same text
    /// unless the literal is an interpolation. Also returns where the content of the first piece
    /// begins.
    pub fn parse(first: &str, last: &str) -> Result<(Quotes, usize), Invalid> {
        let hashes = first.bytes().take_while(|&b| b == b'#').count();
        let rest = first.get(hashes..).ok_or(Invalid::Syntax)?;
        let mark = match rest.chars().next() {
            Some(mark @ ('"' | '\'')) => mark,
            _ => return Err(Invalid::Syntax),
        };
        let three: String = std::iter::repeat_n(mark, 3).collect();
        let mut quotes = Quotes {
            mark,
            hashes,
            multiline: false,
            indent: String::new(),
        };
        let mut start = hashes + 1;
        if let Some(after) = rest.strip_prefix(three.as_str())
            && !after.is_empty()
            && !after.starts_with('#')
        {
            quotes.multiline = true;
            start = hashes + 3;
            start += match after {
                _ if after.starts_with('\n') => 1,
                _ if after.starts_with("\r\n") => 2,
                _ => return Err(Invalid::MissingOpeningNewline),
            };
        }
        let closing = quotes.closing();
        let body = last
            .strip_suffix(closing.as_str())
            .ok_or(Invalid::UnmatchedQuote)?;
        // The quotes of one piece must not be counted twice.
        if std::ptr::eq(first, last) && first.len() < start + closing.len() {
            return Err(Invalid::UnmatchedQuote);
        }
        if quotes.multiline {
            let line = body.trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
            if !line.ends_with('\n') {
                return Err(Invalid::MissingClosingNewline);
            }
            quotes.indent = body.get(line.len()..).unwrap_or("").to_owned();
            let content = first.get(start..).unwrap_or("");
            if !content.starts_with('\n') && !content.starts_with("\r\n") && !content.is_empty() {
                if !content.starts_with(&quotes.indent) {
                    return Err(quotes.wrong_indent(content));
                }
                start += quotes.indent.len();
            }
        }
        Ok((quotes, start))
    }

    fn closing(&self) -> String {
        let marks = if self.multiline { 3 } else { 1 };
        let mut text: String = std::iter::repeat_n(self.mark, marks).collect();
        text.extend(std::iter::repeat_n('#', self.hashes));
        text
    }

    fn wrong_indent(&self, line: &str) -> Invalid {
        let line = line.split('\n').next().unwrap_or("");
        let space = line.len() - line.trim_start_matches([' ', '\t']).len();
        Invalid::Indentation {
            expected: self.indent.clone(),
            found: line.get(..space).unwrap_or("").to_owned(),
        }
    }

    /// Decodes a piece without its opening quotes or parenthesis. The piece ends with the
    /// closing quotes, or with `\(`.
    pub fn decode(&self, piece: &str) -> Result<Vec<u8>, Invalid> {
        let closing = self.closing();
        let mut out = Vec::with_capacity(piece.len());
        let mut rest = piece;
        // Whether what was written last is a newline of the text itself.
        let mut fresh_line = false;
        loop {
            let Some(c) = rest.chars().next() else {
                return Err(Invalid::UnmatchedQuote);
            };
            let after = rest.get(c.len_utf8()..).unwrap_or("");
            match c {
                '\r' => {
                    rest = after;
                    continue;
                }
                '\n' => {
                    if !self.multiline {
                        return Err(Invalid::Syntax);
                    }
                    rest = self.skip_indent(after)?;
                    out.push(b'\n');
                    fresh_line = true;
                    continue;
                }
                '\0' => return Err(Invalid::Syntax),
                _ if c == self.mark && rest == closing => {
                    if fresh_line {
                        out.pop();
                    }
                    return Ok(out);
                }
                _ if c == self.mark && !self.multiline && rest.starts_with(&closing) => {
                    return Err(Invalid::Syntax);
                }
                '\\' => match self.escape(after)? {
                    Escape::None => {
                        out.push(b'\\');
                        rest = after;
                    }
                    Escape::Expr => return Ok(out),
                    Escape::Byte(byte, tail) => {
                        out.push(byte);
                        rest = tail;
                    }
                    Escape::Code(code, tail) => {
                        let (c, tail) = self.surrogates(code, tail)?;
                        let mut buffer = [0; 4];
                        out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                        rest = tail;
                    }
                },
                _ => {
                    let mut buffer = [0; 4];
                    out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                    rest = after;
                }
            }
            fresh_line = false;
        }
    }

    fn skip_indent<'a>(&self, line: &'a str) -> Result<&'a str, Invalid> {
        match line.strip_prefix(self.indent.as_str()) {
            Some(rest) => Ok(rest),
            None if line.starts_with('\n') || line.starts_with("\r\n") => Ok(line),
            None => Err(self.wrong_indent(line)),
        }
    }

    /// What stands behind a backslash.
    fn escape<'a>(&self, after: &'a str) -> Result<Escape<'a>, Invalid> {
        let hashes = after.bytes().take_while(|&b| b == b'#').count();
        if hashes < self.hashes {
            return Ok(Escape::None);
        }
        let rest = after.get(self.hashes..).unwrap_or("");
        let Some(c) = rest.chars().next() else {
            return Ok(Escape::None);
        };
        let tail = rest.get(c.len_utf8()..).unwrap_or("");
        let byte = match c {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '/' => b'/',
            '\\' => b'\\',
            '\'' | '"' if c == self.mark => c as u8,
            '(' if tail.is_empty() => return Ok(Escape::Expr),
            'x' if self.mark == '\'' => {
                let (code, tail) = number(tail, 2, 16)?;
                return Ok(Escape::Byte(code as u8, tail));
            }
            '0'..='7' if self.mark == '\'' => {
                let (code, tail) = number(rest, 3, 8)?;
                let byte = u8::try_from(code).map_err(|_| Invalid::Syntax)?;
                return Ok(Escape::Byte(byte, tail));
            }
            'u' | 'U' => {
                let (code, tail) = number(tail, if c == 'u' { 4 } else { 8 }, 16)?;
                return Ok(Escape::Code(code, tail));
            }
            _ => return Err(Invalid::Syntax),
        };
        Ok(Escape::Byte(byte, tail))
    }

    /// A code point, perhaps of two escaped surrogates.
    fn surrogates<'a>(&self, code: u32, tail: &'a str) -> Result<(char, &'a str), Invalid> {
        if !(0xD800..0xE000).contains(&code) {
            return char::from_u32(code)
                .map(|c| (c, tail))
                .ok_or(Invalid::Syntax);
        }
        if code >= 0xDC00 {
            return Err(Invalid::UnmatchedSurrogate);
        }
        let second = tail.strip_prefix('\\').map(|after| self.escape(after));
        match second {
            Some(Ok(Escape::Code(low, tail))) if (0xDC00..0xE000).contains(&low) => {
                let code = 0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00);
                char::from_u32(code)
                    .map(|c| (c, tail))
                    .ok_or(Invalid::UnmatchedSurrogate)
            }
            _ => Err(Invalid::UnmatchedSurrogate),
        }
    }
}

enum Escape<'a> {
    /// Not an escape: hashes are missing.
    None,
    /// `\(`
    Expr,
    Byte(u8, &'a str),
    Code(u32, &'a str),
}

fn number(text: &str, digits: usize, base: u32) -> Result<(u32, &str), Invalid> {
    let (number, tail) = text.split_at_checked(digits).ok_or(Invalid::Syntax)?;
    if !number.chars().all(|c| c.is_digit(base)) {
        return Err(Invalid::Syntax);
    }
    let code = u32::from_str_radix(number, base).map_err(|_| Invalid::Syntax)?;
    Ok((code, tail))
}

/// Decodes a whole literal of strings or bytes without interpolation.
pub fn unquote(text: &str) -> Result<(Quotes, Vec<u8>), Invalid> {
    let (quotes, start) = Quotes::parse(text, text)?;
    // The usual case: nothing to decode. A carriage return on a line is content.
    if !quotes.multiline
        && quotes.hashes == 0
        && let Some(body) = text.get(1..text.len() - 1)
        && !body.contains([quotes.mark, '\\', '\n', '\0'])
    {
        return Ok((quotes, body.as_bytes().to_vec()));
    }
    let value = quotes.decode(text.get(start..).unwrap_or(""))?;
    Ok((quotes, value))
}

/// The text of a literal in which there is nothing to decode: the usual case.
pub fn plain_string(text: &str) -> Option<&str> {
    let body = text.strip_prefix('"')?.strip_suffix('"')?;
    let odd = |b: u8| matches!(b, b'"' | b'\\' | b'\n' | b'\0');
    (!body.bytes().any(odd)).then_some(body)
}

/// Decodes a whole literal that must be text.
pub fn unquote_string(text: &str) -> Result<String, Invalid> {
    if let Some(body) = plain_string(text) {
        return Ok(body.to_owned());
    }
    let (_, value) = unquote(text)?;
    String::from_utf8(value).map_err(|_| Invalid::Syntax)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_say_what_they_mean() {
        for (text, want) in [
            (r#""""#, ""),
            (r#""a\tb\"c\u00e9\/""#, "a\tb\"cé/"),
            (r##"#"a\tb"c\#n"#"##, "a\\tb\"c\n"),
            (r###"#""a""#"###, "\"a\""),
            (r#""\uD834\uDD1E""#, "\u{1d11e}"),
            ("\"\"\"\n\ta\n\n\t  b\n\t\"\"\"", "a\n\n  b"),
            ("\"\"\"\n\t\"\"\"", ""),
            ("\"\"\"\r\n\ta\r\n\tb\r\n\t\"\"\"", "a\nb"),
            (r"'\x41\101'", "AA"),
        ] {
            assert_eq!(unquote_string(text).as_deref(), Ok(want), "{text}");
        }
        assert_eq!(unquote(r"'\xff\377'").map(|(_, v)| v), Ok(vec![255, 255]));
    }

    #[test]
    fn wrong_literals_are_told_apart() {
        for (text, want) in [
            (r#""\uDD1E\uD834""#, Invalid::UnmatchedSurrogate),
            (r#""\uD834x""#, Invalid::UnmatchedSurrogate),
            (r#""\x41""#, Invalid::Syntax),
            (r#""a"#, Invalid::UnmatchedQuote),
            (r#"""#, Invalid::UnmatchedQuote),
            ("", Invalid::Syntax),
            ("\"\"\"a\n\"\"\"", Invalid::MissingOpeningNewline),
            ("\"\"\"\na\"\"\"", Invalid::MissingClosingNewline),
        ] {
            assert_eq!(unquote_string(text), Err(want), "{text}");
        }
    }
}
