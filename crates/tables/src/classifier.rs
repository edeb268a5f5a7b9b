//! The default classifier for tables.

use crate::binary_model::BinaryTableModel;
use crate::learn::{MIN_TABLE_ROWS, Plan, learn};
use crate::multiclass_model::MulticlassTableModel;
use crate::table::{DEFAULT_MAX_ROWS, LabelledRows};
use halfspaces_linalg::{FitSample, InputError, Label, Params, PointSet, Threads, setters};

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
#[must_use]
pub struct TableParams {
    held_out: Option<f64>,
    class_weights: (f64, f64),
    max_rows: usize,
    threads: Threads,
    seed: u64,
}

impl TableParams {
    /// For each class, the cost of an error on a row of this class. Default: 1 and 1.
    pub fn class_weights(mut self, negative: f64, positive: f64) -> Self {
        self.class_weights = (negative, positive);
        self
    }

    setters! {
        /// The fraction of rows held out for the error bound, in [0, 1). With 0, there is no bound, and all rows are
        /// training rows. Default: see [`default_hold_out`](crate::default_hold_out).
        held_out: Some(f64),

        /// The maximum number of training rows, at least [`MIN_TABLE_ROWS`]. If a table has more training rows, a
        /// random sample of them is used. Time and memory grow with this number. Default: [`DEFAULT_MAX_ROWS`].
        max_rows: usize,

        /// The number of threads. The model does not depend on this number. Default: one.
        threads: Threads,

        /// The seed for the splits, the landmarks and the orders in which rows are visited. Default: 0.
        seed: u64,
    }
}

impl Params for TableParams {
    type Learner = TableClassifier;
    type Error = InputError;

    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a held-out fraction outside [0, 1), a class weight that is not positive
    /// and finite, or a maximum number of rows below [`MIN_TABLE_ROWS`].
    fn check(self) -> Result<TableClassifier, InputError> {
        if let Some(fraction) = self.held_out {
            let in_range = (0.0..1.0).contains(&fraction);
            InputError::check_parameter("held_out", fraction, in_range, "at least 0 and below 1")?;
        }
        for weight in [self.class_weights.0, self.class_weights.1] {
            let in_range = weight > 0.0 && weight.is_finite();
            InputError::check_parameter("class weight", weight, in_range, "positive and finite")?;
        }
        let enough = self.max_rows >= MIN_TABLE_ROWS;
        InputError::check_parameter("max_rows", self.max_rows as f64, enough, "at least 10")?;
        Ok(TableClassifier(self))
    }
}

/// The default classifier for tables of real data. Some labels may be wrong, and the labels need not be explained by a
/// halfspace over the columns. If you are unsure which classifier to use, use this one.
///
/// *Candidates.* The candidates are halfspaces over the columns, standardised or ranked, and over Nyström features of
/// Gaussian and Laplacian kernels with several widths. They are fitted by minimising the hinge loss for several values
/// of C, by logistic regression and by the Perspectron. For a table with 100 columns or more, such as a table of
/// embeddings, the candidates also use columns on one common scale, and ridge regression on features of a Gaussian
/// kernel with up to 2000 landmarks. The descent on the hinge loss stops when the largest and the smallest violation of
/// the optimality conditions differ by at most 0.7 times the margin; further steps towards the optimum do not reduce
/// the number of errors.
///
/// *Selection.* Candidates are compared by their errors on rows that they were not fitted to, in four folds. After each
/// fold except the last, a candidate is dropped if it is significantly worse than the best, or if it is not among the
/// best 12 (8 after the second fold, 6 after the third). The Perspectron makes one pass in the first round; if it
/// survives, it makes ten passes in every fold. With at least 3000 rows, a screening round comes first: candidates are
/// fitted to 2000 rows with three fifths of the landmarks and compared on 1000 other rows. At most four combinations of
/// scale and kernel survive: the two with the smallest errors and the two with the fewest wrongly ordered pairs of
/// rows. With at least 6000 rows, the folds are replaced by a single split, in which a quarter of the rows are used for
/// validation. At most 10 000 rows are used for fitting, and at most 10 000 for validation. With groups
/// ([`TableClassifier::fit_classes_by_group`]), folds and splits consist of whole groups.
///
/// *Average.* Up to four of the best candidates, each within two standard errors of the best one, are fitted to all
/// training rows and averaged. Each is divided by the root mean square of its values. With a few hundred rows, the
/// choice of a single candidate would mostly be random.
///
/// *Probabilities.* The validation rows calibrate the probabilities. If at least 1000 rows are left over because of
/// `max_rows`, up to 20 000 of these rows calibrate the probabilities instead (fewer with more than 50 classes). No
/// part of the model was fitted to these rows.
///
/// *Guarantee.* The model does not depend on the held-out rows. If the rows are independent draws from any one
/// distribution, the errors on the held-out rows give an exact upper bound on the error on fresh rows, at any
/// confidence ([`BinaryTableModel::error_bound`]). The errors that are compared and bounded are measured against the
/// given labels. Under Massart noise with rates η(x) < 1/2, this error orders classifiers by E[(1 - 2η(x)) 1{h ≠ h*}],
/// where h* gives the clean labels. Therefore the error with respect to the clean labels is at most (bound - E\[η\])/(1
/// - 2 max η).
///
/// *Cost.* There are at most `max_rows` training rows, so only sampling, scaling and the error bound take time linear
/// in the size of the table. For n training rows, each kernel takes O(nm(d + m)) time, and each pass of a fit takes
/// O(nm). The number of landmarks m is n/10, clamped to the range from 300 to 500 (800 for more than two classes); a
/// smooth kernel keeps fewer. Ridge regression takes O(nm² + m³) time and O(m²) memory for m ≤ 2000. With k > 2 classes
/// there are k times as many passes. The memory is O(nm) per thread. With up to about 13 000 rows, all rows are used
/// for fitting or validation, and the features of all surviving kernels stay in memory, so they are not computed again.
///
/// *More than two classes* ([`TableClassifier::fit_classes`]). Each class has a sum of halfspaces that separates it
/// from all other classes, and all sums use the same features. The class with the largest sum is predicted. Candidates
/// are compared by the errors of these predictions, and the error bound is computed in the same way.
///
/// *Many classes* ([`has_many_classes`](crate::has_many_classes)). If the table has more than five million pairs of a
/// training row and a class, the candidates are [`Method::Discriminant`](crate::Method::Discriminant)s of the columns
/// and of kernel features, which learn all classes together. They are compared on one split, or on one fold of a table
/// with fewer than 6000 rows, and the best one is fitted to all training rows. Each kernel takes O(nm² + m³ + m²k) time
/// for k classes. The memory is O(nm + m² + mk) per thread.
///
/// *When to use it.* Use it for a table with one label per row and up to a few thousand numeric columns (with one-hot
/// encoded categories), if you have no time to choose a method. If a halfspace with a margin explains the clean labels,
/// the [`SamplePerspectron`](halfspaces_pac::SamplePerspectron) is proved to tolerate noise. For a single halfspace
/// that can be interpreted, use [`LogisticRegression`](halfspaces_pac::LogisticRegression).
///
/// *Source.* The combination is ours. The parts are from Hsieh et al. 2008 (hinge loss), Hoerl and Kennard 1970 (ridge
/// regression), Williams and Seeger 2001 (Nyström), Fine and Scheinberg 2001 (landmarks), Maron and Moore 1993
/// (racing), Jamieson and Talwalkar 2016 (halving), Guo et al. 2017 (probabilities), Clopper and Pearson 1934 (the
/// bound). Claims: PT, PTn.
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
pub struct TableClassifier(TableParams);

impl TableClassifier {
    /// Returns the default parameters: the hold-out of [`default_hold_out`](crate::default_hold_out), equal class
    /// weights, at most 40 000 training rows, one thread, seed 0.
    pub fn params() -> TableParams {
        TableParams {
            held_out: None,
            class_weights: (1.0, 1.0),
            max_rows: DEFAULT_MAX_ROWS,
            threads: Threads::ONE,
            seed: 0,
        }
    }

    /// Like [`FitSample::fit`], but with a cost for an error on each row. The class weight is multiplied by this cost.
    /// A row of weight 0 is ignored. The error bound does not take other weights into account.
    ///
    /// # Errors
    /// Returns the same errors as [`FitSample::fit`]; [`InputError::LengthMismatch`] for a wrong number of weights;
    /// [`InputError::ParameterOutOfRange`] for a weight that is negative or not finite, or for fewer than
    /// [`MIN_TABLE_ROWS`] positive weights.
    pub fn fit_weighted<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        weights: &[f64],
    ) -> Result<BinaryTableModel, InputError> {
        check_weights(points.len(), weights)?;
        self.fit_rows(points, labels, |i| weights[i])
    }

    /// Fits a model to rows of two or more classes. The classes may have any ordered type, such as numbers, strings or
    /// an enum. Each class has a sum of halfspaces. Candidates are compared and averaged as for two classes.
    ///
    /// # Errors
    /// Returns the same errors as [`FitSample::fit`]; [`InputError::ParameterOutOfRange`] if all labels are equal, or
    /// if the class weights are not equal. Use row weights instead of class weights.
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
    ) -> Result<MulticlassTableModel<C>, InputError> {
        self.fit_class_rows(points, labels, |_| 1.0, None)
    }

    /// Like [`TableClassifier::fit_classes`], but with a cost for an error on each row, as in
    /// [`TableClassifier::fit_weighted`].
    ///
    /// # Errors
    /// Returns the errors of both methods.
    pub fn fit_classes_weighted<P: PointSet, C: Ord + Clone>(
        &self,
        points: &P,
        labels: &[C],
        weights: &[f64],
    ) -> Result<MulticlassTableModel<C>, InputError> {
        check_weights(points.len(), weights)?;
        self.fit_class_rows(points, labels, |i| weights[i], None)
    }

    /// Like [`TableClassifier::fit_classes_weighted`], for rows that belong to groups, such as the visits of a patient.
    /// Candidates are fitted to some groups and compared on others. A candidate that only recognises the groups it was
    /// fitted to is therefore not chosen, and [`TableReport::error`](crate::TableReport::error) is the error on new
    /// groups. With two or three groups, there are as many folds as groups.
    ///
    /// No rows are held out, because the error bound requires independent rows. `weights` defaults to 1 for each row.
    ///
    /// # Errors
    /// Returns the same errors as [`TableClassifier::fit_classes_weighted`]; [`InputError::LengthMismatch`] for a wrong
    /// number of groups; [`InputError::ParameterOutOfRange`] if rows are to be held out or if there are fewer than two
    /// groups.
    ///
    /// ```
    /// use halfspaces_linalg::{Params, Points};
    /// use halfspaces_tables::TableClassifier;
    /// // There are twenty groups of four near-copies. The class of a group cannot be predicted from its points.
    /// let points = Points::new((0..80).map(|i| f64::from(i / 4 * 7 % 20) + 0.01 * f64::from(i % 4)).collect(), 1)?;
    /// let groups: Vec<usize> = (0..80).map(|i| i / 4).collect();
    /// let labels: Vec<bool> = groups.iter().map(|group| [1, 4, 5, 7, 8, 11, 14, 16, 18].contains(group)).collect();
    /// let learner = TableClassifier::params().held_out(0.0).check()?;
    /// let by_row = learner.fit_classes(&points, &labels)?;
    /// let by_group = learner.fit_classes_by_group(&points, &labels, None, &groups)?;
    /// assert!(by_row.report().error() < 0.1 && by_group.report().error() > 0.3);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    pub fn fit_classes_by_group<P: PointSet, C: Ord + Clone>(
        &self,
        points: &P,
        labels: &[C],
        weights: Option<&[f64]>,
        groups: &[usize],
    ) -> Result<MulticlassTableModel<C>, InputError> {
        if let Some(weights) = weights {
            check_weights(points.len(), weights)?;
        }
        InputError::check_len(points.len(), groups.len())?;
        let held_out = self.0.held_out.unwrap_or(0.0);
        InputError::check_parameter("held_out", held_out, held_out <= 0.0, "0 for groups")?;
        let learner = TableClassifier(TableParams { held_out: Some(0.0), ..self.0 });
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        learner.fit_class_rows(points, labels, weight, Some(groups))
    }

    fn fit_class_rows<P: PointSet, C: Ord + Clone>(
        &self,
        points: &P,
        labels: &[C],
        weight: impl Fn(usize) -> f64,
        groups: Option<&[usize]>,
    ) -> Result<MulticlassTableModel<C>, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        let (negative, positive) = self.0.class_weights;
        let equal = negative.to_bits() == positive.to_bits();
        let requirement = "the same for both classes; use weights of rows instead";
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
        let labelled = LabelledRows { classes: &classes, count, weight: &weight, groups };
        let (average, report) = learn(points, &labelled, &self.plan())?;
        Ok(MulticlassTableModel::new(names, average, report))
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
    ) -> Result<BinaryTableModel, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        let (negative, positive) = self.0.class_weights;
        let classes: Vec<usize> =
            labels.iter().map(|y| usize::from(*y == Label::Positive)).collect();
        let cost = |i: usize| weight(i) * if classes[i] == 1 { positive } else { negative };
        let labelled = LabelledRows { classes: &classes, count: 2, weight: &cost, groups: None };
        let (average, report) = learn(points, &labelled, &self.plan())?;
        Ok(BinaryTableModel::new(average, report))
    }
}

/// Checks that there is one weight per row, and that every weight is finite and not negative.
fn check_weights(rows: usize, weights: &[f64]) -> Result<(), InputError> {
    InputError::check_len(rows, weights.len())?;
    for &weight in weights {
        let in_range = weight >= 0.0 && weight.is_finite();
        InputError::check_parameter("weight", weight, in_range, "at least 0 and finite")?;
    }
    Ok(())
}

impl FitSample for TableClassifier {
    type Model = BinaryTableModel;
    type Error = InputError;

    /// Fits a model to labelled rows.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`]; [`InputError::ParameterOutOfRange`] for fewer than
    /// [`MIN_TABLE_ROWS`] rows; [`InputError::Overflow`] if the difference of two numbers in a column overflows `f64`;
    /// [`InputError::TooLarge`].
    fn fit<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
    ) -> Result<BinaryTableModel, InputError> {
        self.fit_rows(points, labels, |_| 1.0)
    }
}
