//! The default classifier for tables.

use crate::candidate::{Candidate, ColumnScale, Method, Scale, Space, families};
use crate::hinge::{Examples, Hinge};
use crate::model::{Compared, Part, TableModel, TableReport};
use halfspaces_features::{Distance, FeatureMap, KernelValues, Landmarks, Nystroem, RadialKernel};
use halfspaces_linalg::{
    AffineHalfspace, Classifier, FitSample, InputError, Label, Params, PointSet, Points, RngStream,
    Threads, kernels, load_params, rng_for, rng_for_round, zeros,
};
use halfspaces_pac::{ErrorCount, LogisticRegression, SamplePerspectron};
use rand::seq::SliceRandom;

/// Fewer rows cannot be split.
pub const MIN_TABLE_ROWS: usize = 10;
/// Most rows learned from, by default.
pub const DEFAULT_MAX_ROWS: usize = 40_000;
/// Landmarks of a kernel.
const LANDMARKS: usize = 300;
/// Candidates averaged, at most.
const MAX_CHOSEN: usize = 8;
/// Parts of the rows, each labelled by fits to the others.
const FOLDS: usize = 4;
/// From so many rows on candidates are compared on a quarter of them only.
const MANY_ROWS: usize = 6000;
/// Rows kept back: a twentieth; from `SURE_FROM` rows on a tenth, at least `SURE` and at most `MAX_KEPT_BACK`.
const SURE_FROM: usize = 5000;
const SURE: usize = 1000;
const MAX_KEPT_BACK: usize = 20_000;
/// Passes of the Perspectron.
const PASSES: u64 = 10;

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
    /// a tenth, at least 1000 rows and at most 20 000. With 0 there is no bound, and all rows are learned from.
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
/// kernels of several widths; fitted by the hinge loss for several C, by logistic regression, by the Perspectron. All are
/// compared by their errors on rows they were not fitted to (four folds; a quarter held out from 6000 rows on). The
/// best eight, as far as none is worse than the best by more than two standard errors, are fitted to all rows and
/// averaged, each by the deviation of its values: among a few hundred rows the choice of one would be luck.
///
/// *Guarantee.* Rows kept back have no part in anything. From the model's errors on them comes a bound on its error on
/// fresh rows, exact at every probability asked for ([`TableModel::error_bound`]), if rows are independent draws of one
/// law, whatever the law. What is compared and bounded is the error on labels as they are given. Under
/// Massart noise of rates η(x) < 1/2 that orders classifiers by E[(1 - 2η(x)) 1{h ≠ h*}]: the error against the clean
/// labels h* is at most the bound minus E\[η\], over 1 - 2 max η.
///
/// *Cost.* At most `max_rows` rows are learned from, so time is linear in the table's size only for drawing them, scaling, and
/// the bound; for n of them O(n m (d + m)) per kernel, m = 300 landmarks, and O(nm) per pass of a fit. O(nm) memory
/// per thread.
///
/// *When to use it.* A table with a label per row, up to some thousand columns of numbers (categories one-hot), and no time
/// to choose. A proof that noise does no harm has the [`SamplePerspectron`] alone, for labels of a halfspace with a
/// margin; a single halfspace to read, [`LogisticRegression`].
///
/// *Source.* Ours; its parts are of Hsieh et al. 2008 (hinge loss), Williams and Seeger 2001 (Nyström), Platt 1999
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

    /// How many of `n` rows are kept back.
    fn kept_back(&self, n: usize) -> usize {
        match self.0.held_out {
            Some(share) => ((share * n as f64).round() as usize).min(n - MIN_TABLE_ROWS),
            None if n < SURE_FROM => (n / 20).min(n - MIN_TABLE_ROWS),
            None => (n / 10).clamp(SURE, MAX_KEPT_BACK),
        }
    }

    /// As [`FitSample::fit`], with what an error on each row costs, on top of the class weights. A row of weight 0 is
    /// not learned from. The error bound does not heed weights.
    ///
    /// # Errors
    /// As [`FitSample::fit`]; [`InputError::LengthMismatch`] for another number of weights;
    /// [`InputError::ParameterOutOfRange`] for a weight that is negative or not finite, if all are 0, or if those of
    /// all rows that candidates are compared on are 0.
    pub fn fit_weighted<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        weights: &[f64],
    ) -> Result<TableModel, InputError> {
        InputError::check_len(points.len(), weights.len())?;
        for &weight in weights {
            let in_range = weight >= 0.0 && weight.is_finite();
            InputError::check_parameter("weight", weight, in_range, "at least 0 and finite")?;
        }
        self.fit_rows(points, labels, |i| weights[i])
    }

    fn fit_rows<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        weight: impl Fn(usize) -> f64,
    ) -> Result<TableModel, InputError> {
        let TableParams { class_weights, max_rows, threads, seed, .. } = self.0;
        let n = labels.len();
        InputError::check_len(points.len(), n)?;
        if n == 0 {
            return Err(InputError::Empty);
        }
        let enough = n >= MIN_TABLE_ROWS;
        InputError::check_parameter("number of rows", n as f64, enough, "at least 10")?;
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut rng_for(RngStream::TableRows, seed));
        let (kept_back, rows) = order.split_at(self.kept_back(n));
        let rows = &rows[..rows.len().min(max_rows)];

        let chosen_points = points.select(rows)?;
        let class_weight = |y: Label| match y {
            Label::Negative => class_weights.0,
            Label::Positive => class_weights.1,
        };
        let weights: Vec<f64> = rows.iter().map(|&i| weight(i) * class_weight(labels[i])).collect();
        let total: f64 = weights.iter().sum();
        let requirement = "positive and finite in sum";
        InputError::check_parameter(
            "weights",
            total,
            total > 0.0 && total.is_finite(),
            requirement,
        )?;
        let mean = total / weights.len() as f64;
        let table = Table {
            signs: rows.iter().map(|&i| labels[i].as_f64()).collect(),
            labels: rows.iter().map(|&i| labels[i]).collect(),
            uniform: weights.iter().all(|w| w.to_bits() == weights[0].to_bits()),
            weights: weights.into_iter().map(|w| w / mean).collect(),
            splits: splits(rows.len()),
            seed,
        };
        let compared: f64 = table.compared_rows().map(|i| table.weights[i]).sum();
        InputError::check_parameter(
            "weight of the rows compared on",
            compared,
            compared > 0.0,
            "above 0; give weight to more rows",
        )?;
        let mut scales = Vec::with_capacity(2);
        let mut spaces = Vec::with_capacity(2);
        for columns in [ColumnScale::Standardised, ColumnScale::Ranked] {
            let scale = Scale::fit(columns, &chosen_points)?;
            let scaled = scale.apply_on(&chosen_points, threads)?;
            spaces.push(Scaled::new(columns, scaled, seed)?);
            scales.push(scale);
        }
        let (Some(ranked), Some(standardised)) = (scales.pop(), scales.pop()) else {
            unreachable!("both scales are fitted above")
        };

        let families = families(table.uniform);
        let values = threads.map_with(
            families.iter().enumerate(),
            || (),
            |(), (index, (columns, space, methods))| {
                table.compare(index, of_scale(&spaces, *columns), *space, methods)
            },
        );
        let mut tried = Vec::new();
        for (index, values) in values.into_iter().enumerate() {
            let (columns, space, methods) = &families[index];
            for (method, values) in methods.iter().zip(values?) {
                let candidate = Candidate { columns: *columns, space: *space, method: *method };
                tried.push(Tried { family: index, candidate, error: table.error(&values), values });
            }
        }
        // Stable: of equal errors the earlier first.
        tried.sort_by(|a, b| a.error.total_cmp(&b.error));
        let compared =
            tried.iter().map(|t| Compared { candidate: t.candidate, error: t.error }).collect();
        tried.truncate(table.near_best(&tried));
        for t in &mut tried {
            let deviation = table.deviation(&t.values);
            t.values.iter_mut().for_each(|v| *v /= deviation);
            t.error = deviation;
        }
        let mut sum = zeros(1, rows.len())?;
        for t in &tried {
            sum.iter_mut().zip(&t.values).for_each(|(sum, v)| *sum += v);
        }

        let mut used: Vec<usize> = tried.iter().map(|t| t.family).collect();
        used.sort_unstable();
        used.dedup();
        let parts = threads.map_with(
            used.iter(),
            || (),
            |(), &family| {
                let members: Vec<(Method, f64)> = tried
                    .iter()
                    .filter(|t| t.family == family)
                    .map(|t| (t.candidate.method, t.error))
                    .collect();
                let (columns, space, _) = &families[family];
                table.part(family, of_scale(&spaces, *columns), *space, members)
            },
        );
        let parts = parts.into_iter().collect::<Result<Vec<Part>, InputError>>()?;
        let report = TableReport {
            compared,
            chosen: tried.len(),
            learned_from: rows.len(),
            compared_on: table.compared_rows().count(),
            error: table.error(&sum),
            kept_back: None,
        };
        let log_odds = table.log_odds(&sum)?;
        let mut model = TableModel::new(standardised, ranked, parts, log_odds, report);
        if !kept_back.is_empty() {
            let found = model.label_all_on(&points.select(kept_back)?, threads)?;
            let wrong = found.iter().zip(kept_back).filter(|(y, i)| **y != labels[**i]).count();
            model.report_mut().kept_back = Some(ErrorCount::new(wrong, kept_back.len())?);
        }
        Ok(model)
    }
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

/// Rows to fit to and rows to label: all but a fold, and that fold. They stand in random order already.
fn splits(n: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    if n >= MANY_ROWS {
        let held_out = n / 4;
        return vec![((held_out..n).collect(), (0..held_out).collect())];
    }
    let fold = |k| (0..n).partition(|i| i % FOLDS != k);
    (0..FOLDS).map(fold).collect()
}

fn of_scale(spaces: &[Scaled], columns: ColumnScale) -> &Scaled {
    match columns {
        ColumnScale::Standardised => &spaces[0],
        ColumnScale::Ranked => &spaces[1],
    }
}

/// The rows learned from, on one scale.
struct Scaled {
    columns: ColumnScale,
    points: Points,
    landmarks: Points,
    medians: [f64; 2],
}

impl Scaled {
    fn new(columns: ColumnScale, points: Points, seed: u64) -> Result<Scaled, InputError> {
        let landmarks = Landmarks::Uniform.choose(&points, LANDMARKS, seed)?;
        let median = |distance: Distance| distance.median(&points, seed);
        let medians = [median(Distance::SquaredEuclidean)?, median(Distance::Manhattan)?];
        Ok(Scaled { columns, points, landmarks, medians })
    }

    fn kernel(&self, distance: Distance, width: f64) -> Result<RadialKernel, InputError> {
        let median = match distance {
            Distance::SquaredEuclidean => self.medians[0],
            Distance::Manhattan => self.medians[1],
        };
        RadialKernel::new(distance, width * median)
    }
}

/// A candidate, its error, and its values on the rows compared on (0 on others).
struct Tried {
    family: usize,
    candidate: Candidate,
    error: f64,
    values: Vec<f64>,
}

/// Labels and weights of the rows learned from, and how they are split.
struct Table {
    labels: Vec<Label>,
    signs: Vec<f64>,
    /// Of mean 1.
    weights: Vec<f64>,
    uniform: bool,
    splits: Vec<(Vec<usize>, Vec<usize>)>,
    seed: u64,
}

impl Table {
    fn compared_rows(&self) -> impl Iterator<Item = usize> {
        self.splits.iter().flat_map(|(_, rows)| rows.iter().copied())
    }

    /// The share of wrong signs among the rows compared on, by weight.
    fn error(&self, values: &[f64]) -> f64 {
        let (mut wrong, mut total) = (0.0, 0.0);
        for i in self.compared_rows() {
            total += self.weights[i];
            if Label::from_sign(values[i]) != self.labels[i] {
                wrong += self.weights[i];
            }
        }
        assert!(total > 0.0, "rows without any weight are refused before they are compared on");
        (wrong / total).min(1.0)
    }

    /// How many candidates, sorted by error, are averaged: within two standard errors of the first, or as good as it
    /// but for two rows.
    fn near_best(&self, tried: &[Tried]) -> usize {
        let best = tried[0].error;
        let rows = self.compared_rows().count() as f64;
        let most = best + 2.0 * (best * (1.0 - best) / rows).sqrt().max(1.0 / rows);
        tried.iter().take(MAX_CHOSEN).take_while(|t| t.error <= most).count()
    }

    /// The deviation of the values from 0 on the rows compared on; 1 if they are all 0.
    fn deviation(&self, values: &[f64]) -> f64 {
        let squares: f64 = self.compared_rows().map(|i| values[i] * values[i]).sum();
        let deviation = (squares / self.compared_rows().count() as f64).sqrt();
        if deviation > 0.0 { deviation } else { 1.0 }
    }

    /// Slope and offset of the log odds (Platt).
    fn log_odds(&self, sum: &[f64]) -> Result<(f64, f64), InputError> {
        let values: Vec<f64> = self.compared_rows().map(|i| sum[i]).collect();
        let labels: Vec<Label> = self.compared_rows().map(|i| self.labels[i]).collect();
        let fit = LogisticRegression::params().c(100.0).tolerance(1e-8).check()?;
        let fit = fit.fit(&Points::new(values, 1)?, &labels)?;
        Ok((fit.halfspace().weights()[0], fit.halfspace().bias()))
    }

    /// The features of a space, and what a halfspace of them is kept as.
    fn features(
        &self,
        scaled: &Scaled,
        space: Space,
    ) -> Result<(Points, Option<Nystroem>), InputError> {
        match space {
            Space::Columns => Ok((scaled.points.clone(), None)),
            Space::Kernel { distance, width } => {
                let kernel = scaled.kernel(distance, width)?;
                let map = Nystroem::new(scaled.landmarks.clone(), kernel)?;
                Ok((map.apply(&scaled.points)?, Some(map)))
            }
        }
    }

    /// Halfspaces fitted to some rows, one per method, for rising C.
    fn fit(
        &self,
        family: usize,
        features: &Points,
        rows: &[usize],
        methods: &[Method],
    ) -> Result<Vec<AffineHalfspace>, InputError> {
        let Table { signs, weights, .. } = self;
        let rows: Vec<usize> = rows.iter().copied().filter(|&i| weights[i] > 0.0).collect();
        let rows = rows.as_slice();
        let examples = Examples { features, signs, weights, rows };
        let mut hinge = Hinge::new(&examples, features.dim());
        let mut rng = rng_for_round(RngStream::TableOrder, self.seed, family as u32);
        let sample = || -> Result<(Points, Vec<Label>), InputError> {
            Ok((features.select(rows)?, rows.iter().map(|&i| self.labels[i]).collect()))
        };
        let fitted = |method: &Method| match *method {
            Method::Hinge { c } => {
                hinge.solve(&examples, c, &mut rng);
                hinge.halfspace()
            }
            Method::Logistic { c } => {
                let (points, labels) = sample()?;
                let learner = LogisticRegression::params().c(c).tolerance(1e-6).check()?;
                Ok(learner.fit(&points, &labels)?.halfspace().clone())
            }
            Method::Perspectron => {
                let (points, labels) = sample()?;
                if points.as_slice().iter().all(|v| v.abs() <= 0.0) {
                    // Rows without a direction: the more frequent class.
                    let sum: f64 = labels.iter().map(|y| y.as_f64()).sum();
                    return AffineHalfspace::new(zeros(1, points.dim())?, 1f64.copysign(sum));
                }
                let learner = SamplePerspectron::params().passes(PASSES).seed(self.seed).check()?;
                Ok(learner.fit(&points, &labels)?.halfspace().clone())
            }
        };
        methods.iter().map(fitted).collect()
    }

    /// The values of each method on the rows compared on, by fits to other rows.
    fn compare(
        &self,
        family: usize,
        scaled: &Scaled,
        space: Space,
        methods: &[Method],
    ) -> Result<Vec<Vec<f64>>, InputError> {
        let (features, _) = self.features(scaled, space)?;
        let mut values = vec![zeros(1, self.labels.len())?; methods.len()];
        for (fit_to, label) in &self.splits {
            let fits = self.fit(family, &features, fit_to, methods)?;
            for (halfspace, values) in fits.iter().zip(&mut values) {
                for &i in label {
                    let x = &features.as_slice()[i * features.dim()..][..features.dim()];
                    values[i] = kernels::dot(x, halfspace.weights()) + halfspace.bias();
                }
            }
        }
        Ok(values)
    }

    /// The sum of the halfspaces of these methods, each over its deviation, fitted to all rows.
    fn part(
        &self,
        family: usize,
        scaled: &Scaled,
        space: Space,
        mut members: Vec<(Method, f64)>,
    ) -> Result<Part, InputError> {
        let (features, map) = self.features(scaled, space)?;
        let c = |method: &Method| match *method {
            Method::Hinge { c } | Method::Logistic { c } => c,
            Method::Perspectron => 0.0,
        };
        members.sort_by(|a, b| c(&a.0).total_cmp(&c(&b.0)));
        let methods: Vec<Method> = members.iter().map(|(method, _)| *method).collect();
        let rows: Vec<usize> = (0..self.labels.len()).collect();
        let fits = self.fit(family, &features, &rows, &methods)?;
        let mut weights = zeros(1, features.dim())?;
        let mut bias = 0.0;
        for (halfspace, (_, deviation)) in fits.iter().zip(&members) {
            kernels::axpy(1.0 / deviation, halfspace.weights(), &mut weights);
            bias += halfspace.bias() / deviation;
        }
        let (kernel, weights) = match map {
            None => (None, weights),
            Some(map) => {
                let values = KernelValues::new(map.landmarks().clone(), map.kernel())?;
                (Some(values), map.expansion(&weights)?)
            }
        };
        Ok(Part {
            columns: scaled.columns,
            kernel,
            halfspace: AffineHalfspace::new(weights, bias)?,
        })
    }
}
