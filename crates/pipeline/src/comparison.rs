//! Compares two models on the same rows.

use crate::model::Decisions;
use crate::pipeline::Pipeline;
use crate::rate::Rate;
use halfspaces_frame::{Classes, DataError};
use serde::Serialize;
use statrs::function::beta::beta_reg;

/// A comparison of two models on the same labelled rows, to which neither model was fitted.
///
/// Only rows on which exactly one model is wrong show which model has fewer errors. Given the number of these rows, the
/// number of those on which the first model is wrong has a binomial distribution. The success probability of this
/// distribution is 1/2 if both models have the same error rate. The rows must be independent.
///
/// *Source.* McNemar 1947, in its exact form; Clopper and Pearson 1934 for the interval.
///
/// ```
/// use halfspaces_pipeline::{Comparison, Decisions};
/// let model = |classes: Vec<usize>| Decisions { values: vec![1.0; classes.len()], classes, probabilities: None };
/// let truth: Vec<Option<usize>> = (0..12).map(|row| Some(row % 2)).collect();
/// let good = model((0..12).map(|row| row % 2).collect());
/// let constant = model(vec![1; 12]);
/// let found = Comparison::new((&constant, &truth), (&good, &truth))?;
/// assert_eq!((found.only_first_wrong, found.only_second_wrong), (6, 0));
/// // The p-value is the probability that six fair coins all land on the same side.
/// assert!((found.p_value - 2.0 / 64.0).abs() < 1e-12 && found.difference == 0.5);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The error of the first model.
    pub first: Rate,
    /// The error of the second model.
    pub second: Rate,
    /// The number of rows on which only the first model is wrong.
    pub only_first_wrong: usize,
    /// The number of rows on which only the second model is wrong.
    pub only_second_wrong: usize,
    /// The error of the first model minus that of the second.
    pub difference: f64,
    /// The lower end of the 95 % confidence interval of the difference, given the number of rows on which exactly one
    /// model is wrong.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The p-value, which is the probability of a difference at least as large, in either direction, if both models
    /// have the same error rate.
    pub p_value: f64,
    /// The log loss of the first model minus that of the second, or `None` if one of the models has no probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<MeanDifference>,
}

/// The mean of paired differences, as in [`Comparison`].
///
/// ```
/// let found = halfspaces_pipeline::MeanDifference::of(&[1.0, 3.0]);
/// assert_eq!((found.mean, found.standard_error), (2.0, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanDifference {
    /// The mean of the differences.
    pub mean: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
}

impl MeanDifference {
    /// Computes the mean of the values and its standard error, which is 0 for fewer than two values.
    #[must_use]
    pub fn of(values: &[f64]) -> MeanDifference {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let standard_error = (squares / (count * (count - 1.0).max(1.0))).sqrt();
        MeanDifference { mean, standard_error }
    }
}

/// The decisions of a model for some rows, and the true class of each row in the numbering of that model. The true
/// class is `None` if the model does not know it.
type Decided<'a> = (&'a Decisions, &'a [Option<usize>]);

impl Comparison {
    /// Compares two models. Each model is given by its decisions and by the true classes in its own numbering. A true
    /// class is `None` if the model does not know it. The models must have the same classes (see
    /// [`Comparison::check_classes`]).
    ///
    /// # Errors
    /// Returns an error if the numbers of rows differ or if there are no rows.
    pub fn new(first: Decided<'_>, second: Decided<'_>) -> Result<Comparison, DataError> {
        let (wrong_first, wrong_second) = (wrong(first), wrong(second));
        let (rows, others) = (wrong_first.len(), wrong_second.len());
        if rows != others {
            return Err(DataError::user(format!(
                "the first model classified {rows} rows and the second {others}; compare them on the same rows"
            )));
        }
        let count = |wrong: &[bool]| wrong.iter().filter(|wrong| **wrong).count();
        let pairs = || wrong_first.iter().zip(&wrong_second);
        let only_first_wrong = pairs().filter(|(a, b)| **a && !**b).count();
        let only_second_wrong = pairs().filter(|(a, b)| !**a && **b).count();
        let one_wrong = only_first_wrong + only_second_wrong;
        let scale = one_wrong as f64 / rows as f64;
        let (low, high) = match one_wrong {
            0 => (0.0, 0.0),
            _ => {
                let Rate { low, high, .. } = Rate::new(only_first_wrong, one_wrong)?;
                ((2.0 * low - 1.0) * scale, (2.0 * high - 1.0) * scale)
            }
        };
        let log_loss = log_losses(first).zip(log_losses(second)).map(|(a, b)| {
            let differences: Vec<f64> = a.into_iter().zip(b).map(|(a, b)| a - b).collect();
            MeanDifference::of(&differences)
        });
        Ok(Comparison {
            first: Rate::new(count(&wrong_first), rows)?,
            second: Rate::new(count(&wrong_second), rows)?,
            only_first_wrong,
            only_second_wrong,
            difference: (only_first_wrong as f64 - only_second_wrong as f64) / rows as f64,
            low,
            high,
            p_value: sign_test(only_first_wrong, only_second_wrong),
            log_loss,
        })
    }

    /// Checks that two models have the same classes, in any order. If their classes differ, the models solve different
    /// tasks, so the difference of their errors has no meaning.
    ///
    /// # Errors
    /// Returns an error if one model has a class that the other does not have. A model for one class against all others
    /// does not have the same classes as a model for all classes.
    pub fn check_classes(first: &Pipeline, second: &Pipeline) -> Result<(), DataError> {
        let (ours, theirs) = (first.classes(), second.classes());
        let known = Classes::new(theirs);
        if ours.len() == theirs.len() && ours.iter().all(|name| known.find(name).is_some()) {
            return Ok(());
        }
        Err(DataError::user(format!(
            "the first model has the classes {}, but the second has {}; compare models with the same classes, fitted to the \
             same labels with the same --positive",
            listed(ours),
            listed(theirs)
        )))
    }
}

/// Joins the names of classes, in backquotes.
fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn wrong((decisions, truth): Decided<'_>) -> Vec<bool> {
    decisions.classes.iter().zip(truth).map(|(class, truth)| Some(*class) != *truth).collect()
}

/// The log loss of each row. A class that the model does not know has the probability `f64::EPSILON`, which is the
/// lower limit of all probabilities.
fn log_losses((decisions, truth): Decided<'_>) -> Option<Vec<f64>> {
    let of_rows = decisions.probabilities.as_ref()?;
    let loss = |(of_classes, class): (&Vec<f64>, &Option<usize>)| {
        -class.map_or(0.0, |class| of_classes[class]).max(f64::EPSILON).ln()
    };
    Some(of_rows.iter().zip(truth).map(loss).collect())
}

/// The p-value of the two-sided sign test, which is the probability that tosses of a fair coin are at least as uneven
/// as these counts.
fn sign_test(heads: usize, tails: usize) -> f64 {
    if heads == tails {
        return 1.0;
    }
    let (less, more) = (heads.min(tails) as f64, heads.max(tails) as f64);
    // P(Bin(n, 1/2) <= k) is the regularised incomplete beta function with the parameters n - k and k + 1.
    (2.0 * beta_reg(more, less + 1.0, 0.5)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_are_counted_exactly() {
        for n in 1..=30u64 {
            for heads in 0..=n {
                let choose = |k: u64| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
                let as_uneven = (0..=n).filter(|k| k.abs_diff(n - k) >= heads.abs_diff(n - heads));
                let expected: f64 = as_uneven.map(choose).sum::<f64>() / 2f64.powi(n as i32);
                let found = sign_test(heads as usize, (n - heads) as usize);
                assert!((found - expected).abs() < 1e-12, "{heads} of {n}: {found} {expected}");
            }
        }
        assert_eq!(sign_test(0, 0), 1.0);
    }

    #[test]
    fn differences_have_the_sign_of_the_first_model() {
        let decided = |classes: &[usize], p: f64| Decisions {
            classes: classes.to_vec(),
            values: vec![1.0; classes.len()],
            probabilities: Some(
                classes
                    .iter()
                    .map(|class| if *class == 0 { vec![p, 1.0 - p] } else { vec![1.0 - p, p] })
                    .collect(),
            ),
        };
        let truth: Vec<Option<usize>> = vec![Some(0), Some(0), Some(1), Some(1), None];
        let (bad, good) = (decided(&[1, 1, 1, 0, 0], 0.75), decided(&[0, 0, 1, 0, 0], 0.75));
        let found = Comparison::new((&bad, &truth), (&good, &truth)).unwrap();
        assert_eq!((found.first.count, found.second.count), (4, 2));
        assert_eq!((found.only_first_wrong, found.only_second_wrong), (2, 0));
        assert!((found.difference - 0.4).abs() < 1e-12);
        assert!((found.p_value - 0.5).abs() < 1e-12);
        // If both of two coins land on heads, the interval for the probability of heads starts at 0.025^(1/2) = 0.158.
        assert!((found.low - 0.4 * (2.0 * 0.025f64.sqrt() - 1.0)).abs() < 1e-9, "{found:?}");
        assert!((found.high - 0.4).abs() < 1e-12);
        let of_log = found.log_loss.unwrap();
        assert!((of_log.mean - 0.4 * 3f64.ln()).abs() < 1e-12);
        let turned = Comparison::new((&good, &truth), (&bad, &truth)).unwrap();
        assert_eq!((turned.difference, turned.low), (-found.difference, -found.high));
        let same = Comparison::new((&good, &truth), (&good, &truth)).unwrap();
        assert_eq!((same.difference, same.low, same.high, same.p_value), (0.0, 0.0, 0.0, 1.0));
        let fewer = Decisions { classes: vec![0], ..good.clone() };
        assert!(Comparison::new((&good, &truth), (&fewer, &truth)).is_err());
    }
}
