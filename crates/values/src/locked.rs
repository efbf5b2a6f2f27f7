//! What to say when an end user sets what the platform operator has fixed: both sides, and what
//! each of them can do (FR-VO-007, FR-VO-008).

use base::{Diagnostic, Segment};
use layers::{Conflict, ConflictKind};

use crate::codes;
use crate::document::Kind;
use crate::merge::{Context, Merged, dotted};
use crate::schema::{MOST_FINDINGS, Schema};
use crate::show;

pub(crate) fn report(
    merged: &Merged<'_>,
    schema: Option<&Schema>,
    context: Context<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let conflicts = &merged.resolution.conflicts;
    for conflict in conflicts.iter().take(MOST_FINDINGS) {
        findings.extend(match conflict.kind {
            ConflictKind::Locked => finding(merged, conflict, schema, context),
            ConflictKind::Unmet => unmet(merged, conflict, context),
            ConflictKind::Unsupplied => unsupplied(merged, conflict, context),
        });
    }
    if conflicts.len() > MOST_FINDINGS {
        let more = conflicts.len() - MOST_FINDINGS;
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
        Kind::Cue => {
            let name = match lock_path.0.last() {
                Some(Segment::Key(name)) => name.as_str(),
                _ => "values",
            };
            format!("`{name}: *{locked} | _` would let users choose")
        }
        _ => format!("`--platform-defaults {file}` would let users choose"),
    };
    let mut finding = Diagnostic::error(
        codes::LOCKED_VALUE,
        format!("`{lock_path}` is locked by the {}", tier.person()),
    )
    .primary(my_span, refused)
    .role(mine.role())
    .secondary(their_span, lock_word(merged, conflict, symbols))
    .role(theirs.role());
    if let Some((word, span)) = merged.word(&lock_path, schema, symbols) {
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

/// Why a value binds.
fn lock_word(merged: &Merged<'_>, conflict: &Conflict, symbols: &base::Symbols) -> String {
    let derived = &merged.part(conflict.layer).document.derived;
    match derived.get(&conflict.node) {
        Some(from) => {
            let from: Vec<String> = from
                .iter()
                .map(|path| format!("`{}`", dotted(path, symbols)))
                .collect();
            format!("locked here: derived from {}", from.join(", "))
        }
        None => "locked here: a concrete value".to_owned(),
    }
}

/// What the constraint of a conflict says.
fn constraint_word(merged: &Merged<'_>, conflict: &Conflict, context: Context<'_>) -> String {
    let tree = merged.tree(conflict.layer);
    let said = context.sources.text(tree.span(conflict.node));
    let said = said.lines().next().unwrap_or_default();
    show::shorten(said.to_owned(), show::SHORT)
}

/// A value outside what a constraint of its own or a lower tier admits.
fn unmet(merged: &Merged<'_>, conflict: &Conflict, context: Context<'_>) -> Option<Diagnostic> {
    let Context { symbols, .. } = context;
    let chain = merged.resolution.chain(conflict.entry);
    let offender = *chain.get(conflict.offender as usize)?;
    let path = merged.path(conflict.entry, symbols);
    let (mine, theirs) = (merged.part(offender.layer), merged.part(conflict.layer));
    let my_tree = merged.tree(offender.layer);
    let their_span = merged.tree(conflict.layer).span(conflict.node);
    let provided = show::short(my_tree, offender.node, symbols);
    let wanted = constraint_word(merged, conflict, context);
    let person = theirs.document.tier.person();
    Some(
        Diagnostic::error(
            codes::UNMET_CONSTRAINT,
            format!("`{path}` is {provided}, and the {person} wants {wanted}"),
        )
        .primary(my_tree.span(offender.node), format!("{provided} refused"))
        .role(mine.role())
        .secondary(their_span, "wanted here")
        .role(theirs.role())
        .help(format!("choose a value that is {wanted}"))
        .fact("field", path.to_string())
        .fact("tier", mine.document.tier.word()),
    )
}

/// A constraint that rules out what lower tiers said, where nobody says anything else.
fn unsupplied(
    merged: &Merged<'_>,
    conflict: &Conflict,
    context: Context<'_>,
) -> Option<Diagnostic> {
    let Context { symbols, .. } = context;
    let chain = merged.resolution.chain(conflict.entry);
    let dropped = *chain.get(conflict.offender as usize)?;
    let path = merged.path(conflict.entry, symbols);
    let (lower, theirs) = (merged.part(dropped.layer), merged.part(conflict.layer));
    let tree = merged.tree(dropped.layer);
    let their_span = merged.tree(conflict.layer).span(conflict.node);
    let was = show::short(tree, dropped.node, symbols);
    let wanted = constraint_word(merged, conflict, context);
    let tier = theirs.document.tier;
    let name = match path.0.last() {
        Some(Segment::Key(name)) => name.as_str(),
        _ => "values",
    };
    Some(
        Diagnostic::error(
            codes::UNSUPPLIED_VALUE,
            format!(
                "the {} wants `{path}` to be {wanted}, which rules out the {}'s {was}, and no tier sets another",
                tier.person(),
                lower.document.tier.person()
            ),
        )
        .primary(their_span, format!("{was} is not admitted"))
        .role(theirs.role())
        .secondary(tree.span(dropped.node), "dropped")
        .role(lower.role())
        .note("you", format!("set `{path}` to a value that is {wanted}"))
        .note("platform", format!("set a default: `{name}: *… | {wanted}`"))
        .fact("field", path.to_string())
        .fact("tier", tier.word()),
    )
}
