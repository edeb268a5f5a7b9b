//! Maps of points, and learners and models that work on what they map to.

use halfspaces_linalg::{
    Classifier, DenseRow, FitSample, InputError, Label, PointSet, Points, RowView, Threads,
    load_checked, zeros,
};
use std::ops::Range;

/// Points mapped at a time by one thread; what they are mapped to does not depend on it.
const BLOCK: usize = 256;

/// A map of points to points of another space, in which a halfspace says more: standardised columns,
/// random features of a kernel, products of columns.
///
/// Maps compose: [`Chained`](crate::Chained) is one after the other, [`Joined`](crate::Joined) both side by
/// side. A learner on features is a [`FeatureLearner`], a model on them a [`Transformed`]: a classifier of
/// the points as they are given.
///
/// Dense and sparse points, any number of threads, a point alone and among others: the features are the
/// same to the bit.
///
/// ```
/// use halfspaces_features::{Chained, FeatureMap, Joined, Linear, Nystroem, RadialKernel, ZScore};
/// use halfspaces_linalg::{PointSet, Points};
/// let points = Points::from_rows(&[[1.0, 200.0], [3.0, 100.0], [2.0, 300.0]])?;
/// let scale = ZScore::fit(&points)?;
/// let scaled = scale.apply(&points)?;
/// let nystroem = Nystroem::new(scaled, RadialKernel::gaussian(4.0)?)?;
/// // Standardised columns, and beside them three features of a Gaussian kernel.
/// let map = Chained::new(scale, Joined::new(Linear::new(2)?, nystroem)?)?;
/// let features = map.apply(&points)?;
/// assert_eq!((features.len(), features.dim()), (3, 5));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub trait FeatureMap {
    /// Number of coordinates of the points that are mapped.
    fn input_dim(&self) -> usize;

    /// Number of features.
    fn output_dim(&self) -> usize;

    /// The features of the points `rows` of `points`, row after row.
    ///
    /// By default row by row; a map that is faster for many rows at once says how. It may assume that the
    /// dimensions agree, that the rows exist and that `out` has room for exactly their features;
    /// [`FeatureMap::apply`] makes sure of it.
    ///
    /// # Errors
    /// What is wrong with a point, such as [`InputError::Overflow`], with its row.
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

    /// The features of one point, of `input_dim` coordinates, into as many places as there are features.
    ///
    /// # Errors
    /// What is wrong with the point, such as [`InputError::Overflow`].
    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError>;

    /// The features of every point.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::TooLarge`]; what is wrong with a point, such as
    /// [`InputError::Overflow`], with its row.
    fn apply<P: PointSet>(&self, points: &P) -> Result<Points, InputError>
    where
        Self: Sync,
    {
        self.apply_on(points, Threads::ONE)
    }

    /// [`FeatureMap::apply`] on several threads: the same features, to the bit.
    ///
    /// # Errors
    /// As [`FeatureMap::apply`].
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
        Points::new(features, dim).map_err(|error| match error {
            InputError::NonFinite { row, .. } => InputError::Overflow { row },
            other => other,
        })
    }
}

/// A learner that works on features: it maps the points, then fits by another learner.
///
/// ```
/// use halfspaces_features::{FeatureLearner, Polynomial};
/// use halfspaces_linalg::{Classifier, Label, FitSample, Halfspace, InputError, PointSet, Points, RowView};
/// /// Σ y x, the simplest learner there is.
/// struct Mean;
/// impl FitSample for Mean {
///     type Model = Halfspace;
///     type Error = InputError;
///     fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Halfspace, InputError> {
///         let mut w = vec![0.0; points.dim()];
///         points.rows().zip(labels).for_each(|(x, y)| x.add_scaled_to(y.as_f64(), &mut w));
///         Halfspace::new(w)
///     }
/// }
/// // Exclusive or: a halfspace of products of columns.
/// let points = Points::from_rows(&[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])?;
/// let [p, n] = [Label::Positive, Label::Negative];
/// let fit = FeatureLearner::new(Polynomial::new(2)?, Mean).fit(&points, &[p, n, n, p])?;
/// assert_eq!(fit.label_all(&points)?, [p, n, n, p]);
/// # Ok::<(), InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FeatureLearner<T, L> {
    map: T,
    learner: L,
}

impl<T, L> FeatureLearner<T, L> {
    /// Maps by `map`, then fits by `learner`.
    pub fn new(map: T, learner: L) -> Self {
        FeatureLearner { map, learner }
    }
}

impl<T: FeatureMap + Clone + Sync, L: FitSample> FitSample for FeatureLearner<T, L> {
    type Model = Transformed<T, L::Model>;
    type Error = L::Error;

    /// Fits labelled points.
    ///
    /// # Errors
    /// Those of [`FeatureMap::apply`], [`InputError::LengthMismatch`], and those of the learner.
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Self::Model, L::Error> {
        InputError::check_len(points.len(), labels.len())?;
        let model = self.learner.fit(&self.map.apply(points)?, labels)?;
        Ok(Transformed::new(self.map.clone(), model)?)
    }
}

/// A classifier of points through their features: a map, and a classifier of what it maps to.
///
/// ```
/// use halfspaces_features::{Polynomial, Transformed};
/// use halfspaces_linalg::{AffineHalfspace, Classifier, Label, Points};
/// // x² > 1: features x² and √2 x, and the constant 1.
/// let outside = AffineHalfspace::new(vec![1.0, 0.0, 0.0], -1.0)?;
/// let model = Transformed::new(Polynomial::new(1)?, outside)?;
/// let [p, n] = [Label::Positive, Label::Negative];
/// assert_eq!(model.label_all(&Points::new(vec![-2.0, 0.5, 3.0], 1)?)?, [p, n, p]);
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
    /// A map, and a classifier of its features.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn new(map: T, model: M) -> Result<Self, InputError> {
        InputError::check_dim(map.output_dim(), model.dim())?;
        Ok(Transformed { map, model })
    }

    /// The map.
    #[must_use]
    pub fn map(&self) -> &T {
        &self.map
    }

    /// The map and the classifier of its features, for a learner that goes on learning.
    pub fn parts_mut(&mut self) -> (&T, &mut M) {
        (&self.map, &mut self.model)
    }

    /// The classifier of features.
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
            let features = Points::new(features, dim).map_err(|error| match error {
                InputError::NonFinite { row, .. } => InputError::Overflow { row: first + row },
                other => other,
            })?;
            let found = self.model.label_rows(&features, 0..features.len());
            labels.append(&mut found.map_err(|error| match error {
                InputError::Overflow { row } => InputError::Overflow { row: first + row },
                other => other,
            })?);
        }
        Ok(labels)
    }
}
