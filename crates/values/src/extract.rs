//! An evaluated CUE layer as a tree: values, defaults and constraints with their places.
//!
//! What the layer computed from other values is noted with their paths; what it could not compute is left
//! out and noted too: another layer may supply it.

use std::collections::BTreeMap;

use base::{Diagnostic, SourceId, Sources, Span, Symbol};
use cue::layered::{Layer, Reference, Said};
use cue::runtime::{Failed, Runtime};
use cue::{Value, runtime};
use data::write::Writer;
use data::{NodeId, Number, Tree, TreeBuilder};

use crate::codes;
use crate::document::Derived;
use crate::tier::Tier;

/// What a layer says.
#[derive(Debug)]
pub(crate) struct Extracted {
    pub tree: Tree,
    pub derived: Derived,
    /// The constraints, with the vertices that know what they admit.
    pub constraints: Vec<(NodeId, Value)>,
    /// What could not be computed.
    pub unknown: Vec<Unknown>,
    /// The references of fields, each of the field that it is written in.
    pub direct: Vec<Reference>,
    pub findings: Vec<Diagnostic>,
}

/// A field that could not be computed.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    pub path: Vec<Symbol>,
    pub span: Span,
    pub why: Failed,
}

/// Who is asked, and what is known of the stack.
pub(crate) struct Asked<'a> {
    pub tier: Tier,
    pub source: SourceId,
    pub sources: &'a Sources,
    pub layer: &'a Layer,
    /// Whether the stack has a value at a path.
    pub exists: &'a dyn Fn(&[Symbol]) -> bool,
    pub guards: &'a [(Span, Span)],
}

pub(crate) fn extract(runtime: &mut Runtime, root: Value, asked: &Asked<'_>) -> Extracted {
    let text = asked.sources.get(asked.source).text().clone();
    let mut references: BTreeMap<&[Symbol], Vec<&Reference>> = BTreeMap::new();
    for reference in &asked.layer.references {
        let from = references.entry(reference.from.as_slice()).or_default();
        from.push(reference);
    }
    let written = runtime.place(root).map(|place| place.span);
    let mut walk = Walk {
        runtime,
        asked,
        references,
        written,
        builder: TreeBuilder::new(asked.source, text),
        path: Vec::new(),
        in_list: 0,
        derived: Derived::new(),
        constraints: Vec::new(),
        unknown: Vec::new(),
        direct: Vec::new(),
        findings: Vec::new(),
    };
    let start = Span::new(asked.source, 0..0);
    let made = walk.visit(root, written.unwrap_or(start));
    let root = match made {
        Some(made) => made.node,
        None => walk.builder.map(start, &[]),
    };
    Extracted {
        tree: walk.builder.finish(root),
        derived: walk.derived,
        constraints: walk.constraints,
        unknown: walk.unknown,
        direct: walk.direct,
        findings: walk.findings,
    }
}

struct Walk<'a, 'r> {
    runtime: &'r mut Runtime,
    asked: &'a Asked<'a>,
    references: BTreeMap<&'a [Symbol], Vec<&'a Reference>>,
    /// Where the values themselves are written.
    written: Option<Span>,
    builder: TreeBuilder,
    path: Vec<Symbol>,
    in_list: usize,
    derived: Derived,
    constraints: Vec<(NodeId, Value)>,
    unknown: Vec<Unknown>,
    direct: Vec<Reference>,
    findings: Vec<Diagnostic>,
}

/// A node that was made.
struct Made {
    node: NodeId,
    /// It sets nothing.
    is_constraint: bool,
}

impl Walk<'_, '_> {
    /// Makes a node of what a vertex says. Depth is bounded by the evaluator.
    fn visit(&mut self, value: Value, above: Span) -> Option<Made> {
        let place = self.runtime.place(value);
        let (derived, through) = self.derivation(value, place.map(|place| place.span));
        let span = through.or(place.map(|place| place.span)).unwrap_or(above);
        let word = self.runtime.said(value);
        let mut is_constraint = false;
        let node = match word.said {
            Said::Map => {
                let made = self.map(word.value, span);
                is_constraint = made.is_constraint;
                made.node
            }
            Said::List => match self.list(word.value, span) {
                Some(node) => node,
                None => {
                    is_constraint = true;
                    self.not_concrete(value, span, &derived);
                    self.bound(value, span)
                }
            },
            Said::Scalar => {
                let mut one = One::new(&mut self.builder, span);
                self.runtime.write(word.value, &mut one);
                one.finish()?
            }
            Said::Constraint => {
                self.not_concrete(value, span, &derived);
                if self.runtime.is_open(word.value) {
                    if !derived.is_empty() {
                        self.unknown.push(Unknown {
                            path: self.path.clone(),
                            span,
                            why: Vec::new(),
                        });
                    }
                    return None;
                }
                is_constraint = true;
                self.bound(value, span)
            }
            Said::Unknown(why) => {
                self.unknown.push(Unknown {
                    path: self.path.clone(),
                    span,
                    why,
                });
                return None;
            }
            Said::Wrong(why) => {
                self.wrong(span, &why);
                return None;
            }
        };
        self.builder.written_in(node, span.source);
        if self.in_list == 0 && !is_constraint {
            if word.is_default && self.chosen(place) {
                self.builder.mark_default(node);
                if word.is_bounded {
                    self.builder.mark_constraint(node);
                    self.constraints.push((node, value));
                }
            }
            if !derived.is_empty() {
                self.derived.insert(node, derived);
            }
        }
        Some(Made {
            node,
            is_constraint,
        })
    }

    /// Whether a default was written as one by this tier. A module may use definitions that have defaults; what
    /// comes of them is its value.
    fn chosen(&self, place: Option<cue::layered::Place>) -> bool {
        match (self.asked.tier, place, self.written) {
            (Tier::Module, Some(place), Some(written)) => {
                place.is_default && contains(written, place.span)
            }
            (Tier::Module, ..) => false,
            _ => true,
        }
    }

    fn map(&mut self, value: Value, span: Span) -> Made {
        let members = self.runtime.members(value);
        let mut fields = Vec::with_capacity(members.len());
        let mut sets = members.is_empty();
        for (name, member) in members {
            self.path.push(name);
            if let Some(made) = self.visit(member, span) {
                let key = self.name_span(member).unwrap_or(span);
                sets |= !made.is_constraint;
                fields.push(self.builder.field(key, name, made.node));
            }
            self.path.pop();
        }
        let node = self.builder.map(span, &fields);
        let is_constraint = !sets && !fields.is_empty() && self.in_list == 0;
        if is_constraint {
            self.builder.mark_constraint(node);
            self.constraints.push((node, value));
        }
        Made {
            node,
            is_constraint,
        }
    }

    /// A list whose elements are all values; nothing where one of them is not.
    fn list(&mut self, value: Value, span: Span) -> Option<NodeId> {
        let members = self.runtime.members(value);
        let mut items = Vec::with_capacity(members.len());
        self.in_list += 1;
        for (_, member) in members {
            match self.visit(member, span) {
                Some(made) if !made.is_constraint => items.push(made.node),
                _ => {
                    self.in_list -= 1;
                    return None;
                }
            }
        }
        self.in_list -= 1;
        Some(self.builder.list(span, &items))
    }

    /// A constraint, shown as CUE.
    fn bound(&mut self, value: Value, span: Span) -> NodeId {
        let text = self.shown(value, span);
        let node = self.builder.string(span, &text);
        if self.in_list == 0 {
            self.builder.mark_constraint(node);
            self.constraints.push((node, value));
        }
        node
    }

    /// As it is written, where that is one line; else as CUE prints it.
    fn shown(&self, value: Value, span: Span) -> String {
        let text = self.asked.sources.text(span);
        match text.is_empty() || text.contains('\n') {
            true => self.runtime.show(value),
            false => text.to_owned(),
        }
    }

    /// A module's own values are concrete. What it takes from a definition, or computes from other values, may be
    /// left to the tiers above.
    fn not_concrete(&mut self, value: Value, span: Span, derived: &[Vec<Symbol>]) {
        let own = self.written.is_some_and(|values| contains(values, span));
        let is_value = self.in_list == 0 && !self.path.is_empty() && derived.is_empty();
        if self.asked.tier != Tier::Module || !own || !is_value {
            return;
        }
        let path = crate::merge::dotted(&self.path, self.runtime.symbols());
        let shown = self.shown(value, span);
        self.findings.push(
            Diagnostic::error(
                codes::UNSET_MODULE_VALUE,
                format!("`{path}` has no value in the module: {shown}"),
            )
            .primary(span, "module values are concrete")
            .help("set a value here, and say what is allowed in `#config`; or remove the line")
            .role(Tier::Module.role()),
        );
    }

    fn wrong(&mut self, span: Span, why: &Failed) {
        for reported in why {
            self.findings
                .push(reported_finding(reported, span, self.asked.tier));
        }
    }

    /// Where the name of a field is written.
    fn name_span(&self, value: Value) -> Option<Span> {
        let decl = self.runtime.place(value)?.name?;
        let text = self.asked.sources.text(decl);
        let len = match text.strip_prefix('"') {
            Some(rest) => rest.find('"').map_or(text.len(), |end| end + 2),
            None => text.find([':', '?', '!', ' ']).unwrap_or(text.len()),
        };
        let end = decl.start + u32::try_from(len).ok()?;
        Some(Span { end, ..decl })
    }

    /// What the field at the current path was computed from, and the reference that it came
    /// through if that stands further up.
    fn derivation(
        &mut self,
        value: Value,
        place: Option<Span>,
    ) -> (Vec<Vec<Symbol>>, Option<Span>) {
        if self.references.is_empty() || self.in_list > 0 || self.path.is_empty() {
            return (Vec::new(), None);
        }
        let written = self.runtime.places(value);
        let mut found = Vec::new();
        let mut through = None;
        for depth in 0..=self.path.len() {
            let Some((from, rest)) = self.path.split_at_checked(depth) else {
                continue;
            };
            for reference in self.references.get(from).into_iter().flatten() {
                if rest.is_empty() {
                    // What it refers to may refer to more: that is not said of this field.
                    let span = reference.span;
                    let own = span.is_some_and(|at| {
                        let is_field = self.written.is_some_and(|values| contains(values, at));
                        !is_field || written.iter().any(|&w| contains(w, at))
                    });
                    if own {
                        found.push(reference.to.clone());
                        self.direct.push((*reference).clone());
                    }
                    continue;
                }
                if self.guarded(reference.span, place) {
                    found.push(reference.to.clone());
                    continue;
                }
                let mut to = reference.to.clone();
                to.extend_from_slice(rest);
                if !self.is_guard(reference.span) && (self.asked.exists)(&to) {
                    found.push(to);
                    through = reference.span;
                }
            }
        }
        found.sort();
        found.dedup();
        // Who reads `services.api` has not to be told that he reads `services`.
        let more = found.clone();
        found.retain(|path| {
            let mut others = more.iter();
            !others.any(|other| other.len() > path.len() && other.starts_with(path))
        });
        (found, through)
    }

    /// Whether a reference decides that something written elsewhere is there.
    fn guarded(&self, reference: Option<Span>, place: Option<Span>) -> bool {
        let (Some(reference), Some(place)) = (reference, place) else {
            return false;
        };
        let mut guards = self.asked.guards.iter();
        guards.any(|&(by, what)| contains(by, reference) && contains(what, place))
    }

    fn is_guard(&self, reference: Option<Span>) -> bool {
        let mut guards = self.asked.guards.iter();
        reference.is_some_and(|reference| guards.any(|&(by, _)| contains(by, reference)))
    }
}

/// An error of the evaluator as a finding.
pub fn reported_finding(
    reported: &cue::eval::report::Reported,
    fallback: Span,
    tier: Tier,
) -> Diagnostic {
    let path = reported.path.join(".");
    let message = match path.is_empty() {
        true => reported.message.clone(),
        false => format!("`{path}`: {}", reported.message),
    };
    let mut spans = reported.spans.iter().copied();
    let first = spans.next().unwrap_or(fallback);
    let mut finding = Diagnostic::error(codes::CUE_ERROR, message)
        .primary(first, "")
        .role(tier.role());
    for span in spans.take(8) {
        finding = finding.secondary(span, "");
    }
    match reported.help {
        Some(help) => finding.help(help),
        None => finding,
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
}

/// One scalar, written into a tree.
pub(crate) struct One<'a> {
    builder: &'a mut TreeBuilder,
    span: Span,
    node: Option<NodeId>,
}

impl<'a> One<'a> {
    pub fn new(builder: &'a mut TreeBuilder, span: Span) -> One<'a> {
        One {
            builder,
            span,
            node: None,
        }
    }

    /// The node, if a scalar was written.
    pub fn finish(self) -> Option<NodeId> {
        self.node
    }
}

impl Writer for One<'_> {
    fn null(&mut self) {
        self.node = Some(self.builder.null(self.span));
    }

    fn bool(&mut self, value: bool) {
        self.node = Some(self.builder.bool(self.span, value));
    }

    fn number(&mut self, number: Number<'_>) {
        self.node = Some(self.builder.number(self.span, number));
    }

    fn string(&mut self, value: &str) {
        self.node = Some(self.builder.string(self.span, value));
    }

    fn bytes(&mut self, base64: &str) {
        self.node = Some(self.builder.bytes(self.span, base64));
    }

    fn begin_list(&mut self) {}

    fn end_list(&mut self) {}

    fn begin_map(&mut self) {}

    fn key(&mut self, _: &str) {}

    fn end_map(&mut self) {}
}

/// The stack that evaluation needs.
pub const STACK_BYTES: usize = runtime::STACK_BYTES;
