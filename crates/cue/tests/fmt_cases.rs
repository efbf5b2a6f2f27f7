//! The formatter on real texts: formatting twice is formatting once, and no comment is lost.
//!
//! The texts are the syntax cases beside the repository and the CUE files of our own cases.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{SourceId, Symbols};
use cue::syntax::ast::File;
use cue::syntax::{Options, format_file, parse_file};

fn comments(file: &File) -> Vec<String> {
    let mut all: Vec<String> = file
        .comments
        .groups()
        .flat_map(|group| group.comments.iter())
        .map(|&text| file.str(text).trim().to_owned())
        .collect();
    all.sort();
    all
}

/// Formats a text if it is valid.
fn format(text: &str) -> Option<(String, Vec<String>)> {
    let mut symbols = Symbols::new();
    let parsed = parse_file(SourceId(0), &Arc::from(text), &mut symbols);
    if !parsed.errors.is_empty() {
        return None;
    }
    let formatted = format_file(&parsed.file, &symbols, Options::default());
    Some((formatted, comments(&parsed.file)))
}

/// Says what is wrong with the formatting of a text.
fn check(name: &str, text: &str, wrong: &mut Vec<String>) -> bool {
    let Some((once, before)) = format(text) else {
        return false;
    };
    match format(&once) {
        None => wrong.push(format!("{name}: no longer valid:\n{once}")),
        Some((twice, after)) => {
            if twice != once {
                wrong.push(format!("{name}: not stable:\n{once}\n--- then\n{twice}"));
            }
            if before != after {
                wrong.push(format!("{name}: comments {before:?} became {after:?}"));
            }
        }
    }
    true
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn syntax_cases_keep_their_comments() {
    let shared = std::env::var_os("LATH_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| root().join("../shared"));
    let Ok(lines) = fs::read_to_string(shared.join("conformance/cue/syntax.jsonl")) else {
        println!("skipped: ../shared is not here");
        return;
    };
    let mut wrong = Vec::new();
    let mut checked = 0;
    for line in lines.lines() {
        let Some((name, texts)) = case(line) else {
            continue;
        };
        for text in texts {
            checked += usize::from(check(&name, &text, &mut wrong));
        }
    }
    assert!(checked > 700, "only {checked} texts were valid");
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The name and the CUE texts of a case.
fn case(line: &str) -> Option<(String, Vec<String>)> {
    let mut symbols = Symbols::new();
    let options = data::Options::default();
    let text: Arc<str> = Arc::from(line);
    let parsed = data::parse(
        data::Format::Json,
        SourceId(0),
        text,
        &mut symbols,
        &options,
    );
    let tree = parsed.documents.into_iter().next()?;
    let data::Value::Map(fields) = tree.value(tree.root()) else {
        return None;
    };
    let mut name = String::new();
    let mut texts = Vec::new();
    for field in fields {
        match (symbols.name(field.name), tree.value(field.value)) {
            ("id", data::Value::String(id)) => name = id.to_owned(),
            ("stdin", data::Value::String(text)) => texts.push(text.to_owned()),
            ("files", data::Value::Map(files)) => {
                for file in files {
                    if let data::Value::String(text) = tree.value(file.value)
                        && symbols.name(file.name).ends_with(".cue")
                    {
                        texts.push(text.to_owned());
                    }
                }
            }
            _ => {}
        }
    }
    Some((name, texts))
}

#[test]
fn our_own_cases_keep_their_comments() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be read") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "txtar") {
                let text = fs::read_to_string(&path).expect("a case can be read");
                let name = path.display().to_string();
                for part in cue_files(&text) {
                    checked += usize::from(check(&name, &part, &mut wrong));
                }
            }
        }
    }
    assert!(checked > 60, "only {checked} files were valid");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The CUE files of a case.
fn cue_files(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut current: Option<String> = None;
    for line in text.split_inclusive('\n') {
        if let Some(name) = line
            .strip_prefix("-- ")
            .and_then(|l| l.trim_end().strip_suffix(" --"))
        {
            files.extend(current.take());
            current = name.ends_with(".cue").then(String::new);
        } else if let Some(current) = &mut current {
            current.push_str(line);
        }
    }
    files.extend(current);
    files
}
