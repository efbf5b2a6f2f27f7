//! Errors as a list for people: sorted, without repetition, with all their places.
//!
//! Order: by the place of the error (none first), then by path, then by message. The places of
//! one error: its own first, then the others by file and offset.

use std::cmp::Ordering;

use base::Span;

use super::context::Ctx;
use super::ids::{ErrId, ValId};
use super::value::Code;

/// One line of a report and its places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    pub code: Code,
    pub path: Vec<String>,
    pub message: String,
    pub spans: Vec<Span>,
    /// What to do about it, where the message does not say it.
    pub help: Option<&'static str>,
}

impl Reported {
    /// The message with its path before it.
    pub fn text(&self) -> String {
        if self.path.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.path.join("."), self.message)
        }
    }
}

impl Ctx {
    fn compare_spans(&self, a: Span, b: Span) -> Ordering {
        let name = |s: Span| self.source_names.get(s.source.0 as usize);
        name(a).cmp(&name(b)).then(a.start.cmp(&b.start))
    }

    fn compare_places(&self, a: Option<Span>, b: Option<Span>) -> Ordering {
        match (a, b) {
            (None, None) => Ordering::Equal,
            (None, _) => Ordering::Less,
            (_, None) => Ordering::Greater,
            (Some(a), Some(b)) => self.compare_spans(a, b),
        }
    }

    /// Sorted and without repetitions.
    pub fn sorted_errors(&self, errors: &[ErrId]) -> Vec<ErrId> {
        if errors.len() <= 1 {
            return errors.to_vec();
        }
        let mut keyed: Vec<(Option<Span>, Vec<String>, ErrId)> = errors
            .iter()
            .map(|&e| (self.error_position(e), self.error_path(e), e))
            .collect();
        keyed.sort_by(|a, b| self.compare_places(a.0, b.0).then_with(|| a.1.cmp(&b.1)));
        let mut out = Vec::new();
        let mut rest = keyed.as_slice();
        while let Some((first, _)) = rest.split_first() {
            let same = rest
                .iter()
                .take_while(|k| {
                    k.0.map(|s| (s.source, s.start)) == first.0.map(|s| (s.source, s.start))
                        && k.1 == first.1
                })
                .count();
            let (group, after) = rest.split_at(same);
            rest = after;
            if let [one] = group {
                out.push(one.2);
                continue;
            }
            let mut texts: Vec<(String, ErrId)> =
                group.iter().map(|k| (self.message(k.2), k.2)).collect();
            texts.sort_by(|a, b| a.0.cmp(&b.0));
            texts.dedup_by(|a, b| a.0 == b.0);
            out.extend(texts.into_iter().map(|t| t.1));
        }
        out
    }

    /// All places of an error.
    pub fn error_spans(&self, err: ErrId) -> Vec<Span> {
        let mut out: Vec<Span> = Vec::new();
        let pos = self.error_position(err);
        let mut others = Vec::new();
        self.input_spans(err, &mut others);
        others.retain(|s| pos.is_none_or(|p| (p.source, p.start) != (s.source, s.start)));
        others.sort_by(|a, b| self.compare_spans(*a, *b));
        out.extend(pos);
        out.extend(others);
        out.dedup_by_key(|s| (s.source, s.start));
        out
    }

    fn input_spans(&self, err: ErrId, out: &mut Vec<Span>) {
        let e = &self.errors[err];
        out.extend_from_slice(&e.others);
        if let Some(inner) = e.wraps {
            out.extend(self.error_spans(inner));
        }
    }

    /// What to print for a bottom.
    pub fn report(&self, bottom: ValId) -> Vec<Reported> {
        let Some(b) = self.bottom(bottom) else {
            return Vec::new();
        };
        self.sorted_errors(&b.errors)
            .into_iter()
            .map(|e| Reported {
                code: b.code,
                path: self.error_path(e),
                message: self.message(e),
                spans: self.error_spans(e),
                help: None,
            })
            .collect()
    }
}
