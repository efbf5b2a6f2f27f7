//! The world: a package's folder, documents, the clock, and a key for fingerprints.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use apps::assemble::assemble;
use apps::bundle::FingerprintKey;
use apps::codes;
use apps::decide::{Command, decide};
use apps::documents::Documents;
use apps::instant::Instant;
use apps::package::{File, Package, Reading};
use apps::resolve::Context;
use apps::secrets::Scanner;
use apps::snapshot::Snapshot;
use apps::value::Value;
use base::{Diagnostic, Sources, Symbols};

use super::Question;

/// Packages are manifests and schemas; what is larger than this is not one.
const LARGEST_FILE: u64 = 64 << 20;
const MOST_FILES: usize = 10_000;

/// Why a command cannot answer.
pub enum Failure {
    /// The findings say it.
    Findings,
    /// Usage, or a file that cannot be opened.
    World(String),
}

/// Everything that was read in one run.
pub struct Loaded {
    pub sources: Sources,
    pub symbols: Symbols,
    pub scanner: Arc<Scanner>,
    pub findings: Vec<Diagnostic>,
    read: Documents,
}

impl Default for Loaded {
    fn default() -> Loaded {
        Loaded {
            sources: Sources::new(),
            symbols: Symbols::new(),
            scanner: Arc::new(Scanner::new()),
            findings: Vec::new(),
            read: Documents::default(),
        }
    }
}

impl Loaded {
    /// Reads all documents. A document that is wrong stops the answer; a credential in one does
    /// not: it is withheld.
    pub fn documents(&mut self, paths: &[PathBuf]) -> Result<(), Failure> {
        for path in paths {
            for file in document_files(path)? {
                let bytes = fs::read(&file).map_err(|e| unopenable(&file, &e))?;
                let mut reading = Reading {
                    sources: &mut self.sources,
                    symbols: &mut self.symbols,
                    scanner: &self.scanner,
                };
                let name = file.to_string_lossy();
                self.read
                    .read(&name, bytes, &mut reading, &mut self.findings);
            }
        }
        self.stop_at_errors()
    }

    fn stop_at_errors(&self) -> Result<(), Failure> {
        let fatal = |f: &&Diagnostic| f.is_error() && f.code != codes::PLAINTEXT_SECRET;
        match self.findings.iter().find(fatal) {
            Some(_) => Err(Failure::Findings),
            None => Ok(()),
        }
    }

    pub fn package(&mut self, folder: &Path) -> Result<Arc<Package>, Failure> {
        let mut files = Vec::new();
        collect(folder, folder, &mut files)?;
        let mut reading = Reading {
            sources: &mut self.sources,
            symbols: &mut self.symbols,
            scanner: &self.scanner,
        };
        let (package, findings) = Package::read(&folder.to_string_lossy(), &files, &mut reading);
        self.findings.extend(findings);
        package.ok_or(Failure::Findings)
    }

    pub fn snapshot(&mut self, package: &Arc<Package>) -> Result<Snapshot, Failure> {
        let snapshot = assemble(
            Arc::clone(package),
            &self.read,
            &self.symbols,
            Arc::clone(&self.scanner),
            &mut self.findings,
        );
        for span in snapshot.plaintext_spans() {
            self.sources.cover(span);
        }
        self.stop_at_errors()?;
        Ok(snapshot)
    }

    /// The context of a question; its runtime input is decided like every other write.
    pub fn context(
        &mut self,
        snapshot: &Snapshot,
        question: &Question,
    ) -> Result<Context, Failure> {
        let mut context = Context {
            tenant: Some(question.tenant.clone()),
            workspace: question.workspace.clone(),
            user: question.user.clone(),
            now: time(question.documents.at.as_deref())?,
            ..Context::default()
        };
        let mut values: Vec<(String, Value)> = Vec::new();
        for argument in &question.set {
            let (name, text) = argument
                .split_once('=')
                .ok_or_else(|| Failure::World("`--set` needs KEY=VALUE".to_owned()))?;
            values.push((name.to_owned(), self.runtime_value(text)));
        }
        let command = Command::Runtime {
            context: &context,
            values: &values,
        };
        let decision = decide(snapshot, context.now, command);
        context.runtime = decision.overlay.unwrap_or_default();
        Ok(context)
    }

    /// A value as JSON, or else the text itself.
    fn runtime_value(&mut self, text: &str) -> Value {
        let source = Sources::new().add("<command line>", "");
        let options = data::Options::default();
        let format = data::Format::Json;
        let parsed = data::parse(format, source, text.into(), &mut self.symbols, &options);
        match parsed.documents.first() {
            Some(tree) if !parsed.has_errors() => {
                Value::from_tree(tree, tree.root(), &self.symbols)
            }
            _ => Value::string(text),
        }
    }
}

pub fn unopenable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::World(format!("cannot open {}: {error}", path.display()))
}

/// A file, or the YAML and JSON files of a folder in order.
pub fn document_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|e| unopenable(path, &e))? {
        let file = entry.map_err(|e| unopenable(path, &e))?.path();
        let name = file.to_string_lossy();
        let read = data::Format::from_name(&name).is_some() || name.ends_with(".cue");
        if file.is_file() && read {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// All files of a package. Links are no part of it: what they point at is not what was hashed.
fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder).map_err(|e| unopenable(folder, &e))? {
        let entry = entry.map_err(|e| unopenable(folder, &e))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|e| unopenable(&path, &e))?;
        if kind.is_dir() {
            collect(root, &path, files)?;
            continue;
        }
        if !kind.is_file() {
            let message = format!(
                "{} is no plain file: a package has no links",
                path.display()
            );
            return Err(Failure::World(message));
        }
        let size = entry.metadata().map_err(|e| unopenable(&path, &e))?.len();
        if size > LARGEST_FILE || files.len() >= MOST_FILES {
            let message = format!("{} is too large for a package", root.display());
            return Err(Failure::World(message));
        }
        let relative = path.strip_prefix(root).unwrap_or(&path);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        files.push(File {
            path: parts.join("/"),
            bytes: fs::read(&path).map_err(|e| unopenable(&path, &e))?,
        });
    }
    Ok(())
}

/// The time to answer for: the given one, or now.
pub fn time(at: Option<&str>) -> Result<Instant, Failure> {
    match at {
        Some(text) => Instant::parse(text).ok_or_else(|| {
            Failure::World(format!(
                "`{text}` is no time: write 2026-04-01 or 2026-04-01T12:00:00Z"
            ))
        }),
        None => {
            let since = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            Ok(Instant(i64::try_from(since.as_secs()).unwrap_or(i64::MAX)))
        }
    }
}

/// The given key, or one that nobody else knows.
pub fn fingerprint_key(file: Option<&Path>) -> Result<FingerprintKey, Failure> {
    if let Some(path) = file {
        let bytes = fs::read(path).map_err(|e| unopenable(path, &e))?;
        return Ok(FingerprintKey::new(bytes));
    }
    let random = Path::new("/dev/urandom");
    let mut bytes = [0; 32];
    fs::File::open(random)
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes))
        .map_err(|e| unopenable(random, &e))?;
    Ok(FingerprintKey::new(bytes))
}
