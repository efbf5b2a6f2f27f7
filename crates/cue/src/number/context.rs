//! Arithmetic at a precision: the general decimal arithmetic rules for rounding and scale.
//!
//! Every result has at most `precision` digits and an adjusted exponent within the limits; outside
//! of them the operation fails instead of becoming an infinity.

use std::fmt;

use dashu_int::UBig;
use dashu_int::ops::{BitTest, DivRem};

use super::decimal::{Decimal, MAX_EXPONENT, digits, power_of_ten};

/// Significant digits of the language's own arithmetic.
pub const PRECISION: u32 = 34;

/// What to do with digits that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    HalfUp,
    HalfEven,
    /// Towards zero.
    Down,
    /// Towards negative infinity.
    Floor,
    /// Towards positive infinity.
    Ceiling,
}

/// Why an operation has no result. Its text is what the reference says after `failed arithmetic: `.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticError {
    DivisionByZero,
    /// Zero divided by zero.
    DivisionUndefined,
    ExponentOutOfRange,
    /// A root or logarithm outside its domain.
    InvalidOperation,
}

impl fmt::Display for ArithmeticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ArithmeticError::DivisionByZero => "division by zero",
            ArithmeticError::DivisionUndefined => "division undefined",
            ArithmeticError::ExponentOutOfRange => "exponent out of range",
            ArithmeticError::InvalidOperation => "invalid operation",
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Context {
    pub precision: u32,
    pub rounding: Rounding,
}

impl Context {
    /// The arithmetic of the language.
    pub const BASE: Context = Context {
        precision: PRECISION,
        rounding: Rounding::HalfUp,
    };

    pub fn add(self, x: &Decimal, y: &Decimal) -> Result<Decimal, ArithmeticError> {
        self.sum(x, y, y.negative)
    }

    pub fn sub(self, x: &Decimal, y: &Decimal) -> Result<Decimal, ArithmeticError> {
        self.sum(x, y, !y.negative)
    }

    fn sum(self, x: &Decimal, y: &Decimal, y_negative: bool) -> Result<Decimal, ArithmeticError> {
        if x.exponent == y.exponent
            && x.negative == y_negative
            && self.precision >= 20
            && let (Some(a), Some(b)) = (x.small(), y.small())
        {
            return self.checked(Decimal {
                coefficient: UBig::from(u128::from(a) + u128::from(b)),
                exponent: x.exponent,
                negative: x.negative,
            });
        }
        let gap = i64::from(x.exponent) - i64::from(y.exponent);
        if gap.abs() > i64::from(MAX_EXPONENT) {
            return Err(ArithmeticError::ExponentOutOfRange);
        }
        let scaled;
        let (a, b) = match gap {
            0 => (&x.coefficient, &y.coefficient),
            1.. => {
                scaled = &x.coefficient * power_of_ten(gap);
                (&scaled, &y.coefficient)
            }
            _ => {
                scaled = &y.coefficient * power_of_ten(-gap);
                (&x.coefficient, &scaled)
            }
        };
        let (coefficient, negative) = if x.negative == y_negative {
            (a + b, x.negative)
        } else if a > b {
            (a - b, x.negative)
        } else if a < b {
            (b - a, y_negative)
        } else {
            (UBig::ZERO, self.rounding == Rounding::Floor)
        };
        self.round(Decimal {
            coefficient,
            exponent: x.exponent.min(y.exponent),
            negative,
        })
    }

    pub fn mul(self, x: &Decimal, y: &Decimal) -> Result<Decimal, ArithmeticError> {
        let coefficient = match (x.small(), y.small()) {
            (Some(a), Some(b)) => UBig::from(u128::from(a) * u128::from(b)),
            _ => &x.coefficient * &y.coefficient,
        };
        self.round(Decimal {
            coefficient,
            exponent: x.exponent + y.exponent,
            negative: x.negative != y.negative,
        })
    }

    /// The quotient with all its digits, trailing zeros included.
    pub fn quo(self, x: &Decimal, y: &Decimal) -> Result<Decimal, ArithmeticError> {
        if y.is_zero() {
            return Err(if x.is_zero() {
                ArithmeticError::DivisionUndefined
            } else {
                ArithmeticError::DivisionByZero
            });
        }
        let negative = x.negative != y.negative;
        let shift = i64::from(x.exponent) - i64::from(y.exponent);
        if x.is_zero() {
            return self.placed(UBig::ZERO, shift, negative);
        }
        // Scale so that the quotient of the coefficients has exactly `precision` digits before the point.
        let mut scale = digits(&y.coefficient) - digits(&x.coefficient);
        let mut dividend = x.coefficient.clone();
        let mut divisor = y.coefficient.clone();
        if scale > 0 {
            dividend *= power_of_ten(scale);
        } else if scale < 0 {
            divisor *= power_of_ten(-scale);
        }
        if dividend < divisor {
            dividend *= UBig::from(10u8);
            scale += 1;
        }
        let more = i64::from(self.precision) - 1;
        dividend *= power_of_ten(more);
        let (mut quotient, rest) = dividend.div_rem(&divisor);
        if !rest.is_zero() {
            let half = (rest * UBig::from(2u8)).cmp(&divisor);
            if self.rounds_away(&quotient, negative, half) {
                quotient += UBig::ONE;
            }
        }
        self.placed(quotient, shift - scale - more, negative)
    }

    /// To this precision.
    pub fn round(self, value: Decimal) -> Result<Decimal, ArithmeticError> {
        let extra = digits(&value.coefficient) - i64::from(self.precision);
        if extra <= 0 {
            return self.checked(value);
        }
        let negative = value.negative;
        let (coefficient, carried) = self.cut(&value.coefficient, extra, negative);
        let exponent = i64::from(value.exponent) + extra + i64::from(carried);
        self.placed(coefficient, exponent, negative)
    }

    /// The nearest integer by this context's rounding, with exponent zero.
    pub fn to_integral(self, value: &Decimal) -> Decimal {
        if let Some(int) = value.integral() {
            return int;
        }
        let places = -i64::from(value.exponent);
        let count = digits(&value.coefficient);
        let half = UBig::from(5u8);
        let coefficient = if places > count {
            // Below a tenth: only the directed roundings can leave zero.
            let away = match self.rounding {
                Rounding::Floor => value.negative,
                Rounding::Ceiling => !value.negative,
                Rounding::HalfUp | Rounding::HalfEven | Rounding::Down => false,
            };
            UBig::from(u8::from(away))
        } else {
            let unit = power_of_ten(places);
            let (mut quotient, rest) = (&value.coefficient).div_rem(&unit);
            let order = rest.cmp(&(half * power_of_ten(places - 1)));
            if self.rounds_away(&quotient, value.negative, order) {
                quotient += UBig::ONE;
            }
            quotient
        };
        Decimal {
            coefficient,
            exponent: 0,
            negative: value.negative,
        }
    }

    /// Drops `extra` digits. The flag says that the carry made one digit more, which was dropped too.
    fn cut(self, coefficient: &UBig, extra: i64, negative: bool) -> (UBig, bool) {
        let unit = power_of_ten(extra);
        let (mut kept, rest) = coefficient.div_rem(&unit);
        if rest.is_zero() {
            return (kept, false);
        }
        let half = (rest * UBig::from(2u8)).cmp(&unit);
        if !self.rounds_away(&kept, negative, half) {
            return (kept, false);
        }
        let before = digits(&kept);
        kept += UBig::ONE;
        if digits(&kept) > before {
            (kept / UBig::from(10u8), true)
        } else {
            (kept, false)
        }
    }

    fn rounds_away(self, kept: &UBig, negative: bool, half: std::cmp::Ordering) -> bool {
        match self.rounding {
            Rounding::HalfUp => half.is_ge(),
            Rounding::HalfEven => half.is_gt() || half.is_eq() && kept.bit(0),
            Rounding::Down => false,
            Rounding::Floor => negative,
            Rounding::Ceiling => !negative,
        }
    }

    fn placed(
        self,
        coefficient: UBig,
        exponent: i64,
        negative: bool,
    ) -> Result<Decimal, ArithmeticError> {
        let exponent = i32::try_from(exponent).map_err(|_| ArithmeticError::ExponentOutOfRange)?;
        self.checked(Decimal {
            coefficient,
            exponent,
            negative,
        })
    }

    pub(super) fn checked(self, value: Decimal) -> Result<Decimal, ArithmeticError> {
        let limit = i64::from(MAX_EXPONENT);
        let exponent = i64::from(value.exponent);
        let adjusted = exponent + digits(&value.coefficient) - 1;
        if exponent.abs() > limit || adjusted.abs() > limit {
            return Err(ArithmeticError::ExponentOutOfRange);
        }
        Ok(value)
    }
}
