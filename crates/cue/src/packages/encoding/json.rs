//! Package `encoding/json`. `Compact` and `Indent` work on the text, so that numbers and escapes stay as they are written.

use data::Format;
use data::write::Json;

use super::super::call::{as_list, fatal};
use super::super::member::{ANY, DATA, STRING, TEXT, function, special};
use super::super::{Args, Error, Kinds, Package, Special, Value};
use super::plain;

pub(in super::super) const PACKAGE: Package = Package {
    path: "encoding/json",
    cue: None,
    members: &[
        function("Valid", &[TEXT], Kinds::BOOL, |args| {
            Ok(plain::parse(Format::Json, &args.text(0)?)
                .is_ok_and(|documents| documents.len() == 1)
                .into())
        }),
        function("Compact", &[TEXT], Kinds::STRING, compact),
        function("Indent", &[TEXT, STRING, STRING], Kinds::STRING, indent),
        function("HTMLEscape", &[TEXT], Kinds::STRING, html_escape),
        function("Marshal", &[DATA], Kinds::STRING, |args| {
            Ok(marshal(args.value(0))?.into())
        }),
        function("MarshalStream", &[DATA], Kinds::STRING, marshal_stream),
        function("UnmarshalStream", &[TEXT], Kinds::TOP, unmarshal_stream),
        function("Unmarshal", &[TEXT], Kinds::TOP, unmarshal),
        special("Validate", &[TEXT, ANY], Kinds::BOOL, Special::JsonValidate),
    ],
};

fn invalid() -> Error {
    fatal("json: invalid JSON")
}

/// A value as compact JSON.
pub(crate) fn marshal(value: &Value) -> Result<String, Error> {
    let mut json = Json::compact();
    plain::write(&mut json, value)?;
    Ok(json.finish())
}

fn marshal_stream(args: Args<'_>) -> Result<Value, Error> {
    let mut out = String::new();
    for item in as_list(args.value(0))? {
        out.push_str(&marshal(item)?);
        out.push('\n');
    }
    Ok(out.into())
}

fn unmarshal(args: Args<'_>) -> Result<Value, Error> {
    let documents = plain::parse(Format::Json, &args.text(0)?).map_err(|_| invalid())?;
    documents.into_iter().next().ok_or_else(invalid)
}

fn unmarshal_stream(args: Args<'_>) -> Result<Value, Error> {
    plain::parse(Format::JsonLines, &args.text(0)?)
        .map(Value::List)
        .map_err(|error| fatal(format!("invalid JSON: {}", error.message)))
}

/// The text, if it is one JSON value.
fn checked(args: Args<'_>) -> Result<String, Error> {
    let text = args.text(0)?;
    plain::parse(Format::Json, &text).map_err(|error| fatal(error.message))?;
    Ok(text.into_owned())
}

/// Punctuation, literals and whole strings; white space is dropped.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.bytes().next() {
        let end = match first {
            b'"' => {
                let mut escaped = false;
                rest.bytes()
                    .skip(1)
                    .position(|b| {
                        let ends = b == b'"' && !escaped;
                        escaped = b == b'\\' && !escaped;
                        ends
                    })
                    .map_or(rest.len(), |at| at + 2)
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => rest
                .find(|c: char| c.is_ascii_whitespace() || "{}[],:\"".contains(c))
                .unwrap_or(rest.len()),
        };
        let (token, tail) = rest.split_at(end);
        tokens.push(token);
        rest = tail.trim_start();
    }
    tokens
}

fn compact(args: Args<'_>) -> Result<Value, Error> {
    Ok(tokens(&checked(args)?).concat().into())
}

fn indent(args: Args<'_>) -> Result<Value, Error> {
    let text = checked(args)?;
    let (prefix, step) = (args.str(1)?, args.str(2)?);
    let mut out = String::new();
    let mut depth = 0usize;
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(prefix);
        out.push_str(&step.repeat(depth));
    };
    let mut empty = false;
    for token in tokens(&text) {
        match token {
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                if !empty {
                    line(&mut out, depth);
                }
                empty = false;
                out.push_str(token);
                continue;
            }
            "," => {
                out.push(',');
                line(&mut out, depth);
                continue;
            }
            ":" => {
                out.push_str(": ");
                continue;
            }
            _ => {}
        }
        if std::mem::take(&mut empty) {
            line(&mut out, depth);
        }
        out.push_str(token);
        if matches!(token, "{" | "[") {
            depth += 1;
            empty = true;
        }
        if out.len() > super::super::MAX_RESULT {
            return Err(fatal("result is too long"));
        }
    }
    Ok(out.into())
}

fn html_escape(args: Args<'_>) -> Result<Value, Error> {
    let mut out = String::new();
    for c in args.text(0)?.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    Ok(out.into())
}
