//! Bytes from files and standard input, and which files a directory holds.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use super::args::Format;

/// Larger files are not read.
const MOST: u64 = i32::MAX as u64;

/// Something of the world that did not work: one line, exit status 2.
#[derive(Debug)]
pub struct Failure(pub String);

impl Failure {
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure(message.into())
    }

    pub fn open(name: &str, error: &io::Error) -> Failure {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
            io::ErrorKind::NotADirectory => "a part of the path is no directory".to_owned(),
            _ => error.to_string(),
        };
        Failure(format!("cannot open `{name}`: {why}"))
    }
}

/// A whole file, up to two gigabytes.
pub fn file(name: &str) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| Failure::open(name, &error);
    let file = File::open(name).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if meta.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    if meta.len() > MOST {
        return Err(Failure(format!(
            "cannot read `{name}`: it is larger than two gigabytes"
        )));
    }
    limited(file, usize::try_from(meta.len()).unwrap_or(0), name)
}

pub fn standard_input() -> Result<Vec<u8>, Failure> {
    limited(io::stdin().lock(), 0, "standard input")
}

fn limited(from: impl Read, size: usize, name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::with_capacity(size + 1);
    let read = from.take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::open(name, &error))?;
    if bytes.len() as u64 > MOST {
        return Err(Failure(format!(
            "cannot read `{name}`: it is larger than two gigabytes"
        )));
    }
    Ok(bytes)
}

/// The format that a file's name tells.
pub fn format_of(name: &str) -> Option<Format> {
    let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "yaml" | "yml" => Some(Format::Yaml),
        "json" => Some(Format::Json),
        "toml" => Some(Format::Toml),
        "cue" => Some(Format::Cue),
        _ => None,
    }
}

/// The names in a directory, in lexicographic order, each with the directory before it.
fn listed(directory: &str) -> Result<Vec<String>, Failure> {
    let failed = |error: io::Error| Failure::open(directory, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.path().is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            names.push(format!("{}/{name}", directory.trim_end_matches('/')));
        }
    }
    names.sort();
    Ok(names)
}

/// The overlays in a directory: its values files in lexicographic order. Hidden files and files
/// of other kinds are passed over.
pub fn overlay_files(directory: &str) -> Result<Vec<String>, Failure> {
    let mut names = listed(directory)?;
    let hidden = |name: &str| name.rsplit('/').next().is_some_and(|n| n.starts_with('.'));
    names.retain(|name| !hidden(name) && format_of(name).is_some());
    if names.is_empty() {
        return Err(Failure(format!(
            "the directory `{directory}` has no values files (.yaml, .yml, .json, .toml)"
        )));
    }
    Ok(names)
}

/// What a module's directory holds.
pub struct ModuleFiles {
    pub values: String,
    pub schema: Option<String>,
}

/// The files of a module that is a directory: `values.yaml` and its like, with Helm's
/// `values.schema.json` if it is there. CUE comes first.
pub fn module_files(directory: &str) -> Result<ModuleFiles, Failure> {
    let names = listed(directory)?;
    let root = directory.trim_end_matches('/');
    let find = |wanted: &str| {
        let path = format!("{root}/{wanted}");
        names.contains(&path).then_some(path)
    };
    let values = [
        "module.cue",
        "values.cue",
        "values.yaml",
        "values.yml",
        "values.json",
        "values.toml",
    ]
    .into_iter()
    .find_map(find)
    .or_else(|| names.iter().find(|name| name.ends_with(".cue")).cloned());
    match values {
        Some(values) => Ok(ModuleFiles {
            values,
            schema: find("values.schema.json"),
        }),
        None => Err(Failure(format!(
            "the directory `{directory}` is no module: it has no CUE files and no values.yaml, values.json or values.toml"
        ))),
    }
}

/// What to call a module: the name of its file, or of its directory where the file's name says nothing.
pub fn module_name(file: &str) -> String {
    let path = Path::new(file);
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    match stem {
        Some(stem) if !matches!(stem.as_str(), "values" | "module" | "-") => stem,
        stem => {
            let parent = path.parent().and_then(Path::file_name);
            let parent = parent.map(|name| name.to_string_lossy().into_owned());
            parent.or(stem).unwrap_or_else(|| "module".to_owned())
        }
    }
}

/// What to call a module, whatever it is.
pub fn name_of(module: &str) -> String {
    match Path::new(module).is_dir() {
        true => directory_name(module),
        false if module == "-" => "module".to_owned(),
        false => module_name(module),
    }
}

pub fn directory_name(directory: &str) -> String {
    let full = fs::canonicalize(directory).unwrap_or_else(|_| directory.into());
    match full.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => directory.to_owned(),
    }
}

/// When a file was last changed, and its size; nothing where there is no file.
pub type Stamp = Option<(SystemTime, u64)>;

pub fn stamp(name: &str) -> Stamp {
    let meta = fs::metadata(name).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}
