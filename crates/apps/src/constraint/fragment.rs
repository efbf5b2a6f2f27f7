//! A JSON Schema fragment as a constraint. What bounds can say becomes bounds, so that
//! contradictions between the two ways of writing are seen; the rest goes to the validator.

use std::sync::Arc;

use super::{Atom, Bound, Constraint, Expr, Type};
use crate::value::Value;

pub(super) fn read(value: &Value) -> Result<Constraint, String> {
    let Value::Map(fields) = value else {
        return Err("a JSON Schema fragment is an object".to_owned());
    };
    let mut parts = Vec::new();
    let mut more = false;
    for (name, argument) in fields {
        match bound(name, argument) {
            Some(part) => parts.push(part),
            None => more = true,
        }
    }
    let schema = match more {
        true => {
            let validator = jsonschema::validator_for(&value.to_serde());
            Some(Arc::new(validator.map_err(|error| {
                format!("the constraint is no JSON Schema: {error}")
            })?))
        }
        false => None,
    };
    Ok(Constraint {
        text: value.json(),
        bounds: Expr::All(parts),
        schema,
    })
}

/// A keyword as bounds. JSON Schema's bounds let other types through; a rule that bounds numbers
/// means numbers, so ours do not.
fn bound(name: &str, argument: &Value) -> Option<Expr> {
    let numeric = |bound| match argument {
        Value::Number(..) => Some(Expr::Atom(Atom::Bound(bound, argument.clone()))),
        _ => None,
    };
    match name {
        "minimum" => numeric(Bound::AtLeast),
        "maximum" => numeric(Bound::AtMost),
        "exclusiveMinimum" => numeric(Bound::Above),
        "exclusiveMaximum" => numeric(Bound::Below),
        "const" => Some(Expr::Atom(Atom::Is(argument.clone()))),
        "enum" => {
            let items = argument.items().iter();
            Some(Expr::Either(
                items.map(|v| Expr::Atom(Atom::Is(v.clone()))).collect(),
            ))
        }
        "type" => Some(Expr::Atom(Atom::Type(match argument.as_str()? {
            "null" => Type::Null,
            "boolean" => Type::Bool,
            "integer" => Type::Int,
            "number" => Type::Number,
            "string" => Type::String,
            "array" => Type::List,
            "object" => Type::Map,
            _ => return None,
        }))),
        "description" | "title" | "$comment" => Some(Expr::Any),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(json: &str) -> Result<Constraint, String> {
        let parsed: serde_json::Value = serde_json::from_str(json).unwrap();
        read(&from_serde(&parsed))
    }

    fn from_serde(value: &serde_json::Value) -> Value {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(b) => Value::Bool(*b),
            serde_json::Value::Number(n) => Value::Number(n.to_string().into(), !n.is_f64()),
            serde_json::Value::String(s) => Value::string(s.as_str()),
            serde_json::Value::Array(a) => Value::List(a.iter().map(from_serde).collect()),
            serde_json::Value::Object(o) => Value::Map(
                o.iter()
                    .map(|(k, v)| (k.as_str().into(), from_serde(v)))
                    .collect(),
            ),
        }
    }

    #[test]
    fn fragments_bound_and_contradict_like_bounds() {
        let low = fragment(r#"{"type": "number", "minimum": 0.8}"#).unwrap();
        assert!(low.admits(&Value::Number("0.8".into(), false)));
        assert!(!low.admits(&Value::Number("0.5".into(), false)));
        let high = Constraint::read(&Value::string("<0.5")).unwrap();
        assert!(!Constraint::satisfiable(&[&low, &high]));
        let list = fragment(r#"{"type": "array", "maxItems": 1}"#).unwrap();
        assert!(list.admits(&Value::List([Value::Null].into())));
        assert!(!list.admits(&Value::List([Value::Null, Value::Null].into())));
        assert!(fragment(r#"{"pattern": 3}"#).is_err());
    }
}
