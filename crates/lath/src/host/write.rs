//! `evaluate --into DIR`: exactly the desired files below a directory, and nothing else.
//!
//! The directory must be empty or absent, so that what is there afterwards is the desired state. Every
//! step below it goes by handle and follows no link.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use hosts::{Content, DesiredFile, Evaluated, Repository};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::read;

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Writes the desired files below `directory`.
pub(super) fn into(
    repository: &Repository,
    root: &Path,
    evaluated: &Evaluated,
    directory: &Path,
) -> Result<(), String> {
    let shown = directory.display();
    fs::create_dir_all(directory).map_err(|e| format!("cannot make `{shown}`: {e}"))?;
    let mut there = fs::read_dir(directory).map_err(|e| format!("cannot read `{shown}`: {e}"))?;
    if there.next().is_some() {
        return Err(format!(
            "`{shown}` is not empty; name an empty or a new directory, so that it holds the desired state and nothing else"
        ));
    }
    let base = rustix::fs::openat(CWD, directory, DIRECTORY, Mode::empty())
        .map_err(|e| format!("cannot open `{shown}`: {e}"))?;
    for file in &evaluated.files {
        write(repository, root, &base, file)
            .map_err(|e| format!("cannot write `{shown}{}`: {e}", file.target))?;
    }
    Ok(())
}

fn write(
    repository: &Repository,
    root: &Path,
    base: &OwnedFd,
    file: &DesiredFile,
) -> Result<(), io::Error> {
    // A user's home directory stands for the root.
    let path = file.target.strip_prefix('~').unwrap_or(&file.target);
    let mut names: Vec<&str> = path.split('/').filter(|n| !n.is_empty()).collect();
    let Some(name) = names.pop() else {
        return Ok(());
    };
    let mut parent = base.try_clone()?;
    for directory in names {
        match rustix::fs::mkdirat(&parent, directory, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        parent = rustix::fs::openat(&parent, directory, flags, Mode::empty())?;
    }
    if let Content::Link(target) = &file.content {
        rustix::fs::symlinkat(target.as_str(), parent.as_fd(), name)?;
        return Ok(());
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(file.mode());
    let handle = rustix::fs::openat(&parent, name, flags, mode)?;
    // Whatever the umask is, the mode is part of the desired state.
    rustix::fs::fchmod(&handle, mode)?;
    let mut out = File::from(handle);
    match &file.content {
        Content::Text(text) => out.write_all(text.as_bytes())?,
        Content::Copy(entry) => {
            let path = &repository.entry(*entry).path;
            let mut from = read::open_payload(root, path).map_err(io::Error::other)?;
            io::copy(&mut from, &mut out)?;
        }
        Content::Link(_) => {}
    }
    Ok(())
}
