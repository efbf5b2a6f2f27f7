//! The laws of the formatter on texts that people wrote: the syntax cases beside the repository and the CUE files of our own cases.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{SourceId, Symbols};
use mutate::corpus::collect;
use mutate::formatting::check;

/// Says what is wrong with the formatting of texts, of which so many must be valid.
fn hold(texts: impl Iterator<Item = (String, String)>, enough: usize) {
    let mut wrong = Vec::new();
    let mut valid = 0;
    for (name, text) in texts {
        match check(&text) {
            Ok(is_valid) => valid += usize::from(is_valid),
            Err(fault) => wrong.push(format!("{name}: {fault}")),
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(valid > enough, "only {valid} texts were valid");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn syntax_cases_keep_what_they_say() {
    let shared = std::env::var_os("LATH_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| root().join("../shared"));
    let Ok(lines) = fs::read_to_string(shared.join("conformance/cue/syntax.jsonl")) else {
        println!("skipped: ../shared is not here");
        return;
    };
    let cases = lines.lines().filter_map(case);
    let texts = cases.flat_map(|(name, texts)| texts.into_iter().map(move |t| (name.clone(), t)));
    hold(texts, 700);
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
fn our_own_cases_keep_what_they_say() {
    let mut texts = Vec::new();
    collect(&root().join("crates"), &mut texts);
    hold(texts.into_iter().map(|text| (text.clone(), text)), 60);
}
