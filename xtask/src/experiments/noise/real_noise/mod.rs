//! PR: real data with injected Massart noise. How often the model-free error bound of the
//! Perspectron for samples fails, and how well its rivals and it do on clean labels.

use crate::Failure;
use crate::workload::{ADULT, ADULT_FILE, Inputs};
use halfspaces_data::{Marginal, Massart, NoiseModel, Region, UnitSphere, ZScore, flip_labels};
use halfspaces_eval::{
    Axis, ClaimStatement, Colour, Evidence, Experiment, Figure, Group, Layer, Planned, Results,
    Scale, Section, Table, stats,
};
use halfspaces_linalg::{
    Classifier, Halfspace, Label, PointSet, Points, RowView, SparsePoints, margins,
};
use halfspaces_online::{AveragedPerceptron, OnlineLearner};
use halfspaces_pac::{
    Ckmy, Dgt, ErrorCount, LinearSvm, LogisticRegression, SampleFit, SamplePerspectron,
};
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

const FOLDS: usize = 5;
/// δ: the bounds of a trial's folds fail, one or more of them, with at most this probability.
const FAILURE: f64 = 0.05;
/// How often the exact tests of a trial's bounds, on its test folds, may refute true ones.
const DOUBT: f64 = 0.01;
/// Examples drawn for the exact check at most.
const DRAWN: usize = 2000;
/// The column of those whose labels stay clean, in the census data.
const TARGET_GROUP: &str = "race=Black";
/// Points the adversary of least squares looks at.
const SEEN_BY_ADVERSARY: usize = 1000;

/// Passes of the perceptrons over their training examples.
const PASSES: u64 = 5;
/// η tried by the learners that must be told it; the one with fewest errors on noisy labels held out
/// is taken. All leave η + ε below 1/2.
const TOLD_NOISE: [f64; 3] = [0.1, 0.25, 0.4];
/// γ and ε of those learners, and their steps at most: fixed beforehand, for time.
const CKMY: (f64, f64, u64) = (0.05, 0.05, 100);
const DGT: (f64, f64, u64) = (0.2, 0.09, 1000);
/// Examples DGT19 sees at most, for time.
const SEEN_BY_DGT: usize = 5000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Learner {
    Logistic,
    Svm,
    Averaged,
    Perspectron,
    Ckmy,
    Dgt,
    /// The commoner label, always.
    Majority,
}

const LEARNERS: [(Learner, Colour); 7] = [
    (Learner::Logistic, Colour::Sky),
    (Learner::Svm, Colour::Sky),
    (Learner::Averaged, Colour::Ink),
    (Learner::Ckmy, Colour::Purple),
    (Learner::Dgt, Colour::Orange),
    (Learner::Perspectron, Colour::Blue),
    (Learner::Majority, Colour::Green),
];

impl fmt::Display for Learner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Learner::Logistic => "logistic",
            Learner::Svm => "SVM",
            Learner::Averaged => "averaged perceptron",
            Learner::Perspectron => "Perspectron",
            Learner::Ckmy => "CKMY20",
            Learner::Dgt => "DGT19",
            Learner::Majority => "majority",
        })
    }
}

/// Whose labels are flipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Noise {
    Everywhere,
    /// The half farther from the reference halfspace.
    Far,
    /// The half nearer to it.
    Near,
    /// Where a competitor disagrees with it, chosen to lead least squares astray.
    Adversarial,
    /// All outside the target group.
    OutsideGroup,
    /// The positive ones outside the target group.
    PositivesOutsideGroup,
    /// The negative ones outside the target group.
    NegativesOutsideGroup,
}

const REGIONS: [Noise; 4] = [Noise::Everywhere, Noise::Far, Noise::Near, Noise::Adversarial];
const GROUPS: [Noise; 3] =
    [Noise::OutsideGroup, Noise::PositivesOutsideGroup, Noise::NegativesOutsideGroup];

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Noise::Everywhere => "everywhere",
            Noise::Far => "far from the boundary",
            Noise::Near => "near the boundary",
            Noise::Adversarial => "against least squares",
            Noise::OutsideGroup => "outside the group",
            Noise::PositivesOutsideGroup => "positives outside the group",
            Noise::NegativesOutsideGroup => "negatives outside the group",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    data: String,
    /// How many of the rows are used, drawn anew for every trial; all unless stated.
    rows: Option<usize>,
    noise: Noise,
    rate: f64,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, η={} {}", self.data, self.rate, self.noise)
    }
}

/// Errors of one learner on clean labels, fold by fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Score {
    learner: Learner,
    errors: Vec<usize>,
    group_errors: Vec<usize>,
}

/// The bound of one fold's fit, and the errors of that fit on the fold's noisy labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Bound {
    bound: f64,
    errors: u64,
    points: u64,
}

impl Bound {
    fn rate(&self) -> f64 {
        self.errors as f64 / self.points as f64
    }

    /// Whether the test fold shows the error to be above the bound.
    fn is_refuted(&self) -> bool {
        let confidence = 1.0 - DOUBT / FOLDS as f64;
        let least = stats::binomial_lower(self.errors, self.points, confidence);
        least.is_some_and(|least| least > self.bound)
    }

    /// Whether the test fold shows the error to be within the bound.
    fn is_shown(&self) -> bool {
        let most = stats::binomial_upper(self.errors, self.points, 1.0 - DOUBT);
        most.is_some_and(|most| most <= self.bound)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Test examples, fold by fold, and those of the target group.
    points: Vec<usize>,
    group: Vec<usize>,
    scores: Vec<Score>,
    bounds: Vec<Bound>,
    /// Of a fit to independent draws from the data: its bound and its error, noise included.
    exact_bound: f64,
    exact_error: f64,
}

/// A data set ready for the learners.
#[derive(Debug)]
struct DataSet {
    /// Numeric columns standardised, others one-hot.
    plain: SparsePoints,
    /// The same, lifted and scaled to norm 1: no halfspace labels them otherwise.
    unit: SparsePoints,
    labels: Vec<Label>,
    /// Who is in the target group; nobody where there is none.
    group: Vec<bool>,
    /// A unit halfspace fitted to `unit` with all clean labels: what the noise refers to.
    reference: Halfspace,
    /// Signed margins of the reference, and the median of their sizes.
    margins: Vec<f64>,
    middle: f64,
}

impl DataSet {
    fn load(inputs: &Inputs, name: &str) -> Result<DataSet, Failure> {
        let (points, labels, columns) = inputs.as_given(name)?.into_parts();
        let plain = standardised(&points, &columns)?;
        let unit = plain.lifted().normalised()?;
        let group = match columns.iter().position(|c| c == TARGET_GROUP) {
            Some(at) => points.rows().map(|x| x.entries().any(|(j, _)| j == at)).collect(),
            None if name == ADULT => {
                return Err(format!("{ADULT_FILE}: has no column {TARGET_GROUP}").into());
            }
            None => vec![false; labels.len()],
        };
        let fit = LogisticRegression::params().c(10.0).intercept(false).tolerance(1e-6);
        let reference =
            fit.check()?.fit(&unit, &labels)?.classifier.linear().clone().normalised()?;
        let margins = margins(&unit, reference.normal())?;
        let sizes: Vec<f64> = margins.iter().map(|m| m.abs()).collect();
        let middle = stats::median(&sizes).ok_or("no points")?;
        Ok(DataSet { plain, unit, labels, group, reference, margins, middle })
    }

    /// η(x) of the rows.
    fn flip_probabilities(
        &self,
        rows: &[usize],
        noise: Noise,
        rate: f64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<f64>, Failure> {
        let region = match noise {
            Noise::Everywhere => Region::Everywhere,
            Noise::Far => Region::Far(self.middle),
            Noise::Near => Region::Near(self.middle),
            Noise::Adversarial => {
                let seen: Vec<usize> = rows.iter().copied().take(SEEN_BY_ADVERSARY).collect();
                let points = self.unit.select(&seen)?.to_dense()?;
                let guesses = UnitSphere::new(points.dim())?.sample_with_rng(2, rng)?;
                Massart::against_least_squares(rate, &points, &self.reference, &guesses)?
                    .region()
                    .clone()
            }
            Noise::OutsideGroup | Noise::PositivesOutsideGroup | Noise::NegativesOutsideGroup => {
                let flipped = |&i: &usize| {
                    let side = match noise {
                        Noise::PositivesOutsideGroup => self.labels[i] == Label::Positive,
                        Noise::NegativesOutsideGroup => self.labels[i] == Label::Negative,
                        _ => true,
                    };
                    if side && !self.group[i] { rate } else { 0.0 }
                };
                return Ok(rows.iter().map(flipped).collect());
            }
        };
        let noise = Massart::new(rate, region)?;
        let mut x = vec![0.0; self.unit.dim()];
        let mut flips = Vec::with_capacity(rows.len());
        for &i in rows {
            x.fill(0.0);
            self.unit.row(i).ok_or("no such row")?.add_scaled_to(1.0, &mut x);
            flips.push(noise.flip_probability(&x, self.margins[i]));
        }
        Ok(flips)
    }
}

/// Numeric columns with mean 0 and deviation 1; columns of categories, named `column=value`, as they
/// are.
fn standardised(points: &SparsePoints, columns: &[String]) -> Result<SparsePoints, Failure> {
    let numeric: Vec<usize> = (0..columns.len()).filter(|&j| !columns[j].contains('=')).collect();
    let dense = points.to_dense()?;
    let of_row = |x: &[f64]| -> Vec<f64> { numeric.iter().map(|&j| x[j]).collect() };
    let values = dense.rows().flat_map(|x| of_row(x.as_slice())).collect();
    let numbers = Points::new(values, numeric.len())?;
    let numbers = ZScore::fit(&numbers)?.apply(&numbers)?;
    let mut scaled = SparsePoints::empty(points.dim())?;
    for (x, z) in dense.rows().zip(numbers.rows()) {
        let mut x = x.as_slice().to_vec();
        numeric.iter().zip(z.as_slice()).for_each(|(&j, z)| x[j] = *z);
        let stored = x.iter().enumerate().filter(|(_, v)| **v != 0.0);
        let (at, values): (Vec<u32>, Vec<f64>) = stored.map(|(j, v)| (j as u32, *v)).unzip();
        scaled.push(&at, &values)?;
    }
    Ok(scaled)
}

/// Labelled rows of a data set, in both forms.
struct Part {
    plain: SparsePoints,
    unit: SparsePoints,
    labels: Vec<Label>,
}

impl Part {
    fn of(data: &DataSet, rows: &[usize], labels: Vec<Label>) -> Result<Part, Failure> {
        Ok(Part { plain: data.plain.select(rows)?, unit: data.unit.select(rows)?, labels })
    }
}

fn perspectron(part: &Part, seed: u64) -> Result<SampleFit, Failure> {
    let learner = SamplePerspectron::params().lift(false).passes(PASSES).seed(seed).check()?;
    Ok(learner.fit(&part.unit, &part.labels)?)
}

fn averaged(part: &Part, rng: &mut ChaCha8Rng) -> Result<Halfspace, Failure> {
    let mut learner = AveragedPerceptron::new(part.unit.dim())?;
    let mut order: Vec<usize> = (0..part.labels.len()).collect();
    for _ in 0..PASSES {
        order.shuffle(rng);
        for &i in &order {
            learner.observe(part.unit.row(i).ok_or("no such row")?, part.labels[i])?;
        }
    }
    Ok(learner.average()?)
}

/// The fit with fewest errors on labels held out, which are as noisy as the others.
fn ckmy(part: &Part, seed: u64) -> Result<Halfspace, Failure> {
    let (margin, accuracy, steps) = CKMY;
    let mut best: Option<(usize, Halfspace)> = None;
    for noise in TOLD_NOISE {
        let learner = Ckmy::params(noise, margin, accuracy).max_steps(steps).seed(seed).check()?;
        let fit = learner.fit(&part.unit, &part.labels)?;
        let errors = fit.validation.errors();
        if best.as_ref().is_none_or(|(least, _)| errors < *least) {
            best = Some((errors, fit.halfspace));
        }
    }
    Ok(best.ok_or("no noise rate to try")?.1)
}

/// As [`ckmy`], a fifth held out. The examples come in random order.
fn dgt(part: &Part, test: &SparsePoints, seed: u64) -> Result<Vec<Label>, Failure> {
    let (margin, accuracy, steps) = DGT;
    let cut = part.labels.len() / FOLDS;
    let (held_labels, kept_labels) = part.labels.split_at(cut);
    let kept_labels = kept_labels.get(..SEEN_BY_DGT).unwrap_or(kept_labels);
    let held: Vec<usize> = (0..cut).collect();
    let kept: Vec<usize> = (cut..cut + kept_labels.len()).collect();
    let (held, kept) = (part.unit.select(&held)?, part.unit.select(&kept)?);
    let mut best = None;
    for noise in TOLD_NOISE {
        let learner = Dgt::params(noise, margin, accuracy).max_steps(steps).seed(seed).check()?;
        let fit = learner.fit(&kept, kept_labels)?;
        let errors = ErrorCount::count(&fit.list, &held, held_labels)?.errors();
        if best.as_ref().is_none_or(|(least, _)| errors < *least) {
            best = Some((errors, fit.list));
        }
    }
    Ok(best.ok_or("no noise rate to try")?.1.label_all(test)?)
}

/// What a learner predicts for the test points, and the fit that knows its bound.
fn predicted(
    learner: Learner,
    training: &Part,
    test: &Part,
    seed: u64,
) -> Result<(Vec<Label>, Option<SampleFit>), Failure> {
    let (x, y) = (&training.plain, &training.labels);
    let labels = match learner {
        Learner::Logistic => {
            let fit = LogisticRegression::params().tolerance(1e-6).check()?.fit(x, y)?;
            fit.classifier.label_all(&test.plain)?
        }
        Learner::Svm => {
            let params = LinearSvm::params().tolerance(1e-2).max_passes(50).seed(seed);
            params.check()?.fit(x, y)?.classifier.label_all(&test.plain)?
        }
        Learner::Averaged => {
            averaged(training, &mut ChaCha8Rng::seed_from_u64(seed))?.label_all(&test.unit)?
        }
        Learner::Perspectron => {
            let fit = perspectron(training, seed)?;
            return Ok((fit.classifier().label_all(&test.unit)?, Some(fit)));
        }
        Learner::Ckmy => ckmy(training, seed)?.label_all(&test.unit)?,
        Learner::Dgt => dgt(training, &test.unit, seed)?,
        Learner::Majority => {
            let sum: f64 = y.iter().map(|y| y.as_f64()).sum();
            vec![Label::from_sign(sum); test.labels.len()]
        }
    };
    Ok((labels, None))
}

fn wrong(predicted: &[Label], labels: impl Iterator<Item = Label>) -> Vec<bool> {
    predicted.iter().zip(labels).map(|(p, y)| *p != y).collect()
}

pub(crate) struct RealNoiseExperiment {
    inputs: Arc<Inputs>,
    loaded: Mutex<HashMap<String, Arc<DataSet>>>,
}

impl RealNoiseExperiment {
    pub(crate) fn new(inputs: Arc<Inputs>) -> Self {
        RealNoiseExperiment { inputs, loaded: Mutex::default() }
    }

    fn data(&self, name: &str) -> Result<Arc<DataSet>, Failure> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = loaded.get(name) {
            return Ok(data.clone());
        }
        let data = Arc::new(DataSet::load(&self.inputs, name)?);
        loaded.insert(name.into(), data.clone());
        Ok(data)
    }
}

impl Experiment for RealNoiseExperiment {
    type Configuration = Configuration;
    type Outcome = Outcome;

    fn id(&self) -> &'static str {
        "PR"
    }

    fn title(&self) -> &'static str {
        "Real data with Massart noise: the bound that needs no model, and who predicts best"
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        let source = "Hoeffding's inequality for all candidates at once; CKST24 Appendix A";
        vec![
            ClaimStatement {
                id: "PR".into(),
                statement: "On real data with Massart noise in five random folds, the Perspectron fitted to four errs on fresh examples at most as often as it reports, its held-out rate + √(ln(5|H|/δ)/(2m)), in all five folds at once but with probability δ = 0.05: exact tests on the noisy test folds, at level 1 % a trial, refute that in at most δ + 1 % of the trials, over all settings together.".into(),
                source: source.into(),
                checks: &[],
            },
            ClaimStatement {
                id: "PRe".into(),
                statement: "On independent draws from a real data set with Massart noise, the exact error of the Perspectron over that data set is at most the bound it reports, except with probability δ = 0.05, over all settings together.".into(),
                source: source.into(),
                checks: &[],
            },
        ]
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut plan = Vec::new();
        let mut push = |data: &str, rows, trials, noises: &[Noise], rates: &[f64]| {
            let of = |noise, rate| Configuration { data: data.into(), rows, noise, rate };
            let first = noises.first().map(|noise| of(*noise, 0.0));
            let noisy = noises.iter().flat_map(|n| rates.iter().map(move |rate| (*n, *rate)));
            let noisy = noisy.map(|(noise, rate)| of(noise, rate));
            let all = first.into_iter().chain(noisy);
            plan.extend(all.map(|configuration| Planned { configuration, trials }));
        };
        let all = None;
        if scale == Scale::Smoke {
            push("wdbc", all, 1, &REGIONS, &[0.3]);
            if self.inputs.has(ADULT) {
                push(ADULT, Some(1000), 1, &GROUPS[..1], &[0.4]);
            }
            return Ok(plan);
        }
        push("wdbc", all, scale.pick(1, 6, 40), &REGIONS, &[0.1, 0.2, 0.3]);
        for name in ["magic", "spambase"].iter().filter(|name| self.inputs.has(name)) {
            let rows = scale.pick(Some(1000), Some(2500), all);
            push(name, rows, scale.pick(1, 1, 5), &REGIONS, &[0.1, 0.2, 0.3]);
        }
        if self.inputs.has(ADULT) {
            let rows = scale.pick(Some(1000), Some(16_000), all);
            let noises = scale.pick(&GROUPS[..1], &GROUPS[..1], &GROUPS[..]);
            push(ADULT, rows, scale.pick(1, 1, 5), noises, &[0.1, 0.2, 0.3, 0.4]);
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let data = self.data(&setting.data)?;
        let mut rows: Vec<usize> = (0..data.labels.len()).collect();
        rows.shuffle(rng);
        rows.truncate(setting.rows.unwrap_or(rows.len()));
        let clean: Vec<Label> = rows.iter().map(|&i| data.labels[i]).collect();
        let flips = data.flip_probabilities(&rows, setting.noise, setting.rate, rng)?;
        let noisy = flip_labels(&clean, &flips, &mut *rng)?;

        let blank = |(learner, _)| Score { learner, errors: vec![], group_errors: vec![] };
        let mut outcome = Outcome {
            points: vec![],
            group: vec![],
            scores: LEARNERS.map(blank).into(),
            bounds: vec![],
            exact_bound: 0.0,
            exact_error: 0.0,
        };
        for fold in 0..FOLDS {
            // The rows stand in random order, so every fifth makes a random fold.
            let (tested, trained): (Vec<usize>, Vec<usize>) =
                (0..rows.len()).partition(|k| k % FOLDS == fold);
            let part = |of: &[usize]| {
                let at: Vec<usize> = of.iter().map(|&k| rows[k]).collect();
                Part::of(&data, &at, of.iter().map(|&k| noisy[k]).collect())
            };
            let (training, test) = (part(&trained)?, part(&tested)?);
            let in_group: Vec<bool> = tested.iter().map(|&k| data.group[rows[k]]).collect();
            outcome.points.push(tested.len());
            outcome.group.push(in_group.iter().filter(|inside| **inside).count());
            let seed = rng.random();
            for score in &mut outcome.scores {
                let (labels, fit) = predicted(score.learner, &training, &test, seed)?;
                let wrongs = wrong(&labels, tested.iter().map(|&k| clean[k]));
                score.errors.push(wrongs.iter().filter(|wrong| **wrong).count());
                let both =
                    wrongs.iter().zip(&in_group).filter(|(wrong, inside)| **wrong && **inside);
                score.group_errors.push(both.count());
                if let Some(fit) = fit {
                    let wrongs = wrong(&labels, test.labels.iter().copied());
                    outcome.bounds.push(Bound {
                        bound: fit.error_bound(FAILURE / FOLDS as f64),
                        errors: wrongs.iter().filter(|wrong| **wrong).count() as u64,
                        points: tested.len() as u64,
                    });
                }
            }
        }

        // The data set as the distribution: draws with replacement, and an error without estimate.
        let drawn: Vec<usize> =
            (0..rows.len().min(DRAWN)).map(|_| rng.random_range(0..rows.len())).collect();
        let at: Vec<usize> = drawn.iter().map(|&k| rows[k]).collect();
        let truth: Vec<Label> = drawn.iter().map(|&k| clean[k]).collect();
        let rates: Vec<f64> = drawn.iter().map(|&k| flips[k]).collect();
        let part = Part::of(&data, &at, flip_labels(&truth, &rates, &mut *rng)?)?;
        let fit = perspectron(&part, rng.random())?;
        let labels = fit.classifier().label_all(&data.unit.select(&rows)?)?;
        let wrongs = wrong(&labels, clean.iter().copied());
        let each = wrongs.iter().zip(&flips).map(|(wrong, p)| if *wrong { 1.0 - p } else { *p });
        outcome.exact_error = each.sum::<f64>() / rows.len() as f64;
        outcome.exact_bound = fit.error_bound(FAILURE);
        Ok(outcome)
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let evidence = [of_folds(results), of_draws(results)];
        for (claim, evidence) in Experiment::claims(self).into_iter().zip(evidence) {
            section.judge(claim, evidence);
        }
        section.summary.push(METHOD.into());
        section.summary.push(JUDGED.into());
        let missing: Vec<&str> =
            ["magic", "spambase"].into_iter().filter(|name| !self.inputs.has(name)).collect();
        if !missing.is_empty() {
            section.summary.push(format!("Left out, as --data was not given or has no such file: {}.csv. Both are from the UCI Machine Learning Repository (MAGIC gamma telescope, Spambase); expected without header line, class last.", missing.join(".csv, ")));
        }
        if self.inputs.has(ADULT) {
            section.summary.push(CENSUS.into());
        } else {
            section.summary.push(format!("Left out, as --data was not given or has no such file: {ADULT_FILE}, the census data of CKMY20's experiment. It is the file adult.data of the data set Adult in the UCI Machine Learning Repository, with a header line naming its columns (age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship, race, sex, capital-gain, capital-loss, hours-per-week, native-country, class) put before the first."));
        }
        for noise in GROUPS {
            section.figures.extend(figure(results, ADULT, noise, true));
            section.figures.extend(figure(results, ADULT, noise, false));
        }
        for name in ["wdbc", "magic", "spambase"] {
            section.figures.extend(figure(results, name, Noise::Far, false));
            section.figures.extend(figure(results, name, Noise::Adversarial, false));
        }
        section.tables.push(wins(results));
        section.tables.push(accuracies(results));
        section.tables.push(bounds(results));
    }
}

const METHOD: &str = "Labels are flipped independently with probability η in a region and never elsewhere, in training and test folds alike; learners see noisy labels only, accuracy is measured on the clean ones of the test fold. Regions refer to a halfspace fitted by logistic regression to all clean labels of the data: everywhere, the half of the points farther from its boundary, the nearer half, and where a competitor found by a search against least squares disagrees with it. Logistic regression and the support vector machine (C = 1) get standardised columns and an intercept; the others get the same points lifted and scaled to norm 1, which changes no halfspace's labels. Nothing is tuned on clean or test labels. The Perspectron is told nothing (noise rate and margin guessed, 5 passes, a fifth of its examples held out). CKMY20 and DGT19 must be told η: 0.1, 0.25 and 0.4 are tried and the choice is made on noisy labels held out; their margin, accuracy and caps on steps are fixed beforehand for time, below what their theorems ask, and DGT19 sees at most 5000 examples.";

const JUDGED: &str = "An error on fresh examples is not seen, only errors on a test fold, and these vary. So a fold counts against its bound only if an exact one-sided binomial test at level 0.2 % refutes it; five such tests refute a bound that holds with probability at most 1 %, so a trial counts with probability at most δ + 1 %, and that is what is judged. Such a test cannot see a bound that fails by little; the ledger says how many folds prove theirs. Trials split the same rows anew, so the verdict speaks of random splits and flips of these data. The second claim needs no test: examples are drawn from the rows with replacement, at most 2000, the trials are independent, and the error over all rows is known exactly, the flip probabilities being known.";

const CENSUS: &str = "The census data repeat the experiment of CKMY20: labels of everyone outside the target group (race Black, a tenth of the rows) are noisy, those of the group are clean. Rows come from adult.data, 16 000 of them drawn at random at standard scale and all at full, where also only the positive or only the negative ones are flipped; columns of words are one-hot, a missing word is a category of its own, numbers are standardised.";

/// The first claim.
fn of_folds(results: &Results<Configuration, Outcome>) -> Evidence {
    let trials = results.outcomes().count();
    let refuted = results.outcomes().filter(|(_, o)| o.bounds.iter().any(Bound::is_refuted));
    let evidence =
        Evidence::probability(results.planned(), refuted.count(), trials, FAILURE + DOUBT);
    let folds: Vec<&Bound> = results.outcomes().flat_map(|(_, o)| &o.bounds).collect();
    let above = folds.iter().filter(|b| b.rate() > b.bound).count();
    let shown = folds.iter().filter(|b| b.is_shown()).count();
    evidence.with_note(&format!(
        "of {} test folds {above} err more often than the bound, {shown} prove it at 99 %",
        folds.len()
    ))
}

/// The second claim.
fn of_draws(results: &Results<Configuration, Outcome>) -> Evidence {
    let trials = results.outcomes().count();
    let failures = results.outcomes().filter(|(_, o)| o.exact_error > o.exact_bound).count();
    Evidence::probability(results.planned(), failures, trials, FAILURE)
}

/// Accuracies of a learner, one a fold and trial: in the target group, or overall.
fn accuracies_of(outcomes: &[Outcome], learner: Learner, group: bool) -> Vec<f64> {
    let of_trial = |o: &Outcome| -> Vec<f64> {
        let Some(score) = o.scores.iter().find(|s| s.learner == learner) else { return vec![] };
        let (errors, points) =
            if group { (&score.group_errors, &o.group) } else { (&score.errors, &o.points) };
        let pairs = errors.iter().zip(points).filter(|(_, n)| **n > 0);
        pairs.map(|(errors, n)| 1.0 - *errors as f64 / *n as f64).collect()
    };
    outcomes.iter().flat_map(of_trial).collect()
}

/// The configurations of a data set and noise by increasing rate, the one without noise first.
fn by_rate<'a>(
    results: &'a Results<Configuration, Outcome>,
    data: &str,
    noise: Noise,
) -> Vec<&'a Group<Configuration, Outcome>> {
    let mine = |c: &Configuration| c.data == data && (c.noise == noise || c.rate <= 0.0);
    let mut groups: Vec<_> = results.groups.iter().filter(|g| mine(&g.configuration)).collect();
    groups.sort_by(|a, b| a.configuration.rate.total_cmp(&b.configuration.rate));
    groups
}

/// Accuracy against the noise rate; `None` where nothing was planned.
fn figure(
    results: &Results<Configuration, Outcome>,
    data: &str,
    noise: Noise,
    group: bool,
) -> Option<Figure> {
    let groups = by_rate(results, data, noise);
    if groups.len() < 2 {
        return None;
    }
    let (mut lines, mut bands, mut points) = (Vec::new(), Vec::new(), Vec::new());
    // The majority is in the table; with it no axis would show the others apart.
    for (learner, colour) in LEARNERS.into_iter().filter(|(l, _)| *l != Learner::Majority) {
        let (mut band, mut line) = (Vec::new(), Vec::new());
        for g in &groups {
            let values = accuracies_of(&g.outcomes, learner, group);
            let rate = g.configuration.rate;
            if let Some(mean) = stats::mean(&values) {
                line.push((rate, mean));
                band.extend(stats::mean_interval(&values, 0.95).map(|i| (rate, i.low, i.high)));
            }
        }
        let name = learner.to_string();
        lines.push(Layer::Line {
            name: name.clone(),
            colour,
            dashed: learner == Learner::Svm,
            data: line.clone(),
        });
        bands.push(Layer::Band { name: name.clone(), colour, data: band });
        points.push(Layer::Points { name, colour, data: line });
    }
    // Lines first for the legend, and again above the bands.
    let layers = [lines.clone(), bands, lines, points].concat();
    let kebab = noise.to_string().replace(' ', "-");
    let (suffix, of) = if group { ("-group", "of the target group") } else { ("", "of all") };
    Some(Figure {
        name: format!("pr-{data}-{kebab}{suffix}"),
        caption: format!(
            "{data}, labels flipped {noise}: accuracy on clean labels {of} test examples, mean and 95 % interval over folds and trials. The flatter a line, the less its learner minds the noise."
        ),
        x: Axis::linear("noise rate η"),
        y: Axis::linear("accuracy on clean labels"),
        layers,
    })
}

fn accuracies(results: &Results<Configuration, Outcome>) -> Table {
    let columns = ["data", "noise", "η", "judged on", "folds"];
    let learners = LEARNERS.map(|(learner, _)| learner.to_string());
    let columns: Vec<&str> =
        columns.into_iter().chain(learners.iter().map(String::as_str)).chain(["best"]).collect();
    let caption = "Accuracy on clean labels in per cent, mean ± half of the 95 % interval over folds and trials (folds share training examples, so it is somewhat too short)";
    let mut table = Table::new("pr-accuracy", caption, &columns);
    for g in &results.groups {
        for (group, judged) in [(false, "all"), (true, "target group")] {
            let values = LEARNERS.map(|(learner, _)| accuracies_of(&g.outcomes, learner, group));
            if values[0].is_empty() {
                continue;
            }
            let Configuration { data, noise, rate, .. } = &g.configuration;
            let noise = if *rate > 0.0 { noise.to_string() } else { "none".into() };
            let folds = values[0].len().to_string();
            let mut row = vec![data.clone(), noise, rate.to_string(), judged.into(), folds];
            row.extend(values.iter().map(|values| {
                let mean = stats::mean(values).unwrap_or_default();
                let half = stats::mean_interval(values, 0.95).map_or(0.0, |i| i.high - mean);
                format!("{:.1} ± {:.1}", 100.0 * mean, 100.0 * half)
            }));
            let means = values.iter().map(|v| stats::mean(v).unwrap_or_default());
            let best = means.zip(&learners).max_by(|a, b| a.0.total_cmp(&b.0));
            row.extend(best.map(|(_, learner)| learner.clone()));
            table.push(row);
        }
    }
    table
}

/// Where a learner differs from another on the same folds: mean of its accuracy minus the other's,
/// and that mean's 95 % interval.
fn gain(
    outcomes: &[Outcome],
    learner: Learner,
    other: Learner,
    group: bool,
) -> Option<stats::Interval> {
    let of = |learner| accuracies_of(outcomes, learner, group);
    let pairs = of(learner).into_iter().zip(of(other));
    stats::mean_interval(&pairs.map(|(a, b)| a - b).collect::<Vec<f64>>(), 0.95)
}

/// How often each learner is better or worse than logistic regression.
fn wins(results: &Results<Configuration, Outcome>) -> Table {
    let shown = LEARNERS.map(|(learner, _)| learner);
    let shown = &shown[1..shown.len() - 1];
    let names: Vec<String> = shown.iter().map(Learner::to_string).collect();
    let columns: Vec<&str> = ["labels flipped", "settings"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let caption = "Settings in which a learner is better / worse than logistic regression on clean labels: the 95 % interval of the difference, fold by fold, excludes 0";
    let mut table = Table::new("pr-against-logistic", caption, &columns);
    let kinds = REGIONS.into_iter().chain(GROUPS).map(Some);
    let kinds: Vec<Option<Noise>> = std::iter::once(None).chain(kinds).collect();
    for (kind, group) in kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let judgeable = |g: &&Group<_, Outcome>| {
            g.outcomes.iter().any(|o| !group || o.group.iter().any(|n| *n > 0))
        };
        let mine = |c: &Configuration| match kind {
            None => c.rate <= 0.0,
            Some(noise) => c.rate > 0.0 && c.noise == noise,
        };
        let groups: Vec<_> =
            results.groups.iter().filter(|g| mine(&g.configuration)).filter(judgeable).collect();
        if groups.is_empty() {
            continue;
        }
        let name = kind.map_or("nowhere".into(), |noise| noise.to_string());
        let judged = if group { "target group" } else { "all" };
        let mut row = vec![name, judged.into(), groups.len().to_string()];
        row.extend(shown.iter().map(|learner| {
            let gains =
                groups.iter().map(|g| gain(&g.outcomes, *learner, Learner::Logistic, group));
            let gains: Vec<stats::Interval> = gains.flatten().collect();
            let better = gains.iter().filter(|i| i.low > 0.0).count();
            let worse = gains.iter().filter(|i| i.high < 0.0).count();
            format!("{better} / {worse}")
        }));
        table.push(row);
    }
    table
}

fn bounds(results: &Results<Configuration, Outcome>) -> Table {
    let columns = [
        "data",
        "noise",
        "η",
        "folds",
        "error, test fold",
        "bound, δ/5",
        "least slack",
        "exact error",
        "bound, δ",
        "least slack, exact",
    ];
    let caption = "The Perspectron's error on noisy labels and the bound it reports, means over folds and trials; slack is bound minus error";
    let mut table = Table::new("pr-bound", caption, &columns);
    let number = |value: Option<f64>| value.map(|v| format!("{v:.3}")).unwrap_or_default();
    let least = |values: &[f64]| values.iter().copied().reduce(f64::min);
    for g in &results.groups {
        let Configuration { data, noise, rate, .. } = &g.configuration;
        let folds: Vec<&Bound> = g.outcomes.iter().flat_map(|o| &o.bounds).collect();
        let of = |f: fn(&Bound) -> f64| -> Vec<f64> { folds.iter().map(|b| f(b)).collect() };
        let exact = |f: fn(&Outcome) -> f64| -> Vec<f64> { g.outcomes.iter().map(f).collect() };
        table.push(vec![
            data.clone(),
            if *rate > 0.0 { noise.to_string() } else { "none".into() },
            rate.to_string(),
            folds.len().to_string(),
            number(stats::mean(&of(|b| b.rate()))),
            number(stats::mean(&of(|b| b.bound))),
            number(least(&of(|b| b.bound - b.rate()))),
            number(stats::mean(&exact(|o| o.exact_error))),
            number(stats::mean(&exact(|o| o.exact_bound))),
            number(least(&exact(|o| o.exact_bound - o.exact_error))),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_eval::Verdict;

    fn experiment() -> RealNoiseExperiment {
        RealNoiseExperiment::new(Arc::new(Inputs::builtin()))
    }

    fn wdbc(noise: Noise) -> Configuration {
        Configuration { data: "wdbc".into(), rows: Some(300), noise, rate: 0.3 }
    }

    fn trial(noise: Noise) -> Outcome {
        experiment().trial(&wdbc(noise), &mut ChaCha8Rng::seed_from_u64(1)).unwrap()
    }

    fn judged(outcomes: Vec<Outcome>) -> Section {
        let planned = outcomes.len();
        let group = Group { configuration: wdbc(Noise::Everywhere), planned, outcomes };
        let mut section = Section::default();
        experiment().evaluate(&Results { groups: vec![group] }, &mut section);
        section
    }

    /// A real trial, as often as it takes, judged by its bounds and by a third of them.
    #[test]
    fn a_third_of_the_bound_is_refuted() {
        let outcome = trial(Noise::Everywhere);
        let third = |bound: f64| bound / 3.0;
        let mut wrong = outcome.clone();
        wrong.bounds.iter_mut().for_each(|b| b.bound = third(b.bound));
        wrong.exact_bound = third(wrong.exact_bound);
        for (outcome, verdict) in [(outcome, Verdict::Holds), (wrong, Verdict::Violated)] {
            let section = judged(vec![outcome; 60]);
            assert_eq!((section.claims.len(), section.tables[0].rows.len()), (2, 1));
            for claim in section.claims {
                assert_eq!(claim.verdict, verdict, "{claim:?}");
            }
        }
    }

    #[test]
    fn the_exact_test_neither_refutes_nor_proves_what_chance_explains() {
        let bound = |errors| Bound { bound: 0.2, errors, points: 100 };
        assert!(!bound(20).is_refuted() && !bound(20).is_shown());
        // P[Binomial(100, 0.2) >= 32] = 0.0031 and >= 33 = 0.0016; <= 11 is 0.0126, <= 10 is 0.0057.
        assert!(!bound(32).is_refuted() && bound(33).is_refuted());
        assert!(!bound(11).is_shown() && bound(10).is_shown());
    }

    #[test]
    fn every_example_is_tested_once_and_only_the_region_is_flipped() {
        let outcome = trial(Noise::Far);
        assert_eq!(outcome.points, [60; FOLDS]);
        assert_eq!((outcome.bounds.len(), outcome.group.iter().sum::<usize>()), (FOLDS, 0));
        let share =
            |learner| stats::mean(&accuracies_of(std::slice::from_ref(&outcome), learner, false));
        let (logistic, majority) = (share(Learner::Logistic), share(Learner::Majority));
        assert!(logistic > majority && majority > Some(0.5));

        let data = experiment().data("wdbc").unwrap();
        let rows: Vec<usize> = (0..data.labels.len()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut flips = |noise| data.flip_probabilities(&rows, noise, 0.25, &mut rng).unwrap();
        let (far, near) = (flips(Noise::Far), flips(Noise::Near));
        for (i, (far, near)) in far.iter().zip(&near).enumerate() {
            let is_far = data.margins[i].abs() >= data.middle;
            assert_eq!((*far > 0.0, *near > 0.0), (is_far, data.margins[i].abs() <= data.middle));
        }
        assert_eq!(flips(Noise::Everywhere), vec![0.25; rows.len()]);
        let adversarial = flips(Noise::Adversarial);
        assert!(adversarial.contains(&0.25) && adversarial.contains(&0.0));
    }

    #[test]
    fn a_gain_is_judged_fold_by_fold() {
        let score = |learner, errors: [usize; FOLDS]| Score {
            learner,
            errors: errors.into(),
            group_errors: vec![0; FOLDS],
        };
        let outcome = Outcome {
            points: vec![100; FOLDS],
            group: vec![0; FOLDS],
            // Far apart between folds, and always 2, 3 or 4 apart within one.
            scores: vec![
                score(Learner::Logistic, [5, 15, 25, 35, 45]),
                score(Learner::Ckmy, [2, 13, 21, 32, 42]),
                score(Learner::Svm, [45, 35, 25, 15, 5]),
            ],
            bounds: vec![],
            exact_bound: 1.0,
            exact_error: 0.0,
        };
        let of = |learner| {
            gain(std::slice::from_ref(&outcome), learner, Learner::Logistic, false).unwrap()
        };
        // 0.03 ± t(0.975; 4) √0.00005/√5 = 0.03 ± 2.776 · 0.003162
        assert!((of(Learner::Ckmy).low - 0.02122).abs() < 1e-5);
        assert!(of(Learner::Svm).low < 0.0 && of(Learner::Svm).high > 0.0);
        let row = &wins(&Results {
            groups: vec![Group {
                configuration: wdbc(Noise::Near),
                planned: 1,
                outcomes: vec![outcome],
            }],
        })
        .rows[0];
        assert_eq!(row[..3], ["near the boundary", "all", "1"]);
        assert!(row.contains(&"1 / 0".to_owned()) && row.contains(&"0 / 0".to_owned()));
    }

    #[test]
    fn missing_data_are_skipped_and_the_reader_is_told() {
        let plan = experiment().plan(Scale::Standard).unwrap();
        assert!(plan.iter().all(|p| p.configuration.data == "wdbc"));
        let section = judged(vec![]);
        let text = section.summary.join(" ");
        assert!(text.contains("magic.csv, spambase.csv") && text.contains(ADULT_FILE), "{text}");
    }

    /// A census of 200, in the columns of adult.data: only those outside the group are flipped.
    #[test]
    fn census_data_are_read_by_name_and_the_group_stays_clean() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("adult")).unwrap();
        let mut text = String::from("age, workclass, race, classification\n");
        for i in 0..200 {
            let (age, work) = (20 + i % 50, if i % 7 == 0 { "?" } else { "Private" });
            let race = if i % 4 == 0 { "Black" } else { "White" };
            let class = if i % 50 > 30 { ">50K" } else { "<=50K" };
            text.push_str(&format!("{age}, {work}, {race}, {class}\n"));
        }
        std::fs::write(folder.path().join(ADULT_FILE), text).unwrap();
        let inputs = Arc::new(Inputs::with_folder(Some(folder.path())).unwrap());
        assert!(inputs.has(ADULT) && !inputs.real().contains(&ADULT.to_owned()));
        let experiment = RealNoiseExperiment::new(inputs);
        let plan = experiment.plan(Scale::Smoke).unwrap();
        let configuration = &plan.last().unwrap().configuration;
        assert_eq!((&configuration.data[..], configuration.rate), (ADULT, 0.4));

        let data = experiment.data(ADULT).unwrap();
        assert_eq!(data.unit.dim(), 6);
        assert_eq!(data.group.iter().filter(|inside| **inside).count(), 50);
        let rows: Vec<usize> = (0..200).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut flips = |noise| data.flip_probabilities(&rows, noise, 0.4, &mut rng).unwrap();
        let (all, some) = (flips(Noise::OutsideGroup), flips(Noise::PositivesOutsideGroup));
        for i in rows.clone() {
            assert_eq!(all[i] > 0.0, i % 4 != 0);
            assert_eq!(some[i] > 0.0, i % 4 != 0 && data.labels[i] == Label::Positive);
        }
        let outcome = experiment.trial(configuration, &mut rng).unwrap();
        assert_eq!(outcome.group.iter().sum::<usize>(), 50);
    }
}
