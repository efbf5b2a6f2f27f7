//! Numbers as text: normal forms and exact comparison.
//!
//! A number is its decimal text and its kind, and the kind is syntactic: `3` and `3.0` differ in
//! kind, `1.50` and `1.5` are equal floats. Nothing here goes through a binary float, and nothing
//! is ever written out: `1e999999999` costs as much as `1e9`.

use std::cmp::Ordering;

pub use crate::tree::Number;

/// Exponents have at most this many digits, not counting leading zeros.
const EXPONENT_DIGITS: usize = 9;

/// Whether the exponent of a decimal text is one that can be computed with.
pub fn exponent_in_range(text: &str) -> bool {
    let Some((_, exponent)) = text.split_once(['e', 'E']) else {
        return true;
    };
    let digits = exponent.trim_start_matches(['+', '-']);
    digits.trim_start_matches('0').len() <= EXPONENT_DIGITS
}

/// The decimal text of digits to some base, with or without a sign; `None` beyond 128 bits.
pub fn from_radix(digits: &str, base: u32) -> Option<String> {
    let negative = digits.starts_with('-');
    let body = digits.trim_start_matches(['-', '+']).replace('_', "");
    let value = match base {
        10 => match body.trim_start_matches('0') {
            "" => "0".to_owned(),
            rest => rest.to_owned(),
        },
        _ => u128::from_str_radix(&body, base).ok()?.to_string(),
    };
    Some(if negative && value != "0" {
        format!("-{value}")
    } else {
        value
    })
}

/// Whether two numbers are the same value of the same kind.
pub fn same(a: Number<'_>, b: Number<'_>) -> bool {
    a.is_int == b.is_int && (a.text == b.text || compare(a.text, b.text) == Ordering::Equal)
}

/// Compares two decimal texts by value, whatever their kinds.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (Decimal::new(a), Decimal::new(b));
    match (a.sign(), b.sign()) {
        (x, y) if x != y => x.cmp(&y),
        (0, _) => Ordering::Equal,
        (sign, _) => {
            let magnitude = a
                .point
                .cmp(&b.point)
                .then_with(|| a.digits().cmp(b.digits()));
            if sign < 0 {
                magnitude.reverse()
            } else {
                magnitude
            }
        }
    }
}

/// A decimal text taken apart: 0.ddd times ten to the power of `point`, without zeros at either
/// end of the digits.
struct Decimal<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    point: i64,
}

impl<'a> Decimal<'a> {
    fn new(text: &'a str) -> Decimal<'a> {
        let negative = text.starts_with('-');
        let text = text.trim_start_matches(['-', '+']);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent = exponent_value(exponent);
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        if whole.is_empty() {
            // 0.00123: the point moves left over the zeros.
            let digits = fraction.trim_start_matches('0');
            let zeros = length(fraction) - length(digits);
            return Decimal {
                negative,
                whole: "",
                fraction: digits,
                point: exponent.saturating_sub(zeros),
            };
        }
        let point = exponent.saturating_add(length(whole));
        let whole = if fraction.is_empty() {
            whole.trim_end_matches('0')
        } else {
            whole
        };
        Decimal {
            negative,
            whole,
            fraction,
            point,
        }
    }

    fn sign(&self) -> i8 {
        match (
            self.whole.is_empty() && self.fraction.is_empty(),
            self.negative,
        ) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.bytes().chain(self.fraction.bytes())
    }
}

fn exponent_value(text: &str) -> i64 {
    let digits = text.trim_start_matches(['+', '-']);
    let value = digits.bytes().fold(0_i64, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i64::from(digit.wrapping_sub(b'0') & 15))
    });
    if text.starts_with('-') { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_value() {
        let ascending = [
            "-1e999999999",
            "-10",
            "-9.99",
            "-1e-999999999",
            "0",
            "1e-999999999",
            "0.0009",
            "0.001",
            "0.1",
            "1",
            "1.0000000000000000000000000000000000001",
            "9",
            "10",
            "1e3",
            "1001",
            "18446744073709551615",
            "18446744073709551616",
            "1e999999998",
            "1e999999999",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a} against {b}");
            }
        }
    }

    #[test]
    fn equal_values_in_many_spellings() {
        for group in [
            &["0", "-0", "0.0", "0e5", "-0.00"][..],
            &["1500", "1500.0", "1.5e3", "15e2", "0.15e+4", "15000e-1"],
            &["0.001", "1e-3", "0.1e-2", "10e-4"],
        ] {
            for a in group {
                for b in group {
                    assert_eq!(compare(a, b), Ordering::Equal, "{a} against {b}");
                }
            }
        }
    }

    #[test]
    fn kinds_differ() {
        let number = |text| Number {
            text,
            is_int: !text.contains(['.', 'e']),
        };
        assert!(!same(number("3"), number("3.0")));
        assert!(same(number("1.50"), number("1.5")));
        assert!(same(number("3"), number("3")));
        assert!(!same(number("3"), number("-3")));
    }

    #[test]
    fn absurd_exponents_are_seen() {
        assert!(exponent_in_range("1e999999999"));
        assert!(exponent_in_range("1e-000000000000001"));
        assert!(!exponent_in_range("1e9999999999"));
    }
}
