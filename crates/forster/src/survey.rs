//! The start of a level: whether its rows span their space, and the first whitening.

use crate::dense::{
    eigenvalues, extremes, inverse_lower_factor, lower_factor, product, rows_of, svd, svd_of_wide,
};
use crate::error::ForsterError;
use crate::heavy::rank_of;
use crate::iterate::Iterate;
use crate::level_passes::LevelPasses;
use crate::params::ForsterParams;
use crate::pass::{Moments, Rows};
use crate::prepare::largest_size;
use crate::search::{Choice, Chosen, ChosenSum, SearchPass};
use faer::Mat;
use halfspaces_linalg::zeros;

/// Minimum λmin/λmax of the second moment, whose relative rounding error is about 1e-16. If the ratio is at least this
/// value, the rows certainly span the space, and the inverse root of the moment whitens them to within a few per cent.
const WELL_CONDITIONED: f64 = 1e-13;

/// The state at the start of a level.
#[derive(Debug)]
pub(crate) struct Start {
    /// The iterate of the unchanged rows.
    pub(crate) iterate: Iterate,
    /// A lower triangle W such that the rows of XW have about the same second moment in every direction.
    pub(crate) whitening: Mat<f64>,
}

/// Whether the rows span their space.
#[derive(Debug)]
pub(crate) enum Survey {
    Spanning(Start),
    /// The rows lie in the span of these orthonormal columns.
    Within(Mat<f64>),
}

/// Determines whether the rows span their space and, if so, the start of the level. A direction counts as missing if
/// its singular value is zero relative to the largest one and every row lies within the membership tolerance of the
/// other directions.
pub(crate) fn survey(
    params: ForsterParams,
    points: &mut impl LevelPasses,
) -> Result<Survey, ForsterError> {
    let dim = points.dim();
    zeros(dim, dim)?;
    let failure = ForsterError::NoConvergence { dim };
    let moments = points.moments(None)?.ok_or(failure.clone())?;
    let values = eigenvalues(moments.moment.as_ref())?;
    let whitening = match whitening_of(&moments, &values) {
        Some(whitening) => whitening,
        None => {
            let triangle = choose(points, Chosen::All)?.and_then(|sum| sum.triangle(dim));
            let (values, mut right) = svd(triangle.ok_or(failure)?.as_ref())?;
            let tolerance = params.membership;
            for rank in rank_of(&values)..dim {
                let span = right.subcols(0, rank).to_owned();
                let within = Chosen::Within { basis: rows_of(span.as_ref())?, tolerance };
                if choose(points, within)?.is_some_and(|sum| sum.changed == 0) {
                    return Ok(Survey::Within(span));
                }
            }
            let (largest, _) = extremes(&values);
            let floor = f64::EPSILON * largest;
            for (j, value) in values.iter().enumerate() {
                let scale = value.max(floor).recip();
                right.col_mut(j).iter_mut().for_each(|v| *v *= scale);
            }
            lower_factor(right.as_ref())
        }
    };
    let iterate = Iterate::identity(dim, moments, &values);
    Ok(Survey::Spanning(Start { iterate, whitening }))
}

/// The result for a choice among all rows.
fn choose(
    points: &mut impl LevelPasses,
    chosen: Chosen,
) -> Result<Option<ChosenSum>, ForsterError> {
    let choices = vec![Choice { chosen, before: Chosen::All }];
    Ok(points.search(&SearchPass { directions: None, tops: vec![], choices })?.chosen.pop())
}

/// The span of rows that are fewer than their coordinates, as orthonormal columns.
pub(crate) fn span_of_few(rows: &Rows<'_>) -> Result<Mat<f64>, ForsterError> {
    let sizes: Vec<f64> = (0..rows.len()).map(|i| largest_size(rows.row(i))).collect();
    let scaled = Mat::from_fn(rows.len(), rows.dim, |i, j| rows.row(i)[j] / sizes[i]);
    let (values, right) = svd_of_wide(scaled.as_ref())?;
    Ok(right.subcols(0, rank_of(&values)).to_owned())
}

/// The inverse root of the second moment of the unchanged rows, given the eigenvalues `values` of this moment; `None`
/// if rounding could hide that the rows do not span the space.
fn whitening_of(moments: &Moments, values: &[f64]) -> Option<Mat<f64>> {
    let (least, largest) = extremes(values);
    let (_, whitening) = inverse_lower_factor(moments.moment.as_ref())?;
    (least >= WELL_CONDITIONED * largest).then_some(whitening)
}

/// Converts the columns of `inner` from the coordinates of `outer` to the coordinates of the surrounding space.
pub(crate) fn composed(outer: Option<Mat<f64>>, inner: Mat<f64>) -> Mat<f64> {
    match outer {
        Some(outer) => product(outer.as_ref(), inner.as_ref()),
        None => inner,
    }
}
