//! The resolver: what a key is for someone, where that came from, and what became of the rest.
//!
//! # Rules
//! A key is resolved over the layers that set it, low to high: host, app, tenant, workspace, user, runtime.
//! Each contribution is judged, in this order:
//! 1. **fault**: it does not match the schema, its scope is too wide, it is no handle: *skipped*.
//! 2. **review**: the key or a rule of a lower authority wants one and nobody else approved: *suppressed*.
//! 3. **deny** by an authority below its layer: *suppressed*. A whole key is denied to those who set
//!    values; the package's default and the host's stay. Denied values are denied in the package too.
//! 4. **range** of any authority, on any layer: *skipped*, and the next valid one serves.
//!
//! What is left is combined by the key's merge strategy, and ranges hold for the combined value as
//! well. A `recommended` value is a contribution just above its authority's layer. A `mandatory` value
//! replaces all of it: `source` is the authority's layer, contributions below are overridden, those at
//! and above it are suppressed. Where rules contradict each other, or no permitted value is left,
//! the key is unset and **blocked**.
//!
//! Rules in the modes `warn` and `dry-run` decide nothing; [`crate::conflicts`] tells of them.
//! Looking up one key allocates nothing unless values are merged.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::instant::Instant;
use crate::key::{Key, KeyId, Merge};
use crate::layer::{Layer, Scope};
use crate::merge;
use crate::overlay::{Entry, Fault, Overlay};
use crate::policy::{self, Effect, Rule, RuleSet};
use crate::snapshot::Snapshot;
use crate::value::{Stored, Value};

/// For whom, when, and with which runtime input.
#[derive(Clone, Debug, Default)]
pub struct Context {
    pub tenant: Option<String>,
    pub workspace: Option<String>,
    /// Only within a workspace.
    pub user: Option<String>,
    /// Compiled by [`Snapshot::try_compile`] for [`Layer::Runtime`].
    pub runtime: Overlay,
    pub now: Instant,
}

impl Context {
    /// The context of a scope's owner, without runtime input.
    pub fn of(scope: &Scope, now: Instant) -> Context {
        Context {
            tenant: Some(scope.tenant.clone()),
            workspace: scope.workspace.clone(),
            user: scope.user.clone(),
            runtime: Overlay::default(),
            now,
        }
    }
}

/// What became of one contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Absent,
    /// It is the effective value, or part of it.
    Won,
    Overridden,
    /// A rule forbids it to take effect; it is kept.
    Suppressed,
    /// It cannot serve; the next valid one does.
    Skipped,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Absent => "absent",
            Outcome::Won => "won",
            Outcome::Overridden => "overridden",
            Outcome::Suppressed => "suppressed",
            Outcome::Skipped => "skipped",
        }
    }
}

/// Why a contribution does not take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Precedence,
    Fault(Fault),
    Review,
    Denied,
    OutOfRange,
    Locked,
}

/// One link of a chain: a layer, or a value that a rule supplies at a layer.
#[derive(Clone, Copy, Debug)]
pub struct Link<'s> {
    pub layer: Layer,
    pub outcome: Outcome,
    pub why: Why,
    pub value: Option<&'s Stored>,
    /// Who set it; none for defaults and rules.
    pub entry: Option<&'s Entry>,
    /// The rule that supplies the value.
    pub supplier: Option<&'s Rule>,
    /// The rule that decided against it.
    pub judge: Option<&'s Rule>,
}

/// An effective value: stored somewhere, or made by merging.
#[derive(Clone, Debug)]
pub enum Held<'s> {
    Stored(&'s Stored),
    Made(Arc<Stored>),
}

impl Held<'_> {
    pub fn value(&self) -> &Value {
        match self {
            Held::Stored(stored) => &stored.value,
            Held::Made(stored) => &stored.value,
        }
    }

    pub fn json(&self) -> &str {
        match self {
            Held::Stored(stored) => &stored.json,
            Held::Made(stored) => &stored.json,
        }
    }
}

/// One key's answer.
#[derive(Clone, Debug)]
pub struct ResolvedValue<'s> {
    pub id: KeyId,
    pub key: &'s Key,
    /// None: nobody sets it, or nothing that is set may serve.
    pub value: Option<Held<'s>>,
    pub source: Option<Layer>,
    pub locked: bool,
    /// Rules leave no value.
    pub blocked: bool,
    /// Every layer, low to high, and between them the values that rules supply.
    pub chain: SmallVec<[Link<'s>; 6]>,
    /// The rules that speak of the key at this time, in every mode: host, tenant, workspace.
    pub rules: SmallVec<[&'s Rule; 2]>,
    /// For merged values, which layer each leaf comes from.
    pub leaves: Vec<(String, Layer)>,
}

impl<'s> ResolvedValue<'s> {
    /// The losing layers below the winner, low to high.
    pub fn overrides(&self) -> impl Iterator<Item = Layer> + '_ {
        let loses = |link: &Link<'_>| {
            let set = link.supplier.is_none() && link.value.is_some();
            set && link.outcome != Outcome::Won && Some(link.layer) < self.source
        };
        self.chain
            .iter()
            .filter(move |link| loses(link))
            .map(|link| link.layer)
    }

    /// Whether a layer may set the key, as far as rules and scopes go.
    pub fn editable(&self, layer: Layer, now: Instant) -> bool {
        let forbids = |rule: &&Rule| {
            rule.binds(now)
                && match &rule.effect {
                    Effect::Mandatory(_) => rule.authority.layer() <= layer,
                    Effect::Deny(values) => values.is_empty() && rule.authority.layer() < layer,
                    _ => false,
                }
        };
        layer >= self.key.floor && !self.rules.iter().any(forbids)
    }
}

/// All keys of one context; each is computed when it is asked for.
#[derive(Clone, Debug)]
pub struct Resolved<'s> {
    pub snapshot: &'s Snapshot,
    pub context: &'s Context,
    /// By layer; the app's own layer has no overlay.
    pub(crate) overlays: [Option<&'s Overlay>; 6],
    rules: [Option<&'s RuleSet>; 3],
}

/// Finds the overlays and rules of a context.
pub fn resolve<'s>(snapshot: &'s Snapshot, context: &'s Context) -> Resolved<'s> {
    let tenant = context
        .tenant
        .as_deref()
        .and_then(|name| snapshot.tenants.get(name));
    let workspace = tenant
        .zip(context.workspace.as_deref())
        .and_then(|(tenant, name)| tenant.workspaces.get(name));
    let user = workspace
        .zip(context.user.as_deref())
        .and_then(|(workspace, name)| workspace.users.get(name));
    Resolved {
        snapshot,
        context,
        overlays: [
            Some(&snapshot.host),
            None,
            tenant.map(|tenant| &tenant.overlay),
            workspace.map(|workspace| &workspace.overlay),
            user,
            Some(&context.runtime),
        ],
        rules: [
            Some(&snapshot.host_rules),
            tenant.map(|tenant| &tenant.rules),
            workspace.map(|workspace| &workspace.rules),
        ],
    }
}

impl<'s> Resolved<'s> {
    /// The same with another overlay in one layer: a what-if, or a write that is being decided.
    pub fn with(mut self, layer: Layer, overlay: &'s Overlay) -> Resolved<'s> {
        if let Some(place) = self.overlays.get_mut(layer as usize) {
            *place = Some(overlay);
        }
        self
    }

    /// The scope whose overlay stands in a layer.
    pub fn scope_of(&self, layer: Layer) -> Option<Scope> {
        let tenant = self.context.tenant.clone()?;
        let (workspace, user) = match layer {
            Layer::Tenant => (None, None),
            Layer::Workspace => (self.context.workspace.clone(), None),
            Layer::User => (self.context.workspace.clone(), self.context.user.clone()),
            _ => return None,
        };
        Some(Scope {
            tenant,
            workspace,
            user,
        })
    }

    /// The same without the layers above one.
    pub fn up_to(mut self, layer: Layer) -> Resolved<'s> {
        for above in Layer::ALL.into_iter().filter(|&above| above > layer) {
            if let Some(place) = self.overlays.get_mut(above as usize) {
                *place = None;
            }
        }
        self
    }

    pub fn find(&self, name: &str) -> Option<ResolvedValue<'s>> {
        self.snapshot.package.keys.find(name).map(|id| self.key(id))
    }

    /// Every key, in the order of their names.
    pub fn all(&self) -> impl Iterator<Item = ResolvedValue<'s>> + '_ {
        self.snapshot
            .package
            .keys
            .iter()
            .map(|(id, _)| self.key(id))
    }

    /// The effective value alone, with its layer.
    pub fn value(&self, id: KeyId) -> Option<(Held<'s>, Layer)> {
        let key = self.snapshot.package.keys.get(id);
        let plain = key.merge == Merge::Replace && !key.review;
        if plain && self.rules_of(id).next().is_none() {
            for layer in [Layer::Runtime, Layer::User, Layer::Workspace, Layer::Tenant] {
                if let Some(entry) = self.entry(layer, id).filter(|e| e.fault.is_none()) {
                    return Some((Held::Stored(&entry.value), layer));
                }
            }
            if let Some(default) = &key.default {
                return Some((Held::Stored(default), Layer::App));
            }
            let host = self.entry(Layer::Host, id).filter(|e| e.fault.is_none())?;
            return Some((Held::Stored(&host.value), Layer::Host));
        }
        let resolved = self.key(id);
        resolved.value.zip(resolved.source)
    }

    pub(crate) fn entry(&self, layer: Layer, id: KeyId) -> Option<&'s Entry> {
        self.overlays
            .get(layer as usize)
            .copied()
            .flatten()?
            .get(id)
    }

    /// When the next rule of this context begins or ends: until then, time changes no answer.
    pub fn next_change(&self) -> Option<Instant> {
        let sets = self.rules.into_iter().flatten();
        let ends = sets.flat_map(|set| set.rules());
        ends.flat_map(|rule| [rule.not_before, rule.expires])
            .flatten()
            .filter(|&time| time > self.context.now)
            .min()
    }

    fn rules_of(&self, id: KeyId) -> impl Iterator<Item = &'s Rule> + use<'s> {
        let now = self.context.now;
        let sets = self.rules.into_iter().flatten();
        sets.flat_map(move |set| set.of(id))
            .filter(move |rule| rule.is_active(now))
    }

    /// One key with everything about it.
    pub fn key(&self, id: KeyId) -> ResolvedValue<'s> {
        let key = self.snapshot.package.keys.get(id);
        let rules: SmallVec<[&'s Rule; 2]> = self.rules_of(id).collect();
        let mut out = ResolvedValue {
            id,
            key,
            value: None,
            source: None,
            locked: false,
            blocked: false,
            chain: self.contributions(id, key, &rules),
            rules,
            leaves: Vec::new(),
        };
        if out.rules.is_empty() && !key.review && key.merge == Merge::Replace {
            settle_plainly(&mut out);
            return out;
        }
        let binding: SmallVec<[&'s Rule; 4]> = out
            .rules
            .iter()
            .copied()
            .filter(|rule| rule.binds(self.context.now))
            .collect();
        if !lock(&mut out, &binding) {
            judge(&mut out, &binding);
            combine(&mut out, &binding);
        }
        out
    }

    /// What every layer says, and between them what rules supply.
    fn contributions(
        &self,
        id: KeyId,
        key: &'s Key,
        rules: &[&'s Rule],
    ) -> SmallVec<[Link<'s>; 6]> {
        let mut chain = SmallVec::new();
        for layer in Layer::ALL {
            let entry = self.entry(layer, id);
            let value = match layer {
                Layer::App => key.default.as_deref(),
                _ => entry.map(|entry| &*entry.value),
            };
            chain.push(link(layer, value, entry, None));
            for rule in rules {
                if rule.authority.layer() == layer && rule.binds(self.context.now) {
                    match &rule.effect {
                        Effect::Mandatory(value) | Effect::Recommended(value) => {
                            chain.push(link(layer, Some(value), None, Some(rule)));
                        }
                        _ => {}
                    }
                }
            }
        }
        chain
    }
}

fn link<'s>(
    layer: Layer,
    value: Option<&'s Stored>,
    entry: Option<&'s Entry>,
    supplier: Option<&'s Rule>,
) -> Link<'s> {
    Link {
        layer,
        outcome: match value {
            Some(_) => Outcome::Overridden,
            None => Outcome::Absent,
        },
        why: Why::Precedence,
        value,
        entry,
        supplier,
        judge: None,
    }
}

/// No rules, no review, no merging: the highest value without a fault.
fn settle_plainly(out: &mut ResolvedValue<'_>) {
    for link in out.chain.iter_mut().rev() {
        let Some(value) = link.value else { continue };
        if let Some(fault) = link.entry.and_then(|entry| entry.fault) {
            (link.outcome, link.why) = (Outcome::Skipped, Why::Fault(fault));
        } else if out.source.is_none() {
            link.outcome = Outcome::Won;
            (out.value, out.source) = (Some(Held::Stored(value)), Some(link.layer));
        }
    }
}

/// Applies a mandatory value, if there is one. `true` if that settles the key.
fn lock<'s>(out: &mut ResolvedValue<'s>, binding: &[&'s Rule]) -> bool {
    let mut mandatory = binding
        .iter()
        .filter(|rule| matches!(rule.effect, Effect::Mandatory(_)));
    let Some(&first) = mandatory.next() else {
        return false;
    };
    let at = first.authority.layer();
    for link in &mut out.chain {
        if link.value.is_none() {
            continue;
        }
        if let Some(fault) = link.entry.and_then(|entry| entry.fault) {
            (link.outcome, link.why) = (Outcome::Skipped, Why::Fault(fault));
            continue;
        }
        let supplied = link.supplier.is_some_and(|rule| std::ptr::eq(rule, first));
        (link.outcome, link.why) = match link.layer {
            _ if supplied => (Outcome::Won, Why::Precedence),
            layer if layer < at => (Outcome::Overridden, Why::Precedence),
            _ => (Outcome::Suppressed, Why::Locked),
        };
        if link.outcome == Outcome::Suppressed {
            link.judge = Some(first);
        }
    }
    let check = |value: &Value| out.key.secret || out.key.check.admits(value);
    if policy::contradiction(binding, check).is_some() {
        out.blocked = true;
        for link in &mut out.chain {
            if link.outcome == Outcome::Won {
                link.outcome = Outcome::Skipped;
            }
        }
    } else if let Effect::Mandatory(value) = &first.effect {
        (out.value, out.source) = (Some(Held::Stored(value)), Some(at));
        out.locked = true;
    }
    true
}

/// Marks the contributions that may not take part.
fn judge<'s>(out: &mut ResolvedValue<'s>, binding: &[&'s Rule]) {
    let review = out.key.review;
    for link in &mut out.chain {
        let Some(stored) = link.value else { continue };
        let layer = link.layer;
        let below = |rule: &&&'s Rule| rule.authority.layer() < layer;
        if let Some(fault) = link.entry.and_then(|entry| entry.fault) {
            (link.outcome, link.why) = (Outcome::Skipped, Why::Fault(fault));
            continue;
        }
        if layer.is_set() && link.supplier.is_none() {
            let wants = binding
                .iter()
                .filter(below)
                .find(|rule| matches!(rule.effect, Effect::RequireReview));
            let approved = link.entry.is_some_and(|entry| entry.meta.is_approved());
            if (review || wants.is_some()) && !approved {
                (link.outcome, link.why) = (Outcome::Suppressed, Why::Review);
                link.judge = wants.copied();
                continue;
            }
        }
        let denies = |rule: &&&'s Rule| match &rule.effect {
            Effect::Deny(values) if values.is_empty() => layer.is_set(),
            Effect::Deny(_) => rule.denies(&stored.value),
            _ => false,
        };
        if let Some(rule) = binding.iter().filter(below).find(denies) {
            (link.outcome, link.why) = (Outcome::Suppressed, Why::Denied);
            link.judge = Some(rule);
            continue;
        }
        // A merged value is judged as a whole, below.
        if out.key.merge == Merge::Replace
            && let Some(rule) = outside(binding, &stored.value)
        {
            (link.outcome, link.why) = (Outcome::Skipped, Why::OutOfRange);
            link.judge = Some(rule);
        }
    }
}

/// The range that a value lies outside of.
fn outside<'s>(binding: &[&'s Rule], value: &Value) -> Option<&'s Rule> {
    binding.iter().copied().find(|rule| match &rule.effect {
        Effect::Range(constraint) => !constraint.admits(value),
        _ => false,
    })
}

/// Makes one value of the contributions that are left.
fn combine<'s>(out: &mut ResolvedValue<'s>, binding: &[&'s Rule]) {
    let left: SmallVec<[usize; 8]> = (0..out.chain.len())
        .filter(|&at| {
            let link = out.chain.get(at);
            link.is_some_and(|link| link.outcome == Outcome::Overridden)
        })
        .collect();
    if out.key.merge == Merge::Replace {
        if let Some(winner) = left.last().and_then(|&at| out.chain.get_mut(at)) {
            winner.outcome = Outcome::Won;
            (out.value, out.source) = (winner.value.map(Held::Stored), Some(winner.layer));
        }
    } else {
        combine_merged(out, &left, binding);
    }
    if out.value.is_none() {
        let ruled_out = out.chain.iter().any(|link| link.why == Why::OutOfRange);
        let check = |value: &Value| out.key.secret || out.key.check.admits(value);
        out.blocked = ruled_out || policy::contradiction(binding, check).is_some();
    }
}

fn combine_merged<'s>(out: &mut ResolvedValue<'s>, left: &[usize], binding: &[&'s Rule]) {
    let contributions: Vec<(Layer, &'s Stored)> = left
        .iter()
        .filter_map(|&at| out.chain.get(at))
        .filter_map(|link| Some((link.layer, link.value?)))
        .collect();
    let values: Vec<(Layer, &Value)> = contributions.iter().map(|(l, s)| (*l, &s.value)).collect();
    let admits = |value: &Value| outside(binding, value).is_none();
    let folded = merge::fold(&out.key.merge, &values, &admits);
    let won = folded.as_ref().map_or(&[][..], |folded| &folded.parts);
    let ruled_out: Vec<usize> = match &folded {
        Some(folded) => folded.left_out.clone(),
        None => (0..values.len()).collect(),
    };
    for (position, &at) in left.iter().enumerate() {
        let Some(link) = out.chain.get_mut(at) else {
            continue;
        };
        if won.contains(&position) {
            link.outcome = Outcome::Won;
            out.source = Some(link.layer);
        } else if ruled_out.contains(&position) {
            (link.outcome, link.why) = (Outcome::Skipped, Why::OutOfRange);
            let alone = link
                .value
                .and_then(|stored| outside(binding, &stored.value));
            let range = |rule: &&&'s Rule| matches!(rule.effect, Effect::Range(_));
            link.judge = alone.or_else(|| binding.iter().find(range).copied());
        }
    }
    if let Some(folded) = folded {
        out.value = match folded.parts.as_slice() {
            [only] => contributions
                .get(*only)
                .map(|(_, stored)| Held::Stored(stored)),
            _ => {
                out.leaves = folded.leaves.into_iter().collect();
                Some(Held::Made(Stored::new(folded.value)))
            }
        };
    }
}
