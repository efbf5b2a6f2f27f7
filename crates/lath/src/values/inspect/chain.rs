//! `inspect --path`: one value with every tier's word on it, low to high.

use base::distance::nearest;
use base::{Diagnostic, Path, Segment};
use layers::{EntryId, State};
use values::provenance::{self, Leaf, Said, Status};
use values::{Context, Merged, Schema, Tier, codes, show};

use crate::columns;
use crate::values::output;

/// The entry at a path, or what to say where there is none.
pub fn find(
    merged: &Merged<'_>,
    path: &Path,
    context: Context<'_>,
) -> Result<EntryId, Box<Diagnostic>> {
    let resolution = &merged.resolution;
    let mut at = resolution.root();
    let mut walked = Path::root();
    for segment in &path.0 {
        let missing = |help: String| {
            let message = format!("no tier sets `{path}`");
            let finding = Diagnostic::error(codes::UNKNOWN_PATH, message);
            Box::new(if help.is_empty() {
                finding
            } else {
                finding.help(help)
            })
        };
        let in_leaf = merged.leaf(at).is_some();
        if in_leaf && !walked.is_root() {
            let what = format!("`{walked}` is replaced whole: look at `--path {walked}`");
            return Err(missing(what));
        }
        let Segment::Key(name) = segment else {
            return Err(missing(String::new()));
        };
        let symbol = context.symbols.find(name);
        match symbol.and_then(|symbol| resolution.child(at, symbol)) {
            Some(child) => at = child,
            None => {
                let names = resolution
                    .children(at)
                    .map(|child| context.symbols.name(resolution.name(child)));
                let near = nearest(name, names).map(|near| walked.key(near));
                let help = near.map(|near| format!("did you mean `{near}`?"));
                return Err(missing(help.unwrap_or_default()));
            }
        }
        walked.0.push(segment.clone());
    }
    Ok(at)
}

/// The chain of every leaf, one block each; of a removed value, its own.
pub fn chains(
    merged: &Merged<'_>,
    below: EntryId,
    leaves: &[Leaf<'_>],
    schema: Option<&Schema>,
    context: Context<'_>,
) -> String {
    let mut blocks: Vec<String> = leaves
        .iter()
        .map(|leaf| block(merged, leaf.entry, Some(leaf), schema, context))
        .collect();
    if let State::Removed { .. } | State::Absent = merged.resolution.state(below) {
        blocks.push(block(merged, below, None, schema, context));
    }
    blocks.join("\n")
}

fn block(
    merged: &Merged<'_>,
    entry: EntryId,
    leaf: Option<&Leaf<'_>>,
    schema: Option<&Schema>,
    context: Context<'_>,
) -> String {
    let path = merged.path(entry, context.symbols);
    let head = match leaf {
        Some(leaf) => {
            let value = show::short(leaf.tree, leaf.node, context.symbols);
            let state = match leaf.status {
                Status::Locked => format!("LOCKED by the {}", Tier::Platform.person()),
                Status::Default => format!("default of the {}", leaf.tier.person()),
                Status::Constrained => {
                    format!("default of the {}, within bounds", leaf.tier.person())
                }
                Status::Derived => {
                    let from = provenance::derived_from(merged, leaf, context.symbols);
                    let from: Vec<String> = from.iter().map(ToString::to_string).collect();
                    format!("derived from {}", from.join(", "))
                }
                Status::Overridden | Status::Set => format!("set by the {}", leaf.tier.person()),
            };
            format!("{path} = {value}   {state}\n")
        }
        None => format!("{path} is not set\n"),
    };
    let said = provenance::chain(merged, entry);
    let locked = leaf.is_some_and(|leaf| leaf.status == Status::Locked);
    let mut rows = Vec::new();
    for tier in Tier::ALL {
        let mut own = said.iter().filter(|said| said.tier == tier).peekable();
        if own.peek().is_none() {
            let may = match (tier, locked) {
                (Tier::User, true) => "may not set",
                (Tier::User, false) => "may set",
                _ => "",
            };
            rows.push(
                [tier.word(), "–", "not set", may]
                    .map(str::to_owned)
                    .to_vec(),
            );
        }
        rows.extend(own.map(|said| contribution(said, context)));
    }
    if let Some((word, span)) = merged.word(&path, schema, context.symbols) {
        let place = output::place(span, context);
        rows.push(vec!["schema".to_owned(), place, word]);
    }
    head + &columns::lay_out(&rows, "  ")
}

fn contribution(said: &Said<'_>, context: Context<'_>) -> Vec<String> {
    let outcome = match said.locks {
        true => format!("{}, locks", said.outcome.word()),
        false => said.outcome.word().to_owned(),
    };
    vec![
        said.tier.word().to_owned(),
        output::place(said.span(), context),
        said.short(context.symbols),
        outcome,
    ]
}
