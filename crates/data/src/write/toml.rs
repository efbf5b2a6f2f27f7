//! TOML: plain values first, then tables under their headers.
//!
//! TOML wants the plain values of a table before its sub-tables, so nothing can be written before
//! everything is known: the events are kept as a list with lengths and written at the end. Strings stand
//! in single quotes where possible, as in the CUE reference; a list of tables becomes `[[name]]`, any
//! other list stays on its line. TOML has no null and needs a table at the root.

use std::fmt::Write as _;

use super::Writer;
use crate::tree::Number;

/// Why a value cannot be written as TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// What it is: `null`, or a root that is no map.
    pub what: &'static str,
    /// Where it is: keys and indices from the root.
    pub path: Vec<String>,
}

#[derive(Debug)]
enum Event {
    Null,
    Bool(bool),
    /// A number's text.
    Number(String),
    String(String),
    /// With the place in the list of events behind the whole list.
    List(usize),
    Map(usize),
    Key(String),
    End,
}

/// A TOML text in the making.
#[derive(Debug, Default)]
pub struct Toml {
    events: Vec<Event>,
    open: Vec<usize>,
    sorted: bool,
}

impl Toml {
    /// Keys in the order in which they come.
    pub fn new() -> Toml {
        Toml::default()
    }

    /// Keys in the order of the alphabet, as the CUE reference writes them.
    pub fn sorted() -> Toml {
        Toml {
            sorted: true,
            ..Toml::default()
        }
    }

    /// The text, with a final line break unless it is empty.
    pub fn finish(self) -> Result<String, Unwritable> {
        let mut printer = Printer {
            events: &self.events,
            sorted: self.sorted,
            out: String::new(),
            path: Vec::new(),
        };
        match self.events.first() {
            Some(Event::Map(_)) => printer.table(0)?,
            _ => return Err(printer.unwritable("a document that is no map")),
        }
        Ok(printer.out)
    }

    fn end(&mut self) {
        self.events.push(Event::End);
        let behind = self.events.len();
        let open = self.open.pop().and_then(|at| self.events.get_mut(at));
        if let Some(Event::List(end) | Event::Map(end)) = open {
            *end = behind;
        }
    }
}

impl Writer for Toml {
    fn null(&mut self) {
        self.events.push(Event::Null);
    }

    fn bool(&mut self, value: bool) {
        self.events.push(Event::Bool(value));
    }

    fn number(&mut self, number: Number<'_>) {
        self.events.push(Event::Number(number.text.to_owned()));
    }

    fn string(&mut self, value: &str) {
        self.events.push(Event::String(value.to_owned()));
    }

    fn bytes(&mut self, base64: &str) {
        self.string(base64);
    }

    fn begin_list(&mut self) {
        self.open.push(self.events.len());
        self.events.push(Event::List(0));
    }

    fn end_list(&mut self) {
        self.end();
    }

    fn begin_map(&mut self) {
        self.open.push(self.events.len());
        self.events.push(Event::Map(0));
    }

    fn key(&mut self, name: &str) {
        self.events.push(Event::Key(name.to_owned()));
    }

    fn end_map(&mut self) {
        self.end();
    }
}

struct Printer<'a> {
    events: &'a [Event],
    sorted: bool,
    out: String,
    path: Vec<String>,
}

impl<'a> Printer<'a> {
    fn unwritable(&self, what: &'static str) -> Unwritable {
        Unwritable {
            what,
            path: self.path.clone(),
        }
    }

    /// The place behind the value at `at`.
    fn behind(&self, at: usize) -> usize {
        match self.events.get(at) {
            Some(Event::List(end) | Event::Map(end)) => *end,
            _ => at + 1,
        }
    }

    /// Keys and places of the values of a map.
    fn fields(&self, map: usize) -> Vec<(&'a str, usize)> {
        let mut fields = Vec::new();
        let mut at = map + 1;
        while let Some(Event::Key(name)) = self.events.get(at) {
            fields.push((name.as_str(), at + 1));
            at = self.behind(at + 1);
        }
        if self.sorted {
            fields.sort();
        }
        fields
    }

    fn items(&self, list: usize) -> Vec<usize> {
        let mut items = Vec::new();
        let mut at = list + 1;
        while at + 1 < self.behind(list) {
            items.push(at);
            at = self.behind(at);
        }
        items
    }

    fn is_map(&self, at: usize) -> bool {
        matches!(self.events.get(at), Some(Event::Map(_)))
    }

    /// A list that is written as `[[name]]`.
    fn is_table_list(&self, at: usize) -> bool {
        let items = match self.events.get(at) {
            Some(Event::List(_)) => self.items(at),
            _ => return false,
        };
        !items.is_empty() && items.iter().all(|&item| self.is_map(item))
    }

    /// The inside of a table, below its header.
    fn table(&mut self, map: usize) -> Result<(), Unwritable> {
        let fields = self.fields(map);
        let (tables, plain): (Vec<_>, Vec<_>) = fields
            .into_iter()
            .partition(|&(_, at)| self.is_map(at) || self.is_table_list(at));
        for (name, at) in plain {
            self.path.push(name.to_owned());
            key(&mut self.out, name);
            self.out.push_str(" = ");
            self.inline(at)?;
            self.out.push('\n');
            self.path.pop();
        }
        for (name, at) in tables {
            self.path.push(name.to_owned());
            if self.is_map(at) {
                // A table that holds only tables needs no header of its own.
                let fields = self.fields(at);
                let bare = !self.sorted
                    && !fields.is_empty()
                    && fields.iter().all(|&(_, at)| self.is_map(at));
                if !bare {
                    self.header("[", "]");
                }
                self.table(at)?;
            } else {
                for item in self.items(at) {
                    self.header("[[", "]]");
                    self.table(item)?;
                }
            }
            self.path.pop();
        }
        Ok(())
    }

    fn header(&mut self, open: &str, close: &str) {
        // The reference puts no blank line between two headers.
        let after_header = self.sorted && self.out.ends_with("]\n") && self.last_is_header();
        if !self.out.is_empty() && !after_header {
            self.out.push('\n');
        }
        self.out.push_str(open);
        for (i, part) in self.path.iter().enumerate() {
            if i > 0 {
                self.out.push('.');
            }
            key(&mut self.out, part);
        }
        self.out.push_str(close);
        self.out.push('\n');
    }

    fn last_is_header(&self) -> bool {
        let last = self.out.trim_end().lines().next_back();
        last.is_some_and(|line| line.starts_with('['))
    }

    fn inline(&mut self, at: usize) -> Result<(), Unwritable> {
        match self.events.get(at) {
            Some(Event::Bool(value)) => self.out.push_str(if *value { "true" } else { "false" }),
            Some(Event::Number(text)) => self.out.push_str(text),
            Some(Event::String(text)) => string(&mut self.out, text),
            Some(Event::List(_)) => {
                self.out.push('[');
                for (i, item) in self.items(at).into_iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.path.push(i.to_string());
                    self.inline(item)?;
                    self.path.pop();
                }
                self.out.push(']');
            }
            Some(Event::Map(_)) => {
                self.out.push('{');
                for (i, (name, value)) in self.fields(at).into_iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.path.push(name.to_owned());
                    key(&mut self.out, name);
                    self.out.push_str(" = ");
                    self.inline(value)?;
                    self.path.pop();
                }
                self.out.push('}');
            }
            Some(Event::Null | Event::Key(_) | Event::End) | None => {
                return Err(self.unwritable("null"));
            }
        }
        Ok(())
    }
}

fn key(out: &mut String, name: &str) {
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if bare {
        out.push_str(name);
    } else {
        string(out, name);
    }
}

fn string(out: &mut String, value: &str) {
    if !value.contains(|c: char| c == '\'' || (c.is_control() && c != '\t')) {
        out.push('\'');
        out.push_str(value);
        out.push('\'');
        return;
    }
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => write!(out, "\\u{:04X}", u32::from(c))
                .expect("a String takes all that is written to it"),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_before_tables() {
        let mut toml = Toml::new();
        toml.begin_map();
        toml.key("z");
        toml.begin_map();
        toml.key("inner");
        toml.begin_map();
        toml.key("x y");
        toml.string("it's\n");
        toml.end_map();
        toml.end_map();
        toml.key("a");
        toml.begin_list();
        toml.string("p");
        toml.begin_map();
        toml.end_map();
        toml.end_list();
        toml.key("t");
        toml.begin_list();
        for text in ["1", "2.0"] {
            toml.begin_map();
            toml.key("n");
            toml.number(Number {
                text,
                is_int: false,
            });
            toml.end_map();
        }
        toml.end_list();
        toml.end_map();
        assert_eq!(
            toml.finish().as_deref(),
            Ok(
                "a = ['p', {}]\n\n[z.inner]\n'x y' = \"it's\\n\"\n\n[[t]]\nn = 1\n\n[[t]]\nn = 2.0\n"
            )
        );
    }

    #[test]
    fn what_toml_cannot_hold_is_named() {
        let mut toml = Toml::new();
        toml.begin_map();
        toml.key("a");
        toml.begin_list();
        toml.null();
        toml.end_list();
        toml.end_map();
        assert_eq!(
            toml.finish(),
            Err(Unwritable {
                what: "null",
                path: vec!["a".to_owned(), "0".to_owned()],
            })
        );
        let mut toml = Toml::new();
        toml.string("x");
        assert!(toml.finish().is_err());
    }
}
