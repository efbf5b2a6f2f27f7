//! Package `uuid`. Accepted forms: with dashes, in braces, with the prefix `urn:uuid:`, or 32 digits.

use dashu_int::UBig;
use dashu_int::ops::UnsignedAbs;
use md5::Md5;
use sha1::Sha1;
use sha2::digest::Digest;

use super::call::fatal;
use super::member::{INT, STRING, TEXT, function};
use super::quote::{self, Keep};
use super::{Args, Error, Kinds, Package, Value};

pub(super) const PACKAGE: Package = Package {
    path: "uuid",
    cue: Some(
        "{\n\
         ns: {\n\
         DNS: \"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"\n\
         URL: \"6ba7b811-9dad-11d1-80b4-00c04fd430c8\"\n\
         OID: \"6ba7b812-9dad-11d1-80b4-00c04fd430c8\"\n\
         X500: \"6ba7b814-9dad-11d1-80b4-00c04fd430c8\"\n\
         Nil: \"00000000-0000-0000-0000-000000000000\"\n\
         }\n\
         variants: {Invalid: 0, RFC4122: 1, Reserved: 2, Microsoft: 3, Future: 4}\n\
         }",
    ),
    members: &[
        // A constraint that says why: it has no result of its own.
        function("Valid", &[STRING], Kinds::BOTTOM, |args| {
            parse(args).map(|_| true.into())
        }),
        function("Parse", &[STRING], Kinds::STRING, |args| {
            Ok(text(&parse(args)?).into())
        }),
        function("URN", &[STRING], Kinds::STRING, |args| {
            Ok(format!("urn:uuid:{}", text(&parse(args)?)).into())
        }),
        function("FromInt", &[INT], Kinds::STRING, from_int),
        // The reference takes the bytes of the text, not of the number it stands for.
        function("ToInt", &[STRING], Kinds::INT, |args| {
            Ok(Value::int(UBig::from_be_bytes(args.str(0)?.as_bytes())))
        }),
        function("Variant", &[STRING], Kinds::INT, |args| {
            Ok(Value::int(variant(&parse(args)?)))
        }),
        function("Version", &[STRING], Kinds::INT, |args| {
            Ok(Value::int(parse(args)?[6] >> 4))
        }),
        function("SHA1", &[STRING, TEXT], Kinds::STRING, |args| {
            let digest = Sha1::digest([&parse(args)?, args.bytes(1)?].concat());
            Ok(text(&named(&digest, 5)).into())
        }),
        function("MD5", &[STRING, TEXT], Kinds::STRING, |args| {
            let digest = Md5::digest([&parse(args)?, args.bytes(1)?].concat());
            Ok(text(&named(&digest, 3)).into())
        }),
    ],
};

type Bytes = [u8; 16];

fn parse(args: Args<'_>) -> Result<Bytes, Error> {
    let given = args.str(0)?;
    let format = || fatal("invalid UUID format");
    let dashed = match given.len() {
        36 => given,
        45 => {
            let (prefix, rest) = given.split_at_checked(9).ok_or_else(format)?;
            if !prefix.eq_ignore_ascii_case("urn:uuid:") {
                let prefix = quote::quote(prefix, Keep::Printable);
                return Err(fatal(format!("invalid urn prefix: {prefix}")));
            }
            rest
        }
        38 => given.get(1..37).ok_or_else(format)?,
        32 => return digits(given).ok_or_else(format),
        len => return Err(fatal(format!("invalid UUID length: {len}"))),
    };
    let parts: Vec<&str> = dashed.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if lengths != [8, 4, 4, 4, 12] {
        return Err(format());
    }
    digits(&parts.concat()).ok_or_else(format)
}

fn digits(text: &str) -> Option<Bytes> {
    let plain = text.bytes().all(|b| b.is_ascii_hexdigit());
    let value = plain.then(|| u128::from_str_radix(text, 16).ok())??;
    Some(value.to_be_bytes())
}

fn text(bytes: &Bytes) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(*bytes));
    let mut out = String::with_capacity(36);
    for (i, c) in digits.chars().enumerate() {
        if matches!(i, 8 | 12 | 16 | 20) {
            out.push('-');
        }
        out.push(c);
    }
    out
}

fn from_int(args: Args<'_>) -> Result<Value, Error> {
    let bytes = args.big(0)?.unsigned_abs().to_be_bytes();
    if bytes.len() > 16 {
        return Err(fatal(format!("invalid UUID (got {} bytes)", bytes.len())));
    }
    let mut padded = [0; 16];
    for (to, from) in padded.iter_mut().rev().zip(bytes.iter().rev()) {
        *to = *from;
    }
    Ok(text(&padded).into())
}

fn variant(bytes: &Bytes) -> u8 {
    match bytes[8] >> 5 {
        4 | 5 => 1,
        6 => 3,
        7 => 4,
        _ => 2,
    }
}

fn named(digest: &[u8], version: u8) -> Bytes {
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(digest) {
        *to = *from;
    }
    bytes[6] = bytes[6] & 0x0F | version << 4;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    bytes
}
