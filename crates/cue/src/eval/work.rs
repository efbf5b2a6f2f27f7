//! What a vertex needs while it is being computed: its tasks, what is known so far, its closedness
//! evidence, its disjunctions.

use std::sync::Arc;

use smallvec::SmallVec;

use super::copies::Copies;
use super::few::Rare;
use super::ids::{EnvId, ExprId, NodeId, TaskId, ValId};
use super::kind::Kind;
use super::known::Known;
use super::node::{CloseInfo, Conjunct, Cyclic, DefId, X};
use super::sched::Cond;

/// Which vertices were copied to which for a disjunct.
pub type Overlay = Arc<Copies>;

/// The part of a default mark a disjunct has. Combining takes the larger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Mode {
    #[default]
    Maybe,
    Default,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskState {
    Ready,
    Running,
    /// Blocked until a condition of some vertex holds.
    Waiting,
    Success,
    Failed,
    Cancelled,
}

impl TaskState {
    pub fn done(self) -> bool {
        matches!(
            self,
            TaskState::Success | TaskState::Failed | TaskState::Cancelled
        )
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskKind {
    Expr,
    Resolver,
    Dynamic,
    Pattern,
    Comprehension,
    ListLit,
    /// A list that is plain data.
    ListData,
    Disjunctions,
}

#[derive(Clone, Debug)]
pub struct Task {
    pub kind: TaskKind,
    pub state: TaskState,
    pub completes: Cond,
    /// Replaced by a clone in a disjunct.
    pub defunct: bool,
    pub inserting: bool,
    pub retry: bool,
    /// It has been on somebody's list of waiting tasks, and may still be.
    pub waited: bool,
    pub blocked_on: Option<NodeId>,
    pub block_cond: Cond,
    pub err: Option<ValId>,
    pub node: NodeId,
    pub env: Option<EnvId>,
    pub x: Option<X>,
    pub ci: CloseInfo,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SchedState {
    #[default]
    Ready,
    Running,
    Success,
    Failed,
}

pub const CONDITIONS: usize = 10;

#[derive(Clone, Debug, Default)]
pub struct Sched {
    pub state: SchedState,
    pub completed: Cond,
    pub needs: Cond,
    /// Conditions that tasks of this vertex contribute to.
    pub provided: Cond,
    pub frozen: Cond,
    pub counters: [i32; CONDITIONS],
    pub tasks: SmallVec<[TaskId; 2]>,
    /// Comprehensions of ancestors that may add fields here.
    pub parent_tasks: Rare<TaskId>,
    pub blocking: Rare<TaskId>,
    pub deferred: Rare<NodeId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReqKind {
    Embed,
    Ref,
    Struct,
}

/// A requirement as it was recorded: who must allow the fields of the vertex.
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    pub node: Option<NodeId>,
    pub id: DefId,
    pub parent: DefId,
    pub embed: DefId,
    pub ignore: bool,
    pub kind: ReqKind,
    pub recursive: bool,
}

/// A requirement as it is checked, inherited ones included.
#[derive(Clone, Copy, Debug)]
pub struct ReqSet {
    pub id: DefId,
    pub parent: DefId,
    pub embed: DefId,
    pub kind: ReqKind,
    pub once: bool,
    pub ignored: bool,
    pub removed: bool,
}

/// What the conjuncts of one closedness id contributed to a vertex.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    pub id: DefId,
    pub embed: DefId,
    pub kind: Kind,
    pub flags: u8,
}

pub const HAS_ELLIPSIS: u8 = 1;
pub const HAS_TOP: u8 = 2;
pub const HAS_STRUCT: u8 = 4;
pub const HAS_OPEN_VALIDATOR: u8 = 8;

#[derive(Clone, Copy, Debug)]
pub struct EnvDisjunct {
    pub x: X,
    pub mode: Mode,
    pub err: Option<ValId>,
}

/// A disjunction that is one of the conjuncts of a vertex.
#[derive(Clone, Debug)]
pub struct EnvDisjunction {
    pub env: Option<EnvId>,
    pub ci: CloseInfo,
    pub disjuncts: Vec<EnvDisjunct>,
}

#[derive(Clone, Copy, Debug)]
pub struct CyclicConjunct {
    pub c: Conjunct,
    pub arc: Option<NodeId>,
}

#[derive(Clone, Copy, Debug)]
pub struct PostCheck {
    pub env: Option<EnvId>,
    pub expr: ExprId,
    pub expect_error: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    pub node: NodeId,
    pub ci: CloseInfo,
}

/// The mode a vertex is run in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Run {
    /// Do not compute anything.
    Ignore,
    /// Go on even if the condition is not met.
    Attempt,
    /// Suspend the task that asks until the condition is met.
    Yield,
    /// Nothing more will come: turn what is open into errors.
    Finalize,
}

#[derive(Clone, Debug)]
pub struct Work {
    pub sched: Sched,
    /// The vertex this is about, or of which it is a copy in a disjunct.
    pub underlying: NodeId,
    pub attached_to: Option<NodeId>,
    pub retain: u32,
    pub is_disjunct: bool,
    pub initialized: bool,
    pub to_complete: bool,
    pub completing: bool,
    pub run_mode: Option<Run>,
    pub eval_depth: u32,
    pub depth: u32,
    pub has_top: bool,
    pub any_cyclic: bool,
    pub ancestor_cycle: bool,
    pub has_non_cycle: bool,
    pub has_non_cyclic: bool,
    pub has_struct: bool,
    pub is_def: bool,
    pub drop_parent_reqs: bool,
    pub reqs_computed: bool,
    pub is_shared: bool,
    pub no_sharing: bool,
    pub shared: Option<Box<Conjunct>>,
    pub share_cyclic: Cyclic,
    pub orig_base: super::node::Base,
    pub share_counted: bool,
    pub mode: Mode,
    pub orig_mode: Mode,
    pub has_field_value: bool,
    pub default_in_cycle: Option<NodeId>,
    pub kind: Kind,
    pub kind_x: Option<X>,
    pub kind_id: DefId,
    pub scalar: Option<ValId>,
    pub scalar_id: DefId,
    pub a_struct: bool,
    pub list_closed: bool,
    pub list_len: usize,
    pub list_x: Option<X>,
    pub lower: Option<ValId>,
    pub upper: Option<ValId>,
    pub errs: Option<ValId>,
    pub has_disjunction: bool,
    pub try_skip: Option<bool>,
    pub seen: SmallVec<[NodeId; 2]>,
    pub notify: Rare<Receiver>,
    pub shared_ids: Rare<CloseInfo>,
    pub cyclic: Rare<CyclicConjunct>,
    pub reqs: Rare<Requirement>,
    pub links: Rare<(DefId, DefId)>,
    pub all_links: Option<Box<Vec<(DefId, DefId)>>>,
    pub evidence: SmallVec<[Evidence; 1]>,
    pub req_sets: Rare<ReqSet>,
    pub checks: Rare<Conjunct>,
    pub post_checks: Rare<PostCheck>,
    pub disjunctions: Rare<EnvDisjunction>,
    pub disjuncts: Rare<NodeId>,
    /// The disjunction, where it is one of literals.
    pub literals: Option<ValId>,
    pub disjunct_errs: Rare<ValId>,
    pub user_errs: Rare<ValId>,
    /// Tables of what there is, once there is much.
    pub known: Option<Box<Known>>,
    /// For a copy in a disjunct: which vertices were copied to which.
    pub overlay: Option<Overlay>,
}

impl Work {
    pub fn new(node: NodeId) -> Work {
        Work {
            sched: Sched::default(),
            underlying: node,
            attached_to: None,
            retain: 0,
            is_disjunct: false,
            initialized: false,
            to_complete: false,
            completing: false,
            run_mode: None,
            eval_depth: 0,
            depth: 0,
            has_top: false,
            any_cyclic: false,
            ancestor_cycle: false,
            has_non_cycle: false,
            has_non_cyclic: false,
            has_struct: false,
            is_def: false,
            drop_parent_reqs: false,
            reqs_computed: false,
            is_shared: false,
            no_sharing: false,
            shared: None,
            share_cyclic: Cyclic::No,
            orig_base: super::node::Base::None,
            share_counted: false,
            mode: Mode::Maybe,
            orig_mode: Mode::Maybe,
            has_field_value: false,
            default_in_cycle: None,
            kind: Kind::TOP,
            kind_x: None,
            kind_id: 0,
            scalar: None,
            scalar_id: 0,
            a_struct: false,
            list_closed: false,
            list_len: 0,
            list_x: None,
            lower: None,
            upper: None,
            errs: None,
            has_disjunction: false,
            try_skip: None,
            seen: SmallVec::new(),
            notify: Rare::new(),
            shared_ids: Rare::new(),
            cyclic: Rare::new(),
            reqs: Rare::new(),
            links: Rare::new(),
            all_links: None,
            evidence: SmallVec::new(),
            req_sets: Rare::new(),
            checks: Rare::new(),
            post_checks: Rare::new(),
            disjunctions: Rare::new(),
            disjuncts: Rare::new(),
            literals: None,
            disjunct_errs: Rare::new(),
            user_errs: Rare::new(),
            known: None,
            overlay: None,
        }
    }

    /// Only conjuncts that repeat their own structure were seen.
    pub fn only_cyclic(&self) -> bool {
        (self.ancestor_cycle && !self.has_non_cycle) || (self.any_cyclic && !self.has_non_cyclic)
    }
}

/// Places for work that were given back: they are used again as they are.
#[derive(Debug, Default)]
pub struct Spare(pub Vec<Box<Work>>);

impl Task {
    /// Nobody but its vertex knows the task, and it is done.
    pub fn is_forgotten(&self) -> bool {
        self.state.done() && !self.waited && self.kind != TaskKind::Comprehension
    }
}

/// What is known of a vertex that is not finished, for comparison.
#[derive(Clone, Debug)]
pub struct Facts {
    pub kind: Kind,
    pub has_top: bool,
    pub scalar: Option<ValId>,
    pub lower: Option<ValId>,
    pub upper: Option<ValId>,
    pub checks: Rare<Conjunct>,
}

impl Work {
    pub fn clone_facts(&self) -> Facts {
        Facts {
            kind: self.kind,
            has_top: self.has_top,
            scalar: self.scalar,
            lower: self.lower,
            upper: self.upper,
            checks: self.checks.clone(),
        }
    }
}
