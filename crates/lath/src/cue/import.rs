//! `lath cue import`: data files to CUE files beside them.

use std::path::Path;
use std::process::ExitCode;

use cue::jsonschema::Interpretation;
use cue::load::{Encoding, FileArgument, Inputs, Meaning};
use cue::syntax::build::Builder;
use cue::syntax::{self, Options};

use super::documents::Document;
use super::flags::Flags;
use super::place::{Step, declarations};
use super::session::Session;
use super::{Failure, output, plain, schema};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    flags: Flags,
    /// Write every document to a file of its own
    #[arg(long)]
    files: bool,
    /// Say what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Only files with these extensions
    #[arg(long = "ext")]
    extensions: Vec<String>,
}

pub fn run(arguments: &Arguments) -> ExitCode {
    match import_all(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Which files are taken from directories.
struct Filter {
    encoding: Option<Encoding>,
    extensions: Vec<String>,
}

fn import_all(arguments: &Arguments) -> Result<(), Failure> {
    let flags = &arguments.flags;
    let mut inputs = flags.inputs.as_slice();
    let mut filter = Filter {
        encoding: None,
        extensions: ["json", "yaml", "yml", "toml", "jsonl", "ndjson", "ldjson"]
            .map(str::to_owned)
            .to_vec(),
    };
    if let Some((mode, rest)) = inputs.split_first()
        && !mode.contains(['/', '\\', ':', '.'])
        && mode != "-"
    {
        filter = mode_filter(mode, arguments)?;
        inputs = rest;
    }
    if !arguments.extensions.is_empty() {
        filter.extensions = arguments.extensions.clone();
    }
    let mut files = Inputs::parse(inputs)?;
    if inputs.is_empty() {
        files.packages.push(".".to_owned());
    }
    let steps = Step::parse_all(&flags.path)?;
    let mut given = files.files;
    for package in &files.packages {
        in_directory(package, &filter, &mut given)?;
    }
    if let Some(pattern) = &flags.name {
        let regex = cue::regex::Regex::new(pattern)
            .map_err(|_| Failure::World(format!("invalid pattern {pattern:?}")))?;
        given.retain(|file| regex.is_match(file.path.as_bytes()));
    }
    let mut printed = String::new();
    for file in given.iter().filter(|file| file.encoding != Encoding::Cue) {
        let mut session = Session::new();
        let documents = session.documents(file)?;
        if let [document] = documents.as_slice()
            && let Some(kind) = schema::meaning(file, document, &mut session)
        {
            let job = Job {
                arguments,
                steps: &steps,
                file,
            };
            printed.push_str(&job.import_schema(kind, document, &mut session)?);
            continue;
        }
        let job = Job {
            arguments,
            steps: &steps,
            file,
        };
        printed.push_str(&job.import(&documents, &mut session)?);
    }
    if flags.outfile.is_some() || !printed.is_empty() {
        let target = flags.outfile.as_deref().unwrap_or("-");
        output::write(target, printed.as_bytes(), flags.force)?;
    }
    Ok(())
}

fn mode_filter(mode: &str, arguments: &Arguments) -> Result<Filter, Failure> {
    let extensions: &[&str] = match mode {
        "json" => &["json", "jsonl", "ndjson", "ldjson"],
        "yaml" => &["yaml", "yml"],
        "toml" => &["toml"],
        "text" => &["txt"],
        "binary" if arguments.extensions.is_empty() => {
            let message = "use of --ext flag required in binary mode";
            return Err(Failure::World(message.to_owned()));
        }
        "binary" => &[],
        "auto" | "data" => &["json", "yaml", "yml", "toml", "jsonl", "ndjson", "ldjson"],
        "openapi" | "jsonschema" => &["json", "yaml", "yml"],
        "proto" => {
            return Err(Failure::World(format!("mode {mode:?} is not supported")));
        }
        _ => return Err(Failure::World(format!("unknown mode {mode:?}"))),
    };
    let forced = !arguments.extensions.is_empty();
    Ok(Filter {
        encoding: Encoding::of_word(mode).filter(|_| forced),
        extensions: extensions.iter().map(|&e| e.to_owned()).collect(),
    })
}

/// The data files of a directory, or with `...` of all directories below it.
fn in_directory(
    package: &str,
    filter: &Filter,
    found: &mut Vec<FileArgument>,
) -> Result<(), Failure> {
    let (directory, deep) = match package.strip_suffix("...") {
        Some(directory) => (directory.trim_end_matches('/'), true),
        None => (package, false),
    };
    let directory = if directory.is_empty() { "." } else { directory };
    let mut pending = vec![Path::new(directory).to_path_buf()];
    while let Some(directory) = pending.pop() {
        let entries = std::fs::read_dir(&directory);
        let entries =
            entries.map_err(|_| Failure::World(format!("cannot find package {package:?}")))?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let mut inner = Vec::new();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if deep && !name.starts_with(['.', '_']) && name != "cue.mod" {
                    inner.push(path);
                }
                continue;
            }
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            if !filter.extensions.iter().any(|wanted| *wanted == extension) {
                continue;
            }
            let Some(encoding) = filter.encoding.or_else(|| Encoding::of_name(&name)) else {
                continue;
            };
            let path = path.strip_prefix(".").unwrap_or(&path);
            found.push(FileArgument {
                path: path.to_string_lossy().into_owned(),
                encoding,
                meaning: Meaning::Auto,
                strict: Default::default(),
            });
        }
        inner.reverse();
        pending.extend(inner);
    }
    Ok(())
}

struct Job<'a> {
    arguments: &'a Arguments,
    steps: &'a [Step],
    file: &'a FileArgument,
}

impl Job<'_> {
    /// Converts the documents of one file; returns what goes to `-o`, or writes files.
    fn import(&self, documents: &[Document], session: &mut Session) -> Result<String, Failure> {
        let flags = &self.arguments.flags;
        if self.arguments.files {
            for (index, document) in documents.chunks(1).enumerate() {
                let text = self.convert(document, session)?;
                self.deliver(&text, index)?;
            }
            return Ok(String::new());
        }
        if documents.len() > 1 && self.steps.is_empty() && !flags.list {
            let name = match self.file.path.starts_with(['/', '.']) {
                true => self.file.path.clone(),
                false => format!("./{}", self.file.path),
            };
            return Err(Failure::World(format!(
                "path, list, or files flag needed to handle multiple objects in file {name}"
            )));
        }
        let text = self.convert(documents, session)?;
        if flags.outfile.is_some() {
            return Ok(text);
        }
        self.deliver(&text, 0)?;
        Ok(String::new())
    }

    /// Converts a document that is a schema.
    fn import_schema(
        &self,
        kind: Interpretation,
        document: &Document,
        session: &mut Session,
    ) -> Result<String, Failure> {
        let flags = &self.arguments.flags;
        let labels = schema::labels(flags, self.steps, self.file, document, session)?;
        let converted = schema::convert(self.file, kind, document, false, flags, session)?;
        let symbols = session.runtime.symbols();
        let file = converted.finish(flags.package.as_deref(), &labels, symbols);
        let options = Options {
            simplify: true,
            ..Options::default()
        };
        let text = syntax::format_file(&file, symbols, options);
        if flags.outfile.is_some() {
            return Ok(text);
        }
        self.deliver(&text, 0)?;
        Ok(String::new())
    }

    /// Writes a CUE file beside the data file.
    fn deliver(&self, text: &str, index: usize) -> Result<(), Failure> {
        let path = Path::new(&self.file.path);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = match index {
            0 => format!("{stem}.cue"),
            _ => format!("{stem}-{index}.cue"),
        };
        let target = path.with_file_name(name);
        let shown = target.to_string_lossy();
        if self.arguments.dry_run {
            plain::say(&format!("importing into {shown}"));
            return Ok(());
        }
        if target.exists() && !self.arguments.flags.force {
            plain::say(&format!(
                "Skipping file {shown:?}: already exists.\nUse -f to override."
            ));
            return Ok(());
        }
        Ok(output::write(&shown, text.as_bytes(), true)?)
    }

    fn convert(&self, documents: &[Document], session: &mut Session) -> Result<String, Failure> {
        let flags = &self.arguments.flags;
        let mut builder = Builder::new();
        let mut decls = Vec::new();
        if let Some(package) = &flags.package {
            let package = session.runtime.symbols().intern(package);
            decls.push(builder.package(package));
        }
        let path = &self.file.path;
        let placed = declarations(flags, self.steps, path, documents, session, &mut builder)?;
        decls.extend(placed);
        let file = builder.finish(&decls);
        let options = Options {
            simplify: true,
            ..Options::default()
        };
        Ok(syntax::format_file(
            &file,
            session.runtime.symbols(),
            options,
        ))
    }
}
