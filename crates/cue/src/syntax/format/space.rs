//! Wishes about the white space before the next token.

use std::ops::{BitAnd, BitOr, BitOrAssign};

/// A set of wishes. The strongest one that is set wins when the next token is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space(u16);

impl Space {
    pub const NOTHING: Space = Space(0);
    /// A blank.
    pub const BLANK: Space = Space(1);
    /// The end of a column.
    pub const TAB: Space = Space(1 << 1);
    /// No blank and no tab.
    pub const TIGHT: Space = Space(1 << 2);
    /// The source has no say.
    pub const FIRM: Space = Space(1 << 3);
    /// A comma.
    pub const COMMA: Space = Space(1 << 4);
    /// The comma is the last one: print it only before a line break.
    pub const LAST_COMMA: Space = Space(1 << 5);
    /// A comma and a blank, unless a line break does.
    pub const SEPARATOR: Space = Space(1 << 6);
    /// A line break within a table.
    pub const NEWLINE: Space = Space(1 << 7);
    /// A line break that ends a table.
    pub const BREAK: Space = Space(1 << 8);
    /// An empty line.
    pub const SECTION: Space = Space(1 << 9);
    /// Lines are indented one level more from the next line break on.
    pub const INDENT: Space = Space(1 << 10);
    /// The last level ends.
    pub const UNINDENT: Space = Space(1 << 11);
    /// (On the stack of levels:) there was a line break, so the level took effect.
    pub const INDENTED: Space = Space(1 << 12);

    pub const ANY_LINE: Space = Space(1 << 7 | 1 << 8 | 1 << 9);

    pub fn has(self, any: Space) -> bool {
        self.0 & any.0 != 0
    }

    pub fn without(self, other: Space) -> Space {
        Space(self.0 & !other.0)
    }
}

impl BitOr for Space {
    type Output = Space;

    fn bitor(self, other: Space) -> Space {
        Space(self.0 | other.0)
    }
}

impl BitOrAssign for Space {
    fn bitor_assign(&mut self, other: Space) {
        self.0 |= other.0;
    }
}

impl BitAnd for Space {
    type Output = Space;

    fn bitand(self, other: Space) -> Space {
        Space(self.0 & other.0)
    }
}
