//! Shell patterns for file names: `*` and `?` do not match the separator, `[a-z]` and `[^a-z]` match one character.

enum Token {
    Star,
    Any,
    Literal(char),
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

const BAD: &str = "syntax error in pattern";

/// Whether the whole name matches. `escapes` says that a backslash takes the next character literally.
pub(crate) fn matches(
    pattern: &str,
    name: &str,
    separator: char,
    escapes: bool,
) -> Result<bool, &'static str> {
    let tokens = parse(pattern, escapes)?;
    let name: Vec<char> = name.chars().collect();
    // `reach[i]`: the tokens so far match the first `i` characters.
    let mut reach = vec![false; name.len() + 1];
    if let Some(start) = reach.first_mut() {
        *start = true;
    }
    for token in &tokens {
        let mut next = vec![false; name.len() + 1];
        if matches!(token, Token::Star)
            && let (Some(to), Some(from)) = (next.first_mut(), reach.first())
        {
            *to = *from;
        }
        let mut before = next.first().copied().unwrap_or(false);
        for ((c, from), slot) in name
            .iter()
            .zip(reach.windows(2))
            .zip(next.iter_mut().skip(1))
        {
            let (here, there) = match from {
                [here, there] => (*here, *there),
                _ => (false, false),
            };
            *slot = match token {
                Token::Star => there || before && *c != separator,
                Token::Any => here && *c != separator,
                Token::Literal(literal) => here && c == literal,
                Token::Class { negated, ranges } => {
                    here && ranges.iter().any(|(low, high)| low <= c && c <= high) != *negated
                }
            };
            before = *slot;
        }
        reach = next;
    }
    Ok(reach.last().copied().unwrap_or(false))
}

fn parse(pattern: &str, escapes: bool) -> Result<Vec<Token>, &'static str> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '*' if chars.peek() == Some(&'*') => {
                return Err("'**' is not supported in patterns as of yet");
            }
            '*' => Token::Star,
            '?' => Token::Any,
            '\\' if escapes => Token::Literal(chars.next().ok_or(BAD)?),
            '[' => {
                let negated = chars.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                while ranges.is_empty() || chars.next_if_eq(&']').is_none() {
                    let low = class_char(&mut chars, escapes)?;
                    let high = match chars.next_if_eq(&'-') {
                        Some(_) => class_char(&mut chars, escapes)?,
                        None => low,
                    };
                    ranges.push((low, high));
                }
                Token::Class { negated, ranges }
            }
            c => Token::Literal(c),
        });
    }
    Ok(tokens)
}

fn class_char(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    escapes: bool,
) -> Result<char, &'static str> {
    match chars.next() {
        None | Some('-' | ']') => Err(BAD),
        Some('\\') if escapes => chars.next().ok_or(BAD),
        Some(c) => Ok(c),
    }
}
