//! `cargo +nightly fuzz run cue_parse`: see `mutate::target::parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    mutate::target::parse(text);
});
