//! What a plain YAML scalar is: the resolution of the CUE reference.
//!
//! That is YAML 1.2's core schema with remnants of 1.1 that people rely on: `0777` is octal, `1_000`
//! is a thousand, `0b11` is three. `yes`, `no`, `on`, `off`, dates and times are strings. Integers of
//! any size stay exact. Where YAML 1.1 and 1.2 quarrel over digits (`08`, `01289`), it is a string.
//! A float too large for a double (`1e400`) and a hexadecimal integer of more than 64 bits are
//! strings as well, because the reference reads them so; `!!float` and `!!int` make them numbers.

use std::borrow::Cow;

use crate::tree::Number;

/// A resolved scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    Int(Cow<'a, str>),
    Float(Cow<'a, str>),
    /// Infinity or not-a-number.
    NotFinite,
    String,
}

/// Resolves an untagged plain scalar.
pub(super) fn resolve(text: &str) -> Scalar<'_> {
    let Some(&first) = text.as_bytes().first() else {
        return Scalar::Null;
    };
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text, true),
        b'~' | b'n' | b'N' if is_null(text) => Scalar::Null,
        b't' | b'T' | b'f' | b'F' => boolean(text).map_or(Scalar::String, Scalar::Bool),
        _ => Scalar::String,
    }
}

pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

pub(super) fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Resolves a number; `bounded` says that what a double cannot hold is a string.
pub(super) fn number(text: &str, bounded: bool) -> Scalar<'_> {
    let (negative, body) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or("")),
        Some(b'+') => (false, text.get(1..).unwrap_or("")),
        _ => (false, text),
    };
    if matches!(body, ".inf" | ".Inf" | ".INF") {
        return Scalar::NotFinite;
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Scalar::NotFinite;
    }
    let bytes = body.as_bytes();
    match (bytes.first(), bytes.get(1)) {
        (Some(b'0'), Some(b'x' | b'X')) => radix(negative, body, 16),
        (Some(b'0'), Some(b'b' | b'B')) => radix(negative, body, 2),
        (Some(b'0'), Some(b'o' | b'O')) => radix(negative, body, 8),
        _ => decimal(text, negative, body, bounded),
    }
}

/// `0x1F`, `0b11`, `0o17`, behind the sign.
fn radix(negative: bool, body: &str, base: u32) -> Scalar<'_> {
    let digits = body.get(2..).unwrap_or("");
    // The reference also takes `0x_0A`.
    let digits = digits.strip_prefix('_').unwrap_or(digits);
    let Some(digits) = without_underscores(digits) else {
        return Scalar::String;
    };
    let wrong = |c: char| !c.is_digit(base);
    if digits.is_empty() || digits.contains(wrong) {
        return Scalar::String;
    }
    match u64::from_str_radix(&digits, base) {
        Ok(value) => Scalar::Int(Cow::Owned(signed(negative, &value.to_string()))),
        Err(_) => Scalar::String,
    }
}

fn decimal<'a>(text: &'a str, negative: bool, body: &'a str, bounded: bool) -> Scalar<'a> {
    let Some(plain) = without_underscores(body) else {
        return Scalar::String;
    };
    let Some(shape) = shape(&plain) else {
        return Scalar::String;
    };
    let zeros = plain.starts_with('0') && plain.len() > 1;
    if shape.is_int && zeros {
        // Octal as in YAML 1.1, or a string when the digits do not allow it.
        return match u64::from_str_radix(&plain, 8) {
            Ok(value) => Scalar::Int(Cow::Owned(signed(negative, &value.to_string()))),
            Err(_) => Scalar::String,
        };
    }
    // A double ends at about 1.8e308, so a short text without exponent needs no look.
    if bounded && (shape.exponent || plain.len() > 300) {
        let finite = plain.parse::<f64>().is_ok_and(f64::is_finite);
        if !finite {
            return Scalar::String;
        }
    }
    if shape.is_int {
        return Scalar::Int(if text.starts_with('+') || plain.len() != body.len() {
            Cow::Owned(signed(negative, &plain))
        } else if text == "-0" {
            Cow::Borrowed("0")
        } else {
            Cow::Borrowed(text)
        });
    }
    let leading_zeros = zeros && plain.as_bytes().get(1) != Some(&b'.');
    let altered = text.starts_with('+') || plain.len() != body.len();
    let normal = !(altered || shape.capital || shape.bare_point || leading_zeros);
    Scalar::Float(if normal {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(normal_float(negative, &plain))
    })
}

struct Shape {
    is_int: bool,
    exponent: bool,
    /// The exponent is written with a capital `E`.
    capital: bool,
    /// No digit stands before or behind the point.
    bare_point: bool,
}

/// Whether an unsigned text is a decimal number: `.5`, `1.`, `1.5e-3`.
fn shape(text: &str) -> Option<Shape> {
    let bytes = text.as_bytes();
    let run = |from: usize| {
        bytes
            .iter()
            .skip(from)
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let whole = run(0);
    let mut at = whole;
    let mut shape = Shape {
        is_int: true,
        exponent: false,
        capital: false,
        bare_point: false,
    };
    if bytes.get(at) == Some(&b'.') {
        let fraction = run(at + 1);
        if whole + fraction == 0 {
            return None;
        }
        shape.is_int = false;
        shape.bare_point = whole == 0 || fraction == 0;
        at += 1 + fraction;
    } else if whole == 0 {
        return None;
    }
    if let Some(e @ (b'e' | b'E')) = bytes.get(at) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let digits = run(at);
        if digits == 0 {
            return None;
        }
        shape.is_int = false;
        shape.exponent = true;
        shape.capital = *e == b'E';
        at += digits;
    }
    (at == bytes.len()).then_some(shape)
}

/// Removes underscores, which may only stand between digits.
fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(Cow::Borrowed(text));
    }
    let parts_are_numbers = text
        .split('_')
        .all(|part| part.starts_with(hex_digit) && part.ends_with(hex_digit));
    parts_are_numbers.then(|| Cow::Owned(text.replace('_', "")))
}

fn hex_digit(c: char) -> bool {
    c.is_ascii_hexdigit()
}

fn signed(negative: bool, digits: &str) -> String {
    if negative && digits != "0" {
        format!("-{digits}")
    } else {
        digits.to_owned()
    }
}

fn normal_float(negative: bool, plain: &str) -> String {
    let (mantissa, exponent) = match plain.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (plain, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let mut out = String::new();
    if negative {
        out.push('-');
    }
    out.push_str(whole);
    if mantissa.contains('.') {
        out.push('.');
        out.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    if let Some(exponent) = exponent {
        out.push('e');
        out.push_str(exponent);
    }
    out
}

/// Whether a plain scalar is read as a string.
pub(crate) fn reads_as_string(text: &str) -> bool {
    resolve(text) == Scalar::String
}

/// Whether a plain scalar is a number to some reader of YAML, if not to us: `08`, `1e400`, `1__0`.
pub(crate) fn looks_like_number(text: &str) -> bool {
    let plain = text.replace('_', "");
    let body = plain.trim_start_matches(['-', '+']);
    shape(body).is_some() || !reads_as_string(&plain)
}

/// Whether a number's plain text is read as that number.
pub(crate) fn reads_as(number: Number<'_>) -> bool {
    match resolve(number.text) {
        Scalar::Int(text) => number.is_int && text == number.text,
        Scalar::Float(text) => !number.is_int && text == number.text,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        match resolve(text) {
            Scalar::Null => "null".to_owned(),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Int(text) => format!("int {text}"),
            Scalar::Float(text) => format!("float {text}"),
            Scalar::NotFinite => "not finite".to_owned(),
            Scalar::String => "string".to_owned(),
        }
    }

    #[test]
    fn scalars_are_read_as_the_reference_reads_them() {
        for (text, wanted) in [
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            ("nULL", "string"),
            ("TRUE", "true"),
            ("tRUE", "string"),
            ("yes", "string"),
            ("off", "string"),
            ("y", "string"),
            ("0", "int 0"),
            ("-0", "int 0"),
            ("+1", "int 1"),
            ("-12", "int -12"),
            ("0777", "int 511"),
            ("-017", "int -15"),
            ("0o17", "int 15"),
            ("01289", "string"),
            ("08", "string"),
            ("1_000", "int 1000"),
            ("1__000", "string"),
            ("_1", "string"),
            ("1_", "string"),
            ("0x1F", "int 31"),
            ("-0x1f", "int -31"),
            ("0b11", "int 3"),
            ("0b12", "string"),
            ("0x", "string"),
            ("0xFFFFFFFFFFFFFFFF", "int 18446744073709551615"),
            ("0xFFFFFFFFFFFFFFFFF", "string"),
            (
                "123456789012345678901234567890",
                "int 123456789012345678901234567890",
            ),
            (".5", "float 0.5"),
            ("-.5", "float -0.5"),
            ("1.", "float 1.0"),
            ("1.50", "float 1.50"),
            ("1e3", "float 1e3"),
            ("1E+3", "float 1e+3"),
            ("0.5", "float 0.5"),
            ("00.5", "float 0.5"),
            ("1e400", "string"),
            ("1e", "string"),
            (".", "string"),
            ("-", "string"),
            ("+", "string"),
            ("1.2.3", "string"),
            ("2001-01-01", "string"),
            ("12:30:45", "string"),
            (".inf", "not finite"),
            ("-.INF", "not finite"),
            ("+.Inf", "not finite"),
            (".nan", "not finite"),
            ("-.nan", "string"),
            ("0x_1", "int 1"),
            ("685.230_15e+03", "float 685.23015e+03"),
            ("é", "string"),
        ] {
            assert_eq!(show(text), wanted, "{text:?}");
        }
    }
}
