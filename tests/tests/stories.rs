//! End-to-end tests of typical uses.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::{
    Builtin, Instance, MarginBall, Rcn, Realizable, random_target, write_csv, write_libsvm,
};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_forster::{ForsterTransform, Isotropy};
use halfspaces_frame::{Hints, LargeTable, ReadOptions, read};
use halfspaces_linalg::{
    Classifier, FitSample, FitStream, Halfspace, Label, Params, PointSet, Points,
};
use halfspaces_online::{
    AsGiven, OnlineLearner, Perceptron, SelfDirectedSession, Session, StrongLearner, label_pool,
    run,
};
use halfspaces_pac::{Fit, LinearSvm, Perspectron};
use halfspaces_pipeline::{Design, Examples, LabelledTable, RecipeOptions};
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

fn options() -> RecipeOptions {
    // Some data sets have a constant column.
    RecipeOptions { keep_constant: true, ..RecipeOptions::default() }
}

/// Reads a whole table with labels in the column `label`.
fn whole(path: &Path) -> LabelledTable {
    let frame = read(path, &ReadOptions::default(), &Hints::default()).unwrap();
    LabelledTable::new(frame, "label", None, &options()).unwrap()
}

/// Opens a table that is read in chunks; also returns its first rows.
fn in_parts(path: &Path) -> (LargeTable, LabelledTable) {
    let table = LargeTable::open(path, &ReadOptions::default(), Hints::default()).unwrap();
    let rows: Vec<u64> = (0..10_000).collect();
    let first = LabelledTable::new(table.rows(&rows).unwrap(), "label", None, &options()).unwrap();
    (table, first)
}

fn dense(table: &LabelledTable) -> &Points {
    let Design::Dense(points) = &table.points else { unreachable!("few columns are dense") };
    points
}

/// Reads a CSV file in the same way as one that is larger than memory: the first rows, then one pass in chunks.
#[test]
fn streaming_a_file_equals_learning_from_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wdbc.csv");
    let data = Builtin::Wdbc.load().unwrap();
    write_csv(File::create(&path).unwrap(), data.points(), data.labels(), data.columns()).unwrap();

    let (table, start) = in_parts(&path);
    let mut streamed = Perceptron::new(start.recipe.dim()).unwrap();
    let ((first, rest), notes) = table
        .in_chunks(&start.hints(), 50, |parts| {
            let mut batches = parts.map(|part| {
                let (points, labels) = start.apply(part?)?;
                Ok((points.into_dense()?, labels))
            });
            let mut stream = Examples::new(start.recipe.dim(), &mut batches);
            // The pass is interrupted once.
            let first = streamed.partial_fit(&mut stream, 120)?;
            let rest = streamed.partial_fit(&mut stream, u64::MAX)?;
            Ok::<_, Box<dyn std::error::Error>>((first, rest))
        })
        .unwrap();
    assert_eq!((first.rounds, rest.rounds), (120, data.points().len() as u64 - 120));
    assert_eq!(notes, [""; 0]);

    let read = whole(&path);
    assert_eq!((dense(&read), &read.labels[..]), (data.points(), data.labels()));
    let learner = Perceptron::new(data.dim()).unwrap();
    let (in_memory, transcript) = run(learner, dense(&read), &read.labels, AsGiven::new()).unwrap();
    assert_eq!(streamed, in_memory);
    assert_eq!(transcript.mistakes() as u64, first.mistakes + rest.mistakes);
}

#[test]
fn libsvm_and_back_plays_the_same_game() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mushroom.svm");
    let data = Builtin::Mushroom.load_sparse().unwrap();
    write_libsvm(File::create(&path).unwrap(), data.points(), data.labels()).unwrap();
    let read = whole(&path);
    // Columns are named by their numbers, counted from 1; the constant column is ignored.
    let names = read.recipe.coordinates();
    assert_eq!(names.len(), data.dim() - 1);
    let place = |column: usize| names.iter().position(|name| *name == (column + 1).to_string());
    let places: Vec<u32> =
        (0..data.dim()).map(|column| place(column).map_or(u32::MAX, |at| at as u32)).collect();
    let changing = data.points().clone().into_columns(&places, names.len()).unwrap();
    assert_eq!(dense(&read), &changing.to_dense().unwrap());
    assert_eq!(read.labels, data.labels());

    let (table, start) = in_parts(&path);
    let mut streamed = Perceptron::new(names.len()).unwrap();
    let (tally, _) = table
        .in_chunks(&start.hints(), 1000, |parts| {
            let mut batches = parts.map(|part| {
                let (points, labels) = start.apply(part?)?;
                Ok((points.into_dense()?, labels))
            });
            let mut stream = Examples::new(start.recipe.dim(), &mut batches);
            Ok::<_, Box<dyn std::error::Error>>(streamed.partial_fit(&mut stream, u64::MAX)?)
        })
        .unwrap();
    let learner = Perceptron::new(names.len()).unwrap();
    let (in_memory, transcript) = run(learner, &changing, data.labels(), AsGiven::new()).unwrap();
    assert_eq!((streamed, tally.mistakes), (in_memory, transcript.mistakes() as u64));
}

/// A session that is saved half-way and resumed ends like an uninterrupted one.
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
        first.answer(*truth).unwrap();
    }
    let saved = serde_json::to_string(first.learner()).unwrap();
    let resumed: Perceptron = serde_json::from_str(&saved).unwrap();
    let mut second = Session::new(resumed, points).unwrap();
    for (index, truth) in labels.iter().enumerate().skip(half) {
        second.ask(index).unwrap();
        second.answer(*truth).unwrap();
    }
    let (learner, rest) = second.into_parts();
    assert_eq!(learner, whole.0);
    let rounds: Vec<_> = first.transcript().rounds().iter().chain(rest.rounds()).copied().collect();
    assert_eq!(rounds, whole.1.rounds());

    // The transcript can be saved, loaded, and replayed against a fresh learner.
    let text = serde_json::to_string(&whole.1).unwrap();
    let transcript: halfspaces_online::Transcript = serde_json::from_str(&text).unwrap();
    assert_eq!(transcript.replay(Perceptron::new(points.dim()).unwrap(), points).unwrap(), learner);
    assert!(labels.contains(&Label::Positive) && labels.contains(&Label::Negative));
}

/// From a file to a classifier: the pool is standardised, brought into isotropic position by a Forster transform, and
/// labelled with few corrections in two runs; then the classifier is mapped back to the columns of the file.
#[test]
fn a_file_is_labelled_with_few_corrections_and_its_classifier_saved() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let data = Builtin::Wdbc.load().unwrap();
    let csv = File::create(place("wdbc.csv")).unwrap();
    write_csv(csv, data.points(), data.labels(), data.columns()).unwrap();
    let read = whole(&place("wdbc.csv"));
    let (known, new): (Vec<usize>, Vec<usize>) = (0..read.labels.len()).partition(|i| i % 4 != 0);
    let pool = dense(&read).select(&known).unwrap();
    let scale = ZScore::fit(&pool).unwrap();
    let pool = scale.apply(&pool).unwrap().lifted();
    let truth: Vec<Label> = known.iter().map(|i| read.labels[*i]).collect();

    let fit = ForsterTransform::params().check().unwrap().fit(&pool).unwrap();
    assert!(fit.is_resolved() && fit.transform().inner_dim() == 31);
    let round = fit.transform().apply(&pool).unwrap();
    assert!(Isotropy::measure(&round).unwrap().least() >= 0.5);

    // A session is completely determined by its answers.
    let learner = || StrongLearner::recommended(31, 1).unwrap();
    let whole = label_pool(learner(), &round, &truth).unwrap().1;
    let mut session = SelfDirectedSession::new(learner(), &round).unwrap();
    let mut answers: Vec<(usize, Label)> = vec![];
    for _ in 0..200 {
        let question = session.next().unwrap().unwrap();
        session.answer(truth[question.index]).unwrap();
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
        session.answer(truth[question.index]).unwrap();
    }
    assert_eq!(session.transcript(), &whole);
    assert_eq!(session.progress().labelled, pool.len());
    // There is at most one correction for every ten points, although no halfspace fits all of them.
    assert!(whole.mistakes() * 10 <= pool.len(), "{}", whole.mistakes());

    // A halfspace over the transformed points is mapped back to the points of the file.
    let svm = LinearSvm::params().intercept(false).check().unwrap();
    let inside = svm.fit(&round, &truth).unwrap().halfspace().linear().clone();
    save(&place("halfspace.json"), &transform.halfspace_outside(&inside).unwrap());
    let outside: Halfspace = load(&place("halfspace.json"));
    let new_points = dense(&read).select(&new).unwrap();
    let new_points = scale.apply(&new_points).unwrap().lifted();
    let predicted = outside.label_all(&new_points).unwrap();
    assert_eq!(predicted, inside.label_all(&transform.apply(&new_points).unwrap()).unwrap());
    let wrong = new.iter().zip(&predicted).filter(|(i, y)| read.labels[**i] != **y).count();
    assert!(wrong * 12 < new.len(), "{wrong} of {}", new.len());
}

/// A Perspectron fitted to a stream from a file predicts the same after it is saved and loaded.
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
    let names: Vec<String> = (1..6).map(|j| format!("x{j}")).collect();
    write_csv(csv, &points, &labels, &names).unwrap();

    let (table, start) = in_parts(&place("noisy.csv"));
    let (fit, _) = table
        .in_chunks(&start.hints(), 4096, |parts| {
            let mut batches = parts.map(|part| {
                let (points, labels) = start.apply(part?)?;
                Ok((points.into_dense()?, labels))
            });
            let mut stream = Examples::new(start.recipe.dim(), &mut batches);
            Ok::<_, Box<dyn std::error::Error>>(learner.fit_stream(&mut stream)?)
        })
        .unwrap();
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
