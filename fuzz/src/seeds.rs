//! The seeds from which fuzzing starts: one value of each saved kind, as the program itself saves it, a session of each
//! self-directed learner, and the files of a run.

use super::{SAVED, rows};
use halfspaces_data::{
    Builtin, Link, MarginBall, Marginal, Massart, Region, StandardLink, UnitSphere, random_target,
};
use halfspaces_features::{FeatureMap, KernelValues, RadialKernel, Ranks, ZScore};
use halfspaces_forster::ForsterTransform;
use halfspaces_labelling::{
    Anchoring, Event, Header, ItemIds, ItemKey, ItemSpec, PoolId, Record, journal_text,
};
use halfspaces_linalg::{
    AffineHalfspace, Classifier, FitSample, Label, Params, PointSet, Points, SparsePoints, Threads,
};
use halfspaces_online::{
    Aggressiveness, AsGiven, AveragedPerceptron, ChainLength, Ellipsoid, Greedy, HardMargin,
    Kernel, KernelPerceptron, Labelling, OnlineLearner, PassiveAggressive, Perceptron,
    SampledGreedy, SelfDirectedLearner, StrongLearner, TwoChains, VersionSpaceGreedy,
    VolumetricCentre, label_pool, run,
};
use halfspaces_pac::{
    Calibration, Elimination, ErrorCount, Fitting, GlmPerspectron, LinearSvm, LogisticRegression,
    OneVsRest, Perspectron, PositionedMassart, Projected, RandomProjection, SamplePerspectron,
};
use halfspaces_tables::TableClassifier;
use serde::Serialize;
use serde_json::{Value, json};
use std::error::Error;

/// A file of the corpus, given by its target, its name and its contents.
pub type Seed = (&'static str, String, Vec<u8>);

/// A session with every kind of event, once with checksums and once without.
///
/// # Errors
/// Fails only if the libraries have changed.
pub fn journals() -> Result<Vec<Seed>, Box<dyn Error>> {
    let pool = |keys: &[&str]| {
        let by = ItemSpec { columns: vec!["x".into()], ..ItemSpec::default() };
        let keys: Vec<ItemKey> = keys.iter().map(|key| ItemKey::of_text(key)).collect();
        let contents = keys.clone();
        PoolId::new("pool.csv", 1, ItemIds { by, table: "00".into(), keys, contents, cells: None })
    };
    let classes = ["a", "b"].map(str::to_owned).to_vec();
    let header = Header::new(pool(&["p", "q", "q", "r"]), classes, 7);
    let mut record = Record::new(&header);
    let (class, predicted) = ("a".to_owned(), "b".to_owned());
    let (probability, to_come) = (0.75, Some(3.5));
    let answer = |row, class: &str| Event::Answer {
        row,
        class: class.to_owned(),
        predicted: predicted.clone(),
        probability,
        to_come,
    };
    let mut events = vec![
        Event::Known { labels: vec![(3, class.clone())] },
        answer(0, "a"),
        Event::Skip { row: 1, predicted: predicted.clone(), probability: 0.5 },
        answer(2, "b"),
        Event::Undo { row: 2 },
        Event::Change { row: 0, class: predicted.clone() },
    ];
    events.drain(..).try_for_each(|event| record.take(event))?;
    let anchoring = Anchoring::find(&record, &pool(&["s", "r", "q", "p"]));
    let event = anchoring.ok_or("the pool has keys")?.event(pool(&["s", "r", "q", "p"]));
    record.take(event)?;
    record.take(answer(0, "b"))?;
    let text = journal_text(&header, &record);
    let cut = text.as_bytes()[..text.len() - 9].to_vec();
    let plain = super::unsigned(&text);
    Ok(vec![
        ("journal", "signed".into(), text.into_bytes()),
        ("journal", "cut".into(), cut),
        ("journal", "unsigned".into(), plain.into_bytes()),
    ])
}

/// The seeds of the targets that read JSON.
///
/// # Errors
/// Fails only if the libraries have changed.
pub fn seeds() -> Result<Vec<Seed>, Box<dyn Error>> {
    let mut all = vec![];
    for (name, value) in saved()? {
        all.push(("saved", name.to_owned(), format!("{name}\n{value}").into_bytes()));
    }
    all.extend(sittings()?);
    let trial = |index: u64, outcome: Value| json!({"experiment": "K3", "configuration": {"d": 10}, "seed": 1, "index": index, "outcome": outcome});
    let lines =
        format!("trials\n{}\n   \n{}\n", trial(0, json!({"mistakes": 7})), trial(1, json!([1.5])));
    all.push(("trials", "trials".into(), lines.clone().into_bytes()));
    all.push(("trials", "cut".into(), lines.as_bytes()[..lines.len() - 9].to_vec()));
    let claims = json!([{
        "id": "K3", "statement": "few mistakes", "source": "Kakade", "experiment": "K3", "verdict": "holds",
        "trials": 5, "fewest": 5, "tests": 1, "quantity": "mistakes", "measured": null, "bound": 1.0, "detail": "",
        "kind": "proved", "null": "a coin", "null_failures": 3, "null_cases": 5, "slack": 1.5, "far": null,
    }]);
    all.push(("trials", "claims".into(), format!("claims\n{claims}").into_bytes()));
    let run = json!({
        "schema": 1, "version": "0.1.0", "scale": "smoke", "seed": 1, "data_sets": [], "options": [],
        "host": {"os": "linux", "arch": "x86_64", "processor": "", "cores": 2},
        "experiments": [{"id": "K3", "seconds": 0.5, "trials": 5}], "outputs": ["tables/a.csv"],
    });
    all.push(("trials", "run".into(), format!("run\n{run}").into_bytes()));
    Ok(all)
}

fn value<T: Serialize>(value: &T) -> Result<Value, serde_json::Error> {
    serde_json::to_value(value)
}

/// The saved state of a learner that has seen these points.
fn taught<L: OnlineLearner + Serialize>(
    mut learner: L,
    points: &Points,
    labels: &[Label],
) -> Result<Value, Box<dyn Error>> {
    for (x, y) in points.rows().zip(labels) {
        learner.observe(x, *y)?;
    }
    Ok(value(&learner)?)
}

fn saved() -> Result<Vec<(&'static str, Value)>, Box<dyn Error>> {
    let target = random_target(2, 1)?;
    let ball = MarginBall::new(&target, 0.3)?;
    let points = ball.sample(12, 2)?;
    let labels = target.label_all(&points)?;
    let cube = Points::from_rows(&[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])?;
    let noise = Massart::new(0.1, Region::Side(target.clone()))?;
    let instance = halfspaces_data::Instance::new(ball, target.clone(), noise)?;
    let (noisy, noisy_labels) = instance.sample(60, 3)?;
    let classes: Vec<usize> =
        noisy_labels.iter().map(|y| usize::from(*y == Label::Positive)).collect();
    let names: Vec<u8> = classes.iter().map(|class| 10 + *class as u8).collect();
    let (more, more_labels) = instance.sample(400, 5)?;
    let positioned = PositionedMassart::params(0.3).check()?.fit(&more, &more_labels)?;
    let svms = LinearSvm::params().check()?;
    let gaussian = KernelPerceptron::new(2, Kernel::Gaussian { scale: 1.0 })?.with_budget(3)?;
    let solver = ForsterTransform::params().check()?;
    let sphere = UnitSphere::new(2)?.sample(12, 4)?;
    let params = Perspectron::params(0.1, 0.3).excess(0.45).failure(0.4);
    let link = StandardLink::clipped(2.0)?;
    assert!(link.value(0.5) > 0.0);
    let glm = GlmPerspectron::params(link, 0.5).excess(0.9).failure(0.4);
    let mut fitting = params.check()?.start(2)?;
    let mut glm_fitting: Fitting<StandardLink> = glm.check()?.start(2)?;
    for (x, y) in noisy.rows().zip(&noisy_labels) {
        fitting.observe(x, *y)?;
        glm_fitting.observe(x, *y)?;
    }
    // This fit is in the middle of choosing among its candidates, after a check.
    let choosing =
        Perspectron::params(0.1, 0.6).excess(0.3).failure(0.4).elimination(Elimination::EarlyStop);
    let mut choosing_fit = choosing.check()?.start(2)?;
    let examples = choosing.check()?.plan().training() + 200;
    for (x, y) in instance.sample(examples as usize, 5)?.0.rows().zip(noisy_labels.iter().cycle()) {
        choosing_fit.observe(x, *y)?;
    }
    let svm = LinearSvm::params().check()?;
    let projection = RandomProjection::new(2, 3, 5)?;
    let projected = Projected::new(projection, svm);
    let mut labelling = Labelling::params(2).check()?.session(&rows(2))?;
    labelling.tell(&[(0, 1)])?;
    for class in [0, 1] {
        labelling.next();
        labelling.answer(class)?;
    }
    labelling.next();
    labelling.skip()?;
    let transcript = run(Perceptron::new(2)?, &points, &labels, AsGiven::new())?.1;
    Ok(vec![
        ("Points", value(&points)?),
        ("SparsePoints", value(&SparsePoints::from_dense(&cube)?)?),
        ("Halfspace", value(&target)?),
        ("AffineHalfspace", value(&AffineHalfspace::new(vec![1.0, -2.0], 0.5)?)?),
        ("ZScore", value(&ZScore::fit(&points)?)?),
        ("Ranks", value(&Ranks::fit(&cube)?)?),
        ("KernelValues", value(&KernelValues::new(cube.clone(), RadialKernel::laplacian(2.0)?)?)?),
        ("BinaryTableModel", value(&TableClassifier::params().check()?.fit(&points, &labels)?)?),
        (
            "MulticlassTableModel",
            value(&TableClassifier::params().check()?.fit_classes(&noisy, &names)?)?,
        ),
        ("OneVsRestModel", value(&OneVsRest::new(svms).fit(&noisy, &classes, Threads::ONE)?)?),
        ("PositionedDecisionList", value(positioned.list())?),
        ("PositionedFit", value(&positioned)?),
        ("StandardLink", value(&StandardLink::staircase(4, 0.8)?)?),
        ("Perceptron", taught(Perceptron::new(2)?, &points, &labels)?),
        ("AveragedPerceptron", taught(AveragedPerceptron::new(2)?, &points, &labels)?),
        (
            "PassiveAggressive",
            taught(PassiveAggressive::new(2, Aggressiveness::Capped(0.5))?, &points, &labels)?,
        ),
        ("KernelPerceptron", taught(gaussian, &points, &labels)?),
        ("LabellingFile", value(&labelling.file())?),
        ("Transcript", value(&transcript)?),
        ("ForsterTransform", value(solver.fit(&sphere)?.transform())?),
        ("Fitting", value(&fitting)?),
        ("FittingThatChooses", value(&choosing_fit)?),
        ("GlmFitting", value(&glm_fitting)?),
        ("Fit", value(&fitting.finish()?)?),
        ("SampleFit", value(&SamplePerspectron::params().check()?.fit(&noisy, &noisy_labels)?)?),
        ("RandomProjection", value(&projection)?),
        ("ProjectedFit", value(&projected.fit(&points, &labels)?)?),
        ("Calibration", value(&Calibration::new(1.5, 2.5, 1.25, 0.1, 1.75)?)?),
        ("ErrorCount", value(&ErrorCount::count(&target, &noisy, &noisy_labels)?)?),
        ("LogisticFit", value(&LogisticRegression::params().check()?.fit(&noisy, &noisy_labels)?)?),
        ("SvmFit", value(&svm.fit(&noisy, &noisy_labels)?)?),
    ])
}

/// The first half of a session of each self-directed learner.
fn sittings() -> Result<Vec<Seed>, Box<dyn Error>> {
    let points = Builtin::Wdbc.load()?.into_parts().0;
    let points = ZScore::fit(&points)?.apply(&points)?;
    let rows: Vec<[f64; 3]> =
        points.rows().take(16).map(|x| [x.as_slice()[0], x.as_slice()[1], 1.0]).collect();
    let points = Points::from_rows(&rows)?;
    let labels = random_target(3, 1)?.label_all(&points)?;
    let length = ChainLength::Practical { factor: 2.0 };
    let mut all = vec![];
    let mut add = |name: &str, answers: Vec<(usize, Label)>| -> Result<(), Box<dyn Error>> {
        let sitting = json!({"points": points, "answers": answers, "seed": 5, "length": length});
        all.push(("session", name.to_owned(), format!("{name}\n{sitting}").into_bytes()));
        Ok(())
    };
    add("Greedy", half(Greedy::new(3)?, &points, &labels)?)?;
    add("TwoChains", half(TwoChains::new(3, length, 5)?, &points, &labels)?)?;
    add("StrongLearner", half(StrongLearner::recommended(3, 5)?, &points, &labels)?)?;
    add("SampledGreedy", half(SampledGreedy::new(3, 5)?, &points, &labels)?)?;
    add("Ellipsoid", half(VersionSpaceGreedy::new(Ellipsoid::new(3)?), &points, &labels)?)?;
    add(
        "VolumetricCentre",
        half(VersionSpaceGreedy::new(VolumetricCentre::new(3)?), &points, &labels)?,
    )?;
    add("HardMargin", half(VersionSpaceGreedy::new(HardMargin::new(3)?), &points, &labels)?)?;
    Ok(all)
}

fn half<L: SelfDirectedLearner>(
    learner: L,
    points: &Points,
    labels: &[Label],
) -> Result<Vec<(usize, Label)>, Box<dyn Error>> {
    let (_, transcript) = label_pool(learner, points, labels)?;
    let rounds = transcript.rounds();
    Ok(rounds[..rounds.len() / 2].iter().map(|round| (round.index, round.truth)).collect())
}

/// Saved values that no run can have written and that must be refused. Each is given by its kind and by changes to the
/// seed of this kind, which map a place in the seed to a new value.
#[must_use]
pub fn impossible() -> Vec<(&'static str, Value)> {
    vec![
        ("AveragedPerceptron", json!({"/rounds": u64::MAX})),
        ("Perceptron", json!({"/updates": u64::MAX})),
        ("Fitting", json!({"/reservoir/draw/draws": u64::MAX})),
        ("FittingThatChooses", json!({"/selector/stopped": true, "/selector/seen": 0})),
        ("FittingThatChooses", json!({"/selector/layers/0/depth": 1})),
        ("FittingThatChooses", json!({"/selector/deferred": []})),
        ("Fit", json!({"/remaining": 1_000_000})),
    ]
}

/// The file of the corpus that results if the changes for one of the [`impossible`] values are applied to the seed of
/// its kind.
///
/// # Errors
/// Fails like [`seeds`], and also if a place does not exist in the seed.
pub fn broken(kind: &str, changes: &Value) -> Result<Vec<u8>, Box<dyn Error>> {
    let seeds = saved()?;
    let (_, seed) = seeds.iter().find(|(name, _)| *name == kind).ok_or("no seed")?;
    let mut broken = seed.clone();
    for (place, value) in changes.as_object().ok_or("no changes")? {
        *broken.pointer_mut(place).ok_or_else(|| format!("{kind}: no {place}"))? = value.clone();
    }
    Ok(format!("{kind}\n{broken}").into_bytes())
}

/// Kinds of saved values that have no seed.
///
/// # Errors
/// Fails like [`seeds`].
pub fn kinds_without_a_seed() -> Result<Vec<&'static str>, Box<dyn Error>> {
    let known = saved()?;
    Ok(SAVED
        .iter()
        .map(|(kind, _)| *kind)
        .filter(|kind| known.iter().all(|(name, _)| name != kind))
        .collect())
}
