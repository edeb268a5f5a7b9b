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
//! The search reads the rows only through passes with small results ([`crate::search`]), so the rows may be in memory
//! or on several machines. The order of the points is known from a histogram of the ratios, whose bins are narrower
//! than 2 %; candidates are the rows of the first bins. A search takes one pass for the histograms, one for the spans of
//! all candidates, and at most three for their members.
//!
//! If there are several such subspaces, the one with the largest N/n - k/d is returned.
//!
//! *Source.* DKTZ23 §3 (why a heavy subspace prevents radially isotropic position); the procedure is ours. Claims: F1,
//! F2.

use crate::dense::{extremes, product, rows_of, svd};
use crate::error::ForsterError;
use crate::level_passes::LevelPasses;
use crate::search::{Bin, Choice, Chosen, Directions, SearchPass};
use crate::subspace::compare_mass;
use faer::{Mat, MatRef};
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

/// A heavy subspace of the space of a level.
#[derive(Debug)]
pub(crate) struct Found {
    /// The orthonormal columns of a d × k matrix.
    pub(crate) basis: Mat<f64>,
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

/// The best of the heavy subspaces at the gaps of `spectrum`, which belongs to the transform `a`. If `equality` is true,
/// subspaces with N d = k n are accepted too.
pub(crate) fn find(
    points: &mut impl LevelPasses,
    a: MatRef<'_, f64>,
    spectrum: &Spectrum,
    tolerance: f64,
    equality: bool,
) -> Result<Option<Found>, ForsterError> {
    let (dim, total) = (points.dim(), points.total());
    let tops: Vec<usize> =
        spectrum.gaps().zip(1..).filter(|(gap, _)| *gap > GAP).map(|(_, top)| top).collect();
    if tops.is_empty() {
        return Ok(None);
    }
    let columns = rows_of(product(a, spectrum.right.as_ref()).as_ref())?;
    let directions = Some(Directions::new(columns, spectrum.condition()));
    let mut pass = SearchPass { directions, tops, choices: Vec::new() };
    let histograms = points.search(&pass)?.histograms;
    // Each candidate has a largest dimension and, once a subspace was fitted to it, a basis.
    let mut candidates: Vec<(usize, Option<Mat<f64>>)> = Vec::new();
    for (top, histogram) in std::mem::take(&mut pass.tops).into_iter().zip(histograms) {
        let k = dim - top;
        let enough = |inside| is_heavy(inside, k, total, dim, equality);
        for most in thresholds(&histogram.bins(), enough) {
            candidates.push((k, None));
            let chosen = Chosen::Along { top, most };
            pass.choices.push(Choice { chosen, before: Chosen::All });
        }
    }

    let mut best: Option<Found> = None;
    for round in 0..=REFITS {
        let sums = points.search(&pass)?.chosen;
        let choices = std::mem::take(&mut pass.choices);
        let tried = std::mem::take(&mut candidates);
        for (((k, basis), choice), sum) in tried.into_iter().zip(choices).zip(sums) {
            if let Some(basis) = basis {
                // The rows of the candidate are the members of this subspace.
                let rank = basis.ncols();
                let excess = sum.weight / total - rank as f64 / dim as f64;
                let heavy = rank < dim && is_heavy(sum.weight, rank, total, dim, equality);
                if heavy && best.as_ref().is_none_or(|best| excess > best.excess) {
                    best = Some(Found { basis, excess });
                }
                if sum.changed == 0 {
                    continue;
                }
            }
            let Some(triangle) = sum.triangle(dim).filter(|_| round < REFITS) else { continue };
            let (values, right) = svd(triangle.as_ref())?;
            let basis = right.subcols(0, rank_of(&values).min(k)).to_owned();
            let chosen = Chosen::Within { basis: rows_of(basis.as_ref())?, tolerance };
            pass.choices.push(Choice { chosen, before: choice.chosen });
            candidates.push((k, Some(basis)));
        }
        if candidates.is_empty() {
            break;
        }
    }
    Ok(best)
}

/// The largest ratios of up to three candidates, all of which consist of the rows of the first bins:
/// 1. just enough rows to make V heavy;
/// 2. the rows before the largest relative jump in the ratio, where jumps among the rows of the first candidate are
///    ignored, because these rows may span only a part of V;
/// 3. the rows that are mostly along V.
fn thresholds(bins: &[Bin], is_heavy: impl Fn(f64) -> bool) -> Vec<f64> {
    let mut inside = 0.0;
    let enough = |bin: &Bin| {
        inside += bin.weight;
        is_heavy(inside)
    };
    let last = bins.len().saturating_sub(1);
    let first = bins.iter().position(enough).unwrap_or(last);
    let jumps = (first + 1..bins.len()).map(|i| (bins[i].least / bins[i - 1].most, i - 1));
    let widest = jumps.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let jump = widest.map_or(last, |(_, i)| i);
    let along = bins.iter().rposition(|bin| bin.most < MOSTLY_ACROSS);
    let mut ends = vec![first];
    ends.extend([Some(jump), along].into_iter().flatten().filter(|end| *end != first));
    ends.dedup();
    ends.into_iter().filter_map(|end| bins.get(end)).map(|bin| bin.most).collect()
}

fn is_heavy(inside: f64, k: usize, total: f64, dim: usize, equality: bool) -> bool {
    let order = compare_mass(inside, k, total, dim);
    order == Ordering::Greater || (equality && order == Ordering::Equal)
}

/// The number of non-zero values among singular values in descending order.
pub(crate) fn rank_of(values: &[f64]) -> usize {
    let floor = RANK * extremes(values).0;
    values.iter().filter(|v| **v > floor).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level_passes::InMemory;
    use crate::pass::Rows;
    use crate::search::{Narrowing, triangle_of};
    use halfspaces_data::{Excess, HeavyCase, HeavyKind};
    use halfspaces_linalg::{PointSet, Threads};

    fn rows(case: &HeavyCase) -> Rows<'_> {
        let n = case.points().len();
        let values = case.points().as_slice().into();
        Rows { values, dim: case.points().dim(), weights: vec![1.0; n], total: n as f64 }
    }

    /// A transform that shrinks the planted subspace by `ratio`.
    fn degenerate(rows: &Rows<'_>, members: &[usize], k: usize, ratio: f64) -> Mat<f64> {
        let triangle = triangle_of(&rows.values, rows.dim, members).unwrap();
        let (_, right) = svd(triangle.as_ref()).unwrap();
        let scale = |j: usize| if j < k { 1.0 / ratio } else { 1.0 };
        Mat::from_fn(rows.dim, rows.dim, |i, j| right[(i, j)] * scale(j))
    }

    /// The heavy subspace with its members.
    fn found(
        rows: &Rows<'_>,
        a: &Mat<f64>,
        tolerance: f64,
        equality: bool,
    ) -> Option<(Found, Vec<usize>)> {
        let spectrum = Spectrum::decompose(a.as_ref()).unwrap();
        assert!((spectrum.widest_gap() - 4.0).abs() < 1e-6);
        let mut points = InMemory::new(rows.clone(), Threads::ONE).unwrap();
        let found = find(&mut points, a.as_ref(), &spectrum, tolerance, equality).unwrap()?;
        let basis = rows_of(found.basis.as_ref()).unwrap();
        points.narrow(Narrowing { basis, tolerance: Some(tolerance) }).unwrap();
        Some((found, points.held().to_vec()))
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
                let a = degenerate(&rows, &truth.members, 3, 1e4);
                let found = found(&rows, &a, 1e-10, equality);
                assert_eq!(found.is_some(), expected, "{kind:?} {excess:?}");
                if let Some((found, members)) = found {
                    assert_eq!((found.basis.ncols(), &members), (3, &truth.members));
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
        let a = degenerate(&rows, &case.planted()[0].members, 2, 1e4);
        assert!(found(&rows, &a, 1e-10, true).is_none());
        let (_, members) = found(&rows, &a, 1e-8, false).unwrap();
        assert_eq!(members, case.planted()[0].members);
    }

    #[test]
    fn singular_values_count_from_the_rank_tolerance_on() {
        assert_eq!(rank_of(&[2.0, 1.0, 2.1e-11]), 3);
        assert_eq!(rank_of(&[2.0, 1.0, 1.9e-11, 0.0]), 2);
        assert_eq!(rank_of(&[0.0, 0.0]), 0);
    }

    /// Three bins with 5, 2 and 9 rows. The jump from the second to the third is the widest one.
    #[test]
    fn candidates_end_at_a_share_at_a_jump_and_at_one() {
        let bin = |weight, least, most| Bin { weight, least, most };
        let bins = [bin(5.0, 1e-9, 1e-9), bin(2.0, 1e-7, 2e-7), bin(9.0, 3.0, 5.0)];
        assert_eq!(thresholds(&bins, |inside| inside > 4.0), [1e-9, 2e-7]);
        assert_eq!(thresholds(&bins, |inside| inside > 6.0), [2e-7]);
        // After the share is reached in the last bin, there is no jump.
        assert_eq!(thresholds(&bins, |inside| inside > 7.0), [5.0, 2e-7]);
        assert_eq!(thresholds(&bins, |_| false), [5.0, 2e-7]);
        // Of two equal jumps, the first one counts.
        let bins = [bin(1.0, 2.0, 2.0), bin(1.0, 4.0, 4.0), bin(1.0, 8.0, 8.0)];
        assert_eq!(thresholds(&bins, |_| true), [2.0]);
        assert!(thresholds(&[], |_| true).is_empty());
    }
}
