//! Keywords that ask whether something holds before they constrain: `if`, `contains`, `dependentRequired`, `dependentSchemas` and the
//! `dependencies` of older drafts.
//!
//! Conditions become `matchIf`, counts of elements `list.MatchN`. `then` and `else` belong to `if`, `minContains` and
//! `maxContains` to `contains`; without it they say nothing.

use data::{NodeId, Value};

use super::Converter;
use crate::syntax::ast::{BinaryOp, Constraint, DeclId, ExprId, UnaryOp};

impl Converter<'_> {
    fn match_if(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        let function = self.name("matchIf");
        self.builder.call(function, &[condition, then, otherwise])
    }

    /// `if` with its `then` and `else`; nothing without either.
    pub(super) fn condition(&mut self, id: NodeId, condition: NodeId) -> Option<ExprId> {
        let (then, otherwise) = (self.get(id, "then"), self.get(id, "else"));
        if (then, otherwise) == (None, None) {
            return None;
        }
        let condition = self.schema(condition).expr;
        let [then, otherwise] = [then, otherwise].map(|branch| match branch {
            Some(branch) => self.schema(branch).expr,
            None => self.name("_"),
        });
        Some(self.match_if(condition, then, otherwise))
    }

    /// `contains`, with how often.
    pub(super) fn contains(&mut self, id: NodeId, value: NodeId) -> ExprId {
        let schema = self.schema(value).expr;
        let least = match self.get(id, "minContains") {
            Some(least) => self.data(least),
            None => self.builder.number("1"),
        };
        let mut bounds = vec![self.builder.unary(UnaryOp::GreaterEqual, least)];
        if let Some(most) = self.get(id, "maxContains") {
            let most = self.data(most);
            bounds.push(self.builder.unary(UnaryOp::LessEqual, most));
        }
        let count = self.builder.chain(BinaryOp::And, &bounds);
        let count = count.expect("there is at least one bound");
        self.call("list", "MatchN", &[count, schema])
    }

    /// What the presence of properties asks for: other properties, or a schema.
    pub(super) fn dependencies(&mut self, value: NodeId) -> Vec<ExprId> {
        let fields: Vec<(String, NodeId)> = self
            .fields(value)
            .iter()
            .map(|f| (self.symbols.name(f.name).to_owned(), f.value))
            .collect();
        let mut all = Vec::new();
        for (name, wanted) in fields {
            let condition = self.with_properties(&[name]);
            let then = match self.tree.value(wanted) {
                Value::List(names) => {
                    let names = names.iter().copied();
                    let names: Vec<String> = names
                        .filter_map(|name| self.text(Some(name)).map(str::to_owned))
                        .collect();
                    self.with_properties(&names)
                }
                _ => self.schema(wanted).expr,
            };
            let any = self.name("_");
            all.push(self.match_if(condition, then, any));
        }
        all
    }

    /// `{a!: _, b!: _, ...}`
    fn with_properties(&mut self, names: &[String]) -> ExprId {
        let mut decls: Vec<DeclId> = Vec::new();
        for name in names {
            let label = self.builder.label(name, self.symbols);
            let any = self.name("_");
            let required = Some(Constraint::Required);
            decls.push(self.builder.field_with(label, required, any, &[]));
        }
        decls.push(self.builder.open_struct());
        self.builder.struct_lit(&decls)
    }
}
