//! The model of a labelling session as a learner, for experiments.

use super::model::Model;
use super::params::Labelling;
use crate::error::OnlineError;
use crate::protocol::{Prediction, Question, Round};
use crate::self_directed::{AnswerStatus, Pool, SelfDirectedLearner};
use halfspaces_linalg::{InputError, Label, PointSet};

/// The model of a [`LabellingSession`](crate::LabellingSession) as a [`SelfDirectedLearner`]. It is meant for pools
/// whose labels no halfspace explains, and for answers that may be wrong. The learner uses the model for narrow pools
/// even if the pool is wide.
///
/// The value of a prediction is the log odds of the positive label.
///
/// *Guarantee.* There is none; the learner is a heuristic. If the probabilities of the models were correct, predicting
/// with their mean would minimise the expected number of mistakes on each question. On real pools, the number of
/// corrections was measured and compared with that of logistic regression.
///
/// *Cost.* The cost is that of a [`LabellingSession`](crate::LabellingSession).
///
/// *When to use it.* For real pools. If some halfspace is known to fit and you need guarantees, use a
/// [`StrongLearner`](crate::StrongLearner).
///
/// *Source.* Ours; Rasmussen and Williams 2006, Gaussian Processes for Machine Learning. Claims: S10, S10n, S10s, S10c.
///
/// ```
/// use halfspaces_linalg::{Classifier, Params};
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{Labelling, label_pool};
/// let points = UnitSphere::new(5)?.sample(400, 1)?;
/// let labels = random_target(5, 2)?.label_all(&points)?;
/// let learner = Labelling::params(2).landmarks(50).check()?.learner()?;
/// let (_, transcript) = label_pool(learner, &points, &labels)?;
/// assert!(transcript.mistakes() <= 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SurestFirst {
    labelling: Labelling,
    /// `None` until the learner sees the pool.
    model: Option<Model>,
}

impl Labelling {
    /// The model as a [`SelfDirectedLearner`] for two classes.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for more than two classes.
    pub fn learner(self) -> Result<SurestFirst, InputError> {
        let classes = self.classes();
        InputError::check_parameter("classes", classes as f64, classes == 2, "2")?;
        Ok(SurestFirst { labelling: self, model: None })
    }
}

impl SurestFirst {
    fn model<P: PointSet>(&mut self, pool: &Pool<'_, P>) -> Result<&mut Model, OnlineError> {
        let model = match self.model.take() {
            Some(model) => {
                InputError::check_len(pool.points().len(), model.len())?;
                model
            }
            None => Model::new(self.labelling, pool.points())?,
        };
        Ok(self.model.insert(model))
    }
}

impl SelfDirectedLearner for SurestFirst {
    fn propose<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
    ) -> Result<Option<Question>, OnlineError> {
        let model = self.model(pool)?;
        Ok(model.surest(|_| true).map(|index| {
            let verdict = model.verdict(index);
            let label = Label::from_sign(if verdict.class == 1 { 1.0 } else { -1.0 });
            Question { index, prediction: Prediction::from_value(label.as_f64() * verdict.score) }
        }))
    }

    fn learn<P: PointSet>(&mut self, pool: &Pool<'_, P>, round: Round) -> Result<(), OnlineError> {
        let class = usize::from(round.truth == Label::Positive);
        self.model(pool)?.learn(round.index, class);
        Ok(())
    }

    /// The learner does not search for a halfspace that fits the answers.
    fn status<P: PointSet>(&self, _: &Pool<'_, P>) -> AnswerStatus {
        AnswerStatus::Undecided
    }
}
