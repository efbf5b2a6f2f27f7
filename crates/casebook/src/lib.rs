//! The case runner: one txtar file a behaviour, run against the real binary.
//!
//! The format is described in this crate's README. A case passes when the transcript of its
//! commands is the one that its `session` section tells, and when the findings shown are the ones
//! that its input files mark.

mod archive;
mod marks;
mod run;
mod session;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use libtest_mimic::{Arguments, Failed, Trial};

pub use run::Setup;

/// Runs all cases below `crates/*/cases` of the workspace at `root` as one test program, with the
/// arguments of the command line. With `LATH_BLESS=1` in the environment it writes instead.
pub fn main(root: &Path, setup: &Setup) -> ExitCode {
    let arguments = Arguments::from_args();
    let bless = std::env::var_os("LATH_BLESS").is_some_and(|value| !value.is_empty());
    let mut cases = Vec::new();
    if let Err(error) = collect(root, &mut cases) {
        let message = format!("cannot list the cases below {}: {error}", root.display());
        let trial = Trial::test("cases", move || Err(Failed::from(message)));
        return libtest_mimic::run(&arguments, vec![trial]).exit_code();
    }
    let trials = cases.into_iter().map(|(name, path)| {
        let setup = setup.clone();
        Trial::test(name, move || {
            run::check(&path, &setup, bless).map_err(Failed::from)
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// All case files with their names, `crate::path`, sorted.
fn collect(root: &Path, cases: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(root.join("crates"))? {
        let member = entry?;
        let folder = member.path().join("cases");
        if folder.is_dir() {
            let name = member.file_name().to_string_lossy().into_owned();
            walk(&folder, &name, cases)?;
        }
    }
    cases.sort();
    Ok(())
}

fn walk(folder: &Path, prefix: &str, cases: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{prefix}::{stem}");
        if path.is_dir() {
            walk(&path, &name, cases)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "txtar")
        {
            cases.push((name, path));
        }
    }
    Ok(())
}
