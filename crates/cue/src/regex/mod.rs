//! Regular expressions with the syntax and the matching rules of Go's `regexp` package (RE2).
//!
//! `parse` reads the syntax and reports its mistakes in Go's words, `class` knows character classes; the automata are those of
//! `regex-automata`, so matching takes time linear in the text. The first match found is the leftmost one, and among those
//! the one that a backtracking engine would find. `\d`, `\w`, `\s` and `\b` are ASCII only, `$` without `(?m)` is the very
//! end of the text.
//!
//! Two limits keep memory bounded: nesting ([`parse::MAX_DEPTH`]) and the size of the compiled program. A byte
//! sequence that is not UTF-8 is matched by no class, where Go would see U+FFFD.

mod class;
mod parse;

use std::fmt;
use std::sync::Arc;

use regex_automata::meta;
use regex_automata::{Anchored, Input};

/// Bytes that one compiled expression may take.
const SIZE_LIMIT: usize = 32 << 20;

/// Why an expression is refused, in Go's words: `error parsing regexp: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError {
    pub reason: &'static str,
    /// The part of the expression that is wrong.
    pub part: String,
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.reason, self.part)
    }
}

/// Byte offsets of a match or of one group.
pub type Range = (usize, usize);

/// A compiled expression; clones share it.
#[derive(Clone, Debug)]
pub struct Regex {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pattern: String,
    program: meta::Regex,
    names: Vec<Option<String>>,
}

impl Regex {
    pub fn new(pattern: &str) -> Result<Regex, RegexError> {
        let parsed = parse::parse(pattern)?;
        let config = meta::Config::new()
            .nfa_size_limit(Some(SIZE_LIMIT))
            .onepass_size_limit(Some(1 << 20));
        let program = meta::Builder::new()
            .configure(config)
            .build_from_hir(&parsed.hir)
            .map_err(|_| RegexError {
                reason: "expression too large",
                part: pattern.to_owned(),
            })?;
        Ok(Regex {
            inner: Arc::new(Inner {
                pattern: pattern.to_owned(),
                program,
                names: parsed.names,
            }),
        })
    }

    pub fn pattern(&self) -> &str {
        &self.inner.pattern
    }

    /// The names of the groups, the whole match (which has none) first.
    pub fn names(&self) -> &[Option<String>] {
        &self.inner.names
    }

    /// Whether the expression matches anywhere in the text.
    pub fn is_match(&self, text: impl AsRef<[u8]>) -> bool {
        self.inner.program.is_match(text.as_ref())
    }

    /// The leftmost match.
    pub fn find(&self, text: impl AsRef<[u8]>) -> Option<Range> {
        let found = self.inner.program.find(text.as_ref())?;
        Some((found.start(), found.end()))
    }

    /// The leftmost match and its groups; the first entry is the whole match.
    pub fn captures(&self, text: impl AsRef<[u8]>) -> Option<Vec<Option<Range>>> {
        let mut captures = self.inner.program.create_captures();
        let input = Input::new(text.as_ref()).anchored(Anchored::No);
        self.inner.program.search_captures(&input, &mut captures);
        captures.is_match().then(|| groups(&captures))
    }

    /// Every match in order; an empty one directly behind another match does not count.
    pub fn captures_all(
        &self,
        text: impl AsRef<[u8]>,
        limit: Option<usize>,
    ) -> Vec<Vec<Option<Range>>> {
        self.inner
            .program
            .captures_iter(text.as_ref())
            .take(limit.unwrap_or(usize::MAX))
            .map(|captures| groups(&captures))
            .collect()
    }
}

fn groups(captures: &regex_automata::util::captures::Captures) -> Vec<Option<Range>> {
    captures
        .iter()
        .map(|group| group.map(|span| (span.start, span.end)))
        .collect()
}

#[cfg(test)]
mod tests;
