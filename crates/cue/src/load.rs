//! From command-line inputs to packages: which files belong together, and what they import.
//!
//! A package is the files of a directory with the same `package` clause, and those of the
//! directories above it up to the module's root (the directory that holds `cue.mod`). Imports are
//! resolved within the module and in `cue.mod/{gen,pkg,usr}`; there is no network. Files can be
//! left out by `@if(…)`, `@ignore()`, and names that end in `_test.cue` or `_tool.cue` or begin
//! with `.` or `_`. `@tag(name)` gives a field a value from outside.
//!
//! The loader parses but does not evaluate, and reads through [`Files`] only.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Code, Diagnostic, SourceId, Sources, Span, Symbols};

use crate::syntax::ast::{Expr, File};
use crate::syntax::{literal, parse_file};

mod build;
mod data;
mod embed;
mod files;
mod import_path;
mod imports;
mod input;
mod module;
mod package;
mod remarks;
mod sections;
mod tags;

pub use data::{data_to_cue, document_to_cue};
pub use files::{Files, MemoryFiles, join, parent, relative};
pub use import_path::ImportPath;
pub use input::{Encoding, FileArgument, Inputs, Meaning};
pub use module::Module;

pub const LOAD: Code = Code("cue-load");

/// What to load, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The absolute path of the directory that relative paths start from.
    pub directory: String,
    pub packages: Vec<String>,
    /// CUE files given one by one; they make one package.
    pub files: Vec<String>,
    /// `name` or `name=value`.
    pub tags: Vec<String>,
    /// Values for `@tag(x,var=name)`, by name; nothing is injected if there are none.
    pub variables: BTreeMap<String, Variable>,
    /// What standard input holds, for the file `-`.
    pub standard_input: Option<Vec<u8>>,
    /// The absolute path of the directory from which the module is looked for, where it is another than `directory`.
    pub module_from: Option<String>,
    /// An absolute directory, and how it is to be shown in the names of files below it.
    pub shown_as: Option<(String, String)>,
}

/// A value for `@tag(x,var=name)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable {
    Text(String),
    Number(String),
}

/// A package and its files.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Identifies the package: its import path with its name, if it has one.
    pub path: String,
    /// The name in the package clause; empty if there is none.
    pub package: String,
    pub directory: String,
    /// The files with fewer directories in their paths first, then by name.
    pub files: Vec<Arc<File>>,
    /// Made of files that were given one by one.
    pub of_files: bool,
    /// The [`ImportPath::identity`] of the packages it imports, standard ones aside.
    pub imports: Vec<String>,
}

impl Instance {
    /// What its files say about themselves above their package clauses.
    pub fn docs(&self) -> Vec<String> {
        let docs: Vec<Vec<String>> = self
            .files
            .iter()
            .map(|file| file.docs())
            .filter(|d| !d.is_empty())
            .collect();
        docs.join(&String::new())
    }
}

/// The result of loading. With errors it is not complete.
#[derive(Debug, Default)]
pub struct Loaded {
    /// What was asked for, in order.
    pub instances: Vec<Instance>,
    /// What is imported, directly or not; an instance comes after those it imports.
    pub imported: Vec<Instance>,
    /// Import paths as they are written, with the [`Instance::path`] of what they mean.
    pub spellings: BTreeMap<String, String>,
    pub module: Option<Module>,
    pub errors: Vec<Diagnostic>,
}

impl Loaded {
    /// The instance that is made of single files; an empty one if there was none.
    pub fn of_files(&mut self) -> &mut Instance {
        let at = self.instances.iter().position(|i| i.of_files);
        let at = at.unwrap_or_else(|| {
            self.instances.push(Instance {
                of_files: true,
                ..Instance::default()
            });
            self.instances.len() - 1
        });
        self.instances.get_mut(at).expect("it was found or added")
    }
}

/// Loads packages and files.
pub fn load(
    request: &Request,
    files: &dyn Files,
    sources: &mut Sources,
    symbols: &mut Symbols,
) -> Loaded {
    let mut loader = Loader {
        request,
        files,
        sources,
        symbols,
        module: None,
        used_tags: Vec::new(),
        parsed: BTreeMap::new(),
        imported: Vec::new(),
        loading: Vec::new(),
        spellings: BTreeMap::new(),
    };
    match loader.run() {
        Ok(instances) => Loaded {
            instances,
            imported: loader.imported,
            spellings: loader.spellings,
            module: loader.module,
            errors: Vec::new(),
        },
        Err(errors) => Loaded {
            errors,
            module: loader.module,
            ..Loaded::default()
        },
    }
}

/// Findings that stop loading.
type Failed = Vec<Diagnostic>;

struct Loader<'a> {
    request: &'a Request,
    files: &'a dyn Files,
    sources: &'a mut Sources,
    symbols: &'a mut Symbols,
    module: Option<Module>,
    /// Tags that some `@if` asks for.
    used_tags: Vec<String>,
    /// Files that were read, by path.
    parsed: BTreeMap<String, (Arc<File>, Vec<Diagnostic>)>,
    imported: Vec<Instance>,
    /// Imports that are being loaded, to find cycles.
    loading: Vec<String>,
    spellings: BTreeMap<String, String>,
}

/// A finding without a place.
fn plain(message: impl Into<String>) -> Failed {
    vec![Diagnostic::error(LOAD, message)]
}

impl Loader<'_> {
    fn run(&mut self) -> Result<Vec<Instance>, Failed> {
        self.module = self.find_module()?;
        let mut instances = Vec::new();
        for argument in &self.request.packages {
            instances.extend(self.packages_of(argument)?);
        }
        if !self.request.files.is_empty() {
            instances.push(self.package_of_files()?);
        }
        for instance in &mut instances {
            self.resolve_imports(instance)?;
        }
        self.inject(&mut instances)?;
        Ok(instances)
    }

    /// How a path is shown.
    fn shown(&self, path: &str) -> String {
        if let Some((directory, name)) = &self.request.shown_as
            && let Some(rest) = path.strip_prefix(directory.as_str())
            && let Some(rest) = rest.strip_prefix('/')
        {
            return match name.as_str() {
                "" => rest.to_owned(),
                name => format!("{}/{rest}", name.trim_end_matches('/')),
            };
        }
        relative(&self.request.directory, path)
    }

    /// Reads and parses a file, once.
    fn parse(&mut self, path: &str) -> Result<(Arc<File>, Vec<Diagnostic>), Failed> {
        if let Some(done) = self.parsed.get(path) {
            return Ok(done.clone());
        }
        let (name, bytes) = if path == "-" {
            let name = match self.request.shown_as {
                Some(_) => "<stdin>",
                None => "-",
            };
            (name.to_owned(), self.request.standard_input.clone())
        } else {
            (self.shown(path), self.files.read(path))
        };
        let Some(bytes) = bytes else {
            return Err(plain(format!("open {path}: no such file or directory")));
        };
        let (id, finding) = self.sources.add_bytes(name, strip_bom(bytes));
        let text = Arc::clone(self.sources.get(id).text());
        let result = match finding {
            Some(mut finding) => {
                finding.message = "illegal UTF-8 encoding".to_owned();
                (Arc::new(File::new(id, text)), vec![finding])
            }
            None => {
                let parsed = parse_file(id, &text, self.symbols);
                (Arc::new(parsed.file), parsed.errors)
            }
        };
        self.parsed.insert(path.to_owned(), result.clone());
        Ok(result)
    }

    /// The name of a file's package; empty if it has no clause.
    fn package_name(&self, file: &File) -> String {
        let name = file.package().map(|name| self.symbols.name(name.symbol));
        match name {
            None | Some("_") => String::new(),
            Some(name) => name.to_owned(),
        }
    }

    /// The import paths of a file, with their places.
    fn import_paths(&self, file: &File) -> Vec<(String, Span)> {
        let mut paths = Vec::new();
        for id in file.imports() {
            let path = file.import(id).path;
            if let Expr::Literal { text, .. } = file.expr(path)
                && let Ok(text) = literal::unquote_string(file.str(text))
            {
                let import = file.span_of(crate::syntax::ast::NodeRef::Import(id));
                paths.push((text, import));
            }
        }
        paths
    }
}

fn strip_bom(bytes: Vec<u8>) -> Vec<u8> {
    match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => bytes,
    }
}

/// Files with fewer directories first, then by name.
fn sort_paths(paths: &mut [String]) {
    paths.sort_by(|a, b| {
        let depth = |path: &str| path.matches('/').count();
        depth(a).cmp(&depth(b)).then_with(|| a.cmp(b))
    });
}

/// No source of its own.
const NOWHERE: SourceId = SourceId(u32::MAX);
