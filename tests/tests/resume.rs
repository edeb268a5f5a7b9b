//! Every online learner that is saved half-way and loaded again ends in the same state as without interruption. Dense
//! and sparse rows give the same run. Saved states that were tampered with are refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::{
    Builtin, Instance, Link, MarginBall, Marginal, Rcn, StandardLink, random_target,
};
use halfspaces_linalg::{
    Classifier, FitSample, Halfspace, Label, Params, PointSet, Points, SparsePoints,
};
use halfspaces_online::{
    Aggressiveness, Alma, Arow, AveragedPerceptron, BayesPoint, BooleanClass, CentreOfGravity,
    Ellipsoid, GridClass, HalfspaceClass, Halving, HardMargin, Horizon, Kernel, KernelPerceptron,
    MassartSetting, ModifiedPerceptron, OnlineLeakyRelu, OnlineLearner, OnlineMassart,
    PassiveAggressive, Perceptron, SecondOrderPerceptron, VersionSpace, VolumetricCentre, Winnow,
};
use halfspaces_pac::{
    Elimination, Fitting, GlmPerspectron, GlmSchedule, GridPerspectron, GridSchedule, LinearSvm,
    LogisticRegression, Margin, Perspectron, SamplePerspectron, Schedule, Selection, Stage,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn learn<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    labels: &[Label],
    rounds: std::ops::Range<usize>,
) {
    for (x, y) in points.rows().zip(labels).take(rounds.end).skip(rounds.start) {
        learner.observe(x, *y).unwrap();
    }
}

/// Saves the learner half-way, loads it, continues, and compares with the result of [`check_rows`].
fn check<L>(fresh: L, points: &Points, labels: &[Label])
where
    L: OnlineLearner + Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let n = points.len();
    let whole = check_rows(fresh.clone(), points, labels);
    let mut first = fresh;
    learn(&mut first, points, labels, 0..n / 2);
    let saved = serde_json::to_string(&first).unwrap();
    let mut second: L = serde_json::from_str(&saved).unwrap();
    assert_eq!(second, first);
    learn(&mut second, points, labels, n / 2..n);
    assert_eq!(second, whole);
}

/// Checks that dense and sparse rows give the same learner; returns it.
fn check_rows<L>(fresh: L, points: &Points, labels: &[Label]) -> L
where
    L: OnlineLearner + Clone + PartialEq + std::fmt::Debug,
{
    let n = points.len();
    let mut whole = fresh.clone();
    learn(&mut whole, points, labels, 0..n);
    assert!(whole.updates() > 0);

    let mut of_sparse = fresh;
    learn(&mut of_sparse, &SparsePoints::from_dense(points).unwrap(), labels, 0..n);
    assert_eq!(of_sparse, whole);

    // A point of a different dimension is refused and leaves the learner unchanged.
    let before = whole.clone();
    let wide = Points::new(vec![1.0; points.dim() + 1], points.dim() + 1).unwrap();
    assert!(whole.observe(wide.row(0).unwrap(), Label::Negative).is_err());
    assert_eq!(whole, before);
    whole
}

#[test]
fn learners_on_real_numbers() {
    let target = random_target(3, 1).unwrap();
    let points = MarginBall::new(&target, 0.3).unwrap().sample(120, 2).unwrap();
    let labels = target.label_all(&points).unwrap();
    let all = |n| (0..n).map(|seed| random_target(3, seed).unwrap()).collect::<Vec<Halfspace>>();
    check(Perceptron::new(3).unwrap(), &points, &labels);
    check(AveragedPerceptron::new(3).unwrap(), &points, &labels);
    check_rows(ModifiedPerceptron::new(3, 0.05, 9).unwrap(), &points, &labels);
    for kind in
        [Aggressiveness::Unbounded, Aggressiveness::Capped(0.3), Aggressiveness::Damped(0.3)]
    {
        check(PassiveAggressive::new(3, kind).unwrap(), &points, &labels);
    }
    check(Arow::new(3, 0.3).unwrap(), &points, &labels);
    check_rows(SecondOrderPerceptron::new(3, 1.0).unwrap(), &points, &labels);
    check_rows(Alma::new(3, 0.5).unwrap(), &points, &labels);
    let setting = MassartSetting { noise: 0.1, margin: 0.3 };
    for horizon in [Horizon::Known(120), Horizon::Doubling] {
        check_rows(OnlineMassart::new(3, setting, horizon).unwrap(), &points, &labels);
    }
    check_rows(OnlineLeakyRelu::new(3, setting, 120).unwrap(), &points, &labels);
    check_rows(VersionSpace::new(Ellipsoid::new(3).unwrap()), &points, &labels);
    check_rows(VersionSpace::new(VolumetricCentre::new(3).unwrap()), &points, &labels);
    check_rows(VersionSpace::new(CentreOfGravity::new(3, 5).unwrap()), &points, &labels);
    check_rows(VersionSpace::new(HardMargin::new(3).unwrap()), &points, &labels);
    check_rows(BayesPoint::new(3, 5).unwrap(), &points, &labels);
    for kernel in [
        Kernel::Linear,
        Kernel::Polynomial { degree: 3 },
        Kernel::Inhomogeneous { degree: 2 },
        Kernel::Gaussian { scale: 1.0 },
    ] {
        check(KernelPerceptron::new(3, kernel).unwrap(), &points, &labels);
        let budgeted = KernelPerceptron::new(3, kernel).unwrap().with_budget(4).unwrap();
        check(budgeted, &points, &labels);
    }
    check_rows(Halving::new(HalfspaceClass::new(all(300)).unwrap()).unwrap(), &points, &labels);
    check_rows(Halving::new(GridClass::new(3, 0.5).unwrap()).unwrap(), &points, &labels);
}

#[test]
fn learners_on_the_cube() {
    let rows: Vec<Vec<f64>> =
        (0..64u32).map(|m| (0..6).map(|i| f64::from(m >> i & 1)).collect()).collect();
    let points = Points::from_rows(&rows).unwrap();
    let labels: Vec<Label> =
        (0..64u32).map(|m| Label::from_sign(f64::from(m & 0b101) - 0.5)).collect();
    check_rows(Winnow::new(6).unwrap(), &points, &labels);
    check_rows(Halving::new(BooleanClass::disjunctions(6).unwrap()).unwrap(), &points, &labels);
    check_rows(Halving::new(BooleanClass::conjunctions(6).unwrap()).unwrap(), &points, &labels);
    check_rows(
        Halving::new(BooleanClass::decision_lists(6, 2).unwrap()).unwrap(),
        &points,
        &labels,
    );
}

#[test]
fn wide_one_hot_rows() {
    let data = Builtin::Mushroom.load().unwrap();
    let rows: Vec<usize> = (0..300).map(|i| i * 17).collect();
    let points = data.points().select(&rows).unwrap();
    let labels: Vec<Label> = rows.iter().map(|i| data.labels()[*i]).collect();
    check(Perceptron::new(98).unwrap(), &points, &labels);
    check_rows(Winnow::new(98).unwrap(), &points, &labels);
    check_rows(SecondOrderPerceptron::new(98, 1.0).unwrap(), &points, &labels);
    check(KernelPerceptron::new(98, Kernel::Gaussian { scale: 22.0 }).unwrap(), &points, &labels);
}

/// Replaces one field of a saved learner.
fn tampered<L: Serialize>(learner: &L, field: &str, value: serde_json::Value) -> String {
    let mut saved = serde_json::to_value(learner).unwrap();
    assert!(!saved[field].is_null(), "{field}");
    saved[field] = value;
    saved.to_string()
}

#[test]
fn tampered_states_are_refused() {
    use serde_json::json;
    let refused = |text: String, load: fn(&str) -> bool| assert!(!load(&text), "{text}");
    let perceptron = Perceptron::new(2).unwrap();
    refused(tampered(&perceptron, "weights", json!([])), |t| {
        serde_json::from_str::<Perceptron>(t).is_ok()
    });
    let kernel = KernelPerceptron::new(2, Kernel::Gaussian { scale: 1.0 }).unwrap();
    for (field, value) in [
        ("kernel", json!({"Gaussian": {"scale": -1.0}})),
        ("rows", json!([1.0])),
        ("signs", json!([1.0])),
        ("dim", json!(0)),
    ] {
        refused(tampered(&kernel, field, value), |t| {
            serde_json::from_str::<KernelPerceptron>(t).is_ok()
        });
    }
    let averaged = AveragedPerceptron::new(2).unwrap();
    let arow = Arow::new(2, 1.0).unwrap();
    for (field, value) in [
        ("variances", json!([1.0])),
        ("variances", json!([1.0, 1.5])),
        ("variances", json!([1.0, -0.5])),
        ("r", json!(0.0)),
    ] {
        let saved = tampered(&arow, field, value);
        assert!(serde_json::from_str::<Arow>(&saved).is_err(), "{saved}");
    }
    refused(tampered(&averaged, "missed", json!([1.0])), |t| {
        serde_json::from_str::<AveragedPerceptron>(t).is_ok()
    });
}

fn saved_and_loaded<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
}

#[test]
fn fits_of_samples_are_saved_and_loaded() {
    let target = random_target(4, 1).unwrap();
    let ball = MarginBall::new(&target, 0.4).unwrap();
    let instance = Instance::new(ball, target, Rcn::new(0.1).unwrap()).unwrap();
    let (points, labels) = instance.sample(200, 2).unwrap();
    let (points, labels) = (&points, &labels[..]);
    saved_and_loaded(&LinearSvm::params().check().unwrap().fit(points, labels).unwrap());
    let logistic = LogisticRegression::params().check().unwrap();
    saved_and_loaded(&logistic.fit(points, labels).unwrap());
    let sample = SamplePerspectron::params();
    saved_and_loaded(&sample.check().unwrap().fit(points, labels).unwrap());
}

/// Saves and loads the fitting every 211 examples, during training and selection.
fn in_sittings<L>(fresh: Fitting<L>, instance: &Instance<MarginBall, Rcn>)
where
    L: Link + Clone + Serialize + DeserializeOwned,
{
    let mut whole = fresh.clone();
    whole.advance(&mut instance.stream(4)).unwrap();
    let mut stream = instance.stream(4);
    let mut text = serde_json::to_string(&fresh).unwrap();
    loop {
        let mut fitting: Fitting<L> = serde_json::from_str(&text).unwrap();
        if fitting.advance_by(&mut stream, 211).unwrap() == Stage::Complete {
            assert_eq!(fitting.finish(), whole.finish());
            return;
        }
        text = serde_json::to_string(&fitting).unwrap();
    }
}

#[test]
fn every_fitting_resumes_where_it_stopped() {
    let target = random_target(3, 1).unwrap();
    let ball = MarginBall::new(&target, 0.6).unwrap();
    let instance = Instance::new(ball, target, Rcn::new(0.1).unwrap()).unwrap();
    for schedule in [Schedule::Paper, Schedule::Corrected, Schedule::Ours] {
        let params = Perspectron::params(0.1, 0.6).excess(0.8).failure(0.4).schedule(schedule);
        in_sittings(params.check().unwrap().start(3).unwrap(), &instance);
        let params = params.selection(Selection::AllIterates).elimination(Elimination::EarlyStop);
        in_sittings(params.check().unwrap().start(3).unwrap(), &instance);
    }
    let link = StandardLink::massart(0.1).unwrap();
    for schedule in [GlmSchedule::Paper, GlmSchedule::Corrected, GlmSchedule::Ours] {
        let params = GlmPerspectron::params(link, 0.6).excess(0.9).failure(0.4);
        in_sittings(params.schedule(schedule).check().unwrap().start(3).unwrap(), &instance);
    }
    for schedule in [GridSchedule::Paper, GridSchedule::Corrected] {
        let grid = GridPerspectron::params(Margin::Known(0.6)).excess(0.9).failure(0.4);
        in_sittings(grid.schedule(schedule).check().unwrap().start(3).unwrap(), &instance);
    }
}
