//! From flags to values: loads what the inputs name, builds it, and joins it with data.
//!
//! Packages and CUE files are evaluated; data files are unified with them, or with `vet`, `-d` and
//! `--merge=false` checked one document after the other. The rules are those of the reference
//! implementation's `inputs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Diagnostic, Sources};
use cue::eval::report::Reported;
use cue::eval::validate::Config;
use cue::load::{
    self, Encoding, FileArgument, Inputs, Instance, Loaded, Meaning, Request, Variable,
};
use cue::syntax::ParsedExpr;
use cue::syntax::build::Builder;
use cue::{Runtime, Value, syntax};

use super::documents::{Content, Document, read_bytes, read_documents};
use super::flags::Flags;
use super::place::{Context, Step, declarations, labels};
use super::{Failure, disk, plain, schema};

/// A value to print or check.
pub struct Target {
    pub value: Value,
    /// Identifies the package for hidden fields.
    pub package: String,
    /// The name in the package clause.
    pub clause: Option<String>,
    /// It is one document of data, joined with its schema.
    pub of_data: bool,
    /// What its files say about themselves.
    pub docs: Vec<String>,
}

/// Documents and the paths they go to.
type Places<'d> = Vec<(Vec<String>, &'d data::Tree)>;

/// How data is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// All of it is unified with the rest.
    Merged,
    /// Each document is checked on its own.
    Apart,
}

pub struct Session {
    pub sources: Sources,
    pub runtime: Runtime,
    standard_input: Option<Vec<u8>>,
}

impl Session {
    pub fn new() -> Session {
        let mut runtime = Runtime::new();
        let debug = std::env::var("CUE_DEBUG").unwrap_or_default();
        runtime.sort_fields(
            debug
                .split(',')
                .any(|d| matches!(d, "sortfields" | "sortfields=1")),
        );
        Session {
            sources: Sources::new(),
            runtime,
            standard_input: None,
        }
    }

    /// Sets the bounds that were asked for.
    pub fn bound(&mut self, flags: &Flags) {
        let limits = &mut self.runtime.ctx.limits;
        if let Some(steps) = flags.max_steps {
            limits.steps = steps;
        }
        if let Some(fields) = flags.max_fields {
            limits.nodes = usize::try_from(fields).unwrap_or(usize::MAX);
        }
    }

    pub fn findings(&self, findings: &[Diagnostic]) -> Failure {
        plain::print(findings, &self.sources);
        Failure::Reported
    }

    /// Whether a value can be written as data: concrete, complete and without errors.
    pub fn is_data(&mut self, value: Value) -> bool {
        let config = Config {
            concrete: true,
            is_final: true,
            all_errors: true,
            ..Config::default()
        };
        self.runtime.validate(value, config).is_ok()
    }

    pub fn failed(&self, errors: &[Reported]) -> Failure {
        plain::print_reported(errors, &self.sources);
        Failure::Reported
    }

    /// Parses expressions given with a flag, which is their place in reports.
    pub fn expressions(
        &mut self,
        flag: &str,
        texts: &[String],
    ) -> Result<Vec<ParsedExpr>, Failure> {
        let mut parsed = Vec::new();
        for text in texts {
            let id = self.sources.add(flag, text.as_str());
            let text: Arc<str> = Arc::from(text.as_str());
            let expr = syntax::parse_expr(id, &text, self.runtime.symbols());
            if !expr.errors.is_empty() {
                return Err(self.findings(&expr.errors));
            }
            parsed.push(expr);
        }
        Ok(parsed)
    }

    /// Everything the inputs name, as values.
    pub fn targets(&mut self, flags: &Flags, data: Data) -> Result<Vec<Target>, Failure> {
        let schemas = self.expressions("--schema", &flags.schemas)?;
        let mut inputs = Inputs::parse(&flags.inputs)?;
        if inputs == Inputs::default() {
            inputs.packages.push(".".to_owned());
        }
        let steps = Step::parse_all(&flags.path)?;
        let placed = flags.list || !steps.is_empty();
        if placed && !schemas.is_empty() {
            let message = "cannot combine --schema flag with flag \"path\", \"list\", or \"files\"";
            return Err(Failure::World(message.to_owned()));
        }
        if flags.with_context && !placed {
            let message = "flag \"with-context\" must be used with at least one of flag \"path\", \
                           \"list\", or \"files\"";
            return Err(Failure::World(message.to_owned()));
        }
        let (cue_files, data_files): (Vec<FileArgument>, Vec<FileArgument>) =
            inputs.files.iter().cloned().partition(|file| {
                file.encoding == Encoding::Cue && !matches!(file.meaning, Meaning::Schema(_))
            });
        let mut loaded = self.load(flags, inputs.packages, &cue_files)?;
        let mut documents = Vec::new();
        for file in &data_files {
            let found = match file.encoding {
                Encoding::Cue => vec![schema::of_cue(file, self)?],
                _ => self.documents(file)?,
            };
            if let [document] = found.as_slice()
                && let Some(kind) = schema::meaning(file, document, self)
            {
                let mut converted = schema::convert(file, kind, document, true, flags, self)?;
                if flags.package.is_none() {
                    converted.docs.clear();
                }
                let package = flags.package.as_deref();
                let labels = schema::labels(flags, &steps, file, document, self)?;
                let converted = converted.finish(package, &labels, self.runtime.symbols());
                loaded.of_files().files.push(Arc::new(converted));
                continue;
            }
            documents.push((file.clone(), found));
        }
        self.runtime.know_sources(&self.sources);
        for file in cue_files.iter().filter(|f| f.meaning == Meaning::Data) {
            self.check_data(&loaded, &file.path)?;
        }
        let built = self.runtime.build_imports(&loaded);
        built.map_err(|e| self.failed(&e))?;
        if flags.name.is_some() && loaded.instances.iter().all(|i| i.of_files) {
            let message = "use of -n/--name flag without a directory";
            return Err(Failure::World(message.to_owned()));
        }
        let has_files = !cue_files.is_empty() || !data_files.is_empty();
        if !has_files {
            if !schemas.is_empty() {
                return Err(no_data());
            }
            let mut targets = Vec::new();
            for instance in &loaded.instances {
                targets.push(self.build(instance)?);
            }
            return Ok(targets);
        }
        self.join(flags, loaded, documents, &schemas, &steps, data)
    }

    /// Joins packages, files and data.
    fn join(
        &mut self,
        flags: &Flags,
        loaded: Loaded,
        documents: Vec<(FileArgument, Vec<Document>)>,
        schemas: &[ParsedExpr],
        steps: &[Step],
        data: Data,
    ) -> Result<Vec<Target>, Failure> {
        let packages = loaded.instances.iter().filter(|i| !i.of_files).count();
        if packages > 1 {
            return Err(Failure::World(format!(
                "too many packages defined ({packages}) in combination with files"
            )));
        }
        if !schemas.is_empty() {
            if loaded.instances.is_empty() {
                let message = "-d/--schema flag specified without a schema";
                return Err(Failure::World(message.to_owned()));
            }
            if documents.is_empty() {
                return Err(no_data());
            }
        }
        let any_data = !documents.is_empty();
        let known = loaded.instances.iter().find(|i| !i.package.is_empty());
        if let (Some(wanted), Some(known)) = (&flags.package, known)
            && any_data
            && known.package != *wanted
            && !flags.force
        {
            return Err(Failure::World(format!(
                "\"package\" flag clashes with existing package name ({wanted} vs {})",
                known.package
            )));
        }
        let merge = flags.merge.unwrap_or(true) && data == Data::Merged;
        let placed = flags.list || !steps.is_empty();
        let package = loaded
            .instances
            .first()
            .map(Instance::identity)
            .unwrap_or_default();
        if any_data && !placed && (!schemas.is_empty() || !merge) {
            if loaded.instances.is_empty() && data == Data::Apart {
                let message = "data files specified without a schema";
                return Err(Failure::World(message.to_owned()));
            }
            return self.apart(loaded, documents, schemas, package);
        }
        if loaded.instances.is_empty() && documents.iter().all(|(_, found)| found.is_empty()) {
            return Ok(Vec::new());
        }
        // With data it is no longer the package alone.
        let clause = match any_data {
            true => None,
            false => clause_of(loaded.instances.first()),
        };
        let docs = loaded.instances.iter().flat_map(Instance::docs).collect();
        let mut files = files_of(loaded);
        // Documents that keep their places, and where they go.
        let mut trees = Vec::new();
        for (file, documents) in &documents {
            let places = match flags.list {
                true => None,
                false => self.places(flags, steps, file, documents)?,
            };
            if let Some(places) = places {
                trees.extend(places);
                continue;
            }
            let mut builder = Builder::new();
            let decls = declarations(flags, steps, &file.path, documents, self, &mut builder)?;
            files.push(Arc::new(builder.finish(&decls)));
        }
        let value = self.build_files(&package, &files)?;
        drop(files);
        for (labels, tree) in trees {
            match labels.is_empty() {
                true => self.runtime.add_data(value, tree),
                false => self.runtime.add_data_at(value, &labels, tree),
            }
        }
        Ok(vec![Target {
            value,
            package,
            clause,
            of_data: false,
            docs,
        }])
    }

    /// Where each document goes, if all of them are trees at paths of regular fields.
    fn places<'d>(
        &mut self,
        flags: &Flags,
        steps: &[Step],
        file: &FileArgument,
        documents: &'d [Document],
    ) -> Result<Option<Places<'d>>, Failure> {
        let mut places = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let context = flags.with_context.then_some(Context {
                filename: &file.path,
                index,
                count: documents.len(),
            });
            let Some(labels) = labels(steps, document, self, context)? else {
                continue;
            };
            let Content::Tree(tree, _) = &document.content else {
                return Ok(None);
            };
            let path: Option<Vec<String>> = labels
                .iter()
                .map(|label| label.regular().map(str::to_owned))
                .collect();
            match path {
                Some(path) => places.push((path, tree)),
                None => return Ok(None),
            }
        }
        Ok(Some(places))
    }

    /// Each document with the schema.
    fn apart(
        &mut self,
        loaded: Loaded,
        documents: Vec<(FileArgument, Vec<Document>)>,
        schemas: &[ParsedExpr],
        package: String,
    ) -> Result<Vec<Target>, Failure> {
        let root = self.build_files(&package, &files_of(loaded))?;
        let mut schema = root;
        for (at, parsed) in schemas.iter().enumerate() {
            let found = self
                .runtime
                .evaluate_in(&package, &parsed.file, parsed.expr, root)
                .map_err(|e| self.failed(&e))?;
            let checked = self.runtime.validate(found, Config::default());
            checked.map_err(|e| self.failed(&e))?;
            schema = if at == 0 {
                found
            } else {
                self.runtime
                    .unify(schema, found)
                    .map_err(|e| self.failed(&e))?
            };
        }
        let mut targets = Vec::new();
        // A document is dropped as soon as it is compiled.
        for document in documents.into_iter().flat_map(|(_, documents)| documents) {
            let alone = self.runtime.empty();
            self.add(alone, &document);
            drop(document);
            let value = self.runtime.unify(alone, schema);
            targets.push(Target {
                value: value.map_err(|e| self.failed(&e))?,
                package: package.clone(),
                clause: None,
                of_data: true,
                docs: Vec::new(),
            });
        }
        Ok(targets)
    }

    /// Adds a document to a value.
    pub fn add(&mut self, value: Value, document: &Document) {
        if let Content::Tree(tree, _) = &document.content {
            self.runtime.add_data(value, tree);
        }
    }

    fn load(
        &mut self,
        flags: &Flags,
        packages: Vec<String>,
        files: &[FileArgument],
    ) -> Result<Loaded, Failure> {
        if files.iter().any(|file| file.path == "-") {
            self.standard_input = Some(read_bytes("-")?);
        }
        let directory = std::env::current_dir()?;
        let mut request = Request {
            directory: directory.to_string_lossy().into_owned(),
            packages,
            files: files.iter().map(|file| file.path.clone()).collect(),
            tags: flags.tags.clone(),
            standard_input: self.standard_input.clone(),
            ..Request::default()
        };
        if flags.inject_vars {
            request.variables = variables(&request.directory);
        }
        let loaded = load::load(
            &request,
            &disk::Disk,
            &mut self.sources,
            self.runtime.symbols(),
        );
        if loaded.errors.is_empty() {
            Ok(loaded)
        } else {
            Err(self.findings(&loaded.errors))
        }
    }

    /// A CUE file that is given as data has values only.
    fn check_data(&self, loaded: &Loaded, path: &str) -> Result<(), Failure> {
        for file in loaded.instances.iter().flat_map(|i| &i.files) {
            let is_it = self.sources.find(file.source).is_some_and(|source| {
                source.name().trim_start_matches("./") == path.trim_start_matches("./")
            });
            if let (true, Some(span)) = (is_it, file.first_reference(&self.runtime.ctx.symbols)) {
                let finding = Diagnostic::error(load::LOAD, "references not allowed in data mode")
                    .primary(span, "");
                return Err(self.findings(&[finding]));
            }
        }
        Ok(())
    }

    /// The documents of a data file.
    pub fn documents(&mut self, file: &FileArgument) -> Result<Vec<Document>, Failure> {
        let symbols = self.runtime.symbols();
        read_documents(file, &mut self.sources, symbols)
    }

    fn build(&mut self, instance: &Instance) -> Result<Target, Failure> {
        let package = instance.identity();
        let value = self.build_files(&package, &instance.files)?;
        Ok(Target {
            value,
            package,
            clause: clause_of(Some(instance)),
            of_data: false,
            docs: instance.docs(),
        })
    }

    fn build_files(
        &mut self,
        package: &str,
        files: &[Arc<syntax::ast::File>],
    ) -> Result<Value, Failure> {
        self.runtime.know_sources(&self.sources);
        let files: Vec<_> = files.iter().map(AsRef::as_ref).collect();
        let built = self.runtime.build(package, &files);
        built.map_err(|e| self.failed(&e))
    }
}

/// The files of all instances. What is compiled is not kept: a syntax tree is larger than its program.
fn files_of(loaded: Loaded) -> Vec<Arc<syntax::ast::File>> {
    loaded.instances.into_iter().flat_map(|i| i.files).collect()
}

fn clause_of(instance: Option<&Instance>) -> Option<String> {
    let package = instance.map(|instance| instance.package.clone());
    package.filter(|name| !name.is_empty())
}

fn no_data() -> Failure {
    Failure::World("-d/--schema flag requires non-CUE input files".to_owned())
}

/// What `-T` can set.
fn variables(directory: &str) -> BTreeMap<String, Variable> {
    let text = |text: &str| Variable::Text(text.to_owned());
    let mut variables = BTreeMap::new();
    variables.insert("os".to_owned(), text(std::env::consts::OS));
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    variables.insert("arch".to_owned(), text(arch));
    variables.insert("cwd".to_owned(), text(directory));
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    variables.insert(
        "username".to_owned(),
        text(user.as_deref().unwrap_or("root")),
    );
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    variables.insert("hostname".to_owned(), text(host.trim()));
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    let now = instant(seconds);
    variables.insert("now".to_owned(), Variable::Text(now));
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), seconds);
    let more = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), random);
    let number = Variable::Number(format!("0x{random:016x}{more:016x}"));
    variables.insert("rand".to_owned(), number);
    variables
}

/// Nanoseconds since 1970 as `2006-01-02T15:04:05.999999999Z`.
fn instant(nanos: u128) -> String {
    let seconds = nanos / 1_000_000_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Civil date from days, by eras of 400 years that begin in March.
    let z = days + 719_468;
    let (era, of_era) = (z / 146_097, z % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = year + era * 400 + carry;
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let fraction = nanos % 1_000_000_000;
    let fraction = match fraction {
        0 => String::new(),
        _ => format!(".{fraction:09}").trim_end_matches('0').to_owned(),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}
