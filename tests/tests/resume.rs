//! Every online learner, saved half-way and loaded again, ends where an uninterrupted one ends; dense
//! and sparse rows give the same run; a saved state that has been tampered with is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::{
    Builtin, Instance, Link, MarginBall, Marginal, Rcn, StandardLink, random_target,
};
use halfspaces_linalg::{
    Classifier, Conjunction, FitSample, FitStream, Halfspace, Label, Params, PointSet, Points,
    SparsePoints,
};
use halfspaces_online::{
    Aggressiveness, Alma, AveragedPerceptron, BayesPoint, BooleanClass, CentreOfGravity, Ellipsoid,
    GridClass, HalfspaceClass, Halving, HardMargin, Horizon, Kernel, KernelPerceptron,
    ModifiedPerceptron, OnlineLeakyRelu, OnlineLearner, OnlineMassart, PassiveAggressive,
    Perceptron, SecondOrderPerceptron, VersionSpace, VolumetricCentre, VotedPerceptron, Winnow,
};
use halfspaces_pac::{
    Ckmy, CuttingPlane, Ddk, Dgt, Elimination, Fitting, GlmPerspectron, GlmSchedule,
    GridPerspectron, GridSchedule, LinearSvm, LogisticRegression, Margin, MarginSearch,
    Perspectron, SamplePerspectron, Schedule, Selection, Stage,
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

fn check<L>(fresh: L, points: &Points, labels: &[Label])
where
    L: OnlineLearner + Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let n = points.len();
    let mut whole = fresh.clone();
    learn(&mut whole, points, labels, 0..n);
    assert!(whole.updates() > 0);

    let mut first = fresh.clone();
    learn(&mut first, points, labels, 0..n / 2);
    let saved = serde_json::to_string(&first).unwrap();
    let mut second: L = serde_json::from_str(&saved).unwrap();
    assert_eq!(second, first);
    learn(&mut second, points, labels, n / 2..n);
    assert_eq!(second, whole);

    let mut of_sparse = fresh;
    learn(&mut of_sparse, &SparsePoints::from_dense(points).unwrap(), labels, 0..n);
    assert_eq!(of_sparse, whole);

    // A point of another dimension is refused and changes nothing.
    let before = whole.clone();
    let wide = Points::new(vec![1.0; points.dim() + 1], points.dim() + 1).unwrap();
    assert!(whole.observe(wide.row(0).unwrap(), Label::Negative).is_err());
    assert_eq!(whole, before);
}

#[test]
fn learners_on_real_numbers() {
    let target = random_target(3, 1).unwrap();
    let points = MarginBall::new(&target, 0.3).unwrap().sample(120, 2).unwrap();
    let labels = target.label_all(&points).unwrap();
    let all = |n| (0..n).map(|seed| random_target(3, seed).unwrap()).collect::<Vec<Halfspace>>();
    check(Perceptron::new(3).unwrap(), &points, &labels);
    check(AveragedPerceptron::new(3).unwrap(), &points, &labels);
    check(VotedPerceptron::new(3).unwrap(), &points, &labels);
    check(ModifiedPerceptron::new(3, 0.05, 9).unwrap(), &points, &labels);
    for kind in
        [Aggressiveness::Unbounded, Aggressiveness::Capped(0.3), Aggressiveness::Damped(0.3)]
    {
        check(PassiveAggressive::new(3, kind).unwrap(), &points, &labels);
    }
    check(SecondOrderPerceptron::new(3, 1.0).unwrap(), &points, &labels);
    check(Alma::new(3, 0.5).unwrap(), &points, &labels);
    for horizon in [Horizon::Known(120), Horizon::Doubling] {
        check(OnlineMassart::new(3, 0.1, 0.3, horizon).unwrap(), &points, &labels);
    }
    check(OnlineLeakyRelu::new(3, 0.1, 0.3, 120).unwrap(), &points, &labels);
    check(VersionSpace::new(Ellipsoid::new(3).unwrap()), &points, &labels);
    check(VersionSpace::new(VolumetricCentre::new(3).unwrap()), &points, &labels);
    check(VersionSpace::new(CentreOfGravity::new(3, 5).unwrap()), &points, &labels);
    check(VersionSpace::new(HardMargin::new(3).unwrap()), &points, &labels);
    check(BayesPoint::new(3, 5).unwrap(), &points, &labels);
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
    check(Halving::new(HalfspaceClass::new(all(300)).unwrap()).unwrap(), &points, &labels);
    check(Halving::new(GridClass::new(3, 1.0, 1.0, 0.5).unwrap()).unwrap(), &points, &labels);
}

#[test]
fn learners_on_the_cube() {
    let rows: Vec<Vec<f64>> =
        (0..64u32).map(|m| (0..6).map(|i| f64::from(m >> i & 1)).collect()).collect();
    let points = Points::from_rows(&rows).unwrap();
    let labels: Vec<Label> =
        (0..64u32).map(|m| Label::from_sign(f64::from(m & 0b101) - 0.5)).collect();
    check(Winnow::new(6).unwrap(), &points, &labels);
    check(Halving::new(BooleanClass::disjunctions(6).unwrap()).unwrap(), &points, &labels);
    check(Halving::new(BooleanClass::conjunctions(6).unwrap()).unwrap(), &points, &labels);
    check(Halving::new(BooleanClass::decision_lists(6, 2).unwrap()).unwrap(), &points, &labels);
}

#[test]
fn wide_one_hot_rows() {
    let data = Builtin::Mushroom.load().unwrap();
    let rows: Vec<usize> = (0..300).map(|i| i * 17).collect();
    let points = data.points().select(&rows).unwrap();
    let labels: Vec<Label> = rows.iter().map(|i| data.labels()[*i]).collect();
    check(Perceptron::new(98).unwrap(), &points, &labels);
    check(Winnow::new(98).unwrap(), &points, &labels);
    check(SecondOrderPerceptron::new(98, 1.0).unwrap(), &points, &labels);
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
    let modified = ModifiedPerceptron::new(2, 0.1, 1).unwrap();
    refused(tampered(&modified, "sigma", json!(1.5)), |t| {
        serde_json::from_str::<ModifiedPerceptron>(t).is_ok()
    });
    let alma = Alma::new(2, 0.5).unwrap();
    refused(tampered(&alma, "alpha", json!(0.0)), |t| serde_json::from_str::<Alma>(t).is_ok());
    let massart = OnlineMassart::new(2, 0.1, 0.5, Horizon::Doubling).unwrap();
    refused(tampered(&massart, "noise", json!(0.5)), |t| {
        serde_json::from_str::<OnlineMassart>(t).is_ok()
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
    let second = SecondOrderPerceptron::new(2, 1.0).unwrap();
    refused(tampered(&second, "triangle", json!([1.0, 0.0, 0.5])), |t| {
        serde_json::from_str::<SecondOrderPerceptron>(t).is_ok()
    });
    let voted = VotedPerceptron::new(2).unwrap();
    refused(tampered(&voted, "earlier", json!([[[1.0], 3]])), |t| {
        serde_json::from_str::<VotedPerceptron>(t).is_ok()
    });
    let halving = Halving::new(BooleanClass::conjunctions(2).unwrap()).unwrap();
    for alive in [json!([[1, 1]]), json!([[0, 1u64 << 40]]), json!([[0, 1], [0, 1]])] {
        refused(tampered(&halving, "alive", alive), |t| {
            serde_json::from_str::<Halving<BooleanClass<Conjunction>>>(t).is_ok()
        });
    }
    let conjunction = Conjunction::new(2, 1, 0).unwrap();
    refused(tampered(&conjunction, "required", json!(8)), |t| {
        serde_json::from_str::<Conjunction>(t).is_ok()
    });
    let grid = GridClass::new(2, 1.0, 1.0, 0.5).unwrap();
    refused(tampered(&grid, "most", json!(1_000_000_000_000u64)), |t| {
        serde_json::from_str::<GridClass>(t).is_ok()
    });
    let averaged = AveragedPerceptron::new(2).unwrap();
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
    saved_and_loaded(
        &Ddk::params(0.1, 0.4).excess(0.2).check().unwrap().fit(points, labels).unwrap(),
    );
    let dgt = Dgt::params(0.1, 0.4).excess(0.2).max_steps(500).check().unwrap();
    saved_and_loaded(&dgt.fit(points, labels).unwrap());
    let ckmy = Ckmy::params(0.1, 0.4).excess(0.2).max_steps(100).check().unwrap();
    saved_and_loaded(&ckmy.fit(points, labels).unwrap());
    let plane = CuttingPlane::params(0.1, 0.4).excess(0.2).batch(20).check().unwrap();
    saved_and_loaded(&plane.fit(points, labels).unwrap());
    saved_and_loaded(&LinearSvm::params().check().unwrap().fit(points, labels).unwrap());
    let logistic = LogisticRegression::params().check().unwrap();
    saved_and_loaded(&logistic.fit(points, labels).unwrap());
    let sample = SamplePerspectron::params();
    saved_and_loaded(&sample);
    saved_and_loaded(&sample.check().unwrap().fit(points, labels).unwrap());
    let params = Perspectron::params(0.1, 0.4).excess(0.4).failure(0.2);
    saved_and_loaded(&params);
    let search = MarginSearch::new(params).unwrap();
    saved_and_loaded(&search.fit_stream(&mut instance.stream(3)).unwrap());
}

/// Saved and loaded every 211 examples, all through training and choice.
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
fn every_fitting_goes_on_where_it_stopped() {
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
