//! What can go wrong in a run, in classes that a monitor can tell apart.

use std::fmt;
use std::io;

use serde::Serialize;

/// Which part of the world failed. The words are stable: they stand in status files and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Arguments or the configuration file.
    Usage,
    /// Another run holds the lock.
    Busy,
    /// The repository cannot be fetched or read.
    Source,
    /// The commit is not signed by who must sign it.
    Signature,
    /// The source went backwards.
    Rewind,
    /// The repository has findings.
    Findings,
    /// A foreign file is in the way.
    Conflict,
    /// A unit would not come out of the generators as it should.
    Preflight,
    /// A path leads out of the directories that may be written to.
    Confined,
    /// The disk is full, read-only or broken.
    Disk,
    /// The records of earlier runs cannot be read.
    State,
    /// systemd cannot be reached or refuses.
    Systemd,
    /// A unit did not come up.
    Unit,
    /// The commit failed before and is held back.
    Held,
}

impl Class {
    pub fn word(self) -> &'static str {
        match self {
            Class::Usage => "usage",
            Class::Busy => "busy",
            Class::Source => "source",
            Class::Signature => "signature",
            Class::Rewind => "rewind",
            Class::Findings => "findings",
            Class::Conflict => "conflict",
            Class::Preflight => "preflight",
            Class::Confined => "confined",
            Class::Disk => "disk",
            Class::State => "state",
            Class::Systemd => "systemd",
            Class::Unit => "unit",
            Class::Held => "held",
        }
    }
}

/// A failure of the world, told in one line, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub class: Class,
    pub message: String,
    /// Lines behind it: what a program said.
    pub details: Vec<String>,
    pub help: Option<String>,
}

pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub fn new(class: Class, message: impl Into<String>) -> Failure {
        Failure {
            class,
            message: message.into(),
            details: Vec::new(),
            help: None,
        }
    }

    pub fn help(mut self, help: impl Into<String>) -> Failure {
        self.help = Some(help.into());
        self
    }

    pub fn details(mut self, details: impl IntoIterator<Item = String>) -> Failure {
        self.details.extend(details);
        self
    }

    /// A failed operation on a file, classed by what the kernel said.
    pub fn file(doing: &str, path: &str, error: &io::Error) -> Failure {
        use rustix::io::Errno;
        let errno = Errno::from_io_error(error);
        let class = match errno {
            Some(Errno::LOOP | Errno::XDEV) => Class::Confined,
            _ => Class::Disk,
        };
        let failure = Failure::new(class, format!("cannot {doing} `{path}`: {error}"));
        match (class, errno) {
            (Class::Confined, _) => failure.help("a symbolic link on the way is not followed"),
            (_, Some(Errno::NOSPC | Errno::DQUOT)) => {
                failure.help("free some space, then run again")
            }
            (_, Some(Errno::ROFS)) => failure.help("make the file system writable, then run again"),
            _ => failure,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
