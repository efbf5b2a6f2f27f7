//! `cargo +nightly fuzz run cue_literal`: see `mutate::target::literals`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    mutate::target::literals(text);
});
