//! All answers of one context, settled once: a look-up is one hash of the key's name and one array access.
//!
//! A [`Table`] is what a program that asks often holds for a context. It owns what it shows, so the
//! snapshot may change under it; [`Table::update`] then settles again only the keys that the changed layer
//! sets or used to set, and says how many those were. Rules that begin or end make a table out of date at
//! [`Table::until`]. It says nothing that [`crate::resolve`] would not say; a law holds them together.

use std::sync::Arc;

use crate::instant::Instant;
use crate::key::{Key, KeyId};
use crate::layer::Layer;
use crate::overlay::{Entry, Meta};
use crate::package::Package;
use crate::policy::Effect;
use crate::resolve::{Held, Link, Outcome, Resolved, ResolvedValue, Why};
use crate::value::Stored;

/// One link of a chain.
#[derive(Clone, Debug)]
pub struct Step {
    pub layer: Layer,
    pub outcome: Outcome,
    pub why: Why,
    pub value: Option<Arc<Stored>>,
    /// Who set it; none for defaults and rules.
    pub meta: Option<Arc<Meta>>,
    /// The rule that supplies the value, by its id.
    pub supplier: Option<Box<str>>,
    /// The rule that decided against it, by its id.
    pub judge: Option<Box<str>>,
}

/// The answer of one key.
#[derive(Clone, Debug)]
pub struct Row {
    pub value: Option<Arc<Stored>>,
    pub source: Option<Layer>,
    pub locked: bool,
    pub blocked: bool,
    pub chain: Box<[Step]>,
}

#[derive(Clone, Debug)]
pub struct Table {
    package: Arc<Package>,
    /// By key.
    rows: Box<[Row]>,
    /// The keys that each layer's overlay sets.
    set: [Box<[KeyId]>; 6],
    until: Option<Instant>,
}

impl Table {
    /// Settles every key.
    pub fn new(view: &Resolved<'_>) -> Table {
        let rows = view.all().map(|answer| row(&answer)).collect();
        Table {
            package: Arc::clone(&view.snapshot.package),
            rows,
            set: Layer::ALL.map(|layer| keys_of(view, layer)),
            until: view.next_change(),
        }
    }

    /// When a rule begins or ends: from then on the table may be wrong.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    pub fn find(&self, name: &str) -> Option<&Row> {
        self.get(self.package.keys.find(name)?)
    }

    pub fn get(&self, KeyId(key): KeyId) -> Option<&Row> {
        self.rows.get(key as usize)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Row)> {
        let keys = self.package.keys.iter().map(|(_, key)| key);
        keys.zip(&self.rows)
    }

    /// Settles what a changed overlay in one layer can have changed; the number of keys that took. The
    /// view is of the same context and package, after the change, with the same rules.
    pub fn update(&mut self, view: &Resolved<'_>, layer: Layer) -> usize {
        let now_set = keys_of(view, layer);
        let Some(set) = self.set.get_mut(layer as usize) else {
            return 0;
        };
        let before = std::mem::replace(set, now_set.clone());
        let mut touched: Vec<KeyId> = before.into_iter().chain(now_set).collect();
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|&key| !self.says(key, layer, view.entry(layer, key)));
        for &KeyId(key) in &touched {
            if let Some(place) = self.rows.get_mut(key as usize) {
                *place = row(&view.key(KeyId(key)));
            }
        }
        touched.len()
    }

    /// Whether the table already holds just this entry in the layer.
    fn says(&self, key: KeyId, layer: Layer, entry: Option<&Entry>) -> bool {
        let chain = self.get(key).map_or(&[][..], |row| &row.chain);
        let known = chain.iter().find(|step| step.layer == layer);
        match (known.and_then(|step| step.value.as_ref()), entry) {
            (None, None) => true,
            (Some(value), Some(entry)) => {
                let meta = known.and_then(|step| step.meta.as_ref());
                value.json == entry.value.json && meta.is_some_and(|meta| **meta == *entry.meta)
            }
            _ => false,
        }
    }
}

fn keys_of(view: &Resolved<'_>, layer: Layer) -> Box<[KeyId]> {
    let overlay = view.overlays.get(layer as usize).copied().flatten();
    let entries = overlay.map_or(&[][..], |overlay| overlay.entries());
    entries.iter().map(|entry| entry.key).collect()
}

fn row(answer: &ResolvedValue<'_>) -> Row {
    let chain: Box<[Step]> = answer.chain.iter().map(|l| step(answer.key, l)).collect();
    let value = match &answer.value {
        Some(Held::Made(stored)) => Some(Arc::clone(stored)),
        Some(Held::Stored(_)) => {
            let won = chain.iter().rev().find(|s| s.outcome == Outcome::Won);
            won.and_then(|step| step.value.clone())
        }
        None => None,
    };
    Row {
        value,
        source: answer.source,
        locked: answer.locked,
        blocked: answer.blocked,
        chain,
    }
}

fn step(key: &Key, link: &Link<'_>) -> Step {
    let supplied = link.supplier.and_then(|rule| match &rule.effect {
        Effect::Mandatory(value) | Effect::Recommended(value) => Some(value),
        _ => None,
    });
    let set = link.entry.map(|entry| &entry.value);
    let default = key.default.as_ref().filter(|_| link.layer == Layer::App);
    Step {
        layer: link.layer,
        outcome: link.outcome,
        why: link.why,
        value: supplied.or(set).or(default).cloned(),
        meta: link.entry.map(|entry| Arc::clone(&entry.meta)),
        supplier: link.supplier.map(|rule| rule.id.as_str().into()),
        judge: link.judge.map(|rule| rule.id.as_str().into()),
    }
}
