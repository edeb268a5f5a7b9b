//! The size of a job.

/// Number of points, dimension, and a third size of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) n: usize,
    pub(super) d: usize,
    /// Nonzeros per row, candidates, constraints or updates, depending on the job.
    pub(super) more: usize,
}

/// A shorthand for the tables of jobs.
pub(super) const fn shape(n: usize, d: usize, more: usize) -> Shape {
    Shape { n, d, more }
}
