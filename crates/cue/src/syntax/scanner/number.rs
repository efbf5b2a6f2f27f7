//! Numbers: decimal, `0x`, `0o`, `0b`, fractions, exponents, multipliers such as `Ki`.

use super::Scanner;
use crate::syntax::errors::INVALID_NUMBER;
use crate::syntax::token::Token;

impl Scanner<'_> {
    /// Digits of a base, with `_` between them.
    fn digits(&mut self, base: u32) {
        let mut last = 0;
        while let Some(byte) = self.peek() {
            if byte == b'_' {
                if last == b'_' {
                    self.error(INVALID_NUMBER, self.at, "illegal '_' in number");
                }
            } else if char::from(byte).to_digit(base).is_none() {
                break;
            }
            last = byte;
            self.at += 1;
        }
        if last == b'_' {
            self.error(INVALID_NUMBER, self.at - 1, "illegal '_' in number");
        }
    }

    /// A number that begins with a digit.
    pub(super) fn number(&mut self) -> Token {
        let start = self.at;
        if self.eat(b'0') {
            let (base, name) = match self.peek() {
                Some(b'x' | b'X') => (16, "hexadecimal"),
                Some(b'o') => (8, "octal"),
                Some(b'b') => (2, "binary"),
                _ => return self.after_zero(start),
            };
            self.at += 1;
            self.digits(base);
            if self.at - start <= 2 {
                self.error(INVALID_NUMBER, start, format!("illegal {name} number"));
            }
            return Token::Int;
        }
        self.digits(10);
        self.rest(Token::Int)
    }

    fn after_zero(&mut self, start: usize) -> Token {
        let leading = matches!(self.peek(), Some(b'0'..=b'9'));
        if leading {
            self.digits(10);
        }
        let float = match self.peek() {
            Some(b'.') => self.peek_at(1) != Some(b'.'),
            Some(b'e' | b'E') => true,
            _ => false,
        };
        if leading && !float {
            self.error(INVALID_NUMBER, start, "illegal integer number");
        }
        self.rest(Token::Int)
    }

    /// A number that begins with a dot, which has been taken.
    pub(super) fn fraction(&mut self) -> Token {
        self.digits(10);
        self.exponent(Token::Float)
    }

    fn rest(&mut self, mut token: Token) -> Token {
        if self.peek() == Some(b'.') {
            if self.peek_at(1) == Some(b'.') {
                return token;
            }
            token = Token::Float;
            self.at += 1;
            self.digits(10);
        }
        self.exponent(token)
    }

    fn exponent(&mut self, token: Token) -> Token {
        match self.peek() {
            Some(b'K' | b'M' | b'G' | b'T' | b'P') => {
                self.at += 1;
                self.eat(b'i');
                Token::Int
            }
            Some(b'e' | b'E') => {
                self.at += 1;
                if matches!(self.peek(), Some(b'+' | b'-')) {
                    self.at += 1;
                }
                if !matches!(self.peek(), Some(b'0'..=b'9' | b'_')) {
                    self.error(INVALID_NUMBER, self.at, "illegal exponent in number");
                }
                self.digits(10);
                Token::Float
            }
            _ => token,
        }
    }
}
