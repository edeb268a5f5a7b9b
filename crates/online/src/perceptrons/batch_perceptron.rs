//! The batch perceptron.

use super::batch::{BatchFit, BatchParams, UpdateLoop};
use halfspaces_linalg::{FitSample, InputError, Label, PointSet};

/// The batch perceptron: start with w = 0; while some point has sign(w · x) != y, set w += y x.
///
/// *Guarantee.* Suppose that every point has ‖x‖ <= R, and that a unit w* has y (w* · x) >= γ > 0 on every point. Then,
/// for every choice of the violated points, the learner stops after at most (R/γ)² updates with a halfspace that labels
/// every point correctly ([`crate::bounds::batch_perceptron_updates`]). On points that no halfspace separates, it stops
/// at the cap on updates and reports this.
///
/// *Cost.* O(d) memory in addition to the points; at most O(n d (R/γ)²) time. In practice, the learner needs a few
/// passes with [`crate::Pick::Cyclic`]. With [`crate::Pick::Worst`] each update costs one fast scan of all points.
///
/// *When to use it.* For points in memory that are probably separable. [`crate::MarginPerceptron`] takes up to three
/// times as many updates and guarantees a third of the margin. For points that no halfspace separates, see
/// `halfspaces-pac`.
///
/// *Source.* Harvey18 Algorithm 1 and Theorem 1.1, which assumes ‖x‖ = 1. Claims: K4, K4s.
///
/// ```
/// use halfspaces_linalg::{Classifier, FitSample, Label, Params, Points, Termination};
/// use halfspaces_online::BatchPerceptron;
/// let points = Points::from_rows(&[[1.0, 0.2], [-1.0, 0.3]])?;
/// let labels = [Label::Positive, Label::Negative];
/// let learner = BatchPerceptron::params().max_updates(100).check()?;
/// let fit = learner.fit(&points, &labels)?;
/// assert_eq!(fit.termination(), Termination::Converged);
/// assert_eq!(fit.label_all(&points)?, labels);
///
/// // The same point with both labels: no halfspace exists, and the run stops at the cap.
/// let twice = Points::from_rows(&[[1.0, 0.0], [1.0, 0.0]])?;
/// assert_eq!(learner.fit(&twice, &labels)?.termination(), Termination::CapReached { cap: 100 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchPerceptron(UpdateLoop);

impl BatchPerceptron {
    /// The default parameters.
    pub fn params() -> BatchParams<Self> {
        BatchParams::new(BatchPerceptron)
    }
}

impl FitSample for BatchPerceptron {
    type Model = BatchFit;
    type Error = InputError;

    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<BatchFit, InputError> {
        self.0.run(points, labels, |value, y| Label::from_sign(value) != y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pick, bounds};
    use halfspaces_data::perceptron_tight;
    use halfspaces_linalg::{Classifier, Params, Points, Termination};

    const PICKS: [Pick; 3] = [Pick::Cyclic, Pick::First, Pick::Worst];

    #[test]
    fn worked_by_hand() {
        // Cyclic order, starting at w=0. Point (1,0) with label - is wrong, so w=(-1,0). (0,1) with label + has value 0
        // and is right. (-1,-1) with label - has value 1 and is wrong, so w=(0,1). Then (1,0) has value 0 and is wrong,
        // so w=(-1,1). (0,1) has value 1 and is right; (-1,-1) has value 0 and is wrong, so w=(0,2). (1,0) has value 0
        // and is wrong, so w=(-1,2). The values are now 2, -1 and -1, which are all right. That makes five updates.
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]).unwrap();
        let labels = [Label::Negative, Label::Positive, Label::Negative];
        let fit = BatchPerceptron::params().check().unwrap().fit(&points, &labels).unwrap();
        assert_eq!(fit.halfspace().normal(), [-1.0, 2.0]);
        assert_eq!((fit.updates(), fit.termination()), (5, Termination::Converged));
        // There are 1 + 2 + 1 + 2 + 1 inner products up to the last update, and then 3 without a violation.
        assert_eq!(fit.passes(), 10.0 / 3.0);
    }

    #[test]
    fn every_pick_meets_the_bound_and_converges() {
        let tight = perceptron_tight(30).unwrap();
        for pick in PICKS {
            let learner = BatchPerceptron::params().pick(pick).check().unwrap();
            let fit = learner.fit(tight.points(), tight.labels()).unwrap();
            assert_eq!(fit.termination(), Termination::Converged);
            assert_eq!(fit.halfspace().label_all(tight.points()).unwrap(), tight.labels());
            assert_eq!(fit.updates(), 30);
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
        assert_eq!(
            (fit(4).updates(), fit(4).termination()),
            (4, Termination::CapReached { cap: 4 })
        );
        assert_eq!((fit(5).updates(), fit(5).termination()), (5, Termination::Converged));
    }

    #[test]
    fn bad_input_is_typed() {
        assert!(BatchPerceptron::params().max_updates(0).check().is_err());
        let learner = BatchPerceptron::params().check().unwrap();
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(learner.fit(&none, &[]), Err(InputError::Empty));
        let one = Points::new(vec![1.0], 1).unwrap();
        assert!(learner.fit(&one, &[]).is_err());
        let huge = Points::new(vec![1e200], 1).unwrap();
        for pick in PICKS {
            let learner = BatchPerceptron::params().pick(pick).check().unwrap();
            assert_eq!(
                learner.fit(&huge, &[Label::Negative]),
                Err(InputError::Overflow { row: 0 })
            );
        }
    }
}
