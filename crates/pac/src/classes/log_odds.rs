//! The map from the decision values of a binary classifier to log odds (Platt scaling).

use crate::mean_size::mean_size;
use halfspaces_linalg::{InputError, getters, load_checked};

/// The maximum number of Newton steps. About ten steps are usual.
const MAX_STEPS: usize = 100;
/// The fit ends if a step is expected to reduce the loss by less than this fraction of the total weight.
const TOLERANCE: f64 = 1e-12;
/// A step is halved until it reduces the loss by at least this fraction of the reduction that the slope predicts.
const SUFFICIENT: f64 = 1e-4;
/// The smallest fraction of a step that the line search tries.
const SMALLEST_PART: f64 = 1e-10;

/// The log odds that a point is positive, as a function of its decision value v: a v + b with a slope a ≥ 0 and an
/// offset b.
///
/// Log odds make the values of several binary classifiers comparable. The values of some classifiers carry no
/// information, for example those of the classifier for a class between two others. Such a classifier gets the slope 0,
/// so its log odds depend only on the frequency of its class.
///
/// *Method.* The parameters a and b minimise the logistic loss on the given points. The target probability is (P +
/// 1)/(P + 2) for a positive point and 1/(N + 2) for a negative point, where P and N are the total weights of the
/// positive and the negative points. The minimum is therefore finite even if the values separate the labels.
/// *Guarantee.* The fit reaches the minimum, up to rounding. On the points to which the classifier was fitted, the log
/// odds are overconfident. *Cost.* Each step takes O(n) time, and a fit takes about ten steps. *Source.* Platt 1999;
/// the use of Newton's method is due to Lin, Lin and Weng 2007. The bound on the slope is ours.
///
/// ```
/// use halfspaces_pac::LogOdds;
/// // Of the points with the value 2, three in four are positive; of those with the value -2, one in four.
/// let values: Vec<f64> = (0..8000).map(|i| if i % 2 == 0 { 2.0 } else { -2.0 }).collect();
/// let odds = LogOdds::fit(&values, |i| (i % 2 == 0) == (i % 8 < 6), None)?;
/// assert!((odds.of(2.0) - 3f64.ln()).abs() < 1e-2);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LogOdds {
    slope: f64,
    offset: f64,
}

load_checked!(LogOdds { slope: f64, offset: f64 } => LogOdds::new);

impl LogOdds {
    /// The identity map: the log odds are the decision values themselves.
    pub const SAME: LogOdds = LogOdds { slope: 1.0, offset: 0.0 };

    /// Creates a map with the given slope and offset.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a slope that is negative or not finite, or an offset that is not finite.
    pub fn new(slope: f64, offset: f64) -> Result<LogOdds, InputError> {
        let in_range = slope >= 0.0 && slope.is_finite();
        InputError::check_parameter("slope", slope, in_range, "finite and at least 0")?;
        InputError::check_parameter("offset", offset, offset.is_finite(), "finite")?;
        Ok(LogOdds { slope, offset })
    }

    getters! {
        /// The slope a.
        slope: f64,

        /// The offset b.
        offset: f64,
    }

    /// The log odds of a point with decision value `value`.
    #[must_use]
    pub fn of(self, value: f64) -> f64 {
        self.slope * value + self.offset
    }

    /// Fits the slope and the offset to decision values. `is_positive(i)` returns whether the label of point `i` is
    /// positive. `weights` are the weights of the points; without weights, each point has the weight 1.
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`InputError::LengthMismatch`]; [`InputError::NonFinite`] if a value is not finite;
    /// [`InputError::ParameterOutOfRange`] for a weight that is negative or not finite.
    pub fn fit(
        values: &[f64],
        is_positive: impl Fn(usize) -> bool,
        weights: Option<&[f64]>,
    ) -> Result<LogOdds, InputError> {
        if values.is_empty() {
            return Err(InputError::Empty);
        }
        if let Some(weights) = weights {
            InputError::check_len(values.len(), weights.len())?;
            for w in weights {
                let in_range = *w >= 0.0 && w.is_finite();
                InputError::check_parameter("weight", *w, in_range, "finite and at least 0")?;
            }
        }
        if let Some(row) = values.iter().position(|v| !v.is_finite()) {
            return Err(InputError::NonFinite { row, column: 0, value: values[row] });
        }
        // Values with a mean absolute value of 1 make the curvature well conditioned.
        let unit = mean_size(values);
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let (mut positive, mut negative) = (0.0, 0.0);
        for i in 0..values.len() {
            *(if is_positive(i) { &mut positive } else { &mut negative }) += weight(i);
        }
        let target = |i: usize| match is_positive(i) {
            true => (positive + 1.0) / (positive + 2.0),
            false => 1.0 / (negative + 2.0),
        };
        let points: Vec<Point> = (0..values.len())
            .filter(|i| weight(*i) > 0.0)
            .map(|i| Point { value: values[i] / unit, target: target(i), weight: weight(i) })
            .collect();
        let [slope, offset] = minimum(&points, ((positive + 1.0) / (negative + 1.0)).ln());
        LogOdds::new(slope / unit, offset)
    }
}

/// A decision value, its target probability, and its weight.
struct Point {
    value: f64,
    target: f64,
    weight: f64,
}

/// Minimises the logistic loss over the slope, which is at least 0, and the offset. Newton's method with a line search
/// starts at slope 0.
fn minimum(points: &[Point], prior: f64) -> [f64; 2] {
    let total: f64 = points.iter().map(|point| point.weight).sum();
    let mut at = [0.0, prior];
    let mut value = loss(points, at);
    for _ in 0..MAX_STEPS {
        let ([by_slope, by_offset], [ss, so, oo]) = derivatives(points, at);
        // A small number is added to the curvature, so that equal values do not cause a division by 0.
        let (ss, oo) = (ss + f64::EPSILON * total, oo + f64::EPSILON * total);
        let determinant = ss * oo - so * so;
        let mut step = [
            (so * by_offset - oo * by_slope) / determinant,
            (so * by_slope - ss * by_offset) / determinant,
        ];
        if at[0] <= 0.0 && step[0] < 0.0 {
            // The slope stays at its bound.
            step = [0.0, -by_offset / oo];
        }
        let descent = by_slope * step[0] + by_offset * step[1];
        if descent >= -TOLERANCE * total {
            break;
        }
        let halves = std::iter::successors(Some(1.0), |part| Some(part / 2.0));
        let next = halves.take_while(|part| *part >= SMALLEST_PART).find_map(|part| {
            let next = [(at[0] + part * step[0]).max(0.0), at[1] + part * step[1]];
            let there = loss(points, next);
            (there <= value + SUFFICIENT * part * descent).then_some((next, there))
        });
        // The loss is convex, so if no fraction of the step reduces it, only rounding errors are left.
        let Some(next) = next else { break };
        (at, value) = next;
    }
    at
}

/// The loss: the sum of w (ln(1 + e^z) - t z), where z = a v + b, t is the target probability and w is the weight.
fn loss(points: &[Point], [slope, offset]: [f64; 2]) -> f64 {
    let one = |Point { value, target, weight }: &Point| {
        let z = slope * value + offset;
        weight * ((-z.abs()).exp().ln_1p() + z.max(0.0) - target * z)
    };
    points.iter().map(one).sum()
}

/// The gradient of the loss, and the three distinct entries of its Hessian: slope and slope, slope and offset, offset
/// and offset.
fn derivatives(points: &[Point], [slope, offset]: [f64; 2]) -> ([f64; 2], [f64; 3]) {
    let (mut gradient, mut curvature) = ([0.0; 2], [0.0; 3]);
    for Point { value, target, weight } in points {
        let z = slope * value + offset;
        let small = (-z.abs()).exp();
        let p = if z >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
        let (error, spread) = (weight * (p - target), weight * small / (1.0 + small).powi(2));
        gradient[0] += error * value;
        gradient[1] += error;
        curvature[0] += spread * value * value;
        curvature[1] += spread * value;
        curvature[2] += spread;
    }
    (gradient, curvature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    fn sample(count: usize) -> (Vec<f64>, Vec<bool>) {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let values: Vec<f64> = (0..count).map(|_| rng.random_range(-3.0..3.0)).collect();
        let odds = |v: &f64| 1.0 / (1.0 + (-(0.8 * v - 0.5)).exp());
        let labels = values.iter().map(|v| rng.random_bool(odds(v))).collect();
        (values, labels)
    }

    #[test]
    fn the_parameters_of_the_labels_are_found() {
        let (values, labels) = sample(40_000);
        let odds = LogOdds::fit(&values, |i| labels[i], None).unwrap();
        assert!(
            (odds.slope() - 0.8).abs() < 0.03 && (odds.offset() + 0.5).abs() < 0.03,
            "{odds:?}"
        );
    }

    /// At the fitted parameters, the gradient vanishes, and the loss is larger in every direction.
    #[test]
    fn it_is_a_minimum() {
        let (values, labels) = sample(300);
        let weights: Vec<f64> = (0..300).map(|i| f64::from(i % 3)).collect();
        let odds = LogOdds::fit(&values, |i| labels[i], Some(&weights)).unwrap();
        let sum =
            |of: bool| -> f64 { (0..300).filter(|i| labels[*i] == of).map(|i| weights[i]).sum() };
        let (positive, negative) = (sum(true), sum(false));
        let (high, low) = ((positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0));
        let loss = |slope: f64, offset: f64| -> f64 {
            let one = |i: usize| {
                let z = slope * values[i] + offset;
                let p = 1.0 / (1.0 + (-z).exp());
                let target = if labels[i] { high } else { low };
                -weights[i] * (target * p.ln() + (1.0 - target) * (1.0 - p).ln())
            };
            (0..300).map(one).sum()
        };
        let least = loss(odds.slope(), odds.offset());
        for (by_slope, by_offset) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
            assert!(loss(odds.slope() + by_slope, odds.offset() + by_offset) > least);
        }
    }

    #[test]
    fn a_weight_counts_points_and_units_do_not_matter() {
        let (values, labels) = sample(200);
        let weights: Vec<f64> = (0..200).map(|i| f64::from(i % 3)).collect();
        let rows: Vec<usize> = (0..200).flat_map(|i| vec![i; i % 3]).collect();
        let repeated: Vec<f64> = rows.iter().map(|i| values[*i]).collect();
        let weighted = LogOdds::fit(&values, |i| labels[i], Some(&weights)).unwrap();
        let of_repeated = LogOdds::fit(&repeated, |at| labels[rows[at]], None).unwrap();
        assert!((weighted.slope() - of_repeated.slope()).abs() < 1e-6);
        assert!((weighted.offset() - of_repeated.offset()).abs() < 1e-6);
        for unit in [1e-200, 1e200] {
            let scaled: Vec<f64> = values.iter().map(|v| v * unit).collect();
            let odds = LogOdds::fit(&scaled, |i| labels[i], Some(&weights)).unwrap();
            assert!((odds.of(unit) - weighted.of(1.0)).abs() < 1e-6, "{odds:?}");
        }
    }

    /// Tests values that separate the labels, carry no information, are all equal, or have the wrong sign.
    #[test]
    fn extreme_values_have_finite_log_odds() {
        let fit =
            |values: &[f64], positive: usize| LogOdds::fit(values, |i| i < positive, None).unwrap();
        let separated = fit(&[2.0, 1.0, -1.0, -3.0], 2);
        assert!(separated.of(1.0) > 0.3 && separated.of(-1.0) < -0.3, "{separated:?}");
        // The mean of the target probabilities of one positive and three negative labels.
        let constant: f64 = (2.0 / 3.0 + 3.0 * 0.2) / 4.0;
        for values in [[1.0; 4], [0.0; 4]] {
            let odds = fit(&values, 1);
            assert!(
                (odds.of(values[0]) - (constant / (1.0 - constant)).ln()).abs() < 1e-3,
                "{odds:?}"
            );
        }
        let wrong = fit(&[-1.0, 1.0, 2.0, 3.0], 1);
        assert_eq!(wrong.slope(), 0.0);
        assert!((wrong.offset() - (constant / (1.0 - constant)).ln()).abs() < 1e-6, "{wrong:?}");
    }

    #[test]
    fn faulty_arguments_are_refused() {
        assert!(LogOdds::fit(&[], |_| true, None).is_err());
        assert!(LogOdds::fit(&[1.0, f64::NAN], |_| true, None).is_err());
        assert!(LogOdds::fit(&[1.0, 2.0], |_| true, Some(&[1.0])).is_err());
        assert!(LogOdds::fit(&[1.0, 2.0], |_| true, Some(&[1.0, -1.0])).is_err());
        assert!(LogOdds::new(-1.0, 0.0).is_err() && LogOdds::new(1.0, f64::NAN).is_err());
    }
}
