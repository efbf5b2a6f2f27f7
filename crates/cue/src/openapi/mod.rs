//! OpenAPI 3.0 schemas of CUE definitions: `openapi.MarshalSchema` and `--out openapi`.
//!
//! Every definition of a value becomes a schema under `components`. Conjunctions of plain constraints are flattened into
//! one schema, references become `$ref`, disjunctions of scalars an `enum` and others `oneOf`. What a definition refers to outside
//! of the value is added under its whole path. With `expand`, references are replaced by what they refer to, in the
//! structural form that custom resources need.
//!
//! The names and order of keywords are those of the reference implementation. Closed structs are not told: OpenAPI schemas are
//! open by custom. Validators without a keyword of their own are left out.

mod builder;
mod constraint;
mod part;
mod structural;

use crate::eval::Ctx;
use crate::eval::ids::NodeId;
use crate::eval::node::ArcType;
use crate::eval::value::{Val, Value as Lit};
use crate::packages::Value;

use builder::{Builder, Map};
use part::Part;

/// What to make.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// `3.0.0`; anything else is refused.
    pub version: String,
    /// Replaces references by what they refer to.
    pub expand: bool,
    /// The `info` section; without one it is made of the value's own `info` and `$version`.
    pub info: Option<Value>,
    /// The title when there is none: the comment above the file.
    pub title: Option<String>,
}

/// Why there is no schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub message: String,
    /// The value may still become one that has a schema.
    pub incomplete: bool,
}

impl Failure {
    fn fatal(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            incomplete: false,
        }
    }

    /// The evaluator met one of its bounds.
    fn bound() -> Failure {
        Failure::fatal("openapi: the schema is too large")
    }
}

type Made<T> = Result<T, Failure>;

/// Schemas that are built at most; expanded references can multiply.
const MAX_SCHEMAS: usize = 100_000;
/// How deep schemas nest.
const MAX_DEPTH: usize = 100;

/// A definition outside of the value that a schema refers to.
struct External {
    name: String,
    node: NodeId,
    built: bool,
}

/// The state of one generation.
struct Generator<'c> {
    ctx: &'c mut Ctx,
    root: NodeId,
    expand: bool,
    /// Names of the definitions around the schema that is being built.
    path: Vec<String>,
    schemas: Map,
    external: Vec<External>,
    /// Vertices that are being built, to find cycles of expanded references.
    active: Vec<NodeId>,
    made: usize,
}

/// The whole document of a value.
pub fn generate(ctx: &mut Ctx, node: NodeId, config: &Config) -> Result<Value, Failure> {
    if config.version != "3.0.0" {
        let message = format!("unsupported version {}", config.version);
        return Err(Failure::fatal(message));
    }
    let root = ctx.deref_value(node);
    let mut generator = Generator {
        ctx,
        root,
        expand: config.expand,
        path: Vec::new(),
        schemas: Vec::new(),
        external: Vec::new(),
        active: Vec::new(),
        made: 0,
    };
    generator.definitions()?;
    let mut schemas = std::mem::take(&mut generator.schemas);
    schemas.sort_by(|a, b| a.0.cmp(&b.0));
    let info = generator.info(config)?;
    Ok(Value::Struct(vec![
        ("openapi".to_owned(), Value::string(config.version.clone())),
        ("info".to_owned(), info),
        ("paths".to_owned(), Value::Struct(Vec::new())),
        (
            "components".to_owned(),
            Value::Struct(vec![("schemas".to_owned(), Value::Struct(schemas))]),
        ),
    ]))
}

impl Generator<'_> {
    fn definitions(&mut self) -> Made<()> {
        self.check(Part::of(self.root))?;
        for arc in crate::export::order::ordered_arcs(self.ctx, self.root) {
            let a = &self.ctx.nodes[arc];
            if !a.label.is_def() || a.label.is_hidden() || a.arc_type > ArcType::Required {
                continue;
            }
            let Some(name) = self.label(arc) else {
                continue;
            };
            let schema = self.schema(None, &name, Part::of(arc))?;
            builder::set(&mut self.schemas, &name, Value::Struct(schema));
        }
        // What they refer to may refer to more.
        while let Some(at) = self.external.iter().position(|e| !e.built) {
            let mut next = at;
            for (i, e) in self.external.iter().enumerate() {
                if !e.built && self.external.get(next).is_some_and(|n| e.name < n.name) {
                    next = i;
                }
            }
            let Some(e) = self.external.get_mut(next) else {
                break;
            };
            e.built = true;
            let (name, node) = (e.name.clone(), e.node);
            let schema = self.schema(None, &name, Part::of(node))?;
            builder::set(&mut self.schemas, &name, Value::Struct(schema));
        }
        Ok(())
    }

    /// The name of a definition or field without its mark; none if it is not to be shown.
    fn label(&self, arc: NodeId) -> Option<String> {
        let label = self.ctx.nodes[arc].label;
        let name = label.name(&self.ctx.symbols);
        if label.is_def() {
            // Enumerations of protocol buffers keep their numbers in such definitions.
            return (!name.ends_with("_value")).then(|| name.trim_start_matches('#').to_owned());
        }
        Some(name.to_owned())
    }

    fn info(&mut self, config: &Config) -> Made<Value> {
        let mut own: Map = Vec::new();
        let mut version = None;
        for arc in crate::export::order::ordered_arcs(self.ctx, self.root) {
            let a = &self.ctx.nodes[arc];
            if !a.label.is_string() || a.arc_type > ArcType::Required {
                continue;
            }
            match a.label.name(&self.ctx.symbols).to_owned().as_str() {
                "$version" => {
                    if let Value::String(text) = self.plain(Part::of(arc))? {
                        version = Some(text);
                    }
                }
                "info" => match self.plain(Part::of(arc))? {
                    Value::Struct(fields) => own = fields,
                    _ => return Err(Failure::fatal("info must be a struct")),
                },
                name => {
                    let message = format!("openapi: unsupported top-level field {name:?}");
                    return Err(Failure::fatal(message));
                }
            }
        }
        if let Some(info) = &config.info {
            return match info {
                Value::Struct(_) => Ok(info.clone()),
                _ => Err(Failure::fatal(
                    "Info field supplied must marshal to a struct",
                )),
            };
        }
        let text = |own: &Map, name: &str| {
            let found = own.iter().find(|(known, _)| known == name);
            matches!(found, Some((_, Value::String(text))) if !text.is_empty())
        };
        if !text(&own, "title") {
            let title = config.title.clone();
            let title = title.unwrap_or_else(|| "Generated by cue.".to_owned());
            builder::set(&mut own, "title", Value::string(title));
        }
        if !text(&own, "version") {
            let version = version.unwrap_or_else(|| "no version".to_owned());
            builder::set(&mut own, "version", Value::string(version));
        }
        Ok(Value::Struct(own))
    }

    /// A value as plain data.
    fn plain(&mut self, part: Part) -> Made<Value> {
        let mut opaque = Vec::new();
        let found = self.ctx.plain(Val::Node(part.node), true, &mut opaque);
        match found.map_err(|_| Failure::bound())? {
            Ok(value) => Ok(value),
            Err(bottom) => Err(self.failure(bottom)),
        }
    }

    fn failure(&self, bottom: crate::eval::ids::ValId) -> Failure {
        let message = match self.ctx.bottom(bottom).and_then(|b| b.errors.first()) {
            Some(&error) => self.ctx.message(error),
            None => "the value is not concrete".to_owned(),
        };
        Failure {
            message: format!("openapi: {message}"),
            incomplete: self.ctx.is_incomplete(bottom),
        }
    }

    /// Refuses values that are errors.
    fn check(&mut self, part: Part) -> Made<()> {
        match self.ctx.node_bottom(part.node) {
            Some(bottom) => Err(self.failure(bottom)),
            None => Ok(()),
        }
    }

    /// The schema of a value below the one that is being built.
    fn schema(
        &mut self,
        core: Option<std::rc::Rc<builder::Core>>,
        name: &str,
        part: Part,
    ) -> Made<Map> {
        self.made += 1;
        if self.made > MAX_SCHEMAS || self.path.len() >= MAX_DEPTH {
            return Err(Failure::bound());
        }
        self.path.push(name.to_owned());
        let mut builder = Builder::default();
        if core.is_none() && self.expand {
            builder.collect(self, part)?;
            builder.core_schema(self)?;
        } else {
            builder.core = core;
        }
        let schema = builder.fill(self, part)?;
        self.path.pop();
        Ok(schema)
    }

    /// The comments above a field, without their marks.
    fn docs(&self, part: Part) -> Option<String> {
        let mut texts: Vec<String> = Vec::new();
        for c in &self.ctx.nodes[part.node].conjuncts {
            if let crate::eval::node::X::Decl(decl) = c.x
                && let Some(lines) = self.ctx.docs.get(&decl)
            {
                let text: Vec<&str> = lines
                    .iter()
                    .map(|line| line.trim_start_matches('/'))
                    .map(|line| line.strip_prefix(' ').unwrap_or(line))
                    .collect();
                texts.push(text.join("\n"));
            }
        }
        let text = texts.join("\n\n").trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The name under which a reference is found: the path from the root of its package.
    fn name_of(&self, path: &[crate::eval::label::Label]) -> String {
        let names: Vec<&str> = path
            .iter()
            .map(|label| label.name(&self.ctx.symbols).trim_start_matches('#'))
            .collect();
        names.join(".")
    }

    fn is_null(&self, part: Part) -> bool {
        matches!(self.ctx.scalar(Val::Node(part.node)), Some(Lit::Null))
    }
}
