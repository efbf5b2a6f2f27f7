//! The predefined functions of templates, except `and` and `or`, which evaluate their arguments as needed.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::super::super::quote::is_print;
use super::super::super::{Value, html};
use super::super::print::{self, type_name};

const NAMES: [&str; 19] = [
    "and", "call", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not", "or",
    "print", "printf", "println", "slice", "urlquery",
];

pub(super) fn exists(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Whether a value counts as true: not null, zero or empty.
pub(super) fn truth(value: &Value) -> bool {
    match value {
        Value::Null | Value::Opaque(_) => false,
        Value::Bool(value) => *value,
        Value::Num(num) => !num.is_zero(),
        Value::String(text) => !text.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Struct(fields) => !fields.is_empty(),
    }
}

pub(super) fn call<'a>(name: &str, args: &[Cow<'a, Value>]) -> Result<Cow<'a, Value>, String> {
    let values: Vec<&Value> = args.iter().map(AsRef::as_ref).collect();
    let expect = |count: usize| {
        if values.len() == count {
            return Ok(());
        }
        Err(format!(
            "wrong number of args for {name}: want {count} got {}",
            values.len()
        ))
    };
    let value = match name {
        "not" => {
            expect(1)?;
            Value::Bool(!values.iter().copied().all(truth))
        }
        "len" => {
            expect(1)?;
            length(values.first().copied().unwrap_or(&Value::Null))?
        }
        "index" => return index(args),
        "slice" => slice(&values)?,
        "print" => print::print(&values).into(),
        "println" => print::println(&values).into(),
        "printf" => match values.split_first() {
            Some((Value::String(format), rest)) => print::printf(format, rest).into(),
            Some((other, _)) => {
                return Err(format!(
                    "wrong type for value; expected string; got {}",
                    type_name(other)
                ));
            }
            None => return Err("wrong number of args for printf: want at least 1 got 0".to_owned()),
        },
        "html" => html::escape(&joined(&values)).into(),
        "js" => js_escape(&joined(&values)).into(),
        "urlquery" => url_query(&joined(&values)).into(),
        "eq" => equal(&values)?.into(),
        "ne" => {
            expect(2)?;
            Value::Bool(!equal(&values)?)
        }
        "lt" => compare(&values)?.is_lt().into(),
        "le" => compare(&values)?.is_le().into(),
        "gt" => compare(&values)?.is_gt().into(),
        "ge" => compare(&values)?.is_ge().into(),
        _ => return Err(format!("{name} of a value that is no function")),
    };
    Ok(Cow::Owned(value))
}

fn joined(values: &[&Value]) -> String {
    match values {
        [Value::String(text)] => text.clone(),
        _ => print::print(values),
    }
}

fn length(value: &Value) -> Result<Value, String> {
    Ok(Value::int(match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len(),
        Value::Struct(fields) => fields.len(),
        Value::Null => return Err("len of nil pointer".to_owned()),
        other => return Err(format!("len of type {}", type_name(other))),
    }))
}

fn place(value: &Value, len: usize) -> Result<usize, String> {
    let Value::Num(num) = value else {
        return Err(format!(
            "cannot index slice/array with type {}",
            type_name(value)
        ));
    };
    num.to_i64()
        .and_then(|n| usize::try_from(n).ok())
        .filter(|n| *n <= len)
        .ok_or_else(|| format!("index out of range: {num}"))
}

fn index<'a>(args: &[Cow<'a, Value>]) -> Result<Cow<'a, Value>, String> {
    let Some((first, keys)) = args.split_first() else {
        return Err("wrong number of args for index: want at least 1 got 0".to_owned());
    };
    let mut item = first.clone();
    for key in keys {
        let found = match item.as_ref() {
            Value::Null => return Err("index of untyped nil".to_owned()),
            Value::List(items) => {
                let at = place(key, items.len())?;
                let found = items.get(at).cloned();
                Some(found.ok_or_else(|| format!("index out of range: {at}"))?)
            }
            Value::String(text) => {
                let at = place(key, text.len())?;
                text.as_bytes().get(at).map(|byte| Value::int(*byte))
            }
            Value::Bytes(bytes) => {
                let at = place(key, bytes.len())?;
                bytes.get(at).map(|byte| Value::int(*byte))
            }
            Value::Struct(fields) => match key.as_ref() {
                Value::String(name) => fields
                    .iter()
                    .find(|(field, _)| field == name)
                    .map(|(_, value)| value.clone()),
                other => {
                    return Err(format!(
                        "value has type {}; should be string",
                        type_name(other)
                    ));
                }
            },
            other => return Err(format!("can't index item of type {}", type_name(other))),
        };
        item = Cow::Owned(found.unwrap_or(Value::Null));
    }
    Ok(item)
}

fn slice(values: &[&Value]) -> Result<Value, String> {
    let Some((item, bounds)) = values.split_first() else {
        return Err("wrong number of args for slice: want at least 1 got 0".to_owned());
    };
    let len = match item {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len(),
        other => return Err(format!("can't slice item of type {}", type_name(other))),
    };
    if bounds.len() > 3 {
        return Err(format!("too many slice indexes: {}", bounds.len()));
    }
    let bound = |at: usize, default: usize| match bounds.get(at) {
        Some(value) => place(value, len),
        None => Ok(default),
    };
    let (from, to) = (bound(0, 0)?, bound(1, len)?);
    if from > to {
        return Err(format!("invalid slice index: {from} > {to}"));
    }
    Ok(match item {
        Value::String(text) => {
            let bytes = text.as_bytes().get(from..to).unwrap_or(&[]);
            Value::string(String::from_utf8_lossy(bytes))
        }
        Value::Bytes(bytes) => Value::Bytes(bytes.get(from..to).unwrap_or(&[]).to_vec()),
        Value::List(items) => Value::List(items.get(from..to).unwrap_or(&[]).to_vec()),
        _ => Value::Null,
    })
}

fn incompatible(a: &Value, b: &Value) -> String {
    format!(
        "incompatible types for comparison: {} and {}",
        type_name(a),
        type_name(b)
    )
}

/// Whether the first equals any of the others.
fn equal(values: &[&Value]) -> Result<bool, String> {
    let Some((first, others)) = values
        .split_first()
        .filter(|(_, others)| !others.is_empty())
    else {
        return Err("missing argument for comparison".to_owned());
    };
    for other in others {
        let same = match (first, other) {
            (Value::Null, _) | (_, Value::Null) => first == other,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::String(a), Value::String(b)) => a == b,
            (Value::Num(a), Value::Num(b)) if a.kind == b.kind => a.compare(b).is_eq(),
            (Value::List(_) | Value::Struct(_) | Value::Bytes(_), _) => {
                return Err(format!("non-comparable type {}", type_name(first)));
            }
            (a, b) => return Err(incompatible(a, b)),
        };
        if same {
            return Ok(true);
        }
    }
    Ok(false)
}

fn compare(values: &[&Value]) -> Result<Ordering, String> {
    match values {
        [Value::String(a), Value::String(b)] => Ok(a.cmp(b)),
        [Value::Num(a), Value::Num(b)] if a.kind == b.kind => Ok(a.compare(b)),
        [Value::Bool(_), Value::Bool(_)] => Err("invalid type for comparison".to_owned()),
        [a, b] => Err(incompatible(a, b)),
        _ => Err(format!("wrong number of args: want 2 got {}", values.len())),
    }
}

pub(super) fn js_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' | '>' | '&' | '=' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c if c < ' ' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c if c.is_ascii() || is_print(c) => out.push(c),
            c => out.push_str(&format!("\\u{:04X}", u32::from(c))),
        }
    }
    out
}

fn url_query(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
