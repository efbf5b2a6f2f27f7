//! `lath cue export`, `eval`, `vet` and `def` on files: evaluate, check, print.

use std::fs;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;

use base::{Diagnostic, Sources};
use cue::eval::report::Reported;
use cue::eval::validate::Config;
use cue::export::cue::Profile;
use cue::syntax::{self, ast};
use cue::{Runtime, Value};
use data::write::{Json, Toml, Yaml};

use super::plain;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Export,
    Eval,
    Vet,
    Def,
}

#[derive(clap::Args)]
pub struct Arguments {
    /// Files of one package and data files
    inputs: Vec<String>,
    /// Evaluate these expressions in the scope of the files
    #[arg(short, long = "expression")]
    expression: Vec<String>,
    /// The output format: json, yaml, toml, cue, text
    #[arg(long)]
    out: Option<String>,
    /// Require concrete values
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    concrete: Option<bool>,
    /// The definition that data is checked against
    #[arg(short = 'd', long)]
    schema: Option<String>,
    /// Show hidden fields
    #[arg(short = 'H', long = "show-hidden")]
    hidden: bool,
    /// Show optional fields
    #[arg(short = 'O', long = "show-optional")]
    optional: bool,
    /// Show all fields
    #[arg(short, long)]
    all: bool,
    /// Print what can be printed in spite of errors
    #[arg(short, long)]
    ignore: bool,
}

enum Failure {
    Reported,
    World(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::World(error.to_string())
    }
}

struct Session {
    sources: Sources,
    runtime: Runtime,
    files: Vec<ast::File>,
    data: Vec<data::Tree>,
    package: Option<String>,
}

pub fn run(verb: Verb, arguments: &Arguments) -> ExitCode {
    let mut session = Session {
        sources: Sources::new(),
        runtime: Runtime::new(),
        files: Vec::new(),
        data: Vec::new(),
        package: None,
    };
    match session.run(verb, arguments) {
        Ok(out) => match io::stdout().lock().write_all(&out) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => crate::report::output_failed(&error),
        },
        Err(Failure::Reported) => ExitCode::FAILURE,
        Err(Failure::World(message)) => {
            plain::say(&message);
            ExitCode::FAILURE
        }
    }
}

impl Session {
    fn findings(&self, findings: &[Diagnostic]) -> Failure {
        plain::print(findings, &self.sources);
        Failure::Reported
    }

    fn failed(&self, errors: &[Reported]) -> Failure {
        plain::print_reported(errors, &self.sources);
        Failure::Reported
    }

    fn read(&mut self, name: &str) -> Result<(), Failure> {
        let (shown, bytes) = if name == "-" {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            ("-".to_owned(), bytes)
        } else {
            let bytes = fs::read(name).map_err(|e| Failure::World(format!("{name}: {e}")))?;
            (format!("./{}", name.trim_start_matches("./")), bytes)
        };
        let (id, finding) = self.sources.add_bytes(shown, bytes);
        if let Some(finding) = finding {
            return Err(self.findings(&[finding]));
        }
        let text: Arc<str> = Arc::clone(self.sources.get(id).text());
        if let Some(format) = data::Format::from_name(name) {
            let options = data::Options {
                reading: data::Reading::Reference,
            };
            let parsed = data::parse(format, id, text, self.runtime.symbols(), &options);
            if parsed.has_errors() {
                return Err(self.findings(&parsed.findings));
            }
            self.data.extend(parsed.documents);
            return Ok(());
        }
        let parsed = syntax::parse_file(id, &text, self.runtime.symbols());
        if !parsed.errors.is_empty() {
            return Err(self.findings(&parsed.errors));
        }
        self.files.push(parsed.file);
        Ok(())
    }

    fn run(&mut self, verb: Verb, arguments: &Arguments) -> Result<Vec<u8>, Failure> {
        for name in &arguments.inputs {
            self.read(name)?;
        }
        let mut expressions = Vec::new();
        for text in &arguments.expression {
            let id = self.sources.add("--expression", text.as_str());
            let text: Arc<str> = text.as_str().into();
            let parsed = syntax::parse_expr(id, &text, self.runtime.symbols());
            if !parsed.errors.is_empty() {
                return Err(self.findings(&parsed.errors));
            }
            expressions.push(parsed);
        }
        self.runtime.know_sources(&self.sources);
        let files: Vec<&ast::File> = self.files.iter().collect();
        let name = files.iter().find_map(|f| f.package());
        self.package = name.map(|name| self.runtime.symbols().name(name.symbol).to_owned());
        let package = self.package.clone().unwrap_or("_".to_owned());
        let built = self.runtime.build(&package, &files);
        let root = built.map_err(|e| self.failed(&e))?;
        let is_vet = verb == Verb::Vet && !self.data.is_empty();
        if is_vet {
            return self.vet_data(root, arguments);
        }
        for tree in &self.data {
            self.runtime.add_data(root, tree);
        }
        let evaluated = self.runtime.evaluate(root);
        evaluated.map_err(|e| self.failed(&e))?;
        if !arguments.ignore && expressions.is_empty() && verb != Verb::Eval {
            let all = Config {
                all_errors: true,
                ..Config::default()
            };
            let checked = self.runtime.validate(root, all);
            checked.map_err(|e| self.failed(&e))?;
        }
        let mut out = Vec::new();
        let mut values = Vec::new();
        for parsed in &expressions {
            let value = self
                .runtime
                .evaluate_in(&package, &parsed.file, parsed.expr, root);
            values.push(value.map_err(|e| self.failed(&e))?);
        }
        if values.is_empty() {
            values.push(root);
        }
        let many = values.len() > 1;
        for (i, &value) in values.iter().enumerate() {
            let text = arguments.expression.get(i).filter(|_| many);
            self.one(verb, arguments, value, i, text, &mut out)?;
        }
        Ok(out)
    }

    fn vet_data(&mut self, root: Value, arguments: &Arguments) -> Result<Vec<u8>, Failure> {
        let mut schema = root;
        if let Some(text) = &arguments.schema {
            let id = self.sources.add("--schema", text.as_str());
            self.runtime.know_sources(&self.sources);
            let text: Arc<str> = text.as_str().into();
            let parsed = syntax::parse_expr(id, &text, self.runtime.symbols());
            if !parsed.errors.is_empty() {
                return Err(self.findings(&parsed.errors));
            }
            let found = self
                .runtime
                .evaluate_in("_", &parsed.file, parsed.expr, root);
            schema = found.map_err(|e| self.failed(&e))?;
        }
        let strict = Config {
            concrete: true,
            is_final: true,
            all_errors: true,
            ..Config::default()
        };
        let mut errors = Vec::new();
        for i in 0..self.data.len() {
            let value = self.runtime.empty();
            if let Some(tree) = self.data.get(i) {
                self.runtime.add_data(value, tree);
            }
            let joined = self.runtime.unify(schema, value);
            let joined = joined.map_err(|e| self.failed(&e))?;
            if let Err(found) = self.runtime.validate(joined, strict) {
                errors.extend(found);
            }
        }
        if errors.is_empty() {
            return Ok(Vec::new());
        }
        Err(self.failed(&errors))
    }

    fn one(
        &mut self,
        verb: Verb,
        arguments: &Arguments,
        value: Value,
        index: usize,
        text: Option<&String>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let default = if verb == Verb::Export { "json" } else { "cue" };
        let format = arguments.out.as_deref().unwrap_or(default);
        let concrete = arguments.concrete.unwrap_or(verb == Verb::Export);
        let data = format != "cue";
        let config = Config {
            concrete: concrete || data,
            is_final: concrete || data,
            all_errors: true,
            ..Config::default()
        };
        if verb == Verb::Vet && arguments.concrete.is_none() {
            let strict = Config {
                concrete: true,
                is_final: true,
                ..config
            };
            if self.runtime.validate(value, strict).is_err() {
                return Err(Failure::World(
                    "some instances are incomplete; use the -c flag to show errors or -c=false \
                     to allow incomplete instances"
                        .to_owned(),
                ));
            }
            return Ok(());
        }
        let own_error = self.runtime.error(value).is_some();
        let config = Config {
            is_final: config.is_final || verb == Verb::Eval && own_error,
            ..config
        };
        if !arguments.ignore {
            let checked = self.runtime.validate(value, config);
            checked.map_err(|e| self.failed(&e))?;
        }
        if verb == Verb::Vet {
            return Ok(());
        }
        if data
            && !arguments.ignore
            && let Some(errors) = self.runtime.error(value)
        {
            return Err(self.failed(&errors));
        }
        if let Some(text) = text
            && format == "cue"
        {
            if index > 0 {
                out.push(b'\n');
            }
            out.extend_from_slice(format!("// {text}\n").as_bytes());
        }
        match format {
            "json" => {
                let mut writer = Json::indented(4);
                self.runtime.write(value, &mut writer);
                out.extend_from_slice(writer.finish().trim_end().as_bytes());
                out.push(b'\n');
            }
            "yaml" => {
                let mut writer = Yaml::new();
                self.runtime.write(value, &mut writer);
                if index > 0 {
                    out.extend_from_slice(b"---\n");
                }
                out.extend_from_slice(writer.finish().as_bytes());
            }
            "toml" => {
                let mut writer = Toml::new();
                self.runtime.write(value, &mut writer);
                match writer.finish() {
                    Ok(text) => out.extend_from_slice(text.as_bytes()),
                    Err(error) => return Err(Failure::World(format!("{error:?}"))),
                }
            }
            "text" => match self.runtime.text(value) {
                Some(text) => {
                    out.extend_from_slice(&text);
                    out.push(b'\n');
                }
                None => return Err(Failure::World("cannot use value as string".to_owned())),
            },
            _ if verb == Verb::Def => {
                let text = self.runtime.write_def(value, self.package.as_deref());
                out.extend_from_slice(text.as_bytes());
            }
            _ => {
                let profile = Profile {
                    take_defaults: true,
                    definitions: verb != Verb::Export && !concrete,
                    hidden: arguments.hidden || arguments.all,
                    optional: arguments.optional || arguments.all,
                    tabs: verb != Verb::Eval,
                    collapse: verb != Verb::Eval,
                };
                out.extend_from_slice(self.runtime.write_cue(value, profile).as_bytes());
            }
        }
        Ok(())
    }
}
