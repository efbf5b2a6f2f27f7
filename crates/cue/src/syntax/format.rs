//! A tree to canonical text.
//!
//! The formatter keeps the line breaks and comments of the source and normalises everything else:
//! indentation, blanks around operators, commas, alignment of values, attributes and trailing
//! comments in columns. Nodes that were built and have no place in a source print well too: the
//! formatter decides where lines break. Formatting its own output changes nothing, but for comments in odd places, which may move
//! once more: [`format_text`] follows them until they stay.
//!
//! `decl` and `expr` walk the tree and emit tokens and wishes about white space; `stream` turns
//! those into text in cells; `cells` aligns them.

use std::sync::Arc;

use base::Symbols;

use super::ast::{Expr, ExprId, File, Gap, NodeRef, Pos};
use super::comments::Group;
use super::parser::parse_file;

mod binary;
mod cells;
mod decl;
mod expr;
mod held;
mod list;
mod simplify;
mod space;
mod stream;

pub use cells::Indent;

use simplify::Simpler;
use space::Space;
use stream::{Last, Stream};

/// How to print.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub indent: Indent,
    /// Collapse `{a: {b: 1}}` to `a: b: 1`, drop quotes that labels do not need, write `...` for
    /// `[string]: _`.
    pub simplify: bool,
}

/// Prints a whole file, with a line break at its end.
pub fn format_file(file: &File, symbols: &Symbols, options: Options) -> String {
    let mut formatter = Formatter::new(file, symbols, options);
    formatter.file();
    formatter.stream.finish()
}

/// How often a comment is followed.
const MOVES: usize = 8;

/// Prints a file that was read so that formatting the result changes nothing.
pub fn format_text(file: &File, symbols: &mut Symbols, options: Options) -> String {
    let mut text = format_file(file, symbols, options);
    if file.comments.is_empty() {
        return text;
    }
    for _ in 0..MOVES {
        let read = parse_file(file.source, &Arc::from(text.as_str()), symbols);
        let again = format_file(&read.file, symbols, options);
        if again == text || !read.errors.is_empty() {
            break;
        }
        text = again;
    }
    text
}

/// Prints one expression of a file, without a line break at its end.
pub fn format_expr(file: &File, expr: ExprId, symbols: &Symbols, options: Options) -> String {
    let mut formatter = Formatter::new(file, symbols, options);
    formatter.expr(expr);
    formatter.stream.finish_bare()
}

/// A node that is being printed.
struct Frame<'a> {
    groups: Vec<&'a Group>,
    next: usize,
    /// Tokens and children printed so far.
    seen: i32,
    /// Whether the node's parts are kept on one line.
    one_line: bool,
    parent_one_line: bool,
}

struct Formatter<'a> {
    file: &'a File,
    symbols: &'a Symbols,
    options: Options,
    stream: Stream,
    frames: Vec<Frame<'a>>,
    current: Frame<'a>,
    /// How many single-line strings are open: line breaks of the source are dropped in them.
    flat: usize,
    /// What is being printed must go on behind its parts.
    tied: bool,
    /// Comments that wait for a place where a line may end.
    held: Vec<&'a Group>,
    simpler: Simpler,
}

impl<'a> Formatter<'a> {
    fn new(file: &'a File, symbols: &'a Symbols, options: Options) -> Formatter<'a> {
        Formatter {
            file,
            symbols,
            options,
            stream: Stream::new(options.indent),
            frames: Vec::new(),
            current: Frame {
                groups: Vec::new(),
                next: 0,
                seen: 0,
                one_line: false,
                parent_one_line: false,
            },
            flat: 0,
            tied: false,
            held: Vec::new(),
            simpler: if options.simplify {
                Simpler::of(file, symbols)
            } else {
                Simpler::default()
            },
        }
    }

    // Nodes and their comments.

    /// Begins a node, or with `None` a list of nodes.
    fn before(&mut self, node: Option<NodeRef>) {
        let one_line = self.current.one_line;
        let child = Frame {
            groups: Vec::new(),
            next: 0,
            seen: 0,
            one_line,
            parent_one_line: one_line,
        };
        self.frames
            .push(std::mem::replace(&mut self.current, child));
        let Some(node) = node else {
            return;
        };
        if let NodeRef::Expr(id) = node
            && let Expr::Struct { decls, .. } = self.file.expr(id)
            && decls.len() <= 1
            && !one_line
            && self.on_one_line(node)
        {
            self.current.one_line = true;
        }
        self.current.groups = self.file.comments.of(node).iter().collect();
        self.comments_until(0);
    }

    fn after(&mut self) {
        self.comments_until(i32::MAX);
        if let Some(parent) = self.frames.pop() {
            self.current = parent;
        }
        self.seen_one();
    }

    /// Counts a token or child that is not there, or has been printed otherwise.
    fn seen_one(&mut self) {
        self.current.seen += 1;
        self.comments_until(self.current.seen);
    }

    fn comments_here(&mut self) {
        self.comments_until(self.current.seen);
    }

    fn comments_until(&mut self, position: i32) {
        let mut printed = false;
        while let Some(&group) = self.current.groups.get(self.current.next) {
            if group.position > position {
                return;
            }
            self.current.next += 1;
            if printed && self.may_break() {
                self.wish(Space::SECTION);
            }
            printed = true;
            self.comment(group);
        }
    }

    fn comment(&mut self, group: &'a Group) {
        if !self.may_break() {
            self.held.push(group);
            return;
        }
        self.held_here();
        let gap = if group.line { Gap::Blank } else { group.gap };
        if gap == Gap::Blank {
            self.wish(Space::BLANK);
        }
        if matches!(gap, Gap::Blank | Gap::None) {
            self.stream.unwish(Space::ANY_LINE | Space::SEPARATOR);
        }
        if group.doc && !self.stream.is_empty() {
            self.wish(Space::NEWLINE);
        }
        for (at, &text) in group.comments.iter().enumerate() {
            if self.stream.in_line {
                self.wish(Space::TAB);
            }
            let gap = match at {
                0 => group.gap,
                _ => Pos::at(text.start as usize).gap_in(&self.file.text),
            };
            self.stream.gap(gap);
            self.stream.comment(self.file.str(text));
            self.wish(Space::NEWLINE);
            if group.doc {
                self.wish(Space::FIRM);
            }
        }
    }

    // Output.

    fn wish(&mut self, space: Space) {
        self.stream.wish(space);
    }

    /// The white space before a token at a place.
    fn at(&mut self, pos: Pos) {
        self.stream.gap(pos.gap_in(&self.file.text));
    }

    /// The white space before a node. Inside a single-line string no line is broken for it.
    fn at_node(&mut self, pos: Pos) {
        let gap = self.node_gap(pos);
        self.stream.gap(gap);
    }

    fn node_gap(&self, pos: Pos) -> Gap {
        match pos.gap_in(&self.file.text) {
            Gap::Newline | Gap::Section if self.flat > 0 => Gap::Unknown,
            gap => gap,
        }
    }

    fn token(&mut self, text: &str) {
        self.stream.token(text);
        self.current.seen += 1;
    }

    /// A word that counts as a token but never needs blanks of its own.
    fn word(&mut self, text: &str) {
        self.stream.literal(text, Last::Other);
        self.current.seen += 1;
    }

    /// A line break that ends a table, unless the node is kept on one line.
    fn line_break(&self) -> Space {
        if self.current.one_line {
            Space::BLANK
        } else {
            Space::BREAK
        }
    }

    fn separator(one_line: bool) -> Space {
        if one_line {
            Space::BLANK
        } else {
            Space::NEWLINE
        }
    }

    // Facts about nodes.

    fn start(&self, expr: ExprId) -> Pos {
        self.file.start(NodeRef::Expr(expr))
    }

    /// Where the closing bracket of a node stands.
    fn closing(&self, node: NodeRef) -> Pos {
        let end = self.file.end(node);
        match end.offset() {
            Some(offset) => Pos::at((offset as usize).saturating_sub(1)),
            None => end,
        }
    }

    fn breaks_between(&self, from: Pos, to: Pos) -> bool {
        let (Some(from), Some(to)) = (from.offset(), to.offset()) else {
            return false;
        };
        let between = self.file.text.as_bytes().get(from as usize..to as usize);
        between.is_some_and(|bytes| bytes.contains(&b'\n'))
    }

    fn on_one_line(&self, node: NodeRef) -> bool {
        let Some((start, end)) = self.file.ends(node) else {
            return false;
        };
        start.is_parsed() && end.is_parsed() && !self.breaks_between(start, end)
    }

    fn has_comments(&self, node: NodeRef) -> bool {
        !self.file.comments.of(node).is_empty()
    }
}
