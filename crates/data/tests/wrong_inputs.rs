//! Wrong, cut off, hostile and absurd inputs: each gives a clear finding, none a panic, a hang or
//! much memory.
//!
//! A case is a name, a format, the text and the code of the first finding, with its place. `ok`
//! stands for inputs that only look wrong.

use base::{Sources, Symbols};
use data::{Format, Format::Json, Format::JsonLines, Format::Toml, Format::Yaml, Options};

fn first_finding(name: &str, format: Format, text: &str) -> String {
    let mut sources = Sources::new();
    let mut symbols = Symbols::new();
    let id = sources.add("in", text);
    let text = sources.get(id).text().clone();
    let length = text.len();
    let parsed = data::parse(format, id, text, &mut symbols, &Options::default());
    assert!(parsed.findings.len() <= 101, "{name}: too many findings");
    for finding in &parsed.findings {
        assert!(!finding.message.is_empty(), "{name}: says nothing");
        assert!(!finding.message.contains('\n'), "{name}: {finding:?}");
        assert!(!finding.labels.is_empty(), "{name}: points nowhere");
        for label in &finding.labels {
            assert!(label.span.end as usize <= length + 1, "{name}: {finding:?}");
        }
    }
    for tree in &parsed.documents {
        assert!(
            tree.len() <= length + data::MAX_ALIAS_NODES + 2,
            "{name}: a tree of {} nodes",
            tree.len()
        );
    }
    match parsed.findings.first() {
        None => "ok".to_owned(),
        Some(finding) => {
            let place = sources.place(finding.place().expect("a place"));
            format!("{} {place}", finding.code)
        }
    }
}

fn check(cases: &[(&str, Format, &str, &str)]) {
    let mut wrong = Vec::new();
    for (name, format, text, wanted) in cases {
        let found = first_finding(name, *format, text);
        if found != *wanted {
            wrong.push(format!("{name}: {found}, wanted {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn json() {
    check(&[
        ("empty", Json, "", "json-syntax 1:1"),
        ("only space", Json, " \n ", "json-syntax 2:2"),
        ("cut off in a map", Json, "{\"a\": 1", "json-syntax 1:8"),
        ("cut off after a colon", Json, "{\"a\":", "json-syntax 1:6"),
        ("cut off in a list", Json, "[1,\n2", "json-syntax 2:2"),
        (
            "cut off in a string",
            Json,
            "{\"a\": \"b",
            "json-syntax 1:7",
        ),
        ("cut off in an escape", Json, "\"\\u00", "json-syntax 1:2"),
        ("trailing comma in a list", Json, "[1,]", "json-syntax 1:4"),
        (
            "trailing comma in a map",
            Json,
            "{\"a\":1,}",
            "json-syntax 1:8",
        ),
        ("two values", Json, "1 2", "json-syntax 1:3"),
        ("no comma", Json, "[1 2]", "json-syntax 1:4"),
        ("no colon", Json, "{\"a\" 1}", "json-syntax 1:6"),
        ("bare key", Json, "{a: 1}", "json-syntax 1:2"),
        ("single quotes", Json, "{'a': 1}", "json-syntax 1:2"),
        ("comment", Json, "{} // x", "json-syntax 1:4"),
        ("bare word", Json, "[yes]", "json-syntax 1:2"),
        ("word too long", Json, "[nullx]", "json-syntax 1:2"),
        ("infinity", Json, "[Infinity]", "json-syntax 1:2"),
        ("leading zero", Json, "[01]", "json-syntax 1:2"),
        ("leading plus", Json, "[+1]", "json-syntax 1:2"),
        ("point without digits", Json, "[1.]", "json-syntax 1:4"),
        ("minus alone", Json, "[-]", "json-syntax 1:3"),
        ("exponent without digits", Json, "[1e]", "json-syntax 1:4"),
        (
            "absurd exponent",
            Json,
            "[1e9999999999]",
            "number-range 1:2",
        ),
        ("large exponent", Json, "[1e999999999]", "ok"),
        ("unknown escape", Json, r#"["\x"]"#, "json-syntax 1:3"),
        (
            "half a surrogate pair",
            Json,
            r#"["\ud800"]"#,
            "json-syntax 1:3",
        ),
        (
            "two high surrogates",
            Json,
            r#"["\ud800\ud800"]"#,
            "json-syntax 1:3",
        ),
        (
            "line break in a string",
            Json,
            "[\"a\nb\"]",
            "json-syntax 1:4",
        ),
        ("NUL in a string", Json, "[\"\0\"]", "json-syntax 1:3"),
        ("NUL", Json, "\0\0\0\0", "json-syntax 1:1"),
        (
            "binary",
            Json,
            "\u{7f}ELF\u{2}\u{1}\u{1}\0",
            "json-syntax 1:1",
        ),
        ("mark and value", Json, "\u{feff}{}", "ok"),
        ("mark inside", Json, "[\u{feff}1]", "json-syntax 1:2"),
        (
            "duplicate key",
            Json,
            "{\"a\":1,\n\"a\":2}",
            "duplicate-key 2:1",
        ),
        (
            "duplicate by escape",
            Json,
            r#"{"a":1,"\u0061":2}"#,
            "duplicate-key 1:8",
        ),
        ("stream of nothing", JsonLines, "\n\n", "ok"),
        (
            "bad line of a stream",
            JsonLines,
            "{}\n{]\n{}",
            "json-syntax 2:2",
        ),
        ("stream", JsonLines, "1\n2 {} []", "ok"),
    ]);
}

#[test]
fn yaml() {
    check(&[
        ("empty", Yaml, "", "ok"),
        ("only comments", Yaml, "# a\n", "ok"),
        ("cut off list", Yaml, "a: [1, 2", "yaml-syntax 1:4"),
        ("cut off map", Yaml, "{a: 1", "yaml-syntax 1:1"),
        ("cut off string", Yaml, "a: \"b", "yaml-syntax 1:4"),
        (
            "tab as indentation",
            Yaml,
            "a:\n\tb: 1\n",
            "yaml-syntax 2:1",
        ),
        (
            "bad indentation",
            Yaml,
            "a:\n  b: 1\n c: 2\n",
            "yaml-syntax 3:2",
        ),
        (
            "text without colon",
            Yaml,
            "a: 1\nb\nc: 2\n",
            "yaml-syntax 2:1",
        ),
        ("two colons", Yaml, "a: b: c\n", "yaml-syntax 1:5"),
        ("reserved character", Yaml, "a: @b\n", "yaml-syntax 1:4"),
        (
            "text behind a quote",
            Yaml,
            "a: \"b\" c\n",
            "yaml-syntax 1:8",
        ),
        ("unknown escape", Yaml, "a: \"\\q\"\n", "yaml-syntax 1:4"),
        ("wrong bracket", Yaml, "a: [1}\n", "yaml-syntax 1:4"),
        ("NUL", Yaml, "a: \0\n", "yaml-syntax 1:4"),
        (
            "binary",
            Yaml,
            "\u{7f}ELF\u{2}\u{1}\u{1}\0",
            "yaml-syntax 1:1",
        ),
        ("mark and value", Yaml, "\u{feff}a: 1\n", "ok"),
        (
            "duplicate key",
            Yaml,
            "a: 1\nb: 2\na: 3\n",
            "duplicate-key 3:1",
        ),
        (
            "duplicate by spelling",
            Yaml,
            "true: 1\nTRUE: 2\n",
            "duplicate-key 2:1",
        ),
        ("unknown tag", Yaml, "a: !defualt 1\n", "unknown-tag 1:4"),
        (
            "unknown tag of a map",
            Yaml,
            "a: !Ref {}\n",
            "unknown-tag 1:4",
        ),
        (
            "default on a key",
            Yaml,
            "!default a: 1\n",
            "tag-mismatch 1:1",
        ),
        ("no integer", Yaml, "a: !!int b\n", "tag-mismatch 1:4"),
        ("no map", Yaml, "a: !!map []\n", "tag-mismatch 1:4"),
        ("no base64", Yaml, "a: !!binary '?'\n", "tag-mismatch 1:4"),
        ("undeclared handle", Yaml, "a: !x!y 1\n", "yaml-syntax 1:4"),
        ("infinity", Yaml, "a: .inf\n", "not-a-number 1:4"),
        ("not a number", Yaml, "a: .NaN\n", "not-a-number 1:4"),
        (
            "absurd exponent",
            Yaml,
            "a: !!float 1e9999999999\n",
            "number-range 1:12",
        ),
        ("list as key", Yaml, "? [a]\n: 1\n", "complex-key 1:3"),
        (
            "alias of a map as key",
            Yaml,
            "a: &a {}\n*a : 1\n",
            "complex-key 2:1",
        ),
        ("unknown alias", Yaml, "a: *b\n", "unknown-anchor 1:4"),
        (
            "unknown alias as key",
            Yaml,
            "*b : 1\n",
            "unknown-anchor 1:1",
        ),
        (
            "alias in its anchor",
            Yaml,
            "a: &a [*a]\n",
            "alias-cycle 1:8",
        ),
        ("merge of a string", Yaml, "<<: a\n", "bad-merge 1:5"),
        (
            "second document",
            Yaml,
            "a: 1\n---\nb: [\n---\nc: 1\n",
            "yaml-syntax 3:4",
        ),
    ]);
}

#[test]
fn toml() {
    check(&[
        ("empty", Toml, "", "ok"),
        ("no key", Toml, "= 1\n", "toml-syntax 1:1"),
        ("no value", Toml, "a =\n", "toml-syntax 1:4"),
        ("cut off string", Toml, "a = \"b\n", "toml-syntax 1:7"),
        ("cut off list", Toml, "a = [1,\n", "toml-syntax 1:8"),
        ("bare word", Toml, "a = yes\n", "toml-syntax 1:5"),
        ("duplicate key", Toml, "a = 1\na = 2\n", "duplicate-key 2:1"),
        ("infinity", Toml, "a = inf\n", "not-a-number 1:5"),
        ("not a number", Toml, "a = -nan\n", "not-a-number 1:5"),
        ("NUL", Toml, "a = \0\n", "toml-syntax 1:5"),
        ("mark and value", Toml, "\u{feff}a = 1\n", "ok"),
    ]);
}

#[test]
fn nesting_without_end() {
    let deep = 100_000;
    let dots = vec!["a"; deep].join(".");
    let keys: String = (0..2000)
        .map(|i| format!("{}a:\n", " ".repeat(i)))
        .collect();
    let lists = "- ".repeat(deep);
    let part = format!("{} = {{", vec!["a"; 79].join("."));
    let tables = format!("{}{}", part.repeat(79), "}".repeat(79));
    check(&[
        ("lists, open", Json, &"[".repeat(deep), "too-deep 1:1001"),
        (
            "maps, open",
            Json,
            &"{\"a\":".repeat(deep),
            "too-deep 1:5001",
        ),
        ("lists, open", Yaml, &"[".repeat(deep), "too-deep 1:1001"),
        ("maps, open", Yaml, &"{a: ".repeat(deep), "too-deep 1:4001"),
        ("lists in lists", Yaml, &lists, "too-deep 1:2001"),
        ("keys under keys", Yaml, &keys, "too-deep 1001:1001"),
        ("keys of keys", Yaml, &"? ".repeat(deep), "too-deep 1:2001"),
        (
            "lists",
            Toml,
            &format!("a = {}", "[".repeat(deep)),
            "too-deep 1:85",
        ),
        (
            "dots in a key",
            Toml,
            &format!("{dots} = 1"),
            "too-deep 1:1",
        ),
        ("dots in keys in tables", Toml, &tables, "too-deep 1:2035"),
        (
            "dots in a header",
            Toml,
            &format!("[{dots}]"),
            "too-deep 1:1",
        ),
    ]);
}

#[test]
fn bombs_and_giants() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..30 {
        let below = format!("*a{}", i - 1);
        bomb.push_str(&format!("a{i}: &a{i} [{}]\n", vec![below; 10].join(", ")));
    }
    let mut merges = String::from("a0: &a0 {x: 1}\n");
    for i in 1..30 {
        let below = format!("*a{}", i - 1);
        merges.push_str(&format!(
            "a{i}: &a{i} {{<<: [{}], y{i}: [{}]}}\n",
            vec![below.clone(); 10].join(", "),
            vec![below; 10].join(", ")
        ));
    }
    let mut chain = String::from("a0: &a0 []\n");
    for i in 1..3000 {
        chain.push_str(&format!("a{i}: &a{i} [*a{}]\n", i - 1));
    }
    let digits = "9".repeat(1_000_000);
    let same: String = (0..100_000).map(|_| "\"a\":1,").collect();
    let aliases = format!("a: &a x\nb: [{}]\n", "*a, ".repeat(100_000));
    check(&[
        ("aliases of aliases", Yaml, &bomb, "alias-bomb 6:45"),
        ("merges of merges", Yaml, &merges, "alias-bomb 7:15"),
        ("a chain of aliases", Yaml, &chain, "too-deep 1000:14"),
        ("many honest aliases", Yaml, &aliases, "ok"),
        ("a million digits", Json, &digits, "ok"),
        ("a million digits", Yaml, &digits, "ok"),
        ("a million digits", Toml, &format!("a = {digits}"), "ok"),
        (
            "one key again and again",
            Json,
            &format!("{{{same}\"a\":1}}"),
            "duplicate-key 1:8",
        ),
        (
            "a long key",
            Yaml,
            &format!("{digits}: 1"),
            "yaml-syntax 1:1000001",
        ),
        (
            "a claim of two gigabytes",
            Yaml,
            "a: !!python/list [2147483648]",
            "unknown-tag 1:4",
        ),
        (
            "a block of 2147483648",
            Yaml,
            "a: |2147483648\n x\n",
            "yaml-syntax 1:4",
        ),
        (
            "no TOML at all",
            Toml,
            &"=\n".repeat(3 << 20),
            "toml-syntax 1:1",
        ),
        (
            "spaces",
            Json,
            &" ".repeat(1_000_000),
            "json-syntax 1:1000001",
        ),
        ("quotes", Json, &"\"".repeat(99_999), "json-syntax 1:3"),
        (
            "backslashes",
            Json,
            &format!("\"{}", "\\\\".repeat(100_000)),
            "json-syntax 1:1",
        ),
        ("anchors", Yaml, &"- &a\n".repeat(100_000), "ok"),
        ("documents", Yaml, &"---\n".repeat(10_000), "ok"),
        (
            "questions",
            Yaml,
            &"? a\n".repeat(10_000),
            "duplicate-key 2:3",
        ),
        ("colons", Yaml, &": ".repeat(10_000), "too-deep 1:2001"),
    ]);
}

#[test]
fn every_cut_of_a_good_file_is_survived() {
    for (format, text) in [
        (
            Json,
            r#"{"a": [1, -2.5e+3, "x\u00e9\n", {"b": null}], "c": true}"#,
        ),
        (
            Yaml,
            "a: &x [1, 'b', \"c\\n\"]\nd: |\n  e\n  f\n<<: {g: *x}\nh: !default >-\n  é\n",
        ),
        (
            Toml,
            "a = [1, 2.5, 'x']\nb = \"é\\n\"\n[c.d]\ne = 1979-05-27\n[[f]]\ng = {h = true}\n",
        ),
    ] {
        for at in 0..=text.len() {
            if let Some(cut) = text.get(..at) {
                first_finding("cut", format, cut);
            }
            if let Some(rest) = text.get(at..) {
                first_finding("cut", format, rest);
            }
        }
        assert_eq!(first_finding("whole", format, text), "ok");
    }
}
