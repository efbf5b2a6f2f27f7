//! Columns for people: padded to the widest cell, nothing behind the last.

/// Lays rows out in columns, each line behind `indent`.
pub(super) fn columns(rows: &[Vec<String>], indent: &str) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (index, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(index) {
                Some(known) => *known = width.max(*known),
                None => widths.push(width),
            }
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = indent.to_owned();
        for (cell, &width) in row.iter().zip(&widths) {
            line.push_str(cell);
            let pad = width + 2 - cell.chars().count();
            line.extend(std::iter::repeat_n(' ', pad));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A value on one line, cut where it gets long.
pub(super) fn short(value: &str, most: usize) -> String {
    let line: String = value
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or("")),
        None => line,
    }
}
