//! Real generators and throw-away directories for the tests of this crate.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use units::Version;

/// A Quadlet generator that `tests/setup/hosts` fetched.
pub struct Generator {
    pub program: PathBuf,
    pub manual: PathBuf,
    pub version: Version,
}

/// The generators of two releases, oldest first. Without the first a test fails: an oracle that is not
/// asked proves nothing. The second is there where the package archive has it.
pub fn generators() -> Vec<Generator> {
    let cache = std::env::var_os("LATH_CACHE").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| {
        let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache");
        let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
        cache.join("lath-test")
    });
    let mut found = Vec::new();
    for suite in ["trixie", "sid"] {
        let directory = cache.join(format!("quadlet-{suite}"));
        let program = directory.join("quadlet");
        if !program.exists() {
            let shown = program.display();
            assert!(
                suite == "sid",
                "no Quadlet generator at {shown}: run tests/setup/hosts first"
            );
            eprintln!("no newer Quadlet generator at {shown}: only one release is asked");
            continue;
        }
        let out = Command::new(&program).arg("-version").output().unwrap();
        let version = String::from_utf8(out.stdout).unwrap();
        found.push(Generator {
            program,
            manual: directory.join("podman-systemd.unit.5"),
            version: Version::parse(version.trim()).unwrap(),
        });
    }
    found
}

/// What a generator makes of a directory: services by name, and what it says.
pub struct Generated {
    pub services: BTreeMap<String, Vec<String>>,
    pub said: String,
}

impl Generator {
    /// Runs the generator over a directory. Comments go, and the words of commands are sorted: the
    /// generator prints podman's arguments in an order that varies from run to run.
    pub fn run(&self, directory: &Path) -> Generated {
        let out = Command::new(&self.program)
            .args(["-dryrun", "-no-kmsg-log"])
            .env("QUADLET_UNIT_DIRS", directory)
            .output()
            .unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        let shown = directory.to_str().unwrap();
        let mut services: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut lines: &mut Vec<String> = &mut Vec::new();
        let mut sink = Vec::new();
        std::mem::swap(lines, &mut sink);
        for line in text.lines() {
            let name = line.strip_prefix("---").and_then(|l| l.strip_suffix("---"));
            if let Some(name) = name {
                lines = services.entry(name.to_owned()).or_default();
                continue;
            }
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let line = line.replace(shown, "DIR");
            match line.split_once('=') {
                Some((key, value)) if key.starts_with("Exec") => {
                    let mut words: Vec<&str> = value.split_whitespace().collect();
                    words.sort_unstable();
                    lines.push(format!("{key}={}", words.join(" ")));
                }
                _ => lines.push(line),
            }
        }
        Generated {
            services,
            said: String::from_utf8_lossy(&out.stderr).replace(shown, "DIR"),
        }
    }
}

/// A directory that goes away with its owner.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("lath-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file and the directories above it; anybody may read them.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The same numbers every time, from a seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
