//! `cargo +nightly fuzz run unit_parse`: see `mutate::target::unit`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    mutate::target::unit(text);
});
