//! Something to tell the user, as data.
//!
//! A diagnostic has a stable code, labels in any number of sources (the offender first, marked
//! primary) and notes that say what to do and who can do it. Functions return their value together
//! with all their diagnostics; rendering happens at the edge, in [`crate::render`].
//!
//! Messages are lowercase, one line, with backticks around what the user wrote.

use std::borrow::Cow;
use std::fmt;

use crate::source::Span;

/// The stable, kebab-case name of a kind of finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
    Note,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A place that takes part in a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    /// Said under the carets; may be empty.
    pub text: String,
    /// The offender. There may be several; the first one is where the finding is.
    pub primary: bool,
    /// Whose place this is, said beside the file name: `end user (tier 3)`.
    pub role: Option<String>,
}

/// A line below the excerpt: `= you: remove line 2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `help`, `note`, or to whom it is said: `you`, `platform`, `schema`.
    pub tag: Cow<'static, str>,
    pub text: String,
    pub span: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    pub labels: Vec<Label>,
    pub notes: Vec<Note>,
    /// Further facts for machines (`field`, `locked`, `provided`), in a fixed order. They appear
    /// in the JSON and SARIF forms and in reports of a fixed shape, never in the text form.
    pub facts: Vec<(&'static str, String)>,
}

impl Diagnostic {
    pub fn new(code: Code, severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            facts: Vec::new(),
        }
    }

    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, message)
    }

    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, message)
    }

    /// Adds the offender's place.
    pub fn primary(self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.label(Label {
            span,
            text: text.into(),
            primary: true,
            role: None,
        })
    }

    /// Adds another place that takes part.
    pub fn secondary(self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.label(Label {
            span,
            text: text.into(),
            primary: false,
            role: None,
        })
    }

    pub fn label(mut self, label: Label) -> Diagnostic {
        self.labels.push(label);
        self
    }

    /// Says whose the last added place is.
    pub fn role(mut self, role: impl Into<String>) -> Diagnostic {
        if let Some(label) = self.labels.last_mut() {
            label.role = Some(role.into());
        }
        self
    }

    pub fn help(self, text: impl Into<String>) -> Diagnostic {
        self.note("help", text)
    }

    pub fn note(
        mut self,
        tag: impl Into<Cow<'static, str>>,
        text: impl Into<String>,
    ) -> Diagnostic {
        self.notes.push(Note {
            tag: tag.into(),
            text: text.into(),
            span: None,
        });
        self
    }

    /// A note that names a place of its own, shown behind it in parentheses.
    pub fn note_at(
        mut self,
        tag: impl Into<Cow<'static, str>>,
        text: impl Into<String>,
        span: Span,
    ) -> Diagnostic {
        self.notes.push(Note {
            tag: tag.into(),
            text: text.into(),
            span: Some(span),
        });
        self
    }

    pub fn fact(mut self, name: &'static str, value: impl Into<String>) -> Diagnostic {
        self.facts.push((name, value.into()));
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Where the finding is: its first primary label, else its first label.
    pub fn place(&self) -> Option<Span> {
        let primary = self.labels.iter().find(|label| label.primary);
        primary.or(self.labels.first()).map(|label| label.span)
    }
}
