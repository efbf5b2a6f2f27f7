//! From a validator's error to a finding with places: which file of which tier, and where the
//! schema says so.

use std::cell::Cell;

use base::distance::nearest;
use base::{Diagnostic, Path, Segment, Span};
use data::Value;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};

use super::{Schema, segment, words};
use crate::codes;
use crate::merge::{Context, Merged};
use crate::show;
use crate::target::{Target, locate, name};
use crate::tier::Tier;

/// How many of the known fields are looked at to list some of them.
const MOST_NAMES: usize = 100;

/// One thing that is wrong.
pub struct Breach {
    pub finding: Diagnostic,
    /// Equal for the same breach found again after a higher tier.
    pub key: (String, String, Option<Span>),
}

/// How much may be said, however much is wrong.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    /// Findings of one error.
    pub most: usize,
    /// Names that may still be compared with a misspelt one.
    pub compared: &'a Cell<usize>,
}

/// Whether a higher tier may still put an error right.
pub fn waits(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Required { .. })
}

/// What one error of the validator means, as many findings as there is room for: each is looked up in the values.
pub fn breaches(
    schema: &Schema,
    merged: &Merged<'_>,
    tier: Tier,
    error: &ValidationError<'_>,
    context: Context<'_>,
    room: Room<'_>,
) -> Vec<Breach> {
    let path = Path(error.instance_path().iter().map(segment).collect());
    let rule: Vec<Segment> = error.schema_path().iter().map(segment).collect();
    let maker = Maker {
        schema,
        merged,
        tier,
        context,
        pointer: error.schema_path().as_str().to_owned(),
        rule,
        compared: room.compared,
    };
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unexpected
                .iter()
                .take(room.most)
                .map(|name| maker.unknown(&path.key(name.as_str()), name))
                .collect()
        }
        Kind::FalseSchema => {
            let name = match path.0.last() {
                Some(Segment::Key(name)) => name.clone(),
                _ => String::new(),
            };
            vec![maker.unknown(&path, &name)]
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![maker.missing(&path, name)]
        }
        Kind::Type { kind } => vec![maker.wrong_type(&path, kind)],
        kind => vec![maker.unmet(&path, kind, error)],
    }
}

struct Maker<'a, 'm> {
    schema: &'a Schema,
    merged: &'a Merged<'m>,
    tier: Tier,
    context: Context<'a>,
    pointer: String,
    /// The pointer to the keyword that was broken.
    rule: Vec<Segment>,
    compared: &'a Cell<usize>,
}

impl Maker<'_, '_> {
    fn unknown(&self, path: &Path, name: &str) -> Breach {
        let Context { symbols, .. } = self.context;
        let tree = &self.schema.tree;
        let owner = self.rule.split_last().map_or(&[][..], |(_, rest)| rest);
        let properties = self
            .schema
            .at_pointer(owner, symbols)
            .and_then(|owner| self.schema.field(owner, "properties", symbols));
        let fields = match properties.map(|node| tree.value(node)) {
            Some(Value::Map(fields)) => fields,
            _ => &[],
        };
        let known = fields.iter().map(|field| symbols.name(field.name));
        let target = locate(self.merged, path, self.context.symbols);
        let finding = Diagnostic::error(
            codes::UNKNOWN_FIELD,
            format!("the schema knows no field `{path}`"),
        );
        let mut finding = self.place(finding, target.as_ref(), "not in the schema", true);
        let left = self.compared.get().checked_sub(fields.len());
        self.compared.set(left.unwrap_or(0));
        match left.and_then(|_| nearest(name, known)) {
            Some(near) => finding = finding.help(format!("did you mean `{near}`?")),
            None if !fields.is_empty() => {
                let fields = fields.iter().take(MOST_NAMES);
                let mut names: Vec<&str> = fields.map(|field| symbols.name(field.name)).collect();
                names.sort_unstable();
                let list = show::shorten(names.join(", "), show::SHORT);
                finding = finding.help(format!("known fields here: {list}"));
            }
            None => {}
        }
        self.finish(finding, path, target.as_ref())
    }

    fn missing(&self, path: &Path, name: &str) -> Breach {
        let Context { symbols, sources } = self.context;
        let path = path.key(name);
        let tree = &self.schema.tree;
        let list = self.schema.at_pointer(&self.rule, symbols);
        let items = match list.map(|node| tree.value(node)) {
            Some(Value::List(items)) => items,
            _ => &[],
        };
        let item = items
            .iter()
            .find(|&&item| matches!(tree.value(item), Value::String(text) if text == name));
        let span = tree.span(item.copied().or(list).unwrap_or(tree.root()));
        let last = self.merged.parts.last();
        let help = match last.map(|part| &part.document.tree) {
            Some(last) => format!("set `{path}` in {}", sources.get(last.source()).name()),
            None => format!("set `{path}`"),
        };
        let finding = Diagnostic::error(
            codes::MISSING_FIELD,
            format!("`{path}` is required and no tier sets it"),
        )
        .primary(span, "required here")
        .role("schema")
        .help(help);
        self.finish(finding, &path, None)
    }

    fn wrong_type(&self, path: &Path, kind: &TypeKind) -> Breach {
        let wanted = match kind {
            TypeKind::Single(one) => article(&one.to_string()).to_owned(),
            TypeKind::Multiple(set) => {
                let names: Vec<String> = set
                    .iter()
                    .map(|one| article(&one.to_string()).to_owned())
                    .collect();
                names.join(" or ")
            }
        };
        let target = locate(self.merged, path, self.context.symbols);
        let is = match &target {
            Some(target) => show::kind(target.tree.value(target.node)),
            None => "a map",
        };
        let name = name(path);
        let finding = Diagnostic::error(
            codes::WRONG_TYPE,
            format!("{name} is {is}, and the schema wants {wanted}"),
        );
        let finding = self.place(finding, target.as_ref(), is, false);
        let finding = self.word(finding, path);
        self.finish(finding, path, target.as_ref())
    }

    fn unmet(&self, path: &Path, kind: &Kind, error: &ValidationError<'_>) -> Breach {
        let symbols = self.context.symbols;
        let target = locate(self.merged, path, self.context.symbols);
        let wants = wants(kind);
        let name = name(path);
        let message = match (&wants, &target) {
            (Some(wants), Some(target)) if !target.is_map => {
                let value = show::short(target.tree, target.node, symbols);
                format!("{name} is {value}, and the schema wants {wants}")
            }
            (Some(wants), _) => format!("the schema wants {wants} at {name}"),
            (None, _) => format!("{name}: {}", words::first_line(&error.to_string())),
        };
        let finding = Diagnostic::error(codes::UNMET_CONSTRAINT, show::shorten(message, 200));
        let label = wants.map_or(String::new(), |wants| format!("{wants} is wanted"));
        let finding = self.place(finding, target.as_ref(), &label, false);
        let finding = self.word(finding, path);
        self.finish(finding, path, target.as_ref())
    }

    /// Adds the offender's place: the field's name for unknown fields and maps, else the value.
    fn place(
        &self,
        finding: Diagnostic,
        target: Option<&Target<'_>>,
        label: &str,
        at_key: bool,
    ) -> Diagnostic {
        match target {
            Some(target) => target.place(self.merged, finding, label, at_key),
            None => finding,
        }
    }

    /// Adds what the schema says of the path, and where.
    fn word(&self, finding: Diagnostic, path: &Path) -> Diagnostic {
        let symbols = self.context.symbols;
        let rule = self.schema.at_pointer(&self.rule, symbols);
        match (self.schema.word(path, symbols), rule) {
            (Some((word, span)), _) => finding.note_at("schema", word, span),
            (None, Some(node)) => {
                let word = show::short(&self.schema.tree, node, symbols);
                finding.note_at("schema", word, self.schema.tree.span(node).at_start())
            }
            (None, None) => finding,
        }
    }

    fn finish(&self, finding: Diagnostic, path: &Path, target: Option<&Target<'_>>) -> Breach {
        let span = target
            .filter(|target| !target.is_map)
            .map(|target| target.tree.span(target.node));
        let tier = match target {
            Some(target) => self.merged.tier(target.link),
            None => self.tier,
        };
        Breach {
            finding: finding
                .fact("field", path.to_string())
                .fact("tier", tier.word())
                .fact("schemaPath", self.pointer.clone()),
            key: (path.to_string(), self.pointer.clone(), span),
        }
    }
}

fn article(name: &str) -> &str {
    match name {
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "boolean" => "a boolean",
        "array" => "a list",
        "object" => "a map",
        other => other,
    }
}

fn wants(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MinItems { limit } => format!("at least {limit} items"),
        Kind::MaxItems { limit } => format!("at most {limit} items"),
        Kind::MinProperties { limit } => format!("at least {limit} fields"),
        Kind::MaxProperties { limit } => format!("at most {limit} fields"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::Pattern { pattern } => format!("a match of `{pattern}`"),
        Kind::Format { format } => format!("the format `{format}`"),
        Kind::UniqueItems => "items that all differ".to_owned(),
        Kind::Constant { expected_value } => expected_value.to_string(),
        Kind::Enum { options } => {
            let words: Vec<String> = match options.as_array() {
                Some(all) => all.iter().map(ToString::to_string).collect(),
                None => vec![options.to_string()],
            };
            format!("one of {}", words.join(", "))
        }
        Kind::AnyOf { .. } => "one of several shapes".to_owned(),
        Kind::OneOfNotValid { .. } => "exactly one of several shapes".to_owned(),
        Kind::OneOfMultipleValid { .. } => "only one of several shapes".to_owned(),
        _ => return None,
    })
}
