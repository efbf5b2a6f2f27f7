//! Every evaluation is bounded: at a bound it ends with an error that says which one, and takes no longer.

mod program;

use cue::eval::limits::Limits;
use cue::eval::report::Reported;
use program::{Program, deep};

/// Evaluates under limits on a thread that is deep enough; the findings, if it fails.
fn evaluate(text: String, limits: Limits) -> Vec<String> {
    let found = failures(text, limits);
    found.iter().map(|e| e.message.clone()).collect()
}

/// The one finding: its path, line and help.
fn place(text: &str, limits: Limits) -> (String, usize, &'static str) {
    let found = failures(text.to_owned(), limits);
    assert_eq!(found.len(), 1, "{found:?}");
    let one = found.first().expect("there is one");
    let span = one.spans.first().expect("a bound has a place");
    let before = text.get(..span.start as usize).unwrap_or(text);
    let line = 1 + before.matches('\n').count();
    (
        one.path.join("."),
        line,
        one.help.expect("a bound has a help"),
    )
}

fn failures(text: String, limits: Limits) -> Vec<Reported> {
    deep(move || {
        let mut program = Program::new(&text);
        program.runtime.ctx.limits = limits;
        let value = program.value.expect("the program compiles");
        let evaluated = program.runtime.evaluate(value);
        evaluated.err().unwrap_or_default()
    })
}

/// A list of ten, and a product of three comprehensions over it.
fn thousand() -> String {
    let ten = "#T: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
    format!("{ten}x: [for a in #T for b in #T for c in #T {{a * b * c}}]\n")
}

#[test]
fn steps_are_bounded() {
    let limits = Limits {
        steps: 1_000,
        ..Limits::default()
    };
    let found = evaluate(thousand(), limits);
    assert_eq!(found, ["the program takes too many steps to be evaluated"]);
    assert!(evaluate(thousand(), Limits::default()).is_empty());
}

#[test]
fn vertices_are_bounded() {
    let limits = Limits {
        nodes: 1_000,
        ..Limits::default()
    };
    let found = evaluate(thousand(), limits);
    assert_eq!(found, ["the program needs too much memory to be evaluated"]);
}

#[test]
fn depth_is_bounded() {
    let limits = Limits {
        depth: 100,
        ..Limits::default()
    };
    let chain = (0..500).map(|i| format!("a{i}: a{} + 1\n", i + 1));
    let text: String = chain.chain(["a500: 0\n".to_owned()]).collect();
    let found = evaluate(text.clone(), limits);
    assert_eq!(
        found,
        ["the program nests or refers too deeply to be evaluated"]
    );
    assert!(evaluate(text, Limits::default()).is_empty());
}

/// A bound says where it was reached and what to do.
#[test]
fn bounds_have_a_place_and_a_help() {
    let few = Limits {
        steps: 1_000,
        ..Limits::default()
    };
    let (path, line, help) = place(&thousand(), few);
    assert_eq!((path.as_str(), line), ("x", 2));
    assert!(help.contains("--max-steps"), "{help}");
    let small = Limits {
        nodes: 1_000,
        ..Limits::default()
    };
    let (path, line, help) = place(&thousand(), small);
    assert!(path.starts_with('x'), "{path}");
    assert_eq!(line, 2);
    assert!(help.contains("--max-fields"), "{help}");
    let flat = Limits {
        depth: 100,
        ..Limits::default()
    };
    let chain = (0..500).map(|i| format!("a{i}: a{} + 1\n", i + 1));
    let text: String = chain.chain(["a500: 0\n".to_owned()]).collect();
    let (path, line, help) = place(&text, flat);
    assert!(path.starts_with('a'), "{path}");
    assert!((2..500).contains(&line), "{line}");
    assert!(help.contains("chain of references"), "{help}");
}

/// Disjunctions of which every combination stands: they multiply up to a bound, which says so.
#[test]
fn products_are_bounded() {
    let product = |factors: usize| {
        let factors = (0..factors).map(|i| format!("({{a{i}: 1}} | {{b{i}: 1}})"));
        format!("x: {}\n", factors.collect::<Vec<_>>().join(" & "))
    };
    let limits = Limits {
        product: 10_000,
        ..Limits::default()
    };
    assert!(evaluate(product(9), limits).is_empty());
    let found = evaluate(product(40), limits);
    let message = "the disjunctions of one value have too many results together";
    assert_eq!(found, [message]);
    let (path, line, help) = place(&format!("a: 1\n{}", product(40)), limits);
    assert_eq!((path.as_str(), line), ("x", 2));
    assert!(help.contains("tells them apart"), "{help}");
}

/// Many disjuncts of one disjunction are no product.
#[test]
fn long_disjunctions_are_not_bounded() {
    let limits = Limits {
        product: 100,
        steps: 200_000,
        ..Limits::default()
    };
    let strings: Vec<String> = (0..5000).map(|i| format!("\"e{i}\"")).collect();
    assert!(evaluate(format!("x: {}\n", strings.join(" | ")), limits).is_empty());
    let structs: Vec<String> = (0..2000).map(|i| format!("{{kind: {i}}}")).collect();
    assert!(evaluate(format!("x: {}\n", structs.join(" | ")), limits).is_empty());
}

/// Shapes that must not take more than their size suggests; the bound on steps is far below what the naive way takes.
#[test]
fn known_blow_ups_stay_small() {
    let limits = Limits {
        steps: 200_000,
        ..Limits::default()
    };
    let collapsing = vec!["(*1 | 2 | 3 | int)"; 24].join(" & ");
    assert!(evaluate(format!("x: {collapsing}\n"), limits).is_empty());
    let mut chain = "l0: {for i in [1, 2, 3] {\"k\\(i)\": i}}\n".to_owned();
    for i in 1..100 {
        chain += &format!("l{i}: {{for k, v in l{} {{(k): v + 1}}}}\n", i - 1);
    }
    assert!(evaluate(chain, limits).is_empty());
    let mut ring = String::new();
    for i in 0..32 {
        ring += &format!("#D{i}: {{v: int, next: #D{}}}\n", (i + 1) % 32);
    }
    let found = evaluate(ring + "x: #D0\n", limits);
    assert!(!found.iter().any(|e| e.contains("too many")), "{found:?}");
}
