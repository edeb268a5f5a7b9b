//! What a user does, end to end.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::read::{
    CsvOptions, CsvSchema, CsvStream, LibsvmOptions, LibsvmSchema, LibsvmStream, read_csv,
    read_libsvm, write_csv, write_libsvm,
};
use halfspaces_data::{Builtin, Instance, MarginBall, Rcn, Realizable, random_target};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_forster::{ForsterTransform, Isotropy};
use halfspaces_linalg::{
    Classifier, FitSample, FitStream, Halfspace, Label, Params, PointSet, Points,
};
use halfspaces_online::{
    AsGiven, OnlineLearner, Perceptron, SelfDirectedSession, Session, StrongLearner, label_pool,
    run,
};
use halfspaces_pac::{Fit, LinearSvm, Perspectron};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::path::Path;

fn save<T: Serialize>(path: &Path, value: &T) {
    serde_json::to_writer(File::create(path).unwrap(), value).unwrap();
}

fn load<T: DeserializeOwned>(path: &Path) -> T {
    serde_json::from_reader(File::open(path).unwrap()).unwrap()
}

/// A CSV file larger than memory would be read so: one schema scan, one pass, O(d) memory.
#[test]
fn streaming_a_file_equals_learning_from_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wdbc.csv");
    let data = Builtin::Wdbc.load().unwrap();
    write_csv(File::create(&path).unwrap(), data.points(), data.labels(), data.columns()).unwrap();

    let options = CsvOptions::new();
    let schema = CsvSchema::scan_path(&path, &options).unwrap();
    let mut streamed = Perceptron::new(schema.dim()).unwrap();
    let mut stream = CsvStream::open(&path, schema).unwrap();
    // In two sittings.
    let first = streamed.partial_fit(&mut stream, 100).unwrap();
    let rest = streamed.partial_fit(&mut stream, u64::MAX).unwrap();
    assert_eq!((first.rounds, rest.rounds), (100, data.points().len() as u64 - 100));

    let read = read_csv(&path, &options).unwrap();
    assert_eq!(read.points(), data.points());
    let learner = Perceptron::new(data.dim()).unwrap();
    let (in_memory, transcript) =
        run(learner, read.points(), read.labels(), AsGiven::new()).unwrap();
    assert_eq!(streamed, in_memory);
    assert_eq!(transcript.mistakes() as u64, first.mistakes + rest.mistakes);
}

#[test]
fn libsvm_and_back_plays_the_same_game() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mushroom.svm");
    let data = Builtin::Mushroom.load_sparse().unwrap();
    write_libsvm(File::create(&path).unwrap(), data.points(), data.labels()).unwrap();
    let read = read_libsvm(&path, &LibsvmOptions::new().dim(data.dim())).unwrap();
    assert_eq!(read.points(), data.points());
    assert_eq!(read.labels(), data.labels());

    let schema = LibsvmSchema::declared(&LibsvmOptions::new().dim(data.dim())).unwrap();
    let mut stream = LibsvmStream::open(&path, schema).unwrap();
    let mut streamed = Perceptron::new(data.dim()).unwrap();
    let tally = streamed.partial_fit(&mut stream, u64::MAX).unwrap();
    let learner = Perceptron::new(data.dim()).unwrap();
    let (in_memory, transcript) =
        run(learner, data.points(), data.labels(), AsGiven::new()).unwrap();
    assert_eq!((streamed, tally.mistakes), (in_memory, transcript.mistakes() as u64));
}

/// Label half of a pool by hand, save, come back another day, and end where one sitting ends.
#[test]
fn a_session_saved_half_way_ends_the_same() {
    let points = Builtin::Ionosphere.load().unwrap().into_parts().0;
    let points = ZScore::fit(&points).unwrap().apply(&points).unwrap().lifted();
    let target = random_target(points.dim(), 1).unwrap();
    let pool = Realizable::new(points, target).unwrap();
    let (points, labels) = (pool.points(), pool.labels());
    let learner = || Perceptron::new(points.dim()).unwrap();
    let whole = run(learner(), points, labels, AsGiven::new()).unwrap();

    let mut first = Session::new(learner(), points).unwrap();
    let half = points.len() / 2;
    for (index, truth) in labels.iter().enumerate().take(half) {
        first.ask(index).unwrap();
        first.reveal(*truth).unwrap();
    }
    let saved = serde_json::to_string(first.learner()).unwrap();
    let resumed: Perceptron = serde_json::from_str(&saved).unwrap();
    let mut second = Session::new(resumed, points).unwrap();
    for (index, truth) in labels.iter().enumerate().skip(half) {
        second.ask(index).unwrap();
        second.reveal(*truth).unwrap();
    }
    let (learner, rest) = second.into_parts();
    assert_eq!(learner, whole.0);
    let rounds: Vec<_> = first.transcript().rounds().iter().chain(rest.rounds()).copied().collect();
    assert_eq!(rounds, whole.1.rounds());

    // The transcript is data: saved, reloaded, replayed against a fresh learner.
    let text = serde_json::to_string(&whole.1).unwrap();
    let transcript: halfspaces_online::Transcript = serde_json::from_str(&text).unwrap();
    assert_eq!(transcript.replay(Perceptron::new(points.dim()).unwrap(), points).unwrap(), learner);
    assert!(labels.contains(&Label::Positive) && labels.contains(&Label::Negative));
}

/// From a file to a classifier: scaled by what the pool shows, made round by a Forster transform, labelled
/// with few corrections in two sittings, and turned into a halfspace over the columns of the file.
#[test]
fn a_file_is_labelled_with_few_corrections_and_its_classifier_saved() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let data = Builtin::Wdbc.load().unwrap();
    let csv = File::create(place("wdbc.csv")).unwrap();
    write_csv(csv, data.points(), data.labels(), data.columns()).unwrap();
    let read = read_csv(place("wdbc.csv"), &CsvOptions::new()).unwrap();
    let (known, new): (Vec<usize>, Vec<usize>) = (0..read.len()).partition(|i| i % 4 != 0);
    let pool = read.points().select(&known).unwrap();
    let scale = ZScore::fit(&pool).unwrap();
    let pool = scale.apply(&pool).unwrap().lifted();
    let truth: Vec<Label> = known.iter().map(|i| read.labels()[*i]).collect();

    let fit = ForsterTransform::params().check().unwrap().fit(&pool).unwrap();
    assert!(fit.is_resolved() && fit.transform().inner_dim() == 31);
    let round = fit.transform().apply(&pool).unwrap();
    assert!(Isotropy::measure(&round).unwrap().least() >= 0.5);

    // The answers given are the whole state of a sitting.
    let learner = || StrongLearner::recommended(31, 1).unwrap();
    let whole = label_pool(learner(), &round, &truth).unwrap().1;
    let mut session = SelfDirectedSession::new(learner(), &round).unwrap();
    let mut answers: Vec<(usize, Label)> = vec![];
    for _ in 0..200 {
        let question = session.next().unwrap().unwrap();
        session.reveal(truth[question.index]).unwrap();
        answers.push((question.index, truth[question.index]));
    }
    save(&place("answers.json"), &answers);
    save(&place("transform.json"), fit.transform());
    drop(session);
    let answers: Vec<(usize, Label)> = load(&place("answers.json"));
    let transform: ForsterTransform = load(&place("transform.json"));
    assert_eq!(transform.apply(&pool).unwrap(), round);
    let mut session = SelfDirectedSession::resume(learner(), &round, &answers).unwrap();
    while let Some(question) = session.next().unwrap() {
        session.reveal(truth[question.index]).unwrap();
    }
    assert_eq!(session.transcript(), &whole);
    assert_eq!(session.progress().labelled, pool.len());
    // About one correction for every ten points, where no halfspace fits all.
    assert!(whole.mistakes() * 10 <= pool.len(), "{}", whole.mistakes());

    // A halfspace over the transformed points, brought back to the file's own.
    let svm = LinearSvm::params().intercept(false).check().unwrap();
    let inside = svm.fit(&round, &truth).unwrap().halfspace().linear().clone();
    save(&place("halfspace.json"), &transform.halfspace_outside(&inside).unwrap());
    let outside: Halfspace = load(&place("halfspace.json"));
    let new_points = read.points().select(&new).unwrap();
    let new_points = scale.apply(&new_points).unwrap().lifted();
    let predicted = outside.label_all(&new_points).unwrap();
    assert_eq!(predicted, inside.label_all(&transform.apply(&new_points).unwrap()).unwrap());
    let wrong = new.iter().zip(&predicted).filter(|(i, y)| read.labels()[**i] != **y).count();
    assert!(wrong * 12 < new.len(), "{wrong} of {}", new.len());
}

/// A stream read from a file, a Perspectron, a model in a file: the same predictions after loading it.
#[test]
fn a_model_file_predicts_as_the_model_did() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let target = random_target(5, 1).unwrap();
    let ball = MarginBall::new(&target, 0.4).unwrap();
    let instance = Instance::new(ball, target.clone(), Rcn::new(0.1).unwrap()).unwrap();
    let learner = Perspectron::params(0.1, 0.4).excess(0.3).failure(0.1).check().unwrap();
    let examples = learner.plan().examples() as usize;
    let (points, labels) = instance.sample(examples, 2).unwrap();
    let csv = File::create(place("noisy.csv")).unwrap();
    write_csv(csv, &points, &labels, &[]).unwrap();

    let schema = CsvSchema::scan_path(place("noisy.csv"), &CsvOptions::new()).unwrap();
    let mut stream = CsvStream::open(place("noisy.csv"), schema).unwrap();
    let fit = learner.fit_stream(&mut stream).unwrap();
    save(&place("model.json"), &fit);
    let loaded: Fit = load(&place("model.json"));
    assert_eq!(loaded.termination(), fit.termination());
    let new: Points = instance.sample(2000, 3).unwrap().0;
    let labels_of =
        |fit: &Fit| -> Vec<Label> { new.rows().map(|x| fit.label(x).unwrap()).collect() };
    assert_eq!(labels_of(&loaded), labels_of(&fit));
    let truth = target.label_all(&new).unwrap();
    let wrong = labels_of(&loaded).iter().zip(&truth).filter(|(a, b)| a != b).count();
    assert!(wrong < 400, "{wrong}");
}
