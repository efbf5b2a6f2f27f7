//! Package `regexp`.

use super::call::fatal;
use super::member::{INT, STRING, function};
use super::{Args, Error, Kinds, MAX_RESULT, Package, Value};
use crate::regex::{Range, Regex};

pub(super) const PACKAGE: Package = Package {
    path: "regexp",
    cue: None,
    members: &[
        function("Find", &[STRING, STRING], Kinds::STRING, find),
        function("FindAll", &[STRING, STRING, INT], Kinds::LIST, find_all),
        function(
            "FindAllNamedSubmatch",
            &[STRING, STRING, INT],
            Kinds::LIST,
            find_all_named,
        ),
        function(
            "FindAllSubmatch",
            &[STRING, STRING, INT],
            Kinds::LIST,
            find_all_submatch,
        ),
        function(
            "FindNamedSubmatch",
            &[STRING, STRING],
            Kinds::STRUCT,
            find_named,
        ),
        function(
            "FindSubmatch",
            &[STRING, STRING],
            Kinds::LIST,
            find_submatch,
        ),
        function(
            "ReplaceAll",
            &[STRING, STRING, STRING],
            Kinds::STRING,
            replace_all,
        ),
        function(
            "ReplaceAllLiteral",
            &[STRING, STRING, STRING],
            Kinds::STRING,
            replace_all_literal,
        ),
        function("Valid", &[STRING], Kinds::BOOL, valid),
        function("Match", &[STRING, STRING], Kinds::BOOL, is_match),
        function("QuoteMeta", &[STRING], Kinds::STRING, quote_meta),
    ],
};

type Groups = Vec<Option<Range>>;

fn compile(args: Args<'_>) -> Result<Regex, Error> {
    Regex::new(args.str(0)?).map_err(|error| fatal(error.to_string()))
}

fn first(regex: &Regex, text: &str) -> Result<Groups, Error> {
    regex.captures(text).ok_or_else(|| fatal("no match"))
}

fn every(regex: &Regex, args: Args<'_>) -> Result<Vec<Groups>, Error> {
    let limit = usize::try_from(args.int(2)?).ok();
    let all = regex.captures_all(args.str(1)?, limit);
    if all.is_empty() {
        return Err(fatal("no match"));
    }
    Ok(all)
}

/// A group that took no part is an empty string.
fn part(text: &str, range: Option<Range>) -> &str {
    range
        .and_then(|(start, end)| text.get(start..end))
        .unwrap_or("")
}

fn parts(text: &str, groups: &Groups) -> Value {
    Value::strings(groups.iter().map(|range| part(text, *range)))
}

fn named(regex: &Regex, text: &str, groups: &Groups) -> Value {
    let mut fields: Vec<(String, Value)> = regex
        .names()
        .iter()
        .zip(groups)
        .filter_map(|(name, range)| Some((name.clone()?, Value::string(part(text, *range)))))
        .collect();
    // The reference builds a map, which comes out sorted.
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Value::Struct(fields)
}

fn find(args: Args<'_>) -> Result<Value, Error> {
    let (regex, text) = (compile(args)?, args.str(1)?);
    let groups = first(&regex, text)?;
    Ok(Value::string(part(text, groups.first().copied().flatten())))
}

fn find_all(args: Args<'_>) -> Result<Value, Error> {
    let (regex, text) = (compile(args)?, args.str(1)?);
    let all = every(&regex, args)?;
    let whole = |groups: &Groups| part(text, groups.first().copied().flatten());
    Ok(Value::strings(all.iter().map(whole)))
}

fn find_all_named(args: Args<'_>) -> Result<Value, Error> {
    let (regex, text) = (compile(args)?, args.str(1)?);
    let all = every(&regex, args)?;
    Ok(Value::List(
        all.iter()
            .map(|groups| named(&regex, text, groups))
            .collect(),
    ))
}

fn find_all_submatch(args: Args<'_>) -> Result<Value, Error> {
    let (regex, text) = (compile(args)?, args.str(1)?);
    let all = every(&regex, args)?;
    Ok(Value::List(
        all.iter().map(|groups| parts(text, groups)).collect(),
    ))
}

fn find_named(args: Args<'_>) -> Result<Value, Error> {
    let (regex, text) = (compile(args)?, args.str(1)?);
    Ok(named(&regex, text, &first(&regex, text)?))
}

fn find_submatch(args: Args<'_>) -> Result<Value, Error> {
    let (regex, text) = (compile(args)?, args.str(1)?);
    Ok(parts(text, &first(&regex, text)?))
}

fn replace_all(args: Args<'_>) -> Result<Value, Error> {
    let template = args.str(2)?;
    replace(args, |regex, text, groups, out| {
        expand(template, regex, text, groups, out);
    })
}

fn replace_all_literal(args: Args<'_>) -> Result<Value, Error> {
    let literal = args.str(2)?;
    replace(args, |_, _, _, out| out.push_str(literal))
}

fn replace(
    args: Args<'_>,
    write: impl Fn(&Regex, &str, &Groups, &mut String),
) -> Result<Value, Error> {
    let (regex, text) = (compile(args)?, args.str(1)?);
    let mut out = String::with_capacity(text.len());
    let mut last = 0;
    for groups in regex.captures_all(text, None) {
        let Some((start, end)) = groups.first().copied().flatten() else {
            continue;
        };
        out.push_str(part(text, Some((last, start))));
        write(&regex, text, &groups, &mut out);
        last = end;
        if out.len() > MAX_RESULT {
            return Err(fatal("result is too long"));
        }
    }
    out.push_str(text.get(last..).unwrap_or(""));
    Ok(out.into())
}

/// Go's templates: `$1`, `${1}`, `$name`, `${name}`, `$$`. An unbraced name is as long as it can be.
fn expand(template: &str, regex: &Regex, text: &str, groups: &Groups, out: &mut String) {
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let after = after.strip_prefix('$').unwrap_or("");
        if let Some(tail) = after.strip_prefix('$') {
            out.push('$');
            rest = tail;
            continue;
        }
        let Some((name, tail)) = reference(after) else {
            out.push('$');
            rest = after;
            continue;
        };
        let number = match name.parse::<usize>() {
            Ok(number) => Some(number),
            Err(_) => regex
                .names()
                .iter()
                .position(|known| known.as_deref() == Some(name)),
        };
        if let Some(range) = number.and_then(|number| groups.get(number)) {
            out.push_str(part(text, *range));
        }
        rest = tail;
    }
    out.push_str(rest);
}

fn reference(text: &str) -> Option<(&str, &str)> {
    let word = |c: char| c == '_' || c.is_alphanumeric();
    if let Some(braced) = text.strip_prefix('{') {
        let (name, tail) = braced.split_once('}')?;
        return (!name.is_empty() && name.chars().all(word)).then_some((name, tail));
    }
    let end = text.find(|c| !word(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn valid(args: Args<'_>) -> Result<Value, Error> {
    compile(args).map(|_| true.into())
}

fn is_match(args: Args<'_>) -> Result<Value, Error> {
    Ok(compile(args)?.is_match(args.str(1)?).into())
}

fn quote_meta(args: Args<'_>) -> Result<Value, Error> {
    let mut out = String::new();
    for c in args.str(0)?.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    Ok(out.into())
}
