//! Schemas: how a key's values are checked, and the readers that turn schema files into keys.
//!
//! One reader a language. A reader gets the parsed file and returns [`crate::key::Key`]s with their checks; nothing
//! else in the crate knows in which language a key was declared.

pub(crate) mod cue;
pub(crate) mod json;

use std::sync::Arc;

use crate::constraint::Constraint;
use crate::evaluate;
use crate::value::Value;

/// Tells whether a value may stand at a key.
#[derive(Clone, Debug)]
pub struct Check {
    language: Language,
    /// The schema as JSON: equal texts are equal schemas. A CUE schema is the key's expression as a string.
    pub text: Arc<str>,
    /// The types that are let through, as JSON Schema names them; empty means any.
    pub types: Vec<Box<str>>,
}

#[derive(Clone, Debug)]
enum Language {
    Json(Arc<jsonschema::Validator>),
    /// The file, and the path of the key in it.
    Cue(Arc<str>, Box<str>),
}

impl Check {
    /// The error says what is wrong with the schema, for its author.
    pub fn from_schema(schema: &serde_json::Value) -> Result<Check, String> {
        let validator = jsonschema::validator_for(schema).map_err(|e| e.to_string())?;
        let types = match schema.get("type") {
            Some(serde_json::Value::String(word)) => vec![word.as_str().into()],
            Some(serde_json::Value::Array(words)) => {
                let words = words.iter().filter_map(serde_json::Value::as_str);
                words.map(Into::into).collect()
            }
            _ => Vec::new(),
        };
        Ok(Check {
            language: Language::Json(Arc::new(validator)),
            text: schema.to_string().into(),
            types,
        })
    }

    /// A key of a CUE file that is good by itself; `expr` is what the file says of the key.
    pub fn from_cue(file: Arc<str>, path: &str, expr: &str) -> Check {
        let constraint = Constraint::read(&Value::string(expr));
        Check {
            types: constraint.map(|c| c.type_words()).unwrap_or_default(),
            text: Value::string(expr).json().into(),
            language: Language::Cue(file, path.into()),
        }
    }

    pub fn admits(&self, value: &Value) -> bool {
        match &self.language {
            Language::Json(validator) => validator.is_valid(&value.to_serde()),
            Language::Cue(file, path) => evaluate::fits(file, path, value).is_ok(),
        }
    }

    /// What is wrong with a value, without showing it: the place in it and the rule.
    pub fn complaint(&self, value: &Value) -> Option<String> {
        let Language::Json(validator) = &self.language else {
            // CUE's own messages quote values.
            let fits = self.admits(value);
            return (!fits).then(|| "the schema does not admit it".to_owned());
        };
        let instance = value.to_serde();
        let error = validator.iter_errors(&instance).next()?;
        let place = error.instance_path().to_string();
        let keyword = error.schema_path().to_string();
        let keyword = keyword.rsplit('/').next().unwrap_or_default().to_owned();
        let wanted = serde_json::from_str::<serde_json::Value>(&self.text)
            .ok()
            .and_then(|schema| schema.get(&keyword).map(ToString::to_string));
        let mut text = match wanted {
            Some(wanted) if place.is_empty() => format!("the schema wants `{keyword}` {wanted}"),
            _ => format!("the schema's `{keyword}` does not admit it"),
        };
        if !place.is_empty() {
            text.push_str(&format!(" at `{place}`"));
        }
        Some(text)
    }

    /// Whether the value's type is one that the schema names.
    pub fn admits_type(&self, value: &Value) -> bool {
        let word = value.type_word();
        self.types.is_empty()
            || self
                .types
                .iter()
                .any(|t| **t == *word || (**t == *"number" && word == "integer"))
    }

    /// The types for people: `number`, `string or null`, `any`.
    pub fn type_text(&self) -> String {
        match self.types.is_empty() {
            true => "any".to_owned(),
            false => self.types.join(" or "),
        }
    }
}
