use proptest::prelude::*;

use super::*;

fn find<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    let regex = Regex::new(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
    regex
        .find(text)
        .map(|(start, end)| text.get(start..end).expect("on character boundaries"))
}

#[test]
fn matches_as_go_does() {
    for (pattern, text, found) in [
        ("b+", "abbc", Some("bb")),
        ("a|ab", "ab", Some("a")),
        (r"\Qa.b\E+", "a.bb", Some("a.bb")),
        (r"\Qa.b", "xa.b", Some("a.b")),
        ("a{,3}", "xa{,3}", Some("a{,3}")),
        ("a{2}", "aaa", Some("aa")),
        ("a{01}", "a{01}", Some("a{01}")),
        (r"\d", "٣4", Some("4")),
        (r"\w+", "éa_1", Some("a_1")),
        (r"\bé", "é", None),
        (r"\s", "\u{b}\t", Some("\t")),
        ("(?i)straSSe", "STRASSE", Some("STRASSE")),
        ("(?i)k", "\u{212a}", Some("\u{212a}")),
        (".", "\n", None),
        ("(?s).", "\n", Some("\n")),
        ("^b", "a\nb", None),
        ("(?m)^b$", "a\nb\nc", Some("b")),
        ("a$", "a\n", None),
        ("(?U)a+", "aaa", Some("a")),
        ("(?U)a+?", "aaa", Some("aaa")),
        ("(?i:a)a", "Aa", Some("Aa")),
        ("(?i:a)a", "aA", None),
        ("(?i)a(?-i)b", "Ab", Some("Ab")),
        ("[[:alpha:]]+", "1ab2", Some("ab")),
        ("[[:^digit:]]", "1é", Some("é")),
        ("[^a]", "a\n", Some("\n")),
        ("[]a]+", "]a", Some("]a")),
        ("[a-]+", "-a", Some("-a")),
        (r"\pL+", "1αβ", Some("αβ")),
        (r"\p{Greek}", "aβ", Some("β")),
        (r"\P{^Greek}", "aβ", Some("β")),
        (r"\x{3b1}\x41\101", "αAA", Some("αAA")),
        (r"\_\-\/", "_-/", Some("_-/")),
        ("x*", "", Some("")),
        ("(|a)+", "aaa", Some("")),
    ] {
        assert_eq!(find(pattern, text), found, "{pattern} in {text}");
    }
}

#[test]
fn mistakes_are_told_in_go_words() {
    for (pattern, message) in [
        ("(", "missing closing ): `(`"),
        (")", "unexpected ): `)`"),
        ("a)b", "unexpected ): `a)b`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("(*)", "missing argument to repetition operator: `*`"),
        ("a|+", "missing argument to repetition operator: `+`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{3,2}", "invalid repeat count: `{3,2}`"),
        ("(a{100}){100}", "invalid repeat count: `{100}`"),
        ("a{99999999999}", "invalid repeat count: `{99999999999}`"),
        ("[a", "missing closing ]: `[a`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        (r"\p{Nope}", r"invalid character class range: `\p{Nope}`"),
        (r"\C", r"invalid escape sequence: `\C`"),
        (r"\1", r"invalid escape sequence: `\1`"),
        (r"\q", r"invalid escape sequence: `\q`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?<n", "invalid named capture: `(?<n`"),
        ("(?P<a-b>x)", "invalid named capture: `(?P<a-b>`"),
        ("(?i-)a", "invalid or unsupported Perl syntax: `(?i-)`"),
    ] {
        let error = Regex::new(pattern).expect_err(pattern).to_string();
        assert_eq!(error, format!("error parsing regexp: {message}"));
    }
}

#[test]
fn groups_have_numbers_and_names() {
    let regex = Regex::new(r"(?P<key>\w+)=(?<value>\w*)(;)?").expect("right");
    let names: Vec<_> = regex.names().iter().map(Option::as_deref).collect();
    assert_eq!(names, [None, Some("key"), Some("value"), None]);
    assert_eq!(
        regex.captures("  a=b"),
        Some(vec![Some((2, 5)), Some((2, 3)), Some((4, 5)), None])
    );
    assert_eq!(regex.captures_all("a=b;c=d", None).len(), 2);
    assert_eq!(regex.captures_all("a=b;c=d", Some(1)).len(), 1);
}

#[test]
fn nesting_and_size_are_bounded() {
    let deep = "(".repeat(100_000);
    assert_eq!(
        Regex::new(&deep).expect_err("too deep").reason,
        "expression nests too deeply"
    );
    assert!(Regex::new(r"(?i)\pL{1000}\pN{1000}\pS{1000}\pC{1000}").is_err());
    let nested = format!("{}a{}", "(".repeat(350), ")".repeat(350));
    assert!(Regex::new(&nested).expect("allowed").is_match("a"));
}

proptest! {
    #[test]
    fn no_pattern_panics(pattern in r"[a(){}\[\]|*+?^$.\\0-9,:<>Ppdwbx\-]{0,16}", text in "[a-d0-9]{0,8}") {
        if let Ok(regex) = Regex::new(&pattern) {
            let _ = regex.is_match(&text);
        }
    }
}
