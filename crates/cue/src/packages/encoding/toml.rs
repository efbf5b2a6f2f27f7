//! Package `encoding/toml`. Keys come out sorted, as the reference writes them.

use data::Format;
use data::write::Toml;

use super::super::call::fatal;
use super::super::member::{DATA, TEXT, function};
use super::super::{Args, Error, Kinds, Package, Value};
use super::plain;

pub(in super::super) const PACKAGE: Package = Package {
    path: "encoding/toml",
    cue: None,
    members: &[
        function("Marshal", &[DATA], Kinds::STRING, marshal),
        function("Unmarshal", &[TEXT], Kinds::TOP, unmarshal),
    ],
};

fn marshal(args: Args<'_>) -> Result<Value, Error> {
    let mut toml = Toml::sorted();
    plain::write(&mut toml, args.value(0))?;
    match toml.finish() {
        Ok(text) => Ok(text.into()),
        Err(wrong) => Err(fatal(format!("toml cannot hold {}", wrong.what))),
    }
}

fn unmarshal(args: Args<'_>) -> Result<Value, Error> {
    let documents = plain::parse(Format::Toml, &args.text(0)?);
    let documents = documents.map_err(|error| fatal(error.message))?;
    Ok(documents
        .into_iter()
        .next()
        .unwrap_or(Value::Struct(Vec::new())))
}
