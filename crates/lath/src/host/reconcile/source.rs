//! The wanted state: a repository, from git or from a directory, evaluated for this host.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agent::git::{self, Commit, Source, TreeEntry};
use agent::layout::Layout;
use agent::root::{Entry, Root};
use agent::run::Wanted;
use agent::{Class, Failure};
use base::Diagnostic;
use hosts::plan::{Placement, derive};
use hosts::repository::{LARGEST_TEXT, wants_text};
use hosts::{Content, EntryId, Evaluated, HostName, Options, Repository, RepositoryBuilder};
use units::Version;

use super::args::SourceArgs;
use crate::host::{HostArgs, identity, read};
use crate::report;

/// A payload larger than this is not installed.
const LARGEST_PAYLOAD: u64 = 64 << 20;

/// Where the contents of payloads are read from.
enum Contents {
    Git(Box<Fetched>),
    Directory(Root),
}

struct Fetched {
    source: Source,
    commit: Commit,
    entries: BTreeMap<String, TreeEntry>,
}

/// Reads the repository and evaluates it. Findings are printed here; errors among them end it.
/// `applied` is the commit that a new one must descend from.
pub fn wanted(
    args: &SourceArgs,
    layout: &Layout,
    applied: &str,
    cache: &Path,
) -> Result<Wanted, Failure> {
    let host = host_name(args, layout)?;
    let mut wanted = Wanted {
        host: host.to_string(),
        origin: "apply".to_owned(),
        ..Wanted::default()
    };
    let (repository, contents) = match args.git() {
        Some(source) => {
            wanted.source.clone_from(&source.url);
            let (repository, contents, commit) = fetched(args, source, applied, cache)?;
            wanted.commit = commit.id;
            wanted.subject = commit.subject;
            (repository, contents)
        }
        None => {
            let path = Path::new(args.repo.as_deref().unwrap_or("."));
            wanted.source = path.display().to_string();
            let repository =
                read::repository(path).map_err(|why| Failure::new(Class::Source, why))?;
            let root =
                Root::open(path).map_err(|error| Failure::file("open", &wanted.source, &error))?;
            (repository, Contents::Directory(root))
        }
    };
    let options = Options {
        podman: args.podman.unwrap_or(Version::NEWEST),
        strict: args.strict,
    };
    let mut evaluated = hosts::evaluate(&repository, &host, &options);
    let mut findings = std::mem::take(&mut evaluated.findings);
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    report::print(
        &mut findings,
        &repository.sources,
        args.report,
        if errors > 0 {
            "The host was not touched."
        } else {
            ""
        },
    );
    if errors > 0 {
        let first = findings.iter().find(|finding| finding.is_error());
        let first = first.map_or(String::new(), |finding| finding.message.clone());
        return Err(Failure::new(
            Class::Findings,
            format!("the repository has {errors} errors: {first}"),
        ));
    }
    let contents = copied(&repository, &evaluated, &contents)?;
    let placement = Placement {
        quadlets: layout.quadlets.clone(),
        units: layout.units.clone(),
        payloads: layout.payloads.clone(),
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        gives_away: !layout.user && rustix::process::geteuid().is_root(),
    };
    wanted.target = derive(&repository, &evaluated, &contents, &placement);
    Ok(wanted)
}

fn host_name(args: &SourceArgs, layout: &Layout) -> Result<HostName, Failure> {
    let usage = |why: String| Failure::new(Class::Usage, why);
    let asked = HostArgs {
        host: args.host.clone(),
        root: (!layout.live).then(|| layout.root.clone()),
    };
    identity::host(&asked)
        .map_err(usage)?
        .map_err(|finding: Box<Diagnostic>| {
            usage(finding.message.clone())
                .help("say which host this is: `--host NAME` or `LATH_HOST=NAME`")
        })
}

fn fetched(
    args: &SourceArgs,
    source: Source,
    applied: &str,
    cache: &Path,
) -> Result<(Repository, Contents, Commit), Failure> {
    agent::notify::notify("STATUS=fetching");
    let commit = git::fetch(&source, cache)?;
    if let Some(signers) = &source.signers {
        commit.verify(&source, signers)?;
    }
    if !args.allow_rewind {
        commit.descends_from(&source, applied)?;
    }
    let mut builder = RepositoryBuilder::new();
    let mut directories = std::collections::BTreeSet::new();
    let mut texts: Vec<(String, TreeEntry)> = Vec::new();
    let mut known = BTreeMap::new();
    for entry in commit.entries(&source)? {
        let Ok(path) = String::from_utf8(entry.path.clone()) else {
            let shown = String::from_utf8_lossy(&entry.path).into_owned();
            builder.refused(&shown, "its name is not UTF-8");
            continue;
        };
        if !path.starts_with("services/") && !path.starts_with("hosts/") {
            continue;
        }
        let mut above = path.as_str();
        while let Some((parent, _)) = above.rsplit_once('/') {
            if !directories.insert(parent.to_owned()) {
                break;
            }
            above = parent;
        }
        if path.chars().any(char::is_control) {
            builder.refused(&path, "its name has control characters");
            continue;
        }
        match entry.mode {
            0o120000 => texts.push((path, entry)),
            0o160000 => builder.special(&path, "a submodule"),
            _ if wants_text(&path) && entry.size <= LARGEST_TEXT => texts.push((path, entry)),
            mode => {
                builder.file(&path, entry.size, mode == 0o100755);
                known.insert(path, entry);
            }
        }
    }
    for directory in &directories {
        builder.directory(directory);
    }
    let objects: Vec<&str> = texts
        .iter()
        .map(|(_, entry)| entry.object.as_str())
        .collect();
    let all = commit.contents(&source, &objects)?;
    for ((path, entry), content) in texts.into_iter().zip(all) {
        if entry.mode == 0o120000 {
            match String::from_utf8(content) {
                Ok(target) => builder.link(&path, &target),
                Err(_) => builder.refused(&path, "it is a link whose target is not UTF-8"),
            }
        } else {
            builder.text(&path, content, entry.mode == 0o100755);
            known.insert(path, entry);
        }
    }
    let contents = Contents::Git(Box::new(Fetched {
        source,
        commit: commit.clone(),
        entries: known,
    }));
    Ok((builder.finish(), contents, commit))
}

/// The contents of all entries that are installed byte for byte.
fn copied(
    repository: &Repository,
    evaluated: &Evaluated,
    contents: &Contents,
) -> Result<BTreeMap<EntryId, Arc<[u8]>>, Failure> {
    let mut wanted = Vec::new();
    for file in &evaluated.files {
        if let Content::Copy(id) = file.content {
            let entry = repository.entry(id);
            if entry.size > LARGEST_PAYLOAD {
                let message = format!("`{}` is larger than 64 MiB", entry.path);
                return Err(Failure::new(Class::Source, message));
            }
            wanted.push((id, entry.path.as_str()));
        }
    }
    wanted.sort();
    wanted.dedup();
    let gone = |path: &str| {
        Failure::new(
            Class::Source,
            format!("`{path}` went away while it was read"),
        )
    };
    let mut all = BTreeMap::new();
    match contents {
        Contents::Directory(root) => {
            for (id, path) in wanted {
                let read = root.read(&format!("/{path}"));
                let read = read.map_err(|error| Failure::file("read", path, &error))?;
                let Entry::Regular { content, .. } = read else {
                    return Err(gone(path));
                };
                all.insert(id, content.into());
            }
        }
        Contents::Git(fetched) => {
            let mut objects = Vec::new();
            for (_, path) in &wanted {
                let entry = fetched.entries.get(*path).ok_or_else(|| gone(path))?;
                objects.push(entry.object.as_str());
            }
            let read = fetched.commit.contents(&fetched.source, &objects)?;
            for ((id, _), content) in wanted.into_iter().zip(read) {
                all.insert(id, content.into());
            }
        }
    }
    Ok(all)
}
