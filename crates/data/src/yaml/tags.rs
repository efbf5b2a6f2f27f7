//! Tags: what `!!int`, `!!str`, `!!binary`, `!default` and unknown ones do to a node; and keys.
//!
//! An unknown tag is an error, not a warning: `!defualt` would silently lock what it should open,
//! and a file written for another tool (`!Ref`, `!vault`) would silently mean something else. The node
//! is still read as if the tag were absent, so that reading finds everything at once.

use base::{Diagnostic, Span, distance};
use granit_parser::Tag;

use super::scalar::{self, Scalar};
use super::{Key, Loader, Places};
use crate::findings::shorten;
use crate::tree::{NodeId, Number, Value};
use crate::{codes, number};

/// What a tag says about a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    None,
    Default,
    /// `!` alone: a scalar is a string.
    NonSpecific,
    /// A tag of YAML's own: `int` for `!!int`.
    Core(&'static str),
    Unknown,
}

/// The tags of YAML's own that mean something here.
const CORE: [&str; 13] = [
    "str",
    "int",
    "float",
    "bool",
    "null",
    "binary",
    "timestamp",
    "map",
    "seq",
    "set",
    "omap",
    "pairs",
    "merge",
];

fn meaning(tag: Option<&Tag>) -> Meaning {
    let Some(tag) = tag else {
        return Meaning::None;
    };
    if let Some(name) = tag.suffix_in_namespace("tag:yaml.org,2002:") {
        let known = CORE.iter().find(|core| **core == name);
        return known.map_or(Meaning::Unknown, |core| Meaning::Core(core));
    }
    match (tag.handle(), tag.suffix()) {
        ("!", "default") => Meaning::Default,
        ("!", "") | ("", "!") => Meaning::NonSpecific,
        _ => Meaning::Unknown,
    }
}

impl Loader<'_> {
    pub(super) fn scalar_node(
        &mut self,
        value: &str,
        plain: bool,
        tag: Option<&Tag>,
        places: Places,
    ) -> NodeId {
        let meaning = meaning(tag);
        if meaning == Meaning::Unknown {
            self.unknown_tag(tag, places);
        }
        let span = places.node;
        match meaning {
            Meaning::None | Meaning::Unknown => self.untagged(value, plain, span),
            Meaning::Default => {
                let node = self.untagged(value, plain, span);
                self.builder.mark_default(node);
                node
            }
            Meaning::NonSpecific => self.string_node(value, span),
            Meaning::Core(core) => self.core(core, value, places),
        }
    }

    fn untagged(&mut self, value: &str, plain: bool, span: Span) -> NodeId {
        if !plain {
            return self.string_node(value, span);
        }
        match scalar::resolve(value) {
            Scalar::String => self.string_node(value, span),
            other => self.resolved(other, value, span),
        }
    }

    fn resolved(&mut self, scalar: Scalar<'_>, value: &str, span: Span) -> NodeId {
        let (text, is_int) = match scalar {
            Scalar::Null => return self.builder.null(span),
            Scalar::Bool(value) => return self.builder.bool(span, value),
            Scalar::String => return self.string_node(value, span),
            Scalar::NotFinite => {
                self.findings.not_finite(span, value);
                return self.builder.null(span);
            }
            Scalar::Int(text) => (text, true),
            Scalar::Float(text) => (text, false),
        };
        if !is_int && !number::exponent_in_range(&text) {
            self.findings.number_range(span, value);
        }
        if self.text.get(span.range()) == Some(&*text) {
            return self.builder.number_verbatim(span, is_int);
        }
        self.builder.number(
            span,
            Number {
                text: &text,
                is_int,
            },
        )
    }

    /// A scalar with a tag of YAML's own.
    fn core(&mut self, core: &str, value: &str, places: Places) -> NodeId {
        let span = places.node;
        let trimmed = value.trim();
        let fits = match core {
            "str" | "timestamp" => return self.string_node(value, span),
            "binary" => {
                let base64: String = value.split_whitespace().collect();
                if is_base64(&base64) {
                    return self.builder.bytes(span, &base64);
                }
                None
            }
            "int" => match scalar::number(trimmed, false) {
                int @ Scalar::Int(_) => Some(int),
                _ => None,
            },
            "float" => match scalar::number(trimmed, false) {
                Scalar::Int(text) => Some(Scalar::Float(format!("{text}.0").into())),
                float @ (Scalar::Float(_) | Scalar::NotFinite) => Some(float),
                _ => None,
            },
            "bool" => scalar::boolean(trimmed).map(Scalar::Bool),
            "null" => scalar::is_null(trimmed).then_some(Scalar::Null),
            _ => None,
        };
        match fits {
            Some(scalar) => self.resolved(scalar, value, span),
            None => {
                self.mismatch(core, &format!("`{}`", shorten(value)), places);
                self.string_node(value, span)
            }
        }
    }

    /// Checks the tag of a list or map; returns whether it is `!default`.
    pub(super) fn collection_tag(
        &mut self,
        tag: Option<&Tag>,
        places: Places,
        is_map: bool,
    ) -> bool {
        match (meaning(tag), is_map) {
            (Meaning::Default, _) => true,
            (Meaning::None | Meaning::NonSpecific, _)
            | (Meaning::Core("map" | "set"), true)
            | (Meaning::Core("seq" | "omap" | "pairs"), false) => false,
            // The reference ignores what tags lists and maps have.
            _ if !self.strict => false,
            (Meaning::Core(core), _) => {
                self.mismatch(core, if is_map { "a map" } else { "a list" }, places);
                false
            }
            (Meaning::Unknown, _) => {
                self.unknown_tag(tag, places);
                false
            }
        }
    }

    /// The key that a scalar is.
    pub(super) fn scalar_key(
        &mut self,
        value: &str,
        plain: bool,
        tag: Option<&Tag>,
        places: Places,
    ) -> Key {
        let span = places.node;
        let meaning = meaning(tag);
        if value == "<<" && plain && matches!(meaning, Meaning::None | Meaning::Core("merge")) {
            return Key::Merge(span);
        }
        match meaning {
            Meaning::Unknown => self.unknown_tag(tag, places),
            Meaning::Default => {
                let at = places.tag.unwrap_or(span);
                self.findings.add(at, || {
                    Diagnostic::error(codes::TAG_MISMATCH, "`!default` stands on a key")
                        .primary(at, "it marks values")
                        .help("write it behind the colon: `key: !default value`")
                });
            }
            _ => {}
        }
        // A key is a string whatever it looks like; only null and booleans have several spellings.
        let resolves = plain && matches!(meaning, Meaning::None | Meaning::Default);
        let name = match resolves.then(|| scalar::resolve(value)) {
            Some(Scalar::Null) => "null",
            Some(Scalar::Bool(true)) => "true",
            Some(Scalar::Bool(false)) => "false",
            _ => value,
        };
        Key::Name(self.symbols.intern(name), span)
    }

    /// The key that an alias is.
    pub(super) fn alias_key(&mut self, target: NodeId, span: Span) -> Key {
        let name = match self.builder.tree().value(target) {
            Value::Null => "null",
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::String(text) | Value::Bytes(text) => text,
            Value::Number(number) => number.text,
            Value::List(_) | Value::Map(_) => {
                self.complex_key(span);
                return Key::Refused;
            }
        };
        Key::Name(self.symbols.intern(name), span)
    }

    pub(super) fn complex_key(&mut self, span: Span) {
        let around = span.range().start.saturating_sub(1)..span.range().end;
        let template = self.text.get(around).is_some_and(|t| t.starts_with("{{"));
        self.findings.add(span, || {
            Diagnostic::error(codes::COMPLEX_KEY, "a key is a list or a map")
                .primary(span, "keys are strings here")
                .help(if template {
                    "a template must be rendered first, or quoted: \"{{ … }}\""
                } else {
                    "use a string as the key"
                })
        });
    }

    fn mismatch(&mut self, core: &str, what: &str, places: Places) {
        let at = places.tag.unwrap_or(places.node);
        self.findings.add(at, || {
            Diagnostic::error(
                codes::TAG_MISMATCH,
                format!("the tag `!!{core}` does not fit {what}"),
            )
            .primary(at, "this tag")
            .help("remove the tag, or write a value that it fits")
        });
    }

    fn unknown_tag(&mut self, tag: Option<&Tag>, places: Places) {
        let Some(tag) = tag else { return };
        let at = places.tag.unwrap_or(places.node);
        let written = tag.original();
        let known = ["default"];
        let near = distance::nearest(tag.suffix(), known.iter().copied());
        self.findings.add(at, || {
            Diagnostic::error(
                codes::UNKNOWN_TAG,
                format!("the tag `{}` means nothing here", shorten(&written)),
            )
            .primary(at, "unknown tag")
            .help(match near {
                Some(near) => format!("did you mean `!{near}`?"),
                None => "remove the tag; known are `!default` and YAML's own: !!str !!int !!float \
                         !!bool !!null !!binary !!timestamp !!map !!seq"
                    .to_owned(),
            })
        });
    }
}

/// Standard base64 with padding.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}
