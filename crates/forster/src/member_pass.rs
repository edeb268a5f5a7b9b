//! The pass that computes the certificates of a fit from blocks of points: the rows in the subspace ([`crate::Subspace`])
//! and how isotropic their images are ([`Isotropy`](crate::Isotropy)).

use crate::dense::rows_of;
use crate::error::ForsterError;
use crate::pass::{Buffers, MomentSum};
use crate::subspace::residual;
use crate::tile::Factor;
use crate::transform::{ForsterTransform, unit_tile};
use halfspaces_linalg::{InputError, PointSet, Points, Sum};

/// A pass over the points as given.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct MemberPass {
    /// The orthonormal rows that span the subspace.
    pub(crate) basis: Points,
    tolerance: f64,
    /// The rows of the matrix A of the transform.
    pub(crate) matrix: Points,
}

/// The rows in a subspace.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct MemberCount {
    pub(crate) rows: u64,
    pub(crate) inside: u64,
    /// Number of rows for which the search has decided otherwise.
    pub(crate) disagreeing: u64,
    pub(crate) largest_inside: f64,
    pub(crate) smallest_outside: Option<f64>,
}

impl MemberCount {
    /// The count for the whole space, in which all rows lie.
    pub(crate) fn all(rows: u64) -> MemberCount {
        let (largest_inside, smallest_outside) = (0.0, None);
        MemberCount { rows, inside: rows, disagreeing: 0, largest_inside, smallest_outside }
    }
}

/// The sums over some blocks.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct MemberSum {
    pub(crate) members: MemberCount,
    /// The sum over the images of the rows inside, scaled to norm 1.
    pub(crate) moments: MomentSum,
}

impl Sum for MemberSum {
    fn fits(&self, other: &MemberSum) -> bool {
        self.moments.fits(&other.moments)
    }

    fn add(&mut self, later: MemberSum) {
        let (sum, other) = (&mut self.members, later.members);
        sum.rows += other.rows;
        sum.inside += other.inside;
        sum.disagreeing += other.disagreeing;
        sum.largest_inside = sum.largest_inside.max(other.largest_inside);
        sum.smallest_outside =
            [sum.smallest_outside, other.smallest_outside].into_iter().flatten().reduce(f64::min);
        self.moments.add(later.moments);
    }
}

impl MemberPass {
    pub(crate) fn new(
        transform: &ForsterTransform,
        tolerance: f64,
    ) -> Result<MemberPass, ForsterError> {
        let (basis, matrix) = (transform.basis().clone(), rows_of(transform.matrix())?);
        Ok(MemberPass { basis, tolerance, matrix })
    }

    /// Checks that the pass is for points of dimension `dim` and a last level of dimension `level_dim`.
    pub(crate) fn check_dims(&self, dim: usize, level_dim: usize) -> Result<(), InputError> {
        let sizes = [(self.basis.dim(), dim), (self.basis.len(), level_dim)];
        let sizes =
            sizes.into_iter().chain([(self.matrix.len(), dim), (self.matrix.dim(), level_dim)]);
        sizes.into_iter().try_for_each(|(found, expected)| InputError::check_dim(found, expected))
    }

    /// The sums over a block of rows that are not zero. `held` are the rows of the last level, in ascending order, and
    /// `factor` is the matrix A.
    pub(crate) fn of_block(
        &self,
        factor: &Factor,
        buffers: &mut Buffers,
        held: &[usize],
        values: &[f64],
    ) -> Result<MemberSum, InputError> {
        let dim = self.basis.dim();
        let mut members = MemberCount::all(0);
        let mut inside = Vec::new();
        let (mut unit, mut outside) = (vec![0.0; dim], vec![0.0; dim]);
        let mut held = held.iter().copied().peekable();
        for (i, x) in values.chunks_exact(dim).enumerate() {
            let Some(residual) = residual(&self.basis, x, &mut unit, &mut outside) else {
                continue;
            };
            members.rows += 1;
            let member = residual <= self.tolerance;
            members.disagreeing += u64::from(member != held.next_if_eq(&i).is_some());
            if member {
                members.inside += 1;
                members.largest_inside = members.largest_inside.max(residual);
                inside.extend_from_slice(x);
            } else {
                let smallest = members.smallest_outside;
                members.smallest_outside = Some(smallest.map_or(residual, |s| s.min(residual)));
            }
        }
        let weights = vec![1.0; inside.len() / dim];
        let moments = buffers.sum_of(&weights, |rows, u| {
            unit_tile(factor, &inside[rows.start * dim..rows.end * dim], u)
                .map_err(|at| InputError::ZeroRow { row: rows.start + at })
        })?;
        Ok(MemberSum { members, moments })
    }
}
