//! Kinds of values as bit sets, and how concrete a value is.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of basic kinds. The empty set is bottom, the full set is top.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Kind(pub u16);

impl Kind {
    pub const BOTTOM: Kind = Kind(0);
    pub const NULL: Kind = Kind(1);
    pub const BOOL: Kind = Kind(1 << 1);
    pub const INT: Kind = Kind(1 << 2);
    pub const FLOAT: Kind = Kind(1 << 3);
    pub const STRING: Kind = Kind(1 << 4);
    pub const BYTES: Kind = Kind(1 << 5);
    pub const FUNC: Kind = Kind(1 << 6);
    pub const LIST: Kind = Kind(1 << 7);
    pub const STRUCT: Kind = Kind(1 << 8);
    pub const NUMBER: Kind = Kind(Self::INT.0 | Self::FLOAT.0);
    /// Functions that work on bytes take strings too.
    pub const TEXT: Kind = Kind(Self::STRING.0 | Self::BYTES.0);
    pub const TOP: Kind = Kind((1 << 9) - 1);
    pub const COMPOSITE: Kind = Kind(Self::LIST.0 | Self::STRUCT.0);

    pub fn is_bottom(self) -> bool {
        self.0 == 0
    }

    /// Whether the two sets have a kind in common.
    pub fn meets(self, other: Kind) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every kind of `other` is in this set.
    pub fn has(self, other: Kind) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn without(self, other: Kind) -> Kind {
        Kind(self.0 & !other.0)
    }

    fn write(self, f: &mut fmt::Formatter<'_>, types: bool) -> fmt::Result {
        if self.is_bottom() {
            return f.write_str("_|_");
        }
        if self == Kind::TOP {
            return f.write_str("_");
        }
        let names: [(Kind, &str); 9] = [
            (Kind::NULL, "null"),
            (Kind::BOOL, "bool"),
            (Kind::INT, "int"),
            (Kind::FLOAT, "float"),
            (Kind::STRING, "string"),
            (Kind::BYTES, "bytes"),
            (Kind::FUNC, if types { "_" } else { "func" }),
            (Kind::LIST, if types { "[...]" } else { "list" }),
            (Kind::STRUCT, if types { "{...}" } else { "struct" }),
        ];
        let number = self.has(Kind::NUMBER);
        let rest = if number {
            self.without(Kind::NUMBER)
        } else {
            self
        };
        let mut words: Vec<&str> = names
            .iter()
            .filter(|(kind, _)| rest.meets(*kind))
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

    /// The kind written as a CUE expression: `(string|{...})`.
    pub fn as_type(self) -> TypeName {
        TypeName(self)
    }
}

pub struct TypeName(Kind);

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, true)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

impl BitAnd for Kind {
    type Output = Kind;
    fn bitand(self, other: Kind) -> Kind {
        Kind(self.0 & other.0)
    }
}

impl BitAndAssign for Kind {
    fn bitand_assign(&mut self, other: Kind) {
        self.0 &= other.0;
    }
}

impl BitOr for Kind {
    type Output = Kind;
    fn bitor(self, other: Kind) -> Kind {
        Kind(self.0 | other.0)
    }
}

impl BitOrAssign for Kind {
    fn bitor_assign(&mut self, other: Kind) {
        self.0 |= other.0;
    }
}

impl Not for Kind {
    type Output = Kind;
    fn not(self) -> Kind {
        Kind(!self.0 & Kind::TOP.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn sets_are_named_as_the_reference_names_them() {
        assert_eq!(Kind::NUMBER.to_string(), "number");
        assert_eq!((Kind::INT | Kind::STRING).to_string(), "(int|string)");
        assert_eq!((Kind::NUMBER | Kind::NULL).to_string(), "(null|number)");
        assert_eq!(Kind::BOTTOM.to_string(), "_|_");
        assert_eq!(Kind::TOP.to_string(), "_");
        assert_eq!(Kind::COMPOSITE.as_type().to_string(), "([...]|{...})");
    }
}
