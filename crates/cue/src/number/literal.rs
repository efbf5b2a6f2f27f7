//! Numbers from text: literals of the language and numbers of data files.
//!
//! A literal may have a base (`0x1F`, `0o17`, `0b11`), separators (`1_000`), a fraction, an exponent, or a
//! multiplier (`1.5Ki`, `2M`), which makes it an integer again. Leading zeros are refused.
//! Every digit is kept.

use std::fmt;

use dashu_int::UBig;

use super::context::Context;
use super::decimal::Decimal;
use super::{Num, NumKind};

/// Why a text is no number. The texts are the reference's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiteralError {
    pub message: String,
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Num {
    /// An integer as it is printed, with up to 18 digits: the usual number.
    pub fn parse_short(text: &str) -> Option<Num> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        match digits.as_bytes() {
            [b'0'] if digits.len() == text.len() => {}
            [b'1'..=b'9', rest @ ..] if rest.len() < 18 && rest.iter().all(u8::is_ascii_digit) => {}
            _ => return None,
        }
        text.parse::<i64>().ok().map(Num::int)
    }

    /// A literal of the language, with an optional sign.
    pub fn parse_literal(text: &str) -> Result<Num, LiteralError> {
        if let Some(short) = Num::parse_short(text) {
            return Ok(short);
        }
        Literal {
            text,
            rest: text.as_bytes(),
            digits: String::new(),
        }
        .parse()
    }

    /// A number in plain decimal text, as data files have it: `-?digits(.digits)?(e[+-]?digits)?`.
    pub fn parse_data(text: &str, is_int: bool) -> Result<Num, LiteralError> {
        if is_int && let Some(short) = Num::parse_short(text) {
            return Ok(short);
        }
        let value = Decimal::parse(text)?;
        if is_int {
            return Ok(Num {
                // `-0` is zero.
                value: Decimal::from_int(value.to_ibig().ok_or_else(|| invalid(text))?),
                kind: NumKind::Int,
            });
        }
        Ok(Num::float(value))
    }
}

impl Decimal {
    /// Plain decimal text; the scale is kept (`1.50` has two places).
    pub fn parse(text: &str) -> Result<Decimal, LiteralError> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or("")),
            Some(b'+') => (false, text.get(1..).unwrap_or("")),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => {
                let (mantissa, exponent) = unsigned.split_at(at);
                let exponent = exponent.get(1..).unwrap_or("");
                (mantissa, exponent.parse().map_err(|_| invalid(text))?)
            }
            None => (unsigned, 0i32),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
            return Err(invalid(text));
        }
        let places = i32::try_from(fraction.len()).map_err(|_| invalid(text))?;
        let coefficient = match (whole.len(), fraction.len()) {
            (_, 0) => parse_digits(whole, 10),
            _ => parse_digits(&[whole, fraction].concat(), 10),
        };
        let decimal = Decimal {
            coefficient,
            exponent: exponent.checked_sub(places).ok_or_else(|| invalid(text))?,
            negative,
        };
        Context::BASE.checked(decimal).map_err(|_| LiteralError {
            message: format!("number {text} has an exponent out of range"),
        })
    }
}

struct Literal<'a> {
    text: &'a str,
    rest: &'a [u8],
    digits: String,
}

impl Literal<'_> {
    fn parse(mut self) -> Result<Num, LiteralError> {
        if self.text.is_empty() {
            return Err(invalid(self.text));
        }
        let negative = self.take(b'-');
        if !negative {
            self.take(b'+');
        }
        let start = self.rest;
        if self.take(b'0') {
            let base = match self.peek() {
                Some(b'x' | b'X') => Some((16, "hexadecimal")),
                Some(b'b') => Some((2, "binary")),
                Some(b'o') => Some((8, "octal")),
                _ => None,
            };
            if let Some((radix, name)) = base {
                self.bump();
                if !self.mantissa(radix)? {
                    return Err(self.error(format!("illegal {name} number {:?}", self.text)));
                }
                self.end()?;
                let coefficient = parse_digits(&self.digits, radix);
                return Ok(Num {
                    value: Decimal {
                        negative: negative && !coefficient.is_zero(),
                        coefficient,
                        exponent: 0,
                    },
                    kind: NumKind::Int,
                });
            }
            self.rest = start;
        }
        self.decimal(negative)
    }

    fn decimal(mut self, negative: bool) -> Result<Num, LiteralError> {
        let mut is_float = false;
        let leading_zero = self.peek() == Some(b'0');
        if self.take(b'.') {
            is_float = true;
            self.digits.push_str("0.");
            if !self.mantissa(10)? {
                return Err(self.error(format!("illegal fraction {:?}", self.text)));
            }
        } else {
            if !self.mantissa(10)? {
                return Err(self.error(format!("illegal number start {:?}", self.text)));
            }
            let count = self.digits.len();
            if self.take(b'.') {
                is_float = true;
                self.digits.push('.');
                self.mantissa(10)?;
            } else if leading_zero && count > 1 && !matches!(self.peek(), Some(b'e' | b'E')) {
                return Err(self.error(format!("illegal integer number {:?}", self.text)));
            }
        }
        match self.peek() {
            Some(letter @ (b'K' | b'M' | b'G' | b'T' | b'P')) => {
                self.bump();
                return self.multiplied(letter, negative);
            }
            Some(b'e' | b'E') => {
                self.bump();
                is_float = true;
                self.digits.push('e');
                if let Some(sign @ (b'+' | b'-')) = self.peek() {
                    self.bump();
                    self.digits.push(char::from(sign));
                }
                if !self.mantissa(10)? {
                    return Err(self.error(format!("illegal exponent {:?}", self.text)));
                }
            }
            _ => {}
        }
        self.end()?;
        let value = Decimal::parse(&self.digits).map_err(|error| {
            // The number is well formed, so only its size can be wrong.
            if error == invalid(&self.digits) {
                self.error(format!("number {} has an exponent out of range", self.text))
            } else {
                error
            }
        })?;
        Ok(Num {
            value: value.with_sign(negative),
            kind: if is_float {
                NumKind::Float
            } else {
                NumKind::Int
            },
        })
    }

    fn multiplied(mut self, letter: u8, negative: bool) -> Result<Num, LiteralError> {
        let power = match letter {
            b'K' => 1,
            b'M' => 2,
            b'G' => 3,
            b'T' => 4,
            _ => 5,
        };
        let base: u64 = if self.take(b'i') { 1024 } else { 1000 };
        if !self.rest.is_empty() {
            return Err(self.error(format!(
                "illegal trailing characters in number {:?}",
                self.text
            )));
        }
        let factor = Decimal::from_int(base.pow(power));
        let value = Decimal::parse(&self.digits)?.with_sign(negative);
        Context::BASE
            .mul(&value, &factor)
            .ok()
            .and_then(|product| product.integral())
            .map(|value| Num {
                value,
                kind: NumKind::Int,
            })
            .ok_or_else(|| self.error("number cannot be represented as int".to_owned()))
    }

    /// Digits of the base with single `_` between them; whether there was a digit.
    fn mantissa(&mut self, radix: u32) -> Result<bool, LiteralError> {
        let mut seen = false;
        let mut after_separator = false;
        let mut doubled = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'_' => {
                    doubled |= after_separator;
                    after_separator = true;
                }
                _ if char::from(byte).is_digit(radix) => {
                    self.digits.push(char::from(byte));
                    seen = true;
                    after_separator = false;
                }
                _ => break,
            }
            self.bump();
        }
        if doubled || after_separator {
            return Err(self.error("illegal '_' in number".to_owned()));
        }
        Ok(seen)
    }

    fn end(&self) -> Result<(), LiteralError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(self.error(format!("illegal number {:?}", self.text)))
    }

    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn bump(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or(&[]);
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.bump();
        }
        found
    }

    fn error(&self, message: String) -> LiteralError {
        LiteralError { message }
    }
}

fn invalid(text: &str) -> LiteralError {
    LiteralError {
        message: format!("invalid number {text:?}"),
    }
}

/// The caller has checked the digits.
fn parse_digits(digits: &str, radix: u32) -> UBig {
    if digits.len() < 16 {
        return UBig::from(u64::from_str_radix(digits, radix).unwrap_or(0));
    }
    UBig::from_str_radix(digits, radix).unwrap_or(UBig::ZERO)
}
