//! The rows learned from, and fits to them.

use crate::averaged::Part;
use crate::candidate::{ColumnScale, Family, Method, Space};
use crate::feature_rows::{Entry, FeatureRows, copy_rounded};
use crate::hinge::{Examples, Hinge};
use crate::landmark_features::LandmarkFeatures;
use crate::rounds::{Round, rounds};
use halfspaces_features::{Distance, KernelValues, Landmarks, RadialKernel};
use halfspaces_linalg::{
    AffineHalfspace, FitSample, InputError, Label, Params, PointSet, Points, RngStream,
    deciding_class, kernels, rng_for_round, zeros,
};
use halfspaces_pac::{LogisticRegression, SamplePerspectron, TemperatureScaling};

/// Landmarks of a kernel: a tenth of the rows, within these bounds; for several classes, whose boundaries are many, more.
const MIN_LANDMARKS: usize = 300;
const MAX_LANDMARKS: usize = 500;
const CLASSES_LANDMARKS: usize = 800;
/// The share of them in a rough round.
const ROUGH_LANDMARKS: f64 = 0.6;
/// Candidates averaged, at most.
const MAX_CHOSEN: usize = 4;
/// What the likelihood counts beside the penalty of a large slope, for probabilities.
const C_OF_PROBABILITIES: f64 = 100.0;
/// How far apart violations of a [`Hinge`] are at most, in units of the margin. Nearer to its optimum it hardly errs less.
const TOLERANCE: f64 = 0.7;
/// Passes of the Perspectron.
pub(crate) const PASSES: u64 = 10;

/// The classes of a table's rows, 0 and 1 or more, and what an error on each row costs.
pub(crate) struct Given<'a> {
    pub(crate) classes: &'a [usize],
    pub(crate) count: usize,
    pub(crate) weight: &'a dyn Fn(usize) -> f64,
}

/// The rows learned from, on one scale.
pub(crate) struct Scaled {
    columns: ColumnScale,
    points: Points,
    landmarks: Points,
    /// Median distances of points.
    squared_euclidean: f64,
    manhattan: f64,
}

impl Scaled {
    pub(crate) fn new(
        columns: ColumnScale,
        points: Points,
        table: &Table,
    ) -> Result<Scaled, InputError> {
        let count = match table.sums() {
            1 => (points.len() / 10).clamp(MIN_LANDMARKS, MAX_LANDMARKS),
            _ => CLASSES_LANDMARKS,
        };
        let landmarks = Landmarks::Uniform.choose(&points, count, table.seed)?;
        let squared_euclidean = Distance::SquaredEuclidean.median(&points, table.seed)?;
        let manhattan = Distance::Manhattan.median(&points, table.seed)?;
        Ok(Scaled { columns, points, landmarks, squared_euclidean, manhattan })
    }

    fn kernel(
        &self,
        distance: Distance,
        width: f64,
        rough: bool,
    ) -> Result<LandmarkFeatures, InputError> {
        let median = match distance {
            Distance::SquaredEuclidean => self.squared_euclidean,
            Distance::Manhattan => self.manhattan,
        };
        let kernel = RadialKernel::new(distance, width * median)?;
        let landmarks = if rough {
            // In random order, as they were chosen.
            let count = (ROUGH_LANDMARKS * self.landmarks.len() as f64).ceil() as usize;
            self.landmarks.select(&(0..count).collect::<Vec<_>>())?
        } else {
            self.landmarks.clone()
        };
        LandmarkFeatures::new(&KernelValues::new(landmarks, kernel)?)
    }
}

/// Per row learned from as many values as there are sums; 0 on rows not compared on.
pub(crate) type Values = Vec<f64>;

/// Per sum the dual variables of a [`Hinge`], 0 of another method.
type Duals = Vec<Vec<f64>>;

/// A halfspace, and the dual variables of its [`Hinge`]: one per row, none of another method.
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

/// Rows of a space.
enum Rows {
    /// Of any size: columns.
    Single(FeatureRows<f32>),
    /// Of length at most 1: kernel features, but where rounding says otherwise.
    Short(FeatureRows<i16>),
}

/// The same of either.
macro_rules! of_rows {
    ($rows:expr, $either:ident => $value:expr) => {
        match $rows {
            Rows::Single($either) => $value,
            Rows::Short($either) => $value,
        }
    };
}

/// Rows of features, and what makes them of the columns.
pub(crate) struct Features {
    rows: Rows,
    map: Option<LandmarkFeatures>,
}

/// What a method is compared by.
pub(crate) struct Comparison {
    pub(crate) method: Method,
    /// On the rows compared on, by fits to other rows.
    pub(crate) values: Values,
    /// The mean over the fits that had the row.
    pub(crate) duals: Duals,
}

/// How halfspaces are fitted.
struct Way<'a> {
    methods: &'a [Method],
    /// Dual variables to begin with, per method; else a fit begins with that for the C before.
    begin: Option<&'a [&'a Duals]>,
    /// Of the Perspectron.
    passes: u64,
}

/// A method chosen for an average.
pub(crate) struct Member<'a> {
    pub(crate) method: Method,
    /// Of its values.
    pub(crate) deviation: f64,
    /// Where its fit to all rows begins.
    pub(crate) duals: &'a Duals,
}

/// Classes and weights of the rows learned from, and the rounds in which candidates are compared on them.
pub(crate) struct Table {
    classes: Vec<usize>,
    /// Per sum: +1 for the rows of its class, -1 for others. Of two classes one sum, of the second.
    signs: Vec<Vec<f64>>,
    /// Above 0, of mean 1.
    weights: Vec<f64>,
    uniform: bool,
    rounds: Vec<Round>,
    seed: u64,
}

impl Table {
    pub(crate) fn new(given: &Given<'_>, rows: &[usize], seed: u64) -> Result<Table, InputError> {
        let weights: Vec<f64> = rows.iter().map(|&i| (given.weight)(i)).collect();
        let total: f64 = weights.iter().sum();
        let possible = total > 0.0 && total.is_finite();
        InputError::check_parameter("weights", total, possible, "positive and finite in sum")?;
        let mean = total / weights.len() as f64;
        let classes: Vec<usize> = rows.iter().map(|&i| given.classes[i]).collect();
        let positive = if given.count == 2 { 1..2 } else { 0..given.count };
        let sign = |class: usize, of: usize| if class == of { 1.0 } else { -1.0 };
        let signs = positive.map(|of| classes.iter().map(|&class| sign(class, of)).collect());
        Ok(Table {
            signs: signs.collect(),
            classes,
            uniform: weights.iter().all(|w| w.to_bits() == weights[0].to_bits()),
            weights: weights.into_iter().map(|w| w / mean).collect(),
            rounds: rounds(rows.len()),
            seed,
        })
    }

    pub(crate) fn sums(&self) -> usize {
        self.signs.len()
    }

    pub(crate) fn is_uniform(&self) -> bool {
        self.uniform
    }

    pub(crate) fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The rows that errors are counted on after so many rounds: those compared on, of a rough round until there is another.
    fn counted_rows(&self, rounds: usize) -> impl Iterator<Item = usize> {
        let all = &self.rounds[..rounds];
        let counted = if all[0].rough && rounds > 1 { &all[1..] } else { all };
        counted.iter().flat_map(|round| round.compare_on.iter().copied())
    }

    /// All rows compared on.
    pub(crate) fn compared_rows(&self) -> impl Iterator<Item = usize> {
        self.counted_rows(self.rounds.len())
    }

    pub(crate) fn no_values(&self) -> Result<Values, InputError> {
        zeros(self.classes.len(), self.sums())
    }

    fn of_row<'v>(&self, values: &'v [f64], row: usize) -> &'v [f64] {
        &values[row * self.sums()..][..self.sums()]
    }

    /// The share of wrong classes among the rows compared on, by weight.
    pub(crate) fn error(&self, values: &[f64]) -> f64 {
        self.shares(values, self.rounds.len()).iter().sum::<f64>().min(1.0)
    }

    /// What each row that counts after so many rounds adds to the share of wrong classes among them, by weight: nothing if
    /// its class is right.
    pub(crate) fn shares(&self, values: &[f64], rounds: usize) -> Vec<f64> {
        let rows = || self.counted_rows(rounds);
        let total: f64 = rows().map(|i| self.weights[i]).sum();
        let is_right = |i| deciding_class(self.of_row(values, i)) == self.classes[i];
        // Rows without weight add nothing; of all rows compared on some have weight.
        rows()
            .map(
                |i| {
                    if is_right(i) || self.weights[i] <= 0.0 {
                        0.0
                    } else {
                        self.weights[i] / total
                    }
                },
            )
            .collect()
    }

    /// The share of pairs of rows that a sum puts in the wrong order, one of its class and one of another, by weight; half of
    /// those that it does not tell apart. The mean over sums; of rows of one class alone nothing is wrong.
    pub(crate) fn disorder(&self, values: &[f64], rounds: usize) -> f64 {
        let of_sum = |(sum, signs): (usize, &Vec<f64>)| {
            let of_row = |i: usize| (self.of_row(values, i)[sum], signs[i] > 0.0, self.weights[i]);
            let mut rows: Vec<(f64, bool, f64)> = self.counted_rows(rounds).map(of_row).collect();
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
            // Weights of positive rows below, of wrong pairs, of all rows of either kind.
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
        self.signs.iter().enumerate().map(of_sum).sum::<f64>() / self.sums() as f64
    }

    /// How many candidates, of these errors in order, are averaged.
    pub(crate) fn near_best(&self, errors: &[f64]) -> usize {
        near_first(errors, self.compared_rows().count())
    }

    /// The deviation of the values from 0 on the rows compared on; 1 if they are all 0.
    pub(crate) fn deviation(&self, values: &[f64]) -> f64 {
        let squares: f64 =
            self.compared_rows().flat_map(|i| self.of_row(values, i)).map(|v| v * v).sum();
        let deviation = (squares / (self.compared_rows().count() * self.sums()) as f64).sqrt();
        if deviation > 0.0 { deviation } else { 1.0 }
    }

    /// What makes probabilities of values.
    pub(crate) fn scaling(&self, values: &[f64]) -> Result<TemperatureScaling, InputError> {
        let rows: Vec<usize> = self.compared_rows().collect();
        let of_rows = rows.iter().flat_map(|i| self.of_row(values, *i)).copied().collect();
        let classes: Vec<usize> = rows.iter().map(|i| self.classes[*i]).collect();
        let weights: Vec<f64> = rows.iter().map(|i| self.weights[*i]).collect();
        TemperatureScaling::fit(
            &Points::new(of_rows, self.sums())?,
            &classes,
            &weights,
            C_OF_PROBABILITIES,
        )
    }

    /// The features of the first rows in a space.
    fn features(
        &self,
        scaled: &Scaled,
        space: Space,
        rows: usize,
        rough: bool,
    ) -> Result<Features, InputError> {
        let points = &scaled.points;
        let (rows, map) = match space {
            Space::Columns => {
                let dim = points.dim();
                let features = FeatureRows::new(rows, dim, |rows, out| {
                    let values = &points.as_slice()[rows.start * dim..rows.end * dim];
                    copy_rounded(values, dim, out);
                    Ok(())
                });
                let Some(features) = features? else {
                    unreachable!("single precision holds whatever is written")
                };
                (Rows::Single(features), None)
            }
            Space::Kernel { distance, width } => {
                let map = scaled.kernel(distance, width, rough)?;
                let features = match map.rows(points, rows)? {
                    Some(features) => Rows::Short(features),
                    None => Rows::Single(map.rows_as_models_have_them(points, rows)?),
                };
                (features, Some(map))
            }
        };
        Ok(Features { rows, map })
    }

    /// Halfspaces fitted to some rows and their dual variables, per method one per sum.
    fn fit(
        &self,
        family: usize,
        features: &Features,
        columns: &Points,
        rows: &[usize],
        way: &Way<'_>,
    ) -> Result<Vec<Vec<Fit>>, InputError> {
        of_rows!(&features.rows, features => {
            self.fit_to(family, features, columns, rows, way)
        })
    }

    fn fit_to<T: Entry>(
        &self,
        family: usize,
        features: &FeatureRows<T>,
        columns: &Points,
        rows: &[usize],
        &Way { methods, begin, passes }: &Way<'_>,
    ) -> Result<Vec<Vec<Fit>>, InputError> {
        let weights = &self.weights;
        let mut rng = rng_for_round(RngStream::TableOrder, self.seed, family as u32);
        let mut fits = vec![Vec::with_capacity(self.sums()); methods.len()];
        for (sum, signs) in self.signs.iter().enumerate() {
            let examples = Examples { features, signs, weights, rows };
            let mut hinge = Hinge::new(&examples)?;
            // Only of columns there are other methods than the hinge loss.
            let sample = || -> Result<(Points, Vec<Label>), InputError> {
                assert_eq!(columns.dim(), features.dim(), "features that are the columns");
                let labels = rows.iter().map(|&i| Label::from_sign(signs[i])).collect();
                Ok((columns.select(rows)?, labels))
            };
            for (index, (method, fits)) in methods.iter().zip(&mut fits).enumerate() {
                fits.push(match *method {
                    Method::Hinge { c } => {
                        if let Some(begin) = begin {
                            hinge = Hinge::from_duals(&examples, &begin[index][sum])?;
                        }
                        hinge.solve(&examples, c, TOLERANCE, &mut rng);
                        Fit { halfspace: hinge.halfspace()?, duals: hinge.duals().to_vec() }
                    }
                    Method::Logistic { c } => {
                        let (points, labels) = sample()?;
                        let learner = LogisticRegression::params().c(c).tolerance(1e-6).check()?;
                        Fit::without_duals(learner.fit(&points, &labels)?.halfspace().clone())
                    }
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
            // Rows without a direction: the more frequent class.
            let sum: f64 = labels.iter().map(|y| y.as_f64()).sum();
            return AffineHalfspace::new(zeros(1, points.dim())?, 1f64.copysign(sum));
        }
        let learner = SamplePerspectron::params().passes(passes).seed(self.seed).check()?;
        Ok(learner.fit(&points, &labels)?.halfspace().clone())
    }

    /// What a method is compared by before any fit.
    pub(crate) fn nothing_yet(&self, method: Method) -> Result<Comparison, InputError> {
        let duals = vec![vec![0.0; self.classes.len()]; self.sums()];
        Ok(Comparison { method, values: self.no_values()?, duals })
    }

    /// Whether these are the features of all rows.
    pub(crate) fn are_all(&self, features: &Features) -> bool {
        of_rows!(&features.rows, rows => rows.len()) == self.classes.len()
    }

    /// The features that a space is compared by in a round.
    pub(crate) fn features_compared(
        &self,
        scaled: &Scaled,
        space: Space,
        round: usize,
    ) -> Result<Features, InputError> {
        let round = &self.rounds[round];
        self.features(scaled, space, round.rows(), round.rough)
    }

    /// Adds what the fits of a round to some rows say of its others, the Perspectron's after so many passes.
    pub(crate) fn compare(
        &self,
        index: usize,
        scaled: &Scaled,
        features: &Features,
        round: usize,
        passes: u64,
        compared: &mut [Comparison],
    ) -> Result<(), InputError> {
        let Round { fit_to, compare_on, rough, .. } = &self.rounds[round];
        // Of folds a row is in all fits but one.
        let counted = self.rounds.iter().filter(|round| !round.rough).count();
        let fits_of_row = (counted - 1).max(1) as f64;
        let methods: Vec<Method> = compared.iter().map(|of| of.method).collect();
        let way = Way { methods: &methods, begin: None, passes };
        let fits = self.fit(index, features, &scaled.points, fit_to, &way)?;
        for (fits, compared) in fits.iter().zip(compared) {
            for (sum, Fit { halfspace, duals }) in fits.iter().enumerate() {
                let weights = halfspace.weights();
                let products = of_rows!(&features.rows, rows => rows.products(compare_on, weights));
                for (i, product) in compare_on.iter().zip(products) {
                    compared.values[i * self.sums() + sum] = product + halfspace.bias();
                }
                if !rough {
                    for (mean, dual) in compared.duals[sum].iter_mut().zip(duals) {
                        *mean += dual / fits_of_row;
                    }
                }
            }
        }
        Ok(())
    }

    /// The sum of the halfspaces of these methods, each over its deviation, fitted to all rows; from their features, if
    /// there are any yet.
    pub(crate) fn part(
        &self,
        index: usize,
        scaled: &Scaled,
        family: &Family,
        members: &[Member<'_>],
        features: Option<Features>,
    ) -> Result<Part, InputError> {
        let n = self.classes.len();
        let features = match features {
            Some(features) => features,
            None => self.features(scaled, family.space, n, false)?,
        };
        let methods: Vec<Method> = members.iter().map(|member| member.method).collect();
        let duals: Vec<&Duals> = members.iter().map(|member| member.duals).collect();
        let rows: Vec<usize> = (0..n).collect();
        let begin = Some(duals.as_slice());
        let way = Way { methods: &methods, begin, passes: PASSES };
        let fits = self.fit(index, &features, &scaled.points, &rows, &way)?;
        let mut halfspaces = Vec::with_capacity(self.sums());
        for sum in 0..self.sums() {
            let mut weights = zeros(1, of_rows!(&features.rows, rows => rows.dim()))?;
            let mut bias = 0.0;
            for (fits, member) in fits.iter().zip(members) {
                let h = &fits[sum].halfspace;
                kernels::axpy(1.0 / member.deviation, h.weights(), &mut weights);
                bias += h.bias() / member.deviation;
            }
            if let Some(map) = &features.map {
                weights = map.expansion(weights);
            }
            halfspaces.push(AffineHalfspace::new(weights, bias)?);
        }
        let kernel = features.map.map(LandmarkFeatures::into_values);
        Ok(Part { columns: scaled.columns, kernel, halfspaces })
    }
}

/// What is near the least error, counted on so many rows: two standard errors, at least two rows.
pub(crate) fn near(least: f64, rows: usize) -> f64 {
    let rows = rows as f64;
    2.0 * (least * (1.0 - least) / rows).sqrt().max(1.0 / rows)
}

/// How many of these errors, in order and counted on so many rows, are near the first.
fn near_first(errors: &[f64], rows: usize) -> usize {
    let most = errors[0] + near(errors[0], rows);
    errors.iter().take(MAX_CHOSEN).take_while(|error| **error <= most).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_zero_have_deviation_one() {
        let given = Given { classes: &[0, 1].repeat(20), count: 2, weight: &|_| 1.0 };
        let table = Table::new(&given, &(0..40).collect::<Vec<_>>(), 1).unwrap();
        assert_eq!(table.deviation(&[0.0; 40]), 1.0);
        assert_eq!(table.deviation(&[-2.0; 40]), 2.0);
    }

    #[test]
    fn scales_of_kernels_are_multiples_of_the_median_of_their_distance() {
        let given = Given { classes: &[0, 1].repeat(30), count: 2, weight: &|_| 1.0 };
        let table = Table::new(&given, &(0..60).collect::<Vec<_>>(), 7).unwrap();
        let values = (0..180).map(|i| (f64::from(i) * 12.9898).sin()).collect();
        let points = Points::new(values, 3).unwrap();
        let scaled = Scaled::new(ColumnScale::Standardised, points.clone(), &table).unwrap();
        for distance in [Distance::SquaredEuclidean, Distance::Manhattan] {
            let map = scaled.kernel(distance, 0.5, false).unwrap();
            let scale = 0.5 * distance.median(&points, 7).unwrap();
            let expected = RadialKernel::new(distance, scale).unwrap();
            assert_eq!(map.into_values().kernel(), expected);
        }
    }

    /// The descents by themselves: of a fold, and of all rows from where the folds ended.
    #[test]
    fn descents_end_where_violations_are_close() {
        let n = 200;
        let values: Vec<f64> = (0..2 * n).map(|i| (f64::from(i) * 12.9898).sin()).collect();
        let classes: Vec<usize> = values
            .chunks(2)
            .enumerate()
            .map(|(i, x)| usize::from((x[0] > x[1]) != (i % 7 == 3)))
            .collect();
        let given = Given { classes: &classes, count: 2, weight: &|_| 1.0 };
        let rows: Vec<usize> = (0..classes.len()).collect();
        let table = Table::new(&given, &rows, 1).unwrap();
        let (columns, space) = (ColumnScale::Standardised, Space::Columns);
        let scaled = Scaled::new(columns, Points::new(values, 2).unwrap(), &table).unwrap();
        let features = table.features_compared(&scaled, space, 0).unwrap();
        let Rows::Single(kept) = &features.rows else { unreachable!("features of columns") };
        let method = Method::Hinge { c: 3.0 };
        let order = || rng_for_round(RngStream::TableOrder, 1, 5);

        let mut compared = [table.nothing_yet(method).unwrap()];
        table.compare(5, &scaled, &features, 2, 1, &mut compared).unwrap();
        let [compared] = compared;
        let fold: Vec<usize> = rows.iter().copied().filter(|i| i % 4 != 2).collect();
        let (signs, weights) = (&table.signs[0], &table.weights);
        let examples = Examples { features: kept, signs, weights, rows: &fold };
        let mut hinge = Hinge::new(&examples).unwrap();
        hinge.solve(&examples, 3.0, 0.7, &mut order());
        let thirds: Vec<f64> = hinge.duals().iter().map(|dual| dual / 3.0).collect();
        assert_eq!(compared.duals, [thirds]);

        let members = [Member { method, deviation: 2.0, duals: &compared.duals }];
        let family = Family { columns, space, methods: vec![method] };
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

    /// Rows of weights 1, 2, 3, 4.
    #[test]
    fn disorder_is_worked_by_hand() {
        let of = |classes: &[usize], count, values: &[f64]| {
            let given = Given { classes, count, weight: &|i| (i + 1) as f64 };
            let rows: Vec<usize> = (0..classes.len()).collect();
            Table::new(&given, &rows, 1).unwrap().disorder(values, 4)
        };
        // Pairs (0, 1), (0, 3), (2, 1), (2, 3) weigh 2, 4, 6, 12.
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
        // Per row a value of each class: of the first two all are in order, of the third the pairs of 3 with 1 and 2.
        let values = [5.0, 0.0, 1.0, 0.0, 5.0, 2.0, 0.0, 1.0, 0.0];
        let found = of(&[0, 1, 2], 3, &values);
        assert!((found - 1.0 / 3.0).abs() < 1e-12, "{found}");
    }

    /// A narrow kernel needs all landmarks.
    #[test]
    fn a_rough_round_has_fewer_rows_and_landmarks() {
        let n = 6000;
        let values: Vec<f64> = (0..3 * n).map(|i| (f64::from(i) * 12.9898).sin()).collect();
        let classes: Vec<usize> = (0..n as usize).map(|i| i % 2).collect();
        let given = Given { classes: &classes, count: 2, weight: &|_| 1.0 };
        let rows: Vec<usize> = (0..classes.len()).collect();
        let table = Table::new(&given, &rows, 1).unwrap();
        let columns = ColumnScale::Standardised;
        let scaled = Scaled::new(columns, Points::new(values, 3).unwrap(), &table).unwrap();
        let space = Space::Kernel { distance: Distance::Manhattan, width: 0.5 };
        for (round, expected) in [(0, (3000, 300)), (1, (6000, 500))] {
            let features = table.features_compared(&scaled, space, round).unwrap();
            let found = of_rows!(&features.rows, rows => (rows.len(), rows.dim()));
            assert_eq!(found, expected);
            assert_eq!(table.are_all(&features), round == 1);
        }
    }

    #[test]
    fn near_the_first_is_worked_by_hand() {
        // 0.1 + 2 · √(0.09/100) = 0.16.
        assert_eq!(near_first(&[0.1, 0.159, 0.161], 100), 2);
        // Two rows of a hundred.
        assert_eq!(near_first(&[0.0, 0.0199, 0.0201], 100), 2);
        assert_eq!(near_first(&[0.2; 100], 100), 4);
    }

    /// Classes that agree with the sign of the sums on three rows of four have odds of 3 there.
    #[test]
    fn probabilities_are_the_shares_of_rows() {
        let classes: Vec<usize> = (0..400).map(|i| i / 200).collect();
        let given = Given { classes: &classes, count: 2, weight: &|_| 1.0 };
        let table = Table::new(&given, &(0..400).collect::<Vec<_>>(), 1).unwrap();
        let sign = |i: usize| if (i % 200 < 150) == (i < 200) { -1.0 } else { 1.0 };
        let sums: Vec<f64> = (0..400).map(sign).collect();
        let slope = table.scaling(&sums).unwrap().slope();
        assert!((slope - 3f64.ln()).abs() < 1e-3, "{slope}");
    }

    #[test]
    fn rows_without_a_direction_are_of_the_more_frequent_class() {
        for (classes, bias) in [([1, 1, 0], 1.0), ([0, 0, 1], -1.0)] {
            let given = Given { classes: &classes, count: 2, weight: &|_| 1.0 };
            let table = Table::new(&given, &[0, 1, 2], 1).unwrap();
            let label = |class: &usize| Label::from_sign(*class as f64 - 0.5);
            let labels = classes.iter().map(label).collect();
            let zeros = Points::new(vec![0.0; 3], 1).unwrap();
            assert_eq!(table.perspectron((zeros, labels), 1).unwrap().bias(), bias);
        }
    }
}
