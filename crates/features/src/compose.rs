//! Maps made of maps.

use crate::FeatureMap;
use halfspaces_linalg::{DenseRow, InputError, PointSet, Points, RowView, load_checked, zeros};
use std::ops::Range;

/// The coordinates as they are: beside other features in a [`Joined`], what a halfspace of the given
/// columns would use.
///
/// ```
/// use halfspaces_features::{FeatureMap, Linear};
/// use halfspaces_linalg::Points;
/// let points = Points::from_rows(&[[1.0, 2.0]])?;
/// assert_eq!(Linear::new(2)?.apply(&points)?, points);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Linear {
    dim: usize,
}

load_checked!(Linear { dim: usize } => Linear::new);

impl Linear {
    /// Of points of `dim` coordinates.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`].
    pub fn new(dim: usize) -> Result<Self, InputError> {
        if dim == 0 { Err(InputError::ZeroDimension) } else { Ok(Linear { dim }) }
    }
}

impl FeatureMap for Linear {
    fn input_dim(&self) -> usize {
        self.dim
    }

    fn output_dim(&self) -> usize {
        self.dim
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        out.fill(0.0);
        x.add_scaled_to(1.0, out);
        Ok(())
    }
}

/// One map after the other.
///
/// ```
/// use halfspaces_features::{Chained, FeatureMap, Polynomial, ZScore};
/// use halfspaces_linalg::Points;
/// let points = Points::from_rows(&[[10.0], [30.0]])?;
/// let map = Chained::new(ZScore::fit(&points)?, Polynomial::new(1)?)?;
/// assert_eq!(map.apply(&points)?.as_slice()[..2], [1.0, -2f64.sqrt()]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Chained<A, B> {
    first: A,
    second: B,
}

load_checked!(Chained<A: FeatureMap, B: FeatureMap> { first: A, second: B } => Chained::new);

impl<A: FeatureMap, B: FeatureMap> Chained<A, B> {
    /// `second` of `first`.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn new(first: A, second: B) -> Result<Self, InputError> {
        InputError::check_dim(first.output_dim(), second.input_dim())?;
        Ok(Chained { first, second })
    }
}

impl<A: FeatureMap, B: FeatureMap> FeatureMap for Chained<A, B> {
    fn input_dim(&self) -> usize {
        self.first.input_dim()
    }

    fn output_dim(&self) -> usize {
        self.second.output_dim()
    }

    fn map_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        let (first_row, dim) = (rows.start, self.first.output_dim());
        let mut between = zeros(rows.len(), dim)?;
        self.first.map_rows(points, rows, &mut between)?;
        let between = Points::new(between, dim).map_err(|error| at(error, first_row))?;
        self.second.map_rows(&between, 0..between.len(), out).map_err(|error| at(error, first_row))
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        let mut between = zeros(1, self.first.output_dim())?;
        self.first.map_row(x, &mut between)?;
        let between = DenseRow::new(&between).map_err(|error| at(error, 0))?;
        self.second.map_row(between, out)
    }
}

/// A fault among rows of a block that starts at row `first`; values out of range are an overflow.
fn at(error: InputError, first: usize) -> InputError {
    match error {
        InputError::NonFinite { row, .. } | InputError::Overflow { row } => {
            InputError::Overflow { row: first + row }
        }
        other => other,
    }
}

/// Two maps of the same points, their features side by side.
///
/// ```
/// use halfspaces_features::{FeatureMap, Joined, Linear, Polynomial};
/// use halfspaces_linalg::Points;
/// let map = Joined::new(Linear::new(1)?, Polynomial::new(1)?)?;
/// assert_eq!(map.apply(&Points::new(vec![3.0], 1)?)?.as_slice(), [3.0, 9.0, 3.0 * 2f64.sqrt(), 1.0]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Joined<A, B> {
    first: A,
    second: B,
}

load_checked!(Joined<A: FeatureMap, B: FeatureMap> { first: A, second: B } => Joined::new);

impl<A: FeatureMap, B: FeatureMap> Joined<A, B> {
    /// The features of `first`, then those of `second`.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn new(first: A, second: B) -> Result<Self, InputError> {
        InputError::check_dim(first.input_dim(), second.input_dim())?;
        Ok(Joined { first, second })
    }
}

impl<A: FeatureMap, B: FeatureMap> FeatureMap for Joined<A, B> {
    fn input_dim(&self) -> usize {
        self.first.input_dim()
    }

    fn output_dim(&self) -> usize {
        self.first.output_dim() + self.second.output_dim()
    }

    fn map_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        let (a, b) = (self.first.output_dim(), self.second.output_dim());
        let mut left = zeros(rows.len(), a)?;
        let mut right = zeros(rows.len(), b)?;
        self.first.map_rows(points, rows.clone(), &mut left)?;
        self.second.map_rows(points, rows, &mut right)?;
        let pairs = left.chunks_exact(a).zip(right.chunks_exact(b));
        for (out, (left, right)) in out.chunks_exact_mut(a + b).zip(pairs) {
            out[..a].copy_from_slice(left);
            out[a..].copy_from_slice(right);
        }
        Ok(())
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        let (left, right) = out.split_at_mut(self.first.output_dim());
        self.first.map_row(x, left)?;
        self.second.map_row(x, right)
    }
}
