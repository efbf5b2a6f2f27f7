//! `lath cue export`, `eval`, `vet` and `def`: evaluate, check, print.

use std::mem::ManuallyDrop;
use std::process::ExitCode;

use cue::Value;
use cue::eval::validate::Config;
use cue::export::cue::Profile;
use cue::jsonschema::Interpretation;
use cue::load::{Encoding, FileArgument, Meaning};
use data::write::{Json, Toml, Yaml};

use super::flags::Flags;
use super::session::{Data, Session, Target};
use super::{Failure, output};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Export,
    Eval,
    Vet,
    Def,
}

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    flags: Flags,
    /// Require concrete values
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    concrete: Option<bool>,
    /// Show hidden fields
    #[arg(short = 'H', long = "show-hidden")]
    hidden: bool,
    /// Show optional fields
    #[arg(short = 'O', long = "show-optional")]
    optional: bool,
    /// Show attributes
    #[arg(short = 'A', long = "show-attributes")]
    attributes: bool,
    /// Show optional and hidden fields
    #[arg(short, long)]
    all: bool,
    /// Escape what HTML would read as markup
    #[arg(long)]
    escape: bool,
}

pub fn run(verb: Verb, arguments: &Arguments) -> ExitCode {
    match run_verb(verb, arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run_verb(verb: Verb, arguments: &Arguments) -> Result<(), Failure> {
    let flags = &arguments.flags;
    let out = output_file(verb, flags)?;
    // The process ends after this: giving the memory back piece by piece would be for nothing.
    let mut session = ManuallyDrop::new(Session::new());
    session.bound(flags);
    let expressions = session.expressions("--expression", &flags.expressions)?;
    let data = match verb {
        Verb::Vet => Data::Apart,
        _ => Data::Merged,
    };
    let targets = session.targets(flags, data)?;
    for target in &targets {
        let evaluated = session.runtime.evaluate(target.value);
        evaluated.map_err(|e| session.failed(&e))?;
    }
    let whole = expressions.is_empty() && !flags.ignore && !matches!(verb, Verb::Vet | Verb::Eval);
    // Data that can be written has no errors, so that one look at it is enough.
    let data = out.encoding != Encoding::Cue && !matches!(out.meaning, Meaning::Schema(_));
    let checked = whole && data && targets.iter().all(|t| session.is_data(t.value));
    if whole && !checked {
        for target in &targets {
            let all = Config {
                all_errors: true,
                ..Config::default()
            };
            let checked = session.runtime.validate(target.value, all);
            checked.map_err(|e| session.failed(&e))?;
        }
    }
    let mut printer = Printer {
        session: &mut session,
        verb,
        arguments,
        encoding: out.encoding,
        meaning: out.meaning,
        out: Vec::new(),
        count: 0,
        checked,
        streamed: checked && targets.len() == 1 && out.path == "-" && !arguments.escape,
        several: targets.len() * expressions.len().max(1) > 1,
        errors: false,
    };
    for target in &targets {
        if expressions.is_empty() {
            printer.value(target, target.value, None)?;
            continue;
        }
        for (parsed, text) in expressions.iter().zip(&flags.expressions) {
            let runtime = &mut printer.session.runtime;
            let found =
                runtime.evaluate_in(&target.package, &parsed.file, parsed.expr, target.value);
            let value = found.map_err(|e| printer.session.failed(&e))?;
            let text = (expressions.len() > 1).then_some(text.as_str());
            printer.value(target, value, text)?;
        }
    }
    let (text, failed) = (printer.out, printer.errors);
    if verb != Verb::Vet && (!failed || out.path == "-") {
        output::write(&out.path, &text, flags.force)?;
    }
    if failed {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}

/// Where and how to write.
fn output_file(verb: Verb, flags: &Flags) -> Result<FileArgument, Failure> {
    let default = match verb {
        Verb::Export => Encoding::Json,
        _ => Encoding::Cue,
    };
    let path = flags.outfile.as_deref().unwrap_or("-");
    let argument = match &flags.out {
        Some(out) if out.contains(':') && path.contains(':') => {
            let message = "cannot specify qualifier in both --out and --outfile";
            return Err(Failure::World(message.to_owned()));
        }
        Some(out) => format!("{out}:{path}"),
        None => path.to_owned(),
    };
    Ok(FileArgument::parse(&argument, default)?)
}

struct Printer<'a> {
    session: &'a mut Session,
    verb: Verb,
    arguments: &'a Arguments,
    encoding: Encoding,
    meaning: Meaning,
    out: Vec<u8>,
    count: usize,
    /// All values were found to be data.
    checked: bool,
    /// There is one value, and nothing can go wrong before it is written.
    streamed: bool,
    several: bool,
    errors: bool,
}

impl Printer<'_> {
    fn value(&mut self, target: &Target, value: Value, text: Option<&str>) -> Result<(), Failure> {
        let index = self.count;
        self.count += 1;
        let concrete = self.arguments.concrete;
        if self.verb == Verb::Vet {
            self.vet(value, target.of_data);
            return Ok(());
        }
        let value = match self.meaning {
            Meaning::Schema(Interpretation::OpenApi) => self.openapi(target, value)?,
            Meaning::Schema(Interpretation::JsonSchema) => {
                let message = "writing JSON Schema is not supported";
                return Err(Failure::World(message.to_owned()));
            }
            _ => value,
        };
        let data = self.encoding != Encoding::Cue;
        let concrete = concrete.unwrap_or(self.verb == Verb::Export) || data;
        let own_error = self.session.runtime.error(value).is_some();
        let config = Config {
            concrete,
            is_final: concrete || (self.verb == Verb::Eval && own_error),
            all_errors: true,
            ..Config::default()
        };
        if !self.arguments.flags.ignore
            && !self.checked
            && let Err(errors) = self.session.runtime.validate(value, config)
        {
            if self.verb == Verb::Eval && concrete {
                self.session.failed(&errors);
                self.errors = true;
                return Ok(());
            }
            return Err(self.session.failed(&errors));
        }
        if data
            && !self.arguments.flags.ignore
            && let Some(errors) = self.session.runtime.error(value)
        {
            return Err(self.session.failed(&errors));
        }
        if data && let Some(message) = self.session.runtime.unwritable(value) {
            return Err(Failure::World(message));
        }
        match self.encoding {
            Encoding::Json if self.streamed => {
                let mut writer = output::Stream::new(Json::indented(4));
                self.session.runtime.write(value, &mut writer);
                writer.finish()?;
            }
            Encoding::Json | Encoding::JsonLines => self.json(value),
            Encoding::Yaml => {
                let mut writer = Yaml::new();
                self.session.runtime.write(value, &mut writer);
                if index > 0 {
                    self.out.extend_from_slice(b"---\n");
                }
                self.out.extend_from_slice(writer.finish().as_bytes());
            }
            Encoding::Toml => {
                let mut writer = Toml::sorted();
                self.session.runtime.write(value, &mut writer);
                match writer.finish() {
                    Ok(text) => self.out.extend_from_slice(text.as_bytes()),
                    Err(error) => return Err(Failure::World(format!("{error:?}"))),
                }
            }
            Encoding::Text | Encoding::Binary => match self.session.runtime.text(value) {
                Some(text) => {
                    self.out.extend_from_slice(&text);
                    if self.encoding == Encoding::Text {
                        self.out.push(b'\n');
                    }
                }
                None => {
                    let message = "cannot use value as string";
                    return Err(Failure::World(message.to_owned()));
                }
            },
            Encoding::Cue => self.cue(target, value, text, index),
        }
        Ok(())
    }

    /// The OpenAPI document of a value's definitions.
    fn openapi(&mut self, target: &Target, value: Value) -> Result<Value, Failure> {
        let lines: Vec<&str> = target
            .docs
            .iter()
            .map(|line| line.trim_start_matches('/').trim())
            .collect();
        let title = lines.join("\n").trim().to_owned();
        let config = cue::openapi::Config {
            version: "3.0.0".to_owned(),
            title: (!title.is_empty()).then_some(title),
            ..Default::default()
        };
        Ok(self.session.runtime.openapi(value, &config)?)
    }

    fn json(&mut self, value: Value) {
        let mut writer = match self.encoding {
            Encoding::JsonLines => Json::compact(),
            _ => Json::indented(4),
        };
        self.session.runtime.write(value, &mut writer);
        let mut text = writer.finish();
        if self.arguments.escape {
            text = text
                .replace('&', "\\u0026")
                .replace('<', "\\u003c")
                .replace('>', "\\u003e");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        if self.out.is_empty() {
            self.out = text.into_bytes();
        } else {
            self.out.extend_from_slice(text.as_bytes());
        }
    }

    fn cue(&mut self, target: &Target, value: Value, text: Option<&str>, index: usize) {
        let arguments = self.arguments;
        let concrete = arguments.concrete.unwrap_or(false);
        if let Some(text) = text {
            if index > 0 {
                self.out.push(b'\n');
            }
            self.out
                .extend_from_slice(format!("// {text}\n").as_bytes());
        } else if self.several && index > 0 {
            self.out.extend_from_slice(b"// ---\n");
        }
        let plain = matches!(self.meaning, Meaning::Schema(_));
        if self.verb == Verb::Def && !plain {
            let given = arguments.flags.package.as_deref();
            let package = given.or(target.clause.as_deref());
            if package.is_some() {
                for line in &target.docs {
                    self.out
                        .extend_from_slice(format!("// {line}\n").as_bytes());
                }
            }
            let text = self.session.runtime.write_def(value, package);
            self.out.extend_from_slice(text.as_bytes());
            return;
        }
        let profile = Profile {
            take_defaults: true,
            definitions: self.verb != Verb::Export && !concrete,
            hidden: arguments.hidden || arguments.all,
            optional: arguments.optional || arguments.all,
            tabs: self.verb != Verb::Eval,
            collapse: self.verb != Verb::Eval,
            errors: arguments.flags.ignore,
            attributes: arguments.attributes,
            docs: false,
        };
        let text = self.session.runtime.write_cue(value, profile);
        if let Some(package) = &arguments.flags.package
            && self.verb == Verb::Export
            && index == 0
        {
            self.out
                .extend_from_slice(format!("package {package}\n\n").as_bytes());
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Checks a value; without `-c` what is merely incomplete is told in one line.
    fn vet(&mut self, value: Value, of_data: bool) {
        let given = self.arguments.concrete;
        let concrete = of_data || given.unwrap_or(true);
        let config = |concrete| Config {
            concrete,
            is_final: concrete,
            all_errors: true,
            ..Config::default()
        };
        let Err(mut errors) = self.session.runtime.validate(value, config(concrete)) else {
            return;
        };
        if given.is_none() && !of_data {
            match self.session.runtime.validate(value, config(false)) {
                Err(fatal) => errors = fatal,
                Ok(()) => {
                    if !self.errors {
                        super::plain::say(
                            "some instances are incomplete; use the -c flag to show errors or \
                             -c=false to allow incomplete instances",
                        );
                    }
                    self.errors = true;
                    return;
                }
            }
        }
        self.session.failed(&errors);
        self.errors = true;
    }
}
