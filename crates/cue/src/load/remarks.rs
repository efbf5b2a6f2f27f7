//! Comments of YAML documents, and which field each belongs to.
//!
//! The tree keeps no comments, but it knows where every key and scalar stands: a `#` outside of all of them begins a
//! comment. Comments above a field are its documentation, as is a block directly below it that a blank line ends; a comment
//! on a field's line stays there.

use std::collections::VecDeque;

use data::{NodeId, Tree, Value};

/// One comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remark {
    /// Without its mark and the blank behind it.
    pub text: String,
    start: usize,
    /// Nothing else stands before it on its line.
    alone: bool,
}

/// The comments of a document that have not been placed yet.
pub(super) struct Remarks<'t> {
    text: &'t str,
    left: VecDeque<Remark>,
}

impl<'t> Remarks<'t> {
    pub fn none(text: &'t str) -> Remarks<'t> {
        Remarks {
            text,
            left: VecDeque::new(),
        }
    }

    /// The comments of one document of a text.
    pub fn of(tree: &Tree, text: &'t str) -> Remarks<'t> {
        let mut remarks = Remarks::none(text);
        let mut covered = Vec::new();
        cover(tree, tree.root(), text, &mut covered);
        covered.sort_unstable();
        let root = tree.span(tree.root()).range();
        let begin = after_last_marker(text, root.start);
        let end = before_next_marker(text, root.end.max(begin));
        let mut at = begin;
        for (start, stop) in covered {
            if start > at {
                remarks.gather(at, start.min(end));
            }
            at = at.max(stop);
        }
        remarks.gather(at, end);
        remarks
    }

    fn gather(&mut self, from: usize, to: usize) {
        let Some(gap) = self.text.get(from..to) else {
            return;
        };
        let mut at = from;
        for line in gap.split_inclusive('\n') {
            let before = self.text.get(..at).unwrap_or("");
            let begins = at == 0 || before.ends_with('\n');
            let found = line.match_indices('#').map(|(i, _)| i).find(|&i| {
                let head = line.get(..i).unwrap_or("");
                match head.chars().next_back() {
                    Some(c) => c.is_whitespace(),
                    None => begins || before.ends_with([' ', '\t']),
                }
            });
            if let Some(i) = found {
                let body = line.get(i + 1..).unwrap_or("").trim_end();
                self.left.push_back(Remark {
                    text: body.strip_prefix(' ').unwrap_or(body).to_owned(),
                    start: at + i,
                    alone: self.line_before(at + i).trim().is_empty(),
                });
            }
            at += line.len();
        }
    }

    /// What stands before an offset on its line.
    fn line_before(&self, offset: usize) -> &'t str {
        let before = self.text.get(..offset).unwrap_or("");
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        before.get(start..).unwrap_or("")
    }

    fn line_of(&self, offset: usize) -> usize {
        let before = self.text.get(..offset).unwrap_or(self.text);
        before.bytes().filter(|b| *b == b'\n').count()
    }

    /// All comments before an offset.
    pub fn above(&mut self, offset: usize) -> Vec<String> {
        let mut found = Vec::new();
        while self.left.front().is_some_and(|r| r.start < offset) {
            found.extend(self.left.pop_front().map(|r| r.text));
        }
        found
    }

    /// The comment on the line of an offset, behind it.
    pub fn beside(&mut self, offset: usize) -> Option<String> {
        let next = self.left.front()?;
        if next.alone || next.start < offset {
            return None;
        }
        let between = self.text.get(offset..next.start)?;
        if between.contains('\n') {
            return None;
        }
        self.left.pop_front().map(|r| r.text)
    }

    /// A block of comments directly below an offset's line that a blank line follows.
    pub fn below(&mut self, offset: usize) -> Vec<String> {
        let first = self.line_of(offset) + 1;
        let block = (first..).zip(&self.left);
        let block = block.take_while(|(line, r)| r.alone && self.line_of(r.start) == *line);
        let starts: Vec<usize> = block.map(|(_, remark)| remark.start).collect();
        let (count, end) = (starts.len(), starts.last().copied().unwrap_or(offset));
        let rest = self.text.get(end..).unwrap_or("");
        let mut lines = rest.lines().skip(1);
        let blank_follows = lines.next().is_some_and(|line| line.trim().is_empty());
        if count == 0 || !blank_follows || lines.next().is_none() {
            return Vec::new();
        }
        self.left.drain(..count).map(|r| r.text).collect()
    }

    /// Whatever is left.
    pub fn rest(&mut self) -> Vec<String> {
        self.left.drain(..).map(|r| r.text).collect()
    }
}

/// The ranges of all keys and scalars.
fn cover(tree: &Tree, id: NodeId, text: &str, out: &mut Vec<(usize, usize)>) {
    match tree.value(id) {
        // Nothing in an empty collection could carry a comment.
        Value::List([]) | Value::Map([]) => {
            let span = tree.span(id).range();
            out.push((span.start, span.end));
        }
        Value::List(items) => {
            for &item in items {
                cover(tree, item, text, out);
            }
        }
        Value::Map(fields) => {
            for field in fields {
                let key = tree.key_span(field).range();
                out.push((key.start, key.end));
                cover(tree, field.value, text, out);
            }
        }
        _ => {
            let span = tree.span(id).range();
            let written = text.get(span.clone()).unwrap_or("");
            // The head of a block of text may have a comment of its own.
            let head = match written.starts_with(['|', '>']) {
                true => written.find('\n').map_or(written.len(), |at| at + 1),
                false => 0,
            };
            out.push((span.start + head, span.end));
        }
    }
}

/// Behind the last `---` before an offset.
fn after_last_marker(text: &str, offset: usize) -> usize {
    let mut at = 0;
    let mut found = 0;
    for line in text.split_inclusive('\n') {
        if at >= offset.max(1) {
            break;
        }
        if line.trim_end() == "---" {
            found = at + line.len();
        }
        at += line.len();
    }
    found
}

/// Before the next `---` or `...` behind an offset.
fn before_next_marker(text: &str, offset: usize) -> usize {
    let mut at = offset;
    for line in text.get(offset..).unwrap_or("").split_inclusive('\n') {
        let whole = at == 0 || text.get(..at).is_some_and(|t| t.ends_with('\n'));
        if whole && matches!(line.trim_end(), "---" | "...") {
            return at;
        }
        at += line.len();
    }
    text.len()
}
