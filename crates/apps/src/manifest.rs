//! The manifest: what Lath uses of the draft agent-app standard. Unknown fields pass.
//!
//! A manifest may be spread over several files: the front matter of `APP.md`, `app.yaml|json|cue`,
//! and layered files `app.*.yaml`. They are joined by top-level field; the separate file wins.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};

use crate::codes;
use crate::cursor::Cursor;
use crate::instant::Instant;
use crate::layer::Layer;
use crate::words;

/// Something that the app brings or needs, by its key.
#[derive(Clone, Debug, Default)]
pub struct Item {
    pub key: String,
    pub required: bool,
    /// An entry's or eval's kind.
    pub kind: Option<String>,
    /// A secret's or template's scope.
    pub scope: Option<String>,
    /// An entry's.
    pub visibility: Option<String>,
    /// An eval's, as it is written.
    pub threshold: Option<crate::value::Value>,
    /// Whether an optional tool is on unless someone says otherwise.
    pub enabled: bool,
    /// A template's schema file.
    pub schema: Option<(String, Span)>,
    pub description: Option<String>,
    /// What an entry needs, by kind: tools, knowledge, secrets, evals.
    pub needs: Needs,
    pub span: Option<Span>,
}

/// The keys of the tools, knowledge templates, secrets and evals that one entry needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub tools: Vec<String>,
    pub knowledge: Vec<String>,
    pub secrets: Vec<String>,
    pub evals: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Manifest {
    pub name: String,
    pub version: String,
    pub status: Option<String>,
    pub entries: Vec<Item>,
    pub knowledge: Vec<Item>,
    pub tools: Vec<Item>,
    pub evals: Vec<Item>,
    pub secrets: Vec<Item>,
    pub permissions: Vec<Item>,
    pub templates: Vec<Item>,
    pub end_of_life: Option<Instant>,
    pub superseded_by: Option<String>,
}

/// The layer at which a template's scope starts; unknown words start at tenant.
pub fn floor(scope: Option<&str>) -> Layer {
    match scope {
        Some("workspace") => Layer::Workspace,
        Some("user") => Layer::User,
        _ => Layer::Tenant,
    }
}

/// Joins the files' top-level fields, later files over earlier ones, and reads what is used.
pub fn read(files: &[Cursor<'_>], findings: &mut Vec<Diagnostic>) -> Manifest {
    let mut fields: BTreeMap<&str, Cursor<'_>> = BTreeMap::new();
    for file in files {
        fields.extend(file.fields().map(|(name, _, value)| (name, value)));
    }
    let place = files.first().map(|file| file.span().at_start());
    let mut reader = Reader { fields, findings };
    let name = reader.required("name", place);
    let version = reader.required("version", place);
    let status = reader.text("status");
    if let Some((word, span)) = &status {
        reader.word("status", word, words::STATUSES, *span);
    }
    let end_of_life = reader.text("endOfLifeAt").and_then(|(text, span)| {
        let instant = Instant::parse(&text);
        if instant.is_none() {
            reader.invalid(span, "`endOfLifeAt` is no date or time");
        }
        instant
    });
    let superseded_by = reader
        .text("supersededBy")
        .map(|(text, _)| text)
        .or_else(|| {
            let window = reader.fields.get("supportWindow")?;
            window.get("supersededBy")?.text()
        });
    Manifest {
        name,
        version,
        status: status.map(|(word, _)| word),
        end_of_life,
        superseded_by,
        entries: reader.items(
            "entries",
            &[
                ("kind", words::ENTRY_KINDS),
                ("visibility", words::VISIBILITIES),
            ],
        ),
        knowledge: reader.items("knowledgeTemplates", &[]),
        tools: reader.items("toolRefs", &[]),
        evals: reader.items("evals", &[("kind", words::EVAL_KINDS)]),
        secrets: reader.items("secrets", &[("scope", words::SECRET_SCOPES)]),
        permissions: reader.items("permissions", &[]),
        templates: reader.items("overlayTemplates", &[("scope", words::TEMPLATE_SCOPES)]),
    }
}

struct Reader<'a, 'f> {
    fields: BTreeMap<&'a str, Cursor<'a>>,
    findings: &'f mut Vec<Diagnostic>,
}

impl<'a> Reader<'a, '_> {
    fn invalid(&mut self, span: Span, message: impl Into<String>) {
        self.findings
            .push(Diagnostic::error(codes::MANIFEST_INVALID, message).primary(span, ""));
    }

    fn text(&mut self, name: &str) -> Option<(String, Span)> {
        let value = *self.fields.get(name)?;
        match value.text() {
            Some(text) => Some((text, value.span())),
            None => {
                self.invalid(value.span(), format!("`{name}` must be a string"));
                None
            }
        }
    }

    fn required(&mut self, name: &str, place: Option<Span>) -> String {
        if let Some((text, span)) = self.text(name) {
            if text.is_empty() {
                self.invalid(span, format!("`{name}` is empty"));
            }
            return text;
        }
        if !self.fields.contains_key(name) {
            let mut finding = Diagnostic::error(
                codes::MANIFEST_INVALID,
                format!("the manifest has no `{name}`"),
            );
            if let Some(place) = place {
                finding = finding.primary(place, "");
            }
            self.findings.push(finding.help(format!("add `{name}: …`")));
        }
        String::new()
    }

    fn word(&mut self, field: &str, word: &str, known: &[&str], span: Span) {
        if known.contains(&word) {
            return;
        }
        let message = format!("unknown {field} `{word}`");
        let finding = Diagnostic::warning(codes::UNKNOWN_WORD, message).primary(span, "");
        self.findings
            .push(match base::distance::nearest(word, known.iter().copied()) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding.help(format!("the known words are {}", known.join(", "))),
            });
    }

    /// A list of items, each a map with a `key`, or just the key.
    fn items(&mut self, name: &str, vocabulary: &[(&str, &[&str])]) -> Vec<Item> {
        let Some(&list) = self.fields.get(name) else {
            return Vec::new();
        };
        if list.is_null() {
            return Vec::new();
        }
        let Some(all) = list.items() else {
            self.invalid(list.span(), format!("`{name}` must be a list"));
            return Vec::new();
        };
        let mut items: Vec<Item> = Vec::new();
        for item in all {
            let Some(read) = self.item(name, item, vocabulary) else {
                continue;
            };
            if items.iter().any(|known| known.key == read.key) {
                self.invalid(
                    item.span(),
                    format!("`{}` stands twice in `{name}`", read.key),
                );
                continue;
            }
            items.push(read);
        }
        items
    }

    fn item(
        &mut self,
        list: &str,
        item: Cursor<'a>,
        vocabulary: &[(&str, &[&str])],
    ) -> Option<Item> {
        if let Some(key) = item.str() {
            return Some(Item {
                key: key.to_owned(),
                span: Some(item.span()),
                ..Item::default()
            });
        }
        let Some(key) = item
            .get("key")
            .and_then(Cursor::text)
            .filter(|k| !k.is_empty())
        else {
            self.invalid(item.span(), format!("an item of `{list}` has no `key`"));
            return None;
        };
        for (field, known) in vocabulary {
            if let Some(value) = item.get(field)
                && let Some(word) = value.text()
            {
                self.word(field, &word, known, value.span());
            }
        }
        let text = |name: &str| item.get(name).and_then(Cursor::text);
        let flag = |name: &str| item.get(name).and_then(Cursor::bool) == Some(true);
        let threshold = item.get("threshold").map(Cursor::value);
        if threshold.as_ref().is_some_and(|t| t.compare(t).is_none()) {
            self.invalid(
                item.span(),
                format!("the threshold of `{key}` must be a number"),
            );
        }
        Some(Item {
            required: flag("required"),
            kind: text("kind"),
            scope: text("scope"),
            visibility: text("visibility"),
            threshold: threshold.filter(|t| t.compare(t).is_some()),
            enabled: flag("enabled"),
            schema: item
                .get("schema")
                .and_then(|schema| Some((schema.text()?, schema.span()))),
            description: text("description"),
            needs: needs(item),
            span: Some(item.span()),
            key,
        })
    }
}

fn needs(entry: Cursor<'_>) -> Needs {
    let list = |names: [&str; 2]| {
        let field = names.iter().find_map(|name| entry.get(name));
        let items = field.and_then(Cursor::items).into_iter().flatten();
        let key = |item: Cursor<'_>| item.text().or_else(|| item.get("key")?.text());
        items.filter_map(key).collect()
    };
    Needs {
        tools: list(["toolRefs", "tools"]),
        knowledge: list(["knowledgeTemplates", "knowledge"]),
        secrets: list(["secrets", "secretRefs"]),
        evals: list(["evals", "evalRefs"]),
    }
}
