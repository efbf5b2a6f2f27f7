//! Binary floats as text, in the formats of Go's `strconv.FormatFloat`.

/// Format `e`, `E`, `f`, `g`, `G`, `x`, `X` or `b`; a negative precision asks for the shortest text that reads back.
/// An unknown format gives a percent sign and the letter.
pub(super) fn format(value: f64, format: char, precision: i64, single: bool) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let places = usize::try_from(precision).ok().map(|n| n.min(MAX_PLACES));
    match format {
        'e' | 'E' => exponent_form(value, places, single, format),
        'f' => match places {
            Some(places) => format!("{value:.places$}"),
            None => plain(value, single),
        },
        'g' | 'G' => general(value, places, single, format),
        'x' | 'X' => hexadecimal(value, places, format),
        'b' => binary(value, single),
        _ => format!("%{format}"),
    }
}

/// More digits than any float has.
const MAX_PLACES: usize = 1100;

fn plain(value: f64, single: bool) -> String {
    if single {
        format!("{}", value as f32)
    } else {
        format!("{value}")
    }
}

/// Rust writes `1.5e-7`; Go wants a sign and two digits.
fn exponent_form(value: f64, places: Option<usize>, single: bool, format: char) -> String {
    let text = match places {
        Some(places) => format!("{value:.places$e}"),
        None if single => format!("{:e}", value as f32),
        None => format!("{value:e}"),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{format}{sign}{:02}", exponent.unsigned_abs())
}

fn general(value: f64, places: Option<usize>, single: bool, format: char) -> String {
    let letter = if format == 'G' { 'E' } else { 'e' };
    let digits = places.map(|places| places.max(1));
    let scientific = exponent_form(value, digits.map(|n| n - 1), single, 'e');
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let mantissa = if mantissa.contains('.') && places.is_some() {
        mantissa.trim_end_matches('0').trim_end_matches('.')
    } else {
        mantissa
    };
    let count = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    // The shortest form switches to exponents as if six digits had been asked for.
    let mut limit = digits.map_or(6, |n| i64::try_from(n).unwrap_or(i64::MAX));
    if digits.is_some() && limit > count && count > exponent {
        limit = count;
    }
    if exponent < -4 || exponent >= limit {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}{letter}{sign}{:02}", exponent.unsigned_abs());
    }
    let decimals = usize::try_from((count - 1 - exponent).max(0)).unwrap_or(0);
    match digits {
        Some(_) => format!("{value:.decimals$}"),
        None => plain(value, single),
    }
}

fn hexadecimal(value: f64, places: Option<usize>, format: char) -> String {
    let bits = value.to_bits();
    let mut fraction = bits & ((1 << 52) - 1);
    let biased = i64::try_from((bits >> 52) & 0x7FF).unwrap_or(0);
    let mut exponent = biased - 1023;
    let mut lead = 1u64;
    if biased == 0 {
        if fraction == 0 {
            exponent = 0;
            lead = 0;
        } else {
            let shift = fraction.leading_zeros() - 11;
            fraction = (fraction << shift) & ((1 << 52) - 1);
            exponent = -1022 - i64::from(shift);
        }
    }
    let digits = match places {
        Some(places) if places < 13 => {
            let drop = u32::try_from(52 - 4 * places).unwrap_or(52);
            let whole = (lead << 52) | fraction;
            let kept = whole >> drop;
            let rest = whole & ((1 << drop) - 1);
            let half = 1u64 << (drop - 1);
            let rounded = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
            let mask = (1u64 << (52 - drop)) - 1;
            lead = rounded >> (52 - drop);
            if lead > 1 {
                lead = 1;
                exponent += 1;
            }
            if places == 0 {
                String::new()
            } else {
                format!("{:0places$x}", rounded & mask)
            }
        }
        Some(places) => format!("{fraction:013x}{:0<1$}", "", places - 13),
        None => format!("{fraction:013x}").trim_end_matches('0').to_owned(),
    };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let point = if digits.is_empty() { "" } else { "." };
    let mark = if exponent < 0 { '-' } else { '+' };
    let text = format!(
        "{sign}0x{lead}{point}{digits}p{mark}{:02}",
        exponent.unsigned_abs()
    );
    match format {
        'X' => text.to_uppercase(),
        _ => text,
    }
}

fn binary(value: f64, single: bool) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let (mantissa, biased, bias) = if single {
        let bits = (value as f32).to_bits();
        let fraction = u64::from(bits & ((1 << 23) - 1));
        let exponent = i64::from((bits >> 23) & 0xFF);
        (
            if exponent == 0 {
                fraction
            } else {
                fraction | 1 << 23
            },
            exponent,
            127 + 23,
        )
    } else {
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let exponent = i64::try_from((bits >> 52) & 0x7FF).unwrap_or(0);
        (
            if exponent == 0 {
                fraction
            } else {
                fraction | 1 << 52
            },
            exponent,
            1023 + 52,
        )
    };
    format!("{sign}{mantissa}p{:+}", biased.max(1) - bias)
}
