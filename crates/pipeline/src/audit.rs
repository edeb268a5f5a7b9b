//! Label audits. An audit compares the label of each row with the prediction of a classifier that was fitted without
//! this row.

use crate::class_noise::Joint;
use crate::design::{Design, DesignRows};
use crate::model::{Model, labels_of, lead};
use crate::plan::{Method, Plan};
use crate::streams;
use halfspaces_frame::DataError;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{
    Classifier, DensePoints, FitSample, InputError, Label, Params, PointSet, Points, RowView,
    Steps, Threads, checkpoint, deciding_class, rng_for,
};
use halfspaces_pac::{Calibration, LabelAudit, wrong_labels_bound};
use halfspaces_tables::{MIN_TABLE_ROWS, TableClassifier};

/// The upper limit on the share of a class's rows that have the same wrong label. This limit prevents a division by 0.
const MAX_SHARE: f64 = 0.95;

/// The result of an audit for the label of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suspect {
    /// The row, counted from 0.
    pub row: usize,
    /// The class that the classifier predicts.
    pub suggested: usize,
    /// The agreement between the prediction and the label. It is negative if the two differ. A larger magnitude means
    /// more confidence.
    pub agreement: f64,
    /// The number by which the ranking is sorted, in increasing order. With two classes, it is the agreement minus the
    /// agreement at which a label of this class is as likely to be wrong as right. With several classes, it is the
    /// probability of the label or, if the class of the label is often given by mistake, the probability that the label
    /// is right. Without probabilities, it is the agreement.
    pub sort_key: f64,
}

/// The result of an [`Audit`].
#[derive(Debug, Clone, PartialEq)]
pub struct AuditResult {
    /// All rows, starting with the most suspicious one.
    pub ranking: Vec<Suspect>,
    /// The number of labels that are likely wrong according to the rule of confident learning. It is 0 if the audit is
    /// not [informative](AuditResult::is_informative).
    pub likely: usize,
    /// An upper bound on the number of wrong labels. The probability that the bound fails is at most
    /// [`Audit::failure`].
    pub at_most: usize,
    /// The number of labels that differ from the prediction.
    pub disagreements: usize,
    /// The number of labels that differ from the most frequent label.
    pub baseline: usize,
    /// The model of each fold, if the points are sparse. `fold_of` is the fold of each row.
    models: Vec<Model>,
    fold_of: Vec<usize>,
}

impl AuditResult {
    /// Whether the classifier disagrees with fewer labels than a constant prediction of the most frequent label would.
    /// Otherwise, the ranking says little about which labels are wrong.
    #[must_use]
    pub fn is_informative(&self) -> bool {
        self.disagreements < self.baseline
    }

    /// Whether the classifier disagrees with at least a fifth of the labels. In this case, many of the disagreements, and
    /// of the labels that are likely wrong, may be errors of the classifier.
    #[must_use]
    pub fn has_many_disagreements(&self) -> bool {
        self.disagreements * 5 >= self.ranking.len()
    }

    /// The weight of each coordinate as evidence for `label` rather than for the class `suggested`, in the model that
    /// was fitted without the row `row`. Returns `None` if the points are dense or if the model is not one halfspace
    /// per class.
    #[must_use]
    pub fn weights(&self, row: usize, label: usize, suggested: usize) -> Option<Vec<f64>> {
        let weights = self.models.get(*self.fold_of.get(row)?)?.weights()?;
        Some(match &weights[..] {
            [one] => {
                let sign = f64::from(u8::from(label == 1)) - f64::from(u8::from(suggested == 1));
                one.iter().map(|weight| sign * weight).collect()
            }
            several => {
                let pairs = several[label].iter().zip(&several[suggested]);
                pairs.map(|(label, suggested)| label - suggested).collect()
            }
        })
    }
}

/// A label audit, in which the label of each row is checked by a model that was fitted without the row.
///
/// *Guarantee.* If each label is wrong independently of the others, with probability at most one half, then the number
/// of wrong labels exceeds [`AuditResult::at_most`] with probability at most `failure`. The order of the rows and the
/// count of likely wrong labels are heuristic.
///
/// ```
/// use halfspaces_linalg::Points;
/// use halfspaces_pipeline::{Audit, Design, Method, Plan};
/// let points = Points::new((0..60).map(f64::from).collect(), 1)?;
/// let mut classes: Vec<usize> = (0..60).map(|i| usize::from(i >= 30)).collect();
/// classes[7] = 1; // a wrong label
/// let audit = Audit { plan: Plan::new(Method::Logistic), folds: 5, failure: 0.05 };
/// let found = audit.run(&Design::Dense(points), &classes, 2)?;
/// assert_eq!((found.ranking[0].row, found.ranking[0].suggested), (7, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Audit {
    /// The learner with its parameters.
    pub plan: Plan,
    /// The number of folds. The labels of each fold are checked by a model that is fitted to the other folds.
    pub folds: usize,
    /// The probability with which the bound may fail, in (0, 1).
    pub failure: f64,
}

impl Audit {
    /// Checks the labels of all rows. The labels are the classes 0, 1, .., `count` - 1. Each fold is one of the
    /// [`Steps`] of the audit.
    ///
    /// # Errors
    /// Returns an error if a parameter does not apply to the learner, there are fewer than two folds or more folds than
    /// rows, or one fold contains all rows of a class.
    pub fn run(
        &self,
        design: &DesignRows<'_>,
        classes: &[usize],
        count: usize,
    ) -> Result<AuditResult, DataError> {
        let open = self.failure > 0.0 && self.failure < 1.0;
        InputError::check_parameter("failure", self.failure, open, "in (0, 1)")?;
        let learned = classes.len() - classes.len().div_ceil(self.folds.max(1));
        let is_table = matches!(design, DesignRows::Dense(_)) && self.plan.method == Method::Auto;
        if is_table && (2..=classes.len()).contains(&self.folds) && learned < MIN_TABLE_ROWS {
            return Err(DataError::user(format!(
                "{learned} of {} rows are too few to learn from in each fold: auto needs at least {MIN_TABLE_ROWS}; add rows, use \
                 more folds (--folds), or use --learner logistic",
                classes.len()
            )));
        }
        let found = match design {
            DesignRows::Dense(points) if count == 2 => self.two(points, classes),
            _ => self.several(design, classes, count),
        }?;
        let likely = if found.is_informative() { found.likely } else { 0 };
        Ok(AuditResult { likely, ..found })
    }

    fn two(&self, points: &DensePoints<'_>, classes: &[usize]) -> Result<AuditResult, DataError> {
        let labels = labels_of(classes, 1);
        let Plan { method, seed, threads, .. } = self.plan;
        let audit = if method == Method::Auto {
            // The label of every row is checked by a model that was fitted to the other folds, so no rows need to be
            // held out for a bound.
            let learner = TableClassifier::params().held_out(0.0).seed(seed).check()?;
            LabelAudit::run(&learner, points, &labels, self.folds, seed, threads)?
        } else {
            let learner = ByPlan { plan: self.plan };
            LabelAudit::run(&learner, points, &labels, self.folds, seed, threads)?
        };
        let suspect = |s: &halfspaces_pac::Suspect| {
            let given = classes[s.row];
            let suggested = if s.agreement < 0.0 { 1 - given } else { given };
            Suspect { row: s.row, suggested, agreement: s.agreement, sort_key: s.sort_key }
        };
        Ok(AuditResult {
            ranking: audit.ranking_by_class().iter().map(suspect).collect(),
            likely: audit.likely_wrong(),
            at_most: audit.wrong_at_most(self.failure)?,
            disagreements: audit.folds().iter().map(|count| count.errors()).sum(),
            baseline: unlike_most(classes, 2),
            models: Vec::new(),
            fold_of: Vec::new(),
        })
    }

    /// Audits the labels of points with several classes. The agreement of a row is the probability of its label minus
    /// that of the most probable other class. If the model has no probabilities, the agreement is the corresponding
    /// difference of decision values.
    ///
    /// The bound is the same as for two classes, because its proof does not depend on the number of classes. Suppose
    /// that the classifier is wrong on M points, that b of these have the right label, and that c of the points on
    /// which it is right have a wrong label. Then the classifier disagrees with at least b + c labels.
    fn several(
        &self,
        design: &DesignRows<'_>,
        classes: &[usize],
        count: usize,
    ) -> Result<AuditResult, DataError> {
        let fits = (2..=classes.len()).contains(&self.folds);
        InputError::check_parameter(
            "folds",
            self.folds as f64,
            fits,
            "from 2 to the number of points",
        )?;
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.shuffle(&mut rng_for(streams::AUDIT_PARTS, self.plan.seed));
        let mut rows: Vec<ScoredRow> = Vec::with_capacity(classes.len());
        let mut at_most = 0;
        let (mut models, mut fold_of) = (Vec::new(), vec![0; classes.len()]);
        let (mut has_probabilities, mut all_values) = (true, Vec::new());
        let steps = Steps::plan(self.folds as u64);
        for fold in 0..self.folds {
            checkpoint();
            let (mut out, mut rest): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
            for (place, &row) in order.iter().enumerate() {
                if place % self.folds == fold { out.push(row) } else { rest.push(row) }
            }
            let known: Vec<usize> = rest.iter().map(|row| classes[*row]).collect();
            check_all_known(&known, count)?;
            let (learned, _) = Model::fit(&self.plan, &design.select(&rest)?, &known, None, None)?;
            let found = learned.values(&design.select(&out)?, self.plan.threads)?;
            has_probabilities &= learned.has_probabilities();
            let mut errors = 0;
            for (place, &row) in out.iter().enumerate() {
                let (given, said) = (classes[row], deciding_class(&found[place]));
                errors += usize::from(given != said);
                fold_of[row] = fold;
                let lead = lead(&found[place]).abs();
                let values =
                    (0..count).map(|class| if class == said { lead } else { 0.0 }).collect();
                rows.push(ScoredRow { row, given, said, values });
            }
            all_values.extend(found);
            at_most += wrong_labels_bound(errors, out.len(), self.failure / self.folds as f64);
            if matches!(design, DesignRows::Sparse(_)) {
                models.push(learned);
            }
            steps.advance(1);
        }
        drop(steps);
        if has_probabilities {
            // Calibrate with a single slope for all rows. A calibration with an exponent or a slip would make doubtful
            // labels look less doubtful.
            let given: Vec<usize> = rows.iter().map(|row| row.given).collect();
            let points = Points::new(all_values.concat(), all_values[0].len())?;
            let weights = vec![1.0; given.len()];
            let calibration = Calibration::fit_temperature(&points, &given, &weights, 1.0)?;
            for (row, values) in rows.iter_mut().zip(&all_values) {
                row.values = calibration.probabilities(values);
            }
        }
        let likely = likely_wrong(&rows, count);
        let disagreements = rows.iter().filter(|judged| judged.given != judged.said).count();
        let scores = if has_probabilities { right(&rows, count) } else { Vec::new() };
        let mut ranking: Vec<Suspect> = (rows.iter().enumerate())
            .map(|(place, judged)| {
                let suspect = judged.suspect();
                let sort_key = scores.get(place).copied().unwrap_or(suspect.agreement);
                Suspect { sort_key, ..suspect }
            })
            .collect();
        ranking.sort_by(|a, b| a.sort_key.total_cmp(&b.sort_key).then(a.row.cmp(&b.row)));
        let baseline = unlike_most(classes, count);
        Ok(AuditResult { ranking, likely, at_most, disagreements, baseline, models, fold_of })
    }
}

/// A row with its given label, its predicted class, and its values for all classes.
#[derive(Debug, Clone, PartialEq)]
struct ScoredRow {
    row: usize,
    given: usize,
    said: usize,
    values: Vec<f64>,
}

impl ScoredRow {
    fn suspect(&self) -> Suspect {
        let others = self.values.iter().enumerate().filter(|(class, _)| *class != self.given);
        let (best, most) = others.fold((self.given, f64::NEG_INFINITY), |best, (class, value)| {
            if *value > best.1 { (class, *value) } else { best }
        });
        let agreement = self.values[self.given] - most;
        let suggested = if agreement < 0.0 { best } else { self.given };
        Suspect { row: self.row, suggested, agreement, sort_key: agreement }
    }
}

/// The plausibility of each label. In general, this is the predicted probability of the label. If class j is often
/// labelled i, the plausibility of a label i is the smaller of this probability and the probability that the label is
/// right. This rule is heuristic; `benches/peers/wrong_labels.py --texts` measures its quality.
///
/// Suppose that a share r of the rows of class j is labelled i, and that there are no other mistakes. Let p_k be the
/// probability that a row has label k. Then the row has class j with probability p_j/(1 - r), and it has class j and
/// label i with probability r p_j/(1 - r). So a label i is wrong with probability r p_j/((1 - r) p_i). The
/// plausibilities determine only the order of the rows. They may be negative if p is inaccurate.
fn right(rows: &[ScoredRow], count: usize) -> Vec<f64> {
    let joint = Joint::estimate(rows.iter().map(|of| (of.given, &of.values[..])), count);
    let mistaken = joint.often_labelled_as();
    let score = |judged: &ScoredRow| {
        let (given, labels) = (judged.given, &judged.values);
        let Some((label, class)) = mistaken.filter(|(label, _)| *label == given) else {
            return labels[given];
        };
        let share = joint.share(label, class).min(MAX_SHARE);
        let wrong = share * labels[class] / (1.0 - share);
        labels[given].min(1.0 - wrong / labels[given].max(f64::MIN_POSITIVE))
    };
    rows.iter().map(score).collect()
}

/// The number of labels that are likely wrong according to the rule of confident learning. A label is likely wrong if
/// another class is more probable than the label, and if the probability of this other class is at least its mean over
/// the rows that are labelled with it.
fn likely_wrong(rows: &[ScoredRow], count: usize) -> usize {
    let mut sums = vec![(0.0, 0_usize); count];
    for judged in rows {
        let (sum, rows) = &mut sums[judged.given];
        (*sum, *rows) = (*sum + judged.values[judged.given], *rows + 1);
    }
    let is_likely = |judged: &&ScoredRow| {
        let suspect = judged.suspect();
        let (sum, rows) = sums[suspect.suggested];
        suspect.agreement < 0.0 && judged.values[suspect.suggested] >= sum / rows as f64
    };
    rows.iter().filter(is_likely).count()
}

/// The number of rows that do not belong to the most frequent class.
fn unlike_most(classes: &[usize], count: usize) -> usize {
    let mut rows = vec![0; count];
    classes.iter().for_each(|class| rows[*class] += 1);
    let Some(most) = rows.into_iter().max() else { unreachable!("an audit has classes") };
    classes.len() - most
}

/// Checks that no fold contains all rows of a class, since such a class could not be learned from the other folds.
fn check_all_known(known: &[usize], count: usize) -> Result<(), DataError> {
    let mut seen = vec![false; count];
    known.iter().for_each(|class| seen[*class] = true);
    if seen.into_iter().all(|seen| seen) {
        return Ok(());
    }
    Err(DataError::user(
        "--folds: one fold contains all rows of a class, so the class cannot be learned from the others; use more folds",
    ))
}

/// An adapter that turns the learner of a plan into a binary learner.
#[derive(Debug, Clone, Copy)]
struct ByPlan {
    plan: Plan,
}

#[derive(Debug)]
struct ByPlanModel {
    model: Model,
}

impl FitSample for ByPlan {
    type Model = ByPlanModel;
    type Error = DataError;

    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<ByPlanModel, DataError> {
        let classes: Vec<usize> =
            labels.iter().map(|y| usize::from(*y == Label::Positive)).collect();
        check_all_known(&classes, 2)?;
        // The folds are fitted in parallel, so each fit uses one thread.
        let plan = Plan { threads: Threads::ONE, ..self.plan };
        let design = design_of(points.rows(), points.dim())?;
        let (model, _) = Model::fit(&plan, &design, &classes, None, None)?;
        Ok(ByPlanModel { model })
    }
}

/// Copies rows into a dense design.
fn design_of<R: RowView>(rows: impl Iterator<Item = R>, dim: usize) -> Result<Design, InputError> {
    let mut values = Vec::new();
    for row in rows {
        let first = values.len();
        values.resize(first + dim, 0.0);
        row.add_scaled_to(1.0, &mut values[first..]);
    }
    Ok(Design::Dense(Points::new(values, dim)?))
}

impl Classifier for ByPlanModel {
    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let point = design_of(std::iter::once(x), x.dim())?;
        let decided = self.model.decide(&point, Threads::ONE);
        // The dimension has been checked, so the only possible error is an overflow.
        let decided = decided.map_err(|_| InputError::Overflow { row: 0 })?;
        Ok(decided.values[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(given: usize, said: usize, values: [f64; 3]) -> ScoredRow {
        ScoredRow { row: 0, given, said, values: values.to_vec() }
    }

    /// An audit with labels that do not depend on the points calls no label wrong.
    #[test]
    fn an_audit_without_information_marks_no_label() {
        let points = Points::new((0..60).map(f64::from).collect(), 1).unwrap();
        let run = |classes: &[usize], count: usize, method: Method| {
            let audit = Audit { plan: Plan::new(method), folds: 5, failure: 0.05 };
            audit.run(&Design::Dense(points.clone()), classes, count).unwrap()
        };
        let by_turns = |count: usize| (0..60).map(|i| i % count).collect::<Vec<usize>>();
        for (method, count) in [(Method::Logistic, 2), (Method::Auto, 2), (Method::Logistic, 3)] {
            let found = run(&by_turns(count), count, method);
            assert_eq!(found.baseline, 60 - 60 / count);
            assert!(found.disagreements >= found.baseline && !found.is_informative());
            assert!(found.ranking.is_sorted_by_key(|suspect| suspect.sort_key));
            let with = |disagreements| AuditResult { disagreements, ..found.clone() };
            assert!(with(12).has_many_disagreements() && !with(11).has_many_disagreements());
            assert_eq!(found.likely, 0);
        }
        let mut classes: Vec<usize> = (0..60).map(|i| usize::from(i >= 30)).collect();
        classes[7] = 1;
        let found = run(&classes, 2, Method::Logistic);
        assert!(found.is_informative() && found.likely >= 1 && found.baseline == 29);
        // A classifier that is exactly as good as always predicting the most frequent label is not informative either.
        let equal = AuditResult { disagreements: 29, ..found };
        assert!(!equal.is_informative());
    }

    /// The expected numbers are computed by hand. The mean probability of the label is 0.483 among the rows labelled 0
    /// and 0.6 among the rows labelled 1. No row is labelled 2.
    #[test]
    fn likely_wrong_by_hand() {
        let rows = [
            judged(0, 0, [0.9, 0.1, 0.0]),
            judged(0, 1, [0.1, 0.7, 0.2]),
            judged(0, 1, [0.45, 0.5, 0.05]),
            judged(1, 1, [0.2, 0.6, 0.2]),
            judged(1, 0, [0.55, 0.45, 0.0]),
            judged(1, 1, [0.1, 0.75, 0.15]),
        ];
        let suspect = rows[1].suspect();
        assert_eq!(suspect.suggested, 1);
        assert!((suspect.agreement + 0.6).abs() < 1e-12);
        assert_eq!(rows[0].suspect().suggested, 0);
        // The means are (0.9 + 0.1 + 0.45)/3 = 0.483 for class 0 and 0.6 for class 1. The labels of the second row
        // (0.7) and of the fifth row (0.55) are likely wrong, but the label of the third row (0.5) is not.
        assert_eq!(likely_wrong(&rows, 3), 2);
    }

    /// If there are five folds, each model is fitted to 9 or 10 of the 12 rows, and 9 are too few. With six folds, each
    /// model is fitted to 10 rows.
    #[test]
    fn too_few_rows_for_the_default_learner_are_refused() {
        let points = Points::new((0..12).map(f64::from).collect(), 1).unwrap();
        let classes: Vec<usize> = (0..12).map(|row| usize::from(row >= 6)).collect();
        let run = |folds: usize| {
            let audit = Audit { plan: Plan::new(Method::Auto), folds, failure: 0.05 };
            audit.run(&Design::Dense(points.clone()), &classes, 2).map_err(|e| e.to_string())
        };
        assert!(run(5).unwrap_err().contains("9 of 12 rows are too few"));
        assert!(run(6).is_ok());
    }

    /// The steps of an audit are its folds, for two or more classes, dense or sparse. The steps of the fits are ignored.
    #[test]
    fn the_steps_of_an_audit_are_its_folds() {
        use halfspaces_linalg::{Monitor, SparsePoints};
        let points = Points::new((0..240).map(f64::from).collect(), 1).unwrap();
        let mut sparse = SparsePoints::empty(3).unwrap();
        (0..240).for_each(|row| sparse.push(&[row / 80], &[1.0]).unwrap());
        let designs = [Design::Dense(points), Design::Sparse(sparse)];
        for (design, count) in designs.iter().flat_map(|design| [(design, 2), (design, 3)]) {
            let classes: Vec<usize> = (0..240).map(|i| i * count / 240).collect();
            let audit = Audit { plan: Plan::new(Method::Auto), folds: 4, failure: 0.05 };
            let (monitor, mut seen) = (Monitor::default(), std::collections::BTreeSet::new());
            // This thread can miss steps, so the audit is repeated until it has seen three.
            while seen.len() < 3 {
                std::thread::scope(|scope| {
                    let run = scope.spawn(|| {
                        monitor.run(|| audit.run(design, &classes, count).unwrap()).unwrap()
                    });
                    while !run.is_finished() {
                        seen.extend(monitor.progress());
                    }
                });
            }
            assert!(seen.iter().all(|(done, total)| *total == 4 && done <= total), "{seen:?}");
        }
    }

    /// The weights for a suspicious row are evidence against its label and come from the model that was fitted without
    /// the row.
    #[test]
    fn sparse_points_come_with_weights() {
        use halfspaces_linalg::SparsePoints;
        for count in [2, 3] {
            let mut classes: Vec<usize> = (0..90).map(|i| i % count).collect();
            let mut points = SparsePoints::empty(count + 1).unwrap();
            for (i, class) in classes.iter().enumerate() {
                let noise = 0.1 * f64::from(i as u32 % 5);
                points.push(&[*class as u32, count as u32], &[1.0, noise]).unwrap();
            }
            let (label, truth) = (1, classes[30]);
            classes[30] = label;
            let audit = Audit { plan: Plan::new(Method::Auto), folds: 5, failure: 0.05 };
            let design = Design::Sparse(points);
            let found = audit.run(&design, &classes, count).unwrap();
            assert_eq!((found.ranking[0].row, found.ranking[0].suggested), (30, truth), "{count}");
            let weights = found.weights(30, label, truth).unwrap();
            assert!(weights[truth] < 0.0 && weights[label] > 0.0, "{count} {weights:?}");
            let opposite = found.weights(30, truth, label).unwrap();
            assert!(weights.iter().zip(&opposite).all(|(a, b)| (a + b).abs() < 1e-12));
            assert!(found.weights(30, truth, truth).unwrap().iter().all(|w| *w == 0.0));
            // The model was fitted without the row, so its weights do not change if the row has another label.
            let mut corrected = classes.clone();
            corrected[30] = truth;
            let found = audit.run(&design, &corrected, count).unwrap();
            assert_eq!(found.weights(30, label, truth).unwrap(), weights);
        }
    }

    /// Class 0 is often labelled 1, and class 1 is never labelled 0. Of two rows whose labels are equally probable, the
    /// row labelled 1 is more suspicious.
    #[test]
    fn a_class_that_is_often_labelled_as_another_is_found() {
        let row = |given: usize, p: f64| {
            let values = [p, 1.0 - p];
            let said = usize::from(p < 0.5);
            ScoredRow { row: 0, given, said, values: values.to_vec() }
        };
        // Rows of class 0 have the label 1 in 40 of 100 cases, and the predicted probabilities reflect this.
        let mut rows: Vec<ScoredRow> =
            (0..100).map(|i| row(usize::from(i % 5 < 2), 0.625)).collect();
        rows.extend((0..100).map(|_| row(1, 0.03125)));
        let joint = Joint::estimate(rows.iter().map(|of| (of.given, &of.values[..])), 2);
        let share = |label, class| joint.share(label, class);
        assert!((share(1, 0) - 0.4).abs() < 0.01 && (share(0, 0) - 0.6).abs() < 0.01);
        assert!(share(0, 1) == 0.0 && (share(1, 1) - 1.0).abs() < 1e-12);
        let scores = right(&rows, 2);
        // Among the first 100 rows, the label 0 is right, and the label 1, which has probability 0.375, is wrong.
        assert!((scores[3] - 0.625).abs() < 1e-9 && scores[0] < 0.1, "{} {}", scores[3], scores[0]);
        assert!(scores[150] > 0.9);
        // If no class is often labelled as another, the rows are ordered by the probabilities of their labels.
        let even: Vec<ScoredRow> = (0..100)
            .map(|i| row(usize::from(i % 2 == 0), if (i / 2) % 10 == 0 { 0.1 } else { 0.9 }))
            .collect();
        let scores = right(&even, 2);
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
    }

    /// Every row that looks like class 1 is labelled 0, so the share of wrong labels is capped. A row for which class 1
    /// has probability 0 keeps the probability of its label.
    #[test]
    fn a_class_without_a_right_label_is_no_division_by_zero() {
        let row =
            |given: usize, p: f64| ScoredRow { row: 0, given, said: 0, values: vec![1.0 - p, p] };
        let mut rows: Vec<ScoredRow> = (0..50).map(|_| row(0, 0.0)).collect();
        rows.extend((0..20).map(|_| row(0, 0.5)));
        rows.extend((0..5).map(|_| row(1, 0.1)));
        let joint = Joint::estimate(rows.iter().map(|of| (of.given, &of.values[..])), 2);
        assert_eq!((joint.share(0, 1), joint.often_labelled_as()), (1.0, Some((0, 1))));
        let scores = right(&rows, 2);
        assert_eq!((scores[0], scores[74]), (1.0, 0.1));
        // The expected value is 1 - 0.95 / 0.05.
        assert!((scores[60] + 18.0).abs() < 1e-9, "{}", scores[60]);
    }

    #[test]
    fn a_class_must_be_learned_in_every_fold() {
        assert!(check_all_known(&[0, 1, 2, 1], 3).is_ok());
        assert!(check_all_known(&[0, 2, 2], 3).is_err());
    }

    /// Each of the five folds has 30 rows and no disagreement, so the bound of a fold is ⌊2 ln(5/0.1)⌋ = 7, and the
    /// total is 35.
    #[test]
    fn the_folds_of_several_classes_share_the_failure() {
        let classes: Vec<usize> = (0..150).map(|i| i % 3).collect();
        let rows: Vec<[f64; 3]> = classes
            .iter()
            .enumerate()
            .map(|(i, c)| {
                let mut x = [i as f64 * 1e-3; 3];
                x[*c] += 5.0;
                x
            })
            .collect();
        let points = Design::Dense(Points::from_rows(&rows).unwrap());
        let plan =
            Plan { method: Method::Logistic, noise: None, c: None, seed: 1, threads: Threads::ONE };
        let found = Audit { plan, folds: 5, failure: 0.1 }.run(&points, &classes, 3).unwrap();
        assert_eq!((found.disagreements, found.at_most), (0, 35));
    }

    /// The mean probability of the label is 0.5 for class 0 and 0.6 for class 1. The label of a row with probability
    /// 0.7 for class 1 is likely wrong, but the label of a row with probability 0.55 is not.
    #[test]
    fn a_suspect_is_measured_by_the_class_it_looks_like() {
        let rows = [
            judged(0, 0, [0.9, 0.1, 0.0]),
            judged(0, 1, [0.2, 0.7, 0.1]),
            judged(0, 1, [0.4, 0.55, 0.05]),
            judged(1, 1, [0.2, 0.6, 0.2]),
        ];
        assert_eq!(likely_wrong(&rows, 3), 1);
    }
}
