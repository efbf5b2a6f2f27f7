//! The way in: files to an instance, an instance to values, values to text.
//!
//! A [`Runtime`] owns everything that one evaluation needs and is dropped as a whole. It can be sent to another
//! thread; callers run it on one with a stack of [`STACK_BYTES`].

use base::{Sources, Symbols};
use data::Tree;

use crate::compile::{CompileError, compile_tree};
use crate::eval::ids::NodeId;
use crate::eval::label::Label;
use crate::eval::limits::Bound;
use crate::eval::node::{ArcType, Base, CloseInfo, Conjunct, Node, Status, X};
use crate::eval::report::Reported;
use crate::eval::sched;
use crate::eval::validate::Config;
use crate::eval::value::{Code, Val};
use crate::eval::work::Run;
use crate::eval::{Ctx, Stop};
use crate::export::{self, cue::Profile};
use crate::syntax::ast;

pub use crate::eval::limits::STACK_BYTES;

/// Findings of an evaluation that failed.
/// How much of a path is shown where a bound was reached.
const LONGEST_PATH: usize = 12;

pub type Failed = Vec<Reported>;

#[derive(Debug, Default)]
pub struct Runtime {
    pub ctx: Ctx,
}

/// A value: a vertex of the runtime that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value(pub NodeId);

fn reported(errors: &[CompileError]) -> Failed {
    errors.iter().map(CompileError::reported).collect()
}

impl Runtime {
    pub fn new() -> Runtime {
        Runtime::default()
    }

    /// The table of names that files of this runtime must be parsed with.
    pub fn symbols(&mut self) -> &mut Symbols {
        &mut self.ctx.symbols
    }

    /// Tells the runtime the names of all sources; they decide the order of reports.
    pub fn know_sources(&mut self, sources: &Sources) {
        let known = self.ctx.source_names.len();
        for (_, source) in sources.iter().skip(known) {
            self.ctx.source_names.push(source.name().to_owned());
        }
    }

    /// Writes fields by name instead of in the order of the source.
    pub fn sort_fields(&mut self, on: bool) {
        self.ctx.sort_fields = on;
    }

    /// Makes a package that programs import by `path`.
    pub fn add_package(&mut self, path: &str, package: Value) {
        let label = Label::string(&mut self.ctx.symbols, path);
        self.ctx.packages.insert(label, package.0);
    }

    /// Compiles the files of one package.
    pub fn build(&mut self, package: &str, files: &[&ast::File]) -> Result<Value, Failed> {
        match self.ctx.compile_files(package, files) {
            Ok(node) => Ok(Value(node)),
            Err(errors) => Err(self.sorted(reported(&errors))),
        }
    }

    fn sorted(&self, mut errors: Failed) -> Failed {
        let names = &self.ctx.source_names;
        errors.sort_by(|a, b| {
            let key = |r: &Reported| {
                r.spans
                    .first()
                    .map(|s| (names.get(s.source.0 as usize).cloned(), s.start))
            };
            key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
        });
        errors.dedup();
        errors
    }

    /// A value with nothing in it.
    pub fn empty(&mut self) -> Value {
        Value(
            self.ctx
                .nodes
                .push(Node::new(None, Label::NONE, ArcType::Member)),
        )
    }

    /// Adds a document to a value that has not been evaluated.
    pub fn add_data(&mut self, value: Value, tree: &Tree) {
        let expr = compile_tree(&mut self.ctx, tree);
        self.ctx.nodes[value.0].conjuncts.push(Conjunct {
            env: None,
            x: X::Expr(expr),
            ci: CloseInfo::default(),
        });
    }

    /// Adds a document below a path of string labels.
    pub fn add_data_at(&mut self, value: Value, path: &[String], tree: &Tree) {
        let mut expr = compile_tree(&mut self.ctx, tree);
        let span = tree.span(tree.root());
        for name in path.iter().rev() {
            let label = Label::string(&mut self.ctx.symbols, name);
            let kind = crate::eval::ir::DeclKind::Field {
                label,
                arc: ArcType::Member,
                value: expr,
            };
            let decl = self.ctx.ir.decl(kind, span);
            let lit = crate::eval::ir::StructLit {
                decls: self.ctx.ir.literal(&[decl]),
                file: false,
                has_embed: false,
                explicit_open: false,
            };
            expr = self
                .ctx
                .ir
                .push(crate::eval::ir::Expr::Struct(lit), Some(span));
        }
        self.ctx.nodes[value.0].conjuncts.push(Conjunct {
            env: None,
            x: X::Expr(expr),
            ci: CloseInfo::default(),
        });
    }

    /// The unification of two values, as a value of its own.
    pub fn unify(&mut self, a: Value, b: Value) -> Result<Value, Failed> {
        let node = self
            .ctx
            .nodes
            .push(Node::new(None, Label::NONE, ArcType::Member));
        for side in [a.0, b.0] {
            let top_def = self.in_definition(side);
            self.ctx.nodes[node].conjuncts.push(Conjunct {
                env: None,
                x: X::Node(side),
                ci: CloseInfo {
                    top_def,
                    ..CloseInfo::default()
                },
            });
        }
        self.evaluate(Value(node))?;
        Ok(Value(node))
    }

    fn in_definition(&self, node: NodeId) -> bool {
        let mut at = Some(node);
        while let Some(n) = at {
            if self.ctx.nodes[n].label.is_def() {
                return true;
            }
            at = self.ctx.nodes[n].parent;
        }
        false
    }

    fn limit(&self) -> Failed {
        let exceeded = self.ctx.limits.exceeded;
        let bound = exceeded.map_or(Bound::Steps, |exceeded| exceeded.bound);
        let labels = exceeded
            .and_then(|exceeded| exceeded.node)
            .map_or(Vec::new(), |node| self.ctx.path(node));
        let mut path: Vec<String> = labels
            .iter()
            .take(LONGEST_PATH)
            .map(|label| label.selector(&self.ctx.symbols))
            .collect();
        if labels.len() > LONGEST_PATH {
            path.push("…".to_owned());
        }
        vec![Reported {
            code: Code::Eval,
            path,
            message: bound.message().to_owned(),
            spans: exceeded.and_then(|e| e.span).into_iter().collect(),
            help: Some(bound.help()),
        }]
    }

    /// Computes a value completely.
    pub fn evaluate(&mut self, value: Value) -> Result<(), Failed> {
        match self.ctx.finalize(value.0) {
            Ok(()) => Ok(()),
            Err(Stop::Yield | Stop::Limit) => Err(self.limit()),
        }
    }

    /// Evaluates an expression in the scope of a value.
    pub fn evaluate_in(
        &mut self,
        package: &str,
        file: &ast::File,
        expr: ast::ExprId,
        scope: Value,
    ) -> Result<Value, Failed> {
        self.evaluate(scope)?;
        let scope = self.ctx.deref_value(scope.0);
        let c = self
            .ctx
            .compile_expr_in(package, file, expr, scope)
            .map_err(|e| reported(&e))?;
        let X::Expr(x) = c.x else {
            return Ok(Value(scope));
        };
        let saved = self.ctx.push_conjunct(c);
        let result = if self.ctx.ir.is_resolver(x) {
            self.ctx
                .resolve(x, sched::ALL, Run::Finalize)
                .map(|arc| arc.map(Val::Node))
        } else {
            let node = self.ctx.inline_node(Base::None, &[c]);
            self.ctx.finalize(node).map(|()| Some(Val::Node(node)))
        };
        let errs = self.ctx.pop_state(saved);
        let value = result.map_err(|_| self.limit())?;
        if let Some(errs) = errs {
            let node = self
                .ctx
                .nodes
                .push(Node::new(None, Label::NONE, ArcType::Member));
            self.ctx.nodes[node].base = Base::Val(errs);
            self.ctx.nodes[node].status = Status::Finalized;
            return Ok(Value(node));
        }
        match value {
            Some(Val::Node(node)) => {
                self.evaluate(Value(node))?;
                if let Some(below) = self.ctx.nodes[node].child_errors
                    && self.ctx.code(below) == Code::StructuralCycle
                {
                    let copy = self.ctx.nodes[node].label;
                    let bad = self.ctx.nodes.push(Node::new(None, copy, ArcType::Member));
                    self.ctx.nodes[bad].base = Base::Val(below);
                    self.ctx.nodes[bad].status = Status::Finalized;
                    return Ok(Value(bad));
                }
                Ok(Value(node))
            }
            _ => Ok(Value(scope)),
        }
    }

    /// What is wrong with a value under a configuration.
    pub fn validate(&mut self, value: Value, config: Config) -> Result<(), Failed> {
        match self.ctx.validate(value.0, config) {
            Err(_) => Err(self.limit()),
            Ok(None) => Ok(()),
            Ok(Some(bottom)) => Err(self.ctx.report(bottom)),
        }
    }

    /// The error a value is, if it is one.
    pub fn error(&self, value: Value) -> Option<Failed> {
        let bottom = self.ctx.node_bottom(value.0)?;
        Some(self.ctx.report(bottom))
    }

    /// What no data format can hold, if there is such in a concrete value.
    pub fn unwritable(&mut self, value: Value) -> Option<String> {
        export::data::first_function(&mut self.ctx, value.0)
    }

    /// Writes a concrete value.
    pub fn write(&mut self, value: Value, out: &mut impl data::write::Writer) {
        export::data::write(&mut self.ctx, value.0, out);
    }

    /// A value as CUE.
    pub fn write_cue(&mut self, value: Value, profile: Profile) -> String {
        export::cue::write(&mut self.ctx, value.0, profile)
    }

    /// The definition of a value as CUE.
    pub fn write_def(&mut self, value: Value, package: Option<&str>) -> String {
        export::def::write(&mut self.ctx, value.0, package)
    }

    /// The OpenAPI document of a value's definitions, as a value. The error is a message.
    pub fn openapi(
        &mut self,
        value: Value,
        config: &crate::openapi::Config,
    ) -> Result<Value, String> {
        let document = crate::openapi::generate(&mut self.ctx, value.0, config);
        let document = document.map_err(|failure| failure.message)?;
        match self.ctx.from_plain(&document, &[]) {
            Ok(Val::Node(node)) => Ok(Value(node)),
            _ => Err("openapi: the schema is too large".to_owned()),
        }
    }

    /// A value as JSON Schema.
    pub fn write_json_schema(
        &mut self,
        value: Value,
        title: Option<&str>,
        out: &mut impl data::write::Writer,
    ) {
        export::json_schema::write(&mut self.ctx, value.0, title, out);
    }

    /// The fields of a struct or the elements of a list, in output order. Definitions, hidden and absent fields are left out.
    pub fn fields(&mut self, value: Value) -> Vec<(String, Value)> {
        let node = self.ctx.settled_node(value.0);
        export::order::ordered_arcs(&self.ctx, node)
            .into_iter()
            .filter(|&arc| {
                let a = &self.ctx.nodes[arc];
                a.label.is_regular() && a.arc_type == ArcType::Member
            })
            .map(|arc| {
                let label = self.ctx.nodes[arc].label;
                let name = if label.is_int() {
                    label.index().to_string()
                } else {
                    label.name(&self.ctx.symbols).to_owned()
                };
                (name, Value(arc))
            })
            .collect()
    }

    /// The field of that name.
    pub fn field(&mut self, value: Value, name: &str) -> Option<Value> {
        let node = self.ctx.settled_node(value.0);
        let label = Label::string(&mut self.ctx.symbols, name);
        self.ctx.find_arc(node, label).map(Value)
    }

    /// The field or definition that a name stands for.
    pub fn find(&mut self, value: Value, name: &str) -> Option<Value> {
        let node = self.ctx.default_node(value.0);
        let label = Label::ident(&mut self.ctx.symbols, name, "");
        self.ctx.find_arc(node, label).map(Value)
    }

    /// The text of a string value.
    pub fn text(&mut self, value: Value) -> Option<Vec<u8>> {
        let node = self.ctx.settled_node(value.0);
        match self.ctx.scalar(Val::Node(node)) {
            Some(crate::eval::value::Value::String(s)) => Some(s.as_bytes().to_vec()),
            Some(crate::eval::value::Value::Bytes(b)) => Some(b.to_vec()),
            _ => None,
        }
    }
}
