//! The two readers of YAML agree: what [`super::lines`] takes, it reads as the full parser does, to the
//! last span and finding.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

fn loaded(text: &str, read: impl FnOnce(&mut Loader<'_>) -> Option<Vec<Tree>>) -> Option<String> {
    let text: Arc<str> = Arc::from(text);
    let (mut symbols, mut findings) = (Symbols::new(), Findings::default());
    let options = Options::default();
    let mut loader = Loader::new(SourceId(0), &text, &mut symbols, &options, &mut findings);
    let documents = read(&mut loader)?;
    let names: Vec<&str> = (0..symbols.len())
        .filter_map(|at| u32::try_from(at).ok())
        .map(|at| symbols.name(Symbol(at)))
        .collect();
    Some(format!("{documents:?} {:?} {names:?}", findings.finish()))
}

/// Whether the quick reader takes a text; then both read it alike.
fn takes(text: &str) -> bool {
    let Some(quick) = loaded(text, lines::read) else {
        return false;
    };
    let full = loaded(text, |loader| Some(everything(loader)));
    assert_eq!(Some(quick), full, "{text:?}");
    true
}

#[test]
fn what_is_taken_is_read_alike() {
    for text in [
        FILE,
        "a: 1\n",
        "a: 1",
        "a:\n  b: c\n  d: e # comment\nf: -1.5\n",
        "- a\n- b: 1\n  c: 2\n-   d: 3\n    e:\n    - 1\n    -  2\n- - x\n  - y\n-\n  - z\n",
        "a:\n- 1\n- 2\nb:\n  - 3\nc:\n",
        "a:\nb:\n  c:\n  d:\ne:\n",
        "-\n-\n- a:\n-\n",
        "a:   # comment\n\n# more\n   # and more\n  b: 1\n",
        "a: [1, \"b c\", 'd', [], {}, [[x]], {e: f, \"g\": [h]}, ]\nb: {}\nc: [ a , b ]\n",
        "---\na: 1\n---\n- b\n---\nc: x y  z  \n",
        "# head\n---\n# more\na: b#c\nurl: http://x:80/y#z\n\"q:\": 'it''s'\n'r': \"a\\n\\\"\\\\\\t\"\n",
        "a: |\n  one\n   two\n\n  three\n\nb: |-\n  x\n\n\nc:\n  - |\n   y\n  - z\n",
        "true: null\n~: ~\n<<: {a: 1}\n1: 2\n.5: .inf\na: 1\na: 2\n",
        "ä: ö\n\"ü\": ß # é\n",
        "  a: 1\n  b: 2\n",
        "a: x\n\n\n",
        "a: --x\nb: -y\nc: -.5\n",
    ] {
        assert!(takes(text), "{text:?}");
    }
}

#[test]
fn what_is_rare_or_wrong_is_left_to_the_full_parser() {
    for text in [
        "",
        "# only a comment\n",
        "scalar\n",
        "---\n",
        "---\n---\na: 1\n",
        "--- a\n",
        "a: 1\n...\n",
        "a: b\n  c\n",
        "a:\n  b\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !!int 1\n",
        "%YAML 1.2\n---\na: 1\n",
        "? a\n: b\n",
        "a: >\n  b\n",
        "a: |2\n  b\n",
        "a: |\n\n  b\n",
        "a: |\n  b",
        "a: |\nb: c\n",
        "a: \"b\n  c\"\n",
        "a: \"\\u0041\"\n",
        "a: [b,\n  c]\n",
        "a: [b: c]\n",
        "a: {b, c}\n",
        "a: {b: }\n",
        "a: [,]\n",
        "a: [b\n",
        "[a]: b\n",
        "a: b: c\n",
        "a: - b\n",
        "a : b\n",
        "a:\tb\n",
        "a: b\r\n",
        "\u{feff}a: b\n",
        "a: b\n c: d\n",
        "  a: b\nc: d\n",
        "- a\nb: c\n",
        "a: b\n- c\n",
        "a: 'b' c\n",
        "a: \"b\"#c\n",
        "a: @b\n",
        "- - a\n - b\n",
    ] {
        assert!(!takes(text), "{text:?}");
    }
}

#[test]
fn the_readers_agree_on_the_public_suite_and_on_parts_of_it() {
    let shared = match std::env::var_os("LATH_SHARED") {
        Some(path) => path.into(),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
    };
    let path = shared.join("conformance/yaml/suite.jsonl");
    let Ok(suite) = std::fs::read_to_string(path) else {
        println!("skipped: ../shared is not here");
        return;
    };
    let (mut taken, mut all) = (0, 0);
    for line in suite.lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("each line is a case");
        let text = case["yaml"].as_str().expect("a text");
        for (end, _) in text.char_indices().chain([(text.len(), ' ')]) {
            all += 1;
            taken += usize::from(takes(text.get(..end).expect("a boundary")));
        }
    }
    println!("{taken} of {all} beginnings are taken");
    assert!(taken * 10 > all, "{taken} of {all}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Words of the style, in any order and at any column.
    #[test]
    fn the_readers_agree_on_any_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..24)) {
        takes(&words.concat().replace("\u{1}", "é"));
    }

    /// A file with parts cut out and words put in.
    #[test]
    fn the_readers_agree_on_changed_files(
        changes in prop::collection::vec((0..FILE.len(), 0..4usize, prop::sample::select(WORDS)), 0..6),
    ) {
        let mut text = FILE.to_owned();
        for (at, cut, word) in changes {
            let at = at.min(text.len());
            text.replace_range(at..(at + cut).min(text.len()), if cut == 3 { "" } else { word });
        }
        takes(&text.replace("\u{1}", "é"));
    }
}

/// All that the quick reader knows.
const FILE: &str = "# head
---
name: web
replicas: 3 # three
labels:
  app: \"a b\"
  'tier': it''s
ports:
- 80
- name: x
  port: [1, two, \"three\", {a: b}, []]
  deep:
    - - 1
      -
    - {}
text: |
  one
   two

  three

more:
  empty:
  last: |-
    end
---
- a
-
  - http://x:80/#y
-   k: v
    l:
";

/// U+0001 stands for a letter of two bytes, so that every place of a text is a boundary.
const WORDS: &[&str] = &[
    "\n", "\n", "\n  ", "\n  ", "\n    ", "\n ", " ", "  ", "a", "b:", "c: ", "a: ", "\na: ", "- ",
    "-", "\n- ", "\n  - ", ": ", ":", "[", "]", "{", "}", ", ", ",", "\"", "\"x\"", "'", "'y'",
    "''", "\\n", "# c", " # d\n", "|\n", "|-\n", "|\n  ", "---\n", "\n---\n", "...", "1", "-1.5",
    "true", "~", "<<: ", "\u{1}", "?", "&a ", "*a", "!!str ", "%", ">", "@",
];
