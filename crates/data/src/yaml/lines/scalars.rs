//! Scalars and flow collections that end on their line, and literal blocks.

use granit_parser::{ScalarStyle, StructureStyle};

use super::{LONGEST_KEY, Lines, Scalar};

/// How deep flow collections may be nested in each other.
const FLOW_DEPTH: usize = 50;

/// Whether a plain scalar may end at a byte.
fn stops(byte: u8, flow: bool) -> bool {
    matches!(byte, b'\n' | b':' | b'#') || flow && matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

impl Lines<'_, '_> {
    /// A scalar or key, in quotes or plain. Stands behind it afterwards.
    pub(super) fn scalar(&mut self, flow: bool) -> Option<Scalar> {
        match self.peek()? {
            b'"' => self.double_quoted(),
            b'\'' => self.single_quoted(),
            _ => self.plain(flow),
        }
    }

    fn plain(&mut self, flow: bool) -> Option<Scalar> {
        let start = self.at;
        match self.peek()? {
            b'-' => match self.byte(start + 1)? {
                b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {}
                _ => return None,
            },
            b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|'
            | b'>' | b'%' | b'@' | b'`' | b'\n' | b' ' => return None,
            _ => {}
        }
        loop {
            let rest = self.rest();
            let stop = rest.iter().position(|&b| stops(b, flow));
            self.at += stop.unwrap_or(rest.len());
            let behind_space = self.byte(self.at - 1) == Some(b' ');
            match self.peek() {
                Some(b':') if self.is_blank(self.at + 1) => {
                    if behind_space {
                        return None;
                    }
                    break;
                }
                Some(b':') if flow => match self.byte(self.at + 1) {
                    Some(b',' | b'[' | b']' | b'{' | b'}') => return None,
                    _ => self.at += 1,
                },
                Some(b':') => self.at += 1,
                Some(b'#') if behind_space => break,
                Some(b'#') => self.at += 1,
                Some(b'[' | b'{') => return None,
                _ => break,
            }
        }
        let written = self.text.get(start..self.at)?;
        let end = start + written.trim_end_matches(' ').len();
        self.at = end;
        Some(Scalar {
            start,
            end,
            style: ScalarStyle::Plain,
            is_decoded: false,
        })
    }

    fn single_quoted(&mut self) -> Option<Scalar> {
        let start = self.at;
        let mut is_decoded = false;
        let mut from = start + 1;
        loop {
            let rest = self.text.as_bytes().get(from..)?;
            let stop = rest.iter().position(|&b| b == b'\'' || b == b'\n')?;
            let part = self.text.get(from..from + stop)?;
            if rest.get(stop) == Some(&b'\n') {
                return None;
            }
            from += stop + 1;
            let doubled = self.byte(from) == Some(b'\'');
            if doubled && !is_decoded {
                self.decoded.clear();
                is_decoded = true;
            }
            if is_decoded {
                self.decoded.push_str(part);
            }
            if !doubled {
                break;
            }
            self.decoded.push('\'');
            from += 1;
        }
        self.at = from;
        Some(Scalar {
            start,
            end: from,
            style: ScalarStyle::SingleQuoted,
            is_decoded,
        })
    }

    fn double_quoted(&mut self) -> Option<Scalar> {
        let start = self.at;
        let mut is_decoded = false;
        let mut from = start + 1;
        loop {
            let rest = self.text.as_bytes().get(from..)?;
            let stop = rest
                .iter()
                .position(|&b| b == b'"' || b == b'\\' || b == b'\n')?;
            let part = self.text.get(from..from + stop)?;
            let found = *rest.get(stop)?;
            if found == b'\\' && !is_decoded {
                self.decoded.clear();
                is_decoded = true;
            }
            if is_decoded {
                self.decoded.push_str(part);
            }
            from += stop + 1;
            match found {
                b'"' => break,
                b'\\' => {
                    self.decoded.push(match rest.get(stop + 1)? {
                        b'"' => '"',
                        b'\\' => '\\',
                        b'n' => '\n',
                        b't' => '\t',
                        _ => return None,
                    });
                    from += 1;
                }
                _ => return None,
            }
        }
        self.at = from;
        Some(Scalar {
            start,
            end: from,
            style: ScalarStyle::DoubleQuoted,
            is_decoded,
        })
    }

    /// A flow list or map, from its bracket to behind its end.
    pub(super) fn flow(&mut self, depth: usize) -> Option<()> {
        if depth > FLOW_DEPTH {
            return None;
        }
        let is_list = self.peek()? == b'[';
        let end = if is_list { b']' } else { b'}' };
        self.begin(StructureStyle::Flow, is_list, self.at)?;
        self.at += 1;
        loop {
            self.skip_spaces();
            if self.peek()? == end {
                break;
            }
            if !is_list {
                self.flow_key()?;
            }
            match self.peek()? {
                b'[' | b'{' => self.flow(depth + 1)?,
                _ => {
                    let value = self.scalar(true)?;
                    self.put(&value);
                }
            }
            self.skip_spaces();
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == end => {}
                _ => return None,
            }
        }
        self.at += 1;
        let bracket = self.span(self.at - 1, self.at);
        self.loader.close(bracket);
        Some(())
    }

    fn flow_key(&mut self) -> Option<()> {
        let key = self.scalar(true)?;
        if !self.is_colon() || key.end - key.start > LONGEST_KEY {
            return None;
        }
        self.put(&key);
        self.at += 1;
        self.skip_spaces();
        Some(())
    }

    /// A literal block, from its `|` to behind its last line. Its place is that of its text, up to the
    /// next thing that is said.
    pub(super) fn literal(&mut self) -> Option<()> {
        self.at += 1;
        let strip = self.peek() == Some(b'-');
        self.at += usize::from(strip);
        self.end_of_line()?;
        let parent = self.open.last_mut()?;
        parent.waiting = None;
        let above = parent.indent;
        let indent = self.rest().iter().take_while(|&&b| b == b' ').count();
        let start = self.at + indent;
        if indent <= above || matches!(self.byte(start), None | Some(b'\n')) {
            return None;
        }
        self.decoded.clear();
        // The length without the line breaks of empty lines at the end.
        let mut length = 0;
        let end = loop {
            let rest = self.rest();
            let spaces = rest.iter().take(indent).take_while(|&&b| b == b' ').count();
            let line = self.at + spaces;
            match rest.get(spaces) {
                Some(b'\n') => {
                    self.decoded.push('\n');
                    self.at = line + 1;
                }
                Some(_) if spaces == indent => {
                    self.skip_line();
                    // A last line that does not end is left to the full parser.
                    self.peek()?;
                    self.decoded.push_str(self.text.get(line..=self.at)?);
                    self.at += 1;
                    length = self.decoded.len();
                }
                _ => break line,
            }
        };
        self.decoded.truncate(length - usize::from(strip));
        self.put(&Scalar {
            start,
            end,
            style: ScalarStyle::Literal,
            is_decoded: true,
        });
        Some(())
    }
}
