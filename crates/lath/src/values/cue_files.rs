//! A CUE module or overlay from the disk: which files it is made of, and what they import.
//!
//! A directory is a package if its files say so, else its `module.cue` and `values.cue` together. The CUE module that
//! resolves imports is the one around the file or directory itself, wherever the command runs.

use std::cell::RefCell;
use std::path::Path;

use base::{Sources, Symbols};
use cue::load::{Files, Loaded, Request, join, parent};

use super::read::{self, Failure, Stamp};
use crate::cue::disk::Disk;

/// The disk, remembering every file and directory that was asked for.
#[derive(Default)]
pub struct Watching {
    asked: RefCell<Vec<(String, Stamp)>>,
}

impl Watching {
    /// Each of them as it was just before it was read.
    pub fn asked(self) -> Vec<(String, Stamp)> {
        self.asked.into_inner()
    }

    fn note(&self, path: &str) {
        let mut asked = self.asked.borrow_mut();
        if !asked.iter().any(|(known, _)| known == path) {
            asked.push((path.to_owned(), read::stamp(path)));
        }
    }
}

impl Files for Watching {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.note(path);
        Disk.read(path)
    }

    fn files(&self, directory: &str) -> Option<Vec<String>> {
        self.note(directory);
        Disk.files(directory)
    }

    fn directories(&self, directory: &str) -> Vec<String> {
        self.note(directory);
        Disk.directories(directory)
    }
}

/// Loads a CUE file, or a directory of them. What is wrong with the files is in the result.
pub fn load(
    name: &str,
    standard_input: Option<Vec<u8>>,
    files: &Watching,
    sources: &mut Sources,
    symbols: &mut Symbols,
) -> Result<Loaded, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("cannot tell the working directory: {error}")))?;
    let here = here.to_string_lossy().into_owned();
    let path = join(&here, name);
    let is_directory = Path::new(&path).is_dir();
    let given = name.trim_end_matches('/');
    let (directory, shown) = match (is_directory, given.rsplit_once('/')) {
        (true, _) => (path.clone(), given.trim_start_matches("./").to_owned()),
        (false, Some((shown, _))) => (parent(&path).to_owned(), shown.to_owned()),
        (false, None) => (here.clone(), String::new()),
    };
    let mut request = Request {
        directory: directory.clone(),
        module_from: Some(directory.clone()),
        shown_as: Some((directory, if shown == "." { String::new() } else { shown })),
        ..Request::default()
    };
    match is_directory {
        false if name == "-" => {
            request.files.push("-".to_owned());
            request.standard_input = standard_input;
        }
        false => request.files.push(path),
        true => match own_files(&path, files) {
            Some(own) => request.files = own,
            None => request.packages.push(".".to_owned()),
        },
    }
    Ok(cue::load::load(&request, files, sources, symbols))
}

/// What a CUE module calls itself: `metadata: name`, else its package.
pub fn name(loaded: &Loaded, symbols: &Symbols) -> Option<String> {
    let instance = loaded.instances.first()?;
    let package = Some(&instance.package).filter(|name| !name.is_empty());
    let name = instance.text_at(&["metadata", "name"], symbols);
    name.or_else(|| package.cloned())
}

/// The files of a directory whose files belong to no package; nothing where they do.
fn own_files(directory: &str, files: &Watching) -> Option<Vec<String>> {
    let own = ["module.cue", "values.cue"].map(|name| join(directory, name));
    let mut found = Vec::new();
    for path in own {
        let Some(bytes) = files.read(&path) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut scratch = Sources::new();
        let id = scratch.add("", text.as_ref());
        let text = scratch.get(id).text().clone();
        let parsed = cue::syntax::parse_file(id, &text, &mut Symbols::new());
        if parsed.file.package().is_some() {
            return None;
        }
        found.push(path);
    }
    (!found.is_empty()).then_some(found)
}
