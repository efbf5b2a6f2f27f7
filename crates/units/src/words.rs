//! Values that are lists of words: split at white space, with quotes and escapes, as systemd and
//! Quadlet do.
//!
//! Enough to find the units, paths and variables that a value names. The text itself is passed on
//! untouched, so nothing depends on the rarer escapes.

/// Splits a value into words. A quote that is not closed runs to the end.
pub fn words(value: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            ('\\', open) => {
                let word = word.get_or_insert_default();
                match (chars.next(), open) {
                    (Some(escaped), _) => word.push(unescape(escaped)),
                    (None, _) => word.push('\\'),
                }
            }
            (_, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (_, None) if c.is_ascii_whitespace() => all.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

fn unescape(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        's' => ' ',
        other => other,
    }
}

/// Takes one pair of double quotes off, as Quadlet does with single values.
pub fn unquoted(value: &str) -> &str {
    let inner = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    inner.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_quotes_and_escapes() {
        assert_eq!(words(" a  b\tc "), ["a", "b", "c"]);
        assert_eq!(words(r#""A=b c" 'd e' f\sg"#), ["A=b c", "d e", "f g"]);
        assert_eq!(words(r#"X="y z"w"#), ["X=y zw"]);
        assert_eq!(words(r#"'open"#), ["open"]);
        assert_eq!(words("''"), [""]);
        assert!(words("  ").is_empty());
        assert_eq!(unquoted("\"a\""), "a");
        assert_eq!(unquoted("\"a"), "\"a");
    }
}
