//! What stands behind a backslash: characters, sets and assertions.

use regex_syntax::hir::{ClassUnicode, Look};

use super::super::{RegexError, class};
use super::{Parser, error};

impl Parser<'_> {
    /// Behind a backslash, outside of brackets.
    pub(super) fn escape(&mut self) -> Result<(), RegexError> {
        let start = self.at;
        let kind = self.rest().chars().nth(1);
        match kind {
            Some('A') => self.assertion(Look::Start),
            Some('z') => self.assertion(Look::End),
            Some('b') => self.assertion(Look::WordAscii),
            Some('B') => self.assertion(Look::WordAsciiNegate),
            Some('C') => {
                self.at += 2;
                return Err(error("invalid escape sequence", self.since(start)));
            }
            Some('Q') => {
                self.at += 2;
                let rest = self.rest();
                let (quoted, len) = match rest.find("\\E") {
                    Some(end) => (rest.get(..end).unwrap_or(""), end + 2),
                    None => (rest, rest.len()),
                };
                for character in quoted.chars() {
                    self.literal(character);
                }
                self.at += len;
            }
            _ => {
                if let Some(set) = self.set_escape()? {
                    self.push(class::to_hir(set));
                } else {
                    let code = self.character_escape()?;
                    self.code_point(code);
                }
            }
        }
        Ok(())
    }

    fn assertion(&mut self, look: Look) {
        self.at += 1;
        self.look(look);
    }

    /// `\d`, `\pL`, `\p{Greek}`; nothing is read if it is none of them.
    pub(super) fn set_escape(&mut self) -> Result<Option<ClassUnicode>, RegexError> {
        let start = self.at;
        let Some(letter) = self
            .rest()
            .strip_prefix('\\')
            .and_then(|rest| rest.chars().next())
        else {
            return Ok(None);
        };
        if let Some((pairs, negated)) = class::perl(letter) {
            self.at += 2;
            return Ok(Some(self.set(pairs, negated)));
        }
        if letter != 'p' && letter != 'P' {
            return Ok(None);
        }
        self.at += 2;
        let mut negated = letter == 'P';
        let name = match self.bump() {
            Some('{') => {
                let rest = self.rest();
                let Some(end) = rest.find('}') else {
                    self.at = self.pattern.len();
                    return Err(error("invalid character class range", self.since(start)));
                };
                self.at += end + 1;
                rest.get(..end).unwrap_or("").to_owned()
            }
            Some(letter) => letter.to_string(),
            None => return Err(error("invalid character class range", self.since(start))),
        };
        let name = match name.strip_prefix('^') {
            Some(name) => {
                negated = !negated;
                name
            }
            None => &name,
        };
        let Some(mut set) = class::unicode(name) else {
            return Err(error("invalid character class range", self.since(start)));
        };
        if self.flags.fold_case {
            class::fold(&mut set);
        }
        if negated {
            set.negate();
        }
        Ok(Some(set))
    }

    pub(super) fn set(&self, pairs: &[(u32, u32)], negated: bool) -> ClassUnicode {
        let mut set = class::ranges(pairs);
        if self.flags.fold_case {
            class::fold(&mut set);
        }
        if negated {
            set.negate();
        }
        set
    }

    /// An escape that stands for one character.
    pub(super) fn character_escape(&mut self) -> Result<u32, RegexError> {
        let start = self.at;
        self.bump();
        let Some(letter) = self.bump() else {
            return Err(error("trailing backslash at end of expression", ""));
        };
        let code = match letter {
            'a' => Some(0x07),
            'f' => Some(0x0C),
            'n' => Some(0x0A),
            'r' => Some(0x0D),
            't' => Some(0x09),
            'v' => Some(0x0B),
            'x' => self.hexadecimal(),
            // A single digit other than zero would be a back reference.
            '1'..='7' if !self.peek().is_some_and(|next| next.is_digit(8)) => None,
            '0'..='7' => Some(self.octal(letter)),
            _ if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Some(u32::from(letter)),
            _ => None,
        };
        code.ok_or_else(|| error("invalid escape sequence", self.since(start)))
    }

    fn octal(&mut self, first: char) -> u32 {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|next| next.to_digit(8)) else {
                break;
            };
            code = code * 8 + digit;
            self.bump();
        }
        code
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let first = self.bump()?;
        if first != '{' {
            let high = first.to_digit(16);
            let low = self.bump()?.to_digit(16);
            return Some(high? * 16 + low?);
        }
        let mut code = None;
        loop {
            let next = self.bump()?;
            if next == '}' {
                return code;
            }
            let value = code.unwrap_or(0) * 16 + next.to_digit(16)?;
            if value > 0x10_FFFF {
                return None;
            }
            code = Some(value);
        }
    }
}
