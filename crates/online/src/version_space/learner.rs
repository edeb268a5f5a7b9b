//! Learning with a centre of the version space.
//!
//! The version space is the set of all w in the unit ball that label every mistake correctly. The learner predicts with
//! a centre of this set. A mistake cuts the set by the halfspace y (w · x) >= 0, which the centre violates.
//!
//! *Guarantee.* The guarantee depends on the centre; every [`Centre`] states its own. All guarantees are based on
//! volume: if a unit w* separates the points (scaled to norm 1) with margin γ, the set always contains a ball of radius
//! γ/(1+γ). If every cut removes a constant fraction of the volume, the learner therefore makes O(d ln(1/γ)) mistakes,
//! while the perceptron may make 1/γ² mistakes.
//!
//! *Source.* Kakade §3 (halving with volume instead of counting); Notes21.
//!
//! Claims: K8, K8e, K8v, S6, S6b, S9p.

use crate::protocol::{OnlineLearner, Prediction};
use crate::scale::positive_norm_sq;
use halfspaces_linalg::{Classifier, Halfspace, InputError, Label, RowView, norm, tolerance};

/// A centre of {w : ‖w‖ <= 1, a · w >= 0 for every cut a}.
///
/// ```
/// use halfspaces_online::{Centre, Ellipsoid, HardMargin, VolumetricCentre};
/// fn two_cuts<C: Centre>(mut centre: C) -> Result<bool, Box<dyn std::error::Error>> {
///     centre.cut(&[1.0, 0.0])?;
///     centre.cut(&[0.0, 1.0])?;
///     // The centre satisfies both cuts strictly.
///     Ok(centre.centre().iter().all(|v| *v > 0.0) && !centre.is_exhausted())
/// }
/// assert!(two_cuts(Ellipsoid::new(2)?)? && two_cuts(VolumetricCentre::new(2)?)?);
/// assert!(two_cuts(HardMargin::new(2)?)?);
/// assert_eq!(HardMargin::new(2)?.mistake_bound(0.1), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Centre {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// The centre, strictly inside the set unless the set is exhausted.
    fn centre(&self) -> &[f64];

    /// Cuts the set by a · w >= 0 for a unit vector a of the right dimension, and moves the centre.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] if a is not a unit vector; [`InputError::Overflow`] if a is not finite or
    /// the arithmetic of the centre breaks down. The centre is then unchanged.
    fn cut(&mut self, a: &[f64]) -> Result<(), InputError>;

    /// Whether the set is too small to be distinguished from an empty one. If it is, the labels contradict every
    /// halfspace with a margin above about 1e-12, and the guarantees do not hold.
    fn is_exhausted(&self) -> bool;

    /// Whether a correctly labelled point is so close to the boundary that cutting by it would move the centre;
    /// `margin` is a · w > 0 for the unit vector a of the point. The default, for centres that cannot tell, is `false`.
    fn is_moved_by(&self, _margin: f64) -> bool {
        false
    }

    /// The largest number of mistakes on points of norm 1 that a unit w* separates with margin γ; `None` for a centre
    /// without such a bound.
    fn mistake_bound(&self, margin: f64) -> Option<f64>;
}

/// Checks that a cut is a unit vector, up to rounding, of the right dimension.
pub(super) fn check_cut(dim: usize, a: &[f64]) -> Result<(), InputError> {
    InputError::check_dim(dim, a.len())?;
    let length = norm(a);
    if !length.is_finite() {
        return Err(InputError::Overflow { row: 0 });
    }
    let unit = (length - 1.0).abs() <= tolerance::UNIT_NORM;
    InputError::check_parameter("length of a cut", length, unit, "1")
}

/// w · x for the centre w.
pub(super) fn centre_value<C: Centre, R: RowView>(centre: &C, x: R) -> Result<f64, InputError> {
    InputError::check_dim(centre.dim(), x.dim())?;
    let value = x.dot(centre.centre());
    if value.is_finite() { Ok(value) } else { Err(InputError::Overflow { row: 0 }) }
}

/// The learner that predicts with a centre of its version space and cuts at every mistake.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Label};
/// use halfspaces_online::{Ellipsoid, OnlineLearner, VersionSpace};
/// let mut learner = VersionSpace::new(Ellipsoid::new(2)?);
/// let x = DenseRow::new(&[5.0, 0.0])?;
/// learner.observe(x, Label::Negative)?; // a mistake: the centre was 0
/// assert_eq!(learner.label(x)?, Label::Negative);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VersionSpace<C> {
    centre: C,
    updates: u64,
}

impl<C: Centre> VersionSpace<C> {
    /// Starts from the whole unit ball.
    pub fn new(centre: C) -> Self {
        VersionSpace { centre, updates: 0 }
    }

    /// The centre.
    pub fn centre(&self) -> &C {
        &self.centre
    }

    /// The current hypothesis.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] if the arithmetic has broken down.
    pub fn halfspace(&self) -> Result<Halfspace, InputError> {
        Halfspace::new(self.centre.centre().to_vec())
    }

    /// Cuts off the hypotheses that label `x` incorrectly. Returns `false`, without cutting, if the set was already
    /// exhausted.
    pub(super) fn cut_towards<R: RowView>(
        &mut self,
        x: R,
        truth: Label,
    ) -> Result<bool, InputError> {
        if self.centre.is_exhausted() {
            return Ok(false);
        }
        let mut a = vec![0.0; self.centre.dim()];
        x.add_scaled_to(truth.as_f64() / positive_norm_sq(x)?.sqrt(), &mut a);
        self.centre.cut(&a)?;
        self.updates += 1;
        Ok(true)
    }
}

/// The decision value is w · x for the centre w.
impl<C: Centre> Classifier for VersionSpace<C> {
    fn dim(&self) -> usize {
        self.centre.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        centre_value(&self.centre, x)
    }
}

impl<C: Centre> OnlineLearner for VersionSpace<C> {
    /// The value of the prediction is w · x / ‖x‖ for the centre w.
    fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
        Ok(Prediction::from_value(self.decision_value(x)? / positive_norm_sq(x)?.sqrt()))
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        InputError::check_dim(self.centre.dim(), x.dim())?;
        Ok(prediction.is_wrong(truth) && self.cut_towards(x, truth)?)
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}
