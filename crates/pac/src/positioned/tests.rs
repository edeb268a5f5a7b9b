//! Tests of complete fits: data without a margin, certificates, equivariance, and the constants of the theorem.

use super::schedule::positioned_stop;
use super::*;
use crate::{ErrorBound, ErrorCount};
use halfspaces_data::{
    Instance, LabelledPoints, Marginal, Massart, Rcn, Region, Rotation, StudentT, UnitSphere,
    random_target,
};
use halfspaces_linalg::{
    Classifier, DenseRow, ExampleStream, FitError, FitSample, FitStream, Halfspace, InputError,
    Label, Params, PointSet, Points, SparsePoints, Termination, Threads, kernels,
};
use rand::RngExt;

/// Cauchy points with condition number 10⁶. For the half of the points with larger |w*·x|, labels are flipped with
/// probability 0.3.
fn heavy_tailed(dim: usize, n: usize, seed: u64) -> (Points, Vec<Label>, Vec<Label>) {
    let target = random_target(dim, 5).unwrap();
    let marginal = StudentT::new(dim, 1.0, 1e6).unwrap();
    let mut far: Vec<f64> =
        halfspaces_linalg::margins(&marginal.sample(999, 99).unwrap(), target.normal())
            .unwrap()
            .into_iter()
            .map(f64::abs)
            .collect();
    far.sort_by(f64::total_cmp);
    let noise = Massart::new(0.3, Region::Far(far[499])).unwrap();
    let instance = Instance::new(marginal, target.clone(), noise).unwrap();
    let (points, labels) = instance.sample(n, seed).unwrap();
    let clean = target.label_all(&points).unwrap();
    (points, labels, clean)
}

fn clean_error<C: Classifier>(model: &C, points: &Points, clean: &[Label]) -> f64 {
    ErrorCount::count(model, points, clean).unwrap().rate()
}

#[test]
fn ill_conditioned_heavy_tails_are_learned() {
    let (points, labels, _) = heavy_tailed(5, 6000, 1);
    let (fresh, noisy, clean) = heavy_tailed(5, 6000, 2);
    let fit = PositionedMassart::params(0.3).check().unwrap().fit(&points, &labels).unwrap();
    assert_eq!(fit.termination(), Termination::Converged);
    let error = clean_error(&fit, &fresh, &clean);
    assert!(error < 0.04, "{error}");
    let noisy = ErrorCount::count(&fit, &fresh, &noisy).unwrap().rate();
    let ErrorBound::AtMost(bound) = fit.error_bound(0.05).unwrap() else { panic!("900 held out") };
    assert!(noisy <= bound && bound < 0.25, "{noisy} {bound}");
    // Without radially isotropic position, learners of halfspaces with a margin have much larger errors.
    let points = points.rescaled_to_unit_ball().unwrap().0;
    let margin = crate::Perspectron::params(0.3, 0.05).excess(0.5).check().unwrap();
    let margin = margin.fit(&points, &labels).unwrap();
    assert!(clean_error(&margin, &fresh, &clean) > 0.1);
}

#[test]
fn certificates_are_recomputed_from_the_sample() {
    let (points, labels, _) = heavy_tailed(4, 3000, 1);
    let learner = PositionedMassart::params(0.3).seed(3).check().unwrap();
    let fit = learner.fit(&points, &labels).unwrap();
    let parts = learner.parts(3000).unwrap();
    let labels_of = |part: &[usize]| part.iter().map(|&i| labels[i]).collect::<Vec<_>>();
    let choice = points.select(&parts.choice).unwrap();
    let counts = fit.list().count(&choice, &labels_of(&parts.choice)).unwrap();
    assert!(!counts.is_empty());
    assert!(fit.certificates().iter().map(|c| c.count).eq(counts.iter().copied()));
    assert!(counts.windows(2).all(|w| w[1].left == w[0].left - w[0].inside));
    let last = counts.last().unwrap();
    assert_eq!(fit.remainder().left, last.left - last.inside);
    for (i, certificate) in fit.certificates().iter().enumerate() {
        let count = certificate.count;
        assert!(count.signed_sum(fit.leak()) <= schedule::practical_slack(count.left as u64));
        assert!(certificate.least >= 0.5 && certificate.spread() >= 1.0 / 8.0);
        assert_eq!(certificate.dim, fit.list().rules()[i].inner_dim());
    }
    let held_out = points.select(&parts.held_out).unwrap();
    let count = ErrorCount::count(&fit, &held_out, &labels_of(&parts.held_out)).unwrap();
    assert_eq!(fit.held_out(), Some(count));
    let mut all = [parts.descent, parts.choice, parts.held_out].concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..3000));
}

#[test]
fn dense_sparse_threads_and_lengths_change_nothing() {
    let (points, labels, _) = heavy_tailed(3, 1500, 1);
    let params = PositionedMassart::params(0.3);
    let fit = params.check().unwrap().fit(&points, &labels).unwrap();
    let sparse = SparsePoints::from_dense(&points).unwrap();
    assert_eq!(params.check().unwrap().fit(&sparse, &labels).unwrap(), fit);
    let threads = params.threads(Threads::new(2).unwrap()).check().unwrap();
    assert_eq!(threads.fit(&points, &labels).unwrap(), fit);
    // Multiplies every row by its own power of 2.
    let scaled = points.rows().enumerate().flat_map(|(i, x)| {
        let scale = 2f64.powi(i as i32 % 41 - 20);
        x.as_slice().iter().map(|v| v * scale).collect::<Vec<_>>()
    });
    let scaled = Points::new(scaled.collect(), 3).unwrap();
    assert_eq!(params.check().unwrap().fit(&scaled, &labels).unwrap(), fit);
}

#[test]
fn a_rotation_turns_the_fit() {
    let (points, labels, clean) = heavy_tailed(3, 2000, 1);
    let rotation = Rotation::random(3, 1).unwrap();
    let turned = rotation.apply(&points).unwrap();
    let learner = PositionedMassart::params(0.3).check().unwrap();
    let (a, b) = (learner.fit(&points, &labels).unwrap(), learner.fit(&turned, &labels).unwrap());
    assert_eq!(a.termination(), b.termination());
    let differ = a.label_all(&points).unwrap().into_iter().zip(b.label_all(&turned).unwrap());
    assert!(differ.filter(|(a, b)| a != b).count() < 40);
    let errors = |fit: &PositionedFit, points| clean_error(fit, points, &clean);
    assert!((errors(&a, &points) - errors(&b, &turned)).abs() < 0.01);
}

/// Nine of ten points lie on a plane, on which w* labels all points +1. The other points are labelled by the sign of
/// the third coordinate.
fn planted(n: usize, seed: u64, rate: f64) -> (Points, Vec<Label>, Vec<Label>) {
    let target = Halfspace::new(vec![0.0, 0.0, 1.0, 0.0]).unwrap();
    let round = UnitSphere::new(4).unwrap().sample(n, seed).unwrap();
    let mut values = round.into_vec();
    for (i, x) in values.chunks_exact_mut(4).enumerate() {
        if i % 10 < 9 {
            (x[2], x[3]) = (0.0, 0.0);
        }
    }
    let points = Points::new(values, 4).unwrap();
    let clean = target.label_all(&points).unwrap();
    let mut noisy = clean.clone();
    let mut rng = halfspaces_linalg::rng_for(halfspaces_linalg::RngStream::CALLER, seed);
    for y in &mut noisy {
        *y = if rng.random::<f64>() < rate { -*y } else { *y };
    }
    (points, noisy, clean)
}

#[test]
fn a_subspace_across_the_target_is_all_positive() {
    let (points, labels, clean) = planted(5000, 1, 0.05);
    let fit = PositionedMassart::params(0.2).check().unwrap().fit(&points, &labels).unwrap();
    let first = &fit.list().rules()[0];
    assert_eq!((first.dim(), first.inner_dim()), (4, 2));
    assert_eq!(first.answer(), &PositionedAnswer::Constant(Label::Positive));
    let certificate = fit.certificates()[0];
    let share = certificate.members as f64 / certificate.points as f64;
    assert!((share - 0.9).abs() < 0.05, "{share}");
    assert!(fit.list().rules().len() >= 2 && fit.termination() == Termination::Converged);
    assert!(clean_error(&fit, &points, &clean) < 0.03);
}

#[test]
fn the_theorem_holds_with_its_own_numbers() {
    let noise = Massart::new(0.1, Region::Everywhere).unwrap();
    let target = random_target(2, 3).unwrap();
    let marginal = StudentT::new(2, 1.0, 1e6).unwrap();
    let instance = Instance::new(marginal, target, noise).unwrap();
    let params = PositionedMassart::params(0.1).excess(0.6).schedule(PositionedSchedule::Theorem);
    let learner = params.check().unwrap();
    let fit = learner.fit_stream(&mut instance.stream(1)).unwrap();
    assert_eq!(fit.termination(), Termination::Converged);
    let error = instance.population(4000, 9).unwrap();
    let error = error.error_of_labels(&fit.label_all(error.points()).unwrap()).unwrap();
    assert!(error.mean() <= 0.1 + 0.6);
    let plan = learner.plan(2);
    let (leak, d) = (fit.leak(), 2.0);
    for (rule, certificate) in fit.list().rules().iter().zip(fit.certificates()) {
        assert_eq!(
            (certificate.points as u64, certificate.count.left as u64),
            (plan.position, plan.choice)
        );
        assert!(certificate.spread() >= 1.0 / (2.0 * d));
        assert!(certificate.count.signed_sum(leak) <= -plan.slack);
        assert!(certificate.count.share() >= plan.slack / leak);
        assert_eq!(rule.dim(), 2);
    }
    assert_eq!(fit.held_out().unwrap().points() as u64, plan.test);
    assert!(fit.remainder().share() <= positioned_stop(0.6));
    assert_eq!(fit.remainder().points as u64, plan.test);
    // Fits to a sample and to a stream return the same numbers.
    let n = fit.taken() as usize;
    let (points, labels) = instance.sample(n, 1).unwrap();
    let mut stream = LabelledPoints::new(&points, &labels).unwrap();
    let by_stream = learner.fit_stream(&mut stream).unwrap();
    assert_eq!(learner.fit(&points, &labels).unwrap(), by_stream);
    assert_eq!((stream.remaining(), by_stream.taken() as usize), (0, n));
    // If the stream ends early, the rules found so far are returned.
    let short = learner.fit(&points.select(&[0, 1, 2]).unwrap(), &labels[..3]).unwrap();
    assert_eq!((short.termination(), short.taken()), (Termination::ExamplesEnded, 3));
    assert!(short.list().rules().is_empty() && short.held_out().is_none());
    assert_eq!(short.error_bound(0.05), Ok(ErrorBound::NoInformation));
    assert!(short.error_bound(0.0).is_err());
}

#[test]
fn a_practical_stream_takes_what_it_plans() {
    let target = random_target(3, 3).unwrap();
    let marginal = StudentT::new(3, 1.0, 1e6).unwrap();
    let instance = Instance::new(marginal, target, Rcn::new(0.2).unwrap()).unwrap();
    let learner = PositionedMassart::params(0.2).excess(0.3).check().unwrap();
    let fit = learner.fit_stream(&mut instance.stream(1)).unwrap();
    let plan = learner.plan(3);
    let first = fit.certificates()[0];
    assert_eq!((first.points as u64, first.count.left as u64), (plan.position, plan.choice));
    let population = instance.population(4000, 9).unwrap();
    let error = population.error_of_labels(&fit.label_all(population.points()).unwrap()).unwrap();
    assert!(error.mean() < 0.25, "{}", error.mean());
    let round = plan.position + plan.steps + plan.choice;
    assert!(fit.taken() >= 3 * plan.test + round);
    assert!(fit.taken() <= 22 * plan.test + 20 * plan.draws);
}

/// All points of a sample are used, regardless of how many examples a fit would request from a stream.
#[test]
fn a_large_sample_is_used_as_a_whole() {
    let (points, labels, _) = heavy_tailed(2, 40_000, 1);
    let learner = PositionedMassart::params(0.3).excess(0.3).held_out(0.8).check().unwrap();
    let parts = learner.parts(40_000).unwrap();
    assert_eq!(parts.held_out.len(), 32_000);
    let (fit, plan) = (learner.fit(&points, &labels).unwrap(), learner.plan(2));
    assert!(parts.choice.len() as u64 > plan.choice);
    assert_eq!(fit.certificates()[0].count.left, parts.choice.len());
}

/// If labels are almost random, no region is accurate enough.
#[test]
fn more_noise_than_stated_is_found_out() {
    let target = random_target(3, 3).unwrap();
    let marginal = StudentT::new(3, 1.0, 10.0).unwrap();
    let coins = Rcn::new(0.45).unwrap();
    let instance = Instance::new(marginal, target, coins).unwrap();
    let (points, labels) = instance.sample(4000, 1).unwrap();
    let params = PositionedMassart::params(0.05).excess(0.2);
    let fit = params.check().unwrap().fit(&points, &labels).unwrap();
    assert_eq!(fit.termination(), Termination::AssumptionFailed);
    // The rule with the best constant label covers the remaining points.
    let last = fit.certificates().last().unwrap();
    assert!(last.count.signed_sum(fit.leak()) > 0.0);
    let marginal = StudentT::new(1, 1.0, 10.0).unwrap();
    let target = random_target(1, 3).unwrap();
    let instance = Instance::new(marginal, target, Rcn::new(0.45).unwrap()).unwrap();
    let params = PositionedMassart::params(0.0).excess(0.5);
    let theorem = params.schedule(PositionedSchedule::Theorem).check().unwrap();
    let mut stream = instance.stream(2);
    let fit = theorem.fit_stream(&mut stream).unwrap();
    assert_eq!(fit.termination(), Termination::AssumptionFailed);
    assert!(fit.list().rules().is_empty());
}

#[test]
fn the_origin_is_positive_and_in_no_region() {
    let (points, mut labels, _) = heavy_tailed(3, 900, 1);
    let mut values = points.into_vec();
    for (i, x) in values.chunks_exact_mut(3).enumerate() {
        if i % 2 == 0 {
            x.fill(0.0);
            labels[i] = Label::Positive;
        }
    }
    let points = Points::new(values, 3).unwrap();
    let fit = PositionedMassart::params(0.3).check().unwrap().fit(&points, &labels).unwrap();
    assert_eq!(fit.decision_value(DenseRow::new(&[0.0; 3]).unwrap()), Ok(0.0));
    let first = fit.certificates()[0].count;
    assert!(first.left < 140, "{}", first.left);
    assert!(fit.remainder().points > 150);
    // If all points are at the origin, no points remain.
    let zeros = Points::new(vec![0.0; 30], 3).unwrap();
    let fit = PositionedMassart::params(0.3).check().unwrap();
    let fit = fit.fit(&zeros, &[Label::Positive; 10]).unwrap();
    assert_eq!(fit.termination(), Termination::Converged);
    assert!(fit.list().rules().is_empty() && fit.remainder().left == 0);
}

#[test]
fn bad_input_is_typed() {
    let params = PositionedMassart::params;
    for bad in [
        params(0.5),
        params(-0.1),
        params(0.1).excess(0.0),
        params(0.1).excess(0.81),
        params(0.1).failure(1.0),
        params(0.1).held_out(1.0),
        params(0.1).held_out(-0.1),
    ] {
        assert!(matches!(bad.check(), Err(InputError::ParameterOutOfRange { .. })), "{bad:?}");
    }
    assert!(params(0.1).excess(0.8).check().is_ok());
    let learner = params(0.1).check().unwrap();
    let points = Points::new(vec![1.0, 2.0, 3.0], 1).unwrap();
    let labels = [Label::Positive; 3];
    assert!(matches!(learner.fit(&points, &labels[1..]), Err(FitError::Input(_))));
    let two = points.select(&[0, 1]).unwrap();
    assert!(learner.fit(&two, &labels[1..]).is_err());
    assert!(params(0.1).held_out(0.0).check().unwrap().fit(&two, &labels[1..]).is_ok());
    assert!(learner.fit(&points, &labels).is_ok());
    let none = Points::new(vec![], 1).unwrap();
    assert_eq!(learner.fit(&none, &[]), Err(FitError::Input(InputError::Empty)));
    let mut empty = LabelledPoints::new(&none, &[]).unwrap();
    assert_eq!(learner.fit_stream(&mut empty), Err(FitError::Input(InputError::Empty)));
}

/// A stream whose second row has a different dimension.
struct Odd([f64; 3], usize);

impl ExampleStream for Odd {
    type Row<'a> = DenseRow<'a>;
    type Error = InputError;

    fn dim(&self) -> usize {
        2
    }

    fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, InputError> {
        self.1 += 1;
        let dim = if self.1 == 2 { 3 } else { 2 };
        Ok(Some((DenseRow::new(&self.0[..dim])?, Label::Positive)))
    }
}

#[test]
fn a_faulty_example_is_named() {
    let fault = PositionedMassart::params(0.1).check().unwrap().fit_stream(&mut Odd([1.0; 3], 0));
    let source = InputError::DimensionMismatch { expected: 2, found: 3 };
    assert_eq!(fault, Err(FitError::Example { taken: 1, source }));
}

/// The direction of a rule can be mapped back to the space of the points. It then labels covered points as the rule
/// does.
#[test]
fn a_rule_is_a_halfspace_on_its_region() {
    let (points, labels, _) = heavy_tailed(4, 2000, 1);
    let fit = PositionedMassart::params(0.3).check().unwrap().fit(&points, &labels).unwrap();
    let rule = &fit.list().rules()[0];
    let PositionedAnswer::Halfspace { direction, .. } = rule.answer() else {
        panic!("a halfspace")
    };
    let outside = rule.transform().halfspace_outside(direction).unwrap();
    let mut met = 0;
    for x in points.rows().filter(|x| fit.list().rule_for(*x) == Ok(Some(0))) {
        let value = kernels::dot(outside.normal(), x.as_slice());
        assert_eq!(Label::from_sign(value), fit.label(x).unwrap());
        met += 1;
    }
    assert!(met > 500);
}

#[cfg(feature = "serde")]
#[test]
fn saved_fits_are_checked() {
    let (points, labels, _) = heavy_tailed(2, 600, 1);
    let fit = PositionedMassart::params(0.3).check().unwrap().fit(&points, &labels).unwrap();
    let text = serde_json::to_string(&fit).unwrap();
    assert_eq!(serde_json::from_str::<PositionedFit>(&text).unwrap(), fit);
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    type Change = fn(&mut serde_json::Value);
    let changes: [(&str, Change); 15] = [
        ("no certificate", |v| v["certificates"] = serde_json::json!([])),
        ("dimension", |v| v["certificates"][0]["dim"] = 1.into()),
        ("no members", |v| v["certificates"][0]["members"] = 0.into()),
        ("more members than points", |v| v["certificates"][0]["points"] = 1.into()),
        ("eigenvalue", |v| v["certificates"][0]["least"] = 1.5.into()),
        ("covered", |v| v["certificates"][0]["count"]["left"] = 1.into()),
        ("wrong", |v| v["certificates"][0]["count"]["errors"] = 1_000_000.into()),
        ("nothing covered", |v| {
            v["certificates"][0]["count"]["inside"] = 0.into();
            v["certificates"][0]["count"]["errors"] = 0.into();
        }),
        ("leak", |v| v["leak"] = 0.6.into()),
        ("remainder", |v| v["remainder"]["left"] = 1_000_000.into()),
        ("nothing tested", |v| {
            v["remainder"] = serde_json::json!({"left": 0, "points": 0, "positive": 0})
        }),
        ("positive remainder", |v| v["remainder"]["positive"] = 1_000_000.into()),
        ("taken", |v| v["taken"] = 3.into()),
        ("cap", |v| v["termination"] = serde_json::json!({"CapReached": {"cap": 20}})),
        ("held out", |v| v["held_out"]["errors"] = 1_000_000.into()),
    ];
    let original = value.clone();
    for (name, change) in changes {
        value.clone_from(&original);
        change(&mut value);
        assert_ne!(value, original, "{name}");
        let loaded = serde_json::from_value::<PositionedFit>(value.clone());
        assert!(loaded.is_err(), "{name}");
    }
}

/// The labels are random on a line, and without noise elsewhere. The first region violates the assumption; the last
/// region does not.
#[test]
fn an_assumption_that_failed_once_is_not_forgotten() {
    // Of the points, 90 % lie on a line and have random labels. The labels of the other points have no noise.
    let target = Halfspace::new(vec![0.3, 1.0]).unwrap();
    let sphere = UnitSphere::new(2).unwrap().sample(4000, 1).unwrap();
    let mut values = sphere.into_vec();
    let mut labels = Vec::new();
    for (i, x) in values.chunks_exact_mut(2).enumerate() {
        if i % 10 < 9 {
            x.copy_from_slice(&[1.0, 0.0]);
            labels.push(Label::from_sign(if i / 10 % 2 == 0 { 1.0 } else { -1.0 }));
        } else {
            labels.push(target.label(DenseRow::new(x).unwrap()).unwrap());
        }
    }
    let points = Points::new(values, 2).unwrap();
    let fit =
        PositionedMassart::params(0.05).excess(0.2).check().unwrap().fit(&points, &labels).unwrap();
    let sums: Vec<f64> =
        fit.certificates().iter().map(|c| c.count.signed_sum(fit.leak())).collect();
    assert!(sums.len() >= 2 && sums[0] > 0.0 && sums[sums.len() - 1] < 0.0, "{sums:?}");
    assert_eq!(fit.termination(), Termination::AssumptionFailed);
}

/// A value of 0 occurs only at the origin, where the tie rule gives the label +1.
#[test]
fn points_at_the_origin_count_as_they_are_labelled() {
    let values: Vec<f64> = (0..60_000).map(|i| [0.0, 1.0, 0.0, -1.0][i % 4]).collect();
    let points = Points::new(values, 1).unwrap();
    let labels: Vec<Label> = points.as_slice().iter().map(|v| Label::from_sign(*v)).collect();
    let learner = PositionedMassart::params(0.1).excess(0.5).check().unwrap();
    let fit = learner.fit_stream(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap();
    let held_out = fit.held_out().unwrap();
    assert_eq!((held_out.points() as u64, held_out.errors()), (learner.plan(1).test, 0));
}
