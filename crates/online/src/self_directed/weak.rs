//! One run of the weak learner with known labels, on points that are already in radially isotropic position. A round of
//! [`StrongLearner`](super::StrongLearner) makes such runs within the protocol. A test compares the loop of that
//! learner with this run, and claim S8 is about this run.
//!
//! Claims: S8, S8f.

use super::strong::Cap;
use halfspaces_linalg::{
    InputError, Label, PointSet, Points, getters, kernels, normalise, tolerance,
};

/// The result of a run of the weak learner.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{Cap, WeakRun};
/// // These points are in approximate radially isotropic position: k = 2, and |U|/(4k) is less than one point.
/// let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])?;
/// let labels = [Label::Positive, Label::Negative, Label::Negative];
/// let run = WeakRun::simulate(&points, &labels, vec![0.8, 0.6], Cap::Corrected)?;
/// assert!(run.succeeded());
/// assert_eq!((run.passed(), run.updates()), (3, 0)); // the walk ends at its first mistake
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WeakRun {
    succeeded: bool,
    passed: usize,
    updates: usize,
    weights: Vec<f64>,
}

impl WeakRun {
    getters! {
        /// Whether a walk passed |U|/(4k) points before the cap on updates was reached.
        succeeded: bool,

        /// Number of points in the last walk, including its mistake.
        passed: usize,

        /// Number of updates made.
        updates: usize,

        /// The last w.
        weights: &[f64],
    }

    /// Walks over the unit vectors `inside` repeatedly, beginning with w₀ = `start`, until a walk passes |U|/(4k) of
    /// them or the cap on updates is reached. Let w₀ and w* be unit vectors with w₀ · w* >= 1/(2√k), where w* gives the
    /// labels. If the points are in 1/(2k)-approximate radially isotropic position, the run succeeds with
    /// [`Cap::Corrected`] (DKTZ23 §3, claim S8).
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`], [`InputError::DimensionMismatch`], [`InputError::Empty`],
    /// [`InputError::ZeroVector`] for a start of 0.
    pub fn simulate(
        inside: &Points,
        labels: &[Label],
        start: Vec<f64>,
        cap: Cap,
    ) -> Result<WeakRun, InputError> {
        let (n, k) = (inside.len(), inside.dim());
        InputError::check_len(n, labels.len())?;
        InputError::check_dim(k, start.len())?;
        let mut w = start;
        if n == 0 {
            return Err(InputError::Empty);
        }
        if !normalise(&mut w) {
            return Err(InputError::ZeroVector);
        }
        let mut updates = 0;
        loop {
            let mut order: Vec<(f64, usize)> =
                inside.rows().map(|u| kernels::dot(u.as_slice(), &w)).zip(0..).collect();
            order.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
            let wrong = |(value, i): &(f64, usize)| Label::from_sign(*value) != labels[*i];
            let mistake = order.iter().position(wrong);
            let passed = mistake.map_or(n, |place| place + 1);
            let succeeded = mistake.is_none() || 4 * k * passed >= n;
            let run = |weights| WeakRun { succeeded, passed, updates, weights };
            let Some(place) = mistake.filter(|_| !succeeded && updates < cap.updates(k)) else {
                return Ok(run(w));
            };
            // w -= (w · u) u
            let (value, i) = order[place];
            let before = w.clone();
            let Some(u) = inside.row(i) else {
                unreachable!("the order contains only points of the pool")
            };
            kernels::axpy(-value, u.as_slice(), &mut w);
            if kernels::norm_sq(&w).sqrt() <= tolerance::VANISHED || !normalise(&mut w) {
                return Ok(run(before));
            }
            updates += 1;
        }
    }
}
