use proptest::prelude::*;

use super::*;

fn n(text: &str) -> Num {
    Num::parse_literal(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn calc(op: &str, a: &str, b: &str) -> String {
    let (x, y) = (n(a), n(b));
    let result = match op {
        "+" => x.add(&y),
        "-" => x.sub(&y),
        "*" => x.mul(&y),
        "/" => x.div(&y),
        "div" => x.int_div(&y),
        "mod" => x.int_mod(&y),
        "quo" => x.int_quo(&y),
        "rem" => x.int_rem(&y),
        _ => panic!("no operation {op}"),
    };
    result.map_or_else(|e| format!("error: {e}"), |num| num.to_cue())
}

#[test]
fn scale_is_kept() {
    assert_eq!(calc("+", "1.0", "1"), "2.0");
    assert_eq!(calc("+", "1.10", "1"), "2.10");
    assert_eq!(calc("*", "1.0", "1.0"), "1.00");
    assert_eq!(calc("*", "100", "1.1"), "110.0");
    assert_eq!(calc("+", "1e3", "1"), "1001.0");
    assert_eq!(calc("-", "1.5", "1.5"), "0.0");
}

#[test]
fn quotients_are_floats_without_needless_zeros() {
    assert_eq!(calc("/", "4", "2"), "2.0");
    assert_eq!(calc("/", "1", "3"), "0.3333333333333333333333333333333333");
    assert_eq!(calc("/", "2", "3"), "0.6666666666666666666666666666666667");
    assert_eq!(calc("/", "0", "5"), "0.0");
    assert_eq!(calc("/", "1", "8"), "0.125");
    assert_eq!(calc("/", "40", "2"), "20.0");
    assert_eq!(calc("/", "100", "1"), "1.0e+2");
    assert_eq!(calc("/", "1", "0"), "error: division by zero");
    assert_eq!(calc("/", "0", "0"), "error: division undefined");
}

#[test]
fn results_have_34_digits() {
    assert_eq!(
        calc("+", "12345678901234567890123456789012345678901", "1"),
        "1.234567890123456789012345678901235e+40"
    );
    assert_eq!(
        calc("*", "1000000000000000000000000000000000.5", "1"),
        "1000000000000000000000000000000001.0"
    );
    assert_eq!(
        calc("-", "9999999999999999999999999999999999", "-1"),
        "1.000000000000000000000000000000000e+34"
    );
}

#[test]
fn integer_division_has_two_forms() {
    for (a, b, div, modulo, quo, rem) in [
        ("7", "2", "3", "1", "3", "1"),
        ("-7", "2", "-4", "1", "-3", "-1"),
        ("7", "-2", "-3", "1", "-3", "1"),
        ("-7", "-2", "4", "1", "3", "-1"),
        ("6", "-2", "-3", "0", "-3", "0"),
    ] {
        assert_eq!(calc("div", a, b), div, "div({a}, {b})");
        assert_eq!(calc("mod", a, b), modulo, "mod({a}, {b})");
        assert_eq!(calc("quo", a, b), quo, "quo({a}, {b})");
        assert_eq!(calc("rem", a, b), rem, "rem({a}, {b})");
    }
    assert_eq!(calc("div", "1", "0"), "error: division by zero");
}

#[test]
fn literals() {
    for (text, cue, kind) in [
        ("0", "0", NumKind::Int),
        ("1_000", "1000", NumKind::Int),
        ("0x1F", "31", NumKind::Int),
        ("0XfF", "255", NumKind::Int),
        ("0o17", "15", NumKind::Int),
        ("0b1_1", "3", NumKind::Int),
        ("1Ki", "1024", NumKind::Int),
        ("1.5M", "1500000", NumKind::Int),
        ("0K", "0", NumKind::Int),
        (".5", "0.5", NumKind::Float),
        ("1.", "1.0", NumKind::Float),
        ("1e3", "1e+3", NumKind::Float),
        ("1.0e2", "1.0e+2", NumKind::Float),
        ("0.10", "0.10", NumKind::Float),
        ("1e-7", "1e-7", NumKind::Float),
        ("0.000001", "0.000001", NumKind::Float),
        ("0.0000001", "1e-7", NumKind::Float),
        ("-12", "-12", NumKind::Int),
        ("00.5", "0.5", NumKind::Float),
    ] {
        let num = n(text);
        assert_eq!((num.to_cue().as_str(), num.kind), (cue, kind), "{text}");
    }
}

#[test]
fn wrong_literals() {
    for (text, message) in [
        ("", "invalid number \"\""),
        ("01", "illegal integer number \"01\""),
        ("0x", "illegal hexadecimal number \"0x\""),
        ("1__0", "illegal '_' in number"),
        ("1_", "illegal '_' in number"),
        ("1e", "illegal exponent \"1e\""),
        ("x", "illegal number start \"x\""),
        ("1.1Ki", "number cannot be represented as int"),
        ("1Kix", "illegal trailing characters in number \"1Kix\""),
        ("1a", "illegal number \"1a\""),
        ("1e999999", "number 1e999999 has an exponent out of range"),
        (
            "1e99999999999",
            "number 1e99999999999 has an exponent out of range",
        ),
    ] {
        let error = Num::parse_literal(text).expect_err(text);
        assert_eq!(error.message, message, "{text}");
    }
}

#[test]
fn exponents_are_bounded() {
    assert_eq!(
        calc("*", "1e99999", "1e99999"),
        "error: exponent out of range"
    );
    assert_eq!(
        calc("+", "1e99999", "1e-99999"),
        "error: exponent out of range"
    );
    assert_eq!(n("1e99999").to_i64(), None);
    assert_eq!(n("1e99999").to_f64(), f64::INFINITY);
}

#[test]
fn json_and_cue_differ() {
    let num = n("1e3");
    assert_eq!(num.to_string(), "1E+3");
    assert_eq!(num.to_cue(), "1e+3");
    let sum = num.add(&n("1")).expect("small");
    assert_eq!(sum.to_string(), "1001");
    assert_eq!(n("0.0").to_string(), "0.0");
    assert_eq!(n("0.0").negate().to_string(), "0.0");
    assert_eq!(n("0").mul(&n("-1")).expect("small").to_string(), "-0");
}

#[test]
fn functions() {
    let f =
        |r: Result<Decimal, ArithmeticError>| r.map_or_else(|e| e.to_string(), |d| d.to_string());
    let d = |text: &str| n(text).value;
    let base = Context::BASE;
    assert_eq!(f(base.ln(&d("2"))), "0.6931471805599453094172321214581766");
    assert_eq!(f(base.ln(&d("10"))), "2.302585092994045684017991454684364");
    assert_eq!(f(base.ln(&d("1"))), "0");
    assert_eq!(f(base.exp(&d("1"))), "2.718281828459045235360287471352662");
    assert_eq!(
        f(base.exp(&d("-1"))),
        "0.3678794411714423215955237701614609"
    );
    assert_eq!(f(base.exp(&d("100000"))), "exponent out of range");
    assert_eq!(
        f(base.log10(&d("100"))),
        "2.000000000000000000000000000000000"
    );
    assert_eq!(
        f(base.cbrt(&d("27"))),
        "3.000000000000000000000000000000000"
    );
    assert_eq!(f(base.cbrt(&d("2"))), "1.259921049894873164767210607278228");
    assert_eq!(f(base.pow(&d("8"), &d("4"))), "4096");
    assert_eq!(
        f(base.pow(&d("2"), &d("-1"))),
        "0.5000000000000000000000000000000000"
    );
    assert_eq!(
        f(base.pow(&d("2"), &d("0.5"))),
        "1.414213562373095048801688724209698"
    );
    assert_eq!(f(base.pow(&d("0"), &d("0"))), "invalid operation");
    assert_eq!(f(base.ln(&d("-1"))), "invalid operation");
}

fn number() -> impl Strategy<Value = Num> {
    (any::<i64>(), -30i32..30, any::<bool>()).prop_map(|(c, e, int)| {
        if int {
            Num::int(c)
        } else {
            Num::float(Decimal::new(c, e))
        }
    })
}

proptest! {
    #[test]
    fn printed_numbers_read_back(x in number()) {
        let back = Num::parse_literal(&x.to_cue()).expect("printed");
        prop_assert_eq!(back.compare(&x), Ordering::Equal);
        prop_assert_eq!(back.to_cue(), x.to_cue());
        prop_assert_eq!(back.kind, x.kind);
    }

    #[test]
    fn sums_commute(x in number(), y in number()) {
        prop_assert_eq!(x.add(&y), y.add(&x));
        prop_assert_eq!(x.mul(&y), y.mul(&x));
    }

    #[test]
    fn small_integers_are_exact(a in any::<i64>(), b in any::<i64>()) {
        let (x, y) = (Num::int(a), Num::int(b));
        prop_assert_eq!(x.add(&y).expect("in range").to_ibig(), Some(IBig::from(i128::from(a) + i128::from(b))));
        prop_assert_eq!(x.compare(&y), a.cmp(&b));
        prop_assert_eq!(x.to_i64(), Some(a));
        if b != 0 {
            let (a, b) = (i128::from(a), i128::from(b));
            prop_assert_eq!(x.int_div(&y).expect("not zero").to_ibig(), Some(IBig::from(a.div_euclid(b))));
            prop_assert_eq!(x.int_mod(&y).expect("not zero").to_ibig(), Some(IBig::from(a.rem_euclid(b))));
            prop_assert_eq!(x.int_quo(&y).expect("not zero").to_ibig(), Some(IBig::from(a / b)));
            prop_assert_eq!(x.int_rem(&y).expect("not zero").to_ibig(), Some(IBig::from(a % b)));
        }
    }

    #[test]
    fn comparison_agrees_with_subtraction(x in number(), y in number()) {
        let difference = x.sub(&y).expect("in range");
        let order = match (difference.is_zero(), difference.is_negative()) {
            (true, _) => Ordering::Equal,
            (_, true) => Ordering::Less,
            _ => Ordering::Greater,
        };
        prop_assert_eq!(x.compare(&y), order);
    }

    #[test]
    fn no_text_panics(text in "[-+0-9a-zA-Z_.]{0,12}") {
        let _ = Num::parse_literal(&text);
    }
}
