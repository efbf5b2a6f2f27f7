//! The schema in CUE: where it is, what it adds, and what breaks it.
//!
//! A module has its schema at `config`, `#config` or `#spec`; platform overlays may extend it with their own. All of them are
//! embedded in one definition, so that the fields they know are allowed and no others, at any depth. The effective values
//! of each tier are joined with that definition once: fields that the schema alone gives a value are
//! defaults of the module's tier ([`Joined::defaults`]), the rest of the walk finds what is wrong.

mod breach;
mod plain;

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{Diagnostic, Path, Segment, SourceId, Sources, Span, Symbols};
use cue::Value;
use cue::checked::{Fault, Member, Presence};
use cue::layered::{NOWHERE, Said};
use cue::runtime::{Failed, Runtime};
use cue::syntax::{ast, parse_file};
use data::{NodeId, Tree, TreeBuilder};

use crate::extract::One;
use crate::tier::Tier;

pub(crate) use breach::{Breach, Key, What};

/// The names that a schema may have in a file, in this order.
const NAMES: [&str; 3] = ["config", "#config", "#spec"];

/// The files that hold parts of the schema.
#[derive(Debug, Default)]
pub(crate) struct Config {
    parts: Vec<Part>,
    /// The definition for the tiers up to one, as far as it was needed.
    built: Vec<(Tier, Value)>,
}

#[derive(Debug)]
struct Part {
    tier: Tier,
    name: &'static str,
    package: String,
    source: SourceId,
    /// Its parts do not refer to one another: each field can be checked by itself.
    is_plain: bool,
}

/// Values joined with the schema.
#[derive(Debug)]
pub(crate) struct Joined {
    root: Value,
    /// What the schema alone gives, as a tree.
    pub defaults: Arc<Tree>,
    pub breaches: Vec<Breach>,
}

/// What the schema says of every field, and where: a tree whose leaves are CUE texts.
#[derive(Debug)]
pub struct Words {
    tree: Tree,
}

impl Words {
    /// The word on a path.
    pub fn word(&self, path: &Path, symbols: &Symbols) -> Option<(String, Span)> {
        let mut at = self.tree.root();
        for segment in &path.0 {
            let Segment::Key(name) = segment else {
                return None;
            };
            at = self.tree.get(at, symbols.find(name)?)?;
        }
        match self.tree.value(at) {
            data::Value::String(text) => Some((text.to_owned(), self.tree.span(at))),
            _ => None,
        }
    }
}

impl Config {
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Where the schema begins, for places that have none.
    pub fn source(&self) -> Option<SourceId> {
        self.parts.first().map(|part| part.source)
    }

    /// Notes a file's schema, if it has one.
    pub fn add(&mut self, runtime: &mut Runtime, tier: Tier, files: &[&ast::File], value: Value) {
        if tier == Tier::User {
            return;
        }
        let declared: BTreeSet<String> = files
            .iter()
            .flat_map(|file| declared(file, runtime))
            .collect();
        let name = NAMES.into_iter().find(|name| declared.contains(*name));
        let Some((name, file)) = name.zip(files.first()) else {
            return;
        };
        let package = format!("lath.local/schema{}", self.parts.len());
        runtime.add_package(&package, value);
        let symbols = runtime.symbols();
        self.parts.push(Part {
            tier,
            name,
            package,
            source: file.source,
            is_plain: files
                .iter()
                .all(|file| plain::is_plain(file, name, symbols)),
        });
    }

    /// Whether values of a lower tier meet the schema too, given that those of the whole stack do: the same fields, and each
    /// value that differs is admitted. False where only joining them can tell.
    pub fn meets_too(
        &self,
        runtime: &mut Runtime,
        tier: Tier,
        joined: &Joined,
        (all, values): (&Tree, &Tree),
    ) -> bool {
        let mut parts = self.parts.iter();
        if !joined.breaches.is_empty() || !parts.all(|part| part.is_plain && part.tier <= tier) {
            return false;
        }
        let mut work = vec![(joined.root, all.root(), values.root())];
        while let Some((at, a, b)) = work.pop() {
            let (data::Value::Map(ours), data::Value::Map(theirs)) =
                (all.value(a), values.value(b))
            else {
                if all.equal(a, values, b) {
                    continue;
                }
                let admitted = match runtime.schema_of(at) {
                    Some(alone) => runtime.admits(alone, values, b).is_ok(),
                    None => false,
                };
                match admitted {
                    true => continue,
                    false => return false,
                }
            };
            if ours.len() != theirs.len() {
                return false;
            }
            for (our, their) in ours.iter().zip(theirs) {
                let arc = runtime.member(at, our.name);
                match arc {
                    Some(arc) if our.name == their.name => work.push((arc, our.value, their.value)),
                    _ => return false,
                }
            }
        }
        true
    }

    /// The definition that the values up to a tier must meet.
    fn definition(&mut self, runtime: &mut Runtime, tier: Tier) -> Result<Option<Value>, Failed> {
        let parts: Vec<&Part> = self.parts.iter().filter(|p| p.tier <= tier).collect();
        let Some(highest) = parts.iter().map(|part| part.tier).max() else {
            return Ok(None);
        };
        if let Some((_, value)) = self.built.iter().find(|(tier, _)| *tier == highest) {
            return Ok(Some(*value));
        }
        let mut text = String::new();
        for (number, part) in parts.iter().enumerate() {
            text += &format!("import s{number} \"{}\"\n", part.package);
        }
        let names = parts.iter().enumerate();
        let names = names.map(|(number, part)| format!("s{number}.{}", part.name));
        text += &format!(
            "#schema: {{\n{}\n}}\n",
            names.collect::<Vec<_>>().join("\n")
        );
        let text: Arc<str> = Arc::from(text);
        let parsed = parse_file(NOWHERE, &text, runtime.symbols());
        let file = runtime.build("lath.local/schema", &[&parsed.file])?;
        let schema = runtime.definition(file, "#schema")?;
        if let Some(value) = schema {
            self.built.push((highest, value));
        }
        Ok(schema)
    }

    /// Joins the values of the tiers up to one with the schema. `words` is filled where it is asked for.
    pub fn join(
        &mut self,
        runtime: &mut Runtime,
        tier: Tier,
        values: &Tree,
        sources: &Sources,
        words: Option<&mut Option<Words>>,
    ) -> Result<Option<Joined>, Failed> {
        let Some(source) = self.source() else {
            return Ok(None);
        };
        let Some(schema) = self.definition(runtime, tier)? else {
            return Ok(None);
        };
        let mut joined = self.join_once(runtime, schema, values, sources, source, words)?;
        // An error hides others beside it: without the offenders the next ones come to light.
        let mut known = joined.breaches.len();
        for _ in 0..MOST_LOOKS {
            let offends = |breach: &&Breach| breach.what.is_of_values();
            let offenders: Vec<&Path> = joined
                .breaches
                .iter()
                .filter(offends)
                .map(|breach| &breach.path)
                .collect();
            if offenders.is_empty() {
                break;
            }
            let rest = without(values, &offenders, runtime.symbols());
            let more = self.join_once(runtime, schema, &rest, sources, source, None)?;
            for breach in more.breaches {
                let is_new = joined
                    .breaches
                    .iter()
                    .all(|known| known.path != breach.path);
                if is_new && breach.what.is_of_values() {
                    joined.breaches.push(breach);
                }
            }
            if joined.breaches.len() == known {
                break;
            }
            known = joined.breaches.len();
        }
        Ok(Some(joined))
    }

    fn join_once(
        &self,
        runtime: &mut Runtime,
        schema: Value,
        values: &Tree,
        sources: &Sources,
        source: SourceId,
        words: Option<&mut Option<Words>>,
    ) -> Result<Joined, Failed> {
        let root = runtime.join(schema, values)?;
        let text = sources.get(source).text().clone();
        let mut walk = Walk {
            runtime,
            values,
            sources,
            path: Path::root(),
            defaults: TreeBuilder::new(source, text.clone()),
            words: words.is_some().then(|| TreeBuilder::new(source, text)),
            start: Span::new(source, 0..0),
            breaches: Vec::new(),
        };
        let (made, word) = walk.map(root, Some(values.root()));
        let made = made.unwrap_or_else(|| walk.defaults.map(walk.start, &[]));
        if let (Some(words), Some(builder), Some(root)) = (words, walk.words, word) {
            *words = Some(Words {
                tree: builder.finish(root),
            });
        }
        Ok(Joined {
            root,
            defaults: Arc::new(walk.defaults.finish(made)),
            breaches: walk.breaches,
        })
    }
}

/// How often values are looked at again without what was found wrong.
const MOST_LOOKS: usize = 8;

/// The values without those at some paths.
fn without(values: &Tree, paths: &[&Path], symbols: &Symbols) -> Tree {
    let removed: BTreeSet<&Path> = paths.iter().copied().collect();
    let mut builder = TreeBuilder::new(NOWHERE, Arc::from(""));
    let mut at = Path::root();
    let root = values.root();
    let root = copy_kept(values, root, &removed, &mut at, &mut builder, symbols);
    let nowhere = Span::new(NOWHERE, 0..0);
    let root = root.unwrap_or_else(|| builder.map(nowhere, &[]));
    builder.finish(root)
}

/// Depth is bounded by `data::MAX_DEPTH`.
fn copy_kept(
    values: &Tree,
    node: NodeId,
    removed: &BTreeSet<&Path>,
    at: &mut Path,
    to: &mut TreeBuilder,
    symbols: &Symbols,
) -> Option<NodeId> {
    if removed.contains(&*at) {
        return None;
    }
    let span = values.span(node);
    match values.value(node) {
        data::Value::Map(fields) => {
            let mut kept = Vec::with_capacity(fields.len());
            for field in fields {
                at.0.push(Segment::Key(symbols.name(field.name).to_owned()));
                if let Some(value) = copy_kept(values, field.value, removed, at, to, symbols) {
                    kept.push(to.field(span, field.name, value));
                }
                at.0.pop();
            }
            Some(to.map(span, &kept))
        }
        data::Value::List(items) => {
            let mut kept = Vec::with_capacity(items.len());
            for (index, &item) in items.iter().enumerate() {
                at.0.push(Segment::Index(index));
                kept.extend(copy_kept(values, item, removed, at, to, symbols));
                at.0.pop();
            }
            Some(to.list(span, &kept))
        }
        _ => Some(crate::set::copy(values, node, to)),
    }
}

/// The names of a file's regular fields and definitions.
fn declared(file: &ast::File, runtime: &mut Runtime) -> Vec<String> {
    let fields = file
        .list(file.decls)
        .filter_map(|decl| match file.decl(decl) {
            ast::Decl::Field(field) => match file.label(field.label).0 {
                ast::Label::Name { symbol, .. } => Some(symbol),
                _ => None,
            },
            _ => None,
        });
    let symbols = runtime.symbols();
    fields
        .map(|symbol| symbols.name(symbol).to_owned())
        .collect()
}

struct Walk<'a> {
    runtime: &'a mut Runtime,
    values: &'a Tree,
    sources: &'a Sources,
    path: Path,
    defaults: TreeBuilder,
    words: Option<TreeBuilder>,
    start: Span,
    breaches: Vec<Breach>,
}

/// What a field gives to the tree of defaults and to the tree of words.
type Made = (Option<NodeId>, Option<NodeId>);

impl Walk<'_> {
    /// The fields of a struct. `values` is the struct of the values there, if they have one. Depth is bounded by the
    /// evaluator.
    fn map(&mut self, at: Value, values: Option<NodeId>) -> Made {
        let members = self.runtime.all_members(at);
        let (mut defaults, mut words) = (Vec::new(), Vec::new());
        for member in &members {
            if member.is_element {
                continue;
            }
            let name = self.runtime.symbols().name(member.name).to_owned();
            let value = values.and_then(|map| self.values.get(map, member.name));
            self.path.0.push(Segment::Key(name));
            let (default, word) = self.member(member, value, &members);
            self.path.0.pop();
            let key = self.start;
            if let Some(node) = default {
                defaults.push(self.defaults.field(key, member.name, node));
            }
            if let (Some(builder), Some(node)) = (&mut self.words, word) {
                words.push(builder.field(key, member.name, node));
            }
        }
        let word = self.words.as_mut().map(|b| b.map(self.start, &words));
        let default = match defaults.is_empty() {
            true => None,
            false => Some(self.defaults.map(self.start, &defaults)),
        };
        (default, word)
    }

    fn member(&mut self, member: &Member, value: Option<NodeId>, siblings: &[Member]) -> Made {
        let place = self.runtime.place(member.value);
        let span = place.map_or(self.start, |place| place.span);
        let word = self.word(span);
        if member.presence != Presence::Regular {
            if member.presence == Presence::Required && value.is_none() {
                self.breach(What::Required, span);
            }
            return (None, word);
        }
        match self.runtime.fault(member.value) {
            Some(Fault::NotAllowed) => {
                let known = self.known(siblings);
                self.breach(What::Unknown { known }, span);
                return (None, None);
            }
            Some(Fault::Conflict(why)) => {
                self.conflict(member.value, value, span, &why);
                return (None, word);
            }
            Some(Fault::Incomplete(_)) => {
                if value.is_none() {
                    self.breach(What::Missing, span);
                }
                return (None, word);
            }
            None => {}
        }
        let is_map = value.is_some_and(|v| matches!(self.values.value(v), data::Value::Map(_)));
        let said = self.runtime.said(member.value);
        match (said.said, value) {
            (Said::Map, _) if is_map || value.is_none() => {
                let (default, words) = self.map(said.value, value);
                (default, words)
            }
            (Said::List, Some(list)) => {
                self.elements(member.value, list);
                (self.overridden(member.value, place), word)
            }
            (_, Some(_)) => (self.overridden(member.value, place), word),
            (Said::Scalar | Said::List, None) => (self.default(said.value, span), word),
            _ if self.runtime.is_open_list(member.value) => {
                let node = self.defaults.list(span, &[]);
                self.defaults.written_in(node, span.source);
                (Some(node), word)
            }
            _ => {
                self.breach(What::Missing, span);
                (None, word)
            }
        }
    }

    /// What the schema alone would give where the values say something.
    fn overridden(&mut self, value: Value, place: Option<cue::layered::Place>) -> Option<NodeId> {
        let place = place.filter(|place| place.is_default)?;
        let alone = self.runtime.schema_of(value)?;
        let word = self.runtime.said(alone);
        match word.said {
            Said::Scalar | Said::List if word.is_default => self.default(word.value, place.span),
            _ => None,
        }
    }

    /// A default as a node. Nothing where a part of it has no value.
    fn default(&mut self, value: Value, span: Span) -> Option<NodeId> {
        let word = self.runtime.said(value);
        let node = match word.said {
            Said::Scalar => {
                let mut one = One::new(&mut self.defaults, span);
                self.runtime.write(word.value, &mut one);
                one.finish()?
            }
            Said::List => {
                let members = self.runtime.members(word.value).into_iter();
                let items: Option<Vec<NodeId>> =
                    members.map(|(_, item)| self.default(item, span)).collect();
                self.defaults.list(span, &items?)
            }
            Said::Map => {
                let mut fields = Vec::new();
                for (name, member) in self.runtime.members(word.value) {
                    let node = self.default(member, span)?;
                    fields.push(self.defaults.field(span, name, node));
                }
                self.defaults.map(span, &fields)
            }
            _ => return None,
        };
        self.defaults.written_in(node, span.source);
        Some(node)
    }

    /// What is wrong inside a list.
    fn elements(&mut self, at: Value, list: NodeId) {
        let data::Value::List(items) = self.values.value(list) else {
            return;
        };
        let items = items.to_vec();
        for member in self.runtime.all_members(at) {
            let index = member.name.0 as usize;
            let Some(&item) = items.get(index).filter(|_| member.is_element) else {
                continue;
            };
            self.path.0.push(Segment::Index(index));
            let span = self.runtime.place(member.value);
            let span = span.map_or(self.start, |place| place.span);
            match self.runtime.fault(member.value) {
                Some(Fault::Conflict(why)) => {
                    self.conflict(member.value, Some(item), span, &why);
                }
                Some(Fault::NotAllowed) => self.breach(What::Unknown { known: Vec::new() }, span),
                Some(Fault::Incomplete(_)) => {}
                None => match self.values.value(item) {
                    data::Value::Map(_) => {
                        // Elements get no defaults of their own: a list is one value.
                        self.map(member.value, Some(item));
                    }
                    data::Value::List(_) => self.elements(member.value, item),
                    _ => {}
                },
            }
            self.path.0.pop();
        }
    }

    fn conflict(&mut self, value: Value, of: Option<NodeId>, span: Span, why: &Failed) {
        let Some(of) = of else {
            let message = why.first().map_or("", |why| why.message.as_str());
            let what = What::Broken {
                message: message.to_owned(),
            };
            self.breach(what, span);
            return;
        };
        let said = crate::show::kind(self.values.value(of));
        let kinds = match self.runtime.schema_of(value) {
            Some(alone) => self.runtime.kinds(alone),
            None => Vec::new(),
        };
        let fits = kinds.is_empty()
            || kinds.contains(&said)
            || said == "an integer" && kinds.contains(&"a number");
        let word = self.text(span);
        let what = match fits {
            true => What::Unmet { word },
            false => What::WrongType { kinds, word },
        };
        self.breach(what, span);
    }

    fn breach(&mut self, what: What, schema: Span) {
        self.breaches.push(Breach {
            path: self.path.clone(),
            what,
            schema,
        });
    }

    /// The fields that the schema knows.
    fn known(&mut self, siblings: &[Member]) -> Vec<String> {
        let mut known = Vec::new();
        for member in siblings {
            if !matches!(self.runtime.fault(member.value), Some(Fault::NotAllowed)) {
                known.push(self.runtime.symbols().name(member.name).to_owned());
            }
        }
        known
    }

    /// What the schema says at a place, in one line.
    fn text(&self, span: Span) -> String {
        if span.source == NOWHERE || span == self.start {
            return String::new();
        }
        let text = self.sources.text(span);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        match lines.next() {
            Some(_) => format!("{first} …"),
            None => first.to_owned(),
        }
    }

    fn word(&mut self, span: Span) -> Option<NodeId> {
        let text = self.text(span);
        let builder = self.words.as_mut()?;
        if text.is_empty() {
            return None;
        }
        let node = builder.string(span, &text);
        builder.written_in(node, span.source);
        Some(node)
    }
}

/// Errors of the schema itself.
pub(crate) fn broken(why: &Failed, config: &Config, tier: Tier) -> Vec<Diagnostic> {
    let source = config.source().unwrap_or(NOWHERE);
    let start = Span::new(source, 0..0);
    let errors = why.iter();
    errors
        .map(|e| crate::extract::reported_finding(e, start, tier))
        .collect()
}
