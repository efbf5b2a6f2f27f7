//! From what a host should hold, what was last applied and what it shows: the ordered actions that
//! lead there, each with its cause.
//!
//! Planning is pure and leaves nothing to decide: executing a plan is doing its actions one after
//! the other. It does not know how files are read or units are asked; the shell observes and acts.
//!
//! Order: stops, files, reload, resets, starts and restarts. A unit is stopped while its
//! definition is still there, and restarted only when all its inputs lie in their places.

pub mod derive;
pub mod files;
pub mod intent;
pub mod observed;
pub mod order;
pub mod target;
pub mod units;

#[cfg(test)]
mod tests;

use serde::Serialize;

pub use derive::{Placement, derive};
pub use intent::{Due, Intent, Phase};
pub use observed::{Active, Applied, Cause, Found, Observed, Reason, State};
pub use target::{File, Hash, Layer, Nature, Role, Start, Target, Unit};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileVerb {
    Create,
    Replace,
    Remove,
    /// A foreign file that is already right becomes ours.
    Adopt,
}

/// One file changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileAction {
    pub path: String,
    pub verb: FileVerb,
    pub role: Role,
    /// What will lie there; none when it is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<File>,
    /// What lies there now was not written by us: a copy is kept.
    pub keep: bool,
    pub cause: Cause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitVerb {
    Stop,
    /// systemd reads all its units again.
    Reload,
    /// A unit that is gone is forgotten.
    Reset,
    /// `unit` is the name of a podman volume.
    PurgeVolume,
    Start,
    Restart,
}

impl UnitVerb {
    pub fn word(self) -> &'static str {
        match self {
            UnitVerb::Stop => "stop",
            UnitVerb::Reload => "reload",
            UnitVerb::Reset => "reset",
            UnitVerb::PurgeVolume => "purge",
            UnitVerb::Start => "start",
            UnitVerb::Restart => "restart",
        }
    }
}

/// One unit changes its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitAction {
    pub verb: UnitVerb,
    pub unit: String,
    pub causes: Vec<Cause>,
}

/// Something of a stranger where a file of ours should lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    pub path: String,
    pub message: String,
    /// `--adopt` would take it over.
    pub adoptable: bool,
}

impl Conflict {
    fn foreign(path: &str, same: bool) -> Conflict {
        let more = if same { ", with the very content" } else { "" };
        Conflict {
            path: path.to_owned(),
            message: format!("`{path}` is there and was not put there by Lath{more}"),
            adoptable: true,
        }
    }

    fn in_the_way(path: &str, what: &str) -> Conflict {
        Conflict {
            path: path.to_owned(),
            message: format!("{what} lies where `{path}` should be"),
            adoptable: false,
        }
    }
}

/// Something to know that no action settles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// A stable name: `needs-recreation`, `volume-kept`.
    pub code: &'static str,
    pub message: String,
}

impl Note {
    fn recreate(unit: &Unit, name: &str) -> Note {
        let kind = match unit.nature {
            Nature::Volume => "volume",
            _ => "network",
        };
        Note {
            code: "needs-recreation",
            message: format!(
                "{} changed, but podman keeps the {kind} as it is until it is removed and {name} is restarted",
                unit.artifact
            ),
        }
    }

    fn volume_kept(volume: &str, artifact: &str) -> Note {
        Note {
            code: "volume-kept",
            message: format!("volume {volume} of {artifact} is kept"),
        }
    }
}

impl Target {
    fn makes_volume(&self, unit: &Unit) -> bool {
        unit.volume.is_some() && self.units.values().any(|other| other.volume == unit.volume)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Take over foreign files that are in the way.
    pub adopt: bool,
    /// Delete the podman volumes of removed `.volume` files.
    pub purge_volumes: bool,
}

/// Ordered actions: `before`, then `files`, then `after`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    pub before: Vec<UnitAction>,
    pub files: Vec<FileAction>,
    pub after: Vec<UnitAction>,
    /// A plan with conflicts is not executed.
    pub conflicts: Vec<Conflict>,
    pub notes: Vec<Note>,
}

impl Plan {
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.files.is_empty() && self.after.is_empty()
    }

    pub fn unit_actions(&self) -> impl Iterator<Item = &UnitAction> {
        self.before.iter().chain(&self.after)
    }
}

pub fn plan(target: &Target, applied: &Applied, observed: &Observed, options: Options) -> Plan {
    let files = files::compare(target, applied, observed, options.adopt);
    let units = units::compare(target, applied, observed, &files, options.purge_volumes);
    Plan {
        before: units.before,
        files: files.actions,
        after: units.after,
        conflicts: files.conflicts,
        notes: units.notes,
    }
}
