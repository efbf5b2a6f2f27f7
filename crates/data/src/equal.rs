//! Structural equality of plain data.
//!
//! Used to tell whether two layers say the same: maps are equal in any order of their keys, lists
//! only in the same order, numbers by exact value and kind. Spans and `!default` marks do not count.

use crate::number;
use crate::tree::{Field, NodeId, Tree, Value};

impl Tree {
    /// Whether a node equals a node of another tree. Both trees must have been made with the same
    /// [`base::Symbols`].
    pub fn equal(&self, id: NodeId, other: &Tree, other_id: NodeId) -> bool {
        match (self.value(id), other.value(other_id)) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => number::same(a, b),
            (Value::String(a), Value::String(b)) | (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| self.equal(a, other, b))
            }
            (Value::Map(a), Value::Map(b)) => a.len() == b.len() && self.equal_maps(a, other, b),
            _ => false,
        }
    }

    fn equal_maps(&self, a: &[Field], other: &Tree, b: &[Field]) -> bool {
        let pairwise =
            |a: &Field, b: &Field| a.name == b.name && self.equal(a.value, other, b.value);
        if a.iter().zip(b).all(|(a, b)| a.name == b.name) {
            return a.iter().zip(b).all(|(a, b)| pairwise(a, b));
        }
        let sorted = |fields: &[Field]| {
            let mut sorted = fields.to_vec();
            sorted.sort_by_key(|field| field.name);
            sorted
        };
        let (a, b) = (sorted(a), sorted(b));
        a.iter().zip(&b).all(|(a, b)| pairwise(a, b))
    }
}

#[cfg(test)]
mod tests {
    use base::{SourceId, Symbols};

    use crate::{Format, Options, Reading, Tree};

    fn tree(symbols: &mut Symbols, yaml: &str) -> Tree {
        let reading = Reading::Reference;
        let options = Options { reading };
        let mut parsed = crate::parse(Format::Yaml, SourceId(0), yaml.into(), symbols, &options);
        parsed.documents.pop().expect("one document")
    }

    #[test]
    fn order_of_keys_does_not_count_and_order_of_items_does() {
        let mut symbols = Symbols::new();
        for (a, b, equal) in [
            (
                "{a: 1, b: {c: x, d: [1]}}",
                "{b: {d: [1], c: x}, a: 1}",
                true,
            ),
            ("{a: 1, b: 2}", "{b: 1, a: 2}", false),
            ("{a: 1}", "{a: 1, b: 2}", false),
            ("{a: 1}", "{b: 1}", false),
            ("[1, 2]", "[2, 1]", false),
            ("[1.50, x]", "[1.5, 'x']", true),
            ("3", "3.0", false),
            ("3", "'3'", false),
            ("!!binary eA==", "'eA=='", false),
            ("!default 1", "1", true),
            ("{}", "[]", false),
            ("null", "~", true),
            ("{a: 1, a: 2, b: 0}", "{b: 0, a: 1, a: 2}", true),
        ] {
            let (a_tree, b_tree) = (tree(&mut symbols, a), tree(&mut symbols, b));
            assert_eq!(
                a_tree.equal(a_tree.root(), &b_tree, b_tree.root()),
                equal,
                "{a} and {b}"
            );
        }
    }
}
