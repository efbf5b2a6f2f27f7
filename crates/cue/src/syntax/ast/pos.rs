//! Where a token stands, or how much white space goes before it when it stands nowhere yet.

/// The white space before a token, as the formatter sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// Nothing is known: the formatter decides.
    Unknown,
    /// On the same line, without a blank.
    None,
    /// On the same line, after a blank.
    Blank,
    /// On the next line.
    Newline,
    /// After an empty line.
    Section,
}

/// A byte offset into the file's text, or a [`Gap`] for a node that was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pos(u32);

const GAPS: u32 = u32::MAX - 4;

impl Pos {
    /// No place and no wish about white space.
    pub const NONE: Pos = Pos(GAPS);

    pub fn at(offset: usize) -> Pos {
        Pos(u32::try_from(offset).map_or(GAPS - 1, |n| n.min(GAPS - 1)))
    }

    pub fn gap(gap: Gap) -> Pos {
        Pos(GAPS + gap as u32)
    }

    pub fn offset(self) -> Option<u32> {
        (self.0 < GAPS).then_some(self.0)
    }

    /// Whether the position is that of a token in a text.
    pub fn is_parsed(self) -> bool {
        self.0 < GAPS
    }

    /// The white space before this position in `text`, or the one that was asked for.
    pub fn gap_in(self, text: &str) -> Gap {
        let Some(offset) = self.offset() else {
            return match self.0 - GAPS {
                1 => Gap::None,
                2 => Gap::Blank,
                3 => Gap::Newline,
                4 => Gap::Section,
                _ => Gap::Unknown,
            };
        };
        let (mut lines, mut blank) = (0, false);
        let before = text.as_bytes().get(..offset as usize).unwrap_or(&[]);
        for byte in before.iter().rev() {
            match byte {
                b'\n' => lines += 1,
                b' ' | b'\t' => blank = true,
                b'\r' => {}
                _ => break,
            }
            if lines > 1 {
                return Gap::Section;
            }
        }
        match (lines, blank) {
            (1, _) => Gap::Newline,
            (_, true) => Gap::Blank,
            _ => Gap::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_read_backwards() {
        let text = "a: 1\n\n b:2, c\n\t}";
        let gap = |at| Pos::at(at).gap_in(text);
        assert_eq!(gap(3), Gap::Blank);
        assert_eq!(gap(7), Gap::Section);
        assert_eq!(gap(9), Gap::None);
        assert_eq!(gap(12), Gap::Blank);
        assert_eq!(gap(15), Gap::Newline);
        assert_eq!(Pos::NONE.gap_in(text), Gap::Unknown);
        for want in [
            Gap::Unknown,
            Gap::None,
            Gap::Blank,
            Gap::Newline,
            Gap::Section,
        ] {
            assert_eq!(Pos::gap(want).gap_in(text), want);
        }
    }
}
