//! The answers that disagree with the model. Part of `LabellingSession`. Claims: none.

use super::doubt::Doubt;
use super::session::LabellingSession;

/// With fewer answers than this, the prediction of an answer from all others is too poor.
const MIN_ANSWERS: usize = 10;

impl LabellingSession {
    /// The answers that differ from their predictions, where each answer is predicted from all the others. The least
    /// probable answers come first. At most `count` answers are returned. Some of them may be wrong, so a person should
    /// look at them again. Returns an empty list if there are fewer than ten answers.
    ///
    /// Each posterior of the model is corrected for the answer that is left out, but the weights of the posteriors are
    /// computed with all answers. In a large wide pool, only learned answers are compared; see
    /// [`capacity`](LabellingSession::capacity).
    #[must_use]
    pub fn doubts(&self, count: usize) -> Vec<Doubt> {
        if self.answers.len() < MIN_ANSWERS {
            return Vec::new();
        }
        let mut doubts = self.model.doubts();
        doubts.retain(|doubt| doubt.predicted != doubt.class);
        doubts.sort_by(|a, b| a.probability.total_cmp(&b.probability).then(a.index.cmp(&b.index)));
        doubts.truncate(count);
        doubts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labelling;
    use halfspaces_linalg::{Params, Points, RngStream, rng_for};
    use rand::RngExt;

    /// Groups of points around the corners of a polygon, with some wrong answers.
    fn session(classes: usize, wrong: &[usize]) -> LabellingSession {
        let mut rng = rng_for(RngStream::CALLER, 3);
        let corner = |class: usize| 6.3 * class as f64 / classes as f64;
        let values = (0..60).flat_map(|i| {
            let angle = corner(i % classes);
            [3.0 * angle.cos() + rng.random::<f64>(), 3.0 * angle.sin() + rng.random::<f64>()]
        });
        let points = Points::new(values.collect(), 2).unwrap();
        let labelling = Labelling::params(classes).landmarks(20).check().unwrap();
        let mut session = labelling.session(&points).unwrap();
        let class = |i: usize| (i + usize::from(wrong.contains(&i))) % classes;
        session.tell(&(0..50).map(|i| (i, class(i))).collect::<Vec<_>>()).unwrap();
        session
    }

    /// Fewer than ten answers are never doubted, even if they differ strongly from their predictions.
    #[test]
    fn few_answers_are_not_doubted() {
        for (answers, doubted) in [(9, false), (10, true)] {
            let mut session = session(2, &[7]);
            for index in answers..50 {
                session.withdraw(index).unwrap();
            }
            assert_eq!(session.answers().len(), answers);
            assert_eq!(!session.doubts(10).is_empty(), doubted, "{answers}");
        }
    }

    /// Wrong answers come first. For each of them, a model without this answer predicts the same class, with about the
    /// same probability.
    #[test]
    fn wrong_answers_are_doubted_as_a_model_without_them_does() {
        for classes in [2, 3] {
            let wrong = [7, 20, 31];
            let session = session(classes, &wrong);
            let doubts = session.doubts(10);
            assert_eq!(doubts.len(), 3, "{doubts:?}");
            assert!(doubts.is_sorted_by(|a, b| a.probability <= b.probability));
            for doubt in &doubts {
                assert!(wrong.contains(&doubt.index));
                assert_eq!(doubt.predicted, doubt.index % classes);
                let mut without = session.clone();
                without.withdraw(doubt.index).unwrap();
                let again = without.predict(doubt.index).unwrap();
                assert_eq!(again.class, doubt.predicted);
                let apart = (1.0 - again.probability - doubt.probability).abs();
                assert!(apart < 0.05, "{again:?} {doubt:?}");
            }
            assert_eq!(session.doubts(2), doubts[..2]);
        }
        assert_eq!(super::tests::session(3, &[]).doubts(10), []);
    }
}
