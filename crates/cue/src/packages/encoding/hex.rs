//! Package `encoding/hex`.

use std::fmt::Write as _;

use super::super::call::fatal;
use super::super::member::{INT, STRING, TEXT, function};
use super::super::quote::is_print;
use super::super::{Args, Error, Kinds, Package, Value};

pub(in super::super) const PACKAGE: Package = Package {
    path: "encoding/hex",
    cue: None,
    members: &[
        function("EncodedLen", &[INT], Kinds::INT, |args| {
            Ok(Value::int(args.int(0)?.saturating_mul(2)))
        }),
        function("DecodedLen", &[INT], Kinds::INT, |args| {
            Ok(Value::int(args.int(0)? / 2))
        }),
        function("Decode", &[STRING], Kinds::TEXT, decode),
        function("Dump", &[TEXT], Kinds::STRING, dump),
        function("Encode", &[TEXT], Kinds::STRING, encode),
    ],
};

fn encode(args: Args<'_>) -> Result<Value, Error> {
    let mut out = String::new();
    for byte in args.bytes(0)? {
        let _ = write!(out, "{byte:02x}");
    }
    Ok(out.into())
}

fn digit(byte: u8) -> Result<u8, Error> {
    let c = char::from(byte);
    if let Some(value) = c.to_digit(16) {
        return Ok(u8::try_from(value).unwrap_or(0));
    }
    let shown = if is_print(c) {
        format!(" '{c}'")
    } else {
        String::new()
    };
    Err(fatal(format!(
        "encoding/hex: invalid byte: U+{byte:04X}{shown}"
    )))
}

fn decode(args: Args<'_>) -> Result<Value, Error> {
    let mut out = Vec::new();
    for pair in args.str(0)?.as_bytes().chunks(2) {
        match pair {
            [high, low] => out.push(digit(*high)? << 4 | digit(*low)?),
            [single] => {
                digit(*single)?;
                return Err(fatal("encoding/hex: odd length hex string"));
            }
            _ => {}
        }
    }
    Ok(Value::Bytes(out))
}

/// Sixteen bytes a line, in two groups, with their ASCII characters.
fn dump(args: Args<'_>) -> Result<Value, Error> {
    let mut out = String::new();
    for (row, line) in args.bytes(0)?.chunks(16).enumerate() {
        let _ = write!(out, "{:08x} ", row * 16);
        for place in 0..16 {
            if place == 8 {
                out.push(' ');
            }
            let _ = match line.get(place) {
                Some(byte) => write!(out, " {byte:02x}"),
                None => write!(out, "   "),
            };
        }
        out.push_str("  |");
        for &byte in line {
            let printable = (32..=126).contains(&byte);
            out.push(if printable { char::from(byte) } else { '.' });
        }
        out.push_str("|\n");
    }
    Ok(out.into())
}
