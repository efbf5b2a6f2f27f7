//! Plain data as CUE text: labels and values, one field a line, tabs.
//!
//! Labels are quoted unless they are plain identifiers, so that nothing becomes hidden, a
//! definition or a keyword by accident.

use data::Number;
use data::write::Writer;

/// A CUE text in the making.
#[derive(Debug, Default)]
pub struct CueText {
    out: String,
    /// For each open collection: whether it is a list, and whether it is still empty.
    open: Vec<(bool, bool)>,
    after_key: bool,
}

impl CueText {
    pub fn new() -> CueText {
        CueText::default()
    }

    /// The text, with a final line break. The outermost braces are left out.
    pub fn finish(mut self) -> String {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out
    }

    /// Tabs before a line: the file's own map takes none.
    fn indent(&mut self) {
        let depth = self.open.len().saturating_sub(1);
        self.out.extend(std::iter::repeat_n('\t', depth));
    }

    /// What goes before a value.
    fn separate(&mut self) {
        if std::mem::take(&mut self.after_key) {
            return;
        }
        if let Some((true, empty)) = self.open.last_mut() {
            *empty = false;
            self.out.push('\n');
            self.indent();
        }
    }

    /// What goes behind an item of a list.
    fn behind(&mut self) {
        if let Some((true, _)) = self.open.last() {
            self.out.push(',');
        }
    }

    fn scalar(&mut self, text: &str) {
        self.separate();
        self.out.push_str(text);
        self.behind();
    }

    fn begin(&mut self, is_list: bool) {
        self.separate();
        if !self.open.is_empty() || is_list {
            self.out.push(if is_list { '[' } else { '{' });
        }
        self.open.push((is_list, true));
    }

    fn end(&mut self) {
        let Some((is_list, empty)) = self.open.pop() else {
            return;
        };
        if self.open.is_empty() && !is_list {
            return;
        }
        if !empty {
            self.out.push('\n');
            self.indent();
        }
        self.out.push(if is_list { ']' } else { '}' });
        self.behind();
    }
}

impl Writer for CueText {
    fn null(&mut self) {
        self.scalar("null");
    }

    fn bool(&mut self, value: bool) {
        self.scalar(if value { "true" } else { "false" });
    }

    fn number(&mut self, number: Number<'_>) {
        self.scalar(number.text);
    }

    fn string(&mut self, value: &str) {
        self.separate();
        values::show::quote(&mut self.out, value);
        self.behind();
    }

    fn bytes(&mut self, base64: &str) {
        self.separate();
        self.out.push('\'');
        for byte in decode(base64) {
            match byte {
                b'\'' | b'\\' => {
                    self.out.push('\\');
                    self.out.push(char::from(byte));
                }
                b' '..=b'~' => self.out.push(char::from(byte)),
                _ => self.out.push_str(&format!("\\x{byte:02x}")),
            }
        }
        self.out.push('\'');
        self.behind();
    }

    fn begin_list(&mut self) {
        self.begin(true);
    }

    fn end_list(&mut self) {
        self.end();
    }

    fn begin_map(&mut self) {
        self.begin(false);
    }

    fn key(&mut self, name: &str) {
        let outermost = self.open.len() == 1;
        if let Some((_, empty)) = self.open.last_mut() {
            let first = std::mem::replace(empty, false);
            if !(outermost && first) {
                self.out.push('\n');
            }
        }
        self.indent();
        match is_bare(name) {
            true => self.out.push_str(name),
            false => values::show::quote(&mut self.out, name),
        }
        self.out.push_str(": ");
        self.after_key = true;
    }

    fn end_map(&mut self) {
        self.end();
    }
}

/// Whether a label can stand without quotes.
fn is_bare(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "true", "false", "null", "for", "in", "if", "let", "import", "package",
    ];
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') && !WORDS.contains(&name)
}

/// The bytes of a base64 text; anything else than its alphabet is passed over.
fn decode(base64: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(base64.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for c in base64.bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
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
        w.begin_map();
        w.key("k");
        w.bool(true);
        w.end_map();
        w.null();
        w.end_list();
        w.key("_x");
        w.begin_map();
        w.end_map();
        w.key("b");
        w.bytes("AEFi");
        w.end_map();
        w.end_map();
        let want = "values: {\n\t\"a-b\": [\n\t\t{\n\t\t\tk: true\n\t\t},\n\t\tnull,\n\t]\n\t\"_x\": {}\n\tb: '\\x00Ab'\n}\n";
        assert_eq!(w.finish(), want);
    }
}
