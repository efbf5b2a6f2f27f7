//! From layers to documents: CUE is evaluated, with references bound to the effective values of the stack.
//!
//! Each CUE layer is evaluated by itself and becomes a tree of what it says. Its references see what the whole stack comes
//! to, so layers are evaluated again, laid over one another again, until nothing changes: a value derived from a
//! value of another layer takes one more turn. This is done for the stack after each tier, because
//! a value derived from what a user sets is another one before the user sets it.
//!
//! Values that refer to each other in a circle have no right value, whatever the turns come to: see
//! [`circles`](crate::circles).

mod findings;
mod sheets;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use base::{Diagnostic, LayerId, Sources, Symbols};
use cue::runtime::Runtime;
use data::NodeId;
use layers::Place;

use self::sheets::Sheet;
use crate::circles;
use crate::config::{self, Breach, Config, Joined, Key, Words};
use crate::document::{self, Document, Found, Kind};
use crate::effective::Effective;
use crate::input::Input;
use crate::merge::{Merged, Options};
use crate::tier::Tier;

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
}

/// Gives the first document, that of the schema's defaults, another tree.
fn replace_first(stage: &mut Stage, tree: Option<Arc<data::Tree>>) {
    let (document, root) = (stage.documents.first_mut(), stage.roots.first_mut());
    if let (Some(tree), Some(document), Some(root)) = (tree, document, root) {
        root.1 = tree.root();
        document.tree = tree;
    }
}

/// The number of a layer in its stack.
pub(crate) fn layer_id(number: usize) -> LayerId {
    LayerId(u16::try_from(number).unwrap_or(u16::MAX))
}
