//! Bounds as CUE writes them: `>=0.8`, `>=1 & <=3`, `"a" | "b"`, `=~"^eu-"`, `int & !=0`.
//!
//! `&` binds tighter than `|`; parentheses group; a literal admits itself; the type words are `null
//! bool int float number string bytes` and `[...]`, `{...}`. No references, no arithmetic.

use super::{Atom, Bound, Expr, Type};
use crate::value::Value;

/// How deep parentheses may be nested.
const DEEPEST: usize = 32;

pub(super) fn parse(text: &str) -> Result<Expr, String> {
    let mut parser = Parser {
        rest: text,
        depth: 0,
    };
    let expr = parser.either()?;
    parser.skip();
    match parser.rest {
        "" => Ok(expr),
        rest => Err(format!(
            "`{rest}` is not understood in the constraint `{text}`"
        )),
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn either(&mut self) -> Result<Expr, String> {
        let mut parts = vec![self.all()?];
        while self.eat("|") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expr::Either))
    }

    fn all(&mut self) -> Result<Expr, String> {
        let mut parts = vec![self.term()?];
        while self.eat("&") {
            parts.push(self.term()?);
        }
        Ok(one_or(parts, Expr::All))
    }

    fn term(&mut self) -> Result<Expr, String> {
        if self.eat("(") {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err("the constraint is nested too deeply".to_owned());
            }
            let inner = self.either()?;
            self.depth -= 1;
            return match self.eat(")") {
                true => Ok(inner),
                false => Err("a `(` is not closed in the constraint".to_owned()),
            };
        }
        self.atom().map(Expr::Atom)
    }

    fn atom(&mut self) -> Result<Atom, String> {
        for (token, wanted) in [("=~", true), ("!~", false)] {
            if self.eat(token) {
                let Value::String(pattern) = self.literal()? else {
                    return Err(format!("`{token}` needs a string"));
                };
                let pattern = regex::RegexBuilder::new(&pattern)
                    .size_limit(1 << 20)
                    .build();
                return pattern
                    .map(|pattern| Atom::Match(pattern, wanted))
                    .map_err(|_| {
                        format!("the pattern after `{token}` is not a regular expression")
                    });
            }
        }
        if self.eat("!=") {
            return self.literal().map(Atom::Not);
        }
        for (token, bound) in [
            (">=", Bound::AtLeast),
            ("<=", Bound::AtMost),
            (">", Bound::Above),
            ("<", Bound::Below),
        ] {
            if self.eat(token) {
                return match self.literal()? {
                    limit @ (Value::Number(..) | Value::String(_)) => Ok(Atom::Bound(bound, limit)),
                    _ => Err(format!("`{token}` needs a number or a string")),
                };
            }
        }
        for (token, kind) in [("[...]", Type::List), ("{...}", Type::Map)] {
            if self.eat(token) {
                return Ok(Atom::Type(kind));
            }
        }
        let before = self.rest;
        let kind = match self.word() {
            "bool" => Type::Bool,
            "int" => Type::Int,
            "number" | "float" => Type::Number,
            "string" => Type::String,
            _ => {
                self.rest = before;
                return self.literal().map(Atom::Is);
            }
        };
        Ok(Atom::Type(kind))
    }

    fn word(&mut self) -> &'a str {
        self.skip();
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic());
        let (word, rest) = self
            .rest
            .split_at_checked(end.unwrap_or(self.rest.len()))
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        word
    }

    fn literal(&mut self) -> Result<Value, String> {
        self.skip();
        if self.rest.starts_with('"') {
            // A CUE string without interpolation is a JSON string, and serde_json finds its end.
            let mut strings = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
            let text = match strings.next() {
                Some(Ok(text)) => text,
                _ => return Err("a string is not closed in the constraint".to_owned()),
            };
            let end = strings.byte_offset();
            self.rest = self.rest.get(end..).unwrap_or("");
            return Ok(Value::string(text));
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_')));
        let (token, rest) = self
            .rest
            .split_at_checked(end.unwrap_or(self.rest.len()))
            .unwrap_or((self.rest, ""));
        let value = match token {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ if serde_json::from_str::<serde_json::Number>(token).is_ok() => {
                Value::Number(token.into(), !token.contains(['.', 'e', 'E']))
            }
            "" => return Err("a value is missing in the constraint".to_owned()),
            _ => return Err(format!("`{token}` is no value, type or bound")),
        };
        self.rest = rest;
        Ok(value)
    }
}

fn one_or(mut parts: Vec<Expr>, many: fn(Vec<Expr>) -> Expr) -> Expr {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            many(parts)
        }
        (None, _) => Expr::Any,
    }
}
