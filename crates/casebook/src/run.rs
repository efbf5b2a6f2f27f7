//! Runs one case in a fresh directory and compares.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use similar::TextDiff;

use crate::archive::Archive;
use crate::session::{self, Step};
use crate::{marks, session::matches};

/// No command of a case takes longer unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the commands of a case find in their environment.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Folders put before the usual ones in `PATH`.
    pub path: Vec<PathBuf>,
    /// Further variables.
    pub env: Vec<(String, String)>,
}

/// Checks one case, or writes its session when blessing.
pub fn check(file: &Path, setup: &Setup, bless: bool) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| format!("cannot read the case: {e}"))?;
    let mut archive = Archive::parse(&text);
    let wanted = session::parse(archive.get("session").unwrap_or(""))?;
    if archive.comment.trim().is_empty() {
        return Err("the case does not say which rule it shows".into());
    }
    let got = transcript(&archive, &wanted, setup).map_err(|e| format!("cannot run: {e}"))?;
    if bless {
        let blessed = bless_steps(wanted, &got);
        archive.set("session", session::print(&blessed));
        return fs::write(file, archive.print()).map_err(|e| format!("cannot write: {e}"));
    }
    compare(&wanted, &got)?;
    pinned(&archive, &session::print(&got))?;
    known_wrong(&archive, &got)
}

/// Keeps a wanted output with `...` in it as long as it still matches.
fn bless_steps(wanted: Vec<Step>, got: &[Step]) -> Vec<Step> {
    let keep = |(w, g): (Step, &Step)| {
        let shown = if matches(&w.shown, &g.shown) {
            w.shown
        } else {
            g.shown.clone()
        };
        Step {
            command: w.command,
            shown,
        }
    };
    wanted.into_iter().zip(got).map(keep).collect()
}

fn compare(wanted: &[Step], got: &[Step]) -> Result<(), String> {
    if wanted
        .iter()
        .zip(got)
        .all(|(w, g)| matches(&w.shown, &g.shown))
    {
        return Ok(());
    }
    let (wanted, got) = (session::print(wanted), session::print(got));
    let diff = TextDiff::from_lines(&wanted, &got);
    Err(format!(
        "the session differs:\n{}",
        diff.unified_diff().header("wanted", "got")
    ))
}

fn pinned(archive: &Archive, transcript: &str) -> Result<(), String> {
    let wanted = marks::wanted(&archive.files);
    if wanted.is_empty() {
        return Ok(());
    }
    let ours = |name: &str| archive.files.iter().any(|(n, _)| n == name);
    let shown: Vec<marks::Pin> = marks::shown(transcript)
        .into_iter()
        .filter(|(file, ..)| ours(file))
        .collect();
    let missing: Vec<_> = wanted.iter().filter(|pin| !shown.contains(pin)).collect();
    let extra: Vec<_> = shown.iter().filter(|pin| !wanted.contains(*pin)).collect();
    if missing.is_empty() && extra.is_empty() {
        return Ok(());
    }
    Err(format!(
        "marked but not shown: {missing:?}\nshown but not marked: {extra:?}"
    ))
}

fn known_wrong(archive: &Archive, got: &[Step]) -> Result<(), String> {
    let todo = archive
        .comment
        .lines()
        .any(|line| line.starts_with("todo: "));
    match (todo, archive.get("right")) {
        (false, None) => Ok(()),
        (true, None) => Err("a `todo:` needs a section `right`".into()),
        (false, Some(_)) => Err("a section `right` needs a line `todo: reason`".into()),
        (true, Some(right)) => {
            let right = session::parse(right)?;
            let now_right = right
                .iter()
                .zip(got)
                .all(|(w, g)| matches(&w.shown, &g.shown));
            match now_right {
                true => Err("the right result appears: take away the `todo:`".into()),
                false => Ok(()),
            }
        }
    }
}

/// Runs the commands and tells what they showed.
fn transcript(archive: &Archive, wanted: &[Step], setup: &Setup) -> io::Result<Vec<Step>> {
    let room = Room::new()?;
    for (name, body) in &archive.files {
        if name == "session" || name == "right" {
            continue;
        }
        let path = room.dir.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, body)?;
    }
    wanted
        .iter()
        .map(|step| room.run(&step.command, setup))
        .collect()
}

/// A directory of the case's own, gone when dropped.
struct Room {
    dir: PathBuf,
    base: PathBuf,
}

static ROOMS: AtomicU32 = AtomicU32::new(0);

impl Room {
    fn new() -> io::Result<Room> {
        let number = ROOMS.fetch_add(1, Ordering::Relaxed);
        let name = format!("lath-case-{}-{number}", std::process::id());
        let base = std::env::temp_dir().join(name);
        let dir = base.join("dir");
        fs::create_dir_all(&dir)?;
        Ok(Room {
            dir: dir.canonicalize()?,
            base,
        })
    }

    fn run(&self, command: &str, setup: &Setup) -> io::Result<Step> {
        let (out, err) = (self.base.join("stdout"), self.base.join("stderr"));
        let mut path: Vec<PathBuf> = setup.path.clone();
        path.extend(
            ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].map(PathBuf::from),
        );
        let path = std::env::join_paths(path).map_err(io::Error::other)?;
        let mut child = Command::new("/bin/sh")
            .args(["-c", command])
            .current_dir(&self.dir)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.base.join("home"))
            .env("LANG", "C.UTF-8")
            .envs(setup.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?)
            .spawn()?;
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                child.kill()?;
                child.wait()?;
                return Err(io::Error::other(format!("`{command}` hangs")));
            }
            thread::sleep(Duration::from_millis(2));
        };
        let exit = status.code().unwrap_or(-1);
        let shown = session::show(&self.read(&out)?, &self.read(&err)?, exit);
        Ok(Step {
            command: command.to_owned(),
            shown,
        })
    }

    /// A file as text; the case's directory is shown as `$DIR`.
    fn read(&self, file: &Path) -> io::Result<String> {
        let mut bytes = Vec::new();
        File::open(file)?.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.replace(&*self.dir.to_string_lossy(), "$DIR"))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}
