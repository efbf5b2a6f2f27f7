//! Field labels as interned numbers.
//!
//! The low four bits say what sort of label it is, the rest is a list index or the number of an
//! interned name. Hidden names carry their package, `let` names a serial number, behind a NUL, so that equal
//! labels are equal numbers and different scopes never meet.

use base::Symbols;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Label(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabelKind {
    None,
    String,
    Int,
    Def,
    Hidden,
    HiddenDef,
    Let,
}

const SHIFT: u32 = 4;
/// The largest list index a label can hold.
pub const MAX_INDEX: u32 = (1 << (32 - SHIFT)) - 2;

impl Label {
    /// No label: the root of a tree, or a label that could not be computed.
    pub const NONE: Label = Label(0);

    fn make(index: u32, kind: LabelKind) -> Label {
        Label(index << SHIFT | kind as u32)
    }

    pub fn int(index: usize) -> Label {
        let index = u32::try_from(index).unwrap_or(MAX_INDEX).min(MAX_INDEX);
        Label::make(index, LabelKind::Int)
    }

    pub fn string(symbols: &mut Symbols, name: &str) -> Label {
        Label::make(symbols.intern(name).0, LabelKind::String)
    }

    /// The string label of an interned name.
    pub fn of_symbol(symbol: base::Symbol) -> Label {
        Label::make(symbol.0, LabelKind::String)
    }

    /// The label an identifier stands for in a field of the given package.
    pub fn ident(symbols: &mut Symbols, name: &str, package: &str) -> Label {
        let symbol = symbols.intern(name);
        Label::of_ident(symbols, symbol, package)
    }

    /// The same for an identifier that is interned.
    pub fn of_ident(symbols: &mut Symbols, symbol: base::Symbol, package: &str) -> Label {
        let name = symbols.name(symbol);
        let kind = match name.as_bytes() {
            [b'_', b'#', ..] => LabelKind::HiddenDef,
            [b'_', ..] => LabelKind::Hidden,
            [b'#', ..] => return Label::make(symbol.0, LabelKind::Def),
            _ => return Label::of_symbol(symbol),
        };
        let key = format!("{name}\0{package}");
        Label::make(symbols.intern(&key).0, kind)
    }

    pub fn let_clause(symbols: &mut Symbols, name: &str, serial: u32) -> Label {
        let key = format!("{name}\0{serial:X}");
        Label::make(symbols.intern(&key).0, LabelKind::Let)
    }

    pub fn kind(self) -> LabelKind {
        match self.0 & ((1 << SHIFT) - 1) {
            1 => LabelKind::String,
            2 => LabelKind::Int,
            3 => LabelKind::Def,
            4 => LabelKind::Hidden,
            5 => LabelKind::HiddenDef,
            6 => LabelKind::Let,
            _ => LabelKind::None,
        }
    }

    pub fn index(self) -> u32 {
        self.0 >> SHIFT
    }

    pub fn is_string(self) -> bool {
        self.kind() == LabelKind::String
    }

    pub fn is_int(self) -> bool {
        self.kind() == LabelKind::Int
    }

    /// A field of the data: neither definition, hidden nor `let`.
    pub fn is_regular(self) -> bool {
        matches!(self.kind(), LabelKind::String | LabelKind::Int)
    }

    pub fn is_def(self) -> bool {
        matches!(self.kind(), LabelKind::Def | LabelKind::HiddenDef)
    }

    pub fn is_hidden(self) -> bool {
        matches!(self.kind(), LabelKind::Hidden | LabelKind::HiddenDef)
    }

    pub fn is_let(self) -> bool {
        self.kind() == LabelKind::Let
    }

    /// Closedness never forbids these.
    pub fn always_allowed(self) -> bool {
        self.is_hidden() || self.is_def() || self.is_let()
    }

    /// The bare name, without package or serial number, unquoted.
    pub fn name(self, symbols: &Symbols) -> &str {
        let full = symbols.name(base::Symbol(self.index()));
        full.split('\0').next().unwrap_or("")
    }

    /// The package part of a hidden label.
    pub fn package(self, symbols: &Symbols) -> &str {
        let full = symbols.name(base::Symbol(self.index()));
        full.split_once('\0').map_or("", |(_, package)| package)
    }

    /// As written in a path or selector: quoted where an identifier would not do.
    pub fn selector(self, symbols: &Symbols) -> String {
        match self.kind() {
            LabelKind::None => "_".to_owned(),
            LabelKind::Int => self.index().to_string(),
            LabelKind::String => {
                let name = self.name(symbols);
                if crate::syntax::literal::label_needs_quotes(name) {
                    super::quote::string(name)
                } else {
                    name.to_owned()
                }
            }
            _ => self.name(symbols).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_of_labels_do_not_meet() {
        let mut symbols = Symbols::new();
        let a = Label::string(&mut symbols, "a");
        assert_eq!(a, Label::ident(&mut symbols, "a", "p"));
        let h = Label::ident(&mut symbols, "_h", "p");
        assert_ne!(h, Label::ident(&mut symbols, "_h", "q"));
        assert!(h.is_hidden() && h.always_allowed());
        assert_eq!(h.name(&symbols), "_h");
        assert!(Label::ident(&mut symbols, "_#D", "").is_def());
        assert_eq!(Label::int(7).selector(&symbols), "7");
        let odd = Label::string(&mut symbols, "a-b");
        assert_eq!(odd.selector(&symbols), "\"a-b\"");
    }
}
