//! Compilation: syntax to expressions in which every name is resolved.
//!
//! A name means the innermost braces that declare it (an unquoted label, an alias, a `let`, a variable of a
//! comprehension), then what the file declares, then the fields of all files of the package, then the
//! predeclared names. It compiles to a number of frames to go up and a label; what other declarations of
//! the same field contribute is invisible here and found by the evaluator.
//!
//! Unresolved names, unused aliases and the like are errors; a package with errors is not evaluated.

mod comprehension;
mod decl;
mod expr;
mod resolve;
pub(crate) use resolve::short;
mod scope;
pub mod standard;
mod tree;

use base::{Span, Symbol};
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::eval::Ctx;
use crate::eval::ids::{ExprId, NodeId, ValId};
use crate::eval::ir::Expr;
use crate::eval::label::Label;
use crate::eval::node::{ArcType, Base, CloseInfo, Conjunct, Env, Node, X};
use crate::eval::report::Reported;
use crate::eval::value::{Code, ErrorData, Value};
use crate::syntax::ast;

use scope::Scope;

pub use tree::{compile_node, compile_tree};

/// A file to compile, with what its imports refer to.
#[derive(Debug)]
pub struct Unit<'f> {
    pub file: &'f ast::File,
}

/// An error found while compiling.
#[derive(Clone, Debug)]
pub struct CompileError {
    pub path: Vec<String>,
    pub message: String,
    pub span: Span,
}

impl CompileError {
    pub fn reported(&self) -> Reported {
        Reported {
            code: Code::Eval,
            path: self.path.clone(),
            message: self.message.clone(),
            spans: vec![self.span],
            help: None,
        }
    }
}

/// Compiles the files of one package.
pub(crate) struct Compiler<'c> {
    ctx: &'c mut Ctx,
    /// Identifies the package in hidden labels.
    package: String,
    file: Option<&'c ast::File>,
    stack: Vec<Scope>,
    /// Fields of all files of the package.
    package_fields: HashSet<Label, FxBuildHasher>,
    /// Vertices whose fields are in scope around the program, innermost first.
    around: Vec<NodeId>,
    errors: Vec<CompileError>,
    refers_to_variable: bool,
    in_try: u32,
}

impl Ctx {
    /// Compiles files into a new vertex.
    pub fn compile_files(
        &mut self,
        package: &str,
        files: &[&ast::File],
    ) -> Result<NodeId, Vec<CompileError>> {
        let node = self
            .nodes
            .push(Node::new(None, Label::NONE, ArcType::Member));
        let exprs = self.compile_literals(package, files)?;
        let env = self.envs.push(Env::default());
        for expr in exprs {
            self.nodes[node].conjuncts.push(Conjunct {
                env: Some(env),
                x: X::Expr(expr),
                ci: CloseInfo::default(),
            });
        }
        Ok(node)
    }

    fn compile_literals(
        &mut self,
        package: &str,
        files: &[&ast::File],
    ) -> Result<Vec<ExprId>, Vec<CompileError>> {
        let mut compiler = Compiler {
            ctx: self,
            package: package.to_owned(),
            file: None,
            stack: Vec::new(),
            package_fields: HashSet::default(),
            around: Vec::new(),
            errors: Vec::new(),
            refers_to_variable: false,
            in_try: 0,
        };
        for file in files {
            // Files of `package _` stand alone.
            if file
                .package()
                .is_some_and(|name| compiler.ctx.symbols.name(name.symbol) != "_")
            {
                compiler.declare_package_fields(file);
            }
        }
        let mut exprs = Vec::new();
        for file in files {
            exprs.push(compiler.compile_file(file));
        }
        let errors = compiler.errors;
        if errors.is_empty() {
            Ok(exprs)
        } else {
            Err(errors)
        }
    }

    /// Compiles an expression in the scope of a vertex.
    pub fn compile_expr_in(
        &mut self,
        package: &str,
        file: &ast::File,
        expr: ast::ExprId,
        scope: NodeId,
    ) -> Result<Conjunct, Vec<CompileError>> {
        let mut compiler = Compiler {
            ctx: self,
            package: package.to_owned(),
            file: Some(file),
            stack: Vec::new(),
            package_fields: HashSet::default(),
            around: vec![scope],
            errors: Vec::new(),
            refers_to_variable: false,
            in_try: 0,
        };
        let expr = compiler.expr(expr);
        let errors = compiler.errors;
        if !errors.is_empty() {
            return Err(errors);
        }
        let env = self.envs.push(Env {
            node: Some(scope),
            ..Env::default()
        });
        Ok(Conjunct {
            env: Some(env),
            x: X::Expr(expr),
            ci: CloseInfo::default(),
        })
    }
}

impl<'c> Compiler<'c> {
    fn ast(&self) -> &'c ast::File {
        self.file
            .expect("the file is set before any of its nodes is compiled")
    }

    /// Reports an error; the expression becomes bottom.
    fn error(&mut self, span: Span, message: impl Into<String>) -> ExprId {
        let path = self
            .stack
            .iter()
            .filter_map(|scope| scope.path)
            .map(|step| self.step_text(step))
            .collect::<Vec<_>>();
        let message = message.into();
        self.errors.push(CompileError {
            path,
            message: message.clone(),
            span,
        });
        let err = self.ctx.errors.push(ErrorData {
            node: None,
            alt_path: None,
            text_path: None,
            pos: Some(span),
            others: Vec::new(),
            format: "%",
            args: smallvec::smallvec![crate::eval::value::Arg::Text(message)],
            wraps: None,
        });
        let bottom = self.ctx.new_bottom_on(Code::Eval, err, None);
        self.push_value_id(bottom, span)
    }

    fn push(&mut self, expr: Expr, span: Span) -> ExprId {
        self.ctx.ir.push(expr, Some(span))
    }

    fn push_value(&mut self, value: Value, span: Span) -> ExprId {
        let id = self.ctx.new_value_at(value, Some(span));
        self.push_value_id(id, span)
    }

    fn push_value_id(&mut self, id: ValId, span: Span) -> ExprId {
        self.push(Expr::Value(id), span)
    }

    /// The label an identifier stands for.
    fn label(&mut self, symbol: Symbol) -> Label {
        Label::of_ident(&mut self.ctx.symbols, symbol, &self.package)
    }

    /// An identifier, for messages.
    fn name(&self, symbol: Symbol) -> String {
        self.ctx.symbols.name(symbol).to_owned()
    }

    /// Whether it is `_`, which names nothing.
    fn is_blank(&self, symbol: Symbol) -> bool {
        self.ctx.symbols.name(symbol) == "_"
    }
}

/// A vertex that stands for a value known beforehand.
pub(crate) fn constant_node(ctx: &mut Ctx, parent: NodeId, label: Label, id: ValId) -> NodeId {
    let mut node = Node::new(Some(parent), label, ArcType::Member);
    node.base = Base::Val(id);
    node.status = crate::eval::node::Status::Finalized;
    node.conjuncts.push(Conjunct {
        env: None,
        x: X::Val(id),
        ci: CloseInfo::default(),
    });
    ctx.nodes.push(node)
}
