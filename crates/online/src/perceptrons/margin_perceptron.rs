//! The margin perceptron.

use super::batch::{BatchFit, BatchParams, UpdateLoop};
use halfspaces_linalg::{FitSample, InputError, Label, PointSet};

/// The margin perceptron: start with w = 0; while some point is misclassified or has |w · x| <= R², set
/// w += y x, where R = max ‖x‖.
///
/// *Guarantee.* If a unit w* has y (w* · x) >= γ > 0 on every point, the learner stops after at most 3 (R/γ)² updates
/// ([`crate::bounds::margin_perceptron_updates`]), whichever violated points it chooses. The resulting halfspace labels
/// every point correctly with a margin of at least γ/3. If no halfspace separates the points, the learner stops at the
/// cap on updates.
///
/// *Cost.* O(d) memory in addition to the points; at most O(n d (R/γ)²) time.
///
/// *When to use it.* For separable points in memory, if the margin of the result matters. [`crate::Alma`] comes closer
/// to the largest margin, and [`crate::HardMargin`] computes the largest margin.
///
/// *Source.* Harvey18 Algorithm 2 and Theorem 2.1, which assumes ‖x‖ = 1 and the threshold 1. With the threshold R²,
/// this learner is equivalent to the source's algorithm applied to x/R (substitute w = R w'), so scaling the data
/// changes nothing. The same proof covers points shorter than R: an update increases ‖w‖² by at most 2R² + ‖x‖². DKTZ23
/// calls a different update, `w -= (w·x) x`, "margin-perceptron". Claims: K5, K5s.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points, Termination};
/// use halfspaces_online::MarginPerceptron;
/// let points = Points::from_rows(&[[0.8, 0.6], [-0.6, 0.8], [-1.0, 0.0]])?;
/// let labels = [Label::Positive, Label::Negative, Label::Negative];
/// let fit = MarginPerceptron::params().check()?.fit(&points, &labels)?;
/// assert_eq!(fit.termination(), Termination::Converged);
/// // The largest margin here is sin 45°; the boundary then bisects the first two points.
/// assert!(fit.halfspace().margin_on(&points, &labels)? >= 0.5f64.sqrt() / 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarginPerceptron(UpdateLoop);

impl MarginPerceptron {
    /// The default parameters.
    pub fn params() -> BatchParams<Self> {
        BatchParams::new(MarginPerceptron)
    }
}

impl FitSample for MarginPerceptron {
    type Model = BatchFit;
    type Error = InputError;

    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<BatchFit, InputError> {
        let radius = points.max_norm();
        let threshold = radius * radius;
        let violates = |value: f64, y| Label::from_sign(value) != y || value.abs() <= threshold;
        self.0.run(points, labels, violates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pick, bounds};
    use halfspaces_data::{MarginBall, Marginal, Realizable, perceptron_tight, random_target};
    use halfspaces_linalg::{Classifier, Params, Points, Termination};

    const PICKS: [Pick; 3] = [Pick::Cyclic, Pick::First, Pick::Worst];

    #[test]
    fn worked_by_hand() {
        // There is one point, x = 1 with label -1. With w = 0 it is misclassified, with w = -1 its margin is too small
        // (|w·x| = 1 <= 1), and with w = -2 its margin is large enough.
        let one = Points::new(vec![1.0], 1).unwrap();
        let fit = MarginPerceptron::params().check().unwrap().fit(&one, &[Label::Negative]);
        let fit = fit.unwrap();
        assert_eq!((fit.halfspace().normal(), fit.updates()), (&[-2.0][..], 2));
        // The tight instance of the perceptron takes 2d updates, which is within 3/γ² = 3d.
        let tight = perceptron_tight(12).unwrap();
        let fit = MarginPerceptron::params().check().unwrap();
        assert_eq!(fit.fit(tight.points(), tight.labels()).unwrap().updates(), 24);
    }

    #[test]
    fn every_pick_gets_a_third_of_the_margin() {
        for seed in 0..20 {
            let target = random_target(8, seed).unwrap();
            let points = MarginBall::new(&target, 0.2).unwrap().sample(300, seed + 100).unwrap();
            let pool = Realizable::new(points, target).unwrap();
            for pick in PICKS {
                let learner = MarginPerceptron::params().pick(pick).check().unwrap();
                let fit = learner.fit(pool.points(), pool.labels()).unwrap();
                assert_eq!(fit.termination(), Termination::Converged);
                let margin = fit.halfspace().margin_on(pool.points(), pool.labels()).unwrap();
                assert!(margin >= bounds::margin_perceptron_margin(pool.margin()));
                let radius = pool.points().max_norm();
                let most = bounds::margin_perceptron_updates(radius, pool.margin());
                assert!(fit.updates() as f64 <= most);
            }
        }
    }

    #[test]
    fn scaling_the_data_changes_nothing() {
        let target = random_target(4, 1).unwrap();
        let points = MarginBall::new(&target, 0.1).unwrap().sample(200, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let learner = MarginPerceptron::params().check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        for power in [-40, 3, 60] {
            // Powers of two scale without rounding, so the runs agree exactly.
            let scale = 2f64.powi(power);
            let scaled = points.as_slice().iter().map(|v| v * scale).collect();
            let scaled = learner.fit(&Points::new(scaled, 4).unwrap(), &labels).unwrap();
            assert_eq!(scaled.updates(), fit.updates());
            let back: Vec<f64> = scaled.halfspace().normal().iter().map(|v| v / scale).collect();
            assert_eq!(back, fit.halfspace().normal());
        }
    }

    #[test]
    fn bad_input_and_hopeless_data_are_typed() {
        assert!(MarginPerceptron::params().max_updates(0).check().is_err());
        let learner = MarginPerceptron::params().max_updates(50).check().unwrap();
        assert_eq!(learner.fit(&Points::new(vec![], 1).unwrap(), &[]), Err(InputError::Empty));
        let huge = Points::new(vec![1e200], 1).unwrap();
        assert_eq!(learner.fit(&huge, &[Label::Negative]), Err(InputError::Overflow { row: 0 }));
        let tiny = Points::new(vec![1e-170], 1).unwrap();
        assert_eq!(learner.fit(&tiny, &[Label::Negative]), Err(InputError::Underflow { row: 0 }));
        // A zero point never has a margin.
        let zero = Points::from_rows(&[[1.0], [0.0]]).unwrap();
        let fit = learner.fit(&zero, &[Label::Positive; 2]).unwrap();
        assert_eq!((fit.updates(), fit.termination()), (4, Termination::Stalled));
        // Neither does a point with both labels.
        let both = Points::from_rows(&[[1.0], [1.0]]).unwrap();
        let fit = learner.fit(&both, &[Label::Positive, Label::Negative]).unwrap();
        assert_eq!((fit.updates(), fit.termination()), (50, Termination::CapReached { cap: 50 }));
    }
}
