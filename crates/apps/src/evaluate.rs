//! CUE, asked three questions: what does a file export, what is the default at a path, does a value fit there.
//!
//! Schemas and constraints come from vendors and tenants, so every question is bounded in steps, depth
//! and memory, and is asked on a thread of its own with a stack that fits the depth. Nothing
//! is kept between questions.

use std::sync::Arc;

use base::{SourceId, Sources, Span};
use cue::eval::validate::Config;
use cue::runtime::{Failed, Runtime, Value as Cue};
use cue::syntax::{self, ast};
use data::write::Json;

use crate::value::Value;

const STEPS: u64 = 2_000_000;
const DEPTH: u32 = 300;
const NODES: usize = 500_000;
const STACK: usize = 96 << 20;

/// A message and where it points.
pub type Complaint = (String, Option<Span>);

/// A file's value as JSON, if all of it is concrete.
pub fn export(source: SourceId, text: &Arc<str>) -> Result<String, Vec<Complaint>> {
    apart(|| {
        let mut run = Run::new(source, text)?;
        run.evaluate()?;
        let config = Config {
            concrete: true,
            is_final: true,
            all_errors: true,
            ..Config::default()
        };
        let root = run.root;
        run.runtime.validate(root, config).map_err(told)?;
        let mut out = Json::compact();
        run.runtime.write(root, &mut out);
        Ok(out.finish())
    })
}

/// Whether a file is good by itself: what is wrong, if not.
pub fn check(source: SourceId, text: &Arc<str>) -> Result<(), Vec<Complaint>> {
    apart(|| Run::new(source, text)?.evaluate())
}

/// The concrete value at a path, as JSON: a key's default.
pub fn default_at(text: &Arc<str>, path: &str) -> Option<String> {
    let default = apart(|| {
        let mut run = Run::new(SourceId(0), text)?;
        let expr: Arc<str> = path.into();
        let parsed = syntax::parse_expr(SourceId(0), &expr, run.runtime.symbols());
        let root = run.root;
        let found = run
            .runtime
            .evaluate_in("_", &parsed.file, parsed.expr, root);
        let found = found.map_err(told)?;
        let config = Config {
            concrete: true,
            is_final: true,
            ..Config::default()
        };
        if run.runtime.error(found).is_some() {
            return Err(Vec::new());
        }
        run.runtime.validate(found, config).map_err(told)?;
        let mut out = Json::compact();
        run.runtime.write(found, &mut out);
        Ok(out.finish())
    });
    default.ok()
}

/// Whether a value fits at a path: what is wrong, if not. The text itself must be good.
pub fn fits(text: &Arc<str>, path: &str, value: &Value) -> Result<(), Vec<Complaint>> {
    apart(|| {
        let mut run = Run::new(SourceId(0), text)?;
        let mut sources = Sources::new();
        let id = sources.add("value", value.json());
        let json = Arc::clone(sources.get(id).text());
        let options = data::Options::default();
        let symbols = run.runtime.symbols();
        let parsed = data::parse(data::Format::Json, id, json, symbols, &options);
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        for tree in &parsed.documents {
            run.runtime.add_data_at(run.root, &path, tree);
        }
        run.evaluate()
    })
}

/// Runs on a thread of its own, which gets the stack that the depth needs.
fn apart<T: Send>(
    ask: impl FnOnce() -> Result<T, Vec<Complaint>> + Send,
) -> Result<T, Vec<Complaint>> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, ask);
        match thread.map(|thread| thread.join()) {
            Ok(Ok(answer)) => answer,
            _ => Err(vec![("CUE could not be evaluated".to_owned(), None)]),
        }
    })
}

struct Run {
    runtime: Runtime,
    root: Cue,
}

impl Run {
    fn new(source: SourceId, text: &Arc<str>) -> Result<Run, Vec<Complaint>> {
        let mut runtime = Runtime::new();
        runtime.ctx.limits.steps = STEPS;
        runtime.ctx.limits.depth = DEPTH;
        runtime.ctx.limits.nodes = NODES;
        let parsed = syntax::parse_file(source, text, runtime.symbols());
        if !parsed.errors.is_empty() {
            let errors = parsed.errors.into_iter();
            return Err(errors
                .map(|error| (error.message.clone(), error.place()))
                .collect());
        }
        let files: [&ast::File; 1] = [&parsed.file];
        let root = runtime.build("_", &files).map_err(told)?;
        Ok(Run { runtime, root })
    }

    fn evaluate(&mut self) -> Result<(), Vec<Complaint>> {
        self.runtime.evaluate(self.root).map_err(told)?;
        let config = Config {
            all_errors: true,
            ..Config::default()
        };
        self.runtime.validate(self.root, config).map_err(told)
    }
}

fn told(failed: Failed) -> Vec<Complaint> {
    let told = failed.iter();
    told.map(|report| (report.text(), report.spans.first().copied()))
        .collect()
}
