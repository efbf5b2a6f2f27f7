//! When a YAML string needs quotes, and which.
//!
//! Double quotes where the plain text would be read as something else: by us, or by a reader of
//! YAML 1.1 (`yes`, `n`, `12:30`, a date). Single quotes where the plain text would be misread as
//! syntax (`a: b`, a leading space). Double quotes again where escapes are needed. A literal block
//! where there are several lines and the block can hold them.

use std::fmt::Write as _;

use crate::yaml;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

pub(super) fn style(value: &str) -> Style {
    if reads_as_other(value) {
        return Style::Double;
    }
    let look = Look::new(value);
    if look.breaks {
        let block = look.text && !look.special && !look.space_at_line_end;
        return if block { Style::Literal } else { Style::Double };
    }
    if look.special || look.tabs {
        Style::Double
    } else if look.syntax || value.starts_with(' ') || value.ends_with(' ') {
        Style::Single
    } else {
        Style::Plain
    }
}

/// Whether the plain text means something else than this string to some reader.
fn reads_as_other(value: &str) -> bool {
    !yaml::reads_as_string(value)
        || matches!(
            value,
            "<<" | "y"
                | "Y"
                | "yes"
                | "Yes"
                | "YES"
                | "n"
                | "N"
                | "t"
                | "T"
                | "f"
                | "F"
                | "no"
                | "No"
                | "NO"
                | "on"
                | "On"
                | "ON"
                | "off"
                | "Off"
                | "OFF"
                | ".Nan"
        )
        || yaml::looks_like_number(value)
        || looks_like_time(value)
        || looks_like_hex(value)
}

/// Dates, times and numbers to the base of sixty, generously.
fn looks_like_time(value: &str) -> bool {
    let class = |c: char| c.is_ascii_digit() || "-+:. \t".contains(c);
    if !value.starts_with(class) {
        return false;
    }
    let body = value.strip_suffix(['z', 'Z']).unwrap_or(value);
    let mut letters = body.char_indices().filter(|&(_, c)| !class(c));
    let inside = |at: usize| at > 0 && at + 1 < body.len();
    match (letters.next(), letters.next()) {
        (None, _) => body
            .char_indices()
            .any(|(at, c)| (c == '-' || c == ':') && inside(at)),
        (Some((at, 't' | 'T')), None) => inside(at),
        _ => false,
    }
}

fn looks_like_hex(value: &str) -> bool {
    value
        .strip_prefix("0x")
        .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit()))
}

/// What stands in a string that matters for its style.
struct Look {
    /// Line feeds.
    breaks: bool,
    /// Anything but line feeds and spaces.
    text: bool,
    /// Characters that only escapes can write.
    special: bool,
    tabs: bool,
    /// Something that plain text would be misread for.
    syntax: bool,
    /// A space before a line feed or at the end, which a block would hide.
    space_at_line_end: bool,
}

impl Look {
    fn new(value: &str) -> Look {
        let mut look = Look {
            breaks: false,
            text: false,
            special: false,
            tabs: false,
            syntax: value.starts_with("---") || value.starts_with("..."),
            space_at_line_end: value.ends_with(' '),
        };
        let mut before = None;
        let mut chars = value.chars().peekable();
        while let Some(c) = chars.next() {
            let blank_follows = chars.peek().is_none_or(|&next| matches!(next, ' ' | '\t'));
            look.text |= !matches!(c, '\n' | ' ');
            match c {
                '\n' => {
                    look.breaks = true;
                    look.space_at_line_end |= before == Some(' ');
                }
                '\t' => look.tabs = true,
                _ => look.special |= !is_printable(c) || is_odd_break(c),
            }
            let first = before.is_none();
            look.syntax |= match c {
                '#' => first || matches!(before, Some(' ' | '\t' | '\n')),
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
                | '@' | '`' => first,
                '?' | '-' => first && blank_follows,
                ':' => blank_follows,
                _ => false,
            };
            before = Some(c);
        }
        look
    }
}

/// Line breaks of other traditions, which readers fold.
fn is_odd_break(c: char) -> bool {
    matches!(c, '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What the reference prints as it is: up to U+FFFD, without controls and the byte-order mark.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}') && c != '\u{feff}'
}

pub(super) fn single(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

pub(super) fn double(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        let escape = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\0' => "\\0",
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\t' => "\\t",
            '\n' => "\\n",
            '\u{b}' => "\\v",
            '\u{c}' => "\\f",
            '\r' => "\\r",
            '\u{1b}' => "\\e",
            '\u{85}' => "\\N",
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            c if is_printable(c) => {
                out.push(c);
                continue;
            }
            c => {
                let code = u32::from(c);
                let written = match code {
                    0..=0xff => write!(out, "\\x{code:02X}"),
                    0x100..=0xffff => write!(out, "\\u{code:04X}"),
                    _ => write!(out, "\\U{code:08X}"),
                };
                written.expect("a String takes all that is written to it");
                continue;
            }
        };
        out.push_str(escape);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_those_of_the_reference() {
        for (style_wanted, values) in [
            (
                Style::Plain,
                &[
                    "a",
                    "nginx:1.25",
                    "a b",
                    "10.0.0.1",
                    "1.2.3",
                    "-a",
                    "a#b",
                    "http://x/y?z=1",
                    "é",
                    "a, b",
                    "x]",
                    "~a",
                    "hostname:22",
                    "nope",
                ][..],
            ),
            (
                Style::Double,
                &[
                    "",
                    "~",
                    "null",
                    "true",
                    "yes",
                    "y",
                    "n",
                    "on",
                    "1",
                    "0x1F",
                    "1.5",
                    ".5",
                    "2020-01-01",
                    "12:30:45",
                    "1:1",
                    "2001-12-14t21:59:43.10-05:00",
                    "<<",
                    "a\tb",
                    "\u{0}",
                    "😀",
                    "0x123456789012345678901234567890",
                    "08_1",
                    "1e400",
                    "1__0",
                    ".inf",
                    "\u{feff}a",
                ],
            ),
            (
                Style::Single,
                &[
                    "a: b", " a", "a ", "- a", "-", "?", ":", "a:", "#a", "a #b", "[a", "{a", "*a",
                    "&a", "!a", "|", ">", "'a", "\"a", "%a", "@a", "`a", "--- a", "...",
                ],
            ),
            (
                Style::Literal,
                &["a\nb", "a\n", "\ta\nb", " a\nb", "a: b\n# c"],
            ),
        ] {
            for value in values {
                assert_eq!(style(value), style_wanted, "{value:?}");
            }
        }
    }
}
