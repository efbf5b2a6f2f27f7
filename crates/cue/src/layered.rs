//! Layers of a stack, one at a time: what each of them says, with its references bound to what the whole stack says.
//!
//! [`Runtime::evaluate_layer`] evaluates one file as plain CUE whose references to values lead to the [`Effective`] values;
//! [`Runtime::said`] tells what the layer says at one vertex: a value, a default, a constraint. Laying the
//! layers over one another is the caller's, and so is asking again until nothing changes.

use base::{SourceId, Span, Symbol};
use data::{NodeId as TreeNode, Tree, Value as Data};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::compile::{compile_node, compile_tree};
use crate::eval::ids::{ExprId, NodeId};
use crate::eval::ir::{Clause, DeclKind, Expr};
use crate::eval::kind::Kind;
use crate::eval::label::Label;
use crate::eval::late::{Asker, Late};
use crate::eval::node::{ArcType, Base, CloseInfo, Conjunct, Node, X};
use crate::eval::value::{Code, Val, Value as Inner};
use crate::export;
use crate::runtime::{Failed, Runtime, Value};

/// The effective values of a stack, to bind references to.
#[derive(Clone, Debug)]
pub struct Effective {
    root: NodeId,
    owners: HashMap<NodeId, u16, FxBuildHasher>,
}

/// A reference from one field of the values to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The field that was being computed.
    pub from: Vec<Symbol>,
    pub to: Vec<Symbol>,
    /// Where the reference is written.
    pub span: Option<Span>,
}

/// One layer, evaluated.
#[derive(Debug)]
pub struct Layer {
    /// The vertex of its values; nothing where the file has none.
    pub values: Option<Value>,
    pub references: Vec<Reference>,
}

/// Where something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub span: Span,
    /// The field that it is the value of.
    pub name: Option<Span>,
    /// It is a choice with a default.
    pub is_default: bool,
}

/// The source of what was not written: effective values.
pub const NOWHERE: SourceId = SourceId(u32::MAX);

/// What a vertex says.
#[derive(Clone, Debug)]
pub enum Said {
    Map,
    List,
    Scalar,
    /// It bounds what may be said and says nothing itself.
    Constraint,
    /// It cannot be computed from what there is.
    Unknown(Failed),
    /// It is wrong in itself.
    Wrong(Failed),
}

/// What a vertex says, and how firmly.
#[derive(Clone, Debug)]
pub struct Word {
    pub said: Said,
    /// It is a default (`*x | …`), said of the default's vertex.
    pub is_default: bool,
    /// It is a default whose alternatives bound what may be chosen instead.
    pub is_bounded: bool,
    /// The vertex that says it: the default's, where there is one.
    pub value: Value,
}

impl Runtime {
    /// Makes effective values to bind references to. `owner` names the layer that alone gave a node.
    pub fn effective(
        &mut self,
        tree: &Tree,
        owner: &dyn Fn(TreeNode) -> Option<u16>,
    ) -> Result<Effective, Failed> {
        let expr = compile_tree(&mut self.ctx, tree);
        let root = self.vertex(&[X::Expr(expr)]);
        self.evaluate(Value(root))?;
        let mut owners = HashMap::default();
        let mut work = vec![(root, tree.root())];
        while let Some((vertex, node)) = work.pop() {
            if let Some(layer) = owner(node) {
                owners.insert(vertex, layer);
            }
            if let Data::Map(fields) = tree.value(node) {
                for field in fields {
                    let label = Label::of_symbol(field.name);
                    if let Some(arc) = self.ctx.find_arc(vertex, label) {
                        work.push((arc, field.value));
                    }
                }
            }
        }
        Ok(Effective { root, owners })
    }

    /// Evaluates one layer's file afresh. Its values lie at `at`.
    pub fn evaluate_layer(
        &mut self,
        file: Value,
        at: &[String],
        layer: u16,
        effective: Option<&Effective>,
    ) -> Result<Layer, Failed> {
        let conjuncts = self.ctx.nodes[file.0].conjuncts.clone();
        let mut node = Node::new(None, Label::NONE, ArcType::Member);
        node.conjuncts = conjuncts;
        let file = self.ctx.nodes.push(node);
        let at: Vec<Label> = at
            .iter()
            .map(|name| Label::string(&mut self.ctx.symbols, name))
            .collect();
        self.ctx.late = Some(Box::new(Late {
            file,
            at: at.clone(),
            layer,
            effective: effective.map(|effective| effective.root),
            owners: effective.map_or_else(HashMap::default, |effective| effective.owners.clone()),
            reads: Vec::new(),
            uses: Vec::new(),
        }));
        let done = self.evaluate(Value(file));
        let late = self.ctx.late.take();
        done?;
        let values = at.iter().try_fold(file, |node, &label| {
            let node = self.ctx.default_node(node);
            self.ctx.find_arc(node, label)
        });
        let references = late.map_or_else(Vec::new, |late| references(*late));
        Ok(Layer {
            values: values.map(Value),
            references,
        })
    }

    /// What a vertex of an evaluated layer says.
    pub fn said(&mut self, value: Value) -> Word {
        let node = self.ctx.deref_value(value.0);
        let mut word = Word {
            said: Said::Constraint,
            is_default: false,
            is_bounded: false,
            value: Value(node),
        };
        let mut at = node;
        if let Base::Val(id) = self.ctx.nodes[node].base
            && let Some(choice) = self.ctx.disjunction(id)
        {
            if choice.defaults != 1 {
                return word;
            }
            let alternatives = choice.values.clone();
            word.is_default = true;
            word.is_bounded = !alternatives.iter().any(|&v| self.is_anything(v));
            at = self.ctx.default_node(node);
        }
        word.value = Value(at);
        if let Some(bottom) = self.ctx.node_bottom(at) {
            let report = self.ctx.report(bottom);
            let child = self.ctx.bottom(bottom).is_some_and(|b| b.child_error);
            let first = self.ctx.nodes[at].arcs.get(0);
            if let (true, Some(first)) = (child, first) {
                word.said = match self.ctx.nodes[first].label.is_int() {
                    true => Said::List,
                    false => Said::Map,
                };
            } else if self.ctx.code(bottom) >= Code::Incomplete {
                word.said = Said::Unknown(report);
            } else {
                word.said = Said::Wrong(report);
            }
            return word;
        }
        word.said = match self.ctx.nodes[at].base {
            Base::Struct => Said::Map,
            Base::List { open: true } if !word.is_default => Said::Constraint,
            Base::List { .. } => Said::List,
            Base::Val(id) if self.ctx.lit_is_concrete(id) => Said::Scalar,
            Base::Val(_) => Said::Constraint,
            Base::None | Base::Node(_) => Said::Constraint,
        };
        word
    }

    /// Whether a vertex says nothing at all (`_`).
    pub fn is_open(&self, value: Value) -> bool {
        self.is_anything(Val::Node(value.0))
    }

    fn is_anything(&self, val: Val) -> bool {
        match self.ctx.unwrap_val(val) {
            Some(Val::Lit(id)) => match self.ctx.value(id) {
                Inner::Top => true,
                Inner::Type(kind) => *kind == Kind::TOP,
                _ => false,
            },
            Some(Val::Node(node)) => self.ctx.nodes[node].base == Base::None,
            None => true,
        }
    }

    /// Where a vertex was written: of its conjuncts, the one that says most. What came from the effective values has
    /// no place of its own.
    pub fn place(&self, value: Value) -> Option<Place> {
        let conjuncts = self.ctx.nodes[value.0].conjuncts.iter();
        let places = conjuncts.filter_map(|c| {
            let span = self.ctx.elem_span(c.x)?;
            let name = match c.x {
                X::Decl(decl) => Some(self.ctx.ir.decls[decl].span),
                _ => None,
            };
            let (weight, is_default) = match self.ctx.elem(c.x) {
                X::Val(id) if self.ctx.lit_is_concrete(id) => (0, false),
                X::Val(_) => (4, false),
                X::Expr(expr) => match &self.ctx.ir.exprs[expr] {
                    Expr::Disjunction { has_defaults, .. } => (1, *has_defaults),
                    Expr::Bound { .. } => (3, false),
                    _ => (2, false),
                },
                _ => (2, false),
            };
            let place = Place {
                span,
                name,
                is_default,
            };
            (span.source != NOWHERE).then_some((weight, place))
        });
        let best = places.min_by_key(|(weight, _)| *weight);
        best.map(|(_, place)| place)
    }

    /// Everything that was written for a vertex itself, not for what it refers to.
    pub fn places(&self, value: Value) -> Vec<Span> {
        let conjuncts = self.ctx.nodes[value.0].conjuncts.iter();
        conjuncts.filter_map(|c| self.ctx.elem_span(c.x)).collect()
    }

    /// What is produced under a condition or a computed label: where the condition stands, and what it guards.
    pub fn guards(&self) -> Vec<(Span, Span)> {
        let mut found = Vec::new();
        let mut guard = |by: ExprId, what: Option<ExprId>| {
            let what = what.and_then(|what| self.ctx.ir.span(what));
            found.extend(self.ctx.ir.span(by).zip(what));
        };
        for expr in self.ctx.ir.exprs.iter() {
            let Expr::Comprehension(all) = expr else {
                continue;
            };
            for clause in &all.clauses {
                let by = match clause {
                    Clause::For { source, .. } => *source,
                    Clause::If { condition, .. } => *condition,
                    Clause::Let { expr, .. } => *expr,
                    Clause::Try { expr, .. } => match expr {
                        Some(expr) => *expr,
                        None => continue,
                    },
                };
                guard(by, Some(all.value));
                guard(by, all.fallback);
            }
        }
        for decl in self.ctx.ir.decls.iter() {
            if let DeclKind::Dynamic { key, value, .. } = decl.kind {
                guard(key, Some(value));
            }
        }
        found
    }

    /// The regular fields of a struct, or the elements of a list, in output order.
    pub fn members(&mut self, value: Value) -> Vec<(Symbol, Value)> {
        let node = self.ctx.default_node(value.0);
        let arcs = export::order::ordered_arcs(&self.ctx, node);
        let arcs = arcs.into_iter().filter(|&arc| {
            let a = &self.ctx.nodes[arc];
            a.label.is_regular() && a.arc_type == ArcType::Member
        });
        arcs.map(|arc| (Symbol(self.ctx.nodes[arc].label.index()), Value(arc)))
            .collect()
    }

    /// The text of a value, as CUE in one line.
    pub fn show(&self, value: Value) -> String {
        self.ctx.show(Val::Node(value.0))
    }

    /// Whether a constraint admits a value: what is wrong, if not.
    pub fn admits(&mut self, constraint: Value, tree: &Tree, node: TreeNode) -> Result<(), Failed> {
        let expr = compile_node(&mut self.ctx, tree, node);
        let both = self.vertex(&[X::Node(constraint.0), X::Expr(expr)]);
        self.evaluate(Value(both))?;
        match self.ctx.node_bottom(both) {
            Some(bottom) => Err(self.ctx.report(bottom)),
            None => match self.ctx.nodes[both].child_errors {
                Some(below) if !self.ctx.is_incomplete(below) => Err(self.ctx.report(below)),
                _ => Ok(()),
            },
        }
    }

    fn vertex(&mut self, conjuncts: &[X]) -> NodeId {
        let mut node = Node::new(None, Label::NONE, ArcType::Member);
        node.conjuncts.extend(conjuncts.iter().map(|&x| Conjunct {
            env: None,
            x,
            ci: CloseInfo::default(),
        }));
        self.ctx.nodes.push(node)
    }
}

/// What a reference leads to, and where it is written.
type Target = (Vec<Symbol>, Option<Span>);

/// The references between fields of the values, through hidden fields and the like.
fn references(late: Late) -> Vec<Reference> {
    let path = |labels: &[Label]| -> Vec<Symbol> {
        labels.iter().map(|label| Symbol(label.index())).collect()
    };
    let mut found = Vec::new();
    // What each vertex outside the values refers to, and who refers to it.
    let mut through: HashMap<NodeId, Vec<Target>, FxBuildHasher> = HashMap::default();
    for read in &late.reads {
        match &read.from {
            Asker::Field(from) => found.push(Reference {
                from: path(from),
                to: path(&read.to),
                span: read.pos,
            }),
            Asker::Other(node) => {
                let all = through.entry(*node).or_default();
                all.push((path(&read.to), read.pos));
            }
        }
    }
    if !through.is_empty() {
        let mut uses: HashMap<NodeId, Vec<NodeId>, FxBuildHasher> = HashMap::default();
        for (from, to) in &late.uses {
            if let Asker::Other(from) = from {
                uses.entry(*from).or_default().push(*to);
            }
        }
        for (from, to) in &late.uses {
            let Asker::Field(from) = from else {
                continue;
            };
            let mut seen = vec![*to];
            let mut next = 0;
            while let Some(&node) = seen.get(next) {
                next += 1;
                for (to, pos) in through.get(&node).into_iter().flatten() {
                    found.push(Reference {
                        from: path(from),
                        to: to.clone(),
                        span: *pos,
                    });
                }
                for more in uses.get(&node).into_iter().flatten() {
                    if !seen.contains(more) {
                        seen.push(*more);
                    }
                }
            }
        }
    }
    found.sort();
    found.dedup();
    found
}
