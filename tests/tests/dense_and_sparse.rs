//! Dense and sparse forms of the same data give identical runs: the same transcripts to the bit,
//! the same weights, the same batch fits.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::Builtin;
use halfspaces_linalg::{Label, PointSet, Points, SparsePoints};
use halfspaces_online::{
    AsGiven, BatchPerceptron, MarginPerceptron, OnlineLearner, Perceptron, Pick, RandomOrder,
    SmallestMarginMistake, run,
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

    for pick in [Pick::Cyclic, Pick::First, Pick::Worst] {
        let batch = BatchPerceptron::params().pick(pick).max_updates(300).check().unwrap();
        assert_eq!(batch.fit(dense, labels), batch.fit(&sparse, labels));
        let margin = MarginPerceptron::params().pick(pick).max_updates(300).check().unwrap();
        assert_eq!(margin.fit(dense, labels), margin.fit(&sparse, labels));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Small integers make many margins exactly zero, where any difference in rounding would show
    /// as a different prediction.
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

    // Lifted and normalised, still the same.
    let dense_unit = dense.points().lifted().normalised().unwrap();
    let sparse_unit = sparse.points().lifted().normalised().unwrap();
    let learner = || Perceptron::new(dense_unit.dim()).unwrap();
    let a = run(learner(), &dense_unit, dense.labels(), order()).unwrap();
    let b = run(learner(), &sparse_unit, dense.labels(), order()).unwrap();
    assert_eq!(a, b);
    assert!(a.0.updates() > 0);
}
