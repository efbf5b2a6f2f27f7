//! Literals and their values: decoding numbers and quoted strings, and quoting.

mod number;
mod quote;
mod quoted;

pub use number::{Number, parse_number};
pub use quote::{
    is_identifier, label_needs_quotes, quote_bytes, quote_bytes_lines, quote_label, quote_lines,
    quote_string, reindent,
};
pub use quoted::{Invalid, Quotes, plain_string, unquote, unquote_string};
