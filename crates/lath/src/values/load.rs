//! Files into documents: which file is whose, what format it has, what is wrong with it.

use std::fs;
use std::path::Path as FilePath;

use base::{Diagnostic, SourceId, Sources, Span, Symbols};
use data::{Tree, TreeBuilder};
use values::{Content, Evaluated, Input, Kind, Schema, Tier, codes};

use super::args::{Common, Format, LayerArg, LayerKind};
use super::cue_files;
use super::read::{self, Failure, Stamp};

/// All that one run has read.
#[derive(Debug, Default)]
pub struct Loaded {
    pub sources: Sources,
    pub symbols: Symbols,
    /// The layers of the stack that is being read, in the order of the command line.
    inputs: Vec<Input>,
    pub findings: Vec<Diagnostic>,
    /// What the world refused: said as it is, exit status 2.
    pub failures: Vec<Failure>,
    /// Every file and directory that was looked at, as it was then.
    watched: Vec<(String, Stamp)>,
    /// Whether standard input was read.
    pub stdin: bool,
}

/// One stack of those that were read.
#[derive(Debug)]
pub struct Stack {
    /// Its layers, evaluated.
    pub evaluated: Evaluated,
    pub schema: Option<Schema>,
    /// The format of the module, which the output has by default.
    pub format: Format,
    /// What the module is called in listings.
    pub name: String,
}

impl Loaded {
    /// Reads a module and its layers. What is wrong is collected, not returned.
    pub fn stack(&mut self, module: &str, common: &Common) -> Stack {
        let mut schema = common.schema.clone();
        let mut format = read::format_of(module).or(common.format);
        let mut name = read::module_name(module);
        if FilePath::new(module).is_dir() {
            self.watch(module);
            name = read::directory_name(module);
            match read::module_files(module) {
                Ok(found) => {
                    format = read::format_of(&found.values);
                    schema = schema.or(found.schema);
                    match format {
                        Some(Format::Cue) => {
                            self.layer(module, Tier::Module, false, common.at.is_some())
                        }
                        _ => self.file(&found.values, Tier::Module, false, common),
                    }
                }
                Err(failure) => self.failures.push(failure),
            }
        } else {
            self.file(module, Tier::Module, false, common);
        }
        let named = self.inputs.last().and_then(|input| match &input.content {
            Content::Cue(loaded) => cue_files::name(loaded, &self.symbols),
            Content::Data { .. } => None,
        });
        self.layers(common);
        let schema = schema.and_then(|schema| self.schema(&schema));
        Stack {
            evaluated: self.evaluate(common),
            schema,
            format: format.unwrap_or(Format::Yaml),
            name: named.unwrap_or(name),
        }
    }

    /// Evaluates the layers that were read, if all of them could be.
    fn evaluate(&mut self, common: &Common) -> Evaluated {
        let inputs = std::mem::take(&mut self.inputs);
        if self.findings.iter().any(Diagnostic::is_error) || !self.failures.is_empty() {
            return Evaluated::default();
        }
        let options = super::options(common);
        let (symbols, sources) = (&mut self.symbols, &self.sources);
        if !inputs.iter().any(Input::is_cue) {
            return values::evaluate(inputs, &options, symbols, sources);
        }
        // CUE recurses as deep as its input nests; pages of the stack that are not used cost nothing.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new()
                .stack_size(values::STACK_BYTES)
                .spawn_scoped(scope, || {
                    values::evaluate(inputs, &options, symbols, sources)
                });
            match thread.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(evaluated)) => evaluated,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(error) => {
                    let failure = Failure::usage(format!("cannot start a thread: {error}"));
                    self.failures.push(failure);
                    Evaluated::default()
                }
            }
        })
    }

    /// Whether a file or directory is no longer what it was when it was read.
    pub fn is_stale(&self) -> bool {
        self.watched
            .iter()
            .any(|(name, then)| read::stamp(name) != *then)
    }

    fn watch(&mut self, name: &str) {
        self.watched.push((name.to_owned(), read::stamp(name)));
    }

    fn layers(&mut self, common: &Common) {
        let is_overlay = |layer: &&LayerArg| layer.kind == LayerKind::Overlay;
        let overlays = common.layers.0.iter().filter(is_overlay).count();
        let mut seen = 0;
        for layer in &common.layers.0 {
            let (tier, defaults) = match layer.kind {
                LayerKind::Set => {
                    self.set(layer, false);
                    continue;
                }
                LayerKind::SetString => {
                    self.set(layer, true);
                    continue;
                }
                LayerKind::Platform => (Tier::Platform, false),
                LayerKind::PlatformDefaults => (Tier::Platform, true),
                LayerKind::User => (Tier::User, false),
                LayerKind::Overlay => {
                    seen += 1;
                    match overlays > 1 && seen == overlays {
                        true => (Tier::User, false),
                        false => (Tier::Platform, false),
                    }
                }
            };
            if !FilePath::new(&layer.value).is_dir() {
                self.file(&layer.value, tier, defaults, common);
                continue;
            }
            self.watch(&layer.value);
            match read::overlay_files(&layer.value) {
                Ok(files) => {
                    for file in files {
                        self.file(&file, tier, defaults, common);
                    }
                }
                Err(failure) => self.failures.push(failure),
            }
        }
    }

    fn set(&mut self, layer: &LayerArg, as_string: bool) {
        let source = self.sources.add("<command line>", layer.value.as_str());
        let text = self.sources.get(source).text().clone();
        match values::set::parse(source, &text, as_string, &mut self.symbols) {
            Ok(tree) => {
                let input = Input::data(Tier::User, tree, Kind::CommandLine);
                self.inputs.push(input);
            }
            Err(findings) => self.findings.extend(findings),
        }
    }

    fn file(&mut self, name: &str, tier: Tier, defaults: bool, common: &Common) {
        if read::format_of(name).or(common.format) == Some(Format::Cue) {
            self.layer(name, tier, defaults, common.at.is_some());
            return;
        }
        let Some((source, format)) = self.open(name, common.format) else {
            return;
        };
        if let Some(tree) = self.tree(source, format) {
            let kind = match format {
                Format::Yaml => Kind::Yaml,
                _ => Kind::Plain,
            };
            self.inputs.push(Input {
                defaults,
                ..Input::data(tier, tree, kind)
            });
        }
    }

    /// A layer in CUE: a file, or a module's directory.
    fn layer(&mut self, name: &str, tier: Tier, defaults: bool, has_path: bool) {
        if let Some(loaded) = self.cue(name) {
            if !has_path {
                self.warn_of_unread(&loaded, tier);
            }
            self.inputs.push(Input {
                defaults,
                ..Input::cue(tier, loaded)
            });
        }
    }

    /// A CUE file is not taken whole: one without `values` sets nothing, which its author may not have meant.
    fn warn_of_unread(&mut self, loaded: &cue::load::Loaded, tier: Tier) {
        let instance = loaded.instances.first();
        let read = ["values", "config", "#config", "#spec"];
        let other = instance.and_then(|instance| instance.other_than(&read, &self.symbols));
        if let Some((name, span)) = other {
            let message = format!("there is no `values` here, so `{name}` is not read");
            self.findings.push(
                Diagnostic::warning(codes::UNREAD_KEY, message)
                    .primary(span, "not read")
                    .role(tier.role())
                    .help(format!(
                        "write `values: {name}: …`, or say where the values lie with `--at`"
                    )),
            );
        }
    }

    /// Whether a module is written in CUE.
    pub fn is_cue_module(&mut self, module: &str, common: &Common) -> bool {
        let format = match FilePath::new(module).is_dir() {
            true => match read::module_files(module) {
                Ok(found) => read::format_of(&found.values),
                Err(_) => None,
            },
            false => read::format_of(module).or(common.format),
        };
        format == Some(Format::Cue)
    }

    /// A CUE file or directory with what it imports. What is wrong is collected.
    pub fn cue(&mut self, name: &str) -> Option<cue::load::Loaded> {
        let standard_input = match name {
            "-" if std::mem::replace(&mut self.stdin, true) => {
                let failure = Failure::usage("standard input `-` can be given only once");
                self.failures.push(failure);
                return None;
            }
            "-" => match read::standard_input() {
                Ok(bytes) => Some(bytes),
                Err(failure) => {
                    self.failures.push(failure);
                    return None;
                }
            },
            _ => None,
        };
        if name != "-"
            && let Err(error) = fs::metadata(name)
        {
            self.watch(name);
            self.failures.push(Failure::open(name, &error));
            return None;
        }
        let files = cue_files::Watching::default();
        let (sources, symbols) = (&mut self.sources, &mut self.symbols);
        let loaded = cue_files::load(name, standard_input, &files, sources, symbols);
        self.watched.extend(files.asked());
        match loaded {
            Ok(mut loaded) if loaded.errors.iter().any(Diagnostic::is_error) => {
                self.findings.append(&mut loaded.errors);
                None
            }
            Ok(loaded) => Some(loaded),
            Err(failure) => {
                self.failures.push(failure);
                None
            }
        }
    }

    /// The JSON Schema in the directory of a module, if it is one.
    pub fn schema_beside(&mut self, module: &str) -> Option<String> {
        if !FilePath::new(module).is_dir() {
            self.watch(module);
            if let Err(failure) = read::file(module) {
                self.failures.push(failure);
            }
            return None;
        }
        self.watch(module);
        match read::module_files(module) {
            Ok(found) => found.schema,
            Err(failure) => {
                self.failures.push(failure);
                None
            }
        }
    }

    /// The document that a schema file is.
    pub fn schema_tree(&mut self, name: &str) -> Option<Tree> {
        let (source, format) = self.open(name, None)?;
        self.tree(source, format)
    }

    fn schema(&mut self, name: &str) -> Option<Schema> {
        let tree = self.schema_tree(name)?;
        match Schema::new(tree, &self.symbols) {
            Ok(schema) => Some(schema),
            Err(finding) => {
                self.findings.push(*finding);
                None
            }
        }
    }

    /// Reads a file, or standard input, as a source.
    fn open(&mut self, name: &str, format: Option<Format>) -> Option<(SourceId, Format)> {
        let (shown, bytes) = if name == "-" {
            if std::mem::replace(&mut self.stdin, true) {
                self.failures
                    .push(Failure::usage("standard input `-` can be given only once"));
                return None;
            }
            ("<stdin>", read::standard_input())
        } else {
            self.watch(name);
            (name, read::file(name))
        };
        let Some(format) = read::format_of(name).or(format) else {
            self.failures.push(Failure::usage(format!(
                "cannot tell the format of `{name}`: say `--format yaml`, `json` or `toml`"
            )));
            return None;
        };
        match bytes {
            Ok(bytes) => {
                let (source, finding) = self.sources.add_bytes(shown, bytes);
                let valid = finding.is_none();
                self.findings.extend(finding);
                valid.then_some((source, format))
            }
            Err(failure) => {
                self.failures.push(failure);
                None
            }
        }
    }

    /// The one document of a source. An empty text is an empty map.
    fn tree(&mut self, source: SourceId, format: Format) -> Option<Tree> {
        let text = self.sources.get(source).text().clone();
        let start = Span::new(source, 0..0);
        let format = match format {
            Format::Json => data::Format::Json,
            Format::Yaml => data::Format::Yaml,
            Format::Toml => data::Format::Toml,
            Format::Cue => {
                self.findings.push(
                    Diagnostic::error(codes::BAD_SCHEMA, "a schema is a JSON Schema, not CUE")
                        .primary(start, "")
                        .help("put a CUE schema into the module, at `#config`"),
                );
                return None;
            }
        };
        let options = data::Options::default();
        let parsed = data::parse(format, source, text.clone(), &mut self.symbols, &options);
        let failed = parsed.has_errors();
        self.findings.extend(parsed.findings);
        if failed {
            return None;
        }
        let mut documents = parsed.documents.into_iter();
        let first = documents.next().unwrap_or_else(|| {
            let mut builder = TreeBuilder::new(source, text);
            let root = builder.map(start, &[]);
            builder.finish(root)
        });
        if let Some(second) = documents.next() {
            self.findings.push(
                Diagnostic::error(codes::EXTRA_DOCUMENT, "a values file holds one document")
                    .primary(second.span(second.root()).at_start(), "a second document")
                    .help("put each document into a file of its own"),
            );
            return None;
        }
        Some(first)
    }
}
