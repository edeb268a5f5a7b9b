//! One-vs-rest classification: one binary model per class; the class with the largest value is predicted.

use super::error::{ClassesError, count};
use super::scaled::Scaled;
use halfspaces_linalg::{
    ClassModel, Classifier, FitSample, InputError, Label, PointSet, RowView, Threads, load_checked,
};
use std::ops::Range;

/// The number of points that a thread classifies at a time. The classes do not depend on it.
const BLOCK: usize = 512;

/// Learns several classes with one binary classifier per class: that class against all others (one-vs-rest).
///
/// *Prediction.* A point gets the class whose model has the largest value. Values are divided by the model's mean
/// absolute value on the training points, so that the scale of a model does not matter. Ties go to the lowest class.
///
/// *Guarantee.* Only that of the binary learner on each binary problem. A wrong class needs at least one wrong binary
/// model, so the error is at most the sum of the binary errors. Heuristic beyond that.
///
/// *Cost.* One binary fit on all points per class. A prediction evaluates every model. *Claims: none.*
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
    models: Vec<Scaled<M>>,
}

impl<L: FitSample + Sync> OneVsRest<L> {
    /// Creates the learner from a binary learner.
    #[must_use]
    pub fn new(learner: L) -> Self {
        OneVsRest { learner }
    }

    /// Fits points with classes 0, 1, 2, .., each of which must occur. Classes are fitted in parallel on `threads`; the
    /// result does not depend on their number.
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
        let count = count(points.len(), classes)?;
        let of = |class: usize| {
            let sign = |c: &usize| if *c == class { Label::Positive } else { Label::Negative };
            let labels: Vec<Label> = classes.iter().map(sign).collect();
            let model = self.learner.fit(points, &labels);
            let model = model.map_err(|source| ClassesError::Learner { class, source })?;
            Scaled::new(model, points).map_err(ClassesError::Input)
        };
        let models = threads.map_blocks(count, 1, |class| of(class.start));
        Ok(OneVsRestModel { models: models.into_iter().collect::<Result<_, _>>()? })
    }
}

impl<M: Classifier> OneVsRestModel<M> {
    /// Joins one binary model for each class, positive for that class. `points` give the scale of each model.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for fewer than two models; [`InputError::DimensionMismatch`];
    /// [`InputError::Overflow`].
    pub fn new<P: PointSet>(models: Vec<M>, points: &P) -> Result<Self, InputError> {
        let classes = models.len();
        InputError::check_parameter("classes", classes as f64, classes >= 2, "at least 2")?;
        let scaled = models.into_iter().map(|model| {
            InputError::check_dim(points.dim(), model.dim())?;
            Scaled::new(model, points)
        });
        Ok(OneVsRestModel { models: scaled.collect::<Result<_, _>>()? })
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

    /// The binary model of a class, positive for that class. `None` if there is no such class.
    #[must_use]
    pub fn model(&self, class: usize) -> Option<&M> {
        self.models.get(class).map(|scaled| &scaled.model)
    }

    /// The number by which the value of a class's model is divided: its mean absolute value on the training points.
    /// `None` if there is no such class.
    #[must_use]
    pub fn scale(&self, class: usize) -> Option<f64> {
        self.models.get(class).map(|scaled| scaled.scale)
    }

    /// One value per class, each divided by its mean absolute value on the training points.
    ///
    /// # Errors
    /// Those of [`Classifier::decision_value`].
    pub fn values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        self.models.iter().map(|scaled| scaled.value(x)).collect()
    }

    /// The class of a point.
    ///
    /// # Errors
    /// Those of [`Classifier::decision_value`].
    pub fn class<R: RowView>(&self, x: R) -> Result<usize, InputError> {
        let mut best = (0, f64::NEG_INFINITY);
        for (class, scaled) in self.models.iter().enumerate() {
            let value = scaled.value(x)?;
            if value > best.1 {
                best = (class, value);
            }
        }
        Ok(best.0)
    }

    /// The class of every point.
    ///
    /// # Errors
    /// Those of [`Classifier::label_all`].
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

/// Computes the class of every point with `class`.
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

load_checked!(OneVsRestModel<M: Classifier> { models: Vec<Scaled<M>> });

#[cfg(feature = "serde")]
impl<M: Classifier> OneVsRestModel<M> {
    fn check_saved(&self) -> Result<(), InputError> {
        let classes = self.models.len() as f64;
        InputError::check_parameter("classes", classes, self.models.len() >= 2, "at least 2")?;
        Scaled::check_saved(&self.models)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinearSvm;
    use crate::classes::error::tests::three_clusters;
    use halfspaces_linalg::{AffineHalfspace, Params, Points, SparsePoints};

    #[test]
    fn the_largest_normalised_value_wins() {
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]).unwrap();
        let model = |w: [f64; 2], b: f64| AffineHalfspace::new(w.to_vec(), b).unwrap();
        let weights = [([1.0, 0.0], 0.0), ([0.0, 1.0], 0.0), ([-1.0, -1.0], 0.5)];
        let fit = |scales: [f64; 3]| OneVsRestModel {
            models: (weights.iter().zip(scales))
                .map(|((w, b), s)| Scaled::new(model(w.map(|v| v * s), b * s), &points).unwrap())
                .collect(),
        };
        let plain = fit([1.0; 3]);
        assert_eq!(plain.class_all(&points, Threads::ONE).unwrap(), [0, 1, 2]);
        let (pool, _) = three_clusters(200);
        let classes = plain.class_all(&pool, Threads::ONE).unwrap();
        // Each model may be multiplied by its own constant (powers of two do not round).
        let rescaled = fit([1024.0, 0.125, 4.0]).class_all(&pool, Threads::new(3).unwrap());
        assert_eq!(rescaled.unwrap(), classes);
        // Means of |values|: (1 + 0 + 1)/3, the same, and (0.5 + 0.5 + 2.5)/3.
        let values = plain.values(points.row(0).unwrap()).unwrap();
        let expected = [1.5, 0.0, -0.5 * 3.0 / 3.5];
        assert!(values.iter().zip(expected).all(|(v, e)| (v - e).abs() < 1e-15), "{values:?}");
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
        value["models"][1]["scale"] = 0.0.into();
        assert!(serde_json::from_value::<Model>(value.clone()).is_err());
        value["models"] = serde_json::json!([]);
        assert!(serde_json::from_value::<Model>(value).is_err());
    }

    #[test]
    fn a_constant_model_does_not_divide_by_zero() {
        let points = Points::from_rows(&[[0.0], [0.0]]).unwrap();
        let zero = AffineHalfspace::new(vec![1.0], 0.0).unwrap();
        assert!(OneVsRestModel::new(vec![zero.clone()], &points).is_err());
        let narrow = Points::from_rows(&[[0.0, 1.0]]).unwrap();
        assert!(OneVsRestModel::new(vec![zero.clone(); 2], &narrow).is_err());
        let scaled = Scaled::new(zero, &points).unwrap();
        assert_eq!(scaled.value(points.row(0).unwrap()), Ok(0.0));
        let huge = AffineHalfspace::new(vec![1e300], 0.0).unwrap();
        let far = Points::from_rows(&[[1e7], [1e7]]).unwrap();
        let scaled = Scaled::new(huge, &far).unwrap();
        assert_eq!(scaled.value(far.row(0).unwrap()), Ok(1.0));
    }

    #[test]
    fn of_equal_values_the_first_class_wins() {
        let points = Points::from_rows(&[[2.0], [-1.0]]).unwrap();
        let model = || AffineHalfspace::new(vec![1.0], 0.0).unwrap();
        let models = (0..3).map(|_| Scaled::new(model(), &points).unwrap()).collect();
        assert_eq!(OneVsRestModel { models }.class_all(&points, Threads::ONE).unwrap(), [0, 0]);
    }
}
