//! The Winnow algorithm.

use super::weights::Weights;
use crate::protocol::{OnlineLearner, Prediction};
use halfspaces_linalg::{Classifier, InputError, Label, RowView};

/// Winnow, for monotone disjunctions over {0,1}^n.
///
/// All weights start at 1, and the learner predicts +1 iff Σ w_i x_i >= n. On a mistake it doubles the weights of the
/// true variables if the label is +1 and halves these weights if the label is -1.
///
/// *Guarantee.* If the labels are those of a monotone disjunction of k variables, the learner makes at most 2 + 3k(1 +
/// lg n) mistakes for every order of the points ([`crate::bounds::winnow_mistakes`]). This is logarithmic in the number
/// of irrelevant variables; the perceptron's bound is linear in it.
///
/// *Cost.* O(n) memory; O(nonzeros) time per point.
///
/// *When to use it.* For many Boolean features, few of which are relevant. Points with coordinates other than 0 and 1
/// are rejected. For other concepts over few variables, [`crate::Halving`] has the best bound.
///
/// *Source.* Littlestone 1988, with the usual threshold n and factor 2. Claims: K11.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{OnlineLearner, Winnow};
/// let mut learner = Winnow::new(4)?;
/// let x = DenseRow::new(&[1.0, 0.0, 0.0, 1.0])?;
/// assert_eq!(learner.observe(x, Label::Positive)?.label, Label::Negative); // 2 < 4: a mistake
/// assert_eq!(learner.weights(), [2.0, 1.0, 1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Winnow {
    weights: Weights,
    updates: u64,
}

impl Winnow {
    /// Starts with the weight 1 for each of the `variables` variables.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`].
    pub fn new(variables: usize) -> Result<Self, InputError> {
        let mut weights = Weights::zero(variables)?;
        weights.as_mut_slice().fill(1.0);
        Ok(Winnow { weights, updates: 0 })
    }

    /// The weights, all positive.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.weights.as_slice()
    }
}

#[allow(clippy::float_cmp, reason = "0 and 1 are exact")]
fn check_boolean<R: RowView>(x: R) -> Result<(), InputError> {
    match x.entries().find(|(_, v)| *v != 0.0 && *v != 1.0) {
        Some((column, value)) => Err(InputError::NotBoolean { column, value }),
        None => Ok(()),
    }
}

/// The decision value is Σ w_i x_i - n.
impl Classifier for Winnow {
    fn dim(&self) -> usize {
        self.weights.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        self.weights.check(x)?;
        check_boolean(x)?;
        Ok(self.weights.value(x)? - self.weights.dim() as f64)
    }
}

impl OnlineLearner for Winnow {
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        self.weights.check(x)?;
        check_boolean(x)?;
        let mistake = prediction.is_wrong(truth);
        if mistake {
            let factor = if truth == Label::Positive { 2.0 } else { 0.5 };
            for (column, value) in x.entries() {
                if value > 0.0 {
                    self.weights.as_mut_slice()[column] *= factor;
                }
            }
            self.updates += 1;
        }
        Ok(mistake)
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RandomOrder, SmallestMarginMistake, bounds, run};
    use halfspaces_linalg::{
        BooleanConcept, BooleanPoint, DenseRow, Disjunction, PointSet, Points,
    };
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn irrelevant_variables_cost_only_their_logarithm() {
        let (n, k) = (60, 3);
        let target = Disjunction::new(n, 0b1001_0000_0010, 0).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        // Few variables are true, so that both labels occur.
        let rows: Vec<Vec<f64>> = (0..1500)
            .map(|_| (0..n).map(|_| f64::from(u8::from(rng.random_bool(0.2)))).collect())
            .collect();
        let points = Points::from_rows(&rows).unwrap();
        let labels: Vec<Label> =
            points.rows().map(|x| target.label(BooleanPoint::from_row(x).unwrap())).collect();
        let bound = bounds::winnow_mistakes(k, n);
        let (_, random) =
            run(Winnow::new(n).unwrap(), &points, &labels, RandomOrder::new(2)).unwrap();
        let adversary = SmallestMarginMistake::new(labels.clone());
        let (learner, hard) = run(Winnow::new(n).unwrap(), &points, &labels, adversary).unwrap();
        assert!(random.mistakes() > 3 && random.mistakes() as f64 <= bound);
        assert!(hard.mistakes() as f64 <= bound);
        assert!(learner.weights().iter().all(|w| *w > 0.0));
    }

    #[test]
    fn points_off_the_cube_are_refused() {
        let mut learner = Winnow::new(2).unwrap();
        let x = DenseRow::new(&[1.0, -1.0]).unwrap();
        let error = InputError::NotBoolean { column: 1, value: -1.0 };
        assert_eq!(learner.observe(x, Label::Positive), Err(error));
        assert_eq!(learner, Winnow::new(2).unwrap());
    }
}
