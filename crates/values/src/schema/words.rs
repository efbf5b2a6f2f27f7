//! What a part of a JSON Schema says, in CUE's words: `int & >=1 & <=10`, `"a" | "b"`.

use base::Symbols;
use data::{NodeId, Tree, Value};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, ValidationError};

use crate::show;

/// The bounds on a scalar, or the kind of a list or map. Nothing where the schema says nothing.
pub fn of(tree: &Tree, node: NodeId, symbols: &Symbols) -> Option<String> {
    let Value::Map(fields) = tree.value(node) else {
        return None;
    };
    let mut parts = Vec::new();
    for field in fields {
        let value = field.value;
        let said = || show::short(tree, value, symbols);
        parts.extend(match symbols.name(field.name) {
            "type" => Some((0, types(tree, value))),
            "enum" => Some((1, alternatives(tree, value, symbols))),
            "const" => Some((1, said())),
            "minimum" => Some((2, format!(">={}", said()))),
            "exclusiveMinimum" => Some((2, format!(">{}", said()))),
            "maximum" => Some((3, format!("<={}", said()))),
            "exclusiveMaximum" => Some((3, format!("<{}", said()))),
            "pattern" => Some((4, format!("=~{}", said()))),
            "minLength" => Some((5, format!("strings.MinRunes({})", said()))),
            "maxLength" => Some((6, format!("strings.MaxRunes({})", said()))),
            "minItems" => Some((5, format!("list.MinItems({})", said()))),
            "maxItems" => Some((6, format!("list.MaxItems({})", said()))),
            "multipleOf" => Some((7, format!("math.MultipleOf({})", said()))),
            _ => None,
        });
    }
    parts.sort();
    let has_values = parts.iter().any(|(rank, _)| *rank == 1);
    let words: Vec<String> = parts
        .into_iter()
        .filter(|(rank, word)| !(word.is_empty() || has_values && *rank == 0))
        .map(|(_, word)| word)
        .collect();
    (!words.is_empty()).then(|| words.join(" & "))
}

fn types(tree: &Tree, node: NodeId) -> String {
    match tree.value(node) {
        Value::String(name) => one_type(name).to_owned(),
        Value::List(items) => {
            let names = items.iter().filter_map(|&item| match tree.value(item) {
                Value::String(name) => Some(one_type(name)),
                _ => None,
            });
            names.collect::<Vec<_>>().join(" | ")
        }
        _ => String::new(),
    }
}

fn one_type(name: &str) -> &str {
    match name {
        "integer" => "int",
        "boolean" => "bool",
        "array" => "[...]",
        "object" => "{...}",
        other => other,
    }
}

fn alternatives(tree: &Tree, node: NodeId, symbols: &Symbols) -> String {
    match tree.value(node) {
        Value::List(items) => {
            let words = items.iter().map(|&item| show::short(tree, item, symbols));
            show::shorten(words.collect::<Vec<_>>().join(" | "), show::SHORT)
        }
        _ => String::new(),
    }
}

/// Why a schema cannot be used.
pub fn unusable(error: &ValidationError<'_>) -> String {
    if let ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) =
        error.kind()
    {
        return format!("the schema refers to `{uri}`, and other files are not read");
    }
    let place: Vec<String> = error
        .instance_path()
        .iter()
        .map(|segment| segment.to_string())
        .collect();
    match place.is_empty() {
        true => format!(
            "the schema cannot be used: {}",
            first_line(&error.to_string())
        ),
        false => {
            let value = show::shorten(error.instance().to_string(), show::SHORT);
            let place = place.join(".");
            format!("the schema says {value} at `{place}`, which JSON Schema does not allow")
        }
    }
}

/// The first line of a message, beginning in lower case.
pub fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let mut chars = line.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
