//! Go's `fmt`: `Print`, `Println` and the verbs of `Printf`, for the values that CUE has.

use super::super::quote::{Keep, is_print, quote, quote_rune};
use super::super::{Value, float_text};
use crate::number::Num;

/// Widths and precisions beyond this are ignored.
const MAX_WIDTH: usize = 1_000_000;

/// The name of the Go type that stands for a value's kind.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null | Value::Opaque(_) => "<nil>",
        Value::Bool(_) => "bool",
        Value::Num(num) if num.is_int() && num.to_i64().is_some() => "int",
        Value::Num(num) if num.is_int() => "*big.Int",
        Value::Num(_) => "float64",
        Value::String(_) => "string",
        Value::Bytes(_) => "[]uint8",
        Value::List(_) => "[]interface {}",
        Value::Struct(_) => "map[string]interface {}",
    }
}

/// The verb `%v`.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null | Value::Opaque(_) => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Num(num) => number(num),
        Value::String(text) => text.clone(),
        Value::Bytes(bytes) => {
            let bytes: Vec<String> = bytes.iter().map(ToString::to_string).collect();
            format!("[{}]", bytes.join(" "))
        }
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Struct(fields) => {
            // Go sorts the keys of maps.
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(&b.0));
            let fields: Vec<String> = sorted
                .iter()
                .map(|(name, value)| format!("{name}:{}", plain(value)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

fn number(num: &Num) -> String {
    if num.is_int() {
        return num
            .to_ibig()
            .map_or_else(|| num.to_string(), |int| int.to_string());
    }
    float_text::format(num.to_f64(), 'g', -1, false)
}

/// `Print`: a space between two operands of which neither is a string.
pub(super) fn print(values: &[&Value]) -> String {
    let mut out = String::new();
    let mut after_string = true;
    for (i, value) in values.iter().enumerate() {
        let is_string = matches!(value, Value::String(_));
        if i > 0 && !is_string && !after_string {
            out.push(' ');
        }
        out.push_str(&plain(value));
        after_string = is_string;
    }
    out
}

/// `Println`.
pub(super) fn println(values: &[&Value]) -> String {
    let words: Vec<String> = values.iter().map(|value| plain(value)).collect();
    words.join(" ") + "\n"
}

#[derive(Default)]
struct Spec {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// `Printf`.
pub(super) fn printf(format: &str, values: &[&Value]) -> String {
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    let mut next = 0;
    let mut reordered = false;
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = chars.next_if(|c| "+-# 0".contains(*c)) {
            match flag {
                '+' => spec.plus = true,
                '-' => spec.minus = true,
                '#' => spec.sharp = true,
                ' ' => spec.space = true,
                _ => spec.zero = true,
            }
        }
        reordered |= index(&mut chars, &mut next);
        spec.width = size(&mut chars, values, &mut next, &mut spec.minus);
        if chars.next_if_eq(&'.').is_some() {
            reordered |= index(&mut chars, &mut next);
            let mut ignored = false;
            let precision = size(&mut chars, values, &mut next, &mut ignored);
            spec.precision = Some(precision.unwrap_or(0));
        }
        reordered |= index(&mut chars, &mut next);
        let Some(verb) = chars.next() else {
            out.push_str("%!(NOVERB)");
            break;
        };
        if verb == '%' {
            out.push('%');
            continue;
        }
        match values.get(next) {
            Some(value) => {
                next += 1;
                let text = apply(&spec, verb, value);
                pad(&mut out, &spec, &text);
            }
            None => out.push_str(&format!("%!{verb}(MISSING)")),
        }
    }
    let extra = values.get(next..).unwrap_or(&[]);
    if !reordered && !extra.is_empty() {
        let extra: Vec<String> = extra
            .iter()
            .map(|value| match value {
                Value::Null => "<nil>".to_owned(),
                value => format!("{}={}", type_name(value), plain(value)),
            })
            .collect();
        out.push_str(&format!("%!(EXTRA {})", extra.join(", ")));
    }
    out
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn digits(chars: &mut Chars<'_>) -> Option<usize> {
    let mut value = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        let digit = usize::try_from(digit).unwrap_or(0);
        value = Some((value.unwrap_or(0) * 10 + digit).min(MAX_WIDTH));
        chars.next();
    }
    value
}

/// `[n]`: the next argument is the n-th.
fn index(chars: &mut Chars<'_>, next: &mut usize) -> bool {
    if chars.next_if_eq(&'[').is_none() {
        return false;
    }
    if let Some(n) = digits(chars).filter(|n| *n > 0) {
        *next = n - 1;
    }
    chars.next_if_eq(&']');
    true
}

/// A number, or `*` for the next argument.
fn size(
    chars: &mut Chars<'_>,
    values: &[&Value],
    next: &mut usize,
    minus: &mut bool,
) -> Option<usize> {
    if chars.next_if_eq(&'*').is_none() {
        return digits(chars);
    }
    let size = match values.get(*next) {
        Some(Value::Num(num)) => num.to_i64(),
        _ => None,
    };
    *next += 1;
    let size = size?;
    *minus |= size < 0;
    usize::try_from(size.unsigned_abs())
        .ok()
        .map(|size| size.min(MAX_WIDTH))
}

fn pad(out: &mut String, spec: &Spec, text: &str) {
    let count = text.chars().count();
    let missing = spec.width.unwrap_or(0).saturating_sub(count);
    if spec.minus {
        out.push_str(text);
        out.extend(std::iter::repeat_n(' ', missing));
    } else if spec.zero && missing > 0 {
        let (sign, rest) = match text.strip_prefix(['-', '+']) {
            Some(rest) => text.split_at(text.len() - rest.len()),
            None => ("", text),
        };
        out.push_str(sign);
        out.extend(std::iter::repeat_n('0', missing));
        out.push_str(rest);
    } else {
        out.extend(std::iter::repeat_n(' ', missing));
        out.push_str(text);
    }
}

fn signed(spec: &Spec, text: String) -> String {
    match text.as_bytes().first() {
        Some(b'-' | b'+') => text,
        _ if spec.plus => format!("+{text}"),
        _ if spec.space => format!(" {text}"),
        _ => text,
    }
}

fn apply(spec: &Spec, verb: char, value: &Value) -> String {
    let formatted = match (verb, value) {
        ('T', value) => Some(type_name(value).to_owned()),
        ('v', Value::String(text)) if spec.sharp => Some(quote(text, Keep::Printable)),
        ('v', Value::Num(num)) => Some(signed(spec, number(num))),
        ('v', Value::String(text)) => Some(cut(spec, text)),
        ('v', value) => Some(plain(value)),
        ('t', Value::Bool(value)) => Some(value.to_string()),
        (_, Value::Num(num)) if num.is_int() => integer(spec, verb, num),
        (_, Value::Num(num)) => float(spec, verb, num),
        (_, Value::String(text)) => string(spec, verb, text.as_bytes()),
        (_, Value::Bytes(bytes)) => string(spec, verb, bytes),
        (_, Value::List(items)) => {
            let items: Vec<String> = items.iter().map(|item| apply(spec, verb, item)).collect();
            return format!("[{}]", items.join(" "));
        }
        _ => None,
    };
    formatted.unwrap_or_else(|| match value {
        Value::Null => format!("%!{verb}(<nil>)"),
        value => format!("%!{verb}({}={})", type_name(value), plain(value)),
    })
}

fn cut(spec: &Spec, text: &str) -> String {
    match spec.precision {
        Some(precision) => text.chars().take(precision).collect(),
        None => text.to_owned(),
    }
}

fn integer(spec: &Spec, verb: char, num: &Num) -> Option<String> {
    let value = num.to_ibig()?;
    let radix = |radix: u8, prefix: &str| {
        let text = value.in_radix(radix).to_string();
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.as_str()),
        };
        let prefix = if spec.sharp { prefix } else { "" };
        let width = spec.precision.unwrap_or(0);
        signed(spec, format!("{sign}{prefix}{digits:0>width$}"))
    };
    Some(match verb {
        'd' => radix(10, ""),
        'b' => radix(2, "0b"),
        'o' => radix(8, "0"),
        'x' => radix(16, "0x"),
        'X' => radix(16, "0x").to_uppercase(),
        'c' => char::from_u32(u32::try_from(value).ok()?)?.to_string(),
        'q' => quote_rune(i32::try_from(value).ok()?, Keep::Printable),
        'U' => {
            let code = u32::try_from(value).ok()?;
            let shown = char::from_u32(code).filter(|c| spec.sharp && is_print(*c));
            match shown {
                Some(c) => format!("U+{code:04X} '{c}'"),
                None => format!("U+{code:04X}"),
            }
        }
        _ => return None,
    })
}

fn float(spec: &Spec, verb: char, num: &Num) -> Option<String> {
    let shortest = matches!(verb, 'g' | 'G' | 'x' | 'X');
    let default = if shortest { -1 } else { 6 };
    let precision = spec
        .precision
        .map_or(default, |precision| i64::try_from(precision).unwrap_or(6));
    let verb = match verb {
        'F' => 'f',
        'e' | 'E' | 'f' | 'g' | 'G' | 'x' | 'X' | 'b' => verb,
        _ => return None,
    };
    let text = float_text::format(num.to_f64(), verb, precision, false);
    Some(signed(spec, text))
}

fn string(spec: &Spec, verb: char, bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let hexadecimal = |upper: bool| {
        let digits = bytes.iter().map(|byte| {
            if upper {
                format!("{byte:02X}")
            } else {
                format!("{byte:02x}")
            }
        });
        let digits: Vec<String> = digits.collect();
        digits.join(if spec.space { " " } else { "" })
    };
    Some(match verb {
        's' => cut(spec, &text),
        'q' if spec.plus => quote(&cut(spec, &text), Keep::Ascii),
        'q' => quote(&cut(spec, &text), Keep::Printable),
        'x' => hexadecimal(false),
        'X' => hexadecimal(true),
        _ => return None,
    })
}
