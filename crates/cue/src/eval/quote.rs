//! Strings and bytes written as CUE literals on one line.

use std::fmt::Write as _;

/// A double-quoted string.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        escape(&mut out, c, '"');
    }
    out.push('"');
    out
}

/// Single-quoted bytes; what is not valid UTF-8 is written as `\xNN`.
pub fn bytes(data: &[u8]) -> String {
    let mut out = String::with_capacity(data.len() + 2);
    out.push('\'');
    for chunk in data.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_ascii_control() && !matches!(c, '\u{7}'..='\u{d}') {
                let _ = write!(out, "\\x{:02x}", c as u32);
            } else {
                escape(&mut out, c, '\'');
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('\'');
    out
}

/// Appends one character of a literal delimited by `quote`.
pub fn escape(out: &mut String, c: char, quote: char) {
    match c {
        '\\' => out.push_str("\\\\"),
        c if c == quote => {
            out.push('\\');
            out.push(c);
        }
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        c if (c as u32) < 0x20 || c == '\u{7f}' => {
            let _ = write!(out, "\\u{:04x}", c as u32);
        }
        c if is_format(c) => {
            let _ = write!(out, "\\u{:04x}", c as u32);
        }
        c => out.push(c),
    }
}

/// Spaces other than the usual one and invisible characters.
fn is_format(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{a0}' | '\u{ad}' | '\u{1680}' | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}')
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes() {
        assert_eq!(super::string("a\"b\\\n\u{1}"), r#""a\"b\\\n\u0001""#);
        assert_eq!(super::bytes(b"a'\xff"), r"'a\'\xff'");
    }
}
