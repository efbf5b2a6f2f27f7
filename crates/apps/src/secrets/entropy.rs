//! How random a token looks. Digests in hex, identifiers in camel case, paths and prose must not.
//!
//! Shannon entropy alone cannot tell `ContentFactoryWorkspaceV2` from a key of its length; how
//! often the class of character changes can: words change it at their ends, random text everywhere.

use std::ops::Range;

/// Runs of letters and digits at least this long are looked at; shorter ones are too often names.
const SHORTEST: usize = 24;
/// Base64 with `+` and `/` in it must be longer: paths are made of the same characters.
const SHORTEST_BASE64: usize = 40;

/// The random-looking tokens of a text.
pub fn random_tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let plain = runs(text, |b| b.is_ascii_alphanumeric())
        .filter(|(token, _)| token.len() >= SHORTEST && is_random(token));
    let base64 = runs(text, |b| {
        b.is_ascii_alphanumeric() || b == b'+' || b == b'/'
    })
    .filter(|(token, _)| {
        token.len() >= SHORTEST_BASE64 && token.contains(['+', '/']) && is_random(token)
    });
    plain.chain(base64).map(|(_, range)| range)
}

fn runs(text: &str, part: fn(u8) -> bool) -> impl Iterator<Item = (&str, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + bytes.get(at..)?.iter().position(|&b| part(b))?;
        let rest = bytes.get(from..)?;
        let len = rest.iter().position(|&b| !part(b)).unwrap_or(rest.len());
        at = from + len;
        Some((text.get(from..at)?, from..at))
    })
}

/// Letters of both cases and digits, well spread and well mixed.
fn is_random(token: &str) -> bool {
    let classes: Vec<u8> = token.bytes().map(class).collect();
    let count = |wanted| classes.iter().filter(|&&c| c == wanted).count();
    let changes = classes
        .windows(2)
        .filter(|pair| pair.first() != pair.last());
    count(0) >= 3
        && count(1) >= 3
        && count(2) >= 2
        && changes.count() * 5 >= token.len() * 2
        && bits_per_byte(token) >= 3.5
}

/// What stands behind `password:` is one unless it is a plain word, a reference or a placeholder.
pub fn looks_like_a_password(token: &str) -> bool {
    let mut classes = [false; 4];
    for class in token.bytes().map(class) {
        if let Some(seen) = classes.get_mut(usize::from(class)) {
            *seen = true;
        }
    }
    let kinds = classes.iter().filter(|&&seen| seen).count();
    let reference = token.starts_with(['$', '<', '*', '%']) || token.contains("://");
    !reference && kinds >= 3 && bits_per_byte(token) >= 2.5
}

fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

fn bits_per_byte(token: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in token.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(token.len()).unwrap_or(u32::MAX));
    let seen = counts.iter().filter(|&&n| n > 0);
    seen.map(|&n| f64::from(n) / total)
        .map(|p| -p * p.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_digests_and_prose_are_not_random() {
        for text in [
            "ContentFactoryWorkspaceV2SettingsPage2026",
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "docs/brand/2026/Acme-Tone-Of-Voice-v3/final/Approved.pdf",
            "publishing_workspace_token",
        ] {
            assert_eq!(random_tokens(text).count(), 0, "{text}");
        }
        let random = ["q7ZpX2mK", "9vTb4RsW", "1nYc8LdG", "5hJf"].concat();
        assert_eq!(random_tokens(&random).count(), 1);
    }

    #[test]
    fn a_word_is_no_password() {
        assert!(!looks_like_a_password("publishing_workspace_token"));
        assert!(!looks_like_a_password("${TOKEN_V2}"));
        assert!(looks_like_a_password("Sommer2026!"));
    }
}
