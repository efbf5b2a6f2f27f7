//! Package `html`.

use super::member::{STRING, function};
use super::{Kinds, Package};

pub(super) const PACKAGE: Package = Package {
    path: "html",
    cue: None,
    members: &[
        function("Escape", &[STRING], Kinds::STRING, |args| {
            Ok(escape(args.str(0)?).into())
        }),
        function("Unescape", &[STRING], Kinds::STRING, |args| {
            Ok(html_escape::decode_html_entities(args.str(0)?)
                .into_owned()
                .into())
        }),
    ],
};

/// The five characters that matter in text and attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#39;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    out
}
