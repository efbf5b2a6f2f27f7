//! Laws of parser and formatter, on inputs nobody would write.

use std::sync::Arc;

use base::{SourceId, Symbols};
use cue::syntax::{Options, format_file, parse_file};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The text in canonical form, or nothing if it is not valid.
fn format(text: &str, simplify: bool) -> Option<String> {
    let mut symbols = Symbols::new();
    let parsed = parse_file(SourceId(0), &Arc::from(text), &mut symbols);
    let options = Options {
        simplify,
        ..Options::default()
    };
    // Broken trees are printed too, and must not panic.
    let formatted = format_file(&parsed.file, &symbols, options);
    parsed.errors.is_empty().then_some(formatted)
}

/// Pieces that make most things that can go wrong likely.
fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a", "b", "_", "_h", "#D", "_#h", "__r", "1", "1.5", "0x1F", "1Ki", "1e", "\"s\"", "'b'",
        "\"\\(", ")\"", "\"\"\"\n", "\n\"\"\"", "#\"x\"#", "\"", "'", "#", "{", "}", "[", "]", "(",
        ")", ":", ",", ".", "...", "?", "!", "=", "==", "=~", "<", ">=", "+", "-", "*", "/", "&",
        "|", "&&", "||", "~", "@a(b)", "@a(", "if", "for", "in", "let", "else", "try", "package",
        "import", "null", "true", "_|_", " ", "\n", "\n\n", "\t", "// c\n", "\r\n", "é",
        "\u{feff}", "\0", "\\", ";", "for x in", "a: ", "x: {", "let X = ",
    ])
}

fn atom() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "1",
        "2.5",
        "\"s\"",
        "'b'",
        "null",
        "true",
        "int",
        "string",
        "#D",
        "_h",
        "_|_",
        "x.y",
        "f(1)",
        "a[0]",
        "a[1:2]",
        ">=1",
        "*3",
        "-x",
        "!b",
        "\"i \\(x) j\"",
        "\"\"\"\n  m\n  \"\"\"",
    ])
    .prop_map(str::to_owned)
}

fn space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " ", "  ", "\t"])
}

fn separator() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "\n",
        "\n\n",
        ",\n",
        "\n\n\n",
        " // c\n",
        ",\n// doc\n",
    ])
}

fn label() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "longer",
        "\"q\"",
        "\"q r\"",
        "a?",
        "b!",
        "#D",
        "_h",
        "[string]",
        "(x)",
        "X=a",
        "a: b",
        "\"\\(x)\"",
    ])
}

fn expr() -> impl Strategy<Value = String> {
    atom().prop_recursive(4, 24, 4, |inner| {
        let op = prop::sample::select(vec!["+", "-", "*", "/", "&", "|", "==", "&&", "||", "<"]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            (prop::collection::vec(inner.clone(), 0..4), space())
                .prop_map(|(items, s)| format!("[{s}{}]", items.join(", "))),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|items| format!("[\n{},\n]", items.join(",\n"))),
            (prop::collection::vec((label(), inner), 0..4), separator()).prop_map(|(fields, s)| {
                let fields: Vec<String> = fields.iter().map(|(l, v)| format!("{l}: {v}")).collect();
                format!("{{\n{}\n}}", fields.join(s))
            }),
        ]
    })
}

fn file() -> impl Strategy<Value = String> {
    let field = (label(), space(), expr(), separator())
        .prop_map(|(label, space, value, end)| format!("{label}:{space}{value}{end}"));
    prop::collection::vec(field, 0..6).prop_map(|fields| fields.concat())
}

#[test]
fn deep_and_long_inputs_are_printed() {
    for (open, close) in [
        ("[", "]"),
        ("{a: ", "}"),
        ("(", ")"),
        ("-", ""),
        ("a: ", ""),
    ] {
        let text = format!("x: {}1{}", open.repeat(950), close.repeat(950));
        assert!(format(&text, false).is_some(), "{open}");
    }
    for link in ["1 | ", "a + ", "a && "] {
        assert!(format(&format!("x: {}1", link.repeat(9_000)), true).is_some());
    }
    let fields: String = (0..5_000).map(|i| format!("f{i}: a.b.c\n")).collect();
    assert!(format(&fields, false).is_some());
}

/// Found by mutation: two operators in a row must not be read as one.
#[test]
fn operators_stay_apart() {
    for text in [
        "a: < =~\"x\"\n",
        "a: > ==1\n",
        "a: ! =~\"x\"\n",
        "a: < -1\n",
    ] {
        let once = format(text, false).expect("it is valid");
        let twice = format(&once, false);
        assert_eq!(twice.as_deref(), Some(once.as_str()), "of {text}");
    }
}

/// Found by mutation: comments must not come between an operand and its operator, and strings keep their lines.
#[test]
fn comments_and_strings_stay_where_they_are() {
    for (text, wanted) in [
        ("a: b + // one\n\tc + // two\n\td\n", None),
        ("a: f(b & c, // one\n\td)\n", None),
        (
            "a: \"\"\"\n\rb\nc\n\r\"\"\"\n",
            Some("a: \"\"\"\n\tb\n\tc\n\t\"\"\"\n"),
        ),
    ] {
        let once = format(text, false).expect("it is valid");
        assert_eq!(once, wanted.unwrap_or(text));
        let twice = format(&once, false);
        assert_eq!(twice.as_deref(), Some(once.as_str()), "of {text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_read_without_a_panic(text in ".{0,200}") {
        format(&text, false);
    }

    #[test]
    fn any_tokens_are_read_without_a_panic(tokens in prop::collection::vec(token(), 0..60)) {
        let text = tokens.concat();
        format(&text, false);
        format(&text, true);
    }

    #[test]
    fn formatting_twice_is_formatting_once(text in file()) {
        if let Some(once) = format(&text, false) {
            let again = format(&once, false);
            prop_assert_eq!(Some(once), again, "of\n{}", text);
        }
    }

    /// What is simplified stays valid, and simplifying plainly formatted text of it is stable:
    /// braces that went away no longer end tables, so the first time may align less.
    #[test]
    fn simplified_text_settles(text in file()) {
        if let Some(once) = format(&text, true) {
            let twice = format(&once, true);
            prop_assert!(twice.is_some(), "no longer valid:\n{}", once);
            let twice = twice.unwrap_or_default();
            let again = format(&twice, true);
            prop_assert_eq!(Some(twice), again, "of\n{}", text);
        }
    }
}
