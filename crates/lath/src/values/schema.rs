//! `lath values schema`: the schema of a module as JSON Schema, for editors and for Helm.
//!
//! A CUE module's schema is at `config`, `#config` or `#spec`, read as a definition; a data module's is the file that `--schema` names,
//! or the `values.schema.json` beside it, printed as it is.

use std::sync::Arc;

use base::{Diagnostic, SourceId, Span};
use cue::eval::validate::Config;
use cue::load::Loaded as Package;
use cue::{Runtime, Value, syntax};
use data::write::{self, Json};
use values::{Tier, codes};

use super::Outcome;
use super::args::{Common, Format};
use super::cue_files;
use super::load::Loaded;
use super::read;

/// Where a schema may lie, and the definition that it is read as.
const PLACES: [(&str, &str); 3] = [
    ("config", "{#schema: config}.#schema"),
    ("#config", "#config"),
    ("#spec", "#spec"),
];

pub fn run(loaded: &mut Loaded, module: &str, common: &Common) -> Outcome {
    let is_cue = loaded.is_cue_module(module, common);
    let text = match (&common.schema, is_cue) {
        (None, true) => of_cue(loaded, module),
        (schema, _) => of_data(loaded, module, schema.as_deref(), common),
    };
    Outcome {
        text,
        findings: std::mem::take(&mut loaded.findings),
    }
}

/// The schema file itself, as JSON.
fn of_data(
    loaded: &mut Loaded,
    module: &str,
    schema: Option<&str>,
    common: &Common,
) -> Option<String> {
    let beside = loaded.schema_beside(module);
    let Some(name) = schema.map(str::to_owned).or(beside) else {
        let message = format!("the module `{module}` has no schema");
        let help = match read::format_of(module).or(common.format) {
            Some(Format::Cue) | None => "give it one at `config`, or as values.schema.json",
            _ => {
                "name a JSON Schema with `--schema FILE`, or put values.schema.json into the module's directory"
            }
        };
        let finding = Diagnostic::error(codes::NO_SCHEMA, message).help(help);
        loaded.findings.push(finding);
        return None;
    };
    let tree = loaded.schema_tree(&name)?;
    // What cannot be used as a schema is a finding here as well.
    if let Err(finding) = values::Schema::new(tree.clone(), &loaded.symbols) {
        loaded.findings.push(*finding);
        return None;
    }
    let mut writer = Json::indented(2);
    write::node(&mut writer, &tree, tree.root(), &loaded.symbols);
    Some(writer.finish() + "\n")
}

fn of_cue(loaded: &mut Loaded, module: &str) -> Option<String> {
    let work = || {
        let package = loaded.cue(module)?;
        // Files are parsed with the names of the run, so the evaluation takes them over.
        let mut runtime = Runtime::new();
        std::mem::swap(runtime.symbols(), &mut loaded.symbols);
        print(&mut runtime, loaded, module, &package)
    };
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(cue::runtime::STACK_BYTES)
            .spawn_scoped(scope, work);
        match worker.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(text)) => text,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => None,
        }
    })
}

fn print(
    runtime: &mut Runtime,
    loaded: &mut Loaded,
    module: &str,
    package: &Package,
) -> Option<String> {
    match find(runtime, loaded, package) {
        Ok(Some(schema)) => {
            let mut writer = Json::indented(2);
            let own = cue_files::name(package, runtime.symbols());
            let title = own.unwrap_or_else(|| read::name_of(module));
            runtime.write_json_schema(schema, Some(&title), &mut writer);
            Some(writer.finish() + "\n")
        }
        Ok(None) => {
            let message = format!("the module `{module}` has no schema");
            let finding = Diagnostic::error(codes::NO_SCHEMA, message)
                .help("a module's schema is at `config`, `#config` or `#spec`");
            loaded.findings.push(finding);
            None
        }
        Err(errors) => {
            let instance = package.instances.first();
            let file = instance.and_then(|instance| instance.files.first());
            let start = Span::new(file.map_or(SourceId(0), |file| file.source), 0..0);
            let errors = errors.iter();
            let findings = errors.map(|error| values::reported_finding(error, start, Tier::Module));
            loaded.findings.extend(findings);
            None
        }
    }
}

/// Builds a package and finds its schema.
fn find(
    runtime: &mut Runtime,
    loaded: &mut Loaded,
    package: &Package,
) -> Result<Option<Value>, cue::runtime::Failed> {
    runtime.know_sources(&loaded.sources);
    let Some((value, identity)) = runtime.build_first(package)? else {
        return Ok(None);
    };
    runtime.evaluate(value)?;
    for (name, text) in PLACES {
        let Some(own) = runtime.find(value, name) else {
            continue;
        };
        let all = Config {
            all_errors: true,
            ..Config::default()
        };
        runtime.validate(own, all)?;
        let id = loaded.sources.add("<schema>", text);
        let text: Arc<str> = Arc::from(text);
        let parsed = syntax::parse_expr(id, &text, runtime.symbols());
        let found = runtime.evaluate_in(&identity, &parsed.file, parsed.expr, value)?;
        if let Some(errors) = runtime.error(found) {
            return Err(errors);
        }
        return Ok(Some(found));
    }
    Ok(None)
}
