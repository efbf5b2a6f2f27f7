//! What a `range` rule lets through: a CUE constraint, or a JSON Schema fragment.
//!
//! A constraint answers two questions: does it admit a value, and can a set of constraints admit
//! any value at all. The second is answered exactly for bounds, literals and types on numbers and strings;
//! where a pattern or a wider schema takes part the answer is "perhaps", which counts as yes: a
//! rule is refused only when it is certain that nothing satisfies it.

mod fragment;
mod parse;

use std::cmp::Ordering;
use std::sync::Arc;

use cue::regex::Regex;

use crate::evaluate;
use crate::value::Value;

/// How many alternatives are tried to find out whether constraints can be met together.
const MOST_ALTERNATIVES: usize = 512;

#[derive(Clone, Debug)]
pub struct Constraint {
    /// As it was written, for people.
    pub text: String,
    bounds: Expr,
    /// What the bounds cannot say.
    schema: Option<Arc<jsonschema::Validator>>,
}

#[derive(Clone, Debug)]
enum Expr {
    Any,
    Atom(Atom),
    All(Vec<Expr>),
    Either(Vec<Expr>),
}

#[derive(Clone, Debug)]
enum Atom {
    Is(Value),
    Not(Value),
    /// Ordered so, with the bound on the right.
    Bound(Bound, Value),
    Type(Type),
    Match(Regex, bool),
    /// Any other CUE expression, as a file with one field; the evaluator is asked.
    Cue(Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Below,
    AtMost,
    AtLeast,
    Above,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Null,
    Bool,
    Int,
    Number,
    String,
    List,
    Map,
}

impl Constraint {
    /// Reads a constraint: a string is bounds as CUE writes them, a map a JSON Schema fragment.
    /// The error says what is wrong, for the user.
    pub fn read(value: &Value) -> Result<Constraint, String> {
        match value {
            Value::String(text) => Ok(Constraint {
                text: text.to_string(),
                bounds: parse::parse(text)?,
                schema: None,
            }),
            Value::Map(_) => fragment::read(value),
            Value::List(_) => Err("a constraint is a string or a JSON Schema object".to_owned()),
            scalar => Ok(Constraint {
                text: scalar.json(),
                bounds: Expr::Atom(Atom::Is(scalar.clone())),
                schema: None,
            }),
        }
    }

    pub fn admits(&self, value: &Value) -> bool {
        let schema = self.schema.as_ref();
        self.bounds.admits(value) && schema.is_none_or(|s| s.is_valid(&value.to_serde()))
    }

    /// The types that it lets through, as JSON Schema names them; empty means any.
    pub fn type_words(&self) -> Vec<Box<str>> {
        let mut words: Vec<Box<str>> = Vec::new();
        for atoms in self.bounds.alternatives().unwrap_or_default() {
            let integer = atoms.iter().any(|atom| match atom {
                Atom::Type(kind) => *kind == Type::Int,
                Atom::Is(Value::Number(_, is_int)) => *is_int,
                _ => false,
            });
            match atoms.iter().find_map(|atom| atom.family()) {
                None => return Vec::new(),
                Some("number") if integer => words.push("integer".into()),
                Some(word) => words.push(word.into()),
            }
        }
        words.sort();
        words.dedup();
        if words.iter().any(|word| **word == *"number") {
            words.retain(|word| **word != *"integer");
        }
        words
    }

    /// Whether some value may satisfy all of them. `false` is certain.
    pub fn satisfiable(constraints: &[&Constraint]) -> bool {
        let all = Expr::All(constraints.iter().map(|c| c.bounds.clone()).collect());
        match all.alternatives() {
            Some(alternatives) => alternatives.iter().any(|atoms| may_hold(atoms)),
            None => true,
        }
    }
}

impl Expr {
    fn admits(&self, value: &Value) -> bool {
        match self {
            Expr::Any => true,
            Expr::Atom(atom) => atom.admits(value),
            Expr::All(parts) => parts.iter().all(|part| part.admits(value)),
            Expr::Either(parts) => parts.iter().any(|part| part.admits(value)),
        }
    }

    /// The disjunctive normal form, unless it is too large to look at.
    fn alternatives(&self) -> Option<Vec<Vec<&Atom>>> {
        match self {
            Expr::Any => Some(vec![Vec::new()]),
            Expr::Atom(atom) => Some(vec![vec![atom]]),
            Expr::Either(parts) => {
                let mut out = Vec::new();
                for part in parts {
                    out.extend(part.alternatives()?);
                }
                (out.len() <= MOST_ALTERNATIVES).then_some(out)
            }
            Expr::All(parts) => {
                let mut out: Vec<Vec<&Atom>> = vec![Vec::new()];
                for part in parts {
                    let right = part.alternatives()?;
                    if out.len() * right.len() > MOST_ALTERNATIVES {
                        return None;
                    }
                    let joined = out.iter().flat_map(|left| {
                        right
                            .iter()
                            .map(|right| left.iter().chain(right).copied().collect())
                    });
                    out = joined.collect();
                }
                Some(out)
            }
        }
    }
}

impl Atom {
    fn admits(&self, value: &Value) -> bool {
        match self {
            Atom::Is(wanted) => wanted == value,
            Atom::Not(unwanted) => unwanted != value,
            Atom::Bound(bound, limit) => {
                order(value, limit).is_some_and(|order| bound.admits(order))
            }
            Atom::Type(kind) => kind.admits(value),
            Atom::Match(pattern, wanted) => value
                .as_str()
                .is_some_and(|text| pattern.is_match(text) == *wanted),
            Atom::Cue(file) => evaluate::fits(file, parse::FIELD, value).is_ok(),
        }
    }
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => a.compare(b),
    }
}

impl Bound {
    fn admits(self, order: Ordering) -> bool {
        match self {
            Bound::Below => order == Ordering::Less,
            Bound::AtMost => order != Ordering::Greater,
            Bound::AtLeast => order != Ordering::Less,
            Bound::Above => order == Ordering::Greater,
        }
    }

    fn is_lower(self) -> bool {
        matches!(self, Bound::AtLeast | Bound::Above)
    }
}

impl Type {
    fn admits(self, value: &Value) -> bool {
        match (self, value) {
            (Type::Null, Value::Null)
            | (Type::Bool, Value::Bool(_))
            | (Type::Number, Value::Number(..))
            | (Type::String, Value::String(_))
            | (Type::List, Value::List(_))
            | (Type::Map, Value::Map(_)) => true,
            (Type::Int, Value::Number(text, is_int)) => *is_int || !text.contains(['.', 'e', 'E']),
            _ => false,
        }
    }
}

/// Whether one value may satisfy all atoms.
fn may_hold(atoms: &[&Atom]) -> bool {
    if let Some(Atom::Is(value)) = atoms.iter().find(|atom| matches!(atom, Atom::Is(_))) {
        return atoms.iter().all(|atom| atom.admits(value));
    }
    let mut kinds = atoms.iter().filter_map(|atom| atom.family());
    let first = kinds.next();
    if kinds.any(|kind| Some(kind) != first) {
        return false;
    }
    let integers = atoms.iter().any(|a| matches!(a, Atom::Type(Type::Int)));
    atoms.iter().all(|low| match low {
        Atom::Bound(lower, a) if lower.is_lower() => atoms.iter().all(|high| match high {
            Atom::Bound(upper, b) if !upper.is_lower() => {
                meet(*lower, a, *upper, b) && !(integers && no_integer(*lower, a, *upper, b))
            }
            _ => true,
        }),
        _ => true,
    })
}

/// Whether there is something between a lower and an upper bound.
fn meet(lower: Bound, a: &Value, upper: Bound, b: &Value) -> bool {
    match order(a, b) {
        Some(Ordering::Less) => true,
        Some(Ordering::Equal) => lower == Bound::AtLeast && upper == Bound::AtMost,
        _ => false,
    }
}

/// Whether certainly no integer lies between two small bounds: `>1 & <2`.
fn no_integer(lower: Bound, a: &Value, upper: Bound, b: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Number(text, _) => text.parse::<f64>().ok().filter(|n| n.abs() < 1e15),
        _ => None,
    };
    let (Some(a), Some(b)) = (number(a), number(b)) else {
        return false;
    };
    let least = if lower == Bound::Above {
        a.floor() + 1.0
    } else {
        a.ceil()
    };
    let most = if upper == Bound::Below {
        b.ceil() - 1.0
    } else {
        b.floor()
    };
    least > most
}

impl Atom {
    /// The kind of value that alone can satisfy it; none where several can.
    fn family(&self) -> Option<&'static str> {
        match self {
            Atom::Is(value) | Atom::Bound(_, value) => Some(match value.type_word() {
                "integer" => "number",
                word => word,
            }),
            Atom::Not(_) | Atom::Cue(_) => None,
            Atom::Match(..) => Some("string"),
            Atom::Type(kind) => Some(match kind {
                Type::Null => "null",
                Type::Bool => "boolean",
                Type::Int | Type::Number => "number",
                Type::String => "string",
                Type::List => "array",
                Type::Map => "object",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(text: &str) -> Constraint {
        Constraint::read(&Value::string(text)).unwrap()
    }

    fn number(text: &str) -> Value {
        Value::Number(text.into(), !text.contains('.'))
    }

    #[test]
    fn bounds_literals_types_and_patterns_admit_what_they_say() {
        assert!(bounds(">=0.8").admits(&number("0.80")));
        assert!(!bounds(">=0.8").admits(&number("0.79")));
        assert!(!bounds(">=0.8").admits(&Value::string("0.9")));
        assert!(bounds(">=1 & <=3").admits(&number("3")));
        assert!(!bounds(">=1 & <=3").admits(&number("3.1")));
        assert!(bounds("\"a\" | \"b\"").admits(&Value::string("b")));
        assert!(bounds("=~\"^eu-\"").admits(&Value::string("eu-west")));
        assert!(!bounds("!~\"^eu-\"").admits(&Value::string("eu-west")));
        assert!(bounds("int & !=3 | bool").admits(&Value::Bool(true)));
        assert!(!bounds("int").admits(&number("1.5")));
        assert!(bounds("(>1 & <5) | >10").admits(&number("11")));
        assert!(bounds("null | string").admits(&Value::Null));
    }

    #[test]
    fn what_cannot_be_met_together_is_known() {
        let meet = |texts: &[&str]| {
            let all: Vec<Constraint> = texts.iter().map(|t| bounds(t)).collect();
            Constraint::satisfiable(&all.iter().collect::<Vec<_>>())
        };
        assert!(meet(&[">=0.8", "<=0.9"]));
        assert!(meet(&[">=0.8", "<=0.8"]));
        assert!(!meet(&[">=0.8", "<0.8"]));
        assert!(!meet(&["\"a\" | \"b\"", "\"c\""]));
        assert!(meet(&["\"a\" | \"b\"", "\"b\" | \"c\""]));
        assert!(!meet(&["string", ">=1"]));
        assert!(!meet(&["int", ">1", "<2"]));
        assert!(meet(&["number", ">1", "<2"]));
        assert!(meet(&["=~\"a\"", "=~\"b\""]));
        assert!(!meet(&["true", "false"]));
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        for text in ["", ">=", "1 &", "(1", "=~\"(\"", "frob", "1 2", "\"a"] {
            assert!(Constraint::read(&Value::string(text)).is_err(), "{text}");
        }
        assert!(Constraint::read(&Value::string("(".repeat(5000))).is_err());
    }
}
