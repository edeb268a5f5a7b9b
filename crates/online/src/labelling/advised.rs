//! A session that starts from the predictions of a given model. Part of `LabellingSession`. Claims: none.
//!
//! Two predictors compete: the given model, which does not change, and the model of the session, which learns. The
//! predictor with fewer errors on the answers so far leads: it chooses the question and predicts. The given model leads
//! if both have the same number of errors, or if there are fewer than ten answers. The errors of the session's model
//! are leave-one-out errors: each answer is predicted from all other answers.

use super::advice::Advice;
use super::model::Errors;
use super::session::{LabellingQuestion, LabellingSession};
use crate::error::OnlineError;
use halfspaces_linalg::InputError;

/// The number of answers that the session's own model needs before it can lead, because leave-one-out errors on fewer
/// answers are unreliable.
const MIN_ANSWERS: usize = 10;

impl LabellingSession {
    /// Takes the predictions of a given model for the points of the pool: for each point the class and its probability.
    /// On the answers so far, the session compares the errors of these predictions with the leave-one-out errors of its
    /// own model. The given predictions lead while they have no more errors than the session's own model, or while
    /// there are fewer than ten answers. In this case, the session asks about the point with the largest given
    /// probability and predicts the given class. The predictions are lost when points are added or a session is
    /// resumed; call this function again afterwards.
    ///
    /// *Guarantee.* There is none; this is a heuristic. A useless model causes additional corrections until it has more
    /// errors than the session's model.
    ///
    /// ```
    /// use halfspaces_linalg::{Params, Points};
    /// use halfspaces_online::Labelling;
    /// let points = Points::from_rows(&[[1.0], [-2.0], [3.0]])?;
    /// let mut session = Labelling::params(2).check()?.session(&points)?;
    /// session.advise(&[(1, 0.8), (0, 0.7), (1, 0.9)])?;
    /// let first = session.next().expect("nothing is labelled");
    /// assert_eq!((first.index, first.class, first.probability), (2, 1, 0.9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`] if there is not exactly one prediction for each point;
    /// [`OnlineError::UnknownClass`]; an [`InputError`] if a probability is not between 0 and 1.
    pub fn advise(&mut self, predictions: &[(usize, f64)]) -> Result<(), OnlineError> {
        InputError::check_len(predictions.len(), self.model.len())?;
        for (class, probability) in predictions {
            self.check_class(*class)?;
            let is_probability = (0.0..=1.0).contains(probability);
            InputError::check_state(is_probability, "a probability must be between 0 and 1")?;
        }
        self.advice = Some(Advice { predictions: predictions.to_vec(), leads: false });
        self.compare_advice();
        self.close();
        Ok(())
    }

    /// Decides which model leads. Called whenever the answers change.
    pub(super) fn compare_advice(&mut self) {
        let Some(advice) = &mut self.advice else { return };
        advice.leads = self.answers.len() < MIN_ANSWERS
            || advice.wrong(&self.answers) <= self.model.errors().wrong_left_out;
    }

    /// The given model, if it leads.
    fn leader(&self) -> Option<&Advice> {
        self.advice.as_ref().filter(|advice| advice.leads)
    }

    /// Whether the predictions of the given model are used.
    #[must_use]
    pub fn follows_advice(&self) -> bool {
        self.leader().is_some()
    }

    /// The given prediction for a point, if the given model leads.
    pub(super) fn advised(&self, index: usize) -> Option<LabellingQuestion> {
        let (class, probability) = self.leader()?.predictions[index];
        Some(LabellingQuestion { index, class, probability })
    }

    /// The point whose given prediction is surest, among the points without an answer for which `allowed` is true. Ties
    /// go to the first point. Returns `None` if the given model does not lead, or if there is no such point.
    pub(super) fn surest_advised(&self, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        let predictions = &self.leader()?.predictions;
        let open = (0..predictions.len()).filter(|i| self.model.class(*i).is_none() && allowed(*i));
        // If there are several maxima, `max_by` returns the last one.
        open.rev().max_by(|a, b| predictions[*a].1.total_cmp(&predictions[*b].1))
    }

    /// The actual and the expected errors of the leading model.
    pub(super) fn errors(&self) -> Errors {
        let own = self.model.errors();
        let Some(advice) = self.leader() else { return own };
        let doubt = |index: usize| 1.0 - advice.predictions[index].1;
        let open = (0..self.model.len()).filter(|i| self.model.class(*i).is_none());
        Errors {
            stated: open.map(doubt).sum(),
            wrong_left_out: advice.wrong(&self.answers),
            stated_left_out: self.answers.iter().map(|answer| doubt(answer.index)).sum(),
            factor: 1.0,
            ..own
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labelling;
    use halfspaces_linalg::{Params, Points};

    /// Points on a line. The class is 1 for x >= 0 and 0 otherwise.
    fn line(n: usize) -> (Points, Vec<usize>) {
        let x: Vec<f64> = (0..n).map(|i| ((i * 37 % n) as f64 - n as f64 / 2.0) / 10.0).collect();
        let classes = x.iter().map(|x| usize::from(*x >= 0.0)).collect();
        (Points::new(x, 1).unwrap(), classes)
    }

    fn session(points: &Points, advice: &[(usize, f64)]) -> LabellingSession {
        let mut session = Labelling::params(2).check().unwrap().session(points).unwrap();
        session.advise(advice).unwrap();
        session
    }

    /// Labels the pool; returns the points in the order of the questions, and the number of corrections.
    fn play(mut session: LabellingSession, truth: &[usize]) -> (Vec<usize>, usize) {
        let mut order = Vec::new();
        while let Some(question) = session.next() {
            order.push(question.index);
            session.answer(truth[question.index]).unwrap();
        }
        (order, session.progress().corrections)
    }

    /// A model without errors leads until the end, and the questions follow the order of its probabilities.
    #[test]
    fn a_perfect_model_is_followed() {
        let (points, truth) = line(60);
        let probability = |i: usize| 0.5 + (i * 7 % 60) as f64 / 120.0;
        let advice: Vec<(usize, f64)> = (0..60).map(|i| (truth[i], probability(i))).collect();
        let (order, corrections) = play(session(&points, &advice), &truth);
        assert_eq!(corrections, 0);
        assert!(order.is_sorted_by(|a, b| probability(*a) > probability(*b)));
        // If all probabilities are equal, the session asks about the points in order.
        let flat: Vec<(usize, f64)> = (0..60).map(|i| (truth[i], 0.9)).collect();
        assert!(play(session(&points, &flat), &truth).0.is_sorted());
    }

    /// The session follows even a model that is always wrong, until its own model has fewer errors.
    #[test]
    fn a_useless_model_is_left() {
        let (points, truth) = line(60);
        let alone = Labelling::params(2).check().unwrap().session(&points).unwrap();
        let (_, alone) = play(alone, &truth);
        let advice: Vec<(usize, f64)> = truth.iter().map(|class| (1 - class, 0.9)).collect();
        let (_, corrections) = play(session(&points, &advice), &truth);
        assert!(corrections <= alone + 8, "{corrections} {alone}");
    }

    /// The given model leads if both models have the same number of errors, and a withdrawn answer no longer counts.
    #[test]
    fn the_model_with_fewer_errors_leads() {
        let (points, truth) = line(60);
        let mut advice: Vec<(usize, f64)> = truth.iter().map(|class| (*class, 0.9)).collect();
        let known: Vec<(usize, usize)> = (0..40).map(|i| (i, truth[i])).collect();
        let own = {
            let mut session = session(&points, &advice);
            session.tell(&known).unwrap();
            session.model.errors().wrong_left_out
        };
        // The given model has as many errors as the session's own model, and then one more.
        advice.iter_mut().take(own).for_each(|(class, _)| *class = 1 - *class);
        let mut equal = session(&points, &advice);
        equal.tell(&known).unwrap();
        assert!(equal.follows_advice());
        let stated: f64 = (0..60).filter(|i| equal.class(*i).is_none()).map(|_| 0.1).sum();
        let errors = equal.errors();
        assert!(
            (errors.stated - stated).abs() < 1e-12 && errors.wrong_left_out == own,
            "{errors:?}"
        );
        assert!((errors.stated_left_out - 4.0).abs() < 1e-12 && errors.open == 20);
        advice[own].0 = 1 - advice[own].0;
        let mut more = session(&points, &advice);
        more.tell(&known).unwrap();
        assert!(!more.follows_advice());
        more.withdraw(own).unwrap();
        assert!(more.follows_advice(), "the error is gone");
        assert_eq!(more.predict(own).unwrap().class, advice[own].0);
        more.add_points(&points).unwrap();
        assert!(!more.follows_advice());
    }

    /// However wrong the given model is, it leads until there are ten answers.
    #[test]
    fn few_answers_decide_nothing() {
        let (points, truth) = line(60);
        let advice: Vec<(usize, f64)> = truth.iter().map(|class| (1 - class, 0.9)).collect();
        for (answers, follows) in [(9, true), (10, false)] {
            let mut session = session(&points, &advice);
            let known: Vec<(usize, usize)> = (0..answers).map(|i| (i, truth[i])).collect();
            session.tell(&known).unwrap();
            assert_eq!(session.follows_advice(), follows, "{answers}");
        }
    }

    #[test]
    fn invalid_predictions_are_refused() {
        let (points, _) = line(4);
        let mut session = Labelling::params(2).check().unwrap().session(&points).unwrap();
        assert!(session.advise(&[(0, 0.5); 3]).is_err());
        for bad in [(2, 0.5), (0, 1.5), (0, -0.1), (0, f64::NAN)] {
            assert!(session.advise(&[(0, 1.0), (0, 0.0), (1, 0.5), bad]).is_err(), "{bad:?}");
        }
        assert!(!session.follows_advice());
    }
}
