//! Sets in brackets.

use regex_syntax::hir::ClassUnicode;

use super::super::{RegexError, class};
use super::{Parser, error};

impl Parser<'_> {
    /// From the opening bracket to the closing one.
    pub(super) fn bracket(&mut self) -> Result<(), RegexError> {
        let start = self.at;
        self.bump();
        let negated = self.peek() == Some('^');
        if negated {
            self.bump();
        }
        let mut set = ClassUnicode::empty();
        let mut first = true;
        while first || self.peek() != Some(']') {
            first = false;
            if let Some(named) = self.named()? {
                set.union(&named);
            } else if let Some(escaped) = self.set_escape()? {
                set.union(&escaped);
            } else {
                let (low, high) = self.range(start)?;
                class::push(&mut set, low, high);
            }
        }
        self.bump();
        if self.flags.fold_case {
            class::fold(&mut set);
        }
        if negated {
            set.negate();
        }
        self.push(class::to_hir(set));
        Ok(())
    }

    /// `[:alpha:]` within brackets.
    fn named(&mut self) -> Result<Option<ClassUnicode>, RegexError> {
        let start = self.at;
        let Some(rest) = self.rest().strip_prefix("[:") else {
            return Ok(None);
        };
        let Some(end) = rest.find(":]") else {
            return Ok(None);
        };
        self.at += end + 4;
        match class::posix(rest.get(..end).unwrap_or("")) {
            Some((pairs, negated)) => Ok(Some(self.set(pairs, negated))),
            None => Err(error("invalid character class range", self.since(start))),
        }
    }

    fn range(&mut self, bracket: usize) -> Result<(u32, u32), RegexError> {
        let start = self.at;
        let low = self.bracket_character(bracket)?;
        let rest = self.rest();
        if !rest.starts_with('-') || rest.len() < 2 || rest.starts_with("-]") {
            return Ok((low, low));
        }
        self.bump();
        let high = self.bracket_character(bracket)?;
        if high < low {
            return Err(error("invalid character class range", self.since(start)));
        }
        Ok((low, high))
    }

    fn bracket_character(&mut self, bracket: usize) -> Result<u32, RegexError> {
        match self.peek() {
            Some('\\') => self.character_escape(),
            Some(character) => {
                self.bump();
                Ok(u32::from(character))
            }
            None => Err(error(
                "missing closing ]",
                self.pattern.get(bracket..).unwrap_or(""),
            )),
        }
    }
}
