//! Package `text/template`: Go's templates over plain data.
//!
//! `lex` splits a template into text and actions, `parse` makes a tree of it, `execute` runs the tree, `functions` are the
//! predefined ones. Loops, depth and output are bounded.

mod execute;
mod functions;
mod lex;
mod parse;

use super::super::member::{DATA, STRING, function};
use super::super::{Args, Error, Kinds, Package, Value, html};

pub(in super::super) const PACKAGE: Package = Package {
    path: "text/template",
    cue: None,
    members: &[
        function("Execute", &[STRING, DATA], Kinds::STRING, execute),
        function("HTMLEscape", &[STRING], Kinds::STRING, |args| {
            Ok(html::escape(args.str(0)?).into())
        }),
        function("JSEscape", &[STRING], Kinds::STRING, |args| {
            Ok(functions::js_escape(args.str(0)?).into())
        }),
    ],
};

fn execute(args: Args<'_>) -> Result<Value, Error> {
    let templates = parse::parse(args.str(0)?).map_err(Error::Fatal)?;
    execute::execute(&templates, args.value(1))
        .map(Value::String)
        .map_err(Error::Fatal)
}
