//! CUE that is plain data, read without the evaluator.
//!
//! A file whose `values` are written out (literals, structs, lists, `*x | _`) says just that: its tree is made from
//! the syntax. Whatever asks for evaluation (references, conditions, constraints, a field that is written twice) makes
//! the whole file a case for the evaluator. Both ways give the same tree with the same places; a test
//! holds them together.

use base::{Span, Symbol, Symbols};
use cue::number::Num;
use cue::syntax::ast::{BinaryOp, Decl, DeclId, Expr, ExprId, File, Label, List};
use cue::syntax::ast::{LiteralKind, UnaryOp};
use cue::syntax::literal;
use data::{Field, NodeId, Number, Tree, TreeBuilder};

/// What a file is found to be.
pub(crate) struct Plain {
    pub tree: Tree,
    /// There is nothing else in the file.
    pub is_all: bool,
}

/// The values of a file, if they are plain data.
pub(crate) fn read(files: &[&File], symbols: &mut Symbols) -> Option<Plain> {
    let [file] = files else {
        return None;
    };
    let mut values = None;
    let mut is_all = true;
    for id in file.list(file.decls) {
        match file.decl(id) {
            Decl::Package { .. } | Decl::Attribute(_) => {}
            Decl::Field(field) => match file.label(field.label) {
                (Label::Name { symbol, .. }, None) if symbols.name(symbol) == "values" => {
                    let is_field = field.constraint.is_none() && field.alias.is_none();
                    if !is_field || values.replace(field.value).is_some() {
                        return None;
                    }
                }
                _ => is_all = false,
            },
            // An embedding could add to the values.
            Decl::Embed(_) | Decl::Bad => return None,
            _ => is_all = false,
        }
    }
    let root = values?;
    let mut reader = Reader {
        file,
        symbols,
        builder: TreeBuilder::new(file.source, file.text.clone()),
        names: Vec::new(),
    };
    let Expr::Struct { decls, .. } = file.expr(root) else {
        return None;
    };
    let node = reader.map(root, decls)?;
    Some(Plain {
        tree: reader.builder.finish(node),
        is_all,
    })
}

struct Reader<'a> {
    file: &'a File,
    symbols: &'a mut Symbols,
    builder: TreeBuilder,
    /// By symbol: whether the struct at hand has such a field, to find those that are written twice.
    names: Vec<bool>,
}

impl Reader<'_> {
    /// Depth is bounded by the parser.
    fn value(&mut self, id: ExprId) -> Option<NodeId> {
        let span = self.file.expr_span(id);
        match self.file.expr(id) {
            Expr::Literal { kind, text } => self.literal(kind, self.file.str(text), span),
            Expr::Unary {
                op: UnaryOp::Minus,
                expr,
            } => match self.file.expr(expr) {
                Expr::Literal {
                    kind: LiteralKind::Int | LiteralKind::Float,
                    text,
                } => {
                    let number = Num::parse_literal(self.file.str(text)).ok()?;
                    Some(self.number(&number.negate(), span))
                }
                _ => None,
            },
            Expr::Struct { decls, .. } => self.map(id, decls),
            Expr::List { elements } => {
                let mut items = Vec::with_capacity(elements.len());
                for element in self.file.list(elements) {
                    items.push(self.value(element)?);
                }
                Some(self.builder.list(span, &items))
            }
            _ => None,
        }
    }

    /// A field's value, which may also be `*x | _` with a scalar.
    fn choice(&mut self, id: ExprId) -> Option<NodeId> {
        let Expr::Binary {
            op: BinaryOp::Or,
            left,
            right,
            ..
        } = self.file.expr(id)
        else {
            return self.value(id);
        };
        let Expr::Ident(any) = self.file.expr(right) else {
            return None;
        };
        let Expr::Unary {
            op: UnaryOp::Default,
            expr,
        } = self.file.expr(left)
        else {
            return None;
        };
        let Expr::Literal { kind, text } = self.file.expr(expr) else {
            return None;
        };
        if self.symbols.name(any) != "_" {
            return None;
        }
        let span = self.file.expr_span(id);
        let node = self.literal(kind, self.file.str(text), span)?;
        self.builder.mark_default(node);
        Some(node)
    }

    fn literal(&mut self, kind: LiteralKind, text: &str, span: Span) -> Option<NodeId> {
        Some(match kind {
            LiteralKind::Null => self.builder.null(span),
            LiteralKind::True => self.builder.bool(span, true),
            LiteralKind::False => self.builder.bool(span, false),
            LiteralKind::Int if is_plain(text) && span.end - span.start == count(text) => {
                self.builder.number_verbatim(span, true)
            }
            LiteralKind::Int | LiteralKind::Float => {
                let number = Num::parse_literal(text).ok()?;
                self.number(&number, span)
            }
            LiteralKind::String => match simple(text) {
                Some(inner) if span.end - span.start == count(text) => {
                    let start = span.start + 1;
                    let content = Span {
                        start,
                        end: start + count(inner),
                        ..span
                    };
                    self.builder.string_verbatim(span, content)
                }
                Some(inner) => self.builder.string(span, inner),
                None if text.starts_with(['"', '#']) => {
                    let value = literal::unquote_string(text).ok()?;
                    self.builder.string(span, &value)
                }
                None => return None,
            },
        })
    }

    fn number(&mut self, number: &Num, span: Span) -> NodeId {
        let text = number.to_string();
        self.builder.number(
            span,
            Number {
                text: &text,
                is_int: number.is_int(),
            },
        )
    }

    fn map(&mut self, id: ExprId, decls: List<DeclId>) -> Option<NodeId> {
        let mut fields: Vec<Field> = Vec::with_capacity(decls.len());
        for decl in self.file.list(decls) {
            let Decl::Field(field) = self.file.decl(decl) else {
                return None;
            };
            let plain =
                field.constraint.is_none() && field.alias.is_none() && field.attributes.is_empty();
            if !plain {
                return None;
            }
            let (label, key) = match self.file.label(field.label) {
                (Label::Name { symbol, expr }, None) => {
                    let name = self.symbols.name(symbol);
                    if name.starts_with(['_', '#']) {
                        return None;
                    }
                    (symbol, expr)
                }
                (Label::String { expr }, None) => {
                    let Expr::Literal { text, .. } = self.file.expr(expr) else {
                        return None;
                    };
                    let text = self.file.str(text);
                    let symbol = match simple(text) {
                        Some(name) => self.symbols.intern(name),
                        None => {
                            let name = literal::unquote_string(text).ok()?;
                            self.symbols.intern(&name)
                        }
                    };
                    (symbol, expr)
                }
                _ => return None,
            };
            let value = self.choice(field.value)?;
            let key = self.file.expr_span(key);
            fields.push(self.builder.field(key, label, value));
        }
        if self.has_twins(&fields) {
            return None;
        }
        let node = self.builder.map(self.file.expr_span(id), &fields);
        Some(node)
    }

    /// Whether two fields have one name.
    fn has_twins(&mut self, fields: &[Field]) -> bool {
        let mut twins = false;
        for field in fields {
            let slot = field.name.0 as usize;
            if slot >= self.names.len() {
                self.names.resize(slot + 1, false);
            }
            if let Some(seen) = self.names.get_mut(slot) {
                twins |= std::mem::replace(seen, true);
            }
        }
        for Field {
            name: Symbol(slot), ..
        } in fields
        {
            if let Some(seen) = self.names.get_mut(*slot as usize) {
                *seen = false;
            }
        }
        twins
    }
}

/// The text of a string in double quotes on one line without escapes.
fn simple(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let plain = !inner.contains(['\\', '"', '\n', '\r']);
    plain.then_some(inner)
}

/// Whether an integer is written as data writes it.
fn is_plain(text: &str) -> bool {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    digits && (text.len() == 1 || !text.starts_with('0'))
}

fn count(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}
