//! What a host should hold: files with their content, and the units that come of them.
//!
//! This is the evaluated state in the form that is compared, stored with each generation and
//! installed: it no longer knows the repository, except by name in [`Layer`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// SHA-256 of a content, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hash(pub String);

impl Hash {
    pub fn of(content: &[u8]) -> Hash {
        let digest = Sha256::digest(content);
        Hash(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a file is for; decides whether systemd must reload when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A Quadlet, merged into one file.
    Quadlet,
    /// A systemd unit.
    Unit,
    /// A drop-in of a systemd unit.
    DropIn,
    /// A symbolic link that enables a systemd unit.
    Enablement,
    /// An opaque file of a service.
    Payload,
}

impl Role {
    /// Whether systemd or its generators read it.
    pub fn is_loaded(self) -> bool {
        self != Role::Payload
    }
}

/// One file of the repository that took part in an installed file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Layer {
    /// `base` or `host`.
    pub layer: String,
    /// The path in the repository.
    pub source: String,
    /// `applied`, `replaced` or `masked`.
    pub outcome: String,
}

/// A file to be installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    pub role: Role,
    pub sha256: Hash,
    /// A symbolic link; its content is what it points to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// Permission bits; of no meaning for a link.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// The service of the repository that brings it.
    pub service: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
}

/// What must happen for a unit to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// It runs as long as the host selects it.
    Always,
    /// It is started when it is new or changed, and then may end (`Type=oneshot`).
    Once,
    /// A socket, timer or path of this target starts it, or another unit pulls it in.
    Others,
    /// A template: only its instances run.
    Template,
}

/// How a unit takes a change of its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// Restarted.
    Process,
    /// Restarted, after the services that hold its sockets were stopped.
    Socket,
    /// Podman does not change what it once created: reported as needing recreation.
    Volume,
    Network,
}

/// A unit as systemd knows it while the target is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The file that defines it.
    pub artifact: String,
    pub nature: Nature,
    pub start: Start,
    /// What it was started from: each file that counts, with the hash of what counts in it (for a
    /// unit file, its lines without comments). A difference here is what restarts it.
    pub inputs: BTreeMap<String, Hash>,
    /// Units of this target that must be up before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// Units of this target whose restart restarts it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<String>,
    /// What a socket, timer or path starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<String>,
    /// The podman volume that a `.volume` makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
}

/// Everything a host should hold. Paths are absolute, as seen on the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    pub files: BTreeMap<String, File>,
    pub units: BTreeMap<String, Unit>,
    /// The contents of the files, by hash.
    #[serde(skip)]
    pub contents: BTreeMap<Hash, Arc<[u8]>>,
}

impl Target {
    /// Adds a file and keeps its content.
    pub fn insert(&mut self, path: String, file: File, content: Arc<[u8]>) {
        self.contents.insert(file.sha256.clone(), content);
        self.files.insert(path, file);
    }

    pub fn content(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.contents.get(&self.files.get(path)?.sha256)
    }

    /// One hash over everything that would be installed; layers and services do not count.
    pub fn digest(&self) -> Hash {
        let mut all = Sha256::new();
        for (path, file) in &self.files {
            all.update(format!(
                "{path}\0{}\0{}\0{:o}\0{}\0{}\n",
                file.sha256, file.link, file.mode, file.uid, file.gid
            ));
        }
        for (name, unit) in &self.units {
            all.update(format!("{name}\0{:?}\0{}\n", unit.start, unit.artifact));
        }
        Hash(all.finalize().iter().map(|b| format!("{b:02x}")).collect())
    }
}
