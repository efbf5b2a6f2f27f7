//! Package `encoding/base64`: the standard alphabet with padding. The first argument must be null.

use super::super::call::fatal;
use super::super::member::{ANY, INT, STRING, TEXT, function};
use super::super::{Args, Error, Kinds, Package, Value};

pub(in super::super) const PACKAGE: Package = Package {
    path: "encoding/base64",
    cue: None,
    members: &[
        function("EncodedLen", &[ANY, INT], Kinds::INT, encoded_len),
        function("DecodedLen", &[ANY, INT], Kinds::INT, decoded_len),
        function("Encode", &[ANY, TEXT], Kinds::STRING, |args| {
            standard(args)?;
            Ok(encode(args.bytes(1)?).into())
        }),
        function("Decode", &[ANY, STRING], Kinds::TEXT, |args| {
            standard(args)?;
            decode(args.str(1)?)
                .map(Value::Bytes)
                .map_err(|at| fatal(format!("illegal base64 data at input byte {at}")))
        }),
    ],
};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn standard(args: Args<'_>) -> Result<(), Error> {
    match args.value(0) {
        Value::Null => Ok(()),
        other => Err(fatal(format!(
            "base64: unsupported encoding: cannot use value {} (type {}) as null",
            match other {
                Value::Opaque(_) => "{}".to_owned(),
                other => other.to_string(),
            },
            other.kinds()
        ))),
    }
}

fn encoded_len(args: Args<'_>) -> Result<Value, Error> {
    standard(args)?;
    Ok(Value::int(
        args.int(1)?
            .saturating_add(2)
            .div_euclid(3)
            .saturating_mul(4),
    ))
}

fn decoded_len(args: Args<'_>) -> Result<Value, Error> {
    standard(args)?;
    Ok(Value::int((args.int(1)? / 4).saturating_mul(3)))
}

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0u8; 3];
        for (to, from) in group.iter_mut().zip(chunk) {
            *to = *from;
        }
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for place in 0..4 {
            let digit = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or(0);
            let letter = ALPHABET.get(digit).copied().unwrap_or(b'=');
            out.push(char::from(if place > chunk.len() { b'=' } else { letter }));
        }
    }
    out
}

/// The bytes, or the place of the first wrong character. Line breaks are skipped.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits = 0u32;
    let mut count = 0;
    let mut input = text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'))
        .peekable();
    while let Some((at, byte)) = input.next() {
        if byte == b'=' {
            if count < 2 {
                return Err(at);
            }
            if count == 2 && !matches!(input.next(), Some((_, b'='))) {
                return Err(if at + 1 < text.len() { at } else { text.len() });
            }
            if let Some((at, _)) = input.next() {
                return Err(at);
            }
            let whole = bits << (6 * (4 - count));
            out.extend(whole.to_be_bytes().iter().skip(1).take(count - 1));
            return Ok(out);
        }
        let digit = ALPHABET.iter().position(|&letter| letter == byte);
        let digit = digit
            .and_then(|digit| u32::try_from(digit).ok())
            .ok_or(at)?;
        bits = bits << 6 | digit;
        count += 1;
        if count == 4 {
            out.extend(bits.to_be_bytes().iter().skip(1));
            bits = 0;
            count = 0;
        }
    }
    if count > 0 {
        return Err(text.len() - count);
    }
    Ok(out)
}
