//! Package `math`. Functions of decimals are exact or have 34 digits; the others are those of binary floats, whose result is
//! the shortest decimal that reads back as the float.

use dashu_int::IBig;

use super::call::fatal;
use super::member::{INT, NUMBER, function, number};
use super::{Args, Error, Kinds, Package, Value};
use crate::number::{Context, Decimal, MAX_EXPONENT, Num, Rounding};

macro_rules! of_float {
    ($name:literal, $f:expr) => {
        function($name, &[NUMBER], Kinds::NUMBER, |args| {
            let f: fn(f64) -> f64 = $f;
            float(f(args.float(0)?))
        })
    };
}

macro_rules! of_floats {
    ($name:literal, $f:expr) => {
        function($name, &[NUMBER, NUMBER], Kinds::NUMBER, |args| {
            let f: fn(f64, f64) -> f64 = $f;
            float(f(args.float(0)?, args.float(1)?))
        })
    };
}

macro_rules! of_decimal {
    ($name:literal, $f:ident) => {
        function($name, &[NUMBER], Kinds::NUMBER, |args| {
            Ok(decimal(Context::BASE.$f(args.decimal(0)?)?))
        })
    };
}

macro_rules! rounded {
    ($name:literal, $rounding:ident) => {
        function($name, &[NUMBER], Kinds::INT, |args| {
            round(args, Rounding::$rounding)
        })
    };
}

pub(super) const PACKAGE: Package = Package {
    path: "math",
    cue: None,
    members: &[
        number("MaxExp", "2147483647"),
        number("MinExp", "-2147483648"),
        number("MaxPrec", "4294967295"),
        number("ToNearestEven", "0"),
        number("ToNearestAway", "1"),
        number("ToZero", "2"),
        number("AwayFromZero", "3"),
        number("ToNegativeInf", "4"),
        number("ToPositiveInf", "5"),
        number("Below", "-1"),
        number("Exact", "0"),
        number("Above", "1"),
        function("Jacobi", &[INT, INT], Kinds::INT, jacobi),
        number("MaxBase", "62"),
        rounded!("Floor", Floor),
        rounded!("Ceil", Ceiling),
        rounded!("Trunc", Down),
        rounded!("Round", HalfUp),
        rounded!("RoundToEven", HalfEven),
        function("MultipleOf", &[NUMBER, NUMBER], Kinds::BOOL, multiple_of),
        function("Abs", &[NUMBER], Kinds::NUMBER, abs),
        of_float!("Acosh", libm::acosh),
        of_float!("Asin", libm::asin),
        of_float!("Acos", libm::acos),
        of_float!("Asinh", libm::asinh),
        of_float!("Atan", libm::atan),
        of_floats!("Atan2", libm::atan2),
        of_float!("Atanh", libm::atanh),
        of_decimal!("Cbrt", cbrt),
        number(
            "E",
            "2.71828182845904523536028747135266249775724709369995957496696763",
        ),
        number(
            "Pi",
            "3.14159265358979323846264338327950288419716939937510582097494459",
        ),
        number(
            "Phi",
            "1.61803398874989484820458683436563811772030917980576286213544861",
        ),
        number(
            "Sqrt2",
            "1.41421356237309504880168872420969807856967187537694807317667974",
        ),
        number(
            "SqrtE",
            "1.64872127070012814684865078781416357165377610071014801157507931",
        ),
        number(
            "SqrtPi",
            "1.77245385090551602729816748334114518279754945612238712821380779",
        ),
        number(
            "SqrtPhi",
            "1.27201964951406896425242246173749149171560804184009624861664038",
        ),
        number(
            "Ln2",
            "0.693147180559945309417232121458176568075500134360255254120680009",
        ),
        number(
            "Log2E",
            "1.442695040888963407359924681001892137426645954152985934135449408",
        ),
        number(
            "Ln10",
            "2.3025850929940456840179914546843642076011014886287729760333278",
        ),
        number(
            "Log10E",
            "0.43429448190325182765112891891660508229439700580366656611445378",
        ),
        function("Copysign", &[NUMBER, NUMBER], Kinds::NUMBER, copysign),
        function("Dim", &[NUMBER, NUMBER], Kinds::NUMBER, dim),
        of_float!("Erf", libm::erf),
        of_float!("Erfc", libm::erfc),
        of_float!("Erfinv", erfinv),
        of_float!("Erfcinv", |x| erfinv(1.0 - x)),
        of_decimal!("Exp", exp),
        function("Exp2", &[NUMBER], Kinds::NUMBER, exp2),
        of_float!("Expm1", libm::expm1),
        of_float!("Gamma", libm::tgamma),
        of_floats!("Hypot", libm::hypot),
        of_float!("J0", libm::j0),
        of_float!("Y0", libm::y0),
        of_float!("J1", libm::j1),
        of_float!("Y1", libm::y1),
        function("Jn", &[INT, NUMBER], Kinds::NUMBER, jn),
        function("Yn", &[INT, NUMBER], Kinds::NUMBER, yn),
        function("Ldexp", &[NUMBER, INT], Kinds::NUMBER, ldexp),
        of_decimal!("Log", ln),
        of_decimal!("Log10", log10),
        of_decimal!("Log2", log2),
        of_float!("Log1p", libm::log1p),
        of_float!("Logb", |x| f64::from(libm::ilogb(x))),
        function("Ilogb", &[NUMBER], Kinds::INT, ilogb),
        of_floats!("Mod", libm::fmod),
        function("Pow", &[NUMBER, NUMBER], Kinds::NUMBER, pow),
        function("Pow10", &[INT], Kinds::NUMBER, pow10),
        of_floats!("Remainder", libm::remainder),
        function("Signbit", &[NUMBER], Kinds::BOOL, signbit),
        of_float!("Cos", libm::cos),
        of_float!("Sin", libm::sin),
        of_float!("Sinh", libm::sinh),
        of_float!("Cosh", libm::cosh),
        of_float!("Sqrt", libm::sqrt),
        of_float!("Tan", libm::tan),
        of_float!("Tanh", libm::tanh),
    ],
};

/// Orders of Bessel functions that are computed; the work grows with the order.
const MAX_ORDER: i64 = 100_000;

fn decimal(value: Decimal) -> Value {
    Value::Num(Num::from_result(value))
}

fn float(value: f64) -> Result<Value, Error> {
    Num::from_f64(value)
        .map(Value::Num)
        .ok_or_else(|| fatal("result is not a finite number"))
}

fn round(args: Args<'_>, rounding: Rounding) -> Result<Value, Error> {
    let context = Context {
        rounding,
        ..Context::BASE
    };
    context
        .to_integral(args.decimal(0)?)
        .to_ibig()
        .map(Value::int)
        .ok_or_else(|| fatal("invalid operation"))
}

fn multiple_of(args: Args<'_>) -> Result<Value, Error> {
    let quotient = Context::BASE.quo(args.decimal(0)?, args.decimal(1)?)?;
    Ok(quotient.integral().is_some().into())
}

fn abs(args: Args<'_>) -> Result<Value, Error> {
    Ok(decimal(Context::BASE.round(args.decimal(0)?.abs())?))
}

fn copysign(args: Args<'_>) -> Result<Value, Error> {
    let negative = args.decimal(1)?.is_negative();
    Ok(decimal(args.decimal(0)?.with_sign(negative)))
}

fn dim(args: Args<'_>) -> Result<Value, Error> {
    let difference = Context::BASE.sub(args.decimal(0)?, args.decimal(1)?)?;
    if difference.is_negative() {
        return Ok(Value::int(0));
    }
    Ok(decimal(difference))
}

fn exp2(args: Args<'_>) -> Result<Value, Error> {
    let two = Decimal::from_int(2);
    Ok(decimal(Context::BASE.pow(&two, args.decimal(0)?)?))
}

fn pow(args: Args<'_>) -> Result<Value, Error> {
    let result = Context::BASE.pow(args.decimal(0)?, args.decimal(1)?)?;
    Ok(decimal(result))
}

fn pow10(args: Args<'_>) -> Result<Value, Error> {
    let exponent = args.int32(0, "int32")?;
    if exponent.unsigned_abs() > MAX_EXPONENT.unsigned_abs() {
        return Err(fatal("exponent out of range"));
    }
    Ok(decimal(Decimal::new(1, exponent)))
}

fn signbit(args: Args<'_>) -> Result<Value, Error> {
    Ok(args.decimal(0)?.is_negative().into())
}

fn ilogb(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::int(libm::ilogb(args.float(0)?)))
}

fn ldexp(args: Args<'_>) -> Result<Value, Error> {
    let exponent = args.int(1)?.clamp(-5000, 5000);
    float(libm::ldexp(
        args.float(0)?,
        i32::try_from(exponent).unwrap_or(0),
    ))
}

fn order(args: Args<'_>) -> Result<i32, Error> {
    let order = args.int(0)?;
    if order.abs() > MAX_ORDER {
        return Err(fatal("order out of range"));
    }
    i32::try_from(order).map_err(|_| fatal("order out of range"))
}

fn jn(args: Args<'_>) -> Result<Value, Error> {
    float(libm::jn(order(args)?, args.float(1)?))
}

fn yn(args: Args<'_>) -> Result<Value, Error> {
    float(libm::yn(order(args)?, args.float(1)?))
}

fn jacobi(args: Args<'_>) -> Result<Value, Error> {
    let (x, y) = (args.big(0)?, args.big(1)?);
    if &y % IBig::from(2) == IBig::ZERO {
        return Err(fatal(format!(
            "big: invalid 2nd argument to Int.Jacobi: need odd integer but got {y}"
        )));
    }
    Ok(Value::int(jacobi_symbol(x, y)))
}

fn jacobi_symbol(mut x: IBig, mut y: IBig) -> i8 {
    let mut sign = 1;
    if y < IBig::ZERO {
        if x < IBig::ZERO {
            sign = -1;
        }
        y = -y;
    }
    loop {
        if y == IBig::ONE {
            return sign;
        }
        x %= &y;
        if x < IBig::ZERO {
            x += &y;
        }
        if x == IBig::ZERO {
            return 0;
        }
        let eight = i64::try_from(&y % IBig::from(8)).unwrap_or(0);
        while &x % IBig::from(2) == IBig::ZERO {
            x /= IBig::from(2);
            if eight == 3 || eight == 5 {
                sign = -sign;
            }
        }
        let four = |n: &IBig| i64::try_from(n % IBig::from(4)).unwrap_or(0);
        if four(&x) == 3 && four(&y) == 3 {
            sign = -sign;
        }
        std::mem::swap(&mut x, &mut y);
    }
}

/// The inverse of the error function: a rational first guess, then Newton's steps.
fn erfinv(x: f64) -> f64 {
    if !(-1.0..=1.0).contains(&x) {
        return f64::NAN;
    }
    if x.abs() == 1.0 {
        return x * f64::INFINITY;
    }
    if x == 0.0 {
        return x;
    }
    // Winitzki's approximation is good to about three digits.
    let log = libm::log1p(-x * x);
    let half = 2.0 / (std::f64::consts::PI * 0.147) + log / 2.0;
    let mut guess = libm::sqrt(libm::sqrt(half * half - log / 0.147) - half).copysign(x);
    for _ in 0..4 {
        let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-guess * guess);
        let error = if x.abs() < 0.5 {
            libm::erf(guess) - x
        } else {
            // Near one the complement keeps the digits.
            let distance = (1.0 - x.abs()) - libm::erfc(guess.abs());
            distance.copysign(distance * x.signum())
        };
        guess -= error / slope;
    }
    guess
}
