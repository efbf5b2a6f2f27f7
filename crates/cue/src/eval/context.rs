//! The evaluator's state: all arenas, and the frame of the expression that is being evaluated.

use base::{Span, Symbols};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::ids::{Arena, EnvId, ErrId, ExprId, NodeId, RefId, TaskId, ValId};
use super::ir::Ir;
use super::kind::Kind;
use super::label::Label;
use super::limits::Limits;
use super::node::{ArcType, Base, CloseInfo, Conjunct, Env, Node, Status, X};
use super::value::{Bottom, Code, Disjunction, ErrorData, Slot, Val, Value};
use super::work::{Overlay, Spare, Task};
use crate::number::Num;

/// Why a computation stopped in the middle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The running task waits for something and will be run again.
    Yield,
    /// A limit was reached; the whole evaluation ends.
    Limit,
}

pub type R<T> = Result<T, Stop>;

/// A step in a chain of references: this reference in this vertex led to that one.
#[derive(Clone, Copy, Debug)]
pub struct RefStep {
    pub expr: ExprId,
    pub arc: NodeId,
    pub node: NodeId,
    pub next: Option<RefId>,
    pub depth: u32,
}

/// A copy of a part of the tree that stands in for the original while a disjunct is evaluated.
#[derive(Clone, Debug)]
pub struct OverlayFrame {
    pub map: Overlay,
}

/// What [`Ctx::push_state`] saves.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    env: Option<EnvId>,
    errs: Option<ValId>,
    src: Option<Span>,
    ci: CloseInfo,
}

/// One run: programs, values, vertices and errors, and where the evaluator stands.
#[derive(Debug)]
pub struct Ctx {
    pub symbols: Symbols,
    pub ir: Ir,
    pub vals: Arena<ValId, Slot>,
    pub nodes: Arena<NodeId, Node>,
    pub envs: Arena<EnvId, Env>,
    pub errors: Arena<ErrId, ErrorData>,
    pub refs: Arena<RefId, RefStep>,
    pub tasks: Arena<TaskId, Task>,
    pub limits: Limits,
    /// Bottom that marks a vertex whose value is not known yet.
    pub cycle: ValId,
    pub top: ValId,
    /// Says nothing, but keeps a vertex from being shared.
    pub no_sharing: ValId,
    /// An empty, final vertex: what a failed lookup returns.
    pub empty: NodeId,
    /// The empty frame.
    pub no_env: EnvId,
    /// Types of the elements that open lists admit, for printing.
    pub list_tails: HashMap<NodeId, Vec<ExprId>, FxBuildHasher>,
    /// What constant expressions of disjunctions are, where somebody asked.
    pub(super) constants: HashMap<ExprId, Option<ValId>, FxBuildHasher>,
    /// Kinds of which nothing more is known, as values.
    pub(super) kinds: HashMap<Kind, ValId, FxBuildHasher>,
    /// Literals as results of disjunctions.
    pub(super) literal_nodes: HashMap<(ValId, u16), NodeId, FxBuildHasher>,
    /// Packages that were imported, by path.
    pub packages: HashMap<Label, NodeId, FxBuildHasher>,
    pub regexes: super::regex_cache::RegexCache,
    /// The names of the sources, for the order of reports.
    pub source_names: Vec<String>,
    /// Comments above declarations.
    pub docs: HashMap<super::ids::DeclId, Vec<String>, FxBuildHasher>,
    /// Literals that are not written as their value would be: `0x10`, `1_000`, `#"\"#`.
    pub literals: HashMap<ValId, Box<str>, FxBuildHasher>,
    /// Attributes of fields.
    pub attributes: HashMap<super::ids::DeclId, Vec<String>, FxBuildHasher>,
    /// Attributes of struct literals.
    pub struct_attributes: HashMap<ExprId, Vec<String>, FxBuildHasher>,
    /// Fields with an alias that somebody uses, and the references that use it.
    pub aliases: HashMap<super::ids::DeclId, Label, FxBuildHasher>,
    pub alias_uses: HashMap<ExprId, Label, FxBuildHasher>,
    /// Every builtin that a program mentions.
    pub builtins: Vec<super::builtin::Builtin>,

    /// What references to values are bound to, where layers are evaluated.
    pub late: Option<Box<super::late::Late>>,

    /// Places for work that were given back.
    pub(super) spare: Spare,
    /// Tasks that are done and that nobody knows any more.
    pub(super) spare_tasks: Vec<TaskId>,
    // The closedness graph: parent and place of each id.
    pub containment: Vec<(u32, Option<Span>)>,

    // Where we are.
    pub env: EnvId,
    pub ci: CloseInfo,
    pub src: Option<Span>,
    pub errs: Option<ValId>,
    pub node: Option<NodeId>,
    pub alt_path: Vec<NodeId>,
    pub task_stack: Vec<TaskId>,
    pub blocking: Vec<TaskId>,
    pub overlays: Vec<OverlayFrame>,
    pub pending_parent: bool,
    pub eval_depth: u32,
    pub in_detached: u32,
    pub in_validator: u32,
    pub is_validator: bool,
    pub next_comp: u32,
    pub let_serial: u32,
    /// The vertex that was last found concrete, if no function, which no data format has, is in it.
    pub without_functions: Option<NodeId>,
    /// Fields are written by name.
    pub sort_fields: bool,
}

impl Default for Ctx {
    fn default() -> Self {
        Ctx::new()
    }
}

impl Ctx {
    pub fn new() -> Ctx {
        let mut vals = Arena::default();
        let slot = |value| Slot { value, span: None };
        let mut errors: Arena<ErrId, ErrorData> = Arena::default();
        let cycle_error = errors.push(ErrorData {
            node: None,
            alt_path: None,
            text_path: None,
            pos: None,
            others: Vec::new(),
            format: "cycle error",
            args: Default::default(),
            wraps: None,
        });
        let cycle = vals.push(slot(Value::Bottom(Box::new(Bottom {
            code: Code::Cycle,
            errors: smallvec::smallvec![cycle_error],
            has_recursive: false,
            child_error: false,
            close_check: false,
            node: None,
        }))));
        let no_sharing = vals.push(slot(Value::Bottom(Box::new(Bottom {
            code: Code::Eval,
            errors: smallvec::smallvec![cycle_error],
            has_recursive: false,
            child_error: false,
            close_check: false,
            node: None,
        }))));
        let top = vals.push(slot(Value::Top));
        let mut nodes = Arena::default();
        let mut nothing = Node::new(None, Label::NONE, ArcType::Member);
        nothing.status = Status::Finalized;
        let empty = nodes.push(nothing);
        let mut envs = Arena::default();
        let no_env = envs.push(Env::default());
        Ctx {
            symbols: Symbols::new(),
            ir: Ir::default(),
            vals,
            nodes,
            envs,
            errors,
            refs: Arena::default(),
            tasks: Arena::default(),
            limits: Limits::default(),
            cycle,
            top,
            no_sharing,
            empty,
            no_env,
            list_tails: HashMap::default(),
            constants: HashMap::default(),
            kinds: HashMap::default(),
            literal_nodes: HashMap::default(),
            packages: HashMap::default(),
            regexes: Default::default(),
            source_names: Vec::new(),
            docs: HashMap::default(),
            literals: HashMap::default(),
            attributes: HashMap::default(),
            struct_attributes: HashMap::default(),
            aliases: HashMap::default(),
            alias_uses: HashMap::default(),
            builtins: super::builtin::predeclared(),
            late: None,
            spare: Spare::default(),
            spare_tasks: Vec::new(),
            containment: vec![(0, None)],
            env: no_env,
            ci: CloseInfo::default(),
            src: None,
            errs: None,
            node: None,
            alt_path: Vec::new(),
            task_stack: Vec::new(),
            blocking: Vec::new(),
            overlays: Vec::new(),
            pending_parent: false,
            eval_depth: 0,
            in_detached: 0,
            in_validator: 0,
            is_validator: false,
            next_comp: 0,
            let_serial: 0,
            without_functions: None,
            sort_fields: false,
        }
    }

    // --- frames ---

    pub fn push_state(&mut self, env: EnvId, src: Option<Span>) -> Frame {
        let saved = Frame {
            env: Some(self.env),
            errs: self.errs.take(),
            src: self.src,
            ci: self.ci,
        };
        if src.is_some() {
            self.src = src;
        }
        self.env = env;
        saved
    }

    pub fn push_conjunct(&mut self, c: Conjunct) -> Frame {
        let src = self.x_span(c.x);
        let saved = self.push_state(c.env.unwrap_or(self.no_env), src);
        self.ci = c.ci;
        saved
    }

    /// Back to what was; returns the errors of the frame that ends.
    pub fn pop_state(&mut self, saved: Frame) -> Option<ValId> {
        let errs = self.errs;
        if let Some(env) = saved.env {
            self.env = env;
        }
        self.errs = saved.errs;
        self.src = saved.src;
        self.ci = saved.ci;
        errs
    }

    pub fn push_node(&mut self, node: NodeId) -> Option<NodeId> {
        self.node.replace(node)
    }

    // --- frames of literals ---

    pub fn new_env(&mut self, up: EnvId, node: NodeId) -> EnvId {
        self.envs.push(Env {
            up: Some(up),
            node: Some(node),
            ..Env::default()
        })
    }

    pub fn env_up(&self, mut env: EnvId, count: u32) -> EnvId {
        for _ in 0..count {
            match self.envs[env].up {
                Some(up) => env = up,
                None => return self.no_env,
            }
        }
        env
    }

    /// The vertex a frame stands for, seen from within the disjunct that is being evaluated.
    pub fn env_node(&self, env: EnvId) -> Option<NodeId> {
        self.envs[env].node.map(|node| self.through_overlays(node))
    }

    pub fn through_overlays(&self, node: NodeId) -> NodeId {
        for frame in self.overlays.iter().rev() {
            let copy = frame.map.last(node);
            if copy != node {
                return copy;
            }
        }
        node
    }

    pub fn same_env(&self, a: Option<EnvId>, b: Option<EnvId>) -> bool {
        if a == b {
            return true;
        }
        let (a, b) = (a.unwrap_or(self.no_env), b.unwrap_or(self.no_env));
        self.envs[a].up == self.envs[b].up && self.env_node(a) == self.env_node(b)
    }

    // --- values ---

    pub fn value(&self, id: ValId) -> &Value {
        &self.vals[id].value
    }

    /// A new value that is written at the place being evaluated.
    pub fn new_value(&mut self, value: Value) -> ValId {
        let span = self.src;
        self.vals.push(Slot { value, span })
    }

    pub fn new_value_at(&mut self, value: Value, span: Option<Span>) -> ValId {
        self.vals.push(Slot { value, span })
    }

    pub fn new_int(&mut self, n: i64) -> ValId {
        self.new_value(Value::Num(Num::int(n)))
    }

    pub fn bottom(&self, id: ValId) -> Option<&Bottom> {
        match &self.vals[id].value {
            Value::Bottom(b) => Some(b),
            _ => None,
        }
    }

    pub fn disjunction(&self, id: ValId) -> Option<&Disjunction> {
        match &self.vals[id].value {
            Value::Disjunction(d) => Some(d),
            _ => None,
        }
    }

    pub fn code(&self, id: ValId) -> Code {
        self.bottom(id).map_or(Code::Eval, |b| b.code)
    }

    pub fn is_incomplete(&self, id: ValId) -> bool {
        self.bottom(id).is_some_and(Bottom::is_incomplete)
    }

    pub fn lit_kind(&self, id: ValId) -> Kind {
        match self.value(id) {
            Value::Null => Kind::NULL,
            Value::Bool(_) => Kind::BOOL,
            Value::Num(n) => {
                if n.is_int() {
                    Kind::INT
                } else {
                    Kind::FLOAT
                }
            }
            Value::String(_) => Kind::STRING,
            Value::Bytes(_) => Kind::BYTES,
            Value::Top => Kind::TOP,
            Value::Type(kind) => *kind,
            Value::Bound { op, value } => {
                let kind = self.kind(*value);
                if kind.meets(Kind::NUMBER) && kind.without(Kind::NUMBER).is_bottom() {
                    Kind::NUMBER
                } else if kind == Kind::NULL && *op == super::ir::Op::Ne {
                    Kind::TOP.without(Kind::NULL)
                } else {
                    kind
                }
            }
            Value::Validator(v) => self.builtin_param_kind(v.builtin, 0),
            Value::Conjunction(values) => values
                .iter()
                .fold(Kind::TOP, |kind, &v| kind & self.kind(v)),
            Value::Disjunction(d) => d
                .values
                .iter()
                .fold(Kind::BOTTOM, |kind, &v| kind | self.kind(v)),
            Value::Bottom(_) => Kind::BOTTOM,
            Value::Builtin(_) => Kind::FUNC,
        }
    }

    pub fn kind(&self, val: Val) -> Kind {
        match val {
            Val::Lit(id) => self.lit_kind(id),
            Val::Node(node) => self.node_kind(node),
        }
    }

    pub fn node_kind(&self, node: NodeId) -> Kind {
        let n = &self.nodes[node];
        if let Some(work) = &n.work
            && work.kind.is_bottom()
        {
            return Kind::BOTTOM;
        }
        if n.base != Base::None && !self.is_cycle_base(n.base) {
            return match n.base {
                Base::None => Kind::TOP,
                Base::Struct => Kind::STRUCT,
                Base::List { .. } => Kind::LIST,
                Base::Val(id) => self.lit_kind(id),
                Base::Node(other) => self.node_kind(other),
            };
        }
        n.work.as_ref().map_or(Kind::TOP, |work| work.kind)
    }

    /// Whether the value is a concrete one or an error.
    pub fn is_concrete(&self, val: Val) -> bool {
        match val {
            Val::Node(node) => self.node_is_concrete(node),
            Val::Lit(id) => self.lit_is_concrete(id),
        }
    }

    pub fn lit_is_concrete(&self, id: ValId) -> bool {
        matches!(
            self.value(id),
            Value::Null
                | Value::Bool(_)
                | Value::Num(_)
                | Value::String(_)
                | Value::Bytes(_)
                | Value::Builtin(_)
                | Value::Bottom(_)
        )
    }

    pub fn node_is_concrete(&self, node: NodeId) -> bool {
        let node = self.deref_value(node);
        match self.nodes[node].base {
            Base::Val(id) => self.lit_is_concrete(id),
            _ => true,
        }
    }

    pub fn opt_is_concrete(&self, val: Option<Val>) -> bool {
        val.is_some_and(|v| self.is_concrete(v))
    }

    pub fn is_cycle_base(&self, base: Base) -> bool {
        match base {
            Base::Val(id) => id == self.cycle,
            Base::Node(node) => {
                let node = self.deref_value(node);
                self.nodes[node].base == Base::Val(self.cycle)
            }
            _ => false,
        }
    }

    /// The value of a vertex: itself when it is a struct or list.
    pub fn node_value(&self, node: NodeId) -> Option<Val> {
        match self.nodes[node].base {
            Base::None => None,
            Base::Struct | Base::List { .. } => Some(Val::Node(node)),
            Base::Val(id) => Some(Val::Lit(id)),
            Base::Node(other) => Some(Val::Node(other)),
        }
    }

    /// A scalar vertex as its scalar.
    pub fn unwrap(&self, val: Option<Val>) -> Option<Val> {
        let Some(Val::Node(node)) = val else {
            return val;
        };
        let node = self.deref_value(node);
        if let Some(work) = &self.nodes[node].work
            && self.is_cycle_base(self.nodes[node].base)
        {
            if let Some(errs) = work.errs
                && !self.is_incomplete(errs)
            {
                return Some(Val::Lit(errs));
            }
            if let Some(scalar) = work.scalar {
                return Some(Val::Lit(scalar));
            }
        }
        self.node_value(node)
    }

    pub fn unwrap_val(&self, val: Val) -> Option<Val> {
        self.unwrap(Some(val))
    }

    /// The bottom a value is, if it is one.
    pub fn as_bottom(&self, val: Option<Val>) -> Option<ValId> {
        match self.unwrap(val) {
            Some(Val::Lit(id)) if self.bottom(id).is_some() => Some(id),
            _ => None,
        }
    }

    /// Nothing, or a bottom: there is nothing to compute with.
    pub fn is_error(&self, val: Option<Val>) -> bool {
        match val {
            None => true,
            Some(Val::Lit(id)) => self.bottom(id).is_some(),
            Some(Val::Node(_)) => false,
        }
    }

    pub fn node_bottom(&self, node: NodeId) -> Option<ValId> {
        let node = self.deref_value(node);
        match self.nodes[node].base {
            Base::Val(id) if self.bottom(id).is_some() => Some(id),
            _ => None,
        }
    }

    // --- places ---

    pub fn val_span(&self, val: Val) -> Option<Span> {
        match val {
            Val::Lit(id) => self.vals[id].span,
            Val::Node(node) => match self.nodes[node].base {
                Base::Val(id) => self.vals[id].span,
                Base::Node(other) => self.val_span(Val::Node(other)),
                _ => None,
            },
        }
    }

    pub fn x_span(&self, x: X) -> Option<Span> {
        match x {
            X::Expr(id) => self.ir.span(id),
            X::Decl(id) => Some(self.ir.decls[id].span),
            X::Node(node) => self.val_span(Val::Node(node)),
            X::Val(id) => self.vals[id].span,
        }
    }

    /// The place of the value of a conjunct, not of its declaration.
    pub fn elem_span(&self, x: X) -> Option<Span> {
        match x {
            X::Decl(id) => match self.ir.decl_value(id) {
                Some(value) => self.ir.span(value),
                None => Some(self.ir.decls[id].span),
            },
            other => self.x_span(other),
        }
    }
}
