//! A small syntax tree for output, and its layout.
//!
//! Values are turned into this tree and then printed: one field a line, values of neighbouring one-line
//! fields in one column, four spaces or a tab for each level.

/// An expression to print.
#[derive(Clone, Debug, PartialEq)]
pub enum Syn {
    /// Text that is complete in itself.
    Atom(String),
    /// A multi-line string: its lines without indentation, and the closing quotes.
    Lines(Vec<String>),
    Struct(Vec<Item>),
    List(Vec<Syn>),
    /// Operands joined by one operator of the given precedence.
    Binary(&'static str, u8, Vec<Syn>),
    Unary(&'static str, Box<Syn>),
    Call(Box<Syn>, Vec<Syn>),
    Select(Box<Syn>, String),
    Index(Box<Syn>, Box<Syn>),
    Slice(Box<Syn>, Option<Box<Syn>>, Option<Box<Syn>>),
    /// Text and expressions by turns, with the quotes around.
    Interpolation(Vec<Syn>),
    Ellipsis(Option<Box<Syn>>),
    Comprehension(Vec<Syn>, Box<Syn>, Option<Box<Syn>>),
    /// `X...`
    Open(Box<Syn>),
    /// `X=expr` or a clause: words and expressions in a row.
    Words(Vec<Syn>),
}

/// A declaration to print.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Field {
        label: String,
        value: Syn,
        /// Behind the value.
        attributes: Vec<String>,
    },
    Embed(Syn),
    Let {
        name: String,
        value: Syn,
    },
    Ellipsis(Option<Syn>),
    /// A comment or anything else that is a line of its own.
    Line(String),
}

/// How to lay out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub tab: bool,
    /// `a: {b: 1}` as `a: b: 1`.
    pub collapse: bool,
}

pub fn print_file(items: &[Item], layout: Layout) -> String {
    let mut p = Printer {
        out: String::new(),
        layout,
        depth: 0,
    };
    p.items(items);
    if p.out.is_empty() {
        p.out.push('\n');
    }
    p.out
}

pub fn print_expr(syn: &Syn, layout: Layout) -> String {
    let mut p = Printer {
        out: String::new(),
        layout,
        depth: 0,
    };
    p.syn(syn, 0);
    p.out.push('\n');
    p.out
}

/// The labels of a field, its value, its attributes.
type Row<'s> = (String, &'s Syn, &'s [String]);

struct Printer {
    out: String,
    layout: Layout,
    depth: usize,
}

fn is_multiline(syn: &Syn) -> bool {
    match syn {
        Syn::Struct(items) => !items.is_empty(),
        Syn::Lines(_) => true,
        Syn::List(items) => items.iter().any(is_multiline),
        Syn::Binary(_, _, items) => items.iter().any(is_multiline),
        Syn::Unary(_, x) | Syn::Open(x) | Syn::Select(x, _) => is_multiline(x),
        Syn::Call(f, args) => is_multiline(f) || args.iter().any(is_multiline),
        Syn::Ellipsis(x) => x.as_deref().is_some_and(is_multiline),
        Syn::Comprehension(..) => true,
        Syn::Index(x, y) => is_multiline(x) || is_multiline(y),
        Syn::Words(items) => items.iter().any(is_multiline),
        _ => false,
    }
}

impl Printer {
    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out
                .push_str(if self.layout.tab { "\t" } else { "    " });
        }
    }

    fn newline(&mut self) {
        self.out.push('\n');
    }

    /// A field with the fields it is collapsed with: labels and the last value.
    fn collapsed<'s>(&self, label: &str, value: &'s Syn, attributes: &'s [String]) -> Row<'s> {
        let mut labels = format!("{label}:");
        let (mut value, mut attributes) = (value, attributes);
        if self.layout.collapse {
            while attributes.is_empty()
                && let Syn::Struct(items) = value
                && let [
                    Item::Field {
                        label,
                        value: v,
                        attributes: a,
                    },
                ] = items.as_slice()
            {
                labels.push(' ');
                labels.push_str(label);
                labels.push(':');
                (value, attributes) = (v, a);
            }
        }
        (labels, value, attributes)
    }

    fn items(&mut self, items: &[Item]) {
        let rows: Vec<(Option<Row<'_>>, &Item)> = items
            .iter()
            .map(|item| match item {
                Item::Field {
                    label,
                    value,
                    attributes,
                } => (Some(self.collapsed(label, value, attributes)), item),
                _ => (None, item),
            })
            .collect();
        let alignable = |row: &(Option<Row<'_>>, &Item)| match &row.0 {
            Some((_, value, _)) => {
                !matches!(value, Syn::Struct(_) | Syn::List(_)) && !is_multiline(value)
            }
            None => false,
        };
        let depth_of = |labels: &str| labels.matches(": ").count();
        let mut i = 0;
        while let Some(row) = rows.get(i) {
            let mut width = 0;
            let mut end = i + 1;
            if alignable(row) {
                let depth = row.0.as_ref().map_or(0, |r| depth_of(&r.0));
                while rows.get(end).is_some_and(|r| {
                    alignable(r) && r.0.as_ref().map_or(0, |r| depth_of(&r.0)) == depth
                }) {
                    end += 1;
                }
                width = rows
                    .get(i..end)
                    .unwrap_or(&[])
                    .iter()
                    .filter_map(|r| r.0.as_ref().map(|r| r.0.chars().count()))
                    .max()
                    .unwrap_or(0);
            }
            for row in rows.get(i..end).unwrap_or(&[]) {
                self.indent();
                self.row(row, width);
                self.newline();
            }
            i = end;
        }
    }

    fn row(&mut self, row: &(Option<Row<'_>>, &Item), width: usize) {
        if let Some((labels, value, attributes)) = &row.0 {
            self.out.push_str(labels);
            let pad = width.saturating_sub(labels.chars().count());
            for _ in 0..=pad {
                self.out.push(' ');
            }
            self.syn(value, 0);
            for attribute in *attributes {
                self.out.push(' ');
                self.out.push_str(attribute);
            }
            return;
        }
        match row.1 {
            Item::Field { .. } => {}
            Item::Embed(syn) => self.syn(syn, 0),
            Item::Let { name, value } => {
                self.out.push_str("let ");
                self.out.push_str(name);
                self.out.push_str(" = ");
                self.syn(value, 0);
            }
            Item::Ellipsis(of) => {
                self.out.push_str("...");
                if let Some(of) = of {
                    self.syn(of, 0);
                }
            }
            Item::Line(text) => self.out.push_str(text),
        }
    }

    fn list(&mut self, items: &[Syn]) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 && !self.out.ends_with('\n') {
                self.out.push_str(", ");
            }
            // A comment ends the line, so the comma goes before it.
            match item {
                Syn::Atom(text) if text.contains(" // ") => {
                    self.out.push_str(&text.replacen(" // ", ", // ", 1));
                    self.newline();
                }
                _ => self.syn(item, 0),
            }
        }
    }

    fn syn(&mut self, syn: &Syn, precedence: u8) {
        match syn {
            Syn::Atom(text) => self.out.push_str(text),
            Syn::Lines(lines) => {
                for (i, line) in lines.iter().enumerate() {
                    if i > 0 {
                        self.newline();
                        if !line.is_empty() {
                            self.depth += 1;
                            self.indent();
                            self.depth -= 1;
                        }
                    }
                    self.out.push_str(line);
                }
            }
            Syn::Struct(items) => {
                if items.is_empty() {
                    self.out.push_str("{}");
                    return;
                }
                self.out.push('{');
                self.newline();
                self.depth += 1;
                self.items(items);
                self.depth -= 1;
                self.indent();
                self.out.push('}');
            }
            Syn::List(items) => {
                self.out.push('[');
                self.list(items);
                self.out.push(']');
            }
            Syn::Binary(op, own, operands) => {
                let parens = precedence > 0 && *own < precedence;
                if parens {
                    self.out.push('(');
                }
                let tight = *own >= 7 || parens && *own >= 6;
                for (i, operand) in operands.iter().enumerate() {
                    if i > 0 {
                        if tight && precedence > 0 && !parens {
                            self.out.push_str(op);
                        } else {
                            self.out.push(' ');
                            self.out.push_str(op);
                            self.out.push(' ');
                        }
                    }
                    self.syn(operand, own + u8::from(i > 0));
                }
                if parens {
                    self.out.push(')');
                }
            }
            Syn::Unary(op, x) => {
                self.out.push_str(op);
                let behind = self.out.len();
                self.syn(x, 8);
                // `<-`, `<=`, `!~` and the like are tokens of their own.
                let next = self.out.get(behind..).and_then(|text| text.chars().next());
                if matches!(*op, "<" | ">" | "!") && matches!(next, Some('-' | '=' | '~')) {
                    self.out.insert(behind, ' ');
                }
            }
            Syn::Call(fun, args) => {
                self.syn(fun, 9);
                self.out.push('(');
                self.list(args);
                self.out.push(')');
            }
            Syn::Select(x, label) => {
                self.syn(x, 9);
                self.out.push('.');
                self.out.push_str(label);
            }
            Syn::Index(x, index) => {
                self.syn(x, 9);
                self.out.push('[');
                self.syn(index, 0);
                self.out.push(']');
            }
            Syn::Slice(x, lo, hi) => {
                self.syn(x, 9);
                self.out.push('[');
                if let Some(lo) = lo {
                    self.syn(lo, 0);
                }
                self.out.push(':');
                if let Some(hi) = hi {
                    self.syn(hi, 0);
                }
                self.out.push(']');
            }
            Syn::Interpolation(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    if i % 2 == 1 {
                        self.out.push_str("\\(");
                        self.syn(part, 0);
                        self.out.push(')');
                    } else if let Syn::Atom(text) = part {
                        // Lines of a text of several are indented with it.
                        for (k, line) in text.split('\n').enumerate() {
                            if k > 0 {
                                self.newline();
                                self.depth += 1;
                                self.indent();
                                self.depth -= 1;
                            }
                            self.out.push_str(line);
                        }
                    } else {
                        self.syn(part, 0);
                    }
                }
            }
            Syn::Ellipsis(of) => {
                self.out.push_str("...");
                if let Some(of) = of {
                    self.syn(of, 0);
                }
            }
            Syn::Comprehension(clauses, value, fallback) => {
                for clause in clauses {
                    self.syn(clause, 0);
                    self.out.push(' ');
                }
                self.syn(value, 0);
                if let Some(fallback) = fallback {
                    self.out.push_str(" else ");
                    self.syn(fallback, 0);
                }
            }
            Syn::Open(x) => {
                self.syn(x, 9);
                self.out.push_str("...");
            }
            Syn::Words(words) => {
                for word in words {
                    self.syn(word, 0);
                }
            }
        }
    }
}
