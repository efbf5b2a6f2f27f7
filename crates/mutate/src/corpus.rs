//! Where mutation begins: the texts that the project has anyway.

use std::fs;
use std::path::{Path, PathBuf};

/// Adds the CUE texts below a folder.
pub fn collect(folder: &Path, out: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, out);
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        match path.extension().and_then(|e| e.to_str()) {
            Some("cue") => out.push(text),
            Some("txtar") => {
                for section in text.split("\n-- ").skip(1) {
                    if let Some((name, body)) = section.split_once(" --\n")
                        && name.ends_with(".cue")
                    {
                        out.push(body.to_owned());
                    }
                }
            }
            _ => {}
        }
    }
}
