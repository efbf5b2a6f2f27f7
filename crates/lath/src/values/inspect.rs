//! `lath values inspect`: where every value comes from, as lines, blocks, JSON or annotated YAML.

mod chain;
mod filter;

use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use base::{Diagnostic, Outcome, Path, Span};
use clap::ValueEnum;
use data::Number;
use data::write::{self, Json, Writer, Yaml};
use layers::EntryId;
use values::provenance::{self, Leaf, Status};
use values::{Context, Merged, Tier, show};

use super::load::Stack;
use super::output;
use crate::columns;
pub use filter::Only;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Out {
    /// One line a value
    Lines,
    /// A block a value
    Long,
    /// An array of provenance objects, with chains
    Json,
    /// The effective values with a comment a value; valid input again
    Yaml,
}

#[derive(clap::Args)]
pub struct View {
    /// Show the whole chain of the values at or below this path
    #[arg(long, value_name = "PATH", value_parser = Path::parse)]
    path: Option<Path>,
    /// Show only these: locked, overridable, changed, or tier=module|platform|user
    #[arg(long, value_name = "WHICH", value_parser = filter::parse)]
    only: Option<Only>,
    /// The form of the listing
    #[arg(long, value_name = "FORM", default_value = "lines")]
    out: Out,
}

/// The listing that was asked for.
pub fn listing(
    merged: &Merged<'_>,
    stack: &Stack,
    view: &View,
    bare: bool,
    context: Context<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<String> {
    let below = match &view.path {
        None => merged.resolution.root(),
        Some(path) => match chain::find(merged, path, context) {
            Ok(entry) => entry,
            Err(finding) => {
                findings.push(*finding);
                return None;
            }
        },
    };
    let mut leaves = provenance::leaves(merged, below);
    if let Some(only) = view.only {
        leaves.retain(|leaf| filter::keeps(only, leaf));
    }
    let schema = stack.schema.as_ref();
    Some(match view.out {
        Out::Lines if view.path.is_some() && view.only.is_none() => {
            chain::chains(merged, below, &leaves, schema, context)
        }
        Out::Lines => lines(merged, &leaves, context),
        Out::Long => long(merged, &leaves, &stack.name, context),
        Out::Json => json(merged, &leaves, context),
        Out::Yaml => annotated(merged, below, &leaves, bare, context),
    })
}

/// One line a leaf. Long values are cut on a terminal only: what is piped can be searched.
fn lines(merged: &Merged<'_>, leaves: &[Leaf<'_>], context: Context<'_>) -> String {
    let cut = io::stdout().is_terminal();
    let rows: Vec<Vec<String>> = leaves
        .iter()
        .map(|leaf| {
            vec![
                merged.path(leaf.entry, context.symbols).to_string(),
                value(leaf, cut, context),
                tier(leaf).to_owned(),
                output::place(leaf.span(), context),
                remark(merged, leaf, context),
            ]
        })
        .collect();
    columns::lay_out(&rows, "")
}

/// Who gave a value; of one that was computed from others, that it was.
fn tier(leaf: &Leaf<'_>) -> &'static str {
    match leaf.status {
        Status::Derived => "derived",
        _ => leaf.tier.word(),
    }
}

/// The value in one line; `*` before a platform's overridable default.
fn value(leaf: &Leaf<'_>, cut: bool, context: Context<'_>) -> String {
    let value = match cut {
        true => show::short(leaf.tree, leaf.node, context.symbols),
        false => show::whole(leaf.tree, leaf.node, context.symbols),
    };
    match leaf.tier == Tier::Platform && leaf.status == Status::Default {
        true => format!("*{value}"),
        false => value,
    }
}

/// `LOCKED, was module 1`, `over platform *"nginx:1.25.0"`, `default`, `set`.
fn remark(merged: &Merged<'_>, leaf: &Leaf<'_>, context: Context<'_>) -> String {
    let below = provenance::below(merged, leaf)
        .map(|said| format!("{} {}", said.tier.word(), said.short(context.symbols)));
    let derived = provenance::derived_from(merged, leaf, context.symbols);
    let derived: Vec<String> = derived.iter().map(ToString::to_string).collect();
    let derived = derived.join(", ");
    match (leaf.status, below) {
        (Status::Derived, Some(below)) => format!("from {derived}, over {below}"),
        (Status::Derived, None) => format!("from {derived}"),
        (Status::Locked, None) if !derived.is_empty() => format!("LOCKED, from {derived}"),
        (Status::Locked, Some(below)) if !derived.is_empty() => {
            format!("LOCKED, from {derived}, was {below}")
        }
        (Status::Constrained, _) => format!("default, {}", bounds(merged, leaf, context)),
        (Status::Locked, Some(below)) => format!("LOCKED, was {below}"),
        (Status::Locked, None) => "LOCKED".to_owned(),
        (Status::Default, Some(below)) => format!("default, was {below}"),
        (Status::Default, None) => "default".to_owned(),
        (_, Some(below)) => format!("over {below}"),
        (_, None) => "set".to_owned(),
    }
}

/// `within >=2 & <=5`: what the platform admits.
fn bounds(merged: &Merged<'_>, leaf: &Leaf<'_>, context: Context<'_>) -> String {
    let chain = provenance::chain(merged, leaf.entry);
    let bounds = chain
        .iter()
        .filter(|said| said.outcome == Outcome::Constrains);
    let words: Vec<String> = bounds.map(|said| said.short(context.symbols)).collect();
    format!("within {}", words.join(" & "))
}

/// The block form of the values document.
fn long(merged: &Merged<'_>, leaves: &[Leaf<'_>], name: &str, context: Context<'_>) -> String {
    let mut out = format!("Values Provenance for {name}:\n");
    for leaf in leaves {
        let path = merged.path(leaf.entry, context.symbols);
        let value = show::whole(leaf.tree, leaf.node, context.symbols);
        let place = context.sources.place(leaf.span());
        let file = context.sources.get(leaf.span().source).name();
        let status = match (leaf.status, provenance::below(merged, leaf)) {
            (Status::Locked, _) => "LOCKED (concrete value)".to_owned(),
            (Status::Default, _) if leaf.tier == Tier::Platform => {
                "Platform default (can be overridden)".to_owned()
            }
            (Status::Default, _) => "Default (not overridden)".to_owned(),
            (Status::Overridden, Some(below)) => {
                let what = match below.tier {
                    Tier::Platform => "platform default",
                    Tier::Module => "module value",
                    Tier::User => "earlier user value",
                };
                format!("Overridden {what} ({})", below.short(context.symbols))
            }
            (Status::Constrained, _) => format!("Default, {}", bounds(merged, leaf, context)),
            (Status::Derived, _) => {
                let from = provenance::derived_from(merged, leaf, context.symbols);
                let from: Vec<String> = from.iter().map(ToString::to_string).collect();
                format!("Derived from {}", from.join(", "))
            }
            _ => "Set (nothing below)".to_owned(),
        };
        let (title, number) = (leaf.tier.title(), leaf.tier.number());
        let _ = write!(
            out,
            "\n  {path}: {value}\n    Source: {title} (Tier {number})\n    File:   {file}:{}\n    Status: {status}\n",
            place.line
        );
    }
    out
}

/// An array of provenance objects.
fn json(merged: &Merged<'_>, leaves: &[Leaf<'_>], context: Context<'_>) -> String {
    let mut writer = Json::indented(2);
    writer.begin_list();
    for leaf in leaves {
        writer.begin_map();
        let path = merged.path(leaf.entry, context.symbols).to_string();
        text(&mut writer, "path", &path);
        writer.key("value");
        write::node(&mut writer, leaf.tree, leaf.node, context.symbols);
        text(&mut writer, "tier", leaf.tier.word());
        whereabouts(&mut writer, leaf.span(), context);
        text(&mut writer, "status", leaf.status.word());
        let derived = provenance::derived_from(merged, leaf, context.symbols);
        if !derived.is_empty() {
            writer.key("derivedFrom");
            writer.begin_list();
            for path in derived {
                writer.string(&path.to_string());
            }
            writer.end_list();
        }
        writer.key("chain");
        writer.begin_list();
        for said in provenance::chain(merged, leaf.entry) {
            writer.begin_map();
            text(&mut writer, "tier", said.tier.word());
            whereabouts(&mut writer, said.span(), context);
            writer.key("value");
            write::node(&mut writer, said.tree, said.node, context.symbols);
            text(&mut writer, "outcome", said.outcome.word());
            writer.end_map();
        }
        writer.end_list();
        writer.end_map();
    }
    writer.end_list();
    writer.finish() + "\n"
}

fn text(writer: &mut Json, key: &str, value: &str) {
    writer.key(key);
    writer.string(value);
}

/// `file`, `line`, `column`.
pub fn whereabouts(writer: &mut Json, span: Span, context: Context<'_>) {
    text(writer, "file", context.sources.get(span.source).name());
    let place = context.sources.place(span);
    for (key, number) in [("line", place.line), ("column", place.column)] {
        writer.key(key);
        writer.number(Number {
            text: &number.to_string(),
            is_int: true,
        });
    }
}

/// The effective values, each with a comment that says where it came from.
fn annotated(
    merged: &Merged<'_>,
    below: EntryId,
    leaves: &[Leaf<'_>],
    bare: bool,
    context: Context<'_>,
) -> String {
    let remarks = |entry: EntryId| {
        let leaf = provenance::leaf(merged, entry)?;
        let place = output::place(leaf.span(), context);
        let remark = remark(merged, &leaf, context);
        Some(format!("{} {place}, {remark}", tier(&leaf)))
    };
    let wanted = filter::with_parents(merged, below, leaves);
    let mut writer = Yaml::new();
    if !bare {
        writer.begin_map();
        writer.key("values");
    }
    let root = merged.resolution.root();
    filter::write(&mut writer, merged, root, context, &wanted, &remarks);
    if !bare {
        writer.end_map();
    }
    writer.finish()
}
