//! Number literals, as text that a decimal type can read.
//!
//! The literal's kind is syntactic: a dot or an exponent makes a float, unless a multiplier
//! follows, which makes an integer of it (`1.5Ki`).

/// A number literal taken apart. Underscores are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// Digits of base 2, 8 or 16.
    Based { digits: String, base: u32 },
    /// Digits with perhaps a fraction and an exponent: `12`, `0.5`, `1.e3` is `1.0e3`. The
    /// exponent mark is a small `e`.
    Decimal { text: String, float: bool },
    /// A decimal times a power of 1000 or 1024. The product must be whole.
    Scaled { text: String, base: u32, power: u32 },
}

/// Reads a number literal, without a sign. The error is a message of the reference
/// implementation.
pub fn parse_number(text: &str) -> Result<Number, String> {
    let bad = || format!("illegal number {text:?}");
    for (prefix, base, name) in [
        ("0x", 16, "hexadecimal"),
        ("0X", 16, "hexadecimal"),
        ("0o", 8, "octal"),
        ("0b", 2, "binary"),
    ] {
        if let Some(rest) = text.strip_prefix(prefix) {
            let digits = digits(rest)?;
            if digits.is_empty() {
                return Err(format!("illegal {name} number {text:?}"));
            }
            if !digits.chars().all(|c| c.is_digit(base)) {
                return Err(bad());
            }
            return Ok(Number::Based { digits, base });
        }
    }
    let (mantissa, scale) = match text.find(['K', 'M', 'G', 'T', 'P']) {
        Some(at) => {
            let (mantissa, suffix) = text.split_at_checked(at).ok_or_else(bad)?;
            let (mark, tail) = suffix.split_at_checked(1).ok_or_else(bad)?;
            let base = match tail {
                "" => 1000,
                "i" => 1024,
                _ => return Err(format!("illegal trailing characters in number {text:?}")),
            };
            let power = match mark {
                "K" => 1,
                "M" => 2,
                "G" => 3,
                "T" => 4,
                _ => 5,
            };
            (mantissa, Some((base, power)))
        }
        None => (text, None),
    };
    let (mantissa, exponent) = match mantissa.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (mantissa, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let float = fraction.is_some() || exponent.is_some();
    let mut out = digits(whole)?;
    if !out.is_empty() && !out.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("illegal number start {text:?}"));
    }
    if out.is_empty() {
        match fraction {
            Some(fraction) if !fraction.is_empty() => out.push('0'),
            Some(_) => return Err(format!("illegal fraction {text:?}")),
            None => return Err(format!("illegal number start {text:?}")),
        }
    }
    if !float && out.len() > 1 && out.starts_with('0') {
        return Err(format!("illegal integer number {text:?}"));
    }
    if let Some(fraction) = fraction {
        let fraction = digits(fraction)?;
        out.push('.');
        out.push_str(if fraction.is_empty() { "0" } else { &fraction });
    }
    if let Some(exponent) = exponent {
        let (sign, rest) = match exponent.strip_prefix(['+', '-']) {
            Some(rest) if exponent.starts_with('-') => ("-", rest),
            Some(rest) => ("+", rest),
            None => ("", exponent),
        };
        let rest = digits(rest)?;
        if rest.is_empty() {
            return Err(format!("illegal exponent {text:?}"));
        }
        out.push('e');
        out.push_str(sign);
        out.push_str(&rest);
    }
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | '+' | '-');
    if !out.chars().all(plain) {
        return Err(bad());
    }
    Ok(match scale {
        Some((base, power)) => Number::Scaled {
            text: out,
            base,
            power,
        },
        None => Number::Decimal { text: out, float },
    })
}

/// Digits without the underscores between them.
fn digits(text: &str) -> Result<String, String> {
    if text.contains("__") || text.ends_with('_') {
        return Err("illegal '_' in number".to_owned());
    }
    Ok(text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms() {
        let decimal = |text: &str, float| Number::Decimal {
            text: text.to_owned(),
            float,
        };
        for (text, want) in [
            ("0", decimal("0", false)),
            ("1_000", decimal("1000", false)),
            ("1.5", decimal("1.5", true)),
            (".5", decimal("0.5", true)),
            ("1.", decimal("1.0", true)),
            ("1E3", decimal("1e3", true)),
            ("1e+3", decimal("1e+3", true)),
            ("01.5", decimal("01.5", true)),
            (
                "0xFF_ff",
                Number::Based {
                    digits: "FFff".to_owned(),
                    base: 16,
                },
            ),
            (
                "1.5Ki",
                Number::Scaled {
                    text: "1.5".to_owned(),
                    base: 1024,
                    power: 1,
                },
            ),
        ] {
            assert_eq!(parse_number(text), Ok(want), "{text}");
        }
        for text in ["", "08", "0x", "1__0", "1_", "1e", "1A", "0b2", "1Kx"] {
            assert!(parse_number(text).is_err(), "{text}");
        }
    }
}
