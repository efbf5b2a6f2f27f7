//! Sets of kinds, as parameters and results have them.

use std::fmt;

/// A set of basic kinds; one bit each. The bits are those of the evaluator's own kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(pub u16);

impl Kinds {
    pub const NONE: Kinds = Kinds(0);
    pub const NULL: Kinds = Kinds(1);
    pub const BOOL: Kinds = Kinds(1 << 1);
    pub const INT: Kinds = Kinds(1 << 2);
    pub const FLOAT: Kinds = Kinds(1 << 3);
    pub const STRING: Kinds = Kinds(1 << 4);
    pub const BYTES: Kinds = Kinds(1 << 5);
    pub const LIST: Kinds = Kinds(1 << 7);
    pub const STRUCT: Kinds = Kinds(1 << 8);
    pub const NUMBER: Kinds = Kinds(Self::INT.0 | Self::FLOAT.0);
    /// Functions that work on bytes take strings too.
    pub const TEXT: Kinds = Kinds(Self::STRING.0 | Self::BYTES.0);
    pub const TOP: Kinds = Kinds((1 << 9) - 1);

    pub fn contains(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Kinds::NONE => return f.write_str("_|_"),
            Kinds::TOP => return f.write_str("_"),
            _ => {}
        }
        let number = self.0 & Kinds::NUMBER.0 == Kinds::NUMBER.0;
        let names = [
            (Kinds::NULL, "null"),
            (Kinds::BOOL, "bool"),
            (Kinds::INT, "int"),
            (Kinds::FLOAT, "float"),
            (Kinds::STRING, "string"),
            (Kinds::BYTES, "bytes"),
            (Kinds::LIST, "list"),
            (Kinds::STRUCT, "struct"),
        ];
        let mut words: Vec<&str> = names
            .iter()
            .filter(|(kind, _)| self.contains(*kind) && !(number && Kinds::NUMBER.contains(*kind)))
            .map(|(_, name)| *name)
            .collect();
        if number {
            words.push("number");
        }
        match words.as_slice() {
            [one] => f.write_str(one),
            many => write!(f, "({})", many.join("|")),
        }
    }
}
