//! The state of every node of a program, for the node-level score of the conformance cases.
//!
//! ```text
//! cargo run -p cue --example nodes -- ../shared/conformance/cue/nodes.jsonl > /tmp/got.jsonl
//! python3 ../shared/conformance/cue/score_nodes.py /tmp/got.jsonl
//! ```
#![allow(clippy::print_stdout)]

use std::sync::Arc;

use base::{SourceId, Sources, Symbols};
use cue::Runtime;
use cue::eval::ids::NodeId;
use cue::eval::node::ArcType;
use cue::eval::validate::Config;
use cue::eval::value::Code;
use data::write::{Json, Writer};
use data::{Format, Options, Tree, Value};

/// A program of the cases: its name and its files in order.
struct Case {
    id: String,
    files: Vec<(String, String)>,
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    let lines = std::fs::read_to_string(path).unwrap_or_default();
    for line in lines.lines() {
        let Some(case) = read(line) else {
            continue;
        };
        let id = case.id.clone();
        let worker = std::thread::Builder::new()
            .stack_size(cue::runtime::STACK_BYTES)
            .spawn(move || nodes(&case));
        let told = worker.ok().and_then(|worker| worker.join().ok());
        let mut out = Json::compact();
        out.begin_map();
        out.key("id");
        out.string(&id);
        out.key("nodes");
        out.begin_list();
        for node in told.unwrap_or_default() {
            out.begin_map();
            for (key, text) in [("p", &node.path), ("s", &node.state), ("j", &node.json)] {
                out.key(key);
                out.string(text);
            }
            out.key("e");
            out.begin_map();
            out.key("code");
            out.string(node.code);
            out.end_map();
            out.end_map();
        }
        out.end_list();
        out.end_map();
        println!("{}", out.finish().trim_end());
    }
}

fn read(line: &str) -> Option<Case> {
    let mut symbols = Symbols::new();
    let text: Arc<str> = Arc::from(line);
    let parsed = data::parse(
        Format::Json,
        SourceId(0),
        text,
        &mut symbols,
        &Options::default(),
    );
    let tree: Tree = parsed.documents.into_iter().next()?;
    let Value::Map(fields) = tree.value(tree.root()) else {
        return None;
    };
    let field = |name: &str| {
        let found = fields.iter().find(|f| symbols.name(f.name) == name);
        found.map(|f| tree.value(f.value))
    };
    let Some(Value::String(id)) = field("id") else {
        return None;
    };
    let (Some(Value::List(args)), Some(Value::Map(files))) = (field("args"), field("files")) else {
        return None;
    };
    let mut given = Vec::new();
    for &arg in args {
        let Value::String(name) = tree.value(arg) else {
            continue;
        };
        let file = files.iter().find(|f| symbols.name(f.name) == name)?;
        if let Value::String(text) = tree.value(file.value) {
            given.push((name.to_owned(), text.to_owned()));
        }
    }
    Some(Case {
        id: id.to_owned(),
        files: given,
    })
}

#[derive(Default)]
struct Told {
    path: String,
    state: String,
    json: String,
    code: &'static str,
}

fn nodes(case: &Case) -> Vec<Told> {
    let mut sources = Sources::new();
    let mut runtime = Runtime::new();
    let mut parsed = Vec::new();
    for (name, text) in &case.files {
        let id = sources.add(name.as_str(), text.as_str());
        let text: Arc<str> = Arc::from(text.as_str());
        let file = cue::syntax::parse_file(id, &text, runtime.symbols());
        if !file.errors.is_empty() {
            return Vec::new();
        }
        parsed.push(file.file);
    }
    runtime.know_sources(&sources);
    let files: Vec<_> = parsed.iter().collect();
    let Ok(value) = runtime.build("_", &files) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    if runtime.evaluate(value).is_ok() {
        walk(&mut runtime, value.0, String::new(), &mut out, 0);
    }
    out
}

fn walk(runtime: &mut Runtime, arc: NodeId, path: String, out: &mut Vec<Told>, depth: usize) {
    if depth > 100 || out.len() > 20_000 {
        return;
    }
    let node = runtime.ctx.default_node(arc);
    let mut told = Told {
        path: path.clone(),
        ..Told::default()
    };
    let optional = runtime.ctx.nodes[arc].arc_type == ArcType::Optional;
    if optional {
        told.state = "constraint".to_owned();
    } else if let Some(bottom) = runtime.ctx.node_bottom(node) {
        let bottom = runtime.ctx.bottom(bottom);
        let child = bottom.is_some_and(|b| b.child_error);
        told.state = if child { "childerror" } else { "error" }.to_owned();
        told.code = match bottom.map(|b| b.code) {
            Some(Code::User) => "user",
            Some(Code::StructuralCycle) => "structural_cycle",
            Some(Code::Incomplete) => "incomplete",
            Some(Code::Cycle) => "cycle",
            _ => "eval",
        };
    } else {
        let strict = Config {
            concrete: true,
            is_final: true,
            ..Config::default()
        };
        let concrete = matches!(runtime.ctx.validate(node, strict), Ok(None))
            && runtime.ctx.node_is_concrete(node);
        told.state = if concrete { "concrete" } else { "incomplete" }.to_owned();
        if concrete {
            let mut json = Json::compact();
            runtime.write(cue::Value(node), &mut json);
            told.json = json.finish().trim_end().to_owned();
        }
    }
    out.push(told);
    if optional {
        return;
    }
    let arcs = runtime.ctx.nodes[node].arcs.list.clone();
    for arc in arcs {
        let label = runtime.ctx.nodes[arc].label;
        let arc_type = runtime.ctx.nodes[arc].arc_type;
        if label.is_let() || arc_type > ArcType::Optional {
            continue;
        }
        let inner = if label.is_int() {
            format!("{path}[{}]", label.index())
        } else {
            let name = label.selector(&runtime.ctx.symbols);
            let dot = if path.is_empty() { "" } else { "." };
            format!("{path}{dot}{name}{}", arc_type.suffix())
        };
        walk(runtime, arc, inner, out, depth + 1);
    }
}
