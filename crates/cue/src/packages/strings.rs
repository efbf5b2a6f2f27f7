//! Package `strings`. Indices and lengths are in bytes, as in Go, where a name does not say runes.

use super::call::fatal;
use super::member::{INT, LIST, STRING, TEXT, function};
use super::{Args, Error, Kinds, MAX_REPEAT, MAX_RESULT, Package, Value};

pub(super) const PACKAGE: Package = Package {
    path: "strings",
    cue: None,
    members: &[
        function("ByteAt", &[TEXT, INT], Kinds::INT, byte_at),
        function("ByteSlice", &[TEXT, INT, INT], Kinds::TEXT, byte_slice),
        function("Runes", &[STRING], Kinds::LIST, runes),
        function("Repeat", &[STRING, INT], Kinds::STRING, repeat),
        function("MinRunes", &[STRING, INT], Kinds::BOOL, min_runes),
        function("MaxRunes", &[STRING, INT], Kinds::BOOL, max_runes),
        function("ToTitle", &[STRING], Kinds::STRING, to_title),
        function("ToCamel", &[STRING], Kinds::STRING, to_camel),
        function(
            "SliceRunes",
            &[STRING, INT, INT],
            Kinds::STRING,
            slice_runes,
        ),
        function("Compare", &[STRING, STRING], Kinds::INT, compare),
        function("Count", &[STRING, STRING], Kinds::INT, count),
        function("Contains", &[STRING, STRING], Kinds::BOOL, contains),
        function("ContainsAny", &[STRING, STRING], Kinds::BOOL, contains_any),
        function("LastIndex", &[STRING, STRING], Kinds::INT, last_index),
        function("IndexAny", &[STRING, STRING], Kinds::INT, index_any),
        function(
            "LastIndexAny",
            &[STRING, STRING],
            Kinds::INT,
            last_index_any,
        ),
        function("SplitN", &[STRING, STRING, INT], Kinds::LIST, split_n),
        function(
            "SplitAfterN",
            &[STRING, STRING, INT],
            Kinds::LIST,
            split_after_n,
        ),
        function("Split", &[STRING, STRING], Kinds::LIST, split),
        function("SplitAfter", &[STRING, STRING], Kinds::LIST, split_after),
        function("Fields", &[STRING], Kinds::LIST, fields),
        function("Join", &[LIST, STRING], Kinds::STRING, join),
        function("HasPrefix", &[STRING, STRING], Kinds::BOOL, has_prefix),
        function("HasSuffix", &[STRING, STRING], Kinds::BOOL, has_suffix),
        function("ToUpper", &[STRING], Kinds::STRING, to_upper),
        function("ToLower", &[STRING], Kinds::STRING, to_lower),
        function("Trim", &[STRING, STRING], Kinds::STRING, trim),
        function("TrimLeft", &[STRING, STRING], Kinds::STRING, trim_left),
        function("TrimRight", &[STRING, STRING], Kinds::STRING, trim_right),
        function("TrimSpace", &[STRING], Kinds::STRING, trim_space),
        function("TrimPrefix", &[STRING, STRING], Kinds::STRING, trim_prefix),
        function("TrimSuffix", &[STRING, STRING], Kinds::STRING, trim_suffix),
        function(
            "Replace",
            &[STRING, STRING, STRING, INT],
            Kinds::STRING,
            replace,
        ),
        function("Index", &[STRING, STRING], Kinds::INT, index),
    ],
};

fn out_of_range() -> Error {
    fatal("index out of range")
}

fn bounds(args: Args<'_>) -> Result<(usize, usize), Error> {
    let start = usize::try_from(args.int(1)?).map_err(|_| out_of_range())?;
    let end = usize::try_from(args.int(2)?).map_err(|_| out_of_range())?;
    Ok((start, end))
}

fn byte_at(args: Args<'_>) -> Result<Value, Error> {
    usize::try_from(args.int(1)?)
        .ok()
        .and_then(|i| args.bytes(0).ok()?.get(i))
        .map(|byte| Value::int(*byte))
        .ok_or_else(out_of_range)
}

fn byte_slice(args: Args<'_>) -> Result<Value, Error> {
    let (start, end) = bounds(args)?;
    args.bytes(0)?
        .get(start..end)
        .map(|bytes| Value::Bytes(bytes.to_vec()))
        .ok_or_else(out_of_range)
}

fn runes(args: Args<'_>) -> Result<Value, Error> {
    let codes = args.str(0)?.chars().map(|c| Value::int(u32::from(c)));
    Ok(Value::List(codes.collect()))
}

fn slice_runes(args: Args<'_>) -> Result<Value, Error> {
    let (start, end) = bounds(args)?;
    let text = args.str(0)?;
    if start > end || end > text.chars().count() {
        return Err(out_of_range());
    }
    let part: String = text.chars().skip(start).take(end - start).collect();
    Ok(part.into())
}

fn repeat(args: Args<'_>) -> Result<Value, Error> {
    let (text, count) = (args.str(0)?, args.int(1)?);
    if count < 0 {
        return Err(fatal("negative count"));
    }
    if count > MAX_REPEAT {
        return Err(fatal(format!(
            "count {count} exceeds limit of {MAX_REPEAT}"
        )));
    }
    let count = usize::try_from(count).unwrap_or(0);
    if text.len().saturating_mul(count) > MAX_RESULT {
        return Err(fatal("result is too long"));
    }
    Ok(text.repeat(count).into())
}

fn rune_count(args: Args<'_>) -> Result<i64, Error> {
    Ok(i64::try_from(args.str(0)?.chars().count()).unwrap_or(i64::MAX))
}

fn min_runes(args: Args<'_>) -> Result<Value, Error> {
    Ok((rune_count(args)? >= args.int(1)?).into())
}

fn max_runes(args: Args<'_>) -> Result<Value, Error> {
    Ok((rune_count(args)? <= args.int(1)?).into())
}

fn to_title(args: Args<'_>) -> Result<Value, Error> {
    Ok(map_word_starts(args.str(0)?, title).into())
}

fn to_camel(args: Args<'_>) -> Result<Value, Error> {
    Ok(map_word_starts(args.str(0)?, lower).into())
}

fn map_word_starts(text: &str, change: fn(char) -> char) -> String {
    let mut after_space = true;
    text.chars()
        .map(|c| {
            let mapped = if after_space { change(c) } else { c };
            after_space = is_space(c);
            mapped
        })
        .collect()
}

/// Go maps rune by rune: a character whose other case is several stays as it is.
fn single(mut mapped: impl Iterator<Item = char>, original: char) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => original,
    }
}

fn upper(c: char) -> char {
    single(c.to_uppercase(), c)
}

fn lower(c: char) -> char {
    if c == 'İ' {
        return 'i';
    }
    single(c.to_lowercase(), c)
}

/// Title case differs from upper case for the few digraphs only.
fn title(c: char) -> char {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => 'ǅ',
        'Ǉ' | 'ǈ' | 'ǉ' => 'ǈ',
        'Ǌ' | 'ǋ' | 'ǌ' => 'ǋ',
        'Ǳ' | 'ǲ' | 'ǳ' => 'ǲ',
        _ => upper(c),
    }
}

fn to_upper(args: Args<'_>) -> Result<Value, Error> {
    Ok(args.str(0)?.chars().map(upper).collect::<String>().into())
}

fn to_lower(args: Args<'_>) -> Result<Value, Error> {
    Ok(args.str(0)?.chars().map(lower).collect::<String>().into())
}

/// Unicode white space; Go's and Rust's sets are the same.
fn is_space(c: char) -> bool {
    c.is_whitespace()
}

fn compare(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::int(args.str(0)?.cmp(args.str(1)?) as i8))
}

fn count(args: Args<'_>) -> Result<Value, Error> {
    let (text, part) = (args.str(0)?, args.str(1)?);
    let count = match part {
        "" => text.chars().count() + 1,
        _ => text.matches(part).count(),
    };
    Ok(Value::int(count))
}

fn contains(args: Args<'_>) -> Result<Value, Error> {
    Ok(args.str(0)?.contains(args.str(1)?).into())
}

fn contains_any(args: Args<'_>) -> Result<Value, Error> {
    let (text, chars) = (args.str(0)?, args.str(1)?);
    Ok(text.contains(|c| chars.contains(c)).into())
}

fn place(at: Option<usize>) -> Value {
    at.map_or_else(|| Value::int(-1), Value::int)
}

fn index(args: Args<'_>) -> Result<Value, Error> {
    Ok(place(args.str(0)?.find(args.str(1)?)))
}

fn last_index(args: Args<'_>) -> Result<Value, Error> {
    Ok(place(args.str(0)?.rfind(args.str(1)?)))
}

fn index_any(args: Args<'_>) -> Result<Value, Error> {
    let (text, chars) = (args.str(0)?, args.str(1)?);
    Ok(place(text.find(|c| chars.contains(c))))
}

fn last_index_any(args: Args<'_>) -> Result<Value, Error> {
    let (text, chars) = (args.str(0)?, args.str(1)?);
    Ok(place(text.rfind(|c| chars.contains(c))))
}

/// Pieces of the text, each with its separator if `keep`; at most `limit`, all if it is negative.
fn pieces<'a>(text: &'a str, separator: &str, keep: bool, limit: i64) -> Vec<&'a str> {
    if limit == 0 {
        return Vec::new();
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut rest = text;
    while parts.len() + 1 < limit {
        let found = if separator.is_empty() {
            // Between any two characters; the last one is the rest.
            let mut ends = rest.char_indices().skip(1);
            ends.next().map(|(at, _)| (at, at))
        } else {
            rest.find(separator).map(|at| (at, at + separator.len()))
        };
        let Some((end, next)) = found else { break };
        let (head, tail) = rest.split_at(next);
        parts.push(if keep { head } else { rest.split_at(end).0 });
        rest = tail;
    }
    if !(separator.is_empty() && rest.is_empty()) {
        parts.push(rest);
    }
    parts
}

fn split_n(args: Args<'_>) -> Result<Value, Error> {
    let parts = pieces(args.str(0)?, args.str(1)?, false, args.int(2)?);
    Ok(Value::strings(parts))
}

fn split_after_n(args: Args<'_>) -> Result<Value, Error> {
    let parts = pieces(args.str(0)?, args.str(1)?, true, args.int(2)?);
    Ok(Value::strings(parts))
}

fn split(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::strings(pieces(
        args.str(0)?,
        args.str(1)?,
        false,
        -1,
    )))
}

fn split_after(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::strings(pieces(args.str(0)?, args.str(1)?, true, -1)))
}

fn fields(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::strings(args.str(0)?.split_whitespace()))
}

fn join(args: Args<'_>) -> Result<Value, Error> {
    Ok(args.strings(0)?.join(args.str(1)?).into())
}

fn has_prefix(args: Args<'_>) -> Result<Value, Error> {
    Ok(args.str(0)?.starts_with(args.str(1)?).into())
}

fn has_suffix(args: Args<'_>) -> Result<Value, Error> {
    Ok(args.str(0)?.ends_with(args.str(1)?).into())
}

fn trim(args: Args<'_>) -> Result<Value, Error> {
    let (text, set) = (args.str(0)?, args.str(1)?);
    Ok(Value::string(text.trim_matches(|c| set.contains(c))))
}

fn trim_left(args: Args<'_>) -> Result<Value, Error> {
    let (text, set) = (args.str(0)?, args.str(1)?);
    Ok(Value::string(text.trim_start_matches(|c| set.contains(c))))
}

fn trim_right(args: Args<'_>) -> Result<Value, Error> {
    let (text, set) = (args.str(0)?, args.str(1)?);
    Ok(Value::string(text.trim_end_matches(|c| set.contains(c))))
}

fn trim_space(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::string(args.str(0)?.trim()))
}

fn trim_prefix(args: Args<'_>) -> Result<Value, Error> {
    let text = args.str(0)?;
    Ok(Value::string(
        text.strip_prefix(args.str(1)?).unwrap_or(text),
    ))
}

fn trim_suffix(args: Args<'_>) -> Result<Value, Error> {
    let text = args.str(0)?;
    Ok(Value::string(
        text.strip_suffix(args.str(1)?).unwrap_or(text),
    ))
}

fn replace(args: Args<'_>) -> Result<Value, Error> {
    let (text, old, new, n) = (args.str(0)?, args.str(1)?, args.str(2)?, args.int(3)?);
    let limit = usize::try_from(n).unwrap_or(usize::MAX);
    let matches = if old.is_empty() {
        text.chars().count() + 1
    } else {
        text.matches(old).count()
    };
    let growth = matches.min(limit).saturating_mul(new.len());
    if growth.saturating_add(text.len()) > MAX_RESULT {
        return Err(fatal("result is too long"));
    }
    Ok(text.replacen(old, new, limit).into())
}
