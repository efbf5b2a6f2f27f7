//! The representation of a decimal, and what needs no rounding: comparison and conversions.
//!
//! The coefficient is a big integer that keeps up to 128 bits in place, so that everyday numbers allocate nothing.
//! Exponents stay within ±[`MAX_EXPONENT`]; every function that would write out the zeros
//! of an exponent is thereby bounded.

use std::cmp::Ordering;

use dashu_int::ops::{BitTest, DivRem};
use dashu_int::{IBig, Sign, UBig};

/// No number has an adjusted exponent beyond this, in either direction.
pub const MAX_EXPONENT: i32 = 100_000;

/// `(-1)^negative * coefficient * 10^exponent`. Equality is of the representation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    pub(super) coefficient: UBig,
    pub(super) exponent: i32,
    pub(super) negative: bool,
}

impl Decimal {
    pub const ZERO: Decimal = Decimal {
        coefficient: UBig::ZERO,
        exponent: 0,
        negative: false,
    };

    pub fn new(coefficient: i64, exponent: i32) -> Decimal {
        Decimal {
            coefficient: UBig::from(coefficient.unsigned_abs()),
            exponent,
            negative: coefficient < 0,
        }
    }

    pub fn from_int(value: impl Into<IBig>) -> Decimal {
        let (sign, coefficient) = value.into().into_parts();
        Decimal {
            coefficient,
            exponent: 0,
            negative: sign == Sign::Negative,
        }
    }

    /// The shortest decimal that reads back as `value`, in the scale of scientific notation.
    pub fn from_f64(value: f64) -> Option<Decimal> {
        if !value.is_finite() {
            return None;
        }
        Decimal::parse(&format!("{value:e}")).ok()
    }

    pub fn is_zero(&self) -> bool {
        self.coefficient.is_zero()
    }

    /// Whether the sign is minus; a zero that came from a product may have one.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// How many decimal digits the coefficient has; one for zero.
    pub fn digits(&self) -> i64 {
        digits(&self.coefficient)
    }

    #[must_use]
    pub fn negate(&self) -> Decimal {
        Decimal {
            negative: !self.negative && !self.is_zero(),
            ..self.clone()
        }
    }

    #[must_use]
    pub fn abs(&self) -> Decimal {
        self.with_sign(false)
    }

    #[must_use]
    pub fn with_sign(&self, negative: bool) -> Decimal {
        Decimal {
            negative,
            ..self.clone()
        }
    }

    /// Exact comparison of values.
    pub fn compare(&self, other: &Decimal) -> Ordering {
        match (self.sign(), other.sign()) {
            (a, b) if a != b => a.cmp(&b),
            (0, _) => Ordering::Equal,
            (1, _) => self.compare_magnitude(other),
            _ => other.compare_magnitude(self),
        }
    }

    fn sign(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (_, true) => -1,
            _ => 1,
        }
    }

    fn compare_magnitude(&self, other: &Decimal) -> Ordering {
        if self.exponent == other.exponent {
            return self.coefficient.cmp(&other.coefficient);
        }
        let adjusted = |d: &Decimal| i64::from(d.exponent) + d.digits();
        adjusted(self).cmp(&adjusted(other)).then_with(|| {
            // Equal adjusted exponents: the digits differ in number only, so scaling is bounded by them.
            if self.exponent > other.exponent {
                let scale = i64::from(self.exponent) - i64::from(other.exponent);
                (&self.coefficient * power_of_ten(scale)).cmp(&other.coefficient)
            } else {
                let scale = i64::from(other.exponent) - i64::from(self.exponent);
                self.coefficient
                    .cmp(&(&other.coefficient * power_of_ten(scale)))
            }
        })
    }

    /// The same value with exponent zero, if it is an integer.
    pub fn integral(&self) -> Option<Decimal> {
        let coefficient = match self.exponent {
            0 => self.coefficient.clone(),
            1.. => &self.coefficient * power_of_ten(self.exponent.into()),
            _ if self.is_zero() => UBig::ZERO,
            _ if i64::from(-self.exponent) >= self.digits() => return None,
            _ => {
                let (quotient, rest) =
                    (&self.coefficient).div_rem(power_of_ten(-i64::from(self.exponent)));
                if !rest.is_zero() {
                    return None;
                }
                quotient
            }
        };
        Some(Decimal {
            coefficient,
            exponent: 0,
            negative: self.negative,
        })
    }

    /// Without trailing zeros, but with one left behind a decimal point that was there.
    #[must_use]
    pub fn reduced_keeping_point(&self) -> Decimal {
        let mut reduced = self.reduced();
        if self.exponent < 0 && reduced.exponent >= 0 {
            reduced.exponent -= 1;
            reduced.coefficient *= UBig::from(10u8);
        }
        reduced
    }

    /// Without trailing zeros.
    #[must_use]
    pub fn reduced(&self) -> Decimal {
        if self.is_zero() {
            return Decimal {
                exponent: 0,
                ..self.clone()
            };
        }
        let mut reduced = self.clone();
        let ten = UBig::from(10u8);
        loop {
            let (quotient, rest) = (&reduced.coefficient).div_rem(&ten);
            if !rest.is_zero() {
                return reduced;
            }
            reduced.coefficient = quotient;
            reduced.exponent += 1;
        }
    }

    pub fn to_ibig(&self) -> Option<IBig> {
        let int = self.integral()?;
        let sign = if int.negative {
            Sign::Negative
        } else {
            Sign::Positive
        };
        Some(IBig::from_parts(sign, int.coefficient))
    }

    pub fn to_i64(&self) -> Option<i64> {
        if self.exponent > 20 && !self.is_zero() {
            return None;
        }
        i64::try_from(self.to_ibig()?).ok()
    }

    pub fn to_u64(&self) -> Option<u64> {
        if self.exponent > 20 && !self.is_zero() {
            return None;
        }
        u64::try_from(self.to_ibig()?).ok()
    }

    pub fn to_f64(&self) -> f64 {
        self.to_string()
            .parse()
            .expect("a printed decimal reads as a float")
    }

    /// The coefficient, if it is small enough for machine arithmetic.
    pub(super) fn small(&self) -> Option<u64> {
        u64::try_from(&self.coefficient).ok()
    }
}

pub(super) fn power_of_ten(exponent: i64) -> UBig {
    let exponent = usize::try_from(exponent).unwrap_or(0);
    match u32::try_from(exponent) {
        Ok(small @ 0..=38) => UBig::from(10u128.pow(small)),
        _ => UBig::from(10u8).pow(exponent),
    }
}

pub(super) fn digits(value: &UBig) -> i64 {
    if let Ok(small) = u128::try_from(value) {
        return small.checked_ilog10().map_or(1, |log| i64::from(log) + 1);
    }
    let bits = u64::try_from(value.bit_len()).unwrap_or(u64::MAX);
    // log10(2) to 18 digits; the estimate is exact or one too low.
    let estimate = u128::from(bits - 1) * 301_029_995_663_981_195 / 1_000_000_000_000_000_000;
    let estimate = i64::try_from(estimate).unwrap_or(i64::MAX - 1);
    if *value >= power_of_ten(estimate + 1) {
        estimate + 2
    } else {
        estimate + 1
    }
}
