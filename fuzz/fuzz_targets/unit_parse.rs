//! Unit files: both flavours keep every byte, and a merged Quadlet reads back as it was.
//!
//! Run with `cargo +nightly fuzz run unit_parse`.
#![no_main]

use base::{LayerId, SourceId};
use libfuzzer_sys::fuzz_target;
use units::{Flavour, Kind, Merged, Part, merge, parse};

fuzz_target!(|text: &str| {
    for flavour in [Flavour::Systemd, Flavour::Quadlet] {
        let (file, findings) = parse(SourceId(0), text.into(), flavour);
        let back: String = file
            .items
            .iter()
            .map(|item| file.slice(item.span))
            .collect();
        assert_eq!(back, text);
        if flavour == Flavour::Quadlet && !findings.iter().any(|f| f.is_error()) {
            let merged = |file| {
                let layer = LayerId(0);
                merge(Kind::Container, &[Part { layer, file }])
            };
            let lines = |merged: &Merged| {
                let sections = merged.sections.iter();
                sections
                    .flat_map(|s| {
                        s.lines
                            .iter()
                            .map(|l| (s.name.clone(), l.key.clone(), l.value.clone()))
                    })
                    .collect::<Vec<_>>()
            };
            let before = merged(&file);
            let written = before.render("", |_| String::new());
            let (again, _) = parse(SourceId(0), written.as_str().into(), flavour);
            assert_eq!(lines(&merged(&again)), lines(&before));
        }
    }
});
