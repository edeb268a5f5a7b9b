//! The rounds of the perceptrons that move at mistakes alone: plain, averaged and voted differ only in what
//! they note down.
//!
//! *Source.* Kakade Theorem 4.1. Claims: K3, K3n.

/// `OnlineLearner` for a learner that guesses sign(w · x) with its `weights` w and has
/// three private methods: `correct(y, x)` is the round of a mistake, `survive(n)` counts n rounds without one,
/// and `mistakes()` says how many there were.
macro_rules! mistake_driven {
    ($learner:ty) => {
        /// A guess is that of the present weights.
        impl OnlineLearner for $learner {
            fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
                self.weights.value(x).map(Prediction::from_value)
            }

            #[inline]
            fn update<R: RowView>(
                &mut self,
                x: R,
                prediction: Prediction,
                truth: Label,
            ) -> Result<bool, InputError> {
                self.weights.check(x)?;
                let mistake = prediction.is_wrong(truth);
                if mistake {
                    $crate::scale::check_scale(x)?;
                    self.correct(truth.as_f64(), x);
                } else {
                    self.survive(1);
                }
                Ok(mistake)
            }

            fn updates(&self) -> u64 {
                self.mistakes()
            }

            #[inline]
            fn learn<R: RowView>(&mut self, x: R, truth: Label) -> Result<Prediction, InputError> {
                let prediction = Prediction::from_value(self.weights.sign(x)?);
                self.update(x, prediction, truth)?;
                Ok(prediction)
            }

            fn learn_pool<P: halfspaces_linalg::PointSet>(
                &mut self,
                points: &P,
                labels: &[Label],
            ) -> Result<$crate::Tally, $crate::PartialFitError<std::convert::Infallible>> {
                use super::look_ahead::{learn_pool_ahead, right};
                learn_pool_ahead(self, points, labels, |learner, ahead| {
                    let prefix = ahead.unchanged_prefix(&learner.weights, right);
                    learner.survive(prefix.rounds as u64);
                    prefix
                })
            }
        }
    };
}
pub(super) use mistake_driven;
