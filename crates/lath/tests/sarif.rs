//! The SARIF form of findings, held to the SARIF 2.1.0 schema by a validator from the npm registry, which
//! `./test --setup` installs.

#![allow(
    clippy::unwrap_used,
    reason = "a test program: a failure is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn validator() -> PathBuf {
    let home = std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("LATH_CACHE")
        .or_else(|_| std::env::var("XDG_CACHE_HOME").map(|dir| format!("{dir}/lath-test")))
        .unwrap_or_else(|_| format!("{home}/.cache/lath-test"));
    let program =
        Path::new(&cache).join("npm/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    assert!(
        program.exists(),
        "no SARIF validator at {}: run `./test --setup`",
        program.display()
    );
    program
}

/// The validator's complaints about a log.
fn complaints(name: &str, log: &str) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("lath-sarif-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("log.sarif");
    fs::write(&file, log).unwrap();
    let done = Command::new(validator())
        .arg("validate")
        .arg(&file)
        .args(["--output", &folder.join("report.sarif").to_string_lossy()])
        .args(["--log", "ForceOverwrite"])
        .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
        .output()
        .unwrap();
    let _ = fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        said.contains("1 files scanned"),
        "the validator did not run: {said}"
    );
    said.lines()
        .filter(|line| line.contains(": error "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn findings_are_valid_sarif() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/values");
    let done = Command::new(env!("CARGO_BIN_EXE_lath"))
        .args(["values", "check", "webapp", "--platform", "platform"])
        .args(["--user", "user-locked.yaml", "--report", "sarif"])
        .current_dir(examples)
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(1));
    let log = String::from_utf8(done.stderr).unwrap();
    assert!(log.contains("locked-value"), "{log}");
    assert_eq!(complaints("good", &log), Vec::<String>::new());
    let broken = log.replacen("\"text\"", "\"txt\"", 1);
    assert_ne!(
        complaints("broken", &broken),
        Vec::<String>::new(),
        "the validator finds nothing"
    );
}
