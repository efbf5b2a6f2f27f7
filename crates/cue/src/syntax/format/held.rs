//! Comments that must wait.
//!
//! A comment ends its line, and a line that ends behind an operand, a name or a closing bracket ends the declaration too. Inside what
//! must go on (before an operator, a selector, the colon of a field) such a comment is held, and printed at the next place where a line
//! may end: behind an operator or an opening bracket, or behind the whole.

use super::Formatter;
use super::Space;

/// Whether what was being printed before had to go on.
#[must_use]
pub(super) struct Outer(bool);

impl Outer {
    pub fn is_tied(&self) -> bool {
        self.0
    }
}

impl Formatter<'_> {
    /// Begins something behind which a token must follow on the same line.
    pub(super) fn tie(&mut self) -> Outer {
        Outer(std::mem::replace(&mut self.tied, true))
    }

    /// Begins something in brackets, where a line may end behind every part.
    pub(super) fn untie(&mut self) -> Outer {
        let outer = Outer(std::mem::replace(&mut self.tied, false));
        self.held_here();
        outer
    }

    /// The token has been printed.
    pub(super) fn end(&mut self, outer: Outer) {
        self.tied = outer.0;
        self.held_here();
    }

    /// Whether a comment may stand here.
    pub(super) fn may_break(&self) -> bool {
        !self.tied || !self.stream.ends_line()
    }

    /// Prints what was held, if this is a place for it.
    pub(super) fn held_here(&mut self) {
        if self.held.is_empty() || !self.may_break() {
            return;
        }
        for (at, group) in std::mem::take(&mut self.held).into_iter().enumerate() {
            if at > 0 {
                self.wish(Space::SECTION);
            }
            self.comment(group);
        }
    }
}
