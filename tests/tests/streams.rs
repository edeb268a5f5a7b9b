//! Random streams for different purposes are independent, even with the same seed.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::{LabelledPoints, Marginal, Rotation, UnitSphere, random_target};
use halfspaces_linalg::{
    ExampleStream, Halfspace, Label, PointSet, Points, RngStream, RowView, rng_for, rng_for_round,
};
use halfspaces_online::{ModifiedPerceptron, Order, Perceptron, RandomOrder};
use halfspaces_pac::RandomProjection;
use rand::{Rng, RngExt};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The file and the number of each stream that the crates of the workspace define.
fn defined_streams() -> Vec<(PathBuf, u32)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    fs::read_dir(&crates)
        .unwrap()
        .for_each(|entry| sources(&entry.unwrap().path().join("src"), &mut files));
    let mut streams = Vec::new();
    for file in files.into_iter().filter(|file| file.ends_with("src/streams.rs")) {
        let text = fs::read_to_string(&file).unwrap();
        let numbers = text.split("RngStream::new(").skip(1);
        streams.extend(
            numbers.map(|rest| (file.clone(), rest.split(')').next().unwrap().parse().unwrap())),
        );
    }
    streams
}

#[test]
fn no_two_streams_of_the_workspace_share_a_number() {
    let streams = defined_streams();
    assert!(streams.len() >= 30, "{} streams found", streams.len());
    // Number 0 is the stream of callers.
    let mut seen: HashMap<u32, PathBuf> = HashMap::from([(0, "RngStream::CALLER".into())]);
    for (file, number) in streams {
        assert!(number < 1000, "{}: {number}", file.display());
        if let Some(other) = seen.insert(number, file.clone()) {
            panic!("{} and {} share stream {number}", file.display(), other.display());
        }
    }
}

#[test]
fn streams_do_not_overlap() {
    for seed in [0, 1, 7, u64::MAX] {
        let mut drawn: HashMap<u64, (RngStream, u32)> = HashMap::new();
        for stream in (0..100).map(RngStream::new) {
            for round in [0, 1, 2, 1000, u32::MAX] {
                let mut rng = rng_for_round(stream, seed, round);
                for _ in 0..64 {
                    let other = drawn.insert(rng.random(), (stream, round));
                    assert_eq!(other, None, "{stream:?}, round {round}, seed {seed}");
                }
            }
        }
    }
}

#[test]
fn a_stream_is_the_same_every_time() {
    for stream in (0..100).map(RngStream::new) {
        let first = |mut rng: rand::rngs::ChaCha8Rng| rng.next_u64();
        assert_eq!(first(rng_for(stream, 3)), first(rng_for(stream, 3)));
        assert_eq!(first(rng_for(stream, 3)), first(rng_for_round(stream, 3, 0)));
        assert_ne!(first(rng_for(stream, 3)), first(rng_for(stream, 4)));
    }
}

/// The absolute cosine of the angle between two vectors.
fn alignment(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    dot(a, b).abs() / (dot(a, a) * dot(b, b)).sqrt()
}

/// Vectors of 400 independent coordinates are nearly orthogonal: their cosine exceeds 0.25 with probability 1e-6.
/// Vectors drawn from the same random numbers are not nearly orthogonal.
#[test]
fn starts_of_learners_are_independent_of_their_data() {
    const DIM: usize = 400;
    for seed in 0..5 {
        let target = random_target(DIM, seed).unwrap();
        let points = UnitSphere::new(DIM).unwrap().sample(2, seed).unwrap();
        let rotation = Rotation::random(DIM, seed).unwrap();
        let axis =
            Points::new((0..DIM).map(|j| f64::from(u8::from(j == 0))).collect(), DIM).unwrap();
        let turned = rotation.apply(&axis).unwrap();
        let start = ModifiedPerceptron::new(DIM, 0.1, seed).unwrap();
        let projection = RandomProjection::new(DIM, 1, seed).unwrap();
        let row = projection.back(&Halfspace::new(vec![1.0]).unwrap()).unwrap();
        let vectors = [
            ("target", target.normal().to_vec()),
            ("point", points.row(0).unwrap().as_slice().to_vec()),
            ("rotation", turned.as_slice().to_vec()),
            ("start", start.weights().to_vec()),
            ("projection", row.normal().to_vec()),
        ];
        for (i, (name, a)) in vectors.iter().enumerate() {
            for (other, b) in &vectors[..i] {
                let cosine = alignment(a, b);
                assert!(cosine < 0.25, "{name} and {other}, seed {seed}: {cosine}");
            }
        }
    }
}

/// A random order and the shuffled rows of a data set are different permutations.
#[test]
fn orders_and_shuffles_differ() {
    let n = 64;
    let points = Points::new((0..n).map(f64::from).collect(), 1).unwrap();
    let labels = vec![Label::Positive; points.len()];
    for seed in 0..5 {
        let mut shuffled = LabelledPoints::shuffled(&points, &labels, seed).unwrap();
        let mut rows = Vec::new();
        while let Some((x, _)) = shuffled.next_row().unwrap() {
            rows.push(x.dot(&[1.0]) as usize);
        }
        let mut order = RandomOrder::new(seed);
        let learner = Perceptron::new(1).unwrap();
        let mut asked = Vec::new();
        while let Some(index) = order.next(&learner, &points).unwrap() {
            asked.push(index);
        }
        assert_eq!(asked.len(), rows.len());
        let same = asked.iter().zip(&rows).filter(|(a, b)| a == b).count();
        assert!(same < 10, "seed {seed}: {same} of {n} in the same place");
    }
}

/// Libraries create random generators only with `rng_for` and `rng_for_round`.
#[test]
fn every_draw_of_a_library_has_a_stream() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let folder = entry.unwrap().path();
        // The generators of the suite are keyed by experiment and trial.
        if !folder.ends_with("experiments") {
            sources(&folder.join("src"), &mut files);
        }
    }
    assert!(files.len() > 50, "{} files found", files.len());
    for file in files {
        // Exempt: the definition of streams, the generator of a trial, and code used only by tests.
        let exempt = ["contract/rng_stream.rs", "eval/src/trial.rs", "/tests.rs", "/test_data.rs"];
        if exempt.iter().any(|name| file.to_string_lossy().ends_with(name)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        let made = code.lines().filter(|line| !line.trim_start().starts_with("//")).find(|line| {
            ["seed_from_u64(", "from_seed(", "set_stream("].iter().any(|c| line.contains(c))
        });
        assert_eq!(made, None, "{}", file.display());
    }
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
