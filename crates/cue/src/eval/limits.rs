//! Bounds on what one evaluation may cost, so that no input can run for ever or fill the memory.
//!
//! Recursion follows the nesting of the program and of its references. `depth` is chosen for a
//! stack of [`STACK_BYTES`]; whoever calls the evaluator runs it on a thread with that much.

/// The stack the evaluator may need at the depth limit.
pub const STACK_BYTES: usize = 2 << 30;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Tasks and unifications.
    pub steps: u64,
    /// Nested evaluations.
    pub depth: u32,
    /// Vertices.
    pub nodes: usize,
    /// Fields of all results together that the disjunctions of one vertex multiply to.
    pub product: usize,
    pub steps_used: u64,
    pub depth_used: u32,
    /// Which limit was reached.
    pub exceeded: Option<&'static str>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps: 100_000_000,
            depth: 10_000,
            nodes: 30_000_000,
            product: 100_000,
            steps_used: 0,
            depth_used: 0,
            exceeded: None,
        }
    }
}
