//! Tests that keep the house in order: the walls between crates, the code map, the diagnostic codes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test program: a failure is a failed test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates without IO, and which of our crates each may know.
const PURE: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("data", &["base"]),
    ("cue", &["base", "data"]),
    ("layers", &["base", "data"]),
    ("values", &["base", "data", "layers", "cue"]),
    ("apps", &["base", "data", "layers", "cue"]),
    ("units", &["base"]),
    ("hosts", &["base", "data", "units"]),
];

/// Outside crates that bring the world in.
const WORLDLY: &[&str] = &[
    "tokio", "rustix", "libc", "nix", "reqwest", "hyper", "axum", "zbus", "rand", "tempfile",
];

/// What a pure crate does not say. Tests may.
const FORBIDDEN: &[&str] = &[
    "std::fs",
    "std::env",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "std::process",
    "std::thread",
    "std::time",
    "File::open",
    "SystemTime",
    "Instant::now",
    "thread_local!",
    "static mut",
    "async fn",
    "println!",
    "eprintln!",
    "stdout()",
    "stderr()",
    "OnceLock<",
    "LazyLock<",
];

/// Uses that are no global state: a cache inside a value, a constant that is compiled when first used.
const PERMITTED: &[(&str, &str)] = &[
    ("base/src/source.rs", "OnceLock<"),
    ("apps/src/secrets.rs", "OnceLock<"),
    ("cue/src/packages/quote.rs", "LazyLock<"),
    // The evaluator recurses natively and wants a deep stack.
    ("apps/src/evaluate.rs", "std::thread"),
];

/// Codes that no session can show, and what holds them instead.
const UNSHOWN: &[(&str, &str)] = &[
    (
        "too-large",
        "a source past 2 GiB, too large to make in a test",
    ),
    (
        "version-conflict",
        "a write with a stale revision: unit tests of `apps::decide`",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Files below a folder whose name ends in `ending`, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn crates() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Names in the table `[dependencies]` of a crate.
fn dependencies(name: &str) -> Vec<String> {
    let manifest = read(root().join("crates").join(name).join("Cargo.toml"));
    let table = manifest.split("\n[dependencies]\n").nth(1).unwrap_or("");
    let table = table.split("\n[").next().unwrap_or("");
    let names = table
        .lines()
        .filter_map(|line| line.split(['.', '=', ' ']).next());
    names
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// The code of a file without its tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

#[test]
fn pure_crates_know_only_what_they_may() {
    let ours = crates();
    for (name, allowed) in PURE {
        for dependency in dependencies(name) {
            assert!(
                !WORLDLY.contains(&dependency.as_str()),
                "{name} depends on {dependency}"
            );
            let strange = ours.contains(&dependency) && !allowed.contains(&dependency.as_str());
            assert!(!strange, "{name} may not know {dependency}");
        }
    }
}

#[test]
fn pure_crates_do_not_touch_the_world() {
    for (name, _) in PURE {
        let source = root().join("crates").join(name).join("src");
        let all = files(&source, ".rs");
        assert!(!all.is_empty(), "{name} has no source");
        for file in all {
            if file.ends_with("tests.rs") {
                continue;
            }
            let text = read(&file);
            for word in FORBIDDEN {
                let permitted = PERMITTED
                    .iter()
                    .any(|(f, w)| file.ends_with(f) && w == word);
                let mut code = without_tests(&text)
                    .lines()
                    .filter(|line| !line.trim_start().starts_with("//"));
                let found = code.any(|line| line.contains(word));
                assert!(!found || permitted, "{} says `{word}`", file.display());
            }
        }
    }
}

#[test]
fn the_code_map_names_every_crate() {
    let architecture = read(root().join("ARCHITECTURE.md"));
    assert!(
        architecture.lines().count() <= 200,
        "ARCHITECTURE.md has more than 200 lines"
    );
    let rows = architecture
        .lines()
        .filter_map(|line| line.strip_prefix("| `crates/"));
    let named: BTreeSet<String> = rows
        .filter_map(|row| row.split_once("/`"))
        .map(|(n, _)| n.to_owned())
        .collect();
    assert_eq!(named, crates());
}

/// Every code in the sources, with the file that has it.
fn codes() -> BTreeMap<String, PathBuf> {
    let mut codes = BTreeMap::new();
    for name in crates() {
        for file in files(&root().join("crates").join(name).join("src"), ".rs") {
            let text = read(&file);
            for part in without_tests(&text).split("Code(\"").skip(1) {
                let code = part.split('"').next().unwrap_or("");
                codes.insert(code.to_owned(), file.clone());
            }
        }
    }
    codes
}

#[test]
fn every_diagnostic_code_has_a_case_and_a_line_in_the_docs() {
    let cases: String = files(&root().join("crates"), ".txtar")
        .iter()
        .map(read)
        .collect();
    let docs: String = files(&root().join("docs"), ".md")
        .iter()
        .map(read)
        .collect();
    let mut missing = Vec::new();
    for (code, file) in codes() {
        let kebab = code
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        assert!(kebab, "`{code}` in {} is not kebab-case", file.display());
        // `lath cue` prints the reference's plain form, which has no codes; its messages are held by the
        // conformance cases.
        let unshown = code.starts_with("cue-") || UNSHOWN.iter().any(|(c, _)| *c == code);
        if !unshown
            && !cases.contains(&format!("[{code}]"))
            && !cases.contains(&format!("\"{code}\""))
        {
            missing.push(format!("{code} ({}): no case shows it", file.display()));
        }
        if !docs.contains(&format!("`{code}`")) {
            missing.push(format!("{code} ({}): no line in docs/", file.display()));
        }
    }
    assert!(
        missing.is_empty(),
        "{} missing:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

#[test]
fn every_requirement_of_the_values_document_has_its_case() {
    let docs = read(root().join("docs/values.md"));
    let table = docs
        .split("## The document, requirement by requirement")
        .nth(1);
    let mut rows = Vec::new();
    for line in table.unwrap_or_default().lines() {
        let cells: Vec<&str> = line.split(" | ").collect();
        if let [name, cases] = cells.as_slice()
            && cases.contains('`')
        {
            let cases: Vec<&str> = cases.split('`').skip(1).step_by(2).collect();
            rows.push((name.trim_start_matches("| ").to_owned(), cases));
        }
    }
    let cases = root().join("crates/values/cases");
    for (name, named) in &rows {
        for case in named {
            let file = cases.join(format!("{case}.txtar"));
            assert!(file.exists(), "{name}: there is no case `{case}`");
        }
    }
    let numbered = (1..=11).map(|n| format!("FR-VO-{n:03}"));
    let wanted = numbered.chain((1..=4).map(|n| format!("SC-VO-{n:03}")));
    let others = [
        "Example 1",
        "Example 2",
        "Example 3",
        "Example 4",
        "Acceptance 1",
        "Acceptance 4",
        "Acceptance 7",
        "Acceptance 10",
        "Output: locked",
        "Output: provenance",
    ];
    for wanted in wanted.chain(others.map(str::to_owned)) {
        let has = rows.iter().any(|(name, _)| name.starts_with(&wanted));
        assert!(has, "no row for {wanted}");
    }
    let count = |word: &str| {
        rows.iter()
            .filter(|(name, _)| name.starts_with(word))
            .count()
    };
    let sizes = [("Edge:", 6), ("Conflict:", 4), ("Command", 5)];
    assert_eq!(sizes.map(|(word, _)| (word, count(word))), sizes);
}
