//! Package `strconv`. Errors have the form of Go's: the function, the text, the reason.

use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};

use super::call::fatal;
use super::member::{ANY, BOOL, INT, NUMBER, STRING, function, number};
use super::quote::{self, Keep};
use super::{Args, Error, Kinds, Package, Value, float_text};
use crate::number::Num;

pub(super) const PACKAGE: Package = Package {
    path: "strconv",
    cue: None,
    members: &[
        function("Unquote", &[STRING], Kinds::STRING, unquote),
        function("ParseBool", &[STRING], Kinds::BOOL, parse_bool),
        function("FormatBool", &[BOOL], Kinds::STRING, format_bool),
        function("ParseFloat", &[STRING, INT], Kinds::NUMBER, parse_float),
        function("ParseNumber", &[STRING], Kinds::NUMBER, parse_number),
        number("IntSize", "64"),
        function("ParseUint", &[STRING, INT, INT], Kinds::INT, parse_uint),
        function("ParseInt", &[STRING, INT, INT], Kinds::INT, parse_int),
        function("Atoi", &[STRING], Kinds::INT, atoi),
        function(
            "FormatFloat",
            &[NUMBER, ANY, INT, INT],
            Kinds::STRING,
            format_float,
        ),
        function("FormatUint", &[INT, INT], Kinds::STRING, format_int),
        function("FormatInt", &[INT, INT], Kinds::STRING, format_int),
        function("Quote", &[STRING], Kinds::STRING, |args| {
            Ok(quote::quote(args.str(0)?, Keep::Printable).into())
        }),
        function("QuoteToASCII", &[STRING], Kinds::STRING, |args| {
            Ok(quote::quote(args.str(0)?, Keep::Ascii).into())
        }),
        function("QuoteToGraphic", &[STRING], Kinds::STRING, |args| {
            Ok(quote::quote(args.str(0)?, Keep::Graphic).into())
        }),
        function("QuoteRune", &[INT], Kinds::STRING, |args| {
            Ok(quote::quote_rune(args.int32(0, "rune")?, Keep::Printable).into())
        }),
        function("QuoteRuneToASCII", &[INT], Kinds::STRING, |args| {
            Ok(quote::quote_rune(args.int32(0, "rune")?, Keep::Ascii).into())
        }),
        function("QuoteRuneToGraphic", &[INT], Kinds::STRING, |args| {
            Ok(quote::quote_rune(args.int32(0, "rune")?, Keep::Graphic).into())
        }),
        function("IsPrint", &[INT], Kinds::BOOL, |args| {
            rune_test(args, quote::is_print)
        }),
        function("IsGraphic", &[INT], Kinds::BOOL, |args| {
            rune_test(args, quote::is_graphic)
        }),
    ],
};

fn rune_test(args: Args<'_>, test: fn(char) -> bool) -> Result<Value, Error> {
    let code = args.int32(0, "rune")?;
    let rune = u32::try_from(code).ok().and_then(char::from_u32);
    Ok(rune.is_some_and(test).into())
}

fn number_error(name: &str, text: &str, reason: &str) -> Error {
    let text = quote::quote(text, Keep::Printable);
    fatal(format!("strconv.{name}: parsing {text}: {reason}"))
}

const SYNTAX: &str = "invalid syntax";
const RANGE: &str = "value out of range";

fn unquote(args: Args<'_>) -> Result<Value, Error> {
    crate::syntax::literal::unquote(args.str(0)?)
        .map(|(_, bytes)| Value::string(String::from_utf8_lossy(&bytes)))
        .map_err(|error| fatal(error.to_string()))
}

fn parse_bool(args: Args<'_>) -> Result<Value, Error> {
    let text = args.str(0)?;
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true.into()),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false.into()),
        _ => Err(number_error("ParseBool", text, SYNTAX)),
    }
}

fn format_bool(args: Args<'_>) -> Result<Value, Error> {
    Ok(args.bool(0)?.to_string().into())
}

fn parse_float(args: Args<'_>) -> Result<Value, Error> {
    let (text, bits) = (args.str(0)?, args.int(1)?);
    let plain = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-');
    let cleaned: String = text.chars().filter(|c| *c != '_').collect();
    if text.contains('_') || !cleaned.bytes().all(plain) {
        return Err(number_error("ParseFloat", text, SYNTAX));
    }
    let value: f64 = cleaned
        .parse()
        .map_err(|_| number_error("ParseFloat", text, SYNTAX))?;
    let value = if bits == 32 {
        f64::from(value as f32)
    } else {
        value
    };
    Num::from_f64(value)
        .map(Value::Num)
        .ok_or_else(|| number_error("ParseFloat", text, RANGE))
}

fn parse_number(args: Args<'_>) -> Result<Value, Error> {
    let text = args.str(0)?;
    Num::parse_literal(text)
        .map(|num| Value::Num(Num::from_result(num.value)))
        .map_err(|error| number_error("ParseNumber", text, &error.message))
}

/// An integer with an optional sign; base zero means that the prefix says it, and allows `_`.
fn big_int(text: &str, base: i64) -> Option<IBig> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (Sign::Negative, text.get(1..)?),
        b'+' => (Sign::Positive, text.get(1..)?),
        _ => (Sign::Positive, text),
    };
    let (radix, digits) = match base {
        0 => {
            let lower = digits.get(..2).map(str::to_ascii_lowercase);
            match lower.as_deref() {
                Some("0x") => (16, digits.get(2..)?),
                Some("0b") => (2, digits.get(2..)?),
                Some("0o") => (8, digits.get(2..)?),
                Some(_) if digits.starts_with('0') => (8, digits.get(1..)?),
                _ => (10, digits),
            }
        }
        2..=62 => (u32::try_from(base).ok()?, digits),
        _ => return None,
    };
    let cleaned = if base == 0 {
        let misplaced = digits.contains("__") || digits.ends_with('_');
        if misplaced {
            return None;
        }
        digits.replace('_', "")
    } else {
        digits.to_owned()
    };
    Some(IBig::from_parts(sign, magnitude(&cleaned, radix)?))
}

fn magnitude(digits: &str, radix: u32) -> Option<UBig> {
    if digits.is_empty() {
        return None;
    }
    if radix <= 36 {
        let known = |c: char| c.is_digit(radix);
        if !digits.chars().all(known) {
            return None;
        }
        return UBig::from_str_radix(digits, radix).ok();
    }
    // Above 36 the case of a letter counts.
    let mut value = UBig::ZERO;
    for b in digits.bytes() {
        let digit = match b {
            b'0'..=b'9' => b - b'0',
            b'a'..=b'z' => b - b'a' + 10,
            b'A'..=b'Z' => b - b'A' + 36,
            _ => return None,
        };
        if u32::from(digit) >= radix {
            return None;
        }
        value = value * UBig::from(radix) + UBig::from(digit);
    }
    Some(value)
}

fn parse_uint(args: Args<'_>) -> Result<Value, Error> {
    let (text, base, bits) = (args.str(0)?, args.int(1)?, args.int(2)?);
    let error = |reason| number_error("ParseUint", text, reason);
    let bits = usize::try_from(bits).map_err(|_| error(RANGE))?;
    let value = big_int(text, base).ok_or_else(|| error(SYNTAX))?;
    if value < IBig::ZERO || bits > 0 && (&value).unsigned_abs().bit_len() > bits {
        return Err(error(RANGE));
    }
    Ok(Value::int(value))
}

fn parse_int(args: Args<'_>) -> Result<Value, Error> {
    signed(args.str(0)?, args.int(1)?, args.int(2)?, "ParseInt")
}

fn atoi(args: Args<'_>) -> Result<Value, Error> {
    signed(args.str(0)?, 10, 0, "Atoi")
}

fn signed(text: &str, base: i64, bits: i64, name: &str) -> Result<Value, Error> {
    let error = |reason| number_error(name, text, reason);
    let bits = usize::try_from(bits).map_err(|_| error(RANGE))?;
    let value = big_int(text, base).ok_or_else(|| error(SYNTAX))?;
    // The most negative number has one value more than the most positive one.
    let shifted = if value < IBig::ZERO {
        &value + IBig::ONE
    } else {
        value.clone()
    };
    if bits > 0 && shifted.unsigned_abs().bit_len() > bits - 1 {
        return Err(error(RANGE));
    }
    Ok(Value::int(value))
}

fn format_float(args: Args<'_>) -> Result<Value, Error> {
    let letter = match args.value(1) {
        Value::String(text) => match text.as_bytes() {
            [one] => char::from(*one),
            _ => return Err(fatal("expected single character string")),
        },
        Value::Num(num) if num.is_int() => {
            let code = args.int(1)?;
            let byte = u8::try_from(code)
                .map_err(|_| fatal(format!("format value {code} out of range [0, 255]")))?;
            char::from(byte)
        }
        other => return Err(fatal(format!("unexpected kind {}", other.kinds()))),
    };
    let single = match args.int(3)? {
        32 => true,
        64 => false,
        _ => return Err(fatal("strconv: illegal AppendFloat/FormatFloat bitSize")),
    };
    let text = float_text::format(args.float(0)?, letter, args.int(2)?, single);
    Ok(text.into())
}

fn format_int(args: Args<'_>) -> Result<Value, Error> {
    let (value, base) = (args.big(0)?, args.int(1)?);
    let radix = u8::try_from(base)
        .ok()
        .filter(|base| (2..=62).contains(base))
        .ok_or_else(|| fatal("invalid base"))?;
    if radix <= 36 {
        return Ok(value.in_radix(radix).to_string().into());
    }
    let mut rest = (&value).unsigned_abs();
    let mut digits = Vec::new();
    while !rest.is_zero() {
        let digit = u8::try_from(&rest % UBig::from(radix)).unwrap_or(0);
        rest /= UBig::from(radix);
        digits.push(char::from(match digit {
            0..=9 => b'0' + digit,
            10..=35 => b'a' + digit - 10,
            _ => b'A' + digit - 36,
        }));
    }
    if digits.is_empty() {
        digits.push('0');
    }
    if value < IBig::ZERO {
        digits.push('-');
    }
    Ok(digits.iter().rev().collect::<String>().into())
}
