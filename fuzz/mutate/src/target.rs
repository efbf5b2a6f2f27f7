//! What a text is given to. The same laws as the targets for a fuzzing engine beside this.

use std::sync::Arc;

use base::{SourceId, Symbols};
use cue::syntax::{Options, format_file, literal, parse_expr, parse_file};

pub fn by_name(name: &str) -> Option<fn(&str)> {
    Some(match name {
        "parse" => parse,
        "format" => format,
        "literal" => literals,
        _ => return None,
    })
}

/// Any text is read without a panic, and places lie in the text.
fn parse(text: &str) {
    let text: Arc<str> = Arc::from(text);
    let mut symbols = Symbols::new();
    let parsed = parse_file(SourceId(0), &text, &mut symbols);
    for error in &parsed.errors {
        for label in &error.labels {
            assert!(label.span.end as usize <= text.len(), "{error:?}");
        }
    }
    parse_expr(SourceId(0), &text, &mut symbols);
}

/// Any tree is printed without a panic, and what is valid without comments stays valid and settles. Comments in odd places
/// may move, once more when the text is printed again, and behind the operators of a chain even make it another text.
fn format(text: &str) {
    let Some((once, comments)) = formatted(text) else {
        return;
    };
    let again = formatted(&once);
    if !comments.is_empty() {
        return;
    }
    match again {
        None => panic!("no longer valid:\n{once}"),
        Some((twice, _)) => assert_eq!(once, twice, "not stable"),
    }
}

fn formatted(text: &str) -> Option<(String, Vec<String>)> {
    let mut symbols = Symbols::new();
    let parsed = parse_file(SourceId(0), &Arc::from(text), &mut symbols);
    // Broken trees are printed too.
    let formatted = format_file(&parsed.file, &symbols, Options::default());
    if !parsed.errors.is_empty() {
        return None;
    }
    let file = &parsed.file;
    let mut comments: Vec<String> = file
        .comments
        .groups()
        .flat_map(|group| group.comments.iter())
        .map(|&text| file.str(text).trim().to_owned())
        .collect();
    comments.sort();
    Some((formatted, comments))
}

/// Decoding never panics, and quoting is undone by decoding.
fn literals(text: &str) {
    let _ = literal::unquote(text);
    let _ = literal::parse_number(text);
    let quoted = literal::quote_string(text);
    assert_eq!(literal::unquote_string(&quoted).as_deref(), Ok(text));
    let lines = literal::quote_lines(text, 1);
    assert_eq!(literal::unquote_string(&lines).as_deref(), Ok(text));
}
