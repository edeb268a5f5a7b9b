//! End-to-end tests of learning under noise.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::{
    Builtin, Instance, LabelledPoints, MarginBall, Massart, Population, Realizable, Region,
    flip_labels, flip_probabilities, massart_trap, random_target,
};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::{
    Classifier, FitSample, FitStream, Label, Params, PointSet, RowView, SparsePoints, Termination,
};
use halfspaces_pac::{
    ErrorCount, Fit, Fitting, Guarantee, LinearSvm, LogisticRegression, Perspectron,
    SamplePerspectron, SignLink, Stage,
};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// A fit that is saved and resumed several times gives the result of an uninterrupted one.
#[test]
fn a_fit_outlives_its_process() {
    let target = random_target(6, 1).unwrap();
    let noise = Massart::new(0.2, Region::Far(0.5)).unwrap();
    let instance = Instance::new(MarginBall::new(&target, 0.3).unwrap(), target, noise).unwrap();
    let learner = Perspectron::params(0.2, 0.3).excess(0.3).failure(0.1).check().unwrap();
    let whole = learner.fit_stream(&mut instance.stream(5)).unwrap();

    let mut stream = instance.stream(5);
    let mut saved = serde_json::to_string(&learner.start(6).unwrap()).unwrap();
    loop {
        let mut fitting: Fitting<SignLink> = serde_json::from_str(&saved).unwrap();
        if fitting.advance_by(&mut stream, 3001).unwrap() == Stage::Complete {
            let text = serde_json::to_string(&fitting.finish().unwrap()).unwrap();
            let fit: Fit = serde_json::from_str(&text).unwrap();
            assert_eq!(fit, whole);
            break;
        }
        saved = serde_json::to_string(&fitting).unwrap();
    }
    assert_eq!(
        (whole.termination(), whole.guarantee()),
        (Termination::Converged, Some(Guarantee { excess: 0.3, failure: 0.1 }))
    );
    let error = instance.population(4000, 6).unwrap().error(whole.halfspace()).unwrap().mean();
    assert!(error <= 0.2 + 0.3, "{error}");
}

/// On the Massart trap, convex losses fail and the Perspectron does not, although it knows neither the noise rate nor
/// the margin.
#[test]
fn the_trap_catches_convex_losses_only() {
    let trap = massart_trap(0.3, 0.05).unwrap();
    let (points, labels) = trap.sample(20_000, 1).unwrap();
    let population = trap.exact_population().unwrap();
    let error = |predicted: Vec<Label>| population.error_of_labels(&predicted).unwrap().mean();
    let support = trap.marginal().points();
    let sample = SamplePerspectron::params().check().unwrap().fit(&points, &labels).unwrap();
    let ours = error(sample.label_all(support).unwrap());
    assert!(ours < 0.3 && ours <= sample.error_bound(0.01).unwrap().value(), "{ours}");
    let logistic = LogisticRegression::params().check().unwrap().fit(&points, &labels).unwrap();
    let svm = LinearSvm::params().check().unwrap().fit(&points, &labels).unwrap();
    for rival in [logistic.halfspace(), svm.halfspace()] {
        let error = error(rival.label_all(support).unwrap());
        assert!(error > 0.4, "{error}");
    }
}

/// Real points with noisy labels: dense and sparse points give the same classifier, whose error is averaged exactly
/// over the noise.
#[test]
fn real_points_with_noise_on_one_side() {
    let points = Builtin::Wdbc.load().unwrap().into_parts().0;
    let points = ZScore::fit(&points).unwrap().apply(&points).unwrap();
    let (points, _) = points.rescaled_to_unit_ball().unwrap();
    let pool = Realizable::new(points, random_target(30, 2).unwrap()).unwrap();
    let side = Region::Side(random_target(30, 3).unwrap());
    let flips = flip_probabilities(&pool, &Massart::new(0.3, side).unwrap(), None).unwrap();
    let noisy = flip_labels(pool.labels(), &flips, &mut ChaCha8Rng::seed_from_u64(4)).unwrap();
    let learner = SamplePerspectron::params().passes(20).lift(false).check().unwrap();
    let fit = learner.fit(pool.points(), &noisy).unwrap();
    let sparse = SparsePoints::from_dense(pool.points()).unwrap();
    assert_eq!(learner.fit(&sparse, &noisy).unwrap(), fit);

    let predicted = fit.label_all(pool.points()).unwrap();
    let population = Population::with_flips(pool.points().clone(), pool.target(), flips).unwrap();
    let error = population.error_of_labels(&predicted).unwrap().mean();
    assert!(error < 0.3, "{error}");
    let clean = ErrorCount::count(&fit, pool.points(), pool.labels()).unwrap();
    assert!(clean.rate() < 0.2, "{}", clean.rate());
    assert_eq!(Classifier::dim(&fit), 30);

    // A stream that ends early is not an error.
    let theorem = Perspectron::params(0.3, 0.01).check().unwrap();
    let mut stream = LabelledPoints::shuffled(pool.points(), &noisy, 5).unwrap();
    let fit = theorem.fit_stream(&mut stream).unwrap();
    assert_eq!(fit.termination(), Termination::ExamplesEnded);
    assert_eq!((fit.training(), fit.validation()), (569, 0));
    assert!(fit.label(pool.points().row(0).unwrap()).is_ok());
    assert!(pool.points().row(0).unwrap().norm_sq() <= 1.0);
}
