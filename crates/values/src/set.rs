//! `--set path=value`: a document from the command line.
//!
//! The value is read as YAML (`replicas=5`, `tolerations=[]`, `env={A: b}`); nothing behind the `=` is
//! the empty string. `--set-string` takes the text as it is. Lists are replaced whole, so a path
//! cannot lead into one.

use std::sync::Arc;

use base::{Diagnostic, Path, Segment, SourceId, Span, Symbols};
use data::{NodeId, Tree, TreeBuilder, Value};

use crate::codes;

/// Reads one argument, which is the whole text of `source`.
pub fn parse(
    source: SourceId,
    text: &Arc<str>,
    as_string: bool,
    symbols: &mut Symbols,
) -> Result<Tree, Vec<Diagnostic>> {
    let wrong = |message: String| {
        let span = Span::new(source, 0..text.len());
        vec![
            Diagnostic::error(codes::SET_SYNTAX, message)
                .primary(span, "")
                .help("write it as `--set resources.limits.cpu=2`"),
        ]
    };
    let Some(equals) = equals_sign(text) else {
        return Err(wrong(format!("`{text}` has no `=`")));
    };
    let (left, right) = text.split_at_checked(equals).unwrap_or((text, ""));
    let right = right.strip_prefix('=').unwrap_or(right);
    let path = Path::parse(left).map_err(wrong)?;
    if path.is_root() {
        return Err(wrong(format!("`{text}` has no path before `=`")));
    }
    if path.0.iter().any(|s| matches!(s, Segment::Index(_))) {
        return Err(wrong(format!(
            "`{left}` leads into a list, and lists are replaced whole"
        )));
    }
    let content = Span::new(source, equals + 1..text.len());
    let mut builder = TreeBuilder::new(source, text.clone());
    let mut node = if as_string || right.is_empty() {
        builder.string_verbatim(content, content)
    } else {
        let value = yaml(source, equals + 1, right, symbols)?;
        copy(&value, value.root(), &mut builder)
    };
    let key = Span::new(source, 0..equals);
    for segment in path.0.iter().rev() {
        if let Segment::Key(name) = segment {
            let field = builder.field(key, symbols.intern(name), node);
            node = builder.map(content, &[field]);
        }
    }
    Ok(builder.finish(node))
}

/// The first `=` that is not inside quotes.
fn equals_sign(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '=' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// Reads the value behind the path. Blanks stand for the path, so that places are right.
fn yaml(
    source: SourceId,
    offset: usize,
    value: &str,
    symbols: &mut Symbols,
) -> Result<Tree, Vec<Diagnostic>> {
    let padded: Arc<str> = (" ".repeat(offset) + value).into();
    let options = data::Options::default();
    let mut parsed = data::parse(data::Format::Yaml, source, padded, symbols, &options);
    match parsed.documents.pop() {
        Some(tree) if !parsed.has_errors() && parsed.documents.is_empty() => Ok(tree),
        _ if parsed.has_errors() => Err(parsed.findings),
        _ => {
            let span = Span::new(source, offset..offset + value.len());
            let finding = Diagnostic::error(codes::SET_SYNTAX, "`--set` takes one YAML value")
                .primary(span, "")
                .help("use `--set-string` to set a text as it is");
            Err(vec![finding])
        }
    }
}

/// Copies a node into another tree. Depth is bounded by `data::MAX_DEPTH`.
pub(crate) fn copy(from: &Tree, node: NodeId, to: &mut TreeBuilder) -> NodeId {
    let span = from.span(node);
    match from.value(node) {
        Value::Null => to.null(span),
        Value::Bool(value) => to.bool(span, value),
        Value::Number(number) => to.number(span, number),
        Value::String(text) => to.string(span, text),
        Value::Bytes(base64) => to.bytes(span, base64),
        Value::List(items) => {
            let items: Vec<NodeId> = items.iter().map(|&item| copy(from, item, to)).collect();
            to.list(span, &items)
        }
        Value::Map(fields) => {
            let mut copies = Vec::with_capacity(fields.len());
            for field in fields {
                let value = copy(from, field.value, to);
                copies.push(to.field(from.key_span(field), field.name, value));
            }
            to.map(span, &copies)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Sources;

    fn read(text: &str, as_string: bool) -> Result<String, String> {
        let mut sources = Sources::new();
        let source = sources.add("<command line>", text);
        let text = sources.get(source).text().clone();
        let mut symbols = Symbols::new();
        match parse(source, &text, as_string, &mut symbols) {
            Ok(tree) => Ok(crate::show::whole(&tree, tree.root(), &symbols)),
            Err(findings) => Err(findings.iter().map(|f| f.message.clone()).collect()),
        }
    }

    #[test]
    fn values_are_yaml_and_strings_are_strings() {
        for (text, as_string, want) in [
            ("a=1", false, "{a: 1}"),
            ("a=1", true, "{a: \"1\"}"),
            ("a.b=[x, 2]", false, "{a: {b: [\"x\", 2]}}"),
            ("a=", false, "{a: \"\"}"),
            ("a=b=c", false, "{a: \"b=c\"}"),
            ("\"a=b\"=null", false, "{\"a=b\": null}"),
            ("image=nginx:1.25", false, "{image: \"nginx:1.25\"}"),
        ] {
            assert_eq!(read(text, as_string).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn places_are_those_of_the_argument() {
        let mut sources = Sources::new();
        let source = sources.add("<command line>", "a.b={c: 5}");
        let text = sources.get(source).text().clone();
        let mut symbols = Symbols::new();
        let tree = parse(source, &text, false, &mut symbols).expect("a value");
        let path = Path::parse("a.b.c").expect("a path");
        let node = crate::document::walk(&tree, &path, &symbols).expect("a node");
        assert_eq!(sources.text(tree.span(node)), "5");
    }
}
