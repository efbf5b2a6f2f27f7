//! How long reading takes against serde_json, as a ratio: `parse_speed FILE.json… FILE.yaml…`.
//!
//! All files of one format are read as the layers of one run, with one symbol table. The best of
//! several runs counts.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{SourceId, Symbols};
use data::{Format, Options, write};

fn main() {
    let files: Vec<(Format, Arc<str>)> = std::env::args()
        .skip(1)
        .filter_map(|name| {
            let format = Format::from_name(&name)?;
            Some((format, std::fs::read_to_string(name).ok()?.into()))
        })
        .collect();
    let of = |format| files.iter().filter(move |file| file.0 == format);
    let peer = best(|| {
        for (_, text) in of(Format::Json) {
            let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
            std::mem::forget(std::hint::black_box(value));
        }
    });
    println!("serde_json  {peer:?}");
    for format in [Format::Json, Format::Yaml, Format::Toml] {
        let bytes: usize = of(format).map(|(_, text)| text.len()).sum();
        if bytes == 0 {
            continue;
        }
        let read = || {
            let mut symbols = Symbols::new();
            let mut trees = Vec::new();
            for (id, (format, text)) in (0..).zip(of(format)) {
                let options = Options::default();
                let text = Arc::clone(text);
                trees.extend(
                    data::parse(*format, SourceId(id), text, &mut symbols, &options).documents,
                );
            }
            (symbols, trees)
        };
        let own = best(|| drop(std::hint::black_box(read())));
        let (symbols, trees) = read();
        let writing = best(|| {
            for tree in &trees {
                let mut writer = write::Json::compact();
                write::node(&mut writer, tree, tree.root(), &symbols);
                std::hint::black_box(writer.finish());
            }
        });
        println!(
            "{:<11} {own:?}, {:.2} of serde_json, {:.0} MB/s; written as JSON in {writing:?}",
            format.word(),
            own.as_secs_f64() / peer.as_secs_f64(),
            bytes as f64 / own.as_secs_f64() / 1e6,
        );
    }
}

fn best(mut run: impl FnMut()) -> Duration {
    let times = (0..15).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}
