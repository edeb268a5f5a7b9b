//! The default classifier for tables.

use crate::classes_model::TableClassesModel;
use crate::learn::{MIN_TABLE_ROWS, Plan, learn};
use crate::model::TableModel;
use crate::table::Given;
use halfspaces_linalg::{FitSample, InputError, Label, Params, PointSet, Threads, load_params};

/// Most rows learned from, by default.
pub const DEFAULT_MAX_ROWS: usize = 40_000;

/// Unchecked parameters of a [`TableClassifier`].
///
/// ```
/// use halfspaces_linalg::{Params, Threads};
/// use halfspaces_tables::TableClassifier;
/// let params = TableClassifier::params().threads(Threads::all()).held_out(0.2).class_weights(1.0, 5.0);
/// assert!(params.check().is_ok());
/// assert!(TableClassifier::params().held_out(1.0).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
pub struct TableParams {
    held_out: Option<f64>,
    class_weights: (f64, f64),
    max_rows: usize,
    threads: Threads,
    seed: u64,
}

impl TableParams {
    /// The share of the rows kept back for the error bound, in [0, 1). Default: a twentieth; from 5000 rows on
    /// a tenth, at least 1500 rows and at most 20 000. With 0 there is no bound, and all rows are learned from.
    pub fn held_out(mut self, share: f64) -> Self {
        self.held_out = Some(share);
        self
    }

    /// What an error on a row of each class costs, negative first. Default: 1 and 1.
    pub fn class_weights(mut self, negative: f64, positive: f64) -> Self {
        self.class_weights = (negative, positive);
        self
    }

    /// Most rows learned from, at least [`MIN_TABLE_ROWS`]; of a larger table a random sample. Time and memory grow
    /// with it. Default: [`DEFAULT_MAX_ROWS`].
    pub fn max_rows(mut self, rows: usize) -> Self {
        self.max_rows = rows;
        self
    }

    /// Threads. The model does not depend on them. Default: one.
    pub fn threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Seed of the splits, landmarks and orders. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

impl Params for TableParams {
    type Learner = TableClassifier;
    type Error = InputError;

    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a share outside [0, 1), class weights that are not positive and finite,
    /// too few rows to learn from.
    fn check(self) -> Result<TableClassifier, InputError> {
        if let Some(share) = self.held_out {
            let in_range = (0.0..1.0).contains(&share);
            InputError::check_parameter(
                "held-out share",
                share,
                in_range,
                "at least 0 and below 1",
            )?;
        }
        for weight in [self.class_weights.0, self.class_weights.1] {
            let in_range = weight > 0.0 && weight.is_finite();
            InputError::check_parameter("class weight", weight, in_range, "positive and finite")?;
        }
        let rows = self.max_rows as f64;
        InputError::check_parameter(
            "max_rows",
            rows,
            self.max_rows >= MIN_TABLE_ROWS,
            "at least 10",
        )?;
        Ok(TableClassifier(self))
    }
}

/// The default classifier for a table of people's data, whose labels may be wrong and need not follow any halfspace of
/// its columns. If unsure, use this one.
///
/// Candidates are halfspaces of the columns, standardised or by rank, and of Nyström features of Gaussian and Laplacian
/// kernels of several widths; fitted by the hinge loss for several C (by a descent that ends where violations of the conditions of its optimum are at most
/// 0.7 of the margin apart: nearer to it errors are as many), by logistic regression, by the Perspectron. All are
/// compared by their errors on rows they were not fitted to, fold by fold. After a fold those are dropped that are worse
/// beyond chance (the Perspectron after one pass of ten), and all but the best 12, 8, then 6. From 3000 rows on there is a rough round before that, fitted
/// to 2000 rows and compared on 1000 by three fifths of the landmarks: of all scales and kernels those two are left that have the least errors, and those
/// two that put the fewest pairs of rows in the wrong order. From 6000 rows on there is one round after it in place of folds, on a
/// quarter of the rows, no more than 10 000 rows fitted to or compared on. The best four,
/// as far as none is worse than the best by more than two standard errors, are fitted to all rows and
/// averaged, each by the deviation of its values: among a few hundred rows the choice of one would be luck.
///
/// *Guarantee.* Rows kept back have no part in anything. From the model's errors on them comes a bound on its error on
/// fresh rows, exact at every probability asked for ([`TableModel::error_bound`]), if rows are independent draws of one
/// law, whatever the law. What is compared and bounded is the error on labels as they are given. Under
/// Massart noise of rates η(x) < 1/2 that orders classifiers by E[(1 - 2η(x)) 1{h ≠ h*}]: the error against the clean
/// labels h* is at most the bound minus E\[η\], over 1 - 2 max η.
///
/// *Cost.* At most `max_rows` rows are learned from, so time is linear in the table's size only for drawing them, scaling, and
/// the bound; for n of them O(n m (d + m)) per kernel, m = n/10 landmarks but at least 300 and at most 500 (800 for several classes), fewer of smooth kernels, and O(nm) per pass of a fit.
/// O(nm) memory per thread; up to some 13 000 rows, all of which are compared on or fitted to, for all kernels left at once, which are not computed
/// again then. Of k > 2 classes k times the passes.
///
/// *Several classes* ([`TableClassifier::fit_classes`]): per class a sum "this class, not another" of the same kernels, compared by
/// errors of the largest sum, with the same bound on the error.
///
/// *When to use it.* A table with a label per row, up to some thousand columns of numbers (categories one-hot), and no time
/// to choose. A proof that noise does no harm has the [`SamplePerspectron`](halfspaces_pac::SamplePerspectron) alone, for labels of a halfspace with a
/// margin; a single halfspace to read, [`LogisticRegression`](halfspaces_pac::LogisticRegression).
///
/// *Source.* Ours; its parts are of Hsieh et al. 2008 (hinge loss), Williams and Seeger 2001 (Nyström), Fine and Scheinberg 2001 (landmarks), Maron and Moore 1993 (racing), Jamieson and Talwalkar 2016 (halving), Guo et al. 2017
/// (probabilities), Clopper and Pearson 1934 (the bound). Claims: PT, PTn.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{Classifier, FitSample, Params};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Ionosphere.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// let labels = model.label_all(data.points())?;
/// let wrong = labels.iter().zip(data.labels()).filter(|(a, b)| a != b).count();
/// assert!(wrong < 35);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TableClassifier(TableParams);

load_params!(TableClassifier: TableParams);

impl TableClassifier {
    /// A twentieth of the rows kept back (a tenth from 5000 on), equal class weights, at most 40 000 rows learned from, one thread, seed 0.
    pub fn params() -> TableParams {
        TableParams {
            held_out: None,
            class_weights: (1.0, 1.0),
            max_rows: DEFAULT_MAX_ROWS,
            threads: Threads::ONE,
            seed: 0,
        }
    }

    /// As [`FitSample::fit`], with what an error on each row costs, on top of the class weights. A row of weight 0 is
    /// as good as absent. The error bound does not heed other weights.
    ///
    /// # Errors
    /// As [`FitSample::fit`]; [`InputError::LengthMismatch`] for another number of weights;
    /// [`InputError::ParameterOutOfRange`] for a weight that is negative or not finite, or if fewer than 10 are above 0.
    pub fn fit_weighted<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        weights: &[f64],
    ) -> Result<TableModel, InputError> {
        check_weights(points.len(), weights)?;
        self.fit_rows(points, labels, |i| weights[i])
    }

    /// Fits rows of several classes, which are whatever the caller calls them: numbers, text, an enum. Per class there is a
    /// sum of halfspaces, all compared and averaged as for two.
    ///
    /// # Errors
    /// As [`FitSample::fit`]; [`InputError::ParameterOutOfRange`] if all labels are equal, or for class weights that are not:
    /// weigh the rows instead.
    ///
    /// ```
    /// use halfspaces_linalg::{Params, Points, Threads};
    /// use halfspaces_tables::TableClassifier;
    /// let points = Points::new((0..40).map(f64::from).collect(), 1)?;
    /// let labels: Vec<u8> = (0..40).map(|i| i / 10).collect();
    /// let model = TableClassifier::params().check()?.fit_classes(&points, &labels)?;
    /// assert_eq!(model.classes(), [0, 1, 2, 3]);
    /// let found = model.class_all(&points, Threads::ONE)?;
    /// assert!(found.iter().zip(&labels).filter(|(a, b)| **a != *b).count() < 8);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    pub fn fit_classes<P: PointSet, C: Ord + Clone>(
        &self,
        points: &P,
        labels: &[C],
    ) -> Result<TableClassesModel<C>, InputError> {
        self.fit_class_rows(points, labels, |_| 1.0)
    }

    /// As [`TableClassifier::fit_classes`], with what an error on each row costs, as in [`TableClassifier::fit_weighted`].
    ///
    /// # Errors
    /// Those of both.
    pub fn fit_classes_weighted<P: PointSet, C: Ord + Clone>(
        &self,
        points: &P,
        labels: &[C],
        weights: &[f64],
    ) -> Result<TableClassesModel<C>, InputError> {
        check_weights(points.len(), weights)?;
        self.fit_class_rows(points, labels, |i| weights[i])
    }

    fn fit_class_rows<P: PointSet, C: Ord + Clone>(
        &self,
        points: &P,
        labels: &[C],
        weight: impl Fn(usize) -> f64,
    ) -> Result<TableClassesModel<C>, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        let (negative, positive) = self.0.class_weights;
        let equal = negative.to_bits() == positive.to_bits();
        let requirement = "the same for both; weigh the rows instead";
        InputError::check_parameter("class weight", positive, equal, requirement)?;
        let mut names = labels.to_vec();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Err(InputError::Empty);
        }
        let count = names.len();
        InputError::check_parameter("number of classes", count as f64, count >= 2, "at least 2")?;
        let class = |label: &C| names.partition_point(|name| name < label);
        let classes: Vec<usize> = labels.iter().map(class).collect();
        let given = Given { classes: &classes, count, weight: &weight };
        let (average, report) = learn(points, &given, &self.plan())?;
        Ok(TableClassesModel::new(names, average, report))
    }

    fn plan(&self) -> Plan {
        let TableParams { held_out, max_rows, threads, seed, .. } = self.0;
        Plan { held_out, max_rows, threads, seed }
    }

    fn fit_rows<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        weight: impl Fn(usize) -> f64,
    ) -> Result<TableModel, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        let (negative, positive) = self.0.class_weights;
        let classes: Vec<usize> =
            labels.iter().map(|y| usize::from(*y == Label::Positive)).collect();
        let cost = |i: usize| weight(i) * if classes[i] == 1 { positive } else { negative };
        let given = Given { classes: &classes, count: 2, weight: &cost };
        let (average, report) = learn(points, &given, &self.plan())?;
        Ok(TableModel::new(average, report))
    }
}

/// One weight per row, none negative.
fn check_weights(rows: usize, weights: &[f64]) -> Result<(), InputError> {
    InputError::check_len(rows, weights.len())?;
    for &weight in weights {
        let in_range = weight >= 0.0 && weight.is_finite();
        InputError::check_parameter("weight", weight, in_range, "at least 0 and finite")?;
    }
    Ok(())
}

impl FitSample for TableClassifier {
    type Model = TableModel;
    type Error = InputError;

    /// Fits labelled rows.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`]; [`InputError::ParameterOutOfRange`] for fewer than
    /// [`MIN_TABLE_ROWS`] rows; [`InputError::Overflow`] for columns whose squares leave `f64`;
    /// [`InputError::TooLarge`].
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<TableModel, InputError> {
        self.fit_rows(points, labels, |_| 1.0)
    }
}
