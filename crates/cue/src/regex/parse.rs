//! The syntax of Go's regular expressions, read into `regex-syntax`'s intermediate form.
//!
//! One pass over the characters with an explicit stack of open groups. What is no repetition (`a{,3}`,
//! `{`) is taken literally, as Go does; counts go up to 1000, also as the product of nested ones.

use regex_syntax::hir::{Capture, Dot, Hir, Look, Repetition};

use super::RegexError;
use super::class;

mod bracket;
mod escape;

/// Groups within groups.
pub(super) const MAX_DEPTH: usize = 400;
const MAX_REPEAT: u32 = 1000;

pub(super) struct Parsed {
    pub(super) hir: Hir,
    /// By group number, the whole match first.
    pub(super) names: Vec<Option<String>>,
}

pub(super) fn parse(pattern: &str) -> Result<Parsed, RegexError> {
    let mut parser = Parser {
        pattern,
        at: 0,
        flags: Flags::default(),
        open: vec![Group::new(None, Flags::default())],
        names: vec![None],
        last_repeat: None,
    };
    parser.run()?;
    let Parser {
        mut open, names, ..
    } = parser;
    match (open.pop(), open.is_empty()) {
        (Some(group), true) => Ok(Parsed {
            hir: group.finish().0,
            names,
        }),
        _ => Err(error("missing closing )", pattern)),
    }
}

#[derive(Clone, Copy, Default)]
struct Flags {
    fold_case: bool,
    dot_newline: bool,
    multi_line: bool,
    non_greedy: bool,
}

/// A parsed piece and how often a repetition in it repeats.
struct Piece {
    hir: Hir,
    repeats: u32,
}

struct Group {
    /// Number and name, for a capturing group.
    capture: Option<u32>,
    /// The flags to restore behind the group.
    outer: Flags,
    branches: Vec<Hir>,
    pieces: Vec<Piece>,
    repeats: u32,
}

impl Group {
    fn new(capture: Option<u32>, outer: Flags) -> Group {
        Group {
            capture,
            outer,
            branches: Vec::new(),
            pieces: Vec::new(),
            repeats: 1,
        }
    }

    fn end_branch(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        for piece in &pieces {
            self.repeats = self.repeats.max(piece.repeats);
        }
        let branch = Hir::concat(pieces.into_iter().map(|piece| piece.hir).collect());
        self.branches.push(branch);
    }

    fn finish(mut self) -> (Hir, u32) {
        self.end_branch();
        (Hir::alternation(self.branches), self.repeats)
    }
}

struct Parser<'a> {
    pattern: &'a str,
    at: usize,
    flags: Flags,
    open: Vec<Group>,
    names: Vec<Option<String>>,
    /// Where the repetition directly before `at` began.
    last_repeat: Option<usize>,
}

impl<'a> Parser<'a> {
    fn run(&mut self) -> Result<(), RegexError> {
        while let Some(next) = self.peek() {
            let start = self.at;
            let mut repeat = None;
            match next {
                '(' if self.rest().starts_with("(?") => self.flag_group()?,
                '(' => {
                    self.bump();
                    self.open_capture(None)?;
                }
                '|' => {
                    self.bump();
                    self.group().end_branch();
                }
                ')' => {
                    self.bump();
                    self.close()?;
                }
                '^' => self.look(if self.flags.multi_line {
                    Look::StartLF
                } else {
                    Look::Start
                }),
                '$' => self.look(if self.flags.multi_line {
                    Look::EndLF
                } else {
                    Look::End
                }),
                '.' => {
                    self.bump();
                    self.push(Hir::dot(if self.flags.dot_newline {
                        Dot::AnyChar
                    } else {
                        Dot::AnyCharExceptLF
                    }));
                }
                '[' => self.bracket()?,
                '*' | '+' | '?' => {
                    self.bump();
                    let (min, max) = match next {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    self.repeat(start, min, max)?;
                    repeat = Some(start);
                }
                '{' => match counts(self.rest()) {
                    None => {
                        self.bump();
                        self.literal('{');
                    }
                    Some((counts, len)) => {
                        self.at += len;
                        let wrong = || error("invalid repeat count", self.since(start));
                        let (min, max) = counts.ok_or_else(wrong)?;
                        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || min > max)
                        {
                            return Err(wrong());
                        }
                        self.repeat(start, min, max)?;
                        repeat = Some(start);
                    }
                },
                '\\' => self.escape()?,
                _ => {
                    self.bump();
                    self.literal(next);
                }
            }
            self.last_repeat = repeat;
        }
        Ok(())
    }

    fn rest(&self) -> &'a str {
        self.pattern.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn since(&self, start: usize) -> &'a str {
        self.pattern.get(start..self.at).unwrap_or("")
    }

    fn group(&mut self) -> &mut Group {
        self.open
            .last_mut()
            .expect("the outermost group is closed only at the end")
    }

    fn push(&mut self, hir: Hir) {
        self.group().pieces.push(Piece { hir, repeats: 1 });
    }

    fn look(&mut self, look: Look) {
        self.bump();
        self.push(Hir::look(look));
    }

    fn literal(&mut self, character: char) {
        self.code_point(u32::from(character));
    }

    fn code_point(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(character) if !self.flags.fold_case => {
                let mut buffer = [0; 4];
                let bytes = character.encode_utf8(&mut buffer).as_bytes();
                self.push(Hir::literal(bytes));
            }
            _ => {
                let mut set = class::ranges(&[(code, code)]);
                if self.flags.fold_case {
                    class::fold(&mut set);
                }
                self.push(class::to_hir(set));
            }
        }
    }

    fn repeat(&mut self, start: usize, min: u32, max: Option<u32>) -> Result<(), RegexError> {
        let mut greedy = !self.flags.non_greedy;
        if self.peek() == Some('?') {
            self.bump();
            greedy = !greedy;
        }
        if let Some(last) = self.last_repeat {
            return Err(error(
                "invalid nested repetition operator",
                self.since(last),
            ));
        }
        let text = self.since(start);
        let Some(Piece { hir, repeats }) = self.group().pieces.pop() else {
            return Err(error("missing argument to repetition operator", text));
        };
        let counted = text.starts_with('{');
        let factor = if counted {
            max.unwrap_or(min).max(1)
        } else {
            1
        };
        let product = repeats.saturating_mul(factor);
        if counted && (min >= 2 || max.is_some_and(|max| max >= 2)) && product > MAX_REPEAT {
            return Err(error("invalid repeat count", text));
        }
        let hir = Hir::repetition(Repetition {
            min,
            max,
            greedy,
            sub: Box::new(hir),
        });
        self.group().pieces.push(Piece {
            hir,
            repeats: product,
        });
        Ok(())
    }

    fn open_capture(&mut self, name: Option<String>) -> Result<(), RegexError> {
        let index = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name);
        self.open_group(Some(index), self.flags)
    }

    fn open_group(&mut self, capture: Option<u32>, outer: Flags) -> Result<(), RegexError> {
        if self.open.len() > MAX_DEPTH {
            return Err(error("expression nests too deeply", self.pattern));
        }
        self.open.push(Group::new(capture, outer));
        Ok(())
    }

    fn close(&mut self) -> Result<(), RegexError> {
        if self.open.len() < 2 {
            return Err(error("unexpected )", self.pattern));
        }
        let Some(group) = self.open.pop() else {
            return Err(error("unexpected )", self.pattern));
        };
        self.flags = group.outer;
        let capture = group.capture;
        let (mut hir, repeats) = group.finish();
        if let Some(index) = capture {
            let name = usize::try_from(index)
                .ok()
                .and_then(|index| self.names.get(index)?.as_deref())
                .map(Into::into);
            hir = Hir::capture(Capture {
                index,
                name,
                sub: Box::new(hir),
            });
        }
        self.group().pieces.push(Piece { hir, repeats });
        Ok(())
    }

    /// `(?P<name>`, `(?<name>`, `(?flags)` and `(?flags:`.
    fn flag_group(&mut self) -> Result<(), RegexError> {
        let start = self.at;
        let rest = self.rest();
        let name_at = match () {
            () if rest.len() > 4 && rest.starts_with("(?P<") => Some(4),
            () if rest.len() > 3 && rest.starts_with("(?<") => Some(3),
            () => None,
        };
        if let Some(name_at) = name_at {
            let Some(end) = rest.find('>') else {
                return Err(error("invalid named capture", rest));
            };
            self.at += end + 1;
            let name = rest.get(name_at..end).unwrap_or("");
            let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(word) {
                return Err(error("invalid named capture", self.since(start)));
            }
            if self.names.iter().flatten().any(|known| known == name) {
                return Err(error("duplicate capture group name", name));
            }
            return self.open_capture(Some(name.to_owned()));
        }
        self.at += 2;
        let mut flags = self.flags;
        let mut value = true;
        let mut seen = false;
        while let Some(letter) = self.bump() {
            let flag = match letter {
                'i' => &mut flags.fold_case,
                'm' => &mut flags.multi_line,
                's' => &mut flags.dot_newline,
                'U' => &mut flags.non_greedy,
                '-' if value => {
                    value = false;
                    seen = false;
                    continue;
                }
                ':' | ')' if value || seen => {
                    let outer = self.flags;
                    self.flags = flags;
                    return match letter {
                        ':' => self.open_group(None, outer),
                        _ => Ok(()),
                    };
                }
                _ => break,
            };
            *flag = value;
            seen = true;
        }
        Err(error(
            "invalid or unsupported Perl syntax",
            self.since(start),
        ))
    }
}

type Counts = Option<(u32, Option<u32>)>;

/// `{min}`, `{min,}` or `{min,max}` and its length; no counts if they are too large to read.
fn counts(text: &str) -> Option<(Counts, usize)> {
    let body = text.strip_prefix('{')?;
    let end = body.find('}')?;
    let body = body.get(..end)?;
    let (min, max) = match body.split_once(',') {
        None => (body, Some(body)),
        Some((min, "")) => (min, None),
        Some((min, max)) => (min, Some(max)),
    };
    let plain = |digits: &str| {
        !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (digits.len() == 1 || !digits.starts_with('0'))
    };
    if !plain(min) || !max.is_none_or(plain) {
        return None;
    }
    let read = |digits: &str| digits.parse::<u32>().ok();
    let counts = match max {
        None => read(min).map(|min| (min, None)),
        Some(max) => read(min).zip(read(max)).map(|(min, max)| (min, Some(max))),
    };
    Some((counts, end + 2))
}

fn error(reason: &'static str, part: &str) -> RegexError {
    RegexError {
        reason,
        part: part.to_owned(),
    }
}
