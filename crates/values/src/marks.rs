//! Who may mark a value `!default`, and where the mark means something.
//!
//! Module values are concrete (FR-VO-002): a mark there is an error. An end user has nobody above
//! to leave a choice to, and a list is replaced whole: marks there are warned about.

use base::{Diagnostic, Path, Segment, Symbols};
use data::{NodeId, Tree, Value};

use crate::codes;
use crate::document::{Document, Kind};
use crate::tier::Tier;

pub(crate) fn check(
    document: &Document,
    root: NodeId,
    symbols: &Symbols,
    findings: &mut Vec<Diagnostic>,
) {
    if !document.tree.has_defaults() {
        return;
    }
    let mut walk = Walk {
        document,
        symbols,
        path: Path::root(),
        in_list: false,
        findings,
    };
    walk.visit(root);
}

struct Walk<'a> {
    document: &'a Document,
    symbols: &'a Symbols,
    path: Path,
    in_list: bool,
    findings: &'a mut Vec<Diagnostic>,
}

impl Walk<'_> {
    /// Depth is bounded by `data::MAX_DEPTH`.
    fn visit(&mut self, node: NodeId) {
        let tree: &Tree = &self.document.tree;
        if tree.is_default(node) {
            self.judge(node);
        }
        match tree.value(node) {
            Value::Map(fields) => {
                for field in fields {
                    let name = self.symbols.name(field.name).to_owned();
                    self.path.0.push(Segment::Key(name));
                    self.visit(field.value);
                    self.path.0.pop();
                }
            }
            Value::List(items) => {
                let before = std::mem::replace(&mut self.in_list, true);
                for (index, &item) in items.iter().enumerate() {
                    self.path.0.push(Segment::Index(index));
                    self.visit(item);
                    self.path.0.pop();
                }
                self.in_list = before;
            }
            _ => {}
        }
    }

    fn judge(&mut self, node: NodeId) {
        let path = match self.path.is_root() {
            true => "values".to_owned(),
            false => self.path.to_string(),
        };
        let span = self.document.tree.span(node);
        let tier = self.document.tier;
        let mark = match self.document.kind {
            Kind::Cue | Kind::Schema => "*",
            _ => "!default",
        };
        let finding = match tier {
            Tier::Module => Diagnostic::error(
                codes::MODULE_DEFAULT,
                format!("`{path}` is marked as a default in a module"),
            )
            .primary(span, "module values are concrete")
            .help(format!(
                "remove `{mark}`: what a module sets can be changed by every tier above it"
            )),
            _ if self.in_list => Diagnostic::warning(
                codes::USELESS_DEFAULT,
                format!("`{mark}` has no effect inside the list at `{path}`"),
            )
            .primary(span, "a list is replaced whole")
            .help("mark the list itself"),
            Tier::User => Diagnostic::warning(
                codes::USELESS_DEFAULT,
                format!("`{mark}` has no effect on `{path}` in an end user's values"),
            )
            .primary(span, "nobody above can override it")
            .help(format!("remove `{mark}`")),
            Tier::Platform => return,
        };
        self.findings.push(finding.role(tier.role()));
    }
}
