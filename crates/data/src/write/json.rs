//! JSON: compact, or indented as the CUE reference indents it.
//!
//! Numbers are written with the text they have. Strings escape what JSON requires and the line
//! separators U+2028 and U+2029, nothing else: no HTML escaping. Bytes are base64 strings.

use super::Writer;
use crate::tree::Number;

const SPACES: &str = "                                                                ";

/// A JSON text in the making.
#[derive(Debug)]
pub struct Json {
    out: String,
    /// Spaces a level; `None` writes everything on one line without spaces.
    indent: Option<usize>,
    depth: usize,
    /// Nothing was written yet in the collection that is open.
    first: bool,
    after_key: bool,
}

impl Json {
    /// On one line, without spaces.
    pub fn compact() -> Json {
        Json::new(None)
    }

    /// One value a line. The CUE reference uses four spaces.
    pub fn indented(spaces: usize) -> Json {
        Json::new(Some(spaces))
    }

    fn new(indent: Option<usize>) -> Json {
        Json {
            out: String::new(),
            indent,
            depth: 0,
            first: true,
            after_key: false,
        }
    }

    /// What has been written so far and was not cleared.
    pub fn written(&self) -> &str {
        &self.out
    }

    /// Forgets what has been written so far, which somebody has taken.
    pub fn clear(&mut self) {
        self.out.clear();
    }

    /// The text, without a final line break.
    pub fn finish(self) -> String {
        self.out
    }

    /// What goes before a value or a key.
    fn separate(&mut self) {
        if std::mem::take(&mut self.after_key) {
            return;
        }
        if self.depth == 0 {
            return;
        }
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(',');
        }
        self.line();
    }

    fn line(&mut self) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            let mut left = indent * self.depth;
            while let Some(part) = SPACES.get(..left.min(SPACES.len()))
                && left > 0
            {
                self.out.push_str(part);
                left -= part.len();
            }
        }
    }

    fn begin(&mut self, bracket: char) {
        self.separate();
        self.out.push(bracket);
        self.depth += 1;
        self.first = true;
    }

    fn end(&mut self, bracket: char) {
        self.depth = self.depth.saturating_sub(1);
        if !std::mem::replace(&mut self.first, false) {
            self.line();
        }
        self.out.push(bracket);
    }
}

impl Writer for Json {
    fn null(&mut self) {
        self.separate();
        self.out.push_str("null");
    }

    fn bool(&mut self, value: bool) {
        self.separate();
        self.out.push_str(if value { "true" } else { "false" });
    }

    fn number(&mut self, number: Number<'_>) {
        self.separate();
        self.out.push_str(number.text);
    }

    fn string(&mut self, value: &str) {
        self.separate();
        quote(&mut self.out, value);
    }

    fn bytes(&mut self, base64: &str) {
        self.string(base64);
    }

    fn begin_list(&mut self) {
        self.begin('[');
    }

    fn end_list(&mut self) {
        self.end(']');
    }

    fn begin_map(&mut self) {
        self.begin('{');
    }

    fn key(&mut self, name: &str) {
        self.separate();
        quote(&mut self.out, name);
        self.out.push(':');
        if self.indent.is_some() {
            self.out.push(' ');
        }
        self.after_key = true;
    }

    fn end_map(&mut self) {
        self.end('}');
    }
}

/// Writes a string in double quotes.
fn quote(out: &mut String, value: &str) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in value.bytes().enumerate() {
        // E2 80 A8 and E2 80 A9 are U+2028 and U+2029.
        let plain = byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0xe2;
        if plain {
            continue;
        }
        let (escape, width) = match byte {
            b'"' => ("\\\"", 1),
            b'\\' => ("\\\\", 1),
            b'\n' => ("\\n", 1),
            b'\r' => ("\\r", 1),
            b'\t' => ("\\t", 1),
            0x08 => ("\\b", 1),
            0x0c => ("\\f", 1),
            0xe2 => match value.as_bytes().get(at + 1..at + 3) {
                Some([0x80, 0xa8]) => ("\\u2028", 3),
                Some([0x80, 0xa9]) => ("\\u2029", 3),
                _ => continue,
            },
            _ => ("", 1),
        };
        out.push_str(value.get(from..at).unwrap_or(""));
        if escape.is_empty() {
            out.push_str(&format!("\\u{byte:04x}"));
        } else {
            out.push_str(escape);
        }
        from = at + width;
    }
    out.push_str(value.get(from..).unwrap_or(""));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_escape_what_they_must() {
        let mut out = String::new();
        quote(
            &mut out,
            "a\"\\\n\t\r\u{8}\u{c}\u{1}\u{7f}<é\u{2028}\u{2029}\u{2030}>",
        );
        assert_eq!(
            out,
            "\"a\\\"\\\\\\n\\t\\r\\b\\f\\u0001\u{7f}<é\\u2028\\u2029\u{2030}>\""
        );
    }

    fn sample(writer: &mut Json) {
        writer.begin_map();
        writer.key("a");
        writer.begin_list();
        writer.null();
        writer.begin_map();
        writer.end_map();
        writer.end_list();
        writer.key("b");
        writer.begin_list();
        writer.end_list();
        writer.key("c");
        writer.bool(true);
        writer.end_map();
    }

    #[test]
    fn both_layouts() {
        let mut compact = Json::compact();
        sample(&mut compact);
        assert_eq!(compact.finish(), r#"{"a":[null,{}],"b":[],"c":true}"#);
        let mut indented = Json::indented(2);
        sample(&mut indented);
        assert_eq!(
            indented.finish(),
            "{\n  \"a\": [\n    null,\n    {}\n  ],\n  \"b\": [],\n  \"c\": true\n}"
        );
    }
}
