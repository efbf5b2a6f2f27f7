//! The repository's listing and texts, read from disk.
//!
//! Directories are walked by their handles and links are never followed, so nothing outside the
//! repository is ever opened, whatever changes meanwhile. What cannot be part of a repository (devices,
//! names that are no text, a thousand levels) is listed as such and left alone. Payloads are not opened.

use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use hosts::repository::{DEEPEST_PATH, LARGEST_TEXT, wants_text};
use hosts::{Repository, RepositoryBuilder};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// Lists the repository at `root`.
pub(super) fn repository(root: &Path) -> Result<Repository, String> {
    let handle = open_root(root)?;
    let mut builder = RepositoryBuilder::new();
    for top in [c"hosts", c"services"] {
        let name = top.to_str().unwrap_or_default();
        entry(handle.as_fd(), top, name, &mut builder);
    }
    Ok(builder.finish())
}

/// The repository's directory itself may be reached through links: the user named it.
fn open_root(root: &Path) -> Result<OwnedFd, String> {
    rustix::fs::openat(CWD, root, DIRECTORY, Mode::empty())
        .map_err(|e| format!("cannot open the repository `{}`: {e}", root.display()))
}

fn entry(parent: BorrowedFd<'_>, name: &CStr, path: &str, builder: &mut RepositoryBuilder) {
    let stat = match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return,
        Err(error) => return builder.refused(path, format!("it cannot be read: {error}")),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => directory(parent, name, path, builder),
        FileType::RegularFile => file(parent, name, path, &stat, builder),
        FileType::Symlink => match rustix::fs::readlinkat(parent, name, Vec::new()) {
            Ok(target) => match target.to_str() {
                Ok(target) => builder.link(path, target),
                Err(_) => builder.refused(path, "it is a link whose target is not UTF-8"),
            },
            Err(error) => builder.refused(path, format!("it cannot be read: {error}")),
        },
        FileType::CharacterDevice => builder.special(path, "a character device"),
        FileType::BlockDevice => builder.special(path, "a block device"),
        FileType::Fifo => builder.special(path, "a pipe"),
        FileType::Socket => builder.special(path, "a socket"),
        _ => builder.special(path, "no file"),
    }
}

/// Recursion ends at the depth limit.
fn directory(parent: BorrowedFd<'_>, name: &CStr, path: &str, builder: &mut RepositoryBuilder) {
    if path.split('/').count() > DEEPEST_PATH {
        let reason = format!("it lies more than {DEEPEST_PATH} directories deep");
        return builder.refused(path, reason);
    }
    let handle = rustix::fs::openat(parent, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
    let handle = match handle {
        Ok(handle) => handle,
        Err(error) => return builder.refused(path, format!("it cannot be read: {error}")),
    };
    let entries = match Dir::read_from(&handle) {
        Ok(entries) => entries,
        Err(error) => return builder.refused(path, format!("it cannot be read: {error}")),
    };
    builder.directory(path);
    for found in entries {
        let found = match found {
            Ok(found) => found,
            Err(error) => return builder.refused(path, format!("it cannot be read: {error}")),
        };
        let name = found.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        match name.to_str() {
            Ok(text) if text.chars().any(char::is_control) => {
                let shown = format!("{path}/{}", text.escape_debug());
                builder.refused(&shown, "its name holds a control character");
            }
            Ok(text) => entry(handle.as_fd(), name, &format!("{path}/{text}"), builder),
            Err(_) => {
                let shown = format!("{path}/{}", name.to_bytes().escape_ascii());
                builder.refused(&shown, "its name is not UTF-8");
            }
        }
    }
}

fn file(
    parent: BorrowedFd<'_>,
    name: &CStr,
    path: &str,
    stat: &Stat,
    builder: &mut RepositoryBuilder,
) {
    let executable = Mode::from_raw_mode(stat.st_mode).contains(Mode::XUSR);
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if !wants_text(path) || size > LARGEST_TEXT {
        return builder.file(path, size, executable);
    }
    match read_text(parent, name) {
        Ok(Some(bytes)) => builder.text(path, bytes, executable),
        Ok(None) => builder.file(path, size, executable),
        Err(error) => builder.refused(path, format!("it cannot be read: {error}")),
    }
}

/// The bytes of a file, or none when it turns out to be too large or no file.
fn read_text(parent: BorrowedFd<'_>, name: &CStr) -> Result<Option<Vec<u8>>, std::io::Error> {
    let handle = rustix::fs::openat(parent, name, FILE, Mode::empty())?;
    let stat = rustix::fs::fstat(&handle)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    // One byte more than its size, so that the end is seen without growing.
    let expected = u64::try_from(stat.st_size).unwrap_or(0).min(LARGEST_TEXT);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0) + 1);
    let mut limited = File::from(handle).take(LARGEST_TEXT + 1);
    limited.read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= LARGEST_TEXT).then_some(bytes))
}

/// Opens a file of the repository for copying, without following a link on the way.
pub(super) fn open_payload(root: &Path, path: &str) -> Result<File, String> {
    let wrong = |error: Errno| format!("cannot read `{path}`: {error}");
    let mut handle = open_root(root)?;
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        let flags = match names.peek() {
            Some(_) => DIRECTORY | OFlags::NOFOLLOW,
            None => FILE,
        };
        handle = rustix::fs::openat(&handle, name, flags, Mode::empty()).map_err(wrong)?;
    }
    let stat = rustix::fs::fstat(&handle).map_err(wrong)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(File::from(handle)),
        _ => Err(format!("`{path}` is no longer a file")),
    }
}

/// The hash of a file's bytes, read piece by piece.
pub(super) fn digest(root: &Path, path: &str) -> Result<String, String> {
    let mut file = open_payload(root, path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = fill(&mut file, &mut buffer).map_err(|e| format!("cannot read `{path}`: {e}"))?;
        match buffer.get(..n) {
            Some(piece) if n > 0 => hash.update(piece),
            _ => break,
        }
    }
    let bytes = hash.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether two files have the same bytes, read piece by piece.
pub(super) fn same_content(root: &Path, a: &str, b: &str) -> Result<bool, String> {
    let (mut left, mut right) = (open_payload(root, a)?, open_payload(root, b)?);
    let mut buffers = [vec![0; 1 << 16], vec![0; 1 << 16]];
    let [first, second] = &mut buffers;
    loop {
        let n = fill(&mut left, first).map_err(|e| format!("cannot read `{a}`: {e}"))?;
        let m = fill(&mut right, second).map_err(|e| format!("cannot read `{b}`: {e}"))?;
        if first.get(..n) != second.get(..m) {
            return Ok(false);
        }
        if n == 0 {
            return Ok(true);
        }
    }
}

fn fill(file: &mut File, buffer: &mut [u8]) -> Result<usize, std::io::Error> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            n => filled += n,
        }
    }
    Ok(filled)
}
