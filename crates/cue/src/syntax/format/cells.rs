//! Text in cells, aligned in columns.
//!
//! A line is a row of cells; all but its last end with a tab. Cells of the same column on
//! consecutive lines are padded to one width, and a line that has no such cell ends the run. A
//! hard tab is a step of indentation and always has a width; a soft tab marks a column, which
//! vanishes where all its cells are empty. A flush ends all columns.

struct Cell {
    /// Where the cell's text ends.
    end: usize,
    /// Its width in characters.
    width: usize,
    hard: bool,
}

/// Collects cells and writes them out aligned.
#[derive(Default)]
pub(super) struct Cells {
    out: String,
    /// The text of the lines that are not yet written.
    text: String,
    cells: Vec<Cell>,
    /// For each line, where its cells end.
    lines: Vec<usize>,
    /// Where the current cell's text begins.
    start: usize,
    /// Where the current line's cells begin.
    row: usize,
    indent: Indent,
}

/// What one step of indentation is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Indent {
    #[default]
    Tab,
    Spaces(usize),
}

impl Indent {
    /// The width of a step, in the columns that tabs align to.
    fn width(self) -> usize {
        match self {
            Indent::Tab => 8,
            Indent::Spaces(count) => count.max(1),
        }
    }
}

impl Cells {
    pub fn new(indent: Indent) -> Cells {
        Cells {
            indent,
            ..Cells::default()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.out.is_empty() && self.text.is_empty() && self.cells.is_empty()
    }

    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub fn tab(&mut self, hard: bool) {
        self.end_cell(hard);
    }

    fn end_cell(&mut self, hard: bool) {
        let text = self.text.get(self.start..).unwrap_or("");
        let width = if text.is_ascii() {
            text.len()
        } else {
            text.chars().count()
        };
        self.cells.push(Cell {
            end: self.text.len(),
            width,
            hard,
        });
        self.start = self.text.len();
    }

    /// Ends a line, and with `flush` all columns.
    pub fn newline(&mut self, flush: bool) {
        self.end_cell(false);
        self.lines.push(self.cells.len());
        let lone = self.cells.len() - self.row == 1;
        self.row = self.cells.len();
        // A line of one cell has no column, so what comes after it does not depend on it.
        if flush || lone {
            self.flush();
        }
    }

    pub fn finish(mut self) -> String {
        if self.start < self.text.len() || self.row < self.cells.len() {
            self.newline(true);
            self.out.pop();
        }
        self.flush();
        match self.indent {
            Indent::Tab => self.out,
            // Those inside multiline strings are indentation as well.
            Indent::Spaces(count) => self.out.replace('\t', &" ".repeat(count)),
        }
    }

    fn flush(&mut self) {
        let mut widths = Vec::new();
        let mut written = 0;
        self.block(0, self.lines.len(), &mut widths, &mut written);
        self.text.clear();
        self.cells.clear();
        self.lines.clear();
        self.start = 0;
        self.row = 0;
    }

    /// The cells of a line, as a range.
    fn line(&self, line: usize) -> std::ops::Range<usize> {
        let start = line
            .checked_sub(1)
            .and_then(|before| self.lines.get(before))
            .copied()
            .unwrap_or(0);
        start..self.lines.get(line).copied().unwrap_or(start)
    }

    /// Writes the lines of a range whose columns up to `widths.len()` are settled.
    fn block(&mut self, from: usize, to: usize, widths: &mut Vec<usize>, written: &mut usize) {
        let column = widths.len();
        let has_column = |cells: &Self, line: usize| column + 1 < cells.line(line).len();
        let mut pending = from;
        let mut line = from;
        while line < to {
            if !has_column(self, line) {
                line += 1;
                continue;
            }
            self.write(pending, line, widths, written);
            let start = line;
            let mut width = 0;
            let mut vanishes = true;
            while line < to && has_column(self, line) {
                let at = self.line(line).start + column;
                if let Some(cell) = self.cells.get(at) {
                    width = width.max(cell.width + 1);
                    vanishes &= cell.width == 0 && !cell.hard;
                }
                line += 1;
            }
            widths.push(if vanishes { 0 } else { width });
            self.block(start, line, widths, written);
            widths.pop();
            pending = line;
        }
        self.write(pending, to, widths, written);
    }

    fn write(&mut self, from: usize, to: usize, widths: &[usize], written: &mut usize) {
        for line in from..to {
            let mut indenting = true;
            for (column, index) in self.line(line).enumerate() {
                let Some(cell) = self.cells.get(index) else {
                    continue;
                };
                let text = self.text.get(*written..cell.end).unwrap_or("");
                *written = cell.end;
                indenting &= text.is_empty();
                self.out.push_str(text);
                let Some(&width) = widths.get(column) else {
                    continue;
                };
                if indenting {
                    let tabs = width.div_ceil(self.indent.width());
                    self.out.extend(std::iter::repeat_n('\t', tabs));
                } else {
                    let blanks = width.saturating_sub(cell.width);
                    self.out.extend(std::iter::repeat_n(' ', blanks));
                }
            }
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay_out(text: &str) -> String {
        let mut cells = Cells::new(Indent::Tab);
        for c in text.chars() {
            match c {
                '\t' => cells.tab(true),
                '|' => cells.tab(false),
                '\n' => cells.newline(false),
                '^' => cells.newline(true),
                c => cells.text(c.encode_utf8(&mut [0; 4])),
            }
        }
        cells.finish()
    }

    #[test]
    fn columns_align_until_a_flush_or_a_line_without_them() {
        assert_eq!(lay_out("a:|1\nlong:|2\n"), "a:    1\nlong: 2\n");
        assert_eq!(lay_out("a:|1^long:|2\n"), "a: 1\nlong: 2\n");
        assert_eq!(lay_out("a:|1\nx\nlong:|2\n"), "a: 1\nx\nlong: 2\n");
        assert_eq!(lay_out("\ta:|1\n\tbb:||// c\n"), "\ta:  1\n\tbb: // c\n");
        assert_eq!(lay_out("é:|1\nbb:|2"), "é:  1\nbb: 2");
    }
}
