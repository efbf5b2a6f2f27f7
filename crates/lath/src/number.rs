//! Numbers given with flags: what is none of the wanted ones is refused in words, a negative one too (the flags say `allow_negative_numbers`).

use std::str::FromStr;

/// A whole number from 1 on.
pub fn positive<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    at_least(text, 1)
}

/// A whole number from `least` on.
pub fn at_least<T: FromStr + PartialOrd + From<u8>>(text: &str, least: u8) -> Result<T, String> {
    match text.parse() {
        Ok(number) if number >= T::from(least) => Ok(number),
        _ => Err(format!("a whole number of at least {least} is wanted")),
    }
}

/// Seconds and parts of them.
pub fn seconds(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(number) if (0.0..=86_400.0).contains(&number) => Ok(number),
        _ => Err("a number of seconds from 0 to 86400 is wanted".to_owned()),
    }
}
