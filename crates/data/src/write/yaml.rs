//! YAML in block style, as the CUE reference prints it.
//!
//! Two spaces a level, lists indented under their key, `{}` and `[]` only where empty. Strings of
//! several lines become literal blocks; the other strings are plain where they read back as
//! themselves, for us and for readers of YAML 1.1, see [`quote`]. A key longer than 128 bytes is written
//! as an explicit key (`? `), because readers need not look further ahead.

mod quote;

use super::Writer;
use crate::tree::Number;
use crate::yaml;
use quote::Style;

/// A YAML text in the making.
#[derive(Debug, Default)]
pub struct Yaml {
    out: String,
    frames: Vec<Frame>,
    comment: Option<String>,
    tag: Option<String>,
}

#[derive(Debug)]
struct Frame {
    is_map: bool,
    indent: usize,
    empty: bool,
    /// The first child stands on the line that is begun already: at the root and in a list.
    continues: bool,
    comment: Option<String>,
}

const STEP: usize = 2;
const LONGEST_SIMPLE_KEY: usize = 128;

impl Yaml {
    pub fn new() -> Yaml {
        Yaml::default()
    }

    /// The text, with a final line break.
    pub fn finish(mut self) -> String {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    fn line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Moves to where a child of the innermost collection begins.
    fn child(&mut self) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let indent = frame.indent;
        let first = std::mem::replace(&mut frame.empty, false);
        let comment = if first { frame.comment.take() } else { None };
        if first && frame.continues {
            return;
        }
        self.remark(comment);
        self.line(indent);
    }

    fn remark(&mut self, comment: Option<String>) {
        if let Some(comment) = comment {
            self.out.push_str(" # ");
            self.out.push_str(&comment);
        }
    }

    /// Moves to where a leaf stands.
    fn before_leaf(&mut self) {
        match self.frames.last() {
            None => {}
            Some(frame) if frame.is_map => self.out.push(' '),
            Some(_) => {
                self.child();
                self.out.push_str("- ");
            }
        }
        if let Some(tag) = self.tag.take() {
            self.out.push_str(&tag);
            self.out.push(' ');
        }
    }

    fn leaf(&mut self, text: &str) {
        self.before_leaf();
        self.out.push_str(text);
        let comment = self.comment.take();
        self.remark(comment);
    }

    fn begin(&mut self, is_map: bool) {
        let (indent, continues) = match self.frames.last() {
            None => (0, true),
            Some(parent) => (parent.indent + STEP, !parent.is_map),
        };
        if self.frames.last().is_some_and(|parent| !parent.is_map) {
            self.child();
            self.out.push_str("- ");
        }
        let comment = self.comment.take();
        let mut continues = continues;
        if let Some(tag) = self.tag.take() {
            if self.frames.last().is_some_and(|parent| parent.is_map) {
                self.out.push(' ');
            }
            self.out.push_str(&tag);
            continues = false;
        }
        self.frames.push(Frame {
            is_map,
            indent,
            empty: true,
            continues,
            comment,
        });
    }

    fn end(&mut self, empty: &str) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        if frame.empty {
            if !frame.continues {
                self.out.push(' ');
            }
            self.out.push_str(empty);
            self.remark(frame.comment);
        }
    }

    /// A literal block: every line as it is, below the header.
    fn literal(&mut self, value: &str) {
        self.before_leaf();
        self.out.push('|');
        if value.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        let body = match value.strip_suffix('\n') {
            None => {
                self.out.push('-');
                value
            }
            Some(body) => {
                if body.is_empty() || body.ends_with('\n') {
                    self.out.push('+');
                }
                body
            }
        };
        let comment = self.comment.take();
        self.remark(comment);
        let indent = self.frames.last().map_or(0, |frame| frame.indent) + STEP;
        for line in body.split('\n') {
            if line.is_empty() {
                self.out.push('\n');
            } else {
                self.line(indent);
                self.out.push_str(line);
            }
        }
    }
}

impl Writer for Yaml {
    fn null(&mut self) {
        self.leaf("null");
    }

    fn bool(&mut self, value: bool) {
        self.leaf(if value { "true" } else { "false" });
    }

    fn number(&mut self, number: Number<'_>) {
        if yaml::reads_as(number) {
            self.leaf(number.text);
        } else {
            // What plain text would read back as a string.
            let tag = if number.is_int { "!!int" } else { "!!float" };
            self.leaf(&format!("{tag} {}", number.text));
        }
    }

    fn string(&mut self, value: &str) {
        match quote::style(value) {
            Style::Literal => self.literal(value),
            Style::Plain => self.leaf(value),
            Style::Single => self.leaf(&quote::single(value)),
            Style::Double => self.leaf(&quote::double(value)),
        }
    }

    fn bytes(&mut self, base64: &str) {
        let base64 = if base64.is_empty() { "\"\"" } else { base64 };
        self.leaf(&format!("!!binary {base64}"));
    }

    fn begin_list(&mut self) {
        self.begin(false);
    }

    fn end_list(&mut self) {
        self.end("[]");
    }

    fn begin_map(&mut self) {
        self.begin(true);
    }

    fn key(&mut self, name: &str) {
        self.child();
        let explicit = name.len() > LONGEST_SIMPLE_KEY;
        if explicit {
            self.out.push_str("? ");
        }
        match quote::style(name) {
            Style::Plain => self.out.push_str(name),
            Style::Single => self.out.push_str(&quote::single(name)),
            Style::Double | Style::Literal => self.out.push_str(&quote::double(name)),
        }
        if explicit {
            self.line(self.frames.last().map_or(0, |frame| frame.indent));
        }
        self.out.push(':');
    }

    fn end_map(&mut self) {
        self.end("{}");
    }

    /// Stands behind the value on its line, or behind the key of a list or map.
    fn tag(&mut self, tag: &str) {
        // Only what a tag may hold is written as it is.
        let tag = tag.replace('<', "%3C").replace('>', "%3E");
        let safe = |c: char| c.is_ascii_graphic() && !"{}[]\"".contains(c);
        self.tag = Some(tag.chars().filter(|&c| safe(c)).collect());
    }

    fn comment(&mut self, text: &str) {
        self.comment = Some(text.replace(['\n', '\r'], " "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_that_of_the_reference() {
        let mut yaml = Yaml::new();
        yaml.begin_map();
        yaml.key("seq");
        yaml.begin_list();
        yaml.number(Number {
            text: "1",
            is_int: true,
        });
        yaml.begin_map();
        yaml.key("a");
        yaml.null();
        yaml.key("y");
        yaml.begin_list();
        yaml.end_list();
        yaml.end_map();
        yaml.begin_list();
        yaml.string("x");
        yaml.string("yes");
        yaml.end_list();
        yaml.begin_map();
        yaml.end_map();
        yaml.end_list();
        yaml.key("text");
        yaml.string("one\n  two\n");
        yaml.key("open");
        yaml.string(" a\n\nb");
        yaml.key("kept");
        yaml.string("a\n\n");
        yaml.key("bytes");
        yaml.bytes("gA==");
        yaml.key("big");
        yaml.number(Number {
            text: "1e400",
            is_int: false,
        });
        yaml.end_map();
        assert_eq!(
            yaml.finish(),
            "seq:\n  - 1\n  - a: null\n    \"y\": []\n  - - x\n    - \"yes\"\n  - {}\n\
             text: |\n  one\n    two\nopen: |2-\n   a\n\n  b\nkept: |+\n  a\n\n\
             bytes: !!binary gA==\nbig: !!float 1e400\n"
        );
    }

    #[test]
    fn line_breaks_at_the_end_of_the_file_are_kept() {
        let mut yaml = Yaml::new();
        yaml.string("a\n\n");
        assert_eq!(yaml.finish(), "|+\n  a\n\n");
    }

    #[test]
    fn comments_stand_behind_leaves() {
        let mut yaml = Yaml::new();
        yaml.begin_map();
        yaml.key("a");
        yaml.comment("one");
        yaml.string("x");
        yaml.key("b");
        yaml.comment("two");
        yaml.begin_list();
        yaml.comment("three");
        yaml.string("p\nq");
        yaml.comment("four");
        yaml.bool(true);
        yaml.end_list();
        yaml.key("c");
        yaml.comment("five");
        yaml.begin_map();
        yaml.end_map();
        yaml.end_map();
        assert_eq!(
            yaml.finish(),
            "a: x # one\nb: # two\n  - |- # three\n    p\n    q\n  - true # four\nc: {} # five\n"
        );
    }
}
