//! Structure sharing: a vertex whose only conjunct is one reference is a link to what it refers to.
//!
//! It is what makes large configurations cheap. The link is undone the moment anything else arrives.

use super::context::{Ctx, R};
use super::ids::NodeId;
use super::node::{Base, CloseInfo, Conjunct, Cyclic};

impl Ctx {
    pub fn unshare(&mut self, node: NodeId) -> R<()> {
        let w = self.w(node);
        w.no_sharing = true;
        if !w.is_shared {
            return Ok(());
        }
        w.is_shared = false;
        let orig = w.orig_base;
        let ids = w.shared_ids.clone();
        let shared = w.shared.as_deref().copied();
        self.nodes[node].is_shared = false;
        let Base::Node(target) = self.nodes[node].base else {
            return Ok(());
        };
        self.nodes[node].base = orig;
        if let Some(c) = shared {
            for ci in ids {
                self.schedule_vertex_conjuncts(node, c, target, ci)?;
            }
        }
        self.count_shared(node);
        Ok(())
    }

    pub fn finalize_sharing(&mut self, node: NodeId) -> R<()> {
        self.count_shared(node);
        if !self.w(node).is_shared {
            return Ok(());
        }
        if let Base::Node(target) = self.nodes[node].base {
            if self.w(node).share_cyclic == Cyclic::No {
                self.finalize(target)?;
            }
            if let Some(parent) = self.work(target).and_then(|w| w.attached_to) {
                self.nodes[target].parent = Some(parent);
            }
        }
        Ok(())
    }

    pub fn add_shared(&mut self, node: NodeId, ci: CloseInfo) {
        let w = self.w(node);
        if w.shared_ids.is_empty() || w.share_cyclic < ci.cyclic {
            w.share_cyclic = ci.cyclic;
        }
        w.shared_ids.push(ci);
    }

    fn count_shared(&mut self, node: NodeId) {
        if self.w(node).share_counted {
            return;
        }
        self.w(node).share_counted = true;
        let kind = self.node_kind(node);
        for ci in self.w(node).shared_ids.clone() {
            self.add_evidence(node, kind, ci, 0);
        }
    }

    pub fn share_if_possible(
        &mut self,
        node: NodeId,
        c: Conjunct,
        arc: NodeId,
        ci: CloseInfo,
    ) -> R<bool> {
        let (n, a) = (&self.nodes[node], &self.nodes[arc]);
        let not_here = !n.arcs.is_empty()
            || a.non_rooted
            || a.is_dynamic
            || ci.cyclic == Cyclic::Yes && (n.non_rooted || n.is_dynamic)
            || n.closed_recursive && !a.closed_recursive
            || a.label.is_let();
        // What a copied reference means depends on where it stands in the stack.
        if not_here || self.errs.is_some() || self.late.is_some() {
            return Ok(false);
        }
        let w = self.w(node);
        if w.no_sharing || w.is_shared {
            return Ok(false);
        }
        self.share(node, c, arc, ci)?;
        Ok(true)
    }

    pub fn share(&mut self, node: NodeId, c: Conjunct, arc: NodeId, ci: CloseInfo) -> R<()> {
        let base = self.nodes[node].base;
        let w = self.w(node);
        w.orig_base = base;
        w.is_shared = true;
        w.shared = Some(Box::new(c));
        self.add_shared(node, ci);
        self.nodes[node].base = Base::Node(arc);
        self.nodes[node].is_shared = true;
        if self.is_detached(arc) && self.may_attach(arc) && self.state(arc)? {
            self.w(arc).attached_to = Some(node);
        }
        Ok(())
    }

    fn is_detached(&self, node: NodeId) -> bool {
        let mut at = Some(node);
        while let Some(n) = at {
            if self.nodes[n].rooted() {
                return false;
            }
            at = match self.work(n).and_then(|w| w.attached_to) {
                Some(parent) => Some(parent),
                None => self.nodes[n].parent,
            };
        }
        true
    }

    fn may_attach(&self, node: NodeId) -> bool {
        let n = &self.nodes[node];
        !n.label.is_let() && !n.anonymous
    }
}
