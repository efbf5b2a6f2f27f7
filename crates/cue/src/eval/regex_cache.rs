//! Regular expressions that were compiled in this run.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::context::Ctx;
use super::value::Arg;
use crate::regex::Regex;

#[derive(Debug, Default)]
pub struct RegexCache {
    known: HashMap<String, Result<Regex, String>, FxBuildHasher>,
}

impl Ctx {
    /// Whether the pattern occurs in the text. A pattern that cannot be compiled is an error of the frame.
    pub fn regex_matches(&mut self, pattern: &str, text: &[u8]) -> bool {
        if !self.regexes.known.contains_key(pattern) {
            let compiled = Regex::new(pattern).map_err(|e| e.to_string());
            self.regexes.known.insert(pattern.to_owned(), compiled);
        }
        match self.regexes.known.get(pattern) {
            Some(Ok(regex)) => regex.is_match(text),
            Some(Err(message)) => {
                let message = message.clone();
                self.add_failure("invalid regexp: %", &[Arg::Text(message)]);
                false
            }
            None => false,
        }
    }
    /// Whether a pattern that was compiled before occurs in the text.
    pub(super) fn regex_matched(&self, pattern: &str, text: &[u8]) -> Option<bool> {
        let regex = self.regexes.known.get(pattern)?.as_ref().ok()?;
        Some(regex.is_match(text))
    }
}
