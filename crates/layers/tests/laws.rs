//! Laws of the override engine, over random stacks: it agrees with a naive engine, it is
//! deterministic, and the order of fields inside a file does not matter for the values.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod model;

use base::{LayerId, Outcome, Symbols};
use data::{NodeId, Tree, Value};
use layers::{Authority, ConflictKind, EntryId, Layer, Resolution, Stack, State, resolve};
use model::{Plain, Sheet, fold, sorted, strip, tree};

/// A small generator with a fixed sequence, so that a failure names its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn random_value(dice: &mut Dice, depth: u32) -> Plain {
    match dice.roll(if depth == 0 { 5 } else { 11 }) {
        0 => Plain::Null,
        1 => Plain::Bool(dice.roll(2) == 0),
        2 | 3 => Plain::Int(dice.roll(3) as i64),
        4 => Plain::Text(format!("t{}", dice.roll(2))),
        5 => Plain::List(
            (0..dice.roll(3))
                .map(|_| random_value(dice, depth - 1))
                .collect(),
        ),
        _ => random_map(dice, depth),
    }
}

fn random_map(dice: &mut Dice, depth: u32) -> Plain {
    let mut fields: Vec<(String, Plain, bool)> = Vec::new();
    for _ in 0..dice.roll(5) {
        let name = format!("k{}", dice.roll(5));
        if fields.iter().all(|(known, ..)| *known != name) {
            let value = random_value(dice, depth.saturating_sub(1));
            fields.push((name, value, dice.roll(4) == 0));
        }
    }
    Plain::Map(fields)
}

/// A module, some platform layers, some user layers.
fn random_sheets(dice: &mut Dice) -> Vec<Sheet> {
    let null_deletes = dice.roll(2) == 0;
    let mut sheets = Vec::new();
    for level in 0..3 {
        for _ in 0..[1, 1 + dice.roll(3), dice.roll(3)][usize::from(level)] {
            sheets.push(Sheet {
                value: random_map(dice, 3),
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

fn plain(tree: &Tree, node: NodeId, symbols: &Symbols) -> Plain {
    match tree.value(node) {
        Value::Null => Plain::Null,
        Value::Bool(value) => Plain::Bool(value),
        Value::Number(number) => Plain::Int(number.text.parse().unwrap()),
        Value::String(text) | Value::Bytes(text) => Plain::Text(text.to_owned()),
        Value::List(items) => Plain::List(items.iter().map(|&i| plain(tree, i, symbols)).collect()),
        Value::Map(fields) => Plain::Map(
            fields
                .iter()
                .map(|f| {
                    (
                        symbols.name(f.name).to_owned(),
                        plain(tree, f.value, symbols),
                        false,
                    )
                })
                .collect(),
        ),
    }
}

fn effective(out: &Resolution, at: EntryId, trees: &[Tree], symbols: &Symbols) -> Option<Plain> {
    match out.state(at) {
        State::Map { .. } => Some(Plain::Map(
            out.children(at)
                .filter_map(|child| {
                    let value = effective(out, child, trees, symbols)?;
                    Some((symbols.name(out.name(child)).to_owned(), value, false))
                })
                .collect(),
        )),
        State::Leaf { .. } => {
            let link = out.standing(at).unwrap();
            Some(strip(&plain(
                &trees[usize::from(link.layer.0)],
                link.node,
                symbols,
            )))
        }
        State::Removed { .. } | State::Absent => None,
    }
}

/// Runs the real engine: values in order, refused paths sorted, and the whole resolution printed.
fn run(sheets: &[Sheet]) -> (Option<Plain>, Vec<String>, String) {
    let mut symbols = Symbols::new();
    let trees: Vec<Tree> = (0..)
        .zip(sheets)
        .map(|(source, sheet)| tree(&sheet.value, source, &mut symbols))
        .collect();
    let layers = trees.iter().zip(sheets).map(|(tree, sheet)| Layer {
        tree,
        root: tree.root(),
        authority: if sheet.fixed {
            Authority::Fixed
        } else {
            Authority::Default
        },
        level: sheet.level,
        null_deletes: sheet.null_deletes,
    });
    let out = resolve(&Stack::new(layers.collect()));
    let path = |id| -> String {
        let names = out.names(id);
        names
            .iter()
            .map(|&n| format!("/{}", symbols.name(n)))
            .collect()
    };
    let mut refused: Vec<String> = out.conflicts.iter().map(|c| path(c.entry)).collect();
    refused.sort();
    (
        effective(&out, out.root(), &trees, &symbols),
        refused,
        format!("{out:?}"),
    )
}

#[test]
fn agrees_with_the_naive_engine() {
    for seed in 1..=20_000u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let sheets = random_sheets(&mut dice);
        let (values, refused, _) = run(&sheets);
        assert_eq!((values, refused), fold(&sheets), "seed {seed}: {sheets:#?}");
    }
}

#[test]
fn the_order_inside_a_file_does_not_matter_and_runs_repeat() {
    for seed in 1..=5_000u64 {
        let mut dice = Dice(seed.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        let sheets = random_sheets(&mut dice);
        let (values, refused, whole) = run(&sheets);
        assert_eq!(run(&sheets).2, whole, "seed {seed}");
        let mut permuted = sheets.clone();
        for sheet in &mut permuted {
            sheet.value = shuffled(&sheet.value, &mut dice);
        }
        let (others, also_refused, _) = run(&permuted);
        assert_eq!(
            values.as_ref().map(sorted),
            others.as_ref().map(sorted),
            "seed {seed}"
        );
        assert_eq!(refused, also_refused, "seed {seed}");
    }
}

fn map(fields: &[(&str, Plain)]) -> Plain {
    Plain::Map(
        fields
            .iter()
            .map(|(n, v)| ((*n).to_owned(), v.clone(), false))
            .collect(),
    )
}

fn stack<'a>(trees: &'a [Tree], authorities: &[(Authority, u16)]) -> Stack<'a> {
    let layers = trees
        .iter()
        .zip(authorities)
        .map(|(tree, &(authority, level))| Layer {
            tree,
            root: tree.root(),
            authority,
            level,
            null_deletes: false,
        });
    Stack::new(layers.collect())
}

#[test]
fn a_constraint_drops_from_below_and_refuses_from_above() {
    use Authority::{Constraint, Default};
    let three = map(&[("n", Plain::Int(3))]);
    let four = map(&[("n", Plain::Int(4))]);
    for (values, stands, conflict) in [
        // The module's value is outside, the user's is inside.
        ([&four, &three, &three], Some(2), None),
        // Nothing supplies a value.
        (
            [&four, &three, &map(&[])],
            None,
            Some(ConflictKind::Unsupplied),
        ),
        // The user's value is outside; the module's serves.
        ([&three, &three, &four], Some(0), Some(ConflictKind::Unmet)),
    ] {
        let mut symbols = Symbols::new();
        let trees: Vec<Tree> = values.iter().map(|v| tree(v, 0, &mut symbols)).collect();
        let out = resolve(&stack(
            &trees,
            &[(Default, 0), (Constraint, 1), (Default, 2)],
        ));
        let n = out.child(out.root(), symbols.find("n").unwrap()).unwrap();
        assert_eq!(out.standing(n).map(|l| l.layer), stands.map(LayerId));
        assert_eq!(out.conflicts.first().map(|c| c.kind), conflict);
        assert_eq!(out.chain(n)[1].outcome, Outcome::Constrains);
    }
}

#[test]
fn a_lock_inside_a_map_is_named_where_it_lies() {
    use Authority::{Default, Fixed};
    let platform = map(&[("a", map(&[("b", map(&[("c", Plain::Int(1))]))]))]);
    let user = map(&[("a", Plain::Int(5))]);
    let mut symbols = Symbols::new();
    let trees = [&platform, &user].map(|v| tree(v, 0, &mut symbols));
    let out = resolve(&stack(&trees, &[(Fixed, 1), (Default, 2)]));
    let conflict = &out.conflicts[0];
    let below: Vec<&str> = conflict.below.iter().map(|&s| symbols.name(s)).collect();
    assert_eq!(below, ["b", "c"]);
    assert_eq!(conflict.layer, LayerId(0));
    assert_eq!(out.chain(conflict.entry)[1].outcome, Outcome::Refused);
}

#[test]
fn depth_costs_no_call_stack() {
    let mut symbols = Symbols::new();
    let name = symbols.intern("a");
    let span = base::Span::new(base::SourceId(0), 0..0);
    let mut builder = data::TreeBuilder::new(base::SourceId(0), "".into());
    let mut at = builder.null(span);
    for _ in 0..200_000 {
        let field = builder.field(span, name, at);
        at = builder.map(span, &[field]);
    }
    let tree = builder.finish(at);
    let trees = [tree.clone(), tree];
    let out = resolve(&stack(
        &trees,
        &[(Authority::Fixed, 0), (Authority::Default, 1)],
    ));
    assert_eq!(out.len(), 200_001);
    assert!(out.conflicts.is_empty());
}
