//! What texts mean: each case is a text and the JSON of its documents.

use base::{Sources, Symbols};
use data::{Format, NodeId, Options, Parsed, Reading, Tree, Value, write};

struct Read {
    sources: Sources,
    symbols: Symbols,
    parsed: Parsed,
}

fn read(format: Format, text: &str, reading: Reading) -> Read {
    let mut sources = Sources::new();
    let mut symbols = Symbols::new();
    let id = sources.add("in", text);
    let text = sources.get(id).text().clone();
    let parsed = data::parse(format, id, text, &mut symbols, &Options { reading });
    Read {
        sources,
        symbols,
        parsed,
    }
}

impl Read {
    fn json(&self) -> String {
        let write = |tree: &Tree| {
            let mut writer = write::Json::compact();
            write::node(&mut writer, tree, tree.root(), &self.symbols);
            writer.finish()
        };
        let documents: Vec<String> = self.parsed.documents.iter().map(write).collect();
        documents.join(" ")
    }

    fn tree(&self) -> &Tree {
        self.parsed.documents.first().expect("a document")
    }

    /// The node at a path of keys.
    fn at(&self, path: &[&str]) -> NodeId {
        path.iter().fold(self.tree().root(), |node, key| {
            let name = self.symbols.find(key).expect("a known name");
            self.tree().get(node, name).expect("a field")
        })
    }

    fn text(&self, id: NodeId) -> &str {
        self.sources.text(self.tree().span(id))
    }
}

fn check(format: Format, cases: &[(&str, &str)]) {
    for (text, wanted) in cases {
        let read = read(format, text, Reading::Strict);
        assert!(
            read.parsed.findings.is_empty(),
            "{text:?} {:?}",
            read.parsed.findings
        );
        assert_eq!(read.json(), *wanted, "{text:?}");
    }
}

#[test]
fn yaml_values() {
    check(
        Format::Yaml,
        &[
            ("", ""),
            ("# nothing\n", ""),
            ("---\n", "null"),
            ("a: 1\n---\nb: 2\n...\n", r#"{"a":1} {"b":2}"#),
            ("a:\nb: ~\nc: ''\n", r#"{"a":null,"b":null,"c":""}"#),
            (
                "[yes, no, on, off, y, n]",
                r#"["yes","no","on","off","y","n"]"#,
            ),
            (
                "[0777, 0o17, 01289, 08, 1_000, 0x1F, 0b11, +1]",
                r#"[511,15,"01289","08",1000,31,3,1]"#,
            ),
            (
                "[.5, 1., 1.50, 1E3, -0, 1e400]",
                r#"[0.5,1.0,1.50,1e3,0,"1e400"]"#,
            ),
            (
                "[2001-01-01, 12:30:45, 2001-12-14t21:59:43.10-05:00]",
                r#"["2001-01-01","12:30:45","2001-12-14t21:59:43.10-05:00"]"#,
            ),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            (
                "[!!str 1, !!int '2', !!float 3, !!null '', !!bool 'true', ! 4]",
                r#"["1",2,3.0,null,true,"4"]"#,
            ),
            (
                "[!!float 1e400, !!timestamp 2001-01-01]",
                r#"[1e400,"2001-01-01"]"#,
            ),
            ("!!binary |\n  aGVs\n  bG8=\n", r#""aGVsbG8=""#),
            (
                "1: a\ntrue: b\n~: c\n1.0: d\n0777: e\n",
                r#"{"1":"a","true":"b","null":"c","1.0":"d","0777":"e"}"#,
            ),
            (
                "a: &x {b: 1}\nc: *x\nd: [*x, *x]\n",
                r#"{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}]}"#,
            ),
            ("&k a: 1\nb: *k\n", r#"{"a":1,"b":"a"}"#),
            ("a: &a x\n*a : 1\n", r#"{"a":"x","x":1}"#),
            ("a: &a 1\nb: &a 2\nc: *a\n", r#"{"a":1,"b":2,"c":2}"#),
            (
                "a: |\n  x\n   y\n\nb: >-\n  p\n  q\n",
                r#"{"a":"x\n y\n","b":"p q"}"#,
            ),
            (
                "a: !!set {x, y}\nb: !!omap [c: 1]\n",
                r#"{"a":{"x":null,"y":null},"b":[{"c":1}]}"#,
            ),
            ("\"<<\": 1\n", r#"{"<<":1}"#),
            ("\u{feff}a: é\r\nb: 2\r\n", r#"{"a":"é","b":2}"#),
        ],
    );
}

#[test]
fn merge_keys() {
    check(
        Format::Yaml,
        &[
            ("<<: {a: 1, b: 2}\nb: 3\nc: 4\n", r#"{"a":1,"b":3,"c":4}"#),
            ("b: 3\n<<: {a: 1, b: 2}\n", r#"{"b":3,"a":1}"#),
            (
                "<<: [{a: 1}, {a: 2, b: 2}, {b: 3, c: 3}]\n",
                r#"{"b":2,"c":3,"a":1}"#,
            ),
            (
                "x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nz: {<<: *y, a: 0}\n",
                r#"{"x":{"a":1},"y":{"a":1,"b":2},"z":{"a":0,"b":2}}"#,
            ),
            ("<<: {a: 1}\nd: 0\n<<: {a: 2}\n", r#"{"a":2,"d":0}"#),
        ],
    );
    // The reference lets a merge override what stands before it.
    let text = "a: 1\nb: 1\n<<: {a: 2}\nb: 3\n";
    let reference = read(Format::Yaml, text, Reading::Reference);
    assert_eq!(reference.json(), r#"{"a":2,"b":3}"#);
}

#[test]
fn duplicate_keys_are_all_named_or_kept() {
    for (format, text) in [
        (Format::Yaml, "a: 1\nb: {c: 1, c: 2}\na: 1\na: 3\n"),
        (
            Format::Json,
            "{\"a\": 1,\n\"b\": {\"c\": 1, \"c\": 2},\n\"a\": 1,\n\"a\": 3}",
        ),
    ] {
        let strict = read(format, text, Reading::Strict);
        let places: Vec<String> = strict
            .parsed
            .findings
            .iter()
            .map(|finding| {
                let places = finding.labels.iter();
                let places = places.map(|l| strict.sources.place(l.span).line.to_string());
                let places: Vec<String> = places.collect();
                format!("{} {}", finding.message, places.join(" "))
            })
            .collect();
        assert_eq!(
            places,
            [
                "the key `c` is set twice 2 2".to_owned(),
                "the key `a` is set twice 3 1".to_owned(),
                "the key `a` is set twice 4 1".to_owned(),
            ]
        );
        assert_eq!(strict.json(), r#"{"a":1,"b":{"c":1}}"#);
        let reference = read(format, text, Reading::Reference);
        assert!(reference.parsed.findings.is_empty());
        assert_eq!(reference.json(), r#"{"a":1,"b":{"c":1,"c":2},"a":1,"a":3}"#);
    }
}

#[test]
fn a_map_of_many_keys_finds_its_duplicates() {
    let keys: String = (0..100).map(|i| format!("k{i}: {i}\n")).collect();
    let read = read(
        Format::Yaml,
        &format!("{keys}k7: 0\nk8: 0\n"),
        Reading::Strict,
    );
    assert_eq!(read.parsed.findings.len(), 2);
    assert!(read.json().ends_with("\"k99\":99}"));
}

#[test]
fn toml_names_both_places_of_a_duplicate() {
    let text = "[a]\nx = 1\n[b]\nx = 1\ny = 2\nx = 2\n";
    let read = read(Format::Toml, text, Reading::Strict);
    let finding = read.parsed.findings.first().expect("a finding");
    let lines: Vec<u32> = finding
        .labels
        .iter()
        .map(|label| read.sources.place(label.span).line)
        .collect();
    assert_eq!(
        (lines, finding.message.as_str()),
        (vec![6, 4], "the key `x` is set twice")
    );
}

#[test]
fn default_marks_any_node() {
    let text =
        "a: !default 3\nb: !default\n  c: 1\nd: [!default '4', 5]\ne: &e !default 6\nf: *e\n";
    let read = read(Format::Yaml, text, Reading::Strict);
    assert!(read.parsed.findings.is_empty());
    assert_eq!(
        read.json(),
        r#"{"a":3,"b":{"c":1},"d":["4",5],"e":6,"f":6}"#
    );
    let marked = |path: &[&str]| read.tree().is_default(read.at(path));
    assert!(marked(&["a"]) && marked(&["b"]) && marked(&["e"]) && marked(&["f"]));
    assert!(!marked(&["b", "c"]) && !marked(&["d"]));
    let Value::List(items) = read.tree().value(read.at(&["d"])) else {
        panic!("a list");
    };
    let marks: Vec<bool> = items
        .iter()
        .map(|&item| read.tree().is_default(item))
        .collect();
    assert_eq!(marks, [true, false]);
}

#[test]
fn default_goes_over_to_what_is_merged() {
    let text = "b: &b !default {x: 1, y: 2}\nc:\n  <<: *b\n  y: 3\n";
    let read = read(Format::Yaml, text, Reading::Strict);
    assert_eq!(read.json(), r#"{"b":{"x":1,"y":2},"c":{"x":1,"y":3}}"#);
    let marked = |path: &[&str]| read.tree().is_default(read.at(path));
    assert!(marked(&["b"]) && !marked(&["b", "x"]));
    assert!(!marked(&["c"]) && marked(&["c", "x"]) && !marked(&["c", "y"]));
}

#[test]
fn spans_cover_what_was_written() {
    for (format, text) in [
        (Format::Json, r#"{"a": {"b": [1, "x y"]}, "c": -1.5}"#),
        (
            Format::Yaml,
            "a:\n  b: [1, \"x y\"]\n\n# more\nc: -1.5 # no\n",
        ),
        (Format::Toml, "a.b = [1, \"x y\"]\nc = -1.5\n"),
    ] {
        let read = read(format, text, Reading::Strict);
        assert_eq!(read.json(), r#"{"a":{"b":[1,"x y"]},"c":-1.5}"#);
        assert_eq!(read.text(read.at(&["a", "b"])), "[1, \"x y\"]");
        assert_eq!(read.text(read.at(&["c"])), "-1.5");
        let Value::Map(fields) = read.tree().value(read.tree().root()) else {
            panic!("a map");
        };
        let keys: Vec<&str> = fields
            .iter()
            .map(|field| read.sources.text(read.tree().key_span(field)))
            .map(|key| key.trim_matches('"'))
            .collect();
        assert_eq!(keys, ["a", "c"]);
    }
    let yaml = read(
        Format::Yaml,
        "a:\n  b: 1\n  c: x\n\n# more\nd: &x [y]\ne: *x\n",
        Reading::Strict,
    );
    assert_eq!(yaml.text(yaml.at(&["a"])), "b: 1\n  c: x");
    assert_eq!(yaml.text(yaml.at(&["e"])), "*x");
}

#[test]
fn json_values() {
    check(
        Format::Json,
        &[
            (
                r#"[1.0, 1E3, 0.10, -0, -0.0, 1e-7]"#,
                "[1.0,1e3,0.10,0,-0.0,1e-7]",
            ),
            (r#""\ud83d\ude00\/\u00e9""#, "\"😀/é\""),
            ("\u{feff} {} ", "{}"),
            ("12345678901234567890123", "12345678901234567890123"),
        ],
    );
    check(Format::JsonLines, &[("{}\n[1]\n\n2", "{} [1] 2")]);
}

#[test]
fn toml_values() {
    check(
        Format::Toml,
        &[
            ("", "{}"),
            (
                "z = 1\na.b = 2\n[t]\nx = 0xDEAD_beef\n",
                r#"{"z":1,"a":{"b":2},"t":{"x":3735928559}}"#,
            ),
            (
                "d = 1979-05-27\nt = 07:32:00\no = 1979-05-27T07:32:00Z\n",
                r#"{"d":"1979-05-27","t":"07:32:00","o":"1979-05-27T07:32:00Z"}"#,
            ),
            (
                "i = +1_000\nf = +1.50\ne = 5E+20\nn = -0\n",
                r#"{"i":1000,"f":1.50,"e":5e+20,"n":0}"#,
            ),
            ("s = '''\na\n'b'\n'''\n", "{\"s\":\"a\\n'b'\\n\"}"),
            ("[[a]]\nb = 1\n[[a]]\nb = 2\n", r#"{"a":[{"b":1},{"b":2}]}"#),
        ],
    );
}

#[test]
fn several_findings_of_one_file_come_at_once() {
    let text = "a: !x 1\nb: .inf\nc: 1\nc: 2\n---\nd: [\n---\ne: *f\n";
    let read = read(Format::Yaml, text, Reading::Strict);
    let codes: Vec<&str> = read.parsed.findings.iter().map(|f| f.code.0).collect();
    assert_eq!(
        codes,
        [
            "unknown-tag",
            "not-a-number",
            "duplicate-key",
            "yaml-syntax",
            "unknown-anchor"
        ]
    );
    let toml = self::read(Format::Toml, "a = \nb = yes\nc = 1\n", Reading::Strict);
    assert_eq!(toml.parsed.findings.len(), 2);
}

#[test]
fn formats_by_name() {
    for (name, wanted) in [
        ("a/b.yaml", Some(Format::Yaml)),
        ("b.YML", Some(Format::Yaml)),
        ("x.json", Some(Format::Json)),
        ("x.ndjson", Some(Format::JsonLines)),
        ("x.toml", Some(Format::Toml)),
        ("x.cue", None),
        ("a.yaml/x", None),
        ("yaml", None),
    ] {
        assert_eq!(Format::from_name(name), wanted, "{name}");
    }
}
