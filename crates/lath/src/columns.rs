//! Rows of cells as aligned text. The last cell of a row is never padded, and a cell much wider
//! than its neighbours does not push the others away.

use unicode_width::UnicodeWidthStr;

/// Cells wider than this stand out of their column.
const WIDEST: usize = 48;

/// Lays out rows, each after `margin`, with two spaces between columns.
pub fn lay_out(rows: &[Vec<String>], margin: &str) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = cell.width();
            match widths.get_mut(column) {
                Some(widest) if width <= WIDEST => *widest = width.max(*widest),
                Some(_) => {}
                None => widths.push(if width <= WIDEST { width } else { 0 }),
            }
        }
    }
    let mut out = String::new();
    for row in rows {
        out.push_str(margin);
        let mut owed = 0;
        for (column, cell) in row.iter().enumerate() {
            if cell.is_empty() {
                owed += widths.get(column).copied().unwrap_or(0) + 2;
                continue;
            }
            out.extend(std::iter::repeat_n(' ', owed));
            out.push_str(cell);
            let width = widths.get(column).copied().unwrap_or(0);
            owed = width.saturating_sub(cell.width()) + 2;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::lay_out;

    #[test]
    fn columns_align_and_lines_do_not_trail() {
        let row = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect();
        let rows: Vec<Vec<String>> = vec![row(&["a", "long", ""]), row(&["bbb", "x", "y"])];
        assert_eq!(lay_out(&rows, ""), "a    long\nbbb  x     y\n");
    }
}
