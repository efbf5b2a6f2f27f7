//! What breaks the schema, as findings: which tier's file, where the schema says so, what to do.

use base::distance::nearest;
use base::{Diagnostic, Path, Segment, Span};

use crate::codes;
use crate::merge::{Context, Merged};
use crate::show;
use crate::target::{locate, name};
use crate::tier::Tier;

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub(crate) struct Breach {
    pub path: Path,
    pub what: What,
    /// Where the schema says so.
    pub schema: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A field that the schema does not know.
    Unknown { known: Vec<String> },
    /// A value of another type.
    WrongType {
        kinds: Vec<&'static str>,
        word: String,
    },
    /// A value outside what the schema admits.
    Unmet { word: String },
    /// A regular field that nothing gives a value.
    Missing,
    /// A required field that nobody sets.
    Required,
    /// The schema contradicts itself.
    Broken { message: String },
}

impl What {
    /// Whether a value is at fault, not the lack of one.
    pub fn is_of_values(&self) -> bool {
        matches!(
            self,
            What::Unknown { .. } | What::WrongType { .. } | What::Unmet { .. }
        )
    }
}

/// Equal for the same breach found again after a higher tier.
pub(crate) type Key = (Path, &'static str, Option<Span>);

impl Breach {
    /// Whether a higher tier may still put it right.
    pub fn waits(&self) -> bool {
        self.what == What::Required
    }

    /// The finding, and what makes it the same as another.
    pub fn finding(
        &self,
        merged: &Merged<'_>,
        tier: Tier,
        context: Context<'_>,
    ) -> (Diagnostic, Key) {
        let path = &self.path;
        let target = locate(merged, path, context.symbols);
        let is = target
            .as_ref()
            .map_or("a map", |target| show::kind(target.tree.value(target.node)));
        let shown = target
            .as_ref()
            .filter(|target| !target.is_map)
            .map(|target| show::short(target.tree, target.node, context.symbols));
        let name = name(path);
        let (code, message, label) = match &self.what {
            What::Unknown { .. } => (
                codes::UNKNOWN_FIELD,
                format!("the schema knows no field `{path}`"),
                "not in the schema".to_owned(),
            ),
            What::WrongType { kinds, .. } => {
                let wanted = kinds.join(" or ");
                let message = format!("{name} is {is}, and the schema wants {wanted}");
                (codes::WRONG_TYPE, message, is.to_owned())
            }
            What::Unmet { word } => {
                let value = shown.clone().unwrap_or_else(|| is.to_owned());
                let message = format!("{name} is {value}, and the schema wants {word}");
                let label = format!("{word} is wanted");
                (codes::UNMET_CONSTRAINT, show::shorten(message, 200), label)
            }
            What::Missing => (
                codes::MISSING_FIELD,
                format!(
                    "`{path}` has no value: the module gives it none and the schema no default"
                ),
                "a value is wanted for this field".to_owned(),
            ),
            What::Required => (
                codes::MISSING_FIELD,
                format!("`{path}` is required and no tier sets it"),
                "required here".to_owned(),
            ),
            What::Broken { message } => {
                let message = format!("the schema contradicts itself at {name}: {message}");
                (codes::BAD_SCHEMA, message, String::new())
            }
        };
        let mut finding = Diagnostic::error(code, message);
        let at_key = matches!(self.what, What::Unknown { .. });
        let of_schema = matches!(
            self.what,
            What::Missing | What::Required | What::Broken { .. }
        );
        finding = match &target {
            Some(target) if !of_schema => target.place(merged, finding, &label, at_key),
            _ => finding.primary(self.schema, label).role("schema"),
        };
        finding = self.advice(finding, merged, context);
        let tier = match &target {
            Some(target) if !of_schema => merged.tier(target.link),
            _ => tier,
        };
        let span = target
            .as_ref()
            .filter(|target| !target.is_map && !of_schema)
            .map(|target| target.tree.span(target.node));
        let finding = finding
            .fact("field", path.to_string())
            .fact("tier", tier.word());
        (finding, (path.clone(), code.0, span))
    }

    /// What the schema says, and what to do.
    fn advice(&self, finding: Diagnostic, merged: &Merged<'_>, context: Context<'_>) -> Diagnostic {
        let path = &self.path;
        match &self.what {
            What::Unknown { known } => {
                let own = match path.0.last() {
                    Some(Segment::Key(name)) => name.as_str(),
                    _ => "",
                };
                let near = nearest(own, known.iter().map(String::as_str));
                match near {
                    Some(near) => finding.help(format!("did you mean `{near}`?")),
                    None if !known.is_empty() => {
                        let mut names = known.clone();
                        names.sort_unstable();
                        let list = show::shorten(names.join(", "), show::SHORT);
                        finding.help(format!("known fields here: {list}"))
                    }
                    None => finding,
                }
            }
            What::WrongType { word, .. } | What::Unmet { word } if !word.is_empty() => {
                finding.note_at("schema", word.clone(), self.schema)
            }
            What::Required => {
                let last = merged.parts.last().map(|part| part.document.tree.source());
                finding.help(match last {
                    Some(last) => {
                        format!("set `{path}` in {}", context.sources.get(last).name())
                    }
                    None => format!("set `{path}`"),
                })
            }
            What::Missing => finding.help(format!(
                "set `{path}` in the module, or make it `{path}!` if users must set it"
            )),
            _ => finding,
        }
    }
}
