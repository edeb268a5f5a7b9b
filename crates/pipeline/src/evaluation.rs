//! Evaluates a model on labelled rows: its errors, its ranking and its probabilities.

use crate::model::Decisions;
use crate::rate::{CONFIDENCE, Rate};
use halfspaces_frame::DataError;
use serde::Serialize;

/// The coverages for which the error is reported, in per cent of the rows. Ties in |value| can make the actual coverage
/// larger.
const COVERAGES: [usize; 6] = [100, 95, 90, 80, 70, 50];
/// The number of bins of the calibration table. All bins have the same width.
const BINS: usize = 10;

/// The errors of a model on labelled rows to which it was not fitted, with exact confidence intervals, and measures of
/// its ranking and its probabilities. Rows whose label the model does not know count as errors in `error`, `baseline`,
/// `coverage` and precision. The other measures leave such rows out.
///
/// ```
/// use halfspaces_pipeline::{Decisions, Evaluation};
/// let decisions = Decisions {
///     classes: vec![0, 1, 1, 1],
///     values: vec![-2.0, 0.5, 1.0, 3.0],
///     probabilities: None,
/// };
/// let truth = [Some(0), Some(0), Some(1), Some(1)];
/// let found = Evaluation::new(&["ham".into(), "spam".into()], &decisions, &truth)?;
/// assert_eq!((found.error.count, found.error.of), (1, 4));
/// // Every spam message has a larger value than every ham message.
/// assert_eq!(found.of_class[1].auc, Some(1.0));
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The class names. With two classes, the positive class is last.
    pub classes: Vec<String>,
    /// The confidence level of the intervals.
    pub confidence: f64,
    /// The error rate of the model.
    pub error: Rate,
    /// The error rate of always predicting the class that is the most frequent among these rows.
    pub baseline: f64,
    /// The confusion matrix, with one row per true class and one column per predicted class.
    pub confusion: Vec<Vec<usize>>,
    /// The number of rows whose label is unknown to the model.
    pub unknown: usize,
    /// The recall, precision and ranking measures of each class.
    pub of_class: Vec<ClassRates>,
    /// The error at several coverages, if the model decides only the rows with the largest |value|.
    pub coverage: Vec<Coverage>,
    /// Measures of the probabilities, or `None` if the model is not calibrated or does not know the label of any row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<ProbabilityScores>,
}

/// The rates of a class. A rate is `None` if there are no rows to compute it from.
///
/// ```
/// use halfspaces_pipeline::{Decisions, Evaluation};
/// let decisions = Decisions { classes: vec![0, 0], values: vec![-2.0, -1.0], probabilities: None };
/// let found = Evaluation::new(&["a".into(), "b".into()], &decisions, &[Some(0), Some(1)])?;
/// assert_eq!(found.of_class[0].precision.map(|rate| rate.rate), Some(0.5));
/// assert_eq!(found.of_class[1].precision, None);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassRates {
    /// The name of the class.
    pub class: String,
    /// The fraction of the rows of this class that are predicted to be in this class.
    #[serde(skip_serializing_if = "Option::is_none", rename = "found")]
    pub recall: Option<Rate>,
    /// The fraction of the rows predicted to be in this class that are in this class.
    #[serde(skip_serializing_if = "Option::is_none", rename = "right")]
    pub precision: Option<Rate>,
    /// The area under the ROC curve, which is the probability that a row of this class ranks before a row of another
    /// class, where ties count as one half. Rows are ranked by the probability of the class or, with two classes, by
    /// the decision value. `None` if there is no such ranking, or if all rows or no rows belong to this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// The average precision of the ranking that `auc` uses. For each row of this class, the precision among the rows
    /// that rank at least as high is computed. The average precision is the mean of these numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_precision: Option<f64>,
}

/// The error on the rows with the largest |value|.
///
/// ```
/// use halfspaces_pipeline::{Decisions, Evaluation};
/// let decisions = Decisions { classes: vec![0, 1], values: vec![-0.1, 2.0], probabilities: None };
/// let found = Evaluation::new(&["a".into(), "b".into()], &decisions, &[Some(1), Some(1)])?;
/// assert_eq!(found.coverage.last().map(|of| (of.share, of.threshold, of.error.count)), Some((0.5, 2.0, 0)));
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coverage {
    /// The fraction of the rows that the model decides.
    pub share: f64,
    /// The smallest |value| among the decided rows.
    pub threshold: f64,
    /// The error on the decided rows.
    pub error: Rate,
}

/// Measures of the quality of the probabilities. Lower is better for all of them.
///
/// *Source.* Brier 1950; Guo et al. 2017 for the calibration error.
///
/// ```
/// use halfspaces_pipeline::{Decisions, Evaluation};
/// let decisions = Decisions {
///     classes: vec![0, 1],
///     values: vec![-1.0, 1.0],
///     probabilities: Some(vec![vec![0.75, 0.25], vec![0.25, 0.75]]),
/// };
/// let found = Evaluation::new(&["a".into(), "b".into()], &decisions, &[Some(0), Some(1)])?;
/// let scores = found.probabilities.ok_or("there are probabilities")?;
/// assert_eq!((scores.brier, scores.calibration_error), (0.0625, 0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbabilityScores {
    /// The mean of -ln p, where p is the probability of the true class. Probabilities below 2⁻⁵² count as 2⁻⁵².
    pub log_loss: f64,
    /// The Brier score. For each row, the squared differences between the probability of a class and its indicator are
    /// summed over the classes. The indicator is 1 for the true class and 0 for the other classes. For two classes,
    /// only the second class counts. The score is the mean over the rows.
    pub brier: f64,
    /// The expected calibration error. The error of a bin is the absolute difference between the mean probability of
    /// the predicted class and the fraction of correct predictions. The expected calibration error is the mean over the
    /// bins, weighted by the number of rows in each bin.
    pub calibration_error: f64,
    /// The calibration table, in which rows are grouped by the probability of the predicted class into ten bins of
    /// equal width. Empty bins are left out.
    pub calibration: Vec<Calibration>,
}

/// A bin of the calibration table. It contains the rows whose predicted class has a probability in some range.
///
/// ```
/// use halfspaces_pipeline::{Calibration, Rate};
/// let bin = Calibration { from: 0.9, to: 1.0, mean: 0.94, correct: Rate::new(47, 50)? };
/// assert!((bin.mean - bin.correct.rate).abs() < 1e-12);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibration {
    /// The lower end of the range.
    pub from: f64,
    /// The upper end of the range. It belongs to the next range, unless it is 1.
    pub to: f64,
    /// The mean probability of the predicted class.
    pub mean: f64,
    /// The fraction of correct predictions.
    pub correct: Rate,
}

impl Evaluation {
    /// Compares decisions with the true classes, which are `None` for labels that the model does not know.
    ///
    /// # Errors
    /// Returns an error if there are no rows.
    ///
    /// # Panics
    /// Panics if the numbers of decisions and true classes differ, or if a class has no name.
    pub fn new(
        classes: &[String],
        decisions: &Decisions,
        truth: &[Option<usize>],
    ) -> Result<Evaluation, DataError> {
        assert_eq!(truth.len(), decisions.classes.len(), "one true class for each row");
        let count = classes.len();
        assert!(decisions.classes.iter().all(|class| *class < count), "a class has a name");
        let mut confusion = vec![vec![0; count]; count];
        let mut wrong = Vec::with_capacity(truth.len());
        for (predicted, truth) in decisions.classes.iter().zip(truth) {
            if let Some(truth) = truth {
                confusion[*truth][*predicted] += 1;
            }
            wrong.push(Some(*predicted) != *truth);
        }
        let errors = wrong.iter().filter(|wrong| **wrong).count();
        let commonest = confusion.iter().map(|row| row.iter().sum::<usize>()).max().unwrap_or(0);
        let of_class = classes.iter().enumerate().map(|(class, name)| {
            let hits = confusion[class][class];
            let rate = |of: usize| (of > 0).then(|| Rate::new(hits, of)).transpose();
            let ranking = Ranking::of_class(class, count, decisions, truth);
            Ok(ClassRates {
                class: name.clone(),
                recall: rate(confusion[class].iter().sum())?,
                precision: rate(decisions.classes.iter().filter(|c| **c == class).count())?,
                auc: ranking.as_ref().map(Ranking::auc),
                average_precision: ranking.as_ref().map(Ranking::average_precision),
            })
        });
        Ok(Evaluation {
            error: Rate::new(errors, wrong.len())?,
            baseline: 1.0 - commonest as f64 / wrong.len() as f64,
            of_class: of_class.collect::<Result<_, DataError>>()?,
            coverage: coverage(&decisions.values, &wrong)?,
            probabilities: match &decisions.probabilities {
                Some(all) => ProbabilityScores::new(all, &decisions.classes, truth)?,
                None => None,
            },
            classes: classes.to_vec(),
            confidence: CONFIDENCE,
            confusion,
            unknown: truth.iter().filter(|class| class.is_none()).count(),
        })
    }
}

/// The errors at several coverages. Rows with equal |value| are either all decided or all left undecided.
fn coverage(values: &[f64], wrong: &[bool]) -> Result<Vec<Coverage>, DataError> {
    let size = |row: &usize| values[*row].abs();
    let mut ranked: Vec<usize> = (0..wrong.len()).collect();
    ranked.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let mut coverage = Vec::new();
    let mut previous = ranked.len() + 1;
    for percent in COVERAGES {
        let threshold = size(&ranked[(ranked.len() * percent).div_ceil(100) - 1]);
        let decided = ranked.partition_point(|row| size(row) >= threshold);
        if decided == previous {
            continue;
        }
        previous = decided;
        let errors = ranked[..decided].iter().filter(|row| wrong[**row]).count();
        let share = decided as f64 / ranked.len() as f64;
        coverage.push(Coverage { share, threshold, error: Rate::new(errors, decided)? });
    }
    Ok(coverage)
}

/// Rows ranked by a score. Each pair contains the number of rows of a class and the number of other rows with the same
/// score. The largest score comes first.
struct Ranking(Vec<(usize, usize)>);

impl Ranking {
    /// The ranking for a class. Returns `None` if there are no scores, or if either all rows or no rows belong to the
    /// class.
    fn of_class(
        class: usize,
        count: usize,
        decisions: &Decisions,
        truth: &[Option<usize>],
    ) -> Option<Ranking> {
        let score = |row: usize| match &decisions.probabilities {
            // The decision value has more significant digits than a probability close to 0 or 1.
            _ if count == 2 => Some(if class == 1 { 1.0 } else { -1.0 } * decisions.values[row]),
            Some(all) => Some(all[row][class]),
            None => None,
        };
        let row = |(row, truth): (usize, &Option<usize>)| {
            truth.map(|truth| score(row).map(|score| (score, truth == class)))
        };
        let mut rows: Vec<(f64, bool)> =
            truth.iter().enumerate().filter_map(row).collect::<Option<_>>()?;
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let tied =
            |a: &(f64, bool), b: &(f64, bool)| a.0.partial_cmp(&b.0).is_some_and(|o| o.is_eq());
        let numbers = rows.chunk_by(tied).map(|rows| {
            let of_class = rows.iter().filter(|row| row.1).count();
            (of_class, rows.len() - of_class)
        });
        let ranking = Ranking(numbers.collect());
        let (of_class, others) = ranking.totals();
        (of_class > 0 && others > 0).then_some(ranking)
    }

    /// The total counts of rows of the class and of other rows.
    fn totals(&self) -> (usize, usize) {
        self.0.iter().fold((0, 0), |sums, row| (sums.0 + row.0, sums.1 + row.1))
    }

    fn auc(&self) -> f64 {
        let (of_class, others) = self.totals();
        let (mut before, mut wins) = (0, 0.0);
        for (here, other) in &self.0 {
            wins += *other as f64 * (before as f64 + 0.5 * *here as f64);
            before += here;
        }
        wins / (of_class as f64 * others as f64)
    }

    fn average_precision(&self) -> f64 {
        let (mut of_class, mut all, mut sum) = (0, 0, 0.0);
        for (here, other) in &self.0 {
            of_class += here;
            all += here + other;
            sum += *here as f64 * of_class as f64 / all as f64;
        }
        sum / of_class as f64
    }
}

impl ProbabilityScores {
    /// Computes the scores. Returns `None` if no row has a known class.
    fn new(
        probabilities: &[Vec<f64>],
        predicted: &[usize],
        truth: &[Option<usize>],
    ) -> Result<Option<ProbabilityScores>, DataError> {
        let (mut rows, mut log_loss, mut brier) = (0.0, 0.0, 0.0);
        // For each bin, the number of rows, the number of correct predictions, and the sum of probabilities.
        let mut bins = [(0, 0, 0.0); BINS];
        for ((of_row, predicted), truth) in probabilities.iter().zip(predicted).zip(truth) {
            let Some(truth) = *truth else { continue };
            rows += 1.0;
            log_loss -= of_row[truth].max(f64::EPSILON).ln();
            let square = |(class, p): (usize, &f64)| (p - f64::from(class == truth)).powi(2);
            let squares: f64 = of_row.iter().enumerate().map(square).sum();
            brier += if of_row.len() == 2 { squares / 2.0 } else { squares };
            let p = of_row[*predicted];
            let (all, correct, sum) = &mut bins[((p * BINS as f64) as usize).min(BINS - 1)];
            *all += 1;
            *correct += usize::from(*predicted == truth);
            *sum += p;
        }
        if rows <= 0.0 {
            return Ok(None);
        }
        let mut calibration = Vec::new();
        let mut calibration_error = 0.0;
        for (bin, (all, correct, sum)) in bins.into_iter().enumerate().filter(|(_, bin)| bin.0 > 0)
        {
            calibration_error += (sum - f64::from(correct as u32)).abs() / rows;
            let end = |bin: usize| bin as f64 / BINS as f64;
            calibration.push(Calibration {
                from: end(bin),
                to: end(bin + 1),
                mean: sum / all as f64,
                correct: Rate::new(correct, all)?,
            });
        }
        let (log_loss, brier) = (log_loss / rows, brier / rows);
        Ok(Some(ProbabilityScores { log_loss, brier, calibration_error, calibration }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|i| format!("c{i}")).collect()
    }

    #[test]
    fn errors_are_counted_by_class_and_coverage() {
        let decisions = Decisions {
            classes: vec![0, 1, 1, 0, 1],
            values: vec![-3.0, 0.1, 2.0, -1.0, 4.0],
            probabilities: None,
        };
        let truth = [Some(0), Some(0), Some(1), Some(1), None];
        let of = Evaluation::new(&names(2), &decisions, &truth).unwrap();
        assert_eq!((of.error.count, of.error.of, of.unknown), (3, 5, 1));
        assert!((of.baseline - 0.6).abs() < 1e-15);
        assert_eq!(of.confusion, [[1, 1], [1, 1]]);
        let counts = |rate: &Option<Rate>| rate.map(|r| (r.count, r.of));
        assert_eq!(counts(&of.of_class[1].recall), Some((1, 2)));
        assert_eq!(counts(&of.of_class[1].precision), Some((1, 3)));
        // At 80 percent, the row with the value 0.1 is left out. The row with the largest value has an unknown label.
        // Shares are rounded up, so 95 and 90 percent of five rows are five rows, and both 80 and 70 percent are four
        // rows.
        let decided = |of: &Evaluation| {
            let row = |c: &Coverage| (c.error.count, c.error.of, c.threshold, c.share);
            of.coverage.iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(decided(&of), [(3, 5, 0.1, 1.0), (2, 4, 1.0, 0.8), (1, 3, 2.0, 0.6)]);
        // Rows with equal |value| are decided together.
        let decisions = Decisions { values: vec![-1.0, 1.0, 1.0, -2.0, 1.0], ..decisions };
        let of = Evaluation::new(&names(2), &decisions, &truth).unwrap();
        assert_eq!(decided(&of), [(3, 5, 1.0, 1.0)]);
        assert!(
            Evaluation::new(
                &names(2),
                &Decisions { classes: vec![], values: vec![], ..decisions },
                &[]
            )
            .is_err()
        );
    }

    /// The values are 3 (class b), 2 (a), 2 (b), 1 (a), 0 (b), and 9 with an unknown label. There are 6 pairs that
    /// consist of a row of class b and a row of class a. The first b wins 2 pairs, the second b wins 1 pair and ties in
    /// another, and the third b wins none, which gives 3.5 of 6. The precisions at the three rows of class b are 1, 2/3
    /// and 3/5.
    #[test]
    fn rankings_by_hand() {
        let decisions = Decisions {
            classes: vec![1, 1, 1, 1, 1, 1],
            values: vec![0.0, 1.0, 2.0, 2.0, 3.0, 9.0],
            probabilities: None,
        };
        let truth = [Some(1), Some(0), Some(1), Some(0), Some(1), None];
        let of = Evaluation::new(&names(2), &decisions, &truth).unwrap();
        let close = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() - expected).abs() < 1e-15, "{found:?} {expected}");
        };
        close(of.of_class[1].auc, 3.5 / 6.0);
        close(of.of_class[0].auc, 3.5 / 6.0);
        close(of.of_class[1].average_precision, (1.0 + 2.0 / 3.0 + 0.6) / 3.0);
        // For class a, the ranking starts at the smallest value: b (0), a (1), a and b (2), b (3).
        close(of.of_class[0].average_precision, (0.5 + 0.5) / 2.0);
        // The values 0 and -0 are equal.
        let zeros = Decisions { classes: vec![1, 0], values: vec![0.0, -0.0], probabilities: None };
        let of = Evaluation::new(&names(2), &zeros, &[Some(0), Some(1)]).unwrap();
        close(of.of_class[1].auc, 0.5);
        // There is no ranking if all rows belong to one class, or if there are several classes but no probabilities.
        let one = Evaluation::new(&names(2), &zeros, &[Some(0), Some(0)]).unwrap();
        assert_eq!((one.of_class[0].auc, one.of_class[1].average_precision), (None, None));
        let several = Evaluation::new(&names(3), &zeros, &[Some(0), Some(1)]).unwrap();
        assert_eq!(several.of_class[0].auc, None);
    }

    #[test]
    fn probabilities_by_hand() {
        let of = |probabilities: Vec<Vec<f64>>, classes: Vec<usize>, truth: &[Option<usize>]| {
            let values = vec![1.0; classes.len()];
            let decisions = Decisions { classes, values, probabilities: Some(probabilities) };
            let names = names(decisions.probabilities.as_ref().unwrap()[0].len());
            Evaluation::new(&names, &decisions, truth).unwrap()
        };
        let found = of(
            vec![
                vec![0.2, 0.7, 0.1],
                vec![0.75, 0.25, 0.0],
                vec![0.0, 0.0, 1.0],
                vec![0.0, 1.0, 0.0],
            ],
            vec![1, 0, 2, 1],
            &[Some(1), Some(1), Some(2), None],
        );
        let scores = found.probabilities.unwrap();
        assert!((scores.log_loss + (0.7f64.ln() + 0.25f64.ln()) / 3.0).abs() < 1e-15);
        let squares = (0.04 + 0.09 + 0.01) + (0.5625 + 0.5625) + 0.0;
        assert!((scores.brier - squares / 3.0).abs() < 1e-15);
        // The probabilities 0.7 and 0.75 are in the same bin, where 1.45 correct predictions are expected and 1 is
        // found. The probability 1 is in the last bin.
        assert!((scores.calibration_error - 0.45 / 3.0).abs() < 1e-15);
        let bins: Vec<(usize, usize)> =
            scores.calibration.iter().map(|bin| (bin.correct.count, bin.correct.of)).collect();
        assert_eq!(bins, [(1, 2), (1, 1)]);
        assert_eq!((scores.calibration[0].from, scores.calibration[1].to), (0.7, 1.0));
        assert!((scores.calibration[0].mean - 0.725).abs() < 1e-15);
        // Both rows of the second class have a larger probability of this class than the row of the third class.
        assert_eq!(found.of_class[1].auc, Some(1.0));
        // For two classes, the Brier score is that of the second class. A probability of 0 counts as 2⁻⁵².
        let two = of(vec![vec![1.0, 0.0], vec![0.6, 0.4]], vec![0, 0], &[Some(1), Some(0)]);
        let scores = two.probabilities.unwrap();
        assert!((scores.brier - (1.0 + 0.16) / 2.0).abs() < 1e-15);
        assert!((scores.log_loss - (52.0 * 2f64.ln() - 0.6f64.ln()) / 2.0).abs() < 1e-12);
        let unknown = of(vec![vec![1.0, 0.0]], vec![0], &[None]);
        assert_eq!(unknown.probabilities, None);
    }
}
