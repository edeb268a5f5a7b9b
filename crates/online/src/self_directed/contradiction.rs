//! Finds a small set of revealed points whose labels no halfspace fits.
//!
//! By Helly's theorem, if no halfspace strictly fits the labels of points of R^d, then there are d + 1 of these points
//! whose labels no halfspace strictly fits. The set is found by repeatedly cutting with the revealed point that the
//! hard-margin hypothesis gets most wrong, until no hypothesis is left. Then all unnecessary points are removed.
//!
//! *Guarantee.* The result `None` is certain up to the rounding of w · x: a halfspace was found and compared with every
//! revealed label. A set of contradictory points is only as reliable as the solver, which has found no halfspace that
//! fits the labels of the set with a margin above 1e-12. A point on the boundary (w · x = 0) counts as not fitted.

use super::Pool;
use crate::error::OnlineError;
use crate::version_space::Centre;
use crate::version_space::HardMargin;
use halfspaces_linalg::PointSet;

/// A minimal set of revealed points whose labels contradict each other. Returns `None` if some halfspace labels every
/// revealed point correctly.
pub(super) fn find<P: PointSet>(pool: &Pool<'_, P>) -> Result<Option<Vec<usize>>, OnlineError> {
    let dim = pool.points().dim();
    let cut = |index: usize, sign: f64| {
        let mut a = vec![0.0; dim];
        pool.add_unit(index, sign, &mut a);
        a
    };
    let mut centre = HardMargin::new(dim)?;
    let mut chosen: Vec<(usize, Vec<f64>)> = Vec::new();
    while !centre.is_exhausted() {
        let w = centre.centre();
        let worst = pool
            .revealed()
            .filter(|(i, _)| !pool.is_zero(*i))
            .map(|(i, y)| (y.as_f64() * pool.margin(i, w), i, y))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        match worst {
            // Each iteration adds a new point, because the hypothesis fits the chosen points or is exhausted.
            Some((margin, i, y)) if margin <= 0.0 => {
                chosen.push((i, cut(i, y.as_f64())));
                centre = HardMargin::from_cuts(dim, chosen.iter().map(|(_, a)| a.as_slice()))?;
            }
            _ => return Ok(None),
        }
    }
    let mut place = 0;
    while place < chosen.len() {
        let others = chosen.iter().enumerate().filter(|(j, _)| *j != place);
        let without = HardMargin::from_cuts(dim, others.map(|(_, (_, a))| a.as_slice()))?;
        if without.is_exhausted() {
            chosen.remove(place);
        } else {
            place += 1;
        }
    }
    let mut witness: Vec<usize> = chosen.into_iter().map(|(i, _)| i).collect();
    witness.sort_unstable();
    Ok(Some(witness))
}
