//! Findings for a terminal: offender first, every place with its line, its mark and whose it is.
//!
//! ```text
//! error[locked-value]: `replicas` is locked by the platform operator
//!   --> user.yaml:2:13            end user (tier 3)
//!    |
//!  2 |   replicas: 5
//!    |             ^ 5 refused
//! ```
//!
//! Colour carries nothing that the text does not say.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use super::lines;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::{SourceId, Sources};

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub colour: bool,
    /// Columns of the screen; lines are cut to it.
    pub width: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            colour: false,
            width: 120,
        }
    }
}

pub fn render(findings: &[Diagnostic], sources: &Sources, options: Options) -> String {
    let mut out = String::new();
    for finding in findings {
        Page {
            out: &mut out,
            sources,
            options,
            gutter: gutter(finding, sources),
        }
        .finding(finding);
        out.push('\n');
    }
    out
}

/// How wide the column of line numbers is.
fn gutter(finding: &Diagnostic, sources: &Sources) -> usize {
    let lines = finding
        .labels
        .iter()
        .map(|label| sources.place(label.span).line);
    lines.max().map_or(1, |line| line.to_string().len())
}

struct Page<'a> {
    out: &'a mut String,
    sources: &'a Sources,
    options: Options,
    gutter: usize,
}

const BOLD: Style = Style::new().bold();
const FRAME: Style = AnsiColor::BrightBlue.on_default();
const SECOND: Style = AnsiColor::BrightBlue.on_default().bold();

fn accent(severity: Severity) -> Style {
    match severity {
        Severity::Error => AnsiColor::BrightRed.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Note => AnsiColor::Cyan.on_default().bold(),
    }
}

/// The labels of one source and one role, in the order of their lines.
struct Block<'a> {
    source: SourceId,
    role: Option<&'a str>,
    labels: Vec<&'a Label>,
}

impl Page<'_> {
    fn finding(&mut self, finding: &Diagnostic) {
        let head = format!("{}[{}]", finding.severity.word(), finding.code);
        self.paint(accent(finding.severity), &head);
        self.paint(BOLD, &format!(": {}", finding.message));
        self.out.push('\n');
        let blocks = blocks(&finding.labels);
        let places: Vec<String> = blocks.iter().map(|block| self.place_of(block)).collect();
        let widest = places.iter().map(|p| p.width()).max().unwrap_or(0);
        for (at, (block, place)) in blocks.iter().zip(&places).enumerate() {
            let arrow = if at == 0 { "-->" } else { ":::" };
            // A source without text stands for a path: there is nothing to show of it.
            if self.sources.get(block.source).text().is_empty() {
                let said = block.labels.iter().map(|label| label.text.as_str());
                let said = said.rev().find(|text| !text.is_empty());
                self.heading(arrow, place, block.role.or(said), widest);
                continue;
            }
            self.heading(arrow, place, block.role, widest);
            self.bar();
            self.excerpt(block, finding.severity);
            if at + 1 < blocks.len() || !finding.notes.is_empty() {
                self.bar();
            }
        }
        for note in &finding.notes {
            self.note(
                &note.tag,
                &note.text,
                note.span.map(|span| self.sources.locate(span)),
            );
        }
    }

    fn place_of(&self, block: &Block<'_>) -> String {
        let first = block
            .labels
            .iter()
            .find(|l| l.primary)
            .or(block.labels.first());
        first.map_or_else(String::new, |label| self.sources.locate(label.span))
    }

    fn heading(&mut self, arrow: &str, place: &str, role: Option<&str>, widest: usize) {
        self.pad(self.gutter + 1);
        self.paint(FRAME, arrow);
        let _ = write!(self.out, " {place}");
        if let Some(role) = role {
            let column = (widest + 4).max(44);
            self.pad(column.saturating_sub(place.width()).max(2));
            self.out.push_str(role);
        }
        self.out.push('\n');
    }

    fn excerpt(&mut self, block: &Block<'_>, severity: Severity) {
        let source = self.sources.get(block.source);
        let mut before = None;
        for label in &block.labels {
            let (start, end) = (source.place(label.span.start), source.place(label.span.end));
            let line_start = source.line_start(start.line) as usize;
            let from = label.span.start as usize - line_start;
            let text = source.line(start.line);
            let to = if end.line == start.line {
                label.span.end as usize - line_start
            } else {
                text.len()
            };
            let room = self.options.width.saturating_sub(self.gutter + 4);
            let shown = lines::show(text, from, to, room);
            if before != Some(start.line) {
                if before.is_some_and(|line| line + 1 < start.line) {
                    self.pad(self.gutter + 1);
                    self.paint(FRAME, "⋮");
                    self.out.push('\n');
                }
                let number = format!(" {:>1$} |", start.line, self.gutter);
                self.paint(FRAME, &number);
                let _ = writeln!(self.out, " {}", shown.text.trim_end());
            }
            before = Some(start.line);
            self.pad(self.gutter + 2);
            self.paint(FRAME, "|");
            self.pad(shown.from + 1);
            let (mark, style) = if label.primary {
                ("^", accent(severity))
            } else {
                ("-", SECOND)
            };
            let mut marked = mark.repeat(shown.to - shown.from);
            if !label.text.is_empty() {
                let _ = write!(marked, " {}", label.text);
            }
            self.paint(style, &marked);
            self.out.push('\n');
        }
    }

    fn note(&mut self, tag: &str, text: &str, place: Option<String>) {
        self.pad(self.gutter + 2);
        self.paint(FRAME, "=");
        self.out.push(' ');
        self.paint(BOLD, &format!("{tag}:"));
        let indent = " ".repeat(self.gutter + 5 + tag.width() + 1);
        let text = text.replace('\n', &format!("\n{indent}"));
        let _ = write!(self.out, " {text}");
        if let Some(place) = place {
            let _ = write!(self.out, " ({place})");
        }
        self.out.push('\n');
    }

    fn bar(&mut self) {
        self.pad(self.gutter + 2);
        self.paint(FRAME, "|");
        self.out.push('\n');
    }

    fn pad(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    fn paint(&mut self, style: Style, text: &str) {
        if self.options.colour {
            let _ = write!(self.out, "{style}{text}{style:#}");
        } else {
            self.out.push_str(text);
        }
    }
}

/// Groups labels by source and role, the offender's block first, each block by lines.
fn blocks(labels: &[Label]) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (primary, other): (Vec<_>, Vec<_>) = labels.iter().partition(|label| label.primary);
    for label in primary.into_iter().chain(other) {
        let role = label.role.as_deref();
        let same = |b: &&mut Block<'_>| b.source == label.span.source && b.role == role;
        match blocks.iter_mut().find(same) {
            Some(block) => block.labels.push(label),
            None => blocks.push(Block {
                source: label.span.source,
                role,
                labels: vec![label],
            }),
        }
    }
    for block in &mut blocks {
        block
            .labels
            .sort_by_key(|label| (label.span.start, label.span.end));
    }
    blocks
}
