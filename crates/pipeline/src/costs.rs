//! Makes decisions that minimise the expected cost of errors.

use crate::model::Decisions;
use halfspaces_frame::{DataError, find_class};

/// For each class, the cost of misclassifying one of its rows. The class with the largest product of cost and
/// probability is predicted. This minimises the expected cost if the probabilities are calibrated.
///
/// ```
/// use halfspaces_pipeline::{Costs, Decisions};
/// let classes = ["healthy".to_owned(), "ill".to_owned()];
/// let decisions = Decisions {
///     classes: vec![0, 0],
///     values: vec![-1.0, -2.0],
///     probabilities: Some(vec![vec![0.8, 0.2], vec![0.95, 0.05]]),
/// };
/// // A missed illness costs as much as nine false alarms: `ill` is predicted if its probability is at least 0.1.
/// let costs = Costs::new(&classes, &[("ill".into(), 9.0)])?;
/// let found = costs.decide(&decisions)?;
/// assert_eq!(found.classes, [1, 0]);
/// assert_eq!(costs.mean(&found.classes, &[Some(1), Some(1)]), 4.5);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    of_class: Vec<f64>,
}

impl Costs {
    /// Sets the costs of the named classes. The cost of any other class is 1.
    ///
    /// # Errors
    /// Returns an error if there is no class with one of the names, a class is named twice, or a cost is not a positive
    /// number.
    pub fn new(classes: &[String], given: &[(String, f64)]) -> Result<Costs, DataError> {
        let mut of_class = vec![None; classes.len()];
        for (name, cost) in given {
            let Some(class) = find_class(name, classes) else {
                return Err(DataError::user(format!(
                    "--cost {name}: the model has no such class; its classes are {}",
                    classes.join(", ")
                )));
            };
            if !(*cost > 0.0 && cost.is_finite()) {
                return Err(DataError::user(format!(
                    "--cost {name}={cost}: a cost must be a positive number"
                )));
            }
            if of_class[class].replace(*cost).is_some() {
                return Err(DataError::user(format!("--cost {name}: the class is given twice")));
            }
        }
        Ok(Costs { of_class: of_class.into_iter().map(|cost| cost.unwrap_or(1.0)).collect() })
    }

    /// The costs for which the second of two classes is predicted if its probability is at least `threshold`.
    ///
    /// # Errors
    /// Returns an error if there are more than two classes or if the threshold is not between 0 and 1.
    pub fn of_threshold(classes: &[String], threshold: f64) -> Result<Costs, DataError> {
        if classes.len() != 2 {
            return Err(DataError::user(format!(
                "--threshold: a threshold requires two classes, but the model has {}; pass the cost of each class (--cost)",
                classes.len()
            )));
        }
        if !(threshold > 0.0 && threshold < 1.0) {
            return Err(DataError::user(format!(
                "--threshold {threshold}: must be between 0 and 1"
            )));
        }
        Ok(Costs { of_class: vec![threshold, 1.0 - threshold] })
    }

    /// Returns the decisions with the smallest expected cost. Each decision value is replaced by the logarithm of a
    /// ratio of two products of cost and probability. For two classes, this is the product of the second class divided
    /// by that of the first. For more classes, it is the largest product divided by the second largest.
    ///
    /// # Errors
    /// Returns an error if there are no probabilities.
    pub fn decide(&self, decisions: &Decisions) -> Result<Decisions, DataError> {
        let Some(of_rows) = &decisions.probabilities else {
            return Err(DataError::user(
                "--cost and --threshold need probabilities, and the model has none; hold out rows when it is fitted (--holdout)",
            ));
        };
        let decide = |probabilities: &Vec<f64>| {
            let weighted: Vec<f64> =
                probabilities.iter().zip(&self.of_class).map(|(p, cost)| p * cost).collect();
            let ratio = |a: f64, b: f64| (a.max(f64::MIN_POSITIVE) / b.max(f64::MIN_POSITIVE)).ln();
            if let [first, second] = weighted[..] {
                return (usize::from(second >= first), ratio(second, first));
            }
            let mut best = 0;
            for (class, value) in weighted.iter().enumerate() {
                if *value > weighted[best] {
                    best = class;
                }
            }
            let others = weighted.iter().enumerate().filter(|(class, _)| *class != best);
            (best, ratio(weighted[best], others.map(|(_, value)| *value).fold(0.0, f64::max)))
        };
        let (classes, values) = of_rows.iter().map(decide).unzip();
        Ok(Decisions { classes, values, probabilities: decisions.probabilities.clone() })
    }

    /// The mean cost of predictions over the rows whose class is known, or 0 if there are no such rows.
    #[must_use]
    pub fn mean(&self, classes: &[usize], truth: &[Option<usize>]) -> f64 {
        let known =
            classes.iter().zip(truth).filter_map(|(class, truth)| Some((*class, (*truth)?)));
        let (mut sum, mut rows) = (0.0, 0);
        for (class, truth) in known {
            sum += if class == truth { 0.0 } else { self.of_class[truth] };
            rows += 1;
        }
        sum / f64::from(rows.max(1))
    }

    /// The smallest mean cost that can be reached by always predicting the same class.
    #[must_use]
    pub fn baseline(&self, truth: &[Option<usize>]) -> f64 {
        let always =
            (0..self.of_class.len()).map(|class| self.mean(&vec![class; truth.len()], truth));
        always.fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|class| format!("c{class}")).collect()
    }

    fn decisions(probabilities: &[&[f64]]) -> Decisions {
        let rows = probabilities.len();
        let probabilities = Some(probabilities.iter().map(|row| row.to_vec()).collect());
        Decisions { classes: vec![0; rows], values: vec![0.0; rows], probabilities }
    }

    #[test]
    fn a_threshold_is_reached_at_its_value() {
        for threshold in [0.125, 0.5, 0.75] {
            let costs = Costs::of_threshold(&names(2), threshold).unwrap();
            let (below, above) = (threshold - 1e-9, threshold + 1e-9);
            let rows = [[1.0 - below, below], [1.0 - threshold, threshold], [1.0 - above, above]];
            let found = costs.decide(&decisions(&[&rows[0], &rows[1], &rows[2]])).unwrap();
            assert_eq!(found.classes, [0, 1, 1]);
            assert!(found.values[0] < 0.0 && found.values[2] > 0.0 && found.values[1] == 0.0);
        }
        assert!(Costs::of_threshold(&names(3), 0.5).is_err());
        assert!(Costs::of_threshold(&names(2), 1.0).is_err());
    }

    /// No other class would have a smaller expected cost.
    #[test]
    fn the_expected_cost_is_minimal() {
        let costs = Costs::new(&names(3), &[("c0".into(), 0.5), ("c2".into(), 4.0)]).unwrap();
        for step in 0..200 {
            let (a, b) = (f64::from(step % 20) / 20.0, f64::from(step / 20) / 10.0);
            let p = [a, (1.0 - a) * b, (1.0 - a) * (1.0 - b)];
            let found = costs.decide(&decisions(&[&p])).unwrap();
            let expected = |class: usize| -> f64 {
                (0..3)
                    .filter(|truth| *truth != class)
                    .map(|truth| p[truth] * costs.of_class[truth])
                    .sum()
            };
            let chosen = expected(found.classes[0]);
            assert!((0..3).all(|class| chosen <= expected(class) + 1e-12), "{p:?}");
            assert!(found.values[0] >= 0.0);
        }
        let truth = [Some(0), Some(2), None, Some(2)];
        assert_eq!(costs.mean(&[1, 2, 1, 0], &truth), 4.5 / 3.0);
        // Always predicting the third class misclassifies only the first row.
        assert!((costs.baseline(&truth) - 0.5 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn costs_are_checked() {
        for (given, why) in [
            (vec![("x", 1.0)], "no such class"),
            (vec![("c0", 0.0)], "positive"),
            (vec![("c0", f64::NAN)], "positive"),
            (vec![("c0", 2.0), ("c0", 2.0)], "twice"),
        ] {
            let given: Vec<(String, f64)> = given.into_iter().map(|(n, c)| (n.into(), c)).collect();
            let error = Costs::new(&names(2), &given).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let none = Decisions { probabilities: None, ..decisions(&[]) };
        assert!(Costs::new(&names(2), &[]).unwrap().decide(&none).is_err());
    }
}
