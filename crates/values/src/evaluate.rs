//! From layers to documents: CUE is evaluated, with references bound to the effective values of the stack.
//!
//! Each CUE layer is evaluated by itself and becomes a tree of what it says. Its references see what the whole stack comes
//! to, so layers are evaluated again, laid over one another again, until nothing changes: a value derived from a
//! value of another layer takes one more turn. This is done for the stack after each tier, because
//! a value derived from what a user sets is another one before the user sets it.
//!
//! Values that refer to each other in a circle have no right value, whatever the turns come to: see
//! [`circles`](crate::circles).

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use base::{Diagnostic, LayerId, SourceId, Sources, Span, Symbol, Symbols};
use cue::Value;
use cue::layered::{Layer, Reference};
use cue::runtime::Runtime;
use data::NodeId;
use layers::Place;

use crate::config::{Breach, Config, Joined, Key, Words};
use crate::document::{self, Document, Found, Kind};
use crate::effective::Effective;
use crate::extract::{self, Asked, Extracted, Unknown};
use crate::input::{Content, Input};
use crate::merge::{Context, Merged, Options};
use crate::schema::MOST_FINDINGS;
use crate::tier::Tier;
use crate::{circles, codes, config, literal, marks};

/// How often layers are evaluated anew before they are said not to settle. Each turn settles at least one more
/// step of every chain of references that goes from layer to layer.
const MOST_TURNS: usize = 1_000;
/// How many turns go by between looks for circles, which would turn for ever.
const TURNS_BETWEEN_LOOKS: usize = 4;

/// All layers as documents, after each tier.
#[derive(Debug, Default)]
pub struct Evaluated {
    /// One for each tier that has a layer, in order. The last is the whole stack.
    pub stages: Vec<Stage>,
    pub findings: Vec<Diagnostic>,
    /// What the CUE schema says of every field.
    pub words: Option<Words>,
}

/// The layers of a tier and those below it.
#[derive(Debug)]
pub struct Stage {
    pub tier: Tier,
    /// All documents, low to high.
    pub documents: Vec<Document>,
    /// The documents that set something: their numbers and where their values lie.
    pub roots: Vec<(usize, NodeId)>,
    /// Constraints, with the values that they do not admit.
    pub unadmitted: BTreeSet<(Place, Place)>,
    pub null_deletes: bool,
}

impl Evaluated {
    /// The stack after a tier; nothing where there is no layer so low.
    pub fn stage(&self, tier: Tier) -> Option<&Stage> {
        self.stages.iter().rev().find(|stage| stage.tier <= tier)
    }
}

/// Evaluates all layers. Findings are those of the layers themselves; what comes of laying them over one another is
/// found by [`merge`](crate::merge()).
pub fn evaluate(
    mut inputs: Vec<Input>,
    options: &Options,
    symbols: &mut Symbols,
    sources: &Sources,
) -> Evaluated {
    // Stable: within a tier the order of the command line stays.
    inputs.sort_by_key(|input| input.tier);
    let mut runtime = Runtime::new();
    std::mem::swap(runtime.symbols(), symbols);
    runtime.know_sources(sources);
    let mut engine = Engine {
        runtime,
        options,
        sources,
        sheets: Vec::new(),
        findings: Vec::new(),
        at_was_found: options.at.is_none() || inputs.is_empty(),
        config: Config::default(),
        words: None,
        breached: BTreeSet::new(),
        whole: None,
    };
    for input in inputs {
        engine.add(input);
    }
    engine.add_schema();
    let stages = engine.stages();
    engine.report_missing_path();
    std::mem::swap(engine.runtime.symbols(), symbols);
    Evaluated {
        stages,
        findings: engine.findings,
        words: engine.words,
    }
}

/// One layer in the making.
struct Sheet {
    document: Document,
    cue: Option<CueSheet>,
}

/// What a CUE layer is evaluated from, and what came of it.
struct CueSheet {
    file: Value,
    source: SourceId,
    at: Vec<String>,
    /// Whether some reference leads to a value, so that other layers matter to it.
    refers: bool,
    evaluated: bool,
    constraints: Vec<(NodeId, Value)>,
    unknown: Vec<Unknown>,
    references: Vec<Reference>,
    /// Those of its fields, each of the field that it is written in.
    direct: Vec<Reference>,
    /// What its references were bound to.
    seen: Option<Rc<Effective>>,
    findings: Vec<Diagnostic>,
}

impl CueSheet {
    /// Whether something that its references lead to is not what it was.
    fn is_moved(&self, now: Option<&Rc<Effective>>) -> bool {
        match (&self.seen, now) {
            _ if !self.refers => false,
            (Some(seen), Some(now)) => {
                let mut references = self.references.iter();
                references.any(|reference| !now.same_at(seen, &reference.to))
            }
            (None, None) => false,
            _ => true,
        }
    }
}

struct Engine<'a> {
    runtime: Runtime,
    options: &'a Options,
    sources: &'a Sources,
    sheets: Vec<Sheet>,
    findings: Vec<Diagnostic>,
    at_was_found: bool,
    config: Config,
    words: Option<Words>,
    /// What was already said of the schema.
    breached: BTreeSet<Key>,
    /// The values of the whole stack, joined with the schema.
    whole: Option<(Effective, Joined)>,
}

impl Engine<'_> {
    fn add(&mut self, input: Input) {
        let Input {
            tier,
            content,
            defaults,
        } = input;
        match content {
            Content::Data { tree, kind } => self.sheets.push(Sheet {
                document: Document {
                    defaults,
                    ..Document::new(tier, tree, kind)
                },
                cue: None,
            }),
            Content::Cue(loaded) => self.add_cue(tier, defaults, &loaded),
        }
    }

    fn add_cue(&mut self, tier: Tier, defaults: bool, loaded: &cue::load::Loaded) {
        self.findings.extend(loaded.errors.iter().cloned());
        let Some(instance) = loaded.instances.first() else {
            return;
        };
        let files: Vec<_> = instance.files.iter().map(AsRef::as_ref).collect();
        let Some(first) = files.first() else {
            return;
        };
        let source = first.source;
        let may_be_plain = self.options.at.is_none() && !self.options.evaluate_all;
        let plain = match may_be_plain {
            true => literal::read(&files, self.runtime.symbols()),
            false => None,
        };
        if let Some(plain) = plain {
            if !plain.is_all {
                // The rest of the file may be wrong, or hold a schema.
                self.build_reported(tier, loaded, instance, &files);
            }
            self.sheets.push(Sheet {
                document: Document {
                    defaults,
                    ..Document::new(tier, plain.tree, Kind::Cue)
                },
                cue: None,
            });
            return;
        }
        let Some(file) = self.build_reported(tier, loaded, instance, &files) else {
            return;
        };
        self.sheets.push(Sheet {
            document: Document {
                defaults,
                ..Document::new(tier, self.nothing(source), Kind::Cue)
            },
            cue: Some(CueSheet {
                file,
                source,
                at: vec!["values".to_owned()],
                refers: true,
                evaluated: false,
                constraints: Vec::new(),
                unknown: Vec::new(),
                references: Vec::new(),
                direct: Vec::new(),
                seen: None,
                findings: Vec::new(),
            }),
        });
    }

    /// Builds a package and notes its schema; says what is wrong.
    fn build_reported(
        &mut self,
        tier: Tier,
        loaded: &cue::load::Loaded,
        instance: &cue::load::Instance,
        files: &[&cue::syntax::ast::File],
    ) -> Option<Value> {
        let source = files.first()?.source;
        let built = self.build(loaded, instance, files);
        let start = Span::new(source, 0..0);
        let file = match built {
            Ok(file) => file,
            Err(errors) => {
                let findings = errors.iter();
                let findings = findings.map(|e| extract::reported_finding(e, start, tier));
                self.findings.extend(findings);
                return None;
            }
        };
        self.config.add(&mut self.runtime, tier, files, file);
        Some(file)
    }

    /// A tree with nothing in it.
    fn nothing(&self, source: SourceId) -> data::Tree {
        let text = self.sources.get(source).text().clone();
        let mut builder = data::TreeBuilder::new(source, text);
        let root = builder.map(Span::new(source, 0..0), &[]);
        builder.finish(root)
    }

    /// Makes a layer for the defaults inside the schema, below all others.
    fn add_schema(&mut self) {
        if let Some(source) = self.config.source() {
            let document = Document::new(Tier::Module, self.nothing(source), Kind::Schema);
            self.sheets.insert(
                0,
                Sheet {
                    document,
                    cue: None,
                },
            );
        }
    }

    /// Builds what a package imports, and the package.
    fn build(
        &mut self,
        loaded: &cue::load::Loaded,
        instance: &cue::load::Instance,
        files: &[&cue::syntax::ast::File],
    ) -> Result<Value, cue::runtime::Failed> {
        for import in &loaded.imported {
            let files: Vec<_> = import.files.iter().map(AsRef::as_ref).collect();
            let value = self.runtime.build(&import.path, &files)?;
            let spelled = loaded.spellings.iter();
            for (text, _) in spelled.filter(|(_, path)| **path == import.path) {
                self.runtime.add_package(text, value);
            }
        }
        // A package clause means nothing here: the hidden fields of a layer are its own.
        let own = format!("{} {}", instance.path, self.sheets.len());
        self.runtime.build(&own, files)
    }

    /// The stack after each tier that has a layer.
    fn stages(&mut self) -> Vec<Stage> {
        let tiers: BTreeSet<Tier> = self.sheets.iter().map(|s| s.document.tier).collect();
        let mut settled = Vec::new();
        // The whole stack first: where it meets the schema, little is left to ask of those below.
        for (turn, tier) in tiers.into_iter().rev().enumerate() {
            settled.push((self.settle(tier, turn == 0), turn == 0));
        }
        let mut stages = Vec::new();
        for ((stage, breaches), is_last) in settled.into_iter().rev() {
            self.report_breaches(&stage, &breaches, is_last);
            stages.push(stage);
        }
        stages
    }

    /// Evaluates the layers up to a tier until nothing changes.
    fn settle(&mut self, tier: Tier, is_last: bool) -> (Stage, Vec<Breach>) {
        let count = self
            .sheets
            .iter()
            .filter(|s| s.document.tier <= tier)
            .count();
        let mut effective: Option<Rc<Effective>> = None;
        let mut joined: Option<(Effective, Joined)> = None;
        let mut suspects = [Vec::new(), Vec::new()];
        let mut turn = 0;
        loop {
            for at in 0..count {
                self.evaluate_sheet(at, effective.as_ref());
            }
            let mut stage = self.stage(tier, count);
            stage.unadmitted = self.unadmitted(&stage);
            if !self.config.is_empty() {
                joined = self.join(&mut stage, joined, is_last);
                stage.unadmitted = self.unadmitted(&stage);
            }
            let refers = self.sheets.iter().take(count).any(Sheet::refers);
            turn += 1;
            let now = {
                let merged = Merged::of(&stage);
                refers.then(|| Rc::new(Effective::of(&merged)))
            };
            let is_settled = match (&now, &effective) {
                (None, _) => true,
                (Some(now), Some(before)) => now.same(before),
                (Some(_), None) => false,
            };
            // A circle that is still there at the next look will stay. Two turns in a row are looked at, because a value may
            // come and go from turn to turn.
            let mut is_endless = turn > MOST_TURNS;
            if let Some(before) = suspects.get_mut(turn % TURNS_BETWEEN_LOOKS) {
                let found = circles::find(&circles::steps(&Merged::of(&stage)));
                is_endless |= found.iter().any(|circle| before.contains(circle));
                *before = found;
            }
            if is_settled || is_endless {
                if is_last {
                    self.report(&stage, is_settled);
                }
                let (values, joined) = joined.unzip();
                let breaches = joined
                    .as_ref()
                    .map_or_else(Vec::new, |j| j.breaches.clone());
                if is_last {
                    self.whole = values.zip(joined);
                }
                return (stage, breaches);
            }
            effective = now;
        }
    }

    /// Joins the values with the schema, unless they are what they were, and takes up its defaults.
    fn join(
        &mut self,
        stage: &mut Stage,
        before: Option<(Effective, Joined)>,
        is_last: bool,
    ) -> Option<(Effective, Joined)> {
        let nothing = self.config.source().map(|source| self.nothing(source));
        replace_first(stage, nothing.map(Arc::new));
        let values = Effective::of(&Merged::of(stage));
        let joined = match before {
            Some(before) if before.0.same(&values) => Some(before),
            _ if !is_last && self.meets_as_the_whole(stage.tier, &values) => None,
            _ => {
                let (runtime, sources) = (&mut self.runtime, self.sources);
                let words = is_last.then_some(&mut self.words);
                let done = (self.config).join(runtime, stage.tier, &values.tree, sources, words);
                match done {
                    Ok(Some(done)) => {
                        if let Some(sheet) = self.sheets.first_mut() {
                            sheet.document.tree = Arc::clone(&done.defaults);
                        }
                        Some((values, done))
                    }
                    Ok(None) => None,
                    Err(why) => {
                        let told = config::broken(&why, &self.config, stage.tier);
                        self.findings.extend(told);
                        None
                    }
                }
            }
        };
        let own = self.sheets.first();
        replace_first(stage, own.map(|sheet| Arc::clone(&sheet.document.tree)));
        joined
    }

    /// Whether the values of a lower tier meet the schema as those of the whole stack do.
    fn meets_as_the_whole(&mut self, tier: Tier, values: &Effective) -> bool {
        let Some((all, joined)) = &self.whole else {
            return false;
        };
        let trees = (&all.tree, &values.tree);
        let meets = (self.config).meets_too(&mut self.runtime, tier, joined, trees);
        if meets && let Some(sheet) = self.sheets.first_mut() {
            sheet.document.tree = Arc::clone(&joined.defaults);
        }
        meets
    }

    /// Says what breaks the schema, each once, of the tier that broke it.
    fn report_breaches(&mut self, stage: &Stage, breaches: &[Breach], is_last: bool) {
        if self.options.locks_only || breaches.is_empty() {
            return;
        }
        let merged = Merged::of(stage);
        let context = Context {
            symbols: &self.runtime.ctx.symbols,
            sources: self.sources,
        };
        for breach in breaches {
            if breach.waits() && !is_last {
                continue;
            }
            let (finding, key) = breach.finding(&merged, stage.tier, context);
            if !self.breached.insert(key) {
                continue;
            }
            if self.breached.len() > MOST_FINDINGS {
                let message = format!(
                    "more than {MOST_FINDINGS} findings of the schema; the rest is not shown"
                );
                let more = Diagnostic::error(data::codes::MORE_FINDINGS, message);
                self.findings.push(more);
                return;
            }
            self.findings.push(finding);
        }
    }

    fn evaluate_sheet(&mut self, at: usize, effective: Option<&Rc<Effective>>) {
        let Some(Sheet {
            document,
            cue: Some(sheet),
        }) = self.sheets.get(at)
        else {
            return;
        };
        if sheet.evaluated && !sheet.is_moved(effective) {
            return;
        }
        let (file, source, tier) = (sheet.file, sheet.source, document.tier);
        let number = u16::try_from(at).unwrap_or(u16::MAX);
        let start = Span::new(source, 0..0);
        let mut findings = Vec::new();
        let bound = match effective {
            Some(effective) => {
                let owner = |node| effective.owner(node);
                self.runtime.effective(&effective.tree, &owner).map(Some)
            }
            None => Ok(None),
        };
        let named = self.options.at.as_ref().map(|path| {
            let names = path.0.iter().map(|segment| match segment {
                base::Segment::Key(name) => name.clone(),
                base::Segment::Index(index) => index.to_string(),
            });
            names.collect::<Vec<String>>()
        });
        let paths = named.into_iter().map(|path| (path, true));
        let paths = paths.chain([(sheet.at.clone(), false)]);
        let mut layer = None;
        for (path, by_option) in paths {
            let done = match &bound {
                Ok(bound) => {
                    let bound = bound.as_ref();
                    self.runtime.evaluate_layer(file, &path, number, bound)
                }
                Err(errors) => Err(errors.clone()),
            };
            match done {
                Ok(done) => {
                    let found = done.values.is_some();
                    self.at_was_found |= by_option && found;
                    layer = Some(done);
                    if found {
                        break;
                    }
                }
                Err(errors) => {
                    let errors = errors.iter();
                    let told = errors.map(|e| extract::reported_finding(e, start, tier));
                    findings.extend(told);
                    break;
                }
            }
        }
        let extracted = layer.as_ref().and_then(|layer| {
            let asked = (tier, source, layer);
            self.extract(asked, effective.map(AsRef::as_ref))
        });
        let references = layer.map_or_else(Vec::new, |layer| layer.references);
        let Some(Sheet {
            document,
            cue: Some(sheet),
        }) = self.sheets.get_mut(at)
        else {
            return;
        };
        sheet.evaluated = true;
        sheet.refers = !references.is_empty();
        sheet.references = references;
        sheet.seen = effective.cloned();
        sheet.findings = findings;
        if let Some(extracted) = extracted {
            document.tree = Arc::new(extracted.tree);
            document.derived = Arc::new(extracted.derived);
            sheet.constraints = extracted.constraints;
            sheet.unknown = extracted.unknown;
            sheet.direct = extracted.direct;
            sheet.findings.extend(extracted.findings);
        }
    }

    fn extract(
        &mut self,
        (tier, source, layer): (Tier, SourceId, &Layer),
        effective: Option<&Effective>,
    ) -> Option<Extracted> {
        let root = layer.values?;
        let guards = match layer.references.is_empty() {
            true => Vec::new(),
            false => self.runtime.guards(),
        };
        let exists = |path: &[Symbol]| effective.is_some_and(|e| e.find(path).is_some());
        let asked = Asked {
            tier,
            source,
            sources: self.sources,
            layer,
            exists: &exists,
            guards: &guards,
        };
        Some(extract::extract(&mut self.runtime, root, &asked))
    }

    /// The documents up to a tier, and where their values lie.
    fn stage(&mut self, tier: Tier, count: usize) -> Stage {
        let sheets = self.sheets.iter().take(count);
        let documents: Vec<Document> = sheets.map(|sheet| sheet.document.clone()).collect();
        let mut unheard = Vec::new();
        let mut roots = Vec::new();
        let symbols = &*self.runtime.symbols();
        for (number, document) in documents.iter().enumerate() {
            let at = self.options.at.as_ref();
            if let Found::Map(root, _) = document::values(document, at, symbols, &mut unheard) {
                roots.push((number, root));
            }
        }
        Stage {
            tier,
            documents,
            roots,
            unadmitted: BTreeSet::new(),
            null_deletes: self.options.null_deletes,
        }
    }

    /// Asks every constraint about the values at its path.
    fn unadmitted(&mut self, stage: &Stage) -> BTreeSet<(Place, Place)> {
        let mut found = BTreeSet::new();
        let sheets = self.sheets.iter();
        if sheets
            .filter_map(|s| s.cue.as_ref())
            .all(|s| s.constraints.is_empty())
        {
            return found;
        }
        let merged = Merged::of(stage);
        let resolution = &merged.resolution;
        for entry in resolution.entries() {
            let chain = resolution.chain(entry);
            for by in chain {
                let tree = merged.tree(by.layer);
                if !tree.is_constraint(by.node) {
                    continue;
                }
                let sheet = usize::from(merged.part(by.layer).index);
                let known = self.sheets.get(sheet).and_then(|s| s.cue.as_ref());
                let known = known.map_or(&[][..], |s| s.constraints.as_slice());
                let Some(&(_, vertex)) = known.iter().find(|(node, _)| *node == by.node) else {
                    continue;
                };
                for of in chain {
                    let values = merged.tree(of.layer);
                    let is_map =
                        |tree: &data::Tree, node| matches!(tree.value(node), data::Value::Map(_));
                    let skip = of.layer == by.layer && of.node == by.node
                        || values.is_constraint(of.node) && !values.is_default(of.node)
                        || is_map(values, of.node) && is_map(tree, by.node);
                    if !skip && self.runtime.admits(vertex, values, of.node).is_err() {
                        found.insert(((by.layer, by.node), (of.layer, of.node)));
                    }
                }
            }
        }
        found
    }

    /// What is wrong with the layers of the whole stack.
    fn report(&mut self, stage: &Stage, is_settled: bool) {
        for document in &stage.documents {
            let at = self.options.at.as_ref();
            let symbols = &*self.runtime.symbols();
            let found = document::values(document, at, symbols, &mut self.findings);
            let by_path = matches!(found, Found::Map(_, true) | Found::Nothing(true));
            self.at_was_found |= by_path && document.kind != Kind::Cue;
            if let Found::Map(root, _) = found {
                marks::check(document, root, symbols, &mut self.findings);
            }
        }
        for sheet in &mut self.sheets {
            if let Some(cue) = &mut sheet.cue {
                self.findings.append(&mut cue.findings);
            }
        }
        let merged = Merged::of(stage);
        let symbols = &*self.runtime.symbols();
        let mut steps = circles::steps(&merged);
        let counts_all = !is_settled && circles::find(&steps).is_empty();
        for sheet in &self.sheets {
            let Some(cue) = &sheet.cue else {
                continue;
            };
            // What stands changes from turn to turn, or cannot be computed: then all that layers refer to counts.
            let unknown: BTreeSet<&Vec<Symbol>> = cue.unknown.iter().map(|u| &u.path).collect();
            let references = cue.direct.iter();
            let references = references.filter(|r| counts_all || unknown.contains(&r.from));
            circles::add(&mut steps, references, &sheet.document.tier.role());
        }
        let in_circle = circles::report(&steps, symbols, &mut self.findings);
        for (number, sheet) in self.sheets.iter().enumerate() {
            let Some(cue) = &sheet.cue else {
                continue;
            };
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            for unknown in &cue.unknown {
                if !in_circle.contains(&unknown.path) && !merged.is_above(&unknown.path, number) {
                    let tier = sheet.document.tier;
                    self.findings.push(unresolved(unknown, tier, symbols));
                }
            }
        }
        if !is_settled && in_circle.is_empty() {
            let message = "the values never settle: they change each other again and again";
            let finding = Diagnostic::error(codes::VALUE_CYCLE, message);
            self.findings
                .push(finding.help("look for values that refer to each other through conditions"));
        }
    }

    fn report_missing_path(&mut self) {
        if let (false, Some(at)) = (self.at_was_found, &self.options.at) {
            let message = format!("no file has the path `{at}` that `--at` names");
            self.findings.push(
                Diagnostic::error(codes::UNKNOWN_PATH, message).help(
                    "give the path at which a file holds its values, as in `--at spec.values`",
                ),
            );
        }
    }
}

impl Sheet {
    fn refers(&self) -> bool {
        self.cue.as_ref().is_some_and(|cue| cue.refers)
    }
}

/// Gives the first document, that of the schema's defaults, another tree.
fn replace_first(stage: &mut Stage, tree: Option<Arc<data::Tree>>) {
    let (document, root) = (stage.documents.first_mut(), stage.roots.first_mut());
    if let (Some(tree), Some(document), Some(root)) = (tree, document, root) {
        root.1 = tree.root();
        document.tree = tree;
    }
}

/// A value that nothing settles.
fn unresolved(unknown: &Unknown, tier: Tier, symbols: &Symbols) -> Diagnostic {
    let path = crate::merge::dotted(&unknown.path, symbols);
    let why = unknown.why.first();
    let message = match why {
        Some(why) => format!("`{path}` cannot be computed: {}", why.message),
        None => format!("`{path}` cannot be computed: what it refers to has no value"),
    };
    Diagnostic::error(codes::UNRESOLVED_VALUE, message)
        .primary(unknown.span, "")
        .role(tier.role())
        .help(format!("give `{path}` a value, or what it refers to"))
        .fact("field", path.to_string())
}

/// The number of a layer in its stack.
pub(crate) fn layer_id(number: usize) -> LayerId {
    LayerId(u16::try_from(number).unwrap_or(u16::MAX))
}
