//! Plain data as CUE text, in the layout of all CUE that is written.

use data::Number;
use data::write::Writer;

use super::syntax::{Item, Layout, Syn, print_expr, print_file};
use super::values::text;
use crate::eval::quote;
use crate::packages::decode_base64;
use crate::syntax::literal::label_needs_quotes;

/// A CUE text in the making.
#[derive(Debug, Default)]
pub struct CueText {
    open: Vec<Open>,
    done: Option<Syn>,
}

/// A list or a map that has not ended.
#[derive(Debug)]
enum Open {
    List(Vec<Syn>),
    Map(Vec<Item>, String),
}

impl CueText {
    pub fn new() -> CueText {
        CueText::default()
    }

    /// The text, with a final line break. The outermost braces are left out.
    pub fn finish(self) -> String {
        let layout = Layout {
            tab: true,
            collapse: true,
        };
        match self.done {
            Some(Syn::Struct(items)) => print_file(&items, layout),
            Some(other) => print_expr(&other, layout),
            None => String::new(),
        }
    }

    fn add(&mut self, value: Syn) {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(items, key)) => items.push(Item::Field {
                label: std::mem::take(key),
                value,
                attributes: Vec::new(),
            }),
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Open::List(items)) => self.add(Syn::List(items)),
            Some(Open::Map(items, _)) => self.add(Syn::Struct(items)),
            None => {}
        }
    }
}

impl Writer for CueText {
    fn null(&mut self) {
        self.add(Syn::Atom("null".to_owned()));
    }

    fn bool(&mut self, value: bool) {
        self.add(Syn::Atom(value.to_string()));
    }

    fn number(&mut self, number: Number<'_>) {
        self.add(Syn::Atom(number.text.to_owned()));
    }

    fn string(&mut self, value: &str) {
        self.add(text(value));
    }

    fn bytes(&mut self, base64: &str) {
        let bytes = decode_base64(base64).unwrap_or_default();
        self.add(Syn::Atom(quote::bytes(&bytes)));
    }

    fn begin_list(&mut self) {
        self.open.push(Open::List(Vec::new()));
    }

    fn end_list(&mut self) {
        self.end();
    }

    fn begin_map(&mut self) {
        self.open.push(Open::Map(Vec::new(), String::new()));
    }

    fn key(&mut self, name: &str) {
        if let Some(Open::Map(_, key)) = self.open.last_mut() {
            *key = match label_needs_quotes(name) {
                true => quote::string(name),
                false => name.to_owned(),
            };
        }
    }

    fn end_map(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_with_everything() {
        let mut w = CueText::new();
        w.begin_map();
        w.key("values");
        w.begin_map();
        w.key("a-b");
        w.begin_list();
        w.bool(true);
        w.null();
        w.end_list();
        w.key("_x");
        w.begin_map();
        w.end_map();
        w.key("b");
        w.bytes("AEFi");
        w.end_map();
        w.end_map();
        let want = "values: {\n\t\"a-b\": [true, null]\n\t\"_x\": {}\n\tb: '\\x00Ab'\n}\n";
        assert_eq!(w.finish(), want);
    }
}
