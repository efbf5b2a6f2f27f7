//! The values document's printed outputs, byte for byte, from the files that the document itself prints.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test program: a failure is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The document, where the data beside the repository is there.
fn document() -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("LATH_SHARED").map_or(beside, PathBuf::from);
    let text = fs::read_to_string(shared.join("spec/001_306f2a22acba07cf.txt"));
    if text.is_err() {
        println!("skipped: ../shared is not here");
    }
    text.ok()
}

/// What stands between fences, block by block.
fn blocks(document: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in document.lines() {
        match (&mut open, line.starts_with("```")) {
            (None, true) => open = Some(String::new()),
            (Some(_), true) => found.extend(open.take()),
            (Some(block), false) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, false) => {}
        }
    }
    found
}

/// The block that begins with a text.
fn block<'a>(blocks: &'a [String], start: &str) -> &'a str {
    blocks
        .iter()
        .find(|block| block.starts_with(start))
        .unwrap()
}

fn lath(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lath"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// A folder with the document's three files, under the names that their first lines have.
fn folder(name: &str, blocks: &[String]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lath-document-{}-{name}", std::process::id()));
    for file in [
        "module-repo/values.cue",
        "platform-repo/overlays/webapp-prod.cue",
        "release-values.cue",
    ] {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, block(blocks, &format!("// {file}\n"))).unwrap();
    }
    fs::write(
        folder.join("module-repo/module.cue"),
        "metadata: name: \"webapp\"\n",
    )
    .unwrap();
    fs::write(
        folder.join("user-values.yaml"),
        "values:\n  image: nginx:1.26.0\n",
    )
    .unwrap();
    folder
}

const STACK: [&str; 3] = [
    "module-repo",
    "--overlay",
    "platform-repo/overlays/webapp-prod.cue",
];

#[test]
fn the_locked_value_error() {
    let Some(document) = document() else { return };
    let blocks = blocks(&document);
    let folder = folder("locked", &blocks);
    let [module, flag, overlay] = STACK;
    let user = ["--overlay", "release-values.cue", "--report", "document"];
    let head = ["values", "merge", module, flag, overlay];
    let done = lath(&folder, &[&head[..], &user[..]].concat());
    let _ = fs::remove_dir_all(&folder);
    assert_eq!(done.status.code(), Some(1));
    assert!(done.stdout.is_empty());
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(said, block(&blocks, "Error: Cannot override locked value"));
}

#[test]
fn the_provenance_listing() {
    let Some(document) = document() else { return };
    let blocks = blocks(&document);
    let folder = folder("provenance", &blocks);
    let [module, flag, overlay] = STACK;
    let user = ["--overlay", "user-values.yaml", "--out", "long"];
    let head = ["values", "inspect", module, flag, overlay];
    let done = lath(&folder, &[&head[..], &user[..]].concat());
    let _ = fs::remove_dir_all(&folder);
    assert_eq!(done.status.code(), Some(0));
    let said = String::from_utf8(done.stdout).unwrap();
    // The document shows three of the values, in an order of its own.
    let wanted = block(&blocks, "Values Provenance for webapp:");
    let parts: Vec<&str> = wanted.trim_end().split("\n\n").collect();
    assert_eq!(parts.len(), 4);
    for part in parts {
        assert!(
            said.contains(&format!("{part}\n")),
            "{part}\n\nnot in\n\n{said}"
        );
    }
}
