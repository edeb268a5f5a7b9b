//! The search for examples of a class. Part of `LabellingSession`. Claims: none.

use super::session::{LabellingQuestion, LabellingSession};
use crate::error::OnlineError;

/// A class with fewer answers than this is considered scarce.
const ENOUGH: usize = 20;
/// Until there are this many answers, no class is considered scarce, because the model first needs examples of some classes.
const FIRST: usize = 20;

impl LabellingSession {
    /// Questions about the points that are most likely to belong to the given class, in order of decreasing likelihood.
    /// There are at most `count` questions, all about points that have no answer and were not skipped.
    /// [`ask`](LabellingSession::ask) opens one of them.
    ///
    /// ```
    /// use halfspaces_linalg::{Params, Points};
    /// use halfspaces_online::Labelling;
    /// let points = Points::from_rows(&[[1.0], [-2.0], [1.5], [-1.8]])?;
    /// let mut session = Labelling::params(2).check()?.session(&points)?;
    /// session.tell(&[(0, 1), (1, 0)])?;
    /// let found = session.likeliest(0, 5)?;
    /// assert_eq!((found.len(), found[0].index), (2, 3));
    /// session.ask(found[0])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OnlineError::UnknownClass`].
    pub fn likeliest(
        &self,
        class: usize,
        count: usize,
    ) -> Result<Vec<LabellingQuestion>, OnlineError> {
        self.check_class(class)?;
        let mut skipped = vec![false; self.model.len()];
        self.skipped.iter().for_each(|i| skipped[*i] = true);
        let open = (0..self.model.len()).filter(|i| self.model.is_open(*i) && !skipped[*i]);
        let mut found: Vec<(f64, usize)> =
            open.map(|i| (self.model.score_of(i, class), i)).collect();
        let likelier = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if found.len() > count {
            found.select_nth_unstable_by(count, likelier);
            found.truncate(count);
        }
        found.sort_unstable_by(likelier);
        Ok(found.into_iter().map(|(_, index)| self.question(index)).collect())
    }

    /// The class with the fewest answers, if it has fewer than 20 answers. Ties go to the first class. Returns `None`
    /// before the session has 20 answers. To find a rare class, ask about the
    /// [`likeliest`](LabellingSession::likeliest) points of the scarce class while this function returns one.
    #[must_use]
    pub fn scarce_class(&self) -> Option<usize> {
        let mut counts = vec![0; self.classes()];
        self.answers.iter().for_each(|answer| counts[answer.class] += 1);
        scarce(&counts)
    }
}

fn scarce(counts: &[usize]) -> Option<usize> {
    let fewest = counts.iter().copied().min()?;
    let is_scarce = counts.iter().sum::<usize>() >= FIRST && fewest < ENOUGH;
    counts.iter().position(|count| *count == fewest).filter(|_| is_scarce)
}

#[cfg(test)]
mod tests {
    use super::super::wide::tests::texts;
    use super::*;
    use crate::Labelling;
    use halfspaces_linalg::Params;

    /// After 20 answers, some class is scarce until each class has 20 answers.
    #[test]
    fn the_least_common_class_is_scarce() {
        assert_eq!(scarce(&[19, 0, 0]), None);
        assert_eq!(scarce(&[20, 0, 0]), Some(1));
        assert_eq!(scarce(&[10, 9, 8]), Some(2));
        assert_eq!(scarce(&[30, 20, 19]), Some(2));
        assert_eq!(scarce(&[30, 20, 20]), None);
    }

    /// The points are the same as in a full sort, without answered and skipped points.
    #[test]
    fn the_likeliest_points_come_first() {
        let (points, truth) = texts(120, 5);
        let mut session = Labelling::params(3).check().unwrap().session(&points).unwrap();
        let known: Vec<(usize, usize)> = (0..20).map(|i| (i, truth[i])).collect();
        session.tell(&known).unwrap();
        session.ask(session.predict(50).unwrap()).unwrap();
        session.skip().unwrap();
        for class in 0..3 {
            let all = session.likeliest(class, 1000).unwrap();
            assert_eq!(all.len(), 99);
            let score = |q: &LabellingQuestion| session.model.score_of(q.index, class);
            assert!(all.is_sorted_by(|a, b| score(a) >= score(b)));
            assert!(all.iter().all(|q| q.index >= 20 && q.index != 50));
            assert_eq!(session.likeliest(class, 7).unwrap(), all[..7]);
            let of_class = all[..15].iter().filter(|q| truth[q.index] == class).count();
            assert!(of_class >= 12, "{class} {of_class}");
        }
        assert!(session.likeliest(3, 1).is_err());
        assert_eq!(session.scarce_class().map(|class| class < 3), Some(true));
    }
}
