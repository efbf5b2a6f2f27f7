//! Files below one directory, and never outside of it.
//!
//! Every path is opened with openat2 beneath the root directory's descriptor, symbolic links
//! refused on the whole way, so neither `..` nor a link planted between two system calls leads
//! elsewhere. A file is replaced by writing a temporary one beside it, syncing it, renaming it and
//! syncing the directory: at every moment the old or the new content is there, whole. Temporary
//! names end in `.tmp`, which neither systemd nor Quadlet ever loads.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, ResolveFlags, Uid};
use rustix::io::Errno;

use crate::fault;

/// A directory that everything happens beneath.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    dir: OwnedFd,
}

/// What lies at a path, with its content.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry {
    Absent,
    Regular {
        content: Vec<u8>,
        mode: u32,
        uid: u32,
        gid: u32,
        /// Seconds since the epoch.
        modified: i64,
    },
    Link(Vec<u8>),
    Directory,
    Other,
}

/// Permissions and owner of a file to be written.
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
}

/// No managed file is larger than this.
const LARGEST: u64 = 64 << 20;

impl Root {
    /// The directory itself may be reached through links: it is the caller's choice.
    pub fn open(path: &Path) -> io::Result<Root> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Root {
            path: path.to_owned(),
            dir: rustix::fs::openat(CWD, path, flags, Mode::empty())?,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a path beneath the root lies for other programs.
    pub fn outside(&self, path: &str) -> PathBuf {
        self.path.join(path.trim_start_matches('/'))
    }

    fn beneath(&self, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let relative = match path.trim_matches('/') {
            "" => ".",
            relative => relative,
        };
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        loop {
            let flags = flags | OFlags::CLOEXEC;
            match rustix::fs::openat2(&self.dir, relative, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                result => return result,
            }
        }
    }

    fn directory(&self, path: &str) -> rustix::io::Result<OwnedFd> {
        self.beneath(path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens the directory that holds `path`.
    fn parent<'a>(&self, path: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let (parent, name) = split(path)?;
        Ok((self.directory(parent)?, name))
    }

    /// What lies at `path`. A link on the way is an error, a missing directory is absence.
    pub fn read(&self, path: &str) -> io::Result<Entry> {
        let (dir, name) = match self.parent(path) {
            Err(error) if is_absence(&error) => return Ok(Entry::Absent),
            other => other?,
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&dir, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(Entry::Absent),
            Err(Errno::LOOP) => {
                let link = rustix::fs::readlinkat(&dir, name, Vec::new())?;
                return Ok(Entry::Link(link.into_bytes()));
            }
            Err(Errno::NXIO | Errno::NODEV) => return Ok(Entry::Other),
            Err(errno) => return Err(errno.into()),
        };
        let stat = rustix::fs::fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Ok(Entry::Directory),
            _ => return Ok(Entry::Other),
        }
        let mut content = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0));
        fs::File::from(file)
            .take(LARGEST + 1)
            .read_to_end(&mut content)?;
        if content.len() as u64 > LARGEST {
            return Err(io::Error::other("the file is larger than 64 MiB"));
        }
        Ok(Entry::Regular {
            content,
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            modified: stat.st_mtime,
        })
    }

    /// Which directories on the way to `path` are missing, outermost first.
    pub fn missing_directories(&self, path: &str) -> Vec<String> {
        let mut missing = Vec::new();
        let mut current = path;
        while let Ok((parent, _)) = split(current) {
            if parent.is_empty()
                || self
                    .beneath(parent, OFlags::PATH | OFlags::DIRECTORY)
                    .is_ok()
            {
                break;
            }
            missing.push(parent.to_owned());
            current = parent;
        }
        missing.reverse();
        missing
    }

    /// Makes the directories on the way to `path`.
    pub fn make_directories(&self, path: &str, mode: u32) -> io::Result<()> {
        for directory in self.missing_directories(path) {
            let (dir, name) = self.parent(&directory)?;
            fault::point(&format!("mkdir {directory}"));
            match rustix::fs::mkdirat(&dir, name, Mode::from_raw_mode(mode)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            fault::point(&format!("sync directory of {directory}"));
            rustix::fs::fsync(&dir)?;
        }
        Ok(())
    }

    /// Puts `content` at `path`, at once or not at all.
    pub fn write(&self, path: &str, content: &[u8], attributes: Attributes) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        let temporary = temporary(name);
        let written = write_temporary(&dir, &temporary, path, content, attributes);
        self.finish(&dir, &temporary, name, path, written)
    }

    /// Puts a symbolic link at `path`, at once or not at all.
    pub fn link(&self, path: &str, to: &str) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        let temporary = temporary(name);
        unlink(&dir, &temporary)?;
        fault::point(&format!("link {path}"));
        let written = rustix::fs::symlinkat(to, &dir, temporary.as_str()).map_err(io::Error::from);
        self.finish(&dir, &temporary, name, path, written)
    }

    fn finish(
        &self,
        dir: &OwnedFd,
        temporary: &str,
        name: &str,
        path: &str,
        written: io::Result<()>,
    ) -> io::Result<()> {
        let renamed = written.and_then(|()| {
            fault::point(&format!("rename {path}"));
            Ok(rustix::fs::renameat(dir, temporary, dir, name)?)
        });
        if let Err(error) = renamed {
            // On a full disk this gives back what was taken; where it fails too, the next run does it.
            let _ = unlink(dir, temporary);
            return Err(error);
        }
        fault::point(&format!("sync directory of {path}"));
        Ok(rustix::fs::fsync(dir)?)
    }

    /// Removes a file or link; that it is gone already is fine.
    pub fn remove(&self, path: &str) -> io::Result<()> {
        let (dir, name) = match self.parent(path) {
            Err(error) if is_absence(&error) => return Ok(()),
            other => other?,
        };
        fault::point(&format!("remove {path}"));
        unlink(&dir, name)?;
        fault::point(&format!("sync directory of {path}"));
        Ok(rustix::fs::fsync(&dir)?)
    }

    /// Removes what a run that was cut short left beside `path`.
    pub fn remove_temporary(&self, path: &str) -> io::Result<()> {
        match self.parent(path) {
            Ok((dir, name)) => unlink(&dir, &temporary(name)),
            Err(error) if is_absence(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes a directory if nothing is left in it; whether it went.
    pub fn remove_empty_directory(&self, path: &str) -> io::Result<bool> {
        let (dir, name) = match self.parent(path) {
            Err(error) if is_absence(&error) => return Ok(true),
            other => other?,
        };
        fault::point(&format!("rmdir {path}"));
        match rustix::fs::unlinkat(&dir, name, AtFlags::REMOVEDIR) {
            Ok(()) => {
                rustix::fs::fsync(&dir)?;
                Ok(true)
            }
            Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The names in a directory, sorted; none when it does not exist.
    pub fn list(&self, path: &str) -> io::Result<Vec<String>> {
        let dir = match self.directory(path) {
            Err(errno) if is_absence(&errno.into()) => return Ok(Vec::new()),
            other => other?,
        };
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }
}

fn write_temporary(
    dir: &OwnedFd,
    temporary: &str,
    path: &str,
    content: &[u8],
    attributes: Attributes,
) -> io::Result<()> {
    unlink(dir, temporary)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fault::point(&format!("create {path}"));
    let file = rustix::fs::openat(dir, temporary, flags, Mode::RUSR | Mode::WUSR)?;
    let mut file = fs::File::from(file);
    fault::point(&format!("write {path}"));
    file.write_all(content)?;
    let stat = rustix::fs::fstat(&file)?;
    if (stat.st_uid, stat.st_gid) != (attributes.uid, attributes.gid) {
        let (uid, gid) = (Uid::from_raw(attributes.uid), Gid::from_raw(attributes.gid));
        rustix::fs::fchown(&file, Some(uid), Some(gid))?;
    }
    rustix::fs::fchmod(&file, Mode::from_raw_mode(attributes.mode))?;
    fault::point(&format!("sync {path}"));
    file.sync_all()
}

fn unlink(dir: &OwnedFd, name: &str) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// The one temporary name of a file: a run that was cut short leaves at most this.
fn temporary(name: &str) -> String {
    // A name may be 255 bytes long; the hash keeps the temporary one short and its own.
    let hash = hosts::plan::Hash::of(name.as_bytes());
    format!(".lath-{}.tmp", hash.0.get(..16).unwrap_or(&hash.0))
}

fn split(path: &str) -> io::Result<(&str, &str)> {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some((parent, name)) if !name.is_empty() && name != ".." && name != "." => {
            Ok((parent, name))
        }
        _ => Err(Errno::INVAL.into()),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOENT | Errno::NOTDIR)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        (dir, root)
    }

    fn attributes() -> Attributes {
        Attributes {
            mode: 0o640,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        }
    }

    #[test]
    fn a_file_is_written_whole_and_leaves_nothing_beside_it() {
        let (_dir, root) = root();
        let path = "/etc/a/x.container";
        assert_eq!(root.missing_directories(path), ["/etc", "/etc/a"]);
        root.make_directories(path, 0o755).unwrap();
        root.write(path, b"one", attributes()).unwrap();
        root.write(path, b"two", attributes()).unwrap();
        let Entry::Regular { content, mode, .. } = root.read(path).unwrap() else {
            panic!("a file");
        };
        assert_eq!((content.as_slice(), mode), (&b"two"[..], 0o640));
        assert_eq!(root.list("/etc/a").unwrap(), ["x.container"]);
        root.remove(path).unwrap();
        assert_eq!(root.read(path).unwrap(), Entry::Absent);
        assert!(root.remove_empty_directory("/etc/a").unwrap());
    }

    #[test]
    fn links_and_dots_on_the_way_are_refused() {
        let (dir, root) = root();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join("etc")).unwrap();
        assert!(root.write("/etc/x.conf", b"", attributes()).is_err());
        assert!(root.read("/etc/x.conf").is_err());
        assert!(root.remove("/etc/x.conf").is_err());
        assert!(root.write("/../x.conf", b"", attributes()).is_err());
        assert!(root.write("/a/..", b"", attributes()).is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let (dir, root) = root();
        let target = dir.path().join("target");
        fs::write(&target, "kept").unwrap();
        std::os::unix::fs::symlink(&target, dir.path().join("x")).unwrap();
        assert!(matches!(root.read("/x").unwrap(), Entry::Link(_)));
        root.write("/x", b"new", attributes()).unwrap();
        assert_eq!(fs::read_to_string(target).unwrap(), "kept");
        assert!(matches!(root.read("/x").unwrap(), Entry::Regular { .. }));
    }
}
