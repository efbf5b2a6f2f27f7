//! Printing. [`std::fmt::Display`] of a decimal is its scientific string (`1E+3`, `0.0010`, `1E-7`), which JSON, YAML and
//! interpolations use; [`Num::to_cue`] is how the language itself writes the number.

use std::fmt;

use super::{Decimal, Num, NumKind};

/// Zeros are written out to this many places, and in exponent form beyond.
const ZERO_PLACES: i32 = 2000;

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative {
            f.write_str("-")?;
        }
        if self.exponent == 0
            && let Some(small) = self.small()
        {
            return fmt::Display::fmt(&small, f);
        }
        let digits = self.coefficient.to_string();
        let count = i64::try_from(digits.len()).map_err(|_| fmt::Error)?;
        let exponent = i64::from(self.exponent);
        let padded = if self.is_zero() && (-ZERO_PLACES..0).contains(&self.exponent) {
            count - exponent
        } else {
            count
        };
        if exponent <= 0 && exponent + padded > -6 {
            return plain(f, &digits, usize::try_from(-exponent).unwrap_or(0));
        }
        let (first, more) = digits.split_at(1);
        f.write_str(first)?;
        if !more.is_empty() {
            write!(f, ".{more}")?;
        }
        let adjusted = exponent + count - 1;
        write!(f, "E{adjusted:+}")
    }
}

fn plain(f: &mut fmt::Formatter<'_>, digits: &str, places: usize) -> fmt::Result {
    if places == 0 {
        return f.write_str(digits);
    }
    if digits.len() <= places {
        return write!(f, "0.{digits:0>places$}");
    }
    let (whole, fraction) = digits.split_at(digits.len() - places);
    write!(f, "{whole}.{fraction}")
}

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl Num {
    /// As the language writes it: `1e+3`, and floats always with a point or an exponent.
    pub fn to_cue(&self) -> String {
        let mut text = self.value.to_string();
        if text.contains('E') {
            text.make_ascii_lowercase();
        } else if self.kind == NumKind::Float && !text.contains('.') {
            text.push_str(".0");
        }
        text
    }
}
