//! Every target on some mutated texts of the project's own cases: always the same ones.

use std::path::Path;

use mutate::corpus::collect;
use mutate::mutation::Mutator;
use mutate::target::{self, Target};

/// Deep texts need a deep stack, as the binary gives it.
const STACK: usize = 512 << 20;

fn deep(run: impl FnOnce() + Send + 'static) {
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(run);
    let done = worker.expect("a thread can be started").join();
    assert!(done.is_ok(), "see above");
}

fn holds(target: Target, texts: usize) {
    deep(move || {
        let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let mut corpus = Vec::new();
        collect(Path::new(crates), &mut corpus);
        corpus.sort();
        assert!(corpus.len() > 50, "{} texts in the corpus", corpus.len());
        let mut mutator = Mutator::new(corpus, 0x2545_f491_4f6c_dd1d);
        let mut valid = 0;
        for _ in 0..texts {
            let text = mutator.mutated();
            if target(&text) {
                valid += 1;
                mutator.keep(&text);
            }
        }
        assert!(valid > texts / 20, "only {valid} texts say anything");
    });
}

#[test]
fn parser() {
    holds(target::parse, 4_000);
}

#[test]
fn formatter() {
    holds(target::format, 4_000);
}

#[test]
fn literals() {
    holds(target::literals, 4_000);
}

#[test]
fn evaluator() {
    holds(target::evaluate, 2_000);
}

#[test]
fn unit_files() {
    holds(target::unit, 4_000);
}

/// Programs that once took for ever, or were written as something else.
#[test]
fn found_before() {
    for text in [
        "t1: X: {a: b.a, b: X}\nt2: X: {b: X, a: b.a}\n",
        "res: [t]\nt: {b: a, a: b: b: a, a, [X=string]: {a: c + b.str, b: str: string, c: \"X\"}, x: {b: str: \"D\"}}\n",
        "package p\n\npackage: x: 20\n",
        "value: *_|_ | (*\"a\" | string)\n",
        "b: c: 4\nfor k, v in b {\"\\(k)¾\": v}\n",
        "r: rem(-5, < -2)\nb: < < =~\"a\"\n",
    ] {
        deep(move || assert!(target::evaluate(text), "{text}"));
    }
}
