//! One file of one tier, and where in it the values lie.
//!
//! Values lie at the path that `--at` names, else under the key `values`, else the file is taken
//! whole, so that a Helm values file works unchanged. An empty file, or `values:` with nothing
//! behind it, sets nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Diagnostic, Path, Segment, Span, Symbol, Symbols};
use data::{NodeId, Tree, Value};

use crate::codes;
use crate::tier::Tier;

/// What kind of text a document was read from: what can be said in it differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Yaml,
    /// JSON or TOML, which have no marks.
    Plain,
    /// CUE, evaluated: the tree is what lies at its values path.
    Cue,
    /// The defaults inside a schema: values of the module's tier.
    Schema,
    /// `--set` on the command line.
    CommandLine,
}

/// What was computed from other values: node by node, the paths of those.
pub type Derived = BTreeMap<NodeId, Vec<Vec<Symbol>>>;

/// One file, or one `--set`, of one tier.
#[derive(Clone, Debug)]
pub struct Document {
    pub tier: Tier,
    pub tree: Arc<Tree>,
    pub kind: Kind,
    /// Taken as a whole as overridable defaults (`--platform-defaults`).
    pub defaults: bool,
    /// What its references led to.
    pub derived: Arc<Derived>,
}

impl Document {
    pub fn new(tier: Tier, tree: Tree, kind: Kind) -> Document {
        Document {
            tier,
            tree: Arc::new(tree),
            kind,
            defaults: false,
            derived: Arc::default(),
        }
    }
}

/// Where a document's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A map, and whether `--at` led to it.
    Map(NodeId, bool),
    /// It sets nothing; whether `--at` led there.
    Nothing(bool),
    /// There is no map; a finding says so.
    Wrong,
}

/// Finds a document's values.
pub(crate) fn values(
    document: &Document,
    at: Option<&Path>,
    symbols: &Symbols,
    findings: &mut Vec<Diagnostic>,
) -> Found {
    let tree = &document.tree;
    let root = tree.root();
    match document.kind {
        Kind::CommandLine | Kind::Schema => return Found::Map(root, false),
        Kind::Cue => return classify(document, root, "`values`", true, findings),
        _ => {}
    }
    if let Some(node) = at.and_then(|path| walk(tree, path, symbols)) {
        return classify(document, node, "what `--at` names", true, findings);
    }
    let fields = match tree.value(root) {
        Value::Map(fields) => fields,
        _ => return classify(document, root, "a values file", false, findings),
    };
    let name = symbols.find("values");
    let Some(field) = fields.iter().find(|field| Some(field.name) == name) else {
        return Found::Map(root, false);
    };
    if let Some(sibling) = fields.iter().find(|other| Some(other.name) != name) {
        let name = symbols.name(sibling.name);
        let (sibling, values) = (tree.key_span(sibling), tree.key_span(field));
        let finding = siblings(fields.len() - 1, name, sibling);
        let finding = finding.role(document.tier.role());
        findings.push(
            finding
                .secondary(values, "only what is in here counts")
                .help("move it under `values`, or read the whole file with `--at ''`"),
        );
    }
    classify(document, field.value, "`values`", false, findings)
}

fn classify(
    document: &Document,
    node: NodeId,
    what: &str,
    by_path: bool,
    findings: &mut Vec<Diagnostic>,
) -> Found {
    let tree = &document.tree;
    match tree.value(node) {
        Value::Map(_) => Found::Map(node, by_path),
        Value::Null => Found::Nothing(by_path),
        other => {
            let kind = crate::show::kind(other);
            findings.push(
                Diagnostic::error(codes::WRONG_SHAPE, format!("{what} is {kind}, not a map"))
                    .primary(tree.span(node), "a map of names to values is wanted here")
                    .role(document.tier.role()),
            );
            Found::Wrong
        }
    }
}

fn siblings(count: usize, name: &str, sibling: Span) -> Diagnostic {
    let message = match count {
        1 => format!("the key `{name}` beside `values` is not read"),
        2 => format!("`{name}` and one more key beside `values` are not read"),
        n => format!(
            "`{name}` and {} more keys beside `values` are not read",
            n - 1
        ),
    };
    Diagnostic::warning(codes::UNREAD_KEY, message).primary(sibling, "not read")
}

/// The node at a path, through maps and lists.
pub fn walk(tree: &Tree, path: &Path, symbols: &Symbols) -> Option<NodeId> {
    let mut at = tree.root();
    for segment in &path.0 {
        at = match (segment, tree.value(at)) {
            (Segment::Key(name), _) => tree.get(at, symbols.find(name)?)?,
            (Segment::Index(index), Value::List(items)) => *items.get(*index)?,
            _ => return None,
        };
    }
    Some(at)
}
