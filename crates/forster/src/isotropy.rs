//! The certificate of radially isotropic position.
//!
//! For non-zero points x_1 .. x_n in R^d, let u_i = x_i/‖x_i‖ and M = (d/n) Σ u_i u_iᵀ, which has trace d. The points
//! are in radially isotropic position if and only if M = I. They are in δ-approximate position, with a relative δ, if
//! every unit v has (1/n) Σ (v·u_i)² >= (1 - δ)/d, that is, if λmin(M) >= 1 - δ. If δ <= 1/2, at least 1/(4d) of the
//! points then have |v·u_i| >= 1/(2√d) for every unit v (DKTZ23 §3, the soft margin).
//!
//! *Source.* DKTZ23 §3; the δ there is absolute and equals ours divided by d.

use crate::dense::{eigenvalues, extremes};
use crate::error::ForsterError;
use crate::pass::{Buffers, MomentSum};
use crate::tile::padded;
use crate::transform::{ForsterTransform, unit_tile};
use halfspaces_linalg::{BLOCK_ROWS, DensePoints, InputError, Partial, PointSet, Threads};
use std::ops::Range;

/// The certificate of radially isotropic position: the extreme eigenvalues of M = (d/n) Σ u uᵀ over the points scaled
/// to norm 1. Both are 1 in perfect position.
///
/// *Guarantee.* If λmin(M) >= 1 - δ, every unit v has (1/n) Σ (v·u)² >= (1 - δ)/d. If in addition δ <= 1/2, at least
/// 1/(4d) of the points have |v·u| >= 1/(2√d) (DKTZ23 §3, the soft margin). The rounding error of the eigenvalues is
/// about 1e-14 d. *Cost:* O(n d²) time, O(d²) memory. *When to use it:* to check points of any origin; λmax shows how
/// strongly one direction dominates. *Source:* DKTZ23 §3, whose δ is absolute and equals ours divided by d. *Claims:*
/// F1, S7.
///
/// ```
/// use halfspaces_forster::Isotropy;
/// use halfspaces_linalg::Points;
/// // Two orthogonal points of any lengths are in radially isotropic position, but not if one axis contains two points.
/// let pair = Points::from_rows(&[[3.0, 4.0], [-40.0, 30.0]])?;
/// assert!(Isotropy::measure(&pair)?.holds_within(1e-12));
/// let leaning = Points::from_rows(&[[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])?;
/// assert!((Isotropy::measure(&leaning)?.least() - 2.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Isotropy {
    least: f64,
    largest: f64,
}

impl Isotropy {
    /// Computes the certificate of given points, in O(n d²) time.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::ZeroRow`], [`ForsterError::NoConvergence`].
    pub fn measure(points: &DensePoints<'_>) -> Result<Isotropy, ForsterError> {
        Isotropy::measure_weighted(points, None)
    }

    /// Computes the certificate of M = (d/W) Σ w u uᵀ, where W = Σ w. With equal weights, the certificate equals that
    /// of [`Isotropy::measure`].
    ///
    /// # Errors
    /// Same as [`Isotropy::measure`]; [`ForsterError::WeightCount`], [`ForsterError::Weight`].
    pub fn measure_weighted(
        points: &DensePoints<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Isotropy, ForsterError> {
        crate::prepare::check_weights(points.len(), weights)?;
        let dim = points.dim();
        let all: Vec<usize> = (0..points.len()).collect();
        Isotropy::measure_rows(points, &all, weights, dim, Threads::ONE, |_, block, u| {
            let tile = u.chunks_exact_mut(padded(dim));
            for (at, (i, u)) in block.iter().zip(tile).enumerate() {
                let u = &mut u[..dim];
                u.copy_from_slice(row_of(points, *i));
                if !halfspaces_linalg::normalise(u) {
                    return Err(at);
                }
            }
            Ok(())
        })
    }

    /// The certificate of the unit vectors to which `transform` maps the chosen points. The unit vectors are not all
    /// stored at once.
    pub(crate) fn measure_transformed(
        transform: &ForsterTransform,
        points: &DensePoints<'_>,
        chosen: &[usize],
        weights: Option<&[f64]>,
        threads: Threads,
    ) -> Result<Isotropy, ForsterError> {
        let (d, k) = (points.dim(), transform.inner_dim());
        let factor = transform.as_factor();
        Isotropy::measure_rows(points, chosen, weights, k, threads, |gathered, block, u| {
            // Consecutive rows are read in place.
            let end = block[0] + block.len();
            if block.last().is_some_and(|last| last + 1 == end) {
                return unit_tile(&factor, &points.as_slice()[block[0] * d..end * d], u);
            }
            gathered.clear();
            block.iter().for_each(|i| gathered.extend_from_slice(row_of(points, *i)));
            unit_tile(&factor, gathered, u)
        })
    }

    /// The certificate of k-dimensional unit vectors. `to_unit` computes them from blocks of the chosen points, whose
    /// indices are in ascending order, and writes them to the rows of a tile. `to_unit` may use its first argument as
    /// scratch space. The blocks are the same for any number of threads.
    fn measure_rows(
        points: &DensePoints<'_>,
        chosen: &[usize],
        weights: Option<&[f64]>,
        k: usize,
        threads: Threads,
        to_unit: impl Fn(&mut Vec<f64>, &[usize], &mut [f64]) -> Result<(), usize> + Sync,
    ) -> Result<Isotropy, ForsterError> {
        if chosen.is_empty() {
            return Err(InputError::Empty.into());
        }
        if let Some(&index) = chosen.iter().find(|i| **i >= points.len()) {
            return Err(InputError::IndexOutOfRange { index, len: points.len() }.into());
        }
        let of_block = |(buffers, scratch): &mut (Buffers, Vec<f64>), block: Range<usize>| {
            let part = &chosen[block];
            let weight = |i: &usize| weights.map_or(1.0, |weights| weights[*i]);
            let weights: Vec<f64> = part.iter().map(weight).collect();
            buffers.sum_of(&weights, |tile, u| {
                let tile = &part[tile];
                to_unit(scratch, tile, u).map_err(|at| InputError::ZeroRow { row: tile[at] })
            })
        };
        let groups = Partial::<MomentSum>::groups(0, chosen.len()).len();
        let buffers = (0..groups).map(|_| Ok((Buffers::new(k)?, Vec::new())));
        let mut buffers: Vec<_> = buffers.collect::<Result<_, InputError>>()?;
        let partial = threads.sum_blocks(0, chosen.len(), &mut buffers, of_block)?;
        match partial.finish(chosen.len().div_ceil(BLOCK_ROWS) as u64) {
            Ok(Some(sum)) => Isotropy::of_sum(&sum, k),
            other => unreachable!("some points are chosen, and all are summed: {other:?}"),
        }
    }

    /// The certificate of unit rows of dimension `k`.
    pub(crate) fn of_sum(sum: &MomentSum, k: usize) -> Result<Isotropy, ForsterError> {
        let values = eigenvalues(sum.matrix(k, sum.weight()).as_ref())?;
        let (least, largest) = extremes(&values);
        Ok(Isotropy::of_extremes(least, largest))
    }

    /// The certificate with these extreme eigenvalues of M. As M is positive semidefinite with trace d, eigenvalues
    /// that rounding has moved out of range are clamped.
    pub(crate) fn of_extremes(least: f64, largest: f64) -> Isotropy {
        Isotropy { least: least.clamp(0.0, 1.0), largest: largest.max(1.0) }
    }

    /// The smallest eigenvalue λmin(M), in [0, 1].
    #[must_use]
    pub fn least(self) -> f64 {
        self.least
    }

    /// The largest eigenvalue λmax(M), in [1, d].
    #[must_use]
    pub fn largest(self) -> f64 {
        self.largest
    }

    /// Whether the points are in δ-approximate position, with a relative δ: λmin(M) >= 1 - δ. Because of rounding, δ
    /// should be at least 1e-12.
    #[must_use]
    pub fn holds_within(self, delta: f64) -> bool {
        self.least >= 1.0 - delta
    }

    /// The residual max(1 - λmin, λmax - 1); 0 in perfect position.
    #[must_use]
    pub fn residual(self) -> f64 {
        (1.0 - self.least).max(self.largest - 1.0)
    }
}

/// Row `i`, which must exist.
fn row_of<'a>(points: &'a DensePoints<'_>, i: usize) -> &'a [f64] {
    &points.as_slice()[i * points.dim()..(i + 1) * points.dim()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use halfspaces_data::{Marginal, Rotation, StudentT, UnitSphere};
    use halfspaces_linalg::Points;

    #[test]
    fn the_basis_is_in_position_and_a_line_is_not() {
        let basis =
            Points::from_rows(&[[2.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 5.0]]).unwrap();
        let perfect = Isotropy::measure(&basis).unwrap();
        assert!((perfect.least() - 1.0).abs() < 1e-14 && (perfect.largest() - 1.0).abs() < 1e-14);
        let line = Points::from_rows(&[[1.0, 1.0], [-3.0, -3.0]]).unwrap();
        let line = Isotropy::measure(&line).unwrap();
        assert!(line.least().abs() < 1e-14 && (line.largest() - 2.0).abs() < 1e-14);
    }

    #[test]
    fn rotating_and_rescaling_rows_changes_nothing() {
        let points = StudentT::new(6, 1.0, 50.0).unwrap().sample(500, 1).unwrap();
        let before = Isotropy::measure(&points).unwrap();
        let rotated = Rotation::random(6, 2).unwrap().apply(&points).unwrap();
        let normalised = points.normalised().unwrap();
        for other in [rotated, normalised] {
            let after = Isotropy::measure(&other).unwrap();
            assert!((before.least() - after.least()).abs() < 1e-12);
            assert!((before.largest() - after.largest()).abs() < 1e-12);
        }
    }

    #[test]
    fn the_extremes_bound_every_direction() {
        let points = UnitSphere::new(4).unwrap().sample(60, 3).unwrap();
        let certificate = Isotropy::measure(&points).unwrap();
        let directions = UnitSphere::new(4).unwrap().sample(200, 4).unwrap();
        for v in directions.rows() {
            let values = halfspaces_linalg::margins(&points, v.as_slice()).unwrap();
            let moment = 4.0 / 60.0 * values.iter().map(|t| t * t).sum::<f64>();
            assert!(
                certificate.least() - 1e-12 <= moment && moment <= certificate.largest() + 1e-12
            );
        }
    }

    /// The points are summed in several parts, and the last part is shorter. The total equals the sum over all points.
    #[test]
    fn parts_are_all_of_the_points() {
        let n = 2 * BLOCK_ROWS + 77;
        let points = UnitSphere::new(3).unwrap().sample(n, 5).unwrap();
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 5) as f64).collect();
        for weights in [None, Some(&weights[..])] {
            let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
            let total: f64 = (0..n).map(weight).sum();
            let moment = Mat::from_fn(3, 3, |a, b| {
                let terms = points.as_slice().chunks_exact(3).enumerate();
                3.0 / total * terms.map(|(i, x)| weight(i) * x[a] * x[b]).sum::<f64>()
            });
            let (least, largest) = extremes(&eigenvalues(moment.as_ref()).unwrap());
            let certificate = Isotropy::measure_weighted(&points, weights).unwrap();
            assert!((certificate.least() - least).abs() < 1e-12);
            assert!((certificate.largest() - largest).abs() < 1e-12);
        }
        // The error names the first zero row, even if another part finds a zero row earlier.
        let mut values = points.into_vec();
        for row in [n - 1, n / 2] {
            values[3 * row..][..3].fill(0.0);
        }
        let points = Points::new(values, 3).unwrap();
        let fault = Isotropy::measure(&points);
        assert_eq!(fault, Err(InputError::ZeroRow { row: n / 2 }.into()));
    }

    #[test]
    fn bad_input_is_typed() {
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(Isotropy::measure(&none), Err(InputError::Empty.into()));
        let zero = Points::from_rows(&[[1.0], [0.0]]).unwrap();
        assert_eq!(Isotropy::measure(&zero), Err(InputError::ZeroRow { row: 1 }.into()));
    }

    /// Two of four points lie along one of three axes: the eigenvalue is 3/4 · 2 along this axis and 3/4 orthogonal to
    /// it.
    #[test]
    fn the_residual_is_that_of_the_farther_end() {
        let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let long = Isotropy::measure(&Points::from_rows(&[x, x, y, z]).unwrap()).unwrap();
        assert!((long.residual() - 0.5).abs() < 1e-12, "{}", long.residual());
        // The eigenvalues are 3/5 · 2 along two axes and 3/5 along the third.
        let flat = Isotropy::measure(&Points::from_rows(&[x, x, y, y, z]).unwrap()).unwrap();
        assert!((flat.residual() - 0.4).abs() < 1e-12, "{}", flat.residual());
    }
}
