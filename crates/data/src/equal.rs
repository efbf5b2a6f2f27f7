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
