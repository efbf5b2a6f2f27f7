//! What to say when an end user sets what the platform operator has fixed: both sides, and what
//! each of them can do (FR-VO-007, FR-VO-008).

use base::{Diagnostic, Segment};
use layers::{Conflict, ConflictKind};

use crate::codes;
use crate::document::Kind;
use crate::merge::{Context, Merged};
use crate::schema::{MOST_FINDINGS, Schema};
use crate::show;

pub(crate) fn report(
    merged: &Merged<'_>,
    schema: Option<&Schema>,
    context: Context<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    // Plain data has no constraints, so nothing else can come out of it.
    let locked = merged.resolution.conflicts.iter();
    let locked = locked.filter(|conflict| conflict.kind == ConflictKind::Locked);
    let count = locked.clone().count();
    for conflict in locked.take(MOST_FINDINGS) {
        findings.extend(finding(merged, conflict, schema, context));
    }
    if count > MOST_FINDINGS {
        let more = count - MOST_FINDINGS;
        let message = format!("{more} more locked values are not shown");
        findings.push(Diagnostic::error(data::codes::MORE_FINDINGS, message));
    }
}

fn finding(
    merged: &Merged<'_>,
    conflict: &Conflict,
    schema: Option<&Schema>,
    context: Context<'_>,
) -> Option<Diagnostic> {
    let Context { symbols, sources } = context;
    let chain = merged.resolution.chain(conflict.entry);
    let offender = *chain.get(conflict.offender as usize)?;
    let path = merged.path(conflict.entry, symbols);
    let mut lock_path = path.clone();
    for &name in &conflict.below {
        lock_path
            .0
            .push(Segment::Key(symbols.name(name).to_owned()));
    }
    let (mine, theirs) = (merged.part(offender.layer), merged.part(conflict.layer));
    let my_tree = merged.tree(offender.layer);
    let their_tree = merged.tree(conflict.layer);
    let (my_span, their_span) = (my_tree.span(offender.node), their_tree.span(conflict.node));
    let provided = show::short(my_tree, offender.node, symbols);
    let locked = show::short(their_tree, conflict.node, symbols);
    let tier = theirs.document.tier;
    let refused = match conflict.below.is_empty() {
        true => format!("{provided} refused"),
        false => format!("{provided} refused: it would replace `{lock_path}`"),
    };
    let you = match mine.document.kind {
        Kind::CommandLine => format!(
            "drop `--set {}`, or ask your platform team for another value",
            sources.get(my_span.source).text()
        ),
        _ => {
            let key = merged.key(conflict.entry, offender);
            let first = sources.place(key.unwrap_or(my_span)).line;
            let source = sources.get(my_span.source);
            let last = source.place(my_span.end.saturating_sub(1)).line;
            let lines = match last > first {
                true => format!("lines {first} to {last}"),
                false => format!("line {first}"),
            };
            format!(
                "remove {lines} of {}, or ask your platform team for another value",
                source.name()
            )
        }
    };
    let file = sources.get(their_span.source).name();
    let platform = match theirs.document.kind {
        Kind::Yaml => {
            let name = match lock_path.0.last() {
                Some(Segment::Key(name)) => name.as_str(),
                _ => "values",
            };
            format!("`{name}: !default {locked}` would let users choose")
        }
        _ => format!("`--platform-defaults {file}` would let users choose"),
    };
    let mut finding = Diagnostic::error(
        codes::LOCKED_VALUE,
        format!("`{lock_path}` is locked by the {}", tier.person()),
    )
    .primary(my_span, refused)
    .role(mine.role())
    .secondary(their_span, "locked here: a concrete value")
    .role(theirs.role());
    if let Some((word, span)) = schema.and_then(|schema| schema.word(&lock_path, symbols)) {
        finding = finding.note_at("schema", word, span);
    }
    Some(
        finding
            .note("you", you)
            .note("platform", platform)
            .fact("field", lock_path.to_string())
            .fact("locked", locked)
            .fact("lockedBy", tier.title())
            .fact("lockedIn", sources.locate(their_span))
            .fact("provided", provided)
            .fact("providedBy", mine.document.tier.title()),
    )
}
