//! Answers for people: aligned text, layers always low to high, the same words as everywhere.

use apps::layer::Layer;
use apps::package::Package;
use apps::policy::Effect;
use apps::readiness::{Check, Readiness};
use apps::resolve::{Context, Link, Outcome, Resolved, ResolvedValue, Why};
use apps::upgrade::Report;
use apps::value::write_string;
use base::{Diagnostic, Sources};

use crate::columns::lay_out;

/// Values longer than this are cut in a table; JSON has them whole.
const WIDEST_VALUE: usize = 40;

/// `acme/marketing/u1`
pub fn context(context: &Context) -> String {
    let parts = [&context.tenant, &context.workspace, &context.user];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    parts.join("/")
}

fn cut(json: &str) -> String {
    match json.chars().count() > WIDEST_VALUE {
        true => json.chars().take(WIDEST_VALUE - 1).chain(['…']).collect(),
        false => json.to_owned(),
    }
}

fn plural(count: usize, noun: &str) -> String {
    match (count, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "entry") => format!("{count} entries"),
        _ => format!("{count} {noun}s"),
    }
}

pub fn package(package: &Package, overlays: usize) -> String {
    let manifest = &package.manifest;
    let mut text = format!(
        "{}: {}, {}, {}",
        package.title(),
        plural(package.keys.len(), "key"),
        plural(manifest.entries.len(), "entry"),
        plural(manifest.templates.len(), "template"),
    );
    if overlays > 0 {
        text.push_str(&format!(", {}", plural(overlays, "overlay")));
    }
    text.push_str(&format!("\nsha256 {}\n", package.hash));
    let rows: Vec<Vec<String>> = package
        .keys
        .iter()
        .map(|(_, key)| {
            let mut marks = Vec::new();
            if key.merge.word() != "replace" {
                marks.push(key.merge.text());
            }
            for (set, word) in [
                (key.secret, "secret"),
                (key.review, "review"),
                (key.deprecated, "deprecated"),
            ] {
                if set {
                    marks.push(word.to_owned());
                }
            }
            let default = key
                .default
                .as_ref()
                .map_or("–".to_owned(), |v| cut(&v.json));
            vec![
                key.name.to_string(),
                key.check.type_text(),
                default,
                format!("from {} on", key.floor.word()),
                marks.join(", "),
            ]
        })
        .collect();
    text + &lay_out(&rows, "  ")
}

pub fn package_json(package: &Package) -> String {
    let mut out = String::from("{\"app\":");
    write_string(&mut out, &package.manifest.name);
    out.push_str(",\"version\":");
    write_string(&mut out, &package.manifest.version);
    out.push_str(",\"packageHash\":");
    write_string(&mut out, &package.hash);
    out.push_str(",\"keys\":[");
    for (at, (_, key)) in package.keys.iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str("{\"key\":");
        write_string(&mut out, &key.name);
        out.push_str(&format!(",\"schema\":{},\"default\":", key.check.text));
        out.push_str(key.default.as_ref().map_or("null", |stored| &stored.json));
        out.push_str(",\"template\":");
        match &key.template {
            Some(template) => write_string(&mut out, template),
            None => out.push_str("null"),
        }
        out.push_str(&format!(
            ",\"scope\":\"{}\",\"merge\":\"{}\",\"secret\":{},\"public\":{},\"review\":{},\"deprecated\":{}}}",
            key.floor.word(),
            key.merge.text(),
            key.secret,
            key.public,
            key.review,
            key.deprecated
        ));
    }
    out.push_str("\n]}\n");
    out
}

/// The opening of an answer in JSON, without its closing brace.
pub fn head_json(resolved: &Resolved<'_>) -> String {
    let package = &resolved.snapshot.package;
    let mut out = String::from("{\"app\":");
    write_string(&mut out, &package.manifest.name);
    out.push_str(",\"version\":");
    write_string(&mut out, &package.manifest.version);
    out.push_str(",\"packageHash\":");
    write_string(&mut out, &package.hash);
    for (name, value) in [
        ("tenant", &resolved.context.tenant),
        ("workspace", &resolved.context.workspace),
        ("user", &resolved.context.user),
    ] {
        out.push_str(&format!(",\"{name}\":"));
        match value {
            Some(value) => write_string(&mut out, value),
            None => out.push_str("null"),
        }
    }
    out
}

/// One line a key: key, value, layer, place, what happened to others.
pub fn resolved(
    resolved: &Resolved<'_>,
    answers: &[ResolvedValue<'_>],
    sources: &Sources,
) -> String {
    let rows: Vec<Vec<String>> = answers
        .iter()
        .map(|answer| {
            let winner = answer
                .chain
                .iter()
                .rfind(|link| link.outcome == Outcome::Won);
            let value = answer
                .value
                .as_ref()
                .map_or("–".to_owned(), |held| cut(held.json()));
            let source = answer.source.map_or("unset", Layer::word).to_owned();
            let place = winner.map_or_else(String::new, |link| place(resolved, link, sources));
            vec![
                answer.key.name.to_string(),
                value,
                source,
                place,
                remarks(answer),
            ]
        })
        .collect();
    lay_out(&rows, "")
}

fn remarks(answer: &ResolvedValue<'_>) -> String {
    let mut remarks = Vec::new();
    if answer.locked {
        remarks.push("LOCKED".to_owned());
    }
    if answer.blocked {
        remarks.push("BLOCKED".to_owned());
    }
    let over: Vec<&str> = answer.overrides().map(Layer::word).collect();
    if !over.is_empty() {
        remarks.push(format!("over {}", over.join(", ")));
    }
    for (outcome, verb) in [
        (Outcome::Skipped, "refused"),
        (Outcome::Suppressed, "suppressed"),
    ] {
        let of: Vec<&str> = answer
            .chain
            .iter()
            .filter(|link| link.outcome == outcome && link.layer.is_set())
            .map(|link| link.layer.word())
            .collect();
        if !of.is_empty() {
            remarks.push(format!("{verb} {}", of.join(", ")));
        }
    }
    if !answer.leaves.is_empty() {
        remarks.push(format!("merged ({})", answer.key.merge.text()));
    }
    remarks.join("; ")
}

/// Where a contribution stands: a file and line, a package, a rule.
fn place(resolved: &Resolved<'_>, link: &Link<'_>, sources: &Sources) -> String {
    if let Some(rule) = link.supplier {
        return format!("policy {}", rule.id);
    }
    match (link.layer, link.entry.and_then(|entry| entry.span)) {
        (Layer::App, _) => resolved.snapshot.package.title(),
        (_, Some(span)) => {
            let line = sources.place(span).line;
            format!("{}:{line}", sources.get(span.source).name())
        }
        (Layer::Runtime, None) => "runtime input".to_owned(),
        _ => String::new(),
    }
}

/// All layers behind one key.
pub fn explained(resolved: &Resolved<'_>, answer: &ResolvedValue<'_>, sources: &Sources) -> String {
    let mut out = answer.key.name.to_string();
    match &answer.value {
        Some(held) => out.push_str(&format!(" = {}", held.json())),
        None => out.push_str(" is not set"),
    }
    if answer.locked {
        let lock = answer
            .chain
            .iter()
            .find(|link| link.outcome == Outcome::Won);
        if let Some(rule) = lock.and_then(|link| link.supplier) {
            out.push_str(&format!("   LOCKED by {}", rule.said()));
        }
    } else if let Some(layer) = answer.source {
        out.push_str(&format!("   from {}", layer.word()));
        if let Some(scope) = resolved.scope_of(layer) {
            out.push_str(&format!(" {}", scope.name()));
        }
    }
    if answer.blocked {
        out.push_str("   BLOCKED");
    }
    out.push('\n');
    let rows: Vec<Vec<String>> = answer
        .chain
        .iter()
        .map(|link| {
            vec![
                link.layer.word().to_owned(),
                link.value
                    .map_or("–".to_owned(), |stored| cut(&stored.json)),
                shown(link.outcome).to_owned(),
                detail(resolved, link, sources),
            ]
        })
        .collect();
    out.push_str(&lay_out(&rows, "  "));
    for (path, layer) in &answer.leaves {
        out.push_str(&format!("  {path} from {}\n", layer.word()));
    }
    out.push_str(&editors(resolved, answer));
    out
}

/// The chain's words for people.
fn shown(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Won => "stands",
        Outcome::Skipped => "refused",
        other => other.word(),
    }
}

/// Whose a contribution is, or why it does not stand.
fn detail(resolved: &Resolved<'_>, link: &Link<'_>, sources: &Sources) -> String {
    if let Some(rule) = link.judge {
        return rule.said();
    }
    if link.value.is_none() {
        return String::new();
    }
    match link.why {
        Why::Fault(fault) => {
            return match fault {
                apps::overlay::Fault::SchemaInvalid => "does not match the schema",
                apps::overlay::Fault::TypeChanged => "fits another version",
                apps::overlay::Fault::ScopeNotAllowed => "may not be set at this layer",
                apps::overlay::Fault::Plaintext => "a credential; not shown",
            }
            .to_owned();
        }
        Why::Review => return "waits for a review".to_owned(),
        _ => {}
    }
    if let Some(rule) = link.supplier {
        return rule.said();
    }
    if link.layer == Layer::App {
        return resolved.snapshot.package.title();
    }
    let mut text = match resolved.scope_of(link.layer) {
        Some(scope) => scope.name().to_owned(),
        None => String::new(),
    };
    if let Some(entry) = link.entry {
        let meta = &entry.meta;
        if let Some(actor) = &meta.actor {
            text.push_str(&format!(", set by {actor}"));
        }
        if let Some(time) = meta.time {
            text.push_str(&format!(" on {time}"));
        }
        if let Some(revision) = meta.revision {
            text.push_str(&format!(" (r{revision})"));
        }
        if entry.span.is_some() {
            text.push_str(&format!("  {}", place(resolved, link, sources)));
        }
    }
    text.trim_start_matches(", ").trim_start().to_owned()
}

/// `may be changed by: tenant admin, workspace admin, user (within >=0.8)`
fn editors(resolved: &Resolved<'_>, answer: &ResolvedValue<'_>) -> String {
    let now = resolved.context.now;
    let may: Vec<&str> = Layer::SET
        .into_iter()
        .filter(|&layer| answer.editable(layer, now))
        .map(|layer| match layer {
            Layer::Runtime => "runtime input",
            other => other.keeper(),
        })
        .collect();
    let ranges: Vec<&str> = answer
        .rules
        .iter()
        .filter(|rule| rule.binds(now))
        .filter_map(|rule| match &rule.effect {
            Effect::Range(constraint) => Some(constraint.text.as_str()),
            _ => None,
        })
        .collect();
    let mut text = match may.is_empty() {
        true => "may be changed by: nobody but the rule's authority".to_owned(),
        false => format!("may be changed by: {}", may.join(", ")),
    };
    if !ranges.is_empty() {
        text.push_str(&format!(" (within {})", ranges.join(" & ")));
    }
    text.push('\n');
    text
}

pub fn readiness(title: &str, whom: &str, readiness: &Readiness) -> String {
    let mut out = format!("{title} for {whom}: {}\n", readiness.status.word());
    let heads: Vec<Vec<String>> = readiness
        .entries
        .iter()
        .map(|entry| vec![entry.key.clone(), entry.status.word().to_owned()])
        .collect();
    let heads = lay_out(&heads, "  ");
    for (entry, head) in readiness.entries.iter().zip(heads.lines()) {
        out.push_str(head);
        out.push('\n');
        out.push_str(&checks(&entry.checks, "    "));
    }
    let told = |check: &&Check| {
        let entries = readiness.entries.iter();
        !entries
            .flat_map(|entry| &entry.checks)
            .any(|other| other == *check)
    };
    let rest: Vec<Check> = readiness.checks.iter().filter(told).cloned().collect();
    out + &checks(&rest, "  ")
}

fn checks(checks: &[Check], margin: &str) -> String {
    let row = |check: &Check| {
        vec![
            check.severity.word().to_owned(),
            check.message.clone(),
            check.remediation.clone(),
        ]
    };
    lay_out(&checks.iter().map(row).collect::<Vec<_>>(), margin)
}

pub fn upgrade(report: &Report) -> String {
    let mut out = format!(
        "{} {} → {}: {}\n",
        report.app,
        report.from,
        report.to,
        report.verdict.word()
    );
    let rows: Vec<Vec<String>> = report
        .lines
        .iter()
        .map(|line| {
            vec![
                line.kind.word().to_owned(),
                line.key.clone(),
                line.verdict.word().to_owned(),
                match line.scopes.is_empty() {
                    true => line.message.clone(),
                    false => format!("{} ({})", line.message, line.scopes.join(", ")),
                },
            ]
        })
        .collect();
    out.push_str(&lay_out(&rows, "  "));
    if !report.orphans.is_empty() {
        let count = plural(report.orphans.len(), "orphan");
        out.push_str(&format!(
            "{count} would be kept, unused, until an admin reviews them\n"
        ));
    }
    out
}

/// The bundle at a glance: what is set where, without what.
pub fn bundle(resolved: &Resolved<'_>) -> String {
    let readiness = apps::readiness::readiness(resolved);
    let mut out = format!(
        "{} for {}: {}\nsha256 {}\n",
        resolved.snapshot.package.title(),
        context(resolved.context),
        readiness.status.word(),
        resolved.snapshot.package.hash
    );
    let rows: Vec<Vec<String>> = resolved
        .all()
        .map(|answer| {
            let kind = answer
                .value
                .as_ref()
                .map_or("–", |held| held.value().type_word());
            let source = answer.source.map_or("unset", Layer::word);
            vec![
                answer.key.name.to_string(),
                kind.to_owned(),
                source.to_owned(),
                remarks(&answer),
            ]
        })
        .collect();
    out.push_str(&lay_out(&rows, "  "));
    out
}

/// What support gets where the package or a document cannot be read.
pub fn unreadable(findings: &[Diagnostic], json: bool) -> String {
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code.0).collect();
    match json {
        true => {
            let quoted: Vec<String> = codes.iter().map(|code| format!("\"{code}\"")).collect();
            format!(
                "{{\"status\":\"failed\",\"findings\":[{}]}}\n",
                quoted.join(",")
            )
        }
        false => format!("failed: {}\n", codes.join(", ")),
    }
}
