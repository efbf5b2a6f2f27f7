//! What plain precedence does not settle silently, as data: told in answers, shown as findings.

use base::{Code, Diagnostic, Severity, Span};

use crate::layer::Layer;

/// One conflict. Messages never hold a value: values may be private.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub code: Code,
    pub severity: Severity,
    pub key: String,
    pub layer: Option<Layer>,
    /// What became of the value: `suppressed`, `skipped`, `kept`, `unset`, `would be skipped`…
    pub outcome: &'static str,
    /// The rule that decided, by its id.
    pub policy: Option<String>,
    pub message: String,
    pub remedy: String,
    /// Who can mend it.
    pub fixer: String,
    /// Where the value is written, if it comes from a file.
    pub span: Option<Span>,
}

impl Conflict {
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The same as a finding.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut finding = Diagnostic::new(self.code, self.severity, self.message.clone());
        if let Some(span) = self.span {
            finding = finding.primary(span, self.outcome);
            if let Some(layer) = self.layer {
                finding = finding.role(format!("{} layer", layer.word()));
            }
        }
        if !self.remedy.is_empty() {
            finding = finding.note(self.fixer.clone(), self.remedy.clone());
        }
        finding = finding.fact("key", self.key.clone());
        if let Some(layer) = self.layer {
            finding = finding.fact("layer", layer.word());
        }
        finding = finding.fact("outcome", self.outcome);
        match &self.policy {
            Some(policy) => finding.fact("policy", policy.clone()),
            None => finding,
        }
    }
}
