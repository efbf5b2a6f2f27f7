//! Host names and ports.

use super::super::call::fatal;
use super::super::{Args, Error, Value};
use super::ip;

pub(super) fn split_host_port(args: Args<'_>) -> Result<Value, Error> {
    let text = args.str(0)?;
    let error = |reason: &str| {
        fatal(if text.is_empty() {
            reason.to_owned()
        } else {
            format!("address {text}: {reason}")
        })
    };
    let Some((before, port)) = text.rsplit_once(':') else {
        return Err(error("missing port in address"));
    };
    let host = if let Some(bracketed) = text.strip_prefix('[') {
        let Some((host, behind)) = bracketed.split_once(']') else {
            return Err(error("missing ']' in address"));
        };
        if behind.is_empty() {
            return Err(error("missing port in address"));
        }
        if behind.len() != port.len() + 1 {
            return Err(error(if behind.starts_with(':') {
                "too many colons in address"
            } else {
                "missing port in address"
            }));
        }
        if host.contains('[') || port.contains('[') {
            return Err(error("unexpected '[' in address"));
        }
        if port.contains(']') {
            return Err(error("unexpected ']' in address"));
        }
        host
    } else {
        if before.contains(':') {
            return Err(error("too many colons in address"));
        }
        if text.contains('[') {
            return Err(error("unexpected '[' in address"));
        }
        if text.contains(']') {
            return Err(error("unexpected ']' in address"));
        }
        before
    };
    Ok(Value::strings([host, port]))
}

pub(super) fn join_host_port(args: Args<'_>) -> Result<Value, Error> {
    let host = match args.value(0) {
        list @ Value::List(items) => ip::address(list)
            .map_err(|_| {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                fatal(format!("invalid host [{}]", items.join(", ")))
            })?
            .to_string(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::String(text) => text.clone(),
        other => return Err(unusable(other, "string")),
    };
    let port = match args.value(1) {
        Value::String(text) => text.clone(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Num(num) if num.is_int() => num.to_string(),
        other => return Err(unusable(other, "int")),
    };
    // A colon in the host would be read as the port's.
    Ok(if host.contains(':') {
        format!("[{host}]:{port}").into()
    } else {
        format!("{host}:{port}").into()
    })
}

fn unusable(value: &Value, wanted: &str) -> Error {
    fatal(format!(
        "cannot use value {value} (type {}) as {wanted}",
        value.kinds()
    ))
}

/// A domain name of letters, digits and inner hyphens; a dot at the end is allowed.
pub(super) fn fqdn(args: Args<'_>) -> Result<Value, Error> {
    let text = args.str(0)?;
    let name = text.strip_suffix('.').unwrap_or(text);
    let name = name.trim_start_matches('.');
    let plain = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
            && (label.get(2..4) != Some("--") || label.to_ascii_lowercase().starts_with("xn--"))
    };
    let whole = (1..=253).contains(&name.len());
    Ok((whole && name.split('.').all(plain)).into())
}
