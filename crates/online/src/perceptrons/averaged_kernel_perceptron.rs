//! The averaged kernel perceptron.

use super::kernel_perceptron::KernelPerceptron;
use super::weights::finite;
use crate::Kernel;
use crate::protocol::{OnlineLearner, Prediction};
use halfspaces_linalg::{Classifier, InputError, Label, RowView};

/// The averaged kernel perceptron: it learns as [`KernelPerceptron`] does, and classifies with the mean of its
/// sums over all rounds, in which a support counts for the rounds since its mistake.
///
/// Under noise the last sum is ruined by the latest wrong labels; their mean is not.
///
/// *Guarantee.* While it learns, that of the kernel perceptron: at most max K(x,x)/γ² mistakes. The average has no
/// such proof for its sign.
///
/// *Cost.* As for the kernel perceptron: O(d) memory per support, O(d · supports) time per point, once more for a
/// label. Under noise supports grow with the rounds.
///
/// *When to use it.* Labels that a curved boundary explains, but for some wrong ones. On long streams use the averaged
/// perceptron on the features of a few hundred landmarks instead, a [`Transformed`](halfspaces_features::Transformed)
/// learner: memory does not grow, and no support is dropped, which would ruin the mean.
///
/// *Source.* Freund and Schapire 1999, §2 and §4. Claims: none of its own.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Label};
/// use halfspaces_online::{AveragedKernelPerceptron, Kernel, OnlineLearner};
/// let mut learner = AveragedKernelPerceptron::new(1, Kernel::Linear)?;
/// let x = DenseRow::new(&[2.0])?;
/// learner.observe(x, Label::Negative)?; // mistake: the sum is -2x from the next round on
/// learner.observe(x, Label::Negative)?;
/// assert_eq!(learner.decision_value(x)?, -2.0); // the mean of 0 and -4
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "SavedAveragedKernelPerceptron"))]
pub struct AveragedKernelPerceptron {
    learner: KernelPerceptron,
    /// The round, from 1, of each support's mistake; oldest first.
    added: Vec<u64>,
    rounds: u64,
}

/// An [`AveragedKernelPerceptron`] before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct SavedAveragedKernelPerceptron {
    learner: KernelPerceptron,
    added: Vec<u64>,
    #[serde(deserialize_with = "crate::saved::count")]
    rounds: u64,
}

#[cfg(feature = "serde")]
impl TryFrom<SavedAveragedKernelPerceptron> for AveragedKernelPerceptron {
    type Error = InputError;

    fn try_from(saved: SavedAveragedKernelPerceptron) -> Result<Self, InputError> {
        let SavedAveragedKernelPerceptron { learner, added, rounds } = saved;
        let check = InputError::check_state;
        check(added.len() == learner.supports(), "one round per support")?;
        check(added.is_sorted_by(|a, b| a < b), "supports stand in the order of their rounds")?;
        check(added.first().is_none_or(|round| *round > 0), "rounds count from 1")?;
        check(added.last().is_none_or(|round| *round <= rounds), "a support of a later round")?;
        check(learner.updates() <= rounds, "more updates than rounds")?;
        Ok(AveragedKernelPerceptron { learner, added, rounds })
    }
}

impl AveragedKernelPerceptron {
    /// Starts without supports in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, kernel: Kernel) -> Result<Self, InputError> {
        let learner = KernelPerceptron::new(dim, kernel)?;
        Ok(AveragedKernelPerceptron { learner, added: Vec::new(), rounds: 0 })
    }

    /// Number of supports.
    #[must_use]
    pub fn supports(&self) -> usize {
        self.learner.supports()
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        self.learner.kernel()
    }
}

/// The value is Σ y_i (1 - r_i/T) K(x_i, x) after T rounds, r_i the round of a support's mistake: the mean, over all
/// rounds, of the sum they guessed with.
impl Classifier for AveragedKernelPerceptron {
    fn dim(&self) -> usize {
        self.learner.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        InputError::check_dim(self.dim(), x.dim())?;
        let rounds = self.rounds.max(1) as f64;
        let pairs = self.learner.signs().iter().zip(&self.added);
        let coefficients: Vec<f64> =
            pairs.map(|(y, added)| y * ((self.rounds - added) as f64 / rounds)).collect();
        finite(self.learner.sum_from(&coefficients, 0, x, x.norm_sq()))
    }
}

impl OnlineLearner for AveragedKernelPerceptron {
    /// By the present sum, not by the mean.
    fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
        self.learner.guess(x)
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        let mistake = self.learner.update(x, prediction, truth)?;
        self.rounds += 1;
        if mistake {
            self.added.push(self.rounds);
        }
        Ok(mistake)
    }

    fn updates(&self) -> u64 {
        self.learner.updates()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsGiven, AveragedPerceptron, run};
    use halfspaces_data::{Gaussian, Marginal};
    use halfspaces_features::{FeatureMap, Landmarks, Nystroem, RadialKernel, Transformed};
    use halfspaces_linalg::{PointSet, Points, RngStream, SparsePoints, rng_for};
    use proptest::prelude::*;
    use rand::RngExt;

    proptest! {
        /// With the linear kernel it is the averaged perceptron, mistake for mistake and value for value.
        #[test]
        fn the_linear_kernel_is_the_averaged_perceptron(
            rows in prop::collection::vec((prop::array::uniform4(-3i8..=3), any::<bool>()), 1..60),
        ) {
            let values = rows.iter().flat_map(|(x, _)| x.map(f64::from)).collect();
            let points = Points::new(values, 4).unwrap();
            let labels: Vec<Label> =
                rows.iter().map(|(_, y)| Label::from_sign(if *y { 1.0 } else { -1.0 })).collect();
            let kernel = AveragedKernelPerceptron::new(4, Kernel::Linear).unwrap();
            let (kernel, transcript) = run(kernel, &points, &labels, AsGiven::new()).unwrap();
            let plain = AveragedPerceptron::new(4).unwrap();
            let (plain, expected) = run(plain, &points, &labels, AsGiven::new()).unwrap();
            prop_assert_eq!(transcript, expected);
            let sparse = SparsePoints::from_dense(&points).unwrap();
            for (x, z) in points.rows().zip(sparse.rows()) {
                let value = kernel.decision_value(x).unwrap();
                prop_assert!((value - plain.decision_value(x).unwrap()).abs() < 1e-9);
                prop_assert_eq!(value, kernel.decision_value(z).unwrap());
            }
        }
    }

    /// Labels of a circle, a fifth of them wrong: the last sum errs often, the mean seldom, that of few features too.
    #[test]
    fn the_mean_survives_noise() {
        let mut rng = rng_for(RngStream::Caller, 1);
        let points = Gaussian::new(2, 1.0).unwrap().sample(3000, 1).unwrap();
        let clean: Vec<Label> =
            points.rows().map(|x| Label::from_sign(x.norm_sq() - 1.4)).collect();
        let flip = |y: &Label| if rng.random_bool(0.2) { -*y } else { *y };
        let noisy: Vec<Label> = clean.iter().map(flip).collect();
        let kernel = Kernel::Gaussian { scale: 2.0 };
        let landmarks = Landmarks::Uniform.choose(&points, 60, 1).unwrap();
        let map = Nystroem::new(landmarks, RadialKernel::gaussian(2.0).unwrap()).unwrap();
        let averaged = AveragedPerceptron::new(map.output_dim()).unwrap();
        let on_features = Transformed::new(map, averaged).unwrap();
        let error = |learner: &dyn Fn(usize) -> Label| {
            let wrong = (0..3000).filter(|&i| learner(i) != clean[i]).count();
            wrong as f64 / 3000.0
        };
        let row = |i| points.row(i).unwrap();
        let last = KernelPerceptron::new(2, kernel).unwrap();
        let (last, _) = run(last, &points, &noisy, AsGiven::new()).unwrap();
        let last = error(&|i| last.label(row(i)).unwrap());
        let mean = AveragedKernelPerceptron::new(2, kernel).unwrap();
        let (mean, _) = run(mean, &points, &noisy, AsGiven::new()).unwrap();
        assert!(mean.supports() > 500);
        let mean = error(&|i| mean.label(row(i)).unwrap());
        assert!(mean < 0.1 && last > 0.2, "{mean} {last}");
        let (bounded, _) = run(on_features, &points, &noisy, AsGiven::new()).unwrap();
        let bounded = error(&|i| bounded.label(row(i)).unwrap());
        assert!(bounded < 0.1, "{bounded}");
    }

    #[test]
    fn bad_input_is_typed() {
        let kernel = Kernel::Gaussian { scale: 1.0 };
        assert!(AveragedKernelPerceptron::new(0, kernel).is_err());
        let mut learner = AveragedKernelPerceptron::new(1, kernel).unwrap();
        let x = Points::new(vec![1.0, 2.0], 2).unwrap();
        assert!(learner.observe(x.row(0).unwrap(), Label::Positive).is_err());
        assert!(learner.decision_value(x.row(0).unwrap()).is_err());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_learner_goes_on_and_is_checked() {
        let points = Points::new(vec![1.0, -1.0, 2.0, -2.0], 1).unwrap();
        let [p, n] = [Label::Positive, Label::Negative];
        let learner = AveragedKernelPerceptron::new(1, Kernel::Linear).unwrap();
        let (learner, _) = run(learner, &points, &[n, n, p, n], AsGiven::new()).unwrap();
        let saved = serde_json::to_value(&learner).unwrap();
        let load = serde_json::from_value::<AveragedKernelPerceptron>;
        assert_eq!(load(saved.clone()).unwrap(), learner);
        let changes: [fn(&mut serde_json::Value); 4] = [
            |s| s["added"] = serde_json::json!([]),
            |s| s["added"][0] = 0.into(),
            |s| s["added"][0] = s["added"][1].clone(),
            |s| s["rounds"] = 1.into(),
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let mut changed = saved.clone();
            change(&mut changed);
            assert!(load(changed).is_err(), "change {i}");
        }
    }
}
