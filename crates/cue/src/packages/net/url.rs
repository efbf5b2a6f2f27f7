//! URLs: escaping of their parts, and the check that one is well formed, with the words of Go's `net/url`.

use super::super::call::fatal;
use super::super::quote::{Keep, quote};
use super::super::{Args, Error, Value};
use super::address::Address;

/// Which part of a URL a text is: what must be escaped differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    PathSegment,
    Query,
    Host,
    Zone,
    User,
    Fragment,
}

fn stays(byte: u8, part: Part) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return true;
    }
    match part {
        Part::Path => b"$&+,/:;=@".contains(&byte),
        Part::PathSegment => b"$&+:=@".contains(&byte),
        Part::User => b"$&+,;=".contains(&byte),
        Part::Query => false,
        Part::Fragment => b"$&+,/:;=?@!()*".contains(&byte),
        Part::Host | Part::Zone => b"!$&'()*+,;=:[]<>\"".contains(&byte),
    }
}

pub(super) fn escape(text: &str, part: Part) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if stays(byte, part) {
            out.push(char::from(byte));
        } else if byte == b' ' && part == Part::Query {
            out.push('+');
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

pub(super) fn unescape_value(args: Args<'_>, part: Part) -> Result<Value, Error> {
    let bytes = unescape(args.str(0)?, part).map_err(Error::Fatal)?;
    Ok(Value::string(String::from_utf8_lossy(&bytes)))
}

fn unescape(text: &str, part: Part) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'%' {
            let bad_host = byte < 0x80 && !stays(byte, part);
            if bad_host && matches!(part, Part::Host | Part::Zone) {
                let shown = quote(&char::from(byte).to_string(), Keep::Printable);
                return Err(format!("invalid character {shown} in host name"));
            }
            let space = byte == b'+' && part == Part::Query;
            out.push(if space { b' ' } else { byte });
            at += 1;
            continue;
        }
        let end = (at + 3).min(bytes.len());
        let escape = String::from_utf8_lossy(bytes.get(at..end).unwrap_or(&[])).into_owned();
        let wrong = || {
            let shown = quote(&escape, Keep::Printable);
            format!("invalid URL escape {shown}")
        };
        let digit = |place: usize| {
            let byte = bytes.get(at + place)?;
            char::from(*byte).to_digit(16)
        };
        let (Some(high), Some(low)) = (digit(1), digit(2)) else {
            return Err(wrong());
        };
        let value = u8::try_from(high * 16 + low).unwrap_or(0);
        let allowed = match part {
            // A host may escape what is not ASCII, and the percent sign of a zone.
            Part::Host => high >= 8 || escape == "%25",
            Part::Zone => escape == "%25" || value == b' ' || stays(value, Part::Host),
            _ => true,
        };
        if !allowed {
            return Err(wrong());
        }
        out.push(value);
        at += 3;
    }
    Ok(out)
}

pub(super) fn url(args: Args<'_>) -> Result<Value, Error> {
    check(args.str(0)?).map(|_| true.into())
}

pub(super) fn abs_url(args: Args<'_>) -> Result<Value, Error> {
    if check(args.str(0)?)? {
        Ok(true.into())
    } else {
        Err(fatal("URL is not absolute"))
    }
}

/// Whether the URL has a scheme; an error if it is not well formed.
fn check(text: &str) -> Result<bool, Error> {
    let error = |text: &str, reason: String| {
        let text = quote(text, Keep::Printable);
        fatal(format!("parse {text}: {reason}"))
    };
    let (url, fragment) = text.split_once('#').unwrap_or((text, ""));
    let absolute = parse(url).map_err(|reason| error(url, reason))?;
    unescape(fragment, Part::Fragment).map_err(|reason| error(text, reason))?;
    Ok(absolute)
}

fn parse(text: &str) -> Result<bool, String> {
    if text.bytes().any(|b| b < b' ' || b == 0x7F) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text == "*" {
        return Ok(false);
    }
    let (scheme, rest) = scheme(text)?;
    let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            return Ok(true);
        }
        let segment = rest.split('/').next().unwrap_or("");
        if segment.contains(':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let mut path = rest;
    if (!scheme.is_empty() || !rest.starts_with("///"))
        && let Some(tail) = rest.strip_prefix("//")
    {
        let end = tail.find('/').unwrap_or(tail.len());
        let (authority, tail) = tail.split_at(end);
        check_authority(authority)?;
        path = tail;
    }
    unescape(path, Part::Path)?;
    Ok(!scheme.is_empty())
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (i, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if i > 0 => {}
            ':' if i == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => return Ok(text.split_once(':').unwrap_or(("", text))),
            _ => break,
        }
    }
    Ok(("", text))
}

fn check_authority(authority: &str) -> Result<(), String> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    check_host(host)?;
    let Some(user) = user else { return Ok(()) };
    let valid = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.chars().all(valid) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    unescape(user, Part::User).map(|_| ())
}

fn check_host(host: &str) -> Result<(), String> {
    match host.rfind('[') {
        Some(0) => {
            let Some((name, port)) = host.rsplit_once(']') else {
                return Err("missing ']' in host".to_owned());
            };
            check_port(port)?;
            let name = name.strip_prefix('[').unwrap_or(name);
            let (plain, zone) = match name.find("%25") {
                Some(at) => name.split_at(at),
                None => (name, ""),
            };
            let mut bytes = unescape(plain, Part::Host)?;
            bytes.extend(unescape(zone, Part::Zone)?);
            let address = Address::parse(&String::from_utf8_lossy(&bytes))
                .map_err(|reason| format!("invalid host: {reason}"))?;
            if address.is_v4() {
                return Err("invalid IP-literal".to_owned());
            }
            return Ok(());
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    if let Some(at) = host.rfind(':') {
        check_port(host.get(at..).unwrap_or(""))?;
    }
    unescape(host, Part::Host).map(|_| ())
}

fn check_port(text: &str) -> Result<(), String> {
    let digits = text.strip_prefix(':');
    let valid =
        text.is_empty() || digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    if valid {
        return Ok(());
    }
    let shown = quote(text, Keep::Printable);
    Err(format!("invalid port {shown} after host"))
}
