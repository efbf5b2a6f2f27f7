//! JSON strings: verbatim where possible, else decoded.

use std::ops::Range;

use super::{Parser, Step, Stop};

/// Whether a byte ends a run of ordinary characters: the quote, the backslash, a control character.
fn stops(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

impl Parser<'_> {
    /// Reads a string from its opening quote to behind its closing one. The range of its
    /// characters is returned where they stand as they are; else they are in `scratch`.
    pub(super) fn scan_string(&mut self) -> Step<Option<Range<usize>>> {
        let open = self.at;
        self.at += 1;
        let start = self.at;
        match self.run(open)? {
            b'"' => {
                self.at += 1;
                Ok(Some(start..self.at - 1))
            }
            _ => {
                self.decode(open, start)?;
                Ok(None)
            }
        }
    }

    /// Moves to the next quote or backslash and returns it.
    fn run(&mut self, open: usize) -> Step<u8> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let stop = rest.iter().position(|&b| stops(b));
        self.at += stop.unwrap_or(rest.len());
        match self.peek() {
            Some(byte @ (b'"' | b'\\')) => Ok(byte),
            Some(byte) => Err(Stop {
                start: self.at,
                end: self.at + 1,
                message: if byte == b'\n' || byte == b'\r' {
                    "the string does not end on its line".to_owned()
                } else {
                    format!("the control character U+{byte:04X} stands in a string")
                },
                help: Some(match byte {
                    b'\n' | b'\r' => "close the quote, or write the line break as `\\n`",
                    b'\t' => "write it as `\\t`",
                    0 => "this is not a text file, or it is not in UTF-8",
                    _ => "write it as `\\u` and four digits",
                }),
                inside: None,
            }),
            None => Err(Stop {
                start: open,
                end: open + 1,
                message: "the string that begins here does not end".to_owned(),
                help: Some("close the quote; the file may be cut off"),
                inside: None,
            }),
        }
    }

    /// Decodes a string that has escapes.
    fn decode(&mut self, open: usize, start: usize) -> Step<()> {
        self.scratch.clear();
        let mut from = start;
        loop {
            let stop = self.run(open)?;
            self.scratch
                .push_str(self.text.get(from..self.at).unwrap_or(""));
            self.at += 1;
            if stop == b'"' {
                return Ok(());
            }
            let c = self.escape()?;
            self.scratch.push(c);
            from = self.at;
        }
    }

    /// One escape, from behind its backslash.
    fn escape(&mut self) -> Step<char> {
        let at = self.at;
        let letter = self.peek();
        self.at += 1;
        let wrong = |end: usize, message: &str| Stop {
            start: at - 1,
            end,
            message: message.to_owned(),
            inside: None,
            help: Some("escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits"),
        };
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self
                    .hex()
                    .ok_or_else(|| wrong(at + 1, "`\\u` needs four hexadecimal digits"))?;
                let code = match first {
                    0xd800..0xdc00 => {
                        let low = match self.bytes.get(self.at..self.at + 2) {
                            Some(b"\\u") => {
                                self.at += 2;
                                self.hex()
                            }
                            _ => None,
                        };
                        match low {
                            Some(low @ 0xdc00..0xe000) => {
                                0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00)
                            }
                            _ => first,
                        }
                    }
                    other => other,
                };
                char::from_u32(code)
                    .ok_or_else(|| wrong(at + 5, "half a surrogate pair is no character"))?
            }
            _ => {
                let end = self
                    .text
                    .get(at..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(at, |c| at + c.len_utf8());
                return Err(wrong(end, "this escape does not exist"));
            }
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
