//! One class against one other: a binary problem per pair, the class that wins most pairs wins.

use super::error::{Against, ClassesError, count};
use super::one_vs_rest::classes_of;
use super::scaled::Scaled;
use halfspaces_linalg::{
    Classifier, FitSample, InputError, Label, PointSet, RowView, Threads, load_checked,
};

/// Several classes by one binary classifier per pair of classes.
///
/// *What it computes.* For each pair a < b the binary learner's model of "a, not b" from the points of those two classes. A
/// point gets the class that wins most of its pairs; among those that win equally many, the one with the largest sum of
/// values, each in units of its mean size on the training points; then the lowest.
///
/// *Guarantee.* The binary learner's for each pair, no more: the class of a point wins all its pairs unless one of its
/// models errs, so the error is at most the sum of the errors on pairs with the true class. Heuristic beyond that.
///
/// *Cost.* k(k-1)/2 fits for k classes, together k - 1 times the points; a prediction asks every model. *When to use it:* for classes
/// that are separated pair by pair but not each from all others, such as those between two others;
/// [`OneVsRest`](crate::OneVsRest) is cheaper. *Claims: none.*
///
/// ```
/// use halfspaces_linalg::{Params, Points, Threads};
/// use halfspaces_pac::{LinearSvm, OneVsOne};
/// // The middle one of three classes on a line is no halfspace.
/// let points = Points::from_rows(&[[-5.0], [-4.0], [-0.1], [0.1], [4.0], [5.0]])?;
/// let learner = OneVsOne::new(LinearSvm::params().c(10.0).check()?);
/// let model = learner.fit(&points, &[0, 0, 1, 1, 2, 2], Threads::ONE)?;
/// assert_eq!(model.class_all(&points, Threads::ONE)?, [0, 0, 1, 1, 2, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OneVsOne<L> {
    learner: L,
}

/// What [`OneVsOne`] hands out.
///
/// ```
/// use halfspaces_linalg::{Params, PointSet, Points, Threads};
/// use halfspaces_pac::{LinearSvm, OneVsOne};
/// let points = Points::from_rows(&[[-1.0], [0.5], [2.0]])?;
/// let model = OneVsOne::new(LinearSvm::params().check()?).fit(&points, &[0, 0, 1], Threads::ONE)?;
/// assert_eq!((model.classes(), model.dim()), (2, 1));
/// assert_eq!(model.votes(points.row(0).expect("three points"))?[0].0, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OneVsOneModel<M> {
    classes: usize,
    /// Of the pairs (0, 1), (0, 2), (1, 2), (0, 3), .., positive for the lower class.
    models: Vec<Scaled<M>>,
}

/// The pairs of classes a < b in the order in which their models are kept.
fn pairs(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..classes).flat_map(|b| (0..b).map(move |a| (a, b)))
}

impl<L: FitSample + Sync> OneVsOne<L> {
    /// Over a binary learner.
    #[must_use]
    pub fn new(learner: L) -> Self {
        OneVsOne { learner }
    }

    /// Learns from points and their classes 0, 1, 2, .., each of which must occur; pairs are learned side by side on
    /// `threads`, on which the result does not depend.
    ///
    /// # Errors
    /// [`ClassesError`].
    pub fn fit<P: PointSet>(
        &self,
        points: &P,
        classes: &[usize],
        threads: Threads,
    ) -> Result<OneVsOneModel<L::Model>, ClassesError<L::Error>>
    where
        L::Model: Send,
        L::Error: Send,
    {
        let count = count(points.len(), classes)?;
        let mut rows_of = vec![Vec::new(); count];
        for (row, &class) in classes.iter().enumerate() {
            rows_of[class].push(row);
        }
        let of = |(a, b): (usize, usize)| {
            let mut rows = [&rows_of[a][..], &rows_of[b][..]].concat();
            rows.sort_unstable();
            let label = |row: &usize| {
                if classes[*row] == a { Label::Positive } else { Label::Negative }
            };
            let labels: Vec<Label> = rows.iter().map(label).collect();
            let points = points.select(&rows)?;
            let (class, against) = (a, Against::Class(b));
            let model = self.learner.fit(&points, &labels);
            let model = model.map_err(|source| ClassesError::Learner { class, against, source })?;
            Scaled::new(model, &points).map_err(ClassesError::Input)
        };
        let pairs: Vec<_> = pairs(count).collect();
        let models = threads.map_with(pairs.into_iter(), || (), |(), pair| of(pair));
        let models = models.into_iter().collect::<Result<_, ClassesError<L::Error>>>()?;
        Ok(OneVsOneModel { classes: count, models })
    }
}

impl<M: Classifier> OneVsOneModel<M> {
    /// Number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of coordinates of the points.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.models[0].model.dim()
    }

    /// Per class the pairs it wins, and the sum of its values in them in units of their mean sizes.
    ///
    /// # Errors
    /// As [`Classifier::decision_value`].
    pub fn votes<R: RowView>(&self, x: R) -> Result<Vec<(usize, f64)>, InputError> {
        let mut votes = vec![(0, 0.0); self.classes];
        for ((a, b), scaled) in pairs(self.classes).zip(&self.models) {
            let value = scaled.value(x)?;
            let winner = if Label::from_sign(value) == Label::Positive { a } else { b };
            votes[winner].0 += 1;
            votes[a].1 += value;
            votes[b].1 -= value;
        }
        Ok(votes)
    }

    /// The class of a point.
    ///
    /// # Errors
    /// As [`Classifier::decision_value`].
    pub fn class<R: RowView>(&self, x: R) -> Result<usize, InputError> {
        let mut best = (0, (0, f64::NEG_INFINITY));
        for (class, votes) in self.votes(x)?.into_iter().enumerate() {
            if votes > best.1 {
                best = (class, votes);
            }
        }
        Ok(best.0)
    }

    /// The class of every point.
    ///
    /// # Errors
    /// As [`Classifier::label_all`].
    pub fn class_all<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Vec<usize>, InputError>
    where
        M: Sync,
    {
        InputError::check_dim(self.dim(), points.dim())?;
        classes_of(points, threads, |x| self.class(x))
    }
}

load_checked!(OneVsOneModel<M: Classifier> { classes: usize, models: Vec<Scaled<M>> });

#[cfg(feature = "serde")]
impl<M: Classifier> OneVsOneModel<M> {
    fn check_saved(&self) -> Result<(), InputError> {
        let OneVsOneModel { classes, models } = self;
        let fits = *classes >= 2 && classes.checked_mul(classes - 1) == Some(2 * models.len());
        let rule = "at least 2, with one model per pair";
        InputError::check_parameter("classes", *classes as f64, fits, rule)?;
        Scaled::check_saved(models)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinearSvm;
    use crate::classes::error::tests::three_clusters;
    use halfspaces_linalg::{Halfspace, Params, Points};

    #[test]
    fn clusters_are_told_apart_on_any_number_of_threads() {
        let (points, classes) = three_clusters(300);
        let learner = OneVsOne::new(LinearSvm::params().check().unwrap());
        let model = learner.fit(&points, &classes, Threads::ONE).unwrap();
        assert_eq!(learner.fit(&points, &classes, Threads::new(2).unwrap()).unwrap(), model);
        let (fresh, truth) = three_clusters(999);
        let predicted = model.class_all(&fresh, Threads::ONE).unwrap();
        let wrong = predicted.iter().zip(&truth).filter(|(p, t)| p != t).count();
        assert!(wrong <= 5, "{wrong} of 999 wrong");
        let votes = model.votes(fresh.row(1).unwrap()).unwrap();
        assert_eq!(votes.iter().map(|(won, _)| won).sum::<usize>(), 3);
        assert!(votes.iter().map(|(_, value)| value).sum::<f64>().abs() < 1e-12);
    }

    /// 0 beats 1 by x, 2 beats 0 by y, and 1 beats 2 by y: one pair each, so the sums x - y, y - x and 0 decide.
    #[test]
    fn equal_votes_are_settled_by_the_values() {
        let unit = Points::from_rows(&[[1.0, 1.0]]).unwrap();
        let model = |w: [f64; 2]| Scaled::new(Halfspace::new(w.to_vec()).unwrap(), &unit).unwrap();
        let models = [[1.0, 0.0], [0.0, -1.0], [0.0, 1.0]].map(model).to_vec();
        let model = OneVsOneModel { classes: 3, models };
        let points = Points::from_rows(&[[3.0, 1.0], [1.0, 3.0], [2.0, 2.0]]).unwrap();
        let votes = model.votes(points.row(0).unwrap()).unwrap();
        assert_eq!(votes, [(1, 2.0), (1, -2.0), (1, 0.0)]);
        // Of equal sums the lowest class.
        assert_eq!(model.class_all(&points, Threads::ONE).unwrap(), [0, 1, 0]);
    }

    #[test]
    fn an_error_names_both_classes() {
        let points = Points::from_rows(&[[1.0], [1e300], [-1e300]]).unwrap();
        let learner = OneVsOne::new(LinearSvm::params().check().unwrap());
        let error = learner.fit(&points, &[0, 1, 2], Threads::ONE).unwrap_err();
        assert!(error.to_string().starts_with("class 0 against class 1: row 1"), "{error}");
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_faulty_saved_model_is_refused() {
        let (points, classes) = three_clusters(60);
        let learner = OneVsOne::new(LinearSvm::params().check().unwrap());
        let model = learner.fit(&points, &classes, Threads::ONE).unwrap();
        let text = serde_json::to_string(&model).unwrap();
        type Model = OneVsOneModel<crate::SvmFit>;
        assert_eq!(serde_json::from_str::<Model>(&text).unwrap(), model);
        for classes in [0, 1, 2, 4, usize::MAX] {
            let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
            value["classes"] = classes.into();
            assert!(serde_json::from_value::<Model>(value).is_err());
        }
    }
}
