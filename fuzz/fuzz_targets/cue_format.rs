//! Formatter: what is valid stays valid.
//!
//! Run with `cargo +nightly fuzz run cue_format`.
#![no_main]

use std::sync::Arc;

use base::{SourceId, Symbols};
use cue::syntax::{Options, format_file, parse_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut symbols = Symbols::new();
    let parsed = parse_file(SourceId(0), &Arc::from(text), &mut symbols);
    let formatted = format_file(&parsed.file, &symbols, Options::default());
    if parsed.errors.is_empty() {
        let again = parse_file(SourceId(0), &Arc::from(formatted.as_str()), &mut symbols);
        assert!(again.errors.is_empty(), "{formatted}\n{:?}", again.errors);
    }
});
