//! Package `math/bits`: integers of any size as bit strings, negative ones in two's complement.

use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::call::fatal;
use super::member::{INT, function};
use super::{Args, Error, Kinds, Package, Value};

pub(super) const PACKAGE: Package = Package {
    path: "math/bits",
    cue: None,
    members: &[
        function("Lsh", &[INT, INT], Kinds::INT, lsh),
        function("Rsh", &[INT, INT], Kinds::INT, rsh),
        function("At", &[INT, INT], Kinds::INT, at),
        function("Set", &[INT, INT, INT], Kinds::INT, set),
        function("And", &[INT, INT], Kinds::INT, and),
        function("Or", &[INT, INT], Kinds::INT, or),
        function("Xor", &[INT, INT], Kinds::INT, xor),
        function("Clear", &[INT, INT], Kinds::INT, clear),
        function("OnesCount", &[INT], Kinds::INT, ones_count),
        function("Len", &[INT], Kinds::INT, len),
    ],
};

/// No result has more bits.
const MAX_BITS: u64 = 1 << 20;

fn position(n: u64) -> Result<usize, Error> {
    if n > MAX_BITS {
        return Err(fatal("bit index too large"));
    }
    Ok(usize::try_from(n).unwrap_or(0))
}

fn lsh(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::int(args.big(0)? << position(args.uint(1)?)?))
}

fn rsh(args: Args<'_>) -> Result<Value, Error> {
    // Far shifts leave the sign only.
    let n = args.uint(1)?.min(1 << 32);
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    Ok(Value::int(args.big(0)? >> n))
}

fn at(args: Args<'_>) -> Result<Value, Error> {
    let (x, n) = (args.big(0)?, args.uint(1)?);
    if n > u64::from(u32::MAX >> 1) {
        return Err(fatal("bit index too large"));
    }
    let shifted: IBig = x >> usize::try_from(n).unwrap_or(usize::MAX);
    Ok(Value::int(u8::from(shifted.bit(0))))
}

fn set(args: Args<'_>) -> Result<Value, Error> {
    let (x, i, bit) = (args.big(0)?, args.int(1)?, args.uint(2)?);
    let i = u64::try_from(i).map_err(|_| fatal("negative bit index"))?;
    let mask = IBig::ONE << position(i)?;
    match bit {
        0 => Ok(Value::int(x & !mask)),
        1 => Ok(Value::int(x | mask)),
        _ => Err(fatal("set bit is not 0 or 1")),
    }
}

fn and(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::int(args.big(0)? & args.big(1)?))
}

fn or(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::int(args.big(0)? | args.big(1)?))
}

fn xor(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::int(args.big(0)? ^ args.big(1)?))
}

fn clear(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::int(args.big(0)? & !args.big(1)?))
}

/// Of the magnitude, as the sign is no bit.
fn ones_count(args: Args<'_>) -> Result<Value, Error> {
    let magnitude: UBig = args.big(0)?.unsigned_abs();
    let ones: u32 = magnitude
        .to_le_bytes()
        .iter()
        .map(|byte| byte.count_ones())
        .sum();
    Ok(Value::int(ones))
}

fn len(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::int(args.big(0)?.unsigned_abs().bit_len()))
}
