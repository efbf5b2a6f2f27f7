//! The file system, as the loader sees it.

use std::fs;
use std::path::Path;

use cue::load::Files;

pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(path).ok()
    }

    fn files(&self, directory: &str) -> Option<Vec<String>> {
        names(directory, |path| !path.is_dir())
    }

    fn directories(&self, directory: &str) -> Vec<String> {
        names(directory, Path::is_dir).unwrap_or_default()
    }
}

fn names(directory: &str, wanted: impl Fn(&Path) -> bool) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).ok()?.flatten() {
        if wanted(&entry.path())
            && let Ok(name) = entry.file_name().into_string()
        {
            found.push(name);
        }
    }
    found.sort();
    Some(found)
}
