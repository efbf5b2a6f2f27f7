//! Syntax errors of YAML in words for people who write values files.

use base::{Diagnostic, Span};
use granit_parser::{ErrorKind, ScanError};

use super::Loader;
use crate::codes;

impl Loader<'_> {
    pub(super) fn syntax_error(&mut self, error: &ScanError) {
        let mut at = error.marker().byte_offset().unwrap_or(self.text.len());
        let is_tab = matches!(
            error.kind(),
            ErrorKind::TabInIndentation
                | ErrorKind::TabInBlockIndentation
                | ErrorKind::TabNotAllowed
        );
        // The marker may stand behind the tab that it is about.
        if is_tab
            && self
                .text
                .get(..at)
                .is_some_and(|before| before.ends_with('\t'))
        {
            at -= 1;
        }
        let rest = self.text.get(at..).unwrap_or("");
        let width = match rest.chars().next() {
            None | Some('\n' | '\r') => 0,
            Some(c) => c.len_utf8(),
        };
        let span = Span::new(self.source, at..at + width);
        let control = rest
            .chars()
            .next()
            .filter(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
        if let Some(c) = control {
            self.findings.add(span, || {
                Diagnostic::error(
                    codes::YAML_SYNTAX,
                    format!("the character U+{:04X} may not stand here", u32::from(c)),
                )
                .primary(span, "not text")
                .help("this may not be a text file, or not in UTF-8")
            });
            return;
        }
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            self.findings.too_deep(span);
            return;
        }
        let (message, help) = words(error.kind());
        // Inside brackets the slip is most often that they were not closed.
        let bracket = self
            .frames
            .last()
            .filter(|frame| frame.flow && (frame.start as usize) < at)
            .map(|frame| Span::new(self.source, frame.start as usize..frame.start as usize + 1));
        self.findings.add(span, || {
            let mut found = Diagnostic::error(codes::YAML_SYNTAX, message).primary(span, "");
            if let Some(bracket) = bracket {
                found = found.secondary(bracket, "inside what began here");
            }
            match help {
                "" => found,
                help => found.help(help),
            }
        });
    }
}

/// What is wrong, and what to do about it (or nothing).
fn words(kind: &ErrorKind) -> (String, &'static str) {
    use ErrorKind as E;
    let own = |message: &str, help| (message.to_owned(), help);
    match kind {
        E::UnexpectedEofFlowSequence | E::UnclosedFlowCollection { open: '[' } => own(
            "a list that began with `[` does not end",
            "add `]`; the file may be cut off",
        ),
        E::UnexpectedEofFlowMapping | E::UnclosedFlowCollection { open: '{' } => own(
            "a map that began with `{` does not end",
            "add `}`; the file may be cut off",
        ),
        E::UnclosedQuotedScalar => own(
            "a quoted string does not end",
            "close the quote; the file may be cut off",
        ),
        E::TabInIndentation | E::TabInBlockIndentation | E::TabNotAllowed | E::TabInPlainScalar => {
            own(
                "a tab stands where indentation is",
                "indent with spaces: YAML forbids tabs",
            )
        }
        E::TabAtBlockScalarStart => own(
            "a block of text begins with a tab",
            "indent with spaces: YAML forbids tabs",
        ),
        E::InvalidIndentation | E::ExpectedBlockMappingKey => own(
            "the indentation of this line fits nothing above it",
            "a key must stand exactly under the other keys of its map",
        ),
        E::ExpectedBlockSequenceEntry => own(
            "the indentation of this line fits nothing above it",
            "an item must begin with `- ` exactly under the other items of its list",
        ),
        E::InvalidBlockScalarIndent => own(
            "a line of a text block is indented less than the block",
            "indent all lines of the block alike",
        ),
        E::InvalidQuotedScalarIndent | E::InvalidFlowScalarIndent => own(
            "this line must be indented more than the key it belongs to",
            "indent it",
        ),
        E::InvalidColonPlacement => own(
            "a `:` may not stand here",
            "close the bracket that began above, or quote the text if the colon belongs to it",
        ),
        E::MappingValueNotAllowed => own(
            "a `:` may not stand here",
            "quote the text if the colon belongs to it; else check the indentation",
        ),
        E::MappingKeyNotAllowed => own("a key may not stand here", "check the indentation"),
        E::BlockSequenceEntryNotAllowed | E::BlockEntryInFlowCollection => own(
            "an item `- ` may not stand here",
            "begin the list on a line of its own",
        ),
        E::SimpleKeyExpected | E::InvalidSimpleKey => own(
            "a key without `:`",
            "write `key: value`; check the indentation and the quotes of the lines above",
        ),
        E::ExpectedFlowMappingSeparator => own(
            "expected `,` or `}`",
            "close the bracket, or add the missing comma",
        ),
        E::ExpectedFlowSequenceSeparator => own(
            "expected `,` or `]`",
            "close the bracket, or add the missing comma",
        ),
        E::MismatchedFlowCollectionEnd { open, close } => {
            (format!("`{open}` is closed by `{close}`"), "")
        }
        E::MisplacedFlowCollectionEnd => own("a closing bracket that nothing opened", ""),
        E::UnexpectedCharacter { character } => (
            format!("`{character}` may not begin a value"),
            "quote the text if the character belongs to it",
        ),
        E::UnknownQuotedScalarEscape
        | E::InvalidQuotedScalarHexEscape
        | E::InvalidLowSurrogateHexEscape
        | E::InvalidUnicodeEscape => own(
            "this escape does not exist",
            "write a backslash as `\\\\`, or use single quotes",
        ),
        E::InvalidLowSurrogate | E::MissingLowSurrogate | E::UnpairedLowSurrogate => {
            own("half a surrogate pair is no character", "")
        }
        E::InvalidTrailingSingleQuotedScalar | E::InvalidTrailingDoubleQuotedScalar => own(
            "text stands behind the closing quote",
            "quote the whole text; inside single quotes write `''`, inside double quotes `\\\"`",
        ),
        E::CommentInterceptedScalar => own(
            "a comment stands inside a text of several lines",
            "move the comment, or quote the text",
        ),
        E::CommentNotSeparated => own("a comment needs a space before its `#`", ""),
        E::UndeclaredTagHandle => own(
            "the handle of this tag is not declared",
            "declare it with `%TAG`, or remove the tag",
        ),
        other => (other.to_string(), ""),
    }
}
