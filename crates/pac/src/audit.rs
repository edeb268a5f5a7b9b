//! A ranking of rows by the likelihood that their labels are wrong.
//!
//! Each row is compared with a classifier trained without it. *Source.* The ranking is ours. The count of likely wrong
//! labels applies the rule of confident learning (Northcutt, Jiang and Chuang 2021) to decision values.

use crate::ErrorCount;
use crate::mean_size::mean_size;
use crate::streams;
use halfspaces_linalg::{
    Classifier, FitSample, InputError, Label, PointSet, Steps, Threads, rng_for,
};
use rand::seq::SliceRandom;

/// The smallest number of folds.
const MIN_FOLDS: usize = 2;

/// A fold with at least this number of rows has its own unit of agreement: the mean absolute decision value of its
/// rows. In a fold of one row, this unit would make every agreement 1 or -1.
const MIN_SCALED: usize = 20;

/// A row, with a number that measures how well its label agrees with the classifier trained without the row.
///
/// ```
/// use halfspaces_pac::Suspect;
/// let suspect = Suspect { row: 3, agreement: -1.5, sort_key: -1.25 };
/// assert!(suspect.agreement < 0.0, "its label is on the other side");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suspect {
    /// The row number, counted from 0.
    pub row: usize,
    /// The label (±1) times the decision value, divided by the mean absolute decision value. The mean is over the fold,
    /// or over all points if the fold has fewer than 20 rows. The agreement is negative if the classifier disagrees
    /// with the label. A larger magnitude means a more confident classifier.
    pub agreement: f64,
    /// The number by which the ranking is sorted, in increasing order. In [`LabelAudit::ranking`], it is the agreement.
    /// In [`LabelAudit::ranking_by_class`], it is the difference between the agreement and the agreement at which a
    /// label of this class is as likely wrong as right.
    pub sort_key: f64,
}

/// A ranking of the rows of a sample by the likelihood that their labels are wrong.
///
/// *Method.* The rows are split at random into folds. For each fold, the learner is trained on all other folds, which
/// gives a classifier with decision value f. If a row x in the fold has the label y, its agreement is y f(x), divided
/// by the mean |f| over the fold, or over all points if the fold has fewer than 20 rows. Rows are sorted in increasing
/// order of agreement, so the labels that the classifiers contradict most strongly come first.
///
/// *Guarantee.* [`LabelAudit::wrong_at_most`] bounds the number of wrong labels for any learner and any points. The
/// rankings are heuristic. Under Massart noise, a Perspectron disagrees with wrong labels far from its boundary, so
/// these labels are ranked first. [`LabelAudit::ranking_by_class`] takes into account that the labels of one class may
/// be wrong more often.
///
/// *Cost.* The learner is fitted once for each fold, on all other folds.
///
/// *When to use it.* Use the audit to review labels from the top of the ranking, until the reviews find no more wrong
/// labels. Do not use it if no model of the learner's class fits the data: the classifier's own errors then look like
/// wrong labels. *Claims:* PW.
///
/// ```
/// use halfspaces_linalg::{Label, Params, Points, Threads};
/// use halfspaces_pac::{LabelAudit, LogisticRegression};
/// let value = |i: usize| (i as f64 - 49.5) / 10.0;
/// let points = Points::new((0..100).map(value).collect(), 1)?;
/// let mut labels: Vec<Label> = (0..100).map(|i| Label::from_sign(value(i))).collect();
/// labels[95] = Label::Negative; // a wrong label, far from the boundary
/// let learner = LogisticRegression::params().check()?;
/// let audit = LabelAudit::run(&learner, &points, &labels, 5, 1, Threads::ONE)?;
/// assert_eq!(audit.ranking()[0].row, 95);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LabelAudit {
    ranking: Vec<Suspect>,
    by_class: Vec<Suspect>,
    /// For each fold, the number of labels that disagree with the classifier trained without the fold.
    folds: Vec<ErrorCount>,
    likely: usize,
}

impl LabelAudit {
    /// Compares every label with the prediction of a classifier trained without it. Usually, `folds` is 5 or 10. The
    /// folds are fitted in parallel on `threads`; the result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`]; [`InputError::ParameterOutOfRange`] for fewer than two folds or more folds than
    /// points; the errors of the learner.
    pub fn run<L, P>(
        learner: &L,
        points: &P,
        labels: &[Label],
        folds: usize,
        seed: u64,
        threads: Threads,
    ) -> Result<LabelAudit, L::Error>
    where
        L: FitSample + Sync,
        L::Error: Send,
        P: PointSet,
    {
        InputError::check_len(points.len(), labels.len())?;
        let fits = (MIN_FOLDS..=labels.len()).contains(&folds);
        InputError::check_parameter("folds", folds as f64, fits, "from 2 to the number of points")?;
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.shuffle(&mut rng_for(streams::SPLIT, seed));
        // Fold k contains the rows whose position in the shuffled order is k modulo the number of folds.
        let steps = Steps::plan(folds as u64);
        let judged = threads.map_blocks(folds, 1, |fold| {
            let fold = fold.start;
            let (mut out, mut rest): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
            for (place, &row) in order.iter().enumerate() {
                if place % folds == fold { out.push(row) } else { rest.push(row) }
            }
            out.sort_unstable();
            rest.sort_unstable();
            let known: Vec<Label> = rest.iter().map(|row| labels[*row]).collect();
            let model = learner.fit(&points.select(&rest)?, &known)?;
            let judged = judge(&model, points, labels, &out).map_err(L::Error::from);
            steps.advance(1);
            judged
        });
        let mut ranking = Vec::with_capacity(labels.len());
        let mut counts = Vec::with_capacity(folds);
        for fold in judged {
            let (suspects, errors) = fold?;
            counts.push(ErrorCount { errors, points: suspects.len() });
            ranking.extend(suspects);
        }
        let likely = likely_wrong(&ranking, labels);
        let shifts = shifts_of(&ranking, labels, &likely);
        ranking.sort_by(|a, b| a.agreement.total_cmp(&b.agreement).then(a.row.cmp(&b.row)));
        let by_class =
            |s: &Suspect| Suspect { sort_key: s.agreement - shifts[class(labels[s.row])], ..*s };
        let mut by_class: Vec<Suspect> = ranking.iter().map(by_class).collect();
        // The sort is stable: if keys are equal, the row with the lower agreement comes first, then the row with the
        // lower number.
        by_class.sort_by(|a, b| a.sort_key.total_cmp(&b.sort_key));
        let likely = likely.iter().filter(|is| **is).count();
        Ok(LabelAudit { ranking, by_class, folds: counts, likely })
    }

    /// All rows, in increasing order of agreement. Rows with equal agreement are in the order of their row numbers.
    #[must_use]
    pub fn ranking(&self) -> &[Suspect] {
        &self.ranking
    }

    /// All rows, in decreasing order of the odds that their labels are wrong. Use this order for data in which the
    /// labels of one class may be wrong more often than those of the other. If two rows have equal odds, the row with
    /// the lower agreement comes first.
    ///
    /// For a row with agreement a, the log-odds are log(π/(1 - π)) - 2μa/σ². Here π = (L + ½)/(N + 1), where N is the
    /// number of rows with the same label as this row, and L is the number of these rows whose labels are likely wrong.
    /// The numbers μ and σ² are the mean and the variance of the agreement over all rows whose labels are not likely
    /// wrong. This is Bayes' rule if the agreements of correct labels are Gaussian and those of wrong labels are their
    /// mirror image. If the mean or the variance is not positive, the order is that of [`LabelAudit::ranking`]. The
    /// order is a heuristic. It is better than [`LabelAudit::ranking`] if most wrong labels are in one class, and
    /// slightly worse if the wrong labels are in both classes.
    ///
    /// ```
    /// use halfspaces_linalg::{Label, Params, Points, Threads};
    /// use halfspaces_pac::{LabelAudit, LogisticRegression};
    /// let value = |i: usize| (i as f64 - 49.5) / 10.0;
    /// let points = Points::new((0..100).map(value).collect(), 1)?;
    /// // Every sixth negative is labelled positive, and the last point negative.
    /// let label = |i: usize| Label::from_sign(if i == 99 { -1.0 } else if i % 6 == 0 { 1.0 } else { value(i) });
    /// let labels: Vec<Label> = (0..100).map(label).collect();
    /// let learner = LogisticRegression::params().check()?;
    /// let audit = LabelAudit::run(&learner, &points, &labels, 5, 1, Threads::ONE)?;
    /// let place = |ranking: &[halfspaces_pac::Suspect]| ranking.iter().position(|s| s.row == 99);
    /// assert!(place(audit.ranking_by_class()) > place(audit.ranking()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ranking_by_class(&self) -> &[Suspect] {
        &self.by_class
    }

    /// For each fold, the number of labels that disagree with the classifier trained without the fold. Wrong labels and
    /// the classifier's own errors both contribute to these numbers.
    #[must_use]
    pub fn folds(&self) -> &[ErrorCount] {
        &self.folds
    }

    /// The number of labels that are likely wrong by the rule of confident learning. By this rule, a label is likely
    /// wrong if the classifier predicts the other label, and if its confidence is at least its average confidence on
    /// the rows that have the other label. This number is a heuristic estimate.
    #[must_use]
    pub fn likely_wrong(&self) -> usize {
        self.likely
    }

    /// An upper bound on the number of wrong labels. The bound fails with probability at most `failure`.
    ///
    /// The bound is the sum of the bounds of all folds ([`wrong_labels_bound`]), each with the failure probability
    /// `failure`/folds. It is *proved* under the assumption that, given the points, the labels are wrong independently
    /// of each other, each with its own probability of at most one half (Massart noise of rate 1/2).
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a `failure` outside (0, 1).
    pub fn wrong_at_most(&self, failure: f64) -> Result<usize, InputError> {
        let open = failure > 0.0 && failure < 1.0;
        InputError::check_parameter("failure", failure, open, "in (0, 1)")?;
        let share = failure / self.folds.len() as f64;
        let bound = |c: &ErrorCount| wrong_labels_bound(c.errors(), c.points(), share);
        Ok(self.folds.iter().map(bound).sum())
    }
}

/// An upper bound on the number of wrong labels among `points` labels, if a classifier disagrees with D of these
/// labels. The classifier must not depend on these labels. The bound fails with probability at most `failure`.
///
/// The bound is the smaller of `points` and ⌊D + √(2NL)⌋, where L = ln(1/failure) and N = (√(L/2) + √(L/2 + 2D))².
///
/// *Proof.* Labels are wrong independently with probabilities <= 1/2. Let the classifier differ from the truth on M
/// points. Let a be the number of these points with a wrong label, b the number of these points with the correct label,
/// and c the number of wrong labels of all other points. The classifier disagrees with exactly the b correct and the c
/// wrong labels. So D = b + c, and a + c labels are wrong. The number a is a sum of M independent 0/1 variables with
/// total mean <= M/2, so a - b <= √(2ML) by Hoeffding's inequality, except with probability `failure`. Then M = 2b +
/// (a - b) <= 2D + √(2ML), and therefore √M <= √(L/2) + √(L/2 + 2D). So M <= N, and a + c = D + (a - b) <= D + √(2NL).
/// ∎
#[must_use]
pub fn wrong_labels_bound(disagreements: usize, points: usize, failure: f64) -> usize {
    let (d, l) = (disagreements as f64, -failure.ln());
    let n = ((l / 2.0).sqrt() + (l / 2.0 + 2.0 * d).sqrt()).powi(2).min(points as f64);
    ((d + (2.0 * n * l).sqrt()).floor() as usize).min(points)
}

/// Returns the agreements of the rows `out`, and the number of these rows whose label differs from the prediction of
/// the model.
fn judge<M: Classifier, P: PointSet>(
    model: &M,
    points: &P,
    labels: &[Label],
    out: &[usize],
) -> Result<(Vec<Suspect>, usize), InputError> {
    let value = |row: usize| {
        let Some(x) = points.row(row) else { unreachable!("folds contain rows of the points") };
        model.decision_value(x).map_err(|error| error.at_row(row))
    };
    let values = out.iter().map(|row| value(*row)).collect::<Result<Vec<f64>, InputError>>()?;
    let errors = out.iter().zip(&values);
    let errors = errors.filter(|(row, value)| Label::from_sign(**value) != labels[**row]).count();
    let scale = if out.len() < MIN_SCALED {
        mean_size(&(0..labels.len()).map(value).collect::<Result<Vec<f64>, InputError>>()?)
    } else {
        mean_size(&values)
    };
    let suspect = |(&row, value): (&usize, &f64)| {
        let agreement = labels[row].as_f64() * (value / scale);
        Suspect { row, agreement, sort_key: agreement }
    };
    Ok((out.iter().zip(&values).map(suspect).collect(), errors))
}

fn class(label: Label) -> usize {
    usize::from(label == Label::Positive)
}

/// Returns, for each label, whether it is likely wrong. A label is likely wrong if the classifier predicts the other
/// label for the row, and if its confidence is at least its average confidence on the rows that have the other label.
fn likely_wrong(suspects: &[Suspect], labels: &[Label]) -> Vec<bool> {
    let mut sums = [(0.0, 0_usize); 2];
    for suspect in suspects {
        let (sum, count) = &mut sums[class(labels[suspect.row])];
        (*sum, *count) = (*sum + suspect.agreement, *count + 1);
    }
    // If no row has the other label, there is no average to compare with.
    let mean = |(sum, count): (f64, usize)| (count > 0).then(|| sum / count as f64);
    let means = sums.map(mean);
    let is_likely = |suspect: &Suspect| {
        let other = means[1 - class(labels[suspect.row])];
        suspect.agreement < 0.0 && other.is_some_and(|mean| -suspect.agreement >= mean)
    };
    suspects.iter().map(is_likely).collect()
}

/// The result of [`class_shifts`] for these rows.
fn shifts_of(suspects: &[Suspect], labels: &[Label], likely: &[bool]) -> [f64; 2] {
    let (mut wrong, mut rows) = ([0_usize; 2], [0_usize; 2]);
    let mut right = Vec::with_capacity(suspects.len());
    for (suspect, likely) in suspects.iter().zip(likely) {
        let class = class(labels[suspect.row]);
        rows[class] += 1;
        if *likely { wrong[class] += 1 } else { right.push(suspect.agreement) }
    }
    let count = right.len() as f64;
    let mean = right.iter().sum::<f64>() / count;
    let variance = right.iter().map(|a| (a - mean) * (a - mean)).sum::<f64>() / count;
    class_shifts(mean, variance, wrong, rows)
}

/// For each class, the agreement at which the odds that a row's label is wrong are even, as in
/// [`LabelAudit::ranking_by_class`]. This agreement is σ²/(2μ) log(π/(1 - π)). It is 0 if the `mean` μ or the `variance`
/// σ² of the agreement is not positive. `wrong` is the number of labels of each class that are likely wrong, and `rows`
/// the number of rows with the label.
#[must_use]
pub fn class_shifts(mean: f64, variance: f64, wrong: [usize; 2], rows: [usize; 2]) -> [f64; 2] {
    // If all labels are likely wrong, the mean and the variance are NaN.
    if !(mean > 0.0 && variance > 0.0) {
        return [0.0; 2];
    }
    [0, 1].map(|class| {
        // π/(1 - π) with π = (wrong + ½)/(rows + 1).
        let odds = (wrong[class] as f64 + 0.5) / ((rows[class] - wrong[class]) as f64 + 0.5);
        variance / (2.0 * mean) * odds.ln()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LogisticRegression;
    use crate::test_data::Instance;
    use halfspaces_linalg::RngStream;
    use halfspaces_linalg::{Halfspace, Params, Points, SparsePoints};
    use rand::RngExt;

    fn noisy(n: usize, rate: f64, seed: u64) -> (Points, Vec<Label>, Vec<bool>) {
        let instance = Instance::new(4, 0.1, 3);
        let (points, labels) = instance.sample(n, seed, |_| 0.0);
        let mut rng = rng_for(RngStream::CALLER, seed);
        let wrong: Vec<bool> = (0..n).map(|_| rng.random::<f64>() < rate).collect();
        let labels = labels.iter().zip(&wrong).map(|(y, w)| if *w { -*y } else { *y }).collect();
        (points, labels, wrong)
    }

    #[test]
    fn wrong_labels_come_first() {
        let (points, labels, wrong) = noisy(1000, 0.1, 5);
        let learner = LogisticRegression::params().check().unwrap();
        let audit = LabelAudit::run(&learner, &points, &labels, 5, 1, Threads::ONE).unwrap();
        let count = wrong.iter().filter(|w| **w).count();
        let top = audit.ranking().iter().take(count).filter(|s| wrong[s.row]).count();
        assert!(top * 10 >= count * 9, "{top} of {count}");
        assert!(audit.ranking().windows(2).all(|w| w[0].agreement <= w[1].agreement));
        let mut rows: Vec<usize> = audit.ranking().iter().map(|s| s.row).collect();
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..1000), "every row once");
        assert!((count / 4..=count).contains(&audit.likely_wrong()), "{}", audit.likely_wrong());
        // The number of disagreements equals the number of negative agreements.
        let errors: usize = audit.folds().iter().map(|c| c.errors()).sum();
        assert_eq!(errors, audit.ranking().iter().filter(|s| s.agreement < 0.0).count());
        assert!(audit.wrong_at_most(0.05).unwrap() >= count);
        // Each of the five folds gets a fifth of the failure probability.
        let of_fold = |c: &ErrorCount| wrong_labels_bound(c.errors(), c.points(), 0.01);
        assert_eq!(audit.wrong_at_most(0.05), Ok(audit.folds().iter().map(of_fold).sum()));
        let two = Threads::new(2).unwrap();
        assert_eq!(LabelAudit::run(&learner, &points, &labels, 5, 1, two).unwrap(), audit);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let other = LabelAudit::run(&learner, &sparse, &labels, 5, 1, Threads::ONE).unwrap();
        assert_eq!(other.folds(), audit.folds());
    }

    /// A row's own label does not influence the classifier that judges it. Flipping the label flips the sign of the
    /// row's agreement exactly, and changes nothing else in the row's fold.
    #[test]
    fn no_row_is_judged_by_what_learned_from_it() {
        let (points, labels, _) = noisy(60, 0.1, 7);
        let learner = LogisticRegression::params().check().unwrap();
        let run = |labels: &[Label]| {
            let audit = LabelAudit::run(&learner, &points, labels, 6, 2, Threads::ONE).unwrap();
            let mut by_row = audit.ranking().to_vec();
            by_row.sort_by_key(|s| s.row);
            by_row
        };
        let before = run(&labels);
        for row in [0, 17, 59] {
            let mut turned = labels.clone();
            turned[row] = -turned[row];
            assert_eq!(run(&turned)[row].agreement.to_bits(), (-before[row].agreement).to_bits());
        }
    }

    /// Leave-one-out folds give nearly the same agreements as folds of 30 rows.
    #[test]
    fn agreements_do_not_depend_on_the_size_of_folds() {
        let (points, labels, _) = noisy(300, 0.05, 9);
        let learner = LogisticRegression::params().check().unwrap();
        let of_folds = |folds: usize| {
            let audit = LabelAudit::run(&learner, &points, &labels, folds, 2, Threads::ONE);
            let audit = audit.unwrap();
            let mut by_row = audit.ranking().to_vec();
            by_row.sort_by_key(|s| s.row);
            let likely = audit.likely_wrong();
            (by_row.into_iter().map(|s| s.agreement).collect::<Vec<f64>>(), likely)
        };
        let ((large, in_large), (small, in_small)) = (of_folds(10), of_folds(300));
        let apart = large.iter().zip(&small).map(|(a, b)| (a - b).abs()).sum::<f64>() / 300.0;
        assert!(apart < 0.1, "{apart}");
        assert!(in_large.abs_diff(in_small) <= 3, "{in_large} {in_small}");
    }

    /// The decision value of row i is i, and the mean of 0, .., n - 1 is (n - 1)/2.
    #[test]
    fn the_scale_of_a_fold_is_that_of_all_points_below_20_rows() {
        let points = Points::new((0..40).map(f64::from).collect(), 1).unwrap();
        let (labels, model) = ([Label::Positive; 40], Halfspace::new(vec![1.0]).unwrap());
        for (rows, scale) in [(1, 19.5), (19, 19.5), (20, 9.5), (40, 19.5)] {
            let out: Vec<usize> = (0..rows).collect();
            let (suspects, _) = judge(&model, &points, &labels, &out).unwrap();
            let last = suspects[rows - 1].agreement;
            assert!((last - (rows - 1) as f64 / scale).abs() < 1e-12, "{rows} {last}");
        }
    }

    /// The bounds are computed by hand: D = 0 and L = 2 give N = 4 and the bound √16 = 4; D = 8 and L = 2 give √N = 1 +
    /// √17.
    #[test]
    fn the_bound_is_what_the_proof_says() {
        let failure = (-2.0_f64).exp();
        assert_eq!(wrong_labels_bound(0, 100, failure), 4);
        let root: f64 = 1.0 + 17.0_f64.sqrt();
        assert_eq!(wrong_labels_bound(8, 1000, failure), (8.0 + 2.0 * root).floor() as usize);
        assert_eq!(wrong_labels_bound(8, 10, failure), 10, "never more than there are");
    }

    /// The worst case of the proof: a classifier that is wrong on M points, whose labels are fair coin flips. The bound
    /// fails in at most a fraction δ of the trials. A bound without the second term fails in nearly half of them.
    #[test]
    fn the_bound_covers_the_worst_case() {
        let (trials, m, failure) = (2000, 200, 0.1);
        let mut rng = rng_for(RngStream::CALLER, 11);
        let (mut failed, mut plain) = (0, 0);
        for _ in 0..trials {
            let wrong = (0..m).filter(|_| rng.random::<bool>()).count();
            failed += usize::from(wrong > wrong_labels_bound(m - wrong, m + 800, failure));
            plain += usize::from(wrong > m - wrong);
        }
        assert!(failed <= trials / 10, "{failed}");
        assert!(failed >= trials / 400, "{failed}: the bound is far from sharp");
        assert!(plain >= trials * 4 / 10, "{plain}");
    }

    #[test]
    fn values_of_no_size_agree_with_nothing() {
        let points = Points::from_rows(&[[0.0], [0.0]]).unwrap();
        let labels = [Label::Positive, Label::Negative];
        let model = Halfspace::new(vec![1.0]).unwrap();
        let (suspects, errors) = judge(&model, &points, &labels, &[0, 1]).unwrap();
        assert!(suspects.iter().all(|s| s.agreement == 0.0));
        assert_eq!(errors, 1);
        assert_eq!(likely_wrong(&suspects, &labels), [false, false]);
        assert_eq!(shifts_of(&suspects, &labels, &[false, false]), [0.0, 0.0], "no mean");
    }

    /// The shifts are computed by hand. The agreements 1, 3, 1, 3 of the correct labels have mean 2 and variance 1, so
    /// the shifts are a quarter of the log-odds. None of the two positive labels and one of the three negative labels
    /// is likely wrong, so the odds are ½ : 2½ and 1½ : 2½.
    #[test]
    fn shifts_by_hand() {
        let [p, n] = [Label::Positive, Label::Negative];
        let labels = [p, n, n, p, n];
        let values = [1.0, 3.0, 1.0, 3.0, -2.5];
        let suspects: Vec<Suspect> = values
            .iter()
            .enumerate()
            .map(|(row, agreement)| Suspect { row, agreement: *agreement, sort_key: *agreement })
            .collect();
        let likely = likely_wrong(&suspects, &labels);
        assert_eq!(likely, [false, false, false, false, true]);
        let shifts = shifts_of(&suspects, &labels, &likely);
        assert!((shifts[0] - 0.25 * 0.6_f64.ln()).abs() < 1e-15, "{shifts:?}");
        assert!((shifts[1] - 0.25 * 0.2_f64.ln()).abs() < 1e-15, "{shifts:?}");
        assert_eq!(shifts_of(&suspects[..1], &labels, &[false]), [0.0, 0.0], "no variance");
        assert_eq!(shifts_of(&suspects[4..], &labels, &[true]), [0.0, 0.0], "none is right");
    }

    /// Negatives are labelled positive with probability 0.4, and positives are never labelled negative. The ranking by
    /// class then finds more wrong labels.
    #[test]
    fn labels_wrong_in_one_class_come_first_by_class() {
        let (mut plain, mut by_class, mut count) = (0, 0, 0);
        for seed in 0..5 {
            let (points, truth, _) = noisy(600, 0.0, seed);
            let mut rng = rng_for(RngStream::CALLER, seed);
            let slip = |y: &Label| *y == Label::Negative && rng.random::<f64>() < 0.4;
            let wrong: Vec<bool> = truth.iter().map(slip).collect();
            let labels: Vec<Label> =
                truth.iter().zip(&wrong).map(|(y, w)| if *w { -*y } else { *y }).collect();
            let learner = LogisticRegression::params().check().unwrap();
            let audit = LabelAudit::run(&learner, &points, &labels, 5, 1, Threads::ONE).unwrap();
            let k = wrong.iter().filter(|w| **w).count();
            let found =
                |ranking: &[Suspect]| ranking.iter().take(k).filter(|s| wrong[s.row]).count();
            plain += found(audit.ranking());
            by_class += found(audit.ranking_by_class());
            count += k;
            let mut rows: Vec<usize> = audit.ranking_by_class().iter().map(|s| s.row).collect();
            rows.sort_unstable();
            assert!(rows.into_iter().eq(0..600), "every row once");
        }
        assert!(by_class > plain + count / 50, "{by_class} and {plain} of {count}");
    }

    #[test]
    fn folds_out_of_range_are_refused() {
        let (points, labels, _) = noisy(10, 0.0, 7);
        let learner = LogisticRegression::params().check().unwrap();
        for folds in [0, 1, 11] {
            let error = LabelAudit::run(&learner, &points, &labels, folds, 1, Threads::ONE);
            assert!(error.unwrap_err().to_string().starts_with("folds = "));
        }
    }

    /// The rows that are not likely wrong have agreements 1 and 3: mean 2 and variance 1.
    #[test]
    fn shifts_are_those_of_the_rows_that_are_right() {
        let [p, n] = [Label::Positive, Label::Negative];
        let suspect = |row, agreement| Suspect { row, agreement, sort_key: agreement };
        let suspects = [suspect(0, -2.0), suspect(1, 1.0), suspect(2, 3.0)];
        let shifts = shifts_of(&suspects, &[n, p, p], &[true, false, false]);
        let (mut wrong, mut rows) = ([0; 2], [0; 2]);
        (wrong[class(n)], rows[class(n)], rows[class(p)]) = (1, 1, 2);
        assert_eq!(shifts, class_shifts(2.0, 1.0, wrong, rows));
        assert!(shifts.iter().all(|shift| *shift != 0.0));
    }
}
