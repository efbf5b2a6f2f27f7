//! Three engines on the same random stacks: plain data through `layers`, CUE through the evaluator, and the naive engine that `layers` is
//! tested with (a left fold of under 200 lines). Values must be the same bytes and the same contributions must be refused, whichever
//! format each layer is written in, however often it is run; the order inside a file decides only the order of the result.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test program: a failure is a failed test"
)]

#[path = "../../layers/tests/model/mod.rs"]
mod model;

use base::{Sources, Symbols};
use cue::load::{MemoryFiles, Request, load};
use data::write::{self, Json, Writer};
use layers::EntryId;
use model::{Plain, Sheet, fold, sorted, tree};
use values::{Context, Input, Kind, Merged, Options, Tier};

const STACKS: u64 = 1_000;

/// A small generator with a fixed sequence, so that a failure names its seed.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn random_value(dice: &mut Dice, depth: u32, marks: bool) -> Plain {
    match dice.roll(if depth == 0 { 5 } else { 11 }) {
        0 => Plain::Null,
        1 => Plain::Bool(dice.roll(2) == 0),
        2 | 3 => Plain::Int(dice.roll(3) as i64),
        4 => Plain::Text(format!("t{}", dice.roll(2))),
        5 => {
            let items = 0..dice.roll(3);
            Plain::List(
                items
                    .map(|_| random_value(dice, depth - 1, false))
                    .collect(),
            )
        }
        _ => random_map(dice, depth - 1, marks),
    }
}

fn random_map(dice: &mut Dice, depth: u32, marks: bool) -> Plain {
    let mut fields: Vec<(String, Plain, bool)> = Vec::new();
    for _ in 0..dice.roll(5) {
        let name = format!("k{}", dice.roll(5));
        if fields.iter().all(|(known, ..)| *known != name) {
            let value = random_value(dice, depth, marks);
            fields.push((name, value, marks && dice.roll(4) == 0));
        }
    }
    Plain::Map(fields)
}

/// A module, up to three platform layers, up to two user layers. Only the platform marks defaults.
fn random_sheets(dice: &mut Dice) -> Vec<Sheet> {
    let null_deletes = dice.roll(2) == 0;
    let mut sheets = Vec::new();
    for level in 0..3 {
        for _ in 0..[1, 1 + dice.roll(3), dice.roll(3)][usize::from(level)] {
            sheets.push(Sheet {
                value: random_map(dice, 3, level == 1),
                fixed: level == 1 && dice.roll(4) != 0,
                level,
                null_deletes: null_deletes && level == 2,
            });
        }
    }
    sheets
}

fn shuffled(value: &Plain, dice: &mut Dice) -> Plain {
    match value {
        Plain::Map(fields) => {
            let mut left = fields.clone();
            let mut out = Vec::new();
            while !left.is_empty() {
                let (name, value, mark) = left.remove(dice.roll(left.len() as u64) as usize);
                out.push((name, shuffled(&value, dice), mark));
            }
            Plain::Map(out)
        }
        Plain::List(items) => Plain::List(items.iter().map(|v| shuffled(v, dice)).collect()),
        other => other.clone(),
    }
}

/// A layer as CUE. A marked map marks everything in it.
fn cue_text(value: &Plain, default: bool) -> String {
    let leaf = match value {
        Plain::Map(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value, mark)| format!("{name}: {}", cue_text(value, default || *mark)))
                .collect();
            return format!("{{{}}}", fields.join(", "));
        }
        Plain::Null => "null".to_owned(),
        Plain::Bool(value) => value.to_string(),
        Plain::Int(value) => value.to_string(),
        Plain::Text(text) => format!("{text:?}"),
        Plain::List(items) => {
            let items: Vec<String> = items.iter().map(|item| cue_text(item, false)).collect();
            format!("[{}]", items.join(", "))
        }
    };
    match default {
        true => format!("*{leaf} | _"),
        false => leaf,
    }
}

/// What came out: the values as JSON, and the paths of refused contributions, sorted.
type Outcome = (String, Vec<String>);

/// Runs the real engine, each layer in CUE or as plain data.
fn run(sheets: &[Sheet], in_cue: &[bool]) -> Outcome {
    let (mut sources, mut symbols) = (Sources::new(), Symbols::new());
    let mut inputs = Vec::new();
    for (at, (sheet, &in_cue)) in sheets.iter().zip(in_cue).enumerate() {
        let tier = Tier::ALL[usize::from(sheet.level)];
        let input = if in_cue {
            let name = format!("s{at}.cue");
            let mut files = MemoryFiles::new();
            let text = format!("values: {}\n", cue_text(&sheet.value, false));
            files.add(format!("/w/{name}"), text);
            let request = Request {
                directory: "/w".to_owned(),
                files: vec![name],
                ..Request::default()
            };
            let loaded = load(&request, &files, &mut sources, &mut symbols);
            assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
            Input::cue(tier, loaded)
        } else {
            let source = sources.add(format!("s{at}.yaml"), "");
            let tree = tree(&sheet.value, source.0, &mut symbols);
            Input::data(tier, tree, Kind::Yaml)
        };
        inputs.push(Input {
            defaults: tier == Tier::Platform && !sheet.fixed,
            ..input
        });
    }
    let options = Options {
        null_deletes: sheets.iter().any(|sheet| sheet.null_deletes),
        ..Options::default()
    };
    let evaluated = values::evaluate(inputs, &options, &mut symbols, &sources);
    let context = Context {
        symbols: &symbols,
        sources: &sources,
    };
    let (merged, _) = values::merge(&evaluated, None, &options, context);
    let mut writer = Json::compact();
    write_entry(&mut writer, &merged, merged.resolution.root(), &symbols);
    let mut refused: Vec<String> = merged
        .resolution
        .conflicts
        .iter()
        .map(|conflict| {
            let names = merged.resolution.names(conflict.entry);
            names
                .iter()
                .map(|&n| format!("/{}", symbols.name(n)))
                .collect()
        })
        .collect();
    refused.sort();
    (writer.finish(), refused)
}

fn write_entry(writer: &mut Json, merged: &Merged<'_>, at: EntryId, symbols: &Symbols) {
    if let Some((tree, node)) = merged.leaf(at) {
        write::node(writer, tree, node, symbols);
        return;
    }
    writer.begin_map();
    for child in merged.resolution.children(at) {
        if merged.resolution.is_present(child) {
            writer.key(symbols.name(merged.resolution.name(child)));
            write_entry(writer, merged, child, symbols);
        }
    }
    writer.end_map();
}

/// Runs the naive engine.
fn naive(sheets: &[Sheet]) -> Outcome {
    let (value, refused) = fold(sheets);
    let mut symbols = Symbols::new();
    let value = value.unwrap_or(Plain::Map(Vec::new()));
    let tree = tree(&value, 0, &mut symbols);
    let mut writer = Json::compact();
    write::node(&mut writer, &tree, tree.root(), &symbols);
    (writer.finish(), refused)
}

/// The result with all fields in alphabetical order: without `preserve_order` an object is sorted.
fn in_order((json, refused): Outcome) -> (serde_json::Value, Vec<String>) {
    (serde_json::from_str(&json).unwrap(), refused)
}

fn deep<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(values::STACK_BYTES);
    thread.spawn(work).unwrap().join().unwrap()
}

/// The same layers with the fields inside lists in alphabetical order, as the naive engine prints them.
fn normal(sheets: &[Sheet]) -> Vec<Sheet> {
    fn lists(value: &Plain) -> Plain {
        match value {
            Plain::List(items) => Plain::List(items.iter().map(sorted).collect()),
            Plain::Map(fields) => Plain::Map(
                fields
                    .iter()
                    .map(|(name, value, mark)| (name.clone(), lists(value), *mark))
                    .collect(),
            ),
            other => other.clone(),
        }
    }
    let all = sheets.iter().cloned();
    all.map(|sheet| Sheet {
        value: lists(&sheet.value),
        ..sheet
    })
    .collect()
}

#[test]
fn three_engines_agree_in_every_byte() {
    deep(|| {
        let mut refusals = 0;
        for seed in 1..=STACKS {
            let mut dice = Dice::new(seed);
            let sheets = normal(&random_sheets(&mut dice));
            let wanted = naive(&sheets);
            refusals += wanted.1.len();
            let count = sheets.len();
            let mixed: Vec<bool> = (0..count).map(|_| dice.roll(2) == 0).collect();
            for in_cue in [vec![false; count], vec![true; count], mixed] {
                let got = run(&sheets, &in_cue);
                assert_eq!(got, wanted, "seed {seed}, CUE {in_cue:?}: {sheets:#?}");
            }
            for in_cue in [false, true] {
                let again = run(&sheets, &vec![in_cue; count]);
                assert_eq!(again, wanted, "seed {seed}: a second run");
            }
        }
        assert!(refusals > 100, "only {refusals} refusals were tried");
    });
}

#[test]
fn the_order_inside_a_file_does_not_decide_values() {
    deep(|| {
        for seed in 1..=STACKS {
            let mut dice = Dice::new(seed.wrapping_add(1 << 40));
            let sheets = random_sheets(&mut dice);
            let mut permuted = sheets.clone();
            for sheet in &mut permuted {
                sheet.value = shuffled(&sheet.value, &mut dice);
            }
            for in_cue in [false, true] {
                let in_cue = vec![in_cue; sheets.len()];
                let (one, other) = (run(&sheets, &in_cue), run(&permuted, &in_cue));
                assert_eq!(in_order(one), in_order(other), "seed {seed}: {sheets:#?}");
            }
        }
    });
}
