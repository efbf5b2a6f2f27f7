//! `cargo +nightly fuzz run cue_evaluate`: see `mutate::target::evaluate`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    mutate::target::evaluate(text);
});
