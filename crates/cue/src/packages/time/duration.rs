//! Durations: `1h2m3.5s`, in nanoseconds.

use super::super::quote::{Keep, quote};

const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const LIMIT: u64 = 1 << 63;

pub(super) fn parse(text: &str) -> Result<i64, String> {
    let quoted = quote(text, Keep::Printable);
    let invalid = || format!("time: invalid duration {quoted}");
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits_end = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
        let (whole, tail) = rest.split_at(digits_end(rest));
        let (fraction, tail) = match tail.strip_prefix('.') {
            Some(tail) => tail.split_at(digits_end(tail)),
            None => ("", tail),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let unit_end = tail
            .find(|c: char| c == '.' || c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {quoted}"));
        }
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            let unit = quote(unit, Keep::Printable);
            return Err(format!("time: unknown unit {unit} in duration {quoted}"));
        };
        let whole: u64 = match whole {
            "" => 0,
            digits => digits.parse().map_err(|_| invalid())?,
        };
        total = whole
            .checked_mul(*scale)
            .and_then(|value| value.checked_add(part(fraction, *scale)))
            .and_then(|value| value.checked_add(total))
            .filter(|value| *value <= LIMIT)
            .ok_or_else(invalid)?;
        rest = tail;
    }
    if negative {
        return Ok(total.cast_signed().wrapping_neg());
    }
    i64::try_from(total).map_err(|_| invalid())
}

/// A decimal fraction of a unit; digits beyond what matters are cut.
fn part(digits: &str, scale: u64) -> u64 {
    let mut value = 0u64;
    let mut divisor = 1.0;
    for digit in digits.bytes().take(18) {
        value = value * 10 + u64::from(digit - b'0');
        divisor *= 10.0;
    }
    // Floats, because the reference computes it with them.
    let nanos = value as f64 * (scale as f64 / divisor);
    nanos as u64
}

/// The shortest form: the smallest unit that has a digit before the point, hours at most.
pub(super) fn format(nanos: i64) -> String {
    if nanos == 0 {
        return "0s".to_owned();
    }
    let magnitude = nanos.unsigned_abs();
    let text = match magnitude {
        0..1_000 => format!("{magnitude}ns"),
        1_000..1_000_000 => format!("{}µs", fraction(magnitude, 3)),
        1_000_000..1_000_000_000 => format!("{}ms", fraction(magnitude, 6)),
        _ => {
            let minutes = magnitude / 60_000_000_000;
            let seconds = fraction(magnitude % 60_000_000_000, 9);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    };
    if nanos < 0 { format!("-{text}") } else { text }
}

fn fraction(value: u64, places: u32) -> String {
    let unit = 10u64.pow(places);
    let (whole, rest) = (value / unit, value % unit);
    if rest == 0 {
        return whole.to_string();
    }
    let width = usize::try_from(places).unwrap_or(0);
    let digits = format!("{rest:0width$}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}
