//! Go's string literals: how `strconv.Quote` and its like write them.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::regex::Regex;

/// Which characters are left as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// Letters, marks, numbers, punctuation, symbols and the ASCII space.
    Printable,
    /// The same, and other spaces.
    Graphic,
    Ascii,
}

static PRINTABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\pL\pM\pN\pP\pS ]$").expect("a well-formed expression"));

pub(super) fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    PRINTABLE.is_match(c.encode_utf8(&mut [0; 4]))
}

pub(super) fn is_graphic(c: char) -> bool {
    // The rest of the space separators; there is no other graphic that does not print.
    is_print(c)
        || matches!(
            c,
            '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        )
}

pub(super) fn quote(text: &str, keep: Keep) -> String {
    delimited(text.chars(), '"', keep)
}

/// In single quotes; what is no character is written as the replacement character.
pub(super) fn quote_rune(code: i32, keep: Keep) -> String {
    let c = u32::try_from(code)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or('\u{fffd}');
    delimited(std::iter::once(c), '\'', keep)
}

fn delimited(chars: impl Iterator<Item = char>, mark: char, keep: Keep) -> String {
    let mut out = String::new();
    out.push(mark);
    for c in chars {
        let plain = match keep {
            Keep::Printable => is_print(c),
            Keep::Graphic => is_graphic(c),
            Keep::Ascii => c.is_ascii() && is_print(c),
        };
        match c {
            '\\' => out.push_str("\\\\"),
            _ if c == mark => {
                out.push('\\');
                out.push(c);
            }
            _ if plain => out.push(c),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            _ => escape(&mut out, u32::from(c)),
        }
    }
    out.push(mark);
    out
}

fn escape(out: &mut String, code: u32) {
    // Writing to a string does not fail.
    let _ = match code {
        0..=0x1F | 0x7F => write!(out, "\\x{code:02x}"),
        0x80..=0xFFFF => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}
