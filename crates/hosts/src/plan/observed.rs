//! What is known of a host before planning: what it shows, and what was last applied to it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::target::{File, Hash, Unit};

/// What lies at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Absent,
    Regular {
        sha256: Hash,
        mode: u32,
        uid: u32,
        gid: u32,
        /// When it was last changed, as people write it.
        modified: String,
    },
    Link {
        sha256: Hash,
    },
    /// A directory, a device: nothing that is ever replaced.
    Other(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    Active,
    /// Starting, reloading or stopping.
    Changing,
    Inactive,
    Failed,
}

/// A unit as systemd shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// systemd found its definition.
    pub loaded: bool,
    pub active: Active,
    /// Names one start of the unit; empty when it never ran.
    pub invocation: String,
    /// systemd says that it has not read the newest definition.
    pub stale: bool,
}

impl State {
    pub fn is_running(&self) -> bool {
        matches!(self.active, Active::Active | Active::Changing)
    }
}

/// What a host shows. Files are listed for every path of the target and of the last applied state.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub files: BTreeMap<String, Found>,
    /// Absent when there is no systemd to ask (another root directory).
    pub units: Option<BTreeMap<String, State>>,
    /// For each template among the units, its running instances.
    pub instances: BTreeMap<String, Vec<String>>,
}

impl Observed {
    pub fn file(&self, path: &str) -> &Found {
        self.files.get(path).unwrap_or(&Found::Absent)
    }

    pub fn unit(&self, name: &str) -> Option<&State> {
        self.units.as_ref()?.get(name)
    }

    pub fn is_running(&self, name: &str) -> bool {
        self.unit(name).is_some_and(State::is_running)
    }

    pub fn instances(&self, template: &str) -> &[String] {
        self.instances.get(template).map_or(&[], Vec::as_slice)
    }
}

/// What was last applied: what is ours, and what the units were last started from.
///
/// After a run that was cut short this is the union of the state before it and of what it had
/// announced, so nothing that it may have done is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    pub files: BTreeMap<String, File>,
    /// Files that a run which was cut short may have written, with what it meant to write.
    pub announced: BTreeMap<String, File>,
    /// What still earlier runs, whose finishing was cut short as well, may have written there.
    pub earlier: BTreeMap<String, BTreeSet<Hash>>,
    pub units: BTreeMap<String, Unit>,
    /// Units that must be restarted whatever their inputs say: a run was cut short before it
    /// came to them.
    pub due: BTreeMap<String, Cause>,
    /// Instances that a run which was cut short had restarted already, with what they were
    /// started from; all others run what their template was when it was applied.
    pub instances: BTreeMap<String, Unit>,
    /// A run was cut short before systemd reloaded.
    pub reload_due: bool,
    /// Directories that were made for owned files.
    pub directories: BTreeSet<String>,
}

impl Applied {
    /// Whether a run that was cut short may have left this content there.
    pub fn may_have_written(&self, path: &str, content: &Hash) -> bool {
        let announced = self.announced.get(path);
        announced.is_some_and(|file| file.sha256 == *content)
            || self
                .earlier
                .get(path)
                .is_some_and(|known| known.contains(content))
    }

    pub fn owns(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.announced.contains_key(path)
    }
}

/// Why an action is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The repository says something else than before.
    Desired,
    /// The host no longer shows what was applied.
    Drift,
    /// The host no longer selects it.
    Removed,
    /// Something it depends on changed.
    Dependency,
    /// A foreign file is taken over, as was asked for.
    Adopted,
    /// A run was cut short and is finished.
    Recovery,
}

impl Reason {
    pub fn word(self) -> &'static str {
        match self {
            Reason::Desired => "desired change",
            Reason::Drift => "drift",
            Reason::Removed => "removed",
            Reason::Dependency => "dependency changed",
            Reason::Adopted => "adopted",
            Reason::Recovery => "recovery",
        }
    }
}

/// A reason and what it is about, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    pub reason: Reason,
    pub detail: String,
}

impl Cause {
    pub fn new(reason: Reason, detail: impl Into<String>) -> Cause {
        Cause {
            reason,
            detail: detail.into(),
        }
    }
}
