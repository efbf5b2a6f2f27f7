//! Which node a comment belongs to.
//!
//! The parser opens a frame when it begins a node and closes it when the node is made. Comments
//! met in between are kept in the innermost frame with the number of tokens and children that
//! frame has seen, and go to the node when the frame is closed. A comment directly above a token
//! (a lead comment) is held back for the next node that opens.
//!
//! Lists of nodes (fields, elements, arguments) are no nodes themselves. A list frame hands its
//! comments to the child before them, or to the next child if there is none.

use super::Parser;
use crate::syntax::ast::{Gap, NodeRef, Text};
use crate::syntax::comments::Group;
use crate::syntax::token::Token;

#[derive(Default)]
struct Frame {
    /// Tokens and children so far.
    seen: i32,
    groups: Vec<Group>,
    /// How many lists are open in this frame; 0 for a node.
    lists: u32,
    last_child: Option<(NodeRef, i32)>,
}

pub(super) struct Attach {
    frames: Vec<Frame>,
    lead: Option<Group>,
}

impl Attach {
    pub fn new() -> Attach {
        Attach {
            frames: vec![Frame {
                seen: -1,
                ..Frame::default()
            }],
            lead: None,
        }
    }

    fn top(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        self.frames.last_mut().expect("there is one")
    }

    fn add(&mut self, mut group: Group) {
        let top = self.top();
        group.position = top.seen;
        top.groups.push(group);
    }
}

impl Parser<'_> {
    /// Begins a node.
    pub(super) fn open(&mut self) {
        let mut child = Frame::default();
        let top = self.attach.top();
        if top.lists > 0 && !top.groups.is_empty() {
            let groups = std::mem::take(&mut top.groups);
            match top.last_child {
                Some((node, position)) => {
                    let (first, rest): (Vec<Group>, Vec<Group>) =
                        groups.into_iter().partition(|group| group.position == 0);
                    let already = self.file.comments.take(node);
                    let rest = rest.into_iter().map(|group| Group { position, ..group });
                    for group in first.into_iter().chain(already).chain(rest) {
                        self.file.comments.add(node, group);
                    }
                }
                None => {
                    let groups = groups.into_iter();
                    child.groups = groups
                        .map(|group| Group {
                            position: 0,
                            ..group
                        })
                        .collect();
                }
            }
        }
        child.groups.extend(self.attach.lead.take());
        self.attach.frames.push(child);
    }

    /// Sets how many tokens and children the open node has had, for nodes that begin with a
    /// child that was read before they were opened.
    pub(super) fn set_seen(&mut self, seen: i32) {
        self.attach.top().seen = seen;
    }

    pub(super) fn seen(&mut self) -> i32 {
        self.attach.top().seen
    }

    /// Ends a node.
    pub(super) fn close(&mut self, node: NodeRef) {
        let Some(frame) = self.attach.frames.pop() else {
            return;
        };
        // A node that was opened twice has its end where the inner frame has it.
        let seen = match frame.last_child {
            Some((inner, seen)) if inner == node => seen.max(frame.seen),
            _ => frame.seen,
        };
        let parent = self.attach.top();
        parent.last_child = Some((node, seen));
        parent.seen += 1;
        if frame.groups.is_empty() {
            return;
        }
        // Comments between its brackets are there already; they come after those above it.
        let mut groups = self.file.comments.take(node);
        groups.extend(frame.groups);
        groups.sort_by_key(|group| group.position);
        for group in groups {
            self.file.comments.add(node, group);
        }
    }

    /// Behind an opening bracket: takes the comments there if the closing one follows.
    pub(super) fn inside(&mut self, before: usize, closing: Token) -> Vec<Group> {
        if self.tok != closing {
            return Vec::new();
        }
        let top = self.attach.top();
        let at = before.min(top.groups.len());
        let mut groups = top.groups.split_off(at);
        groups.extend(self.attach.lead.take());
        groups
    }

    /// How many comments the open node has.
    pub(super) fn comments_so_far(&mut self) -> usize {
        self.attach.top().groups.len()
    }

    /// Gives a node the comments between its brackets.
    pub(super) fn keep_inside(&mut self, node: NodeRef, groups: Vec<Group>) {
        for group in groups {
            let position = 1;
            self.file.comments.add(node, Group { position, ..group });
        }
    }

    pub(super) fn open_list(&mut self) {
        let top = self.attach.top();
        if top.lists > 0 {
            top.lists += 1;
            return;
        }
        self.attach.frames.push(Frame {
            lists: 1,
            ..Frame::default()
        });
    }

    pub(super) fn close_list(&mut self) {
        let top = self.attach.top();
        if let Some((node, position)) = top.last_child {
            for group in std::mem::take(&mut top.groups) {
                self.file.comments.add(node, Group { position, ..group });
            }
        }
        top.lists = top.lists.saturating_sub(1);
        if top.lists > 0 {
            return;
        }
        let Some(frame) = self.attach.frames.pop() else {
            return;
        };
        let parent = self.attach.top();
        parent.groups.extend(frame.groups);
        parent.seen += 1;
    }

    /// The file's node ends what was open when the parser began.
    pub(super) fn close_file(&mut self) {
        let groups = self.attach.frames.drain(..).flat_map(|frame| frame.groups);
        for group in groups.collect::<Vec<_>>() {
            self.file.comments.add(NodeRef::File, group);
        }
    }

    /// Goes to the next token that is no comment.
    pub(super) fn next(&mut self) {
        // A lead comment inside a node, with no node to lead.
        if let Some(lead) = self.attach.lead.take() {
            self.attach.add(lead);
        }
        // There is no token before the first one: it is as if it stood on a line before.
        let previous = self.started.then_some(self.pos);
        self.started = true;
        self.last_end = self.end.max(self.pos);
        self.advance();
        self.attach.top().seen += 1;
        if self.tok == Token::Comment {
            self.comments(previous);
        }
    }

    fn lines_between(&self, a: usize, b: usize) -> usize {
        let bytes = self.scanner.text().as_bytes();
        let between = bytes.get(a.min(b)..a.max(b)).unwrap_or(&[]);
        between.iter().filter(|&&byte| byte == b'\n').count()
    }

    fn lines_since(&self, previous: Option<usize>) -> usize {
        let lines = self.lines_between(previous.unwrap_or(0), self.pos);
        lines + usize::from(previous.is_none())
    }

    fn comments(&mut self, previous: Option<usize>) {
        let mut group = None;
        let mut before = previous;
        let mut here = Some(self.pos);
        let mut last = None;
        if self.lines_since(previous) == 0 {
            let (mut found, end) = self.group(previous, 0);
            found.line = self.lines_between(end, self.pos) > 0;
            group = Some(found);
        }
        while self.tok == Token::Comment {
            if let Some(done) = group.take() {
                self.attach.add(done);
            }
            let (found, end) = self.group(before, 1);
            before = here;
            here = Some(self.pos);
            group = Some(found);
            last = Some(end);
        }
        let Some(mut group) = group else {
            return;
        };
        let leads = last.is_some_and(|end| self.lines_between(end, self.pos) == 1);
        if leads && self.tok != Token::Eof {
            group.doc = true;
            self.attach.lead = Some(group);
        } else {
            self.attach.add(group);
        }
    }

    /// Takes comments as long as no more than `apart` lines are between them. Also returns where
    /// the last of them begins.
    fn group(&mut self, previous: Option<usize>, apart: usize) -> (Group, usize) {
        let gap = match self.lines_since(previous) {
            0 => Gap::Blank,
            1 => Gap::Newline,
            _ => Gap::Section,
        };
        let mut comments: Vec<Text> = Vec::new();
        let mut last = self.pos;
        while self.tok == Token::Comment && self.lines_between(last, self.pos) <= apart {
            last = self.pos;
            let mut text = self.text_here();
            if self.lit().ends_with('\r') {
                text.end -= 1;
            }
            comments.push(text);
            self.advance();
        }
        let group = Group {
            comments,
            doc: false,
            line: false,
            position: 0,
            gap,
        };
        (group, last)
    }
}
