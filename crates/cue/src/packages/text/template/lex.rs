//! Templates as text and actions; actions as tokens.

/// A piece of a template.
#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    Action { tokens: Vec<Token>, line: usize },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// White space stands before it.
    pub(super) spaced: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A function or a keyword.
    Word(String),
    /// `.name`
    Field(String),
    Dot,
    /// `$name`; the name alone may be empty.
    Variable(String),
    Number(String),
    Character(char),
    Text(String),
    Pipe,
    Declare,
    Assign,
    Comma,
    Open,
    Close,
}

const LEFT: &str = "{{";
const RIGHT: &str = "}}";
const COMMENT: &str = "/*";
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Splits a template. A wrong one gives the message with its line.
pub(super) fn lex(template: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    let mut line = 1;
    let mut trim = false;
    loop {
        let (text, action) = match rest.split_once(LEFT) {
            Some((text, action)) => (text, Some(action)),
            None => (rest, None),
        };
        let mut shown = text;
        if trim {
            shown = shown.trim_start_matches(SPACE);
        }
        let trims_left = action.is_some_and(|action| {
            action
                .strip_prefix('-')
                .is_some_and(|behind| behind.starts_with(SPACE))
        });
        if trims_left {
            shown = shown.trim_end_matches(SPACE);
        }
        if !shown.is_empty() {
            pieces.push(Piece::Text(shown.to_owned()));
        }
        line += breaks(text);
        let Some(mut action) = action else {
            return Ok(pieces);
        };
        if trims_left {
            action = action.strip_prefix('-').unwrap_or(action);
        }
        let error = |message: &str, line: usize| format!("template: :{line}: {message}");
        let start = action.trim_start_matches(SPACE);
        if start.starts_with(COMMENT) {
            let Some(end) = start.find("*/") else {
                return Err(error("unclosed comment", line));
            };
            let (comment, behind) = start.split_at(end + 2);
            let (behind, trims) = match behind.trim_start_matches(SPACE).strip_prefix('-') {
                Some(after) if behind.starts_with(SPACE) => (after, true),
                _ => (behind, false),
            };
            let Some(after) = behind.strip_prefix(RIGHT) else {
                return Err(error("comment ends before closing delimiter", line));
            };
            line += breaks(comment);
            trim = trims;
            rest = after;
            continue;
        }
        let mut lexer = Lexer {
            rest: action,
            tokens: Vec::new(),
        };
        trim = lexer.action().map_err(|message| error(&message, line))?;
        pieces.push(Piece::Action {
            tokens: lexer.tokens,
            line,
        });
        line += breaks(action) - breaks(lexer.rest);
        rest = lexer.rest;
    }
}

fn breaks(text: &str) -> usize {
    text.matches('\n').count()
}

struct Lexer<'a> {
    rest: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Lexer<'a> {
    /// Reads up to and with the closing delimiter; whether it trims the text behind.
    fn action(&mut self) -> Result<bool, String> {
        loop {
            let trimmed = self.rest.trim_start_matches(SPACE);
            let spaced = trimmed.len() < self.rest.len();
            if spaced && let Some(rest) = trimmed.strip_prefix("-}}") {
                self.rest = rest;
                return Ok(true);
            }
            if let Some(rest) = trimmed.strip_prefix(RIGHT) {
                self.rest = rest;
                return Ok(false);
            }
            self.rest = trimmed;
            let kind = self.token()?;
            self.tokens.push(Token { kind, spaced });
        }
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn word_len(text: &str) -> usize {
        text.find(|c: char| c != '_' && !c.is_alphanumeric())
            .unwrap_or(text.len())
    }

    fn token(&mut self) -> Result<Kind, String> {
        let mut chars = self.rest.chars();
        let Some(first) = chars.next() else {
            return Err("unclosed action".to_owned());
        };
        let second = chars.next();
        Ok(match first {
            '|' => self.single(Kind::Pipe),
            ',' => self.single(Kind::Comma),
            '(' => self.single(Kind::Open),
            ')' => self.single(Kind::Close),
            '=' => self.single(Kind::Assign),
            ':' if second == Some('=') => {
                self.take(2);
                Kind::Declare
            }
            ':' => return Err("expected :=".to_owned()),
            '"' | '\'' => self.quoted(first)?,
            '`' => {
                let body = self.rest.get(1..).unwrap_or("");
                let Some((text, _)) = body.split_once('`') else {
                    return Err("unterminated raw quoted string".to_owned());
                };
                let len = text.len();
                let text = text.to_owned();
                self.take(len + 2);
                Kind::Text(text)
            }
            '$' => {
                self.take(1);
                let len = Self::word_len(self.rest);
                Kind::Variable(self.take(len).to_owned())
            }
            '.' if !second.is_some_and(|c| c.is_ascii_digit()) => {
                self.take(1);
                match Self::word_len(self.rest) {
                    0 => Kind::Dot,
                    len => Kind::Field(self.take(len).to_owned()),
                }
            }
            '+' | '-' | '.' | '0'..='9' => {
                let body = self.rest.get(1..).unwrap_or("");
                let len = body
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
                    .unwrap_or(body.len());
                // An exponent may have a sign.
                let mut len = len + 1;
                let exponent = self.rest.get(..len).is_some_and(|text| {
                    text.ends_with(['e', 'E']) && !text.to_ascii_lowercase().contains("0x")
                });
                let tail = self.rest.get(len..).unwrap_or("");
                if exponent && tail.starts_with(['+', '-']) {
                    let more = tail.get(1..).unwrap_or("");
                    len += 1 + more
                        .find(|c: char| !c.is_ascii_digit())
                        .unwrap_or(more.len());
                }
                Kind::Number(self.take(len).to_owned())
            }
            c if c == '_' || c.is_alphanumeric() => {
                let len = Self::word_len(self.rest);
                Kind::Word(self.take(len).to_owned())
            }
            c => return Err(format!("unexpected {c:?} in operand")),
        })
    }

    fn single(&mut self, kind: Kind) -> Kind {
        self.take(1);
        kind
    }

    /// A string or a character constant with Go's escapes.
    fn quoted(&mut self, mark: char) -> Result<Kind, String> {
        let unterminated = || {
            if mark == '"' {
                "unterminated quoted string".to_owned()
            } else {
                "unterminated character constant".to_owned()
            }
        };
        let mut out = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        loop {
            let (at, c) = chars.next().ok_or_else(unterminated)?;
            match c {
                '\n' => return Err(unterminated()),
                c if c == mark => {
                    self.take(at + 1);
                    break;
                }
                '\\' => {
                    let (_, escape) = chars.next().ok_or_else(unterminated)?;
                    let wide = |count: usize, chars: &mut dyn Iterator<Item = (usize, char)>| {
                        let digits: String = chars.take(count).map(|(_, c)| c).collect();
                        u32::from_str_radix(&digits, 16)
                            .ok()
                            .and_then(char::from_u32)
                    };
                    out.push(match escape {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'a' => '\u{7}',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        'v' => '\u{b}',
                        '\\' | '"' | '\'' => escape,
                        'x' => wide(2, &mut chars).ok_or("invalid syntax")?,
                        'u' => wide(4, &mut chars).ok_or("invalid syntax")?,
                        'U' => wide(8, &mut chars).ok_or("invalid syntax")?,
                        _ => return Err("invalid syntax".to_owned()),
                    });
                }
                c => out.push(c),
            }
        }
        if mark == '"' {
            return Ok(Kind::Text(out));
        }
        let mut chars = out.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(Kind::Character(c)),
            _ => Err("malformed character constant".to_owned()),
        }
    }
}
