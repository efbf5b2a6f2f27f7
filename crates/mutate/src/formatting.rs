//! The laws of the formatter: a valid text stays valid and says the same, no comment is lost or doubled, and formatting twice is
//! formatting once.

use std::sync::Arc;

use base::{SourceId, Symbols};
use cue::syntax::ast::{DeclId, File};
use cue::syntax::build::Builder;
use cue::syntax::{Options, format_file, format_text, parse_file};

/// What a formatted text is measured by.
struct Formatted {
    text: String,
    /// What the source says, in one layout for all that say the same.
    bare: String,
    /// The words of its comments, sorted: two comments may have become one.
    comments: Vec<String>,
}

/// Whether the text is valid, or what is wrong with its formatting.
pub fn check(text: &str) -> Result<bool, String> {
    let Some(once) = formatted(text) else {
        return Ok(false);
    };
    let Some(twice) = formatted(&once.text) else {
        return Err(format!("no longer valid:\n{}", once.text));
    };
    if once.comments != twice.comments {
        let (before, after) = (&once.comments, &twice.comments);
        return Err(format!(
            "comments {before:?} became {after:?} in\n{}",
            once.text
        ));
    }
    if once.bare != twice.bare {
        return Err(format!(
            "it says something else:\n{}\n--- was\n{}\n--- is\n{}",
            once.text, once.bare, twice.bare
        ));
    }
    if once.text != twice.text {
        return Err(format!(
            "not stable:\n{}\n--- then\n{}",
            once.text, twice.text
        ));
    }
    Ok(true)
}

fn formatted(text: &str) -> Option<Formatted> {
    let mut symbols = Symbols::new();
    let parsed = parse_file(SourceId(0), &Arc::from(text), &mut symbols);
    // Broken trees are printed too.
    let text = format_text(&parsed.file, &mut symbols, Options::default());
    if !parsed.errors.is_empty() {
        return None;
    }
    Some(Formatted {
        text,
        bare: bare(&parsed.file, &symbols),
        comments: comments(&parsed.file),
    })
}

/// A copy has neither places nor comments. Deep inside, the lines of a string are printed with the indentation they had, so that none is kept here.
fn bare(file: &File, symbols: &Symbols) -> String {
    let mut builder = Builder::new();
    let decls: Vec<DeclId> = file
        .list(file.decls)
        .map(|decl| builder.copy_decl(file, decl))
        .collect();
    let text = format_file(&builder.finish(&decls), symbols, Options::default());
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    lines.join("\n")
}

fn comments(file: &File) -> Vec<String> {
    let texts = file.comments.groups().flat_map(|group| &group.comments);
    let words = texts.flat_map(|&text| file.str(text).split([' ', '\t', '\r', '/']));
    let mut words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.sort_unstable();
    words
}
