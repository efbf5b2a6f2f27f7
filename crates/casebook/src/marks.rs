//! Findings pinned to lines: `#~ error[code]` in an input file.

use std::collections::BTreeSet;

/// A finding by file, line and kind (`error[code]`).
pub type Pin = (String, u32, String);

/// The marks of the input files.
pub fn wanted(files: &[(String, String)]) -> BTreeSet<Pin> {
    let mut pins = BTreeSet::new();
    // Excerpts in a transcript repeat the marks.
    let inputs = files
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "session" | "right"));
    for (name, body) in inputs {
        for (number, line) in (1..).zip(body.lines()) {
            let marks = ["#~ ", "//~ ", ";~ "];
            let found = marks.iter().find_map(|mark| line.split_once(mark));
            for kind in found.into_iter().flat_map(|(_, kinds)| kinds.split(", ")) {
                pins.insert((name.clone(), number, kind.trim().to_owned()));
            }
        }
    }
    pins
}

/// The findings that a transcript shows, in the text form (a head line, then `--> file:line:col`)
/// or the short form (`file:line:col: error[code]: …`).
pub fn shown(transcript: &str) -> BTreeSet<Pin> {
    let mut pins = BTreeSet::new();
    let mut head: Option<String> = None;
    for line in transcript.lines() {
        let line = line.strip_prefix("2| ").unwrap_or(line);
        if let Some(kind) = kind_of(line) {
            head = Some(kind);
        } else if let Some(place) = line.trim_start().strip_prefix("--> ") {
            if let (Some(kind), Some((file, number))) = (head.take(), place_of(place)) {
                pins.insert((file, number, kind));
            }
        } else if let Some((place, rest)) = line.split_once(": ")
            && let (Some(kind), Some((file, number))) = (kind_of(rest), place_of(place))
        {
            pins.insert((file, number, kind));
        }
    }
    pins
}

/// `error[code]` at the start of `error[code]: message`.
fn kind_of(line: &str) -> Option<String> {
    let (kind, _) = line.split_once("]: ")?;
    let (severity, _) = kind.split_once('[')?;
    matches!(severity, "error" | "warning" | "note").then(|| format!("{kind}]"))
}

/// File and line of `file:line:col` at the start of a text.
fn place_of(text: &str) -> Option<(String, u32)> {
    let place = text.split("  ").next()?.trim();
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some((file.trim_start_matches("./").to_owned(), line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_findings_meet() {
        let files = [(
            "u.yaml".to_owned(),
            "a: 1\nb: 2 #~ error[locked-value]\n".to_owned(),
        )];
        let text = "2| error[locked-value]: no\n2|   --> u.yaml:2:4        end user\n";
        let short = "2| u.yaml:2:4: error[locked-value]: no\n";
        assert_eq!(wanted(&files), shown(text));
        assert_eq!(wanted(&files), shown(short));
    }
}
