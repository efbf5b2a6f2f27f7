//! Everything that an answer depends on, compiled: one package, the host's defaults and rules, every
//! tenant's overlays and rules, and what the host offers.
//!
//! Keys are numbers, values are checked and shared, rules are indexed by key. A change replaces one
//! overlay or one rule set and leaves the rest alone; nothing is recomputed that did not change.
//! A million overlays fit in a gigabyte. The snapshot does not know where its parts were stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::decide::Review;
use crate::layer::{Authority, Layer, Scope};
use crate::overlay::{Against, Assignment, Meta, Overlay};
use crate::package::Package;
use crate::policy::{Rule, RuleSet};
use crate::secrets::Scanner;
use crate::value::{Pool, Value};

/// What this host offers, for readiness.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    pub tools: Vec<String>,
    pub knowledge: Vec<String>,
    /// Names of secret slots that are filled, or handles that resolve.
    pub secrets: Vec<String>,
    pub models: Vec<String>,
    /// The latest score of each eval.
    pub evals: BTreeMap<String, Value>,
}

type Names<T> = HashMap<Box<str>, T, FxBuildHasher>;

#[derive(Debug, Default)]
pub(crate) struct Tenant {
    pub overlay: Overlay,
    pub rules: RuleSet,
    pub workspaces: Names<Workspace>,
}

#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub overlay: Overlay,
    pub rules: RuleSet,
    pub users: Names<Overlay>,
}

#[derive(Debug)]
pub struct Snapshot {
    pub package: Arc<Package>,
    pub environment: Option<Environment>,
    /// Writes that wait for another person.
    pub reviews: Vec<Review>,
    pub(crate) host: Overlay,
    pub(crate) host_rules: RuleSet,
    pub(crate) tenants: Names<Tenant>,
    pool: Pool,
    scanner: Arc<Scanner>,
}

impl Snapshot {
    pub fn new(package: Arc<Package>, scanner: Arc<Scanner>) -> Snapshot {
        Snapshot {
            package,
            environment: None,
            reviews: Vec::new(),
            host: Overlay::default(),
            host_rules: RuleSet::default(),
            tenants: Names::default(),
            pool: Pool::default(),
            scanner,
        }
    }

    pub fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    /// Compiles assignments for a layer, sharing values with what is already there.
    pub fn compile(
        &mut self,
        layer: Layer,
        assignments: impl IntoIterator<Item = (Assignment, Arc<Meta>)>,
    ) -> Overlay {
        let mut against = Against {
            keys: &self.package.keys,
            version: &self.package.manifest.version,
            scanner: &self.scanner,
            pool: &mut self.pool,
        };
        Overlay::compile(layer, assignments, &mut against)
    }

    /// Compiles without sharing: for what is tried and thrown away.
    pub fn try_compile(
        &self,
        layer: Layer,
        assignments: impl IntoIterator<Item = (Assignment, Arc<Meta>)>,
    ) -> Overlay {
        let mut against = Against {
            keys: &self.package.keys,
            version: &self.package.manifest.version,
            scanner: &self.scanner,
            pool: &mut Pool::default(),
        };
        Overlay::compile(layer, assignments, &mut against)
    }

    /// Replaces the host's defaults.
    pub fn set_host(&mut self, overlay: Overlay) {
        self.host = overlay;
    }

    /// Replaces one scope's overlay; an empty one goes away.
    pub fn set_overlay(&mut self, scope: &Scope, overlay: Overlay) {
        let tenant = self
            .tenants
            .entry(scope.tenant.as_str().into())
            .or_default();
        let Some(workspace) = &scope.workspace else {
            tenant.overlay = overlay;
            return;
        };
        let workspace = tenant
            .workspaces
            .entry(workspace.as_str().into())
            .or_default();
        match &scope.user {
            None => workspace.overlay = overlay,
            Some(user) if overlay.is_empty() => {
                workspace.users.remove(user.as_str());
            }
            Some(user) => {
                workspace.users.insert(user.as_str().into(), overlay);
            }
        }
    }

    pub fn overlay(&self, scope: &Scope) -> Option<&Overlay> {
        let tenant = self.tenants.get(scope.tenant.as_str())?;
        let Some(workspace) = &scope.workspace else {
            return Some(&tenant.overlay);
        };
        let workspace = tenant.workspaces.get(workspace.as_str())?;
        match &scope.user {
            None => Some(&workspace.overlay),
            Some(user) => workspace.users.get(user.as_str()),
        }
    }

    /// Replaces one authority's rules. Another authority's rules stay, whatever these are.
    pub fn set_rules(&mut self, authority: &Authority, rules: Vec<Rule>) {
        let rules = RuleSet::new(rules, &self.package.keys);
        match authority {
            Authority::Host => self.host_rules = rules,
            Authority::Tenant { tenant } => {
                self.tenants
                    .entry(tenant.as_str().into())
                    .or_default()
                    .rules = rules;
            }
            Authority::Workspace { tenant, workspace } => {
                let tenant = self.tenants.entry(tenant.as_str().into()).or_default();
                let workspace = tenant.workspaces.entry(workspace.as_str().into());
                workspace.or_default().rules = rules;
            }
        }
    }

    pub fn rules(&self, authority: &Authority) -> Option<&RuleSet> {
        match authority {
            Authority::Host => Some(&self.host_rules),
            Authority::Tenant { tenant } => Some(&self.tenants.get(tenant.as_str())?.rules),
            Authority::Workspace { tenant, workspace } => {
                let tenant = self.tenants.get(tenant.as_str())?;
                Some(&tenant.workspaces.get(workspace.as_str())?.rules)
            }
        }
    }

    /// Every scope that has an overlay, in order.
    pub fn scopes(&self) -> Vec<Scope> {
        let mut scopes = Vec::new();
        for (tenant, inner) in sorted(&self.tenants) {
            if !inner.overlay.is_empty() {
                scopes.push(Scope::tenant(tenant));
            }
            for (workspace, space) in sorted(&inner.workspaces) {
                if !space.overlay.is_empty() {
                    scopes.push(Scope::workspace(tenant, workspace));
                }
                let users = sorted(&space.users).into_iter();
                scopes.extend(users.map(|(user, _)| Scope::user(tenant, workspace, user)));
            }
        }
        scopes
    }

    /// Every authority that has rules, in order.
    pub fn authorities(&self) -> Vec<Authority> {
        let mut all = Vec::new();
        if !self.host_rules.rules().is_empty() {
            all.push(Authority::Host);
        }
        for (tenant, inner) in sorted(&self.tenants) {
            let tenant = tenant.to_owned();
            for (workspace, space) in sorted(&inner.workspaces) {
                if !space.rules.rules().is_empty() {
                    let (tenant, workspace) = (tenant.clone(), workspace.to_owned());
                    all.push(Authority::Workspace { tenant, workspace });
                }
            }
            if !inner.rules.rules().is_empty() {
                all.push(Authority::Tenant { tenant });
            }
        }
        all.sort();
        all
    }

    /// Where credentials were found in any overlay.
    pub fn plaintext_spans(&self) -> Vec<base::Span> {
        let scopes = self.scopes();
        let overlays = scopes.iter().filter_map(|scope| self.overlay(scope));
        overlays
            .chain([&self.host])
            .flat_map(|o| o.plaintext_spans())
            .collect()
    }

    /// Gives back the memory of values that nothing holds any more.
    pub fn trim(&mut self) {
        self.pool.trim();
    }
}

/// By name: a hash map's order must not reach an answer.
fn sorted<T>(names: &Names<T>) -> Vec<(&str, &T)> {
    let mut all: Vec<(&str, &T)> = names.iter().map(|(name, inner)| (&**name, inner)).collect();
    all.sort_by_key(|(name, _)| *name);
    all
}
