//! Paths to values, as people write them: `resources.limits.memory`, `tolerations[1].key`,
//! `labels."app.kubernetes.io/name"`.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    Key(String),
    Index(usize),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<Segment>);

impl Path {
    pub fn root() -> Path {
        Path::default()
    }

    pub fn key(&self, name: impl Into<String>) -> Path {
        let mut path = self.clone();
        path.0.push(Segment::Key(name.into()));
        path
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this path is the other one or lies below it.
    pub fn starts_with(&self, other: &Path) -> bool {
        self.0.starts_with(&other.0)
    }

    /// Reads a path. The error says what is wrong, for the user.
    pub fn parse(text: &str) -> Result<Path, String> {
        let mut segments = Vec::new();
        let mut rest = text;
        let mut first = true;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let Some((index, after)) = inner.split_once(']') else {
                    return Err(format!("`[` is not closed in the path `{text}`"));
                };
                match index.parse() {
                    Ok(index) => segments.push(Segment::Index(index)),
                    Err(_) => {
                        return Err(format!("`[{index}]` is no list index in the path `{text}`"));
                    }
                }
                rest = after;
            } else {
                if !first {
                    rest = rest.strip_prefix('.').ok_or_else(|| {
                        format!("a `.` is missing before `{rest}` in the path `{text}`")
                    })?;
                }
                let (name, after) = step(rest, text)?;
                segments.push(Segment::Key(name));
                rest = after;
            }
            first = false;
        }
        Ok(Path(segments))
    }
}

/// One name at the start of `rest`: quoted, or up to the next `.` or `[`.
fn step<'a>(rest: &'a str, whole: &str) -> Result<(String, &'a str), String> {
    if let Some(inner) = rest.strip_prefix('"') {
        let mut name = String::new();
        let mut chars = inner.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return Ok((name, inner.get(at + 1..).unwrap_or(""))),
                '\\' => match chars.next() {
                    Some((_, escaped @ ('"' | '\\'))) => name.push(escaped),
                    _ => {
                        return Err(format!(
                            "only `\\\"` and `\\\\` are escapes in the path `{whole}`"
                        ));
                    }
                },
                _ => name.push(c),
            }
        }
        return Err(format!("a quote is not closed in the path `{whole}`"));
    }
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if name.is_empty() {
        return Err(format!("a name is empty in the path `{whole}`"));
    }
    Ok((name.to_owned(), after))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(name) => {
                    if at > 0 {
                        f.write_str(".")?;
                    }
                    write_key(f, name)?;
                }
            }
        }
        Ok(())
    }
}

/// Writes one name of a path, in quotes when it would not be read back bare.
pub fn write_key(f: &mut impl fmt::Write, name: &str) -> fmt::Result {
    let bare =
        !name.is_empty() && !name.contains(['.', '[', ']', '"', '\\', ' ', '\t', '\n', '\r', '=']);
    if bare {
        return f.write_str(name);
    }
    f.write_char('"')?;
    for c in name.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        for text in [
            "a",
            "a.b.c",
            "a[0].b",
            "[1][2]",
            r#"labels."app.kubernetes.io/name""#,
            r#"a."b\"c\\""#,
        ] {
            assert_eq!(Path::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Path::parse("").unwrap(), Path::root());
    }

    #[test]
    fn wrong_paths_are_explained() {
        for (text, want) in [
            ("a..b", "empty"),
            ("a[x]", "no list index"),
            ("a[1", "not closed"),
            ("\"a", "not closed"),
            ("\"a\"b", "`.` is missing"),
            ("a.", ""),
        ] {
            match Path::parse(text) {
                Err(message) => assert!(message.contains(want), "{text}: {message}"),
                Ok(path) => assert_eq!((text, path.to_string().as_str()), ("a.", "a")),
            }
        }
    }
}
