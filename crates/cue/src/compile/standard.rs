//! Standard packages as vertices: a struct of functions and constants.

use crate::eval::Ctx;
use crate::eval::label::Label;
use crate::eval::node::{ArcType, Base, Node, Status};
use crate::eval::value::Value;
use crate::packages::{self, Body};

use super::constant_node;

impl Ctx {
    /// Makes the standard package with this path known, if there is one.
    pub fn load_standard(&mut self, path: Label) {
        if self.packages.contains_key(&path) {
            return;
        }
        let Some(package) = packages::package(path.name(&self.symbols)) else {
            return;
        };
        let mut node = Node::new(None, Label::NONE, ArcType::Member);
        node.base = Base::Struct;
        node.status = Status::Finalized;
        let node = self.nodes.push(node);
        for member in package.members {
            let label = Label::ident(&mut self.symbols, member.name, package.path);
            let value = match &member.body {
                Body::Constant(constant) => match constant.value() {
                    packages::Value::String(s) => Value::String(s.into()),
                    packages::Value::Num(n) => Value::Num(n),
                    _ => continue,
                },
                _ => match self.member_builtin(package, member) {
                    Some(builtin) => Value::Builtin(builtin),
                    None => continue,
                },
            };
            let id = self.new_value_at(value, None);
            let arc = constant_node(self, node, label, id);
            self.push_arc(node, label, arc);
        }
        self.packages.insert(path, node);
        if let Some(text) = package.cue {
            self.add_package_source(node, package.path, text);
        }
    }

    /// Members that are written in CUE.
    fn add_package_source(
        &mut self,
        node: crate::eval::ids::NodeId,
        path: &str,
        text: &'static str,
    ) {
        let text: std::sync::Arc<str> = text.into();
        let source = base::SourceId(u32::MAX);
        let parsed = crate::syntax::parse_expr(source, &text, &mut self.symbols);
        let scope = self.empty;
        let Ok(c) = self.compile_expr_in(path, &parsed.file, parsed.expr, scope) else {
            return;
        };
        let extra = self.inline_node(Base::None, &[c]);
        if self.finalize(extra).is_err() {
            return;
        }
        let extra = self.deref_value(extra);
        let arcs = self.nodes[extra].arcs.list.clone();
        for arc in arcs {
            let label = self.nodes[arc].label;
            if self.find_arc(node, label).is_none() {
                self.nodes[arc].parent = Some(node);
                self.nodes[arc].non_rooted = false;
                self.push_arc(node, label, arc);
            }
        }
    }
}
