//! The values of literals: numbers and quoted strings.

mod number;
mod quoted;

pub use number::{Number, parse_number};
pub use quoted::{Invalid, Quotes, unquote, unquote_string};
