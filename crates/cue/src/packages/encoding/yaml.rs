//! Package `encoding/yaml`. A stream is a list of documents.

use data::Format;
use data::write::Yaml;

use super::super::call::{as_list, fatal};
use super::super::member::{ANY, DATA, TEXT, function, special};
use super::super::{Args, Error, Kinds, Package, Special, Value};
use super::plain;

pub(in super::super) const PACKAGE: Package = Package {
    path: "encoding/yaml",
    cue: None,
    members: &[
        function("Marshal", &[DATA], Kinds::STRING, |args| {
            Ok(marshal(args.value(0))?.into())
        }),
        function("MarshalStream", &[DATA], Kinds::STRING, marshal_stream),
        function("Unmarshal", &[TEXT], Kinds::TOP, unmarshal),
        function("UnmarshalStream", &[TEXT], Kinds::TOP, |args| {
            Ok(Value::List(documents(args)?))
        }),
        special("Validate", &[TEXT, ANY], Kinds::BOOL, Special::YamlValidate),
        special(
            "ValidatePartial",
            &[TEXT, ANY],
            Kinds::BOOL,
            Special::YamlValidatePartial,
        ),
    ],
};

fn marshal(value: &Value) -> Result<String, Error> {
    let mut yaml = Yaml::new();
    plain::write(&mut yaml, value)?;
    Ok(yaml.finish())
}

fn marshal_stream(args: Args<'_>) -> Result<Value, Error> {
    let documents: Result<Vec<String>, Error> =
        as_list(args.value(0))?.iter().map(marshal).collect();
    Ok(documents?.join("---\n").into())
}

fn documents(args: Args<'_>) -> Result<Vec<Value>, Error> {
    let mut all =
        plain::parse(Format::Yaml, &args.text(0)?).map_err(|error| fatal(error.message))?;
    // An empty stream is one empty document.
    if all.is_empty() {
        all.push(Value::Null);
    }
    Ok(all)
}

fn unmarshal(args: Args<'_>) -> Result<Value, Error> {
    let text = args.text(0)?;
    let all = plain::parse_placed(Format::Yaml, &text).map_err(|error| fatal(error.message))?;
    let mut all = all.into_iter();
    let first = all.next().map_or(Value::Null, |(value, _)| value);
    if let Some((_, start)) = all.next() {
        let before = text.get(..start).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        return Err(fatal(format!(
            "{line}:{column}: expected a single YAML document"
        )));
    }
    Ok(first)
}
