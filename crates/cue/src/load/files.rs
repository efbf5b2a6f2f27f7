//! Where the loader finds files: a tree of directories with absolute, `/`-separated paths.

use std::collections::{BTreeMap, BTreeSet};

/// A readable tree of files.
pub trait Files {
    /// The content of a file; none if there is no such file.
    fn read(&self, path: &str) -> Option<Vec<u8>>;

    /// The names of the files of a directory, sorted; none if there is no such directory.
    fn files(&self, directory: &str) -> Option<Vec<String>>;

    /// The names of the directories in a directory, sorted.
    fn directories(&self, directory: &str) -> Vec<String>;
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<String, Vec<u8>>,
}

impl MemoryFiles {
    pub fn new() -> MemoryFiles {
        MemoryFiles::default()
    }

    /// Adds a file by its absolute path.
    pub fn add(&mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), content.into());
    }

    fn below<'a>(&'a self, directory: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let prefix = format!("{}/", directory.trim_end_matches('/'));
        let start = prefix.clone();
        let paths = self.files.range(start..).map(|(path, _)| path.as_str());
        let len = prefix.len();
        paths
            .take_while(move |path| path.starts_with(&prefix))
            .filter_map(move |path| path.get(len..))
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned()
    }

    fn files(&self, directory: &str) -> Option<Vec<String>> {
        let mut any = false;
        let mut names = Vec::new();
        for rest in self.below(directory) {
            any = true;
            if !rest.contains('/') {
                names.push(rest.to_owned());
            }
        }
        any.then_some(names)
    }

    fn directories(&self, directory: &str) -> Vec<String> {
        let first = |rest: &str| rest.split_once('/').map(|(name, _)| name.to_owned());
        let names: BTreeSet<String> = self.below(directory).filter_map(first).collect();
        names.into_iter().collect()
    }
}

/// Joins a directory and a path that may go up, and removes `.` and `..`.
pub fn join(directory: &str, path: &str) -> String {
    let whole = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{directory}/{path}")
    };
    let mut elements: Vec<&str> = Vec::new();
    for element in whole.split('/') {
        match element {
            "" | "." => {}
            ".." => {
                elements.pop();
            }
            _ => elements.push(element),
        }
    }
    format!("/{}", elements.join("/"))
}

/// The directory above.
pub fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => path.get(..at).unwrap_or("/"),
    }
}

/// How a path is shown to someone working in `directory`: `./a.cue`, `../b.cue`.
pub fn relative(directory: &str, path: &str) -> String {
    let split = |path: &str| -> Vec<String> {
        let parts = path.split('/').filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (from, to) = (split(directory), split(path));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut out = vec!["..".to_owned(); from.len() - common];
    out.extend(to.into_iter().skip(common));
    match out.first().map(String::as_str) {
        None => ".".to_owned(),
        Some("..") => out.join("/"),
        Some(_) => format!("./{}", out.join("/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        assert_eq!(join("/a/b", "../c/./d"), "/a/c/d");
        assert_eq!(join("/a", "/x"), "/x");
        assert_eq!(parent("/a/b"), "/a");
        assert_eq!(parent("/a"), "/");
        assert_eq!(relative("/a/b", "/a/b/c.cue"), "./c.cue");
        assert_eq!(relative("/a/b", "/a/c.cue"), "../c.cue");
        assert_eq!(relative("/a", "/a"), ".");
    }

    #[test]
    fn a_tree_in_memory() {
        let mut files = MemoryFiles::new();
        files.add("/m/a.cue", "1");
        files.add("/m/sub/b.cue", "2");
        files.add("/mx", "3");
        assert_eq!(files.files("/m"), Some(vec!["a.cue".to_owned()]));
        assert_eq!(files.directories("/m"), ["sub"]);
        assert_eq!(files.files("/none"), None);
        assert_eq!(files.read("/m/sub/b.cue"), Some(b"2".to_vec()));
    }
}
