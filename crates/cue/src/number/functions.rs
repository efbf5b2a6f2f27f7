//! Roots, logarithms and powers of decimals, to the precision of the language.
//!
//! They are computed in fixed point with enough guard digits that the last digit is the correctly rounded one in all but
//! contrived cases. Arguments are cut to [`ARGUMENT_DIGITS`] digits first, so that the work is bounded.

use dashu_int::ops::{BitTest, DivRem};
use dashu_int::{IBig, Sign, UBig};

use super::context::{ArithmeticError, Context, PRECISION, Rounding};
use super::decimal::{Decimal, digits, power_of_ten};

const ARGUMENT_DIGITS: u32 = 1000;
const GUARD: i64 = 20;
/// Above this, `e^x` is outside the range of numbers that the reference computes.
const EXP_LIMIT: i64 = 23_000;

impl Context {
    pub fn cbrt(self, x: &Decimal) -> Result<Decimal, ArithmeticError> {
        if x.is_zero() {
            return Ok(Decimal {
                exponent: x.exponent / 3,
                ..x.clone()
            });
        }
        // Make the exponent a multiple of three and the root long enough to round.
        let wanted = 3 * (i64::from(self.precision) + GUARD);
        let mut scale = (wanted - digits(&x.coefficient)).max(0);
        scale += (i64::from(x.exponent) - scale).rem_euclid(3);
        let radicand = &x.coefficient * power_of_ten(scale);
        let mut root = radicand.nth_root(3);
        let mut exponent = (i64::from(x.exponent) - scale) / 3;
        if root.clone().pow(3) != radicand {
            // A digit that no exact root has keeps the rounding honest.
            root = root * UBig::from(10u8) + UBig::ONE;
            exponent -= 1;
        }
        self.fixed(IBig::from(root), -exponent, x.negative)
    }

    pub fn ln(self, x: &Decimal) -> Result<Decimal, ArithmeticError> {
        if x.is_negative() || x.is_zero() {
            return Err(ArithmeticError::InvalidOperation);
        }
        if x.integral().is_some_and(|int| int.coefficient == UBig::ONE) {
            return Ok(Decimal::ZERO);
        }
        let x = argument(x);
        let places = self.places(&x);
        self.fixed(ln_fixed(&x, places), places, false)
    }

    pub fn log10(self, x: &Decimal) -> Result<Decimal, ArithmeticError> {
        let wide = Context {
            precision: self.precision + 2,
            rounding: Rounding::HalfEven,
        };
        let ln = wide.ln(x)?;
        let places = i64::from(self.precision) + GUARD;
        let one = IBig::from(power_of_ten(2 * places));
        let inverse = wide.fixed(one / ln10_fixed(places), places, false)?;
        Context {
            rounding: Rounding::HalfEven,
            ..self
        }
        .mul(&ln, &inverse)
    }

    pub fn log2(self, x: &Decimal) -> Result<Decimal, ArithmeticError> {
        let quotient = self.quo(&self.ln(x)?, &self.ln(&Decimal::from_int(2))?)?;
        Ok(quotient.reduced_keeping_point())
    }

    pub fn exp(self, x: &Decimal) -> Result<Decimal, ArithmeticError> {
        if x.is_zero() {
            return Ok(Decimal::from_int(1));
        }
        if x.abs().compare(&Decimal::from_int(EXP_LIMIT)).is_gt() {
            return Err(ArithmeticError::ExponentOutOfRange);
        }
        let tiny = Decimal::new(9, -i32::try_from(self.precision).unwrap_or(0) - 1);
        if x.abs().compare(&tiny).is_le() {
            return Ok(Decimal::from_int(1));
        }
        let x = argument(x);
        let places = i64::from(self.precision) + GUARD + 10;
        let (value, shift) = exp_fixed(&to_fixed(&x, places), places);
        self.fixed(value, places - shift, false)
    }

    pub fn pow(self, x: &Decimal, y: &Decimal) -> Result<Decimal, ArithmeticError> {
        let whole = y.integral();
        if x.is_zero() {
            return match (y.is_zero(), y.is_negative()) {
                (false, false) => Ok(Decimal::ZERO),
                _ => Err(ArithmeticError::InvalidOperation),
            };
        }
        if y.is_zero() {
            return Ok(Decimal::from_int(1));
        }
        if x.is_negative() && whole.is_none() {
            return Err(ArithmeticError::InvalidOperation);
        }
        let count = u32::try_from(x.digits()).unwrap_or(u32::MAX);
        let wide = Context {
            precision: PRECISION.max(count.min(ARGUMENT_DIGITS)) + 10,
            rounding: Rounding::HalfUp,
        };
        let truncated = Context {
            rounding: Rounding::Down,
            ..self
        }
        .to_integral(y);
        let power = wide.int_pow(x, &truncated)?;
        if whole.is_some() {
            return self.round(power);
        }
        let fraction = wide.sub(y, &truncated)?;
        let root = wide.exp(&wide.mul(&wide.ln(&x.abs())?, &fraction)?)?;
        self.round(wide.mul(&power, &root)?)
    }

    fn int_pow(self, x: &Decimal, y: &Decimal) -> Result<Decimal, ArithmeticError> {
        let mut left = y.coefficient.clone();
        let mut square = x.clone();
        let mut result = Decimal::from_int(1);
        while !left.is_zero() {
            if left.bit(0) {
                result = self.mul(&result, &square)?;
            }
            left >>= 1;
            if !left.is_zero() {
                square = self.mul(&square, &square)?;
            }
        }
        if y.is_negative() {
            return self.quo(&Decimal::from_int(1), &result);
        }
        Ok(result)
    }

    fn places(self, x: &Decimal) -> i64 {
        i64::from(self.precision) + GUARD + x.digits()
    }

    fn fixed(self, value: IBig, places: i64, negative: bool) -> Result<Decimal, ArithmeticError> {
        let (sign, coefficient) = value.into_parts();
        self.round(Decimal {
            coefficient,
            exponent: i32::try_from(-places).map_err(|_| ArithmeticError::ExponentOutOfRange)?,
            negative: negative != (sign == Sign::Negative),
        })
    }
}

fn argument(x: &Decimal) -> Decimal {
    Context {
        precision: ARGUMENT_DIGITS,
        rounding: Rounding::HalfUp,
    }
    .round(x.clone())
    .unwrap_or_else(|_| x.clone())
}

/// `x * 10^places`, cut.
fn to_fixed(x: &Decimal, places: i64) -> IBig {
    let shift = i64::from(x.exponent) + places;
    let magnitude = if shift >= 0 {
        &x.coefficient * power_of_ten(shift)
    } else {
        &x.coefficient / power_of_ten(-shift)
    };
    let sign = if x.negative {
        Sign::Negative
    } else {
        Sign::Positive
    };
    IBig::from_parts(sign, magnitude)
}

/// `2 * atanh(numerator / denominator) * 10^places`.
fn twice_atanh(numerator: &IBig, denominator: &IBig, places: i64) -> IBig {
    let one = IBig::from(power_of_ten(places));
    let ratio = one.clone() * numerator / denominator;
    let square = &ratio * &ratio / &one;
    let mut term = ratio;
    let mut sum = IBig::ZERO;
    let mut odd = 1u32;
    while term != IBig::ZERO {
        sum += &term / IBig::from(odd);
        term = term * &square / &one;
        odd += 2;
    }
    sum * IBig::from(2)
}

fn ln2_fixed(places: i64) -> IBig {
    twice_atanh(&IBig::ONE, &IBig::from(3), places)
}

fn ln10_fixed(places: i64) -> IBig {
    // 10 = 2^3 * 5/4
    ln2_fixed(places) * IBig::from(3) + twice_atanh(&IBig::ONE, &IBig::from(9), places)
}

/// `ln(x) * 10^places` for positive `x`.
fn ln_fixed(x: &Decimal, places: i64) -> IBig {
    let work = places + 5;
    let magnitude = i64::from(x.exponent) + x.digits();
    let one = IBig::from(power_of_ten(work));
    // Near one the power of ten must not be split off: its logarithm would cancel.
    let near_one = magnitude == 0 || magnitude == 1;
    let tens = if near_one { 0 } else { magnitude };
    let scaled = Decimal {
        exponent: x.exponent - i32::try_from(tens).unwrap_or(0),
        ..x.clone()
    };
    let mut mantissa = to_fixed(&scaled, work);
    let mut twos = 0i32;
    let low = &one * IBig::from(3) / IBig::from(4);
    let high = &one * IBig::from(3) / IBig::from(2);
    while mantissa > high {
        mantissa /= IBig::from(2);
        twos += 1;
    }
    while mantissa < low {
        mantissa *= IBig::from(2);
        twos -= 1;
    }
    let mut result = twice_atanh(&(&mantissa - &one), &(&mantissa + &one), work);
    if twos != 0 {
        result += ln2_fixed(work) * IBig::from(twos);
    }
    if tens != 0 {
        result += ln10_fixed(work) * IBig::from(tens);
    }
    result / IBig::from(power_of_ten(5))
}

/// `(v, k)` with `e^x = v * 10^(k - places)`.
fn exp_fixed(x: &IBig, places: i64) -> (IBig, i64) {
    let ln10 = ln10_fixed(places);
    let tens = x / &ln10;
    let rest = x - &tens * &ln10;
    let one = IBig::from(power_of_ten(places));
    // e^r = (e^(r / 256))^256
    let step = rest / IBig::from(256);
    let mut term = one.clone();
    let mut sum = one.clone();
    let mut n = 1u32;
    loop {
        term = term * &step / &one / IBig::from(n);
        if term == IBig::ZERO {
            break;
        }
        sum += &term;
        n += 1;
    }
    for _ in 0..8 {
        let (square, _) = (&sum * &sum).div_rem(&one);
        sum = square;
    }
    (sum, i64::try_from(tens).unwrap_or(0))
}
