//! Derived values against a naive engine: random stacks of CUE layers whose fields refer to one another through all layers. The naive engine
//! asks for one field at a time, recursively; it shares nothing with the real one but the rules. Circles must be found by both.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::{Sources, Symbols};
use cue::load::{MemoryFiles, Request};
use values::{Context, Input, Options, Tier, provenance, show};

const FIELDS: usize = 8;

/// A small generator with a fixed sequence, so that a failure names its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }
}

/// What one layer says of one field.
#[derive(Clone, Copy, Debug)]
enum Said {
    Number(usize),
    /// `*n | _`, of platforms only.
    Default(usize),
    /// Another field plus a number.
    Sum(usize, usize),
    /// A number, if another field is large enough.
    If(usize, usize, usize),
}

type Sheet = (Tier, BTreeMap<usize, Said>);

/// A stack; in an ordered one fields refer only to those before them, so that there are no circles.
fn random_stack(dice: &mut Dice, ordered: bool) -> Vec<Sheet> {
    let mut tiers = vec![Tier::Module];
    tiers.extend((0..dice.roll(4)).map(|_| Tier::Platform));
    tiers.extend((0..dice.roll(3)).map(|_| Tier::User));
    let said = |dice: &mut Dice, tier: Tier, field: usize| {
        let other = match ordered {
            true if field == 0 => return Said::Number(dice.roll(9)),
            true => dice.roll(field),
            false => dice.roll(FIELDS),
        };
        match dice.roll(if ordered { 6 } else { 5 }) {
            0 | 1 => Said::Number(dice.roll(9)),
            2 if tier == Tier::Platform => Said::Default(dice.roll(9)),
            5 if tier != Tier::Module => Said::If(other, dice.roll(9), dice.roll(9)),
            _ => Said::Sum(other, dice.roll(3)),
        }
    };
    let mut stack = Vec::new();
    for tier in tiers {
        let mut sheet = BTreeMap::new();
        for field in 0..FIELDS {
            if tier == Tier::Module || dice.roll(4) == 0 {
                let one = said(dice, tier, field);
                sheet.insert(field, one);
            }
        }
        stack.push((tier, sheet));
    }
    stack
}

/// A layer as CUE, its fields in the given order.
fn text(sheet: &Sheet, order: &[usize]) -> String {
    let mut out = "values: {\n".to_owned();
    for field in order {
        let Some(said) = sheet.1.get(field) else {
            continue;
        };
        match said {
            Said::Number(n) => writeln!(out, "\tv{field}: {n}"),
            Said::Default(n) => writeln!(out, "\tv{field}: *{n} | _"),
            Said::Sum(of, n) => writeln!(out, "\tv{field}: values.v{of} + {n}"),
            Said::If(of, least, n) => {
                writeln!(
                    out,
                    "\tif values.v{of} >= {least} {{\n\t\tv{field}: {n}\n\t}}"
                )
            }
        }
        .unwrap();
    }
    out + "}\n"
}

/// The naive engine: the value of one field, or nothing where it leads back to itself.
fn naive(stack: &[Sheet], field: usize, on_the_way: &mut Vec<usize>) -> Option<usize> {
    if on_the_way.contains(&field) {
        return None;
    }
    on_the_way.push(field);
    let standing = standing(stack, field, on_the_way);
    let value = standing.and_then(|(_, said)| match said {
        Said::Number(n) | Said::Default(n) | Said::If(_, _, n) => Some(n),
        Said::Sum(of, n) => Some(naive(stack, of, on_the_way)? + n),
    });
    on_the_way.pop();
    value
}

/// What stands: the last word, unless a platform's firm one is against a user's.
fn standing(stack: &[Sheet], field: usize, on_the_way: &mut Vec<usize>) -> Option<(Tier, Said)> {
    let mut stands: Option<(Tier, Said)> = None;
    for (tier, sheet) in stack {
        let Some(&said) = sheet.get(&field) else {
            continue;
        };
        if let Said::If(of, least, _) = said
            && naive(stack, of, on_the_way)? < least
        {
            continue;
        }
        let firm = |old| !matches!(old, Said::Default(_));
        let locked = matches!(stands, Some((Tier::Platform, old)) if firm(old));
        if !(locked && *tier == Tier::User) {
            stands = Some((*tier, said));
        }
    }
    stands
}

/// What the real engine says: one line a field, and the codes of its findings.
fn real(stack: &[Sheet], orders: &[Vec<usize>]) -> (Vec<String>, Vec<&'static str>) {
    let mut files = MemoryFiles::new();
    for (number, (sheet, order)) in stack.iter().zip(orders).enumerate() {
        files.add(format!("/w/{number}.cue"), text(sheet, order).as_bytes());
    }
    let (mut sources, mut symbols) = (Sources::new(), Symbols::new());
    let mut inputs = Vec::new();
    for (number, (tier, _)) in stack.iter().enumerate() {
        let request = Request {
            directory: "/w".to_owned(),
            files: vec![format!("{number}.cue")],
            ..Request::default()
        };
        let loaded = cue::load::load(&request, &files, &mut sources, &mut symbols);
        assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
        inputs.push(Input::cue(*tier, loaded));
    }
    let options = Options::default();
    let evaluated = values::evaluate(inputs, &options, &mut symbols, &sources);
    let context = Context {
        symbols: &symbols,
        sources: &sources,
    };
    let (merged, findings) = values::merge(&evaluated, None, &options, context);
    let leaves = provenance::leaves(&merged, merged.resolution.root());
    let mut lines: Vec<String> = leaves
        .iter()
        .map(|leaf| {
            let path = merged.path(leaf.entry, &symbols);
            format!("{path} = {}", show::whole(leaf.tree, leaf.node, &symbols))
        })
        .collect();
    lines.sort();
    let mut codes: Vec<&'static str> = findings.iter().map(|finding| finding.code.0).collect();
    codes.sort_unstable();
    codes.dedup();
    (lines, codes)
}

fn compare(seed: u64, ordered: bool) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let stack = random_stack(&mut dice, ordered);
    let straight: Vec<usize> = (0..FIELDS).collect();
    let orders = vec![straight; stack.len()];
    let (lines, codes) = real(&stack, &orders);
    let shown = || {
        let texts = stack.iter().zip(&orders);
        let texts = texts.map(|(sheet, order)| format!("{:?}\n{}", sheet.0, text(sheet, order)));
        format!("seed {seed}\n{}", texts.collect::<String>())
    };
    let wanted: Vec<Option<usize>> = (0..FIELDS)
        .map(|field| naive(&stack, field, &mut Vec::new()))
        .collect();
    let has_circle = wanted.iter().any(Option::is_none);
    let found = codes.contains(&"value-cycle");
    assert_eq!(has_circle, found, "{}\n{codes:?}", shown());
    if has_circle {
        return;
    }
    let wanted: Vec<String> = wanted
        .iter()
        .enumerate()
        .map(|(field, value)| format!("v{field} = {}", value.unwrap()))
        .collect();
    assert_eq!(lines, wanted, "{}\n{codes:?}", shown());
    let only_locks = codes.iter().all(|code| *code == "locked-value");
    assert!(only_locks, "{}\n{codes:?}", shown());
    // The order inside a file changes nothing, and neither does another run.
    let shuffled: Vec<Vec<usize>> = orders
        .iter()
        .map(|order| {
            let mut order = order.clone();
            for at in (1..order.len()).rev() {
                order.swap(at, dice.roll(at + 1));
            }
            order
        })
        .collect();
    assert_eq!(real(&stack, &shuffled), (lines, codes), "{}", shown());
}

fn on_a_deep_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 << 20).spawn(run);
    let ended = thread.expect("a thread can be started").join();
    ended.expect("no failure");
}

#[test]
fn references_through_all_layers_agree_with_a_naive_engine() {
    on_a_deep_stack(|| (1..=600).for_each(|seed| compare(seed, false)));
}

#[test]
fn conditions_and_chains_agree_with_a_naive_engine() {
    on_a_deep_stack(|| (1..=400).for_each(|seed| compare(seed, true)));
}
