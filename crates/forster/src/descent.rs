//! The levels of a fit: first the span of the points, then each heavy subspace that is found.

use crate::dense::rows_of;
use crate::error::ForsterError;
use crate::level::{self, End};
use crate::level_passes::LevelPasses;
use crate::params::ForsterParams;
use crate::report::{Level, Reason};
use crate::search::Narrowing;
use crate::survey::{Survey, composed, survey};
use crate::transform::ForsterTransform;
use faer::Mat;

/// The state after the last level.
#[derive(Debug)]
pub(crate) struct Descent {
    /// The work on each level, at least one.
    pub(crate) levels: Vec<Level>,
    /// The transform of the last level, in the coordinates of the points.
    pub(crate) transform: ForsterTransform,
    /// The extreme eigenvalues of M, from the last pass of the last level.
    pub(crate) extremes: (f64, f64),
    /// Whether the last level is not the whole space.
    pub(crate) proper: bool,
    /// The reason why the last level ended without an answer.
    pub(crate) reason: Option<Reason>,
}

/// Solves level after level, until a level has no heavy subspace. If the points of the first level are in the
/// coordinates of a basis, its columns are given as `basis`.
pub(crate) fn descend(
    params: ForsterParams,
    points: &mut impl LevelPasses,
    mut basis: Option<Mat<f64>>,
) -> Result<Descent, ForsterError> {
    let mut levels = Vec::new();
    let (last, reason) = loop {
        let start = match survey(params, points)? {
            Survey::Spanning(start) => start,
            Survey::Within(span) => {
                narrow(points, &mut basis, span, None)?;
                continue;
            }
        };
        let (level, last, end) = level::solve(params, points, start, levels.len())?;
        levels.push(level);
        match end {
            End::Isotropic => break (last, None),
            End::Unresolved(reason) => break (last, Some(reason)),
            End::Heavy(found) => narrow(points, &mut basis, found.basis, Some(params.membership))?,
        }
    };
    let proper = basis.is_some();
    let basis = basis.unwrap_or_else(|| Mat::identity(points.dim(), points.dim()));
    let transform = ForsterTransform::new(rows_of(basis.transpose())?, last.a)?;
    Ok(Descent { levels, transform, extremes: last.extremes, proper, reason })
}

/// Goes to the rows near the span of the columns of `to`, or to all rows if there is no tolerance.
fn narrow(
    points: &mut impl LevelPasses,
    basis: &mut Option<Mat<f64>>,
    to: Mat<f64>,
    tolerance: Option<f64>,
) -> Result<(), ForsterError> {
    points.narrow(Narrowing { basis: rows_of(to.as_ref())?, tolerance })?;
    *basis = Some(composed(basis.take(), to));
    Ok(())
}
