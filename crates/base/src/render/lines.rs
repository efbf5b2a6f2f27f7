//! One source line as it can be shown: tabs widened, control characters made visible, long lines
//! cut around what matters, and columns of the screen for byte offsets.

use unicode_width::UnicodeWidthChar;

const TAB: usize = 4;

/// Lines longer than this many bytes are looked at only around the marked part.
const LONG: usize = 8192;

/// A line ready to print, and where the marked part lies in it, in screen columns.
pub(super) struct Shown {
    pub text: String,
    pub from: usize,
    pub to: usize,
}

/// Prepares `line` for at most `width` columns; `from..to` are byte offsets in the line of the
/// part to mark. The marked part is at least one column wide.
pub(super) fn show(line: &str, from: usize, to: usize, width: usize) -> Shown {
    let (line, from, to) = around(line, from, to);
    let mut cells: Vec<(char, usize)> = Vec::new();
    let (mut first, mut last) = (None, None);
    let mut column = 0;
    for (at, c) in line.char_indices() {
        if at >= from && first.is_none() {
            first = Some(column);
        }
        if at >= to && last.is_none() {
            last = Some(column);
        }
        match c {
            '\t' => {
                let stop = TAB - column % TAB;
                cells.extend(std::iter::repeat_n((' ', 1), stop));
                column += stop;
            }
            '\u{feff}' => {}
            _ => {
                let (c, w) = visible(c);
                cells.push((c, w));
                column += w;
            }
        }
    }
    let first = first.unwrap_or(column);
    let last = last.unwrap_or(column).max(first + 1);
    window(&cells, column, first, last, width.max(20))
}

/// The part of a very long line that can be seen when the marked part can; a minified file is one line.
fn around(line: &str, from: usize, to: usize) -> (&str, usize, usize) {
    if line.len() <= LONG {
        return (line, from, to);
    }
    let start = line.floor_char_boundary(from.saturating_sub(LONG / 4));
    let end = line.floor_char_boundary(from.saturating_add(LONG / 2).min(line.len()));
    let part = line.get(start..end).unwrap_or(line);
    (part, from - start, to.saturating_sub(start))
}

fn visible(c: char) -> (char, usize) {
    match c.width() {
        Some(w) if !c.is_control() => (c, w),
        _ => ('\u{fffd}', 1),
    }
}

/// Cuts a line that is too long so that the start of the marked part can be seen.
fn window(cells: &[(char, usize)], total: usize, first: usize, last: usize, width: usize) -> Shown {
    if total <= width {
        let text = cells.iter().map(|&(c, _)| c).collect();
        return Shown {
            text,
            from: first,
            to: last,
        };
    }
    let room = width - 2;
    let left = if last < room {
        0
    } else {
        first.saturating_sub(room / 3)
    };
    let mut text = String::new();
    let mut column = 0;
    let mut used = 0;
    if left > 0 {
        text.push('…');
        used = 1;
    }
    let offset = used;
    for &(c, w) in cells {
        if column >= left && used + w <= room + offset {
            text.push(c);
            used += w;
        }
        column += w;
    }
    if column > left + room {
        text.push('…');
    }
    let from = first.saturating_sub(left) + offset;
    let to = (last.saturating_sub(left) + offset).clamp(from + 1, width.max(from + 1));
    Shown { text, from, to }
}

#[cfg(test)]
mod tests {
    use super::show;

    #[test]
    fn tabs_and_wide_characters_keep_the_caret_under_its_text() {
        let shown = show("\tname: 漢x", 10, 11, 80);
        assert_eq!(shown.text, "    name: 漢x");
        assert_eq!((shown.from, shown.to), (12, 13));
    }

    #[test]
    fn a_very_long_line_is_cut_on_both_sides() {
        let line = "é".repeat(50_000) + "here" + &"x".repeat(50_000);
        let shown = show(&line, 100_000, 100_004, 60);
        assert!(shown.text.starts_with("…é") && shown.text.ends_with("x…"));
        let marked: String = shown.text.chars().skip(shown.from).take(4).collect();
        assert_eq!(marked, "here");
    }

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(
            show("a\0b\u{1b}[31m", 1, 2, 80).text,
            "a\u{fffd}b\u{fffd}[31m"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_marked_part() {
        let line = format!("{}HERE{}", "a".repeat(500), "b".repeat(500));
        let shown = show(&line, 500, 504, 60);
        assert!(shown.text.chars().count() <= 60, "{}", shown.text);
        let marked: String = shown
            .text
            .chars()
            .skip(shown.from)
            .take(shown.to - shown.from)
            .collect();
        assert_eq!(marked, "HERE");
        let whole = show(&line, 0, 1004, 60);
        assert!(whole.to <= 60 && whole.from == 0);
    }

    #[test]
    fn an_empty_mark_past_the_end_is_one_column() {
        let shown = show("abc", 3, 3, 80);
        assert_eq!((shown.from, shown.to), (3, 4));
    }
}
