//! The [`FeatureMap`] trait, and classifiers that act on features.

use halfspaces_linalg::{
    Classifier, DenseRow, InputError, Label, PointSet, Points, RowView, Threads, load_checked,
    zeros,
};
use std::ops::Range;

/// The number of points that a thread maps at a time. The block size does not affect the features.
const BLOCK: usize = 256;

/// A map from points to features, which are points of another space. A halfspace of the features can express more than
/// a halfspace of the original points.
///
/// [`Transformed`] combines a map with a classifier of its features. The result is a classifier of the original points.
///
/// The features of a point are always identical bit for bit. They do not depend on whether the point is dense or
/// sparse, on whether it is mapped alone or together with others, or on the number of threads.
///
/// ```
/// use halfspaces_features::{FeatureMap, Nystroem, RadialKernel, ZScore};
/// use halfspaces_linalg::{PointSet, Points};
/// let points = Points::from_rows(&[[1.0, 200.0], [3.0, 100.0], [2.0, 300.0]])?;
/// let scaled = ZScore::fit(&points)?.apply(&points)?;
/// let map = Nystroem::new(scaled.clone(), RadialKernel::gaussian(4.0)?)?;
/// let features = map.apply(&scaled)?;
/// assert_eq!((features.len(), features.dim()), (3, 3));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub trait FeatureMap {
    /// The number of coordinates of a point.
    fn input_dim(&self) -> usize;

    /// The number of features.
    fn output_dim(&self) -> usize;

    /// Writes the features of the points with indices `rows` to `out`, row by row.
    ///
    /// The default implementation calls [`FeatureMap::map_row`] for each row. Override it if mapping many rows at once
    /// is faster. Implementations may assume that the dimensions agree, that the rows exist, and that `out` has exactly
    /// the size of the features; [`FeatureMap::apply`] ensures all three.
    ///
    /// # Errors
    /// Returns the error of a point, such as [`InputError::Overflow`], together with the row of that point.
    fn map_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        for (row, out) in rows.zip(out.chunks_exact_mut(self.output_dim())) {
            let len = points.len();
            let x = points.row(row).ok_or(InputError::IndexOutOfRange { index: row, len })?;
            self.map_row(x, out).map_err(|error| error.at_row(row))?;
        }
        Ok(())
    }

    /// Writes the features of one point with `input_dim` coordinates to `out`, which has length `output_dim`.
    ///
    /// # Errors
    /// Returns the error of the point, such as [`InputError::Overflow`].
    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError>;

    /// Returns the features of all points, one row per point.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if the points do not have [`FeatureMap::input_dim`] coordinates;
    /// [`InputError::TooLarge`] if the features do not fit in memory; otherwise the error of a point, such as
    /// [`InputError::Overflow`], together with the row of that point.
    fn apply<P: PointSet>(&self, points: &P) -> Result<Points, InputError>
    where
        Self: Sync,
    {
        self.apply_on(points, Threads::ONE)
    }

    /// Like [`FeatureMap::apply`], but runs on several threads. The features are identical bit for bit.
    ///
    /// # Errors
    /// Returns the same errors as [`FeatureMap::apply`].
    fn apply_on<P: PointSet>(&self, points: &P, threads: Threads) -> Result<Points, InputError>
    where
        Self: Sync,
    {
        InputError::check_dim(self.input_dim(), points.dim())?;
        let dim = self.output_dim();
        let mut features = zeros(points.len(), dim)?;
        let blocks = features.chunks_mut(BLOCK * dim).enumerate();
        let done = threads.map_with(
            blocks,
            || (),
            |(), (block, out)| {
                let first = block * BLOCK;
                self.map_rows(points, first..first + out.len() / dim, out)
            },
        );
        done.into_iter().collect::<Result<(), InputError>>()?;
        Points::new(features, dim).map_err(|error| as_overflow(error, 0))
    }
}

/// Converts the error of a block that starts at row `first` of the points. The row in the result is an index among all
/// points, and an error about a feature that is not finite becomes an overflow error.
fn as_overflow(error: InputError, first: usize) -> InputError {
    match error {
        InputError::NonFinite { row, .. } | InputError::Overflow { row } => {
            InputError::Overflow { row: first + row }
        }
        other => other,
    }
}

/// A classifier of points, which applies a map to each point and then a classifier to its features.
///
/// ```
/// use halfspaces_features::{KernelValues, RadialKernel, Transformed};
/// use halfspaces_linalg::{AffineHalfspace, Classifier, Label, Points};
/// // Points within ln 2 of 1: exp(-|x - 1|) > 1/2.
/// let near = AffineHalfspace::new(vec![1.0], -0.5)?;
/// let values = KernelValues::new(Points::new(vec![1.0], 1)?, RadialKernel::laplacian(1.0)?)?;
/// let model = Transformed::new(values, near)?;
/// let [p, n] = [Label::Positive, Label::Negative];
/// assert_eq!(model.label_all(&Points::new(vec![0.0, 0.5, 1.6, 3.0], 1)?)?, [n, p, p, n]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Transformed<T, M> {
    map: T,
    model: M,
}

load_checked!(Transformed<T: FeatureMap, M: Classifier> { map: T, model: M } => Transformed::new);

impl<T: FeatureMap, M: Classifier> Transformed<T, M> {
    /// Combines a map and a classifier of its features.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if the dimension of the classifier is not the number of features.
    pub fn new(map: T, model: M) -> Result<Self, InputError> {
        InputError::check_dim(map.output_dim(), model.dim())?;
        Ok(Transformed { map, model })
    }

    /// The map that computes the features.
    #[must_use]
    pub fn map(&self) -> &T {
        &self.map
    }

    /// The classifier that is applied to the features.
    #[must_use]
    pub fn model(&self) -> &M {
        &self.model
    }
}

impl<T: FeatureMap, M: Classifier> Classifier for Transformed<T, M> {
    fn dim(&self) -> usize {
        self.map.input_dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        InputError::check_dim(self.dim(), x.dim())?;
        let mut features = zeros(1, self.map.output_dim())?;
        self.map.map_row(x, &mut features)?;
        let features = DenseRow::new(&features).map_err(|_| InputError::Overflow { row: 0 })?;
        self.model.decision_value(features)
    }

    fn label_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
    ) -> Result<Vec<Label>, InputError> {
        if rows.end > points.len() {
            let index = points.len().max(rows.start);
            return Err(InputError::IndexOutOfRange { index, len: points.len() });
        }
        let dim = self.map.output_dim();
        let mut labels = Vec::with_capacity(rows.len());
        for first in rows.clone().step_by(BLOCK) {
            let block = first..rows.end.min(first + BLOCK);
            let mut features = zeros(block.len(), dim)?;
            self.map.map_rows(points, block, &mut features)?;
            let features = Points::new(features, dim).map_err(|error| as_overflow(error, first))?;
            let found = self.model.label_rows(&features, 0..features.len());
            labels.append(&mut found.map_err(|error| as_overflow(error, first))?);
        }
        Ok(labels)
    }
}
