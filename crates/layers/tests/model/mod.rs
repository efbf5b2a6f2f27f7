//! A naive engine: a left fold over owned trees, written for plainness. It shares no code with
//! the real one and is what the real one is compared with.

use base::{SourceId, Span, Symbols};
use data::{NodeId, Tree, TreeBuilder};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Plain>),
    /// Name, value, and whether it is marked `!default`.
    Map(Vec<(String, Plain, bool)>),
}

#[derive(Clone, Debug)]
pub struct Sheet {
    pub value: Plain,
    pub fixed: bool,
    pub level: u16,
    pub null_deletes: bool,
}

#[derive(Clone, Debug)]
enum Made {
    Leaf(Plain, bool, u16),
    Gone,
    Map(Vec<(String, Made)>),
}

/// The values, without marks, and the path of every refused contribution, sorted.
pub fn fold(sheets: &[Sheet]) -> (Option<Plain>, Vec<String>) {
    let (mut made, mut refused) = (None, Vec::new());
    for sheet in sheets {
        made = Some(lay(
            made,
            &sheet.value,
            sheet.fixed,
            sheet,
            "",
            &mut refused,
        ));
    }
    refused.sort();
    (made.and_then(|made| plain(&made)), refused)
}

fn lay(
    below: Option<Made>,
    value: &Plain,
    fixed: bool,
    sheet: &Sheet,
    path: &str,
    refused: &mut Vec<String>,
) -> Made {
    if let Some(old) = &below
        && !(matches!(old, Made::Map(_)) && matches!(value, Plain::Map(_)))
        && locked(old, sheet.level)
    {
        if !matches!(old, Made::Leaf(kept, ..) if strip(kept) == strip(value)) {
            refused.push(path.to_owned());
        }
        return old.clone();
    }
    match value {
        Plain::Map(fields) => {
            let mut made = match below {
                Some(Made::Map(fields)) => fields,
                _ => Vec::new(),
            };
            for (name, value, default) in fields {
                let path = format!("{path}/{name}");
                let fixed = fixed && !default;
                match made.iter_mut().find(|(known, _)| known == name) {
                    Some((_, old)) => {
                        *old = lay(Some(old.clone()), value, fixed, sheet, &path, refused)
                    }
                    None => {
                        let new = lay(None, value, fixed, sheet, &path, refused);
                        made.push((name.clone(), new));
                    }
                }
            }
            Made::Map(made)
        }
        Plain::Null if sheet.null_deletes => Made::Gone,
        leaf => Made::Leaf(leaf.clone(), fixed, sheet.level),
    }
}

fn locked(made: &Made, level: u16) -> bool {
    match made {
        Made::Leaf(_, fixed, by) => *fixed && *by < level,
        Made::Gone => false,
        Made::Map(fields) => fields.iter().any(|(_, made)| locked(made, level)),
    }
}

fn plain(made: &Made) -> Option<Plain> {
    match made {
        Made::Leaf(value, ..) => Some(strip(value)),
        Made::Gone => None,
        Made::Map(fields) => Some(Plain::Map(
            fields
                .iter()
                .filter_map(|(name, made)| Some((name.clone(), plain(made)?, false)))
                .collect(),
        )),
    }
}

/// A value without its marks, the fields inside lists in alphabetical order.
pub fn strip(value: &Plain) -> Plain {
    match value {
        Plain::List(items) => Plain::List(items.iter().map(sorted).collect()),
        Plain::Map(fields) => Plain::Map(
            fields
                .iter()
                .map(|(n, v, _)| (n.clone(), strip(v), false))
                .collect(),
        ),
        other => other.clone(),
    }
}

/// A value without its marks, all fields in alphabetical order.
pub fn sorted(value: &Plain) -> Plain {
    match strip(value) {
        Plain::Map(fields) => {
            let mut fields: Vec<_> = fields
                .iter()
                .map(|(n, v, _)| (n.clone(), sorted(v), false))
                .collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Plain::Map(fields)
        }
        other => other,
    }
}

/// The same value as the tree that the real engine reads.
pub fn tree(value: &Plain, source: u32, symbols: &mut Symbols) -> Tree {
    let mut builder = TreeBuilder::new(SourceId(source), "".into());
    let root = node(value, &mut builder, symbols);
    builder.finish(root)
}

fn node(value: &Plain, builder: &mut TreeBuilder, symbols: &mut Symbols) -> NodeId {
    let span = Span::new(builder.source(), 0..0);
    match value {
        Plain::Null => builder.null(span),
        Plain::Bool(value) => builder.bool(span, *value),
        Plain::Text(value) => builder.string(span, value),
        Plain::Int(value) => {
            let text = value.to_string();
            let number = data::Number {
                text: &text,
                is_int: true,
            };
            builder.number(span, number)
        }
        Plain::List(items) => {
            let items: Vec<NodeId> = items.iter().map(|v| node(v, builder, symbols)).collect();
            builder.list(span, &items)
        }
        Plain::Map(fields) => {
            let mut made = Vec::new();
            for (name, value, default) in fields {
                let value = node(value, builder, symbols);
                if *default {
                    builder.mark_default(value);
                }
                made.push(builder.field(span, symbols.intern(name), value));
            }
            builder.map(span, &made)
        }
    }
}
