//! Every command in the examples' README runs as it says: exit status 0, or 1 where its comment says `refused`.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

#[test]
fn the_commands_of_the_values_example_work() {
    run("values", 7);
}

#[test]
fn the_commands_of_the_helm_example_work() {
    run("helm", 5);
}

fn run(example: &str, least: usize) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folder = examples.join(example);
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut count = 0;
    for line in readme.lines().filter(|line| line.starts_with("lath ")) {
        let (command, comment) = line.split_once('#').unwrap_or((line, ""));
        let output = Command::new(env!("CARGO_BIN_EXE_lath"))
            .args(command.split_whitespace().skip(1))
            .current_dir(&folder)
            .output()
            .unwrap();
        let want = i32::from(comment.contains("refused"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(want), "{line}\n{said}");
        assert_eq!(output.stdout.is_empty(), want == 1, "{line}");
        count += 1;
    }
    assert!(count >= least, "only {count} commands were found");
}
