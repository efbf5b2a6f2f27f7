//! Laws of unification on generated values: order, grouping and repetition do not matter, nor does the order of
//! declarations.
//!
//! Results are compared as canonical text: fields and operands of `&` and `|` sorted, since only their order may
//! differ. That a unification fails must not depend on the order either; the wording may.

mod program;

use std::sync::Arc;

use base::SourceId;
use cue::eval::validate::Config;
use cue::export::cue::Profile;
use cue::syntax::ast::{BinaryOp, Decl, Expr, ExprId, File};
use program::{Program, deep};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The canonical text of `out` in a program, or nothing if there is an error in it.
fn result(text: String) -> Option<String> {
    deep(move || evaluate(&text))
}

fn evaluate(text: &str) -> Option<String> {
    let Program { mut runtime, value } = Program::new(text);
    let value = value.ok()?;
    runtime.evaluate(value).ok()?;
    let out = runtime.field(value, "out")?;
    runtime.validate(out, Config::default()).ok()?;
    let profile = Profile {
        definitions: true,
        hidden: true,
        optional: true,
        ..Profile::default()
    };
    let shown = runtime.write_cue(out, profile);
    let shown: Arc<str> = format!("out: {{\n{shown}\n}}\n").into();
    let parsed = cue::syntax::parse_file(SourceId(0), &shown, runtime.symbols());
    assert!(parsed.errors.is_empty(), "{shown}: {:?}", parsed.errors);
    let file = &parsed.file;
    let mut decls: Vec<String> = file.list(file.decls).map(|d| decl(file, d)).collect();
    decls.sort();
    Some(decls.join("\n"))
}

fn source(file: &File, expr: ExprId) -> String {
    let span = file.expr_span(expr);
    let text = file.text.get(span.range()).unwrap_or("");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn decl(file: &File, id: cue::syntax::ast::DeclId) -> String {
    match file.decl(id) {
        Decl::Field(field) => {
            let span = file.expr_span(field.label);
            let label = file.text.get(span.range()).unwrap_or("");
            format!(
                "{label}{:?}: {}",
                field.constraint,
                canonical(file, field.value)
            )
        }
        Decl::Embed(expr) => canonical(file, expr),
        Decl::Ellipsis => "...".to_owned(),
        other => format!("{other:?}"),
    }
}

fn operands(file: &File, expr: ExprId, op: BinaryOp, out: &mut Vec<String>) {
    match file.expr(expr) {
        Expr::Binary {
            op: o, left, right, ..
        } if o == op => {
            operands(file, left, op, out);
            operands(file, right, op, out);
        }
        _ => out.push(canonical(file, expr)),
    }
}

fn canonical(file: &File, expr: ExprId) -> String {
    match file.expr(expr) {
        Expr::Struct { decls, .. } => {
            let mut decls: Vec<String> = file.list(decls).map(|d| decl(file, d)).collect();
            decls.sort();
            decls.dedup();
            match decls.as_slice() {
                // Braces around a single value say nothing.
                [only] if !only.contains(": ") => only.clone(),
                _ => format!("{{{}}}", decls.join(", ")),
            }
        }
        Expr::List { elements } => {
            let items: Vec<String> = file.list(elements).map(|e| canonical(file, e)).collect();
            format!("[{}]", items.join(", "))
        }
        Expr::Paren { expr } => canonical(file, expr),
        Expr::Binary { op, .. } if matches!(op, BinaryOp::And | BinaryOp::Or) => {
            let mut parts = Vec::new();
            operands(file, expr, op, &mut parts);
            parts.sort();
            parts.dedup();
            let sign = if op == BinaryOp::And { " & " } else { " | " };
            format!("({})", parts.join(sign))
        }
        _ => source(file, expr),
    }
}

fn scalar() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "1", "2", "3", "1.5", "\"a\"", "\"b\"", "true", "false", "null",
    ])
    .prop_map(str::to_owned)
}

fn constraint() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "_",
        "int",
        "number",
        "string",
        "bool",
        ">0",
        ">=1",
        "<3",
        "<=2",
        "!=2",
        ">=1 & <=2",
        "=~\"^a\"",
        "!=\"b\"",
        "int & >1",
        "uint8",
    ])
    .prop_map(str::to_owned)
}

fn disjunction() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "1 | 2",
        "*1 | 2",
        "*1 | 2 | 3",
        "*1 | int",
        "int | *2",
        "*\"a\" | string",
        "\"a\" | \"b\"",
        "\"a\" | 1 | null",
        "*true | bool",
        "string | int",
        "*>=2 | 1",
    ])
    .prop_map(str::to_owned)
}

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![scalar(), constraint(), disjunction()]
}

fn field() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "b",
        "ab",
        "a?",
        "b?",
        "b!",
        "_h",
        "[=~\"^a\"]",
        "[string]",
        "[\"b\"]",
    ])
}

fn value() -> impl Strategy<Value = String> {
    leaf().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            3 => prop::collection::vec((field(), inner.clone()), 0..4).prop_map(|fields| {
                let fields: Vec<String> =
                    fields.iter().map(|(l, v)| format!("{l}: {v}")).collect();
                format!("{{{}}}", fields.join(", "))
            }),
            1 => prop::collection::vec((field(), inner.clone()), 0..3).prop_map(|fields| {
                let fields: Vec<String> =
                    fields.iter().map(|(l, v)| format!("{l}: {v}")).collect();
                format!("close({{{}}})", fields.join(", "))
            }),
            1 => prop::collection::vec((field(), inner.clone()), 0..3).prop_map(|fields| {
                let fields: Vec<String> =
                    fields.iter().map(|(l, v)| format!("{l}: {v}")).collect();
                format!("{{{}}}", [fields, vec!["...".to_owned()]].concat().join(", "))
            }),
            1 => prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            1 => (prop::collection::vec(inner.clone(), 0..2), inner.clone()).prop_map(
                |(mut items, rest)| {
                    items.push(format!("...({rest})"));
                    format!("[{}]", items.join(", "))
                }
            ),
            // Defaults inside of an unmarked disjunct: see `nested_defaults_depend_on_order`.
            1 => (inner.clone(), inner)
                .prop_filter("no default inside", |(a, b)| !a.contains('*') && !b.contains('*'))
                .prop_map(|(a, b)| format!("(({a}) | ({b}))")),
        ]
    })
}

/// A value by reference: a plain field, or a definition that closes it.
fn operand(name: &str, definition: bool, value: &str) -> (String, String) {
    let name = if definition {
        format!("#{name}")
    } else {
        name.to_owned()
    };
    (format!("{name}: {value}\n"), name)
}

/// Declarations that refer to one another.
fn declaration() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d", "e"]);
    prop_oneof![
        (name(), leaf()).prop_map(|(n, v)| format!("{n}: {v}")),
        (name(), leaf()).prop_map(|(n, v)| format!("{n}: x: {v}")),
        (name(), leaf()).prop_map(|(n, v)| format!("{n}: y?: {v}")),
        (name(), name()).prop_map(|(n, m)| format!("{n}: {m}")),
        (name(), name()).prop_map(|(n, m)| format!("{n}: {m}.x")),
        (name(), name()).prop_map(|(n, m)| format!("{n}: x: {m}.x + 1")),
        (name(), name()).prop_map(|(n, m)| format!("if {m}.x > 1 {{{n}: z: 1}}")),
        (name(), name()).prop_map(|(n, m)| format!("for k, v in {m} {{{n}: \"\\(k)_\": v}}")),
        (name(), leaf()).prop_map(|(n, v)| format!("{n}: [=~\"^x\"]: {v}")),
        (name(), leaf()).prop_map(|(n, v)| format!("{n}: #D & {{x: {v}}}")),
        Just("#D: {x: int, y?: string}".to_owned()),
        Just("[=~\"^[ab]\"]: x?: <10".to_owned()),
    ]
}

/// A default of a nested disjunction that an unmarked disjunct repeats is kept or lost depending on the order: the
/// duplicates are found pair by pair, as in the reference. Known to be wrong, and asserted as it is.
#[test]
fn nested_defaults_depend_on_order() {
    let program = |out: &str| format!("X: 1 | 2\nY: (*1 | 2) | 1\nout: {out}\n");
    let (one, other) = (result(program("X & Y")), result(program("Y & X")));
    assert_eq!(one.as_deref(), Some("outNone: (1 | 2)"));
    assert_eq!(other.as_deref(), Some("outNone: (*1 | 2)"));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        rng_seed: RngSeed::Fixed(11),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn unification_is_commutative(
        x in value(), y in value(), dx in any::<bool>(), dy in any::<bool>(),
    ) {
        let (xs, xn) = operand("X", dx, &x);
        let (ys, yn) = operand("Y", dy, &y);
        let one = result(format!("{xs}{ys}out: {xn} & {yn}\n"));
        let other = result(format!("{xs}{ys}out: {yn} & {xn}\n"));
        prop_assert_eq!(one, other, "X: {}\nY: {}", x, y);
    }

    #[test]
    fn unification_is_associative(
        x in value(), y in value(), z in value(), dx in any::<bool>(), dz in any::<bool>(),
    ) {
        let (xs, xn) = operand("X", dx, &x);
        let (ys, yn) = operand("Y", false, &y);
        let (zs, zn) = operand("Z", dz, &z);
        let all = format!("{xs}{ys}{zs}");
        let one = result(format!("{all}l: {xn} & {yn}\nout: l & {zn}\n"));
        let other = result(format!("{all}r: {yn} & {zn}\nout: {xn} & r\n"));
        prop_assert_eq!(one, other, "X: {}\nY: {}\nZ: {}", x, y, z);
    }

    #[test]
    fn unification_is_idempotent(x in value(), dx in any::<bool>()) {
        let (xs, xn) = operand("X", dx, &x);
        let once = result(format!("{xs}out: {xn}\n"));
        let twice = result(format!("{xs}out: {xn} & {xn}\n"));
        prop_assert_eq!(once, twice, "X: {}", x);
    }

    #[test]
    fn declarations_can_be_permuted(
        decls in prop::collection::vec(declaration(), 1..7).prop_shuffle(),
        seed in any::<prop::sample::Index>(),
    ) {
        let mut other = decls.clone();
        other.reverse();
        let at = seed.index(other.len());
        other.rotate_left(at);
        let program = |decls: &[String]| {
            let text = decls.join("\n");
            // Names that nobody declares are declared, in a place that does not move.
            format!("out: {{\na: _\nb: _\nc: _\nd: _\ne: _\n#D: _\n{text}\n}}\n")
        };
        let (one, two) = (program(&decls), program(&other));
        prop_assert_eq!(result(one.clone()), result(two.clone()), "of\n{}\nand\n{}", one, two);
    }
}
