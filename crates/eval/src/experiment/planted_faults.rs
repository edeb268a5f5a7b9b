//! Tests with faults planted in an experiment. They cover the whole path from the plan to the headline of the ledger.
//! For every kind of claim and every rule, the verdict must reveal a wrong bound, the null in place of the learner, a
//! plan that is incomplete or too small, and a null that is as good as the learner.

use super::{AnyExperiment, Experiment, Planned, Results, Section};
use crate::claim::{ClaimKind, ClaimStatement, Evidence, Null, Side, Verdict};
use crate::report::Report;
use crate::run_info::tests::example;
use crate::scale::Scale;
use crate::store::TrialStore;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::sync::Mutex;

/// Number of labels whose majority vote forms one answer. Each label is wrong with probability [`NOISE`].
const VOTERS: usize = 5;
const NOISE: f64 = 0.2;
/// Number of answers in a random trial. The majority is wrong with probability 0.058.
const ANSWERS: usize = 20;
/// Number of thresholds, one of which is the target.
const THRESHOLDS: usize = 64;

/// The rule of [`Evidence`] by which the claim is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Bisection of 64 thresholds makes at most 6 mistakes against an adversary.
    EveryRun,
    /// A majority of five is wrong with probability at most 0.08.
    Probability,
    /// The expected fraction of wrong majorities is at most 0.08.
    Mean,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The bound is a third of the correct one.
    WrongBound,
    /// The null is judged in place of the learner.
    NullAsLearner,
    /// Half of the planned trials are not run.
    HalfRun,
    /// Too few trials are planned to prove anything.
    FewPlanned,
    /// The null is the learner itself.
    LearnerAsNull,
}

struct Votes {
    rule: Rule,
    kind: ClaimKind,
    fault: Fault,
}

/// The results of the learner and its null on the same instance.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Outcome {
    learner: usize,
    null: usize,
}

/// The number of mistakes against an adversary that contradicts every answer. A bisecting learner is asked about the
/// middle of the remaining thresholds, so each mistake excludes half of them. For a learner that always answers +1,
/// there are questions for which each mistake excludes only one threshold.
fn contradicted(bisects: bool) -> usize {
    let (mut left, mut mistakes) = (THRESHOLDS, 0);
    while left > 1 {
        left = if bisects { left / 2 } else { left - 1 };
        mistakes += 1;
    }
    mistakes
}

impl Votes {
    fn bound(&self) -> f64 {
        let bound = match self.rule {
            Rule::EveryRun => (THRESHOLDS as f64).log2(),
            Rule::Probability | Rule::Mean => 0.08,
        };
        if self.fault == Fault::WrongBound { bound / 3.0 } else { bound }
    }
}

impl Experiment for Votes {
    type Configuration = u32;
    type Outcome = Outcome;

    fn id(&self) -> &'static str {
        "V"
    }

    fn title(&self) -> &'static str {
        "Votes"
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        vec![ClaimStatement {
            id: "V".into(),
            statement: "errs seldom".into(),
            source: "none".into(),
            kind: self.kind,
            null: "a coin, or +1 always".into(),
            checks: &[],
        }]
    }

    fn plan(&self, _: Scale) -> Result<Vec<Planned<u32>>, Box<dyn Error + Send + Sync>> {
        let trials = match self.fault {
            Fault::FewPlanned => 1,
            _ => 50,
        };
        Ok([0, 1].map(|configuration| Planned { configuration, trials }).into())
    }

    fn trial(
        &self,
        _: &u32,
        rng: &mut ChaCha8Rng,
    ) -> Result<Outcome, Box<dyn Error + Send + Sync>> {
        if self.rule == Rule::EveryRun {
            return Ok(Outcome { learner: contradicted(true), null: contradicted(false) });
        }
        let mut wrong = |noise: f64| (0..VOTERS).filter(|_| rng.random::<f64>() < noise).count();
        let errors = |count: &mut dyn FnMut() -> usize| {
            (0..ANSWERS).filter(|_| 2 * count() > VOTERS).count()
        };
        let learner = errors(&mut || wrong(NOISE));
        Ok(Outcome { learner, null: errors(&mut || wrong(0.5)) })
    }

    fn evaluate(&self, results: &Results<u32, Outcome>, section: &mut Section) {
        let judged: Vec<usize> = results
            .outcomes()
            .map(|(_, o)| if self.fault == Fault::NullAsLearner { o.null } else { o.learner })
            .collect();
        let share = |errors: usize| errors as f64 / ANSWERS as f64;
        let (planned, bound) = (results.planned(), self.bound());
        let evidence = match self.rule {
            Rule::EveryRun => {
                let ratios: Vec<f64> = judged.iter().map(|m| *m as f64 / bound).collect();
                Evidence::deterministic("mistakes / bound", Side::AtMost, planned, &ratios)
            }
            Rule::Probability => {
                let (errors, answers) = (judged.iter().sum(), judged.len() * ANSWERS);
                Evidence::probability(planned * ANSWERS, errors, answers, bound)
            }
            Rule::Mean => {
                let shares: Vec<f64> = judged.iter().map(|errors| share(*errors)).collect();
                Evidence::mean("share of errors", planned, &shares, bound)
            }
        };
        let misses = |o: &Outcome| {
            let of = if self.fault == Fault::LearnerAsNull { o.learner } else { o.null };
            match self.rule {
                Rule::EveryRun => of as f64 > bound,
                // The fraction is more than twice the claimed value.
                Rule::Probability | Rule::Mean => share(of) > 2.0 * bound,
            }
        };
        let null = Null::of_cases(results.outcomes().map(|(_, o)| misses(o)));
        for claim in self.claims() {
            section.judge(claim, evidence.clone(), null);
        }
    }
}

/// Returns the verdict and the headline of the ledger.
fn judged(rule: Rule, kind: ClaimKind, fault: Fault) -> (Verdict, String) {
    let experiment = Votes { rule, kind, fault };
    let store = Mutex::new(TrialStore::read(&[]).unwrap());
    let owned = |ordinal: usize| fault != Fault::HalfRun || ordinal.is_multiple_of(2);
    experiment.run(Scale::Smoke, 1, &owned, &store, &|_| ()).unwrap();
    let section = experiment.section(Scale::Smoke, 1, &store.into_inner().unwrap()).unwrap();
    let verdict = section.claims[0].verdict;
    let report =
        Report::new(["V", ""], &example(), &|_| String::new(), vec![section], &[]).unwrap();
    (verdict, report.headline())
}

#[test]
fn every_planted_fault_is_found() {
    use Verdict::{Holds, Inconclusive, Observed, Violated, Weak};
    for rule in [Rule::EveryRun, Rule::Probability, Rule::Mean] {
        for kind in ClaimKind::ALL {
            let (as_claimed, without_null) = match kind {
                ClaimKind::Observation => (Observed, Observed),
                ClaimKind::Proved | ClaimKind::Measured => (Holds, Weak),
            };
            // A single exception refutes a bound on every run, so such a claim can hold for any plan with at least one
            // trial. For a claim based on random samples, two trials are too few.
            let few = if rule == Rule::EveryRun { as_claimed } else { Inconclusive };
            for (fault, expected) in [
                (Fault::None, as_claimed),
                (Fault::WrongBound, Violated),
                (Fault::NullAsLearner, Violated),
                (Fault::HalfRun, Inconclusive),
                (Fault::FewPlanned, few),
                (Fault::LearnerAsNull, without_null),
            ] {
                let (verdict, headline) = judged(rule, kind, fault);
                let case = format!("{rule:?}, {kind}, {fault:?}: {headline}");
                assert_eq!(verdict, expected, "{case}");
                if !matches!(expected, Holds | Observed) {
                    assert!(headline.contains(&format!("1 {expected}")), "{case}");
                }
                let held = [ClaimKind::Proved, ClaimKind::Measured].map(|of| {
                    let count = usize::from(verdict == Holds && kind == of);
                    headline.contains(&format!("{count} {of} hold"))
                });
                assert_eq!(held, [true; 2], "{case}");
            }
        }
    }
}
