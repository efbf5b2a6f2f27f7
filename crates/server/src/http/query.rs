//! The target of a request, read strictly: what could be read in two ways is an error.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::problem::Problem;

/// Names and what they stand for, in the order in which they were given.
pub type Query<'q> = SmallVec<[(Cow<'q, str>, Cow<'q, str>); 4]>;
/// The parts of a path by the names that its pattern gives them.
pub type Parts<'p> = SmallVec<[(&'static str, Cow<'p, str>); 2]>;

/// How many names a query may hold.
const MOST: usize = 32;
const LONGEST_PART: usize = 1_024;

/// The parts of a path, unescaped.
pub fn decoded<'p>(parts: SmallVec<[(&'static str, &'p str); 2]>) -> Result<Parts<'p>, Problem> {
    let decode = |(name, text): (&'static str, &'p str)| {
        let text = unescape(text).filter(|text| !text.is_empty() && text.len() <= LONGEST_PART);
        let text = text.filter(|text| !has_control(text));
        text.map(|text| (name, text))
            .ok_or_else(|| Problem::bad("a part of the path cannot be read"))
    };
    parts.into_iter().map(decode).collect()
}

/// The query's names and values; a name given twice is an error, so that no two readers can differ.
pub fn query(text: &str) -> Result<Query<'_>, Problem> {
    let mut all = Query::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(name), Some(value)) = (form(name), form(value)) else {
            return Err(Problem::bad("the query cannot be read"));
        };
        if has_control(&value) || all.len() >= MOST {
            return Err(Problem::bad("the query cannot be read"));
        }
        if all.iter().any(|(known, _)| *known == name) {
            return Err(Problem::bad("the query gives a name twice"));
        }
        // An empty value is none: forms send those.
        if !value.is_empty() {
            all.push((name, value));
        }
    }
    Ok(all)
}

fn has_control(text: &str) -> bool {
    match text.is_ascii() {
        true => text.bytes().any(|byte| byte.is_ascii_control()),
        false => text.chars().any(char::is_control),
    }
}

/// As forms write it: `+` is a space.
fn form(text: &str) -> Option<Cow<'_, str>> {
    match text.contains('+') {
        true => unescape(&text.replace('+', "%20")).map(|text| Cow::Owned(text.into_owned())),
        false => unescape(text),
    }
}

/// Percent escapes undone; none if it is not UTF-8 then.
fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_strictly() {
        let read = query("tenant=a%2Fb&key=x+y&user=").unwrap();
        let read: Vec<(&str, &str)> = read.iter().map(|(n, v)| (&**n, &**v)).collect();
        assert_eq!(read, [("tenant", "a/b"), ("key", "x y")]);
        for bad in ["a=%", "a=%zz", "a=%ff", "a=1&a=2", "a=%00", "a=%C2%85"] {
            assert!(query(bad).is_err(), "{bad}");
        }
        let many: Vec<String> = (0..40).map(|n| format!("n{n}=1")).collect();
        assert!(query(&many.join("&")).is_err());
    }
}
