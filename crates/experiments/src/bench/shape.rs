//! How large the points of a job are.

/// Points, dimension, and what else a job is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) n: usize,
    pub(super) d: usize,
    /// Nonzeros a row, candidates, constraints: what the job says.
    pub(super) more: usize,
}

/// Shorthand for the tables of jobs.
pub(super) const fn shape(n: usize, d: usize, more: usize) -> Shape {
    Shape { n, d, more }
}
