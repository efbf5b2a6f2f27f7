//! Literals: decoding never panics, and quoting is undone by decoding.
//!
//! Run with `cargo +nightly fuzz run cue_literal`.
#![no_main]

use cue::syntax::literal;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = literal::unquote(text);
    let _ = literal::parse_number(text);
    let quoted = literal::quote_string(text);
    assert_eq!(literal::unquote_string(&quoted).as_deref(), Ok(text));
    let lines = literal::quote_lines(text, 1);
    assert_eq!(literal::unquote_string(&lines).as_deref(), Ok(text));
});
