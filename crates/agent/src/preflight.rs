//! Runs the whole future tree through the host's own generators before anything is touched.
//!
//! Quadlet drops a unit that it does not like, and the service is simply gone after the next
//! reload. So the future unit directories are built beside the real ones (what is wanted, and the
//! foreign files that stay), Quadlet is run on them, and each unit must come out; then
//! `systemd-analyze verify` looks at those that change.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hosts::plan::{Applied, Plan, Role, Start, Target};

use crate::failure::{Class, Failure, Outcome};
use crate::layout::Layout;
use crate::program;

const PATIENCE: Duration = Duration::from_secs(120);

/// What the generators said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// One line for people, such as `Quadlet 5.4.2 accepts all 4 units`.
    pub summary: String,
    pub warnings: Vec<String>,
}

const GENERATORS: [&str; 3] = [
    "/usr/libexec/podman/quadlet",
    "/usr/lib/podman/quadlet",
    "/usr/lib/systemd/system-generators/podman-system-generator",
];

/// A directory that is removed with everything in it when it is no longer needed.
pub struct Stage(pub PathBuf);

impl Stage {
    /// Makes a directory that nobody else can look into. What killed processes left is removed.
    pub fn new(scratch: &Path, what: &str) -> io::Result<Stage> {
        let prefix = format!("lath-{what}-");
        for entry in fs::read_dir(scratch).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix(&prefix));
            if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
                // Another user's is not ours to remove.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let path = scratch.join(format!("{prefix}{}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Stage(path))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn preflight(
    layout: &Layout,
    target: &Target,
    applied: &Applied,
    plan: &Plan,
) -> Outcome<Report> {
    let mut report = Report::default();
    if !layout.live || plan.is_empty() {
        return Ok(report);
    }
    let failed =
        |error: io::Error| Failure::file("stage in", &layout.scratch.display().to_string(), &error);
    let stage = Stage::new(&layout.scratch, "preflight").map_err(failed)?;
    build(layout, target, applied, &stage.0).map_err(failed)?;
    let quadlets = run_quadlet(layout, target, &stage.0, &mut report)?;
    let verified = run_verify(layout, target, plan, &stage.0, &mut report)?;
    report.summary = [quadlets, verified]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ");
    Ok(report)
}

/// Builds the future directories: `quadlets` and `units`.
fn build(layout: &Layout, target: &Target, applied: &Applied, stage: &Path) -> io::Result<()> {
    for directory in ["quadlets", "units", "generated"] {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(stage.join(directory))?;
    }
    for (installed, staged) in [(&layout.quadlets, "quadlets"), (&layout.units, "units")] {
        copy_foreign(installed, &stage.join(staged), target, applied, 0)?;
    }
    for (path, file) in &target.files {
        let Some(place) = staged(layout, path, stage) else {
            continue;
        };
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        let content = target
            .contents
            .get(&file.sha256)
            .map_or(&[][..], |content| content);
        let _ = fs::remove_file(&place);
        match file.link {
            true => symlink(String::from_utf8_lossy(content).as_ref(), &place)?,
            false => fs::write(&place, content)?,
        }
    }
    Ok(())
}

fn staged(layout: &Layout, path: &str, stage: &Path) -> Option<PathBuf> {
    let below = |directory: &str, name: &str| {
        let rest = path.strip_prefix(directory)?.strip_prefix('/')?;
        Some(stage.join(name).join(rest))
    };
    below(&layout.quadlets, "quadlets").or_else(|| below(&layout.units, "units"))
}

/// Foreign files stay, so they take part: a foreign Quadlet may be what ours refers to.
fn copy_foreign(
    from: &str,
    to: &Path,
    target: &Target,
    applied: &Applied,
    depth: usize,
) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
        let path = format!("{from}/{name}");
        if target.files.contains_key(&path) || applied.owns(&path) {
            continue;
        }
        let kind = entry.file_type()?;
        let place = to.join(name);
        if kind.is_dir() && depth < 4 {
            fs::create_dir_all(&place)?;
            copy_foreign(&path, &place, target, applied, depth + 1)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, place)?;
        } else if kind.is_file() && entry.metadata()?.len() < 1 << 20 {
            fs::copy(entry.path(), place)?;
        }
    }
    Ok(())
}

fn run_quadlet(
    layout: &Layout,
    target: &Target,
    stage: &Path,
    report: &mut Report,
) -> Outcome<Option<String>> {
    let wanted: Vec<_> = target
        .units
        .iter()
        .filter(|(_, unit)| {
            let file = target.files.get(&unit.artifact);
            file.is_some_and(|file| file.role == Role::Quadlet)
        })
        .collect();
    if wanted.is_empty() {
        return Ok(None);
    }
    let Some(generator) = GENERATORS.into_iter().find(|path| Path::new(path).exists()) else {
        report
            .warnings
            .push("Quadlet is not installed here: its judgement is missing".to_owned());
        return Ok(None);
    };
    let mut command = Command::new(generator);
    let quadlets = stage.join("quadlets");
    let dirs = match layout.user {
        true => quadlets.display().to_string(),
        false => format!(
            "/run/containers/systemd:{}:/usr/share/containers/systemd",
            quadlets.display()
        ),
    };
    command.env("QUADLET_UNIT_DIRS", dirs);
    command.arg("-no-kmsg-log");
    if layout.user {
        command.arg("-user");
    }
    let out = stage.join("generated");
    command.arg(&out);
    let output = program::run(Class::Preflight, &mut command, PATIENCE)?;
    let said = output.said();
    let mut missing = Vec::new();
    let mut details = Vec::new();
    for (name, unit) in &wanted {
        if out.join(name).exists() || is_instance(name) {
            continue;
        }
        let file = unit.artifact.rsplit('/').next().unwrap_or(&unit.artifact);
        missing.push(format!("`{file}` (no {name} would be there)"));
        details.extend(said.iter().filter(|line| line.contains(file)).cloned());
    }
    if !missing.is_empty() {
        let message = format!("Quadlet would drop {}", missing.join(", "));
        return Err(Failure::new(Class::Preflight, message)
            .details(details)
            .help("the host was not touched"));
    }
    let artifacts: BTreeSet<&str> = wanted
        .iter()
        .map(|(_, unit)| unit.artifact.as_str())
        .collect();
    let version = program::run(
        Class::Preflight,
        Command::new(generator).arg("-version"),
        PATIENCE,
    )?;
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let ours = |line: &&String| {
        let mut names = artifacts.iter().filter_map(|path| path.rsplit('/').next());
        names.any(|name| line.contains(name))
    };
    report.warnings.extend(said.iter().filter(ours).cloned());
    let all = match artifacts.len() {
        1 => "the one unit".to_owned(),
        count => format!("all {count} units"),
    };
    Ok(Some(format!("Quadlet {version} accepts {all}")))
}

/// An instance comes out of its template, not as a file of its own.
fn is_instance(name: &str) -> bool {
    name.split_once('@')
        .is_some_and(|(_, rest)| !rest.starts_with('.'))
}

fn run_verify(
    layout: &Layout,
    target: &Target,
    plan: &Plan,
    stage: &Path,
    report: &mut Report,
) -> Outcome<Option<String>> {
    let changed: BTreeSet<&str> = plan
        .unit_actions()
        .map(|action| action.unit.as_str())
        .collect();
    let mut paths = Vec::new();
    for (name, unit) in &target.units {
        if !changed.contains(name.as_str()) && unit.start != Start::Template {
            continue;
        }
        let places = ["units", "generated"].map(|directory| stage.join(directory).join(name));
        paths.extend(places.into_iter().find(|place| place.exists()));
    }
    if paths.is_empty() {
        return Ok(None);
    }
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--man=no", "--recursive-errors=no"]);
    command.arg(if layout.user { "--user" } else { "--system" });
    // The empty last entry stands for the usual directories.
    let (units, generated) = (stage.join("units"), stage.join("generated"));
    command.env(
        "SYSTEMD_UNIT_PATH",
        format!("{}:{}:", units.display(), generated.display()),
    );
    command.args(&paths);
    let output = match program::run(Class::Preflight, &mut command, PATIENCE) {
        Ok(output) => output,
        Err(failure) => {
            report.warnings.push(failure.message);
            return Ok(None);
        }
    };
    // A program that is itself to be installed as a payload is not there yet.
    let to_come = |line: &String| target.files.keys().any(|path| line.contains(path.as_str()));
    let stage_name = format!("{}/", stage.display());
    let said: Vec<String> = output
        .said()
        .into_iter()
        .filter(|line| !to_come(line))
        .map(|line| line.replace(&stage_name, ""))
        .collect();
    if said.is_empty() {
        return Ok(Some("systemd-analyze verify is silent".to_owned()));
    }
    if output.status.success() {
        report.warnings.extend(said);
        return Ok(Some("systemd-analyze verify has warnings".to_owned()));
    }
    Err(Failure::new(
        Class::Preflight,
        "systemd would not take the units as they are",
    )
    .details(said)
    .help("the host was not touched"))
}
