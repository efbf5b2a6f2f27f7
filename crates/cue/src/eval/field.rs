//! Fields: making them, adding conjuncts to them, and applying pattern constraints.

use super::context::{Ctx, R};
use super::few::Rare;
use super::ids::NodeId;
use super::ir::Op;
use super::kind::Kind;
use super::label::Label;
use super::node::{ArcType, Base, CloseInfo, Conjunct, Env, Node, PatternPair, Role, Status, X};
use super::sched::{ARC_TYPE, FIELD_SET, SCALAR, SCALAR_VALUE};
use super::value::{Arg, Code, Val, Value};
use super::work::Run;

/// So many conjuncts are collected without work; with more, tables are needed.
const COLLECTED: usize = 8;

impl Ctx {
    /// The field of that name, made if need be.
    pub fn get_arc(&mut self, node: NodeId, label: Label, arc_type: ArcType) -> R<(NodeId, bool)> {
        if let Some(arc) = self.find_arc(node, label) {
            if label.is_let() {
                self.nodes[arc].multi_let = true;
            }
            self.update_arc_type(arc, arc_type)?;
            return Ok((arc, false));
        }
        let n = &self.nodes[node];
        let mut arc = Node::new(Some(node), label, arc_type);
        arc.non_rooted = n.is_dynamic || n.non_rooted;
        arc.anonymous = n.anonymous || n.label.is_let();
        if self
            .work(node)
            .is_some_and(|w| w.sched.frozen & FIELD_SET != 0)
        {
            let bottom = self.fail(
                "adding field % not allowed as field set was already referenced",
                &[Arg::Label(label)],
            );
            self.add_bottom(bottom);
            arc.arc_type = ArcType::NotPresent;
        }
        let arc = self.nodes.push(arc);
        self.push_arc(node, label, arc);
        Ok((arc, true))
    }

    pub fn update_arc_type(&mut self, arc: NodeId, to: ArcType) -> R<()> {
        let now = self.nodes[arc].arc_type;
        if now == ArcType::Pending
            && self
                .work(arc)
                .is_some_and(|w| w.sched.frozen & ARC_TYPE != 0)
        {
            if let Some(parent) = self.nodes[arc].parent {
                let label = self.nodes[arc].label;
                self.field_error(
                    parent,
                    self.src,
                    label,
                    "cyclic reference to field %",
                    "cyclic reference to field %",
                )?;
            }
            return Ok(());
        }
        if to >= now || now == ArcType::NotPresent {
            return Ok(());
        }
        if let Some(parent) = self.nodes[arc].parent
            && self.nodes[parent].arc_type == ArcType::Pending
            && self.work(parent).is_some()
        {
            self.unshare(parent)?;
        }
        self.nodes[arc].arc_type = to;
        Ok(())
    }

    /// Adds a conjunct to a field and, if it is being computed, to the computation.
    pub fn insert_conjunct(
        &mut self,
        arc: NodeId,
        c: Conjunct,
        ci: CloseInfo,
        arc_type: ArcType,
        check: bool,
    ) -> R<bool> {
        if self.collects(arc, c, ci) {
            self.update_arc_type(arc, arc_type)?;
            let same = if check {
                self.known_conjunct(arc, c)
            } else {
                None
            };
            match same {
                None => {
                    self.nodes[arc].conjuncts.push(c);
                    return Ok(true);
                }
                Some(known) if known.ci.def == 0 => return Ok(false),
                Some(_) => {}
            }
        }
        if !self.bare_state(arc) {
            return Ok(false);
        }
        self.mark_non_cyclic(arc, ci);
        self.update_arc_type(arc, arc_type)?;
        let mut same = None;
        if check {
            self.search(self.nodes[arc].conjuncts.len())?;
            same = self.known_conjunct(arc, c);
        }
        match same {
            None => self.nodes[arc].conjuncts.push(c),
            Some(known) if known.ci.def != 0 => self.attach(arc, ci.def, known.ci.def),
            Some(_) => {}
        }
        let in_progress = self.nodes[arc].status != Status::Finalized
            && self.work(arc).is_some_and(|w| w.initialized);
        if in_progress {
            self.schedule_conjunct(arc, c, ci)?;
        }
        if self.work(arc).is_some() {
            for r in self.w(arc).notify.clone() {
                let live =
                    self.nodes[r.node].status != Status::Finalized && self.work(r.node).is_some();
                if live {
                    self.schedule_conjunct(r.node, c, r.ci)?;
                }
            }
        }
        Ok(same.is_none())
    }

    /// Whether a field only collects conjuncts, because nobody has looked at it yet. Its work is made when somebody
    /// does: a list of many elements has no work for each of them before that.
    fn collects(&mut self, arc: NodeId, c: Conjunct, ci: CloseInfo) -> bool {
        let n = &self.nodes[arc];
        let waits = n.work.is_none()
            && n.status == Status::Unprocessed
            && n.conjuncts.len() < COLLECTED
            && n.role == Role::Vertex
            && !n.label.is_let()
            && c.ci == ci;
        let above = n
            .parent
            .filter(|&parent| waits && self.work(parent).is_some());
        let Some(parent) = above else {
            return false;
        };
        if n.label.is_def() || self.nodes[parent].closed_recursive {
            self.nodes[arc].closed_recursive = true;
        }
        true
    }

    pub fn insert_arc(
        &mut self,
        node: NodeId,
        label: Label,
        arc_type: ArcType,
        c: Conjunct,
        ci: CloseInfo,
        check: bool,
    ) -> R<NodeId> {
        let (arc, _) = self.get_arc(node, label, arc_type)?;
        let saved = self.push_node(arc);
        let added = self.insert_conjunct(arc, c, ci, arc_type, check)?;
        if added {
            let mut i = 0;
            while let Some(&pair) = self.nodes[node].arcs.patterns.get(i) {
                i += 1;
                if self.match_pattern(pair.pattern, label)? {
                    let mut k = 0;
                    while let Some(&c) = self.nodes[pair.constraint].conjuncts.get(k) {
                        k += 1;
                        self.add_constraint(arc, arc_type, c, check)?;
                    }
                }
            }
        }
        self.node = saved;
        Ok(arc)
    }

    /// Adds a pattern's conjunct to a field it matches; the frame knows the label.
    fn add_constraint(
        &mut self,
        arc: NodeId,
        arc_type: ArcType,
        mut c: Conjunct,
        check: bool,
    ) -> R<()> {
        let label = self.nodes[arc].label;
        let env = c.env.unwrap_or(self.no_env);
        let env = Env {
            label,
            lets: Rare::new(),
            ..self.envs[env].clone()
        };
        c.env = Some(self.envs.push(env));
        self.insert_conjunct(arc, c, c.ci, arc_type, check)?;
        Ok(())
    }

    pub fn insert_pattern(&mut self, node: NodeId, pattern: Val, c: Conjunct) -> R<()> {
        self.complete_pattern(pattern)?;
        if !self.insert_pattern_pair(node, pattern, c)? {
            return Ok(());
        }
        let mut i = 0;
        while let Some(arc) = self.nodes[node].arcs.get(i) {
            i += 1;
            let (label, arc_type) = (self.nodes[arc].label, self.nodes[arc].arc_type);
            if arc_type != ArcType::Pending && self.match_pattern(pattern, label)? {
                self.add_constraint(arc, arc_type, c, true)?;
            }
        }
        Ok(())
    }

    fn complete_pattern(&mut self, pattern: Val) -> R<()> {
        match pattern {
            Val::Node(node) => {
                self.unify(node, SCALAR_VALUE, Run::Yield, false)?;
            }
            Val::Lit(id) => {
                let parts: Vec<Val> = match self.value(id) {
                    Value::Disjunction(d) => d.values.clone(),
                    Value::Conjunction(values) => values.to_vec(),
                    _ => return Ok(()),
                };
                for part in parts {
                    self.complete_pattern(part)?;
                }
            }
        }
        Ok(())
    }

    /// False if the same constraint is already there.
    fn insert_pattern_pair(&mut self, node: NodeId, pattern: Val, c: Conjunct) -> R<bool> {
        let mut i = 0;
        while let Some(&pair) = self.nodes[node].arcs.patterns.get(i) {
            i += 1;
            if !self.equal(pair.pattern, pattern, 0)? {
                continue;
            }
            self.search(self.nodes[pair.constraint].conjuncts.len())?;
            let known = self.nodes[pair.constraint]
                .conjuncts
                .iter()
                .find(|x| x.x == c.x && self.same_env(x.env, c.env))
                .copied();
            return match known {
                Some(known) => {
                    self.attach(node, c.ci.def, known.ci.def);
                    Ok(false)
                }
                None => {
                    self.nodes[pair.constraint].conjuncts.push(c);
                    Ok(true)
                }
            };
        }
        let mut constraint = Node::new(None, Label::NONE, ArcType::Member);
        constraint.role = Role::Pattern;
        constraint.conjuncts.push(c);
        let constraint = self.nodes.push(constraint);
        self.nodes[node].arcs.push_pattern(PatternPair {
            pattern,
            constraint,
        });
        Ok(true)
    }

    /// Whether a pattern admits a label.
    pub fn match_pattern(&mut self, pattern: Val, label: Label) -> R<bool> {
        if !label.is_regular() {
            return Ok(false);
        }
        if let Val::Node(node) = pattern {
            self.unify(node, SCALAR, Run::Finalize, false)?;
        }
        let kind = if label.is_string() {
            Kind::STRING
        } else {
            Kind::INT
        };
        let Some(value) = self.unwrap_val(pattern) else {
            return Ok(false);
        };
        if !kind.meets(self.kind(value)) {
            if let Val::Lit(id) = value
                && self.bottom(id).is_some()
            {
                return self.bottom_pattern(id);
            }
            return Ok(false);
        }
        if let Val::Lit(id) = value {
            match self.value(id) {
                Value::Top => return Ok(true),
                Value::Type(k) => return Ok(k.has(kind)),
                Value::Bound { op, value } => {
                    let (op, value) = (*op, *value);
                    return self.match_bound(op, value, label);
                }
                Value::Num(n) => {
                    return Ok(label.is_int() && n.to_i64() == Some(i64::from(label.index())));
                }
                Value::String(s) => {
                    return Ok(label.is_string() && **s == *label.name(&self.symbols));
                }
                Value::Conjunction(values) => {
                    for v in values.clone() {
                        if !self.match_pattern(v, label)? {
                            return Ok(false);
                        }
                    }
                    return Ok(true);
                }
                Value::Disjunction(d) => {
                    for v in d.values.clone() {
                        if self.match_pattern(v, label)? {
                            return Ok(true);
                        }
                    }
                    return Ok(false);
                }
                _ => {}
            }
        }
        let label = self.label_value(label);
        let env = Some(self.env);
        let conjuncts = [X::from(value), X::Val(label)].map(|x| Conjunct {
            env,
            x,
            ci: self.ci,
        });
        let node = self.inline_node(Base::None, &conjuncts);
        self.finalize(node)?;
        Ok(self.node_bottom(node).is_none())
    }

    fn bottom_pattern(&mut self, id: super::ids::ValId) -> R<bool> {
        if id == self.cycle {
            let err = self.error("cyclic pattern constraint", &[]);
            if let Some(node) = self.node {
                let conjuncts = self.nodes[node].conjuncts.clone();
                self.add_conjunct_spans(err, &conjuncts);
            }
            let bottom = self.new_bottom(Code::Eval, err);
            self.add_bottom(bottom);
        }
        if self.errs.is_none() {
            self.add_bottom(id);
        }
        Ok(false)
    }

    fn match_bound(&mut self, op: Op, value: Val, label: Label) -> R<bool> {
        let bound = match self.unwrap_val(value) {
            Some(Val::Lit(id)) => id,
            _ => return Ok(false),
        };
        let order = match self.value(bound) {
            Value::String(s) if label.is_string() => {
                let name = label.name(&self.symbols).to_owned();
                if matches!(op, Op::Match | Op::NotMatch) {
                    let pattern = s.to_string();
                    let found = self.regex_matches(&pattern, name.as_bytes());
                    return Ok(found == (op == Op::Match));
                }
                name.as_bytes().cmp(s.as_bytes())
            }
            Value::Num(n) if label.is_int() => crate::number::Num::int(label.index()).compare(n),
            _ => return Ok(false),
        };
        Ok(super::binop::holds(op, order))
    }

    /// A label as a value.
    pub fn label_value(&mut self, label: Label) -> super::ids::ValId {
        if label.is_int() {
            return self.new_int(i64::from(label.index()));
        }
        let text = label.name(&self.symbols).into();
        self.new_value(Value::String(text))
    }

    /// Whether some pattern of the vertex admits the label.
    pub fn pattern_accepts(&mut self, node: NodeId, label: Label) -> R<bool> {
        let node = self.deref_value(node);
        let mut i = 0;
        while let Some(&pair) = self.nodes[node].arcs.patterns.get(i) {
            i += 1;
            if self.match_pattern(pair.pattern, label)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub fn is_open_struct(&self, node: NodeId) -> bool {
        let n = &self.nodes[node];
        n.has_ellipsis || !(n.closed_once || self.is_closed_struct(node))
    }

    pub fn is_closed_struct(&self, node: NodeId) -> bool {
        let n = &self.nodes[node];
        match n.base {
            Base::Node(_) => n.closed_recursive && !n.has_ellipsis,
            Base::Struct => n.closed_recursive || n.closed_once,
            Base::Val(id) if self.disjunction(id).is_some() => n.closed_recursive || n.closed_once,
            _ => false,
        }
    }

    pub fn element_count(&self, node: NodeId) -> usize {
        let arcs = &self.nodes[node].arcs.list;
        arcs.iter()
            .filter(|&&a| self.nodes[a].label.is_int())
            .count()
    }

    /// Whether the vertex could have a field of that name.
    pub fn accepts(&mut self, node: NodeId, label: Label) -> R<bool> {
        if label.always_allowed() {
            return Ok(true);
        }
        let node = self.deref_value(node);
        if let Base::Val(id) = self.nodes[node].base
            && let Some(d) = self.disjunction(id)
        {
            for v in d.values.clone() {
                if let Val::Node(v) = v
                    && self.accepts(v, label)?
                {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let kind = self.node_kind(node);
        if label.is_int() {
            return Ok(match self.nodes[node].base {
                Base::List { open } => (label.index() as usize) < self.element_count(node) || open,
                _ => kind.meets(Kind::LIST),
            });
        }
        if !kind.meets(Kind::STRUCT)
            && label.is_string()
            && (!kind.is_bottom() || self.nodes[node].arcs.structs.is_empty())
        {
            return Ok(false);
        }
        if self.is_open_struct(node) || self.find_arc(node, label).is_some() {
            return Ok(true);
        }
        self.pattern_accepts(node, label)
    }
}
