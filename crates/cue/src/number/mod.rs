//! Numbers as CUE computes them: decimals of any length, each either an integer or a float.
//!
//! A number is a [`Decimal`] (sign, coefficient, power of ten) and a kind. The kind is syntactic:
//! `1` is an integer and `1.0` is not, although they compare equal. Sums, differences and products
//! are rounded half up to 34 significant digits, integers too, and keep the scale that IEEE 754 decimal
//! arithmetic gives them: `1.0+1` is `2.0`, `1.0*1.0` is `1.00`. Quotients are always floats and lose
//! their trailing zeros but one. Literals keep all their digits.
//!
//! | file | what |
//! |---|---|
//! | `decimal` | the representation, comparison, conversions |
//! | `context` | rounding, and the four operations at a given precision |
//! | `literal` | number literals of the language, and numbers of data files |
//! | `text` | printing |
//! | `functions` | roots, logarithms, powers |
//!
//! Infinities and NaN do not exist here; an operation that would make one is an error.

mod context;
mod decimal;
mod functions;
mod literal;
mod text;

pub use context::{ArithmeticError, Context, PRECISION, Rounding};
pub use decimal::{Decimal, MAX_EXPONENT};
pub use literal::LiteralError;

use std::cmp::Ordering;

use dashu_int::IBig;

/// Whether a number was written, or computed, as an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NumKind {
    Int,
    Float,
}

/// A number of the language. `==` compares the representation (`1`, `1.0` and `1.00` all differ);
/// [`Num::compare`] compares the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Num {
    pub value: Decimal,
    pub kind: NumKind,
}

impl Num {
    pub fn int(value: impl Into<IBig>) -> Num {
        Num {
            value: Decimal::from_int(value),
            kind: NumKind::Int,
        }
    }

    pub fn float(value: Decimal) -> Num {
        Num {
            value,
            kind: NumKind::Float,
        }
    }

    /// The shortest decimal that reads back as `value`; none for infinities and NaN.
    pub fn from_f64(value: f64) -> Option<Num> {
        Decimal::from_f64(value).map(Num::float)
    }

    /// A computed decimal: an integer when it has no fractional part, whatever its scale.
    pub fn from_result(value: Decimal) -> Num {
        match value.integral() {
            Some(int) => Num {
                value: int,
                kind: NumKind::Int,
            },
            None => Num::float(value),
        }
    }

    pub fn is_int(&self) -> bool {
        self.kind == NumKind::Int
    }

    pub fn is_zero(&self) -> bool {
        self.value.is_zero()
    }

    pub fn is_negative(&self) -> bool {
        self.value.is_negative()
    }

    pub fn add(&self, other: &Num) -> Result<Num, ArithmeticError> {
        let value = Context::BASE.add(&self.value, &other.value)?;
        Ok(self.with(other, value))
    }

    pub fn sub(&self, other: &Num) -> Result<Num, ArithmeticError> {
        let value = Context::BASE.sub(&self.value, &other.value)?;
        Ok(self.with(other, value))
    }

    pub fn mul(&self, other: &Num) -> Result<Num, ArithmeticError> {
        let value = Context::BASE.mul(&self.value, &other.value)?;
        Ok(self.with(other, value))
    }

    /// `/`: always a float.
    pub fn div(&self, other: &Num) -> Result<Num, ArithmeticError> {
        Context::BASE
            .quo(&self.value, &other.value)
            .map(|value| Num::float(value.reduced_keeping_point()))
    }

    /// `div(a, b)`: the integer quotient whose remainder is not negative.
    pub fn int_div(&self, other: &Num) -> Result<Num, ArithmeticError> {
        let (x, y) = self.operands(other)?;
        let (quotient, _) = euclid(&x, &y);
        Ok(Num::int(quotient))
    }

    /// `mod(a, b)`: never negative.
    pub fn int_mod(&self, other: &Num) -> Result<Num, ArithmeticError> {
        let (x, y) = self.operands(other)?;
        let (_, remainder) = euclid(&x, &y);
        Ok(Num::int(remainder))
    }

    /// `quo(a, b)`: the quotient cut towards zero.
    pub fn int_quo(&self, other: &Num) -> Result<Num, ArithmeticError> {
        let (x, y) = self.operands(other)?;
        Ok(Num::int(x / y))
    }

    /// `rem(a, b)`: has the sign of `a`.
    pub fn int_rem(&self, other: &Num) -> Result<Num, ArithmeticError> {
        let (x, y) = self.operands(other)?;
        Ok(Num::int(x % y))
    }

    /// Unary minus. There is no negative zero to get this way.
    #[must_use]
    pub fn negate(&self) -> Num {
        Num {
            value: self.value.negate(),
            kind: self.kind,
        }
    }

    /// Compares values exactly, across kinds and scales.
    pub fn compare(&self, other: &Num) -> Ordering {
        self.value.compare(&other.value)
    }

    /// The value as an integer of any size, if it has no fractional part.
    pub fn to_ibig(&self) -> Option<IBig> {
        self.value.to_ibig()
    }

    pub fn to_i64(&self) -> Option<i64> {
        self.value.to_i64()
    }

    pub fn to_u64(&self) -> Option<u64> {
        self.value.to_u64()
    }

    /// The nearest binary float; infinite when too large.
    pub fn to_f64(&self) -> f64 {
        self.value.to_f64()
    }

    fn with(&self, other: &Num, value: Decimal) -> Num {
        let kind = self.kind.max(other.kind);
        Num { value, kind }
    }

    fn operands(&self, other: &Num) -> Result<(IBig, IBig), ArithmeticError> {
        if other.is_zero() {
            return Err(ArithmeticError::DivisionByZero);
        }
        let round = |num: &Num| {
            Context::BASE
                .to_integral(&num.value)
                .to_ibig()
                .ok_or(ArithmeticError::ExponentOutOfRange)
        };
        let (x, y) = (round(self)?, round(other)?);
        if y == IBig::ZERO {
            return Err(ArithmeticError::DivisionByZero);
        }
        Ok((x, y))
    }
}

fn euclid(x: &IBig, y: &IBig) -> (IBig, IBig) {
    let (quotient, remainder) = (x / y, x % y);
    if remainder >= IBig::ZERO {
        (quotient, remainder)
    } else if *y > IBig::ZERO {
        (quotient - IBig::ONE, remainder + y)
    } else {
        (quotient + IBig::ONE, remainder - y)
    }
}

#[cfg(test)]
mod tests;
