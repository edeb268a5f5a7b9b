//! The start of a level: whether its rows span their space, and the first whitening.

use crate::dense::{
    eigenvalues, extremes, inverse_lower_factor, lower_factor, product, svd, svd_of_wide,
};
use crate::error::ForsterError;
use crate::heavy::{self, rank_of, triangle_of};
use crate::iterate::Iterate;
use crate::level_passes::{InMemory, LevelPasses};
use crate::params::ForsterParams;
use crate::pass::{Moments, Rows};
use crate::prepare::largest_size;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_linalg::{InputError, zeros};

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
pub(crate) enum Survey<'a> {
    Spanning(Box<(InMemory<'a>, Start)>),
    /// The rows lie in the span of these orthonormal columns.
    Within(Mat<f64>),
}

/// Determines whether the rows span their space and, if so, the start of the level. A direction counts as missing if
/// its singular value is zero relative to the largest one and every row lies within the membership tolerance of the
/// other directions.
pub(crate) fn survey<'a>(
    params: ForsterParams,
    rows: &'a Rows<'a>,
) -> Result<Survey<'a>, ForsterError> {
    let dim = rows.dim;
    if rows.len() < dim {
        let sizes: Vec<f64> = (0..rows.len()).map(|i| largest_size(rows.row(i))).collect();
        let scaled = Mat::from_fn(rows.len(), dim, |i, j| rows.row(i)[j] / sizes[i]);
        let (values, right) = svd_of_wide(scaled.as_ref())?;
        return Ok(Survey::Within(right.subcols(0, rank_of(&values)).to_owned()));
    }
    zeros(dim, dim)?;
    let mut points = InMemory::new(rows, params.threads)?;
    let failure = ForsterError::NoConvergence { dim };
    let moments = points.moments(None)?.ok_or(failure)?;
    let values = eigenvalues(moments.moment.as_ref())?;
    let whitening = match whitening_of(&moments, &values) {
        Some(whitening) => whitening,
        None => {
            let (values, mut right) = svd(triangle_of_all(rows).as_ref())?;
            for rank in rank_of(&values)..dim {
                let basis = right.subcols(0, rank).to_owned();
                let residuals = heavy::residuals(rows, basis.as_ref())?;
                if residuals.into_iter().fold(0.0, f64::max) <= params.membership {
                    return Ok(Survey::Within(basis));
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
    Ok(Survey::Spanning(Box::new((points, Start { iterate, whitening }))))
}

/// The inverse root of the second moment of the unchanged rows, given the eigenvalues `values` of this moment; `None`
/// if rounding could hide that the rows do not span the space.
pub(crate) fn whitening_of(moments: &Moments, values: &[f64]) -> Option<Mat<f64>> {
    let (least, largest) = extremes(values);
    let (_, whitening) = inverse_lower_factor(moments.moment.as_ref())?;
    (least >= WELL_CONDITIONED * largest).then_some(whitening)
}

fn triangle_of_all(rows: &Rows<'_>) -> Mat<f64> {
    triangle_of(rows, &(0..rows.len()).collect::<Vec<usize>>())
}

/// The chosen rows (all rows if `chosen` is `None`) in the coordinates of a basis.
pub(crate) fn project(
    rows: &Rows<'_>,
    chosen: Option<&[usize]>,
    basis: MatRef<'_, f64>,
) -> Result<Rows<'static>, InputError> {
    let (dim, k) = basis.shape();
    let (inside, weights) = match chosen {
        None => (None, rows.weights.clone()),
        Some(chosen) => {
            let mut inside = Vec::with_capacity(chosen.len() * dim);
            chosen.iter().for_each(|i| inside.extend_from_slice(rows.row(*i)));
            (Some(inside), chosen.iter().map(|i| rows.weights[*i]).collect())
        }
    };
    let n = weights.len();
    let x = MatRef::from_row_major_slice(inside.as_deref().unwrap_or(&rows.values), n, dim);
    let mut values = zeros(n, k)?;
    let out = MatMut::from_row_major_slice_mut(&mut values, n, k);
    matmul(out, Accum::Replace, x, basis, 1.0, Par::Seq);
    let total = weights.iter().sum();
    Ok(Rows { values: values.into(), dim: k, weights, total })
}

/// Converts the columns of `inner` from the coordinates of `outer` to the coordinates of the surrounding space.
pub(crate) fn composed(outer: Option<Mat<f64>>, inner: Mat<f64>) -> Mat<f64> {
    match outer {
        Some(outer) => product(outer.as_ref(), inner.as_ref()),
        None => inner,
    }
}
