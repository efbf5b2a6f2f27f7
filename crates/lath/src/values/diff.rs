//! `lath values diff`: what each tier changes, or how two whole stacks differ.

use base::Diagnostic;
use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};
use data::write::{self, Json, Writer};
use values::diff::{Change, Difference, between, up_to};
use values::{Context, Merged, Tier, show};

use super::args::{Common, LayerKind};
use super::load::{Loaded, Stack};
use super::read::Failure;
use super::{Outcome, inspect, options, output};
use crate::columns;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Out {
    /// One line a change
    Lines,
    /// An array of objects
    Json,
}

#[derive(clap::Args)]
pub struct DiffArgs {
    /// The module's values: a file or a directory [default: the first file given]
    #[arg(long, value_name = "MODULE")]
    base: Option<String>,
    #[command(flatten)]
    pub common: Common,
    /// The form of the listing
    #[arg(long, value_name = "FORM", default_value = "lines")]
    out: Out,
    /// Compare with a second stack: its module and layers follow, up to the end of the line
    #[arg(long, value_name = "MODULE [LAYERS]", num_args = 1.., allow_hyphen_values = true)]
    against: Vec<String>,
}

/// The arguments behind `--against`.
#[derive(Parser)]
#[command(name = "lath values diff --against", no_binary_name = true)]
struct Other {
    module: String,
    #[command(flatten)]
    common: Common,
}

pub fn run(loaded: &mut Loaded, args: &DiffArgs) -> Outcome {
    let mut common = args.common.clone();
    let module = args.base.clone().or_else(|| {
        let layers = &mut common.layers.0;
        let first = layers
            .iter()
            .position(|layer| layer.kind == LayerKind::User);
        first.map(|at| layers.remove(at).value)
    });
    let Some(module) = module else {
        let failure = Failure::usage("no module is given: say `--base MODULE`");
        loaded.failures.push(failure);
        return outcome(None, Vec::new());
    };
    let first = loaded.stack(&module, &common);
    let second = match args.against.is_empty() {
        true => None,
        false => match other(&args.against) {
            Ok(other) => {
                let stack = loaded.stack(&other.module, &other.common);
                Some((stack, other.common))
            }
            Err(failure) => {
                loaded.failures.push(failure);
                None
            }
        },
    };
    let mut findings = std::mem::take(&mut loaded.findings);
    if findings.iter().any(Diagnostic::is_error) || !loaded.failures.is_empty() {
        return outcome(None, findings);
    }
    let context = Context {
        symbols: &loaded.symbols,
        sources: &loaded.sources,
    };
    let old = merge(&first, &common, context, &mut findings);
    let text = match &second {
        Some((stack, common)) => {
            let new = merge(stack, common, context, &mut findings);
            two_stacks(&old, &new, args.out, context)
        }
        None => tiers(&old, args.out, context),
    };
    outcome(Some(text), findings)
}

fn merge<'s>(
    stack: &'s Stack,
    common: &Common,
    context: Context<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Merged<'s> {
    let schema = stack.schema.as_ref();
    let (merged, found) = values::merge(&stack.evaluated, schema, &options(common), context);
    findings.extend(found);
    merged
}

fn outcome(text: Option<String>, findings: Vec<Diagnostic>) -> Outcome {
    Outcome { text, findings }
}

fn other(args: &[String]) -> Result<Other, Failure> {
    let matches = Other::command().try_get_matches_from(args);
    let other = matches.and_then(|matches| Other::from_arg_matches(&matches));
    other.map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        let line = line.trim_start_matches("error: ");
        Failure::usage(format!("behind `--against`: {line}"))
    })
}

/// What each tier does to the result below it.
fn tiers(merged: &Merged<'_>, out: Out, context: Context<'_>) -> String {
    let steps: Vec<Merged<'_>> = merged
        .tiers
        .iter()
        .map(|&tier| up_to(merged, tier))
        .collect();
    let mut text = String::new();
    let mut writer = Json::indented(2);
    writer.begin_list();
    for (old, new) in steps.iter().zip(steps.iter().skip(1)) {
        let tier = new.tiers.last().copied().unwrap_or(Tier::Module);
        let changes = between(old, new, context.symbols);
        if !text.is_empty() {
            text.push('\n');
        }
        let count = output::plural(changes.len(), "change");
        text.push_str(&format!("{}: {count}\n", tier.word()));
        text.push_str(&rows(&changes, old, new, context));
        for change in &changes {
            object(&mut writer, change, Some(tier), old, new, context);
        }
    }
    writer.end_list();
    match out {
        Out::Lines => text,
        Out::Json => writer.finish() + "\n",
    }
}

fn two_stacks(old: &Merged<'_>, new: &Merged<'_>, out: Out, context: Context<'_>) -> String {
    let changes = between(old, new, context.symbols);
    match out {
        Out::Lines => {
            let count = output::plural(changes.len(), "change");
            format!("{count}\n{}", rows(&changes, old, new, context))
        }
        Out::Json => {
            let mut writer = Json::indented(2);
            writer.begin_list();
            for change in &changes {
                object(&mut writer, change, None, old, new, context);
            }
            writer.end_list();
            writer.finish() + "\n"
        }
    }
}

fn rows(
    changes: &[Difference<'_>],
    old: &Merged<'_>,
    new: &Merged<'_>,
    context: Context<'_>,
) -> String {
    let row = |change: &Difference<'_>| {
        let short = |side: Option<(&data::Tree, data::NodeId)>| {
            side.map(|(tree, node)| show::short(tree, node, context.symbols))
        };
        let (before, after) = (short(change.before), short(change.after));
        let values = match (change.change, before, after) {
            (Change::Changed, Some(before), Some(after)) => format!("{before} → {after}"),
            (_, before, after) => after.or(before).unwrap_or_default(),
        };
        vec![
            format!("{} {}", change.change.sign(), change.path),
            values,
            output::place(origin(change, old, new), context),
            note(change),
        ]
    };
    columns::lay_out(&changes.iter().map(row).collect::<Vec<_>>(), "")
}

fn note(change: &Difference<'_>) -> String {
    match (change.change, change.locks) {
        (Change::Unlocked, _) => "no longer locked",
        (Change::Removed, _) => "removed",
        (_, true) => "LOCKED",
        _ => "",
    }
    .to_owned()
}

/// Where the change was written; of something that is gone, where it was.
fn origin(change: &Difference<'_>, old: &Merged<'_>, new: &Merged<'_>) -> base::Span {
    let side = change.after.or(change.before);
    match side {
        Some((tree, node)) => tree.span(node),
        None => {
            let merged = if change.after.is_some() { new } else { old };
            let tree = merged.tree(change.layer);
            tree.span(tree.root())
        }
    }
}

fn object(
    writer: &mut Json,
    change: &Difference<'_>,
    tier: Option<Tier>,
    old: &Merged<'_>,
    new: &Merged<'_>,
    context: Context<'_>,
) {
    writer.begin_map();
    writer.key("path");
    writer.string(&change.path.to_string());
    writer.key("change");
    writer.string(change.change.word());
    if let Some(tier) = tier {
        writer.key("tier");
        writer.string(tier.word());
    }
    for (name, side) in [("before", change.before), ("after", change.after)] {
        if let Some((tree, node)) = side {
            writer.key(name);
            write::node(writer, tree, node, context.symbols);
        }
    }
    writer.key("locked");
    writer.bool(change.locks);
    inspect::whereabouts(writer, origin(change, old, new), context);
    writer.end_map();
}
