//! Findings for people and machines: one file a format, all from the same data.
//!
//! | format | for |
//! |---|---|
//! | [`text`] | a terminal: excerpts of every source, carets, notes |
//! | [`short`] | editors and `grep`: one line a finding |
//! | [`json`] | programs |
//! | [`sarif`] | code-scanning services |

pub mod json;
mod lines;
pub mod sarif;
pub mod short;
pub mod text;

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::source::Sources;

/// Puts findings in the order in which they are shown, by file name, place, severity, code and
/// message, and drops repeats.
pub fn sort(findings: &mut Vec<Diagnostic>, sources: &Sources) {
    let key = |d: &Diagnostic| {
        let place = d.place();
        (
            place.map(|span| sources.get(span.source).name().to_owned()),
            place.map(|span| (span.start, span.end)),
            d.severity,
            d.code,
            d.message.clone(),
        )
    };
    findings.sort_by_cached_key(key);
    findings.dedup();
}

/// `2 findings: 1 locked value, 1 unknown field.`, by code in alphabetical order.
pub fn summary(findings: &[Diagnostic]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.code.0).or_default() += 1;
    }
    let kinds: Vec<String> = counts.iter().map(|(code, &n)| counted(n, code)).collect();
    let plural = if findings.len() == 1 { "" } else { "s" };
    format!("{} finding{plural}: {}.", findings.len(), kinds.join(", "))
}

/// `1 locked value`, `2 locked values`, `2 missing directories`, `2 toml syntax`.
fn counted(n: usize, code: &str) -> String {
    let words = code.replace('-', " ");
    let is_plain = words.ends_with('s') || words.ends_with("syntax");
    if n == 1 || is_plain {
        return format!("{n} {words}");
    }
    match words.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{n} {stem}ies"),
        _ if words.ends_with("sh") => format!("{n} {words}es"),
        _ => format!("{n} {words}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;
    use crate::source::Span;

    fn example() -> (Sources, Diagnostic) {
        let mut sources = Sources::new();
        let user = sources.add("user.yaml", "values:\n  replicas: 5\n");
        let platform = sources.add(
            "overlays/prod.json",
            "{\n \"values\": {\"replicas\": 3}\n}\n",
        );
        let finding = Diagnostic::error(Code("locked-value"), "`replicas` is locked")
            .primary(Span::new(user, 20..21), "5 refused")
            .role("end user (tier 3)")
            .secondary(Span::new(platform, 26..27), "locked here")
            .role("platform operator (tier 2)")
            .note("you", "remove line 2 of user.yaml")
            .fact("field", "replicas");
        (sources, finding)
    }

    #[test]
    fn text_shows_both_sides_with_carets_and_roles() {
        let (sources, finding) = example();
        let want = "\
error[locked-value]: `replicas` is locked
  --> user.yaml:2:13                              end user (tier 3)
   |
 2 |   replicas: 5
   |             ^ 5 refused
   |
  ::: overlays/prod.json:2:25                     platform operator (tier 2)
   |
 2 |  \"values\": {\"replicas\": 3}
   |                         - locked here
   |
   = you: remove line 2 of user.yaml

";
        assert_eq!(
            text::render(&[finding], &sources, text::Options::default()),
            want
        );
    }

    #[test]
    fn short_is_one_line_a_finding() {
        let (sources, finding) = example();
        let placeless = Diagnostic::warning(Code("no-place"), "nowhere");
        let want = "user.yaml:2:13: error[locked-value]: `replicas` is locked\nwarning[no-place]: nowhere\n";
        assert_eq!(short::render(&[finding, placeless], &sources), want);
    }

    #[test]
    fn json_and_sarif_carry_places_roles_and_facts() {
        let (sources, finding) = example();
        let json: serde_json::Value =
            serde_json::from_str(&json::render(std::slice::from_ref(&finding), &sources)).unwrap();
        assert_eq!(json["findings"][0]["line"], 2);
        assert_eq!(
            json["findings"][0]["labels"][1]["file"],
            "overlays/prod.json"
        );
        assert_eq!(json["findings"][0]["facts"]["field"], "replicas");
        assert_eq!(json["errors"], 1);
        let sarif: serde_json::Value =
            serde_json::from_str(&sarif::render(&[finding], &sources, "1")).unwrap();
        let result = &sarif["runs"][0]["results"][0];
        assert_eq!(
            result["locations"][0]["physicalLocation"]["region"]["startColumn"],
            13
        );
        assert_eq!(
            result["relatedLocations"][0]["message"]["text"],
            "platform operator (tier 2): locked here"
        );
    }

    #[test]
    fn findings_are_sorted_by_place_and_repeats_dropped() {
        let (sources, finding) = example();
        let placeless = Diagnostic::warning(Code("no-place"), "nowhere");
        let mut all = vec![finding.clone(), placeless.clone(), finding.clone()];
        sort(&mut all, &sources);
        assert_eq!(all, [placeless, finding.clone()]);
        assert_eq!(
            summary(&[finding.clone(), finding]),
            "2 findings: 2 locked values."
        );
    }
}
