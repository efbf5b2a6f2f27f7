//! Evaluated states, chains and differences for programs. Field order is fixed, lists are sorted, and
//! nothing depends on the machine, so that equal inputs give equal bytes.

use hosts::diff::{Change, Difference};
use hosts::explain::Chain;
use hosts::plan::Hash;
use hosts::{Content, EntryId, Evaluated, Repository, Unit};
use serde::Serialize;

#[derive(Serialize)]
struct State<'a> {
    host: &'a str,
    services: &'a [String],
    /// One hash over the paths, modes, owners and contents of all files.
    digest: String,
    files: Vec<File<'a>>,
    units: Vec<UnitState<'a>>,
    start_order: &'a [String],
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    mode: String,
    owner: String,
    service: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<&'a str>,
}

#[derive(Serialize)]
struct UnitState<'a> {
    name: String,
    flavour: &'a str,
    service: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generates: Option<&'a str>,
    needs: &'a [String],
    reads: &'a [String],
    parts: Vec<Part<'a>>,
    masked: Vec<Masked<'a>>,
    directives: Vec<Directive<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    layer: &'a str,
    path: &'a str,
}

#[derive(Serialize)]
struct Masked<'a> {
    layer: &'a str,
    path: &'a str,
    by: &'a str,
}

#[derive(Serialize)]
struct Directive<'a> {
    section: &'a str,
    key: &'a str,
    value: &'a str,
    layer: &'a str,
    path: &'a str,
    line: u32,
    outcome: &'a str,
}

/// `digest` hashes the content of an entry; payloads are not held in memory.
pub(super) fn evaluated(
    repository: &Repository,
    evaluated: &Evaluated,
    user: bool,
    digest: impl Fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    let path = |entry: EntryId| repository.entry(entry).path.as_str();
    let layer = |entry: EntryId| match path(entry).starts_with("hosts/") {
        true => "host",
        false => "base",
    };
    let mut files = Vec::new();
    let mut all = String::new();
    for file in &evaluated.files {
        let (mut text, mut copy, mut link, mut size, mut sha256) = (None, None, None, None, None);
        match &file.content {
            Content::Text(content) => {
                text = Some(content.as_str());
                sha256 = Some(Hash::of(content.as_bytes()).0);
            }
            Content::Link(target) => link = Some(target.as_str()),
            Content::Copy(entry) => {
                copy = Some(path(*entry));
                size = Some(repository.entry(*entry).size);
                sha256 = Some(digest(path(*entry))?);
            }
        }
        let mode = format!("{:04o}", file.mode());
        let owner = match file.owner.filter(|_| !user) {
            Some(owner) => format!("{}:{}", owner.uid, owner.gid),
            None if user => "the user".to_owned(),
            None => "root".to_owned(),
        };
        let content = sha256.as_deref().or(link).unwrap_or("");
        all.push_str(&format!("{}\0{mode}\0{owner}\0{content}\n", file.target));
        files.push(File {
            path: &file.target,
            mode,
            owner,
            service: &file.service,
            layer: text.is_none().then(|| file.origin.map(layer)).flatten(),
            text,
            copy,
            link,
            size,
            sha256,
            replaces: file.replaces.map(path),
        });
    }
    let units = evaluated
        .units
        .iter()
        .map(|unit| unit_state(repository, unit));
    let state = State {
        host: evaluated.host.as_str(),
        services: &evaluated.services,
        digest: Hash::of(all.as_bytes()).0,
        files,
        units: units.collect(),
        start_order: &evaluated.start_order,
    };
    Ok(pretty(&state))
}

fn unit_state<'a>(repository: &'a Repository, unit: &'a Unit) -> UnitState<'a> {
    let path = |entry: EntryId| repository.entry(entry).path.as_str();
    let mut directives = Vec::new();
    for section in &unit.merged.sections {
        for line in &section.lines {
            let span = line.origin.span;
            let part = unit.parts.get(line.part);
            directives.push(Directive {
                section: &section.name,
                key: &line.key,
                value: &line.value,
                layer: part.map_or("", |part| part.layer.word()),
                path: part.map_or("", |part| path(part.entry)),
                line: repository.sources.place(span).line,
                outcome: line.outcome.word(),
            });
        }
    }
    UnitState {
        name: unit.name.to_string(),
        flavour: match unit.name.kind.flavour() {
            units::Flavour::Quadlet => "quadlet",
            units::Flavour::Systemd => "systemd",
        },
        service: &unit.service,
        generates: unit.generates.as_deref(),
        needs: &unit.needs,
        reads: &unit.reads,
        parts: unit
            .parts
            .iter()
            .map(|part| Part {
                layer: part.layer.word(),
                path: path(part.entry),
            })
            .collect(),
        masked: unit
            .masked
            .iter()
            .map(|(part, by)| Masked {
                layer: part.layer.word(),
                path: path(part.entry),
                by: path(*by),
            })
            .collect(),
        directives,
    }
}

#[derive(Serialize)]
struct ChainState<'a> {
    subject: &'a str,
    value: &'a str,
    chain: Vec<RowState<'a>>,
}

#[derive(Serialize)]
struct RowState<'a> {
    layer: &'a str,
    place: &'a str,
    /// None where the file says nothing about the key.
    value: Option<&'a str>,
    outcome: &'a str,
}

pub(super) fn chains(chains: &[Chain]) -> String {
    let states = chains.iter().map(|chain| ChainState {
        subject: &chain.subject,
        value: &chain.value,
        chain: chain
            .rows
            .iter()
            .map(|row| RowState {
                layer: row.layer,
                place: &row.place,
                value: row.value.as_deref(),
                outcome: &row.outcome,
            })
            .collect(),
    });
    pretty(&states.collect::<Vec<_>>())
}

#[derive(Serialize)]
struct Differences<'a> {
    left: &'a str,
    right: &'a str,
    differences: Vec<DifferenceState<'a>>,
}

#[derive(Serialize)]
struct DifferenceState<'a> {
    subject: &'a str,
    change: &'a str,
    keys: Vec<KeyState<'a>>,
}

#[derive(Serialize)]
struct KeyState<'a> {
    section: &'a str,
    key: &'a str,
    left: &'a str,
    right: &'a str,
}

pub(super) fn differences(left: &Evaluated, right: &Evaluated, all: &[Difference]) -> String {
    let states = all.iter().map(|difference| {
        let (change, keys) = match &difference.change {
            Change::OnlyLeft => ("only-left", &[][..]),
            Change::OnlyRight => ("only-right", &[][..]),
            Change::Different(keys) => ("different", keys.as_slice()),
        };
        let keys = keys.iter().map(|key| KeyState {
            section: &key.section,
            key: &key.key,
            left: &key.left,
            right: &key.right,
        });
        DifferenceState {
            subject: &difference.subject,
            change,
            keys: keys.collect(),
        }
    });
    pretty(&Differences {
        left: left.host.as_str(),
        right: right.host.as_str(),
        differences: states.collect(),
    })
}

fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("strings, numbers and lists only");
    text.push('\n');
    text
}
