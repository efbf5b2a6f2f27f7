//! What programs evaluate to, as a table: source and result, or source and the first finding.

mod program;

use cue::eval::validate::Config;
use data::write::Json;
use program::{Program, deep};

/// Evaluates a file and exports it as compact JSON, or returns all findings.
fn export(text: &str) -> Result<String, Vec<String>> {
    let Program { mut runtime, value } = Program::new(text);
    let texts = |errors: Vec<cue::eval::report::Reported>| {
        errors.iter().map(|e| e.text()).collect::<Vec<_>>()
    };
    let value = value.map_err(texts)?;
    runtime.evaluate(value).map_err(texts)?;
    let strict = Config {
        concrete: true,
        is_final: true,
        all_errors: true,
        ..Config::default()
    };
    runtime.validate(value, strict).map_err(texts)?;
    let mut json = Json::compact();
    runtime.write(value, &mut json);
    Ok(json.finish().trim().to_owned())
}

/// Checks one row; `want` is JSON, or a finding behind `!`.
fn check(source: &str, want: &str) {
    let text = source.to_owned();
    let got = deep(move || export(&text));
    match want.strip_prefix('!') {
        None => assert_eq!(got.as_deref(), Ok(want), "{source}"),
        Some(finding) => assert!(
            matches!(&got, Err(errors) if errors.iter().any(|e| e == finding)),
            "{source}: {got:?} instead of {finding}"
        ),
    }
}

#[test]
fn references_see_the_unified_value() {
    check(
        "A: {x: *1 | int, y: x}\nB: A & {x: 5}",
        r#"{"A":{"x":1,"y":1},"B":{"x":5,"y":5}}"#,
    );
}

#[test]
fn unification_of_scalars_and_structs() {
    check("a: int\na: 5", r#"{"a":5}"#);
    check("a: {b: 1}\na: {c: 2}", r#"{"a":{"b":1,"c":2}}"#);
    check("a: 1\na: 2", "!a: conflicting values 2 and 1");
    check(
        "a: 1\na: \"x\"",
        "!a: conflicting values 1 and \"x\" (mismatched types int and string)",
    );
    check("a: string", "!a: incomplete value string");
}

#[test]
fn defaults_follow_the_modes() {
    check("a: *1 | 2\na: *2 | 3", r#"{"a":2}"#);
    check("a: *1 | int\nb: a & 5", r#"{"a":1,"b":5}"#);
    check("a: (*1 | 2) & (1 | *2)", "!a: incomplete value 1 | 2");
    check("a: int\ny: (a + 1) | 3\nz: y", "!a: incomplete value int");
}

#[test]
fn definitions_are_closed() {
    check("#A: {a: int}\nx: #A & {b: 1}", "!x.b: field not allowed");
    check("#A: {a: 1}\nx: {#A, b: 1}", r#"{"x":{"a":1,"b":1}}"#);
    check("#A: {a: 1, ...}\nx: #A & {b: 1}", r#"{"x":{"a":1,"b":1}}"#);
    check("x: close({a: {}}) & {a: b: 1}", r#"{"x":{"a":{"b":1}}}"#);
}

#[test]
fn comprehensions_and_dynamic_fields() {
    check(
        "a: {b: 1, c: 2}\nx: {for k, v in a if v > 1 {(k): v * 10}}",
        r#"{"a":{"b":1,"c":2},"x":{"c":20}}"#,
    );
    check("a: [for x in [1, 2] {x + 1}]", r#"{"a":[2,3]}"#);
    check("x: true\nif x {y: 1}", r#"{"x":true,"y":1}"#);
}

#[test]
fn cycles_are_told_apart() {
    check("a: b\nb: a\nb: 2", r#"{"a":2,"b":2}"#);
    check("a: b + 1\nb: a - 1\nb: 2", r#"{"a":3,"b":2}"#);
    check("a: [a]", "!a.0: structural cycle");
    check("#A: {n?: #A}\nx: #A & {n: {}}", r#"{"x":{"n":{}}}"#);
    check(
        "let x = y\nlet y = x\na: x",
        "!let[]: cyclic references in let clause or alias",
    );
}

#[test]
fn patterns_bounds_and_builtins() {
    check("a: [string]: int\na: b: 1", r#"{"a":{"b":1}}"#);
    check(
        "a: [X=string]: name: X\na: b: {}",
        r#"{"a":{"b":{"name":"b"}}}"#,
    );
    check(
        "a: >=1 & <=5\na: 9",
        "!a: invalid value 9 (out of bound <=5)",
    );
    check(
        "import \"strings\"\na: strings.ToUpper(\"x\")",
        r#"{"a":"X"}"#,
    );
    check("a: len([1, 2, 3])", r#"{"a":3}"#);
}

#[test]
fn names_are_lexical() {
    check("\"a\": 1\nb: a", "!b: reference \"a\" not found");
    check("c: 5\na: {b: c}\na: {c: 1}", r#"{"c":5,"a":{"b":5,"c":1}}"#);
    check("let X = 1\na: 2", "!unreferenced alias or let clause X");
}

#[test]
fn fields_are_written_in_the_order_of_the_reference() {
    check(
        "x: {c: 1, a: 2}\ny: {x, b: 3}",
        r#"{"x":{"c":1,"a":2},"y":{"b":3,"c":1,"a":2}}"#,
    );
    check("a: {z: 1, y: 2} & {y: 2, z: 1}", r#"{"a":{"y":2,"z":1}}"#);
    check(
        "a: {z: 1, if true {y: 2}, x: 3}",
        r#"{"a":{"y":2,"z":1,"x":3}}"#,
    );
}

#[test]
fn hostile_programs_end() {
    check(
        "a: \"x\" * 2000000",
        "!a: string multiplication count 2000000 exceeds limit of 1000000",
    );
    let deep = "a: ".to_owned() + &"[".repeat(500) + &"]".repeat(500);
    assert!(
        std::thread::Builder::new()
            .stack_size(512 << 20)
            .spawn(move || export(&deep))
            .expect("a thread can be started")
            .join()
            .expect("no panic")
            .is_ok()
    );
}

#[test]
fn a_known_scalar_chooses_its_disjunct() {
    check("x: \"a\" | \"b\"\nx: \"b\"", r#"{"x":"b"}"#);
    check("x: *1 | int\nx: 7", r#"{"x":7}"#);
    check("x: string | number | bool\nx: 1.5", r#"{"x":1.5}"#);
    check("x: 1 | 1.0\nx: 1", r#"{"x":1}"#);
    check(
        "#S: {k: \"a\", v: int} | {k: \"b\", v: string}\nx: #S & {k: \"b\", v: \"s\"}",
        r##"{"x":{"k":"b","v":"s"}}"##,
    );
    check(
        "x: \"a\" | \"b\"\nx: 3",
        "!x: 2 errors in empty disjunction:",
    );
}

#[test]
fn frames_that_yield_nothing_leave_no_trace() {
    check(
        r#"rows: [{k: "a", n: 1}, {k: "b", n: 2}, {k: "a", n: 3}, {k: "c", n: 4}]
want: "a"
found: [for i, r in rows if r.k == "\(want)" {at: i, n: r.n}]
pairs: [for r in rows for s in rows if r.n > s.n if s.k != "b" {r.n * 10 + s.n}]"#,
        r#"{"rows":[{"k":"a","n":1},{"k":"b","n":2},{"k":"a","n":3},{"k":"c","n":4}],"want":"a","found":[{"at":0,"n":1},{"at":2,"n":3}],"pairs":[21,31,41,43]}"#,
    );
}

/// Defaults of literals are settled without a copy of the vertex; what they meet later must not notice.
#[test]
fn defaults_of_literals_are_as_any_other() {
    check("x: *1 | int\ny: x + 1", r#"{"x":1,"y":2}"#);
    check("x: *\"a\" | string | *\"a\"", r#"{"x":"a"}"#);
    check("x: *1 | *2 | int", "!x: incomplete value 1 | 2");
    check("x: 1 | 2", "!x: incomplete value 1 | 2");
    check(
        "n: 3\nx: *\"n is \\(n)\" | string\ny: x",
        r#"{"n":3,"x":"n is 3","y":"n is 3"}"#,
    );
    check(
        "#P: {port: *80 | int & >0 & <65536}\na: #P\nb: #P & {port: 8080}",
        r#"{"a":{"port":80},"b":{"port":8080}}"#,
    );
}

/// Expressions over finished values are computed at once, with the findings of the usual way.
#[test]
fn settled_expressions_find_what_is_wrong() {
    check(
        "rows: [{n: 7, s: \"x\"}]\nout: [for r in rows {a: r.n * 2, b: \"\\(r.s)-\\(r.n)\", c: mod(r.n, 4), d: r.n > 3 && r.s == \"x\"}]",
        r#"{"rows":[{"n":7,"s":"x"}],"out":[{"a":14,"b":"x-7","c":3,"d":true}]}"#,
    );
    check(
        "rows: [{n: 7}]\nout: [for r in rows {mod(r.n, 0)}]",
        "!out.0: error in call to mod: division by zero",
    );
    check(
        "rows: [{n: 7}]\nout: [for r in rows if r.n {1}]",
        "!out: cannot use 7 (type int) as type bool",
    );
}

/// A disjunct that refers to a finished disjunction takes it in with its defaults.
#[test]
fn disjunctions_of_disjunctions_keep_their_defaults() {
    check("a: *1 | int\nb: *a | string", r#"{"a":1,"b":1}"#);
    check("a: *1 | int\nb: a | \"s\"", r#"{"a":1,"b":1}"#);
    check("a: *1 | int\nb: *\"s\" | a", r#"{"a":1,"b":"s"}"#);
    check("a: 1 | 2\nb: *a | 3\na: 2", r#"{"a":2,"b":2}"#);
    check("a: *1 | 2\nb: *a | *3 | int", "!b: incomplete value 1 | 3");
    check(
        "b: *a | int\na: *1 | int\nc: *b | 7",
        r#"{"b":1,"a":1,"c":1}"#,
    );
}
