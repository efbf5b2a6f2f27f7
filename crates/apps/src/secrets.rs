//! Secrets: handles are welcome, credentials are refused without being shown.
//!
//! A handle, `{"$secret": "provider/path#field"}`, names a secret that the host keeps; nothing here
//! ever dereferences one. A [`Scanner`] finds plaintext credentials in any text by the formats of [`rules`]
//! and by how random a token looks. A hit says the rule and the place, never the text.

mod entropy;
mod rules;

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use crate::value::Value;
use rules::{RULES, Rule};

/// A credential found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub rule: &'static str,
    pub range: Range<usize>,
}

/// Finds credentials. Building one is cheap: a rule's pattern is compiled when its keyword is
/// first met.
#[derive(Debug)]
pub struct Scanner {
    keywords: AhoCorasick,
    /// For every keyword, the rule that it belongs to.
    owners: Vec<usize>,
    patterns: Vec<OnceLock<Regex>>,
}

impl Default for Scanner {
    fn default() -> Scanner {
        Scanner::new()
    }
}

impl Scanner {
    pub fn new() -> Scanner {
        let keywords = RULES
            .iter()
            .enumerate()
            .flat_map(|(at, rule)| rule.keywords.iter().map(move |&word| (at, word)));
        let (owners, words): (Vec<usize>, Vec<&str>) = keywords.unzip();
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words)
            .expect("the keywords of the table are few and short");
        Scanner {
            keywords,
            owners,
            patterns: RULES.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// Every credential in a text, in order, without overlaps.
    pub fn scan(&self, text: &str) -> Vec<Hit> {
        let mut wanted = vec![false; RULES.len()];
        for found in self.keywords.find_overlapping_iter(text) {
            let owner = self.owners.get(found.pattern().as_usize());
            if let Some(flag) = owner.and_then(|&rule| wanted.get_mut(rule)) {
                *flag = true;
            }
        }
        let mut hits = Vec::new();
        let rules = RULES.iter().zip(&self.patterns).zip(&wanted);
        for ((rule, pattern), _) in rules.filter(|(_, wanted)| **wanted) {
            let pattern = pattern.get_or_init(|| compile(rule));
            for groups in pattern.captures_iter(text.as_bytes()) {
                let Some(found) = groups.get(1).or_else(|| groups.get(0)) else {
                    continue;
                };
                let token = text.get(found.range()).unwrap_or("");
                if !rule.must_look_random || entropy::looks_like_a_password(token) {
                    hits.push(Hit {
                        rule: rule.name,
                        range: found.range(),
                    });
                }
            }
        }
        let random = entropy::random_tokens(text).map(|range| Hit {
            rule: "high-entropy",
            range,
        });
        hits.extend(random);
        hits.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end)));
        let mut end = 0;
        hits.retain(|hit| {
            let fresh = hit.range.start >= end;
            end = end.max(hit.range.end);
            fresh
        });
        hits
    }

    /// The first credential anywhere in a value: its rule and its path below `path`.
    pub fn scan_value(&self, path: &str, value: &Value) -> Option<(&'static str, String)> {
        if handle(value).is_some() {
            return None;
        }
        let mut found = None;
        value.strings(path, &mut |path, text| {
            if found.is_none()
                && let Some(hit) = self.scan(text).first()
            {
                found = Some((hit.rule, path.to_owned()));
            }
        });
        found
    }

    /// The text with every credential replaced, byte by byte, so that places stay as they are.
    pub fn mask(&self, text: &str) -> (String, Vec<Hit>) {
        let hits = self.scan(text);
        let mut bytes = text.as_bytes().to_vec();
        for hit in &hits {
            cover(bytes.get_mut(hit.range.clone()).unwrap_or_default());
        }
        (String::from_utf8(bytes).unwrap_or_default(), hits)
    }

    /// How many formats are known.
    pub fn rules() -> usize {
        RULES.len()
    }
}

/// Covers bytes with letters, so that what stays is still one plain word in every format.
pub fn cover(bytes: &mut [u8]) {
    for byte in bytes {
        if !byte.is_ascii_whitespace() {
            *byte = b'x';
        }
    }
}

fn compile(rule: &Rule) -> Regex {
    RegexBuilder::new(rule.pattern)
        .unicode(false)
        .build()
        .expect("the patterns of the table are tested")
}

/// The text of a handle, `{"$secret": "provider/path#field"}`.
pub fn handle(value: &Value) -> Option<&str> {
    match value {
        Value::Map(fields) => match &**fields {
            [(name, Value::String(text))] if **name == *"$secret" => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a handle has the form `provider/path#field`; the field may be left out.
pub fn handle_is_well_formed(text: &str) -> bool {
    let (path, field) = match text.split_once('#') {
        Some((path, field)) => (path, Some(field)),
        None => (text, None),
    };
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '@'))
    };
    path.contains('/') && path.split('/').all(plain) && field.is_none_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_every_name_is_one_rule() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
        for rule in RULES {
            compile(rule);
        }
    }

    #[test]
    fn masking_keeps_lengths_lines_and_the_rest() {
        let key = format!("{}{}", "AK", "IAQ2PX7LMZ4RTW6NBC");
        let text = format!("a: {key}\nb: plain\n");
        let (masked, hits) = Scanner::new().mask(&text);
        assert_eq!(hits.len(), 1);
        assert_eq!(masked, format!("a: {}\nb: plain\n", "x".repeat(20)));
    }

    #[test]
    fn handles_are_told_from_other_maps() {
        let map = |name: &str, text: &str| Value::Map([(name.into(), Value::string(text))].into());
        assert_eq!(handle(&map("$secret", "vault/a#b")), Some("vault/a#b"));
        assert_eq!(handle(&map("secret", "vault/a#b")), None);
        assert!(handle_is_well_formed("vault/kv/acme#token"));
        assert!(handle_is_well_formed("vault/kv"));
        for bad in ["vault", "", "vault/#x", "vault/a b", "vault/a#", "/a"] {
            assert!(!handle_is_well_formed(bad), "{bad}");
        }
    }
}
