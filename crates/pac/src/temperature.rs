//! Probabilities of classes from decision values.

use halfspaces_linalg::{InputError, PointSet, Points, load_checked};

/// The maximum number of Newton steps; a dozen are usual.
const MAX_STEPS: usize = 100;
/// The relative change of the slope at which the iteration ends.
const TOLERANCE: f64 = 1e-12;

/// Temperature scaling: calibrates decision values into class probabilities.
///
/// The probability of class k is exp(s v_k)/Σ_l exp(s v_l) for decision values v and one slope s ≥ 0, the reciprocal of
/// the temperature. A single value v stands for two classes with values 0 and v: the second has the probability 1/(1 +
/// exp(-s v)).
///
/// The class with the largest value is always the most probable, so predictions and probabilities agree. A sigmoid with
/// an offset, or one sigmoid per class, does not guarantee that.
///
/// *Guarantee.* None for a finite sample. The slope has the largest penalised likelihood.
///
/// *Source.* Guo, Pleiss, Sun and Weinberger 2017.
///
/// ```
/// use halfspaces_linalg::Points;
/// use halfspaces_pac::TemperatureScaling;
/// // Three in four points with the value 2 are of class 1, and one in four with the value -2.
/// let values = Points::new((0..80).map(|i| if i % 2 == 0 { 2.0 } else { -2.0 }).collect(), 1)?;
/// let classes: Vec<usize> = (0..80).map(|i| usize::from((i % 2 == 0) == (i % 8 < 6))).collect();
/// let scaling = TemperatureScaling::fit(&values, &classes, &[1.0; 80], 1e6)?;
/// assert!((scaling.probabilities(&[2.0])[1] - 0.75).abs() < 1e-4);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TemperatureScaling {
    slope: f64,
}

load_checked!(TemperatureScaling { slope: f64 } => TemperatureScaling::new);

impl TemperatureScaling {
    /// Creates the scaling with this slope.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a slope that is negative or not finite.
    pub fn new(slope: f64) -> Result<TemperatureScaling, InputError> {
        let in_range = slope >= 0.0 && slope.is_finite();
        InputError::check_parameter("slope", slope, in_range, "finite and at least 0")?;
        Ok(TemperatureScaling { slope })
    }

    /// Fits the slope s ≥ 0 that minimises c Σ w_i (-ln p_i) + t²/2. Here p_i is the probability of the class of row i,
    /// w_i its weight, and t the slope for values in units of their mean absolute value. The penalty keeps the slope
    /// finite if the values separate all classes.
    ///
    /// `values` has one row per point: one value per class, or a single value for the classes 0 and 1. The points
    /// should be held out from the training of the classifier.
    ///
    /// *Cost.* O(nk) per step for n rows of k values; some ten steps.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`] unless there is one class and one weight per row;
    /// [`InputError::ParameterOutOfRange`] for a class without a value, for a weight that is negative or not finite,
    /// and for a c that is not positive and finite.
    pub fn fit(
        values: &Points,
        classes: &[usize],
        weights: &[f64],
        c: f64,
    ) -> Result<TemperatureScaling, InputError> {
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
        let mean = rows.iter().map(|v| v.abs() / rows.len() as f64).sum::<f64>();
        // If all values are 0, there is nothing to scale.
        let unit = if mean > 0.0 { mean } else { 1.0 };
        let loss = |slope: f64| Loss::of(rows, dim, classes, weights, c, unit, slope);

        let mut slope = 1.0;
        let mut at = loss(slope);
        for _ in 0..MAX_STEPS {
            let mut step = -at.first / at.second;
            let mut next = loss((slope + step).max(0.0));
            // Far from the minimum the curvature may be too small for a full Newton step.
            while next.value > at.value && step.abs() > TOLERANCE * slope {
                step /= 2.0;
                next = loss((slope + step).max(0.0));
            }
            let moved = (next.slope - slope).abs();
            (slope, at) = (next.slope, next);
            if moved <= TOLERANCE * slope {
                break;
            }
        }
        TemperatureScaling::new((slope / unit).min(f64::MAX))
    }

    /// The slope s.
    #[must_use]
    pub fn slope(self) -> f64 {
        self.slope
    }

    /// The probability of every class for the values of a point. A single value gives two probabilities.
    #[must_use]
    pub fn probabilities(self, values: &[f64]) -> Vec<f64> {
        let mut shares = match values {
            [value] => vec![0.0, *value],
            values => values.to_vec(),
        };
        exponentials(&mut shares, self.slope);
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total);
        shares
    }
}

/// Replaces each v by exp(s v) divided by the largest of them. Returns the largest v.
fn exponentials(of: &mut [f64], slope: f64) -> f64 {
    let most = of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The difference may be infinite while the slope is 0.
    of.iter_mut().for_each(|v| *v = (slope * (*v - most).max(f64::MIN)).exp());
    most
}

/// The loss at a slope for values in units of their mean, with its first two derivatives.
struct Loss {
    slope: f64,
    value: f64,
    first: f64,
    second: f64,
}

impl Loss {
    fn of(
        rows: &[f64],
        dim: usize,
        classes: &[usize],
        weights: &[f64],
        c: f64,
        unit: f64,
        slope: f64,
    ) -> Loss {
        let (mut value, mut first, mut second) = (slope * slope / 2.0, slope, 1.0);
        let mut scaled = vec![0.0; dim.max(2)];
        let mut shares = scaled.clone();
        // A single value stands for two, the first of which is 0.
        let begin = scaled.len() - dim;
        for ((row, class), w) in rows.chunks_exact(dim).zip(classes).zip(weights) {
            scaled[begin..].iter_mut().zip(row).for_each(|(scaled, v)| *scaled = v / unit);
            shares.copy_from_slice(&scaled);
            let most = exponentials(&mut shares, slope);
            let total: f64 = shares.iter().sum();
            let mean = shares.iter().zip(&scaled).map(|(share, v)| share * v).sum::<f64>() / total;
            let spread = shares.iter().zip(&scaled).map(|(share, v)| share * (v - mean).powi(2));
            value += c * w * (total.ln() + slope * (most - scaled[*class]));
            first += c * w * (mean - scaled[*class]);
            second += c * w * spread.sum::<f64>() / total;
        }
        Loss { slope, value, first, second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The loss as defined, for a slope of the unscaled values.
    fn loss(values: &[Vec<f64>], classes: &[usize], weights: &[f64], c: f64, slope: f64) -> f64 {
        let scaling = TemperatureScaling::new(slope).unwrap();
        let all: Vec<f64> = values.concat();
        let unit = all.iter().map(|v| v.abs()).sum::<f64>() / all.len() as f64;
        let rows = values.iter().zip(classes).zip(weights);
        let of_rows =
            rows.map(|((values, class), w)| -w * scaling.probabilities(values)[*class].ln());
        c * of_rows.sum::<f64>() + (slope * unit).powi(2) / 2.0
    }

    proptest! {
        /// No nearby slope has a smaller loss, for one value and for three, with and without weights.
        #[test]
        fn the_slope_is_that_of_least_loss(
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
            let slope = TemperatureScaling::fit(&points, &classes, &weights, c).unwrap().slope();
            let at = |slope: f64| loss(&values, &classes, &weights, c, slope);
            for other in [slope * 1.01, slope * 0.99, slope + 1e-3, (slope - 1e-3).max(0.0)] {
                prop_assert!(at(slope) <= at(other) + 1e-9 * at(other).abs(), "{slope} {other}");
            }
        }

        /// The class of the largest value is the most probable, and probabilities sum to 1, even for large values.
        #[test]
        fn what_is_decided_is_most_probable(
            values in prop::collection::vec(-1e300..1e300f64, 1..6),
            slope in 0.0..1e3f64,
        ) {
            let shares = TemperatureScaling::new(slope).unwrap().probabilities(&values);
            let most = shares.iter().copied().fold(0.0, f64::max);
            let decided = match values[..] {
                [value] => usize::from(value > 0.0),
                _ => (0..values.len()).fold(0, |a, b| if values[b] > values[a] { b } else { a }),
            };
            prop_assert_eq!(shares.len(), values.len().max(2));
            prop_assert!(shares[decided] == most, "{:?}", shares);
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    /// A row of weight k counts as k rows. Separable and contradictory values have a finite slope as well.
    #[test]
    fn weights_are_repetitions_and_slopes_stay_finite() {
        let fit = |values: &[f64], classes: &[usize], weights: &[f64]| {
            let values = Points::new(values.to_vec(), 1).unwrap();
            TemperatureScaling::fit(&values, classes, weights, 1.0).unwrap().slope()
        };
        let twice = fit(&[1.0, 1.0, -1.0, 1.0], &[1, 1, 0, 0], &[1.0; 4]);
        assert!((fit(&[1.0, -1.0, 1.0], &[1, 0, 0], &[2.0, 1.0, 1.0]) - twice).abs() < 1e-9);
        assert!((fit(&[1.0, -1.0, 1.0], &[1, 0, 0], &[1.0, 1.0, 1.0]) - twice).abs() > 0.01);
        let once = fit(&[3.0, -1.0, 2.0], &[1, 0, 0], &[2.0, 1.0, 1.0]);
        let unit = 6.0 / 3.0;
        let at = |t: f64| {
            let p = |v: f64| 1.0 / (1.0 + (-t * v / unit).exp());
            -2.0 * p(3.0).ln() - (1.0 - p(-1.0)).ln() - (1.0 - p(2.0)).ln() + t * t / 2.0
        };
        assert!(
            at(once * unit) < at(once * unit * 1.01) && at(once * unit) < at(once * unit * 0.99)
        );
        assert!(fit(&[5.0, -5.0], &[1, 0], &[1.0; 2]).is_finite());
        assert_eq!(fit(&[5.0, -5.0], &[0, 1], &[1.0; 2]), 0.0);
        assert_eq!(fit(&[0.0, 0.0], &[0, 1], &[1.0; 2]), 0.0);
        // Rescaling the values does not change the probabilities.
        let far = fit(&[3e200, -1e200, 2e200], &[1, 0, 0], &[2.0, 1.0, 1.0]);
        assert!((far * 1e200 / once - 1.0).abs() < 1e-9);
    }

    #[test]
    fn bad_input_is_typed() {
        let values = Points::new(vec![1.0, -1.0], 1).unwrap();
        let fit = |classes: &[usize], weights: &[f64], c: f64| {
            TemperatureScaling::fit(&values, classes, weights, c)
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
            TemperatureScaling::new(-1.0),
            TemperatureScaling::new(f64::NAN),
        ] {
            assert!(refused.is_err());
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_slope_is_checked() {
        let text = serde_json::to_string(&TemperatureScaling::new(2.5).unwrap()).unwrap();
        let load = |text: &str| serde_json::from_str::<TemperatureScaling>(text);
        assert_eq!(load(&text).unwrap().slope(), 2.5);
        assert!(load(&text.replace("2.5", "-2.5")).is_err());
    }
}
