//! Probabilities of classes from decision values.

use halfspaces_linalg::{InputError, PointSet, Points, getters, load_checked};

/// The maximum number of steps. About a dozen steps are usual.
const MAX_STEPS: usize = 200;
/// The fit ends if a step reduces the loss by less than this fraction of the loss.
const TOLERANCE: f64 = 1e-12;
/// The range of the logarithms of the exponent and of the tail.
const LOG_RANGE: [f64; 2] = [-2.0, 3.0];
/// The largest fraction of rows assumed to have a random class.
const MAX_SLIP: f64 = 0.5;
/// The weights of the penalties on the squared logarithms of the exponent and of the tail, and on the slip.
const LOG_PENALTY: f64 = 2.0;
const SLIP_PENALTY: f64 = 20.0;

/// Maps decision values to calibrated class probabilities.
///
/// Let d_k be the distance of the value of class k from the largest value, measured in a fixed unit, and let e be the
/// distance of the second largest value. The probability of class k among m classes is ε/m + (1 - ε) exp(-s u_k)/Σ_l
/// exp(-s u_l), with a slope s ≥ 0 and a slip ε. Here u_k = d_k^κ for the two largest values and u_k = e^κ + τ (d_k^κ -
/// e^κ) for the others, with an exponent κ > 0 and a tail τ > 0. A single value v represents two classes with values 0
/// and v. With κ = τ = 1 and ε = 0 this is temperature scaling.
///
/// The exponent corrects for values that are not a linear function of the log odds. For example, if one class is rare,
/// a learner that minimises the hinge loss gives nearly the same value to all rows, and small differences matter (κ >
/// 1). The slip accounts for labels that are wrong or random even where the distances are large. The tail accounts for
/// values that come from one learner per class: the values of unlikely classes are close together, although their
/// probabilities differ by large factors (τ > 1).
///
/// The class with the largest value is always the most probable, so predictions and probabilities agree. A sigmoid with
/// an offset, or one sigmoid per class, does not guarantee this agreement.
///
/// *Guarantee.* There is no guarantee for a finite sample. The parameters locally maximise the penalised likelihood.
///
/// *Source.* The exponent, the slip and the tail are ours; temperature scaling is due to Guo, Pleiss, Sun and
/// Weinberger 2017.
///
/// ```
/// use halfspaces_linalg::Points;
/// use halfspaces_pac::Calibration;
/// // Of the points with the value 2, three in four are of class 1; of those with the value -2, one in four.
/// let values = Points::new((0..80).map(|i| if i % 2 == 0 { 2.0 } else { -2.0 }).collect(), 1)?;
/// let classes: Vec<usize> = (0..80).map(|i| usize::from((i % 2 == 0) == (i % 8 < 6))).collect();
/// let calibration = Calibration::fit(&values, &classes, &[1.0; 80], 1e6)?;
/// assert!((calibration.probabilities(&[2.0])[1] - 0.75).abs() < 1e-4);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Calibration {
    // Older files contain only a slope, or no tail. Such a calibration is saved in the form in which it was loaded, so
    // its checksum still matches.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_one"))]
    unit: f64,
    slope: f64,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_one"))]
    exponent: f64,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    slip: f64,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_one"))]
    tail: f64,
}

load_checked!(Calibration {
    #[serde(default = "one")]
    unit: f64,
    slope: f64,
    #[serde(default = "one")]
    exponent: f64,
    #[serde(default)]
    slip: f64,
    #[serde(default = "one")]
    tail: f64,
} => Calibration::new);

/// The default value of the unit, the exponent and the tail, for files without these parameters.
#[cfg(feature = "serde")]
fn one() -> f64 {
    1.0
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(value: &f64) -> bool {
    value.to_bits() == 1.0f64.to_bits()
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &f64) -> bool {
    value.to_bits() == 0
}

impl Calibration {
    /// The maximum of the powers d_k^κ, which keeps them finite.
    pub const MAX_POWER: f64 = 1e100;

    /// Creates a calibration from the unit of distances, the slope, the exponent, the slip and the tail.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a unit, an exponent or a tail that is not positive and finite, for a
    /// slope that is negative or not finite, and for a slip outside [0, 1].
    pub fn new(
        unit: f64,
        slope: f64,
        exponent: f64,
        slip: f64,
        tail: f64,
    ) -> Result<Calibration, InputError> {
        let is_positive = |value: f64| value > 0.0 && value.is_finite();
        let positive = "positive and finite";
        InputError::check_parameter("unit", unit, is_positive(unit), positive)?;
        let in_range = slope >= 0.0 && slope.is_finite();
        InputError::check_parameter("slope", slope, in_range, "finite and at least 0")?;
        InputError::check_parameter("exponent", exponent, is_positive(exponent), positive)?;
        let in_range = (0.0..=1.0).contains(&slip);
        InputError::check_parameter("slip", slip, in_range, "from 0 to 1")?;
        InputError::check_parameter("tail", tail, is_positive(tail), positive)?;
        Ok(Calibration { unit, slope, exponent, slip, tail })
    }

    getters! {
        /// The unit of distances.
        unit: f64,

        /// The slope s.
        slope: f64,

        /// The exponent κ.
        exponent: f64,

        /// The slip ε.
        slip: f64,

        /// The tail τ.
        tail: f64,
    }

    /// Finds the parameters that minimise c (Σ w_i (-ln p_i) + 2 (ln κ)² + 2 (ln τ)² + 20 ε) + s²/2. Here p_i is the
    /// probability of the class of row i, and w_i is the weight of row i. The unit of distances is the mean distance
    /// from the largest value. With two classes the tail is 1. The penalties keep the parameters finite if the values
    /// separate all classes. If there are few rows, the penalties keep the parameters close to temperature scaling. The
    /// slip is at least 1/(n + 1), where n is the total weight of the rows, because n rows cannot show that a class has
    /// a probability below about 1/n. The slope is at least 1/(n + 1) too: even if the values contradict the classes,
    /// the predicted class remains the most probable.
    ///
    /// `values` has one row per point: one value per class, or a single value for the classes 0 and 1. The points
    /// should be held out from the training of the classifier.
    ///
    /// *Cost.* A step takes O(nk) time for n rows of k values. A fit takes about twenty steps.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`] if the number of classes or the number of weights differs from the number of
    /// rows; [`InputError::ParameterOutOfRange`] for a class without a value, for a weight that is negative or not
    /// finite, and for a c that is not positive and finite.
    pub fn fit(
        values: &Points,
        classes: &[usize],
        weights: &[f64],
        c: f64,
    ) -> Result<Calibration, InputError> {
        Calibration::fitted(values, classes, weights, c, true)
    }

    /// Fits only the slope, with the exponent 1, the tail 1 and the slip 0 (temperature scaling). The slope is 0 if the
    /// values contradict the classes; then all classes have the same probability.
    ///
    /// # Errors
    /// The errors of [`Calibration::fit`].
    pub fn fit_temperature(
        values: &Points,
        classes: &[usize],
        weights: &[f64],
        c: f64,
    ) -> Result<Calibration, InputError> {
        Calibration::fitted(values, classes, weights, c, false)
    }

    fn fitted(
        values: &Points,
        classes: &[usize],
        weights: &[f64],
        c: f64,
        is_whole: bool,
    ) -> Result<Calibration, InputError> {
        let (rows, dim) = (values.as_slice(), values.dim());
        InputError::check_len(rows.len() / dim, classes.len())?;
        InputError::check_len(rows.len() / dim, weights.len())?;
        let count = dim.max(2);
        for class in classes {
            let known = *class < count;
            InputError::check_parameter("class", *class as f64, known, "a class with a value")?;
        }
        for w in weights {
            let in_range = *w >= 0.0 && w.is_finite();
            InputError::check_parameter("weight", *w, in_range, "finite and at least 0")?;
        }
        let in_range = c > 0.0 && c.is_finite();
        InputError::check_parameter("c", c, in_range, "positive and finite")?;
        let mut gaps: Vec<f64> = rows.chunks_exact(dim).flat_map(distances).collect();
        let between = gaps.len() - gaps.len() / count;
        let mean = gaps.iter().map(|gap| gap / between as f64).sum::<f64>();
        // If all values are equal, there is nothing to scale.
        let unit = if mean > 0.0 { mean } else { 1.0 };
        gaps.iter_mut().for_each(|gap| *gap = (*gap / unit).ln());
        let least = if is_whole { 1.0 / (weights.iter().sum::<f64>() + 1.0) } else { 0.0 };
        let sample = Sample { log_gaps: gaps, count, classes, weights, c, least };
        // The best slope is fitted first, then all parameters.
        let slope = sample.descend([1.0, 0.0, least, 0.0], [true, false, false, false]);
        let has_tail = count > 2;
        let [slope, log_exponent, slip, log_tail] =
            if is_whole { sample.descend(slope, [true, true, true, has_tail]) } else { slope };
        Calibration::new(unit, slope, log_exponent.exp(), slip, log_tail.exp())
    }

    /// The probability of every class, given the values of a point. A single value gives two probabilities.
    #[must_use]
    pub fn probabilities(self, values: &[f64]) -> Vec<f64> {
        let Calibration { unit, slope, exponent, slip, tail } = self;
        let mut shares = distances(values);
        for gap in &mut shares {
            *gap = (*gap / unit).powf(exponent).min(Calibration::MAX_POWER);
        }
        let second = second_smallest(shares.iter().copied());
        for power in &mut shares {
            let beyond = (*power - second).max(0.0);
            *power = (-slope * (power.min(second) + tail * beyond)).exp();
        }
        let total: f64 = shares.iter().sum();
        let floor = slip / shares.len() as f64;
        shares.iter_mut().for_each(|share| *share = floor + (1.0 - slip) * *share / total);
        shares
    }
}

/// The distance of each value from the largest one. A single value represents two values, the first of which is 0.
fn distances(values: &[f64]) -> Vec<f64> {
    if let [value] = *values {
        return vec![value.max(0.0), (-value).max(0.0)];
    }
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter().map(|value| (most - value).min(f64::MAX)).collect()
}

/// The second smallest of at least two numbers.
fn second_smallest(numbers: impl Iterator<Item = f64>) -> f64 {
    let ends = numbers.fold([f64::INFINITY; 2], |[least, second], number| {
        [least.min(number), second.min(least.max(number))]
    });
    ends[1]
}

/// The number of parameters.
const PARAMETERS: usize = 4;

/// The parameters: slope, logarithm of the exponent, slip, and logarithm of the tail.
type Parameters = [f64; PARAMETERS];

/// The rows to which a calibration is fitted.
struct Sample<'a> {
    /// The logarithms of the distances: one per class for each row.
    log_gaps: Vec<f64>,
    /// The number of classes.
    count: usize,
    classes: &'a [usize],
    weights: &'a [f64],
    c: f64,
    /// The lower bound on the slope and on the slip.
    least: f64,
}

/// The penalised loss at some parameters, with its gradient and its expected curvature (Fisher information).
struct Loss {
    value: f64,
    gradient: Parameters,
    curvature: [Parameters; PARAMETERS],
}

impl Sample<'_> {
    /// Minimises the loss over the parameters that are `free`, starting at `start`. The method is Fisher scoring with
    /// Levenberg-Marquardt damping.
    fn descend(&self, start: Parameters, free: [bool; PARAMETERS]) -> Parameters {
        let (mut at, mut damping) = (start, 1e-6);
        let mut loss = self.loss(at);
        for _ in 0..MAX_STEPS {
            let next = self.moved(at, &loss, free, damping);
            let there = self.loss(next);
            if there.value < loss.value {
                let gain = loss.value - there.value;
                (at, loss, damping) = (next, there, f64::max(damping / 10.0, 1e-9));
                if gain <= TOLERANCE * loss.value.abs() {
                    break;
                }
            } else if damping > 1e9 {
                break;
            } else {
                damping *= 10.0;
            }
        }
        at
    }

    fn loss(&self, [slope, log_exponent, slip, log_tail]: Parameters) -> Loss {
        let (count, exponent, tail) = (self.count, log_exponent.exp(), log_tail.exp());
        let (of_log, of_slip) = (self.c * LOG_PENALTY, self.c * SLIP_PENALTY);
        let squares = log_exponent * log_exponent + log_tail * log_tail;
        let mut value = slope * slope / 2.0 + of_log * squares + of_slip * slip;
        let mut gradient = [slope, 2.0 * of_log * log_exponent, of_slip, 2.0 * of_log * log_tail];
        let mut curvature = [[0.0; PARAMETERS]; PARAMETERS];
        for (i, of_penalty) in [1.0, 2.0 * of_log, of_slip, 2.0 * of_log].into_iter().enumerate() {
            curvature[i][i] = of_penalty;
        }
        // For each class: u, the derivatives of s u with respect to ln κ and ln τ, and its fraction of the sum.
        let mut of_class = vec![[0.0; 4]; count];
        let rows = self.log_gaps.chunks_exact(count).zip(self.classes).zip(self.weights);
        for ((log_gaps, class), weight) in rows {
            let weight = self.c * weight;
            let power = |log_gap: f64| (exponent * log_gap).exp().min(Calibration::MAX_POWER);
            // The derivative of a power with respect to ln κ. A distance of 0 has the logarithm -∞, and its power is 0.
            let by_exponent = |power: f64, log_gap: f64| {
                if power > 0.0 { power * exponent * log_gap } else { 0.0 }
            };
            let log_second = second_smallest(log_gaps.iter().copied());
            let second = power(log_second);
            let second_by_exponent = by_exponent(second, log_second);
            let mut total = 0.0;
            for (of, log_gap) in of_class.iter_mut().zip(log_gaps) {
                let power = power(*log_gap);
                let by_exponent = by_exponent(power, *log_gap);
                *of = if power > second {
                    let beyond = tail * (power - second);
                    let by_exponent =
                        second_by_exponent + tail * (by_exponent - second_by_exponent);
                    [second + beyond, slope * by_exponent, slope * beyond, 0.0]
                } else {
                    [power, slope * by_exponent, 0.0, 0.0]
                };
                of[3] = (-slope * of[0]).exp();
                total += of[3];
            }
            let mut means = [0.0; 3];
            for of in &mut of_class {
                of[3] /= total;
                (0..3).for_each(|i| means[i] += of[3] * of[i]);
            }
            for (k, [u, by_exponent, by_tail, share]) in of_class.iter().enumerate() {
                let p = (slip / count as f64 + (1.0 - slip) * share).max(f64::MIN_POSITIVE);
                let derivative = [
                    (1.0 - slip) * share * (means[0] - u),
                    (1.0 - slip) * share * (means[1] - by_exponent),
                    1.0 / count as f64 - share,
                    (1.0 - slip) * share * (means[2] - by_tail),
                ];
                if k == *class {
                    value -= weight * p.ln();
                    (0..PARAMETERS).for_each(|i| gradient[i] -= weight * derivative[i] / p);
                }
                for i in 0..PARAMETERS {
                    (0..PARAMETERS).for_each(|j| {
                        curvature[i][j] += weight * derivative[i] * derivative[j] / p;
                    });
                }
            }
        }
        Loss { value, gradient, curvature }
    }

    /// Takes one step from `at`, and returns the parameters, each clamped to its range.
    fn moved(
        &self,
        at: Parameters,
        loss: &Loss,
        mut free: [bool; PARAMETERS],
        damping: f64,
    ) -> Parameters {
        let of_slip = [self.least, MAX_SLIP.max(self.least)];
        let ranges = [[self.least, f64::MAX], LOG_RANGE, of_slip, LOG_RANGE];
        for i in 0..PARAMETERS {
            let [low, high] = ranges[i];
            // A parameter at the end of its range stays fixed if the step would move it out of the range.
            let is_stuck =
                at[i] <= low && loss.gradient[i] > 0.0 || at[i] >= high && loss.gradient[i] < 0.0;
            free[i] &= !is_stuck;
        }
        // Solves (curvature + damping · diagonal of the curvature) · step = -gradient by Gaussian elimination. The
        // matrix is positive definite.
        let mut system = [[0.0; PARAMETERS + 1]; PARAMETERS];
        for i in 0..PARAMETERS {
            for j in 0..PARAMETERS {
                let is_free = free[i] && free[j];
                system[i][j] = if is_free { loss.curvature[i][j] } else { 0.0 };
            }
            system[i][i] = if free[i] { loss.curvature[i][i] * (1.0 + damping) } else { 1.0 };
            system[i][PARAMETERS] = if free[i] { -loss.gradient[i] } else { 0.0 };
        }
        for pivot in 0..PARAMETERS {
            for row in pivot + 1..PARAMETERS {
                let factor = system[row][pivot] / system[pivot][pivot];
                (pivot..=PARAMETERS).for_each(|j| system[row][j] -= factor * system[pivot][j]);
            }
        }
        let mut step = [0.0; PARAMETERS];
        for i in (0..PARAMETERS).rev() {
            let known: f64 = (i + 1..PARAMETERS).map(|j| system[i][j] * step[j]).sum();
            step[i] = (system[i][PARAMETERS] - known) / system[i][i];
        }
        let mut next = at;
        for i in 0..PARAMETERS {
            let [low, high] = ranges[i];
            next[i] = (at[i] + step[i]).clamp(low, high);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The loss, computed from its definition.
    fn loss(
        values: &[Vec<f64>],
        classes: &[usize],
        weights: &[f64],
        c: f64,
        calibration: Calibration,
    ) -> f64 {
        let Calibration { slope, exponent, slip, tail, .. } = calibration;
        let rows = values.iter().zip(classes).zip(weights);
        let of_rows =
            rows.map(|((values, class), w)| -w * calibration.probabilities(values)[*class].ln());
        let of_logs = 2.0 * exponent.ln().powi(2) + 2.0 * tail.ln().powi(2);
        c * (of_rows.sum::<f64>() + of_logs + 20.0 * slip) + slope.powi(2) / 2.0
    }

    proptest! {
        /// No nearby parameters have a smaller loss. The test uses one or three values per row, with and without
        /// weights.
        #[test]
        fn the_loss_is_locally_minimal(
            rows in prop::collection::vec(
                (prop::array::uniform3(-5.0..5.0f64), 0usize..3, 0.0..2.0f64), 3..40,
            ),
            several in any::<bool>(),
            c in 0.01..100.0f64,
        ) {
            let count = if several { 3 } else { 1 };
            let values: Vec<Vec<f64>> = rows.iter().map(|(v, ..)| v[..count].to_vec()).collect();
            let classes: Vec<usize> =
                rows.iter().map(|(_, class, _)| class % count.max(2)).collect();
            let weights: Vec<f64> = rows.iter().map(|(.., w)| *w).collect();
            let points = Points::new(values.concat(), count).unwrap();
            let found = Calibration::fit(&points, &classes, &weights, c).unwrap();
            let Calibration { unit, slope, exponent, slip, tail } = found;
            let at = |slope: f64, exponent: f64, slip: f64, tail: f64| {
                let other = Calibration::new(unit, slope, exponent, slip, tail).unwrap();
                loss(&values, &classes, &weights, c, other)
            };
            let least = 1.0 / (weights.iter().sum::<f64>() + 1.0);
            prop_assert!(slip >= least && slope >= least);
            prop_assert!(several || tail == 1.0, "two classes have no tail");
            let found = at(slope, exponent, slip, tail);
            let bound = found - 1e-7 * found.abs();
            let (low, high) = ((-2f64).exp(), 3f64.exp());
            for (a, b, e, t) in [
                (slope * 1.01, exponent, slip, tail),
                ((slope * 0.99).max(least), exponent, slip, tail),
                (slope + 1e-3, exponent, slip, tail),
                ((slope - 1e-3).max(least), exponent, slip, tail),
                (slope, (exponent * 1.01).min(high), slip, tail),
                (slope, (exponent * 0.99).max(low), slip, tail),
                (slope, exponent, (slip + 1e-3).min(0.5), tail),
                (slope, exponent, (slip - 1e-3).max(least), tail),
                (slope, exponent, slip, (tail * 1.01).min(high)),
                (slope, exponent, slip, (tail * 0.99).max(low)),
            ] {
                prop_assert!(at(a, b, e, t) >= bound, "{slope} {exponent} {slip} {tail}: {a} {b} {e} {t}");
            }
            prop_assert!(at(1.0, 1.0, least, 1.0) >= bound, "the start is better");
        }

        /// The class with the largest value is the most probable, and probabilities sum to 1, even for large values.
        #[test]
        fn what_is_decided_is_most_probable(
            values in prop::collection::vec(-1e300..1e300f64, 1..6),
            slope in 0.0..1e3f64,
            exponent in 0.1..20.0f64,
            slip in 0.0..0.9f64,
            tail in 0.1..20.0f64,
        ) {
            for unit in [1.0, 1e300] {
                let calibration = Calibration::new(unit, slope, exponent, slip, tail).unwrap();
                let shares = calibration.probabilities(&values);
                let most = shares.iter().copied().fold(0.0, f64::max);
                let decided = match values[..] {
                    [value] => usize::from(value > 0.0),
                    _ => (0..values.len()).fold(0, |a, b| if values[b] > values[a] { b } else { a }),
                };
                prop_assert_eq!(shares.len(), values.len().max(2));
                prop_assert!(shares[decided] == most, "{:?}", shares);
                prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let floor = slip / shares.len() as f64;
                prop_assert!(shares.iter().all(|share| *share >= floor * (1.0 - 1e-12)));
            }
        }
    }

    fn fit(values: &[f64], classes: &[usize], weights: &[f64]) -> Calibration {
        let values = Points::new(values.to_vec(), 1).unwrap();
        Calibration::fit(&values, classes, weights, 1.0).unwrap()
    }

    /// A row of weight k counts as k rows. Values that separate the classes, and values that contradict them, also give
    /// finite parameters.
    #[test]
    fn weights_are_repetitions_and_parameters_stay_finite() {
        let near = |a: Calibration, b: Calibration| {
            let (a, b) = (a.probabilities(&[1.5])[1], b.probabilities(&[1.5])[1]);
            (a - b).abs() < 1e-5
        };
        let values = [3.0, -1.0, 2.0, 0.5, -3.0];
        let classes = [1, 0, 0, 1, 1];
        // The mean distance ignores weights, so the value of the repeated row is close to the mean distance.
        let repeated =
            fit(&[&values[..], &[1.9]].concat(), &[&classes[..], &[1]].concat(), &[1.0; 6]);
        let weighted = fit(
            &[&values[..], &[1.9]].concat(),
            &[&classes[..], &[1]].concat(),
            &[1.0, 1.0, 1.0, 1.0, 1.0, 2.0],
        );
        let twice =
            fit(&[&values[..], &[1.9, 1.9]].concat(), &[&classes[..], &[1, 1]].concat(), &[1.0; 7]);
        assert!(near(weighted, twice) && !near(weighted, repeated), "{weighted:?} {twice:?}");
        let separable = fit(&[5.0, -5.0].repeat(10), &[1, 0].repeat(10), &[1.0; 20]);
        let probability = separable.probabilities(&[5.0])[1];
        // The slip is 1/21.
        assert!(probability > 0.85 && probability < 1.0 - 1.0 / 42.0, "{separable:?}");
        // The values contradict the classes. The slope is the smallest possible one, and the predicted class is the
        // most probable.
        let contradicted = fit(&[5.0, -5.0], &[0, 1], &[1.0; 2]);
        assert_eq!(contradicted.slope, 1.0 / 3.0);
        assert!(contradicted.probabilities(&[0.1])[1] > 0.5, "{contradicted:?}");
        let against = Points::new(vec![5.0, -5.0], 1).unwrap();
        let temperature = Calibration::fit_temperature(&against, &[0, 1], &[1.0; 2], 1.0).unwrap();
        assert_eq!(temperature.slope, 0.0);
        assert_eq!(fit(&[0.0, 0.0], &[0, 1], &[1.0; 2]).probabilities(&[0.0]), [0.5, 0.5]);
        // Rescaling the values does not change the probabilities.
        let large: Vec<f64> = values.iter().map(|v| v * 1e200).collect();
        let (far, once) = (fit(&large, &classes, &[1.0; 5]), fit(&values, &classes, &[1.0; 5]));
        let (a, b) = (far.probabilities(&[1e200]), once.probabilities(&[1.0]));
        assert!((a[1] - b[1]).abs() < 1e-9, "{a:?} {b:?}");
    }

    /// Fits a calibration to pseudo-random rows. `row` returns the value and the probability of a row.
    fn drawn(row: impl Fn(f64) -> (f64, f64)) -> Calibration {
        let unit = |i: usize, by: f64| (i as f64 * by).fract();
        let rows: Vec<(f64, usize)> = (0..20_000)
            .map(|i| {
                let (value, p) = row(unit(i, 0.618_033_988_749_895));
                (value, usize::from(unit(i, 0.414_213_562_373_095) < p))
            })
            .collect();
        let (values, classes): (Vec<f64>, Vec<usize>) = rows.into_iter().unzip();
        fit(&values, &classes, &[1.0; 20_000])
    }

    /// With a rare class, nearly equal values can have very different probabilities. If the labels of a fifth of the
    /// rows are random, no probability exceeds 0.9. Temperature scaling fits neither case.
    #[test]
    fn rare_classes_and_random_labels_are_calibrated() {
        let rare = |u: f64| {
            let value = -1.2 + 0.5 * u;
            (value, 1.0 / (1.0 + (1.5 * value.abs().powi(5)).exp()))
        };
        let found = drawn(rare);
        assert!((found.exponent - 5.0).abs() < 0.5 && found.slip < 0.02, "{found:?}");
        for u in [0.2, 0.5, 0.8, 1.0] {
            let (value, p) = rare(u);
            assert!((found.probabilities(&[value])[1] - p).abs() < 0.02, "{u} {found:?}");
        }
        let random = |u: f64| {
            let value = 12.0 * (u - 0.5);
            (value, 0.1 + 0.8 / (1.0 + (-2.0 * value).exp()))
        };
        let found = drawn(random);
        assert!((found.slip - 0.2).abs() < 0.02, "{found:?}");
        for u in [0.1, 0.45, 0.55, 0.9] {
            let (value, p) = random(u);
            assert!((found.probabilities(&[value])[1] - p).abs() < 0.02, "{u} {found:?}");
        }
        // If the values are log odds, the exponent stays close to 1.
        let found = drawn(|u| (8.0 * (u - 0.5), 1.0 / (1.0 + (-8.0 * (u - 0.5)).exp())));
        assert!((found.exponent - 1.0).abs() < 0.05 && found.slip < 0.01, "{found:?}");
    }

    /// The values 5, 4, 2 have the distances 0, ½, 1½ in units of 2. With s = 2, κ = 2 and τ = 3, u is 0, ¼ and
    /// ¼ + 3 (2¼ - ¼) = 6¼. Equal largest values leave no distance to the second one, so all of u is multiplied by τ.
    #[test]
    fn probabilities_by_hand() {
        let calibration = Calibration::new(2.0, 2.0, 2.0, 0.3, 3.0).unwrap();
        let near = |values: &[f64], shares: &[f64]| {
            let total: f64 = shares.iter().sum();
            let found = calibration.probabilities(values);
            for (found, share) in found.iter().zip(shares) {
                assert!((found - (0.1 + 0.7 * share / total)).abs() < 1e-15, "{found} {share}");
            }
        };
        near(&[2.0, 5.0, 4.0], &[(-12.5f64).exp(), 1.0, (-0.5f64).exp()]);
        near(&[5.0, 5.0, 4.0], &[1.0, 1.0, (-1.5f64).exp()]);
    }

    /// The values of the likely class and of the second class are log odds, and those of the third class are a fifth as
    /// far apart as its log odds. The tail finds this; without it, the log loss is larger.
    #[test]
    fn a_tail_is_found() {
        let unit = |i: usize, by: f64| (i as f64 * by).fract();
        let truth = Calibration::new(1.0, 1.0, 1.0, 0.0, 5.0).unwrap();
        let (mut values, mut classes) = (Vec::new(), Vec::new());
        for i in 0..20_000 {
            let second = 2.0 * unit(i, 0.618_033_988_749_895);
            let row = [0.0, -second, -second - unit(i, 0.732_050_807_568_877)];
            let p = truth.probabilities(&row);
            let u = unit(i, 0.414_213_562_373_095);
            classes.push(usize::from(u > p[0]) + usize::from(u > p[0] + p[1]));
            values.extend(row);
        }
        let values = Points::new(values, 3).unwrap();
        let found = Calibration::fit(&values, &classes, &[1.0; 20_000], 1.0).unwrap();
        assert!((found.tail - 5.0).abs() < 0.5 && (found.exponent - 1.0).abs() < 0.1, "{found:?}");
        for row in [[0.0, -0.2, -0.9], [0.0, -1.5, -1.6], [0.0, -2.0, -3.0]] {
            for (found, p) in found.probabilities(&row).iter().zip(truth.probabilities(&row)) {
                assert!((found - p).abs() < 0.02, "{row:?} {found} {p}");
            }
        }
    }

    /// Tests temperature scaling, whose only parameter is the slope. In three of four rows, the sign of the value gives
    /// the class, regardless of the size of the value.
    #[test]
    fn a_temperature_is_a_slope() {
        let values = Points::new([2.0, -2.0].repeat(40), 1).unwrap();
        let classes: Vec<usize> =
            (0..80).map(|i| usize::from((i % 2 == 0) == (i % 8 < 6))).collect();
        let found = Calibration::fit_temperature(&values, &classes, &[1.0; 80], 1e6).unwrap();
        assert_eq!((found.exponent, found.slip, found.tail), (1.0, 0.0, 1.0));
        assert!((found.slope / found.unit - 3f64.ln() / 2.0).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn bad_input_is_typed() {
        let values = Points::new(vec![1.0, -1.0], 1).unwrap();
        let fit = |classes: &[usize], weights: &[f64], c: f64| {
            Calibration::fit(&values, classes, weights, c)
        };
        assert!(fit(&[0, 1], &[1.0, 0.0], 1.0).is_ok());
        for refused in [
            fit(&[0, 2], &[1.0, 1.0], 1.0),
            fit(&[0], &[1.0, 1.0], 1.0),
            fit(&[0, 1], &[1.0], 1.0),
            fit(&[0, 1], &[1.0, -1.0], 1.0),
            fit(&[0, 1], &[1.0, f64::NAN], 1.0),
            fit(&[0, 1], &[1.0, 1.0], 0.0),
            fit(&[0, 1], &[1.0, 1.0], f64::INFINITY),
            Calibration::new(0.0, 1.0, 1.0, 0.0, 1.0),
            Calibration::new(1.0, -1.0, 1.0, 0.0, 1.0),
            Calibration::new(1.0, f64::NAN, 1.0, 0.0, 1.0),
            Calibration::new(1.0, 1.0, 0.0, 0.0, 1.0),
            Calibration::new(1.0, 1.0, 1.0, 1.1, 1.0),
            Calibration::new(1.0, 1.0, 1.0, 0.0, 0.0),
        ] {
            assert!(refused.is_err());
        }
    }

    /// Saved parameters are checked. A file with only a slope is read as temperature scaling.
    #[cfg(feature = "serde")]
    #[test]
    fn saved_parameters_are_checked() {
        let found = Calibration::new(2.0, 2.5, 1.5, 0.25, 0.75).unwrap();
        let text = serde_json::to_string(&found).unwrap();
        let load = |text: &str| serde_json::from_str::<Calibration>(text);
        assert_eq!(load(&text).unwrap(), found);
        assert!(load(&text.replace("2.5", "-2.5")).is_err());
        for (old, expected) in [
            (r#"{"slope":3.0}"#, [1.0, 3.0, 1.0, 0.0]),
            (r#"{"unit":2.0,"slope":3.0,"exponent":1.5,"slip":0.25}"#, [2.0, 3.0, 1.5, 0.25]),
        ] {
            let [unit, slope, exponent, slip] = expected;
            let loaded = load(old).unwrap();
            assert_eq!(loaded, Calibration::new(unit, slope, exponent, slip, 1.0).unwrap());
            assert_eq!(serde_json::to_string(&loaded).unwrap(), old);
        }
    }
}
