//! Search for a heavy subspace, given a transform that degenerates because of such a subspace.
//!
//! If N d > k n, no transform brings the points into radially isotropic position, and A becomes singular in the limit:
//! the iteration shrinks the heavy subspace V without bound, relative to the rest. Once there is a gap among the
//! singular values of A (relative to the first whitening), the search takes these steps:
//!
//! 1. The number k of small singular values is the dimension of V.
//! 2. Whitened members of V lie in the image of V, while all other points become increasingly orthogonal to it. Rank
//!    the points by the ratio of their energy orthogonal to V to their energy along V. If V is heavy at all, the first
//!    points in this order, up to just over k/d of the weight, are members. Usually all points before the largest
//!    relative jump in this ratio are members too, even if the first ones span only a part of V.
//! 3. Refit V to those points in their own coordinates, determine the members again by their residuals, and refit V to
//!    all members.
//! 4. Accept V only if N d > k n. The comparison is exact, in integers.
//!
//! If there are several such subspaces, the one with the largest N/n - k/d is returned.
//!
//! *Source.* DKTZ23 §3 (why a heavy subspace prevents radially isotropic position); the procedure is ours. Claims: F1,
//! F2.

use crate::dense::{extremes, qr_triangle, svd};
use crate::error::ForsterError;
use crate::pass::Rows;
use crate::prepare::largest_size;
use crate::subspace::compare_mass;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_linalg::{InputError, kernels, zeros};
use std::cmp::Ordering;

/// Minimum width of a gap between neighbouring singular values, in decades.
const GAP: f64 = 1.0;
/// Singular values below this fraction of the largest count as zero; rounding leaves values of about 1e-16 √n.
pub(crate) const RANK: f64 = 1e-11;
/// Number of refits of a candidate to its members.
const REFITS: usize = 3;
/// A point is mostly orthogonal to V if the ratio of its energy orthogonal to V to its energy along V exceeds this
/// value.
const MOSTLY_ACROSS: f64 = 1.0;
/// Number of rows in a block of a long product or factorisation.
const BLOCK: usize = 512;

/// A heavy subspace of the space of a level, with the rows that lie in it.
#[derive(Debug)]
pub(crate) struct Found {
    /// The orthonormal columns of a d × k matrix.
    pub(crate) basis: Mat<f64>,
    /// The indices of the rows in the subspace, in ascending order.
    pub(crate) members: Vec<usize>,
    /// The excess N/n - k/d.
    pub(crate) excess: f64,
}

/// The singular values, in descending order, and the right singular vectors of B, which is A relative to the first
/// whitening.
#[derive(Debug)]
pub(crate) struct Spectrum {
    pub(crate) values: Vec<f64>,
    pub(crate) right: Mat<f64>,
}

impl Spectrum {
    pub(crate) fn decompose(b: MatRef<'_, f64>) -> Result<Spectrum, ForsterError> {
        let (values, right) = svd(b)?;
        Ok(Spectrum { values, right })
    }

    pub(crate) fn condition(&self) -> f64 {
        let (most, least) = extremes(&self.values);
        if least > 0.0 { most / least } else { f64::INFINITY }
    }

    /// Ratios of neighbouring singular values, in decades. Entry j is the ratio of value j to value j + 1.
    fn gaps(&self) -> impl Iterator<Item = f64> {
        self.values
            .iter()
            .zip(self.values.iter().skip(1))
            .map(|(a, b)| if *b > 0.0 { (a / b).log10() } else { f64::INFINITY })
    }

    /// The widest gap in decades.
    pub(crate) fn widest_gap(&self) -> f64 {
        self.gaps().fold(0.0, f64::max)
    }
}

/// The best of the heavy subspaces at the gaps of `spectrum`. `unit` contains the whitened rows. If `equality` is true,
/// subspaces with N d = k n are accepted too.
pub(crate) fn find(
    rows: &Rows<'_>,
    unit: &[f64],
    spectrum: &Spectrum,
    tolerance: f64,
    equality: bool,
) -> Result<Option<Found>, ForsterError> {
    let tops: Vec<usize> =
        spectrum.gaps().zip(1..).filter(|(gap, _)| *gap > GAP).map(|(_, top)| top).collect();
    let mut best: Option<Found> = None;
    for (top, across) in tops.iter().zip(energy_ratios(rows, unit, spectrum, &tops)?) {
        let k = rows.dim - top;
        let order = ascending(&across);
        let first_members = first_members(rows, &order, k, equality);
        let all = before_the_jump(&across, &order, first_members.len());
        for candidate in [first_members, all, mostly_along(&across)] {
            let found = refit(rows, candidate, k, tolerance, equality)?;
            let Some(found) = found else { continue };
            if best.as_ref().is_none_or(|best| found.excess > best.excess) {
                best = Some(found);
            }
        }
    }
    Ok(best)
}

/// For each number t in `tops`, let V be the subspace orthogonal to the t leading singular directions. For every row,
/// computes the ratio of the row's energy orthogonal to V to its energy along V. Each energy is raised to at least the
/// size of its possible rounding error.
fn energy_ratios(
    rows: &Rows<'_>,
    unit: &[f64],
    spectrum: &Spectrum,
    tops: &[usize],
) -> Result<Vec<Vec<f64>>, InputError> {
    let dim = rows.dim;
    let across = f64::EPSILON * spectrum.condition();
    let (floor_across, floor_along) = (across * across, f64::EPSILON * f64::EPSILON);
    let mut ratios: Vec<Vec<f64>> = tops.iter().map(|_| Vec::with_capacity(rows.len())).collect();
    let mut turned = zeros(BLOCK, dim)?;
    for u in unit.chunks(BLOCK * dim) {
        let n = u.len() / dim;
        let turned = &mut turned[..u.len()];
        let out = MatMut::from_row_major_slice_mut(turned, n, dim);
        let u = MatRef::from_row_major_slice(u, n, dim);
        matmul(out, Accum::Replace, u, spectrum.right.as_ref(), 1.0, Par::Seq);
        for row in turned.chunks_exact(dim) {
            for (ratio, top) in ratios.iter_mut().zip(tops) {
                let (across, along) = row.split_at(*top);
                let across = kernels::norm_sq(across).max(floor_across);
                ratio.push(across / kernels::norm_sq(along).max(floor_along));
            }
        }
    }
    Ok(ratios)
}

fn ascending(ratio: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ratio.len()).collect();
    order.sort_unstable_by(|&i, &j| ratio[i].total_cmp(&ratio[j]).then(i.cmp(&j)));
    order
}

/// The rows with the smallest ratios: just enough of them to make V heavy (or, with `equality`, to reach N d >= k n).
fn first_members(rows: &Rows<'_>, order: &[usize], k: usize, equality: bool) -> Vec<usize> {
    let mut inside = 0.0;
    let mut count = 0;
    for &i in order {
        inside += rows.weights[i];
        count += 1;
        if is_heavy(rows, inside, k, equality) {
            break;
        }
    }
    order[..count].to_vec()
}

/// The rows before the largest relative jump in the ratio. Jumps before row `least` are ignored, because the first
/// members may span only a part of V.
fn before_the_jump(ratio: &[f64], order: &[usize], least: usize) -> Vec<usize> {
    let place = |i: usize| ratio[order[i]];
    let jumps = (least.max(1)..order.len()).map(|i| (place(i) / place(i - 1), i));
    let widest = jumps.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    order[..widest.map_or(order.len(), |(_, i)| i)].to_vec()
}

fn mostly_along(ratio: &[f64]) -> Vec<usize> {
    ratio.iter().zip(0..).filter(|(ratio, _)| **ratio < MOSTLY_ACROSS).map(|(_, i)| i).collect()
}

fn is_heavy(rows: &Rows<'_>, inside: f64, k: usize, equality: bool) -> bool {
    let order = compare_mass(inside, k, rows.total, rows.dim);
    order == Ordering::Greater || (equality && order == Ordering::Equal)
}

/// Fits a subspace of dimension at most k to the candidates, determines its members, and refits the subspace to them.
fn refit(
    rows: &Rows<'_>,
    mut candidates: Vec<usize>,
    k: usize,
    tolerance: f64,
    equality: bool,
) -> Result<Option<Found>, ForsterError> {
    let mut best: Option<Found> = None;
    for _ in 0..REFITS {
        if candidates.is_empty() {
            break;
        }
        let triangle = triangle_of(rows, &candidates);
        let (values, right) = svd(triangle.as_ref())?;
        let rank = rank_of(&values).min(k);
        let basis = right.subcols(0, rank).to_owned();
        let residuals = residuals(rows, basis.as_ref())?;
        let members: Vec<usize> = (0..rows.len()).filter(|i| residuals[*i] <= tolerance).collect();
        let settled = members == candidates;
        let inside: f64 = members.iter().map(|i| rows.weights[*i]).sum();
        if rank > 0 && rank < rows.dim && is_heavy(rows, inside, rank, equality) {
            let excess = inside / rows.total - rank as f64 / rows.dim as f64;
            best = Some(Found { basis, members: members.clone(), excess });
        }
        if settled {
            break;
        }
        candidates = members;
    }
    Ok(best)
}

/// The number of non-zero values among singular values in descending order.
pub(crate) fn rank_of(values: &[f64]) -> usize {
    let floor = RANK * extremes(values).0;
    values.iter().filter(|v| **v > floor).count()
}

/// The triangle R of a QR factorisation of the chosen rows X, where each row is first divided by its largest entry. The
/// factorisation is computed block by block. R has the singular values of X, because RᵀR = XᵀX. As XᵀX itself is never
/// computed, the condition number is not squared and R is accurate up to rounding.
pub(crate) fn triangle_of(rows: &Rows<'_>, chosen: &[usize]) -> Mat<f64> {
    let dim = rows.dim;
    let mut triangle = Mat::<f64>::zeros(0, dim);
    for block in chosen.chunks(BLOCK.max(2 * dim)) {
        let top = triangle.nrows();
        let sizes: Vec<f64> = block.iter().map(|i| largest_size(rows.row(*i))).collect();
        let stacked = Mat::from_fn(top + block.len(), dim, |i, j| match i.checked_sub(top) {
            None => triangle[(i, j)],
            Some(i) => rows.row(block[i])[j] / sizes[i],
        });
        triangle = qr_triangle(stacked);
    }
    triangle
}

/// The relative residual ‖x - VVᵀx‖/‖x‖ of every row.
pub(crate) fn residuals(rows: &Rows<'_>, basis: MatRef<'_, f64>) -> Result<Vec<f64>, InputError> {
    let (dim, k) = basis.shape();
    let mut residuals = Vec::with_capacity(rows.len());
    let mut along = zeros(BLOCK, k)?;
    let mut outside = zeros(BLOCK, dim)?;
    for x in rows.values.chunks(BLOCK * dim) {
        let n = x.len() / dim;
        let (along, outside) = (&mut along[..n * k], &mut outside[..n * dim]);
        outside.copy_from_slice(x);
        let x_mat = MatRef::from_row_major_slice(x, n, dim);
        let out = MatMut::from_row_major_slice_mut(along, n, k);
        matmul(out, Accum::Replace, x_mat, basis, 1.0, Par::Seq);
        let along = MatRef::from_row_major_slice(along, n, k);
        let out = MatMut::from_row_major_slice_mut(outside, n, dim);
        matmul(out, Accum::Add, along, basis.transpose(), -1.0, Par::Seq);
        let pairs = outside.chunks_exact(dim).zip(x.chunks_exact(dim));
        residuals.extend(pairs.map(|(r, x)| (kernels::norm_sq(r) / kernels::norm_sq(x)).sqrt()));
    }
    Ok(residuals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::product;
    use halfspaces_data::{Excess, HeavyCase, HeavyKind};
    use halfspaces_linalg::PointSet;

    fn rows(case: &HeavyCase) -> Rows<'_> {
        let n = case.points().len();
        let values = case.points().as_slice().into();
        Rows { values, dim: case.points().dim(), weights: vec![1.0; n], total: n as f64 }
    }

    /// The whitened rows and the spectrum of a transform that shrinks the planted subspace by `ratio`.
    fn degenerate(
        rows: &Rows<'_>,
        members: &[usize],
        k: usize,
        ratio: f64,
    ) -> (Vec<f64>, Spectrum) {
        let (_, right) = svd(triangle_of(rows, members).as_ref()).unwrap();
        let scale = |j: usize| if j < k { 1.0 / ratio } else { 1.0 };
        let b = Mat::from_fn(rows.dim, rows.dim, |i, j| right[(i, j)] * scale(j));
        let x = MatRef::from_row_major_slice(&rows.values, rows.len(), rows.dim);
        let u = product(x, b.as_ref());
        let mut unit = Vec::new();
        for i in 0..u.nrows() {
            let norm = u.row(i).norm_l2();
            unit.extend(u.row(i).iter().map(|v| v / norm));
        }
        (unit, Spectrum::decompose(b.as_ref()).unwrap())
    }

    #[test]
    fn the_planted_subspace_is_found_and_the_boundary_only_on_request() {
        for kind in [HeavyKind::Gaussian, HeavyKind::Clustered, HeavyKind::Integer] {
            for (excess, equality, expected) in [
                (Excess::OnePoint, false, true),
                (Excess::Share(0.5), false, true),
                (Excess::Boundary, false, false),
                (Excess::Boundary, true, true),
            ] {
                let case = HeavyCase::new(kind, 6, 3, 60, excess, 4).unwrap();
                let truth = &case.planted()[0];
                // Some integer points drawn outside the subspace may happen to lie in it, so that it contains more than
                // its share.
                if kind == HeavyKind::Integer && truth.members.len() != 30 && !expected {
                    continue;
                }
                let rows = rows(&case);
                let (unit, spectrum) = degenerate(&rows, &truth.members, 3, 1e4);
                assert!((spectrum.widest_gap() - 4.0).abs() < 1e-6);
                let found = find(&rows, &unit, &spectrum, 1e-10, equality).unwrap();
                assert_eq!(found.is_some(), expected, "{kind:?} {excess:?}");
                if let Some(found) = found {
                    assert_eq!((found.basis.ncols(), &found.members), (3, &truth.members));
                    let excess = truth.members.len() as f64 / 60.0 - 0.5;
                    assert!((found.excess - excess).abs() < 1e-12, "{}", found.excess);
                }
            }
        }
    }

    #[test]
    fn points_off_the_subspace_are_no_members() {
        let case = HeavyCase::new(HeavyKind::Noisy, 6, 2, 60, Excess::Share(0.5), 4).unwrap();
        let rows = rows(&case);
        let (unit, spectrum) = degenerate(&rows, &case.planted()[0].members, 2, 1e4);
        assert!(find(&rows, &unit, &spectrum, 1e-10, true).unwrap().is_none());
        let found = find(&rows, &unit, &spectrum, 1e-8, false).unwrap().unwrap();
        assert_eq!(found.members, case.planted()[0].members);
    }

    #[test]
    fn singular_values_count_from_the_rank_tolerance_on() {
        assert_eq!(rank_of(&[2.0, 1.0, 2.1e-11]), 3);
        assert_eq!(rank_of(&[2.0, 1.0, 1.9e-11, 0.0]), 2);
        assert_eq!(rank_of(&[0.0, 0.0]), 0);
    }

    #[test]
    fn triangles_hold_the_singular_values() {
        let case = HeavyCase::new(HeavyKind::Elliptical, 5, 2, 1500, Excess::OnePoint, 4).unwrap();
        let rows = rows(&case);
        let all: Vec<usize> = (0..rows.len()).collect();
        let (short, _) = svd(triangle_of(&rows, &all).as_ref()).unwrap();
        let long = Mat::from_fn(rows.len(), 5, |i, j| rows.row(i)[j] / largest_size(rows.row(i)));
        let (long, _) = svd(long.as_ref()).unwrap();
        assert!(short.iter().zip(&long).all(|(a, b)| (a - b).abs() < 1e-11 * long[0]));
        assert_eq!(rank_of(&short), 5);
        let (inside, _) = svd(triangle_of(&rows, &case.planted()[0].members).as_ref()).unwrap();
        assert_eq!(rank_of(&inside), 2);
    }
}
