//! How the values of several layers become one, where a key's strategy is not `replace`.
//!
//! Values are folded low to high. A contribution that would take the combined value out of bounds is
//! left out, so no strategy reaches what policy forbids. A value that the strategy cannot combine
//! (`null` for a list) replaces what is below it.

use std::collections::BTreeMap;

use crate::key::Merge;
use crate::layer::Layer;
use crate::value::Value;

/// What came of the contributions.
#[derive(Debug)]
pub struct Folded {
    pub value: Value,
    /// The positions of the contributions that the value is made of, low to high.
    pub parts: Vec<usize>,
    /// The positions of those that were left out because of the bounds.
    pub left_out: Vec<usize>,
    /// Which layer each leaf comes from; empty where one contribution is all of it.
    pub leaves: BTreeMap<String, Layer>,
}

/// Combines contributions, low to high. `admits` says whether a combined value is within bounds.
pub fn fold(
    merge: &Merge,
    contributions: &[(Layer, &Value)],
    admits: &dyn Fn(&Value) -> bool,
) -> Option<Folded> {
    let mut out: Option<Folded> = None;
    let mut left_out = Vec::new();
    for (at, &(layer, value)) in contributions.iter().enumerate() {
        let next = match &out {
            Some(below) if merge.takes(value) && merge.takes(&below.value) => {
                combine(merge, below, at, layer, value)
            }
            _ => start(merge, at, layer, value),
        };
        match admits(&next.value) {
            true => out = Some(next),
            false => left_out.push(at),
        }
    }
    out.map(|folded| Folded { left_out, ..folded })
}

fn start(merge: &Merge, at: usize, layer: Layer, value: &Value) -> Folded {
    let mut leaves = BTreeMap::new();
    if !matches!(merge, Merge::Min | Merge::Max | Merge::Any | Merge::All) {
        mark("", value, layer, &mut leaves);
    }
    Folded {
        value: value.clone(),
        parts: vec![at],
        left_out: Vec::new(),
        leaves,
    }
}

fn combine(merge: &Merge, below: &Folded, at: usize, layer: Layer, value: &Value) -> Folded {
    use std::cmp::Ordering;
    let wins = match merge {
        Merge::Min => value.compare(&below.value) == Some(Ordering::Less),
        Merge::Max => value.compare(&below.value) == Some(Ordering::Greater),
        Merge::Any => value.as_bool() == Some(true) && below.value.as_bool() == Some(false),
        Merge::All => value.as_bool() == Some(false) && below.value.as_bool() == Some(true),
        _ => return join(merge, below, at, layer, value),
    };
    match wins {
        true => start(merge, at, layer, value),
        false => Folded {
            value: below.value.clone(),
            parts: below.parts.clone(),
            left_out: Vec::new(),
            leaves: BTreeMap::new(),
        },
    }
}

/// The strategies that make one value of both.
fn join(merge: &Merge, below: &Folded, at: usize, layer: Layer, value: &Value) -> Folded {
    let mut leaves = below.leaves.clone();
    let mut joined = below.value.clone();
    match merge {
        Merge::Deep => lay(&mut joined, value, "", layer, &mut leaves),
        _ => {
            let mut items = joined.items().to_vec();
            for item in value.items() {
                add(merge, &mut items, item, layer, &mut leaves);
            }
            joined = Value::List(items.into());
        }
    }
    let mut parts = below.parts.clone();
    parts.push(at);
    Folded {
        value: joined,
        parts,
        left_out: Vec::new(),
        leaves,
    }
}

/// Adds one item to a list.
fn add(
    merge: &Merge,
    items: &mut Vec<Value>,
    item: &Value,
    layer: Layer,
    leaves: &mut BTreeMap<String, Layer>,
) {
    let same = match merge {
        Merge::Union => items.iter().position(|known| known == item),
        Merge::Keyed(field) => item.get(field).and_then(|id| {
            let mut known = items.iter();
            known.position(|known| known.get(field) == Some(id))
        }),
        _ => None,
    };
    match same {
        Some(at) if matches!(merge, Merge::Keyed(_)) => {
            if let Some(known) = items.get_mut(at) {
                lay(known, item, &format!("[{at}]"), layer, leaves);
            }
        }
        Some(_) => {}
        None => {
            mark(&format!("[{}]", items.len()), item, layer, leaves);
            items.push(item.clone());
        }
    }
}

/// Lays one value over another: maps by field, everything else replaced.
fn lay(
    below: &mut Value,
    above: &Value,
    path: &str,
    layer: Layer,
    leaves: &mut BTreeMap<String, Layer>,
) {
    let (Value::Map(fields), Value::Map(over)) = (&mut *below, above) else {
        leaves.retain(|leaf, _| !is_below(leaf, path));
        mark(path, above, layer, leaves);
        *below = above.clone();
        return;
    };
    let mut all = std::mem::take(fields).into_vec();
    for (name, value) in over {
        let path = child(path, name);
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => lay(known, value, &path, layer, leaves),
            None => {
                mark(&path, value, layer, leaves);
                all.push((name.clone(), value.clone()));
            }
        }
    }
    *fields = all.into();
}

fn is_below(leaf: &str, path: &str) -> bool {
    match leaf.strip_prefix(path) {
        Some(rest) => path.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']),
        None => false,
    }
}

fn child(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

/// Notes the layer of every leaf of a value. Lists inside are leaves; only a list that is the value
/// itself is combined item by item.
fn mark(path: &str, value: &Value, layer: Layer, leaves: &mut BTreeMap<String, Layer>) {
    match value {
        Value::Map(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                mark(&child(path, name), value, layer, leaves);
            }
        }
        Value::List(items) if path.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                mark(&format!("[{at}]"), item, layer, leaves);
            }
        }
        _ => {
            leaves.insert(path.to_owned(), layer);
        }
    }
}
