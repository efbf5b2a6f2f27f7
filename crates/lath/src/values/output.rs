//! The effective values as text.

use base::{Diagnostic, Span};
use cue::export::text::CueText;
use data::write::{self, Json, Toml, Writer, Yaml};
use layers::EntryId;
use values::{Context, Merged, codes, provenance};

use super::args::Format;

/// Writes the effective values, under `values` unless they are wanted bare.
pub fn values(
    merged: &Merged<'_>,
    context: Context<'_>,
    format: Format,
    bare: bool,
) -> Result<String, Box<Diagnostic>> {
    Ok(match format {
        Format::Json => {
            let mut writer = Json::indented(4);
            walk(&mut writer, merged, context, bare);
            writer.finish() + "\n"
        }
        Format::Yaml => {
            let mut writer = Yaml::new();
            walk(&mut writer, merged, context, bare);
            writer.finish()
        }
        Format::Cue => {
            let mut writer = CueText::new();
            walk(&mut writer, merged, context, bare);
            writer.finish()
        }
        Format::Toml => {
            let mut writer = Toml::new();
            walk(&mut writer, merged, context, bare);
            writer.finish().map_err(|unwritable| {
                let (what, path) = (unwritable.what, unwritable.path.join("."));
                let message = format!("TOML cannot hold {what} at `{path}`");
                let finding = Diagnostic::error(codes::UNWRITABLE_VALUE, message);
                Box::new(finding.help("write another format: `--out yaml`"))
            })?
        }
    })
}

fn walk(writer: &mut impl Writer, merged: &Merged<'_>, context: Context<'_>, bare: bool) {
    if !bare {
        writer.begin_map();
        writer.key("values");
    }
    let root = merged.resolution.root();
    entry(writer, merged, root, context, &|_| None);
    if !bare {
        writer.end_map();
    }
}

/// Writes an entry, with a remark before each leaf that has one. Depth is bounded by
/// `data::MAX_DEPTH`.
pub fn entry(
    writer: &mut impl Writer,
    merged: &Merged<'_>,
    at: EntryId,
    context: Context<'_>,
    remark: &dyn Fn(EntryId) -> Option<String>,
) {
    if let Some(text) = remark(at) {
        writer.comment(&text);
    }
    if let Some((tree, node)) = merged.leaf(at) {
        write::node(writer, tree, node, context.symbols);
        return;
    }
    writer.begin_map();
    for child in merged.resolution.children(at) {
        if merged.resolution.is_present(child) {
            writer.key(context.symbols.name(merged.resolution.name(child)));
            entry(writer, merged, child, context, remark);
        }
    }
    writer.end_map();
}

pub fn leaf_count(merged: &Merged<'_>) -> usize {
    provenance::leaves(merged, merged.resolution.root()).len()
}

pub fn lock_count(merged: &Merged<'_>) -> usize {
    let leaves = provenance::leaves(merged, merged.resolution.root());
    let locked = leaves
        .iter()
        .filter(|leaf| leaf.status == provenance::Status::Locked);
    locked.count()
}

/// `1 value`, `2 values`.
pub fn plural(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

/// `file:line:column`.
pub fn place(span: Span, context: Context<'_>) -> String {
    context.sources.locate(span)
}
