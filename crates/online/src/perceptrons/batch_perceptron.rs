//! The batch perceptron.
//!
//! Start with w = 0; while some point has sign(w · x) != y, set w += y x.
//!
//! *Guarantee.* If a unit w* has y (w* · x) >= γ > 0 on every point and ‖x‖ <= R, it stops after at
//! most (R/γ)² updates with a halfspace that labels every point right, whichever violated point is
//! taken each time. On data that no halfspace separates it would go on for ever; here it stops at
//! a cap and says so.
//!
//! *Source.* Harvey18 Algorithm 1 and Theorem 1.1, which has ‖x‖ = 1.

use super::sweep::{BatchFit, BatchParams, Sweep};
use crate::error::OnlineError;
use halfspaces_linalg::{Label, PointSet};

/// The batch perceptron with checked parameters.
///
/// ```
/// use halfspaces_linalg::{Classifier, Label, Points};
/// use halfspaces_online::{BatchPerceptron, BatchStatus};
/// let points = Points::from_rows(&[[1.0, 0.2], [-1.0, 0.3]])?;
/// let labels = [Label::Positive, Label::Negative];
/// let fit = BatchPerceptron::params().max_updates(100).check()?.fit(&points, &labels)?;
/// assert_eq!(fit.status, BatchStatus::Converged);
/// assert_eq!(fit.halfspace.label_all(&points)?, labels);
///
/// // The same point with both labels: no halfspace, no endless loop.
/// let twice = Points::from_rows(&[[1.0, 0.0], [1.0, 0.0]])?;
/// let fit = BatchPerceptron::params().max_updates(100).check()?.fit(&twice, &labels)?;
/// assert_eq!(fit.status, BatchStatus::CapReached);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchPerceptron(Sweep);

impl BatchPerceptron {
    /// Starts from the default parameters.
    pub fn params() -> BatchParams<Self> {
        BatchParams::new(BatchPerceptron)
    }

    /// Fits labelled points.
    ///
    /// # Errors
    /// [`OnlineError::Input`] for no points or a label count that differs;
    /// [`OnlineError::Overflow`].
    pub fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<BatchFit, OnlineError> {
        self.0.run(points, labels, |value, y| Label::from_sign(value) != y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchStatus, Pick, bounds};
    use halfspaces_data::perceptron_tight;
    use halfspaces_linalg::{Classifier, InputError, Points};

    const PICKS: [Pick; 3] = [Pick::Cyclic, Pick::First, Pick::Worst];

    #[test]
    fn worked_by_hand() {
        // Cyclic: (1,0)- is wrong at w=0: w=(-1,0). (0,1)+ has value 0: right. (-1,-1)- has value
        // 1: wrong, w=(0,1). (1,0)- has value 0: wrong, w=(-1,1). Then +1, 0 (wrong for -): w=(0,2).
        // (1,0)-: 0 wrong, w=(-1,2). 2 right. -1 right. -1 right. Five updates.
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]).unwrap();
        let labels = [Label::Negative, Label::Positive, Label::Negative];
        let fit = BatchPerceptron::params().check().unwrap().fit(&points, &labels).unwrap();
        assert_eq!(fit.halfspace.normal(), [-1.0, 2.0]);
        assert_eq!((fit.updates, fit.status), (5, BatchStatus::Converged));
        // Inner products: 1 + 2 + 1 + 2 + 1 up to the last update, then 3 clean ones.
        assert_eq!(fit.passes, 10.0 / 3.0);
    }

    #[test]
    fn every_pick_meets_the_bound_and_converges() {
        let tight = perceptron_tight(30).unwrap();
        for pick in PICKS {
            let learner = BatchPerceptron::params().pick(pick).check().unwrap();
            let fit = learner.fit(tight.points(), tight.labels()).unwrap();
            assert_eq!(fit.status, BatchStatus::Converged);
            assert_eq!(fit.halfspace.label_all(tight.points()).unwrap(), tight.labels());
            assert_eq!(fit.updates, 30);
            assert!((bounds::batch_perceptron_updates(1.0, tight.margin()) - 30.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_cap_is_exact() {
        let tight = perceptron_tight(5).unwrap();
        let fit = |cap| {
            let learner = BatchPerceptron::params().max_updates(cap).check().unwrap();
            learner.fit(tight.points(), tight.labels()).unwrap()
        };
        assert_eq!((fit(4).updates, fit(4).status), (4, BatchStatus::CapReached));
        assert_eq!((fit(5).updates, fit(5).status), (5, BatchStatus::Converged));
    }

    #[test]
    fn bad_input_is_typed() {
        assert!(BatchPerceptron::params().max_updates(0).check().is_err());
        let learner = BatchPerceptron::params().check().unwrap();
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(learner.fit(&none, &[]), Err(InputError::Empty.into()));
        let one = Points::new(vec![1.0], 1).unwrap();
        assert!(learner.fit(&one, &[]).is_err());
        let huge = Points::new(vec![1e200], 1).unwrap();
        for pick in PICKS {
            let learner = BatchPerceptron::params().pick(pick).check().unwrap();
            assert_eq!(learner.fit(&huge, &[Label::Negative]), Err(OnlineError::Overflow));
        }
    }
}
