//! Laws of the two flavours, on small texts and on random ones.

use super::*;
use base::Sources;
use proptest::prelude::*;

fn read(text: &str, flavour: Flavour) -> (Vec<(String, String, String)>, Vec<String>) {
    let mut sources = Sources::new();
    let id = sources.add("x", text);
    let (file, findings) = parse(id, text.into(), flavour);
    let lines = file
        .assignments()
        .map(|a| (a.section.into(), a.key.into(), a.value.into()))
        .collect();
    let findings = findings
        .iter()
        .map(|d| {
            let at = sources.place(d.place().unwrap());
            format!("{}:{at} {}", d.severity.word(), d.code)
        })
        .collect();
    (lines, findings)
}

fn values(text: &str, flavour: Flavour) -> Vec<String> {
    read(text, flavour).0.into_iter().map(|l| l.2).collect()
}

#[test]
fn the_flavours_join_lines_differently() {
    let text = "[S]\nA=a\\\n  b\nB=c \\\n# no\n\nd\n";
    assert_eq!(values(text, Flavour::Quadlet), ["ab", "c d"]);
    let (lines, findings) = read(text, Flavour::Systemd);
    assert_eq!(lines[0].2, "a   b");
    assert_eq!(lines[1].2, "c");
    assert_eq!(findings, ["warning:7:1 ignored-line"]);
    // Only Quadlet sees a continuation behind trailing space or a doubled backslash.
    assert_eq!(values("[S]\nA=a\\ \nB=b\n", Flavour::Quadlet), ["aB=b"]);
    assert_eq!(values("[S]\nA=a\\ \nB=b\n", Flavour::Systemd), ["a\\", "b"]);
    assert_eq!(values("[S]\nA=a\\\\\nB=b\n", Flavour::Quadlet), ["a\\B=b"]);
    assert_eq!(
        values("[S]\nA=a\\\\\nB=b\n", Flavour::Systemd),
        ["a\\\\", "b"]
    );
}

#[test]
fn bad_lines_are_findings_with_places() {
    let text = "X=1\n[S]\n nonsense\n=v\n[a[b]\nK=v\n";
    let (lines, findings) = read(text, Flavour::Quadlet);
    assert_eq!(lines.len(), 1);
    assert_eq!(
        findings,
        [
            "error:1:1 unparsable-unit",
            "error:3:2 unparsable-unit",
            "error:4:1 unparsable-unit",
            "error:5:2 unparsable-unit",
        ]
    );
    let (_, findings) = read("X=1\n[S]\n nonsense\n=v\n[a] b\nK=v\n", Flavour::Systemd);
    assert_eq!(
        findings,
        [
            "warning:1:1 ignored-line",
            "warning:3:2 ignored-line",
            "warning:4:1 ignored-line",
            "error:5:1 unparsable-unit",
        ]
    );
}

#[test]
fn a_backslash_at_the_end_is_said() {
    let (lines, findings) = read("[S]\nA=b\\", Flavour::Quadlet);
    assert_eq!(lines[0].2, "b");
    assert_eq!(findings, ["warning:2:4 dangling-backslash"]);
    assert_eq!(
        read("[S]\nA=b\\\\\n", Flavour::Quadlet).1,
        ["error:2:5 dangling-backslash"]
    );
    let (lines, findings) = read("[S]\nA=b\\\n# c\n", Flavour::Quadlet);
    assert!(lines.is_empty());
    assert_eq!(findings, ["error:2:1 dangling-backslash"]);
    assert_eq!(values("[S]\nA=b\\\n# c\n", Flavour::Systemd), ["b"]);
}

#[test]
fn spaces_around_keys_and_values_go() {
    for flavour in [Flavour::Quadlet, Flavour::Systemd] {
        let (lines, findings) = read("\u{20}[S]\n\tK = v w \r\nE=\n", flavour);
        let want = [("S", "K", "v w"), ("S", "E", "")];
        assert_eq!(lines, want.map(|(a, b, c)| (a.into(), b.into(), c.into())));
        assert!(findings.is_empty());
    }
}

proptest! {
    #[test]
    fn every_byte_is_kept(text in "([\\[\\]A-C=\\\\#; \t\r\n\u{feff}é]|\\\\\n|\n\\[A\\]\n|K=v\n){0,40}") {
        for flavour in [Flavour::Quadlet, Flavour::Systemd] {
            let mut sources = Sources::new();
            let id = sources.add("x", text.as_str());
            let (file, findings) = parse(id, text.as_str().into(), flavour);
            let back: String = file.items.iter().map(|item| file.slice(item.span)).collect();
            prop_assert_eq!(&back, &text);
            for finding in &findings {
                let span = finding.place().unwrap();
                prop_assert!(text.get(span.range()).is_some());
            }
            for assigned in file.assignments() {
                prop_assert!(text.get(assigned.assignment.value.range()).is_some());
                prop_assert!(!assigned.key.is_empty());
                prop_assert_eq!(assigned.key.trim(), assigned.key);
            }
        }
    }
}
