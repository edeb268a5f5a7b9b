//! Random projection of points that have a margin. The projected dimension does not depend on the original dimension.

use crate::streams;
use halfspaces_linalg::{
    Classifier, DenseRow, FitSample, Halfspace, InputError, Label, PointSet, Points, RowView,
    getters, load_checked, norm, rng_for_round, zeros,
};
use rand::Rng;

/// The dimension m = ⌈16 ln(4N/δ)/(γ²(1-γ/2))⌉ that suffices for a projection of N points with margin γ and failure
/// probability δ (Arriaga and Vempala 1999).
///
/// ```
/// // 16 ln(4000)/(0.25 · 0.75) = 707.7
/// assert_eq!(halfspaces_pac::projected_dimension(100, 0.5, 0.1), 708);
/// ```
#[must_use]
pub fn projected_dimension(points: usize, margin: f64, failure: f64) -> usize {
    let logarithm = (4.0 * points as f64 / failure).ln();
    (16.0 * logarithm / (margin * margin * (1.0 - margin / 2.0))).ceil() as usize
}

/// The margin γ/(2+γ) that is guaranteed for a unit normal on the rescaled points.
#[must_use]
pub fn projected_margin(margin: f64) -> f64 {
    margin / (2.0 + margin)
}

/// A random projection of points that have a margin. The projected dimension does not depend on the original dimension.
///
/// The projection maps x to Rx/max(1, ‖Rx‖), where R is an m × d matrix with random entries ±1/√m. A halfspace w of the
/// projected space corresponds to the halfspace Rᵀw of the original space, which makes the same predictions.
///
/// *Guarantee.* Let N points satisfy ‖x‖ <= 1 and y (w* · x) >= γ for a unit vector w*. Let m = ⌈16
/// ln(4N/δ)/(γ²(1-γ/2))⌉ ([`projected_dimension`]). With probability at least 1-δ over R, the products y (Rw* · Rx) are
/// at least γ/2 for all points. Norms may grow. However, with probability at least 1 - 3δ/2, this bound holds and, in
/// addition, ‖Rw*‖² and every ‖Rx‖² are at most 1 + γ/2. Then Rw*/‖Rw*‖ has a margin of γ/(2+γ) ([`projected_margin`])
/// on the rescaled points, which all lie in the unit ball.
///
/// *Cost.* R is not stored. Each column consists of m random bits, which are generated from the seed when they are
/// needed. Generating the bits of a column costs less than the m additions that use them. Projecting a point takes m
/// additions per stored non-zero value. The projection itself takes no memory. It is useful if d is much larger than m,
/// that is, for large margins.
///
/// *Source.* Arriaga and Vempala 1999, Corollary 2 with c = γ/2: ‖Ru‖² leaves the interval ‖u‖²(1 ± c) on a given side
/// with probability at most e^(-(c²-c³)m/4) = δ/(4N). The bound for one inner product excludes four of these events.
/// The rescaled form is ours; it excludes N + 1 more of these events, all on the upper side. Claims: P12, P12p.
///
/// ```
/// use halfspaces_linalg::{Classifier, Halfspace, PointSet, Points};
/// use halfspaces_pac::RandomProjection;
/// let points = Points::from_rows(&[[0.6, 0.0, 0.8], [0.0, -1.0, 0.0]])?;
/// let projection = RandomProjection::new(3, 16, 1)?;
/// let projected = projection.apply(&points)?;
/// assert_eq!((projected.len(), projected.dim()), (2, 16));
/// assert!(projected.max_norm() <= 1.0 + 1e-15);
/// // A halfspace of the projected space, mapped back to the original space.
/// let learned = Halfspace::new(vec![1.0; 16])?;
/// let original = projection.back(&learned)?;
/// assert_eq!(original.label_all(&points)?, learned.label_all(&projected)?);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RandomProjection {
    from: usize,
    to: usize,
    seed: u64,
}

load_checked!(RandomProjection { from: usize, to: usize, seed: u64 } => RandomProjection::new);

impl RandomProjection {
    /// Creates a projection from R^`from` to R^`to`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`] if `from` or `to` is 0; [`InputError::ParameterOutOfRange`] if `from` is above
    /// 2³², the number of columns that one seed can generate.
    pub fn new(from: usize, to: usize, seed: u64) -> Result<Self, InputError> {
        if from == 0 || to == 0 {
            return Err(InputError::ZeroDimension);
        }
        let in_range = from as u64 <= 1 << 32;
        InputError::check_parameter("dimension", from as f64, in_range, "at most 2^32")?;
        Ok(RandomProjection { from, to, seed })
    }

    /// Creates a projection from R^`from` to [`projected_dimension`] coordinates. If this number exceeds `from`, a
    /// projection has no benefit; use the original points instead.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`] if `from` is 0; [`InputError::Empty`] if there are no points;
    /// [`InputError::ParameterOutOfRange`] if the margin is not in (0, 1], if δ is not in (0, 1), or if `from` is above
    /// 2³².
    pub fn for_margin(
        from: usize,
        points: usize,
        margin: f64,
        failure: f64,
        seed: u64,
    ) -> Result<Self, InputError> {
        if points == 0 {
            return Err(InputError::Empty);
        }
        let in_range = margin > 0.0 && margin <= 1.0;
        InputError::check_parameter("margin", margin, in_range, "above 0 and at most 1")?;
        let in_range = failure > 0.0 && failure < 1.0;
        InputError::check_parameter("failure", failure, in_range, "above 0 and below 1")?;
        RandomProjection::new(from, projected_dimension(points, margin, failure), seed)
    }

    getters! {
        /// The dimension d of the original points.
        from_dim: usize => from,

        /// The dimension m of the projected points.
        to_dim: usize => to,
    }

    /// The bits of column j, 64 at a time: a set bit stands for +1/√m.
    fn column(&self, j: usize) -> impl Iterator<Item = u64> + use<> {
        // `new` bounds the number of columns.
        let mut rng = rng_for_round(streams::PROJECTION, self.seed, j as u32);
        std::iter::repeat_with(move || rng.next_u64())
    }

    /// Adds x_j times column j to `out` for every entry of x, then scales `out`. Zeros are skipped, so dense and sparse
    /// rows have the same rounding errors.
    fn project<R: RowView>(&self, x: R, out: &mut [f64]) {
        for (j, x_j) in x.entries().filter(|(_, x_j)| x_j.abs() > 0.0) {
            for (block, bits) in out.chunks_mut(64).zip(self.column(j)) {
                for (k, out) in block.iter_mut().enumerate() {
                    *out += with_sign(x_j, bits >> k);
                }
            }
        }
        let scale = (self.to as f64).sqrt().recip();
        out.iter_mut().for_each(|v| *v *= scale);
        let length = norm(out);
        if length > 1.0 {
            out.iter_mut().for_each(|v| *v /= length);
        }
    }

    /// Returns Rx/max(1, ‖Rx‖) for every point x.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::TooLarge`]; [`InputError::NonFinite`] if a sum of coordinates
    /// overflows.
    pub fn apply<P: PointSet>(&self, points: &P) -> Result<Points, InputError> {
        InputError::check_dim(self.from, points.dim())?;
        let mut values = zeros(points.len(), self.to)?;
        for (x, out) in points.rows().zip(values.chunks_exact_mut(self.to)) {
            self.project(x, out);
        }
        Points::new(values, self.to)
    }

    /// Returns Rᵀw, the halfspace of R^d that labels every x as the given halfspace w labels Rx.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::TooLarge`]; [`InputError::NonFinite`] if a sum of coordinates
    /// overflows.
    pub fn back(&self, halfspace: &Halfspace) -> Result<Halfspace, InputError> {
        InputError::check_dim(self.to, halfspace.dim())?;
        let scale = (self.to as f64).sqrt().recip();
        let mut normal = zeros(1, self.from)?;
        for (j, out) in normal.iter_mut().enumerate() {
            for (block, bits) in halfspace.normal().chunks(64).zip(self.column(j)) {
                *out +=
                    block.iter().enumerate().map(|(k, w)| with_sign(*w, bits >> k)).sum::<f64>();
            }
            *out *= scale;
        }
        Halfspace::new(normal)
    }
}

/// Returns v if the lowest bit is 1, and -v otherwise.
#[inline]
fn with_sign(v: f64, bits: u64) -> f64 {
    f64::from_bits(v.to_bits() ^ ((!bits & 1) << 63))
}

/// A learner that projects points at random and then fits a model to the projected points.
///
/// ```
/// use halfspaces_linalg::{Classifier, FitSample, Label, Params, SparsePoints};
/// use halfspaces_pac::{LinearSvm, Projected, RandomProjection};
/// // Two sparse points in a million dimensions.
/// let points = SparsePoints::new(vec![0, 1, 2], vec![7, 999_999], vec![1.0, 1.0], 1_000_000)?;
/// let labels = [Label::Positive, Label::Negative];
/// let svm = LinearSvm::params().intercept(false).check()?;
/// let learner = Projected::new(RandomProjection::new(1_000_000, 32, 1)?, svm);
/// let fit = learner.fit(&points, &labels)?;
/// assert_eq!((fit.dim(), fit.model().dim()), (1_000_000, 32));
/// assert_eq!(fit.label_all(&points)?, labels);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projected<L> {
    projection: RandomProjection,
    learner: L,
}

impl<L: FitSample> Projected<L> {
    /// Creates a learner that projects points and passes the projected points to `learner`.
    pub fn new(projection: RandomProjection, learner: L) -> Self {
        Projected { projection, learner }
    }
}

impl<L: FitSample> FitSample for Projected<L> {
    type Model = ProjectedFit<L::Model>;
    type Error = L::Error;

    /// Fits a model to labelled points.
    ///
    /// # Errors
    /// The errors of [`RandomProjection::apply`], [`InputError::LengthMismatch`], and the errors of the learner.
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Self::Model, L::Error> {
        InputError::check_len(points.len(), labels.len())?;
        let model = self.learner.fit(&self.projection.apply(points)?, labels)?;
        Ok(ProjectedFit::new(self.projection, model)?)
    }
}

/// The model fitted by [`Projected`]: a projection and a classifier of projected points. The model projects each point
/// before it labels the point. To map a halfspace to the original space instead, use [`RandomProjection::back`].
///
/// ```
/// use halfspaces_linalg::{Classifier, Halfspace, Points};
/// use halfspaces_pac::{ProjectedFit, RandomProjection};
/// let projection = RandomProjection::new(3, 2, 1)?;
/// let fit = ProjectedFit::new(projection, Halfspace::new(vec![1.0, -1.0])?)?;
/// let points = Points::from_rows(&[[0.6, 0.0, 0.8], [0.1, -0.9, 0.3]])?;
/// assert_eq!(fit.label_all(&points)?, projection.back(fit.model())?.label_all(&points)?);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ProjectedFit<M> {
    projection: RandomProjection,
    model: M,
}

load_checked! {
    ProjectedFit<M: Classifier> { projection: RandomProjection, model: M } => ProjectedFit::new
}

impl<M: Classifier> ProjectedFit<M> {
    /// Creates the model from a projection and a classifier of projected points.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn new(projection: RandomProjection, model: M) -> Result<Self, InputError> {
        InputError::check_dim(projection.to, model.dim())?;
        Ok(ProjectedFit { projection, model })
    }

    getters! {
        /// The projection.
        projection: RandomProjection,

        /// The classifier of projected points.
        model: &M,
    }
}

impl<M: Classifier> Classifier for ProjectedFit<M> {
    fn dim(&self) -> usize {
        self.projection.from
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        InputError::check_dim(self.projection.from, x.dim())?;
        let mut projected = zeros(1, self.projection.to)?;
        self.projection.project(x, &mut projected);
        let projected = DenseRow::new(&projected).map_err(|_| InputError::Overflow { row: 0 })?;
        self.model.decision_value(projected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{MarginBall, Marginal, UnitSphere, random_target};
    use halfspaces_linalg::{Params, SparsePoints, kernels};

    /// The matrix R, computed entry by entry.
    fn matrix(projection: &RandomProjection) -> Vec<Vec<f64>> {
        let scale = (projection.to as f64).sqrt().recip();
        let mut rows = vec![vec![0.0; projection.from]; projection.to];
        for j in 0..projection.from {
            let words: Vec<u64> = projection.column(j).take(projection.to.div_ceil(64)).collect();
            for (k, row) in rows.iter_mut().enumerate() {
                row[j] = if words[k / 64] >> (k % 64) & 1 == 1 { scale } else { -scale };
            }
        }
        rows
    }

    #[test]
    fn products_agree_with_the_matrix_written_out() {
        let projection = RandomProjection::new(7, 130, 3).unwrap();
        let r = matrix(&projection);
        let points = UnitSphere::new(7).unwrap().sample(5, 1).unwrap();
        let projected = projection.apply(&points).unwrap();
        let w = random_target(130, 2).unwrap();
        let back = projection.back(&w).unwrap();
        for (x, out) in points.rows().zip(projected.rows()) {
            let plain: Vec<f64> = r.iter().map(|row| kernels::dot(row, x.as_slice())).collect();
            let scale = norm(&plain).max(1.0);
            for (a, b) in plain.iter().zip(out.as_slice()) {
                assert!((a / scale - b).abs() < 1e-14);
            }
            let here = w.decision_value(out).unwrap() * scale;
            assert!((back.decision_value(x).unwrap() - here).abs() < 1e-13);
        }
        // The 910 signs are fair coin flips: the number of plus signs is within 5 standard deviations of its mean.
        let plus = r.iter().flatten().filter(|v| **v > 0.0).count();
        assert!(plus.abs_diff(455) < 76, "{plus}");
        // All rows and columns are distinct.
        assert!((1..7).all(|j| (0..130).any(|k| r[k][j] != r[k][0])));
        assert_ne!(matrix(&RandomProjection::new(7, 130, 4).unwrap()), r);
    }

    #[test]
    fn sparse_and_dense_agree_to_the_bit() {
        let values = (0..60).map(|i| if i % 3 == 0 { f64::from(i) / 60.0 } else { 0.0 }).collect();
        let points = Points::new(values, 12).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let projection = RandomProjection::new(12, 70, 5).unwrap();
        assert_eq!(projection.apply(&points).unwrap(), projection.apply(&sparse).unwrap());
    }

    /// The number of projections to `dim` coordinates, out of `trials`, that lose the guaranteed margin.
    fn failures(trials: u64, dim: usize, margin: f64) -> usize {
        let lost = |seed: &u64| {
            let target = random_target(60, *seed).unwrap();
            let points = MarginBall::new(&target, margin).unwrap().sample(20, seed + 77).unwrap();
            let labels = target.label_all(&points).unwrap();
            let projection = RandomProjection::new(60, dim, *seed).unwrap();
            let projected = projection.apply(&points).unwrap();
            // Rw*, the image of w*. Its length does not matter, because it does not affect the margin.
            let image = Points::new(target.into_normal(), 60).unwrap();
            let image = Halfspace::new(projection.apply(&image).unwrap().into_vec()).unwrap();
            image.margin_on(&projected, &labels).unwrap() < projected_margin(margin)
        };
        (0..trials).filter(lost).count()
    }

    #[test]
    fn the_margin_survives_in_the_stated_dimension_and_not_far_below() {
        let (margin, failure) = (0.6, 0.2);
        let dim = projected_dimension(20, margin, failure);
        assert_eq!(dim, (16.0 * 400f64.ln() / (0.36 * 0.7)).ceil() as usize);
        // Each trial fails with probability at most 0.3, so the probability of 20 or more failures in 30 trials is
        // about 1/10 000.
        let failed = failures(30, dim, margin);
        assert!(failed <= 19, "{failed}");
        assert!(failures(30, dim / 40, margin) >= 20);
    }

    #[test]
    fn fitting_through_the_projection_predicts_as_inside_it() {
        let target = random_target(40, 1).unwrap();
        let points = MarginBall::new(&target, 0.4).unwrap().sample(60, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let projection = RandomProjection::for_margin(40, 60, 0.4, 0.1, 3).unwrap();
        let learner = crate::LinearSvm::params().c(1e3).intercept(false).check().unwrap();
        let fit = Projected::new(projection, learner).fit(&points, &labels).unwrap();
        let projected = projection.apply(&points).unwrap();
        let inside = learner.fit(&projected, &labels).unwrap();
        assert_eq!(fit.model(), &inside);
        assert_eq!(fit.label_all(&points).unwrap(), labels);
        // The predictions are the same for every point, whether the point is projected or the halfspace is mapped back.
        let back = projection.back(inside.halfspace().linear()).unwrap();
        for (x, reduced) in points.rows().zip(projected.rows()) {
            let value = fit.decision_value(x).unwrap();
            assert_eq!(value, inside.decision_value(reduced).unwrap());
            assert_eq!(Label::from_sign(value), back.label(x).unwrap());
        }
        assert!(Projected::new(projection, learner).fit(&points, &labels[1..]).is_err());
        assert!(ProjectedFit::new(RandomProjection::new(40, 3, 1).unwrap(), inside).is_err());
    }

    #[test]
    fn bad_input_is_typed() {
        assert_eq!(RandomProjection::new(0, 1, 0), Err(InputError::ZeroDimension));
        assert_eq!(RandomProjection::new(1, 0, 0), Err(InputError::ZeroDimension));
        assert_eq!(RandomProjection::for_margin(1, 0, 0.5, 0.1, 0), Err(InputError::Empty));
        for (margin, delta) in [(0.0, 0.1), (1.1, 0.1), (f64::NAN, 0.1), (0.5, 0.0), (0.5, 1.0)] {
            assert!(RandomProjection::for_margin(1, 9, margin, delta, 0).is_err());
        }
        let projection = RandomProjection::new(2, 3, 0).unwrap();
        let points = Points::from_rows(&[[1.0]]).unwrap();
        let mismatch = InputError::DimensionMismatch { expected: 2, found: 1 };
        assert_eq!(projection.apply(&points), Err(mismatch));
        assert!(projection.back(&Halfspace::new(vec![1.0]).unwrap()).is_err());
        let tiny = RandomProjection::for_margin(2, 9, 1e-200, 0.1, 0).unwrap();
        let two = Points::from_rows(&[[1.0, 1.0]]).unwrap();
        assert!(matches!(tiny.apply(&two), Err(InputError::TooLarge { .. })));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn deserialising_checks_too() {
        let projection = RandomProjection::new(5, 3, 7).unwrap();
        let text = serde_json::to_string(&projection).unwrap();
        assert_eq!(serde_json::from_str::<RandomProjection>(&text).unwrap(), projection);
        assert!(serde_json::from_str::<RandomProjection>(&text.replace('5', "0")).is_err());
        let fit = ProjectedFit::new(projection, Halfspace::new(vec![1.0; 3]).unwrap()).unwrap();
        let text = serde_json::to_string(&fit).unwrap();
        let load = |text: &str| serde_json::from_str::<ProjectedFit<Halfspace>>(text);
        assert_eq!(load(&text).unwrap(), fit);
        assert!(load(&text.replace("\"to\":3", "\"to\":4")).is_err());
    }
}
