//! `cargo +nightly fuzz run cue_format`: see `mutate::target::format`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    mutate::target::format(text);
});
