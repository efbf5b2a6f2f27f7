//! The laws. A target says whether the text was one of its language: those are worth changing further.

use std::sync::Arc;

use base::{LayerId, SourceId, Sources, Symbols};
use cue::Runtime;
use cue::eval::limits::Limits;
use cue::eval::validate::Config;
use cue::export::cue::Profile;
use cue::syntax::{literal, parse_expr, parse_file};
use data::write::Json;
use units::{Flavour, Kind, Merged, Part};

use crate::formatting;

/// A law. False: the text says nothing about it.
pub type Target = fn(&str) -> bool;

/// The target of a name.
pub fn by_name(name: &str) -> Option<Target> {
    Some(match name {
        "parse" => parse,
        "format" => format,
        "literal" => literals,
        "evaluate" => evaluate,
        "unit" => unit,
        _ => return None,
    })
}

/// Any text is read without a panic, and places lie in the text.
pub fn parse(text: &str) -> bool {
    let text: Arc<str> = Arc::from(text);
    let mut symbols = Symbols::new();
    let parsed = parse_file(SourceId(0), &text, &mut symbols);
    for error in &parsed.errors {
        for label in &error.labels {
            assert!(label.span.end as usize <= text.len(), "{error:?}");
        }
    }
    let expr = parse_expr(SourceId(0), &text, &mut symbols);
    parsed.errors.is_empty() || expr.errors.is_empty()
}

/// Any tree is printed without a panic; of what is valid, see [`formatting`].
pub fn format(text: &str) -> bool {
    let checked = formatting::check(text);
    let wrong = checked.as_ref().err();
    assert!(wrong.is_none(), "{}", wrong.map_or("", String::as_str));
    checked.unwrap_or(false)
}

/// Decoding never panics, and quoting is undone by decoding.
pub fn literals(text: &str) -> bool {
    let _ = literal::unquote(text);
    let _ = literal::parse_number(text);
    let quoted = literal::quote_string(text);
    assert_eq!(literal::unquote_string(&quoted).as_deref(), Ok(text));
    let lines = literal::quote_lines(text, 1);
    assert_eq!(literal::unquote_string(&lines).as_deref(), Ok(text));
    true
}

/// What one program may cost here: enough for every text that a person writes, little enough for thousands a second.
fn limits() -> Limits {
    Limits {
        steps: 200_000,
        depth: 2_000,
        nodes: 200_000,
        ..Limits::default()
    }
}

/// Any program that compiles is evaluated, checked and written without a panic and within its bounds, and what is
/// written as CUE can be read.
pub fn evaluate(text: &str) -> bool {
    let text: Arc<str> = Arc::from(text);
    let mut sources = Sources::new();
    let id = sources.add("in.cue", &*text);
    let mut runtime = Runtime::new();
    runtime.ctx.limits = limits();
    let parsed = parse_file(id, &text, runtime.symbols());
    if !parsed.errors.is_empty() {
        return false;
    }
    runtime.know_sources(&sources);
    let Ok(value) = runtime.build("_", &[&parsed.file]) else {
        return false;
    };
    if runtime.evaluate(value).is_err() {
        return true;
    }
    let definition = runtime.write_def(value, None);
    let evaluated = runtime.write_cue(
        value,
        Profile {
            definitions: true,
            optional: true,
            errors: true,
            ..Profile::default()
        },
    );
    // Errors are written where they stand, for people to read; which experiments a file takes part in is not written.
    if runtime.validate(value, Config::default()).is_ok() && !text.contains("@experiment") {
        readable(&definition);
        readable(&evaluated);
    }
    let concrete = Config {
        concrete: true,
        is_final: true,
        ..Config::default()
    };
    if runtime.validate(value, concrete).is_ok() && runtime.unwritable(value).is_none() {
        let mut writer = Json::compact();
        runtime.write(value, &mut writer);
    }
    true
}

fn readable(text: &str) {
    // As in the reference, a comparison with an error says so behind it, and hides what follows; reserved names are
    // refused in some places only; and `package` can be a name, but not the first word of a file.
    let is_clause = |line: &str| line.starts_with("package") || line.trim() == "import";
    if text.contains("_|_ // explicit error") || text.contains("__") || text.lines().any(is_clause)
    {
        return;
    }
    let parsed = parse_file(SourceId(0), &Arc::from(text), &mut Symbols::new());
    assert!(
        parsed.errors.is_empty(),
        "written, but not readable:\n{text}\n{:?}",
        parsed.errors
    );
}

/// Unit files: both flavours keep every byte, and a merged Quadlet reads back as it was.
pub fn unit(text: &str) -> bool {
    for flavour in [Flavour::Systemd, Flavour::Quadlet] {
        let (file, findings) = units::parse(SourceId(0), text.into(), flavour);
        let back: String = file
            .items
            .iter()
            .map(|item| file.slice(item.span))
            .collect();
        assert_eq!(back, text);
        if flavour == Flavour::Quadlet && !findings.iter().any(|f| f.is_error()) {
            let before = merged(&file);
            let written = before.render("", |_| String::new());
            let (again, _) = units::parse(SourceId(0), written.as_str().into(), flavour);
            assert_eq!(lines(&merged(&again)), lines(&before));
        }
    }
    true
}

fn merged(file: &units::UnitFile) -> Merged {
    let layer = LayerId(0);
    units::merge(Kind::Container, &[Part { layer, file }])
}

/// Section, key and value of every line.
fn lines(merged: &Merged) -> Vec<[&str; 3]> {
    let sections = merged.sections.iter();
    let lines = sections.flat_map(|s| s.lines.iter().map(|l| [&*s.name, &*l.key, &*l.value]));
    lines.collect()
}
