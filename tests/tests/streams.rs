//! What is drawn for different purposes is independent, though everything be given the same seed.
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

/// Each number that is drawn early by any purpose, in any of its first rounds, is drawn by one of them alone.
#[test]
fn no_two_purposes_share_a_stream() {
    for seed in [0, 1, 7, u64::MAX] {
        let mut drawn: HashMap<u64, (RngStream, u32)> = HashMap::new();
        for stream in RngStream::ALL {
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

/// Purposes differ in the number of their stream only, as ChaCha's authors mean them to be told apart.
#[test]
fn a_purpose_is_the_same_every_time() {
    for stream in RngStream::ALL {
        let first = |mut rng: rand::rngs::ChaCha8Rng| rng.next_u64();
        assert_eq!(first(rng_for(stream, 3)), first(rng_for(stream, 3)));
        assert_eq!(first(rng_for(stream, 3)), first(rng_for_round(stream, 3, 0)));
        assert_ne!(first(rng_for(stream, 3)), first(rng_for(stream, 4)));
    }
}

/// |cos| of the angle between two vectors.
fn alignment(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    dot(a, b).abs() / (dot(a, a) * dot(b, b)).sqrt()
}

/// Vectors of 400 independent coordinates are nearly orthogonal (within 0.25 but with probability 1e-6);
/// vectors made from the same numbers are not.
#[test]
fn learners_do_not_start_where_their_data_come_from() {
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

/// A random order and the shuffled rows of a data set are two permutations.
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

/// Library code makes no generator but through `rng_for` and `rng_for_round`.
#[test]
fn every_draw_of_a_library_names_its_purpose() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let folder = entry.unwrap().path();
        // The suite's own draws are keyed by experiment and trial.
        if !folder.ends_with("experiments") {
            sources(&folder.join("src"), &mut files);
        }
    }
    assert!(files.len() > 50, "{} files found", files.len());
    for file in files {
        // Where streams are numbered; where a trial's generator is keyed by the trial; what only tests use.
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
