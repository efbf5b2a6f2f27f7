//! Attributes, `@name(…)`: one token, in which brackets and quotes must match.

use super::Scanner;
use crate::syntax::errors::INVALID_ATTRIBUTE;
use crate::syntax::token::Token;

impl Scanner<'_> {
    /// The rest of an attribute whose `@` has been taken.
    pub(super) fn attribute(&mut self) -> Token {
        self.name();
        if self.scan().token == Token::LParen {
            self.attribute_body();
        } else {
            let message = "invalid attribute: expected '('";
            self.error(INVALID_ATTRIBUTE, self.at, message);
        }
        Token::Attribute
    }

    /// Tokens up to the closing parenthesis.
    fn attribute_body(&mut self) {
        let mut open = vec![Token::RParen];
        while let Some(&close) = open.last() {
            match self.scan().token {
                token if token == close => {
                    open.pop();
                }
                Token::Eof => {
                    for close in open.into_iter().rev() {
                        let message = format!("attribute missing '{}'", close.text());
                        self.error(INVALID_ATTRIBUTE, self.at, message);
                    }
                    return;
                }
                Token::Interpolation => {
                    let message = "interpolation not allowed in attribute";
                    self.error(INVALID_ATTRIBUTE, self.at, message);
                    self.quotes.pop();
                    self.skip_interpolation();
                }
                Token::LParen => open.push(Token::RParen),
                Token::LBrace => open.push(Token::RBrace),
                Token::LBrack => open.push(Token::RBrack),
                token @ (Token::RParen | Token::RBrace | Token::RBrack) => {
                    let message = format!("unexpected '{}'", token.text());
                    self.error(INVALID_ATTRIBUTE, self.at, message);
                }
                _ => {}
            }
        }
    }

    /// Goes to the `)` that closes an interpolation, or to the end of the line.
    fn skip_interpolation(&mut self) {
        let mut open = 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => return,
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        return;
                    }
                }
                _ => {}
            }
            self.bump();
        }
    }
}
