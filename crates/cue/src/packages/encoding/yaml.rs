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
    plain::parse(Format::Yaml, &args.text(0)?).map_err(|error| fatal(error.message))
}

fn unmarshal(args: Args<'_>) -> Result<Value, Error> {
    let mut all = documents(args)?.into_iter();
    // An empty stream is null.
    let first = all.next().unwrap_or(Value::Null);
    if all.next().is_some() {
        return Err(fatal("expected a single YAML document"));
    }
    Ok(first)
}
