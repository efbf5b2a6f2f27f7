//! Scanner and parser: any text is read without a panic, and places lie in the text.
//!
//! Run with `cargo +nightly fuzz run cue_parse`.
#![no_main]

use std::sync::Arc;

use base::{SourceId, Symbols};
use cue::syntax::{parse_expr, parse_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let text: Arc<str> = Arc::from(text);
    let mut symbols = Symbols::new();
    let parsed = parse_file(SourceId(0), &text, &mut symbols);
    for error in &parsed.errors {
        for label in &error.labels {
            assert!(label.span.start as usize <= text.len(), "{error:?}");
        }
    }
    parse_expr(SourceId(0), &text, &mut symbols);
});
