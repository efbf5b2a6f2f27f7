//! `text/template`, by template, data and output.

use super::call;

fn check(rows: &[(&str, &str, &str)]) {
    for (template, data, wanted) in rows {
        let escaped = template
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        let got = call("text/template", "Execute", &format!("\"{escaped}\" {data}"));
        let wanted = if wanted.starts_with("error: ") {
            (*wanted).to_owned()
        } else {
            crate::packages::Value::string(*wanted).to_string()
        };
        assert_eq!(got, wanted, "{template} over {data}");
    }
}

#[test]
fn values_and_pipelines() {
    check(&[
        ("plain", "1", "plain"),
        ("{{.}}-{{.}}", "\"foo\"", "foo-foo"),
        ("{{.a.b}}", "{a: {b: 1}}", "1"),
        (
            "{{.a.missing}} {{.n}}",
            "{a: {}, n: null}",
            "<no value> <no value>",
        ),
        (
            "{{.}}",
            "{b: [1, null, \"x\"], a: 1.0}",
            "map[a:1 b:[1 <nil> x]]",
        ),
        ("{{1000000.0}} {{1e3}}", "1", "1e+06 1000"),
        (
            "{{printf \"%03d|%-4s|%q|%.2f|%v|%t|%x\" 7 \"ab\" \"c\" 1.5 .x true 255}}",
            "{x: [1, 2]}",
            "007|ab  |\"c\"|1.50|[1 2]|true|ff",
        ),
        (
            "{{printf \"%d %s\" \"a\"}}",
            "1",
            "%!d(string=a) %!s(MISSING)",
        ),
        ("{{printf \"%[2]d %[1]d\" 1 2}}", "1", "2 1"),
        ("{{printf \"a\" 1}}", "1", "a%!(EXTRA int=1)"),
        ("{{.x | printf \"%s-%s\" \"a\"}}", "{x: \"b\"}", "a-b"),
        (
            "{{len .}} {{index . 1}} {{slice . 1 2}}",
            "[1, 2, 3]",
            "3 2 [2]",
        ),
        ("{{index .m \"k\"}}", "{m: {k: 5}}", "5"),
        ("{{print 1 2 \"a\" 3}}", "1", "1 2a3"),
        ("{{println 1 \"a\"}}", "1", "1 a\n"),
        (
            "{{html \"<a>\"}} {{js \"'\"}} {{urlquery \"a b\"}}",
            "1",
            "&lt;a&gt; \\' a+b",
        ),
        (
            "{{eq .x 1 2}} {{ne .x 2}} {{lt 1 2}} {{ge \"b\" \"a\"}}",
            "{x: 2}",
            "true false true true",
        ),
        (
            "{{and 1 0}} {{or 0 \"x\"}} {{not true}} {{and (eq 1 2) (index 1 2)}}",
            "1",
            "0 x false false",
        ),
        ("{{(index . 0).a}}", "[{a: 4}]", "4"),
    ]);
}

#[test]
fn blocks() {
    check(&[
        (
            "{{if .a}}A{{else if .b}}B{{else}}C{{end}}",
            "{a: false, b: true}",
            "B",
        ),
        ("{{range .}}<{{.}}>{{else}}none{{end}}", "[1, 2]", "<1><2>"),
        ("{{range .}}x{{else}}none{{end}}", "[]", "none"),
        (
            "{{range $i, $e := .}}{{$i}}={{$e}};{{end}}",
            "{b: 2, a: 1}",
            "a=1;b=2;",
        ),
        ("{{range 3}}{{.}}{{end}}", "1", "012"),
        (
            "{{range .}}{{if eq . 2}}{{continue}}{{end}}{{if eq . 4}}{{break}}{{end}}{{.}}{{end}}",
            "[1, 2, 3, 4, 5]",
            "13",
        ),
        ("{{with .a}}{{.b}}{{$.c}}{{end}}", "{a: {b: 1}, c: 2}", "12"),
        ("{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}", "1", "2"),
        (
            "{{define \"t\"}}[{{.}}]{{end}}{{template \"t\" .a}}",
            "{a: 1}",
            "[1]",
        ),
        ("{{block \"t\" .}}<{{.}}>{{end}}", "3", "<3>"),
        ("a {{- /* no */ -}} b", "1", "ab"),
        ("a\n{{- 1 -}}\n b", "1", "a1b"),
    ]);
}

#[test]
fn mistakes() {
    check(&[
        ("{{", "1", "error: template: :1: unclosed action"),
        ("{{if 1}}", "1", "error: template: :1: unexpected EOF"),
        ("a\n{{end}}", "1", "error: template: :2: unexpected {{end}}"),
        (
            "{{nope}}",
            "1",
            "error: template: :1: function \"nope\" not defined",
        ),
        (
            "{{.a.b}}",
            "{a: 1}",
            "error: template: :1: executing \"\": can't evaluate field b in type int",
        ),
        (
            "{{template \"x\"}}",
            "1",
            "error: template: :0: executing \"\": template \"x\" not defined",
        ),
        (
            "{{define \"r\"}}{{template \"r\"}}{{end}}{{template \"r\"}}",
            "1",
            "error: template: :0: executing \"r\": exceeded maximum template depth",
        ),
        (
            "{{break}}",
            "1",
            "error: template: :1: {{break}} outside {{range}}",
        ),
    ]);
    let deep = "(".repeat(100_000);
    assert!(call("text/template", "Execute", &format!("\"{{{{{deep}\" 1")).starts_with("error: "));
}
