//! What a user does, end to end.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::read::{
    CsvOptions, CsvSchema, CsvStream, LibsvmOptions, read_csv, read_libsvm, write_csv, write_libsvm,
};
use halfspaces_data::{Builtin, Realizable, ZScore, random_target};
use halfspaces_linalg::{Label, PointSet};
use halfspaces_online::{AsGiven, OnlineLearner, Perceptron, Session, run};
use std::fs::File;

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
