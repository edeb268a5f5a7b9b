//! One-vs-rest classification: one binary model per class. The class with the largest value is predicted.

use super::error::{ClassesError, count};
use super::log_odds::LogOdds;
use halfspaces_linalg::{
    ClassModel, Classifier, FitSample, InputError, Label, PointSet, RowView, Steps, Threads,
    load_checked,
};
use std::ops::Range;

/// The number of points that a thread classifies at a time. The predicted classes do not depend on this number.
const BLOCK: usize = 512;

/// Learns several classes with one binary classifier per class, which separates its class from all others
/// (one-vs-rest).
///
/// *Prediction.* A point gets the class with the largest log odds. [`LogOdds`], fitted to the training points, maps the
/// values of each model to log odds, so the scale of a model does not matter. The values of some models carry no
/// information, for example those of the model of a class between two others. The log odds of such a model depend only
/// on the frequency of its class. Ties go to the lowest class.
///
/// *Guarantee.* The guarantee of the binary learner holds for each binary problem. If the predicted class is wrong, at
/// least one binary model is wrong, so the error is at most the sum of the binary errors. Beyond that, the method is a
/// heuristic.
///
/// *Cost.* For each class, a binary model is fitted to all points. A prediction evaluates every model. *Claims: none.*
///
/// ```
/// use halfspaces_linalg::{Params, Points, Threads};
/// use halfspaces_pac::{LinearSvm, OneVsRest};
/// let points = Points::from_rows(&[[0.0, 2.0], [0.1, 3.0], [2.0, 0.0], [3.0, 0.2], [-2.0, -2.0], [-3.0, -3.0]])?;
/// let learner = OneVsRest::new(LinearSvm::params().c(10.0).check()?);
/// let model = learner.fit(&points, &[0, 0, 1, 1, 2, 2], Threads::ONE)?;
/// assert_eq!(model.class_all(&points, Threads::ONE)?, [0, 0, 1, 1, 2, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneVsRest<L> {
    learner: L,
    /// Whether the values of the binary models are already log odds.
    are_odds: bool,
}

/// The model fitted by [`OneVsRest`].
///
/// ```
/// use halfspaces_linalg::{Params, PointSet, Points, Threads};
/// use halfspaces_pac::{LinearSvm, OneVsRest};
/// let points = Points::from_rows(&[[-1.0], [0.5], [2.0]])?;
/// let model = OneVsRest::new(LinearSvm::params().check()?).fit(&points, &[0, 0, 1], Threads::ONE)?;
/// assert_eq!((model.classes(), model.dim()), (2, 1));
/// let values = model.values(points.row(0).expect("three points"))?;
/// assert!(values[0] > values[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OneVsRestModel<M> {
    models: Vec<OneModel<M>>,
}

/// The model of a class and the log odds of its values.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct OneModel<M> {
    model: M,
    odds: LogOdds,
}

impl<M: Classifier> OneModel<M> {
    /// Creates the model of a class, and fits its log odds to `points`, which have the given `classes` and `weights`.
    fn new<P: PointSet>(
        model: M,
        class: usize,
        (points, classes): (&P, &[usize]),
        weights: Option<&[f64]>,
    ) -> Result<Self, InputError> {
        InputError::check_len(points.len(), classes.len())?;
        InputError::check_dim(points.dim(), model.dim())?;
        let mut values = Vec::with_capacity(points.len());
        for (row, x) in points.rows().enumerate() {
            values.push(model.decision_value(x).map_err(|error| error.at_row(row))?);
        }
        let odds = LogOdds::fit(&values, |row| classes[row] == class, weights)?;
        Ok(OneModel { model, odds })
    }

    fn value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let value = self.odds.of(self.model.decision_value(x)?);
        if value.is_finite() { Ok(value) } else { Err(InputError::Overflow { row: 0 }) }
    }
}

impl<L: FitSample + Sync> OneVsRest<L> {
    /// Creates the learner from a binary learner.
    #[must_use]
    pub fn new(learner: L) -> Self {
        OneVsRest { learner, are_odds: false }
    }

    /// Creates the learner from a binary learner whose decision values are log odds, such as
    /// [`LogisticRegression`](crate::LogisticRegression). The values are compared without a further map.
    #[must_use]
    pub fn of_log_odds(learner: L) -> Self {
        OneVsRest { learner, are_odds: true }
    }

    /// Fits one binary model per class to points with the classes 0, 1, 2, .., each of which must occur. The models are
    /// fitted in parallel on `threads`. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`ClassesError`].
    pub fn fit<P: PointSet>(
        &self,
        points: &P,
        classes: &[usize],
        threads: Threads,
    ) -> Result<OneVsRestModel<L::Model>, ClassesError<L::Error>>
    where
        L::Model: Send,
        L::Error: Send,
    {
        self.fit_weighted(points, classes, None, threads)
    }

    /// Like [`OneVsRest::fit`], but fits the log odds with the given weights of the points. The binary learner has its
    /// own weights.
    ///
    /// # Errors
    /// [`ClassesError`].
    pub fn fit_weighted<P: PointSet>(
        &self,
        points: &P,
        classes: &[usize],
        weights: Option<&[f64]>,
        threads: Threads,
    ) -> Result<OneVsRestModel<L::Model>, ClassesError<L::Error>>
    where
        L::Model: Send,
        L::Error: Send,
    {
        let count = count(points.len(), classes)?;
        let of = |class: usize| {
            let sign = |c: &usize| if *c == class { Label::Positive } else { Label::Negative };
            let labels: Vec<Label> = classes.iter().map(sign).collect();
            let model = self.learner.fit(points, &labels);
            let model = model.map_err(|source| ClassesError::Learner { class, source })?;
            if self.are_odds {
                return Ok(OneModel { model, odds: LogOdds::SAME });
            }
            OneModel::new(model, class, (points, classes), weights).map_err(ClassesError::Input)
        };
        let steps = Steps::plan(count as u64);
        let models = threads.map_blocks(count, 1, |class| {
            let model = of(class.start);
            steps.advance(1);
            model
        });
        Ok(OneVsRestModel { models: models.into_iter().collect::<Result<_, _>>()? })
    }
}

impl<M: Classifier> OneVsRestModel<M> {
    /// Joins binary models, one per class, each with the map from its values to log odds. For each model, the positive
    /// label stands for its class.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for fewer than two models; [`InputError::DimensionMismatch`].
    pub fn of_parts(parts: Vec<(M, LogOdds)>) -> Result<Self, InputError> {
        let count = parts.len();
        InputError::check_parameter("classes", count as f64, count >= 2, "at least 2")?;
        let dim = parts[0].0.dim();
        let of = |(model, odds): (M, LogOdds)| {
            InputError::check_dim(dim, model.dim())?;
            Ok(OneModel { model, odds })
        };
        Ok(OneVsRestModel { models: parts.into_iter().map(of).collect::<Result<_, _>>()? })
    }

    /// Joins one binary model for each class. For each model, the positive label stands for its class. The log odds are
    /// fitted to `points` with their classes and weights.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for fewer than two models or a faulty weight; [`InputError::Empty`],
    /// [`InputError::LengthMismatch`], [`InputError::DimensionMismatch`], [`InputError::Overflow`].
    pub fn new<P: PointSet>(
        models: Vec<M>,
        points: &P,
        classes: &[usize],
        weights: Option<&[f64]>,
    ) -> Result<Self, InputError> {
        let count = models.len();
        InputError::check_parameter("classes", count as f64, count >= 2, "at least 2")?;
        let joined = models
            .into_iter()
            .enumerate()
            .map(|(class, model)| OneModel::new(model, class, (points, classes), weights));
        Ok(OneVsRestModel { models: joined.collect::<Result<_, _>>()? })
    }

    /// The number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.models.len()
    }

    /// The number of coordinates of the points.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.models[0].model.dim()
    }

    /// The binary model of a class, positive for that class, or `None` if there is no such class.
    #[must_use]
    pub fn model(&self, class: usize) -> Option<&M> {
        self.models.get(class).map(|of| &of.model)
    }

    /// The map from the values of a class's model to log odds, or `None` if there is no such class.
    #[must_use]
    pub fn log_odds(&self, class: usize) -> Option<LogOdds> {
        self.models.get(class).map(|of| of.odds)
    }

    /// For each class, the log odds of the class against all others.
    ///
    /// # Errors
    /// The errors of [`Classifier::decision_value`].
    pub fn values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        self.models.iter().map(|of| of.value(x)).collect()
    }

    /// The class of a point.
    ///
    /// # Errors
    /// The errors of [`Classifier::decision_value`].
    pub fn class<R: RowView>(&self, x: R) -> Result<usize, InputError> {
        let mut best = (0, f64::NEG_INFINITY);
        for (class, of) in self.models.iter().enumerate() {
            let value = of.value(x)?;
            if value > best.1 {
                best = (class, value);
            }
        }
        Ok(best.0)
    }

    /// The class of every point.
    ///
    /// # Errors
    /// The errors of [`Classifier::label_all`].
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

impl<M: Classifier> ClassModel for OneVsRestModel<M> {
    fn class_count(&self) -> usize {
        self.classes()
    }

    fn point_dim(&self) -> usize {
        self.dim()
    }

    fn class_values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        self.values(x)
    }
}

/// Uses `class` to compute the class of every point.
fn classes_of<'p, P: PointSet>(
    points: &'p P,
    threads: Threads,
    class: impl Fn(P::Row<'p>) -> Result<usize, InputError> + Sync,
) -> Result<Vec<usize>, InputError> {
    let of = |rows: Range<usize>| -> Result<Vec<usize>, InputError> {
        rows.map(|row| {
            let Some(x) = points.row(row) else { unreachable!("blocks are within the points") };
            class(x).map_err(|error| error.at_row(row))
        })
        .collect()
    };
    let mut classes = Vec::with_capacity(points.len());
    for block in threads.map_blocks(points.len(), BLOCK, of) {
        classes.append(&mut block?);
    }
    Ok(classes)
}

load_checked!(OneVsRestModel<M: Classifier> { models: Vec<OneModel<M>> });

#[cfg(feature = "serde")]
impl<M: Classifier> OneVsRestModel<M> {
    fn check_saved(&self) -> Result<(), InputError> {
        let classes = self.models.len() as f64;
        InputError::check_parameter("classes", classes, self.models.len() >= 2, "at least 2")?;
        self.models.iter().try_for_each(|of| InputError::check_dim(self.dim(), of.model.dim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinearSvm;
    use crate::classes::error::tests::three_clusters;
    use halfspaces_linalg::{AffineHalfspace, Params, Points, SparsePoints};
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn the_largest_log_odds_win() {
        let (points, truth) = three_clusters(200);
        let model = |w: [f64; 2], b: f64| AffineHalfspace::new(w.to_vec(), b).unwrap();
        let learner = OneVsRest::new(LinearSvm::params().check().unwrap());
        let parts = learner.fit(&points, &truth, Threads::ONE).unwrap();
        let fit = |scales: [f64; 3]| {
            let scaled = |class: usize, s: f64| {
                let halfspace = parts.model(class).unwrap().halfspace();
                let w = [halfspace.weights()[0] * s, halfspace.weights()[1] * s];
                model(w, halfspace.bias() * s)
            };
            let models =
                scales.into_iter().enumerate().map(|(class, s)| scaled(class, s)).collect();
            OneVsRestModel::new(models, &points, &truth, None).unwrap()
        };
        let plain = fit([1.0; 3]);
        let classes = plain.class_all(&points, Threads::ONE).unwrap();
        for (x, class) in points.rows().zip(&classes) {
            assert_eq!(plain.class_of(x).unwrap(), *class);
        }
        // Each model may be multiplied by its own constant. Powers of two do not cause rounding errors.
        let rescaled = fit([1024.0, 0.125, 4.0]).class_all(&points, Threads::new(3).unwrap());
        assert_eq!(rescaled.unwrap(), classes);
        let x = points.row(0).unwrap();
        let of = |class: usize| {
            let value = plain.model(class).unwrap().decision_value(x).unwrap();
            plain.log_odds(class).unwrap().of(value)
        };
        assert_eq!(plain.values(x).unwrap(), [of(0), of(1), of(2)]);
    }

    /// If a class lies between two others, no halfspace separates it from both. This class must be predicted for some
    /// points, but not for all.
    #[test]
    fn a_class_between_two_others_is_predicted() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let line: Vec<f64> = (0..900).map(|_| rng.random_range(-3.0..3.0)).collect();
        let classes: Vec<usize> =
            line.iter().map(|v| usize::from(*v > -1.0) + usize::from(*v > 1.0)).collect();
        let points = Points::new(line, 1).unwrap();
        let learner = OneVsRest::new(LinearSvm::params().check().unwrap());
        let model = learner.fit(&points, &classes, Threads::ONE).unwrap();
        let found = model.class_all(&points, Threads::ONE).unwrap();
        let wrong = found.iter().zip(&classes).filter(|(a, b)| a != b).count();
        assert!(wrong < 45, "{wrong} of 900 wrong");
    }

    #[test]
    fn clusters_are_told_apart_on_any_number_of_threads_and_dense_as_sparse() {
        let (points, classes) = three_clusters(300);
        let learner = OneVsRest::new(LinearSvm::params().check().unwrap());
        let model = learner.fit(&points, &classes, Threads::ONE).unwrap();
        assert_eq!(learner.fit(&points, &classes, Threads::new(2).unwrap()).unwrap(), model);
        let (fresh, truth) = three_clusters(999);
        let predicted = model.class_all(&fresh, Threads::ONE).unwrap();
        let wrong = predicted.iter().zip(&truth).filter(|(p, t)| p != t).count();
        assert!(wrong <= 5, "{wrong} of 999 wrong");
        let sparse = SparsePoints::from_dense(&fresh).unwrap();
        assert_eq!(model.class_all(&sparse, Threads::ONE).unwrap(), predicted);
        // Permuting the classes permutes the predictions.
        let renamed: Vec<usize> = classes.iter().map(|c| (c + 1) % 3).collect();
        let model = learner.fit(&points, &renamed, Threads::ONE).unwrap();
        let shifted: Vec<usize> = predicted.iter().map(|c| (c + 1) % 3).collect();
        assert_eq!(model.class_all(&fresh, Threads::ONE).unwrap(), shifted);
    }

    #[test]
    fn values_that_are_log_odds_stay_as_they_are() {
        let (points, classes) = three_clusters(90);
        let logistic = crate::LogisticRegression::params().check().unwrap();
        let model = OneVsRest::of_log_odds(logistic).fit(&points, &classes, Threads::ONE).unwrap();
        let x = points.row(5).unwrap();
        let alone = |class: usize| model.model(class).unwrap().decision_value(x).unwrap();
        assert_eq!(model.values(x).unwrap(), [alone(0), alone(1), alone(2)]);
    }

    #[test]
    fn an_error_names_the_class() {
        let points = Points::from_rows(&[[1e300], [-1e300]]).unwrap();
        let learner = OneVsRest::new(LinearSvm::params().check().unwrap());
        let error = learner.fit(&points, &[0, 1], Threads::ONE).unwrap_err();
        assert!(error.to_string().starts_with("class 0 against the rest: row 0"), "{error}");
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_faulty_saved_model_is_refused() {
        let (points, classes) = three_clusters(60);
        let learner = OneVsRest::new(LinearSvm::params().check().unwrap());
        let model = learner.fit(&points, &classes, Threads::ONE).unwrap();
        let text = serde_json::to_string(&model).unwrap();
        type Model = OneVsRestModel<crate::SvmFit>;
        assert_eq!(serde_json::from_str::<Model>(&text).unwrap(), model);
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["models"][1]["odds"]["slope"] = (-1.0).into();
        assert!(serde_json::from_value::<Model>(value.clone()).is_err());
        value["models"] = serde_json::json!([]);
        assert!(serde_json::from_value::<Model>(value).is_err());
    }

    #[test]
    fn extreme_models_have_finite_values() {
        let points = Points::from_rows(&[[0.0], [0.0]]).unwrap();
        let zero = AffineHalfspace::new(vec![1.0], 0.0).unwrap();
        assert!(OneVsRestModel::new(vec![zero.clone()], &points, &[0, 0], None).is_err());
        let narrow = Points::from_rows(&[[0.0, 1.0]]).unwrap();
        assert!(OneVsRestModel::new(vec![zero.clone(); 2], &narrow, &[0], None).is_err());
        assert!(OneVsRestModel::new(vec![zero.clone(); 2], &points, &[0], None).is_err());
        let model = OneVsRestModel::new(vec![zero; 2], &points, &[0, 1], None).unwrap();
        assert_eq!(model.values(points.row(0).unwrap()), Ok(vec![0.0, 0.0]));
        let huge = AffineHalfspace::new(vec![1e300], 0.0).unwrap();
        let far = Points::from_rows(&[[1e7], [-1e7]]).unwrap();
        let model = OneVsRestModel::new(vec![huge; 2], &far, &[1, 0], None).unwrap();
        let values = model.values(far.row(0).unwrap()).unwrap();
        assert!(values.iter().all(|value| value.abs() < 10.0), "{values:?}");
    }

    #[test]
    fn of_equal_values_the_first_class_wins() {
        let points = Points::from_rows(&[[2.0], [-1.0]]).unwrap();
        let model = || AffineHalfspace::new(vec![1.0], 0.0).unwrap();
        let odds = LogOdds::new(1.0, 0.0).unwrap();
        let models = (0..3).map(|_| OneModel { model: model(), odds }).collect();
        assert_eq!(OneVsRestModel { models }.class_all(&points, Threads::ONE).unwrap(), [0, 0]);
    }
}
