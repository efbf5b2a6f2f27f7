//! Package `text/tabwriter`: tab-terminated cells in columns, padded with spaces.
//!
//! A column is a run of adjacent lines that have a tab-terminated cell in that place; the text behind the last tab of a
//! line belongs to no column. Each column is as wide as its widest cell, and one space.

use super::super::call::fatal;
use super::super::member::{ANY, function};
use super::super::{Args, Error, Kinds, MAX_RESULT, Package, Value};

pub(in super::super) const PACKAGE: Package = Package {
    path: "text/tabwriter",
    cue: None,
    members: &[function("Write", &[ANY], Kinds::STRING, write)],
};

const PADDING: usize = 1;
/// Columns of one line; the layout recurses over them.
const MAX_COLUMNS: usize = 500;

fn write(args: Args<'_>) -> Result<Value, Error> {
    let mut text = String::new();
    match args.value(0) {
        Value::String(whole) => text.push_str(whole),
        Value::Bytes(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
        Value::List(items) => {
            for item in items {
                match item {
                    Value::String(line) => text.push_str(line),
                    Value::Bytes(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
                    other => {
                        return Err(fatal(format!(
                            "cannot use value {other} (type {}) as (string|bytes)",
                            other.kinds()
                        )));
                    }
                }
                text.push('\n');
            }
        }
        other => {
            return Err(fatal(format!(
                "tabwriter.Write: unsupported type {}",
                other.kinds()
            )));
        }
    }
    layout(&text).map(Value::String)
}

fn layout(text: &str) -> Result<String, Error> {
    let lines: Vec<Vec<&str>> = text
        .split('\n')
        .map(|line| line.split(['\t', '\u{b}']).collect())
        .collect();
    if lines.iter().any(|line| line.len() > MAX_COLUMNS) {
        return Err(fatal("too many columns"));
    }
    let mut layout = Layout {
        lines: &lines,
        widths: Vec::new(),
        out: String::with_capacity(text.len()),
    };
    layout.block(0, lines.len())?;
    Ok(layout.out)
}

struct Layout<'a> {
    lines: &'a [Vec<&'a str>],
    /// Of the columns to the left.
    widths: Vec<usize>,
    out: String,
}

impl Layout<'_> {
    /// Lays out lines that share the columns in `widths`.
    fn block(&mut self, from: usize, to: usize) -> Result<(), Error> {
        let column = self.widths.len();
        let cell = |line: usize| -> Option<&str> {
            let cells = self.lines.get(line)?;
            // The last piece is no cell.
            if column + 1 < cells.len() {
                cells.get(column).copied()
            } else {
                None
            }
        };
        // The runs of this column first: the borrow of the lines ends with them.
        let mut runs = Vec::new();
        let mut line = from;
        while line < to {
            let start = line;
            let mut width = 0;
            while line < to
                && let Some(text) = cell(line)
            {
                width = width.max(text.chars().count() + PADDING);
                line += 1;
            }
            if line == start {
                line += 1;
            } else {
                runs.push((start, line, width));
            }
        }
        let mut written = from;
        for (start, end, width) in runs {
            self.write_lines(written, start)?;
            self.widths.push(width);
            self.block(start, end)?;
            self.widths.pop();
            written = end;
        }
        self.write_lines(written, to)
    }

    fn write_lines(&mut self, from: usize, to: usize) -> Result<(), Error> {
        for at in from..to {
            let cells = self.lines.get(at).map_or(&[][..], Vec::as_slice);
            for (i, text) in cells.iter().enumerate() {
                self.out.push_str(text);
                if i + 1 < cells.len()
                    && let Some(width) = self.widths.get(i)
                {
                    let gap = width.saturating_sub(text.chars().count());
                    self.out.extend(std::iter::repeat_n(' ', gap));
                }
            }
            if at + 1 < self.lines.len() {
                self.out.push('\n');
            }
            if self.out.len() > MAX_RESULT {
                return Err(fatal("result is too long"));
            }
        }
        Ok(())
    }
}
