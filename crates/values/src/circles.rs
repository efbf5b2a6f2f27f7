//! Values that refer to each other in a circle, across layers.
//!
//! Only what stands counts: a reference that a higher layer has overridden derives nothing. Each circle is
//! told once, with every value in it.

use std::collections::{BTreeMap, BTreeSet};

use base::{Diagnostic, Span, Symbol, Symbols};
use cue::layered::Reference;
use layers::EntryId;

use crate::codes;
use crate::merge::{Merged, dotted};

/// What a value was derived from.
pub(crate) struct Step {
    span: Span,
    role: String,
    from: Vec<Vec<Symbol>>,
}

pub(crate) type Steps = BTreeMap<Vec<Symbol>, Step>;

/// What every value that stands was derived from.
pub(crate) fn steps(merged: &Merged<'_>) -> Steps {
    let mut steps = Steps::new();
    if (merged.parts.iter()).all(|part| part.document.derived.is_empty()) {
        return steps;
    }
    let resolution = &merged.resolution;
    for entry in resolution.entries() {
        if let Some(step) = step(merged, entry) {
            steps.insert(resolution.names(entry), step);
        }
    }
    steps
}

/// Adds a layer's references, whether its values stand or not.
pub(crate) fn add<'r>(
    steps: &mut Steps,
    references: impl Iterator<Item = &'r Reference>,
    role: &str,
) {
    for reference in references {
        let Some(span) = reference.span else {
            continue;
        };
        let step = steps.entry(reference.from.clone()).or_insert_with(|| Step {
            span,
            role: role.to_owned(),
            from: Vec::new(),
        });
        if !step.from.contains(&reference.to) {
            step.from.push(reference.to.clone());
        }
    }
}

/// Reports every circle; returns the paths that take part in one.
pub(crate) fn report(
    steps: &Steps,
    symbols: &Symbols,
    findings: &mut Vec<Diagnostic>,
) -> BTreeSet<Vec<Symbol>> {
    let mut in_circle = BTreeSet::new();
    for circle in find(steps) {
        findings.push(finding(&circle, steps, symbols));
        in_circle.extend(circle);
    }
    in_circle
}

/// Every circle, as the paths in it.
pub(crate) fn find(steps: &Steps) -> Vec<Vec<Vec<Symbol>>> {
    let mut done: BTreeSet<Vec<Symbol>> = BTreeSet::new();
    let mut found = Vec::new();
    for start in steps.keys() {
        if !done.contains(start) {
            found.extend(circles_from(start, steps, &mut done));
        }
    }
    found
}

fn step(merged: &Merged<'_>, entry: EntryId) -> Option<Step> {
    let link = merged.resolution.standing(entry)?;
    let part = merged.part(link.layer);
    let from = part.document.derived.get(&link.node)?;
    Some(Step {
        span: merged.tree(link.layer).span(link.node),
        role: part.role(),
        from: from.clone(),
    })
}

/// Walks the references from one value, depth first, without recursion.
fn circles_from(
    start: &[Symbol],
    steps: &Steps,
    done: &mut BTreeSet<Vec<Symbol>>,
) -> Vec<Vec<Vec<Symbol>>> {
    let mut found = Vec::new();
    let mut trail: Vec<(Vec<Symbol>, usize)> = vec![(start.to_vec(), 0)];
    while let Some((path, next)) = trail.last_mut() {
        let to = steps.get(path).and_then(|step| step.from.get(*next));
        *next += 1;
        match to {
            None => {
                done.insert(path.clone());
                trail.pop();
            }
            Some(to) => {
                let again = trail.iter().position(|(path, _)| path == to);
                if let Some(again) = again {
                    let circle = trail.iter().skip(again).map(|(path, _)| path.clone());
                    found.push(circle.collect());
                } else if steps.contains_key(to) && !done.contains(to) {
                    trail.push((to.clone(), 0));
                }
            }
        }
    }
    found
}

fn finding(circle: &[Vec<Symbol>], steps: &Steps, symbols: &Symbols) -> Diagnostic {
    let names: Vec<String> = circle
        .iter()
        .chain(circle.first())
        .map(|path| format!("`{}`", dotted(path, symbols)))
        .collect();
    let message = format!(
        "values refer to each other in a circle: {}",
        names.join(" → ")
    );
    let mut finding = Diagnostic::error(codes::VALUE_CYCLE, message);
    for (at, path) in circle.iter().enumerate() {
        let Some(step) = steps.get(path) else {
            continue;
        };
        let to = names.get(at + 1).map_or("", String::as_str);
        let label = format!("`{}` is {to}", dotted(path, symbols));
        finding = match at {
            0 => finding.primary(step.span, label),
            _ => finding.secondary(step.span, label),
        };
        finding = finding.role(step.role.clone());
    }
    finding.help("give one of them a value of its own")
}
