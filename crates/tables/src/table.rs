//! The training rows of a table, and the fits to them.

use crate::averaged::Part;
use crate::candidate::{Family, Method};
use crate::feature_rows::{Entry, FeatureRows};
use crate::hinge::{Examples, Hinge};
use crate::ridge::Ridge;
use crate::rounds::{Round, rounds};
use crate::scaled_rows::{Features, ScaledRows, with_rows};
use crate::streams;
use halfspaces_features::SingleNystroem;
use halfspaces_linalg::{
    AffineHalfspace, FitSample, InputError, Label, Params, PointSet, Points, deciding_class,
    kernels, rng_for_round, zeros,
};
use halfspaces_pac::{Calibration, LogisticRegression, SamplePerspectron};

/// The default maximum number of training rows.
pub const DEFAULT_MAX_ROWS: usize = 40_000;

/// Maximum number of candidates that are averaged.
const MAX_CHOSEN: usize = 4;
/// The factor C of the calibration: the weight of the likelihood relative to the penalty on the slope.
const CALIBRATION_C: f64 = 100.0;
/// Tolerance of a [`Hinge`] fit: the largest difference between two violations of the optimality conditions, in units
/// of the margin. A smaller tolerance hardly reduces the error.
const TOLERANCE: f64 = 0.7;
/// Number of passes of the Perspectron.
pub(crate) const PASSES: u64 = 10;

/// The classes of a table's rows and the weight of an error on each row.
pub(crate) struct LabelledRows<'a> {
    /// The class of each row, below `count`.
    pub(crate) classes: &'a [usize],
    /// Number of classes, at least 2.
    pub(crate) count: usize,
    pub(crate) weight: &'a dyn Fn(usize) -> f64,
    /// The group of each row; `None` if each row is its own group.
    pub(crate) groups: Option<&'a [usize]>,
}

/// A calibration of many classes is fitted to this number of rows, or to all rows if there are fewer.
const CALIBRATION_ROWS: usize = 1000;
/// With fewer classes, a calibration is fitted to at most this number of decision values. Each step of a fit computes a
/// power and an exponential of each value.
const CALIBRATION_VALUES: usize = 1_000_000;

/// Maximum number of rows to which a calibration of `classes` classes is fitted.
pub(crate) fn max_calibration_rows(classes: usize) -> usize {
    (CALIBRATION_VALUES / classes).max(CALIBRATION_ROWS)
}

impl LabelledRows<'_> {
    /// The weights of some rows, scaled to mean 1.
    pub(crate) fn weights(&self, rows: &[usize]) -> Result<Vec<f64>, InputError> {
        let weights: Vec<f64> = rows.iter().map(|&i| (self.weight)(i)).collect();
        let total: f64 = weights.iter().sum();
        let in_range = total > 0.0 && total.is_finite();
        let requirement = "positive and finite in sum";
        InputError::check_parameter("weights", total, in_range, requirement)?;
        let mean = total / weights.len() as f64;
        Ok(weights.into_iter().map(|w| w / mean).collect())
    }

    /// Fits the map from decision values to probabilities to the `values` of some rows.
    pub(crate) fn calibration(
        &self,
        values: &Points,
        rows: &[usize],
    ) -> Result<Calibration, InputError> {
        let weights = self.weights(rows)?;
        let classes: Vec<usize> = rows.iter().map(|row| self.classes[*row]).collect();
        Calibration::fit(values, &classes, &weights, CALIBRATION_C)
    }
}

/// The decision values of the training rows, row by row. They are 0 for rows that are not validation rows.
pub(crate) type Values = Vec<f64>;

/// The dual variables of a [`Hinge`] for each output. They are 0 for other methods.
type Duals = Vec<Vec<f64>>;

/// A halfspace and the dual variables of its [`Hinge`], one per row. Other methods have no dual variables.
#[derive(Clone)]
struct Fit {
    halfspace: AffineHalfspace,
    duals: Vec<f64>,
}

impl Fit {
    fn without_duals(halfspace: AffineHalfspace) -> Fit {
        Fit { halfspace, duals: Vec::new() }
    }
}

/// The validation results of a method.
pub(crate) struct Comparison {
    pub(crate) method: Method,
    /// Decision values of the validation rows, from fits to other rows.
    pub(crate) values: Values,
    /// The mean of each row's dual variables over the fits that used the row.
    pub(crate) duals: Duals,
}

impl Comparison {
    /// The empty results of a method, before anything has been fitted: all values are 0.
    pub(crate) fn empty(table: &Table, method: Method) -> Result<Comparison, InputError> {
        let duals = vec![vec![0.0; table.classes.len()]; table.outputs()];
        Ok(Comparison { method, values: table.zero_values()?, duals })
    }
}

/// The methods to fit, and the starting points of their fits.
struct FitPlan<'a> {
    methods: &'a [Method],
    /// The initial dual variables of each method. If `None`, a fit starts from the solution for the previous C.
    warm_start: Option<&'a [&'a Duals]>,
    /// Number of passes of the Perspectron.
    passes: u64,
}

/// A method that was chosen for the average.
pub(crate) struct Member<'a> {
    pub(crate) method: Method,
    /// The root mean square of the method's decision values.
    pub(crate) scale: f64,
    /// The initial dual variables for the method's fit to all rows.
    pub(crate) duals: &'a Duals,
}

/// The classes and the weights of the training rows, and the rounds in which candidates are compared on these rows.
pub(crate) struct Table {
    classes: Vec<usize>,
    /// For each output, +1 for the rows of its class and -1 for the other rows. With two classes, there is only one
    /// output, which belongs to the second class.
    signs: Vec<Vec<f64>>,
    /// The weights of the rows, which are positive and have mean 1.
    weights: Vec<f64>,
    is_uniform: bool,
    rounds: Vec<Round>,
    seed: u64,
}

impl Table {
    /// Creates the table from the given `rows`. The rows of each group must be consecutive.
    pub(crate) fn new(
        labelled: &LabelledRows<'_>,
        rows: &[usize],
        seed: u64,
    ) -> Result<Table, InputError> {
        let weights = labelled.weights(rows)?;
        let classes: Vec<usize> = rows.iter().map(|&i| labelled.classes[i]).collect();
        let outputs = if labelled.count == 2 { 1..2 } else { 0..labelled.count };
        let sign = |class: usize, of: usize| if class == of { 1.0 } else { -1.0 };
        let signs = outputs.map(|of| classes.iter().map(|&class| sign(class, of)).collect());
        Ok(Table {
            signs: signs.collect(),
            classes,
            is_uniform: weights.iter().all(|w| w.to_bits() == weights[0].to_bits()),
            weights,
            rounds: match labelled.groups {
                Some(groups) => rounds(&rows.iter().map(|&i| groups[i]).collect::<Vec<_>>()),
                None => rounds(&(0..rows.len()).collect::<Vec<_>>()),
            },
            seed,
        })
    }

    /// The number of decision values of a row: one for two classes, otherwise one per class.
    pub(crate) fn outputs(&self) -> usize {
        self.signs.len()
    }

    /// Whether all rows have the same weight.
    pub(crate) fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    pub(crate) fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The validation rows of the first `rounds` rounds. The rows of the screening round count only if it is the only
    /// round so far.
    fn validation_rows_after(&self, rounds: usize) -> impl Iterator<Item = usize> {
        let all = &self.rounds[..rounds];
        let counted = if all[0].is_screening && rounds > 1 { &all[1..] } else { all };
        counted.iter().flat_map(|round| round.validation_rows.iter().copied())
    }

    /// All validation rows.
    pub(crate) fn validation_rows(&self) -> impl Iterator<Item = usize> {
        self.validation_rows_after(self.rounds.len())
    }

    pub(crate) fn zero_values(&self) -> Result<Values, InputError> {
        zeros(self.classes.len(), self.outputs())
    }

    fn row_values<'v>(&self, values: &'v [f64], row: usize) -> &'v [f64] {
        &values[row * self.outputs()..][..self.outputs()]
    }

    /// The weighted error rate on the validation rows.
    pub(crate) fn error(&self, values: &[f64]) -> f64 {
        self.row_errors(values, self.rounds.len()).iter().sum::<f64>().min(1.0)
    }

    /// The contribution of each validation row of the first `rounds` rounds to the weighted error rate on these rows.
    /// The contribution is 0 if the predicted class is correct.
    pub(crate) fn row_errors(&self, values: &[f64], rounds: usize) -> Vec<f64> {
        let rows = || self.validation_rows_after(rounds);
        let total: f64 = rows().map(|i| self.weights[i]).sum();
        let is_correct = |i| deciding_class(self.row_values(values, i)) == self.classes[i];
        // Rows without weight contribute 0, even if no validation row has any weight.
        let error = |i: usize| {
            if is_correct(i) || self.weights[i] <= 0.0 { 0.0 } else { self.weights[i] / total }
        };
        rows().map(error).collect()
    }

    /// The ranking error: 1 minus the area under the ROC curve, averaged over the outputs. For an output, this is the
    /// weighted fraction of wrongly ordered pairs of one row of the output's class and one row of another class. Ties
    /// count half. An output whose rows all have the same sign counts as 0.
    pub(crate) fn ranking_error(&self, values: &[f64], rounds: usize) -> f64 {
        let of_output = |(output, signs): (usize, &Vec<f64>)| {
            let of_row =
                |i: usize| (self.row_values(values, i)[output], signs[i] > 0.0, self.weights[i]);
            let mut rows: Vec<(f64, bool, f64)> =
                self.validation_rows_after(rounds).map(of_row).collect();
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
            // The total weights of the positive rows with smaller values, of the wrongly ordered pairs, and of the rows
            // of either sign.
            let (mut below, mut wrong, mut totals) = (0.0, 0.0, [0.0; 2]);
            for equal in rows.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
                let weight = |positive: bool| -> f64 {
                    equal.iter().filter(|row| row.1 == positive).map(|row| row.2).sum()
                };
                let (positive, negative) = (weight(true), weight(false));
                wrong += negative * (below + 0.5 * positive);
                below += positive;
                totals[0] += positive;
                totals[1] += negative;
            }
            if wrong > 0.0 { wrong / (totals[0] * totals[1]) } else { 0.0 }
        };
        self.signs.iter().enumerate().map(of_output).sum::<f64>() / self.outputs() as f64
    }

    /// The number of candidates that are averaged, given their errors in increasing order.
    pub(crate) fn near_best(&self, errors: &[f64]) -> usize {
        near_best(errors, self.validation_rows().count())
    }

    /// The root mean square of the values of the validation rows, or 1 if all values are 0.
    pub(crate) fn root_mean_square(&self, values: &[f64]) -> f64 {
        let squares: f64 =
            self.validation_rows().flat_map(|i| self.row_values(values, i)).map(|v| v * v).sum();
        let count = self.validation_rows().count() * self.outputs();
        let root = (squares / count as f64).sqrt();
        if root > 0.0 { root } else { 1.0 }
    }

    /// Fits the calibration that turns decision values into probabilities.
    pub(crate) fn calibration(&self, values: &[f64]) -> Result<Calibration, InputError> {
        let rows: Vec<usize> = self.validation_rows().collect();
        let values = rows.iter().flat_map(|i| self.row_values(values, *i)).copied().collect();
        let classes: Vec<usize> = rows.iter().map(|i| self.classes[*i]).collect();
        let weights: Vec<f64> = rows.iter().map(|i| self.weights[*i]).collect();
        let values = Points::new(values, self.outputs())?;
        Calibration::fit(&values, &classes, &weights, CALIBRATION_C)
    }

    /// Fits halfspaces to some rows. Returns one fit per output for each method.
    fn fit(
        &self,
        family: usize,
        features: &Features,
        columns: &Points,
        rows: &[usize],
        plan: &FitPlan<'_>,
    ) -> Result<Vec<Vec<Fit>>, InputError> {
        with_rows!(&features.rows, features => {
            self.fit_to(family, features, columns, rows, plan)
        })
    }

    fn fit_to<T: Entry>(
        &self,
        family: usize,
        features: &FeatureRows<T>,
        columns: &Points,
        rows: &[usize],
        &FitPlan { methods, warm_start, passes }: &FitPlan<'_>,
    ) -> Result<Vec<Vec<Fit>>, InputError> {
        let weights = &self.weights;
        let mut rng = rng_for_round(streams::TABLE_ORDER, self.seed, family as u32);
        let mut fits = vec![Vec::with_capacity(self.outputs()); methods.len()];
        if let [Method::Ridge { .. }, ..] = methods {
            let ridge = Ridge::new(features, &self.signs, weights, rows);
            for (method, fits) in methods.iter().zip(&mut fits) {
                let Method::Ridge { c } = *method else {
                    unreachable!("a family has ridge regression only, or not at all")
                };
                fits.extend(ridge.solve(c)?.into_iter().map(Fit::without_duals));
            }
            return Ok(fits);
        }
        for (output, signs) in self.signs.iter().enumerate() {
            let examples = Examples { features, signs, weights, rows };
            let mut hinge = Hinge::new(&examples)?;
            // The methods that need this sample are used only on columns.
            let sample = || -> Result<(Points, Vec<Label>), InputError> {
                assert_eq!(columns.dim(), features.dim(), "features that are the columns");
                let labels = rows.iter().map(|&i| Label::from_sign(signs[i])).collect();
                Ok((columns.select(rows)?, labels))
            };
            for (index, (method, fits)) in methods.iter().zip(&mut fits).enumerate() {
                fits.push(match *method {
                    Method::Hinge { c } => {
                        if let Some(duals) = warm_start {
                            hinge = Hinge::from_duals(&examples, &duals[index][output])?;
                        }
                        hinge.solve(&examples, c, TOLERANCE, &mut rng);
                        Fit { halfspace: hinge.halfspace()?, duals: hinge.duals().to_vec() }
                    }
                    Method::Logistic { c } => {
                        let (points, labels) = sample()?;
                        let learner = LogisticRegression::params().c(c).tolerance(1e-6).check()?;
                        Fit::without_duals(learner.fit(&points, &labels)?.halfspace().clone())
                    }
                    Method::Ridge { .. } => unreachable!("see above"),
                    Method::Discriminant { .. } => unreachable!("see `many`"),
                    Method::Perspectron => Fit::without_duals(self.perspectron(sample()?, passes)?),
                });
            }
        }
        Ok(fits)
    }

    fn perspectron(
        &self,
        (points, labels): (Points, Vec<Label>),
        passes: u64,
    ) -> Result<AffineHalfspace, InputError> {
        if points.as_slice().iter().all(|v| v.abs() <= 0.0) {
            // All rows are 0, so predict the more frequent class.
            let sum: f64 = labels.iter().map(|y| y.as_f64()).sum();
            return AffineHalfspace::new(zeros(1, points.dim())?, 1f64.copysign(sum));
        }
        let learner = SamplePerspectron::params().passes(passes).seed(self.seed).check()?;
        Ok(learner.fit(&points, &labels)?.halfspace().clone())
    }

    /// Whether these are the features of all rows.
    pub(crate) fn has_all_rows(&self, features: &Features) -> bool {
        with_rows!(&features.rows, rows => rows.len()) == self.classes.len()
    }

    /// Computes the features that a round uses for a family.
    pub(crate) fn round_features(
        &self,
        scaled: &ScaledRows,
        family: &Family,
        round: usize,
    ) -> Result<Features, InputError> {
        let round = &self.rounds[round];
        scaled.features(family, round.rows(), round.is_screening)
    }

    /// Fits the methods of `compared` to the fit rows of a round and adds the results on its validation rows. The
    /// Perspectron makes `passes` passes.
    pub(crate) fn compare(
        &self,
        index: usize,
        scaled: &ScaledRows,
        features: &Features,
        round: usize,
        passes: u64,
        compared: &mut [Comparison],
    ) -> Result<(), InputError> {
        let Round { fit_rows, validation_rows, is_screening, .. } = &self.rounds[round];
        // With folds, a row is used in all fits except one.
        let folds = self.rounds.iter().filter(|round| !round.is_screening).count();
        let fits_of_row = (folds - 1).max(1) as f64;
        let methods: Vec<Method> = compared.iter().map(|of| of.method).collect();
        let plan = FitPlan { methods: &methods, warm_start: None, passes };
        let fits = self.fit(index, features, &scaled.points, fit_rows, &plan)?;
        for (fits, compared) in fits.iter().zip(compared) {
            for (output, Fit { halfspace, duals }) in fits.iter().enumerate() {
                let weights = halfspace.weights();
                let products =
                    with_rows!(&features.rows, rows => rows.products(validation_rows, weights));
                for (i, product) in validation_rows.iter().zip(products) {
                    compared.values[i * self.outputs() + output] = product + halfspace.bias();
                }
                if !is_screening {
                    for (mean, dual) in compared.duals[output].iter_mut().zip(duals) {
                        *mean += dual / fits_of_row;
                    }
                }
            }
        }
        Ok(())
    }

    /// Fits the members to all rows and sums their halfspaces, each divided by the scale of the member. `features` are
    /// the features of all rows, if they are already computed.
    pub(crate) fn part(
        &self,
        index: usize,
        scaled: &ScaledRows,
        family: &Family,
        members: &[Member<'_>],
        features: Option<Features>,
    ) -> Result<Part, InputError> {
        let n = self.classes.len();
        let features = match features {
            Some(features) => features,
            None => scaled.features(family, n, false)?,
        };
        let methods: Vec<Method> = members.iter().map(|member| member.method).collect();
        let duals: Vec<&Duals> = members.iter().map(|member| member.duals).collect();
        let rows: Vec<usize> = (0..n).collect();
        let warm_start = Some(duals.as_slice());
        let plan = FitPlan { methods: &methods, warm_start, passes: PASSES };
        let fits = self.fit(index, &features, &scaled.points, &rows, &plan)?;
        let mut halfspaces = Vec::with_capacity(self.outputs());
        for output in 0..self.outputs() {
            let mut weights = zeros(1, with_rows!(&features.rows, rows => rows.dim()))?;
            let mut bias = 0.0;
            for (fits, member) in fits.iter().zip(members) {
                let h = &fits[output].halfspace;
                kernels::axpy(1.0 / member.scale, h.weights(), &mut weights);
                bias += h.bias() / member.scale;
            }
            if let Some(map) = &features.map {
                weights = map.expansion(weights);
            }
            halfspaces.push(AffineHalfspace::new(weights, bias)?);
        }
        let kernel = features.map.map(SingleNystroem::into_kernel_values);
        Ok(Part { columns: scaled.columns, kernel, halfspaces })
    }
}

/// The margin within which an error counts as close to the smallest error, if both were measured on `rows` rows. The
/// margin is two standard errors, but at least two errors divided by the number of rows.
pub(crate) fn near_margin(least: f64, rows: usize) -> f64 {
    let rows = rows as f64;
    2.0 * (least * (1.0 - least) / rows).sqrt().max(1.0 / rows)
}

/// The number of errors within [`near_margin`] of the first one, but at most [`MAX_CHOSEN`]. The errors are in
/// increasing order and were measured on `rows` rows.
fn near_best(errors: &[f64], rows: usize) -> usize {
    let limit = errors[0] + near_margin(errors[0], rows);
    errors.iter().take(MAX_CHOSEN).take_while(|error| **error <= limit).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{ColumnScale, Space};
    use crate::scaled_rows::Rows;
    use halfspaces_features::Distance;

    #[test]
    fn many_classes_are_calibrated_on_fewer_rows() {
        let rows = [2, 50, 500, 1000, 40_000].map(max_calibration_rows);
        assert_eq!(rows, [500_000, 20_000, 2000, 1000, 1000]);
    }

    #[test]
    fn values_of_zero_have_scale_one() {
        let labelled =
            LabelledRows { classes: &[0, 1].repeat(20), count: 2, weight: &|_| 1.0, groups: None };
        let table = Table::new(&labelled, &(0..40).collect::<Vec<_>>(), 1).unwrap();
        assert_eq!(table.root_mean_square(&[0.0; 40]), 1.0);
        assert_eq!(table.root_mean_square(&[-2.0; 40]), 2.0);
    }

    /// Compares the fits with separate descents: on a fold, and on all rows, starting from the mean of the folds' dual
    /// variables.
    #[test]
    fn descents_stop_at_the_tolerance() {
        let n = 200;
        let values: Vec<f64> = (0..2 * n).map(|i| (f64::from(i) * 12.9898).sin()).collect();
        let classes: Vec<usize> = values
            .chunks(2)
            .enumerate()
            .map(|(i, x)| usize::from((x[0] > x[1]) != (i % 7 == 3)))
            .collect();
        let labelled = LabelledRows { classes: &classes, count: 2, weight: &|_| 1.0, groups: None };
        let rows: Vec<usize> = (0..classes.len()).collect();
        let table = Table::new(&labelled, &rows, 1).unwrap();
        let (columns, space) = (ColumnScale::Standardised, Space::Columns);
        let scaled =
            ScaledRows::new(columns, Points::new(values, 2).unwrap(), table.outputs(), 1).unwrap();
        let method = Method::Hinge { c: 3.0 };
        let family = Family { columns, space, methods: vec![method] };
        let features = table.round_features(&scaled, &family, 0).unwrap();
        let Rows::Single(stored) = &features.rows else { unreachable!("features of columns") };
        let order = || rng_for_round(streams::TABLE_ORDER, 1, 5);

        let mut compared = [Comparison::empty(&table, method).unwrap()];
        table.compare(5, &scaled, &features, 2, 1, &mut compared).unwrap();
        let [compared] = compared;
        let fold: Vec<usize> = rows.iter().copied().filter(|i| i % 4 != 2).collect();
        let (signs, weights) = (&table.signs[0], &table.weights);
        let examples = Examples { features: stored, signs, weights, rows: &fold };
        let mut hinge = Hinge::new(&examples).unwrap();
        hinge.solve(&examples, 3.0, 0.7, &mut order());
        let thirds: Vec<f64> = hinge.duals().iter().map(|dual| dual / 3.0).collect();
        assert_eq!(compared.duals, [thirds]);

        let members = [Member { method, scale: 2.0, duals: &compared.duals }];
        let part = table.part(5, &scaled, &family, &members, None).unwrap();
        let examples = Examples { rows: &rows, ..examples };
        let mut hinge = Hinge::from_duals(&examples, &compared.duals[0]).unwrap();
        hinge.solve(&examples, 3.0, 0.7, &mut order());
        let (found, expected) = (&part.halfspaces[0], hinge.halfspace().unwrap());
        assert_eq!(found.bias(), expected.bias() / 2.0);
        for (found, w) in found.weights().iter().zip(expected.weights()) {
            assert_eq!(*found, w / 2.0);
        }
    }

    /// The rows have weights 1, 2, 3, 4.
    #[test]
    fn ranking_errors_by_hand() {
        let of = |classes: &[usize], count, values: &[f64]| {
            let labelled =
                LabelledRows { classes, count, weight: &|i| (i + 1) as f64, groups: None };
            let rows: Vec<usize> = (0..classes.len()).collect();
            let table = Table::new(&labelled, &rows, 1).unwrap();
            table.ranking_error(values, table.rounds().len())
        };
        // The pairs (0, 1), (0, 3), (2, 1) and (2, 3) have weights 2, 4, 6 and 12.
        for (values, wrong) in [
            ([1.0, 2.0, 1.5, 3.0], 0.0),
            ([2.5, 2.0, 1.5, 3.0], 2.0),
            ([2.0, 2.0, 1.5, 3.0], 1.0),
            ([0.0, 2.0, 5.0, 3.0], 18.0),
            ([4.0, 2.0, 5.0, 3.0], 24.0),
            ([1.0; 4], 12.0),
        ] {
            let found = of(&[0, 1, 0, 1], 2, &values);
            assert!((found - wrong / 24.0).abs() < 1e-12, "{values:?}: {found}");
        }
        assert_eq!(of(&[1, 1, 1, 1], 2, &[1.0, 3.0, 2.0, 0.0]), 0.0);
        // Each row has a value for each class. All pairs are in order for the first two classes, and no pair is in
        // order for the third.
        let values = [5.0, 0.0, 1.0, 0.0, 5.0, 2.0, 0.0, 1.0, 0.0];
        let found = of(&[0, 1, 2], 3, &values);
        assert!((found - 1.0 / 3.0).abs() < 1e-12, "{found}");
    }

    /// A narrow kernel keeps all landmarks.
    #[test]
    fn the_screening_round_has_fewer_rows_and_landmarks() {
        let n = 6000;
        let values: Vec<f64> = (0..3 * n).map(|i| (f64::from(i) * 12.9898).sin()).collect();
        let classes: Vec<usize> = (0..n as usize).map(|i| i % 2).collect();
        let labelled = LabelledRows { classes: &classes, count: 2, weight: &|_| 1.0, groups: None };
        let rows: Vec<usize> = (0..classes.len()).collect();
        let table = Table::new(&labelled, &rows, 1).unwrap();
        let columns = ColumnScale::Standardised;
        let scaled =
            ScaledRows::new(columns, Points::new(values, 3).unwrap(), table.outputs(), 1).unwrap();
        let space = Space::Kernel { distance: Distance::Manhattan, width: 0.5 };
        let family = Family { columns, space, methods: vec![Method::Hinge { c: 1.0 }] };
        for (round, expected) in [(0, (3000, 300)), (1, (6000, 500))] {
            let features = table.round_features(&scaled, &family, round).unwrap();
            let found = with_rows!(&features.rows, rows => (rows.len(), rows.dim()));
            assert_eq!(found, expected);
            assert_eq!(table.has_all_rows(&features), round == 1);
        }
    }

    #[test]
    fn near_best_by_hand() {
        // The limit is 0.1 + 2 · √(0.09/100) = 0.16.
        assert_eq!(near_best(&[0.1, 0.159, 0.161], 100), 2);
        // The limit is two rows of a hundred.
        assert_eq!(near_best(&[0.0, 0.0199, 0.0201], 100), 2);
        assert_eq!(near_best(&[0.2; 100], 100), 4);
    }

    /// If the sign of the decision value is correct for three rows out of four, the odds are 3.
    #[test]
    fn probabilities_are_the_fractions_of_rows() {
        let classes: Vec<usize> = (0..400).map(|i| i / 200).collect();
        let labelled = LabelledRows { classes: &classes, count: 2, weight: &|_| 1.0, groups: None };
        let table = Table::new(&labelled, &(0..400).collect::<Vec<_>>(), 1).unwrap();
        let sign = |i: usize| if (i % 200 < 150) == (i < 200) { -1.0 } else { 1.0 };
        let values: Vec<f64> = (0..400).map(sign).collect();
        let probability = table.calibration(&values).unwrap().probabilities(&[1.0])[1];
        assert!((probability - 0.75).abs() < 1e-3, "{probability}");
    }

    #[test]
    fn the_perspectron_predicts_the_more_frequent_class_of_zero_rows() {
        for (classes, bias) in [([1, 1, 0], 1.0), ([0, 0, 1], -1.0)] {
            let labelled =
                LabelledRows { classes: &classes, count: 2, weight: &|_| 1.0, groups: None };
            let table = Table::new(&labelled, &[0, 1, 2], 1).unwrap();
            let label = |class: &usize| Label::from_sign(*class as f64 - 0.5);
            let labels = classes.iter().map(label).collect();
            let zeros = Points::new(vec![0.0; 3], 1).unwrap();
            assert_eq!(table.perspectron((zeros, labels), 1).unwrap().bias(), bias);
        }
    }
}
