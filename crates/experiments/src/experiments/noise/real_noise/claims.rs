//! The claims and their evidence.

use super::learners::{Entry, LEARNERS, Predicted, perspectron};
use super::plots::{accuracies, bounds, figure, wins};
use super::workload::{
    Bound, Configuration, DOUBT, DataSet, FAILURE, FOLDS, GROUPS, Noise, Outcome, Part, REGIONS,
    Score,
};
use crate::experiments::common::*;
use crate::workload::{ADULT, ADULT_FILE, Inputs, Memo};
use halfspaces_data::flip_labels;
use halfspaces_linalg::{Classifier, Label, PointSet};
use rand::seq::SliceRandom;

/// Number of exact checks per trial.
const DRAWS: usize = 12;
/// Maximum number of examples drawn for an exact check.
const DRAWN: usize = 2000;

fn wrong(predicted: &[Label], labels: impl Iterator<Item = Label>) -> Vec<bool> {
    predicted.iter().zip(labels).map(|(p, y)| *p != y).collect()
}

pub(crate) struct RealNoiseExperiment {
    inputs: Arc<Inputs>,
    loaded: Memo<DataSet>,
}

impl RealNoiseExperiment {
    pub(crate) fn new(inputs: Arc<Inputs>) -> Self {
        RealNoiseExperiment { inputs, loaded: Memo::default() }
    }

    fn data(&self, name: &str) -> Result<Arc<DataSet>, Failure> {
        self.loaded.get(name, || DataSet::load(&self.inputs, name))
    }
}

impl Experiment for RealNoiseExperiment {
    about! {
        "PR", "Real data with Massart noise: an error bound without a noise model, and a comparison of learners";
        "PR": "On real data with Massart noise, all five fits of the Perspectron to four of five folds have errors within their reported bounds with probability at least 1 - δ = 0.95 (tested at level δ + 1 %, because the test of the folds may itself err)."
            ["Hoeffding's inequality for all candidates at once; CKST24 Appendix A"]
            Proved, null "a third of the reported bound"
            halfspaces_pac::{SamplePerspectron, SampleFit};
        "PRe": "If the Perspectron is fitted to independent draws from a real data set with Massart noise, its exact error on that set is at most its reported bound with probability at least 1 - δ (δ = 0.05), judged for each set over all its settings."
            ["Hoeffding's inequality for all candidates at once; CKST24 Appendix A"]
            Proved, null "a third of the reported bound"
            halfspaces_pac::{SamplePerspectron, SampleFit};
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
        push("wdbc", all, scale.pick(1, 4, 30), &REGIONS, &[0.1, 0.2, 0.3]);
        for name in ["magic", "spambase"].iter().filter(|name| self.inputs.has(name)) {
            let rows = scale.pick(Some(1000), Some(1500), all);
            push(name, rows, scale.pick(1, 1, 3), &REGIONS, &[0.1, 0.2, 0.3]);
        }
        if self.inputs.has(ADULT) {
            let rows = scale.pick(Some(1000), Some(4000), all);
            let noises = scale.pick(&GROUPS[..1], &GROUPS[..1], &GROUPS[..]);
            push(ADULT, rows, scale.pick(1, 1, 3), noises, &[0.1, 0.2, 0.3, 0.4]);
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

        let blank = |entry: &Entry| Score {
            learner: entry.name.into(),
            errors: vec![],
            group_errors: vec![],
        };
        let mut outcome = Outcome {
            points: vec![],
            group: vec![],
            scores: LEARNERS.iter().map(blank).collect(),
            bounds: vec![],
            exact_bound: 0.0,
            exact_error: 0.0,
            draws: vec![],
        };
        for fold in 0..FOLDS {
            // The rows are in random order, so taking every fifth row gives a random fold.
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
            for (entry, score) in LEARNERS.iter().zip(&mut outcome.scores) {
                let Predicted { labels, bound } = (entry.learner)(seed)(&training, &test)?;
                let wrongs = wrong(&labels, tested.iter().map(|&k| clean[k]));
                score.errors.push(wrongs.iter().filter(|wrong| **wrong).count());
                let both =
                    wrongs.iter().zip(&in_group).filter(|(wrong, inside)| **wrong && **inside);
                score.group_errors.push(both.count());
                if let Some(bound) = bound {
                    let wrongs = wrong(&labels, test.labels.iter().copied());
                    outcome.bounds.push(Bound {
                        bound,
                        errors: wrongs.iter().filter(|wrong| **wrong).count() as u64,
                        points: tested.len() as u64,
                    });
                }
            }
        }

        // Here the data set is the distribution: examples are drawn with replacement, and the error is exact.
        let all = data.unit.select(&rows)?;
        for draw in 0..DRAWS {
            let drawn: Vec<usize> =
                (0..rows.len().min(DRAWN)).map(|_| rng.random_range(0..rows.len())).collect();
            let at: Vec<usize> = drawn.iter().map(|&k| rows[k]).collect();
            let truth: Vec<Label> = drawn.iter().map(|&k| clean[k]).collect();
            let rates: Vec<f64> = drawn.iter().map(|&k| flips[k]).collect();
            let part = Part::of(&data, &at, flip_labels(&truth, &rates, &mut *rng)?)?;
            let fit = perspectron(&part, rng.random())?;
            let wrongs = wrong(&fit.label_all(&all)?, clean.iter().copied());
            let each =
                wrongs.iter().zip(&flips).map(|(wrong, p)| if *wrong { 1.0 - p } else { *p });
            let error = each.sum::<f64>() / rows.len() as f64;
            let bound = fit.hoeffding_sum(FAILURE);
            if draw == 0 {
                (outcome.exact_error, outcome.exact_bound) = (error, bound);
            }
            outcome.draws.push((error, bound));
        }
        Ok(outcome)
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let of_draws = of_draws(results);
        let third = null_of(&results.groups, |_, o| {
            o.bounds.iter().any(|b| Bound { bound: b.bound / 3.0, ..*b }.is_refuted())
        });
        let draws = results.outcomes().flat_map(|(_, o)| &o.draws);
        let exact_third = Null::of_cases(draws.map(|(error, bound)| *error > bound / 3.0));
        let evidence = [(of_folds(results), third), (of_draws, exact_third)];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push(METHOD.into());
        section.summary.push(JUDGED.into());
        let missing: Vec<&str> =
            ["magic", "spambase"].into_iter().filter(|name| !self.inputs.has(name)).collect();
        if !missing.is_empty() {
            section.summary.push(format!("These files were skipped, because --data was not given or its folder does not contain them: {}.csv. Both sets are from the UCI Machine Learning Repository (MAGIC gamma telescope, Spambase). The files have no header line, and the class is the last column.", missing.join(".csv, ")));
        }
        if self.inputs.has(ADULT) {
            section.summary.push(CENSUS.into());
        } else {
            section.summary.push(format!("This part was skipped, because --data was not given or its folder does not contain the file {ADULT_FILE}, the census data of CKMY20's experiment. That file is adult.data of the Adult data set in the UCI Machine Learning Repository, with an additional header line that contains the names of its columns (age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship, race, sex, capital-gain, capital-loss, hours-per-week, native-country, class)."));
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

const METHOD: &str = "Labels are flipped independently with probability η inside a region and never outside, in training and test folds alike. Learners are given noisy labels only; accuracy is measured on the clean labels of the test fold. A region is defined by the halfspace that logistic regression fits to all clean labels of the data: all points, the half of the points farther from its boundary, the nearer half, or the points on which this halfspace disagrees with a competitor that is chosen to mislead least squares. Logistic regression and the support vector machine (C = 1) are given standardised columns and an intercept. The others are given the same points with an additional coordinate 1, scaled to norm 1, which does not change the labels of a halfspace. Nothing is tuned on clean or test labels. The Perspectron needs no parameters (it guesses the noise rate and the margin, makes 5 passes, and holds out a fifth of its examples). CKMY20 and DGT19 need η: 0.1, 0.25 and 0.4 are tried, and the fit with the fewest errors on held-out noisy labels is used. Their margin, accuracy and maximum number of steps are fixed in advance to bound their time. The numbers of steps are below those of their theorems, and DGT19 is given at most 5000 examples.";

const JUDGED: &str = "The reported bound is the error on the held-out examples plus √(ln(5|H|/δ)/(2m)) for |H| candidates and m held-out examples. The error on fresh examples cannot be observed; the error on a test fold can, but it varies by chance. A fold therefore counts against its bound only if an exact one-sided binomial test at level 0.2 % refutes the bound. Five such tests refute a true bound with probability at most 1 %, so a trial counts against PR with probability at most δ + 1 %, which is the level of its test. Such a test cannot detect a bound that fails by a small amount; the ledger says how many folds prove their bounds. All trials split the same rows, so the verdict is about random splits and flips of these data. PRe needs no such test: at most 2000 examples are drawn from the rows with replacement, and the error over all rows is known exactly, because the flip probabilities are known. The twelve draws of a trial share its rows and flip probabilities; given these, they are independent.";

const CENSUS: &str = "The runs on the census data repeat the experiment of CKMY20. The labels of everyone outside the target group (race Black, a tenth of the rows) are noisy, and those of the group are clean. The rows come from adult.data: a random sample of them below full scale, and all rows at full scale. At full scale, there are also runs in which only positive or only negative labels are flipped. Text columns are one-hot encoded, with missing values as a separate category, and numeric columns are standardised.";

/// Evidence for PR.
fn of_folds(results: &Results<Configuration, Outcome>) -> Evidence {
    // The error rate on a fold may exceed the bound by chance. This does not refute the bound.
    let ratio = |(_, o): (&Configuration, &Outcome)| {
        let largest = o.bounds.iter().map(|b| b.rate() / b.bound).fold(0.0, f64::max);
        if o.bounds.iter().any(Bound::is_refuted) { f64::INFINITY } else { largest.min(1.0) }
    };
    let ratios: Vec<f64> = results.outcomes().map(ratio).collect();
    let evidence = Evidence::quantile(results.planned(), &ratios, FAILURE + DOUBT);
    let folds: Vec<&Bound> = results.outcomes().flat_map(|(_, o)| &o.bounds).collect();
    let above = folds.iter().filter(|b| b.rate() > b.bound).count();
    let shown = folds.iter().filter(|b| b.is_shown()).count();
    evidence.with_note(&format!(
        "of {} test folds, {above} have an error rate above the bound, and {shown} prove the bound at confidence 99 %",
        folds.len()
    ))
}

/// Evidence for PRe, computed per data set, so that a failure on one data set is not masked by the others. The draws of
/// a trial share its rows and flip probabilities. Given these, the draws are independent.
fn of_draws(results: &Results<Configuration, Outcome>) -> Evidence {
    let mut judged: Vec<(String, Evidence)> = Vec::new();
    for group in &results.groups {
        let name = &group.configuration.data;
        if judged.iter().any(|(known, _)| known == name) {
            continue;
        }
        let mine = groups_of(results, |c| c.data == *name);
        let draws = mine.iter().flat_map(|g| g.outcomes.iter().flat_map(|o| &o.draws));
        let ratios: Vec<f64> = draws.map(|(error, bound)| error / bound).collect();
        let evidence = Evidence::quantile(planned(&mine) * DRAWS, &ratios, FAILURE);
        judged.push((name.clone(), evidence));
    }
    Evidence::worst_of(&judged)
}

#[cfg(test)]
mod tests {
    use super::super::learners::{LOGISTIC, MAJORITY, SVM};
    use super::super::plots::gain;
    use super::super::workload::accuracies_of;
    use super::*;
    use crate::workload::Inputs;

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

    /// A repeated real trial, judged by its bounds and by a third of them.
    #[test]
    fn a_third_of_the_bound_is_refuted() {
        let outcome = trial(Noise::Everywhere);
        let third = |bound: f64| bound / 3.0;
        let mut wrong = outcome.clone();
        wrong.bounds.iter_mut().for_each(|b| b.bound = third(b.bound));
        wrong.draws.iter_mut().for_each(|(_, bound)| *bound = third(*bound));
        for (outcome, verdict) in [(outcome, Verdict::Holds), (wrong, Verdict::Violated)] {
            let section = judged(vec![outcome; 60]);
            assert_eq!((section.claims.len(), section.tables[0].rows().len()), (2, 1));
            for claim in section.claims {
                assert_eq!(claim.verdict, verdict, "{claim:?}");
            }
        }
    }

    #[test]
    fn the_exact_test_neither_refutes_nor_proves_what_chance_explains() {
        let bound = |errors| Bound { bound: 0.2, errors, points: 100 };
        assert!(!bound(20).is_refuted() && !bound(20).is_shown());
        // For X ~ Binomial(100, 0.2), P[X >= 32] = 0.0031, P[X >= 33] = 0.0016, P[X <= 11] = 0.0126 and P[X <= 10] =
        // 0.0057.
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
        let (logistic, majority) = (share(LOGISTIC), share(MAJORITY));
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
    fn a_gain_is_judged_per_fold() {
        let score = |learner, errors: [usize; FOLDS]| Score {
            learner: String::from(learner),
            errors: errors.into(),
            group_errors: vec![0; FOLDS],
        };
        let outcome = Outcome {
            points: vec![100; FOLDS],
            group: vec![0; FOLDS],
            // Error counts differ widely between folds. In every fold, CKMY20 makes 2 to 4 fewer errors than most other
            // learners.
            scores: LEARNERS
                .iter()
                .map(|entry| match entry.name {
                    "CKMY20" => score(entry.name, [2, 13, 21, 32, 42]),
                    SVM => score(entry.name, [45, 35, 25, 15, 5]),
                    _ => score(entry.name, [5, 15, 25, 35, 45]),
                })
                .collect(),
            bounds: vec![],
            exact_bound: 1.0,
            exact_error: 0.0,
            draws: vec![],
        };
        let of = |learner| gain(std::slice::from_ref(&outcome), learner, LOGISTIC, false).unwrap();
        // 0.03 ± t(0.975; 4) √0.00005/√5 = 0.03 ± 2.776 · 0.003162
        assert!((of("CKMY20").low - 0.02122).abs() < 1e-5);
        assert!(of(SVM).low < 0.0 && of(SVM).high > 0.0);
        let table = wins(&Results {
            groups: vec![Group {
                configuration: wdbc(Noise::Near),
                planned: 1,
                outcomes: vec![outcome],
            }],
        });
        let row = &table.rows()[0];
        assert_eq!(row[..3], ["near the boundary", "all", "1"]);
        assert!(row.contains(&"1 / 0".to_owned()) && row.contains(&"0 / 0".to_owned()));
    }

    #[test]
    fn missing_data_are_skipped_and_the_summary_says_so() {
        let plan = experiment().plan(Scale::Standard).unwrap();
        assert!(plan.iter().all(|p| p.configuration.data == "wdbc"));
        let section = judged(vec![]);
        let text = section.summary.join(" ");
        assert!(text.contains("magic.csv, spambase.csv") && text.contains(ADULT_FILE), "{text}");
    }

    /// A census of 200 rows with the columns of adult.data. Only labels outside the group are flipped.
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
