//! Values to literals: quoting strings, bytes and labels.

use std::fmt::Write;

use crate::syntax::scanner::is_letter_or_digit;

/// Whether a text is an identifier, `_` included. Keywords are; they can be labels.
pub fn is_identifier(text: &str) -> bool {
    let after = text.strip_prefix('_');
    let rest = after.unwrap_or(text);
    if rest.is_empty() {
        return after.is_some();
    }
    let hash = rest.strip_prefix('#');
    let digit_first = after.is_some() && hash.is_none();
    let rest = hash.unwrap_or(rest);
    if !digit_first && rest.starts_with(|c: char| c.is_numeric()) {
        return false;
    }
    rest.chars()
        .all(|c| matches!(c, '_' | '$' | '0'..='9') || is_letter_or_digit(c))
}

/// Whether a regular field of this name must be written in quotes.
pub fn label_needs_quotes(name: &str) -> bool {
    name.starts_with(['#', '_']) || !is_identifier(name)
}

/// A label as a quoted string.
pub fn quote_label(name: &str) -> String {
    quote_string(name)
}

/// A string on one line.
pub fn quote_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        escape(&mut out, c, Some('"'), "\\", false);
    }
    out.push('"');
    out
}

/// A string on several lines, each indented by `tabs`, closing quotes as well. Where the text
/// contains three quotes, hashes around the literal keep them apart.
pub fn quote_lines(text: &str, tabs: usize) -> String {
    quote_lines_in(text, tabs, "\"\"\"")
}

/// Like [`quote_lines`], for bytes that are text.
pub fn quote_bytes_lines(text: &str, tabs: usize) -> String {
    quote_lines_in(text, tabs, "'''")
}

fn quote_lines_in(text: &str, tabs: usize, quotes: &str) -> String {
    let indent = "\t".repeat(tabs);
    let hashes = "#".repeat(hashes_needed(text, quotes));
    let escaped = format!("\\{hashes}");
    let bytes = quotes.starts_with('\'');
    let mut out = format!("{hashes}{quotes}\n");
    for line in text.split('\n') {
        if !line.is_empty() {
            out.push_str(&indent);
        }
        for c in line.chars() {
            escape(&mut out, c, None, &escaped, bytes);
        }
        out.push('\n');
    }
    if text.is_empty() {
        out.pop();
    }
    out.push_str(&indent);
    out.push_str(quotes);
    out.push_str(&hashes);
    out
}

/// More hashes than follow any three quotes of the text; none if there are no three.
fn hashes_needed(text: &str, quotes: &str) -> usize {
    let mark = quotes.chars().next().unwrap_or('"');
    let mut needed = 0;
    let mut rest = text;
    while let Some(at) = rest.find(quotes) {
        let after = rest.get(at..).unwrap_or("").trim_start_matches(mark);
        let hashes = after.bytes().take_while(|&b| b == b'#').count();
        needed = needed.max(hashes + 1);
        rest = after;
    }
    needed
}

/// Bytes on one line. What is no text is escaped byte by byte.
pub fn quote_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('\'');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            escape(&mut out, c, Some('\''), "\\", true);
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}").expect("a string takes everything");
        }
    }
    out.push('\'');
    out
}

fn escape(out: &mut String, c: char, quote: Option<char>, mark: &str, bytes: bool) {
    if Some(c) == quote || c == '\\' {
        out.push_str(mark);
        out.push(c);
        return;
    }
    if is_printable(c) {
        out.push(c);
        return;
    }
    out.push_str(mark);
    let code = u32::from(c);
    let letter = match c {
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{b}' => 'v',
        _ => {
            let written = if bytes && code < 0x20 {
                write!(out, "x{code:02x}")
            } else if code < 0x10000 {
                write!(out, "u{code:04x}")
            } else {
                write!(out, "U{code:08x}")
            };
            return written.expect("a string takes everything");
        }
    };
    out.push(letter);
}

/// Letters, marks, numbers, punctuation, symbols and the blank.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    // Behind another character, the standard library escapes exactly what is not printable.
    let mut buffer = [b'a'; 5];
    let len = match buffer.get_mut(1..) {
        Some(rest) => c.encode_utf8(rest).len() + 1,
        None => 1,
    };
    let text = buffer
        .get(..len)
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.is_some_and(|text| text.escape_debug().count() == 2)
}

/// A multiline literal with its lines indented by `tabs`; any other literal as it is.
pub fn reindent(literal: &str, tabs: usize) -> String {
    let Ok((quotes, _)) = super::Quotes::parse(literal, literal) else {
        return literal.to_owned();
    };
    let indent = "\t".repeat(tabs);
    if !quotes.multiline || quotes.indent == indent {
        return literal.to_owned();
    }
    literal.replace(&format!("\n{}", quotes.indent), &format!("\n{indent}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::literal::{unquote, unquote_string};

    #[test]
    fn quoting_and_unquoting_are_inverse() {
        for text in [
            "",
            "a",
            "a\"b\\c",
            "\n\t\r\u{7}\u{1}",
            "é\u{301}\u{a0}\u{2028}\u{1f600}",
            "#\"\"\"#",
            "\"\"\"##",
            "a\n\nb\n",
            "\\(x)",
            "\u{fffd}\u{10ffff}",
        ] {
            assert_eq!(unquote_string(&quote_string(text)).as_deref(), Ok(text));
            for tabs in [0, 1, 2] {
                let lines = quote_lines(text, tabs);
                assert_eq!(unquote_string(&lines).as_deref(), Ok(text), "{lines}");
            }
        }
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(unquote(&quote_bytes(&bytes)).map(|(_, v)| v), Ok(bytes));
    }

    #[test]
    fn names() {
        for name in ["a", "_", "_a", "#a", "_#a", "$", "_0", "if", "é"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "0", "#0", "_#0", "a-b", "a b", "1x"] {
            assert!(!is_identifier(name), "{name}");
        }
        for name in ["_a", "#a", "", "a.b"] {
            assert!(label_needs_quotes(name), "{name}");
        }
    }
}
