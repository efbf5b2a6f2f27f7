//! Fetches a repository with the `git` program, checks who signed it, and reads it without ever
//! checking it out.
//!
//! One bare repository per source lies in the cache. A fetch is shallow; it is deepened step by
//! step only when the new commit must be shown to descend from the applied one. Nothing in the
//! fetched tree is executed or written to disk as a file: entries are read out of the object store.
//!
//! Authentication is git's own: its credential helpers, ssh with `known_hosts` (an unknown host is
//! refused, nobody is asked), or a token file that only the helper reads, so that the token is
//! never an argument.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hosts::plan::Hash;

use crate::failure::{Class, Failure, Outcome};
use crate::program::{self, Output};

/// Where the repository is and how it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// A URL or a path.
    pub url: String,
    /// A branch, tag or commit; the remote's default branch when not given.
    pub rev: Option<String>,
    /// A file with a token, or `user:token`, for https.
    pub token_file: Option<PathBuf>,
    pub ssh_key: Option<PathBuf>,
    pub known_hosts: Option<PathBuf>,
    /// An `allowed_signers` file; without one nobody need have signed.
    pub signers: Option<PathBuf>,
}

/// A fetched commit.
#[derive(Clone, Debug)]
pub struct Commit {
    pub id: String,
    pub subject: String,
    directory: PathBuf,
}

/// One entry of a commit's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    pub path: Vec<u8>,
    pub mode: u32,
    pub object: String,
    pub size: u64,
}

const PATIENCE: Duration = Duration::from_secs(300);

/// How deep history is fetched, step by step, before all of it is.
const DEPTHS: [&str; 3] = ["--depth=1", "--depth=64", "--depth=2048"];

/// Fetches the source. The cache directory is the caller's; nobody else may use it meanwhile.
pub fn fetch(source: &Source, cache: &Path) -> Outcome<Commit> {
    let name = Hash::of(source.url.as_bytes());
    let directory = cache.join(name.0.get(..16).unwrap_or(&name.0));
    for again in [false, true] {
        match attempt(source, &directory, DEPTHS.first().copied()) {
            // A cache that a power cut damaged is no loss: it is fetched anew, once.
            Err(failure) if !again && is_damage(&failure) => {
                let removed = fs::remove_dir_all(&directory);
                removed.map_err(|error| {
                    Failure::file("remove", &directory.display().to_string(), &error)
                })?;
            }
            other => return other,
        }
    }
    Err(Failure::new(
        Class::Source,
        "the repository cannot be fetched",
    ))
}

fn is_damage(failure: &Failure) -> bool {
    let words = [
        "corrupt",
        "bad object",
        "not a git repository",
        "unable to read",
        "shallow file has changed",
        "is empty",
        "could not be parsed",
    ];
    failure.class == Class::Source
        && failure.details.iter().any(|line| {
            let line = line.to_ascii_lowercase();
            words.iter().any(|word| line.contains(word)) && !line.starts_with("remote:")
        })
}

fn attempt(source: &Source, directory: &Path, depth: Option<&str>) -> Outcome<Commit> {
    if !directory.join("HEAD").exists() {
        fs::create_dir_all(directory)
            .map_err(|error| Failure::file("make", &directory.display().to_string(), &error))?;
        let made = program::run(
            Class::Source,
            Command::new("git")
                .args(["init", "--quiet", "--bare"])
                .arg(directory),
            PATIENCE,
        )?;
        check(&made, "cannot make a repository")?;
    }
    // Left by a fetch that was killed; the run lock says that none is under way.
    let _ = fs::remove_file(directory.join("shallow.lock"));
    let mut command = git(source, directory);
    command.args([
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-auto-gc",
        "--force",
        "--update-shallow",
    ]);
    command.args(depth);
    command.arg("--").arg(&source.url);
    let rev = source.rev.as_deref().unwrap_or("HEAD");
    command.arg(format!("{rev}:{FETCHED}"));
    let fetched = program::run(Class::Source, &mut command, PATIENCE)?;
    check(
        &fetched,
        &format!("cannot fetch `{rev}` of `{}`", source.url),
    )?;
    let mut command = git(source, directory);
    command.args([
        "log",
        "-1",
        "--no-show-signature",
        "--format=%H%x00%s",
        FETCHED,
        "--",
    ]);
    let shown = program::run(Class::Source, &mut command, PATIENCE)?;
    check(&shown, "cannot read the fetched commit")?;
    let text = String::from_utf8_lossy(&shown.stdout);
    let (id, subject) = text
        .trim_end()
        .split_once('\0')
        .unwrap_or((text.trim_end(), ""));
    Ok(Commit {
        id: id.to_owned(),
        subject: subject.to_owned(),
        directory: directory.to_owned(),
    })
}

/// Where the fetched revision is kept: a tag is peeled to its commit when it is read.
const FETCHED: &str = "refs/lath/fetched";

fn git(source: &Source, directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(directory);
    for setting in [
        "core.hooksPath=/dev/null",
        "protocol.allow=never",
        "protocol.https.allow=always",
        "protocol.http.allow=always",
        "protocol.ssh.allow=always",
        "protocol.file.allow=always",
        "transfer.fsckObjects=true",
        "fetch.recurseSubmodules=no",
        "gc.auto=0",
        "maintenance.auto=false",
    ] {
        command.args(["-c", setting]);
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    let mut ssh = "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout=30".to_owned();
    if let Some(hosts) = &source.known_hosts {
        ssh.push_str(&format!(" -oUserKnownHostsFile={}", quoted(hosts)));
        ssh.push_str(" -oGlobalKnownHostsFile=/dev/null");
    }
    if let Some(key) = &source.ssh_key {
        ssh.push_str(&format!(" -oIdentitiesOnly=yes -i {}", quoted(key)));
    }
    command.env("GIT_SSH_COMMAND", ssh).env_remove("GIT_SSH");
    if let Some(file) = &source.token_file {
        command.env("LATH_TOKEN_FILE", file);
        command.args(["-c", "credential.helper=", "-c", HELPER]);
    }
    command
}

/// Answers git with what the token file holds: `user:token`, or a token alone.
const HELPER: &str = "credential.helper=!f() { test \"$1\" = get || exit 0; \
    IFS= read -r t < \"$LATH_TOKEN_FILE\" || test -n \"$t\"; \
    case \"$t\" in *:*) u=${t%%:*}; t=${t#*:};; *) u=x-access-token;; esac; \
    printf 'username=%s\\npassword=%s\\n' \"$u\" \"$t\"; }; f";

/// A word for the shell that git starts ssh with.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

fn check(output: &Output, message: &str) -> Outcome<()> {
    if output.status.success() {
        return Ok(());
    }
    let said = output.said();
    let help = said.iter().find_map(|line| {
        [
            (
                "Host key verification failed",
                "add the host's key to `known_hosts`",
            ),
            (
                "could not read Username",
                "name a token file with --token-file, or set up a credential helper",
            ),
            (
                "Authentication failed",
                "the server refuses the token or key",
            ),
            (
                "Permission denied",
                "the server refuses the key: name one with --ssh-key",
            ),
            (
                "couldn't find remote ref",
                "is the branch, tag or commit right?",
            ),
        ]
        .into_iter()
        .find(|(part, _)| line.contains(part))
        .map(|(_, help)| help)
    });
    let first = said
        .iter()
        .rev()
        .find(|line| line.starts_with("fatal:"))
        .or(said.first());
    let why = first
        .map_or("git failed", String::as_str)
        .trim_start_matches("fatal: ")
        .to_owned();
    let failure = Failure::new(Class::Source, format!("{message}: {why}")).details(said);
    Err(match help {
        Some(help) => failure.help(help),
        None => failure,
    })
}

impl Commit {
    /// Refuses a commit that none of the allowed signers has signed, by an SSH signature.
    pub fn verify(&self, source: &Source, signers: &Path) -> Outcome<()> {
        let refused = |why: String, said: Vec<String>| {
            let short = self.id.get(..7).unwrap_or(&self.id);
            Failure::new(Class::Signature, format!("commit {short} {why}"))
                .details(said)
                .help(format!(
                    "sign commits with a key that `{}` lists",
                    signers.display()
                ))
        };
        let raw = self.object(source, &["cat-file", "commit", &self.id])?;
        let header = raw
            .split(|&byte| byte == b'\n')
            .take_while(|line| !line.is_empty());
        let signature = header
            .filter_map(|line| line.strip_prefix(b"gpgsig "))
            .next();
        match signature {
            None => return Err(refused("is not signed".to_owned(), Vec::new())),
            Some(first) if first != b"-----BEGIN SSH SIGNATURE-----" => {
                return Err(refused(
                    "is not signed with an SSH key".to_owned(),
                    Vec::new(),
                ));
            }
            Some(_) => {}
        }
        if !signers.is_file() {
            let message = format!(
                "there is no file of allowed signers at `{}`",
                signers.display()
            );
            return Err(Failure::new(Class::Signature, message));
        }
        let mut command = git(source, &self.directory);
        command.args([
            "-c",
            "gpg.format=ssh",
            "-c",
            "gpg.ssh.program=ssh-keygen",
            "-c",
            "gpg.ssh.revocationFile=",
        ]);
        command
            .arg("-c")
            .arg(format!("gpg.ssh.allowedSignersFile={}", signers.display()));
        command.args(["verify-commit", "--raw", &self.id]);
        let verified = program::run(Class::Signature, &mut command, PATIENCE)?;
        let said = verified.said();
        // "Good signature" alone is also said of a key that nobody allowed.
        let good = said
            .iter()
            .any(|line| line.starts_with("Good \"git\" signature for "));
        match verified.status.success() && good {
            true => Ok(()),
            false => Err(refused(
                "is not signed by an allowed signer".to_owned(),
                said,
            )),
        }
    }

    /// Refuses a commit that does not descend from `applied`, fetching as much history as it takes.
    pub fn descends_from(&self, source: &Source, applied: &str) -> Outcome<()> {
        if applied.is_empty() || applied == self.id {
            return Ok(());
        }
        for depth in DEPTHS.iter().skip(1).copied().map(Some).chain([None]) {
            let is_shallow = self.directory.join("shallow").exists();
            let mut command = git(source, &self.directory);
            command.args(["merge-base", "--is-ancestor", applied, &self.id]);
            let answer = program::run(Class::Source, &mut command, PATIENCE)?;
            if answer.status.success() {
                return Ok(());
            }
            if !is_shallow {
                break;
            }
            // Without a depth what is missing below the shallow boundary comes as well.
            attempt(source, &self.directory, depth.or(Some("--unshallow")))?;
        }
        let mut command = git(source, &self.directory);
        command.args(["merge-base", "--is-ancestor", applied, &self.id]);
        if program::run(Class::Source, &mut command, PATIENCE)?
            .status
            .success()
        {
            return Ok(());
        }
        let short = |id: &str| id.get(..7).unwrap_or(id).to_owned();
        let message = format!(
            "{} does not descend from the applied {}",
            short(&self.id),
            short(applied)
        );
        Err(Failure::new(Class::Rewind, message)
            .help("pass --allow-rewind if the source was meant to go back"))
    }

    /// All files and links of the commit.
    pub fn entries(&self, source: &Source) -> Outcome<Vec<TreeEntry>> {
        let listing = self.object(
            source,
            &["ls-tree", "-r", "-l", "-z", "--full-tree", &self.id],
        )?;
        let mut entries = Vec::new();
        for line in listing
            .split(|&byte| byte == 0)
            .filter(|line| !line.is_empty())
        {
            let unreadable =
                || Failure::new(Class::Source, "git listed an entry in an unknown form");
            let tab = line
                .iter()
                .position(|&byte| byte == b'\t')
                .ok_or_else(unreadable)?;
            let (head, path) = line.split_at_checked(tab).ok_or_else(unreadable)?;
            let head = String::from_utf8_lossy(head).into_owned();
            let mut words = head.split_ascii_whitespace();
            let (mode, _, object, size) = (words.next(), words.next(), words.next(), words.next());
            entries.push(TreeEntry {
                path: path.get(1..).unwrap_or_default().to_owned(),
                mode: mode
                    .and_then(|mode| u32::from_str_radix(mode, 8).ok())
                    .ok_or_else(unreadable)?,
                object: object.ok_or_else(unreadable)?.to_owned(),
                size: size.and_then(|size| size.parse().ok()).unwrap_or(0),
            });
        }
        Ok(entries)
    }

    /// The contents of objects, in the order they were asked for.
    pub fn contents(&self, source: &Source, objects: &[&str]) -> Outcome<Vec<Vec<u8>>> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let list = self.directory.join("lath-wanted");
        let mut wanted = objects.join("\n");
        wanted.push('\n');
        fs::write(&list, wanted)
            .map_err(|error| Failure::file("write", &list.display().to_string(), &error))?;
        let input = fs::File::open(&list)
            .map_err(|error| Failure::file("read", &list.display().to_string(), &error))?;
        let mut command = git(source, &self.directory);
        command.args(["cat-file", "--batch"]);
        let output = program::run_with(Class::Source, &mut command, PATIENCE, Some(input))?;
        let _ = fs::remove_file(&list);
        check(&output, "cannot read the fetched files")?;
        batch(&output.stdout, objects.len())
            .ok_or_else(|| Failure::new(Class::Source, "git gave fewer files than it listed"))
    }

    fn object(&self, source: &Source, arguments: &[&str]) -> Outcome<Vec<u8>> {
        let mut command = git(source, &self.directory);
        command.args(arguments);
        let output = program::run(Class::Source, &mut command, PATIENCE)?;
        check(&output, "cannot read the fetched commit")?;
        Ok(output.stdout)
    }
}

/// Takes the answers of `cat-file --batch` apart: `<object> <type> <size>\n<content>\n`.
fn batch(mut rest: &[u8], count: usize) -> Option<Vec<Vec<u8>>> {
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let head = String::from_utf8_lossy(rest.get(..end)?);
        let size: usize = head.rsplit(' ').next()?.parse().ok()?;
        let start = end + 1;
        all.push(rest.get(start..start.checked_add(size)?)?.to_vec());
        rest = rest.get(start + size + 1..)?;
    }
    Some(all)
}
