//! What is remembered between runs, and in which order it is written.
//!
//! ```text
//! state.json            what is installed now: every owned file, every unit and its inputs
//! intent.json           what a run is about to do; gone when it is done
//! generations/N.json    what was installed, with where it came from; the newest is kept whole
//! blobs/HASH            the contents of those files
//! status.json           how the last run went, for machines
//! replaced/RUN/…        what was found in place of owned files and was not ours
//! ```
//!
//! Each file is replaced at once. A run writes blobs, then the intent, then acts, then the
//! generation, then the state, then removes the intent; so whatever survives tells a later run
//! what may have happened. `state.json` carries its own hash: a damaged one is replaced by the
//! newest generation, which says the same.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hosts::plan::{Applied, Hash, Intent, Target};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::{Class, Failure, Outcome};
use crate::root::{Attributes, Entry, Root};

/// What was installed, and where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    pub number: u64,
    pub run: String,
    /// When it was applied, RFC 3339.
    pub time: String,
    pub source: String,
    pub commit: String,
    pub subject: String,
    /// Why it was made: `apply` or `rollback to N`.
    pub origin: String,
    /// Its units came up.
    pub good: bool,
    pub target: Target,
    pub directories: BTreeSet<String>,
}

/// A commit that did not come up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    pub commit: String,
    /// Of what it would install: another commit with the same result fails the same.
    pub digest: String,
    pub time: String,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub host: String,
    /// What is installed; its number is 0 when nothing ever was.
    pub generation: Generation,
    /// The newest commit that was looked at and is no different for this host.
    pub commit: String,
    #[serde(default)]
    pub failed: Option<Failed>,
}

impl State {
    pub fn applied(&self) -> Applied {
        Applied {
            files: self.generation.target.files.clone(),
            units: self.generation.target.units.clone(),
            directories: self.generation.directories.clone(),
            ..Applied::default()
        }
    }
}

/// How the last run went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub run: String,
    pub host: String,
    /// `converged`, `rolled-back`, `held`, `failed`.
    pub result: String,
    pub class: Option<String>,
    pub message: Option<String>,
    pub started: String,
    pub ended: String,
    pub source: String,
    pub commit: String,
    pub generation: u64,
    pub actions: usize,
}

/// A text with its own hash, so that damage is seen.
#[derive(Serialize, Deserialize)]
struct Sealed {
    sha256: Hash,
    content: Box<serde_json::value::RawValue>,
}

#[derive(Debug)]
pub struct Store {
    root: Root,
    path: PathBuf,
}

/// Held while a run lasts; the kernel lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// How many generations are kept to go back to.
const GENERATIONS: usize = 20;

impl Store {
    pub fn open(path: &Path) -> Outcome<Store> {
        let failed = |error: io::Error| Failure::file("open", &path.display().to_string(), &error);
        for directory in ["generations", "blobs"] {
            fs::create_dir_all(path.join(directory)).map_err(failed)?;
        }
        Ok(Store {
            root: Root::open(path).map_err(failed)?,
            path: path.to_owned(),
        })
    }

    /// Opens what is there, without making anything: for planning and asking.
    pub fn look(path: &Path) -> Outcome<Option<Store>> {
        match Root::open(path) {
            Ok(root) => Ok(Some(Store {
                root,
                path: path.to_owned(),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::file("open", &path.display().to_string(), &error)),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the run lock, or tells who holds it.
    pub fn lock(&self, wait: bool) -> Outcome<Lock> {
        let path = self.path.join("lock");
        let failed = |error: io::Error| Failure::file("lock", &path.display().to_string(), &error);
        let mut options = File::options();
        let mut file = options
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        if wait {
            file.lock().map_err(failed)?;
        } else {
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) => {
                    let holder = fs::read_to_string(&path).unwrap_or_default();
                    let holder = holder.trim();
                    let message = format!("another run is under way (process {holder})");
                    return Err(Failure::new(Class::Busy, message)
                        .help("wait for it, or pass --wait to wait here"));
                }
            }
        }
        // Who holds it is for people only; the lock itself is the kernel's.
        let _ = file.set_len(0);
        let _ = write!(file, "{}", std::process::id());
        Ok(Lock { _file: file })
    }

    fn read<T: DeserializeOwned>(&self, path: &str) -> Outcome<Option<T>> {
        let failed = |error: io::Error| Failure::file("read", &self.shown(path), &error);
        let content = match self.root.read(path).map_err(failed)? {
            Entry::Regular { content, .. } => content,
            _ => return Ok(None),
        };
        let damaged = |why: String| {
            Failure::new(
                Class::State,
                format!("`{}` is damaged: {why}", self.shown(path)),
            )
        };
        let sealed: Sealed =
            serde_json::from_slice(&content).map_err(|error| damaged(error.to_string()))?;
        if Hash::of(sealed.content.get().as_bytes()) != sealed.sha256 {
            return Err(damaged("its hash is another".to_owned()));
        }
        let value = serde_json::from_str(sealed.content.get())
            .map_err(|error| damaged(error.to_string()))?;
        Ok(Some(value))
    }

    fn write<T: Serialize>(&self, path: &str, value: &T) -> Outcome<()> {
        let content = serde_json::value::to_raw_value(value).expect("plain data becomes JSON");
        let sealed = Sealed {
            sha256: Hash::of(content.get().as_bytes()),
            content,
        };
        let text = serde_json::to_vec(&sealed).expect("plain data becomes JSON");
        self.write_bytes(path, &text)
    }

    fn write_bytes(&self, path: &str, content: &[u8]) -> Outcome<()> {
        let attributes = Attributes {
            mode: 0o600,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        };
        let written = self.root.write(path, content, attributes);
        written.map_err(|error| Failure::file("write", &self.shown(path), &error))
    }

    fn shown(&self, path: &str) -> String {
        self.root.outside(path).display().to_string()
    }

    /// What is installed. A damaged state is taken from the newest generation that is not; the
    /// second value says so.
    pub fn state(&self) -> Outcome<(State, Option<Failure>)> {
        let damage = match self.read::<State>("/state.json") {
            Ok(Some(state)) => return Ok((state, None)),
            Ok(None) => None,
            Err(failure) if failure.class == Class::State => Some(failure),
            Err(failure) => return Err(failure),
        };
        let newest = self.generations()?.into_iter().next_back();
        match (newest, damage) {
            (Some(generation), damage) => {
                let state = State {
                    commit: generation.commit.clone(),
                    generation,
                    ..State::default()
                };
                let damage = damage.unwrap_or_else(|| {
                    Failure::new(Class::State, format!("`{}` is missing", self.shown("/state.json")))
                });
                Ok((state, Some(damage)))
            }
            (None, None) => Ok((State::default(), None)),
            (None, Some(damage)) => Err(damage.help(
                "no generation is left to take it from: remove it and run `lath host apply --adopt`",
            )),
        }
    }

    pub fn set_state(&self, state: &State) -> Outcome<()> {
        self.write("/state.json", state)
    }

    /// What a run announced that did not end. A damaged one cannot be read past: it may name files
    /// that are ours and stand nowhere else.
    pub fn intent(&self) -> Outcome<Option<Intent>> {
        self.read("/intent.json").map_err(|failure| {
            failure
                .help("remove it and run `lath host apply --adopt`: what is in place is taken over")
        })
    }

    pub fn set_intent(&self, intent: &Intent) -> Outcome<()> {
        self.write("/intent.json", intent)
    }

    pub fn clear_intent(&self) -> Outcome<()> {
        let removed = self.root.remove("/intent.json");
        removed.map_err(|error| Failure::file("remove", &self.shown("/intent.json"), &error))
    }

    /// The generations that can be read, oldest first.
    pub fn generations(&self) -> Outcome<Vec<Generation>> {
        let mut all = Vec::new();
        for name in self.generation_files()? {
            match self.read::<Generation>(&format!("/generations/{name}")) {
                Ok(generation) => all.extend(generation),
                Err(failure) if failure.class == Class::State => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(all)
    }

    fn generation_files(&self) -> Outcome<Vec<String>> {
        let failed = |error: io::Error| Failure::file("list", &self.shown("/generations"), &error);
        let mut names = self.root.list("/generations").map_err(failed)?;
        names.retain(|name| name.ends_with(".json"));
        Ok(names)
    }

    /// Fills in the contents of a stored target.
    pub fn load_contents(&self, target: &mut Target) -> Outcome<()> {
        for file in target.files.values() {
            if target.contents.contains_key(&file.sha256) {
                continue;
            }
            let path = format!("/blobs/{}", file.sha256);
            let failed = |error: io::Error| Failure::file("read", &self.shown(&path), &error);
            let content = match self.root.read(&path).map_err(failed)? {
                Entry::Regular { content, .. } if Hash::of(&content) == file.sha256 => content,
                _ => {
                    let message =
                        format!("the stored content {} is missing or damaged", file.sha256);
                    return Err(Failure::new(Class::State, message));
                }
            };
            target.contents.insert(file.sha256.clone(), content.into());
        }
        Ok(())
    }

    /// Stores the contents of a target, so that it can be gone back to.
    pub fn keep_contents(&self, target: &Target) -> Outcome<()> {
        let failed = |error: io::Error| Failure::file("list", &self.shown("/blobs"), &error);
        let known: BTreeSet<String> = self
            .root
            .list("/blobs")
            .map_err(failed)?
            .into_iter()
            .collect();
        for (hash, content) in &target.contents {
            if !known.contains(&hash.0) {
                self.write_bytes(&format!("/blobs/{hash}"), content)?;
            }
        }
        Ok(())
    }

    pub fn add_generation(&self, generation: &Generation) -> Outcome<()> {
        self.write(&generation_path(generation.number), generation)
    }

    /// Forgets the oldest generations, and contents that none of the rest has.
    pub fn tidy(&self) -> Outcome<()> {
        let all = self.generations()?;
        // However many have failed since: the last good one can always be gone back to.
        let good = all.iter().rev().find(|generation| generation.good);
        let good = good.map_or(0, |generation| generation.number);
        for generation in all.iter().rev().skip(GENERATIONS) {
            if generation.number == good {
                continue;
            }
            let path = generation_path(generation.number);
            let removed = self.root.remove(&path);
            removed.map_err(|error| Failure::file("remove", &self.shown(&path), &error))?;
        }
        let mut used = BTreeSet::new();
        for generation in self.generations()? {
            used.extend(
                generation
                    .target
                    .files
                    .into_values()
                    .map(|file| file.sha256.0),
            );
        }
        let failed = |error: io::Error| Failure::file("list", &self.shown("/blobs"), &error);
        for name in self.root.list("/blobs").map_err(failed)? {
            if !used.contains(&name) {
                let path = format!("/blobs/{name}");
                let removed = self.root.remove(&path);
                removed.map_err(|error| Failure::file("remove", &self.shown(&path), &error))?;
            }
        }
        Ok(())
    }

    pub fn status(&self) -> Outcome<Option<Status>> {
        let failed = |error: io::Error| Failure::file("read", &self.shown("/status.json"), &error);
        match self.root.read("/status.json").map_err(failed)? {
            Entry::Regular { content, .. } => Ok(serde_json::from_slice(&content).ok()),
            _ => Ok(None),
        }
    }

    /// Readable by everybody, in plain JSON: monitors read it.
    pub fn set_status(&self, status: &Status) -> Outcome<()> {
        let mut text = serde_json::to_vec_pretty(status).expect("plain data becomes JSON");
        text.push(b'\n');
        let attributes = Attributes {
            mode: 0o644,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        };
        let written = self.root.write("/status.json", &text, attributes);
        written.map_err(|error| Failure::file("write", &self.shown("/status.json"), &error))
    }

    /// Keeps a copy of something that is about to be replaced and was not ours.
    pub fn keep_replaced(&self, run: &str, path: &str, content: &[u8]) -> Outcome<()> {
        let copy = format!("/replaced/{run}{path}");
        let made = self.root.make_directories(&copy, 0o700);
        made.map_err(|error| Failure::file("make directories for", &self.shown(&copy), &error))?;
        self.write_bytes(&copy, content)
    }
}

fn generation_path(number: u64) -> String {
    format!("/generations/{number:08}.json")
}
