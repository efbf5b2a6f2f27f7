//! What a person would see: commands, and below each its output.

use std::fmt::Write;

/// One command of a session with what it printed, as the transcript shows it.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    pub command: String,
    pub shown: String,
}

/// Reads a session. Lines before the first command are an error of the case.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => {
                steps.push(Step {
                    command: command.to_owned(),
                    shown: String::new(),
                });
            }
            (None, Some(step)) => {
                step.shown.push_str(line);
                step.shown.push('\n');
            }
            (None, None) => return Err("the session must begin with a line `$ command`".into()),
        }
    }
    if steps.is_empty() {
        return Err("the session has no command".into());
    }
    Ok(steps)
}

pub fn print(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        let _ = write!(out, "$ {}\n{}", step.command, step.shown);
    }
    out
}

/// One command's output as the transcript shows it.
pub fn show(stdout: &str, stderr: &str, exit: i32) -> String {
    let mut out = String::new();
    for line in stdout.lines() {
        let _ = writeln!(out, "{line}");
    }
    if !stdout.is_empty() && !stdout.ends_with('\n') {
        out.push_str("[no final newline]\n");
    }
    for line in stderr.lines() {
        let _ = writeln!(out, "{}", format!("2| {line}").trim_end());
    }
    if exit != 0 {
        let _ = writeln!(out, "[exit {exit}]");
    }
    out
}

/// Whether what was shown is what is wanted, where a wanted line `...` (or `2| ...`) stands for any
/// number of lines.
pub fn matches(wanted: &str, got: &str) -> bool {
    let wanted: Vec<&str> = wanted.lines().collect();
    let got: Vec<&str> = got.lines().collect();
    lines_match(&wanted, &got)
}

fn lines_match(wanted: &[&str], got: &[&str]) -> bool {
    match (wanted.split_first(), got.split_first()) {
        (None, None) => true,
        (Some((&("..." | "2| ..."), rest)), _) => {
            (0..=got.len()).any(|skip| lines_match(rest, got.get(skip..).unwrap_or(&[])))
        }
        (Some((w, wanted)), Some((g, got))) => w == g && lines_match(wanted, got),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_stand_for_any_number_of_lines() {
        assert!(matches("a\n...\nd\n", "a\nb\nc\nd\n"));
        assert!(matches("...\nd\n", "d\n"));
        assert!(!matches("a\n...\n", "b\n"));
        assert!(!matches("a\n", "a\nb\n"));
    }

    #[test]
    fn a_session_is_read_and_printed_back() {
        let text = "$ lath x\nout\n2| err\n[exit 1]\n$ lath y\n";
        let steps = parse(text).unwrap();
        assert_eq!(steps.len(), 2);
        assert_eq!(print(&steps), text);
        assert!(parse("out\n").is_err());
    }

    #[test]
    fn a_transcript_shows_both_streams_and_the_exit_status() {
        assert_eq!(
            show("a", "b\n\n", 2),
            "a\n[no final newline]\n2| b\n2|\n[exit 2]\n"
        );
    }
}
