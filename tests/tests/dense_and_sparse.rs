//! Dense and sparse forms of the same data give identical runs: bit-identical transcripts, the same weights, and the
//! same batch fits.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::Builtin;
use halfspaces_linalg::{FitSample, Label, Params, PointSet, Points, SparsePoints};
use halfspaces_online::{
    AsGiven, BatchPerceptron, ChainLength, Ellipsoid, Greedy, HardMargin, MarginPerceptron,
    OnlineLearner, Perceptron, Pick, RandomOrder, SampledGreedy, SelfDirectedLearner,
    SmallestMarginMistake, StrongLearner, TwoChains, VersionSpaceGreedy, VolumetricCentre,
    label_pool, run,
};
use halfspaces_pac::{
    Ckmy, CuttingPlane, Ddk, Dgt, LinearSvm, LogisticRegression, RandomProjection,
    SamplePerspectron,
};
use proptest::prelude::*;

fn same_runs(dense: &Points, labels: &[Label], seed: u64) {
    let sparse = SparsePoints::from_dense(dense).unwrap();
    let d = dense.dim();
    let learner = || Perceptron::new(d).unwrap();

    let given = run(learner(), dense, labels, AsGiven::new()).unwrap();
    assert_eq!(given, run(learner(), &sparse, labels, AsGiven::new()).unwrap());
    let random = run(learner(), dense, labels, RandomOrder::new(seed)).unwrap();
    assert_eq!(random, run(learner(), &sparse, labels, RandomOrder::new(seed)).unwrap());
    let adversary = || SmallestMarginMistake::new(labels.to_vec());
    let against = run(learner(), dense, labels, adversary()).unwrap();
    assert_eq!(against, run(learner(), &sparse, labels, adversary()).unwrap());

    // If only labels are requested, sums may be computed in another order; nothing else changes.
    let mut watched = learner();
    let mut dense_only = learner();
    let mut sparse_only = learner();
    for ((x, row), y) in dense.rows().zip(sparse.rows()).zip(labels) {
        let label = watched.observe(x, *y).unwrap().label;
        assert_eq!(dense_only.learn(x, *y).unwrap().label, label);
        assert_eq!(sparse_only.learn(row, *y).unwrap().label, label);
    }
    assert_eq!(watched, dense_only);
    assert_eq!(watched, sparse_only);

    for pick in [Pick::Cyclic, Pick::First, Pick::Worst] {
        let batch = BatchPerceptron::params().pick(pick).max_updates(300).check().unwrap();
        assert_eq!(batch.fit(dense, labels), batch.fit(&sparse, labels));
        let margin = MarginPerceptron::params().pick(pick).max_updates(300).check().unwrap();
        assert_eq!(margin.fit(dense, labels), margin.fit(&sparse, labels));
    }
}

/// A self-directed learner plays the same session on both forms.
fn same_session<L: SelfDirectedLearner + Clone>(learner: L, dense: &Points, labels: &[Label]) {
    let sparse = SparsePoints::from_dense(dense).unwrap();
    let on_dense = label_pool(learner.clone(), dense, labels).map(|(_, played)| played);
    assert_eq!(on_dense, label_pool(learner, &sparse, labels).map(|(_, played)| played));
}

fn same_sessions(dense: &Points, labels: &[Label], seed: u64) {
    let d = dense.dim();
    same_session(Greedy::new(d).unwrap(), dense, labels);
    same_session(TwoChains::new(d, ChainLength::Fixed(3), seed).unwrap(), dense, labels);
    same_session(StrongLearner::recommended(d, seed).unwrap(), dense, labels);
    same_session(SampledGreedy::new(d, seed).unwrap(), dense, labels);
    same_session(VersionSpaceGreedy::new(Ellipsoid::new(d).unwrap()), dense, labels);
    same_session(VersionSpaceGreedy::new(VolumetricCentre::new(d).unwrap()), dense, labels);
    same_session(VersionSpaceGreedy::new(HardMargin::new(d).unwrap()), dense, labels);
}

/// Every batch learner fits the same model to both forms, or fails on both with the same error.
fn same_fits(dense: &Points, labels: &[Label]) {
    let sparse = SparsePoints::from_dense(dense).unwrap();
    let ddk = Ddk::params(0.1, 0.2).excess(0.2).max_steps(200).check().unwrap();
    assert_eq!(ddk.fit(dense, labels), ddk.fit(&sparse, labels));
    let dgt = Dgt::params(0.1, 0.2).excess(0.2).max_steps(200).check().unwrap();
    assert_eq!(dgt.fit(dense, labels), dgt.fit(&sparse, labels));
    let ckmy = Ckmy::params(0.1, 0.2).excess(0.2).max_steps(50).check().unwrap();
    assert_eq!(ckmy.fit(dense, labels), ckmy.fit(&sparse, labels));
    let plane = CuttingPlane::params(0.1, 0.2).excess(0.2).batch(10).check().unwrap();
    let on_dense = plane.fit(dense, labels).map_err(|e| e.to_string());
    assert_eq!(on_dense, plane.fit(&sparse, labels).map_err(|e| e.to_string()));
    let svm = LinearSvm::params().check().unwrap();
    assert_eq!(svm.fit(dense, labels), svm.fit(&sparse, labels));
    let logistic = LogisticRegression::params().check().unwrap();
    assert_eq!(logistic.fit(dense, labels), logistic.fit(&sparse, labels));
    let sample = SamplePerspectron::params().check().unwrap();
    assert_eq!(sample.fit(dense, labels), sample.fit(&sparse, labels));
    let projection = RandomProjection::new(dense.dim(), 3, 1).unwrap();
    assert_eq!(projection.apply(dense), projection.apply(&sparse));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn whole_pools_and_samples(
        rows in prop::collection::vec(prop::collection::vec((any::<bool>(), -1.0..1.0f64), 4), 12..40),
        flipped in 0usize..12,
        seed in any::<u64>(),
    ) {
        let rows: Vec<Vec<f64>> = rows
            .into_iter()
            .map(|row| row.into_iter().map(|(keep, v)| if keep { v / 2.0 } else { 0.0 }).collect())
            .collect();
        let points = Points::from_rows(&rows).unwrap();
        // In half of the cases a label contradicts every halfspace.
        let mut labels: Vec<Label> =
            rows.iter().map(|row| Label::from_sign(row[0] + 0.3 * row[1] - 0.2 * row[3])).collect();
        if flipped % 2 == 1 {
            labels[flipped] = -labels[flipped];
        }
        same_sessions(&points, &labels, seed);
        same_fits(&points, &labels);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With small integers many margins are exactly zero, so any difference in rounding would change a prediction.
    #[test]
    fn on_integer_data(
        rows in prop::collection::vec((prop::collection::vec(-2i8..=2, 11), any::<bool>()), 1..60),
        seed in any::<u64>(),
    ) {
        let (rows, labels): (Vec<Vec<f64>>, Vec<Label>) = rows
            .into_iter()
            .map(|(row, positive)| {
                let row = row.into_iter().map(f64::from).collect();
                (row, if positive { Label::Positive } else { Label::Negative })
            })
            .unzip();
        same_runs(&Points::from_rows(&rows).unwrap(), &labels, seed);
    }

    #[test]
    fn on_real_numbers_with_holes(
        rows in prop::collection::vec(
            (prop::collection::vec((any::<bool>(), -1e3..1e3f64), 19), any::<bool>()), 1..60),
        seed in any::<u64>(),
    ) {
        let (rows, labels): (Vec<Vec<f64>>, Vec<Label>) = rows
            .into_iter()
            .map(|(row, positive)| {
                let row = row.into_iter().map(|(keep, v)| if keep { v } else { 0.0 }).collect();
                (row, if positive { Label::Positive } else { Label::Negative })
            })
            .unzip();
        same_runs(&Points::from_rows(&rows).unwrap(), &labels, seed);
    }
}

#[test]
fn on_one_hot_mushrooms_read_both_ways() {
    let dense = Builtin::Mushroom.load().unwrap();
    let sparse = Builtin::Mushroom.load_sparse().unwrap();
    assert_eq!(dense.labels(), sparse.labels());
    assert_eq!(&sparse.points().to_dense().unwrap(), dense.points());
    let learner = || Perceptron::new(dense.dim()).unwrap();
    let order = || RandomOrder::new(5);
    let (of_dense, transcript) = run(learner(), dense.points(), dense.labels(), order()).unwrap();
    let of_sparse = run(learner(), sparse.points(), sparse.labels(), order()).unwrap();
    assert_eq!((of_dense, transcript), of_sparse);

    // The runs are the same after lifting and normalising.
    let dense_unit = dense.points().lifted().normalised().unwrap();
    let sparse_unit = sparse.points().lifted().normalised().unwrap();
    let learner = || Perceptron::new(dense_unit.dim()).unwrap();
    let a = run(learner(), &dense_unit, dense.labels(), order()).unwrap();
    let b = run(learner(), &sparse_unit, dense.labels(), order()).unwrap();
    assert_eq!(a, b);
    assert!(a.0.updates() > 0);
}
